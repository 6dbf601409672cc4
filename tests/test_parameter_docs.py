"""The docstrings of the learners: parameters and attributes as docs/write_parameters.py has them, and all of them."""

import importlib.util
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from all_learners import LEARNERS, make
from worthwhile.learners.model_file import LEARNERS as BY_NAME

ROOT = Path(__file__).resolve().parent.parent

spec = importlib.util.spec_from_file_location("write_parameters", ROOT / "docs" / "write_parameters.py")
write_parameters = importlib.util.module_from_spec(spec)
spec.loader.exec_module(write_parameters)


@pytest.mark.parametrize(
    ("path", "learners"), write_parameters.files().items(), ids=lambda value: getattr(value, "name", "")
)
def test_docstrings_are_current(path, learners):
    text = path.read_text(encoding="utf-8")
    assert text == write_parameters.current(path, learners), "run: python docs/write_parameters.py --write"


def test_the_table_of_the_help_is_current():
    text = write_parameters.TABLE.read_text(encoding="utf-8")
    assert text == write_parameters.parameter_table(), "run: python docs/write_parameters.py --write"
    assert "prune\tpessimistic, cost or none\tpessimistic; none (dtmc)\t" in text


def test_a_parameter_without_a_description_is_refused(monkeypatch):
    monkeypatch.delitem(write_parameters.PARAMETERS, "omega")
    with pytest.raises(ValueError, match="does not describe omega of EG2Classifier"):
        write_parameters.sections(BY_NAME["EG2Classifier"])


def test_every_description_is_of_a_parameter():
    names = {learner.__name__: {field.name for field in fields(learner)} for learner in BY_NAME.values()}
    assert write_parameters.PARAMETERS.keys() == set().union(*names.values())
    for learner, own in write_parameters.OWN.items():
        assert own.keys() <= names[learner]


@pytest.mark.parametrize("learner", LEARNERS)
def test_documented_attributes_are_those_of_a_fitted_learner(learner):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    clf = make(learner, costs=None).fit(X, X["a"] > X["b"])
    lines = write_parameters.sections(learner)["Attributes"]
    documented = {name for line in lines if " : " in line for name in line.split(" : ")[0].strip().split(", ")}
    kept = {name for name in vars(clf) if name.endswith("_") and not name.startswith("_")}
    properties = {"feature_importances_", "expected_cost_", "expected_cost_interval_"}
    assert documented == kept | properties | ({"max_cost_bound_"} & set(dir(learner)))

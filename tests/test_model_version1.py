"""Model files of format version 1, written before parameters and modules were renamed, are still read."""

import json
from pathlib import Path

import numpy as np
import pytest

import worthwhile as ww
from golden_cases import random_problem

MODELS = json.loads(Path(__file__).with_name("models_version1.json").read_text())


@pytest.mark.parametrize("name", MODELS)
def test_a_file_of_version_1_answers_as_before(name, tmp_path):
    recorded = MODELS[name]
    assert recorded["model"]["version"] == 1
    path = tmp_path / "model.json"
    path.write_text(json.dumps(recorded["model"]))
    clf = ww.load(path)
    X = random_problem(9, n=40, missing=0.1, reject=True, weights=True).X[:12]
    assert clf.predict(X).tolist() == recorded["answers"]
    np.testing.assert_allclose(clf.test_costs(X), recorded["prices"], atol=1e-6)
    clf.save(path)  # and what is written now reads back as the same model
    again = ww.load(path)
    assert again.predict(X).tolist() == recorded["answers"]
    assert again.get_params() == clf.get_params()

"""Saving cascades: JSON with packed arrays, and no Python objects."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import worthwhile as ww
from cascade_problems import NAMES, cases, fitted
from worthwhile.learners.cascade.model_file import cascade_from_json, cascade_to_json


@pytest.mark.parametrize("base", ["forest", "boosting"])
def test_a_loaded_cascade_answers_and_advises_the_same(tmp_path, base):
    clf = fitted(n=150, base=base, n_trees=4)
    clf.save(tmp_path / "model.json")
    again = ww.load(tmp_path / "model.json")
    X, y = cases(80, seed=3, missing=0.2)
    assert again.predict_proba(X).tolist() == clf.predict_proba(X).tolist()
    assert again.total_costs(X, y).tolist() == clf.total_costs(X, y).tolist()
    assert again.next_test({"free": 0.2}) == clf.next_test({"free": 0.2})
    assert again.stages_ == clf.stages_
    assert again.expected_cost_ == clf.expected_cost_
    assert again.feature_importances_.tolist() == clf.feature_importances_.tolist()


def test_other_models_are_not_saved(tmp_path):
    clf = fitted(base=GaussianNB())
    assert clf.base_.__class__ is GaussianNB
    with pytest.raises(ValueError, match="a cascade of GaussianNB models cannot be saved: files hold no Python"):
        clf.save(tmp_path / "model.json")


def test_other_models_are_not_saved_even_if_no_set_of_tests_has_one(tmp_path):
    costs = ww.Costs(tests=dict.fromkeys(NAMES, 1e6), errors=1)
    clf = fitted(base=KNeighborsClassifier(), costs=costs)
    assert clf.stages_ == [()]
    with pytest.raises(ValueError, match=r"a cascade of KNeighborsClassifier models .* base='forest', 'boosting' or"):
        clf.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_files_of_the_first_version_are_read():
    clf = ww.load(Path(__file__).parent / "first_version.json")
    X, y = cases(6, seed=3, missing=0.2)
    assert len(clf.stages_) == 4
    known = [0.499824, 0.519231, 0.519231, 0.566691, 0.519231, 0.519231]
    np.testing.assert_allclose(clf.predict_proba(X)[:, 0], known, atol=1e-6)
    assert clf.test_costs(X, y=y).tolist() == [6.75, 6.75, 6.25, 14.25, 0.0, 0.0]


DAMAGES = {
    "stages": lambda c: c.update(stages=[]),
    "rate": lambda c: c.update(rate=0),
    "prices": lambda c: c["prices"].pop(),
    "tolerated": lambda c: c.update(tolerated=["x"]),
    "tests": lambda c: c["stages"][0].update(tests=["sum", "lab", "cheap", "free", "late", "dye"]),
    "later stage": lambda c: c["stages"][0]["edges"][0].update(stage=0),
    "curve": lambda c: c["stages"][0]["edges"][0]["cost"][0].append(1.0),
    "'kind'": lambda c: c["stages"][-1]["model"].update(kind="pickle"),
    "shares": lambda c: c["stages"][-1]["model"].update(shares=[0.5, 0.6]),
    "temperature": lambda c: c["stages"][-1]["model"].update(temperature=-1),
    "damaged": lambda c: c["stages"][-1]["model"]["trees"]["left"].update(data="AAAA"),
    "bytes": lambda c: c["stages"][-1]["model"]["trees"]["left"].update(shape=[3]),
    "fit together": lambda c: c["stages"][-1]["model"]["trees"].update(left=c["stages"][-1]["model"]["trees"]["roots"]),
    "holds": lambda c: c["stages"][-1].update(holds=[]),
}


@pytest.mark.parametrize("word", DAMAGES)
def test_damaged_files_are_refused(clf, word):
    content = json.loads(json.dumps(cascade_to_json(clf._cascade)))
    assert cascade_from_json(copy.deepcopy(content)).rate == 1.0
    DAMAGES[word](content)
    with pytest.raises(ValueError, match=word if word != "tests" else "does not have all of its tests"):
        cascade_from_json(content)


def test_a_packed_array_that_unpacks_to_more_than_it_says_is_refused(clf):
    content = json.loads(json.dumps(cascade_to_json(clf._cascade)))
    trees = content["stages"][-1]["model"]["trees"]
    trees["value"]["shape"] = [10**12, 2]
    with pytest.raises(ValueError, match="larger than"):
        cascade_from_json(content)
    assert np.isfinite(clf.expected_cost_)

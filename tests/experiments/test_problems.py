"""What the experiments share: case sets, learners by name, and rows of tables."""

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.experiments import Cell
from worthwhile.experiments.peers import NoTestClassifier
from worthwhile.experiments.problems import CaseSet, LearnerSource, Row

CASES = CaseSet(np.array([[1.0], [2.0], [3.0], [4.0]]), np.array(list("aabb")), [], ["t"], ["a", "b"])


def test_some_cases_keep_the_classes():
    some = CASES.take(np.array([0, 1]))
    assert (some.y.tolist(), some.classes, some.columns) == (["a", "a"], ["a", "b"], ["t"])


@pytest.mark.parametrize(
    ("name", "parameters", "made"),
    [("EG2Classifier", 'prune="none"', ww.EG2Classifier), ("NoTestClassifier", "", NoTestClassifier)],
)
def test_learners_are_found_by_name_and_trained_with_the_parameters_of_a_cell(name, parameters, made):
    costs = ww.Costs(tests={"t": 1.0}, errors=10.0)
    learner, seconds = LearnerSource(name, 0.1, 0.1).fit(Cell("x", "all", "10", "eg2", parameters, 0), costs, CASES)
    assert type(learner) is made
    assert seconds > 0
    assert learner.costs is costs
    if parameters:
        assert learner.prune == "none"
        assert learner.tree_.may_stop  # a refined learner
        assert learner.predict(CASES.X).tolist() == CASES.y.tolist()


def test_only_searches_of_icet_are_shortened():
    assert Row("ICET", "icet", {"trials": 1000}).text(200) == "trials=200"
    assert Row("ICET", "icet", {"trials": 1000}).text() == "trials=1000"
    assert Row("ICET, 2", "icet", {"trials": 100}, curve="ICET").text(200) == "trials=100"
    assert Row("EG2", "eg2").text(200) == ""


@pytest.mark.parametrize("name", ["C45Classifier", "DTMCClassifier", "EG2Classifier", "ACTClassifier"])
def test_published_learners_do_all_tests_that_their_trees_ask_for(name):
    variant = 'variant="paper"' if name in ("EG2Classifier", "ACTClassifier") else ""
    costs = ww.Costs(tests={"t": 1.0}, errors=10.0)
    learner, _ = LearnerSource(name, 0.1, 0.1).fit(Cell("x", "all", "10", "c45", variant, 0), costs, CASES)
    assert (learner.cross_fit, learner.tree_.may_stop) == (False, False)
    assert learner.predict(CASES.X).tolist() == CASES.y.tolist()

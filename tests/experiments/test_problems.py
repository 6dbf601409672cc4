"""What the experiments share: case sets, learners by name, and rows of tables."""

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.experiments import Cell
from worthwhile.experiments.peers import NoTestClassifier
from worthwhile.experiments.problems import CaseSet, LearnerSource, Row
from worthwhile.learners import soft_labels

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


def test_cells_with_the_same_cases_share_their_ensembles_and_count_their_time(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    cases = CaseSet(X, np.where(X[:, 0] + rng.normal(size=120) > 0, "a", "b"), [], ["r", "s", "t"], ["a", "b"])
    fitted = []

    def slowly(*arguments):
        fitted.append(arguments)
        return fit(*arguments)

    fit = soft_labels._fit_ensemble
    monkeypatch.setattr(soft_labels, "_fit_ensemble", slowly)

    def trained(errors):
        cell = Cell("shared", "drawn", errors, "act", "", 0)
        return LearnerSource("ACTClassifier", 0.1, 0.1, as_published=False).fit(
            cell, ww.Costs(tests=dict.fromkeys("rst", 1.0), errors=float(errors)), cases
        )

    (first, seconds), n_fitted = trained("20"), len(fitted)
    _, again = trained("50")
    assert 0 < len(fitted) == n_fitted
    assert again > 0.5 * seconds  # what the second one would have taken on its own
    alone = ww.ACTClassifier(costs=first.costs, columns=list("rst"), random_state=first.random_state)
    assert alone.fit(cases.X, cases.y).tree_.to_json() == first.tree_.to_json()


def test_the_oldest_ensembles_are_forgotten():
    memory = soft_labels.EnsembleMemory(most=2)
    for number in range(3):
        memory.keep(bytes([number]), np.full(1, float(number)), seconds=2.0)
    assert [memory.find(bytes([number])) is None for number in range(3)] == [True, False, False]
    assert memory.saved_seconds == 4.0

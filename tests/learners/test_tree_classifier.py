"""Learners of one tree: they answer as their tree does, and forget it when a fit fails."""

import functools

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import worthwhile as ww
from all_learners import SINGLE, make
from worthwhile.tree.node_costs import node_costs

BUPA = ww.datasets.load("bupa", as_frame=False)


@functools.cache
def learn(learner):
    costs = BUPA.costs.with_errors(500)
    return make(learner, costs=costs, columns=BUPA.feature_names, prune="cost").fit(BUPA.X, BUPA.y)


@pytest.mark.parametrize("learner", SINGLE)
def test_a_learner_answers_like_its_tree(learner):
    clf = learn(learner)
    X, y = BUPA.X, BUPA.y
    assert clf.tree_.n_leaves > 1
    np.testing.assert_array_equal(clf.predict(X), clf.tree_.predict(X))
    np.testing.assert_array_equal(clf.predict_proba(X), clf.tree_.predict_proba(X))
    np.testing.assert_array_equal(clf.test_costs(X), clf.tree_.test_costs(X))
    np.testing.assert_array_equal(clf.total_costs(X, y), clf.tree_.total_costs(X, y))
    prices = np.ones(X.shape)
    np.testing.assert_array_equal(clf.test_costs(X, prices), clf.tree_.test_costs(X, prices))


@pytest.mark.parametrize("learner", SINGLE)
def test_the_problem_is_that_of_the_tree(learner):
    clf = learn(learner)
    assert clf.problem_ is clf.tree_.context
    assert clf.problem_.columns == tuple(BUPA.feature_names)
    assert clf.problem_.classes == tuple(clf.classes_)


def test_rules_advice_and_explanations_are_those_of_the_tree():
    clf = learn(ww.EG2Classifier)
    case = dict(zip(BUPA.feature_names, BUPA.X[0], strict=True))
    assert clf.rules() == clf.tree_.rules()
    assert clf.next_test({}) == clf.tree_.next_test({})
    assert str(clf.explain(case)) == str(clf.tree_.explain(case))
    assert clf.run(case, {}).answer == clf.predict(BUPA.X[:1])[0]


def test_a_failed_fit_leaves_no_old_tree():
    class Fails(ww.C45Classifier):
        def _learn(self, training):
            if training.n_classes > 2:
                raise RuntimeError("no more")
            super()._learn(training)

    clf = Fails().fit(BUPA.X, BUPA.y)
    with pytest.raises(RuntimeError):
        clf.fit(BUPA.X, np.arange(345) % 3)
    assert not hasattr(clf, "tree_")
    for use in (clf.predict, clf.rules, lambda *_: clf.next_test({})):
        with pytest.raises(NotFittedError):
            use(*([BUPA.X] if use == clf.predict else []))


def test_the_summary_of_a_notebook_comes_with_the_tree():
    clf = ww.C45Classifier(costs=BUPA.costs, columns=BUPA.feature_names)
    assert clf._summary_html() == ""
    assert "C45Classifier" in clf.fit(BUPA.X, BUPA.y)._summary_html()


def test_trees_of_published_variants_do_all_tests_that_they_ask_for():
    found = ww.datasets.load("heart")
    known = {"costs": found.costs, "nominal": found.nominal, "columns": found.feature_names, "random_state": 0}
    for variant, may_stop in (("paper", False), ("refined", True)):
        for clf in (
            ww.ACTClassifier(r=1, variant=variant, cross_fit=False, **known),
            ww.ICETClassifier(trials=4, variant=variant, cross_fit=False, **known),
            ww.EG2Classifier(variant=variant, **known),
        ):
            assert clf.fit(found.X, found.y).tree_.may_stop is may_stop
    assert ww.C45Classifier(**known).fit(found.X, found.y).tree_.may_stop


def _tiny(n, seed, missing=0.0):
    """A table of few cases with two useful tests and one that is not."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.normal(scale=0.7, size=n) > 3).astype(int)
    y[:2] = 0, 1
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, ww.Costs(tests={"x0": 1.0, "x1": 2.0, "x2": 0.5}, errors=10.0), {}


def _known(name, error):
    found = ww.datasets.load(name)
    return found.X, found.y, found.costs.with_errors(error), {"nominal": found.nominal, "columns": found.feature_names}


PROBLEMS = {
    "heart, 50": lambda: _known("heart", 50.0),
    "heart, 1000": lambda: _known("heart", 1000.0),
    "pima, 200": lambda: _known("pima", 200.0),
    "bupa, 50": lambda: _known("bupa", 50.0),
    "hepatitis, 1000": lambda: _known("hepatitis", 1000.0),
    "4 cases": lambda: ([[1], [2], [3], [4]], [0, 0, 1, 1], ww.Costs(tests={"x0": 4.0}, errors=10.0), {}),
    "12 cases": lambda: _tiny(12, 0),
    "30 cases": lambda: _tiny(30, 1),
    "60 cases, some values missing": lambda: _tiny(60, 2, missing=0.2),
}
MINIMISING = {
    "ACT": lambda **known: ww.ACTClassifier(r=1, random_state=0, **known),
    "ICET": lambda **known: ww.ICETClassifier(trials=20, random_state=0, **known),
    "DTMC": ww.DTMCClassifier,
    "EG2": lambda **known: ww.EG2Classifier(prune="cost", answer="least-cost", **known),
    "IDX": lambda **known: ww.IDXClassifier(prune="cost", answer="least-cost", **known),
    "CS-ID3": lambda **known: ww.CSID3Classifier(prune="cost", answer="least-cost", **known),
    "C4.5": lambda **known: ww.C45Classifier(prune="cost", answer="least-cost", **known),
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", MINIMISING)
def test_trees_that_minimise_cost_never_ask_for_a_test_that_does_not_pay(name, problem):
    X, y, costs, known = PROBLEMS[problem]()
    tree = MINIMISING[name](costs=costs, **known).fit(X, y).tree_
    largest = float(tree.error_costs.max())
    for node, at in enumerate(node_costs(tree)):
        if tree.nodes.test[node] >= 0 and at.expected_cost is not None:
            assert at.expected_cost <= at.stop_cost + 1e-9 * largest


def test_what_pays_by_the_cases_is_not_lost_to_strong_shrinkage():
    """On few cases, held-out ones say next to nothing: probabilities are shrunk less rather than tests given up."""
    X, y, costs, _ = PROBLEMS["4 cases"]()
    clf = ww.DTMCClassifier(costs=costs).fit(X, y)
    assert clf.tree_.n_leaves == 2
    advice = clf.next_test({})
    assert (advice.test, advice.go_on_cost <= advice.stop_cost) == ("x0", True)

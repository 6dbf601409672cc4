"""Exact trees without splits into branches of few cases."""

import numpy as np
import pytest

import worthwhile as ww

PLAIN = {"soft_labels": 0, "leaf_price": 0, "cross_fit": False, "max_depth": 3}
COSTS = ww.Costs(tests={f"x{i}": 1.0 for i in range(5)}, errors=30)
RNG = np.random.default_rng(1)
X = RNG.normal(size=(400, 5)).round(1)
Y = np.where(((X[:, 0] > 0) ^ (X[:, 1] > 0.3)) | (RNG.random(400) < 0.1), "a", "b")


def smallest(clf):
    nodes = clf.tree_.nodes
    return nodes.weights[nodes.test < 0].sum(axis=1).min()


def test_no_branch_holds_fewer_cases():
    free = ww.OptimalClassifier(costs=COSTS, **PLAIN).fit(X, Y)
    assert free.proven_
    assert smallest(free) < 5
    for least in (5, 30, 80, 300):
        clf = ww.OptimalClassifier(costs=COSTS, min_cases=least, **PLAIN).fit(X, Y)
        assert clf.tree_.n_leaves == 1 or smallest(clf) >= least
        assert not clf.proven_
        assert clf.stopped_ == "done"
        assert clf.bound_ == pytest.approx(free.objective_)
        assert clf.objective_ == pytest.approx(clf.total_costs(X, Y).mean())
        assert clf.gap_ == pytest.approx(clf.objective_ - clf.bound_)


def test_a_tree_that_keeps_the_limit_anyway_is_proven():
    whole = ww.OptimalClassifier(costs=COSTS, **PLAIN).fit(X, Y)
    clf = ww.OptimalClassifier(costs=COSTS, min_cases=smallest(whole), **PLAIN).fit(X, Y)
    assert clf.proven_
    assert clf.tree_.to_json() == whole.tree_.to_json()


def test_a_good_tree_of_large_branches_is_found_although_the_best_one_has_small_ones():
    clf = ww.OptimalClassifier(costs=COSTS, min_cases=30, **PLAIN).fit(X, Y)
    free = ww.OptimalClassifier(costs=COSTS, **PLAIN).fit(X, Y)
    assert clf.objective_ < 1.2 * free.objective_  # cutting the best tree alone would cost 3.5 times as much


def test_missing_values_folds_and_deeper_trees_keep_the_limit():
    with_missing = X.copy()
    with_missing[RNG.random(X.shape) < 0.1] = np.nan
    settings = {"max_depth": 2, "deepen": True, "thresholds": 6, "random_state": 0}
    clf = ww.OptimalClassifier(costs=COSTS, min_cases=40, **settings).fit(with_missing, Y)
    assert smallest(clf) >= 40
    assert clf.expected_cost_ > 0
    assert clf.objective_ >= clf.bound_ - 1e-9


def test_similar_trees_are_not_counted_since_they_may_have_small_branches():
    clf = ww.OptimalClassifier(costs=COSTS, min_cases=5, **PLAIN).fit(X, Y)
    assert clf.near_optimal_ is None
    with pytest.raises(ValueError, match="rashomon: not available with min_cases"):
        clf.rashomon()


def test_the_default_learner_passes_a_limit_on():
    clf = ww.AutoClassifier(costs=COSTS, learners=["optimal"], min_cases=60, random_state=0).fit(X, Y)
    assert smallest(clf) >= 60

"""Trees with a limited number of leaves."""

import itertools

import numpy as np
import pytest

import worthwhile as ww
from all_learners import COSTS, GREEDY, LEARNERS, SINGLE, make
from worthwhile import _core
from worthwhile.learners.growth_policy import GrowthPolicy
from worthwhile.learners.leaf_limit import limit_leaves
from worthwhile.learners.soft_labels import remember_ensembles
from worthwhile.tree.nodes import Nodes

POLICY = GrowthPolicy(criterion="gain", min_cases=1.0, min_share=0.0, prune="none", least_cost=True, max_depth=3)


def problem(seed, missing=0.0, delayed=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (40, 4)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    y = np.where(rng.random(40) < 0.3, rng.integers(0, 2, 40), np.nan_to_num(X[:, 0] + X[:, 1]) > 2).astype(int)
    prices = rng.uniform(0, 3, 4)
    tests = {"x0": ww.Test(prices[0], group="g", delayed=delayed), "x1": ww.Test(prices[1], group="g")}
    tests |= {"x2": prices[2], "x3": ww.Test(prices[3], requires=("x2",), delayed=delayed)}
    costs = ww.Costs(tests=tests, groups={"g": 1.0}, errors={0: {1: 60.0}, 1: {0: 90.0}})
    return make(ww.C45Classifier, costs=costs)._prepare(ww.table.columns.read_columns(X), y, None)


def data_of(training):
    costs = training.bound_costs.learning
    return training.table, training.classes, training.weights, costs.core_pricing, costs.core_errors


def parts_of(nodes, node=0):
    """All subtrees from a node on: the sets of inner nodes that are kept."""
    if nodes.test[node] < 0:
        return [frozenset()]
    below = itertools.product(*(parts_of(nodes, child) for child in nodes.children(node)))
    return [frozenset(), *(frozenset({node}).union(*sets) for sets in below)]


ARRAYS = ("test", "threshold", "first_child", "n_children", "map_start", "map_size", "answer", "weights")


def part(nodes, kept):
    """The core tree in which only these inner nodes are kept."""
    source, first = [0], [-1] * len(nodes.test)
    for node in source:
        if node in kept:
            first[node] = len(source)
            source += nodes.children(node)
    arrays = {name: getattr(nodes, name)[source].copy() for name in vars(nodes) if name in ARRAYS}
    is_leaf = np.array([node not in kept for node in source])
    for name, value in ("test", -1), ("n_children", 0), ("map_start", -1), ("map_size", 0):
        arrays[name][is_leaf] = value
    arrays["first_child"] = np.array([first[node] for node in source], dtype=np.int32)
    return Nodes(maps=nodes.maps, **arrays).to_core()


def by_brute_force(core, data):
    """By number of leaves, the lowest cost of a part with at most as many."""
    nodes, found = Nodes.from_core(core), {}
    for kept in parts_of(nodes):
        tree = part(nodes, kept)
        n = int((tree.test < 0).sum())
        found[n] = min(found.get(n, np.inf), _core.tree_cost(tree, *data, POLICY.core()))
    return [min(cost for n, cost in found.items() if n <= most) for most in range(1, max(found) + 1)]


@pytest.mark.parametrize("seed", range(12))
def test_without_delays_and_missing_values_no_part_is_cheaper(seed):
    training = problem(seed)
    data = data_of(training)
    core = _core.grow(*data, POLICY.core())
    for most, least in enumerate(by_brute_force(core, data)[:-1], 1):
        tree, limit = limit_leaves(core, data[:3], training.bound_costs.learning, POLICY, most)
        assert int((tree.test < 0).sum()) == limit.leaves <= most
        assert _core.tree_cost(tree, *data, POLICY.core()) == pytest.approx(least)
        assert limit.cost == pytest.approx(least * training.bound_costs.learning.unit)
        assert limit.full_leaves == int((core.test < 0).sum())
    tree, _ = limit_leaves(core, data[:3], training.bound_costs.learning, POLICY, limit.full_leaves)
    assert tree.test.tolist() == core.test.tolist()  # few enough: it stays as it is


def test_with_delays_and_missing_values_hardly_any_part_is_cheaper():
    excess = []
    for seed, (missing, delayed) in itertools.product(range(6), [(0.1, False), (0.0, True), (0.1, True)]):
        training = problem(seed, missing, delayed)
        data = data_of(training)
        core = _core.grow(*data, POLICY.core())
        for most, least in enumerate(by_brute_force(core, data)[:-1], 1):
            tree, limit = limit_leaves(core, data[:3], training.bound_costs.learning, POLICY, most)
            assert limit.leaves <= most
            excess.append(_core.tree_cost(tree, *data, POLICY.core()) / least - 1)
    assert min(excess) > -1e-9
    assert np.mean(excess) < 0.02
    assert max(excess) < 0.25


@pytest.mark.parametrize("learner", SINGLE)
def test_every_learner_of_one_tree_keeps_the_limit(learner):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 6, (120, 4)).astype(float)
    y = np.where(rng.random(120) < 0.15, rng.integers(0, 2, 120), X[:, 0] + X[:, 2] > 5).astype(int)
    costs = COSTS.with_errors({0: {1: 600.0}, 1: {0: 900.0}})
    clf = make(learner, costs=costs, max_leaves=3).fit(X, y)
    assert clf.tree_.n_leaves <= 3
    if learner is ww.OptimalClassifier:  # looks at no tree with more leaves
        return
    assert clf.tree_.n_leaves == clf.leaf_limit_.leaves < 4 <= clf.leaf_limit_.full_leaves
    assert clf.predict(X).shape == y.shape
    if learner in GREEDY:
        full = make(learner, costs=costs).fit(X, y)
        assert full.leaf_limit_ is None
        assert full.tree_.n_leaves == clf.leaf_limit_.full_leaves


def test_forests_and_cascades_have_no_limit_and_a_lazy_tree_cannot_be_cut():
    assert [learner for learner in LEARNERS if "max_leaves" not in learner._parameter_names()] == [
        ww.BudgetForestClassifier,
        ww.CascadeClassifier,
    ]
    with pytest.raises(ValueError, match="needs prune='none' and max_leaves=None"):
        ww.CSID3Classifier(lazy=True, prune="none", max_leaves=3).fit([[0], [1]] * 3, [0, 1] * 3)


@pytest.mark.parametrize("learner", [ww.ACTClassifier, ww.ICETClassifier])
@pytest.mark.parametrize("variant", ["paper", "refined"])
def test_min_cases_of_searches(learner, variant):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=100) > 0).astype(int)
    with remember_ensembles():
        clf = make(learner, variant=variant, min_cases=30, costs=ww.Costs(errors=100)).fit(X, y)
    nodes = clf.tree_.nodes
    assert nodes.weights[nodes.test < 0].sum(axis=1).min() >= 30

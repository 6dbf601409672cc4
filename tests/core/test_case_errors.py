"""Error costs by case in the core, against sums over the cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worthwhile as ww
from worthwhile import _core
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.learners.growth_policy import GrowthPolicy

SEEDS = st.integers(0, 2**16)


def problem(seed, n=40, k=3, rejects=0):
    """Cases with a numeric and a nominal column, and what every answer costs each of them."""
    rng = np.random.default_rng(seed)
    x, codes = rng.integers(0, 6, n).astype(float), rng.integers(0, 3, n).astype(np.int32)
    classes = rng.integers(0, k, n).astype(np.int32)
    classes[:k] = np.arange(k)
    errors = rng.integers(0, 40, (n, k + rejects)).astype(float)
    errors[np.arange(n), classes] = rng.integers(-2, 3, n)
    matrix = np.array([errors[classes == c].mean(axis=0) for c in range(k)])
    table = _core.Table(n, False)
    table.add_numeric(x)
    table.add_nominal(codes, 3, [[0, 1, 2]])
    table.set_deviations(np.ascontiguousarray(errors - matrix[classes]))
    weights = rng.integers(1, 4, n).astype(float) if seed % 2 else None
    return table, np.column_stack([x, codes]), classes, weights, errors, matrix


def pricing(price=0.0):
    costs = ww.Costs(tests={"x": price, "c": price})
    return BoundCosts.of(costs, ["x", "c"], [0, 1]).core_pricing


def policy(**settings_):
    known = {"criterion": "cost-drop", "min_cases": 1.0, "min_share": 0.0, "least_cost": True, "prune": "none"}
    return GrowthPolicy(**(known | {"context": True, "n_threads": 1} | settings_)).core()


def leaves(tree, X):
    """The leaf of every case."""
    at = np.zeros(len(X), dtype=int)
    for node in range(len(tree.test)):
        here = at == node
        if tree.test[node] < 0 or not here.any():
            continue
        values = X[here, tree.test[node]]
        if tree.map_start[node] < 0:
            branch = (values > tree.threshold[node]).astype(int)
        else:
            branch = tree.maps[tree.map_start[node] + values.astype(int)]
        at[here] = tree.first_child[node] + branch
    return at


def leaf_cost(errors, classes, weights, matrix, answer, confidence):
    """The pessimistic error cost of a leaf: cases that may be wrong cost what those that are do, and one case of each
    other class its mean; those that are right cost what these cost."""
    k, total = len(matrix), weights.sum()
    if answer >= k:
        return float(weights @ errors[:, answer])
    right = classes == answer
    wrong = weights[~right].sum()
    expected = _core.upper_errors(total, wrong, confidence)
    others = sum(matrix[c, answer] for c in range(k) if c != answer)
    mean_wrong = (weights[~right] @ errors[~right, answer] + others) / (wrong + k - 1)
    mean_right = np.average(errors[right, answer], weights=weights[right]) if right.any() else matrix[answer, answer]
    return float(expected * mean_wrong + (total - expected) * mean_right)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, rejects=st.integers(0, 1), prune=st.sampled_from(["none", "cost"]))
def test_answers_and_estimates_are_sums_over_the_cases(seed, rejects, prune):
    table, X, classes, weights, errors, matrix = problem(seed, rejects=rejects)
    rules = policy(prune=prune, confidence=0.3, max_depth=3)
    tree = _core.grow(table, classes, weights, pricing(), _core.Errors(matrix), rules)
    at, counted = leaves(tree, X), np.ones(len(X)) if weights is None else weights
    total = 0.0
    for node in np.unique(at):
        here = at == node
        summed = counted[here] @ errors[here]
        assert summed[tree.answer[node]] == pytest.approx(summed.min(), abs=1e-6)
        own = errors[here], classes[here], counted[here]
        total += leaf_cost(*own, matrix, tree.answer[node], 0.3)
    cost = _core.tree_cost(tree, table, classes, weights, pricing(), _core.Errors(matrix), rules)
    assert cost == pytest.approx(total / counted.sum(), rel=1e-9, abs=1e-9)
    sums = tree.answer_costs(table, classes, weights, _core.Errors(matrix))
    assert sums[0] == pytest.approx(counted @ errors, abs=1e-6)
    for node in np.unique(at):
        assert sums[node] == pytest.approx(counted[at == node] @ errors[at == node], abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, unit=st.sampled_from([0.01, 7.0, 1000.0]))
def test_another_currency_grows_the_same_tree(seed, unit):
    table, _, classes, weights, _, matrix = problem(seed)
    plain = _core.grow(table, classes, weights, pricing(), _core.Errors(matrix), policy(prune="cost", confidence=0.3))
    scaled = np.ascontiguousarray(matrix / unit)
    other = _core.grow(
        table, classes, weights, pricing(), _core.Errors(scaled, unit), policy(prune="cost", confidence=0.3)
    )
    assert other.test.tolist() == plain.test.tolist()
    assert other.answer.tolist() == plain.answer.tolist()


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_a_split_that_pays_by_class_means_alone_is_cut(seed):
    """Pruned by cost, no subtree costs more than its root as a leaf."""
    table, X, classes, weights, errors, matrix = problem(seed)
    rules = policy(prune="cost", confidence=0.3, criterion="icf", context=True)
    tree = _core.grow(table, classes, weights, pricing(2.0), _core.Errors(matrix), rules)
    cost = _core.tree_cost(tree, table, classes, weights, pricing(2.0), _core.Errors(matrix), rules)
    counted = np.ones(len(X)) if weights is None else weights
    answer = int((counted @ errors).argmin())
    as_leaf = leaf_cost(errors, classes, counted, matrix, answer, 0.3) / counted.sum()
    assert cost <= as_leaf + 1e-9


def test_costs_of_another_shape_are_refused():
    table, _, classes, _, _, matrix = problem(0)
    with pytest.raises(ValueError, match="'deviations' must have the length 40, got 3"):
        table.set_deviations(np.zeros((3, 3)))
    table.set_deviations(np.zeros((40, 2)))
    with pytest.raises(ValueError, match=r"'deviations' must have the shape \(40, 3\)"):
        _core.grow(table, classes, None, pricing(), _core.Errors(matrix), policy())

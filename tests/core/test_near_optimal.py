"""Trees close to the best one against all trees, one by one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import reference as ref
from bridge import core_errors, core_pricing, core_training, to_node
from brute_force import all_trees, cost_of, small
from problems import SEEDS, compare
from worthwhile import _core

ANY = 2**31 - 1
NOTHING = -1  # no first test


def near(problem, margin, max_depth=2, leaf_price=0.0, max_leaves=ANY, **settings):
    settings = {"memory": 2**26, "work": math.inf, "seconds": math.inf, "max_cuts": 1000} | settings
    settings = {"max_trees": 100_000, "by_structure": False} | settings
    return _core.near_optimal_trees(
        *core_training(problem), core_pricing(problem), core_errors(problem), max_depth=max_depth,
        leaf_price=leaf_price, max_leaves=max_leaves, margin=margin, **settings,
    )  # fmt: skip


# ---- what makes a tree, written down a second time


def form_of(problem, node, rows):
    """What a tree does with the training cases: at every node a test, and a form for every set of cases below it.

    None: it has a test that divides nothing, tests below a branch without cases, or a last test that saves no errors.
    """
    if not node.children:
        return "leaf"
    branch = np.array([ref.branch_taken(node, problem.case(row)) for row in rows])
    parts, forms = [rows[branch == b] for b in range(len(node.children))], {}
    for child, part in zip(node.children, parts, strict=True):
        if not len(part) and child.children:
            return None
        if len(part) and (own := form_of(problem, child, part)) is None:
            return None
        if len(part):
            forms[tuple(part)] = own
    if len(forms) < 2:
        return None
    saved = errors_of(problem, rows) - sum(errors_of(problem, part) for part in parts)
    if all(own == "leaf" for own in forms.values()) and saved <= 1e-9:
        return None
    return node.column, frozenset(forms.items())


def errors_of(problem, rows):
    errors = np.array(problem.errors)[problem.y[rows]] * problem.weights[rows][:, None]
    return float(errors.sum(axis=0).min()) if len(rows) else 0.0


def all_forms(problem, depth, leaf_price, max_leaves):
    """The lowest cost per case of every form, and a tree that has it."""
    rows, weight, found = np.arange(len(problem.y)), problem.weights.sum(), {}
    for tree in all_trees(problem, depth):
        if len(ref.leaves(tree)) > max_leaves or (form := form_of(problem, tree, rows)) is None:
            continue
        cost = cost_of(problem, tree, rows, leaf_price * weight) / weight
        if math.isfinite(cost) and cost < found.get(form, (math.inf,))[0]:
            found[form] = cost, tree
    return found


def structure_of(node):
    return (node.column, tuple(map(structure_of, node.children))) if node.children else "leaf"


def between_costs(costs, share):
    """A margin that no tree is just at the end of: in the middle between two costs."""
    costs = np.unique(np.round(np.sort(costs) - min(costs), 7))
    at = min(int(share * len(costs)), len(costs) - 1)
    return (costs[at] + (costs[at + 1] if at + 1 < len(costs) else costs[at] + 1.0)) / 2


@compare(120)
@given(
    seed=SEEDS, columns=st.integers(1, 3), leaf_price=st.sampled_from([0.0, 0.05]), leaves=st.sampled_from([ANY, 3, 4]),
    share=st.sampled_from([0.0, 0.05, 0.3]),
)  # fmt: skip
@example(seed=104774, columns=3, leaf_price=0.0, leaves=4, share=0.05)  # an order that begins with a slow test only
def test_exactly_the_trees_within_the_margin_are_found(seed, columns, leaf_price, leaves, share):
    problem = small(np.random.default_rng(seed), columns)
    forms = all_forms(problem, 2, leaf_price, leaves)
    margin = between_costs([cost for cost, _ in forms.values()], share)
    best = min(cost for cost, _ in forms.values())
    expected = {form: found for form, found in forms.items() if found[0] <= best + margin}
    cost, done, n_trees, n_structures, listed, first, used = near(problem, margin, 2, leaf_price, leaves)
    assert done == 1
    assert cost == pytest.approx(best, rel=1e-6, abs=1e-9)
    rows, weight = np.arange(len(problem.y)), problem.weights.sum()
    mine = {}
    for tree, value in listed:
        node = to_node(tree)
        mine[form_of(problem, node, rows)] = value
        assert cost_of(problem, node, rows, leaf_price * weight) / weight == pytest.approx(value, rel=1e-6, abs=1e-9)
        assert len(ref.leaves(node)) <= leaves
    assert mine.keys() == expected.keys()
    assert n_trees == len(listed) == len(expected)
    for form, value in mine.items():
        assert value == pytest.approx(expected[form][0], rel=1e-6, abs=1e-9)
    check_tables(problem, expected, n_structures, first, used)


def check_tables(problem, expected, n_structures, first, used):
    """The counts by first test and by use, recounted tree by tree."""
    roots = [NOTHING if not tree.children else tree.column for _, tree in expected.values()]
    costs = np.array([cost for cost, _ in expected.values()])
    assert {column: (n, pytest.approx(cost, rel=1e-6, abs=1e-9)) for column, n, _, cost in first} == {
        column: (roots.count(column), min(c for c, r in zip(costs, roots, strict=True) if r == column))
        for column in set(roots)
    }
    assert [n for _, n, _, _ in first] == sorted((n for _, n, _, _ in first), reverse=True)
    asked = [{node.column for node in ref.inner_nodes(tree)} for _, tree in expected.values()]
    found = {column: (n, cost) for column, n, cost in used}
    for column in range(len(problem.columns)):
        n = sum(column in tests for tests in asked)
        without = [cost for cost, tests in zip(costs, asked, strict=True) if column not in tests]
        if n:
            assert found.pop(column) == (n, pytest.approx(min(without, default=math.inf), rel=1e-6, abs=1e-9))
    assert not found
    assert sum(n for _, _, n, _ in first) == n_structures


@compare(25)
@given(seed=SEEDS, share=st.sampled_from([0.0, 0.02, 0.1]))
def test_exactly_the_trees_of_depth_three_are_found(seed, share):
    rng = np.random.default_rng(seed)
    problem = small(rng, 2, 10)
    columns = [rng.integers(0, 2, len(problem.y)).astype(float) for _ in problem.columns]
    problem = replace(problem, levels={}, n_values=[0] * len(columns), columns=columns, surcharges=[], requires=None)
    forms = all_forms(problem, 3, 0.0, ANY)
    margin = between_costs([cost for cost, _ in forms.values()], share)
    best = min(cost for cost, _ in forms.values())
    found = near(problem, margin, 3)
    assert found[2] == sum(cost <= best + margin for cost, _ in forms.values())


def form_with_missing(problem, tree):
    node = to_node(tree)
    return (node.column, node.threshold) if node.children else None


@compare(30)
@given(seed=SEEDS)
def test_single_splits_with_missing_values_are_all_found(seed):
    """Parts of a case count at their share, and nobody pays for a value that is not there."""
    rng = np.random.default_rng(seed)
    n = 12
    values = [np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 3, n).astype(float)) for _ in range(2)]
    problem = ref.Problem(values, [0, 0], rng.integers(0, 2, n), 2, marginal=[0.02, 0.1])
    own = np.array(problem.errors)[problem.y]
    costs = {None: own.sum(axis=0).min()}
    for t, column in enumerate(values):
        known = ~np.isnan(column)
        for cut in np.unique(column[known])[:-1]:
            share = np.where(known, 0.0, (column[known] > cut).mean())
            share[known] = column[known] > cut
            errors = (own * share[:, None]).sum(axis=0).min() + (own * (1 - share)[:, None]).sum(axis=0).min()
            if errors < costs[None] - 1e-9:
                costs[t, cut] = errors + problem.marginal[t] * known.sum()
    found = near(problem, 0.2, 1)
    expected = {form: cost / n for form, cost in costs.items() if cost / n <= min(costs.values()) / n + 0.2}
    mine = {form_with_missing(problem, tree): cost for tree, cost in found[4]}
    assert mine == pytest.approx(expected)
    assert found[2] == len(expected)
    assert near(problem, 0.2, 2)[0] <= found[0] + 1e-12


def priced(n=80, columns=4, seed=0, **own):
    rng = np.random.default_rng(seed)
    values = [rng.integers(0, 5, n).astype(float) for _ in range(columns)]
    y = ((values[0] > 2) ^ (values[1] > 3) ^ (rng.random(n) < 0.2)).astype(int)
    return ref.Problem(values, [0] * columns, y, 2, marginal=[0.01 * (1 + t) for t in range(columns)], **own)


def test_more_trees_in_wider_margins_and_the_best_one_in_all():
    problem = priced()
    counts = []
    for margin in (0.0, 0.001, 0.01, 0.05):
        cost, done, n_trees, n_structures, listed, _, _ = near(problem, margin, 3, max_trees=50)
        assert done == 1
        assert listed[0][1] == pytest.approx(cost)
        costs = [value for _, value in listed]
        assert costs == sorted(costs)
        assert costs[-1] <= cost + margin + 1e-9
        assert len(listed) == min(n_trees, 50)
        assert n_structures <= n_trees
        counts.append(n_trees)
    assert counts == sorted(counts)
    assert counts[0] >= 1
    assert counts[-1] > 1000


@pytest.mark.parametrize("own", [{}, {"delayed": [False, True, False, True]}])
def test_of_every_structure_the_cheapest_tree_is_listed(own):
    problem = priced(**own)
    _, _, n_trees, n_structures, listed, first, _ = near(problem, 0.01, 3)
    assert n_trees == len(listed)
    cheapest = {}
    for tree, cost in listed:
        cheapest.setdefault(structure_of(to_node(tree)), cost)
    assert n_structures == len(cheapest)
    assert sum(structures for _, _, structures, _ in first) == n_structures
    by_structure = near(problem, 0.01, 3, by_structure=True)
    assert {structure_of(to_node(tree)): pytest.approx(cost) for tree, cost in by_structure[4]} == cheapest
    assert by_structure[2:4] == (n_trees, n_structures)


@pytest.mark.parametrize("limit", [{"work": 1e6}, {"memory": 2**20}])
def test_with_too_little_work_or_memory_the_trees_of_a_narrower_margin_are_complete(limit):
    problem = priced()
    margin = 0.1
    assert near(problem, margin, 3, max_trees=0)[1] == 1
    less = near(problem, margin, 3, max_trees=0, **limit)
    assert 0 <= less[1] < 1
    assert less[1:4] == near(problem, margin, 3, max_trees=0, **limit)[1:4]
    assert less[2:4] == near(problem, less[1] * margin, 3, max_trees=0)[2:4]


def test_without_any_time_nothing_is_found():
    assert near(priced(), 0.1, 3, seconds=0.0)[1] < 0
    assert near(priced(), 0.1, 3, work=1.0)[1:5] == (-1, 0, 0, [])


def test_quantiles_leave_fewer_trees():
    rng = np.random.default_rng(1)
    values = [rng.normal(size=120) for _ in range(3)]
    problem = ref.Problem(values, [0] * 3, (values[0] + values[1] > 0).astype(int), 2, marginal=[0.01] * 3)
    few, every = (near(problem, 0.01, 2, max_cuts=cuts, max_trees=0) for cuts in (4, 1000))
    assert few[2] < every[2]
    assert few[0] >= every[0]

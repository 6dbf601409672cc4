"""The exact search against all trees, one by one."""

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


def search(problem, max_depth=2, leaf_price=0.0, max_leaves=ANY, n_threads=1, max_cuts=1000, **settings):
    settings = {
        "memory": 2**24, "work": math.inf, "seconds": math.inf, "tell": None, "deepest": 0, "horizon": 0,
    } | settings  # fmt: skip
    return _core.search_exactly(
        *core_training(problem), core_pricing(problem), core_errors(problem), max_depth=max_depth,
        leaf_price=leaf_price, max_leaves=max_leaves, n_threads=n_threads, max_cuts=max_cuts, **settings,
    )  # fmt: skip


def cheapest(problem, depth, leaf_price, max_leaves):
    rows, weight = np.arange(len(problem.y)), problem.weights.sum()
    return min(
        cost_of(problem, tree, rows, leaf_price * weight) / weight
        for tree in all_trees(problem, depth)
        if len(ref.leaves(tree)) <= max_leaves
    )


@compare(150)
@given(
    seed=SEEDS, columns=st.integers(1, 3), leaf_price=st.sampled_from([0.0, 0.05]), leaves=st.sampled_from([ANY, 2, 3])
)
@example(seed=104774, columns=3, leaf_price=0.0, leaves=4)  # in one order, no surcharge
def test_no_tree_of_depth_two_costs_less(seed, columns, leaf_price, leaves):
    problem = small(np.random.default_rng(seed), columns)
    tree, cost, bound, proven, *_ = search(problem, 2, leaf_price, leaves)
    assert proven
    assert bound == cost
    assert cost == pytest.approx(cheapest(problem, 2, leaf_price, leaves), rel=1e-6, abs=1e-9)
    # The tree itself costs what the search says.
    node, weight = to_node(tree), problem.weights.sum()
    rows = np.arange(len(problem.y))
    assert cost_of(problem, node, rows, leaf_price * weight) / weight == pytest.approx(cost, rel=1e-6, abs=1e-9)
    assert len(ref.leaves(node)) <= leaves


@compare(10)
@given(seed=SEEDS)
def test_no_tree_of_depth_three_costs_less(seed):
    rng = np.random.default_rng(seed)
    problem = small(rng, 2, 10)
    columns = [rng.integers(0, 2, len(problem.y)).astype(float) for _ in problem.columns]
    problem = replace(problem, levels={}, n_values=[0] * len(columns), columns=columns)
    problem = replace(problem, surcharges=[], requires=None)
    assert search(problem, 3)[1] == pytest.approx(cheapest(problem, 3, 0.0, ANY), rel=1e-6, abs=1e-9)


@compare(60)
@given(seed=SEEDS, columns=st.integers(2, 6), depth=st.integers(2, 4))
def test_the_fast_ways_agree_with_the_slow_one(seed, columns, depth):
    """Two-level splits from sums, and cuts ruled out by intervals, against a limit of leaves, which uses neither."""
    rng = np.random.default_rng(seed)
    n = 30
    binary = bool(rng.integers(2))
    values = [rng.integers(0, 2 if binary else 5, n).astype(float) for _ in range(columns)]
    problem = ref.Problem(
        values, [0] * columns, rng.integers(0, 3, n), 3,
        marginal=rng.choice([0.0, 0.01, 0.1], columns), weights=rng.choice([1.0, 2.5], n),
    )  # fmt: skip
    fast, slow = search(problem, depth), search(problem, depth, max_leaves=2**depth - 1)
    most = search(problem, depth, max_leaves=2**depth)
    assert fast[1] == pytest.approx(most[1], rel=1e-6, abs=1e-9)
    assert fast[1] <= slow[1] + 1e-9


@compare(20)
@given(seed=SEEDS, depth=st.integers(3, 4), k=st.integers(2, 3), n_threads=st.integers(1, 2))
def test_pairs_that_are_subtracted_are_like_those_that_are_counted(seed, depth, k, n_threads):
    """A test of three values that is too expensive for any case ends the way of columns of 0 and 1."""
    rng = np.random.default_rng(seed)
    n, columns = 250, 9
    values = [(rng.random(n) < rng.uniform(0.1, 0.9)).astype(float) for _ in range(columns)]
    noise = rng.random(n) < 0.1
    y = ((values[0] > 0) ^ (values[1] > 0) ^ noise).astype(int) + (k - 2) * (values[2] * values[3] > 0)
    marginal, weights = rng.choice([0.0, 0.003, 0.02], columns), rng.choice([1.0, 2.5], n)
    binary = ref.Problem(values, [0] * columns, y, k, marginal=marginal, weights=weights)
    values = [*values, rng.integers(0, 3, n).astype(float)]
    other = ref.Problem(values, [0] * (columns + 1), y, k, marginal=np.append(marginal, 1e3), weights=weights)
    fast, slow = search(binary, depth, n_threads=n_threads), search(other, depth)
    assert (fast[3], slow[3]) == (True, True)
    assert fast[1] == pytest.approx(slow[1], rel=1e-9)


def priced(n=200, columns=8, seed=0, k=2):
    rng = np.random.default_rng(seed)
    values = [rng.integers(0, 6, n).astype(float) for _ in range(columns)]
    y = ((values[0] > 2) ^ (values[1] > 3) ^ (rng.random(n) < 0.2)).astype(int) + (k - 2) * (values[2] > 4)
    return ref.Problem(values, [0] * columns, y, k, marginal=[0.01 * (1 + t) for t in range(columns)])


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("k", [2, 3])
def test_threads_make_no_difference(depth, k):
    problem = priced(k=k)
    one, *more = (search(problem, depth, n_threads=n) for n in (1, 2, 5))
    for other in more:
        assert other[1:5] == one[1:5]
        for name in ("test", "threshold", "first_child", "answer"):
            np.testing.assert_array_equal(getattr(other[0], name), getattr(one[0], name))


def test_deeper_trees_cost_less_and_trees_by_depth_are_the_best_of_their_depth():
    problem = priced()
    whole = search(problem, 4)
    costs = [cost for _, cost in whole[5]]
    assert costs == [search(problem, depth)[1] for depth in (1, 2, 3, 4)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == whole[1]


def test_a_limit_of_work_gives_a_tree_and_a_bound():
    problem = priced(columns=12)
    best = search(problem, 4)
    early = search(problem, 4, work=1e5)
    again = search(problem, 4, work=1e5, n_threads=2)
    assert not early[3]
    assert early[2] <= best[1] <= early[1]
    assert early[1:4] == again[1:4]
    assert search(problem, 4, seconds=0.0)[1] >= best[1]


def test_a_limit_of_time_gives_a_bound_for_trees_with_all_cuts():
    """The class changes where none of a few cuts is, so that trees with these make errors that others do not."""
    rng = np.random.default_rng(0)
    values = [rng.normal(size=400) for _ in range(3)]
    rare = (values[0] < np.quantile(values[0], 0.03)).astype(int)
    problem = ref.Problem(values, [0] * 3, rare, 2, marginal=[0.0001] * 3)
    best = search(problem, 3)
    assert search(problem, 3, seconds=60.0)[1:4] == best[1:4]
    early = search(problem, 3, seconds=1e-9)
    assert not early[3]
    assert early[2] <= best[1] < early[1]


def test_little_memory_costs_time_only():
    problem = priced(columns=10)
    assert search(problem, 4, memory=1)[1] == search(problem, 4)[1]


def test_the_caller_is_told_and_may_stop():
    told = []

    def tell(cost, bound):
        told.append((cost, bound))
        return len(told) >= 2

    rng = np.random.default_rng(0)
    values = [rng.normal(size=1500) for _ in range(12)]
    problem = ref.Problem(values, [0] * 12, rng.integers(0, 2, 1500), 2, marginal=[0.001] * 12)
    found = search(problem, 5, tell=tell)
    assert len(told) == 2
    assert not found[3]
    assert all(bound <= cost for cost, bound in told)


def test_quantiles_are_among_all_cuts():
    rng = np.random.default_rng(1)
    values = [rng.normal(size=120) for _ in range(3)]
    problem = ref.Problem(values, [0] * 3, (values[0] + values[1] > 0).astype(int), 2, marginal=[0.01] * 3)
    few, more, every = (search(problem, 2, max_cuts=cuts)[1] for cuts in (3, 10, 1000))
    assert every <= more
    assert every <= few


@compare(40)
@given(seed=SEEDS)
def test_missing_values_go_down_all_branches_at_their_shares(seed):
    """Depth one, by hand: parts of a case count at their share, and nobody pays for a value that is not there."""
    rng = np.random.default_rng(seed)
    n = 12
    values = [np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 3, n).astype(float)) for _ in range(2)]
    problem = ref.Problem(values, [0, 0], rng.integers(0, 2, n), 2, marginal=[0.02, 0.1])
    own = np.array(problem.errors)[problem.y]
    best = own.sum(axis=0).min()
    for t, column in enumerate(values):
        known = ~np.isnan(column)
        for cut in np.unique(column[known])[:-1]:
            right = column[known] > cut
            share = np.where(known, 0.0, right.mean())
            share[known] = right
            cost = problem.marginal[t] * known.sum()
            cost += (own * share[:, None]).sum(axis=0).min() + (own * (1 - share)[:, None]).sum(axis=0).min()
            best = min(best, cost)
    assert search(problem, 1)[1] == pytest.approx(best / n)
    assert search(problem, 2)[1] <= best / n + 1e-12


@compare(60)
@given(seed=SEEDS, columns=st.integers(2, 4))
def test_orders_at_the_root_are_found_by_all_solvers_as_by_one(seed, columns):
    """From depth 3 on, first tests and orders are dealt out; a limit of leaves that is none is solved at once."""
    rng = np.random.default_rng(seed)
    problem = small(rng, columns, 25)
    # With surcharges after other tests, which make prices depend on the order, one solver does all.
    late = [bool(each) for each in rng.integers(0, 2, len(problem.columns))]
    problem = replace(problem, delayed=late, surcharges=[])
    dealt, whole = search(problem, 3), search(problem, 3, max_leaves=10**6)
    assert dealt[1] == pytest.approx(whole[1], rel=1e-6, abs=1e-9)
    assert dealt[3]
    node, rows, weight = to_node(dealt[0]), np.arange(len(problem.y)), problem.weights.sum()
    assert cost_of(problem, node, rows, 0.0) / weight == pytest.approx(dealt[1], rel=1e-6, abs=1e-9)
    again = search(problem, 3, n_threads=2)
    assert again[1:5] == dealt[1:5]
    np.testing.assert_array_equal(again[0].test, dealt[0].test)


@compare(60)
@given(seed=SEEDS, columns=st.integers(2, 3), horizon=st.integers(1, 3), more=st.integers(1, 2))
def test_a_tree_that_grows_further_costs_no_more(seed, columns, horizon, more):
    problem = replace(small(np.random.default_rng(seed), columns, 15), surcharges=[])
    tree, cost, bound, _, _, _, deeper, less = search(problem, 2, deepest=2 + more, horizon=horizon)
    assert less <= cost + 1e-9
    assert bound == cost  # the proof is about depth 2
    node, rows, weight = to_node(deeper), np.arange(len(problem.y)), problem.weights.sum()
    assert cost_of(problem, node, rows, 0.0) / weight <= less + 1e-6 * abs(less) + 1e-9
    assert depth_of(node) <= 2 + more
    if depth_of(node) > 0:
        assert tree.test[0] >= 0
    # One that looks as far ahead as the whole depth is the best of its depth below the first test.
    assert search(problem, 2 + more)[1] <= less + 1e-9


def depth_of(node):
    return 1 + max(map(depth_of, node.children)) if node.children else 0


def test_more_depth_helps_where_one_more_test_is_needed():
    bits = np.array([[i >> b & 1 for b in range(4)] for i in range(16)] * 4, dtype=float)
    problem = ref.Problem(list(bits.T), [0] * 4, bits.sum(axis=1).astype(int) % 2, 2, marginal=[0.01] * 4)
    found = search(problem, 3, deepest=4, horizon=2)
    assert found[1] == pytest.approx(0.5)  # a leaf: three of four bits tell nothing
    found = search(problem, 4, deepest=0)
    assert found[1] == pytest.approx(0.04)
    three = ref.Problem(list(bits.T), [0] * 4, np.where(bits[:, 0] > 0, bits[:, 1:].sum(axis=1) % 2, 0).astype(int), 2)
    shallow = search(three, 2, deepest=4, horizon=3)
    assert shallow[1] == pytest.approx(0.25)
    assert shallow[7] == pytest.approx(0.25)  # the first test is that of the tree of depth 2

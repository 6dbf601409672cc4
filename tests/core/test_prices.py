"""Prices as they are, the core against the oracle: groups, surcharges, waits, commits, prices by case and caps, mixed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from bridge import (
    assert_same_routes,
    assert_same_tree,
    core_errors,
    core_grow,
    core_grow_ahead,
    core_pricing,
    core_route,
    core_table,
    core_tree_cost,
    expected_routes,
    from_node,
    item_number,
    sets_of_tests,
    to_node,
)
from problems import (
    SEEDS,
    compare,
    flag_nodes,
    fresh_cases,
    hand_written_trees,
    policies,
    priced_problems,
    problems,
    worst_price,
)
from worthwhile import _core

EXAMPLES, CASES = 400, 300  # of the first comparison: 120,000 cases


def amounts_of(problem, columns, seed):
    """What tests and surcharges cost each of some cases, of random classes."""
    rng = np.random.default_rng(seed)
    n = len(columns[0])
    truth = rng.integers(0, problem.k, n)
    own = [None] * n
    if problem.case_prices is not None:
        own = problem.case_prices[rng.integers(0, len(problem.y), n)]
    rows = range(n)
    return np.array(
        [ref.case_amounts(problem, [c[row] for c in columns], truth[row], own[row]) for row in rows], dtype=np.float64
    )


@compare(EXAMPLES)
@given(problem=priced_problems(), policy=policies(), data=st.data())
def test_a_hundred_thousand_cases_in_hand_written_trees(problem, policy, data):
    cases = data.draw(fresh_cases(problem, CASES, CASES))
    node = flag_nodes(np.random.default_rng(data.draw(SEEDS)), problem, data.draw(hand_written_trees(problem)))
    amounts = amounts_of(problem, cases, len(cases))
    routes = core_route(problem, policy, from_node(node, problem.k), cases, amounts)
    assert len(routes[0]) == CASES
    assert_same_routes(routes, expected_routes(problem, policy, node, cases, amounts))


# -- growing and pruning ----------------------------------------------------------------------------------------------


@compare(150)
@given(problem=priced_problems(caps=False), policy=policies(prunings=["none", "cost"]))
def test_grown_and_pruned_trees_with_their_commits(problem, policy):
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


@compare(100)
@given(problem=priced_problems(max_rows=30, max_columns=4, caps=False), policy=policies(prunings=["none"]))
def test_what_a_tree_is_expected_to_cost(problem, policy):
    node = ref.grow(problem, policy)
    expected = ref.tree_cost(ref.without_weightless(problem), policy, node)
    assert core_tree_cost(problem, policy, from_node(node, problem.k)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def all_flags(nodes):
    """Every way to let these nodes commit, or not."""
    for flags in range(2 ** len(nodes)):
        for i, node in enumerate(nodes):
            node.commits = bool(flags >> i & 1)
        yield flags


@compare(100)
@given(problem=priced_problems(max_rows=30, max_columns=4, caps=False), seed=SEEDS)
def test_no_other_commits_cost_less_where_every_value_is_known(problem, seed):
    # Where values are missing, choosing from the bottom need not be best: a case that is divided above a node pays
    # there for several branches at once, and what one of them orders makes the other one cheaper.
    rng = np.random.default_rng(seed)
    columns = [
        np.where(column < 0, 0, column) if v else np.nan_to_num(column)
        for column, v in zip(problem.columns, problem.n_values, strict=True)
    ]
    wait = rng.choice([0.0, 1.0, 2.5], len(columns))
    problem = ref.without_weightless(replace(problem, columns=columns, wait=wait, waiting=[(0, 0), (1, 0.5), (3, 9)]))
    policy = ref.Policy("gain", min_cases=1, max_depth=3, prune="none")
    node = to_node(core_grow(problem, policy))
    chosen = ref.subtree_price(problem, node, ref.all_cases(problem))
    inner = [n for n in ref.inner_nodes(node)]
    may = [n for n, path in with_paths(node) if n.children and ref.waits(problem, n, path)]
    assert not [n for n in inner if n.commits and not any(n is m for m in may)]
    if len(may) <= 6:
        least = min(ref.subtree_price(problem, node, ref.all_cases(problem)) for _ in all_flags(may))
        assert chosen <= least + 1e-8 * (1 + abs(least))


def with_paths(node, path=()):
    """All nodes of a tree with the nodes above them."""
    return [(node, path)] + [pair for child in node.children for pair in with_paths(child, (*path, node))]

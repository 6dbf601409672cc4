"""The core against the oracle: groups, surcharges, waits, commits, prices and errors by case, and caps, all mixed."""

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
    may = [n for n, path in with_paths(node) if n.children and ref.waits(problem, n, path)]
    assert not [n for n in ref.inner_nodes(node) if n.commits and not any(n is m for m in may)]
    if len(may) <= 6:
        least = min(ref.subtree_price(problem, node, ref.all_cases(problem)) for _ in all_flags(may))
        assert chosen <= least + 1e-8 * (1 + abs(least))


def with_paths(node, path=()):
    """All nodes of a tree with the nodes above them."""
    return [(node, path)] + [pair for child in node.children for pair in with_paths(child, (*path, node))]


@compare(60)
@given(problem=priced_problems(max_rows=16, max_columns=3, caps=False), policy=policies(prunings=["cost"]), r=SEEDS)
def test_trees_grown_with_look_ahead(problem, policy, r):
    ahead = ref.LookAhead(r=1 + r % 3, samples=ref.SAMPLES[r % 2])
    policy = replace(policy, criterion="icf", answer="least-cost", context=True, ahead=ahead)  # as all that look ahead
    assert_same_tree(core_grow_ahead(problem, policy), ref.grow(problem, policy))


# -- caps -------------------------------------------------------------------------------------------------------------


def forest_of(problem, trees, cases, amounts):
    """The votes of a forest, (answers, class weights, prices), and the items charged."""
    table = core_table(cases, problem.n_values)
    router = _core.ForestRouter(table, core_pricing(problem), core_errors(problem), case_prices=amounts)
    votes = [router.consult(tree) for tree in trees]
    return votes, sets_of_tests(router.charged())


@compare(150)
@given(problem=priced_problems(), policy=policies(), data=st.data())
def test_no_case_pays_more_than_the_cap(problem, policy, data):
    # Prices by case are known to nobody who only sees the list: the cap is about the list.
    problem = replace(problem, case_prices=None, case_errors=None, errors=problem.errors[:, : problem.k])
    cases = data.draw(fresh_cases(problem, 40))
    amounts = amounts_of(problem, cases, 1)
    tree = core_grow(problem, policy)
    routes = core_route(problem, policy, tree, cases, amounts)
    assert_same_routes(routes, expected_routes(problem, policy, to_node(tree), cases, amounts))
    assert np.all(routes[1] <= problem.cap * (1 + 1e-9))
    votes, _ = forest_of(problem, [tree, core_grow(replace(problem, cap=np.inf), policy)], cases, amounts)
    assert np.all(sum(vote[2] for vote in votes) <= problem.cap * (1 + 1e-9))


@compare(100)
@given(problem=priced_problems(caps=False), policy=policies())
def test_a_cap_at_the_highest_price_changes_nothing_and_a_cap_of_0_leaves_the_free_tests(problem, policy):
    assert_same_tree(core_grow(replace(problem, cap=worst_price(problem)), policy), to_node(core_grow(problem, policy)))
    nodes = ref.inner_nodes(to_node(core_grow(replace(problem, cap=0.0), policy)))
    assert all(ref.most(problem, ref.order(problem, [node.column], set())) == 0 for node in nodes)


# -- forests ----------------------------------------------------------------------------------------------------------


@compare(100)
@given(problem=priced_problems(), data=st.data())
def test_forests_charge_what_the_oracle_charges(problem, data):
    rng = np.random.default_rng(data.draw(SEEDS))
    policy = ref.Policy(answer="majority")
    problem = replace(problem, errors=problem.errors[:, : problem.k])
    nodes = [flag_nodes(rng, problem, data.draw(hand_written_trees(problem, 3))) for _ in range(3)]
    cases = data.draw(fresh_cases(problem, 20))
    amounts = amounts_of(problem, cases, 2)
    votes, charged = forest_of(problem, [from_node(node, problem.k) for node in nodes], cases, amounts)
    for row in range(len(cases[0])):
        said, paid = ref.consult(problem, policy, nodes, [column[row] for column in cases], amounts[row])
        assert charged[row] == {item_number(problem, item) for item in paid}
        for (answers, _, prices), (answer, _, extra) in zip(votes, said, strict=True):
            assert answers[row] == answer
            assert prices[row] == pytest.approx(extra, rel=1e-9, abs=1e-9)


# -- properties -------------------------------------------------------------------------------------------------------


@compare(100)
@given(problem=priced_problems(caps=False), data=st.data())
def test_prices_follow_their_unit(problem, data):
    cases, node = data.draw(fresh_cases(problem)), data.draw(hand_written_trees(problem))
    other = replace(
        problem,
        marginal=[4 * price for price in problem.marginal],
        common=[4 * price for price in problem.common],
        surcharges=[replace(s, amount=4 * s.amount) for s in problem.surcharges],
        waiting=[(time, 4 * price) for time, price in problem.waiting],
        errors=4 * problem.errors,
    )
    policy = ref.Policy(answer="least-cost")
    amounts = amounts_of(problem, cases, 3)
    tree = from_node(node, problem.k)
    mine, its = core_route(problem, policy, tree, cases, amounts), core_route(other, policy, tree, cases, 4 * amounts)
    np.testing.assert_allclose(its[1], 4 * mine[1], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(mine[3], its[3])


def complete(problem, columns):
    """The cases with a value for every one that is missing or was never seen."""
    return [np.clip(c, 0, v - 1) if v else np.nan_to_num(c) for c, v in zip(columns, problem.n_values, strict=True)]


@compare(100)
@given(problem=problems(), policy=policies(), data=st.data())
def test_waiting_for_nothing_and_surcharges_that_never_apply_change_nothing(problem, policy, data):
    # Where going on costs as much as stopping, rounding decides about cases with missing values: there are none here.
    cases, never = complete(problem, data.draw(fresh_cases(problem))), problem.k
    first = ref.Surcharge(0, 0.0, truth=0)
    other = replace(problem, wait=[5.0] * len(cases), waiting=[(0.0, 0.0), (1.0, 0.0)], surcharges=[first])
    tree, its = core_grow(problem, policy), core_grow(other, policy)
    assert_same_tree(its, to_node(tree))
    mine = core_route(problem, policy, tree, cases)
    np.testing.assert_allclose(core_route(other, policy, its, cases)[1], mine[1], rtol=1e-12)
    other = replace(problem, surcharges=[ref.Surcharge(0, 7.0, truth=never)])  # a class that no case has
    amounts = amounts_of(other, cases, 4)
    np.testing.assert_allclose(core_route(other, policy, its, cases, amounts)[1], mine[1], rtol=1e-12)


@compare(100)
@given(problem=problems(), policy=policies(prunings=["none"]), seed=SEEDS)
def test_nobody_waits_twice_if_waiting_costs_a_fortune(problem, policy, seed):
    rng = np.random.default_rng(seed)
    columns = [
        np.where(c < 0, 0, c) if v else np.nan_to_num(c) for c, v in zip(problem.columns, problem.n_values, strict=True)
    ]
    wait = rng.choice([0.0, 1.0], len(columns))  # a longer wait for a few cases may cost less than for all
    problem = replace(problem, columns=columns, wait=wait, waiting=[(0.0, 0.0), (1.0, 1e6)])
    charged = sets_of_tests(core_route(problem, policy, core_grow(problem, policy), columns)[3])
    assert all(sum(item >= len(columns) for item in items) <= 1 for items in charged)


def test_more_items_than_a_word_has_bits():
    rng = np.random.default_rng(1)
    n, d = 60, 50
    columns = [rng.integers(0, 3, n).astype(float) for _ in range(d)]
    surcharges = [ref.Surcharge(t, 0.5 + t, result=(">", 1.0), after=[(t + 7) % d]) for t in range(d)]
    problem = ref.Problem(
        columns, [0] * d, rng.integers(0, 3, n), 3, marginal=rng.integers(0, 4, d), surcharges=surcharges,
        wait=rng.integers(0, 3, d), waiting=[(0, 0), (2, 1), (3, 9)], more_groups=[[t % 3] for t in range(d)],
        common=[1, 2, 3], errors=50 * (1 - np.eye(3)),
    )  # fmt: skip
    policy = ref.Policy("gain", min_cases=1, prune="none")
    tree = core_grow(problem, policy)
    assert_same_tree(tree, ref.grow(problem, policy))
    assert tree.commits.any()
    amounts = amounts_of(problem, columns, 5)
    routes = core_route(problem, policy, tree, columns, amounts)
    assert routes[3].shape == (n, 3)
    assert_same_routes(routes, expected_routes(problem, policy, to_node(tree), columns, amounts))

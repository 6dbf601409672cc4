"""Dividing nominal values into two: the core against the oracle, and against all ways there are."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from bridge import (
    assert_same_routes,
    assert_same_tree,
    core_greedy_tree,
    core_grow,
    core_grow_ahead,
    core_route,
    core_route_lazily,
    expected_routes,
    to_node,
)
from problems import SEEDS, compare, fresh_cases, policies, problems

SPLITS = ("subset", "both")
splits = pytest.mark.parametrize("nominal_splits", SPLITS)


def with_nominal_columns(problem, seed):
    """The problem with half of its numeric columns made nominal, of up to nine values."""
    rng = np.random.default_rng(seed)
    columns, n_values = list(problem.columns), list(problem.n_values)
    for t, v in enumerate(n_values):
        if not v and rng.random() < 0.5:
            n_values[t] = int(rng.integers(3, 10))
            drawn = (problem.y + rng.integers(0, n_values[t], len(problem.y))) % n_values[t]
            columns[t] = np.where(np.isnan(columns[t]), -1, drawn)
    return replace(problem, columns=columns, n_values=n_values)


nominal_problems = st.builds(with_nominal_columns, problems(), SEEDS)


@splits
@pytest.mark.parametrize("prune", ref.PRUNINGS)
def test_grown_and_pruned_tree(nominal_splits, prune):
    @compare(120)
    @given(problem=nominal_problems, policy=policies(prunings=[prune]))
    def check(problem, policy):
        policy = replace(policy, nominal_splits=nominal_splits)
        assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))

    check()


@splits
def test_tree_grown_by_looking_tests_ahead(nominal_splits):
    @compare(60)
    @given(
        problem=st.builds(with_nominal_columns, problems(max_rows=16, max_columns=3), SEEDS),
        policy=policies(prunings=["none"], idx_depth=(2,)),
    )
    def check(problem, policy):
        policy = replace(policy, nominal_splits=nominal_splits)
        assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))

    check()


@splits
@pytest.mark.parametrize("margin", [0.0, 0.0971])
def test_tree_of_one_sample_per_branch(nominal_splits, margin):
    @compare(60)
    @given(
        problem=st.builds(with_nominal_columns, problems(max_rows=30, max_columns=4), SEEDS),
        policy=policies(prunings=["cost"]),
    )
    def check(problem, policy):
        ahead = ref.LookAhead(r=1, margin=margin)
        policy = replace(policy, criterion="icf", context=True, ahead=ahead, nominal_splits=nominal_splits)
        assert_same_tree(core_grow_ahead(problem, policy), ref.grow(problem, policy))

    check()


def test_several_ways_to_divide_values_are_options():
    """With r samples, multiway splits have r samples too, which the oracle has not: two ways alone are compared."""

    @compare(60)
    @given(
        problem=st.builds(with_nominal_columns, problems(max_rows=30, max_columns=4), SEEDS),
        policy=policies(prunings=["none"]),
    )
    def check(problem, policy):
        only_divided = [v if v != 2 else 3 for v in problem.n_values]
        problem = replace(problem, n_values=only_divided, levels={})
        ahead = ref.LookAhead(r=3)
        policy = replace(policy, criterion="icf", context=True, ahead=ahead, nominal_splits="subset")
        assert_same_tree(core_grow_ahead(problem, policy), ref.grow(problem, policy))

    check()


@splits
def test_routes_of_fresh_cases(nominal_splits):
    @compare(100)
    @given(problem=nominal_problems, policy=policies(), data=st.data())
    def check(problem, policy, data):
        policy = replace(policy, nominal_splits=nominal_splits)
        cases, node = data.draw(fresh_cases(problem)), ref.grow(problem, policy)
        routes = core_route(problem, policy, core_grow(problem, policy), cases)
        assert_same_routes(routes, expected_routes(problem, policy, node, cases))
        lazy = replace(policy, prune="none")
        lazily = expected_routes(problem, lazy, ref.grow(problem, lazy), cases, may_stop=False)
        assert_same_routes(core_route_lazily(problem, lazy, cases), lazily)

    check()


@splits
def test_trees_of_forests(nominal_splits):
    @compare(100)
    @given(problem=nominal_problems, seed=SEEDS)
    def check(problem, seed):
        rng = np.random.default_rng(seed)
        columns = [
            np.where(c < 0, 0, c) if v else np.nan_to_num(c)
            for c, v in zip(problem.columns, problem.n_values, strict=True)
        ]
        marginal = [round(4 * price) / 4 for price in problem.marginal]
        common = [round(4 * price) / 4 for price in problem.common]
        problem = replace(problem, columns=columns, weights=np.ceil(problem.weights), marginal=marginal, common=common)
        problem = ref.without_weightless(problem)
        policy = ref.ForestPolicy(
            parameter=float(rng.choice([0, 1])), expected=bool(rng.integers(2)), nominal_splits=nominal_splits
        )
        expected = ref.greedy_tree(problem, policy, ref.all_cases(problem))
        ref.set_answers(problem, ref.Policy(answer="majority"), expected)
        assert_same_tree(core_greedy_tree(problem, policy), expected)

    check()


def every_division(n_values):
    return [set(some) for size in range(1, n_values) for some in combinations(range(n_values), size)]


@pytest.mark.parametrize(("criterion", "k"), [("gain", 2), ("gain", 3), ("cost-drop", 2), ("cost-drop", 3)])
def test_no_division_of_the_values_would_be_better(criterion, k):
    """Up to five values, or two classes, or the cost of two answers: the best of all ways is found."""
    n_values = 8 if k == 2 else 5
    policy = ref.Policy(
        criterion=criterion, nominal_splits="subset", min_cases=1, prune="none", max_depth=1, answer="least-cost"
    )
    for seed in range(30):
        rng = np.random.default_rng(seed)
        values = np.r_[np.arange(n_values), rng.integers(0, n_values, 60)]
        y = (values * 7 + rng.integers(0, 3, len(values))) % k
        errors = rng.integers(1, 20, (k, k)) * (1.0 - np.eye(k))
        problem = ref.Problem([values], [n_values], y, k, errors=errors)
        table = np.array([np.bincount(y[values == v], minlength=k) for v in range(n_values)], dtype=float)

        def worth(some, table=table, problem=problem):
            sides = np.array([table[sorted(some)].sum(axis=0), np.delete(table, sorted(some), axis=0).sum(axis=0)])
            if criterion == "gain":
                return ref.gain(sides, float(table.sum()))
            return -sum(ref.error_cost(problem, policy, side) for side in sides)

        best = max(worth(some) for some in every_division(n_values))
        node = to_node(core_grow(problem, policy))
        if criterion == "cost-drop" and best <= -ref.error_cost(problem, policy, table.sum(axis=0)) + 1e-9:
            assert not node.children
            continue
        if criterion == "gain" and best - (n_values - 1) / len(y) <= 1e-9:
            assert not node.children
            continue
        assert worth({v for v, b in enumerate(node.branch_of) if b == 0}) == pytest.approx(best, abs=1e-9)


def test_the_better_of_the_two_has_the_shorter_description():
    """Of six values, one differs from the rest; or each has its class."""
    values = np.repeat(np.arange(6), 20)
    alike = ref.Problem([values], [6], np.array([0, 0, 1, 0, 0, 0]).repeat(20), 2)
    apart = ref.Problem([values], [6], values, 6)
    policy = ref.Policy(criterion="gain", nominal_splits="both", prune="none", max_depth=1)
    assert to_node(core_grow(alike, policy)).branch_of == [0, 0, 1, 0, 0, 0]
    assert to_node(core_grow(apart, policy)).branch_of == [0, 1, 2, 3, 4, 5]


def test_a_division_is_charged_for_being_chosen():
    """A test of many values that tell nothing must not be asked for the sake of chance."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    noise = rng.integers(0, 40, 200)
    weak = np.where(rng.random(200) < 0.62, y, 1 - y).astype(float)
    problem = ref.Problem([noise, weak], [40, 0], y, 2)
    policy = ref.Policy(criterion="gain", nominal_splits="subset", prune="none", max_depth=1, min_cases=1)
    table = np.array([np.bincount(y[noise == v], minlength=2) for v in range(40)], dtype=float)
    ordered = table[np.argsort(table[:, 0] / np.maximum(table.sum(axis=1), 1))]
    by_chance = max(ref.gain(np.array([ordered[:i].sum(0), ordered[i:].sum(0)]), 200.0) for i in range(1, 40))
    own = ref.gain(np.array([np.bincount(y[weak == v], minlength=2) for v in (0, 1)], dtype=float), 200.0)
    assert by_chance > own
    assert to_node(core_grow(problem, policy)).column == 1


@splits
def test_subtrees_grown_on_threads_keep_their_own_divisions(nominal_splits):
    """Many subtrees are grown apart and put together; each has ways to divide values that the others have not."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, v, 900) for v in (7, 8, 9, 6)]
    y = (columns[0] % 3 + (columns[1] > 3) * (columns[2] % 2) + (rng.random(900) < 0.1)) % 3
    problem = ref.Problem(columns, [7, 8, 9, 6], y, 3, marginal=[1.0, 2.0, 1.0, 3.0], errors=50.0 * (1 - np.eye(3)))
    policy = ref.Policy(
        criterion="icf", context=True, prune="none", nominal_splits=nominal_splits, ahead=ref.LookAhead(r=1)
    )
    one, two = (core_grow_ahead(problem, policy, n_threads=n) for n in (1, 2))
    node = to_node(one)
    assert sum(1 for _ in ref.leaves(node)) > 24
    expected = ref.grow(problem, policy)
    assert_same_tree(one, expected)
    assert_same_tree(two, expected)
    assert math.isclose(node.weight, 900)

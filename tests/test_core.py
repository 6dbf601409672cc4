"""The compiled core against the oracle: the same trees, node by node, and the same answers, prices and class shares."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference as ref
from bridge import (
    assert_same_routes,
    assert_same_tree,
    core_errors,
    core_grow,
    core_policy,
    core_pricing,
    core_route,
    core_route_lazily,
    differences,
    expected_routes,
    from_node,
    to_node,
)
from problems import fresh_cases, hand_written_trees, policies, problems
from worthwhile import _core


def compare(max_examples):
    """Settings of a comparison: always the same examples, as long as they take."""
    slow_is_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=max_examples, deadline=None, derandomize=True, suppress_health_check=slow_is_fine)


def test_the_two_know_the_same_criteria():
    assert tuple(_core.criteria()) == ref.CRITERIA


# -- growing and pruning ----------------------------------------------------------------------------------------------


@compare(300)
@given(problem=problems(), policy=policies(prunings=["none"]))
def test_grown_tree(problem, policy):
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


@compare(120)
@given(problem=problems(max_rows=14, max_columns=3), data=st.data())
def test_tree_grown_by_looking_ahead(problem, data):
    policy = data.draw(policies(prunings=["none"], lookahead=data.draw(st.sampled_from([2, 3]))))
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


@compare(300)
@given(problem=problems(), policy=policies(prunings=["pessimistic"]))
def test_tree_pruned_by_errors(problem, policy):
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


@compare(300)
@given(problem=problems(), policy=policies(prunings=["cost"]))
def test_tree_pruned_by_cost(problem, policy):
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


@compare(100)
@given(problem=problems(), policy=policies())
def test_a_table_that_might_have_missing_values_gives_the_same_tree(problem, policy):
    # Without missing values and weights the core counts in whole numbers; the promise "none is missing" may not matter.
    assert not differences(to_node(core_grow(problem, policy, has_missing=True)), to_node(core_grow(problem, policy)))


# -- walking ----------------------------------------------------------------------------------------------------------


@compare(300)
@given(problem=problems(), policy=policies(), data=st.data())
def test_routes_of_fresh_cases(problem, policy, data):
    cases = data.draw(fresh_cases(problem))
    node = ref.grow(problem, policy)
    tree = core_grow(problem, policy)
    assert_same_routes(core_route(problem, policy, tree, cases), expected_routes(problem, policy, node, cases))
    case_prices = np.random.default_rng(len(cases[0])).choice([0, 1, 2.5], (len(cases[0]), len(cases)))
    routes = core_route(problem, policy, tree, cases, case_prices)
    assert_same_routes(routes, expected_routes(problem, policy, node, cases, case_prices))


@compare(300)
@given(problem=problems(max_columns=3), policy=policies(), data=st.data())
def test_routes_in_hand_written_trees(problem, policy, data):
    cases = data.draw(fresh_cases(problem))
    node = data.draw(hand_written_trees(problem))
    tree = from_node(node, problem.k)
    assert not differences(to_node(tree), node)
    assert_same_routes(core_route(problem, policy, tree, cases), expected_routes(problem, policy, node, cases))


@compare(200)
@given(problem=problems(), data=st.data())
def test_lazy_routes_are_those_of_the_full_tree(problem, data):
    policy = data.draw(policies(prunings=["none"]))
    cases = data.draw(fresh_cases(problem))
    node = ref.grow(problem, policy)
    assert_same_routes(core_route_lazily(problem, policy, cases), expected_routes(problem, policy, node, cases))


# -- the estimates ----------------------------------------------------------------------------------------------------

counts = st.one_of(st.integers(0, 30).map(float), st.floats(0, 30))
confidences = st.one_of(st.sampled_from([0.001, 0.25, 0.4, 1.0]), st.floats(1e-6, 1))


@compare(500)
@given(right=counts, wrong=counts, cf=confidences)
def test_upper_errors(right, wrong, cf):
    expected = ref.upper_errors(right + wrong, wrong, cf)
    assert _core.upper_errors(right + wrong, wrong, cf) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@compare(300)
@given(problem=problems(max_rows=1), data=st.data())
def test_leaf_cost(problem, data):
    weights = data.draw(st.lists(counts, min_size=problem.k, max_size=problem.k))
    answer = data.draw(st.integers(0, problem.errors.shape[1] - 1))
    cf = data.draw(confidences)
    expected = ref.leaf_cost(problem, ref.Policy(confidence=cf), weights, answer)
    assert _core.leaf_cost(core_errors(problem), np.array(weights), answer, cf) == pytest.approx(expected, abs=1e-9)

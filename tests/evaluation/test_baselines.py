"""The simple strategies that a model should beat."""

import numpy as np
import pytest

import worthwhile as ww
from two_classes import COSTS, problem
from worthwhile.evaluation.baselines import _free_tests, baselines, cross_baselines, full_prices
from worthwhile.table.columns import read_columns


def test_a_missing_test_is_not_paid_for_where_all_tests_are_done():
    X = np.array([[1.0, 2.0, 3.0], [np.nan, 2.0, np.nan], [np.nan, np.nan, 3.0], [np.nan] * 3])
    prices = full_prices(COSTS, read_columns(X))
    # All; x1 and the group; x2 with x0, which it requires, and the group; nothing.
    assert prices.tolist() == [14.0, 9.0, 8.0, 0.0]


def test_free_tests_alone_are_a_strategy_of_their_own():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([y + rng.normal(size=200), y + 0.1 * rng.normal(size=200), rng.normal(size=200)])
    names = ("free", "good", "other")

    def names_and_costs(prices):
        costs = ww.Costs(tests=prices, errors=50)
        found = baselines(costs, {"columns": names, "nominal": []}, X[:100], y[:100], X[100:], y[100:], rng)
        return {strategy.name.split(",")[0]: strategy for strategy in found}

    found = names_and_costs({"good": 10.0, "other": 5.0})
    assert list(found) == ["no test", "free tests only", "all tests", "C4.5"]
    assert not found["free tests only"].tests.any()
    assert found["free tests only"].totals.mean() < found["no test"].totals.mean()
    assert found["all tests"].tests.tolist() == [15.0] * 100
    assert list(names_and_costs({})) == ["no test", "all tests", "C4.5"]  # all are free: the same as all tests
    grouped = {name: ww.Test(0.0, group="visit") for name in names}
    costs = ww.Costs(tests=grouped, groups={"visit": 9.0}, errors=50)
    assert _free_tests(costs, {"columns": names}, X) == []


def test_the_plain_tree_is_tuned():
    """Much noise and unequal errors: C4.5 as it is overfits and answers the majority."""
    rng = np.random.default_rng(0)
    y = rng.choice(["ill", "well"], p=[0.3, 0.7], size=600)
    X = rng.normal(size=(600, 5)) + 0.5 * (y == "ill")[:, None]
    costs = ww.Costs(tests={"x0": 1.0, "x1": 1.0}, errors={"ill": {"well": 200.0}, "well": {"ill": 10.0}})
    kinds = {"columns": [f"x{j}" for j in range(5)], "nominal": []}
    tuned = baselines(costs, kinds, X[:300], y[:300], X[300:], y[300:], rng)[-1]
    plain = ww.C45Classifier(costs=costs).fit(X[:300], y[:300])
    assert tuned.totals.mean() < 0.6 * plain.total_costs(X[300:], y[300:]).mean()


def test_cross_validated_costs_are_in_the_order_of_the_cases():
    X, y = problem(seed=1)
    found = cross_baselines(COSTS, {"columns": ("x0", "x1", "x2"), "nominal": []}, X, y, np.random.default_rng(0))
    assert [costs.name.split(",")[0] for costs in found] == ["no test", "all tests", "C4.5"]
    for costs in found:
        assert costs.tests.shape == costs.errors.shape == (200,)
        assert set(costs.errors[~costs.wrong]) == {0.0}
        assert set(costs.errors[costs.wrong & (y == "a")]) <= {20.0}
        assert set(costs.errors[costs.wrong & (y == "b")]) <= {30.0}


@pytest.mark.parametrize("errors", [0.0, {"a": {"b": -5}, "b": {"a": 0}}])
def test_errors_that_cost_nothing(errors):
    X, y = problem(seed=1)
    costs = COSTS.with_errors(errors)
    found = cross_baselines(costs, {"columns": ("x0", "x1", "x2"), "nominal": []}, X, y, np.random.default_rng(0))
    assert [one.errors.max() for one in found] == [0.0, 0.0, 0.0]

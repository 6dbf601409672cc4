"""The simple strategies that a model should beat."""

import numpy as np
import pytest

from two_classes import COSTS, problem
from worthwhile.evaluation.baselines import _full_prices, cross_baselines


def test_a_missing_test_is_not_paid_for_where_all_tests_are_done():
    X = np.array([[1.0, 2.0, 3.0], [np.nan, 2.0, np.nan], [np.nan, np.nan, 3.0], [np.nan] * 3])
    prices = _full_prices(COSTS, {"columns": ("x0", "x1", "x2")}, X)
    # All; x1 and the group; x2 with x0, which it requires, and the group; nothing.
    assert prices.tolist() == [14.0, 9.0, 8.0, 0.0]


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

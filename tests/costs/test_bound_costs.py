"""Costs bound to columns and classes: what learners and trees hand to the core."""

import numpy as np
import pytest

from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.costs import Costs, Test


def test_prices_follow_the_columns_and_error_costs_the_classes():
    costs = Costs(
        tests={"chol": Test(5.17, group="blood"), "fbs": Test(3.10, group="blood")},
        groups={"blood": 2.10},
        errors={"sick": {"buff": 500, "unknown": 20}, "buff": {"sick": 100, "unknown": 30}},
    )
    bound = BoundCosts.of(costs, ["fbs", "age", "chol"], ["buff", "sick"])
    assert bound.costs is costs
    assert bound.prices.marginal.tolist() == [3.10, 0.0, 5.17]
    assert bound.answers == ("buff", "sick", "unknown")
    assert bound.error_costs.tolist() == [[0, 100, 30], [500, 0, 20]]
    with pytest.raises(ValueError, match="read-only"):
        bound.error_costs[0, 0] = 1.0


def test_without_costs_tests_are_free_and_every_error_costs_1():
    bound = BoundCosts.of(None, ["a", "b"], [0, 1, 2])
    assert bound.costs == Costs()
    assert bound.prices.marginal.tolist() == [0, 0]
    assert bound.error_costs.tolist() == (1 - np.eye(3)).tolist()


@pytest.mark.parametrize(
    ("columns", "classes", "message"),
    [(["b"], ["x", "y"], "tests that are not columns: 'a'"), (["a"], ["x", "z"], "errors has no row for class 'z'")],
)
def test_costs_that_do_not_fit_are_refused(columns, classes, message):
    costs = Costs(tests={"a": 1.0}, errors={"x": {"y": 1}, "y": {"x": 1}})
    with pytest.raises(ValueError, match=message):
        BoundCosts.of(costs, columns, classes)


@pytest.mark.parametrize(
    ("errors", "uniform"),
    [
        (5.0, True),
        ({"x": {"y": 3}, "y": {"x": 3}}, True),
        ({"x": {"x": -1, "y": 3}, "y": {"x": 3, "y": -1}}, True),
        ({"x": {"y": 3}, "y": {"x": 4}}, False),
        ({"x": {"x": 1, "y": 3}, "y": {"x": 3}}, False),
        ({"x": {"y": 3, "?": 1}, "y": {"x": 3, "?": 1}}, False),
    ],
)
def test_uniform_errors(errors, uniform):
    assert BoundCosts.of(Costs(errors=errors), ["a"], ["x", "y"]).has_uniform_errors() is uniform

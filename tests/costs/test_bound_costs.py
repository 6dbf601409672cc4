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


def learning(factor=1.0, errors=((0.0, 9.1), (27.3, 0.0)), prices=(0.7, 2.9)):
    tests = {name: price * factor for name, price in zip("ab", prices, strict=True)}
    matrix = [[cost * factor for cost in row] for row in errors]
    return BoundCosts.of(Costs(tests=tests, errors=matrix, classes=["x", "y"]), ["a", "b"], ["x", "y"]).learning


@pytest.mark.parametrize("factor", [0.01, 1 / 3, 1000.0, 1e90])
def test_learning_costs_are_the_same_numbers_in_every_currency(factor):
    plain, other = learning(), learning(factor)
    assert other.error_costs.tolist() == plain.error_costs.tolist()
    assert other.unit == pytest.approx(factor * plain.unit)
    assert other.unit == pytest.approx(factor * np.sqrt(0.7 * 2.9) / 5)


def test_learning_costs_leave_out_what_every_answer_costs():
    plain, other = learning(), learning(errors=((3.3, 12.4), (27.3, 0.0)))
    assert other.error_costs.tolist() == plain.error_costs.tolist()
    assert other.in_money(2.0, np.array([30.0, 10.0])) == pytest.approx(2 * plain.unit + 0.75 * 3.3)
    assert plain.in_money(2.0, np.array([30.0, 10.0])) == 2 * plain.unit


def test_learning_costs_of_free_tests_and_of_huge_amounts():
    free = learning(prices=(0.0, 0.0))
    assert free.unit == 27.3
    assert free.error_costs.max() == 1
    assert learning(errors=((0, 0), (0, 0)), prices=(0.0, 0.0)).unit == 1
    huge = learning(errors=((-1e100, 1e100), (1.0, 0.0)), prices=(1e-100, 1e-100))
    assert huge.unit == 1
    assert huge.base.tolist() == [0, 0]

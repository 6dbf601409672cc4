"""Sets of tests: importances of tests in a forest, and sets from cheap to expensive."""

import numpy as np

import worthwhile as ww
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.pricing import Pricing
from worthwhile.learners.forest.test_sets import importances, ladder


def pricing(costs, n_tests):
    return Pricing(BoundCosts.of(costs, [f"x{i}" for i in range(n_tests)], [0, 1]).prices)


def test_sets_of_tests_mind_prices_groups_and_importance():
    costs = ww.Costs(
        tests={"x0": ww.Test(1.0, group="g"), "x1": ww.Test(1.0, group="g"), "x2": 3.0, "x3": 0.0}, groups={"g": 10.0}
    )
    sets = ladder(np.array([9.0, 8.0, 3.0, 0.1]), pricing(costs, 4))
    # By importance for the price, 3 / 3 goes before 9 / 11; the second of the group costs 1. Free tests are in all.
    assert sets == [(0, 3), (0, 1, 2, 3), (2, 3), (0, 2, 3)]
    assert ladder(np.zeros(4), pricing(costs, 4)) == []


def test_each_set_costs_clearly_more_than_the_one_before():
    prices = pricing(ww.Costs(tests={"x0": 10.0, "x1": 1.0, "x2": 1.5, "x3": 10.0}), 4)
    sets = ladder(np.array([9.0, 0.01, 0.01, 5.0]), prices)
    assert sets[:2] == [(0,), (0, 3)]  # 10 and 20; the others add less than a fifth, except the last one
    assert sets[2] == (0, 1, 2, 3)


def test_importance_is_the_drop_of_the_gini_impurity():
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
    y = [0, 0, 1, 2] * 5
    tree = ww.C45Classifier(min_cases=1, prune="none").fit(x, y).tree_
    # 20 cases of shares 1/2, 1/4, 1/4, then 10 of halves: 20 * 5/8, less 10 * 1/2 for those that are left.
    np.testing.assert_allclose(importances([tree.nodes], 3), [7.5, 5.0, 0.0])
    np.testing.assert_allclose(importances([tree.nodes] * 2, 3), [15.0, 10.0, 0.0])
    assert importances([], 2).tolist() == [0.0, 0.0]

"""Errors against the price of tests."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from all_learners import COSTS
from display_cases import problem
from worthwhile.displays import BudgetDisplay
from worthwhile.displays.budget import Curve


@pytest.mark.parametrize("settings", [{}, {"adaptive": True}, {"tests": "chosen", "alpha": 0}], ids=str)
def test_budget_curves_choose_by_validation_and_measure_here(settings):
    X, y = problem(300)
    known = {"costs": COSTS.with_errors(1), "budget": 16, "alpha": [0, 5], "max_trees": 6, "random_state": 1}
    forest = ww.BudgetForestClassifier(**(known | settings)).fit(X[:200], y[:200])
    display = BudgetDisplay.from_estimator(forest, X[200:], y[200:], name="forest")
    curve = display.curves["forest"]
    budgets = sorted({r.price for part in forest.forests_ for r in part.curve})
    expected = []
    for budget in budgets:
        smaller = forest.with_budget(budget)
        answers, prices = smaller.predict_with_prices(X[200:])
        expected.append((prices.mean(), (answers != y[200:]).mean()))
    found = list(zip(curve.prices, curve.errors, strict=True))
    assert len(found) > 1
    np.testing.assert_allclose(found, [p for i, p in enumerate(expected) if p not in expected[:i]], atol=1e-12)
    answers, prices = forest.predict_with_prices(X[200:])
    assert curve.chosen == pytest.approx((prices.mean(), (answers != y[200:]).mean()))
    records = forest.budget_curve(X[200:], y[200:])
    np.testing.assert_allclose(curve.others[0], [record.price for record in records])
    np.testing.assert_allclose(curve.others[1], [record.error for record in records])


def test_other_learners_are_points():
    X, y = problem()
    clf = make_pipeline(FunctionTransformer(), ww.EG2Classifier(costs=COSTS)).fit(X, y)
    display = BudgetDisplay.from_estimator([clf, clf[-1].tree_], X, y, measure="error_cost")
    report = ww.metrics.cost_report(clf, X, y)
    for name in ("EG2", "Tree"):
        assert display.curves[name].prices.tolist() == [report.test_cost]
        assert display.curves[name].errors.tolist() == [report.error_cost]
    assert display.ax_.get_ylabel() == "error cost per case"
    wrong = BudgetDisplay.from_estimator(clf, X, y)
    assert wrong.curves["EG2"].errors.tolist() == [report.error_rate]
    forest = ww.BudgetForestClassifier(variant="paper", costs=COSTS, max_trees=2, random_state=0).fit(X, y)
    both = BudgetDisplay.from_estimator({"f": forest, "e": clf}, X, y, measure="error_cost")
    assert both.curves["f"].chosen[1] == pytest.approx(ww.metrics.cost_report(forest, X, y).error_cost)


def test_budgets_of_answers():
    display = BudgetDisplay.from_predictions([0, 1, 1, 0], {"a": [0, 0, 1, 1], "b": [0, 1, 1, 0]}, [1, 2, 3, 4])
    assert display.curves["a"].errors.tolist() == [0.5]
    assert display.curves["b"].errors.tolist() == [0.0]
    assert display.curves["b"].prices.tolist() == [2.5]


def test_wrong_budgets():
    X, y = problem(30)
    with pytest.raises(ValueError, match="invalid measure='cost'; choose 'error' or 'error_cost'"):
        BudgetDisplay.from_estimator(ww.EG2Classifier().fit(X, y), X, y, measure="cost")
    with pytest.raises(ValueError, match="invalid measure='cost'; choose 'error' or 'error_cost'"):
        BudgetDisplay(curves={"a": Curve(np.ones(1), np.ones(1))}, measure="cost")
    with pytest.raises(ValueError, match="there is nothing to show"):
        BudgetDisplay(curves={})
    with pytest.raises(TypeError, match="has no total_costs"):
        BudgetDisplay.from_estimator(FunctionTransformer(), X, y)
    with pytest.raises(ValueError, match="prices are for b, but answers for a"):
        BudgetDisplay.from_predictions([0], {"a": [0]}, {"b": [1]})
    with pytest.raises(ValueError, match="'answers' has 1 answers and 2 prices for 1 cases"):
        BudgetDisplay.from_predictions([0], [0], [1, 2])

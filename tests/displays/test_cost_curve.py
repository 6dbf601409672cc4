"""Total cost against error cost."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from all_learners import COSTS
from display_cases import problem
from worthwhile.displays import CostCurveDisplay


@pytest.mark.parametrize("errors", [1.0, {0: {1: 60.0, "unknown": 5.0}, 1: {0: 90.0, "unknown": 5.0}}])
def test_cost_curves_are_those_of_a_loop_over_folds(errors):
    X, y = problem()
    est, at = ww.DTMCClassifier(costs=COSTS.with_errors(errors)), [5.0, 90.0, 2000.0]
    display = CostCurveDisplay.from_estimator(est, X, y, error_costs=at, cv=4)
    for place, dearest in enumerate(at):
        factor = dearest / 90.0
        scaled = (
            dearest
            if errors == 1.0
            else {c: {a: cost * factor for a, cost in row.items()} for c, row in errors.items()}
        )
        costs = COSTS.with_errors(scaled)
        own, none = [], []
        for train, test in StratifiedKFold(4).split(X, y):
            clf = ww.DTMCClassifier(costs=costs).fit(X[train], y[train])
            own.append(clf.total_costs(X[test], y[test]).mean())
            leaf = ww.DTMCClassifier(costs=costs).fit(0 * X[train], y[train])  # where all are alike, no test helps
            none.append(leaf.total_costs(0 * X[test], y[test]).mean())
        assert display.totals["DTMC"][place] == pytest.approx(np.mean(own))
        assert display.totals["no test"][place] == pytest.approx(np.mean(none))
        half_width = 3.182446 * np.std(own, ddof=1) / 2  # Student's t for three degrees of freedom
        assert display.intervals["DTMC"][place] == pytest.approx(half_width, rel=1e-5)
    assert set(display.lines_) == {"DTMC", "no test"}
    np.testing.assert_array_equal(display.lines_["DTMC"].get_ydata(), display.totals["DTMC"])
    assert display.figure_ is display.ax_.figure
    assert est.costs.errors == COSTS.with_errors(errors).errors  # the learner stays as it was
    assert not hasattr(est, "tree_")


def test_cost_curves_in_percent_of_the_standard_cost():
    X, y = problem()
    est = ww.EG2Classifier(costs=COSTS.with_errors(1))
    money = CostCurveDisplay.from_estimator(est, X, y, error_costs=[50, 500], cv=3)
    percent = CostCurveDisplay.from_estimator(est, X, y, error_costs=[50, 500], cv=3, normalized=True)
    standard = [COSTS.with_errors(cost).standard_cost(y) for cost in (50, 500)]
    np.testing.assert_allclose(percent.totals["EG2"], 100 * money.totals["EG2"] / standard)
    np.testing.assert_allclose(percent.intervals["EG2"], 100 * money.intervals["EG2"] / standard)
    assert "standard cost" in percent.ax_.get_ylabel()
    assert percent.ax_.get_yscale() == "linear"
    assert (money.ax_.get_xscale(), money.ax_.get_yscale()) == ("log", "log")


def test_cost_curves_of_pipelines_searches_and_frames():
    pandas = pytest.importorskip("pandas")
    X, y = problem()
    frame = pandas.DataFrame(X, columns=["x0", "x1", "x2", "x3"])
    plain = ww.EG2Classifier(costs=COSTS)
    learners = {
        "plain": plain,
        "piped": make_pipeline(FunctionTransformer(), clone(plain)),
        "searched": GridSearchCV(clone(plain), {"prune": ["pessimistic"]}, cv=2),
    }
    display = CostCurveDisplay.from_estimator(learners, frame, y, error_costs=[100], cv=3, baseline=False)
    assert set(display.totals) == set(learners)
    for totals in display.totals.values():
        np.testing.assert_array_equal(totals, display.totals["plain"])


def test_error_costs_around_those_of_the_price_list():
    X, y = problem()
    display = CostCurveDisplay.from_estimator(ww.EG2Classifier(costs=COSTS), X, y, cv=2)
    np.testing.assert_allclose(display.error_costs, [9, 90 / 10**0.5, 90, 90 * 10**0.5, 900])
    free = CostCurveDisplay.from_estimator(ww.EG2Classifier(), X, y, cv=2)
    np.testing.assert_allclose(free.error_costs[[0, 2, 4]], [0.1, 1, 10])


def test_a_single_split_has_no_interval():
    X, y = problem()
    split = [(np.arange(100), np.arange(100, 150))]
    display = CostCurveDisplay.from_estimator(ww.EG2Classifier(costs=COSTS), X, y, error_costs=[100], cv=split)
    clf = ww.EG2Classifier(costs=COSTS.with_errors({0: {1: 100 * 60 / 90}, 1: {0: 100}})).fit(X[:100], y[:100])
    assert display.totals["EG2"].tolist() == [pytest.approx(clf.total_costs(X[100:], y[100:]).mean())]
    assert np.isnan(display.intervals["EG2"]).all()
    assert not display.ax_.collections


def test_processes_do_not_change_a_cost_curve():
    X, y = problem(60)
    known = {"error_costs": [10, 100], "cv": 2}
    alone = CostCurveDisplay.from_estimator(ww.EG2Classifier(costs=COSTS), X, y, **known)
    several = CostCurveDisplay.from_estimator(ww.EG2Classifier(costs=COSTS), X, y, n_jobs=2, **known)
    np.testing.assert_array_equal(alone.totals["EG2"], several.totals["EG2"])


def test_cost_curves_of_answers():
    errors = {"sick": {"well": 50, "unknown": 10}, "well": {"sick": 25, "unknown": 10}}
    truth = ["sick", "sick", "well", "well"]
    answers = {"a": ["sick", "well", "well", "sick"], "b": ["unknown"] * 4}
    prices = {"a": [1, 2, 3, 4], "b": [0, 0, 0, 0]}
    display = CostCurveDisplay.from_predictions(truth, answers, prices, error_costs=[50, 500], errors=errors)
    np.testing.assert_allclose(display.totals["a"], [2.5 + 75 / 4, 2.5 + 750 / 4])
    np.testing.assert_allclose(display.totals["b"], [10, 100])
    assert not display.intervals
    # A class may be an answer that is never right here.
    lone = CostCurveDisplay.from_predictions(["sick"] * 2, ["well", "sick"], [1, 1], error_costs=[8], errors=errors)
    np.testing.assert_allclose(lone.totals["answers"], [5])
    numbers = CostCurveDisplay.from_predictions([0, 1], [2, 1], [1, 3], error_costs=[8], name="rule")
    np.testing.assert_allclose(numbers.totals["rule"], [6])


def test_wrong_cost_curves():
    X, y = problem(30)
    est = ww.EG2Classifier(costs=COSTS)
    with pytest.raises(ValueError, match="error_costs must be finite and at least 0, but entry 1 is -3"):
        CostCurveDisplay.from_estimator(est, X, y, error_costs=[1, -3])
    with pytest.raises(ValueError, match="error_costs must be a list of numbers, got"):
        CostCurveDisplay.from_estimator(est, X, y, error_costs=[])
    with pytest.raises(ValueError, match="error_costs must be numbers, got"):
        CostCurveDisplay.from_estimator(est, X, y, error_costs=["dear"])
    with pytest.raises(TypeError, match="FunctionTransformer has no costs; use a learner of worthwhile"):
        CostCurveDisplay.from_estimator(FunctionTransformer(), X, y, error_costs=[1])
    free = ww.EG2Classifier(costs=COSTS.with_errors({0: {1: 0}, 1: {0: 0}}))
    with pytest.raises(ValueError, match="all error costs are 0"):
        CostCurveDisplay.from_estimator(free, X, y, error_costs=[1])
    with pytest.raises(ValueError, match="'a' has 2 answers and 1 prices for 2 cases"):
        CostCurveDisplay.from_predictions([0, 1], {"a": [0, 1]}, {"a": [1]}, error_costs=[1])
    with pytest.raises(ValueError, match="prices are for b, but answers for a"):
        CostCurveDisplay.from_predictions([0, 1], {"a": [0, 1]}, {"b": [1, 1]}, error_costs=[1])
    errors = {"sick": {"well": 1}, "well": {"sick": 1}}
    with pytest.raises(ValueError, match="the answer 'ill' is not a class; the classes are 'sick', 'well'"):
        CostCurveDisplay.from_predictions(["sick", "well"], ["ill"] * 2, [1, 1], error_costs=[1], errors=errors)
    with pytest.raises(ValueError, match="'a' has 1 totals for 2 error costs"):
        CostCurveDisplay(error_costs=[1, 2], totals={"a": [3]})

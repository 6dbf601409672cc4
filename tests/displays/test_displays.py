"""The numbers that the displays show, against slow computations, and what they draw."""

import math

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from all_learners import COSTS
from handmade import tree, turney
from worthwhile.displays import AnytimeDisplay, BudgetDisplay, CostCurveDisplay, PriceShareDisplay
from worthwhile.displays.anytime import Course
from worthwhile.displays.budget import Curve

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def problem(n=150, seed=0):
    """Cases with four tests that have the prices of `COSTS`."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 4)).astype(float)
    y = ((X[:, 0] + X[:, 1] > 5) ^ (rng.random(n) < 0.1)).astype(int)
    return X, y


# -- total cost against error cost ------------------------------------------------------------------------------------


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
    with pytest.raises(TypeError, match="FunctionTransformer has no costs: it must be a learner of worthwhile"):
        CostCurveDisplay.from_estimator(FunctionTransformer(), X, y, error_costs=[1])
    free = ww.EG2Classifier(costs=COSTS.with_errors({0: {1: 0}, 1: {0: 0}}))
    with pytest.raises(ValueError, match="no error costs anything"):
        CostCurveDisplay.from_estimator(free, X, y, error_costs=[1])
    with pytest.raises(ValueError, match="'a' has 2 answers and 1 prices for 2 cases"):
        CostCurveDisplay.from_predictions([0, 1], {"a": [0, 1]}, {"a": [1]}, error_costs=[1])
    with pytest.raises(ValueError, match="prices are those of b, but answers those of a"):
        CostCurveDisplay.from_predictions([0, 1], {"a": [0, 1]}, {"b": [1, 1]}, error_costs=[1])
    errors = {"sick": {"well": 1}, "well": {"sick": 1}}
    with pytest.raises(ValueError, match="the answer 'ill' is no class; these are 'sick', 'well'"):
        CostCurveDisplay.from_predictions(["sick", "well"], ["ill"] * 2, [1, 1], error_costs=[1], errors=errors)
    with pytest.raises(ValueError, match="'a' has 1 totals for 2 error costs"):
        CostCurveDisplay(error_costs=[1, 2], totals={"a": [3]})


# -- cost against time ------------------------------------------------------------------------------------------------


def test_the_course_of_a_search_is_its_history():
    X, y = problem()
    act = ww.ACTClassifier(costs=COSTS, time_limit=0.6, random_state=0).fit(X, y)
    icet = ww.ICETClassifier(costs=COSTS, trials=100, population=20, random_state=0).fit(X, y)
    display = AnytimeDisplay.from_estimator({"a": act, "i": icet}, X, y)
    course = display.courses["a"]
    assert course.costs[: len(act.history_)].tolist() == [entry.cost for entry in act.history_]
    assert course.seconds[: len(act.history_)].tolist() == [entry.seconds for entry in act.history_]
    assert act.stopped_ == "time limit"
    assert (course.seconds[-1], course.costs[-1]) == (0.6, act.expected_cost_)
    assert course.measured == pytest.approx(act.total_costs(X, y).mean())
    other = display.courses["i"]
    *search, last = icet.history_
    assert other.costs.tolist() == [entry.best for entry in search]
    assert other.final == (last.seconds, last.best)
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels == ["a", "a, measured", "i", "i, final", "i, measured"]


def test_the_published_searches_have_no_final():
    X, y = problem()
    icet = ww.ICETClassifier(costs=COSTS, variant="paper", trials=60, population=20, random_state=0).fit(X, y)
    display = AnytimeDisplay.from_estimator(icet, name="published")
    assert display.courses["published"].costs.tolist() == [entry.best for entry in icet.history_]
    assert display.courses["published"].final is None
    assert display.courses["published"].measured is None


def test_time_limits_are_measured_on_cases_left_out():
    X, y = problem()
    act, eg2 = ww.ACTClassifier(costs=COSTS, random_state=0), ww.EG2Classifier(costs=COSTS)
    display = AnytimeDisplay.from_time_limits([act, eg2], X, y, time_limits=[0.4, 0.1], cv=2)
    assert len(display.courses["ACT"].costs) == 2
    assert 0.05 < display.courses["ACT"].seconds[0] < display.courses["ACT"].seconds[1]
    expected = [
        clone(eg2).fit(X[train], y[train]).total_costs(X[test], y[test]).mean()
        for train, test in StratifiedKFold(2).split(X, y)
    ]
    assert display.courses["EG2"].costs.tolist() == [pytest.approx(np.mean(expected))]
    lowest = display.courses["ACT"].costs
    assert np.isfinite(lowest).all()
    assert act.time_limit is None


def test_wrong_courses(tmp_path):
    X, y = problem(40)
    with pytest.raises(ValueError, match=r"'EG2' \(EG2Classifier\) has no history of a search"):
        AnytimeDisplay.from_estimator(ww.EG2Classifier().fit(X, y))
    ww.ACTClassifier(r=1, random_state=0).fit(X, y).save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="a file of a model has no history"):
        AnytimeDisplay.from_estimator(ww.load(tmp_path / "model.json"))
    with pytest.raises(ValueError, match="X and y belong together"):
        AnytimeDisplay.from_estimator(ww.EG2Classifier().fit(X, y), X)
    with pytest.raises(ValueError, match="time_limits must be finite and at least 0"):
        AnytimeDisplay.from_time_limits(ww.ACTClassifier(), X, y, time_limits=[math.nan])
    with pytest.raises(ValueError, match="no course"):
        AnytimeDisplay(courses={})


# -- errors against price ---------------------------------------------------------------------------------------------


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
    forest = ww.BudgetForestClassifier(costs=COSTS, max_trees=2, random_state=0).fit(X, y)
    both = BudgetDisplay.from_estimator({"f": forest, "e": clf}, X, y, measure="error_cost")
    assert both.curves["f"].chosen[1] == pytest.approx(ww.metrics.cost_report(forest, X, y).error_cost)


def test_budgets_of_answers():
    display = BudgetDisplay.from_predictions([0, 1, 1, 0], {"a": [0, 0, 1, 1], "b": [0, 1, 1, 0]}, [1, 2, 3, 4])
    assert display.curves["a"].errors.tolist() == [0.5]
    assert display.curves["b"].errors.tolist() == [0.0]
    assert display.curves["b"].prices.tolist() == [2.5]


def test_wrong_budgets():
    X, y = problem(30)
    with pytest.raises(ValueError, match="measure='cost' is none of 'error', 'error_cost'"):
        BudgetDisplay.from_estimator(ww.EG2Classifier().fit(X, y), X, y, measure="cost")
    with pytest.raises(ValueError, match="measure='cost' is none of 'error', 'error_cost'"):
        BudgetDisplay(curves={"a": Curve(np.ones(1), np.ones(1))}, measure="cost")
    with pytest.raises(ValueError, match="there is nothing to show"):
        BudgetDisplay(curves={})
    with pytest.raises(TypeError, match="has no total_costs"):
        BudgetDisplay.from_estimator(FunctionTransformer(), X, y)
    with pytest.raises(ValueError, match="prices are those of b, but answers those of a"):
        BudgetDisplay.from_predictions([0], {"a": [0]}, {"b": [1]})
    with pytest.raises(ValueError, match="'answers' has 1 answers and 2 prices for 1 cases"):
        BudgetDisplay.from_predictions([0], [0], [1, 2])


# -- where the money goes ---------------------------------------------------------------------------------------------


def test_amounts_are_those_of_spending():
    known = tree(turney())
    X, y = [[3, 0, "2", 0], [1, 7, None, None]], [1, 1]
    display = PriceShareDisplay.from_estimator(known, X, y)
    # The first case pays for everything (Turney 1995), the second for alpha and beta, and is answered 0.
    expected = {"beta": 10.0, "alpha": 5.0, "epsilon": 4.0, "delta": 2.5, "A (common price)": 1.0, "errors": 25.0}
    assert display.amounts == {"Tree": expected}
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == sorted(expected, key=lambda item: -expected[item])
    assert [bar.get_width() for bar in display.bars_["Tree"]] == sorted(expected.values(), reverse=True)
    assert display.ax_.get_legend() is None


def test_several_learners_share_their_items():
    amounts = {"a": {"x": 1.0, "y": 5.0}, "b": {"z": 3.0, "x": 2.0}}
    display = PriceShareDisplay.from_amounts(amounts)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["y", "z", "x"]
    assert [bar.get_width() for bar in display.bars_["a"]] == [5, 0, 1]
    assert [bar.get_width() for bar in display.bars_["b"]] == [0, 3, 2]
    assert display.ax_.get_legend() is not None


def test_what_is_beyond_the_largest_items_is_one_bar():
    amounts = {f"test {i}": float(i) for i in range(1, 21)}
    display = PriceShareDisplay.from_amounts(amounts, most=3, color="black")
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == ["test 20", "test 19", "test 18", "17 more"]
    assert [bar.get_width() for bar in display.bars_["amount"]] == [20, 19, 18, sum(range(1, 18))]
    assert display.bars_["amount"][0].get_facecolor() == (0, 0, 0, 1)


def test_names_are_not_mathematics():
    display = PriceShareDisplay.from_amounts({"price in $_{": 1.0})
    display.figure_.canvas.draw()
    assert display.ax_.get_yticklabels()[0].get_text() == "price in $_{"


def test_wrong_amounts():
    with pytest.raises(ValueError, match="there are no amounts"):
        PriceShareDisplay(amounts={})
    with pytest.raises(ValueError, match="the amounts of 'b' are no mapping"):
        PriceShareDisplay.from_amounts({"a": {"x": 1.0}, "b": 3.0})
    with pytest.raises(ValueError, match="the amounts of 'a' must be finite, but entry 0 is nan"):
        PriceShareDisplay.from_amounts({"a": {"x": math.nan}})
    with pytest.raises(ValueError, match="most must be a whole number of at least 1, got 0"):
        PriceShareDisplay.from_amounts({"x": 1.0}, most=0)


def test_nothing_paid_is_an_empty_picture():
    clf = ww.DTMCClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    display = PriceShareDisplay.from_estimator(clf, [[1], [2]])
    assert display.amounts == {"DTMC": {}}
    display.figure_.canvas.draw()


# -- what all of them share -------------------------------------------------------------------------------------------

MADE = {
    "cost curve": lambda: CostCurveDisplay(error_costs=[1, 10], totals={"a": [1, 2], "no test": [2, 3]}),
    "anytime": lambda: AnytimeDisplay(courses={"a": Course(np.array([0.1, 2.0]), np.array([3.0, 2.0]))}),
    "budget": lambda: BudgetDisplay(curves={"a": Curve(np.array([0.0, 2.0]), np.array([0.5, 0.3]))}),
    "price share": lambda: PriceShareDisplay(amounts={"a": {"x": 1.0}}),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_displays_draw_on_given_axes_and_again(make, tmp_path):
    display = make()
    assert not hasattr(display, "ax_")
    figure, axes = pyplot.subplots(1, 2)
    assert display.plot(axes[1]) is display
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    assert pyplot.get_fignums() == [figure.number]
    display.plot()
    assert display.figure_ is not figure
    display.figure_.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_names_of_estimators():
    X, y = problem(40)
    fitted = ww.C45Classifier(costs=COSTS).fit(X, y)
    display = BudgetDisplay.from_estimator([fitted, fitted, fitted], X, y)
    assert list(display.curves) == ["C45", "C45 (2)", "C45 (3)"]
    with pytest.raises(ValueError, match="name='mine' is for one estimator"):
        BudgetDisplay.from_estimator([fitted, fitted], X, y, name="mine")
    with pytest.raises(ValueError, match="name='mine' is for one estimator"):
        BudgetDisplay.from_estimator({"a": fitted}, X, y, name="mine")
    with pytest.raises(ValueError, match="no estimator to show"):
        BudgetDisplay.from_estimator([], X, y)


def test_drawing_options_reach_matplotlib():
    display = MADE["cost curve"]().plot(linewidth=5, log=False)
    assert display.lines_["a"].get_linewidth() == 5
    assert display.ax_.get_xscale() == "linear"
    assert MADE["anytime"]().plot().ax_.get_xscale() == "log"

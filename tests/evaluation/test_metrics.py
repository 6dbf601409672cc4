"""Metrics: numbers computed by hand, and scipy as the judge of the p-values."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import worthwhile as ww
from handmade import small, tree
from worthwhile import metrics

# x 1, y 2; answering "yes" to "no" costs 10, "no" to "yes" 40.
TREE = tree(small())
X = np.array([[-1.0, 0.0], [-1, 0], [1, -1], [1, -1], [1, 1]])  # no, no, yes, yes, no
Y = ["no", "yes", "yes", "no", "yes"]
TESTS = [1, 1, 3, 3, 3]
ERRORS = [0, 40, 0, 10, 40]


def test_average_and_normalized_cost():
    assert metrics.average_cost(TREE, X, Y) == pytest.approx((11 + 90) / 5)
    assert metrics.average_cost(TREE, X, Y, sample_weight=[1, 0, 0, 0, 3]) == pytest.approx((1 + 3 * 43) / 4)
    assert metrics.cost_scorer(TREE, X, Y) == pytest.approx(-101 / 5)
    assert metrics.cost_scorer(TREE, X, Y, [1, 0, 0, 0, 3]) == pytest.approx(-130 / 4)
    standard = TREE.costs.standard_cost(Y)
    assert standard == pytest.approx(3 + 0.4 * 40)
    assert metrics.normalized_cost(TREE, X, Y, standard) == pytest.approx(100 * 20.2 / 19)
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="standard_cost must be above 0"):
            metrics.normalized_cost(TREE, X, Y, wrong)


def test_the_report_keeps_tests_and_errors_apart():
    report = metrics.cost_report(TREE, X, Y, standard_cost=20.2)
    assert (report.n_cases, report.test_cost, report.error_cost) == (5, pytest.approx(11 / 5), pytest.approx(18))
    assert (report.total_cost, report.error_rate, report.normalized) == (pytest.approx(20.2), 0.6, pytest.approx(100))
    assert str(report).splitlines() == [
        "cases                5",
        "test cost         2.20 per case",
        "error cost       18.00 per case (60.0% wrong)",
        "total cost       20.20 per case",
        "normalized       100.0 %",
    ]
    assert metrics.cost_report(TREE, X, Y).normalized is None


def test_high_cost_errors():
    assert metrics.high_cost_errors(TREE, X, Y) == 2
    assert metrics.high_cost_errors(TREE, X, ["no", "no", "yes", "no", "no"]) == 0


def test_high_cost_errors_are_not_blurred_by_rounding():
    # 0.1 + 0.2 + 0.3 - (0.1 + 0.2) is not 0.3.
    costs = ww.Costs(tests={"x0": 0.1, "x1": 0.2}, errors={0: {1: 0.3}, 1: {0: 0.3}})
    rows = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 5, dtype=float)
    y = (rows[:, 0] * rows[:, 1]).astype(int)
    clf = ww.C45Classifier(costs=costs, prune="none").fit(rows, y)
    assert clf.test_costs(rows).max() == pytest.approx(0.3)
    assert metrics.high_cost_errors(clf, rows, 1 - y) == 0


def test_totals_of_errors_and_the_size_of_the_tree():
    assert metrics.total_error_cost(TREE, X, Y) == sum(ERRORS) == 90
    assert metrics.n_errors(TREE, X, Y) == 3
    assert (metrics.n_errors(TREE, X, TREE.predict(X)), metrics.total_error_cost(TREE, X, TREE.predict(X))) == (0, 0)
    assert metrics.tree_size(TREE) == 5  # two tests and three leaves


def test_prices_are_no_errors_and_a_right_answer_may_cost_something():
    errors = {"well": {"well": 1, "sick": 3}, "sick": {"sick": 4, "well": -2}}
    clf = ww.C45Classifier(costs=ww.Costs(tests={"x0": 50}, errors=errors), min_cases=1, prune="none")
    clf.fit([[1], [2]], ["well", "sick"])
    assert metrics.total_error_cost(clf, [[1], [1], [2]], ["well", "sick", "sick"]) == 1 - 2 + 4
    assert metrics.n_errors(clf, [[1], [1], [2]], ["well", "sick", "sick"]) == 1
    assert metrics.tree_size(clf) == 3


def test_one_class_has_no_errors():
    clf = ww.C45Classifier().fit([[1], [2]], ["a", "a"])
    assert metrics.high_cost_errors(clf, [[1]], ["a"]) == metrics.n_errors(clf, [[1]], ["a"]) == 0
    assert (metrics.total_error_cost(clf, [[1]], ["a"]), metrics.tree_size(clf)) == (0, 1)


def test_a_lazy_learner_has_the_errors_and_the_size_of_the_whole_tree():
    rows, y = np.array([[0.0], [1], [2], [3]] * 3), np.array([0, 0, 1, 1] * 3)
    lazy, whole = (
        ww.CSID3Classifier(costs=ww.Costs(errors=4.0), prune="none", lazy=lazy).fit(rows, y) for lazy in (True, False)
    )
    wrong = np.where(np.arange(12) < 3, 1 - y, y)
    assert metrics.n_errors(lazy, rows, wrong) == metrics.n_errors(whole, rows, wrong) == 3
    assert metrics.total_error_cost(lazy, rows, wrong) == 12
    for est in (lazy, make_pipeline(StandardScaler(), lazy).fit(rows, y)):
        assert metrics.tree_size(est) == metrics.tree_size(whole) == 3


def test_learners_inside_pipelines_and_searches():
    bupa = ww.datasets.load("bupa", as_frame=False)
    clf = ww.EG2Classifier(costs=bupa.costs, columns=bupa.feature_names)
    expected = metrics.average_cost(clf.fit(bupa.X, bupa.y), bupa.X, bupa.y)
    pipe = make_pipeline(StandardScaler(), clf).fit(bupa.X, bupa.y)
    assert metrics.average_cost(pipe, bupa.X, bupa.y) == pytest.approx(expected)
    assert metrics.cost_report(pipe, bupa.X, bupa.y).total_cost == pytest.approx(expected)
    assert metrics.high_cost_errors(pipe, bupa.X, bupa.y) == 0
    wrong = int((pipe.predict(bupa.X) != bupa.y).sum())
    assert metrics.n_errors(pipe, bupa.X, bupa.y) == wrong > 0
    error_cost = metrics.cost_report(pipe, bupa.X, bupa.y).error_cost
    assert metrics.total_error_cost(pipe, bupa.X, bupa.y) == pytest.approx(345 * error_cost)
    assert metrics.tree_size(pipe) == metrics.tree_size(clf) == clf.tree_.n_nodes > 1
    assert metrics.average_cost(Pipeline([("only", clf)]).fit(bupa.X, bupa.y), bupa.X, bupa.y) == pytest.approx(
        expected
    )
    search = GridSearchCV(pipe, {"eg2classifier__omega": [0.0, 1.0]}, scoring=metrics.cost_scorer, cv=3).fit(
        bupa.X, bupa.y
    )
    assert metrics.average_cost(search, bupa.X, bupa.y) > 0
    assert metrics.tree_size(search) == search.best_estimator_[-1].tree_.n_nodes
    assert np.isfinite(cross_val_score(pipe, bupa.X, bupa.y, scoring=metrics.cost_scorer, cv=3)).all()
    with pytest.raises(
        TypeError, match="DecisionTreeClassifier has no total_costs: it must be a learner of worthwhile or a Tree"
    ):
        metrics.average_cost(DecisionTreeClassifier().fit(bupa.X, bupa.y), bupa.X, bupa.y)
    with pytest.raises(TypeError, match="DecisionTreeClassifier has no total_costs"):
        metrics.tree_size(DecisionTreeClassifier().fit(bupa.X, bupa.y))


def test_a_fold_without_a_rare_class_can_be_scored():
    rows, y = [[float(i)] for i in range(10)], [0] * 5 + [1] * 4 + [2]
    clf = ww.C45Classifier(costs=ww.Costs(errors=7.0)).fit(rows[:9], y[:9])
    with pytest.warns(UserWarning, match="y contains the unknown class 2, which no training case has"):
        assert clf.total_costs(rows[8:], y[8:]).tolist() == [0, 7]
    assert metrics.cost_scorer(clf, rows[8:], y[8:]) == -3.5


# --- comparisons -----------------------------------------------------------------------------------------------------


def test_comparisons_agree_with_scipy():
    rng = np.random.default_rng(0)
    results = {name: rng.normal(10 + shift, 1, 12) for shift, name in enumerate("abc")}
    found = metrics.compare(results)
    assert [(c.first, c.second) for c in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    for c in found:
        a, b = results[c.first], results[c.second]
        assert c.difference == pytest.approx((a - b).mean())
        assert c.t_test == pytest.approx(stats.ttest_rel(a, b).pvalue)
        assert c.wilcoxon == pytest.approx(stats.wilcoxon(a, b).pvalue)
        assert (c.wins, c.losses) == ((a < b).sum(), (a > b).sum())


def test_results_that_do_not_differ_or_differ_always_alike():
    [same] = metrics.compare({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    assert (same.difference, same.t_test, same.wilcoxon, same.wins, same.losses) == (0, 1, 1, 0, 0)
    [shifted] = metrics.compare({"a": [0.1, 0.2, 0.3], "b": [0.4, 0.5, 0.6]})  # not exactly 0.3 each
    assert (shifted.t_test, shifted.wins) == (0, 3)
    assert shifted.wilcoxon == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({}, "at least two learners, got none"),
        ({"a": [1, 2]}, "at least two learners, got a"),
        (
            {"a": [1, 2], "b": [1, 2, 3]},
            r"the results of 'b' must be at least two finite costs, as many as those of the first learner \(2\)",
        ),
        ({"a": [1], "b": [2]}, "the results of 'a' must be at least two finite costs"),
        ({"a": [1, 2], "b": [1, np.nan]}, r"the results of 'b' .* got \[1.0, nan\]"),
        ({"a": 1, "b": 2}, "the results of 'a' must be at least two"),
        ({"a": [[1, 2]], "b": [[1, 2]]}, "the results of 'a' must be at least two"),
        ({"a": ["x", "y"], "b": [1, 2]}, r"the results of 'a' are not numbers: \['x', 'y'\]"),
    ],
)
def test_results_that_cannot_be_compared(results, message):
    with pytest.raises(ValueError, match=message):
        metrics.compare(results)


def test_a_reject_answer_is_no_error():
    errors = {"well": {"sick": 10, "unknown": 1}, "sick": {"well": 20, "unknown": 1}}
    X, y = [[1], [1], [2], [2]], ["well", "sick", "well", "well"]
    clf = ww.C45Classifier(costs=ww.Costs(errors=errors), answer="least-cost", min_cases=1, prune="none").fit(X, y)
    report = metrics.cost_report(clf, X, y)
    assert clf.predict(X).tolist() == ["unknown", "unknown", "well", "well"]
    assert (report.error_rate, report.reject_rate, report.error_cost) == (0.0, 0.5, 0.5)
    assert "(0.0% wrong, 50.0% rejected)" in str(report)
    assert metrics.high_cost_errors(clf, X, y) == metrics.n_errors(clf, X, y) == 0
    assert metrics.total_error_cost(clf, X, y) == 2
    assert metrics.n_errors(clf, X, ["well", "sick", "sick", "well"]) == 1
    assert metrics.total_error_cost(clf, X, ["well", "sick", "sick", "well"]) == 22


def test_average_precision_as_the_paper_defines_it():
    at5 = ww.metrics.average_precision_at
    falling = np.arange(10)[::-1]
    for j in range(1, 6):  # the first irrelevant one on rank j
        y = np.ones(10)
        y[j - 1] = 0
        assert at5(y, falling, np.zeros(10)) == (j - 1) / 5
    y = np.ones(10)
    y[5] = 0  # after the first five
    assert at5(y, falling, np.zeros(10)) == 1
    assert at5([1, 1], [2, 1], ["q", "q"]) == 1  # fewer than five
    assert at5([1, 0, 0, 1], [2, 1, 2, 1], ["q", "q", "r", "r"]) == pytest.approx((1 / 5 + 0) / 2)
    assert at5([0, 1], [1, 1], [0, 0]) == 0  # ties go to the first
    assert at5(["yes", "no"], [1, 0], [0, 0], k=2, relevant="yes") == 0.5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1], [1, 2], [0, 0]), "one entry per case"),
        (([], [], []), "no cases to rank"),
        (([1, 0], [1, np.nan], [0, 0]), "the score of row 1 is missing"),
        (([1, 0], [1, 2], [0, 0], 0), "k must be a whole number of at least 1"),
    ],
)
def test_wrong_rankings_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        ww.metrics.average_precision_at(*arguments)

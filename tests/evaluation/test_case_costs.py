"""Evaluation, metrics and scorers with prices and error costs by case; scikit-learn's metadata routing."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from worthwhile.evaluation.case_costs import CaseCosts
from worthwhile.evaluation.compare import cross_compare
from worthwhile.evaluation.evaluate import evaluate
from worthwhile.evaluation.spending import charged_tests, spending
from worthwhile.metrics import (
    average_cost,
    cost_report,
    cost_scorer,
    high_cost_errors,
    make_cost_scorer,
    normalized_cost,
    total_error_cost,
)

COSTS = ww.Costs(tests={"x0": 1.0, "x1": 2.0}, errors={"bad": {"good": 100.0}, "good": {"bad": 10.0}})


def problem(n=160, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(2)
    y = np.where(X.sum(axis=1) + rng.normal(size=n) > 0.8, "bad", "good")
    amount = rng.exponential(100, n).round(1)
    E = np.column_stack([np.where(y == "bad", 0.0, amount / 10), np.where(y == "bad", amount, 0.0)])
    return X, y, rng.exponential(1.5, (n, 2)).round(2), E


@pytest.fixture(scope="module")
def fitted():
    X, y, P, E = problem()
    return ww.DTMCClassifier(costs=COSTS).fit(X, y, case_prices=P, case_errors=E)


def test_totals_are_what_tests_and_answers_cost_each_case(fitted):
    X, y, P, E = problem(seed=1)
    answers = np.searchsorted(["bad", "good"], fitted.predict(X))
    paid = (charged_tests(fitted, X) * P).sum(axis=1)
    expected = paid + E[np.arange(len(y)), answers]
    assert fitted.total_costs(X, y, case_prices=P, case_errors=E) == pytest.approx(expected)
    assert fitted.tree_.total_costs(X, y, P, E) == pytest.approx(expected)
    weights = np.arange(len(y))
    assert average_cost(fitted, X, y, weights, P, E) == pytest.approx(np.average(expected, weights=weights))
    assert normalized_cost(fitted, X, y, 50.0, case_prices=P, case_errors=E) == pytest.approx(2 * expected.mean())
    assert total_error_cost(fitted, X, y, case_errors=E) == pytest.approx((expected - paid).sum())
    report = cost_report(fitted, X, y, 50.0, case_prices=P, case_errors=E)
    assert (report.test_cost, report.total_cost) == pytest.approx((paid.mean(), expected.mean()))
    assert report.normalized == pytest.approx(2 * expected.mean())
    assert spending(fitted, X, P, y).total == pytest.approx(paid.mean())


def test_high_cost_errors_are_those_above_the_cheapest_wrong_answer(fitted):
    X, y, _, E = problem(seed=1)
    wrong = E[np.column_stack([y == "good", y == "bad"])]  # of the answers bad and good
    answers = np.searchsorted(["bad", "good"], fitted.predict(X))
    made = fitted.predict(X) != y
    expected = (made & (E[np.arange(len(y)), answers] > wrong.min())).sum()
    assert high_cost_errors(fitted, X, y, case_errors=E) == expected
    cheap = np.where(E > 0, 3.0, 0.0)
    assert high_cost_errors(fitted, X, y, case_errors=cheap) == 0


def test_an_evaluation_charges_all_strategies_what_the_cases_cost(fitted):
    X, y, P, E = problem(seed=1)
    X_train, y_train, P_train, E_train = problem()
    known = {"case_prices": P, "case_errors": E}
    there = {"train_case_prices": P_train, "train_case_errors": E_train}
    for found in (
        evaluate(fitted, X, y, **known),
        evaluate(fitted, X, y, X_train, y_train, **known, **there),
        evaluate(fitted, X, y, X, y, **known, train_case_prices=P, train_case_errors=E),
    ):
        own, none, everything, _ = found.strategies
        assert own.total_cost.mean == pytest.approx(fitted.total_costs(X, y, P, E).mean())
        assert everything.test_cost.mean == pytest.approx(P.sum(axis=1).mean())
        answer = 0 if "“bad”" in none.name else 1
        assert none.error_cost.mean == pytest.approx(E[:, answer].mean())
        assert answer == E.sum(axis=0).argmin() == E_train.sum(axis=0).argmin()


def test_a_free_test_that_costs_some_case_something_is_not_free():
    X, y, P, E = problem(seed=1)
    costs = COSTS.with_prices({"x0": 0.0})
    clf = ww.DTMCClassifier(costs=costs).fit(*problem()[:2])
    names = [s.name for s in evaluate(clf, X, y, case_prices=P).strategies]
    assert not [name for name in names if "free" in name]
    P[:, 0] = 0
    names = [s.name for s in evaluate(clf, X, y, case_prices=P, case_errors=E).strategies]
    assert [name for name in names if "free" in name]


def test_learners_are_compared_by_what_the_cases_cost():
    X, y, P, E = problem()
    learners = {"dtmc": ww.DTMCClassifier(costs=COSTS), "c45": ww.C45Classifier(costs=COSTS)}
    known = {"case_prices": P, "case_errors": E}
    found = cross_compare(learners, X, y, folds=3, baselines=True, **known)
    everything = next(s for s in found.standings if s.name.startswith("all tests"))
    assert everything.test_cost.mean == pytest.approx(P.sum(axis=1).mean())
    pd = pytest.importorskip("pandas")
    frames = {
        "case_prices": pd.DataFrame(P, columns=["x0", "x1"]),
        "case_errors": pd.DataFrame(E, columns=["bad", "good"]),
    }
    again = cross_compare(learners, X, y, folds=3, **frames)
    same = {s.name: s.total_cost.mean for s in found.standings if not s.baseline}
    assert {s.name: s.total_cost.mean for s in again.standings} == same


def test_a_class_without_costs_is_named():
    own = CaseCosts(None, np.ones((2, 2)), ("a", "b"))
    assert own.errors_for(["b"]).tolist() == [[1.0], [1.0]]
    with pytest.raises(ValueError, match="case_errors has no costs for the answer 'c', only for 'a', 'b'"):
        own.errors_for(["a", "c"])


# -- metadata routing -------------------------------------------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def requesting(**parameters):
    return ww.DTMCClassifier(costs=COSTS, **parameters).set_fit_request(case_errors=True, case_prices=True)


def by_hand(X, y, P, E, folds):
    """What each fold costs."""
    found = []
    for rest, held_out in folds.split(X):
        clf = ww.DTMCClassifier(costs=COSTS).fit(X[rest], y[rest], case_prices=P[rest], case_errors=E[rest])
        found.append(-clf.total_costs(X[held_out], y[held_out], P[held_out], E[held_out]).mean())
    return found


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "list"])
def test_cross_validate_routes_costs_of_cases_to_fit_and_score(routing, kind):
    X, y, P, E = problem()
    folds = KFold(3)
    expected = by_hand(X, y, P, E, folds)
    tables = {"case_prices": P, "case_errors": E}
    if kind in ("pandas", "polars"):
        frame = pytest.importorskip(kind).DataFrame
        columns = {"case_prices": ["x1", "x0"], "case_errors": ["good", "bad"]}
        tables = {name: frame({c: tables[name][:, 1 - i] for i, c in enumerate(columns[name])}) for name in tables}
    elif kind == "list":
        tables = {name: table.tolist() for name, table in tables.items()}
    scorer = cost_scorer.set_score_request(case_prices=True, case_errors=True)
    found = cross_validate(requesting(), X, y, cv=folds, scoring=scorer, params=tables)
    assert found["test_score"].tolist() == pytest.approx(expected)


def test_a_grid_search_in_and_around_a_pipeline_routes_costs_of_cases(routing):
    X, y, P, E = problem()
    folds = KFold(3)
    scorer = cost_scorer.set_score_request(case_prices=True, case_errors=True)
    steps = make_pipeline(FunctionTransformer(), requesting())
    search = GridSearchCV(steps, {"dtmcclassifier__max_depth": [1, None]}, cv=folds, scoring=scorer)
    search.fit(X, y, case_prices=P, case_errors=E)
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(by_hand(X, y, P, E, folds)))
    best = search.best_estimator_[-1]
    direct = ww.DTMCClassifier(costs=COSTS, max_depth=best.max_depth).fit(X, y, case_prices=P, case_errors=E)
    assert best.tree_.to_json() == direct.tree_.to_json()
    assert average_cost(search, X, y, None, P, E) == pytest.approx(direct.total_costs(X, y, P, E).mean())


def test_costs_of_cases_that_nobody_asked_for_are_refused(routing):
    X, y, _, E = problem()
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="case_errors"):
        cross_validate(ww.DTMCClassifier(costs=COSTS), X, y, params={"case_errors": E})


def test_any_classifier_is_scored_by_the_costs_of_the_cases():
    X, y, P, E = problem()
    clf = LogisticRegression().fit(X, y)
    errors = E[np.arange(len(y)), np.searchsorted(["bad", "good"], clf.predict(X))]
    scorer = make_cost_scorer(COSTS)
    assert scorer(clf, X, y, case_errors=E) == pytest.approx(-(3.0 + errors.mean()))
    assert scorer(clf, X, y, case_prices=P, case_errors=E) == pytest.approx(-(P.sum(axis=1) + errors).mean())
    own = ww.DTMCClassifier(costs=COSTS).fit(X, y)
    assert scorer(own, X, y, None, P, E) == pytest.approx(-own.total_costs(X, y, P, E).mean())
    fixed = FixedThresholdClassifier(clf, threshold=0.9, pos_label="good").fit(X, y)
    errors = E[np.arange(len(y)), np.searchsorted(["bad", "good"], fixed.predict(X))]
    assert scorer(fixed, X, y, case_errors=E) == pytest.approx(-(3.0 + errors.mean()))

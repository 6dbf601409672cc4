"""Cost scorers: total costs of learners, of other estimators and of answers, in scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import worthwhile as ww
from worthwhile.metrics import CostScorer, average_cost, cost_scorer, make_cost_scorer

RNG = np.random.default_rng(3)
X = pd.DataFrame(RNG.normal(size=(120, 3)), columns=["a", "b", "c"])
Y = np.where(X["a"] + 0.5 * X["b"] + 0.4 * RNG.normal(size=120) > 0, "sick", "well")
COSTS = ww.Costs(
    tests={"a": ww.Test(2.0, group="g"), "b": ww.Test(3.0, group="g"), "c": 5.0},
    groups={"g": 1.0},
    errors={"sick": {"well": 50.0}, "well": {"sick": 10.0}},
)
PLAIN = DecisionTreeClassifier(max_depth=2, random_state=0)
OWN = ww.DTMCClassifier(costs=COSTS)


def error_cost(answers):
    return np.where(answers == Y, 0, np.where(Y == "sick", 50, 10))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_other_estimators_pay_for_all_their_columns():
    clf = clone(PLAIN).fit(X, Y)
    errors = error_cost(clf.predict(X)).mean()
    assert make_cost_scorer(COSTS)(clf, X, Y) == pytest.approx(-(2 + 3 + 1 + 5 + errors))
    assert make_cost_scorer(COSTS, tests=["a"])(clf, X, Y) == pytest.approx(-(2 + 1 + errors))
    assert make_cost_scorer(COSTS, tests=[])(clf, X, Y) == pytest.approx(-errors)
    weights = np.arange(120)
    expected = 11 + np.average(error_cost(clf.predict(X)), weights=weights)
    assert make_cost_scorer(COSTS)(clf, X, Y, sample_weight=weights) == pytest.approx(-expected)
    plain = clone(PLAIN).fit(X.to_numpy(), Y)
    assert make_cost_scorer(COSTS, columns=list(X))(plain, X.to_numpy(), Y) == pytest.approx(-(11 + errors))


def test_a_missing_value_costs_nothing():
    holes = X.mask(np.arange(120)[:, None] % 2 == np.array([0, 2, 2]))
    clf = clone(PLAIN).fit(holes, Y)
    errors = error_cost(clf.predict(holes)).mean()
    assert make_cost_scorer(COSTS)(clf, holes, Y) == pytest.approx(-(11 - 2 / 2 + errors))


def test_learners_of_worthwhile_pay_for_what_they_ask():
    clf = clone(OWN).fit(X, Y)
    expected = -clf.total_costs(X, Y).mean()
    for scorer in (cost_scorer, make_cost_scorer(COSTS)):
        assert scorer(clf, X, Y) == pytest.approx(expected)
        assert scorer(make_pipeline(clone(OWN)).fit(X, Y), X, Y) == pytest.approx(expected)
        assert scorer(clf.tree_, X, Y) == pytest.approx(expected)
    all_columns = make_cost_scorer(COSTS, tests=["a", "b", "c"])(clf, X, Y)
    assert all_columns == pytest.approx(-(11 + error_cost(clf.predict(X)).mean()))
    assert make_cost_scorer(COSTS)(AdaBoostClassifier(PLAIN, n_estimators=2).fit(X, Y), X, Y) < -11


def test_searches_and_several_scores_at_once():
    for scorer, est, name in ((cost_scorer, OWN, "min_cases"), (make_cost_scorer(COSTS), PLAIN, "max_depth")):
        scores = cross_val_score(est, X, Y, scoring=scorer, cv=3, n_jobs=2)
        assert np.isfinite(scores).all()
        search = GridSearchCV(est, {name: [2, 4]}, scoring=scorer, cv=3, error_score="raise").fit(X, Y)
        assert search.score(X, Y) == pytest.approx(scorer(search.best_estimator_, X, Y))
        both = cross_validate(est, X, Y, scoring={"cost": scorer, "accuracy": "accuracy"}, cv=3, error_score="raise")
        np.testing.assert_allclose(both["test_cost"], scores)


def test_thresholds_are_chosen_by_error_cost():
    for est in (LogisticRegression(), ww.DTMCClassifier(costs=ww.Costs(tests={"a": 0.0}))):
        tuned = TunedThresholdClassifierCV(est, scoring=make_cost_scorer(COSTS), cv=3).fit(X, Y)
        answers = tuned.predict(X)
        assert error_cost(answers).mean() <= error_cost(clone(est).fit(X, Y).predict(X)).mean()
    inner = FixedThresholdClassifier(OWN, threshold=0.7, pos_label="well").fit(X, Y)
    expected = inner.estimator_.test_costs(X) + error_cost(inner.predict(X))
    for scorer in (cost_scorer, make_cost_scorer(COSTS)):
        assert scorer(inner, X, Y) == pytest.approx(-expected.mean())
    with pytest.raises(TypeError, match=r"use make_cost_scorer\(costs\)"):
        TunedThresholdClassifierCV(OWN, scoring=cost_scorer, cv=3).fit(X, Y)


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_to_the_scorer():
    weights = np.linspace(0.0, 2.0, 120)
    folds = [(np.arange(60), np.arange(60, 120))]
    for scorer, plain in ((cost_scorer, OWN), (make_cost_scorer(COSTS), PLAIN)):
        weighted = scorer.set_score_request(sample_weight=True)
        est = clone(plain).set_fit_request(sample_weight=False)
        found = cross_validate(est, X, Y, scoring=weighted, cv=folds, params={"sample_weight": weights})
        fitted = clone(est).fit(X[:60], Y[:60])
        expected = scorer(fitted, X[60:], Y[60:], sample_weight=weights[60:])
        assert found["test_score"][0] == pytest.approx(expected)
        assert expected != pytest.approx(scorer(fitted, X[60:], Y[60:]))
        search = GridSearchCV(est, {"max_depth": [1, 3]}, scoring=weighted, cv=folds)
        search.fit(X, Y, sample_weight=weights)
        assert np.isfinite(search.best_score_)
    # The scorer that everybody uses did not change.
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
        cross_validate(OWN, X, Y, scoring=cost_scorer, cv=3, params={"sample_weight": weights})


def test_what_a_scorer_refuses():
    clf = clone(PLAIN).fit(X, Y)
    with pytest.raises(TypeError, match=r"DecisionTreeClassifier has no total_costs: .* use make_cost_scorer\(costs\)"):
        cost_scorer(clf, X, Y)
    with pytest.raises(ValueError, match="tests contains 'd', which is not a column; valid: 'a', 'b', 'c'"):
        make_cost_scorer(COSTS, tests=["d"])(clf, X, Y)
    with pytest.raises(ValueError, match="the costs contain tests that are not columns: 'a'"):
        make_cost_scorer(COSTS)(clone(PLAIN).fit(X.to_numpy(), Y), X.to_numpy(), Y)
    with pytest.raises(TypeError, match=r"costs must be a worthwhile.Costs, got 5"):
        make_cost_scorer(5)
    with pytest.raises(TypeError, match="tests must be a list of names, got the string 'a'"):
        make_cost_scorer(COSTS, tests="a")


def test_scorers_can_be_shown_and_sent_to_other_processes():
    assert repr(cost_scorer) == "cost_scorer"
    scorer = make_cost_scorer(COSTS, tests=["a"])
    assert repr(scorer) == "make_cost_scorer(Costs(3 tests for 11 together, 1 group, errors of 2 classes), tests=['a'])"
    clf = clone(PLAIN).fit(X, Y)
    back = pickle.loads(pickle.dumps(scorer))
    assert isinstance(back, CostScorer)
    assert back(clf, X, Y) == scorer(clf, X, Y)
    assert average_cost(clone(OWN).fit(X, Y), X, Y) == pytest.approx(-cost_scorer(clone(OWN).fit(X, Y), X, Y))

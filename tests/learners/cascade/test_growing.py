"""Growing cascades: what models learn from, sets, caps, budgets."""

import numpy as np
import pytest

import worthwhile as ww
from cascade_problems import COSTS, NAMES, cases, fitted
from worthwhile.learners.cascade import growing


def test_expected_costs_hold_for_new_cases():
    clf = fitted(n=500, n_trees=30)
    X, y = cases(4000, seed=9)
    assert clf.total_costs(X, y).mean() == pytest.approx(clf.expected_cost_, rel=0.2)
    low, high = clf.expected_cost_interval_
    assert low < clf.expected_cost_ < high


def test_a_cascade_costs_less_than_no_test_all_tests_and_any_single_set():
    X, y = cases(3000, seed=11)
    clf = fitted(n=500, n_trees=30)
    cost = clf.total_costs(X, y).mean()
    nothing = ww.DTMCClassifier(costs=COSTS, columns=NAMES, cap=0.0).fit(*cases(500)).total_costs(X, y).mean()
    assert cost < 0.9 * nothing
    one = ww.DTMCClassifier(costs=COSTS, columns=NAMES, max_depth=1).fit(*cases(500)).total_costs(X, y).mean()
    assert cost < one


def test_useless_tests_are_not_bought():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    costs = ww.Costs(tests={f"x{i}": 1.0 + i for i in range(5)}, errors=100)
    clf = ww.CascadeClassifier(costs=costs, n_trees=20, random_state=0).fit(X, y)
    assert clf.test_costs(X).mean() < 1.0


def test_no_case_pays_more_than_the_cap_and_the_budget_is_an_average():
    X, y = cases(400, seed=4)
    spent = []
    for budget in (0.0, 2.0, 5.0, 100.0):
        clf = fitted(budget=budget)
        spent.append(clf.test_costs(X, y=y).mean())
        assert spent[-1] <= 1.25 * budget + 1e-9
    assert spent == sorted(spent)
    assert spent[-1] > 5
    for cap in (0.0, 4.0, 9.0):
        assert fitted(cap=cap).test_costs(X, y=y).max() <= cap + 1e-9


def test_one_fit_for_several_budgets():
    X, y = cases(400, seed=4)
    learner = ww.CascadeClassifier(costs=COSTS, columns=NAMES, n_trees=20, random_state=0)
    found = learner.fit_budgets(*cases(400), [5.0, 0.0, 100.0])
    assert [part.budget for part in found] == [5.0, 0.0, 100.0]
    assert not hasattr(learner, "stages_")
    spent = [part.test_costs(X, y=y).mean() for part in found]
    assert spent[1] <= spent[0] <= 1.25 * 5.0 < spent[2]
    for budget in (0.0, 5.0):
        [part] = learner.fit_budgets(*cases(400), [budget])
        own = ww.CascadeClassifier(costs=COSTS, columns=NAMES, n_trees=20, random_state=0, budget=budget).fit(
            *cases(400)
        )
        assert part.stages_ == own.stages_
        np.testing.assert_array_equal(part.predict_proba(X), own.predict_proba(X))
        np.testing.assert_array_equal(part.test_costs(X, y=y), own.test_costs(X, y=y))
        assert part.expected_cost_ == own.expected_cost_
        assert vars(part).keys() == vars(own).keys()
    with pytest.raises(ValueError, match="at least one budget"):
        learner.fit_budgets(X, y, [])
    with pytest.raises(ValueError, match="budget"):
        learner.fit_budgets(X, y, [3.0, -1.0])


def test_weighting_by_error_costs_weighs_cases_in_the_models():
    X, y = cases(200)
    errors = {"sick": {"well": 90.0}, "well": {"sick": 30.0}}
    free = ww.Costs(errors=errors)
    weighted = ww.CascadeClassifier(costs=free, weighting="instance", n_trees=8, random_state=0).fit(X, y)
    weights = np.where(y == "sick", 1.0, 1.0 / 3)
    weights *= len(y) / weights.sum()
    by_hand = ww.CascadeClassifier(n_trees=8, random_state=0).fit(X, y, sample_weight=weights)
    plain = ww.CascadeClassifier(n_trees=8, random_state=0).fit(X, y)
    same, other = (
        np.isclose(weighted.predict_proba(X), clf.predict_proba(X), rtol=1e-6).mean() for clf in (by_hand, plain)
    )
    assert same > 0.9  # of two cuts that are equally good, the last bits of the weights decide in some releases
    assert other < 0.1
    assert (weighted.predict(X) == by_hand.predict(X)).mean() > 0.98


def test_prices_and_errors_by_case_are_learned_from():
    X, y = cases(300)
    listed = ww.Costs(errors=60.0)
    prices = np.tile([0.0, 1.0, 2.0, 1.5, 30.0, 30.0], (300, 1))
    clf = ww.CascadeClassifier(costs=listed, n_trees=12, random_state=0).fit(X, y, case_prices=prices)
    bought = {name for tests in clf.stages_ for name in tests}
    assert bought
    assert bought <= {"x0", "x1", "x2", "x3"}
    assert clf.test_costs(X, case_prices=prices).mean() > 0
    errors = np.where((y == "sick")[:, None], [[0.0, 600.0]], [[600.0, 0.0]])
    many = ww.CascadeClassifier(costs=listed, n_trees=12, random_state=0).fit(
        X, y, case_prices=prices, case_errors=errors
    )
    assert many.test_costs(X, case_prices=prices).mean() >= clf.test_costs(X, case_prices=prices).mean()


@pytest.mark.parametrize("base", ["chosen", "boosting", "forest"])
def test_boosting_may_be_the_model(base):
    clf = fitted(base=base)
    kinds = {stage.model.kind for stage in clf._cascade.stages} - {"none"}
    assert kinds
    assert clf.base_ == ("both" if len(kinds) > 1 else min(kinds))
    if base != "chosen":
        assert kinds == {base}


def test_the_kind_of_model_is_that_which_suits_the_cases():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(500, 8))
    y = (X[:, 0] == X[:, 1]) | ((X[:, 2] == 1) & (X[:, 3] > 0))  # a concept: boosting finds it
    assert ww.CascadeClassifier(random_state=0).fit(X, y).base_ == "boosting"
    X, y = rng.normal(size=(80, 8)), np.arange(80) % 8
    X[np.arange(80), y] += 2.5  # few cases of each class: forests do better
    assert ww.CascadeClassifier(random_state=0).fit(X, y).base_ == "forest"


def test_no_test_is_bought_unless_tests_pay_on_other_cases(monkeypatch):
    assert len(fitted().stages_) > 1
    monkeypatch.setattr(growing, "MARGIN", 1e9)
    clf = fitted()
    assert clf.stages_ == [("free",)]
    X, y = cases(400, seed=5)
    assert clf.test_costs(X).max() == 0
    assert clf.total_costs(X, y).mean() == pytest.approx(clf.expected_cost_, rel=0.1)


def test_a_rare_class_does_not_keep_boosting_from_learning():
    X, y = cases(200)
    y = np.where(np.arange(200) == 7, "rare", y)
    clf = ww.CascadeClassifier(base="boosting", n_trees=12, random_state=0).fit(X, y)
    assert (clf.predict(X) == y).mean() > 0.9

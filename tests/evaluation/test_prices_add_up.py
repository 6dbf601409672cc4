"""What is charged for surcharges, waiting and prices by case adds up, in every learner and every report of costs."""

import math

import numpy as np
import pytest

import handmade
import worthwhile as ww
from all_learners import LEARNERS, make
from worthwhile.evaluation.baselines import full_prices, measure
from worthwhile.evaluation.metrics import cost_report
from worthwhile.evaluation.scorers import cost_scorer
from worthwhile.evaluation.spending import charged_tests, spending
from worthwhile.table.columns import read_columns
from worthwhile.tree.json_format import costs_to_json

COSTS = ww.Costs(
    tests={
        "x0": ww.Test(
            4.0, group=["g", "h"], wait=2, surcharges=[ww.Surcharge(30, truth=1), ww.Surcharge(5, result="> 0")]
        ),
        "x1": ww.Test(6.0, group="g", wait=5, surcharges=[ww.Surcharge(-3, after=["x0"]), ww.Surcharge(2, truth=0)]),
        "x2": ww.Test(1.0, surcharges=[ww.Surcharge(7, where={"x3": "< 0"}, truth=1)]),
        "x3": 2.0,
    },
    groups={"g": 3.0, "h": 0.5},
    waiting=[(0, 0), (3, 1), (8, 40)],
    errors={0: {1: 260.0}, 1: {0: 390.0}},
)
FULL = 4 + 30 + 5 + 6 + 2 + 1 + 7 + 2 + 3.5 + 31.4  # more than any case can pay


def cases(n=240, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    y = ((X[:, 0] + X[:, 1] > 0) ^ (rng.random(n) < 0.1)).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


@pytest.fixture(params=LEARNERS, ids=lambda learner: learner.__name__)
def learner(request):
    return request.param


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_spending_adds_up_to_test_costs(learner, missing):
    clf = make(learner, costs=COSTS).fit(*cases(missing=missing))
    X, y = cases(seed=1, missing=missing)
    for given in ({}, {"y": y}):
        items = spending(clf, X, **given)
        assert items.total == pytest.approx(clf.test_costs(X, **given).mean())
    kinds = {item.kind for item in spending(clf, X, y=y)}
    assert not charged_tests(clf, X)[:, :2].any() or {"surcharge", "waiting"} <= kinds


@pytest.mark.parametrize("cap", [0.0, 9.0, 60.0])
def test_no_case_pays_more_than_the_cap(learner, cap):
    clf = make(learner, costs=COSTS, cap=cap).fit(*cases(missing=0.1))
    X, _ = cases(400, 0.2, seed=2)
    for truth in (0, 1):
        assert clf.test_costs(X, y=np.full(len(X), truth)).max() <= cap * (1 + 1e-9)


def test_a_cap_above_all_prices_changes_nothing(learner):
    X, y = cases()
    one, other = (make(learner, costs=COSTS, cap=cap).fit(X, y) for cap in (None, FULL))
    np.testing.assert_array_equal(one.test_costs(X, y=y), other.test_costs(X, y=y))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_costs_are_those_of_the_true_class_everywhere(learner):
    X, y = cases(missing=0.1)
    clf = make(learner, costs=COSTS).fit(X, y)
    prices = clf.test_costs(X, y=y)
    totals = clf.total_costs(X, y)
    report = cost_report(clf, X, y)
    assert report.test_cost == pytest.approx(prices.mean())
    assert report.test_cost + report.error_cost == pytest.approx(totals.mean())
    np.testing.assert_allclose(measure("", clf, X, y).totals, totals)
    assert cost_scorer(clf, X, y) == pytest.approx(-totals.mean())


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_ledger_of_a_case_adds_up(missing):
    clf = ww.EG2Classifier(costs=COSTS, prune="cost").fit(*cases(missing=0.1))
    X, _ = cases(60, missing, seed=3)
    expected = clf.test_costs(X)
    for row, case in enumerate(X):
        fetch = {f"x{j}": (lambda value=value: None if math.isnan(value) else value) for j, value in enumerate(case)}
        outcome = clf.tree_.run({}, fetch)
        assert outcome.spent == pytest.approx(math.fsum(item.price for item in outcome.ledger))
        assert outcome.answer == clf.predict(case[None, :])[0]
        # Results that are in come to full surcharges; classes are expected by the probabilities at the end.
        assert outcome.spent == pytest.approx(expected[row], abs=1e-6), row


def test_a_result_that_decides_about_a_surcharge_is_fetched_once():
    costs = ww.Costs(
        tests={"dye": ww.Test(30, surcharges=[ww.Surcharge(300, where={"allergy": "yes"})]), "allergy": 1}, errors=900
    )
    nodes = [
        {"test": "dye", "threshold": 0, "children": [1, 2], "weights": [5, 5]},
        {"answer": 0, "weights": [5, 0]},
        {"test": "allergy", "branches": [["no"], ["yes"]], "children": [3, 4], "weights": [0, 5]},
        {"answer": 1, "weights": [0, 3]},
        {"answer": 0, "weights": [0, 2]},
    ]
    columns = [{"name": "dye", "kind": "numeric"}, {"name": "allergy", "kind": "nominal", "values": ["no", "yes"]}]
    tree = handmade.tree(handmade.small(columns=columns, classes=[0, 1], costs=costs_to_json(costs), nodes=nodes))
    for dye, allergy, spent in ((-1, "yes", 331), (-1, "no", 31), (1, "yes", 331), (-1, None, 31), (1, None, 31)):
        calls = []
        fetch = {"dye": lambda dye=dye: dye, "allergy": lambda allergy=allergy, calls=calls: calls.append(1) or allergy}
        outcome = tree.run({}, fetch)
        assert (outcome.spent, len(calls)) == (spent, 1)
        assert math.fsum(item.price for item in outcome.ledger) == spent
    with pytest.raises(ValueError, match="fetch has no function for the test 'allergy', which may be needed"):
        tree.run({}, {"dye": lambda: -1})


def test_all_tests_are_ordered_together():
    X = np.array([[1.0, 0.0, 5.0, -1.0], [-1.0, math.nan, 5.0, 1.0]])
    found = full_prices(COSTS, read_columns(X, ["x0", "x1", "x2", "x3"]), y=[1, 0])
    # The first waits for x1; nothing is done after x0. The second has no x1, and waits for x0.
    first = 4 + 30 + 5 + 6 + 1 + 7 + 2 + 3.5 + (1 + 2 * 39 / 5)
    assert found.tolist() == pytest.approx([first, 4 + 1 + 2 + 3.5 + 2 / 3])

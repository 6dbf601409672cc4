"""What a class costs whatever the answer changes no decision of any learner, also where values are missing."""

import numpy as np
import pytest

import worthwhile as ww

ERRORS = np.array([[0.0, 30.0, 80.0, 25.0], [120.0, 0.0, 60.0, 25.0], [40.0, 90.0, 0.0, 25.0]])
CLASSES = ["a", "b", "c"]
TREES = {
    "eg2": lambda costs: ww.EG2Classifier(costs=costs, prune="cost", answer="least-cost"),
    "idx": lambda costs: ww.IDXClassifier(costs=costs, prune="cost", answer="least-cost"),
    "lsid3": lambda costs: ww.LSID3Classifier(costs=costs, answer="least-cost", r=2, random_state=0),
    "dtmc": lambda costs: ww.DTMCClassifier(costs=costs),
    "optimal": lambda costs: ww.OptimalClassifier(costs=costs, max_depth=2, thresholds=4, random_state=0),
    "cascade": lambda costs: ww.CascadeClassifier(costs=costs, n_trees=10, random_state=0),
}


def prices(constants):
    tests = {f"x{i}": ww.Test(0.7 * (i + 1), group="g" if i in (1, 2) else None, delayed=i == 2) for i in range(6)}
    errors = {
        t: dict(zip([*CLASSES, "refer"], (ERRORS[i] + constants[i]).tolist(), strict=True))
        for i, t in enumerate(CLASSES)
    }
    return ww.Costs(tests=tests, groups={"g": 1.5}, errors=errors)


def cases(n, rng):
    X = rng.normal(size=(n, 6)).round(2)
    scores = np.column_stack([X[:, 0] + X[:, 1], 1.2 * X[:, 2], X[:, 3] * X[:, 0]]) + rng.normal(0, 0.4, (n, 3))
    X[rng.random(X.shape) < 0.06] = np.nan
    return X, np.array(CLASSES)[scores.argmax(axis=1)]


RNG = np.random.default_rng(5)
X, Y = cases(360, RNG)
NEW, _ = cases(300, RNG)


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
@pytest.mark.parametrize("constants", [(57.0, 0.0, 13.0), (0.0, 0.0, -40.0)])
def test_constants_in_rows_of_error_costs_change_no_decision(make, constants):
    plain, raised = (make(prices(own)).fit(X, Y) for own in ((0.0, 0.0, 0.0), constants))
    assert raised.predict(NEW).tolist() == plain.predict(NEW).tolist()
    assert raised.test_costs(NEW).tolist() == plain.test_costs(NEW).tolist()
    more = sum(constant * np.mean(label == Y) for constant, label in zip(constants, CLASSES, strict=True))
    assert raised.expected_cost_ == pytest.approx(plain.expected_cost_ + more)


def test_advice_has_the_constants_and_goes_on_for_the_same_reasons():
    plain, raised = (TREES["eg2"](prices(own)).fit(X, Y) for own in ((0.0, 0.0, 0.0), (57.0, 0.0, -40.0)))
    for row in NEW[:60]:
        known = {f"x{i}": None if np.isnan(value) else value for i, value in enumerate(row.tolist()) if i % 2}
        one, other = plain.next_test(known), raised.next_test(known)
        base = 57.0 * one.probabilities["a"] - 40.0 * one.probabilities["c"]
        assert (other.test, other.answer) == (one.test, one.answer)
        assert other.stop_cost == pytest.approx(one.stop_cost + base)
        assert other.go_on_cost == pytest.approx(one.go_on_cost + base)

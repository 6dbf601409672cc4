"""Evaluation of batches of cases."""

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.evaluation.streamed import evaluate_batches

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3)).round(2)
Y = (X[:, 0] + 0.5 * RNG.normal(size=300) > 0).astype(int)


def batches(size, y=Y):
    return [(X[at : at + size], y[at : at + size]) for at in range(0, len(y), size)]


@pytest.mark.parametrize("size", [300, 7])
def test_sums_over_batches_are_those_of_all_cases(size):
    costs = ww.Costs(tests={"x0": 1, "x1": 2}, errors={0: {1: 30}, 1: {0: 10}})
    clf = ww.DTMCClassifier(costs=costs).fit(X[:100], Y[:100])
    found = evaluate_batches(clf, batches(size))
    total = clf.total_costs(X, Y)
    assert found.n_cases == 300
    assert found.model.total_cost.mean == pytest.approx(total.mean())
    assert found.model.error_rate == pytest.approx((clf.predict(X) != Y).mean())
    none = found.strategies[1]
    always = min((30 * (Y == 0).mean(), 1), (10 * (Y == 1).mean(), 0))
    assert none.total_cost.mean == pytest.approx(always[0])
    assert none.name == f"no test, always {always[1]}"
    gap = np.where(always[1] == Y, 0, 10 if always[1] == 0 else 30) - total
    assert none.saving.mean == pytest.approx(gap.mean())
    assert none.saving.high - none.saving.mean == pytest.approx(1.959964 * gap.std(ddof=1) / np.sqrt(300))
    assert found.standard_cost == pytest.approx(costs.standard_cost(Y))


def test_rejects_are_counted_apart_and_no_case_is_refused():
    costs = ww.Costs(tests={"x0": 50}, errors={0: {1: 100, "unsure": 1}, 1: {0: 100, "unsure": 1}})
    clf = ww.DTMCClassifier(costs=costs).fit(X, Y)
    found = evaluate_batches(clf, batches(50))
    assert [(s.error_rate, s.reject_rate) for s in found.strategies] == [(0.0, 1.0), (0.0, 1.0)]
    assert found.strategies[1].name == "no test, always “unsure”"
    with pytest.raises(ValueError, match="there are no cases"):
        evaluate_batches(clf, [])

"""Walking cases through a cascade, against a slow walk of one case that prices sets of tests by `Pricing`."""

import numpy as np
import pytest

from cascade_problems import NAMES, cases
from worthwhile.costs.surcharges import Condition
from worthwhile.evaluation.spending import charged_tests
from worthwhile.learners.cascade.policy import best_answers


def slow_walk(clf, row, cap=None):
    """The answer, the price at the end, and what was charged, of one case; all by plain loops."""
    cascade, context = clf._cascade, clf.problem_
    pricing, prices = context.pricing, context.bound_costs.prices
    has = [not np.isnan(value) for value in row]
    features = np.array([row], dtype=np.float32)
    charged, seen, gone = frozenset(), set(), set()
    root = {t for t in cascade.stages[0].tests if has[t]}
    charged = pricing.order(root, charged)
    seen |= root
    gone |= cascade.stages[0].tests - root
    at = 0
    while True:
        stage = cascade.stages[at]
        shares = stage.model.probabilities(features)[0]
        costs = [sum(shares[c] * context.error_costs[c][a] for c in range(2)) for a in range(3)]
        believed, answer = min(costs), int(np.argmin(costs))
        amounts = list(cascade.listed)
        for s, surcharge in enumerate(prices.surcharges):
            amount = surcharge.amount * stage.holds[s]
            conditions = {NAMES.index(name): given for name, given in surcharge.where.items()}
            if surcharge.result is not None:
                conditions[int(prices.surcharge_test[s])] = surcharge.result
            for t, given in conditions.items():
                if t in stage.tests:
                    amount *= has[t] and Condition.parse(given, "").holds(row[t])
            if surcharge.truth is not None:
                amount *= shares[list(context.classes).index(surcharge.truth)]
            amounts.append(amount)
        best, target = float(np.interp(believed, stage.rule.stop.x, stage.rule.stop.y)), None
        for edge in stage.rule.edges:
            tests = cascade.stages[edge.target].tests
            if any(t in gone and not cascade.tolerated[t] for t in tests):
                continue
            ordered = pricing.order(tests - seen - gone, charged)
            cost = pricing.price(ordered, charged, amounts) + float(np.interp(believed, edge.cost.x, edge.cost.y))
            if cost < best:
                best, target = cost, edge.target
        if target is None:
            return answer, charged, shares
        new = sorted(cascade.stages[target].tests - seen - gone)
        asked = [t for t in new if has[t] or not cascade.tolerated[t]]
        if asked and not has[asked[0]]:
            gone.add(asked[0])
            continue
        available = {t for t in new if has[t]}
        charged = pricing.order(available, charged)
        seen |= available
        lacking = set(new) - available
        gone |= lacking
        if all(cascade.tolerated[t] for t in lacking) or any(prices.delayed[t] for t in available):
            at = target


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("which", ["clf", "gappy"])
def test_a_table_is_walked_like_one_case_after_the_other(which, missing, request):
    clf = request.getfixturevalue(which)
    assert len(clf.stages_) > 2
    X, y = cases(120, seed=5, missing=missing)
    answers, prices = clf.predict_with_prices(X)
    true_prices = clf.test_costs(X, y=y)
    pricing, context = clf.problem_.pricing, clf.problem_
    for row in range(len(X)):
        answer, charged, shares = slow_walk(clf, X[row])
        assert answers[row] == context.answers[answer]
        np.testing.assert_allclose(clf.predict_proba(X[row : row + 1])[0], shares)
        columns = clf._read(X[row : row + 1])
        expected = context.amounts(columns, shares=shares[None, :])[0].tolist()
        assert prices[row] == pytest.approx(pricing.price(charged, amounts=expected))
        known = context.amounts(columns, y=y[row : row + 1])[0].tolist()
        assert true_prices[row] == pytest.approx(pricing.price(charged, amounts=known))


def test_cases_end_in_different_sets_and_delayed_tests_end_a_case(clf):
    late = NAMES.index("late")
    for stage in clf._cascade.stages:
        assert not (late in stage.tests and stage.rule.edges)
    X, _ = cases(200, seed=6)
    assert len(set(np.packbits(charged_tests(clf, X), axis=1)[:, 0].tolist())) > 1


def test_the_best_answer_may_be_to_refer():
    errors = np.array([[0.0, 90.0, 15.0], [50.0, 0.0, 15.0]])
    answers, believed = best_answers(np.array([[0.5, 0.5], [0.99, 0.01]]), errors, True)
    assert answers.tolist() == [2, 0]
    np.testing.assert_allclose(believed, [15.0, 0.5])
    answers, believed = best_answers(np.array([[0.5, 0.5], [0.2, 0.8]]), errors, False)
    assert answers.tolist() == [0, 1]
    np.testing.assert_allclose(believed, [0.5, 0.2])

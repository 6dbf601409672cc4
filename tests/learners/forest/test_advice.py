"""Advice of a forest: the test that the next tree needs, and votes so far."""

import numpy as np
import pytest

import worthwhile as ww
from all_learners import COSTS

# Budgets of all sizes are tried here.
pytestmark = pytest.mark.filterwarnings("ignore:BudgetForestClassifier. budget=:UserWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.7 * X[:, 2] * X[:, 3] + 0.3 * RNG.normal(size=200) > 0).astype(int)
FRESH = RNG.normal(size=(150, 4)).round(2)
modes = pytest.mark.parametrize("adaptive", [False, "settled", True])


def make(**parameters):
    known = {"costs": COSTS, "max_trees": 5, "random_state": 3}
    return ww.BudgetForestClassifier(variant="paper", **(known | parameters))


@modes
def test_advice_leads_to_the_answer(adaptive):
    clf = make(alpha=0, max_trees=5, adaptive=adaptive, costs=COSTS).fit(X, Y)
    for row in range(0, 150, 15):
        seen, paid = {}, 0.0
        while (advice := clf.next_test(seen)).test is not None:
            seen[advice.test] = FRESH[row, int(advice.test[1:])]
            paid += advice.price
        assert advice.answer == clf.predict(FRESH[[row]])[0]
        assert advice.spent == pytest.approx(clf.test_costs(FRESH[[row]])[0])
        assert paid == pytest.approx(advice.spent)
        assert advice.probabilities == pytest.approx(dict(enumerate(clf.predict_proba(FRESH[[row]])[0])))
        text = str(clf.explain(seen))
        assert text.splitlines()[-1] == f"tests cost {advice.spent:.2f}"
        assert f"answer {advice.answer} (" in text
        assert text.startswith("tree 1 of 5\n") or adaptive is True
    if adaptive is not True:
        assert "this is the next test" in str(clf.explain({}))


def test_a_forest_without_trees_answers_at_once():
    clf = make(budget=0).fit(X, Y)
    advice = clf.next_test({})
    assert clf.empty_
    assert (advice.test, advice.answer, advice.spent) == (None, np.bincount(Y).argmax(), 0.0)
    assert list(advice.probabilities.values()) == pytest.approx(np.bincount(Y) / 200)
    assert "0 of 0 trees have voted" in advice.reason


def test_tests_that_are_unavailable_are_named_and_not_asked_for_again():
    clf = make().fit(X, Y)
    first = clf.next_test({}).test
    advice = clf.next_test({first: None})
    assert advice.unavailable == (first,)
    assert advice.test not in (first, None)


def test_what_is_known_already_is_not_asked_for():
    clf = make().fit(X, Y)
    known = {f"x{j}": FRESH[0, j] for j in range(4)}
    advice = clf.next_test(known)
    assert (advice.test, advice.answer) == (None, clf.predict(FRESH[:1])[0])
    assert "5 of 5 trees have voted, none is left" in advice.reason

"""Advice about one case: what to buy next, running it, and why."""

import numpy as np
import pytest

import worthwhile as ww
from cascade_problems import NAMES, cases
from worklists import check_row


def known_of(row):
    return {name: None if np.isnan(value) else float(value) for name, value in zip(NAMES, row, strict=True)}


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("which", ["clf", "gappy"])
def test_running_a_case_ends_and_costs_what_the_table_says(which, missing, request):
    clf = request.getfixturevalue(which)
    X, _ = cases(25, seed=8, missing=missing)
    answers, prices = clf.predict_with_prices(X)
    for row in range(len(X)):
        values = known_of(X[row])
        outcome = clf.run({}, {name: lambda value=value: value for name, value in values.items()})
        assert outcome.answer == answers[row]
        assert outcome.spent == pytest.approx(prices[row])
        assert sum(entry.price for entry in outcome.ledger) == pytest.approx(outcome.spent)
        whole = clf.next_test(values)
        assert (whole.test, whole.answer) == (None, answers[row])
        explained = clf.explain(values)
        assert explained.answer == answers[row]
        assert explained.spent == pytest.approx(prices[row])
        assert str(explained).endswith(f"tests cost {prices[row]:.2f}")


def test_advice_names_the_whole_order_and_what_it_saves(clf):
    first = clf.next_test({})
    assert first.test == "free"
    assert first.price == 0
    advice = clf.next_test({"free": 0.1})
    assert advice.test is not None
    assert advice.stop_cost > advice.go_on_cost > advice.price
    assert advice.price == pytest.approx(sum(advice.order.values()))
    assert set(advice.order) >= {advice.test, *advice.commits}
    assert "going on" in advice.reason
    if advice.commits:
        later = clf.next_test({"free": 0.1, advice.test: 0.3})
        assert (later.test, later.price) == (advice.commits[0], 0.0)
        assert "ordered" in later.reason


def test_what_others_have_paid_for_is_free(clf):
    advice = clf.next_test({"free": 0.1}, already_paid=["cheap", "lab", "sum"])
    assert advice.spent == 0
    every = clf.next_test({"free": 0.1})
    assert {"cheap", "lab", "sum"}.isdisjoint(advice.order) or advice.price < every.price


def test_what_going_on_costs_is_without_results_in_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    costs = ww.Costs(tests={"a": ww.Test(3.0, delayed=True), "b": ww.Test(2.0, delayed=True)}, errors=200)
    clf = ww.CascadeClassifier(costs=costs, columns=["a", "b"], n_trees=12, random_state=0)
    clf.fit(X, (X > 0).sum(axis=1) == 1)  # neither test alone says anything
    asked = clf.next_test({})
    assert (asked.order, asked.price) == ({"a": 3.0, "b": 2.0}, 5.0)
    beside = clf.next_test({"b": 0.4})
    assert (beside.order, beside.price, beside.spent) == ({"a": 3.0}, 3.0, 2.0)
    assert beside.go_on_cost == pytest.approx(asked.go_on_cost - 2.0)
    ordered = clf.next_test({"a": 0.4})
    assert (ordered.test, ordered.price, ordered.spent) == ("b", 0.0, 5.0)
    assert ordered.go_on_cost == pytest.approx(asked.go_on_cost - 5.0)


def test_an_unavailable_test_that_models_do_not_know_is_left_out(clf):
    sure = clf.next_test({"free": 0.1})
    assert not clf._cascade.tolerated.any()
    other = clf.next_test({"free": 0.1, sure.test: None})
    assert other.test != sure.test
    assert other.unavailable == (sure.test,)


def test_unknown_tests_and_lacking_functions_are_refused(clf):
    with pytest.raises(ValueError, match="there is no test 'x'"):
        clf.next_test({"x": 1})
    with pytest.raises(ValueError, match="fetch has no function for the tests"):
        clf.run({}, {"free": lambda: 1.0})


@pytest.mark.parametrize("which", ["clf", "gappy"])
@pytest.mark.parametrize("free", [(), ("lab",)])
def test_a_worklist_gets_the_advice_of_single_cases(which, free, request):
    clf, rng = request.getfixturevalue(which), np.random.default_rng(5)
    X, _ = cases(120, seed=3)
    X[rng.random(X.shape) < rng.choice([0.2, 0.5, 0.8], (len(X), 1))] = np.nan
    mark = np.where(
        np.isnan(X), rng.choice(["not asked", "unavailable", "pending"], X.shape, p=[0.5, 0.3, 0.2]), "value"
    )
    found = clf.advise(X, mark == "unavailable", mark == "pending", already_paid=free)
    assert set(found["action"]) == {"answer", "order", "wait"}
    for at, row in enumerate(X):
        known = {name: value for name, value in known_of(row).items() if mark[at, NAMES.index(name)][0] in "vu"}
        pending = [name for name, what in zip(NAMES, mark[at], strict=True) if what == "pending"]
        check_row(clf, found.iloc[at], known, pending, free)

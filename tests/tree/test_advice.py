"""Advice for single cases: the next test, its price, and why."""

import pytest

from handmade import small, tree, turney


def test_turneys_worked_example_step_by_step():
    known = tree(turney())
    first = known.next_test({})
    assert (first.test, first.price, first.spent, first.commits) == ("alpha", 5, 0, ())
    second = known.next_test({"alpha": 6})
    assert (second.test, second.price, second.spent) == ("delta", 7 + 10 + 8, 5)
    assert second.commits == ("beta", "epsilon")
    assert str(second) == "do delta for 25.00, which also orders beta, epsilon (5.00 spent)"
    third = known.next_test({"alpha": 6, "delta": 3})
    assert (third.test, third.price, third.spent) == ("epsilon", 0, 30)
    last = known.next_test({"alpha": 6, "delta": 3, "epsilon": 2})
    assert (last.test, last.answer, last.spent, last.price) == (None, 0, 30, 0)
    assert str(last) == "answer 0 (30.00 spent)"
    assert last.probabilities == {0: 1.0, 1: 0.0}


def test_a_case_with_the_amounts():
    known = tree(small())
    first = known.next_test({})
    assert (first.stop_answer, first.stop_cost, first.go_on_cost) == ("yes", 5, 1 + 4 + 1.2)
    assert first.gain == pytest.approx(-1.2)
    assert first.unavailable == ()
    assert repr(first) == "Advice(do x for 1.00, 0.00 spent; stopping costs 5.00, going on 6.20)"
    second = known.next_test({"x": 1})
    assert second.gain == pytest.approx(10 / 3 - 2)
    assert second.reason == (
        "Answering yes now is expected to cost 3.33 in errors; going on 2.00 in tests and errors, 1.33 less."
    )
    last = known.next_test({"x": 0})
    assert (last.answer, last.stop_answer, last.stop_cost, last.go_on_cost) == ("no", "yes", 7.5, 10)
    assert repr(last) == "Advice(answer no, 1.00 spent)"
    assert last.reason == (
        "The tree asks for no further test here; answering no is expected to cost 10.00 in errors, answering yes 7.50."
    )


def test_unavailable_tests_are_named():
    known = tree(turney())
    advice = known.next_test({"delta": "eleven", "beta": None, "epsilon": 2})
    assert advice.unavailable == ("delta", "beta")
    assert (advice.stop_answer, advice.stop_cost, advice.go_on_cost, advice.gain) == (None,) * 4
    assert repr(advice) == "Advice(do alpha for 5.00, 10.00 spent)"


def test_a_delayed_order_is_named():
    known = tree(turney())
    assert [known.next_test(case).delayed for case in ({}, {"alpha": 6}, {"alpha": 6, "delta": 3})] == [
        False,
        True,
        False,
    ]


def test_why_expected_costs_are_unknown():
    assert tree(turney()).next_test({}).reason == (
        "The tree asks for this test here; expected costs are unknown because the tree has no training weights."
    )
    nodes = [{key: value for key, value in node.items() if key != "weights"} for node in small()["nodes"]]
    nodes[0]["weights"] = [10, 10]
    assert tree(small(nodes=nodes)).next_test({}).reason == (
        "Answering yes now is expected to cost 5.00 in errors;"
        " the cost of going on is unknown because some branches have no training weights."
    )

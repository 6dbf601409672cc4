"""Explanations: the path of a case, step by step, with prices."""

import pytest

from handmade import small, tree, turney
from worthwhile.table.schema import OtherValue


def test_the_path_of_a_case_in_words():
    known = tree(turney())
    assert str(known.explain({"alpha": 6, "delta": 3, "epsilon": 2.0})).splitlines() == [
        "alpha = 6 (> 2): 5.00",
        "delta = 3 (0 or 1 or 3 or 4 or 5 or 6 or 7 or 8 or 9): 25.00"
        " (delta 7.00, beta 10.00, epsilon 8.00, ordered at once)",
        "epsilon = 2 (≤ 3): already paid",
        "answer 0 (0 100%, 1 0%)",
        "The tree asks for no further test here.",
        "tests cost 30.00",
    ]
    assert str(known.explain({"alpha": 6})).splitlines()[-3:] == [
        "delta: not known yet; this is the next test",
        "The tree asks for this test here; expected costs are unknown because the tree has no training weights.",
        "tests cost 5.00",
    ]
    assert str(known.explain({"alpha": None, "beta": 9})).splitlines() == [
        "alpha: unavailable, not charged; the case follows all branches in proportion",
        "beta = 9 (> 6): 10.00",
        "delta: not known yet; this is the next test",
        "The tree asks for this test here; expected costs are unknown because the tree has no training weights.",
        "tests cost 10.00",
    ]


def test_the_steps_have_values_and_prices():
    known = tree(turney())
    told = known.explain({"alpha": 6, "delta": "3", "beta": None, "epsilon": 2})
    alpha, delta, epsilon = told.steps
    assert (alpha.test, alpha.value, alpha.condition, alpha.threshold, alpha.price) == ("alpha", 6, "> 2", 2.0, 5)
    assert (delta.threshold, delta.price, delta.commits, delta.spent) == (None, 15, ("epsilon",), 20)
    assert delta.condition == "0 or 1 or 3 or 4 or 5 or 6 or 7 or 8 or 9"
    assert (epsilon.price, epsilon.paid, epsilon.commits, epsilon.spent) == (0, True, (), 20)
    assert (told.answer, told.next_test, told.spent, told.error_cost) == (0, None, 20, None)
    assert told.probabilities == {0: 1, 1: 0}
    assert told.why == "The tree asks for no further test here."
    assert repr(told) == "Explanation(alpha, delta, epsilon; answer 0, 20.00 spent)"
    assert repr(known.explain({})) == "Explanation(no test; next alpha, 0.00 spent)"
    absent, unknown = (known.explain({"alpha": 6, "delta": v}).steps[1] for v in (None, OtherValue("eleven")))
    assert (absent.available, absent.condition, absent.price) == (False, None, 0)
    assert str(absent) == "delta: unavailable, not charged; the case follows all branches in proportion"
    assert str(unknown) == "delta = eleven: an unknown value, not charged; the case follows all branches in proportion"


def test_the_steps_have_expected_costs():
    known = tree(small())
    x, y = known.explain({"x": 1, "y": 1}).steps
    assert (x.share, x.stop_cost, x.expected_cost) == (1, 5, pytest.approx(6.2))
    assert (y.share, y.stop_cost, y.expected_cost) == (0.6, pytest.approx(10 / 3), 2)
    through = known.explain({"x": 0})
    assert through.error_cost == 10
    assert known.explain({"x": 1}).error_cost == pytest.approx(10 / 3)


def test_the_same_test_in_two_branches_is_explained_and_charged_once():
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        {"test": "y", "threshold": 0, "children": [3, 4]},
        {"test": "y", "threshold": 5, "children": [5, 6]},
        *[{"answer": "no"}] * 4,
    ]
    lines = str(tree(small(nodes=nodes)).explain({"x": float("nan"), "y": 1})).splitlines()
    assert lines[1:3] == ["y = 1 (> 0): 2.00", "y = 1 (≤ 5): already paid"]
    assert lines[-1] == "tests cost 2.00"

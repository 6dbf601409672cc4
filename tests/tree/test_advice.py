"""Advice and explanations for single cases agree with the prices and answers of whole tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handmade import small, tree, turney
from wildtrees import NAMES, random_case, random_content


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


def test_the_way_of_a_case_in_words():
    known = tree(turney())
    assert str(known.explain({"alpha": 6, "delta": 3, "epsilon": 2.0})).splitlines() == [
        "alpha = 6 (> 2): 5.00",
        "delta = 3 (0 or 1 or 3 or 4 or 5 or 6 or 7 or 8 or 9): 25.00, with beta, epsilon ordered at once",
        "epsilon = 2 (≤ 3): already paid",
        "answer 0 (0 100%, 1 0%)",
        "The tree asks for no further test here.",
        "tests cost 30.00",
    ]
    assert str(known.explain({"alpha": 6})).splitlines()[-3:] == [
        "delta: not known yet; it is the next test",
        "The tree asks for it here; what is to be expected cannot be said: it has no training weights.",
        "tests cost 5.00",
    ]
    assert str(known.explain({"alpha": None, "beta": 9})).splitlines() == [
        "alpha: cannot be had, nothing charged; the case goes down all branches in proportion",
        "beta = 9 (> 6): 10.00",
        "delta: not known yet; it is the next test",
        "The tree asks for it here; what is to be expected cannot be said: it has no training weights.",
        "tests cost 10.00",
    ]


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


def test_unavailable_and_unheard_of_values_are_named():
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


def test_the_steps_of_an_explanation():
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
    unknown = known.explain({"alpha": 6, "delta": "eleven"}).steps[1]
    assert (unknown.available, unknown.condition, unknown.price) == (False, None, 0)
    assert str(unknown).startswith("delta: = eleven is a value that the tree does not know, nothing charged")


def test_the_steps_of_an_explanation_say_what_was_to_be_expected():
    known = tree(small())
    x, y = known.explain({"x": 1, "y": 1}).steps
    assert (x.share, x.stop_cost, x.expected_cost) == (1, 5, pytest.approx(6.2))
    assert (y.share, y.stop_cost, y.expected_cost) == (0.6, pytest.approx(10 / 3), 2)
    through = known.explain({"x": 0})
    assert through.error_cost == 10
    assert known.explain({"x": 1}).error_cost == pytest.approx(10 / 3)


def test_an_unavailable_test_is_not_ordered():
    known = tree(turney())
    advice = known.next_test({"alpha": 6, "beta": None})
    assert (advice.test, advice.price, advice.commits) == ("delta", 7 + 8, ("epsilon",))
    assert known.next_test({"alpha": 6, "delta": "eleven"}).test == "beta"  # a value never seen is as good as none
    assert known.next_test({"alpha": 6, "delta": "eleven"}).price == 10


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


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT, "nan"])
def test_the_forms_of_missing(missing):
    advice = tree(small()).next_test({"x": missing})
    assert (advice.test, advice.price, advice.spent) == ("y", 2, 0)


def test_a_case_as_a_row_of_a_frame():
    row = pd.DataFrame({"x": [1], "y": [-1]}).iloc[0]
    assert tree(small()).next_test(row).answer == "yes"
    assert str(tree(small()).explain(row)).splitlines()[1] == "y = -1 (≤ 0): 2.00"


def test_what_is_no_case_is_refused():
    known = tree(small())
    with pytest.raises(ValueError, match="there is no test 'z'; the tests are x, y"):
        known.next_test({"z": 1})
    for value in ("high", [1], 10**400, 1j):
        with pytest.raises(ValueError, match="the test 'x' needs a number, got"):
            known.explain({"x": value})
    with pytest.raises(TypeError, match=r"a case must be a mapping of test to value, e.g. \{'x': ...\}, got \[1, 2\]"):
        known.next_test([1, 2])


def test_deep_trees_are_walked_without_recursion():
    n = 4000
    chain = [{"test": "x", "threshold": i, "children": [2 * i + 1, 2 * i + 2]} for i in range(n)]
    nodes = [chain[0]]
    for node in [*chain[1:], {"answer": "yes"}]:
        nodes += [{"answer": "no"}, node]
    deep = tree(small(nodes=nodes))
    assert deep.depth == n
    assert deep.next_test({"x": None}).spent == 0
    assert deep.next_test({"x": 1e9}).answer == "yes"
    assert str(deep.explain({"x": 1e9})).count("already paid") == n - 1
    assert deep.test_costs([[np.nan, 0], [5, 0]]).tolist() == [0, 1]
    assert deep.to_text().count("\n") == 2 * n
    assert deep.to_dot().count("->") == 2 * n


# --- random trees: one case at a time is the same as a table ---------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 0.7]))
def test_one_case_at_a_time_is_the_same_as_a_table(seed, missing):
    rng = np.random.default_rng(seed)
    known = tree(random_content(rng))
    case = random_case(rng, missing)
    table = pd.DataFrame([case]).astype({n: float if n[0] == "n" else object for n in NAMES})
    advice = known.next_test(case)
    assert advice.test is None
    assert advice.answer == known.predict(table)[0]
    charged = known.test_costs(table)[0]
    assert advice.spent >= charged - 1e-9  # what the tree did not ask for is known too, so it was paid
    assert list(advice.probabilities.values()) == pytest.approx(known.predict_proba(table)[0].tolist())
    assert str(known.explain(case)).endswith(f"tests cost {charged:.2f}")
    if missing == 0 and not {"new", "c"} & set(case.values()):  # some nodes have no branch for "c"
        follow(known, case, charged)


def follow(known, case, total):
    """Doing what the advice says costs, added up, what the table says."""
    seen, paid = {}, 0.0
    while (advice := known.next_test(seen)).test is not None:
        assert advice.spent == pytest.approx(paid)
        assert advice.test not in seen
        paid += advice.price
        seen[advice.test] = case[advice.test]
    assert advice.spent == pytest.approx(paid) == pytest.approx(total)


def test_what_is_known_counts_as_paid_even_where_the_tree_does_not_ask_for_it():
    nodes = [{"test": "fbs", "threshold": 1, "children": [1, 2]}, {"answer": 0}, {"answer": 1}]
    costs = {"tests": {name: {"price": 3, "group": "blood"} for name in ("chol", "fbs")}, "groups": {"blood": 2}}
    columns = [{"name": name, "kind": "numeric"} for name in ("chol", "fbs")]
    known = tree(small(nodes=nodes, costs=costs, columns=columns, classes=[0, 1]))
    advice = known.next_test({"chol": 200})
    assert (advice.test, advice.price, advice.spent) == ("fbs", 3.0, 5.0)
    unavailable = known.next_test({"chol": None})
    assert (unavailable.test, unavailable.price, unavailable.spent) == ("fbs", 5.0, 0.0)


def test_parts_of_a_case_that_stand_before_the_same_test_order_it_together():
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        {"test": "y", "threshold": 0, "children": [3, 4]},
        {"test": "y", "threshold": 0, "children": [5, 6]},
        *[{"answer": "no"}] * 3,
        {"test": "z", "threshold": 0, "children": [7, 8]},
        *[{"answer": "yes"}] * 2,
    ]
    columns = [{"name": name, "kind": "numeric"} for name in "xyz"]
    costs = {"tests": {"x": 1, "y": {"price": 2, "delayed": True}, "z": 4}}
    advice = tree(small(nodes=nodes, columns=columns, costs=costs)).next_test({"x": None})
    assert (advice.test, advice.price, advice.commits, advice.delayed) == ("y", 6, ("z",), True)

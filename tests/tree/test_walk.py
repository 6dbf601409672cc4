"""Walking single cases agrees with the prices and answers of whole tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handmade import small, tree, turney
from wildtrees import NAMES, random_case, random_content
from worthwhile.tree.walk import Walk


def test_the_steps_and_positions_of_a_case():
    walk = Walk(tree(turney()), {"alpha": 6, "delta": "3"})
    assert [(step.node, step.branch, step.price, step.commits) for step in walk.steps] == [
        (0, 1, 5, ()),
        (2, 1, 25, (1, 3)),
    ]
    assert walk.positions == [walk.waiting()]
    assert (walk.waiting().node, walk.waiting().share, walk.waiting().paid) == (6, 1.0, {0, 1, 2, 3})
    order = walk.next_order()
    assert (order.test, order.charged, order.commits, order.delayed) == (3, set(), (), False)


def test_an_unavailable_test_leaves_a_share_at_each_branch():
    walk = Walk(tree(small()), {"x": None})
    assert [(position.node, position.share) for position in walk.positions] == [(2, 0.6), (1, 0.4)]
    assert walk.shares().tolist() == pytest.approx([0.5, 0.5])
    assert (walk.available(), walk.unavailable(), walk.waiting().node) == ([], [0], 2)
    done = Walk(tree(small()), {"x": 1, "y": 1})
    assert (done.waiting(), done.next_order(), done.answer()) == (None, None, "no")


def test_an_unavailable_test_is_not_ordered():
    known = tree(turney())
    advice = known.next_test({"alpha": 6, "beta": None})
    assert (advice.test, advice.price, advice.commits) == ("delta", 7 + 8, ("epsilon",))
    assert known.next_test({"alpha": 6, "delta": "eleven"}).test == "beta"  # a value never seen counts as missing
    assert known.next_test({"alpha": 6, "delta": "eleven"}).price == 10


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT, "nan"])
def test_the_forms_of_missing(missing):
    advice = tree(small()).next_test({"x": missing})
    assert (advice.test, advice.price, advice.spent) == ("y", 2, 0)


def test_a_case_as_a_row_of_a_frame():
    row = pd.DataFrame({"x": [1], "y": [-1]}).iloc[0]
    assert tree(small()).next_test(row).answer == "yes"
    assert str(tree(small()).explain(row)).splitlines()[1] == "y = -1 (≤ 0): 2.00"


def test_invalid_cases_are_refused():
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


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 0.7]))
def test_one_case_at_a_time_is_the_same_as_a_table(seed, missing):
    rng = np.random.default_rng(seed)
    known = tree(random_content(rng))
    cases = [random_case(rng, missing) for _ in range(4)]
    table = pd.DataFrame(cases).astype({n: float if n[0] == "n" else object for n in NAMES})
    answers, charged, shares = known.predict(table), known.test_costs(table), known.predict_proba(table)
    for row, case in enumerate(cases):
        advice = known.next_test(case)
        assert (advice.test, advice.answer) == (None, answers[row])
        assert advice.spent >= charged[row] - 1e-9  # also pays for known values that the tree did not ask for
        assert list(advice.probabilities.values()) == pytest.approx(shares[row].tolist())
        assert str(known.explain(case)).endswith(f"tests cost {charged[row]:.2f}")
        if missing == 0 and not {"new", "c"} & set(case.values()):  # some nodes have no branch for "c"
            follow(known, case, charged[row])


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


def test_parts_of_a_case_that_wait_for_the_same_test_order_it_together():
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

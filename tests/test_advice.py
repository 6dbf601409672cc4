"""Advice and explanations for single cases agree with the prices and answers of whole tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def test_the_way_of_a_case_in_words():
    known = tree(turney())
    assert known.explain({"alpha": 6, "delta": 3, "epsilon": 2.0}).splitlines() == [
        "alpha = 6 (> 2): 5.00",
        "delta = 3 (0 or 1 or 3 or 4 or 5 or 6 or 7 or 8 or 9): 25.00, with beta, epsilon ordered at once",
        "epsilon = 2 (≤ 3): already paid",
        "answer 0 (0 100%, 1 0%)",
        "tests cost 30.00",
    ]
    assert known.explain({"alpha": 6}).splitlines()[-2:] == [
        "delta: not known yet; it is the next test",
        "tests cost 5.00",
    ]
    assert known.explain({"alpha": None, "beta": 9}).splitlines() == [
        "alpha: cannot be had, nothing charged; the case goes down all branches in proportion",
        "beta = 9 (> 6): 10.00",
        "delta: not known yet; it is the next test",
        "tests cost 10.00",
    ]


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
    lines = tree(small(nodes=nodes)).explain({"x": float("nan"), "y": 1}).splitlines()
    assert lines[1:3] == ["y = 1 (> 0): 2.00", "y = 1 (≤ 5): already paid"]
    assert lines[-1] == "tests cost 2.00"


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT, "nan"])
def test_the_forms_of_missing(missing):
    advice = tree(small()).next_test({"x": missing})
    assert (advice.test, advice.price, advice.spent) == ("y", 2, 0)


def test_a_case_as_a_row_of_a_frame():
    row = pd.DataFrame({"x": [1], "y": [-1]}).iloc[0]
    assert tree(small()).next_test(row).answer == "yes"
    assert tree(small()).explain(row).splitlines()[1] == "y = -1 (≤ 0): 2.00"


def test_what_is_no_case_is_refused():
    known = tree(small())
    with pytest.raises(ValueError, match="there is no test 'z'; the tests are x, y"):
        known.next_test({"z": 1})
    for value in ("high", [1], 10**400, 1j):
        with pytest.raises(ValueError, match="the test 'x' wants a number, got"):
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
    assert deep.explain({"x": 1e9}).count("already paid") == n - 1
    assert deep.test_costs([[np.nan, 0], [5, 0]]).tolist() == [0, 1]
    assert deep.to_text().count("\n") == 2 * n
    assert deep.to_dot().count("->") == 2 * n


# --- random trees: one case at a time is the same as a table ---------------------------------------------------------

VALUES = ("a", "b", "c")
NAMES = ("n0", "n1", "c0", "c1", "n2")


def random_content(rng):
    columns = [
        {"name": n, "kind": "numeric"} if n[0] == "n" else {"name": n, "kind": "nominal", "values": list(VALUES)}
        for n in NAMES
    ]
    tests = {n: {"price": int(rng.integers(0, 9)), "delayed": bool(rng.random() < 0.4)} for n in NAMES}
    for n in NAMES[:3]:
        tests[n]["group"] = "G"
    tests["n2"]["requires"] = ["n0", "c1"]
    nodes = []

    def write(depth):
        at = len(nodes)
        weights = [] if rng.random() < 0.3 else rng.integers(0, 4, 2).tolist()
        nodes.append({"answer": int(rng.integers(2))} | ({"weights": weights} if weights else {}))
        if depth and rng.random() < 0.85:
            name = str(rng.choice(NAMES))
            node: dict = {"test": name}
            if name[0] == "n":
                node["threshold"] = int(rng.integers(-2, 3))
                n_children = 2
            else:
                node["branches"] = [["a"], ["b"]] if rng.random() < 0.3 else [["a", "c"], ["b"]]
                n_children = 2
            nodes[at] |= node
            nodes[at]["children"] = [write(depth - 1) for _ in range(n_children)]
        return at

    write(4)
    costs = {"tests": tests, "groups": {"G": 3}}
    return {
        "format": "worthwhile-tree",
        "version": 1,
        "classes": [0, 1],
        "columns": columns,
        "costs": costs,
        "nodes": nodes,
    }


def random_case(rng, missing):
    case = {n: int(rng.integers(-3, 4)) if n[0] == "n" else str(rng.choice([*VALUES, "new"])) for n in NAMES}
    return {n: None if rng.random() < missing else v for n, v in case.items()}


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
    assert known.explain(case).endswith(f"tests cost {charged:.2f}")
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

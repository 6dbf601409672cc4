"""Walking single cases agrees with the prices and answers of whole tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handmade import small, tree, turney
from problems import compare
from wildtrees import NAMES, random_case, random_content
from worthwhile.tree.walk import Position, Walk


def test_the_steps_and_positions_of_a_case():
    walk = Walk(tree(turney()), {"alpha": 6, "delta": "3"})
    assert [(step.node, step.branch, step.price, step.commits) for step in walk.steps] == [
        (0, 1, 5, ()),
        (2, 1, 25, (1, 3)),
    ]
    assert walk.steps[1].items == {"delta": 7, "beta": 10, "epsilon": 8}
    assert walk.positions == [Position(6, 1.0)]
    order = walk.next_order
    assert (order.test, order.charged, order.commits) == (3, {0, 1, 2, 3}, ())


def test_an_unavailable_test_leaves_a_share_at_each_branch():
    walk = Walk(tree(small()), {"x": None})
    assert [(position.node, position.share) for position in walk.positions] == [(2, 0.6), (1, 0.4)]
    assert walk.shares.tolist() == pytest.approx([0.5, 0.5])
    assert (walk.unavailable(), walk.next_order.test) == ([0], 1)
    done = Walk(tree(small()), {"x": 1, "y": 1})
    assert (done.next_order, done.answer_index()) == (None, 0)


def test_an_unavailable_test_is_not_ordered():
    known = tree(turney())
    advice = known.next_test({"alpha": 6, "beta": None})
    assert (advice.test, advice.price, advice.commits) == ("delta", 7 + 8, ("epsilon",))
    assert known.next_test({"alpha": 6, "delta": None}).test == "beta"
    assert known.next_test({"alpha": 6, "delta": None}).price == 10


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


# --- what going on costs an undivided case, against a slow reference that follows every path from the root -----------


class UnknownError(Exception):
    """There are no weights to divide cases by."""


def closure(known, test):
    required = known.costs.tests[test].requires if test in known.costs.tests else ()
    return {test}.union(*(closure(known, other) for other in required))


def bill(known, tests):
    """What a set of tests costs: marginals, and the common price of each group once."""
    own = [known.costs.tests[test] for test in tests if test in known.costs.tests]
    return sum(test.price for test in own) + sum(known.costs.groups[g] for g in {test.group for test in own} - {None})


def asked_below(known, node):
    if known.nodes.test[node] < 0:
        return []
    below = [asked_below(known, child) for child in known.nodes.children(node)]
    return [(node, known.columns[known.nodes.test[node]]), *itertools.chain(*below)]


def branch_of(known, node, value):
    """The branch of a value, None if it has none."""
    values = known.schema.values[known.nodes.test[node]]
    if values is None:
        return None if value is None else int(value > known.nodes.threshold[node])
    if value not in values:
        return None
    branch = known.nodes.branch_of(node)[values.index(value)]
    return None if branch < 0 else branch


def ordered(known, node, case, paid):
    """What a node charges."""
    test = known.columns[known.nodes.test[node]]
    if test in paid:
        return set()
    new = closure(known, test)
    if any(known.costs.tests[t].delayed for t in new - paid if t in known.costs.tests):
        for below, other in asked_below(known, node):
            if other not in case or branch_of(known, below, case[other]) is not None:
                new |= closure(known, other)
    return new


def paths(known, node, case, paid):
    """Every path from a node: (chance, charged, leaves with their shares, branches taken unseen)."""
    if known.nodes.test[node] < 0:
        return [(1.0, paid, [(1.0, node)], [])]
    test, children = known.columns[known.nodes.test[node]], known.nodes.children(node)
    weights = [known.nodes.weights[child].sum() for child in children]
    shares = [w / sum(weights) if sum(weights) else 1 / len(weights) for w in weights]
    if test not in case:
        if not sum(weights):
            raise UnknownError
        found = []
        for b, child in enumerate(children):
            if shares[b]:
                for chance, charged, leaves, taken in paths(
                    known, child, case, paid | ordered(known, node, case, paid)
                ):
                    found.append((shares[b] * chance, charged, leaves, [(node, b), *taken]))
        return found
    branch = branch_of(known, node, case[test])
    if branch is not None:
        return paths(known, children[branch], case, paid | ordered(known, node, case, paid))
    raise AssertionError("an undivided case has all its values")


def expected(known, case, spent):
    """Expected price of the tests not yet paid for, and expected error cost, if the case goes on."""
    had = set().union(*(closure(known, t) for t in case))
    shares, total = known._core_tree.shares(), 0.0
    for chance, charged, [(_, leaf)], _ in paths(known, 0, case, set()):
        error = shares[leaf] @ known.error_costs[:, known.nodes.answer[leaf]]
        total += chance * (bill(known, charged | had) - spent + error)
    return total


@compare(300)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 0.7]))
def test_going_on_costs_what_all_paths_from_the_root_say(seed, asked):
    rng = np.random.default_rng(seed)
    errors = [[0, 1, int(rng.integers(1, 90))], [1, 0, int(rng.integers(1, 90))]]
    content = random_content(rng) | {"answer": str(rng.choice(["majority", "least-cost"]))}
    content["costs"] |= {"errors": errors}
    for node in content["nodes"]:
        if rng.random() < 0.8:
            node.setdefault("weights", [1, 2])
        if "branches" in node:
            node["branches"] = [["a", "c"], ["b"]]
    known = tree(content)
    case = {name: value for name, value in random_case(rng, 0).items() if rng.random() < asked and value != "new"}
    advice = known.next_test(case)
    if not known.has_weights:
        assert advice.go_on_cost is advice.stop_cost is advice.gain is None
        return
    try:
        assert advice.go_on_cost == pytest.approx(expected(known, case, advice.spent))
    except UnknownError:
        assert advice.go_on_cost is None
        assert advice.reason.endswith("unknown because some branches have no training weights.")
    shares = np.array(list(advice.probabilities.values()))
    assert advice.stop_cost == pytest.approx((shares @ known.error_costs).min())

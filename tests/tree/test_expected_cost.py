"""What going on is expected to cost, against a slow reference that follows every path from the root."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import worthwhile as ww
from handmade import small, tree, turney
from problems import compare
from wildtrees import random_case, random_content
from worthwhile.tree import expected_cost as expected_cost_module

# --- the reference ---------------------------------------------------------------------------------------------------


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
    parts = [(share, paths(known, child, case, paid)) for share, child in zip(shares, children, strict=True) if share]
    found = []
    for together in itertools.product(*(own for _, own in parts)):
        chance = math.prod(path[0] for path in together)
        charged = set().union(*(path[1] for path in together))
        leaves = [(part * s, leaf) for (part, _), path in zip(parts, together, strict=True) for s, leaf in path[2]]
        apart = [path[3] for path in together]
        found.append((chance, charged, leaves, list(itertools.chain(*apart)), possible(known, apart)))
    kept = [path for path in found if path[4]] or found
    return [(path[0] / sum(w[0] for w in kept), *path[1:4]) for path in kept]


def possible(known, apart):
    """Whether there is, for every test that two parts ask for, a value that takes all those branches."""
    asked = [{known.nodes.test[node] for node, _ in taken} for taken in apart]
    for test in set().union(*asked):
        if sum(test in tests for tests in asked) < 2:
            continue
        taken = [(node, b) for own in apart for node, b in own if known.nodes.test[node] == test]
        values = known.schema.values[test]
        candidates = values if values is not None else np.arange(-4.5, 5, 0.25)  # thresholds are whole
        if not any(all(branch_of(known, node, value) == b for node, b in taken) for value in candidates):
            return False
    return True


def expected(known, case, spent):
    """Expected price of the tests not yet paid for, and expected error cost, if the case goes on."""
    asking = [(known.columns[test], node) for node, test in enumerate(known.nodes.test) if test >= 0]
    usable = {t for t in case if all(branch_of(known, node, case[t]) is not None for test, node in asking if test == t)}
    had = set().union(*(closure(known, t) for t in usable if case[t] is not None and case[t] != "new"))
    shares, least = known._core_tree.shares(), known.answer == "least-cost"
    total = 0.0
    for chance, charged, leaves, _ in paths(known, 0, case, set()):
        mixed = sum(share * shares[leaf] for share, leaf in leaves)
        if len(leaves) == 1:
            answer = known.nodes.answer[leaves[0][1]]
        else:
            scores = mixed @ known.error_costs if least else -mixed
            answer = np.flatnonzero(scores <= scores.min() + 1e-9)[0]
        total += chance * (bill(known, charged | had) - spent + mixed @ known.error_costs[:, answer])
    return total


# --- comparison ------------------------------------------------------------------------------------------------------


@compare(400)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2, 0.6]), st.sampled_from([0.0, 0.3, 0.7]))
def test_going_on_costs_what_all_paths_from_the_root_say(seed, missing, asked):
    rng = np.random.default_rng(seed)
    errors = [[0, 1, int(rng.integers(1, 90))], [1, 0, int(rng.integers(1, 90))]]
    content = random_content(rng) | {"answer": str(rng.choice(["majority", "least-cost"]))}
    content["costs"] |= {"errors": errors}
    for node in content["nodes"]:
        if rng.random() < 0.8:
            node.setdefault("weights", [1, 2])
    known = tree(content)
    case = {name: value for name, value in random_case(rng, missing).items() if rng.random() < asked}
    advice = known.next_test(case)
    if not known.nodes.weights[0].any():
        assert advice.go_on_cost is advice.stop_cost is advice.gain is None
        return
    try:
        assert advice.go_on_cost == pytest.approx(expected(known, case, advice.spent))
    except UnknownError:
        assert advice.go_on_cost is None
        assert advice.reason.endswith("unknown because some branches have no training weights.")
    shares = np.array(list(advice.probabilities.values()))
    assert advice.stop_cost == pytest.approx((shares @ known.error_costs).min())


def test_two_parts_that_ask_the_same_test_get_the_same_value():
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        {"test": "y", "threshold": 0, "children": [3, 4]},
        {"test": "y", "threshold": 0, "children": [5, 6]},
        *({"answer": a, "weights": w} for a, w in (("no", [2, 0]), ("yes", [0, 2]), ("yes", [0, 2]), ("no", [2, 0]))),
    ]
    known = tree(small(nodes=nodes, costs={"tests": {"y": 3}, "errors": 100}))
    advice = known.next_test({"x": None})
    assert (advice.test, advice.price, advice.unavailable) == ("y", 3, ("x",))
    assert advice.go_on_cost == pytest.approx(3 + 50)  # whatever y is, the halves contradict each other
    assert (advice.stop_answer, advice.stop_cost, advice.gain) == ("no", 50, pytest.approx(-3))
    assert advice.reason.endswith("going on 53.00 in tests and errors, 3.00 more, but the tree still asks for it.")


def test_what_is_paid_is_free_and_orders_count_at_once():
    content = turney()
    for node, weights in zip(content["nodes"], [[5, 5], [2, 2], [3, 3], [0, 2], [2, 0]], strict=False):
        node["weights"] = weights
    for node in (5, 6):
        content["nodes"][node]["weights"] = [1.5, 1.5]
    for node, weights in ((7, [0, 1.5]), (8, [1.5, 0]), (9, [1.5, 0]), (10, [0, 1.5])):
        content["nodes"][node]["weights"] = weights
    known = tree(content)
    assert known.next_test({}).go_on_cost == pytest.approx(5 + 0.4 * 10 + 0.6 * 25)
    assert known.next_test({"beta": 1}).go_on_cost == pytest.approx(5 + 0.6 * 15)
    assert known.next_test({"epsilon": 1}).go_on_cost == pytest.approx(5 + 0.4 * 10 + 0.6 * (5 + 10))
    after = known.next_test({"alpha": 6, "delta": 3})
    assert (after.test, after.price, after.go_on_cost, after.delayed) == ("epsilon", 0, 0, False)
    before = known.next_test({"alpha": 6})
    assert (before.delayed, before.stop_cost, before.go_on_cost, before.gain) == (True, 25, 25, 0)
    assert before.reason.endswith("going on 25.00 in tests and errors, the same.")


def test_too_many_paths_are_not_evaluated(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 3)), rng.integers(0, 2, 900)
    known = ww.C45Classifier(prune="none", min_cases=1).fit(X, y).tree_
    first = known.next_test({}).test
    advice = known.next_test({first: None})
    assert advice.go_on_cost is None
    assert advice.stop_cost is not None
    assert "too many paths" in advice.reason
    for most, enough in ((5, True), (4, False)):  # three leaves, two paths on the right, two in all
        monkeypatch.setattr(expected_cost_module, "MAX_PATHS", most)
        assert (tree(small()).next_test({"x": None}).go_on_cost is not None) is enough

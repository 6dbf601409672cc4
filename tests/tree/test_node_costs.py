"""The costs at the nodes of a tree agree with what its training cases pay."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import worthwhile as ww
from handmade import small, tree, turney
from problems import compare
from worthwhile.tree.node_costs import best_answer, node_costs, subtree
from worthwhile.tree.walk import Walk

PRUNINGS = ("none", "pessimistic", "cost")
POLICIES = ("majority", "least-cost")


def random_training(rng):
    """Complete cases with numeric and nominal tests, and costs with everything in them."""
    n = int(rng.integers(12, 60))
    X = pd.DataFrame({f"n{j}": rng.integers(0, 4, n).astype(float) for j in range(3)})
    for j in range(2):
        X[f"c{j}"] = rng.choice(["a", "b", "c"], n)
    y = np.where(rng.random(n) < 0.25, rng.integers(0, 3, n), (X["n0"] > 1) + (X["c0"] == "a"))
    tests = {
        name: ww.Test(
            float(rng.integers(0, 9)),
            group=str(rng.choice(["G", "H"])) if rng.random() < 0.6 else None,
            delayed=bool(rng.random() < 0.3),
            requires=("n0",) if name == "c1" else (),
        )
        for name in X.columns
    }
    groups = {g: 3.0 for g in ("G", "H") if any(test.group == g for test in tests.values())}
    errors = {t: {a: float(rng.integers(1, 60)) for a in (0, 1, 2, "unknown") if a != t} for t in (0, 1, 2)}
    return X, y, ww.Costs(tests=tests, groups=groups, errors=errors)


def random_learner(rng, costs):
    learner = rng.choice([ww.C45Classifier, ww.EG2Classifier, ww.DTMCClassifier])
    prune, answer = str(rng.choice(PRUNINGS)), str(rng.choice(POLICIES))
    return learner(costs=costs, prune=prune, answer=answer, min_cases=1, cross_fit=False)


def nodes_on_the_path(known, case):
    walk = Walk(known, case)
    return [*(step.node for step in walk.steps), walk.positions[0].node]


@compare(150)
@given(st.integers(0, 2**32 - 1))
def test_expected_costs_are_the_average_costs_of_the_training_cases(seed):
    rng = np.random.default_rng(seed)
    X, y, costs = random_training(rng)
    known = random_learner(rng, costs).fit(X, y).tree_
    costs_at = node_costs(known)
    totals = known.total_costs(X, y)
    assert costs_at[0].expected_cost == pytest.approx(totals.mean())
    arrived = [[] for _ in costs_at]
    for row, case in enumerate(X.to_dict("records")):
        for node in nodes_on_the_path(known, case):
            arrived[node].append(row)
    for node, own in enumerate(costs_at):
        rows = arrived[node]
        assert own.share == pytest.approx(len(rows) / len(X))
        if rows:
            before = own.spent - own.price
            assert own.expected_cost == pytest.approx(totals[rows].mean() - before)
            errors = known.error_costs[[known.classes.index(label) for label in y[rows]]].mean(axis=0)
            assert own.stop_cost == pytest.approx(errors.min())
            assert errors[known.answers.index(own.stop_answer)] == pytest.approx(errors.min())


@compare(60)
@given(st.integers(0, 2**32 - 1))
def test_advice_on_the_path_of_every_training_case_agrees_with_the_cases_at_its_node(seed):
    rng = np.random.default_rng(seed)
    X, y, costs = random_training(rng)
    known = random_learner(rng, costs).fit(X, y).tree_
    totals, cases = known.total_costs(X, y), X.to_dict("records")
    paths = [nodes_on_the_path(known, case) for case in cases]
    for case in cases[::5]:
        seen = {}
        while True:
            advice, walk = known.next_test(seen), Walk(known, seen)
            node = walk.positions[0].node
            here = [row for row, path in enumerate(paths) if node in path]
            if not any(known.nodes.test[below] in walk.case for below in subtree(known, node)):
                # A value that is asked for again further down is known here, but differs among the cases here.
                assert advice.go_on_cost == pytest.approx(totals[here].mean() - advice.spent)
            errors = known.error_costs[[known.classes.index(label) for label in y[here]]].mean(axis=0)
            assert advice.stop_cost == pytest.approx(errors.min())
            assert advice.gain == pytest.approx(advice.stop_cost - advice.go_on_cost)
            if advice.test is None:
                break
            seen[advice.test] = case[advice.test]


def test_orders_groups_and_delays_of_turneys_tree():
    known = tree(turney())
    alpha, beta, delta, *leaves, late_beta, epsilon = (node_costs(known)[node] for node in (0, 1, 2, 3, 4, 5, 6))
    assert (alpha.price, alpha.paid, alpha.delayed, alpha.groups, alpha.order) == (5, False, False, (), None)
    assert (beta.price, beta.spent) == (10, 15)
    assert (delta.price, delta.delayed, delta.groups, delta.order) == (25, True, (("A", False),), 2)
    assert [known.columns[t] for t in delta.commits] == ["beta", "epsilon"]
    for late in (late_beta, epsilon):
        assert (late.price, late.paid, late.known, late.order, late.spent) == (0, True, False, 2, 30)
    assert epsilon.groups == (("A", True),)
    assert all(leaf.order is None and leaf.price == 0 for leaf in leaves)


def test_without_weights_nothing_is_expected():
    for own in node_costs(tree(turney())):
        assert own.share is own.stop_cost is own.expected_cost is own.stop_answer is None


def test_without_weights_below_nothing_is_expected_but_answers_have_a_cost():
    nodes = small()["nodes"]
    bare = [{k: v for k, v in node.items() if k != "weights"} for node in nodes]
    costs_at = node_costs(tree(small(nodes=[bare[0] | {"weights": [10, 10]}, *bare[1:]])))
    assert [own.expected_cost for own in costs_at] == [None, 20, None, 5, 20]  # leaves take the shares of all cases
    assert [own.stop_cost for own in costs_at] == [5, 5, 5, 5, 5]
    assert [own.share for own in costs_at] == [1, 0, 0, 0, 0]


def test_an_empty_leaf_takes_the_shares_above_it():
    content = small()
    content["nodes"][4]["weights"] = [0, 0]
    content["nodes"][2]["weights"] = [2, 6]
    own = node_costs(tree(content))[4]
    assert (own.share, own.expected_cost, own.stop_cost, own.stop_answer) == (0, 30, 2.5, "yes")


@pytest.mark.parametrize(
    ("shares", "least", "answer"),
    [([0.5, 0.5], True, 0), ([0.5, 0.5], False, 0), ([0.4, 0.6], True, 1), ([0.4, 0.6 + 1e-13], False, 1)],
)
def test_ties_go_to_the_first_answer(shares, least, answer):
    assert best_answer(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array(shares), least) == answer

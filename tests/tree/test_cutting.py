"""Cutting off what does not pay by the figures that a tree shows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from handmade import small, tree
from problems import compare
from wildtrees import random_content
from worthwhile.tree.cutting import where_it_does_not_pay
from worthwhile.tree.node_costs import node_costs
from worthwhile.tree.tree import Tree


def cut(known):
    return Tree(known.nodes.cut_at(where_it_does_not_pay(known)), known.context, known.answer)


def random_tree(rng):
    """Random prices, groups and delays, and weights that are the sums of the leaves'."""
    content = random_content(rng) | {"answer": "least-cost"}
    content["costs"] |= {"errors": [[0, 1, int(rng.integers(1, 90))], [1, 0, int(rng.integers(1, 90))]]}
    for node in content["nodes"]:
        node.pop("weights", None)
        if "children" not in node:
            node["weights"] = rng.integers(0, 5, 2).tolist()
            node["answer"] = int(np.argmax(node["weights"]))
    return tree(content)


@compare(300)
@given(st.integers(0, 2**32 - 1))
def test_nothing_is_left_that_costs_more_than_answering(seed):
    known = random_tree(np.random.default_rng(seed))
    part = cut(known)
    for node, costs in enumerate(node_costs(part)):
        if part.nodes.test[node] >= 0 and costs.expected_cost is not None:
            own = part._core_tree.shares()[node] @ part.error_costs[:, part.nodes.answer[node]]
            assert costs.expected_cost <= own + 1e-6
    before, after = node_costs(known)[0].expected_cost, node_costs(part)[0].expected_cost
    assert before is None or after <= before + 1e-6
    assert cut(part).n_nodes == part.n_nodes


def test_a_subtree_becomes_a_leaf_with_the_answer_of_its_root():
    known = tree(small(costs={"tests": {"x": 1, "y": 20}, "errors": 10}))
    part = cut(known)
    assert (part.n_nodes, part.tests_used()) == (3, ["x"])
    assert part.nodes.weights.tolist() == [[10, 10], [6, 2], [4, 8]]
    assert part.predict([[1, -1], [1, 1], [-1, 0]]).tolist() == ["yes", "yes", "no"]
    assert part.test_costs([[1, 1]]).tolist() == [1]


def test_a_tree_that_pays_stays_as_it_is():
    known = tree(small(costs={"tests": {"x": 1, "y": 2}, "errors": 100}))
    assert not where_it_does_not_pay(known).any()

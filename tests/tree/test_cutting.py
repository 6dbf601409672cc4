"""Cutting off what does not pay by the figures that a tree shows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import worthwhile as ww
from handmade import small, tree
from priced_trees import priced_tree
from problems import compare
from wildtrees import NAMES, VALUES, random_content
from worthwhile.tree.cutting import where_it_does_not_pay, where_no_result_matters
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


def without_idle_tests(known):
    return Tree(known.nodes.cut_at(where_no_result_matters(known)), known.context, known.answer)


@compare(200)
@given(st.integers(0, 2**32 - 1))
def test_without_tests_that_change_nothing_answers_stay_and_no_case_pays_more(seed):
    rng = np.random.default_rng(seed)
    known = priced_tree(rng, surcharges=False, caps=False, complete=True)
    part = without_idle_tests(known)
    cases = pd.DataFrame(
        {name: rng.choice(VALUES, 40) if name[0] == "c" else rng.integers(-3, 4, 40) for name in NAMES}
    )
    assert part.predict(cases).tolist() == known.predict(cases).tolist()
    assert (part.test_costs(cases) <= known.test_costs(cases) + 1e-9).all()
    assert not where_no_result_matters(part).any()


def test_a_free_test_stays_for_the_probabilities_it_gives():
    content = small()
    content["nodes"] = [{"test": "x", "threshold": 0, "children": [1, 2]}, {"answer": "no"}, {"answer": "no"}]
    assert where_no_result_matters(tree(content)).tolist() == [True, False, False]
    content["costs"]["tests"]["x"] = 0
    assert not where_no_result_matters(tree(content)).any()


@pytest.mark.parametrize("name", ["heart", "bupa", "pima"])
def test_learned_trees_buy_no_test_that_changes_nothing(name):
    data = ww.datasets.load(name)
    clf = ww.EG2Classifier(costs=data.costs, prune="cost", answer="least-cost", nominal=data.nominal)
    assert not where_no_result_matters(clf.fit(data.X, data.y).tree_).any()

"""A tree prices and answers by the rules of docs/design/pricing.md."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from handmade import small, tree, turney

CASE = {"alpha": 6, "delta": 3, "epsilon": 2}


def frame(*cases, columns=("alpha", "beta", "delta", "epsilon")):
    return pd.DataFrame([{name: case.get(name) for name in columns} for case in cases])


# --- Turney's worked example ----------------------------------------------------------------------------------------


def test_turneys_worked_example_costs_80_dollars():
    known = tree(turney())
    case = frame(CASE | {"beta": 1})
    assert known.predict(case).tolist() == [0]
    assert known.test_costs(case).tolist() == [5 + 7 + 10 + 8]
    assert known.total_costs(case, [1]).tolist() == [80]
    assert known.total_costs(case, [0]).tolist() == [30]


@pytest.mark.parametrize(
    ("case", "price"),
    [
        ({"alpha": 1, "beta": 7}, 15),  # immediate tests only
        ({"alpha": 6, "beta": 1, "delta": 2, "epsilon": 2}, 30),  # the other branch of delta: the order was the same
        ({"alpha": 6, "delta": 3, "epsilon": 2}, 20),  # beta is unavailable: it is not ordered
        ({"alpha": 6, "beta": 1, "delta": 3}, 5 + 7 + 10),  # epsilon is unavailable
        ({"alpha": 6, "beta": 1, "epsilon": 2}, 5 + 10 + 10),  # no delta: both branches, epsilon at its first price
        ({"beta": 1, "delta": 3, "epsilon": 2}, 10 + 7 + 8),  # no alpha: beta, and delta with its order
        ({"alpha": 6, "beta": 1, "delta": "eleven", "epsilon": 2}, 25),  # never seen: as if missing
        ({}, 0),
    ],
)
def test_missing_and_unknown_values_are_not_charged(case, price):
    assert tree(turney()).test_costs(frame(case)).tolist() == [price]


def test_a_missing_value_goes_down_all_branches_in_proportion():
    known = tree(small())
    assert known.predict_proba([[np.nan, np.nan]])[0] == pytest.approx([0.4 * 6 / 8 + 0.6 * 4 / 12, 0.1 + 0.6 * 8 / 12])
    assert known.predict_proba([[1, np.nan]])[0] == pytest.approx([4 / 12, 8 / 12])
    assert known.predict([[1, np.nan]]).tolist() == ["yes"]
    assert known.test_costs([[np.nan, 5.0], [1, np.nan], [-1, 5]]).tolist() == [2, 1, 1]


def test_branches_without_weights_count_equally_and_empty_branches_are_not_visited():
    nodes = small()["nodes"]
    bare = [{k: v for k, v in node.items() if k != "weights"} for node in nodes]
    assert tree(small(nodes=bare)).predict_proba([[np.nan, 1]])[0] == pytest.approx([1, 0])
    assert tree(small(nodes=bare)).predict_proba([[np.nan, -1]])[0] == pytest.approx([0.5, 0.5])
    empty = [dict(node) for node in nodes]
    empty[3]["weights"] = [0, 0]
    assert tree(small(nodes=empty)).predict_proba([[1, np.nan]])[0].tolist() == [1, 0]


@pytest.mark.parametrize(("answer", "expected"), [("majority", "no"), ("least-cost", "yes")])
def test_a_mixture_is_answered_by_the_policy_of_the_tree(answer, expected):
    nodes = small()["nodes"]
    nodes[3]["weights"] = [0, 3]
    assert tree(small(nodes=nodes, answer=answer)).predict([[1, np.nan]]).tolist() == [expected]


def test_computed_tests_pay_what_they_need():
    content = turney()
    tests = {"tt4": {"price": 12.41, "group": "A"}, "t4u": {"price": 9.31, "group": "A"}}
    content["columns"] = [{"name": name, "kind": "numeric"} for name in ("fti", "tt4", "t4u")]
    content["costs"] = {"tests": tests | {"fti": {"price": 0, "requires": ["tt4", "t4u"]}}, "groups": {"A": 2.1}}
    content["nodes"] = [
        {"test": "tt4", "threshold": 0, "children": [1, 2]},
        {"answer": 0},
        {"test": "fti", "threshold": 0, "children": [3, 4]},
        {"answer": 0},
        {"test": "t4u", "threshold": 0, "children": [5, 6]},
        {"answer": 0},
        {"answer": 1},
    ]
    known = tree(content)
    assert known.test_costs([[1, -1, 1], [1, 1, 1]]) == pytest.approx([12.41 + 2.1, 12.41 + 9.31 + 2.1])
    assert known.next_test({"tt4": 1}).price == pytest.approx(9.31)
    assert known.next_test({"tt4": 1, "fti": 1}).price == 0
    assert known.test_costs([[1, np.nan, np.nan]]) == pytest.approx([12.41 + 9.31 + 2.1])  # useless alone, but ordered


def test_a_paid_test_is_free_further_down():
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        {"answer": "no"},
        {"test": "x", "threshold": 5, "children": [3, 4]},
        {"answer": "yes"},
        {"answer": "no"},
    ]
    assert tree(small(nodes=nodes)).test_costs([[1, 0], [9, 0], [-1, 0]]).tolist() == [1, 1, 1]


# --- classes ---------------------------------------------------------------------------------------------------------


REJECT = {
    "sick": {"well": 100.0, "unknown": 20.0},
    "well": {"sick": 50.0, "unknown": 20.0},
    "odd": {"sick": 7.0, "well": 8.0, "unknown": 9.0},
}
REJECT["sick"]["odd"] = REJECT["well"]["odd"] = 1000.0


def test_the_reject_answer_and_a_class_that_training_did_not_have():
    X, y = [[0.0]] * 6 + [[1.0]] * 6, ["well", "sick"] * 3 + ["sick"] * 6
    clf = ww.C45Classifier(costs=ww.Costs(errors=REJECT), answer="least-cost", prune="none", cross_fit=False)
    clf.fit(X, y)
    assert clf.classes_.tolist() == ["sick", "well"]
    assert clf.tree_.answers == ("sick", "well", "unknown")
    assert clf.predict([[0.0], [1.0]]).tolist() == ["unknown", "sick"]
    assert clf.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
    assert clf.total_costs([[0.0], [1.0], [1.0]], ["well", "well", "odd"]).tolist() == [20, 50, 7]
    majority = clf.set_params(answer="majority").fit(X, y)
    assert majority.predict([[0.0]]).tolist() == ["sick"]
    assert majority.total_costs([[0.0]], ["odd"]).tolist() == [7]


def test_negative_costs_are_benefits():
    errors = {0: {0: -5.0, 1: 10.0}, 1: {0: 10.0, 1: -100.0}}
    X, y = [[0.0]] * 10 + [[1.0]] * 10, [0] * 10 + [1] * 5 + [0] * 5
    for learner in (ww.C45Classifier, ww.DTMCClassifier):
        clf = learner(costs=ww.Costs(errors=errors, tests={"x0": 1.0}), answer="least-cost", prune="cost").fit(X, y)
        assert clf.predict([[0.0], [1.0]]).tolist() == [0, 1]
        assert clf.total_costs([[0.0], [1.0]], [0, 1]).tolist() == [-4, -99]


def test_labels_of_several_kinds_keep_their_kind():
    costs = {"errors": [[0, 1, 1.0], [1, 0, 1.0], [0, "unknown", 0.1], [1, "unknown", 0.1]]}
    nodes = [{"test": "x", "threshold": 0, "children": [1, 2]}, {"answer": 1}, {"answer": "unknown"}]
    assert tree(small(classes=[0, 1], costs=costs, nodes=nodes)).predict([[-1, 0], [1, 0]]).tolist() == [1, "unknown"]
    truths = tree(small(classes=[False, True], costs={}, nodes=[{"answer": True}]))
    assert truths.predict([[0, 0]]).tolist() == [True]
    assert truths.total_costs([[0, 0]], [False]).tolist() == [1]


# --- shape, columns, immutability ------------------------------------------------------------------------------------


def test_shape():
    known = tree(turney())
    assert (known.n_nodes, known.n_leaves, known.depth) == (11, 6, 3)
    assert known.tests_used() == ["alpha", "beta", "delta", "epsilon"]
    assert repr(known) == "Tree(11 nodes, 6 leaves, depth 3, tests alpha, beta, delta, epsilon)"
    assert "tests none" in repr(tree(small(nodes=[{"answer": "no"}])))


def test_a_tree_is_immutable():
    known = tree(small())
    with pytest.raises(AttributeError, match="a Tree is immutable: cannot set 'costs'"):
        known.costs = None
    for there in (known, pickle.loads(pickle.dumps(known)), copy.deepcopy(known)):
        with pytest.raises(ValueError, match="read-only"):
            there.error_costs[0] = 0
        assert there.total_costs([[1, -1]], ["no"]).tolist() == [13]
        assert there.to_json() == known.to_json()

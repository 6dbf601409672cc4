"""Trees as sentences."""

import pytest

import worthwhile as ww
from handmade import small, tree, turney
from report_trees import surcharged


def test_the_sentences_of_a_tree():
    assert tree(small()).rules() == [
        "If x is at most 0: answer no (40 % of cases, tests cost 1.00, expected error cost 10.00).",
        "If x is above 0 and y is at most 0: answer yes (40 % of cases, tests cost 3.00, expected error cost 0.00).",
        "If x is above 0 and y is above 0: answer no (20 % of cases, tests cost 3.00, expected error cost 0.00).",
    ]


def test_a_tree_without_weights_and_an_order():
    rules = tree(turney()).rules()
    assert len(rules) == 6
    assert rules[0] == "If alpha is at most 2 and beta is at most 6: answer 1 (tests cost 15.00)."
    assert rules[4] == (
        "If alpha is above 2, delta is 0, 1, 3, 4, 5, 6, 7, 8 or 9 and epsilon is at most 3: answer 0"
        " (tests cost 30.00)."
    )


def test_a_leaf_alone_and_an_empty_one():
    assert tree(small(nodes=[{"answer": "no", "weights": [3, 1]}])).rules() == [
        "Always answer no (100 % of cases, tests cost 0.00, expected error cost 10.00)."
    ]
    content = small()
    content["nodes"][4]["weights"] = [0, 0]
    assert "answer no (no training cases, tests cost 3.00, expected error cost 40.00)." in tree(content).rules()[2]


def test_conditions_on_one_test_are_put_together():
    columns = [
        {"name": "x", "kind": "numeric"},
        {"name": "c", "kind": "nominal", "values": ["a", "b", "d"]},
    ]
    nodes = [
        {"test": "x", "threshold": 8, "children": [1, 2]},
        {"test": "c", "branches": [["a", "b"], ["d"]], "children": [3, 4]},
        {"test": "x", "threshold": 2, "children": [5, 6]},
        {"test": "c", "branches": [["b", "d"], ["a"]], "children": [7, 8]},
        {"test": "x", "threshold": 1.5, "children": [9, 10]},
        *({"answer": "no"} for _ in range(4)),
        *({"answer": "yes"} for _ in range(2)),
    ]
    found = [rule.split(":")[0] for rule in tree(small(columns=columns, costs={}, nodes=nodes)).rules()]
    assert found == [
        "If x is at most 8 and c is b",
        "If x is at most 8 and c is a",
        "If x is at most 1.5 and c is d",
        "If x is above 1.5 but at most 8 and c is d",
        "If x has no possible value",
        "If x is above 8",
    ]


def test_a_branch_without_values():
    columns = [{"name": "x", "kind": "nominal", "values": ["a", "b"]}]
    node = {"test": "x", "branches": [["a"], []], "children": [1, 2]}
    known = tree(small(columns=columns, costs={}, nodes=[node, {"answer": "no"}, {"answer": "yes"}]))
    assert known.rules()[1] == "If x has no known value: answer yes (tests cost 0.00)."


def test_the_sentences_of_a_learner_cover_all_cases():
    heart = ww.datasets.load("heart")
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names}
    clf = ww.EG2Classifier(prune="cost", cross_fit=False, **known).fit(heart.X, heart.y)
    assert clf.rules() == clf.tree_.rules()
    assert len(clf.rules()) == clf.tree_.n_leaves
    assert (
        "If cp is notang and sex is fem: answer buff (12 % of cases, tests cost 2.00, expected error cost 14.29)."
        in clf.rules()
    )
    assert pytest.approx(100, abs=5) == sum(float(rule.split("(")[1].split(" %")[0]) for rule in clf.rules())


def test_a_rule_says_how_long_a_case_waits():
    sentences = tree(surcharged()).rules()
    assert (
        "lab is at most 5: answer well (30 % of cases, tests cost 138.35, wait 24, expected error cost" in sentences[0]
    )
    assert "tests cost 124.63, wait 26, expected error cost" in sentences[3]

"""Trees as text and in Graphviz's language."""

import re

import pytest

import worthwhile as ww
from handmade import small, tree, turney


def test_turneys_tree_as_text():
    assert tree(turney()).to_text().splitlines() == [
        "alpha? (5.00)",
        "├─ ≤ 2: beta? (10.00)",
        "│  ├─ ≤ 6: 1",
        "│  └─ > 6: 0",
        "└─ > 2: delta? (25.00, orders beta, epsilon too)",
        "   ├─ 2: beta? (paid)",
        "   │  ├─ ≤ 4: 1",
        "   │  └─ > 4: 0",
        "   └─ 0 or 1 or 3 or 4 or 5 or 6 or 7 or 8 or 9: epsilon? (paid)",
        "      ├─ ≤ 3: 0",
        "      └─ > 3: 1",
    ]


def test_leaves_say_what_they_were_learned_from():
    content = small()
    content["nodes"][1]["weights"] = [6, 2.25]
    content["nodes"][4]["weights"] = [0, 0]
    text = tree(content).to_text()
    assert "≤ 0: no (8.2 of 16.2 cases, 73% right)" in text
    assert "≤ 0: yes (8 of 16.2 cases, 100% right)" in text
    assert "> 0: no (no training case)" in text


def test_a_reject_leaf_is_neither_right_nor_wrong():
    costs = {"errors": [["no", "yes", 1], ["yes", "no", 1], ["no", "unknown", 0.2], ["yes", "unknown", 0.2]]}
    assert (
        tree(small(costs=costs, nodes=[{"answer": "unknown", "weights": [1, 1]}])).to_text() == "unknown (2 of 2 cases)"
    )


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        (38, "38"),
        (1234567, "1234567"),
        (123456.75, "123456.75"),
        (0.1, "0.1"),
        (1 / 3, "0.33333333"),
        (-2.5e20, "-2.5e+20"),
        (1e-7, "1e-07"),
    ],
)
def test_thresholds_as_people_write_them(threshold, text):
    nodes = [{"test": "x", "threshold": threshold, "children": [1, 2]}, {"answer": "no"}, {"answer": "yes"}]
    assert f"├─ ≤ {text}: no" in tree(small(nodes=nodes)).to_text()


def test_a_branch_without_values():
    columns = [{"name": "x", "kind": "nominal", "values": ["a", "b"]}]
    node = {"test": "x", "branches": [["a"], []], "children": [1, 2]}
    text = tree(small(columns=columns, costs={}, nodes=[node, {"answer": "no"}, {"answer": "yes"}])).to_text()
    assert text.splitlines()[1:] == ["├─ a: no", "└─ no known value: yes"]


def test_graphviz():
    lines = tree(turney()).to_dot().splitlines()
    assert lines[0] == "digraph tree {"
    assert lines[-1] == "}"
    assert '  0 [label="alpha? (5.00)"];' in lines
    assert '  0 -> 2 [label="> 2"];' in lines
    assert sum("->" in line for line in lines) == 10
    assert sum(bool(re.match(r"  \d+ \[label", line)) for line in lines) == 11


def test_graphviz_with_nasty_names():
    X = [[0.0], [1.0]] * 4
    clf = ww.C45Classifier(columns=['a "b"\\ \n c']).fit(X, ['<"x">', "y\\"] * 4)
    dot = clf.tree_.to_dot()
    assert r'label="a \"b\"\\ \n c? (0.00)"' in dot
    assert r'label="<\"x\"> (4 of 8 cases, 100% right)"' in dot
    assert len(dot.splitlines()) == 4 + 3 + 2

"""Trees as text and in Graphviz's language."""

import re

import worthwhile as ww
from handmade import small, tree, turney
from report_trees import surcharged
from worthwhile.tree.dialogue import Dialogue
from worthwhile.tree.text import text_notes


def test_turneys_tree_as_text():
    assert tree(turney()).to_text().splitlines() == [
        "alpha? (5.00)",
        "├─ ≤ 2: beta? (10.00)",
        "│  ├─ ≤ 6: 1",
        "│  └─ > 6: 0",
        "└─ > 2: delta? (25.00, group A, delayed: also orders beta, epsilon)",
        "   ├─ 2: beta? (ordered above)",
        "   │  ├─ ≤ 4: 1",
        "   │  └─ > 4: 0",
        "   └─ 0 or 1 or 3 or 4 or 5 or 6 or 7 or 8 or 9: epsilon? (ordered above)",
        "      ├─ ≤ 3: 0",
        "      └─ > 3: 1",
    ]


def test_leaves_show_their_training_cases():
    content = small()
    content["nodes"][1]["weights"] = [6, 2.25]
    content["nodes"][4]["weights"] = [0, 0]
    text = tree(content).to_text()
    assert text.splitlines()[0] == "x? (1.00; 100 % of cases, expected cost 7.52)"
    assert "≤ 0: no (8.2 of 16.2 cases, 73% correct, errors cost 10.91)" in text
    assert "> 0: y? (2.00; 49 % of cases, expected cost 2.00)" in text
    assert "≤ 0: yes (8 of 16.2 cases, 100% correct, errors cost 0.00)" in text
    assert "> 0: no (no training cases)" in text


def shrunk():
    """Return a tree with a leaf of 5 and 1 cases where 3 of 5 new cases are expected to be as the 5."""
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2], "weights": [5, 5], "probabilities": [0.5, 0.5]},
        {"answer": "no", "weights": [5, 1], "probabilities": [0.6, 0.4]},
        {"answer": "yes", "weights": [0, 4], "probabilities": [0.1, 0.9]},
    ]
    return small(nodes=nodes, costs={"tests": {"x": {"price": 1}}, "errors": [["no", "yes", 500], ["yes", "no", 500]]})


def test_counts_and_what_is_expected_of_new_cases_are_told_apart():
    text = tree(shrunk()).to_text()
    assert "≤ 0: no (6 of 10 cases, 83% correct; new cases: 60% correct, errors cost 200.00)" in text  # 0.4 · 500
    sure = shrunk()
    sure["nodes"][2]["probabilities"] = [0.001, 0.999]
    assert (
        "> 0: yes (4 of 10 cases, 100% correct; new cases: over 99% correct, errors cost 0.50)" in tree(sure).to_text()
    )
    counted = tree(shrunk()).to_text(expected_costs=False)
    assert "≤ 0: no (6 of 10 cases, 83% correct)" in counted
    case = tree(shrunk()).explain({"x": -1})
    assert "answer no (expected: no 60%, yes 40%; training cases here: no 5, yes 1)" in str(case)
    assert "answering no is expected to cost 200.00 in errors" in str(case)
    done = tree(shrunk()).run({}, fetch={"x": lambda: -1})
    assert "answer no (expected: no 60%, yes 40%; training cases here: no 5, yes 1), 1.00 spent" in str(done)
    lines = Dialogue(tree(shrunk()), {"x": -1}).advice_lines()
    assert lines[0] == "Answer: no (expected: no 60%, yes 40%; training cases here: no 5, yes 1), 1.00 spent."


def test_a_reject_leaf_is_neither_correct_nor_wrong():
    costs = {"errors": [["no", "yes", 1], ["yes", "no", 1], ["no", "unknown", 0.2], ["yes", "unknown", 0.2]]}
    text = tree(small(costs=costs, nodes=[{"answer": "unknown", "weights": [1, 1]}])).to_text()
    assert text == "unknown (2 of 2 cases, errors cost 0.20)"


def test_groups_that_are_paid_and_tests_that_occur_again():
    content = small(costs={"tests": {n: {"price": 3, "group": "blood"} for n in "xy"}, "groups": {"blood": 2}})
    content["nodes"][1] = {"test": "x", "threshold": -5, "children": [5, 6]}
    content["nodes"] += [{"answer": "no", "weights": [1, 2]}, {"answer": "yes", "weights": [3, 4]}]
    lines = tree(content).to_text().splitlines()
    assert lines[0].startswith("x? (5.00, group blood; 100 % of cases")
    assert lines[1].startswith("├─ ≤ 0: x? (paid; 45 % of cases")
    assert lines[4].startswith("└─ > 0: y? (3.00, group blood already paid; 55 % of cases")


def test_a_delayed_test_that_orders_nothing_else():
    costs = {"tests": {"y": {"price": 2, "delayed": True}}}
    assert "> 0: y? (2.00, delayed; 60 % of cases" in tree(small(costs=costs)).to_text()


def test_a_test_that_was_done_is_paid_and_one_that_was_ordered_with_it_is_ordered():
    content = turney()
    content["nodes"][9] = {"test": "delta", "branches": [["3"], ["4"]], "children": [11, 12]}
    content["nodes"] += [{"answer": 0}, {"answer": 1}]
    text = tree(content).to_text()
    assert "├─ ≤ 3: delta? (paid)" in text
    assert "epsilon? (ordered above)" in text


def test_graphviz():
    lines = tree(turney()).to_dot().splitlines()
    assert lines[0] == "digraph tree {"
    assert lines[-1] == "}"
    assert '  0 [label="alpha\\nprice 5.00"];' in lines
    assert '  2 [label="delta\\nprice 25.00\\ngroup A\\ndelayed, +2 tests"];' in lines
    assert '  3 [label="1", fillcolor="#f5c98a"];' in lines
    assert '  4 [label="0", fillcolor="#a6d5f0"];' in lines
    frame = next(line for line in lines if "subgraph" in line)
    assert 'style="dashed"; label="ordered at once with delta"; 2; 5; 6; 7; 8; 9; 10; }' in frame
    assert '  0 -> 2 [label="> 2"];' in lines
    assert sum("->" in line for line in lines) == 10
    assert sum(bool(re.match(r"  \d+ \[label", line)) for line in lines) == 11


def test_graphviz_with_special_characters_in_names():
    X = [[0.0], [1.0]] * 4
    clf = ww.C45Classifier(columns=['a "b"\\ \n c'], cross_fit=False).fit(X, ['<"x">', "y\\"] * 4)
    dot = clf.tree_.to_dot()
    assert r'label="a \"b\"\\ \n c\nprice 0.00\n100 % of cases\nexpected 0.00"' in dot
    assert r'label="<\"x\">\n50 % of cases\nerrors 0.00"' in dot
    assert len(dot.splitlines()) == 4 + 3 + 2


def test_groups_waits_surcharges_and_orders():
    lines = tree(surcharged()).to_text(expected_costs=False).splitlines()
    assert lines[1] == (
        "├─ no: lab? (130.35, group blood, group panel already paid, wait 24, "
        "includes age < 1: 20.00, lab >= 5: 3.00 and dye reaction and class sick: 56.25 of 300.00, "
        "orders all that may follow: dye; 46 % of cases)"
    )
    assert lines[6] == "└─ yes: ecg? (43.53, wait 2, includes class sick: 27.03 of 50.00; 54 % of cases)"
    assert lines[10].startswith(
        "   └─ > 0.5: dye? (216.10, group blood, includes reaction and class sick: 200.00 of 300.00 and "
        "screen = yes or maybe, after ecg: 4.00;"
    )


def test_the_box_of_a_node_shows_them_too():
    dot = tree(surcharged()).to_dot()
    assert (
        r'"lab\nprice 130.35\ngroup blood\ngroup panel, paid\nwait 24\nincl. 20.00: age < 1\nincl. 3.00: lab >= 5'
        r"\nincl. 56.25: dye reaction and class sick\norders 1 more test\n46 % of cases"
    ) in dot
    assert 'label="ordered at once with lab"; 1; 3; 4; 7; 8;' in dot


def idle():
    """Return a tree whose lower test changes no answer."""
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2], "weights": [5, 5]},
        {"test": "y", "threshold": 0, "children": [3, 4], "weights": [5, 1]},
        {"answer": "yes", "weights": [0, 4]},
        {"answer": "no", "weights": [4.5, 0]},
        {"test": "x", "threshold": -1, "children": [5, 6], "weights": [0.5, 1]},
        {"answer": "no", "weights": [0.47, 1]},
        {"answer": "no", "weights": [0.03, 0]},
    ]
    return tree(small(nodes=nodes))


def test_a_test_that_changes_no_answer_is_marked_once_and_explained():
    lines = idle().to_text().splitlines()
    assert [line for line in lines if "always answers" in line] == [lines[1]]
    assert lines[1].startswith("├─ ≤ 0: y? (2.00; ")
    assert lines[1].endswith("; always answers no)")
    assert "always" not in idle().to_text(expected_costs=False)  # of a forest, whose trees vote
    assert text_notes(idle()) == [
        "Where it says “always answers”, all branches below give the same answer.",
        "Counts such as 4.5 include parts of cases: one without a result is in several branches.",
    ]
    assert text_notes(tree(turney())) == []
    assert "(0.03 of 10 cases," in idle().to_text()

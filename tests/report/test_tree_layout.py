"""Where the boxes of a tree are and what they say."""

import itertools
import re

import numpy as np
import pytest

import worthwhile as ww
from handmade import small, tree, turney
from report_trees import CASES, CASES_OF_SURCHARGED, grouped, surcharged, together, undecided
from worthwhile.report.tree_layout import HEIGHT, layout_tree, shortened


@pytest.mark.parametrize("content", [small, turney, grouped, undecided, together])
def test_boxes_do_not_overlap_and_parents_are_level_with_their_children(content):
    known = tree(content())
    layout = layout_tree(known)
    assert sorted(box.node for box in layout.boxes) == list(range(known.n_nodes))
    for _, column in itertools.groupby(sorted(layout.boxes, key=lambda box: (box.x, box.y)), key=lambda box: box.x):
        tops = [box.y for box in column]
        assert all(below - above >= HEIGHT for above, below in itertools.pairwise(tops))
    for box in layout.boxes:
        assert 0 <= box.x <= layout.width - layout.box_width
        assert 0 <= box.y <= layout.height - HEIGHT
        if children := [child.y for child in layout.boxes if child.parent is box]:
            assert box.y == pytest.approx((children[0] + children[-1]) / 2)
            assert len(children) == len(known.nodes.children(box.node))


def test_a_tree_on_the_page(write, heart):
    page = write(heart.clf, *heart.held_out)
    assert page.text.count('role="treeitem"') == heart.clf.tree_.n_nodes
    assert page.text.count("<g data-edge=") == heart.clf.tree_.n_nodes - 1
    words = write(tree(small()), *CASES).words["tree"]
    assert words.count("error cost") >= 3
    for part in ("x", "price 1.00", "100 % · expected", "≤ 0", "answer yes"):
        assert part in words


def test_delayed_tests_and_groups_are_marked(write):
    page = write(tree(turney()), np.tile([[6.0, 5, 2, 1], [1, 7, 3, 2]], (6, 1)), [0, 1] * 6)
    assert "price 25.00 (+2 tests)" in page.text
    assert "delayed result; group A" in page.text
    assert "costs 25.00 here, including beta, epsilon" in page.text
    assert "delayed result: all tests below are ordered together with it" in page.words["tree"]


def test_large_amounts_are_squeezed_into_their_boxes(write):
    costs = {"tests": {"x": 1234567890123, "y": 2}, "errors": 10}
    page = write(tree(small(costs=costs)), *CASES)
    assert re.search(r"textLength=[^>]*>100 % · expected 1234567890", page.text)
    assert "textLength" not in write(tree(small()), *CASES).text


def test_a_tree_of_one_leaf(write):
    page = write(tree(small(nodes=[{"answer": "no", "weights": [3, 1]}])), *CASES)
    assert "no test is worth its price" in page.words["tree"]
    assert "No case pays for any test." in page.words["spending"]


def test_long_names_are_cut():
    assert shortened("blood pressure", 14) == "blood pressure"
    assert shortened("blood pressure", 7) == "blood…"


def test_waits_surcharges_and_chosen_orders_are_marked(write):
    known = tree(surcharged())
    box = layout_tree(known).boxes[1]
    assert box.lines[1] == "130.35 (+1) · wait 24"
    assert box.description.startswith(
        "test lab: costs 130.35 here, including dye, age < 1: 20.00, lab >= 5: 3.00, dye reaction and class sick: "
        "56.25 of 300.00; wait 24; orders all that may follow; group blood; group panel already paid;"
    )
    assert layout_tree(known).boxes[6].lines[1] == "price 43.53 · wait 2"
    words = write(known, *CASES_OF_SURCHARGED).words["tree"]
    assert "all tests below are ordered together with it: waiting for one result after another would cost more" in words
    assert "delayed result" not in words


def test_a_leaf_shows_counts_beside_expected_errors():
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2], "weights": [5000, 5000], "probabilities": [0.5, 0.5]},
        {"answer": "no", "weights": [5, 1], "probabilities": [0.6, 0.4]},
        {"answer": "yes", "weights": [4995, 4999], "probabilities": [0.1, 0.9]},
    ]
    errors = [["no", "yes", 500], ["yes", "no", 500]]
    boxes = layout_tree(tree(small(nodes=nodes, costs={"errors": errors}))).boxes
    assert boxes[1].lines == ["no", "expected cost 200.00", "0.06 % · 5 of 6 correct"]
    assert boxes[2].lines[2] == "4999 of 9994 correct"  # with the share it would not fit
    assert boxes[1].description.endswith(
        "expected error cost 200.00; 0.06 % of training cases reach this node, 5 of 6 correct"
    )


def test_long_branches_and_names_get_room_where_the_tree_fits_on_a_page():
    rng = np.random.default_rng(0)
    places = np.array(["the old hospital by the river", "a place with a very long name", "home"])
    X = np.array([places[rng.integers(0, 3, 300)], rng.random(300)], dtype=object).T
    y = (X[:, 1].astype(float) < np.where(X[:, 0] == "home", 0.3, 0.8)).astype(int)
    known = ww.C45Classifier(columns=["where the patient was seen first", "score"], nominal=[0], prune="none")
    small_tree = known.set_params(max_depth=2).fit(X, y).tree_
    layout = layout_tree(small_tree)
    assert layout.width <= 1090
    assert layout.branch_length == 24
    assert layout.box_width > 174
    assert layout.line_length > 25
    assert any(box.lines[0].startswith("where the patient was se") for box in layout.boxes)
    deep = layout_tree(ww.C45Classifier(prune="none", min_cases=1).fit(rng.random((300, 2)), y).tree_)
    assert (deep.box_width, deep.branch_length, deep.line_length) == (174, 10, 25)

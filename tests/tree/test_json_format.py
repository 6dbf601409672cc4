"""The JSON of trees: what is written is read back, and what is wrong is refused by name."""

# ruff: noqa: E501 - one broken tree per line is easier to read

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings

import worthwhile as ww
from counting import CountedName, counted
from handmade import small, tree, turney
from mutation import check_usable, mutated
from worthwhile.tree.json_format import NEEDS, _parse_columns, _unique_fields


def test_hand_written_trees_come_back():
    for content in (turney(), small(), small(nodes=[{"answer": "no"}])):
        once = tree(content)
        again = ww.Tree.from_json(once.to_json())
        assert again.to_json() == once.to_json()
        assert ww.Tree.from_json(once.to_json(indent=None)).to_json() == once.to_json()


def test_what_may_be_left_out():
    known = tree(small(nodes=small()["nodes"]))
    assert known.nodes.weights[0].tolist() == [10, 10]  # the sum of the leaves
    assert known.nodes.answer.tolist() == [0, 0, 1, 1, 0]  # the heaviest class; ties go to the first
    bare = small(nodes=[{"test": "x", "threshold": 0, "children": [1, 2]}, {"answer": "yes"}, {"answer": "no"}])
    assert tree(bare).nodes.answer.tolist() == [1, 1, 0]
    bare.pop("costs")
    assert tree(bare).costs == ww.Costs()


def test_nodes_may_be_listed_in_any_order():
    content = small()
    n = content["nodes"]
    order = [0, 4, 3, 2, 1]  # new position -> old position
    place = {old: new for new, old in enumerate(order)}
    moved = [
        n[old] | ({"children": [place[c] for c in n[old]["children"]]} if "children" in n[old] else {}) for old in order
    ]
    assert tree(small(nodes=moved)).to_json() == tree(content).to_json()


# --- what is wrong is refused ----------------------------------------------------------------------------------------


def nodes(**changes):
    """The nodes of the small tree with some replaced: n2={...}."""
    found = small()["nodes"]
    for name, change in changes.items():
        found[int(name[1:])] = {k: v for k, v in (found[int(name[1:])] | change).items() if v is not ...}
    return found


def nominal(**node):
    columns = [{"name": "x", "kind": "nominal", "values": ["a", "b"]}]
    leaf = {"answer": "no"}
    return small(
        columns=columns,
        costs={},
        nodes=[{"test": "x", "branches": [["a"], ["b"]], "children": [1, 2]} | node, leaf, leaf],
    )


BROKEN = {
    "cycle": (small(nodes=nodes(n2={"children": [0, 4]})), "node 0 is reached twice (again from node 2)"),
    "own child": (small(nodes=nodes(n0={"children": [0, 2]})), "node 0 is reached twice"),
    "shared child": (small(nodes=nodes(n2={"children": [1, 4]})), "node 1 is reached twice"),
    "unreachable": (small(nodes=[*nodes(), {"answer": "no"}]), "node 5 cannot be reached from node 0"),
    "child out of range": (small(nodes=nodes(n2={"children": [3, 9]})), "node 2 has the child 9; children are nodes 0 to 4"),
    "negative child": (small(nodes=nodes(n2={"children": [3, -1]})), "node 2 has the child -1"),
    "child is true": (small(nodes=nodes(n2={"children": [3, True]})), "node 2 has the child True"),
    "child is a string": (small(nodes=nodes(n2={"children": [3, "4"]})), "node 2 has the child '4'"),
    "unknown test": (small(nodes=nodes(n2={"test": "z"})), "node 2 has the unknown test 'z'; the columns are x, y"),
    "three children": (small(nodes=nodes(n2={"children": [3, 4, 1]})), "node 2 has 3 children, but the test 'y' has 2 branches"),
    "no children": (small(nodes=nodes(n2={"children": []})), "node 2 has 0 children"),
    "children missing": (small(nodes=nodes(n2={"children": ...})), "node 2 lacks 'children'"),
    "threshold missing": (small(nodes=nodes(n2={"threshold": ...})), "node 2 lacks 'threshold'"),
    "threshold nan": (small(nodes=nodes(n2={"threshold": float("nan")})), "'threshold' of node 2 must be finite"),
    "threshold infinite": (small(nodes=nodes(n2={"threshold": float("inf")})), "'threshold' of node 2 must be finite"),
    "threshold too large": (small(nodes=nodes(n2={"threshold": 10**400})), "'threshold' of node 2 must be finite"),
    "threshold a string": (small(nodes=nodes(n2={"threshold": "1"})), "'threshold' of node 2 must be a number, got '1'"),
    "threshold true": (small(nodes=nodes(n2={"threshold": True})), "'threshold' of node 2 must be a number, got True"),
    "threshold of a nominal test": (nominal(threshold=1), "node 0 has the unknown field 'threshold'"),
    "branches of a numeric test": (small(nodes=nodes(n2={"branches": []})), "node 2 has the unknown field 'branches'"),
    "two branches for a value": (nominal(branches=[["a"], ["a", "b"]]), "node 0 has two branches for 'a'"),
    "branch for no value": (nominal(branches=[["a"], ["c"]]), "node 0 has a branch for 'c', which is not a value of 'x'; its values are a, b"),
    "branch for a number": (nominal(branches=[["a"], [1]]), "node 0 has a branch for 1"),
    "branch is a string": (nominal(branches=[["a"], "b"]), "branch 1 of node 0 must be a list of values, got 'b'"),
    "one branch too few": (nominal(branches=[["a", "b"]]), "node 0 has 2 children, but the test 'x' has 1 branches"),
    "no branches": (nominal(branches=[], children=[]), "node 0 has 0 children"),
    "unknown answer": (small(nodes=nodes(n1={"answer": "perhaps"})), "node 1 answers 'perhaps'; the answers are no, yes"),
    "leaf without answer": (small(nodes=nodes(n1={"answer": ..., "weights": ...})), "node 1 is a leaf without an answer"),
    "answer a list": (small(nodes=nodes(n1={"answer": []})), "'answer' of node 1 must be a string or a number, got []"),
    "negative weights": (small(nodes=nodes(n1={"weights": [1, -1]})), "'weights' of node 1 has -1"),
    "infinite weights": (small(nodes=nodes(n1={"weights": [1, float("inf")]})), "'weights' of node 1 has inf"),
    "weights that overflow": (small(nodes=nodes(n1={"weights": [1, 1e308]})), "from 0 to 1e+200"),
    "enormous weights": (small(nodes=nodes(n1={"weights": [1, 10**400]})), "'weights' of node 1 has 1000"),
    "weight a string": (small(nodes=nodes(n1={"weights": [1, "2"]})), "'weights' of node 1 has '2'"),
    "weights too short": (small(nodes=nodes(n1={"weights": [1]})), "'weights' of node 1 has 1 entries, but there are 2 classes"),
    "unknown field of a node": (small(nodes=nodes(n1={"colour": "red"})), "node 1 has the unknown field 'colour'"),
    "node is a list": (small(nodes=[[]]), "node 0 must be an object, got []"),
    "no nodes": (small(nodes=[]), "the tree has no nodes"),
    "nodes an object": (small(nodes={}), "'nodes' of the tree must be a list, got {}"),
    "nodes missing": ({k: v for k, v in small().items() if k != "nodes"}, "the tree lacks 'nodes'"),
    "unknown field": (small(colour="red"), "the tree has the unknown field 'colour'"),
    "wrong format": (small(format="other"), "'format' must be 'worthwhile-tree', got 'other'"),
    "version from the future": (small(version=2), "version 2 of the tree format is unknown; this release reads version 1"),
    "version a string": (small(version="1"), "'version' of the tree must be a whole number, got '1'"),
    "version true": (small(version=True), "'version' of the tree must be a whole number"),
    "class twice": (small(classes=["no", "no"]), "the tree lists a class twice"),
    "class twice as string": (small(classes=["1", 1]), "the tree lists a class twice"),
    "class null": (small(classes=["no", None]), "the class None must be a string, a number or a boolean"),
    "class nan": (small(classes=["no", float("nan")]), "the class nan must be a string, a number or a boolean"),
    "no classes": (small(classes=[]), "the tree has no classes"),
    "class without error costs": (small(classes=["no", "yes", "perhaps"]), "errors has no row for class 'perhaps'"),
    "answer policy": (small(answer="best"), "'answer' of the tree must be 'majority' or 'least-cost', got 'best'"),
    "no columns": (small(columns=[]), "the tree has no columns"),
    "column twice": (small(columns=small()["columns"] * 2), "the tree has two columns named 'x'"),
    "column kind": (small(columns=[{"name": "x", "kind": "date"}]), "'kind' of column 'x' must be 'numeric' or 'nominal', got 'date'"),
    "column values": (small(columns=[{"name": "x", "kind": "nominal", "values": [1]}]), "the values of column 'x' must be strings"),
    "column value twice": (small(columns=[{"name": "x", "kind": "nominal", "values": ["a", "a"]}]), "column 'x' lists a value twice"),
    "column without name": (small(columns=[{"kind": "numeric"}]), "column 0 lacks 'name'"),
    "numeric column with values": (small(columns=[{"name": "x", "kind": "numeric", "values": []}]), "column 0 has the unknown field"),
    "price of no column": (small(costs={"tests": {"z": 1}}), "the costs contain tests that are not columns: 'z'"),
    "negative price": (small(costs={"tests": {"x": -1}}), "price of test 'x' must be at least 0"),
    "costs a list": (small(costs=[]), "'costs' of the tree must be an object, got []"),
    "unknown field of costs": (small(costs={"prices": {}}), "costs has the unknown field 'prices'"),
    "tests a list": (small(costs={"tests": []}), "'tests' of costs must be an object, got []"),
    "errors true": (small(costs={"errors": True}), "errors must be a number, not True"),
    "error row": (small(costs={"errors": [["no", "yes"]]}), "a row of the error costs must be [truth, answer, cost], got ['no', 'yes']"),
    "error row twice": (small(costs={"errors": [["no", "yes", 1]] * 2}), "list the true class 'no' with the answer 'yes' twice"),
    "list instead of object": ([small()], "the tree must be an object, got"),
    "null": (None, "the tree must be an object, got None"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_trees_are_refused_by_name(name):
    content, message = BROKEN[name]
    with pytest.raises(ValueError, match=re.escape(message)):
        tree(content)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON: Expecting property name"),
        ("", "is not JSON"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        (
            '{"format": "worthwhile-tree", "format": "worthwhile-tree"}',
            "the field 'format' appears twice in one object",
        ),
        ("1" * 5000, "a whole number in it has thousands of digits"),
    ],
)
def test_strings_that_are_not_trees(text, message):
    with pytest.raises(ValueError, match=message):
        ww.Tree.from_json(text)


def test_too_deep_a_chain_is_refused():
    n = 5000
    chain = [{"test": "x", "threshold": i, "children": [2 * i + 1, 2 * i + 2]} for i in range(n)]
    content = [chain[0]]
    for node in [*chain[1:], {"answer": "yes"}]:
        content += [{"answer": "no"}, node]
    with pytest.raises(ValueError, match=r"node \d+ is more than 4096 tests deep"):
        tree(small(nodes=content))


# --- any file loads, or is refused by a ValueError ---------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(mutated([turney(), small(), nominal()]))
def test_mutated_trees_load_or_are_refused(content):
    try:
        known = tree(content)
    except ValueError:
        return
    check_usable(known)


def test_duplicate_fields_are_found_in_one_pass():
    pairs = [(name, 1) for name in counted(500)]
    with pytest.raises(ValueError, match="the field 'c3' appears twice"):
        _unique_fields([*pairs, (counted(4)[3], 2)])
    assert CountedName.count < 5 * 500


def test_columns_are_parsed_in_one_pass():
    names = counted(500)
    assert _parse_columns([{"name": name, "kind": "numeric"} for name in names]).names == tuple(names)
    assert CountedName.count < 5 * 500


# --- features that older releases do not know --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tests", "more", "needs"),
    [
        ({"x": 1, "y": {"price": 2, "group": "g"}}, {"groups": {"g": 1}}, []),
        ({"x": 1, "y": {"price": 2, "group": ["g", "h"]}}, {"groups": {"g": 1, "h": 1}}, ["groups"]),
        ({"x": 1, "y": {"price": 2, "surcharges": [{"amount": 5, "truth": "yes"}]}}, {}, ["surcharges"]),
        ({"x": {"price": 1, "wait": 3}, "y": 2}, {"waiting": 2.5}, ["waiting"]),
        ({"x": {"price": 1, "wait": 3}, "y": 2}, {}, ["waiting"]),
    ],
)
def test_a_tree_says_which_features_it_needs(tests, more, needs):
    content = small(costs={"tests": tests, "errors": 10, **more})
    written = tree(content).to_json()
    assert json.loads(written).get("needs", []) == needs
    assert ('"needs"' in written) == bool(needs)
    assert ww.Tree.from_json(written).to_json() == written
    if "waiting" in more:
        content["nodes"][0]["commits"] = True
        assert json.loads(tree(content | {"cap": 9}).to_json())["needs"] == [*needs, "cap", "commits"]


def test_the_trees_shown_on_the_page_of_the_format():
    page = (Path(__file__).parents[2] / "docs" / "tree-format.md").read_text(encoding="utf-8")
    shown = [block.split("```")[0] for block in page.split("```json\n")[1:]]
    plain, full = map(ww.Tree.from_json, shown)
    assert "needs" not in json.loads(plain.to_json())
    assert json.loads(full.to_json())["needs"] == json.loads(shown[1])["needs"] == list(NEEDS)
    # The swab commits: both tests for 25, both groups for 23, 48 hours for 105, and 30 for the sick.
    assert full.test_costs([[0, 0], [1, 1]], y=["sick", "well"]).tolist() == [183.0, 153.0]


def test_a_tree_that_needs_a_newer_release_is_refused():
    wanted = "the tree needs 'teleportation', which a newer release of worthwhile reads"
    with pytest.raises(ValueError, match=wanted):
        tree(small(needs=["groups", "teleportation"], costs={"tests": {"x": {"price": 1, "beam": 3}}}))
    with pytest.raises(ValueError, match="'needs' of the tree must be a list"):
        tree(small(needs="groups"))


@pytest.mark.parametrize("learner", [ww.DTMCClassifier, ww.BudgetForestClassifier])
def test_a_model_says_which_features_it_needs(learner, tmp_path):
    X, y = [[i, i % 3] for i in range(40)], [int(i > 20) for i in range(40)]
    tests = {"x0": ww.Test(1, group=("g", "h")), "x1": ww.Test(1, surcharges=[ww.Surcharge(2, truth=1)])}
    costs = ww.Costs(tests, {"g": 1, "h": 1}, errors=50)
    path = tmp_path / "model.json"
    learner(costs=costs, cap=9.0, random_state=0).fit(X, y).save(path)
    content = json.loads(path.read_text())
    assert content["needs"] == ["groups", "surcharges", "cap"]
    assert ww.load(path).predict(X).tolist() == y
    path.write_text(json.dumps(content | {"needs": ["beams"], "params": {"beam": 1}}))
    with pytest.raises(ValueError, match=r"model\.json: the model needs 'beams', which a newer release"):
        ww.load(path)
    learner(costs=ww.Costs({"x0": 1}, errors=50), random_state=0).fit(X, y).save(path)
    assert "needs" not in json.loads(path.read_text())


def test_nodes_without_an_answer_answer_as_the_tree_does():
    """The weights of the root are 10 and 10, of the inner node 4 and 8; an error costs 10 or 40."""
    nodes = [dict(node) for node in small()["nodes"]]
    nodes[2]["children"], nodes[4]["weights"], nodes[3]["weights"] = [3, 4], [9, 0], [0, 4]
    del nodes[3]["answer"], nodes[4]["answer"], nodes[1]["answer"]
    nodes[1]["weights"] = [6, 2]
    majority, least = (
        tree(small(nodes=nodes, answer=answer)).nodes.answer.tolist() for answer in ("majority", "least-cost")
    )
    assert majority == [0, 0, 0, 1, 0]
    assert least == [1, 1, 1, 1, 0]  # 15 or 40 · 6, 6 · 10 or 40 · 2, 9 · 10 or 40 · 4
    capped = tree(small(nodes=nodes, answer="least-cost", cap=1.5))
    assert capped.predict([[1.0, 1.0]]).tolist() == ["yes"]  # y would exceed the cap


def test_an_edited_price_list_is_noticed():
    content = json.loads(tree(small()).to_json())
    content["costs"]["tests"]["x"]["price"] = 1  # the same amount
    content["costs"]["about"] = {"title": "only a name"}
    assert tree(content).costs.price("x") == 1.0
    edited = json.loads(json.dumps(content))
    edited["costs"]["tests"]["x"]["price"] = 7.5
    with pytest.raises(ValueError, match=r"the price list in the file was changed .* worthwhile reprice, or remove"):
        tree(edited)
    with pytest.raises(ValueError, match="the price list in the file was changed"):
        tree(content | {"cap": 50})
    del edited["costs_digest"]  # as in files written by hand or by an older release
    assert tree(edited).costs.price("x") == 7.5

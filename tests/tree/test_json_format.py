"""The JSON of trees and learners: what is written is read back, and what is wrong is refused by name."""

# ruff: noqa: E501 - one broken tree per line is easier to read

import copy
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worthwhile as ww
from all_learners import LEARNERS, learned, make
from handmade import small, tree, turney
from worthwhile.learners import model_file

HEART = ww.datasets.load("heart")


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_comes_back_from_its_file(learner, tmp_path):
    clf = make(learner, costs=HEART.costs, prune="cost", random_state=np.random.RandomState(0)).fit(HEART.X, HEART.y)
    clf.save(tmp_path / "model.json")
    back = ww.load(str(tmp_path / "model.json"))
    assert type(back) is learner
    assert back.get_params() == clf.get_params() | {"random_state": None}
    assert learned(back) == learned(clf)
    np.testing.assert_array_equal(back.classes_, clf.classes_)
    np.testing.assert_array_equal(back.feature_names_in_, clf.feature_names_in_)
    holes = HEART.X.mask(np.random.default_rng(0).random(HEART.X.shape) < 0.3)
    for X in (HEART.X, holes):
        np.testing.assert_array_equal(back.predict(X), clf.predict(X))
        np.testing.assert_array_equal(back.test_costs(X), clf.test_costs(X))
        np.testing.assert_allclose(back.predict_proba(X), clf.predict_proba(X), atol=1e-12)
        np.testing.assert_array_equal(back.total_costs(X, HEART.y), clf.total_costs(X, HEART.y))


def test_parameters_of_all_kinds_are_kept(tmp_path):
    isa = {"pet": {"pug": "dog", "beagle": "dog", 3.0: "fish"}}
    X = pd.DataFrame({"pet": ["pug", "beagle", "3", "pug"] * 3, "n": range(12)})
    costs = ww.Costs(
        tests={"pet": ww.Test(1, group="g", delayed=True), "n": ww.Test(0, requires=("pet",))},
        groups={"g": 2.5},
        errors={True: {False: 3.0, "unknown": 1.0}, False: {True: 2.0, "unknown": 1.0}},
        about={"title": "pets"},
    )
    given_nominal = pd.Index(["n"])
    clf = ww.EG2Classifier(costs=costs, hierarchies=isa, nominal=given_nominal, columns={"pet": 0, "n": 1}.keys())
    clf.fit(X, [True, False] * 6).save(tmp_path / "m.json")
    back = ww.load(tmp_path / "m.json")
    assert back.costs == back.tree_.costs == costs
    assert back.hierarchies == {"pet": {"pug": "dog", "beagle": "dog", "3": "fish"}}
    assert (back.nominal, back.columns) == (["n"], ["pet", "n"])
    assert back.classes_.tolist() == [False, True]
    assert back.tree_.schema == clf.tree_.schema
    np.testing.assert_array_equal(back.predict(X), clf.predict(X))


def test_a_learner_without_column_names(tmp_path):
    clf = ww.C45Classifier().fit([[0], [1]] * 4, [5, 7] * 4)
    clf.save(tmp_path / "m.json")
    back = ww.load(tmp_path / "m.json")
    assert not hasattr(back, "feature_names_in_")
    assert back.predict([[1], [0]]).tolist() == [7, 5]


def test_hand_written_trees_come_back():
    for content in (turney(), small(), small(nodes=[{"answer": "no"}])):
        once = tree(content)
        again = ww.Tree.from_json(once.to_json())
        assert again.to_json() == once.to_json()
        assert ww.Tree.from_json(once.to_json(indent=None)).to_json() == once.to_json()


def test_what_may_be_left_out():
    known = tree(small(nodes=small()["nodes"]))
    assert known.nodes.weights[0].tolist() == [10, 10]  # the sum of the leaves
    assert known.nodes.answer.tolist() == [0, 0, 1, 1, 0]  # the heaviest class; the lowest of equals
    bare = small(nodes=[{"test": "x", "threshold": 0, "children": [1, 2]}, {"answer": "yes"}, {"answer": "no"}])
    assert tree(bare).nodes.answer.tolist() == [1, 1, 0]
    bare.pop("costs")
    assert tree(bare).costs == ww.Costs()


def test_nodes_may_stand_in_any_order():
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
    "child is a text": (small(nodes=nodes(n2={"children": [3, "4"]})), "node 2 has the child '4'"),
    "unknown test": (small(nodes=nodes(n2={"test": "z"})), "node 2 has the unknown test 'z'; the columns are x, y"),
    "three children": (small(nodes=nodes(n2={"children": [3, 4, 1]})), "node 2 has 3 children, but the test 'y' has 2 branches"),
    "no children": (small(nodes=nodes(n2={"children": []})), "node 2 has 0 children"),
    "children missing": (small(nodes=nodes(n2={"children": ...})), "node 2 lacks 'children'"),
    "threshold missing": (small(nodes=nodes(n2={"threshold": ...})), "node 2 lacks 'threshold'"),
    "threshold nan": (small(nodes=nodes(n2={"threshold": float("nan")})), "'threshold' of node 2 must be finite"),
    "threshold infinite": (small(nodes=nodes(n2={"threshold": float("inf")})), "'threshold' of node 2 must be finite"),
    "threshold too large": (small(nodes=nodes(n2={"threshold": 10**400})), "'threshold' of node 2 must be finite"),
    "threshold a text": (small(nodes=nodes(n2={"threshold": "1"})), "'threshold' of node 2 must be a number, got '1'"),
    "threshold true": (small(nodes=nodes(n2={"threshold": True})), "'threshold' of node 2 must be a number, got True"),
    "threshold of a nominal test": (nominal(threshold=1), "node 0 has the unknown field 'threshold'"),
    "branches of a numeric test": (small(nodes=nodes(n2={"branches": []})), "node 2 has the unknown field 'branches'"),
    "two branches for a value": (nominal(branches=[["a"], ["a", "b"]]), "node 0 has two branches for 'a'"),
    "branch for no value": (nominal(branches=[["a"], ["c"]]), "node 0 has a branch for 'c', which is no value of 'x'; known are a, b"),
    "branch for a number": (nominal(branches=[["a"], [1]]), "node 0 has a branch for 1"),
    "branch is a text": (nominal(branches=[["a"], "b"]), "branch 1 of node 0 must be a list of values, got 'b'"),
    "one branch too few": (nominal(branches=[["a", "b"]]), "node 0 has 2 children, but the test 'x' has 1 branches"),
    "no branches": (nominal(branches=[], children=[]), "node 0 has 0 children"),
    "unknown answer": (small(nodes=nodes(n1={"answer": "perhaps"})), "node 1 answers 'perhaps'; the answers are no, yes"),
    "leaf without answer": (small(nodes=nodes(n1={"answer": ..., "weights": ...})), "node 1 is a leaf without an answer"),
    "answer a list": (small(nodes=nodes(n1={"answer": []})), "'answer' of node 1 must be a text or a number, got []"),
    "negative weights": (small(nodes=nodes(n1={"weights": [1, -1]})), "'weights' of node 1 holds -1"),
    "infinite weights": (small(nodes=nodes(n1={"weights": [1, float("inf")]})), "'weights' of node 1 holds inf"),
    "weights that overflow": (small(nodes=nodes(n1={"weights": [1, 1e308]})), "from 0 to 1e+200"),
    "enormous weights": (small(nodes=nodes(n1={"weights": [1, 10**400]})), "'weights' of node 1 holds 1000"),
    "weight a text": (small(nodes=nodes(n1={"weights": [1, "2"]})), "'weights' of node 1 holds '2'"),
    "weights too short": (small(nodes=nodes(n1={"weights": [1]})), "'weights' of node 1 has 1 entries, but there are 2 classes"),
    "unknown field of a node": (small(nodes=nodes(n1={"colour": "red"})), "node 1 has the unknown field 'colour'"),
    "node is a list": (small(nodes=[[]]), "node 0 must be an object, got []"),
    "no nodes": (small(nodes=[]), "the tree has no nodes"),
    "nodes an object": (small(nodes={}), "'nodes' of the tree must be a list, got {}"),
    "nodes missing": ({k: v for k, v in small().items() if k != "nodes"}, "the tree lacks 'nodes'"),
    "unknown field": (small(colour="red"), "the tree has the unknown field 'colour'"),
    "wrong format": (small(format="other"), "'format' must be 'worthwhile-tree', got 'other'"),
    "version from the future": (small(version=2), "version 2 of the tree format is unknown; this release reads version 1"),
    "version a text": (small(version="1"), "'version' of the tree must be a whole number, got '1'"),
    "version true": (small(version=True), "'version' of the tree must be a whole number"),
    "class twice": (small(classes=["no", "no"]), "the tree names a class twice"),
    "class twice as text": (small(classes=["1", 1]), "the tree names a class twice"),
    "class null": (small(classes=["no", None]), "the class None is neither a text nor a number nor a truth value"),
    "class nan": (small(classes=["no", float("nan")]), "the class nan is neither"),
    "no classes": (small(classes=[]), "the tree has no classes"),
    "class without error costs": (small(classes=["no", "yes", "perhaps"]), "errors has no row for class 'perhaps'"),
    "answer policy": (small(answer="best"), "'answer' of the tree must be 'majority' or 'least-cost', got 'best'"),
    "no columns": (small(columns=[]), "the tree has no columns"),
    "column twice": (small(columns=small()["columns"] * 2), "the tree has two columns named 'x'"),
    "column kind": (small(columns=[{"name": "x", "kind": "date"}]), "'kind' of column 'x' must be 'numeric' or 'nominal', got 'date'"),
    "column values": (small(columns=[{"name": "x", "kind": "nominal", "values": [1]}]), "the values of column 'x' must be texts"),
    "column value twice": (small(columns=[{"name": "x", "kind": "nominal", "values": ["a", "a"]}]), "column 'x' has a value twice"),
    "column without name": (small(columns=[{"kind": "numeric"}]), "column 0 lacks 'name'"),
    "numeric column with values": (small(columns=[{"name": "x", "kind": "numeric", "values": []}]), "column 0 has the unknown field"),
    "price of no column": (small(costs={"tests": {"z": 1}}), "the costs contain tests that are not columns: 'z'"),
    "negative price": (small(costs={"tests": {"x": -1}}), "price of test 'x' must be at least 0"),
    "costs a list": (small(costs=[]), "'costs' of the tree must be an object, got []"),
    "unknown field of costs": (small(costs={"prices": {}}), "costs has the unknown field 'prices'"),
    "tests a list": (small(costs={"tests": []}), "'tests' of costs must be an object, got []"),
    "errors true": (small(costs={"errors": True}), "errors must be a number, not True"),
    "error row": (small(costs={"errors": [["no", "yes"]]}), "a row of the error costs must be [truth, answer, cost], got ['no', 'yes']"),
    "error row twice": (small(costs={"errors": [["no", "yes", 1]] * 2}), "name the truth 'no' with the answer 'yes' twice"),
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
        ('{"format": "worthwhile-tree", "format": "worthwhile-tree"}', "the field 'format' stands twice in one object"),
        ("1" * 5000, "integer"),
    ],
)
def test_texts_that_are_no_trees(text, message):
    with pytest.raises(ValueError, match=message):
        ww.Tree.from_json(text)


def test_too_deep_a_chain_is_refused():
    n = 5000
    chain = [{"test": "x", "threshold": i, "children": [2 * i + 1, 2 * i + 2]} for i in range(n)]
    content = [chain[0]]
    for node in [*chain[1:], {"answer": "yes"}]:
        content += [{"answer": "no"}, node]
    with pytest.raises(ValueError, match=r"node \d+ lies more than 4096 tests deep"):
        tree(small(nodes=content))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.json"
    ww.EG2Classifier(costs=ww.Costs(tests={"x0": 1})).fit([[0], [1]] * 4, ["a", "b"] * 4).save(path)
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"format": "worthwhile-tree"},
            "is not a saved learner: 'format' must be 'worthwhile-model', got 'worthwhile-tree'",
        ),
        ({"version": 7}, "version 7 of the model format is unknown; this release reads version 1"),
        (
            {"learner": "RandomForestClassifier"},
            "names the unknown learner 'RandomForestClassifier'; known are C45Classifier",
        ),
        ({"learner": "learner"}, "names the unknown learner 'learner'"),
        ({"learner": ["os.system"]}, "'learner' of the model must be a text"),
        ({"learner": ...}, "the model lacks 'learner'"),
        ({"params": {"depth": 3}}, "EG2Classifier has no parameter 'depth'; it has costs, weighting, nominal"),
        ({"params": {"lookahead": 3}}, "EG2Classifier has no parameter 'lookahead'"),
        ({"params": {"omega": -3}}, "EG2Classifier: invalid omega=-3; it must be a number of at least 0"),
        ({"params": {"costs": []}}, "costs must be an object, got []"),
        ({"params": {"costs": {"tests": {"x0": "dear"}}}}, "price of test 'x0' must be a number"),
        ({"params": []}, "'params' of the model must be an object"),
        ({"tree": {}}, "the tree lacks 'format'"),
        ({"tree": []}, "'tree' of the model must be an object"),
        ({"named_columns": 1}, "'named_columns' of the model must be true or false, got 1"),
        ({"colour": "red"}, "the model has the unknown field 'colour'"),
    ],
)
def test_broken_models_are_refused_by_name(model, change, message, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({k: v for k, v in (model | change).items() if v is not ...}))
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        ww.load(path)


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.json: no such file"):
        ww.load(tmp_path / "none.json")
    with pytest.raises(ValueError, match=f"^{re.escape(str(tmp_path))}: is not a file$"):
        ww.load(tmp_path)
    for content, message in (
        (b"\xff\xfe", "is not UTF-8"),
        (b"{", "is not JSON"),
        (b"[" * 10**5, "nested too deeply"),
        (b"[]", "must be an object"),
    ):
        (tmp_path / "m.json").write_bytes(content)
        with pytest.raises(ValueError, match=message):
            ww.load(tmp_path / "m.json")


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    (tmp_path / "m.json").write_text("{}")

    def broken(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", broken)
    with pytest.raises(ValueError, match=r"m.json: cannot be read: Permission denied"):
        ww.load(tmp_path / "m.json")


def test_what_cannot_be_written_is_refused(tmp_path):
    clf = ww.C45Classifier().fit([[0], [1]] * 4, [0, 1] * 4)
    with pytest.raises(FileNotFoundError, match=r"none/m.json: cannot be written: No such file"):
        clf.save(tmp_path / "none" / "m.json")
    with pytest.raises(ValueError, match="is a folder, not a file"):
        clf.save(tmp_path)
    with pytest.raises(ValueError, match="/dev/null: is not a regular file"):
        clf.save("/dev/null")
    with pytest.raises(ValueError, match="1j cannot be written to JSON"):
        clf.set_params(max_depth=1j).save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


# --- anything may stand in a file: it loads, or it is a ValueError ----------------------------------------------------

WEIRD = [None, True, False, 0, -1, 1, 2.5, 10**400, 1e308, float("nan"), float("inf"), "", "x", "no", "a", [], {}, [[]], [0, 1], {"x": 1}, [None], 2**40, "\ud800"]  # fmt: skip


def places(content, path=()):
    """Every place in a JSON object."""
    yield path
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def mutate(content, path, change):
    if not path:
        return change[1]
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    if change[0] == "delete":
        del inner[path[-1]]
    elif change[0] == "double" and isinstance(inner, list):
        inner.append(copy.deepcopy(inner[path[-1]]))
    else:
        inner[path[-1]] = copy.deepcopy(change[1])
    return content


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_mutated_files_load_or_are_refused(model, data):
    whole = data.draw(st.booleans())
    content = copy.deepcopy(model) if whole else data.draw(st.sampled_from([turney(), small(), nominal()]))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(content))))
        content = mutate(
            content,
            path,
            data.draw(
                st.tuples(st.sampled_from(["delete", "replace", "double"]), st.sampled_from(WEIRD).map(copy.deepcopy))
            ),
        )
        if not isinstance(content, dict):
            break
    try:
        known = model_file._from_model(content).tree_ if whole else tree(content)
    except ValueError:
        return
    width = len(known.columns)
    with np.errstate(all="raise"):
        assert np.isfinite(known.test_costs(np.full((2, width), np.nan))).all()
        assert np.isfinite(known.predict_proba(np.zeros((2, width)))).all()
        known.to_text()
        known.next_test({})

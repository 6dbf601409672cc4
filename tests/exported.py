"""Trees to export, and cases that take every path through their programs."""

import functools

import numpy as np
import pandas as pd

import worthwhile as ww
from handmade import tree, turney
from priced_trees import priced_tree, random_rows
from worthwhile.export import program as programs

NAMES = ("turney", "loans", "labels", "leaf", "paper", "wild 1", "wild 2", "wild 3", "wild 8", "wild 9")


@functools.cache
def exported_tree(name):
    """A tree by name: Turney's, learned ones, and random ones with every kind of price."""
    if name == "turney":
        return tree(turney())
    if name == "leaf":
        return tree(turney() | {"nodes": [{"answer": 1}]})
    if name.startswith("wild"):
        return priced_tree(np.random.default_rng(int(name[5:])), surcharges=True, caps=False, complete=True)
    if name == "labels":  # names and values that need quoting, a reject answer, booleans, dates
        return tree(awkward())
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(30, 10, 200), "age": rng.integers(20, 70, 200).astype(float)})
    X["job"] = rng.choice(["office", "manual", "none"], 200)
    y = np.where((X["income"] + 5 * (X["job"] == "office") + rng.normal(0, 6, 200) > 30), "good", "bad")
    costs = ww.Costs(
        tests={"income": ww.Test(9.0, group="desk", delayed=True), "job": ww.Test(3.0, group="desk"), "age": 1.0},
        groups={"desk": 2.0},
        errors={"good": {"bad": 150.0}, "bad": {"good": 400.0}},
    )
    if name == "paper":
        return ww.ACTClassifier(costs=costs, variant="paper", r=1, random_state=0).fit(X, y).tree_
    return ww.EG2Classifier(costs=costs, prune="cost").fit(X, y).tree_


def awkward():
    """A tree with names, values and classes that other languages must quote, and a date."""
    return {
        "format": "worthwhile-tree",
        "version": 1,
        "classes": [1, 2],
        "columns": [
            {"name": 'a "b"\'c; --', "kind": "nominal", "values": ["it's", '"x"', "A", "a", "=1+1", "{row}"]},
            {"name": "seen", "kind": "numeric", "dates": True},
            {"name": "flag", "kind": "nominal", "values": ["False", "True"]},
            {"name": "level", "kind": "nominal", "values": ["1", "2", "10"]},
            {"name": "x", "kind": "numeric"},
        ],
        "costs": {
            "tests": {"seen": 2.0, "flag": 1.5, "level": 4.0, "x": 0.1},
            "errors": [[1, 2, 10.0], [2, 1, 20.0], [1, "unknown", 3.0], [2, "unknown", 3.0]],
        },
        "answer": "least-cost",
        "nodes": [
            {
                "test": 'a "b"\'c; --',
                "branches": [["it's", "a"], ['"x"', "=1+1"], ["A", "{row}"]],
                "children": [1, 2, 3],
            },
            {"test": "seen", "threshold": 19813.5, "children": [4, 5]},
            {"test": "flag", "branches": [["False"], ["True"]], "children": [6, 7]},
            {"test": "level", "branches": [["1", "10"], ["2"]], "children": [8, 9]},
            {"answer": 1, "weights": [9, 1]},
            {"test": "x", "threshold": 0.1 + 0.2, "children": [10, 11]},
            {"answer": 2, "weights": [1, 9]},
            {"answer": "unknown", "weights": [5, 5]},
            {"answer": 1, "weights": [7, 1]},
            {"answer": 2, "weights": [2, 9]},
            {"answer": 1, "weights": [7, 0]},
            {"answer": 2, "weights": [0, 8]},
        ],
    }


def examples(program):
    """A case for every path through a program: by column name, None: missing."""
    found = []

    def follow(step, values):
        if not isinstance(step, programs.ProgramStep):
            found.append({test: programs._example(value) for test, value in values.items()})
            return
        schema = program.tree.schema.values[step.test]
        known = values.get(step.test, programs.EVERYTHING if schema is None else frozenset(schema))
        for part, piece in programs._pieces(known, step.parts) if known is not None else []:
            follow(step.children[part], {**values, step.test: piece})
        if step.missing is not None:
            follow(step.missing, {**values, step.test: None})

    follow(program.root, {})
    columns = program.tree.columns
    rows = [{columns[test]: value for test, value in case.items()} for case in found]
    return pd.DataFrame(rows, columns=list(columns), dtype=object)


def cases_of(model, missing=True):
    """A case for every path, and random ones; with `missing`, values are missing or were never seen."""
    found = examples(programs.decision_program(model, missing))
    if set(model.columns) == {"n0", "n1", "c0", "c1", "n2"}:
        rng = np.random.default_rng(3)
        rows = random_rows(rng, 60, 0.3 if missing else 0.0)
        found = pd.concat([found, pd.DataFrame(rows, columns=["n0", "n1", "c0", "c1", "n2"], dtype=object)])
    if not missing:
        # Tests that no path asks for have any value.
        known = {name: 0.0 if v is None else v[0] for name, v in zip(model.columns, model.schema.values, strict=True)}
        found = found.where(found.notna(), pd.DataFrame([known] * len(found), index=found.index))
        for name, values in zip(model.columns, model.schema.values, strict=True):
            if values is not None:
                found = found[found[name].isin(values)]
    found = found.reset_index(drop=True)
    for name, values in zip(model.columns, model.schema.values, strict=True):
        found[name] = found[name].astype(float) if values is None else found[name].where(found[name].notna(), None)
    for name in model.schema.dates:  # databases and sheets have microseconds at best
        found[name] = found[name].mask(found[name] > 19813.5, 19814.0)
    return found


def check(model, X, answers, prices):
    """Compare what another program said with `predict` and `test_costs`."""
    assert [str(a) for a in answers] == [str(a) for a in model.predict(X)]
    np.testing.assert_allclose(np.array(prices, dtype=float), model.test_costs(X), rtol=0, atol=1e-9)


def chain(depth):
    """The nodes of a tree that asks for x again and again: the second child of an inner node is the next one."""
    nodes = []
    for level in range(depth):
        at = len(nodes)
        nodes += [{"test": "x", "threshold": level, "children": [at + 1, at + 2]}]
        nodes.append({"answer": "no" if level % 2 else "yes"})
    return [*nodes, {"answer": "no"}]

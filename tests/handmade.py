"""Trees written by hand: Turney's worked example, and small ones for single rules."""

import json

import worthwhile as ww


def turney():
    """Figure 1 with the prices of Tables 1 and 2 (Turney 1995): delta costs 7 first, then 5; epsilon 10, then 8."""
    digits = [str(d) for d in range(10)]
    return {
        "format": "worthwhile-tree",
        "version": 1,
        "classes": [0, 1],
        "columns": [
            {"name": "alpha", "kind": "numeric"},
            {"name": "beta", "kind": "numeric"},
            {"name": "delta", "kind": "nominal", "values": digits},
            {"name": "epsilon", "kind": "numeric"},
        ],
        "costs": {
            "tests": {
                "alpha": 5,
                "beta": 10,
                "delta": {"price": 5, "group": "A", "delayed": True},
                "epsilon": {"price": 8, "group": "A", "delayed": True},
            },
            "groups": {"A": 2},
            "errors": 50,
        },
        "nodes": [
            {"test": "alpha", "threshold": 2, "children": [1, 2]},
            {"test": "beta", "threshold": 6, "children": [3, 4]},
            {"test": "delta", "branches": [["2"], [d for d in digits if d != "2"]], "children": [5, 6]},
            {"answer": 1},
            {"answer": 0},
            {"test": "beta", "threshold": 4, "children": [7, 8]},
            {"test": "epsilon", "threshold": 3, "children": [9, 10]},
            {"answer": 1},
            {"answer": 0},
            {"answer": 0},
            {"answer": 1},
        ],
    }


def small(**changes):
    """A root, an inner node below it, three leaves; x and y are numbers."""
    content = {
        "format": "worthwhile-tree",
        "version": 1,
        "classes": ["no", "yes"],
        "columns": [{"name": "x", "kind": "numeric"}, {"name": "y", "kind": "numeric"}],
        "costs": {"tests": {"x": 1, "y": 2}, "errors": [["no", "yes", 10], ["yes", "no", 40]]},
        "nodes": [
            {"test": "x", "threshold": 0, "children": [1, 2]},
            {"answer": "no", "weights": [6, 2]},
            {"test": "y", "threshold": 0, "children": [3, 4]},
            {"answer": "yes", "weights": [0, 8]},
            {"answer": "no", "weights": [4, 0]},
        ],
    }
    return content | changes


def tree(content):
    """The tree of a JSON object."""
    return ww.Tree.from_json(json.dumps(content))

"""Trees written by hand that are difficult cases for the walk-through of the report."""

import numpy as np

from handmade import small

CASES = (
    np.array([[-1.0, 5.0], [1.0, -2.0], [3.0, 4.0], [np.nan, 1.0]] * 4),
    ["no", "yes", "no", "yes"] * 4,
)  # for `small`


def grouped():
    """Delayed tests, groups, a test computed from others, as in Turney's thyroid and hepatitis problems."""
    columns = [{"name": n, "kind": "numeric"} for n in ("tsh", "t3", "tt4", "t4u", "fti")]
    tests = {
        "tsh": {"price": 8, "group": "blood", "delayed": True},
        "t3": {"price": 9.31, "group": "blood", "delayed": True},
        "tt4": {"price": 12.41, "group": "blood", "delayed": True},
        "t4u": {"price": 12.41, "group": "blood", "delayed": True},
        "fti": {"price": 0, "requires": ["tt4", "t4u"]},
        "sex": {"price": 1},
        "age": {"price": 1, "group": "desk"},
    }
    columns += [{"name": "sex", "kind": "nominal", "values": ["f", "m"]}, {"name": "age", "kind": "numeric"}]
    nodes = [
        {"test": "sex", "branches": [["f"], ["m"]], "children": [1, 2]},
        {"test": "fti", "threshold": 0.1, "children": [3, 4]},
        {"test": "age", "threshold": 60, "children": [5, 6]},
        {"test": "tsh", "threshold": 6, "children": [7, 8]},
        {"answer": 3, "weights": [0, 2, 30]},
        {"answer": 2, "weights": [3, 12, 1]},
        {"test": "t3", "threshold": 2.5, "children": [9, 10]},
        {"answer": 1, "weights": [14, 1, 2]},
        {"test": "tt4", "threshold": 0.07, "children": [11, 12]},
        {"answer": 2, "weights": [1, 9, 0]},
        {"test": "age", "threshold": 75, "children": [13, 14]},
        *[{"answer": a, "weights": w} for a, w in ((1, [5, 0, 1]), (2, [2, 6, 0]), (3, [0, 1, 4]), (1, [3, 0, 0]))],
    ]
    errors = [[t, a, 0 if t == a else 40 * t + a] for t in (1, 2, 3) for a in (1, 2, 3)]
    costs = {"tests": tests, "groups": {"blood": 2.1, "desk": 0.5}, "errors": errors}
    return small(columns=columns, classes=[1, 2, 3], costs=costs, nodes=nodes, answer="least-cost")


def undecided():
    """Boolean classes, a reject answer, values that have no branch at a node, and branches without cases."""
    values = [f"v{i}" for i in range(14)]
    return small(
        columns=[{"name": "many", "kind": "nominal", "values": values}, {"name": "x", "kind": "numeric"}],
        classes=[False, True],
        costs={"tests": {"many": 3, "x": 0}, "errors": [[0, 1, 5], [1, 0, 50], [0, "ask", 2], [1, "ask", 2]]},
        answer="least-cost",
        nodes=[
            {"test": "many", "branches": [values[:5], values[5:9], values[9:12]], "children": [1, 2, 3]},
            {"answer": False, "weights": [9, 1]},
            {"test": "x", "threshold": -1.5, "children": [4, 5]},
            {"answer": "ask", "weights": [0, 0]},
            {"answer": "ask", "weights": [4, 3]},
            {"test": "many", "branches": [values[5:7], values[7:9]], "children": [6, 7]},
            {"answer": True, "weights": [1, 6]},
            {"answer": "ask", "weights": [2, 2]},
        ],
    )


def together():
    """A delayed test below both branches of the root, with different thresholds and different tests below it."""
    tests = {"x0": 1, "x1": {"price": 2, "delayed": True}, "x2": 3, "x3": 5}
    return small(
        columns=[{"name": name, "kind": "numeric"} for name in tests],
        costs={"tests": tests, "errors": 500},
        nodes=[
            {"test": "x0", "threshold": 0.5, "children": [1, 2]},
            {"test": "x1", "threshold": 0.5, "children": [3, 4]},
            {"test": "x1", "threshold": -1.5, "children": [5, 6]},
            {"test": "x2", "threshold": 0.5, "children": [7, 8]},
            {"answer": "yes", "weights": [2, 3]},
            {"test": "x3", "threshold": 0.5, "children": [9, 10]},
            {"answer": "yes", "weights": [2, 3]},
            *[
                {"answer": a, "weights": w}
                for a, w in (("no", [3, 0]), ("yes", [0, 2]), ("no", [3, 0]), ("yes", [0, 2]))
            ],
        ],
    )

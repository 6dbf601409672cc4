"""Trees written by hand that are difficult cases for the walk-through of the report."""

import numpy as np
import pandas as pd

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


def surcharged():
    """Tests in two groups, a surcharge of each kind, waiting, and a node that orders all that may follow."""
    numeric, nominal = ("age", "ecg", "lab"), {"dye": ["calm", "reaction"], "screen": ["no", "yes"]}
    columns = [{"name": name, "kind": "numeric"} for name in numeric]
    columns += [{"name": name, "kind": "nominal", "values": values} for name, values in nominal.items()]
    tests = {
        "age": 1,
        "ecg": {
            "price": 15.5,
            "wait": 2,
            "surcharges": [{"amount": 50, "truth": "sick"}, {"amount": -5, "after": ["lab"]}],
        },
        "lab": {
            "price": 8,
            "group": ["blood", "panel"],
            "wait": 24,
            "surcharges": [{"amount": 20, "where": {"age": "< 1"}}, {"amount": 3, "result": ">= 5"}],
        },
        "dye": {
            "price": 10,
            "group": "blood",
            "surcharges": [
                {"amount": 300, "result": "reaction", "truth": "sick"},
                {"amount": 4, "where": {"screen": ["yes", "maybe"]}, "after": ["ecg"]},
            ],
        },
        "screen": {"price": 2, "group": ["panel"]},
    }
    nodes = [
        {"test": "screen", "branches": [["no"], ["yes"]], "children": [1, 2]},
        {"test": "lab", "threshold": 5, "children": [3, 4], "commits": True},
        {"test": "ecg", "threshold": 0.5, "children": [5, 6]},
        {"answer": "well", "weights": [20, 1]},
        {"test": "dye", "branches": [["calm"], ["reaction"]], "children": [7, 8]},
        {"test": "lab", "threshold": 3, "children": [9, 10]},
        {"test": "dye", "branches": [["calm"], ["reaction"]], "children": [11, 12]},
        *[
            {"answer": answer, "weights": weights}
            for answer, weights in (
                ("well", [6, 1]),
                ("sick", [0, 4]),
                ("well", [9, 2]),
                ("sick", [2, 6]),
                ("well", [5, 3]),
                ("sick", [1, 9]),
            )
        ],
    ]
    costs = {
        "tests": tests,
        "groups": {"blood": 2.1, "panel": 6},
        "errors": [["well", "sick", 900], ["sick", "well", 4000]],
        "waiting": [[0, 0], [20, 10], [30, 60]],
    }
    return small(columns=columns, classes=["well", "sick"], costs=costs, nodes=nodes, answer="least-cost")


def capped():
    """The same, and no case may pay more than 80."""
    return surcharged() | {"cap": 80}


def expected():
    """The same, with what each surcharge is expected to add at each node."""
    content = surcharged()
    for place, node in enumerate(content["nodes"]):
        node["surcharges"] = [10 + place, -5, 2 + 0.5 * place, 1, 30 + place, 0.5]
    return content


def with_extras(content, rng):
    """A tree of `wildtrees` with further groups, surcharges, waits, commits, and perhaps a cap."""
    tests, names = content["costs"]["tests"], list(content["costs"]["tests"])
    content["costs"]["groups"] = {"G": 3, "H": 5, "I": 2}
    content["costs"]["waiting"] = 1.5 if rng.random() < 0.5 else [[0, 0], [2, 1], [5, 9]]
    values = {column["name"]: column.get("values") for column in content["columns"]}

    def condition(name):
        return ["a", "c"] if values[name] else str(rng.choice(["< 0", ">= 1"]))

    for place, name in enumerate(names):
        test = tests[name]
        groups = rng.permutation(["G", "H", "I"])[: rng.integers(0, 3)].tolist()
        test["group"] = groups if place else ["I", "G", "H"]  # every group needs a test
        test["wait"] = int(rng.integers(0, 4))
        test["delayed"] = bool(rng.random() < 0.15)
        others = names[:place]  # no test requires itself
        kinds = [{"truth": int(rng.integers(2))}, {"result": condition(name)}]
        if others:
            kinds += [{"where": {(other := str(rng.choice(others))): condition(other)}}]
            kinds += [{"after": [str(rng.choice(others))]}]
            kinds += [{"after_any": rng.choice(others, min(len(others), 2), replace=False).tolist()}]
            kinds += [{"after": [str(rng.choice(others))], "result": condition(name), "truth": 1}]
        chosen = rng.choice(len(kinds), size=rng.integers(0, 3), replace=False)
        discounts = -test["price"] / 2
        test["surcharges"] = [
            {"amount": discounts if rng.random() < 0.3 and discounts else int(rng.integers(1, 20)), **kinds[kind]}
            for kind in chosen
        ]
    for node in content["nodes"]:
        if "test" in node and rng.random() < 0.3:
            node["commits"] = True
    n = sum(len(test["surcharges"]) for test in tests.values())
    if rng.random() < 0.6:
        for node in content["nodes"]:
            node["surcharges"] = (rng.random(n) * 9).round(2).tolist()
    return content | ({"cap": int(rng.integers(15, 60))} if rng.random() < 0.5 else {})


CASES_OF_SURCHARGED = (
    pd.DataFrame(
        {
            "age": [0.5, 30, 40, 50] * 4,
            "ecg": [0.0, 1.0, 1.0, 0.0] * 4,
            "lab": [6.0, 2.0, 4.0, 7.0] * 4,
            "dye": ["reaction", "calm", "reaction", "calm"] * 4,
            "screen": ["no", "no", "yes", "yes"] * 4,
        }
    ),
    ["sick", "well", "sick", "well"] * 4,
)

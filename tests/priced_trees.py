"""Random trees with every kind of price: groups, delays, requirements, waits, surcharges, commits and caps."""

import json

import worthwhile as ww
from wildtrees import NAMES, VALUES, random_content

SURCHARGES = (
    {"amount": 4.0, "truth": "1"},
    {"amount": 7.0, "where": {"c0": ["a", "b"]}},
    {"amount": 2.0, "where": {"n0": "< 1"}},
    {"amount": 1.5, "after": ["c1"]},
    {"amount": 3.0, "after_any": ["c0", "n1"], "truth": "0"},
)
OWN = {"n": {"amount": 5.0, "result": ">= 1"}, "c": {"amount": 6.0, "result": "b"}}


def priced_tree(rng, surcharges=None, caps=True, complete=False):
    """A tree written by hand; `surcharges` None: half of the time. `complete`: every value has a branch."""
    content = random_content(rng)
    content["costs"]["errors"] = [[0, 1, 30.0], [1, 0, float(rng.integers(5, 90))]]
    content["answer"] = str(rng.choice(["majority", "least-cost"]))
    tests, waits = content["costs"]["tests"], rng.random() < 0.5
    if waits:
        content["costs"]["waiting"] = [[0, 0], [2, 1], [5, 30]]
    for name in NAMES:
        if waits and rng.random() < 0.5:
            tests[name] |= {"wait": float(rng.choice([1.0, 3.0])), "delayed": False}
    if rng.random() < 0.5 if surcharges is None else surcharges:
        for name in ("n1", "n2"):
            own = [dict(s) for s in SURCHARGES if rng.random() < 0.4] + [OWN[name[0]]] * int(rng.integers(2))
            tests[name]["surcharges"] = [s for s in own if name not in s.get("after_any", ())]
        tests["c0"]["surcharges"] = [OWN["c"]] * int(rng.integers(2))
    for node in content["nodes"]:
        if rng.random() < 0.8:
            node["weights"] = rng.integers(0, 6, 2).tolist()
        if complete and "branches" in node:
            node["branches"] = [["a", "c"], ["b"]]
        if waits and "test" in node and rng.random() < 0.3:
            node["commits"] = True
    if caps and rng.random() < 0.3:
        content["cap"] = float(rng.integers(0, 25))
    return ww.Tree.from_json(json.dumps(content))


def random_rows(rng, n, share):
    """Cases as rows, a share of the cells None; c0 and c1 sometimes have a value that no tree knows."""
    rows = []
    for _ in range(n):
        row = [int(rng.integers(-3, 4)) if name[0] == "n" else str(rng.choice([*VALUES, "new"])) for name in NAMES]
        rows.append([None if rng.random() < share else value for value in row])
    return rows

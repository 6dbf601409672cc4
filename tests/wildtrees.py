"""Random trees as users might write them by hand, with groups, delays and requirements; and cases for them."""

from worthwhile.table.schema import OtherValue

VALUES = ("a", "b", "c")
NAMES = ("n0", "n1", "c0", "c1", "n2")


def random_content(rng):
    """The JSON object of a tree."""
    columns = [
        {"name": n, "kind": "numeric"} if n[0] == "n" else {"name": n, "kind": "nominal", "values": list(VALUES)}
        for n in NAMES
    ]
    tests = {n: {"price": int(rng.integers(0, 9)), "delayed": bool(rng.random() < 0.4)} for n in NAMES}
    for n in NAMES[:3]:
        tests[n]["group"] = "G"
    tests["n2"]["requires"] = ["n0", "c1"]
    nodes = []

    def write(depth):
        at = len(nodes)
        weights = [] if rng.random() < 0.3 else rng.integers(0, 4, 2).tolist()
        nodes.append({"answer": int(rng.integers(2))} | ({"weights": weights} if weights else {}))
        if depth and rng.random() < 0.85:
            name = str(rng.choice(NAMES))
            node: dict = {"test": name}
            if name[0] == "n":
                node["threshold"] = int(rng.integers(-2, 3))
            else:
                node["branches"] = [["a"], ["b"]] if rng.random() < 0.3 else [["a", "c"], ["b"]]
            nodes[at] |= node
            nodes[at]["children"] = [write(depth - 1) for _ in range(2)]
        return at

    write(4)
    costs = {"tests": tests, "groups": {"G": 3}}
    return {
        "format": "worthwhile-tree",
        "version": 1,
        "classes": [0, 1],
        "columns": columns,
        "costs": costs,
        "nodes": nodes,
    }


def draw(rng):
    """A nominal value, or one that no tree knows."""
    value = str(rng.choice([*VALUES, "new"]))
    return OtherValue(value) if value == "new" else value


def random_case(rng, missing):
    """A case with a share of unavailable values, and some values that no tree knows."""
    case = {n: int(rng.integers(-3, 4)) if n[0] == "n" else draw(rng) for n in NAMES}
    return {n: None if rng.random() < missing else v for n, v in case.items()}

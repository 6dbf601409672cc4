"""Trees as JSON (docs/tree-format.md).

Files are only data: every field is checked, nothing is executed.
"""

from __future__ import annotations

import hashlib
import json
import numbers
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.costs.surcharges import Surcharge
from worthwhile.table.schema import Schema
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.node_costs import best_answer
from worthwhile.tree.nodes import Nodes

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = [
    "ExpectedCost",
    "Reader",
    "check_digest",
    "check_needs",
    "costs_digest",
    "costs_from_json",
    "costs_to_json",
    "needs_of",
    "parse_context",
    "parse_expected_cost",
    "parse_nodes",
    "parse_tree",
    "plain",
    "read_json",
    "write_context",
    "write_nodes",
    "write_tree",
]

FORMAT, VERSION = "worthwhile-tree", 1
MAX_DEPTH = 4096  # the core walks cases without a value recursively
MAX_WEIGHT = 1e200  # weights are added up
SUM_SLACK = 1e-6  # probabilities in a file may be rounded
NEEDS = (
    "groups",
    "surcharges",
    "waiting",
    "cap",
    "commits",
    "answer_costs",
)  # features of a file that older releases do not know


class ExpectedCost(NamedTuple):
    """What a new case is expected to cost, tests and errors together, with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def plain(value: Any) -> Any:
    """Return a label as JSON represents it: a string, number or boolean."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise ValueError(f"{value!r} cannot be written to JSON; classes must be strings, numbers or booleans")


def costs_to_json(costs: Costs) -> dict[str, Any]:
    """Return costs as plain objects. Error costs are a list of rows, because JSON's keys are always strings."""
    tests = {}
    for name, test in costs.tests.items():
        group = list(test.group) if isinstance(test.group, tuple) else test.group
        entry = {
            "price": test.price,
            "group": group,
            "delayed": test.delayed,
            "requires": list(test.requires),
            "wait": test.wait,
            "surcharges": [_surcharge_to_json(surcharge) for surcharge in test.surcharges],
        }
        tests[name] = {key: value for key, value in entry.items() if key == "price" or value}
    errors = costs.errors
    if isinstance(errors, Mapping):
        errors = [[plain(truth), plain(answer), cost] for truth, row in errors.items() for answer, cost in row.items()]  # type: ignore[assignment]
    parts = {"tests": tests, "groups": dict(costs.groups), "errors": errors, "about": costs.about}
    if costs.waiting:
        parts["waiting"] = costs.waiting if isinstance(costs.waiting, float) else [list(p) for p in costs.waiting]
    return {key: value for key, value in parts.items() if value != {}}


def costs_digest(costs: Costs, cap: float | None = None) -> str:
    """Return a digest of what costs and a cap say; titles and other notes do not count.

    Examples
    --------
    >>> costs = Costs(tests={"crp": 8.0}, errors=50)
    >>> costs_digest(costs) == costs_digest(Costs(tests={"crp": 8.0}, errors=50, about={"title": "2027"}))
    True
    >>> costs_digest(costs) == costs_digest(costs.with_prices({"crp": 9.0}))
    False
    """
    parts = {name: value for name, value in costs_to_json(costs).items() if name != "about"}
    text = json.dumps([parts, cap if cap is None else float(cap)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_digest(given: str | None, costs: Costs, cap: float | None = None) -> None:
    """Refuse costs that are not those that a file was written with; files without a digest are not checked."""
    if given is not None and given != costs_digest(costs, cap):
        raise ValueError(
            "the price list in the file was changed after the model was saved; undo that and put new prices on the "
            "model with worthwhile reprice, or remove every 'costs_digest' to use the list as it is"
        )


def _surcharge_to_json(surcharge: Surcharge) -> dict[str, Any]:
    conditions = {"truth": surcharge.truth, "result": surcharge.result, "where": surcharge.where}
    found = {"amount": surcharge.amount} | {name: _plain_values(value) for name, value in conditions.items()}
    found |= {"after": list(surcharge.after), "after_any": list(surcharge.after_any)}
    return {key: value for key, value in found.items() if value not in (None, {}, [])}


def _plain_values(condition: Any) -> Any:
    if isinstance(condition, Mapping):
        return {name: _plain_values(value) for name, value in condition.items()}
    return [plain(value) for value in condition] if isinstance(condition, tuple) else plain(condition)


def write_tree(tree: Tree) -> dict[str, Any]:
    """Return the JSON object of a tree."""
    needs = needs_of(tree.context, [tree])
    return {
        "format": FORMAT,
        "version": VERSION,
        **({"needs": needs} if needs else {}),
        **write_context(tree.context),
        "answer": tree.answer,
        **({} if tree.may_stop else {"may_stop": False}),
        **({} if tree.expected_cost is None else {"expected_cost": list(tree.expected_cost)}),
        "nodes": write_nodes(tree),
    }


def needs_of(context: ProblemContext, trees: Iterable[Tree]) -> list[str]:
    """Return the features that a release must know to use these trees; "groups": a test is in several."""
    tests, trees = context.costs.tests.values(), list(trees)
    used = {
        "groups": any(len(test.groups) > 1 for test in tests),
        "surcharges": any(test.surcharges for test in tests),
        "waiting": bool(context.costs.waiting) or any(test.wait for test in tests),
        "cap": context.cap is not None,
        "commits": any(tree.nodes.commits is not None and tree.nodes.commits.any() for tree in trees),
        "answer_costs": any(tree.nodes.answer_costs is not None for tree in trees),
    }
    return [name for name in NEEDS if used[name]]


def check_needs(reader: Reader, what: str) -> None:
    """Refuse a file that needs a feature that this release does not know."""
    unknown = [need for need in reader.take("needs", list, []) if need not in NEEDS]
    if unknown:
        raise ValueError(f"{what} needs {', '.join(map(_short, unknown))}, which a newer release of worthwhile reads")


def write_context(context: ProblemContext) -> dict[str, Any]:
    """Return what the trees of a problem share, as JSON objects."""
    columns: list[dict[str, Any]] = []
    for name, values in zip(context.schema.names, context.schema.values, strict=True):
        columns.append(
            {"name": name, "kind": "numeric"} | ({"dates": True} if name in context.schema.dates else {})
            if values is None
            else {"name": name, "kind": "nominal", "values": list(values)}
        )
    classes = [plain(label) for label in context.classes]
    cap = {} if context.cap is None else {"cap": context.cap}
    digest = costs_digest(context.costs, context.cap)
    costs = costs_to_json(context.costs)
    return {"classes": classes, "columns": columns, "costs": costs, **cap, "costs_digest": digest}


def write_nodes(tree: Tree) -> list[dict[str, Any]]:
    """Return the nodes of a tree as JSON objects."""
    return [_write_node(tree, node) for node in range(tree.n_nodes)]


def _write_node(tree: Tree, node: int) -> dict[str, Any]:
    nodes = tree.nodes
    entry: dict[str, Any] = {}
    if nodes.test[node] >= 0:
        column = int(nodes.test[node])
        entry["test"] = tree.schema.names[column]
        values = tree.schema.values[column]
        if values is None:
            entry["threshold"] = float(nodes.threshold[node])
        else:
            branches: list[list[str]] = [[] for _ in nodes.children(node)]
            for value, branch in zip(values, nodes.branch_of(node), strict=True):
                if branch >= 0:
                    branches[branch].append(value)
            entry["branches"] = branches
        entry["children"] = list(nodes.children(node))
        if nodes.committed(node):
            entry["commits"] = True
    entry["answer"] = plain(tree.answers[nodes.answer[node]])
    for name, array in (
        ("weights", nodes.weights),
        ("believed", nodes.believed),
        ("probabilities", nodes.probabilities),
        ("surcharges", nodes.surcharges),
        ("answer_costs", nodes.answer_costs),
    ):
        if array is not None:
            entry[name] = array[node].tolist()
    return entry


# ---- reading


def read_json(text: str) -> Any:
    """Parse JSON, rejecting duplicate fields."""
    try:
        return json.loads(text, object_pairs_hook=_unique_fields)
    except json.JSONDecodeError as error:
        raise ValueError(f"the text is not JSON: {error}") from None
    except RecursionError:
        raise ValueError("is not a tree: the JSON is nested too deeply") from None
    except ValueError as error:
        if "int_max_str_digits" in str(error):  # Python's advice is for programmers
            raise ValueError("the text is not a tree: a whole number in it has thousands of digits") from None
        raise


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the field {key!r} appears twice in one object")
            seen.add(key)
    return content


def is_finite(value: Any) -> bool:
    """Return whether a JSON value is a number that a float can hold."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


class Reader:
    """Takes fields out of a JSON object, rejecting those that are missing, unknown or of the wrong type."""

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, dict):
            raise ValueError(f"{where} must be an object, got {_short(content)}")
        self._rest, self._where = dict(content), where

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        if key not in self._rest:
            if default is ...:
                raise ValueError(f"{self._where} lacks {key!r}")
            return default
        value = self._rest.pop(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind in (numbers.Real, int)):
            names = " or ".join(_KIND_NAMES[k] for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise ValueError(f"{key!r} of {self._where} must be {names}, got {_short(value)}")
        return value

    def finish(self) -> None:
        if self._rest:
            raise ValueError(f"{self._where} has the unknown field {next(iter(self._rest))!r}")


_KIND_NAMES: dict[type, str] = {
    str: "a string",
    list: "a list",
    dict: "an object",
    int: "a whole number",
    numbers.Real: "a number",
    bool: "true or false",
    float: "a number",
    type(None): "null",
}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def parse_tree(content: Any) -> tuple[Nodes, ProblemContext, str, ExpectedCost | None]:
    """Check the JSON object of a tree and return the arguments of `Tree`."""
    reader = Reader(content, "the tree")
    if reader.take("format", str) != FORMAT:
        raise ValueError(f"is not a tree: 'format' must be {FORMAT!r}, got {_short(content['format'])}")
    if reader.take("version", int) != VERSION:
        raise ValueError(
            f"version {content['version']} of the tree format is unknown; this release reads version {VERSION}"
        )
    check_needs(reader, "the tree")
    answer = reader.take("answer", str, "majority")
    if answer not in ("majority", "least-cost"):
        raise ValueError(f"'answer' of the tree must be 'majority' or 'least-cost', got {answer!r}")
    expected_cost = parse_expected_cost(reader.take("expected_cost", list, None))
    context = parse_context(reader)
    may_stop = reader.take("may_stop", bool, True)
    error_costs = context.bound_costs.error_costs if answer == "least-cost" else None
    nodes = replace(parse_nodes(context, reader.take("nodes", list), error_costs), may_stop=may_stop)
    reader.finish()
    return nodes, context, answer, expected_cost


def parse_expected_cost(content: list[Any] | None) -> ExpectedCost | None:
    """Check and return the expected cost of a tree or a forest; None if it is unknown."""
    if content is None:
        return None
    if len(content) != 3 or not all(map(is_finite, content)) or not content[1] <= content[0] <= content[2]:
        raise ValueError(f"'expected_cost' must be [mean, low, high], got {_short(content)}")
    return ExpectedCost(*map(float, content))


def parse_context(reader: Reader) -> ProblemContext:
    """Check and return the columns, classes and costs of a tree or a forest."""
    classes = _parse_classes(reader.take("classes", list))
    schema = _parse_columns(reader.take("columns", list))
    costs = costs_from_json(reader.take("costs", dict, {}))
    cap = reader.take("cap", numbers.Real, None)
    if cap is not None and not (is_finite(cap) and cap >= 0):
        raise ValueError(f"'cap' of the tree must be at least 0, got {_short(cap)}")
    check_digest(reader.take("costs_digest", str, None), costs, cap)
    return ProblemContext.of(schema, classes, costs, cap)  # rejects prices of tests that are not columns


def parse_nodes(
    context: ProblemContext,
    contents: list[Any],
    error_costs: npt.NDArray[np.float64] | None = None,
    may_reject: bool = True,
) -> Nodes:
    """Check and return the nodes of a tree.

    A node without an answer gets that of its heaviest class, or, with `error_costs`, the one of least cost. The trees
    of a forest answer with a class, never with a reject answer.
    """
    answers = context.answers if may_reject else context.classes
    return _NodeParser(context.schema, list(context.classes), list(answers), error_costs).parse(contents)


def _parse_classes(classes: list[Any]) -> list[Any]:
    if not classes:
        raise ValueError("the tree has no classes")
    for label in classes:
        if not isinstance(label, (str, bool)) and not is_finite(label):
            raise ValueError(f"the class {_short(label)} must be a string, a number or a boolean")
    if len({str(label) for label in classes}) < len(classes):
        raise ValueError("the tree lists a class twice")
    return classes


def _parse_columns(columns: list[Any]) -> Schema:
    names: dict[str, None] = {}
    values: list[tuple[str, ...] | None] = []
    dates = set()
    for position, content in enumerate(columns):
        reader = Reader(content, f"column {position}")
        name = reader.take("name", str)
        kind = reader.take("kind", str)
        if name in names:
            raise ValueError(f"the tree has two columns named {name!r}")
        if kind not in ("numeric", "nominal"):
            raise ValueError(f"'kind' of column {name!r} must be 'numeric' or 'nominal', got {kind!r}")
        names[name] = None
        values.append(_parse_values(name, reader.take("values", list)) if kind == "nominal" else None)
        if kind == "numeric" and reader.take("dates", bool, False):
            dates.add(name)
        reader.finish()
    if not names:
        raise ValueError("the tree has no columns")
    return Schema(tuple(names), tuple(values), frozenset(dates))


def _parse_values(name: str, values: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(v, str) for v in values):
        raise ValueError(f"the values of column {name!r} must be strings")
    if len(set(values)) < len(values):
        raise ValueError(f"column {name!r} lists a value twice")
    return tuple(values)


def costs_from_json(content: Any) -> Costs:
    """Return costs from the plain objects that `costs_to_json` writes."""
    reader = Reader(content, "costs")
    parts = {name: reader.take(name, dict, {}) for name in ("tests", "groups", "about")}
    errors = reader.take("errors", (list, dict, numbers.Real), 1.0)
    waiting = reader.take("waiting", (list, numbers.Real), None)
    reader.finish()
    return Costs(errors=_errors_from_rows(errors) if isinstance(errors, list) else errors, waiting=waiting, **parts)


def _errors_from_rows(rows: list[Any]) -> dict[Any, dict[Any, Any]]:
    nested: dict[Any, dict[Any, Any]] = {}
    for row in rows:
        if not (
            isinstance(row, list) and len(row) == 3 and all(isinstance(label, (str, int, float)) for label in row[:2])
        ):
            raise ValueError(f"a row of the error costs must be [truth, answer, cost], got {_short(row)}")
        truth, answer, cost = row
        if answer in nested.setdefault(truth, {}):
            raise ValueError(f"the error costs list the true class {truth!r} with the answer {answer!r} twice")
        nested[truth][answer] = cost
    return nested


class _NodeParser:
    """Turns the list of nodes into the flat table, where siblings are adjacent and come after their parent."""

    def __init__(
        self,
        schema: Schema,
        classes: list[Any],
        answers: list[Any],
        error_costs: npt.NDArray[np.float64] | None,
    ) -> None:
        self._schema, self._classes, self._answers, self._error_costs = schema, classes, answers, error_costs
        self._column = {name: j for j, name in enumerate(schema.names)}
        self._answer_index = {str(label): i for i, label in enumerate(answers)} | {a: i for i, a in enumerate(answers)}

    def parse(self, contents: list[Any]) -> Nodes:
        if not contents:
            raise ValueError("the tree has no nodes")
        entries = [self._parse_node(i, content, len(contents)) for i, content in enumerate(contents)]
        order = self._order(entries)
        n, k = len(entries), len(self._classes)
        arrays: dict[str, npt.NDArray[Any]] = {
            name: np.full(n, -1, dtype=np.int32) for name in ("test", "first_child", "map_start", "answer")
        }
        arrays |= {name: np.zeros(n, dtype=np.int32) for name in ("n_children", "map_size")}
        threshold, weights = np.zeros(n), np.zeros((n, k))
        maps: list[int] = []
        position = {old: new for new, old in enumerate(order)}
        for old, new in position.items():
            entry = entries[old]
            weights[new] = entry["weights"]
            arrays["answer"][new] = entry["answer"]
            if not entry["children"]:
                continue
            arrays["test"][new] = entry["column"]
            arrays["first_child"][new] = position[entry["children"][0]]
            arrays["n_children"][new] = len(entry["children"])
            threshold[new] = entry["threshold"]
            if entry["map"] is not None:
                arrays["map_start"][new], arrays["map_size"][new] = len(maps), len(entry["map"])
                maps.extend(entry["map"])
        self._inherit_answers(arrays, weights)
        commits = np.array([entries[node]["commits"] for node in order], dtype=np.uint8)
        return Nodes(
            test=arrays["test"],
            threshold=threshold,
            first_child=arrays["first_child"],
            n_children=arrays["n_children"],
            map_start=arrays["map_start"],
            map_size=arrays["map_size"],
            maps=np.array(maps, dtype=np.int32),
            answer=arrays["answer"],
            weights=weights,
            believed=self._parse_all("believed", entries, order),
            probabilities=self._parse_all("probabilities", entries, order),
            surcharges=self._parse_all("surcharges", entries, order),
            answer_costs=self._parse_all("answer_costs", entries, order),
            commits=commits if commits.any() else None,
        )

    @staticmethod
    def _parse_all(
        name: str, entries: Sequence[Mapping[str, Any]], order: Sequence[int]
    ) -> npt.NDArray[np.float64] | None:
        """Return what either all nodes have or none, in the order of the table."""
        lacks = [node for node, entry in enumerate(entries) if entry[name] is None]
        if len(lacks) == len(entries):
            return None
        if lacks:
            raise ValueError(f"node {lacks[0]} lacks {name!r}, which other nodes have")
        found = [entries[node][name] for node in order]
        if len({len(row) for row in found}) > 1:
            raise ValueError(f"the nodes have {name!r} of different lengths")
        return np.array(found, dtype=np.float64)

    def _parse_node(self, index: int, content: Any, n: int) -> dict[str, Any]:
        where = f"node {index}"
        reader = Reader(content, where)
        weights = self._parse_weights(where, reader.take("weights", list, None))
        entry: dict[str, Any] = {"weights": weights, "children": [], "column": -1, "threshold": 0.0, "map": None}
        entry["commits"] = reader.take("commits", bool, False)
        for name in ("surcharges", "answer_costs"):
            entry[name] = self._parse_amounts(where, reader.take(name, list, None), name)
        if entry["answer_costs"] is not None and len(entry["answer_costs"]) != len(self._answers):
            n = len(entry["answer_costs"])
            raise ValueError(f"'answer_costs' of {where} has {n} entries, but there are {len(self._answers)} answers")
        for name in ("believed", "probabilities"):
            given = reader.take(name, list, None)
            entry[name] = None if given is None else self._parse_weights(where, given, name)
        if entry["probabilities"] is not None and abs(entry["probabilities"].sum() - 1) > SUM_SLACK:
            total = entry["probabilities"].sum()
            raise ValueError(f"'probabilities' of {where} must add up to 1, got a sum of {total:g}")
        given = reader.take("answer", (str, numbers.Real), None)
        known = weights if entry["probabilities"] is None else entry["probabilities"]
        entry["answer"] = self._find_answer(where, given, known)
        if "test" in content:
            self._parse_test(where, reader, entry, n)
        elif entry["commits"]:
            raise ValueError(f"{where} is a leaf, but has 'commits'")
        elif entry["answer"] < 0:
            raise ValueError(f"{where} is a leaf without an answer; give 'answer' or 'weights'")
        reader.finish()
        return entry

    def _parse_test(self, where: str, reader: Reader, entry: dict[str, Any], n: int) -> None:
        name = reader.take("test", str)
        if name not in self._column:
            raise ValueError(f"{where} has the unknown test {name!r}; the columns are {', '.join(self._column)}")
        entry["column"] = self._column[name]
        children = reader.take("children", list)
        for child in children:
            if not isinstance(child, int) or isinstance(child, bool) or not 0 <= child < n:
                raise ValueError(f"{where} has the child {_short(child)}; children are nodes 0 to {n - 1}")
        entry["children"] = children
        values = self._schema.values[entry["column"]]
        if values is None:
            threshold = reader.take("threshold", numbers.Real)
            if not is_finite(threshold):
                raise ValueError(f"'threshold' of {where} must be finite, got {_short(threshold)}")
            entry["threshold"] = float(threshold)
            expected = 2
        else:
            branches = reader.take("branches", list)
            entry["map"] = self._parse_branches(where, name, values, branches)
            expected = len(branches)
        if len(children) != expected or expected < 1:
            raise ValueError(
                f"{where} has {len(children)} children, but the test {name!r} has {expected} branches there"
            )

    @staticmethod
    def _parse_branches(where: str, name: str, values: tuple[str, ...], branches: list[Any]) -> list[int]:
        code = {v: i for i, v in enumerate(values)}
        branch_of = [-1] * len(values)
        for b, branch in enumerate(branches):
            if not isinstance(branch, list):
                raise ValueError(f"branch {b} of {where} must be a list of values, got {_short(branch)}")
            for value in branch:
                if not isinstance(value, str) or value not in code:
                    known = f"its values are {', '.join(values)}"
                    raise ValueError(
                        f"{where} has a branch for {_short(value)}, which is not a value of {name!r}; {known}"
                    )
                if branch_of[code[value]] >= 0:
                    raise ValueError(f"{where} has two branches for {value!r}")
                branch_of[code[value]] = b
        return branch_of

    def _parse_weights(self, where: str, weights: list[Any] | None, name: str = "weights") -> npt.NDArray[np.float64]:
        if weights is None:
            return np.zeros(len(self._classes))
        if len(weights) != len(self._classes):
            raise ValueError(
                f"{name!r} of {where} has {len(weights)} entries, but there are {len(self._classes)} classes"
            )
        for w in weights:
            if not is_finite(w) or not 0 <= w <= MAX_WEIGHT:
                raise ValueError(f"{name!r} of {where} has {_short(w)}; {name} are numbers from 0 to {MAX_WEIGHT:g}")
        return np.array(weights, dtype=np.float64)

    @staticmethod
    def _parse_amounts(where: str, amounts: list[Any] | None, name: str) -> list[float] | None:
        if amounts is None:
            return None
        for value in amounts:
            if not is_finite(value):
                raise ValueError(f"{name!r} of {where} has {_short(value)}; they are finite numbers")
        return [float(value) for value in amounts]

    def _find_answer(self, where: str, given: Any, weights: npt.NDArray[np.float64]) -> int:
        if given is None:
            return self._best_answer(weights) if weights.any() else -1
        index = self._answer_index.get(given, self._answer_index.get(str(given)))
        if index is not None:
            return index
        raise ValueError(f"{where} answers {given!r}; the answers are {', '.join(map(str, self._answers))}")

    @staticmethod
    def _order(entries: Sequence[Mapping[str, Any]]) -> list[int]:
        """Return the nodes breadth-first from node 0; every node must be reached exactly once."""
        order, seen, depth = [0], {0}, {0: 0}
        for node in order:
            for child in entries[node]["children"]:
                depth[child] = depth[node] + 1
                if depth[child] > MAX_DEPTH:
                    raise ValueError(f"node {child} is more than {MAX_DEPTH} tests deep")
                if child in seen:
                    again = f"node {child} is reached twice (again from node {node})"
                    raise ValueError(f"{again}; a tree has no cycles and no shared branches")
                seen.add(child)
                order.append(child)
        if len(order) < len(entries):
            lost = next(node for node in range(len(entries)) if node not in seen)
            raise ValueError(f"node {lost} cannot be reached from node 0, the root")
        return order

    def _best_answer(self, weights: npt.NDArray[np.float64]) -> int:
        return int(weights.argmax()) if self._error_costs is None else best_answer(self._error_costs, weights)

    def _inherit_answers(self, arrays: Mapping[str, npt.NDArray[np.int32]], weights: npt.NDArray[np.float64]) -> None:
        """Fill in weights of inner nodes by the sum of their children's, and answers by these weights."""
        for node in range(len(weights) - 1, -1, -1):
            first, count = arrays["first_child"][node], arrays["n_children"][node]
            if count and not weights[node].any():
                weights[node] = weights[first : first + count].sum(axis=0)
            if arrays["answer"][node] < 0:
                known = weights[node].any()
                arrays["answer"][node] = self._best_answer(weights[node]) if known else arrays["answer"][first]

"""The forests of a learner, one per value of the impurity's parameter, and their JSON (docs/tree-format.md)."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.learners.forest.voting import BudgetRecord, StoppingTable
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.json_format import (
    MAX_WEIGHT,
    ExpectedCost,
    Reader,
    is_finite,
    parse_context,
    parse_nodes,
    parse_tree,
    write_context,
    write_nodes,
)
from worthwhile.tree.tree import Tree

__all__ = ["Forest", "forests_from_json", "forests_to_json"]

Floats = npt.NDArray[np.float64]
SLACK = 1e-9  # relative, of an average price against the budget


@dataclass(frozen=True, eq=False)
class Forest:
    """The trees grown with one parameter value, and what they cost on the validation cases.

    Attributes
    ----------
    alpha : float
    trees : tuple of Tree
    curve : tuple of BudgetRecord
        For 0, 1, 2, … trees. If the worth of the next tree decides when a case stops: for all trees at several rates,
        the lowest first, then for no tree.
    stopping : StoppingTable or None
        The table of that decision.
    tests : tuple of int or None
        The tests that the trees may use; None: all.
    expected : tuple of ExpectedCost
        What a new case is expected to cost, by record of the curve. Only of forests from files, and not saved.
    """

    alpha: float
    trees: tuple[Tree, ...]
    curve: tuple[BudgetRecord, ...]
    stopping: StoppingTable | None = None
    tests: tuple[int, ...] | None = None
    expected: tuple[ExpectedCost, ...] = ()

    def within(self, budget: float | None) -> BudgetRecord:
        """Return the record of as many trees as the budget allows on the validation cases."""
        if self.stopping is not None:
            # Without a budget, prices and error costs are in the same unit.
            right = (r for r in self.curve if (r.rate == 1 if budget is None else fits(r.price, budget)))
            return next(right, self.curve[-1])
        found = self.curve[0]
        for record in self.curve[1:]:
            if not fits(record.price, budget):
                break
            found = record
        return found


def fits(price: float, budget: float | None) -> bool:
    """Return whether an average price is within a budget.

    Examples
    --------
    >>> fits(3.0, 3.0), fits(3.1, 3.0), fits(3.1, None)
    (True, False, True)
    """
    return budget is None or price <= budget + SLACK * max(budget, price)


def forests_to_json(context: ProblemContext, class_weights: Floats, forests: Sequence[Forest]) -> dict[str, Any]:
    """Return forests as plain data; what all trees share is written once."""
    return {
        "problem": write_context(context),
        "class_weights": [float(weight) for weight in class_weights],
        "forests": [
            {
                "alpha": float(forest.alpha),
                "trees": [write_nodes(tree) for tree in forest.trees],
                "curve": [[r.trees, r.price, r.error, r.error_cost, r.rate] for r in forest.curve],
                "states": None if forest.stopping is None else forest.stopping.to_json(),
                "tests": None if forest.tests is None else [context.columns[test] for test in forest.tests],
            }
            for forest in forests
        ],
    }


def forests_from_json(content: Any, version: int) -> tuple[ProblemContext, Floats, list[Forest]]:
    """Check what `forests_to_json` wrote and return the problem, the class weights and the forests."""
    reader = Reader(content, "the forest")
    context, class_weights = _parse_root(reader) if version == 1 else _parse_problem(reader)
    entries = reader.take("forests", list)
    reader.finish()
    if not entries:
        raise ValueError("'forests' of the forest must not be empty")
    return context, class_weights, [_parse_forest(context, entry, i) for i, entry in enumerate(entries)]


def _parse_root(reader: Reader) -> tuple[ProblemContext, Floats]:
    """Read the problem of format version 1, which is a tree of one leaf."""
    nodes, context, _, _ = parse_tree(reader.take("root", dict))
    if len(nodes.test) != 1:
        raise ValueError(f"'root' of the forest must be a single leaf, got {len(nodes.test)} nodes")
    return context, nodes.weights[0]


def _parse_problem(reader: Reader) -> tuple[ProblemContext, Floats]:
    problem = Reader(reader.take("problem", dict), "'problem' of the forest")
    context = parse_context(problem)
    problem.finish()
    weights, k = reader.take("class_weights", list), len(context.classes)
    if len(weights) != k or not all(is_finite(w) and 0 <= w <= MAX_WEIGHT for w in weights):
        raise ValueError(f"'class_weights' of the forest must be {k} numbers from 0 to {MAX_WEIGHT:g}, one per class")
    return context, np.array(weights, dtype=np.float64)


def _parse_forest(context: ProblemContext, content: Any, position: int) -> Forest:
    where = f"forest {position}"
    reader = Reader(content, where)
    if not is_finite(alpha := reader.take("alpha", numbers.Real)):
        raise ValueError(f"'alpha' of {where} must be a finite number")
    alpha = float(alpha)
    trees = []
    for number, nodes in enumerate(reader.take("trees", list)):
        if not isinstance(nodes, list):
            raise ValueError(f"tree {number} of {where} must be a list of nodes")
        try:
            trees.append(Tree(parse_nodes(context, nodes, may_reject=False), context))
        except ValueError as error:
            raise ValueError(f"tree {number} of {where}: {error}") from None
    states = reader.take("states", (dict, type(None)), None)
    tests = _parse_tests(context, reader.take("tests", (list, type(None)), None), where)
    curve = tuple(_parse_record(row, alpha, where) for row in reader.take("curve", list))
    if not curve or (states is None and [r.trees for r in curve] != list(range(len(trees) + 1))):
        raise ValueError(f"'curve' of {where} must have one row for 0, 1, … {len(trees)} trees")
    if states is not None and any((r.trees, r.rate is None) != (len(trees), False) for r in curve[:-1]):
        raise ValueError(f"'curve' of {where} must name a rate for {len(trees)} trees in every row but the last")
    if states is not None and (curve[-1].trees, curve[-1].price) != (0, 0.0):
        raise ValueError(f"'curve' of {where} must end with 0 trees at price 0")
    reader.finish()
    stopping = None if states is None else StoppingTable.from_json(states, len(trees))
    return Forest(alpha, tuple(trees), curve, stopping, tests)


def _parse_tests(context: ProblemContext, names: Any, where: str) -> tuple[int, ...] | None:
    for name in names or ():
        if name not in context.schema.position:
            known = ", ".join(context.columns)
            raise ValueError(f"'tests' of {where} names {name!r}, which is not a column; the columns are {known}")
    return None if names is None else tuple(context.schema.position[name] for name in names)


def _parse_record(row: Any, alpha: float, where: str) -> BudgetRecord:
    if (
        not isinstance(row, list)
        or len(row) != 5
        or not isinstance(row[0], int)
        or not all(map(is_finite, row[:4]))
        or not (row[4] is None or (is_finite(row[4]) and row[4] >= 0))
    ):
        raise ValueError(f"a row of 'curve' of {where} must be [trees, price, error, error cost, rate], got {row!r}")
    trees, price, error, cost, rate = row
    return BudgetRecord(alpha, trees, float(price), float(error), float(cost), None if rate is None else float(rate))

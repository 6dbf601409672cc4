"""Case weights from error costs: a case weighs as much as it costs to misclassify it (Ting 1998)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.error_costs import listing, number
from worthwhile.table.columns import value_text

__all__ = ["case_costs", "class_costs", "instance_weights"]

Floats = npt.NDArray[np.float64]
SLACK = 1e-12  # relative: costs that differ by less count as equal


def class_costs(costs: BoundCosts, labels: Sequence[Any], vector: str | Mapping[Any, float]) -> Floats:
    """Return what it costs to misclassify a case of each class: one number for each row of the cost matrix.

    Parameters
    ----------
    costs : BoundCosts
    labels : sequence
        The classes.
    vector : {"sum", "max"} or mapping of class to cost
        "sum": the costs of all wrong answers together (Breiman et al. 1984); "max": the most expensive one.
    """
    if isinstance(vector, Mapping):
        found, why = _given(vector, labels), "vector gives no class a cost above 0"
    else:
        found = _by_matrix(costs.error_costs[:, : len(labels)], vector)
        why = "no wrong answer costs more than the right one"
    if len(labels) > 1 and not found.any():
        raise ValueError(f"{why}, so all cases would have weight 0")
    return found


def _by_matrix(matrix: Floats, vector: str) -> Floats:
    return _costs_above(matrix, np.diagonal(matrix), vector)


def _costs_above(errors: Floats, right: Floats, vector: str) -> Floats:
    regret = np.maximum(errors - right[:, None], 0.0)  # a right answer may have a cost, too
    costs: Floats = regret.sum(axis=1) if vector == "sum" else regret.max(axis=1)
    return costs


def _given(vector: Mapping[Any, Any], labels: Sequence[Any]) -> Floats:
    """Return the costs of a mapping. Its labels may be strings, and of more classes than a fold has."""
    costs: dict[str, float] = {}
    for label, given in vector.items():
        name = value_text(label)
        cost = number(given, f"the cost of the class {name!r} in vector", ("vector", name))
        if cost < 0:
            raise ValueError(f"the cost of the class {name!r} in vector must be at least 0, got {given!r}")
        if name in costs:
            raise ValueError(f"vector has two costs for the class {name!r}: {costs[name]:g} and {cost:g}")
        costs[name] = cost
    names = [value_text(label) for label in labels]
    if missing := [name for name in names if name not in costs]:
        raise ValueError(
            f"vector has no cost for the class {missing[0]!r}, only for {listing(costs)}; it needs one for every class"
        )
    return np.array([costs[name] for name in names])


def case_costs(errors: Floats, classes: npt.NDArray[np.int32], n_classes: int, vector: str) -> Floats:
    """Return what it costs to misclassify each case: one number for each row of error costs by case.

    Examples
    --------
    >>> case_costs(np.array([[0.0, 5.0], [2.0, 1.0]]), np.array([0, 1]), 2, "sum").tolist()
    [5.0, 1.0]
    """
    right = errors[np.arange(len(classes)), classes]
    found = _costs_above(errors[:, :n_classes], right, vector)
    if n_classes > 1 and not found.any():
        raise ValueError("no wrong answer costs any case more than the right one, so all cases would have weight 0")
    return found


def instance_weights(classes: npt.NDArray[Any], costs: Floats, weights: Floats | None) -> Floats:
    """Return weights in proportion to the cost of each case's class; their sum does not change.

    Examples
    --------
    >>> instance_weights(np.array([0, 0, 0, 1]), np.array([1.0, 5.0]), None).tolist()
    [0.5, 0.5, 0.5, 2.5]
    """
    counted = np.ones(len(classes)) if weights is None else weights
    if np.ptp(costs) <= SLACK * costs.max():  # equal costs: not even rounding should change anything
        return counted
    weighted = counted * costs[classes]
    total = weighted.sum()
    return weighted * (counted.sum() / total) if total > 0 else counted

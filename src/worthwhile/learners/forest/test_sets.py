"""Sets of tests for forests that use only a few, from cheap to expensive (docs/design/forests.md).

A forest pays for the union of what its trees ask for: trees that share a small set of tests get far more out of a
budget than trees that ask for different ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from worthwhile.costs.pricing import Pricing
from worthwhile.tree.nodes import Nodes

__all__ = ["importances", "ladder"]

Floats = npt.NDArray[np.float64]

# How strongly prices count against importance. No single exponent is best for all price lists.
EXPONENTS = (0.3, 1.0)
# Each set costs at least this many times as much as the one before.
STEP = 1.2
SLACK = 1e-9  # rounding, which depends on the currency, should not decide


def importances(trees: Iterable[Nodes], n_tests: int) -> Floats:
    """Return by how much each test lowers the Gini impurity of the training cases, over all trees.

    Examples
    --------
    >>> import worthwhile as ww
    >>> tree = ww.C45Classifier(min_cases=1).fit([[1, 5], [2, 5], [3, 5], [4, 5]], [0, 0, 1, 1]).tree_
    >>> importances([tree.nodes], 2).tolist()
    [2.0, 0.0]
    """
    total = np.zeros(n_tests)
    for nodes in trees:
        weight = nodes.weights.sum(axis=1)
        mixed = weight - np.square(nodes.weights).sum(axis=1) / np.where(weight > 0, weight, 1.0)
        inner = np.flatnonzero(nodes.test >= 0)
        below = np.concatenate([[0.0], np.cumsum(mixed)])
        first = nodes.first_child[inner]
        children = below[first + nodes.n_children[inner]] - below[first]
        np.add.at(total, nodes.test[inner], mixed[inner] - children)
    return total


def ladder(importance: Floats, prices: Pricing, amounts: Sequence[float] | None = None) -> list[tuple[int, ...]]:
    """Return growing sets of tests, each in column order, the most important for their price first.

    `amounts` are what tests cost on average, with their surcharges, if not what the list says.

    Examples
    --------
    >>> import worthwhile as ww
    >>> tree = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 2, "x1": 1, "x2": 9})).fit([[0, 0, 1]] * 2, [0, 1]).tree_
    >>> ladder(np.array([5.0, 3.0, 9.0]), tree.pricing)
    [(2,), (0, 2), (0, 1, 2), (1,), (0, 1)]
    """
    found: dict[tuple[int, ...], None] = {}
    for exponent in EXPONENTS:
        last, chosen = 0.0, []
        order = _ranked(importance, prices, exponent, amounts)
        for test in order:
            chosen.append(test)
            price = prices.price(prices.closure(chosen), amounts=amounts)
            if price > 0 and (price >= (STEP - SLACK) * last or test == order[-1]):
                found[tuple(sorted(chosen))] = None
                last = price
    return list(found)


def _ranked(importance: Floats, prices: Pricing, exponent: float, amounts: Sequence[float] | None) -> list[int]:
    """Return the useful tests, each time the one of highest importance for its additional price."""
    left, paid, order = set(np.flatnonzero(importance > 0).tolist()), frozenset[int](), []

    def worth(test: int) -> tuple[float, float, int]:
        price = prices.price(prices.closure([test]), paid, amounts)
        return float(importance[test] / price**exponent) if price > 0 else np.inf, float(importance[test]), -test

    while left:
        best = max(left, key=worth)
        left.remove(best)
        order.append(best)
        paid |= prices.closure([best])
    return order

"""The bound of theorem 2.2 (Nan, Wang & Saligrama 2015) on what the most expensive case of a greedy tree pays.

If the impurity F is admissible, the most expensive case of the cases S that a tree was grown from pays at most
ln(F(S) / F_min) + 1 times as much as in the best tree with leaves without impurity, where F_min is the smallest
impurity above 0. docs/results/max-cost.md compares it with the exact optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Prices
from worthwhile.table.schema import Schema
from worthwhile.tree.tree import Tree

__all__ = ["has_plain_prices", "max_cost_bound"]

SLACK = 1e-9  # of an impurity that is 0
LARGEST = 100_000  # class sizes to look for the smallest impurity


def max_cost_bound(trees: Iterable[Tree], impurity: str, parameter: float, unit: float) -> float | None:
    """Return the largest bound of some trees; None, if a leaf of one has impurity, or there is no tree.

    Parameters
    ----------
    trees : iterable of Tree
    impurity : {"pairs", "powers"}
    parameter : float
        The threshold α, or the power.
    unit : float
        What the weights of cases are multiples of.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.EG2Classifier(nominal=["x0"], cross_fit=False, prune="none", min_cases=1)
    >>> tree = clf.fit([[0], [0], [1]], ["a", "a", "b"]).tree_
    >>> round(max_cost_bound([tree], "pairs", 0, 1.0), 3)
    1.693
    """
    own = parameter / unit if impurity == "pairs" else parameter
    least, bounds = _least(impurity, own), []
    for tree in trees:
        counts = tree.nodes.weights / unit
        leaves = tree.nodes.first_child < 0
        if any(_impurity(row, impurity, own) > SLACK for row in counts[leaves]):
            return None
        bounds.append(math.log(max(_impurity(counts[0], impurity, own) / least, 1.0)) + 1)
    return max(bounds, default=None)


def _impurity(counts: npt.NDArray[np.float64], impurity: str, parameter: float) -> float:
    """Return equation 11 or 14 of the paper.

    Examples
    --------
    >>> _impurity(np.array([3.0, 2.0]), "pairs", 0), _impurity(np.array([3.0, 2.0]), "powers", 2)
    (6.0, 12.0)
    """
    if impurity == "powers":
        return float(counts.sum() ** parameter - (counts**parameter).sum())
    above = np.clip(counts - parameter, 0, None)
    pairs = np.clip(np.outer(above, above) - parameter**2, 0, None)
    return float(np.triu(pairs, k=1).sum())


def _least(impurity: str, parameter: float) -> float:
    """Return the smallest impurity above 0 of whole numbers of cases.

    Examples
    --------
    >>> _least("pairs", 0), _least("powers", 3), _least("pairs", 1), _least("pairs", 2.5)
    (1.0, 6.0, 1.0, 0.5)
    """
    if impurity == "powers":
        return float(2**parameter - 2)
    # Above the threshold, for each size of one class the smallest one of the other.
    first = np.arange(math.floor(parameter) + 1, math.floor(parameter) + 1 + LARGEST, dtype=np.float64) - parameter
    second = np.floor(parameter + parameter**2 / first) + 1 - parameter
    found = first * second - parameter**2
    return float(found[found > SLACK].min())


def has_plain_prices(prices: Prices, schema: Schema) -> bool:
    """Return whether the theorem is about such tests: nominal ones, each with a price of its own, and no delays."""
    nominal = all(values is not None for values in schema.values)
    alone: Sequence[bool] = (
        not len(prices.group_list),
        not prices.delayed.any(),
        len(prices.closure_tests) == len(prices.marginal),
        not (prices.wait.any() and len(prices.waiting)),
        not prices.surcharges,
    )
    return nominal and not schema.ordered and all(alone)

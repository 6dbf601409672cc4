"""Exact trees without splits into branches of few cases: what the search has found is cut back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.bound_costs import LearningCosts
from worthwhile.tree.nodes import Nodes

if TYPE_CHECKING:
    from worthwhile.learners.optimal.search import Found

__all__ = ["BranchLimit"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
SLACK = 1e-9  # parts of a tree whose costs differ by less, relative to them, cost the same
# Leaf prices to search with, in parts of what the errors of so many cases cost without a test: with higher ones, trees
# have fewer small branches.
LEAF_PRICES = (0.25, 1.0, 4.0)


class BranchLimit:
    """Trees of which every split has at least two branches with `min_cases`, as in growing.

    Parameters
    ----------
    rows : (table, classes, weights)
        The cases that trees are found for.
    costs : LearningCosts
    min_cases : float
    leaf_price : float
        What every leaf costs per case; like all costs here, in the user's money.
    """

    def __init__(self, rows: tuple[Any, Any, Any], costs: LearningCosts, min_cases: float, leaf_price: float) -> None:
        self._rows, self._costs, self._min_cases, self._leaf_price = rows, costs, min_cases, leaf_price
        self._counts: Floats = np.bincount(rows[1], rows[2], len(costs.error_costs)).astype(np.float64)

    def leaf_prices(self) -> list[float]:
        """Return higher leaf prices to search with."""
        total = self._counts.sum()
        no_test = float((self._counts @ self._costs.error_costs).min() / total) * self._costs.unit
        return [self._leaf_price + share * self._min_cases / total * no_test for share in LEAF_PRICES]

    def kept(self, found: Found) -> Found:
        """Return the result of a search with its trees cut back, and the cheapest of them as its trees."""
        by_depth = [self._part(core, cost) for core, cost in found.by_depth]
        own = self._part(found.core, found.objective)
        core, objective = own if own[0] is found.core else min([own, *by_depth], key=lambda one: one[1])
        deeper = self._part(found.deeper, found.deeper_objective)
        if deeper[0] is not found.deeper and objective < deeper[1]:
            deeper = core, objective
        return found._replace(
            core=core, objective=objective, by_depth=by_depth, deeper=deeper[0], deeper_objective=deeper[1]
        )

    def revalued(self, found: Found) -> Found:
        """Return the result of a search with another leaf price as if it had been with this one."""
        return found._replace(
            objective=self._cost(Nodes.from_core(found.core)),
            by_depth=[(core, self._cost(Nodes.from_core(core))) for core, _ in found.by_depth],
            deeper_objective=self._cost(Nodes.from_core(found.deeper)),
        )

    def _part(self, core: Any, cost: float) -> tuple[Any, float]:
        """Return a tree without its splits into small branches, and what it costs per case.

        What is above a split that was cut off is cut off, too, where that costs less: it may have paid only with the
        tests below it.
        """
        nodes = Nodes.from_core(core)
        cut = _small_splits(nodes, self._min_cases)
        if not cut.any():
            return core, cost
        above, part = _above(nodes, cut), nodes.cut_at(cut)
        least = self._cost(part)
        for node in np.flatnonzero(above)[::-1]:  # children come after their parents
            trial = cut.copy()
            trial[node] = True
            smaller = nodes.cut_at(trial)
            its = self._cost(smaller)
            if its <= least + SLACK * abs(least):
                cut, part, least = trial, smaller, its
        return part.to_core(), least

    def _cost(self, nodes: Nodes) -> float:
        """Return what a tree costs per case: prices, errors and leaves."""
        table, classes, weights = self._rows
        costs, core, leaves = self._costs, nodes.to_core(), nodes.test < 0
        errors = core.answer_costs(table, classes, weights, costs.core_errors)
        _, prices, _, _ = _core.route(core, table, costs.core_pricing, costs.core_errors, least_cost=True, prices=True)
        assert prices is not None
        wrong = errors[leaves, nodes.answer[leaves]].sum() / nodes.weights[0].sum()
        mean = float(np.average(prices, weights=weights) + wrong)
        return costs.in_money(mean, self._counts) + self._leaf_price * int(leaves.sum())


def _small_splits(nodes: Nodes, min_cases: float) -> Bools:
    """Return which nodes have fewer than two branches of this weight."""
    large = nodes.weights.sum(axis=1) >= min_cases - SLACK
    n_large = [large[nodes.children(node)].sum() for node in range(len(nodes.test))]
    found: Bools = (nodes.test >= 0) & (np.array(n_large) < 2)
    return found


def _above(nodes: Nodes, cut: Bools) -> Bools:
    """Return which nodes are above a node that is cut off, and are not cut off themselves."""
    found = np.zeros(len(cut), dtype=bool)
    for node in range(len(cut) - 1, -1, -1):
        below = nodes.children(node)
        found[node] = not cut[node] and any(cut[child] or found[child] for child in below)
    return found

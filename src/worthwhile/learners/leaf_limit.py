"""Trees that people can read: the cheapest part of a tree with a limited number of leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from worthwhile import _core
from worthwhile.costs.bound_costs import LearningCosts
from worthwhile.learners.growth_policy import GrowthPolicy

__all__ = ["LeafLimit", "limit_leaves"]


@dataclass(frozen=True)
class LeafLimit:
    """What it costs to limit the leaves of a tree.

    Attributes
    ----------
    leaves, full_leaves : int
        Number of leaves of the tree, and of the whole tree that it is a part of.
    cost, full_cost : float
        Their expected total costs per case, by the pessimistic estimate of pruning by cost.
    """

    leaves: int
    full_leaves: int
    cost: float
    full_cost: float


def limit_leaves(
    core: Any, rows: tuple[Any, Any, Any], costs: LearningCosts, policy: GrowthPolicy, max_leaves: int | None
) -> tuple[Any, LeafLimit | None]:
    """Return the cheapest part of a core tree with at most `max_leaves` leaves, and what the limit costs.

    Parameters
    ----------
    core : core tree
    rows : (table, classes, weights)
        The cases that the tree was pruned by.
    costs : LearningCosts
    policy : GrowthPolicy
        How the tree answers, and the confidence level of the pessimistic estimate.
    max_leaves : int or None
        None: the tree stays as it is.
    """
    if max_leaves is None:
        return core, None
    data = *rows, costs.core_pricing, costs.core_errors, replace(policy, max_leaves=int(max_leaves)).core()
    part = _core.with_few_leaves(core, *data)
    _, classes, weights = rows
    class_weights = np.bincount(classes, weights, len(costs.error_costs)).astype(np.float64)
    cost, full_cost = (costs.in_money(_core.tree_cost(tree, *data), class_weights) for tree in (part, core))
    return part, LeafLimit(_n_leaves(part), _n_leaves(core), cost, full_cost)


def _n_leaves(core: Any) -> int:
    return int((np.asarray(core.test) < 0).sum())

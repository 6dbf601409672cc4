"""A learned model with other prices and error costs."""

from __future__ import annotations

import copy
from typing import Any

from worthwhile.costs.costs import Costs
from worthwhile.learners.auto.classifier import AutoClassifier
from worthwhile.learners.tree_classifier import TreeClassifier
from worthwhile.tree.repricing import repriced
from worthwhile.tree.tree import Tree

__all__ = ["repriced_model"]


def repriced_model(model: Any, costs: Costs, answers: bool = True) -> Any:
    """Return a copy of a tree, or of a learner of a single tree, with other costs; see `repriced`.

    Of an `AutoClassifier` it is the learner that was chosen: the others were compared with the old costs.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> repriced_model(clf, costs.with_prices({"x0": 1.5})).next_test({}).price
    1.5
    """
    if isinstance(model, Tree):
        return repriced(model, costs, answers)
    if isinstance(model, AutoClassifier):
        return repriced_model(model.best_estimator_, costs, answers)
    if not isinstance(model, TreeClassifier):
        name = type(model).__name__
        raise ValueError(f"a {name} chose its tests by the old prices in many places; learn it again with the new ones")
    tree = repriced(model._tree(), costs, answers)
    found = copy.copy(model)
    found.costs = costs
    found.__dict__.update(tree_=tree, _context=tree.context)
    return found

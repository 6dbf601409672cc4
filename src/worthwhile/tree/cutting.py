"""Where a tree asks for tests that do not pay by the figures it shows (docs/design/pruning.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from worthwhile.tree.node_costs import SLACK

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["where_it_does_not_pay", "where_no_result_matters"]


def where_it_does_not_pay(tree: Tree) -> npt.NDArray[np.bool_]:
    """Return at which nodes going on costs more than answering, once all such nodes below are leaves.

    Costs are those of `node_costs`: prices in context, and error costs by the class probabilities of the nodes, or by
    their `answer_costs`.

    Examples
    --------
    >>> import json
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> where_it_does_not_pay(clf.tree_).tolist()
    [False, False, False]
    >>> content = json.loads(clf.tree_.to_json())
    >>> content["costs"]["tests"]["x0"]["price"] = 6.0
    >>> del content["costs_digest"]
    >>> raised = ww.Tree.from_json(json.dumps(content))
    >>> where_it_does_not_pay(raised).tolist()  # answering at once costs 5
    [True, False, False]
    """
    # A constant in a row must not matter, although the probabilities of branches do not add up to those above.
    nodes, errors = tree.nodes, tree.error_costs - tree.error_costs.min(axis=1, keepdims=True)
    slack = SLACK * float(np.abs(errors).max())
    answer_costs = tree._core_tree.shares() @ errors if nodes.answer_costs is None else nodes.answer_costs
    own = answer_costs[np.arange(tree.n_nodes), nodes.answer].tolist()
    totals = nodes.weights.sum(axis=1).tolist()
    paid = _paid_above(tree)
    below: list[frozenset[int]] = [frozenset()] * tree.n_nodes  # the tests that are left at or below a node
    cost, found = list(own), np.zeros(tree.n_nodes, dtype=bool)
    for node in range(tree.n_nodes - 1, -1, -1):  # children come after their parents
        test, children = int(nodes.test[node]), nodes.children(node)
        if test < 0:
            continue
        below[node] = frozenset({test}).union(*(below[child] for child in children))
        reached = sum(totals[child] for child in children)
        if not reached > 0:
            continue  # what going on costs is unknown
        before = paid[node]
        going_on = sum(totals[child] / reached * cost[child] for child in children)
        if before is not None and test not in before:
            commits = nodes.committed(node) or tree.pricing.orders_delayed(test, before)
            order = tree.pricing.order(below[node] if commits else {test}, before)
            going_on += tree.pricing.price(order, before, tree.amounts_at(node))
        found[node] = going_on > own[node] + slack
        cost[node], below[node] = (own[node], frozenset[int]()) if found[node] else (going_on, below[node])
    return found


def where_no_result_matters(tree: Tree) -> npt.NDArray[np.bool_]:
    """Return at which nodes a test costs something although all leaves below give the answer of the node.

    Such tests come from estimates that differ between a node and its branches: those of pruning are pessimistic, and
    class probabilities are shrunk.

    Examples
    --------
    >>> import json
    >>> import worthwhile as ww
    >>> content = {
    ...     "format": "worthwhile-tree", "version": 1, "classes": ["a", "b"],
    ...     "columns": [{"name": "x", "kind": "numeric"}], "costs": {"tests": {"x": 4.0}, "errors": 10.0},
    ...     "nodes": [{"test": "x", "threshold": 1.0, "children": [1, 2]}, {"answer": "a"}, {"answer": "a"}],
    ... }
    >>> where_no_result_matters(ww.Tree.from_json(json.dumps(content))).tolist()
    [True, False, False]
    """
    nodes, pricing, paid = tree.nodes, tree.pricing, _paid_above(tree)
    answers: list[frozenset[int]] = [frozenset()] * tree.n_nodes  # of the leaves below
    found = np.zeros(tree.n_nodes, dtype=bool)
    for node in range(tree.n_nodes - 1, -1, -1):  # children come after their parents
        test, own = int(nodes.test[node]), int(nodes.answer[node])
        if test < 0:
            answers[node] = frozenset({own})
            continue
        answers[node] = frozenset().union(*(answers[child] for child in nodes.children(node)))
        if answers[node] == {own}:
            before = paid[node] or frozenset()
            found[node] = pricing.price(pricing.order({test}, before), before, tree.amounts_at(node)) > 0
    return found


def _paid_above(tree: Tree) -> list[frozenset[int] | None]:
    """Return what is paid for when a case reaches a node; None: an order above was for everything that may follow."""
    found: list[frozenset[int] | None] = [frozenset()] * tree.n_nodes
    for node in range(tree.n_nodes):
        test, before = int(tree.nodes.test[node]), found[node]
        if test < 0:
            continue
        after = before
        if before is not None and test not in before:
            commits = tree.nodes.committed(node) or tree.pricing.orders_delayed(test, before)
            after = None if commits else tree.pricing.order({test}, before)
        for child in tree.nodes.children(node):
            found[child] = after
    return found

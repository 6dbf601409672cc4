"""What stands at each node of a tree in money: prices in context, shares of cases, expected costs.

Everything is said about cases of which all values can be had, per case that comes to the node. Expectations are taken
over the weights that the tree was learned from (docs/design.md, "What going on is expected to cost"); where a tree was
written by hand and has none, they are not known, and None.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from worthwhile.costs.pricing import Pricing
    from worthwhile.tree.tree import Tree

__all__ = ["NodeCosts", "best_answer", "node_costs", "subtree"]

SLACK = 1e-9  # amounts that differ by less, relative to the largest error cost, are equal


@dataclass(frozen=True)
class NodeCosts:
    """What stands at a node in money.

    Attributes
    ----------
    price : float
        What its test costs there, everything that it orders included; 0 for a leaf.
    paid : bool
        The test was paid for on the way here, or with an order above.
    known : bool
        The test was done on the way here.
    delayed : bool
        Ordering it means waiting for a result, so that all tests below are ordered with it.
    commits : tuple of int
        The other tests, not paid yet, that are ordered with it.
    order : int or None
        The node, this one or one above it, that orders a delayed test and with it all tests below.
    group : str or None
        The group of the test, whose common price is part of `price` unless `group_paid`.
    group_paid : bool
        The common price of the group was paid on the way here.
    spent : float
        Price of everything on the way here, this node included.
    share : float or None
        The share of the training cases that comes here.
    stop_answer : object
        The answer of least expected error cost here.
    stop_cost : float or None
        Its expected error cost.
    expected_cost : float or None
        Expected price of what is still to be paid from here on, plus expected error cost of the answers that the tree
        gives; for a leaf, of its answer.
    """

    price: float
    paid: bool
    known: bool
    delayed: bool
    commits: tuple[int, ...]
    order: int | None
    group: str | None
    group_paid: bool
    spent: float
    share: float | None = None
    stop_answer: Any = None
    stop_cost: float | None = None
    expected_cost: float | None = None


def subtree(tree: Tree, node: int) -> Iterator[int]:
    """Yield a node and everything below it."""
    todo = [node]
    while todo:
        yield (at := todo.pop())
        todo.extend(tree.nodes.children(at))


def best_answer(error_costs: npt.NDArray[np.float64], shares: npt.NDArray[np.float64], least: bool = True) -> int:
    """Return the answer of least cost, or the majority class, to cases of these class shares; the first of equals."""
    scores = shares @ error_costs if least else -shares
    slack = SLACK * float(shares.sum()) * (float(np.abs(error_costs).max()) if least else 1.0)
    best = 0
    for answer in range(1, len(scores)):
        if scores[answer] < scores[best] - slack:
            best = answer
    return best


def node_costs(tree: Tree) -> list[NodeCosts]:
    """Return what stands at each node in money, by node.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> [(money.price, money.share, money.stop_cost, money.expected_cost) for money in node_costs(clf.tree_)]
    [(4.0, 1.0, 5.0, 4.0), (0.0, 0.5, 0.0, 0.0), (0.0, 0.5, 0.0, 0.0)]
    """
    weights = tree.nodes.weights.sum(axis=1)
    if not weights[0] > 0:
        return [NodeCosts(**vars(order)) for order in _orders(tree)]
    shares = tree._core_tree.shares()
    costs = shares @ tree.error_costs
    expected: list[float | None] = [None] * tree.n_nodes
    found: list[NodeCosts] = []
    for node, order in reversed(list(enumerate(_orders(tree)))):  # children stand behind their parents
        own = float(costs[node, tree.nodes.answer[node]])
        expected[node] = own if tree.nodes.test[node] < 0 else _expected(tree, node, order.price, expected)
        best = best_answer(tree.error_costs, shares[node])
        found.append(
            NodeCosts(
                **vars(order),
                share=float(weights[node] / weights[0]),
                stop_answer=tree.answers[best],
                stop_cost=float(costs[node, best]),
                expected_cost=expected[node],
            )
        )
    return found[::-1]


def _expected(tree: Tree, node: int, price: float, expected: list[float | None]) -> float | None:
    """Return price and expected costs of the branches; None where it is not known how cases divide among them."""
    children = tree.nodes.children(node)
    if not tree.nodes.weights[children.start : children.stop].any():
        return None
    total = price
    for child, share in zip(children, tree.nodes.shares(node), strict=True):
        if share > 0:
            below = expected[child]
            if below is None:
                return None
            total += share * below
    return total


@dataclass(frozen=True)
class _NodeOrder:
    """What the test of a node costs a case that comes there, and how the order stands; see `NodeCosts`."""

    price: float = 0.0
    paid: bool = False
    known: bool = False
    delayed: bool = False
    commits: tuple[int, ...] = ()
    order: int | None = None
    group: str | None = None
    group_paid: bool = False
    spent: float = 0.0


@dataclass(frozen=True)
class _PathState:
    """How a case comes to a node."""

    asked: frozenset[int] = frozenset()
    paid: frozenset[int] = frozenset()
    order: int | None = None
    spent: float = 0.0


def _orders(tree: Tree) -> list[_NodeOrder]:
    """Return, per node, the order that its test is to a case with all values known."""
    found, prices = [_NodeOrder()] * tree.n_nodes, tree.pricing
    todo = [(0, _PathState())]
    while todo:
        node, way = todo.pop()
        test = int(tree.nodes.test[node])
        if test < 0:
            found[node] = _NodeOrder(order=way.order, spent=way.spent)
            continue
        own, charged = _order(tree, prices, node, way)
        found[node] = own
        after = _PathState(way.asked | {test}, way.paid | charged, own.order, own.spent)
        todo += [(child, after) for child in tree.nodes.children(node)]
    return found


def _order(tree: Tree, prices: Pricing, node: int, way: _PathState) -> tuple[_NodeOrder, frozenset[int]]:
    """Return the order at an inner node, and what it charges."""
    test, known = int(tree.nodes.test[node]), tree.costs.tests
    group = known[tree.columns[test]].group if tree.columns[test] in known else None
    members = (tree.columns[t] for t in way.paid if tree.columns[t] in known)
    group_paid = group is not None and any(known[name].group == group for name in members)
    if test in way.paid:
        return _NodeOrder(0.0, True, test in way.asked, False, (), way.order, group, group_paid, way.spent), frozenset()
    ordered, delayed = {test}, prices.orders_delayed(test, way.paid)
    if delayed:
        ordered |= {int(tree.nodes.test[n]) for n in subtree(tree, node)} - {-1}
    charged = prices.closure(ordered)
    price, commits = prices.price(charged, way.paid), tuple(sorted(ordered - way.paid - {test}))
    order = node if delayed else way.order
    return _NodeOrder(price, False, False, delayed, commits, order, group, group_paid, way.spent + price), charged

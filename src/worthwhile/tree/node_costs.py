"""The costs at each node of a tree: prices in context, shares of cases, expected costs.

Everything is per case that reaches the node, for cases with all values available. Expectations are taken over the
training weights (docs/design/expected-cost.md); in a tree written by hand without weights they are None.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from worthwhile.costs.pricing import Extra, Pricing
    from worthwhile.tree.tree import Tree

__all__ = ["NodeCosts", "best_answer", "least_answer", "node_costs", "subtree"]

SLACK = 1e-9  # amounts that differ by less, relative to the largest error cost, are equal


@dataclass(frozen=True)
class NodeCosts:
    """The costs at a node.

    Attributes
    ----------
    price : float
        What its test costs there, including everything ordered with it; 0 for a leaf.
    paid : bool
        The test was paid for on the path here, or ordered above.
    known : bool
        The test was done on the path here.
    delayed : bool
        All tests below are ordered with it: its result is delayed, or waiting for it alone would cost more.
    chosen : bool
        All tests below are ordered with it only because waiting for one result after another would cost more.
    waits : float
        How long a case waits here.
    waited : float
        How long a case has waited in all when it has passed this node.
    surcharges : tuple of Extra
        The surcharges that are expected to add something here; they are part of `price`.
    commits : tuple of int
        The other tests, not paid yet, that are ordered with it.
    order : int or None
        The node, this one or one above it, that orders a delayed test and with it all tests below.
    groups : tuple of (str, bool)
        The groups of the test, and whether their common price was paid on the path here; if not, it is part of `price`.
    spent : float
        Price of everything on the path here, including this node.
    share : float or None
        The share of the training cases that reach the node.
    stop_answer : object
        The answer with the least expected error cost here.
    stop_cost : float or None
        Its expected error cost.
    expected_cost : float or None
        From here on: expected price of the tests not yet paid for plus expected error cost of the tree's answers. For a
        leaf: expected error cost of its answer.
    """

    price: float
    paid: bool
    known: bool
    delayed: bool
    commits: tuple[int, ...]
    order: int | None
    groups: tuple[tuple[str, bool], ...]
    spent: float
    waits: float = 0.0
    waited: float = 0.0
    chosen: bool = False
    surcharges: tuple[Extra, ...] = ()
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
    """Return the answer of least cost, or the majority class, for these class shares; ties go to the first."""
    scores = shares @ error_costs if least else -shares
    return least_answer(scores, float(shares.sum()) * (float(np.abs(error_costs).max()) if least else 1.0))


def least_answer(scores: Sequence[float] | npt.NDArray[np.float64], scale: float) -> int:
    """Return the first of the lowest scores; they are equal if they differ by less than a tiny part of `scale`."""
    slack = SLACK * scale
    best = 0
    for answer in range(1, len(scores)):
        if scores[answer] < scores[best] - slack:
            best = answer
    return best


def node_costs(tree: Tree, expected: bool = True) -> list[NodeCosts]:
    """Return the costs at each node, by node index; without `expected`, no expected costs.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> [(at.price, at.share, at.stop_cost, at.expected_cost) for at in node_costs(clf.tree_)]
    [(4.0, 1.0, 5.0, 4.0), (0.0, 0.5, 0.0, 0.0), (0.0, 0.5, 0.0, 0.0)]
    """
    found = _CACHE.get(tree)
    if found is None:
        found = _CACHE[tree] = _node_costs(tree)
    return found if expected else [replace(own, expected_cost=None) for own in found]


# A tree is immutable; its costs are asked for by every explanation, and 28,000 nodes take two seconds.
_CACHE: weakref.WeakKeyDictionary[Tree, list[NodeCosts]] = weakref.WeakKeyDictionary()


def _node_costs(tree: Tree) -> list[NodeCosts]:
    weights = tree.nodes.weights.sum(axis=1)
    if not weights[0] > 0:
        return [NodeCosts(**vars(order)) for order in _orders(tree)]
    shares = tree._core_tree.shares()
    error_costs = shares @ tree.error_costs if tree.nodes.answer_costs is None else tree.nodes.answer_costs
    largest = float(np.abs(tree.error_costs).max())
    expected: list[float | None] = [None] * tree.n_nodes
    found: list[NodeCosts] = []
    for node, order in reversed(list(enumerate(_orders(tree)))):  # children come after their parents
        own = float(error_costs[node, tree.nodes.answer[node]])
        expected[node] = own if tree.nodes.test[node] < 0 else _expected(tree, node, order.price, expected)
        best = least_answer(error_costs[node], float(shares[node].sum()) * largest)
        found.append(
            NodeCosts(
                **vars(order),
                share=float(weights[node] / weights[0]),
                stop_answer=tree.answers[best],
                stop_cost=float(error_costs[node, best]),
                expected_cost=expected[node],
            )
        )
    return found[::-1]


def _expected(tree: Tree, node: int, price: float, expected: list[float | None]) -> float | None:
    """Return price plus expected costs of the branches; None if there are no weights to divide cases by."""
    children = tree.nodes.children(node)
    if not tree.nodes.weights[children.start : children.stop].any():
        return None
    total = price
    for child, share in zip(children, tree.nodes.frequencies(node), strict=True):
        if share > 0:
            below = expected[child]
            if below is None:
                return None
            total += share * below
    return total


@dataclass(frozen=True)
class _NodeOrder:
    """What the test of a node costs a case that arrives there, and what it orders; see `NodeCosts`."""

    price: float = 0.0
    paid: bool = False
    known: bool = False
    delayed: bool = False
    commits: tuple[int, ...] = ()
    order: int | None = None
    groups: tuple[tuple[str, bool], ...] = ()
    spent: float = 0.0
    waits: float = 0.0
    waited: float = 0.0
    chosen: bool = False
    surcharges: tuple[Extra, ...] = ()


@dataclass(frozen=True)
class _PathState:
    """What a case has done and paid when it reaches a node."""

    asked: frozenset[int] = frozenset()
    paid: frozenset[int] = frozenset()
    order: int | None = None
    spent: float = 0.0


def _orders(tree: Tree) -> list[_NodeOrder]:
    """Return, per node, what its test costs and orders for a case with all values available."""
    found, prices = [_NodeOrder()] * tree.n_nodes, tree.pricing
    todo = [(0, _PathState())]
    while todo:
        node, path = todo.pop()
        test = int(tree.nodes.test[node])
        if test < 0:
            found[node] = _NodeOrder(order=path.order, spent=path.spent, waited=prices.waited(path.paid))
            continue
        own, charged = _order(tree, prices, node, path)
        found[node] = own
        after = _PathState(path.asked | {test}, path.paid | charged, own.order, own.spent)
        todo += [(child, after) for child in tree.nodes.children(node)]
    return found


def _order(tree: Tree, prices: Pricing, node: int, path: _PathState) -> tuple[_NodeOrder, frozenset[int]]:
    """Return the order at an inner node, and what it charges."""
    test, known = int(tree.nodes.test[node]), tree.costs.tests
    members = (tree.columns[t] for t in prices.tests(path.paid) if tree.columns[t] in known)
    paid_groups = {group for name in members for group in known[name].groups}
    own = known[tree.columns[test]].groups if tree.columns[test] in known else ()
    groups = tuple((group, group in paid_groups) for group in own)
    if test in path.paid:
        waited = prices.waited(path.paid)
        known_before = test in path.asked
        found = _NodeOrder(0.0, True, known_before, False, (), path.order, groups, path.spent, waited=waited)
        return found, frozenset()
    must = prices.orders_delayed(test, path.paid)
    ordered, delayed = {test}, must or tree.nodes.committed(node)
    if delayed:
        ordered |= {int(tree.nodes.test[n]) for n in subtree(tree, node)} - {-1}
    charged = prices.order(ordered, path.paid)
    amounts = tree.amounts_at(node)
    price = prices.price(charged, path.paid, amounts)
    commits = tuple(sorted(ordered - path.paid - {test}))
    order = node if delayed else path.order
    waited = prices.waited(charged)
    waits = waited - prices.waited(path.paid)
    found = _NodeOrder(price, False, False, delayed, commits, order, groups, path.spent + price, waits, waited)
    if amounts is None:
        return replace(found, chosen=delayed and not must), charged
    tests = dict.fromkeys([test, *commits, *sorted(prices.tests(charged))])
    surcharges = tuple(
        extra if own == test else replace(extra, name=f"{tree.columns[own]} {extra.name}")
        for own, extra in prices.surcharge_extras(list(tests), tree.columns, charged, path.paid, amounts)
    )
    return replace(found, chosen=delayed and not must, surcharges=surcharges), charged

"""What a case is expected to cost from where it stands, if it goes on as the tree says.

The rules are those of docs/design.md, "What going on is expected to cost". A test that has not been asked yet takes
each branch with the share of training weight that went there. A test that cannot be had sends the case down all its
branches at once: these *parts* pay together and answer together. What the parts meet is independent, except that a test
has one value: ways that would need two are left out.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from worthwhile.tree.node_costs import best_answer

if TYPE_CHECKING:
    from worthwhile.tree.walk import Walk

__all__ = ["TooManyPathsError", "expected_cost"]

MAX_PATHS = 30_000  # parts of a case meet each other in every combination; this many are worked out in a second

Interval = tuple[float, float]  # numeric: values above the first, up to the second
Values = dict[int, "Interval | frozenset[int]"]  # per test, the values that a way leaves open


class TooManyPathsError(Exception):
    """The parts of a case can meet in more ways than can be worked out while somebody waits."""


@dataclass(frozen=True)
class _Path:
    """One way that a case, or a part of it, may go from a node."""

    chance: float
    charged: frozenset[int]
    shares: npt.NDArray[np.float64]
    leaf: int  # -1: it ends in several
    values: Values


@dataclass(frozen=True)
class _Stop:
    """What is to happen at a node below the places where a case stands."""

    charged: frozenset[int]  # all that is paid for when the case comes here
    new: frozenset[int]  # what the node charges
    ways: tuple[tuple[int, float], ...]  # (branch, share)
    together: bool  # all branches at once
    asked: bool  # not known yet


def expected_cost(walk: Walk) -> float | None:
    """Return the expected price and error cost from here on; None where the tree does not know how cases divide.

    Raises
    ------
    TooManyPathsError
    """
    if not walk.tree.nodes.weights[0].any():
        return None
    return _Outlook(walk).cost()


class _Outlook:
    def __init__(self, walk: Walk) -> None:
        self.walk, self.tree = walk, walk.tree
        self.node_shares = self.tree._core_tree.shares()
        self.stops: dict[int, _Stop] = {}
        todo = [(place.node, place.paid) for place in walk.standing]
        while todo:
            node, paid = todo.pop()
            stop = self.stops[node] = self._look(node, paid)
            todo += [(self.tree.nodes.children(node)[b], paid | stop.new) for b, _ in stop.ways]
        self.known = all(not stop.asked or self._divides(node) for node, stop in self.stops.items())
        self._made = 0

    def _look(self, node: int, paid: frozenset[int]) -> _Stop:
        walk, charged = self.walk, self.walk.charged | paid
        if self.tree.nodes.test[node] < 0:
            return _Stop(charged, frozenset(), (), False, False)
        asked = not walk.is_known(node)
        branch = -1 if asked else walk.branch(node)
        if branch >= 0:
            return _Stop(charged, walk.order(node, paid)[0], ((branch, 1.0),), False, False)
        ways = tuple((b, share) for b, share in enumerate(self.tree.nodes.shares(node)) if share > 0)
        return _Stop(charged, walk.order(node, paid)[0] if asked else frozenset(), ways, not asked, asked)

    def _divides(self, node: int) -> bool:
        children = self.tree.nodes.children(node)
        return bool(self.tree.nodes.weights[children.start : children.stop].any())

    def cost(self) -> float | None:
        if not self.known:
            return None
        standing = self.walk.standing
        if len(standing) > 1:
            ways = self._combined([(place.share, self._ways(place.node)) for place in standing])
            return math.fsum(way.chance * self._cost_of(way, self.walk.charged) for way in ways)
        costs: dict[int, float] = {}
        for node in self._from_below(standing[0].node):
            stop = self.stops[node]
            if stop.together:
                costs[node] = math.fsum(way.chance * self._cost_of(way, stop.charged) for way in self._ways(node))
            elif not stop.ways:
                costs[node] = self._error_cost(self.node_shares[node], node)
            else:
                below = (share * costs[self.tree.nodes.children(node)[b]] for b, share in stop.ways)
                costs[node] = self.walk.prices.price(stop.new, stop.charged) + math.fsum(below)
        return costs[standing[0].node]

    def _from_below(self, top: int) -> list[int]:
        """Return the nodes that may be come to from a node with one value each, children before their parents."""
        found, todo = [], [top]
        while todo:
            found.append(node := todo.pop())
            if not self.stops[node].together:
                todo += [self.tree.nodes.children(node)[b] for b, _ in self.stops[node].ways]
        return found[::-1]

    def _cost_of(self, way: _Path, charged: frozenset[int]) -> float:
        return self.walk.prices.price(way.charged, charged) + self._error_cost(way.shares, way.leaf)

    def _error_cost(self, shares: npt.NDArray[np.float64], leaf: int) -> float:
        errors, least = self.tree.error_costs, self.tree.answer == "least-cost"
        answer = int(self.tree.nodes.answer[leaf]) if leaf >= 0 else best_answer(errors, shares, least)
        return float(shares @ errors[:, answer])

    def _ways(self, top: int) -> list[_Path]:
        """Return all ways from a node to the leaves, worked out from below."""
        order, todo = [], [top]
        while todo:
            order.append(node := todo.pop())
            todo += [self.tree.nodes.children(node)[b] for b, _ in self.stops[node].ways]
        self._count(order)
        found: dict[int, list[_Path]] = {}
        for node in reversed(order):
            stop, children = self.stops[node], self.tree.nodes.children(node)
            if not stop.ways:
                found[node] = [_Path(1.0, frozenset(), self.node_shares[node], node, {})]
            elif stop.together:
                found[node] = self._combined([(share, found.pop(children[b])) for b, share in stop.ways])
            else:
                found[node] = [
                    self._after(way, node, b, share) for b, share in stop.ways for way in found.pop(children[b])
                ]
        return found[top]

    def _count(self, order: list[int]) -> None:
        """Refuse to work out too many ways, before the first one."""
        numbers: dict[int, int] = {}
        for node in reversed(order):
            stop, children = self.stops[node], self.tree.nodes.children(node)
            below = [numbers.pop(children[b]) for b, _ in stop.ways]
            numbers[node] = min(math.prod(below) if stop.together else sum(below) or 1, MAX_PATHS + 1)
            self._made += numbers[node]
        if self._made > MAX_PATHS:
            raise TooManyPathsError

    def _after(self, way: _Path, node: int, branch: int, share: float) -> _Path:
        """Return a way with the node above it."""
        stop, values = self.stops[node], way.values
        if stop.asked:
            test = int(self.tree.nodes.test[node])
            values = values | {test: _both(self._values(node, branch), values.get(test))}
        return _Path(share * way.chance, way.charged | stop.new, way.shares, way.leaf, values)

    def _values(self, node: int, branch: int) -> Interval | frozenset[int]:
        """Return the values that take a branch."""
        nodes = self.tree.nodes
        if nodes.map_start[node] >= 0:
            return frozenset(code for code, b in enumerate(nodes.branch_of(node)) if b == branch)
        threshold = float(nodes.threshold[node])
        return (threshold, math.inf) if branch else (-math.inf, threshold)

    def _combined(self, parts: list[tuple[float, list[_Path]]]) -> list[_Path]:
        """Return the ways that parts of a case can go together, each part with its share of the case."""
        if math.prod(len(ways) for _, ways in parts) > MAX_PATHS:
            raise TooManyPathsError
        found: list[_Path] = []
        contradictory: list[_Path] = []
        for ways in itertools.product(*(ways for _, ways in parts)):
            values, possible = _common_values(ways)
            mixed = sum((share * way.shares for (share, _), way in zip(parts, ways, strict=True)), np.zeros(1))
            way = _Path(
                math.prod(way.chance for way in ways),
                frozenset().union(*(way.charged for way in ways)),
                mixed,
                ways[0].leaf if len(ways) == 1 else -1,
                values,
            )
            (found if possible else contradictory).append(way)
        found = found or contradictory  # only a tree written by hand can want two values of a test whatever happens
        total = math.fsum(way.chance for way in found)
        return [_Path(way.chance / total, way.charged, way.shares, way.leaf, way.values) for way in found]


def _both(one: Interval | frozenset[int], other: Interval | frozenset[int] | None) -> Interval | frozenset[int]:
    """Return the values that are in both sets."""
    if other is None:
        return one
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return one & other
    assert isinstance(one, tuple) and isinstance(other, tuple)  # noqa: PT018 - a test is numeric or nominal
    return max(one[0], other[0]), min(one[1], other[1])


def _common_values(ways: tuple[_Path, ...]) -> tuple[Values, bool]:
    """Return the values that several ways leave open together, and whether every test has one left."""
    values: Values = {}
    possible = True
    for way in ways:
        for test, own in way.values.items():
            shared = test in values
            left = values[test] = _both(own, values.get(test))
            if shared:
                possible &= bool(left) if isinstance(left, frozenset) else left[0] < left[1]
    return values, possible

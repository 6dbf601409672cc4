"""The expected cost of a case from where it stands, if it goes on as the tree says.

A test that has not been done yet takes each branch with the share of training weight that went there. An unavailable
test sends the case down all its branches at once: these *parts* pay together and answer together. The parts are
independent, except that a test has only one value: combinations of paths that would need two are left out.
See docs/design/expected-cost.md.
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

MAX_PATHS = 30_000  # paths of parts are combined with each other; this many take about a second

Interval = tuple[float, float]  # numeric: values above the first, up to the second
Values = dict[int, "Interval | frozenset[int]"]  # per test, the values that a path allows


class TooManyPathsError(Exception):
    """The parts of a case have more combinations of paths than can be evaluated while a user waits."""


@dataclass(frozen=True)
class _Path:
    """One path that a case, or a part of it, may take from a node to a leaf."""

    chance: float
    charged: frozenset[int]
    shares: npt.NDArray[np.float64]  # (2, classes): probabilities and votes
    leaf: int  # -1: it ends in several leaves
    values: Values


@dataclass(frozen=True)
class _NodeBranches:
    """What happens to the case at a node below its positions."""

    charged: frozenset[int]  # everything paid for when the case arrives
    new: frozenset[int]  # what the node charges for
    branches: tuple[tuple[int, float], ...]  # (branch, share)
    all_at_once: bool  # the test is unavailable: the case follows all branches
    open: bool  # the test is still to be done


def expected_cost(walk: Walk) -> float | None:
    """Return the expected price and error cost from here on; None if the tree has no weights to divide cases by.

    Raises
    ------
    TooManyPathsError
    """
    if not walk.tree.nodes.weights[0].any():
        return None
    return _ExpectedCost(walk).cost()


class _ExpectedCost:
    def __init__(self, walk: Walk) -> None:
        self.walk, self.tree = walk, walk.tree
        core, least = self.tree._core_tree, self.tree.answer == "least-cost"
        # Of every node: the class probabilities, and what the answer of a case in several leaves is made from.
        self.node_shares = np.stack([core.shares(), core.shares() if least else core.votes()], axis=1)
        self.below: dict[int, _NodeBranches] = {}
        todo = [(position.node, position.paid) for position in walk.positions]
        while todo:
            node, paid = todo.pop()
            here = self.below[node] = self._branches(node, paid)
            todo += [(self.tree.nodes.children(node)[b], paid | here.new) for b, _ in here.branches]
        self.known = all(not here.open or self._has_weights(node) for node, here in self.below.items())
        self._n_paths = 0

    def _branches(self, node: int, paid: frozenset[int]) -> _NodeBranches:
        walk, charged = self.walk, self.walk.charged | paid
        if self.tree.nodes.test[node] < 0:
            return _NodeBranches(charged, frozenset(), (), False, False)
        is_open = not walk.is_known(node)
        branch = -1 if is_open else walk.branch(node)
        if branch >= 0:
            return _NodeBranches(charged, walk.order(node, paid)[0], ((branch, 1.0),), False, False)
        nodes = self.tree.nodes
        divided = nodes.frequencies(node) if is_open else nodes.shares(node)
        branches = tuple((b, share) for b, share in enumerate(divided) if share > 0)
        new = walk.order(node, paid)[0] if is_open else frozenset()
        return _NodeBranches(charged, new, branches, not is_open, is_open)

    def _has_weights(self, node: int) -> bool:
        children = self.tree.nodes.children(node)
        return bool(self.tree.nodes.weights[children.start : children.stop].any())

    def cost(self) -> float | None:
        if not self.known:
            return None
        positions = self.walk.positions
        if len(positions) > 1:
            paths = self._combined([(position.share, self._paths(position.node)) for position in positions])
            return math.fsum(path.chance * self._cost_of(path, self.walk.charged) for path in paths)
        costs: dict[int, float] = {}
        for node in self._bottom_up(positions[0].node):
            here = self.below[node]
            if here.all_at_once:
                costs[node] = math.fsum(path.chance * self._cost_of(path, here.charged) for path in self._paths(node))
            elif not here.branches:
                costs[node] = self._error_cost(self.node_shares[node], node)
            else:
                rest = (share * costs[self.tree.nodes.children(node)[b]] for b, share in here.branches)
                costs[node] = self.walk.pricing.price(here.new, here.charged) + math.fsum(rest)
        return costs[positions[0].node]

    def _bottom_up(self, top: int) -> list[int]:
        """Return the nodes that an undivided case can reach from a node, children before their parents."""
        found, todo = [], [top]
        while todo:
            found.append(node := todo.pop())
            if not self.below[node].all_at_once:
                todo += [self.tree.nodes.children(node)[b] for b, _ in self.below[node].branches]
        return found[::-1]

    def _cost_of(self, path: _Path, charged: frozenset[int]) -> float:
        return self.walk.pricing.price(path.charged, charged) + self._error_cost(path.shares, path.leaf)

    def _error_cost(self, shares: npt.NDArray[np.float64], leaf: int) -> float:
        errors, least = self.tree.error_costs, self.tree.answer == "least-cost"
        probabilities, votes = shares
        answer = int(self.tree.nodes.answer[leaf]) if leaf >= 0 else best_answer(errors, votes, least)
        return float(probabilities @ errors[:, answer])

    def _paths(self, top: int) -> list[_Path]:
        """Return all paths from a node to the leaves, built bottom-up."""
        order, todo = [], [top]
        while todo:
            order.append(node := todo.pop())
            todo += [self.tree.nodes.children(node)[b] for b, _ in self.below[node].branches]
        self._count(order)
        found: dict[int, list[_Path]] = {}
        for node in reversed(order):
            here, children = self.below[node], self.tree.nodes.children(node)
            if not here.branches:
                found[node] = [_Path(1.0, frozenset(), self.node_shares[node], node, {})]
            elif here.all_at_once:
                found[node] = self._combined([(share, found.pop(children[b])) for b, share in here.branches])
            else:
                found[node] = [
                    self._extended(path, node, b, share)
                    for b, share in here.branches
                    for path in found.pop(children[b])
                ]
        return found[top]

    def _count(self, order: list[int]) -> None:
        """Raise if there are too many paths, before any is built."""
        numbers: dict[int, int] = {}
        for node in reversed(order):
            here, children = self.below[node], self.tree.nodes.children(node)
            below = [numbers.pop(children[b]) for b, _ in here.branches]
            numbers[node] = min(math.prod(below) if here.all_at_once else sum(below) or 1, MAX_PATHS + 1)
            self._n_paths += numbers[node]
        if self._n_paths > MAX_PATHS:
            raise TooManyPathsError

    def _extended(self, path: _Path, node: int, branch: int, share: float) -> _Path:
        """Return a path with the node above it."""
        here, values = self.below[node], path.values
        if here.open:
            test = int(self.tree.nodes.test[node])
            values = values | {test: _both(self._values(node, branch), values.get(test))}
        return _Path(share * path.chance, path.charged | here.new, path.shares, path.leaf, values)

    def _values(self, node: int, branch: int) -> Interval | frozenset[int]:
        """Return the values that take a branch."""
        nodes = self.tree.nodes
        if nodes.map_start[node] >= 0:
            return frozenset(code for code, b in enumerate(nodes.branch_of(node)) if b == branch)
        threshold = float(nodes.threshold[node])
        return (threshold, math.inf) if branch else (-math.inf, threshold)

    def _combined(self, parts: list[tuple[float, list[_Path]]]) -> list[_Path]:
        """Return the joint paths of the parts of a case, each part with its share of the case."""
        if math.prod(len(paths) for _, paths in parts) > MAX_PATHS:
            raise TooManyPathsError
        found: list[_Path] = []
        contradictory: list[_Path] = []
        for paths in itertools.product(*(paths for _, paths in parts)):
            values, possible = _common_values(paths)
            mixed = sum((share * path.shares for (share, _), path in zip(parts, paths, strict=True)), np.zeros(1))
            joint = _Path(
                math.prod(path.chance for path in paths),
                frozenset().union(*(path.charged for path in paths)),
                mixed,
                paths[0].leaf if len(paths) == 1 else -1,
                values,
            )
            (found if possible else contradictory).append(joint)
        found = found or contradictory  # only in a tree written by hand can all combinations need two values of a test
        total = math.fsum(path.chance for path in found)
        return [_Path(path.chance / total, path.charged, path.shares, path.leaf, path.values) for path in found]


def _both(one: Interval | frozenset[int], other: Interval | frozenset[int] | None) -> Interval | frozenset[int]:
    """Return the values that are in both sets."""
    if other is None:
        return one
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return one & other
    assert isinstance(one, tuple) and isinstance(other, tuple)  # noqa: PT018 - a test is numeric or nominal
    return max(one[0], other[0]), min(one[1], other[1])


def _common_values(paths: tuple[_Path, ...]) -> tuple[Values, bool]:
    """Return the values that all paths allow, and whether every shared test has one."""
    values: Values = {}
    possible = True
    for path in paths:
        for test, own in path.values.items():
            shared = test in values
            left = values[test] = _both(own, values.get(test))
            if shared:
                possible &= bool(left) if isinstance(left, frozenset) else left[0] < left[1]
    return values, possible

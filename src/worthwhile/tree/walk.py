"""The way of a single case through a tree: its steps, what is charged, and where it stands (docs/design.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile.tree.node_costs import subtree

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["Order", "Place", "Visit", "Walk"]


@dataclass
class Visit:
    """A node on the way of a case, and what happened there."""

    node: int
    test: int
    branch: int  # -1: unavailable
    price: float = 0.0  # beyond what was charged before, in other branches too
    paid_before: bool = False
    commits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where a share of a case stands, and what it has paid on the way there."""

    node: int
    share: float
    paid: frozenset[int]


@dataclass(frozen=True)
class Order:
    """A test that is to be done."""

    test: int
    charged: frozenset[int]  # what it charges, paid before or not
    commits: tuple[int, ...]  # other tests ordered with it
    delayed: bool


class Walk:
    """The way of a case: its steps, what is charged, and where it stands with which share."""

    def __init__(self, tree: Tree, known: Mapping[str, Any], paid: frozenset[int] = frozenset()) -> None:
        self.tree, self.prices = tree, tree.pricing
        self.case = tree.schema.read_case(known)
        self.steps: list[Visit] = []
        self.charged = paid
        self.standing: list[Place] = []  # leaves, and nodes that wait for their test
        todo = [Place(0, 1.0, paid)]
        while todo:
            place = self._descend(todo.pop())
            branch_shares = enumerate(tree.nodes.shares(place.node)) if self.is_known(place.node) else ()
            ways = [(share, b) for b, share in branch_shares if share > 0]
            if not ways:
                self.standing.append(place)
            for share, b in sorted(ways, key=lambda way: (way[0], -way[1])):  # the heaviest last, to be walked first
                todo.append(Place(tree.nodes.children(place.node)[b], place.share * share, place.paid))

    def is_known(self, node: int) -> bool:
        """Say whether something is known about the test of a node, be it that it cannot be had."""
        return int(self.tree.nodes.test[node]) in self.case  # a leaf tests -1

    def _descend(self, place: Place) -> Place:
        """Follow the branches that the case takes, down to where there is none."""
        node, paid = place.node, place.paid
        while self.is_known(node):
            step = Visit(node, int(self.tree.nodes.test[node]), self.branch(node))
            self.steps.append(step)
            if step.branch < 0:
                break
            new, step.commits = self.order(node, paid)
            step.price, step.paid_before = self.prices.price(new, self.charged), step.test in self.charged
            paid |= new
            self.charged |= new
            node = self.tree.nodes.children(node)[step.branch]
        return Place(node, place.share, paid)

    def branch(self, node: int) -> int:
        """Return the branch that the case takes at a node whose test is known, -1 where the value is of no use."""
        nodes, value = self.tree.nodes, self.case[int(self.tree.nodes.test[node])]
        if nodes.map_start[node] < 0:
            return -1 if math.isnan(value) else int(value > nodes.threshold[node])
        return -1 if value < 0 else nodes.branch_of(node)[int(value)]

    def order(self, node: int, paid: frozenset[int]) -> tuple[frozenset[int], tuple[int, ...]]:
        """Return what ordering the test of a node charges, and which other tests it commits to."""
        test = int(self.tree.nodes.test[node])
        if test in paid:
            return frozenset(), ()
        commits: set[int] = set()
        if self.prices.orders_delayed(test, paid):
            below = [n for n in subtree(self.tree, node) if not self.is_known(n) or self.branch(n) >= 0]
            commits = {int(self.tree.nodes.test[n]) for n in below} - {-1}
        return self.prices.closure({test, *commits}), tuple(sorted(commits - paid - {test}))

    def next_order(self) -> Order | None:
        """Return the test to be done next, with what is ordered by it; None if there is none.

        Parts of a case that stand before the same test order it together.
        """
        place = self.waiting()
        if place is None:
            return None
        test = int(self.tree.nodes.test[place.node])
        charged: frozenset[int] = frozenset()
        commits: set[int] = set()
        delayed = False
        for other in self.standing:
            if self.tree.nodes.test[other.node] == test:
                new, also = self.order(other.node, other.paid)
                charged |= new
                commits.update(also)
                delayed |= self.prices.orders_delayed(test, other.paid)
        return Order(test, charged, tuple(sorted(commits)), delayed)

    def available(self) -> list[int]:
        """Return the tests whose value is known."""
        return [test for test in self.case if not self._is_gone(test)]

    def unavailable(self) -> list[int]:
        """Return the tests that cannot be had; a value that no training case has is as good as none."""
        return [test for test in self.case if self._is_gone(test)]

    def _is_gone(self, test: int) -> bool:
        value = self.case[test]
        return math.isnan(value) or (value < 0 and self.tree.schema.values[test] is not None)

    def count_known_as_paid(self) -> None:
        """Charge everything known, with what it requires, also what the tree did not ask for: it was had."""
        self.charged |= self.prices.closure(self.available())

    def waiting(self) -> Place | None:
        """Return the first place where a test is to be done, None if there is none."""
        return next((place for place in self.standing if self.tree.nodes.test[place.node] >= 0), None)

    def shares(self) -> npt.NDArray[np.float64]:
        """Return the class shares of where the case stands."""
        node_shares = self.tree._core_tree.shares()
        mixed: npt.NDArray[np.float64] = sum(place.share * node_shares[place.node] for place in self.standing)
        return mixed

    def answer(self) -> Any:
        """Return the answer of the tree, as for any other case."""
        table = self.tree.schema.encode_case(self.case)
        answers, _, _ = self.tree.route_table(table, 1, answers=True, prices=False, shares=False)
        return self.tree.answers[answers[0]]

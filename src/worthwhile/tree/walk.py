"""The path of a single case through a tree: its steps, what is charged, where it stands (docs/design/pricing.md)."""

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

__all__ = ["Position", "TestOrder", "Walk", "WalkStep"]


@dataclass
class WalkStep:
    """A test that a case meets on its path, and what happens there."""

    node: int
    test: int
    branch: int  # -1: unavailable
    price: float = 0.0  # on top of what was charged before, in other branches too
    paid_before: bool = False
    commits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Position:
    """A node where a share of a case stands, and the tests it has paid for on its path there."""

    node: int
    share: float
    paid: frozenset[int]


@dataclass(frozen=True)
class TestOrder:
    """The next test of a case."""

    __test__ = False  # not a class of tests for pytest

    test: int
    charged: frozenset[int]  # the tests it charges for, paid before or not
    commits: tuple[int, ...]  # other tests ordered with it
    delayed: bool


class Walk:
    """The path of a case: its steps, what is charged, and where it stands with which share."""

    def __init__(self, tree: Tree, known: Mapping[str, Any], paid: frozenset[int] = frozenset()) -> None:
        self.tree, self.pricing = tree, tree.pricing
        self.case = tree.schema.read_case(known)
        self.steps: list[WalkStep] = []
        self.charged = paid
        self.positions: list[Position] = []  # leaves, and nodes that wait for their test
        todo = [Position(0, 1.0, paid)]
        while todo:
            position = self._descend(todo.pop())
            branch_shares = enumerate(tree.nodes.shares(position.node)) if self.is_known(position.node) else ()
            branches = [(share, b) for b, share in branch_shares if share > 0]
            if not branches:
                self.positions.append(position)
            for share, b in sorted(branches, key=lambda pair: (pair[0], -pair[1])):  # the heaviest is popped first
                todo.append(Position(tree.nodes.children(position.node)[b], position.share * share, position.paid))

    def is_known(self, node: int) -> bool:
        """Return whether the test of a node has a value or is known to be unavailable."""
        return int(self.tree.nodes.test[node]) in self.case  # a leaf tests -1

    def _descend(self, position: Position) -> Position:
        """Follow the branches that the case takes, as far as its values go."""
        node, paid = position.node, position.paid
        while self.is_known(node):
            step = WalkStep(node, int(self.tree.nodes.test[node]), self.branch(node))
            self.steps.append(step)
            if step.branch < 0:
                break
            new, step.commits = self.order(node, paid)
            step.price, step.paid_before = self.pricing.price(new, self.charged), step.test in self.charged
            paid |= new
            self.charged |= new
            node = self.tree.nodes.children(node)[step.branch]
        return Position(node, position.share, paid)

    def branch(self, node: int) -> int:
        """Return the branch that the case takes at a node whose test is known; -1 if its value has no branch."""
        nodes, value = self.tree.nodes, self.case[int(self.tree.nodes.test[node])]
        if nodes.map_start[node] < 0:
            return -1 if math.isnan(value) else int(value > nodes.threshold[node])
        return -1 if value < 0 else nodes.branch_of(node)[int(value)]

    def order(self, node: int, paid: frozenset[int]) -> tuple[frozenset[int], tuple[int, ...]]:
        """Return the tests that ordering the test of a node charges for, and the other tests it commits to."""
        test = int(self.tree.nodes.test[node])
        if test in paid:
            return frozenset(), ()
        commits: set[int] = set()
        if self.pricing.orders_delayed(test, paid):
            below = [n for n in subtree(self.tree, node) if not self.is_known(n) or self.branch(n) >= 0]
            commits = {int(self.tree.nodes.test[n]) for n in below} - {-1}
        return self.pricing.closure({test, *commits}), tuple(sorted(commits - paid - {test}))

    def next_order(self) -> TestOrder | None:
        """Return the test to do next and everything ordered with it; None if there is none.

        Parts of a case that wait for the same test order it together.
        """
        waiting = self.waiting()
        if waiting is None:
            return None
        test = int(self.tree.nodes.test[waiting.node])
        charged: frozenset[int] = frozenset()
        commits: set[int] = set()
        delayed = False
        for position in self.positions:
            if self.tree.nodes.test[position.node] == test:
                new, also = self.order(position.node, position.paid)
                charged |= new
                commits.update(also)
                delayed |= self.pricing.orders_delayed(test, position.paid)
        return TestOrder(test, charged, tuple(sorted(commits)), delayed)

    def available(self) -> list[int]:
        """Return the tests whose value is known."""
        return self.tree.context.split_known(self.case)[0]

    def unavailable(self) -> list[int]:
        """Return the unavailable tests; a value that no training case has counts as missing."""
        return self.tree.context.split_known(self.case)[1]

    def without_branch(self) -> set[int]:
        """Return the tests whose known value has no branch at some node; only a tree written by hand has such nodes."""
        nodes = self.tree.nodes
        if not (nodes.maps < 0).any():
            return set()
        asking = [(node, int(nodes.test[node])) for node in np.flatnonzero(nodes.map_start >= 0).tolist()]
        return {test for node, test in asking if self.case.get(test, -1) >= 0 and self.branch(node) < 0}

    def count_known_as_paid(self) -> None:
        """Charge for every known value and what it requires, even if the tree did not ask for it.

        A value that some node of the tree has no branch for is only charged where the tree asked for it and had one.
        """
        self.charged |= self.pricing.closure(set(self.available()) - self.without_branch())

    def waiting(self) -> Position | None:
        """Return the first position that waits for a test; None if there is none."""
        return next((position for position in self.positions if self.tree.nodes.test[position.node] >= 0), None)

    def shares(self) -> npt.NDArray[np.float64]:
        """Return the class shares where the case stands."""
        node_shares = self.tree._core_tree.shares()
        mixed: npt.NDArray[np.float64] = sum(at.share * node_shares[at.node] for at in self.positions)
        return mixed

    def answer(self) -> Any:
        """Return the tree's answer, computed as for a table of cases."""
        table = self.tree.schema.encode_case(self.case)
        answers, _, _ = self.tree.route_table(table, 1, answers=True, prices=False, shares=False)
        return self.tree.answers[answers[0]]

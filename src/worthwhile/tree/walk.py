"""The path of a single case through a tree: its steps, what is charged, where it stands (docs/design/pricing.md).

The core walks the case, by the same code as a table of cases.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.tree.node_costs import best_answer, least_answer

if TYPE_CHECKING:
    from worthwhile.costs.pricing import Extra
    from worthwhile.tree.tree import Tree

__all__ = ["Position", "TestOrder", "Walk", "WalkStep", "case_walker"]


@dataclass(frozen=True)
class WalkStep:
    """A test that a case meets on its path, and what happens there."""

    node: int
    test: int
    branch: int  # -1: unavailable
    price: float = 0.0  # on top of what was charged before, in other branches too
    paid_before: bool = False
    commits: tuple[int, ...] = ()
    items: Mapping[str, float] = field(default_factory=dict)  # every test charged here, by name, with its price
    extras: Mapping[str, tuple[Extra, ...]] = field(default_factory=dict)  # surcharges and waits, parts of these prices


@dataclass(frozen=True)
class Position:
    """A node where a share of a case stands."""

    node: int
    share: float


@dataclass(frozen=True)
class TestOrder:
    """The next test of a case."""

    __test__ = False  # not a class of tests for pytest

    test: int
    charged: frozenset[int]  # the tests it charges for, and those paid before
    commits: tuple[int, ...]  # other tests ordered with it


def case_walker(tree: Tree, table: _core.Table, may_stop: bool = True) -> _core.CaseWalker:
    """Return what walks the cases of a table of the core down a tree."""
    costs, least_cost = tree.context.bound_costs, tree.answer == "least-cost"
    return _core.CaseWalker(
        tree._core_tree, table, costs.core_pricing, costs.core_errors, least_cost=least_cost, may_stop=may_stop
    )


class Walk:
    """The path of a case: its steps, what is charged, and where it stands with which share.

    Parameters
    ----------
    tree : Tree
    known : mapping of test to value
    paid : set of int
        Tests that cost nothing any more.
    may_stop : bool
        Whether a case with an unavailable test stops where no further test is expected to pay; the tree may forbid it.
    case : mapping of int to float, optional
        What `Schema.read_case` makes of `known`, if that was done before.
    within : (CaseWalker, int), optional
        What walks the cases of a table, with the same `may_stop`, and the row of this one.
    """

    def __init__(
        self,
        tree: Tree,
        known: Mapping[str, Any],
        paid: frozenset[int] = frozenset(),
        may_stop: bool = True,
        case: Mapping[int, float] | None = None,
        within: tuple[_core.CaseWalker, int] | None = None,
    ) -> None:
        self.tree, self.pricing, self.free = tree, tree.pricing, paid
        self.case = tree.schema.read_case(known) if case is None else case
        available, self._unavailable = tree.context.split_known(self.case)
        # A value that some node has no branch for is only charged where the tree asks for it and has one.
        self.known_closure = self.pricing.closure(set(available) - self.without_branch())
        walker, row = within or (case_walker(tree, tree.schema.encode_case(self.case), may_stop), 0)
        found = walker.walk(row, list(self.case), sorted(paid), sorted(self.known_closure))
        self.charged: frozenset[int] = frozenset(found["charged"])
        self.positions = [Position(node, share) for node, share in found["parts"]]
        self.shares: npt.NDArray[np.float64] = found["shares"]
        # What each answer is expected to cost in errors.
        self.answer_costs: npt.NDArray[np.float64] = found["answer_costs"]
        base = 0.0  # what the case costs whatever the answer, which the core leaves out
        if self.answer_costs is None:
            self.answer_costs = self.shares @ tree.error_costs
            base = float(self.shares @ tree.context.bound_costs.base)
        self.amounts = tree.context.amounts_of_case(self.case, self.shares, self._expected_surcharges())
        self._found_steps = found["steps"]
        self.next_order: TestOrder | None = None
        if found["waiting"] >= 0:
            charged, commits, _ = found["order"]
            self.next_order = TestOrder(found["waiting"], frozenset(charged), tuple(commits))
        self.go_on_cost = None if math.isnan(found["go_on_cost"]) else float(found["go_on_cost"]) + base
        self.rejected: tuple[int, float] | None = None  # a test that does not pay, and what going on with it costs
        if found["rejected"] >= 0:
            self.rejected = found["rejected"], found["rejected_cost"] + base

    @functools.cached_property
    def steps(self) -> list[WalkStep]:
        """The tests that the case met; worked out when they are asked for, since advice does without them."""
        found: list[WalkStep] = []
        before, columns = self.free, self.tree.columns
        for node, branch, listed, paid_before, commits, items_charged in self._found_steps:
            test, charged = int(self.tree.nodes.test[node]), frozenset(items_charged)
            tests = self.pricing.tests(charged)
            ordered = dict.fromkeys([test, *commits, *sorted(tests)] if len(charged) > len(before) else [])
            charges = list(ordered), columns, charged, before, self.amounts
            items, extras = self.pricing.items(*charges), self.pricing.extras(*charges)
            price = listed if self.amounts is None else self.pricing.price(charged, before, self.amounts)
            found.append(WalkStep(node, test, branch, price, paid_before, tuple(commits), items, extras))
            before = charged
        return found

    def asked(self) -> set[int]:
        """Return the tests that the case met, with those ordered at the same time."""
        found: set[int] = set()
        for node, _, _, _, commits, _ in self._found_steps:
            found |= {int(self.tree.nodes.test[node]), *commits}
        return found

    def _expected_surcharges(self) -> list[float] | None:
        """Return what each surcharge is expected to add where the case stands; None if no result decides about it."""
        if not self.tree.context.surcharged_by_results:
            return None
        expected = self.tree.expected_surcharges()
        found: list[float] = np.sum([at.share * expected[at.node] for at in self.positions], axis=0).tolist()
        return found

    def is_known(self, node: int) -> bool:
        """Return whether the test of a node has a value or is known to be unavailable."""
        return self.tree.node_lists[0][node] in self.case  # a leaf tests -1

    def branch(self, node: int) -> int:
        """Return the branch that the case takes at a node whose test is known; -1 if its value has no branch."""
        rule, value = self.tree.branch_rules[node], self.case[self.tree.node_lists[0][node]]
        if isinstance(rule, float):
            return -1 if math.isnan(value) else int(value > rule)
        return -1 if value < 0 else rule[int(value)]

    def below(self) -> Iterator[int]:
        """Yield the nodes that the case may still come to, those where it stands included."""
        tests, children = self.tree.node_lists
        todo = [position.node for position in self.positions]
        while todo:
            yield (node := todo.pop())
            branch = self.branch(node) if tests[node] in self.case else -1
            todo += [children[node][branch]] if branch >= 0 else children[node]

    def later_answers(self) -> set[int]:
        """Return the answers of the leaves that the case may still come to."""
        children, below = self.tree.node_lists[1], self.tree.found_below
        found: set[int] = set()
        todo = [position.node for position in self.positions]
        while todo:
            tests, answers = below[node := todo.pop()]
            if tests.isdisjoint(self.case):
                found |= answers
            else:
                branch = self.branch(node) if self.is_known(node) else -1
                todo += [children[node][branch]] if branch >= 0 else children[node]
        return found

    def unavailable(self) -> list[int]:
        """Return the unavailable tests; a value that no training case has counts as missing."""
        return self._unavailable

    def without_branch(self) -> set[int]:
        """Return the tests whose known value has no branch at some node; only a tree written by hand has such nodes."""
        nodes = self.tree.nodes
        if not self.tree.has_unknown_values:
            return set()
        asking = [(node, int(nodes.test[node])) for node in np.flatnonzero(nodes.map_start >= 0).tolist()]
        return {test for node, test in asking if self.case.get(test, -1) >= 0 and self.branch(node) < 0}

    def cheapest_answer(self) -> int:
        """Return the index of the answer with the least expected error cost."""
        scale = sum(self.shares.tolist()) * self.tree.context.bound_costs.largest_error
        return least_answer(self.answer_costs.tolist(), scale)

    def answer_index(self) -> int:
        """Return the index of the tree's answer to a case that waits for no test."""
        if len(self.positions) == 1:
            return int(self.tree.nodes.answer[self.positions[0].node])
        if self.tree.answer == "least-cost":
            return self.cheapest_answer()
        votes = self.tree._core_tree.votes()
        return best_answer(self.tree.error_costs, sum(at.share * votes[at.node] for at in self.positions), least=False)

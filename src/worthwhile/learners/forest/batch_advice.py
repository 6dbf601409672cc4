"""Advice of a forest for a whole table of cases: what `Consultation` says for one case, for all of them together.

The trees are consulted in order, each about all cases that still need it. A case waits at the first tree that asks for
a test whose result is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.forest.advice import why_answer, why_wait
from worthwhile.learners.forest.voting import Votes
from worthwhile.tree.advice import order_tests
from worthwhile.tree.batch_advice import (
    NOT_ASKED,
    PENDING,
    VALUE,
    AdviceColumns,
    Worklist,
    branches,
    columns_of_rows,
    distinct_rows,
    object_array,
    spent_by_case,
)
from worthwhile.tree.tree import Tree
from worthwhile.tree.walk import TestOrder, Walk

__all__ = ["advise_forest"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def advise_forest(
    trees: Sequence[Tree], cases: Worklist, votes: Votes, quits: Callable[[int, Votes], Bools], n_threads: int
) -> AdviceColumns:
    """Return what `next_test` says for each case, where no price depends on the case and there is no cap.

    Parameters
    ----------
    trees : sequence of Tree
    cases : Worklist
    votes : Votes
        Of these cases; still empty.
    quits : function
        Takes the number of trees consulted and the votes, and returns which cases stop.
    n_threads : int
    """
    return _ForestWorklist(trees, cases, votes, n_threads).consulted(quits).columns()


class _ForestWorklist:
    def __init__(self, trees: Sequence[Tree], cases: Worklist, votes: Votes, n_threads: int) -> None:
        self._trees, self._cases, self._votes, self._n_threads = trees, cases, votes, n_threads
        costs = cases.context.bound_costs
        self._router = _core.ForestRouter(
            cases.context.schema.encode(cases.columns),
            costs.core_pricing,
            costs.core_errors,
            shares=votes.rule.least_cost,
        )
        n = cases.n_cases
        self._paid = cases.paid.copy()
        self._commits = any(_commits(tree) for tree in trees)
        self._voted, self._test = np.zeros(n, dtype=np.int64), np.full(n, -1)
        self._tests, self._price = object_array([""] * n), np.zeros(n)

    def consulted(self, quits: Callable[[int, Votes], Bools]) -> _ForestWorklist:
        """Consult the trees about each case until it stops or waits."""
        asking = np.ones(self._cases.n_cases, dtype=np.bool_)
        for number, tree in enumerate(self._trees):
            asking &= ~quits(number, self._votes)
            rows = np.flatnonzero(asking)
            if not len(rows):
                break
            asking[self._waiting(tree, rows)] = False
            self._votes.add(*self._router.consult(tree._core_tree, asking.view(np.uint8), self._n_threads))
            self._voted[asking] += 1
        return self

    def _waiting(self, tree: Tree, rows: Ints) -> Ints:
        """Return the cases that wait for a test of a tree; note what they order, and what was charged on the way."""
        cases = self._cases
        states = cases.states[rows][:, _asked(tree)]
        rows = rows[
            ((states == NOT_ASKED) | (states == PENDING)).any(axis=1)
        ]  # the others were charged for what is known
        node, waits, divided = _follow(tree, cases, rows)
        if not self._commits:  # else an order on the way may have charged for more than is known
            rows, node, divided = rows[waits], node[waits], divided[waits]
        if not len(rows):
            return rows
        # Cases at the same node, with the same tests known and paid for, get the same order. A case that goes down
        # several branches is walked on its own.
        at = node if self._commits else tree.nodes.test[node]
        own = np.where(divided, np.arange(len(rows)), -1)
        known = cases.states[rows] if self._commits else cases.charged[VALUE][rows]
        first, group = distinct_rows(np.column_stack([at, own, self._paid[rows], known]).astype(np.int64))
        walks = cases.walks(tree, rows[first], self._paid[rows[first]], may_stop=False)
        for walk, members in zip(walks, _members(group, len(first)), strict=True):
            self._note(walk, rows[members])
        return rows[self._test[rows] >= 0]

    def _note(self, walk: Walk, rows: Ints) -> None:
        """Note what the cases of a group were charged for, and what they order next, if they wait."""
        pricing, columns = self._cases.context.pricing, self._cases.context.columns
        self._paid[rows[:, None], list(walk.charged)] = True
        order = walk.next_order
        if order is None:
            return
        before = walk.charged | walk.known_closure
        self._test[rows] = order.test
        self._tests[rows] = ";".join(columns[t] for t in _new_tests(order, before, order_tests(pricing, order)))
        self._price[rows] = pricing.price(order.charged, before)

    def columns(self) -> AdviceColumns:
        """Return the columns of the result."""
        context, votes = self._cases.context, self._votes
        shares, leaders = votes.shares(), votes.answers()
        best = votes.rule.least_costs(shares)
        stop_costs, go_on = ((shares * context.error_costs[:, each].T).sum(axis=1) for each in (best, leaders))
        n_trees, answers = len(self._trees), context.answers
        rows = zip(
            self._test.tolist(), self._voted.tolist(), best.tolist(), stop_costs.tolist(), go_on.tolist(), strict=True
        )
        return columns_of_rows(
            self._cases,
            self._test,
            tests=self._tests,
            price=self._price,
            saving=np.full(len(self._test), np.nan),  # it depends on the trees that have not voted
            spent=spent_by_case(self._cases, self._paid),
            answer=object_array(answers[leader] for leader in leaders.tolist()),
            reason=object_array(
                why_answer(voted, n_trees, cost) if test < 0 else why_wait(voted, n_trees, answers[stop], stop_cost)
                for test, voted, stop, stop_cost, cost in rows
            ),
        )


def _new_tests(order: TestOrder, before: frozenset[int], listed: list[int]) -> list[int]:
    """Return the tests to order now: the test itself, and what is charged with it."""
    return list(dict.fromkeys([order.test, *(t for t in listed if t in order.charged and t not in before)]))


def _commits(tree: Tree) -> bool:
    """Return whether an order of a tree may commit to others."""
    delayed = any(tree.pricing.orders_delayed(test, frozenset()) for test in _asked(tree))
    return delayed or any(tree.nodes.committed(node) for node in range(tree.n_nodes))


def _asked(tree: Tree) -> list[int]:
    """Return the tests that a tree asks for."""
    found: list[int] = np.unique(tree.nodes.test[tree.nodes.test >= 0]).tolist()
    return found


def _follow(tree: Tree, cases: Worklist, rows: Ints) -> tuple[Ints, Bools, Bools]:
    """Follow cases down a tree as far as their values lead.

    Returns
    -------
    node : int array
        Where each case stands: at a leaf, or at a test whose result is not known. Of a case that goes down several
        branches, one of these places.
    waits : bool array
        Whether it comes to a test whose result is not known.
    divided : bool array
        Whether it goes down several branches, since a test is unavailable.
    """
    node = np.zeros(len(rows), dtype=np.int64)
    waits, divided = np.zeros((2, len(rows)), dtype=np.bool_)
    at = {0: np.arange(len(rows))}
    for place in range(tree.n_nodes):  # children come after their parents
        here = at.pop(place, None)
        if here is None:
            continue
        node[here] = place
        test = int(tree.nodes.test[place])
        if test < 0:
            continue
        states = cases.states[rows[here], test]
        stuck = (states == NOT_ASKED) | (states == PENDING)
        waits[here[stuck]] = True
        branch = np.where(stuck, -2, branches(tree, cases, place, rows[here]))
        divided[here[branch == -1]] = True
        for b, child in enumerate(tree.nodes.children(place)):
            below = here[(branch == b) | (branch == -1)]
            if len(below):
                at[child] = below
    return node, waits, divided


def _members(group: Ints, n_groups: int) -> list[Ints]:
    """Return the rows of each group."""
    order = np.argsort(group, kind="stable")
    return np.split(order, np.cumsum(np.bincount(group, minlength=n_groups))[:-1])

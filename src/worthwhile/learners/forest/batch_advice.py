"""Advice of a forest for a whole table of cases: what `Consultation` says for one case, for all of them together.

The trees are consulted in order, each about all cases that still need it. A case waits at the first tree that asks for
a test whose result is not known. The core walks the cases, by the same code as a single case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.table_pricing import TablePricing
from worthwhile.learners.forest.advice import why_answer, why_wait
from worthwhile.learners.forest.voting import Votes
from worthwhile.tree.advice import order_tests
from worthwhile.tree.batch_advice import (
    UNAVAILABLE,
    VALUE,
    AdviceColumns,
    Worklist,
    columns_of_rows,
    distinct_rows,
    object_array,
)
from worthwhile.tree.tree import Tree
from worthwhile.tree.walk import TestOrder

__all__ = ["advise_forest"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def advise_forest(
    trees: Sequence[Tree], cases: Worklist, votes: Votes, quits: Callable[[int, Votes], Bools], n_threads: int
) -> AdviceColumns:
    """Return what `next_test` says for each case.

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
        known = (cases.states == VALUE) | (cases.states == UNAVAILABLE)
        costs = cases.context.bound_costs
        self._router = _core.ForestRouter(
            cases.context.schema.encode(cases.columns),
            costs.core_pricing,
            costs.core_errors,
            shares=votes.rule.least_cost,
            known=known.view(np.uint8),
            paid=cases.paid.view(np.uint8),
        )
        self._voted = np.zeros(cases.n_cases, dtype=np.int64)

    def consulted(self, quits: Callable[[int, Votes], Bools]) -> _ForestWorklist:
        """Consult the trees about each case until it stops or waits."""
        asking = np.ones(self._cases.n_cases, dtype=np.bool_)
        for number, tree in enumerate(self._trees):
            asking &= ~quits(number, self._votes)
            if not asking.any():
                break
            said = self._router.consult(tree._core_tree, asking.view(np.uint8), self._n_threads)
            asking &= said[0] >= 0  # the others wait
            self._votes.add(*said)
            self._voted[asking] += 1
        return self

    def columns(self) -> AdviceColumns:
        """Return the columns of the result."""
        context, votes = self._cases.context, self._votes
        shares, leaders = votes.shares(), votes.answers()
        best = votes.rule.least_costs(shares)
        stop_costs, go_on = ((shares * context.error_costs[:, each].T).sum(axis=1) for each in (best, leaders))
        test, tests, price, spent = self._orders(shares)
        n_trees, answers = len(self._trees), context.answers
        rows = zip(test.tolist(), self._voted.tolist(), best.tolist(), stop_costs.tolist(), go_on.tolist(), strict=True)
        return columns_of_rows(
            self._cases,
            test,
            tests=tests,
            price=price,
            saving=np.full(len(test), np.nan),  # it depends on the trees that have not voted
            spent=spent,
            answer=object_array(answers[leader] for leader in leaders.tolist()),
            reason=object_array(
                why_answer(voted, n_trees, cost) if test < 0 else why_wait(voted, n_trees, answers[stop], stop_cost)
                for test, voted, stop, stop_cost, cost in rows
            ),
        )

    def _orders(self, shares: Floats) -> tuple[Ints, npt.NDArray[np.object_], Floats, Floats]:
        """Return the test that each case waits for, or -1, all tests to order now, their price, and what is spent."""
        cases, pricing = self._cases, TablePricing(self._cases.context.bound_costs)
        amounts = cases.amounts(shares)
        awaited, *sets = self._router.awaited()
        charged, ordered, commits = (_items(words, pricing.n_items) for words in (self._router.charged(), *sets))
        charged[:, : pricing.n_tests] |= cases.charged[VALUE]
        spent, price = pricing.price(charged, amounts, cases.free_items(pricing)), np.zeros(cases.n_cases)
        rows = np.flatnonzero(awaited >= 0)
        own = None if amounts is None else amounts[rows]
        price[rows] = pricing.price(ordered[rows], own, charged[rows])
        tests = object_array([""] * cases.n_cases)
        tests[rows] = self._named(awaited[rows].astype(np.int64), (ordered & ~charged)[rows], commits[rows])
        return awaited.astype(np.int64), tests, price, spent

    def _named(self, awaited: Ints, new: Bools, commits: Bools) -> npt.NDArray[np.object_]:
        """Return the tests to order now: the test itself, and what is charged with it."""
        context, found = self._cases.context, []
        first, group = distinct_rows(np.column_stack([awaited, new, commits]).astype(np.int32))
        for row in first.tolist():
            order = TestOrder(int(awaited[row]), _set(new[row]), tuple(np.flatnonzero(commits[row]).tolist()))
            listed = [test for test in order_tests(context.pricing, order) if new[row, test]]
            found.append(";".join(context.columns[test] for test in dict.fromkeys([order.test, *listed])))
        return object_array(found)[group]


def _items(words: npt.NDArray[np.uint64], n_items: int) -> Bools:
    """Return sets as (cases, items)."""
    packed = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(packed, axis=1, count=n_items, bitorder="little").view(np.bool_)


def _set(marks: Bools) -> frozenset[int]:
    return frozenset(np.flatnonzero(marks).tolist())

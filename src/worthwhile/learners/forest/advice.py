"""What to do next for one case with a forest, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.forest.voting import Votes
from worthwhile.tree.advice import Advice, order_parts, order_tests
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.explanation import Explanation, steps_of
from worthwhile.tree.node_costs import best_answer
from worthwhile.tree.tree import Tree
from worthwhile.tree.walk import Walk
from worthwhile.wording import amount

__all__ = ["Consultation", "why_answer", "why_wait"]

Floats = npt.NDArray[np.float64]


class Consultation:
    """The trees consulted about a case so far, in order, with the known results; each test is paid once.

    Parameters
    ----------
    context : ProblemContext
    trees : sequence of Tree
    known : mapping of test to value
    votes : Votes
        Of one case; still empty.
    quits : function
        Takes the number of trees consulted and the votes, and returns whether the case stops, in an array.
    already_paid : list of str
        As for `next_test`.
    """

    def __init__(
        self,
        context: ProblemContext,
        trees: Sequence[Tree],
        known: Mapping[str, Any],
        votes: Votes,
        quits: Callable[[int, Votes], npt.NDArray[np.bool_]],
        already_paid: Iterable[str] = (),
    ) -> None:
        self._context, self._n_trees, self._votes = context, len(trees), votes
        self._case = context.schema.read_case(known)
        costs = context.bound_costs
        self._free = context.closure_of(already_paid)
        router = _core.ForestRouter(
            context.schema.encode_case(self._case),
            costs.core_pricing,
            costs.core_errors,
            shares=votes.rule.least_cost,
            known=self._marks(self._case),
            paid=self._marks(self._free),
        )
        self._walks: list[Walk] = []
        self._answers: list[Any] = []
        self._paid = self._free
        self._waiting = False
        for number, tree in enumerate(trees):
            if quits(number, votes)[0]:
                break
            walk = Walk(tree, known, self._paid, may_stop=False, case=self._case)
            self._walks.append(walk)
            self._paid = walk.charged
            if walk.next_order is not None:
                self._waiting = True
                break
            said = router.consult(tree._core_tree)
            self._answers.append(tree.classes[said[0][0]])
            votes.add(*said)

    def _marks(self, tests: Iterable[int]) -> npt.NDArray[np.uint8]:
        """Return some tests as the core takes them."""
        marks = np.zeros((1, len(self._context.columns)), dtype=np.uint8)
        marks[0, list(tests)] = 1
        return marks

    def asked(self) -> set[int]:
        """Return the tests that the trees asked for, with those ordered at the same time."""
        return set().union(*(walk.asked() for walk in self._walks))

    def advice(self, known: Mapping[str, Any]) -> Advice:
        """Return what to do next: the test that the first unfinished tree waits for, or the answer."""
        context, shares = self._context, self._votes.shares()[0]
        available, unavailable = context.split_known(self._case)
        charged = self._paid | context.pricing.closure(available)
        best, leader = best_answer(context.error_costs, shares), int(self._votes.answers()[0])
        stop_answer, stop_cost = context.answers[best], float(shares @ context.error_costs[:, best])
        amounts = self._amounts(shares)
        answering = not self._waiting
        go_on = float(shares @ context.error_costs[:, leader]) if answering else None
        tests = sorted(context.pricing.tests(charged))
        now = Advice(
            test=None,
            price=0.0,
            commits=(),
            answer=context.answers[leader] if answering else None,
            spent=context.pricing.price(charged, self._free, amounts),
            probabilities={label: float(share) for label, share in zip(context.classes, shares, strict=True)},
            stop_answer=stop_answer,
            stop_cost=stop_cost,
            go_on_cost=go_on,
            unavailable=tuple(context.columns[t] for t in unavailable),
            reason=self._reason(stop_answer, stop_cost, go_on),
            paid=context.pricing.items(tests, context.columns, charged, self._free, amounts),
            charged=charged,
            amounts=None if amounts is None else tuple(amounts),
        )
        return self._with_order(now)

    def _amounts(self, shares: Any) -> list[float] | None:
        """Return what tests and surcharges cost the case; results that are not known yet are taken to be surcharged."""
        return self._context.amounts_of_case(self._case, shares, None)

    def explain(self, case: Mapping[str, Any]) -> Explanation:
        """Return the path of a case through the trees, in words and money."""
        lines, steps, spent = [], [], 0.0
        for number, walk in enumerate(self._walks):
            own = steps_of(walk, case, None, spent, number)
            spent = own[-1].spent if own else spent
            steps += own
            vote = [f"  votes {self._answers[number]}"] if number < len(self._answers) else []
            lines += [f"tree {number + 1} of {self._n_trees}", *(f"  {step}" for step in own), *vote]
        amounts = self._amounts(self._votes.shares()[0])
        spent = self._context.pricing.price(self._paid, self._free, amounts)
        return Explanation.of(steps, self.advice(case), spent, lines)

    def _with_order(self, now: Advice) -> Advice:
        """Return the advice with the test that the last tree waits for, if any, and what ordering it costs."""
        order = self._walks[-1].next_order if self._waiting else None
        if order is None:
            return now
        columns, pricing, charged = self._context.columns, self._context.pricing, now.charged
        charges = order_tests(pricing, order), columns, order.charged, charged, now.amounts
        items, extras = order_parts(pricing, order.test, charges)
        return replace(
            now,
            test=columns[order.test],
            price=pricing.price(order.charged, charged, now.amounts),
            waits=pricing.waited(order.charged) - pricing.waited(charged),
            commits=tuple(columns[t] for t in order.commits if t not in charged),
            delayed=pricing.orders_delayed(order.test, self._paid),
            order=items,
            extras=extras,
        )

    def _reason(self, stop_answer: Any, stop_cost: float, go_on: float | None) -> str:
        if go_on is not None:
            return why_answer(len(self._answers), self._n_trees, go_on)
        return why_wait(len(self._answers), self._n_trees, stop_answer, stop_cost)


def why_answer(voted: int, n_trees: int, cost: float) -> str:
    """Return why a case is answered after some trees have voted."""
    left = "none is left" if voted == n_trees else "the others are not needed"
    return f"{_votes(voted, n_trees)}, {left}; the answer is expected to cost {amount(cost)} in errors."


def why_wait(voted: int, n_trees: int, stop_answer: Any, stop_cost: float) -> str:
    """Return why a case needs a test after some trees have voted."""
    stop = f"answering {stop_answer} now is expected to cost {amount(stop_cost)} in errors"
    return (
        f"Tree {voted + 1} of {n_trees} asks for it, {_votes(voted, n_trees)}; {stop}. The cost of going on"
        " is unknown: it depends on the remaining trees."
    )


def _votes(voted: int, n_trees: int) -> str:
    return f"{voted} of {n_trees} trees have voted"

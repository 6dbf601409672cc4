"""What to do next with a cascade, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from worthwhile.costs.error_costs import is_missing
from worthwhile.learners.cascade.policy import Cascade, CascadeWalk, Order, Stage, marked
from worthwhile.tree.advice import Advice, order_parts, priced_items
from worthwhile.tree.batch_advice import (
    UNAVAILABLE,
    VALUE,
    AdviceColumns,
    Worklist,
    columns_of_rows,
    distinct_rows,
    object_array,
)
from worthwhile.tree.explanation import Explanation, Step
from worthwhile.wording import amount

__all__ = ["CascadeCase", "advise_cascade"]


class CascadeCase:
    """A case on its way through a cascade.

    Parameters
    ----------
    cascade : Cascade
    walk : CascadeWalk
    row : int
        Which of the cases of `walk` it is.
    case : dict
        Column -> number or value code, as `Schema.read_case` returns it.
    free : frozenset of int
        Tests that are paid for already.
    known : mapping of test to value
        The same as the user gave it.
    """

    def __init__(
        self,
        cascade: Cascade,
        walk: CascadeWalk,
        row: int,
        case: Mapping[int, float],
        free: frozenset[int],
        known: Mapping[str, Any],
    ) -> None:
        self._cascade, self._context, self._known = cascade, cascade.context, known
        self._walk, self._case, self._free = walk, case, free
        self._stage, self._shares, self._waiting = int(walk.stage[row]), walk.shares[row], walk.waiting.order(row)
        self._stop_cost = float(walk.stop_cost[row])
        self._answer = self._context.answers[int(walk.answers[row])]
        self._charged = frozenset(marked(walk.charged[row : row + 1])[0])
        self._amounts = self._context.amounts_of_case(case, self._shares, None)

    @classmethod
    def of(cls, cascade: Cascade, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> CascadeCase:
        """Let one case go as far as its results lead; the arguments are those of `next_test`."""
        context = cascade.context
        case, free = context.schema.read_case(known), context.closure_of(already_paid)
        arrays = []
        for test, values in enumerate(context.schema.values):
            value = case.get(test, math.nan if values is None else -1)
            arrays.append(np.array([value], dtype=np.float64 if values is None else np.int32))
        asked, paid = np.zeros((2, len(context.columns)), dtype=np.bool_)
        asked[list(case)] = True
        paid[list(free)] = True
        return cls(cascade, CascadeWalk(cascade, arrays, 1, asked[None, :], paid), 0, case, free, known)

    def may_ask(self) -> set[str]:
        """Return the tests that may still be asked for."""
        waiting = self._waiting
        todo = [max(self._stage, 0)]
        found = set[int]() if waiting is None else set(waiting.unknown)
        reached = set(todo)
        while todo:
            stage = self._cascade.stages[todo.pop()]
            found |= stage.tests
            new = [edge.target for edge in stage.rule.edges if edge.target not in reached]
            reached.update(new)
            todo += new
        return {self._context.columns[test] for test in found if test not in self._case}

    def advice(self) -> Advice:
        """Return what to do next."""
        context, shares = self._context, self._shares
        pricing, columns = context.pricing, context.columns
        available, unavailable = context.split_known(self._case)
        charged = self._charged | pricing.closure(available)
        answer, stop_cost = self._answer, self._stop_cost
        now = {
            "test": None,
            "price": 0.0,
            "commits": (),
            "answer": answer,
            "spent": pricing.price(charged, self._free, self._amounts),
            "probabilities": dict(zip(context.classes, shares.tolist(), strict=True)),
            "stop_answer": answer,
            "stop_cost": stop_cost,
            "go_on_cost": stop_cost,
            "unavailable": tuple(columns[t] for t in unavailable),
            "paid": pricing.items(sorted(pricing.tests(charged)), columns, charged, self._free, self._amounts),
            "charged": charged,
            "amounts": None if self._amounts is None else tuple(self._amounts),
        }
        if self._waiting is None:
            return Advice(**now, reason=why_answer(self._cascade.stages[self._stage], answer, stop_cost))
        return Advice(**now | self._order_of(self._waiting, charged))

    def _order_of(self, order: Order, before: frozenset[int]) -> dict[str, Any]:
        """Return what advice says about an order of a case that was charged for some items before."""
        pricing, columns = self._context.pricing, self._context.columns
        test = order.unknown[0]
        tests = [test, *(t for t in order.tests if t != test)]
        charged = order.charged | before
        everything = list(dict.fromkeys([*tests, *sorted(pricing.tests(charged))]))
        charges = everything, columns, charged, before, self._amounts
        items, extras = order_parts(pricing, test, charges)
        price, go_on = pricing.price(charged, before, self._amounts), order.cost
        if go_on is not None:  # without results in hand, which the choice goes by but which are part of what is spent
            go_on -= self._cascade.rate * (pricing.price(order.charged, order.before, self._amounts) - price)
        return {
            "test": columns[test],
            "answer": None,
            "price": price,
            "waits": pricing.waited(charged) - pricing.waited(before),
            "commits": () if order.placed else tuple(columns[t] for t in order.unknown[1:]),
            "delayed": any(pricing.orders_delayed(t, self._free) for t in order.tests),
            "go_on_cost": go_on,
            "reason": why_go_on(self._answer, self._stop_cost, columns[test], order.placed, go_on),
            "order": items,
            "extras": extras,
        }

    def asked(self) -> set[int]:
        """Return the tests that were ordered on the way."""
        return {test for order in self._walk.orders if order.placed for test in order.tests}

    def explain(self) -> Explanation:
        """Return the path of the case through the sets of tests, in words and money."""
        steps: list[Step] = []
        lines = []
        n_stages = len(self._cascade.stages)
        for order in self._walk.orders:
            own = self._steps(order, steps[-1].spent if steps else 0.0)
            steps += own
            if own:
                lines += [f"set {order.target + 1} of {n_stages}", *(f"  {self._line(step)}" for step in own)]
        spent = self._context.pricing.price(self._charged, self._free, self._amounts)
        return Explanation.of(steps, self.advice(), spent, lines)

    def _line(self, step: Step) -> str:
        """Return a step as text."""
        if not step.available:
            return f"{step.test}: unavailable, not charged"
        also = f" ({', '.join(priced_items(step.order, step.extras))}, ordered at once)" if len(step.order) > 1 else ""
        price = "ordered already" if step.paid else f"{amount(step.price)}{also}"
        return f"{step.test} = {step.shown}: {price}"

    def _steps(self, order: Order, spent: float) -> list[Step]:
        """Return a step for every test of an order that is known; the first one pays for all."""
        if not order.placed:
            return []
        pricing, columns = self._context.pricing, self._context.columns
        everything = list(dict.fromkeys([*order.tests, *sorted(pricing.tests(order.charged))]))
        charges = everything, columns, order.charged, order.before, self._amounts
        price = pricing.price(order.charged, order.before, self._amounts)
        steps: list[Step] = []
        for test in order.tests:
            if test not in self._case:
                continue
            name, lead = columns[test], not steps
            value = self._known[name]
            shown = "" if is_missing(value) else self._context.schema.shown(name, value)
            steps.append(
                Step(
                    test=name,
                    value=value,
                    available=True,
                    condition=shown,
                    threshold=None,
                    price=price if lead else 0.0,
                    paid=not lead,
                    commits=tuple(columns[t] for t in order.tests if t != test) if lead else (),
                    spent=spent + price,
                    share=None,
                    stop_cost=None,
                    expected_cost=order.cost,
                    order=pricing.items(*charges) if lead else {},
                    shown=shown,
                    extras=pricing.extras(*charges) if lead else {},
                )
            )
        return steps


def advise_cascade(cascade: Cascade, cases: Worklist) -> AdviceColumns:
    """Return what `next_test` says for each case; all of them go through the cascade together."""
    known = (cases.states == VALUE) | (cases.states == UNAVAILABLE)
    walk = CascadeWalk(cascade, cases.arrays, cases.n_cases, known, cases.paid)
    return _columns(cascade, cases, walk)


def _columns(cascade: Cascade, cases: Worklist, walk: CascadeWalk) -> AdviceColumns:
    """Return the columns of the result."""
    context, pricing, waiting = cascade.context, cascade.pricing, walk.waiting
    n_tests, columns = len(context.columns), context.columns
    before = walk.charged.copy()
    before[:, :n_tests] |= cases.charged[VALUE]
    amounts = cases.amounts(walk.shares)
    charged = before | waiting.charged
    test = np.where(waiting.waits, waiting.unknown.argmax(axis=1), -1)
    price = np.where(waiting.waits, pricing.price(charged, amounts, before), 0.0)
    # Without results in hand, which the choice goes by but which are part of what is spent.
    go_on = waiting.cost - cascade.rate * (pricing.price(waiting.charged, amounts, waiting.before) - price)
    # Cases that order the same tests share the text.
    new = (charged & ~before)[:, :n_tests]
    first, group = distinct_rows(np.column_stack([test.astype(np.int32), waiting.tests, new]))
    texts = []
    for row in first.tolist():
        order = [*np.flatnonzero(waiting.tests[row]).tolist(), *range(n_tests)]
        listed = dict.fromkeys([int(test[row]), *(t for t in order if new[row, t])])
        texts.append(";".join(columns[t] for t in listed) if test[row] >= 0 else "")
    rows = zip(
        test.tolist(), walk.stage.tolist(), walk.answers.tolist(), walk.stop_cost.tolist(), waiting.placed.tolist(),
        go_on.tolist(), strict=True,
    )  # fmt: skip
    answers = context.answers
    return columns_of_rows(
        cases,
        test,
        tests=object_array(texts)[group],
        price=price,
        saving=np.where(waiting.waits, walk.stop_cost - go_on, np.nan),
        spent=pricing.price(before, amounts, cases.free_items(pricing)),
        answer=object_array(answers[answer] for answer in walk.answers.tolist()),
        reason=object_array(
            why_answer(cascade.stages[stage], answers[answer], stop_cost)
            if test < 0
            else why_go_on(answers[answer], stop_cost, columns[test], placed, None if math.isnan(cost) else cost)
            for test, stage, answer, stop_cost, placed, cost in rows
        ),
    )


def why_go_on(answer: Any, stop_cost: float, test: str, placed: bool, cost: float | None) -> str:
    """Return why a case goes on; `cost` is expected from here on, None: what it orders is no choice."""
    stop = f"Answering {answer} now is expected to cost {amount(stop_cost)} in errors"
    if cost is None:
        return f"{stop}; this test costs nothing."
    if placed:
        return f"{test} is ordered; its result is not known yet."
    saved = stop_cost - cost
    difference = "the same" if amount(saved) == amount(0) else f"{amount(saved)} less"
    return f"{stop}; going on {amount(cost)} in tests and errors, {difference}."


def why_answer(stage: Stage, answer: Any, stop_cost: float) -> str:
    """Return why a case is answered at a stage."""
    why = "No further test pays" if stage.rule.edges else "The cascade has no further test here"
    return f"{why}; answering {answer} is expected to cost {amount(stop_cost)} in errors."

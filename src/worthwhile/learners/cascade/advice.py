"""What to do next for one case with a cascade, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from worthwhile.costs.error_costs import is_missing
from worthwhile.learners.cascade.policy import Cascade, CascadeWalk, Order
from worthwhile.tree.advice import Advice, priced_items
from worthwhile.tree.explanation import Explanation, Step
from worthwhile.wording import amount

__all__ = ["CascadeCase"]


class CascadeCase:
    """A case on its way through a cascade.

    Parameters
    ----------
    cascade : Cascade
    known : mapping of test to value
    already_paid : list of str
        As for `next_test`.
    """

    def __init__(self, cascade: Cascade, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> None:
        self._cascade, self._context, self._known = cascade, cascade.context, known
        self._case = self._context.schema.read_case(known)
        self._free = self._context.closure_of(already_paid)
        arrays = []
        for test, values in enumerate(self._context.schema.values):
            value = self._case.get(test, math.nan if values is None else -1)
            arrays.append(np.array([value], dtype=np.float64 if values is None else np.int32))
        asked = np.zeros(len(self._context.columns), dtype=np.bool_)
        asked[list(self._case)] = True
        self._walk = CascadeWalk(cascade, arrays, 1, asked, self._free)
        self._charged = frozenset(np.flatnonzero(self._walk.charged[0]).tolist())
        self._amounts = self._context.amounts_of_case(self._case, self._walk.shares[0], None)

    def may_ask(self) -> set[str]:
        """Return the tests that may still be asked for."""
        waiting = self._walk.waiting
        todo = [max(int(self._walk.stage[0]), 0)]
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
        context, shares = self._context, self._walk.shares[0]
        pricing, columns = context.pricing, context.columns
        available, unavailable = context.split_known(self._case)
        charged = self._charged | pricing.closure(available)
        answer = context.answers[int(self._cascade.answers(shares[None, :])[0])]
        stop_cost = float(self._walk.stop_cost[0])
        now = Advice(
            test=None,
            price=0.0,
            commits=(),
            answer=answer,
            spent=pricing.price(charged, self._free, self._amounts),
            probabilities={label: float(share) for label, share in zip(context.classes, shares, strict=True)},
            stop_answer=answer,
            stop_cost=stop_cost,
            go_on_cost=stop_cost,
            unavailable=tuple(columns[t] for t in unavailable),
            paid=pricing.items(sorted(pricing.tests(charged)), columns, charged, self._free, self._amounts),
            charged=charged,
            amounts=None if self._amounts is None else tuple(self._amounts),
        )
        waiting = self._walk.waiting
        return replace(now, reason=self._why_answer(now)) if waiting is None else self._with_order(now, waiting)

    def _with_order(self, now: Advice, order: Order) -> Advice:
        pricing, columns = self._context.pricing, self._context.columns
        test = order.unknown[0]
        tests = [test, *(t for t in order.tests if t != test)]
        charged = order.charged | now.charged
        everything = list(dict.fromkeys([*tests, *sorted(pricing.tests(charged))]))
        charges = everything, columns, charged, now.charged, now.amounts
        found = replace(
            now,
            test=columns[test],
            answer=None,
            price=pricing.price(charged, now.charged, now.amounts),
            waits=pricing.waited(charged) - pricing.waited(now.charged),
            commits=() if order.placed else tuple(columns[t] for t in order.unknown[1:]),
            delayed=any(pricing.orders_delayed(t, self._free) for t in order.tests),
            order=pricing.items(*charges),
            extras=pricing.extras(*charges),
            go_on_cost=order.cost,
        )
        return replace(found, reason=self._why_go_on(found, order))

    def _why_go_on(self, now: Advice, order: Order) -> str:
        stop = f"Answering {now.stop_answer} now is expected to cost {amount(now.stop_cost or 0.0)} in errors"
        if order.cost is None:
            return f"{stop}; this test costs nothing."
        if order.placed:
            return f"{now.test} is ordered; its result is not known yet."
        saved = (now.stop_cost or 0.0) - order.cost
        difference = "the same" if amount(saved) == amount(0) else f"{amount(saved)} less"
        return f"{stop}; going on {amount(order.cost)} in tests and errors, {difference}."

    def _why_answer(self, now: Advice) -> str:
        stage = self._cascade.stages[int(self._walk.stage[0])]
        why = "No further test pays" if stage.rule.edges else "The cascade has no further test here"
        return f"{why}; answering {now.answer} is expected to cost {amount(now.stop_cost or 0.0)} in errors."

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

"""Validating forests while they grow: what trees cost on the validation cases, and when there are enough trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.forest.model_file import Forest, fits
from worthwhile.learners.forest.voting import (
    AnswerRule,
    BudgetRecord,
    StoppingTable,
    ValidationSet,
    VoteRecorder,
    rates_for,
)
from worthwhile.learners.progress import CALLBACK, Progress, asks_to_stop
from worthwhile.learners.result_shares import ResultShares, result_shares
from worthwhile.table.schema import Schema
from worthwhile.tree.tree import Tree

__all__ = ["SETTLED", "ForestValidator", "GrowthMonitor", "asked_results"]

SETTLED = "settled"


class GrowthMonitor:
    """Counts trees, reports progress, and ends growing at the time limit, on Ctrl-C, or if the callback says so."""

    def __init__(
        self, total: int, deadline: Deadline, callback: Callable[[Progress], Any] | None = None, keeps: bool = True
    ) -> None:
        self.stopped = "done"
        self._total, self._deadline, self._callback, self._keeps = total, deadline, callback, keeps
        self._grown, self._best = 0, math.inf

    def expect(self, n_trees: int) -> None:
        """Say that more trees will be grown."""
        self._total += n_trees

    def over(self, trees: Iterable[Any]) -> Iterator[Any]:
        """Count trees."""
        for tree in trees:
            self._grown += 1
            yield tree

    def share(self) -> float:
        """Return the share of the trees that are grown."""
        return self._grown / max(self._total, 1)

    def remaining(self) -> float:
        """Return the seconds that are left."""
        return self._deadline.remaining()

    def goes_on(self, deadline: Deadline | None = None) -> bool:
        """Return whether there is time left and nothing has ended growing; a part of the work may end earlier."""
        if self.stopped == "done" and (deadline or self._deadline).remaining() <= 0:
            self.stopped = "time limit"
        return self.stopped == "done"

    def interrupted(self) -> None:
        """Record Ctrl-C; raise it again before the first tree, or if the trees so far are not to be kept."""
        if not self._grown or not self._keeps:
            raise KeyboardInterrupt
        self.stopped = "interrupted"

    def tell(self, record: BudgetRecord) -> None:
        """Report one more tree."""
        self._best = min(self._best, record.price + record.error_cost)
        if asks_to_stop(self._callback, Progress(self._deadline.elapsed(), self._grown, self._total, self._best)):
            self.stopped = CALLBACK


def asked_results(schema: Schema, folds: Iterable[tuple[ValidationSet, Any]]) -> dict[str, ResultShares]:
    """Return what tests said where forests asked validation cases for them; a router knows what cases paid for."""
    known = [(columns, cases, router) for cases, router in folds if (columns := cases.columns) is not None]
    if not known:
        return {}
    arrays = [schema.arrays(columns) for columns, _, _ in known]
    words = [router.charged().astype("<u8", copy=False) for _, _, router in known]
    asked = [np.unpackbits(own.view(np.uint8), 1, len(schema.names), "little") for own in words]
    weights = [np.ones(len(cases.truth)) if cases.weights is None else cases.weights for _, cases, _ in known]
    whole = [np.concatenate(own) for own in zip(*arrays, strict=True)]
    return result_shares(schema, whole, np.concatenate(asked).astype(np.bool_), np.concatenate(weights))


@dataclass(frozen=True, eq=False)
class ForestValidator:
    """Measures forests on validation cases while they grow, and ends them at the budget."""

    costs: BoundCosts
    rule: AnswerRule
    cases: ValidationSet
    adaptive: bool | str
    limit: float | None  # budget: trees are added as long as they cost no more
    n_threads: int

    def forest(
        self, alpha: float, trees: Iterable[Tree], tests: tuple[int, ...] | None, monitor: GrowthMonitor
    ) -> Forest:
        """Add trees as long as they stay within the budget."""
        recorder, kept = self._recorder(), list[Tree]()
        curve = [self._record(recorder, alpha)]
        try:
            for tree in monitor.over(trees):
                recorder.consult(tree._core_tree)
                record = self._record(recorder, alpha)
                if not fits(record.price, self.limit):
                    break
                curve.append(record)
                kept.append(tree)
                monitor.tell(record)
                if monitor.stopped == CALLBACK:
                    break
        except KeyboardInterrupt:
            monitor.interrupted()
            recorder = self._consulted(kept)  # the interrupted tree may have been partly consulted
        if self.adaptive is not True:
            return Forest(alpha, tuple(kept), tuple(curve[: len(kept) + 1]), tests=tests)
        history = recorder.history()
        stopping = StoppingTable.of(history, self.cases)
        rates = rates_for(history.prices.mean(axis=1), self.costs)
        by_rate = self.cases.at_rates(history, alpha, stopping, rates)
        return Forest(alpha, tuple(kept), (*by_rate, curve[0]), stopping, tests)

    def curve(self, forest: Forest) -> list[BudgetRecord]:
        """Return what a forest costs with 0, 1, 2, … trees, or at each of its rates."""
        if forest.stopping is not None:
            history = self._consulted(forest.trees).history()
            rates = [record.rate for record in forest.curve if record.rate is not None]
            at_rates = self.cases.at_rates(history, forest.alpha, forest.stopping, rates)
            return [*at_rates, self._record(self._recorder(), forest.alpha)]
        recorder = self._recorder()
        found = [self._record(recorder, forest.alpha)]
        for tree in forest.trees:
            recorder.consult(tree._core_tree)
            found.append(self._record(recorder, forest.alpha))
        return found

    def _recorder(self) -> VoteRecorder:
        cases = self.cases
        return VoteRecorder(cases.table, len(cases.truth), self.costs, self.rule, self.n_threads, cases.amounts)

    def _consulted(self, trees: Sequence[Tree]) -> VoteRecorder:
        recorder = self._recorder()
        for tree in trees:
            recorder.consult(tree._core_tree)
        return recorder

    def _record(self, recorder: VoteRecorder, alpha: float) -> BudgetRecord:
        if self.adaptive != SETTLED:
            return self.cases.record_now(recorder.votes, alpha, recorder.n_trees)
        history = recorder.history()
        return self.cases.record(history, alpha, history.ends(True))

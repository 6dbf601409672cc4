"""A learned cascade, and walking cases through it (docs/design/cascades.md)."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.surcharges import Condition
from worthwhile.costs.table_pricing import TablePricing
from worthwhile.learners.cascade.cost_levels import CostLevels
from worthwhile.learners.cascade.stage_models import Singles, StageModel
from worthwhile.learners.cascade.stopping_rule import StageRule
from worthwhile.learners.soft_labels import features_of_arrays
from worthwhile.tree.case_amounts import condition_holds, conditions_of, truth_shares
from worthwhile.tree.context import ProblemContext

__all__ = ["Cascade", "CascadeWalk", "Order", "Stage", "marked"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Arrays = Sequence[npt.NDArray[Any]]
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Stage:
    """A set of tests, its model, and what to do once they are known.

    Attributes
    ----------
    tests : frozenset of int
        Everything that was bought when a case is here.
    model : StageModel
    rule : StageRule
    holds : float array
        By surcharge: how often its conditions on results that are not known here hold.
    """

    tests: frozenset[int]
    model: StageModel
    rule: StageRule
    holds: Floats


@dataclass(frozen=True, eq=False)
class Cascade:
    """The stages of a policy, from few tests to many; the first is where every case begins.

    Attributes
    ----------
    context : ProblemContext
    stages : tuple of Stage
    rate : float
        How many units of error cost a unit of price counts for.
    by_cost : bool
        Whether the answer is the one of least expected cost; otherwise the most probable class.
    listed : float array
        The price of each test that decisions go by: that of the list, or the mean over training cases.
    tolerated : bool array
        By test: some training cases lacked its value, so models know what that means.
    levels : CostLevels
        What errors cost; models give the probabilities of these levels.
    """

    context: ProblemContext
    stages: tuple[Stage, ...]
    rate: float
    by_cost: bool
    listed: Floats
    tolerated: Bools
    levels: CostLevels

    @functools.cached_property
    def pricing(self) -> TablePricing:
        return TablePricing(self.context.bound_costs)

    @functools.cached_property
    def masks(self) -> Bools:
        """The tests of each stage: (stages, tests)."""
        found = np.zeros((len(self.stages), len(self.context.columns)), dtype=np.bool_)
        for at, stage in enumerate(self.stages):
            found[at, sorted(stage.tests)] = True
        return found

    def answers(self, shares: Floats) -> npt.NDArray[np.intp]:
        """Return the answer to each row of probabilities of the levels; ties go to the first."""
        return best_answers(shares, self.levels.errors, self.by_cost)[0]

    def believed(self, shares: Floats) -> Floats:
        """Return what the best answer is believed to cost, above what cases cost whatever the answer."""
        return best_answers(shares, self.levels.errors, self.by_cost)[1]

    def reachable(self) -> Cascade:
        """Return the cascade without the stages that no case can come to."""
        kept, todo = {0}, [0]
        while todo:
            for edge in self.stages[todo.pop()].rule.edges:
                if edge.target not in kept:
                    kept.add(edge.target)
                    todo.append(edge.target)
        place = {old: new for new, old in enumerate(sorted(kept))}
        stages = []
        for old in sorted(kept):
            stage = self.stages[old]
            edges = tuple(type(edge)(place[edge.target], edge.cost) for edge in stage.rule.edges)
            stages.append(Stage(stage.tests, stage.model, StageRule(stage.rule.stop, edges), stage.holds))
        return replace(self, stages=tuple(stages))


def best_answers(shares: Floats, error_costs: Floats, by_cost: bool) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return the best answer to each row of class probabilities, and what it is believed to cost.

    If cases were weighted by error costs, the answer is the most probable class, and its cost the chance of an error.
    """
    errors = error_costs if by_cost else 1.0 - np.eye(shares.shape[1])
    # No matrix product: its last bits depend on the number of rows and threads.
    costs = np.stack([(shares * errors[:, a]).sum(axis=1) for a in range(errors.shape[1])], axis=1)
    least = costs.min(axis=1, keepdims=True)
    slack = ROUNDING * float(np.abs(errors).max(initial=0.0))
    return (costs <= least + slack).argmax(axis=1), least[:, 0]


def expected_amounts(
    context: ProblemContext, listed: Floats, tests: frozenset[int], holds: Floats, arrays: Arrays, shares: Floats
) -> Floats | None:
    """Return what tests and surcharges are expected to cost cases whose results of some tests are known.

    None: as the price list says.
    """
    prices = context.bound_costs.prices
    if not prices.surcharges and np.array_equal(listed, prices.marginal):
        return None
    n = len(shares)
    found = np.empty((n, len(listed) + len(prices.surcharges)))
    found[:, : len(listed)] = listed
    truth = truth_shares(prices, context.classes, shares)
    for s, conditions in enumerate(conditions_of(context.schema, prices)):
        amount = np.full(n, float(prices.surcharge_amount[s]) * holds[s])
        for column, condition in conditions:
            if column in tests:
                amount *= condition_holds(context.schema.values[column], condition, arrays[column])
        found[:, len(listed) + s] = amount if truth is None else amount * truth[:, s]
    return found


def holding_shares(context: ProblemContext, tests: frozenset[int], arrays: Arrays, weights: Floats) -> Floats:
    """Return by surcharge how often its conditions on results of other tests than these hold together."""
    prices = context.bound_costs.prices
    found = np.ones(len(prices.surcharges))
    conditions: list[tuple[int, Condition]]
    for s, conditions in enumerate(conditions_of(context.schema, prices)):
        unknown = [(column, condition) for column, condition in conditions if column not in tests]
        if unknown:
            held = [condition_holds(context.schema.values[c], condition, arrays[c]) for c, condition in unknown]
            found[s] = np.average(np.all(held, axis=0), weights=weights)
    return found


@dataclass(frozen=True, eq=False)
class Order:
    """Tests that a case buys at once to come from a stage to another."""

    stage: int
    target: int
    tests: tuple[int, ...]  # ordered, without those known to be unavailable
    placed: bool  # the first result is known, so everything is ordered
    unknown: tuple[int, ...]  # results that are still to come
    before: frozenset[int]  # items charged before
    charged: frozenset[int]  # items charged with it
    cost: float | None  # expected from here on, the price of the order included; None: not a choice

    @classmethod
    def of(
        cls,
        stage: int,
        target: int,
        tests: Bools,
        placed: bool,
        unknown: Bools,
        before: Bools,
        charged: Bools,
        cost: float,
    ) -> Order:
        """Make an order from flags by test or item; a cost of NaN is no choice."""
        asked, to_come = marked(np.stack([tests, unknown]))
        items_before, items = marked(np.stack([before, charged]))
        return cls(
            stage=int(stage),
            target=int(target),
            tests=asked,
            placed=bool(placed),
            unknown=to_come,
            before=frozenset(items_before),
            charged=frozenset(items),
            cost=None if math.isnan(cost) else float(cost),
        )


class WaitingOrders:
    """The orders of cases that wait for results, as arrays with a row for every case; the attributes are as in `Order`.

    Attributes
    ----------
    waits : bool array
        Whether the case waits; the other arrays say nothing about cases that do not.
    """

    def __init__(self, n_cases: int, n_tests: int, n_items: int) -> None:
        self.waits = np.zeros(n_cases, dtype=np.bool_)
        self.stage, self.target = np.zeros((2, n_cases), dtype=np.intp)
        self.tests, self.unknown = np.zeros((2, n_cases, n_tests), dtype=np.bool_)
        self.placed = np.zeros(n_cases, dtype=np.bool_)
        self.before, self.charged = np.zeros((2, n_cases, n_items), dtype=np.bool_)
        self.cost = np.full(n_cases, np.nan)

    def _arrays(self) -> tuple[npt.NDArray[Any], ...]:
        return self.stage, self.target, self.tests, self.placed, self.unknown, self.before, self.charged, self.cost

    @property
    def rows(self) -> npt.NDArray[np.intp]:
        """The cases that wait."""
        return np.flatnonzero(self.waits)

    def put(self, rows: npt.NDArray[np.intp], *parts: npt.NDArray[Any]) -> None:
        """Note the orders of some cases."""
        self.waits[rows] = True
        for array, part in zip(self._arrays(), parts, strict=True):
            array[rows] = part

    def order(self, row: int) -> Order | None:
        """Return the order that a case waits for."""
        return Order.of(*(array[row] for array in self._arrays())) if self.waits[row] else None


def marked(flags: Bools) -> list[tuple[int, ...]]:
    """Return the positions of the true values of each row; numpy would take three times as long for short rows.

    Examples
    --------
    >>> marked(np.array([[True, False, True], [False, False, False]]))
    [(0, 2), ()]
    """
    places = range(flags.shape[1])
    return [tuple(itertools.compress(places, row)) for row in flags.tolist()]


class CascadeWalk:
    """Walks cases through a cascade.

    Parameters
    ----------
    cascade : Cascade
    arrays : sequence of arrays
        The columns as the core has them: numbers (NaN: missing) and codes (-1: missing).
    n_cases : int
    known : bool array (cases, tests), optional
        The tests whose result, or lack of one, is known. None: all.
    paid : bool array (cases, tests) or (tests,), optional
        Tests that are paid for already.
    case_prices : array (cases, tests), optional
        With a cap, a case buys nothing that could exceed it at its own prices.

    Attributes
    ----------
    stage : int array
        Where each case ends.
    shares : float array
        Class probabilities there.
    charged : bool array (cases, items)
        What each case was charged for.
    answers : int array
        The best answers there.
    stop_cost : float array
        What the best answer is expected to cost there.
    orders : list of Order
        Of a single case.
    waiting : WaitingOrders
        The orders whose results are not all known.
    """

    def __init__(
        self,
        cascade: Cascade,
        arrays: Arrays,
        n_cases: int,
        known: Bools | None = None,
        paid: Bools | None = None,
        case_prices: Floats | None = None,
    ) -> None:
        self._cascade, self._arrays, self._case_prices = cascade, arrays, case_prices
        schema, d = cascade.context.schema, len(cascade.context.columns)
        self._features: Singles = features_of_arrays(schema, arrays, n_cases).astype(np.float32)
        self._missing = np.zeros((n_cases, d), dtype=np.bool_)
        for test, (values, array) in enumerate(zip(schema.values, arrays, strict=True)):
            self._missing[:, test] = np.isnan(array) if values is None else array < 0
        self._known = known
        self._seen = np.zeros((n_cases, d), dtype=np.bool_)
        self._unavailable = np.zeros((n_cases, d), dtype=np.bool_)
        self.charged = cascade.pricing.nothing(n_cases)
        if paid is not None:
            self.charged[:, :d] |= paid
        self.stage = np.zeros(n_cases, dtype=np.intp)
        self.shares = np.empty((n_cases, len(cascade.levels.owners)))
        self.orders: list[Order] = []
        self.waiting = WaitingOrders(0 if known is None else n_cases, d, self.charged.shape[1])
        self.stop_cost = np.zeros(n_cases)
        self._begin()
        for at in range(len(cascade.stages)):  # an order leads to a later stage
            self._at_stage(at, np.flatnonzero(self.stage == at))
        self.answers = cascade.answers(self.shares)
        self.shares = cascade.levels.class_shares(self.shares)

    def _begin(self) -> None:
        """Order what all cases do."""
        rows = np.arange(len(self.stage))
        self.stage[:] = -1
        still = self._order(rows, -1, 0, np.zeros(len(rows)), must=True)
        waiting = self.waiting.rows
        self.shares[waiting] = self._cascade.stages[0].model.shares
        self.stop_cost[waiting] = self._stop_cost(0, self.shares[waiting])
        assert not len(still)

    def _stop_cost(self, at: int, shares: Floats) -> Floats:
        cascade = self._cascade
        return cascade.stages[at].rule.stop(cascade.believed(shares)) + cascade.levels.base_of(shares)

    def _at_stage(self, at: int, rows: npt.NDArray[np.intp]) -> None:
        if not len(rows):
            return
        stage = self._cascade.stages[at]
        self.shares[rows] = stage.model.probabilities(self._features[rows])
        self.stop_cost[rows] = self._stop_cost(at, self.shares[rows])
        going = rows if stage.rule.edges else rows[:0]
        while len(going):
            targets, costs = self._choose(at, going)
            again = []
            for target in np.unique(targets[targets >= 0]).tolist():
                some = targets == target
                again.append(self._order(going[some], at, target, costs[some]))
            going = np.concatenate(again) if again else rows[:0]

    def _choose(self, at: int, rows: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], Floats]:
        """Return the stage that each case goes on to (-1: it answers), and what it is expected to cost."""
        cascade = self._cascade
        stage, pricing = cascade.stages[at], cascade.pricing
        believed = cascade.believed(self.shares[rows])
        costs = stage.rule.stop(believed)
        found = np.full(len(rows), -1)
        arrays = [array[rows] for array in self._arrays] if cascade.context.has_surcharges else self._arrays
        likely = cascade.levels.class_shares(self.shares[rows])
        amounts = expected_amounts(cascade.context, cascade.listed, stage.tests, stage.holds, arrays, likely)
        charged = self.charged[rows]
        before = pricing.price(charged, amounts)
        for edge in stage.rule.edges:
            mask = cascade.masks[edge.target]
            ordered = pricing.order(charged, mask & ~self._seen[rows] & ~self._unavailable[rows])
            price = pricing.price(ordered, amounts) - before
            allowed = ~(self._unavailable[rows] & mask & ~cascade.tolerated).any(axis=1) & pricing.within_cap(ordered)
            if self._case_prices is not None:
                allowed &= pricing.within_cap(ordered, self._case_prices[rows])
            cost = np.where(allowed, cascade.rate * price + edge.cost(believed), np.inf)
            better = cost < costs
            found[better], costs = edge.target, np.where(better, cost, costs)
        return found, costs + cascade.levels.base_of(self.shares[rows])

    def _order(
        self, rows: npt.NDArray[np.intp], at: int, target: int, costs: Floats, must: bool = False
    ) -> npt.NDArray[np.intp]:
        """Order what cases need for a stage, and move them there; return those that must choose again.

        Tests are asked for in the order of their columns. If the first available one has a result, everything is
        ordered, but for what is known to be missing. A missing result that models do not know makes a case choose
        again; results that are paid for stay paid.
        """
        cascade = self._cascade
        new = cascade.masks[target] & ~self._seen[rows] & ~self._unavailable[rows]
        missing, unknown = new & self._missing[rows], np.zeros_like(new)
        if self._known is not None:
            unknown = new & ~self._known[rows]
            missing &= ~unknown
        hard = missing & ~cascade.tolerated & (not must)
        asked = new & ~(missing & ~hard)
        first = np.where(asked.any(axis=1), asked.argmax(axis=1), -1)
        lead = np.arange(len(rows)), np.maximum(first, 0)
        stuck = hard[lead] & (first >= 0)
        self._unavailable[rows[stuck], first[stuck]] = True
        tests = new & ~missing
        before = self.charged[rows]
        ordered = cascade.pricing.order(before, tests)
        placed = (first >= 0) & ~stuck & ~unknown[lead]
        waits = unknown.any(axis=1) & ~stuck
        if self._known is not None:
            own = np.full(len(rows), np.nan) if must else costs
            orders = np.full(len(rows), at), np.full(len(rows), target), tests, placed, unknown, before, ordered, own
            self.waiting.put(rows[waits], *(part[waits] for part in orders))
            if len(self.stage) == 1 and (waits[0] or placed[0]):
                self.orders.append(Order.of(*(part[0] for part in orders)))
        moving = ~stuck & ~waits
        self.charged[rows[placed]] = ordered[placed]
        self._seen[rows[placed]] |= tests[placed]
        self._unavailable[rows[moving]] |= missing[moving]
        delayed = cascade.context.bound_costs.prices.delayed.astype(np.bool_)
        again = stuck | (hard.any(axis=1) & moving & ~(tests & delayed).any(axis=1))
        self.stage[rows[moving & ~again]] = target
        return rows[again]

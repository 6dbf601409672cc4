"""The forest of least total cost: its tests, and how it grows, by cross-validation (docs/design/forests.md).

Forests on growing sets of tests race each other, as do ways to grow trees; what costs most falls behind early.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.pricing import Pricing
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.forest.growing import ForestTask, TreeBatch, spread_trees
from worthwhile.learners.forest.test_sets import importances, ladder
from worthwhile.learners.forest.validation import GrowthMonitor
from worthwhile.learners.forest.voting import (
    AnswerRule,
    BudgetRecord,
    Smoothing,
    ValidationSet,
    Votes,
    likeliest_temperature,
)
from worthwhile.parallel.workers import SharedData, n_workers
from worthwhile.tree.nodes import Nodes

__all__ = [
    "FEWEST",
    "LARGE",
    "LARGE_PART",
    "OPTIONS",
    "CostForest",
    "Fold",
    "ForestRace",
    "forest_of_least_cost",
    "race_cases",
]

Floats = npt.NDArray[np.float64]

# How trees are grown: as those of CART.
OPTIONS: Mapping[str, Any] = {"impurity": "gini", "expected": True, "context": False}
# From more cases than this, one part is held out, not each of several in turn; parts of a race have at most LARGE_PART.
LARGE, LARGE_PART = 20_000, 10_000
PILOTS = 20  # trees by which ways to grow are compared, and which measure the importance of each test
FIRST, SECOND = 10, 20  # trees per fold of the sets that race: of all, then of the best
KEPT_FIRST, KEPT_SECOND = 8, 3  # how many sets go on
# Shares of the time limit after which ways to grow are not compared, and sets do not race, any more.
PILOTS_END, RACE_END = 0.2, 0.6
BATCH = 4  # trees per worker that are grown at once
# A race grows about RACE_TREES trees per fold; one core takes TREE_SECONDS for each case and each test tried at a node
# (on 1,200 cases of 40 tests and 5,000 of 20, three classes). Under a time limit, at least FEWEST cases race.
RACE_TREES, TREE_SECONDS, FEWEST = 350, 1.5e-7, 300


class Growth(NamedTuple):
    """A way to grow trees: how cases are drawn, and the number of cases that a node must exceed to be split."""

    sampling: str
    least: float


GROWTHS = Growth("drawn", 0.0), Growth("drawn", 4.0), Growth("weighted", 0.0)


class Fold(NamedTuple):
    """Cases to grow trees from, and cases that validate them."""

    task: SharedData[ForestTask]
    cases: ValidationSet


class CostForest(NamedTuple):
    """The forest that was chosen."""

    growth: Growth
    tests: tuple[int, ...]
    trees: list[Any]  # of the core
    curve: list[BudgetRecord]  # with 0, 1, 2, … trees
    costs: Floats  # of each validation case
    weights: Floats | None
    temperature: float
    asked: list[tuple[ValidationSet, Any]]  # the validation cases of each fold, with what they were charged for


@dataclass(eq=False)
class Validated:
    """The trees of a candidate from the cases of a fold, and what they cost on its other cases."""

    fold: Fold
    costs: BoundCosts
    rule: AnswerRule
    n_threads: int
    trees: list[Any] = field(default_factory=list)
    curve: list[BudgetRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        cases = self.fold.cases
        known = self.costs.core_pricing, self.costs.core_errors, cases.amounts, self.rule.least_cost
        self.router = _core.ForestRouter(cases.table, *known)
        self.votes = Votes(len(cases.truth), self.rule)
        self.curve.append(cases.record_now(self.votes, 0.0, 0))

    def add(self, tree: Any) -> None:
        self.votes.add(*self.router.consult(tree, n_threads=self.n_threads))
        # The tree comes last: after Ctrl-C at any moment, there is a record for every tree.
        self.curve[len(self.trees) + 1 :] = [self.fold.cases.record_now(self.votes, 0.0, len(self.trees) + 1)]
        self.trees.append(tree)

    def weight(self) -> float:
        weights = self.fold.cases.weights
        return float(len(self.votes.prices) if weights is None else weights.sum())


@dataclass(eq=False)
class ForestCandidate:
    """A set of tests, a way to grow trees, and what such forests cost, fold by fold."""

    growth: Growth
    tests: tuple[int, ...]
    folds: list[Validated]

    def record(self, n_folds: int | None = None, n_trees: int | None = None) -> BudgetRecord:
        """Return the mean over the first folds, of those with trees; None: all of them, as many trees as all have."""
        some = [one for one in self.folds[:n_folds] if one.trees] or self.folds[:n_folds]
        n_trees = min(len(one.trees) for one in some) if n_trees is None else n_trees
        weights = [one.weight() for one in some]
        price, error, cost = (
            float(np.average([getattr(one.curve[n_trees], name) for one in some], weights=weights))
            for name in ("price", "error", "error_cost")
        )
        return BudgetRecord(self.growth.least, n_trees, price, error, cost)

    def cost(self, n_folds: int | None = None) -> float:
        """Return the total cost, rounded: which of two equal forests is chosen should not depend on the currency."""
        record = self.record(n_folds)
        return float(f"{record.price + record.error_cost:.9e}")

    def cost_of(self, folds: Sequence[int], n_trees: int) -> float:
        """Return the total cost in some folds, with so many trees."""
        some = [self.folds[at] for at in folds]
        costs = [one.curve[n_trees].price + one.curve[n_trees].error_cost for one in some]
        return float(f"{np.average(costs, weights=[one.weight() for one in some]):.9e}")

    def no_test_cost(self) -> float:
        """Return the cost without any tree, rounded."""
        record = self.record(n_trees=0)
        return float(f"{record.price + record.error_cost:.9e}")


@dataclass(eq=False)
class ForestRace:
    """The search for the forest of least total cost."""

    folds: Sequence[Fold]
    costs: BoundCosts
    pricing: Pricing
    rule: AnswerRule
    monitor: GrowthMonitor
    deadline: Deadline
    n_threads: int
    max_trees: int
    amounts: Sequence[float] | None = None  # what tests cost on average, if it depends on the case
    tried: list[ForestCandidate] = field(default_factory=list)  # with a tree in the first fold
    compared: list[ForestCandidate] = field(default_factory=list)  # with as many trees in every fold

    def ran(self) -> ForestCandidate | None:
        """Let ways to grow trees, then sets of tests, compete; return the best. None: no test is worth its price."""
        pilots, end = self._pilots(), self.deadline.fraction(RACE_END)
        best = self._best(pilots)
        trees = [tree for one in best.folds for tree in one.trees]
        importance = importances(map(Nodes.from_core, trees), len(self.costs.prices.marginal))
        sets = [tests for tests in self._sets(importance) if tests != best.tests]
        racing = [best, *(ForestCandidate(best.growth, tests, self.validated()) for tests in sets)]
        n = len(self.folds)
        self.monitor.expect(len(sets) * FIRST)
        racing = self._stage(racing, range(1), FIRST, KEPT_FIRST, end)
        self.monitor.expect(len(racing) * (n * SECOND - FIRST))
        whole = self._stage(racing, range(n), SECOND, len(racing), end)
        racing, self.compared = whole[:KEPT_SECOND], whole
        self.monitor.expect(len(racing) * n * max(self.max_trees - SECOND, 0))
        best = self._stage(racing, range(n), self.max_trees, 1, end)[0]
        if best.cost() < best.no_test_cost():
            return best
        self.monitor.goes_on(end)  # with more time, another set of tests might have been worth its price
        return None

    def everything(self, growth: Growth = GROWTHS[0]) -> ForestCandidate:
        """Return the candidate of all tests."""
        tests = tuple(test for test in range(len(self.costs.prices.marginal)) if self._allowed((test,)))
        return ForestCandidate(growth, tests, self.validated())

    def final_trees(self, task: SharedData[ForestTask], candidate: ForestCandidate) -> Iterator[Any]:
        """Yield trees from all cases until there are enough or the time is over."""
        self.monitor.expect(self.max_trees)
        batch, cost = BATCH * max(self.n_threads, n_workers()), candidate.record()
        for first in range(0, self.max_trees, batch):
            if not self.monitor.goes_on():
                return
            numbers = range(first, min(first + batch, self.max_trees))
            grown = self.grow(task, candidate, numbers, self.monitor.remaining())
            if self.monitor.remaining() > 0:  # otherwise they may be cut short
                yield from self.monitor.over(grown)
                self.monitor.tell(cost)

    def _pilots(self) -> list[ForestCandidate]:
        self.monitor.expect(len(GROWTHS) * len(self.folds) * PILOTS)
        found = [self.everything(growth) for growth in GROWTHS]
        return self._stage(found, range(len(self.folds)), PILOTS, len(found), self.deadline.fraction(PILOTS_END))

    def _sets(self, importance: Floats) -> Iterator[tuple[int, ...]]:
        """Yield sets of tests within the cap: those that are free, then growing ones."""
        prices = self.pricing
        free = tuple(int(t) for t in np.flatnonzero(importance > 0) if prices.price(prices.closure([int(t)])) == 0)
        if free:
            yield free
        yield from filter(self._allowed, ladder(importance, prices, self.amounts))

    def _allowed(self, tests: tuple[int, ...]) -> bool:
        prices, cap = self.pricing, self.costs.cap
        return cap is None or prices.price(prices.closure(tests)) <= cap

    def validated(self) -> list[Validated]:
        return [Validated(fold, self.costs, self.rule, self.n_threads) for fold in self.folds]

    def _best(self, candidates: Sequence[ForestCandidate]) -> ForestCandidate:
        """Return the candidate of least error cost; the first one, if they were not all grown in time."""
        sizes = [min(len(one.trees) for one in candidate.folds) for candidate in candidates]
        if min(sizes) < max(sizes):
            return candidates[0]
        return min(candidates, key=lambda one: one.record().error_cost)

    def _stage(
        self, racing: list[ForestCandidate], folds: range, n_trees: int, n_kept: int, deadline: Deadline
    ) -> list[ForestCandidate]:
        """Grow as many trees for all candidates and return those of least cost, the best first."""
        whole = []
        for candidate in racing:
            for at in folds:
                self._extend(candidate, candidate.folds[at], min(n_trees, self.max_trees), deadline)
            if not self.monitor.goes_on() or deadline.remaining() <= 0:
                break
            whole.append(candidate)
        return sorted(whole, key=lambda one: one.cost(len(folds)))[:n_kept] if whole else racing[:1]

    def _extend(self, candidate: ForestCandidate, one: Validated, n_trees: int, deadline: Deadline) -> None:
        numbers = range(len(one.trees), n_trees)
        if not numbers or not self.monitor.goes_on() or deadline.remaining() <= 0:
            return
        grown = self.grow(one.fold.task, candidate, numbers, deadline.remaining())
        if deadline.remaining() <= 0:
            return  # they may be cut short
        for tree in self.monitor.over(grown):
            one.add(tree)
            if one is candidate.folds[0] and len(one.trees) == 1:
                self.tried.append(candidate)
        self.monitor.tell(one.curve[-1])

    def grow(
        self, task: SharedData[ForestTask], candidate: ForestCandidate, numbers: range, seconds: float
    ) -> list[Any]:
        """Grow trees on the tests of a candidate."""
        growth, tests = candidate.growth, candidate.tests
        batch = TreeBatch(growth.least, numbers, growth.sampling, tests, seconds, node_tests(len(tests)))
        return spread_trees(task, batch, self.n_threads)

    def chosen_without(self, fold: int, chosen: ForestCandidate) -> ForestCandidate:
        """Return the candidate that the other folds would have chosen, as far as they were compared.

        A fold that took part in the choice makes the chosen one look too cheap: with it, four splits of sonar,
        breast_wisconsin, lymphography and hepatitis expect .68, .80, .81 and .83 of what new cases cost, without it
        .83, .84, 1.01 and .95.
        """
        others = [at for at in range(len(self.folds)) if at != fold]
        complete = [one for one in self.compared if all(part.trees for part in one.folds)]
        if chosen not in self.compared or not others or not complete:
            return chosen
        n_trees = min(len(part.trees) for one in complete for part in one.folds)
        return min(complete, key=lambda one: one.cost_of(others, n_trees))

    def best_so_far(self) -> ForestCandidate:
        """Return the best candidate of a race that has ended early."""
        return min(self.tried, key=lambda one: one.cost(1))


def race_cases(deadline: Deadline, n_folds: int, n_tests: int, n_threads: int) -> float:
    """Return how many cases a race may have, to end in time.

    Examples
    --------
    >>> race_cases(Deadline(None), 5, 20, 1)
    inf
    """
    seconds = deadline.remaining() * RACE_END * n_threads
    return seconds / (RACE_TREES * n_folds * TREE_SECONDS * node_tests(n_tests))


def node_tests(n_tests: int) -> int:
    """Return how many tests are tried at a node: the root of their number, as is usual for forests.

    Examples
    --------
    >>> [node_tests(n) for n in (1, 4, 10, 57)]
    [1, 2, 3, 8]
    """
    return max(round(math.sqrt(n_tests)), 1)


def forest_of_least_cost(race: ForestRace, final: SharedData[ForestTask], held_out: bool) -> CostForest:
    """Return the forest of least total cost, with trees from the final cases.

    `held_out` says that the validation cases are not among these: then they validate the trees themselves, otherwise
    what was found in the folds counts.
    """
    chosen: ForestCandidate | None = None
    trees: list[Any] = []
    try:
        chosen = race.ran()
        if chosen is not None:
            for tree in race.final_trees(final, chosen):
                trees.append(tree)
    except KeyboardInterrupt:
        race.monitor.interrupted()
    if race.tried and not trees and race.monitor.stopped != "done":
        chosen = chosen or race.best_so_far()  # Ctrl-C, or too late for trees from all cases
        held_out, trees = True, list(chosen.folds[0].trees)
    if not race.tried:
        chosen = race.everything()
        trees = race.grow(final, chosen, range(1), race.deadline.remaining())  # of one node, if there is no time at all
    if chosen is not None and (held_out or not race.tried):
        whole = race.validated()[:1]  # anew: Ctrl-C may have come while a tree was counted
        for tree in trees:
            whole[0].add(tree)
        chosen = ForestCandidate(chosen.growth, chosen.tests, whole)
    # Where the race was cut short, the only trees there are may ask for tests that do not pay.
    if chosen is None or chosen.cost() > chosen.no_test_cost():
        return _settled(race, ForestCandidate(GROWTHS[0], (), race.validated()), [])
    return _settled(race, chosen, trees)


def _settled(race: ForestRace, candidate: ForestCandidate, trees: list[Any]) -> CostForest:
    """Return a forest with its curve, its costs and its temperature, by what is known of its candidate."""
    folds = [one for one in candidate.folds if one.trees] or candidate.folds
    known = min(len(one.trees) for one in folds)
    curve = [candidate.record(n_trees=min(n, known))._replace(trees=n) for n in range(len(trees) + 1)]
    weights = [one.fold.cases.weights for one in folds]
    whole = None if weights[0] is None else np.concatenate([w for w in weights if w is not None])
    temperature = 1.0
    if trees:
        shares, truth = [one.votes.shares() for one in folds], [one.fold.cases.truth for one in folds]
        temperature = likeliest_temperature(np.concatenate(shares), np.concatenate(truth), whole)
    costs = []
    for at, one in enumerate(folds):
        judged = race.chosen_without(at, candidate).folds[at] if folds == candidate.folds else one
        judged.votes.rule = replace(race.rule, smoothing=Smoothing(temperature))
        answers, cases = judged.votes.answers(), judged.fold.cases
        costs.append(judged.votes.prices + cases.costs[np.arange(len(answers)), answers])
    asked = [(one.fold.cases, one.router) for one in folds]
    found = candidate.growth, candidate.tests, trees, curve, np.concatenate(costs), whole, temperature
    return CostForest(*found, asked)

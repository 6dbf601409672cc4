"""Growing and validating a forest on cases in many files; every worker holds one file in memory at a time.

A tree draws its cases from one file, so it needs no other file; files take turns in proportion to their number of
cases. Every file holds out some cases for validation, and workers return only sums over them. Which tree is grown from
which cases depends only on the files and the seed, so the forest is the same for any number of workers.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.learners.cross_fitting import expected_cost_of_sums
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_share
from worthwhile.learners.forest.growing import ForestTask, TreeBatch, grow_trees
from worthwhile.learners.forest.model_file import Forest
from worthwhile.learners.forest.validation import GrowthMonitor
from worthwhile.learners.forest.voting import (
    AnswerRule,
    BudgetRecord,
    StoppingTable,
    ValidationSet,
    VoteRecorder,
    rates_for,
)
from worthwhile.learners.part_files import PartCases, PartReader, survey
from worthwhile.learners.training import with_prices
from worthwhile.learners.weighting import class_costs, instance_weights
from worthwhile.parallel.workers import SharedData, run_pieces, split_range
from worthwhile.tree.case_amounts import check_conditions
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.json_format import ExpectedCost
from worthwhile.tree.tree import Tree

__all__ = ["PartitionedData", "forests_of", "prepare", "turns"]

Floats = npt.NDArray[np.float64]
Rule = tuple[StoppingTable, list[float]]  # the stopping rule: its table, and rates between prices and error costs


def turns(n_cases: Sequence[float] | Floats, n_trees: int) -> list[int]:
    """Return the file that each tree is grown from; files take turns in proportion to their number of cases.

    Examples
    --------
    >>> turns([100, 100, 100], 5)
    [0, 1, 2, 0, 1]
    >>> turns([300, 100, 0], 8)
    [0, 0, 1, 0, 0, 0, 1, 0]
    """
    shares = np.array(n_cases) / np.sum(n_cases)
    given = np.zeros(len(shares))
    found = []
    for number in range(n_trees):
        found.append(int(np.argmax(shares * (number + 1) - given)))
        given[found[-1]] += 1
    return found


@dataclass(frozen=True, eq=False)
class PartitionedData:
    """All files, and how trees are grown from them."""

    reader: PartReader
    context: ProblemContext
    options: Mapping[str, Any]  # of the core
    seed: int
    share: float | None  # of the cases of a file that are held out for validation; None: all cases are used for both
    n_cases: Floats  # in every file
    class_weights: Floats

    def divide(self, cases: PartCases, part: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the positions of the cases of a file to grow trees from, and of those to validate them."""
        every = np.arange(len(cases.rows))
        if self.share is None:
            return every, every
        rng = np.random.default_rng([self.seed, part, 1])  # trees are seeded by two numbers, files by three
        kept = stratified_share(cases.classes, self.share, rng)
        if not 0 < len(kept) < len(every):
            return every, every
        return np.setdiff1d(every, kept, assume_unique=True), kept

    def task(self, part: int) -> ForestTask:
        """Return the cases of a file that trees are grown from."""
        cases = self.reader.cases(part)
        rows, _ = self.divide(cases, part)
        weights = None if cases.weights is None else cases.weights[rows]
        classes, costs = cases.classes[rows], self.context.bound_costs
        table = self._table(part, cases.rows[rows], classes)
        return ForestTask(table, classes, len(self.context.classes), weights, costs, self.options, self.seed)

    def validation(self, part: int) -> ValidationSet | None:
        """Return the validation cases of a file; None if there are none."""
        cases = self.reader.cases(part)
        _, rows = self.divide(cases, part)
        if not len(rows):
            return None
        classes = cases.classes[rows]
        weights = None if cases.sample_weights is None else cases.sample_weights[rows]
        table = self._table(part, cases.rows[rows], classes)
        return ValidationSet(table, classes.astype(np.intp), self.context.error_costs[classes], weights)

    def _table(self, part: int, rows: npt.NDArray[np.intp], classes: npt.NDArray[np.int32]) -> Any:
        columns, context = self.reader.columns(part, rows), self.context
        return with_prices(context.schema.encode(columns, complete=True), context, columns, classes, None)


def prepare(
    learner: Any, files: tuple[str, ...], target: str, weight: str | None, options: Mapping[str, Any]
) -> PartitionedData:
    """Survey the files and return what trees are grown from.

    Parameters
    ----------
    learner : BudgetForestClassifier
    files, target, weight
        As for `survey`.
    options : mapping
        Of the core.
    """
    found = survey(files, target, weight, learner.columns, learner.nominal, learner._n_threads())
    found.check_classes(learner.costs)
    labels = found.labels.tolist()
    context = ProblemContext.of(found.schema, labels, learner.costs)
    check_conditions(found.schema, context.bound_costs.prices)
    factors, weights, n_cases = None, found.weights, found.n_cases
    if learner.weighting is not None:
        # All cases of a class get the same factor, found by weighting the class as one case.
        classes = np.arange(len(labels), dtype=np.int32)
        weights = instance_weights(classes, class_costs(context.bound_costs, labels, learner._vector()), weights)
        factors = weights / found.weights
        n_cases = n_cases * (factors > 0)
    scale = found.n_cases.sum() / found.weights.sum()
    if scale > 1:  # as `at_least_1`
        factors = np.full(len(labels), scale) if factors is None else factors * scale
        weights = weights * scale
    share = float(learner.validation) if isinstance(learner.validation, numbers.Real) else None
    reader = PartReader(found.plan, found.stamps, found.schema, found.labels, factors)
    seed = int(learner._generator().integers(2**62))
    return PartitionedData(reader, context, options, seed, share, n_cases.sum(axis=1), weights)


def forests_of(
    learner: Any, data: PartitionedData, values: list[float], validation: ValidationSet | None
) -> list[Forest]:
    """Grow the forests and validate them, on the held-out cases of the files unless others are given."""
    n_threads = learner._n_threads()
    grown = [
        [learner._tree(core) for core in trees]
        for trees in grow_on_parts(data, values, learner._most_trees(), learner.sampling_, n_threads)
    ]
    if validation is None:
        return judge_on_parts(data, grown, values, learner._adaptive, learner._rule(), n_threads)
    validator = learner._validator(validation)
    monitor = GrowthMonitor(len(values) * learner._most_trees(), Deadline(None), keeps=False)
    return [validator.forest(value, trees, None, monitor) for value, trees in zip(values, grown, strict=True)]


# ---- growing


class GrowJob(NamedTuple):
    """Trees to grow from some files, for every value of the impurity's parameter."""

    values: list[float]
    sampling: str
    numbers: list[tuple[int, list[int]]]  # file and trees


def grow_on_parts(
    data: PartitionedData, values: list[float], n_trees: int, sampling: str, n_threads: int
) -> list[list[Any]]:
    """Return the core trees for every value, in the order of their numbers."""
    by_part: dict[int, list[int]] = {}
    for number, part in enumerate(turns(data.n_cases, n_trees)):
        by_part.setdefault(part, []).append(number)
    jobs = sorted(by_part.items())

    def pieces(n: int) -> list[GrowJob]:
        return [GrowJob(values, sampling, jobs[some]) for some in split_range(len(jobs), n)]

    found = run_pieces(_grow_piece, SharedData(data, _same, (data,)), pieces, n_threads)
    grown = {key: core for piece in found for key, core in piece}
    return [[grown[i, number] for number in range(n_trees)] for i in range(len(values))]


def _same(data: PartitionedData) -> PartitionedData:
    return data


def _grow_piece(data: PartitionedData, job: GrowJob, n_threads: int) -> list[tuple[tuple[int, int], Any]]:
    found = []
    for part, own in job.numbers:
        task = data.task(part)
        for i, value in enumerate(job.values):
            trees = grow_trees(task, TreeBatch(value, own, job.sampling), n_threads)
            found += [((i, number), core) for number, core in zip(own, trees, strict=True)]
    return found


# ---- validating


@dataclass(frozen=True, eq=False)
class JudgeContext:
    """All files, and the forests to validate on them."""

    data: PartitionedData
    forests: list[list[Any]]  # core trees
    adaptive: bool | str
    rule: AnswerRule


class JudgeJob(NamedTuple):
    """Files to validate on, with the stopping rule of every forest if an earlier job has found it."""

    parts: range
    rules: list[Rule] | None = None


class StoppingSums(NamedTuple):
    """Sums over the validation cases of a file, from which the stopping rule of a forest is made."""

    stopping: StoppingTable
    prices: Floats  # of 0, 1, 2, … trees, summed over all cases
    n_cases: int


def judge_on_parts(
    data: PartitionedData,
    grown: list[list[Tree]],
    values: list[float],
    adaptive: bool | str,
    rule: AnswerRule,
    n_threads: int,
) -> list[Forest]:
    """Return the forests with their costs on the validation cases of all files."""
    parts = data, [[tree._core_tree for tree in trees] for trees in grown], adaptive, rule
    context = SharedData(JudgeContext(*parts), JudgeContext, parts)
    n_files = len(data.reader.plan.files)

    def summed(rules: Any = None) -> list[list[Any]]:
        def pieces(n: int) -> list[JudgeJob]:
            return [JudgeJob(range(n_files)[some], rules) for some in split_range(n_files, n)]

        found = [one for piece in run_pieces(_judge_piece, context, pieces, n_threads) for one in piece]
        return [list(of_forest) for of_forest in zip(*found, strict=True)]  # for every forest, by file

    if adaptive is not True:
        totals = [reduce(np.add, tallies) for tallies in summed()]
        every = zip(values, grown, totals, strict=True)
        return [
            Forest(value, tuple(trees), _records(sums, value, range(len(sums))), expected=_expected(sums))
            for value, trees, sums in every
        ]
    rules = [_rule(sums, data.context.bound_costs) for sums in summed()]
    forests = []
    for value, trees, tallies, (stopping, rates) in zip(values, grown, summed(rules), rules, strict=True):
        sums = reduce(np.add, tallies)
        curve = *_records(sums[:-1], value, [len(trees)] * len(rates), rates), *_records(sums[-1:], value, [0])
        forests.append(Forest(value, tuple(trees), curve, stopping, expected=_expected(sums)))
    return forests


def _rule(sums: Sequence[StoppingSums], costs: BoundCosts) -> Rule:
    """Return the table of the stopping rule, and the rates to choose from."""
    arrays = [vars(one.stopping).values() for one in sums]
    stopping = StoppingTable(*(reduce(np.add, same) for same in zip(*arrays, strict=True)))
    prices = reduce(np.add, (one.prices for one in sums)) / sum(one.n_cases for one in sums)
    return stopping, rates_for(prices, costs)


def _records(
    sums: Floats, value: float, n_trees: Sequence[int], rates: Sequence[float] | None = None
) -> tuple[BudgetRecord, ...]:
    """Return averages; for a row of `sums` see `ValidationSet.sums`."""
    every = rates if rates is not None else [None] * len(sums)
    return tuple(
        BudgetRecord(value, n, float(price / weight), float(errors / weight), float(cost / weight), rate)
        for n, (price, errors, cost, _, _, weight, _), rate in zip(n_trees, sums, every, strict=True)
    )


def _expected(sums: Floats) -> tuple[ExpectedCost, ...]:
    """Return what a new case is expected to cost, by row of `sums`."""
    return tuple(
        expected_cost_of_sums(weight, total, square, squares)
        for _, _, _, total, square, weight, squares in sums.tolist()
    )


def _judge_piece(context: JudgeContext, job: JudgeJob, n_threads: int) -> list[list[Any]]:
    """Return sums for each file that has validation cases, for every forest."""
    found = []
    for part in job.parts:
        validation = context.data.validation(part)
        if validation is not None:
            rules: Sequence[Rule | None] = job.rules or [None] * len(context.forests)
            pairs = zip(context.forests, rules, strict=True)
            found.append([_judge(context, trees, validation, rule, n_threads) for trees, rule in pairs])
    return found


def _judge(
    context: JudgeContext, trees: Sequence[Any], validation: ValidationSet, rule: Rule | None, n_threads: int
) -> Any:
    data, adaptive = context.data, context.adaptive
    recorder = VoteRecorder(validation.table, len(validation.truth), data.context.bound_costs, context.rule, n_threads)
    sums: list[Floats] = []

    def note() -> None:
        history = recorder.history()
        sums.append(validation.sums(history, history.ends(adaptive == "settled")))

    note()
    for tree in trees:
        recorder.consult(tree)
        if adaptive is not True:
            note()
    if adaptive is not True:
        return np.stack(sums)
    history = recorder.history()
    if rule is None:
        return StoppingSums(StoppingTable.of(history, validation), history.prices.sum(axis=1), len(validation.truth))
    stopping, rates = rule
    at_rates = (validation.sums(history, history.ends(True, stopping.stops(rate))) for rate in rates)
    return np.stack([*at_rates, sums[0]])

"""Growing and judging a forest by cases in many files, of which every worker holds one at a time.

A tree draws its cases from one file, so that no other is needed to grow it; files take turns in proportion to their
cases. Every file sets some of its cases aside, and all of these together judge: what is sent back are sums. Which tree
is grown from what depends on the files and the seed alone, so the forest is the same whatever the workers are.
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
from worthwhile.costs.costs import Costs
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_share
from worthwhile.learners.forest.growing import ForestTask, TreeBatch, grow_trees
from worthwhile.learners.forest.model_file import Forest
from worthwhile.learners.forest.part_files import Cases, PartReader, survey
from worthwhile.learners.forest.validation import GrowthMonitor
from worthwhile.learners.forest.voting import BudgetRecord, StoppingTable, ValidationSet, VoteRecorder, rates_for
from worthwhile.learners.weighting import instance_weights
from worthwhile.parallel.workers import Shared, cut, spread
from worthwhile.tree.nodes import Nodes
from worthwhile.tree.tree import Tree

__all__ = ["PartitionedData", "forests_of", "prepare", "turns"]

Floats = npt.NDArray[np.float64]
Rule = tuple[StoppingTable, list[float]]  # of stopping: what it depends on, and rates between prices and error costs


def turns(n_cases: Sequence[float] | Floats, n_trees: int) -> list[int]:
    """Return the file that every tree is grown from: each gets its turn in proportion to its cases.

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

    field: PartReader
    costs: Costs
    options: Mapping[str, Any]  # of the core
    seed: int
    share: float | None  # of the cases of a file that are set aside; None: all cases do both
    n_cases: Floats  # in every file
    root: Tree  # the forest without trees

    @property
    def money(self) -> BoundCosts:
        return BoundCosts.of(self.costs, self.field.schema.names, self.field.labels.tolist())

    def divide(self, cases: Cases, part: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return which of the cases of a file trees are grown from, and which judge them."""
        every = np.arange(len(cases.rows))
        if self.share is None:
            return every, every
        rng = np.random.default_rng([self.seed, part, 1])  # a tree draws by two numbers, a file by three
        kept = stratified_share(cases.classes, self.share, rng)
        if not 0 < len(kept) < len(every):
            return every, every
        return np.setdiff1d(every, kept, assume_unique=True), kept

    def grove(self, part: int, money: BoundCosts) -> ForestTask:
        """Return the cases of a file that trees are grown from."""
        cases = self.field.cases(part)
        rows, _ = self.divide(cases, part)
        weights = None if cases.weights is None else cases.weights[rows]
        table = self.field.table(part, cases.rows[rows])
        return ForestTask(table, cases.classes[rows], len(self.field.labels), weights, money, self.options, self.seed)

    def judges(self, part: int, money: BoundCosts) -> ValidationSet | None:
        """Return the cases of a file that judge; None, if there are none."""
        cases = self.field.cases(part)
        _, rows = self.divide(cases, part)
        if not len(rows):
            return None
        classes = cases.classes[rows]
        weights = None if cases.sample_weights is None else cases.sample_weights[rows]
        table = self.field.table(part, cases.rows[rows])
        return ValidationSet(table, classes.astype(np.intp), money.error_costs[classes], weights)

    def parts(self) -> tuple[Any, ...]:
        return self.field, self.costs, dict(self.options), self.seed, self.share, self.n_cases, self.root


def prepare(
    learner: Any, files: tuple[str, ...], target: str, weight: str | None, options: Mapping[str, Any]
) -> PartitionedData:
    """Look through the files and return what trees are grown from.

    Parameters
    ----------
    learner : BudgetForestClassifier
    files, target, weight
        As `PartReader` knows them.
    options : mapping
        Of the core.
    """
    found = survey(files, target, weight, learner.columns, learner.nominal, learner._n_threads())
    labels = found.labels.tolist()
    money = BoundCosts.of(learner.costs, found.schema.names, labels)
    factors, weights, n_cases = None, found.weights, found.n_cases
    if learner.weighting is not None:
        # All cases of a class together are weighted as one: each of them counts so many times.
        classes = np.arange(len(labels), dtype=np.int32)
        weights = instance_weights(classes, learner._class_costs(money, found.labels), weights)
        factors = weights / found.weights
        n_cases = n_cases * (factors > 0)
    share = float(learner.validation) if isinstance(learner.validation, numbers.Real) else None
    field = PartReader(found.plan, found.schema, found.labels, factors)
    root = Tree(Nodes.leaf(weights), found.schema, labels, money=money)
    seed = int(learner._generator().integers(2**62))
    return PartitionedData(field, money.costs, options, seed, share, n_cases.sum(axis=1), root)


def forests_of(learner: Any, farm: PartitionedData, values: list[float], judges: ValidationSet | None) -> list[Forest]:
    """Grow the forests, judged by the cases that the files set aside unless others are given."""
    n_threads = learner._n_threads()
    grown = [
        [learner._tree(nodes) for nodes in trees]
        for trees in grow_on_parts(farm, values, int(learner.max_trees), learner.sampling_, n_threads)
    ]
    if judges is None:
        return judge_on_parts(farm, grown, values, learner._adaptive, n_threads)
    court = learner._court(judges)
    watch = GrowthMonitor(len(values) * int(learner.max_trees), Deadline(None), keeps=False)
    return [court.forest(value, trees, None, watch) for value, trees in zip(values, grown, strict=True)]


# ---- growing


class GrowJob(NamedTuple):
    """Trees to be grown from some files, for every value of the impurity's parameter."""

    values: list[float]
    sampling: str
    numbers: list[tuple[int, list[int]]]  # file and trees


def grow_on_parts(
    farm: PartitionedData, values: list[float], n_trees: int, sampling: str, n_threads: int
) -> list[list[Nodes]]:
    """Return the trees for every value, in the order of their numbers."""
    by_part: dict[int, list[int]] = {}
    for number, part in enumerate(turns(farm.n_cases, n_trees)):
        by_part.setdefault(part, []).append(number)
    jobs = sorted(by_part.items())

    def pieces(n: int) -> list[GrowJob]:
        return [GrowJob(values, sampling, jobs[some]) for some in cut(len(jobs), n)]

    found = spread(_grow_piece, Shared(farm, PartitionedData, farm.parts()), pieces, n_threads)
    grown = {key: nodes for piece in found for key, nodes in piece}
    return [[grown[i, number] for number in range(n_trees)] for i in range(len(values))]


def _grow_piece(farm: PartitionedData, piece: GrowJob, n_threads: int) -> list[tuple[tuple[int, int], Nodes]]:
    money, found = farm.money, []
    for part, own in piece.numbers:
        grove = farm.grove(part, money)
        for i, value in enumerate(piece.values):
            trees = grow_trees(grove, TreeBatch(value, own, piece.sampling), n_threads)
            found += [((i, number), nodes) for number, nodes in zip(own, trees, strict=True)]
    return found


# ---- judging


@dataclass(frozen=True, eq=False)
class JudgeContext:
    """All files, and the forests that their cases judge."""

    farm: PartitionedData
    forests: list[list[Any]]  # trees of the core
    adaptive: bool | str

    @classmethod
    def of(cls, farm: tuple[Any, ...], forests: list[list[Nodes]], adaptive: bool | str) -> JudgeContext:
        """Make a jury out of plain data."""
        return cls(PartitionedData(*farm), [[nodes.to_core() for nodes in trees] for trees in forests], adaptive)


class JudgeJob(NamedTuple):
    """Files whose cases are to judge; by rules of stopping, for every forest, that came out of an earlier job."""

    parts: range
    rules: list[Rule] | None = None


class StoppingSums(NamedTuple):
    """Sums over the cases of a file that judge, of one forest where the worth of the next tree is to decide."""

    states: StoppingTable
    prices: Floats  # of 0, 1, 2, … trees, all cases together
    n_cases: int


def judge_on_parts(
    farm: PartitionedData, grown: list[list[Tree]], values: list[float], adaptive: bool | str, n_threads: int
) -> list[Forest]:
    """Return the forests with what they cost on the cases that were set aside."""
    plain = farm.parts(), [[tree.nodes for tree in trees] for trees in grown], adaptive
    jury = Shared(JudgeContext.of(*plain), JudgeContext.of, plain)
    n_files = len(farm.field.plan.files)

    def summed(rules: Any = None) -> list[list[Any]]:
        def pieces(n: int) -> list[JudgeJob]:
            return [JudgeJob(range(n_files)[some], rules) for some in cut(n_files, n)]

        found = [one for piece in spread(_judge_piece, jury, pieces, n_threads) for one in piece]
        return [list(of_forest) for of_forest in zip(*found, strict=True)]  # for every forest, by file

    if adaptive is not True:
        totals = [reduce(np.add, tallies) for tallies in summed()]
        every = zip(values, grown, totals, strict=True)
        return [Forest(value, tuple(trees), _records(sums, value, range(len(sums)))) for value, trees, sums in every]
    rules = [_rule(courses, farm.money) for courses in summed()]
    forests = []
    for value, trees, tallies, (states, rates) in zip(values, grown, summed(rules), rules, strict=True):
        sums = reduce(np.add, tallies)
        curve = *_records(sums[:-1], value, [len(trees)] * len(rates), rates), *_records(sums[-1:], value, [0])
        forests.append(Forest(value, tuple(trees), curve, states))
    return forests


def _rule(courses: Sequence[StoppingSums], money: BoundCosts) -> Rule:
    """Return what the rule of stopping depends on, and the rates to choose from."""
    arrays = [vars(course.states).values() for course in courses]
    states = StoppingTable(*(reduce(np.add, same) for same in zip(*arrays, strict=True)))
    prices = reduce(np.add, (course.prices for course in courses)) / sum(course.n_cases for course in courses)
    return states, rates_for(prices, money)


def _records(
    sums: Floats, value: float, n_trees: Sequence[int], rates: Sequence[float] | None = None
) -> tuple[BudgetRecord, ...]:
    """Return averages; a row of `sums` is price, errors, error cost and weight."""
    every = rates if rates is not None else [None] * len(sums)
    return tuple(
        BudgetRecord(value, n, float(price / weight), float(errors / weight), float(cost / weight), rate)
        for n, (price, errors, cost, weight), rate in zip(n_trees, sums, every, strict=True)
    )


def _judge_piece(jury: JudgeContext, job: JudgeJob, n_threads: int) -> list[list[Any]]:
    """Return the sums over the cases of each file, for every forest; files without such cases are left out."""
    money, found = jury.farm.money, []
    for part in job.parts:
        judges = jury.farm.judges(part, money)
        if judges is not None:
            rules: Sequence[Rule | None] = job.rules or [None] * len(jury.forests)
            pairs = zip(jury.forests, rules, strict=True)
            found.append([_judge(jury, trees, judges, money, rule, n_threads) for trees, rule in pairs])
    return found


def _judge(
    jury: JudgeContext,
    trees: Sequence[Any],
    judges: ValidationSet,
    money: BoundCosts,
    rule: Rule | None,
    n_threads: int,
) -> Any:
    recorder = VoteRecorder(judges.table, len(judges.truth), money, int(jury.farm.root.nodes.answer[0]), n_threads)
    sums: list[Floats] = []

    def note() -> None:
        history = recorder.history()
        sums.append(judges.sums(history, history.ends(jury.adaptive == "settled")))

    note()
    for tree in trees:
        recorder.consult(tree)
        if jury.adaptive is not True:
            note()
    if jury.adaptive is not True:
        return np.stack(sums)
    history = recorder.history()
    if rule is None:
        return StoppingSums(StoppingTable.of(history, judges), history.prices.sum(axis=1), len(judges.truth))
    states, rates = rule
    return np.stack([*(judges.sums(history, history.ends(True, states.stops(rate))) for rate in rates), sums[0]])

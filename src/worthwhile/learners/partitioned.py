"""Learning from a folder of Parquet files that does not fit in memory (docs/design/parts.md).

A model is learned from a sample of the cases. Then all files are read once more, one batch of rows after the other, for
the class counts of every node and for what cases cost that were not in the sample. Workers send back sums only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.cross_fitting import (
    agreeing,
    best_answers,
    core_with,
    expected_cost_of,
    expected_cost_of_sums,
    shrunk_probabilities,
)
from worthwhile.learners.part_files import PartReader, batches_of, files_of, joined, survey, taken_rows
from worthwhile.parallel.workers import SharedData, run_pieces, split_range
from worthwhile.table.columns import Columns
from worthwhile.tree.json_format import ExpectedCost
from worthwhile.tree.tree import Tree

__all__ = [
    "PartSums",
    "PartitionedCases",
    "Sample",
    "SampleStep",
    "by_counts",
    "check_supported",
    "fit_chosen_parts",
    "fit_sampled_parts",
    "grown_from_samples",
    "open_parts",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
FIRST = 4_000  # cases that the first model is learned from
HELD_OUT = 10_000  # cases, at most, on which the models are compared
CHOSEN_FROM = 20_000  # cases, at most, that a learner is chosen by
LARGEST = 10_000_000  # cells, at most, of the sample
Z_ONE_SIDED = 1.6448536269514722  # 95 % of a normal distribution lie below
Z = 1.959963984540054  # 95 % lie between -Z and Z
FEWEST = 1_000  # cases outside the sample that are needed to tell what a new case costs


class SampleStep(NamedTuple):
    """How many cases a model was learned from, and what it costs on the cases that compare them."""

    n_cases: int
    cost: float


class Sample(NamedTuple):
    """Cases drawn from all files, those of each class evenly spread."""

    X: Any  # a pyarrow table
    y: npt.NDArray[Any]
    weights: Floats | None

    def take(self, rows: Rows) -> Sample:
        weights = None if self.weights is None else self.weights[rows]
        return Sample(self.X.take(rows), self.y[rows], weights)


@dataclass(frozen=True, eq=False)
class PartitionedCases:
    """All files, and which of their cases are in the sample."""

    reader: PartReader
    seed: int
    n_cases: npt.NDArray[np.intp]  # (files, classes)
    drawn: npt.NDArray[np.intp]  # (files, classes): how many are in the sample

    @property
    def n_files(self) -> int:
        return len(self.reader.plan.files)

    def rows(self, part: int, classes: npt.NDArray[np.int32]) -> Rows:
        """Return the positions of the cases of a file, out of those with these classes, that are in the sample."""
        rng, found = np.random.default_rng([self.seed, part]), [np.zeros(0, dtype=np.intp)]
        for of_class, n in enumerate(self.drawn[part]):
            own = np.flatnonzero(classes == of_class)
            found.append(rng.permutation(own)[:n])
        return np.sort(np.concatenate(found))

    def sample(self, n_threads: int = 1) -> Sample:
        """Read the sample: one pass over the files."""
        found = self._run(_sample_piece, self, n_threads)
        tables, classes, weights = ([one[at] for piece in found for one in piece] for at in range(3))
        given = None if weights[0] is None else np.concatenate(weights)
        return Sample(joined(self.reader.plan, tables), self.reader.labels[np.concatenate(classes)], given)

    def sums(self, model: Any, used: Rows, n_threads: int = 1) -> PartSums:
        """Read all files once, and return what they say about a model; `used` are cases of the sample that it knows."""
        tree, is_used = model.__dict__.get("tree_"), np.zeros(int(self.drawn.sum()), dtype=bool)
        is_used[used] = True
        by_part = np.split(is_used, np.cumsum(self.drawn.sum(axis=1))[:-1])
        found = self._run(_count_piece, _Counting(self, model if tree is None else tree, by_part), n_threads)
        every = [one for piece in found for one in piece]
        return PartSums(*(sum(values[1:], start=values[0]) for values in zip(*every, strict=True)))

    def _run(self, work: Callable[..., list[Any]], value: Any, n_threads: int) -> list[list[Any]]:
        def pieces(n: int) -> list[range]:
            return [range(self.n_files)[some] for some in split_range(self.n_files, n)]

        return run_pieces(work, SharedData(value, _same, (value,)), pieces, n_threads)


def _same(value: Any) -> Any:
    return value


def open_parts(learner: Any, parts: Any, target: str, weight: str | None, seed: int) -> PartitionedCases:
    """Survey the files, in a first pass, and decide how many cases of each file and class the sample has."""
    n_threads = learner._n_threads()
    found = survey(files_of(parts), target, weight, learner.columns, learner.nominal, n_threads)
    found.check_classes(learner.costs)
    n_cases = found.n_cases.astype(np.intp)
    largest = max(LARGEST // len(found.plan.names), 2 * FIRST)
    reader = PartReader(found.plan, found.stamps, found.schema, found.labels, None)
    return PartitionedCases(reader, seed, n_cases, allotted(n_cases, largest))


def allotted(n_cases: npt.NDArray[np.intp], n: int) -> npt.NDArray[np.intp]:
    """Return how many of n cases come from each file and class: in proportion, but at least two of every class.

    Examples
    --------
    >>> allotted(np.array([[60, 1], [60, 0], [80, 1]]), 20).tolist()
    [[6, 1], [6, 0], [8, 1]]
    """
    total = n_cases.sum(axis=0)
    share = min(n / max(int(total.sum()), 1), 1.0)
    wanted = np.minimum(np.maximum(np.rint(share * total), 2), total)
    before = np.vstack([np.zeros(len(total)), np.cumsum(n_cases, axis=0)])
    marks = np.floor(before * (wanted / np.maximum(total, 1)) + 1e-9)
    return np.diff(marks, axis=0).astype(np.intp)


def _sample_piece(data: PartitionedCases, parts: range, n_threads: int) -> list[tuple[Any, Any, Any]]:
    found = []
    for part in parts:
        cases = data.reader.cases(part)
        own = data.rows(part, cases.classes)
        weights = None if cases.sample_weights is None else cases.sample_weights[own]
        found.append((taken_rows(data.reader, part, cases.rows[own]), cases.classes[own], weights))
    return found


# ---- how large the sample must be


def grown_from_samples(
    sample: Sample, learn: Callable[[Sample], Any], seed: int, time_limit: float | None = None
) -> tuple[Any, Rows, list[SampleStep]]:
    """Return a model from as many cases as make a difference, the cases used for it, and what the models cost.

    Each time from twice as many, until the cost on cases that were kept apart no longer falls significantly (one-sided
    paired test, 5 %).
    """
    n, start = len(sample.y), time.monotonic()
    if n <= 2 * FIRST:
        return learn(sample), np.arange(n), []
    order, apart = _orders(sample.y, np.random.default_rng([seed, n]))
    judged, weights = sample.take(apart), None if sample.weights is None else sample.weights[apart]
    best, least, steps = None, np.zeros(0), list[SampleStep]()
    size = FIRST
    while True:
        model = learn(sample.take(np.sort(order[:size])))
        costs = model.total_costs(judged.X, judged.y)
        steps.append(SampleStep(min(size, len(order)), float(np.average(costs, weights=weights))))
        falls = best is None or _falls(least - costs, weights)
        if best is None or steps[-1].cost < float(np.average(least, weights=weights)):
            best, least, used = model, costs, order[:size]
        late = time_limit is not None and time.monotonic() - start > time_limit / 2
        if not falls or size >= len(order) or late:
            return best, np.concatenate([used, apart]), steps
        size *= 2


def _falls(savings: Floats, weights: Floats | None) -> bool:
    mean, low, _ = expected_cost_of(savings, weights)
    return mean > 0 and mean > (mean - low) / Z * Z_ONE_SIDED


def _orders(y: npt.NDArray[Any], rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return an order of which every beginning is stratified, and cases that are kept apart."""
    _, classes, counts = np.unique(y, return_inverse=True, return_counts=True)
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    place = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)  # within its class
    rank = np.where(place == 0, 0.0, (place + rng.random(len(y))) / np.repeat(counts, counts))
    order = by_class[np.argsort(rank, kind="stable")]
    n_apart = min(HELD_OUT, len(y) // 4)
    return order[:-n_apart], np.sort(order[-n_apart:])


# ---- sums over all cases


class PartSums(NamedTuple):
    """Sums over cases. Those of validation leave out what the model was learned from."""

    counts: Floats  # (nodes, classes) of all cases; empty, if the model is not one tree
    leaves: Floats  # (3, nodes, classes) of validation cases: weight, weight times price, weight times its square
    others: Floats  # of the other validation cases: weight, weight times cost, weight times its square
    sizes: Floats  # number of validation cases, and the sum of squares of their weights

    def expected_cost(self, error_costs: Floats, answers: npt.NDArray[np.int32]) -> ExpectedCost | None:
        """Return what a new case costs if nodes give these answers; None if there were too few cases to tell."""
        weight, cost, square = self.others
        if self.counts.size:
            own, priced, squared = self.leaves
            errors = error_costs[:, answers].T
            weight = weight + own.sum()
            cost = cost + (priced + own * errors).sum()
            square = square + (squared + 2 * priced * errors + own * errors**2).sum()
        if self.sizes[0] < FEWEST or weight <= 0:
            return None
        return expected_cost_of_sums(float(weight), float(cost), float(square), float(self.sizes[1]))


class _Counting(NamedTuple):
    data: PartitionedCases
    model: Any  # a tree, or a learner that is not one
    used: list[npt.NDArray[np.bool_]]  # by file, of the cases in the sample


def _count_piece(counting: _Counting, parts: range, n_threads: int) -> list[PartSums]:
    return [_count_one(counting, part, n_threads) for part in parts]


def _count_one(counting: _Counting, part: int, n_threads: int) -> PartSums:
    data, model, used = counting
    cases = data.reader.cases(part)
    is_used = np.zeros(len(cases.rows), dtype=bool)
    is_used[data.rows(part, cases.classes)] = used[part]
    tree = model if isinstance(model, Tree) else None
    k, n_nodes = len(data.reader.labels), tree.n_nodes if tree is not None else 0
    counts, leaves = np.zeros((n_nodes, k)), np.zeros((3, n_nodes, k))
    others, sizes = np.zeros(3), np.zeros(2)
    wanted = None if tree is None else set(tree.tests_used())
    first = 0  # of the cases of this batch, among those of positive weight
    for start, length, batch in batches_of(data.reader, part, wanted):
        last = first + int(np.searchsorted(cases.rows[first:], start + length))
        rows, own = cases.rows[first:last] - start, slice(first, last)
        weights = np.ones(len(rows)) if cases.sample_weights is None else cases.sample_weights[own]
        fresh = weights * ~is_used[own]
        sizes += np.count_nonzero(fresh), np.square(fresh).sum()
        if tree is None:
            costs = model.total_costs(batch.arrow(rows), data.reader.labels[cases.classes[own]])
            others += fresh.sum(), (fresh * costs).sum(), (fresh * costs**2).sum()
        else:
            found = _of_tree(tree, batch.columns(rows, tree.schema), cases.classes[own], weights, fresh, n_threads)
            counts += found.counts
            leaves += found.leaves
            others += found.others
        first = last
    return PartSums(counts, leaves, others, sizes)


def _of_tree(
    tree: Tree, columns: Columns, classes: npt.NDArray[np.int32], weights: Floats, fresh: Floats, n_threads: int
) -> PartSums:
    """Return the sums of some cases."""
    table, n, k = tree.schema.encode(columns), tree.n_nodes, tree.nodes.weights.shape[1]
    counts = tree._core_tree.recounted(table, classes, weights)
    answers, prices, _ = tree.route_table(table, answers=True, prices=True, shares=False, n_threads=n_threads)
    leaf = _leaves(tree, table, columns, n_threads)
    leaves, one = np.zeros((3, n * k)), leaf >= 0
    place = leaf[one] * k + classes[one]
    for at, values in enumerate((fresh, fresh * prices, fresh * prices**2)):
        leaves[at] = np.bincount(place, values[one], minlength=n * k)
    # Cases with missing values may end in several leaves: what they cost by the answers of the sample.
    costs = (prices + tree.error_costs[classes, answers])[~one]
    rest = fresh[~one]
    others = np.array([rest.sum(), (rest * costs).sum(), (rest * costs**2).sum()])
    return PartSums(counts, leaves.reshape(3, n, k), others, np.zeros(2))


def _leaves(tree: Tree, table: Any, columns: Columns, n_threads: int) -> npt.NDArray[np.intp]:
    """Return the leaf of every case; -1: it lacks a value, and may end in several."""
    marks = np.zeros_like(tree.nodes.weights)
    marks[:, 0] = np.arange(tree.n_nodes)  # the probability of the first class says the number of the node
    core, costs = core_with(tree.nodes, marks), tree.context.bound_costs
    known = (core, table, costs.core_pricing, costs.core_errors)
    found = _core.route(*known, least_cost=tree.answer == "least-cost", shares=True, n_threads=n_threads)[2]
    assert found is not None
    leaf = found[:, 0].astype(np.intp)
    for name in tree.tests_used():
        j = tree.schema.position[name]
        values = tree.schema.arrays_of(columns, j)
        leaf[np.isnan(values) if tree.schema.values[j] is None else values < 0] = -1
    return leaf


def by_counts(tree: Tree, counts: Floats, strength: float | None, expected: ExpectedCost | None) -> Tree:
    """Return a tree with the class counts of other cases than it was grown from.

    Answers of least cost, and probabilities, go by these counts. Cases with missing values are divided as before.
    """
    nodes = tree.nodes
    likely = shrunk_probabilities(nodes, counts, strength or 1e-9)
    answers = nodes.answer
    if tree.answer == "least-cost":
        answers = best_answers(likely, tree.error_costs)
    elif strength is not None:
        likely = agreeing(likely, answers, tree._core_tree.votes(), None)
    changed = replace(
        nodes,
        answer=answers,
        weights=counts,
        believed=nodes.weights if nodes.believed is None else nodes.believed,
        probabilities=None if strength is None else likely,
    )
    return Tree(changed, tree.context, tree.answer, expected)


# ---- learners that learn from growing samples


def check_supported(learner: Any) -> None:
    """Refuse parameters of trees that a single pass over all cases cannot count."""
    learner._check_parameters()
    if getattr(learner, "lazy", False):
        raise ValueError("fit_parts does not support lazy=True: all cases are counted in one tree; use lazy=False")
    if learner.weighting is not None:
        raise ValueError(f"fit_parts does not support weighting={learner.weighting!r}; use fit, or weighting=None")
    if learner.costs is not None and any(test.surcharges for test in learner.costs.tests.values()):
        raise ValueError("fit_parts does not support surcharges: their conditions are not counted; use fit")


def fit_sampled_parts(learner: Any, parts: Any, target: str, weight: str | None) -> None:
    """Fit a learner to samples of a folder of files, and count and measure in all of them."""
    seed = int(learner._generator().integers(2**62))
    data = open_parts(learner, parts, target, weight, seed)
    n_threads, limit = learner._n_threads(), getattr(learner, "time_limit", None)
    sample = data.sample(n_threads)
    found, used, steps = grown_from_samples(sample, lambda some: _learned(learner, some, seed), seed, limit)
    del sample
    _count(found, data.sums(found, used, n_threads))
    learner._forget()
    names = learner._parameter_names()
    learner.__dict__.update({name: value for name, value in found.__dict__.items() if name not in names})
    learner.parts_ = steps


def _count(model: Any, sums: PartSums) -> ExpectedCost | None:
    """Put what all cases say into a model: the counts of a tree, and what a new case is expected to cost, returned too.

    None: there is hardly any case outside the sample. What the cross-validation in the sample says is then kept.
    """
    model._set_origin(None)  # the cases are not in memory together
    if "tree_" not in model.__dict__:
        expected = sums.expected_cost(np.empty((0, 0)), np.empty(0, dtype=np.int32))
        model._expected = model._expected if expected is None else expected
        return expected
    sampled = model.tree_
    tree = by_counts(sampled, sums.counts, model._strength, None)
    expected = sums.expected_cost(tree.error_costs, tree.nodes.answer)
    kept = sampled.expected_cost if expected is None else expected
    model.tree_ = Tree(tree.nodes, tree.context, tree.answer, kept)
    return expected


# ---- the learner that chooses


def fit_chosen_parts(learner: Any, parts: Any, target: str, weight: str | None) -> ExpectedCost | None:
    """Fit an AutoClassifier to a folder of files; return what new cases cost, None if too few cases were left for it.

    It chooses by a sample. The chosen learner then learns from samples of growing size, like every other one.
    """
    check_supported(learner)
    seed = int(learner._generator().integers(2**62))
    data = open_parts(learner, parts, target, weight, seed)
    n_threads, limit = learner._n_threads(), learner.time_limit
    sample = data.sample(n_threads)
    order, _ = _orders(sample.y, np.random.default_rng([seed, len(sample.y)]))
    some = sample if len(sample.y) <= CHOSEN_FROM else sample.take(np.sort(order[:CHOSEN_FROM]))
    learner.fit(some.X, some.y, sample_weight=some.weights)
    best = learner.best_estimator_
    found, used, steps = grown_from_samples(sample, lambda own: _learned(best, own, seed), seed, limit)
    del sample
    expected = _count(found, data.sums(found, used, n_threads))
    learner.best_estimator_, learner.parts_ = found, steps
    learner._set_origin(None)
    return expected


def _learned(learner: Any, sample: Sample, seed: int) -> Any:
    """Return a copy of a learner that is fitted to a sample."""
    from sklearn.base import clone

    own = clone(learner).set_params(random_state=seed % (2**31 - 1))
    return own.fit(sample.X, sample.y, sample_weight=sample.weights)

"""Growing the trees of a forest: the cases, the options, and which cases each tree is grown from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.training import Training
from worthwhile.parallel.workers import SharedData, run_pieces, split_range
from worthwhile.table.columns import Columns
from worthwhile.tree.context import ProblemContext

__all__ = ["ForestTask", "TreeBatch", "build_task", "grow_trees", "shared_task", "spread_trees"]

Floats = npt.NDArray[np.float64]
NO_LIMIT = 1e9  # seconds, for the core
BATCH = 4  # trees per thread that are grown in one call: their samples take memory


@dataclass(frozen=True, eq=False)
class ForestTask:
    """The cases that trees are grown from, ready for the core, and how they are grown."""

    table: Any
    classes: npt.NDArray[np.int32]
    n_classes: int
    weights: Floats | None
    costs: BoundCosts
    options: Mapping[str, Any]  # of the core
    seed: int
    plain: Any = None  # the table without prices by case, if it has them


class TreeBatch(NamedTuple):
    """Trees to grow: the impurity's parameter, their numbers, how cases are drawn, and the tests they may use.

    If tests are given, all of them count as equally expensive; None: all tests, at their prices.
    """

    parameter: float
    numbers: Sequence[int]
    sampling: str
    tests: tuple[int, ...] | None = None
    seconds: float = math.inf  # after which nodes are not split any more, and no further tree is begun
    node_tests: int = 0  # how many tests, drawn at random, are tried at each node; 0: all


def shared_task(training: Training, options: Mapping[str, Any], seed: int) -> SharedData[ForestTask]:
    """Return a task that can be sent to workers."""
    task = ForestTask(
        training.table,
        training.classes,
        training.n_classes,
        training.weights,
        training.bound_costs,
        options,
        seed,
        _plain_table(training),
    )
    parts = training.context, training.columns, training.classes, training.weights, dict(options), seed
    return SharedData(task, build_task, parts)


def _plain_table(training: Training) -> Any:
    """Return the table without prices by case and surcharges, for trees that ignore prices; None: it has none."""
    if training.case_prices is None and not training.context.has_surcharges:
        return None
    return training.schema.encode(training.columns, complete=True)


def build_task(
    context: ProblemContext,
    columns: Columns,
    classes: npt.NDArray[np.int32],
    weights: Floats | None,
    options: Mapping[str, Any],
    seed: int,
) -> ForestTask:
    """Make a task from plain data."""
    table = context.schema.encode(columns, complete=True)
    return ForestTask(table, classes, len(context.classes), weights, context.bound_costs, options, seed)


def spread_trees(task: SharedData[ForestTask], batch: TreeBatch, n_threads: int) -> list[Any]:
    """Grow core trees on all workers."""

    def pieces(n: int) -> list[TreeBatch]:
        return [batch._replace(numbers=batch.numbers[some]) for some in split_range(len(batch.numbers), n)]

    return [core for grown in run_pieces(grow_trees, task, pieces, n_threads) for core in grown]


def grow_trees(task: ForestTask, batch: TreeBatch, n_threads: int) -> list[Any]:
    """Grow core trees. Each depends only on the seed and its number.

    After the batch's time there is at least one, cut short if need be.
    """
    size, numbers, deadline = BATCH * n_threads, batch.numbers, Deadline(batch.seconds)
    found: list[Any] = []
    for first in range(0, len(numbers), size):
        if found and deadline.remaining() <= 0:
            break
        some = batch._replace(numbers=numbers[first : first + size], seconds=deadline.remaining())
        found += _grow_some(task, some, n_threads)
    return found


def _grow_some(task: ForestTask, batch: TreeBatch, n_threads: int) -> list[Any]:
    table, pricing, asks = task.table, task.costs.core_pricing, None
    draws = [_draw(task.seed, number, len(task.classes), batch.sampling) for number in batch.numbers]
    if batch.tests is not None:
        table, pricing = task.plain or task.table, task.costs.free_pricing()
        asks = np.zeros(len(task.costs.prices.marginal), dtype=np.uint8)
        asks[list(batch.tests)] = 1
    cores: list[Any] = _core.grow_forest(
        table,
        task.classes,
        task.n_classes,
        np.stack([counts if task.weights is None else counts * task.weights for counts, _ in draws]),
        pricing,
        parameter=batch.parameter,
        seeds=[own_seed for _, own_seed in draws],
        n_threads=n_threads,
        asks=asks,
        node_tests=batch.node_tests,
        seconds=min(batch.seconds, NO_LIMIT),
        **task.options,
    )
    return cores


def _draw(seed: int, number: int, n_cases: int, sampling: str) -> tuple[Floats, int]:
    """Return the weight of each case for a tree, and a seed for its cuts."""
    rng = np.random.default_rng([seed, number])
    counts = np.bincount(rng.integers(n_cases, size=n_cases), minlength=n_cases).astype(np.float64)
    if sampling == "weighted":
        counts = (1 + counts) / 2
    return counts, int(rng.integers(2**63))

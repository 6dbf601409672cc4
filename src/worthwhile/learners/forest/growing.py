"""Where the trees of a forest grow: cases with prices and a way of growing, and which tree draws which cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.costs import Costs
from worthwhile.learners.base import Training
from worthwhile.parallel.workers import Shared, cut, spread
from worthwhile.table.columns import Columns
from worthwhile.table.schema import Schema
from worthwhile.tree.nodes import Nodes

__all__ = ["ForestTask", "TreeBatch", "build_task", "grow_trees", "shared_task", "spread_trees"]

Floats = npt.NDArray[np.float64]
BATCH = 4  # trees per thread that are grown in one call: what they have drawn takes memory


@dataclass(frozen=True, eq=False)
class ForestTask:
    """Cases to grow trees from, ready for the core, and how trees are grown."""

    table: Any
    classes: npt.NDArray[np.int32]
    n_classes: int
    weights: Floats | None
    money: BoundCosts
    options: Mapping[str, Any]  # of the core
    seed: int


class TreeBatch(NamedTuple):
    """Trees to be grown: the parameter of the impurity, their numbers, how cases are drawn, and the tests they keep to.

    Where these are not all, they count as equally dear.
    """

    parameter: float
    numbers: Sequence[int]
    sampling: str
    tests: tuple[int, ...] | None = None


def shared_task(growing: Training, options: Mapping[str, Any], seed: int) -> Shared[ForestTask]:
    """Return a grove that can be sent to workers."""
    k = len(growing.labels)
    grove = ForestTask(growing.table, growing.classes, k, growing.weights, growing.money, options, seed)
    money = growing.money.costs, growing.labels.tolist()
    parts = growing.schema, growing.columns, growing.classes, growing.weights, *money, dict(options), seed
    return Shared(grove, build_task, parts)


def build_task(
    schema: Schema,
    columns: Columns,
    classes: npt.NDArray[np.int32],
    weights: Floats | None,
    costs: Costs,
    labels: Sequence[Any],
    options: Mapping[str, Any],
    seed: int,
) -> ForestTask:
    """Make a grove out of plain data."""
    table = schema.encode(columns, complete=True)
    return ForestTask(table, classes, len(labels), weights, BoundCosts.of(costs, schema.names, labels), options, seed)


def spread_trees(grove: Shared[ForestTask], order: TreeBatch, n_threads: int) -> list[Nodes]:
    """Grow trees wherever there are workers for them."""

    def pieces(n: int) -> list[TreeBatch]:
        return [order._replace(numbers=order.numbers[some]) for some in cut(len(order.numbers), n)]

    return [nodes for grown in spread(grow_trees, grove, pieces, n_threads) for nodes in grown]


def grow_trees(grove: ForestTask, order: TreeBatch, n_threads: int) -> list[Nodes]:
    """Grow trees. Each depends on the seed and its number alone."""
    size, numbers = BATCH * n_threads, order.numbers
    batches = (numbers[first : first + size] for first in range(0, len(numbers), size))
    return [nodes for batch in batches for nodes in _grow_batch(grove, order._replace(numbers=batch), n_threads)]


def _grow_batch(grove: ForestTask, order: TreeBatch, n_threads: int) -> list[Nodes]:
    pricing, asks = grove.money.core_pricing, None
    draws = [_drawn(grove.seed, number, len(grove.classes), order.sampling) for number in order.numbers]
    if order.tests is not None:
        pricing = grove.money.free_pricing()
        asks = np.zeros(len(grove.money.prices.marginal), dtype=np.uint8)
        asks[list(order.tests)] = 1
    cores = _core.grow_forest(
        grove.table,
        grove.classes,
        grove.n_classes,
        np.stack([counts if grove.weights is None else counts * grove.weights for counts, _ in draws]),
        pricing,
        parameter=order.parameter,
        seeds=[own_seed for _, own_seed in draws],
        n_threads=n_threads,
        asks=asks,
        **grove.options,
    )
    return [Nodes.from_core(core) for core in cores]


def _drawn(seed: int, number: int, n_cases: int, sampling: str) -> tuple[Floats, int]:
    """Return how much each case counts for a tree, and a seed for its cuts."""
    rng = np.random.default_rng([seed, number])
    counts = np.bincount(rng.integers(n_cases, size=n_cases), minlength=n_cases).astype(np.float64)
    if sampling == "weighted":
        counts = (1 + counts) / 2
    return counts, int(rng.integers(2**63))

"""Trials: what biases cost on cases held out from growing. The core runs many in one call.

The paper's trial is one tree, grown from a random half of the cases and evaluated on the other (`Halves`). A refined
trial is a cross-validation on the same folds for all individuals (`Folds`), so that a lucky split favours none.
Cases and folds are shared by all trials of a search (`SharedData`); a generation is spread over the workers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.growth_policy import GrowthPolicy
from worthwhile.learners.icet.biases import Biases
from worthwhile.learners.icet.genesis import Floats
from worthwhile.learners.soft_labels import SOFT_LABEL_WEIGHTS, SoftLabels
from worthwhile.learners.training import Training
from worthwhile.parallel.workers import PIECES_PER_WORKER, SharedData, run_pieces, split_range
from worthwhile.table.columns import Columns
from worthwhile.tree.context import ProblemContext

__all__ = ["Folds", "Halves"]

N_FOLDS = 5
# Evaluated by the cases' own labels alone, individuals that differ in a few cases are ranked by chance: on 12 splits of
# bupa, heart and hepatitis that the reproductions do not use, evaluation by soft labels led to 46.4 instead of 47.0 %
# of the standard cost (error costs 50, 100, 1000 and 10,000). The less the ensemble errs, the less noise there is in
# the own labels, and the less soft labels count.
MOST_JUDGED, JUDGED_PER_ERROR = 1.0, 3.0


class Halves:
    """Every trial divides the cases into random halves of its own (Turney 1995, section 3.5)."""

    def __init__(self, training: Training, policy: GrowthPolicy, n_threads: int, rng: np.random.Generator) -> None:
        self._n_threads, self._rng = n_threads, rng
        own = _Rows(np.arange(training.n_cases), training.classes, training.weights, None, None)
        self._setup = _share(training, training.table, own, None, policy)

    def costs(self, biases: Biases, seconds: float) -> Floats:
        """Return the average cost of every individual; NaN where the time was too short."""
        split = np.arange(len(biases), dtype=np.int32)
        return _try(self._setup, biases, split, int(self._rng.integers(2**63)), self._n_threads, seconds)


class Folds:
    """Cross-validations, the same for every individual."""

    def __init__(self, setup: SharedData[_TrialSetup], first: int, n_splits: int, n_threads: int) -> None:
        self._setup, self._first, self._n_splits, self._n_threads = setup, first, n_splits, n_threads

    @classmethod
    def sets(
        cls,
        n_sets: int,
        labels: SoftLabels,
        policy: GrowthPolicy,
        repeats: int,
        n_threads: int,
        rng: np.random.Generator,
    ) -> list[Folds]:
        """Return several sets of cross-validations, which share one setup, so that workers get the cases once."""
        n_folds = max(2, min(N_FOLDS, len(labels.training.classes)))  # none is empty, unless there is only one case
        grows: list[npt.NDArray[np.uint8]] = []
        for _ in range(n_sets):
            folds = [stratified_folds(labels.training.classes, n_folds, rng) for _ in range(repeats)]
            own = np.array([fold != f for fold in folds for f in range(n_folds)], dtype=np.uint8)[:, labels.case]
            grows += [own] * labels.n_weights
        n_splits = repeats * n_folds
        weights, growing, judging = labels.training.weights, None, None
        if labels.soft:
            weights = None
            each = np.repeat([labels.weights(weight) for weight in SOFT_LABEL_WEIGHTS], n_splits, axis=0)
            growing = np.tile(each, (n_sets, 1))
            judging = labels.weights(min(MOST_JUDGED, JUDGED_PER_ERROR * labels.ensemble_error))
        rows = _Rows(labels.case, labels.classes, weights, growing, judging)
        shared = _share(labels.training, labels.table, rows, np.concatenate(grows), policy)
        return [cls(shared, i * labels.n_weights * n_splits, n_splits, n_threads) for i in range(n_sets)]

    def costs(self, biases: Biases, seconds: float) -> Floats:
        """Return the average cost of every individual; NaN where the time was too short."""
        each = np.tile(np.arange(self._n_splits, dtype=np.int32), len(biases))
        many = biases.take(np.repeat(np.arange(len(biases)), self._n_splits))
        split = np.int32(self._first) + many.soft_label_weight * np.int32(self._n_splits) + each
        costs = _try(self._setup, many, split, None, self._n_threads, seconds)
        return costs.reshape(len(biases), self._n_splits).mean(axis=1)


class _Rows(NamedTuple):
    """The rows of a table that trees are grown from and evaluated on: cases with labels and weights."""

    case: npt.NDArray[np.intp]
    classes: npt.NDArray[np.int32]
    weights: Floats | None
    growing: Floats | None  # (splits, rows)
    judging: Floats | None


@dataclass(frozen=True, eq=False)
class _TrialSetup:
    """What all trials share, ready for the core."""

    table: Any
    rows: _Rows
    grows: npt.NDArray[np.uint8] | None  # (splits, rows); None: random halves
    context: ProblemContext
    policy: Any


class _TrialBatch(NamedTuple):
    """Some of the trials: one individual and one split each."""

    trials: npt.NDArray[np.intp]  # their positions
    biases: Biases
    split: npt.NDArray[np.int32]
    seed: int | None
    seconds: float


def _share(
    training: Training, table: Any, rows: _Rows, grows: npt.NDArray[np.uint8] | None, policy: GrowthPolicy
) -> SharedData[_TrialSetup]:
    setup = _TrialSetup(table, rows, grows, training.context, policy.core())
    by_case = training.case_prices, training.case_errors, training.classes
    return SharedData(setup, _make_setup, (training.context, training.columns, by_case, rows, grows, policy))


def _make_setup(
    context: ProblemContext,
    columns: Columns,
    by_case: tuple[Floats | None, Floats | None, npt.NDArray[np.int32]],
    rows: _Rows,
    grows: npt.NDArray[np.uint8] | None,
    policy: GrowthPolicy,
) -> _TrialSetup:
    """Make the setup from plain data."""
    prices, errors, classes = by_case
    labels = np.array(context.classes, dtype=object)
    cases = Training(context, columns, None, classes, labels, None, case_prices=prices, case_errors=errors)
    return _TrialSetup(cases.encoded(rows.case, rows.classes), rows, grows, context, policy.core())


def _try(
    setup: SharedData[_TrialSetup],
    biases: Biases,
    split: npt.NDArray[np.int32],
    seed: int | None,
    n_threads: int,
    seconds: float,
) -> Floats:
    """Run one trial per individual and return their costs."""

    def pieces(n: int) -> list[_TrialBatch]:
        # Preparing a split takes time, so trials on the same split stay together.
        order = np.argsort(split, kind="stable") if n > 1 else np.arange(len(split))
        trials = (order[some] for some in split_range(len(order), n))
        return [_TrialBatch(own, biases.take(own), split[own], seed, seconds) for own in trials]

    # Under a time limit, no batch should wait for a worker: it would start late and take its full time.
    rounds = 1 if math.isfinite(seconds) else PIECES_PER_WORKER
    costs = np.empty(len(biases))
    for trials, found in run_pieces(_try_batch, setup, pieces, n_threads, rounds):
        costs[trials] = found
    return costs


def _try_batch(setup: _TrialSetup, batch: _TrialBatch, n_threads: int) -> tuple[npt.NDArray[np.intp], Floats]:
    """Run trials in the core."""
    biases, rows, bound = batch.biases, setup.rows, setup.context.bound_costs
    costs = bound.as_given if setup.grows is None else bound.learning  # random halves are the paper's
    grows, split, seed = setup.grows, batch.split, batch.seed
    if seed is not None and len(split) <= split.max(initial=-1):
        # The core makes the halves 0, 1, … up to the number of trials it gets; these trials have other numbers.
        halves = [_core.random_half(len(rows.classes), seed, number) for number in split.tolist()]
        grows, split, seed = np.stack(halves), np.arange(len(split), dtype=np.int32), None
    found = _core.try_biases(
        setup.table,
        rows.classes,
        rows.weights,
        costs.core_pricing,
        costs.core_errors,
        setup.policy,
        biases=biases.prices,
        omega=biases.omega,
        confidence=biases.confidence,
        max_depth=biases.max_depth,
        reject_below=biases.reject_below,
        split=split,
        grows=grows,
        seed=seed,
        growing_weights=rows.growing,
        judging_weights=rows.judging,
        n_threads=n_threads,
        seconds=batch.seconds,
    )
    return batch.trials, found

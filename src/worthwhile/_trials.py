"""Trials: what biases cost on cases that took no part in growing. The core runs many in one call.

The paper's trial is one tree, grown on a random half of the cases and judged by the other (`Halves`). A refined trial
is a cross-validation in which all individuals meet the same folds (`Folds`): luck with a split then favours nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile._base import Training
from worthwhile._biases import TRUSTS, Biases
from worthwhile._genesis import Floats
from worthwhile._money import Money
from worthwhile._teacher import features_of, out_of_bag_shares

__all__ = ["Folds", "Halves", "Lesson", "stratified_folds"]

Rows = npt.NDArray[np.intp]

N_FOLDS = 5
# Judged by labels alone, luck decides between individuals that differ in a few cases: on 12 splits of bupa, heart and
# hepatitis, apart from those of the reproductions, half a forest's judgement led to 46.4 instead of 47.0 % of the
# standard cost (error costs 50, 100, 1000 and 10,000).
# Where the forest hardly ever errs, labels are no matter of luck, and its doubts would only blur them.
MOST_JUDGED, JUDGED_PER_ERROR = 0.5, 3.0


class Halves:
    """Every trial on a random half of its own (Turney 1995, section 3.5)."""

    def __init__(self, training: Training, policy: Any, n_threads: int, rng: np.random.Generator) -> None:
        self._training, self._policy, self._n_threads, self._rng = training, policy, n_threads, rng

    def costs(self, biases: Biases, seconds: float) -> Floats:
        """Return the average cost of every individual; NaN where the time was too short."""
        n = len(self._training.classes)
        grows = np.zeros((len(biases), n), dtype=np.uint8)
        for row in grows:
            row[self._rng.permutation(n)[: (n + 1) // 2]] = 1
        cases = self._training.table, self._training.classes, self._training.weights
        weights = {"growing_weights": None, "judging_weights": None}
        splits = {"split": np.arange(len(biases), dtype=np.int32), "grows": grows, **weights}
        return _try(cases, self._training.money, self._policy, biases, splits, self._n_threads, seconds)


class Lesson:
    """The cases with labels of several kinds: their own, a forest's, and mixtures.

    A case that is partly of one class and partly of another is two rows of the core's table, each with its share of the
    weight.

    Parameters
    ----------
    training : Training
    taught : bool
        Whether a forest is asked at all.
    seed : int
        Of the forest.
    n_threads : int
    """

    def __init__(self, training: Training, taught: bool, seed: int, n_threads: int) -> None:
        n, k = len(training.classes), len(training.labels)
        self.training, self.taught = training, taught
        self._own = np.zeros((n, k))
        self._own[np.arange(n), training.classes] = 1.0 if training.weights is None else training.weights
        self._forest, self.forest_errs = self._own, 0.0
        self.case, self.classes, self.table = np.arange(n), training.classes, training.table
        if not taught:
            return
        shares = out_of_bag_shares(
            features_of(training.schema, training.columns), training.classes, k, training.weights, seed, n_threads
        )
        self._forest = shares * self._own.sum(axis=1, keepdims=True)
        right = shares.argmax(axis=1) == training.classes
        self.forest_errs = float(1 - np.average(right, weights=training.weights))
        self.case, label = np.nonzero(self._own + self._forest)
        self.classes = label.astype(np.int32)
        self.table = training.schema.encode(training.columns.take(self.case), complete=True)

    @property
    def trusts(self) -> int:
        """How many of the `TRUSTS` make a difference."""
        return len(TRUSTS) if self.taught else 1

    def weights(self, trust: float) -> Floats:
        """Return the weight of every row if the forest is trusted so far."""
        mixed: Floats = ((1 - trust) * self._own + trust * self._forest)[self.case, self.classes]
        return mixed

    def rows(self, trust: float) -> tuple[Any, npt.NDArray[np.int32], Floats | None]:
        """Return table, classes and weights to grow a tree from: the rows that count."""
        training = self.training
        if trust == 0:
            return training.table, training.classes, training.weights
        weights = self.weights(trust)
        counted = np.flatnonzero(weights)
        table = training.schema.encode(training.columns.take(self.case[counted]), complete=True)
        return table, self.classes[counted], weights[counted]


class Folds:
    """Cross-validations, the same for every individual."""

    def __init__(self, lesson: Lesson, policy: Any, repeats: int, n_threads: int, rng: np.random.Generator) -> None:
        self._lesson, self._policy, self._n_threads = lesson, policy, n_threads
        n_folds = max(2, min(N_FOLDS, len(lesson.training.classes)))  # none is empty, unless there is but one case
        folds = [stratified_folds(lesson.training.classes, n_folds, rng) for _ in range(repeats)]
        grows = np.array([fold != f for fold in folds for f in range(n_folds)], dtype=np.uint8)[:, lesson.case]
        self._n_splits = len(grows)
        self._grows = np.tile(grows, (lesson.trusts, 1))
        self._weights = self._judging = None
        if lesson.taught:
            self._weights = np.repeat([lesson.weights(trust) for trust in TRUSTS], self._n_splits, axis=0)
            self._judging = lesson.weights(min(MOST_JUDGED, JUDGED_PER_ERROR * lesson.forest_errs))

    def costs(self, biases: Biases, seconds: float) -> Floats:
        """Return the average cost of every individual; NaN where the time was too short."""
        each = np.tile(np.arange(self._n_splits, dtype=np.int32), len(biases))
        many = biases.take(np.repeat(np.arange(len(biases)), self._n_splits))
        lesson = self._lesson
        cases = lesson.table, lesson.classes, None if lesson.taught else lesson.training.weights
        splits = {
            "split": many.trust * np.int32(self._n_splits) + each,
            "grows": self._grows,
            "growing_weights": self._weights,
            "judging_weights": self._judging,
        }
        costs = _try(cases, lesson.training.money, self._policy, many, splits, self._n_threads, seconds)
        return costs.reshape(len(biases), self._n_splits).mean(axis=1)


def _try(
    cases: tuple[Any, Any, Any],
    money: Money,
    policy: Any,
    biases: Biases,
    splits: Mapping[str, Any],
    n_threads: int,
    seconds: float,
) -> Floats:
    """Let the core run one trial per individual."""
    return _core.try_biases(
        *cases,
        money.core_pricing,
        money.core_errors,
        policy,
        biases=biases.prices,
        omega=biases.omega,
        confidence=biases.confidence,
        max_depth=biases.max_depth,
        **splits,
        n_threads=n_threads,
        seconds=seconds,
    )


def stratified_folds(classes: npt.NDArray[np.int32], n_folds: int, rng: np.random.Generator) -> Rows:
    """Return the fold of every case; the cases of a class are dealt out in turn.

    Examples
    --------
    >>> folds = stratified_folds(np.array([0, 0, 0, 0, 1, 1], dtype=np.int32), 2, np.random.default_rng(0))
    >>> np.bincount(folds[:4]).tolist(), np.bincount(folds[4:]).tolist()
    ([2, 2], [1, 1])
    """
    order = rng.permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    folds = np.empty(len(classes), dtype=np.intp)
    folds[order] = np.arange(len(classes)) % n_folds
    return folds

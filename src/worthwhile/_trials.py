"""Trials: what biases cost on cases that took no part in growing. The core runs many in one call.

The paper's trial is one tree, grown on a random half of the cases and judged by the other (`Halves`). A refined trial
is a cross-validation in which all individuals meet the same folds (`Folds`): luck with a split then favours nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from worthwhile import _core
from worthwhile._base import Training
from worthwhile._biases import TRUSTS, Biases
from worthwhile._folds import stratified_folds
from worthwhile._genesis import Floats
from worthwhile._lesson import Lesson
from worthwhile._money import Money

__all__ = ["Folds", "Halves"]

N_FOLDS = 5
# Judged by labels alone, luck decides between individuals that differ in a few cases: on 12 splits of bupa, heart and
# hepatitis, apart from those of the reproductions, the others' judgement led to 46.4 instead of 47.0 % of the standard
# cost (error costs 50, 100, 1000 and 10,000).
# Where the others hardly ever err, labels are no matter of luck, and their doubts would only blur them.
MOST_JUDGED, JUDGED_PER_ERROR = 1.0, 3.0


class Halves:
    """Every trial on a random half of its own (Turney 1995, section 3.5)."""

    def __init__(self, training: Training, policy: Any, n_threads: int, rng: np.random.Generator) -> None:
        self._training, self._policy, self._n_threads, self._rng = training, policy, n_threads, rng

    def costs(self, biases: Biases, seconds: float) -> Floats:
        """Return the average cost of every individual; NaN where the time was too short."""
        cases = self._training.table, self._training.classes, self._training.weights
        splits = {
            "split": np.arange(len(biases), dtype=np.int32),
            "grows": None,
            "seed": int(self._rng.integers(2**63)),
            "growing_weights": None,
            "judging_weights": None,
        }
        return _try(cases, self._training.money, self._policy, biases, splits, self._n_threads, seconds)


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
            self._judging = lesson.weights(min(MOST_JUDGED, JUDGED_PER_ERROR * lesson.others_err))

    def costs(self, biases: Biases, seconds: float) -> Floats:
        """Return the average cost of every individual; NaN where the time was too short."""
        each = np.tile(np.arange(self._n_splits, dtype=np.int32), len(biases))
        many = biases.take(np.repeat(np.arange(len(biases)), self._n_splits))
        lesson = self._lesson
        cases = lesson.table, lesson.classes, None if lesson.taught else lesson.training.weights
        splits = {
            "split": many.trust * np.int32(self._n_splits) + each,
            "grows": self._grows,
            "seed": None,
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

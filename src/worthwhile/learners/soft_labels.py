"""What a learner learns from: the cases with their own labels, with softer ones, or with mixtures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.learners.base import Training
from worthwhile.learners.ensemble_labels import ensemble_shares, features_of
from worthwhile.learners.icet.biases import SOFT_LABEL_WEIGHTS
from worthwhile.learners.icet.genesis import Floats
from worthwhile.parallel.workers import here

__all__ = ["MAX_SOFT_CASES", "SoftLabels", "can_be_soft", "has_values"]

# Others are asked about no more cases than this: with so many, labels are no longer a matter of luck.
MAX_SOFT_CASES = 5_000


def can_be_soft(training: Training) -> bool:
    """Say whether others have anything to learn from, and labels are few enough to be worth smoothing."""
    return len(training.classes) <= MAX_SOFT_CASES and has_values(training)


def has_values(training: Training) -> bool:
    """Say whether there is anything to learn from at all."""
    return any(values is None or values for values in training.schema.values)


class SoftLabels:
    """The cases with labels of several kinds: their own, those of others, and mixtures.

    A case that is partly of one class and partly of another is two rows of the core's table, each with its share of the
    weight.

    Parameters
    ----------
    training : Training
    soft : bool
        Whether others are asked at all.
    seed : int
        For the forest and the folds of those.
    n_threads : int
    """

    def __init__(self, training: Training, soft: bool, seed: int, n_threads: int) -> None:
        n, k = len(training.classes), len(training.labels)
        self.training, self.soft = training, soft
        self._own = np.zeros((n, k))
        self._own[np.arange(n), training.classes] = 1.0 if training.weights is None else training.weights
        self._others, self.ensemble_error = self._own, 0.0
        self.case, self.classes, self.table = np.arange(n), training.classes, training.table
        if not soft:
            return
        features = features_of(training.schema, training.columns)
        with here():
            shares = ensemble_shares(features, training.classes, k, training.weights, seed, n_threads)
        self._others = shares * self._own.sum(axis=1, keepdims=True)
        right = shares.argmax(axis=1) == training.classes
        self.ensemble_error = float(1 - np.average(right, weights=training.weights))
        self.case, label = np.nonzero(self._own + self._others)
        self.classes = label.astype(np.int32)
        self.table = training.schema.encode(training.columns.take(self.case), complete=True)

    @property
    def trusts(self) -> int:
        """How many of the `SOFT_LABEL_WEIGHTS` make a difference."""
        return len(SOFT_LABEL_WEIGHTS) if self.soft else 1

    def weights(self, soft_label_weight: float) -> Floats:
        """Return the weight of every row if the others are trusted so far."""
        mixed: Floats = ((1 - soft_label_weight) * self._own + soft_label_weight * self._others)[
            self.case, self.classes
        ]
        return mixed

    def rows(
        self, soft_label_weight: float, kept: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Any, npt.NDArray[np.int32], Floats | None]:
        """Return table, classes and weights to grow a tree from: the rows that count, of all cases or of some."""
        training = self.training
        if soft_label_weight == 0:
            if kept is None:
                return training.table, training.classes, training.weights
            some = training.take(np.flatnonzero(kept))
            return some.table, some.classes, some.weights
        weights = self.weights(soft_label_weight)
        counted = np.flatnonzero(weights if kept is None else weights * kept[self.case])
        table = training.schema.encode(training.columns.take(self.case[counted]), complete=True)
        return table, self.classes[counted], weights[counted]

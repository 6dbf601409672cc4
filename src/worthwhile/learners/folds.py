"""Dividing cases into folds, stratified by class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["stratified_folds", "stratified_share"]


def stratified_folds(classes: npt.NDArray[np.int32], n_folds: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the fold of every case; each class is spread evenly over the folds.

    Examples
    --------
    >>> folds = stratified_folds(np.array([0, 0, 0, 0, 1, 1], dtype=np.int32), 2, np.random.default_rng(0))
    >>> np.bincount(folds[:4]).tolist(), np.bincount(folds[4:]).tolist()
    ([2, 2], [1, 1])
    """
    order = _by_class(classes, rng)
    folds = np.empty(len(classes), dtype=np.intp)
    folds[order] = np.arange(len(classes)) % n_folds
    return folds


def stratified_share(classes: npt.NDArray[np.int32], share: float, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return a random share of the cases, about the same share of every class.

    Examples
    --------
    >>> some = stratified_share(np.array([0] * 10 + [1] * 5, dtype=np.int32), 0.4, np.random.default_rng(0))
    >>> int((some < 10).sum()), int((some >= 10).sum())
    (4, 2)
    """
    marks = np.floor(np.arange(len(classes) + 1) * share + 1e-9)
    return np.sort(_by_class(classes, rng)[np.diff(marks) > 0])


def _by_class(classes: npt.NDArray[np.int32], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the cases sorted by class, in random order within a class."""
    order = rng.permutation(len(classes))
    return order[np.argsort(classes[order], kind="stable")]

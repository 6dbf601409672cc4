"""Dealing cases out to folds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["stratified_folds"]


def stratified_folds(classes: npt.NDArray[np.int32], n_folds: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
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

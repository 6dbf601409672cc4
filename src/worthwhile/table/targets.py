"""Checks the classes and weights of the cases."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from worthwhile.costs.error_costs import is_missing
from worthwhile.table.columns import aligned

__all__ = ["MAX_WEIGHT", "at_least_1", "read_classes", "read_weights"]

MAX_WEIGHT = 1e150  # of all cases together: weights are multiplied by costs of up to 1e100, and saved models hold them


def read_classes(y: Any, n_cases: int, estimator: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Return the sorted classes and the class index of every case."""
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None.")
    if not (isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iub"):
        y = _checked_classes(column_or_1d(_plain_classes(y), warn=True))
    if len(y) != n_cases:
        raise ValueError(f"X has {n_cases} cases, but y has {len(y)}: inconsistent numbers of samples")
    if y.dtype.kind in "iu" and int(y.max()) - int(y.min()) < len(y):
        # Counting is linear, sorting is not: a twelfth of the time for 1,000,000 cases.
        low = y.min()
        offsets = y - low
        present = np.bincount(offsets) > 0
        position = np.cumsum(present, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(present).astype(y.dtype) + low, position[offsets]
    classes, index = np.unique(y, return_inverse=True)
    return classes, index.astype(np.int32)


def _plain_classes(y: Any) -> Any:
    """Unpack lists and pandas types: numpy would make strings of NaN, and floats of nullable integers and booleans."""
    if isinstance(y, (list, tuple)) and not any(isinstance(label, (list, tuple, np.ndarray)) for label in y):
        labels = list(y)
    elif getattr(y, "ndim", 0) == 1 and hasattr(y, "tolist") and not isinstance(getattr(y, "dtype", None), np.dtype):
        labels = y.tolist()
    else:
        return y
    return np.array(labels, dtype=object if any(map(is_missing, labels)) else None)


def _checked_classes(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"Input y contains NaN or infinity in row {row}; every case needs a class.")
    if y.dtype == object:
        for row, label in enumerate(y):
            if is_missing(label):
                raise ValueError(f"Input y contains NaN or None in row {row}; every case needs a class.")
            if isinstance(label, str) != isinstance(y[0], str):
                raise ValueError(f"y mixes strings and numbers: {y[0]!r} in row 0, {label!r} in row {row}")
        y = np.array(y.tolist())  # numbers that came as objects
    check_classification_targets(y)
    return y


def read_weights(sample_weight: Any, n_cases: int) -> npt.NDArray[np.float64] | None:
    """Return the weights, or None if all of them are 1."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        weights = np.full(n_cases, float(sample_weight))
    else:
        try:
            weights = aligned(np.asarray(sample_weight, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample_weight must be one number per case: {error}") from None
    if weights.ndim != 1 or len(weights) != n_cases:
        shape = f"sample_weight has the shape {weights.shape}, expected ({n_cases},)"
        raise ValueError(f"{shape}: Sample weights must be 1D array or scalar")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(f"sample_weight of row {bad[0]} is {weights[bad[0]]}; weights must be finite and not negative")
    with np.errstate(over="ignore"):
        if not weights.sum() <= MAX_WEIGHT:
            total = f"{weights.sum():.3g}, but may be at most {MAX_WEIGHT:g}"
            raise ValueError(f"sample_weight adds up to {total}; divide all weights by a large number")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number: all of them are zero")
    return None if (weights == 1).all() else weights


def at_least_1(weights: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
    """Return weights whose mean (of those above 0) is at least 1, by a common factor; None if all of them are 1.

    Learners count cases by their weight: a split needs some cases in its branches, and pruning needs some to be sure.
    Weights that are smaller than those of real cases, such as 1/n in boosting, say how important cases are relative to
    each other, not how many there are. Larger ones stay: a weight of 2 is a case that occurs twice.

    Examples
    --------
    >>> at_least_1(np.array([0.1, 0.3])), at_least_1(np.array([1.0, 3.0])), at_least_1(np.array([0.25, 0.25, 0.0]))
    (array([0.5, 1.5]), array([1., 3.]), array([1., 1., 0.]))
    """
    if weights is None:
        return None
    largest = weights.max()
    if largest == weights.min() and largest < 1:
        return None
    relative = weights / largest  # the sum of very small weights has no precision
    mean = float(relative.sum()) / np.count_nonzero(weights)
    return relative / mean if largest * mean < 1 else weights

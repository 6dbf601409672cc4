"""What each answer costs each case, where that depends on the case (docs/design/error-costs.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import MAX_AMOUNT, MIN_AMOUNT, label_key, listing, plain_label, show, suggest
from worthwhile.table.columns import Factor, aligned, as_frame, frame_names, is_frame, read_columns, select_columns

__all__ = ["checked_case_errors", "mean_errors", "with_mean_errors"]

Floats = npt.NDArray[np.float64]


def checked_case_errors(case_errors: Any, answers: Sequence[Any], n_cases: int) -> Floats | None:
    """Return checked error costs by case and answer; None if there are none.

    Parameters
    ----------
    case_errors : array or frame of shape (cases, answers), optional
        The columns of a frame are found by the name of the answer; those of an array are in the order of `answers`.
    answers : sequence
        The classes, then reject answers.
    n_cases : int

    Examples
    --------
    >>> checked_case_errors([[0, 5], [2, 0]], ["good", "bad"], 2).tolist()
    [[0.0, 5.0], [2.0, 0.0]]
    """
    if case_errors is None:
        return None
    case_errors = as_frame(case_errors)
    if is_frame(case_errors):
        case_errors = _by_answer(case_errors, answers)
    try:
        errors: Floats = aligned(np.ascontiguousarray(case_errors, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError("case_errors must be a table of numbers: one cost per case and answer") from None
    if errors.shape != (n_cases, len(answers)):
        expected = f"expected {(n_cases, len(answers))}: one cost per case and answer ({listing(answers)})"
        raise ValueError(f"case_errors has the shape {errors.shape}, {expected}")
    size = np.abs(errors)
    for row, answer in np.argwhere(~((size == 0) | ((size >= MIN_AMOUNT) & (size <= MAX_AMOUNT))))[:1]:
        culprit = f"row {row}, answer {show(answers[answer])}: {errors[row, answer]}"
        raise ValueError(
            f"case_errors must be finite, 0 or of a size from {MIN_AMOUNT:g} to {MAX_AMOUNT:g} ({culprit})"
        )
    return errors


def _by_answer(case_errors: Any, answers: Sequence[Any]) -> Any:
    """Return the costs of a frame in the order of the answers."""
    names = frame_names(case_errors) or []
    keys = [label_key(plain_label(name)) for name in names]
    valid = [label_key(plain_label(answer)) for answer in answers]
    if unknown := [key for key in keys if key not in valid]:
        raise ValueError(
            f"case_errors has the column {unknown[0]!r}, which is not an answer; {suggest(unknown[0], valid)}"
        )
    if missing := [key for key in valid if key not in keys]:
        plural = "s" if len(missing) > 1 else ""
        raise ValueError(f"case_errors lacks the column{plural} {listing(missing)}; it needs a cost for every answer")
    if len(set(keys)) < len(keys):
        raise ValueError(f"case_errors has two columns for the same answer: {listing(names)}")
    found = select_columns(case_errors, [names[keys.index(key)] for key in valid])
    if not all(isinstance(name, str) for name in names):
        return np.asarray(found)
    read = read_columns(found)
    for name, column in zip(read.names, read.arrays, strict=True):
        if isinstance(column, Factor):
            raise ValueError(f"case_errors must be numbers, but the column {name!r} is not")
    return np.column_stack([column for column in read.arrays if not isinstance(column, Factor)])


def mean_errors(errors: Floats, classes: npt.NDArray[Any], listed: Floats, weights: Floats | None) -> Floats:
    """Return what each answer costs the cases of each class on average: (classes, answers).

    A class without a case costs as `listed`.

    Examples
    --------
    >>> mean_errors(np.array([[0.0, 5.0], [0.0, 7.0], [2.0, 0.0]]), np.array([0, 0, 1]), np.eye(2), None).tolist()
    [[0.0, 6.0], [2.0, 0.0]]
    """
    found = listed.copy()
    for label in np.unique(classes).tolist():
        own = classes == label
        of = None if weights is None else weights[own]
        if of is not None and not of.any():
            continue
        mean = np.average(errors[own], axis=0, weights=of)
        # The mean of equal numbers may differ from them by rounding.
        found[label] = np.where(np.ptp(errors[own], axis=0) == 0, errors[own][0], mean)
    return found


def with_mean_errors(costs: Costs, classes: Sequence[Any], answers: Sequence[Any], errors: Floats) -> Costs:
    """Return costs in which the errors of these classes cost this much; other classes of a price list stay."""
    listed = costs.errors
    rows = {truth: dict(row) for truth, row in listed.items()} if isinstance(listed, Mapping) else {}
    own = {label_key(plain_label(label)) for label in classes}
    rows = {truth: row for truth, row in rows.items() if label_key(plain_label(truth)) not in own}
    for label, row in zip(classes, errors.tolist(), strict=True):
        # A mean of amounts far apart may be smaller than any amount may be.
        rows[label] = {a: c if abs(c) >= MIN_AMOUNT else 0.0 for a, c in zip(answers, row, strict=True)}
    return costs.with_errors(rows)

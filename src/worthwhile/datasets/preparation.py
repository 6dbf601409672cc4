"""The five medical problems of Turney (1995), made from the published tables.

`TURNEY` lists for each problem its data set, how it is prepared and why (Appendix A of the paper). The steps are
functions from columns to columns that do not modify their input. A numeric column is an array (NaN: missing), a nominal
one a list of strings (None: missing).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["TURNEY", "Column", "Preparation", "complete_rows", "fill_from_nearest"]

Column = npt.NDArray[np.float64] | list[str | None]
Labels = npt.NDArray[np.str_]
ColumnsAndLabels = tuple[dict[str, Column], Labels]


def complete_rows(columns: Mapping[str, Column], y: Labels) -> ColumnsAndLabels:
    """Leave out the cases with a missing value.

    Examples
    --------
    >>> complete_rows({"a": np.array([1.0, np.nan, 3.0]), "b": ["x", "y", None]}, np.array(["no", "no", "yes"]))
    ({'a': array([1.]), 'b': ['x']}, array(['no'], dtype='<U3'))
    """
    kept = np.flatnonzero(~_missing(columns).any(axis=1))
    return {name: _take(column, kept) for name, column in columns.items()}, y[kept]


def fill_from_nearest(columns: Mapping[str, Column], y: Labels) -> ColumnsAndLabels:
    """Fill each missing value with the value of the nearest case that has one.

    Turney (1995), Appendix A.3: numeric columns are scaled to the range 0 to 1, and the distance is the sum of the
    absolute differences. A difference is 1 if one or both values are missing, and 0 or 1 for nominal values. The class
    is not used. The paper does not say what happens if the nearest case lacks the value too; since no value was missing
    afterwards, only cases that have the value are considered here. Filled values are not used to fill others; ties go
    to the first case.

    Raises
    ------
    ValueError
        If a column has no values.

    Examples
    --------
    >>> filled, _ = fill_from_nearest({"a": np.array([0.0, 4.0, 10.0]), "b": ["x", None, "y"]}, np.array(["1"] * 3))
    >>> filled["b"]
    ['x', 'x', 'y']
    """
    missing = _missing(columns)
    for name, absent in zip(columns, missing.T, strict=True):
        if absent.all():
            raise ValueError(f"column {name!r} has no values, so its missing values cannot be filled")
    filled: dict[str, Column] = {name: column.copy() for name, column in columns.items()}
    scaled = np.column_stack([_scaled(column) for column in columns.values()])
    numeric = np.array([isinstance(column, np.ndarray) for column in columns.values()])
    for row in np.flatnonzero(missing.any(axis=1)):
        difference = np.where(numeric, np.abs(scaled - scaled[row]), scaled != scaled[row])
        difference[missing | missing[row]] = 1.0
        distance = difference.sum(axis=1)
        distance[row] = math.inf
        for (name, column), absent in zip(columns.items(), missing.T, strict=True):
            if absent[row]:
                nearest = int(np.where(absent, math.inf, distance).argmin())
                filled[name][row] = column[nearest]
    return filled, y


def unchanged(columns: Mapping[str, Column], y: Labels) -> ColumnsAndLabels:
    """Return the columns and classes as they are."""
    return dict(columns), y


def _missing(columns: Mapping[str, Column]) -> npt.NDArray[np.bool_]:
    """Return which values are missing: cases × columns."""
    return np.column_stack(
        [np.isnan(c) if isinstance(c, np.ndarray) else np.array([v is None for v in c]) for c in columns.values()]
    )


def _scaled(column: Column) -> npt.NDArray[np.float64]:
    """Return a numeric column scaled to 0 to 1, a nominal one as codes."""
    if isinstance(column, list):
        code = {value: float(i) for i, value in enumerate(dict.fromkeys(column))}
        return np.array([code[value] for value in column])
    low, high = np.nanmin(column), np.nanmax(column)
    return (column - low) / (high - low) if high > low else column - low


def _take(column: Column, rows: npt.NDArray[np.intp]) -> Column:
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows]


@dataclass(frozen=True)
class Preparation:
    """How a problem is made from a data set.

    Attributes
    ----------
    source : str
        Name of the data set.
    step : callable
        From columns and classes to columns and classes.
    note : str
        What was done, and why.
    """

    source: str
    step: Callable[[Mapping[str, Column], Labels], ColumnsAndLabels]
    note: str


_PAPER = "Prepared as in Turney (1995), Appendix A"
TURNEY: dict[str, Preparation] = {
    "turney-bupa": Preparation(
        "bupa",
        unchanged,
        f"{_PAPER}.1: the class is made from the number of drinks, no value is missing, nothing else was changed.",
    ),
    "turney-heart": Preparation(
        "heart_cleve_mod",
        complete_rows,
        f"{_PAPER}.2: the paper deletes the cases with a missing value, which leaves 296 of 303.",
    ),
    "turney-hepatitis": Preparation(
        "hepatitis",
        fill_from_nearest,
        f"{_PAPER}.3: many values are missing; each was filled from the nearest case that has one, in the whole table,"
        " before any split into training and test cases (so test cases are not quite unseen, as in the paper).",
    ),
    "turney-pima": Preparation(
        "pima",
        unchanged,
        f"{_PAPER}.4: nothing was changed. Zeros that probably mean a missing value are kept, as in the paper.",
    ),
    "turney-thyroid": Preparation(
        "thyroid_ann_train",
        unchanged,
        f"{_PAPER}.5: without FTI, no value is missing, nothing else was changed.",
    ),
}
# The paper leaves FTI out because its programs cannot price a test that is computed from others (section 5.2).
OTHERS: dict[str, Preparation] = {
    "thyroid-fti": Preparation(
        "thyroid_ann_train",
        unchanged,
        "As turney-thyroid, with FTI: it is computed from TT4 and T4U, so it costs nothing but requires both.",
    ),
}

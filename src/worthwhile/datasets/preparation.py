"""The five medical problems of Turney (1995), made from the tables as they are published.

`TURNEY` says for each problem which data set it comes from, what is done to it and why (Appendix A of the paper). The
steps are plain functions from columns to columns; they never change what they are given. A numeric column is an array
(NaN: missing), a nominal one a list of texts (None: missing).
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
    """Leave out the cases that lack a value.

    Examples
    --------
    >>> complete_rows({"a": np.array([1.0, np.nan, 3.0]), "b": ["x", "y", None]}, np.array(["no", "no", "yes"]))
    ({'a': array([1.]), 'b': ['x']}, array(['no'], dtype='<U3'))
    """
    kept = np.flatnonzero(~_missing(columns).any(axis=1))
    return {name: _take(column, kept) for name, column in columns.items()}, y[kept]


def fill_from_nearest(columns: Mapping[str, Column], y: Labels) -> ColumnsAndLabels:
    """Fill each missing value with that of the nearest other case that has one.

    Turney (1995), Appendix A.3: numbers are scaled so that a column runs from 0 to 1, the distance is the sum of the
    absolute differences, and a difference is 1 where one or both of the values are missing. Two nominal values differ
    by 0 or 1. The class plays no part. The paper does not say what happens where the nearest case lacks the value too;
    since no value was missing afterwards, the value to be filled is what is looked up, and only cases that have it
    answer. Values filled in earlier do not count as known; of equally near cases the first one answers.

    Raises
    ------
    ValueError
        If a column has no value at all.

    Examples
    --------
    >>> filled, _ = fill_from_nearest({"a": np.array([0.0, 4.0, 10.0]), "b": ["x", None, "y"]}, np.array(["1"] * 3))
    >>> filled["b"]
    ['x', 'x', 'y']
    """
    missing = _missing(columns)
    for name, absent in zip(columns, missing.T, strict=True):
        if absent.all():
            raise ValueError(f"column {name!r} has no value at all: there is nothing to fill its cases with")
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
    """Change nothing."""
    return dict(columns), y


def _missing(columns: Mapping[str, Column]) -> npt.NDArray[np.bool_]:
    """Return where a value is missing: cases × columns."""
    return np.column_stack(
        [np.isnan(c) if isinstance(c, np.ndarray) else np.array([v is None for v in c]) for c in columns.values()]
    )


def _scaled(column: Column) -> npt.NDArray[np.float64]:
    """Return a numeric column from 0 to 1, a nominal one as codes."""
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
        f"{_PAPER}.2: the paper deletes the cases that lack a value, which leaves 296 of 303.",
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
        f"{_PAPER}.4: nothing was changed. Zeros that probably mean a missing value are kept: to the paper there are"
        " none missing.",
    ),
    "turney-thyroid": Preparation(
        "thyroid_ann_train",
        unchanged,
        f"{_PAPER}.5: without FTI, no value is missing, nothing else was changed.",
    ),
}

"""Reads user input (arrays, pandas or polars frames, nested lists) into columns.

Nominal values are compared as strings (`value_text`): 3, 3.0 and "3" are the same value, and a tree loaded from JSON
answers like the original. A missing value is NaN, None, pandas.NA or a polars null.
"""

from __future__ import annotations

import contextlib
import functools
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from worthwhile.costs.error_costs import is_missing

__all__ = ["Column", "Columns", "Factor", "aligned", "is_frame", "read_columns", "value_codes", "value_text"]


def value_text(value: Any) -> str:
    """Return a nominal value as the string it is compared by.

    Examples
    --------
    >>> value_text(3.0), value_text("3"), value_text(True), value_text(0.5)
    ('3', '3', 'True', '0.5')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def value_codes(values: Sequence[str]) -> dict[str, int]:
    """Return the code of each value of a nominal column; in a boolean column "0" and "1" have codes, too.

    Examples
    --------
    >>> value_codes(("red", "blue")), value_codes(("False", "True"))
    ({'red': 0, 'blue': 1}, {'False': 0, 'True': 1, '0': 0, '1': 1})
    """
    codes = {value: code for code, value in enumerate(values)}
    if codes and codes.keys() <= {"False", "True"}:  # some data formats turn booleans into numbers
        codes |= {digit: codes[value] for value, digit in (("False", "0"), ("True", "1")) if value in codes}
    return codes


@dataclass(frozen=True, eq=False)
class Factor:
    """A column of strings: each distinct string once, and the index of it for every case (-1: missing)."""

    categories: list[str]
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, values: Iterable[Any], codes: npt.NDArray[Any] | None = None) -> Factor:
        """Make a factor from any values: one per case, or one per code (-1: missing)."""
        position: dict[str, int] = {}

        def code_of(text: str) -> int:
            return position.setdefault(text, len(position))

        # Nearly all values are strings: treating them first saves two thirds of the time.
        plain = values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind in "OU" else values
        own = [code_of(v) if type(v) is str else -1 if is_missing(v) else code_of(value_text(v)) for v in plain]
        found = np.array([*own, -1], dtype=np.int32)  # the last one is for code -1
        return cls(list(position), found[:-1] if codes is None else found[codes])

    def __getitem__(self, rows: npt.NDArray[np.intp]) -> Factor:
        return Factor(self.categories, self.codes[rows])

    def copy(self) -> Factor:
        """Return a factor that does not share memory with this one."""
        return Factor(list(self.categories), self.codes.copy())

    def translated(self, codes: Mapping[str, int]) -> npt.NDArray[np.int32]:
        """Return the code of every case in another coding of the strings; -1 where it has none."""
        return np.array([*(codes.get(text, -1) for text in self.categories), -1], dtype=np.int32)[self.codes]

    def tolist(self) -> list[str | None]:
        """Return the string of every case."""
        return [None if code < 0 else self.categories[code] for code in self.codes]


Column = npt.NDArray[np.float64] | Factor


@dataclass(frozen=True, eq=False)
class Columns:
    """User input as columns: an array of numbers or a factor for each."""

    names: tuple[str, ...]
    n_cases: int
    arrays: Sequence[Column]
    matrix: npt.NDArray[np.float64] | None = None  # the same numbers as one array, if the input was one

    @functools.cached_property
    def all_finite(self) -> bool:
        """Whether all columns are numeric without missing or infinite values."""
        if self.matrix is not None and self.matrix.size < 100_000:
            return bool(np.isfinite(self.matrix).all())
        with np.errstate(all="ignore"):  # a sum needs no memory; if it overflows, columns are checked one by one later
            if self.matrix is not None:
                return bool(np.isfinite(self.matrix.sum()))
            return all(not isinstance(a, Factor) and np.isfinite(a.sum()) for a in self.arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.matrix is not None:  # the columns are views of it and would be pickled a second time
            return _from_matrix, (self.matrix, self.names)
        return Columns, (self.names, self.n_cases, self.arrays)

    def copy(self) -> Columns:
        """Return columns that do not share memory with the input."""
        if self.matrix is not None:
            return _from_matrix(self.matrix.copy(), self.names)
        return Columns(self.names, self.n_cases, [a.copy() for a in self.arrays])

    def take(self, rows: npt.NDArray[np.intp]) -> Columns:
        """Return the given cases only."""
        if self.matrix is not None:
            return _from_matrix(self.matrix[rows], self.names)
        return Columns(self.names, len(rows), [a[rows] for a in self.arrays])


def aligned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array, or a copy if its numbers are not at addresses that the core can read in place.

    Examples
    --------
    >>> packed = np.frombuffer(bytes(17), dtype=np.float64, offset=1)
    >>> packed.flags.aligned, aligned(packed).flags.aligned
    (False, True)
    """
    return array if array.flags.aligned else array.copy()


def _from_matrix(matrix: npt.NDArray[np.float64], names: tuple[str, ...]) -> Columns:
    return Columns(names, matrix.shape[0], list(matrix.T), matrix)


def read_columns(X: Any, names: Sequence[str] | None = None) -> Columns:
    """Read X into columns.

    Parameters
    ----------
    X : array, pandas or polars frame, or nested sequence of shape (cases, columns)
    names : sequence of str, optional
        Column names for input without names; default ``x0``, ``x1``, …

    Raises
    ------
    ValueError, TypeError
        If X is not a table (scikit-learn's messages), or a column is neither numeric nor nominal (naming it).

    Examples
    --------
    >>> read_columns([[1, 2], [3, 4]]).names
    ('x0', 'x1')
    """
    if is_frame(X):
        return _read_frame(X, names)
    if type(X) is not np.ndarray:
        X = _to_array(X)
    if X.dtype.kind in "mM":
        raise ValueError(
            f"X has the dtype {X.dtype}, which is neither numeric nor nominal; convert it to numbers or strings"
        )
    if X.ndim == 2 and X.dtype == np.float64 and X.shape[0] and X.shape[1]:
        matrix = aligned(X)
    elif X.ndim == 2 and X.dtype.kind in "OUSTb" and X.shape[0] and X.shape[1]:
        found = _names_for(X.shape[1], names)
        return Columns(found, X.shape[0], [_read_objects(X[:, j]) for j in range(X.shape[1])])
    else:
        matrix = check_array(X, dtype=np.float64, ensure_all_finite=False)
    return _from_matrix(matrix, _names_for(matrix.shape[1], names))


def is_frame(X: Any, named: bool = False) -> bool:
    """Return whether X is a pandas or polars frame; with `named`, one whose column names are strings.

    Examples
    --------
    >>> is_frame([[1, 2]])
    False
    """
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a polars LazyFrame, which has no rows yet; call collect() first")
    frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    return frame and (not named or all(isinstance(name, str) for name in X.columns))


def _to_array(X: Any) -> npt.NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping):
        raise TypeError("X is a list of mappings; convert it to a frame first, e.g. pandas.DataFrame(X)")
    # A nested list may mix strings and numbers; numpy would turn all of them into strings.
    array = check_array(X, dtype=None, ensure_all_finite=False)
    if array.dtype.kind in "US" and isinstance(X, (list, tuple)):
        array = np.array([list(row) for row in X], dtype=object)
    return array


def _names_for(n: int, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j}" for j in range(n))
    if len(names) != n:
        raise ValueError(f"columns has {len(names)} names, but X has {n} columns")
    return _unique_names(names)


def _unique_names(names: Iterable[Any]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in names:
        if str(name) in found:
            raise ValueError(f"X has two columns named {str(name)!r}; every column needs a unique name")
        found[str(name)] = None
    return tuple(found)


def _read_frame(X: Any, names: Sequence[str] | None) -> Columns:
    if X.shape[0] == 0 or X.shape[1] == 0:
        check_array(np.empty(X.shape))  # raises scikit-learn's message
    own = list(X.columns)
    nameless = all(not isinstance(name, str) for name in own)
    found = _names_for(len(own), names) if nameless else _unique_names(own)
    if names is not None and found != tuple(names):
        raise ValueError(f"columns={list(names)} differs from the column names of X: {', '.join(found)}")
    is_polars = type(X).__module__.split(".")[0] == "polars"
    read = _read_polars if is_polars else _read_pandas
    series = (X[name] for name in own) if is_polars else (X.iloc[:, j] for j in range(len(own)))
    return Columns(found, X.shape[0], [read(s, name) for s, name in zip(series, found, strict=True)])


def _unsupported_dtype(name: str, dtype: Any) -> ValueError:
    kind = f"has the dtype {dtype}, which is neither numeric nor nominal"
    return ValueError(f"column {name!r} {kind}; convert it to numbers or strings")


def _read_pandas(series: Any, name: str) -> Column:
    dtype = series.dtype
    if str(dtype) == "category":
        return Factor.of(series.cat.categories, series.cat.codes.to_numpy())
    kind = getattr(dtype, "kind", "O")
    if kind in "iuf":
        return aligned(np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan)))
    if kind in "ObUS" or str(dtype).startswith(("string", "str", "bool")):
        return Factor.of(series.astype(object).to_numpy())
    raise _unsupported_dtype(name, dtype)


def _read_polars(series: Any, name: str) -> Column:
    dtype = series.dtype
    if dtype.is_numeric():
        return aligned(np.asarray(series.cast(float).to_numpy(), dtype=np.float64))
    if str(dtype).startswith(("String", "Categorical", "Enum", "Boolean", "Object", "Null")):
        return Factor.of(series.to_list())
    raise _unsupported_dtype(name, dtype)


def _read_objects(values: npt.NDArray[Any]) -> Column:
    """Read a column of an object array: numeric if every value is a number, otherwise nominal."""
    if values.dtype == object and set(map(type, values.tolist())) <= {float, int}:
        with contextlib.suppress(OverflowError):
            return values.astype(np.float64)  # a tenth of the time of checking each value
    if values.dtype == object and all(
        (isinstance(v, numbers.Real) and not isinstance(v, bool)) or is_missing(v) for v in values
    ):
        return np.array([np.nan if is_missing(v) else _to_float(v) for v in values])
    return Factor.of(values)


def _to_float(value: Any) -> float:
    """Return a number as a float; too large ones become infinity, as `float` does for strings."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

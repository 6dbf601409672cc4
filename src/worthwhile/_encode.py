"""The one place where user input becomes a table of the core.

`read_columns` takes what users have (arrays, pandas or polars frames, lists) apart into plain columns; a `Schema` learned from
the training data says which columns are numeric, which nominal, and what values these have; `Schema.encode` makes the core's table.

Nominal values are compared as text (`value_text`), so that 3, 3.0 and "3" are the same value whatever carried them, and a tree
written to JSON answers like the one in memory. A missing value is NaN, None, pandas.NA or a polars null.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from worthwhile import _core

__all__ = ["Columns", "Schema", "read_classes", "read_columns", "read_weights", "value_text"]


def value_text(value: Any) -> str:
    """Return the text by which a nominal value is known.

    Examples
    --------
    >>> value_text(3.0), value_text("3"), value_text(True), value_text(0.5)
    ('3', '3', 'True', '0.5')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def is_missing(value: Any) -> bool:
    """Say whether a single value stands for "not there": None, NaN or pandas.NA.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")


@dataclass(frozen=True)
class Columns:
    """User input, taken apart: one array per column, float64 for numbers, object for everything else."""

    names: tuple[str, ...]
    n_cases: int
    arrays: list[npt.NDArray[Any]]
    matrix: npt.NDArray[np.float64] | None = None  # the same numbers in one piece, where the input was one

    def take(self, rows: npt.NDArray[np.intp]) -> Columns:
        """Return the given cases only."""
        if self.matrix is not None:
            return _from_matrix(self.matrix[rows], self.names)
        return Columns(self.names, len(rows), [a[rows] for a in self.arrays])


def _from_matrix(matrix: npt.NDArray[np.float64], names: tuple[str, ...]) -> Columns:
    return Columns(names, matrix.shape[0], list(matrix.T), matrix)


def read_columns(X: Any, names: Sequence[str] | None = None) -> Columns:
    """Take X apart into columns.

    Parameters
    ----------
    X : array, pandas or polars frame, or nested sequence of shape (cases, columns)
    names : sequence of str, optional
        Names for the columns of an input that has none; default ``x0``, ``x1``, …

    Raises
    ------
    ValueError, TypeError
        In scikit-learn's words for what is not a table at all; naming the column for what cannot be a column.

    Examples
    --------
    >>> read_columns([[1, 2], [3, 4]]).names
    ('x0', 'x1')
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return _read_frame(X, names)
    if not isinstance(X, np.ndarray):
        X = _to_array(X)
    if X.ndim == 2 and X.dtype == np.float64 and X.shape[0] and X.shape[1]:
        matrix = X
    elif X.ndim == 2 and X.dtype.kind in "OUSTb" and X.shape[0] and X.shape[1]:
        found = _names_for(X.shape[1], names)
        arrays = [_read_objects(X[:, j], numbers_allowed=X.dtype.kind == "O") for j in range(X.shape[1])]
        return Columns(found, X.shape[0], arrays)
    else:
        matrix = check_array(X, dtype=np.float64, ensure_all_finite=False)
    return _from_matrix(matrix, _names_for(matrix.shape[1], names))


def _to_array(X: Any) -> npt.NDArray[Any]:
    # A nested list may mix texts and numbers; numpy would turn all of it into text.
    array = check_array(X, dtype=None, ensure_all_finite=False)
    if array.dtype.kind in "US" and isinstance(X, (list, tuple)):
        array = np.array([list(row) for row in X], dtype=object)
    return array


def _names_for(n: int, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j}" for j in range(n))
    if len(names) != n:
        raise ValueError(f"columns names {len(names)} columns, but X has {n}")
    return _unique_names(names)


def _unique_names(names: Iterable[Any]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in names:
        if str(name) in found:
            raise ValueError(f"X has two columns named {str(name)!r}; every column needs a name of its own")
        found[str(name)] = None
    return tuple(found)


def _read_frame(X: Any, names: Sequence[str] | None) -> Columns:
    if X.shape[0] == 0 or X.shape[1] == 0:
        check_array(np.empty(X.shape))  # raises, in scikit-learn's words
    own = list(X.columns)
    if all(not isinstance(name, str) for name in own):
        found = _names_for(len(own), names)
    else:
        found = _unique_names(own)
    is_polars = type(X).__module__.split(".")[0] == "polars"
    read = _read_polars if is_polars else _read_pandas
    series = (X[name] for name in own) if is_polars else (X.iloc[:, j] for j in range(len(own)))
    return Columns(found, X.shape[0], [read(s, name) for s, name in zip(series, found, strict=True)])


def _read_pandas(series: Any, name: str) -> npt.NDArray[Any]:
    dtype = series.dtype
    if str(dtype) == "category":
        return _read_objects(series.astype(object).to_numpy())
    kind = getattr(dtype, "kind", "O")
    if kind in "iuf":
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in "ObUS" or str(dtype).startswith(("string", "str", "bool")):
        return _read_objects(series.astype(object).to_numpy())
    raise ValueError(
        f"column {name!r} has the dtype {dtype}, which is neither a number nor a category; convert it to numbers or texts first"
    )


def _read_polars(series: Any, name: str) -> npt.NDArray[Any]:
    dtype = series.dtype
    if dtype.is_numeric():
        return np.asarray(series.cast(float).to_numpy(), dtype=np.float64)
    if str(dtype).startswith(("String", "Categorical", "Enum", "Boolean", "Object", "Null")):
        return _read_objects(np.array(series.to_list(), dtype=object))
    raise ValueError(
        f"column {name!r} has the dtype {dtype}, which is neither a number nor a category; convert it to numbers or texts first"
    )


def _read_objects(values: npt.NDArray[Any], numbers_allowed: bool = False) -> npt.NDArray[Any]:
    """Texts with None for missing; or floats, where `numbers_allowed` and every value is a number."""
    if numbers_allowed and all(isinstance(v, numbers.Real) and not isinstance(v, (bool, np.bool_)) or is_missing(v) for v in values):
        return np.array([np.nan if is_missing(v) else float(v) for v in values])
    texts = np.empty(len(values), dtype=object)
    texts[:] = [None if is_missing(v) else value_text(v) for v in values]
    return texts


@dataclass(frozen=True)
class Schema:
    """What the columns of the training data were.

    Attributes
    ----------
    names : tuple of str
    values : tuple
        Per column: None for a numeric one, otherwise the tuple of its values as text.
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...] | None, ...]

    @classmethod
    def learn(cls, columns: Columns, nominal: Sequence[str | int] | None = None) -> Schema:
        """Find out which columns are nominal and what values they have."""
        forced = _nominal_positions(columns.names, nominal)
        values: list[tuple[str, ...] | None] = []
        for j, (name, array) in enumerate(zip(columns.names, columns.arrays, strict=True)):
            if array.dtype == object:
                values.append(_sorted_values(set(array.tolist()) - {None}))
            elif j in forced:
                values.append(_sorted_values({value_text(v) for v in np.unique(array[~np.isnan(array)])}))
            else:
                values.append(None)
                if not np.isfinite(array.sum()) and np.isinf(array).any():
                    raise ValueError(f"column {name!r} contains infinity; use NaN for a missing value or a large number instead")
        return cls(columns.names, tuple(values))

    def encode(self, columns: Columns, levels: Mapping[str, list[list[int]]] | None = None, complete: bool = False) -> Any:
        """Return the core's table of these cases.

        Parameters
        ----------
        columns : Columns
            Cases with the columns of this schema, in its order.
        levels : mapping, optional
            Per nominal column, further levels of generalisation: value code -> branch.
        complete : bool
            The cases are to be learned from: find out whether any value is missing at all.
        """
        has_missing = True
        arrays = [
            self._numbers(j, a) if values is None else self._codes(values, a)
            for j, (values, a) in enumerate(zip(self.values, columns.arrays, strict=True))
        ]
        if complete:
            if columns.matrix is not None and all(v is None for v in self.values):
                has_missing = bool(np.isnan(columns.matrix.sum()))
            else:
                has_missing = any(np.isnan(a).any() if v is None else (a < 0).any() for v, a in zip(self.values, arrays, strict=True))
        table = _core.Table(columns.n_cases, has_missing)
        for name, values, array in zip(self.names, self.values, arrays, strict=True):
            if values is None:
                table.add_numeric(array)
            else:
                table.add_nominal(array, len(values), [list(range(len(values))), *((levels or {}).get(name) or [])])
        return table

    def _numbers(self, j: int, array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        if array.dtype != object:
            return array
        numbers_ = np.empty(len(array))
        for i, v in enumerate(array):
            try:
                numbers_[i] = np.nan if v is None else float(v)
            except ValueError:
                raise ValueError(f"column {self.names[j]!r} was numeric when the tree was learned, but row {i} holds {v!r}") from None
        return numbers_

    @staticmethod
    def _codes(values: tuple[str, ...], array: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        code = {v: i for i, v in enumerate(values)}
        if array.dtype != object:
            distinct, inverse = np.unique(array, return_inverse=True)
            return np.array([-1 if np.isnan(v) else code.get(value_text(v), -1) for v in distinct], dtype=np.int32)[inverse]
        return np.array([code.get(v, -1) for v in array], dtype=np.int32)

    def encode_case(self, known: Mapping[str, Any]) -> Any:
        """Return the table of one case given as a mapping; tests that are not in it are missing."""
        for name in known:
            if name not in self.names:
                raise ValueError(f"there is no test {name!r}; the tests are {', '.join(self.names)}")
        arrays = []
        for name, values in zip(self.names, self.values, strict=True):
            value = known.get(name)
            if values is None:
                try:
                    arrays.append(np.array([np.nan if is_missing(value) else float(value)]))  # type: ignore[arg-type]
                except (TypeError, ValueError):
                    raise ValueError(f"the test {name!r} wants a number, got {value!r}") from None
            else:
                text = np.empty(1, dtype=object)
                text[0] = None if is_missing(value) else value_text(value)
                arrays.append(text)
        return self.encode(Columns(self.names, 1, arrays))


def _nominal_positions(names: tuple[str, ...], nominal: Sequence[str | int] | None) -> set[int]:
    positions = set()
    for item in [] if nominal is None else nominal:
        if isinstance(item, str) and item in names:
            positions.add(names.index(item))
        elif isinstance(item, numbers.Integral) and 0 <= item < len(names):
            positions.add(int(item))
        else:
            raise ValueError(f"nominal names the column {item!r}, but X has the columns {', '.join(names)} (0 to {len(names) - 1})")
    return positions


def _sorted_values(values: set[str]) -> tuple[str, ...]:
    """Numbers by size, then texts: the same order whatever the order of the rows."""

    def key(text: str) -> tuple[int, float, str]:
        try:
            number = float(text)
        except ValueError:
            return 1, 0.0, text
        return (0, number, text) if math.isfinite(number) else (1, 0.0, text)

    return tuple(sorted(values, key=key))


def read_classes(y: Any, n_cases: int, estimator: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Return the classes in their order and the class index of every case."""
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None.")
    if not (isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iub"):
        y = _checked_classes(column_or_1d(y, warn=True))
    if len(y) != n_cases:
        raise ValueError(f"X has {n_cases} cases, but y has {len(y)} classes; found inconsistent numbers of samples")
    classes, index = np.unique(y, return_inverse=True)
    return classes, index.astype(np.int32)


def _checked_classes(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity; every case needs a class.")
    if y.dtype == object:
        for row, label in enumerate(y):
            if is_missing(label):
                raise ValueError(f"Input y contains NaN or None in row {row}; every case needs a class.")
    check_classification_targets(y)
    return y


def read_weights(sample_weight: Any, n_cases: int) -> npt.NDArray[np.float64] | None:
    """Return the weights, or None where every case counts once."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        weights = np.full(n_cases, float(sample_weight))
    else:
        weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1 or len(weights) != n_cases:
        raise ValueError(f"sample_weight has the shape {weights.shape}, expected ({n_cases},): Sample weights must be 1D array or scalar")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(f"sample_weight of row {bad[0]} is {weights[bad[0]]}; weights are finite and not negative")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number: all of them are zero")
    return None if (weights == 1).all() else weights

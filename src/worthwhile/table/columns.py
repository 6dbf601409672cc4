"""Reads user input (arrays, pandas or polars frames, pyarrow tables, nested lists) into columns.

Nominal values are compared as strings (`value_text`): 3, 3.0 and "3" are the same value, and a tree loaded from JSON
answers like the original. A missing value is NaN, None, pandas.NA, or a null of polars or pyarrow. Dates become
numbers (days since 1970-01-01, see `worthwhile.table.dates`), and so do spans of time (days).
"""

from __future__ import annotations

import datetime as dt
import functools
import math
import numbers
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from worthwhile.costs.error_costs import is_missing
from worthwhile.table.dates import MICROSECONDS, days_of, days_of_array, is_date

__all__ = [
    "Column",
    "Columns",
    "Factor",
    "aligned",
    "arrow_column",
    "as_frame",
    "frame_names",
    "is_frame",
    "nominal_positions",
    "read_columns",
    "select_columns",
    "value_codes",
    "value_text",
]

BOOLEANS = ("False", "True")


def value_text(value: Any) -> str:
    """Return a nominal value as the string it is compared by.

    Examples
    --------
    >>> value_text(3.0), value_text("3"), value_text(True), value_text(0.5)
    ('3', '3', 'True', '0.5')
    """
    if isinstance(value, (np.float32, np.float16)):
        value = float(str(value))  # 0.1 in single precision is "0.1", not 0.10000000149011612
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < 400:
        return f"{value.normalize() + 0:f}"
    return str(value)


@functools.lru_cache(maxsize=256)
def value_codes(values: tuple[str, ...]) -> Mapping[str, int]:
    """Return the code of each value of a nominal column, also under the other texts that a value may have.

    Data formats turn booleans into 0 and 1 and back, and numbers into single precision: 0.1 is the same value in both
    precisions, and so are False and 0 in a column that has only booleans, or only 0 and 1.

    Examples
    --------
    >>> value_codes(("red", "blue")), value_codes(("False", "True"))
    ({'red': 0, 'blue': 1}, {'False': 0, 'True': 1, '0': 0, '1': 1})
    >>> value_codes(("0.1",))
    {'0.1': 0, '0.10000000149011612': 0}
    """
    codes = {value: code for code, value in enumerate(values)}
    for own, other in ((BOOLEANS, ("0", "1")), (("0", "1"), BOOLEANS)):
        if codes and codes.keys() <= set(own):
            return codes | {b: codes[a] for a, b in zip(own, other, strict=True) if a in codes}
    for value, code in list(codes.items()):
        for text in _other_precision(value):
            codes.setdefault(text, code)
    return codes


def _other_precision(text: str) -> list[str]:
    """Return a fraction as it is written after a change of its precision."""
    if "." not in text and "e-" not in text:
        return []
    try:
        value = float(text)
    except ValueError:
        return []
    with np.errstate(over="ignore", under="ignore"):
        single = np.float32(value)
    if not math.isfinite(single):
        return []
    wide = float(single)
    return [value_text(single)] if wide == value else [value_text(wide)] if value_text(single) == text else []


@dataclass(frozen=True, eq=False)
class Factor:
    """A column of strings: each distinct string once, and the index of it for every case (-1: missing)."""

    categories: list[str]
    codes: npt.NDArray[np.int32]
    ordered: bool = False  # the order of the categories means something

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

    @classmethod
    def of_booleans(cls, values: npt.NDArray[np.bool_]) -> Factor:
        """Make a factor from an array of booleans."""
        return cls(list(BOOLEANS), values.astype(np.int32))

    @classmethod
    def of_numbers(cls, values: npt.NDArray[Any]) -> Factor:
        """Make a factor from an array of numbers of any precision; integers above 2^53 stay distinct."""
        if values.dtype.kind == "b":
            return cls.of_booleans(values)
        return cls.of(*np.unique(values, return_inverse=True))

    def __getitem__(self, rows: npt.NDArray[np.intp]) -> Factor:
        return replace(self, codes=self.codes[rows])

    def copy(self) -> Factor:
        """Return a factor that does not share memory with this one."""
        return replace(self, categories=list(self.categories), codes=self.codes.copy())

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
    dates: frozenset[str] = frozenset()  # columns that were dates and are numbers of days now

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
        return Columns, (self.names, self.n_cases, self.arrays, None, self.dates)

    def copy(self) -> Columns:
        """Return columns that do not share memory with the input."""
        if self.matrix is not None:
            return _from_matrix(self.matrix.copy(), self.names)
        return Columns(self.names, self.n_cases, [a.copy() for a in self.arrays], dates=self.dates)

    def take(self, rows: npt.NDArray[np.intp]) -> Columns:
        """Return the given cases only."""
        if self.matrix is not None:
            return _from_matrix(self.matrix[rows], self.names)
        return Columns(self.names, len(rows), [a[rows] for a in self.arrays], dates=self.dates)


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


def read_columns(X: Any, names: Sequence[str] | None = None, nominal: Sequence[str | int] | None = None) -> Columns:
    """Read X into columns.

    Parameters
    ----------
    X : array, pandas or polars frame, pyarrow table, or nested sequence of shape (cases, columns)
    names : sequence of str, optional
        Column names for input without names; default ``x0``, ``x1``, …
    nominal : sequence of names or positions, optional
        Columns of numbers to read as nominal values. They are not turned into floats, which would merge large integers.

    Raises
    ------
    ValueError, TypeError
        If X is not a table (scikit-learn's messages), or a column is neither numeric nor nominal (naming it).

    Examples
    --------
    >>> read_columns([[1, 2], [3, 4]]).names
    ('x0', 'x1')
    """
    X = as_frame(X)
    if is_frame(X):
        return _read_frame(X, names, nominal)
    if type(X) is not np.ndarray:
        X = _to_array(X)
    if X.ndim == 2 and X.dtype.kind == "M":
        X = X.astype("M8[us]").astype(object)  # nanoseconds would become integers
    elif X.dtype.kind == "m":
        X = days_of_array(X)
    if X.ndim == 2 and X.dtype == np.float64 and X.shape[0] and X.shape[1]:
        matrix = aligned(X)
    elif X.ndim == 2 and X.dtype.kind in "OUSTb" and X.shape[0] and X.shape[1]:
        found = _names_for(X.shape[1], names)
        forced = nominal_positions(found, nominal)
        arrays = [_read_objects(X[:, j], j in forced) for j in range(X.shape[1])]
        held = (
            name for name, array, own in zip(found, arrays, X.T, strict=True) if _holds_dates(own, own.dtype, array)
        )
        return Columns(found, X.shape[0], arrays, dates=frozenset(held))
    else:
        matrix = aligned(check_array(X, dtype=np.float64, ensure_all_finite=False))
    columns = _from_matrix(matrix, _names_for(matrix.shape[1], names))
    forced = nominal_positions(columns.names, nominal)
    if not forced:
        return columns
    # Read from X: large integers and single precision differ from the floats of the matrix.
    mixed = [Factor.of_numbers(X[:, j]) if j in forced else a for j, a in enumerate(columns.arrays)]
    return Columns(columns.names, columns.n_cases, mixed)


def nominal_positions(names: tuple[str, ...], nominal: Sequence[str | int] | None) -> set[int]:
    """Return the indices of the columns that `nominal` names."""
    positions: set[int] = set()
    place = {} if nominal is None else {name: j for j, name in enumerate(names)}
    for item in [] if nominal is None else nominal:
        if isinstance(item, str) and item in place:
            positions.add(place[item])
        elif isinstance(item, numbers.Integral) and not isinstance(item, bool) and 0 <= int(item) < len(names):
            positions.add(int(item))
        else:
            raise ValueError(
                f"nominal contains {item!r}, but the columns of X are {', '.join(names)} (0 to {len(names) - 1})"
            )
    return positions


def as_frame(X: Any) -> Any:
    """Return a foreign frame, which offers Arrow's or the dataframe interchange protocol, as a pyarrow table.

    Everything else is returned as it is, and so is a foreign frame if pyarrow is not installed.
    """
    if hasattr(X, "to_frame") and getattr(X, "ndim", len(getattr(X, "shape", (0, 0)))) == 1:
        raise ValueError("X is a single column or case; use a table: X[['name']] for a column, X.iloc[[0]] for a case")
    if type(X) is np.ndarray or is_frame(X) or not (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__")):
        return X
    try:
        import pyarrow.interchange
    except ImportError:
        return X
    return pyarrow.table(X) if hasattr(X, "__arrow_c_stream__") else pyarrow.interchange.from_dataframe(X)


def frame_names(X: Any) -> list[Any] | None:
    """Return the column names of a pandas or polars frame or pyarrow table; None for everything else."""
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a polars LazyFrame, which has no rows yet; call collect() first")
    if _is_arrow(X):
        return list(X.column_names)
    return list(X.columns) if hasattr(X, "columns") and hasattr(X, "dtypes") else None


def _is_arrow_column(values: Any) -> bool:
    return hasattr(values, "dictionary_encode")


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "column_names") and hasattr(X, "combine_chunks")


def is_frame(X: Any, named: bool = False) -> bool:
    """Return whether X is a pandas or polars frame or a pyarrow table; with `named`, one whose names are strings.

    Examples
    --------
    >>> is_frame([[1, 2]])
    False
    """
    names = frame_names(X)
    return names is not None and (not named or all(isinstance(name, str) for name in names))


def select_columns(X: Any, names: Sequence[str]) -> Any:
    """Return the named columns of a frame, in this order."""
    return X.select(list(names)) if _is_arrow(X) else X[list(names)]


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


def _read_frame(X: Any, names: Sequence[str] | None, nominal: Sequence[str | int] | None) -> Columns:
    if X.shape[0] == 0 or X.shape[1] == 0:
        check_array(np.empty(X.shape))  # raises scikit-learn's message
    own = frame_names(X) or []
    nameless = all(not isinstance(name, str) for name in own)
    found = _names_for(len(own), names) if nameless else _unique_names(own)
    if names is not None and found != tuple(names):
        raise ValueError(f"columns={list(names)} differs from the column names of X: {', '.join(found)}")
    forced = nominal_positions(found, nominal)
    arrays, dates = [], set()
    for j, name in enumerate(found):
        if _is_arrow(X):
            series, dtype = X.column(j), X.column(j).type
            column = arrow_column(series, j in forced)
        elif type(X).__module__.split(".")[0] == "polars":
            series, dtype = X[own[j]], X[own[j]].dtype
            column = _read_polars(series, j in forced)
        else:
            series, dtype = X.iloc[:, j], X.iloc[:, j].dtype
            column = _read_pandas(series, j in forced)
        if column is None:
            kind = f"has the dtype {dtype}, which is neither numeric nor nominal"
            raise ValueError(f"column {name!r} {kind}; convert it to numbers or strings")
        arrays.append(column)
        if _holds_dates(series, dtype, column):
            dates.add(name)
    return Columns(found, X.shape[0], arrays, dates=frozenset(dates))


def _holds_dates(values: Any, dtype: Any, column: Column) -> bool:
    """Return whether a column of numbers was made of dates, not of numbers or spans of time."""
    if isinstance(column, Factor):
        return False
    kind = str(dtype)
    if _is_arrow_column(values):
        return kind.startswith(("date", "timestamp"))
    if kind not in ("object", "Object") and "date32" not in kind and "date64" not in kind:
        return kind.startswith(("datetime", "Date", "timestamp"))
    return isinstance(next((v for v in values if not is_missing(v)), None), (dt.date, np.datetime64))


def _read_pandas(series: Any, nominal: bool) -> Column | None:
    dtype = series.dtype
    if str(dtype) == "category":
        return replace(Factor.of(series.cat.categories, series.cat.codes.to_numpy()), ordered=bool(series.cat.ordered))
    kind = getattr(dtype, "kind", "O")
    if kind in "iufb" and (nominal or kind == "b") and not str(dtype).startswith("Sparse"):
        codes, distinct = series.factorize()
        return Factor.of(distinct.to_numpy(dtype=getattr(distinct.dtype, "numpy_dtype", None)), codes)
    if kind in "iuf":
        return aligned(np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan)))
    if kind in "mM":
        return days_of_array(series.to_numpy(dtype=f"{kind}8[us]"))
    if kind in "ObUS" or str(dtype).startswith(("string", "str", "bool")):
        return _read_objects(series.astype(object).to_numpy(), nominal)
    return None


def _read_polars(series: Any, nominal: bool) -> Column | None:  # noqa: PLR0911 (one for each kind)
    dtype = series.dtype
    kind = str(dtype)
    if dtype.is_numeric() and not nominal:
        return aligned(np.asarray(series.cast(float).to_numpy(), dtype=np.float64))
    if dtype.is_numeric():
        factor = Factor.of_numbers(series.fill_null(0).to_numpy())
        factor.codes[series.is_null().to_numpy()] = -1
        return factor
    if kind == "Boolean":
        return Factor(list(BOOLEANS), series.cast(int).fill_null(-1).to_numpy().astype(np.int32))
    if kind.startswith(("Categorical", "Enum")):
        missing, physical = series.is_null().to_numpy(), series.to_physical().cast(int).fill_null(-1).to_numpy()
        _, first, codes = np.unique(physical, return_index=True, return_inverse=True)
        codes[missing] = -1
        return replace(Factor.of(series[first].to_list(), codes), ordered=kind.startswith("Enum"))
    if kind.startswith(("Date", "Duration")):  # dates with and without a time, and spans of time
        exact = series.dt.timestamp("us") if kind.startswith("Date") else series.dt.total_microseconds()
        return np.asarray(exact.cast(float).to_numpy(), dtype=np.float64) / MICROSECONDS
    if kind.startswith(("String", "Object", "Null")):
        return _read_objects(np.array([*series.to_list(), None], dtype=object)[:-1], nominal)
    return None


def arrow_column(column: Any, nominal: bool = False) -> Column | None:
    """Return a column of a pyarrow table; None if its type is neither numeric nor nominal."""
    import pyarrow.types as kinds

    kind, ordered = column.type, False
    if kinds.is_dictionary(kind):
        ordered, kind = bool(kind.ordered), kind.value_type
        nominal = nominal or not _is_arrow_number(kind)
        if not ordered:
            column = column.cast(kind)
    if _is_arrow_number(kind) and not (nominal or ordered):
        # A safe cast would refuse integers above 2^53, such as ids, which need not be exact as numbers.
        return aligned(np.asarray(column.cast("float64", safe=False).to_numpy(), dtype=np.float64))
    if kinds.is_date(kind) or kinds.is_timestamp(kind) or kinds.is_duration(kind):
        if nominal:
            return Factor.of([None if value is None else str(value) for value in column.to_pylist()])
        unit = "duration[us]" if kinds.is_duration(kind) else "timestamp[us]"
        return days_of_array(column.cast(unit, safe=False).to_numpy())
    texts = str(kind) in ("string", "large_string", "string_view")  # old releases have no is_string_view
    if not (_is_arrow_number(kind) or texts or kinds.is_boolean(kind) or kinds.is_null(kind)):
        return None
    if kinds.is_null(kind):
        return Factor([], np.full(len(column), -1, dtype=np.int32))
    chunks = getattr(column, "combine_chunks", lambda: column)()
    encoded = chunks if kinds.is_dictionary(chunks.type) else chunks.dictionary_encode()
    codes = encoded.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
    distinct = encoded.dictionary
    values = distinct.to_numpy(zero_copy_only=False) if kinds.is_floating(kind) else distinct.to_pylist()
    return replace(Factor.of(values, codes), ordered=ordered)


def _is_arrow_number(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind))


def _read_objects(values: npt.NDArray[Any], nominal: bool = False) -> Column:
    """Read a column of objects: numeric if all values are numbers (not only booleans), otherwise nominal.

    A column without any value is nominal, which later accepts everything.
    """
    if values.dtype.kind == "b":
        return Factor.of_booleans(values)
    if values.dtype != object or nominal:
        return Factor.of(values)
    plain = values.tolist()
    types = set(map(type, plain))
    if types <= {float, int}:
        try:
            found = values.astype(np.float64)  # a tenth of the time of converting each value
        except OverflowError:
            found = np.array([_to_float(v) for v in plain])
    elif not _are_numbers(plain, types):
        dates = _read_dates(values)
        return Factor.of(values) if dates is None else dates
    else:
        found = np.array([np.nan if is_missing(v) else _to_float(v) for v in plain])
    return Factor.of(values) if np.isnan(found).all() else found


def _are_numbers(values: list[Any], types: Collection[type]) -> bool:
    """Return whether all values are numbers or missing, and not all of them booleans."""
    known = {t for t in types if t is not type(None) and t.__name__ not in ("NAType", "NaTType")}
    if not all(issubclass(t, (numbers.Real, Decimal, np.bool_)) for t in known):
        return False
    if float in known and known & {bool, np.bool_}:  # NaN beside booleans is no number
        known = {type(v) for v in values if not is_missing(v)}
    return not known <= {bool, np.bool_}


def _read_dates(values: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return a column of date objects in days; None if something else is in it, or nothing at all."""
    first = next((v for v in values if not is_missing(v)), None)
    if not is_date(first) or not all(is_date(v) or is_missing(v) for v in values):
        return None
    return np.array([np.nan if is_missing(v) else days_of(v) for v in values])


def _to_float(value: Any) -> float:
    """Return a number as a float; too large ones become infinity, as `float` does for strings."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

"""The one place where user input becomes a table of the core.

`read_columns` takes what users have (arrays, pandas or polars frames, lists) apart into plain columns; a `Schema`
learned from the training data says which columns are numeric, which nominal, and what values these have;
`Schema.encode` makes the core's table.

Nominal values are compared as text (`value_text`), so that 3, 3.0 and "3" are the same value whatever carried them, and
a tree written to JSON answers like the one in memory. A missing value is NaN, None, pandas.NA or a polars null.
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
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from worthwhile import _core
from worthwhile._errortable import is_missing

__all__ = ["Columns", "Schema", "read_classes", "read_columns", "read_weights", "value_text"]


def value_text(value: Any) -> str:
    """Return the text by which a nominal value is known.

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
    """Return the code of each value of a nominal column by its text; 0 and 1 find the truth values.

    Examples
    --------
    >>> value_codes(("red", "blue")), value_codes(("False", "True"))
    ({'red': 0, 'blue': 1}, {'False': 0, 'True': 1, '0': 0, '1': 1})
    """
    codes = {value: code for code, value in enumerate(values)}
    if codes and codes.keys() <= {"False", "True"}:  # a column of truth values: some carriers make numbers of them
        codes |= {digit: codes[truth] for truth, digit in (("False", "0"), ("True", "1")) if truth in codes}
    return codes


@dataclass(frozen=True, eq=False)
class Factor:
    """A column of texts: each text once, and which one every case has (-1: none). Cases are many, texts are few."""

    texts: list[str]
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, values: Iterable[Any], codes: npt.NDArray[Any] | None = None) -> Factor:
        """Make a factor of any values: one per case, or one per code (-1: missing)."""
        position: dict[str, int] = {}

        def code_of(text: str) -> int:
            return position.setdefault(text, len(position))

        # Nearly all values are texts: not to ask what they are saves two thirds of the time.
        plain = values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind in "OU" else values
        own = [code_of(v) if type(v) is str else -1 if is_missing(v) else code_of(value_text(v)) for v in plain]
        found = np.array([*own, -1], dtype=np.int32)  # the last one is for the code -1
        return cls(list(position), found[:-1] if codes is None else found[codes])

    def __getitem__(self, rows: npt.NDArray[np.intp]) -> Factor:
        return Factor(self.texts, self.codes[rows])

    def copy(self) -> Factor:
        """Return a factor that does not share memory with this one."""
        return Factor(list(self.texts), self.codes.copy())

    def translated(self, codes: Mapping[str, int]) -> npt.NDArray[np.int32]:
        """Return the code of every case in another coding of the texts; -1 where it has none."""
        return np.array([*(codes.get(text, -1) for text in self.texts), -1], dtype=np.int32)[self.codes]

    def tolist(self) -> list[str | None]:
        """Return the text of every case."""
        return [None if code < 0 else self.texts[code] for code in self.codes]


Column = npt.NDArray[np.float64] | Factor


@dataclass(frozen=True, eq=False)
class Columns:
    """User input, taken apart: one array of numbers or one factor per column."""

    names: tuple[str, ...]
    n_cases: int
    arrays: Sequence[Column]
    matrix: npt.NDArray[np.float64] | None = None  # the same numbers in one piece, where the input was one

    @functools.cached_property
    def all_finite(self) -> bool:
        """Whether all columns are numbers, none of them missing or infinite. One pass where the input is one piece."""
        if self.matrix is not None and self.matrix.size < 100_000:
            return bool(np.isfinite(self.matrix).all())
        with np.errstate(all="ignore"):  # a sum takes no memory; one that overflows only means a second look
            if self.matrix is not None:
                return bool(np.isfinite(self.matrix.sum()))
            return all(not isinstance(a, Factor) and np.isfinite(a.sum()) for a in self.arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.matrix is not None:  # the columns are views of it, and would be sent a second time
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
    if is_frame(X):
        return _read_frame(X, names)
    if type(X) is not np.ndarray:
        X = _to_array(X)
    if X.dtype.kind in "mM":
        raise ValueError(f"X has the dtype {X.dtype}, which is neither a number nor a category; convert it first")
    if X.ndim == 2 and X.dtype == np.float64 and X.shape[0] and X.shape[1]:
        matrix = X
    elif X.ndim == 2 and X.dtype.kind in "OUSTb" and X.shape[0] and X.shape[1]:
        found = _names_for(X.shape[1], names)
        return Columns(found, X.shape[0], [_read_objects(X[:, j]) for j in range(X.shape[1])])
    else:
        matrix = check_array(X, dtype=np.float64, ensure_all_finite=False)
    return _from_matrix(matrix, _names_for(matrix.shape[1], names))


def is_frame(X: Any, named: bool = False) -> bool:
    """Say whether X is a frame of pandas or polars; `named`: one whose columns have names.

    Examples
    --------
    >>> is_frame([[1, 2]])
    False
    """
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame of polars, which has no rows yet; call its collect() first")
    frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    return frame and (not named or all(isinstance(name, str) for name in X.columns))


def _to_array(X: Any) -> npt.NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping):
        raise TypeError("X is a list of mappings; make a frame of it first, e.g. pandas.DataFrame(X)")
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
    nameless = all(not isinstance(name, str) for name in own)
    found = _names_for(len(own), names) if nameless else _unique_names(own)
    if names is not None and found != tuple(names):
        raise ValueError(f"columns={list(names)} is given, but X has columns of its own: {', '.join(found)}")
    is_polars = type(X).__module__.split(".")[0] == "polars"
    read = _read_polars if is_polars else _read_pandas
    series = (X[name] for name in own) if is_polars else (X.iloc[:, j] for j in range(len(own)))
    return Columns(found, X.shape[0], [read(s, name) for s, name in zip(series, found, strict=True)])


def _unfit_column(name: str, dtype: Any) -> ValueError:
    kind = f"has the dtype {dtype}, which is neither a number nor a category"
    return ValueError(f"column {name!r} {kind}; convert it to numbers or texts first")


def _read_pandas(series: Any, name: str) -> Column:
    dtype = series.dtype
    if str(dtype) == "category":
        return Factor.of(series.cat.categories, series.cat.codes.to_numpy())
    kind = getattr(dtype, "kind", "O")
    if kind in "iuf":
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in "ObUS" or str(dtype).startswith(("string", "str", "bool")):
        return Factor.of(series.astype(object).to_numpy())
    raise _unfit_column(name, dtype)


def _read_polars(series: Any, name: str) -> Column:
    dtype = series.dtype
    if dtype.is_numeric():
        return np.asarray(series.cast(float).to_numpy(), dtype=np.float64)
    if str(dtype).startswith(("String", "Categorical", "Enum", "Boolean", "Object", "Null")):
        return Factor.of(series.to_list())
    raise _unfit_column(name, dtype)


def _read_objects(values: npt.NDArray[Any]) -> Column:
    """A column of an array of mixed contents: numbers, where every value is one, otherwise texts."""
    if values.dtype == object and set(map(type, values.tolist())) <= {float, int}:
        with contextlib.suppress(OverflowError):
            return values.astype(np.float64)  # at once: a tenth of the time of asking each value what it is
    if values.dtype == object and all(
        (isinstance(v, numbers.Real) and not isinstance(v, bool)) or is_missing(v) for v in values
    ):
        return np.array([np.nan if is_missing(v) else _to_float(v) for v in values])
    return Factor.of(values)


def _to_float(value: Any) -> float:
    """Return a number as a float; beyond the largest one lies infinity, as for numbers in texts."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


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
            if isinstance(array, Factor):
                values.append(_sorted_values({array.texts[code] for code in np.unique(array.codes) if code >= 0}))
            elif j in forced:
                values.append(_sorted_values({value_text(v) for v in np.unique(array[~np.isnan(array)])}))
            else:
                values.append(None)
                if not columns.all_finite and np.isinf(array).any():
                    raise ValueError(
                        f"column {name!r} contains infinity; use NaN for a missing value or a large number instead"
                    )
        return cls(columns.names, tuple(values))

    def encode(
        self, columns: Columns, levels: Mapping[str, list[list[int]]] | None = None, complete: bool = False
    ) -> Any:
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
        arrays: list[npt.NDArray[Any]] = [
            self._numbers(j, a) if values is None else self._codes(values, a)
            for j, (values, a) in enumerate(zip(self.values, columns.arrays, strict=True))
        ]
        if complete:
            # Where all is finite only a nominal code can be missing, and learned values have none that is not.
            has_missing = not columns.all_finite and any(
                np.isnan(a).any() if v is None else (a < 0).any() for v, a in zip(self.values, arrays, strict=True)
            )
        table = _core.Table(columns.n_cases, has_missing)
        for name, values, array in zip(self.names, self.values, arrays, strict=True):
            if values is None:
                table.add_numeric(array)
            else:
                table.add_nominal(array, len(values), [list(range(len(values))), *((levels or {}).get(name) or [])])
        return table

    def _numbers(self, j: int, array: Column) -> npt.NDArray[np.float64]:
        if not isinstance(array, Factor):
            return array
        found = [np.nan] * (len(array.texts) + 1)  # the last one is for the code -1
        for code in np.unique(array.codes[array.codes >= 0]):
            try:
                found[code] = float(array.texts[code])
            except ValueError:
                row = int(np.flatnonzero(array.codes == code)[0])
                raise ValueError(
                    f"column {self.names[j]!r} was numeric when the tree was learned,"
                    f" but row {row} holds {array.texts[code]!r}"
                ) from None
        return np.array(found)[array.codes]

    @staticmethod
    def _codes(values: tuple[str, ...], array: Column) -> npt.NDArray[np.int32]:
        if not isinstance(array, Factor):
            array = Factor.of(*np.unique(array, return_inverse=True))
        return array.translated(value_codes(values))

    def read_case(self, known: Mapping[str, Any]) -> dict[int, float]:
        """Return what a mapping says of one case: column -> number or value code, NaN or -1 where it cannot be had."""
        if not (hasattr(known, "keys") and hasattr(known, "__getitem__")):
            raise TypeError(
                f"a case must be a mapping of test to value, e.g. {{{self.names[0]!r}: ...}}, got {known!r}"
            )
        found = {}
        for name in known.keys():  # noqa: SIM118 - a pandas row is a mapping too, but iterates over its values
            if name not in self.names:
                raise ValueError(f"there is no test {name!r}; the tests are {', '.join(self.names)}")
            j, value = self.names.index(name), known[name]
            found[j] = self._read_number(name, value) if (v := self.values[j]) is None else _read_code(v, value)
        return found

    @staticmethod
    def _read_number(name: str, value: Any) -> float:
        try:
            return math.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"the test {name!r} wants a number, got {value!r}") from None

    def encode_case(self, case: Mapping[int, float]) -> Any:
        """Return the table of one case as `read_case` gives it; tests that are not in it are missing."""
        table = _core.Table(1, True)
        for j, values in enumerate(self.values):
            if values is None:
                table.add_numeric(np.array([case.get(j, np.nan)]))
            else:
                table.add_nominal(np.array([case.get(j, -1)], dtype=np.int32), len(values), [list(range(len(values)))])
        return table


def _read_code(values: tuple[str, ...], value: Any) -> int:
    return -1 if is_missing(value) else value_codes(values).get(value_text(value), -1)


def _nominal_positions(names: tuple[str, ...], nominal: Sequence[str | int] | None) -> set[int]:
    positions = set()
    for item in [] if nominal is None else nominal:
        if isinstance(item, str) and item in names:
            positions.add(names.index(item))
        elif isinstance(item, numbers.Integral) and not isinstance(item, bool) and 0 <= int(item) < len(names):
            positions.add(int(item))
        else:
            raise ValueError(
                f"nominal names the column {item!r}, but X has the columns {', '.join(names)} (0 to {len(names) - 1})"
            )
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
        y = _checked_classes(column_or_1d(_plain_classes(y), warn=True))
    if len(y) != n_cases:
        raise ValueError(f"X has {n_cases} cases, but y has {len(y)} classes; found inconsistent numbers of samples")
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
    """Unpack lists and pandas' own types: texts would swallow a NaN, whole numbers and truth values become floats."""
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
                raise ValueError(f"y mixes texts and numbers: {y[0]!r} in row 0, {label!r} in row {row}")
        y = np.array(y.tolist())  # numbers that came as objects
    check_classification_targets(y)
    return y


def read_weights(sample_weight: Any, n_cases: int) -> npt.NDArray[np.float64] | None:
    """Return the weights, or None where every case counts once."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        weights = np.full(n_cases, float(sample_weight))
    else:
        try:
            weights = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample_weight must be one number per case: {error}") from None
    if weights.ndim != 1 or len(weights) != n_cases:
        shape = f"sample_weight has the shape {weights.shape}, expected ({n_cases},)"
        raise ValueError(f"{shape}: Sample weights must be 1D array or scalar")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(f"sample_weight of row {bad[0]} is {weights[bad[0]]}; weights are finite and not negative")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise ValueError("sample_weight adds up to infinity; divide all weights by a large number")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number: all of them are zero")
    return None if (weights == 1).all() else weights

"""The columns of the training data and their values; encodes cases as the core's table."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.error_costs import is_missing, listing, show, suggest
from worthwhile.table.columns import (
    BOOLEANS,
    Column,
    Columns,
    Factor,
    frame_names,
    nominal_positions,
    value_codes,
    value_text,
)
from worthwhile.table.dates import DateFormatError, date_text, days_of, is_date, parse_dates

__all__ = ["OtherValue", "Schema", "number_or_days", "sorted_values", "unknown_value"]

MAX_CUTS = 64  # of an ordered category; each is a candidate of its own


class OtherValue(str):
    """A value that a nominal test never had in training and that is known to be so; it counts as unavailable."""


@dataclass(frozen=True)
class Schema:
    """The columns of the training data.

    Attributes
    ----------
    names : tuple of str
    values : tuple
        For each column None if it is numeric, otherwise the tuple of its values as strings: those of an ordered
        category in its order, others sorted. Empty for a nominal column that is not used, all of whose values count as
        missing.
    ordered : frozenset of str
        The columns that are ordered categories. Only learning needs it: a tree has the branches that were found.
    dates : frozenset of str
        Numeric columns that are dates, in days since 1970-01-01.
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...] | None, ...]
    dates: frozenset[str] = frozenset()
    ordered: frozenset[str] = field(default=frozenset(), compare=False)

    def nominal_in(self, X: Any) -> list[str | int]:
        """Return the nominal columns of new cases: those that X has, by name if it has names, otherwise by position."""
        if not any(values is not None for values in self.values):
            return []
        nominal = [
            (name, j)
            for j, (name, values) in enumerate(zip(self.names, self.values, strict=True))
            if values is not None
        ]
        own = frame_names(X)
        if own is not None and any(isinstance(name, str) for name in own):
            given = set(own)
            return [name for name, _ in nominal if name in given]
        width = len(own) if own is not None else X.shape[1] if getattr(X, "ndim", 0) == 2 else len(self.names)
        return [j for _, j in nominal if j < width]

    @functools.cached_property
    def position(self) -> dict[str, int]:
        """The position of each column."""
        return {name: j for j, name in enumerate(self.names)}

    @classmethod
    def learn(
        cls, columns: Columns, nominal: Sequence[str | int] | None = None, unused: Collection[int] = ()
    ) -> Schema:
        """Find the nominal columns and their values; those of the nominal columns `unused` are not kept."""
        forced, skipped = nominal_positions(columns.names, nominal), set(unused)
        values: list[tuple[str, ...] | None] = []
        for j, (name, array) in enumerate(zip(columns.names, columns.arrays, strict=True)):
            if j in skipped:
                values.append(())
            elif isinstance(array, Factor):
                used = [array.categories[code] for code in np.unique(array.codes) if code >= 0]
                values.append(tuple(used) if array.ordered else sorted_values(set(used)))
            elif j in forced:
                values.append(sorted_values({value_text(v) for v in np.unique(array[~np.isnan(array)])}))
            else:
                values.append(None)
                if not columns.all_finite and np.isinf(array).any():
                    raise ValueError(
                        f"column {name!r} contains infinity; use NaN for a missing value, or a large finite number"
                    )
        ordered = (n for n, a in zip(columns.names, columns.arrays, strict=True) if isinstance(a, Factor) and a.ordered)
        dates = frozenset(name for name, v in zip(columns.names, values, strict=True) if v is None)
        return cls(columns.names, tuple(values), dates & columns.dates, frozenset(ordered))

    def encode(
        self, columns: Columns, ways: Mapping[str, list[list[int]]] | None = None, complete: bool = False
    ) -> Any:
        """Return the core's table of these cases.

        Parameters
        ----------
        columns : Columns
            Cases with the columns of this schema, in its order.
        ways : mapping, optional
            For nominal columns, the ways to ask them: value code -> branch. Left out: a branch for every value, or the
            cuts of an ordered category.
        complete : bool
            Check whether any value is missing, for training cases; otherwise missing values are assumed.
        """
        has_missing = True
        arrays = self.arrays(columns)
        if complete:
            # A training case has a code for every nominal value, so finite columns have no missing value. A nominal
            # column without values is made constant, since growing is faster if no value is missing.
            has_missing = not columns.all_finite and any(
                np.isnan(a).any() if v is None else v and (a < 0).any()
                for v, a in zip(self.values, arrays, strict=True)
            )
        table = _core.Table(columns.n_cases, has_missing)
        for name, values, array in zip(self.names, self.values, arrays, strict=True):
            if values is None:
                table.add_numeric(array)
            elif complete and not values:
                table.add_nominal(np.zeros_like(array), 1, [[0]])
            else:
                own = (ways or {}).get(name) or (_cuts(len(values)) if complete and name in self.ordered else [])
                table.add_nominal(array, len(values), own or [list(range(len(values)))])
        return table

    def arrays(self, columns: Columns) -> list[npt.NDArray[Any]]:
        """Return the columns as the core has them: numbers (NaN: missing) and codes of values (-1: missing)."""
        return [self.arrays_of(columns, j) for j in range(len(self.values))]

    def arrays_of(self, columns: Columns, j: int) -> npt.NDArray[Any]:
        """Return one of the `arrays`."""
        values, array = self.values[j], columns.arrays[j]
        return self._numbers(j, array) if values is None else self._codes(values, array)

    def _numbers(self, j: int, array: Column) -> npt.NDArray[np.float64]:
        if not isinstance(array, Factor):
            return array
        if array.categories and set(array.categories) <= set(BOOLEANS):
            array = replace(array, categories=[str(BOOLEANS.index(text)) for text in array.categories])
        found = [np.nan] * (len(array.categories) + 1)  # the last one is for the code -1
        for code in np.unique(array.codes[array.codes >= 0]):
            try:
                found[code] = number_or_days(array.categories[code])
            except ValueError:
                row = int(np.flatnonzero(array.codes == code)[0])
                raise ValueError(
                    f"column {self.names[j]!r} was numeric in training,"
                    f" but row {row} contains {array.categories[code]!r}"
                ) from None
        return np.array(found)[array.codes]

    @staticmethod
    def _codes(values: tuple[str, ...], array: Column) -> npt.NDArray[np.int32]:
        if not isinstance(array, Factor):
            array = Factor.of_numbers(array)
        return array.translated(value_codes(values))

    def read_case(self, known: Mapping[str, Any]) -> dict[int, float]:
        """Read one case from a mapping: column -> number or value code, NaN or -1 if unavailable.

        Raises
        ------
        ValueError
            If there is no such test, or if a nominal test has a value that it never had in training: in a single case
            it is most likely misspelt. The values of an unused column are not known, and none is refused.
        """
        if not (hasattr(known, "keys") and hasattr(known, "__getitem__")):
            raise TypeError(
                f"a case must be a mapping of test to value, e.g. {{{self.names[0]!r}: ...}}, got {known!r}"
            )
        found, position = {}, self.position
        for name in known.keys():  # noqa: SIM118 - a pandas row is a mapping too, but iterates over its values
            if name not in position:
                raise ValueError(f"there is no test {name!r}; the tests are {', '.join(self.names)}")
            j, value = position[name], known[name]
            found[j] = self._read_number(name, value) if (v := self.values[j]) is None else _read_code(name, v, value)
        return found

    def shown(self, name: str, value: Any) -> str:
        """Return the value of a test as text; the number of a date is shown as the date.

        Examples
        --------
        >>> Schema(("visit",), (None,), dates=frozenset({"visit"})).shown("visit", 19813.0)
        '2024-03-31'
        """
        return date_text(self._read_number(name, value)) if name in self.dates else value_text(value)

    @staticmethod
    def _read_number(name: str, value: Any) -> float:
        try:
            return math.nan if is_missing(value) else number_or_days(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"the test {name!r} needs a number, got {value!r}") from None

    def encode_case(self, case: Mapping[int, float]) -> Any:
        """Return the core's table of one case as read by `read_case`; other tests are missing."""
        table = _core.Table(1, True)
        for j, values in enumerate(self.values):
            if values is None:
                table.add_numeric(np.array([case.get(j, np.nan)]))
            else:
                table.add_nominal(np.array([case.get(j, -1)], dtype=np.int32), len(values), [list(range(len(values)))])
        return table


def number_or_days(value: Any) -> float:
    """Return a number or a date, which may be a string, as a number."""
    if is_date(value):
        return days_of(value)
    try:
        return float(value)
    except ValueError:
        try:
            found = parse_dates([value])
        except DateFormatError as error:
            raise ValueError(error.advice) from None
        if found is None:
            raise
        return found[0]


def _cuts(n_values: int) -> list[list[int]]:
    """Return the ways to ask an ordered category: up to a value, or above it. At most `MAX_CUTS`, evenly spaced."""
    places = np.unique(np.linspace(1, n_values - 1, min(n_values - 1, MAX_CUTS)).round().astype(int)).tolist()
    return [[0] * place + [1] * (n_values - place) for place in places] if n_values > 2 else []


def _read_code(name: str, values: tuple[str, ...], value: Any) -> int:
    if is_missing(value) or not values or isinstance(value, OtherValue):
        return -1
    text = value_text(value)
    code = value_codes(values).get(text)
    if code is None:
        raise ValueError(f"{unknown_value(name, text, values)}; None: another value, or unavailable")
    return code


def unknown_value(test: str, text: str, values: Sequence[str]) -> str:
    """Return a message about a value that a nominal test does not have.

    Examples
    --------
    >>> print(unknown_value("colour", "gren", ["green", "red"]))
    'gren' is not a value of colour; did you mean 'green'? Its values are 'green', 'red'
    """
    hint = suggest(text, values)
    known = f" Its values are {listing(values)}" if hint.endswith("?") else ""
    return f"{show(text)} is not a value of {test}; {hint}{known}"


def sorted_values(values: set[str]) -> tuple[str, ...]:
    """Sort numbers by size, then strings; the order of the rows does not matter."""

    def key(text: str) -> tuple[int, float, str]:
        try:
            number = float(text)
        except ValueError:
            return 1, 0.0, text
        return (0, number, text) if math.isfinite(number) else (1, 0.0, text)

    return tuple(sorted(values, key=key))

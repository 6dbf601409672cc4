"""The columns of the training data and their values; encodes cases as the core's table."""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.error_costs import is_missing
from worthwhile.table.columns import Column, Columns, Factor, value_codes, value_text

__all__ = ["Schema", "nominal_positions", "sorted_values"]


@dataclass(frozen=True)
class Schema:
    """The columns of the training data.

    Attributes
    ----------
    names : tuple of str
    values : tuple
        For each column None if it is numeric, otherwise the tuple of its values as strings.
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...] | None, ...]

    @functools.cached_property
    def position(self) -> dict[str, int]:
        """The position of each column."""
        return {name: j for j, name in enumerate(self.names)}

    @classmethod
    def learn(cls, columns: Columns, nominal: Sequence[str | int] | None = None) -> Schema:
        """Find the nominal columns and their values."""
        forced = nominal_positions(columns.names, nominal)
        values: list[tuple[str, ...] | None] = []
        for j, (name, array) in enumerate(zip(columns.names, columns.arrays, strict=True)):
            if isinstance(array, Factor):
                values.append(sorted_values({array.categories[code] for code in np.unique(array.codes) if code >= 0}))
            elif j in forced:
                values.append(sorted_values({value_text(v) for v in np.unique(array[~np.isnan(array)])}))
            else:
                values.append(None)
                if not columns.all_finite and np.isinf(array).any():
                    raise ValueError(
                        f"column {name!r} contains infinity; use NaN for a missing value, or a large finite number"
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
            For nominal columns, additional levels of generalisation: value code -> branch.
        complete : bool
            Check whether any value is missing, for training cases; otherwise missing values are assumed.
        """
        has_missing = True
        arrays = self.arrays(columns)
        if complete:
            # A training case has a code for every nominal value, so finite columns have no missing value.
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

    def arrays(self, columns: Columns) -> list[npt.NDArray[Any]]:
        """Return the columns as the core has them: numbers (NaN: missing) and codes of values (-1: missing)."""
        return [
            self._numbers(j, a) if values is None else self._codes(values, a)
            for j, (values, a) in enumerate(zip(self.values, columns.arrays, strict=True))
        ]

    def _numbers(self, j: int, array: Column) -> npt.NDArray[np.float64]:
        if not isinstance(array, Factor):
            return array
        found = [np.nan] * (len(array.categories) + 1)  # the last one is for the code -1
        for code in np.unique(array.codes[array.codes >= 0]):
            try:
                found[code] = float(array.categories[code])
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
            array = Factor.of(*np.unique(array, return_inverse=True))
        return array.translated(value_codes(values))

    def read_case(self, known: Mapping[str, Any]) -> dict[int, float]:
        """Read one case from a mapping: column -> number or value code, NaN or -1 if unavailable."""
        if not (hasattr(known, "keys") and hasattr(known, "__getitem__")):
            raise TypeError(
                f"a case must be a mapping of test to value, e.g. {{{self.names[0]!r}: ...}}, got {known!r}"
            )
        found, position = {}, self.position
        for name in known.keys():  # noqa: SIM118 - a pandas row is a mapping too, but iterates over its values
            if name not in position:
                raise ValueError(f"there is no test {name!r}; the tests are {', '.join(self.names)}")
            j, value = position[name], known[name]
            found[j] = self._read_number(name, value) if (v := self.values[j]) is None else _read_code(v, value)
        return found

    @staticmethod
    def _read_number(name: str, value: Any) -> float:
        try:
            return math.nan if is_missing(value) else float(value)
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


def _read_code(values: tuple[str, ...], value: Any) -> int:
    return -1 if is_missing(value) else value_codes(values).get(value_text(value), -1)


def nominal_positions(names: tuple[str, ...], nominal: Sequence[str | int] | None) -> set[int]:
    """Return the indices of the columns that `nominal` names."""
    positions, place = set(), {name: j for j, name in enumerate(names)}
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


def sorted_values(values: set[str]) -> tuple[str, ...]:
    """Sort numbers by size, then strings; the order of the rows does not matter."""

    def key(text: str) -> tuple[int, float, str]:
        try:
            number = float(text)
        except ValueError:
            return 1, 0.0, text
        return (0, number, text) if math.isfinite(number) else (1, 0.0, text)

    return tuple(sorted(values, key=key))

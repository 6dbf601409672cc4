"""What the columns of the training data were, and how cases become the core"s table."""

from __future__ import annotations

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

__all__ = ["Schema"]


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

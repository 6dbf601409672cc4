"""Columns from rows of text cells, as CSV files and Excel sheets have them: which are numbers, dates or categories.

Cells are converted to numbers chunk by chunk, so a large table is never held as strings.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from worthwhile.costs.error_costs import show
from worthwhile.table.columns import Column, Factor
from worthwhile.table.dates import DateFormatError, parse_dates

__all__ = ["MISSING", "TextColumns", "TextRows", "parse_number", "read_text_columns"]

# Ways to write a missing value. "None" and "none" are not among them, since they are also used as values.
MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
_WHOLE_FLOAT = {".": re.compile(r"-?(0|[1-9]\d*)\.0*"), ",": re.compile(r"-?(0|[1-9]\d*),0*")}
# 5,5 and 1.234,5; and the same with comma and point exchanged.
_COMMA_NUMBER = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][-+]?\d+)?")
_GROUPED_BY_COMMA = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
_SEPARATOR = "\x1f"
LONGEST = 60  # characters of a cell that a message repeats as a whole


class TextRows(Protocol):
    """Where rows of text cells come from."""

    path: Path

    @property
    def names(self) -> list[str]: ...

    @property
    def delimiter(self) -> str: ...

    def chunks(self) -> Iterator[Sequence[Sequence[str]]]:
        """Yield the rows below the header, in chunks; each has as many cells as there are names."""
        ...

    def location(self, row: int) -> str:
        """Return where a case is; the first one is row 0."""
        ...


@dataclass(frozen=True, eq=False)
class TextColumns:
    """What was found: the columns, and how their cells are written."""

    columns: dict[str, Column]
    n_cases: int
    decimal: str  # of the numbers: "." or ","
    dates: frozenset[str]  # columns that contain dates, as days


class _BadCellError(Exception):
    """A string in a numeric column."""

    def __init__(self, column: str, row: int, text: str, declared: bool) -> None:
        super().__init__(column)
        self.column, self.row, self.text, self.declared = column, row, text, declared


def read_text_columns(
    source: TextRows,
    wanted: Collection[str],
    numeric: Collection[str] = (),
    nominal: Collection[str] = (),
    missing: Collection[str] = (),
    decimal: str | None = None,
    dates: str | None = None,
) -> TextColumns:
    """Return the wanted columns.

    Parameters
    ----------
    source : TextRows
    wanted : collection of str
        Names of columns that the source has.
    numeric, nominal : collections of str
        Columns known to be numeric, or nominal. Any other column is numeric if more than half of its cells are
        numbers, or all of them are dates.
    missing : collection of str
        Strings that mean a missing value, in addition to `MISSING`.
    decimal : {".", ","}, optional
        What numbers have before their decimals. None: find out.
    dates : {"dmy", "mdy"}, optional
        Which comes first in 03/04/2024: the day or the month. None: find out.

    Raises
    ------
    ValueError
        If a cell or row is invalid, with file, line and column.
    """
    wanted, absent = set(wanted), MISSING | set(missing)
    kinds = dict.fromkeys(numeric, "numeric") | dict.fromkeys(nominal, "nominal")
    bad: dict[str, _BadCellError] = {}
    while True:
        builders = {
            name: _ColumnBuilder(name, kinds.get(name, "guess"), absent) for name in source.names if name in wanted
        }
        n_cases, sniffed = _fill(source, builders, decimal)
        columns: dict[str, Column] = {}
        again = []
        for name, builder in builders.items():
            try:
                columns[name] = builder.finish()
            except _BadCellError as wrong:  # perhaps all of its strings are dates, or numbers with a comma
                again.append(name)
                if not wrong.declared and builder.mostly_strings:
                    continue
                bad[name] = wrong
        if not again:
            break
        kinds |= dict.fromkeys(again, "text")
    found, with_commas, with_dates = dict(columns), sniffed == ",", set()
    for name, column in columns.items():
        if not isinstance(column, Factor) or kinds.get(name) == "nominal" or not column.categories:
            continue
        numbers, comma = _numbers_of(source, name, column.categories, decimal or sniffed)
        with_commas = with_commas or comma
        if numbers is None:
            numbers = _days_of(source, name, column.categories, dates)
            if numbers is not None:
                with_dates.add(name)
        if numbers is not None:
            found[name] = np.array([*numbers, math.nan])[column.codes]
        elif name in bad:
            raise ValueError(_bad_cell_message(source, bad[name], decimal or sniffed)) from None
    return TextColumns(found, n_cases, "," if with_commas else ".", frozenset(with_dates))


def _fill(source: TextRows, builders: Mapping[str, _ColumnBuilder], decimal: str | None) -> tuple[int, str | None]:
    """Pass each builder its cells; return the number of cases, and the decimal mark if the first chunk shows it."""
    n_cases, names = 0, source.names
    for rows in source.chunks():
        columns = [
            (builders[name], cells)
            for name, cells in zip(names, zip(*rows, strict=True), strict=True)
            if name in builders
        ]
        if n_cases == 0:
            if decimal is None and any(builder.shows_commas(cells, source.delimiter) for builder, cells in columns):
                decimal = ","
            for builder, _ in columns:
                builder.decimal = decimal or "."
        for builder, cells in columns:
            builder.add(cells)
        n_cases += len(rows)
    if not n_cases:
        raise ValueError(f"{source.path}: has {len(names)} columns, but no cases")
    return n_cases, decimal


def _numbers_of(
    source: TextRows, name: str, texts: Sequence[str], decimal: str | None
) -> tuple[list[float] | None, bool]:
    """Return texts as numbers that are not written as Python writes them, and whether they have decimal commas."""
    if decimal == "," and (points := _all_numbers(texts, ".")) is not None:
        return points, False  # such as 1.5, which cannot be a number with a decimal comma
    if not any("," in text for text in texts):
        return None, False
    if decimal == ".":
        if all(_GROUPED_BY_COMMA.fullmatch(text) or parse_number(text) is not None for text in texts):
            return _all_numbers([text.replace(",", "") for text in texts], "."), False
        if all(map(_COMMA_NUMBER.fullmatch, texts)):
            example = next(text for text in texts if "," in text)
            raise ValueError(
                f"{source.path}: column {show(name)} contains {example!r}, but numbers have a decimal point here;"
                f" use --decimal , or --nominal {name}"
            )
        return None, False
    numbers = _all_numbers(texts, ",")
    if numbers is None and (odd := _mixed_marks(texts)) is not None:
        comma, point = odd
        raise ValueError(
            f"{source.path}: column {show(name)} contains {comma!r} and {point!r}; use the same decimal mark"
            f" everywhere, or --nominal {name} if these are no numbers"
        )
    if numbers is not None and decimal is None and source.delimiter == "," and _are_grouped(texts):
        example = next(text for text in texts if "," in text)
        raise ValueError(
            f"{source.path}: column {show(name)} contains {example!r}: use --decimal , if the comma comes before the"
            " decimals, --decimal . if it separates thousands"
        )
    return numbers, numbers is not None


def _mixed_marks(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return a number with a comma and one with a point if all texts are numbers of these two kinds."""
    points = [text for text in texts if parse_number(text, ",") is None]
    commas = [text for text in texts if parse_number(text) is None]
    if all(parse_number(text) is not None for text in points) and all(
        parse_number(text, ",") is not None for text in commas
    ):
        return commas[0], points[0]
    return None


def _are_grouped(texts: Collection[str]) -> bool:
    """Return whether all commas may separate thousands."""
    return all(_GROUPED_BY_COMMA.fullmatch(text) for text in texts if "," in text)


def _all_numbers(texts: Sequence[str], decimal: str) -> list[float] | None:
    found: list[float] = []
    for text in texts:
        number = parse_number(text, decimal)
        if number is None:
            return None
        found.append(number)
    return found


def _days_of(source: TextRows, name: str, texts: Sequence[str], dates: str | None) -> list[float] | None:
    try:
        return parse_dates(texts, dates)
    except DateFormatError as error:
        found, option = f"column {show(name)} contains {error.example!r}", shlex.quote(name)
        raise ValueError(
            f"{source.path}: {found}; {error.advice}; or use --drop {option}, or --nominal {option} if it is no date"
        ) from None


def _bad_cell_message(source: TextRows, wrong: _BadCellError, decimal: str | None) -> str:
    found = f"{source.location(wrong.row)}: column {show(wrong.column)} is numeric, but contains {show(wrong.text)}"
    if decimal == "," and parse_number(wrong.text) is not None:
        found += " (numbers have decimal commas here; --decimal . if not)"
    if wrong.declared:
        return found
    nominal = f"use --nominal {shlex.quote(wrong.column)} if the column is nominal"
    text = repr(wrong.text) if len(wrong.text) <= LONGEST else "with this text"
    choice = f"{nominal}, --missing {text} if the value is missing"
    return f"{found}; {choice}"


class _ColumnBuilder:
    """Collects the cells of one column.

    The kinds: "numeric", "nominal", "text" (strings that may turn out to be numbers or dates) and "guess".
    """

    def __init__(self, name: str, kind: str, missing: frozenset[str]) -> None:
        self.name, self.kind, self.missing = name, kind, missing
        self.decimal = "."
        self.parts: list[npt.NDArray[np.generic]] = []
        self.codes: dict[str, int] | None = {} if kind in ("nominal", "text") else None
        self.n_rows = self.n_numbers = self.n_strings = 0
        self.first_string: tuple[int, str] | None = None

    def shows_commas(self, cells: Sequence[str], delimiter: str) -> bool:
        """Return whether most of these cells are numbers with decimal commas."""
        if self.kind == "nominal" or "," not in "".join(cells):
            return False
        texts = {text.strip() for text in cells} - self.missing
        numbers = list(filter(_COMMA_NUMBER.fullmatch, texts))
        if not any("," in text for text in numbers) or 2 * len(numbers) <= len(texts):
            return False
        return delimiter != "," or not _are_grouped(numbers)

    def add(self, cells: Sequence[str]) -> None:
        """Add the next cells."""
        if self.codes is None:
            part = self._numbers(cells)
            if part is not None:
                self.parts.append(part)
        if self.codes is not None:
            new = set(cells) - self.codes.keys()
            self.codes |= {text: len(self.codes) + i for i, text in enumerate(sorted(new))}
            self.parts.append(np.fromiter(map(self.codes.__getitem__, cells), np.int32, len(cells)))
        self.n_rows += len(cells)

    def _numbers(self, cells: Sequence[str]) -> npt.NDArray[np.float64] | None:
        """Return the cells as numbers, or None if the column turns out to be nominal."""
        part = self._plain_numbers(cells)
        if part is not None:
            self.n_numbers += len(cells)
            return part
        values = {
            text: math.nan if text.strip() in self.missing else parse_number(text.strip(), self.decimal)
            for text in set(cells)
        }
        strings = {text for text, value in values.items() if value is None}
        if strings:
            n_strings = sum(text in strings for text in cells)
            known = sum(text.strip() not in self.missing for text in cells)
            if self.kind == "guess" and not self.parts and 2 * n_strings >= known:
                self.codes = {}
                return None
            self.n_strings += n_strings
            if self.first_string is None:
                row = next(i for i, text in enumerate(cells) if text in strings)
                self.first_string = self.n_rows + row, cells[row].strip()
        numbers = {text: math.nan if value is None else value for text, value in values.items()}
        part = np.fromiter(map(numbers.__getitem__, cells), np.float64, len(cells))
        self.n_numbers += int((~np.isnan(part)).sum())
        return part

    def _plain_numbers(self, cells: Sequence[str]) -> npt.NDArray[np.float64] | None:
        """Return the cells as numbers if all of them are, which is quicker than checking each."""
        whole = _SEPARATOR.join(cells)
        if "_" in whole:  # Python reads 1_5 as 15
            return None
        if self.decimal == ",":
            if "." in whole:
                return None
            if "," in whole:
                cells = whole.replace(",", ".").split(_SEPARATOR)
        try:
            part = np.array(cells, dtype=np.float64)
        except ValueError:
            return None
        return part if np.isfinite(part).all() else None

    @property
    def mostly_strings(self) -> bool:
        """Whether a column that started with numbers is nominal."""
        return self.kind == "guess" and self.n_strings >= self.n_numbers

    def finish(self) -> Column:
        """Return the column."""
        whole = np.concatenate(self.parts) if self.parts else np.zeros(0)
        if self.codes is not None:
            categories = [_category_text(text.strip(), self.decimal) for text in self.codes]
            place = {text: i for i, text in enumerate(sorted(set(categories) - self.missing))}
            code = np.array([*(place.get(text, -1) for text in categories), -1], dtype=np.int32)
            return Factor(list(place), code[whole.astype(np.int32)])
        if self.first_string is not None:
            raise _BadCellError(self.name, *self.first_string, declared=self.kind == "numeric")
        return whole.astype(np.float64, copy=False)


def _category_text(text: str, decimal: str) -> str:
    """Return a category as `value_text` would: the code 3.0 is "3"."""
    if not _WHOLE_FLOAT[decimal].fullmatch(text):
        return text
    return text.partition(decimal)[0].replace("-0", "0")


def parse_number(text: str, decimal: str = ".") -> float | None:
    """Return the finite number that the text represents, or None.

    Examples
    --------
    >>> parse_number("2.5"), parse_number("2,5", ","), parse_number("1.234,5", ","), parse_number("2,5")
    (2.5, 2.5, 1234.5, None)
    """
    if decimal == ",":
        if not _COMMA_NUMBER.fullmatch(text):
            return None
        text = text.replace(".", "").replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None

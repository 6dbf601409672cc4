"""Reads a table from a sheet of an Excel file, as rows of text cells."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from worthwhile.excel import cell_text, read_rows
from worthwhile.table.csv_reader import check_header, is_blank, rows_per_chunk, title_error

__all__ = ["ExcelFile"]

TITLE_ROWS = 2  # if so many rows below a single cell have more, it is a title


class ExcelFile:
    """A sheet of an Excel file; its first row that is not empty has the column names.

    Parameters
    ----------
    path : Path
    sheet : str, optional
        None: the first sheet.
    tell : function, optional
        Called now and then with the number of rows read and the number of all rows, if it is known.
    """

    delimiter = ""

    def __init__(
        self, path: Path, sheet: str | None = None, tell: Callable[[int, int | None], None] | None = None
    ) -> None:
        self.path, self.sheet, self._tell = path, sheet, tell

    @functools.cached_property
    def names(self) -> list[str]:
        """The checked column names."""
        filled = ((number, row) for number, row in self._rows() if not is_blank(row))
        first = next(filled, None)
        if first is None:
            raise ValueError(f"{self.path}: the sheet is empty; its first row must contain the column names")
        where, row = f"{self.path}, row {first[0]}", _trimmed(first[1])
        if len(row) == 1:
            below = [len(_trimmed(other)) for _, other in itertools.islice(filled, TITLE_ROWS)]
            if len(below) == TITLE_ROWS and min(below) > 1:
                raise title_error(where, row[0], max(below))
        return check_header(row, where)

    def _values(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        return enumerate(read_rows(self.path, self.sheet, self._tell), 1)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        for number, row in self._values():
            yield number, [cell_text(value) for value in row]

    def cases(self) -> Iterator[tuple[int, list[Any]]]:
        """Yield the row number and the values of each case."""
        width, header_seen = len(self.names), False
        for number, values in self._values():
            row = [None if isinstance(value, str) and not value.strip() else value for value in values]
            if all(value is None for value in row):
                continue
            if not header_seen:
                header_seen = True
                continue
            if any(value is not None for value in row[width:]):
                place = next(j for j in range(width, len(row)) if row[j] is not None)
                raise ValueError(
                    f"{self.path}, row {number}: has a value in column {place + 1}, but there are {width} column names"
                )
            yield number, [*row[:width], *[None] * (width - len(row))]

    def chunks(self) -> Iterator[list[list[str]]]:
        """Yield the rows below the header in chunks, without empty rows."""
        chunk: list[list[str]] = []
        most = rows_per_chunk(len(self.names))
        for _, row in self.cases():
            chunk.append([cell_text(value) for value in row])
            if len(chunk) == most:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def location(self, row: int) -> str:
        """Return file and row of a case, as Excel numbers rows; the first case is row 0."""
        return f"{self.path}, row {next(number for case, (number, _) in enumerate(self.cases()) if case == row)}"


def _trimmed(row: list[str]) -> list[str]:
    """Return a row that is not blank without the empty cells at its end, which have a format only."""
    return row[: max(j for j, cell in enumerate(row) if cell.strip()) + 1]

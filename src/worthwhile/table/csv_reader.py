"""Reads CSV tables: infers which columns are numeric, and reports mistakes with their line.

Cells are converted to numbers chunk by chunk, so a large table is never held as strings. Line numbers are not kept: to
report a mistake, the file is read again.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import math
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
import numpy.typing as npt

from worthwhile.costs.error_costs import listing, show
from worthwhile.table.columns import Column, Factor

__all__ = ["MISSING", "line_number", "open_text", "read_csv", "read_header", "row_chunks"]

# Ways to write a missing value. "None" and "none" are not among them, since they are also used as values.
MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
DELIMITERS = (",", ";", "\t", "|")
MAX_LINE = 2**24  # characters, enough for a million columns
CHUNK_CELLS = 2**20  # of a chunk of rows, unless one row has more
CHUNK_ROWS = 4096  # 300,000 × 10 take 1.0 s in chunks of this size and 1.3 s in chunks of 20,000
_WHOLE_FLOAT = re.compile(r"-?(0|[1-9]\d*)\.0*")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?")


class _BadCellError(Exception):
    """A string in a numeric column."""

    def __init__(self, column: str, row: int, text: str, declared: bool) -> None:
        super().__init__(column)
        self.column, self.row, self.text, self.declared = column, row, text, declared


class _BadRowError(Exception):
    """A row with too many or too few cells."""

    def __init__(self, row: int, width: int) -> None:
        super().__init__(row)
        self.row, self.width = row, width


class _BoundedText(io.TextIOWrapper):
    """A text file whose lines are not read without limit: a small gzip file may hold one line of gigabytes."""

    def __init__(self, path: Path, file: Any) -> None:
        super().__init__(file, encoding="utf-8-sig", newline="")
        self._path, self._line = path, 0

    def __next__(self) -> str:  # type: ignore[override]
        line = self.readline(MAX_LINE)
        if not line:
            raise StopIteration
        self._line += 1
        if len(line) == MAX_LINE and line[-1] not in "\r\n":
            raise ValueError(f"{self._path}, line {self._line}: has more than {MAX_LINE:,} characters")
        return line


def open_text(path: Path) -> IO[str]:
    """Open a CSV file, compressed or not; a byte order mark is skipped."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if not path.is_file():
        raise ValueError(f"{path}: is not a file")
    try:
        return _BoundedText(path, gzip.GzipFile(path) if path.suffix.lower() == ".gz" else path.open("rb"))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None


def read_header(path: Path) -> tuple[list[str], str]:
    """Return the checked column names and the delimiter."""
    try:
        delimiter = max(DELIMITERS, key=lambda d: _width(path, d))
        header = next((found for found in _rows(path, delimiter) if not _is_blank(found[1])), None)
    except UnicodeDecodeError:
        _raise_undecodable(path)
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{path}: is not a complete gzip file: {error}") from None
    if header is None:
        raise ValueError(f"{path}: the file is empty; its first line must contain the column names")
    where, names = f"{path}, line {header[0]}", [cell.strip() for cell in header[1]]
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not name:
            raise ValueError(f"{where}: column {position + 1} of {len(names)} has no name")
        if name in seen:
            raise ValueError(f"{where}: two columns are named {show(name)}; every column needs a unique name")
        seen.add(name)
    if all(_number(name) is not None for name in names):
        raise ValueError(
            f"{where}: contains numbers ({listing(names, 3)}); the first line must contain the column names"
        )
    return names, delimiter


def _width(path: Path, delimiter: str) -> int:
    """Return the number of cells of the header with this delimiter; cells may contain line breaks."""
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=delimiter)
        try:
            return next((len(row) for row in reader if not _is_blank(row)), 0)
        except csv.Error:  # with the wrong delimiter a wide header is one cell, which may be too long
            return 1


def read_csv(
    path: Path,
    wanted: Collection[str],
    numeric: Collection[str] = (),
    nominal: Collection[str] = (),
    missing: Collection[str] = (),
) -> tuple[dict[str, Column], int]:
    """Return the wanted columns and the number of cases.

    Parameters
    ----------
    path : Path
    wanted : collection of str
        Names of columns that the file has.
    numeric, nominal : collections of str
        Columns known to be numeric, or nominal. Any other column is numeric if more than half of its cells are
        numbers.
    missing : collection of str
        Strings that mean a missing value, in addition to `MISSING`.

    Raises
    ------
    ValueError
        If a cell or row is invalid, with file, line and column.
    """
    names, delimiter = read_header(path)
    wanted = set(wanted)
    absent = MISSING | set(missing)
    kinds = dict.fromkeys(numeric, "numeric") | dict.fromkeys(nominal, "nominal")
    while True:
        builders = {name: _ColumnBuilder(name, kinds.get(name, "guess"), absent) for name in names if name in wanted}
        try:
            n_cases = _fill(path, delimiter, names, builders)
            columns = {name: builder.finish() for name, builder in builders.items()}
        except _BadRowError as wrong:
            line, row = _find(path, delimiter, wrong.row)
            held = f"has {len(row)} cell{'s' * (len(row) != 1)}"
            raise ValueError(f"{path}, line {line}: {held}, but the first line has {wrong.width} columns") from None
        except _BadCellError as wrong:
            raise ValueError(f"{path}, line {line_number(path, wrong.row)}: {_bad_cell_message(wrong)}") from None
        rest = [name for name, column in columns.items() if column is None]
        if not rest:
            found = {name: column for name, column in columns.items() if column is not None}
            _refuse_decimal_commas(path, found, kinds)
            return found, n_cases
        kinds |= dict.fromkeys(rest, "nominal")  # the column started with numbers but is nominal: read again


def line_number(path: Path, row: int) -> int:
    """Return the line number of a case; the first case is row 0."""
    return _find(path, read_header(path)[1], row)[0]


def _fill(path: Path, delimiter: str, names: list[str], builders: Mapping[str, _ColumnBuilder]) -> int:
    """Read the file once and pass each builder its cells; return the number of cases."""
    n_cases = 0
    try:
        with open_text(path) as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for rows in row_chunks(reader, len(names)):
                for name, cells in zip(names, zip(*rows, strict=True), strict=True):
                    if name in builders:
                        builders[name].add(cells)
                n_cases += len(rows)
    except UnicodeDecodeError:
        _raise_undecodable(path)
    except csv.Error:
        for _ in _rows(path, delimiter):  # raises with the line number
            pass
        raise
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: cannot be read to the end: {error}") from None
    if not n_cases:
        raise ValueError(f"{path}: has {len(names)} columns, but no cases")
    return n_cases


def row_chunks(reader: Iterator[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Yield the rows below the header in chunks, without blank lines."""
    while not any(cell.strip() for cell in next(reader)):
        pass  # blank lines above the header
    done, most, rows = 0, min(CHUNK_ROWS, max(CHUNK_CELLS // width, 1)), []
    for row in reader:
        if len(row) == width:
            rows.append(row)
        elif not _is_blank(row):
            raise _BadRowError(done + len(rows), width)
        if len(rows) == most:
            yield rows
            done, rows = done + most, []
    if rows:
        yield rows


def _is_blank(row: Sequence[str]) -> bool:
    return not any(cell.strip() for cell in row)


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line number and the cells of each row."""
    with open_text(path) as file:
        reader, start = csv.reader(file, delimiter=delimiter, strict=True), 1
        while True:
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise ValueError(f"{path}, line {start}: invalid CSV: {error}") from None
            if row is None:
                return
            yield start, row
            start = reader.line_num + 1


def _find(path: Path, delimiter: str, row: int) -> tuple[int, list[str]]:
    """Return the line number and the cells of a case."""
    lines = _rows(path, delimiter)
    header = next(cells for _, cells in lines if not _is_blank(cells))
    cases = (found for found in lines if len(found[1]) == len(header) or not _is_blank(found[1]))
    return next(itertools.islice(cases, row, None))


def _raise_undecodable(path: Path) -> NoReturn:
    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(4 * MAX_LINE), b""), 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                where, byte = f"{path}, line {number}", line[error.start]
                raise ValueError(f"{where}: is not UTF-8 text (byte 0x{byte:02x}); save the file as UTF-8") from None
    raise ValueError(f"{path}: is not UTF-8 text; save the file as UTF-8")


def _bad_cell_message(wrong: _BadCellError) -> str:
    found = f"column {show(wrong.column)} is numeric, but contains {show(wrong.text)}"
    if wrong.declared:
        return found
    choice = f"use --nominal {wrong.column} if the column is nominal, --missing {wrong.text!r} if the value is missing"
    return f"{found}; {choice}"


def _refuse_decimal_commas(path: Path, columns: Mapping[str, Column], kinds: Mapping[str, str]) -> None:
    for name, column in columns.items():
        if not isinstance(column, Factor) or kinds.get(name) == "nominal" or not column.categories:
            continue
        if all(map(_DECIMAL_COMMA.fullmatch, column.categories)):
            example = next((text for text in column.categories if "," in text), None)
            if example is None:  # whole numbers too large for a float
                continue
            hint = f"write {example.replace(',', '.')!r}, or declare the column as nominal"
            raise ValueError(f"{path}: column {show(name)} contains {example!r}: numbers need a decimal point; {hint}")


class _ColumnBuilder:
    """Collects the cells of one column."""

    def __init__(self, name: str, kind: str, missing: frozenset[str]) -> None:
        self.name, self.kind, self.missing = name, kind, missing
        self.parts: list[npt.NDArray[np.generic]] = []
        self.codes: dict[str, int] | None = {} if kind == "nominal" else None
        self.n_rows = self.n_numbers = self.n_strings = 0
        self.first_string: tuple[int, str] | None = None

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
        try:
            part = np.array(cells, dtype=np.float64)
            if np.isfinite(part).all() and "_" not in "".join(cells):  # Python reads 1_5 as 15
                self.n_numbers += len(cells)
                return part
        except ValueError:
            pass  # not all are numbers: check each distinct cell
        values = {text: math.nan if text.strip() in self.missing else _number(text) for text in set(cells)}
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

    def finish(self) -> Column | None:
        """Return the column, or None if it must be read again as nominal."""
        whole = np.concatenate(self.parts) if self.parts else np.zeros(0)
        if self.codes is not None:
            categories = [_category_text(text.strip()) for text in self.codes]
            place = {text: i for i, text in enumerate(sorted(set(categories) - self.missing))}
            code = np.array([*(place.get(text, -1) for text in categories), -1], dtype=np.int32)
            return Factor(list(place), code[whole.astype(np.int32)])
        if self.first_string is not None:
            if self.kind == "guess" and self.n_strings >= self.n_numbers:
                return None
            raise _BadCellError(self.name, *self.first_string, declared=self.kind == "numeric")
        return whole.astype(np.float64, copy=False)


def _category_text(text: str) -> str:
    """Return a category as `value_text` would: the code 3.0 is "3"."""
    if not _WHOLE_FLOAT.fullmatch(text):
        return text
    return text.partition(".")[0].replace("-0", "0")


def _number(text: str) -> float | None:
    """Return the finite number that the text represents, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None

"""Reading CSV tables by the standard library: what is wrong is told with its line, and columns are guessed.

Cells become numbers piece by piece as they come, so that a large table is never held as texts. A line is only looked
for when there is something to say about it: the file is then read once more.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import math
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

import numpy as np
import numpy.typing as npt

from worthwhile.costs.error_costs import listing, show
from worthwhile.table.columns import Column, Factor

__all__ = ["MISSING", "line_of", "open_text", "pieces", "read_csv", "read_header"]

# What people write for a value that is not there. "None" and "none" are not among them: they are values, too.
MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
DELIMITERS = (",", ";", "\t", "|")
PIECE = 4096  # rows; 300,000 × 10 take 1.0 s in pieces of this size and 1.3 s in pieces of 20,000
_WHOLE_FLOAT = re.compile(r"-?(0|[1-9]\d*)\.0*")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?")


class _WrongCellError(Exception):
    """A text in a column of numbers."""

    def __init__(self, column: str, row: int, text: str, declared: bool) -> None:
        super().__init__(column)
        self.column, self.row, self.text, self.declared = column, row, text, declared


class _WrongRowError(Exception):
    """A row that is too long or too short."""

    def __init__(self, row: int, width: int) -> None:
        super().__init__(row)
        self.row, self.width = row, width


def open_text(path: Path) -> IO[str]:
    """Open a CSV file, compressed or not; a byte order mark is skipped."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise ValueError(f"{path}: is not a file")
    try:
        if path.suffix.lower() == ".gz":
            return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
        return path.open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None


def read_header(path: Path) -> tuple[list[str], str]:
    """Return the names of the columns, checked, and the sign that separates them."""
    try:
        delimiter = max(DELIMITERS, key=lambda d: _width(path, d))
        header = next((found for found in _rows(path, delimiter) if not _is_blank(found[1])), None)
    except UnicodeDecodeError:
        _tell_undecodable(path)
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{path}: is not a whole gzip file: {error}") from None
    if header is None:
        raise ValueError(f"{path}: the file is empty; its first line must name the columns")
    where, names = f"{path}, line {header[0]}", [cell.strip() for cell in header[1]]
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not name:
            raise ValueError(f"{where}: column {position + 1} of {len(names)} has no name")
        if name in seen:
            raise ValueError(f"{where}: two columns are named {show(name)}; every column needs its own name")
        seen.add(name)
    if all(_number(name) is not None for name in names):
        raise ValueError(f"{where}: holds numbers ({listing(names, 3)}); the first line must name the columns")
    return names, delimiter


def _width(path: Path, delimiter: str) -> int:
    """Return into how many cells a sign cuts the header, which may have line breaks within quotes."""
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=delimiter)
        try:
            return next((len(row) for row in reader if not _is_blank(row)), 0)
        except csv.Error:  # longer than a cell may be: with the wrong sign, a wide header is one cell
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
        Which columns are known to be numbers, or texts. Others are guessed: numbers, if more than half of the cells are
        numbers.
    missing : collection of str
        Texts that mean "not there", besides `MISSING`.

    Raises
    ------
    ValueError
        Naming the file, the line and the column.
    """
    names, delimiter = read_header(path)
    absent = MISSING | set(missing)
    kinds = dict.fromkeys(numeric, "numeric") | dict.fromkeys(nominal, "nominal")
    while True:
        builders = {name: _Builder(name, kinds.get(name, "guess"), absent) for name in names if name in wanted}
        try:
            n_cases = _fill(path, delimiter, names, builders)
            columns = {name: builder.finish() for name, builder in builders.items()}
        except _WrongRowError as wrong:
            line, row = _find(path, delimiter, wrong.row)
            held = f"has {len(row)} cell{'s' * (len(row) != 1)}"
            raise ValueError(f"{path}, line {line}: {held}, but the first line names {wrong.width} columns") from None
        except _WrongCellError as wrong:
            raise ValueError(f"{path}, line {line_of(path, wrong.row)}: {_wrong_text(wrong)}") from None
        rest = [name for name, column in columns.items() if column is None]
        if not rest:
            found = {name: column for name, column in columns.items() if column is not None}
            _refuse_decimal_commas(path, found, kinds)
            return found, n_cases
        kinds |= dict.fromkeys(rest, "nominal")  # began like numbers, is not: once more, as texts


def line_of(path: Path, row: int) -> int:
    """Return the line in which a case stands; the first case is row 0."""
    return _find(path, read_header(path)[1], row)[0]


def _fill(path: Path, delimiter: str, names: list[str], builders: Mapping[str, _Builder]) -> int:
    """Read the file once and give every builder its cells; return the number of cases."""
    n_cases = 0
    try:
        with open_text(path) as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for rows in pieces(reader, len(names)):
                for name, cells in zip(names, zip(*rows, strict=True), strict=True):
                    if name in builders:
                        builders[name].add(cells)
                n_cases += len(rows)
    except UnicodeDecodeError:
        _tell_undecodable(path)
    except csv.Error:
        for _ in _rows(path, delimiter):  # raises where it is broken
            pass
        raise
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: cannot be read to its end: {error}") from None
    if not n_cases:
        raise ValueError(f"{path}: names {len(names)} columns, but there is no case below them")
    return n_cases


def pieces(reader: Iterator[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Yield the rows below the header, some at a time, blank lines left out."""
    while not any(cell.strip() for cell in next(reader)):
        pass  # blank lines above the header
    done = 0
    while rows := list(itertools.islice(reader, PIECE)):
        if set(map(len, rows)) != {width}:
            rows = [row for row in rows if len(row) == width or not _is_blank(row)]
            for position, row in enumerate(rows):
                if len(row) != width:
                    raise _WrongRowError(done + position, width)
        done += len(rows)
        if rows:
            yield rows


def _is_blank(row: Sequence[str]) -> bool:
    return not any(cell.strip() for cell in row)


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line in which each row begins, and its cells."""
    with open_text(path) as file:
        reader, start = csv.reader(file, delimiter=delimiter, strict=True), 1
        while True:
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise ValueError(f"{path}, line {start}: broken CSV: {error}") from None
            if row is None:
                return
            yield start, row
            start = reader.line_num + 1


def _find(path: Path, delimiter: str, row: int) -> tuple[int, list[str]]:
    """Return the line and the cells of a case."""
    lines = _rows(path, delimiter)
    header = next(cells for _, cells in lines if not _is_blank(cells))
    cases = (found for found in lines if len(found[1]) == len(header) or not _is_blank(found[1]))
    return next(itertools.islice(cases, row, None))


def _tell_undecodable(path: Path) -> NoReturn:
    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                where, byte = f"{path}, line {number}", line[error.start]
                raise ValueError(f"{where}: is not UTF-8 text (byte 0x{byte:02x}); save the file as UTF-8") from None
    raise ValueError(f"{path}: is not UTF-8 text; save the file as UTF-8")


def _wrong_text(wrong: _WrongCellError) -> str:
    if wrong.declared:
        return f"column {show(wrong.column)} is one of numbers, but holds {show(wrong.text)}"
    choice = f"--nominal {wrong.column} if its values are categories, --missing {wrong.text!r} if the value is missing"
    return f"column {show(wrong.column)} holds numbers, but {show(wrong.text)} here; {choice}"


def _refuse_decimal_commas(path: Path, columns: Mapping[str, Column], kinds: Mapping[str, str]) -> None:
    for name, column in columns.items():
        if not isinstance(column, Factor) or kinds.get(name) == "nominal" or not column.texts:
            continue
        if all(map(_DECIMAL_COMMA.fullmatch, column.texts)):
            example = next((text for text in column.texts if "," in text), None)
            if example is None:  # whole numbers that are too large for numbers
                continue
            ask = f"write {example.replace(',', '.')!r}, or declare the column as nominal"
            raise ValueError(f"{path}: column {show(name)} holds {example!r}: numbers need a decimal point; {ask}")


class _Builder:
    """One column in the making."""

    def __init__(self, name: str, kind: str, missing: frozenset[str]) -> None:
        self.name, self.kind, self.missing = name, kind, missing
        self.parts: list[npt.NDArray[np.generic]] = []
        self.codes: dict[str, int] | None = {} if kind == "nominal" else None
        self.n_rows = self.n_numbers = self.n_texts = 0
        self.first_text: tuple[int, str] | None = None

    def add(self, cells: Sequence[str]) -> None:
        """Take the next cells."""
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
        """Return the cells as numbers; None where it turns out that this is a column of texts."""
        try:
            part = np.array(cells, dtype=np.float64)
            if np.isfinite(part).all() and "_" not in "".join(cells):  # Python reads 1_5 as 15
                self.n_numbers += len(cells)
                return part
        except ValueError:
            pass  # a text among them: now each different one is looked at
        values = {text: math.nan if text.strip() in self.missing else _number(text) for text in set(cells)}
        texts = {text for text, value in values.items() if value is None}
        if texts:
            n_texts = sum(text in texts for text in cells)
            known = sum(text.strip() not in self.missing for text in cells)
            if self.kind == "guess" and not self.parts and 2 * n_texts >= known:
                self.codes = {}
                return None
            self.n_texts += n_texts
            if self.first_text is None:
                row = next(i for i, text in enumerate(cells) if text in texts)
                self.first_text = self.n_rows + row, cells[row].strip()
        numbers = {text: math.nan if value is None else value for text, value in values.items()}
        part = np.fromiter(map(numbers.__getitem__, cells), np.float64, len(cells))
        self.n_numbers += int((~np.isnan(part)).sum())
        return part

    def finish(self) -> Column | None:
        """Return the column; None if it must be read again, as texts."""
        whole = np.concatenate(self.parts) if self.parts else np.zeros(0)
        if self.codes is not None:
            texts = [_plain(text.strip()) for text in self.codes]
            place = {text: i for i, text in enumerate(sorted(set(texts) - self.missing))}
            code = np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.int32)
            return Factor(list(place), code[whole.astype(np.int32)])
        if self.first_text is not None:
            if self.kind == "guess" and self.n_texts >= self.n_numbers:
                return None
            raise _WrongCellError(self.name, *self.first_text, declared=self.kind == "numeric")
        return whole.astype(np.float64, copy=False)


def _plain(text: str) -> str:
    """Return a category as a table of numbers has it: the code 3.0 is 3, as in `value_text`."""
    if not _WHOLE_FLOAT.fullmatch(text):
        return text
    return text.partition(".")[0].replace("-0", "0")


def _number(text: str) -> float | None:
    """Return a finite number as people write it, otherwise None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None

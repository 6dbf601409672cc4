"""Data tables in files: reads CSV (also gzipped), Excel and Parquet, and writes them with added columns."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.error_costs import MAX_CLASSES, listing, show, suggest
from worthwhile.excel import EXCEL_SUFFIXES, cell_text, write_rows
from worthwhile.file_kinds import EMPTY, EXCEL, PARQUET, PRICES, TABLE, check_kind
from worthwhile.files import warn_of_formulas, write_file
from worthwhile.table.columns import Column, Columns, Factor
from worthwhile.table.csv_reader import CsvFile
from worthwhile.table.dates import DATE_ORDERS, datetimes
from worthwhile.table.excel_reader import ExcelFile
from worthwhile.table.identifiers import is_identifier
from worthwhile.table.text_columns import parse_number, read_text_columns

__all__ = [
    "MEASURED",
    "DataTable",
    "ReadOptions",
    "TableFile",
    "check_added",
    "check_target",
    "column_names",
    "extend_table",
    "read_table",
    "suffix_of",
]

CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")
SUFFIXES = (*CSV_SUFFIXES, *EXCEL_SUFFIXES, *PARQUET_SUFFIXES)
# What files of each format may look like; their readers say what is wrong with an empty one.
_KINDS = {"csv": (None, EMPTY), "excel": (None, EXCEL), "parquet": (None, PARQUET)}
DECIMALS = (".", ",")
FEW = 10  # distinct values of numeric columns that may be codes
MEASURED = (
    "worthwhile predicts classes, not numbers: add a column that cuts them into classes, such as low and high"
    ' (in a spreadsheet =IF(B2>50,"high","low"), in pandas pd.cut), and name that as the target'
)
_WHOLE_NUMBER = re.compile(r"[-+]?(0|[1-9]\d*)(\.0*)?")
_EXCEL_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})([.,]\d+)?([eE][-+]?\d+)?")  # not 007, and no code of 20 digits
_MAX_LENGTH = 20  # digits and sign of a 64-bit integer


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; None: find out.

    Attributes
    ----------
    missing : collection of str
        Strings that mean a missing value, in addition to `worthwhile.table.text_columns.MISSING`.
    encoding : str, optional
        Of a CSV file.
    decimal : {".", ","}, optional
        What numbers have before their decimals.
    dates : {"dmy", "mdy"}, optional
        Which comes first in 03/04/2024: the day or the month.
    sheet : str, optional
        The sheet of an Excel file; None: the first one.
    tell : function, optional
        Called now and then while a file is read, with how much was read and how much there is.
    """

    missing: Collection[str] = ()
    encoding: str | None = None
    decimal: str | None = None
    dates: str | None = None
    sheet: str | None = None
    tell: Callable[[int, int | None], None] | None = None

    def __post_init__(self) -> None:
        for name, value, valid in (("decimal", self.decimal, DECIMALS), ("dates", self.dates, DATE_ORDERS)):
            if value is not None and value not in valid:
                raise ValueError(f"--{name} {value}: choose {' or '.join(valid)}")


@dataclass(frozen=True, eq=False)
class DataTable:
    """The columns of a file: numeric ones as arrays (NaN: missing), nominal ones as factors; see `read_table`.

    Attributes
    ----------
    source : TableFile
    columns : mapping of str to column
    n_cases : int
    dates : set of str
        Columns that contain dates, as days since 1970-01-01.
    rows : array, optional
        The position of each case in the file, if some were left out.
    n_left_out : int
        How many cases were left out.
    """

    source: TableFile
    columns: Mapping[str, Column]
    n_cases: int
    dates: frozenset[str] = frozenset()
    rows: npt.NDArray[np.intp] | None = None
    n_left_out: int = 0

    @property
    def path(self) -> Path:
        """The file."""
        return self.source.path

    def nominal(self) -> list[str]:
        """Return the names of the nominal columns."""
        return [name for name, column in self.columns.items() if isinstance(column, Factor)]

    def possible_codes(self) -> list[str]:
        """Return the columns of integers with 3 to `FEW` distinct values: they may be codes of categories."""
        return [
            name
            for name, column in self.columns.items()
            if not isinstance(column, Factor)
            and 3 <= len(known := np.unique(column[~np.isnan(column)])) <= FEW
            and (known == np.rint(known)).all()
        ]

    def identifiers(self) -> list[str]:
        """Return the nominal columns with almost as many values as cases, which are not used unless declared."""
        return [name for name, column in self.columns.items() if isinstance(column, Factor) and is_identifier(column)]

    def with_classes(self, target: str) -> DataTable:
        """Return the cases that have a class."""
        column = self.columns[target]
        kept = np.flatnonzero(column.codes >= 0 if isinstance(column, Factor) else ~np.isnan(column))
        if len(kept) == self.n_cases:
            return self
        if not len(kept):
            raise ValueError(f"{self.path}: no case has a class in column {show(target)}")
        columns = {name: array[kept] for name, array in self.columns.items()}
        rows = kept if self.rows is None else self.rows[kept]
        left_out = self.n_left_out + self.n_cases - len(kept)
        return replace(self, columns=columns, n_cases=len(kept), rows=rows, n_left_out=left_out)

    def cases(self, names: Sequence[str]) -> Columns:
        """Return the named columns as models take them; a name that is not in the table gives missing values."""
        arrays = [self.columns.get(name) for name in names]
        known = [np.full(self.n_cases, np.nan) if array is None else array for array in arrays]
        return Columns(tuple(names), self.n_cases, known, dates=self.dates.intersection(names))

    def matrix(self, names: Sequence[str]) -> npt.NDArray[Any]:
        """Return `cases` as one array to learn from: floats, or objects if a column is nominal or has dates."""
        columns = self.cases(names).arrays
        mixed = any(isinstance(column, Factor) for column in columns) or not self.dates.isdisjoint(names)
        found = np.empty((self.n_cases, len(names)), dtype=object if mixed else np.float64)
        for j, column in enumerate(columns):
            if isinstance(column, Factor):
                found[:, j] = np.array([*column.categories, None], dtype=object)[column.codes]
            else:
                found[:, j] = datetimes(column) if names[j] in self.dates else column
        return found

    def classes(self, target: str, check: bool = True, most: int = MAX_CLASSES) -> npt.NDArray[Any]:
        """Return the class of every case: integers if all of them are, otherwise strings.

        Parameters
        ----------
        target : str
        check : bool
            Raise an error if the column is not suitable as a target: one class only, or one for every case.
        most : int
            The largest number of classes that is suitable; learners need a matrix of them.
        """
        column = self.columns[target]
        if not isinstance(column, Factor):
            column = Factor.of(*np.unique(column, return_inverse=True))
        codes, names = column.codes, column.categories
        missing = np.flatnonzero(codes < 0)
        if len(missing):
            more = f" ({len(missing)} of {self.n_cases} cases have none)" if len(missing) > 1 else ""
            lacks = f"has no class in column {show(target)}{more}; --drop-missing-target leaves such cases out"
            raise ValueError(f"{self.location(int(missing[0]))}: {lacks}")
        used = np.unique(codes)
        if check:
            self._check_classes(target, [names[code] for code in used], most)
        numbers = [_whole_number(text) for text in names]
        if all(numbers[code] is not None for code in used):
            return np.array([number or 0 for number in numbers], dtype=np.int64)[codes]
        return np.array(names)[codes]

    def class_names(self, name: str) -> set[str]:
        """Return the distinct values of a column as class names: 1.0 is "1"."""
        column = self.columns[name]
        if not isinstance(column, Factor):
            column = Factor.of(np.unique(column))
        return {_class_text(text) for text in column.categories}

    def _check_classes(self, target: str, labels: Sequence[str], most: int) -> None:
        where = f"{self.path}: column {show(target)}"
        if len(labels) == 1:
            raise ValueError(f"{where} has only one class, {show(labels[0])}; a target needs at least two")
        numbers = all(parse_number(text) is not None for text in labels)
        odd = next((text for text in labels if _is_fraction(text)), labels[-1])
        mostly = len(labels) > max(FEW, self.n_cases / 2)
        if numbers and (mostly or (len(labels) > FEW and _is_fraction(odd))):
            raise ValueError(f"{where} contains {len(labels)} different numbers such as {odd}; {MEASURED}")
        if len(labels) > most:
            limit = f"at most {most:,} are supported; is it the target?"
            raise ValueError(f"{where} has {len(labels):,} classes ({listing(labels, 3)}); {limit}")
        if mostly or len(labels) == self.n_cases > 2:
            found = f"has {len(labels)} different classes for {self.n_cases} cases ({listing(labels, 3)})"
            raise ValueError(f"{where} {found}; is it the target?")

    def location(self, row: int) -> str:
        """Return file and line of a case; for Excel and Parquet, file and row."""
        return self.source.location(row if self.rows is None else int(self.rows[row]))


def _class_text(text: str) -> str:
    """Return the name of a class: 1.0 and +1 are "1". Done on strings, since floats would merge large numbers."""
    if not _WHOLE_NUMBER.fullmatch(text):
        return text
    digits = text.partition(".")[0].removeprefix("+")
    return "0" if digits == "-0" else digits


def _whole_number(text: str) -> int | None:
    """Return a class that is a 64-bit integer, or None.

    Examples
    --------
    >>> _whole_number("9007199254740993.0"), _whole_number("1e3"), _whole_number("9" * 30)
    (9007199254740993, None, None)
    """
    if not _WHOLE_NUMBER.fullmatch(text) or len(digits := _class_text(text)) > _MAX_LENGTH:
        return None
    number, machine = int(digits), np.iinfo(np.int64)
    return number if machine.min <= number <= machine.max else None


def _is_fraction(text: str) -> bool:
    try:
        return not float(text).is_integer()
    except (ValueError, OverflowError):
        return False


def suffix_of(path: Path) -> str:
    """Return the suffix that names the format, such as ".csv.gz".

    Examples
    --------
    >>> suffix_of(Path("data/heart.v2.csv.gz")), suffix_of(Path("heart.parquet"))
    ('.csv.gz', '.parquet')
    """
    parts = [part.lower() for part in path.suffixes]
    return "".join(parts[-2:]) if parts[-1:] == [".gz"] else "".join(parts[-1:])


def _format_of(path: Path) -> str:
    """Return the format that the suffix names: "csv", "excel" or "parquet"."""
    suffix = suffix_of(path)
    for name, suffixes in (("csv", CSV_SUFFIXES), ("excel", EXCEL_SUFFIXES), ("parquet", PARQUET_SUFFIXES)):
        if suffix in suffixes:
            return name
    advice = "; save it as .xlsx" if suffix in (".xls", ".xlsb", ".ods") else ""
    raise ValueError(f"{path}: unknown suffix {show(suffix)} of a table{advice}; valid: {', '.join(SUFFIXES)}")


@dataclass(eq=False)
class TableFile:
    """A file with a table: its columns, how it is written, and its cases.

    Parameters
    ----------
    path : Path
        The suffix names the format.
    options : ReadOptions
    """

    path: Path
    options: ReadOptions = ReadOptions()
    decimal: str = field(default=".", init=False)  # of a CSV file, once it was read

    def __post_init__(self) -> None:
        try:
            self.format = _format_of(self.path)
        except ValueError:
            check_kind(self.path, TABLE, (None, EXCEL, PARQUET))
            raise
        check_kind(self.path, TABLE, _KINDS[self.format])
        options = self.options
        self.text: CsvFile | ExcelFile | None = None
        if self.format == "csv":
            self.text = CsvFile(self.path, options.encoding, options.tell)
        elif self.format == "excel":
            self.text = ExcelFile(self.path, options.sheet, options.tell)

    @functools.cached_property
    def names(self) -> list[str]:
        """The checked column names."""
        if self.text is not None:
            from worthwhile.costs.files import is_price_header

            if is_price_header(names := self.text.names):
                raise ValueError(f"{self.path}: looks like {PRICES}; {TABLE}")
            return names
        from worthwhile.table.parquet_reader import parquet_names

        return parquet_names(self.path)

    def notes(self) -> list[str]:
        """Return what was found out about the file after it was read, and the options that say otherwise."""
        found = []
        if isinstance(self.text, CsvFile) and self.options.encoding is None and self.text.encoding != "utf-8-sig":
            known = {"cp1252": "Windows text (cp1252)"}.get(self.text.encoding, self.text.encoding.upper())
            found.append(f"read as {known}; --encoding names another encoding")
        if self.decimal == "," and self.options.decimal is None:
            found.append("numbers have decimal commas; --decimal says otherwise")
        return [f"{self.path}: {note}." for note in found]

    def location(self, row: int) -> str:
        """Return file and line of a case; for Excel and Parquet, file and row."""
        return f"{self.path}, row {row + 1}" if self.text is None else self.text.location(row)

    def read(
        self,
        *,
        only: Collection[str] | None = None,
        drop: Collection[str] = (),
        numeric: Collection[str] = (),
        nominal: Collection[str] = (),
    ) -> DataTable:
        """Read the cases; see `read_table`."""
        names = dict.fromkeys(self.names)
        for what, asked in (("--drop", drop), ("--nominal", nominal)):
            for name in asked:
                if name not in names:
                    raise ValueError(f"{self.path}: no column {show(name)}, given by {what}; {suggest(name, names)}")
        chosen, dropped = set(names) if only is None else set(only), set(drop)
        wanted = [name for name in names if name in chosen and name not in dropped]
        options = self.options
        if self.text is None:
            from worthwhile.table.parquet_reader import read_parquet

            columns, n_cases, dates = read_parquet(self.path, wanted, numeric, nominal)
        else:
            found = read_text_columns(
                self.text, wanted, numeric, nominal, options.missing, options.decimal, options.dates
            )
            columns, n_cases, dates = found.columns, found.n_cases, found.dates
            self.decimal = options.decimal or found.decimal
        return DataTable(self, {name: columns[name] for name in wanted}, n_cases, dates)

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield the cases as they are in the file: strings for CSV, values for Excel and Parquet."""
        if isinstance(self.text, CsvFile):
            for chunk in self.text.chunks():
                yield from chunk
        elif self.text is not None:
            yield from (row for _, row in self.text.cases())
        else:
            from worthwhile.table.parquet_reader import parquet_rows

            yield from parquet_rows(self.path)[1]


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_text("age,class\\n63,sick\\n")
    ...     column_names(path)
    ['age', 'class']
    """
    return TableFile(path).names


def check_target(path: Path, names: Sequence[str], target: str) -> None:
    """Raise an error if the target is not a column."""
    if target not in names:
        raise ValueError(f"{path}: no target column {show(target)}; {suggest(target, names)}")


def read_table(
    path: Path,
    *,
    only: Collection[str] | None = None,
    drop: Collection[str] = (),
    numeric: Collection[str] = (),
    nominal: Collection[str] = (),
    missing: Collection[str] = (),
    **options: Any,
) -> DataTable:
    """Read a table from a CSV (or compressed CSV), an Excel or a Parquet file.

    Parameters
    ----------
    path : Path
        The suffix names the format. CSV columns may be separated by commas, semicolons, tabs or vertical bars.
    only : collection of str, optional
        The columns to read; None: all.
    drop : collection of str
        Columns to leave out.
    numeric, nominal : collections of str
        Columns known to be numeric, or nominal. Any other column of a CSV or Excel file is numeric if more than half of
        its cells are numbers (another string in it is an error then), or if all of them are dates.
    missing, options
        As for `ReadOptions`.

    Raises
    ------
    ValueError, FileNotFoundError
        With file, line and column.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_text("age,pain,class\\n63,none,sick\\n?,angina,well\\n")
    ...     table = read_table(path)
    >>> table.matrix(["age", "pain"]).tolist(), table.classes("class").tolist(), table.nominal()
    ([[63.0, 'none'], [nan, 'angina']], ['sick', 'well'], ['pain', 'class'])
    """
    source = TableFile(path, ReadOptions(missing=missing, **options))
    return source.read(only=only, drop=drop, numeric=numeric, nominal=nominal)


def check_added(path: Path | str, names: Collection[str], added: Iterable[str]) -> None:
    """Refuse to add columns to a file that already has one of the same name."""
    for name in added:
        if name in names:
            raise ValueError(f"{path}: already has a column {show(name)}; rename or remove it")


def extend_table(source: Path | TableFile, target: Path | None, columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Write a table with added columns; the other cells stay unchanged.

    A CSV file that is made from another one has the same delimiter (comma or semicolon) and decimal mark.

    Parameters
    ----------
    source : Path or TableFile
        The table.
    target : Path or None
        The file to write; its suffix names the format. None: return the table as CSV text.
    columns : mapping of str to sequence
        The added columns, one value per case.
    """
    if not isinstance(source, TableFile):
        source = TableFile(source)
    check_added(source.path, source.names, columns)
    kind = "csv" if target is None else _format_of(target)
    if target is not None and kind == "parquet":
        write_file(target, _as_parquet(source, columns))
        return None
    if target is not None and kind == "excel":
        if suffix_of(target) != ".xlsx":
            raise ValueError(f"{target}: Excel files are written as .xlsx")
        try:
            content = write_rows(_excel_rows(source, columns))
        except ValueError as error:
            raise ValueError(f"{target}: {error}") from None
        write_file(target, content)
        return None
    delimiter = _delimiter_for(source, tabs=target is not None and ".tsv" in suffix_of(target))
    text = _extended_text(source, columns, delimiter)
    warn_of_formulas(target, text, delimiter)
    # With a byte order mark, spreadsheets that wrote another encoding read this one, too.
    if isinstance(source.text, CsvFile) and source.text.encoding != "utf-8-sig":
        text = f"\ufeff{text}"
    if target is None:
        return text
    content = text.encode("utf-8")
    write_file(target, gzip.compress(content, mtime=0) if suffix_of(target).endswith(".gz") else content)
    return None


def _extended_rows(source: TableFile, columns: Mapping[str, Sequence[Any]]) -> Iterator[list[Any]]:
    added = zip(*columns.values(), strict=True)
    for row, more in zip(source.rows(), added, strict=True):
        yield [*row, *more]


def _delimiter_for(source: TableFile, tabs: bool) -> str:
    if tabs:
        return "\t"
    return ";" if isinstance(source.text, CsvFile) and source.text.delimiter == ";" else ","


def _extended_text(source: TableFile, columns: Mapping[str, Sequence[Any]], delimiter: str) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow([*source.names, *columns])
    if source.decimal == ",":
        columns = {name: [_with_comma(value) for value in values] for name, values in columns.items()}
    rows = _extended_rows(source, columns)
    writer.writerows([cell_text(value) for value in row] for row in rows) if source.format == "excel" else (
        writer.writerows(rows)
    )
    return buffer.getvalue()


def _with_comma(value: Any) -> Any:
    return repr(value).replace(".", ",") if isinstance(value, float) else value


def _excel_rows(source: TableFile, columns: Mapping[str, Sequence[Any]]) -> Iterator[Sequence[Any]]:
    yield [*source.names, *columns]
    width = len(source.names)
    for row in _extended_rows(source, columns):
        if source.format == "csv":
            row[:width] = [_number_or_text(text, source.decimal) for text in row[:width]]
        yield row


def _number_or_text(text: str, decimal: str) -> float | str | None:
    """Return a cell of a CSV file as a cell of an Excel file."""
    number = parse_number(text.strip(), decimal) if _EXCEL_NUMBER.fullmatch(text.strip()) else None
    return (text or None) if number is None else number


def _as_parquet(source: TableFile, columns: Mapping[str, Sequence[Any]]) -> bytes:
    from worthwhile.table import parquet_reader

    if isinstance(source.text, CsvFile):
        dialect = (source.text.delimiter, source.text.encoding, source.decimal)
        return parquet_reader.extend_csv(source.path, dialect, columns)
    if source.text is not None:
        return parquet_reader.extend_rows(source.path, source.names, list(source.rows()), columns)
    return parquet_reader.extend_parquet(source.path, columns)

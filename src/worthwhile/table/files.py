"""Data tables in files: reads CSV (also gzipped) and Parquet, and writes them with added columns."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.error_costs import MAX_CLASSES, listing, show, suggest
from worthwhile.files import warn_of_formulas, write_file
from worthwhile.table import csv_reader
from worthwhile.table.columns import Column, Factor

__all__ = ["DataTable", "check_target", "column_names", "extend_table", "read_table", "suffix_of"]

CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")
FEW, MANY = 10, 50  # numbers of distinct values: numeric columns that may be codes, nominal ones that may be ids
_WHOLE_NUMBER = re.compile(r"[-+]?(0|[1-9]\d*)(\.0*)?")
_MAX_LENGTH = 20  # digits and sign of a 64-bit integer


@dataclass(frozen=True, eq=False)
class DataTable:
    """The columns of a file: numeric ones as arrays (NaN: missing), nominal ones as factors; see `read_table`.

    Attributes
    ----------
    path : Path
    columns : mapping of str to column
    n_cases : int
    """

    path: Path
    columns: Mapping[str, Column]
    n_cases: int

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

    def possible_ids(self) -> list[str]:
        """Return the nominal columns with mostly distinct values: they may be ids of the cases, useless as tests."""
        return [
            name
            for name, column in self.columns.items()
            if isinstance(column, Factor) and len(column.categories) > max(MANY, self.n_cases // 2)
        ]

    def matrix(self, names: Sequence[str]) -> npt.NDArray[Any]:
        """Return the named columns as one array for learners: floats, or objects if a column is nominal.

        A name that is not in the table gives a column of missing values.
        """
        columns = [self.columns.get(name) for name in names]
        mixed = any(isinstance(column, Factor) for column in columns)
        found = np.full((self.n_cases, len(names)), np.nan, dtype=object if mixed else np.float64)
        for j, column in enumerate(columns):
            if isinstance(column, Factor):
                found[:, j] = np.array([*column.categories, None], dtype=object)[column.codes]
            elif column is not None:
                found[:, j] = column
        return found

    def classes(self, target: str, check: bool = True) -> npt.NDArray[Any]:
        """Return the class of every case: integers if all of them are, otherwise strings.

        Parameters
        ----------
        target : str
        check : bool
            Raise an error if the column is not suitable as a target: one class only, or one for every case.
        """
        column = self.columns[target]
        if not isinstance(column, Factor):
            column = Factor.of(*np.unique(column, return_inverse=True))
        codes, names = column.codes, column.categories
        missing = np.flatnonzero(codes < 0)
        if len(missing):
            more = f" ({len(missing)} cases have none)" if len(missing) > 1 else ""
            lacks = f"has no class in column {show(target)}{more}; remove such cases"
            raise ValueError(f"{self.location(int(missing[0]))}: {lacks}")
        used = np.unique(codes)
        if check:
            self._check_classes(target, [names[code] for code in used])
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

    def _check_classes(self, target: str, labels: Sequence[str]) -> None:
        where = f"{self.path}: column {show(target)}"
        if len(labels) == 1:
            raise ValueError(f"{where} has only one class, {show(labels[0])}; a target needs at least two")
        if len(labels) == self.n_cases > 2:
            raise ValueError(f"{where} has a different class for every case ({listing(labels, 3)}); is it the target?")
        if len(labels) > MAX_CLASSES:
            most = f"at most {MAX_CLASSES:,} are supported; is it the target?"
            raise ValueError(f"{where} has {len(labels):,} classes ({listing(labels, 3)}); {most}")
        odd = next((text for text in labels if _is_fraction(text)), None)
        if odd is not None and len(labels) > FEW:
            found = f"contains {len(labels)} different numbers such as {odd}"
            raise ValueError(f"{where} {found}; the target must be a class, not a measured value")

    def location(self, row: int) -> str:
        """Return file and line of a case; for Parquet, file and row."""
        if suffix_of(self.path) in CSV_SUFFIXES:
            return f"{self.path}, line {csv_reader.line_number(self.path, row)}"
        return f"{self.path}, row {row + 1}"


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


def _is_parquet(path: Path) -> bool:
    suffix = suffix_of(path)
    if suffix not in (*CSV_SUFFIXES, *PARQUET_SUFFIXES):
        valid = ", ".join((*CSV_SUFFIXES, *PARQUET_SUFFIXES))
        raise ValueError(f"{path}: unknown suffix {show(suffix)} of a table; valid: {valid}")
    return suffix in PARQUET_SUFFIXES


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
    if _is_parquet(path):
        from worthwhile.table.parquet_reader import parquet_names

        return parquet_names(path)
    return csv_reader.read_header(path)[0]


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
) -> DataTable:
    """Read a table from a CSV (or compressed CSV) or a Parquet file.

    Parameters
    ----------
    path : Path
        The suffix names the format. CSV columns may be separated by commas, semicolons, tabs or vertical bars.
    only : collection of str, optional
        The columns to read; None: all.
    drop : collection of str
        Columns to leave out.
    numeric, nominal : collections of str
        Columns known to be numeric, or nominal. Any other CSV column is numeric if more than half of its cells are
        numbers; another string in it is an error then.
    missing : collection of str
        Strings that mean a missing value, in addition to `worthwhile.table.csv_reader.MISSING`.

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
    names = dict.fromkeys(column_names(path))
    for what, asked in (("--drop", drop), ("--nominal", nominal)):
        for name in asked:
            if name not in names:
                raise ValueError(f"{path}: no column {show(name)}, given by {what}; {suggest(name, names)}")
    chosen, dropped = set(names) if only is None else set(only), set(drop)
    wanted = [name for name in names if name in chosen and name not in dropped]
    if _is_parquet(path):
        from worthwhile.table.parquet_reader import read_parquet

        columns, n_cases = read_parquet(path, wanted, numeric, nominal)
    else:
        columns, n_cases = csv_reader.read_csv(path, wanted, numeric, nominal, missing)
    return DataTable(path, {name: columns[name] for name in wanted}, n_cases)


def extend_table(source: Path, target: Path | None, columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Write a table with added columns; the other cells stay unchanged.

    Parameters
    ----------
    source : Path
        The table.
    target : Path or None
        The file to write; its suffix names the format. None: return the table as CSV text.
    columns : mapping of str to sequence
        The added columns, one value per case.
    """
    names = column_names(source)
    for name in columns:
        if name in names:
            raise ValueError(f"{source}: already has a column {show(name)}; rename or remove it")
    if target is not None and _is_parquet(target):
        from worthwhile.table import parquet_reader

        if _is_parquet(source):
            write_file(target, parquet_reader.extend_parquet(source, columns))
        else:
            write_file(target, parquet_reader.extend_csv(source, csv_reader.read_header(source)[1], columns))
        return None
    delimiter = "\t" if target is not None and ".tsv" in suffix_of(target) else ","
    text = _extended_text(source, columns, delimiter)
    warn_of_formulas(target, text, delimiter)
    if target is None:
        return text
    content = text.encode("utf-8")
    write_file(target, gzip.compress(content, mtime=0) if suffix_of(target).endswith(".gz") else content)
    return None


def _extended_text(source: Path, columns: Mapping[str, Sequence[Any]], delimiter: str) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    added = zip(*columns.values(), strict=True)
    if _is_parquet(source):
        from worthwhile.table.parquet_reader import parquet_rows

        names, rows = parquet_rows(source)
        writer.writerow([*names, *columns])
        writer.writerows((*row, *more) for row, more in zip(rows, added, strict=True))
        return buffer.getvalue()
    names, own = csv_reader.read_header(source)
    writer.writerow([*names, *columns])
    with csv_reader.open_text(source) as file:
        for piece in csv_reader.row_chunks(csv.reader(file, delimiter=own, strict=True), len(names)):
            writer.writerows((*row, *more) for row, more in zip(piece, added, strict=False))
    return buffer.getvalue()

"""Reads and writes Parquet tables with pyarrow, an optional dependency."""

from __future__ import annotations

import gzip
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.error_costs import show
from worthwhile.table.columns import BOOLEANS, Column, Factor, arrow_column
from worthwhile.table.schema import number_or_days

__all__ = [
    "as_numbers",
    "extend_csv",
    "extend_parquet",
    "extend_rows",
    "finite",
    "parquet_names",
    "parquet_rows",
    "read_parquet",
]

UNREADABLE = "is not a readable Parquet file"
MAX_BLOCK = 2**31 - 1  # bytes that pyarrow can read at once


@contextmanager
def _pyarrow(path: Path, problem: str) -> Iterator[Any]:
    """Give pyarrow to read a file; what fails is reported with the file and the problem."""
    try:
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{path}: Parquet files need pyarrow, which is not installed: pip install 'worthwhile[parquet]', "
            "or save the table as CSV"
        ) from None
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if not path.is_file():
        raise ValueError(f"{path}: is not a file")
    try:
        yield pyarrow
    except Exception as error:  # pyarrow raises many kinds of errors for a broken file
        raise ValueError(f"{path}: {problem}: {str(error).splitlines()[0]}") from None


def _load(path: Path, wanted: Collection[str] | None = None) -> Any:
    """Return the file as a pyarrow table."""
    with _pyarrow(path, UNREADABLE) as arrow:
        return arrow.parquet.ParquetFile(path).read(columns=None if wanted is None else list(wanted))


def parquet_names(path: Path) -> list[str]:
    """Return the checked column names; reads the metadata only."""
    with _pyarrow(path, UNREADABLE) as arrow, arrow.parquet.ParquetFile(path) as file:
        names, n_cases = list(file.schema_arrow.names), int(file.metadata.num_rows)
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{path}: two columns are named {show(name)}; every column needs a unique name")
        seen.add(name)
    if not names or not n_cases:
        raise ValueError(f"{path}: the file has no cases")
    return names


def read_parquet(
    path: Path, wanted: Collection[str], numeric: Collection[str] = (), nominal: Collection[str] = ()
) -> tuple[dict[str, Column], int, frozenset[str]]:
    """Return the wanted columns, the number of cases, and which columns are dates.

    The file's types decide unless a column is declared here. Dates and spans of time become days.
    """
    import pyarrow.types as kinds

    table = _load(path, wanted)
    numeric, nominal = set(numeric), set(nominal)
    columns = {}
    for name in wanted:
        with _utf8(path, name):
            column = arrow_column(table[name], name in nominal)
        if column is None:
            kind = f"has the type {table[name].type}, which is neither numeric nor nominal"
            raise ValueError(f"{path}: column {show(name)} {kind}; use --drop {name}")
        if name in numeric and isinstance(column, Factor):
            column = as_numbers(column, path, name)
        columns[name] = finite(column, path, name)
    dates = (name for name in wanted if kinds.is_temporal(table[name].type) and name not in nominal)
    return columns, int(table.num_rows), frozenset(dates)


def finite(column: Column, path: Path | str, name: str, rows: npt.NDArray[np.intp] | None = None) -> Column:
    """Return a column, or refuse it if it has infinity; `rows` are its places in the file (None: it is the whole)."""
    if not isinstance(column, Factor) and (bad := np.flatnonzero(np.isinf(column))).size:
        row = int(bad[0] if rows is None else rows[bad[0]]) + 1
        advice = "use NaN for a missing value, or a large finite number"
        raise ValueError(f"{path}, row {row}: column {show(name)} contains infinity; {advice}")
    return column


@contextmanager
def _utf8(path: Path, name: str) -> Iterator[None]:
    """Report text that is not UTF-8 with its file and column."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x}"
        raise ValueError(f"{path}: column {show(name)} is not UTF-8 text ({byte}); save the file as UTF-8") from None


def as_numbers(column: Factor, path: Path | str, name: str, rows: npt.NDArray[np.intp] | None = None) -> Column:
    """Return the strings of a column as numbers; `rows` are its places in the file (None: it is the whole)."""
    found = np.full(len(column.categories) + 1, np.nan)  # the last one is for code -1
    booleans = set(column.categories) <= set(BOOLEANS)
    for code, text in enumerate(column.categories):
        try:
            found[code] = BOOLEANS.index(text) if booleans else number_or_days(text)
        except ValueError:
            first = int(np.flatnonzero(column.codes == code)[0])
            row = (first if rows is None else int(rows[first])) + 1
            raise ValueError(f"{path}, row {row}: column {show(name)} is numeric, but contains {show(text)}") from None
    return found[column.codes]


def parquet_rows(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the column names and all rows."""
    table = _load(path)
    names = list(table.column_names)
    columns = []
    for name, column in zip(names, table.columns, strict=True):
        with _utf8(path, name):
            columns.append(column.to_pylist())
    return names, list(zip(*columns, strict=True))


def extend_parquet(path: Path, columns: Mapping[str, Any]) -> bytes:
    """Return the content of a Parquet file with added columns, as Parquet."""
    return _extended(_load(path), columns)


def extend_rows(path: Path, names: Sequence[str], rows: Sequence[Sequence[Any]], columns: Mapping[str, Any]) -> bytes:
    """Return rows of values with added columns, as Parquet; a column of several types becomes one of strings."""
    with _pyarrow(path, "cannot be written as Parquet") as arrow:
        arrays = []
        for cells in zip(*rows, strict=True):
            try:
                arrays.append(arrow.array(cells))
            except (arrow.ArrowInvalid, arrow.ArrowTypeError):
                arrays.append(arrow.array([None if value is None else str(value) for value in cells]))
        return _extended(arrow.table(arrays, names=list(names)), columns)


def extend_csv(path: Path, dialect: tuple[str, str, str], columns: Mapping[str, Any]) -> bytes:
    """Return the content of a CSV file with added columns, as Parquet; pyarrow infers the types of its columns.

    The dialect is the delimiter, the encoding and the decimal mark.
    """
    delimiter, encoding, decimal = dialect
    with _pyarrow(path, "cannot be written as Parquet") as arrow:
        content = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
        # In one block: pyarrow infers types from the first block, and later ones may not fit them.
        if encoding != "utf-8-sig":
            content = content.decode(encoding).encode()
        whole = arrow.csv.ReadOptions(block_size=min(max(len(content), 1), MAX_BLOCK))
        marks = arrow.csv.ConvertOptions(decimal_point=decimal)
        parse = arrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        source = arrow.BufferReader(content)
        table = arrow.csv.read_csv(source, read_options=whole, parse_options=parse, convert_options=marks)
        return _extended(table, columns)


def _extended(table: Any, columns: Mapping[str, Any]) -> bytes:
    import pyarrow.parquet

    for name, values in columns.items():
        table = table.append_column(name, pyarrow.array(values))
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer)
    return buffer.getvalue()

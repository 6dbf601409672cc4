"""Reading and writing Parquet by pyarrow or polars, whichever is installed; neither is required."""

from __future__ import annotations

import gzip
import io
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from worthwhile.costs.error_costs import show
from worthwhile.table.columns import Column, Factor

__all__ = ["extend_csv", "extend_parquet", "parquet_names", "parquet_rows", "read_parquet"]

UNREADABLE = "is not a readable Parquet file"
LARGEST_BLOCK = 2**31 - 1  # bytes that pyarrow reads at a time, at most


def _library() -> str:
    from importlib.util import find_spec

    for name in ("pyarrow", "polars"):
        if find_spec(name) is not None:
            return name
    raise ValueError(
        "Parquet files need pyarrow or polars: pip install 'worthwhile[parquet]', or save the table as CSV"
    )


@contextmanager
def _reading(path: Path, problem: str) -> Iterator[str]:
    """Give the name of the library to read a file with, and name the file where it fails."""
    library = _library()
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise ValueError(f"{path}: is not a file")
    try:
        yield library
    except Exception as error:  # both libraries have many kinds of errors for a broken file
        raise ValueError(f"{path}: {problem}: {str(error).splitlines()[0]}") from None


def _load(path: Path, wanted: Collection[str] | None = None) -> Any:
    """Return the file as a table of pyarrow or a frame of polars."""
    columns = None if wanted is None else list(wanted)
    with _reading(path, UNREADABLE) as library:
        if library == "pyarrow":
            import pyarrow.parquet

            return pyarrow.parquet.ParquetFile(path).read(columns=columns)
        import polars

        return polars.read_parquet(path, columns=columns)


def _outline(path: Path) -> tuple[list[str], int]:
    """Return the names of the columns and the number of cases, which stand at the end of a file: no case is read."""
    with _reading(path, UNREADABLE) as library:
        if library == "pyarrow":
            import pyarrow.parquet

            with pyarrow.parquet.ParquetFile(path) as file:
                return list(file.schema_arrow.names), int(file.metadata.num_rows)
        import polars

        return list(polars.read_parquet_schema(path)), int(
            polars.scan_parquet(path).select(polars.len()).collect().item()
        )


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns, checked."""
    names, n_cases = _outline(path)
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{path}: two columns are named {show(name)}; every column needs its own name")
        seen.add(name)
    if not names or not n_cases:
        raise ValueError(f"{path}: there is no case in the file")
    return names


def read_parquet(
    path: Path, wanted: Collection[str], numeric: Collection[str] = (), nominal: Collection[str] = ()
) -> tuple[dict[str, Column], int]:
    """Return the wanted columns and the number of cases; kinds are those of the file, unless they are said here."""
    frame = _load(path, wanted)
    columns = {}
    for name in wanted:
        read = _read_arrow if hasattr(frame, "column_names") else _read_polars
        column = read(path, name, frame[name], name in nominal)
        if name in numeric and isinstance(column, Factor):
            column = _as_numbers(path, name, column)
        elif name in nominal and not isinstance(column, Factor):
            column = Factor.of(np.unique(column), np.unique(column, return_inverse=True)[1])
        columns[name] = column
    return columns, int(frame.shape[0])


def _read_arrow(path: Path, name: str, column: Any, nominal: bool) -> Column:
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if kinds.is_integer(kind) and nominal:  # codes are kept as they are; as floats, large ones would be merged
        encoded = column.combine_chunks().dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Factor.of(encoded.dictionary.to_pylist(), codes)
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        # Not safely: that would refuse whole numbers above 2^53, such as ids, which need not be exact as numbers.
        return np.asarray(column.cast("float64", safe=False).to_numpy(), dtype=np.float64)
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_boolean(kind) or kinds.is_null(kind):
        return Factor.of(column.to_pylist())
    raise ValueError(f"{path}: column {show(name)} is of the kind {kind}, neither numbers nor texts; --drop {name}")


def _read_polars(path: Path, name: str, series: Any, nominal: bool) -> Column:
    from worthwhile.table.columns import read_columns

    if nominal and series.dtype.is_integer():
        return Factor.of(series.to_list())
    return read_columns(series.to_frame()).arrays[0]


def _as_numbers(path: Path, name: str, column: Factor) -> Column:
    found = np.full(len(column.texts) + 1, np.nan)
    for code, text in enumerate(column.texts):
        try:
            found[code] = float(text)
        except ValueError:
            row = int(np.flatnonzero(column.codes == code)[0]) + 1
            raise ValueError(
                f"{path}, row {row}: column {show(name)} is one of numbers, but holds {show(text)}"
            ) from None
    return found[column.codes]


def parquet_rows(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names of the columns and all rows."""
    frame = _load(path)
    if hasattr(frame, "column_names"):
        return list(frame.column_names), list(zip(*(column.to_pylist() for column in frame.columns), strict=True))
    return list(frame.columns), frame.rows()


def extend_parquet(path: Path, columns: Mapping[str, Any]) -> bytes:
    """Return a Parquet file with further columns, as bytes."""
    return _extended(_load(path), columns)


def extend_csv(path: Path, delimiter: str, columns: Mapping[str, Any]) -> bytes:
    """Return a CSV file with further columns as a Parquet file, as bytes; the library guesses the kinds of the rest."""
    with _reading(path, "cannot be written as Parquet") as library:
        if library == "pyarrow":
            import pyarrow.csv

            content = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
            # In one block: kinds of columns are guessed from the first one, which more may not hold to.
            whole = pyarrow.csv.ReadOptions(block_size=min(max(len(content), 1), LARGEST_BLOCK))
            parse = pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
            frame = pyarrow.csv.read_csv(pyarrow.BufferReader(content), read_options=whole, parse_options=parse)
            return _extended(frame, columns)
        import polars

        return _extended(polars.read_csv(path, separator=delimiter, infer_schema_length=None), columns)


def _extended(frame: Any, columns: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    if hasattr(frame, "column_names"):
        import pyarrow
        import pyarrow.parquet

        for name, values in columns.items():
            frame = frame.append_column(name, pyarrow.array(values))
        pyarrow.parquet.write_table(frame, buffer)
        return buffer.getvalue()
    import polars

    frame.with_columns([polars.Series(name, values) for name, values in columns.items()]).write_parquet(buffer)
    return buffer.getvalue()

"""Reading and writing Parquet by pyarrow or polars, whichever is installed; neither is required."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from worthwhile._encode import Column, Factor
from worthwhile._errortable import show

__all__ = ["extend_csv", "extend_parquet", "parquet_names", "parquet_rows", "read_parquet"]


def _library() -> str:
    from importlib.util import find_spec

    for name in ("pyarrow", "polars"):
        if find_spec(name) is not None:
            return name
    raise ValueError(
        "Parquet files need pyarrow or polars: pip install 'worthwhile[parquet]', or save the table as CSV"
    )


def _load(path: Path, wanted: Collection[str] | None = None) -> Any:
    """Return the file as a table of pyarrow or a frame of polars."""
    library = _library()
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise ValueError(f"{path}: is not a file")
    columns = None if wanted is None else list(wanted)
    try:
        if library == "pyarrow":
            import pyarrow.parquet

            return pyarrow.parquet.ParquetFile(path).read(columns=columns)
        import polars

        return polars.read_parquet(path, columns=columns)
    except Exception as error:  # both libraries have many kinds of errors for a broken file
        raise ValueError(f"{path}: is not a readable Parquet file: {str(error).splitlines()[0]}") from None


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns, checked."""
    frame = _load(path)
    names = [str(name) for name in (frame.column_names if hasattr(frame, "column_names") else frame.columns)]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise ValueError(f"{path}: two columns are named {show(name)}; every column needs its own name")
    if not names or not frame.shape[0]:
        raise ValueError(f"{path}: there is no case in the file")
    return names


def read_parquet(
    path: Path, wanted: Collection[str], numeric: Collection[str] = (), nominal: Collection[str] = ()
) -> tuple[dict[str, Column], int]:
    """Return the wanted columns and the number of cases; kinds are those of the file, unless they are said here."""
    frame = _load(path, wanted)
    columns = {}
    for name in wanted:
        column = _read_arrow(path, name, frame[name]) if hasattr(frame, "column_names") else _read_polars(frame[name])
        if name in numeric and isinstance(column, Factor):
            column = _as_numbers(path, name, column)
        elif name in nominal and not isinstance(column, Factor):
            column = Factor.of(np.unique(column), np.unique(column, return_inverse=True)[1])
        columns[name] = column
    return columns, int(frame.shape[0])


def _read_arrow(path: Path, name: str, column: Any) -> Column:
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        return np.asarray(column.cast("float64").to_numpy(), dtype=np.float64)
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_boolean(kind) or kinds.is_null(kind):
        return Factor.of(column.to_pylist())
    raise ValueError(f"{path}: column {show(name)} is of the kind {kind}, neither numbers nor texts; --drop {name}")


def _read_polars(series: Any) -> Column:
    from worthwhile._encode import read_columns

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
    if _library() == "pyarrow":
        import pyarrow.csv

        return _extended(
            pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter)), columns
        )
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

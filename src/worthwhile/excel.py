"""Reads and writes the rows of Excel sheets with openpyxl, an optional dependency."""

from __future__ import annotations

import datetime as dt
import io
import math
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

__all__ = ["EXCEL_SUFFIXES", "cell_text", "fits_cell", "load_openpyxl", "read_rows", "write_rows"]

EXCEL_SUFFIXES = (".xlsx", ".xlsm")
MAX_ROWS, MAX_COLUMNS, MAX_CELL = 1_048_576, 16_384, 32_767  # of a sheet; characters of a cell
TELL_ROWS = 1000
MAX_UNPACKED = 4_000_000_000  # bytes; a million rows of 20 numbers have 1 GB
# Tables unpack to some 5 to 50 times their size; what unpacks to more, and is large, was made to take long.
MAX_RATIO, SMALL = 200, 100_000_000
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")  # XML cannot contain these


def load_openpyxl() -> Any:
    """Return the module openpyxl, or say how to install it."""
    try:
        import openpyxl
    except ImportError:
        raise ValueError(
            "Excel files need openpyxl, which is not installed: pip install 'worthwhile[excel]', or use a CSV file"
        ) from None
    return openpyxl


def read_rows(
    path: Path, sheet: str | None = None, tell: Callable[[int, int | None], None] | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a sheet (the first one unless another is named), as values; a formula is its last result.

    Parameters
    ----------
    path : Path
    sheet : str, optional
    tell : function, optional
        Called now and then with the number of rows read and the number of all rows, if it is known.

    Raises
    ------
    ValueError
        If openpyxl is not installed, the file is not an Excel file, or there is no such sheet.
    """
    try:
        openpyxl = load_openpyxl()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if not path.is_file():
        raise ValueError(f"{path}: is not a file")
    with warnings.catch_warnings(), path.open("rb") as file:
        warnings.simplefilter("ignore")  # about styles and extensions, which do not matter here
        try:
            _check_size(file)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            names = [one.title for one in book.worksheets]
            if sheet is not None and sheet not in names:
                raise LookupError(f"no sheet {sheet!r}; its sheets are {', '.join(map(repr, names))}")
            if not names:
                raise LookupError("has no sheet with cells")
            found = book.worksheets[0 if sheet is None else names.index(sheet)]
            total = found.max_row
            found.reset_dimensions()  # some programs write wrong ones
            for number, row in enumerate(found.iter_rows(values_only=True), 1):
                if number > MAX_ROWS:  # a small file may unpack to very many
                    raise ValueError(f"a sheet has at most {MAX_ROWS:,} rows")
                if tell is not None and number % TELL_ROWS == 0:
                    tell(number, total)
                yield row
        except GeneratorExit:
            raise
        except LookupError as error:
            if type(error) is LookupError:
                raise ValueError(f"{path}: {error}") from None
            raise ValueError(f"{path}: is not a readable Excel file") from None
        except Exception as error:  # a broken file makes openpyxl, zipfile and the XML parser raise many kinds
            raise ValueError(f"{path}: is not a readable Excel file: {' '.join(str(error).split())}") from None


def _check_size(file: IO[bytes]) -> None:
    """Refuse a file that would unpack to more than any table: openpyxl reads some of its parts as a whole."""
    with zipfile.ZipFile(file) as packed:
        sizes = {part.filename: part.file_size for part in packed.infolist()}
        stored = sum(part.compress_size for part in packed.infolist())
    # Only the sheets are read row by row.
    whole = sum(size for name, size in sizes.items() if not name.startswith("xl/worksheets/"))
    for size, limit in ((sum(sizes.values()), MAX_UNPACKED), (whole, MAX_UNPACKED // 8)):
        if size > limit:
            raise ValueError(f"it would unpack to {size / 1e9:.1f} GB, more than {limit / 1e9:g} GB; save it as CSV")
    if sum(sizes.values()) > max(SMALL, MAX_RATIO * stored):
        raise ValueError(f"it would unpack to more than {MAX_RATIO} times its size; save it as CSV")
    file.seek(0)


def cell_text(value: Any) -> str:
    """Return a cell as it would be in a CSV file: a date as 2024-03-31, nothing for an empty cell.

    Examples
    --------
    >>> cell_text(None), cell_text(3.0), cell_text(2.5), cell_text(True), cell_text(dt.datetime(2024, 3, 31))
    ('', '3', '2.5', 'True', '2024-03-31')
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, dt.datetime):
        return (value.date() if value.time() == dt.time() else value).isoformat(
            *() if value.time() == dt.time() else " "
        )
    if isinstance(value, dt.timedelta):
        return repr(value / dt.timedelta(days=1))
    return str(value)


def fits_cell(text: str) -> bool:
    """Return whether an Excel cell can contain this text unchanged: no control characters, and not too long."""
    return len(text) <= MAX_CELL and "\r" not in text and not _ILLEGAL.search(text)


def write_rows(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return an Excel file with one sheet; the first row has the column names."""
    openpyxl = load_openpyxl()
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("cases")
    sheet.freeze_panes = "A2"
    for number, row in enumerate(rows):
        if number >= MAX_ROWS or len(row) > MAX_COLUMNS:
            sheet.close()
            raise ValueError(
                f"an Excel sheet has at most {MAX_ROWS:,} rows and {MAX_COLUMNS:,} columns; write a CSV file"
            )
        cells = []
        for value in row:
            cell = WriteOnlyCell(sheet, _storable(value))
            if isinstance(cell.value, str):
                cell.data_type = "s"  # "=1+1" is a text, not a formula
            if number == 0:
                cell.font = Font(bold=True)
            cells.append(cell)
        sheet.append(cells)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _storable(value: Any) -> Any:
    if isinstance(value, (bool, int, float)) or value is None:
        return None if isinstance(value, float) and not math.isfinite(value) else value  # Excel has no NaN
    if isinstance(value, (dt.date, dt.timedelta)) and getattr(value, "tzinfo", None) is None:
        return value
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", str(value))[:MAX_CELL]

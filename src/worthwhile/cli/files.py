"""Writing results for other programs: CSV, JSON or Excel."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from worthwhile.costs.error_costs import show
from worthwhile.excel import write_rows
from worthwhile.files import write_file, write_text

__all__ = ["results_writer", "write_csv"]

Rows = Sequence[Mapping[str, Any]]


def results_writer(path: Path | None) -> Callable[[Rows], None]:
    """Return a function that writes rows in the format of the suffix; without a path it does nothing."""
    if path is None:
        return lambda rows: None
    writers = {".csv": write_csv, ".json": _write_json, ".xlsx": _write_excel}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ValueError(f"{path}: unknown suffix {show(path.suffix)}; use {', '.join(writers)}")
    return lambda rows: writer(path, rows)


def write_csv(path: Path, rows: Rows) -> None:
    """Write rows as CSV, None as an empty cell."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, buffer.getvalue())


def _write_excel(path: Path, rows: Rows) -> None:
    try:
        content = write_rows([list(rows[0]), *(list(row.values()) for row in rows)])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    write_file(path, content)


def _write_json(path: Path, rows: Rows) -> None:
    write_text(path, json.dumps(list(rows), indent=1, ensure_ascii=False) + "\n")

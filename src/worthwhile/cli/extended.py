"""Writing the table of a command with added columns, to a file or to standard output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from worthwhile.cli.common import Printer, check_apart, check_writable
from worthwhile.files import open_stream, write_text

if TYPE_CHECKING:
    from worthwhile.table.files import TableFile

__all__ = ["check_extended", "write_extended"]

STDOUT = 1


def _stream(out: Path) -> int | None:
    return STDOUT if str(out) == "-" else open_stream(out)


def check_extended(out: Path, inputs: Iterable[Path]) -> None:
    """Refuse a file that cannot be written, or is an input, before the work starts."""
    if _stream(out) is None:
        check_apart({"--out": out}, inputs)
        check_writable(out)


def write_extended(
    source: TableFile, out: Path, columns: Mapping[str, Sequence[Any]], lines: Iterable[str], summary: str, say: Printer
) -> None:
    """Write a table with added columns, and print notes and a summary.

    If the table goes to standard output, the lines go to standard error, and the summary is left out.
    """
    from worthwhile.table.files import extend_table

    stream = _stream(out)
    text = extend_table(source, None if stream is not None else out, columns)
    if text is None:
        for line in (*source.notes(), *lines):
            say(line)
        say(summary, wrap=False)
        return
    for line in lines:
        say.warn(line)
    if stream == STDOUT:
        typer.echo(text.encode("utf-8"), nl=False)  # bytes: the same as in a file, whatever the locale
    else:
        write_text(out, text)

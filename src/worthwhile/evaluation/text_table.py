"""Tables of numbers for reading, on a terminal or as plain text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["rich_table", "text_table"]

WIDTH = 100  # of a plain-text table; names in the first column wrap if they need more


def rich_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, highlight_first: bool = False) -> Table:
    """Return a table to print with rich; the first column holds names, the others numbers.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequences of str
        Cells may have two lines.
    highlight_first : bool, default False
        Print the first row (the model, the best learner) in bold.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text  # a plain string would be read as markup: a class may be called [/x]

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for position, heading in enumerate(headings):
        table.add_column(Text(heading), justify="right" if position else "left", no_wrap=position > 0)
    for position, row in enumerate(rows):
        table.add_row(*map(Text, row), style="bold" if highlight_first and position == 0 else None)
    return table


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as plain text, without colours, whatever the terminal.

    Examples
    --------
    >>> print(text_table(["learner", "cost"], [["act", "10.50"], ["c45", "9.25"]]))
    learner    cost
    ───────────────
    act       10.50
    c45        9.25
    """
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(file=buffer, width=WIDTH, color_system=None, force_terminal=False, force_jupyter=False)
    console.print(rich_table(headings, rows))
    lines = (line.removeprefix(" ").rstrip() for line in buffer.getvalue().splitlines())
    return "\n".join(line for line in lines if line)

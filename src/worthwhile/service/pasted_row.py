"""Reading a case that somebody pasted from a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from worthwhile.costs.error_costs import listing

__all__ = ["read_row"]

NUMBER_COLUMNS = ("case_number", "case number", "case", "number", "id")
EMPTY = ("", "?", "na", "nan")


def read_row(text: str, columns: Sequence[str], ignore_others: bool = False) -> tuple[str | None, dict[str, str]]:
    """Return the case number, if the row has one, and the values by test; empty cells are left out.

    Parameters
    ----------
    text : str
        A header and a row, as copied from a spreadsheet (tabs) or from a CSV file (commas or semicolons); or one row
        with a cell for every test; or lines such as age=63.
    columns : sequence of str
        The tests.
    ignore_others : bool
        Ignore columns that are not tests; otherwise they are refused.

    Examples
    --------
    >>> read_row("case\\tage\\tsex\\n17\\t63\\tmale", ["age", "sex", "chol"])
    ('17', {'age': '63', 'sex': 'male'})
    >>> read_row("63;male;", ["age", "sex", "chol"])
    (None, {'age': '63', 'sex': 'male'})
    >>> read_row("age = 63\\nsex=male", ["age", "sex", "chol"])
    (None, {'age': '63', 'sex': 'male'})
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("nothing was pasted; paste a header and a row")
    if all("=" in line for line in lines):
        pairs = [line.split("=", 1) for line in lines]
        names, cells = [name for name, _ in pairs], [cell for _, cell in pairs]
    else:
        names, cells = _table(lines, columns)
    names, cells = [name.strip() for name in names], [cell.strip() for cell in cells]
    if len(set(names)) < len(names):
        raise ValueError(f"the pasted row has a column twice: {listing(names)}")
    number = next((c for n, c in zip(names, cells, strict=True) if _is_number(n, columns)), None)
    others = [name for name in names if name not in columns and not _is_number(name, columns)]
    if others and not ignore_others:
        raise ValueError(
            f"the pasted row has columns that are not tests: {listing(others)}; tick “ignore” to drop them"
        )
    values = {n: c for n, c in zip(names, cells, strict=True) if n in columns and c.casefold() not in EMPTY}
    return number or None, values


def _is_number(name: str, columns: Sequence[str]) -> bool:
    return name not in columns and name.casefold() in NUMBER_COLUMNS


def _table(lines: list[str], columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names and cells of a header and a row, or of a row alone."""
    mark = next((mark for mark in "\t;," if mark in lines[0]), ",")
    rows = list(csv.reader(lines, delimiter=mark))
    if len(rows) == 1:
        if len(rows[0]) != len(columns):
            raise ValueError(f"a row without a header needs {len(columns)} cells, one per test; got {len(rows[0])}")
        return list(columns), rows[0]
    if len(rows) > 2:
        raise ValueError(f"paste one case: a header and a row; got {len(rows)} lines")
    header, row = rows
    if len(header) != len(row):
        raise ValueError(f"the header has {len(header)} cells, the row {len(row)}")
    return header, row

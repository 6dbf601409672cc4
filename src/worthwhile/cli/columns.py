"""The table of columns that `learn` and `compare` print: what each column contains, and what is done with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, compress
from typing import TYPE_CHECKING

import numpy as np

from worthwhile.costs.error_costs import plain_spelling, show
from worthwhile.table.columns import Column, Factor
from worthwhile.table.dates import date_text
from worthwhile.table.files import FEW, MEASURED
from worthwhile.table.identifiers import MIN_CASES
from worthwhile.wording import amount, enumeration

if TYPE_CHECKING:
    from worthwhile.cli.reading import TrainingData

__all__ = ["FLEXIBLE", "HEADINGS", "column_hints", "column_rows", "look_alikes", "measured_target"]

HEADINGS = ("column", "type", "values", "range", "missing", "price", "use")
FLEXIBLE = ("range", "column")  # may be cut off on a narrow terminal
MOST_ROWS = 40
MOST_LETTERS = 30  # of the values of a column
PLAIN_USE, CODE_USE, ROW_USE, NUMBER_USE = "yes", "yes; a code?", "yes; a row number?", "yes; an identifier?"
MANY_NUMBERS = 20  # classes that are numbers, above which they may be measured
DISTINCT = 0.95  # share of whole numbers that differ, from which on they may be identifiers


def column_rows(problem: TrainingData) -> tuple[list[tuple[str, ...]], str]:
    """Return a row for each column, and a line about those left out of a long table.

    Columns that need attention, and the target, are always shown.
    """
    rows = [_row(problem, name) for name in problem.table.columns]
    if len(rows) <= MOST_ROWS:
        return rows, ""
    notable = [row[-1] != PLAIN_USE for row in rows]
    room = MOST_ROWS - sum(notable)
    plain = accumulate(not one for one in notable)
    chosen = [one or n <= room for one, n in zip(notable, plain, strict=True)]
    shown = list(compress(rows, chosen))[: 2 * MOST_ROWS]
    left = Counter(row[1] for row in rows) - Counter(row[1] for row in shown)
    words = ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in left.items())
    return shown, f"And {sum(left.values())} more columns: {words.replace('categorys', 'categories')}."


def column_hints(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines that say what to do about columns that may be codes, row numbers or identifiers."""
    found = {use: [row[0] for row in rows if row[-1] == use] for use in (CODE_USE, ROW_USE, NUMBER_USE)}
    lines = []
    if found[CODE_USE]:
        lines.append(
            f"Used as numbers, with few values: {', '.join(found[CODE_USE])}; if they are codes, use --nominal."
        )
    if found[ROW_USE]:
        lines.append(f"Rising from case to case: {', '.join(found[ROW_USE])}; if these are row numbers, use --drop.")
    if found[NUMBER_USE]:
        names = ", ".join(found[NUMBER_USE])
        lines.append(f"Whole numbers that almost all differ: {names}; if these are identifiers, use --drop.")
    return lines


def measured_target(problem: TrainingData) -> list[str]:
    """Return a warning if the target has many different numbers, as if it were measured."""
    n = len(np.unique(problem.y))
    if n <= MANY_NUMBERS or problem.y.dtype.kind != "i":
        return []
    return [f"column {show(problem.target)} contains {n} different numbers; if they are measured, {MEASURED}"]


def look_alikes(problem: TrainingData) -> list[str]:
    """Return a warning for every column whose values differ in capitals or white space only, such as Yes and yes.

    The values of the other columns than the target may also be numbers that are written differently.
    """
    lines = []
    for name, column in problem.table.columns.items():
        if name == problem.target:
            texts, counts = np.unique(problem.y.astype(str), return_counts=True)
        elif isinstance(column, Factor) and name not in problem.left_out:
            codes, counts = np.unique(column.codes[column.codes >= 0], return_counts=True)
            texts = np.array(column.categories, dtype=object)[codes]
        else:
            continue
        alike: dict[str, list[str]] = {}
        for text, count in zip(texts.tolist(), counts.tolist(), strict=True):
            alike.setdefault(plain_spelling(text), []).append(
                f"{show(text, long=True)} ({count} case{'s' * (count > 1)})"
            )
        for found in alike.values():
            if len(found) > 1:
                what = "classes" if name == problem.target else "values"
                lines.append(
                    f"column {show(name)} has {what} that look alike: {enumeration(found)};"
                    " if they mean the same, spell them alike in the table"
                )
    return lines


def _row(problem: TrainingData, name: str) -> tuple[str, ...]:
    column = problem.table.columns[name]
    kind = "category" if isinstance(column, Factor) else "date" if name in problem.table.dates else "number"
    known = column.codes[column.codes >= 0] if isinstance(column, Factor) else column[~np.isnan(column)]
    n_values = len(np.unique(known))
    missing = len(column.codes if isinstance(column, Factor) else column) - len(known)
    price = "" if name == problem.target else "free"
    if problem.costs is not None and name in problem.costs.tests and name != problem.target:
        price = amount(problem.costs.price(name))
    shown = _examples(column, kind, n_values)
    use = _use(problem, name, column, n_values)
    return name, kind, f"{n_values:,}", shown, f"{missing:,}" if missing else "", price, use


def _examples(column: Column, kind: str, n_values: int) -> str:
    if n_values == 0:
        return ""
    if isinstance(column, Factor):
        texts = [column.categories[code] for code in np.unique(column.codes[column.codes >= 0])[:MOST_LETTERS]]
        examples = " ".join(", ".join(texts).split())
        return f"{examples[: MOST_LETTERS - 1]}…" if len(texts) < n_values or len(examples) > MOST_LETTERS else examples
    write = date_text if kind == "date" else "{:g}".format
    low, high = write(float(np.nanmin(column))), write(float(np.nanmax(column)))
    return low if n_values == 1 else f"{low} to {high}"


def _use(problem: TrainingData, name: str, column: Column, n_values: int) -> str:
    reasons = {
        "the class": name == problem.target,
        "no: no values": n_values == 0,
        "no: one value": n_values == 1,
        "no: identifiers": name in problem.left_out,
        "yes, as declared": name in problem.declared,
        PLAIN_USE: isinstance(column, Factor),
        "yes, in days": name in problem.table.dates,
    }
    found = next((words for words, applies in reasons.items() if applies), None)
    if found is not None or isinstance(column, Factor):
        return found or PLAIN_USE
    known = column[~np.isnan(column)]
    if (known == np.rint(known)).all():
        if len(known) >= MIN_CASES and (np.diff(column) > 0).all():
            return ROW_USE
        if len(known) >= MIN_CASES and n_values >= DISTINCT * len(known):
            return NUMBER_USE
        if 3 <= n_values <= FEW:
            return CODE_USE
    return PLAIN_USE

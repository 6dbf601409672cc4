"""Recognises columns that identify cases instead of describing them: identifiers, names, free text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from worthwhile.costs.error_costs import listing, show
from worthwhile.table.columns import Columns, Factor
from worthwhile.table.dates import DateFormatError, parse_dates

__all__ = ["find_identifiers", "identifier_warning", "is_identifier", "unused_warning"]

# With fewer cases, many values may be chance. From here on a nominal column is not used if more than half of its values
# differ: a branch would have fewer than two cases on average, from which nothing about new cases can be learned.
MIN_CASES = 30


def is_identifier(column: Factor) -> bool:
    """Return whether a nominal column has almost as many values as cases.

    Examples
    --------
    >>> is_identifier(Factor.of([f"patient {i}" for i in range(40)])), is_identifier(Factor.of(["a", "b"] * 20))
    (True, False)
    """
    if 2 * len(column.categories) <= MIN_CASES:
        return False
    known = column.codes[column.codes >= 0]
    if len(known) < MIN_CASES or 2 * len(column.categories) <= len(known):
        return False
    return 2 * len(np.unique(known)) > len(known)


def find_identifiers(columns: Columns, declared: Collection[int] = ()) -> list[int]:
    """Return the positions of nominal columns with almost as many values as cases, except those that users declared."""
    return [
        j
        for j, column in enumerate(columns.arrays)
        if isinstance(column, Factor) and not column.ordered and j not in declared and is_identifier(column)
    ]


def identifier_warning(columns: Columns, positions: Sequence[int]) -> str:
    """Return a warning that names the columns and says what to do."""
    text = unused_warning([columns.names[j] for j in positions])
    for j in positions:
        column = columns.arrays[j]
        if isinstance(column, Factor) and _are_dates(column.categories):
            text += f"; {show(columns.names[j])} contains dates: convert it to a date type, e.g. by pandas.to_datetime"
        elif isinstance(column, Factor) and _are_numbers(column.categories):
            how = "if they are amounts, convert it, e.g. by pandas.to_numeric"
            text += f"; {show(columns.names[j])} contains numbers as strings: {how}"
    return text


def unused_warning(names: Sequence[str]) -> str:
    """Return a warning about columns that are not used.

    Examples
    --------
    >>> print(unused_warning(["id"]))
    column 'id' has almost as many values as cases and is not used; to use it, name it in nominal=
    """
    one = len(names) == 1
    return (
        f"column{'s' * (not one)} {listing(names)} {'has' if one else 'have'} almost as many values as cases and"
        f" {'is' if one else 'are'} not used; to use {'it' if one else 'one'}, name it in nominal="
    )


def _are_dates(texts: Sequence[str]) -> bool:
    try:
        return parse_dates(texts) is not None
    except DateFormatError:
        return True


def _are_numbers(texts: Sequence[str]) -> bool:
    try:
        np.array(texts, dtype=np.float64)
    except ValueError:
        return False
    return True

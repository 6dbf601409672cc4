"""The branches of a test in words: "≤ 38", "angina or abnang"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worthwhile.table.dates import date_text

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["condition", "number", "threshold_text"]

MANY = 10  # values of a branch; of more, those of the other branches are named, if they are fewer


def condition(tree: Tree, node: int, branch: int) -> str:
    """Return the condition of a branch in words, e.g. "≤ 38", "angina or abnang" or "other than angina"."""
    test = int(tree.nodes.test[node])
    values = tree.schema.values[test]
    if values is None:
        return f"{'>' if branch else '≤'} {threshold_text(tree, test, float(tree.nodes.threshold[node]))}"
    branch_of = tree.nodes.branch_of(node)
    taken = [value for value, b in zip(values, branch_of, strict=True) if b == branch]
    others = [value for value, b in zip(values, branch_of, strict=True) if b != branch]
    if MANY < len(taken) > len(others) > 0 and min(branch_of) >= 0:
        return f"other than {' or '.join(others)}"
    return " or ".join(taken) or "no known value"


def threshold_text(tree: Tree, test: int, value: float) -> str:
    """Return a threshold of a numeric test, as a date if the test is one."""
    return date_text(value) if tree.columns[test] in tree.schema.dates else number(value)


def number(value: float) -> str:
    """Return a threshold: whole numbers in full, others with eight digits.

    Examples
    --------
    >>> number(38.0), number(1 / 3)
    ('38', '0.33333333')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.8g}"

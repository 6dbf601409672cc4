"""The branches of a test in words: "≤ 38", "angina or abnang"."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["condition", "number"]


def condition(tree: Tree, node: int, branch: int) -> str:
    """Return the condition of a branch in words, e.g. "≤ 38" or "angina or abnang"."""
    values = tree.schema.values[int(tree.nodes.test[node])]
    if values is None:
        return f"{'>' if branch else '≤'} {number(float(tree.nodes.threshold[node]))}"
    taken = (value for value, b in zip(values, tree.nodes.branch_of(node), strict=True) if b == branch)
    return " or ".join(taken) or "no known value"


def number(value: float) -> str:
    """Return a threshold: whole numbers in full, others with eight digits.

    Examples
    --------
    >>> number(38.0), number(1 / 3)
    ('38', '0.33333333')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.8g}"

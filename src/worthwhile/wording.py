"""Amounts, percentages, lists of names and conditions as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["amount", "condition", "enumeration", "number", "percent"]


def amount(money: float, fine: bool = False) -> str:
    """Return an amount with two decimals; zero has no minus sign.

    Parameters
    ----------
    money : float
    fine : bool
        Use three decimals below 1, for averages over cases such as a mean cost where every error costs 1.

    Examples
    --------
    >>> amount(7.268), amount(-1e-12), amount(0.0714)
    ('7.27', '0.00', '0.07')
    >>> amount(7.268, fine=True), amount(-1e-12, fine=True), amount(0.0714, fine=True)
    ('7.27', '0.00', '0.071')
    """
    if fine and 0 < abs(round(money, 3)) < 1:
        return f"{money:.3f}"
    return f"{round(money, 2) + 0.0:.2f}"


def percent(share: float) -> str:
    """Return a share of the cases in whole percent, or with one significant digit below 1 %.

    Examples
    --------
    >>> percent(0.123), percent(0.005), percent(0.0)
    ('12 %', '0.5 %', '0 %')
    """
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.0095 else f"{100 * share:.1g} %"


def enumeration(names: Sequence[str], word: str = "and") -> str:
    """Return names joined by commas and a final "and" (or another word).

    Examples
    --------
    >>> enumeration(["a", "b", "c"]), enumeration(["a"])
    ('a, b and c', 'a')
    """
    return f" {word} ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def condition(tree: Tree, node: int, branch: int) -> str:
    """Return the condition of a branch in words, e.g. "≤ 38" or "angina or abnang"."""
    column = int(tree.nodes.test[node])
    values = tree.schema.values[column]
    if values is None:
        return f"{'>' if branch else '≤'} {number(float(tree.nodes.threshold[node]))}"
    return (
        " or ".join(v for v, b in zip(values, tree.nodes.branch_of(node), strict=True) if b == branch)
        or "no known value"
    )


def number(value: float) -> str:
    """Return a number as text: whole numbers in full, others with eight digits."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.8g}"

"""Amounts, percentages and lists of names as text."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["amount", "enumeration", "percent"]


def amount(money: float, fine: bool = False) -> str:
    """Return an amount with two decimals; zero has no minus sign.

    Parameters
    ----------
    money : float
    fine : bool
        An average over cases, such as a total cost where every error costs 1: three decimals below 1.

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
    """Return a share of the cases in whole percent, with more digits below one percent.

    Examples
    --------
    >>> percent(0.123), percent(0.005), percent(0.0)
    ('12 %', '0.5 %', '0 %')
    """
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.0095 else f"{100 * share:.1g} %"


def enumeration(names: Sequence[str], word: str = "and") -> str:
    """Return names as they are listed in a sentence.

    Examples
    --------
    >>> enumeration(["a", "b", "c"]), enumeration(["a"])
    ('a, b and c', 'a')
    """
    return f" {word} ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)

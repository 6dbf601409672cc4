"""Amounts, percentages and lists of names as text."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

__all__ = ["BY_PROBABILITIES", "LEFT_OUT", "amount", "enumeration", "percent", "weight_text", "with_currency"]

# Two figures are called the expected cost of a model; one of these phrases is beside each of them, everywhere.
LEFT_OUT = "measured on cases left out in training"  # of the learner: models of the same kind, on other cases
BY_PROBABILITIES = "by the model's own probabilities"  # of this model: class probabilities and shares of its nodes

MANY = 100  # cases, of which tenths do not matter


def amount(money: float, fine: bool = False) -> str:
    """Return an amount with two decimals, or with two significant digits if it is small; zero has no minus sign.

    Amounts below half a millionth are rounding errors and shown as zero.

    Parameters
    ----------
    money : float
    fine : bool
        An average over cases, such as a total cost where every error costs 1: three decimals below 1.

    Examples
    --------
    >>> amount(7.268), amount(-1e-12), amount(0.0714), amount(0.0042), amount(-0.05)
    ('7.27', '0.00', '0.071', '0.0042', '-0.05')
    >>> amount(7.268, fine=True), amount(-1e-12, fine=True), amount(0.714, fine=True)
    ('7.27', '0.00', '0.714')
    """
    size = abs(money)
    if size < 5e-7:
        return "0.00"
    if size < 0.0995:
        text = f"{money:.{1 - math.floor(math.log10(size))}f}"
        return text.rstrip("0").ljust(text.index(".") + 3, "0")
    return f"{money:.3f}" if fine and round(size, 3) < 1 else f"{money:.2f}"


def with_currency(amount: str, currency: str) -> str:
    """Return an amount with its currency: a sign goes before it, a word after it.

    Examples
    --------
    >>> with_currency("7.27", "€"), with_currency("7.27", "EUR"), with_currency("7.27", "")
    ('€7.27', '7.27 EUR', '7.27')
    """
    if len(currency) == 1 and unicodedata.category(currency) == "Sc":
        return f"{currency}{amount}"
    return f"{amount} {currency}" if currency else amount


def percent(share: float) -> str:
    """Return a share of the cases in whole percent, with more digits below one percent.

    Examples
    --------
    >>> percent(0.123), percent(0.005), percent(0.0)
    ('12 %', '0.5 %', '0 %')
    """
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.0095 else f"{100 * share:.1g} %"


def weight_text(weight: float) -> str:
    """Return a weight as text, that of whole or many cases without decimals.

    Examples
    --------
    >>> weight_text(34.0), weight_text(8.25), weight_text(12.000000001), weight_text(2345.6), weight_text(0.042)
    ('34', '8.2', '12', '2346', '0.04')
    """
    if weight >= MANY or math.isclose(weight, round(weight), rel_tol=1e-5, abs_tol=1e-8):
        return f"{weight:.0f}"
    return f"{weight:.1f}" if weight >= 0.095 else f"{weight:.1g}"


def enumeration(names: Sequence[str], word: str = "and") -> str:
    """Return names as they are listed in a sentence.

    Examples
    --------
    >>> enumeration(["a", "b", "c"]), enumeration(["a"])
    ('a, b and c', 'a')
    """
    return f" {word} ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)

"""Means per case with bootstrapped intervals, and tables of them for reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile.wording import amount

__all__ = [
    "LEVEL",
    "Estimate",
    "bootstrap",
    "estimate",
    "flat",
    "money_row",
    "p_value",
    "saved",
    "stacked",
    "text_table",
]

LEVEL = 0.95
DRAWS = 2000


class Estimate(NamedTuple):
    """A mean per case with its interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


def bootstrap(parts: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return the means of the columns over `DRAWS` samples of the cases.

    Cases that cost the same are counted, not drawn one by one: there are few different ones, so a million cases take
    no longer than a thousand.
    """
    distinct, counts = np.unique(parts, axis=0, return_counts=True)
    n = len(parts)
    means = np.empty((DRAWS, parts.shape[1]))
    step = max(1, 10_000_000 // len(distinct))
    for first in range(0, DRAWS, step):
        drawn = rng.multinomial(n, counts / n, size=min(step, DRAWS - first))
        means[first : first + len(drawn)] = drawn @ distinct / n
    return means


def estimate(values: npt.NDArray[np.float64], draws: npt.NDArray[np.float64]) -> Estimate:
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(values.mean()), float(low), float(high))


def money_row(way: Any) -> dict[str, float | None]:
    return {
        **flat("test_cost", way.test_cost),
        **flat("error_cost", way.error_cost),
        **flat("total_cost", way.total_cost),
    }


def flat(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    mean, low, high = (None, None, None) if estimate is None else estimate
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def stacked(estimate: Estimate) -> str:
    return f"{amount(estimate.mean, fine=True)}\n{_bounds(estimate, '–')}"


def _bounds(estimate: Estimate, between: str) -> str:
    """Write an interval with as many decimals as it deserves."""
    largest = max(abs(estimate.low), abs(estimate.high))
    if not largest:
        return f"0.00{between}0.00"
    decimals = 3 if largest < 1 else 2 if largest < 100 else 1 if largest < 1000 else 0
    return f"{estimate.low:.{decimals}f}{between}{estimate.high:.{decimals}f}"


def saved(saving: Estimate, other: str) -> str:
    """Put a saving against another way in words."""
    if saving.mean >= 0:
        return f"saves {amount(saving.mean, fine=True)} per case ({_bounds(saving, ' to ')}) against {other}"
    loss = Estimate(-saving.mean, -saving.high, -saving.low)
    return f"costs {amount(loss.mean, fine=True)} more per case ({_bounds(loss, ' to ')}) than {other}"


def p_value(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay a table out as plain text; cells may have two lines."""
    lines = [[list(headings)], *([list(row) for row in _lines_of(cells)] for cells in rows)]
    widths = [max(len(line[j]) for block in lines for line in block) for j in range(len(headings))]
    shown = []
    for block in lines:
        for line in block:
            first, *others = (
                cell.ljust(w) if j == 0 else cell.rjust(w) for j, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            shown.append("  ".join([first, *others]).rstrip())
    return "\n".join(shown)


def _lines_of(cells: Sequence[str]) -> list[list[str]]:
    parts = [cell.split("\n") for cell in cells]
    height = max(map(len, parts))
    return [[part[i] if i < len(part) else "" for part in parts] for i in range(height)]

"""Means per case with bootstrapped confidence intervals, and how they are shown."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile.wording import amount

__all__ = [
    "LEVEL",
    "Estimate",
    "bootstrap",
    "cost_columns",
    "estimate",
    "interval_columns",
    "p_value",
    "saved",
    "stacked",
]

LEVEL = 0.95
DRAWS = 2000


class Estimate(NamedTuple):
    """A mean per case with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


def bootstrap(parts: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return the column means of `DRAWS` bootstrap samples of the cases.

    Cases with equal costs are counted, not drawn one by one: there are few distinct ones, so a million cases take no
    longer than a thousand.
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
    """Return the mean of values with the interval given by the bootstrapped means."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(values.mean()), float(low), float(high))


def cost_columns(costs: Any) -> dict[str, float | None]:
    """Return the test, error and total cost of a strategy or learner as columns of a CSV file."""
    return {
        **interval_columns("test_cost", costs.test_cost),
        **interval_columns("error_cost", costs.error_cost),
        **interval_columns("total_cost", costs.total_cost),
    }


def interval_columns(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Return an estimate as three columns: NAME, NAME_low and NAME_high."""
    mean, low, high = (None, None, None) if estimate is None else estimate
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def stacked(estimate: Estimate) -> str:
    """Return the mean, with the interval in a second line."""
    return f"{amount(estimate.mean, fine=True)}\n{_bounds(estimate, '–')}"


def _bounds(estimate: Estimate, between: str) -> str:
    """Write an interval, with fewer decimals the larger its numbers are."""
    largest = max(abs(estimate.low), abs(estimate.high))
    if not largest:
        return f"0.00{between}0.00"
    decimals = 3 if largest < 1 else 2 if largest < 100 else 1 if largest < 1000 else 0
    return f"{estimate.low:.{decimals}f}{between}{estimate.high:.{decimals}f}"


def saved(saving: Estimate, other: str) -> str:
    """Describe a saving compared with another strategy.

    Examples
    --------
    >>> saved(Estimate(2.0, 1.0, 3.0), "no test"), saved(Estimate(0.0, 0.0, 0.0), "no test")
    ('saves 2.00 per case (1.00 to 3.00) compared with no test', 'costs exactly as much as no test')
    """
    if saving == (0.0, 0.0, 0.0):
        return f"costs exactly as much as {other}"
    if saving.mean >= 0:
        return f"saves {amount(saving.mean, fine=True)} per case ({_bounds(saving, ' to ')}) compared with {other}"
    loss = Estimate(-saving.mean, -saving.high, -saving.low)
    return f"costs {amount(loss.mean, fine=True)} more per case ({_bounds(loss, ' to ')}) than {other}"


def p_value(p: float) -> str:
    """Return a p-value with three decimals."""
    return f"{p:.3f}" if p >= 0.001 else "<0.001"

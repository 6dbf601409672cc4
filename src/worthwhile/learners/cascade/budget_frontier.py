"""What a cascade costs within a budget: the rate between prices and error costs, and where all cases begin."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile.learners.cascade.stopping_rule import RuleFitter, sure_gain

__all__ = ["BudgetFrontier", "BudgetPoint"]

Floats = npt.NDArray[np.float64]
Order = Callable[["BudgetPoint"], tuple[float, ...]]
# So many rates for all budgets, and up to so many more for each of them, unless a budget is used up to a few percent or
# the rates next to each other are as close as this.
N_RATES, N_CLOSER = 24, 6
FILLED, CLOSE = 0.97, 1.005
CLEAR = 2.0  # standard errors that the best of all points must save: it is one of hundreds
ROUNDING = 1e-9


class BudgetPoint(NamedTuple):
    """What tests and errors cost per case, by a rate and a first set."""

    rate: float
    first: int | None
    price: float
    loss: float


class BudgetFrontier:
    """The average price and loss of the cascades of many rates, with every first set.

    All cases look alike at the start, so that a rate sends all of them to the same set. With the rate alone, the
    average price would jump from what begins with one set to what begins with another, and much of a budget might stay
    unused; the first set fills the gaps.

    Parameters
    ----------
    fitter : RuleFitter
    weights : array
        Of the cases.
    root_price : float
        What the first stage costs, on average.
    rates : (float, float)
        The lowest and the highest rate.
    """

    def __init__(self, fitter: RuleFitter, weights: Floats, root_price: float, rates: tuple[float, float]) -> None:
        self._fitter, self._shares, self._root_price = fitter, weights / weights.sum(), root_price
        self._points: dict[float, list[BudgetPoint]] = {}
        for rate in rates:
            self._add(rate)
        while len(self._points) < N_RATES:
            known = sorted(self._points)
            gaps = [self._gap(low, high) for low, high in itertools.pairwise(known)]
            widest = int(np.argmax(gaps))
            if gaps[widest] <= 0:
                break
            self._add(math.sqrt(known[widest] * known[widest + 1]))

    def _add(self, rate: float) -> None:
        self._points[rate] = [
            BudgetPoint(rate, first, self._root_price + self._mean(own.price), self._mean(own.expected))
            for first, own in self._fitter.first_steps(rate).items()
        ]

    def _mean(self, values: Floats) -> float:
        return float((self._shares * values).sum())

    def _gap(self, low: float, high: float) -> float:
        """Return by how much the prices of two rates differ, over all first sets."""
        return sum(abs(a.price - b.price) for a, b in zip(self._points[low], self._points[high], strict=True))

    def best(self, budget: float) -> BudgetPoint | None:
        """Return the point to take within a budget; None: nothing is as cheap.

        It is that of the lowest rate, which spends most. Another first set, or a higher rate, is taken if it saves more
        than chance explains.
        """
        usual, other = self._closest(budget, _by_rate), self._closest(budget, _by_loss)
        if usual is None or other is None:
            return None
        if usual != other and sure_gain(self._losses(usual) - self._losses(other), self._shares, CLEAR) > 0:
            return self._steady(other)
        return self._steady(usual)

    def _losses(self, point: BudgetPoint) -> Floats:
        return self._fitter.first_steps(point.rate)[point.first].expected

    def _steady(self, point: BudgetPoint) -> BudgetPoint:
        """Return the point in the middle of all rates that give the same: at their ends, other cases might differ."""
        same = sorted(own for points in self._points.values() for own in points if own[1:] == point[1:])
        return same[len(same) // 2]

    def _closest(self, budget: float, order: Order) -> BudgetPoint | None:
        """Return the first point by an order; rates next to it are tried while much of the budget is unused."""
        for _ in range(N_CLOSER):
            found = self._first(budget, order)
            lower = max((rate for rate in self._points if found and rate < found.rate), default=None)
            if found is None or lower is None or found.price >= FILLED * budget or found.rate < CLOSE * lower:
                return found
            self._add(math.sqrt(lower * found.rate))
        return self._first(budget, order)

    def _first(self, budget: float, order: Order) -> BudgetPoint | None:
        points = itertools.chain.from_iterable(self._points.values())
        within = (point for point in points if point.price <= budget * (1 + ROUNDING))
        return min(within, key=order, default=None)


def _by_rate(point: BudgetPoint) -> tuple[float, ...]:
    return point.first is not None, point.rate


def _by_loss(point: BudgetPoint) -> tuple[float, ...]:
    return point.loss, point.price, point.rate

"""Costs bound to the columns and classes of one table: prices by column and error costs by class, for the core."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.costs import Costs, Prices
from worthwhile.costs.error_costs import MAX_AMOUNT, label_key, plain_label

__all__ = ["BoundCosts", "LearningCosts"]

Floats = npt.NDArray[np.float64]

# EG2 divides by (price + 1) ** ω: a formula needs a unit for its 1. Prices are scaled so that their geometric mean,
# without free tests, is this one. Compared with prices in dollars, EG2 (pruned by cost, least-cost answers) then costs
# 50.5 instead of 50.8 % of the standard cost on Turney's five problems, and 22.5 instead of 23.5 % on seven data sets
# with drawn prices of 1 to 100; ACT without look-ahead 50.2 instead of 49.9 %, and 21.8 instead of 23.2 %.
MEAN_PRICE = 5.0
# Dividing by a unit rounds differently in every currency. Numbers that keep 40 of their 53 bits are the same in all.
BITS = 40


@dataclass(frozen=True, eq=False)
class LearningCosts:
    """Costs as a learner sees them.

    Attributes
    ----------
    unit : float
        What 1 is worth in the user's money.
    base : array
        By class: what its cheapest answer costs, in the user's money. Error costs are above this.
    error_costs : array
        By truth and answer.
    core_pricing, core_errors
        The same for the core.
    """

    unit: float
    base: Floats
    error_costs: Floats
    core_pricing: Any
    core_errors: Any

    def in_money(self, cost: float, class_weights: Floats) -> float:
        """Return an expected cost per case in the user's money."""
        base = float(np.average(self.base, weights=class_weights)) if self.base.any() else 0.0
        return cost * self.unit + base


@dataclass(frozen=True, eq=False)
class BoundCosts:
    """Prices of the columns and costs of the errors, computed once and shared by a learner and its tree."""

    costs: Costs
    prices: Prices
    answers: tuple[Any, ...]
    error_costs: Floats  # [truth][answer]
    core_pricing: Any
    core_errors: Any
    cap: float | None = None  # no case may pay more
    truth: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))  # of each surcharge; -1: all
    by_case: bool = False  # cases have prices of their own, also where the list has none

    @classmethod
    def of(
        cls,
        costs: Costs | None,
        columns: Sequence[str],
        classes: Sequence[Any],
        cap: float | None = None,
        by_case: bool = False,
    ) -> BoundCosts:
        """Bind costs to these columns and classes; raise an error if they do not fit."""
        costs, prices = _priced(costs, columns) if costs is not None else _free(tuple(columns))[:2]
        answers, matrix = costs.error_matrix(classes)
        matrix = np.ascontiguousarray(matrix)
        matrix.flags.writeable = False
        truth = _truths(prices, classes)
        is_free = not costs.tests and cap is None
        pricing = _free(tuple(columns))[2] if is_free else _core_pricing(prices, truth, cap)
        errors = _core.Errors(np.ascontiguousarray(matrix - matrix.min(axis=1, keepdims=True)))
        return cls(costs, prices, tuple(answers), matrix, pricing, errors, cap, truth, by_case)

    @functools.cached_property
    def base(self) -> Floats:
        """By class: what its cheapest answer costs. Routing does without it, since no answer can save it."""
        return self.error_costs.min(axis=1)

    @functools.cached_property
    def learning(self) -> LearningCosts:
        """The costs that learners compare: the same in every currency, and if all answers for a class cost more.

        Examples
        --------
        >>> costs = Costs(tests={"fever": 400}, errors=[[300, 9300], [500, 0]], classes=["a", "b"])
        >>> cents = BoundCosts.of(costs, ["fever"], "ab")
        >>> cents.learning.error_costs.tolist(), round(cents.learning.unit), cents.learning.base.tolist()
        ([[0.0, 112.5], [6.25, 0.0]], 80, [300.0, 0.0])
        """
        base = self.base
        regret = self.error_costs - base[:, None]
        unit = self._unit(regret)
        own = self.prices
        is_free = not (self.costs.tests or self.cap is not None or self.by_case)
        amounts = [] if is_free else [own.marginal, own.common, own.surcharge_amount, own.waiting[:, 1]]
        scaled = [_rounded(array / unit) for array in (*amounts, regret)]
        # Times weights, they would overflow.
        if max(np.abs(array).max() for array in scaled if array.size) > MAX_AMOUNT:
            return self.as_given
        *parts, errors = scaled
        if is_free:
            return LearningCosts(unit, base, errors, self.core_pricing, _core.Errors(errors, unit))
        marginal, common, surcharges, waiting = parts
        points = np.column_stack([own.waiting[:, 0], waiting]) if len(waiting) else own.waiting
        prices = replace(own, marginal=marginal, common=common, surcharge_amount=surcharges, waiting=points)
        cap = None if self.cap is None else self.cap / unit
        pricing = _core_pricing(prices, self.truth, cap, unit)
        return LearningCosts(unit, base, errors, pricing, _core.Errors(errors, unit))

    @functools.cached_property
    def as_given(self) -> LearningCosts:
        """The costs in the user's money, for formulas of papers that depend on its unit."""
        base = np.zeros(len(self.error_costs))
        return LearningCosts(1.0, base, self.error_costs, self.core_pricing, _core.Errors(self.error_costs))

    @functools.cached_property
    def largest_error(self) -> float:
        """The largest error cost, without its sign: the scale of differences that do not count."""
        return float(np.abs(self.error_costs).max())

    def _unit(self, regret: Floats) -> float:
        listed = self.prices.full_prices() if self.costs.tests else np.empty(0)
        if (listed > 0).any():
            return float(np.exp(np.log(listed[listed > 0]).mean())) / MEAN_PRICE
        return float(regret.max(initial=0.0)) or 1.0

    def has_uniform_errors(self) -> bool:
        """Return whether all errors cost the same, and all correct answers cost the same, above the cheapest answer."""
        costs = self.learning.error_costs
        right = np.eye(*costs.shape, dtype=np.bool_)
        kinds = costs[right], costs[~right]
        return all(bool(np.ptp(costs) == 0) for costs in kinds if costs.size)

    def free_pricing(self) -> Any:
        """Return prices for the core in which every test is free."""
        return _free(tuple(map(str, range(len(self.prices.marginal)))))[2]


def _rounded(values: Floats) -> Floats:
    """Return numbers rounded to 40 bits."""
    if not values.size:
        return values
    mantissa, exponent = np.frexp(values)
    return np.ascontiguousarray(np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS))


def _priced(costs: Costs, columns: Sequence[str]) -> tuple[Costs, Prices]:
    return costs, costs.prices_for(columns)


def _truths(prices: Prices, classes: Sequence[Any]) -> npt.NDArray[np.int32]:
    """Return the index of the class of each surcharge; -1: it is for all classes; a class that is not here is none."""
    if not prices.surcharges:
        return np.empty(0, np.int32)
    names = [str(label_key(plain_label(label))) for label in classes]
    place = {name: at for at, name in enumerate(names)}
    found = [-1 if own.truth is None else place.get(label_key(own.truth), len(names)) for own in prices.surcharges]
    return np.array(found, dtype=np.int32)


def _core_pricing(prices: Prices, truth: npt.NDArray[np.int32], cap: float | None, unit: float = 1.0) -> Any:
    """Return the prices for the core; `unit` is what 1 is worth in the user's money."""
    given: dict[str, Any] = {
        name: array for name, array in vars(prices).items() if name not in ("surcharges", "surcharge_amount")
    }
    given["marginal"] = np.concatenate([prices.marginal, prices.surcharge_amount])
    if cap is not None:
        given["cap"] = cap
    return _core.Pricing(**given, truth=truth, unit=unit)


# Cached: without costs the same prices come up again and again, at a twentieth of a fit on 500 × 8.
@functools.lru_cache(maxsize=16)
def _free(columns: tuple[str, ...]) -> tuple[Costs, Prices, Any]:
    costs, prices = _priced(Costs(), columns)
    return costs, prices, _core_pricing(prices, np.empty(0, np.int32), None)

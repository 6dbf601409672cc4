"""Costs bound to the columns and classes of one table: prices by column and error costs by class, for the core."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.costs import Costs, Prices

__all__ = ["BoundCosts"]


@dataclass(frozen=True, eq=False)
class BoundCosts:
    """Prices of the columns and costs of the errors, computed once and shared by a learner and its tree."""

    costs: Costs
    prices: Prices
    answers: tuple[Any, ...]
    error_costs: npt.NDArray[np.float64]  # [truth][answer]
    core_pricing: Any
    core_errors: Any

    @classmethod
    def of(cls, costs: Costs | None, columns: Sequence[str], classes: Sequence[Any]) -> BoundCosts:
        """Bind costs to these columns and classes; raise an error if they do not fit."""
        priced = _priced(costs, columns) if costs is not None else _free(tuple(columns))
        costs, prices, core_pricing = priced
        answers, matrix = costs.error_matrix(classes)
        matrix = np.ascontiguousarray(matrix)
        matrix.flags.writeable = False
        return cls(costs, prices, tuple(answers), matrix, core_pricing, _core.Errors(matrix))

    def has_uniform_errors(self) -> bool:
        """Return whether all errors cost the same, and all correct answers cost the same."""
        right = np.eye(*self.error_costs.shape, dtype=np.bool_)
        kinds = self.error_costs[right], self.error_costs[~right]
        return all(bool(np.ptp(costs) == 0) for costs in kinds if costs.size)

    def free_pricing(self) -> Any:
        """Return prices for the core in which every test is free."""
        return _free(tuple(map(str, range(len(self.prices.marginal)))))[2]


def _priced(costs: Costs, columns: Sequence[str]) -> tuple[Costs, Prices, Any]:
    prices = costs.prices_for(columns)
    return costs, prices, _core.Pricing(*vars(prices).values())


# Cached: without costs the same prices come up again and again, at a twentieth of a fit on 500 × 8.
@functools.lru_cache(maxsize=16)
def _free(columns: tuple[str, ...]) -> tuple[Costs, Prices, Any]:
    return _priced(Costs(), columns)

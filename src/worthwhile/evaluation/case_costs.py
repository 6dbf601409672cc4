"""Prices and error costs of the cases of an evaluation, where they depend on the case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import listing
from worthwhile.tree.context import ProblemContext

__all__ = ["LISTED", "CaseCosts"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CaseCosts:
    """What tests and errors cost each case; None: as the price list says."""

    prices: Floats | None = None  # (cases, tests)
    errors: Floats | None = None  # (cases, answers)
    answers: tuple[Any, ...] = ()

    @classmethod
    def of(cls, context: ProblemContext, case_prices: Any, case_errors: Any, n_cases: int) -> CaseCosts:
        """Check and return the costs of some cases, by the tests and answers of a problem."""
        prices = context.checked_case_prices(case_prices, n_cases)
        return cls(prices, context.checked_case_errors(case_errors, n_cases), tuple(context.answers))

    def take(self, rows: npt.NDArray[Any]) -> CaseCosts:
        """Return the costs of some cases."""
        prices, errors = (None if own is None else own[rows] for own in (self.prices, self.errors))
        return replace(self, prices=prices, errors=errors)

    def of_tests(self, tests: Sequence[int]) -> CaseCosts:
        """Return the costs where there are only some of the tests."""
        return replace(self, prices=None if self.prices is None else np.ascontiguousarray(self.prices[:, list(tests)]))

    def errors_for(self, answers: Sequence[Any]) -> Floats | None:
        """Return the error costs of these answers, in this order."""
        if self.errors is None or tuple(answers) == self.answers:
            return self.errors
        if unknown := [answer for answer in answers if answer not in self.answers]:
            raise ValueError(
                f"case_errors has no costs for the answer {unknown[0]!r}, only for {listing(self.answers)}"
            )
        return np.ascontiguousarray(self.errors[:, [self.answers.index(answer) for answer in answers]])

    def for_fit(self, costs: Costs, y: npt.NDArray[Any]) -> dict[str, Any]:
        """Return the arguments of `fit` for these cases; empty if all costs are those of the list."""
        found: dict[str, Any] = {} if self.prices is None else {"case_prices": self.prices}
        if self.errors is not None:
            found["case_errors"] = self.errors_for(costs.error_matrix(np.unique(y).tolist())[0])
        return found


LISTED = CaseCosts()

"""Warnings about limits that forbid every test, price lists without a price, and errors that cost nothing or pay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import listing
from worthwhile.wording import amount, with_currency

if TYPE_CHECKING:
    from worthwhile.cli.case_costs import CaseTables
    from worthwhile.cli.reading import TrainingData

__all__ = ["about_errors", "about_prices", "errors_that_pay"]


def about_prices(
    problem: TrainingData, own: CaseTables, cap: float | None = None, budget: float | None = None
) -> list[str]:
    """Return warnings if no test has a price, or if a limit is below the price of every test that has one.

    A case may be charged less for a test than its price alone if a surcharge is negative, and more or less if columns
    say what it costs each case: then nothing is said.
    """
    if own.prices is not None:
        return []
    costs = Costs() if problem.costs is None else problem.costs
    least = {name: _least_price(costs, name) for name in problem.names}
    priced = {name: price for name, price in least.items() if price > 0}
    if not priced:
        surcharged = any(test.surcharges for test in costs.tests.values())
        if problem.costs is None or surcharged:
            return []
        return ["the price list has no price above 0 for any test of the table: all tests are free"]
    cheapest = min(priced, key=priced.__getitem__)
    price = with_currency(amount(priced[cheapest]), costs.currency)
    found = f"the cheapest test with a price, {cheapest}, costs {price}"
    free = [name for name in problem.names if name not in priced]
    lines = []
    if cap is not None and cap < priced[cheapest]:
        rest = f"only free tests can be done: {listing(free)}" if free else "no test can be done"
        lines.append(f"--cap {cap:g} forbids every test that has a price: {found}; {rest}")
    if budget is not None and budget < priced[cheapest] and not free:
        lines.append(f"--budget {budget:g} is too small for any test: {found}, and all cases start with a test")
    return lines


def about_errors(problem: TrainingData, own: CaseTables) -> list[str]:
    """Return warnings if errors cost nothing, or if a wrong answer is cheaper than the right one."""
    if problem.costs is None or own.errors is not None:
        return []
    classes = np.unique(problem.y).tolist()
    if not problem.costs.error_matrix(classes)[1].any():
        return ["all answers cost 0, right or wrong: no test can be worth a price"]
    return errors_that_pay(problem.costs, classes)


def errors_that_pay(costs: Costs, classes: Sequence[Any]) -> list[str]:
    """Return a sentence for every class that is cheaper to get wrong than right."""
    answers, matrix = costs.error_matrix(classes)  # the first answers are the classes
    return [
        f"a case of {truth} costs {amount(matrix[i, i])} if it is answered right, but {amount(matrix[i, best])} "
        f"if it is answered {answers[best]}; is this meant?"
        for i, (truth, best) in enumerate(zip(classes, matrix.argmin(axis=1).tolist(), strict=True))
        if matrix[i, best] < matrix[i, i]
    ]


def _least_price(costs: Costs, name: str) -> float:
    """Return what a first test costs at least: with its groups and the tests it requires, and all discounts."""
    if name not in costs.tests:
        return 0.0
    discounts = (min(own.amount, 0.0) for test in costs.tests.values() for own in test.surcharges)
    return max(costs.price(name) + sum(discounts), 0.0)

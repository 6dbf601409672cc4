"""The sets of tests of a cascade: chains that grow by value for money (docs/design/cascades.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from worthwhile.costs.pricing import Pricing

__all__ = ["chains", "free_tests", "within_budget"]

Floats = npt.NDArray[np.float64]
TestSet = frozenset[int]

# How strongly prices count against importance; no single exponent is best for all price lists.
EXPONENTS = (1.0, 0.5, 0.0)
STEP = 1.3  # each set of a chain costs at least this many times as much as the one before
SLACK = 1e-9  # rounding, which depends on the currency, should not decide


def free_tests(
    pricing: Pricing, useful: Sequence[int], amounts: Sequence[float], allowed: Callable[[TestSet], bool]
) -> TestSet:
    """Return the useful tests that cost nothing and take no time, each with what it requires."""
    found: TestSet = frozenset()
    for test in useful:
        order = pricing.order([test], found)
        waits = pricing.orders_delayed(test, found)
        if not waits and pricing.price(order, found, amounts) <= 0 and allowed(pricing.tests(order)):
            found = found | pricing.closure([test])
    return found


def chains(
    importance: Floats,
    pricing: Pricing,
    amounts: Sequence[float],
    root: TestSet,
    allowed: Callable[[TestSet], bool],
    step: float = STEP,
) -> list[TestSet]:
    """Return growing sets of tests, each with what its tests require, from cheap to expensive.

    Parameters
    ----------
    importance : array
        How much each test helps.
    pricing : Pricing
    amounts : sequence of float
        What tests and surcharges are expected to cost.
    root : set of int
        The tests that all sets have.
    allowed : function
        Whether a set may be bought (a cap).
    step : float
        Each set of a chain costs at least this many times as much as the one before.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"a": 2, "b": 1, "c": 9})
    >>> pricing = Pricing(costs.prices_for(["a", "b", "c"]))
    >>> found = chains(np.array([5.0, 3.0, 9.0]), pricing, [2, 1, 9], frozenset(), lambda tests: True)
    >>> [sorted(tests) for tests in found]
    [[1], [0], [0, 1], [2], [0, 2], [0, 1, 2]]
    """
    found: dict[TestSet, float] = {}
    for exponent in EXPONENTS:
        last, chosen = 0.0, root
        order = _ranked(importance, pricing, amounts, root, exponent)
        for test in order:
            grown = chosen | pricing.closure([test])
            if not allowed(grown):
                continue
            chosen = grown
            price = pricing.price(pricing.order(chosen - root, root), root, amounts)
            if price > 0 and (price >= (step - SLACK) * last or test == order[-1]):
                found[chosen] = price
                last = price
    return sorted(found, key=lambda tests: (found[tests], len(tests), sorted(tests)))


def within_budget(
    importance: Floats,
    pricing: Pricing,
    amounts: Sequence[float],
    root: TestSet,
    allowed: Callable[[TestSet], bool],
    budget: float,
) -> list[TestSet]:
    """Return sets that all cases can buy within a budget, filled by value for money; parameters as of `chains`.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"a": 2, "b": 1, "c": 9})
    >>> pricing = Pricing(costs.prices_for(["a", "b", "c"]))
    >>> problem = np.array([5.0, 3.0, 9.0]), pricing, [2, 1, 9], frozenset(), lambda tests: True
    >>> [sorted(tests) for tests in within_budget(*problem, 10)], within_budget(*problem, 0.5)
    ([[0, 1], [1, 2]], [])
    """
    found: dict[TestSet, None] = {}
    for exponent in EXPONENTS:
        chosen = root
        for test in _ranked(importance, pricing, amounts, root, exponent):
            grown = chosen | pricing.closure([test])
            price = pricing.price(pricing.order(grown - root, root), root, amounts)
            if price <= budget * (1 + SLACK) and allowed(grown):
                chosen = grown
        if chosen > root:
            found[chosen] = None
    return list(found)


def _ranked(
    importance: Floats, pricing: Pricing, amounts: Sequence[float], root: TestSet, exponent: float
) -> list[int]:
    """Return the useful tests, each time the one of highest importance for its additional price."""
    left, paid, order = set(np.flatnonzero(importance > 0).tolist()) - root, root, []

    def worth(test: int) -> tuple[float, float, int]:
        price = pricing.price(pricing.order([test], paid), paid, amounts)
        return float(importance[test] / price**exponent) if price > 0 else np.inf, float(importance[test]), -test

    while left:
        best = max(left, key=worth)
        left.remove(best)
        order.append(best)
        paid = paid | pricing.closure([best])
    return order

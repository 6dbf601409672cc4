"""Prices sets of tests for many cases at once, by the same rules as `Pricing` (docs/design/pricing.md)."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from worthwhile.costs.bound_costs import BoundCosts

__all__ = ["TablePricing"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class TablePricing:
    """Items that cases are charged for, as arrays of shape (cases, items): tests, then surcharges, then waits.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"a": ww.Test(3, group="blood"), "b": ww.Test(4, group="blood")}, groups={"blood": 2})
    >>> pricing = TablePricing(BoundCosts.of(costs, ["a", "b"], [0, 1]))
    >>> charged = pricing.order(pricing.nothing(2), np.array([[True, False], [True, True]]))
    >>> pricing.price(charged).tolist()
    [5.0, 9.0]
    """

    def __init__(self, bound: BoundCosts) -> None:
        prices = bound.prices
        self.n_tests, self.n_surcharges = len(prices.marginal), len(prices.surcharge_test)
        self._waits = len(prices.waiting) > 0
        self.n_items = self.n_tests + self.n_surcharges + (self.n_tests if self._waits else 0)
        self._listed = np.concatenate([prices.marginal, prices.surcharge_amount])
        self._cap, self._truth = bound.cap, bound.truth
        self._groups = [
            (float(common), np.flatnonzero(prices.members(g))) for g, common in enumerate(prices.common.tolist())
        ]
        self._wait, self._waiting = prices.wait, prices.waiting
        self._closure = np.zeros((self.n_tests, self.n_tests), dtype=np.bool_)
        for test, (first, end) in enumerate(itertools.pairwise(prices.closure_start.tolist())):
            self._closure[test, prices.closure_tests[first:end]] = True
        self._requires = [test for test in range(self.n_tests) if self._closure[test].sum() > 1]
        self._surcharges = [
            (
                int(test),
                prices.after_tests[prices.after_start[s] : prices.after_start[s + 1]],
                prices.after_any_tests[prices.after_any_start[s] : prices.after_any_start[s + 1]],
            )
            for s, test in enumerate(prices.surcharge_test.tolist())
        ]

    def nothing(self, n_cases: int) -> Bools:
        """Return the items of cases that were charged for nothing."""
        return np.zeros((n_cases, self.n_items), dtype=np.bool_)

    def order(self, charged: Bools, tests: Bools) -> Bools:
        """Return the items charged once each case has ordered some tests, all at once: (cases, tests) says which."""
        new = np.broadcast_to(tests, (len(charged), self.n_tests)).copy()
        for test in self._requires:
            new[new[:, test]] |= self._closure[test]
        before = charged[:, : self.n_tests]
        new &= ~before
        found = charged.copy()
        found[:, : self.n_tests] |= new
        for s, (test, after, after_any) in enumerate(self._surcharges):
            done = before | self._closure[test]
            applies = new[:, test] & done[:, after].all(axis=1)
            if len(after_any):
                applies &= done[:, after_any].any(axis=1)
            found[:, self.n_tests + s] |= applies
        if self._waits:
            longest = np.where(new, self._wait, -1.0)
            slowest = longest.argmax(axis=1)
            waiting = np.flatnonzero(longest[np.arange(len(new)), slowest] > 0)
            found[waiting, self.n_tests + self.n_surcharges + slowest[waiting]] = True
        return found

    def price(self, charged: Bools, amounts: Floats | None = None, paid: Bools | None = None) -> Floats:
        """Return the price of what each case was charged for.

        `amounts` are what tests and surcharges cost each case; None: as the price list says. What is in `paid`, of
        shape (cases, items) or (items,), is already paid for.
        """
        new = charged if paid is None else charged & ~paid
        listed = new[:, : len(self._listed)]
        found: Floats = np.where(listed, self._listed if amounts is None else amounts, 0.0).sum(axis=1)
        for common, members in self._groups:
            first = new[:, members].any(axis=1)
            found += common * (first if paid is None else first & ~paid[..., members].any(axis=-1))
        if paid is None:
            return found + self._price_of_waiting(charged)
        return found + self._price_of_waiting(charged | paid) - self._price_of_waiting(paid)

    def _price_of_waiting(self, charged: Bools) -> Floats:
        if not self._waits:
            return np.zeros(charged.shape[:-1])
        time = np.where(charged[..., self.n_tests + self.n_surcharges :], self._wait, 0.0).sum(axis=-1)
        points = self._waiting
        found: Floats = np.interp(time, points[:, 0], points[:, 1])
        (early, low), (late, high) = points[-2], points[-1]
        return np.where(time > late, low + (high - low) * ((time - early) / (late - early)), found)

    def within_cap(self, charged: Bools, test_prices: Floats | None = None) -> Bools:
        """Return which cases cannot pay more than the cap for these items, whatever their classes and values.

        `test_prices` are the prices of tests, of shape (cases, tests) or (tests,); None: as the price list says.
        """
        if self._cap is None:
            return np.ones(len(charged), dtype=np.bool_)
        own = self._listed[: self.n_tests] if test_prices is None else test_prices
        tests = np.where(charged[:, : self.n_tests], own, 0.0).sum(axis=1)
        for common, members in self._groups:
            tests += common * charged[:, : self.n_tests][:, members].any(axis=1)
        by_class: dict[int, Floats] = {}
        for s, truth in enumerate(self._truth.tolist()):
            amount = max(0.0, float(self._listed[self.n_tests + s])) * charged[:, self.n_tests + s]
            by_class[truth] = by_class.get(truth, np.zeros(len(charged))) + amount
        tests += by_class.pop(-1, 0.0)
        if by_class:
            tests += np.max(list(by_class.values()), axis=0)
        within: Bools = tests + self._price_of_waiting(charged) <= self._cap * (1 + 1e-12)
        return within

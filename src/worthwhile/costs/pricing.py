"""Prices sets of tests in Python, for advice and explanations about single cases.

The core prices whole tables by the same rules.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from worthwhile.costs.costs import Prices
from worthwhile.costs.price_list import waiting_price
from worthwhile.wording import amount

__all__ = ["Extra", "Pricing", "free_tests"]


@dataclass(frozen=True)
class Extra:
    """A surcharge of a test, or the time that a case waits for it.

    Attributes
    ----------
    name : str
        When the surcharge applies, in words such as "reaction" or "after ecg"; or "wait 24".
    amount : float
        What it adds to the price.
    full : float
        The whole surcharge; `amount` differs where it is only expected.

    Examples
    --------
    >>> print(Extra("reaction", 30.0, 300.0), Extra("wait 24", 60.0, 60.0), sep="; ")
    reaction: 30.00 of 300.00; wait 24: 60.00
    """

    name: str
    amount: float
    full: float

    def __str__(self) -> str:
        expected = not math.isclose(self.amount, self.full, rel_tol=1e-9)
        return f"{self.name}: {amount(self.amount)}{f' of {amount(self.full)}' if expected else ''}"


class Pricing:
    """Prices by column index (docs/design/pricing.md).

    What a case is charged is a set of *items*. The items below `n_tests` are the tests. Behind them, item
    ``n_tests + s`` is surcharge s, and item ``n_tests + n_surcharges + t`` is the time that a case waited for test t.
    """

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self.n_tests = len(prices.marginal)
        self.n_surcharges = len(prices.surcharge_test)
        self._amounts = [*prices.marginal.tolist(), *prices.surcharge_amount.tolist()]
        self._groups = [frozenset(prices.groups_of(t)) for t in range(self.n_tests)]
        self._grouped = any(self._groups)
        self._common = prices.common.tolist()
        self._delayed = prices.delayed.tolist()
        self._wait = prices.wait.tolist() if len(prices.waiting) else [0.0] * self.n_tests
        self._waiting = [tuple(point) for point in prices.waiting.tolist()]
        self._plain = not self.n_surcharges and not self._waiting  # nothing depends on the case or on orders
        self._closure = _sets(prices.closure_start, prices.closure_tests)
        after = _sets(prices.after_start, prices.after_tests)
        after_any = _sets(prices.after_any_start, prices.after_any_tests)
        # By test: the items of its surcharges, what must all be done before, and of what one must be.
        self._surcharges: dict[int, list[tuple[int, frozenset[int], frozenset[int]]]] = {}
        for s, test in enumerate(prices.surcharge_test.tolist()):
            self._surcharges.setdefault(test, []).append((self.n_tests + s, after[s], after_any[s]))

    def closure(self, tests: Iterable[int]) -> frozenset[int]:
        """Return the tests with everything they require."""
        return frozenset().union(*(self._closure[t] for t in tests))

    def order(self, tests: Iterable[int], before: Set[int]) -> frozenset[int]:
        """Return the items that are charged when these tests are ordered together, and those charged before."""
        new = self.closure(tests) - before
        if self._plain:
            return frozenset(before | new)
        items = set(before) | new
        for test in new:
            done = before | self._closure[test]
            items.update(
                item
                for item, after, after_any in self._surcharges.get(test, ())
                if after <= done and (not after_any or after_any & done)
            )
        longest = max(new, key=lambda test: (self._wait[test], -test), default=None)
        if longest is not None and self._wait[longest] > 0:
            items.add(self.n_tests + self.n_surcharges + longest)
        return frozenset(items)

    def tests(self, items: Set[int]) -> frozenset[int]:
        """Return the tests among some items."""
        return frozenset(items if self._plain else (item for item in items if item < self.n_tests))

    def price(self, charged: Set[int], paid: Set[int] = frozenset(), amounts: Sequence[float] | None = None) -> float:
        """Return the price of `charged` if the items in `paid` are already paid for.

        Without `amounts`, the price of every test and the amount of every surcharge, they are those of the price list.
        """
        amounts = self._amounts if amounts is None else amounts
        last = self.n_tests + self.n_surcharges
        new = charged - paid
        parts = [amounts[item] for item in new if item < last]
        if self._grouped:
            parts += [self._common[g] for g in self._groups_of(new) - self._groups_of(paid)]
        if self._waiting:
            parts += [waiting_price(self._waiting, self.waited(charged | paid))]
            parts += [-waiting_price(self._waiting, self.waited(paid))]
        return math.fsum(parts)

    def waited(self, items: Set[int]) -> float:
        """Return how long a case waited that was charged for some items."""
        last = self.n_tests + self.n_surcharges
        return math.fsum(self._wait[item - last] for item in items if item >= last)

    def _groups_of(self, items: Set[int]) -> frozenset[int]:
        return frozenset().union(*(self._groups[item] for item in items if item < self.n_tests))

    def items(
        self,
        order: Sequence[int],
        names: Sequence[str],
        charged: Set[int],
        paid: Set[int] = frozenset(),
        amounts: Sequence[float] | None = None,
    ) -> dict[str, float]:
        """Return the part of each test, by name, in the price of `charged`, in the given order of the tests.

        The first test of a group pays its common price. A surcharge belongs to its test, and the price of waiting to
        the test that was waited for.

        Examples
        --------
        >>> import worthwhile as ww
        >>> lab = ww.Costs(tests={"a": ww.Test(3, group="blood"), "b": ww.Test(4, group="blood")}, groups={"blood": 2})
        >>> Pricing(lab.prices_for(["a", "b"])).items([1, 0], ["a", "b"], {0, 1})
        {'b': 6.0, 'a': 3.0}
        """
        found, so_far = {}, set(paid)
        for test in order:
            if test in charged and test not in paid:
                own = self._own(test, charged)
                found[names[test]] = self.price(own, so_far, amounts)
                so_far |= own
        return found

    def _own(self, test: int, charged: Set[int]) -> set[int]:
        """Return the items of a test among those charged: itself, its surcharges, the wait for it."""
        if self._plain:
            return {test} & charged
        own = {test, self.n_tests + self.n_surcharges + test}
        return (own | {item for item, _, _ in self._surcharges.get(test, ())}) & charged

    def extras(
        self,
        order: Sequence[int],
        names: Sequence[str],
        charged: Set[int],
        paid: Set[int] = frozenset(),
        amounts: Sequence[float] | None = None,
    ) -> dict[str, tuple[Extra, ...]]:
        """Return the surcharges and waits that are part of the price of each test, by name; see `items`.

        Surcharges that add nothing are left out, and so are tests without any.

        Examples
        --------
        >>> import worthwhile as ww
        >>> dye = ww.Test(100, wait=24, surcharges=[ww.Surcharge(300, result="reaction")])
        >>> pricing = Pricing(ww.Costs(tests={"dye": dye}, waiting=0.5).prices_for(["dye"]))
        >>> [str(extra) for extra in pricing.extras([0], ["dye"], pricing.order([0], set()))["dye"]]
        ['reaction: 300.00', 'wait 24: 12.00']
        """
        found: dict[str, tuple[Extra, ...]] = {}
        if self._plain:
            return found
        amounts = self._amounts if amounts is None else amounts
        so_far, waited = set(paid), self.waited(paid)
        for test in order:
            if test not in charged or test in paid:
                continue
            own = self._own(test, charged)
            parts = [extra for _, extra in self.surcharge_extras([test], names, charged, so_far, amounts)]
            if self.n_tests + self.n_surcharges + test in own - so_far:
                after = waited + self._wait[test]
                price = waiting_price(self._waiting, after) - waiting_price(self._waiting, waited)
                parts.append(Extra(f"wait {self._wait[test]:g}", price, price))
                waited = after
            so_far |= own
            if parts:
                found[names[test]] = tuple(parts)
        return found

    def extras_in_hand(
        self, names: Sequence[str], charged: Set[int], paid: Set[int], amounts: Sequence[float] | None = None
    ) -> tuple[Extra, ...]:
        """Return the surcharges and waits in the price of `charged` of tests that are paid for themselves.

        Examples
        --------
        >>> import worthwhile as ww
        >>> dye = ww.Test(100, wait=24, surcharges=[ww.Surcharge(300, result="reaction")])
        >>> pricing = Pricing(ww.Costs(tests={"dye": dye, "ct": 50}, waiting=0.5).prices_for(["dye", "ct"]))
        >>> [str(extra) for extra in pricing.extras_in_hand(["dye", "ct"], pricing.order([0, 1], set()), {0})]
        ['dye reaction: 300.00', 'dye wait 24: 12.00']
        """
        if self._plain:
            return ()
        amounts = self._amounts if amounts is None else amounts
        found = [
            Extra(f"{names[test]} {extra.name}", extra.amount, extra.full)
            for test, extra in self.surcharge_extras(sorted(self.tests(paid)), names, charged, paid, amounts)
        ]
        last, before = self.n_tests + self.n_surcharges, self.waited(paid)
        for test in sorted(item - last for item in charged - paid if item >= last and item - last in paid):
            after = before + self._wait[test]
            price = waiting_price(self._waiting, after) - waiting_price(self._waiting, before)
            found.append(Extra(f"{names[test]} wait {self._wait[test]:g}", price, price))
            before = after
        return tuple(found)

    def surcharge_extras(
        self, order: Iterable[int], names: Sequence[str], charged: Set[int], paid: Set[int], amounts: Sequence[float]
    ) -> tuple[tuple[int, Extra], ...]:
        """Return the surcharges that add something to the price of `charged`, each with its test."""
        found = []
        for test in order:
            for item, _, _ in self._surcharges.get(test, ()):
                if item in charged and item not in paid and amounts[item]:
                    s = item - self.n_tests
                    words = self._prices.surcharges[s].words(names[test])
                    found.append((test, Extra(words, amounts[item], float(self._prices.surcharge_amount[s]))))
        return tuple(found)

    def orders_delayed(self, test: int, paid: Set[int]) -> bool:
        """Return whether ordering `test` now means waiting for a result."""
        return any(self._delayed[t] for t in self._closure[test] - paid)


def free_tests(prices: Prices, case_prices: np.ndarray | None = None) -> list[int]:
    """Return the tests that cost nothing, with all that they require; by case, those that cost no case anything.

    Examples
    --------
    >>> from worthwhile.costs.costs import Costs, Test
    >>> costs = Costs(tests={"age": 0.0, "ecg": 5.0, "report": Test(0.0, requires=("ecg",))})
    >>> free_tests(costs.prices_for(("age", "ecg", "report")))
    [0]
    """
    pricing = Pricing(prices)
    free = [test for test in range(pricing.n_tests) if pricing.price(pricing.closure([test])) == 0]
    return free if case_prices is None else [test for test in free if not case_prices[:, test].any()]


def _sets(start: np.ndarray, numbers: np.ndarray) -> list[frozenset[int]]:
    """Return lists of numbers that are stored as one array."""
    return [frozenset(numbers[a:b].tolist()) for a, b in itertools.pairwise(start.tolist())]

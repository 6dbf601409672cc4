"""Prices sets of tests in Python, for advice and explanations about single cases.

The core prices whole tables by the same rules.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence, Set

from worthwhile.costs.costs import Prices

__all__ = ["Pricing"]


class Pricing:
    """Prices by column index (docs/design/pricing.md)."""

    def __init__(self, prices: Prices) -> None:
        self._marginal = prices.marginal.tolist()
        self._group = prices.group.tolist()
        self._common = prices.common.tolist()
        self._delayed = prices.delayed.tolist()
        start, tests = prices.closure_start.tolist(), prices.closure_tests.tolist()
        self._closure = [frozenset(tests[a:b]) for a, b in itertools.pairwise(start)]

    def closure(self, tests: Iterable[int]) -> frozenset[int]:
        """Return the tests with everything they require."""
        return frozenset().union(*(self._closure[t] for t in tests))

    def price(self, charged: Set[int], paid: Set[int] = frozenset()) -> float:
        """Return the price of `charged` if the tests in `paid` are already paid for."""
        new = charged - paid
        groups = {self._group[t] for t in new} - {self._group[t] for t in paid} - {-1}
        return math.fsum([*(self._marginal[t] for t in new), *(self._common[g] for g in groups)])

    def items(self, charged: Sequence[int], names: Sequence[str], paid: Set[int] = frozenset()) -> dict[str, float]:
        """Return the part of each test, by name, in the price of `charged`; its first test pays for a group.

        Examples
        --------
        >>> import worthwhile as ww
        >>> lab = ww.Costs(tests={"a": ww.Test(3, group="blood"), "b": ww.Test(4, group="blood")}, groups={"blood": 2})
        >>> Pricing(lab.prices_for(["a", "b"])).items([1, 0], ["a", "b"])
        {'b': 6.0, 'a': 3.0}
        """
        found, so_far = {}, set(paid)
        for test in charged:
            if test not in paid:
                found[names[test]] = self.price({test}, so_far)
                so_far.add(test)
        return found

    def orders_delayed(self, test: int, paid: Set[int]) -> bool:
        """Return whether ordering `test` now means waiting for a result."""
        return any(self._delayed[t] for t in self._closure[test] - paid)

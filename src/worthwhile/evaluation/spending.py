"""What a learner or tree spends on each test, on the common price of each group, on surcharges and on waiting.

The amounts of all items add up to the average of `test_costs`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.evaluation.metrics import context_of, innermost

__all__ = ["Item", "Spending", "charged_tests", "spending"]


@dataclass(frozen=True)
class Item:
    """The price of a test, the common price of a group, surcharges or waiting, as paid; see `spending`.

    Attributes
    ----------
    name : str
        Name of the test or of the group; "waiting" for all waiting.
    kind : {"test", "group", "surcharge", "waiting"}
        The (marginal) price of a test, the common price of a group, the surcharges of a test (negative if discounts
        are larger), or waiting.
    amount : float
        Average amount per case, over all cases.
    share : float
        Share of the cases that pay it.
    """

    name: str
    kind: str
    amount: float
    share: float

    def __str__(self) -> str:
        more = {"group": " (common price)", "surcharge": " (surcharge)"}
        return self.name + more.get(self.kind, "")


@dataclass(frozen=True)
class Spending:
    """The amounts paid per case, largest first; see `spending`."""

    items: tuple[Item, ...]
    n_cases: int

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def total(self) -> float:
        """The sum of all amounts: the average of `test_costs`."""
        return math.fsum(item.amount for item in self.items)

    def to_dict(self) -> dict[str, float]:
        """Return the amounts by name; the common price of a group is named "GROUP (common price)".

        Examples
        --------
        >>> Spending((Item("chol", "test", 5.0, 0.5), Item("blood", "group", 2.0, 0.5)), n_cases=4).to_dict()
        {'chol': 5.0, 'blood (common price)': 2.0}
        """
        return {str(item): item.amount for item in self.items}

    def __str__(self) -> str:
        names = ["all tests", *map(str, self.items)]
        amounts = [self.total, *(item.amount for item in self.items)]
        shares = ["", *(f" {item.share:>6.1%} of cases" for item in self.items)]
        width = max(map(len, names))
        rows = zip(names, amounts, shares, strict=True)
        return "\n".join(f"{name:<{width}} {amount:>10.2f} per case{share}" for name, amount, share in rows)


def spending(est: Any, X: Any, case_prices: Any = None, y: Any = None) -> Spending:
    """Return what is spent on these cases, test by test.

    Parameters
    ----------
    est : learner or Tree
        A fitted one, alone or inside scikit-learn's pipelines and searches.
    X : table of cases
    case_prices : array of shape (cases, tests), optional
        Prices that depend on the case; see `Tree.test_costs`.
    y : classes, optional
        The true classes, for surcharges by class; without them, these are expected by class probabilities.

    Returns
    -------
    Spending
        An `Item` for every test that some case pays for, for the common price of every such group, for the surcharges
        of every such test, and for waiting. Tests that
        come along with others, because those require them or because a delayed test commits to them, are separate
        items.

    Examples
    --------
    >>> import worthwhile as ww
    >>> heart = ww.datasets.load("heart")
    >>> known = {"costs": heart.costs.with_errors(400), "nominal": heart.nominal, "columns": heart.feature_names}
    >>> clf = ww.EG2Classifier(prune="cost", **known).fit(heart.X, heart.y)
    >>> print(spending(clf, heart.X))
    all tests                  2.76 per case
    cp                         1.00 per case 100.0% of cases
    sex                        0.76 per case  75.9% of cases
    age                        0.41 per case  41.3% of cases
    chol                       0.26 per case   5.0% of cases
    trestbps                   0.23 per case  22.8% of cases
    blood (common price)       0.10 per case   5.0% of cases
    """
    est, X = innermost(est, X)
    context = context_of(est)
    prices, pricing = context.bound_costs.prices, context.pricing
    items = _charged_items(est, X, case_prices)
    charged = items[:, : pricing.n_tests]
    amounts = _amounts(est, X, case_prices, y)
    if amounts is None:
        amounts = np.broadcast_to(prices.marginal, charged.shape)
    surcharges = items[:, pricing.n_tests : amounts.shape[1]] * amounts[:, pricing.n_tests :]
    found = [
        Item(name, "test", float((charged[:, t] * amounts[:, t]).mean()), float(charged[:, t].mean()))
        for t, name in enumerate(context.columns)
    ]
    for g, name in enumerate(context.costs.groups):
        share = float(charged[:, prices.members(g)].any(axis=1).mean())
        found.append(Item(name, "group", share * float(prices.common[g]), share))
    for t in np.unique(prices.surcharge_test).tolist():
        own = surcharges[:, prices.surcharge_test == t]
        share = float((own != 0).any(axis=1).mean())
        found.append(Item(context.columns[t], "surcharge", float(own.sum(axis=1).mean()), share))
    if items.shape[1] > amounts.shape[1]:
        waited = items[:, amounts.shape[1] :] @ prices.wait
        spent = np.array([context.costs.waiting_price(time) for time in waited.tolist()])
        found.append(Item("waiting", "waiting", float(spent.mean()), float((waited > 0).mean())))
    paid = sorted((item for item in found if item.amount != 0), key=lambda item: -item.amount)
    return Spending(tuple(paid), len(charged))


def _amounts(est: Any, X: Any, case_prices: Any, y: Any) -> npt.NDArray[np.float64] | None:
    """Return what tests and surcharges cost each case; without `y`, surcharges by class are expected."""
    context, columns = context_of(est), est._read(X)
    likely = est._route(X, shares=True)[2] if y is None and context.needs_shares() else None
    return context.amounts(columns, case_prices, y, likely)


def charged_tests(est: Any, X: Any, case_prices: Any = None) -> npt.NDArray[np.bool_]:
    """Return which tests each case is charged for: an array of shape (cases, tests), in column order.

    Free tests are included where the tree asks for them. With a cap, `case_prices` decide where a case stops.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> charged_tests(clf, [[1], [None]]).tolist()
    [[True], [False]]
    """
    est, X = innermost(est, X)
    return _charged_items(est, X, case_prices)[:, : len(context_of(est).columns)]


def _charged_items(est: Any, X: Any, case_prices: Any) -> npt.NDArray[np.bool_]:
    """Return the items that each case is charged for: tests, then surcharges, then waits if waiting costs anything."""
    pricing, prices = context_of(est).pricing, context_of(est).bound_costs.prices
    waits = pricing.n_tests if len(prices.waiting) and prices.wait.any() else 0
    words = est._charged(X, case_prices=case_prices).astype("<u8", copy=False)
    n_items = pricing.n_tests + pricing.n_surcharges + waits
    return np.unpackbits(words.view(np.uint8), axis=1, count=n_items, bitorder="little").view(np.bool_)

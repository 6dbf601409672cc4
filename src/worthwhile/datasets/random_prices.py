"""Random price lists for data sets without prices (Esmeir & Markovitch 2006, section 3; 2008, section 4.1)."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs, Test
from worthwhile.datasets.concepts import generator

if TYPE_CHECKING:
    from worthwhile.table.columns import Columns
    from worthwhile.table.schema import Schema

__all__ = ["information_gains", "random_costs"]

Floats = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int32]


def random_costs(
    X: Any,
    y: Any,
    *,
    price_range: tuple[float, float] = (1.0, 100.0),
    groups: float = 0.2,
    discount: float = 0.8,
    shared: float | None = None,
    delayed: float = 0.0,
    informative: bool = True,
    spread: float = 0.25,
    errors: Any = 1.0,
    nominal: Sequence[str | int] | None = None,
    columns: Sequence[str] | None = None,
    random_state: Any = None,
) -> Costs:
    """Draw a price list for data without prices.

    Parameters
    ----------
    X : array, pandas or polars frame of shape (cases, tests)
    y : sequence of classes
    price_range : (float, float), default (1, 100)
        The lowest and the highest price, the paper's cr.
    groups : float, default 0.2
        Number of groups divided by the number of tests, g. A test is in one of these groups or in none, all with the
        same probability. Groups of one test are removed, since they do not change any price.
    discount : float, default 0.8
        The common price of a group as a fraction, below 1, of the lowest price in it. A drawn price is what a test
        costs as the first of its group; later tests of the group cost less by the common price.
    shared : float, optional
        Use the scheme of the 2006 paper instead of the discount: drawn prices come on top of a common price, which is
        this fraction (sc) of the highest of them in the group.
    delayed : float, default 0.0
        Fraction of the tests, d, with a delayed result.
    informative : bool, default True
        Whether more informative tests tend to cost more: prices come from a normal distribution, truncated to the
        range, whose mean is proportional to the test's information gain; for the test with the highest gain it is the
        highest price. The gain of a numeric test is that of its best binary split. False: uniform prices.
    spread : float, default 0.25
        Standard deviation of that distribution before truncation, as a fraction of the range. The paper does not give
        one.
    errors : number, mapping or frame, default 1.0
        The error costs, as for `Costs`.
    nominal, columns :
        As for all learners: which columns are nominal, and the column names of an array.
    random_state : int or generator, optional
        The same seed gives the same list. `informative` does not change the groups and delays.

    Returns
    -------
    Costs
        Prices are rounded to hundredths.

    References
    ----------
    S. Esmeir, S. Markovitch (2006), Anytime induction of cost-sensitive trees (NIPS), section 3; (2008), Anytime
    induction of low-cost, low-error classifiers (JAIR 33), section 4.1. The values of 2008 are the defaults;
    ``groups=0.2, shared=0.2, informative=False`` is the first scheme of 2006, 0.8 for both the second.

    Examples
    --------
    >>> import worthwhile as ww
    >>> data = ww.datasets.make("multi-xor", random_state=0)
    >>> costs = ww.datasets.random_costs(data.X, data.y, errors=500, columns=data.feature_names, random_state=0)
    >>> all(1 <= costs.price(test) <= 100 for test in data.feature_names), len(costs.groups)
    (True, 2)
    """
    from worthwhile.table.columns import read_columns
    from worthwhile.table.schema import Schema
    from worthwhile.table.targets import read_classes

    low, high = _checked_range(price_range)
    shares = {"discount": discount, "delayed": delayed, "groups": groups, "spread": spread}
    _check_shares(shares | ({} if shared is None else {"shared": shared}))
    table = read_columns(X, columns, nominal)
    schema = Schema.learn(table, nominal)
    labels, classes = read_classes(y, table.n_cases, "random_costs")
    rng, n = generator(random_state), len(table.names)
    group_of = rng.integers(round(groups * n) + 1, size=n)  # 0: no group
    late = rng.permutation(n)[: round(delayed * n)]
    if informative:
        best = information_gains(table, schema, classes, len(labels))
        share = best / best.max() if best.max() > 0 else best
        prices = _truncated_normal(low + (high - low) * share, spread * (high - low), low, high, rng)
    else:
        prices = rng.uniform(low, high, n)
    prices = np.clip(np.round(prices, 2), low, high)
    commons = _commons(prices, group_of, discount, shared)
    tests = {
        name: Test(
            round(price - (commons.get(group, 0.0) if shared is None else 0.0), 2),
            group=f"group {group}" if group in commons else None,
            delayed=position in late,
        )
        for position, (name, price, group) in enumerate(
            zip(table.names, prices.tolist(), group_of.tolist(), strict=True)
        )
    }
    return Costs(tests=tests, groups={f"group {group}": price for group, price in commons.items()}, errors=errors)


def information_gains(table: Columns, schema: Schema, classes: Classes, n_classes: int) -> Floats:
    """Return the information gain of each column in bits: over the cases with a value, times the fraction of them.

    A nominal column has one branch per value, a numeric one its best binary split.

    Examples
    --------
    >>> from worthwhile.table.columns import read_columns
    >>> from worthwhile.table.schema import Schema
    >>> table = read_columns([[1.0, 0], [2.0, 1], [3.0, 0], [4.0, 1]])
    >>> information_gains(table, Schema.learn(table, nominal=["x1"]), np.array([0, 0, 1, 1], dtype=np.int32), 2)
    array([1., 0.])
    """
    from worthwhile.table.columns import Factor, value_codes

    found = []
    for values, array in zip(schema.values, table.arrays, strict=True):
        if values is None:
            assert not isinstance(array, Factor)  # factors are nominal
            known = ~np.isnan(array)
            gain = _numeric_gain(array[known], classes[known], n_classes)
        else:
            factor = array if isinstance(array, Factor) else Factor.of_numbers(array)
            codes = factor.translated(value_codes(values))
            known = codes >= 0
            gain = _nominal_gain(codes[known], classes[known], len(values), n_classes)
        found.append(gain * float(known.mean()))
    return np.array(found)


def _nominal_gain(codes: Classes, classes: Classes, n_values: int, n_classes: int) -> float:
    if not len(codes):
        return 0.0
    counts = np.bincount(codes * n_classes + classes, minlength=n_values * n_classes).reshape(n_values, n_classes)
    within = _entropy(counts).sum()
    return max(0.0, float(_entropy(counts.sum(axis=0)) - within) / len(codes))


def _numeric_gain(values: Floats, classes: Classes, n_classes: int) -> float:
    order = np.argsort(values, kind="stable")
    values, classes = values[order], classes[order]
    cuts = np.flatnonzero(values[1:] > values[:-1])
    if not len(cuts):
        return 0.0
    left = np.cumsum(classes[:, None] == np.arange(n_classes), axis=0)
    whole = left[-1]
    within = _entropy(left[cuts]) + _entropy(whole - left[cuts])
    return max(0.0, float(_entropy(whole) - within.min()) / len(values))


def _entropy(counts: npt.NDArray[np.int64]) -> Any:
    """Return entropy × number of cases along the last axis: N log2 N - Σ n log2 n."""
    from scipy.special import xlogy

    whole = counts.sum(axis=-1)
    return (xlogy(whole, whole) - xlogy(counts, counts).sum(axis=-1)) / math.log(2)


def _truncated_normal(mean: Floats, deviation: float, low: float, high: float, rng: np.random.Generator) -> Floats:
    """Draw from a truncated normal distribution by inverting its distribution function."""
    from scipy.special import ndtr, ndtri

    where = rng.uniform(size=len(mean))
    if deviation == 0:
        return mean
    lower, upper = ndtr((low - mean) / deviation), ndtr((high - mean) / deviation)
    drawn: Floats = mean + deviation * ndtri(lower + where * (upper - lower))
    return drawn


def _commons(prices: Floats, group_of: npt.NDArray[Any], discount: float, shared: float | None) -> dict[int, float]:
    """Return the common price of each group of at least two tests."""
    members = {int(group): prices[group_of == group] for group in np.unique(group_of) if group > 0}
    common = {
        group: discount * own.min() if shared is None else shared * own.max()
        for group, own in members.items()
        if len(own) > 1
    }
    return {group: round(float(price), 2) for group, price in common.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _checked_range(price_range: Any) -> tuple[float, float]:
    try:
        low, high = price_range
    except (TypeError, ValueError):
        low = high = None
    if not (_is_number(low) and _is_number(high) and 0 <= low < high):
        raise ValueError(f"price_range must be two numbers, 0 <= lowest < highest, got {price_range!r}")
    return float(low), float(high)


def _check_shares(shares: Mapping[str, Any]) -> None:
    for name, share in shares.items():
        if not (_is_number(share) and 0 <= share <= 1):
            raise ValueError(f"{name} must be a number from 0 to 1, got {share!r}")
    if shares["discount"] == 1:
        raise ValueError(
            "discount must be below 1: otherwise the cheapest test of a group would be free after another one"
        )

"""The data sets of Nan, Wang & Saligrama (2015), how they are divided, and their prices.

Of the four large sets of the paper, Forest covertype is to be had; adult, credit default and letter stand in for the
others. Their cases are divided at random in three: to grow from, to choose by, to test with.

Of the nine small sets of figure 5, all but mammography are to be had. Columns of numbers are rounded to ten levels,
equally far from each other: with that, and no other way of doing it that we tried, there are exactly as many different
cases of each set as the appendix says. A missing value is a value of its own. Of cases that are alike in everything,
one is kept, with their most frequent class.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import datasets
from worthwhile.costs.costs import Costs
from worthwhile.experiments.engine import load

__all__ = ["ABSENT_LARGE", "ABSENT_SMALL", "DATA", "DRAWN", "LARGE", "SMALL", "UNIT", "Cases", "cases_of", "costs_of"]

SIZES = (36_603, 15_688, 58_101)  # of covtype: to grow from, to choose by, to test with
LEVELS = 10
SOYBEANS = 307  # the first so many cases are those of the paper, the others were its test file
ABSENT_LARGE = ("Yahoo! Rank", "MiniBooNE", "CIFAR-10")
ABSENT_SMALL = ("mammography",)
UNIT, DRAWN = "unit", "drawn"  # price lists

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases as numbers: those of a nominal column are the places of its values, NaN is missing."""

    X: Floats
    y: npt.NDArray[np.str_]
    nominal: Sequence[str]
    columns: Sequence[str]

    def take(self, rows: npt.NDArray[Any]) -> Cases:
        """Return some of the cases."""
        return replace(self, X=self.X[rows], y=self.y[rows])


@dataclass(frozen=True)
class Data:
    """A data set: its name in the paper, where it comes from and what is done to it."""

    title: str
    source: str  # a data set of the package or the folder
    change: Callable[[Cases], Cases] | None = None
    effort: float = 1.0  # how long learning takes, compared with credit default


def _discrete(cases: Cases) -> Cases:
    """Round numbers to levels, make missing values values, and keep one of the cases that are alike."""
    X = np.column_stack(
        [
            _levels(values, name in cases.nominal)
            for name, values in zip(cases.columns, np.asarray(cases.X).T, strict=True)
        ]
    )
    unique, place = np.unique(X, axis=0, return_inverse=True)
    labels, classes = np.unique(cases.y, return_inverse=True)
    counts = np.zeros((len(unique), len(labels)))
    np.add.at(counts, (place.ravel(), classes), 1)
    return Cases(unique, labels[counts.argmax(axis=1)], cases.columns, cases.columns)


def _levels(values: Floats, nominal: bool) -> Floats:
    """Return the level of each value; the places of nominal values as they are.

    Examples
    --------
    >>> _levels(np.array([0.0, 1.0, 10.0, 18.0, np.nan]), nominal=False).tolist()
    [0.0, 0.0, 5.0, 9.0, 10.0]
    """
    known = ~np.isnan(values)
    low, high = values[known].min(), values[known].max()
    if nominal or low == high:
        return np.where(known, values, high + 1)
    return np.where(known, np.rint((values - low) / (high - low) * (LEVELS - 1)), LEVELS)


def _quarters(cases: Cases) -> Cases:
    """Make four classes of a number: below the first quartile, and so on."""
    value = cases.y.astype(float)
    quarter = np.searchsorted(np.quantile(value, [0.25, 0.5, 0.75]), value, side="left")
    return _discrete(replace(cases, y=(quarter + 1).astype(str)))


def _first_soybeans(cases: Cases) -> Cases:
    return _discrete(cases.take(np.arange(SOYBEANS)))


LARGE = {
    "covtype": Data("Forest", "covtype", effort=8.0),
    "adult": Data("adult", "adult", effort=1.5),
    "credit": Data("credit default", "credit_default_taiwan"),
    "letter": Data("letter", "letter", effort=6.0),
}
SMALL = {
    "votes": Data("House Votes", "vote", _discrete, 0.01),
    "sonar": Data("Sonar", "sonar", _discrete, 0.01),
    "ionosphere": Data("Ionosphere", "ionosphere", _discrete, 0.01),
    "dna": Data("DNA", "dna_statlog", _discrete, 0.1),
    "boston": Data("Boston Housing", "boston_housing", _quarters, 0.01),
    "soybean": Data("Soybean", "soybean_large", _first_soybeans, 0.01),
    "pima": Data("Pima", "pima", _discrete, 0.01),
    "wdbc": Data("WBCD", "wdbc", _discrete, 0.01),
}
DATA = {**LARGE, **SMALL}


@functools.cache
def cases_of(name: str, folder: str | None) -> Cases:
    """Load a data set, as numbers."""
    known = DATA[name]
    found = load(known.source, folder)
    X = np.column_stack(
        [
            _places(values) if column in found.nominal else values.astype(float)
            for column, values in zip(found.feature_names, found.X.T, strict=True)
        ]
    )
    # A column of two values is split in the same way whatever it is taken for.
    nominal = [
        c for c, values in zip(found.feature_names, X.T, strict=True) if c in found.nominal and np.nanmax(values) > 1
    ]
    cases = Cases(X, found.y, nominal, found.feature_names)
    return known.change(cases) if known.change else cases


def _places(values: npt.NDArray[Any]) -> Floats:
    """Return the place of each value among the sorted ones; NaN for a missing one.

    Examples
    --------
    >>> _places(np.array(["b", None, "a", "b"], dtype=object)).tolist()
    [1.0, nan, 0.0, 1.0]
    """
    place = {value: float(i) for i, value in enumerate(sorted(set(values.tolist()) - {None}))}
    place[None] = np.nan
    return np.array([place[value] for value in values.tolist()])


def parts(name: str, split: int, folder: str | None) -> tuple[Cases, Cases, Cases]:
    """Divide a large data set at random: to grow from, to choose by, to test with.

    Covtype as in the paper, where most cases are left over; the others in the same proportions.
    """
    cases = cases_of(name, folder)
    n, total = len(cases.y), sum(SIZES)
    first, second, third = (min(size, int(size * n / total)) for size in SIZES)
    order = np.random.default_rng([zlib.crc32(name.encode()), split]).permutation(n)
    ends = (0, first, first + second, first + second + third)
    grow, choose, test = (cases.take(order[ends[i] : ends[i + 1]]) for i in range(3))
    return grow, choose, test


def costs_of(name: str, prices: str, split: int, grow: Cases) -> Costs:
    """Return the price list of a problem: every test costs 1, or prices are drawn anew for each split.

    Prices from 1 to 100, tests that tell more tend to cost more (`datasets.random_costs`). No groups: the boosting that
    we compare with knows no common prices.
    """
    if prices == UNIT:
        return Costs(tests=dict.fromkeys(grow.columns, 1.0))
    return datasets.random_costs(
        grow.X,
        grow.y,
        groups=0.0,
        nominal=grow.nominal,
        columns=grow.columns,
        random_state=zlib.crc32(f"{name}/{split}/prices".encode()),
    )

"""The data sets of Nan, Wang & Saligrama (2015), how they are divided, and their prices.

Of the four large sets of the paper, only Forest covertype is available; adult, credit default and letter replace the
others. Their cases are split at random into training, validation and test cases.

Of the nine small sets of figure 5, mammography is taken from the data folder if it is there. Numeric columns are
rounded to ten equidistant levels: with this rounding, and no other that we tried, each set has as many distinct cases
as the appendix says. A missing value is a separate value. Of identical cases one is kept, with their most frequent
class.
"""

from __future__ import annotations

import functools
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import datasets
from worthwhile.costs.costs import Costs
from worthwhile.experiments.engine import load
from worthwhile.experiments.problems import CaseSet, DataSource

__all__ = [
    "ABSENT_LARGE",
    "DATA",
    "DRAWN",
    "LARGE",
    "NINTH",
    "QUERY",
    "RELEVANT",
    "SMALL",
    "UNIT",
    "cases_of",
    "costs_of",
    "has_ninth",
]

SIZES = (36_603, 15_688, 58_101)  # of covtype: training, validation and test cases
LEVELS = 10
SOYBEANS = 307  # the first cases are those of the paper; the others were its test file
ABSENT_LARGE = ("Yahoo! Rank", "MiniBooNE", "CIFAR-10")
NINTH = "mammography"  # of the small sets; not every data folder has it
UNIT, DRAWN = "unit", "drawn"  # price lists
# Rankings made of data sets of two classes: which class is relevant, and how many cases, at random, are a query.
RELEVANT = {"adult": ">50K", "credit": "1"}
QUERY = 20

Floats = npt.NDArray[np.float64]


def _discrete(cases: CaseSet) -> CaseSet:
    """Round numbers to levels, make missing a value, and keep one of several identical cases."""
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
    return CaseSet(unique, labels[counts.argmax(axis=1)], cases.columns, cases.columns)


def _levels(values: Floats, nominal: bool) -> Floats:
    """Return the level of each value; codes of nominal values are unchanged.

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


def _quarters(cases: CaseSet) -> CaseSet:
    """Make four classes of a numeric target by its quartiles."""
    value = cases.y.astype(float)
    quarter = np.searchsorted(np.quantile(value, [0.25, 0.5, 0.75]), value, side="left")
    return _discrete(replace(cases, y=(quarter + 1).astype(str)))


def _first_soybeans(cases: CaseSet) -> CaseSet:
    return _discrete(cases.take(np.arange(SOYBEANS)))


LARGE = {
    "covtype": DataSource("Forest", "covtype", effort=8.0),
    "adult": DataSource("adult", "adult", effort=1.5),
    "credit": DataSource("credit default", "credit_default_taiwan"),
    "letter": DataSource("letter", "letter", effort=6.0),
}
SMALL = {
    "votes": DataSource("House Votes", "vote", _discrete, effort=0.01),
    "sonar": DataSource("Sonar", "sonar", _discrete, effort=0.01),
    "ionosphere": DataSource("Ionosphere", "ionosphere", _discrete, effort=0.01),
    "dna": DataSource("DNA", "dna_statlog", _discrete, effort=0.1),
    "boston": DataSource("Boston Housing", "boston_housing", _quarters, effort=0.01),
    "soybean": DataSource("Soybean", "soybean_large", _first_soybeans, effort=0.01),
    "pima": DataSource("Pima", "pima", _discrete, effort=0.01),
    "wdbc": DataSource("WBCD", "wdbc", _discrete, effort=0.01),
    NINTH: DataSource("Mammography", "mammographic", _discrete, effort=0.01),
}
DATA = {**LARGE, **SMALL}


def has_ninth(folder: str | None) -> bool:
    """Return whether a data folder has mammography."""
    return folder is not None and (Path(folder) / f"{SMALL[NINTH].source}.csv").exists()


@functools.cache
def cases_of(name: str, folder: str | None) -> CaseSet:
    """Load a data set as numbers: nominal values become codes, missing values NaN."""
    known = DATA[name]
    found = load(known.source, folder)
    X = np.column_stack(
        [
            _codes(values) if column in found.nominal else values.astype(float)
            for column, values in zip(found.feature_names, found.X.T, strict=True)
        ]
    )
    # A column of two values is split in the same way as nominal or numeric.
    nominal = [
        c for c, values in zip(found.feature_names, X.T, strict=True) if c in found.nominal and np.nanmax(values) > 1
    ]
    cases = CaseSet(X, found.y, nominal, found.feature_names)
    return known.prepare(cases) if known.prepare else cases


def _codes(values: npt.NDArray[Any]) -> Floats:
    """Return the position of each value among the sorted distinct ones; NaN for a missing one.

    Examples
    --------
    >>> _codes(np.array(["b", None, "a", "b"], dtype=object)).tolist()
    [1.0, nan, 0.0, 1.0]
    """
    place = {value: float(i) for i, value in enumerate(sorted(set(values.tolist()) - {None}))}
    place[None] = np.nan
    return np.array([place[value] for value in values.tolist()])


def parts(
    name: str, split: int, folder: str | None, most: tuple[int, int] = (SIZES[0], SIZES[2])
) -> tuple[CaseSet, CaseSet, CaseSet]:
    """Split a large data set at random into training, validation and test cases.

    Covtype as in the paper, where most cases are unused; the others in the same proportions. `most`: of the training
    cases, with fewer validation cases in proportion, and of the test cases.
    """
    cases = cases_of(name, folder)
    n, total = len(cases.y), sum(SIZES)
    first, second, third = (min(size, int(size * n / total)) for size in SIZES)
    if first > most[0]:
        first, second = most[0], second * most[0] // first
    third = min(third, most[1])
    order = np.random.default_rng([zlib.crc32(name.encode()), split]).permutation(n)
    ends = (0, first, first + second, first + second + third)
    grow, choose, test = (cases.take(order[ends[i] : ends[i + 1]]) for i in range(3))
    return grow, choose, test


def costs_of(name: str, prices: str, split: int, grow: CaseSet) -> Costs:
    """Return the price list of a problem: every test costs 1, or prices are drawn for each split.

    Drawn prices are from 1 to 100; more informative tests tend to cost more (`datasets.random_costs`). There are no
    groups: the boosting that we compare with has no common prices.
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

"""A folder of anybody's tables: which files count, what is their target, and where their prices come from.

Tables are the files ``*.csv`` and ``*.csv.gz`` of the folder. The target is the column that the price list names
(``target`` in its ``[about]``), otherwise a column called class or target, otherwise the last one. The price list of
``NAME.csv`` is ``NAME.toml``, ``costs/NAME.toml`` or ``NAME-costs.toml``; without one, or if it does not fit, prices
are drawn.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs import files as cost_files
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import show
from worthwhile.datasets.random_prices import random_costs
from worthwhile.table.files import TableFile, check_target, suffix_of

__all__ = ["OWN", "RATIOS", "UnseenSplit", "UnseenTable", "load", "table_paths"]

SUFFIXES = (".csv", ".csv.gz")
TARGETS = ("class", "target")
LISTS = ("{}.toml", "costs/{}.toml", "{}-costs.toml")
RATIOS = ("0.5", "5", "50")  # what an error costs, in prices of all tests
OWN = "own"  # the error costs of the price list
FEWEST = 5  # cases of a class among those that are used: three to learn from, two to measure
LEAST_CASES = 40
MOST_CLASSES = 100
TESTED = 0.4


@dataclass(frozen=True, eq=False)
class UnseenSplit:
    """Cases to learn from, cases to measure, and what tests and errors cost."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    X_new: npt.NDArray[Any]
    y_new: npt.NDArray[Any]
    costs: Costs


@dataclass(frozen=True, eq=False)
class UnseenTable:
    """A table of the folder, its target, and its price list."""

    path: Path
    target: str
    why: str  # this column is the target
    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    columns: list[str]
    nominal: list[str]
    costs: Costs | None  # None: drawn
    own_errors: bool  # whether the price list has error costs
    prices: str  # where they come from, in words
    digest: str  # of the file and its price list

    def levels(self) -> list[str]:
        """Return the names of the error costs."""
        return [*RATIOS, *([OWN] if self.own_errors else [])]

    def usable(self, most: int) -> npt.NDArray[np.intp]:
        """Return the cases of the classes that have enough of them among the `most` cases that are used."""
        labels, codes, counts = np.unique(self.y, return_inverse=True, return_counts=True)
        enough = counts * min(1.0, most / len(self.y)) >= FEWEST
        rows = np.flatnonzero(enough[codes])
        if enough.sum() < 2 or len(rows) < LEAST_CASES:
            raise ValueError(
                f"{self.path}: too few cases to learn from and to measure: there must be {LEAST_CASES} of at least two"
                f" classes, and at least {FEWEST} of each among the {most:,} that are used; the target is"
                f" {show(self.target)} with {len(labels)} classes"
            )
        return rows

    def split(self, most: int, level: str, seed: int) -> UnseenSplit:
        """Divide at most so many cases, 60 to 40 %; the seed also draws the prices."""
        from sklearn.model_selection import train_test_split

        rows = self.usable(most)
        if len(rows) > most:
            rows, _ = train_test_split(rows, train_size=most, stratify=self.y[rows], random_state=seed)
        own, new = train_test_split(rows, test_size=TESTED, stratify=self.y[rows], random_state=seed)
        costs = self.costs
        if costs is None:
            costs = random_costs(
                self.X[own], self.y[own], nominal=self.nominal, columns=self.columns, random_state=seed
            )
        if level != OWN:
            costs = costs.with_errors(float(level) * costs.total_price())
        return UnseenSplit(self.X[own], self.y[own], self.X[new], self.y[new], costs)

    def line(self, most: int) -> str:
        """Return what is known about the table."""
        cases, n = len(self.usable(most)), len(self.columns)
        tests = f"{n} {'test' if n == 1 else 'tests'}"
        used = f", {most:,} of them in each split" if cases > most else ""
        return (
            f"{self.path.name}: {cases:,} cases{used}, {tests}, {len(np.unique(self.y))} classes; target"
            f" {show(self.target)} ({self.why}); {self.prices}."
        )


def table_paths(folder: str) -> dict[str, list[Path]]:
    """Return the tables of a folder by name, in the order of their names; two files may have the same name."""
    found: dict[str, list[Path]] = {}
    for path in sorted(Path(folder).iterdir()):
        suffix = suffix_of(path)
        if suffix in SUFFIXES and path.is_file() and not path.name.startswith("."):
            found.setdefault(path.name[: -len(suffix)], []).append(path)
    return found


def load(name: str, folder: str | None) -> UnseenTable:
    """Read a table by its name in a cell; once for cells in a row, unless the file changes."""
    paths = {} if folder is None else table_paths(folder)
    if name not in paths:
        raise ValueError(f"{folder}: there is no table {name}.csv or {name}.csv.gz")
    path = paths[name][0]
    lists = [own for pattern in LISTS if (own := path.parent / pattern.format(name)).is_file()]
    try:
        content = b"\0".join(each.read_bytes() for each in (path, *lists[:1]))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    return _read(path, lists[0] if lists else None, f"{zlib.crc32(content):08x}")


@functools.lru_cache(maxsize=2)
def _read(path: Path, price_list: Path | None, digest: str) -> UnseenTable:
    source = TableFile(path)
    costs, why_not = _read_list(price_list)
    target, why = _target(path, source.names, costs)
    table = source.read(nominal=[target]).with_classes(target)
    y = table.classes(target, most=MOST_CLASSES)
    left_out = {target, *table.identifiers()}
    columns = [name for name in table.columns if name not in left_out]
    if not columns:
        raise ValueError(f"{path}: there is no column to learn from beside the target {show(target)}")
    own_errors = False
    if price_list is not None and costs is not None:
        try:
            costs = _fitting(costs, columns, np.unique(y).tolist())
            own_errors = "errors" in cost_files.read(price_list).arguments
        except ValueError as error:
            costs, why_not = None, str(error)
    listed = f"prices of {price_list.name}{' and its error costs' if own_errors else ''}" if price_list else ""
    prices = listed if costs is not None else "random prices"
    if price_list is not None and costs is None:
        prices += f", since {price_list.name} does not fit: {why_not.removeprefix(f'{price_list}: ')}"
    nominal = [name for name in table.nominal() if name in columns]
    return UnseenTable(path, target, why, table.matrix(columns), y, columns, nominal, costs, own_errors, prices, digest)


def _read_list(path: Path | None) -> tuple[Costs | None, str]:
    """Return the price list, or why it cannot be read."""
    if path is None:
        return None, ""
    try:
        return Costs.read(path), ""
    except ValueError as error:
        return None, str(error)


def _fitting(costs: Costs, columns: Sequence[str], labels: Sequence[Any]) -> Costs:
    """Return a price list that fits a table; raise an error otherwise.

    The rivals know nothing of surcharges, so nobody pays them.
    """
    costs = costs.without_surcharges()
    BoundCosts.of(costs, columns, labels)
    if costs.total_price() <= 0:
        raise ValueError("all of its tests are free")
    return costs


def _target(path: Path, names: Sequence[str], costs: Costs | None) -> tuple[str, str]:
    """Return the target and why it is this column."""
    if costs is not None and (given := costs.about.get("target")):
        check_target(path, names, given)
        return given, "named by the price list"
    for wanted in TARGETS:
        for name in names:
            if name.strip().lower() == wanted:
                return name, "by its name"
    return names[-1], "the last column"

"""The training cases, ready for the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.learners.folds import stratified_share
from worthwhile.table.columns import Columns
from worthwhile.table.schema import Schema
from worthwhile.tree.context import ProblemContext

__all__ = ["Training", "route_core", "with_deviations", "with_prices"]

Floats = npt.NDArray[np.float64]
# Whole weights become repeated cases if that makes no more rows than this: then weights and repetitions are exactly the
# same. Of more, copies of a case would be on both sides of a division, and learners would believe themselves: with
# weights of 2 for 800 cases, a cascade expected 4 per new case, and these cost 67.
DIGITS = 12  # significant ones that decide about the order of cases
MAX_REPEATED = 100


# Under a time limit, only so many cells of the table are used per second of it, but at least FEWEST cases: reading,
# sorting and copying more would take too much of the time, and a tree to the end takes about 0.5 s per million cells.
CELLS_PER_SECOND, FEWEST = 500_000, 1_000


@dataclass(frozen=True, eq=False)
class Training:
    """The training cases with their classes and weights."""

    context: ProblemContext
    columns: Columns
    table: Any
    classes: npt.NDArray[np.int32]  # index of the class of each case
    labels: npt.NDArray[Any]  # the classes themselves
    weights: Floats | None
    sample_weights: Floats | None = None  # as given to `fit`, without weighting by error costs
    start: float | None = None  # when `fit` was called: time limits count from then
    case_prices: Floats | None = None  # by case and test, where prices depend on the case
    ways: Mapping[str, list[list[int]]] | None = None  # to ask nominal tests, where not by a branch for every value
    # By case and answer, where errors do not cost all cases of a class the same; the error costs are then the means.
    case_errors: Floats | None = None

    @property
    def schema(self) -> Schema:
        return self.context.schema

    @property
    def bound_costs(self) -> BoundCosts:
        return self.context.bound_costs

    @property
    def n_cases(self) -> int:
        return len(self.classes)

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    def class_weights(self) -> Floats:
        """Return the weight of the cases of each class."""
        return np.bincount(self.classes, self.weights, minlength=self.n_classes).astype(np.float64)

    def take(self, rows: npt.NDArray[np.intp]) -> Training:
        """Return the given cases only."""
        columns = self.columns.take(rows)
        return replace(
            self,
            columns=columns,
            table=self.encoded(rows, self.classes[rows]),
            classes=self.classes[rows],
            case_prices=None if self.case_prices is None else self.case_prices[rows],
            case_errors=None if self.case_errors is None else self.case_errors[rows],
            weights=None if self.weights is None else self.weights[rows],
            sample_weights=None if self.sample_weights is None else self.sample_weights[rows],
        )

    def encoded(self, rows: npt.NDArray[np.intp], classes: npt.NDArray[np.int32]) -> Any:
        """Return the core's table of some cases, with what they pay if they are of these classes."""
        columns = self.columns.take(rows)
        given = None if self.case_prices is None else self.case_prices[rows]
        table = with_prices(
            self.schema.encode(columns, self.ways, complete=True), self.context, columns, classes, given
        )
        return with_deviations(table, self.deviations(rows, classes))

    def deviations(self, rows: npt.NDArray[np.intp], classes: npt.NDArray[np.int32]) -> Floats | None:
        """Return what each answer costs some cases more than the mean of their class; None: they cost the mean.

        What an error would cost a case if it were of another class than its own is not known: as much as the mean.
        """
        if self.case_errors is None:
            return None
        above = self.case_errors[rows] - self.context.error_costs[classes]
        return np.ascontiguousarray(np.where((classes == self.classes[rows])[:, None], above, 0.0))

    def errors_of(self, answers: npt.NDArray[Any]) -> Floats:
        """Return the error cost of the answer to each case."""
        if self.case_errors is not None:
            return self.case_errors[np.arange(self.n_cases), answers]
        found: Floats = self.bound_costs.error_costs[self.classes, answers]
        return found

    def timely(self, limit: float | None, rng: np.random.Generator, cells_per_second: int | None = None) -> Training:
        """Return the cases, or as many of them as can be prepared in a part of the time limit."""
        if limit is None:
            return self
        share = (cells_per_second or CELLS_PER_SECOND) * limit / (self.n_cases * max(len(self.columns.arrays), 1))
        share = max(share, FEWEST / self.n_cases)  # a few cases are always ready in no time
        return self if share >= 1 else self.take(stratified_share(self.classes, share, rng))

    def sample(self, n: int, rng: np.random.Generator) -> Training:
        """Return at most n of the cases, drawn at random."""
        return self if self.n_cases <= n else self.take(np.sort(rng.permutation(self.n_cases)[:n]))

    def repeated(self) -> Training:
        """Return the cases in a canonical order, so that the order of the rows makes no difference.

        Learners that draw or divide cases at random start from this. To them, a few cases of whole weights are as many
        cases as the weights say; other weights stay as they are.
        """
        cases, rows = self.repeated_rows()
        return cases.take(rows)

    def repeated_rows(self) -> tuple[Training, npt.NDArray[np.intp]]:
        """Return cases and rows such that taking these rows is `repeated`; copying 10⁶ × 20 takes a second."""
        order = self._canonical_order()
        given = self.sample_weights
        if given is None:
            return self, order
        if not (given == np.floor(given)).all() or given.sum() > MAX_REPEATED:
            return self, order
        rows = np.repeat(order, given[order].astype(np.intp))
        rest = None if self.weights is None or np.array_equal(self.weights, given) else self.weights / given
        return replace(self, weights=rest, sample_weights=None), rows

    def _canonical_order(self) -> npt.NDArray[np.intp]:
        """Return an order of the cases that depends on their values and classes, not on where they stand."""
        key = exact = self.classes.astype(np.uint64)
        for array in self.schema.arrays(self.columns):
            values = np.asarray(array, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
            values[np.isnan(values)] = np.nan  # one bit pattern for all NaN
            # The same table from another file may have another last digit, and must not be divided otherwise.
            short = _rounded(values)
            exact = _mixed(exact, values.view(np.uint64))
            key = _mixed(key, short.view(np.uint64))
        for own in (self.case_prices, self.case_errors):
            for amounts in () if own is None else own.T:
                exact = _mixed(exact, (amounts + 0.0).view(np.uint64))
                key = _mixed(key, (amounts + 0.0).view(np.uint64))
        # Cases that differ by their weight only, by their weight.
        ties = [] if self.sample_weights is None else [self.sample_weights]
        return np.lexsort((*ties, *([] if np.array_equal(exact, key) else [exact]), key))


def with_prices(
    table: Any, context: ProblemContext, columns: Columns, classes: npt.NDArray[np.int32], given: Floats | None
) -> Any:
    """Return the core's table of training cases with what they pay, where prices depend on the case."""
    if given is not None or context.has_surcharges:
        labels = np.array(context.classes, dtype=object)[classes]
        table.set_prices(context.amounts(columns, given, labels))
    return table


def with_deviations(table: Any, deviations: Floats | None) -> Any:
    """Return the core's table of training cases with what errors cost them more than others of their class."""
    if deviations is not None:
        table.set_deviations(deviations)
    return table


def _rounded(values: Floats) -> Floats:
    """Return numbers rounded to twelve significant digits; shorter decimals stay exactly as they are.

    Examples
    --------
    >>> [float(x) for x in _rounded(np.array([5.1, 0.1 + 0.2, -1234567890.0, 0.0]))]
    [5.1, 0.3, -1234567890.0, 0.0]
    """
    whole = np.abs(values) < 2.0**53
    if (values[whole] == np.rint(values[whole])).all():
        return values
    with np.errstate(all="ignore"):
        digits = DIGITS - 1 - np.floor(np.log10(np.abs(values)))
        # A power of ten up to 22 is exact, and so is the nearest number to a quotient by it.
        scale = np.where((digits >= 0) & (digits <= 22), 10.0 ** np.clip(digits, 0, 22), np.nan)
        short = np.rint(values * scale) / scale
    return np.where(np.isfinite(short), short, values)


def _mixed(key: npt.NDArray[np.uint64], values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return keys that depend on all bits of both arguments (the finalizer of SplitMix64)."""
    key = (key ^ values) * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def route_core(core: Any, cases: Training, least_cost: bool) -> tuple[npt.NDArray[np.int32], Floats]:
    """Return the answers of a core tree for some cases, and the prices they pay."""
    costs = cases.bound_costs
    answers, paid, _, _ = _core.route(
        core,
        cases.table,
        costs.core_pricing,
        costs.core_errors,
        least_cost=least_cost,
        answers=True,
        prices=True,
    )
    assert answers is not None
    assert paid is not None
    return answers, paid

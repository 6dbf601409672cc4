"""What all trees and forests of one problem share: the columns, the classes and the costs."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import MAX_AMOUNT, is_missing, listing, suggest
from worthwhile.costs.pricing import Pricing
from worthwhile.costs.surcharges import Condition
from worthwhile.table.columns import (
    Columns,
    Factor,
    aligned,
    as_frame,
    frame_names,
    is_frame,
    read_columns,
    select_columns,
)
from worthwhile.table.schema import Schema
from worthwhile.tree.case_amounts import (
    amounts_of_case,
    case_amounts,
    check_conditions,
    conditions_of,
    surcharges_apply,
    truth_shares,
)
from worthwhile.tree.case_errors import checked_case_errors

__all__ = ["ProblemContext", "UnknownClassWarning", "distinct_labels", "label_array", "label_column"]

Floats = npt.NDArray[np.float64]


class UnknownClassWarning(UserWarning):
    """A case has a class that the training cases did not have, and every error costs the same."""


@dataclass(frozen=True, eq=False)
class ProblemContext:
    """The columns, classes and costs of a problem, prepared once.

    Attributes
    ----------
    schema : Schema
        Names and kinds of the columns.
    classes : tuple
        The classes, in the order of `predict_proba`.
    bound_costs : BoundCosts
        Prices by column and error costs by class.

    Examples
    --------
    >>> costs = Costs(tests={"fever": 2.0}, errors=50)
    >>> context = ProblemContext.of(Schema(("fever",), (None,)), ["well", "sick"], costs)
    >>> context.columns, context.answers, context.pricing.price({0})
    (('fever',), ('well', 'sick'), 2.0)
    """

    schema: Schema
    classes: tuple[Any, ...]
    bound_costs: BoundCosts

    @classmethod
    def of(
        cls,
        schema: Schema,
        classes: Sequence[Any],
        costs: Costs | None,
        cap: float | None = None,
        by_case: bool = False,
    ) -> ProblemContext:
        """Bind costs to columns and classes, rejecting costs that do not fit them."""
        bound = BoundCosts.of(costs, schema.names, classes, cap, by_case)
        check_conditions(schema, bound.prices)
        return cls(schema, tuple(classes), bound)

    def __reduce__(self) -> tuple[Any, ...]:
        # The core's objects cannot be pickled; they are built again.
        return ProblemContext.of, (self.schema, self.classes, self.costs, self.cap, self.bound_costs.by_case)

    @property
    def cap(self) -> float | None:
        """What no case may pay more than; None: no limit."""
        return self.bound_costs.cap

    @property
    def has_surcharges(self) -> bool:
        """Whether any price depends on the case."""
        return bool(self.bound_costs.prices.surcharges)

    def amounts(self, columns: Columns, case_prices: Any = None, y: Any = None, shares: Any = None) -> Floats | None:
        """Return what tests and surcharges cost each case, for the core; None if all cases pay the same.

        Surcharges by class go by the true classes `y`, or by the class probabilities `shares`.
        """
        given = self.checked_case_prices(case_prices, columns.n_cases)
        if given is None and not self.has_surcharges:
            return None
        prices = self.bound_costs.prices
        truth = None
        if y is not None:
            labels, place = distinct_labels(y, columns.n_cases)
            truth = truth_shares(prices, labels, np.eye(len(labels))[place])
        elif shares is not None:
            truth = truth_shares(prices, self.classes, shares)
        return case_amounts(
            self.bound_costs, self.columns, given, surcharges_apply(self.schema, prices, columns), truth
        )

    def amounts_of_case(
        self, case: Mapping[int, float], shares: Floats, expected: Sequence[float] | None
    ) -> list[float] | None:
        """Return what tests and surcharges cost one case, as far as it is known; None: as the price list says.

        Surcharges by class are expected by the class probabilities `shares`.
        """
        if not self.has_surcharges:
            return None
        known = [*shares.tolist(), 0.0]  # the last one is for a class that no training case has
        truth = [1.0 if own < 0 else known[own] for own in self.bound_costs.truth.tolist()]
        return amounts_of_case(self.schema, self.bound_costs.prices, self._conditions, case, expected, truth)

    @functools.cached_property
    def surcharged_by_results(self) -> bool:
        """Whether a surcharge depends on results."""
        return any(self._conditions)

    @functools.cached_property
    def _conditions(self) -> list[list[tuple[int, Condition]]]:
        return conditions_of(self.schema, self.bound_costs.prices)

    def needs_shares(self) -> bool:
        """Return whether prices depend on the true class, so that without it they are expected by probabilities."""
        return any(surcharge.truth is not None for surcharge in self.bound_costs.prices.surcharges)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the tests, in the order of the columns of X."""
        return self.schema.names

    @property
    def costs(self) -> Costs:
        """The costs as the user gave them."""
        return self.bound_costs.costs

    @property
    def answers(self) -> tuple[Any, ...]:
        """The classes, then reject answers such as "unknown"."""
        return self.bound_costs.answers

    @property
    def error_costs(self) -> Floats:
        """The cost of each answer by the true class: ``error_costs[truth, answer]``."""
        return self.bound_costs.error_costs

    @functools.cached_property
    def pricing(self) -> Pricing:
        """Prices of sets of tests."""
        return Pricing(self.bound_costs.prices)

    @functools.cached_property
    def answer_labels(self) -> npt.NDArray[Any]:
        """The answers as an array."""
        return label_array(self.answers)

    def errors_of(self, answers: npt.NDArray[Any], y: Any, warn: bool = True, case_errors: Any = None) -> Floats:
        """Return the error cost of each answer (an index into `answers`), given the true classes.

        With `case_errors`, errors cost each case what these say.

        A class that no training case had (a fold may lack one) counts as an error if the error costs include it. A
        uniform error cost includes every class, also a misspelt one: see `error_rows`.
        """
        own = self.checked_case_errors(case_errors, len(answers))
        if own is not None:
            return own[np.arange(len(answers)), answers]
        labels, place = distinct_labels(y, len(answers))
        costs: Floats = self.error_rows(labels, warn)[place, answers]
        return costs

    def error_rows(self, labels: list[Any], warn: bool = False) -> Floats:
        """Return the costs of all answers for each of these true classes.

        With a uniform error cost nothing says whether an unknown class is a rare class or a wrong label. One that
        differs from a known class only by case or surrounding spaces is refused; others give an `UnknownClassWarning`
        if `warn`.
        """
        position = {c: i for i, c in enumerate(self.classes)}
        unseen = [label for label in labels if label not in position]
        if not unseen:
            return self.error_costs[[position[label] for label in labels]]
        kinds = {isinstance(label, str) for label in self.classes}
        for label in unseen:
            if isinstance(label, str) not in kinds:  # strings instead of numbers: wrong labels, not rare classes
                raise ValueError(f"y contains the unknown class {label!r}; the classes are {listing(self.classes)}")
        if not isinstance(self.costs.errors, Mapping):
            self._check_unseen(unseen, warn)
        k = len(self.classes)
        _, matrix = self.costs.error_matrix([*self.classes, *unseen])
        position |= {label: k + i for i, label in enumerate(unseen)}
        answers = [*range(k), *range(k + len(unseen), matrix.shape[1])]
        return matrix[np.ix_([position[label] for label in labels], answers)]

    def _check_unseen(self, unseen: list[Any], warn: bool) -> None:
        alike = {label.strip().casefold(): label for label in self.classes if isinstance(label, str)}
        for label in unseen:
            if isinstance(label, str) and (known := alike.get(label.strip().casefold())) is not None:
                classes = f"the classes are {listing(self.classes)}"
                raise ValueError(f"y contains the unknown class {label!r}; {classes}: did you mean {known!r}?")
        if warn:
            what = f"class{'es' if len(unseen) > 1 else ''} {listing(unseen)}"
            warnings.warn(
                f"y contains the unknown {what}, which no training case has; the classes are {listing(self.classes)}. "
                "Every answer counts as an error.",
                UnknownClassWarning,
                stacklevel=4,
            )

    def split_known(self, case: Mapping[int, float]) -> tuple[list[int], list[int]]:
        """Return the tests of a case that have a value, and the unavailable ones.

        A value that no training case has counts as missing.
        """
        unavailable = {
            test: None
            for test, value in case.items()
            if math.isnan(value) or (value < 0 and self.schema.values[test] is not None)
        }
        return [test for test in case if test not in unavailable], list(unavailable)

    def closure_of(self, tests: Iterable[str]) -> frozenset[int]:
        """Return the columns of some tests and of everything they require."""
        if isinstance(tests, str):
            raise TypeError(f"already_paid must be a list of tests, e.g. [{tests!r}], got {tests!r}")
        names, position = list(tests), self.schema.position
        for name in names:
            if name not in position:
                raise ValueError(f"there is no test {name!r}; {suggest(str(name), self.columns)}")
        return self.pricing.closure(position[name] for name in names)

    def checked_case_errors(self, case_errors: Any, n_cases: int) -> Floats | None:
        """Return checked error costs by case and answer."""
        return checked_case_errors(case_errors, self.answers, n_cases)

    def checked_case_prices(self, case_prices: Any, n_cases: int) -> Floats | None:
        """Return checked prices by case and test, as the core needs them."""
        if case_prices is None:
            return None
        case_prices = as_frame(case_prices)
        if is_frame(case_prices, named=True):
            case_prices = self._prices_by_name(case_prices)
        prices: Floats = aligned(np.ascontiguousarray(case_prices, dtype=np.float64))
        if prices.shape != (n_cases, len(self.columns)):
            expected = f"expected {(n_cases, len(self.columns))}: one price per case and test"
            raise ValueError(f"case_prices has the shape {prices.shape}, {expected}")
        for row, test in np.argwhere(~((prices >= 0) & (prices <= MAX_AMOUNT)))[:1]:
            culprit = f"row {row}, test {self.columns[test]!r}: {prices[row, test]}"
            raise ValueError(f"case_prices must be finite, from 0 to {MAX_AMOUNT:g} ({culprit})")
        return prices

    def _prices_by_name(self, case_prices: Any) -> Any:
        """Return the prices of a frame in the order of the tests."""
        own = dict.fromkeys(names := frame_names(case_prices) or [])
        if unknown := [name for name in own if name not in self.schema.position]:
            raise ValueError(
                f"case_prices has the column {unknown[0]!r}, which is not a test; {suggest(unknown[0], self.columns)}"
            )
        if missing := [name for name in self.columns if name not in own]:
            plural = "s" if len(missing) > 1 else ""
            raise ValueError(
                f"case_prices lacks the column{plural} {listing(missing)}; it needs a price for every test"
            )
        if len(own) < len(names):
            raise ValueError(f"case_prices has two columns for the same test: {listing(names)}")
        read = read_columns(select_columns(case_prices, self.columns))
        for name, column in zip(read.names, read.arrays, strict=True):
            if isinstance(column, Factor):
                raise ValueError(f"case_prices must be numbers, but the column {name!r} is not")
        return np.column_stack([column for column in read.arrays if not isinstance(column, Factor)])

    def read(self, X: Any) -> Columns:
        """Return the columns of X that the problem uses; those of a frame are found by name."""
        if isinstance(X, Columns):
            return X
        X = as_frame(X)
        nominal = self.schema.nominal_in(X)
        if is_frame(X, named=True):
            own = set(frame_names(X) or ())
            absent = [name for name in self.columns if name not in own]
            if absent:
                plural = "s" if len(absent) > 1 else ""
                raise ValueError(f"X lacks the column{plural} {', '.join(map(repr, absent))}")
            return read_columns(select_columns(X, self.columns), nominal=nominal)
        columns = read_columns(X, nominal=nominal)
        if len(columns.arrays) != len(self.columns):
            expected = f"expected {len(self.columns)}: {', '.join(self.columns)}"
            raise ValueError(f"X has {len(columns.arrays)} columns, {expected}")
        return columns


def label_array(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """Return labels as an array that keeps their types: numbers stay numbers even with a string among them."""
    array = np.array(labels)
    if array.ndim != 1 or (array.dtype.kind in "US" and not all(isinstance(label, str) for label in labels)):
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
    return array


def label_column(y: Any) -> npt.NDArray[Any]:
    """Return classes as an array; a table with a single column, which `fit` takes, is one column of classes."""
    y = np.asarray(y)
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def distinct_labels(y: Any, n_cases: int) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """Return the distinct classes of y, and for every case the index of its class."""
    y = label_column(y)
    if y.ndim != 1 or len(y) != n_cases:
        raise ValueError(f"y has the shape {y.shape}, expected ({n_cases},): one class per case")
    if y.dtype != object:
        distinct, inverse = np.unique(y, return_inverse=True)
        return distinct.tolist(), inverse
    labels = y.tolist()
    position = {label: index for index, label in enumerate(dict.fromkeys(labels))}
    if any(map(is_missing, position)):
        row = next(row for row, label in enumerate(labels) if is_missing(label))
        raise ValueError(f"the class of row {row} of y is missing: {labels[row]!r}")
    return list(position), np.fromiter(map(position.__getitem__, labels), np.intp, n_cases)

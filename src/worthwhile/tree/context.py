"""What all trees and forests of one problem share: the columns, the classes and the costs."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import MAX_AMOUNT, is_missing
from worthwhile.costs.pricing import Pricing
from worthwhile.table.columns import Columns, aligned, is_frame, read_columns
from worthwhile.table.schema import Schema

__all__ = ["ProblemContext", "distinct_labels", "label_array"]

Floats = npt.NDArray[np.float64]


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
    def of(cls, schema: Schema, classes: Sequence[Any], costs: Costs | None) -> ProblemContext:
        """Bind costs to columns and classes, rejecting costs that do not fit them."""
        return cls(schema, tuple(classes), BoundCosts.of(costs, schema.names, classes))

    def __reduce__(self) -> tuple[Any, ...]:
        # The core's objects cannot be pickled; they are built again.
        return ProblemContext.of, (self.schema, self.classes, self.costs)

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

    def errors_of(self, answers: npt.NDArray[Any], y: Any) -> Floats:
        """Return the error cost of each answer (an index into `answers`), given the true classes.

        A class that no training case had (a fold may lack one) counts as an error if the error costs include it.
        """
        labels, place = distinct_labels(y, len(answers))
        costs: Floats = self.error_rows(labels)[place, answers]
        return costs

    def error_rows(self, labels: list[Any]) -> Floats:
        """Return the costs of all answers for each of these true classes."""
        position = {c: i for i, c in enumerate(self.classes)}
        unseen = [label for label in labels if label not in position]
        if not unseen:
            return self.error_costs[[position[label] for label in labels]]
        kinds = {isinstance(label, str) for label in self.classes}
        for label in unseen:
            if isinstance(label, str) not in kinds:  # strings instead of numbers: wrong labels, not rare classes
                known = ", ".join(map(repr, self.classes))
                raise ValueError(f"y contains the unknown class {label!r}; the classes are {known}")
        k = len(self.classes)
        _, matrix = self.costs.error_matrix([*self.classes, *unseen])
        position |= {label: k + i for i, label in enumerate(unseen)}
        answers = [*range(k), *range(k + len(unseen), matrix.shape[1])]
        return matrix[np.ix_([position[label] for label in labels], answers)]

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

    def checked_case_prices(self, case_prices: Any, n_cases: int) -> Floats | None:
        """Return checked prices by case and test, as the core needs them."""
        if case_prices is None:
            return None
        prices: Floats = aligned(np.ascontiguousarray(case_prices, dtype=np.float64))
        if prices.shape != (n_cases, len(self.columns)):
            expected = f"expected {(n_cases, len(self.columns))}: one price per case and test"
            raise ValueError(f"case_prices has the shape {prices.shape}, {expected}")
        for row, test in np.argwhere(~((prices >= 0) & (prices <= MAX_AMOUNT)))[:1]:
            culprit = f"row {row}, test {self.columns[test]!r}: {prices[row, test]}"
            raise ValueError(f"case_prices must be finite, from 0 to {MAX_AMOUNT:g} ({culprit})")
        return prices

    def read(self, X: Any) -> Columns:
        """Return the columns of X that the problem uses; those of a frame are found by name."""
        if is_frame(X, named=True):
            given = set(X.columns)
            absent = [name for name in self.columns if name not in given]
            if absent:
                plural = "s" if len(absent) > 1 else ""
                raise ValueError(f"X lacks the column{plural} {', '.join(map(repr, absent))}")
            return read_columns(X[list(self.columns)])
        columns = read_columns(X)
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


def distinct_labels(y: Any, n_cases: int) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """Return the distinct classes of y, and for every case the index of its class."""
    y = np.asarray(y)
    if y.ndim != 1 or len(y) != n_cases:
        raise ValueError(f"y has the shape {y.shape}, expected ({n_cases},): one class per case")
    if y.dtype != object:
        distinct, inverse = np.unique(y, return_inverse=True)
        return distinct.tolist(), inverse
    position: dict[Any, int] = {}
    place = np.empty(n_cases, dtype=np.intp)
    for row, label in enumerate(y.tolist()):
        if is_missing(label):
            raise ValueError(f"the class of row {row} of y is missing: {label!r}")
        place[row] = position.setdefault(label, len(position))
    return list(position), place

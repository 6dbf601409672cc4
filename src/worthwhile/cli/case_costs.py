"""Columns of a table that say what tests and errors cost each case: --case-price and --case-error."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import show, suggest
from worthwhile.table.columns import Factor, value_text
from worthwhile.table.files import DataTable, TableFile

__all__ = ["CaseColumns", "CaseTables"]

Floats = npt.NDArray[np.float64]
PRICE, ERROR = "--case-price", "--case-error"


@dataclass(frozen=True, eq=False)
class CaseTables:
    """What tests and errors cost each case, as `fit` takes it; None: as the price list says."""

    prices: Floats | None = None
    errors: Floats | None = None

    def take(self, rows: npt.NDArray[Any]) -> CaseTables:
        """Return the costs of some cases."""
        return CaseTables(*(None if own is None else own[rows] for own in (self.prices, self.errors)))

    def arguments(self, prefix: str = "") -> dict[str, Any]:
        """Return the arguments `case_prices` and `case_errors`, those that there are."""
        given = {f"{prefix}case_prices": self.prices, f"{prefix}case_errors": self.errors}
        return {name: table for name, table in given.items() if table is not None}


@dataclass(frozen=True)
class CaseColumns:
    """Which columns have prices of tests and costs of answers."""

    prices: Mapping[str, str] = field(default_factory=dict)  # by test
    errors: Mapping[str, str] = field(default_factory=dict)  # by answer

    @classmethod
    def parse(cls, case_price: Sequence[str] | None, case_error: Sequence[str] | None) -> CaseColumns:
        """Read the options.

        Examples
        --------
        >>> CaseColumns.parse(["visit=distance"], ["good=amount"])
        CaseColumns(prices={'visit': 'distance'}, errors={'good': 'amount'})
        """
        return cls(_pairs(case_price, PRICE, "TEST"), _pairs(case_error, ERROR, "ANSWER"))

    @property
    def columns(self) -> list[str]:
        """All columns that are named; they are no tests."""
        return list(dict.fromkeys([*self.prices.values(), *self.errors.values()]))

    def check(self, source: TableFile, target: str | None = None) -> None:
        """Refuse columns that the file lacks, and the target."""
        for option, given in ((PRICE, self.prices), (ERROR, self.errors)):
            for column in given.values():
                if column not in source.names:
                    raise ValueError(
                        f"{source.path}: no column {show(column)}, given by {option}; {suggest(column, source.names)}"
                    )
                if column == target:
                    raise ValueError(f"{option}: {show(column)} is the target column")

    def read(
        self,
        source: TableFile,
        table: DataTable,
        names: Sequence[str],
        costs: Costs | None,
        y: Any = None,
        classes: Sequence[Any] = (),
    ) -> CaseTables:
        """Return what tests and errors cost each case of a table.

        The price list counts for tests and answers without a column, and for answers that are right.

        Parameters
        ----------
        source : TableFile
        table : DataTable
            The cases that were read from it.
        names : sequence of str
            The tests.
        costs : Costs or None
        y : array, optional
            The true classes; without them, there are no costs of errors.
        classes : sequence
            The classes; with the reject answers of the costs, they are the answers.
        """
        if not self.columns:
            return CaseTables()
        read = source.read(only=self.columns, numeric=self.columns)
        costs = Costs() if costs is None else costs
        prices = self._prices(read, table, names, costs) if self.prices else None
        errors = self._errors(read, table, costs, y, classes) if self.errors and y is not None else None
        return CaseTables(prices, errors)

    def _prices(self, read: DataTable, table: DataTable, names: Sequence[str], costs: Costs) -> Floats:
        listed = [costs.tests[name].price if name in costs.tests else 0.0 for name in names]
        found = np.tile(np.array(listed, dtype=np.float64), (table.n_cases, 1))
        for test, column in self.prices.items():
            if test not in names:
                raise ValueError(f"{PRICE} {test}={column}: there is no test {show(test)}; {suggest(test, names)}")
            found[:, list(names).index(test)] = _amounts(read, table, column, least=0.0)
        return found

    def _errors(self, read: DataTable, table: DataTable, costs: Costs, y: Any, classes: Sequence[Any]) -> Floats:
        answers, matrix = costs.error_matrix(list(classes))
        place = {value_text(answer): at for at, answer in enumerate(answers)}
        truth = np.array([place[value_text(label)] for label in np.asarray(y).tolist()])
        found = np.ascontiguousarray(matrix[truth], dtype=np.float64)
        for answer, column in self.errors.items():
            if answer not in place:
                what = f"{ERROR} {answer}={column}: there is no answer {show(answer)}"
                raise ValueError(f"{what}; {suggest(answer, place)}")
            wrong = truth != place[answer]
            found[wrong, place[answer]] = _amounts(read, table, column)[wrong]
        return found


def _pairs(given: Collection[str] | None, option: str, what: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, column = text.partition("=")
        if not (name and equals and column):
            raise ValueError(f"{option} {text}: must be {what}=COLUMN, e.g. {option} {what.lower()}=column")
        if name in found:
            raise ValueError(f"{option}: two columns for {show(name)}: {show(found[name])} and {show(column)}")
        found[name] = column
    return found


def _amounts(read: DataTable, table: DataTable, name: str, least: float | None = None) -> Floats:
    """Return the amounts in a column, for the cases of a table."""
    column = read.columns[name]
    if isinstance(column, Factor):
        raise ValueError(f"{read.path}: column {show(name)} must have numbers, but has {show(column.categories[0])}")
    amounts = column if table.rows is None else column[table.rows]
    for row in np.flatnonzero(np.isnan(amounts))[:1].tolist():
        raise ValueError(f"{table.location(row)}: column {show(name)} has no amount")
    if least is not None:
        for row in np.flatnonzero(amounts < least)[:1].tolist():
            raise ValueError(f"{table.location(row)}: column {show(name)} has {amounts[row]:g}; a price is at least 0")
    return np.asarray(amounts, dtype=np.float64)

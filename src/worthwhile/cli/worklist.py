"""Reading a worklist: cases with marks for tests that are ordered or unavailable; and the columns of its orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile.cli.reading import tests_of
from worthwhile.costs.error_costs import listing, show
from worthwhile.evaluation.metrics import context_of
from worthwhile.table.columns import Columns, Factor
from worthwhile.table.files import DataTable, TableFile
from worthwhile.wording import amount, with_currency

if TYPE_CHECKING:
    from worthwhile.tree.context import ProblemContext

__all__ = ["MarkedCases", "check_marks", "order_columns", "order_summary", "read_worklist"]


@dataclass(frozen=True, eq=False)
class MarkedCases:
    """The cases of a worklist, and where tests are unavailable or pending; notes say what was found out."""

    table: DataTable
    X: Columns
    unavailable: npt.NDArray[np.bool_]
    pending: npt.NDArray[np.bool_]
    notes: list[str]


def check_marks(context: ProblemContext, marks: Mapping[str, str]) -> None:
    """Refuse marks that are empty, the same, or values of a test."""
    pending, unavailable = marks["pending"], marks["unavailable"]
    if pending.casefold() == unavailable.casefold():
        raise ValueError(f"--pending-mark and --unavailable-mark are both {show(pending)}; they must differ")
    for what, mark in marks.items():
        if not mark or "," in mark:
            raise ValueError(f"--{what}-mark must be a text without a comma, got {show(mark)}")
        for name, values in zip(context.columns, context.schema.values, strict=True):
            if mark.casefold() in {value.casefold() for value in values or ()}:
                raise ValueError(
                    f"--{what}-mark: {show(mark)} is a value of the test {show(name)}; choose another mark"
                )


def read_worklist(model: Any, source: TableFile, marks: Mapping[str, str]) -> MarkedCases:
    """Read the cases of a worklist; a column that it lacks was not asked for in any case."""
    context, names = context_of(model), source.names
    kinds = dict(zip(context.columns, context.schema.values, strict=True))
    known = [name for name in context.columns if name in set(names)]
    if not known:
        raise ValueError(
            f"{source.path}: has no column of the model; its tests are {listing(tests_of(model))}, the file has "
            f"{listing(names)}"
        )
    table = source.read(
        only=known,
        numeric=[name for name in known if kinds[name] is None],
        nominal=[name for name in known if kinds[name] is not None],
    )
    masks = {what: np.zeros((table.n_cases, len(context.columns)), dtype=np.bool_) for what in marks}
    place = [(names.index(name), context.schema.position[name]) for name in known]
    by_text = {mark.casefold(): masks[what] for what, mark in marks.items()}
    for row, cells in enumerate(source.rows()):
        for at, test in place:
            cell = cells[at]
            if isinstance(cell, str) and (mask := by_text.get(cell.strip().casefold())) is not None:
                mask[row, test] = True
    table = replace(table, columns=_without_marks(table.columns, context, masks["pending"] | masks["unavailable"]))
    absent = [name for name in tests_of(model) if name not in set(known)]
    notes = [f"{source.path}: has no column {listing(absent)}; not asked for in any case."] if absent else []
    return MarkedCases(table, table.cases(context.columns), masks["unavailable"], masks["pending"], notes)


def _without_marks(
    columns: Mapping[str, Any], context: ProblemContext, marked: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Return columns where marked cells are missing: in a Parquet file a mark is a value like any other."""
    found = dict(columns)
    for name, column in columns.items():
        own = marked[:, context.schema.position[name]]
        if isinstance(column, Factor) and own.any():
            found[name] = replace(column, codes=np.where(own, np.int32(-1), column.codes))
    return found


def order_columns(found: Mapping[str, npt.NDArray[Any]]) -> dict[str, Sequence[Any]]:
    """Return the columns to add to a worklist; what is unknown is an empty cell."""
    columns: dict[str, Sequence[Any]] = {}
    for name, values in found.items():
        if values.dtype.kind == "f":
            columns[name] = [None if np.isnan(value) else round(value, 6) for value in values.tolist()]
        else:
            columns[name] = [None if value == "" else value for value in values.tolist()]
    return columns


def order_summary(found: Mapping[str, npt.NDArray[Any]], context: ProblemContext, out: Path) -> str:
    """Return how many cases order tests, for how much, wait or are answered."""
    action, unit = found["action"].tolist(), context.costs.currency
    total = with_currency(amount(float(found["price"].sum())), unit)
    orders, waits, answers = (action.count(what) for what in ("order", "wait", "answer"))
    return f"{len(action)} cases: {orders} order tests for {total} in all, {waits} wait, {answers} are answered: {out}"

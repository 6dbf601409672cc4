"""Reading training cases for learners, and cases for a model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import listing, show
from worthwhile.evaluation.metrics import context_of
from worthwhile.table.columns import value_text
from worthwhile.table.files import DataTable, Factor, check_target, column_names, read_table
from worthwhile.tree.context import label_array
from worthwhile.tree.tree import Tree

__all__ = [
    "TrainingData",
    "check_costs",
    "describe_columns",
    "read_cases",
    "read_training_data",
    "tests_of",
    "trees_of",
    "true_classes",
    "unknown_values",
]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Cases with their classes, and the costs of tests and errors."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    names: list[str]
    nominal: list[str]
    costs: Costs | None
    table: DataTable


def read_training_data(
    data: Path,
    target: str,
    costs_file: Path | None = None,
    nominal: Collection[str] = (),
    drop: Collection[str] = (),
    missing: Collection[str] = (),
) -> TrainingData:
    """Read cases and costs, and check that they match."""
    costs = None if costs_file is None else Costs.read(costs_file)
    names = column_names(data)
    check_target(data, names, target)
    if target in drop:
        raise ValueError(f"--drop: {show(target)} is the target column")
    table = read_table(data, drop=drop, nominal={*nominal, target}, missing=missing)
    names = [name for name in table.columns if name != target]
    if not names:
        raise ValueError(f"{data}: has no column besides the target {show(target)}")
    y = table.classes(target)
    if costs is not None:
        costs = _without(costs, drop)
        check_costs(costs, costs_file, names, target, np.unique(y).tolist())
    nominal = [name for name in table.nominal() if name != target]
    return TrainingData(table.matrix(names), y, names, nominal, costs, table)


def _without(costs: Costs, dropped: Collection[str]) -> Costs:
    """Return the costs of the remaining tests and of the groups that still have tests."""
    gone = set(dropped)
    tests = {name: test for name, test in costs.tests.items() if name not in gone}
    if len(tests) == len(costs.tests):
        return costs
    groups = {test.group for test in tests.values()}
    left = {name: common for name, common in costs.groups.items() if name in groups}
    return Costs(tests=tests, groups=left, errors=costs.errors, about=costs.about)


def check_costs(
    costs: Costs, path: Path | None, names: Sequence[str], target: str | None, classes: Sequence[Any]
) -> None:
    """Raise an error that names the file if costs do not match the columns or the classes."""
    try:
        if target is not None and target in costs.tests:
            raise ValueError(f"has a price for {show(target)}, which is the target column")
        costs.prices_for(names)
        if classes:
            costs.error_matrix(list(classes))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def describe_columns(problem: TrainingData, declared: Collection[str]) -> list[str]:
    """Return lines that say which columns are numeric and nominal."""
    named, tests = set(declared), set(problem.names)
    guessed = [name for name in problem.nominal if name not in named]
    codes = [name for name in problem.table.possible_codes() if name in tests]
    ids = [name for name in problem.table.possible_ids() if name in tests]
    numeric = len(problem.names) - len(problem.nominal)
    nominal = ", ".join([*guessed, *(f"{name} (declared)" for name in declared)]) or "none"
    kinds = f"{numeric} numeric column{'s' * (numeric != 1)}, nominal: {nominal}"
    lines = [f"{problem.table.path}: {problem.table.n_cases} cases, {kinds}"]
    if codes:
        lines.append(
            f"Integers with few values, treated as numbers: {', '.join(codes)}; if they are codes, use --nominal."
        )
    if ids:
        lines.append(f"Mostly distinct strings: {', '.join(ids)}; if they are identifiers, use --drop.")
    return lines


def trees_of(model: Any) -> list[Tree]:
    """Return the trees of a model: one, or those of a forest, which may have none."""
    if isinstance(model, Tree):
        return [model]
    return model.trees_ if hasattr(model, "trees_") else [model.tree_]


def tests_of(model: Any) -> list[str]:
    """Return the tests that a model may ask for."""
    used = {name for tree in trees_of(model) for name in tree.tests_used()}
    return [name for name in context_of(model).columns if name in used]


def read_cases(model: Any, data: Path, missing: Collection[str] = (), also: Collection[str] = ()) -> DataTable:
    """Read the columns of a model; columns that it never asks for may be missing."""
    context, names = context_of(model), dict.fromkeys(column_names(data))
    missing_columns = [name for name in tests_of(model) if name not in names]
    if missing_columns:
        raise ValueError(
            f"{data}: has no column {listing(missing_columns)}, which the model needs; its columns are {listing(names)}"
        )
    kinds = dict(zip(context.columns, context.schema.values, strict=True))
    known = [name for name in context.columns if name in names]
    return read_table(
        data,
        only={*known, *also},
        numeric=[name for name in known if kinds[name] is None],
        nominal={name for name in known if kinds[name] is not None} | set(also),
        missing=missing,
    )


def unknown_values(model: Any, table: DataTable) -> list[str]:
    """Return warnings about values that a model does not know; these count as unavailable tests."""
    context, lines = context_of(model), []
    kinds = dict(zip(context.columns, context.schema.values, strict=True))
    for name in tests_of(model):
        column, known = table.columns.get(name), kinds[name]
        if known is None or not isinstance(column, Factor):
            continue
        strange = [code for code, text in enumerate(column.categories) if text not in known]
        n = int(np.isin(column.codes, strange).sum())
        if n:
            example = show(column.categories[strange[0]])
            words = f"the model knows {listing(known)}; these count as unavailable"
            lines.append(f"Column {show(name)}: {n} of {table.n_cases} values are unknown, e.g. {example}; {words}.")
    return lines


def true_classes(
    model: Any, data: Path, target: str | None, missing: Collection[str] = ()
) -> tuple[DataTable, str, Any]:
    """Read cases with their classes; without a target, find the column of the model's classes.

    Returns the table, the name of the target column, and the classes.
    """
    context, names = context_of(model), column_names(data)
    columns = set(context.columns)
    known = {value_text(label): label for label in context.classes}
    others = [name for name in names if name not in columns]
    if target is not None:
        check_target(data, names, target)
        others = [target]
    table = read_cases(model, data, missing, also=others)
    if target is None:
        fitting = [name for name in others if table.class_names(name) <= known.keys()]
        if len(fitting) != 1:
            found = f"columns {listing(fitting)} all have" if fitting else "no column has only"
            raise ValueError(f"{data}: {found} the classes {listing(context.classes)}; name the target with --target")
        target = fitting[0]
    labels = table.classes(target, check=False)
    distinct, place = np.unique(labels, return_inverse=True)
    texts = [value_text(label) for label in distinct.tolist()]
    for code, text in enumerate(texts):
        if text not in known:
            row = int(np.flatnonzero(place == code)[0])
            knows = f"which the model does not know; its classes are {listing(context.classes)}"
            raise ValueError(f"{table.location(row)}: column {show(target)} has the class {show(text)}, {knows}")
    return table, target, label_array([known[text] for text in texts])[place]

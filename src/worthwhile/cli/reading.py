"""Reading training cases for learners, and cases for a model."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.cli.columns import FLEXIBLE, HEADINGS, column_hints, column_rows, look_alikes, measured_target
from worthwhile.cli.common import Printer
from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import listing, nearest, show
from worthwhile.evaluation.metrics import context_of
from worthwhile.table.columns import Factor, value_text
from worthwhile.table.files import DataTable, TableFile, check_target
from worthwhile.tree.context import label_array
from worthwhile.tree.tree import Tree

__all__ = [
    "TrainingData",
    "check_costs",
    "describe_data",
    "empty_cells",
    "in_file",
    "read_cases",
    "read_training_data",
    "tests_of",
    "trees_of",
    "true_classes",
    "unknown_values",
    "unused_columns",
    "with_costs",
    "without_extra",
]


_NUMBER_WITH_SIGN = re.compile(r"[$€£]? ?[-+]?\d[\d.,]* ?(%|[$€£]|EUR|USD)?")


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Cases with their classes, and the costs of tests and errors."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    names: list[str]
    nominal: list[str]
    costs: Costs | None
    table: DataTable
    target: str
    declared: Collection[str]  # columns that --nominal names
    unused: list[str]  # columns with almost as many values as cases
    ignored: list[str]  # tests with a price that are not columns

    @functools.cached_property
    def left_out(self) -> frozenset[str]:
        """The columns that are not used."""
        return frozenset(self.unused)


def read_training_data(
    source: TableFile,
    target: str,
    costs_file: Path | None = None,
    nominal: Collection[str] = (),
    drop: Collection[str] = (),
    drop_missing_target: bool = False,
    ignore_extra_prices: bool = False,
) -> TrainingData:
    """Read cases and costs, and check that they match."""
    costs = None if costs_file is None else Costs.read(costs_file)
    data = source.path
    check_target(data, source.names, target)
    if target in drop:
        raise ValueError(f"--drop: {show(target)} is the target column")
    table = source.read(drop=drop, nominal={*nominal, target})
    if drop_missing_target:
        table = table.with_classes(target)
    names = [name for name in table.columns if name != target]
    if not names:
        raise ValueError(f"{data}: has no column besides the target {show(target)}")
    y = table.classes(target)
    ignored: list[str] = []
    if costs is not None and costs_file is not None:
        costs = in_file(costs_file, _without, costs, drop)
        if ignore_extra_prices:
            costs, ignored = without_extra(costs, costs_file, [*names, target])
        check_costs(costs, costs_file, names, target, np.unique(y).tolist())
    needed = {*nominal, target, *(other for test in (costs.tests if costs else {}).values() for other in test.requires)}
    unused = [name for name in table.identifiers() if name not in needed]
    left_out = set(unused)
    names = [name for name in names if name not in left_out]
    if not names:
        one = len(unused) == 1
        found = f"{listing(unused)} {'has' if one else 'have'} almost as many values as cases"
        raise ValueError(f"{data}: no column can be used: {found}; use --nominal if {'it' if one else 'one'} is a test")
    if costs is not None:
        costs = _without(costs, unused)
    tests = set(names)
    nominal_names = [name for name in table.nominal() if name in tests]
    return TrainingData(
        table.matrix(names), y, names, nominal_names, costs, table, target, set(nominal), unused, ignored
    )


def _without(costs: Costs, dropped: Collection[str]) -> Costs:
    """Return the costs of the remaining tests and of the groups that still have tests."""
    gone = set(dropped)
    named = [name for own, test in costs.tests.items() for name in (own, *test.prerequisites)]
    before = [name for test in costs.tests.values() for own in test.surcharges for name in own.mentioned_before]
    return costs.only(name for name in (*named, *before) if name not in gone)


def without_extra(costs: Costs, path: Path, names: Collection[str]) -> tuple[Costs, list[str]]:
    """Return the costs of these columns, and the tests that are not among them."""
    columns = set(names)
    extra = [name for name in costs.tests if name not in columns]
    return in_file(path, costs.only, names), extra


def with_costs(model: Any, path: Path, costs_file: Path) -> Any:
    """Return a model that pays the prices of another list and asks and answers as before."""
    from worthwhile.learners.repricing import repriced_model

    context, costs = context_of(model), Costs.read(costs_file)
    check_costs(costs, costs_file, context.columns, None, list(context.classes), option=False)
    try:
        return repriced_model(model, costs, answers=False)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def in_file(path: Path, function: Callable[..., Costs], *given: Any) -> Costs:
    """Call a function; its errors name the file."""
    try:
        return function(*given)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def check_costs(
    costs: Costs,
    path: Path | None,
    names: Sequence[str],
    target: str | None,
    classes: Sequence[Any],
    option: bool = True,
) -> None:
    """Raise an error that names the file if costs do not match the columns or the classes.

    `option`: whether the command has --ignore-extra-prices.
    """
    try:
        if target is not None and target in costs.tests:
            raise ValueError(f"has a price for {show(target)}, which is the target column")
        columns = set(names)
        try:
            costs.prices_for(names)
        except ValueError as error:
            extra = option and any(name not in columns for name in costs.tests) and "another table" not in str(error)
            raise ValueError(f"{error}{'; --ignore-extra-prices leaves them out' * extra}") from None
        if classes:
            costs.check_classes(list(classes))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def describe_data(problem: TrainingData, say: Printer) -> None:
    """Print what was read: a table of columns, and warnings about those that are not used."""
    table = problem.table
    for note in table.source.notes():
        say(note)
    say(f"{table.path}: {table.n_cases} cases, {len(table.columns)} columns.", wrap=False)
    if (left_out := table.n_left_out) > 0:
        say(f"Left out: {left_out} case{'s' * (left_out > 1)} without a class.")
    if problem.ignored:
        say(f"Prices that are ignored because the table has no such column: {listing(problem.ignored)}.")
    rows, more = column_rows(problem)
    empty = {j for j, cells in enumerate(zip(*rows, strict=True)) if set(cells) <= {"", "free"}}
    kept = [j for j in range(len(HEADINGS)) if j not in empty]
    say.listing([HEADINGS[j] for j in kept], [[row[j] for j in kept] for row in rows], flexible=FLEXIBLE)
    for line in (*([more] if more else []), *column_hints(rows)):
        say(line)
    for line in (*look_alikes(problem), *measured_target(problem)):
        say.warn(line)
    if problem.unused:
        say.warn(f"{unused_columns(problem.unused)} not used; use --nominal if a column is a test, otherwise --drop")
    for name in problem.unused:
        column = table.columns[name]
        if isinstance(column, Factor) and all(map(_NUMBER_WITH_SIGN.fullmatch, column.categories)):
            example = show(column.categories[0])
            say.warn(f"column {show(name)} contains numbers with a sign, e.g. {example}; remove the sign to use them")


def unused_columns(names: Sequence[str]) -> str:
    """Return the beginning of a sentence about columns that identify cases."""
    if len(names) == 1:
        return f"column {listing(names)} has almost as many values as cases and is"
    return f"columns {listing(names)} have almost as many values as cases and are"


def trees_of(model: Any) -> list[Tree]:
    """Return the trees of a model: one, or those of a forest, which may have none."""
    if isinstance(model, Tree):
        return [model]
    if hasattr(model, "stages_"):
        return []  # a cascade asks for sets of tests
    return model.trees_ if hasattr(model, "trees_") else [model.tree_]


def tests_of(model: Any) -> list[str]:
    """Return the tests that a model may ask for."""
    used = {name for tree in trees_of(model) for name in tree.tests_used()}
    used |= {name for tests in getattr(model, "stages_", ()) for name in tests}
    return [name for name in context_of(model).columns if name in used]


def read_cases(model: Any, source: TableFile, also: Collection[str] = ()) -> DataTable:
    """Read the columns of a model; columns that it never asks for may be missing."""
    context, names = context_of(model), dict.fromkeys(source.names)
    missing_columns = [name for name in tests_of(model) if name not in names]
    if missing_columns:
        raise ValueError(
            f"{source.path}: has no column {listing(missing_columns)}, which the model needs;"
            f" its columns are {listing(names)}"
        )
    kinds = dict(zip(context.columns, context.schema.values, strict=True))
    known = [name for name in context.columns if name in names]
    return source.read(
        only={*known, *also},
        numeric=[name for name in known if kinds[name] is None],
        nominal={name for name in known if kinds[name] is not None} | set(also),
    )


def unknown_values(model: Any, table: DataTable) -> list[str]:
    """Return warnings about values that a model does not know; these count as unavailable tests."""
    context, lines = context_of(model), []
    kinds = dict(zip(context.columns, context.schema.values, strict=True))
    for name in tests_of(model):
        column, known = table.columns.get(name), kinds[name]
        if known is None or not isinstance(column, Factor):
            continue
        familiar = set(known)
        strange = [code for code, text in enumerate(column.categories) if text not in familiar]
        n = int(np.isin(column.codes, strange).sum())
        if n:
            example = show(column.categories[strange[0]])
            near = nearest(column.categories[strange[0]], known)
            example += f" ({near.removeprefix('; ')})" if near else ""
            words = f"the model knows {listing(known)}; these count as unavailable"
            lines.append(f"Column {show(name)}: {n} of {table.n_cases} values are unknown, e.g. {example}; {words}.")
    return lines


def empty_cells(model: Any, table: DataTable) -> list[str]:
    """Return a line with the number of empty cells that count as unavailable tests; none if there are none."""
    found = {}
    for name in tests_of(model):
        column = table.columns[name]
        n = int((column.codes < 0).sum() if isinstance(column, Factor) else np.isnan(column).sum())
        if n:
            found[name] = n
    total = sum(found.values())
    if not total:
        return []
    each = ", ".join(f"{name} {n}" for name, n in found.items())
    return [f"{total} empty cell{'s' * (total > 1)} counted as unavailable: {each}."]


def true_classes(
    model: Any, source: TableFile, target: str | None, drop_missing_target: bool = False
) -> tuple[DataTable, str, Any]:
    """Read cases with their classes; without a target, find the column of the model's classes.

    Returns the table, the name of the target column, and the classes.
    """
    context, names, data = context_of(model), source.names, source.path
    columns = set(context.columns)
    known = {value_text(label): label for label in context.classes}
    others = [name for name in names if name not in columns]
    if target is not None:
        check_target(data, names, target)
        others = [target]
    table = read_cases(model, source, also=others)
    if target is None:
        fitting = [name for name in others if table.class_names(name) <= known.keys()]
        if len(fitting) != 1:
            found = f"columns {listing(fitting)} all have" if fitting else "no column has only"
            raise ValueError(f"{data}: {found} the classes {listing(context.classes)}; name the target with --target")
        target = fitting[0]
    if drop_missing_target:
        table = table.with_classes(target)
    labels = table.classes(target, check=False)
    distinct, place = np.unique(labels, return_inverse=True)
    texts = [value_text(label) for label in distinct.tolist()]
    for code, text in enumerate(texts):
        if text not in known:
            row = int(np.flatnonzero(place == code)[0])
            knows = f"which the model does not know; its classes are {listing(context.classes)}{nearest(text, known)}"
            raise ValueError(f"{table.location(row)}: column {show(target)} has the class {show(text)}, {knows}")
    return table, target, label_array([known[text] for text in texts])[place]

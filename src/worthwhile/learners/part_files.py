"""Cases in many Parquet files: what is in all of them together, and the cases of one file at a time.

A first pass (`survey`) reads the classes, the weights and the nominal columns, row group by row group, and checks that
the files fit together. After it, `PartReader` reads the cases of one file, column by column.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import CostsError, show
from worthwhile.parallel.workers import SharedData, run_pieces, split_range
from worthwhile.table.columns import Column, Columns, Factor, arrow_column, nominal_positions, value_text
from worthwhile.table.identifiers import MIN_CASES, unused_warning
from worthwhile.table.parquet_reader import as_numbers, finite
from worthwhile.table.schema import Schema, sorted_values
from worthwhile.table.targets import read_classes

__all__ = [
    "Batch",
    "PartReader",
    "Survey",
    "batches_of",
    "classes_in",
    "column_names",
    "files_of",
    "joined",
    "n_rows",
    "naming",
    "read_batches",
    "refuse_case_costs",
    "survey",
    "taken_rows",
]

Floats = npt.NDArray[np.float64]
BATCH = 131_072  # rows in memory at a time, when all rows are read
CHANGED = "the file has changed since the first pass; leave the files alone until fit_parts has ended"
NUMERIC, DATES, NOMINAL, EMPTY = "numbers", "dates", "categories", "nothing"  # kinds of columns


def refuse_case_costs(case_prices: Any, case_errors: Any) -> None:
    """Refuse costs by case: an array for all cases would not fit in memory either."""
    for name, given in (("case_prices", case_prices), ("case_errors", case_errors)):
        if given is not None:
            raise ValueError(f"fit_parts does not support {name}: costs must not depend on the case; use fit")


def files_of(parts: Any) -> tuple[str, ...]:
    """Return the files ``*.parquet`` of a folder, sorted by name, or the files of a list."""
    if isinstance(parts, (str, os.PathLike)):
        folder = Path(parts)
        if not folder.is_dir():
            raise ValueError(f"{folder}: not a folder; parts must be a folder of Parquet files or a list of files")
        found = sorted(path for path in folder.glob("*.parquet") if path.is_file())
        if not found:
            raise ValueError(f"{folder}: no file *.parquet in this folder")
    else:
        found = [Path(path) for path in parts]
        if not found:
            raise ValueError("parts is empty; it must be a folder of Parquet files or a list of files")
    for path in found:
        if not path.is_file():
            raise ValueError(f"{path}: no such file")
    return tuple(str(path.resolve()) for path in found)


class Stamp(NamedTuple):
    """What tells whether a file has changed."""

    size: int
    modified: int  # nanoseconds
    n_rows: int


class ReadPlan(NamedTuple):
    """The files and the roles of their columns."""

    files: tuple[str, ...]
    target: str
    weight: str | None
    names: tuple[str, ...]  # the tests
    forced: frozenset[str]  # tests that the user declared nominal


class PartSurvey(NamedTuple):
    """What is in one file."""

    stamp: Stamp
    kinds: dict[str, str]  # by test
    values: dict[str, set[str]]  # values of the nominal tests, and of empty columns
    labels: npt.NDArray[Any]
    n_cases: Floats  # of each class, without those of weight 0
    weights: Floats  # of the cases of each class


@dataclass(frozen=True, eq=False)
class Survey:
    """What is in all files together."""

    plan: ReadPlan
    stamps: tuple[Stamp, ...]
    schema: Schema
    labels: npt.NDArray[Any]
    n_cases: Floats  # (files, classes), without those of weight 0
    weights: Floats  # of the cases of each class

    def check_classes(self, costs: Costs | None) -> None:
        """Refuse a class that the error costs do not have, by the name of the first file that has it."""
        for label, has in zip(self.labels.tolist(), self.n_cases.T > 0, strict=True):
            try:
                _ = costs and costs.error_matrix([label])
            except CostsError as error:
                path = self.plan.files[int(has.argmax())]
                raise CostsError(f"{path}: column {self.plan.target!r}: {error}", error.entry) from None


def survey(
    files: tuple[str, ...],
    target: str,
    weight: str | None,
    columns: Sequence[str] | None,
    nominal: Sequence[str | int] | None,
    n_threads: int,
) -> Survey:
    """Survey all files, on all workers."""
    own = _names(files[0])
    for role, name in (("target", target), ("weight", weight)):
        if name is not None and name not in own:
            raise ValueError(f"{files[0]}: no column {name!r} ({role}); the columns are {', '.join(own)}")
    names = tuple(name for name in own if name not in (target, weight))
    if columns is not None and tuple(columns) != names:
        raise ValueError(f"columns={list(columns)} does not match {files[0]}, which has the columns {', '.join(names)}")
    if not names:
        raise ValueError(f"{files[0]}: no column to learn from besides {target!r}")
    forced = frozenset(names[j] for j in nominal_positions(names, nominal))
    plan = ReadPlan(files, target, weight, names, forced)

    def pieces(n: int) -> list[range]:
        return [range(len(files))[some] for some in split_range(len(files), n)]

    found = run_pieces(_survey_some, SharedData(plan, ReadPlan, plan), pieces, n_threads)
    return _agreed(plan, [one for piece in found for one in piece])


def _survey_some(plan: ReadPlan, parts: Sequence[int], n_threads: int) -> list[PartSurvey]:
    return [_survey_one(plan, plan.files[part]) for part in parts]


def _survey_one(plan: ReadPlan, path: str) -> PartSurvey:
    stamp, kinds = _stamp(path), _kinds(plan, path)
    values: dict[str, set[str]] = {
        name: set() for name, kind in kinds.items() if kind not in (NUMERIC, DATES) or name in plan.forced
    }
    counted: dict[Any, Floats] = {}  # number and weight of the cases of a class
    row = 0
    for group in _groups(path, [plan.target, *([plan.weight] if plan.weight else []), *values]):
        labels, codes = _labels(group[plan.target], path, row, plan.target)
        weights = np.ones(len(codes)) if plan.weight is None else _weights(group[plan.weight], path, row, plan.weight)
        sums = (np.bincount(codes, each, minlength=len(labels)) for each in (weights > 0, weights))
        for label, both in zip(labels.tolist(), np.stack([*sums], axis=1), strict=True):
            if both.any():
                counted[label] = counted.get(label, 0.0) + both
        row += len(codes)
        for name, known in values.items():
            column = _column(group[name], path, name)
            known.update(column.categories if isinstance(column, Factor) else _distinct(column))
    n_cases, weights = np.array([*counted.values()]).reshape(-1, 2).T
    _check_unchanged(path, stamp)
    return PartSurvey(stamp, kinds, values, np.array(list(counted)), n_cases, weights)


def _distinct(numbers: Floats) -> list[str]:
    return [value_text(value) for value in np.unique(numbers[~np.isnan(numbers)])]


def _schema_of(plan: ReadPlan, found: Sequence[PartSurvey]) -> Schema:
    """Return the columns of all files together; warn of those that identify cases."""
    values: list[tuple[str, ...] | None] = []
    dates, identifiers = set(), []
    n_rows = sum(part.stamp.n_rows for part in found)
    for name in plan.names:
        kinds = {part.kinds[name]: path for part, path in zip(found, plan.files, strict=True)}
        kinds.pop(EMPTY, None)
        if len(kinds) > 1 and not (name in plan.forced and DATES not in kinds):
            (one, path), (other, second), *_ = kinds.items()
            raise ValueError(f"column {name!r} has {one} in {path}, but {other} in {second}")
        if name not in plan.forced and kinds.keys() & {NUMERIC, DATES}:
            dates |= {name} if DATES in kinds else set()
            values.append(None)
            continue
        known = sorted_values(set().union(*(part.values.get(name, ()) for part in found)))
        if name not in plan.forced and n_rows >= MIN_CASES and 2 * len(known) > n_rows:
            identifiers.append(name)
            known = ()
        values.append(known)
    if identifiers:
        warnings.warn(unused_warning(identifiers), UserWarning, stacklevel=5)
    return Schema(plan.names, tuple(values), frozenset(dates))


def _agreed(plan: ReadPlan, found: Sequence[PartSurvey]) -> Survey:
    """Combine the surveys of the files; refuse files that do not fit together."""
    schema = _schema_of(plan, found)
    some = [(one, path) for one, path in zip(found, plan.files, strict=True) if len(one.labels)]
    if not some:
        raise ValueError(f"there are no cases in the files ({plan.files[0]} and others)")
    has_strings = {one.labels.dtype.kind == "U": path for one, path in some}
    if len(has_strings) > 1:
        strings, numbers = has_strings[True], has_strings[False]
        raise ValueError(f"the classes in {plan.target!r} are strings in {strings}, but numbers in {numbers}")
    every = np.unique(np.concatenate([one.labels for one, _ in some]))
    # Twice, since as many classes as cases would look like a regression target.
    labels, _ = read_classes(np.repeat(every, 2), 2 * len(every), "fit_parts")
    n_cases, weights = np.zeros((2, len(found), len(labels)))
    for part, one in enumerate(found):
        if len(one.labels):
            own = np.searchsorted(labels, one.labels)
            n_cases[part, own], weights[part, own] = one.n_cases, one.weights
    stamps = tuple(one.stamp for one in found)
    return Survey(plan, stamps, schema, labels, n_cases, weights.sum(axis=0))


@dataclass(frozen=True, eq=False)
class PartReader:
    """Reads the cases of one file at a time."""

    plan: ReadPlan
    stamps: tuple[Stamp, ...]  # of the files when they were surveyed
    schema: Schema
    labels: npt.NDArray[Any]
    factors: Floats | None  # weights of the classes by their error costs

    def cases(self, part: int) -> PartCases:
        """Return the classes and weights of the cases of a file, without those of weight 0."""
        plan, path = self.plan, self.plan.files[part]
        _check_unchanged(path, self.stamps[part])
        wanted = [plan.target, *([plan.weight] if plan.weight else [])]
        classes, given = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
        for group in _groups(path, wanted):
            labels, codes = _labels(group[plan.target], path, 0, plan.target)
            position = {label: code for code, label in enumerate(self.labels.tolist())}
            own = np.array([position.get(label, -1) for label in labels.tolist()], dtype=np.int32)[codes]
            weighed = np.ones(len(own))
            if plan.weight is not None:
                weighed = _weights(group[plan.weight], path, 0, plan.weight)
                given.append(weighed)
            if (unknown := np.flatnonzero((own < 0) & (weighed > 0))).size:  # the survey skips cases of weight 0
                raise ValueError(f"{path}: has the class {show(labels[codes[unknown[0]]])} now; {CHANGED}")
            classes.append(np.maximum(own, 0))
        found = np.concatenate(classes)
        sample = None if plan.weight is None else np.concatenate(given)
        weights = sample
        if self.factors is not None:
            weights = self.factors[found] if sample is None else sample * self.factors[found]
        rows = np.arange(len(found)) if weights is None else np.flatnonzero(weights)
        return PartCases(rows, found[rows], *(None if some is None else some[rows] for some in (weights, sample)))

    def columns(self, part: int, rows: npt.NDArray[np.intp]) -> Columns:
        """Return some cases of a file; only these and one whole column are in memory."""
        path = self.plan.files[part]
        with _opened(path) as file, naming(path):
            arrays = [self._column(file, path, name)[rows] for name in self.schema.names]
        _check_unchanged(path, self.stamps[part])
        return Columns(self.schema.names, len(rows), arrays)

    def _column(self, file: Any, path: str, name: str) -> Column:
        return finite(_column(file.read(columns=[name], use_threads=False)[name], path, name), path, name)


class Batch(NamedTuple):
    """Some rows of a file that follow one another."""

    table: Any  # of pyarrow
    path: str
    start: int  # the first row, in the file

    def arrow(self, rows: npt.NDArray[np.intp]) -> Any:
        """Return some rows as a table of pyarrow."""
        return self.table if len(rows) == len(self.table) else self.table.take(rows)

    def check_finite(self) -> None:
        """Refuse infinity, in rows that will not be used, too: whether it is found should not depend on the sample."""
        from pyarrow import types

        for name in self.table.column_names:
            if types.is_floating(self.table[name].type):
                rows = self.start + np.arange(len(self.table))
                finite(_column(self.table[name], self.path, name), self.path, name, rows)

    def columns(self, rows: npt.NDArray[np.intp], schema: Schema) -> Columns:
        """Return some rows with the columns of a schema; those that were not read are missing."""
        table, arrays = self.arrow(rows), list[Column]()
        for name, values in zip(schema.names, schema.values, strict=True):
            if name in table.column_names:
                column, place = _column(table[name], self.path, name), (self.path, name, self.start + rows)
                if values is None and isinstance(column, Factor):
                    column = as_numbers(column, *place)
                arrays.append(finite(column, *place))
            else:
                blank = np.full(len(rows), np.nan)
                arrays.append(blank if values is None else Factor([], np.full(len(rows), -1, dtype=np.int32)))
        return Columns(schema.names, len(rows), arrays)


def batches_of(reader: PartReader, part: int, wanted: Collection[str] | None) -> Iterator[tuple[int, int, Batch]]:
    """Yield all rows of a file, some at a time: the first row, their number, and the wanted columns (None: all)."""
    path, names, start = reader.plan.files[part], reader.plan.names, 0
    own = [name for name in names if wanted is None or name in wanted]
    for table in _rows_of(path, own):
        yield start, len(table), Batch(table, path, start)
        start += len(table)
    _check_unchanged(path, reader.stamps[part])


def _rows_of(path: str, names: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa

    with _opened(path) as file:
        if not names:  # the number of rows is all that is needed
            for start in range(0, file.metadata.num_rows, BATCH):
                length = min(BATCH, file.metadata.num_rows - start)
                yield pa.table({"": pa.nulls(length)})
            return
        batches = file.iter_batches(batch_size=BATCH, columns=list(names), use_threads=False)
        while True:
            with naming(path):
                batch = next(batches, None)
            if batch is None:
                return
            yield pa.Table.from_batches([batch])


def read_batches(path: str, names: Sequence[str] | None = None) -> Iterator[Batch]:
    """Yield all rows of a file that need not belong to a survey, some at a time (None: all columns)."""
    start = 0
    for table in _rows_of(path, _names(path) if names is None else names):
        yield Batch(table, path, start)
        start += len(table)


def column_names(path: str) -> list[str]:
    """Return the names of the columns of a file."""
    return _names(path)


def n_rows(path: str) -> int:
    """Return the number of rows of a file."""
    with _opened(path) as file:
        return int(file.metadata.num_rows)


def classes_in(batch: Batch, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Return the distinct classes in a column, and the code of every case."""
    return _labels(batch.table[name], batch.path, batch.start, name)


def taken_rows(reader: PartReader, part: int, rows: npt.NDArray[np.intp]) -> list[Any]:
    """Return some rows of a file, in order, as tables of pyarrow; one batch of rows is in memory besides."""
    found, first = [], 0
    for start, length, batch in batches_of(reader, part, None):
        batch.check_finite()
        last = first + int(np.searchsorted(rows[first:], start + length))
        if last > first:
            found.append(batch.table.take(rows[first:last] - start))
        first = last
    return found


def joined(plan: ReadPlan, tables: Sequence[Sequence[Any]]) -> Any:
    """Return rows of all files, given by file, as one table of pyarrow.

    A column that has other types in other files, such as strings and categories, is read as `fit` reads it there.
    """
    import pyarrow as pa

    every = [(table, path) for own, path in zip(tables, plan.files, strict=True) for table in own]
    for name in plan.names:
        found = {table[name].type: _kind(table[name].type, path, name) for table, path in every}
        kinds = [kind for kind in found.values() if kind != EMPTY]
        if len(kinds) > 1:
            kind = NOMINAL if name in plan.forced else kinds[0]  # the survey refuses others
            every = [(_read_alike(table, name, kind, path), path) for table, path in every]
    return pa.concat_tables([table for table, _ in every], promote_options="permissive").combine_chunks()


def _read_alike(table: Any, name: str, kind: str, path: str) -> Any:
    """Return a table with strings, times or numbers in a column, whatever its type is."""
    import pyarrow as pa

    values, at = table[name], table.schema.get_field_index(name)
    if pa.types.is_null(values.type):
        return table
    with naming(path):
        if kind == NOMINAL:
            values = pa.array(Factor.of(*_encoded(values)).tolist(), pa.string())
        else:
            values = values.cast("timestamp[us]", safe=False) if kind == DATES else pa.array(_numbers(values))
    return table.set_column(at, name, values)


class PartCases(NamedTuple):
    """The cases of a file, without their values."""

    rows: npt.NDArray[np.intp]  # in the file
    classes: npt.NDArray[np.int32]
    weights: Floats | None  # in growing
    sample_weights: Floats | None  # as given


# ---- one file


def _opened(path: str) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError(
            "parts are read by pyarrow, which is not installed: pip install 'worthwhile[parquet]'"
        ) from None
    try:
        return parquet.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: is not a readable Parquet file: {str(error).splitlines()[0]}") from None


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Name the file in errors of pyarrow, which raises many kinds of them for a broken page or invalid text."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if str(error).startswith(path):
            raise
        detail = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path}: cannot be read: {detail}") from None


def _groups(path: str, columns: Sequence[str]) -> Iterator[Any]:
    """Yield the row groups."""
    with _opened(path) as file:
        for group in range(file.num_row_groups):
            with naming(path):
                table = file.read_row_group(group, columns=list(columns), use_threads=False)
            yield table


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    return Stamp(found.st_size, found.st_mtime_ns, n_rows(path))


def _check_unchanged(path: str, stamp: Stamp) -> None:
    now = _stamp(path)
    if now != stamp:
        rows = f" (it had {stamp.n_rows} rows and has {now.n_rows} now)" if now.n_rows != stamp.n_rows else ""
        raise ValueError(f"{path}: {CHANGED}{rows}")


def _names(path: str) -> list[str]:
    with _opened(path) as file:
        return list(file.schema_arrow.names)


def _kinds(plan: ReadPlan, path: str) -> dict[str, str]:
    with _opened(path) as file:
        schema = file.schema_arrow
    wanted = {*plan.names, plan.target, *([plan.weight] if plan.weight else [])}
    for name in wanted.symmetric_difference(schema.names):
        has = "no column" if name in wanted else "unexpected column"
        raise ValueError(f"{path}: {has} {name!r}; all files must have the columns of {plan.files[0]}")
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"{path}: two columns have the same name")
    return {name: _kind(schema.field(name).type, path, name) for name in plan.names}


def _kind(dtype: Any, path: str, name: str) -> str:
    from pyarrow import types

    if types.is_dictionary(dtype):
        return NOMINAL
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype):
        return NUMERIC
    if types.is_date(dtype) or types.is_timestamp(dtype):
        return DATES
    if types.is_duration(dtype):
        return NUMERIC
    if types.is_string(dtype) or types.is_large_string(dtype) or types.is_boolean(dtype):
        return NOMINAL
    if types.is_null(dtype):
        return EMPTY
    raise ValueError(f"{path}: column {name!r} has the type {dtype}, which is neither a number nor a category")


def _column(values: Any, path: str, name: str) -> Column:
    """Return a column of a file, missing values as NaN or -1."""
    if _kind(values.type, path, name) in (NUMERIC, DATES):
        with naming(path):
            return _numbers(values)
    with naming(path):
        return Factor.of(*_encoded(values))


def _numbers(values: Any) -> Floats:
    """Return numbers as floats; a safe cast would refuse whole numbers above 2^53, such as identifiers."""
    from pyarrow import types

    if types.is_temporal(values.type):
        return np.asarray(arrow_column(values), dtype=np.float64)  # in days
    return np.asarray(values.cast("float64", safe=False).to_numpy(), dtype=np.float64)


def _encoded(values: Any) -> tuple[list[Any], npt.NDArray[np.int32]]:
    """Return the distinct values, and the code of every case; -1: missing."""
    from pyarrow import types

    if types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    encoded = values.combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)


def _labels(values: Any, path: str, row: int, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Return the distinct classes, and the code of every case."""
    if not len(values):  # a file without rows may have no types either
        return np.array([], dtype=object), np.array([], dtype=np.int32)
    if (kind := _kind(values.type, path, name)) in (EMPTY, DATES):
        raise ValueError(f"{path}: column {name!r} (target) has no classes" + (", but dates" if kind == DATES else ""))
    with naming(path):
        labels, codes = _encoded(values)
    missing = np.flatnonzero(codes < 0)
    if kind == NUMERIC and not all(np.isfinite(labels := [_plain(label) for label in labels])):
        missing = np.flatnonzero(~np.isfinite(np.array([*labels, np.nan]))[codes])
    if len(missing):
        raise ValueError(f"{path}, row {row + missing[0] + 1}: has no class in {name!r}; every case needs one")
    return np.array(labels), codes


def _plain(label: Any) -> Any:
    """Return a numeric class; decimals become floats."""
    return label if isinstance(label, int) else float("nan" if label is None else label)


def _weights(values: Any, path: str, row: int, name: str) -> Floats:
    if _kind(values.type, path, name) != NUMERIC:
        raise ValueError(f"{path}: column {name!r} (weight) is not numeric")
    weights = _numbers(values)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(
            f"{path}, row {row + bad[0] + 1}: the weight is {weights[bad[0]]}; it must be finite and not negative"
        )
    return weights

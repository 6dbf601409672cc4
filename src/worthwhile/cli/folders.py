"""Folders of Parquet files as tables of cases: read some rows at a time, whatever their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.cli.common import check_apart, check_folder, check_writable
from worthwhile.cli.reading import tests_of
from worthwhile.costs.error_costs import listing, nearest, show
from worthwhile.evaluation.metrics import context_of
from worthwhile.files import new_file, new_files
from worthwhile.learners.part_files import (
    Batch,
    classes_in,
    column_names,
    files_of,
    n_rows,
    naming,
    read_batches,
)
from worthwhile.table.columns import Columns, value_text
from worthwhile.table.files import check_added

__all__ = ["check_output", "check_plain", "files_with_cases", "labelled_batches", "predict_folder"]

Answers = Callable[[Any, Columns], Mapping[str, Sequence[Any]]]


def check_plain(given: Mapping[str, Any]) -> None:
    """Refuse options that a folder of Parquet files does not know."""
    for name, value in given.items():
        if value:
            raise ValueError(f"{name}: not for a folder of Parquet files; leave it out")


def files_with_cases(data: Path) -> list[Path]:
    """Return the files of a folder that have rows."""
    found = [Path(path) for path in files_of(data) if n_rows(path)]
    if not found:
        raise ValueError(f"{data}: there are no cases in this folder; no file in it has rows")
    return found


def check_output(data: Path, out: Path, files: Sequence[Path]) -> None:
    """Refuse an output folder that is the folder of the cases, or files in it that cannot be written."""
    if out.resolve() == data.resolve():
        raise ValueError(f"--out {out}: is the folder of the cases; choose another one")
    check_folder(out, *(path.name for path in files))


def predict_folder(clf: Any, data: Path, out: Path, answers: Answers) -> tuple[int, float]:
    """Write all cases with their answers, to one Parquet file or to files of the same names in a folder.

    Returns the number of cases and what they paid. After an error, nothing is written.
    """
    import pyarrow as pa
    from pyarrow import parquet

    files = files_with_cases(data)
    for path in files:
        _check_tests(clf, path)
    one_file = out.suffix.lower() == ".parquet" and not out.is_dir()
    if one_file:
        check_apart({"--out": out}, files)
        check_writable(out)
    else:
        check_output(data, out, files)
    n, paid, writer = 0, 0.0, None
    with new_file(out) if one_file else new_files(out) as place, ExitStack() as whole:
        for path in files:
            with ExitStack() as own:
                for batch in read_batches(str(path)):
                    columns = answers(clf, _cases(clf, batch))
                    check_added(path, batch.table.column_names, columns)
                    table = batch.table
                    for name, values in columns.items():
                        table = table.append_column(name, pa.array(values, type=_type_of(pa, name)))
                    if writer is None:
                        target, life = (place, whole) if one_file else (place / path.name, own)
                        writer = life.enter_context(parquet.ParquetWriter(target, table.schema))
                    writer.write_table(_as_before(table, writer.schema, path))
                    n, paid = n + len(table), paid + float(sum(columns["price_paid"]))
            if not one_file:
                writer = None
    return n, paid


def _as_before(table: Any, schema: Any, path: Path) -> Any:
    """Return rows with the columns and types of those written to the same file before."""
    if table.schema == schema:
        return table
    if set(table.column_names) != set(schema.names):
        raise ValueError(f"{path}: has other columns than the files before it; write to a folder, not to one file")
    with naming(str(path)):
        return table.select(schema.names).cast(schema)


def _type_of(pa: Any, name: str) -> Any:
    """Return the type of an added column where a batch may lack values that tell it."""
    return {"price_paid": pa.float64(), "probability": pa.float64(), "tests_used": pa.string()}.get(name)


def labelled_batches(clf: Any, data: Path, target: str | None) -> Iterator[tuple[Columns, npt.NDArray[np.intp]]]:
    """Yield cases, and the positions of their classes in those of the model."""
    context, files = context_of(clf), files_with_cases(data)
    target = _target(clf, files[0]) if target is None else target
    known = {value_text(label): at for at, label in enumerate(context.classes)}
    for path in files:
        _check_tests(clf, path)
        own = column_names(str(path))
        if target not in own:
            raise ValueError(f"{path}: no column {show(target)} (target); the columns are {listing(own)}")
        wanted = [name for name in own if name == target or name in set(tests_of(clf))]
        for batch in read_batches(str(path), wanted):
            labels, codes = classes_in(batch, target)
            place = np.array([known.get(value_text(label), -1) for label in labels.tolist()], dtype=np.intp)
            if (place < 0).any():
                strange = value_text(labels[int(np.flatnonzero(place < 0)[0])])
                classes = f"its classes are {listing(context.classes)}{nearest(strange, known)}"
                knows = f"which the model does not know; {classes}"
                raise ValueError(f"{path}: column {show(target)} has the class {show(strange)}, {knows}")
            yield _cases(clf, batch), place[codes]


def _target(clf: Any, path: Path) -> str:
    """Return the one column that the model does not know."""
    others = [name for name in column_names(str(path)) if name not in set(context_of(clf).columns)]
    if len(others) != 1:
        raise ValueError(f"{path}: name the target with --target; the model does not know {listing(others) or 'any'}")
    return others[0]


def _cases(clf: Any, batch: Batch) -> Columns:
    return batch.columns(np.arange(len(batch.table)), context_of(clf).schema)


def _check_tests(clf: Any, path: Path) -> None:
    own = set(column_names(str(path)))
    missing = [name for name in tests_of(clf) if name not in own]
    if missing:
        needs = f"which the model needs; its columns are {listing(sorted(own))}"
        raise ValueError(f"{path}: has no column {listing(missing)}, {needs}")

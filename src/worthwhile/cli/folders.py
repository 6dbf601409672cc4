"""Folders of Parquet files as tables of cases: read some rows at a time, whatever their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.cli.reading import tests_of
from worthwhile.costs.error_costs import listing, show
from worthwhile.evaluation.metrics import context_of
from worthwhile.learners.part_files import Batch, classes_in, column_names, files_of, read_batches
from worthwhile.table.columns import Columns, value_text

__all__ = ["check_plain", "labelled_batches", "predict_folder"]

Answers = Callable[[Any, Columns], Mapping[str, Sequence[Any]]]


def check_plain(given: Mapping[str, Any]) -> None:
    """Refuse options that a folder of Parquet files does not know."""
    for name, value in given.items():
        if value:
            raise ValueError(f"{name}: not for a folder of Parquet files; leave it out")


def predict_folder(clf: Any, data: Path, out: Path, answers: Answers) -> tuple[int, float]:
    """Write all cases with their answers, to one Parquet file or to files of the same names in a folder.

    Returns the number of cases and what they paid.
    """
    import pyarrow as pa
    from pyarrow import parquet

    files = files_of(data)
    for path in files:
        _check_tests(clf, path)
    one_file = out.suffix.lower() == ".parquet" and not out.is_dir()
    if not one_file:
        if out.resolve() == data.resolve():
            raise ValueError(f"--out {out}: is the folder of the cases; choose another one")
        out.mkdir(parents=True, exist_ok=True)
    n, paid = 0, 0.0
    with ExitStack() as stack:
        writer = None
        for path in files:
            own = None if one_file else stack.enter_context(ExitStack())
            for batch in read_batches(path):
                columns = answers(clf, _cases(clf, batch))
                table = batch.table
                for name, values in columns.items():
                    table = table.append_column(name, pa.array(values, type=_type_of(pa, name)))
                if writer is None:
                    target = out if one_file else out / Path(path).name
                    writer = (own or stack).enter_context(parquet.ParquetWriter(target, table.schema))
                writer.write_table(table if table.schema == writer.schema else table.cast(writer.schema))
                n, paid = n + len(table), paid + float(sum(columns["price_paid"]))
            if own is not None:
                own.close()
                writer = None
    return n, paid


def _type_of(pa: Any, name: str) -> Any:
    """Return the type of an added column where a batch may lack values that tell it."""
    return {"price_paid": pa.float64(), "probability": pa.float64(), "tests_used": pa.string()}.get(name)


def labelled_batches(clf: Any, data: Path, target: str | None) -> Iterator[tuple[Columns, npt.NDArray[np.intp]]]:
    """Yield cases, and the positions of their classes in those of the model."""
    context, files = context_of(clf), files_of(data)
    target = _target(clf, files[0]) if target is None else target
    known = {value_text(label): at for at, label in enumerate(context.classes)}
    for path in files:
        _check_tests(clf, path)
        own = column_names(path)
        if target not in own:
            raise ValueError(f"{path}: no column {show(target)} (target); the columns are {listing(own)}")
        row, wanted = 0, [name for name in own if name == target or name in set(tests_of(clf))]
        for batch in read_batches(path, wanted):
            labels, codes = classes_in(batch, target, row)
            place = np.array([known.get(value_text(label), -1) for label in labels.tolist()], dtype=np.intp)
            if (place < 0).any():
                strange = value_text(labels[int(np.flatnonzero(place < 0)[0])])
                knows = f"which the model does not know; its classes are {listing(context.classes)}"
                raise ValueError(f"{path}: column {show(target)} has the class {show(strange)}, {knows}")
            yield _cases(clf, batch), place[codes]
            row += len(codes)


def _target(clf: Any, path: str) -> str:
    """Return the one column that the model does not know."""
    others = [name for name in column_names(path) if name not in set(context_of(clf).columns)]
    if len(others) != 1:
        raise ValueError(f"{path}: name the target with --target; the model does not know {listing(others) or 'any'}")
    return others[0]


def _cases(clf: Any, batch: Batch) -> Columns:
    return batch.columns(np.arange(len(batch.table)), context_of(clf).schema)


def _check_tests(clf: Any, path: str) -> None:
    own = set(column_names(path))
    missing = [name for name in tests_of(clf) if name not in own]
    if missing:
        needs = f"which the model needs; its columns are {listing(sorted(own))}"
        raise ValueError(f"{path}: has no column {listing(missing)}, {needs}")

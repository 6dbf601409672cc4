"""`worthwhile evaluate`: what a model costs, compared with three simple baselines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Printer, check_apart, check_writable, load_model, open_table
from worthwhile.cli.options import (
    CaseError,
    CasePrice,
    Data,
    Dates,
    Decimal,
    DropMissingTarget,
    Encoding,
    MaybeTarget,
    Missing,
    Model,
    Quiet,
    Seed,
    Sheet,
)

__all__ = ["evaluate"]


def evaluate(
    model: Model,
    data: Data,
    target: MaybeTarget = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Training cases for the baselines; otherwise they are cross-validated.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the results: CSV, JSON or Excel.", show_default=False)
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(help="Another price list: the model stays as it is, but pays these prices.", show_default=False),
    ] = None,
    case_price: CasePrice = None,
    case_error: CaseError = None,
    missing: Missing = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    dates: Dates = None,
    sheet: Sheet = None,
    drop_missing_target: DropMissingTarget = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Measure what a model costs per case, compared with no test, all tests with the best plain tree, and tuned C4.5.

    Use cases that the model was not trained on. Intervals are 95 % intervals, bootstrapped over the cases. The
    normalized cost (norm.) is in percent of the standard cost: all tests, and the most expensive error for every case
    that the most frequent class gets wrong (Turney 1995).

    With --costs, prices and error costs are those of another list; the model asks and answers as before. The baselines
    are learned with them.

    A folder of Parquet files is read some rows at a time, whatever its size, and compared with no test only.

    With --case-price and --case-error, tests and wrong answers cost each case what these columns say, in both files.

    Example: worthwhile evaluate model.json new-cases.csv --target class --train heart.csv

    Example: worthwhile evaluate model.json new-cases.csv --target class --costs prices-2027.toml

    Example: worthwhile evaluate model.json new-loans.csv --target paid --case-error good=amount
    """
    from worthwhile.cli.case_costs import CaseColumns
    from worthwhile.cli.files import results_writer
    from worthwhile.cli.folders import check_plain, labelled_batches
    from worthwhile.cli.reading import true_classes, unknown_values, with_costs
    from worthwhile.evaluation.evaluate import evaluate as measure
    from worthwhile.evaluation.metrics import context_of
    from worthwhile.evaluation.streamed import evaluate_batches

    check_apart({"--out": out}, [data, model, train, costs])
    check_writable(out)
    write = results_writer(out)
    if data.is_dir():
        read = {"--missing": missing, "--decimal": decimal, "--encoding": encoding, "--dates": dates, "--sheet": sheet}
        own_costs = {"--case-price": case_price, "--case-error": case_error, "--train": train}
        check_plain(read | own_costs | {"--drop-missing-target": drop_missing_target})
        clf = load_model(model)
        found = evaluate_batches(clf, labelled_batches(clf, data, target))
        _show(found, write, out, quiet)
        return
    clf, by_case = load_model(model), CaseColumns.parse(case_price, case_error)
    if costs is not None:
        clf = with_costs(clf, model, costs)
    context = context_of(clf)
    names, known = context.columns, (context.columns, context.costs)
    with open_table(data, quiet, missing, encoding=encoding, decimal=decimal, dates=dates, sheet=sheet) as source:
        by_case.check(source, target)
        table, target, y = true_classes(clf, source, target, drop_missing_target)
        own = by_case.read(source, table, *known, y, context.classes).arguments()
    X_train = y_train = None
    if train is not None:
        with open_table(train, quiet, missing, encoding=encoding, decimal=decimal, dates=dates, sheet=sheet) as source:
            by_case.check(source, target)
            other, _, y_train = true_classes(clf, source, target, drop_missing_target)
            own |= by_case.read(source, other, *known, y_train, context.classes).arguments("train_")
        X_train = other.cases(names)
    found = measure(clf, table.cases(names), y, X_train, y_train, random_state=seed, **own)
    notes = (*table.source.notes(), *unknown_values(clf, table))
    _show(found, write, out, quiet, notes)


def _show(found: Any, write: Any, out: Path | None, quiet: bool, notes: Sequence[str] = ()) -> None:
    write(found.rows())
    say = Printer(quiet)
    for line in notes:
        say(line)
    say(found.title)
    say.table(*found.layout())
    for line in (*found.savings(), found.note):
        say(line)
    if out is not None:
        say(f"Results: {out}", wrap=False)

"""`worthwhile predict`: answers, prices and class shares for the cases of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Printer, check_apart, load_model, open_table
from worthwhile.cli.options import CasePrice, Data, Dates, Decimal, Encoding, Missing, Model, Quiet, Sheet

__all__ = ["predict"]


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="File to write: CSV, gzipped CSV, Excel or Parquet; -: CSV to standard output. Of a folder: a folder,"
            " or one Parquet file.",
        ),
    ],
    case_price: CasePrice = None,
    missing: Missing = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    dates: Dates = None,
    sheet: Sheet = None,
    quiet: Quiet = False,
) -> None:
    """Add the answer, the price paid, the tests used and the class share to each case of a file.

    Columns that the model never asks for may be missing; an empty value is an unavailable test, and the command says
    how many there are. For cases that still have tests to come, use worthwhile next. The class share is the share of
    the answer's class among similar training cases; it is empty for a reject answer.

    With --case-price, a case pays for a test what that column says; with a cap, this also decides where it stops.

    A folder of Parquet files is read some rows at a time, whatever its size.

    Example: worthwhile predict model.json new-cases.csv -o answers.csv

    Example: worthwhile predict model.json new-loans.csv --case-price visit=distance -o answers.csv
    """
    from worthwhile.cli.case_costs import CaseColumns
    from worthwhile.cli.extended import check_extended, write_extended
    from worthwhile.cli.reading import empty_cells, read_cases, unknown_values
    from worthwhile.evaluation.metrics import context_of
    from worthwhile.wording import with_currency

    if data.is_dir():
        read = {"--missing": missing, "--decimal": decimal, "--encoding": encoding, "--dates": dates, "--sheet": sheet}
        _predict_folder(model, data, out, {"--case-price": case_price, **read}, quiet)
        return
    check_extended(out, [data, model])
    clf, by_case = load_model(model), CaseColumns.parse(case_price, None)
    context = context_of(clf)
    with open_table(data, quiet, missing, encoding=encoding, decimal=decimal, dates=dates, sheet=sheet) as source:
        by_case.check(source)
        table = read_cases(clf, source)
        own = by_case.read(source, table, context.columns, context.costs)
    columns = _answers(clf, table.cases(context.columns), own.prices)
    prices = columns["price_paid"]
    cost = with_currency(f"{sum(prices) / len(prices):.2f}", context.costs.currency)
    lines = [*unknown_values(clf, table), *empty_cells(clf, table)]
    write_extended(source, out, columns, lines, f"{len(prices)} answers for {cost} per case: {out}", Printer(quiet))


def _predict_folder(model: Path, data: Path, out: Path, given: Mapping[str, Any], quiet: bool) -> None:
    from worthwhile.cli.folders import check_plain, predict_folder
    from worthwhile.evaluation.metrics import context_of
    from worthwhile.wording import with_currency

    check_plain(given)
    if str(out) == "-":
        raise ValueError("--out -: a folder of Parquet files is written to a folder, or to one Parquet file")
    check_apart({"--out": out}, [model])
    clf = load_model(model)
    n, paid = predict_folder(clf, data, out, _answers)
    price = with_currency(f"{paid / n:.2f}", context_of(clf).costs.currency)
    Printer(quiet)(f"{n} answers for {price} per case: {out}", wrap=False)


def _answers(clf: Any, X: Any, case_prices: Any = None) -> Mapping[str, Sequence[Any]]:
    """Return the columns to add."""
    import numpy as np

    from worthwhile.evaluation.metrics import context_of
    from worthwhile.evaluation.spending import charged_tests

    context = context_of(clf)
    answers, prices, shares = clf._route(X, answers=True, prices=True, shares=True, case_prices=case_prices)
    k = len(context.classes)
    own = np.where(answers < k, shares[np.arange(len(answers)), np.minimum(answers, k - 1)], np.nan)
    # There are many cases but few distinct sets of tests: each set is formatted once.
    sets, place = np.unique(charged_tests(clf, X, case_prices), axis=0, return_inverse=True)
    used = np.array([";".join(np.array(context.columns)[chosen]) for chosen in sets], dtype=object)
    return {
        "answer": context.answer_labels[answers].tolist(),
        "price_paid": np.round(prices, 6).tolist(),
        "tests_used": used[place.ravel()].tolist(),
        "probability": [None if np.isnan(share) else round(float(share), 4) for share in own],
    }

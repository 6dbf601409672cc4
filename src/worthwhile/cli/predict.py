"""`worthwhile predict`: answers, prices and class shares for the cases of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Printer, check_apart, check_writable, load_model, open_table
from worthwhile.cli.options import CasePrice, Data, Dates, Decimal, Encoding, Missing, Model, Quiet, Sheet
from worthwhile.files import open_stream, write_text

__all__ = ["predict"]

STDOUT = 1


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write: CSV, gzipped CSV, Excel or Parquet; -: CSV to standard output."
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

    Columns that the model never asks for may be missing; an empty value is an unavailable test. The class share is the
    share of the answer's class among similar training cases; it is empty for a reject answer.

    With --case-price, a case pays for a test what that column says; with a cap, this also decides where it stops.

    Example: worthwhile predict model.json new-cases.csv -o answers.csv

    Example: worthwhile predict model.json new-loans.csv --case-price visit=distance -o answers.csv
    """
    from worthwhile.cli.case_costs import CaseColumns
    from worthwhile.cli.reading import read_cases, unknown_values
    from worthwhile.evaluation.metrics import context_of
    from worthwhile.table.files import extend_table
    from worthwhile.wording import with_currency

    stream = STDOUT if str(out) == "-" else open_stream(out)
    if stream is None:
        check_apart({"--out": out}, [data, model])
        check_writable(out)
    clf, by_case = load_model(model), CaseColumns.parse(case_price, None)
    context = context_of(clf)
    with open_table(data, quiet, missing, encoding=encoding, decimal=decimal, dates=dates, sheet=sheet) as source:
        by_case.check(source)
        table = read_cases(clf, source)
        own = by_case.read(source, table, context.columns, context.costs)
    columns = _answers(clf, table, own.prices)
    text = extend_table(source, None if stream is not None else out, columns)
    unit = context.costs.currency
    say, strange = Printer(quiet), unknown_values(clf, table)
    if text is not None:
        for line in strange:
            say.warn(line)  # to standard error: standard output may be the table
    if text is not None and stream == STDOUT:
        typer.echo(text.encode("utf-8"), nl=False)  # bytes: the same as in a file, whatever the locale
        return
    if text is not None:
        write_text(out, text)
        return
    prices = columns["price_paid"]
    for line in (*source.notes(), *strange):
        say(line)
    say(
        f"{len(prices)} answers for {with_currency(f'{sum(prices) / len(prices):.2f}', unit)} per case: {out}",
        wrap=False,
    )


def _answers(clf: Any, table: Any, case_prices: Any) -> Mapping[str, Sequence[Any]]:
    """Return the columns to add."""
    import numpy as np

    from worthwhile.evaluation.metrics import context_of
    from worthwhile.evaluation.spending import charged_tests

    context = context_of(clf)
    X = table.matrix(context.columns)
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

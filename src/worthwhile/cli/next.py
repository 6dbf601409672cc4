"""`worthwhile next`: a dialogue that recommends one test after another, or advice for a worklist of cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Printer, StoppedError, load_model, open_table, split_names, terminal, visible
from worthwhile.cli.options import Dates, Decimal, Encoding, Missing, Model, Sheet

__all__ = ["next_command"]


def next_command(
    model: Model,
    worklist: Annotated[
        Path | None,
        typer.Argument(
            help="Cases to advise on: CSV, Excel, Parquet, or a folder of Parquet files. Without it: a dialogue.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write the worklist with its orders to; -: CSV to standard output.",
            show_default=False,
        ),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="A=1,B=x,…", help="Known results; =u: unavailable. May be repeated.", show_default=False),
    ] = None,
    already_paid: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…", help="Tests that others have paid for: they cost nothing here.", show_default=False
        ),
    ] = None,
    pending_mark: Annotated[str, typer.Option(help="A cell of a test that is ordered, without a result.")] = "pending",
    unavailable_mark: Annotated[str, typer.Option(help="A cell of an unavailable test.")] = "unavailable",
    missing: Missing = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    dates: Dates = None,
    sheet: Sheet = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the questions and the answer.")] = False,
) -> None:
    """Recommend the next test worth its price, ask for its result, and repeat until there is an answer.

    Each step shows the price of the test and the expected cost of stopping here. Type undo to take back a value and u
    if a test is unavailable. At the end, all tests and prices are listed. Results given with --known count as spent
    unless --already-paid names their tests.

    With a worklist, each case gets the tests to order next, their price and the expected saving, or its answer. A cell
    is a value, empty (the test was not asked for), or one of two marks: pending and unavailable. A column that the file
    lacks was not asked for. A folder is read one file at a time; the orders are a folder, too.

    Example: worthwhile next model.json --known age=63,sex=male

    Example: worthwhile next model.json worklist.csv -o orders.csv
    """
    if worklist is not None or out is not None:
        if worklist is None or out is None or known:
            raise ValueError("a worklist needs a file to write, and no --known: worthwhile next MODEL FILE -o ORDERS")
        marks = {"pending": pending_mark.strip(), "unavailable": unavailable_mark.strip()}
        options = {"missing": missing, "decimal": decimal, "encoding": encoding, "dates": dates, "sheet": sheet}
        _advise(model, worklist, out, marks, split_names(already_paid), options, quiet)
        return
    from worthwhile.evaluation.metrics import context_of
    from worthwhile.tree.dialogue import read_known, run_dialogue

    clf = load_model(model)
    given = read_known(clf, read_pairs(known or []))
    console = terminal()

    def tell(shown: Any) -> None:
        if not quiet:
            console.print(shown)

    def ask(prompt: str) -> str:
        typer.echo(visible(prompt), nl=False, err=quiet)  # quiet: only the answer goes to standard output
        return input()

    context, free = context_of(clf), split_names(already_paid)
    context.closure_of(free)  # reports a misspelt test before anything is asked
    result = run_dialogue(clf, given, ask, tell, context.costs.currency, free)
    if result.ended == "interrupted":
        raise StoppedError("stopped")
    if quiet and result.outcome is not None:
        console.print(str(result.outcome.answer), soft_wrap=True)


def _advise(
    model: Path,
    worklist: Path,
    out: Path,
    marks: dict[str, str],
    already_paid: list[str],
    options: dict[str, str | None],
    quiet: bool,
) -> None:
    """Write a worklist, which may be a folder, with what to do next for each case."""
    from worthwhile.cli.extended import check_extended, write_extended
    from worthwhile.cli.folders import check_output, check_plain, files_with_cases
    from worthwhile.cli.reading import unknown_values
    from worthwhile.cli.worklist import check_marks, order_columns, order_summary, read_worklist
    from worthwhile.evaluation.metrics import context_of
    from worthwhile.files import new_files
    from worthwhile.table.files import SUFFIXES, extend_table, suffix_of

    files = []
    if not worklist.is_dir():
        check_extended(out, [worklist, model])
    elif str(out) == "-" or (suffix_of(out) in SUFFIXES and not out.is_dir()):
        raise ValueError(f"--out {out}: the orders of a folder are another folder, which is created if it is missing")
    else:
        check_plain({f"--{name}": value for name, value in options.items()})
        files = files_with_cases(worklist)
        check_output(worklist, out, files)
    clf, say = load_model(model), Printer(quiet)
    context = context_of(clf)
    check_marks(context, marks)
    absent = ",".join([options.pop("missing") or "", *marks.values()])

    def orders(path: Path) -> tuple[Any, Any, list[str]]:
        with open_table(path, quiet, absent, **options) as source:
            cases = read_worklist(clf, source, marks)
        found = clf.advise(cases.X, cases.unavailable, cases.pending, already_paid, as_frame=False)
        return source, found, [*cases.notes, *unknown_values(clf, cases.table)]

    if not files:
        source, found, lines = orders(worklist)
        write_extended(source, out, order_columns(found), lines, order_summary(found, context, out), say)
        return
    said = []
    with new_files(out) as place:
        for path in files:
            source, found, lines = orders(path)
            extend_table(source, place / path.name, order_columns(found))
            said += [*lines, order_summary(found, context, out / path.name)]
    for line in said:
        say(line, wrap=False)


def read_pairs(texts: Sequence[str]) -> dict[str, str]:
    """Parse known results such as "a=1,b=x"; a test with a comma in its name needs a text of its own.

    Examples
    --------
    >>> read_pairs(["age=63, thal=u", "rate, %=6,5"])
    {'age': '63', 'thal': 'u', 'rate, %': '6,5'}
    >>> read_pairs(["age=63,bmi=24,5"])
    {'age': '63', 'bmi': '24,5'}
    """
    found: dict[str, str] = {}
    for part in (part for text in texts for part in _parts(text)):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            raise ValueError(f"--known {part}: write known results as test=value, e.g. --known age=63,sex=male")
        if name in found:
            raise ValueError(f"--known {part}: {name} has a value already, {found[name]}")
        found[name] = value
    return found


def _parts(text: str) -> list[str]:
    if text.count("=") == 1 and "," in text.partition("=")[0]:
        return [text]
    # A comma between digits, without a further name, is a decimal comma.
    marked = re.sub(r"(=\s*[-+]?[\d.]*\d),(?=\d+\s*(,|$))", "\\1\0", text)
    return [part.replace("\0", ",") for part in split_names(marked)]

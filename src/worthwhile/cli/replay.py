"""`worthwhile replay`: what another model or price list would have cost on the cases of the desk."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from worthwhile.cli.common import Printer, check_writable, load_model
from worthwhile.cli.options import Quiet
from worthwhile.cli.service_options import DatabaseArgument, open_service
from worthwhile.files import write_text
from worthwhile.wording import amount

if TYPE_CHECKING:
    from worthwhile.service.replay_cases import ReplayReport

__all__ = ["replay"]


def replay(
    db: DatabaseArgument = "cases.db",
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Another model, written by learn.", show_default=False)
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Another price list: the same decisions, priced anew.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV with a line per case.", show_default=False)
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Say what another model, or another price list, would have cost on the answered and closed cases.

    A model is run with the results that are known. Where it asks for a test that has no result, every possible result
    is tried, and the cost lies between two bounds. Errors count for cases whose outcome is known. Cases of a model that
    has other classes, or none of the tests, are left out.

    Example: worthwhile replay cases.db --model new.json

    Example: worthwhile replay cases.db --costs new-prices.toml
    """
    if (model is None) == (costs is None):
        raise ValueError("name either another --model or another price list with --costs")
    if out is not None:
        check_writable(out)
    other = None if model is None else load_model(model)
    database = open_service(db, create=False)
    from worthwhile.costs.costs import Costs
    from worthwhile.service.case_store import CaseStore
    from worthwhile.service.model_store import ModelStore
    from worthwhile.service.replay_cases import replay_cases, reprice_cases

    try:
        with database.read() as connection:
            store = CaseStore(ModelStore(database))
            if costs is not None:
                report = reprice_cases(connection, store, Costs.read(costs))
            else:
                report = replay_cases(connection, store, other)
    finally:
        database.close()
    _tell(Printer(quiet), report)
    if out is not None:
        write_text(out, _table(report))


def _tell(say: Printer, report: ReplayReport) -> None:
    total = report.totals()
    for number, why in report.skipped[:3]:
        say.warn(f"case {number} is left out: {why}")
    if len(report.skipped) > 3:
        say.warn(f"{len(report.skipped) - 3} more cases are left out")
    if not report.lines:
        none = "all answered and closed cases are left out" if report.skipped else "no case is answered or closed"
        say(f"There is nothing to replay: {none}.")
        return
    bounds = int(total["cases"] - total["exact"])
    say(f"{int(total['cases'])} cases, {bounds} of them with bounds only.")
    say.table(
        ["", "Cases", "As it was", "Replayed"],
        [
            [
                "Tests",
                str(int(total["cases"])),
                amount(total["tests_before"]),
                _between(total, "tests_low", "tests_high"),
            ],
            ["Tests and errors", str(int(total["outcomes"])), amount(total["before"]), _between(total, "low", "high")],
        ],
    )


def _between(total: dict[str, float], low: str, high: str) -> str:
    low_text, high_text = amount(total[low]), amount(total[high])
    return low_text if low_text == high_text else f"{low_text} to {high_text}"


def _table(report: ReplayReport) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ["case_number", "tests_before", "tests_low", "tests_high", "total_before", "total_low", "total_high"]
    writer.writerow([*names, "unknown_tests"])
    for line in report.lines:
        figures = line.tests_before, line.tests_low, line.tests_high, line.before, line.low, line.high
        shown = ["" if value is None else round(value, 6) for value in figures]
        writer.writerow([line.case_number, *shown, ";".join(line.unknown)])
    return text.getvalue()

"""`worthwhile audit`: verifies the log of the decision desk."""

from __future__ import annotations

from typing import Annotated

import typer

from worthwhile.cli.common import Printer
from worthwhile.cli.options import Quiet
from worthwhile.cli.service_options import DatabaseArgument, open_service

__all__ = ["audit"]


def audit(
    db: DatabaseArgument = "cases.db",
    head: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="The hash that an earlier audit printed.", show_default=False),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Verify that nobody changed, removed or added anything in the log of all changes.

    Every event is sealed by a hash that covers the one before it. Keep the hash that is printed somewhere else: with
    --head, a later audit notices that the end of the log was cut off or rewritten since.

    Example: worthwhile audit cases.db
    """
    database = open_service(db, create=False)
    from worthwhile.service.event_log import verify_chain

    try:
        report = verify_chain(database, head)
    finally:
        database.close()
    say = Printer(quiet)
    if report.problems:
        for problem in report.problems[1:]:
            say.warn(problem)
        raise ValueError(f"{database.shown}: {report.problems[0]}")
    erased = f", {report.n_erased} without content (erased cases)" if report.n_erased else ""
    say(f"{report.n_events} events, the chain is whole{erased}.")
    say(f"head: {report.head}", wrap=False)

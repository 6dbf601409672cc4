"""`worthwhile audit`: verifies the log of the decision desk, and the tables by it."""

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
    """Verify that nobody changed, removed or added anything behind the back of the desk.

    Every event of the log of all changes is sealed by a hash that covers the one before it. Cases are computed again
    from the log and compared with the table: results, orders, notes, amounts, answers and outcomes, but not the words
    of advice. Users must have the role and the token that the log gave them, models the content that they were added
    with. Sessions are not verified.

    Keep the hash that is printed somewhere else: with --head, a later audit notices that the end of the log was cut
    off or rewritten since.

    Example: worthwhile audit cases.db
    """
    database = open_service(db, create=False)
    from worthwhile.service.audit import audit_database

    try:
        report = audit_database(database, head)
    finally:
        database.close()
    say = Printer(quiet)
    if report.problems:
        for problem in report.problems[1:]:
            say.warn(problem)
        raise ValueError(f"{database.shown}: {report.problems[0]}")
    erased = f", {report.n_erased} without content (erased cases)" if report.n_erased else ""
    say(f"{report.n_events} events, the chain is whole{erased}.")
    say("Cases, users and models are what the log says.")
    say(f"head: {report.head}", wrap=False)

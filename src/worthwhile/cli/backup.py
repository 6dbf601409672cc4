"""`worthwhile backup`: a copy of the cases while the desk is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from worthwhile.cli.common import Printer
from worthwhile.cli.options import Quiet
from worthwhile.cli.service_options import DatabaseArgument, open_service

__all__ = ["backup"]


def backup(
    db: DatabaseArgument = "cases.db",
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write; replaced if it exists.")] = Path("backup.db"),
    quiet: Quiet = False,
) -> None:
    """Copy the database while the desk is in use, and verify the copy.

    SQLite: the copy is a database like the original. PostgreSQL: it is an archive for pg_restore, made by pg_dump.

    Example: worthwhile backup cases.db -o backup.db
    """
    database = open_service(db, create=False)
    from worthwhile.service.backup import back_up

    try:
        if Path(database.shown).exists() and out.exists() and out.samefile(database.shown):
            raise ValueError(f"{out}: is the database itself; choose another file")
        report = back_up(database, out)
    finally:
        database.close()
    Printer(quiet)(f"{out}: {report.n_events} events, the chain is whole, head {report.head}", wrap=False)

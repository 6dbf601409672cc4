"""Options that the commands of the decision desk share."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from worthwhile.service.database import Database

__all__ = ["DatabaseArgument", "DatabaseOption", "check_extra", "open_service"]

HELP = "The cases: a file of SQLite, or a URL such as postgresql://user@host/name."
VARIABLE = "WORTHWHILE_DB"  # keeps the password of a URL out of the list of processes
NEEDED = ("sqlalchemy", "alembic", "fastapi", "uvicorn", "python_multipart")

DatabaseOption = Annotated[str, typer.Option("--db", envvar=VARIABLE, metavar="FILE|URL", help=HELP)]
DatabaseArgument = Annotated[str, typer.Argument(envvar=VARIABLE, metavar="FILE|URL", help=HELP)]


def open_service(place: str, create: bool = True) -> Database:
    """Open the database of a desk; without the extra, say how to install it."""
    check_extra()
    from worthwhile.service.database import open_database

    return open_database(place, create)


def check_extra() -> None:
    """Refuse to go on if a package of the extra is missing."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(
            f"the decision desk needs {missing[0]}, which is not installed: pip install 'worthwhile[serve]'"
        )

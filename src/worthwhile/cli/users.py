"""`worthwhile users`: who may use the decision desk."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from worthwhile.cli.common import Printer
from worthwhile.cli.options import Quiet
from worthwhile.cli.service_options import DatabaseOption, open_service

__all__ = ["users_app"]

users_app = typer.Typer(
    help="Add, list and remove the users of the decision desk.", no_args_is_help=True, rich_markup_mode="markdown"
)


class Role(StrEnum):
    """What a user may do."""

    read = "read"
    work = "work"
    admin = "admin"


Name = Annotated[str, typer.Argument(help="Name of a person or a program.", show_default=False)]


@users_app.command("add")
def add_user(
    name: Name,
    role: Annotated[
        Role,
        typer.Option(help="read: look; work: also open and change cases; admin: also erase cases."),
    ] = Role.work,
    db: DatabaseOption = "cases.db",
    quiet: Quiet = False,
) -> None:
    """Add a user and print the token, once: only its hash is stored.

    Example: worthwhile users add ana --role work
    """
    from worthwhile.service.user_store import UserStore

    database = open_service(db)
    try:
        token = UserStore(database).add(name, role.value)
    finally:
        database.close()
    if not quiet:
        typer.echo(f"The token of {name}, with the role {role.value}; it is not shown again:", err=True)
    typer.echo(token)


@users_app.command("list")
def list_users(
    db: DatabaseOption = "cases.db",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the names.")] = False,
) -> None:
    """List the users with their roles and the date of their token.

    Example: worthwhile users list --db cases.db
    """
    from worthwhile.service.user_store import UserStore

    database = open_service(db, create=False)
    try:
        found = UserStore(database).all()
    finally:
        database.close()
    for user, since in found:
        typer.echo(user.name if quiet else f"{user.name}\t{user.role}\t{since[:10]}")


@users_app.command("remove")
def remove_user(name: Name, db: DatabaseOption = "cases.db", quiet: Quiet = False) -> None:
    """Remove a user; the token and all sessions end at once.

    Example: worthwhile users remove ana
    """
    from worthwhile.service.user_store import UserStore

    database = open_service(db, create=False)
    try:
        UserStore(database).remove(name)
    finally:
        database.close()
    Printer(quiet)(f"{name} is removed.")

"""`worthwhile serve`: the decision desk, with pages for people and an API for programs."""

from __future__ import annotations

import csv
import gc
import logging
import socket
from pathlib import Path
from typing import Annotated

import typer

from worthwhile.cli.common import Printer
from worthwhile.cli.options import Quiet
from worthwhile.cli.service_options import DatabaseOption, check_extra, open_service
from worthwhile.files import read_text

__all__ = ["serve"]

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(
    models: Annotated[list[Path], typer.Argument(help="Models written by learn, or trees in JSON.", metavar="MODEL")],
    db: DatabaseOption = "cases.db",
    host: Annotated[str, typer.Option(help="Address to listen on; only this machine by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any free one.")] = 8000,
    codes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV with the columns test, system, code, display and, optionally, unit: the codes of tests in"
            " electronic records, and the unit that their results must have.",
            show_default=False,
        ),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Site whose pages may call /cds-services from a browser, e.g. https://record.example.org;"
            " may be given several times.",
            show_default="none",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run the decision desk: cases that last for days, orders and results, a worklist, an API, an audit log.

    Cases are kept in a database and stay with the version of the model that they began with. Everybody needs a token:
    see `worthwhile users add`. Other machines reach the desk through a reverse proxy with HTTPS.

    One process serves the desk; there are no worker processes. Several servers may share one PostgreSQL database, each
    on a port of its own.

    Example: worthwhile serve model.json --db cases.db
    """
    check_extra()
    import uvicorn

    from worthwhile.service.app import create_app
    from worthwhile.service.cds_hooks import check_origin
    from worthwhile.service.desk import Desk
    from worthwhile.service.model_store import read_models

    # Whatever may be wrong is found out before there is a database.
    origins = [check_origin(origin) for origin in cors or ()]
    coded = {} if codes is None else read_codes(codes)
    served = read_models(models)
    with _listen(host, port) as listening:
        database = open_service(db)
        try:
            desk = Desk.open(database, served)
            desk.origins, desk.codes = origins, coded
            _announce(Printer(quiet), desk, listening, database.shown)
            logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
            logging.getLogger("worthwhile.access").setLevel(logging.WARNING if quiet else logging.INFO)
            config = uvicorn.Config(
                create_app(desk),
                log_config=None,
                access_log=False,  # its lines have addresses with case numbers; ours have routes only
                server_header=False,
                forwarded_allow_ips="127.0.0.1",
                timeout_graceful_shutdown=5,
            )
            # What is there now stays; otherwise it is looked through again and again, which takes 0.15 s each time.
            gc.collect()
            gc.freeze()
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            database.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        why = (error.strerror or str(error)).split(" (while")[0]
        raise ValueError(f"--host {host} --port {port}: {why}") from None
    # Connections inherit it. asyncio sets it only on sockets of its own; without it, answers to requests that follow
    # each other closely wait 40 ms for an acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _announce(say: Printer, desk: object, listening: socket.socket, shown: str) -> None:
    from worthwhile.service.desk import Desk

    assert isinstance(desk, Desk)
    host, port = listening.getsockname()[:2]
    names = ", ".join(f"{name} (version {served.version})" for name, served in desk.models.current.items())
    place = f"[{host}]" if ":" in host else host
    say(f"Serving {names} on http://{place}:{port}, cases in {shown}. Ctrl-C stops.", wrap=False)
    if not desk.users.all():
        say("There are no users yet: worthwhile users add NAME --role work", wrap=False)
    if host not in LOOPBACK:
        say.warn(f"{host} is open to other machines without encryption; put a reverse proxy with HTTPS before it")


def read_codes(path: Path) -> dict[str, dict[str, str]]:
    """Read the codes of tests and, where the file has them, the units of their results."""
    known = ("test", "system", "code", "display", "unit")
    reader = csv.DictReader(read_text(path).splitlines())
    # If "unit" were misspelt and passed over, no unit would be checked.
    if unknown := [name for name in reader.fieldnames or () if name and name not in known]:
        raise ValueError(f"{path}: unknown column {unknown[0]!r}; the columns are {', '.join(known)}")
    rows = [{name: (row.get(name) or "").strip() for name in known} for row in reader]
    for number, row in enumerate(rows, 2):
        if not all(row[name] for name in ("test", "system", "code")):
            raise ValueError(f"{path}, line {number}: needs the columns test, system and code, all filled in")
    return {row["test"]: {name: row[name] for name in known[1:] if row[name]} for row in rows}

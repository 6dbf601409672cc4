"""The command line. Errors print one line to stderr and exit with code 2; Ctrl-C and SIGTERM exit with 130."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from typing import Annotated, Any

import typer

from worthwhile import __version__
from worthwhile.cli.audit import audit
from worthwhile.cli.backup import backup
from worthwhile.cli.common import StoppedError, visible
from worthwhile.cli.compare import compare
from worthwhile.cli.costs import costs_app
from worthwhile.cli.demo import demo
from worthwhile.cli.evaluate import evaluate
from worthwhile.cli.export import export
from worthwhile.cli.learn import LearnCommand, learn
from worthwhile.cli.next import next_command
from worthwhile.cli.predict import predict
from worthwhile.cli.replay import replay
from worthwhile.cli.reprice import reprice
from worthwhile.cli.reproduce import reproduce
from worthwhile.cli.serve import serve
from worthwhile.cli.show import show
from worthwhile.cli.users import users_app

__all__ = ["main"]

# What typer raises for a wrong command line: the parent of UsageError. Older releases of typer take it from click,
# newer ones have their own.
CommandError: type[Exception] = typer.BadParameter.__mro__[2]

STOPPED = 130
TRACEBACK = "WORTHWHILE_TRACEBACK"  # environment variable: errors that are no mistake of the user keep their traceback

app = typer.Typer(
    help="Learn which tests are worth their price.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command()(demo)
app.add_typer(costs_app, name="costs")
app.command(cls=LearnCommand)(learn)
app.command()(evaluate)
app.command()(predict)
app.command("next")(next_command)
app.command()(show)
app.command()(reprice)
app.command()(export)
app.command()(compare)
app.command()(reproduce)
app.command()(serve)
app.add_typer(users_app, name="users")
app.command()(audit)
app.command()(backup)
app.command()(replay)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"worthwhile {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _common(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Learn which tests are worth their price."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # trees use characters that some terminals lack
            stream.reconfigure(errors="replace")
    warnings.showwarning = _show_warning
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(run(sys.argv[1:]))


def _terminated(*_: Any) -> None:
    """End like after Ctrl-C, so that worker processes are ended, too; a second signal ends this process at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise KeyboardInterrupt


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line; names from files in it may contain anything."""
    _complain(f"warning: {message}")


def _complain(message: str) -> None:
    typer.echo(f"worthwhile: {visible(' '.join(message.split()))}", err=True)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code.

    Examples
    --------
    >>> run(["--version"])
    worthwhile 0.1.0
    0
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("always", category=UserWarning, module=r"worthwhile\b")
            warnings.showwarning = _show_warning
            code = int(app(args=arguments, prog_name="worthwhile", standalone_mode=False) or 0)
        message = "stopped" if code == STOPPED else ""  # typer may catch Ctrl-C itself
    except CommandError as error:
        code, message = 2, error.format_message()  # type: ignore[attr-defined]
    except StoppedError as error:
        code, message = STOPPED, str(error)
    except (typer.Abort, KeyboardInterrupt):
        code, message = STOPPED, "stopped"
    except (ValueError, OSError) as error:
        code, message = 2, str(error) or type(error).__name__
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        code, message = 2, _unexpected(error)
    if message:
        _complain(message)
    return code


def _unexpected(error: Exception) -> str:
    """Return one line about an error that no command expects: a limit of the machine, or a bug."""
    # A library that cannot be loaded, or a thread that cannot be started, for lack of memory.
    signs = ((ImportError, "failed to map"), (RuntimeError, "can't start new thread"))
    if isinstance(error, MemoryError) or any(isinstance(error, kind) and sign in str(error) for kind, sign in signs):
        detail = f": {error}" if str(error) else ""
        return f"not enough memory{detail}; use fewer cases, columns or classes, or raise the memory limit"
    if isinstance(error, RecursionError):
        return "the input is nested too deeply"
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"unexpected {what}; set {TRACEBACK}=1 for details"

"""`worthwhile next`: which test next, as a dialogue."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from worthwhile.cli.common import StoppedError, load_model, split_names
from worthwhile.cli.options import Model, NoSeed

__all__ = ["next_command"]


def next_command(
    model: Model,
    known: Annotated[
        str | None,
        typer.Option(metavar="A=1,B=x,…", help="What is known already; =u: cannot be had.", show_default=False),
    ] = None,
    seed: NoSeed = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the questions and the answer alone.")] = False,
) -> None:
    """Say which test is worth its price next, ask for its result, and go on until the answer.

    Each price comes with what stopping here would cost; undo takes a value back, u says that a test cannot be had. What
    is printed at the end is the ledger.

    Example: worthwhile next model.json --known age=63,sex=male
    """
    from rich.console import Console

    from worthwhile.cli.reading import frame_of
    from worthwhile.tree.dialogue import hold, read_known

    clf = load_model(model)
    given = read_known(clf, read_pairs(known))
    console = Console(highlight=False)

    def tell(shown: Any) -> None:
        if not quiet:
            console.print(shown, markup=False, soft_wrap=False)

    def ask(prompt: str) -> str:
        typer.echo(prompt, nl=False, err=quiet)  # quiet: nothing but the answer goes to the standard output
        return input()

    talk = hold(clf, given, ask, tell, frame_of(clf).costs.about.get("currency", ""))
    if talk.ended == "interrupted":
        raise StoppedError("stopped")
    if quiet and talk.outcome is not None:
        console.print(str(talk.outcome.answer), markup=False, soft_wrap=True)


def read_pairs(text: str | None) -> dict[str, str]:
    """Return what "a=1,b=x" says.

    Examples
    --------
    >>> read_pairs("age=63, thal=u")
    {'age': '63', 'thal': 'u'}
    """
    found: dict[str, str] = {}
    for part in split_names(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            raise ValueError(f"--known {part}: what is known is written test=value, e.g. --known age=63,sex=male")
        found[name] = value
    return found

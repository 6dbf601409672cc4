"""`worthwhile next`: a dialogue that recommends one test after another."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from worthwhile.cli.common import StoppedError, load_model, split_names, terminal, visible
from worthwhile.cli.options import Model

__all__ = ["next_command"]


def next_command(
    model: Model,
    known: Annotated[
        str | None,
        typer.Option(metavar="A=1,B=x,…", help="Known results; =u: unavailable.", show_default=False),
    ] = None,
    already_paid: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…", help="Tests that others have paid for: they cost nothing here.", show_default=False
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the questions and the answer.")] = False,
) -> None:
    """Recommend the next test worth its price, ask for its result, and repeat until there is an answer.

    Each step shows the price of the test and the expected cost of stopping here. Type undo to take back a value and u
    if a test is unavailable. At the end, all tests and prices are listed. Results given with --known count as spent
    unless --already-paid names their tests.

    Example: worthwhile next model.json --known age=63,sex=male
    """
    from worthwhile.evaluation.metrics import context_of
    from worthwhile.tree.dialogue import read_known, run_dialogue

    clf = load_model(model)
    given = read_known(clf, read_pairs(known))
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


def read_pairs(text: str | None) -> dict[str, str]:
    """Parse known results such as "a=1,b=x".

    Examples
    --------
    >>> read_pairs("age=63, thal=u")
    {'age': '63', 'thal': 'u'}
    >>> read_pairs("age=63,bmi=24,5")
    {'age': '63', 'bmi': '24,5'}
    """
    found: dict[str, str] = {}
    # A comma between digits, without a further name, is a decimal comma.
    marked = re.sub(r"(=\s*[-+]?[\d.]*\d),(?=\d+\s*(,|$))", "\\1\0", text or "")
    for part in (part.replace("\0", ",") for part in split_names(marked)):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            raise ValueError(f"--known {part}: write known results as test=value, e.g. --known age=63,sex=male")
        found[name] = value
    return found

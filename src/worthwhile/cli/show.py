"""`worthwhile show`: a model as text, rules, Graphviz, JSON or picture."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Speaker, check_writable, load_model
from worthwhile.cli.options import Model, NoSeed, Quiet

__all__ = ["show"]

PICTURES = (".png", ".svg", ".pdf")


class Form(StrEnum):
    """How a tree is shown."""

    text = "text"
    rules = "rules"
    dot = "dot"
    json = "json"


def show(
    model: Model,
    form: Annotated[Form, typer.Option("--format", help="How to print it.")] = Form.text,
    plot: Annotated[
        Path | None, typer.Option(help=f"Draw it into this file: {', '.join(PICTURES)}.", show_default=False)
    ] = None,
    tree: Annotated[
        int | None, typer.Option(min=1, help="Which tree of a forest; otherwise all of them.", show_default=False)
    ] = None,
    seed: NoSeed = 0,
    quiet: Quiet = False,
) -> None:
    """Show a model: each test with its price where it stands, each answer.

    Example: worthwhile show model.json --format rules --plot tree.svg
    """
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise ValueError(f"{plot}: unknown suffix of a picture; valid: {', '.join(PICTURES)}")
    check_writable(plot)
    trees = _trees(load_model(model), model, tree)
    if plot is not None and len(trees) > 1:
        raise ValueError(f"{plot}: a picture has one tree of the {len(trees)}; choose it with --tree")
    say = Speaker(quiet)
    shown = {number: _as_text(one, form) for number, one in trees.items()}
    if len(trees) > 1 and form == Form.json:
        say("[\n" + ",\n".join(shown.values()) + "\n]", wrap=False)
    else:
        for number, text in shown.items():
            if len(trees) > 1 and form in (Form.text, Form.rules):
                say(f"tree {number}")
            say(text, wrap=False)
    if plot is not None:
        _draw(plot, next(iter(trees.values())))
        say(f"Picture: {plot}", wrap=False)


def _trees(model: Any, path: Path, number: int | None) -> dict[int, Any]:
    """Return the trees to show, by their numbers."""
    from worthwhile.cli.reading import trees_of

    trees = dict(enumerate(trees_of(model), 1))
    if number is None:
        return trees
    if number not in trees:
        raise ValueError(f"{path}: there is no tree {number}; the model has {len(trees)}")
    return {number: trees[number]}


def _as_text(tree: Any, form: Form) -> str:
    if form == Form.rules:
        return "\n".join(tree.rules())
    forms = {Form.text: tree.to_text, Form.dot: tree.to_dot, Form.json: tree.to_json}
    return str(forms[form]())


def _draw(path: Path, tree: Any) -> None:
    from worthwhile.files import write_file
    from worthwhile.report import tree_picture

    write_file(path, tree_picture(tree, path.suffix.lower().removeprefix(".")))

"""`worthwhile export`: a tree as SQL, Python, ONNX, an Excel sheet or a Mermaid flowchart."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Printer, check_apart, check_writable, load_model
from worthwhile.cli.options import Model, Quiet

__all__ = ["export"]


class Target(StrEnum):
    """What a tree can be written as."""

    sql = "sql"
    python = "python"
    onnx = "onnx"
    xlsx = "xlsx"
    mermaid = "mermaid"


class Dialect(StrEnum):
    """Databases."""

    sqlite = "sqlite"
    postgresql = "postgresql"
    duckdb = "duckdb"


class MissingRule(StrEnum):
    """What to do with missing values."""

    rules = "rules"
    refuse = "refuse"


BINARY = (Target.onnx, Target.xlsx)


def export(
    model: Model,
    to: Annotated[Target, typer.Option("--to", help="What to write.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write. Default: standard output.", show_default=False),
    ] = None,
    dialect: Annotated[Dialect, typer.Option(help="The database, for --to sql.")] = Dialect.sqlite,
    table: Annotated[str, typer.Option(help="The table with the cases, for --to sql.")] = "cases",
    missing_values: Annotated[
        MissingRule, typer.Option(help="Write rules for missing values, or refuse cases that have any.")
    ] = MissingRule.rules,
    quiet: Quiet = False,
) -> None:
    """Write a tree for other programs: SQL, Python without dependencies, ONNX, an Excel sheet, a Mermaid flowchart.

    Each of them gives a case the answer of predict and the price of its tests, also where values are missing: a case
    then goes on as in worthwhile itself. Where that takes too many rules, --missing-values refuse writes a smaller
    program that gives such cases no answer. A forest or a cascade cannot be exported.

    Example: worthwhile export model.json --to sql --dialect postgresql --table patients -o tree.sql

    Example: worthwhile export model.json --to xlsx -o tree.xlsx
    """
    from worthwhile.export import ExportError
    from worthwhile.files import write_file, write_text

    check_apart({"--out": out}, [model])
    check_writable(out)
    if out is None and to in BINARY:
        raise ValueError(f"--to {to} writes a file: name it with --out")
    tree = _tree(load_model(model), model)
    try:
        found = _written(tree, to, dialect, table, missing_values == MissingRule.rules)
    except ExportError as error:
        hint = ": --missing-values refuse" if str(error).endswith("refuse missing values instead") else ""
        raise ValueError(f"{model}: {error}{hint}") from None
    if out is None:
        typer.echo(found if isinstance(found, bytes) else found.encode("utf-8"), nl=False)
        return
    if isinstance(found, bytes):
        write_file(out, found)
    else:
        write_text(out, found)
    Printer(quiet)(f"{to}: {out}", wrap=False)


def _tree(model: Any, path: Path) -> Any:
    """Return the tree of a model; a forest or a cascade has none that decides alone."""
    from worthwhile.tree.tree import Tree

    if isinstance(model, Tree):
        return model
    for attribute, what in (("trees_", "a forest, whose trees vote"), ("stages_", "a cascade of other models")):
        if hasattr(model, attribute):
            raise ValueError(f"{path}: is {what}; only a single tree can be exported (learn --readable)")
    return model.tree_


def _written(tree: Any, to: Target, dialect: Dialect, table: str, missing: bool) -> str | bytes:
    from worthwhile.export import to_mermaid, to_onnx, to_python, to_sql, to_xlsx

    if to == Target.sql:
        return to_sql(tree, dialect, table, missing)
    if to == Target.mermaid:
        return to_mermaid(tree)
    if to == Target.python:
        return to_python(tree, missing)
    return to_onnx(tree, missing) if to == Target.onnx else to_xlsx(tree, missing)

"""The command line. Errors of the user are one line on stderr and exit code 2; Ctrl-C is 130."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from worthwhile import __version__

__all__ = ["main"]

# What typer raises for a wrong command line: the parent of UsageError. Typer's older releases take it from click, newer
# ones have their own.
CommandError: type[Exception] = typer.BadParameter.__mro__[2]

STOPPED = 130

app = typer.Typer(
    help="Learn which tests are worth their price.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"worthwhile {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _common(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Learn which tests are worth their price."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the report; made if need be.")] = Path(
        "worthwhile-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split into training and held-out cases.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; only write the files.")] = False,
) -> None:
    """Learn a tree for heart disease with published prices and show what it costs.

    Two thirds of the 303 cases train EG2, the rest show what the tree costs per case against doing all tests and doing
    none.

    Example: worthwhile demo --out my-demo --seed 3
    """
    from worthwhile import datasets
    from worthwhile._files import make_folder, write_file, write_text
    from worthwhile.report import html_report, tree_picture

    heart = datasets.load("heart")
    rows, tree = _demo_rows(heart, seed)
    make_folder(out)
    intro = (
        f"Cleveland heart disease data: {len(heart.y)} patients, 13 tests at the prices of the Ontario health insurance"
        " (Turney 1995, Canadian dollars), a wrong answer costs 500. EG2 learned from two thirds of the patients,"
        " pruned by total cost."
    )
    write_file(out / "tree.png", tree_picture(tree, "png"))
    write_text(out / "report.html", html_report("Heart disease: which tests are worth their price", intro, rows, tree))
    if not quiet:
        _print_demo(intro, rows, tree, out)


def _demo_rows(heart: Any, seed: int) -> tuple[list[tuple[str, Any]], Any]:
    """Learn on two thirds and return the ways to decide with their costs on the rest, the tree's first."""
    from sklearn.model_selection import train_test_split

    from worthwhile.greedy import C45Classifier, EG2Classifier
    from worthwhile.metrics import CostReport, cost_report

    X_train, X_test, y_train, y_test = train_test_split(
        heart.X, heart.y, test_size=1 / 3, stratify=heart.y, random_state=seed
    )
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names}
    eg2 = EG2Classifier(prune="cost", **known).fit(X_train, y_train)
    own = cost_report(eg2, X_test, y_test)

    everything = cost_report(C45Classifier(**known).fit(X_train, y_train), X_test, y_test)
    price = heart.costs.total_price()
    everything = CostReport(
        len(y_test), price, everything.error_cost, price + everything.error_cost, everything.error_rate
    )

    labels, counts = np.unique(y_train, return_counts=True)
    answers, errors = heart.costs.error_matrix(labels.tolist())
    cheapest = answers[int((counts @ errors).argmin())]
    truth = np.searchsorted(labels, y_test)
    cost = float(errors[truth, answers.index(cheapest)].mean())
    nothing = CostReport(len(y_test), 0.0, cost, cost, float((y_test != cheapest).mean()))
    rows = [("the tree (EG2)", own), ("all tests, then C4.5", everything), (f"no test, always “{cheapest}”", nothing)]
    return rows, eg2.tree_


def _print_demo(intro: str, rows: list[tuple[str, Any]], tree: Any, out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(intro, markup=False)
    table = Table(title=f"Cost per case on {rows[0][1].n_cases} held-out patients", title_justify="left")
    table.add_column("way to decide")
    for column in ("tests", "errors", "total", "wrong"):
        table.add_column(column, justify="right")
    for position, (name, report) in enumerate(rows):
        cells = [
            f"{report.test_cost:.2f}",
            f"{report.error_cost:.2f}",
            f"{report.total_cost:.2f}",
            f"{report.error_rate:.1%}",
        ]
        table.add_row(name, *cells, style="bold" if position == 0 else None)
    console.print()
    console.print(table)
    console.print()
    console.print("The tree, with the price of each test where it stands:")
    console.print(tree.to_text(), markup=False, soft_wrap=True)
    console.print()
    console.print(f"Picture: {out / 'tree.png'}\nReport:  {out / 'report.html'}", markup=False, soft_wrap=True)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # trees are drawn with letters that some terminals do not have
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code.

    Examples
    --------
    >>> run(["--version"])
    worthwhile 0.1.0
    0
    """
    try:
        code = int(app(args=arguments, prog_name="worthwhile", standalone_mode=False) or 0)
        message = "stopped" if code == STOPPED else ""  # typer may have caught Ctrl-C itself
    except CommandError as error:
        code, message = 2, error.format_message()  # type: ignore[attr-defined]
    except (typer.Abort, KeyboardInterrupt):
        code, message = STOPPED, "stopped"
    except (ValueError, OSError) as error:
        code, message = 2, str(error)
    if message:
        typer.echo(f"worthwhile: {' '.join(message.split())}", err=True)
    return code

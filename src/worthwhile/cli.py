"""The command line. Errors of the user are one line on stderr and exit code 2; Ctrl-C is 130."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
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


class StoppedError(Exception):
    """Ctrl-C, with something to say about it."""


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
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the split into training and held-out cases, and of the search.")
    ] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; only write the files.")] = False,
) -> None:
    """Learn a tree for heart disease with published prices and show what it costs.

    ICET learns from two thirds of 303 patients; the others show what its tree costs.

    Example: worthwhile demo --out my-demo --seed 3
    """
    from worthwhile import datasets
    from worthwhile._files import make_folder, write_file, write_text
    from worthwhile.report import html_report, tree_picture

    heart = datasets.load("heart")
    with _search_bar(quiet) as tell:
        rows, tree = _demo_rows(heart, seed, tell)
    make_folder(out)
    intro = (
        f"Cleveland heart disease data: {len(heart.y)} patients, 13 tests at the prices of the Ontario health insurance"
        " (Turney 1995, Canadian dollars), a wrong answer costs 500. ICET learned from two thirds of the patients."
    )
    write_file(out / "tree.png", tree_picture(tree, "png"))
    write_text(out / "report.html", html_report("Heart disease: which tests are worth their price", intro, rows, tree))
    if not quiet:
        _print_demo(intro, rows, tree, out)


@contextmanager
def _search_bar(quiet: bool) -> Iterator[Callable[[Any], None]]:
    """Give a callback for learners that search: it draws, on stderr if that is a terminal, how far they are."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    found = TextColumn("{task.completed} of at most {task.total} trials, best {task.fields[best]} per case,")
    columns = (TextColumn("searching"), BarColumn(), found, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=1000, best="?")
        yield lambda now: bar.update(task, completed=now.trials, best=f"{now.best:.2f}")


def _demo_rows(heart: Any, seed: int, tell: Callable[[Any], None]) -> tuple[list[tuple[str, Any]], Any]:
    """Learn on two thirds and return the ways to decide with their costs on the rest, the tree's first."""
    from sklearn.model_selection import train_test_split

    from worthwhile.greedy import C45Classifier
    from worthwhile.icet import ICETClassifier
    from worthwhile.metrics import CostReport, cost_report

    X_train, X_test, y_train, y_test = train_test_split(
        heart.X, heart.y, test_size=1 / 3, stratify=heart.y, random_state=seed
    )
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names}
    icet = ICETClassifier(random_state=seed, n_jobs=-1, callback=tell, **known).fit(X_train, y_train)
    own = cost_report(icet, X_test, y_test)

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
    rows = [("the tree (ICET)", own), ("all tests, then C4.5", everything), (f"no test, always “{cheapest}”", nothing)]
    return rows, icet.tree_


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


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="turney-table5, -table7, -table8, -table10 to -table14, or turney for all;"
            " esmeir-table1 to -table4, -figure13, -figure14, or esmeir for all;"
            " ting-table1, -table2, -priors, -learners, or ting for all."
        ),
    ],
    data: Annotated[
        Path | None, typer.Option(help="Folder with the data sets. Otherwise the variable WORTHWHILE_DATA names it.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A rough version in under two minutes.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes; otherwise one per core.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results; made if need be.")] = Path("worthwhile-reproduce"),
    cells: Annotated[
        Path | None, typer.Option(help="File of the finished parts; otherwise one in that folder.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Run only this learner, data set or price list (not turney). May be repeated."
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Begin nothing new after so many minutes (not turney).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which random splits of the data.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; only write the files.")] = False,
) -> None:
    """Run a published experiment again and set our numbers beside the published ones.

    Writes NAME.csv, NAME.md and pictures, and keeps finished parts beside them. Turney's problems need the files
    heart_cleve_mod.csv, hepatitis.csv, thyroid_ann_train.csv and costs/turney1995_test_costs.csv; esmeir needs 18 more,
    ting 19. The full grids of these take long: --only and --minutes run a part, and the tables are made from what is
    finished.

    If it is stopped, the same command goes on where it was.

    Example: worthwhile reproduce turney-table5 --data my-data --quick --out my-results
    """
    from worthwhile import experiments

    experiments.find(name)  # a wrong name is told before anything else
    command = [
        "worthwhile",
        "reproduce",
        name,
        *(["--quick"] if quick else []),
        *(["--seed", str(seed)] if seed else []),
    ]
    with _progress_bar(quiet) as (tell, progress):
        try:
            tables, files = experiments.reproduce(
                name,
                out,
                data=data,
                quick=quick,
                seed=seed,
                jobs=jobs or -1,
                cells=cells,
                only=only or (),
                minutes=minutes,
                command=" ".join(command),
                tell=tell,
            )
        except KeyboardInterrupt:
            done, due = (progress[-1].done, progress[-1].cells) if progress else (0, 0)
            kept = f"stopped; {done} of {due} cells were finished and are kept" if due else "stopped"
            raise StoppedError(f"{kept}: the same command goes on from there") from None
    if not quiet:
        _print_tables(tables, files)


@contextmanager
def _progress_bar(quiet: bool) -> Iterator[tuple[Callable[[Any], None], list[Any]]]:
    """Give a function that draws how far a run is, on stderr if that is a terminal, and the list of where it was."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    description, fields = TextColumn("{task.description}"), TextColumn("{task.fields[cells]} cells,")
    left = TextColumn("{task.fields[left]} left")
    columns = (description, BarColumn(), TaskProgressColumn(), fields, TimeElapsedColumn(), left)
    last: list[Any] = []
    start = time.monotonic()
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None, cells="0/0", left="-:--:--")

        def tell(now: Any) -> None:
            last[:] = [now]
            update: dict[str, Any] = {"cells": f"{now.done}/{now.cells}"}
            if now.done:
                # By weight and since the start: what rich makes of the last few cells jumps about.
                seconds = (time.monotonic() - start) * (now.weight / now.done_weight - 1)
                update["left"] = str(timedelta(seconds=round(seconds)))
            bar.update(task, description=now.experiment, completed=now.done_weight, total=now.weight, **update)

        yield tell, last


def _print_tables(tables: Sequence[Any], files: Sequence[Path]) -> None:
    from rich.console import Console
    from rich.table import Table

    from worthwhile.experiments import footnote, layout

    console = Console(highlight=False)
    for table in tables:
        console.print(table.title, markup=False)
        for headings, lines in layout(table):
            shown = Table(show_lines=any("\n" in text for line in lines for text in line))
            for position, heading in enumerate(headings):
                shown.add_column(heading, justify="right" if position else "left")
            for line in lines:
                shown.add_row(*line)
            console.print(shown)
        if note := footnote(table):
            console.print(note)
        console.print()
    console.print("Written: " + ", ".join(str(file) for file in files), markup=False, soft_wrap=True)


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
    except StoppedError as error:
        code, message = STOPPED, str(error)
    except (typer.Abort, KeyboardInterrupt):
        code, message = STOPPED, "stopped"
    except (ValueError, OSError) as error:
        code, message = 2, str(error)
    if message:
        typer.echo(f"worthwhile: {' '.join(message.split())}", err=True)
    return code

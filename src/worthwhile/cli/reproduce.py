"""`worthwhile reproduce`: run the experiments of published papers, or one on your own tables."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Printer, StoppedError, on_cluster, terminal, time_left
from worthwhile.cli.options import LAST_SEED, Cluster, Quiet

__all__ = ["reproduce"]


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="turney-table5 to -table8, -table10 to -table14, or turney for all; esmeir-table1 to -table4,"
            " -figure11 to -figure14, -2006, or esmeir for all; ting-table1, -table2, -priors, -learners, or ting for"
            " all; nan-table1, -figure4, -figure5, -ranking, or nan for all; streed-costs; unseen for your own tables."
        ),
    ],
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; otherwise the environment variable WORTHWHILE_DATA.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A rough version, in a few minutes.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes; otherwise one per core.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results; created if missing.")] = Path(
        "worthwhile-reproduce"
    ),
    cells: Annotated[
        Path | None, typer.Option(help="File of finished cells (.csv or .csv.gz); otherwise one in that folder.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Run only this learner, data set or price list. May be repeated."),
    ] = None,
    minutes: Annotated[float | None, typer.Option(min=0, help="Start nothing new after this many minutes.")] = None,
    cluster: Cluster = None,
    seed: Annotated[int, typer.Option(min=0, max=LAST_SEED, help="Random seed: which splits of the data.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Run a published experiment and show our numbers beside the published ones.

    Writes NAME.csv, NAME.md and pictures, and keeps finished cells. Turney's problems need the files
    heart_cleve_mod.csv, hepatitis.csv, thyroid_ann_train.csv and costs/turney1995_test_costs.csv; esmeir needs 18 more,
    ting 19, nan 11, streed-costs the folder streed_costs. Their full grids take long: --only and --minutes run a part,
    and tables are made from the finished cells.

    unseen runs the default and its rivals on all tables (*.csv, *.csv.gz) of any folder. The target is a column called
    class or target, otherwise the last one. Prices are those of NAME.toml, costs/NAME.toml or NAME-costs.toml beside
    NAME.csv, which may name the target in [about]; otherwise random ones.

    A stopped run continues with the same command.

    Example: worthwhile reproduce turney-table5 --data my-data --quick --out my-results

    Example: worthwhile reproduce unseen --data my-tables
    """
    from worthwhile import experiments

    anywhere = any(each.in_folder for each in experiments.find(name))  # a wrong name is reported before anything else
    folder = f" --data {shlex.quote(str(data))}" if anywhere and data is not None else ""
    command = f"worthwhile reproduce {name}{folder}" + " --quick" * quick + f" --seed {seed}" * bool(seed)
    with on_cluster(cluster), _progress_bar(quiet) as (tell, progress):
        try:
            tables, files = experiments.reproduce(
                name,
                out,
                data=data,
                quick=quick,
                seed=seed,
                jobs=jobs or (-1 if cluster is None else None),
                cells=cells,
                only=only or (),
                minutes=minutes,
                command=command,
                tell=tell,
                say=partial(Printer(quiet), wrap=False),
            )
        except KeyboardInterrupt:
            now = progress[-1] if progress else None
            kept = f"stopped; {now.done} of {now.total} cells are finished and kept" if now and now.total else "stopped"
            raise StoppedError(f"{kept}: run the same command to continue") from None
    if not quiet:
        _print_tables(tables, files)


@contextmanager
def _progress_bar(quiet: bool) -> Iterator[tuple[Callable[[Any, str, float], None], list[Any]]]:
    """Return a function that draws a progress bar, if stderr is a terminal, and a list with the last progress."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = terminal(stderr=True)
    description, fields = TextColumn("{task.description}"), TextColumn("{task.fields[cells]} cells,")
    left = TextColumn("{task.fields[left]}")
    columns = (description, BarColumn(), TaskProgressColumn(), fields, TimeElapsedColumn(), left)
    last: list[Any] = []
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0, cells="0/0", left="")

        def tell(now: Any, experiment: str, share: float) -> None:
            last[:] = [now]
            update: dict[str, Any] = {"cells": f"{now.done}/{now.total}"}
            if share:
                # By weight: cells take between a second and an hour.
                update["left"] = time_left(share, now.seconds)
            bar.update(task, description=experiment, completed=share, **update)

        yield tell, last


def _print_tables(tables: Sequence[Any], files: Sequence[Path]) -> None:
    from rich.table import Table

    from worthwhile.experiments import footnote, layout

    console = terminal()
    for table in tables:
        console.print(table.title)
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
    console.print("Written: " + ", ".join(str(file) for file in files), soft_wrap=True)

"""Options that several commands have, each with its one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path, typer.Argument(help="Table of cases: CSV, gzip of CSV, or Parquet.", show_default=False)]
Model = Annotated[Path, typer.Argument(help="A model that learn wrote, or a tree in JSON.", show_default=False)]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="The column of the classes.", show_default=False)]
MaybeTarget = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of the classes; otherwise the one that holds the model's.",
        show_default=False,
    ),
]
CostsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Prices and error costs (TOML or CSV). Without: free tests, every error costs 1.",
        show_default=False,
    ),
]
Nominal = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="Columns of numbers that are codes of categories.", show_default=False),
]
Drop = Annotated[
    str | None, typer.Option(metavar="A,B,…", help="Columns to leave out, e.g. names of cases.", show_default=False)
]
Missing = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,…", help="Further texts that mean a missing value, besides ? and NA.", show_default=False
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        min=0, metavar="SECONDS", help="Time for a search (act, icet, budget-forest, lsid3).", show_default=False
    ),
]
Jobs = Annotated[int, typer.Option(help="Threads or processes; -1: one per core.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on this Dask cluster, e.g. tcp://host:8786.", show_default=False),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
NoSeed = Annotated[
    int,
    typer.Option(
        min=0, help="Nothing is random here; accepted so that scripts may give it to every command.", show_default=False
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; only write the files.")]

"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

LAST_SEED = 2**32 - 1  # of NumPy's generators

Data = Annotated[Path, typer.Argument(help="Table of cases: CSV, gzipped CSV, Excel, or Parquet.", show_default=False)]
Model = Annotated[Path, typer.Argument(help="A model written by learn, or a tree in JSON.", show_default=False)]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="The target column: the classes.", show_default=False)]
MaybeTarget = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The target column; otherwise the column that has the model's classes.",
        show_default=False,
    ),
]
CostsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Prices and error costs (TOML, CSV or Excel). Default: free tests, every error costs 1.",
        show_default=False,
    ),
]
Nominal = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,…",
        help="Columns to use as categories: numbers that are codes, or identifiers.",
        show_default=False,
    ),
]
Drop = Annotated[
    str | None, typer.Option(metavar="A,B,…", help="Columns to leave out, e.g. identifiers.", show_default=False)
]
Missing = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="More strings that mean a missing value, besides ? and NA.", show_default=False),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Encoding of a CSV file, e.g. utf-8, cp1252. Default: detected.", show_default=False
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="MARK", help="Decimal mark of numbers: . or , Default: detected.", show_default=False),
]
Dates = Annotated[
    str | None,
    typer.Option(
        metavar="ORDER",
        help="Whether the day (dmy) or the month (mdy) comes first in 03/04/2024. Default: detected.",
        show_default=False,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Sheet of an Excel file. Default: the first one.", show_default=False),
]
DropMissingTarget = Annotated[bool, typer.Option("--drop-missing-target", help="Leave out cases without a class.")]
IgnoreExtraPrices = Annotated[
    bool, typer.Option("--ignore-extra-prices", help="Ignore prices of tests that the table does not have.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Time limit of a search (auto, act, optimal, cascade, icet, budget-forest, lsid3).",
        show_default=False,
    ),
]
Cap = Annotated[
    float | None,
    typer.Option(min=0, help="The most that the tests of any case may cost.", show_default=False),
]
CasePrice = Annotated[
    list[str] | None,
    typer.Option(
        "--case-price",
        metavar="TEST=COLUMN",
        help="A column with what a test costs each case, e.g. visit=distance. May be repeated.",
        show_default=False,
    ),
]
CaseError = Annotated[
    list[str] | None,
    typer.Option(
        "--case-error",
        metavar="ANSWER=COLUMN",
        help="A column with what an answer costs each case that it is wrong for, e.g. good=amount. May be repeated.",
        show_default=False,
    ),
]
Jobs = Annotated[int, typer.Option(help="Number of threads or processes; -1: one per core.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on this Dask cluster, e.g. tcp://host:8786.", show_default=False),
]
Seed = Annotated[int, typer.Option(min=0, max=LAST_SEED, help="Random seed.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; only write files.")]

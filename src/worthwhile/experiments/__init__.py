"""The papers' experiments, with our numbers beside the published ones, and one on anybody's own tables.

`EXPERIMENTS` has one entry per table; `reproduce` runs one, or all of a paper, and writes the results. The command is
``worthwhile reproduce NAME``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from worthwhile import datasets
from worthwhile.experiments.engine import Cell, Experiment, Family, Numbers, Store, locked, run
from worthwhile.experiments.esmeir import TABLES as ESMEIR
from worthwhile.experiments.nan import TABLES as NAN
from worthwhile.experiments.page import OUTSIDE, ResultTable, RunInfo, footnote, layout, write_pages
from worthwhile.experiments.streed import TABLES as STREED
from worthwhile.experiments.ting import TABLES as TING
from worthwhile.experiments.turney import TABLES as TURNEY
from worthwhile.experiments.unseen import TABLES as UNSEEN
from worthwhile.files import make_folder
from worthwhile.learners.progress import Progress

__all__ = [
    "EXPERIMENTS",
    "OUTSIDE",
    "PAPERS",
    "Cell",
    "Experiment",
    "Family",
    "Numbers",
    "ResultTable",
    "RunInfo",
    "find",
    "footnote",
    "layout",
    "names",
    "reproduce",
]

ALL = (*TURNEY, *ESMEIR, *TING, *NAN, *STREED, *UNSEEN)
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in ALL}
PAPERS: dict[str, list[str]] = {
    "turney": [experiment.name for experiment in TURNEY],
    "esmeir": [experiment.name for experiment in ESMEIR],
    "ting": [experiment.name for experiment in TING],
    "nan": [experiment.name for experiment in NAN],
}


def names() -> list[str]:
    """Return the names that can be reproduced: each paper, followed by its tables.

    Examples
    --------
    >>> names()[:3]
    ['turney', 'turney-table5', 'turney-table6']
    """
    return list(dict.fromkeys([*(name for paper in PAPERS for name in (paper, *PAPERS[paper])), *EXPERIMENTS]))


def find(name: str) -> list[Experiment]:
    """Return the experiments with a name: one, or all of a paper.

    Examples
    --------
    >>> [experiment.title for experiment in find("turney-table8")]
    ['Table 8: no group discounts']
    """
    if name not in names():
        raise ValueError(f"there is no experiment {name!r}; valid names: {', '.join(names())}")
    return [EXPERIMENTS[each] for each in PAPERS.get(name, [name])]


def reproduce(
    name: str,
    out: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    quick: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    cells: str | os.PathLike[str] | None = None,
    only: Sequence[str] = (),
    minutes: float | None = None,
    command: str = "",
    tell: Callable[[Progress, str, float], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> tuple[list[ResultTable], list[Path]]:
    """Run an experiment and write its table, page and figures; finished cells are not run again.

    Parameters
    ----------
    name : str
        One of `names`.
    out : path
        Folder for ``NAME.csv``, ``NAME.md``, figures, and ``cells-PAPER.csv`` with the finished cells.
    data : path, optional
        Folder of the data sets that are not bundled; None: the environment variable WORTHWHILE_DATA.
    quick : bool, default False
        A small grid and short searches: rough results in a minute or two.
    seed : int, default 0
        Chooses the random splits.
    jobs : int, optional
        Number of processes, -1 for all cores. None: as the active joblib backend has it, otherwise one.
    cells : path, optional
        Another file for the finished cells; compressed if it ends in .gz.
    only : sequence of str
        Names of learners, data sets and price lists: run only their cells. For large grids, in several runs; tables are
        made from all finished cells.
    minutes : float, optional
        Start no further cell after this many minutes, and make the tables from the finished cells.
    command : str, optional
        The command that the page shows.
    tell : function, optional
        Called after each cell; see `engine.run`.
    say : function, optional
        Called before anything runs, with a line for each file of the folder, by an experiment that takes any files.

    Returns
    -------
    tables : list of ResultTable
    files : list of Path
        The files written.

    Examples
    --------
    On a cluster, with Dask: ``with joblib.parallel_config("dask"): reproduce("turney-table5", "out")``.
    """
    experiments = find(name)
    folder = _data_folder(data)
    for place, experiment in enumerate(experiments):
        if experiment.in_folder is not None:
            experiments[place], lines = experiment.in_folder(folder, quick)
            for line in lines:
                (say or (lambda _: None))(line)
    out = Path(out)
    if out.exists():
        make_folder(out)  # refuses a file; a new folder is made only when there is something to write
    family = experiments[0].family
    path = Path(cells) if cells else out / f"cells-{family.name}.csv"
    limit = None if minutes is None else 60 * minutes
    with locked(path):
        store = Store(path, family)
        results = run(
            experiments, store, quick=quick, seed=seed, folder=folder, jobs=jobs, only=only, seconds=limit, tell=tell
        )
    make_folder(out)
    tables = [experiment.table(results, quick, seed) for experiment in experiments]
    seconds = sum(numbers.get("seconds", 0.0) for numbers in results.values())
    about = RunInfo(command=command, quick=quick, cells=len(results), seconds=seconds)
    return tables, write_pages(name, tables, out, about)


def _data_folder(data: str | os.PathLike[str] | None) -> str | None:
    """Return the absolute path of the folder: worker processes may have another working directory."""
    if data is None:
        text = os.environ.get(datasets.FOLDER_VARIABLE)
        return str(Path(text).absolute()) if text else None
    if not Path(data).is_dir():
        raise ValueError(f"{data}: is not a folder; --data must name the folder of the data sets")
    return str(Path(data).absolute())

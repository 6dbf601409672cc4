"""The engine of all experiments: cells, the file that keeps the finished ones, and running what is missing.

An experiment is a grid of cells. A `Cell` says what was learned from what: two tables that need the same cell share it,
and its numbers depend neither on the order nor on the number of processes. A `Store` is a CSV file with one line per
finished cell, written at once; a run that was stopped goes on where it was. Cells of another release of worthwhile are
not taken over; whoever changes learners, data files or other libraries in between starts with an empty folder.
"""

from __future__ import annotations

import csv
import functools
import io
import json
import multiprocessing
import os
import signal
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worthwhile import __version__, datasets
from worthwhile.files import make_folder
from worthwhile.parallel.workers import run_unordered

if TYPE_CHECKING:
    from worthwhile.experiments.page import Table

__all__ = [
    "Cell",
    "Experiment",
    "Family",
    "Numbers",
    "Progress",
    "Store",
    "load",
    "parameters_of",
    "run",
    "seed_of",
    "text_of",
]

Numbers = dict[str, float]

_LOADING = threading.Lock()  # the environment is that of all threads


@dataclass(frozen=True)
class Cell:
    """One measurement: a learner with its parameters on one split of one data set, at these prices and error costs."""

    data: str
    prices: str
    errors: str
    learner: str
    parameters: str  # as `text_of` writes them
    split: int


@dataclass(frozen=True)
class Family:
    """Experiments whose cells are measured alike and kept in one file."""

    name: str
    numbers: tuple[str, ...]  # the names of what is measured in each cell
    load: Callable[[str, str | None], Any]  # a data set, by its name in a cell, out of a folder
    measure: Callable[[Cell, str | None], Numbers]
    weight: Callable[[Cell], float]  # about how long a cell takes; any unit
    order: Callable[[Cell], Any] | None = None  # a key: what comes first, across experiments
    partial: bool = False  # whether tables can be made while cells are missing


@dataclass(frozen=True)
class Experiment:
    """A table, with its figures, to be reproduced. Its grid of cells depends on whether it is quick, and on a seed."""

    name: str
    title: str
    family: Family
    cells: Callable[[bool, int], list[Cell]]  # what has to be measured
    table: Callable[[Mapping[Cell, Numbers], bool, int], Table]  # the table, made out of the measurements


def text_of(parameters: Mapping[str, Any]) -> str:
    """Write parameters as one text: the same parameters, the same text.

    Examples
    --------
    >>> text_of({"trials": 200, "seeded": False, "search": "real"})
    'search="real" seeded=false trials=200'
    """
    return " ".join(f"{name}={json.dumps(parameters[name])}" for name in sorted(parameters))


def parameters_of(text: str) -> dict[str, Any]:
    """Read what `text_of` has written; values have no blanks.

    Examples
    --------
    >>> parameters_of('search="real" seeded=false')
    {'search': 'real', 'seeded': False}
    """
    pairs = (pair.split("=", 1) for pair in text.split())
    return {name: json.loads(value) for name, value in pairs}


def seed_of(cell: Cell) -> int:
    """Return the seed for whatever is random in a cell: all learners on one split of one data set get the same.

    Examples
    --------
    >>> seed_of(Cell("bupa", "published", "10", "icet", "", 3)) == seed_of(Cell("bupa", "no-delay", "50", "c45", "", 3))
    True
    """
    return zlib.crc32(f"{cell.data}/{cell.split}".encode())


@functools.cache
def load(name: str, folder: str | None) -> Any:
    """Load a data set as arrays, once per process; `folder` stands in for the environment's folder, None for none."""
    with _LOADING, _data_folder(folder):
        return datasets.load(name, as_frame=False)


@contextmanager
def _data_folder(folder: str | None) -> Iterator[None]:
    before = os.environ.pop(datasets.FOLDER_VARIABLE, None)
    try:
        if folder is not None:
            os.environ[datasets.FOLDER_VARIABLE] = folder
        yield
    finally:
        os.environ.pop(datasets.FOLDER_VARIABLE, None)
        if before is not None:
            os.environ[datasets.FOLDER_VARIABLE] = before


class Store:
    """The finished cells of a family, in a file that grows by one line per cell.

    Lines of other versions of the package are left alone and not used: learners may have changed.
    """

    def __init__(self, path: Path, family: Family) -> None:
        self.path = path
        self.results: dict[Cell, Numbers] = {}
        self._numbers = family.numbers
        self._header = ["version", *(field.name for field in fields(Cell)), *family.numbers]
        self._read()

    def _read(self) -> None:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            content = b""
        except IsADirectoryError:
            raise ValueError(f"{self.path}: is a folder, but finished cells are kept in a file of this name") from None
        # A process that was killed may have left half a line: it is cut off, so that the next one starts afresh.
        whole = content[: content.rfind(b"\n") + 1]
        rows = list(csv.reader(io.StringIO(whole.decode("utf-8", errors="replace"))))
        if rows and rows[0] != self._header:
            raise ValueError(
                f"{self.path}: is no file of finished cells; move it away, or name another folder with --out"
            )
        for line, row in enumerate(rows[1:], start=2):
            self._take(line, row)
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        self._empty = not rows

    def _take(self, line: int, row: Sequence[str]) -> None:
        try:
            version, data, prices, errors, learner, parameters, split, *values = row
            cell = Cell(data, prices, errors, learner, parameters, int(split))
            numbers = dict(zip(self._numbers, map(float, values), strict=True))
        except ValueError:
            raise ValueError(f"{self.path}, line {line}: is no finished cell; delete the line and try again") from None
        if version == __version__:
            self.results[cell] = numbers

    def add(self, cell: Cell, numbers: Numbers) -> None:
        """Keep a finished cell; it is in the file when this returns."""
        if self._empty:
            make_folder(self.path.parent)
            self._append(self._header)
            self._empty = False
        self._append([__version__, *astuple(cell), *(repr(float(numbers[name])) for name in self._numbers)])
        self.results[cell] = numbers

    def _append(self, row: Iterable[Any]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        with open(self.path, "ab") as file:  # one write: half a line is all that can be lost
            file.write(line.getvalue().encode())


@dataclass(frozen=True)
class Progress:
    """How far a run is: cells that are done and all that were missing at its start, and the same by weight."""

    experiment: str
    done: int
    cells: int
    done_weight: float
    weight: float


def run(
    experiments: Sequence[Experiment],
    store: Store,
    *,
    quick: bool = False,
    seed: int = 0,
    folder: str | None = None,
    jobs: int | None = None,
    only: Sequence[str] = (),
    seconds: float | None = None,
    tell: Callable[[Progress], None] | None = None,
) -> dict[Cell, Numbers]:
    """Run the missing cells of experiments of one family and return the numbers of all of their cells.

    With `only` or `seconds` some may still be missing afterwards.

    Parameters
    ----------
    experiments : sequence of Experiment
    store : Store
        Where the finished cells are and go.
    quick, seed
        What grid of cells.
    folder : str, optional
        Where the data sets are.
    jobs : int, optional
        Number of processes, as joblib counts. Whatever joblib backend is active is used, `joblib.parallel_config`
        says which; None leaves the number to it.
    only : sequence of str
        Names of learners, data sets and price lists: run these cells only. Finished others are returned all the same.
    seconds : float, optional
        Begin no cell after so many.
    tell : function, optional
        Called with the `Progress` before the first cell and after each.
    """
    family = experiments[0].family
    if (only or seconds is not None) and not family.partial:
        raise ValueError(f"the tables of {family.name} need all of their cells: no part of them can be run alone")
    owner = _in_order(experiments, quick, seed)
    missing = {cell: owner[cell] for cell in _chosen(owner, only) if cell not in store.results}
    _check_data(family, dict.fromkeys(cell.data for cell in missing), folder)
    weights = {cell: family.weight(cell) for cell in missing}
    done, done_weight, weight = 0, 0.0, sum(weights.values())
    tell = tell or (lambda _: None)
    tell(Progress(next(iter(missing.values()), experiments[-1].name), 0, len(missing), 0.0, weight))
    for cell, numbers in run_unordered(
        functools.partial(_measured, family.measure, folder), _until(missing, seconds), jobs
    ):
        store.add(cell, numbers)
        done, done_weight = done + 1, done_weight + weights[cell]
        tell(Progress(missing[cell], done, len(missing), done_weight, weight))
    return {cell: store.results[cell] for cell in owner if cell in store.results}


def _chosen(cells: Iterable[Cell], only: Sequence[str]) -> list[Cell]:
    """Return the cells of these learners, data sets and price lists; a kind of which none is named is not restricted.

    Examples
    --------
    >>> cells = [Cell(data, "list", "1", learner, "", 0) for data in ("iris", "wine") for learner in ("eg2", "act")]
    >>> [(cell.data, cell.learner) for cell in _chosen(cells, ["wine"])]
    [('wine', 'eg2'), ('wine', 'act')]
    >>> [(cell.data, cell.learner) for cell in _chosen(cells, ["act", "iris"])]
    [('iris', 'act')]
    """
    cells = list(cells)
    kinds = {kind: list(dict.fromkeys(getattr(cell, kind) for cell in cells)) for kind in ("learner", "data", "prices")}
    for name in only:
        if not any(name in names for names in kinds.values()):
            known = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items())
            raise ValueError(f"nothing to run is called {name!r}; there are {known}")
    wanted = {kind: set(only).intersection(names) for kind, names in kinds.items()}
    return [cell for cell in cells if all(getattr(cell, kind) in names for kind, names in wanted.items() if names)]


def _until(cells: Iterable[Cell], seconds: float | None) -> Iterator[Cell]:
    """Yield cells until the time is up; joblib asks for a few more than it has processes."""
    start = time.monotonic()
    for cell in cells:
        if seconds is not None and time.monotonic() - start >= seconds:
            return
        yield cell


def _in_order(experiments: Sequence[Experiment], quick: bool, seed: int) -> dict[Cell, str]:
    """Return the cells, each with the first experiment that needs it.

    The longest cells of an experiment come first: the short ones then keep all processes busy to the end. A family may
    have another order, for grids that grow over many runs.
    """
    order = experiments[0].family.order
    owner: dict[Cell, str] = {}
    for experiment in experiments:
        cells = experiment.cells(quick, seed)
        for cell in sorted(cells, key=experiment.family.weight, reverse=True):
            owner.setdefault(cell, experiment.name)
    return {cell: owner[cell] for cell in sorted(owner, key=order)} if order else owner


def _check_data(family: Family, names: Iterable[str], folder: str | None) -> None:
    """Load all data sets once, so that what is missing is said before anything runs."""
    for name in names:
        try:
            family.load(name, folder)
        except ValueError as error:
            hint = "" if folder else "; the option --data names the folder, too"
            raise ValueError(f"{error}{hint}") from None


def _measured(measure: Callable[[Cell, str | None], Numbers], folder: str | None, cell: Cell) -> tuple[Cell, Numbers]:
    # Ctrl-C reaches all processes of a command. The one that was started ends the others; these should not complain.
    if multiprocessing.parent_process() is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return cell, measure(cell, folder)
    except Exception as error:
        error.add_note(f"in {cell}")
        raise

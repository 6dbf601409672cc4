"""The engine of all experiments: cells, the file of finished cells, and running the missing ones.

An experiment is a grid of cells. A `Cell` is one measurement: tables that need the same cell share it, and its numbers
depend neither on the order nor on the number of processes. A `Store` is a CSV file, optionally compressed, with one
line per finished cell, written immediately; a stopped run continues where it was. Cells of another version of
worthwhile are not reused. After changing learners, data files or other libraries, start with an empty folder.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import gzip
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
from worthwhile.files import make_folder, write_file
from worthwhile.learners.progress import Progress
from worthwhile.parallel.workers import run_unordered

if TYPE_CHECKING:
    from worthwhile.experiments.page import ResultTable

__all__ = [
    "Cell",
    "Experiment",
    "Family",
    "Numbers",
    "Store",
    "folder_set",
    "load",
    "locked",
    "parameters_of",
    "run",
    "seed_of",
    "text_of",
]

Numbers = dict[str, float]

_LOADING = threading.Lock()  # all threads share the environment variables


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
    """Experiments whose cells are measured in the same way and kept in one file."""

    name: str
    numbers: tuple[str, ...]  # names of the numbers measured in each cell
    load: Callable[[str, str | None], Any]  # loads a data set by its name in a cell, from a folder
    measure: Callable[[Cell, str | None], Numbers]
    weight: Callable[[Cell], float]  # roughly how long a cell takes; any unit
    order: Callable[[Cell], Any] | None = None  # sort key: what runs first, across experiments


@dataclass(frozen=True)
class Experiment:
    """A table with its figures. Its grid of cells depends on whether the run is quick, and on a seed."""

    name: str
    title: str
    family: Family
    cells: Callable[[bool, int], list[Cell]]  # what to measure
    table: Callable[[Mapping[Cell, Numbers], bool, int], ResultTable]  # makes the table from the measurements
    # If the grid depends on the files of a folder: returns the experiment of a folder, quick or not, and a line for
    # each file.
    in_folder: Callable[[str | None, bool], tuple[Experiment, Sequence[str]]] | None = None


def text_of(parameters: Mapping[str, Any]) -> str:
    """Write parameters as one string: equal parameters give equal strings.

    Examples
    --------
    >>> text_of({"trials": 200, "seeded": False, "search": "real"})
    'search="real" seeded=false trials=200'
    """
    return " ".join(f"{name}={json.dumps(parameters[name])}" for name in sorted(parameters))


def parameters_of(text: str) -> dict[str, Any]:
    """Read what `text_of` has written; values contain no blanks.

    Examples
    --------
    >>> parameters_of('search="real" seeded=false')
    {'search': 'real', 'seeded': False}
    """
    pairs = (pair.split("=", 1) for pair in text.split())
    return {name: json.loads(value) for name, value in pairs}


def seed_of(cell: Cell) -> int:
    """Return the random seed of a cell: the same for all learners on one split of one data set.

    Examples
    --------
    >>> seed_of(Cell("bupa", "published", "10", "icet", "", 3)) == seed_of(Cell("bupa", "no-delay", "50", "c45", "", 3))
    True
    """
    return zlib.crc32(f"{cell.data}/{cell.split}".encode())


@functools.cache
def load(name: str, folder: str | None) -> Any:
    """Load a data set as arrays, once per process; `folder` replaces the WORTHWHILE_DATA folder, None means none."""
    with _LOADING, folder_set(folder):
        return datasets.load(name, as_frame=False)


@contextmanager
def folder_set(folder: str | None) -> Iterator[None]:
    """Within this context, data sets come from a folder; None: only those of the package."""
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
    """The finished cells of a family, in a CSV file that grows by one line per cell; compressed if it ends in .gz.

    Lines of other versions of the package are kept but not used: learners may have changed.
    """

    def __init__(self, path: Path, family: Family) -> None:
        self.path, self._packed = path, path.suffix == ".gz"
        self.results: dict[Cell, Numbers] = {}
        self._numbers = family.numbers
        self._header = ["version", *(field.name for field in fields(Cell)), *family.numbers]
        self._read()

    def _read(self) -> None:
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            raw = b""
        except IsADirectoryError:
            raise ValueError(f"{self.path}: is a folder, but must be the file of finished cells") from None
        content, intact = _decompressed(raw) if self._packed else (raw, True)
        # A killed process may have left an incomplete last line, which is cut off.
        whole = content[: content.rfind(b"\n") + 1]
        try:
            rows = list(csv.reader(io.StringIO(whole.decode("utf-8", errors="replace"))))
        except csv.Error:  # such as a cell of megabytes
            rows = [[]]
        if (rows and rows[0] != self._header) or (raw and not intact and not rows):
            raise ValueError(
                f"{self.path}: is not a file of finished cells; move it, or choose another folder with --out"
            )
        for line, row in enumerate(rows[1:], start=2):
            self._take(line, row)
        if self._packed:
            # Every line that was added is compressed on its own, which takes more room than all of them together.
            packed = gzip.compress(whole, mtime=0)
            if not intact or len(whole) < len(content) or len(raw) > 2 * len(packed):
                write_file(self.path, packed)
        elif len(whole) < len(content):
            os.truncate(self.path, len(whole))
        self._empty = not rows

    def _take(self, line: int, row: Sequence[str]) -> None:
        try:
            version, data, prices, errors, learner, parameters, split, *values = row
            cell = Cell(data, prices, errors, learner, parameters, int(split))
            numbers = dict(zip(self._numbers, map(float, values), strict=True))
        except ValueError:
            raise ValueError(
                f"{self.path}, line {line}: is not a finished cell; delete the line and try again"
            ) from None
        if version == __version__:
            self.results[cell] = numbers

    def add(self, cell: Cell, numbers: Numbers) -> None:
        """Add a finished cell; it is in the file when this returns."""
        if self._empty:
            make_folder(self.path.parent)
            self._append(self._header)
            self._empty = False
        self._append([__version__, *astuple(cell), *(repr(float(numbers[name])) for name in self._numbers)])
        self.results[cell] = numbers

    def _append(self, row: Iterable[Any]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        with open(self.path, "ab") as file:  # a single write: at most one line can be incomplete
            file.write(gzip.compress(line.getvalue().encode(), mtime=0) if self._packed else line.getvalue().encode())


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other runs away from a file of finished cells; its folder is created, and removed if it stays empty."""
    import fcntl  # here: experiments are for Linux, the rest of the package is for any system

    created = not path.parent.exists()
    make_folder(path.parent)
    lock = path.with_name(f".{path.name}.lock")
    file = _open_locked(lock, lambda number: fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB))
    if file is None:
        raise ValueError(f"{path}: another run is using this file; wait until it has ended, or use another --out")
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(file)
        if created:
            with contextlib.suppress(OSError):
                path.parent.rmdir()


def _open_locked(lock: Path, acquire: Callable[[int], None]) -> int | None:
    """Open and lock a file, None if another process has locked it."""
    while True:
        try:
            file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise ValueError(f"{lock}: cannot be written: {error.strerror}") from None
        try:
            acquire(file)
        except BlockingIOError:
            os.close(file)
            return None
        except OSError:  # a file system without locks
            return file
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), os.stat(lock)):
                return file
        os.close(file)  # the run that had it has just ended and removed it


def _decompressed(raw: bytes) -> tuple[bytes, bool]:
    """Return the content of a gzip file and whether it is complete; of an incomplete one, what can be read."""
    content = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            while chunk := file.read1():
                content += chunk
    except (EOFError, OSError, zlib.error):
        return bytes(content), False
    return bytes(content), True


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
    tell: Callable[[Progress, str, float], None] | None = None,
) -> dict[Cell, Numbers]:
    """Run the missing cells of experiments of one family and return the numbers of all finished cells.

    With `only` or `seconds` some cells may still be missing afterwards.

    Parameters
    ----------
    experiments : sequence of Experiment
    store : Store
        The finished cells; new ones are added to it.
    quick, seed
        Choose the grid of cells.
    folder : str, optional
        Folder of the data sets.
    jobs : int, optional
        Number of processes, as in joblib. The active joblib backend is used (see `joblib.parallel_config`); None
        leaves the number to it.
    only : sequence of str
        Names of learners, data sets and price lists: run only their cells. Other finished cells are returned, too.
    seconds : float, optional
        Start no further cell after this many seconds.
    tell : function, optional
        Called before the first cell and after each one with a `Progress` (cells done and in total), the name of the
        experiment, and the share of the work that is done, by weight.
    """
    family = experiments[0].family
    owner = _in_order(experiments, quick, seed)
    missing = {cell: owner[cell] for cell in _chosen(owner, only) if cell not in store.results}
    _check_data(family, dict.fromkeys(cell.data for cell in missing), folder)
    weights = {cell: family.weight(cell) for cell in missing}
    done, done_weight, weight = 0, 0.0, sum(weights.values())
    tell = tell or (lambda *_: None)
    start = time.monotonic()
    tell(Progress(0.0, 0, len(missing)), next(iter(missing.values()), experiments[-1].name), 0.0)
    for cell, numbers in run_unordered(
        functools.partial(_measured, family.measure, folder), _until(missing, seconds), jobs
    ):
        store.add(cell, numbers)
        done, done_weight = done + 1, done_weight + weights[cell]
        tell(
            Progress(time.monotonic() - start, done, len(missing)),
            missing[cell],
            done_weight / weight if weight else 1.0,
        )
    return {cell: store.results[cell] for cell in owner if cell in store.results}


def _chosen(cells: Iterable[Cell], only: Sequence[str]) -> list[Cell]:
    """Return the cells of these learners, data sets and price lists; a kind that is not named is not restricted.

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
            raise ValueError(f"there is no learner, data set or price list {name!r}; valid names: {known}")
    wanted = {kind: set(only).intersection(names) for kind, names in kinds.items()}
    return [cell for cell in cells if all(getattr(cell, kind) in names for kind, names in wanted.items() if names)]


def _until(cells: Iterable[Cell], seconds: float | None) -> Iterator[Cell]:
    """Yield cells until the time is up; joblib requests a few more than it has processes."""
    start = time.monotonic()
    for cell in cells:
        if seconds is not None and time.monotonic() - start >= seconds:
            return
        yield cell


def _in_order(experiments: Sequence[Experiment], quick: bool, seed: int) -> dict[Cell, str]:
    """Return the cells, each with the first experiment that needs it.

    The longest cells of an experiment come first, so that short ones keep all processes busy at the end. A family may
    define another order, for grids that grow over many runs.
    """
    order = experiments[0].family.order
    owner: dict[Cell, str] = {}
    for experiment in experiments:
        cells = experiment.cells(quick, seed)
        for cell in sorted(cells, key=experiment.family.weight, reverse=True):
            owner.setdefault(cell, experiment.name)
    return {cell: owner[cell] for cell in sorted(owner, key=order)} if order else owner


def _check_data(family: Family, names: Iterable[str], folder: str | None) -> None:
    """Load all data sets once, so that a missing one is reported before anything runs."""
    for name in names:
        try:
            family.load(name, folder)
        except ValueError as error:
            hint = "" if folder else "; or name the folder with --data"
            raise ValueError(f"{error}{hint}") from None


def _measured(measure: Callable[[Cell, str | None], Numbers], folder: str | None, cell: Cell) -> tuple[Cell, Numbers]:
    # Ctrl-C reaches all processes of a command. The main process ends the workers, which ignore the signal.
    if multiprocessing.parent_process() is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return cell, measure(cell, folder)
    except Exception as error:
        error.add_note(f"in {cell}")
        raise

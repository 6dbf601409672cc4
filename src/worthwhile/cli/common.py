"""What commands share: the exit by Ctrl-C, names and tables on the screen, checks before long work."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

__all__ = [
    "Speaker",
    "StoppedError",
    "check_apart",
    "check_writable",
    "load_model",
    "on_cluster",
    "search_bar",
    "split_names",
    "work_bar",
]


class StoppedError(Exception):
    """Ctrl-C, with something to say about it."""


class Speaker:
    """Prints lines and tables to the standard output, or nothing if it is to be quiet."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    def __call__(self, text: str = "", wrap: bool = True) -> None:
        """Print text; paths and trees are not to be wrapped."""
        from rich.console import Console

        if not self.quiet:
            Console(highlight=False).print(text, markup=False, emoji=False, soft_wrap=not wrap)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table that fits 80 columns, its first row (the model, the best) bold."""
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text  # a cell that is not text would be read as markup: a class may be called [/x]

        if self.quiet:
            return
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        for position, heading in enumerate(headings):
            table.add_column(Text(heading), justify="right" if position else "left", no_wrap=position > 0)
        for position, row in enumerate(rows):
            table.add_row(*map(Text, row), style="bold" if position == 0 else None)
        Console(highlight=False).print(table)


def split_names(text: str | None) -> list[str]:
    """Return the names of a list such as "a, b".

    Examples
    --------
    >>> split_names("age, chol"), split_names(None)
    (['age', 'chol'], [])
    """
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def check_apart(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuse to write over what is read, or twice to the same file.

    Examples
    --------
    >>> check_apart({"--out": Path("cases.csv")}, [Path("cases.csv")])
    Traceback (most recent call last):
    ...
    ValueError: --out cases.csv: is a file to read from; name another one to write to
    """
    read = {path.resolve() for path in inputs if path is not None}
    written: set[Path] = set()
    for name, path in outputs.items():
        if path is None:
            continue
        if path.resolve() in read:
            raise ValueError(f"{name} {path}: is a file to read from; name another one to write to")
        if path.resolve() in written:
            raise ValueError(f"{name} {path}: is to be written already; name another file")
        written.add(path.resolve())


def check_writable(path: Path | None) -> None:
    """Refuse a file that could not be written, before the work is done."""
    if path is None:
        return
    folder = path.parent
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, not a file")
    if not folder.is_dir():
        raise ValueError(f"{path}: cannot be written: there is no folder {folder}")
    try:  # not what the system says of permissions: it says yes to an administrator, also where nobody can write
        with tempfile.TemporaryFile(dir=folder, prefix=".worthwhile-"):
            pass
    except OSError as error:
        raise ValueError(f"{path}: cannot be written: {error.strerror}") from None


def load_model(path: Path) -> Any:
    """Read a learner that was saved, or a tree written by hand."""
    from worthwhile.files import read_text
    from worthwhile.tree.json_format import FORMAT, read_json

    text = read_text(path)
    try:
        content = read_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if isinstance(content, dict) and content.get("format") == FORMAT:
        from worthwhile.tree.tree import Tree

        try:
            return Tree.from_json(text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    from worthwhile.learners.model_file import load

    return load(path)


def on_cluster(address: str | None) -> AbstractContextManager[Any]:
    """Run what follows on the Dask cluster with this address; None: on this machine."""
    if address is None:
        return nullcontext()
    from worthwhile.parallel.dask_cluster import cluster

    return cluster(address)


@contextmanager
def search_bar(quiet: bool, trials: int | None = None, seconds: float | None = None) -> Iterator[Callable[[Any], None]]:
    """Give a callback for learners that search: it draws, on stderr if that is a terminal, how far they are.

    Parameters
    ----------
    quiet : bool
    trials : int, optional
        Trials at most, where the learner counts them.
    seconds : float, optional
        Time limit.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn

    class Bar(BarColumn):
        """Goes by the clock, not by what the learner tells, where there is a time limit and nothing to count."""

        def render(self, task: Task) -> Any:
            if trials is None and seconds is not None and task.total == seconds:
                task.completed = min(task.elapsed or 0.0, seconds)
            return super().render(task)

    console = Console(stderr=True)
    columns = (TextColumn("searching"), Bar(bar_width=20), TextColumn("{task.fields[found]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=trials or seconds, found="")

        def tell(now: Any) -> None:
            if hasattr(now, "due"):  # a forest counts its trees
                bar.update(task, completed=now.trees, total=now.due, found=_found(now, trials))
            else:
                bar.update(task, completed=None if trials is None else now.trials, found=_found(now, trials))

        yield tell


def _found(now: Any, trials: int | None) -> str:
    """Say what a search has found so far: ICET tells its trials, ACT its look-ahead, a forest its trees."""
    if hasattr(now, "due"):
        return f"{now.trees} of at most {now.due} trees, best {now.cost:.2f} per case,"
    if trials is not None:
        return f"{now.trials} of at most {trials} trials, best {now.best:.2f} per case,"
    return f"look-ahead of {now.r}, best {now.cost:.2f} per case,"


@contextmanager
def work_bar(quiet: bool, words: str) -> Iterator[Callable[[Any], None]]:
    """Give a function that draws how much of some work is done, told as `done` of `fits`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda now: bar.update(task, completed=now.done, total=now.fits)

"""What commands share: Ctrl-C, printing, progress bars, and checks before long work."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from worthwhile.files import open_stream

__all__ = [
    "Printer",
    "StoppedError",
    "check_apart",
    "check_folder",
    "check_writable",
    "load_model",
    "on_cluster",
    "search_bar",
    "split_names",
    "terminal",
    "visible",
    "work_bar",
]

# Control characters except tab and line feed, and marks that reverse text; written as in JSON, where they stay valid.
HIDDEN = {
    code: f"\\u{code:04x}"
    for first, last in ((0, 8), (11, 31), (127, 159), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069))
    for code in range(first, last + 1)
}


class StoppedError(Exception):
    """Ctrl-C, with a message."""


def visible(text: str) -> str:
    """Return text without characters that control a terminal: names in files may contain any.

    Examples
    --------
    >>> print(visible("\\x1b[2Jage"))
    \\u001b[2Jage
    """
    return text.translate(HIDDEN)


def terminal(stderr: bool = False) -> Any:
    """Return a console of rich on which names from files are only text: no markup, no emoji, no control characters."""
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        """Replaces control characters in everything but rich's own codes."""

        def render(self, renderable: Any, options: Any = None) -> Any:
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(visible(segment.text), segment.style)

    return SafeConsole(stderr=stderr, highlight=False, markup=False, emoji=False)


class Printer:
    """Prints lines and tables to standard output; nothing if quiet."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    def __call__(self, text: str = "", wrap: bool = True) -> None:
        """Print text; paths and trees should not be wrapped."""
        if not self.quiet:
            terminal().print(visible(text), soft_wrap=not wrap)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table with its first row (the model, the best learner) in bold."""
        from worthwhile.evaluation.text_table import rich_table

        if not self.quiet:
            shown = [list(map(visible, row)) for row in rows]  # here too: the width of a column depends on it
            terminal().print(rich_table(list(map(visible, headings)), shown, highlight_first=True))


def split_names(text: str | None) -> list[str]:
    """Return the names of a list such as "a, b".

    Examples
    --------
    >>> split_names("age, chol"), split_names(None)
    (['age', 'chol'], [])
    """
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def check_apart(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuse to overwrite an input file, or to write two outputs to the same file.

    Examples
    --------
    >>> check_apart({"--out": Path("cases.csv")}, [Path("cases.csv")])
    Traceback (most recent call last):
    ...
    ValueError: --out cases.csv: is an input file; choose another name for the output
    """
    read = {path.resolve() for path in inputs if path is not None}
    written: set[Path] = set()
    for name, path in outputs.items():
        if path is None:
            continue
        if path.resolve() in read:
            raise ValueError(f"{name} {path}: is an input file; choose another name for the output")
        if path.resolve() in written:
            raise ValueError(f"{name} {path}: is already used for another output; choose another name")
        written.add(path.resolve())


def check_writable(path: Path | None) -> None:
    """Refuse a file that cannot be written, before the work starts."""
    if path is None or open_stream(path) is not None:
        return
    folder = path.parent
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, not a file")
    if not folder.is_dir():
        raise ValueError(f"{path}: cannot be written: there is no folder {folder}")
    try:  # permissions alone do not tell: an administrator has them even on a read-only disk
        with tempfile.TemporaryFile(dir=folder, prefix=".worthwhile-"):
            pass
    except OSError as error:
        raise ValueError(f"{path}: cannot be written: {error.strerror}") from None


def check_folder(path: Path, *names: str) -> None:
    """Refuse a folder that cannot be created, or files in it that cannot be written, before the work starts."""
    if path.exists():
        if not path.is_dir():
            raise ValueError(f"{path}: is a file, not a folder")
        for name in names:
            check_writable(path / name)
        return
    parent = next(folder for folder in path.parents if folder.exists())
    if not parent.is_dir():
        raise ValueError(f"{path}: cannot create the folder: {parent} is a file")
    try:
        with tempfile.TemporaryFile(dir=parent, prefix=".worthwhile-"):
            pass
    except OSError as error:
        raise ValueError(f"{path}: cannot create the folder: {error.strerror}") from None


def load_model(path: Path) -> Any:
    """Read a saved learner or a tree in JSON."""
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
    """Use the Dask cluster with this address; None: this machine."""
    if address is None:
        return nullcontext()
    from worthwhile.parallel.dask_cluster import cluster

    return cluster(address)


@contextmanager
def search_bar(quiet: bool, trials: int | None = None, seconds: float | None = None) -> Iterator[Callable[[Any], None]]:
    """Return a callback for learners that search: it draws a progress bar on stderr if that is a terminal.

    Parameters
    ----------
    quiet : bool
    trials : int, optional
        Maximum number of trials, for a learner that counts them.
    seconds : float, optional
        Time limit.
    """
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn

    class Bar(BarColumn):
        """Shows the time instead of the learner's progress if there is a time limit and nothing to count."""

        def render(self, task: Task) -> Any:
            if trials is None and seconds is not None and task.total == seconds:
                task.completed = min(task.elapsed or 0.0, seconds)
            return super().render(task)

    console = terminal(stderr=True)
    columns = (TextColumn("searching"), Bar(bar_width=20), TextColumn("{task.fields[found]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=trials or seconds, found="")

        def tell(now: Any) -> None:
            if now.total is not None:
                bar.update(task, completed=now.done, total=now.total, found=_found(now, trials))
            else:
                bar.update(task, completed=None if trials is None else now.done, found=_found(now, trials))

        yield tell


def _found(now: Any, trials: int | None) -> str:
    """Describe the state of a search: ICET counts trials, ACT the samples of its look-ahead, a forest its trees."""
    if trials is not None:
        return f"{now.done} of at most {trials} trials, best {now.cost:.2f} per case,"
    if now.total is not None:
        return f"{now.done} of at most {now.total} trees, best {now.cost:.2f} per case,"
    return f"look-ahead of {now.done}, best {now.cost:.2f} per case,"


@contextmanager
def work_bar(quiet: bool, words: str) -> Iterator[Callable[[Any], None]]:
    """Return a function that draws a progress bar from a `Progress`."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = terminal(stderr=True)
    columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda now: bar.update(task, completed=now.done, total=now.total)

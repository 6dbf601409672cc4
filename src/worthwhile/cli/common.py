"""What commands share: Ctrl-C, printing, progress bars, and checks before long work."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worthwhile.files import open_stream

if TYPE_CHECKING:
    from worthwhile.table.files import TableFile

__all__ = [
    "Printer",
    "StoppedError",
    "check_apart",
    "check_folder",
    "check_writable",
    "load_model",
    "on_cluster",
    "open_table",
    "search_bar",
    "split_names",
    "terminal",
    "time_left",
    "visible",
    "work_bar",
]

# Control characters except tab and line feed, and marks that reverse text; written as in JSON, where they stay valid.
HIDDEN = {
    code: f"\\u{code:04x}"
    for first, last in ((0, 8), (11, 31), (127, 159), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069))
    for code in range(first, last + 1)
}
LEAST = 12  # characters of a cell that remain on a narrow terminal
PATIENCE = 0.5  # seconds before a bar shows how far a file is read


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

    def warn(self, text: str) -> None:
        """Print a warning to standard error."""
        import typer

        if not self.quiet:
            typer.echo(f"worthwhile: {visible(text)}", err=True)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table with its first row (the model, the best learner) in bold."""
        from worthwhile.evaluation.text_table import rich_table

        if not self.quiet:
            shown = [list(map(visible, row)) for row in rows]  # here too: the width of a column depends on it
            terminal().print(rich_table(list(map(visible, headings)), shown, highlight_first=True))

    def listing(self, headings: Sequence[str], rows: Sequence[Sequence[str]], flexible: Sequence[str]) -> None:
        """Print a table of words, one line per row: what does not fit into the flexible columns is cut off."""
        from rich.box import SIMPLE_HEAD
        from rich.cells import cell_len, set_cell_size
        from rich.table import Table
        from rich.text import Text

        if self.quiet:
            return
        console = terminal()
        headings, rows = list(map(visible, headings)), [list(map(visible, row)) for row in rows]
        widths = [max(map(cell_len, cells)) for cells in zip(headings, *rows, strict=True)]
        excess = sum(widths) + 2 * len(widths) - console.width
        for heading in flexible:
            position = headings.index(heading)
            cut = max(min(excess, widths[position] - LEAST), 0)
            widths[position], excess = widths[position] - cut, excess - cut
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for heading, width in zip(headings, widths, strict=True):
            numbers = heading in ("values", "missing", "price")
            table.add_column(heading, no_wrap=True, width=width, justify="right" if numbers else "left")
        for row in rows:
            cells = (
                text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
                for text, width in zip(row, widths, strict=True)
            )
            table.add_row(*map(Text, cells))
        console.print(table)


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


@contextmanager
def open_table(path: Path, quiet: bool, missing: str | None, **options: str | None) -> Iterator[TableFile]:
    """Give a table to read, with a progress bar on stderr if that is a terminal and reading takes a while.

    Parameters
    ----------
    path : Path
    quiet : bool
    missing : str or None
        As given by --missing.
    options
        As for `ReadOptions`.
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from worthwhile.table.files import ReadOptions, TableFile

    console, start = terminal(stderr=True), time.monotonic()
    columns = (
        TextColumn(f"reading {path.name}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    shown = not quiet and console.is_terminal
    bar = Progress(*columns, console=console, transient=True, disable=not shown)
    task = bar.add_task("", total=None)

    def tell(done: int, total: int | None) -> None:
        if time.monotonic() - start >= PATIENCE and not bar.finished:
            bar.start()
            bar.update(task, completed=done, total=total)

    is_open = True
    given = ReadOptions(
        split_names(missing), **options, tell=lambda done, total: tell(done, total) if shown and is_open else None
    )
    try:
        yield TableFile(path, given)
    finally:
        is_open = False
        bar.stop()


def load_model(path: Path) -> Any:
    """Read a saved learner or a tree in JSON."""
    from worthwhile.file_kinds import check_model
    from worthwhile.files import read_text
    from worthwhile.tree.json_format import FORMAT, read_json

    check_model(path)
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
def search_bar(
    quiet: bool, trials: int | None = None, seconds: float | None = None, words: str = ""
) -> Iterator[Callable[[Any], None]]:
    """Draw a progress bar of a fit on stderr, if that is a terminal; return a callback that tells what a search found.

    Parameters
    ----------
    quiet : bool
    trials : int, optional
        Maximum number of trials, for a learner that counts them.
    seconds : float, optional
        Time limit.
    words : str
        What is counted, if not trials, trees or samples.
    """
    from worthwhile.learners.workload import following

    with following() as work, _bar("learning", quiet, seconds, work.share) as update:
        yield lambda now: update(None, _found(now, trials, words))


def _found(now: Any, trials: int | None, words: str = "") -> str:
    """Describe the state of a search: ICET counts trials, ACT the samples of its look-ahead, a forest its trees."""
    if trials is not None:
        return f"{now.done} of at most {trials} trials, best {now.cost:.2f} per case,"
    if now.total is None and words:
        return f"{now.done} {words}, best {now.cost:.2f} per case,"
    if now.total is not None:
        return f"{now.done} of at most {now.total} trees, best {now.cost:.2f} per case,"
    return f"look-ahead of {now.done}, best {now.cost:.2f} per case,"


@contextmanager
def work_bar(quiet: bool, words: str) -> Iterator[Callable[[Any], None]]:
    """Return a function that draws a progress bar from a `Progress`."""
    with _bar(words, quiet) as update:
        yield lambda now: update(now.done / now.total if now.total else None, f"{now.done} of {now.total or '?'},")


def time_left(share: float | None, elapsed: float, limit: float | None = None) -> str:
    """Return how long work will take that has done a share of it in some time, and ends at a limit; in words.

    Examples
    --------
    >>> time_left(0.25, 20.0), time_left(0.25, 20.0, 50.0), time_left(None, 20.0), time_left(None, 20.0, 50.0)
    ('0:01:00 left', '0:00:30 left', '', '0:00:30 left')
    """
    ends = [] if limit is None else [limit - elapsed]
    if share:
        ends.append(elapsed * (1 / share - 1))  # since the start: an estimate from the last steps alone fluctuates
    return f"{timedelta(seconds=round(max(min(ends), 0)))} left" if ends else ""


@contextmanager
def _bar(
    words: str, quiet: bool, seconds: float | None = None, look: Callable[[], float | None] = lambda: None
) -> Iterator[Callable[[float | None, str], None]]:
    """Draw a bar with percentage and time left on stderr, if that is a terminal; return how to move it.

    The function takes the share that is done (None: unknown) and a text. With a time limit, or if `look` tells how far
    the work is, the bar moves by itself.
    """
    from rich.progress import BarColumn, Progress, Task, TaskProgressColumn, TextColumn, TimeElapsedColumn

    class Bar(BarColumn):
        """Moves before the columns to its right are drawn."""

        def render(self, task: Task) -> Any:
            told, elapsed = task.fields["share"], task.elapsed or 0.0
            share = look() if told is None else told
            task.fields["left"] = time_left(share, elapsed, seconds)
            if share is not None or seconds is not None:
                task.total = 1.0
                task.completed = min(max(share or 0.0, elapsed / seconds if seconds else 0.0), 1.0)
            return super().render(task)

    console = terminal(stderr=True)
    columns = (
        TextColumn(words),
        Bar(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[found]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None, found="", share=None, left="")
        yield lambda share, found: bar.update(task, share=share, found=found)

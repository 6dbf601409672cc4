"""The files that a reproduction writes: CSV, a page with our numbers beside the published ones, and figures."""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from worthwhile import __version__
from worthwhile.files import write_file, write_text

__all__ = [
    "Breakdown",
    "Compared",
    "DotPlot",
    "MeanInterval",
    "Panel",
    "Picture",
    "ResultTable",
    "RunInfo",
    "TableEntry",
    "compared",
    "counted_once",
    "footnote",
    "geometric",
    "judgement",
    "layout",
    "mean_interval",
    "ratio_text",
    "reversed_orders",
    "write_pages",
]

NARROW = 2  # with more columns than this, the published number is below ours instead of beside it
OUTSIDE = "†"
LONG = 20  # characters of a name in a legend; with longer ones there are fewer columns
CSV_HEADER = ["table", "row", "column", "mean", "interval", "published", "published_interval", "inside"]
# Okabe and Ito's palette, distinct for all kinds of colour vision; markers and dashes work without colours.
_COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7f7f7f")
_MARKERS = "osD^vPX*<>h"  # more than colours, so that two lines of one colour differ in both


@dataclass(frozen=True)
class MeanInterval:
    """A mean with the half-width of its 95 % confidence interval (NaN for a single value; both NaN for none).

    Examples
    --------
    >>> print(MeanInterval(54.0, 9.94), MeanInterval(54.0, math.nan), MeanInterval(54.0, math.nan, digits=0))
    54.0 ± 9.9 54.0 54
    """

    mean: float
    interval: float
    digits: int = 1  # shown after the decimal point

    def __str__(self) -> str:
        mean, interval = f"{self.mean:.{self.digits}f}", f"{self.interval:.{self.digits}f}"
        return "–" if math.isnan(self.mean) else mean if math.isnan(self.interval) else f"{mean} ± {interval}"


def mean_interval(values: Sequence[float], groups: Sequence[Any] | None = None) -> MeanInterval:
    """Return the mean of values and its 95 % confidence interval.

    Of independent values it is t · sd / √n. Values of one group, such as problems of one data set, may be alike: then
    groups count, not values, and t has as many degrees of freedom as there are groups, less one.

    Parameters
    ----------
    values : sequence of float
    groups : sequence, optional
        The group of each value; none: all values are independent.

    Examples
    --------
    >>> print(mean_interval([50.0, 54.0, 58.0]))
    54.0 ± 9.9
    >>> print(mean_interval([50.0, 50.0, 54.0, 54.0, 58.0, 58.0], groups="aabbcc"))
    54.0 ± 9.9
    """
    from scipy import stats

    own = np.asarray(values, dtype=float)
    _, members = np.unique(range(len(own)) if groups is None else list(groups), return_inverse=True)
    mean, n = float(np.mean(own)), int(members.max()) + 1
    if n < 2:
        return MeanInterval(mean, math.nan)
    sums = np.bincount(members, weights=own - mean)
    error = math.sqrt(n / (n - 1) * float(sums @ sums)) / len(own)
    return MeanInterval(mean, float(stats.t.ppf(0.975, n - 1)) * error)


def geometric(values: Sequence[float], groups: Sequence[Any] | None = None) -> tuple[float, float, float]:
    """Return the geometric mean and its 95 % interval, over groups if there are any; NaN where there is none.

    Examples
    --------
    >>> [round(number, 2) for number in geometric([0.5, 1.0, 2.0])]
    [1.0, 0.18, 5.59]
    >>> [round(number, 2) for number in geometric([0.5, 0.5, 1.0, 1.0, 2.0, 2.0], groups="aabbcc")]
    [1.0, 0.18, 5.59]
    """
    if not values:
        return math.nan, math.nan, math.nan
    found = mean_interval(np.log(values).tolist(), groups)
    return math.exp(found.mean), math.exp(found.mean - found.interval), math.exp(found.mean + found.interval)


def ratio_text(ratios: Sequence[float], groups: Sequence[Any] | None = None) -> str:
    """Return the geometric mean of ratios with its 95 % interval, over groups if there are any, as pages show it.

    Examples
    --------
    >>> ratio_text([0.5, 1.0, 2.0]), ratio_text([0.5]), ratio_text([])
    ('1.000 (0.179 to 5.595)', '0.500', '–')
    """
    mean, low, high = geometric(ratios, groups)
    if math.isnan(mean):
        return "–"
    return f"{mean:.3f}" if math.isnan(low) else f"{mean:.3f} ({low:.3f} to {high:.3f})"


@dataclass(frozen=True)
class TableEntry:
    """Our number, and the published one if there is one.

    They are compared unless ours is rough, or the published one has no interval (NaN) and there is no tolerance.
    """

    ours: MeanInterval
    published: tuple[float, float] | None = None
    rough: bool = False
    digits: int = 0  # of the published number, after the point
    tolerance: float = math.nan
    part: bool = False  # rough because ours is from a part of the problems: counted apart

    @property
    def inside(self) -> bool | None:
        """Whether ours, rounded like the published one, is in the published interval; None: not compared."""
        return None if self.rough else self.within

    @property
    def within(self) -> bool | None:
        """Whether ours is in the published interval, also if it is rough; None: there is none."""
        if self.published is None or math.isnan(self.ours.mean):
            return None
        mean, interval = self.published
        width = self.tolerance if math.isnan(interval) else interval
        # 1e-9: differences of decimal fractions are not exact.
        return None if math.isnan(width) else abs(round(self.ours.mean, self.digits) - mean) <= width + 1e-9

    @property
    def only_by_rounding(self) -> bool:
        """Whether ours is in the published interval only because it is rounded like the published one."""
        if not self.inside or self.published is None:
            return False
        mean, interval = self.published
        return abs(self.ours.mean - mean) > (self.tolerance if math.isnan(interval) else interval) + 1e-9

    def published_text(self) -> str:
        """Return the published number as a page shows it."""
        if self.published is None:
            return ""
        mean, interval = self.published
        text = f"{mean:.{self.digits}f}" if round(mean, self.digits) == mean else f"{mean:g}"
        return text if math.isnan(interval) else f"{text} ± {interval:g}"


@dataclass(frozen=True)
class Breakdown:
    """A further table of numbers or text, without published numbers to compare with."""

    title: str
    columns: list[str]
    rows: Mapping[str, Sequence[float | str]]


@dataclass(frozen=True)
class Panel:
    """Lines over a common x, or each with its own x; those of `right` use the scale on the right."""

    title: str
    lines: Mapping[str, Sequence[float]]
    right: Mapping[str, Sequence[float]] = field(default_factory=dict)
    own_x: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """Panels in two columns with one legend below; `labels` gives a line the same style in every picture."""

    name: str
    title: str
    x: Sequence[float]  # on a logarithmic scale; empty: every line has its own x
    x_label: str
    y_label: str
    panels: Sequence[Panel]
    labels: Sequence[str]
    right_label: str = ""
    ticks: Sequence[float] = ()  # numbers to show along x; empty: all of x
    linear: bool = False  # x on a linear scale instead
    top: float = 100.0  # of the y scale, unless a line goes higher
    scatter: bool = False  # points without lines, and a dashed line where x and y are equal


@dataclass(frozen=True)
class DotPlot:
    """A row of dots for each name, e.g. our number and the published one."""

    name: str
    title: str
    names: Sequence[str]
    x_label: str
    series: Mapping[str, Sequence[float]]  # one number per name; NaN: no dot
    mark: float  # position of a vertical line


@dataclass(frozen=True)
class ResultTable:
    """A reproduced table with its notes, breakdowns and figures."""

    name: str
    title: str
    rows: list[str]
    columns: list[str]
    entries: dict[tuple[str, str], TableEntry]
    protocol: str = ""
    notes: list[str] = field(default_factory=list)
    breakdowns: list[Breakdown] = field(default_factory=list)
    pictures: list[Picture | DotPlot] = field(default_factory=list)
    block: int = 4  # columns beside each other; more of them start a new block
    tuned: Mapping[str, str] = field(default_factory=dict)  # by row: what its constants were set on
    reported: str = ""  # what the table is about, beside `tuned`


@dataclass(frozen=True)
class RunInfo:
    """How the tables were made."""

    command: str
    quick: bool
    cells: int
    seconds: float


def write_pages(name: str, tables: Sequence[ResultTable], folder: Path, about: RunInfo) -> list[Path]:
    """Write NAME.csv, NAME.md and the pictures of the tables; return their paths."""
    write_text(folder / f"{name}.csv", _csv(tables))
    write_text(folder / f"{name}.md", _markdown(name, tables, about))
    written = [folder / f"{name}.csv", folder / f"{name}.md"]
    for table in tables:
        for picture in table.pictures:
            path = folder / f"{picture.name}.png"
            write_file(
                path, _dots_png(picture, about.quick) if isinstance(picture, DotPlot) else _png(picture, about.quick)
            )
            written.append(path)
    return written


def _csv(tables: Sequence[ResultTable]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for table in tables:
        for (row, column), entry in table.entries.items():
            ours, (mean, interval) = entry.ours, entry.published or ("", "")
            inside = {None: "", True: "yes", False: "no"}[entry.inside]
            width = "" if math.isnan(ours.interval) else f"{ours.interval:.3f}"
            own = "" if math.isnan(ours.mean) else f"{ours.mean:.3f}"
            writer.writerow([table.name, row, column, own, width, _plain(mean), _plain(interval), inside])
    return text.getvalue()


def _plain(number: float | str) -> str:
    return number if isinstance(number, str) else "" if math.isnan(number) else f"{number:g}"


def layout(table: ResultTable) -> list[tuple[list[str], list[list[str]]]]:
    """Return a table as strings, our numbers beside the published ones: blocks of columns with headings and lines.

    Our numbers outside the published interval are marked. In a table of more than two columns the published number is
    in brackets on a second line.
    """
    wide = len(table.columns) > NARROW
    blocks = []
    for start in range(0, len(table.columns), table.block):
        columns = table.columns[start : start + table.block]
        headings = ["", *columns] if wide else ["", *(text for c in columns for text in (f"{c}: ours", "published"))]
        blocks.append((headings, [_line(table, row, columns, wide) for row in table.rows]))
    return blocks


def _line(table: ResultTable, row: str, columns: Sequence[str], wide: bool) -> list[str]:
    line = [row]
    for column in columns:
        entry = table.entries[row, column]
        ours = f"{entry.ours} {OUTSIDE}" if entry.inside is False else str(entry.ours)
        published = entry.published_text()
        line += [f"{ours}\n({published})" if published else ours] if wide else [ours, published]
    return line


def _markdown(name: str, tables: Sequence[ResultTable], about: RunInfo) -> str:
    lines = [f"# {name}", ""]
    if about.quick:
        published = any(entry.published for table in tables for entry in table.entries.values())
        lines += [
            "**This is the quick version**: few splits, few error costs, short searches. It shows the overall"
            " picture, but its numbers are rough and average over other error costs than the published ones; leave"
            " out `--quick` for the full protocol."
            if published
            else "**This is the quick version**: one or few splits of little data. Its numbers are rough; leave out"
            " `--quick` for the full protocol.",
            "",
        ]
    day = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    command = f"`{about.command}`, " if about.command else ""
    lines += [
        f"Made by {command}worthwhile {__version__}, on {day}, on a machine with {os.cpu_count()} cores:"
        f" {about.cells} cells, {about.seconds / 60:.1f} minutes of training in total.",
        "",
    ]
    for protocol in dict.fromkeys(table.protocol for table in tables if table.protocol):
        lines += [protocol, ""]
    if len(tables) > 1 and (counted := counted_once(tables)):
        lines += [counted, ""]
    if orders := reversed_orders(compared(tables)):
        lines += [orders, ""]
    for table in tables:
        lines += _section(table)
    return "\n".join(lines).rstrip() + "\n"


def _section(table: ResultTable) -> list[str]:
    lines = [f"## {table.title}", ""]
    for headings, rows in layout(table):
        lines += [*_pipes(headings, rows), ""]
    if judged := judgement(table):
        lines += [judged, ""]
    if len(table.columns) > NARROW and any(entry.published for entry in table.entries.values()):
        lines += ["In brackets: the published number.", ""]
    if table.tuned:
        rows = [[label, sets, table.reported] for label, sets in table.tuned.items()]
        heading = ["", "constants set on", "reported here on"]
        lines += ["Where tuned on, where reported on:", "", *_pipes(heading, rows, "---|"), ""]
    for note in table.notes:
        lines += [note, ""]
    for part in table.breakdowns:
        numbers = [[label, *map(_shown, values)] for label, values in part.rows.items()]
        lines += [f"{part.title}:", "", *_pipes(["", *part.columns], numbers), ""]
    for picture in table.pictures:
        lines += [f"![{picture.title}]({picture.name}.png)", ""]
    return lines


def judgement(table: ResultTable) -> str:
    """Return a sentence on how many of our means agree with the published ones; empty if none is compared.

    Examples
    --------
    >>> entries = {("a", "b"): TableEntry(MeanInterval(0.64, math.nan), (0.62, math.nan), digits=2, tolerance=0.05)}
    >>> judgement(ResultTable("t", "T", ["a"], ["b"], entries))
    '1 of 1 of our means are within 0.05 of the published ones (rounded to two decimals, as these are).'
    """
    compared = [entry for entry in table.entries.values() if entry.inside is not None]
    if not compared:
        return ""
    first = compared[0]
    rounded = ("whole numbers", "one decimal", "two decimals")[first.digits]
    inside = f"{sum(entry.inside is True for entry in compared)} of {len(compared)} of our means are"
    if math.isnan(first.tolerance):
        return f"{inside} in the published interval (rounded to {rounded}, as the published ones are)."
    return f"{inside} within {first.tolerance:g} of the published ones (rounded to {rounded}, as these are)."


def counted_once(tables: Sequence[ResultTable]) -> str:
    """Return how many published averages ours agree with, those that several tables repeat counted once.

    Averages of which ours is from a part of the problems are counted apart.

    Examples
    --------
    >>> entries = {("a", "b"): TableEntry(MeanInterval(20.8, 1.0), (26, 5))}
    >>> table = ResultTable("t", "T", ["a"], ["b"], entries)
    >>> print(counted_once([table, table]).split("; ")[1])
    only by rounding: a, b in T (20.8, published 26 ± 5).
    """
    whole, part = (_distinct(tables, part) for part in (False, True))
    texts = []
    if whole:
        inside = sum(entry.within is True for entry in whole.values())
        text = (
            f"Counted once, since tables repeat some, {inside} of {len(whole)} published averages are reproduced within"
            " their intervals"
        )
        barely = {place: entry for place, entry in whole.items() if entry.only_by_rounding}
        outside = {place: entry for place, entry in whole.items() if not entry.within}
        text += f"; only by rounding: {_places(barely)}" if barely else ""
        texts.append(f"{text}; not: {_places(outside)}." if outside else f"{text}.")
    if part:
        inside = sum(entry.within is True for entry in part.values())
        outside = {place: entry for place, entry in part.items() if not entry.within}
        text = (
            f"Of {len(part)} more, of which ours are from a part of the problems, {inside} are within the published"
            " intervals"
        )
        texts.append(f"{text}; not: {_places(outside)}." if outside else f"{text}.")
    return " ".join(texts)


@dataclass(frozen=True)
class Compared:
    """A number of ours beside the published one, and where both stand."""

    table: str
    row: str
    column: str
    ours: float
    published: float


def reversed_orders(numbers: Sequence[Compared]) -> str:
    """Return in how many pairs of rows of a column the order is not the published one, and in which.

    Pairs that the paper prints with equal numbers have no order. A pair that several tables repeat counts once.

    Examples
    --------
    >>> some = [Compared("T 1", "a", "x", 5.0, 4), Compared("T 1", "b", "x", 3.0, 6), Compared("T 1", "c", "x", 9.0, 9)]
    >>> reversed_orders([*some, *some]).splitlines()[-1]
    '- T 1, x: b 3.0, a 5.0 (published 6, 4)'
    """
    by_column: dict[tuple[str, str], list[Compared]] = {}
    for number in numbers:
        by_column.setdefault((number.table, number.column), []).append(number)
    n_pairs, other = 0, list[str]()
    seen = set[frozenset[tuple[str, float, float]]]()
    for own in by_column.values():
        for one, two in itertools.combinations(own, 2):
            key = frozenset((each.row, round(each.ours, 3), each.published) for each in (one, two))
            if one.published == two.published or key in seen:
                continue
            seen.add(key)
            n_pairs += 1
            first, second = sorted((one, two), key=lambda each: each.ours)
            if first.published > second.published:
                other.append(
                    f"- {first.table}, {first.column}: {first.row} {first.ours:.1f}, {second.row} {second.ours:.1f}"
                    f" (published {first.published:g}, {second.published:g})"
                )
    if not n_pairs:
        return ""
    text = (
        f"Of {n_pairs} pairs of rows of a column that the paper prints with different averages, each counted once,"
        f" {len(other)} have the other"
        " order here"
    )
    return "\n".join([f"{text}:", "", *other]) if other else f"{text}."


def compared(tables: Sequence[ResultTable]) -> list[Compared]:
    """Return the averages that have a published interval, in the order of the tables."""
    return [
        Compared(table.title.split(":")[0], row, column, entry.ours.mean, entry.published[0])
        for table in tables
        for (row, column), entry in table.entries.items()
        if entry.published is not None and entry.inside is not None and math.isnan(entry.tolerance)
    ]


def _distinct(tables: Sequence[ResultTable], part: bool) -> dict[str, TableEntry]:
    """Return the entries that have a published interval, by a text that says where they are first; each once."""
    found = {
        (round(entry.ours.mean, 9), entry.published): (f"{row}, {column} in {table.title.split(':')[0]}", entry)
        for table in reversed(tables)  # the first table is kept
        for (row, column), entry in reversed(table.entries.items())
        if entry.within is not None and math.isnan(entry.tolerance) and (entry.part if part else not entry.rough)
    }
    return dict(reversed(found.values()))


def _places(entries: Mapping[str, TableEntry]) -> str:
    return "; ".join(
        f"{place} ({entry.ours.mean:.1f}, published {entry.published_text()})" for place, entry in entries.items()
    )


def footnote(table: ResultTable) -> str:
    """Return the explanation of the mark in a table; empty if no number is marked."""
    marked = [entry for entry in table.entries.values() if entry.inside is False]
    if not marked:
        return ""
    near = marked[0].tolerance
    where = "outside the published interval" if math.isnan(near) else f"further than {near:g} from the published number"
    return f"{OUTSIDE} {where}"


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else "–" if math.isnan(value) else f"{value:.1f}"


def _pipes(headings: Sequence[str], rows: Sequence[Sequence[str]], column: str = "---:|") -> list[str]:
    texts = [[cell.replace("\n", "<br>") for cell in row] for row in (headings, *rows)]
    lines = ["| " + " | ".join(row) + " |" for row in texts]
    return [lines[0], "|---|" + column * (len(headings) - 1), *lines[1:]]


def _png(picture: Picture, quick: bool) -> bytes:
    """Draw without pyplot, which may need a display."""
    from matplotlib.figure import Figure

    rows = math.ceil(len(picture.panels) / 2)
    figure = Figure(figsize=(8.5, 2.9 * rows + 1.0), layout="constrained")
    axes = figure.subplots(rows, 2, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for ax, panel in zip(axes, picture.panels, strict=False):
        handles |= _draw(ax, picture, panel)
    for ax in axes[len(picture.panels) :]:
        ax.axis("off")
    return _finished(figure, picture.title, quick, handles)


def _finished(figure: Any, title: str, quick: bool, handles: Mapping[str, Any], most: int = 4) -> bytes:
    """Add title and legend to a figure and return its picture."""
    figure.suptitle(title + (" (quick version)" if quick else ""), fontsize=11)
    most -= max(map(len, handles), default=0) > LONG  # as many as fit
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=min(most, len(handles)), frameon=False
    )
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120, metadata={"Software": None})
    return content.getvalue()


def _dots_png(picture: DotPlot, quick: bool) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, max(0.26 * len(picture.names) + 1.6, 3.0)), layout="constrained")
    ax = figure.subplots()
    places = range(len(picture.names))
    ax.set_yticks(places, picture.names)
    ax.invert_yaxis()  # the first name on top
    ax.axvline(picture.mark, color="0.6", linewidth=0.8)
    handles: dict[str, Any] = {}
    for n, (label, values) in enumerate(picture.series.items()):
        # Later series are hollow, so that the first one stays visible under an equal number.
        (handles[label],) = ax.plot(
            values,
            places,
            linestyle="",
            color=_COLOURS[n % len(_COLOURS)],
            marker=_MARKERS[n % len(_MARKERS)],
            markersize=6,
            markerfacecolor=_COLOURS[n % len(_COLOURS)] if n == 0 else "none",
        )
    ax.set_xlim(left=0)
    ax.set_xlabel(picture.x_label, fontsize=8)
    ax.tick_params(labelsize=8)
    ax.grid(axis="both", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    return _finished(figure, picture.title, quick, handles, most=2 if len(handles) > 3 else 3)


def _draw(ax: Any, picture: Picture, panel: Panel) -> dict[str, Any]:
    ax.set_title(panel.title, fontsize=10)
    ax.set_xscale("linear" if picture.linear else "log")
    if ticks := picture.ticks or picture.x:
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel(picture.x_label, fontsize=8)
    ax.set_ylabel(picture.y_label, fontsize=8)
    ax.tick_params(labelsize=8)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    axes = [(ax, panel.lines)]
    if panel.right:
        other = ax.twinx()
        other.set_ylabel(picture.right_label, fontsize=8)
        other.tick_params(labelsize=8)
        axes.append((other, panel.right))
    handles: dict[str, Any] = {}
    if picture.scatter:
        ax.axline((0, 0), slope=1, color="0.5", linewidth=0.8, linestyle="--")
    for where, lines in axes:
        for label, values in lines.items():
            n = picture.labels.index(label)
            (handles[label],) = where.plot(
                panel.own_x.get(label, picture.x),
                values,
                color=_COLOURS[n % len(_COLOURS)],
                marker=_MARKERS[n % len(_MARKERS)],
                markersize=4,
                linewidth=1.3,
                linestyle="" if picture.scatter else "-" if n < len(_COLOURS) else "--",
            )
        highest = max((value for values in lines.values() for value in values), default=0.0)
        # The scale of the papers is 0 to 100; it grows for higher costs.
        where.set_ylim(0, max(picture.top if not panel.right else 1.0, highest * 1.05))
    return handles

"""Write the tables of the result pages, and the page that opens them, from what the experiments have written.

    python docs/write_results.py tables build/esmeir.md    # put these tables into docs/results/esmeir.md
    python docs/write_results.py tables build/turney-table6.md --into turney    # these only; keep the others
    python docs/write_results.py index                     # is the page that opens the results current?
    python docs/write_results.py index --write             # write it, and its picture
    python docs/write_results.py orders --write            # which orders of Turney's tables are not reproduced

A result page has a head that somebody wrote, and below "## The tables" what ``worthwhile reproduce`` has written. The
page docs/results/index.md has one table, each line of which is taken from such a page or its CSV file.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from worthwhile.experiments.page import Compared, geometric, reversed_orders
from worthwhile.experiments.tuning import SET_ON

RESULTS = Path(__file__).resolve().parent / "results"
INDEX = RESULTS / "index.md"
PICTURE = "overview.png"
TABLES = "## The tables\n"
BEGIN, END = "<!-- overview: written by docs/write_results.py -->\n", "<!-- end of the overview -->\n"
_RATIO = re.compile(r"(\d+\.\d+)(?: \((\d+\.\d+) to (\d+\.\d+)\))?")


# ---- reading result files


def rows_below(page: str, title: str) -> dict[str, dict[str, str]]:
    """Return a table of a page, by row and column: the first one below a line that contains `title`.

    Examples
    --------
    >>> rows_below("About:\\n\\n| data | a | b |\\n|---|---:|---:|\\n| x | 1 | **2** |\\n", "About")
    {'x': {'a': '1', 'b': '2'}}
    """
    lines = iter(page.splitlines())
    for line in lines:
        if title in line and not line.startswith("|"):
            break
    else:
        raise ValueError(f"the page has no line with {title!r}")
    found: dict[str, dict[str, str]] = {}
    headings: list[str] = []
    for line in lines:
        if not line.startswith("|"):
            if headings:
                break
            continue
        cells = [cell.strip().replace("*", "") for cell in line.strip().strip("|").split("|")]
        if not headings:
            headings = cells
        elif not set(line) <= set("|-: "):
            found[cells[0]] = dict(zip(headings[1:], cells[1:], strict=True))
    return found


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Return the lines of the CSV file of a reproduction."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def csv_means(path: Path) -> dict[tuple[str, str, str], float]:
    """Return our means by table, row and column, from the CSV file of a reproduction."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (line["table"], line["row"], line["column"]): float(line["mean"])
            for line in csv.DictReader(file)
            if line["mean"]
        }


# ---- the overview


@dataclass(frozen=True)
class Ratio:
    """A ratio of costs with its 95 % interval; NaN: none."""

    mean: float
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def read(cls, text: str) -> Ratio:
        """Read what `ratio_text` has written.

        Examples
        --------
        >>> Ratio.read("0.971 (0.950 to 0.992)")
        Ratio(mean=0.971, low=0.95, high=0.992)
        """
        if not (found := _RATIO.fullmatch(text.strip())):
            raise ValueError(f"{text!r} is not a ratio")
        return cls(*(math.nan if part is None else float(part) for part in found.groups()))

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if math.isnan(self.low) else f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"

    @property
    def side(self) -> str:
        """Whether the interval is below 1, above 1, or contains it; empty without an interval."""
        if math.isnan(self.low):
            return ""
        return "below" if self.high < 1 else "above" if self.low > 1 else "around"


@dataclass(frozen=True)
class Line:
    """A line of the overview: a learner of ours against the best single rival of a family of problems."""

    family: str
    page: str
    problems: str
    ours: str
    rival: str
    ratio: Ratio
    over: str  # what the interval is over
    beside: str  # what is not reached, and what must be known to read the line

    @property
    def tuned(self) -> str:
        """Where the constants of ours were set."""
        return "; ".join(SET_ON[name] for name in CLASSES[self.ours])


def strongest(ratios: Mapping[str, str]) -> tuple[str, Ratio]:
    """Return the rival against which the ratio is largest.

    Examples
    --------
    >>> strongest({"C4.5": "0.500", "DTMC": "0.900 (0.800 to 1.000)", "ICET": "–"})
    ('DTMC', Ratio(mean=0.9, low=0.8, high=1.0))
    """
    read = {name: Ratio.read(text) for name, text in ratios.items() if text != "–"}
    best = max(read, key=lambda name: read[name].mean)
    return best, read[best]


def _page(name: str) -> str:
    return (RESULTS / name).read_text(encoding="utf-8")


# The learners of the overview.
CLASSES = {
    "AutoClassifier": ["AutoClassifier"],
    "ACT, refined": ["ACTClassifier"],
    "OptimalClassifier": ["OptimalClassifier"],
    "cascade": ["CascadeClassifier"],
    "ours, forest or cascade": ["BudgetForestClassifier", "CascadeClassifier"],
}


def _turney() -> Iterator[Line]:
    ratios = rows_below(_page("turney.md"), "cost of our rows by that of the others")
    for ours in ("AutoClassifier", "ACT, refined"):
        if ours in ratios:
            rival, ratio = strongest(ratios[ours])
            problems = "five medical problems with delays and groups, seven error costs"
            beside = "constants set on other splits of these five; four splits; the pick knows prices and groups"
            yield Line("Turney (1995), table 5", "turney.md", problems, ours, rival, ratio, "4 splits", beside)


def _esmeir() -> Iterator[Line]:
    ratios = rows_below(_page("esmeir.md"), "Cost of our rows by that of the others")
    others = "the default has not run here; some constants were set with a look at car, vote and others of these"
    for part, problems, over, beside in (
        ("80 others", "80 problems of 20 data sets, five error costs", "20 data sets", others),
        (
            "Turney's 25",
            "25 problems of Turney's data sets",
            "5 data sets",
            "constants were set on other splits of these",
        ),
    ):
        rival, ratio = strongest(ratios[f"ACT, refined, {part}"])
        family = "Esmeir & Markovitch (2008), table 1"
        yield Line(family, "esmeir.md", problems, "ACT, refined", rival, ratio, over, beside)


def _streed() -> Iterator[Line]:
    title = "OptimalClassifier against each row"
    page = _page("streed-costs.md")
    rows = rows_below(page, title)
    over = re.search(rf"{title}.*interval over (?:the )?([a-z ]+)", page)
    rival, ratio = strongest({name: row["ratio"] for name, row in rows.items() if name.startswith("pystreed")})
    problems = "up to 15 problems at three levels of error costs"
    beside = "a part of the splits; the default has not run here"
    assert over is not None
    yield Line("pystreed's benchmark", "streed-costs.md", problems, "OptimalClassifier", rival, ratio, over[1], beside)


def _ting() -> Iterator[Line]:
    some: dict[str, dict[str, str]] = {}
    for name, row in rows_below(_page("ting-boosting.md"), "The first").items():
        if not name.startswith("mean"):
            some[name] = row
            continue
        rivals = [rival for rival in row if rival not in ("cascade", "boosting, least cost") and row[rival] != "–"]
        ratios = {
            rival: geometric([float(own["cascade"]) / float(own[rival]) for own in some.values()]) for rival in rivals
        }
        rival = max(ratios, key=lambda each: ratios[each][0])
        low, high = rounding([(own["cascade"], own[rival]) for own in some.values()])
        kind = name.removeprefix("mean, ").split(" (")[0]
        problems = f"error costs only, {len(some)} data sets of {kind}"
        beside = (
            "five trials; settings of the cascade were chosen on some of these sets; made from numbers with two digits,"
            f" so it may be {low:.3f} to {high:.3f}"
        )
        ratio, over = Ratio(*ratios[rival]), f"{len(some)} data sets"
        yield Line("Ting (1998)", "ting-boosting.md", problems, "cascade", rival, ratio, over, beside)
        some = {}


def rounding(pairs: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """Return between what the geometric mean of ratios of rounded numbers may be.

    Examples
    --------
    >>> [round(end, 3) for end in rounding([("0.50", "1.00")])]
    [0.493, 0.508]
    """

    def ends(text: str) -> tuple[float, float]:
        half = 0.5 * 10 ** -len(text.partition(".")[2])
        return float(text) - half, float(text) + half

    logs = [
        [math.log(own / other) for own, other in zip(ends(one), reversed(ends(two)), strict=True)] for one, two in pairs
    ]
    low, high = (math.exp(float(np.mean(each))) for each in zip(*logs, strict=True))
    return low, high


def _nan() -> Iterator[Line]:
    errors: dict[str, dict[str, list[float]]] = {}
    for (table, row, _), error in csv_means(RESULTS / "nan.csv").items():
        if table == "nan-figure4":
            problem, learner = row.split(": ")
            errors.setdefault(problem, {}).setdefault(learner, []).append(error)
    ours = "ours, forest or cascade"  # at each budget the one with fewer errors on validation cases
    means = {problem: {name: float(np.mean(own)) for name, own in rows.items()} for problem, rows in errors.items()}
    rivals = set.intersection(*(set(rows) for rows in means.values())) - {
        ours,
        "BudgetForest, adaptive",
        "Cascade",
        "BudgetRF",
    }
    ratios = {name: geometric([rows[ours] / rows[name] for rows in means.values()]) for name in sorted(rivals)}
    rival = max(ratios, key=lambda name: ratios[name][0])
    problems, over = f"errors at ten budgets, {len(means)} problems", f"{len(means)} data sets"
    beside = (
        "ten splits of at most 3,000 training cases; parts set on these very data sets, some after a look at test"
        f" cases; behind at some budgets on {behind(errors, rivals, ours)}"
    )
    ratio, family = Ratio(*ratios[rival]), "Nan, Wang & Saligrama (2015), figure 4"
    yield Line(family, "nan.md", problems, ours, rival, ratio, over, beside)


def behind(errors: Mapping[str, Mapping[str, Sequence[float]]], rivals: Iterable[str], ours: str) -> str:
    """Return where the best rival, chosen with hindsight, makes fewer errors at some budgets, and by how much.

    Examples
    --------
    >>> behind({"x": {"ours": [3.0, 2.0], "a": [2.9, 3.0]}, "y": {"ours": [1.0, 1.0], "a": [2.0, 2.0]}}, ["a"], "ours")
    'x (1 of 2, by at most 0.10 points)'
    """
    texts = []
    for problem, rows in errors.items():
        best = np.min([rows[rival] for rival in rivals], axis=0)
        gaps = np.round(np.array(rows[ours]) - best, 3)
        if (gaps > 0).any():
            where = f"{(gaps > 0).sum()} of {len(gaps)}, by at most {gaps.max():.2f} points"
            texts.append(f"{problem.split(',')[0]} ({where})")
    return ", ".join(texts) or "none"


CELLS = RESULTS.parents[1] / "benchmarks" / "cells"


def default_costs() -> dict[tuple[str, str], dict[str, float]]:
    """Return what learners cost on the problems of the page of the default, by data set and level of error costs."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for line in (CELLS / "default.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault((row["set"], f"{row['ratio']:g}"), {}).setdefault(row["learner"], []).append(row["cost"])
    return {
        problem: {name: float(np.mean(costs)) for name, costs in learners.items()}
        for problem, learners in found.items()
    }


def default_means() -> dict[str, float]:
    """Return the geometric mean of what each learner costs on the problems of the page of the default."""
    costs = list(default_costs().values())
    return {name: geometric([row[name] for row in costs])[0] for name in costs[0]}


OWN_LEARNERS = ("auto", "cascade", "dtmc", "eg2", "budget-forest", "act", "icet", "optimal")


def _default() -> Iterator[Line]:
    costs = default_costs()
    sets = [data for data, _ in costs]
    rivals = [name for name in next(iter(costs.values())) if name not in OWN_LEARNERS]
    ratios = {name: geometric([row["auto"] / row[name] for row in costs.values()], sets) for name in rivals}
    rival = max(ratios, key=lambda name: ratios[name][0])
    problems = f"total cost, {len(set(sets))} data sets, random prices, errors at 0.5, 5 and 50 times all prices"
    hindsight = [row["auto"] / min(row[name] for name in rivals) for row in costs.values()]
    above = sum(ratio > 1.1 for ratio in hindsight)
    beside = (
        "two splits; something was looked at on all sets but mushroom;"
        f" against the best rival of each problem, chosen with hindsight, {Ratio(*geometric(hindsight, sets))};"
        f" more than 10 % above it on {above} of {len(hindsight)}"
    )
    over = f"{len(set(sets))} data sets"
    yield Line("The default", "default.md", problems, "AutoClassifier", rival, Ratio(*ratios[rival]), over, beside)


def overview() -> list[Line]:
    """Return the lines of the overview."""
    return [*_default(), *_turney(), *_esmeir(), *_streed(), *_ting(), *_nan()]


def table(lines: Sequence[Line]) -> str:
    """Return the overview as Markdown."""
    heading = (
        "family",
        "reported on",
        "ours",
        "best single rival",
        "ours by the rival, geometric mean (95 % interval, over)",
        "beside it",
        "constants of ours were set on",
    )
    rows = [
        (
            f"[{line.family}]({line.page})",
            line.problems,
            line.ours,
            line.rival,
            f"{line.ratio}, {line.over}",
            line.beside,
            line.tuned,
        )
        for line in lines
    ]
    texts = ["| " + " | ".join(row) + " |" for row in (heading, *rows)]
    return "\n".join([texts[0], "|---|---|---|---|---:|---|---|", *texts[1:]]) + "\n"


def in_short(lines: Sequence[Line]) -> str:
    """Return which intervals exclude 1, and what else is in the files, as sentences."""

    def named(side: str) -> str:
        some = [f"{line.ours} against {line.rival} on {line.problems} ({line.family})" for line in lines_of(side)]
        return "; ".join(some) or "none"

    def lines_of(side: str) -> list[Line]:
        return [line for line in lines if line.ratio.side == side]

    means = default_means()
    most = {"EG2": "eg2", "a forest on all tests": "all tests + forest", "no test": "no test"}
    others = ", ".join(f"{name} {means[key]:.1f}" for name, key in most.items())
    n_sets = len({data for data, _ in default_costs()})
    return "\n".join(
        [
            "**In short:**",
            "",
            f"- **Less, and the interval excludes 1:** {named('below')}.",
            f"- **More, and the interval excludes 1:** {named('above')}.",
            f"- **It may be chance** (the interval contains 1): {named('around')}.",
            f"- Against what is simple: on the {n_sets} data sets of the first line, in percent of the standard cost"
            f" and geometric mean, AutoClassifier costs {means['auto']:.1f}, {others}.",
            f"- {ranking()}",
        ]
    )


def ranking() -> str:
    """Return at how many budgets LightGBM's penalties rank better than our forest."""
    found: dict[str, list[float]] = {}
    for (table, row, _), precision in csv_means(RESULTS / "nan.csv").items():
        if table == "nan-ranking":
            found.setdefault(row, []).append(precision)
    [ours] = [row for name, row in found.items() if name.endswith("BudgetForest, adaptive")]
    [theirs] = [row for name, row in found.items() if name.endswith("CEGB, lazy")]
    better = sum(one > other for one, other in zip(theirs, ours, strict=True))
    return (
        f"In [rankings](nan.md) made of credit default, one split, LightGBM's penalties for tests are better than our"
        f" forest at {better} of {len(ours)} budgets."
    )


def written(text: str, lines: Sequence[Line]) -> str:
    """Return the page with a current overview."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    picture = f"![Cost of ours by that of the best single rival, with 95 % intervals]({PICTURE})\n"
    return f"{before}{BEGIN}\n{table(lines)}\n{picture}\n{in_short(lines)}\n\n{END}{after}"


def draw(lines: Sequence[Line], path: Path) -> None:
    """Draw the ratios with their intervals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 0.5 * len(lines) + 1.2), layout="constrained")
    ax = figure.subplots()
    places = range(len(lines))
    ax.axvline(1.0, color="0.6", linewidth=0.8)
    for place, line in zip(places, lines, strict=True):
        ratio = line.ratio
        if not math.isnan(ratio.low):
            ax.plot([ratio.low, ratio.high], [place, place], color="#0072B2", linewidth=1.5)
        ax.plot([ratio.mean], [place], "o", color="#0072B2", markersize=6)
    ax.set_yticks(places, [f"{line.family}:\n{line.ours} / {line.rival}" for line in lines], fontsize=7)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ticks = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("cost (Nan et al.: error) of ours by that of the best single rival; below 1 is less", fontsize=8)
    ax.tick_params(labelsize=8)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    figure.savefig(path, format="png", dpi=120, metadata={"Software": None})


# ---- the tables of a page


def with_tables(page: str, made: str) -> str:
    """Return a page whose tables are those of another one, which ``worthwhile reproduce`` has made.

    Examples
    --------
    >>> with_tables("Head.\\n\\n## The tables\\n\\nold\\n", "# x\\n\\nMade by y.\\n\\nnew\\n")
    'Head.\\n\\n## The tables\\n\\nnew\\n'
    """
    head, _, _ = page.partition(TABLES)
    _, _, tables = made.partition("\nMade by ")
    return f"{head}{TABLES}\n{tables.split(chr(10), 1)[1].lstrip()}"


def sections(tables: str) -> dict[str, str]:
    """Return the parts of a text that begin with "## ", by their titles; the text before the first one is dropped.

    Examples
    --------
    >>> sections("Protocol.\\n\\n## One\\n\\na\\n\\n## Two\\n\\nb\\n")
    {'One': 'a', 'Two': 'b'}
    """
    found = {}
    for part in re.split(r"^## ", tables, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        found[title.strip()] = text.strip()
    return found


def _number(title: str) -> tuple[str, int] | None:
    found = re.match(r"(Table|Figure) (\d+)", title)
    return (found[1], int(found[2])) if found else None


def with_some_tables(page: str, made: str) -> str:
    """Return a page with the tables of another one, in the place of those that begin alike, or before the next one.

    Titles may change: "Table 6" is the same table, whatever follows.

    Examples
    --------
    >>> page = "Head.\\n\\n## The tables\\n\\nHow.\\n\\n## Table 5: old\\n\\na\\n\\n## Table 7: x\\n\\nb\\n"
    >>> print(with_some_tables(page, "# m\\n\\nMade by y.\\n\\n## Table 5: new\\n\\nc\\n\\n## Table 6: z\\n\\nd\\n"))
    Head.
    <BLANKLINE>
    ## The tables
    <BLANKLINE>
    How.
    <BLANKLINE>
    ## Table 5: new
    <BLANKLINE>
    c
    <BLANKLINE>
    ## Table 6: z
    <BLANKLINE>
    d
    <BLANKLINE>
    ## Table 7: x
    <BLANKLINE>
    b
    <BLANKLINE>
    """
    head, _, tables = page.partition(TABLES)
    before = tables.split("## ", 1)[0].strip()
    kept = sections(tables)
    for title, text in sections(made).items():
        titles, number = list(kept), _number(title)
        places = [
            place for place, other in enumerate(titles) if other == title or (number and _number(other) == number)
        ]
        after = [
            place
            for place, other in enumerate(titles)
            if number and (there := _number(other)) and there[0] == number[0] and there[1] > number[1]
        ]
        pairs = list(kept.items())
        if places:
            pairs[places[0]] = (title, text)
        else:
            pairs.insert(after[0] if after else len(pairs), (title, text))
        kept = dict(pairs)
    parts = [before, *(f"## {title}\n\n{text}" for title, text in kept.items())]
    return f"{head}{TABLES}\n" + "\n\n".join(part for part in parts if part) + "\n"


def with_some_rows(old: str, new: str) -> str:
    """Return a CSV file whose lines of the tables that another one has are those of the other.

    Examples
    --------
    >>> with_some_rows("table,row\\na,1\\nb,2\\n", "table,row\\na,3\\nc,4\\n")
    'table,row\\nb,2\\na,3\\nc,4\\n'
    """
    heading, *lines = new.splitlines(keepends=True)
    if heading != old.splitlines(keepends=True)[0]:
        raise ValueError("the two CSV files have different columns")
    tables = {line.split(",", 1)[0] for line in lines}
    kept = [line for line in old.splitlines(keepends=True)[1:] if line.split(",", 1)[0] not in tables]
    return "".join([heading, *kept, *lines])


# ---- orders that are not reproduced

ORDERS = ("<!-- orders: written by docs/write_results.py -->\n", "<!-- end of the orders -->\n")
AVERAGES = re.compile(r"turney-(table)(\d+)")


def with_orders(page: str, csv_file: str) -> str:
    """Return the page of Turney's experiments with the orders that are not reproduced, from its CSV file."""
    numbers = [
        Compared(f"Table {found[2]}", line["row"], line["column"], float(line["mean"]), float(line["published"]))
        for line in csv.DictReader(csv_file.splitlines())
        if (found := AVERAGES.fullmatch(line["table"])) and line["mean"] and line["published_interval"]
    ]
    before, rest = page.split(ORDERS[0])
    _, after = rest.split(ORDERS[1])
    return f"{before}{ORDERS[0]}\n{reversed_orders(numbers)}\n\n{ORDERS[1]}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    tables = commands.add_parser("tables", help="put the tables of a reproduction into its result page")
    tables.add_argument("made", type=Path, nargs="+", help="pages that `worthwhile reproduce` has written")
    tables.add_argument(
        "--into", metavar="PAGE", help="replace these tables of a page, such as turney; keep the others"
    )
    index = commands.add_parser("index", help="write the page that opens the results")
    index.add_argument("--write", action="store_true")
    orders = commands.add_parser("orders", help="write which orders of Turney's tables are not reproduced")
    orders.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.command == "orders":
        page = RESULTS / "turney.md"
        old = page.read_text(encoding="utf-8")
        new = with_orders(old, page.with_suffix(".csv").read_text(encoding="utf-8"))
        if options.write:
            page.write_text(new, "utf-8")
        elif new != old:
            print("docs/results/turney.md is not current; run: python docs/write_results.py orders --write")
            return 1
        return 0
    if options.command == "tables":
        for made in options.made:
            page = RESULTS / f"{options.into or made.stem}.md"
            merge = with_some_tables if options.into else with_tables
            page.write_text(merge(page.read_text(encoding="utf-8"), made.read_text(encoding="utf-8")), "utf-8")
            rows, known = made.with_suffix(".csv").read_text(encoding="utf-8"), page.with_suffix(".csv")
            if options.into:
                rows = with_some_rows(known.read_text(encoding="utf-8"), rows)
            known.write_text(rows, "utf-8")
            for other in made.parent.glob("*.png"):
                if other.name.startswith(page.stem):
                    shutil.copyfile(other, RESULTS / other.name)
        return 0
    lines, text = overview(), INDEX.read_text(encoding="utf-8")
    if options.write:
        INDEX.write_text(written(text, lines), "utf-8")
        draw(lines, RESULTS / PICTURE)
        return 0
    if text != written(text, lines):
        print("docs/results/index.md is not current; run: python docs/write_results.py index --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

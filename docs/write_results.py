"""Write the tables of the result pages, and the page that opens them, from what the experiments have written.

    python docs/write_results.py tables build/esmeir.md    # put these tables into docs/results/esmeir.md
    python docs/write_results.py tables build/turney-table6.md --into turney    # these only; keep the others
    python docs/write_results.py index                     # is the page that opens the results current?
    python docs/write_results.py index --write             # write it, and its picture

A result page has a head that somebody wrote, and below "## The tables" what ``worthwhile reproduce`` has written. The
page docs/results/index.md has one table, each line of which is taken from such a page or its CSV file.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from worthwhile.experiments.page import geometric
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
        return f"{self.mean:.2f}" if math.isnan(self.low) else f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Line:
    """A line of the overview: a learner of ours against the best single rival of a family of problems."""

    family: str
    page: str
    problems: str
    ours: str
    rival: str
    ratio: Ratio
    beside: str  # what is not reached, and what must be known to read the line

    @property
    def tuned(self) -> str:
        """Where the constants of ours were set."""
        return SET_ON[CLASSES[self.ours]]


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
    "AutoClassifier": "AutoClassifier",
    "ACT, refined": "ACTClassifier",
    "OptimalClassifier": "OptimalClassifier",
    "cascade": "CascadeClassifier",
    "ours, forest or cascade": "BudgetForestClassifier",
}


def _turney() -> Iterator[Line]:
    ratios = rows_below(_page("turney.md"), "cost of our rows by that of the others")
    for ours in ("AutoClassifier", "ACT, refined"):
        if ours in ratios:
            rival, ratio = strongest(ratios[ours])
            problems = "five medical problems with delays and groups, seven error costs; interval over the splits"
            beside = "constants set on other splits of these five; four splits; the pick knows prices and groups"
            yield Line("Turney (1995), table 5", "turney.md", problems, ours, rival, ratio, beside)


def _esmeir() -> Iterator[Line]:
    ratios = rows_below(_page("esmeir.md"), "Cost of our rows by that of the others")
    for part, problems, beside in (
        ("80 others", "80 problems of 20 data sets, five error costs", "the default has not run here"),
        ("Turney's 25", "25 problems of Turney's data sets", "constants were set on other splits of these"),
    ):
        rival, ratio = strongest(ratios[f"ACT, refined, {part}"])
        yield Line("Esmeir & Markovitch (2008), table 1", "esmeir.md", problems, "ACT, refined", rival, ratio, beside)


def _streed() -> Iterator[Line]:
    rows = rows_below(_page("streed-costs.md"), "OptimalClassifier against each row")
    rival, ratio = strongest({name: row["ratio"] for name, row in rows.items() if name.startswith("pystreed")})
    problems = "up to 15 problems at three levels of error costs"
    beside = "a part of the splits; the default has not run here"
    yield Line("pystreed's benchmark", "streed-costs.md", problems, "OptimalClassifier", rival, ratio, beside)


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
        kind = name.removeprefix("mean, ").split(" (")[0]
        problems = f"error costs only, {len(some)} data sets of {kind}"
        beside = "five trials; settings of the cascade were chosen on some of these sets"
        yield Line("Ting (1998)", "ting-boosting.md", problems, "cascade", rival, Ratio(*ratios[rival]), beside)
        some = {}


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
    problems = f"errors at ten budgets, {len(means)} problems"
    beside = (
        "ten splits; parts set on these very data sets; behind by at most 0.11 points at one budget on adult and three"
        " on credit default"
    )
    yield Line("Nan, Wang & Saligrama (2015), figure 4", "nan.md", problems, ours, rival, Ratio(*ratios[rival]), beside)


def default_costs() -> dict[tuple[str, str], dict[str, float]]:
    """Return what learners cost on the problems of the page of the default, by data set and level of error costs."""
    found = {}
    headings: list[str] = []
    for line in _page("default.md").splitlines():
        cells = [cell.strip().replace("*", "") for cell in line.strip().strip("|").split("|")]
        if line.startswith("| data |"):
            headings = cells
        elif headings and line.startswith("|") and cells[1] and not cells[1].startswith("-"):
            found[cells[0], cells[1]] = {
                name: float(text) for name, text in zip(headings[2:], cells[2:], strict=True) if text != "–"
            }
    return found


OWN_LEARNERS = ("auto", "cascade", "dtmc", "eg2", "budget-forest", "act", "icet", "optimal")


def _default() -> Iterator[Line]:
    costs = default_costs()
    rivals = [name for name in next(iter(costs.values())) if name not in OWN_LEARNERS]
    ratios = {name: geometric([row["auto"] / row[name] for row in costs.values()]) for name in rivals}
    rival = max(ratios, key=lambda name: ratios[name][0])
    n_sets = len({data for data, _ in costs})
    problems = f"total cost, {n_sets} data sets, random prices, errors at 0.5, 5 and 50 times all prices"
    hindsight = [row["auto"] / min(row[name] for name in rivals) for row in costs.values()]
    above = sum(ratio > 1.1 for ratio in hindsight)
    beside = (
        f"two splits; against the best rival of each problem, chosen with hindsight, {Ratio(*geometric(hindsight))};"
        f" more than 10 % above it on {above} of {len(hindsight)}"
    )
    yield Line("The default", "default.md", problems, "AutoClassifier", rival, Ratio(*ratios[rival]), beside)


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
        "ours by the rival (95 % interval)",
        "beside it",
        "constants of ours were set on",
    )
    rows = [
        (
            f"[{line.family}]({line.page})",
            line.problems,
            line.ours,
            line.rival,
            str(line.ratio),
            line.beside,
            line.tuned,
        )
        for line in lines
    ]
    texts = ["| " + " | ".join(row) + " |" for row in (heading, *rows)]
    return "\n".join([texts[0], "|---|---|---|---|---:|---|---|", *texts[1:]]) + "\n"


def written(text: str, lines: Sequence[Line]) -> str:
    """Return the page with a current overview."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    picture = f"![Cost of ours by that of the best single rival, with 95 % intervals]({PICTURE})\n"
    return f"{before}{BEGIN}\n{table(lines)}\n{picture}\n{END}{after}"


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
    options = parser.parse_args()
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

"""The experiments of Esmeir & Markovitch (2006, 2008), where ACT was introduced.

Tables 1 to 4 with figures 10 and 15, and figures 11 to 14 (section 4 of 2008), and the comparison of 2006. The grid is
large: a table is made from the problems that are finished for all learners that are not ours, and says how many these
are. A row of ours that has fewer problems is shown apart, beside the others on the same problems.
"""

from __future__ import annotations

import copy
import csv
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from worthwhile.evaluation.metrics import compare
from worthwhile.experiments.engine import Cell, Experiment, Numbers
from worthwhile.experiments.esmeir_cells import DATA, FAMILY, FOLDS, LISTS, TURNEY, PricedData, errors_for, normalized
from worthwhile.experiments.page import (
    Breakdown,
    MeanInterval,
    Panel,
    Picture,
    ResultTable,
    TableEntry,
    mean_interval,
    ratio_text,
)
from worthwhile.experiments.problems import Row
from worthwhile.experiments.tuning import named

__all__ = ["TABLES", "published"]

QUICK_DATA = ("breast-cancer", "iris", "monks-1", "multi-xor", "tae", "xor-5")
QUICK_FOLDS = 3
QUICK_TRIALS = 200
LEVEL = 0.05  # of significance
MOST_TIED = 5  # data sets of which Wilcoxon's test is never significant
OVER_SETS = (
    "Wilcoxon's test over the data sets, each with the mean of its problems, since problems of one data set are alike"
)

ERRORS = ("100", "500", "1000", "5000", "10000")
ERRORS_2006 = ("10", "100", "1000", "10000")
UNITS = (500, 5000)
# FP and FN in units, by their ratio: the smaller one is the unit.
RATIOS = {0.125: (1, 8), 0.25: (1, 4), 0.5: (1, 2), 1: (1, 1), 2: (2, 1), 4: (4, 1), 8: (8, 1)}
QUICK_RATIOS = (0.125, 1, 8)
ANYTIME_DATA = ("breast-cancer", "monks-1", "multi-xor", "xor-5")
ANYTIME_ERRORS = "5000"
POPULATION = 50  # of ICET: trials per generation


C45, LSID3 = Row("C4.5", "c45"), Row("LSID3", "lsid3", {"r": 5})
IDX, CSID3, EG2, DTMC = Row("IDX", "idx"), Row("CS-ID3", "csid3"), Row("EG2", "eg2"), Row("DTMC", "dtmc")
ICET = Row("ICET", "icet", {"variant": "paper", "trials": 1000})
ACT = Row("ACT", "act", {"variant": "paper", "r": 5})
REFINED = Row("ACT, refined", "act-refined")
OPTIMAL, AUTO = Row("OptimalClassifier", "optimal"), Row("AutoClassifier", "auto")
SLOW_ROWS = (OPTIMAL, AUTO)  # they have the first price list only, and not the largest data sets
NO_TEST = Row("no test", "no-test")
PAIRS = (
    (DTMC, ACT),
    (ICET, ACT),
    (LSID3, ACT),
    (DTMC, REFINED),
    (ICET, REFINED),
    (LSID3, REFINED),
    (ACT, REFINED),
)
OWN = {REFINED.label: "ACTClassifier", OPTIMAL.label: "OptimalClassifier", AUTO.label: "AutoClassifier"}
SCATTERED = ("100", "1000", "10000")  # error costs of figure 11
LABELS = [row.label for row in (ACT, ICET, DTMC, REFINED, EG2, NO_TEST, C45, LSID3, IDX, CSID3, OPTIMAL, AUTO)]


@dataclass(frozen=True)
class EsmeirGrid:
    """The definition of a table."""

    name: str
    title: str
    rows: tuple[Row, ...]
    columns: Mapping[str, str]  # heading: error costs
    problems: tuple[PricedData, ...]
    table: Callable[[EsmeirResults], ResultTable]
    notes: tuple[str, ...] = ()


class EsmeirResults:
    """The numbers of a table's cells, for the problems that are finished for all learners that are not ours.

    `rows` have all of these problems, `fewer` are rows of ours that have some of them, `common` those that all have.
    """

    def __init__(self, grid: EsmeirGrid, cells: Mapping[Cell, Numbers], quick: bool, seed: int) -> None:
        self.grid, self.quick, self.seed, self._cells = grid, quick, seed, cells
        self.columns = _columns(grid, quick)
        self.splits = _splits(quick, seed)
        self.wanted = _problems(grid, quick)
        done = {row.label: {p for p in self.wanted if self._has(row, p)} for row in _rows(grid, quick)}
        begun = [row for row in _rows(grid, quick) if done[row.label]]
        self.absent = [label for label, some in done.items() if not some]
        decide = [row for row in begun if row.label not in OWN] or begun
        self.problems = [p for p in self.wanted if decide and all(p in done[row.label] for row in decide)]
        self.rows = [row for row in begun if done[row.label].issuperset(self.problems)]
        self.fewer = [row for row in begun if row not in self.rows]
        self.common = [p for p in self.problems if all(p in done[row.label] for row in self.fewer)]

    def _has(self, row: Row, problem: PricedData) -> bool:
        return all(cell in self._cells for cell in self._cells_of(row, problem))

    def _cells_of(self, row: Row, problem: PricedData) -> Iterable[Cell]:
        return (_cell(row, problem, e, split, self.quick) for e in self.columns.values() for split in self.splits)

    def numbers(self, row: Row, errors: str, problem: PricedData) -> list[Numbers]:
        """Return the numbers of each fold."""
        return [self._cells[_cell(row, problem, errors, split, self.quick)] for split in self.splits]

    def folds(self, row: Row, errors: str, problem: PricedData) -> list[float]:
        """Return the normalized cost in each fold."""
        return [normalized(numbers, errors) for numbers in self.numbers(row, errors, problem)]

    def means(self, row: Row, errors: str, problems: Iterable[PricedData] | None = None) -> list[float]:
        """Return the normalized cost of each problem."""
        chosen = self.problems if problems is None else problems
        return [float(np.mean(self.folds(row, errors, problem))) for problem in chosen]

    def on_common(self) -> EsmeirResults:
        """Return the results of all rows on the problems that all of them have."""
        other = copy.copy(self)
        other.rows, other.fewer, other.problems = [*self.rows, *self.fewer], [], self.common
        return other

    def entry(self, ours: MeanInterval, row: str, column: str, digits: int = 1) -> TableEntry:
        """Return our number with the published one; numbers from a part of the problems are rough."""
        part = len(self.problems) < len(self.wanted) and not self.quick
        there = published().get((self.grid.name, row, column))
        return TableEntry(ours, there, self.quick or part, digits=digits, part=part)

    def page(self, more: Sequence[str] = (), **parts: Any) -> ResultTable:
        """Return the table with the notes that all tables have, and more notes."""
        in_it = f"{len(self.problems)} of the {len(self.wanted)} problems are in this table"
        which = ": those that are finished for all learners that are not ours." if self.rows else "."
        notes = [f"{in_it}{which}"]
        for row in self.fewer:
            apart = f"; it is shown on the {len(self.common)} that all rows have" if self.common else ""
            notes.append(f"*{row.label}* is finished on fewer problems{apart}.")
        if self.absent:
            notes.append(f"Left out, because no problem is finished: {'; '.join(self.absent)}.")
        turney, others = self.halves()
        reported = f"{len(turney)} problems of Turney's data sets and {len(others)} others"
        return ResultTable(
            name=f"esmeir-{self.grid.name}",
            title=self.grid.title,
            protocol=_protocol(self.quick, self.seed),
            notes=[*notes, *self.grid.notes, *more],
            tuned=named(OWN, dict.fromkeys(row.curve or row.label for row in (*self.rows, *self.fewer))),
            reported=reported,
            **parts,
        )

    def halves(self) -> tuple[list[PricedData], list[PricedData]]:
        """Return the problems of Turney's data sets, on which constants of ours were set, and the others."""
        turney = [problem for problem in self.problems if problem.data in TURNEY]
        return turney, [problem for problem in self.problems if problem.data not in TURNEY]


def _cell(row: Row, problem: PricedData, errors: str, split: int, quick: bool) -> Cell:
    """Return the cell that gives a row's cost at these error costs."""
    text = row.text(QUICK_TRIALS if quick else None)
    return Cell(problem.data, problem.prices, errors_for(row.learner, errors), row.learner, text, split)


def _rows(grid: EsmeirGrid, quick: bool) -> tuple[Row, ...]:
    """Return the rows; the quick version leaves out the long ones of figure 13."""
    return tuple(row for row in grid.rows if not row.curve or not quick or row in QUICK_STEPS)


def _columns(grid: EsmeirGrid, quick: bool) -> dict[str, str]:
    shown = {_ratio_label(unit, ratio) for unit in UNITS for ratio in QUICK_RATIOS}
    ratios = {heading: errors for heading, errors in grid.columns.items() if heading in shown}
    return ratios if quick and ratios else dict(grid.columns)


def _problems(grid: EsmeirGrid, quick: bool) -> list[PricedData]:
    """Return the problems of a grid; the quick version has a few data sets with their first drawn price list."""
    if not quick:
        return list(grid.problems)
    first = grid.problems[0].prices
    return [p for p in grid.problems if p.data in QUICK_DATA and p.prices == first]


def _splits(quick: bool, seed: int) -> range:
    """Return the ten folds of a seed; the quick version has the first three of them."""
    return range(FOLDS * seed, FOLDS * seed + (QUICK_FOLDS if quick else FOLDS))


def _has_room(row: Row, problem: PricedData, quick: bool) -> bool:
    """Return whether a row is to be run on a problem: slow ones have a part of them."""
    return row not in SLOW_ROWS or (problem.prices.endswith("-0") and DATA[problem.data].tier < 2 and not quick)


def _cells(grid: EsmeirGrid, quick: bool, seed: int) -> list[Cell]:
    cells = (
        _cell(row, problem, errors, split, quick)
        for row in _rows(grid, quick)
        for problem in _problems(grid, quick)
        if _has_room(row, problem, quick)
        for errors in _columns(grid, quick).values()
        for split in _splits(quick, seed)
    )
    return list(dict.fromkeys(cells))  # some learners are trained once for all error costs


@functools.cache
def _published_file() -> list[dict[str, str]]:
    path = Path(__file__).parent / "published" / "esmeir-2008.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@functools.cache
def published() -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return the published number and its interval (NaN if there is none) of each (table, row, column)."""
    return {
        (line["table"], line["row"], line["column"]): (float(line["value"]), float(line["interval"] or "nan"))
        for line in _published_file()
        if not line["table"].startswith("wilcoxon")
    }


def _protocol(quick: bool, seed: int) -> str:
    folds = f"of which the first {QUICK_FOLDS} folds" if quick else "the same folds for all learners"
    search = f" ICET's searches have {QUICK_TRIALS} trials instead of 1000." if quick else ""
    return (
        "Protocol (Esmeir & Markovitch 2008, section 4): 105 problems. 100 of them are 25 data sets with four drawn"
        " price lists each (prices 1 to 100, more informative tests tend to cost more, group discounts, no delays),"
        " 5 are Turney's with their published prices without the delays. One stratified ten-fold cross-validation"
        f" (number {seed}), {folds}. Numbers are the average cost per case, tests and errors, in percent of the"
        " standard cost with the class frequencies of the whole data set; a problem enters with the mean of its folds;"
        " ± is, as in the paper, the 95 % confidence interval over the problems, t · sd / √n, as if they were"
        " independent; but up to five of them are of one data set, so it is too narrow. The intervals of our rows by"
        f" the others are over data sets.{search}\n\n"
        "The paper's own price lists are unavailable: ours are drawn by the same rules, with a standard deviation of"
        " a quarter of the range, which the paper does not give. The data sets are those of its Table 5 with these"
        " differences: hepatitis has 155 cases (154), missing values filled as in Turney (1995); nursery 12,960"
        " (8,703); KRK 18 classes (17); Monks' training and test files form one data set; flare's class is the number"
        " of M-class flares; the generated ones are new draws.\n\n"
        'ICET is the published algorithm, seeded, as in the paper (`variant="paper"`), ACT too, with r = 5. Our own'
        " rows: *ACT, refined*, *OptimalClassifier* and *AutoClassifier* have default parameters, the last two with the"
        " first price list only; *no test* does no test and gives the answer of least cost. C4.5, LSID3, IDX,"
        " CS-ID3 and EG2 ignore error costs: one tree is measured at all of them."
    )


def _cost_table(results: EsmeirResults, pictures: Sequence[Picture], block: int) -> ResultTable:
    entries = {
        (row.label, column): results.entry(_estimate(results.means(row, errors)), row.label, column)
        for row in results.rows
        for column, errors in results.columns.items()
    }
    return results.page(
        rows=[row.label for row in results.rows],
        columns=list(results.columns),
        entries=entries,
        breakdowns=[*_on_common(results), *_by_half(results), *_relative(results), *_by_data(results)],
        pictures=list(pictures) if results.problems else [],
        block=block,
    )


def _estimate(values: Sequence[float]) -> MeanInterval:
    return mean_interval(values) if values else MeanInterval(np.nan, np.nan)


def _on_common(results: EsmeirResults) -> list[Breakdown]:
    """Return all rows on the problems that all of them have, if some have fewer."""
    if not results.fewer or not results.common:
        return []
    rows = {
        row.label: [str(_estimate(results.means(row, e, results.common))) for e in results.columns.values()]
        for row in (*results.rows, *results.fewer)
    }
    title = f"On the {len(results.common)} problems that all rows have"
    return [Breakdown(title, list(results.columns), rows)]


def _by_half(results: EsmeirResults) -> list[Breakdown]:
    """Return the averages over the problems of Turney's data sets, and over the others."""
    turney, others = results.halves()
    if not turney or not others:
        return []
    rows = {
        f"{row.label}, {title}": [str(_estimate(results.means(row, e, some))) for e in results.columns.values()]
        for row in results.rows
        for title, some in ((f"{len(others)} others", others), (f"Turney's {len(turney)}", turney))
    }
    title = "The problems of Turney's data sets, on other splits of which our constants were set, and the others"
    return [Breakdown(title, list(results.columns), rows)]


def _relative(results: EsmeirResults) -> list[Breakdown]:
    """Return our rows relative to the others: every problem has one ratio, that of the averages over columns.

    Problems of one data set are alike, so that the intervals are over data sets.
    """
    others = [row for row in results.rows if row.label not in OWN]
    turney, rest = results.halves()
    parts = {f"all {len(results.problems)}": results.problems, f"{len(rest)} others": rest}
    parts[f"Turney's {len(turney)}"] = turney
    ours = [(row, parts) for row in results.rows if row.label in OWN]
    if results.common:
        ours += [(row, {f"{len(results.common)} in common": results.common}) for row in results.fewer]
    lines = {}
    for row, own_parts in ours:
        for title, some in own_parts.items():
            costs = [
                np.mean([results.means(each, e, some) for e in results.columns.values()], axis=0)
                for each in (row, *others)
            ]
            sets = [problem.data for problem in some]
            lines[f"{row.label}, {title}"] = [ratio_text((costs[0] / other).tolist(), sets) for other in costs[1:]]
    title = (
        "Cost of our rows by that of the others, average over all columns, with 95 % intervals over the data sets,"
        " since problems of one data set are alike"
    )
    return [Breakdown(title, [row.label for row in others], lines)] if lines and results.problems else []


def _by_data(results: EsmeirResults) -> list[Breakdown]:
    """Return averages over price lists and error costs, with learners as columns."""
    by_data = {
        title: [float(np.mean([results.means(row, e, some) for e in results.columns.values()])) for row in results.rows]
        for title, some in _parts(results).items()
    }
    counts = f"{len(results.problems)} problems"
    heading = [row.label for row in results.rows]
    lists = sorted({problem.prices for problem in results.problems if problem.prices != "published"})
    by_list = {
        f"{prices}, {label}": [
            float(np.mean(results.means(row, errors, [p for p in results.problems if p.prices == prices])))
            for row in results.rows
        ]
        for prices in lists
        for label, errors in results.columns.items()
    }
    return [
        Breakdown(f"By data set, average over all columns and price lists ({counts})", heading, by_data),
        Breakdown(
            "By price list and column, average over the data sets: how much the drawn prices matter",
            heading,
            by_list,
        ),
    ]


def _parts(results: EsmeirResults) -> dict[str, list[PricedData]]:
    drawn = {
        DATA[p.data].title: [q for q in results.problems if q.data == p.data and q.prices != "published"]
        for p in results.problems
    }
    own = [p for p in results.problems if p.prices == "published"]
    return {title: some for title, some in (*drawn.items(), ("Turney's five, published prices", own)) if some}


def _cost_against_errors(figure: int, results: EsmeirResults) -> ResultTable:
    """Table 1 with figure 10, and figure 14: cost against the error cost."""
    x = [float(errors) for errors in results.columns.values()]
    drawn = [p for p in results.problems if p.prices != "published"]
    own = [p for p in results.problems if p.prices == "published"]
    panels = [
        Panel(f"{title} ({len(some)})", {row.label: _line(results, row, some) for row in results.rows})
        for title, some in (("Drawn prices", drawn), ("Published prices", own))
        if some
    ]
    title = f"Figure {figure}: cost against the error cost"
    picture = Picture(f"esmeir-figure{figure}", title, x, "error cost", "% of standard cost", panels, LABELS)
    return _cost_table(results, [picture], len(results.columns))


def _line(results: EsmeirResults, row: Row, problems: Sequence[PricedData]) -> list[float]:
    return [float(np.mean(results.means(row, errors, problems))) for errors in results.columns.values()]


def _cost_against_ratio(results: EsmeirResults) -> ResultTable:
    """Table 3 with figure 15."""
    ratios = [ratio for ratio in RATIOS if _ratio_label(UNITS[0], ratio) in results.columns]
    panels = [
        Panel(
            f"unit {unit}",
            {
                row.label: [
                    float(np.mean(results.means(row, results.columns[_ratio_label(unit, ratio)]))) for ratio in ratios
                ]
                for row in results.rows
            },
        )
        for unit in UNITS
        if results.problems
    ]
    title = "Figure 15: cost against the ratio of error costs"
    picture = Picture("esmeir-figure15", title, ratios, "FP / FN", "% of standard cost", panels, LABELS)
    return _cost_table(results, [picture], len(ratios))


def _wins(results: EsmeirResults) -> ResultTable:
    """Tables 2 and 4: the number of problems where one learner is significantly better than another."""
    entries = {
        (label, column): results.entry(MeanInterval(count, np.nan, digits=0), label, column, digits=0)
        for (label, column), count in _win_counts(results).items()
    }
    return results.page(
        more=[*_same_winners(results, entries), *_statements(results)],
        rows=list(dict.fromkeys(label for label, _ in entries)),
        columns=list(results.columns),
        entries=entries,
        breakdowns=[*_wilcoxon(results), *_wins_on_common(results)],
        block=7,
    )


def _pairs(results: EsmeirResults) -> list[tuple[Row, Row]]:
    return [(a, b) for a, b in PAIRS if a in results.rows and b in results.rows]


def _win_counts(results: EsmeirResults) -> dict[tuple[str, str], int]:
    """Return the number of problems where one learner is significantly better, by label and column."""
    return {
        (label, column): count
        for a, b in _pairs(results)
        for column, errors in results.columns.items()
        for label, count in zip(
            (f"{a.label} beats {b.label}", f"{b.label} beats {a.label}"),
            _significant(results, a, b, errors),
            strict=True,
        )
    }


def _wilcoxon(results: EsmeirResults) -> list[Breakdown]:
    """Return the better learner of each pair over all problems, those of Turney's data sets and the others."""
    winners: dict[str, list[str]] = {}
    turney, others = results.halves()
    parts = {"": results.problems}
    if turney and others:
        parts |= {f", {len(others)} others": others, f", Turney's {len(turney)}": turney}
    for a, b in _pairs(results):
        title = f"{a.label} against {b.label}"
        for part, some in parts.items():
            winners[title + part] = [_winner(results, a, b, errors, some) for errors in results.columns.values()]
        there = [_published_winner(results.grid.name, title, column) for column in results.columns]
        if any(there):
            winners[f"{title}, published"] = there
    title = (
        "Wilcoxon's test over the problems, all, those of Turney's data sets and the others: the better learner, with p"
        " (–: no significant difference at the 5 % level)"
    )
    over_sets = {
        f"{a.label} against {b.label}{part}": [
            _winner(results, a, b, errors, some, over_sets=True) for errors in results.columns.values()
        ]
        for a, b in _pairs(results)
        for part, some in parts.items()
        if MOST_TIED < len({problem.data for problem in some}) < len(some)
    }
    found = ((title, winners), (f"{OVER_SETS}; of Turney's five data sets alone nothing can be significant", over_sets))
    return [Breakdown(title, list(results.columns), rows) for title, rows in found if rows]


def _statements(results: EsmeirResults) -> list[str]:
    """Return how many of the paper's statements on significance hold, those of Wilcoxon's test over the problems."""
    if len(results.problems) < 2:
        return []
    held, failed = 0, []
    for a, b in _pairs(results):
        title = f"{a.label} against {b.label}"
        for column, errors in results.columns.items():
            if there := _published_winner(results.grid.name, title, column):
                found = _winner(results, a, b, errors, results.problems)
                held += found.split(" (")[0] == there
                failed += [] if found.split(" (")[0] == there else [f"{title} at {column}: here {found}, there {there}"]
    n = held + len(failed)
    text = f"Of the paper's {n} statements by Wilcoxon's test (which learner is better, –: neither), {held} hold"
    return [f"{text}; not: {'; '.join(failed)}." if failed else f"{text}."] if n else []


def _same_winners(results: EsmeirResults, entries: Mapping[tuple[str, str], TableEntry]) -> list[str]:
    """Return in how many pairs the learner that is better on more problems is the published one."""
    same, other = 0, []
    for a, b in _pairs(results):
        labels = f"{a.label} beats {b.label}", f"{b.label} beats {a.label}"
        for column in results.columns:
            one, two = (entries[label, column] for label in labels)
            if one.published is not None and two.published is not None:
                agree = np.sign(one.ours.mean - two.ours.mean) == np.sign(one.published[0] - two.published[0])
                same += bool(agree)
                other += [] if agree else [f"{a.label} against {b.label} at {column}"]
    if not same and not other:
        return []
    text = (
        f"In {same} of {same + len(other)} published comparisons, the learner that is significantly better on more"
        " problems is the same here"
    )
    return [f"{text}; not: {'; '.join(other)}." if other else f"{text}."]


def _wins_on_common(results: EsmeirResults) -> list[Breakdown]:
    """Return the significant differences of rows with fewer problems, on the problems that all rows have."""
    if not results.fewer or len(results.common) < 2:
        return []
    common, labels = results.on_common(), {row.label for row in results.fewer}
    found = (("numbers of significant differences", _counted(common)), ("Wilcoxon's test", _wilcoxon(common)))
    return [
        Breakdown(
            f"On the {len(common.problems)} problems that all rows have: {what}",
            part.columns,
            {row: numbers for row, numbers in part.rows.items() if any(label in row for label in labels)},
        )
        for what, parts in found
        for part in parts
    ]


def _counted(results: EsmeirResults) -> list[Breakdown]:
    """Return the numbers of problems where one learner is significantly better than another."""
    counts: dict[str, list[str]] = {}
    for (label, _), count in _win_counts(results).items():
        counts.setdefault(label, []).append(str(count))
    title = "Numbers of problems in which one learner is better by a paired t-test over the folds, at the 5 % level"
    return [Breakdown(title, list(results.columns), counts)] if counts else []


def _of_2006(results: EsmeirResults) -> ResultTable:
    """The comparison of the paper of 2006: costs, significant differences and Wilcoxon's test."""
    table = _cost_table(results, [], len(results.columns))
    tests = [*_counted(results), *_wilcoxon(results), *_wins_on_common(results)]
    return replace(table, breakdowns=[*tests, *table.breakdowns], notes=[*table.notes, *_statements(results)])


def _significant(results: EsmeirResults, a: Row, b: Row, errors: str) -> tuple[int, int]:
    """Count the problems where the paired t-test over the folds is significant, in favour of each learner."""
    from scipy import stats

    if not results.problems:
        return 0, 0
    costs = [np.array([results.folds(row, errors, problem) for problem in results.problems]) for row in (a, b)]
    gaps = costs[0] - costs[1]
    n = gaps.shape[1]
    bound = stats.t.ppf(1 - LEVEL / 2, n - 1) * gaps.std(axis=1, ddof=1) / np.sqrt(n)
    bound += 1e-9  # percent: smaller differences are rounding errors
    return int((gaps.mean(axis=1) < -bound).sum()), int((gaps.mean(axis=1) > bound).sum())


def _winner(
    results: EsmeirResults, a: Row, b: Row, errors: str, problems: Sequence[PricedData], over_sets: bool = False
) -> str:
    """Return the learner with lower costs by Wilcoxon's test over problems, or over data sets, and the p value."""
    from scipy import stats

    if len(problems) < 2:
        return "–"
    costs = [results.means(row, errors, problems) for row in (a, b)]
    if over_sets:
        _, members = np.unique([problem.data for problem in problems], return_inverse=True)
        costs = [(np.bincount(members, own) / np.bincount(members)).tolist() for own in costs]
    [found] = compare({"a": costs[0], "b": costs[1]})
    gaps = np.subtract(costs[0], costs[1])
    ranks = float(np.sum(np.sign(gaps) * stats.rankdata(np.abs(gaps))))
    p = "p < 0.001" if found.wilcoxon < 0.001 else f"p = {found.wilcoxon:.3f}"
    return f"– ({p})" if found.wilcoxon >= LEVEL else f"{a.label if ranks < 0 else b.label} ({p})"


def _published_winner(grid: str, title: str, column: str) -> str:
    table = "wilcoxon-2006" if grid == "2006" else "wilcoxon"
    places = {(line["row"], line["column"]): line["value"] for line in _published_file() if line["table"] == table}
    return places.get((title, column), "")


def _scatter(results: EsmeirResults) -> ResultTable:
    """Figure 11: the cost of ACT against that of ICET, a point for each problem."""
    entries: dict[tuple[str, str], TableEntry] = {}
    panels, ours = [], [row for row in results.rows if row is not ICET]
    for column, errors in results.columns.items() if ICET in results.rows else ():
        icet = np.array(results.means(ICET, errors))
        lines: dict[str, list[float]] = {}
        for row in ours:
            lines[row.label] = results.means(row, errors)
            own = np.array(lines[row.label])
            equal = np.isclose(own, icet)
            counts = {"below": (own < icet) & ~equal, "equal": equal, "above": (own > icet) & ~equal}
            for place, counted in counts.items():
                count = MeanInterval(float(counted.sum()), np.nan, digits=0)
                entries[f"{row.label} {place} ICET", column] = TableEntry(count)
        panels.append(Panel(f"error cost {column}", lines, own_x=dict.fromkeys(lines, icet.tolist())))
    title = "Figure 11: cost of ACT against that of ICET"
    labels = [row.label for row in ours]
    picture = Picture(
        "esmeir-figure11", title, [], "cost of ICET, %", "cost, %", panels, labels, linear=True, scatter=True
    )
    return results.page(
        rows=list(dict.fromkeys(row for row, _ in entries)),
        columns=list(results.columns),
        entries=entries,
        pictures=[picture] if results.problems else [],
    )


def _accuracy(results: EsmeirResults) -> ResultTable:
    """Figure 12: accuracy against the error cost."""
    entries: dict[tuple[str, str], TableEntry] = {}
    lines: dict[str, list[float]] = {}
    for row in results.rows:
        for column, errors in results.columns.items():
            right = [
                100
                * float(np.mean([1 - n["wrong_first"] - n["wrong_second"] for n in results.numbers(row, errors, p)]))
                for p in results.problems
            ]
            entries[row.label, column] = TableEntry(_estimate(right))
            lines.setdefault(row.label, []).append(entries[row.label, column].ours.mean)
    x = [float(errors) for errors in results.columns.values()]
    title = "Figure 12: accuracy against the error cost"
    panels = [Panel(f"{len(results.problems)} problems", lines)]
    picture = Picture("esmeir-figure12", title, x, "error cost", "% of the cases answered correctly", panels, LABELS)
    return results.page(
        rows=[row.label for row in results.rows],
        columns=list(results.columns),
        entries=entries,
        pictures=[picture] if results.problems else [],
        block=len(results.columns),
    )


def _anytime(results: EsmeirResults) -> ResultTable:
    """Figure 13: cost against training time."""
    entries: dict[tuple[str, str], TableEntry] = {}
    seconds: dict[str, list[float]] = {}
    titles = {DATA[name].title: [p for p in results.problems if p.data == name] for name in ANYTIME_DATA}
    titles = {title: some for title, some in titles.items() if some}
    for row in results.rows:
        for title, some in titles.items():
            ours = _estimate(results.means(row, ANYTIME_ERRORS, some))
            entries[row.label, title] = results.entry(ours, row.label, title)
        seconds[row.label] = [_seconds(results, row, some) for some in titles.values()]
    panels = [_curves(results, title, some) for title, some in titles.items()]
    title = "Figure 13: cost against training time"
    labels = list(dict.fromkeys(row.curve for row in results.grid.rows))
    picture = Picture("esmeir-figure13", title, [], "seconds per tree", "% of standard cost", panels, labels)
    times = {label: [f"{value:.4f}" for value in values] for label, values in seconds.items()}
    return results.page(
        rows=[row.label for row in results.rows],
        columns=list(titles),
        entries=entries,
        breakdowns=[Breakdown("Training time in seconds", list(titles), times)],
        pictures=[picture] if panels else [],
    )


def _seconds(results: EsmeirResults, row: Row, problems: Sequence[PricedData]) -> float:
    return float(np.mean([n["seconds"] for p in problems for n in results.numbers(row, ANYTIME_ERRORS, p)]))


def _curves(results: EsmeirResults, title: str, problems: Sequence[PricedData]) -> Panel:
    """Return one line per learner; a single point becomes a horizontal line."""
    cost: dict[str, list[float]] = {}
    x: dict[str, list[float]] = {}
    for row in results.rows:
        cost.setdefault(row.curve, []).append(float(np.mean(results.means(row, ANYTIME_ERRORS, problems))))
        x.setdefault(row.curve, []).append(_seconds(results, row, problems))
    ends = [min(map(min, x.values())), max(map(max, x.values()))]
    for label in [label for label, values in cost.items() if len(values) == 1]:
        cost[label], x[label] = cost[label] * 2, ends
    return Panel(title, cost, own_x=x)


def _drawn(kind: str, data: Iterable[str] = DATA) -> tuple[PricedData, ...]:
    return tuple(PricedData(name, f"{kind}-{number}") for number in range(LISTS) for name in data)


def _ratio_label(unit: int, ratio: float) -> str:
    return f"{unit}, FP/FN {ratio:g}"


def _ratio_errors(unit: int, first: int, second: int) -> str:
    return f"{unit}" if first == second else f"{unit * first}:{unit * second}"


def _steps() -> dict[str, tuple[Row, ...]]:
    """Return the points of the curves of figure 13: all of them, and those of the quick version."""
    generations, sizes, limits = (2, 4, 8, 16, 32, 64, 128), (1, 2, 4, 8, 16, 32), (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    icet = [
        Row(f"ICET, {n} generations", "icet", {"variant": "paper", "trials": POPULATION * n}, "ICET")
        for n in generations
    ]
    act = [Row(f"ACT, r = {r}", "act", {"variant": "paper", "r": r}, "ACT") for r in sizes]
    ours = [Row(f"ACT, refined, {s:g} s", "act-refined", {"time_limit": s}, "ACT, refined") for s in limits]
    greedy = [Row("EG2", "eg2", curve="EG2"), Row("DTMC", "dtmc", curve="DTMC")]
    return {"all": (*icet, *act, *ours, *greedy), "quick": (*icet[:3:2], *act[:3:2], *ours[1:4:2], *greedy)}


ANYTIME, QUICK_STEPS = _steps().values()
PROBLEMS = (*_drawn("informative"), *(PricedData(name, "published") for name in TURNEY))
UNIFORM = {errors: errors for errors in ERRORS}
UNEQUAL = {
    _ratio_label(unit, ratio): _ratio_errors(unit, *shares) for unit in UNITS for ratio, shares in RATIOS.items()
}
_FP = (
    "FP is the cost of misclassifying a case of the first half of the classes, in their order, FN that of the other"
    " half; the smaller of the two is the unit, 500 or 5000."
)
_COUNTS = (
    "Numbers of problems in which one learner is better than the other by a paired t-test over the folds, at the 5 %"
    " level; the published ones are out of 105."
)
GRIDS = (
    EsmeirGrid(
        "table1",
        "Table 1: cost at five error costs",
        (C45, LSID3, IDX, CSID3, EG2, DTMC, ICET, ACT, REFINED, OPTIMAL, AUTO, NO_TEST),
        UNIFORM,
        PROBLEMS,
        functools.partial(_cost_against_errors, 10),
    ),
    EsmeirGrid(
        "table2",
        "Table 2: significant differences",
        (LSID3, DTMC, ICET, ACT, REFINED),
        UNIFORM,
        PROBLEMS,
        _wins,
        (_COUNTS,),
    ),
    EsmeirGrid(
        "table3",
        "Table 3: unequal error costs",
        (C45, EG2, DTMC, ICET, ACT, REFINED, NO_TEST),
        UNEQUAL,
        PROBLEMS,
        _cost_against_ratio,
        (_FP,),
    ),
    EsmeirGrid(
        "table4",
        "Table 4: significant differences with unequal error costs",
        (DTMC, ICET, ACT, REFINED),
        UNEQUAL,
        PROBLEMS,
        _wins,
        (_COUNTS, _FP),
    ),
    EsmeirGrid(
        "figure11",
        "Figure 11: ACT against ICET, problem by problem",
        (ICET, ACT, REFINED),
        {errors: errors for errors in SCATTERED},
        PROBLEMS,
        _scatter,
        ("Numbers of problems in which the cost is below, equal to or above that of ICET. The paper has no numbers.",),
    ),
    EsmeirGrid(
        "figure12",
        "Figure 12: accuracy against the error cost",
        (C45, LSID3, EG2, DTMC, ICET, ACT, REFINED),
        UNIFORM,
        PROBLEMS,
        _accuracy,
        ("Percentage of test cases answered correctly, averaged over problems. The paper prints no numbers.",),
    ),
    EsmeirGrid(
        "figure13",
        "Figure 13: cost against training time",
        ANYTIME,
        {ANYTIME_ERRORS: ANYTIME_ERRORS},
        _drawn("informative", ANYTIME_DATA),
        _anytime,
        (
            "Error cost 5000. ICET has 50 individuals in a generation; *ACT, refined* stops at a time limit. The paper"
            " prints no numbers and does not describe its Breast-cancer-20; we use breast cancer. Times depend on the"
            " machine and are longer when several processes share it.",
        ),
    ),
    EsmeirGrid(
        "figure14",
        "Figure 14: cost with uniform prices",
        (DTMC, ICET, ACT, REFINED, NO_TEST),
        UNIFORM,
        _drawn("uniform"),
        functools.partial(_cost_against_errors, 14),
        ("Prices are drawn uniformly from 1 to 100, independently of the tests: 100 problems, without Turney's.",),
    ),
    EsmeirGrid(
        "2006",
        "The paper of 2006: 55 problems at four error costs",
        (C45, LSID3, EG2, ICET, ACT, REFINED, NO_TEST),
        {errors: errors for errors in ERRORS_2006},
        (
            *(PricedData(name, f"{kind}-0") for kind in ("shared20", "shared80") for name in DATA),
            *(PricedData(name, "published") for name in TURNEY),
        ),
        _of_2006,
        (
            "Esmeir & Markovitch (2006), section 3: each data set has two price lists, prices drawn uniformly from 1 to"
            " 100, once with as many groups as 20 % of the tests and a common price of 20 % of the highest price in the"
            " group (*shared20*), once with 80 % of both (*shared80*); Turney's five have their published prices. The"
            " data sets are those of 2008, since the list of 2006 was in an appendix that is unavailable. We have no"
            " copy of its table of averages; published here is what its text says about significance.",
        ),
    ),
)


def _table(grid: EsmeirGrid, cells: Mapping[Cell, Numbers], quick: bool, seed: int) -> ResultTable:
    return grid.table(EsmeirResults(grid, cells, quick, seed))


TABLES = [
    Experiment(
        name=f"esmeir-{grid.name}",
        title=grid.title,
        family=FAMILY,
        cells=functools.partial(_cells, grid),
        table=functools.partial(_table, grid),
    )
    for grid in GRIDS
]

"""Anybody's own tables: the default and its rivals on a folder of CSV files, by total cost.

``worthwhile reproduce unseen --data FOLDER``. At most 2,000 cases of a table are used, 60 % of them to learn; an error
costs 0.5, 5 or 50 times the price of all tests, and what the price list says if it has error costs. `unseen_data` says
which files count; the rivals are those of `total_cost`.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from worthwhile.experiments import total_cost
from worthwhile.experiments.engine import Cell, Experiment, Family, Numbers, parameters_of, seed_of, text_of
from worthwhile.experiments.page import Breakdown, DotPlot, MeanInterval, ResultTable, TableEntry, geometric
from worthwhile.experiments.unseen_data import UnseenSplit, UnseenTable, load, table_paths

__all__ = ["TABLES"]

SPLITS = 5
MOST_CASES, QUICK_CASES, QUICK_FILES = 2_000, 300, 2
LEAST_COST = 0.01  # percent of the standard cost; a cost of nothing has no logarithm
NEAR = 1.1  # times the best rival
# Settings of the default, and of the cascade in it, were looked at on these (benchmarks/default.py).
TUNED = ("pima", "heart", "waveform40", "vote", "car", "tic_tac_toe", "glass", "vowel")


@dataclass(frozen=True)
class OwnLearner:
    """A learner of worthwhile: its class, its parameters and roughly how many seconds training takes."""

    label: str
    name: str
    seconds: float
    parameters: Mapping[str, Any] = field(default_factory=dict)


DEFAULT = "auto"
LEARNERS: dict[str, OwnLearner] = {
    DEFAULT: OwnLearner("AutoClassifier", "AutoClassifier", 60),
    "readable": OwnLearner("AutoClassifier, readable", "AutoClassifier", 20, {"readable": True}),
    "dtmc": OwnLearner("DTMC", "DTMCClassifier", 0.5),
    "eg2": OwnLearner("EG2, pruned by cost", "EG2Classifier", 0.5, {"prune": "cost", "answer": "least-cost"}),
    "cascade": OwnLearner("cascade", "CascadeClassifier", 40),
}
SLOW = ("readable",)  # not in the quick version
RIVAL_SECONDS = 3.0


def measure(cell: Cell, folder: str | None) -> Numbers:
    """Learn from a split and return the cost per new case, and the expected one, in percent of the standard cost."""
    table, seed = load(cell.data, folder), seed_of(cell) % 2**31  # LightGBM takes no larger one
    split = table.split(parameters_of(cell.parameters)["cases"], cell.errors, seed)
    known = {"nominal": table.nominal, "columns": table.columns}
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learn = _measure_own if cell.learner in LEARNERS else _measure_rival
        cost, expected = learn(cell.learner, split, known, seed)
    seconds, whole = time.perf_counter() - start, split.costs.standard_cost(split.y)
    return {"cost": 100 * cost / whole, "expected": 100 * expected / whole, "seconds": seconds}


def _measure_own(name: str, split: UnseenSplit, known: Mapping[str, Any], seed: int) -> tuple[float, float]:
    import worthwhile

    own = LEARNERS[name]
    learner = getattr(worthwhile, own.name)(
        costs=split.costs, random_state=seed, n_jobs=1, **known, **own.parameters
    ).fit(split.X, split.y)
    return float(learner.total_costs(split.X_new, split.y_new).mean()), float(learner.expected_cost_)


def _measure_rival(name: str, split: UnseenSplit, known: Mapping[str, Any], seed: int) -> tuple[float, float]:
    problem = total_cost.RivalProblem.of(split.costs, split.X, split.y, known, seed)
    new = problem.new_cases(split.X_new, split.y_new, np.unique(split.y).tolist(), known)
    try:
        return new.total(*total_cost.available()[name](problem)(new)), math.nan
    except Exception:  # of any library, on tables that nobody has seen; the page names the rival and the table
        return math.nan, math.nan


def weight(cell: Cell) -> float:
    """Return roughly how many seconds a cell takes."""
    own = LEARNERS.get(cell.learner)
    return RIVAL_SECONDS if own is None else own.seconds


def order(cell: Cell) -> tuple[int, str, str]:
    """Return what runs first: a split of all tables, and of a table all learners."""
    return cell.split, cell.data, cell.errors


FAMILY = Family("unseen", ("cost", "expected", "seconds"), load, measure, weight, order)


@dataclass(frozen=True)
class Problem:
    """A table of the folder, as the grid knows it."""

    name: str
    prices: str
    levels: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, name: str, table: UnseenTable) -> Problem:
        prices = "random" if table.costs is None else "list"
        return cls(name, prices, tuple(table.levels()), table.digest)


@dataclass(frozen=True)
class Grid:
    """The tables of a folder with all learners."""

    problems: Sequence[Problem] = ()
    lines: Sequence[str] = ()  # on each file

    @classmethod
    def of(cls, folder: str | None, quick: bool) -> Grid:
        """Read the tables of a folder; those that cannot be used are named."""
        if folder is None:
            raise ValueError("unseen needs a folder of CSV files; name it with --data")
        problems: list[Problem] = []
        lines, skipped = [], []
        most = QUICK_CASES if quick else MOST_CASES
        for name, (path, *others) in table_paths(folder).items():
            skipped += [f"{each.name}: skipped: {path.name} has the same name." for each in others]
            if quick and len(problems) == QUICK_FILES:
                skipped.append(f"{path.name}: left out by --quick, which takes {QUICK_FILES} tables.")
                continue
            try:
                table = load(name, folder)
                lines.append(table.line(most))
            except ValueError as error:
                reason = str(error).removeprefix(f"{path}: ").removeprefix(f"{path}, ").replace(str(path), path.name)
                reason = reason.replace("name its encoding with --encoding, or ", "")  # there is no such option here
                skipped.append(f"{path.name}: skipped: {reason}{'' if reason.endswith('?') else '.'}")
            else:
                problems.append(Problem.of(name, table))
        if not problems:
            found = f": {skipped[0]}" if skipped else "; tables are files *.csv and *.csv.gz with a header"
            raise ValueError(f"{folder}: has no table that can be used{found}")
        return cls(problems, [*lines, *skipped])

    def cell(self, problem: Problem, level: str, learner: str, split: int, quick: bool) -> Cell:
        """Return a cell; the digest of the file belongs to it, since other files may have the same name."""
        cases = QUICK_CASES if quick else MOST_CASES
        parameters = text_of({"cases": cases, "table": problem.digest})
        return Cell(problem.name, problem.prices, level, learner, parameters, split)

    def cells(self, quick: bool, seed: int) -> list[Cell]:
        """Return what to measure."""
        return [
            self.cell(problem, level, learner, split, quick)
            for split in _splits(quick, seed)
            for problem in self.problems
            for level in problem.levels
            for learner in (*LEARNERS, *total_cost.available())
            if not (quick and learner in SLOW)
        ]

    def table(self, cells: Mapping[Cell, Numbers], quick: bool, seed: int) -> ResultTable:
        """Return the table of the finished cells."""
        return _table(UnseenResults(self, cells, quick, seed))

    def experiment(self) -> Experiment:
        """Return the experiment with this grid."""
        return Experiment("unseen", "Your own tables", FAMILY, self.cells, self.table)


def _splits(quick: bool, seed: int) -> range:
    return range(SPLITS * seed, SPLITS * seed + (1 if quick else SPLITS))


def in_folder(folder: str | None, quick: bool) -> tuple[Experiment, Sequence[str]]:
    """Return the experiment of a folder, and what was found there."""
    grid = Grid.of(folder, quick)
    return grid.experiment(), grid.lines


@dataclass(frozen=True)
class UnseenResults:
    """What everyone costs on the problems (a table with error costs), in the mean of the splits that all have."""

    grid: Grid
    cells: Mapping[Cell, Numbers]
    quick: bool
    seed: int

    def numbers(self, problem: Problem, level: str, learner: str) -> dict[int, Numbers]:
        """Return the numbers of a learner by split."""
        found = {}
        for split in _splits(self.quick, self.seed):
            cell = self.grid.cell(problem, level, learner, split, self.quick)
            if cell in self.cells:
                found[split] = self.cells[cell]
        return found

    def names(self) -> list[str]:
        """Return the learners and rivals that have finished cells."""
        found = {cell.learner for cell in self.cells}
        return [name for name in (*LEARNERS, *total_cost.RIVALS) if name in found]

    def all(self) -> Iterator[tuple[Problem, str]]:
        """Yield tables with error costs."""
        for problem in self.grid.problems:
            for level in problem.levels:
                yield problem, level

    def means(self) -> dict[tuple[str, str], dict[str, float]]:
        """Return the mean costs by problem and learner, of problems that all learners have a split of."""
        found = {}
        for problem, level in self.all():
            own = {name: self.numbers(problem, level, name) for name in self.names()}
            common = set.intersection(*(set(splits) for splits in own.values())) if own else set()
            if common:
                found[problem.name, level] = {
                    name: max(float(np.mean([splits[split]["cost"] for split in sorted(common)])), LEAST_COST)
                    for name, splits in own.items()
                }
        return found


def best_rival(costs: Mapping[str, float]) -> str | None:
    """Return the rival of least cost; None if there is none.

    Examples
    --------
    >>> best_rival({"auto": 1.0, "no test": 3.0, "CatBoost": float("nan"), "pystreed": 2.0})
    'pystreed'
    """
    known = {name: cost for name, cost in costs.items() if name in total_cost.RIVALS and not math.isnan(cost)}
    return min(known, key=lambda name: known[name]) if known else None


def ratios(means: Mapping[tuple[str, str], Mapping[str, float]], name: str) -> dict[tuple[str, str], float]:
    """Return what a learner costs, by the cost of the best rival of each problem."""
    found = {}
    for problem, costs in means.items():
        rival = best_rival(costs)
        if rival is not None and not math.isnan(costs[name]):
            found[problem] = costs[name] / costs[rival]
    return found


COST, RATIO, LOW, HIGH, ABOVE = "cost", "ratio to best rival", "from", "to", "% of problems 10 % above"


def _table(results: UnseenResults) -> ResultTable:
    means, entries, rows = results.means(), {}, []
    for name in results.names():
        label, own = _label(name), ratios(means, name)
        rows.append(label)
        costs = [each[name] for each in means.values() if not math.isnan(each[name])]
        ratio, low, high = geometric(list(own.values()))
        above = 100 * float(np.mean([value > NEAR for value in own.values()])) if own else math.nan
        for column, number, digits in (
            (COST, geometric(costs)[0], 1),
            (RATIO, ratio, 3),
            (LOW, low, 3),
            (HIGH, high, 3),
            (ABOVE, above, 0),
        ):
            entries[label, column] = TableEntry(MeanInterval(number, math.nan, digits))
    return ResultTable(
        name="unseen",
        title="Cost of new cases on your own tables",
        rows=rows,
        columns=[COST, RATIO, LOW, HIGH, ABOVE],
        entries=entries,
        protocol=PROTOCOL,
        notes=_notes(results, means),
        breakdowns=[_best(results, means), *_by_level(results, means), _work(results)],
        pictures=[_picture(means)] if ratios_of_default(means) else [],
        block=5,
    )


def ratios_of_default(means: Mapping[tuple[str, str], Mapping[str, float]]) -> dict[tuple[str, str], float]:
    """Return what the default costs, by the cost of the best rival of each problem; empty if it has not run."""
    return ratios(means, DEFAULT) if all(DEFAULT in costs for costs in means.values()) else {}


def _label(name: str) -> str:
    return LEARNERS[name].label if name in LEARNERS else name


def _shown(problem: tuple[str, str]) -> str:
    return f"{problem[0]}, {problem[1]}"


PROTOCOL = (
    "At most 2,000 cases of a table are used (300 in the quick version), 60 % of them to learn, in five stratified"
    " splits (quick: one, of two tables, without the readable trees). Classes with fewer than five of these cases are"
    " left out. Prices are those of the price list beside the table, without surcharges, otherwise drawn anew for each"
    " split (`datasets.random_costs`). An error costs 0.5, 5 or 50 times the price of all tests; *own*: what the price"
    " list says.\n\n"
    "The cost is that of tests and errors per new case, in percent of the standard cost (Turney's equation 6). A"
    " problem is a table with error costs; its costs are means over the splits that everyone has. The table has the"
    " geometric mean over problems, the geometric mean of the ratio to the best rival of each problem, chosen with"
    " hindsight, its 95 % interval over problems (*from*, *to*), and in how many percent of the problems the cost is"
    f" more than 10 % above the best rival. A cost below {LEAST_COST} % counts as {LEAST_COST} %.\n\n"
    "All learners have their default parameters; *EG2* is pruned by cost and answers at least cost. Settings of the"
    " rivals are chosen on a quarter of the training cases, by total cost (`worthwhile.experiments.total_cost`).\n\n"
    "Where tuned on, where reported on: nothing was tuned on your data. Constants of the learners were settled on"
    f" public data sets: those of the default on {', '.join(TUNED)}, others as the pages of results and of the design"
    " say. If one of these is in your folder, its numbers are not independent."
)


def _notes(results: UnseenResults, means: Mapping[tuple[str, str], Mapping[str, float]]) -> list[str]:
    notes = _findings(results, means)
    n_all = sum(1 for _ in results.all())
    if len(means) < n_all:
        notes.append(f"Finished: {len(means)} of {n_all} problems. The same command continues.")
    if missing := [name for name in total_cost.RIVALS if name not in total_cost.available()]:
        named = ", ".join(f"{name} (needs {total_cost.RIVALS[name][0]})" for name in missing)
        notes.append(f"Left out, since a library is not installed: {named}.")
    failed: dict[str, set[str]] = {}
    for cell, numbers in results.cells.items():
        if math.isnan(numbers["cost"]):
            failed.setdefault(cell.learner, set()).add(cell.data)
    notes += [f"{name} could not learn from {', '.join(sorted(tables))}." for name, tables in failed.items()]
    if known := [problem.name for problem in results.grid.problems if problem.name.lower() in TUNED]:
        notes.append(f"By their names, not independent: {', '.join(known)}.")
    return [*notes, "Files:\n\n" + "\n".join(f"- {line}" for line in results.grid.lines)]


def _findings(results: UnseenResults, means: Mapping[tuple[str, str], Mapping[str, float]]) -> list[str]:
    """Return how the default compares with the best rival, and how well it knows what it costs."""
    against = ratios_of_default(means)
    if not against:
        return []
    mean, low, high = geometric(list(against.values()))
    by_table: dict[str, list[float]] = {}
    for (name, _), ratio in against.items():
        by_table.setdefault(name, []).append(math.log(ratio))
    tables = geometric([math.exp(float(np.mean(logs))) for logs in by_table.values()])
    interval = "" if math.isnan(low) else f" (95 % interval over problems {low:.3f} to {high:.3f}"
    if interval and not math.isnan(tables[1]):
        interval += f"; over the {len(by_table)} tables, since problems of one table are alike, {tables[1]:.3f} to"
        interval += f" {tables[2]:.3f}"
    lines = [
        f"AutoClassifier costs {mean:.3f} of the best rival of each problem, chosen with hindsight, in geometric mean"
        f" of {len(against)} problems{interval + ')' if interval else ''}; at most {max(against.values()):.2f}."
    ]
    if above := sorted(((ratio, problem) for problem, ratio in against.items() if ratio > NEAR), reverse=True):
        named = "; ".join(f"{_shown(problem)} ({ratio:.2f})" for ratio, problem in above)
        lines.append(f"It costs more than 10 % above the best rival in {len(above)} of them: {named}.")
    expected = [
        numbers["expected"] / numbers["cost"]
        for cell, numbers in results.cells.items()
        if cell.learner == DEFAULT and numbers["cost"] > LEAST_COST and numbers["expected"] > 0
    ]
    if expected:
        lines.append(
            f"Its expected cost is {geometric(expected)[0]:.2f} of what new cases cost, in geometric mean; from"
            f" {min(expected):.2f} to {max(expected):.2f} in single splits."
        )
    return lines


def _best(results: UnseenResults, means: Mapping[tuple[str, str], Mapping[str, float]]) -> Breakdown:
    """Return the best rival of each problem and the default beside it."""
    lines: dict[str, list[float | str]] = {}
    prices = {problem.name: problem.prices for problem in results.grid.problems}
    for problem, ratio in ratios_of_default(means).items():
        costs = means[problem]
        rival = best_rival(costs) or ""
        lines[_shown(problem)] = [prices[problem[0]], rival, costs[rival], costs[DEFAULT], f"{ratio:.3f}"]
    return Breakdown("Each problem", ["prices", "best rival", "its cost", "AutoClassifier", "ratio"], lines)


def _by_level(results: UnseenResults, means: Mapping[tuple[str, str], Mapping[str, float]]) -> Iterator[Breakdown]:
    names = results.names()
    for level in dict.fromkeys(level for _, level in means):
        lines = {data: [means[data, level][name] for name in names] for data, each in means if each == level}
        yield Breakdown(f"Cost of new cases, errors {level}", [_label(name) for name in names], lines)


def _work(results: UnseenResults) -> Breakdown:
    """Return how many splits are finished, and how long training takes."""
    lines: dict[str, list[float | str]] = {}
    for name in results.names():
        seconds = [numbers["seconds"] for cell, numbers in results.cells.items() if cell.learner == name]
        n = [len(results.numbers(problem, level, name)) for problem, level in results.all()]
        splits = f"{min(n)}" if min(n) == max(n) else f"{min(n)} to {max(n)}"
        lines[_label(name)] = [splits, f"{np.median(seconds):.2g}", f"{max(seconds):.2g}"]
    return Breakdown("Finished splits and seconds of training", ["splits", "median", "longest"], lines)


def _picture(means: Mapping[tuple[str, str], Mapping[str, float]]) -> DotPlot:
    names = [name for name in LEARNERS if all(name in costs for costs in means.values())]
    own = {name: ratios(means, name) for name in names}
    return DotPlot(
        "unseen",
        "Cost by that of the best rival",
        [_shown(problem) for problem in means],
        "cost / cost of the best rival",
        {_label(name): [found.get(problem, math.nan) for problem in means] for name, found in own.items()},
        1.0,
    )


TABLES = [replace(Grid().experiment(), in_folder=in_folder)]

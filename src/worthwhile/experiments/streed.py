"""The benchmark of pystreed: prices in two levels, three levels of error costs, fixed splits (`datasets.load_streed`).

Every learner is trained on the training cases of a split and measured on its test cases. pystreed's own learner, which
knows the prices, is a rival: its trees are exact, of depth 3, of depth 4, and tuned by its own cross-validation.
"""

from __future__ import annotations

import functools
import importlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from worthwhile.datasets.streed import STREED, STREED_LEVELS, StreedDataset, load_streed
from worthwhile.experiments.engine import Cell, Experiment, Family, Numbers, folder_set, parameters_of
from worthwhile.experiments.page import Breakdown, DotPlot, MeanInterval, ResultTable, TableEntry, ratio_text
from worthwhile.experiments.peers import (
    PYSTREED_SECONDS,
    PeerCases,
    Question,
    from_pystreed,
    priced_tree,
    pystreed_available,
)
from worthwhile.experiments.problems import CaseSet, LearnerSource, Row
from worthwhile.experiments.tuning import named
from worthwhile.learners.training import Training
from worthwhile.learners.tree_classifier import TreeClassifier

__all__ = ["TABLES", "PricedPystreedClassifier"]

SPLITS, QUICK_SPLITS = 30, 1
QUICK_DATA = ("glass", "heart", "iris")

LEARNERS = {
    name: LearnerSource(learner, always, effort, as_published=False)
    for name, learner, always, effort in (
        ("no-test", "NoTestClassifier", 0.01, 0.01),
        ("eg2", "EG2Classifier", 0.02, 0.1),
        ("dtmc", "DTMCClassifier", 0.02, 0.1),
        ("icet", "ICETClassifier", 2.0, 8.0),
        ("act", "ACTClassifier", 1.0, 2.0),
        ("optimal", "OptimalClassifier", 1.0, 1.0),
    )
}
PYSTREED = "pystreed"
# Training time relative to that of heart, roughly: by cases, columns and classes.
EFFORT = dict.fromkeys(STREED, 1.0) | {"annealing": 3.0, "car": 3.0, "krk": 20.0, "mushroom": 15.0, "nursery": 15.0}
# pystreed needs most of a minute for a single tree of depth 4: it is tuned up to depth 3.
LONG = ("krk", "soybean")
# pystreed ends the process if its tuning has used up the time.
TUNING_SECONDS = 3600.0

ACT = Row("ACT", "act")
DEFAULT = Row("OptimalClassifier", "optimal")
DEEPER = Row("OptimalClassifier, grown further", "optimal", {"deepen": "chosen"})
PEERS = (
    Row("pystreed, depth 3", PYSTREED, {"max_depth": 3}),
    Row("pystreed, depth 4", PYSTREED, {"max_depth": 4}),
    Row("pystreed, tuned", PYSTREED, {"max_depth": 4, "tuned": True}),
)
ROWS = (
    Row("no test", "no-test"),
    Row("EG2", "eg2", {"answer": "least-cost", "prune": "cost"}),
    Row("DTMC", "dtmc"),
    Row("ICET", "icet"),
    ACT,
    *PEERS,
    Row("exact, own labels", "optimal", {"cross_fit": False, "leaf_price": 0, "soft_labels": 0}),
    Row("exact, soft labels", "optimal", {"cross_fit": False, "leaf_price": 0, "soft_labels": 1}),
    DEFAULT,
    DEEPER,
)
LEVELS = {level: (level,) for level in STREED_LEVELS}
ALL = "all levels"


@dataclass(kw_only=True, eq=False, repr=False)
class PricedPystreedClassifier(TreeClassifier):
    """pystreed's exact tree for prices and error costs, on columns of 0 and 1.

    Its tree becomes one of ours and is priced like all others. Leaves give the answer of least cost, and a question
    that cannot change the answer is not asked.

    Parameters
    ----------
    cost_file : str
        The file of error costs and prices, as pystreed reads it; `costs` must say the same.
    max_depth : int, default 3
    tuned : bool, default False
        Whether pystreed chooses the number of nodes by its own five-fold validation.
    """

    cost_file: str = ""
    max_depth: int = 3
    tuned: bool = False

    def _learn(self, training: Training) -> None:
        pystreed = importlib.import_module("pystreed")
        cases = PeerCases.of(training)
        questions = [Question(column, threshold=0.5) for column in range(len(cases.arrays))]
        X = np.column_stack([array > 0 for array in cases.arrays]).astype(np.intc)
        # Classes that are missing among the training cases must keep their numbers.
        y = np.array([int(label) for label in training.labels])[training.classes].astype(np.intc)
        limit = TUNING_SECONDS if self.tuned else PYSTREED_SECONDS
        peer = pystreed.STreeDCostSensitiveClassifier(max_depth=self.max_depth, hyper_tune=self.tuned, time_limit=limit)
        specifier = importlib.import_module("pystreed.data").CostSpecifier(self.cost_file, len(training.labels))
        peer.fit(X, y, specifier)
        self.tree_ = priced_tree(from_pystreed(peer.tree_, questions, yes=0), cases, training)


@functools.lru_cache(maxsize=2)
def problem_of(name: str, level: str, folder: str | None) -> StreedDataset:
    """Load a problem, once for cells in a row."""
    with folder_set(folder):
        return load_streed(name, level, as_frame=False)


def load(name: str, folder: str | None) -> StreedDataset:
    """Load a problem by its name in a cell."""
    return problem_of(name, STREED_LEVELS[0], folder)


def measure(cell: Cell, folder: str | None) -> Numbers:
    """Train on the training cases of a split and measure the cost per case on the others."""
    problem = problem_of(cell.data, cell.errors, folder)
    train, test = problem.splits[cell.split]
    cases = CaseSet(np.asarray(problem.X), problem.y, problem.nominal, problem.feature_names, costs=problem.costs)
    learner, seconds = _fit(cell, cases.take(train), folder)
    X, y = cases.X[test], cases.y[test]
    tests, total = float(learner.test_costs(X, y=y).mean()), float(learner.total_costs(X, y).mean())
    return {"test_cost": tests, "total_cost": total, "nodes": learner.tree_.n_nodes, "seconds": seconds}


def _fit(cell: Cell, cases: CaseSet, folder: str | None) -> tuple[Any, float]:
    if cell.learner != PYSTREED:
        return LEARNERS[cell.learner].fit(cell, cases.costs, cases)
    path = Path(folder or "") / "streed_costs" / f"{cell.data}-{cell.errors}-costs.csv"
    parameters = parameters_of(cell.parameters)
    if parameters.get("tuned") and cell.data in LONG:
        parameters["max_depth"] = 3
    learner = PricedPystreedClassifier(
        costs=cases.costs,
        columns=list(cases.columns),
        cross_fit=False,
        cost_file=str(path),
        **parameters,
    )
    start = time.perf_counter()
    learner.fit(cases.X, cases.y)
    return learner, time.perf_counter() - start


def weight(cell: Cell) -> float:
    """Return roughly how many seconds a cell takes."""
    learner = LEARNERS.get(cell.learner)
    return EFFORT[cell.data] * (0.2 if learner is None else learner.always + learner.effort)


def order(cell: Cell) -> tuple[int, float]:
    """Return what runs first: whole splits, and in a split what is short."""
    return cell.split, weight(cell)


FAMILY = Family("streed", ("test_cost", "total_cost", "nodes", "seconds"), load, measure, weight, order)


def _rows() -> tuple[Row, ...]:
    return ROWS if pystreed_available() else tuple(row for row in ROWS if row not in PEERS)


def _data(quick: bool) -> Sequence[str]:
    return QUICK_DATA if quick else STREED


def _splits(quick: bool, seed: int) -> range:
    n_splits = QUICK_SPLITS if quick else SPLITS
    return range(seed % SPLITS, seed % SPLITS + n_splits) if quick else range(n_splits)


def _cells(quick: bool, seed: int) -> list[Cell]:
    return [
        Cell(data, "published", level, row.learner, row.text(), split)
        for split in _splits(quick, seed)
        for data in _data(quick)
        for level in STREED_LEVELS
        for row in _rows()
    ]


@dataclass(frozen=True)
class StreedResults:
    """The costs of all finished cells, by row, problem and split."""

    cells: Mapping[Cell, Numbers]
    quick: bool
    seed: int

    def costs(self, row: Row, data: str, level: str, number: str = "total_cost") -> dict[int, float]:
        """Return a number of a row by split."""
        found = {}
        for split in _splits(self.quick, self.seed):
            cell = Cell(data, "published", level, row.learner, row.text(), split)
            if cell in self.cells:
                found[split] = self.cells[cell][number]
        return found

    def mean(self, row: Row, data: str, level: str, splits: Sequence[int]) -> float:
        """Return the mean cost over some splits."""
        costs = self.costs(row, data, level)
        return float(np.mean([costs[split] for split in splits]))

    def common(self, data: str, level: str, rows: Sequence[Row]) -> list[int]:
        """Return the splits that all these rows have."""
        return sorted(set.intersection(*(set(self.costs(row, data, level)) for row in rows)))

    def problems(self, levels: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield data sets with levels."""
        for data in _data(self.quick):
            for level in levels:
                yield data, level

    def ratios(self, row: Row, other: Row, levels: Sequence[str]) -> dict[tuple[str, str], float]:
        """Return a row's mean cost relative to another's, on the splits that both have, by problem."""
        found = {}
        for data, level in self.problems(levels):
            if splits := self.common(data, level, (row, other)):
                below = self.mean(other, data, level, splits)
                if below > 0:
                    found[data, level] = self.mean(row, data, level, splits) / below
        return found

    def n_splits(self, row: Row) -> str:
        """Return how many splits of the problems are finished."""
        numbers = [len(self.costs(row, data, level)) for data, level in self.problems(STREED_LEVELS)]
        return f"{min(numbers)}" if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def geometric_mean(ratios: Mapping[Any, float]) -> float:
    """Return the geometric mean of positive numbers; NaN of none.

    Examples
    --------
    >>> geometric_mean({"a": 0.5, "b": 2.0})
    1.0
    """
    return math.exp(float(np.mean(np.log(list(ratios.values()))))) if ratios else math.nan


def _table(cells: Mapping[Cell, Numbers], quick: bool, seed: int) -> ResultTable:
    results, rows = StreedResults(cells, quick, seed), _rows()
    columns: dict[str, Sequence[str]] = {ALL: STREED_LEVELS, **LEVELS}
    entries = {
        (row.label, column): TableEntry(
            MeanInterval(geometric_mean(results.ratios(row, ACT, levels)), math.nan, digits=3)
        )
        for row in rows
        for column, levels in columns.items()
    }
    notes = [] if pystreed_available() else ["The rows of pystreed are left out: it is not installed."]
    return ResultTable(
        name="streed-costs",
        title="Cost on unseen cases, relative to ACT",
        rows=[row.label for row in rows],
        columns=list(columns),
        entries=entries,
        protocol=PROTOCOL,
        notes=[*notes, *_findings(results, rows)],
        breakdowns=[_work(results, rows), _against(results, rows), *_by_problem(results, rows)],
        pictures=[_picture(results, rows)],
        tuned=named(OWN, [row.label for row in rows]),
        reported=REPORTED,
    )


PROTOCOL = (
    "The benchmark of pystreed (Lomax 2013): 15 problems whose columns are 0 or 1, prices of attributes and groups of"
    " attributes, three levels of error costs, fixed splits. A learner is trained on the training cases of a split; its"
    " cost is the average price of tests plus errors on the test cases, averaged over the splits that both learners"
    " have. The table has the geometric mean of the ratio to ACT over problems.\n\n"
    "*OptimalClassifier*, *ACT*, *ICET* and *DTMC* have their default parameters; *EG2* is pruned by cost and answers"
    " at least cost. *exact*: `OptimalClassifier` of depth 4 without a leaf price; *grown further*: with"
    ' `deepen="chosen"`, so that a tree may be deeper than 4. pystreed\'s trees know the prices;'
    " *tuned* is its own choice of the number of nodes, up to depth 4 (krk and soybean: 3, for the time it takes)."
)
OWN = {
    "ICET": "ICETClassifier",
    ACT.label: "ACTClassifier",
    "exact, soft labels": "OptimalClassifier",
    DEFAULT.label: "OptimalClassifier",
    DEEPER.label: "OptimalClassifier",
}
REPORTED = "these 15 problems; heart, hepatitis and diabetes (pima) are Turney's data sets"


def _best_peer(results: StreedResults, data: str, level: str, splits: Sequence[int]) -> float:
    return min(results.mean(row, data, level, splits) for row in PEERS)


def _findings(results: StreedResults, rows: Sequence[Row]) -> list[str]:
    """Return sentences about the default against the best of the peers, and against the best of all."""
    by_peer, by_best = {}, {}
    for data, level in results.problems(STREED_LEVELS):
        # On splits that all have: a row with a few splits only would leave the others with as few.
        least = len(results.costs(DEFAULT, data, level)) / 2
        known = [row for row in rows if len(results.costs(row, data, level)) >= max(least, 1)]
        splits = results.common(data, level, known) if DEFAULT in known else []
        if not splits:
            continue
        own = results.mean(DEFAULT, data, level, splits)
        best = min(results.mean(row, data, level, splits) for row in known)
        if all(row in known for row in PEERS) and (peer := _best_peer(results, data, level, splits)) > 0:
            by_peer[f"{data} {level}"] = own / peer
        if best > 0:
            by_best[f"{data} {level}"] = own / best
    notes = []
    if by_peer:
        notes.append(
            "Against the best of pystreed's three trees, chosen with hindsight for every problem, OptimalClassifier"
            f" costs {geometric_mean(by_peer):.3f} in geometric mean of {len(by_peer)} problems."
        )
    if by_best:
        above = {name: ratio for name, ratio in by_best.items() if ratio > 1.05}
        listed = ", ".join(f"{name} {ratio:.2f}" for name, ratio in sorted(above.items(), key=lambda item: -item[1]))
        notes.append(
            "Against the best of all rows that have at least half as many splits there, chosen with hindsight:"
            f" {geometric_mean(by_best):.3f}; more than 5 % above it on {len(above)} of {len(by_best)} problems"
            f"{f' ({listed})' if above else ''}."
        )
    return notes


def _work(results: StreedResults, rows: Sequence[Row]) -> Breakdown:
    """Return how many splits are finished, and how long training takes."""
    lines = {}
    for row in rows:
        seconds = [
            value for d, e in results.problems(STREED_LEVELS) for value in results.costs(row, d, e, "seconds").values()
        ]
        lines[row.label] = [
            results.n_splits(row),
            f"{np.median(seconds):.2g}" if seconds else "–",
            f"{max(seconds):.2g}" if seconds else "–",
        ]
    return Breakdown("Finished splits and seconds of training", ["splits", "median", "longest"], lines)


def _against(results: StreedResults, rows: Sequence[Row]) -> Breakdown:
    """Return on how many problems OptimalClassifier costs less than each row."""
    lines = {}
    for row in rows:
        if row is not DEFAULT:
            by_problem = results.ratios(DEFAULT, row, STREED_LEVELS)
            ratios, sets = list(by_problem.values()), [data for data, _ in by_problem]
            less, more = sum(r < 1 - 1e-3 for r in ratios), sum(r > 1 + 1e-3 for r in ratios)
            lines[row.label] = [str(less), str(len(ratios) - less - more), str(more), ratio_text(ratios, sets)]
    title = "OptimalClassifier against each row: problems, and the ratio of costs with its 95 % interval over data sets"
    return Breakdown(title, ["less", "same", "more", "ratio"], lines)


def _by_problem(results: StreedResults, rows: Sequence[Row]) -> Iterator[Breakdown]:
    for level in STREED_LEVELS:
        lines = {}
        for data in _data(results.quick):
            means = [list(results.costs(row, data, level).values()) for row in rows]
            lines[data] = [float(np.mean(values)) if values else math.nan for values in means]
        title = f"Cost per case, error costs {level}, each learner on all splits that it has"
        yield Breakdown(title, [row.label for row in rows], lines)


def _picture(results: StreedResults, rows: Sequence[Row]) -> DotPlot:
    shown = [row for row in rows if row in (*PEERS, DEFAULT, DEEPER)]
    ratios = {row.label: results.ratios(row, ACT, STREED_LEVELS) for row in shown}
    problems = [each for each in results.problems(STREED_LEVELS) if any(each in own for own in ratios.values())]
    return DotPlot(
        "streed-costs",
        "Cost relative to ACT",
        [f"{data}, {level}" for data, level in problems],
        "cost / cost of ACT",
        {label: [own.get(problem, math.nan) for problem in problems] for label, own in ratios.items()},
        1.0,
    )


TABLES = [
    Experiment(
        name="streed-costs",
        title="pystreed's benchmark: cost on unseen cases",
        family=FAMILY,
        cells=_cells,
        table=_table,
    )
]

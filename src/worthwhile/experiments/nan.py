"""The experiments of Nan, Wang & Saligrama (2015), where BudgetRF was introduced.

Table 1 (features used by the first ten trees, beside a plain random forest), figure 4 (error against price; compared
with our choice of rivals: LightGBM with penalties for tests, and a random forest), figure 5 (impurities on small
data sets), and rankings made of two of our sets, since Yahoo! Rank is unavailable. Figures 1 to 3 are
worked examples, which are in the test suite.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from worthwhile.experiments.engine import Cell, Experiment, Numbers
from worthwhile.experiments.nan_cells import (
    BY_BUDGET,
    BY_RANK,
    FAMILY,
    LEARNERS,
    MOST_CASES,
    MOST_TREES,
    PAPER_TREES,
    POINTS,
    SHARES,
)
from worthwhile.experiments.nan_data import (
    ABSENT_LARGE,
    DATA,
    DRAWN,
    LARGE,
    NINTH,
    QUERY,
    RELEVANT,
    SIZES,
    SMALL,
    UNIT,
    has_ninth,
)
from worthwhile.experiments.nan_results import NanGrid, NanResults, Points, cell_of, published
from worthwhile.experiments.page import (
    Breakdown,
    MeanInterval,
    Panel,
    Picture,
    ResultTable,
    TableEntry,
    mean_interval,
)
from worthwhile.experiments.rivals import LEAVES, ROUNDS, SETS, catboost_available, lightgbm_available
from worthwhile.experiments.tuning import named
from worthwhile.learners.forest.classifier import ALPHAS

__all__ = ["TABLES", "published"]

RUNS = 10  # of table 1, as in the paper
BUDGET_SPLITS = 10  # of figure 4
SPLITS = 1  # of rankings: the test sets are large
NEAR = 2.0  # percentage points that a share of features may differ

# The paper's bootstrap, and our choice between two sampling methods.
BY_TREES: Mapping[str, list[dict[str, Any]]] = {
    "budget-rf": [{"alpha": 0, "sampling": "drawn"}],
    "budget-rf-chosen": [{"alpha": 0, "sampling": "chosen"}],
    "random-forest": [{}],
}
TREES = tuple(BY_TREES)

# The settings that each method of figure 4 chooses from, on the validation cases.
FEW_ALPHAS = (0, 8, 25)  # each with about two dozen sets of tests
LAZY = (0.001, 0.003, 0.01, 0.03, 0.06, 0.1, 0.2, 0.35, 0.6)
COUPLED = (1, 10, 30, 100, 300, 1000, 3000, 10000)
POWERS_OF_PRICE = (0.0, 0.5, 1.0)  # by which a forest's importance is divided, to select tests
COEFFICIENTS = (0.0, 0.3, 3.0, 30.0, 300.0)  # of CatBoost's penalties
CHOICES: Mapping[str, list[dict[str, Any]]] = {
    "adaptive": [{"alpha": alpha, "tests": "chosen"} for alpha in FEW_ALPHAS],
    "cascade": [{"base": "chosen"}],
    "budget": [{"alpha": alpha, "sampling": "drawn"} for alpha in ALPHAS],
    "lazy": [{"tradeoff": tradeoff} for tradeoff in LAZY],
    "coupled": [{"tradeoff": tradeoff} for tradeoff in COUPLED],
    "plain": [{}],
    "selected-forest": [{"power": power} for power in POWERS_OF_PRICE],
    "selected-boosting": [{"power": power} for power in POWERS_OF_PRICE],
    "catboost": [{"coefficient": coefficient} for coefficient in COEFFICIENTS],
}
RANK_CHOICES: Mapping[str, list[dict[str, Any]]] = {
    "rank-adaptive": CHOICES["adaptive"],
    "rank-budget": [{"alpha": 0, "sampling": "drawn"}],  # as in the paper
    "rank-lazy": CHOICES["lazy"],
    "rank-plain": [{}],
}
BOOSTED, CATBOOST = ("lazy", "coupled", "selected-boosting", "rank-lazy"), "catboost"
OURS, RIVALS = ("adaptive", "cascade"), ("lazy", "coupled", "plain", "selected-forest", "selected-boosting", CATBOOST)
OWN = {
    LEARNERS["adaptive"].label: "BudgetForestClassifier",
    LEARNERS["cascade"].label: "CascadeClassifier",
    LEARNERS["budget-rf-chosen"].label: "BudgetForestClassifier",
}
EITHER = "either"  # of ours: at each budget the one with fewer validation errors
LABELS = {name: learner.label for name, learner in LEARNERS.items()} | {EITHER: "ours, forest or cascade"}
PROBLEMS = (("covtype", UNIT), ("covtype", DRAWN), ("adult", DRAWN), ("credit", DRAWN), ("letter", DRAWN))
QUICK_PROBLEMS = (("credit", DRAWN),)

IMPURITIES: Mapping[str, dict[str, Any]] = {
    **{f"powers, l = {power}": {"impurity": "powers", "power": power} for power in (2, 3, 4, 5)},
    **{f"pairs, α = {alpha}": {"alpha": alpha} for alpha in (0, 2, 6, 10, 25)},
}
POWERS = [label for label in IMPURITIES if label.startswith("powers")]
THRESHOLDS = [label for label in IMPURITIES if label.startswith("pairs") and not label.endswith(" 0")]


def _splits(number: int, quick: bool, seed: int) -> range:
    """Return the splits of a seed; the quick version has the first of them."""
    return range(RUNS * seed, RUNS * seed + (1 if quick else number))


def _estimate(values: Sequence[float], digits: int) -> MeanInterval:
    found = mean_interval(values)
    return MeanInterval(found.mean, found.interval, digits)


# ---- table 1


def _cells_by_trees(quick: bool, seed: int) -> list[Cell]:
    return [
        cell_of(data, UNIT, learner, parameters, split)
        for data in LARGE
        for learner, settings in BY_TREES.items()
        for parameters in settings
        for split in _splits(RUNS, quick, seed)
    ]


def _by_trees(results: NanResults) -> ResultTable:
    """Table 1: the share of features that 1 to 10 trees use, and the error of the ten."""
    columns = [str(i) for i in range(1, POINTS + 1)]
    entries: dict[tuple[str, str], TableEntry] = {}
    errors: dict[str, list[float | str]] = {}
    panels, rows = [], []
    for data in LARGE:
        if not (splits := results.done(data, UNIT, BY_TREES)):
            continue
        lines: dict[str, list[float]] = {}
        found = {}
        for learner in TREES:
            row = f"{LARGE[data].title}: {LEARNERS[learner].label}"
            rows.append(row)
            runs = [results.points(data, UNIT, learner, BY_TREES[learner][0], split) for split in splits]
            entries |= _features_used(data, learner, runs, results.quick)
            found[learner] = 100 * np.mean([run.error[-1] for run in runs])
            lines[LEARNERS[learner].label] = [entries[row, column].ours.mean for column in columns]
            if ("table1", row, "1") in published():  # one line for both sampling methods
                lines[f"{LEARNERS[learner].label}, published"] = [published()["table1", row, c] for c in columns]
        errors[LARGE[data].title] = _error_texts(LARGE[data].title, found)
        panels.append(Panel(LARGE[data].title, lines))
    labels = [text for learner in TREES for text in (LEARNERS[learner].label, f"{LEARNERS[learner].label}, published")]
    x = [float(column) for column in columns]
    picture = Picture(
        "nan-table1", "Table 1: features used", x, "trees", "% of the features", panels, labels, linear=True, top=0
    )
    order = ("random-forest", *(learner for learner in TREES if learner != "random-forest"))
    heading = [*(LEARNERS[learner].label for learner in order), "published: random forest", "BudgetRF"]
    return results.page(
        [_SPLIT_NOTE.format(runs=_runs_text(results)), _ABSENT_LARGE],
        tuned=named(OWN, dict.fromkeys(row.split(": ", 1)[1] for row in rows)),
        reported="; ".join(panel.title for panel in panels),
        rows=rows,
        columns=columns,
        entries=entries,
        breakdowns=[
            Breakdown(
                "Errors of ten trees, in % of the test cases (difference from the random forest)", heading, errors
            )
        ]
        if errors
        else [],
        pictures=[picture] if panels else [],
        block=5,
    )


def _runs_text(results: NanResults) -> str:
    return "one split" if results.quick else f"{RUNS} splits"


def _features_used(data: str, learner: str, runs: Sequence[Points], rough: bool) -> dict[tuple[str, str], TableEntry]:
    title, entries = LARGE[data].title, {}
    for i in range(POINTS):
        there = _published(title, learner, str(i + 1))
        ours = _estimate([100 * run.price[i] for run in runs], digits=2)
        number = None if there is None else (there, math.nan)
        entry = TableEntry(ours, number, rough, digits=2, tolerance=NEAR)
        entries[f"{title}: {LEARNERS[learner].label}", str(i + 1)] = entry
    return entries


def _published(title: str, learner: str, column: str) -> float | None:
    """Return the published number of a forest; both sampling methods of BudgetRF are compared with the same one."""
    label = LEARNERS["random-forest" if learner == "random-forest" else "budget-rf"].label
    return published().get(("table1", f"{title}: {label}", column))


def _error_texts(title: str, ours: Mapping[str, float]) -> list[float | str]:
    """Return the errors of the forests and their differences from the random forest, ours and published."""
    base = ours["random-forest"]
    more = (f"{error:.2f} ({error - base:+.2f})" for learner, error in ours.items() if learner != "random-forest")
    first, second = (_published(title, learner, "error") for learner in ("random-forest", "budget-rf"))
    there = ["", ""] if first is None or second is None else [f"{first:.2f}", f"{second:.2f} ({second - first:+.2f})"]
    return [f"{base:.2f}", *more, *there]


_SPLIT_NOTE = (
    "Numbers are the average percentage of features that a test case uses in the first 1, 2, … 10 trees together; ±"
    " is the 95 % confidence interval over {runs}. Every feature costs 1. BudgetRF has α = 0 and draws cases with"
    " replacement; *sampling chosen* takes all of them with random weights if that has fewer validation errors. The"
    " random forest is scikit-learn's and tries 8 columns per node, as in the paper. Forest is split at random into"
    f" {SIZES[0]:,} / {SIZES[1]:,} / {SIZES[2]:,} training, validation and test cases; the authors' own split is"
    " unknown, and their random forest makes fewer errors than ours, so only the differences are comparable. The"
    " other sets are split in the same proportions."
)
_ABSENT_LARGE = (
    f"The other sets of the paper, {', '.join(ABSENT_LARGE)}, are unavailable: we have no copy of them, and the"
    " features of the last were computed by a program of other authors. adult, credit default and letter are ours,"
    " under the same protocol."
)


# ---- figure 4


def _choices(quick: bool) -> dict[str, list[dict[str, Any]]]:
    """Return the settings of each method; methods of libraries that are not installed are left out."""
    absent = [*(() if lightgbm_available() else BOOSTED), *(() if catboost_available() else (CATBOOST,))]
    absent += ["cascade"] if quick else []  # it takes a minute on the smallest set
    methods = {name: CHOICES[name] for name in BY_BUDGET if name not in absent}
    return {name: _middle(settings) if quick else settings for name, settings in methods.items()}


def _middle(settings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return at most two settings, from the middle of their range.

    Examples
    --------
    >>> [setting["alpha"] for setting in _middle([{"alpha": alpha} for alpha in ALPHAS])]
    [6, 15]
    """
    third = len(settings) // 3
    return settings[third :: max(1, third)][:2]


def _problems(quick: bool) -> tuple[tuple[str, str], ...]:
    return QUICK_PROBLEMS if quick else PROBLEMS


def _cells_by_budget(quick: bool, seed: int) -> list[Cell]:
    return _grid(_problems(quick), _choices(quick), _splits(BUDGET_SPLITS, quick, seed))


def _grid(
    problems: Sequence[tuple[str, str]], choices: Mapping[str, list[dict[str, Any]]], splits: Sequence[int]
) -> list[Cell]:
    """Return a cell for each problem, setting of a method and split."""
    return [
        cell_of(data, prices, learner, parameters, split)
        for data, prices in problems
        for learner, settings in choices.items()
        for parameters in settings
        for split in splits
    ]


@dataclass(frozen=True, eq=False)
class BudgetCurve:
    """Price and error of a method at each budget, in percent."""

    price: Any
    error: Any


def chosen_curve(choices: Sequence[Points]) -> BudgetCurve:
    """Return the curve of a method on a split: at each budget the setting with the fewest validation errors."""
    best = np.argmin([points.valid_error for points in choices], axis=0)
    budgets = np.arange(POINTS)
    return BudgetCurve(
        100 * np.array([points.price for points in choices])[best, budgets],
        100 * np.array([points.error for points in choices])[best, budgets],
    )


def _by_budget(results: NanResults) -> ResultTable:
    """Figure 4: error at ten budgets."""
    curves: dict[str, dict[str, BudgetCurve]] = {}
    finished = list[str]()
    for data, prices in _problems(results.quick):
        # A rival that has not run on a problem does not keep the others from being shown.
        methods = {
            name: settings
            for name, settings in _choices(results.quick).items()
            if results.done(data, prices, {name: settings})
        }
        if not all(any(name in methods for name in some) for some in (OURS, RIVALS)):
            continue
        if splits := results.done(data, prices, methods):
            settings = {learner: [(learner, one) for one in own] for learner, own in methods.items()}
            settings[EITHER] = [choice for name in OURS if name in methods for choice in settings[name]]
            curves[_problem_title(data, prices)] = {
                learner: _mean_curve(
                    [chosen_curve([results.points(data, prices, *one, split) for one in own]) for split in splits]
                )
                for learner, own in settings.items()
            }
            finished.append(f"{_problem_title(data, prices)} {len(splits)}")
    budgets = [f"{100 * share:g} %" for share in SHARES]
    entries = {
        (f"{problem}: {LABELS[learner]}", budget): TableEntry(MeanInterval(float(curve.error[i]), math.nan))
        for problem, by_learner in curves.items()
        for learner, curve in by_learner.items()
        for i, budget in enumerate(budgets)
    }
    labels = [row.split(": ", 1)[1] for row, _ in entries]
    return results.page(
        [*_budget_notes(finished), *_verdicts(curves)],
        tuned=named(OWN, dict.fromkeys(labels)),
        reported="; ".join(curves),
        rows=list(dict.fromkeys(row for row, _ in entries)),
        columns=budgets,
        entries=entries,
        breakdowns=_comparisons(curves, budgets),
        pictures=[_budget_picture(curves)] if curves else [],
        block=POINTS,
    )


def _mean_curve(curves: Sequence[BudgetCurve]) -> BudgetCurve:
    return BudgetCurve(np.mean([c.price for c in curves], axis=0), np.mean([c.error for c in curves], axis=0))


def _problem_title(data: str, prices: str) -> str:
    return f"{DATA[data].title}, {prices} prices"


def margins(curves: Mapping[str, BudgetCurve]) -> Any:
    """Return the error of the better of ours minus that of the best rival at each budget, in percentage points."""
    rivals = np.min([curves[name].error for name in RIVALS if name in curves], axis=0)
    return np.round(curves[EITHER].error - rivals, 9)  # without rounding errors


def _verdicts(curves: Mapping[str, Mapping[str, BudgetCurve]]) -> list[str]:
    """Return a note on the number of budgets where ours is as good as the best rival."""
    if not curves:
        return []
    found = {problem: margins(by_learner) for problem, by_learner in curves.items()}
    told = "; ".join(f"{problem} {(m <= 0).sum()} (below at {(m < 0).sum()})" for problem, m in found.items())
    return [f"Of the {POINTS} budgets, *{LABELS[EITHER]}* is at or below the best rival at: {told}."]


def _comparisons(curves: Mapping[str, Mapping[str, BudgetCurve]], budgets: Sequence[str]) -> list[Breakdown]:
    if not curves:
        return []
    least, behind, paid = {}, {}, {}
    for problem, by_learner in curves.items():
        least[problem] = [_least(by_learner, i) for i in range(len(budgets))]
        behind[problem] = [f"{margin:+.1f}" for margin in margins(by_learner)]
        for learner, curve in by_learner.items():
            paid[f"{problem}: {LABELS[learner]}"] = [float(price) for price in curve.price]
    best = "the best of the rows of other libraries"
    return [
        Breakdown("Lowest error", list(budgets), least),
        Breakdown(
            f"*{LABELS[EITHER]}* against the best rival ({best}), in percentage points: negative means fewer errors",
            list(budgets),
            behind,
        ),
        Breakdown("What is paid on the test cases, in % of the price of all tests", list(budgets), paid),
    ]


def _least(curves: Mapping[str, BudgetCurve], budget: int) -> str:
    """Return the methods with the lowest error at a budget."""
    errors = {LABELS[name]: round(float(curve.error[budget]), 9) for name, curve in curves.items() if name != EITHER}
    first = [label for label, error in errors.items() if error == min(errors.values())]
    return "all equal" if len(first) == len(errors) else "; ".join(first)


def _budget_picture(curves: Mapping[str, Mapping[str, BudgetCurve]]) -> Picture:
    panels = [
        Panel(
            problem,
            {LABELS[learner]: curve.error.tolist() for learner, curve in by_learner.items()},
            own_x={LABELS[learner]: curve.price.tolist() for learner, curve in by_learner.items()},
        )
        for problem, by_learner in curves.items()
    ]
    labels = [LABELS[learner] for learner in (EITHER, *BY_BUDGET)]
    return Picture(
        "nan-figure4",
        "Figure 4: error against price",
        [],
        "paid, % of the price of all tests",
        "errors, % of the test cases",
        panels,
        labels,
        linear=True,
        top=0,
    )


def _budget_notes(finished: Sequence[str]) -> list[str]:
    without = [] if lightgbm_available() else ["LightGBM is not installed (extra `bench`): its rows are left out."]
    without += [] if catboost_available() else ["CatBoost is not installed: its row is left out."]
    return [
        *without,
        f"Errors in percent of the test cases, averages over splits ({'; '.join(finished)}) like those of table 1, but"
        f" with at most {MOST_CASES[0]:,} training and {MOST_CASES[1]:,} test cases. These are not the conditions of"
        " the paper's figure 4: there, all training cases (36,603 of Forest) are used, in splits that we do not have,"
        " and other sets and rivals; here, samples of our own splits, unit prices on Forest, drawn prices on the other"
        " sets. Nothing is compared with published numbers. The columns are budgets,"
        " in percent of the price of all tests: what a case may pay, on average over the validation cases."
        " On these cases, every method also chooses among its settings within the budget. *BudgetRF*, as in the paper,"
        f" with up to {PAPER_TREES} trees: the α out of {', '.join(map(str, ALPHAS))}. *BudgetForest, adaptive*: the α"
        f" out of {', '.join(map(str, FEW_ALPHAS))}, the set of tests that all trees share, and after how many of"
        f' {MOST_TREES} trees a case stops (`adaptive=True, tests="chosen"`). *Cascade*: one for each budget'
        " (`CascadeClassifier.fit_budgets`). *Ours*: of these two, at each budget the one with fewer validation errors."
        f" *CEGB*, LightGBM's {ROUNDS[-1]} rounds of trees of {LEAVES} leaves with penalties for tests, *lazy* per case"
        f" or *coupled* once for all cases: the weight of the penalties ({len(LAZY)} and {len(COUPLED)} values of"
        " `cegb_tradeoff`), and the number of rounds. The random forest: how many of its"
        f" {MOST_TREES} trees. No test at all,"
        " with the most frequent class as answer, is always among the rivals' choices. A case pays for the union of the"
        f" tests on its paths through all trees. *Selected tests*: a forest of {MOST_TREES} trees, or LightGBM, on the"
        f" first tests by a forest's importance divided by the price to the power of"
        f" {', '.join(f'{power:g}' for power in POWERS_OF_PRICE)}; {SETS} numbers of tests, bought for all cases."
        f" *CatBoost*: {len(COEFFICIENTS)} weights of its penalties for the first use of a test; all cases pay for the"
        " tests that it uses.",
        "The sets have no published prices. *unit*: every test costs 1; *drawn*: 1 to 100, more informative tests"
        " tend to cost more, without groups, which CEGB does not support; a new list for each split.",
    ]


# ---- rankings


def _rank_choices(quick: bool) -> dict[str, list[dict[str, Any]]]:
    absent = () if lightgbm_available() else BOOSTED
    methods = {name: RANK_CHOICES[name] for name in BY_RANK if name not in absent}
    return {name: _middle(settings) if quick else settings for name, settings in methods.items()}


def _rank_problems(quick: bool) -> tuple[tuple[str, str], ...]:
    return QUICK_PROBLEMS if quick else tuple((data, DRAWN) for data in RELEVANT)


def _cells_by_rank(quick: bool, seed: int) -> list[Cell]:
    return _grid(_rank_problems(quick), _rank_choices(quick), _splits(SPLITS, quick, seed))


def _by_rank(results: NanResults) -> ResultTable:
    """Rankings: Average Precision@5 at ten budgets."""
    budgets = [f"{100 * share:g} %" for share in SHARES]
    entries: dict[tuple[str, str], TableEntry] = {}
    paid: dict[str, list[float | str]] = {}
    panels, labels, finished = [], [LEARNERS[learner].label for learner in BY_RANK], list[str]()
    for data, prices in _rank_problems(results.quick):
        title = _problem_title(data, prices)
        lines, own_x, n_splits = {}, {}, set[int]()
        for learner, settings in _rank_choices(results.quick).items():
            if not (splits := results.done(data, prices, {learner: settings})):
                continue
            n_splits.add(len(splits))
            curve = _mean_curve(
                [
                    chosen_curve([results.points(data, prices, learner, setting, split) for setting in settings])
                    for split in splits
                ]
            )
            label = LEARNERS[learner].label
            lines[label], own_x[label] = (100 - curve.error).tolist(), curve.price.tolist()
            paid[f"{title}: {label}"] = own_x[label]
            for budget, precision in zip(budgets, lines[label], strict=True):
                entries[f"{title}: {label}", budget] = TableEntry(MeanInterval(precision, math.nan))
        if lines:
            panels.append(Panel(title, lines, own_x=own_x))
            finished.append(f"{title} {' to '.join(map(str, sorted(n_splits)))}")
    picture = Picture(
        "nan-ranking",
        "Average Precision@5 against price",
        [],
        "paid, % of the price of all tests",
        "Average Precision@5, %",
        panels,
        labels,
        linear=True,
    )
    title = "What is paid on the test cases, in % of the price of all tests"
    without = [] if lightgbm_available() else ["LightGBM is not installed: its row is left out."]
    averages = [f"Averages over splits: {'; '.join(finished)}."] if finished else []
    return results.page(
        [*without, *averages, _RANK_NOTE],
        tuned=named(OWN, [label for label in labels if any(row.endswith(f": {label}") for row, _ in entries)]),
        reported="; ".join(panel.title for panel in panels),
        rows=list(dict.fromkeys(row for row, _ in entries)),
        columns=budgets,
        entries=entries,
        breakdowns=[Breakdown(title, budgets, paid)] if paid else [],
        pictures=[picture] if panels else [],
        block=POINTS,
    )


_RANK_NOTE = (
    "Average Precision@5 as in section 3 of the paper, in percent: of the first five cases of a query, the share before"
    " the first irrelevant one. Its data, Yahoo! Rank, are unavailable, and no package of the Python registry that we"
    f" looked into brings a sample for learning to rank, so the queries are constructed: {QUERY} random cases of adult"
    " or credit default each, where those of the rarer class (an income above 50,000, a default) are relevant. The"
    " cases of a query have nothing else in common. They are ranked by the probability of that class. Splits, prices"
    " and budgets are those of figure 4. *BudgetRF* has α = 0, as in the paper; the other methods choose among the"
    " settings of figure 4 on the validation cases, by Average Precision@5. Nothing is published for this construction."
)


# ---- figure 5


def _cells_by_depth(quick: bool, seed: int, ninth: bool = False) -> list[Cell]:
    """Return the cells; nothing is random here, and the quick version leaves out the largest set."""
    return [
        cell_of(data, UNIT, "greedy-tree", parameters, 0)
        for data in SMALL
        if (not quick or data != "dna") and (ninth or data != NINTH)
        for parameters in IMPURITIES.values()
    ]


def _by_depth(results: NanResults) -> ResultTable:
    """Figure 5: the training error of trees of limited depth."""
    learners = {"greedy-tree": list(IMPURITIES.values())}
    columns = [str(depth) for depth in range(1, POINTS + 1)]
    entries: dict[tuple[str, str], TableEntry] = {}
    panels, ahead = [], []
    for data in SMALL:
        if not results.done(data, UNIT, learners):
            continue
        found = {
            label: results.points(data, UNIT, "greedy-tree", parameters, 0) for label, parameters in IMPURITIES.items()
        }
        lines = {label: (100 * points.error).tolist() for label, points in found.items()}
        # A line ends where its tree stops growing.
        ends = {label: points.price.tolist() for label, points in found.items()}
        panels.append(Panel(SMALL[data].title, lines, own_x=ends))
        best = {
            kind: np.min([lines[label] for label in labels], axis=0)
            for kind, labels in (("powers", POWERS), ("pairs, α > 0", THRESHOLDS))
        }
        ahead.append(np.sign(np.round(best["pairs, α > 0"] - best["powers"], 9)))
        for kind, errors in best.items():
            for column, error in zip(columns, errors, strict=True):
                entries[f"{SMALL[data].title}: {kind}", column] = TableEntry(MeanInterval(float(error), math.nan))
    counts = {
        what: [str(int(sum(sign[i] == which for sign in ahead))) for i in range(POINTS)]
        for what, which in (("pairs, α > 0, better", -1), ("equal", 0), ("powers better", 1))
    }
    x = [float(column) for column in columns]
    title = "Figure 5: training error against max-cost"
    picture = Picture("nan-figure5", title, x, "max-cost", "errors, %", panels, list(IMPURITIES), linear=True, top=0)
    absent = [] if any(panel.title == SMALL[NINTH].title for panel in panels) else [_NO_NINTH]
    return results.page(
        [_DEPTH_NOTE, *absent],
        rows=list(dict.fromkeys(row for row, _ in entries)),
        columns=columns,
        entries=entries,
        breakdowns=[Breakdown("Number of data sets", columns, counts)] if ahead else [],
        pictures=[picture] if panels else [],
        block=POINTS,
    )


_DEPTH_NOTE = (
    "Training errors, in percent, of a single GreedyTree; the columns are the highest price of a case, every test"
    " costing 1, in trees of limited depth. Numeric columns are rounded to ten"
    " levels, a test has a branch for every level, identical cases become one with their most frequent class: each"
    " set has as many distinct cases as the paper's appendix says. *powers*: the best of l = 2, 3, 4 and 5;"
    " *pairs*: the best of α = 2, 6, 10 and 25, which stop early. Powers with l = 2 are twice the pairs with α = 0: the"
    " same tree."
)
_NO_NINTH = (
    f"The ninth set of the paper, mammography, is taken from the data folder if it has {DATA[NINTH].source}.csv (the"
    " 830 complete cases of *mammographic masses*); it was not there."
)

GRIDS = (
    NanGrid("table1", "Table 1: features used by the first trees", _cells_by_trees, _by_trees),
    NanGrid("figure4", "Figure 4: error against price", _cells_by_budget, _by_budget),
    NanGrid("figure5", "Figure 5: powers against threshold-pairs", _cells_by_depth, _by_depth),
    NanGrid("ranking", "Rankings: Average Precision@5 against price", _cells_by_rank, _by_rank),
)


def _table(grid: NanGrid, cells: Mapping[Cell, Numbers], quick: bool, seed: int) -> ResultTable:
    return grid.table(NanResults(grid, cells, quick, seed))


def _with_ninth(folder: str | None, quick: bool) -> tuple[Experiment, Sequence[str]]:
    """Return figure 5 with the ninth set of the paper if the folder has it."""
    [figure] = [grid for grid in GRIDS if grid.name == "figure5"]
    cells = functools.partial(_cells_by_depth, ninth=has_ninth(folder))
    grid = replace(figure, cells=cells)
    name, title = f"nan-{grid.name}", grid.title
    return Experiment(name, title, FAMILY, cells, functools.partial(_table, grid)), []


TABLES = [
    Experiment(
        name=f"nan-{grid.name}",
        title=grid.title,
        family=FAMILY,
        cells=grid.cells,
        table=functools.partial(_table, grid),
        in_folder=_with_ninth if grid.name == "figure5" else None,
    )
    for grid in GRIDS
]

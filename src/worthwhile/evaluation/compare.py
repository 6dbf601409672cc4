"""Cross-validation of several learners on the same folds: what `worthwhile compare` does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import listing
from worthwhile.evaluation.baselines import NO_TEST, StrategyCosts, case_matrix, measure
from worthwhile.evaluation.baselines import baselines as simple_strategies
from worthwhile.evaluation.case_costs import CaseCosts
from worthwhile.evaluation.intervals import (
    LEVEL,
    Estimate,
    bootstrap,
    cost_columns,
    estimate,
    p_value,
    stacked,
)
from worthwhile.evaluation.metrics import Comparison, compare
from worthwhile.evaluation.text_table import text_table
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.progress import Progress
from worthwhile.parallel.workers import run_unordered
from worthwhile.table.columns import as_frame, nominal_positions, read_columns
from worthwhile.table.identifiers import find_identifiers
from worthwhile.table.schema import Schema
from worthwhile.table.targets import read_classes
from worthwhile.tree.context import ProblemContext, label_column
from worthwhile.wording import amount

__all__ = ["CrossComparison", "Standing", "cross_compare"]

FOLDS = 10


@dataclass(frozen=True)
class Standing:
    """What one learner costs per case in a cross-validation; see `cross_compare`.

    Attributes
    ----------
    name : str
    test_cost, error_cost, total_cost : Estimate
    error_rate : float
    normalized : float or None
    seconds : float
        Training time per fold.
    against_best : Comparison or None
        Paired tests over the folds against the learner with the lowest cost; None for that learner itself.
    folds : tuple of float
        Mean total cost on each fold.
    baseline : bool
        A simple strategy, not one of the learners.
    """

    name: str
    test_cost: Estimate
    error_cost: Estimate
    total_cost: Estimate
    error_rate: float
    normalized: float | None
    seconds: float
    against_best: Comparison | None
    folds: tuple[float, ...]
    baseline: bool = False

    @property
    def label(self) -> str:
        """The name, shortened and marked if it is a baseline."""
        return f"{self.name.removesuffix(', best plain tree')} (baseline)" if self.baseline else self.name


@dataclass(frozen=True)
class CrossComparison:
    """Several learners on the same folds, the one with the lowest cost first, then baselines; see `cross_compare`."""

    standings: tuple[Standing, ...]
    n_cases: int
    n_folds: int
    repeats: int

    def rows(self) -> list[dict[str, Any]]:
        """Return one mapping per learner and baseline, e.g. for a CSV file or a data frame."""
        rows = []
        for standing in self.standings:
            test = standing.against_best
            rows.append(
                {
                    "learner": standing.name,
                    "baseline": standing.baseline,
                    **cost_columns(standing),
                    "error_rate": standing.error_rate,
                }
                | {"normalized": standing.normalized, "seconds": standing.seconds}
                | {"difference": 0.0 if test is None else test.difference}
                | {"t_test": None if test is None else test.t_test}
                | {"wilcoxon": None if test is None else test.wilcoxon}
            )
        return rows

    def layout(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings and cells of a table to print; the interval is below the total."""
        rows: list[list[str]] = []
        for standing in self.standings:
            test = standing.against_best
            paired = ["", "", ""]
            if test is not None:
                more = standing.total_cost.mean - self.standings[0].total_cost.mean
                paired = [amount(more, fine=True), p_value(test.t_test), p_value(test.wilcoxon)]
            parts = [amount(part.mean, fine=True) for part in (standing.test_cost, standing.error_cost)]
            money = [*parts, stacked(standing.total_cost)]
            if standing.baseline and not any(row[0] == "Baselines" for row in rows):
                rows.append(["Baselines", *[""] * 7])
            name = standing.label.removesuffix(" (baseline)")
            rows.append([name, *money, f"{standing.error_rate:.1%}", *paired])
        return ["learner", "tests", "errors", "total", "wrong", "more", "t-test", "Wilcoxon"], rows

    @property
    def title(self) -> str:
        """What the table shows, and for which cases."""
        repeats = f", {self.repeats} repetitions" if self.repeats > 1 else ""
        folds = f"{self.n_folds}-fold cross-validation{repeats}"
        return f"Cost per case over {self.n_cases} cases, {folds}, with {LEVEL:.0%} intervals"

    @property
    def note(self) -> str:
        """How to read the table."""
        best = self.standings[0].name
        alike = [s.name for s in self._others() if s.against_best and s.against_best.t_test >= 1 - LEVEL]
        others = f"not significantly worse: {', '.join(alike)}" if alike else "all others cost significantly more"
        cheaper = [
            s.name for s in self.standings if s.baseline and s.total_cost.mean < self.standings[0].total_cost.mean
        ]
        simple = f"; cheaper than all learners: {', '.join(cheaper)}" if cheaper else ""
        return (
            f"more: extra cost compared with {best}, the best, with p-values of paired tests over the folds;"
            f" {others}{simple}"
        )

    def _others(self) -> list[Standing]:
        """The learners that are not the best."""
        return [standing for standing in self.standings[1:] if not standing.baseline]

    def __str__(self) -> str:
        return "\n".join([self.title, text_table(*self.layout()), self.note])

    def plot(self, ax: Any = None) -> Any:
        """Draw a bar of test and error costs for each learner, with the interval of the total, and return the axes."""
        from worthwhile.evaluation.comparison_plot import plot_comparison

        return plot_comparison(self, ax)


def cross_compare(
    learners: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    folds: int = FOLDS,
    repeats: int = 1,
    random_state: int = 0,
    n_jobs: int | None = None,
    tell: Callable[[Progress], Any] | None = None,
    baselines: bool = False,
    case_prices: Any = None,
    case_errors: Any = None,
) -> CrossComparison:
    """Cross-validate several learners on the same folds.

    Parameters
    ----------
    learners : mapping of name to learner
        At least two, all with the same costs; they are cloned, not changed.
    X, y : cases and their classes
    folds : int, default 10
        Number of stratified folds.
    repeats : int, default 1
        Number of cross-validation repetitions. Intervals are those of each case's mean over the repetitions.
    random_state : int
        Seed of the folds and of the bootstrap.
    n_jobs : int, optional
        Number of processes, as in joblib; the active joblib backend is used.
    tell : function, optional
        Called with a `Progress` before the first fit and after each one.
    baselines : bool, default False
        Whether simple strategies are compared, too, on the same folds: no test; free tests only; all tests, then a
        plain tree; C4.5 tuned by cross-validation. They come after the learners.
    case_prices, case_errors : tables, optional
        What tests and errors cost each case, as in `fit`: in learning and in measuring.

    Notes
    -----
    The training sets of the folds overlap, so these p-values are smaller than on independent samples.

    Examples
    --------
    >>> import worthwhile as ww
    >>> pima = ww.datasets.load("pima", as_frame=False)
    >>> known = {"costs": pima.costs, "columns": pima.feature_names}
    >>> learners = {"dtmc": ww.DTMCClassifier(**known), "c45": ww.C45Classifier(**known)}
    >>> found = cross_compare(learners, pima.X, pima.y, folds=5)
    >>> [standing.name for standing in found.standings]
    ['dtmc', 'c45']
    >>> round(found.standings[1].against_best.difference, 2)
    34.31
    """
    from sklearn.base import clone

    tell = tell or (lambda _: None)
    start = time.monotonic()
    costs = _common_costs(learners)
    truth = label_column(y)
    labels, index = read_classes(truth, len(truth), "cross_compare")
    _check_folds(folds, repeats, len(truth), len(labels))
    rng = np.random.default_rng(random_state)
    assignments = [stratified_folds(index, folds, rng) for _ in range(repeats)]
    by_case = _case_costs(next(iter(learners.values())), costs, X, labels.tolist(), case_prices, case_errors)
    due: dict[Any, Any] = {name: clone(learner) for name, learner in learners.items()}
    if baselines:
        due[None] = _Baselines(costs, X, next(iter(learners.values())), random_state)
    tasks = [(name, repeat, fold) for repeat in range(repeats) for fold in range(folds) for name in due]
    tell(Progress(0.0, 0, len(tasks)))
    fits = (
        ((n, r, f), clone(due[n], safe=False), costs, X, truth, by_case, np.flatnonzero(assignments[r] == f))
        for n, r, f in tasks
    )
    found: dict[tuple[str, int, int], tuple[StrategyCosts, float]] = {}
    for done, (measured, seconds) in enumerate(run_unordered(_fit_and_measure, fits, n_jobs), 1):
        found |= {key: (costs_there, seconds) for key, costs_there in measured.items()}
        tell(Progress(time.monotonic() - start, done, len(tasks)))
    standard = costs.standard_cost(truth)
    standings = _standings(list(learners), assignments, found, standard if standard > 0 else None, rng)
    return CrossComparison(standings, len(truth), folds, repeats)


def _case_costs(learner: Any, costs: Costs, X: Any, labels: list[Any], case_prices: Any, case_errors: Any) -> CaseCosts:
    """Return what depends on the case, by the columns that a learner would see."""
    if case_prices is None and case_errors is None:
        return CaseCosts()
    columns = read_columns(as_frame(X), getattr(learner, "columns", None), getattr(learner, "nominal", None))
    context = ProblemContext.of(Schema.learn(columns), labels, costs)
    return CaseCosts.of(context, case_prices, case_errors, columns.n_cases)


def _common_costs(learners: Mapping[str, Any]) -> Costs:
    if len(learners) < 2:
        raise ValueError(f"a comparison needs at least two learners, got {listing(learners)}")
    costs = {name: getattr(learner, "costs", None) or Costs() for name, learner in learners.items()}
    first = next(iter(costs.values()))
    for name, other in costs.items():
        if other != first:
            raise ValueError(f"all learners must have the same costs, but {name!r} has different ones")
    return first


def _check_folds(folds: int, repeats: int, n_cases: int, n_classes: int) -> None:
    if not 2 <= folds <= n_cases:
        raise ValueError(f"invalid folds={folds}; it must be between 2 and the number of cases, {n_cases}")
    if repeats < 1:
        raise ValueError(f"invalid repeats={repeats}; it must be at least 1")
    if n_classes < 2:
        raise ValueError("y has only one class; there is nothing to learn")


class _Baselines:
    """The simple strategies of `baselines`, by the columns that a learner would see."""

    def __init__(self, costs: Costs, X: Any, learner: Any, seed: int) -> None:
        names, nominal = getattr(learner, "columns", None), getattr(learner, "nominal", None)
        columns = read_columns(as_frame(X), names, nominal)
        unused = find_identifiers(columns, nominal_positions(columns.names, nominal))
        schema = Schema.learn(columns, nominal, unused)
        kinds = [name for name, values in zip(schema.names, schema.values, strict=True) if values is not None]
        self._costs, self._seed = costs, seed
        self._kinds = {"columns": schema.names, "nominal": kinds}
        self._cases = case_matrix(columns, unused)

    def measure(
        self, y: npt.NDArray[Any], rest: npt.NDArray[Any], held_out: npt.NDArray[Any], by_case: CaseCosts
    ) -> list[StrategyCosts]:
        """Train them on some cases and measure them on others."""
        X, rng = self._cases, np.random.default_rng([self._seed, int(held_out[0])])
        cases = X[rest], y[rest], X[held_out], y[held_out]
        own = by_case.take(rest), by_case.take(held_out)
        first, *others = simple_strategies(self._costs, self._kinds, *cases, rng, *own)
        return [replace(first, name=NO_TEST), *others]  # the answer depends on the fold


def _fit_and_measure(
    fit: tuple[tuple[Any, int, int], Any, Costs, Any, npt.NDArray[Any], CaseCosts, npt.NDArray[np.intp]],
) -> tuple[dict[tuple[str, int, int], StrategyCosts], float]:
    """Train on all cases outside a fold, and measure on the fold."""
    from sklearn.utils import _safe_indexing

    key, learner, costs, X, y, by_case, held_out = fit
    rest = np.setdiff1d(np.arange(len(y)), held_out, assume_unique=True)
    start = time.perf_counter()
    if isinstance(learner, _Baselines):
        found = learner.measure(y, rest, held_out, by_case)
        seconds = (time.perf_counter() - start) / len(found)
        return {(own.name, *key[1:]): own for own in found}, seconds
    learner.fit(_safe_indexing(X, rest), y[rest], **by_case.take(rest).for_fit(costs, y[rest]))
    seconds = time.perf_counter() - start
    own = by_case.take(held_out)
    return {key: measure(key[0], learner, _safe_indexing(X, held_out), y[held_out], own=own)}, seconds


def _standings(
    learners: list[str],
    assignments: list[npt.NDArray[np.intp]],
    found: Mapping[tuple[str, int, int], tuple[StrategyCosts, float]],
    standard: float | None,
    rng: np.random.Generator,
) -> tuple[Standing, ...]:
    names = list(dict.fromkeys([*learners, *(name for name, _, _ in found)]))  # then the baselines
    n_folds = int(assignments[0].max()) + 1
    n_cases = len(assignments[0])
    parts = np.zeros((n_cases, 3 * len(names)))  # tests, errors and whether wrong, mean over the repeats
    by_fold: dict[str, list[float]] = {name: [] for name in names}
    seconds = dict.fromkeys(names, 0.0)
    for (name, repeat, fold), (measured, spent) in sorted(found.items(), key=lambda item: item[0][1:]):
        rows, j = np.flatnonzero(assignments[repeat] == fold), 3 * names.index(name)
        parts[rows, j : j + 3] += np.column_stack([measured.tests, measured.errors, measured.wrong]) / len(assignments)
        by_fold[name].append(float(measured.totals.mean()))
        seconds[name] += spent / (n_folds * len(assignments))
    draws = bootstrap(parts, rng)
    totals = {name: parts[:, 3 * j] + parts[:, 3 * j + 1] for j, name in enumerate(names)}
    order = sorted(names, key=lambda name: (name not in learners, float(totals[name].mean())))
    best_last = {name: by_fold[name] for name in [*order[1:], order[0]]}
    tests = {pair.first: pair for pair in compare(best_last) if pair.second == order[0]}
    standings = []
    for name in order:
        j = 3 * names.index(name)
        standings.append(
            Standing(
                name,
                estimate(parts[:, j], draws[:, j]),
                estimate(parts[:, j + 1], draws[:, j + 1]),
                estimate(totals[name], draws[:, j] + draws[:, j + 1]),
                float(parts[:, j + 2].mean()),
                None if standard is None else 100 * float(totals[name].mean()) / standard,
                seconds[name],
                tests.get(name),
                tuple(by_fold[name]),
                name not in learners,
            )
        )
    return tuple(standings)

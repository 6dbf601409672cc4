"""Several learners on the same folds: what `worthwhile compare` does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import listing
from worthwhile.evaluation.baselines import Outcome, measure
from worthwhile.evaluation.intervals import (
    LEVEL,
    Estimate,
    bootstrap,
    estimate,
    money_row,
    p_value,
    stacked,
    text_table,
)
from worthwhile.evaluation.metrics import Comparison, compare
from worthwhile.learners.folds import stratified_folds
from worthwhile.parallel.workers import run_unordered
from worthwhile.table.targets import read_classes
from worthwhile.wording import amount

__all__ = ["CrossComparison", "Done", "Standing", "cross_compare"]

FOLDS = 10


class Done(NamedTuple):
    """How far a cross-validation is: `done` of `fits` trees are learned."""

    done: int
    fits: int


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
        Time to learn, per fold.
    against_best : Comparison or None
        Paired tests over the folds against the cheapest learner; None for that one.
    folds : tuple of float
        Mean total cost on each fold.
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


@dataclass(frozen=True)
class CrossComparison:
    """Several learners on the same folds, the cheapest first; see `cross_compare`."""

    standings: tuple[Standing, ...]
    n_cases: int
    n_folds: int
    repeats: int

    def rows(self) -> list[dict[str, Any]]:
        """Return one mapping per learner, e.g. for a CSV file or a frame."""
        rows = []
        for standing in self.standings:
            test = standing.against_best
            rows.append(
                {"learner": standing.name, **money_row(standing), "error_rate": standing.error_rate}
                | {"normalized": standing.normalized, "seconds": standing.seconds}
                | {"difference": 0.0 if test is None else test.difference}
                | {"t_test": None if test is None else test.t_test}
                | {"wilcoxon": None if test is None else test.wilcoxon}
            )
        return rows

    def layout(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings and the cells of a table for reading; the interval stands below the total."""
        rows = []
        for standing in self.standings:
            test = standing.against_best
            paired = ["", "", ""]
            if test is not None:
                more = standing.total_cost.mean - self.standings[0].total_cost.mean
                paired = [amount(more, fine=True), p_value(test.t_test), p_value(test.wilcoxon)]
            parts = [amount(part.mean, fine=True) for part in (standing.test_cost, standing.error_cost)]
            money = [*parts, stacked(standing.total_cost)]
            rows.append([standing.name, *money, f"{standing.error_rate:.1%}", *paired])
        return ["learner", "tests", "errors", "total", "wrong", "more", "t-test", "Wilcoxon"], rows

    @property
    def title(self) -> str:
        """What is measured, on what."""
        again = f", {self.repeats} times" if self.repeats > 1 else ""
        return f"Cost per case of {self.n_cases} cases in {self.n_folds} folds{again}, with {LEVEL:.0%} intervals"

    @property
    def note(self) -> str:
        """How the table is to be read."""
        best = self.standings[0].name
        alike = [s.name for s in self.standings[1:] if s.against_best and s.against_best.t_test >= 1 - LEVEL]
        others = f"; not significantly dearer: {', '.join(alike)}" if alike else "; all others are significantly dearer"
        return f"more: than {best}, the cheapest, with p-values of paired tests over the folds{others}"

    def __str__(self) -> str:
        return "\n".join([self.title, text_table(*self.layout()), self.note])

    def plot(self, ax: Any = None) -> Any:
        """Draw the costs of tests and errors as bars with the intervals of their sums, and return the axes."""
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
    tell: Callable[[Done], Any] | None = None,
) -> CrossComparison:
    """Cross-validate several learners on the same folds.

    Parameters
    ----------
    learners : mapping of name to learner
        At least two, not fitted, all with the same costs.
    X, y : cases and their classes
    folds : int, default 10
        Cases of a class are dealt out evenly.
    repeats : int, default 1
        How often all cases are dealt out anew. Intervals are those of the cases' means over the repeats.
    random_state : int
        Seed of the folds and of the bootstrap.
    n_jobs : int, optional
        Processes, as joblib counts; whatever joblib backend is active is used.
    tell : function, optional
        Called with a `Done` before the first tree and after each.

    Notes
    -----
    The folds' training cases overlap, so p-values over folds are smaller than they would be on new cases.

    Examples
    --------
    >>> import worthwhile as ww
    >>> pima = ww.datasets.load("pima", as_frame=False)
    >>> known = {"costs": pima.costs, "columns": pima.feature_names}
    >>> learners = {"dtmc": ww.DTMCClassifier(**known), "c45": ww.C45Classifier(**known)}
    >>> found = cross_compare(learners, pima.X, pima.y, folds=5)
    >>> [standing.name for standing in found.standings]
    ['dtmc', 'c45']
    >>> found.standings[1].against_best.difference > 0
    True
    """
    from sklearn.base import clone

    tell = tell or (lambda _: None)
    costs = _common_costs(learners)
    truth = np.asarray(y)
    labels, index = read_classes(y, len(truth), "cross_compare")
    _check_folds(folds, repeats, len(truth), len(labels))
    rng = np.random.default_rng(random_state)
    deals = [stratified_folds(index, folds, rng) for _ in range(repeats)]
    due = [(name, repeat, fold) for repeat in range(repeats) for fold in range(folds) for name in learners]
    tell(Done(0, len(due)))
    fits = (((n, r, f), clone(learners[n]), X, truth, np.flatnonzero(deals[r] == f)) for n, r, f in due)
    found: dict[tuple[str, int, int], tuple[Outcome, float]] = {}
    for key, outcome, seconds in run_unordered(_fit_and_measure, fits, n_jobs):
        found[key] = outcome, seconds
        tell(Done(len(found), len(due)))
    standard = costs.standard_cost(truth)
    standings = _standings(list(learners), deals, found, standard if standard > 0 else None, rng)
    return CrossComparison(standings, len(truth), folds, repeats)


def _common_costs(learners: Mapping[str, Any]) -> Costs:
    if len(learners) < 2:
        raise ValueError(f"a comparison needs at least two learners, got {listing(learners)}")
    costs = {name: getattr(learner, "costs", None) or Costs() for name, learner in learners.items()}
    first = next(iter(costs.values()))
    for name, other in costs.items():
        if other != first:
            raise ValueError(f"all learners must have the same costs, but those of {name!r} are others")
    return first


def _check_folds(folds: int, repeats: int, n_cases: int, n_classes: int) -> None:
    if not 2 <= folds <= n_cases:
        raise ValueError(f"folds={folds} is not valid; it must be from 2 to the number of cases, {n_cases}")
    if repeats < 1:
        raise ValueError(f"repeats={repeats} is not valid; it must be at least 1")
    if n_classes < 2:
        raise ValueError("y has only one class; there is nothing to decide")


def _fit_and_measure(
    fit: tuple[tuple[str, int, int], Any, Any, npt.NDArray[Any], npt.NDArray[np.intp]],
) -> tuple[tuple[str, int, int], Outcome, float]:
    """Learn from all cases but those of a fold, and measure on these."""
    from sklearn.utils import _safe_indexing

    key, learner, X, y, held_out = fit
    rest = np.setdiff1d(np.arange(len(y)), held_out, assume_unique=True)
    start = time.perf_counter()
    learner.fit(_safe_indexing(X, rest), y[rest])
    seconds = time.perf_counter() - start
    return key, measure(key[0], learner, _safe_indexing(X, held_out), y[held_out]), seconds


def _standings(
    names: list[str],
    deals: list[npt.NDArray[np.intp]],
    found: Mapping[tuple[str, int, int], tuple[Outcome, float]],
    standard: float | None,
    rng: np.random.Generator,
) -> tuple[Standing, ...]:
    n_folds = int(deals[0].max()) + 1
    n_cases = len(deals[0])
    parts = np.zeros((n_cases, 3 * len(names)))  # tests, errors and whether wrong, mean over the repeats
    by_fold: dict[str, list[float]] = {name: [] for name in names}
    seconds = dict.fromkeys(names, 0.0)
    for (name, repeat, fold), (outcome, spent) in sorted(found.items(), key=lambda item: item[0][1:]):
        rows, j = np.flatnonzero(deals[repeat] == fold), 3 * names.index(name)
        parts[rows, j : j + 3] += np.column_stack([outcome.tests, outcome.errors, outcome.wrong]) / len(deals)
        by_fold[name].append(float(outcome.totals.mean()))
        seconds[name] += spent / (n_folds * len(deals))
    draws = bootstrap(parts, rng)
    totals = {name: parts[:, 3 * j] + parts[:, 3 * j + 1] for j, name in enumerate(names)}
    order = sorted(names, key=lambda name: float(totals[name].mean()))
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
            )
        )
    return tuple(standings)

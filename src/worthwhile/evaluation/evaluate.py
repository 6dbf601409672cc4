"""What a model costs on given cases, compared with simple strategies: what `worthwhile evaluate` does."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.evaluation.baselines import StrategyCosts, baselines, case_matrix, cross_baselines, measure
from worthwhile.evaluation.case_costs import CaseCosts
from worthwhile.evaluation.intervals import (
    LEVEL,
    Estimate,
    bootstrap,
    cost_columns,
    estimate,
    interval_columns,
    saved,
    stacked,
)
from worthwhile.evaluation.metrics import context_of, innermost
from worthwhile.evaluation.text_table import text_table
from worthwhile.learners.fingerprint import n_training_cases
from worthwhile.tree.context import distinct_labels, label_column

__all__ = ["Evaluation", "Strategy", "evaluate"]


@dataclass(frozen=True)
class Strategy:
    """A strategy (the model or a baseline) and what it costs per case; see `evaluate`.

    Attributes
    ----------
    name : str
    test_cost, error_cost, total_cost : Estimate
        Means with their intervals.
    error_rate, reject_rate : float
        Shares of wrong answers, and of answers that are no class.
    normalized : float or None
        Total cost in percent of the standard cost (Turney 1995, eq. 6), if that is above 0.
    saving : Estimate or None
        What the model saves per case compared with this strategy, on the same cases; None for the model itself.
    """

    name: str
    test_cost: Estimate
    error_cost: Estimate
    total_cost: Estimate
    error_rate: float
    reject_rate: float
    normalized: float | None
    saving: Estimate | None


@dataclass(frozen=True)
class Evaluation:
    """What a model costs compared with simple strategies; see `evaluate`.

    Attributes
    ----------
    strategies : tuple of Strategy
        The model first, then the three baselines.
    n_cases : int
    standard_cost : float or None
    note : str
        How the baselines were trained.
    currency : str
        What all amounts are in; empty if unknown.
    """

    strategies: tuple[Strategy, ...]
    n_cases: int
    standard_cost: float | None
    note: str
    currency: str = ""

    @property
    def model(self) -> Strategy:
        """The model's own costs."""
        return self.strategies[0]

    def rows(self) -> list[dict[str, Any]]:
        """Return one mapping per strategy, e.g. for a CSV file or a data frame."""
        return [
            {"strategy": s.name, "cases": self.n_cases, **cost_columns(s), "error_rate": s.error_rate}
            | {"reject_rate": s.reject_rate, "normalized": s.normalized}
            | interval_columns("saving", s.saving)
            for s in self.strategies
        ]

    def layout(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings and cells of a table to print; intervals are below their means."""
        rejects = any(s.reject_rate for s in self.strategies)
        headings = ["strategy", "tests", "errors", "total", "wrong", *(["rejected"] if rejects else []), "norm."]
        rows = [
            [s.name, *map(stacked, (s.test_cost, s.error_cost, s.total_cost)), f"{s.error_rate:.1%}"]
            + ([f"{s.reject_rate:.1%}"] if rejects else [])
            + ["" if s.normalized is None else f"{s.normalized:.1f}%"]
            for s in self.strategies
        ]
        return headings, rows

    def savings(self) -> list[str]:
        """Return one sentence per baseline: what the model saves compared with it."""
        return [
            f"{self.model.name[0].upper()}{self.model.name[1:]} {saved(strategy.saving, strategy.name)}."
            for strategy in self.strategies
            if strategy.saving is not None
        ]

    @property
    def title(self) -> str:
        """What the table shows, and for which cases."""
        unit = f" in {self.currency}" if self.currency else ""
        return f"Cost per case{unit} on {self.n_cases} cases, with {LEVEL:.0%} intervals"

    def __str__(self) -> str:
        return "\n".join([self.title, text_table(*self.layout()), *self.savings(), self.note])


def evaluate(
    clf: Any,
    X: Any,
    y: Any,
    X_train: Any = None,
    y_train: Any = None,
    *,
    name: str = "the model",
    random_state: int = 0,
    case_prices: Any = None,
    case_errors: Any = None,
    train_case_prices: Any = None,
    train_case_errors: Any = None,
) -> Evaluation:
    """Measure what a model costs, compared with simple baselines.

    The baselines are: no test, always the answer with the lowest average cost; free tests only, if there are some; all
    tests, then the best plain tree; and C4.5, which pays for the tests it asks for. Plain trees and C4.5 are tuned by
    cross-validation: pruning, size of the leaves, answers and weights by error costs. Intervals are bootstrapped over
    the cases.

    Parameters
    ----------
    clf : learner or Tree
        A fitted one, alone or inside scikit-learn's pipelines and searches.
    X, y : cases and their classes
        Where costs are measured; cases that the model was not trained on. A warning says if its training cases are
        among them.
    X_train, y_train : cases and their classes, optional
        What the baselines are trained on. None: they are cross-validated on X and y.
    name : str
        Name of the model in the result.
    random_state : int
        Seed of the folds and of the bootstrap.
    case_prices, case_errors : tables, optional
        What tests and errors cost each case of X, as in `fit`; the baselines pay the same.
    train_case_prices, train_case_errors : tables, optional
        The same of X_train, by which the baselines are trained.

    Examples
    --------
    >>> import worthwhile as ww
    >>> heart = ww.datasets.load("heart", as_frame=False)
    >>> clf = ww.DTMCClassifier(costs=heart.costs, nominal=heart.nominal, columns=heart.feature_names)
    >>> clf = clf.fit(heart.X[:200], heart.y[:200])
    >>> found = evaluate(clf, heart.X[200:], heart.y[200:], heart.X[:200], heart.y[:200])
    >>> [strategy.name for strategy in found.strategies]
    ['the model', 'no test, always “buff”', 'all tests, best plain tree', 'C4.5, tuned']
    >>> print(found.model.total_cost)
    133.33 [89.90, 177.12]
    """
    same = X_train is X
    est, X = innermost(clf, X)
    context = context_of(est)
    rng = np.random.default_rng(random_state)
    unused = [j for j, values in enumerate(context.schema.values) if values == ()]
    cases, y = case_matrix(est._read(X), unused), label_column(y)
    nominal = [name for name, values in zip(context.columns, context.schema.values, strict=True) if values is not None]
    kinds = {"columns": context.columns, "nominal": nominal}
    if (X_train is None) != (y_train is None):
        raise ValueError("X_train and y_train belong together: give both, or neither")
    if not same:
        _warn_of_training_cases(est, X, y)
    by_case = CaseCosts.of(context, case_prices, case_errors, len(y))
    own = measure(name, est, X, y, warn=True, own=by_case)
    if X_train is None:
        others = cross_baselines(context.costs, kinds, cases, y, rng, by_case)
        known, note = y, "The baselines were cross-validated on these cases."
    else:
        train, y_train = case_matrix(est._read(innermost(clf, X_train)[1]), unused), label_column(y_train)
        there = CaseCosts.of(context, train_case_prices, train_case_errors, len(y_train))
        others = baselines(context.costs, kinds, train, y_train, cases, y, rng, there, by_case)
        known = y if same else np.concatenate([y_train, y])
        note = f"The baselines were trained on {'these same' if same else f'{len(y_train)} other'} cases."
    standard = context.costs.standard_cost(known)
    standard_cost = standard if standard > 0 else None
    return Evaluation(
        _strategies([own, *others], standard_cost, rng), len(y), standard_cost, note, context.costs.currency
    )


def _warn_of_training_cases(est: Any, X: Any, y: npt.NDArray[Any]) -> None:
    """Warn if the cases that a learner was trained on are among these; a part of them is not recognised."""
    known = getattr(est, "_fingerprint", None)
    if known is None or known.cases > len(y):
        return
    position = {label: i for i, label in enumerate(est.problem_.classes)}
    labels, place = distinct_labels(y, len(y))
    classes = np.array([position.get(label, -1) for label in labels])[place]
    n = n_training_cases(known, est.problem_.schema, est._read(X), classes)
    if n is not None:
        which = "these same cases" if n == len(y) else f"{n} of these {len(y)} cases"
        warnings.warn(
            f"the model was trained on {which}: new cases will cost more; use cases that it has not seen",
            UserWarning,
            stacklevel=3,
        )


def _strategies(
    costs: Sequence[StrategyCosts], standard: float | None, rng: np.random.Generator
) -> tuple[Strategy, ...]:
    """Summarise what each strategy costs; the first one is the model."""
    parts = np.column_stack([part for o in costs for part in (o.tests, o.errors)])
    draws = bootstrap(parts, rng)
    tests, errors = draws[:, ::2], draws[:, 1::2]
    totals = tests + errors
    strategies = []
    for i, measured in enumerate(costs):
        total = float(measured.totals.mean())
        gap = measured.totals - costs[0].totals
        strategies.append(
            Strategy(
                measured.name,
                estimate(measured.tests, tests[:, i]),
                estimate(measured.errors, errors[:, i]),
                estimate(measured.totals, totals[:, i]),
                float(measured.wrong.mean()),
                float(measured.rejected.mean()),
                None if standard is None else 100 * total / standard,
                None if i == 0 else estimate(gap, totals[:, i] - totals[:, 0]),
            )
        )
    return tuple(strategies)

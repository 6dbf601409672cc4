"""What a model costs on given cases, against simple ways to decide; and several learners on the same folds.

`evaluate` is behind ``worthwhile evaluate``, `cross_compare` behind ``worthwhile compare``. Intervals are bootstrapped
over the cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.evaluation.baselines import Outcome, baselines, cross_baselines, measure
from worthwhile.evaluation.compare import CrossComparison, Done, Standing, cross_compare
from worthwhile.evaluation.intervals import (
    LEVEL,
    Estimate,
    bootstrap,
    estimate,
    flat,
    money_row,
    saved,
    stacked,
    text_table,
)
from worthwhile.evaluation.metrics import innermost, tree_of
from worthwhile.table.columns import Columns, Factor

__all__ = ["CrossComparison", "Done", "Estimate", "Evaluation", "Standing", "Way", "cross_compare", "evaluate"]


@dataclass(frozen=True)
class Way:
    """One way to decide and what it costs per case; see `evaluate`.

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
        What the model saves against this way, per case and on the same cases; None for the model itself.
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
    """What a model costs against other ways to decide; see `evaluate`.

    Attributes
    ----------
    ways : tuple of Way
        The model first, then the three others.
    n_cases : int
    standard_cost : float or None
    note : str
        How the others were learned.
    """

    ways: tuple[Way, ...]
    n_cases: int
    standard_cost: float | None
    note: str

    @property
    def model(self) -> Way:
        """The model's own costs."""
        return self.ways[0]

    def rows(self) -> list[dict[str, Any]]:
        """Return one mapping per way, e.g. for a CSV file or a frame."""
        return [
            {"way": way.name, "cases": self.n_cases, **money_row(way), "error_rate": way.error_rate}
            | {"reject_rate": way.reject_rate, "normalized": way.normalized}
            | flat("saving", way.saving)
            for way in self.ways
        ]

    def layout(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings and the cells of a table for reading; intervals stand below their means."""
        rejects = any(way.reject_rate for way in self.ways)
        headings = ["way to decide", "tests", "errors", "total", "wrong", *(["rejected"] if rejects else []), "norm."]
        rows = [
            [way.name, *map(stacked, (way.test_cost, way.error_cost, way.total_cost)), f"{way.error_rate:.1%}"]
            + ([f"{way.reject_rate:.1%}"] if rejects else [])
            + ["" if way.normalized is None else f"{way.normalized:.1f}%"]
            for way in self.ways
        ]
        return headings, rows

    def savings(self) -> list[str]:
        """Say in one sentence per other way what the model saves against it."""
        return [
            f"{self.model.name[0].upper()}{self.model.name[1:]} {saved(way.saving, way.name)}."
            for way in self.ways
            if way.saving is not None
        ]

    @property
    def title(self) -> str:
        """What is measured, on what."""
        return f"Cost per case on {self.n_cases} cases, with {LEVEL:.0%} intervals"

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
) -> Evaluation:
    """Measure a model against three simple ways to decide.

    These are: no test, and always the answer that is cheapest on average; all tests, best plain tree (of three
    kinds, the one with the least error cost in a cross-validation); and C4.5, which pays for the tests that it asks.

    Parameters
    ----------
    clf : learner or Tree
        A fitted one, alone or inside scikit-learn's pipelines and searches.
    X, y : cases and their classes
        On which costs are measured; best cases that the model has not learned from.
    X_train, y_train : cases and their classes, optional
        What the three others learn from. None: they are cross-validated on X and y.
    name : str
        What the model is called in the result.
    random_state : int
        Seed of the folds and of the bootstrap.

    Examples
    --------
    >>> import worthwhile as ww
    >>> heart = ww.datasets.load("heart", as_frame=False)
    >>> clf = ww.DTMCClassifier(costs=heart.costs, nominal=heart.nominal, columns=heart.feature_names)
    >>> clf = clf.fit(heart.X[:200], heart.y[:200])
    >>> found = evaluate(clf, heart.X[200:], heart.y[200:], heart.X[:200], heart.y[:200])
    >>> [way.name for way in found.ways]
    ['the model', 'no test, always “buff”', 'all tests, best plain tree', 'C4.5']
    >>> found.model.total_cost.low <= found.model.total_cost.mean <= found.model.total_cost.high
    True
    """
    same = X_train is X
    est, X = innermost(clf, X)
    tree = tree_of(est)
    rng = np.random.default_rng(random_state)
    cases, y = _matrix(est._read(X)), np.asarray(y)
    nominal = [name for name, values in zip(tree.columns, tree.schema.values, strict=True) if values is not None]
    kinds = {"columns": tree.columns, "nominal": nominal}
    if (X_train is None) != (y_train is None):
        raise ValueError("X_train and y_train belong together: give both, or neither")
    own = measure(name, est, X, y)
    if X_train is None:
        others = cross_baselines(tree.costs, kinds, cases, y, rng)
        known, note = y, "The others were cross-validated on these cases."
    else:
        train, y_train = _matrix(est._read(innermost(clf, X_train)[1])), np.asarray(y_train)
        others = baselines(tree.costs, kinds, train, y_train, cases, y, rng)
        known = y if same else np.concatenate([y_train, y])
        note = f"The others learned from {'these very' if same else f'{len(y_train)} other'} cases."
    standard = tree.costs.standard_cost(known)
    standard_cost = standard if standard > 0 else None
    return Evaluation(_ways([own, *others], standard_cost, rng), len(y), standard_cost, note)


def _ways(outcomes: Sequence[Outcome], standard: float | None, rng: np.random.Generator) -> tuple[Way, ...]:
    """Sum up what each way cost; the first one is the model."""
    parts = np.column_stack([part for o in outcomes for part in (o.tests, o.errors)])
    draws = bootstrap(parts, rng)
    tests, errors = draws[:, ::2], draws[:, 1::2]
    totals = tests + errors
    ways = []
    for i, outcome in enumerate(outcomes):
        total = float(outcome.totals.mean())
        gap = outcome.totals - outcomes[0].totals
        ways.append(
            Way(
                outcome.name,
                estimate(outcome.tests, tests[:, i]),
                estimate(outcome.errors, errors[:, i]),
                estimate(outcome.totals, totals[:, i]),
                float(outcome.wrong.mean()),
                float(outcome.rejected.mean()),
                None if standard is None else 100 * total / standard,
                None if i == 0 else estimate(gap, totals[:, i] - totals[:, 0]),
            )
        )
    return tuple(ways)


def _matrix(columns: Columns) -> npt.NDArray[Any]:
    """Put columns side by side again, as learners take them."""
    if columns.matrix is not None:
        return columns.matrix
    mixed = any(isinstance(column, Factor) for column in columns.arrays)
    found = np.empty((columns.n_cases, len(columns.arrays)), dtype=object if mixed else np.float64)
    for j, column in enumerate(columns.arrays):
        if isinstance(column, Factor):
            found[:, j] = np.array([*column.categories, None], dtype=object)[column.codes]
        else:
            found[:, j] = column
    return found

"""Total cost against the cost of an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from worthwhile.costs.costs import Costs
from worthwhile.displays.common import (
    Floats,
    answers_and_prices,
    axes_for,
    checked_numbers,
    finish,
    log_scale,
    mean_and_interval,
    named,
    style,
)
from worthwhile.evaluation.scorers import answer_costs, cost_scorer
from worthwhile.tree.context import distinct_labels

__all__ = ["CostCurveDisplay"]

NO_TEST = "no test"
AROUND = 10.0 ** np.linspace(-1, 1, 5)


class CostCurveDisplay:
    """Total cost per case against the cost of an error, for one or several learners.

    The cheaper errors are, the fewer tests pay off; a good learner never costs more than doing no test, and never much
    more than others. Create it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    error_costs : sequence of numbers
        The costs of the most expensive error, on the x axis.
    totals : mapping of name to sequence of numbers
        Total cost per case of each learner, for every error cost.
    intervals : mapping of name to sequence of numbers, optional
        Half-widths of the intervals around them.
    normalized : bool, default False
        The totals are percentages of the standard cost (Turney 1995, eq. 6).

    Attributes
    ----------
    error_costs, totals, intervals, normalized
        As given, numbers as arrays.
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.
    lines_ : dict of str to matplotlib line
        The lines by name.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import worthwhile as ww
    >>> heart = ww.datasets.load("heart")
    >>> known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names}
    >>> learners = {"EG2": ww.EG2Classifier(**known), "DTMC": ww.DTMCClassifier(**known)}
    >>> display = ww.displays.CostCurveDisplay.from_estimator(
    ...     learners, heart.X, heart.y, error_costs=[10, 100, 1000], cv=3
    ... )
    >>> {name: costs.round(1).tolist() for name, costs in display.totals.items()}["DTMC"]
    [3.4, 28.3, 272.5]
    >>> matplotlib.pyplot.close(display.figure_)
    """

    def __init__(
        self,
        *,
        error_costs: Any,
        totals: Mapping[str, Any],
        intervals: Mapping[str, Any] | None = None,
        normalized: bool = False,
    ) -> None:
        self.error_costs = checked_numbers(error_costs, "error_costs", least=0)
        self.totals = {name: self._as_many(name, costs) for name, costs in totals.items()}
        self.intervals = {
            name: np.asarray(widths, dtype=np.float64)
            for name, widths in ({} if intervals is None else intervals).items()
        }
        self.normalized = normalized

    def _as_many(self, name: str, costs: Any) -> Floats:
        numbers = checked_numbers(costs, f"the totals of {name!r}")
        if numbers.shape != self.error_costs.shape:
            raise ValueError(f"{name!r} has {len(numbers)} totals for {len(self.error_costs)} error costs")
        return numbers

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        error_costs: Sequence[float] | None = None,
        cv: Any = 5,
        name: str | None = None,
        baseline: bool = True,
        normalized: bool = False,
        n_jobs: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Cross-validate learners at several error costs and draw what they cost.

        For every error cost and fold, a copy of the learner is fitted with error costs scaled such that the most
        expensive error costs this much, and its total cost is averaged over the held-out cases. All learners have the
        same folds. The line is the mean over the folds, the band its 95 % interval.

        Parameters
        ----------
        estimator : learner, or a list of learners, or a mapping of name to learner
            Alone, as the last step of pipelines, or inside searches; they need not be fitted, and are not changed.
        X, y : cases and their classes
        error_costs : sequence of numbers, optional
            Costs of the most expensive error (of every error, if all cost the same). None: from a tenth to ten times
            its cost in the price list of the (first) learner.
        cv : int, splitter or iterable of splits, default 5
            As in scikit-learn; stratified folds in the order of the cases for a number.
        name : str, optional
            Name of a single learner; None: that of its class.
        baseline : bool, default True
            Show also what it costs to do no test and always to give the answer that is cheapest on the training cases.
        normalized : bool, default False
            In percent of the standard cost (Turney 1995, eq. 6) instead of money.
        n_jobs : int, optional
            Number of processes that fits are spread over, as in scikit-learn.
        ax : matplotlib axes, optional
        **kwargs
            For matplotlib's `plot`, for all lines.

        Returns
        -------
        CostCurveDisplay
        """
        learners = named(estimator, name)
        y = np.asarray(y)
        lists = {label: _learner(est).costs or Costs() for label, est in learners.items()}
        if error_costs is None:
            own = next(iter(lists.values())).error_matrix(distinct_labels(y, len(y))[0])[1]
            error_costs = (_highest_cost(own) * AROUND).tolist()
        costs_at = checked_numbers(error_costs, "error_costs", least=0)
        splits = list(check_cv(cv, y, classifier=True).split(X, y))
        work = [
            joblib.delayed(_left_out_cost)(est, _scaled(lists[label], cost, y), X, y, *split)
            for label, est in learners.items()
            for cost in costs_at.tolist()
            for split in splits
        ]
        found = np.array(joblib.Parallel(n_jobs=n_jobs)(work)).reshape(len(learners), len(costs_at), len(splits))
        values = dict(zip(learners, found, strict=True))
        if baseline:
            first = next(iter(lists.values()))
            values[NO_TEST] = np.array(
                [[_no_test_cost(_scaled(first, cost, y), y, *split) for split in splits] for cost in costs_at]
            )
            lists[NO_TEST] = first
        means, widths = {}, {}
        for label, per_fold in values.items():
            scale = np.array(
                [_scaled(lists[label], cost, y).standard_cost(y) / 100 if normalized else 1.0 for cost in costs_at]
            )
            means[label], widths[label] = mean_and_interval(per_fold.T / scale)
        return cls(error_costs=costs_at, totals=means, intervals=widths, normalized=normalized).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        prices: Any,
        *,
        error_costs: Sequence[float],
        errors: Any = 1.0,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what given answers cost for cheaper or more expensive errors, without refitting.

        Parameters
        ----------
        y_true : sequence of classes
        y_pred : sequence of answers, or a mapping of name to such
        prices : sequence of numbers, or a mapping of name to such
            What each case pays for its tests: `test_costs`.
        error_costs : sequence of numbers
            Costs of the most expensive error.
        errors : number, mapping or frame, default 1
            The error costs to scale, as for `Costs`; a number: all errors cost the same.
        name : str, optional
            Name of a single set of answers.
        ax : matplotlib axes, optional
        **kwargs
            For matplotlib's `plot`.

        Returns
        -------
        CostCurveDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> display = CostCurveDisplay.from_predictions(
        ...     ["sick", "well"], ["sick", "sick"], [3.0, 5.0], error_costs=[10, 100]
        ... )
        >>> display.totals
        {'answers': array([ 9., 54.])}
        >>> matplotlib.pyplot.close(display.figure_)
        """
        costs_at = checked_numbers(error_costs, "error_costs", least=0)
        truth, costs, totals = np.asarray(y_true), Costs(errors=errors), {}
        for label, (given, price) in answers_and_prices(truth, y_pred, prices, name).items():
            totals[label] = price.mean() + costs_at * _error_costs(costs, truth, given).mean()
        return cls(error_costs=costs_at, totals=totals).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, log: bool = True, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None creates a figure.
        log : bool, default True
            Use logarithmic scales for the error costs, and for totals in money, if all of them are positive.
        **kwargs
            For matplotlib's `plot`, for all lines.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        self.lines_: dict[str, Any] = {}
        for number, (name, costs) in enumerate(self.totals.items()):
            look = style(number) | ({"color": "0.45", "linestyle": "--", "marker": ""} if name == NO_TEST else {})
            (self.lines_[name],) = ax.plot(self.error_costs, costs, **(look | {"label": name} | kwargs))
            width = self.intervals.get(name)
            if width is not None and np.isfinite(width).all() and name != NO_TEST:
                colour = self.lines_[name].get_color()
                ax.fill_between(self.error_costs, costs - width, costs + width, color=colour, alpha=0.12, linewidth=0)
        every = np.concatenate(list(self.totals.values()))
        if log and self.error_costs.min() > 0:
            log_scale(ax, "x", self.error_costs)
            if not self.normalized and every.min() > 0:
                log_scale(ax, "y", every)
        finish(ax, "cost of an error", f"total cost per case{' (% of the standard cost)' * self.normalized}")
        return self


def _learner(est: Any) -> Any:
    """Return the learner inside pipelines and searches that are not fitted yet."""
    while not hasattr(est, "costs"):
        if hasattr(est, "steps"):
            est = est.steps[-1][1]
        elif hasattr(est, "estimator"):
            est = est.estimator
        else:
            raise TypeError(f"{type(est).__name__} has no costs; use a learner of worthwhile")
    return est


def _scaled(costs: Costs, highest: float, y: Any) -> Costs:
    """Return costs scaled such that the most expensive error costs this much."""
    if isinstance(costs.errors, float) and costs.errors > 0:
        return costs.with_errors(highest)
    labels = distinct_labels(y, len(y))[0]
    answers, matrix = costs.error_matrix(labels)
    scaled = (matrix * (highest / _highest_cost(matrix))).tolist()
    rows = (dict(zip(answers, row, strict=True)) for row in scaled)
    return costs.with_errors(dict(zip(labels, rows, strict=True)))


def _highest_cost(matrix: Floats) -> float:
    largest = float(matrix.max())
    if largest <= 0:
        raise ValueError("all error costs are 0, so they cannot be scaled")
    return largest


def _left_out_cost(est: Any, costs: Costs, X: Any, y: Any, train: Any, test: Any) -> float:
    """Return the cost per held-out case of a copy of a learner."""
    est = clone(est)
    _learner(est).costs = costs
    est.fit(_safe_indexing(X, train), y[train])
    return -cost_scorer(est, _safe_indexing(X, test), y[test])


def _no_test_cost(costs: Costs, y: Any, train: Any, test: Any) -> float:
    """Return the cost per case of always giving the answer of least cost on the training cases."""
    labels, place = distinct_labels(y, len(y))
    _, matrix = costs.error_matrix(labels)
    counts = np.bincount(place[train], minlength=len(labels))
    return float(matrix[place[test], int((counts @ matrix).argmin())].mean())


def _error_costs(costs: Costs, truth: Any, answers: Any) -> Floats:
    """Return the cost of each answer, in units of the most expensive error."""
    found, matrix = answer_costs(costs, truth, answers)
    return found / _highest_cost(matrix)

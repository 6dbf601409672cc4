"""Cost against training time, for learners that search."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from worthwhile.displays.common import Floats, axes_for, checked_numbers, finish, log_scale, named, style
from worthwhile.evaluation.metrics import average_cost

__all__ = ["AnytimeDisplay", "SearchHistory"]


@dataclass(frozen=True, eq=False)
class SearchHistory:
    """The history of a search.

    Attributes
    ----------
    seconds, costs : arrays
        When a better tree was found, and its expected cost per case; also the end, if a time limit ended the search.
    final : tuple (seconds, cost) or None
        The end of a search that evaluates its last tree differently from those before (the refined ICET).
    measured : float or None
        What the tree costs per case on given cases, if any.
    """

    seconds: Floats
    costs: Floats
    final: tuple[float, float] | None = None
    measured: float | None = None


class AnytimeDisplay:
    """Cost per case against training time.

    Create it with `from_estimator`, which shows the expected costs of fitted searches, or with `from_time_limits`,
    which refits and measures.

    Parameters
    ----------
    histories : mapping of name to SearchHistory

    Attributes
    ----------
    histories : dict of str to SearchHistory
        As given.
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
    >>> known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names, "random_state": 0}
    >>> act = ww.ACTClassifier(r=2, variant="paper", **known).fit(heart.X, heart.y)
    >>> display = ww.displays.AnytimeDisplay.from_estimator(act)
    >>> display.histories["ACT"].costs.round(2).tolist()
    [140.99]
    >>> matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, *, histories: Mapping[str, SearchHistory]) -> None:
        if not histories:
            raise ValueError("there is no search to show")
        self.histories = {str(name): history for name, history in histories.items()}

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the history of fitted searches: the expected cost of the best tree so far, against time.

        Each learner estimates costs on the training cases in its own way, so curves of different learners are not
        comparable. Their dashed lines are, if X and y are given.

        Parameters
        ----------
        estimator : fitted ACTClassifier or ICETClassifier, or a list of them, or a mapping of name to them
        X, y : cases and their classes, optional
            Cases to measure the trees on; preferably not the training cases.
        name : str, optional
            Name of a single learner; None: its class.
        ax : matplotlib axes, optional
        **kwargs
            For matplotlib's `step`, for all lines.

        Returns
        -------
        AnytimeDisplay
        """
        if (X is None) != (y is None):
            raise ValueError("give both X and y, or neither")
        histories = {}
        for label, est in named(estimator, name).items():
            measured = None if X is None else average_cost(est, X, y)
            histories[label] = _history_of(label, est, measured)
        return cls(histories=histories).plot(ax, **kwargs)

    @classmethod
    def from_time_limits(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        time_limits: Sequence[float],
        cv: Any = 3,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Cross-validate searches with several time limits and draw their costs on held-out cases.

        Parameters
        ----------
        estimator : learner, or a list of learners, or a mapping of name to learner
            Those with a `time_limit` are fitted for every limit and fold; others once for every fold: they become a
            point at their training time.
        X, y : cases and their classes
        time_limits : sequence of numbers
            Seconds.
        cv : int, splitter or iterable of splits, default 3
            As in scikit-learn; the same folds for all learners.
        name : str, optional
            Name of a single learner; None: its class.
        ax : matplotlib axes, optional
        **kwargs
            For matplotlib's `step`, for all lines.

        Returns
        -------
        AnytimeDisplay
            Training times and costs are means over the folds.
        """
        limits = np.sort(checked_numbers(time_limits, "time_limits", least=0))
        y = np.asarray(y)
        splits = list(check_cv(cv, y, classifier=True).split(X, y))
        histories = {}
        for label, est in named(estimator, name).items():
            tries = [{"time_limit": limit} for limit in limits] if "time_limit" in est.get_params() else [{}]
            found = np.array([[_timed(clone(est).set_params(**t), X, y, *split) for split in splits] for t in tries])
            seconds, costs = found.mean(axis=1).T
            histories[label] = SearchHistory(seconds, costs)
        return cls(histories=histories).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, log: bool = True, **kwargs: Any) -> Self:
        """Draw the histories.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None creates a figure.
        log : bool, default True
            Use a logarithmic scale for the seconds if they span at least a factor of five.
        **kwargs
            For matplotlib's `step`, for all lines.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        self.lines_: dict[str, Any] = {}
        for number, (name, history) in enumerate(self.histories.items()):
            look = style(number) | {"label": name, "where": "post"} | kwargs
            (self.lines_[name],) = ax.step(history.seconds, history.costs, **look)
            colour = self.lines_[name].get_color()
            if history.final is not None:
                ax.plot(*history.final, color=colour, marker="*", markersize=11, linestyle="", label=f"{name}, final")
            if history.measured is not None:
                ax.axhline(history.measured, color=colour, linestyle="--", linewidth=1, label=f"{name}, measured")
        if log:
            log_scale(ax, "x", np.concatenate([history.seconds for history in self.histories.values()]))
        finish(ax, "training time (seconds)", "total cost per case")
        return self


def _history_of(name: str, est: Any, measured: float | None) -> SearchHistory:
    """Return the history of a fitted search."""
    history = list(getattr(est, "history_", ()))
    if not history:
        hint = "fit an ACTClassifier or an ICETClassifier; a model file has no history"
        raise ValueError(f"{name!r} ({type(est).__name__}) has no search history: {hint}")
    final = None
    # The refined ICET ends by measuring its best trees on new folds: no further trial, and other costs.
    if getattr(est, "variant", "") == "refined" and hasattr(est, "trials") and len(history) > 1:
        last = history[-1]
        if last.done == history[-2].done and est.stopped_ != "interrupted":
            final = (last.seconds, last.cost)
            history = history[:-1]
    entries = [(entry.seconds, entry.cost) for entry in history]
    if est.stopped_ == "time limit" and est.time_limit > entries[-1][0] and final is None:
        entries.append((est.time_limit, entries[-1][1]))  # it kept searching
    seconds, costs = np.array([entry for entry in entries if math.isfinite(entry[1])]).reshape(-1, 2).T
    return SearchHistory(seconds, costs, final, measured)


def _timed(est: Any, X: Any, y: Any, train: Any, test: Any) -> tuple[float, float]:
    """Return the training time and the cost per held-out case."""
    start = time.perf_counter()
    est.fit(_safe_indexing(X, train), y[train])
    seconds = time.perf_counter() - start
    return seconds, average_cost(est, _safe_indexing(X, test), y[test])

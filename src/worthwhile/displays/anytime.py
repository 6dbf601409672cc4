"""Cost against time, for learners that search."""

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

__all__ = ["AnytimeDisplay", "Course"]


@dataclass(frozen=True, eq=False)
class Course:
    """How a search went.

    Attributes
    ----------
    seconds, costs : arrays
        When something better was at hand, and what it was to cost per case; where a time limit ended the search, also
        the end.
    final : tuple (seconds, cost) or None
        The end of a search that values its last tree in another way than those before (the refined ICET).
    measured : float or None
        What the learned tree costs per case on cases that it has not learned from.
    """

    seconds: Floats
    costs: Floats
    final: tuple[float, float] | None = None
    measured: float | None = None


class AnytimeDisplay:
    """Cost per case against the seconds that a search was given.

    Make it with `from_estimator`, which shows what fitted searches expected, or with `from_time_limits`, which fits
    anew and measures.

    Parameters
    ----------
    courses : mapping of name to Course

    Attributes
    ----------
    courses : dict of str to Course
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
    >>> act = ww.ACTClassifier(time_limit=0.5, **known).fit(heart.X, heart.y)
    >>> display = ww.displays.AnytimeDisplay.from_estimator(act)
    >>> bool((display.courses["ACT"].costs[-1] == act.expected_cost_))
    True
    >>> matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, *, courses: Mapping[str, Course]) -> None:
        if not courses:
            raise ValueError("there is no course of a search to show")
        self.courses = {str(name): course for name, course in courses.items()}

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
        """Draw the history of fitted searches: what the best tree so far was expected to cost, and since when.

        Each learner expects by its own valuation, on the training cases: curves of different learners do not compare.
        Their dashed lines do, if X and y are given.

        Parameters
        ----------
        estimator : fitted ACTClassifier or ICETClassifier, or a list of them, or a mapping of name to them
        X, y : cases and their classes, optional
            Measure on them what the learned trees really cost; best on cases that were not learned from.
        name : str, optional
            Name of a single learner; None: that of its class.
        ax : matplotlib axes, optional
        **kwargs
            For matplotlib's `step`, for all lines.

        Returns
        -------
        AnytimeDisplay
        """
        if (X is None) != (y is None):
            raise ValueError("X and y belong together: give both, or neither")
        courses = {}
        for label, est in named(estimator, name).items():
            measured = None if X is None else average_cost(est, X, y)
            courses[label] = _course(label, est, measured)
        return cls(courses=courses).plot(ax, **kwargs)

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
        """Cross-validate searches with several time limits and draw what they cost on the cases left out.

        Parameters
        ----------
        estimator : learner, or a list of learners, or a mapping of name to learner
            Those with a `time_limit` are fitted once for every limit and fold; others once for every fold: they are a
            point at the time that they took.
        X, y : cases and their classes
        time_limits : sequence of numbers
            Seconds.
        cv : int, splitter or iterable of splits, default 3
            As in scikit-learn; the same folds for all.
        name : str, optional
            Name of a single learner; None: that of its class.
        ax : matplotlib axes, optional
        **kwargs
            For matplotlib's `step`, for all lines.

        Returns
        -------
        AnytimeDisplay
            Seconds and costs are means over the folds; the seconds are those that fitting took.
        """
        limits = np.sort(checked_numbers(time_limits, "time_limits", least=0))
        y = np.asarray(y)
        splits = list(check_cv(cv, y, classifier=True).split(X, y))
        courses = {}
        for label, est in named(estimator, name).items():
            tries = [{"time_limit": limit} for limit in limits] if "time_limit" in est.get_params() else [{}]
            found = np.array([[_timed(clone(est).set_params(**t), X, y, *split) for split in splits] for t in tries])
            seconds, costs = found.mean(axis=1).T
            courses[label] = Course(seconds, costs)
        return cls(courses=courses).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, log: bool = True, **kwargs: Any) -> Self:
        """Draw the courses.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None makes a figure.
        log : bool, default True
            Seconds on a logarithmic scale, where they span a factor of five at least.
        **kwargs
            For matplotlib's `step`, for all lines.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        self.lines_: dict[str, Any] = {}
        for number, (name, course) in enumerate(self.courses.items()):
            look = style(number) | {"label": name, "where": "post"} | kwargs
            (self.lines_[name],) = ax.step(course.seconds, course.costs, **look)
            colour = self.lines_[name].get_color()
            if course.final is not None:
                ax.plot(*course.final, color=colour, marker="*", markersize=11, linestyle="", label=f"{name}, final")
            if course.measured is not None:
                ax.axhline(course.measured, color=colour, linestyle="--", linewidth=1, label=f"{name}, measured")
        if log:
            log_scale(ax, "x", np.concatenate([course.seconds for course in self.courses.values()]))
        finish(ax, "seconds", "total cost per case")
        return self


def _course(name: str, est: Any, measured: float | None) -> Course:
    """Return the history of a fitted search."""
    history = list(getattr(est, "history_", ()))
    if not history:
        hint = "fit an ACTClassifier or an ICETClassifier; a file of a model has no history"
        raise ValueError(f"{name!r} ({type(est).__name__}) has no history of a search: {hint}")
    final = None
    # The refined ICET ends with the best ones on fresh folds: no further trial, and costs that do not compare.
    if getattr(est, "variant", "") == "refined" and hasattr(history[-1], "trials") and len(history) > 1:
        last = history[-1]
        if last.trials == history[-2].trials and est.stopped_ != "interrupted":
            final = (last.seconds, last.best)
            history = history[:-1]
    entries = [(entry.seconds, entry.cost if hasattr(entry, "cost") else entry.best) for entry in history]
    if est.stopped_ == "time limit" and est.time_limit > entries[-1][0] and final is None:
        entries.append((est.time_limit, entries[-1][1]))  # it went on looking
    seconds, costs = np.array([entry for entry in entries if math.isfinite(entry[1])]).reshape(-1, 2).T
    return Course(seconds, costs, final, measured)


def _timed(est: Any, X: Any, y: Any, train: Any, test: Any) -> tuple[float, float]:
    """Return the seconds that fitting took, and the cost per case that was left out."""
    start = time.perf_counter()
    est.fit(_safe_indexing(X, train), y[train])
    seconds = time.perf_counter() - start
    return seconds, average_cost(est, _safe_indexing(X, test), y[test])

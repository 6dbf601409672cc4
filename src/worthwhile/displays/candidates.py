"""What an AutoClassifier has tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from worthwhile.displays.common import axes_for, finish, style

__all__ = ["CandidatesDisplay"]


class CandidatesDisplay:
    """What each learner that was tried is expected to cost, with its 95 % interval; the chosen one stands out.

    Create it with `from_estimator`.

    Parameters
    ----------
    candidates : sequence of Candidate
        The attribute `candidates_` of a fitted AutoClassifier.

    Attributes
    ----------
    candidates : list of Candidate
        As given, the cheapest first.
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import worthwhile as ww
    >>> X, y = [[0.0], [1.0]] * 20, ["well", "sick"] * 20
    >>> clf = ww.AutoClassifier(costs=ww.Costs(tests={"x0": 1.0}, errors=10), learners=["dtmc"]).fit(X, y)
    >>> display = ww.displays.CandidatesDisplay.from_estimator(clf)
    >>> display.candidates[0].expected_cost
    1.0
    >>> matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, *, candidates: Sequence[Any]) -> None:
        if not candidates:
            raise ValueError("there are no candidates to show")
        self.candidates = sorted(candidates, key=lambda one: one.expected_cost)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw what a fitted AutoClassifier has tried.

        Parameters
        ----------
        estimator : fitted AutoClassifier
        ax : matplotlib axes, optional
        **kwargs
            For `plot`.

        Returns
        -------
        CandidatesDisplay
        """
        if not hasattr(estimator, "candidates_"):
            raise ValueError(f"candidates are those of a fitted AutoClassifier, got {type(estimator).__name__}")
        return cls(candidates=estimator.candidates_).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a point with an interval per candidate, the cheapest on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None creates a figure that fits the candidates.
        **kwargs
            For matplotlib's `errorbar`.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_for(ax, (6.4, 1.2 + 0.32 * len(self.candidates)))
        self.figure_ = ax.figure
        for number, one in enumerate(self.candidates):
            low, high = one.interval
            spread = np.maximum([[one.expected_cost - low], [high - one.expected_cost]], 0.0)
            look = style(1 if one.chosen else 0) | {"linestyle": "none", "capsize": 3}
            ax.errorbar([one.expected_cost], [number], xerr=spread, **(look | kwargs))
        names = [f"{one.name} (chosen)" if one.chosen else one.name for one in self.candidates]
        ax.set_yticks(np.arange(len(names)), names, parse_math=False)
        ax.invert_yaxis()
        ax.margins(y=0.08)
        finish(ax, "expected cost per case, with its 95 % interval", "")
        return self

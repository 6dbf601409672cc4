"""Spending by test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from worthwhile.displays.common import axes_for, checked_numbers, finish, named, style
from worthwhile.evaluation.metrics import cost_report
from worthwhile.evaluation.spending import spending

__all__ = ["PriceShareDisplay"]

ERRORS = "errors"


class PriceShareDisplay:
    """What is paid per case for each test, for the common prices of groups, and for errors.

    Create it with `from_estimator`, or with `from_amounts` from known amounts.

    Parameters
    ----------
    amounts : mapping of name to mapping of item to number
        For every learner, the amount per case of each item.

    Attributes
    ----------
    amounts : dict
        As given.
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.
    bars_ : dict of str to matplotlib bars
        The bars by learner.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import worthwhile as ww
    >>> heart = ww.datasets.load("heart")
    >>> known = {"costs": heart.costs.with_errors(400), "nominal": heart.nominal, "columns": heart.feature_names}
    >>> clf = ww.EG2Classifier(prune="cost", **known).fit(heart.X, heart.y)
    >>> display = ww.displays.PriceShareDisplay.from_estimator(clf, heart.X)
    >>> {item: round(amount, 2) for item, amount in display.amounts["EG2"].items()}["chol"]
    0.26
    >>> matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, *, amounts: Mapping[str, Mapping[str, float]]) -> None:
        if not amounts:
            raise ValueError("there are no amounts to show")
        self.amounts: dict[str, dict[str, float]] = {}
        for name, items in amounts.items():
            numbers = checked_numbers(list(items.values()), f"the amounts of {name!r}") if items else np.zeros(0)
            self.amounts[str(name)] = dict(zip(map(str, items), numbers.tolist(), strict=True))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw what fitted learners spend on these cases; see `worthwhile.evaluation.spending`.

        Parameters
        ----------
        estimator : fitted learner or Tree, or a list of them, or a mapping of name to them
        X : cases
        y : their classes, optional
            Also show the cost of errors.
        name : str, optional
            Name of a single learner; None: its class.
        ax : matplotlib axes, optional
        **kwargs
            For `plot`.

        Returns
        -------
        PriceShareDisplay
        """
        amounts = {}
        for label, est in named(estimator, name).items():
            items = spending(est, X, y=y).to_dict()
            if y is not None:
                items[ERRORS if ERRORS not in items else "cost of errors"] = cost_report(est, X, y).error_cost
            amounts[label] = items
        return cls(amounts=amounts).plot(ax, **kwargs)

    @classmethod
    def from_amounts(cls, amounts: Mapping[str, Any], *, name: str = "amount", ax: Any = None, **kwargs: Any) -> Self:
        """Draw known amounts.

        Parameters
        ----------
        amounts : mapping of item to number, or mapping of name to such
            The amount per case of each item.
        name : str, default "amount"
            Name of a single set of amounts.
        ax : matplotlib axes, optional
        **kwargs
            For `plot`.

        Returns
        -------
        PriceShareDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> display = PriceShareDisplay.from_amounts({"blood count": 12.5, "ultrasound": 30.0})
        >>> [text.get_text() for text in display.ax_.get_yticklabels()]
        ['ultrasound', 'blood count']
        >>> matplotlib.pyplot.close(display.figure_)
        """
        nested = {key: value for key, value in amounts.items() if isinstance(value, Mapping)}
        if nested and len(nested) < len(amounts):
            odd = next(key for key in amounts if key not in nested)
            raise ValueError(f"the amounts of {odd!r} must be a mapping of item to number, like those of the others")
        return cls(amounts=nested or {name: amounts}).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, most: int = 15, **kwargs: Any) -> Self:
        """Draw a bar per item, the largest on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None creates a figure that fits the items.
        most : int, default 15
            Maximum number of items; the others share one bar.
        **kwargs
            For matplotlib's `barh`, for all bars.

        Returns
        -------
        self
        """
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise ValueError(f"most must be an integer of at least 1, got {most!r}")
        shown = self._shown(most)
        labels = list(next(iter(shown.values())))
        self.ax_ = ax = axes_for(ax, (6.4, max(1.8, 0.9 + len(labels) * (0.18 + 0.16 * len(shown)))))
        self.figure_ = ax.figure
        self.bars_: dict[str, Any] = {}
        height = 0.8 / len(shown)
        for number, (name, items) in enumerate(shown.items()):
            places = np.arange(len(labels)) + (number - (len(shown) - 1) / 2) * height
            look = {"height": 0.9 * height, "color": style(number)["color"], "label": name}
            values = [items[label] for label in labels]
            self.bars_[name] = ax.barh(places, values, **(look | kwargs))
            ax.bar_label(self.bars_[name], [f"{value:.2f}" for value in values], padding=3, fontsize="small")
        ax.set_yticks(np.arange(len(labels)), labels, parse_math=False)
        ax.invert_yaxis()
        ax.margins(x=0.14, y=0.02)
        finish(ax, "paid per case", "")
        ax.grid(visible=False, axis="y")
        if len(shown) == 1:
            ax.get_legend().remove()
        return self

    def _shown(self, most: int) -> dict[str, dict[str, float]]:
        """Return the amounts of the largest items, the same for all learners, and the sum of the others."""
        size: dict[str, float] = {}
        for items in self.amounts.values():
            for item, amount in items.items():
                size[item] = max(size.get(item, 0.0), abs(amount))
        order = sorted(size, key=lambda item: -size[item])
        most = most if len(order) > most + 1 else len(order)  # a bar "1 more" would be less useful than its name
        kept, rest = order[:most], order[most:]
        shown = {name: {item: items.get(item, 0.0) for item in kept} for name, items in self.amounts.items()}
        if rest:
            for name, items in self.amounts.items():
                shown[name][f"{len(rest)} more"] = sum(items.get(item, 0.0) for item in rest)
        return shown

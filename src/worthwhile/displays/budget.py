"""Errors against the price of tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from worthwhile.displays.common import Floats, answers_and_prices, axes_for, finish, named, style
from worthwhile.evaluation.metrics import cost_report, innermost

__all__ = ["BudgetDisplay", "Curve"]

# What is shown on the y axis: attribute of reports and records, and the label.
_MEASURES = {"error": ("error", "share of wrong answers"), "error_cost": ("error_cost", "error cost per case")}


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors of a learner against the price of its tests.

    Attributes
    ----------
    prices, errors : arrays
        Price of the tests per case and the error at that price, in the order of the budgets; one point for a learner
        without a budget.
    others : pair of arrays
        Prices and errors of all parts of a forest, including those that its validation cases did not choose.
    chosen : pair (price, error) or None
        The forest at the budget it was fitted with.
    """

    prices: Floats
    errors: Floats
    others: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))
    chosen: tuple[float, float] | None = None


class BudgetDisplay:
    """Errors against the price of tests: curves for forests, points for other learners.

    Create it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curves : mapping of name to Curve
    measure : {"error", "error_cost"}, default "error"
        The y axis: share of wrong answers, or error cost per case.

    Attributes
    ----------
    curves, measure
        As given.
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.
    lines_ : dict of str to matplotlib line
        The lines, or points, by name.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import worthwhile as ww
    >>> pima = ww.datasets.load("pima")
    >>> train, test = slice(None, None, 2), slice(1, None, 2)
    >>> known = {"costs": pima.costs, "columns": pima.feature_names, "random_state": 0}
    >>> forest = ww.BudgetForestClassifier(budget=10, alpha=[0, 8, 25], **known).fit(pima.X[train], pima.y[train])
    >>> tree = ww.C45Classifier(costs=pima.costs, columns=pima.feature_names).fit(pima.X[train], pima.y[train])
    >>> display = ww.displays.BudgetDisplay.from_estimator({"forest": forest, "C4.5": tree}, pima.X[test], pima.y[test])
    >>> float(display.curves["forest"].prices[0]), len(display.curves["C4.5"].prices)
    (0.0, 1)
    >>> matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, *, curves: Mapping[str, Curve], measure: str = "error") -> None:
        if measure not in _MEASURES:
            raise ValueError(f"invalid measure={measure!r}; choose {' or '.join(map(repr, _MEASURES))}")
        if not curves:
            raise ValueError("there is nothing to show")
        self.curves = {str(name): curve for name, curve in curves.items()}
        self.measure = measure

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        measure: str = "error",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Measure fitted learners on cases and draw errors against prices.

        A `BudgetForestClassifier` with a budget, or of ``variant="paper"``, becomes a curve: for every budget up to its
        own, the part of the forest that its *validation* cases choose (`with_budget`), measured on the given cases.
        Choosing on the given cases would be too optimistic; all parts are shown as small dots. Every other learner
        becomes a point.

        Parameters
        ----------
        estimator : fitted learner or Tree, or a list of them, or a mapping of name to them
        X, y : cases and their classes
            Preferably not the training cases.
        measure : {"error", "error_cost"}, default "error"
            Share of wrong answers, or error cost per case.
        name : str, optional
            Name of a single learner; None: its class.
        ax : matplotlib axes, optional
        **kwargs
            For matplotlib's `plot`, for all lines and points.

        Returns
        -------
        BudgetDisplay
        """
        if measure not in _MEASURES:  # before the work starts
            raise ValueError(f"invalid measure={measure!r}; choose {' or '.join(map(repr, _MEASURES))}")
        curves = {}
        for label, est in named(estimator, name).items():
            inner, inner_X = innermost(est, X)
            if getattr(inner, "has_budgets", False):
                curves[label] = _forest_curve(inner, inner_X, y, measure)
                continue
            report = cost_report(inner, inner_X, y)
            value = report.error_rate if measure == "error" else report.error_cost
            curves[label] = Curve(np.array([report.test_cost]), np.array([value]))
        return cls(curves=curves, measure=measure).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        prices: Any,
        *,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the share of wrong answers against the average price, for given answers.

        Parameters
        ----------
        y_true : sequence of classes
        y_pred : sequence of answers, or a mapping of name to such
        prices : sequence of numbers, or a mapping of name to such
            What each case pays for its tests: `test_costs`.
        name : str, optional
            Name of a single set of answers.
        ax : matplotlib axes, optional
        **kwargs
            For matplotlib's `plot`, for all points.

        Returns
        -------
        BudgetDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> display = BudgetDisplay.from_predictions(["sick", "well"], ["sick", "sick"], [3.0, 5.0], name="my rule")
        >>> float(display.curves["my rule"].prices[0]), float(display.curves["my rule"].errors[0])
        (4.0, 0.5)
        >>> matplotlib.pyplot.close(display.figure_)
        """
        truth, curves = np.asarray(y_true), {}
        for label, (given, price) in answers_and_prices(truth, y_pred, prices, name).items():
            wrong = float((np.asarray(given) != truth).mean())
            curves[label] = Curve(np.array([price.mean()]), np.array([wrong]))
        return cls(curves=curves).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curves and points.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None creates a figure.
        **kwargs
            For matplotlib's `plot`, for all lines and points.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        self.lines_: dict[str, Any] = {}
        for number, (name, curve) in enumerate(self.curves.items()):
            look = style(number) | {"label": name}
            if len(curve.prices) == 1:
                look |= {"linestyle": "", "markersize": 8}
            else:
                look |= {"marker": ""}
            (self.lines_[name],) = ax.plot(curve.prices, curve.errors, **(look | kwargs))
            colour = self.lines_[name].get_color()
            ax.plot(*curve.others, color=colour, linestyle="", marker=".", markersize=3, alpha=0.35, zorder=1)
            if curve.chosen is not None:
                ax.plot(
                    *curve.chosen, color=colour, linestyle="", marker="*", markersize=12, label=f"{name}, at its budget"
                )
        finish(ax, "price of tests per case", _MEASURES[self.measure][1])
        return self


def _forest_curve(forest: Any, X: Any, y: Any, measure: str) -> Curve:
    """Return the curve of a forest on these cases for every budget up to its own."""
    records = forest.budget_curve(X, y)
    # The records here are in the order of the validation records kept by fitting. A budget is matched to its part by
    # the identity of the record, because different parts may have equal numbers.
    kept = [record for part in forest.forests_ for record in part.curve]
    here = dict(zip(map(id, kept), records, strict=True))
    attribute = _MEASURES[measure][0]

    def point(record: Any) -> tuple[float, float]:
        measured = here[id(record)]
        return measured.price, float(getattr(measured, attribute))

    highest = max(record.price for record in kept) if forest.budget is None else float(forest.budget)
    budgets = sorted({record.price for record in kept if record.price <= highest})
    points = list(dict.fromkeys(point(forest.with_budget(budget).record_) for budget in budgets))
    prices, errors = np.array(points).T
    every = np.array([(record.price, float(getattr(record, attribute))) for record in records]).T
    return Curve(prices, errors, (every[0], every[1]), point(forest.record_))

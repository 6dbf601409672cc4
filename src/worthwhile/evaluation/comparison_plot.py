"""The bar chart of a comparison of learners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worthwhile.evaluation.compare import CrossComparison

__all__ = ["comparison_size", "plot_comparison"]

# Colours that are distinct for all kinds of colour vision (Okabe & Ito).
TESTS, ERRORS = "#0072B2", "#E69F00"


def comparison_size(n_learners: int) -> tuple[float, float]:
    """Return width and height, in inches, of a figure for this many learners.

    Examples
    --------
    >>> comparison_size(5)
    (7.0, 3.75)
    """
    return 7.0, 1.5 + 0.45 * n_learners


def plot_comparison(comparison: CrossComparison, ax: Any = None) -> Any:
    """Draw one bar per learner, the cheapest on top: tests, then errors, and the interval of the sum."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=comparison_size(len(comparison.standings)), layout="constrained")
    names = [standing.label for standing in comparison.standings]
    tests = [standing.test_cost.mean for standing in comparison.standings]
    errors = [standing.error_cost.mean for standing in comparison.standings]
    totals = [standing.total_cost for standing in comparison.standings]
    places = range(len(names))
    ax.barh(places, tests, color=TESTS, label="tests")
    ax.barh(places, errors, left=tests, color=ERRORS, label="errors")
    spread = [[t.mean - t.low for t in totals], [t.high - t.mean for t in totals]]
    ax.errorbar([t.mean for t in totals], places, xerr=spread, fmt="none", ecolor="black", capsize=4)
    for place, total in enumerate(totals):
        ax.annotate(f"{total.mean:.2f}", (total.high, place), (6, 0), textcoords="offset points", va="center")
    ax.set_yticks(places, names, parse_math=False)  # a dollar sign in a name is text
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.set_xlabel("cost per case (tests + errors), with 95 % intervals")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.15), ncols=2, frameon=False)
    return ax

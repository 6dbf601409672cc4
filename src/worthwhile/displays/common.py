"""What the displays share: names of learners, checks, and the style of lines and axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "Floats",
    "answers_and_prices",
    "axes_for",
    "checked_numbers",
    "finish",
    "label_of",
    "log_scale",
    "mean_and_interval",
    "named",
    "style",
]

Floats = npt.NDArray[np.float64]

# Okabe and Ito's palette, distinct for all kinds of colour vision; markers work without colours.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8c8c00")
_MARKERS = "osD^vPX*"


def named(estimators: Any, name: str | None = None) -> dict[str, Any]:
    """Return one or several estimators by name: the keys of a mapping, or the names of their classes.

    Examples
    --------
    >>> import worthwhile as ww
    >>> list(named(ww.ACTClassifier())), list(named([ww.EG2Classifier(), ww.EG2Classifier(omega=0.5)]))
    (['ACT'], ['EG2', 'EG2 (2)'])
    """
    if isinstance(estimators, Mapping):
        if name is not None:
            raise ValueError(f"name={name!r} is for one estimator; the keys of the mapping are the names of several")
        found = {str(key): est for key, est in estimators.items()}
    elif isinstance(estimators, Sequence) and not hasattr(estimators, "steps"):
        if name is not None:
            raise ValueError(f"name={name!r} is for one estimator; give several as a mapping of name to estimator")
        found = {}
        for est in estimators:
            label, number = label_of(est), 2
            while label in found:
                label, number = f"{label_of(est)} ({number})", number + 1
            found[label] = est
    else:
        found = {label_of(estimators) if name is None else name: estimators}
    if not found:
        raise ValueError("there is no estimator to show")
    return found


def label_of(est: Any) -> str:
    """Return the short class name of an estimator, or of the learner inside a pipeline or a search."""
    while hasattr(est, "steps") or hasattr(est, "estimator"):
        est = est.steps[-1][1] if hasattr(est, "steps") else est.estimator
    return type(est).__name__.removesuffix("Classifier")


def checked_numbers(values: Any, what: str, *, least: float = -math.inf) -> Floats:
    """Return a list of finite numbers as an array; anything else, or a number below `least`, raises an error."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be numbers, got {values!r}") from None
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"{what} must be a list of numbers, got {values!r}")
    for place, number in enumerate(numbers.tolist()):
        if not math.isfinite(number) or number < least:
            valid = "finite" if least == -math.inf else f"finite and at least {least:g}"
            raise ValueError(f"{what} must be {valid}, but entry {place} is {number:g}")
    return numbers


def answers_and_prices(truth: Any, answers: Any, prices: Any, name: str | None) -> dict[str, tuple[Any, Floats]]:
    """Return answers with the price that each case pays for its tests, by name, after checking that they match.

    Parameters
    ----------
    truth : sequence of classes
    answers : sequence of answers, or a mapping of name to such
    prices : sequence of numbers, or a mapping of name to such
    name : str or None
        Name of a single set of answers.
    """
    given = answers if isinstance(answers, Mapping) else {name or "answers": answers}
    paid = prices if isinstance(prices, Mapping) else dict.fromkeys(given, prices)
    if set(given) != set(paid):
        raise ValueError(f"prices are for {', '.join(paid)}, but answers for {', '.join(given)}")
    found = {}
    for label, own in given.items():
        price = checked_numbers(paid[label], f"the prices of {label!r}", least=0)
        if not len(price) == len(own) == len(truth):
            raise ValueError(f"{label!r} has {len(own)} answers and {len(price)} prices for {len(truth)} cases")
        found[label] = own, price
    return found


def mean_and_interval(values: Floats) -> tuple[Floats, Floats]:
    """Return the means over the first axis, and the half-widths of their 95 % intervals: t · sd / √n; NaN for n = 1."""
    from scipy import stats

    n = len(values)
    means = values.mean(axis=0)
    if n < 2:
        return means, np.full_like(means, math.nan)
    return means, stats.t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / math.sqrt(n)


def axes_for(ax: Any, size: tuple[float, float] = (6.4, 4.2)) -> Any:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def style(number: int) -> dict[str, Any]:
    """Return the style of a line or of points."""
    return {"color": _COLOURS[number % len(_COLOURS)], "marker": _MARKERS[number % len(_MARKERS)], "markersize": 5}


def log_scale(ax: Any, which: str, values: Floats) -> None:
    """Make an axis logarithmic, with plain numbers, if the values span at least a factor of five."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    if not values.size or values.max() < 5 * values.min():
        return
    getattr(ax, f"set_{which}scale")("log")
    axis = getattr(ax, f"{which}axis")
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    # Numbers between powers of ten only if there are few powers of ten.
    few = values.max() < 20 * values.min()
    axis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}") if few else NullFormatter())


def finish(ax: Any, x_label: str, y_label: str) -> None:
    """Label the axes, draw a light grid, remove the upper and right frame, and add the legend."""
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if ax.get_legend_handles_labels()[0]:
        for text in ax.legend(frameon=False).get_texts():
            text.set_parse_math(False)  # a dollar sign in a name is text

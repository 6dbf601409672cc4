"""The one table of the learners' parameters: what is valid, and the message when it is not."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from worthwhile.costs.costs import Costs

__all__ = ["ANSWERS", "PRUNINGS", "check_parameters"]

PRUNINGS = ("pessimistic", "cost", "none")
ANSWERS = ("majority", "least-cost")
VARIANTS = ("refined", "paper")
SEARCHES = ("real", "binary")
SAMPLES = ("grown", "pruned")
VECTORS = ("sum", "max")
IMPURITIES = ("pairs", "powers")


def _one_of(*names: str) -> tuple[Callable[[Any], bool], str]:
    return (lambda value: isinstance(value, str) and value in names), "one of " + ", ".join(map(repr, names))


def _number(
    low: float, high: float = math.inf, *, above: bool = False, optional: bool = False
) -> tuple[Callable[[Any], bool], str]:
    def valid(value: Any) -> bool:
        if value is None:
            return optional
        # The plain types first: to ask whether something is a Real takes five times as long.
        if type(value) not in (int, float) and (isinstance(value, bool) or not isinstance(value, numbers.Real)):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        return math.isfinite(number) and (low < number if above else low <= number) and number <= high

    bounds = f"above {low:g}" if above else f"of at least {low:g}"
    most = f" and at most {high:g}" if high < math.inf else ""
    return valid, f"a number {bounds}{most}" + (" or None" if optional else "")


def _whole(low: int, *, most: float = math.inf, optional: bool = False) -> tuple[Callable[[Any], bool], str]:
    def valid(value: Any) -> bool:
        if value is None or type(value) is int:
            return optional if value is None else low <= value <= most
        return isinstance(value, numbers.Integral) and not isinstance(value, bool) and low <= int(value) <= most

    upper = f" and at most {most:,}" if most < math.inf else ""
    return valid, f"a whole number of at least {low}{upper}" + (" or None" if optional else "")


def _one_or_more(low: float) -> tuple[Callable[[Any], bool], str]:
    each, words = _number(low)

    def valid(value: Any) -> bool:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            return each(value)
        values = list(value)
        return bool(values) and all(map(each, values))

    return valid, f"{words}, or a list of such numbers"


def _is_validation(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) == 2
    return _number(0, 0.9, above=True, optional=True)[0](value)


def _is_n_jobs(value: Any) -> bool:
    return value is None or (isinstance(value, numbers.Integral) and not isinstance(value, bool) and value != 0)


def _is_truth(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_list(value: Any) -> bool:
    return value is None or (not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"))


# Name of the parameter -> (is it valid?, what would be valid).
RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "costs": (lambda value: value is None or isinstance(value, Costs), "a worthwhile.Costs or None"),
    "prune": _one_of(*PRUNINGS),
    "answer": _one_of(*ANSWERS),
    "confidence": _number(0, 1, above=True),
    "min_cases": _number(0, above=True),
    "min_share": _number(0, 1),
    "max_depth": _whole(1, optional=True),
    "omega": _number(0),
    "lookahead": _whole(1),
    "raise_subtrees": (_is_truth, "True or False"),
    "mdl_correction": (_is_truth, "True or False"),
    "context": (_is_truth, "True or False"),
    "lazy": (_is_truth, "True or False"),
    "nominal": (_is_list, "a list of column names or positions, or None"),
    "columns": (_is_list, "a list of column names or None"),
    "hierarchies": (
        lambda value: value is None or isinstance(value, Mapping),
        "a mapping of column to {value: more general value}, or None",
    ),
    "budget": _number(0, optional=True),
    "alpha": _one_or_more(0),
    "power": _one_or_more(1),
    "max_trees": _whole(1, most=30_000),
    "impurity": _one_of(*IMPURITIES),
    "splits": _one_of("minimax", "expected"),
    "cuts": _one_of("random", "exact"),
    "sampling": _one_of("chosen", "weighted", "drawn"),
    "tests": _one_of("all", "chosen"),
    "validation": (_is_validation, "a number above 0 and at most 0.9, a pair (X, y), or None"),
    "adaptive": (
        lambda value: _is_truth(value) or (isinstance(value, str) and value == "settled"),
        "True, False or 'settled'",
    ),
    "r": _whole(0, most=1_000_000),
    "samples": _one_of(*SAMPLES),
    "variant": _one_of(*VARIANTS),
    "search": _one_of(*SEARCHES),
    "seeded": (_is_truth, "True or False"),
    "population": _whole(2),
    "trials": _whole(1),
    "crossover": _number(0, 1),
    "mutation": _number(0, 1),
    "time_limit": _number(0, above=True, optional=True),
    "callback": (lambda value: value is None or callable(value), "a function or None"),
    "weighting": (lambda value: value is None or _one_of("instance")[0](value), "'instance' or None"),
    "priors": (lambda value: value is None or _one_of("altered")[0](value), "'altered' or None"),
    "vector": (
        lambda value: (isinstance(value, str) and value in VECTORS) or isinstance(value, Mapping),
        "one of " + ", ".join(map(repr, VECTORS)) + " or a mapping of class to cost",
    ),
    "soft_label_weight": (
        lambda value: (isinstance(value, str) and value == "chosen") or _number(0, 1)[0](value),
        "a number of at least 0 and at most 1, or 'chosen'",
    ),
    "preset": _one_of("given", "chosen"),
    "n_jobs": (_is_n_jobs, "a whole number other than 0 (-1: all processors) or None"),
    "random_state": (lambda value: True, "anything"),
}


def check_parameters(learner: str, parameters: Mapping[str, Any], left_open: Collection[str] = ()) -> None:
    """Refuse an invalid parameter, naming it and what would be valid; those that may be left open may be None.

    Examples
    --------
    >>> check_parameters("C45Classifier", {"prune": "hard"})
    Traceback (most recent call last):
    ...
    ValueError: prune='hard' of C45Classifier is not valid; it must be one of 'pessimistic', 'cost', 'none'
    """
    for name, value in parameters.items():
        valid, words = RULES.get(name, RULES["random_state"])  # others are those of a subclass, its own affair
        if not valid(value) and not (value is None and name in left_open):
            none = " or None" if name in left_open and not words.endswith("None") else ""
            raise ValueError(f"{name}={value!r} of {learner} is not valid; it must be {words}{none}")

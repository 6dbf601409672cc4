"""The one table of the learners' parameters: which values are valid, and the message for one that is not."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from worthwhile.costs.costs import Costs

__all__ = [
    "IMPURITIES",
    "RACERS",
    "Adaptive",
    "Answer",
    "Base",
    "Cuts",
    "Deepening",
    "Distinct",
    "Impurity",
    "LeafPrice",
    "NominalSplits",
    "Preset",
    "Priors",
    "Prune",
    "Samples",
    "Sampling",
    "Search",
    "SoftLabelShare",
    "Splits",
    "TestChoice",
    "Thresholds",
    "Variant",
    "VectorRule",
    "Weighting",
    "check_parameters",
]

# The types of parameters with named values, for type checkers and editors; `RULES` are made from them.
Adaptive = bool | Literal["settled"]
Answer = Literal["majority", "least-cost"]
Base = Literal["forest", "boosting", "chosen"] | Any  # or a scikit-learn classifier
Cuts = Literal["random", "exact"]
Deepening = bool | Literal["chosen"]
Distinct = Literal["trees", "structures"]
Impurity = Literal["pairs", "powers"]
LeafPrice = float | Literal["chosen"]
NominalSplits = Literal["multiway", "subset", "both"]
Preset = Literal["given", "chosen"]
Priors = Literal["altered"]
Prune = Literal["pessimistic", "cost", "none"]
Samples = Literal["grown", "pruned"]
Sampling = Literal["chosen", "weighted", "drawn"]
Search = Literal["real", "binary"]
SoftLabelShare = float | Literal["chosen"]
Splits = Literal["minimax", "expected"]
TestChoice = Literal["all", "chosen"]
Thresholds = int | Literal["all"]
Variant = Literal["refined", "paper"]
VectorRule = Literal["sum", "max"]
Weighting = Literal["instance"]

BASES: tuple[str, ...] = get_args(get_args(Base)[0])
RACERS = (
    "dtmc",
    "eg2",
    "optimal",
    "cascade",
    "budget-forest",
    "act",
    "icet",
)  # learners that an AutoClassifier may try
IMPURITIES: tuple[Impurity, ...] = get_args(Impurity)


class Rule(NamedTuple):
    """Which values of a parameter are valid."""

    is_valid: Callable[[Any], bool]
    options: tuple[str, ...]  # what is valid, in words
    optional: bool = False  # None is valid, too, whatever the default is
    verb: str = "it must be"


def _one_of(choice: Any, *, optional: bool = False) -> Rule:
    """Return the rule of a parameter with the values of a `Literal`."""
    names: tuple[str, ...] = get_args(choice)
    return Rule(lambda value: isinstance(value, str) and value in names, tuple(map(repr, names)), optional, "choose")


def _number(low: float, high: float = math.inf, *, above: bool = False, optional: bool = False) -> Rule:
    def is_valid(value: Any) -> bool:
        # The plain types first: checking whether something is a Real takes five times as long.
        if type(value) not in (int, float) and (isinstance(value, bool) or not isinstance(value, numbers.Real)):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        return math.isfinite(number) and (low < number if above else low <= number) and number <= high

    if high == math.inf:
        bounds = f"above {low:g}" if above else f"of at least {low:g}"
    else:
        bounds = f"above {low:g} and at most {high:g}" if above else f"from {low:g} to {high:g}"
    return Rule(is_valid, (f"a number {bounds}",), optional)


def _whole(low: int, high: float = math.inf, *, optional: bool = False) -> Rule:
    def is_valid(value: Any) -> bool:
        if type(value) is int:
            return low <= value <= high
        return isinstance(value, numbers.Integral) and not isinstance(value, bool) and low <= int(value) <= high

    bounds = f"of at least {low}" if high == math.inf else f"from {low} to {high:,}"
    return Rule(is_valid, (f"a whole number {bounds}",), optional)


def _one_or_more(low: float) -> Rule:
    each = _number(low)

    def is_valid(value: Any) -> bool:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            return each.is_valid(value)
        values = list(value)
        return bool(values) and all(map(each.is_valid, values))

    return Rule(is_valid, (*each.options, "a list of such numbers"))


def _or_word(rule: Rule, word: str) -> Rule:
    """Return the rule of a parameter that may also be a word."""
    return Rule(
        lambda value: (isinstance(value, str) and value == word) or rule.is_valid(value), (*rule.options, repr(word))
    )


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_list(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")


def _is_validation(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) == 2
    return _number(0, 0.9, above=True).is_valid(value)


def _are_racers(value: Any) -> bool:
    return _is_list(value) and bool(names := list(value)) and all(name in RACERS for name in names)


def _is_n_jobs(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and value != 0


def _is_classifier(value: Any) -> bool:
    return not isinstance(value, type) and all(hasattr(value, name) for name in ("fit", "get_params", "predict_proba"))


_BOOL = Rule(_is_bool, ("True", "False"), verb="choose")

RULES: Mapping[str, Rule] = {
    "costs": Rule(lambda value: isinstance(value, Costs), ("a worthwhile.Costs",), optional=True),
    "cap": _number(0, optional=True),
    "prune": _one_of(Prune),
    "answer": _one_of(Answer),
    "confidence": _number(0, 1, above=True),
    "min_cases": _number(0, above=True),
    "min_share": _number(0, 1),
    "max_depth": _whole(1, optional=True),
    "max_leaves": _whole(1, optional=True),
    "omega": _number(0),
    "lookahead": _whole(1),
    "raise_subtrees": _BOOL,
    "mdl_correction": _BOOL,
    "context": _BOOL,
    "lazy": _BOOL,
    "readable": _BOOL,
    "learners": Rule(_are_racers, (f"a list of {', '.join(map(repr, RACERS))}",), optional=True),
    "cross_fit": _BOOL,
    "nominal": Rule(_is_list, ("a list of column names or positions",), optional=True),
    "columns": Rule(_is_list, ("a list of column names",), optional=True),
    "hierarchies": Rule(
        lambda value: isinstance(value, Mapping), ("a mapping of column to {value: more general value}",), optional=True
    ),
    "budget": _number(0, optional=True),
    "base": Rule(
        lambda value: value in BASES if isinstance(value, str) else _is_classifier(value),
        (*map(repr, BASES), "a scikit-learn classifier with predict_proba"),
    ),
    "n_trees": _whole(1, 30_000),
    "alpha": _one_or_more(0),
    "power": _one_or_more(1),
    "max_trees": _whole(1, 30_000),
    "impurity": _one_of(Impurity),
    "splits": _one_of(Splits),
    "cuts": _one_of(Cuts),
    "sampling": _one_of(Sampling),
    "tests": _one_of(TestChoice),
    "validation": Rule(_is_validation, ("a number above 0 and at most 0.9", "a pair (X, y)"), optional=True),
    "adaptive": Rule(
        lambda value: _is_bool(value) or (isinstance(value, str) and value == "settled"),
        ("True", "False", "'settled'"),
        verb="choose",
    ),
    "deepen": Rule(
        lambda value: _is_bool(value) or (isinstance(value, str) and value == "chosen"),
        ("True", "False", "'chosen'"),
        verb="choose",
    ),
    "r": _whole(0, 1_000_000),
    "samples": _one_of(Samples),
    "variant": _one_of(Variant),
    "search": _one_of(Search),
    "seeded": _BOOL,
    "population": _whole(2),
    "trials": _whole(1),
    "crossover": _number(0, 1),
    "mutation": _number(0, 1),
    "time_limit": _number(0, above=True, optional=True),
    "callback": Rule(callable, ("a function",), optional=True),
    "weighting": _one_of(Weighting, optional=True),
    "priors": _one_of(Priors, optional=True),
    "vector": Rule(
        lambda value: isinstance(value, Mapping) or (isinstance(value, str) and value in get_args(VectorRule)),
        ("'sum'", "'max'", "a mapping of class to cost"),
        verb="choose",
    ),
    "soft_label_weight": _or_word(_number(0, 1), "chosen"),
    "soft_labels": _or_word(_number(0, 1), "chosen"),
    "leaf_price": _or_word(_number(0), "chosen"),
    "near_optimal": _number(0, optional=True),
    "thresholds": _or_word(_whole(1), "all"),
    "nominal_splits": _one_of(NominalSplits),
    "memory_limit": _number(1, optional=True),
    "preset": _one_of(Preset),
    "n_jobs": Rule(_is_n_jobs, ("a whole number other than 0 (-1: all processors)",), optional=True),
}

# Arguments of methods that are not parameters of a learner.
ARGUMENTS: Mapping[str, Rule] = {"epsilon": _number(0), "distinct": _one_of(Distinct)}


def check_parameters(learner: str, parameters: Mapping[str, Any], optional: Collection[str] = ()) -> None:
    """Refuse an invalid parameter, naming it and what would be valid; those of `optional` may be None.

    Examples
    --------
    >>> check_parameters("C45Classifier", {"prune": "hard"})
    Traceback (most recent call last):
    ...
    ValueError: C45Classifier: invalid prune='hard'; choose 'pessimistic', 'cost' or 'none'
    """
    for name, value in parameters.items():
        # random_state is checked by scikit-learn; a subclass checks parameters of its own
        rule = RULES.get(name, ARGUMENTS.get(name))
        if rule is None or rule.is_valid(value):
            continue
        none_is_valid = rule.optional or name in optional
        if value is None and none_is_valid:
            continue
        options = (*rule.options, "None") if none_is_valid else rule.options
        *others, last = options
        words = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{learner}: invalid {name}={value!r}; {rule.verb} {words}")

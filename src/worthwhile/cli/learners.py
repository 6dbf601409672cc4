"""The learners by their names on the command line."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from worthwhile.cli.common import split_names
from worthwhile.costs.error_costs import show, suggest

__all__ = ["LEARNERS", "find_learner", "make_learner", "parameter_rows", "read_settings"]

# Written out, so that --help does not import scikit-learn; a test compares it with the list of all learners.
LEARNERS: Mapping[str, str] = {
    "auto": "AutoClassifier",
    "act": "ACTClassifier",
    "optimal": "OptimalClassifier",
    "cascade": "CascadeClassifier",
    "icet": "ICETClassifier",
    "budget-forest": "BudgetForestClassifier",
    "eg2": "EG2Classifier",
    "dtmc": "DTMCClassifier",
    "idx": "IDXClassifier",
    "csid3": "CSID3Classifier",
    "lsid3": "LSID3Classifier",
    "c45": "C45Classifier",
    "c45cs": "C45CSClassifier",
}
# With a price list, learners whose papers ignore error costs use them, too. On ten folds of heart, bupa and pima with
# error costs of 500 for one class and 50 for the other, EG2 then costs 23, 25 and 17 per case instead of 83, 156 and
# 99, and C4.5 360, 96 and 92 instead of 382, 155 and 119. C4.5CS weights cases by error costs; its answers would count
# these twice.
_BY_COST = {"prune": "cost", "answer": "least-cost"}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "eg2": _BY_COST,
    "idx": _BY_COST,
    "csid3": _BY_COST,
    "lsid3": {"answer": "least-cost"},
    "c45": {"answer": "least-cost"},
}
# Parameters that have their own options.
OPTIONS = {
    "costs": "--costs",
    "cap": "--cap",
    "nominal": "--nominal",
    "columns": "the header of the table",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "callback": "Python code only",
}
WORDS = {"true": True, "false": False, "none": None}


def find_learner(name: str) -> Any:
    """Return the class of a learner."""
    if name.lower() not in LEARNERS:
        raise ValueError(f"there is no learner {show(name)}; {suggest(name, LEARNERS, complete=True)}")
    import worthwhile

    return getattr(worthwhile, LEARNERS[name.lower()])


def read_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Return the values of settings such as "r=10" or "alpha=0,8,25".

    Examples
    --------
    >>> read_settings(["r=10", "variant=paper", "alpha=0,8", "adaptive=true"])
    {'r': 10, 'variant': 'paper', 'alpha': [0, 8], 'adaptive': True}
    """
    found: dict[str, Any] = {}
    for text in settings:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not name or not equals or not value:
            raise ValueError(f"--set {text}: write a setting as name=value, e.g. --set r=10")
        try:
            read = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            read = WORDS.get(value.lower(), value)
        except (TypeError, MemoryError, RecursionError):  # {[]: 1}, or very deep brackets
            raise ValueError(f"--set {name}: invalid value; write it as in Python, e.g. --set r=10") from None
        found[name] = list(read) if isinstance(read, tuple) else read
    return found


def parameter_rows() -> list[list[str]]:
    """Return for each parameter that --set may give: its name, valid values, default, and the learners that have it.

    The first row has the headings. docs/write_parameters.py writes the file, so that --help needs no learner.
    """
    text = Path(__file__).with_name("parameters.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def _has_none(parameter: str) -> bool:
    from worthwhile.learners.parameters import RULES

    return parameter in RULES and "'none'" in RULES[parameter].options


def make_learner(
    name: str, settings: Mapping[str, Any], limits: Mapping[str, Any], *, with_costs: bool = False, **known: Any
) -> Any:
    """Create an unfitted learner; unknown parameters and invalid values raise an error.

    Parameters
    ----------
    name : str
        Name on the command line.
    settings : mapping
        Parameters given by --set.
    limits : mapping
        Parameters with their own options that only some learners have; None: not given.
    with_costs : bool
        Whether there is a price list. Then greedy learners answer, and most are pruned, by cost; settings take
        precedence, and weighting cases by error costs takes the place of both.
    known : keyword arguments
        Parameters that all learners have.
    """

    learner = find_learner(name)
    valid = learner._parameter_names()
    for key, option in OPTIONS.items():
        if key in settings:
            raise ValueError(f"--set {key}: this parameter is set by {option}")
    for key in settings:
        if key not in valid:
            free = [parameter for parameter in valid if parameter not in OPTIONS]
            raise ValueError(f"--set {key}: {name} has no such parameter; {suggest(key, free, complete=True)}")
    # "none" is read as None; where it is the name of a choice (prune=none), that is meant.
    settings = {key: "none" if value is None and _has_none(key) else value for key, value in settings.items()}
    if isinstance(names := settings.get("learners"), str):  # a list of words, which Python cannot read
        settings["learners"] = split_names(names)
    given = {key: value for key, value in limits.items() if value is not None}
    for key in given:
        if key not in valid:
            having = [other for other in LEARNERS if key in find_learner(other)._parameter_names()]
            raise ValueError(f"--{key.replace('_', '-')}: not available for {name}, only for {', '.join(having)}")
    uses_costs = with_costs and settings.get("weighting") is None
    defaults = DEFAULTS.get(name.lower(), {}) if uses_costs else {}
    clf = learner(**{**defaults, **settings, **given, **known})
    clf._check_parameters()
    return clf

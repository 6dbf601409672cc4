"""Parameters: what is refused, with a message that says what would be valid; and what is accepted."""

from fractions import Fraction
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import worthwhile as ww
from all_learners import LEARNERS, make
from worthwhile.learners.parameters import RULES, check_parameters

X, Y = np.arange(12.0)[:, None], [0, 1] * 6
FOREST = ww.BudgetForestClassifier


@pytest.mark.parametrize(
    ("learner", "parameter", "words"),
    [
        (ww.C45Classifier, {"costs": {"x0": 1}}, "it must be a worthwhile.Costs or None"),
        (ww.C45Classifier, {"prune": "hard"}, "choose 'pessimistic', 'cost' or 'none'"),
        (ww.C45Classifier, {"prune": None}, "choose 'pessimistic', 'cost' or 'none'"),
        (ww.C45Classifier, {"answer": "best"}, "choose 'majority' or 'least-cost'"),
        (ww.C45Classifier, {"confidence": 0}, "it must be a number above 0 and at most 1"),
        (ww.C45Classifier, {"confidence": "25%"}, "it must be a number above 0 and at most 1"),
        (ww.C45Classifier, {"min_cases": 0}, "it must be a number above 0"),
        (ww.C45Classifier, {"min_cases": np.nan}, "it must be a number above 0"),
        (ww.C45Classifier, {"min_cases": True}, "it must be a number above 0"),
        (ww.C45Classifier, {"min_cases": 10**400}, "it must be a number above 0"),
        (ww.C45Classifier, {"min_share": 1.5}, "it must be a number from 0 to 1"),
        (ww.C45Classifier, {"max_depth": 0}, "it must be a whole number of at least 1 or None"),
        (ww.C45Classifier, {"max_depth": 2.5}, "it must be a whole number of at least 1 or None"),
        (ww.EG2Classifier, {"omega": -1}, "it must be a number of at least 0"),
        (ww.EG2Classifier, {"hierarchies": 3}, "it must be a mapping of column to {value: more general value} or None"),
        (ww.IDXClassifier, {"lookahead": 0}, "it must be a whole number of at least 1"),
        (ww.IDXClassifier, {"lookahead": None}, "it must be a whole number of at least 1"),
        (ww.CSID3Classifier, {"lazy": 1}, "choose True or False"),
        (ww.DTMCClassifier, {"context": "yes"}, "choose True or False"),
        (ww.EG2Classifier, {"mdl_correction": None}, "choose True or False"),
        (ww.DTMCClassifier, {"raise_subtrees": 0}, "choose True or False"),
        (ww.DTMCClassifier, {"nominal": "x0"}, "it must be a list of column names or positions or None"),
        (ww.DTMCClassifier, {"columns": "x0"}, "it must be a list of column names or None"),
        (ww.DTMCClassifier, {"n_jobs": 0}, "it must be a whole number other than 0 (-1: all processors) or None"),
        (ww.DTMCClassifier, {"n_jobs": 1.5}, "it must be a whole number other than 0 (-1: all processors) or None"),
        (ww.C45CSClassifier, {"vector": "mean"}, "choose 'sum', 'max' or a mapping of class to cost"),
        (ww.C45CSClassifier, {"vector": None}, "choose 'sum', 'max' or a mapping of class to cost"),
        (ww.C45CSClassifier, {"priors": "equal"}, "choose 'altered' or None"),
        (ww.C45CSClassifier, {"preset": "fine"}, "choose 'given' or 'chosen'"),
        (ww.C45CSClassifier, {"soft_label_weight": 1.5}, "it must be a number from 0 to 1 or 'chosen'"),
        (ww.C45CSClassifier, {"soft_label_weight": "some"}, "it must be a number from 0 to 1 or 'chosen'"),
        (ww.C45CSClassifier, {"soft_label_weight": None}, "it must be a number from 0 to 1 or 'chosen'"),
        (ww.ICETClassifier, {"variant": "best"}, "choose 'refined' or 'paper'"),
        (ww.ICETClassifier, {"search": "x"}, "choose 'real' or 'binary'"),
        (ww.ICETClassifier, {"seeded": "no"}, "choose True or False"),
        (ww.ICETClassifier, {"population": 1}, "it must be a whole number of at least 2"),
        (ww.ICETClassifier, {"trials": 0}, "it must be a whole number of at least 1"),
        (ww.ICETClassifier, {"crossover": 2}, "it must be a number from 0 to 1"),
        (ww.ICETClassifier, {"mutation": -1}, "it must be a number from 0 to 1"),
        (ww.ICETClassifier, {"time_limit": 0}, "it must be a number above 0 or None"),
        (ww.ICETClassifier, {"callback": 3}, "it must be a function or None"),
        (ww.ACTClassifier, {"variant": "best"}, "choose 'refined' or 'paper'"),
        (ww.ACTClassifier, {"r": -1}, "it must be a whole number from 0 to 1,000,000"),
        (ww.ACTClassifier, {"omega": -1}, "it must be a number of at least 0 or None"),
        (ww.ACTClassifier, {"confidence": 0}, "it must be a number above 0 and at most 1 or None"),
        (ww.ACTClassifier, {"samples": "stopped"}, "choose 'grown', 'pruned' or None"),
        (ww.LSID3Classifier, {"r": 1.5}, "it must be a whole number from 0 to 1,000,000"),
        (FOREST, {"budget": -1}, "it must be a number of at least 0 or None"),
        (FOREST, {"budget": "all"}, "it must be a number of at least 0 or None"),
        (FOREST, {"alpha": -1}, "it must be a number of at least 0 or a list of such numbers"),
        (FOREST, {"alpha": []}, "it must be a number of at least 0 or a list of such numbers"),
        (FOREST, {"alpha": [0, "x"]}, "it must be a number of at least 0 or a list of such numbers"),
        (FOREST, {"alpha": None}, "it must be a number of at least 0 or a list of such numbers"),
        (FOREST, {"power": 0.5}, "it must be a number of at least 1 or a list of such numbers"),
        (FOREST, {"max_trees": 0}, "it must be a whole number from 1 to 30,000 or None"),
        (FOREST, {"impurity": "products"}, "choose 'pairs' or 'powers'"),
        (FOREST, {"splits": "mean"}, "choose 'minimax' or 'expected'"),
        (FOREST, {"cuts": "values"}, "choose 'random' or 'exact'"),
        (FOREST, {"cuts": 80}, "choose 'random' or 'exact'"),
        (FOREST, {"sampling": "all"}, "choose 'chosen', 'weighted' or 'drawn'"),
        (FOREST, {"tests": "some"}, "choose 'all' or 'chosen'"),
        (FOREST, {"validation": 0}, "it must be a number above 0 and at most 0.9, a pair (X, y) or None"),
        (FOREST, {"validation": (1, 2, 3)}, "it must be a number above 0 and at most 0.9, a pair (X, y) or None"),
        (FOREST, {"adaptive": "yes"}, "choose True, False or 'settled'"),
        (FOREST, {"adaptive": 1}, "choose True, False or 'settled'"),
    ],
)  # fmt: skip
def test_invalid_parameters_are_refused_with_what_is_valid(learner, parameter, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        learner(**parameter).fit(X, Y)
    [(name, value)] = parameter.items()
    assert str(caught.value) == f"{learner.__name__}: invalid {name}={value!r}; {words}"


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("weighting", ["class", 1, True])
def test_other_weightings_are_refused_by_every_learner(learner, weighting):
    words = f"{learner.__name__}: invalid weighting={weighting!r}; choose 'instance' or None"
    with pytest.raises(ValueError, match=words):
        learner(weighting=weighting).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("confidence", np.float32(0.25)),
        ("confidence", Fraction(1, 4)),
        ("confidence", 1),
        ("max_depth", np.int64(3)),
        ("max_depth", None),
        ("max_depth", 10**30),
        ("lazy", np.True_),
        ("alpha", 3),
        ("alpha", np.array([0.0, 2.0])),
        ("alpha", range(3)),
        ("validation", 0.9),
        ("validation", [X, Y]),
        ("validation", None),
        ("n_jobs", -1),
        ("nominal", range(2)),
        ("callback", print),
        ("vector", {"a": 1}),
    ],
)
def test_valid_values_of_all_kinds(name, value):
    check_parameters("Learner", {name: value})


def test_none_is_valid_where_it_is_the_default():
    check_parameters("Learner", {"omega": None}, ["omega"])
    with pytest.raises(ValueError, match=r"invalid omega=None; it must be a number of at least 0$"):
        check_parameters("Learner", {"omega": None})


def test_every_parameter_has_a_rule():
    names = {name for learner in LEARNERS for name in learner().get_params()}
    assert names == {*RULES, "random_state"}  # scikit-learn checks that
    for learner in LEARNERS:
        check_parameters(learner.__name__, learner().get_params(), learner().get_params())


def _choices(hint):
    """The named values of a type."""
    if get_origin(hint) is Literal:
        return {repr(value) for value in get_args(hint)}
    return set().union(*(_choices(part) for part in get_args(hint)), set())


@pytest.mark.parametrize("learner", LEARNERS)
def test_types_name_the_values_that_the_rules_accept(learner):
    cls = type(make(learner))
    for name, hint in get_type_hints(cls).items():
        if name in RULES and name in cls._parameter_names():
            accepted = {option for option in RULES[name].options if option[0] in "'"}
            assert _choices(hint) == accepted, name
            assert _choices(hint) or hint is not str

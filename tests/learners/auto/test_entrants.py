"""The learners that take part in a race."""

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.learners.auto.entrants import entrants
from worthwhile.learners.parameters import RACERS
from worthwhile.table.columns import read_columns

KNOWN = dict.fromkeys(("costs", "cap", "weighting", "nominal", "columns", "random_state", "n_jobs")) | {
    "nominal_splits": "both"
}
LIMITS = {"max_leaves": 5, "min_cases": 2}


def found(prices, readable=False, learners=None):
    costs = ww.Costs(tests=prices, errors=10)
    X, y = np.random.default_rng(0).normal(size=(30, len(prices))), np.arange(30) % 2
    cases = ww.AutoClassifier(costs=costs)._prepare(read_columns(X), y, None)
    return entrants(cases, 24, KNOWN | {"costs": costs}, LIMITS, readable, learners)


def test_every_learner_that_can_be_named_takes_part():
    assert {one.learner for one in found({"x0": 1.0})} == {"", *RACERS}


@pytest.mark.parametrize("learner", RACERS)
def test_a_named_learner_takes_part_beside_no_test_and_free_tests(learner):
    assert {one.learner for one in found({"x0": 1.0, "x1": 0.0}, learners=[learner])} == {"", learner}


def test_free_tests_are_tried_on_their_own_if_others_have_a_price():
    assert [one.name for one in found({"x0": 1.0, "x1": 0.0}) if "free" in one.name] == [
        "free tests, DTMC",
        "free tests, forest",
    ]
    for prices in ({"x0": 1.0}, {"x0": 0.0}):
        assert not [one for one in found(prices) if "free" in one.name]


def test_only_trees_are_readable():
    assert {one.learner for one in found({"x0": 1.0, "x1": 0.0}, readable=True)} == {"", *RACERS} - {
        "cascade",
        "budget-forest",
    }


def test_limits_reach_all_trees_and_cross_fitting_comes_last():
    for one in found({"x0": 1.0, "x1": 0.0}):
        racing, last = one.make(True), one.make(False)
        if one.is_tree:
            assert racing.max_leaves == last.max_leaves == (1 if one.name == "no test" else 5)
            assert (racing.cross_fit, last.cross_fit) == (False, True)
        assert racing.cap == (0.0 if "free" in one.name else None)


def test_a_leaf_of_an_exact_tree_costs_less_where_more_cases_are_learned_from():
    costs = ww.Costs(tests={"x0": 1.0}, errors=10)
    X, y = np.random.default_rng(0).normal(size=(6_000, 1)), np.arange(6_000) % 2
    cases = ww.AutoClassifier(costs=costs)._prepare(read_columns(X), y, None)
    for one in entrants(cases, 3_000, KNOWN | {"costs": costs}, LIMITS, False, ["optimal"])[1:]:
        assert one.make(True).leaf_price == pytest.approx(2 * one.make(False).leaf_price)


def test_exact_trees_are_deepened_unless_they_shall_be_readable():
    """By half soft labels, with more thresholds: deeper trees from few thresholds and soft labels cost more."""
    for readable in (False, True):
        exact = {one.name: one.make(True) for one in found({"x0": 1.0}, readable) if one.learner == "optimal"}
        own, soft = exact["exact tree"], exact["exact tree, soft labels"]
        assert (own.soft_labels, own.deepen) == (0.0, False)
        assert (soft.soft_labels, soft.deepen) == (0.5, not readable)
        assert soft.thresholds > own.thresholds

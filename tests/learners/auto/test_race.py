"""The rounds of a race, and the choice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worthwhile.learners.auto.entrants import Entrant, Kind
from worthwhile.learners.auto.race import Plan, Race, choose


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_a_simpler_learner_is_chosen_only_if_it_is_about_as_cheap(seed):
    rng = np.random.default_rng(seed)
    costs = {name: rng.normal(loc, 1.0, 40) for name, loc in (("leaf", 1.0), ("tree", 0.8), ("cascade", 0.7))}
    kinds = {"leaf": 0, "tree": 2, "cascade": 4}
    name = choose(costs, np.ones(40), kinds)
    means = {key: own.mean() for key, own in costs.items()}
    best = min(means, key=means.get)
    assert kinds[name] <= kinds[best]
    more = costs[name] - costs[best]
    assert more.mean() <= 0.5 * more.std() / np.sqrt(40) + 1e-12


def test_of_equal_learners_the_simplest_is_chosen():
    same = np.ones(10)
    assert choose({"tree": same, "leaf": same}, same, {"tree": 2, "leaf": 0}) == "leaf"


def test_the_cases_of_a_round_take_no_part_in_the_choice_that_they_measure():
    """Cases that are divided twice are measured in two rounds."""
    by_case = {"lucky": np.array([-10.0, -10.0, 5.0, 5.0]), "steady": np.full(4, 3.0)}
    race = Race(None, np.arange(4), [Entrant(name, "", Kind.TREE, None, 1.0) for name in by_case])
    race.measured_rows = [np.array(rows) for rows in ([0, 1], [2, 3], [0, 2], [1, 3])]
    race.weights = [np.ones(2)] * 4
    race.costs = {name: [own[rows] for rows in race.measured_rows] for name, own in by_case.items()}
    assert race.choose().name == "lucky"
    assert [race.choose(without).name for without in range(4)] == ["steady", "lucky", "lucky", "lucky"]


def test_one_that_costs_every_case_the_same_as_a_simpler_one_leaves():
    kinds = {"tree": Kind.TREE, "other tree": Kind.TREE, "leaf": Kind.NO_TEST, "cascade": Kind.CASCADE}
    race = Race(None, np.arange(80), [Entrant(name, "", kind, None, 1.0) for name, kind in kinds.items()])
    same, own = (np.random.default_rng(seed).normal(size=40) for seed in range(2))
    for left in (list(kinds), ["leaf", "cascade"]):
        race.weights.append(np.ones(40))
        for name in kinds:
            race.costs.setdefault(name, []).append(own if name == "cascade" else same)
        race.finish_round()
        assert [one.name for one in race.alive] == left


def test_what_costs_clearly_more_leaves_but_for_no_test_and_free_tests():
    kinds = {"tree": Kind.TREE, "other tree": Kind.TREE, "leaf": Kind.NO_TEST, "free": Kind.FREE_TREE}
    race = Race(None, np.arange(80), [Entrant(name, "", kind, None, 1.0) for name, kind in kinds.items()])
    race.weights.append(np.ones(40))
    for place, name in enumerate(kinds):
        race.costs[name] = [np.random.default_rng(place).normal(loc=3.0 * place, size=40)]
    assert race.is_decided()
    race.finish_round()
    assert [one.name for one in race.alive] == ["tree", "leaf", "free"]
    race.costs["leaf"][0] -= 6.0
    assert not race.is_decided()


@pytest.mark.parametrize("n", [8, 50, 398, 400, 5_000, 20_000, 1_000_000])
def test_rounds_are_disjoint_and_bounded(n):
    plan, classes = Plan(n), np.tile([0, 1], n // 2).astype(np.int32)
    rounds = list(plan.rounds(classes, np.random.default_rng(0)))
    assert len(rounds) == plan.n_rounds
    for learned, measured in rounds:
        assert not np.intersect1d(learned, measured).size
        assert len(learned) <= plan.n_learned + 1
        assert 0 < len(measured) <= 5_001
    if n <= 3_000:
        assert sorted(np.concatenate([measured for _, measured in rounds[: plan.n_folds]])) == list(range(n))

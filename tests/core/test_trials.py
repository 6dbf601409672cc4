"""Trials of biases in the compiled core against the oracle: a tree grown on some cases, its cost counted on others."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import reference as ref
from bridge import (
    assert_same_tree,
    core_errors,
    core_grow,
    core_grow_ahead,
    core_policy,
    core_pricing,
    core_training,
    core_trials,
    differences,
    to_node,
)
from problems import SEEDS, WEIGHTS, compare, policies, problems
from worthwhile import _core


def random_biases(rng, problem):
    """Biases near the prices and far from them; some remove a test."""
    n = len(problem.columns)
    listed = np.array([ref.price_in_context(problem, t) for t in range(n)])
    choices = np.array([listed, *np.tile([[0.0], [0.3], [1.0], [40.0], [8_000.0], [np.inf]], n)])
    return choices[rng.integers(0, len(choices), n), np.arange(n)].tolist()


@dataclass
class Plan:
    """Arguments of trials: policies that differ in what a search may set, and splits with their weights."""

    policies: list[ref.Policy]
    split: np.ndarray
    grows: np.ndarray
    growing_weights: np.ndarray | None
    judging_weights: np.ndarray | None

    def core(self, problem, n_threads=1, **how):
        weights = self.growing_weights, self.judging_weights
        return core_trials(problem, self.policies, self.split, self.grows, *weights, n_threads=n_threads, **how)

    def one(self, i):
        """The plan of a single trial."""
        s = self.split[i]
        weights = None if self.growing_weights is None else self.growing_weights[[s]]
        return Plan([self.policies[i]], np.zeros(1, dtype=int), self.grows[[s]], weights, self.judging_weights)

    def expected(self, problem):
        """The oracle's costs."""
        weights = [None] * len(self.grows) if self.growing_weights is None else self.growing_weights
        return [
            ref.trial(problem, policy, self.grows[s].astype(bool), weights[s], self.judging_weights)
            for policy, s in zip(self.policies, self.split, strict=True)
        ]


def random_plan(rng, problem, policy, n_trials):
    """Some trials on fewer splits, whose sides may be of any size."""
    n, n_splits = len(problem.y), max(1, n_trials // 2)
    free = [
        {
            "biases": random_biases(rng, problem),
            "omega": float(rng.choice([0, 0.3, 1])),
            "confidence": float(rng.choice([0.01, 0.25, 0.7, 1])),
            "max_depth": None if rng.random() < 0.6 else int(rng.choice([1, 2, 4])),
            "reject_below": float(rng.choice([0, 0.5, 0.7, 1])),
        }
        for _ in range(n_trials)
    ]
    shares = rng.choice([0.5, 0.5, 0.8, 0.1], n_splits)
    kind = rng.choice(["none", "units", "soft"])
    soft = np.array([WEIGHTS[rng.choice(["fractions", "some zero", "real"])](rng, n) for _ in range(n_splits)])
    return Plan(
        [replace(policy, **own) for own in free],
        rng.integers(0, n_splits, n_trials),
        (rng.random((n_splits, n)) < shares[:, None]).astype(np.uint8),
        {"none": None, "units": np.ones((n_splits, n)), "soft": soft}[kind],
        None if rng.random() < 0.5 else WEIGHTS[rng.choice(["some zero", "quarters", "whole"])](rng, n),
    )


@compare(100)
@given(problem=problems(), policy=policies(prunings=["none", "pessimistic"]), seed=SEEDS)
def test_leaves_that_are_not_sure_enough_reject(problem, policy, seed):
    rng = np.random.default_rng(seed)
    extra = rng.uniform(0, 3, (problem.k, int(rng.integers(0, 3))))  # reject answers, more than one at times
    problem = replace(problem, errors=np.hstack([problem.errors[:, : problem.k], extra]))
    policy = replace(policy, answer="majority", reject_below=float(rng.choice([0.0, 0.4, 0.6, 0.75, 1.0])))
    tree = core_grow(problem, policy)
    assert_same_tree(tree, ref.grow(problem, policy))
    shares = tree.weights.max(axis=1) / np.maximum(tree.weights.sum(axis=1), 1e-300)
    sure = (shares >= policy.reject_below) | (tree.weights.sum(axis=1) == 0)
    if policy.reject_below == 0 or not extra.size:
        assert (tree.answer < problem.k).all()
    else:
        assert ((tree.answer >= problem.k) != sure)[tree.weights.sum(axis=1) > 0].all()


@st.composite
def plans(draw, n_trials=3, max_rows=40, prunings=("pessimistic", "cost")):
    """A problem and trials of EG2 on it."""
    problem = ref.without_weightless(draw(problems(max_rows=max_rows)))
    policy = replace(draw(policies(prunings=list(prunings))), criterion="icf")
    return problem, random_plan(np.random.default_rng(draw(SEEDS)), problem, policy, n_trials)


# -- biases in growing ------------------------------------------------------------------------------------------------


@compare(300)
@given(problem=problems(), policy=policies(), seed=SEEDS)
def test_tree_grown_by_biases(problem, policy, seed):
    policy = replace(policy, biases=random_biases(np.random.default_rng(seed), problem))
    tree = core_grow(problem, policy)
    assert_same_tree(tree, ref.grow(problem, policy))
    assert not set(tree.test[tree.test >= 0]) & set(np.flatnonzero(np.isinf(policy.biases)))


@compare(60)
@given(problem=problems(max_rows=16, max_columns=3), policy=policies(prunings=["none"], idx_depth=(2,)), seed=SEEDS)
def test_tree_grown_by_biases_looking_ahead(problem, policy, seed):
    policy = replace(policy, biases=random_biases(np.random.default_rng(seed), problem))
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


@compare(150)
@given(problem=problems(), policy=policies())
def test_biases_that_are_the_list_prices_change_nothing(problem, policy):
    listed = [ref.price_in_context(problem, t) for t in range(len(problem.columns))]
    plain = core_grow(problem, policy)
    assert not differences(to_node(core_grow(problem, replace(policy, biases=listed))), to_node(plain))


def test_a_bias_falls_in_context_as_the_price_does():
    # x0 tells class 0 from the rest, x1 and x2 tell the rest apart. x1 costs 6 by the list and 1 after x0, so its bias
    # of 60 falls to 10: below x0 it is the better one of two tests that tell the same, unless 60 is what is seen.
    rows = np.array([[a, b, b] for a in (0, 1) for b in (0, 1)] * 5, dtype=float)
    y = np.where(rows[:, 0] == 0, 0, 1 + rows[:, 1])
    problem = ref.Problem([*rows.T], [0] * 3, y, 3, marginal=[0, 1, 3], group=[0, 0, -1], common=[5])
    for context, second in ((False, 2), (True, 1)):
        policy = ref.Policy("icf", context=context, prune="none", biases=[0.0, 60.0, 12.0])
        tree = core_grow(problem, policy)
        assert_same_tree(tree, ref.grow(problem, policy))
        assert tree.test.tolist() == [0, -1, second, -1, -1]


def test_a_free_test_keeps_its_bias_in_context():
    column = np.array([0.0, 0, 1, 1, 0, 1])
    problem = ref.Problem([column, column], [0, 0], column, 2)
    for biases, chosen in (([3.0, 2.0], 1), ([2.0, 3.0], 0), ([np.inf, 9e9], 1)):
        policy = ref.Policy("icf", context=True, min_cases=1, biases=biases)
        assert core_grow(problem, policy).test[0] == chosen
        assert ref.grow(problem, policy).column == chosen


def test_without_any_test_the_tree_is_a_leaf():
    problem = ref.Problem([np.arange(10.0)], [0], np.arange(10) > 4, 2)
    assert core_grow(problem, ref.Policy("icf", biases=[np.inf])).test.tolist() == [-1]


# -- trials -----------------------------------------------------------------------------------------------------------


@compare(500)
@given(drawn=plans())
def test_costs_of_trials(drawn):
    problem, plan = drawn
    np.testing.assert_allclose(plan.core(problem), plan.expected(problem), rtol=1e-9, atol=1e-9)


@compare(60)
@given(drawn=plans(n_trials=8, prunings=["pessimistic", "cost", "none"]))
def test_trials_on_one_split_are_those_of_single_calls(drawn):
    problem, plan = drawn
    together = plan.core(problem)
    assert together.dtype == np.float64
    np.testing.assert_array_equal(together, [plan.one(i).core(problem)[0] for i in range(8)])
    np.testing.assert_array_equal(plan.core(problem, n_threads=2), together)


@compare(60)
@given(drawn=plans(n_trials=2))
def test_weights_of_one_are_no_weights(drawn):
    problem, plan = drawn
    problem = replace(problem, weights=np.ones(len(problem.y)))
    plan.growing_weights = plan.judging_weights = None
    expected = plan.core(problem)
    plan.growing_weights, plan.judging_weights = np.ones(plan.grows.shape), np.ones(len(problem.y))
    np.testing.assert_allclose(plan.core(problem), expected, rtol=1e-9, atol=1e-9)


@compare(100)
@given(drawn=plans(n_trials=4, max_rows=12), data=st.data())
def test_a_side_without_cases(drawn, data):
    problem, plan = drawn
    plan.grows[:] = data.draw(st.sampled_from([0, 1]))
    costs = plan.core(problem)
    np.testing.assert_allclose(costs, plan.expected(problem), rtol=1e-9, atol=1e-9)
    if plan.grows.any():
        assert not costs.any()  # nobody judges


def test_cases_without_weight_are_on_no_side():
    problem, plan = large_plan(n=200, n_trials=4)
    grows = plan.grows[0].astype(bool)
    off = np.random.default_rng(3).random(200) < 0.3
    plan.growing_weights = np.where(off, 0.0, 1.0)[None, :]
    plan.judging_weights = np.where(off, 0.0, 1.0)
    rest = ref.some_cases(problem, np.flatnonzero(~off))
    expected = Plan(plan.policies, plan.split, grows[None, ~off], None, None).core(rest)
    np.testing.assert_array_equal(plan.core(problem), expected)


def large_plan(n=3000, n_trials=12, n_splits=1, missing=0.0):
    """Enough cases for a trial to take a moment; trees by biases of all sizes."""
    rng = np.random.default_rng(4)
    columns = [rng.normal(size=n).round(2) for _ in range(6)]
    y = (columns[0] + columns[1] * columns[2] + rng.normal(size=n) > 0).astype(int)
    for column in columns:
        column[rng.random(n) < missing] = np.nan
    problem = ref.Problem(columns, [0] * 6, y, 2, marginal=rng.integers(1, 9, 6), errors=200 * (1 - np.eye(2)))
    policy = ref.Policy("icf", prune="pessimistic")
    own = [replace(policy, biases=rng.uniform(1, 10_000, 6).tolist(), omega=rng.random()) for _ in range(n_trials)]
    grows = (rng.random((n_splits, n)) < 0.5).astype(np.uint8)
    return problem, Plan(own, rng.integers(0, n_splits, n_trials), grows, None, None)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("n_splits", [1, 5, 12])
def test_threads_do_not_change_the_costs(missing, n_splits):
    problem, plan = large_plan(n_splits=n_splits, missing=missing)
    alone = plan.core(problem)
    assert len(set(alone)) > 6
    for n_threads in (2, 3, 64):
        np.testing.assert_array_equal(plan.core(problem, n_threads=n_threads), alone)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_no_time_no_costs(n_threads):
    problem, plan = large_plan(n_splits=5)
    assert np.isnan(plan.core(problem, n_threads=n_threads, seconds=0)).all()


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_splits", [1, 200])
def test_what_was_ready_in_time_is_there(n_threads, n_splits):
    problem, plan = large_plan(n=20_000, n_trials=200, n_splits=n_splits)
    costs = plan.core(problem, n_threads=n_threads, seconds=0.1)
    ready = ~np.isnan(costs)
    assert not ready.all()
    np.testing.assert_array_equal(costs[ready], [plan.one(i).core(problem)[0] for i in np.flatnonzero(ready)])


# -- random halves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2])
def test_trials_without_splits_are_on_random_halves(n_threads):
    problem, plan = large_plan(n=301)
    halves = [_core.random_half(301, 7, split) for split in range(len(plan.policies))]
    each = range(len(halves))
    drawn = core_trials(problem, plan.policies, each, None, seed=7, n_threads=n_threads)
    np.testing.assert_array_equal(drawn, core_trials(problem, plan.policies, each, halves))
    assert len(set(drawn)) > len(drawn) / 2


@pytest.mark.parametrize("n", [0, 1, 2, 75, 76])
def test_halves_are_halves(n):
    halves = np.array([_core.random_half(n, seed, split) for seed in (0, 2**63) for split in range(50)])
    assert (halves.sum(axis=1) == (n + 1) // 2).all()
    if n > 2:
        assert len(np.unique(halves, axis=0)) == 100


def test_every_half_is_as_likely_as_any_other():
    halves = np.array([_core.random_half(5, 1, split) for split in range(20_000)])
    _, counts = np.unique(halves, axis=0, return_counts=True)
    assert len(counts) == 10
    assert chisquare(counts).pvalue > 1e-4


def test_no_trials_at_all():
    problem, plan = large_plan(n=20)
    settings = core_pricing(problem), core_errors(problem), core_policy(plan.policies[0])
    none, nobody = np.zeros(0), np.zeros(0, dtype=np.int32)
    costs = _core.try_biases(
        *core_training(problem), *settings, biases=np.zeros((0, 6)), omega=none, confidence=none, max_depth=nobody,
        reject_below=none, split=nobody, grows=plan.grows, seed=None, growing_weights=None, judging_weights=None,
        n_threads=2, seconds=1.0,
    )  # fmt: skip
    assert costs.shape == (0,)


# -- nominal tests counted together -----------------------------------------------------------------------------------

# Up to 128 values, 16 classes and 2 ** 17 words of marks, all nominal tests of a node are counted in one pass, 255
# cases at a time. Beyond that, and where cases have weights, each is counted by itself.


def nominal_problem(n, n_values, k, levels=None):
    """Nominal columns without missing values (0: numbers); the first two say something, and some values are rare."""
    rng = np.random.default_rng(0)
    columns = [np.minimum(rng.geometric(2 / ((v or 9) + 2), n), v or 9) - 1 for v in n_values]
    y = np.where(rng.random(n) < 0.3, rng.integers(0, k, n), (columns[0] + 2 * columns[1]) % k)
    prices = rng.integers(1, 9, len(n_values))
    return ref.Problem(columns, n_values, y, k, marginal=prices, errors=90 * (1 - np.eye(k)), levels=levels or {})


WIDE = {
    "full bytes": (700, [2, 3, 5], 2),
    "one class": (600, [2, 2], 1),
    "levels": (300, [4, 6], 3, {0: [[0, 1, 0, 1]], 1: [[0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 1, 0]]}),
    "16 classes": (300, [4, 8, 4], 16),
    "17 classes": (300, [4, 8, 4], 17),
    "128 values": (300, [60, 60, 8], 3),
    "129 values": (300, [60, 60, 9], 3),
    "numbers between": (300, [3, 0, 2, 0, 4], 2),
}


@pytest.mark.parametrize("name", WIDE)
def test_costs_of_trials_of_many_values_and_cases(name):
    problem, rng = nominal_problem(*WIDE[name]), np.random.default_rng(5)
    policy = ref.Policy("icf", prune="none", max_depth=2)
    own = [replace(policy, biases=rng.uniform(1, 20, len(problem.columns)).tolist(), omega=w) for w in (0.0, 0.5, 1.0)]
    plan = Plan(own, np.array([0, 1, 1]), (rng.random((2, len(problem.y))) < 0.6).astype(np.uint8), None, None)
    np.testing.assert_allclose(plan.core(problem), plan.expected(problem), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("criterion", ["icf", "gain-ratio", "cost-drop"])
@pytest.mark.parametrize("name", WIDE)
def test_the_same_tree_whether_nominal_tests_are_counted_together_or_not(name, criterion):
    problem = nominal_problem(*WIDE[name])
    policy = ref.Policy(criterion, context=True, prune="none", ahead=ref.LookAhead())
    one_by_one = core_grow(problem, policy)
    assert (len(one_by_one.test) > 1) == (problem.k > 1)
    assert not differences(to_node(core_grow_ahead(problem, policy, r=0)), to_node(one_by_one))


def test_more_cases_than_marks_have_room_for():
    for n in (2**16, 2**16 + 1):  # two words each
        problem = nominal_problem(n, [8, 8], 2)
        policy = ref.Policy("icf", context=True, prune="none", max_depth=3, ahead=ref.LookAhead())
        tree = core_grow_ahead(problem, policy, r=0)
        assert len(tree.test) > 10
        assert not differences(to_node(tree), to_node(core_grow(problem, policy)))


@compare(150)
@given(problem=problems(), policy=policies(prunings=["none", "cost"]), seed=SEEDS)
def test_trials_of_nominal_tests_alone(problem, policy, seed):
    rng = np.random.default_rng(seed)
    n_values = [v or 3 for v in problem.n_values]
    codes = [rng.integers(0, v, len(problem.y)) for v in n_values]
    problem = replace(problem, columns=codes, n_values=n_values, weights=None)
    plan = random_plan(rng, problem, replace(policy, criterion="icf"), 2)
    plan.growing_weights = None
    np.testing.assert_allclose(plan.core(problem), plan.expected(problem), rtol=1e-9, atol=1e-9)
    ahead = replace(policy, criterion="icf", context=True, max_depth=2, ahead=ref.LookAhead())
    assert_same_tree(core_grow_ahead(problem, ahead), ref.grow(problem, ahead))

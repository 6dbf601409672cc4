"""Look-ahead in the compiled core against the oracle: options, sampled trees, what they are worth, and time."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import reference as ref
import worthwhile as ww
from bridge import (
    assert_same_tree,
    core_grow,
    core_grow_ahead,
    core_sample_costs,
    core_tree_cost,
    differences,
    from_node,
    to_node,
)
from problems import SEEDS, compare, hand_written_trees, policies, problems

MARGIN = 0.0971  # near a tenth, which ratios of costs meet exactly: then rounding would decide


def looking_ahead(rng, policy, r, samples, margin):
    """The policy, with a look-ahead of greedy samples."""
    return replace(
        policy,
        criterion=str(rng.choice(["icf", "icf", "icf", "gain"])),
        omega=float(rng.choice([1, 0.5, 0, 1.3])),
        context=True,
        answer=str(rng.choice(["least-cost", "least-cost", "majority"])),
        ahead=ref.LookAhead(
            r=r,
            samples=samples,
            confidence=float(rng.choice([0.25, 0.75, 1, 0.1])),
            margin=margin,
        ),
    )


@st.composite
def ahead_policies(draw, r=(1,), samples=ref.SAMPLES, margins=(0.0, MARGIN), prunings=("none", "cost")):
    """A policy that looks ahead."""
    policy = draw(policies(prunings=list(prunings)))
    how = (draw(st.sampled_from(choices)) for choices in (r, samples, margins))
    return looking_ahead(np.random.default_rng(draw(SEEDS)), policy, *how)


def with_numbers_only(problem):
    """The problem with the codes of its nominal columns as numbers."""
    columns = [
        np.where(column < 0, np.nan, column) if v else column
        for column, v in zip(problem.columns, problem.n_values, strict=True)
    ]
    return replace(problem, columns=columns, n_values=[0] * len(columns), levels={})


# -- trees ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("samples", ref.SAMPLES)
@pytest.mark.parametrize("margin", [0.0, MARGIN])
def test_tree_of_one_sample_per_branch(samples, margin):
    @compare(100)
    @given(problem=problems(max_rows=30, max_columns=4), policy=ahead_policies(samples=[samples], margins=[margin]))
    def check(problem, policy):
        assert_same_tree(core_grow_ahead(problem, policy), ref.grow(problem, policy))

    check()


@pytest.mark.parametrize("samples", ref.SAMPLES)
@pytest.mark.parametrize("r", [2, 3])
def test_tree_of_several_cuts_of_numbers(samples, r):
    @compare(80)
    @given(problem=problems(max_rows=24, max_columns=3), policy=ahead_policies(r=[r], samples=[samples]))
    def check(problem, policy):
        problem = with_numbers_only(problem)
        assert_same_tree(core_grow_ahead(problem, policy), ref.grow(problem, policy))

    check()


@compare(80)
@given(problem=problems(max_rows=30, max_columns=4), policy=ahead_policies(samples=["grown"]))
def test_tree_by_the_size_of_greedy_samples(problem, policy):
    policy = replace(policy, ahead=replace(policy.ahead, by_size=True))
    assert_same_tree(core_grow_ahead(problem, policy), ref.grow(problem, policy))


@compare(60)
@given(problem=problems(max_rows=20, max_columns=3), policy=ahead_policies(prunings=["pessimistic"]))
def test_tree_with_look_ahead_pruned_by_errors(problem, policy):
    assert_same_tree(core_grow_ahead(problem, policy), ref.grow(problem, policy))


@compare(100)
@given(problem=problems(), policy=ahead_policies())
def test_without_samples_the_tree_is_greedy(problem, policy):
    tree = core_grow_ahead(problem, policy, r=0)
    assert_same_tree(tree, ref.grow(problem, replace(policy, ahead=None)))


@compare(100)
@given(problem=problems(max_rows=20, max_columns=3), policy=ahead_policies())
def test_when_the_time_is_over_the_rest_is_greedy_or_not_grown_at_all(problem, policy):
    tree = core_grow_ahead(problem, policy, seconds=0)
    assert_same_tree(tree, ref.grow(problem, replace(policy, ahead=None)))
    assert len(core_grow_ahead(problem, policy, seconds=0, seconds_more=0).test) == 1


def test_a_test_that_gains_nothing_is_an_option_to_the_look_ahead_alone():
    bits = np.array([[a, b, (a + b) % 2] for a in (0, 1) for b in (0, 1)] * 5)
    problem = ref.Problem(
        [bits[:, 0], bits[:, 1]], [2, 2], bits[:, 2], 2, marginal=[1, 1], errors=100 * (1 - np.eye(2))
    )
    greedy = ref.Policy("icf", context=True, prune="cost", answer="least-cost")
    assert core_grow(problem, greedy).test.tolist() == [-1]
    policy = replace(greedy, ahead=ref.LookAhead())
    tree = core_grow_ahead(problem, policy)
    assert tree.test.tolist() == [0, 1, 1, -1, -1, -1, -1]
    assert_same_tree(tree, ref.grow(problem, policy))
    # Numbers need another depth: either side of a cut is sampled, so the second test is a cut of the same kind.
    numbers = with_numbers_only(problem)
    assert_same_tree(core_grow_ahead(numbers, policy), ref.grow(numbers, policy))


def test_a_delayed_test_is_valued_with_all_that_follows_it():
    # Either of the first two says the same. After x0, x2 is needed in one branch only; but x0 is delayed, so everybody
    # who asks it orders x2, too. The valuation of x1 counts x2 for half of the cases.
    rows = np.array([[a, a, b] for a in (0, 1) for b in (0, 1)] * 10)
    y = rows[:, 0] * rows[:, 2]
    for delayed, first in ((True, 1), (False, 0)):
        problem = ref.Problem(
            [*rows.T], [2] * 3, y, 2, marginal=[1, 2, 20], delayed=[delayed, False, False], errors=300 * (1 - np.eye(2))
        )  # fmt: skip
        policy = ref.Policy("icf", omega=0.0, context=True, prune="none", answer="least-cost", ahead=ref.LookAhead())
        tree = core_grow_ahead(problem, policy)
        assert tree.test[0] == first
        assert_same_tree(tree, ref.grow(problem, policy))


@pytest.mark.parametrize("samples", ["grown", "pruned"])
def test_more_tests_than_a_word_has_bits(samples):
    rng = np.random.default_rng(3)
    n_tests = 70
    columns = [rng.integers(0, 3, 16) for _ in range(n_tests)]
    problem = ref.Problem(
        columns, [3, 0] * 35, rng.integers(0, 2, 16), 2, marginal=rng.integers(0, 9, n_tests),
        errors=90 * (1 - np.eye(2)), group=rng.integers(-1, 3, n_tests), common=[4, 5, 6],
        delayed=rng.random(n_tests) < 0.3,
        requires=[rng.integers(0, t, 2).tolist() if t % 3 == 2 else [] for t in range(n_tests)],
    )  # fmt: skip
    policy = ref.Policy("icf", context=True, prune="none", answer="least-cost", ahead=ref.LookAhead(samples=samples))
    tree = core_grow_ahead(problem, policy)
    assert len(tree.test) > 5
    assert_same_tree(tree, ref.grow(problem, policy))


# -- what trees are worth ---------------------------------------------------------------------------------------------


@compare(200)
@given(problem=problems(), policy=ahead_policies())
def test_cost_of_the_greedy_sample(problem, policy):
    problem = ref.without_weightless(problem)
    costs = core_sample_costs(problem, policy, 1)
    np.testing.assert_allclose(costs, [ref.sample_cost(problem, policy)], rtol=1e-9, atol=1e-9)


@compare(150)
@given(problem=problems(max_rows=24, max_columns=3), policy=ahead_policies(samples=["grown"]))
def test_size_of_the_greedy_sample(problem, policy):
    policy = replace(policy, ahead=replace(policy.ahead, by_size=True))
    tree = ref.grow(problem, replace(policy, ahead=None, prune="none"))
    leaves = sum(leaf.weight > 0 for leaf in ref.leaves(tree))
    assert core_sample_costs(problem, policy, 1).tolist() == [leaves]


@compare(200)
@given(problem=problems(), policy=policies(prunings=["none", "cost"]))
def test_cost_of_a_grown_tree(problem, policy):
    problem = ref.without_weightless(problem)
    node = ref.grow(problem, policy)
    cost = core_tree_cost(problem, policy, core_grow(problem, policy))
    assert cost == pytest.approx(ref.tree_cost(problem, policy, node), rel=1e-9, abs=1e-9)


@compare(200)
@given(problem=problems(), policy=policies(), data=st.data())
def test_cost_of_a_tree_that_asks_anything(problem, policy, data):
    problem = ref.without_weightless(problem)
    node = data.draw(hand_written_trees(problem))
    for inner in ref.inner_nodes(node):  # a tree knows all values of the cases that it was grown from
        inner.branch_of = inner.branch_of and [max(b, 0) for b in inner.branch_of]
    node = ref.recounted(problem, node, ref.all_cases(problem))
    cost = core_tree_cost(problem, policy, from_node(node, problem.k))
    assert cost == pytest.approx(ref.tree_cost(problem, policy, node), rel=1e-9, abs=1e-9)


@compare(100)
@given(problem=problems(max_rows=24), policy=ahead_policies())
def test_a_pruned_sample_costs_no_more_than_a_grown_one(problem, policy):
    grown, pruned = (core_sample_costs(problem, policy, 6, samples=samples, seed=3) for samples in ("grown", "pruned"))
    assert (pruned <= grown + 1e-9 * np.abs(grown)).all()


# -- drawn samples ----------------------------------------------------------------------------------------------------


def stumps(problem, policy):
    """The single splits of all cases: what each costs per case, and its score."""
    cases = ref.all_cases(problem)
    found = ref.candidates(problem, policy, cases)
    alone = replace(policy, max_depth=1)  # nothing is asked after it
    worth = [ref.worth_of_split(problem, alone, cases, c, 0, ()).total for c in found]
    scores = [ref.score(policy, c)[1] if c.gain > ref.LEAST_GAIN else 0.0 for c in found]
    return np.array(worth) / problem.weights.sum(), np.array(scores)


def assert_drawn_by(problem, policy, expected, n=20_000):
    """That samples of a single split are drawn with these probabilities."""
    costs = stumps(problem, policy)[0]
    assert len(set(costs.round(9))) == len(costs)  # so that a cost tells the split
    drawn = core_sample_costs(problem, policy, n, greedy_first=False, seed=17)
    which = np.abs(drawn[:, None] - costs).argmin(axis=1)
    np.testing.assert_allclose(drawn, costs[which], rtol=1e-9)
    counts = np.bincount(which, minlength=len(costs))
    expected = np.array(expected) / np.sum(expected)
    assert not counts[expected == 0].any()
    assert chisquare(counts[expected > 0], n * expected[expected > 0]).pvalue > 0.001


@pytest.mark.parametrize("criterion", ["icf", "gain"])
@pytest.mark.parametrize("weighted", [False, True])
def test_tests_are_drawn_in_proportion_to_their_scores(criterion, weighted):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 90)
    numbers = [y + s * rng.normal(size=90) for s in (0.5, 2, 9)]
    codes = [np.where(rng.random(90) < s, y, rng.integers(0, v, 90)) for s, v in ((0.5, 3), (0.2, 5), (0.0, 4))]
    numbers[1][:20], codes[1][10:30] = np.nan, -1
    weights = rng.uniform(0.5, 2, 90) if weighted else None
    levels = {4: [[0, 1, 0, 1, 0]]}
    columns, n_values = [*numbers, *codes, np.zeros(90)], [0, 0, 0, 3, 5, 4, 0]
    problem = ref.Problem(
        columns, n_values, y, 3, weights=weights, marginal=[0, 3, 5.5, 2.25, 4, 0.5, 1], errors=50 * (1 - np.eye(3)),
        levels=levels,
    )  # fmt: skip
    policy = ref.Policy(criterion, omega=0.7, max_depth=1, context=True, prune="none", ahead=ref.LookAhead(r=5))
    scores = stumps(problem, policy)[1]
    assert len(scores) == 7  # three numbers, three nominal tests and a level; nothing of the constant
    assert_drawn_by(problem, policy, scores)


def test_where_nothing_gains_all_tests_are_alike():
    bits = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 4)
    problem = ref.Problem([*bits.T], [2, 2, 2], bits.sum(axis=1) % 2, 2, marginal=[1, 2, 4])
    policy = ref.Policy("icf", max_depth=1, context=True, prune="none", ahead=ref.LookAhead(r=5))
    assert_drawn_by(problem, policy, [1, 1, 1])


def test_a_test_without_gain_is_not_drawn_where_another_gains():
    rows = np.array([[a, b, b] for a in (0, 1) for b in (0, 1)] * 8)
    rows[:5, 2] ^= 1
    problem = ref.Problem([*rows.T], [2, 2, 2], rows[:, 1], 2, marginal=[1, 2, 4])
    policy = ref.Policy("icf", max_depth=1, context=True, prune="none", ahead=ref.LookAhead(r=5))
    scores = stumps(problem, policy)[1]
    assert scores[0] == 0 < scores[2] < scores[1]
    assert_drawn_by(problem, policy, scores)


def test_samples_depend_on_the_seed_and_their_number_alone():
    problem, policy = wide_problem(), ref.Policy("icf", context=True, ahead=ref.LookAhead(r=5))
    many = core_sample_costs(problem, policy, 50, seed=5)
    np.testing.assert_array_equal(core_sample_costs(problem, policy, 20, seed=5), many[:20])
    assert len(set(many)) > 20
    assert len(set(many) & set(core_sample_costs(problem, policy, 50, seed=6))) < 10
    drawn = core_sample_costs(problem, policy, 50, seed=5, greedy_first=False)
    np.testing.assert_array_equal(drawn[1:], many[1:])
    assert drawn[0] != many[0]


# -- threads ----------------------------------------------------------------------------------------------------------


def wide_problem(n=160, missing=0.0, weights=None):
    """Numbers and nominal tests, of which a look-ahead with several samples draws many trees."""
    rng = np.random.default_rng(2)
    columns = [rng.normal(size=n).round(1) for _ in range(3)] + [rng.integers(0, v, n) for v in (2, 3, 4, 2)]
    y = ((columns[0] > 0) ^ (columns[3] == 1) ^ (rng.random(n) < 0.1)).astype(int) + (columns[5] == 2)
    for column in columns:
        column[rng.random(n) < missing] = -1 if column.dtype.kind == "i" else np.nan
    return ref.Problem(
        columns, [0] * 3 + [2, 3, 4, 2], y, 3, weights=weights, marginal=[2, 1, 5, 3, 1, 2, 4],
        group=[0, 0, -1, 1, 1, -1, -1], common=[3, 2], errors=200 * (1 - np.eye(3)),
    )  # fmt: skip


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("by_size", [False, True])
def test_threads_do_not_change_the_tree(missing, by_size):
    problem = wide_problem(missing=missing)
    policy = ref.Policy("gain" if by_size else "icf", context=True, answer="least-cost", prune="none")
    policy.ahead = ref.LookAhead(r=8, by_size=by_size, samples="grown")
    settings = {"greedy_first": not by_size, "seed": 2**63 - 7}
    alone = to_node(core_grow_ahead(problem, policy, **settings))
    assert len(ref.leaves(alone)) > 10
    for n_threads in (2, 3):
        assert not differences(to_node(core_grow_ahead(problem, policy, n_threads=n_threads, **settings)), alone)
    others = [to_node(core_grow_ahead(problem, policy, **(settings | {"seed": seed}))) for seed in range(6)]
    assert any(differences(other, alone) for other in others)


# -- the classifiers without samples ----------------------------------------------------------------------------------

FIELDS = ("test", "threshold", "first_child", "n_children", "map_start", "map_size", "maps", "answer", "weights")


@pytest.mark.parametrize("seed", range(6))
def test_act_without_samples_is_eg2_pruned_by_cost(seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((120, 5)) < 0.1 * (seed % 2), np.nan, rng.normal(size=(120, 5)).round(1))
    y = (np.nan_to_num(X[:, :3]) @ [1, 1, -1] + rng.normal(size=120) > 0).astype(int)
    costs = ww.Costs(
        tests={"x0": ww.Test(3.0, group="g"), "x1": ww.Test(2.0, group="g"), "x2": 1.0, "x3": ww.Test(2, delayed=True)},
        groups={"g": 2.0},
        errors={0: {1: 40.0}, 1: {0: 90.0}},
    )
    settings = {"costs": costs, "omega": 0.6, "confidence": 0.4}
    act = ww.ACTClassifier(variant="paper", r=0, **settings).fit(X, y)
    eg2 = ww.EG2Classifier(variant="paper", prune="cost", context=True, answer="least-cost", **settings).fit(X, y)
    assert act.tree_.n_leaves > 2
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(act.tree_.nodes, name), getattr(eg2.tree_.nodes, name))


@pytest.mark.parametrize("seed", range(4))
def test_lsid3_without_samples_is_id3(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4)).round(1)
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=50) > 0).astype(int) + (X[:, 2] > 1)
    problem = ref.Problem([*X.T], [0] * 4, y, 3)
    clf = ww.LSID3Classifier(r=0, prune="none").fit(X, y)
    assert_same_tree(clf.tree_.nodes, ref.grow(problem, ref.Policy("gain", prune="none")))
    assert clf.tree_.n_leaves > 4


@compare(100)
@given(problem=problems(), policy=policies())
def test_id3(problem, policy):
    policy = replace(policy, criterion="gain")
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


def test_the_worked_estimates_of_the_paper_are_within_what_it_rounds():
    # Esmeir & Markovitch 2008, section 3.2.2: EE(100, 5, .25) = 7.3, EE(50, 0, .25) = 1.4, EE(150, 50, .25) = 54.1.
    for (n, e), expected in {(100, 5): 7.3, (50, 0): 1.4, (150, 50): 54.1}.items():
        assert math.isclose(ref.upper_errors(n, e, 0.25), expected, abs_tol=0.5)

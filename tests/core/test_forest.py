"""The core of forests against the oracle: impurities, GreedyTree, and prices over many trees."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from bridge import (
    assert_same_tree,
    core_errors,
    core_greedy_tree,
    core_pricing,
    core_table,
    from_node,
    sets_of_tests,
    to_node,
)
from problems import SEEDS, compare, fresh_cases, hand_written_trees, problems
from worthwhile import _core
from worthwhile.learners.parameters import IMPURITIES

PARAMETERS = {"pairs": (0.0, 1.0, 2.5, 8.0), "powers": (2.0, 3.0, 5.0)}
UNIT = ref.Policy(answer="majority")


def mixed(name, counts, parameter):
    return _core.impurity(name, np.array(counts, dtype=np.float64), parameter)


# -- impurities -------------------------------------------------------------------------------------------------------


def test_every_impurity_is_tried():
    assert set(PARAMETERS) == set(IMPURITIES)
    with pytest.raises(ValueError, match="unknown impurity: entropy"):
        mixed("entropy", [1, 1], 0)


def test_gini_is_the_share_of_pairs_and_0_in_small_nodes():
    assert mixed("gini", [3, 1], 0) == pytest.approx(1 - (9 + 1) / 16)
    assert mixed("gini", [3, 1], 3.5) == pytest.approx(1 - (9 + 1) / 16)
    assert mixed("gini", [3, 1], 4) == 0
    assert mixed("gini", [4, 0], 0) == mixed("gini", [0, 0], 0) == 0


@given(st.lists(st.integers(0, 30), min_size=1, max_size=5), st.sampled_from(IMPURITIES), st.integers(0, 3))
@compare(300)
def test_impurities_are_those_of_the_paper(counts, name, which):
    parameter = PARAMETERS[name][which % len(PARAMETERS[name])]
    expected = ref.impurity(name, counts, parameter)
    assert mixed(name, counts, parameter) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), min_size=1, max_size=4),
    st.data(),
    st.sampled_from(IMPURITIES),
    st.sampled_from(range(4)),
)
@compare(500)
def test_every_impurity_is_admissible(sizes, data, name, which):
    """Definition in section 2.2: not negative, 0 on pure sets, monotone, supermodular; whole numbers."""
    parameter = PARAMETERS[name][which % len(PARAMETERS[name])]
    small = np.array([a for a, _ in sizes], dtype=np.float64)
    large = small + [b for _, b in sizes]
    one_more = np.eye(len(sizes))[data.draw(st.integers(0, len(sizes) - 1))]
    at = {key: mixed(name, counts, parameter) for key, counts in (("small", small), ("large", large))}
    more = {key: mixed(name, counts + one_more, parameter) for key, counts in (("small", small), ("large", large))}
    assert 0 <= at["small"] <= at["large"]
    assert more["large"] - at["large"] >= (more["small"] - at["small"]) * (1 - 1e-12)
    for c, n in enumerate(large):
        assert mixed(name, np.where(np.arange(len(large)) == c, n, 0.0), parameter) == 0


# Figure 1: 30 cases of either class. t1 sets 20 of the second class apart, t2 halves both classes.
WHOLE, T1, T2 = (30, 30), [(30, 10), (0, 20)], [(15, 15), (15, 15)]


def risk(impurity, parts):
    return max(Fraction(1) / Fraction(impurity(WHOLE) - impurity(part)) for part in parts)


def test_figure_1_without_a_threshold():
    def pairs(counts):
        return mixed("pairs", counts, 0.0)

    assert (pairs(WHOLE), pairs(T1[0]), pairs(T1[1]), pairs(T2[0])) == (900, 300, 0, 225)
    assert (risk(pairs, T1), risk(pairs, T2)) == (Fraction(1, 600), Fraction(1, 675))


def test_figure_1_with_a_threshold_of_8():
    """The appendix works the example out without the last term, −α², of equation 11; with it, the two are equal."""

    def as_in_the_appendix(counts):
        return mixed("pairs", np.maximum(np.array(counts) - 8.0, 0), 0.0)

    values = [as_in_the_appendix(counts) for counts in (WHOLE, T1[0], T1[1], T2[0])]
    assert values == [484, 44, 0, 49]
    assert (risk(as_in_the_appendix, T1), risk(as_in_the_appendix, T2)) == (Fraction(1, 440), Fraction(1, 435))

    def as_in_equation_11(counts):
        return mixed("pairs", counts, 8.0)

    assert [as_in_equation_11(counts) for counts in (WHOLE, T1[0], T1[1], T2[0])] == [420, 0, 0, 0]


def test_figure_1_grown():
    y = [0] * 30 + [1] * 30
    t1 = [0] * 40 + [1] * 20
    t2 = ([0] * 15 + [1] * 15) * 2
    problem = ref.Problem([t1, t2], [2, 2], y, 2, marginal=[1, 1])
    assert core_greedy_tree(problem, ref.ForestPolicy(max_depth=1)).test[0] == 1
    assert core_greedy_tree(problem, ref.ForestPolicy(parameter=8.0, max_depth=1)).test[0] == 0


def figure_2():
    """1024 cases, all values of ten binary tests; class by the first two, but for four cases."""
    number = np.arange(1024)
    y = number // 256
    y[[0, 256, 512, 768]] = [1, 2, 3, 0]
    bits = [(number >> bit & 1).astype(float) for bit in range(9, -1, -1)]
    return bits, y


@pytest.mark.parametrize("nominal", [False, True])
def test_figures_2_and_3(nominal):
    bits, y = figure_2()
    problem = ref.Problem(bits, [2 if nominal else 0] * 10, y, 4, marginal=[1.0] * 10)
    errors, depths = [], (2, 9, 10)
    for depth in depths:
        tree = core_greedy_tree(problem, ref.ForestPolicy(max_depth=depth))
        node = to_node(tree)
        answers = [ref.classify(problem, UNIT, node, problem.case(row))[0] for row in range(1024)]
        errors.append(int((np.array(answers) != y).sum()))
        if depth == 2:
            assert set(tree.test.tolist()) == {0, 1, -1}
            assert round(100 * errors[0] / 1024, 2) == 0.39
    assert errors[0] == 4
    assert errors[1] > 0 == errors[2]
    with_threshold = core_greedy_tree(problem, ref.ForestPolicy(parameter=8.0))  # stops by itself
    assert set(with_threshold.test.tolist()) == {0, 1, -1}


# -- GreedyTree -------------------------------------------------------------------------------------------------------


def forest_policy(rng):
    name = str(rng.choice(IMPURITIES))
    return ref.ForestPolicy(
        impurity=name,
        parameter=float(rng.choice(PARAMETERS[name][:3])),
        expected=bool(rng.integers(2)),
        context=bool(rng.integers(2)),
        max_depth=None if rng.random() < 0.8 else int(rng.integers(1, 4)),
    )


def whole_numbers(problem):
    """The problem without anything that rounds: ties are ties then."""
    columns = [
        np.where(c < 0, 0, c) if v else np.nan_to_num(c) for c, v in zip(problem.columns, problem.n_values, strict=True)
    ]
    problem.columns = columns
    problem.weights = np.ceil(problem.weights)
    problem.marginal = [round(4 * price) / 4 for price in problem.marginal]
    problem.common = [round(4 * price) / 4 for price in problem.common]
    return problem


@given(problems(), SEEDS)
@compare(250)
def test_trees_are_those_of_the_oracle(problem, seed):
    problem, policy = ref.without_weightless(whole_numbers(problem)), forest_policy(np.random.default_rng(seed))
    expected = ref.greedy_tree(problem, policy, ref.all_cases(problem))
    ref.set_answers(problem, UNIT, expected)
    assert_same_tree(core_greedy_tree(problem, policy), expected)


def certify(problem, policy, node, cases, depth=0, path=(), best=True):
    """That every split of a tree is one, and, with all cuts, that none is better and none left out, up to rounding."""
    np.testing.assert_allclose(node.weights, ref.class_weights(problem, cases), rtol=1e-9, atol=1e-9)
    here = ref.impurity(policy.impurity, node.weights, policy.parameter)
    slack = 1e-9 * ref.impurity("powers", [*node.weights, 1, 1], 2)
    if not node.children and not best:
        return
    if not node.children:
        left = ref.greedy_options(problem, policy, cases, path, least=1e-8)
        assert depth == policy.max_depth or here <= slack or not left
        return
    options = ref.greedy_options(problem, policy, cases, path, least=0.0)
    [mine] = [o for o in options if o.column == node.column and o.threshold == node.threshold]
    for other in options if best else ():
        assert mine.price * other.drop <= other.price * mine.drop * (1 + 1e-9) + 1e-12
        if mine.price == other.price == 0:
            assert mine.drop >= other.drop * (1 - 1e-9)
    parts = ref.divide(cases, mine.branch, mine.n_branches)
    for child, part in zip(node.children, parts, strict=True):
        if len(part.rows):
            certify(problem, policy, child, part, depth + 1, (*path, mine.column), best)
        else:
            assert child.weight == 0
            assert child.answer == node.answer


@given(problems(), SEEDS)
@compare(250)
def test_no_split_would_be_better(problem, seed):
    """With missing values and any weights."""
    problem, policy = ref.without_weightless(problem), forest_policy(np.random.default_rng(seed))
    certify(problem, policy, to_node(core_greedy_tree(problem, policy)), ref.all_cases(problem))


@given(problems(), SEEDS)
@compare(100)
def test_random_cuts_lie_among_the_values(problem, seed):
    problem, policy = ref.without_weightless(whole_numbers(problem)), forest_policy(np.random.default_rng(seed))
    tree = core_greedy_tree(problem, policy, cuts="random", seed=seed % 1000)
    for test, threshold, start in zip(tree.test, tree.threshold, tree.map_start, strict=True):
        if test >= 0 > start:
            values = problem.columns[test]
            assert values.min() <= threshold < values.max()
    certify(problem, policy, to_node(tree), ref.all_cases(problem), best=False)
    again = core_greedy_tree(problem, policy, cuts="random", seed=seed % 1000)
    assert tree.test.tolist() == again.test.tolist()
    assert tree.threshold.tolist() == again.threshold.tolist()


@pytest.mark.parametrize("n", [300, 1000, 5000])
def test_random_cuts_are_nearly_as_good_as_all(n):
    rng = np.random.default_rng(n)
    values = rng.normal(size=n)
    problem = ref.Problem([values], [0], (values > 0.4).astype(int), 2, marginal=[1])
    exact, some = (core_greedy_tree(problem, ref.ForestPolicy(max_depth=1), cuts=c) for c in ("exact", "random"))
    assert abs(some.threshold[0] - exact.threshold[0]) < 0.7
    for tree in (exact, some):  # the cases lie on the sides that the threshold says
        left = values <= tree.threshold[0]
        np.testing.assert_array_equal(tree.weights[1], np.bincount(problem.y[left], minlength=2))
        np.testing.assert_array_equal(tree.weights[2], np.bincount(problem.y[~left], minlength=2))


def drawn_trees(columns, n_values, y, node_tests, seeds):
    problem = ref.Problem(columns, n_values, y, 2, marginal=[1] * len(columns))
    how = {"impurity": "gini", "parameter": 0.0, "expected": True, "cuts": "exact", "context": False, "max_depth": 99}
    weights = np.ones((len(seeds), len(y)))
    table = core_table(problem.columns, problem.n_values)
    own = {"node_tests": node_tests, "seeds": seeds, "n_threads": 1}
    return _core.grow_forest(table, y, 2, weights, core_pricing(problem), **how, **own)


def test_some_tests_are_drawn_at_every_node():
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=200), rng.normal(size=200).round(1), rng.integers(0, 2, 200) * 1.0]
    columns.append(rng.integers(0, 4, 200))
    y = (columns[0] + columns[2] + 0.3 * rng.normal(size=200) > 0.5).astype(np.int32)
    n_values, seeds = [0, 0, 0, 4], list(range(60))
    every = [tree.test.tolist() for tree in drawn_trees(columns, n_values, y, 0, seeds)]
    assert [tree.test.tolist() for tree in drawn_trees(columns, n_values, y, 4, seeds)] == every
    assert len({tests[0] for tests in every}) == 1
    some = drawn_trees(columns, n_values, y, 1, seeds)
    roots = np.bincount([tree.test[0] for tree in some], minlength=4)
    assert roots.min() >= 7  # of 15 that are expected
    assert all(tree.weights[tree.test < 0].min(axis=1).max() == 0 for tree in some)  # leaves are pure all the same


def test_tests_of_a_single_value_are_not_among_those_drawn():
    rng = np.random.default_rng(1)
    columns = [*(np.zeros(50) for _ in range(5)), rng.normal(size=50), np.zeros(50, dtype=int), rng.normal(size=50)]
    y = (columns[5] > 0).astype(np.int32)
    trees = drawn_trees(columns, [0] * 6 + [3, 0], y, 2, list(range(20)))
    assert {int(tree.test[0]) for tree in trees} == {5}  # the two that have several values are both drawn


def test_trees_do_not_depend_on_threads_or_on_one_another():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 3, 400).astype(np.int32)
    problem = ref.Problem(list(X.T), [0] * 5, y, 3, marginal=[1, 2, 3, 4, 5])
    table, weights = core_table(problem.columns, problem.n_values), rng.integers(0, 3, (6, 400)).astype(float)
    how = {
        "impurity": "pairs",
        "parameter": 0.0,
        "expected": False,
        "cuts": "random",
        "context": False,
        "max_depth": 99,
    }

    def grown(rows, n_threads):
        seeds = [10 + row for row in rows]
        trees = _core.grow_forest(
            table, y, 3, weights[list(rows)], core_pricing(problem), **how, seeds=seeds, n_threads=n_threads
        )
        return [(tree.test.tolist(), tree.threshold.tolist(), tree.weights.tolist()) for tree in trees]

    together = grown(range(6), 1)
    assert grown(range(6), 3) == together
    assert [tree for row in range(6) for tree in grown([row], 1)] == together


# -- prices over many trees -------------------------------------------------------------------------------------------


def router_for(problem, columns, case_prices=None):
    table = core_table(columns, problem.n_values)
    return _core.ForestRouter(table, core_pricing(problem), core_errors(problem), case_prices)


@given(st.data(), problems(max_rows=20))
@compare(200)
def test_prices_of_a_forest_are_those_of_the_oracle(data, problem):
    """Groups, delays and requirements: a test is charged once, whichever tree asks for it first."""
    trees = [data.draw(hand_written_trees(problem)) for _ in range(data.draw(st.integers(1, 4)))]
    for tree in trees:
        ref.set_answers(problem, UNIT, tree)  # trees of a forest answer classes, never anything else
    columns = data.draw(fresh_cases(problem))
    n = len(columns[0])
    router, said = router_for(problem, columns), []
    for tree in trees:
        said.append(router.consult(from_node(tree, problem.k), n_threads=data.draw(st.integers(1, 2))))
    charged = sets_of_tests(router.charged())
    for row in range(n):
        expected, paid = ref.consult(problem, UNIT, trees, [column[row] for column in columns])
        assert charged[row] == paid
        for (answers, counts, prices), (answer, weights, price) in zip(said, expected, strict=True):
            assert answers[row] == answer
            np.testing.assert_allclose(counts[row], weights, rtol=1e-9, atol=1e-9)
            assert prices[row] == pytest.approx(price, rel=1e-9, abs=1e-9)


@given(st.data(), problems(max_rows=20), st.booleans())
@compare(150)
def test_all_trees_at_once_are_the_trees_one_by_one(data, problem, simple):
    if simple:  # numeric and complete: walked side by side
        columns = [np.nan_to_num(np.asarray(column, dtype=float)) for column in problem.columns]
        known = {"marginal": problem.marginal, "group": problem.group, "common": problem.common}
        problem = ref.Problem(columns, [0] * len(columns), problem.y, problem.k, **known)
    drawn = [data.draw(hand_written_trees(problem)) for _ in range(data.draw(st.integers(0, 4)))]
    for tree in drawn:
        ref.set_answers(problem, UNIT, tree)  # trees of a forest answer classes, never anything else
    trees = [from_node(tree, problem.k) for tree in drawn]
    columns = problem.columns if simple else data.draw(fresh_cases(problem))
    one_by_one, together = router_for(problem, columns), router_for(problem, columns)
    votes = np.zeros((len(columns[0]), problem.k), dtype=int)
    counts, prices = np.zeros(votes.shape), np.zeros(len(votes))
    for tree in trees:
        answers, weights, more = one_by_one.consult(tree)
        votes[np.arange(len(votes)), answers] += 1
        counts, prices = counts + weights, prices + more
    for said, expected in zip(
        together.consult_all(trees, data.draw(st.integers(1, 2))), (votes, counts, prices), strict=True
    ):
        np.testing.assert_allclose(said, expected, rtol=1e-12, atol=1e-12)


@given(st.data(), problems(max_rows=20))
@compare(60)
def test_cases_that_are_not_asked_pay_nothing(data, problem):
    drawn = [data.draw(hand_written_trees(problem)) for _ in range(3)]
    for tree in drawn:
        ref.set_answers(problem, UNIT, tree)
    trees = [from_node(tree, problem.k) for tree in drawn]
    columns = data.draw(fresh_cases(problem))
    rng = np.random.default_rng(data.draw(SEEDS))
    asked = rng.integers(0, 2, (3, len(columns[0]))).astype(np.uint8)
    router = router_for(problem, columns)
    said = [router.consult(tree, who) for tree, who in zip(trees, asked, strict=True)]
    for row in range(len(columns[0])):
        alone = router_for(problem, [column[[row]] for column in columns])
        for (answers, counts, prices), tree, who in zip(said, trees, asked, strict=True):
            if who[row]:
                answer, weights, price = alone.consult(tree)
                assert (answers[row], prices[row]) == (answer[0], price[0])
                np.testing.assert_array_equal(counts[row], weights[0])
            else:
                assert (answers[row], prices[row], counts[row].any()) == (-1, 0, False)


def test_prices_by_case_and_many_tests():
    """More than 64 tests, and prices that depend on the case."""
    n_tests = 130
    leaf = [ref.Node(np.array([1.0, 0.0]), 0), ref.Node(np.array([0.0, 1.0]), 1)]
    trees = [ref.Node(np.ones(2), 0, leaf, column=t, threshold=0.5) for t in (0, 70, 129, 70, 0)]
    columns = [np.array([0.0, 1.0])] * n_tests
    problem = ref.Problem(columns, [0] * n_tests, [0, 1], 2, marginal=[1.0] * n_tests)
    prices = np.arange(2.0 * n_tests).reshape(2, -1)
    router = router_for(problem, columns, prices)
    paid = [router.consult(from_node(tree, 2))[2].tolist() for tree in trees]
    assert paid == [[0, 130], [70, 200], [129, 259], [0, 0], [0, 0]]


def test_a_delayed_test_of_an_earlier_tree_commits_to_that_tree_alone():
    leaves = [ref.Node(np.array([1.0, 0.0]), 0), ref.Node(np.array([0.0, 1.0]), 1)]

    def asks(column, below=None):
        return ref.Node(np.ones(2), 0, [below or leaves[0], leaves[1]], column=column, threshold=0.5)

    columns = [np.array([1.0])] * 4
    problem = ref.Problem(
        columns, [0] * 4, [0], 2, marginal=[1, 2, 4, 8], group=[0, 0, 0, -1], common=[100], delayed=[1, 0, 0, 0]
    )
    router = router_for(problem, columns)
    # x0 is delayed, so x1 below it is ordered with it, though the case goes the other way; x2 is in their group.
    paid = [router.consult(from_node(tree, 2))[2][0] for tree in (asks(0, asks(1)), asks(1), asks(2), asks(3), asks(0))]
    assert paid == [103, 0, 4, 8, 0]


@pytest.mark.parametrize("votes", list(product(range(3), repeat=3)))
def test_votes_are_counted_as_by_the_oracle(votes):
    from worthwhile.learners.forest.voting import AnswerRule, Votes

    rng = np.random.default_rng(votes)
    said = [(answer, rng.integers(0, 4, 3).astype(float), 0.0) for answer in votes]
    poll = Votes(1, AnswerRule(1 - np.eye(3), np.array([0.2, 0.3, 0.5]), least_cost=False))
    assert poll.answers().tolist() == [2]
    for answer, counts, price in said:
        poll.add(np.array([answer], dtype=np.int32), counts[None], np.array([price]))
    assert poll.answers().tolist() == [ref.vote(3, said, 2)]
    ranked = sorted(votes.count(c) for c in range(3))
    assert poll.leads().tolist() == [ranked[-1] - ranked[-2]]


@pytest.mark.parametrize("answer", [2, 3, 12, 2**31 - 1])
@pytest.mark.parametrize("n_rejects", [0, 1, 10])
def test_votes_are_counted_for_classes_only(answer, n_rejects):
    """Votes are counted in an array of classes: another answer would be counted outside of it."""
    errors = np.hstack([1 - np.eye(2), np.full((2, n_rejects), 0.5)])
    problem = ref.Problem([np.arange(4.0)], [0], [0, 0, 1, 1], 2, errors=errors)
    leaf = ref.Node(np.ones(2), 0)
    node = ref.Node(np.ones(2), 0, column=0, threshold=1.0, children=[leaf, ref.Node(np.ones(2), answer)])
    tree = from_node(node, 2)
    forest = router_for(problem, problem.columns)
    for consult in (lambda: forest.consult(tree), lambda: forest.consult_all([tree])):
        with pytest.raises(ValueError, match=f"node 2 has the answer {answer}, but there are 2"):
            consult()


def test_none_is_no_tree():
    problem = ref.Problem([np.arange(4.0)], [0], [0, 0, 1, 1], 2)
    with pytest.raises(ValueError, match="'trees' must hold trees, got None"):
        router_for(problem, problem.columns).consult_all([None])


def test_after_the_deadline_nodes_are_leaves_and_no_tree_is_begun():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=60), rng.integers(0, 2, 60)
    problem = ref.Problem([x], [0], y, 2)
    options = {"impurity": "pairs", "parameter": 0.0, "expected": False, "cuts": "exact", "context": False}
    known = (
        core_table(problem.columns, problem.n_values),
        y.astype(np.int32),
        2,
        np.ones((3, 60)),
        core_pricing(problem),
    )
    for seconds, expected in ((1e9, 3), (0.0, 1)):
        grown = _core.grow_forest(
            *known, max_depth=20, n_threads=1, seeds=[1, 2, 3], asks=None, seconds=seconds, **options
        )
        assert len(grown) == expected
        assert all((len(tree.test) == 1) == (seconds == 0) for tree in grown)
    assert grown[0].weights.tolist() == [np.bincount(y).tolist()]

"""The oracle against the papers' worked examples and against sums done by hand."""

import math

import numpy as np
import pytest

import reference as ref
from reference import Node, Policy, Problem

NAN = math.nan


def leaf(answer, *weights):
    return Node(np.array(weights or (0.0, 0.0), dtype=float), answer)


def numeric(column, threshold, low, high):
    weights = np.sum([low.weights, high.weights], axis=0)
    return Node(weights, 0, [low, high], column, threshold)


def nominal(column, *children):
    weights = np.sum([child.weights for child in children], axis=0)
    return Node(weights, 0, list(children), column, None, list(range(len(children))))


def shape(node):
    """A tree as nested tuples: (column, children...) or the answer of a leaf."""
    return (node.column, *map(shape, node.children)) if node.children else node.answer


# -- Turney 1995, Tables 1 to 3 and Figure 1 --------------------------------------------------------------------------

ALPHA, BETA, DELTA, EPSILON = range(4)


@pytest.fixture
def turney():
    return Problem(
        columns=[np.zeros(2)] * 4,
        n_values=[0] * 4,
        y=[0, 1],
        k=2,
        marginal=[5, 10, 5, 8],
        group=[-1, -1, 0, 0],
        common=[2],
        delayed=[False, False, True, True],
        errors=[[0, 50], [50, 0]],
    )


@pytest.fixture
def figure1():
    # All values are whole numbers, so `alpha < 3` is `alpha <= 2`, and `delta = 2` is true below 2.5 (there is no 1).
    left = numeric(BETA, 6, leaf(1), leaf(0))
    right = numeric(DELTA, 2.5, numeric(BETA, 4, leaf(1), leaf(0)), numeric(EPSILON, 3, leaf(0), leaf(1)))
    return numeric(ALPHA, 2, left, right)


def test_turney_table1_prices(turney):
    assert [ref.price_in_context(turney, t) for t in range(4)] == [5, 10, 7, 10]
    assert ref.price_in_context(turney, EPSILON, {DELTA}) == 8
    assert ref.price_in_context(turney, DELTA, {EPSILON}) == 5
    assert ref.price_in_context(turney, DELTA, {DELTA}) == 0
    assert ref.price(turney, {ALPHA, BETA, DELTA, EPSILON}) == 30


def test_turney_table3_eighty_dollars(turney, figure1):
    case = [6, 1, 3, 2]  # the case's path does not look at beta, but the delayed test orders it
    assert ref.charged_tests(turney, figure1, case, {ALPHA}) == {BETA, DELTA, EPSILON}
    assert ref.price_of_more(turney, {BETA, DELTA, EPSILON}, {ALPHA}) == 25
    charged = ref.charged_tests(turney, figure1, case)
    answer, _ = ref.classify(turney, Policy(), figure1, case)
    assert answer == 0
    assert ref.price(turney, charged) + turney.errors[1, answer] == 80


def test_immediate_side_of_figure1_pays_only_its_path(turney, figure1):
    assert ref.price(turney, ref.charged_tests(turney, figure1, [1, 7, 2, 2])) == 15


def test_missing_tests_are_not_charged(turney, figure1):
    # beta missing: the delayed test orders what can be had.
    assert ref.charged_tests(turney, figure1, [6, NAN, 3, 2]) == {ALPHA, DELTA, EPSILON}
    # delta missing: it orders nothing; both branches are walked, epsilon (delayed) is its own subtree.
    assert ref.charged_tests(turney, figure1, [6, 1, NAN, 2]) == {ALPHA, BETA, EPSILON}
    # alpha missing: both sides are walked, beta is charged once.
    charged = ref.charged_tests(turney, figure1, [NAN, 1, 3, 2])
    assert charged == {BETA, DELTA, EPSILON}
    assert ref.price(turney, charged) == 25


def test_a_test_paid_higher_up_is_free_and_a_weightless_branch_is_not_visited():
    problem = Problem([np.zeros(1)] * 2, [0, 0], [0], 2, marginal=[3, 4])
    tree = numeric(0, 5, numeric(0, 2, leaf(0, 1, 0), leaf(1, 0, 1)), numeric(1, 0, leaf(0), leaf(1)))
    assert ref.charged_tests(problem, tree, [1, 1]) == {0}
    assert ref.charged_tests(problem, tree, [NAN, 1]) == set()  # the side that asks for test 1 has no weight


def test_requirements_are_charged_and_delay_what_needs_them():
    # t0 is computed from t1 and t2; t2 is delayed and needs t3.
    problem = Problem(
        [np.zeros(1)] * 5, [0] * 5, [0], 2, marginal=[0.5, 1, 2, 4, 8], group=[-1, 0, 0, -1, -1], common=[16],
        delayed=[False, False, True, False, False], requires=[[1, 2], [], [3], [], []],
    )  # fmt: skip
    assert ref.closure(problem, 0) == {0, 1, 2, 3}
    assert ref.price_in_context(problem, 0) == 23.5
    assert ref.price_in_context(problem, 0, {1}) == 6.5
    tree = numeric(0, 0, leaf(0, 1, 0), numeric(4, 0, leaf(0, 1, 0), leaf(1, 0, 1)))
    assert ref.charged_tests(problem, tree, [-1, 0, 0, 0, 0]) == {0, 1, 2, 3, 4}
    assert ref.charged_tests(problem, tree, [-1, 0, 0, 0, 0], {2, 3}) == {0, 1}  # the delayed part is paid already
    assert ref.charged_tests(problem, tree, [-1, 0, 0, 0, NAN]) == {0, 1, 2, 3}
    assert ref.charged_tests(problem, tree, [NAN, 0, 0, 0, 0]) == {4}


# -- answers ----------------------------------------------------------------------------------------------------------


def test_answers_majority_least_cost_and_reject():
    problem = Problem([], [], [], 2, errors=[[0, 1, 0.6], [9, 0, 0.6]])
    assert ref.choose_answer(problem, Policy(), [8, 2]) == 0
    assert ref.choose_answer(problem, Policy(), [5, 5]) == 0
    assert ref.choose_answer(problem, Policy(answer="least-cost"), [8, 2]) == 2  # 18, 8, 6
    assert ref.choose_answer(problem, Policy(answer="least-cost"), [2, 8]) == 1  # 72, 2, 6
    assert ref.choose_answer(problem, Policy(answer="least-cost"), [6, 4]) == 1  # 36, 6, 6: a tie
    assert ref.choose_answer(problem, Policy(), [5, 5 + 1e-12]) == 0


def test_mixture_of_leaves_and_empty_branches():
    problem = Problem([np.zeros(1, dtype=int)], [3], [0], 2)
    tree = nominal(0, leaf(0, 6, 0), leaf(1, 1, 3), leaf(0))
    ref.set_answers(problem, Policy(), tree)
    answer, shares = ref.classify(problem, Policy(), tree, [-1])
    assert answer == 0
    assert shares == pytest.approx([0.7, 0.3])
    assert ref.classify(problem, Policy(), tree, [7])[1] == pytest.approx([0.7, 0.3])  # a value never seen
    answer, shares = ref.classify(problem, Policy(), tree, [2])
    assert answer == 0
    assert shares == pytest.approx([0.7, 0.3])
    assert ref.classify(problem, Policy(), tree, [1])[0] == 1


# -- gains: Quinlan's fourteen days -----------------------------------------------------------------------------------

SUNNY, OVERCAST, RAIN = range(3)
PLAY = [0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0]
OUTLOOK = [0, 0, 1, 2, 2, 2, 1, 0, 0, 2, 0, 1, 1, 2]
TEMPERATURE = [0, 0, 0, 1, 2, 2, 2, 1, 2, 1, 1, 1, 0, 1]  # hot, mild, cool
HUMIDITY = [0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0]  # high, normal
WIND = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1]  # weak, strong


def tennis(**settings):
    return Problem([OUTLOOK, TEMPERATURE, HUMIDITY, WIND], [3, 3, 2, 2], PLAY, 2, **settings)


def test_gains_and_gain_ratios_of_play_tennis():
    found = ref.candidates(tennis(), Policy(), ref.all_cases(tennis()))
    assert ref.entropy([9, 5]) == pytest.approx(0.940, abs=5e-4)
    assert [c.gain for c in found] == pytest.approx([0.247, 0.029, 0.152, 0.048], abs=6e-4)
    assert [c.split_info for c in found] == pytest.approx([1.577, 1.557, 1.0, 0.985], abs=6e-4)
    assert ref.score(Policy(), found[0])[1] == pytest.approx(0.156, abs=6e-4)
    assert ref.score(Policy(), found[2])[1] == pytest.approx(0.152, abs=6e-4)


def test_the_tree_of_play_tennis():
    tree = ref.grow(tennis(), Policy(prune="none"))
    assert shape(tree) == (0, (2, 0, 1), 1, (3, 1, 0))
    assert ref.classify(tennis(), Policy(), tree, [RAIN, 0, 0, 1])[0] == 0


def test_scores_of_the_priced_criteria():
    candidate = ref.Candidate(0, np.zeros(0), 2, 3.0, 1.0, 1.0)
    assert ref.score(Policy("icf"), candidate)[1] == pytest.approx(0.25)
    assert ref.score(Policy("icf", omega=0.5), candidate)[1] == pytest.approx(0.5)
    assert ref.score(Policy("icf", omega=0), candidate)[1] == pytest.approx(1)
    candidate.gain = 0.6
    assert ref.score(Policy("gain-per-price"), candidate)[1] == pytest.approx(0.2)
    assert ref.score(Policy("gain-squared-per-price"), candidate)[1] == pytest.approx(0.12)


def test_prices_change_the_root_and_free_tests_come_first():
    assert ref.grow(tennis(marginal=[10, 10, 1, 10]), Policy("icf", prune="none")).column == 2
    # humidity 0.152 / 10 loses to temperature 0.029 / 1; a free wind beats both.
    assert ref.grow(tennis(marginal=[90, 1, 10, 10]), Policy("gain-per-price", prune="none")).column == 1
    assert ref.grow(tennis(marginal=[1e-6, 1, 1, 0]), Policy("gain-per-price", prune="none")).column == 3
    assert ref.grow(tennis(marginal=[1e-6, 1, 0, 0]), Policy("gain-squared-per-price", prune="none")).column == 2


def test_context_makes_a_group_member_cheaper():
    problem = tennis(marginal=[1, 1, 1, 1], group=[0, -1, 0, -1], common=[5])
    for context, prices in ((False, [6, 1, 6, 1]), (True, [0, 1, 1, 1])):
        found = ref.candidates(problem, Policy(context=context), ref.all_cases(problem), path=(0,))
        assert [c.price for c in found] == prices


# Quinlan's book has the same days with numeric columns, and asks what happens if one overcast outlook is unknown.
HUMIDITY_PERCENT = [85, 90, 78, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 80]


def golf():
    outlook = list(OUTLOOK)
    outlook[11] = -1
    return Problem([outlook, HUMIDITY_PERCENT, WIND], [3, 0, 2], PLAY, 2)


def test_gain_with_an_unknown_value():
    found = ref.candidates(golf(), Policy(), ref.all_cases(golf()))[0]
    assert found.gain == pytest.approx(0.199, abs=6e-4)
    assert found.split_info == pytest.approx(1.809, abs=6e-4)


def test_fractional_cases_in_growing_and_classifying():
    tree = ref.grow(golf(), Policy(prune="none"))
    assert shape(tree) == (0, (1, 1, 0), 1, (2, 1, 0))
    sunny, overcast, _ = tree.children
    assert sunny.weights == pytest.approx([3, 2 + 5 / 13])
    assert overcast.weights == pytest.approx([0, 3 + 3 / 13])
    assert sunny.threshold == 75
    assert sunny.children[1].weights == pytest.approx([3, 5 / 13])
    # sunny, humidity unknown: 44 % play, 56 % don't.
    answer, shares = ref.classify(golf(), Policy(), tree, [SUNNY, NAN, 0])
    assert answer == 0
    assert shares == pytest.approx([0.56, 0.44], abs=5e-3)


# -- numeric cuts -----------------------------------------------------------------------------------------------------


def test_threshold_is_a_value_of_the_whole_table():
    problem = Problem([[1.0, 2.0, 8.0, 9.0, 4.9, NAN], [0, 0, 0, 0, 1, 1]], [0, 2], [0, 0, 1, 1, 1, 1], 2)
    assert ref.stored_threshold(problem, 0, 2.0, 8.0) == 4.9
    assert ref.stored_threshold(problem, 0, 2.0, 7.0) == 2.0
    low = np.nextafter(1.0, 2.0)
    high = np.nextafter(low, 2.0)
    assert (low + high) / 2 == high
    assert ref.stored_threshold(Problem([[low, high]], [0], [0, 1], 2), 0, low, high) == low


def test_cases_of_weight_zero_change_nothing():
    one = Problem([[1.0, 2.0, 8.0, 9.0]], [0], [0, 0, 1, 1], 2)
    two = Problem([[1.0, 2.0, 8.0, 9.0, 4.0, 5.0]], [0], [0, 0, 1, 1, 1, 0], 2, weights=[1, 1, 1, 1, 0, 0])
    assert ref.grow(one, Policy()).threshold == ref.grow(two, Policy()).threshold == 2.0


def test_each_side_of_a_cut_holds_enough():
    values, y = np.arange(10.0), [1] + [0] * 9
    assert shape(ref.grow(Problem([values], [0], y, 2), Policy(prune="none"))) != 0
    best = ref.candidates(Problem([values], [0], y, 2), Policy(), ref.all_cases(Problem([values], [0], y, 2)))[0]
    assert best.threshold == 1.0  # not 0.0: two cases on each side
    heavy = Problem([values], [0], y, 2, weights=[2.0] + [1.0] * 9)
    assert ref.candidates(heavy, Policy(), ref.all_cases(heavy))[0].threshold == 0.0
    many = Problem([np.arange(100.0)], [0], [1] * 2 + [0] * 98, 2)
    assert ref.candidates(many, Policy(), ref.all_cases(many))[0].threshold == 4.0  # 0.1 * 100 / 2 = 5 cases
    assert ref.candidates(many, Policy(min_share=0), ref.all_cases(many))[0].threshold == 1.0


def test_lowest_cut_wins_ties_and_release8_subtracts_tries():
    problem = Problem([np.arange(6.0)], [0], [0, 0, 1, 1, 0, 0], 2)
    plain = ref.candidates(problem, Policy(), ref.all_cases(problem))[0]
    assert plain.threshold == 1.0
    reduced = ref.candidates(problem, Policy(mdl_correction=True), ref.all_cases(problem))[0]
    assert plain.gain - reduced.gain == pytest.approx(math.log2(3) / 6)  # cuts after 2, 3 and 4 cases


def test_average_gain_leaves_out_nominal_tests_of_many_values():
    many = ref.Candidate(0, np.zeros(0), 5, 0, 0.9, 3.0, branch_of=[0, 1, 2, 3, 4])
    few = ref.Candidate(1, np.zeros(0), 2, 0, 0.3, 1.0, threshold=1.0)
    poor = ref.Candidate(2, np.zeros(0), 2, 0, 0.1, 0.2, threshold=1.0)
    problem = Problem([], [], [0] * 10, 2)
    assert ref.above_average(problem, [many, few, poor]) == [many, few]  # average 0.2, with `many` it would be 0.43
    assert ref.above_average(problem, [many]) == [many]
    assert ref.above_average(Problem([], [], [0] * 20, 2), [many, few, poor]) == [many]


# -- DTMC, look-ahead, hierarchies ------------------------------------------------------------------------------------


def test_one_step_of_dtmc_by_hand():
    # 10 cases, 6 : 4; an error costs 10. No test: 40. Test 0 (price 2) leaves 1 error: 40 - 10 - 20 = 10, 1 per case.
    # Test 1 (price 0.5) leaves 2 errors: 40 - 20 - 5 = 15, 1.5 per case.
    first = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]
    second = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    y = [0] * 6 + [1] * 4
    errors = [[0, 10], [10, 0]]
    problem = Problem([first, second], [2, 2], y, 2, marginal=[2, 0.5], errors=errors)
    policy = Policy("cost-drop", prune="none", max_depth=1)
    found = ref.candidates(problem, policy, ref.all_cases(problem))
    assert [c.drop for c in found] == pytest.approx([1.0, 1.5])
    assert ref.grow(problem, policy).column == 1
    dear = Problem([first, second], [2, 2], y, 2, marginal=[3, 2], errors=errors)
    assert not ref.grow(dear, policy).children  # 40 - 10 - 30 and 40 - 20 - 20: nothing is saved


def test_dtmc_chooses_the_cut_that_saves_money_not_the_informative_one():
    # The cut of highest gain is after 6; an overlooked class 1 costs 100, so the cut that saves most is after 3.
    values = np.arange(12.0)
    y = [0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1]
    problem = Problem([values], [0], y, 2, errors=[[0, 10], [100, 0]])
    cases = ref.all_cases(problem)
    assert ref.candidates(problem, Policy(), cases)[0].threshold == 5.0
    found = ref.candidates(problem, Policy("cost-drop", answer="least-cost"), cases)[0]
    assert found.threshold == 2.0
    assert found.drop == pytest.approx((50 - 20) / 12)


def xor():
    bits = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1) for _ in range(4)])
    y = bits[:, 0] ^ bits[:, 1]
    return Problem(list(bits.T), [2, 2, 2], y, 2, marginal=[2, 3, 1])


def test_look_ahead_finds_xor_where_greedy_does_not():
    assert not ref.grow(xor(), Policy("gain-per-price")).children
    tree = ref.grow(xor(), Policy("gain-per-price", idx_depth=2))
    assert shape(tree) == (0, (1, 0, 1), (1, 1, 0))
    found, gained, spent = ref.look_ahead(xor(), Policy("gain-per-price"), ref.all_cases(xor()), 2, 0, ())
    assert (found.column, gained, spent) == (0, pytest.approx(1.0), pytest.approx(5.0))
    # A decoy of little gain and price 1 takes greedy in, not the look-ahead.
    decoy = np.array([0] * 15 + [1] * 17)
    problem = xor()
    with_decoy = Problem([*problem.columns, decoy], [2] * 4, problem.y, 2, marginal=[0.2, 0.3, 1, 1])
    assert ref.grow(with_decoy, Policy("gain-per-price", prune="none")).column == 3
    assert ref.grow(with_decoy, Policy("gain-per-price", prune="none", idx_depth=2)).column == 0


def test_look_ahead_respects_depth_and_context():
    policy = Policy("gain-per-price", idx_depth=2, max_depth=1)
    assert not ref.grow(xor(), policy).children
    grouped = xor()
    grouped.group, grouped.common = [0, 0, -1], [4]
    for context, spent in ((False, 13.0), (True, 9.0)):
        policy = Policy("gain-per-price", context=context)
        assert ref.look_ahead(grouped, policy, ref.all_cases(grouped), 2, 0, ())[2] == pytest.approx(spent)


def test_look_ahead_is_for_idx_only():
    with pytest.raises(ValueError, match="gain-per-price only"):
        Policy("icf", idx_depth=2)


def test_a_level_of_the_hierarchy_is_chosen():
    # Six colours, in two families that settle the class; gain ratio prefers two branches to six.
    colour = np.repeat(np.arange(6), 2)
    y = (colour >= 3).astype(int)
    levels = {0: [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]]}
    problem = Problem([colour], [6], y, 2, levels=levels)
    found = ref.candidates(problem, Policy(), ref.all_cases(problem))
    assert [c.n_branches for c in found] == [6, 2, 2]
    assert [c.gain for c in found[:2]] == pytest.approx([1.0, 1.0])
    tree = ref.grow(problem, Policy())
    assert (tree.branch_of, len(tree.children)) == ([0, 0, 0, 1, 1, 1], 2)
    # By gain alone the levels tie, and the ungrouped test comes first.
    assert len(ref.grow(problem, Policy("icf", prune="none")).children) == 6


# -- pruning ----------------------------------------------------------------------------------------------------------


def test_upper_errors_of_the_papers():
    assert ref.upper_errors(100, 5, 0.25) == pytest.approx(7.3, abs=0.05)
    assert ref.upper_errors(50, 0, 0.25) == pytest.approx(1.4, abs=0.05)
    assert ref.upper_errors(150, 50, 0.25) == pytest.approx(54.1, abs=0.5)
    # Quinlan's book: 6 * 0.206, 9 * 0.143, 1 * 0.75; 16 * 0.157
    assert [ref.upper_errors(n, 0, 0.25) for n in (6, 9, 1)] == pytest.approx([1.236, 1.287, 0.75], abs=0.006)
    assert ref.upper_errors(16, 1, 0.25) == pytest.approx(2.512, abs=0.1)


def test_upper_errors_at_the_edges():
    assert ref.upper_errors(0, 0, 0.25) == 0
    assert ref.upper_errors(10, 10, 0.25) == 10
    assert ref.upper_errors(10, 9.8, 0.25) == pytest.approx(9.8 + 0.67 * 0.2)
    middle = (ref.upper_errors(10, 0, 0.25) + ref.upper_errors(10, 1, 0.25)) / 2
    assert ref.upper_errors(10, 0.5, 0.25) == pytest.approx(middle)
    assert ref.upper_errors(10, 3, 1.0) == pytest.approx(3.5)  # z = 0: only the half remains
    assert ref.deviation(0.25) == pytest.approx(0.84 - 0.59 / 4)
    errors = [ref.upper_errors(20, e, 0.25) for e in np.linspace(0, 19, 77)]
    assert all(np.diff(errors) > 0)


def test_collapse():
    useless = numeric(0, 1, leaf(0, 5, 2), leaf(0, 4, 1))
    assert not ref.collapse(useless).children
    useful = numeric(0, 1, leaf(0, 5, 2), leaf(1, 1, 4))
    assert ref.collapse(useful).children


def test_quinlan_replaces_a_subtree_of_three_leaves():
    # The book's voting example: leaves of 6, 9 and 1 cases without error; as a leaf 16 cases, 1 error.
    value = np.repeat([0, 1, 2], [6, 9, 1])
    problem = Problem([value], [3], (value == 2).astype(int), 2)
    assert len(ref.grow(problem, Policy(prune="none")).children) == 3
    assert not ref.grow(problem, Policy()).children


def raising_problem():
    """A free test parts off four odd cases; the priced test below it settles everything on either side."""
    odd = np.array([0] * 96 + [1] * 4)
    good = np.array([0] * 48 + [1] * 48 + [0, 0, 0, 1])
    return Problem([odd, good], [2, 2], good, 2, marginal=[0, 1000])


def test_subtree_raising():
    policy = Policy("icf", min_cases=1)
    grown = ref.grow(raising_problem(), Policy("icf", min_cases=1, prune="none"))
    assert shape(grown) == (0, (1, 0, 1), (1, 0, 1))
    kept = ref.grow(raising_problem(), Policy("icf", min_cases=1, raise_subtrees=False, confidence=0.9))
    assert shape(kept) == (0, (1, 0, 1), (1, 0, 1))
    raised = ref.grow(raising_problem(), policy)
    assert shape(raised) == (1, 0, 1)
    assert [list(child.weights) for child in raised.children] == [[51, 0], [0, 49]]


def test_raising_divides_missing_values_among_the_new_cases():
    problem = raising_problem()
    problem.columns[1][[0, 96]] = -1
    raised = ref.grow(problem, Policy("icf", min_cases=1))
    assert shape(raised) == (1, 0, 1)
    assert raised.children[0].weights == pytest.approx([49 + 2 * 49 / 98, 0])
    assert raised.children[1].weights == pytest.approx([2 * 49 / 98, 49])


# -- costs: Esmeir & Markovitch 2008, Figures 7 to 9 ------------------------------------------------------------------


def figure7(counts, first_price=10, false_positive=100, false_negative=100):
    """400 cases (class 0 = negative), two levels of binary tests, leaves of (negative, positive) cases."""
    bits = [(0, 0), (0, 1), (1, 0), (1, 1)]
    rows, y, ends = [], [], []
    for (top, below), (negative, positive) in zip(bits, counts, strict=True):
        rows += [(top, below, below)] * (negative + positive)
        y += [0] * negative + [1] * positive
        ends.append(leaf(int(positive > negative), negative, positive))
    tree = nominal(0, nominal(1, *ends[:2]), nominal(2, *ends[2:]))
    errors = [[0, false_positive], [false_negative, 0]]
    problem = Problem(list(np.array(rows).T), [2] * 3, y, 2, marginal=[first_price, 10, 10], errors=errors)
    return problem, tree


def total_cost(problem, tree):
    policy = Policy()
    errors = sum(ref.leaf_cost(problem, policy, end.weights, end.answer) for end in ref.leaves(tree))
    return (ref.subtree_price(problem, tree, ref.all_cases(problem)) + errors) / tree.weight


T1 = [(95, 5), (5, 95), (95, 5), (5, 95)]
T2 = [(50, 0), (50, 100), (50, 0), (50, 100)]


@pytest.mark.parametrize(
    ("counts", "settings", "total"),
    [
        (T1, {}, 27.3),
        (T2, {}, 47.7),
        (T1, {"first_price": 40}, 57.3),
        (T1, {"false_positive": 1, "false_negative": 199}, 27.3),
        (T2, {"false_positive": 1, "false_negative": 199}, 21.7),
    ],
    ids=["figure 7, T1", "figures 7 and 8, T2", "figure 8, T1", "figure 9, T1", "figure 9, T2"],
)
def test_figures_7_to_9(counts, settings, total):
    assert total_cost(*figure7(counts, **settings)) == pytest.approx(total, abs=0.3)


def test_leaf_cost_by_hand():
    problem = Problem([], [], [], 3, errors=[[-1, 2, 3, 0.5], [10, 0, 4, 0.5], [20, 5, 0, 0.5]])
    upper = ref.upper_errors(10, 4, 0.25)
    expected = upper * (4 / 6 * 10 + 2 / 6 * 20) + (10 - upper) * -1
    assert ref.leaf_cost(problem, Policy(), [6, 3, 1], 0) == pytest.approx(expected)
    assert ref.leaf_cost(problem, Policy(), [6, 3, 1], 3) == pytest.approx(5)
    assert ref.leaf_cost(problem, Policy(), [0, 0, 0], 0) == 0
    assert ref.leaf_cost(Problem([], [], [], 1, errors=[[2.0]]), Policy(), [3], 0) == 6


def test_cost_pruning_keeps_what_pays():
    # 20 : 20, settled by one test: as a leaf U(40, 20) errors, as a tree 2 * U(20, 0).
    value = np.repeat([0, 1], 20)
    saved = ref.upper_errors(40, 20, 0.25) - 2 * ref.upper_errors(20, 0, 0.25)
    for dearer, kept in ((0.99, True), (1.01, False)):
        errors = [[0, 100], [100, 0]]
        problem = Problem([value], [2], value, 2, marginal=[dearer * saved * 100 / 40], errors=errors)
        assert bool(ref.grow(problem, Policy("icf", prune="cost")).children) is kept
    free_of_errors = Problem([value], [2], value, 2, errors=np.zeros((2, 2)))
    assert not ref.grow(free_of_errors, Policy("icf", prune="cost")).children


def test_cost_pruning_counts_what_was_paid_on_the_way():
    problem = xor()
    problem.group, problem.common = [0, 0, -1], [4]
    tree = ref.grow(problem, Policy("gain-per-price", idx_depth=2, prune="none"))
    cases = ref.all_cases(problem)
    assert ref.subtree_price(problem, tree, cases) == pytest.approx(32 * 9)
    part = ref.divide_at(problem, tree, cases)[0]
    assert ref.subtree_price(problem, tree.children[0], part) == pytest.approx(16 * 7)
    assert ref.subtree_price(problem, tree.children[0], part, [tree]) == pytest.approx(16 * 3)
    # Then test 1 is ordered together with test 0, but has to be worth its own price.
    problem.delayed = [True, False, False]
    assert ref.subtree_price(problem, tree, cases) == pytest.approx(32 * 9)
    assert ref.subtree_price(problem, tree.children[0], part, [tree]) == pytest.approx(16 * 3)


def test_degenerate_problems():
    for policy in (Policy(), Policy("icf", prune="cost"), Policy("cost-drop"), Policy("gain-per-price", idx_depth=2)):
        one_row = Problem([[1.0], [0]], [0, 2], [1], 2)
        assert shape(ref.grow(one_row, policy)) == 1
        one_class = Problem([[1.0, 2.0, 3.0, 4.0]], [0], [0] * 4, 1)
        assert shape(ref.grow(one_class, policy)) == 0
        nothing_known = Problem([[NAN] * 6, [-1] * 6, [3.0] * 6], [0, 2, 0], [0, 1] * 3, 2)
        assert shape(ref.grow(nothing_known, policy)) == 0


def test_empty_branches_take_the_answer_of_their_parent():
    colour = np.array([0] * 4 + [2] * 6)
    tree = ref.grow(Problem([colour], [3], (colour == 2).astype(int), 2), Policy(prune="none"))
    assert shape(tree) == (0, 0, 1, 1)
    assert list(tree.children[1].weights) == [0, 0]

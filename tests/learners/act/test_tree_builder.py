"""Growing with look-ahead: the paper's worked examples, its parameters, and choosing labels and settings."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import reference as ref
import worthwhile as ww
from bridge import assert_same_tree, core_grow_ahead, core_tree_cost, from_node, to_node
from worthwhile.learners import soft_labels
from worthwhile.learners.act import tree_builder
from worthwhile.learners.act.tree_builder import PAPER, PRUNED, SOFT, TreeBuilder, choose_growth, paper_parameters
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.soft_labels import SoftLabels
from worthwhile.table.columns import read_columns

pytestmark = pytest.mark.usefixtures("remembered_ensembles")
RNG = np.random.default_rng(21)
X = RNG.normal(size=(150, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=150) > 0).astype(int)


def training_of(X, y, costs=None, weights=None):
    """What a learner gets."""
    return ww.ACTClassifier(costs=costs)._prepare(read_columns(X), y, weights)


def chosen(X, y, costs=None, seconds=None, r=1):
    """The settings that suit some cases."""
    training = training_of(X, y, costs)
    return choose_growth(training, r, {}, 1, Deadline(seconds), np.random.default_rng(0))


def cases_of_the_figures():
    """400 cases of which T1 and T2 of the figures are the best trees that begin with a1 and with a2.

    a3 tells the classes where a1 is 0, up to one in twenty, and a4 where it is 1; a5 and a6 say of half of the
    negative cases that they are, where a2 is 0 and 1.
    """
    rng = np.random.default_rng(0)
    rows = []
    for y in (0, 1):
        for a1 in (0, 1):
            for a2 in (0, 1):
                wrong = np.arange(50) < 2 + a2
                clear = y ^ wrong
                partly = np.full(50, 1) if y == 1 else np.arange(50) % 2
                noise = [rng.permutation(np.arange(50) % 2) for _ in range(2)]
                by_a1 = [clear, noise[0]] if a1 == 0 else [noise[0], clear]
                by_a2 = [partly, noise[1]] if a2 == 0 else [noise[1], partly]
                columns = [*(rng.permutation(column) for column in (*by_a1, *by_a2)), np.full(50, y)]
                rows.append(np.column_stack([np.full(50, a1), np.full(50, a2), *columns]))
    return np.concatenate(rows)


def two_tests_deep(first, then, problem):
    """The tree that asks one test and then one more in each branch."""

    def asking(test, below):
        return ref.Node(np.zeros(2), column=test, branch_of=[0, 1], children=below)

    node = asking(first, [asking(test, [ref.Node(np.zeros(2)), ref.Node(np.zeros(2))]) for test in then])
    return ref.recounted(problem, node, ref.all_cases(problem))


@pytest.mark.parametrize(
    ("price_of_a1", "false_positive", "false_negative", "totals", "chosen"),
    [(10, 100, 100, (27.3, 47.7), 0), (40, 100, 100, (57.3, 47.7), 1), (10, 1, 199, (27.3, 21.7), 1)],
    ids=["figure 7", "figure 8", "figure 9"],
)
def test_worked_examples(price_of_a1, false_positive, false_negative, totals, chosen):
    *columns, y = cases_of_the_figures().T
    problem = ref.Problem(
        columns, [2] * 6, y, 2, marginal=[price_of_a1, 10, 10, 10, 10, 10],
        requires=[[], [], [0], [0], [1], [1]],  # so that only a1 and a2 are worth beginning with
        errors=[[0, false_positive], [false_negative, 0]],
    )  # fmt: skip
    # The figures show the class of the majority in the leaves, also where another answer costs less (Figure 9).
    policy = ref.Policy("icf", context=True, max_depth=2, prune="none", confidence=0.25, ahead=ref.LookAhead())
    trees = [two_tests_deep(0, (2, 3), problem), two_tests_deep(1, (4, 5), problem)]
    assert [leaf.weights.tolist() for leaf in ref.leaves(trees[0])] == [[95, 5], [5, 95]] * 2
    assert [leaf.weights.tolist() for leaf in ref.leaves(trees[1])] == [[50, 0], [50, 100]] * 2
    for tree, total in zip(trees, totals, strict=True):
        assert core_tree_cost(problem, policy, from_node(tree, 2)) == pytest.approx(total, abs=0.3)
    grown = core_grow_ahead(problem, policy)
    ref.set_answers(problem, policy, trees[chosen])
    assert_same_tree(grown, trees[chosen])
    loser = replace(policy, biases=[math.inf if t == chosen else 10.0 for t in range(6)], omega=0.0)
    if price_of_a1 == 10:  # without the winner the look-ahead values the other tree, and grows it
        assert core_grow_ahead(problem, loser).test[0] == 1 - chosen


@pytest.mark.parametrize(
    ("errors", "price", "omega", "confidence"),
    [(1.0, 0.0, 0.5, 0.3), (10.0, 10.0, 0.5 + math.exp(-1), 0.25), (0.0, 10.0, 1.5, 0.2), (1e9, 1e-9, 0.5, 0.3)],
)
def test_parameters_of_free_and_of_expensive_tests(errors, price, omega, confidence):
    costs = ww.Costs(tests={"x0": price}, errors=errors)
    assert paper_parameters(training_of(X, Y, costs)) == pytest.approx((omega, confidence))


def test_parameters_of_one_class_and_of_reject_answers():
    one = training_of(X, np.zeros(150), ww.Costs(tests={"x0": 5}))
    assert paper_parameters(one) == pytest.approx((1.5, 0.2))
    errors = {0: {1: 10.0, "unknown": 1.0}, 1: {0: 20.0, "unknown": 1.0}}
    two = training_of(X, Y, ww.Costs(tests={"x0": 15}, errors=errors))
    assert paper_parameters(two) == pytest.approx((0.5 + math.exp(-1), 0.25))


def noisy_line(seed, n=300):
    """Eight numbers whose sum, with much noise, is the class."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 8))
    return numbers, (numbers.sum(axis=1) + 3 * rng.normal(size=n) > 0).astype(int)


LINE_COSTS = ww.Costs(tests={f"x{i}": 1.0 for i in range(8)}, errors=50)


def test_soft_labels_are_chosen_where_they_lead_to_cheaper_trees():
    choice = chosen(*noisy_line(0), LINE_COSTS)
    assert (choice.labels.soft, choice.settings) == (True, SOFT)
    bits = np.random.default_rng(5).integers(0, 2, (240, 6))
    rule = bits[:, 0] ^ (bits[:, 1] & bits[:, 2])
    choice = chosen(bits, rule, ww.Costs(tests={f"x{i}": 1.0 for i in range(6)}, errors=200))
    assert (choice.labels.soft, choice.settings) == (False, PAPER)


def test_the_number_of_cases_does_not_decide_about_soft_labels(monkeypatch):
    monkeypatch.setattr(soft_labels, "MAX_LEARNED", 200)  # each model of the ensemble learns from this many
    choice = chosen(*noisy_line(0, 6000), LINE_COSTS)
    assert (choice.labels.soft, choice.settings) == (True, SOFT)
    assert len({id(fold.kept) for fold in choice.folds}) == 2


def test_all_kinds_of_trees_are_compared_with_the_look_ahead_that_will_be_used(monkeypatch):
    grown = []
    ahead, greedy = TreeBuilder.look_ahead, TreeBuilder.greedy

    def note_ahead(self, r, *args):
        grown.append((self._settings, r))
        return ahead(self, r, *args)

    def note_greedy(self, criterion):
        grown.append((self._settings, criterion))
        return greedy(self, criterion)

    monkeypatch.setattr(TreeBuilder, "look_ahead", note_ahead)
    monkeypatch.setattr(TreeBuilder, "greedy", note_greedy)
    chosen(*noisy_line(0), LINE_COSTS, r=3)
    assert grown == [(s, how) for s in (SOFT, PAPER) for how in (3, "icf", "cost-drop")] * 5


class OneCase:
    """Stands for the one case of a fold."""

    n_cases = 1

    def take(self, rows):
        return rows.tolist()


KINDS = [SimpleNamespace(core="first"), SimpleNamespace(core="second")]


@pytest.mark.parametrize("best", range(6))
def test_the_kind_of_least_cost_out_of_fold_is_chosen(best, monkeypatch):
    costs = [10.0] * 6
    costs[best] = 9.0
    position = iter(range(1_000))
    monkeypatch.setattr(
        TreeBuilder, "total_costs", lambda self, grown, cases: np.full(cases.n_cases, costs[next(position) % 6])
    )
    choice = chosen(*noisy_line(0), LINE_COSTS)
    assert (choice.settings, choice.criterion) == ((SOFT, PAPER)[best // 3], (None, "icf", "cost-drop")[best % 3])
    assert choice.labels.soft is (best < 3)
    folds = list(choice.folds)
    assert len(folds) == 5
    assert sum(fold.held_out.n_cases for fold in folds) == 300  # every case is held out once


def test_each_part_of_the_cases_is_answered_by_the_kind_that_is_cheapest_on_the_others(monkeypatch):
    """Two kinds that differ by chance only: the cheaper one on all cases must not bring its luck along."""
    costs = np.array([[0.0, 0.0, 0.0, 0.0, 100.0], [19.0, 19.0, 19.0, 19.0, 23.9]])  # by kind and fold
    fold = iter(range(5))
    monkeypatch.setattr(tree_builder._FoldTrial, "costs", lambda self: costs[:, [next(fold)]])
    trials = [tree_builder._FoldTrial([(PAPER, None)] * 2, KINDS, None, OneCase(), None, 0, None) for _ in range(5)]
    parts = tree_builder._Parts(trials)
    assert parts.cheapest() == 1
    assert [tree.core for tree in parts] == ["second"] * 4 + ["first"]


def test_no_held_out_case_takes_part_in_the_soft_labels_that_judge(monkeypatch):
    labelled, fit = [], SoftLabels.by_ensemble.__func__
    monkeypatch.setattr(
        SoftLabels,
        "by_ensemble",
        classmethod(lambda cls, cases, *args: labelled.append(cases) or fit(cls, cases, *args)),
    )
    choice = chosen(*noisy_line(1), LINE_COSTS)
    assert choice.settings is SOFT
    assert [cases.n_cases for cases in labelled] == [300]  # only the choice itself, until the folds are asked for
    folds = list(choice.folds)
    assert len(labelled) > 3
    assert {id(cases) for cases in labelled[1:]} <= {id(fold.kept) for fold in folds}


def test_no_ensemble_is_fitted_without_time(monkeypatch):
    monkeypatch.setattr(soft_labels, "ensemble_shares", lambda *_: pytest.fail("an ensemble was fitted"))
    choice = chosen(*noisy_line(0), LINE_COSTS, 1.2)
    assert (choice.labels.soft, choice.settings) == (False, PAPER)


def test_where_the_ensemble_hardly_errs_the_cases_keep_their_labels():
    numbers, _ = noisy_line(0)
    choice = chosen(numbers, (numbers[:, 0] > 0).astype(int), LINE_COSTS)
    assert (choice.labels.soft, choice.settings) == (False, PAPER)


def test_if_the_time_ends_during_the_comparison_the_cases_keep_their_labels(monkeypatch):
    ahead, seconds = TreeBuilder.look_ahead, [0.0]
    monkeypatch.setattr("worthwhile.learners.deadline.time.monotonic", lambda: seconds[0])

    def slow(self, *args):
        seconds[0] += 50.0
        return ahead(self, *args)

    monkeypatch.setattr(TreeBuilder, "look_ahead", slow)
    choice = chosen(*noisy_line(0), LINE_COSTS, seconds=100.0)
    assert (choice.labels.soft, choice.settings, choice.folds) == (False, PAPER, None)
    assert seconds[0] == 100.0  # one fold


@pytest.mark.parametrize(("delayed", "expected"), [(True, PRUNED), (False, PAPER)])
def test_where_a_test_is_delayed_samples_are_pruned(delayed, expected, monkeypatch):
    monkeypatch.setattr(tree_builder, "_soft_labels", lambda *_: None)
    costs = ww.Costs(tests={"x0": ww.Test(1.0, delayed=delayed)}, errors=50)
    assert chosen(X, Y, costs).settings is expected
    assert (PRUNED.samples, PAPER.samples, SOFT.samples) == ("pruned", "grown", "pruned")


def test_parameters_that_are_given_replace_those_of_the_settings():
    labels = SoftLabels.own(training_of(X, Y, ww.Costs(tests={"x0": 5.0}, errors=50)))
    by_formula = TreeBuilder(labels, PAPER, {}, 1)
    assert (by_formula.omega, by_formula.confidence) == pytest.approx(paper_parameters(labels.training))
    soft = TreeBuilder(labels, replace(SOFT, soft_label_weight=0.0), {"omega": None}, 1)
    assert (soft.omega, soft.confidence) == (0.25, 0.75)
    given = TreeBuilder(labels, SOFT, {"omega": 0.0, "confidence": 0.9, "samples": "grown"}, 1)
    assert (given.omega, given.confidence, given._samples) == (0.0, 0.9, "grown")


def test_without_time_a_tree_is_grown_greedily():
    builder = TreeBuilder(
        SoftLabels.own(training_of(X, Y, ww.Costs(tests={f"x{i}": 1.0 for i in range(4)}, errors=50))), PAPER, {}, 1
    )
    ahead, greedy = builder.look_ahead(3, 0, seconds=tree_builder.GRACE), builder.greedy()
    assert (ahead.r, greedy.r) == (3, 0)
    assert ahead.cost == pytest.approx(greedy.cost)


def test_the_expected_cost_is_that_of_the_tree():
    costs = ww.Costs(tests={f"x{i}": 1.0 + i for i in range(4)}, errors=50)
    clf = ww.ACTClassifier(variant="paper", costs=costs, r=2, random_state=0).fit(X, Y)
    problem = ref.Problem([*X.T], [0] * 4, Y, 2, marginal=[1, 2, 3, 4], errors=50 * (1 - np.eye(2)))
    policy = ref.Policy("icf", answer="least-cost", confidence=clf.confidence_)
    believed = clf.history_[-1].cost
    assert believed == pytest.approx(ref.tree_cost(problem, policy, to_node(clf.tree_.nodes)))
    assert believed > clf.total_costs(X, Y).mean()


def test_more_time_takes_only_what_clearly_costs_less_on_held_out_cases(monkeypatch):
    rng = np.random.default_rng(0)

    def cost(self, grown, cases):
        """Ten, and for every tree some luck that differs from case to case; 16 samples save two."""
        return 10.0 - 2.0 * (grown.r == 16) + rng.normal(size=cases.n_cases)

    monkeypatch.setattr(TreeBuilder, "total_costs", cost)
    monkeypatch.setattr(
        TreeBuilder, "look_ahead", lambda self, r, seed, seconds: SimpleNamespace(r=r, builder=self, core=None)
    )
    monkeypatch.setattr(tree_builder, "CLEARLY", 4.0)
    choice = chosen(*noisy_line(0), LINE_COSTS, 1e6)
    ways = list(choice.rounds.better_ways(Deadline(1e6)))
    assert [r for _, r in ways] == [16]
    assert choice.rounds.r == 16
    tried = [settings for settings, way in choice.rounds._trials[0].kinds if way is None]
    assert {settings.confidence for settings in tried} >= {0.5, 0.1}
    assert {settings.omega for settings in tried} >= {0.25, 0.5, 1.0}
    assert len(list(choice.rounds.folds())) >= 5


def test_given_parameters_are_not_tried_otherwise(monkeypatch):
    monkeypatch.setattr(
        TreeBuilder, "look_ahead", lambda self, r, seed, seconds: SimpleNamespace(r=r, builder=self, core=None)
    )
    monkeypatch.setattr(TreeBuilder, "total_costs", lambda self, grown, cases: np.full(cases.n_cases, 1.0))
    training = training_of(*noisy_line(0), LINE_COSTS)
    given = {"omega": 0.7, "confidence": 0.3}
    choice = choose_growth(training, 1, given, 1, Deadline(1e6), np.random.default_rng(0))
    assert not list(choice.rounds.better_ways(Deadline(1e6)))  # nothing is better than what costs the same
    kinds = [settings for settings, _ in choice.rounds._trials[0].kinds]
    assert {settings.omega for settings in kinds} <= {SOFT.omega, PAPER.omega}
    assert not list(choice.rounds.better_ways(Deadline(1e-9)))  # without time, nothing is tried

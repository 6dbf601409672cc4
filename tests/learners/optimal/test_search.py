"""Choosing the settings of exact searches."""

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.optimal import search
from worthwhile.learners.optimal.search import ExactSearch, Settings, choose_settings, fallback, search_pieces
from worthwhile.table.columns import read_columns

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] > 0).astype(int)
COSTS = ww.Costs(tests={f"x{i}": 1.0 for i in range(4)}, errors=40)
SEARCH = ExactSearch(None, 4, 2**20, 1)


def training(y=Y):
    return ww.OptimalClassifier(costs=COSTS)._prepare(read_columns(X, None, None), y, None)


def test_a_clear_concept_needs_one_test():
    choice = choose_settings(training(), SEARCH, 3, None, 0.0, False, Deadline(None), np.random.default_rng(0))
    assert choice.settings.max_depth == 1
    assert len(choice.folds) == 5
    assert sum(fold.held_out.n_cases for fold in choice.folds) == 200


def test_of_equal_trees_the_simplest_settings_are_chosen():
    noise = training(RNG.integers(0, 2, 200))
    choice = choose_settings(noise, SEARCH, 3, None, 0.0, False, Deadline(None), np.random.default_rng(0))
    assert choice.settings.max_depth == 1
    assert choice.settings.leaf_price == max(search.LEAF_PRICES) * search.no_test_cost(noise)


def test_with_soft_labels_other_settings_must_be_clearly_better():
    noise = training(RNG.integers(0, 2, 200))
    choice = choose_settings(noise, SEARCH, 3, None, None, False, Deadline(None), np.random.default_rng(0))
    usual = search.LEAF_PRICES[1] * search.no_test_cost(noise)
    assert choice.settings == Settings(3, usual, 1.0)  # of all labels, the smoothest
    # The class is a question of two tests together, which the forest does not learn: own labels are better.
    exact = training(((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int))
    choice = choose_settings(exact, SEARCH, 3, None, None, False, Deadline(None), np.random.default_rng(0))
    assert choice.settings.soft_label_weight == 0.0


def test_what_is_given_is_not_chosen():
    choice = choose_settings(training(), SEARCH, 2, 0.25, 0.5, False, Deadline(None), np.random.default_rng(0))
    assert choice.settings.leaf_price == 0.25
    assert choice.settings.soft_label_weight == 0.5
    assert choice.labels.soft


def test_without_time_nothing_is_chosen():
    choice = choose_settings(training(), SEARCH, 3, None, None, False, Deadline(0.1), np.random.default_rng(0))
    assert choice.folds is None
    assert choice.settings == fallback(training(), 3, None, 0.0)


def test_settings_of_small_trees_come_first():
    several = [Settings(2, 0.0, 0.0), Settings(1, 0.0, 1.0), Settings(1, 0.5, 1.0)]
    assert sorted(several, key=Settings.complexity) == several[::-1]


def test_the_expected_work_is_that_of_all_searches():
    counts = {}
    for piece in search_pieces(training(), None, None):
        counts[piece.kind] = counts.get(piece.kind, 0) + 1
    assert counts == {"ensemble": 6, "exact": 5 * 9 + 1}
    assert [piece.kind for piece in search_pieces(training(), 0.0, 0.0)] == ["exact"]


def test_a_tree_is_grown_further_where_that_pays_out_of_fold():
    """Two tests tell the class, three cuts are needed: depth 1 is not enough, further levels are."""
    steps = training(((X[:, 0] > 0.5) | ((X[:, 0] < -0.5) & (X[:, 1] > 0))).astype(int))
    chosen = choose_settings(steps, SEARCH, 1, None, None, None, Deadline(None), np.random.default_rng(0))
    assert chosen.settings.deeper
    assert all(settings.deeper for settings in chosen_from(steps, True))
    assert not any(settings.deeper for settings in chosen_from(steps, False))


def chosen_from(cases, deeper):
    kept = []
    real = search._chosen

    def spy(trials, usual, without=None):
        kept.extend(trials[0].trees)
        return real(trials, usual, without)

    search._chosen = spy
    try:
        choose_settings(cases, SEARCH, 2, None, 0.0, deeper, Deadline(None), np.random.default_rng(0))
    finally:
        search._chosen = real
    return kept


def test_a_leaf_has_the_same_price_for_all_cases_together_if_there_are_many():
    few = training()
    every, share = search.leaf_prices(few), search.LEAF_PRICES
    assert every == pytest.approx([one * search.no_test_cost(few) for one in share])
    assert search.leaf_prices(few, 2_400) == pytest.approx([one / 2 for one in every])
    assert search.leaf_prices(few, 12_000)[1] * 12_000 == pytest.approx(every[1] * 1_200)
    assert search.fallback(few, 4, None, 0.0).leaf_price == every[1]

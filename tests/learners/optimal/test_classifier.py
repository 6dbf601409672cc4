"""Trees of least cost, as users get them."""

import math

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from all_learners import COSTS, learned
from worthwhile.learners.optimal.classifier import OptimalClassifier

PLAIN = {"soft_labels": 0, "leaf_price": 0, "cross_fit": False}
RNG = np.random.default_rng(5)
X = RNG.normal(size=(150, 4)).round(1)
Y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.3)).astype(int)


def test_the_plain_search_costs_what_its_tree_costs():
    clf = OptimalClassifier(costs=COSTS, max_depth=2, **PLAIN).fit(X, Y)
    assert clf.proven_
    assert clf.gap_ == 0
    assert clf.bound_ == clf.objective_
    assert clf.objective_ == pytest.approx(clf.total_costs(X, Y).mean())
    assert clf.stopped_ == "done"
    assert clf.history_[-1].cost == clf.history_[-1].bound == clf.objective_


@pytest.mark.parametrize("learner", [ww.DTMCClassifier, ww.EG2Classifier, ww.ACTClassifier])
def test_no_other_learner_finds_a_cheaper_tree_of_that_depth(learner):
    best = OptimalClassifier(costs=COSTS, max_depth=3, **PLAIN).fit(X, Y)
    other = learner(costs=COSTS, cross_fit=False, random_state=0).fit(X, Y)
    assert other.tree_.depth > 3 or other.total_costs(X, Y).mean() >= best.objective_ - 1e-9


def test_a_leaf_price_counts_in_the_objective_and_makes_trees_smaller():
    sizes = []
    for leaf_price in (0.0, 1.0, 5.0, 1000.0):
        clf = OptimalClassifier(costs=COSTS, max_depth=3, **(PLAIN | {"leaf_price": leaf_price})).fit(X, Y)
        assert clf.objective_ == pytest.approx(clf.total_costs(X, Y).mean() + leaf_price * clf.tree_.n_leaves)
        assert clf.leaf_price_ == leaf_price
        sizes.append(clf.tree_.n_leaves)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1] == 1


def test_limits_are_kept():
    free = OptimalClassifier(costs=COSTS, max_depth=3, **PLAIN).fit(X, Y)
    few = OptimalClassifier(costs=COSTS, max_depth=3, max_leaves=3, **PLAIN).fit(X, Y)
    capped = OptimalClassifier(costs=COSTS, max_depth=3, cap=5.0, **PLAIN).fit(X, Y)
    assert free.tree_.n_leaves > 3 >= few.tree_.n_leaves
    assert few.tree_.depth <= 3
    assert free.test_costs(X).max() > 5 >= capped.test_costs(X).max()
    assert free.objective_ < min(few.objective_, capped.objective_)
    assert OptimalClassifier(costs=COSTS, max_depth=3, thresholds=2, **PLAIN).fit(X, Y).objective_ >= free.objective_


def test_values_against_the_rest_can_do_what_a_branch_for_every_value_cannot():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(list("abcdefgh"), 400), "size": rng.choice(list("xyz"), 400)})
    y = (frame["colour"] == "c").to_numpy() ^ (frame["size"] == "x").to_numpy()
    costs = ww.Costs(tests={"colour": 1.0, "size": 1.0}, errors=100)
    leaves = {}
    for splits in ("multiway", "subset", "both"):
        settings = PLAIN | {"leaf_price": 0.01}
        clf = OptimalClassifier(costs=costs, max_depth=2, nominal_splits=splits, **settings).fit(frame, y)
        assert (clf.predict(frame) == y).all()
        leaves[splits] = clf.tree_.n_leaves
    assert leaves == {"multiway": 24, "subset": 4, "both": 4}
    text = clf.tree_.to_text()
    assert "x: " in text
    assert "y or z: " in text


def test_settings_are_chosen_on_cases_left_out():
    rng = np.random.default_rng(1)
    noisy = rng.normal(size=(250, 5))
    y = (noisy[:, 0] + rng.normal(size=250) > 0).astype(int)
    costs = ww.Costs(tests={f"x{i}": 1.0 for i in range(5)}, errors=50)
    chosen = OptimalClassifier(costs=costs, thresholds=8, random_state=0).fit(noisy, y)
    plain = OptimalClassifier(costs=costs, thresholds=8, **PLAIN).fit(noisy, y)
    assert chosen.tree_.n_leaves < plain.tree_.n_leaves
    new = rng.normal(size=(3000, 5))
    truth = (new[:, 0] + rng.normal(size=3000) > 0).astype(int)
    assert chosen.total_costs(new, truth).mean() < plain.total_costs(new, truth).mean()
    assert chosen.expected_cost_ == pytest.approx(chosen.total_costs(new, truth).mean(), rel=0.25)


def test_errors_that_cost_every_case_something_else_are_minimised():
    errors = np.zeros((150, 2))
    errors[np.arange(150), 1 - Y] = RNG.choice([1.0, 200.0], 150)
    clf = OptimalClassifier(costs=COSTS, max_depth=2, **PLAIN).fit(X, Y, case_errors=errors)
    assert clf.objective_ == pytest.approx(clf.total_costs(X, Y, case_errors=errors).mean())
    other = OptimalClassifier(costs=COSTS, max_depth=2, **PLAIN).fit(X, Y)
    assert clf.objective_ < other.total_costs(X, Y, case_errors=errors).mean()


def test_a_short_time_gives_a_tree_and_a_gap():
    rng = np.random.default_rng(2)
    large = rng.normal(size=(3000, 12))
    y = rng.integers(0, 2, 3000)
    costs = ww.Costs(tests={f"x{i}": 0.01 for i in range(12)}, errors=50)
    clf = OptimalClassifier(costs=costs, time_limit=0.5, max_depth=5, **PLAIN).fit(large, y)
    assert clf.stopped_ == "time limit"
    assert not clf.proven_
    assert clf.gap_ == pytest.approx(clf.objective_ - clf.bound_)
    assert clf.bound_ < clf.objective_ < 25


def test_a_callback_sees_cost_and_bound_and_ends_the_search():
    rng = np.random.default_rng(2)
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) == 3

    large = rng.normal(size=(2000, 12))
    clf = OptimalClassifier(costs=ww.Costs(errors=50), max_depth=5, callback=stop, **PLAIN)
    clf.fit(large, rng.integers(0, 2, 2000))
    assert clf.stopped_ == "callback"
    assert all(progress.bound <= progress.cost for progress in seen)


def test_a_tree_that_is_grown_further_keeps_the_proof_of_its_depth():
    best = OptimalClassifier(costs=COSTS, max_depth=1, **PLAIN).fit(X, Y)
    clf = OptimalClassifier(costs=COSTS, max_depth=1, deepen=True, **PLAIN).fit(X, Y)
    assert best.tree_.depth == 1 < clf.tree_.depth <= 7
    assert clf.proven_
    assert clf.bound_ == best.objective_ > clf.objective_
    assert clf.gap_ == 0
    assert clf.objective_ == pytest.approx(clf.total_costs(X, Y).mean())
    few = OptimalClassifier(costs=COSTS, max_depth=1, deepen=True, max_leaves=2, **PLAIN).fit(X, Y)
    assert few.tree_.depth == 1
    crossed = OptimalClassifier(costs=COSTS, max_depth=1, deepen=True, **(PLAIN | {"cross_fit": True})).fit(X, Y)
    assert crossed.expected_cost_ > 0


@pytest.mark.parametrize("max_depth", [1, 2])
def test_the_default_keeps_to_the_depth(max_depth):
    clf = OptimalClassifier(costs=COSTS, max_depth=max_depth, random_state=0).fit(X, Y)
    assert clf.tree_.depth <= max_depth


def test_ctrl_c_keeps_the_best_tree(monkeypatch):
    from worthwhile.learners.optimal import search

    real = search._core.search_exactly

    def interrupted(*args, **settings):
        tree, cost, bound, _, _, *rest = real(*args, **settings)
        return tree, cost, bound - 1, False, True, *rest

    monkeypatch.setattr(search._core, "search_exactly", interrupted)
    clf = OptimalClassifier(costs=COSTS, max_depth=2, **PLAIN)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert clf.stopped_ == "interrupted"
    assert clf.tree_.n_leaves > 1


def test_ctrl_c_while_settings_are_chosen_gives_a_small_tree(monkeypatch):
    from worthwhile.learners.optimal import classifier

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(classifier, "choose_settings", interrupted)
    clf = OptimalClassifier(costs=COSTS, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert clf.stopped_ == "interrupted"
    assert 1 <= clf.tree_.depth <= 2


def test_ctrl_c_in_a_search_for_settings_ends_the_choice(monkeypatch):
    from worthwhile.learners.optimal import search

    real, chosen = search._core.search_exactly, []

    def interrupted(*args, **settings):
        tree, cost, bound, proven, _, *rest = real(*args, **settings)
        chosen.append(settings["max_depth"])
        return tree, cost, bound, proven, len(chosen) == 1, *rest

    monkeypatch.setattr(search._core, "search_exactly", interrupted)
    clf = OptimalClassifier(costs=COSTS, cross_fit=False, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert chosen == [4, 2]  # the one that was interrupted, and a small one, so that there is a tree
    assert clf.tree_.depth <= 2


def test_ctrl_c_while_a_fold_is_searched_is_passed_on(monkeypatch):
    from worthwhile.learners.optimal import search

    real, calls = search._core.search_exactly, []

    def interrupted(*args, **settings):
        tree, cost, bound, proven, _, *rest = real(*args, **settings)
        calls.append(settings)
        return tree, cost, bound, proven, len(calls) == 2, *rest

    monkeypatch.setattr(search._core, "search_exactly", interrupted)
    clf = OptimalClassifier(costs=COSTS, max_depth=2, **{**PLAIN, "cross_fit": True})
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert clf.stopped_ == "interrupted"
    assert clf.tree_.n_leaves > 1


def test_threads_and_memory_make_no_difference():
    settings = {"costs": COSTS, "thresholds": 5, "soft_labels": 0, "random_state": 0}
    expected = learned(OptimalClassifier(**settings).fit(X, Y))
    for more in ({"n_jobs": 2}, {"memory_limit": 1}):
        assert learned(OptimalClassifier(**settings, **more).fit(X, Y)) == expected


@pytest.mark.parametrize(
    ("name", "value", "valid"),
    [
        ("leaf_price", -1, "a number of at least 0 or 'chosen'"),
        ("soft_labels", 2, "a number from 0 to 1 or 'chosen'"),
        ("thresholds", 0, "a whole number of at least 1 or 'all'"),
        ("nominal_splits", "binary", "choose 'multiway', 'subset' or 'both'"),
        ("memory_limit", 0, "a number of at least 1 or None"),
    ],
)
def test_wrong_parameters_are_named(name, value, valid):
    with pytest.raises(ValueError, match=f"OptimalClassifier: invalid {name}=.*{valid}"):
        OptimalClassifier(**{name: value}).fit(X, Y)


def test_one_case_one_class_and_no_values():
    assert OptimalClassifier(costs=COSTS).fit(X[:1], Y[:1]).tree_.n_leaves == 1
    assert OptimalClassifier(costs=COSTS).fit(X, np.zeros(150, int)).proven_
    nothing = OptimalClassifier().fit(np.full((20, 2), np.nan), Y[:20])
    assert nothing.tree_.n_leaves == 1
    assert math.isfinite(nothing.objective_)

"""What comes after a search, too, is within the time limit; by a clock that moves with the work."""

from types import SimpleNamespace

import numpy as np
import pytest

import worthwhile as ww
from worthwhile import _core
from worthwhile.learners import cross_fitting, deadline, training
from worthwhile.learners.act.tree_builder import TreeBuilder
from worthwhile.learners.icet import classifier as icet
from worthwhile.learners.icet.trials import Folds
from worthwhile.learners.optimal.search import ExactSearch

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3_000, 4))
Y = (X[:, 0] + X[:, 1] + RNG.normal(size=3_000) > 0).astype(int)
COSTS = ww.Costs(tests={f"x{i}": 1.0 for i in range(4)}, errors=20)
PER_CASE = 1e-4  # seconds of the clock for a greedy tree, and its pruning


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only as trees are grown."""
    clock = SimpleNamespace(now=0.0)
    times = SimpleNamespace(monotonic=lambda: clock.now)
    monkeypatch.setattr(deadline, "time", times)
    monkeypatch.setattr("worthwhile.learners.base.time", times)
    return clock


@pytest.mark.parametrize("limit", [4.0, 10.0, 40.0])
def test_act_ends_in_time(clock, limit, monkeypatch):
    greedy, ahead = TreeBuilder.greedy, TreeBuilder.look_ahead
    order = []

    def slow_greedy(self, criterion="icf"):
        clock.now += PER_CASE * self._n_cases
        order.append("greedy")
        return greedy(self, criterion)

    def slow_ahead(self, r, seed, seconds=np.inf, complete=False):
        clock.now += min(seconds, PER_CASE * self._n_cases * 4 * r)
        grown = ahead(self, 1, seed, 60.0, complete)
        clock.now += PER_CASE * self._n_cases / 2  # pruning goes on after the deadline
        order.append("ahead")
        return grown

    monkeypatch.setattr(TreeBuilder, "greedy", slow_greedy)
    monkeypatch.setattr(TreeBuilder, "look_ahead", slow_ahead)
    clf = ww.ACTClassifier(costs=COSTS, time_limit=limit, random_state=0).fit(X, Y)
    assert clock.now <= limit + 0.3
    assert "ahead" in order
    assert clf.expected_cost_ > 0


@pytest.mark.parametrize("limit", [4.0, 10.0])
def test_icet_ends_in_time(clock, limit, monkeypatch):
    grow, costs = icet.ICETClassifier._grow, Folds.costs

    def slow_grow(self, labels, best):
        clock.now += PER_CASE * labels.training.n_cases
        return grow(self, labels, best)

    def slow_costs(self, biases, seconds):
        clock.now += min(seconds, 0.02 * len(biases))
        return costs(self, biases, 60.0)

    monkeypatch.setattr(icet.ICETClassifier, "_grow", slow_grow)
    monkeypatch.setattr(Folds, "costs", slow_costs)
    ww.ICETClassifier(costs=COSTS, time_limit=limit, random_state=0).fit(X, Y)
    assert clock.now <= limit + 0.3


def test_icet_searches_with_fewer_cases_than_other_learners_if_time_is_short(clock, monkeypatch):
    search, sizes = icet.ICETClassifier._search, []

    def seen(self, labels, *rest):
        sizes.append(labels.training.n_cases)
        return search(self, labels, *rest)

    monkeypatch.setattr(icet.ICETClassifier, "_search", seen)
    monkeypatch.setattr(icet, "CELLS_PER_SECOND", 1_500)
    ww.ICETClassifier(costs=COSTS, time_limit=4.0, random_state=0).fit(X, Y)
    assert sizes[0] == 1_500  # of 3,000 with 4 columns


def test_folds_of_lsid3_share_its_time(clock, monkeypatch):
    """Look-ahead on all cases uses up the time; the tree on a fold has none left."""
    given, grow = [], _core.grow_ahead

    def grow_ahead(*args, seconds, **kwargs):
        given.append(seconds)
        clock.now += 2.0
        return grow(*args, seconds=seconds, **kwargs)

    monkeypatch.setattr(_core, "grow_ahead", grow_ahead)
    ww.LSID3Classifier(time_limit=2.0, r=1, random_state=0).fit(X[:200], Y[:200])
    assert given == [2.0, 0.0]  # one fold is enough when the time is over


@pytest.mark.parametrize("quick", [True, False])
def test_cases_are_all_counted_if_there_is_time(quick, monkeypatch):
    monkeypatch.setattr(cross_fitting, "FEW_COUNTED", 100)
    monkeypatch.setattr(cross_fitting, "TOLERANCE", 60.0 if quick else -60.0)
    clf = ww.ACTClassifier(costs=COSTS, time_limit=0.01, random_state=0)
    with pytest.warns(UserWarning, match="ended the search before any look-ahead"):
        clf.fit(X, Y)
    counted = clf.tree_.nodes.weights[0].sum()
    assert counted == 3_000 if quick else 1_000 <= counted < 3_000


def test_lsid3_grows_all_trees_from_the_cases_that_fit_into_the_limit(monkeypatch):
    monkeypatch.setattr(training, "CELLS_PER_SECOND", 1)
    grown, grow = [], _core.grow_ahead

    def grow_ahead(table, classes, *args, **kwargs):
        grown.append(len(classes))
        return grow(table, classes, *args, **kwargs)

    monkeypatch.setattr(_core, "grow_ahead", grow_ahead)
    clf = ww.LSID3Classifier(time_limit=100.0, r=1, random_state=0).fit(X, Y)
    assert grown == [training.FEWEST, *[training.FEWEST * 4 // 5] * 5]
    assert clf.tree_.nodes.weights[0].sum() == len(Y)  # all are counted
    grown.clear()
    ww.LSID3Classifier(r=1, random_state=0).fit(X, Y)
    assert grown[0] == len(Y)


def test_the_exact_search_ends_in_time(clock, monkeypatch):
    """Trees on folds are grown from the sample that the tree was grown from, in what is left of the time."""
    monkeypatch.setattr(training, "CELLS_PER_SECOND", 1)
    searched, run = [], ExactSearch.run

    def slow_run(self, rows, costs, settings, work=np.inf, seconds=np.inf, tell=None):
        searched.append(len(rows[1]))
        clock.now += min(seconds, 10.0)
        return run(self, rows, costs, settings, work, 60.0, tell)

    monkeypatch.setattr(ExactSearch, "run", slow_run)
    clf = ww.OptimalClassifier(costs=COSTS, time_limit=2.0, max_depth=2, soft_labels=0, leaf_price=0, random_state=0)
    clf.fit(X, Y)
    assert clock.now <= 2.3
    assert searched[0] == training.FEWEST
    assert len(searched) > 1
    assert max(searched[1:]) < training.FEWEST
    assert clf.expected_cost_ == pytest.approx(clf.total_costs(X, Y).mean(), rel=0.1)


def test_without_time_for_a_test_the_expected_cost_is_that_of_no_test():
    clf = ww.OptimalClassifier(costs=COSTS, time_limit=1e-9, soft_labels=0, leaf_price=0, random_state=0).fit(X, Y)
    assert clf.tree_.n_leaves == 1
    assert clf.expected_cost_ == pytest.approx(clf.total_costs(X, Y).mean(), rel=0.05)

"""Validating forests while they grow: budgets, the end of the time, and Ctrl-C."""

import time

import numpy as np
import pytest

import worthwhile as ww
from interrupting import fit_interrupted
from worthwhile import _core
from worthwhile.learners import training
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.forest import growing, voting
from worthwhile.learners.forest.growing import ForestTask
from worthwhile.learners.forest.validation import ForestValidator, GrowthMonitor
from worthwhile.learners.forest.voting import BudgetRecord

# Budgets of all sizes are tried here.
pytestmark = pytest.mark.filterwarnings("ignore:BudgetForestClassifier. budget=:UserWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.7 * X[:, 2] * X[:, 3] + 0.3 * RNG.normal(size=200) > 0).astype(int)
FRESH = RNG.normal(size=(80, 4)).round(2)
PRICES = ww.Costs(tests={"x0": 2.625, "x1": 2.5, "x2": 2.375, "x3": 2.5}, errors=50)
modes = pytest.mark.parametrize("adaptive", [False, "settled", True])


def make(**parameters):
    known = {"costs": PRICES, "max_trees": 12, "alpha": [0, 6, 20], "random_state": 3}
    return ww.BudgetForestClassifier(variant="paper", **(known | parameters))


def test_the_callback_gets_every_tree_and_time_ends_them():
    told = []
    clf = make(alpha=[0, 3], max_trees=5, callback=told.append).fit(X, Y)
    assert clf.stopped_ == "done"
    assert [now.done for now in told] == list(range(1, 11))
    assert {now.total for now in told} == {10}
    best = min(r.price + r.error_cost for forest in clf.forests_ for r in forest.curve[1:])
    assert told[-1].cost == best
    for budget in (None, 0.1):  # a tree that is cut short at its root asks for nothing
        for tests in ("all", "chosen"):
            known = {"alpha": [0, 3], "max_trees": 5, "budget": budget, "tests": tests}
            short = make(**known, time_limit=1e-9, callback=(told := []).append).fit(X, Y)
            assert short.stopped_ == "time limit"
            assert [[tree.n_nodes for tree in forest.trees] for forest in short.forests_] == [[1]]
            assert len(told) == 1
            assert short.sampling_ == "drawn"


@pytest.mark.parametrize("adaptive", [False, True, "settled"])
def test_ctrl_c_keeps_what_has_grown(adaptive):
    def stop_after_three(now):
        if now.done == 3:
            raise KeyboardInterrupt

    clf = fit_interrupted(make(alpha=[0, 3], adaptive=adaptive, callback=stop_after_three), X, Y)
    assert clf.stopped_ == "interrupted"
    whole = make(alpha=0, adaptive=adaptive, max_trees=3, sampling=clf.sampling_).fit(X, Y)
    np.testing.assert_array_equal(clf.predict(FRESH), whole.predict(FRESH))
    np.testing.assert_array_equal(clf.test_costs(FRESH), whole.test_costs(FRESH))

    def stop_at_once(self, trees):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GrowthMonitor, "over", stop_at_once)
        with pytest.raises(KeyboardInterrupt):
            make(alpha=0, adaptive=adaptive).fit(X, Y)


def test_ctrl_c_while_the_sampling_is_chosen_is_passed_on():
    calls = []

    def interrupted(self, core_tree):
        calls.append(core_tree)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(voting.VoteRecorder, "consult", interrupted)
        with pytest.raises(KeyboardInterrupt):
            make(alpha=0).fit(X, Y)
    assert len(calls) == 1


def validator(clf, adaptive=False, limit=None):
    """A validator of the forests of a learner, with the training cases."""
    cases = clf._validation_set(X, Y, "a test")
    return ForestValidator(clf.problem_.bound_costs, clf._rule(), cases, adaptive, limit, 1)


@modes
def test_the_curve_is_what_was_found_in_growing(adaptive):
    clf = make(alpha=0, max_trees=6).fit(X, Y)
    measured = validator(clf, adaptive)
    forest = measured.forest(0.0, clf.trees_, None, GrowthMonitor(6, Deadline(None)))
    assert measured.curve(forest) == list(forest.curve)
    assert (forest.stopping is not None) == (adaptive is True)


def test_trees_are_taken_until_the_budget_is_spent():
    clf = make(alpha=0, max_trees=6).fit(X, Y)
    whole = validator(clf).forest(0.0, clf.trees_, None, GrowthMonitor(6, Deadline(None)))
    prices = [record.price for record in whole.curve]
    n = next(i for i in range(6) if prices[i] < prices[i + 1])
    part = validator(clf, limit=prices[n]).forest(0.0, iter(clf.trees_), None, GrowthMonitor(6, Deadline(None)))
    assert part.trees == whole.trees[:n]
    assert part.curve == whole.curve[: n + 1]


def test_a_monitor_counts_tells_and_ends():
    told = []
    monitor = GrowthMonitor(5, Deadline(None), told.append)
    for cost, _ in zip((9.0, 7.0, 8.0), monitor.over("abcde"), strict=False):
        monitor.tell(BudgetRecord(0.0, 1, 1.0, 0.0, cost))
    assert [(step.done, step.total, step.cost) for step in told] == [(1, 5, 10.0), (2, 5, 8.0), (3, 5, 8.0)]
    assert monitor.stopped == "done"
    monitor.interrupted()
    assert (monitor.stopped, monitor.goes_on()) == ("interrupted", False)
    late = GrowthMonitor(5, Deadline(1e-9))
    assert (late.remaining(), late.goes_on(), late.stopped) == (0.0, False, "time limit")


def test_trees_that_are_cut_short_are_dropped_unless_there_is_no_other(monkeypatch):
    calls, grow = [], _core.grow_forest

    def third_is_late(*args, **options):
        calls.append(options["seconds"])
        return grow(*args, **options | {"seconds": 0.0 if len(calls) == 3 else 1e9})

    monkeypatch.setattr(_core, "grow_forest", third_is_late)
    monkeypatch.setattr(GrowthMonitor, "remaining", lambda self: 0.0 if len(calls) == 3 else 5.0)
    monkeypatch.setattr(GrowthMonitor, "goes_on", lambda self: len(calls) < 3)
    clf = make(alpha=0, time_limit=600, sampling="drawn").fit(X, Y)
    assert calls == pytest.approx([5.0] * 3, abs=1.0)
    whole = make(alpha=0, max_trees=2, sampling="drawn").fit(X, Y)
    assert [tree.to_json() for tree in clf.trees_] == [tree.to_json() for tree in whole.trees_]


def test_a_time_limit_counts_from_the_call_and_takes_no_more_cases_than_fit_into_it(monkeypatch):
    sizes, starts = [], []
    begin = Deadline.__init__

    def noting(self, limit, start=None):
        starts.append(start)
        begin(self, limit, start)

    monkeypatch.setattr(Deadline, "__init__", noting)
    monkeypatch.setattr(training, "CELLS_PER_SECOND", 4)
    monkeypatch.setattr(training, "FEWEST", 10)
    monkeypatch.setattr(growing, "ForestTask", lambda *parts: sizes.append(len(parts[1])) or task(*parts))
    task = ForestTask
    before = time.monotonic()
    for limit in (100.0, 1e-9, None):
        make(alpha=0, max_trees=1, time_limit=limit).fit(X, Y)
    assert sizes == [70, 7, 140]  # of 100, 10 and 200 cases; the others validate
    assert starts[0] is not None
    assert starts[0] >= before


@pytest.mark.parametrize(("trees", "keeps"), [("", True), ("ab", False)])
def test_ctrl_c_is_passed_on_where_nothing_is_to_be_kept(trees, keeps):
    monitor = GrowthMonitor(5, Deadline(None), keeps=keeps)
    assert list(monitor.over(trees)) == list(trees)
    with pytest.raises(KeyboardInterrupt):
        monitor.interrupted()

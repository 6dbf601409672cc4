"""Forests without a budget: of least total cost."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import worthwhile as ww
from interrupting import fit_interrupted
from worthwhile.displays import BudgetDisplay
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.forest import total_cost
from worthwhile.learners.forest.voting import BudgetRecord

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.7 * X[:, 2] + 0.5 * RNG.normal(size=400) > 0).astype(int)
FRESH = RNG.normal(size=(400, 6)).round(2)
TRUTH = (FRESH[:, 0] + FRESH[:, 1] + 0.7 * FRESH[:, 2] + 0.5 * RNG.normal(size=400) > 0).astype(int)
PRICES = ww.Costs(tests={"x0": 2, "x1": 3, "x2": 4, "x3": 1, "x4": 6, "x5": 9})


def make(ratio=5.0, **parameters):
    known = {"costs": PRICES.with_errors(ratio * PRICES.total_price()), "random_state": 0, "max_trees": 30}
    return ww.BudgetForestClassifier(**(known | parameters))


def cost(clf):
    return float(clf.total_costs(FRESH, TRUTH).mean())


def test_it_is_near_no_test_where_errors_are_cheap_and_near_a_plain_forest_where_they_are_expensive():
    cheap = make(0.02).fit(X, Y)
    assert cheap.empty_
    assert cheap.tests_ == []
    assert cheap.test_costs(FRESH).max() == 0
    assert cheap.expected_cost_ == pytest.approx(0.5 * min(Y.mean(), 1 - Y.mean()))
    expensive = make(50.0).fit(X, Y)
    plain = RandomForestClassifier(100, random_state=0).fit(X, Y)
    error = float(expensive.costs.errors)
    assert cost(expensive) <= 1.05 * (PRICES.total_price() + error * (plain.predict(FRESH) != TRUTH).mean())
    assert {"x0", "x1", "x2"} <= set(expensive.tests_)


def test_tests_that_tell_nothing_are_not_bought():
    clf = make(5.0).fit(X, Y)
    assert set(clf.tests_) <= {"x0", "x1", "x2", "x3"}
    assert cost(clf) < cost(make(5.0, variant="paper").fit(X, Y))
    assert cost(clf) < 0.9 * cost(make(5.0, variant="paper", adaptive=True, tests="chosen").fit(X, Y))


def test_trees_are_grown_from_all_cases_and_the_record_is_of_cases_left_out():
    clf = make(50.0).fit(X, Y)
    assert clf.sampling_ in ("drawn", "weighted")
    assert len(clf.trees_) == 30
    assert {round(tree.nodes.weights[0].sum()) for tree in clf.trees_} == {len(X)}
    assert 0.05 < clf.record_.error < 0.2  # the trees themselves know all cases by heart
    assert clf.record_.error < clf.forests_[0].curve[1].error
    low, high = clf.expected_cost_interval_
    assert low < cost(clf) < high
    assert clf.expected_cost_ >= clf.record_.price + clf.record_.error_cost  # the record took part in the choice
    given = make(50.0, validation=(FRESH, TRUTH)).fit(X, Y)
    assert given.record_.error == pytest.approx((given.predict(FRESH) != TRUTH).mean())
    assert given.expected_cost_ == pytest.approx(cost(given))


def test_the_cases_that_measure_the_cost_do_not_choose_the_forest():
    def candidate(*costs):
        curve = [[None, BudgetRecord(0.0, 1, 0.0, 0.0, cost)] for cost in costs]
        folds = [SimpleNamespace(trees=[None], curve=own, weight=lambda: 1.0) for own in curve]
        return total_cost.ForestCandidate(total_cost.GROWTHS[0], (0,), folds)

    lucky, steady = candidate(1.0, 6.0, 6.0), candidate(5.0, 5.0, 5.0)
    race = total_cost.ForestRace([None] * 3, *[None] * 4, None, 1, 1, compared=[lucky, steady])
    assert [race.chosen_without(fold, lucky) for fold in range(3)] == [steady, lucky, lucky]
    assert race.chosen_without(0, candidate(1.0, 1.0, 1.0)) not in (lucky, steady)  # it was not compared


def test_probabilities_are_calibrated_and_decide():
    costs = PRICES.with_errors({0: {0: 0, 1: 100}, 1: {0: 2000, 1: 0}})
    clf = make(costs=costs).fit(X, Y)
    proba = clf.predict_proba(FRESH)
    expected = np.stack([2000 * proba[:, 1], 100 * proba[:, 0]], axis=1)
    np.testing.assert_array_equal(clf.predict(FRESH), expected.argmin(axis=1))
    assert (clf.predict(FRESH) == 1).mean() > 0.6
    noisy = make(100.0).fit(X, np.where(RNG.random(400) < 0.25, 1 - Y, Y))
    truth = np.where(RNG.random(400) < 0.25, 1 - TRUTH, TRUTH)
    loss = -np.log(noisy.predict_proba(FRESH)[np.arange(400), truth]).mean()
    assert noisy._smoothing.temperature != 1
    noisy._smoothing = noisy._smoothing._replace(temperature=1.0)
    assert loss < -np.log(noisy.predict_proba(FRESH)[np.arange(400), truth]).mean()


def test_files_keep_it(tmp_path):
    clf = make(50.0).fit(X, Y)
    clf.save(tmp_path / "forest.json")
    other = ww.load(tmp_path / "forest.json")
    np.testing.assert_array_equal(other.predict_proba(FRESH), clf.predict_proba(FRESH))
    assert other.tests_ == clf.tests_
    assert other.expected_cost_ == clf.expected_cost_
    for forest in (clf, other):
        with pytest.raises(ValueError, match="grown for the least total cost; fit with a budget or variant='paper'"):
            forest.with_budget(3)
    point = BudgetDisplay.from_estimator(clf, FRESH, TRUTH).curves["BudgetForest"]
    assert point.prices.tolist() == [pytest.approx(clf.test_costs(FRESH).mean())]


def test_threads_and_the_order_of_rows_change_nothing():
    clf, order = make().fit(X, Y), np.random.default_rng(1).permutation(len(X))
    for other in (make(n_jobs=2).fit(X, Y), make().fit(X[order], Y[order])):
        np.testing.assert_array_equal(other.predict_proba(FRESH), clf.predict_proba(FRESH))
        assert other.record_ == clf.record_


def test_a_cap_holds_and_free_tests_are_used():
    assert make(50.0, cap=5).fit(X, Y).test_costs(FRESH).max() <= 5
    free = make(costs=ww.Costs(tests={"x0": 0, **{f"x{j}": 1e6 for j in range(1, 6)}}, errors=10)).fit(X, Y)
    assert free.tests_ == ["x0"]
    assert cost(free) < 10 * 0.42  # the most frequent class: 0.47


def test_a_test_above_the_cap_may_stand_before_others():
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.tile([0, 1], 100)
    X[:, 2] += 2 * y
    costs = ww.Costs(tests={"x0": 50, "x1": 1, "x2": 2}, errors=40)
    clf = ww.BudgetForestClassifier(costs=costs, cap=5.0, max_trees=5, random_state=0).fit(X, y)
    assert 0 < clf.test_costs(X).max() <= 5.0


def test_nominal_tests_are_divided():
    values = np.array(list("abcdefgh"))[RNG.integers(8, size=300)]
    y = np.isin(values, list("aceg")).astype(int)
    table = np.column_stack([values.astype(object), RNG.integers(3, size=300)])
    clf = ww.BudgetForestClassifier(random_state=0, max_trees=5).fit(table, y)
    assert max(tree.nodes.n_children.max() for tree in clf.trees_) == 2
    many = ww.BudgetForestClassifier(random_state=0, max_trees=5, nominal_splits="multiway").fit(table, y)
    assert max(tree.nodes.n_children.max() for tree in many.trees_) == 8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 3}, "alpha needs a budget or variant='paper', got alpha=3"),
        ({"alpha": [0]}, "alpha needs a budget"),
        ({"alpha": np.zeros(2)}, "alpha needs a budget"),
        ({"adaptive": True}, "adaptive needs a budget or variant='paper', got adaptive=True"),
        ({"tests": "chosen"}, "tests needs a budget"),
        ({"variant": "refined", "budget": 3.0}, "variant='refined' has no budget"),
    ],
)
def test_what_needs_a_budget_is_refused_without(parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(X, Y)


def test_a_learner_that_was_sent_to_another_process_learns_the_same():
    """Its parameters are equal to the defaults, but other objects."""
    sent = pickle.loads(pickle.dumps(make()))
    assert sent.fit(X, Y).tests_ == make(alpha=0, power=2).fit(X, Y).tests_


def test_time_callback_and_ctrl_c_end_the_race():
    assert make(time_limit=60).fit(X, Y).stopped_ == "done"
    short = make(50.0, time_limit=1e-9).fit(X, Y)
    assert short.stopped_ == "time limit"
    assert [tree.n_nodes for tree in short.trees_] == [1]
    told = []

    def stop(now):
        told.append(now)
        return len(told) == 4

    stopped = make(50.0, callback=stop).fit(X, Y)
    assert stopped.stopped_ == "callback"
    assert len(told) == 4
    assert len(stopped.trees_) == total_cost.PILOTS
    assert stopped.expected_cost_ < float(stopped.costs.errors) * 0.4

    def interrupt(now):
        if now.done > 70:
            raise KeyboardInterrupt

    interrupted = fit_interrupted(make(50.0, callback=interrupt), X, Y)
    assert interrupted.stopped_ == "interrupted"
    assert len(interrupted.trees_) == total_cost.PILOTS
    assert cost(interrupted) < float(interrupted.costs.errors) * 0.4


def test_a_race_that_is_cut_short_gives_no_forest_that_costs_more_than_no_test(monkeypatch):
    """The first trees ask for all tests, which cost more than all errors."""
    clf = make(0.3, callback=lambda now: True).fit(X, Y)
    assert clf.stopped_ == "callback"
    assert clf.empty_
    assert cost(clf) <= clf.costs.errors * 0.6
    monkeypatch.setattr(total_cost, "RACE_END", 1e-9)
    with pytest.warns(UserWarning, match="time_limit=60 ended the search before a forest was found that costs less"):
        late = make(0.3, time_limit=60).fit(X, Y)
    assert late.empty_
    assert late.stopped_ == "time limit"


@pytest.mark.parametrize(("where", "name"), [(total_cost.Votes, "add"), (total_cost.ValidationSet, "record_now")])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", [16, 17, 100])  # of records, the first 15 are of forests without trees
def test_ctrl_c_may_come_while_a_tree_is_counted(monkeypatch, where, name, after, call):
    original, calls = getattr(where, name), []

    def interrupted(self, *args):
        calls.append(name)
        if len(calls) == call and not after:
            raise KeyboardInterrupt
        found = original(self, *args)
        if len(calls) == call:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(where, name, interrupted)
    clf = fit_interrupted(make(50.0), X, Y)
    assert clf.trees_
    assert len(clf.forests_[0].curve) == len(clf.trees_) + 1
    assert clf.expected_cost_ >= clf.record_.price + clf.record_.error_cost  # the record took part in the choice


def test_of_many_cases_one_part_is_held_out(monkeypatch):
    module = "worthwhile.learners.forest.classifier."
    monkeypatch.setattr(module + "LARGE", 300)
    monkeypatch.setattr(module + "LARGE_PART", 100)
    clf = make(50.0).fit(X, Y)
    assert {round(tree.nodes.weights[0].sum()) for tree in clf.trees_} == {300}
    assert 0.05 < clf.record_.error < 0.25


@pytest.mark.parametrize(
    ("affordable", "folds"), [(1e9, [(266, 134), (267, 133), (267, 133)]), (60.0, [(90, 90)]), (1.0, [(50, 50)])]
)
def test_a_time_limit_sets_the_number_of_folds_and_cases(monkeypatch, affordable, folds):
    """A million rows and a limit of a second: a race with all cases would end before it has found anything."""
    module = "worthwhile.learners.forest.classifier."
    found = []

    def recorded(task, cases):
        found.append((len(task.value.classes), len(cases.truth)))
        return total_cost.Fold(task, cases)

    monkeypatch.setattr(module + "race_cases", lambda *known: affordable)
    monkeypatch.setattr(module + "FEWEST", 50)
    monkeypatch.setattr(module + "Fold", recorded)
    assert make(50.0, time_limit=60.0).fit(X, Y).trees_
    assert sorted(found) == folds


def test_less_time_more_folds_and_more_tests_mean_fewer_cases():
    usual = total_cost.race_cases(Deadline(60.0), 5, 20, 1)
    assert 0 < total_cost.race_cases(Deadline(6.0), 5, 20, 1) < usual
    assert total_cost.race_cases(Deadline(60.0), 1, 20, 1) > usual
    assert total_cost.race_cases(Deadline(60.0), 5, 200, 1) < usual
    assert total_cost.race_cases(Deadline(60.0), 5, 20, 2) > usual
    assert total_cost.race_cases(Deadline(None), 5, 20, 1) == np.inf


@pytest.mark.usefixtures("repeats")
def test_few_cases_and_weights():
    for n in (1, 2, 5):
        clf = make().fit(X[:n], Y[:n])
        assert set(clf.predict(FRESH)) <= set(Y[:n])
    weights = np.random.default_rng(3).integers(1, 4, size=len(X))
    twice = make().fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    np.testing.assert_array_equal(
        make().fit(X, Y, sample_weight=weights).predict_proba(FRESH), twice.predict_proba(FRESH)
    )


def test_prices_by_case_and_surcharges_count():
    by_case = np.column_stack([np.where(np.arange(400) < 200, 1.0, 3.0)] * 6)
    clf = make(50.0).fit(X, Y, case_prices=by_case)
    assert clf.record_.price == pytest.approx(2.0 * len(clf.tests_), rel=0.02)
    tests = {"x0": ww.Test(2, surcharges=[ww.Surcharge(500, truth=1)]), "x1": 3, "x2": 4}
    dear = make(costs=ww.Costs(tests=tests, errors=100)).fit(X, Y)
    assert "x0" not in dear.tests_
    assert "x1" in dear.tests_

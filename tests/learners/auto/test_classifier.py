"""AutoClassifier: what is tried, what is chosen, and that everything else is the chosen learner's."""

import json
import warnings

import numpy as np
import pytest

import worthwhile as ww
from all_learners import COSTS
from worthwhile.learners.auto import classifier as auto
from worthwhile.learners.auto.classifier import Candidate, choice_text
from worthwhile.tree.json_format import ExpectedCost

QUICK = {"learners": ["dtmc", "eg2"], "random_state": 0}


def noisy(n=200, seed=0, prices=(1.0, 1.0, 1.0)):
    """Two classes that the first column tells with noise; the others tell nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, "sick", "well")
    return X, y, {f"x{j}": price for j, price in enumerate(prices)}


def chosen(clf):
    [name] = [one.name for one in clf.candidates_ if one.chosen]
    return name


def test_cheap_errors_need_no_test_and_expensive_ones_a_tree():
    X, y, prices = noisy()
    cheap = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=1.5), **QUICK).fit(X, y)
    assert chosen(cheap) == "no test"
    assert cheap.tree_.n_nodes == 1
    assert (cheap.test_costs(X) == 0).all()
    expensive = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=100), **QUICK).fit(X, y)
    assert chosen(expensive) in ("DTMC", "EG2")
    assert "x0" in expensive.tree_.tests_used()


def test_free_tests_alone_are_tried_where_there_are_free_and_priced_ones():
    X, y, _ = noisy()
    some = ww.Costs(tests={"x0": 0.0, "x1": 50.0, "x2": 50.0}, errors=20)
    clf = ww.AutoClassifier(costs=some, **QUICK).fit(X, y)
    assert chosen(clf) == "free tests, DTMC"
    assert (clf.test_costs(X) == 0).all()
    assert clf.tree_.tests_used() == ["x0"]
    none = ww.AutoClassifier(costs=ww.Costs(tests={"x0": 1.0, "x1": 1.0, "x2": 1.0}, errors=20), **QUICK).fit(X, y)
    assert not any(one.name.startswith("free") for one in none.candidates_)


def test_a_cascade_may_be_chosen_but_not_where_the_model_must_be_readable():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 8))
    y = (X.sum(axis=1) > 0).astype(int)
    costs = ww.Costs(tests={f"x{j}": 1.0 for j in range(8)}, errors=1000)
    known = {"costs": costs, "learners": ["dtmc", "cascade"], "random_state": 0}
    clf = ww.AutoClassifier(**known).fit(X, y)
    assert chosen(clf) == "cascade"
    assert clf.stages_[0] == ()
    readable = ww.AutoClassifier(readable=True, max_leaves=4, **known).fit(X, y)
    assert chosen(readable) == "DTMC"
    assert readable.tree_.n_leaves <= 4


def test_everything_is_asked_of_the_chosen_learner(tmp_path):
    X, y = np.random.default_rng(3).normal(size=(120, 4)), np.tile([0, 1], 60)
    X[:, 2] += 2 * y
    clf = ww.AutoClassifier(costs=COSTS, **QUICK).fit(X, y)
    best = clf.best_estimator_
    np.testing.assert_array_equal(clf.predict(X), best.predict(X))
    np.testing.assert_array_equal(clf.predict_proba(X), best.predict_proba(X))
    np.testing.assert_array_equal(clf.total_costs(X, y), best.total_costs(X, y))
    case = {"x2": 1.0}
    assert clf.next_test(case) == best.next_test(case)
    assert str(clf.explain(case)) == str(best.explain(case))
    assert clf.feature_importances_ is not None
    assert clf.rules() == best.rules()
    with pytest.raises(AttributeError, match="no attribute 'stages_'"):
        _ = clf.stages_
    clf.save(tmp_path / "model.json")
    loaded = ww.load(tmp_path / "model.json")
    assert type(loaded) is ww.AutoClassifier
    assert loaded.candidates_ == clf.candidates_
    assert loaded.expected_cost_ == clf.expected_cost_
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))
    assert loaded.explain_choice() == clf.explain_choice()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model["candidates"][0].update(interval=[1.0]), "'interval' of a candidate must be two numbers"),
        (lambda model: model["candidates"].append("DTMC"), "a candidate"),
        (lambda model: model.update(best=json.loads(json.dumps(model))), "another learner than AutoClassifier"),
        (lambda model: model["best"].update(learner="Nothing"), "unknown learner 'Nothing'"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, change, message):
    X, y, prices = noisy(60)
    path = tmp_path / "model.json"
    ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=20), **QUICK).fit(X, y).save(path)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        ww.load(path)


def test_the_expected_cost_is_what_new_cases_cost():
    ratios = []
    for seed in range(8):
        X, y, prices = noisy(150, seed)
        clf = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=30), **QUICK).fit(X, y)
        X_new, y_new, _ = noisy(2_000, 100 + seed)
        ratios.append(clf.expected_cost_ / clf.total_costs(X_new, y_new).mean())
        low, high = clf.expected_cost_interval_
        assert low <= clf.expected_cost_ <= high
    assert 0.85 < np.mean(ratios) < 1.2


def test_the_expected_cost_is_that_of_a_model_from_all_cases():
    """The more cases, the closer a tree comes to a curve: those of the race, from 3,000 cases, cost more."""
    X = np.random.default_rng(0).random((14_000, 2))
    y = np.where(X[:, 1] > 0.5 + 0.4 * np.sin(20 * X[:, 0]), "above", "below")
    costs = ww.Costs(tests={"x0": 0.01, "x1": 0.01}, errors=100)
    clf = ww.AutoClassifier(costs=costs, learners=["eg2"], random_state=0).fit(X[:10_000], y[:10_000])
    [raced] = [one.expected_cost for one in clf.candidates_ if one.chosen]
    actual = clf.total_costs(X[10_000:], y[10_000:]).mean()
    assert raced > 1.25 * actual
    assert 0.8 < clf.expected_cost_ / actual < 1.25


def test_another_model_is_kept_if_the_last_fit_turns_out_badly(monkeypatch):
    real, made = auto._Contest._fitted_to_all, []

    def unlucky(self, entrant):
        model = real(self, entrant)
        if not made:
            model.__dict__["_expected_cost"] = lambda: ExpectedCost(1e4, 1e4, 1e4)
        made.append(entrant.name)
        return model

    monkeypatch.setattr(auto._Contest, "_fitted_to_all", unlucky)
    X, y, prices = noisy(150)
    clf = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=30), **QUICK).fit(X, y)
    assert len(made) == 2
    found = {one.name: one for one in clf.candidates_}
    assert (found[made[0]].expected_cost, found[made[0]].chosen) == (1e4, False)
    assert found[made[1]].chosen
    assert found[made[1]].expected_cost == clf.expected_cost_ == clf.best_estimator_.expected_cost_
    assert clf.candidates_[-1].name == made[0]


def test_the_choice_does_not_depend_on_the_order_of_the_rows():
    X, y, prices = noisy(120)
    order = np.random.default_rng(0).permutation(len(y))
    costs = ww.Costs(tests=prices, errors=30)
    one, other = (ww.AutoClassifier(costs=costs, **QUICK).fit(X[rows], y[rows]) for rows in (slice(None), order))
    assert [c[:3] for c in one.candidates_] == [c[:3] for c in other.candidates_]
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_a_callback_can_end_the_race_and_the_best_so_far_learns_from_all_cases():
    X, y, prices = noisy()
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) == 4

    clf = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=100), callback=stop, **QUICK).fit(X, y)
    assert clf.stopped_ == "callback"
    assert len(seen) == 4
    assert chosen(clf) != "no test"
    assert clf.tree_.nodes.weights[0].sum() == len(y)


def test_ctrl_c_keeps_the_best_that_was_finished():
    X, y, prices = noisy()
    seen = []

    def interrupt(progress):
        seen.append(progress)
        if len(seen) == 5:
            raise KeyboardInterrupt

    clf = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=100), callback=interrupt, **QUICK)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert clf.stopped_ == "interrupted"
    assert chosen(clf) != "no test"
    assert clf.total_costs(X, y).mean() < 30


def test_a_time_limit_ends_the_race_with_a_model():
    X, y, prices = noisy(2_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a last fit may have too little time for look-ahead
        clf = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=100), time_limit=0.05, random_state=0).fit(X, y)
    assert clf.stopped_ in ("time limit", "done")
    assert clf.predict(X).shape == (2_000,)


def test_no_time_at_all_is_enough_for_greedy_trees():
    X, y, prices = noisy(300)
    clf = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=100), time_limit=1e-6, random_state=0).fit(X, y)
    assert chosen(clf) in ("DTMC", "EG2")


def test_the_last_fit_of_a_greedy_tree_keeps_to_the_time_limit():
    X, y, prices = noisy(8_000)
    known = {"costs": ww.Costs(tests=prices, errors=100), "learners": ["dtmc"], "random_state": 0}
    hurried = ww.AutoClassifier(time_limit=1e-6, **known).fit(X, y)
    assert hurried.tree_.nodes.weights[0].sum() <= 3_000  # as many as in a round
    assert ww.AutoClassifier(**known).fit(X, y).tree_.nodes.weights[0].sum() == 8_000
    assert ww.AutoClassifier(time_limit=1e4, **known).fit(X, y).tree_.nodes.weights[0].sum() == 8_000


def test_one_class_needs_no_race_and_says_so():
    clf = ww.AutoClassifier(random_state=0).fit([[1.0], [2.0]] * 10, ["well"] * 20)
    assert chosen(clf) == "no test"
    assert clf.explain_choice().endswith(
        "no test: nothing was compared: too few cases, a single class, or stopped before that."
    )


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_a_handful_of_cases_is_enough(n):
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    clf = ww.AutoClassifier(costs=ww.Costs(tests={"x0": 1.0}, errors=10), **QUICK).fit(X, y)
    assert len(clf.predict(X)) == n
    assert chosen(clf)


def test_case_prices_and_case_errors_count():
    X, y, _ = noisy()
    costs = ww.Costs(tests={"x0": 1.0, "x1": 1.0, "x2": 1.0}, errors=50)
    known = {"costs": costs, **QUICK}
    expensive = np.full(X.shape, 500.0)
    assert chosen(ww.AutoClassifier(**known).fit(X, y, case_prices=expensive)) == "no test"
    cheap = np.full((len(y), 2), 0.5)
    assert chosen(ww.AutoClassifier(**known).fit(X, y, case_errors=cheap)) == "no test"
    assert chosen(ww.AutoClassifier(**known).fit(X, y)) != "no test"


def test_an_unknown_learner_is_refused():
    with pytest.raises(ValueError, match=r"AutoClassifier: invalid learners=\['magic'\]; it must be a list of 'dtmc'"):
        ww.AutoClassifier(learners=["magic"]).fit([[0], [1]], [0, 1])


def test_no_test_is_measured_in_all_rounds_and_its_cost_is_that_of_its_answer():
    X, y, prices = noisy(400)
    clf = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=100), **QUICK).fit(X, y)
    by_name = {one.name: one for one in clf.candidates_}
    assert by_name["no test"].rounds == by_name[chosen(clf)].rounds
    assert by_name["no test"].expected_cost == pytest.approx(100 * min((y == "sick").mean(), (y == "well").mean()))


def test_no_test_is_kept_if_the_model_of_all_cases_expects_to_cost_more(monkeypatch):
    X, y, prices = noisy()
    costs = ww.Costs(tests=prices, errors=100)
    fitted = auto._Contest._fitted_to_all

    def unlucky(contest, entrant):
        model = fitted(contest, entrant)
        contest.expected = ExpectedCost(80.0, 70.0, 90.0)
        return model

    monkeypatch.setattr(auto._Contest, "_fitted_to_all", unlucky)
    monkeypatch.setattr(auto._Contest, "_reconsider", lambda contest: None)
    clf = ww.AutoClassifier(costs=costs, **QUICK).fit(X, y)
    assert (chosen(clf), clf.tree_.n_nodes) == ("no test", 1)
    least = 100 * min((y == "sick").mean(), (y == "well").mean())
    assert clf.expected_cost_ == pytest.approx(least)
    by_name = {one.name: one.expected_cost for one in clf.candidates_}
    assert by_name["no test"] == pytest.approx(least)
    assert 80.0 in by_name.values()


@pytest.mark.parametrize(("n", "n_tests", "takes_part"), [(500, 10, True), (30_000, 20, False)])
def test_act_takes_part_unless_its_last_fit_takes_minutes(n, n_tests, takes_part, monkeypatch):
    found = []
    admitted = auto._Contest._admitted

    def noted(contest):
        found.extend(one.name for one in admitted(contest))
        raise KeyboardInterrupt

    monkeypatch.setattr(auto._Contest, "_admitted", noted)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, n_tests)), rng.integers(0, 2, n)
    costs = ww.Costs(tests={f"x{j}": 1.0 for j in range(n_tests)}, errors=5)
    with pytest.raises(KeyboardInterrupt):
        ww.AutoClassifier(costs=costs, readable=True).fit(X, y)
    assert ("ACT" in found) is takes_part


def test_if_learners_are_slow_there_are_fewer_rounds_and_not_fewer_learners(monkeypatch):
    X, y, prices = noisy(400)
    monkeypatch.setattr(auto, "RACE_SECONDS", 6.0)  # guesses of all but ACT and ICET add up to 4 s, in each of 5 rounds
    clf = ww.AutoClassifier(costs=ww.Costs(tests=prices, errors=100), random_state=0).fit(X, y)
    assert max(one.rounds for one in clf.candidates_) == 2
    assert {"cascade", "forest", "exact tree", "DTMC"} <= {one.name for one in clf.candidates_}


def test_the_choice_is_explained():
    tried = [Candidate("EG2", 10.0, (8.0, 12.0), 0.5, 5, False), Candidate("no test", 10.1, (8.0, 12.2), 0.1, 5, True)]
    *_, last = choice_text(tried).splitlines()
    assert last == "no test: simpler than EG2, and the difference of 0.10 per case may be chance."
    *_, last = choice_text([tried[0]._replace(chosen=True)]).splitlines()
    assert last == "EG2: the lowest cost on cases left out in training."

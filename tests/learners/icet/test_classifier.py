"""ICET: the search as a whole, its two variants, how it stops, and problems planted to trap the greedy learners."""

import json
import math
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from all_learners import COSTS, VARIANTS, both
from interrupting import fit_interrupted, run_interrupted
from worthwhile.learners.act.tree_builder import PAPER, GrowthChoice
from worthwhile.learners.icet import biases as biases_module
from worthwhile.learners.icet import classifier as icet_classifier
from worthwhile.learners.icet.trials import Folds, Halves
from worthwhile.learners.progress import Progress
from worthwhile.learners.soft_labels import SOFT_LABEL_WEIGHTS, SoftLabels, has_values

pytestmark = pytest.mark.usefixtures("remembered_ensembles")
RNG, RNG_OF_RULES = np.random.default_rng(11), np.random.default_rng(5)
X = RNG.normal(size=(150, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=150) > 0).astype(int)


def icet(variant="refined", **settings):
    """A search that is short."""
    defaults = {"costs": COSTS, "trials": 90, "population": 15, "random_state": 0}
    return ww.ICETClassifier(variant=variant, **(defaults | settings))


@pytest.fixture
def always_soft(monkeypatch):
    """Soft labels are chosen wherever they can be made."""

    def choose(training, samples, given, n_threads, deadline, rng, greedy):
        soft = has_values(training)
        return GrowthChoice(SoftLabels.by_ensemble(training, 0, n_threads) if soft else SoftLabels.own(training), PAPER)

    monkeypatch.setattr(icet_classifier, "choose_growth", choose)


def never_soft(monkeypatch):
    """No soft labels are made."""
    monkeypatch.setattr(
        icet_classifier, "choose_growth", lambda training, *_, greedy: GrowthChoice(SoftLabels.own(training), PAPER)
    )


@pytest.fixture
def recorded(monkeypatch):
    """All trials on folds: (the folds, the individuals, their costs)."""
    calls, costs_on = [], Folds.costs

    def noting(self, biases, seconds):
        costs = costs_on(self, biases, seconds)
        calls.append((self, biases, costs))
        return costs

    monkeypatch.setattr(Folds, "costs", noting)
    return calls


# -- the same seed, the same tree -------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("search", ["real", "binary"])
def test_the_same_seed_gives_the_same_tree(variant, search):
    one = icet(variant, search=search).fit(X, Y)
    for n_jobs in (1, 2):
        other = icet(variant, search=search, n_jobs=n_jobs).fit(X, Y)
        assert other.tree_.to_json() == one.tree_.to_json()
        assert (other.bias_, other.fitness_) == (one.bias_, one.fitness_)
        assert [step[1:] for step in other.history_] == [step[1:] for step in one.history_]


def test_the_same_seed_gives_the_same_tree_in_other_processes():
    learners = [icet(variant, n_jobs=2) for variant in VARIANTS]
    jobs = (joblib.delayed(clf.fit)(X, Y) for clf in learners)
    for clf, there in zip(learners, joblib.Parallel(n_jobs=2, backend="loky")(jobs), strict=True):
        assert there.tree_.to_json() == clf.fit(X, Y).tree_.to_json()
        assert there.bias_ == clf.bias_


@both
def test_random_states_of_all_kinds(variant):
    for make in (lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)):
        one, other = (icet(variant, random_state=make()).fit(X, Y) for _ in range(2))
        assert one.tree_.to_json() == other.tree_.to_json()
    generator = np.random.default_rng(7)  # goes on from fit to fit
    seen = {icet(variant, random_state=generator).fit(X, Y).fitness_ for _ in range(2)}
    assert len(seen) > 1
    icet(variant, random_state=None).fit(X, Y)  # drawn by chance: all that can be said is that it works


@both
def test_fitting_again_is_a_new_search(variant):
    clf = icet(variant)
    assert clf.fit(X, Y).tree_.to_json() == clf.fit(X, Y).tree_.to_json()
    n = len(clf.history_)
    assert len(clf.fit(X, Y).history_) == n


# -- what it tells ----------------------------------------------------------------------------------------------------


@both
def test_the_callback_gets_every_generation(variant):
    told = []
    clf = icet(variant, callback=told.append).fit(X, Y)
    assert told == clf.history_
    assert len(told) > 2
    assert [type(step) for step in told] == [Progress] * len(told)
    seconds, trials, total, best, mean, _ = (np.array(column) for column in zip(*told, strict=True))
    assert set(total) == {clf.trials}
    assert (np.diff(trials) >= 0).all()
    assert (np.diff(seconds) >= 0).all()
    search = slice(None) if variant == "paper" else slice(-1)  # the last one of "refined" is the final, on other folds
    assert (np.diff(best[search]) <= 0).all()
    assert (mean[search] >= best[search] - 1e-9).all()
    assert best[-1] == clf.fitness_


@both
def test_attributes_of_the_winner(variant):
    costs = ww.Costs(tests=dict.fromkeys("abcd", 3.0), errors=100)
    clf = icet(variant, columns=["a", "b", "c", "d"], costs=costs).fit(X, Y)
    assert list(clf.bias_) == ["a", "b", "c", "d"]
    assert 0 <= clf.omega_ <= 1
    assert 0.01 <= clf.confidence_ <= 1
    assert clf.soft_label_weight_ in SOFT_LABEL_WEIGHTS
    assert clf.max_depth_ is None or clf.tree_.depth <= clf.max_depth_
    if variant == "paper":
        assert (clf.max_depth_, clf.soft_label_weight_) == (None, 0.0)
    frame = pd.DataFrame(X, columns=["p", "q", "r", "s"])
    assert list(icet(variant, costs=None).fit(frame, Y).bias_) == ["p", "q", "r", "s"]


@pytest.mark.parametrize("search", ["real", "binary"])
def test_the_paper_counts_trials_exactly(search):
    clf = icet("paper", search=search, trials=130, population=50).fit(X, Y)
    assert [step.done for step in clf.history_] == [50, 100, 130]
    assert clf.stopped_ == "trials"
    assert [step.done for step in icet("paper", trials=3, population=50).fit(X, Y).history_] == [3]
    assert [step.done for step in icet("paper", trials=100, population=50).fit(X, Y).history_] == [50, 100]


@both
def test_removed_tests_are_not_used(variant, monkeypatch):
    monkeypatch.setattr(icet_classifier, "MARGIN", 0.0)  # otherwise EG2 with all tests wins mostly
    removed, used = set(), set()
    for seed in range(8):
        clf = icet(variant, seeded=False, trials=20, population=10, random_state=seed).fit(X, Y)
        gone = {name for name, bias in clf.bias_.items() if math.isinf(bias)}
        assert not gone & set(clf.tree_.tests_used())
        removed |= gone
        used |= set(clf.tree_.tests_used())
    assert removed
    assert used


@pytest.mark.parametrize("trials", [1, 7, 40, 90])
def test_the_refined_search_tries_no_more_than_it_may_and_nothing_twice(trials, recorded):
    clf = icet(trials=trials).fit(X, Y)
    search = recorded[0][0]
    tried = [
        (*prices, *other)
        for folds, biases, _ in recorded
        if folds is search
        for prices, *other in zip(biases.prices, biases.omega, biases.confidence, strict=True)
    ]
    assert len(tried) == clf.history_[-1].done <= trials
    assert clf.stopped_ == ("trials" if len(tried) == trials else "converged")
    assert recorded[-1][0] is not search  # the final is on folds of its own


def test_the_refined_search_ends_when_nothing_better_comes():
    clf = icet(trials=100_000).fit(X, Y)
    assert clf.stopped_ == "converged"
    assert clf.history_[-1].done < 2_000


@both
@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize("search", ["real", "binary"])
def test_every_combination_learns_something(variant, seeded, search):
    clf = icet(variant, seeded=seeded, search=search, trials=200).fit(X, Y)
    no_test = min(90.0 * np.mean(Y == 1), 60.0 * np.mean(Y == 0))
    assert clf.total_costs(X, Y).mean() < no_test
    assert clf.tree_.n_leaves > 1


# -- how it stops -----------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("limit", [1e-9, 0.2])
def test_a_time_limit(variant, limit):
    # Bupa has 345 cases: the refined search would take seconds.
    bupa = ww.datasets.load("bupa", as_frame=False)
    clf = icet(variant, trials=10**9, population=50, time_limit=limit, columns=bupa.feature_names, costs=bupa.costs)
    clf.fit(bupa.X, bupa.y)
    assert clf.stopped_ == "time limit"
    assert clf.history_[-1].done < 10**9
    assert clf.predict(bupa.X).shape == (345,)
    assert math.isfinite(clf.fitness_) or clf.history_[-1].done == 0  # a final may follow a search without a trial
    if limit < 0.1:
        assert clf.history_[-1].done == 0
        assert math.isinf(clf.fitness_)
        assert math.isnan(clf.history_[-1].mean)


def test_without_a_single_trial_the_paper_is_eg2_and_the_refined_asks_nothing():
    paper, refined = (icet(variant, time_limit=1e-9).fit(X, Y) for variant in VARIANTS)
    eg2 = ww.EG2Classifier(costs=ww.Costs(tests=paper.bias_, errors=60.0), confidence=paper.confidence_).fit(X, Y)
    assert paper.tree_.nodes.test.tolist() == eg2.tree_.nodes.test.tolist()
    assert refined.tree_.n_leaves == 1


@both
def test_ctrl_c_after_some_generations_keeps_the_best(variant):
    def stop(step):
        if len(told) == 2:
            raise KeyboardInterrupt
        told.append(step)

    told = []
    clf = fit_interrupted(icet(variant, callback=stop), X, Y)
    assert clf.stopped_ == "interrupted"
    assert len(clf.history_) == 3
    assert clf.fitness_ == clf.history_[-1].cost
    assert clf.predict(X).shape == (150,)
    assert clf.set_params(callback=None).fit(X, Y).stopped_ != "interrupted"


@both
def test_ctrl_c_before_anything_is_found_is_passed_on(variant, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Halves, "costs", stop)
    monkeypatch.setattr(Folds, "costs", stop)
    with pytest.raises(KeyboardInterrupt):
        icet(variant).fit(X, Y)


def test_other_errors_of_the_callback_are_passed_on():
    with pytest.raises(ZeroDivisionError):
        icet("paper", callback=lambda step: 1 // 0).fit(X, Y)


LONG = """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=({n}, 10)), rng.integers(0, 2, {n})
    clf = ww.ICETClassifier(
        variant="paper", trials=10**9, population={population}, n_jobs={n_jobs}, random_state=0
    )
    interrupt_in("try_biases", call={call})
    try:
        clf.fit(X, y)
    except KeyboardInterrupt:
        if not hasattr(clf, "tree_"):
            raise
    print(clf.stopped_, len(clf.history_), clf.tree_.n_leaves > 0, clf.predict(X[:1]).shape)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_real_ctrl_c_ends_a_search_with_what_it_has(n_jobs):
    out, err = run_interrupted(LONG.format(n=10_000, population=10, n_jobs=n_jobs, call=3))
    assert (out, err) == ("interrupted 2 True (1,)\n", "")


@pytest.mark.parametrize(("n", "population"), [(200_000, 50), (1_000, 300_000)], ids=["large trees", "many trials"])
def test_a_real_ctrl_c_ends_a_long_call_of_the_core(n, population):
    # A generation takes minutes: the signal comes in the first one, before there is anything to keep.
    out, err = run_interrupted(LONG.format(n=n, population=population, n_jobs=1, call=1))
    assert "KeyboardInterrupt" in err
    assert out == ""


# -- data of all kinds ------------------------------------------------------------------------------------------------


@both
def test_one_class_one_case_constant_columns(variant):
    assert icet(variant, costs=None).fit(X, ["a"] * 150).predict(X[:2]).tolist() == ["a", "a"]
    assert icet(variant, costs=None).fit(X[:1], [5]).predict(X[:2]).tolist() == [5, 5]
    assert icet(variant, costs=None).fit(np.ones((9, 2)), [0, 1, 1] * 3).predict([[7, 7]]).tolist() == [1]
    assert icet(variant, costs=None).fit(X[:2], [0, 1]).predict(X[:2]).shape == (2,)


@both
def test_missing_values_strings_and_categories(variant):
    frame = pd.DataFrame(
        {
            "number": np.where(RNG.random(150) < 0.2, np.nan, X[:, 0]),
            "category": pd.Categorical(np.where(X[:, 1] > 0, "high", "low"), categories=["low", "high", "none"]),
            "text": pd.Series(np.where(X[:, 2] > 0, "p", "q"), dtype=object).where(RNG.random(150) > 0.2),
            "truth": X[:, 3] > 0,
            "unknown": np.full(150, np.nan),
        }
    )
    y = np.where(Y == 1, "sick", "well")
    costs = ww.Costs(tests=dict.fromkeys(frame.columns, 1.0), errors={"well": {"sick": 30}, "sick": {"well": 80}})
    clf = icet(variant, costs=costs).fit(frame, y)
    assert clf.classes_.tolist() == ["sick", "well"]
    assert set(clf.predict(frame)) <= {"sick", "well"}
    assert clf.total_costs(frame, y).mean() < min(30 * (y == "well").mean(), 80 * (y == "sick").mean())
    assert list(clf.bias_) == list(frame.columns)


@both
def test_numbers_of_any_size_and_columns_without_a_value(variant):
    # Scikit-learn's forest counts in 32 bits and wants at least one column.
    clf = icet(variant, trials=200)
    assert clf.fit(X * 1e300, Y).score(X * 1e300, Y) > 0.6
    nothing = pd.DataFrame({"nominal": pd.Series([None] * 150, dtype=object)})
    assert icet(variant, costs=None).fit(nothing, Y).tree_.n_leaves == 1


@both
def test_cases_of_weight_zero_do_not_matter(variant):
    weights = RNG.integers(0, 3, 150) / 2
    one = icet(variant).fit(X, Y, sample_weight=weights)
    other = icet(variant).fit(X[weights > 0], Y[weights > 0], sample_weight=weights[weights > 0])
    assert one.tree_.to_json() == other.tree_.to_json()
    assert one.fitness_ == other.fitness_


@both
def test_weights_of_one_are_no_weights_and_others_count(variant):
    plain = icet(variant).fit(X, Y)
    assert icet(variant).fit(X, Y, np.ones(150)).tree_.to_json() == plain.tree_.to_json()
    heavy = icet(variant).fit(X, Y, np.where(Y == 1, 1000.0, 1.0))
    assert (heavy.predict(X) == 1).mean() > (plain.predict(X) == 1).mean()


@both
def test_a_reject_answer(variant):
    errors = {0: {1: 100.0, "unknown": 1.0}, 1: {0: 100.0, "unknown": 1.0}}
    clf = icet(variant, costs=ww.Costs(tests={f"x{i}": 50.0 for i in range(4)}, errors=errors)).fit(X, Y)
    if variant == "refined":  # it answers what is cheapest; the paper's trees answer the majority
        assert set(clf.predict(X)) == {"unknown"}
        assert clf.total_costs(X, Y).mean() == 1.0
    else:
        assert set(clf.predict(X)) <= {0, 1}


@both
def test_without_costs_an_error_costs_one_and_tests_nothing(variant):
    clf = icet(variant, costs=None, trials=200).fit(X, Y)
    assert clf.test_costs(X).tolist() == [0.0] * 150
    assert clf.score(X, Y) > max(np.mean(Y), 1 - np.mean(Y))


def test_many_cases_are_searched_by_a_sample_and_grown_from_all(monkeypatch, recorded):
    monkeypatch.setattr(icet_classifier, "MAX_SEARCHED", 100)
    clf = icet(n_jobs=2).fit(X, Y)
    assert clf.tree_.nodes.weights[0].sum() == 150
    # Cases of two classes in part are two rows.
    assert {len(np.unique(folds._setup.value.rows.case)) for folds, _, _ in recorded} == {100}
    assert clf.tree_.to_json() == icet(n_jobs=1).fit(X, Y).tree_.to_json()
    weighted = icet().fit(X, Y, np.full(150, 2.0))
    assert weighted.tree_.nodes.weights[0].sum() == 300
    monkeypatch.setattr(icet_classifier, "MAX_SEARCHED", 150)
    # No test, by a mixture of labels: the ensemble was asked.
    assert icet(trials=1).fit(X, Y).soft_label_weight_ in SOFT_LABEL_WEIGHTS[1:]


def test_an_exact_rule_is_learned_from_the_labels_of_the_cases():
    bits = RNG_OF_RULES.integers(0, 2, (240, 6))
    rule = bits[:, 0] ^ (bits[:, 1] & bits[:, 2])
    costs = ww.Costs(tests={f"x{i}": 1.0 for i in range(6)}, errors=200)
    clf = ww.ICETClassifier(costs=costs, trials=300, random_state=0).fit(bits[:160], rule[:160])
    assert clf.soft_label_weight_ == 0.0
    assert clf.score(bits[160:], rule[160:]) == 1.0
    assert set(clf.tree_.tests_used()) == {"x0", "x1", "x2"}


def test_labels_of_chance_are_smoothed():
    X = RNG_OF_RULES.normal(size=(240, 5))
    y = (X @ [1.0, 1.0, 1.0, 1.0, 1.0] + 2 * RNG_OF_RULES.normal(size=240) > 0).astype(int)
    clf = ww.ICETClassifier(costs=ww.Costs(tests={f"x{i}": 1.0 for i in range(5)}, errors=50), random_state=0).fit(X, y)
    assert clf.soft_label_weight_ > 0.0


# -- costs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("margin", [None, 0.0])
def test_the_best_of_the_final_wins_if_it_is_clearly_better_than_eg2(seed, margin, recorded, monkeypatch):
    if margin is not None:
        monkeypatch.setattr(icet_classifier, "MARGIN", margin)
    noise = np.random.default_rng(seed).normal(size=(80, 4))
    clf = icet(random_state=seed, cross_fit=False).fit(noise, Y[:80])
    _, finalists, costs = recorded[-1]
    assert np.isfinite(finalists.prices[0]).all()  # EG2 with all tests
    assert np.isinf(finalists.prices[1]).all()  # no test at all
    clearly = costs.min() < (1 - icet_classifier.MARGIN / math.sqrt(80)) * costs[0]
    unit = clf.problem_.bound_costs.learning.unit
    assert clf.fitness_ == pytest.approx(unit * (costs.min() if clearly else costs[0]))


@pytest.mark.parametrize("search", ["real", "binary"])
def test_tests_that_cost_too_much_are_not_done(search):
    expensive = ww.Costs(tests={f"x{i}": 200.0 for i in range(4)}, errors={0: {1: 60.0}, 1: {0: 90.0}})
    clf = icet(costs=expensive, search=search).fit(X, Y)
    assert clf.tree_.n_leaves == 1
    assert clf.test_costs(X).sum() == 0


@pytest.mark.parametrize("soft", [True, False])
@pytest.mark.parametrize("factor", [7.0, 1 / 8, 1024.0])
def test_the_currency_does_not_matter_to_the_refined_search(factor, soft, always_soft, monkeypatch):
    if not soft:
        never_soft(monkeypatch)
    tests = {n: ww.Test(t.price * factor, t.group, t.delayed, t.requires) for n, t in COSTS.tests.items()}
    costs = COSTS.with_errors({0: {1: 600.0}, 1: {0: 900.0}})
    scaled = ww.Costs(tests=tests, groups={"g": 3.0 * factor}, errors={0: {1: 600.0 * factor}, 1: {0: 900.0 * factor}})
    one, other = icet(costs=costs).fit(X, Y), icet(costs=scaled).fit(X, Y)
    assert one.tree_.n_leaves > 1
    for name in ("test", "threshold", "answer", "weights"):
        np.testing.assert_array_equal(getattr(other.tree_.nodes, name), getattr(one.tree_.nodes, name))
    assert other.fitness_ == pytest.approx(factor * one.fitness_)
    np.testing.assert_allclose(list(other.bias_.values()), list(one.bias_.values()))


def poor_tests_are_cheap(rng, n):
    """A perfect test for 20, eight poor ones for 1 each."""
    y = rng.integers(0, 2, n)
    poor = y[:, None] ^ (rng.random((n, 8)) < 0.25)
    return np.column_stack([y, poor]), y


def slow_tests_are_cheap(rng, n):
    """A quick test that is nearly perfect for 25, and eight poor ones at 2 each and 1 once, delayed.

    One poor test looks like a bargain at 3. But its result is not there at once, so that ordering it means ordering
    everything that might follow.
    """
    y = rng.integers(0, 2, n)
    return np.column_stack([y ^ (rng.random(n) < 0.02), y[:, None] ^ (rng.random((n, 8)) < 0.25)]), y


PLANTED = {
    "prices": (poor_tests_are_cheap, ww.Costs(tests={"x0": 20.0} | {f"x{i}": 1.0 for i in range(1, 9)}, errors=500)),
    "delays": (
        slow_tests_are_cheap,
        ww.Costs(
            tests={"x0": 25.0} | {f"x{i}": ww.Test(2.0, group="lab", delayed=True) for i in range(1, 9)},
            groups={"lab": 1.0},
            errors=500,
        ),
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_where_greedy_learners_are_trapped_icet_is_not(name):
    build_task, costs = PLANTED[name]
    drawn = [(build_task(rng, 300), build_task(rng, 2000)) for rng in map(np.random.default_rng, range(4))]

    def mean_cost(clf):
        return np.mean([clf.set_params(costs=costs).fit(*cases).total_costs(*fresh).mean() for cases, fresh in drawn])

    greedy = [ww.EG2Classifier(), ww.EG2Classifier(prune="cost", context=True, answer="least-cost")]
    trapped = min(map(mean_cost, greedy))
    good_test_alone = costs.price("x0") + (0 if name == "prices" else 0.02 * 500)
    assert trapped > 2 * good_test_alone
    for variant in VARIANTS:
        assert mean_cost(icet(variant, trials=400, population=40)) < 1.4 * good_test_alone


# -- saving and parameters --------------------------------------------------------------------------------------------


@both
def test_saved_and_loaded(variant, tmp_path):
    clf = icet(variant, time_limit=60.0, callback=lambda step: None)
    clf.fit(X, Y).save(tmp_path / "icet.json")
    back = ww.load(tmp_path / "icet.json")
    assert type(back) is ww.ICETClassifier
    assert back.get_params() == clf.get_params() | {"callback": None}
    assert back.tree_.to_json() == clf.tree_.to_json()
    np.testing.assert_array_equal(back.total_costs(X, Y), clf.total_costs(X, Y))


def test_the_margin_falls_with_the_number_of_cases(monkeypatch, always_soft):
    margins, search = [], icet_classifier.refined_search

    def noting(*args):
        margins.append(args[-1])
        return search(*args)

    monkeypatch.setattr(icet_classifier, "refined_search", noting)
    clf = ww.ICETClassifier(trials=5, population=5, random_state=0, cross_fit=False)
    for n in (150, 100, 9):
        clf.fit(X[:n], Y[:n])
    assert margins == pytest.approx([4 / math.sqrt(150), 0.4, 1.0])
    never_soft(monkeypatch)
    clf.fit(X, Y)
    assert margins[-1] == 0.0


def test_with_an_unreachable_margin_the_reference_grows_the_tree(monkeypatch, always_soft):
    monkeypatch.setattr(icet_classifier, "MARGIN", 1e9)
    costs = ww.Costs(tests={"x0": 5.0, "x1": 5.0, "x2": 15.0, "x3": 15.0}, errors=50)
    clf = ww.ICETClassifier(costs=costs, trials=60, population=15, random_state=0).fit(X, Y)
    assert clf.bias_ == pytest.approx({"x0": 5.0, "x1": 5.0, "x2": 15.0, "x3": 15.0})
    assert (clf.soft_label_weight_, clf.max_depth_) == (1.0, None)


def test_folds_search_again_with_a_fifth_of_the_trials_unless_time_is_limited(monkeypatch):
    searches, search = [], ww.ICETClassifier._search

    def noting(self, labels, *args):
        searches.append((self.trials, labels.training.n_cases))
        return search(self, labels, *args)

    monkeypatch.setattr(ww.ICETClassifier, "_search", noting)
    icet(trials=100).fit(X, Y)
    assert searches == [(100, 150)] + [(20, 120)] * 5
    searches.clear()
    icet(trials=100, time_limit=60).fit(X, Y)
    assert searches == [(100, 150)]


# --- "I don't know": a confidence below which a leaf of the published ICET answers "unknown" --------------------------

UNKNOWN = {0: {1: 100.0, "unknown": 25.0}, 1: {0: 100.0, "unknown": 25.0}}


def half_known(n=400):
    """A test whose result is the class, or "nobody knows"; and noise."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    result = np.where(rng.random(n) < 0.5, "nobody knows", np.where(y == 1, "one", "zero"))
    return pd.DataFrame({"test": result, "noise": rng.choice(["a", "b"], n)}), y.astype(object)


@pytest.mark.parametrize("search", ["real", "binary"])
def test_the_published_search_finds_that_unknown_pays(search):
    cases, y = half_known()
    costs = ww.Costs(tests={"test": 2.0, "noise": 1.0}, errors=UNKNOWN)
    clf = icet("paper", costs=costs, search=search, trials=300, population=30).fit(cases, y)
    assert clf.reject_below_ > 0.5
    answers, open_ = clf.predict(cases), (cases["test"] == "nobody knows").to_numpy()
    assert set(answers[open_]) == {"unknown"}
    assert (answers[~open_] == y[~open_]).all()
    plain = icet("paper", costs=costs.with_errors(100), search=search, trials=300, population=30).fit(cases, y)
    assert plain.reject_below_ == 0
    assert clf.total_costs(cases, y).mean() < 16  # 2 + 25 / 2
    assert plain.total_costs(cases, y).mean() > 22  # 2 + 100 / 4
    shares = clf.tree_.nodes.weights.max(axis=1) / clf.tree_.nodes.weights.sum(axis=1)
    rejects = clf.tree_.nodes.answer == 2
    assert (rejects == (shares < clf.reject_below_)).all()  # every node, by the confidence that the search found
    assert (
        json.loads(clf.tree_.to_json())["nodes"]
        == json.loads(ww.Tree.from_json(clf.tree_.to_json()).to_json())["nodes"]
    )


@pytest.mark.parametrize("search", ["real", "binary"])
def test_nobody_rejects_below_a_confidence_of_0(monkeypatch, search):
    cases, y = half_known()
    decode = biases_module._paper_biases
    monkeypatch.setattr(
        biases_module, "_paper_biases", lambda *given: replace(decode(*given), reject_below=np.zeros(len(given[0])))
    )
    clf = icet("paper", costs=ww.Costs(tests={"test": 2.0, "noise": 1.0}, errors=UNKNOWN), search=search).fit(cases, y)
    assert clf.reject_below_ == 0
    assert "unknown" not in clf.predict(cases)


def test_the_refined_search_needs_no_confidence():
    cases, y = half_known()
    clf = icet(costs=ww.Costs(tests={"test": 2.0, "noise": 1.0}, errors=UNKNOWN)).fit(cases, y)
    assert clf.reject_below_ == 0
    assert "unknown" in clf.predict(cases)

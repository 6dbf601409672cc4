"""LSID3 and ACT: concepts that greedy learners miss, soft labels, and how the search stops."""

import math
import time
import warnings
from dataclasses import replace
from itertools import pairwise

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import worthwhile as ww
from all_learners import COSTS, VARIANTS, both
from interrupting import fit_interrupted, run_interrupted
from worthwhile.learners import soft_labels
from worthwhile.learners.act import classifier as act_classifier
from worthwhile.learners.act import tree_builder
from worthwhile.learners.act.tree_builder import PAPER, GrowthChoice, TreeBuilder
from worthwhile.learners.progress import Progress
from worthwhile.learners.soft_labels import SoftLabels
from worthwhile.table.columns import read_columns

pytestmark = [
    pytest.mark.usefixtures("remembered_ensembles"),
    pytest.mark.filterwarnings("ignore:.*before any look-ahead:UserWarning"),  # of limits that are too short on purpose
]

RNG = np.random.default_rng(21)
X = RNG.normal(size=(150, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=150) > 0).astype(int)


def act(variant="refined", **settings):
    """A look-ahead that is short."""
    return ww.ACTClassifier(variant=variant, **({"costs": COSTS, "r": 2, "random_state": 0} | settings))


# -- the worked examples of Esmeir & Markovitch 2008, Figures 7 to 9 --------------------------------------------------


# -- concepts ---------------------------------------------------------------------------------------------------------


def concept(name, seed):
    """Cases of a made-up concept, fresh ones, and a price list with errors at 5000."""
    data, fresh = (
        ww.datasets.make(name, random_state=s, n_cases=n, as_frame=False) for s, n in ((seed, 200), (100 + seed, 1000))
    )
    names = data.feature_names
    costs = ww.datasets.random_costs(data.X, data.y, errors=5000, random_state=seed, nominal=names, columns=names)
    return data, fresh, {"costs": costs, "columns": names, "nominal": names}


@pytest.mark.parametrize("name", ["xor-5", "multi-xor"])
def test_where_single_tests_say_nothing_the_look_ahead_finds_what_others_miss(name):
    def mean_cost(clf):
        costs = []
        for seed in range(3):
            data, fresh, settings = concept(name, seed)
            costs.append(clf.set_params(**settings).fit(data.X, data.y).total_costs(fresh.X, fresh.y).mean())
        return np.mean(costs)

    greedy = ww.EG2Classifier(prune="cost", context=True, answer="least-cost")
    others = [greedy, ww.DTMCClassifier(), ww.ICETClassifier(trials=200, random_state=0)]
    least = min(map(mean_cost, others))
    for variant in VARIANTS:
        assert mean_cost(ww.ACTClassifier(variant=variant, random_state=0)) < 0.6 * least


@pytest.mark.parametrize("seed", range(3))
def test_lsid3_finds_two_bits_of_six(seed):
    bits = np.random.default_rng(seed).integers(0, 2, (100, 6)).astype(str)
    y = bits[:, 0] != bits[:, 1]
    clf = ww.LSID3Classifier(random_state=seed).fit(bits, y)
    assert clf.tree_.n_leaves == 4
    assert clf.tree_.tests_used() == ["x0", "x1"]
    assert ww.LSID3Classifier(r=0, prune="none").fit(bits, y).tree_.n_leaves > 4


def test_lsid3_does_not_look_at_costs():
    expensive = ww.Costs(tests={f"x{i}": 10.0**i for i in range(4)}, errors=3)
    plain = ww.LSID3Classifier(random_state=0).fit(X, Y)
    other = ww.LSID3Classifier(random_state=0, costs=expensive).fit(X, Y)
    np.testing.assert_array_equal(other.tree_.nodes.test, plain.tree_.nodes.test)
    assert other.test_costs(X).mean() > 1


def test_lsid3_ends_its_look_ahead_in_time():
    clf = ww.LSID3Classifier(time_limit=1e-9, prune="none", cross_fit=False, random_state=0).fit(X, Y)
    id3 = ww.LSID3Classifier(r=0, prune="none", cross_fit=False).fit(X, Y)
    assert clf.tree_.to_text() == id3.tree_.to_text()  # the nodes may stand in another order


# -- parameters by formula --------------------------------------------------------------------------------------------


def test_omega_and_confidence_by_the_formulas_of_the_paper():
    # Section 3.5, with x = the mean cost of an error over the price of all tests: here 75 and 4 + 6 + 3 + 1 + 2.
    clf = act("paper").fit(X, Y)
    x = 75 / 16
    assert clf.omega_ == pytest.approx(0.5 + math.exp(-x))
    assert clf.confidence_ == pytest.approx(0.2 + 0.05 * (1 + (x - 1) / (x + 1)))
    given = act("paper", omega=0.0, confidence=0.9).fit(X, Y)
    assert (given.omega_, given.confidence_) == (0.0, 0.9)


# -- the same seed, the same tree -------------------------------------------------------------------------------------


def nominal_cases(n=200):
    """Nominal values, below which trees are drawn: with numbers alone every sample is greedy."""
    codes = np.random.default_rng(3).integers(0, 3, (n, 6))
    y = (codes[:, 0] + codes[:, 1] * codes[:, 2]) % 3 == 1
    return codes.astype(str), y ^ (np.random.default_rng(4).random(n) < 0.1)


@both
def test_the_same_seed_gives_the_same_tree(variant):
    cases = nominal_cases()
    one = act(variant, costs=None, r=4).fit(*cases)
    for n_jobs in (1, 2):
        other = act(variant, costs=None, r=4, n_jobs=n_jobs).fit(*cases)
        assert other.tree_.to_json() == one.tree_.to_json()
        assert (other.expected_cost_, other.soft_label_weight_) == (one.expected_cost_, one.soft_label_weight_)
    assert act(variant, costs=None, r=4).fit(*cases).tree_.to_json() == one.tree_.to_json()


def test_the_same_seed_gives_the_same_tree_in_other_processes():
    cases = nominal_cases()
    learners = [act("paper", costs=None), act(costs=None, n_jobs=2), ww.LSID3Classifier(random_state=0)]
    jobs = (joblib.delayed(clf.fit)(*cases) for clf in learners)
    for clf, there in zip(learners, joblib.Parallel(n_jobs=2, backend="loky")(jobs), strict=True):
        assert there.tree_.to_json() == clf.fit(*cases).tree_.to_json()


@pytest.mark.parametrize("make", [act, lambda **how: ww.LSID3Classifier(**{"r": 2, **how})])
def test_random_states_of_all_kinds(make):
    cases = nominal_cases()
    for state in (lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)):
        one, other = (make(costs=None, random_state=state()).fit(*cases) for _ in range(2))
        assert one.tree_.to_json() == other.tree_.to_json()
    assert len({make(costs=None, random_state=s).fit(*cases).tree_.to_json() for s in range(4)}) > 1
    make(costs=None, random_state=None).fit(*cases)  # drawn by chance: all that can be said is that it works


# -- how it stops -----------------------------------------------------------------------------------------------------


@both
def test_what_the_callback_gets(variant):
    told = []
    clf = act(variant, callback=told.append).fit(X, Y)
    if variant == "refined":  # a tree at once, which does not count when it is settled how trees are valued
        assert told.pop(0).done == 0
    assert told == clf.history_
    assert [type(step) for step in told] == [Progress]
    assert clf.stopped_ == "done"
    assert clf.r_ == told[-1].done


@pytest.mark.parametrize("limit", [1e-9, 0.4])
def test_the_refined_search_goes_on_until_the_time_is_over(limit):
    data, _, settings = concept("multi-xor", 0)
    told = []
    clf = act(time_limit=limit, callback=told.append, **settings).fit(data.X, data.y)
    assert clf.stopped_ == "time limit"
    assert told[0].done == 0  # a tree at once
    assert told[-len(clf.history_) :] == clf.history_
    seconds, samples, _, costs, _, _ = zip(*clf.history_, strict=True)
    assert all(a > b for a, b in pairwise(costs))
    assert all(a <= b for a, b in pairwise(seconds))
    assert samples[0] == 0 or limit > 0.1  # EG2 comes first, until a way to grow trees was chosen on folds
    assert clf.r_ == samples[-1]
    assert clf.predict(data.X).shape == (200,)
    if limit > 0.1:
        assert clf.r_ > 0
        assert costs[-1] < 0.5 * told[0].cost


def test_more_samples_are_only_taken_for_better_trees(monkeypatch):
    # Trees that cost what is written here: of r = 1, 2, 4, ... only those below all others are kept.
    monkeypatch.setattr(act_classifier, "EARLY", 0.0)
    by_own_labels = GrowthChoice(SoftLabels.own(act()._prepare(read_columns(X), Y, None)), PAPER)
    monkeypatch.setattr(act_classifier, "choose_growth", lambda *_: by_own_labels)
    costs = iter([9.0, 9.5, 8.0, 8.5, 8.0, 7.0, 7.2])
    wanted = []
    ahead, greedy = TreeBuilder.look_ahead, TreeBuilder.greedy

    def next_cost(grown):
        try:
            return replace(grown, cost=next(costs))
        except StopIteration:
            raise KeyboardInterrupt from None

    def noting(self, r, seed, seconds=math.inf):
        wanted.append(r)
        return next_cost(ahead(self, r, seed, seconds))

    monkeypatch.setattr(TreeBuilder, "look_ahead", noting)
    monkeypatch.setattr(TreeBuilder, "greedy", lambda self, how="icf": next_cost(greedy(self, how)))
    monkeypatch.setattr(TreeBuilder, "in_money", lambda self, cost: cost)
    clf = fit_interrupted(act(time_limit=600, cross_fit=False), X, Y)
    assert [(step.cost, step.done) for step in clf.history_] == [(9.0, 0), (8.0, 2), (7.0, 16)]
    assert wanted == [1, 2, 4, 8, 16, 32, 64]
    assert (clf.stopped_, clf.r_) == ("interrupted", 16)


@both
@pytest.mark.parametrize("limit", [1e-9, 0.3])
def test_a_time_limit(variant, limit):
    rng = np.random.default_rng(0)
    many, y = rng.normal(size=(3000, 8)), rng.integers(0, 2, 3000)
    start = time.monotonic()
    clf = act(variant, costs=ww.Costs(errors=100), r=100_000, time_limit=limit).fit(many, y)
    assert time.monotonic() - start < 60  # it would take hours
    assert clf.stopped_ == "time limit"
    assert clf.predict(many).shape == (3000,)


@pytest.mark.parametrize("trees", [1, 2, 3])
def test_ctrl_c_keeps_the_best_tree_so_far(trees):
    def stop(step):
        told.append(step)
        if len(told) == trees:
            raise KeyboardInterrupt

    told = []
    data, _, settings = concept("multi-xor", 0)
    clf = fit_interrupted(act(time_limit=60, callback=stop, **settings), data.X, data.y)
    assert clf.stopped_ == "interrupted"
    assert clf.history_ == told[-len(clf.history_) :]
    assert clf.r_ == told[-1].done
    assert clf.predict(data.X).shape == (200,)
    assert clf.tree_.n_leaves > 1
    assert clf.set_params(callback=None, time_limit=None, r=1).fit(data.X, data.y).stopped_ == "done"


def test_ctrl_c_ends_a_cross_validation():
    def stop(step):
        told.append(step)
        raise KeyboardInterrupt

    told = []
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(act(callback=stop), X, Y, cv=3)
    assert len(told) == 1  # the other folds were not begun


@pytest.mark.filterwarnings("default")
@both
def test_a_fit_that_ends_before_any_look_ahead_warns(variant):
    with pytest.warns(UserWarning, match="time_limit=1e-09 ended the search before any look-ahead"):
        act(variant, time_limit=1e-9).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        act(variant, r=0, time_limit=1e-9).fit(X, Y)  # it wants none
        act(variant, r=1).fit(X, Y)


def stop_at_once(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("variant", "place"), [("paper", "look_ahead"), ("refined", "greedy")])
def test_ctrl_c_before_the_first_tree_is_passed_on(variant, place, monkeypatch):
    monkeypatch.setattr(TreeBuilder, place, stop_at_once)
    with pytest.raises(KeyboardInterrupt):
        act(variant).fit(X, Y)


def assert_eg2(clf):
    """The tree is EG2's, with the paper's parameters, pruned by cost; and this is said of it."""
    assert clf.omega_ > 0.5  # the paper's; 0.25 with soft labels
    settings = {"omega": clf.omega_, "confidence": clf.confidence_, "context": True, "raise_subtrees": False}
    eg2 = ww.EG2Classifier(costs=LINE_COSTS, prune="cost", answer="least-cost", cross_fit=False, **settings)
    eg2.fit(*noisy_line(0))
    assert clf.tree_.to_json() == eg2.tree_.to_json()


@pytest.mark.parametrize(
    ("of", "place"),
    [(soft_labels, "ensemble_shares"), (TreeBuilder, "look_ahead"), (TreeBuilder, "total_costs")],
)
def test_ctrl_c_before_labels_are_chosen_keeps_the_first_tree(of, place, monkeypatch):
    monkeypatch.setattr(of, place, stop_at_once)
    clf = fit_interrupted(act(costs=LINE_COSTS, cross_fit=False), *noisy_line(0))
    assert (clf.stopped_, clf.r_, clf.soft_label_weight_, len(clf.history_)) == ("interrupted", 0, 0.0, 1)
    assert_eg2(clf)


def test_ctrl_c_while_labels_are_chosen_does_not_change_what_is_said_of_the_first_tree(monkeypatch):
    greedy, calls = TreeBuilder.greedy, []

    def second_time(self, *how):
        calls.append(1)
        return greedy(self, *how) if len(calls) == 1 else stop_at_once()

    monkeypatch.setattr(TreeBuilder, "greedy", second_time)
    clf = fit_interrupted(act(costs=LINE_COSTS, cross_fit=False), *noisy_line(0))
    assert (clf.stopped_, clf.soft_label_weight_) == ("interrupted", 0.0)
    assert_eg2(clf)


def test_other_errors_of_the_callback_are_passed_on():
    with pytest.raises(ZeroDivisionError):
        act("paper", callback=lambda step: 1 // 0).fit(X, Y)


LONG = """
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, ({n}, 10)).astype(float), rng.integers(0, 2, {n})
    clf = ww.{learner}(nominal=range(5), random_state=0, n_jobs={n_jobs}, r=1_000_000, time_limit={limit})
    interrupt_in("grow_ahead", call={call})
    try:
        clf.fit(X, y)
    except KeyboardInterrupt:
        if not hasattr(clf, "tree_"):
            raise
    print(clf.stopped_, len(clf.history_) > 0, clf.tree_.n_leaves > 0, clf.predict(X[:1]).shape)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_real_ctrl_c_ends_a_search_with_what_it_has(n_jobs):
    # More cases than ensembles are fitted to: the first trees are there soon. The second look-ahead is ended.
    program = LONG.format(learner="ACTClassifier", n=6000, n_jobs=n_jobs, limit=10_000, call=2)
    assert run_interrupted(program) == ("interrupted True True (1,)\n", "")


@pytest.mark.parametrize(("learner", "n_jobs"), [("ACTClassifier", 2), ("LSID3Classifier", 1)])
def test_a_real_ctrl_c_ends_a_long_call_of_the_core(learner, n_jobs):
    program = LONG.format(learner=learner, n=300, n_jobs=n_jobs, limit=None, call=1)
    out, err = run_interrupted(
        program.replace("nominal=", "variant='paper', nominal=") if "ACT" in learner else program
    )
    assert "KeyboardInterrupt" in err
    assert out == ""


# -- soft labels ------------------------------------------------------------------------------------------------------


def noisy_line(seed, n=300):
    """Eight numbers whose sum, with much noise, is the class."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 8))
    return numbers, (numbers.sum(axis=1) + 3 * rng.normal(size=n) > 0).astype(int)


LINE_COSTS = ww.Costs(tests={f"x{i}": 1.0 for i in range(8)}, errors=50)


def test_soft_labels_where_they_help_and_own_ones_where_they_do_not():
    weights = [act(costs=LINE_COSTS, random_state=seed).fit(*noisy_line(seed)).soft_label_weight_ for seed in range(3)]
    assert weights == [1.0] * 3
    for seed in range(3):
        data, _, settings = concept("xor-5", seed)
        clf = act(random_state=seed, **settings).fit(data.X, data.y)
        assert clf.soft_label_weight_ == 0.0
        assert (clf.omega_, clf.confidence_) == (act("paper", **settings).fit(data.X, data.y).omega_, clf.confidence_)
    soft = act(costs=LINE_COSTS).fit(*noisy_line(0))
    assert (soft.omega_, soft.confidence_) == (0.25, 0.75)
    given = act(costs=LINE_COSTS, omega=0.5, confidence=0.6).fit(*noisy_line(0))
    assert (given.omega_, given.confidence_) == (0.5, 0.6)


def test_soft_labels_lead_to_cheaper_trees_on_fresh_cases():
    costs = {"paper": [], "refined": []}
    for seed in range(3):
        cases, fresh = noisy_line(seed), noisy_line(50 + seed, 2000)
        for variant, found in costs.items():
            clf = act(variant, costs=LINE_COSTS, r=3, random_state=seed).fit(*cases)
            found.append(clf.total_costs(*fresh).mean())
    assert np.mean(costs["refined"]) < 0.97 * np.mean(costs["paper"])


# -- samples --------------------------------------------------------------------------------------------------------


@both
def test_samples_of_all_kinds(variant, monkeypatch):
    monkeypatch.setattr(tree_builder, "_soft_labels", lambda *_: None)
    cases, costs = nominal_cases(), ww.Costs(tests={"x0": ww.Test(1.0, delayed=True)}, errors=50)
    found = {
        samples: act(variant, costs=costs, samples=samples, r=3).fit(*cases).tree_.to_json()
        for samples in (None, "grown", "pruned")
    }
    assert found["grown"] != found["pruned"]
    assert found[None] == found["grown" if variant == "paper" else "pruned"]


def test_benefits_do_not_make_equal_trees_better():
    X, y = noisy_line(2, 120)
    answers = sorted(set(y.tolist()))
    errors = {truth: {answer: -50.0 if truth == answer else 20.0 for answer in answers} for truth in answers}
    clf = act(costs=ww.Costs(errors=errors), time_limit=0.3).fit(X, y)
    costs = [entry.cost for entry in clf.history_]
    assert costs == sorted(set(costs), reverse=True)
    assert costs[-1] < 0


def test_with_benefits_the_parameters_are_those_of_the_regret():
    errors = {"a": {"a": 0.0, "b": 30.0}, "b": {"a": 10.0, "b": 0.0}}
    shifted = {truth: {answer: cost - 1000 for answer, cost in row.items()} for truth, row in errors.items()}
    found = [
        act("paper", costs=ww.Costs(tests={"x0": 20.0}, errors=e)).fit(X, ["a", "b"] * 75) for e in (errors, shifted)
    ]
    assert found[0].omega_ == found[1].omega_ == pytest.approx(0.5 + math.exp(-1))


def test_a_fit_that_fails_does_not_leave_the_old_tree_with_new_classes():
    clf = act("paper", costs=None).fit(X, ["a", "b"] * 75)

    def fails(progress):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        clf.set_params(callback=fails).fit(X, [7, 8] * 75)
    with pytest.raises(NotFittedError):
        clf.predict(X)


# -- data of all kinds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: act("paper", costs=None), lambda: act(costs=None), ww.LSID3Classifier])
def test_one_class_one_case_constant_columns(make):
    assert make().fit(X, ["a"] * 150).predict(X[:2]).tolist() == ["a", "a"]
    assert make().fit(X[:1], [5]).predict(X[:2]).tolist() == [5, 5]
    assert make().fit(np.ones((9, 2)), [0, 1, 1] * 3).predict([[7, 7]]).tolist() == [1]
    assert make().fit(X[:2], [0, 1]).predict(X[:2]).shape == (2,)
    assert make().fit(X[:5], [0, 1, 2, 0, 1]).predict(X[:2]).shape == (2,)


@both
@pytest.mark.parametrize("settings", [{"r": 0}, {"time_limit": 0.05}])
def test_few_cases(variant, settings):
    for n in (1, 2, 3, 6):
        y = np.arange(n) % 2
        clf = act(variant, costs=None, **settings).fit(X[:n], y)
        assert set(clf.predict(X)) <= set(y)
        assert hasattr(clf, "expected_cost_") == (n > 1)  # a single case leaves nothing to hold out


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
    clf = act(variant, costs=costs).fit(frame, y)
    assert set(clf.predict(frame)) <= {"sick", "well"}
    assert clf.total_costs(frame, y).mean() < min(30 * (y == "well").mean(), 80 * (y == "sick").mean())
    nothing = pd.DataFrame({"nominal": pd.Series([None] * 150, dtype=object)})
    assert act(variant, costs=None).fit(nothing, Y).tree_.n_leaves == 1
    assert act(variant, costs=None).fit(X * 1e300, Y).score(X * 1e300, Y) > 0.6


@both
def test_weights(variant):
    weights = RNG.integers(0, 3, 150) / 2
    one = act(variant).fit(X, Y, sample_weight=weights)
    other = act(variant).fit(X[weights > 0], Y[weights > 0], sample_weight=weights[weights > 0])
    assert one.tree_.to_json() == other.tree_.to_json()
    assert one.expected_cost_ == other.expected_cost_
    plain = act(variant).fit(X, Y)
    assert act(variant).fit(X, Y, np.ones(150)).tree_.to_json() == plain.tree_.to_json()
    heavy = act(variant).fit(X, Y, np.where(Y == 1, 1000.0, 1.0))
    assert (heavy.predict(X) == 1).mean() > (plain.predict(X) == 1).mean()


@both
def test_a_reject_answer_and_tests_that_cost_too_much(variant):
    errors = {0: {1: 100.0, "unknown": 1.0}, 1: {0: 100.0, "unknown": 1.0}}
    clf = act(variant, costs=ww.Costs(tests={f"x{i}": 50.0 for i in range(4)}, errors=errors)).fit(X, Y)
    assert set(clf.predict(X)) == {"unknown"}
    assert clf.expected_cost_ == pytest.approx(1.0)
    expensive = ww.Costs(tests={f"x{i}": 200.0 for i in range(4)}, errors={0: {1: 60.0}, 1: {0: 90.0}})
    assert act(variant, costs=expensive).fit(X, Y).tree_.n_leaves == 1


# -- saving and parameters --------------------------------------------------------------------------------------------


@both
def test_saved_and_loaded(variant, tmp_path):
    clf = act(variant, samples="pruned", omega=0.3, time_limit=0.2, callback=lambda step: None)
    clf.fit(X, Y).save(tmp_path / "act.json")
    back = ww.load(tmp_path / "act.json")
    assert type(back) is ww.ACTClassifier
    assert back.get_params() == clf.get_params() | {"callback": None}
    assert back.tree_.to_json() == clf.tree_.to_json()
    np.testing.assert_array_equal(back.total_costs(X, Y), clf.total_costs(X, Y))
    lsid3 = ww.LSID3Classifier(r=2, random_state=0).fit(X, Y)
    lsid3.save(tmp_path / "lsid3.json")
    assert ww.load(tmp_path / "lsid3.json").tree_.to_json() == lsid3.tree_.to_json()


def test_after_the_time_limit_the_published_variant_splits_the_rest_without_look_ahead():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=3000) > 0).astype(int)
    costs = ww.Costs(tests={f"x{j}": 1.0 for j in range(12)}, errors=100)
    limited = ww.ACTClassifier(costs=costs, variant="paper", time_limit=1e-9, cross_fit=False, random_state=0)
    limited.fit(X, y)
    greedy = ww.ACTClassifier(costs=costs, variant="paper", r=0, cross_fit=False).fit(X, y)
    assert limited.stopped_ == "time limit"
    assert limited.tree_.n_leaves > 100
    assert limited.tree_.to_json() == greedy.tree_.to_json()

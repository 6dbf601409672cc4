"""LSID3 and ACT: the paper's worked examples, concepts that greedy learners miss, softer labels, and how it stops."""

import contextlib
import math
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from itertools import pairwise

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import reference as ref
import worthwhile as ww
from all_learners import COSTS, VARIANTS, both
from bridge import assert_same_tree, core_grow_ahead, core_tree_cost, from_node, to_node
from worthwhile.learners import soft_labels
from worthwhile.learners.act import tree_builder
from worthwhile.learners.act.classifier import Progress
from worthwhile.learners.act.tree_builder import paper_parameters
from worthwhile.learners.folds import stratified_share
from worthwhile.table.columns import read_columns

RNG = np.random.default_rng(21)
X = RNG.normal(size=(150, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=150) > 0).astype(int)


def act(variant="refined", **settings):
    """A look-ahead that is short."""
    return ww.ACTClassifier(variant=variant, **({"costs": COSTS, "r": 2, "random_state": 0} | settings))


# -- the worked examples of Esmeir & Markovitch 2008, Figures 7 to 9 --------------------------------------------------


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
    dear = ww.Costs(tests={f"x{i}": 10.0**i for i in range(4)}, errors=3)
    plain = ww.LSID3Classifier(random_state=0).fit(X, Y)
    other = ww.LSID3Classifier(random_state=0, costs=dear).fit(X, Y)
    np.testing.assert_array_equal(other.tree_.nodes.test, plain.tree_.nodes.test)
    assert other.test_costs(X).mean() > 1


def test_lsid3_ends_its_look_ahead_in_time():
    clf = ww.LSID3Classifier(time_limit=1e-9, prune="none", random_state=0).fit(X, Y)
    id3 = ww.LSID3Classifier(r=0, prune="none").fit(X, Y)
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


@pytest.mark.parametrize(
    ("errors", "price", "omega", "confidence"),
    [(1.0, 0.0, 0.5, 0.3), (10.0, 10.0, 0.5 + math.exp(-1), 0.25), (0.0, 10.0, 1.5, 0.2), (1e9, 1e-9, 0.5, 0.3)],
)
def test_parameters_of_free_and_of_dear_tests(errors, price, omega, confidence):
    costs = ww.Costs(tests={"x0": price}, errors=errors)
    training = act(costs=costs)._prepare(read_columns(X), Y, None)
    assert paper_parameters(training) == pytest.approx((omega, confidence))


def test_parameters_of_one_class_and_of_answers_that_are_none():
    one = act(costs=ww.Costs(tests={"x0": 5}))._prepare(read_columns(X), np.zeros(150), None)
    assert paper_parameters(one) == pytest.approx((1.5, 0.2))
    errors = {0: {1: 10.0, "unknown": 1.0}, 1: {0: 20.0, "unknown": 1.0}}
    two = act(costs=ww.Costs(tests={"x0": 15}, errors=errors))._prepare(read_columns(X), Y, None)
    assert paper_parameters(two) == pytest.approx((0.5 + math.exp(-1), 0.25))


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
    assert len({make(costs=None, random_state=s).fit(*cases).tree_.to_json() for s in range(6)}) > 1
    assert make(costs=None, random_state=None).fit(*cases).tree_.n_leaves >= 1


# -- how it stops -----------------------------------------------------------------------------------------------------


@both
def test_what_it_tells(variant):
    told = []
    clf = act(variant, callback=told.append).fit(X, Y)
    if variant == "refined":  # a tree at once, which does not count when it is settled how trees are valued
        assert told.pop(0).r == 0
    assert told == clf.history_
    assert [type(step) for step in told] == [Progress]
    assert clf.stopped_ == "done"
    assert (clf.expected_cost_, clf.r_) == (told[-1].cost, told[-1].r) == (told[-1].cost, 2)


@pytest.mark.parametrize(
    ("eg2", "dtmc", "kept"),
    [(8.9, 9.5, [(10, 2), (8.9, 0)]), (9.1, 9.1, [(10, 2)]), (8.9, 8.8, [(10, 2), (8.9, 0), (8.8, 0)])],
)
def test_without_a_time_limit_greedy_trees_must_be_clearly_cheaper(eg2, dtmc, kept, monkeypatch):
    costs = {"icf": eg2, "cost-drop": dtmc}
    ahead, greedy = tree_builder.TreeBuilder.ahead, tree_builder.TreeBuilder.greedy
    monkeypatch.setattr(tree_builder.TreeBuilder, "ahead", lambda *args: replace(ahead(*args), cost=10.0))
    monkeypatch.setattr(
        tree_builder.TreeBuilder, "greedy", lambda self, how="icf": replace(greedy(self, how), cost=costs[how])
    )
    monkeypatch.setattr(soft_labels, "MAX_SOFT_CASES", 0)
    assert [(step.cost, step.r) for step in act().fit(X, Y).history_] == kept


@pytest.mark.parametrize("limit", [1e-9, 0.4])
def test_the_refined_search_goes_on_until_the_time_is_over(limit):
    data, _, settings = concept("multi-xor", 0)
    told = []
    clf = act(time_limit=limit, callback=told.append, **settings).fit(data.X, data.y)
    assert clf.stopped_ == "time limit"
    assert told[0].r == 0  # a tree at once
    assert told[-len(clf.history_) :] == clf.history_
    seconds, costs, samples = zip(*clf.history_, strict=True)
    assert all(a > b for a, b in pairwise(costs))
    assert all(a <= b for a, b in pairwise(seconds))
    assert samples[0] == 0  # EG2 comes first
    assert (clf.expected_cost_, clf.r_) == (costs[-1], samples[-1])
    assert clf.predict(data.X).shape == (200,)
    if limit > 0.1:
        assert clf.r_ > 0
        assert costs[-1] < 0.5 * costs[0]


def test_more_samples_are_only_taken_for_better_trees(monkeypatch):
    # Contracts that cost what is written here: of r = 1, 2, 4, ... only those below all others are kept.
    monkeypatch.setattr("worthwhile.act.EARLY", 0.0)
    costs = iter([9.9, 9.0, 9.5, 8.0, 8.5, 8.0, 7.0, 7.2])
    wanted = []
    ahead, greedy = tree_builder.TreeBuilder.ahead, tree_builder.TreeBuilder.greedy

    def next_cost(grown):
        try:
            return replace(grown, cost=next(costs))
        except StopIteration:
            raise KeyboardInterrupt from None

    def noting(self, r, seed, seconds=math.inf):
        wanted.append(r)
        return next_cost(ahead(self, r, seed, seconds))

    monkeypatch.setattr(tree_builder.TreeBuilder, "ahead", noting)
    monkeypatch.setattr(tree_builder.TreeBuilder, "greedy", lambda self, how="icf": next_cost(greedy(self, how)))
    monkeypatch.setattr(soft_labels, "MAX_SOFT_CASES", 0)
    clf = act(time_limit=600).fit(X, Y)
    assert [(step.cost, step.r) for step in clf.history_] == [(9.9, 0), (9.0, 0), (8.0, 1), (7.0, 8)]
    assert wanted == [1, 2, 4, 8, 16, 32]
    assert (clf.stopped_, clf.r_, clf.expected_cost_) == ("interrupted", 8, 7.0)


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
    clf = act(time_limit=60, callback=stop, **settings).fit(data.X, data.y)
    assert clf.stopped_ == "interrupted"
    assert clf.history_ == told[-len(clf.history_) :]
    assert (clf.expected_cost_, clf.r_) == (told[-1].cost, told[-1].r)
    assert clf.predict(data.X).shape == (200,)
    assert clf.tree_.n_leaves > 1
    assert clf.set_params(callback=None, time_limit=None, r=1).fit(data.X, data.y).stopped_ == "done"


def stop_at_once(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("variant", "place"), [("paper", "ahead"), ("refined", "greedy")])
def test_ctrl_c_before_the_first_tree_is_passed_on(variant, place, monkeypatch):
    monkeypatch.setattr(tree_builder.TreeBuilder, place, stop_at_once)
    with pytest.raises(KeyboardInterrupt):
        act(variant).fit(X, Y)


@pytest.mark.parametrize(
    ("of", "place"),
    [(soft_labels, "ensemble_shares"), (tree_builder.TreeBuilder, "ahead"), (tree_builder.TreeBuilder, "costs")],
)
def test_ctrl_c_before_labels_are_chosen_leaves_the_tree_at_once(of, place, monkeypatch):
    monkeypatch.setattr(of, place, stop_at_once)
    clf = act(costs=LINE_COSTS).fit(*noisy_line(0))
    assert (clf.stopped_, clf.r_, clf.soft_label_weight_, len(clf.history_)) == ("interrupted", 0, 0.0, 1)
    eg2 = act("paper", costs=LINE_COSTS, r=0).fit(*noisy_line(0))
    assert clf.tree_.to_json() == eg2.tree_.to_json()
    assert (clf.omega_, clf.expected_cost_) == (eg2.omega_, eg2.expected_cost_)


def test_ctrl_c_when_labels_are_chosen_does_not_change_what_is_said_of_the_tree_at_once(monkeypatch):
    eg2 = act("paper", costs=LINE_COSTS, r=0).fit(*noisy_line(0))
    greedy, calls = tree_builder.TreeBuilder.greedy, []

    def second_time(self, *how):
        calls.append(1)
        return greedy(self, *how) if len(calls) == 1 else stop_at_once()

    monkeypatch.setattr(tree_builder.TreeBuilder, "greedy", second_time)
    clf = act(costs=LINE_COSTS).fit(*noisy_line(0))
    assert clf.tree_.to_json() == eg2.tree_.to_json()
    assert (clf.stopped_, clf.soft_label_weight_, clf.omega_) == ("interrupted", 0.0, eg2.omega_)


def test_other_errors_of_the_callback_are_passed_on():
    with pytest.raises(ZeroDivisionError):
        act("paper", callback=lambda step: 1 // 0).fit(X, Y)


LONG = """
    import numpy as np, worthwhile as ww
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, ({n}, 10)).astype(float), rng.integers(0, 2, {n})
    clf = ww.{learner}(nominal=range(5), random_state=0, n_jobs={n_jobs}, {settings})
    clf.set_params(r=1).fit(X[:50], y[:50])  # everything is imported
    print("ready", flush=True)
    if hasattr(clf, "callback"):
        clf.set_params(callback=lambda step: print("tree", flush=True), time_limit={limit})
    clf.set_params(r=1_000_000).fit(X, y)
    print(clf.stopped_, clf.tree_.n_leaves > 0, clf.predict(X[:1]).shape, flush=True)
"""


@contextlib.contextmanager
def running(learner="ACTClassifier", n=300, n_jobs=1, limit=None, settings="variant='paper'"):
    """A search in a process of its own that would go on for hours."""
    program = textwrap.dedent(LONG).format(learner=learner, n=n, n_jobs=n_jobs, limit=limit, settings=settings)
    arguments = [sys.executable, "-c", program]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("n_jobs", "after"), [(1, 0.0), (2, 0.3)])
def test_a_real_ctrl_c_ends_a_search_with_what_it_has(n_jobs, after):
    # More cases than others are asked about: the first trees are there soon.
    with running(n=6000, n_jobs=n_jobs, limit=10_000, settings="variant='refined'") as process:
        assert process.stdout.readline() == "tree\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert err == ""
    assert out.splitlines()[-1] == "interrupted True (1,)"


@pytest.mark.parametrize(("learner", "n_jobs"), [("ACTClassifier", 2), ("LSID3Classifier", 1)])
def test_a_real_ctrl_c_ends_a_long_call_of_the_core(learner, n_jobs):
    settings = "variant='paper'" if learner == "ACTClassifier" else ""
    with running(learner, n_jobs=n_jobs, settings=settings) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in err
    assert out == ""


# -- whose labels -----------------------------------------------------------------------------------------------------


def noisy_line(seed, n=300):
    """Eight numbers whose sum, with much noise, is the class."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 8))
    return numbers, (numbers.sum(axis=1) + 3 * rng.normal(size=n) > 0).astype(int)


LINE_COSTS = ww.Costs(tests={f"x{i}": 1.0 for i in range(8)}, errors=50)


def test_softer_labels_where_they_help_and_own_ones_where_they_do_not():
    trusts = [act(costs=LINE_COSTS, random_state=seed).fit(*noisy_line(seed)).soft_label_weight_ for seed in range(3)]
    assert trusts == [1.0] * 3
    for seed in range(3):
        data, _, settings = concept("xor-5", seed)
        clf = act(random_state=seed, **settings).fit(data.X, data.y)
        assert clf.soft_label_weight_ == 0.0
        assert (clf.omega_, clf.confidence_) == (act("paper", **settings).fit(data.X, data.y).omega_, clf.confidence_)
    soft = act(costs=LINE_COSTS).fit(*noisy_line(0))
    assert (soft.omega_, soft.confidence_) == (0.25, 0.75)
    given = act(costs=LINE_COSTS, omega=0.5, confidence=0.6).fit(*noisy_line(0))
    assert (given.omega_, given.confidence_) == (0.5, 0.6)


def test_softer_labels_lead_to_cheaper_trees_on_fresh_cases():
    costs = {"paper": [], "refined": []}
    for seed in range(3):
        cases, fresh = noisy_line(seed), noisy_line(50 + seed, 2000)
        for variant, found in costs.items():
            clf = act(variant, costs=LINE_COSTS, r=3, random_state=seed).fit(*cases)
            found.append(clf.total_costs(*fresh).mean())
    assert np.mean(costs["refined"]) < 0.97 * np.mean(costs["paper"])


def test_nobody_is_asked_about_too_many_cases_or_without_time(monkeypatch):
    asked = []
    ensemble_shares = soft_labels.ensemble_shares
    monkeypatch.setattr(soft_labels, "ensemble_shares", lambda *a: asked.append(1) or ensemble_shares(*a))
    monkeypatch.setattr(soft_labels, "MAX_SOFT_CASES", 299)
    assert act(costs=LINE_COSTS).fit(*noisy_line(0)).soft_label_weight_ == 0.0
    monkeypatch.setattr(soft_labels, "MAX_SOFT_CASES", 300)
    assert act(costs=LINE_COSTS, time_limit=1e-9).fit(*noisy_line(0)).soft_label_weight_ == 0.0
    assert act("paper", costs=LINE_COSTS).fit(*noisy_line(0)).soft_label_weight_ == 0.0
    assert not asked
    assert act(costs=LINE_COSTS).fit(*noisy_line(0)).soft_label_weight_ == 1.0
    assert asked


def test_where_others_hardly_err_the_cases_keep_their_labels(monkeypatch):
    numbers, y = noisy_line(0)
    y = (numbers[:, 0] > 0).astype(int)
    clf = act(costs=LINE_COSTS)
    monkeypatch.setattr(tree_builder.TreeBuilder, "costs", lambda *_: pytest.fail("there is nothing to compare"))
    assert clf.fit(numbers, y).soft_label_weight_ == 0.0


def test_where_a_test_is_delayed_samples_are_pruned(monkeypatch):
    seen = []
    monkeypatch.setattr(soft_labels, "MAX_SOFT_CASES", 0)
    start = tree_builder.TreeBuilder.__init__

    def noting(self, lesson, school, *args, **how):
        seen.append(school)
        start(self, lesson, school, *args, **how)

    monkeypatch.setattr(tree_builder.TreeBuilder, "__init__", noting)
    for delayed, samples in ((True, "pruned"), (False, "grown")):
        costs = ww.Costs(tests={"x0": ww.Test(1.0, delayed=delayed)}, errors=50)
        act(costs=costs).fit(X, Y)
        assert seen[-1].samples == samples
        act("paper", costs=costs).fit(X, Y)
        assert seen[-1].samples == "grown"


# -- samples and set-aside cases --------------------------------------------------------------------------------------


@both
def test_samples_of_all_kinds(variant):
    cases = noisy_line(1)
    found = {}
    for samples in (None, "grown", "stopped", "pruned"):
        clf = act(variant, costs=LINE_COSTS, samples=samples, r=3).fit(*cases)
        assert clf.total_costs(*cases).mean() < 25
        found[samples] = clf.tree_.to_json()
    assert found[None] == found["grown" if variant == "paper" else "pruned"]
    assert len(set(found.values())) > 1


@both
@pytest.mark.parametrize("set_aside", [0.05, 0.2, 0.5])
def test_set_aside_cases(variant, set_aside):
    cases = noisy_line(2, 400)
    clf = act(variant, costs=LINE_COSTS, set_aside=set_aside).fit(*cases)
    assert clf.total_costs(*cases).mean() < 25
    plain = act(variant, costs=LINE_COSTS).fit(*cases)
    assert clf.tree_.to_json() != plain.tree_.to_json()
    nodes = clf.tree_.nodes  # all cases are counted again
    np.testing.assert_array_equal(nodes.weights[0].sum(), 400)
    for node in np.flatnonzero(nodes.test >= 0):
        children = slice(nodes.first_child[node], nodes.first_child[node] + nodes.n_children[node])
        np.testing.assert_allclose(nodes.weights[children].sum(axis=0), nodes.weights[node])




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
@pytest.mark.parametrize("settings", [{"set_aside": 0.5}, {"set_aside": 0.9}, {"r": 0}, {"time_limit": 0.05}])
def test_few_cases(variant, settings):
    for n in (1, 2, 3, 6):
        y = np.arange(n) % 2
        clf = act(variant, costs=None, **settings).fit(X[:n], y)
        assert set(clf.predict(X)) <= set(y)
        assert math.isfinite(clf.expected_cost_)


@both
def test_missing_values_texts_and_categories(variant):
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
    assert act(variant, costs=costs, set_aside=0.4).fit(frame, y).predict(frame).shape == (150,)
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
def test_an_answer_that_is_no_class_and_tests_that_are_too_dear(variant):
    errors = {0: {1: 100.0, "unknown": 1.0}, 1: {0: 100.0, "unknown": 1.0}}
    clf = act(variant, costs=ww.Costs(tests={f"x{i}": 50.0 for i in range(4)}, errors=errors)).fit(X, Y)
    assert set(clf.predict(X)) == {"unknown"}
    assert clf.expected_cost_ == pytest.approx(1.0)
    dear = ww.Costs(tests={f"x{i}": 200.0 for i in range(4)}, errors={0: {1: 60.0}, 1: {0: 90.0}})
    assert act(variant, costs=dear).fit(X, Y).tree_.n_leaves == 1


def test_the_expected_cost_is_that_of_the_tree():
    costs = ww.Costs(tests={f"x{i}": 1.0 + i for i in range(4)}, errors=50)
    clf = act("paper", costs=costs).fit(X, Y)
    problem = ref.Problem([*X.T], [0] * 4, Y, 2, marginal=[1, 2, 3, 4], errors=50 * (1 - np.eye(2)))
    policy = ref.Policy("icf", answer="least-cost", confidence=clf.confidence_)
    assert clf.expected_cost_ == pytest.approx(ref.tree_cost(problem, policy, to_node(clf.tree_.nodes)))
    assert clf.expected_cost_ > clf.total_costs(X, Y).mean()


# -- saving and parameters --------------------------------------------------------------------------------------------


@both
def test_saved_and_loaded(variant, tmp_path):
    clf = act(variant, samples="stopped", omega=0.3, time_limit=0.2, callback=lambda step: None)
    clf.fit(X, Y).save(tmp_path / "act.json")
    back = ww.load(tmp_path / "act.json")
    assert type(back) is ww.ACTClassifier
    assert back.get_params() == clf.get_params() | {"callback": None}
    assert back.tree_.to_json() == clf.tree_.to_json()
    np.testing.assert_array_equal(back.total_costs(X, Y), clf.total_costs(X, Y))
    lsid3 = ww.LSID3Classifier(r=2, random_state=0).fit(X, Y)
    lsid3.save(tmp_path / "lsid3.json")
    assert ww.load(tmp_path / "lsid3.json").tree_.to_json() == lsid3.tree_.to_json()


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ({"variant": "best"}, "variant='best' of ACTClassifier is not valid; it must be one of 'refined', 'paper'"),
        (
            {"r": -1},
            "r=-1 of ACTClassifier is not valid; it must be a whole number of at least 0 and at most 1,000,000",
        ),
        ({"omega": -1}, "omega=-1 of ACTClassifier is not valid; it must be a number of at least 0 or None"),
        (
            {"confidence": 0},
            "confidence=0 of ACTClassifier is not valid; it must be a number above 0 and at most 1 or None",
        ),
        (
            {"samples": "x"},
            "samples='x' of ACTClassifier is not valid; it must be one of 'grown', 'stopped', 'pruned' or None",
        ),
        (
            {"set_aside": 1},
            "set_aside=1 of ACTClassifier is not valid; it must be a number of at least 0 and at most 0.9",
        ),
        ({"time_limit": 0}, "time_limit=0 of ACTClassifier is not valid; it must be a number above 0 or None"),
        ({"callback": 3}, "callback=3 of ACTClassifier is not valid; it must be a function or None"),
    ],
)
def test_wrong_parameters_are_refused_with_what_would_be_right(parameter, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        act(**parameter).fit(X, Y)
    assert str(caught.value) == words


def test_wrong_parameters_of_lsid3():
    for parameter, words in (({"r": 1.5}, "r=1.5 of LSID3Classifier"), ({"prune": None}, "prune=None of LSID3")):
        with pytest.raises(ValueError, match=words):
            ww.LSID3Classifier(**parameter).fit(X, Y)

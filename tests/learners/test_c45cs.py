"""C4.5CS: altered priors, answers by the whole matrix, soft labels and presets."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given

import reference as ref
import worthwhile as ww
from bridge import assert_same_tree, core_grow, core_grow_altered, differences, to_node
from problems import SEEDS, compare, policies, problems
from worthwhile.learners import c45cs, soft_labels
from worthwhile.learners.c45cs import PRESETS, GrowthOption
from worthwhile.learners.soft_labels import SOFT_LABEL_WEIGHTS, SoftLabels
from worthwhile.table.columns import read_columns

RNG = np.random.default_rng(7)
X = RNG.normal(size=(240, 4)).round(2)
Y = np.where(X[:, 0] + 0.6 * RNG.normal(size=240) > 0.5, "c", np.where(X[:, 1] * X[:, 2] > 0.2, "b", "a"))
ERRORS = {"a": {"b": 1.0, "c": 4.0}, "b": {"a": 2.0, "c": 6.0}, "c": {"a": 3.0, "b": 13.0}}
COSTS = ww.Costs(tests={"x0": 2.0, "x3": 1.0}, errors=ERRORS)
PRUNINGS = ("pessimistic", "cost", "none")
both_prunings = pytest.mark.parametrize("prune", ["pessimistic", "cost"])
both_answers = pytest.mark.parametrize("answer", ref.ANSWERS)


def scaled(errors, factor):
    return ww.Costs(errors={truth: {a: c * factor for a, c in row.items()} for truth, row in errors.items()})


def same_nodes(one, other):
    """Whether two trees are the same to the last bit, whatever their costs."""
    return all(np.array_equal(getattr(one.nodes, name), getattr(other.nodes, name)) for name in vars(one.nodes))


def shape(tree):
    nodes = tree.nodes
    return nodes.test.tolist(), nodes.threshold.tolist(), nodes.maps.tolist(), nodes.answer.tolist()


# -- weights ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [[0, 1, 2], [0.0, 1.0, 2.0], ["0", "1", "2"], [False, True]])
def test_a_vector_comes_back_from_a_file(labels, tmp_path):
    y = np.array(labels)[np.unique(Y, return_inverse=True)[1] % len(labels)]
    vector = dict(zip(labels, [np.int64(1), np.float64(2.5), 4], strict=False))
    clf = ww.C45CSClassifier(vector=vector, soft_label_weight=np.float64(0.0)).fit(X, y)
    assert not same_nodes(clf.tree_, ww.C45CSClassifier().fit(X, y).tree_)
    clf.save(tmp_path / "model.json")
    back = ww.load(tmp_path / "model.json")
    assert back.tree_.to_json() == clf.tree_.to_json()
    assert back.fit(X, y).tree_.to_json() == clf.tree_.to_json()  # the keys are strings now


# -- C4.5 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prune", PRUNINGS)
@pytest.mark.parametrize("errors", [1.0, 0.1, 1 / 3, 7e-9, 5e12])
def test_equal_costs_give_exactly_the_tree_of_c45(errors, prune):
    costs = ww.Costs(errors=errors)
    weights = RNG.integers(1, 9, 240) / 7
    many = np.arange(240) % 30  # sums of 30 costs are rounded in different ways
    for y, sample_weight in ((Y, None), (Y, weights), (many, None), (many, weights)):
        plain, weighted = (
            learner(costs=costs, prune=prune).fit(X, y, sample_weight)
            for learner in (ww.C45Classifier, ww.C45CSClassifier)
        )
        assert weighted.tree_.to_json() == plain.tree_.to_json()
    altered = ww.C45CSClassifier(costs=costs, prune=prune, priors="altered").fit(X, Y)
    assert same_nodes(altered.tree_, ww.C45Classifier(costs=costs, prune=prune).fit(X, Y).tree_)


def test_without_weighting_it_is_c45():
    plain = ww.C45Classifier(costs=COSTS).fit(X, Y)
    assert ww.C45CSClassifier(costs=COSTS, weighting=None).fit(X, Y).tree_.to_json() == plain.tree_.to_json()
    assert not same_nodes(ww.C45CSClassifier(costs=COSTS).fit(X, Y).tree_, plain.tree_)


@pytest.mark.parametrize("priors", [None, "altered"])
@pytest.mark.parametrize("prune", PRUNINGS)
def test_scaling_all_error_costs_changes_nothing(prune, priors):
    settings = {"prune": prune, "priors": priors, "answer": "least-cost"}
    tree = ww.C45CSClassifier(costs=ww.Costs(errors=ERRORS), **settings).fit(X, Y).tree_
    assert tree.n_leaves > 2
    for factor in (0.25, 1024):
        assert same_nodes(ww.C45CSClassifier(costs=scaled(ERRORS, factor), **settings).fit(X, Y).tree_, tree)
    for factor in (1e-3, np.pi, 7e5):
        other = ww.C45CSClassifier(costs=scaled(ERRORS, factor), **settings).fit(X, Y).tree_
        assert shape(other) == shape(tree)
        np.testing.assert_allclose(other.nodes.weights, tree.nodes.weights)


# -- the oracle -------------------------------------------------------------------------------------------------------


def altered(problem, policy, counts):
    """The oracle's tree that is grown by the weights of a problem, and pruned by others."""
    grown = ref.grow(problem, replace(policy, prune="none"))
    counted = ref.without_weightless(problem)
    counted = replace(counted, weights=counts[problem.weights > 0])
    root = ref.recounted(counted, grown, ref.all_cases(counted))
    ref.set_answers(counted, policy, root)
    if policy.prune == "pessimistic":
        root = ref.prune_pessimistic(counted, policy, ref.collapse(root), ref.all_cases(counted))[0]
    elif policy.prune == "cost":
        root = ref.prune_by_cost(counted, policy, root, ref.all_cases(counted))
    ref.set_answers(counted, policy, root)
    return root


def by_class(problem, seed):
    """The problem with cases that also weigh by their class."""
    costs = np.random.default_rng(seed).choice([0.3, 1, 1, 2, 10], problem.k)
    return replace(problem, weights=problem.weights * costs[problem.y])


def structure(node):
    return node.column, node.threshold, node.branch_of, [structure(child) for child in node.children]


@compare(200)
@given(problem=problems(), policy=policies(prunings=["none"]), seed=SEEDS)
def test_before_pruning_altered_priors_give_the_structure_of_the_weighted_tree(problem, policy, seed):
    weighted = by_class(problem, seed)
    tree = to_node(core_grow_altered(weighted, policy, problem.weights))
    assert structure(tree) == structure(to_node(core_grow(weighted, policy)))
    kept = problem.weights > 0
    counted = np.bincount(problem.y[kept], problem.weights[kept], minlength=problem.k)
    np.testing.assert_allclose(tree.weights, counted)


@both_prunings
@both_answers
@compare(100)
@given(problem=problems(), policy=policies(), seed=SEEDS)
def test_the_tree_by_altered_priors_is_pruned_by_the_other_weights(prune, answer, problem, policy, seed):
    policy = replace(policy, prune=prune, answer=answer)
    for counts in (np.ones(len(problem.y)), problem.weights):
        weighted = by_class(problem, seed)
        assert_same_tree(core_grow_altered(weighted, policy, counts), altered(weighted, policy, counts))


def test_the_comparison_would_see_which_weights_prune():
    rng = np.random.default_rng(1)
    problem = ref.Problem([X[:, j] for j in range(4)], [0] * 4, rng.integers(0, 2, 240), 2)
    weighted = replace(problem, weights=np.where(problem.y, 0.2, 1.8))
    policy = ref.Policy()
    assert differences(ref.grow(weighted, policy), altered(weighted, policy, np.ones(240)))


def class_costs(errors, k):
    """Equation 4, answer by answer."""
    return np.array([sum(max(errors[j, i] - errors[j, j], 0.0) for i in range(k) if i != j) for j in range(k)])


def as_given(problem):
    """A problem as a user has it: X, y and costs; prices are left out."""
    frame = pd.DataFrame(
        {
            f"x{t}": [None if c < 0 else f"v{c}" for c in column] if v else column
            for t, (column, v) in enumerate(zip(problem.columns, problem.n_values, strict=True))
        }
    )
    answers = [f"c{a}" for a in range(problem.k)] + [f"r{a}" for a in range(problem.k, problem.errors.shape[1])]
    costs = ww.Costs(errors=problem.errors, classes=answers)
    return frame, np.array(answers)[problem.y], costs


def as_seen(problem):
    """The weighted problem as the learner sees it: only classes and values that occur, and no case without weight."""
    present, y = np.unique(problem.y, return_inverse=True)
    answers = [*present, *range(problem.k, problem.errors.shape[1])]
    errors = problem.errors[np.ix_(present, answers)]
    weights = problem.weights.copy()
    if len(present) > 1:
        costs = class_costs(errors, len(present))[y]
        assume((costs * weights).sum() > 0)
        weights *= costs * weights.sum() / (costs * weights).sum()
    kept = weights > 0
    columns, n_values = [], []
    for column, v in zip(problem.columns, problem.n_values, strict=True):
        seen = np.unique(column[kept & (column >= 0)]) if v else []
        n_values.append(len(seen))
        codes = [list(seen).index(c) if c in seen else -1 for c in column]
        columns.append(column if not v else codes if len(seen) else np.full(len(column), np.nan))
    errors = errors - errors.min(axis=1, keepdims=True)  # what every answer costs is left out
    seen = ref.Problem(columns, n_values, y, len(present), weights=weights, errors=errors)
    return ref.some_cases(seen, np.flatnonzero(kept)), np.flatnonzero(kept)


@pytest.mark.parametrize("priors", [None, "altered"])
@compare(250)
@given(problem=problems(), policy=policies())
def test_the_learner_is_the_oracle_on_the_weighted_problem(priors, problem, policy):
    policy = replace(policy, criterion="gain-ratio", max_depth=policy.max_depth or None)
    problem = replace(problem, weights=16 * problem.weights)  # weights with a mean below 1 would be scaled
    seen, kept = as_seen(problem)
    frame, y, costs = as_given(problem)
    names = ("min_cases", "min_share", "max_depth", "mdl_correction", "answer", "prune", "raise_subtrees", "confidence")
    settings = {name: getattr(policy, name) for name in names}
    clf = ww.C45CSClassifier(costs=costs, priors=priors, cross_fit=False, **settings)  # folds may cut the tree
    clf.fit(frame, y, problem.weights)
    nodes = clf.tree_.nodes
    if nodes.believed is not None:
        nodes = replace(nodes, weights=nodes.believed)
    expected = ref.grow(seen, policy) if priors is None else altered(seen, policy, problem.weights[kept])
    assert_same_tree(nodes, expected)


# -- answers ----------------------------------------------------------------------------------------------------------


def test_the_least_cost_answer_takes_the_weights_at_the_leaf():
    # Eight a, two b; a for b costs 3, b for a costs 1: the weights of the leaf are as 8 to 6.
    costs = ww.Costs(errors={"a": {"b": 1}, "b": {"a": 3}})
    rows, y = np.ones((10, 1)), ["a"] * 8 + ["b"] * 2
    by = {
        (weighting, answer): ww.C45CSClassifier(costs=costs, weighting=weighting, answer=answer).fit(rows, y)
        for weighting in (None, "instance")
        for answer in ref.ANSWERS
    }
    np.testing.assert_allclose(by["instance", "majority"].tree_.nodes.believed, [[80 / 14, 60 / 14]])
    # By equation 5, answering a costs 6 * 3, answering b 8 * 1. Counts instead of weights: 2 * 3 and 8 * 1.
    answers = {key: clf.predict(rows[:1])[0] for key, clf in by.items()}
    assert answers.pop(("instance", "least-cost")) == "b"
    assert set(answers.values()) == {"a"}
    altered_priors = ww.C45CSClassifier(costs=costs, answer="least-cost", priors="altered").fit(rows, y)
    assert altered_priors.predict(rows[:1]) == ["a"]
    assert altered_priors.tree_.nodes.weights.tolist() == [[8, 2]]


def test_with_two_classes_the_expensive_errors_become_fewer():
    # Breiman's shift: x says how likely b is; without costs the cut is in the middle.
    rng = np.random.default_rng(5)
    x = rng.random((2000, 1))
    y = np.where(rng.random(2000) < x[:, 0], "b", "a")
    costs = ww.Costs(errors={"a": {"b": 1}, "b": {"a": 4}})
    plain, weighted = (
        learner(costs=costs, min_cases=50).fit(x[:1000], y[:1000]) for learner in (ww.C45Classifier, ww.C45CSClassifier)
    )
    expensive = [ww.metrics.high_cost_errors(clf, x[1000:], y[1000:]) for clf in (plain, weighted)]
    total = [ww.metrics.total_error_cost(clf, x[1000:], y[1000:]) for clf in (plain, weighted)]
    assert expensive[1] < expensive[0] / 2
    assert total[1] < 0.8 * total[0]


def test_with_three_classes_one_weight_per_class_is_not_enough():
    # Where a is likelier than b, b is the answer to give, and so on in a circle: no weights w can say all of
    # 0.4 w(b) > 0.6 w(a), 0.4 w(c) > 0.6 w(b) and 0.4 w(a) > 0.6 w(c).
    costs = ww.Costs(errors={"a": {"b": 1, "c": 9}, "b": {"c": 1, "a": 9}, "c": {"a": 1, "b": 9}})
    rng = np.random.default_rng(2)
    place = rng.integers(0, 3, 2000)
    y = np.array(["a", "b", "c"])[(place + (rng.random(2000) < 0.4)) % 3]
    rows = np.column_stack([place, rng.normal(size=(2000, 2))])
    seen, unseen = (rows[:1000], y[:1000]), (rows[1000:], y[1000:])
    whole = ww.C45CSClassifier(costs=costs, weighting=None, prune="cost", answer="least-cost").fit(*seen)
    assert whole.tree_.n_leaves > 2
    assert ww.metrics.total_error_cost(whole, *unseen) < 1000
    weighted = ww.C45CSClassifier(costs=costs).fit(*seen)
    assert weighted.tree_.to_json() == ww.C45Classifier(costs=costs).fit(*seen).tree_.to_json()  # all weigh the same
    for vector in ("sum", "max", {"a": 2, "b": 1, "c": 1}, {"a": 1, "b": 2, "c": 1}, {"a": 1, "b": 2, "c": 4}):
        clf = ww.C45CSClassifier(costs=costs, vector=vector).fit(*seen)
        assert ww.metrics.total_error_cost(clf, *unseen) > 3 * ww.metrics.total_error_cost(whole, *unseen)


# -- every learner ----------------------------------------------------------------------------------------------------


# -- soft labels ------------------------------------------------------------------------------------------------------


def by_chance(n=300, seed=0):
    """Two classes that overlap: most labels are a matter of luck."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 6))
    return rows, (rows[:, 0] + rows[:, 1] + 2 * rng.normal(size=n) > 0).astype(int)


def test_without_soft_labels_no_ensemble_is_fitted(monkeypatch):
    def fail(*_):
        raise AssertionError("an ensemble was fitted")

    monkeypatch.setattr(soft_labels, "_out_of_bag_shares", fail)
    clf = ww.C45CSClassifier(costs=COSTS, soft_label_weight=0).fit(X, Y)
    assert clf.soft_label_weight_ == 0
    assert clf.tree_.to_json() == ww.C45CSClassifier(costs=COSTS, random_state=3).fit(X, Y).tree_.to_json()
    with pytest.raises(AssertionError, match="an ensemble was fitted"):
        clf.set_params(soft_label_weight=0.01).fit(X, Y)


@pytest.mark.parametrize("soft_label_weight", [0.5, "chosen"])
def test_soft_labels_are_repeatable_and_do_not_depend_on_threads(soft_label_weight):
    rows, y = by_chance()
    settings = {
        "soft_label_weight": soft_label_weight,
        "costs": ww.Costs(errors={0: {1: 1}, 1: {0: 3}}),
        "prune": "cost",
    }
    one = ww.C45CSClassifier(**settings, random_state=4).fit(rows, y)
    assert one.soft_label_weight_ in (SOFT_LABEL_WEIGHTS if soft_label_weight == "chosen" else (soft_label_weight,))
    for random_state, n_jobs in ((4, 2), (np.int64(4), None)):
        other = ww.C45CSClassifier(**settings, random_state=random_state, n_jobs=n_jobs).fit(rows, y)
        assert other.tree_.to_json() == one.tree_.to_json()
        assert other.soft_label_weight_ == one.soft_label_weight_
    seeds = {ww.C45CSClassifier(**settings, random_state=seed).fit(rows, y).tree_.to_json() for seed in range(4, 7)}
    assert len(seeds) > 1
    generator = np.random.default_rng(4)  # goes on from fit to fit
    fits = {ww.C45CSClassifier(**settings, random_state=generator).fit(rows, y).tree_.to_json() for _ in range(2)}
    assert len(fits) == 2


def test_labels_are_mixed_by_the_soft_label_weight():
    rows, y = by_chance()
    settings = {"max_depth": 1, "prune": "none", "random_state": 0, "costs": ww.Costs(errors={0: {1: 1}, 1: {0: 3}})}
    weights = {
        soft_label_weight: ww.C45CSClassifier(soft_label_weight=soft_label_weight, **settings)
        .fit(rows, y)
        .tree_._core_tree.weights
        for soft_label_weight in (0, 0.5, 1)
    }
    np.testing.assert_allclose(weights[0.5][0], (weights[0][0] + weights[1][0]) / 2)
    assert abs(weights[1][0] - weights[0][0]).max() > 0.1
    np.testing.assert_allclose([w[0].sum() for w in weights.values()], 300)
    # Soft labels are those that x0 and x1 speak for: a side of the cut is less pure by them than it seems.
    assert abs(np.diff(weights[1][1])) < 150


@pytest.mark.parametrize("seed", range(3))
def test_labels_by_chance_are_softened_but_a_rule_is_not(seed):
    rows, y = by_chance(seed=seed)
    settings = {"soft_label_weight": "chosen", "random_state": seed, "prune": "cost"}
    noisy = ww.C45CSClassifier(**settings).fit(rows, y)
    assert noisy.soft_label_weight_ > 0
    unseen = by_chance(2000, seed + 100)
    assert noisy.score(*unseen) > ww.C45CSClassifier(prune="cost").fit(rows, y).score(*unseen)
    # What is always right cannot become cheaper.
    rows[:, 0] = rows[:, 0].round()
    exact = (np.abs(rows[:, 0]) == 1).astype(int)
    rule = ww.C45CSClassifier(**settings).fit(rows, exact)
    assert rule.soft_label_weight_ == 0
    assert rule.tree_.n_leaves > 2
    assert rule.tree_.to_json() == ww.C45CSClassifier(prune="cost").fit(rows, exact).tree_.to_json()


def test_the_soft_label_weight_is_chosen_by_what_answers_cost():
    """As the class says it: five folds, the same for all, their answers judged by the matrix and the sample weights."""
    (rows, y), rng = by_chance(150), np.random.default_rng(9)
    rows[rng.random(rows.shape) < 0.15] = np.nan  # mixtures of leaves are answered by the policy, too
    costs = ww.Costs(tests={"x0": 1e6}, errors={0: {1: 1}, 1: {0: 7}})  # C4.5CS does not look at prices
    sample_weight = rng.integers(0, 3, 150)
    judged = []

    class Noting(ww.C45CSClassifier):
        def _error_cost(self, core, cases):
            judged.append(super()._error_cost(core, cases))
            tree = ww.Tree.from_core(core, cases.context, self.answer)
            answers = tree._route(cases.columns, answers=True)[0]
            table = np.array([[0, 1], [7, 0]])
            money = judged[-1] * cases.bound_costs.learning.unit
            assert money == pytest.approx((table[cases.classes, answers] * cases.sample_weights).sum())
            assert 1 < len(cases.classes) < 40
            return judged[-1]

    clf = Noting(costs=costs, soft_label_weight="chosen", random_state=1, cross_fit=False).fit(rows, y, sample_weight)
    sums = np.array(judged).reshape(5, 3).sum(axis=0)
    assert clf.soft_label_weight_ == SOFT_LABEL_WEIGHTS[int(sums.argmin())]
    assert len(set(sums)) > 1


@pytest.mark.parametrize("soft_label_weight", [0.5, 1.0, "chosen"])
def test_soft_labels_where_there_is_little_to_learn_from(soft_label_weight):
    y = np.array(["a", "b", "b", "c"] * 6)
    for rows in (RNG.normal(size=(24, 3)), np.ones((24, 2)), np.full((24, 2), np.nan), np.full((24, 2), None)):
        assert ww.C45CSClassifier(soft_label_weight=soft_label_weight, random_state=0).fit(rows, y).predict(
            rows
        ).shape == (24,)
    empty = ww.C45CSClassifier(soft_label_weight=soft_label_weight, nominal=["x0"]).fit(np.full((24, 1), np.nan), y)
    assert (empty.soft_label_weight_, empty.tree_.n_leaves) == (
        0,
        1,
    )  # not a single value to learn from
    for n in (1, 2, 3):
        few = ww.C45CSClassifier(soft_label_weight=soft_label_weight, random_state=0).fit(
            np.arange(n, dtype=float)[:, None], y[:n]
        )
        assert few.predict([[0.0]])[0] in y[:n]
    assert ww.C45CSClassifier(soft_label_weight=soft_label_weight).fit(np.arange(9.0)[:, None], ["a"] * 9).predict(
        [[3.0]]
    ) == ["a"]
    rare = ww.C45CSClassifier(soft_label_weight=soft_label_weight).fit(np.arange(30.0)[:, None], ["a"] * 29 + ["b"])
    assert rare.predict([[0.0]]) == ["a"]


def test_soft_labels_with_a_class_that_weighs_nothing():
    errors = {"a": {"b": 0, "c": 0}, "b": {"a": 1, "c": 1}, "c": {"a": 1, "b": 3}}
    for soft_label_weight in (1.0, "chosen"):
        clf = ww.C45CSClassifier(
            costs=ww.Costs(errors=errors), soft_label_weight=soft_label_weight, random_state=0
        ).fit(X, Y)
        assert clf.tree_.nodes.weights[0, 0] == 0
        assert set(clf.predict(X)) <= {"b", "c"}


# -- presets ----------------------------------------------------------------------------------------------------------

MATRIX = {"weighting": None, "prune": "cost", "answer": "least-cost", "random_state": 0, "cross_fit": False}


def by_letters(n_per_pair, seed=0):
    """A class for every pair of two letters: the rule has as many branches as there are pairs, each of few cases."""
    pairs = np.random.default_rng(seed).permutation([(a, b) for a in "pqrs" for b in "tuvw"] * n_per_pair)
    return pairs, np.array([("pqrs".index(a) + "tuvw".index(b)) % 3 for a, b in pairs])


def test_a_fine_rule_needs_a_fine_preset():
    rows, y = by_letters(2)
    given = ww.C45CSClassifier(costs=ww.Costs(errors=1), **MATRIX).fit(rows, y)
    chosen = ww.C45CSClassifier(costs=ww.Costs(errors=1), preset="chosen", **MATRIX).fit(rows, y)
    assert given.preset_ == {}
    assert chosen.preset_["min_cases"] == 1.0
    assert chosen.score(*by_letters(1, seed=1)) == 1.0


@pytest.mark.parametrize("preset", PRESETS, ids=["given", "finer", "by gain"])
def test_the_chosen_preset_grows_the_tree(preset, monkeypatch):
    monkeypatch.setattr(c45cs, "PRESETS", (preset, preset))
    clf = ww.C45CSClassifier(costs=COSTS, preset="chosen", **MATRIX).fit(X, Y)
    by_hand = ww.C45CSClassifier(costs=COSTS, **MATRIX)
    labels = SoftLabels.own(by_hand._prepare(read_columns(X), Y, None))
    core = by_hand._grow_option(labels, GrowthOption(0.0, preset))
    assert clf.tree_.to_json() == ww.Tree.from_core(core, labels.training.context, "least-cost").to_json()
    assert clf.preset_ == dict(preset)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_preset_and_soft_label_weight_are_chosen_together_and_repeatably(n_jobs):
    rows, y = by_chance()
    one, other = (
        ww.C45CSClassifier(soft_label_weight="chosen", preset="chosen", n_jobs=n, **MATRIX).fit(rows, y)
        for n in (1, n_jobs)
    )
    assert (one.soft_label_weight_, one.preset_) == (other.soft_label_weight_, other.preset_)
    assert one.tree_.to_json() == other.tree_.to_json()
    assert one.preset_ in [dict(preset) for preset in PRESETS]


# -- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [{"soft_label_weight": 0.5}, {"soft_label_weight": "chosen"}, {"weighting": None}, {"preset": "chosen"}],
)
def test_altered_priors_refuse_what_they_cannot_be_combined_with(parameters):
    used = {"weighting": "instance", "soft_label_weight": 0.0, "preset": "given"} | parameters
    got = ", ".join(f"{name}={value!r}" for name, value in used.items())
    words = f"priors='altered' needs weighting='instance', soft_label_weight=0 and preset='given', got {got}"
    with pytest.raises(ValueError, match=words):
        ww.C45CSClassifier(priors="altered", **parameters).fit(X, Y)


def test_priors_and_sample_weights():
    """Altered priors: the sample weights stay when those by cost are gone."""
    sample_weight = RNG.integers(0, 4, 240).astype(float)
    clf = ww.C45CSClassifier(costs=COSTS, priors="altered").fit(X, Y, sample_weight)
    expected = [sample_weight[label == Y].sum() for label in "abc"]
    np.testing.assert_allclose(clf.tree_.nodes.weights[0], expected)
    assert clf.soft_label_weight_ == 0

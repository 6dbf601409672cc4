"""Costs and probabilities that hold for new cases: measured on cases that the trees have not seen."""

import json

import numpy as np
import pytest

import worthwhile as ww
from all_learners import LEARNERS, make
from worthwhile.learners import cross_fitting
from worthwhile.learners.cross_fitting import agreeing, expected_cost_of, fold_masks, n_used, shrunk_probabilities
from worthwhile.table.columns import read_columns
from worthwhile.tree.node_costs import node_costs

RNG = np.random.default_rng(4)
COSTS = ww.Costs(tests={f"x{i}": 1.0 + i for i in range(6)}, errors={0: {1: 60.0}, 1: {0: 90.0}})
pytestmark = pytest.mark.usefixtures("remembered_ensembles")


def noisy(n, seed):
    """Six numbers whose sum, with much noise, is the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).round(2)
    return X, (X.sum(axis=1) + 2 * rng.normal(size=n) > 0).astype(int)


def counted(tree, X, y):
    """The cases of each class that pass each node."""
    paths = tree.decision_path(X).toarray()
    return np.column_stack([paths[y == label].sum(axis=0) for label in tree.classes])


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_knows_what_a_new_case_costs(learner, tmp_path):
    X, y = noisy(300, 0)
    clf = make(learner, costs=COSTS, random_state=0)
    assert not hasattr(clf, "expected_cost_")
    clf.fit(X, y)
    low, high = clf.expected_cost_interval_
    assert low < clf.expected_cost_ < high
    assert 0.8 < clf.expected_cost_ / clf.total_costs(*noisy(4000, 1)).mean() < 1.25
    clf.save(tmp_path / "model.json")
    back = ww.load(tmp_path / "model.json")
    assert (back.expected_cost_, back.expected_cost_interval_) == (clf.expected_cost_, (low, high))
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("learner", [ww.C45Classifier, ww.EG2Classifier])
def test_the_root_is_honest_and_probabilities_are_not_too_sure(learner):
    X, y = noisy(300, 2)
    new = noisy(4000, 3)

    def loss(clf):
        shares = clf.predict_proba(new[0])[np.arange(4000), new[1]]
        return -np.log(np.maximum(shares, 1e-9)).mean()

    honest = learner(costs=COSTS, prune="none").fit(X, y)
    plain = learner(costs=COSTS, prune="none", cross_fit=False).fit(X, y)
    actual = honest.total_costs(*new).mean()
    assert plain.total_costs(*new).mean() == actual  # the same tree
    assert node_costs(plain.tree_)[0].expected_cost < 0.85 * actual
    assert node_costs(honest.tree_)[0].expected_cost == pytest.approx(actual, rel=0.2)
    assert loss(honest) < 0.72
    assert loss(plain) > 0.8
    assert not hasattr(plain, "expected_cost_")
    assert plain.tree_.nodes.probabilities is None


@pytest.mark.parametrize("clf", [ww.ACTClassifier(r=1), ww.C45CSClassifier(soft_label_weight=1.0)])
def test_nodes_count_real_cases_and_keep_what_the_search_believed(clf):
    X, y = noisy(300, 5)
    clf.set_params(costs=COSTS.with_errors(300), random_state=0).fit(X, y)
    nodes = clf.tree_.nodes
    assert len(nodes.test) > 1
    np.testing.assert_allclose(nodes.weights, counted(clf.tree_, X, y))
    assert abs(nodes.believed - nodes.weights).max() > 1
    leaf = int(np.flatnonzero(nodes.test < 0)[0])
    here = nodes.weights[leaf]
    assert f"{here.sum():.0f} of 300 cases, {here[nodes.answer[leaf]] / here.sum():.0%} correct" in clf.tree_.to_text()
    again = ww.Tree.from_json(clf.tree_.to_json()).nodes
    for name in ("weights", "believed", "probabilities"):
        np.testing.assert_array_equal(getattr(again, name), getattr(nodes, name))


def test_refined_trees_answer_at_least_cost_by_their_probabilities_and_published_ones_agree():
    X, y = noisy(300, 11)
    refined = ww.ACTClassifier(costs=COSTS.with_errors({0: {1: 60.0}, 1: {0: 500.0}}), r=1, random_state=0).fit(X, y)
    published = ww.DTMCClassifier(costs=refined.costs).fit(X, y)
    kept = ww.DTMCClassifier(costs=refined.costs, cross_fit=False).fit(X, y)
    np.testing.assert_array_equal(published.tree_.nodes.answer, kept.tree_.nodes.answer)
    for clf in (refined, published):
        nodes = clf.tree_.nodes
        costs = nodes.probabilities @ clf.tree_.error_costs
        own = costs[np.arange(len(costs)), nodes.answer]
        np.testing.assert_allclose(own, costs.min(axis=1), atol=1e-6)


def test_answers_are_kept_and_no_class_becomes_impossible():
    """A leaf with as many cases of one class as of another keeps its answer, and the other classes their chance."""
    shares = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    given = np.array([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.6, 0.3, 0.1]])
    answers = np.array([0, 0, 2])
    found = agreeing(given, answers, shares, None)
    np.testing.assert_array_equal(found[0], given[0])
    assert (found.argmax(axis=1) == answers).all()
    assert (found >= given / 2).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    errors = np.array([[0.0, 10.0, 10.0, 1.0], [10.0, 0.0, 10.0, 1.0], [50.0, 50.0, 0.0, 1.0]])  # 3 rejects
    for answer, sure in ((0, given), (3, np.array([[0.97, 0.02, 0.01]] * 3))):
        found = agreeing(sure, np.full(3, answer), np.array([[0.5, 0.4, 0.1]] * 3), errors)
        costs = found @ errors
        np.testing.assert_allclose(costs[:, answer], costs.min(axis=1), atol=1e-4)
        assert (found > 0).all()


def test_many_classes_and_small_leaves_are_no_worse_than_the_class_shares():
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(200, 3)).round(1), rng.integers(0, 8, 200)  # nothing to learn
    clf = ww.EG2Classifier(prune="none").fit(X[:100], y[:100])
    shares = clf.predict_proba(X[100:])
    assert shares.min() > 1e-3
    assert -np.log(shares[np.arange(100), y[100:]]).mean() < np.log(8) + 0.25


def test_cases_with_missing_values_cost_what_they_do_at_the_chosen_strength(monkeypatch):
    X, y = noisy(300, 13)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    one = ww.C45Classifier(costs=COSTS, prune="none").fit(X, y)
    monkeypatch.setattr(cross_fitting, "STRENGTHS", (*cross_fitting.STRENGTHS, 1e6))  # not chosen
    assert ww.C45Classifier(costs=COSTS, prune="none").fit(X, y).expected_cost_ == one.expected_cost_


def test_weights_of_real_cases_are_sample_weights():
    X, y = noisy(200, 6)
    weights = RNG.integers(1, 4, 200)
    clf = ww.C45CSClassifier(costs=COSTS).fit(X, y, weights)
    np.testing.assert_allclose(clf.tree_.nodes.weights[0], np.bincount(y, weights))


def test_probabilities_are_shrunk_towards_the_parent():
    X, y = noisy(120, 7)
    nodes = ww.C45Classifier(cross_fit=False, prune="none").fit(X, y).tree_.nodes
    found = shrunk_probabilities(nodes, nodes.weights, 5.0)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[0], nodes.weights[0] / 120)
    for node in range(len(nodes.test)):
        for child in nodes.children(node):
            own = nodes.weights[child]
            np.testing.assert_allclose(found[child], (own + 5.0 * found[node]) / (own.sum() + 5.0))


@pytest.mark.usefixtures("repeats")
def test_folds_do_not_depend_on_the_order_and_weights_are_repetitions():
    X, y = noisy(150, 8)
    order = RNG.permutation(150)
    weights = RNG.integers(1, 3, 150)
    one = ww.DTMCClassifier(costs=COSTS).fit(X, y, weights)
    for rows, own in ((order, weights), (np.repeat(np.arange(150), weights), None)):
        other = ww.DTMCClassifier(costs=COSTS).fit(X[rows], y[rows], None if own is None else own[rows])
        assert other.expected_cost_ == pytest.approx(one.expected_cost_)
        np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X))


def test_every_case_is_left_out_once_and_of_many_only_some():
    X, y = noisy(103, 9)
    training = ww.C45Classifier()._prepare(read_columns(X), y, None).repeated()
    masks = list(fold_masks(training))
    assert np.sum(masks, axis=0).tolist() == [4] * 103
    assert [n_used(n) for n in (2, 2_000, 5_000, 20_000)] == [5, 5, 2, 1]


def test_intervals_narrow_with_the_cases():
    costs = RNG.exponential(10, 400)
    few, many = expected_cost_of(costs[:100]), expected_cost_of(np.tile(costs[:100], 4))
    assert few.mean == pytest.approx(many.mean)
    assert (few.high - few.low) == pytest.approx(2 * (many.high - many.low), rel=0.01)
    rare = expected_cost_of(np.array([0.0] * 30 + [5.0]))
    assert rare.low == 0 < rare.mean < rare.high < 5
    same = expected_cost_of(np.full(7, 0.1))
    assert same.low <= same.mean <= same.high
    weighted = expected_cost_of(costs, np.where(np.arange(400) < 100, 1.0, 0.0) + 1e-12)
    assert weighted.mean == pytest.approx(few.mean)
    assert (weighted.high - weighted.low) == pytest.approx(few.high - few.low, rel=0.01)


def test_one_case_says_nothing_about_others():
    clf = ww.DTMCClassifier().fit([[1.0]], ["a"])
    assert not hasattr(clf, "expected_cost_")
    with pytest.raises(AttributeError, match="the expected cost of this DTMCClassifier is unknown: no cases were held"):
        clf.expected_cost_  # noqa: B018


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("expected_cost", [1.0, 2.0, 3.0], r"'expected_cost' must be \[mean, low, high\]"),
        ("expected_cost", [1.0, 0.0], r"'expected_cost' must be \[mean, low, high\]"),
        ("probabilities", [0.5, 0.6], "'probabilities' of node 0 must add up to 1, got a sum of 1.1"),
        ("probabilities", None, "node 0 lacks 'probabilities', which other nodes have"),
        ("believed", [-1.0, 0.0], "'believed' of node 0 has -1.0; believed are numbers from 0"),
    ],
)
def test_files_with_wrong_figures_are_refused(field, value, message):
    X, y = noisy(100, 10)
    content = json.loads(ww.DTMCClassifier(costs=COSTS).fit(X, y).tree_.to_json())
    place = content if field == "expected_cost" else content["nodes"][0]
    if value is None:
        del place[field]
    else:
        place[field] = value
    with pytest.raises(ValueError, match=message):
        ww.Tree.from_json(json.dumps(content))


def test_a_single_leaf_is_expected_to_cost_what_its_answer_costs():
    """On other cases, the procedure might have done tests."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    clf = ww.DTMCClassifier(costs=ww.Costs(tests={f"x{j}": 1.0 for j in range(3)}, errors=4), max_leaves=1).fit(X, y)
    assert clf.tree_.n_nodes == 1
    assert clf.expected_cost_ == pytest.approx(4 * min(y.mean(), 1 - y.mean()))
    low, high = clf.expected_cost_interval_
    assert low < clf.expected_cost_ < high

"""Case weights from error costs, by equations 2 and 4 of Ting (1998); and weighting as a parameter of every learner."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

import worthwhile as ww
from all_learners import LEARNERS, make
from worthwhile.table.columns import read_columns

RNG = np.random.default_rng(7)
X = RNG.normal(size=(240, 4)).round(2)
Y = np.where(X[:, 0] + 0.6 * RNG.normal(size=240) > 0.5, "c", np.where(X[:, 1] * X[:, 2] > 0.2, "b", "a"))
ERRORS = {"a": {"b": 1.0, "c": 4.0}, "b": {"a": 2.0, "c": 6.0}, "c": {"a": 3.0, "b": 13.0}}
COSTS = ww.Costs(tests={"x0": 2.0, "x3": 1.0}, errors=ERRORS)


def weights_of(y, costs=COSTS, sample_weight=None, **settings):
    """The weights that C4.5CS gives to the cases that it keeps."""
    clf = ww.C45CSClassifier(costs=ww.Costs(errors=costs.errors), **settings)
    columns = read_columns(np.arange(len(y), dtype=float)[:, None])
    return clf._prepare(columns, np.array(y), sample_weight).weights


def test_weights_are_those_of_equation_2():
    # C(well) = 1 and C(sick) = 5: w = C * 4 / (3 * 1 + 1 * 5).
    costs = ww.Costs(errors={"well": {"sick": 1}, "sick": {"well": 5}})
    assert weights_of(["well", "sick", "well", "well"], costs).tolist() == [0.5, 2.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("vector", "costs"),
    [
        ("sum", [5, 8, 16]),  # equation 4
        ("max", [4, 6, 13]),
        ({"a": 2, "b": 0.5, "c": np.float32(3)}, [2, 0.5, 3]),
    ],
)
def test_weights_are_in_proportion_to_what_errors_cost_and_sum_to_the_number_of_cases(vector, costs):
    by_class = dict(zip("abc", costs, strict=True))
    weights = weights_of(Y, vector=vector)
    assert weights.sum() == pytest.approx(240)
    total = sum(by_class[label] for label in Y)
    np.testing.assert_allclose(weights, [by_class[label] * 240 / total for label in Y])
    given = RNG.integers(1, 9, 240) / 3
    weights = weights_of(Y, sample_weight=given, vector=vector)
    assert weights.sum() == pytest.approx(given.sum())
    np.testing.assert_allclose(
        weights / given, [by_class[label] * weights[0] / given[0] / by_class[Y[0]] for label in Y]
    )


def test_costs_of_right_and_of_reject_answers_do_not_count():
    errors = {"a": {"a": 2, "b": 5, "unknown": 90}, "b": {"a": 4, "b": 3, "unknown": 0}}  # 3 and 1 more than right ones
    assert weights_of(["a", "b"], ww.Costs(errors=errors)).tolist() == [1.5, 0.5]
    errors["b"]["a"] = 1  # misclassifying b pays: no weight below 0
    assert weights_of(["a", "b"], ww.Costs(errors=errors)).tolist() == [2.0]


def test_a_class_whose_errors_cost_nothing_is_left_out():
    errors = {"a": {"b": 0, "c": 0}, "b": {"a": 1, "c": 1}, "c": {"a": 1, "b": 3}}
    clf = ww.C45CSClassifier(costs=ww.Costs(errors=errors)).fit(X, Y)
    # The others keep the sum of all, in the proportion 2 to 4.
    b, c = (Y == "b").sum(), (Y == "c").sum()
    np.testing.assert_allclose(clf.tree_.nodes.believed[0], np.array([0, 2 * b, 4 * c]) * 240 / (2 * b + 4 * c))
    assert clf.tree_.nodes.weights[0].tolist() == [0, b, c]
    assert clf.classes_.tolist() == ["a", "b", "c"]
    assert set(clf.predict(X)) == {"b", "c"}
    free = ww.Costs(errors={"a": {"b": 0}, "b": {"a": 1}})
    assert weights_of(["a", "a", "b"], free, sample_weight=[1, 1, 0]).tolist() == [1, 1]  # only free ones are there


@pytest.mark.parametrize("learner", [ww.C45CSClassifier, ww.EG2Classifier])
def test_if_nothing_costs_anything_there_are_no_weights(learner):
    clf = learner(costs=ww.Costs(errors=0), weighting="instance")
    with pytest.raises(
        ValueError, match="no wrong answer costs more than the right one, so all cases would have weight 0"
    ):
        clf.fit(X, Y)
    assert clf.fit(X, ["a"] * 240).tree_.n_leaves == 1  # one class: nothing to weigh
    assert clf.set_params(weighting=None).fit(X, Y).tree_.n_leaves > 1


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ({"a": 1, "b": 2}, "vector has no cost for the class 'c', only for 'a', 'b'; it needs one for every class"),
        ({}, "vector has no cost for the class 'a', only for none"),
        ({"a": 1, "b": -2, "c": 3}, "the cost of the class 'b' in vector must be at least 0, got -2"),
        ({"a": 1, "b": 2, "c": np.nan}, "the cost of the class 'c' in vector must be finite, not nan"),
        ({"a": 1, "b": np.inf, "c": 2}, "the cost of the class 'b' in vector must be finite, not inf"),
        ({"a": "high", "b": 2, "c": 1}, "the cost of the class 'a' in vector must be a number, not 'high'"),
        ({"a": None, "b": 2, "c": 1}, "the cost of the class 'a' in vector must be a number, not None"),
        ({"a": [3], "b": 2, "c": 1}, "the cost of the class 'a' in vector must be a number"),
        ({"a": 0, "b": 0.0, "c": 0}, "vector gives no class a cost above 0, so all cases would have weight 0"),
        ({"a": 1, b"a": 2, "b": 2, "c": 1}, "vector has two costs for the class 'a': 1 and 2"),
    ],
)
def test_invalid_vectors_are_refused(vector, message):
    with pytest.raises(ValueError, match=message):
        ww.C45CSClassifier(vector=vector).fit(X, Y)


def test_a_vector_may_know_more_classes_than_there_are():
    fewer = {"a": 1, "b": 2, "c": 3}
    np.testing.assert_array_equal(weights_of(Y, vector=fewer | {"rare": 9}), weights_of(Y, vector=fewer))


HALVES = RNG.normal(size=(120, 4)).round(2)


ORDER = np.argsort(HALVES[:, 0] + 0.7 * HALVES[:, 1] + 0.2 * RNG.normal(size=120))


HALF = np.where(np.argsort(ORDER) < 60, 0, 1)  # as many of each: the weights are exactly a half and one and a half


ONE_TO_THREE = ww.Costs(tests={"x0": 1.0, "x1": 2.0}, errors={0: {1: 300.0}, 1: {0: 900.0}})


# A cascade's answers, and so its sets of tests, depend on it, too: tests/learners/cascade/test_growing.py. An
# AutoClassifier chooses by what cases cost, where sample weights count, but weights by error costs do not.
@pytest.mark.usefixtures("repeats")
@pytest.mark.parametrize("learner", [one for one in LEARNERS if one not in (ww.CascadeClassifier, ww.AutoClassifier)])
def test_weighting_is_a_sample_weight_to_every_learner(learner):
    settings = {"costs": ONE_TO_THREE, "random_state": 0, "cross_fit": False}
    if learner is ww.BudgetForestClassifier:
        settings = {"variant": "paper", "costs": ONE_TO_THREE, "random_state": 0, "answer": "majority"}
    weighting = make(learner, **settings, weighting="instance").fit(HALVES, HALF)
    weighted = make(learner, **settings, weighting=None).fit(HALVES, HALF, np.where(HALF, 1.5, 0.5))
    assert grown(weighting) == grown(weighted)
    plain = make(learner, **settings, weighting=None).fit(HALVES, HALF)
    assert grown(weighting) != grown(plain)
    if hasattr(weighting, "tree_"):  # a forest's trees have bootstrap samples at their roots
        assert weighting.tree_.n_leaves > 1
        np.testing.assert_allclose(weighting.tree_.nodes.believed[0].sum(), 120)
        assert weighting.tree_.nodes.believed[0, 1] > 1.2 * plain.tree_.nodes.weights[0, 1]
        np.testing.assert_array_equal(weighting.tree_.nodes.weights[0], [60, 60])
    both = make(learner, **settings, weighting="instance").fit(HALVES, HALF, np.full(120, 2.0))
    # To them, a few whole sample weights are repetitions.
    if learner in (ww.ICETClassifier, ww.OptimalClassifier, ww.BudgetForestClassifier):
        twice = make(learner, **settings, weighting="instance").fit(np.repeat(HALVES, 2, axis=0), np.repeat(HALF, 2))
    else:
        twice = make(learner, **settings, weighting=None).fit(HALVES, HALF, np.where(HALF, 3.0, 1.0))
    assert grown(both) == grown(twice)


@pytest.mark.parametrize("learner", LEARNERS)
def test_whole_weights_do_not_make_learners_believe_themselves(learner):
    # Nothing can be learned. If copies of a case that is left out were learned from, errors would seem to be rare.
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(160, 3)), rng.integers(0, 2, 160)
    costs = ww.Costs(tests={"x0": 1.0, "x1": 1.0, "x2": 1.0}, errors=100)
    clf = make(learner, costs=costs, random_state=0).fit(X, y, np.full(160, 2.0))
    assert clf.expected_cost_ > 35


def grown(clf):
    """The trees with the weights they were grown from, as text; those of the cases are another matter."""
    arrays = "test", "threshold", "maps", "answer", "weights"
    trees = clf.trees_ if hasattr(clf, "trees_") else [clf.tree_]
    return [[getattr(tree._core_tree, name).round(9).tolist() for name in arrays] for tree in trees]


def test_weighting_is_a_sample_weight_to_the_lazy_one():
    settings = {"costs": ONE_TO_THREE, "prune": "none", "lazy": True}
    weighting = ww.CSID3Classifier(**settings, weighting="instance").fit(HALVES, HALF)
    weighted = ww.CSID3Classifier(**settings).fit(HALVES, HALF, np.where(HALF, 1.5, 0.5))
    plain = ww.CSID3Classifier(**settings).fit(HALVES, HALF)
    np.testing.assert_array_equal(weighting.predict_proba(HALVES), weighted.predict_proba(HALVES))
    assert (weighting.predict_proba(HALVES) != plain.predict_proba(HALVES)).any()


@pytest.mark.parametrize("learner", LEARNERS)
def test_weights_of_one_over_n_are_no_weights(learner):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(60, 3)).astype(float)
    y = ((X[:, 0] > 2) ^ (X[:, 2] > 3)).astype(int)
    plain, small = (make(learner, variant="paper", random_state=0).fit(X, y, w) for w in (None, np.full(60, 1 / 60)))
    assert plain.predict_proba(X).tolist() == small.predict_proba(X).tolist()
    assert len(np.unique(plain.predict(X))) == 2


@pytest.mark.parametrize("learner", [ww.C45Classifier, ww.EG2Classifier, ww.DTMCClassifier])
def test_small_weights_count_relative_to_their_mean(learner):
    weights = np.where(Y == "a", 1.0, 2.0)
    mean = make(learner, random_state=0, costs=COSTS).fit(X, Y, weights / weights.mean() * (1 + 1e-9))
    tiny = make(learner, random_state=0, costs=COSTS).fit(X, Y, weights / weights.sum())
    np.testing.assert_allclose(tiny.predict_proba(X), mean.predict_proba(X))
    assert len(np.unique(tiny.predict(X))) == 3


@pytest.mark.parametrize("depth", [1, 3])
def test_boosting(depth):
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.arange(len(y)) % 3 == 0

    def accuracy(tree):
        boosted = AdaBoostClassifier(tree, n_estimators=15, random_state=0).fit(X[~rows], y[~rows])
        assert len(boosted.estimators_) > 5
        return boosted.score(X[rows], y[rows])

    by_sklearn = accuracy(DecisionTreeClassifier(max_depth=depth, random_state=0))
    for learner in (ww.C45Classifier, ww.EG2Classifier, ww.DTMCClassifier):
        assert accuracy(learner(max_depth=depth)) > by_sklearn - 0.03

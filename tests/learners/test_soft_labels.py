"""Soft labels: class shares by an ensemble that did not see the case, mixed with the cases' own labels."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

import worthwhile as ww
from worthwhile.learners import soft_labels
from worthwhile.learners.soft_labels import SOFT_LABEL_WEIGHTS, SoftLabels, ensemble_shares, features_of
from worthwhile.table.columns import read_columns

RNG = np.random.default_rng(12)
X = RNG.normal(size=(150, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=150) > 0).astype(int)


def training_of(X, y, weights=None, costs=None):
    """What a learner gets."""
    return ww.ICETClassifier(costs=costs)._prepare(read_columns(X), y, weights)


@pytest.mark.parametrize("weights", [None, RNG.integers(1, 4, 150) / 2])
def test_labels_are_mixed_and_every_case_keeps_its_weight(weights):
    labels = SoftLabels.by_ensemble(training_of(X, Y, weights), 0, 1)
    own = np.ones(150) if weights is None else weights
    for soft_label_weight in SOFT_LABEL_WEIGHTS:
        per_case = np.bincount(labels.case, labels.weights(soft_label_weight), minlength=150)
        np.testing.assert_allclose(per_case, own)
        table, classes, row_weights = labels.rows(soft_label_weight)
        assert table is labels.training.table or soft_label_weight > 0
        if row_weights is not None:
            assert (row_weights > 0).all()
            assert len(classes) == len(row_weights)
            assert row_weights.sum() == pytest.approx(own.sum())
    right = labels.classes == Y[labels.case]
    np.testing.assert_allclose(labels.weights(0.0)[right], own)
    assert not labels.weights(0.0)[~right].any()
    assert 0 < labels.weights(1.0)[~right].sum() < labels.weights(1.0)[right].sum()
    assert 0 < labels.ensemble_error < 0.5


def test_the_ensemble_labels_cases_it_has_not_seen():
    training = training_of(X, Y)
    features = features_of(training.schema, training.columns)
    shares = ensemble_shares(features, training.classes, 2, None, 0, 1)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert ((shares == 0) | (shares >= 0.02)).all()
    assert 0.6 < (shares.argmax(axis=1) == Y).mean() < 1
    by_chance = ensemble_shares(features, RNG.permutation(training.classes), 2, None, 0, 1)
    assert (by_chance.argmax(axis=1) == Y).mean() < 0.7  # a forest that had seen them would repeat them
    np.testing.assert_array_equal(ensemble_shares(features, training.classes, 2, None, 0, 2), shares)
    one = ensemble_shares(features[:1], training.classes[:1], 2, None, 0, 1)
    assert one.tolist() == [[1.0, 0.0] if training.classes[0] == 0 else [0.0, 1.0]]


def log_loss(shares, classes, weights=None):
    """Of the class that was right, at least as likely as a share that is dropped."""
    return -np.average(np.log(np.maximum(shares[np.arange(len(classes)), classes], 0.005)), weights=weights)


def line(n, k=2, seed=0):
    """Eight numbers whose sum, with some noise, is the class."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 8))
    score = features.sum(axis=1) + 2 * rng.normal(size=n)
    return features, np.searchsorted(np.quantile(score, np.arange(1, k) / k), score).astype(np.int32)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_forest_and_regression_together_are_better_than_the_forest(k, weighted):
    features, classes = line(200, k)
    weights = np.random.default_rng(1).uniform(0.5, 2, 200) if weighted else None
    shares = ensemble_shares(features, classes, k, weights, 0, 1)
    assert shares.shape == (200, k)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert ((shares == 0) | (shares >= 0.02)).all()
    prior = np.tile(np.bincount(classes, weights) / (200 if weights is None else weights.sum()), (200, 1))
    forest = soft_labels._out_of_bag_shares(features, classes, k, weights, 0, 1)
    loss = log_loss(shares, classes, weights)
    assert loss < 0.8 * log_loss(prior, classes, weights)
    assert loss < 0.95 * log_loss(forest, classes, weights)


def test_where_classes_are_not_linear_the_forest_decides():
    features = np.random.default_rng(2).normal(size=(300, 3))
    classes = ((features[:, 0] > 0) ^ (features[:, 1] > 0)).astype(np.int32)
    forest, logistic = (
        of(features, classes, 2, None, 0, *more)
        for of, more in ((soft_labels._out_of_bag_shares, [1]), (soft_labels._cross_validated_shares, []))
    )
    assert soft_labels._likeliest_share(forest, logistic, classes, None) < 0.2
    assert (ensemble_shares(features, classes, 2, None, 0, 1).argmax(axis=1) == classes).mean() > 0.8


@pytest.mark.parametrize(("rare", "alone"), [(0, False), (1, True), (2, False), (5, False)])
def test_a_rare_class_leaves_fewer_folds_or_only_the_forest(rare, alone):
    features, classes = line(100)
    classes[:rare] = 2
    assert (soft_labels._cross_validated_shares(features, classes, 3, None, 0) is None) == alone
    shares = ensemble_shares(features, classes, 3, None, 0, 1)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    if rare == 0:
        assert not shares[:, 2].any()
    if alone:
        forest = soft_labels._out_of_bag_shares(features, classes, 3, None, 0, 1)
        kept = np.where((forest < 0.02) & (forest < forest.max(axis=1, keepdims=True)), 0, forest)
        np.testing.assert_allclose(shares, kept / kept.sum(axis=1, keepdims=True))


def test_one_class():
    features = line(20)[0]
    shares = ensemble_shares(features, np.ones(20, dtype=np.int32), 3, None, 0, 1)
    np.testing.assert_array_equal(shares, np.tile([0.0, 1.0, 0.0], (20, 1)))


def test_columns_that_are_constant_missing_or_huge():
    features, classes = line(150)
    holes = np.where(np.random.default_rng(3).random((150, 8)) < 0.2, np.nan, features)
    odd = np.column_stack([np.full(150, 7.0), np.full(150, np.nan), np.full(150, 1e30), 1e30 * features[:, 0]])
    shares = ensemble_shares(np.hstack([holes, odd]), classes, 2, None, 0, 1)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert log_loss(shares, classes) < 0.9 * math.log(2)
    columns = soft_labels._standardised(np.hstack([holes, odd]))
    assert np.isfinite(columns).all()
    np.testing.assert_allclose(columns[:, :8].mean(axis=0), 0, atol=0.2)
    assert not columns[:, 8:10].any()
    assert not columns[np.isnan(np.hstack([holes, odd]))].any()
    nothing = ensemble_shares(odd[:, :2], classes, 2, None, 0, 1)
    np.testing.assert_allclose(nothing.sum(axis=1), 1)


def test_nominal_values_become_columns():
    training = training_of(pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["p", "q", None]}), [0, 1, 0])
    expected = [[1.0, 1, 0], [np.nan, 0, 1], [3.0, 0, 0]]
    np.testing.assert_array_equal(features_of(training.schema, training.columns), expected)


def test_the_logistic_regression_uses_one_thread(monkeypatch):
    """Threads of BLAS on tiny arrays wait for each other, and make others wait."""
    fit, seen = LogisticRegression.fit, []

    def threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    def watched(*args, **keywords):
        seen.append(threads())
        return fit(*args, **keywords)

    monkeypatch.setattr(LogisticRegression, "fit", watched)
    with threadpool_limits(2, "blas"):
        ensemble_shares(X, Y.astype(np.int32), 2, None, 0, 1)
        assert threads() == {2}
    assert seen == [{1}] * soft_labels.N_FOLDS

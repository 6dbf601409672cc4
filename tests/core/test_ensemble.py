"""Forests and boosting of the core, against scikit-learn and against brute force."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from worthwhile import _core
from worthwhile.learners.cascade.tree_ensemble import TreeEnsemble


def cases(n=300, d=4, n_classes=2, missing=0.0, seed=0, values=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if values is None else rng.integers(0, values, size=(n, d))
    score = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.5 * rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)).astype(np.int32)
    X = X.astype(np.float32)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def forest(X, y, k=2, weights=None, features=None, **changed):
    chosen = np.arange(X.shape[1], dtype=np.int32) if features is None else np.array(features, dtype=np.int32)
    settings = {
        "n_trees": 60,
        "min_leaf": 1,
        "n_tried": 2,
        "n_drawn": len(y),
        "random_cuts": False,
        "seed": 3,
        "n_threads": 1,
    }
    return _core.random_forest(_core.Binned(X), chosen, y, k, weights, **(settings | changed))


def log_loss(sums, y):
    shares = 0.98 * sums / sums.sum(axis=1, keepdims=True) + 0.02 / sums.shape[1]
    return -np.log(shares[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize("random_cuts", [False, True])
@pytest.mark.parametrize(("n_classes", "missing"), [(2, 0.0), (4, 0.0), (2, 0.2)])
def test_a_forest_tells_held_out_cases_as_well_as_that_of_scikit_learn(n_classes, missing, random_cuts):
    X, y = cases(500, 6, n_classes, missing)
    own = log_loss(forest(X, y, n_classes, n_trees=100, random_cuts=random_cuts)[1], y)
    rival = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y).oob_decision_function_
    assert own < log_loss(rival, y) + 0.05
    counts = np.bincount(y) / len(y)
    assert own < -(counts * np.log(counts)).sum() - 0.1


def test_a_case_is_held_out_by_about_a_third_of_the_trees_and_weights_count():
    X, y = cases()
    sums = forest(X, y, n_trees=200)[1].sum(axis=1)
    assert 0.33 < sums.mean() / 200 < 0.41
    weights = np.where(y == 1, 50.0, 1.0)
    assert forest(X, y, weights=weights, min_leaf=40)[1][:, 1].sum() > 1.3 * forest(X, y, min_leaf=40)[1][:, 1].sum()
    none = forest(X, y, weights=np.where(np.arange(300) < 150, 1.0, 0.0))[1]
    np.testing.assert_allclose(none[150:].sum(axis=1), 60, rtol=1e-6)  # never drawn


def test_leaves_have_as_many_cases_as_asked_for_and_other_features_are_not_looked_at():
    X, y = cases()
    nodes, _, gains = forest(X, y, min_leaf=20, features=[0, 3])
    leaves = (nodes["feature"] < 0).sum() / 60
    assert 2 < leaves <= 300 / 20
    assert set(nodes["feature"].tolist()) == {-1, 0, 1}  # positions among the two
    assert gains[0] > 5 * gains[1] > 0


@pytest.mark.parametrize("random_cuts", [False, True])
def test_a_missing_value_is_a_value(random_cuts):
    X = np.ones((200, 1), np.float32)
    y = (np.arange(200) % 2).astype(np.int32)
    X[y == 1] = np.nan
    trees = TreeEnsemble.of_forest(forest(X, y, n_tried=1, random_cuts=random_cuts)[0])
    assert (trees.sums(X, 2).argmax(axis=1) == y).all()
    new = np.array([[-7.0], [9.0], [np.nan]], np.float32)
    assert trees.sums(new, 2).argmax(axis=1).tolist() == [0, 0, 1]


def test_the_number_of_threads_does_not_matter():
    X, y = cases(n_classes=3, missing=0.1)
    one, two = (forest(X, y, 3, n_threads=n) for n in (1, 2))
    assert all((one[0][name] == two[0][name]).all() for name in one[0])
    assert one[1].tolist() == two[1].tolist()
    one, two = (boosting(X, y, 3, n_threads=n) for n in (1, 2))
    assert one[2].tolist() == two[2].tolist()


def test_what_does_not_fit_is_refused():
    X, y = cases()
    with pytest.raises(ValueError, match="a class that does not exist"):
        forest(X, y + 1)
    with pytest.raises(ValueError, match="a feature that does not exist"):
        forest(X, y, features=[4])
    with pytest.raises(ValueError, match="'classes' must have the length 300"):
        forest(X, y[:9])
    with pytest.raises(ValueError, match="above 0"):
        forest(X, y, min_leaf=0)
    with pytest.raises(ValueError, match="'max_bins' must be from 2 to 254"):
        _core.Binned(X, 255)


def boosting(X, y, k=2, weights=None, folds=None, **changed):
    folds = (np.arange(len(y)) % 3).astype(np.int32) if folds is None else folds
    settings = {"n_rounds": 5, "rate": 0.3, "max_leaves": 6, "min_leaf": 5, "marks": [2, 5], "n_threads": 1}
    features = np.arange(X.shape[1], dtype=np.int32)
    return _core.boosted_trees(_core.Binned(X, 63), features, y, k, weights, folds, **(settings | changed))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_first_split_has_the_largest_gain_and_newton_steps(missing):
    X, y = cases(120, 3, missing=missing, values=6)
    weights = np.linspace(0.5, 2.0, 120)
    nodes, baseline, _ = boosting(X, y, weights=weights, n_rounds=1, rate=1.0, max_leaves=2, marks=[1])
    share = weights[y == 1].sum() / weights.sum()
    np.testing.assert_allclose(baseline, np.log(share / (1 - share)))
    slope, curve = weights * (share - y), weights * share * (1 - share)

    def worth(rows):
        return slope[rows].sum() ** 2 / (curve[rows].sum() + 1)

    best = 0.0
    for feature in range(3):
        for cut in np.append(np.arange(0.5, 5.5), np.inf):
            for also in (False, True):
                left = np.where(np.isnan(X[:, feature]), also, X[:, feature] <= cut).astype(bool)
                if min(left.sum(), (~left).sum()) >= 5:
                    best = max(best, worth(left) + worth(~left) - worth(left | True))
    assert nodes["feature"].tolist()[1:] == [-1, -1]
    own = X[:, nodes["feature"][0]]
    left = np.where(np.isnan(own), nodes["missing_left"][0], own <= nodes["threshold"][0]).astype(bool)
    np.testing.assert_allclose(worth(left) + worth(~left) - worth(left | True), best)
    values = [-slope[rows].sum() / (curve[rows].sum() + 1) for rows in (left, ~left)]
    np.testing.assert_allclose(nodes["value"][1:, 0], values, rtol=1e-5)


@pytest.mark.parametrize("k", [2, 3])
def test_held_out_scores_are_those_of_a_model_of_the_other_folds(k):
    X, y = cases(240, 3, k, values=6)
    folds = (np.arange(240) % 3).astype(np.int32)
    scores = boosting(X, y, k, folds=folds)[2]
    assert scores.shape == (2, 240, 1 if k == 2 else k)
    kept = folds != 1
    nodes, baseline, _ = boosting(X[kept], y[kept], k, folds=folds[kept])
    trees = TreeEnsemble.of_boosting(nodes, scores.shape[2])
    for mark, rounds in enumerate((2, 5)):
        by_hand = trees.first(rounds * scores.shape[2]).sums(X[~kept], scores.shape[2]) + baseline
        np.testing.assert_allclose(scores[mark][~kept], by_hand, atol=1e-5)


def test_more_rounds_fit_the_cases_better():
    X, y = cases(300, 4, 3, missing=0.1)
    nodes, baseline, _ = boosting(X, y, 3, n_rounds=40, marks=[])
    trees = TreeEnsemble.of_boosting(nodes, 3)
    right = [((trees.first(3 * n).sums(X, 3) + baseline).argmax(axis=1) == y).mean() for n in (1, 10, 40)]
    assert right[0] < right[1] < right[2]
    assert right[2] > 0.95

"""Trees as arrays predict what scikit-learn's models predict."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from worthwhile.learners.cascade import tree_ensemble
from worthwhile.learners.cascade.tree_ensemble import TreeEnsemble, rounded_down

RNG = np.random.default_rng(0)


def cases(n_classes, missing):
    X = RNG.normal(size=(200, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1], np.linspace(-1, 1, n_classes - 1))
    X[RNG.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_forest_is_the_mean_of_its_trees(n_classes, missing):
    X, y = cases(n_classes, missing)
    forest = RandomForestClassifier(7, random_state=0).fit(X, y)
    trees = TreeEnsemble.of_forest(forest, np.arange(n_classes), n_classes)
    new = cases(n_classes, 0.3)[0]
    np.testing.assert_allclose(trees.sums(new, n_classes) / 7, forest.predict_proba(new), atol=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosted_trees_add_up(n_classes, missing):
    X, y = cases(n_classes, missing)
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, y)
    trees = TreeEnsemble.of_boosting(model)
    n_outputs = 1 if n_classes == 2 else n_classes
    raw = trees.sums(X, n_outputs) + model._baseline_prediction
    np.testing.assert_allclose(raw.squeeze(), model.decision_function(X), atol=1e-4)


def test_a_case_gets_the_same_sums_alone_and_among_others(monkeypatch):
    X, y = cases(3, 0.1)
    trees = TreeEnsemble.of_forest(RandomForestClassifier(5, random_state=0).fit(X, y), np.arange(3), 3)
    whole = trees.sums(X, 3)
    assert trees.sums(X[17:18], 3).tolist() == whole[17:18].tolist()
    monkeypatch.setattr(tree_ensemble, "AT_ONCE", 64)
    assert trees.sums(X, 3).tolist() == whole.tolist()


def test_rounding_a_threshold_keeps_the_side_of_every_value():
    values = RNG.normal(size=1000).astype(np.float32)
    thresholds = np.concatenate([values.astype(float), (values[:-1].astype(float) + values[1:]) / 2])
    for threshold in thresholds[::37]:
        assert ((values <= threshold) == (values <= rounded_down(np.array([threshold]))[0])).all()


def test_damaged_trees_are_refused():
    X, y = cases(2, 0.0)
    trees = TreeEnsemble.of_forest(RandomForestClassifier(2, random_state=0).fit(X, y), np.arange(2), 2)
    assert trees.checked(4, 2, "here") is trees
    loops = replace(trees, left=np.where(trees.feature >= 0, 0, -1).astype(np.int32))
    outside = replace(trees, right=np.where(trees.feature >= 0, len(trees.feature), -1).astype(np.int32))
    for damaged in (loops, outside, replace(trees, roots=trees.roots - 1), replace(trees, value=trees.value[:-1])):
        with pytest.raises(ValueError, match="the trees of here do not fit together"):
            damaged.checked(4, 2, "here")
    with pytest.raises(ValueError, match="do not fit"):
        trees.checked(1, 2, "here")  # features that the model does not have

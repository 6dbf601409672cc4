"""Trees as arrays."""

from dataclasses import replace

import numpy as np
import pytest

from worthwhile import _core
from worthwhile.learners.cascade.tree_ensemble import TreeEnsemble

RNG = np.random.default_rng(0)


def ensemble(n_classes=2, n_trees=5):
    X = RNG.normal(size=(200, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1], np.linspace(-1, 1, n_classes - 1)).astype(np.int32)
    X[RNG.random(X.shape) < 0.2] = np.nan
    settings = {"n_trees": n_trees, "min_leaf": 1, "n_tried": 2, "n_drawn": 200, "random_cuts": False, "seed": 0}
    nodes = _core.random_forest(
        _core.Binned(X), np.arange(4, dtype=np.int32), y, n_classes, None, **settings, n_threads=1
    )
    return TreeEnsemble.of_forest(nodes[0]), X


def slow_sums(trees, X, n_outputs):
    found = np.zeros((len(X), n_outputs))
    for root, first in zip(trees.roots, trees.output, strict=True):
        for case, values in enumerate(X):
            node = root
            while trees.feature[node] >= 0:
                value = values[trees.feature[node]]
                goes_left = trees.missing_left[node] if np.isnan(value) else value <= trees.threshold[node]
                node = (trees.left if goes_left else trees.right)[node]
            found[case, first : first + trees.value.shape[1]] += trees.value[node]
    return found


@pytest.mark.parametrize("n_classes", [2, 4])
def test_sums_are_those_of_the_leaves(n_classes):
    trees, X = ensemble(n_classes)
    assert trees.sums(X[:40], n_classes).tolist() == slow_sums(trees, X[:40], n_classes).tolist()
    assert trees.sums(X[17:18], n_classes).tolist() == trees.sums(X, n_classes)[17:18].tolist()
    assert trees.first(3).sums(X[:40], n_classes).tolist() == slow_sums(trees.first(3), X[:40], n_classes).tolist()
    assert len(trees.first(3).roots) == 3
    assert trees.first(9) is trees


def test_outputs_of_boosted_trees_take_turns():
    trees, X = ensemble()
    single = replace(trees, value=trees.value[:, :1].copy(), output=np.array([0, 1, 2, 0, 1], dtype=np.int32))
    assert single.sums(X[:40], 3).tolist() == slow_sums(single, X[:40], 3).tolist()


def test_damaged_trees_are_refused():
    trees, _ = ensemble()
    assert trees.checked(4, 2, "here") is trees
    loops = replace(trees, left=np.where(trees.feature >= 0, 0, -1).astype(np.int32))
    outside = replace(trees, right=np.where(trees.feature >= 0, len(trees.feature), -1).astype(np.int32))
    for damaged in (loops, outside, replace(trees, roots=trees.roots - 1), replace(trees, value=trees.value[:-1])):
        with pytest.raises(ValueError, match="the trees of here do not fit together"):
            damaged.checked(4, 2, "here")
    with pytest.raises(ValueError, match="do not fit"):
        trees.checked(1, 2, "here")  # features that the model does not have

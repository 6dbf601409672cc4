"""Dealing cases out to folds, and taking a share of them."""

import numpy as np
import pytest

from worthwhile.learners.folds import stratified_folds, stratified_share


def test_every_fold_has_its_share_of_every_class():
    classes = np.repeat(np.array([0, 1, 2], dtype=np.int32), [23, 10, 4])
    folds = stratified_folds(classes, 5, np.random.default_rng(0))
    for c in range(3):
        counts = np.bincount(folds[classes == c], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert sorted(np.bincount(folds)) == [7, 7, 7, 8, 8]


@pytest.mark.parametrize("share", [0.05, 0.4, 0.6, 0.7, 0.9])
def test_a_share_has_as_many_cases_as_asked_for_of_every_class(share):
    classes = np.repeat([0, 1, 2], [200, 150, 50]).astype(np.int32)
    rows = stratified_share(classes, share, np.random.default_rng(0))
    assert len(rows) == len(set(rows)) == round(400 * share)
    np.testing.assert_allclose(np.bincount(classes[rows]), share * np.bincount(classes), atol=1)

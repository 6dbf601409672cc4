"""Classes and weights: every accepted type, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import worthwhile as ww
from worthwhile.table.targets import at_least_1, read_classes, read_weights

RNG = np.random.default_rng(7)
PLAIN = RNG.integers(0, 12, (60, 3)).astype(float)
PLAIN_Y = (PLAIN[:, 0] > PLAIN[:, 1]).astype(int)


@pytest.mark.parametrize(
    "y",
    [
        lambda y: y,
        lambda y: y.astype(bool),
        lambda y: y.astype(float),
        lambda y: y.tolist(),
        lambda y: y.astype(object),
        lambda y: np.array(["no", "yes"])[y],
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: pd.Series(y, dtype="boolean"),
        lambda y: pd.Series(np.array(["no", "yes"])[y], dtype="string"),
        lambda y: pd.Series(np.array(["no", "yes"])[y], dtype="category"),
        lambda y: pd.Series(np.array(["no", "yes"])[y], dtype=object),
        pl.Series,
        lambda y: pl.Series(np.array(["no", "yes"])[y], dtype=pl.Categorical),
    ],
)
def test_classes_in_every_container(y):
    clf = ww.C45Classifier().fit(PLAIN, y(PLAIN_Y))
    kinds = {"bool": [False, True], "int64": [0, 1], "float64": [0.0, 1.0]}
    labels = kinds.get(str(clf.classes_.dtype), ["no", "yes"])
    assert clf.classes_.tolist() == labels
    assert [type(label) for label in clf.classes_.tolist()] == [type(label) for label in labels]
    assert clf.classes_.dtype != float or isinstance(y(PLAIN_Y), np.ndarray)  # integers stay integers
    predicted = clf.predict(PLAIN)
    assert predicted.dtype == clf.classes_.dtype
    wrong = predicted != np.asarray(y(PLAIN_Y))
    assert clf.total_costs(PLAIN, y(PLAIN_Y)).tolist() == wrong.tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ([0, 1], "X has 3 cases, but y has 2: inconsistent"),
        ([0.5, 1.5, 2.5], "Unknown label type: continuous"),
        (np.array([0, np.nan, 1]), "contains NaN or infinity in row 1"),
        ([0, np.nan, 1], "contains NaN or None in row 1"),
        (["a", np.nan, "b"], "contains NaN or None in row 1"),
        (["a", None, "b"], "contains NaN or None in row 1"),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), "contains NaN or None in row 1"),
        (pd.Series([0, 1, pd.NA], dtype="Int64"), "contains NaN or None in row 2"),
        (np.array(["a", 1, "b"], dtype=object), "y mixes strings and numbers: 'a' in row 0, 1 in row 1"),
        ([[0, 1]] * 3, "y should be a 1d array"),
    ],
)
def test_invalid_classes_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        ww.C45Classifier().fit(PLAIN[:3], y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1], r"sample_weight has the shape \(2,\), expected \(3,\)"),
        ([1, -1, 1], "sample_weight of row 1 is -1.0; weights must be finite and not negative"),
        ([1, 1, np.nan], "sample_weight of row 2 is nan"),
        ([1, np.inf, 1], "sample_weight of row 1 is inf"),
        ([0, 0, 0], "all of them are zero"),
        ([1e308] * 3, "sample_weight adds up to inf, but may be at most 1e\\+150"),
        ([1e150] * 3, "sample_weight adds up to 3e\\+150"),
        (["a"] * 3, "sample_weight must be one number per case"),
        ([[1, 1, 1]], "1D array or scalar"),
    ],
)
def test_invalid_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        ww.C45Classifier().fit(PLAIN[:3], [0, 1, 1], sample_weight=weights)


def test_weights_of_1_are_no_weights():
    assert read_weights(None, 3) is None
    assert read_weights(1, 3) is None
    assert read_weights([1.0, 1, 1], 3) is None
    assert read_weights(2, 3).tolist() == [2, 2, 2]


def test_integer_classes_keep_their_type():
    y = np.array([7, -3, 7, 5, -3, 7], dtype=np.int16)
    clf = ww.C45Classifier(min_cases=1, prune="none").fit(np.arange(6.0)[:, None], y)
    assert clf.classes_.tolist() == [-3, 5, 7]
    assert clf.classes_.dtype == np.int16
    assert clf.predict(np.arange(6.0)[:, None]).tolist() == y.tolist()


@pytest.mark.parametrize("y", [[7, -3, 7, 5], [10**12, -3, 10**12, 5], ["c", "a", "c", "b"]])
def test_classes_are_sorted_and_indexed(y):
    classes, index = read_classes(np.array(y), 4, "a learner")
    assert classes.tolist() == sorted(set(y))
    assert index.tolist() == [2, 0, 2, 1]
    assert index.dtype == np.int32


@pytest.mark.parametrize("factor", [1 / 7, 1e-12, 1e-300])
def test_small_weights_are_relative(factor):
    weights = np.array([0.5, 1.0, 0.0, 3.5, 1.0])
    np.testing.assert_allclose(at_least_1(weights * (1 / 3) * factor), weights / 1.5)
    assert at_least_1(np.full(5, factor)) is None
    for whole in (weights, np.array([1.0, 2.0, 0.0]), np.array([3.0, 3.0])):
        assert at_least_1(whole) is whole
    assert at_least_1(None) is None

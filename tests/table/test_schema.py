"""The schema of the training data: nominal values, encoding of cases, columns that do not fit."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import worthwhile as ww
from all_learners import LEARNERS, make
from counting import CountedName, counted
from worthwhile.table.columns import nominal_positions, read_columns
from worthwhile.table.schema import Schema

RNG = np.random.default_rng(7)
PLAIN = RNG.integers(0, 12, (60, 3)).astype(float)
PLAIN_Y = (PLAIN[:, 0] > PLAIN[:, 1]).astype(int)


def fit(X, y=None, **parameters):
    return ww.C45Classifier(**parameters).fit(X, PLAIN_Y[: len(X)] if y is None else y)


def test_values_are_sorted_numbers_first():
    schema = Schema.learn(read_columns(np.array([["b", "10", "9", "a", "nan", "inf", "9.5"]], dtype=object).T))
    assert schema.values == (("9", "9.5", "10", "a", "b", "inf", "nan"),)


def test_strings_in_a_numeric_column():
    clf = fit(pd.DataFrame({"a": PLAIN[:, 0]}), PLAIN_Y)
    with pytest.raises(ValueError, match="column 'a' was numeric in training, but row 2 contains 'x'"):
        clf.predict(pd.DataFrame({"a": ["1", "2.5", "x"]}))
    strings = pd.DataFrame({"a": ["1", "2.5", None]})
    np.testing.assert_array_equal(clf.predict(strings), clf.predict(pd.DataFrame({"a": [1, 2.5, np.nan]})))


@pytest.mark.parametrize("nominal", [["z"], [3], [-1], [True, False, False], [None], ["x0", "z"]])
def test_unknown_nominal_columns_are_refused(nominal):
    with pytest.raises(ValueError, match=r"nominal contains .*, but the columns of X are x0, x1, x2 \(0 to 2\)"):
        fit(PLAIN, nominal=nominal)


@pytest.mark.parametrize("bad", [[np.inf], [-np.inf], [np.inf, -np.inf], [np.inf, np.nan]])
def test_infinity_is_refused_by_name(bad):
    X = PLAIN.copy()
    X[: len(bad), 1] = bad
    for container in (X, pd.DataFrame(X), X.astype(object), np.asfortranarray(X)):
        with pytest.raises(
            ValueError, match="column 'x1' contains infinity; use NaN for a missing value, or a large finite number"
        ):
            fit(container)


def test_integers_too_large_for_a_float_are_infinite():
    for bad in (10**400, -(10**400), Fraction(10**400, 3)):
        X = PLAIN.astype(object)
        X[4, 1] = bad
        with pytest.raises(ValueError, match="column 'x1' contains infinity; use NaN for a missing value"):
            fit(X)
    clf = fit([[0.0], [1.0]] * 10, [0, 1] * 10)
    assert clf.predict(np.array([[-(10**400)], [10**400]], dtype=object)).tolist() == [0, 1]


def test_infinity_at_prediction_is_above_every_threshold():
    clf = fit([[0.0], [1.0]] * 10, [0, 1] * 10)
    assert clf.predict([[-np.inf], [np.inf]]).tolist() == [0, 1]


def test_columns_whose_sum_overflows():
    X = np.array([[1.7e308], [1.6e308]] * 10)
    assert fit(X, [0, 1] * 10).predict(X).tolist() == [0, 1] * 10
    assert fit(pd.DataFrame(X), [0, 1] * 10).predict(X[:2]).tolist() == [0, 1]


def test_booleans_are_nominal_and_match_0_and_1():
    X = np.array([[True], [False]] * 5)
    for container in (X, pd.DataFrame({"a": X[:, 0]}), X.astype(object)):
        clf = ww.C45Classifier().fit(container, [1, 0] * 5)
        assert clf.tree_.schema.values == (("False", "True"),)
        for again in (X, X.astype(int), X.astype(float), [[True], [False]]):
            assert clf.tree_.predict(again)[:2].tolist() == [1, 0]
        assert clf.next_test({clf.tree_.columns[0]: 1}).answer == 1
        assert clf.next_test({clf.tree_.columns[0]: np.False_}).answer == 0


def test_booleans_in_other_containers_than_those_of_training():
    known = ww.C45Classifier().fit(pd.DataFrame({"a": [True, False] * 5}), [1, 0] * 5)
    for again in (pd.DataFrame({"a": [1, 0]}), pd.DataFrame({"a": [1.0, 0.0]}), pd.DataFrame({"a": ["True", "False"]})):
        assert known.predict(again).tolist() == [1, 0]


@pytest.mark.parametrize("nominal", [None, ["a"]])
def test_booleans_where_training_had_0_and_1(nominal):
    known = ww.C45Classifier(nominal=nominal).fit(pd.DataFrame({"a": [1, 0] * 5}), [1, 0] * 5)
    for again in ({"a": [True, False]}, {"a": pd.array([True, False], dtype="boolean")}, {"a": ["True", "False"]}):
        assert known.predict(pd.DataFrame(again)).tolist() == [1, 0]
    assert [known.next_test({"a": value}).answer for value in (True, np.False_)] == [1, 0]


def test_columns_with_only_missing_values():
    for empty in (np.full(60, np.nan), np.full(60, None)):
        for frame in (pd.DataFrame, pl.DataFrame):
            X = frame({"empty": empty, "n": PLAIN[:, 0]})
            clf = ww.C45Classifier().fit(X, (PLAIN[:, 0] > 5).astype(int))
            assert clf.tree_.tests_used() == ["n"]
            assert clf.score(X, (PLAIN[:, 0] > 5).astype(int)) == 1
    only = ww.C45Classifier().fit(np.full((4, 1), np.nan), [0, 1, 1, 1])
    assert only.predict([[3.0]]).tolist() == [1]


@pytest.mark.parametrize("learner", LEARNERS)
def test_columns_at_prediction_must_be_those_of_training(learner):
    X = pd.DataFrame(PLAIN, columns=["a", "b", "c"])
    clf = make(learner, variant="paper").fit(X, PLAIN_Y)
    assert clf.feature_names_in_.tolist() == ["a", "b", "c"]
    for method in (clf.predict, clf.predict_proba, clf.test_costs):
        with pytest.raises(ValueError, match="feature names"):
            method(X[["b", "a", "c"]])
        with pytest.raises(ValueError, match="feature names"):
            method(X[["a", "b"]])
        with pytest.raises(ValueError, match="feature names"):
            method(X.rename(columns={"a": "z"}))
    plain = make(learner, variant="paper").fit(PLAIN, PLAIN_Y)
    assert not hasattr(plain, "feature_names_in_")
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3"):
        plain.predict(PLAIN[:, :2])
    again = clf.fit(PLAIN, PLAIN_Y)
    assert not hasattr(again, "feature_names_in_")


def test_names_given_by_parameter_are_checked_at_prediction():
    clf = ww.C45Classifier(columns=["a", "b", "c"]).fit(PLAIN, PLAIN_Y)
    X = pd.DataFrame(PLAIN, columns=["a", "b", "c"])
    np.testing.assert_array_equal(clf.predict(X), clf.predict(PLAIN))
    with pytest.raises(
        ValueError, match=r"X has the columns c, b, a, but the learner was fitted with columns=\['a', 'b', 'c'\]"
    ):
        clf.predict(X[["c", "b", "a"]])
    with pytest.raises(ValueError, match="X has the columns a, b, but"):
        clf.predict(X[["a", "b"]])


def test_names_are_looked_up_and_not_searched_for():
    schema = Schema(tuple(counted(500)), (None,) * 500)
    assert len(schema.read_case(dict.fromkeys(counted(500), 1.0))) == 500
    assert len(nominal_positions(schema.names, counted(500))) == 500
    assert CountedName.count < 10 * 500

"""Whatever carries the data, the tree and the prices are the same; what cannot be data is refused by name."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import worthwhile as ww
from all_learners import LEARNERS
from worthwhile.costs.error_costs import is_missing
from worthwhile.table.columns import Columns, read_columns, value_text
from worthwhile.table.schema import Schema
from worthwhile.table.targets import read_weights

N = 90
RNG = np.random.default_rng(7)
COLOURS = ["red", "green", "blue"]
MIXED = pd.DataFrame(
    {
        "n": np.round(RNG.normal(size=N), 2),
        "whole": RNG.integers(0, 9, N),
        "colour": pd.Series(RNG.choice(COLOURS, N), dtype=object),
        "flag": RNG.random(N) < 0.5,
    }
)
Y = np.where((MIXED["n"] > 0) ^ (MIXED["colour"] == "red") | (MIXED["flag"] & (MIXED["whole"] > 6)), "yes", "no")
HOLES = RNG.random((N, 4)) < 0.15
COSTS = ww.Costs(tests={"n": 3.0, "whole": ww.Test(1.0, delayed=True), "colour": 2.0, "flag": 0.5}, errors=20.0)


def pandas_frame(holes, colour="object", flag="boolean", whole="Int64", n="float64"):
    X = MIXED.astype({"n": "Float64", "whole": "Int64", "colour": "object", "flag": "boolean"})
    if holes:
        X = X.mask(HOLES, pd.NA)
    if n == "float64":
        X["n"] = X["n"].to_numpy(dtype=float, na_value=np.nan)
    return X.astype({"colour": colour, "flag": flag, "whole": whole})


def polars_frame(holes, colour=pl.String):
    rows = {
        name: [None if holes and HOLES[i, j] else v for i, v in enumerate(MIXED[name].tolist())]
        for j, name in enumerate(MIXED)
    }
    return pl.DataFrame(rows, schema={"n": pl.Float64, "whole": pl.Int32, "colour": colour, "flag": pl.Boolean})


def object_array(holes, missing=None):
    X = MIXED.astype(object).to_numpy().copy()
    if holes:
        X[HOLES] = missing
    return X


CARRIERS = {
    "pandas object": pandas_frame,
    "pandas category": lambda h: pandas_frame(h, colour="category"),
    "pandas string": lambda h: pandas_frame(h, colour="string", whole="UInt8", n="Float64"),
    "pandas object flag": lambda h: pandas_frame(h, flag="object"),
    "pandas category flag": lambda h: pandas_frame(h, flag="category"),
    "polars": polars_frame,
    "polars categorical": lambda h: polars_frame(h, pl.Categorical),
    "polars enum": lambda h: polars_frame(h, pl.Enum(COLOURS)),
    "numpy object": object_array,
    "numpy object with nan": lambda h: object_array(h, np.nan),
    "numpy object with NA": lambda h: object_array(h, pd.NA),
    "nested list": lambda h: object_array(h).tolist(),
    "nested tuple": lambda h: tuple(map(tuple, object_array(h).tolist())),
}


@pytest.mark.filterwarnings("ignore:Downcasting")
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("carrier", CARRIERS)
def test_mixed_data_in_every_carrier(carrier, holes):
    names = list(MIXED)
    for learner in (ww.EG2Classifier, ww.DTMCClassifier):
        expected = learner(costs=COSTS).fit(pandas_frame(holes), Y)
        X = CARRIERS[carrier](holes)
        clf = learner(costs=COSTS, columns=names).fit(X, Y)
        assert clf.tree_.to_json() == expected.tree_.to_json()
        assert expected.tree_.n_nodes >= 3
        np.testing.assert_array_equal(clf.predict(X), expected.predict(pandas_frame(holes)))
        np.testing.assert_array_equal(clf.test_costs(X), expected.test_costs(pandas_frame(holes)))
        np.testing.assert_array_equal(clf.tree_.test_costs(X), expected.test_costs(pandas_frame(holes)))


PLAIN = RNG.integers(0, 12, (60, 3)).astype(float)
PLAIN_Y = (PLAIN[:, 0] > PLAIN[:, 1]).astype(int)


@pytest.mark.parametrize(
    "carrier",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X[::-1][::-1],
        lambda X: X.astype(np.float32),
        lambda X: X.astype(">f8"),
        lambda X: X.astype(np.int8),
        lambda X: X.astype(np.uint64),
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        lambda X: X.astype(int).tolist(),
        lambda X: np.ma.masked_array(X, np.zeros_like(X, dtype=bool)),
        pd.DataFrame,
        lambda X: pd.DataFrame(X).astype("Int64"),
        lambda X: pd.DataFrame(X).astype(pd.SparseDtype(float)),
        lambda X: pd.DataFrame(X).convert_dtypes(dtype_backend="pyarrow") if _has_arrow() else X,
    ],
)
def test_numbers_in_every_carrier(carrier):
    costs = ww.Costs(tests={"x0": 1, "x1": 2, "x2": 3}, errors=10)
    expected = ww.C45Classifier(costs=costs).fit(PLAIN, PLAIN_Y)
    clf = ww.C45Classifier(costs=costs).fit(carrier(PLAIN), PLAIN_Y)
    assert clf.tree_.to_json() == expected.tree_.to_json()
    np.testing.assert_array_equal(clf.total_costs(carrier(PLAIN), PLAIN_Y), expected.total_costs(PLAIN, PLAIN_Y))
    np.testing.assert_array_equal(expected.test_costs(carrier(PLAIN)), expected.test_costs(PLAIN))


def _has_arrow():
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.parametrize(
    "carrier",
    [
        lambda X: X.astype(str),
        lambda X: X.astype("S"),
        lambda X: X.astype(object),
        lambda X: pd.DataFrame(X, dtype="string"),
    ],
)
def test_texts_in_every_carrier(carrier):
    texts = np.array(COLOURS)[PLAIN.astype(int) % 3]
    clf = ww.C45Classifier(min_cases=1, prune="none").fit(carrier(texts), PLAIN_Y)
    expected = ww.C45Classifier(min_cases=1, prune="none").fit(texts, PLAIN_Y)
    assert clf.tree_.to_json() == expected.tree_.to_json()
    assert clf.tree_.schema.values[0] == ("blue", "green", "red")


@pytest.mark.parametrize("dtype", [float, int, np.float32, str, object, "category"])
def test_nominal_numbers_are_the_same_values_whatever_carries_them(dtype):
    X = pd.DataFrame(PLAIN % 3, columns=["a", "b", "c"])
    expected = ww.C45Classifier(nominal=["a", "b", "c"], min_cases=1).fit(X, PLAIN_Y)
    carried = X.astype(int).astype(dtype)
    by_number = ww.C45Classifier(nominal=[0, np.int64(1), 2], min_cases=1).fit(carried, PLAIN_Y)
    assert by_number.tree_.to_json() == expected.tree_.to_json()
    assert expected.tree_.schema.values[0] == ("0", "1", "2")
    np.testing.assert_array_equal(expected.predict(carried), by_number.predict(X))


def test_truth_values_are_nominal_and_found_as_numbers():
    X = np.array([[True], [False]] * 5)
    for carrier in (X, pd.DataFrame({"a": X[:, 0]}), X.astype(object)):
        clf = ww.C45Classifier().fit(carrier, [1, 0] * 5)
        assert clf.tree_.schema.values == (("False", "True"),)
        for again in (X, X.astype(int), X.astype(float), [[True], [False]]):
            assert clf.tree_.predict(again)[:2].tolist() == [1, 0]
        assert clf.next_test({clf.tree_.columns[0]: 1}).answer == 1
        assert clf.next_test({clf.tree_.columns[0]: np.False_}).answer == 0


def test_truth_values_in_other_carriers_than_those_learned_from():
    known = ww.C45Classifier().fit(pd.DataFrame({"a": [True, False] * 5}), [1, 0] * 5)
    for again in (pd.DataFrame({"a": [1, 0]}), pd.DataFrame({"a": [1.0, 0.0]}), pd.DataFrame({"a": ["True", "False"]})):
        assert known.predict(again).tolist() == [1, 0]


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
def test_classes_in_every_carrier(y):
    clf = ww.C45Classifier().fit(PLAIN, y(PLAIN_Y))
    kinds = {"bool": [False, True], "int64": [0, 1], "float64": [0.0, 1.0]}
    labels = kinds.get(str(clf.classes_.dtype), ["no", "yes"])
    assert clf.classes_.tolist() == labels
    assert [type(label) for label in clf.classes_.tolist()] == [type(label) for label in labels]
    assert clf.classes_.dtype != float or isinstance(y(PLAIN_Y), np.ndarray)  # whole numbers stay whole
    predicted = clf.predict(PLAIN)
    assert predicted.dtype == clf.classes_.dtype
    wrong = predicted != np.asarray(y(PLAIN_Y))
    assert clf.total_costs(PLAIN, y(PLAIN_Y)).tolist() == wrong.tolist()


# --- what cannot be data ---------------------------------------------------------------------------------------------


def fit(X, y=None, **parameters):
    return ww.C45Classifier(**parameters).fit(X, PLAIN_Y[: len(X)] if y is None else y)


def test_columns_that_cannot_be_are_refused_by_name():
    dates = pd.DataFrame({"n": range(60), "when": pd.date_range("2020-01-01", periods=60)})
    with pytest.raises(
        ValueError, match=r"column 'when' has the dtype datetime64.*neither a number nor a category; convert it"
    ):
        fit(dates)
    with pytest.raises(ValueError, match="column 'when' has the dtype Date"):
        fit(pl.DataFrame({name: dates[name].to_list() for name in dates}).with_columns(pl.col("when").cast(pl.Date)))
    with pytest.raises(ValueError, match="X has the dtype datetime64"):
        fit(dates[["when"]].to_numpy())
    with pytest.raises(ValueError, match="column 'when' has the dtype timedelta64"):
        fit(dates.assign(when=dates["when"] - dates["when"][0]))
    with pytest.raises(ValueError, match="X has two columns named 'a'; every column needs a name of its own"):
        fit(pd.DataFrame(PLAIN, columns=["a", "b", "a"]))
    with pytest.raises(ValueError, match="X has two columns named 'a'"):
        fit(PLAIN, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="columns names 2 columns, but X has 3"):
        fit(PLAIN, columns=["a", "b"])
    with pytest.raises(
        TypeError, match=r"X is a lazy frame of polars, which has no rows yet; call its collect\(\) first"
    ):
        fit(pl.DataFrame(PLAIN).lazy(), PLAIN_Y)
    known = ww.C45Classifier(columns=["a", "b", "c"]).fit(PLAIN, PLAIN_Y)
    with pytest.raises(TypeError, match="lazy frame"):
        known.tree_.predict(pl.DataFrame(PLAIN).lazy())


@pytest.mark.parametrize("bad", [[np.inf], [-np.inf], [np.inf, -np.inf], [np.inf, np.nan]])
def test_infinity_is_refused_by_name(bad):
    X = PLAIN.copy()
    X[: len(bad), 1] = bad
    for carrier in (X, pd.DataFrame(X), X.astype(object), np.asfortranarray(X)):
        with pytest.raises(
            ValueError, match="column 'x1' contains infinity; use NaN for a missing value or a large number"
        ):
            fit(carrier)


def test_whole_numbers_beyond_all_floats_are_infinite():
    for bad in (10**400, -(10**400), Fraction(10**400, 3)):
        X = PLAIN.astype(object)
        X[4, 1] = bad
        with pytest.raises(ValueError, match="column 'x1' contains infinity; use NaN for a missing value"):
            fit(X)
    clf = fit([[0.0], [1.0]] * 10, [0, 1] * 10)
    assert clf.predict(np.array([[-(10**400)], [10**400]], dtype=object)).tolist() == [0, 1]


def test_numbers_that_have_no_sum():
    X = np.array([[1.7e308], [1.6e308]] * 10)
    assert fit(X, [0, 1] * 10).predict(X).tolist() == [0, 1] * 10
    assert fit(pd.DataFrame(X), [0, 1] * 10).predict(X[:2]).tolist() == [0, 1]


def test_infinity_at_prediction_lies_beyond_every_threshold():
    clf = fit([[0.0], [1.0]] * 10, [0, 1] * 10)
    assert clf.predict([[-np.inf], [np.inf]]).tolist() == [0, 1]


def test_texts_in_a_numeric_column():
    clf = fit(pd.DataFrame({"a": PLAIN[:, 0]}), PLAIN_Y)
    with pytest.raises(ValueError, match="column 'a' was numeric when the tree was learned, but row 2 holds 'x'"):
        clf.predict(pd.DataFrame({"a": ["1", "2.5", "x"]}))
    with pytest.raises(ValueError, match="column 'a' was numeric when the tree was learned, but row 0 holds 'True'"):
        clf.predict(pd.DataFrame({"a": [True, False]}))
    texts = pd.DataFrame({"a": ["1", "2.5", None]})
    np.testing.assert_array_equal(clf.predict(texts), clf.predict(pd.DataFrame({"a": [1, 2.5, np.nan]})))


@pytest.mark.parametrize("nominal", [["z"], [3], [-1], [True, False, False], [None], ["x0", "z"]])
def test_nominal_columns_that_are_not_there(nominal):
    with pytest.raises(ValueError, match=r"nominal names the column .*, but X has the columns x0, x1, x2 \(0 to 2\)"):
        fit(PLAIN, nominal=nominal)


@pytest.mark.parametrize(
    ("X", "error"),
    [
        (np.zeros((0, 3)), ValueError),
        (np.zeros((3, 0)), ValueError),
        (pd.DataFrame({"a": []}), ValueError),
        (np.zeros(3), ValueError),
        (np.zeros((3, 3, 3)), ValueError),
        (pd.Series([1, 2, 3]), ValueError),
        (PLAIN[:3] + 1j, ValueError),
        ([[1, 2], [3], [4, 5]], ValueError),
        ("abc", ValueError),
        ({"a": [1, 2, 3]}, (ValueError, TypeError)),
        (pd.DataFrame([[1, 2]] * 3, columns=["a", 1]), TypeError),
    ],
)
def test_what_is_no_table_is_refused(X, error):
    with pytest.raises(error):
        fit(X, [0, 1, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ([0, 1], "X has 3 cases, but y has 2 classes"),
        ([0.5, 1.5, 2.5], "Unknown label type: continuous"),
        (np.array([0, np.nan, 1]), "contains NaN or infinity in row 1"),
        ([0, np.nan, 1], "contains NaN or None in row 1"),
        (["a", np.nan, "b"], "contains NaN or None in row 1"),
        (["a", None, "b"], "contains NaN or None in row 1"),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), "contains NaN or None in row 1"),
        (pd.Series([0, 1, pd.NA], dtype="Int64"), "contains NaN or None in row 2"),
        (np.array(["a", 1, "b"], dtype=object), "y mixes texts and numbers: 'a' in row 0, 1 in row 1"),
        ([[0, 1]] * 3, "y should be a 1d array"),
    ],
)
def test_what_are_no_classes_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        ww.C45Classifier().fit(PLAIN[:3], y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1], r"sample_weight has the shape \(2,\), expected \(3,\)"),
        ([1, -1, 1], "sample_weight of row 1 is -1.0; weights are finite and not negative"),
        ([1, 1, np.nan], "sample_weight of row 2 is nan"),
        ([1, np.inf, 1], "sample_weight of row 1 is inf"),
        ([0, 0, 0], "all of them are zero"),
        ([1e308] * 3, "sample_weight adds up to infinity"),
        (["a"] * 3, "sample_weight must be one number per case"),
        ([[1, 1, 1]], "1D array or scalar"),
    ],
)
def test_what_are_no_weights_is_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        ww.C45Classifier().fit(PLAIN[:3], [0, 1, 1], sample_weight=weights)


def test_weights_that_say_nothing():
    assert read_weights(None, 3) is None
    assert read_weights(1, 3) is None
    assert read_weights([1.0, 1, 1], 3) is None
    assert read_weights(2, 3).tolist() == [2, 2, 2]


# --- at prediction ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
def test_columns_at_prediction_must_be_those_of_training(learner):
    X = pd.DataFrame(PLAIN, columns=["a", "b", "c"])
    clf = learner().fit(X, PLAIN_Y)
    assert clf.feature_names_in_.tolist() == ["a", "b", "c"]
    for method in (clf.predict, clf.predict_proba, clf.test_costs):
        with pytest.raises(ValueError, match="feature names"):
            method(X[["b", "a", "c"]])
        with pytest.raises(ValueError, match="feature names"):
            method(X[["a", "b"]])
        with pytest.raises(ValueError, match="feature names"):
            method(X.rename(columns={"a": "z"}))
    plain = learner().fit(PLAIN, PLAIN_Y)
    assert not hasattr(plain, "feature_names_in_")
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3"):
        plain.predict(PLAIN[:, :2])
    again = clf.fit(PLAIN, PLAIN_Y)
    assert not hasattr(again, "feature_names_in_")


def test_names_that_came_by_parameter_hold_at_prediction():
    clf = ww.C45Classifier(columns=["a", "b", "c"]).fit(PLAIN, PLAIN_Y)
    X = pd.DataFrame(PLAIN, columns=["a", "b", "c"])
    np.testing.assert_array_equal(clf.predict(X), clf.predict(PLAIN))
    with pytest.raises(
        ValueError, match=r"X has the columns c, b, a, but the learner was given columns=\['a', 'b', 'c'\]"
    ):
        clf.predict(X[["c", "b", "a"]])
    with pytest.raises(ValueError, match="X has the columns a, b, but"):
        clf.predict(X[["a", "b"]])


def test_columns_without_any_value():
    for empty in (np.full(60, np.nan), np.full(60, None)):
        for frame in (pd.DataFrame, pl.DataFrame):
            X = frame({"empty": empty, "n": PLAIN[:, 0]})
            clf = ww.C45Classifier().fit(X, (PLAIN[:, 0] > 5).astype(int))
            assert clf.tree_.tests_used() == ["n"]
            assert clf.score(X, (PLAIN[:, 0] > 5).astype(int)) == 1
    only = ww.C45Classifier().fit(np.full((4, 1), np.nan), [0, 1, 1, 1])
    assert only.predict([[3.0]]).tolist() == [1]


# --- parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (np.float32(0.5), "0.5"),
        (np.int8(3), "3"),
        (-0.0, "0"),
        (True, "True"),
        (np.True_, "True"),
        (b"a", "a"),
        (np.str_("a"), "a"),
        (1e300, str(int(1e300))),
        (np.inf, "inf"),
    ],
)
def test_texts_of_values(value, text):
    assert value_text(value) == text


def test_missing_values():
    assert all(map(is_missing, (None, np.nan, float("nan"), np.float32("nan"), pd.NA, pd.NaT)))
    assert not any(map(is_missing, ("", "nan", 0, False, "NA", np.inf)))


def test_values_are_sorted_numbers_first():
    schema = Schema.learn(read_columns(np.array([["b", "10", "9", "a", "nan", "inf", "9.5"]], dtype=object).T))
    assert schema.values == (("9", "9.5", "10", "a", "b", "inf", "nan"),)


def test_some_cases_of_columns():
    for X in (PLAIN, MIXED):
        columns = read_columns(X)
        some = columns.take(np.array([3, 1]))
        assert some.n_cases == 2
        assert [a.tolist() for a in some.arrays] == [a[[3, 1]].tolist() for a in columns.arrays]
        copied = columns.copy()
        assert isinstance(copied, Columns)
        for one, other in zip(copied.arrays, columns.arrays, strict=True):
            assert not np.shares_memory(getattr(one, "codes", one), getattr(other, "codes", other))


def test_a_list_of_mappings_is_no_table():
    with pytest.raises(TypeError, match="list of mappings; make a frame of it first"):
        ww.C45Classifier().fit([{"a": 1}, {"a": 2}], [0, 1])


def test_columns_must_agree_with_the_names_of_a_frame():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    with pytest.raises(ValueError, match=r"columns=\['a', 'c'\] is given, but X has columns of its own: a, b"):
        ww.C45Classifier(columns=["a", "c"]).fit(frame, [0, 1])


def test_classes_that_are_whole_numbers_keep_type_and_gaps():
    y = np.array([7, -3, 7, 5, -3, 7], dtype=np.int16)
    clf = ww.C45Classifier(min_cases=1, prune="none").fit(np.arange(6.0)[:, None], y)
    assert clf.classes_.tolist() == [-3, 5, 7]
    assert clf.classes_.dtype == np.int16
    assert clf.predict(np.arange(6.0)[:, None]).tolist() == y.tolist()

"""The same data in any container gives the same tree and prices; unsupported input is refused by name."""

import datetime as dt
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import worthwhile as ww
from all_learners import LEARNERS, make
from worthwhile.table.columns import Columns, Factor, arrow_column, read_columns, value_text
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


CONTAINERS = {
    "pandas object": pandas_frame,
    "pandas category": lambda h: pandas_frame(h, colour="category"),
    "pandas string": lambda h: pandas_frame(h, colour="string", whole="UInt8", n="Float64"),
    "pandas object flag": lambda h: pandas_frame(h, flag="object"),
    "pandas category flag": lambda h: pandas_frame(h, flag="category"),
    "polars": polars_frame,
    "polars categorical": lambda h: polars_frame(h, pl.Categorical),
    "numpy object": object_array,
    "numpy object with nan": lambda h: object_array(h, np.nan),
    "numpy object with NA": lambda h: object_array(h, pd.NA),
    "nested list": lambda h: object_array(h).tolist(),
    "nested tuple": lambda h: tuple(map(tuple, object_array(h).tolist())),
}


@pytest.mark.filterwarnings("ignore:Downcasting")
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("container", CONTAINERS)
def test_mixed_data_in_every_container(container, holes):
    names = list(MIXED)
    for learner in (ww.EG2Classifier, ww.DTMCClassifier):
        expected = learner(costs=COSTS, cross_fit=False).fit(pandas_frame(holes), Y)
        X = CONTAINERS[container](holes)
        clf = learner(costs=COSTS, columns=names, cross_fit=False).fit(X, Y)
        assert clf.tree_.to_json() == expected.tree_.to_json()
        assert expected.tree_.n_nodes >= 3
        np.testing.assert_array_equal(clf.predict(X), expected.predict(pandas_frame(holes)))
        np.testing.assert_array_equal(clf.test_costs(X), expected.test_costs(pandas_frame(holes)))
        np.testing.assert_array_equal(clf.tree_.test_costs(X), expected.test_costs(pandas_frame(holes)))


PLAIN = RNG.integers(0, 12, (60, 3)).astype(float)
PLAIN_Y = (PLAIN[:, 0] > PLAIN[:, 1]).astype(int)


@pytest.mark.parametrize(
    "container",
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
def test_numbers_in_every_container(container):
    costs = ww.Costs(tests={"x0": 1, "x1": 2, "x2": 3}, errors=10)
    expected = ww.C45Classifier(costs=costs).fit(PLAIN, PLAIN_Y)
    clf = ww.C45Classifier(costs=costs).fit(container(PLAIN), PLAIN_Y)
    assert clf.tree_.to_json() == expected.tree_.to_json()
    np.testing.assert_array_equal(clf.total_costs(container(PLAIN), PLAIN_Y), expected.total_costs(PLAIN, PLAIN_Y))
    np.testing.assert_array_equal(expected.test_costs(container(PLAIN)), expected.test_costs(PLAIN))


def _has_arrow():
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.parametrize(
    "container",
    [
        lambda X: X.astype(str),
        lambda X: X.astype("S"),
        lambda X: X.astype(object),
        lambda X: pd.DataFrame(X, dtype="string"),
    ],
)
def test_strings_in_every_container(container):
    texts = np.array(COLOURS)[PLAIN.astype(int) % 3]
    clf = ww.C45Classifier(min_cases=1, prune="none").fit(container(texts), PLAIN_Y)
    expected = ww.C45Classifier(min_cases=1, prune="none").fit(texts, PLAIN_Y)
    assert clf.tree_.to_json() == expected.tree_.to_json()
    assert clf.tree_.schema.values[0] == ("blue", "green", "red")


@pytest.mark.parametrize("dtype", [float, int, np.float32, str, object, "category"])
def test_nominal_numbers_are_the_same_values_in_every_dtype(dtype):
    X = pd.DataFrame(PLAIN % 3, columns=["a", "b", "c"])
    expected = ww.C45Classifier(nominal=["a", "b", "c"], min_cases=1).fit(X, PLAIN_Y)
    carried = X.astype(int).astype(dtype)
    by_number = ww.C45Classifier(nominal=[0, np.int64(1), 2], min_cases=1).fit(carried, PLAIN_Y)
    assert by_number.tree_.to_json() == expected.tree_.to_json()
    assert expected.tree_.schema.values[0] == ("0", "1", "2")
    np.testing.assert_array_equal(expected.predict(carried), by_number.predict(X))


@pytest.mark.parametrize(
    "numbers",
    [
        [1, 2.5, None, 4],
        [Decimal("1"), Decimal("2.5"), None, Decimal("4")],
        [np.int64(1), np.float32(2.5), np.nan, 4],
        [Fraction(1), 2.5, pd.NA, 4],
        [True, 2.5, None, 4],
    ],
)
def test_numbers_in_object_columns_of_frames_stay_numbers(numbers):
    expected = [1.0, 2.5, np.nan, 4.0]
    for series in (pd.Series(numbers, dtype=object), pl.Series(numbers, dtype=pl.Object)):
        frame = (pd if isinstance(series, pd.Series) else pl).DataFrame({"a": series})
        np.testing.assert_array_equal(read_columns(frame).arrays[0], expected)


@pytest.mark.parametrize("values", [[True, None, False], [True, np.nan], [np.True_, np.False_], [1, "a"], [None, None]])
def test_object_columns_of_booleans_or_strings_are_nominal(values):
    for X in (pd.DataFrame({"a": pd.Series(values, dtype=object)}), np.array(values, dtype=object)[:, None]):
        assert isinstance(read_columns(X).arrays[0], Factor)


def test_decimals_are_the_same_nominal_values_as_floats():
    values = [Decimal("0.50"), Decimal("3.0"), Decimal("100")]
    assert [value_text(v) for v in values] == ["0.5", "3", "100"]
    clf = ww.C45Classifier(nominal=["a"], min_cases=1).fit(pd.DataFrame({"a": values * 4}, dtype=object), [0, 1, 1] * 4)
    assert clf.predict(pd.DataFrame({"a": [0.5, 3.0, 100.0]})).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "container", [np.asarray, pd.DataFrame, pl.DataFrame, lambda X: pd.DataFrame(X, dtype="Int64")]
)
def test_nominal_integers_above_2_to_the_53_stay_distinct(container):
    X = np.array([[2**53], [2**53 + 1]] * 5)
    clf = ww.C45Classifier(nominal=[0]).fit(container(X), [0, 1] * 5)
    assert clf.tree_.schema.values == ((str(2**53), str(2**53 + 1)),)
    for again in (container(X), X.astype(object), X.astype(str)):
        assert clf.tree_.predict(again)[:2].tolist() == [0, 1]


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_nominal_fractions_are_the_same_in_both_precisions(container):
    double = np.array([[0.1], [0.7]] * 5)
    single = double.astype(np.float32)
    for X in (double, single, single.astype(np.float64)):
        clf = ww.C45Classifier(nominal=[0]).fit(container(X), [0, 1] * 5)
        assert clf.tree_.n_leaves == 2
        for again in (double, single, single.astype(np.float64)):
            assert clf.tree_.predict(container(again))[:2].tolist() == [0, 1]


ORDER = ["none", "low", "middle", "high", "extreme"]


def ordered_frames(codes):
    pa = pytest.importorskip("pyarrow")
    dictionary = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array([*ORDER, "never"]), ordered=True)
    return [
        pd.DataFrame({"a": pd.Categorical.from_codes(codes, [*ORDER, "never"], ordered=True)}),
        pa.table({"a": dictionary}),
    ]


def test_ordered_categories_are_cut_like_numbers():
    codes = np.arange(60) % 5
    y = (codes >= 2) & (codes < 4)
    for frame in ordered_frames(codes):
        for learner in (ww.C45Classifier, ww.DTMCClassifier, ww.EG2Classifier):
            tree = learner().fit(frame, y).tree_
            assert tree.schema.values == (tuple(ORDER),)
            assert tree.n_leaves == 3
            assert "─ extreme: False" in tree.to_text()
            np.testing.assert_array_equal(tree.predict(frame), y)
            assert tree.predict(pd.DataFrame({"a": ORDER})).tolist() == [False, False, True, True, False]
            again = ww.Tree.from_json(tree.to_json())
            assert again.schema.values == tree.schema.values
            np.testing.assert_array_equal(again.predict(frame), y)
    shuffled = pd.DataFrame({"a": pd.Categorical.from_codes(codes, ORDER)})
    plain = ww.C45Classifier().fit(shuffled, y).tree_
    assert plain.n_leaves == 5
    assert plain.schema.values == (tuple(sorted(ORDER)),)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_accepts_ordered_categories(learner):
    codes = np.arange(60) % 5
    missing = np.where(np.arange(60) % 7 == 0, -1, codes)
    frame = pd.DataFrame({"a": pd.Categorical.from_codes(missing, ORDER, ordered=True)})
    clf = make(learner, variant="paper", costs=None, random_state=0).fit(frame, codes >= 2)
    assert clf.predict(pd.DataFrame({"a": ORDER})).tolist() == [False, False, True, True, True]


def test_two_values_or_very_many_in_order():
    two = pd.DataFrame({"a": pd.Categorical(["b", "a"] * 5, categories=["b", "a"], ordered=True)})
    assert ww.C45Classifier().fit(two, [0, 1] * 5).tree_.schema.values == (("b", "a"),)
    names = [f"v{i}" for i in range(300)]
    many = pd.DataFrame({"a": pd.Categorical(names, categories=names, ordered=True)})
    assert ww.C45Classifier().fit(many, np.arange(300) > 149).tree_.n_leaves <= 4


def test_pyarrow_tables_and_foreign_frames_keep_their_names():
    pa = pytest.importorskip("pyarrow")
    pandas = pandas_frame(True)
    expected = ww.EG2Classifier(costs=COSTS).fit(pandas, Y)
    table = pa.Table.from_pandas(pandas, preserve_index=False)

    class Stream:  # all that a frame of another library may offer
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    for X in (table, Stream(), table.append_column("other", table["n"]).to_batches()[0]):
        columns = X if isinstance(X, Stream) else X.select(list(MIXED))
        clf = ww.EG2Classifier(costs=COSTS).fit(columns, Y)
        assert clf.feature_names_in_.tolist() == list(MIXED)
        assert clf.tree_.to_json() == expected.tree_.to_json()
        np.testing.assert_array_equal(clf.predict(columns), expected.predict(pandas))
        np.testing.assert_array_equal(clf.tree_.test_costs(X), expected.test_costs(pandas))
    with pytest.raises(ValueError, match="X lacks the column 'n'"):
        clf.tree_.predict(table.drop_columns(["n"]))
    days = pa.table({"when": pa.array(range(60), pa.int32()).cast(pa.date32())})
    assert read_columns(days).arrays[0].tolist() == list(range(60))
    with pytest.raises(ValueError, match="column 'when' has the dtype time32"):
        fit(pa.table({"when": pa.array([0] * 60, pa.int32()).cast(pa.time32("s"))}))


@pytest.mark.parametrize("column", [pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0])])
def test_a_single_column_is_no_table(column):
    with pytest.raises(ValueError, match="X is a single column or case; use a table"):
        ww.C45Classifier().fit(column, [0, 1])


def test_booleans_are_read_as_arrays_not_one_by_one(monkeypatch):
    monkeypatch.setattr("worthwhile.table.columns.value_text", _count := _CountedText())
    flags = np.arange(1000) % 2 == 0
    for X in (
        pd.DataFrame({"a": flags}),
        pd.DataFrame({"a": flags}, dtype="boolean"),
        pl.DataFrame({"a": flags}),
        flags[:, None],
    ):
        factor = read_columns(X).arrays[0]
        assert factor.tolist()[:2] == ["True", "False"]
    assert _count.calls <= 8


class _CountedText:
    calls = 0

    def __call__(self, value):
        self.calls += 1
        return value_text(value)


# --- unsupported input -----------------------------------------------------------------------------------------------


def fit(X, y=None, **parameters):
    return ww.C45Classifier(**parameters).fit(X, PLAIN_Y[: len(X)] if y is None else y)


def test_dates_and_spans_of_time_become_days():
    when = pd.date_range("2020-01-01", periods=60)
    wanted = [18262.0 + i for i in range(60)]
    plain = pd.DataFrame({"n": range(60), "when": when})
    forms = [
        plain,
        plain.assign(when=when.tz_localize("UTC").tz_convert("Asia/Tokyo")),
        plain.assign(when=[day.date() for day in when]),
        plain.convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame({"n": range(60), "when": list(when)}),
        pl.DataFrame({"n": range(60), "when": list(when)}).with_columns(pl.col("when").cast(pl.Date)),
        plain.astype(object).to_numpy(),
    ]
    for X in forms:
        assert read_columns(X).arrays[1].tolist() == wanted
        assert fit(X).predict(X).shape == (60,)
    assert read_columns(plain[["when"]].to_numpy()).arrays[0].tolist() == wanted
    spans = plain.assign(when=when - when[0])
    for X in (spans, pl.DataFrame({"n": range(60), "when": (when - when[0]).to_pytimedelta().tolist()})):
        assert read_columns(X).arrays[1].tolist() == list(range(60))
    gap = pd.DataFrame({"when": [when[0], None, when[2]], "day": [None, when[1].date(), None]})
    for X in (
        gap,
        pl.DataFrame({name: gap[name].astype(object).where(gap[name].notna(), None).to_list() for name in gap}),
    ):
        columns = read_columns(X).arrays
        assert [[np.isnan(v) for v in column] for column in columns] == [[False, True, False], [True, False, True]]


def test_cases_may_give_dates_as_strings():
    when = pd.date_range("2020-01-01", periods=60)
    clf = fit(pd.DataFrame({"when": when}), y=["a"] * 30 + ["b"] * 30)
    assert clf.predict(pd.DataFrame({"when": ["2020-01-05", "20.02.2020"]})).tolist() == ["a", "b"]
    assert clf.next_test({"when": "2020-02-20"}).answer == "b"
    assert clf.next_test({"when": when[3].date()}).answer == "a"
    with pytest.raises(ValueError, match="needs a number, got '03/04/2020'"):
        clf.next_test({"when": "03/04/2020"})


def test_unsupported_columns_are_refused_by_name():
    hours = pl.DataFrame({"n": range(60), "when": [dt.time(8)] * 60})
    with pytest.raises(ValueError, match=r"column 'when' has the dtype Time.*neither numeric nor nominal; convert it"):
        fit(hours)
    with pytest.raises(ValueError, match="X has two columns named 'a'; every column needs a unique name"):
        fit(pd.DataFrame(PLAIN, columns=["a", "b", "a"]))
    with pytest.raises(ValueError, match="X has two columns named 'a'"):
        fit(PLAIN, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="columns has 2 names, but X has 3 columns"):
        fit(PLAIN, columns=["a", "b"])
    with pytest.raises(TypeError, match=r"X is a polars LazyFrame, which has no rows yet; call collect\(\) first"):
        fit(pl.DataFrame(PLAIN).lazy(), PLAIN_Y)
    known = ww.C45Classifier(columns=["a", "b", "c"]).fit(PLAIN, PLAIN_Y)
    with pytest.raises(TypeError, match="LazyFrame"):
        known.tree_.predict(pl.DataFrame(PLAIN).lazy())


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
def test_input_that_is_not_a_table_is_refused(X, error):
    with pytest.raises(error):
        fit(X, [0, 1, 1])


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
def test_nominal_values_as_text(value, text):
    assert value_text(value) == text


def test_selected_cases_and_copies_of_columns():
    for X in (PLAIN, MIXED):
        columns = read_columns(X)
        some = columns.take(np.array([3, 1]))
        assert some.n_cases == 2
        assert [a.tolist() for a in some.arrays] == [a[[3, 1]].tolist() for a in columns.arrays]
        copied = columns.copy()
        assert isinstance(copied, Columns)
        for one, other in zip(copied.arrays, columns.arrays, strict=True):
            assert not np.shares_memory(getattr(one, "codes", one), getattr(other, "codes", other))


def test_a_list_of_mappings_is_refused():
    with pytest.raises(TypeError, match="list of mappings; convert it to a frame first"):
        ww.C45Classifier().fit([{"a": 1}, {"a": 2}], [0, 1])


def test_columns_must_agree_with_the_names_of_a_frame():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    with pytest.raises(ValueError, match=r"columns=\['a', 'c'\] differs from the column names of X: a, b"):
        ww.C45Classifier(columns=["a", "c"]).fit(frame, [0, 1])


def packed(values):
    """Return an array whose numbers start at an odd address."""
    values = np.asarray(values, dtype=np.float64)
    found = np.frombuffer(b"x" + values.tobytes(), dtype=np.float64, offset=1).reshape(values.shape)
    assert not found.flags.aligned
    return found


def test_the_core_gets_aligned_arrays_only():
    X, y = np.array([[1.0, 2], [3, 4], [5, 6], [7, 8]] * 3), [0, 1, 1, 0] * 3
    records = np.zeros(12, dtype=[("flag", "u1"), ("x", "f8")])
    for given in (
        packed(X),
        records["x"].reshape(12, 1),
        pd.DataFrame({"a": packed(X[:, 0]), "b": packed(X[:, 1])}),
    ):
        assert all(array.flags.aligned for array in read_columns(given).arrays)
    clf = ww.DTMCClassifier(min_cases=1).fit(packed(X), y, sample_weight=packed(np.arange(1.0, 13)))
    assert read_weights(packed(np.arange(1.0, 13)), 12).flags.aligned
    assert clf._context.checked_case_prices(packed(X), 12).flags.aligned
    assert clf.predict(packed(X)).tolist() == clf.predict(X).tolist()
    assert clf.test_costs(X, case_prices=packed(X)).tolist() == clf.test_costs(X, case_prices=X).tolist()


def test_columns_of_pyarrow_are_aligned():
    pa = pytest.importorskip("pyarrow")
    column = pa.Array.from_buffers(pa.float64(), 12, [None, pa.py_buffer(b"x" + bytes(96)).slice(1)])
    assert arrow_column(column).flags.aligned
    assert read_columns(pa.table({"a": column})).arrays[0].flags.aligned


def test_models_show_dates_as_dates(tmp_path):
    when = pd.date_range("2020-01-01", periods=60, freq="12h")
    X = pd.DataFrame({"when": when, "span": when - when[0], "x": 0.0})
    clf = fit(X[["when", "x"]], y=["a"] * 30 + ["b"] * 30)
    assert "≤ 2020-01-15 12:00: a" in clf.tree_.to_text()
    assert clf.tree_.rules()[1].startswith("If when is above 2020-01-15 12:00: answer b")
    assert "2020-01-15 12:00" in str(clf.explain({"when": "2020-01-20"}))
    clf.save(tmp_path / "m.json")
    assert ww.load(tmp_path / "m.json").tree_.schema == clf.tree_.schema
    assert ww.load(tmp_path / "m.json").tree_.to_text() == clf.tree_.to_text()
    assert "≤ 14.5: a" in fit(X[["span"]], y=["a"] * 30 + ["b"] * 30).tree_.to_text()
    nanoseconds = X[["when"]].to_numpy().astype("datetime64[ns]")
    assert fit(nanoseconds, y=["a"] * 30 + ["b"] * 30).tree_.schema.dates == {"x0"}
    assert pickle.loads(pickle.dumps(read_columns(X))).dates == {"when"}
    assert read_columns(X).take(np.arange(3)).dates == read_columns(X).copy().dates == {"when"}


def test_an_enum_of_polars_keeps_its_order():
    sizes = pl.Series(["tall", "short", None, "mid"], dtype=pl.Enum(["short", "mid", "tall", "unused"]))
    column = read_columns(pl.DataFrame({"size": sizes})).arrays[0]
    assert column.ordered
    assert column.tolist() == ["tall", "short", None, "mid"]
    assert Schema.learn(read_columns(pl.DataFrame({"size": sizes}))).values == (("short", "mid", "tall"),)

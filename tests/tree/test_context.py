"""What the trees of a problem share: columns, classes and costs."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from handmade import small, tree, turney
from worthwhile.tree.context import UnknownClassWarning, distinct_labels, label_array


def test_prices_that_depend_on_the_case():
    known = tree(turney())
    X = pd.DataFrame([[6, 1, 3, 2], [1, 7, None, None]], columns=known.columns).astype({"delta": object})
    prices = np.array([[1.0, 2, 3, 4], [10, 20, 30, 40]])
    assert known.test_costs(X, prices).tolist() == [1 + 2 + 3 + 4 + 2, 30]
    assert known.total_costs(X, [1, 0], prices).tolist() == [62, 30]
    with pytest.raises(ValueError, match=r"case_prices has the shape \(1, 4\), expected \(2, 4\)"):
        known.test_costs(X, prices[:1])
    with pytest.raises(ValueError, match=r"row 1, test 'delta': -30"):
        known.test_costs(X, prices * [[1, 1, 1, 1], [1, 1, -1, 1]])


def test_prices_that_depend_on_the_case_are_found_by_name():
    known = tree(small())
    X, prices = [[1, 1], [-1, 0]], pd.DataFrame({"y": [20.0, 40.0], "x": [10.0, 30.0]})
    frames = [prices, pl.DataFrame(prices.to_dict("list")), prices.astype(object)]
    for frame in frames:
        assert known.test_costs(X, frame).tolist() == [30, 30]
    assert known.test_costs(X, prices.to_numpy()).tolist() == [30, 40]  # without names: in the order of the tests
    assert known.test_costs(X, pd.DataFrame(prices.to_numpy())).tolist() == [30, 40]
    with pytest.raises(ValueError, match="case_prices has the column 'z', which is not a test; valid: 'x', 'y'"):
        known.test_costs(X, prices.rename(columns={"y": "z"}))
    with pytest.raises(ValueError, match="case_prices lacks the column 'y'; it needs a price for every test"):
        known.test_costs(X, prices[["x"]])
    with pytest.raises(ValueError, match="case_prices must be numbers, but the column 'x' is not"):
        known.test_costs(X, prices.assign(x=["a", "b"]))


def test_true_classes_as_a_table_with_one_column():
    known = tree(small())
    for y in (np.array([["no"], ["yes"]]), pd.DataFrame({"class": ["no", "yes"]})):
        assert known.total_costs([[-1, 0], [-1, 0]], y).tolist() == [1, 41]


def test_true_classes_that_the_tree_never_saw():
    known = tree(small())
    with pytest.raises(ValueError, match="errors has no row for class 'perhaps'; its classes are 'no', 'yes'"):
        known.total_costs([[0, 0]], ["perhaps"])
    with pytest.raises(ValueError, match="y contains the unknown class 1; the classes are 'no', 'yes'"):
        known.total_costs([[0, 0]], [1])
    uniform = tree(small(costs={"errors": 3}))
    unknown = "y contains the unknown class 'perhaps', which no training case has; the classes are 'no', 'yes'"
    with pytest.warns(UnknownClassWarning, match=unknown):
        assert uniform.total_costs([[0, 0], [0, 0]], ["perhaps", "no"]).tolist() == [3, 0]
    for misspelt in ("No", " no "):
        with pytest.raises(ValueError, match=r"the classes are 'no', 'yes': did you mean 'no'\?"):
            uniform.total_costs([[0, 0], [0, 0]], [misspelt, "yes"])
    for y in (["no", None], np.array(["no", np.nan], dtype=object), pd.Series(["no", pd.NA], dtype="string")):
        with pytest.raises(ValueError, match="the class of row 1 of y is missing"):
            known.total_costs([[0, 0], [0, 0]], y)
    with pytest.raises(ValueError, match=r"y has the shape \(1,\), expected \(2,\)"):
        known.total_costs([[0, 0], [0, 0]], ["no"])


@pytest.mark.parametrize(
    "y", [["no", "yes"], pd.Series(["no", "yes"]), pl.Series(["no", "yes"]), np.array(["no", "yes"], object)]
)
def test_true_classes_in_any_container(y):
    assert tree(small()).total_costs([[-1, 0], [-1, 0]], y).tolist() == [1, 41]


def test_columns_are_found_by_name_or_by_number():
    known = tree(small())
    X = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for carrier in (X, pd.DataFrame(X, columns=["x", "y"]), pd.DataFrame(X)):
        assert known.predict(carrier).tolist() == ["yes", "no"]
    shuffled = pd.DataFrame({"other": ["?", "?"], "y": X[:, 1], "x": X[:, 0]})
    assert (
        known.predict(shuffled).tolist()
        == known.predict(pl.DataFrame(shuffled.to_dict("list"))).tolist()
        == ["yes", "no"]
    )
    with pytest.raises(ValueError, match="X lacks the columns 'x', 'y'"):
        known.predict(pd.DataFrame({"z": [1]}))
    with pytest.raises(ValueError, match="X lacks the column 'y'"):
        known.predict(pd.DataFrame({"x": [1]}))
    with pytest.raises(ValueError, match="X has 3 columns, expected 2: x, y"):
        known.predict(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="two columns named 'x'"):
        known.predict(pd.DataFrame([[1, 2, 3]], columns=["x", "x", "y"]))


def test_known_and_unavailable_tests():
    context = tree(turney()).context
    case = context.schema.read_case({"alpha": -1, "beta": None, "delta": None, "epsilon": 0})
    assert context.split_known(case) == ([0, 3], [1, 2])


def test_a_context_comes_back_from_a_pickle():
    context = tree(turney()).context
    back = pickle.loads(pickle.dumps(context))
    assert (back.schema, back.classes, back.costs) == (context.schema, context.classes, context.costs)
    assert back.pricing.price({2, 3}) == 5 + 8 + 2


def test_arrays_of_labels_keep_their_types():
    assert label_array(["a", "b"]).dtype.kind == "U"
    assert label_array([0, 1]).dtype.kind == "i"
    assert label_array([0, "unknown"]).tolist() == [0, "unknown"]


def test_distinct_labels():
    for y in (["b", "a", "b"], np.array(["b", "a", "b"], dtype=object)):
        labels, place = distinct_labels(y, 3)
        assert [labels[i] for i in place] == ["b", "a", "b"]
        assert sorted(labels) == ["a", "b"]

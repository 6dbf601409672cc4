"""Advice for a table of cases, compared with `next_test` case by case."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import worthwhile as ww
from handmade import small, tree, turney
from priced_trees import priced_tree, random_rows
from problems import compare
from wildtrees import NAMES, VALUES
from worklists import check_row
from worthwhile.table.schema import OtherValue


def frame(rows):
    """Cases as users have them: numbers and strings."""
    found = pd.DataFrame(rows, columns=list(NAMES)).astype({n: float for n in NAMES if n[0] == "n"})
    return found.astype({n: object for n in NAMES if n[0] == "c"})


def known_of(row, unavailable):
    """A row as a mapping for `next_test`."""
    known = {}
    for name, value, gone in zip(NAMES, row, unavailable, strict=True):
        if gone:
            known[name] = None
        elif value is not None:
            strange = isinstance(value, str) and value not in VALUES
            known[name] = OtherValue(value) if strange else value
    return known


@given(seed=st.integers(0, 2**31), missing=st.sampled_from([0.0, 0.3, 0.7]), free=st.booleans())
@compare(60)
def test_a_table_gets_the_advice_of_single_cases(seed, missing, free):
    rng = np.random.default_rng(seed)
    model = priced_tree(rng)
    rows = random_rows(rng, 25, missing)
    absent = np.array([[value is None for value in row] for row in rows])
    mark = rng.choice([0, 1, 2], absent.shape, p=[0.6, 0.2, 0.2])
    unavailable, pending = absent & (mark == 1), absent & (mark == 2)
    paid = ["n0"] if free else []
    found = model.advise(frame(rows), unavailable, pending, already_paid=paid)
    for at, row in enumerate(rows):
        waiting = [name for name, is_pending in zip(NAMES, pending[at], strict=True) if is_pending]
        check_row(model, found.iloc[at], known_of(row, unavailable[at]), waiting, paid)


@pytest.mark.parametrize("base", ["tree", "forest", "cascade"])
def test_every_kind_of_model_advises(base):
    data = ww.datasets.load("heart")
    learner = {
        "tree": ww.ACTClassifier(costs=data.costs, variant="paper", r=1, cross_fit=False),
        "forest": ww.BudgetForestClassifier(costs=data.costs, budget=30.0, max_trees=4),
        "cascade": ww.CascadeClassifier(costs=data.costs),
    }[base]
    clf = learner.set_params(nominal=data.nominal, random_state=0).fit(data.X[:150], data.y[:150])
    rng = np.random.default_rng(0)
    X = data.X[:12].copy()
    X = X.mask(pd.DataFrame(rng.random(X.shape) < 0.5, columns=X.columns))
    X = pd.concat([X, X], ignore_index=True)  # equal cases
    pending = pd.DataFrame({"thal": X["thal"].isna() & (rng.random(len(X)) < 0.5)})
    found = clf.advise(X, pending=pending)
    for at in range(len(X)):
        known = {name: value for name, value in X.iloc[at].items() if not pd.isna(value)}
        check_row(clf, found.iloc[at], known, ["thal"] if pending["thal"].iloc[at] else [])


def test_what_is_ordered_is_not_ordered_again():
    model = tree(turney())
    rows = pd.DataFrame({"alpha": [3.0, 3.0, 3.0], "beta": np.nan, "delta": None, "epsilon": np.nan})
    pending = pd.DataFrame({"delta": [False, True, True], "beta": [False, True, False], "epsilon": [False, True, True]})
    found = model.advise(rows, pending=pending)
    assert found["action"].tolist() == ["order", "wait", "wait"]
    assert found["tests"].tolist() == ["delta;beta;epsilon", "delta", "delta"]
    assert found["price"].tolist() == [25.0, 0.0, 0.0]
    assert found["spent"].tolist() == [5.0, 30.0, 20.0]


def test_equal_cases_are_worked_out_once(monkeypatch):
    from worthwhile.tree import batch_advice

    model, calls = tree(small()), []
    real = batch_advice.advise_walk
    monkeypatch.setattr(
        batch_advice, "advise_walk", lambda *given, **options: calls.append(given) or real(*given, **options)
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    X[rng.random(X.shape) < 0.3] = np.nan
    found = model.advise(X, as_frame=False)
    assert len(found["action"]) == 500
    assert len(calls) == 7  # three leaves, the root with y low, high or unknown, and the node below it


def test_without_pandas_there_are_arrays():
    model = tree(small())
    found = model.advise([[np.nan, 1.0]], as_frame=False)
    assert {name: column.tolist() for name, column in found.items() if name != "reason"} == {
        "action": ["order"],
        "tests": ["x"],
        "price": [1.0],
        "saving": [pytest.approx(model.next_test({"y": 1.0}).gain)],
        "spent": [2.0],
        "answer": [None],
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pending": [[True, False]]}, "row 0 is marked as pending for the test 'x', but it has a value"),
        ({"unavailable": [[1, 0]]}, "unavailable has the shape .* expected .*True or False for each case and test"),
        ({"pending": pd.DataFrame({"z": [True]})}, "there is no test 'z'"),
        ({"pending": pd.DataFrame({"y": [True, True]})}, "pending has 2 rows, expected 1"),
        ({"already_paid": ["z"]}, "there is no test 'z'"),
        ({"unavailable": [[False, True]], "pending": [[False, True]]}, "marked as pending for the test 'y'"),
    ],
)
def test_wrong_marks_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        tree(small()).advise([[1.0, np.nan]], **options)


def test_marks_of_other_frames():
    polars = pytest.importorskip("polars")
    marks = polars.DataFrame({"y": [True, False]})
    found = json.loads(json.dumps(tree(small()).advise([[1.0, np.nan]] * 2, pending=marks)["action"].tolist()))
    assert found == ["wait", "order"]

"""Error costs: every form that is accepted, labels, and mistakes that are reported by name."""

from __future__ import annotations

import pickle
import re
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest

import worthwhile as ww
from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import CostsError, is_missing, suggest

SICK = {"sick": {"buff": 500.0}, "buff": {"sick": 100.0}}
REJECT = {"sick": {"buff": 500.0, "unknown": 20.0}, "buff": {"sick": 100.0, "unknown": 30.0}}
NAN, INF = float("nan"), float("inf")


def frame(rows: list[list[float]], index: list[object], columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(rows, index=index, columns=columns)


@pytest.mark.parametrize(
    "errors",
    [
        Costs(errors=REJECT),
        Costs(
            errors={"sick": {"buff": 500, "unknown": 20, "sick": 0}, "buff": {"sick": 100, "unknown": 30, "buff": 0}}
        ),
        Costs(errors=frame([[0, 500, 20], [100, 0, 30]], ["sick", "buff"], ["sick", "buff", "unknown"])),
        Costs(errors=frame([[20, 500, 0], [30, 0, 100]], ["sick", "buff"], ["unknown", "buff", "sick"])),
        Costs(errors=[[0, 500, 20], [100, 0, 30]], classes=["sick", "buff", "unknown"]),
        Costs(errors=np.array([[0, 500, 20], [100, 0, 30]]), classes=np.array(["sick", "buff", "unknown"])),
        Costs(errors=((0, 500, 20), (100, 0, 30)), classes=("sick", "buff", "unknown")),
    ],
)
def test_all_forms_of_errors_are_equivalent(errors: Costs) -> None:
    assert errors == Costs(errors=REJECT)
    answers, matrix = errors.error_matrix(["buff", "sick"])
    assert answers == ["buff", "sick", "unknown"]
    assert matrix.dtype == np.float64
    assert matrix.tolist() == [[0.0, 100.0, 30.0], [500.0, 0.0, 20.0]]
    assert Costs(errors=errors.errors) == errors


def test_negative_costs_and_a_diagonal_are_allowed() -> None:
    costs = Costs(errors={"a": {"a": -3, "b": 2}, "b": {"a": -1.5, "b": 4}})
    assert costs.error_matrix(["a", "b"])[1].tolist() == [[-3.0, 2.0], [-1.5, 4.0]]
    assert Costs(errors=-2).error_matrix([0, 1])[1].tolist() == [[0.0, -2.0], [-2.0, 0.0]]


def test_classes_that_do_not_occur_are_left_out_but_reject_answers_stay() -> None:
    errors = {t: {a: 10.0 * i + j for j, a in enumerate("abc?")} for i, t in enumerate("abc")}
    answers, matrix = Costs(errors=errors).error_matrix(["c", "a"])
    assert answers == ["c", "a", "?"]
    assert matrix.tolist() == [[22.0, 20.0, 23.0], [2.0, 0.0, 3.0]]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (("1", "2"), [1, 2]),
        (("1", "2"), [1.0, 2.0]),
        (("1", "2"), np.array([1.0, 2.0])),
        (("1", "2"), np.array([1, 2], dtype=np.int8)),
        (("1", "2"), np.array(["1", "2"])),
        (("1.0", "2.0"), [1.0, 2.0]),
        ((1, 2), [1.0, 2.0]),
        ((1, 2), ["1", "2"]),
        ((1.0, 2.0), ["1", "2"]),
        ((1.0, 2.0), ["1.0", "2.0"]),
        ((np.int64(1), np.float64(2)), ["1", 2]),
        (("False", "True"), np.array([False, True])),
        ((0, 1), [False, True]),
        ((0.5, 1.5), ["0.5", "1.5"]),
    ],
)
def test_labels_match_by_equality_or_text(labels: tuple[object, object], classes: list[object]) -> None:
    costs = Costs(errors={labels[0]: {labels[1]: 5}, labels[1]: {labels[0]: 7}})
    answers, matrix = costs.error_matrix(classes)
    assert answers == list(classes)
    assert matrix.tolist() == [[0.0, 5.0], [7.0, 0.0]]


def test_labels_of_rows_and_columns_match_by_text() -> None:
    costs = Costs(errors=frame([[0, 5], [7, 0]], [0, 1], ["0", "1"]))
    assert costs.errors == {0: {0: 0.0, 1: 5.0}, 1: {0: 7.0, 1: 0.0}}


def test_uniform_errors_accept_any_labels() -> None:
    days = [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02")]
    answers, matrix = Costs(errors=3).error_matrix(days)
    assert answers == days
    assert matrix.sum() == 6.0


@pytest.mark.parametrize(
    ("errors", "classes", "words"),
    [
        (SICK, ["sick", "well"], ["'well'", "'sick', 'buff'"]),
        ({"sick": {"buff": 5}}, ["sick", "buff"], ["no row for class 'buff'", "classes are 'sick'"]),
        (SICK, ["sick", "sick"], ["'sick' twice"]),
        (SICK, ["sick", None], ["None", "not a class label"]),
        (SICK, [], ["at least one class"]),
        (1.0, [], ["at least one class"]),
        (1.0, ["a", "b", "a"], ["twice", "'a', 'b', 'a'"]),
    ],
)
def test_classes_that_do_not_fit_are_named(errors: object, classes: list[object], words: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        Costs(errors=errors).error_matrix(classes)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("errors", "classes", "words"),
    [
        (NAN, None, ["errors", "finite"]),
        (True, None, ["errors", "number", "True"]),
        ("500", None, ["errors must be a number", "'500'"]),
        (None, None, ["errors must be a number", "None"]),
        (pl.DataFrame({"a": [0, 1]}), None, ["errors must be a number"]),
        (np.float64(3.0), ["a", "b"], ["classes= is only valid with errors as a matrix"]),
        ({}, None, ["errors is empty"]),
        ({"sick": 5, "buff": {}}, None, ["errors['sick']", "mapping", "5"]),
        ({"sick": {"buff": NAN}, "buff": {"sick": 1}}, None, ["errors['sick']['buff']", "finite", "nan"]),
        ({"sick": {"buff": "5"}, "buff": {"sick": 1}}, None, ["errors['sick']['buff']", "number", "'5'"]),
        ({"sick": {"buff": 5}, "buff": {}}, None, ["errors['buff']", "answer 'sick'"]),
        ({"a": {"b": 1, "?": 1}, "b": {"a": 1}}, None, ["errors['b']", "answer '?'", "'a', '?'"]),
        ({"a": {"b": 1}, "b": {"a": 1}, "c": {"a": 1, "b": 1}}, None, ["errors['a']", "answer 'c'"]),
        ({1: {"2": 1}, "1": {"2": 1}}, None, ["1 and '1' clash"]),
        ({1: {2: 1, "2": 1}, 2: {1: 1}}, None, ["errors[1]", "answer 2 twice"]),
        ({None: {"a": 1}}, None, ["None", "not a class label"]),
        ({NAN: {"a": 1}}, None, ["nan", "not a class label"]),
        ({"": {"a": 1}}, None, ["''", "not a class label"]),
        ([[0, 1], [1, 0]], None, ["needs classes=", "2 columns"]),
        ([[0, 1], [1, 0]], ["a"], ["2 columns", "1 names", "'a'"]),
        ([[0, 1], [1, 0]], "ab", ["2 columns", "1 names"]),
        ([[0, 1], [1, 0]], ["a", "a"], ["'a' appears twice"]),
        ([[0, 1], [1]], ["a", "b"], ["same length"]),
        ([[0], [1]], ["a", "b"], ["column for every class"]),
        ([], ["a", "b"], ["one row per class"]),
        ([1, 2], ["a", "b"], ["one row per class"]),
        ([[[1], [2, 3]], [1, 2]], ["a", "b"], ["errors['a']['a']", "number"]),
        (np.array(3.0), ["a"], ["one row per class"]),
        (np.zeros((2, 2, 2)), ["a", "b"], ["errors['a']['a']", "number"]),
        ([[0, INF], [1, 0]], ["a", "b"], ["errors['a']['b']", "finite"]),
        (frame([[0, 1], [1, 0]], ["a", "a"], ["a", "b"]), None, ["'a' appears twice"]),
        (frame([[0, 1], [1, 0]], ["a", "b"], ["a", "a"]), None, ["errors['a']", "'a' twice"]),
        (frame([[0, NAN], [1, 0]], ["a", "b"], ["a", "b"]), None, ["errors['a']['b']", "finite"]),
        (frame([[1], [2]], ["a", "b"], ["?"]), None, ["errors['a']", "answer 'b'"]),
    ],
)
def test_mistakes_in_errors_are_named(errors: object, classes: object, words: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        Costs(errors=errors, classes=classes)
    assert all(word in str(caught.value) for word in words), caught.value


def test_missing_values() -> None:
    assert all(map(is_missing, (None, np.nan, float("nan"), np.float32("nan"), pd.NA, pd.NaT)))
    assert not any(map(is_missing, ("", "nan", 0, False, "NA", np.inf)))


def test_suggestions_ignore_case_and_list_what_is_valid() -> None:
    assert suggest("CHOLL", ["chol", "fbs"]) == "did you mean 'chol'?"
    assert suggest("weight", ["chol", "fbs"]) == "valid: 'chol', 'fbs'"
    assert suggest("weight", []) == "there are none"


def test_errors_keep_their_entry_when_pickled() -> None:
    assert pickle.loads(pickle.dumps(CostsError("m", ("test", "a")))).entry == ("test", "a")


def test_many_classes_are_refused_before_anything_is_allocated():
    classes = [f"c{i}" for i in range(100_000)]
    message = r"there are 100,000 classes \('c0', 'c1', 'c2' and 99997 more\), but at most 4,096 are supported"
    for errors in (1.0, {"c0": {"c1": 2}, "c1": {"c0": 1}}):
        with pytest.raises(ValueError, match=message):
            Costs(errors=errors).error_matrix(classes)
    assert Costs().error_matrix(classes[:300])[1].sum() == 300 * 299


def test_a_uniform_cost_takes_memory_in_proportion_to_the_number_of_classes():
    classes = [f"c{i}" for i in range(100_000)]
    costs = Costs(tests={"t": 1.0}, errors=5.0)
    tracemalloc.start()
    try:
        costs.check_classes(classes)
        assert costs.standard_cost([*classes, "c0"]) == pytest.approx(1 + 5 * (1 - 2 / 100_001))
        assert tracemalloc.get_traced_memory()[1] < 100e6  # the matrix would take 80 GB
    finally:
        tracemalloc.stop()
    with pytest.raises(ValueError, match="contains a class twice"):
        costs.check_classes([*classes, "c0"])


@pytest.mark.parametrize("amount", [1e-100, 1e100])
def test_extreme_costs_are_saved_and_loaded(amount, tmp_path):
    X, y = [[0, 1], [1, 1], [0, 2], [1, 2], [0, 3], [1, 3]] * 5, [0, 1, 1, 0, 0, 1] * 5
    for prices in (1e-100, 1e100):
        costs = Costs(tests={"x0": prices, "x1": prices}, errors=amount)
        for learner in (ww.EG2Classifier(costs=costs), ww.BudgetForestClassifier(costs=costs, max_trees=3)):
            weights = np.full(30, 1e150 / 31)
            learner.fit(X, y, sample_weight=weights).save(tmp_path / "model.json")
            assert ww.load(tmp_path / "model.json").predict(X).tolist() == learner.predict(X).tolist()

"""Error costs by case: reading them, and their means by class."""

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.tree.case_errors import checked_case_errors, mean_errors, with_mean_errors


def test_a_class_that_counts_nothing_keeps_its_costs():
    errors, classes = np.array([[0.0, 4.0], [0.0, 8.0], [3.0, 0.0]]), np.array([0, 0, 1])
    listed = np.array([[0.0, 1.0], [7.0, 0.0]])
    assert mean_errors(errors, classes, listed, np.array([1.0, 3.0, 0.0])).tolist() == [[0.0, 7.0], [7.0, 0.0]]


def test_equal_costs_have_no_rounded_mean():
    errors = np.full((7, 2), 0.1)
    assert mean_errors(errors, np.zeros(7, dtype=int), np.zeros((1, 2)), np.full(7, 0.3))[0].tolist() == [0.1, 0.1]


def test_other_classes_of_a_price_list_keep_their_costs():
    costs = ww.Costs(errors=[[0, 1, 2], [3, 0, 4], [5, 6, 0]], classes=["a", "b", "c"])
    other = with_mean_errors(costs, ["a", "b"], ["a", "b", "c"], np.array([[0.0, 9.0, 8.0], [7.0, 0.0, 1e-200]]))
    assert other.errors == {
        "c": {"a": 5.0, "b": 6.0, "c": 0.0},
        "a": {"a": 0.0, "b": 9.0, "c": 8.0},
        "b": {"a": 7.0, "b": 0.0, "c": 0.0},
    }


def test_arrow_tables_are_read_by_name():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"2": [5.0, 6.0], "1": [0.0, 1.0]})
    assert checked_case_errors(table, [1, 2], 2).tolist() == [[0.0, 5.0], [1.0, 6.0]]
    with pytest.raises(ValueError, match="case_errors has two columns for the same answer"):
        checked_case_errors(
            pa.table([[0.0], [1.0], [2.0]], names=["1", "2", "1.0"]).rename_columns(["1", "2", "2"]), [1, 2], 1
        )

"""How the problems of Turney (1995) are prepared: complete cases, and missing values filled from the nearest case."""

from __future__ import annotations

import math

import numpy as np
import pytest

from worthwhile.datasets.loading import BUNDLED
from worthwhile.datasets.preparation import TURNEY, complete_rows, fill_from_nearest, unchanged


def test_cases_with_a_missing_value_are_left_out() -> None:
    columns = {"a": np.array([1.0, math.nan, 3.0, 4.0]), "b": ["x", "y", None, "x"]}
    kept, y = complete_rows(columns, np.array(["p", "q", "r", "s"]))
    assert (kept["a"].tolist(), kept["b"], y.tolist()) == ([1.0, 4.0], ["x", "x"], ["p", "s"])
    assert np.array_equal(columns["a"], [1.0, math.nan, 3.0, 4.0], equal_nan=True)
    assert columns["b"] == ["x", "y", None, "x"]


def test_missing_values_are_filled_from_the_nearest_case() -> None:
    """Worked by hand. `a` ranges from 10 to 30, so that 10 is 0, 14 is 0.2, 20 is 0.5 and 30 is 1.

    Distances of case 0 (0, x, missing): to case 1: 0.2 + 1 + 1, case 2: 1 + 0 + 1, case 3: 0.5 + 0 + 1 (c is missing in
    it), case 4: 1 (a is missing) + 0 + 1. The nearest is 3, but it lacks c; 2 and 4 tie, and 2 comes first.
    Case 3 (0.5, x, missing): to 0: 0.5 + 0 + 1 (lacks c), to 1: 0.3 + 1 + 1, to 2: 0.5 + 0 + 1: the nearest that has c.
    Case 4 (missing, x, 7, scaled 0.5): to 0: 1 + 0 + 1, to 1: 1 + 1 + 0.5, to 2: 1 + 0 + 0.5, to 3: 1 + 0 + 1: case 2.
    """
    columns = {
        "a": np.array([10.0, 14.0, 30.0, 20.0, math.nan]),
        "b": ["x", "y", "x", "x", "x"],
        "c": np.array([math.nan, 8.0, 6.0, math.nan, 7.0]),
    }
    before = {name: np.array(column) for name, column in columns.items()}
    filled, y = fill_from_nearest(columns, np.array(list("ppqqq")))
    assert filled["a"].tolist() == [10, 14, 30, 20, 30]
    assert filled["b"] == ["x", "y", "x", "x", "x"]
    assert filled["c"].tolist() == [6, 8, 6, 6, 7]
    assert y.tolist() == list("ppqqq")
    for name, column in columns.items():  # the input is unchanged
        assert np.array_equal(np.array(column), before[name], equal_nan=name != "b")


def test_nominal_values_and_constant_columns_are_filled() -> None:
    columns = {"a": np.array([1.0, 9.0, 2.0]), "b": ["x", "y", None], "c": np.array([5.0, 5.0, math.nan])}
    filled, _ = fill_from_nearest(columns, np.array(["p"] * 3))
    assert filled["b"] == ["x", "y", "x"]
    assert filled["c"].tolist() == [5, 5, 5]
    with pytest.raises(ValueError, match="column 'b' has no values"):
        fill_from_nearest({"a": np.array([1.0, 2.0]), "b": [None, None]}, np.array(["p"] * 2))


def test_every_problem_has_a_source_and_a_note() -> None:
    assert [name.removeprefix("turney-") for name in TURNEY] == ["bupa", "heart", "hepatitis", "pima", "thyroid"]
    columns, y = {"a": np.array([1.0, math.nan])}, np.array(["p", "q"])
    for name, problem in TURNEY.items():
        assert problem.note.startswith("Prepared as in Turney (1995), Appendix A")
        if problem.source in BUNDLED:
            assert problem.step is unchanged
            assert problem.source == name.removeprefix("turney-")
    assert unchanged(columns, y) == (columns, y)

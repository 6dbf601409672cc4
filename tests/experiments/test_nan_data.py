"""The data sets of Nan, Wang & Saligrama (2015), how they are split, and their prices."""

import os
from collections import Counter

import numpy as np
import pytest

from nan_cases import some_cases
from worthwhile import Costs, datasets
from worthwhile.experiments import nan, nan_data
from worthwhile.experiments.nan_data import NINTH, SMALL, cases_of, costs_of, parts
from worthwhile.experiments.problems import CaseSet

FOLDER = os.environ.get(datasets.FOLDER_VARIABLE)


needs_folder = pytest.mark.skipif(not FOLDER, reason="WORTHWHILE_DATA does not name a folder of data sets")


def test_cases_are_divided_in_three(monkeypatch):
    monkeypatch.setattr(nan_data, "cases_of", lambda name, folder: some_cases())
    train, validation, test = parts("letter", 0, None)
    n = len(some_cases().y)
    total = sum(nan_data.SIZES)
    for part, size in zip((train, validation, test), nan_data.SIZES, strict=True):
        assert len(part.y) == len(part.X) == int(n * size / total)
    rows = Counter(tuple(row) for part in (train, validation, test) for row in part.X.tolist())
    assert max(rows.values()) == 1
    again, other = parts("letter", 0, None)[0], parts("letter", 1, None)[0]
    assert (again.X == train.X).all()
    assert (other.X != train.X).any()


def test_large_sets_have_the_sizes_of_the_paper(monkeypatch):
    n = 581_012
    large = CaseSet(np.arange(n, dtype=float)[:, None], np.zeros(n, dtype="<U1"), [], ["a"])
    monkeypatch.setattr(nan_data, "cases_of", lambda name, folder: large)
    assert [len(part.y) for part in parts("covtype", 3, None)] == [36_603, 15_688, 58_101]


def test_prices_are_drawn_for_each_split():
    cases = some_cases()
    assert costs_of("letter", "unit", 0, cases) == Costs(tests=dict.fromkeys("abcd", 1.0))
    lists = [costs_of("letter", "drawn", split, cases) for split in (0, 0, 1)]
    assert lists[0] == lists[1] != lists[2]
    prices = [lists[0].price(name) for name in "abcd"]
    assert all(1 <= price <= 100 for price in prices)
    assert lists[0].total_price() == pytest.approx(sum(prices))  # no groups


def test_levels_by_hand():
    cases = CaseSet(
        np.array([[0.0, 1], [0.9, 1], [9.0, 0], [4.4, np.nan], [4.6, np.nan], [4.0, np.nan]]),
        np.array(list("aabbaa")),
        ["v"],
        ["u", "v"],
    )
    found = nan_data._discrete(cases)
    # 4.4 and 4.0 are of the same level, with one class each: the first one wins.
    assert found.X.tolist() == [[0, 1], [1, 1], [4, 2], [5, 2], [9, 0]]
    assert found.y.tolist() == ["a", "a", "a", "a", "b"]
    assert list(found.nominal) == ["u", "v"]


def test_quarters():
    y = np.array([str(value) for value in (5, 1, 2, 3, 4, 6, 7, 8)])
    cases = CaseSet(np.arange(8.0)[:, None], y, [], ["a"])
    assert sorted(nan_data._quarters(cases).y.tolist()) == ["1", "1", "2", "2", "3", "3", "4", "4"]


@needs_folder
@pytest.mark.parametrize("name", [name for name in SMALL if name != NINTH])
def test_there_are_as_many_different_cases_as_the_paper_says(name):
    cases = cases_of(name, FOLDER)
    assert len(cases.y) == nan.published()["figure5", SMALL[name].title, "different cases"]
    assert len(np.unique(cases.X, axis=0)) == len(cases.y)
    classes = {"dna": 3, "boston": 4, "soybean": 19}.get(name, 2)
    assert len(set(cases.y)) == classes
    assert not np.isnan(cases.X).any()


@needs_folder
@pytest.mark.parametrize(("name", "columns", "nominal"), [("adult", 14, 7), ("credit", 23, 2), ("letter", 16, 0)])
def test_large_sets_as_numbers(name, columns, nominal):
    cases = cases_of(name, FOLDER)
    assert cases.X.shape == (len(cases.y), columns)
    assert len(cases.nominal) == nominal  # sex has two values, so it counts as numeric
    assert np.isnan(cases.X).sum() == (6465 if name == "adult" else 0)
    for column in cases.nominal:
        values = cases.X[:, cases.columns.index(column)]
        known = np.unique(values[~np.isnan(values)])
        assert known.tolist() == list(range(len(known)))

"""The numbers behind the tables of Nan, Wang & Saligrama (2015)."""

import pytest

from worthwhile.experiments.nan_cells import POINTS
from worthwhile.experiments.nan_results import NanGrid, NanResults, Points, cell_of, published


def test_published_numbers():
    there = published()
    assert there["table1", "Forest: BudgetRF", "5"] == 20.47
    assert there["table1", "CIFAR-10: random forest", "error"] == 35.94
    assert len([key for key in there if key[0] == "table1"]) == 3 * 2 * 11


def numbers(price):
    return {f"{what}_{i}": price * i for what in ("valid_error", "price", "error") for i in range(1, POINTS + 1)}


def test_only_finished_splits_count():
    cells = [cell_of("letter", "unit", learner, {"alpha": 0}, split) for learner in ("a", "b") for split in (0, 1)]
    grid = NanGrid("x", "A table", lambda quick, seed: cells, lambda results: None)
    known = {cell: numbers(0.1) for cell in cells if (cell.learner, cell.split) != ("b", 1)}
    results = NanResults(grid, known, False, 0)
    assert not results.finished
    assert results.done("letter", "unit", {"a": [{"alpha": 0}], "b": [{"alpha": 0}]}) == [0]
    assert results.done("letter", "unit", {"a": [{"alpha": 0}]}) == [0, 1]
    assert results.page([], rows=[], columns=[], entries={}).notes[0].startswith("Some cells are not finished")
    assert NanResults(grid, known | {cells[-1]: numbers(0.1)}, False, 0).finished


def test_the_ten_points_of_a_cell():
    points = Points(numbers(0.1))
    assert points.price == pytest.approx([0.1 * i for i in range(1, 11)])

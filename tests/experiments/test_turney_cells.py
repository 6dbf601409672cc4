"""The cells of Turney (1995): splits, costs and what is measured."""

import os

import numpy as np
import pytest

from worthwhile import Costs, Test, datasets
from worthwhile.experiments import Cell, turney, turney_cells
from worthwhile.experiments.engine import seed_of
from worthwhile.experiments.turney_cells import PROBLEMS, costs_of, measure, parts, retested


def test_splits_are_those_of_the_paper():
    assert [len(part) for part in parts(296, 3)] == [197, 99]  # Appendix A.2
    assert [len(part) for part in parts(155, 3)] == [103, 52]  # A.3
    train, test = parts(345, 0)
    assert sorted([*train, *test]) == list(range(345))
    assert set(train) != set(parts(345, 1)[0])


def test_seeds_depend_on_data_and_split_only():
    one = Cell("bupa", "published", "10", "icet", 'variant="paper"', 1)
    assert seed_of(one) == seed_of(Cell("bupa", "no-delay", "50", "eg2", "", 1))
    assert len({seed_of(Cell(d, "", "", "", "", s)) for d in PROBLEMS for s in range(20)}) == 100


def test_costs_of_a_cell():
    costs = Costs(tests={"a": Test(2.0, group="g", delayed=True), "b": Test(3.0, group="g")}, groups={"g": 1.0})
    classes = ["1", "2", "3"]
    table = costs_of(costs, "published", "50:400", classes, "3").errors
    assert table == {
        "1": {"1": 0, "2": 50, "3": 50},
        "2": {"1": 50, "2": 0, "3": 50},
        "3": {"1": 400, "2": 400, "3": 0},
    }
    assert costs_of(costs, "published", "400:50", classes, "3").errors["1"] == {"1": 0, "2": 50, "3": 400}
    plain = costs_of(costs, "published", "500", classes, "3")
    assert (plain.errors, plain.tests, plain.groups) == (500.0, costs.tests, costs.groups)
    assert not costs_of(costs, "no-delay", "10", classes, "3").tests["a"].delayed
    assert costs_of(costs, "no-discount", "10", classes, "3").total_price() == 7.0
    with pytest.raises(KeyError):
        costs_of(costs, "half", "10", classes, "3")


class Tiny:
    """Six cases, one test for 4: five follow it, one does not. The majority has four of six."""

    X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [1.0]])
    y = np.array(["lt3", "lt3", "ge3", "ge3", "ge3", "ge3"])
    costs = Costs(tests={"t": 4.0})
    nominal = ()
    feature_names = ("t",)


def test_a_cell_by_hand(monkeypatch):
    monkeypatch.setattr(turney_cells, "load", lambda name, folder: {"turney-bupa": Tiny}[name])
    monkeypatch.setattr(turney_cells, "parts", lambda n, split: (np.arange(6), np.array([0, 2])))
    numbers = measure(Cell("bupa", "published", "30", "eg2", 'prune="none"', 0), None)
    seconds = numbers.pop("seconds")
    assert seconds > 0
    assert (*numbers, "seconds") == turney_cells.FAMILY.numbers
    assert numbers == pytest.approx(
        {
            "test_cost": 4.0,
            "error_cost": 0.0,
            "total_cost": 4.0,
            "error_rate": 0.0,
            "all_tests": 4.0,
            "standard_cost": 14.0,  # 4 + 30 / 3
            "normalized": 100 * 4 / 14,
            "nodes": 3,
        }
    )
    monkeypatch.setattr(Tiny, "y", np.array(["ge3", "lt3", "ge3", "ge3", "ge3", "ge3"]))
    none = measure(Cell("bupa", "published", "30:90", "no-test", "", 0), None)
    assert none["test_cost"] == 0
    assert none["standard_cost"] == pytest.approx(4 + 90 / 6)


def test_misestimated_error_costs_by_hand(monkeypatch):
    # The third case has the test value of the other class: the tree is wrong about one of the four test cases.
    monkeypatch.setattr(turney_cells, "load", lambda name, folder: Tiny)
    monkeypatch.setattr(turney_cells, "parts", lambda n, split: (np.arange(6), np.array([0, 2, 3, 4])))
    monkeypatch.setattr(Tiny, "X", np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]]))
    numbers = measure(Cell("bupa", "published", "100", "eg2", 'prune="none"', 0), None)
    assert (numbers["test_cost"], numbers["error_rate"]) == (4.0, 0.25)
    for tested in (50, 100, 500):  # the price of all tests is 4, the majority is wrong in a third of the cases
        assert retested(numbers, 100, tested) == pytest.approx(100 * (4 + tested / 4) / (4 + tested / 3))


def test_trees_that_ignore_error_costs_are_retested_exactly():
    cells = {k: measure(Cell("bupa", "published", str(k), "c45", "", 1), None) for k in (50, 100)}
    assert retested(cells[100], 100, 50) == pytest.approx(cells[50]["normalized"])
    assert retested(cells[100], 100, 100) == pytest.approx(cells[100]["normalized"])


@pytest.mark.skipif(
    not os.environ.get(datasets.FOLDER_VARIABLE), reason="WORTHWHILE_DATA does not name a folder of data sets"
)
def test_the_greedy_learners_cost_about_what_is_published():
    folder = os.environ[datasets.FOLDER_VARIABLE]
    rows = {"c45": 77, "eg2": 58, "csid3": 61, "idx": 58}
    for learner, published in rows.items():
        costs = [
            measure(Cell(data, "published", errors, learner, "", split), folder)["normalized"]
            for data in PROBLEMS
            for errors in turney.ERRORS
            for split in range(3)
        ]
        assert abs(np.mean(costs) - published) < 10

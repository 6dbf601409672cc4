"""The experiments: resuming, sharing, the same numbers however they are run, and what the pages say."""

import csv
import doctest
import importlib
import io
import math
import os
import pkgutil

import joblib
import numpy as np
import pytest

import worthwhile
from small_experiments import FAMILY, RAN, experiment
from worthwhile import Costs, Test, datasets, experiments
from worthwhile.experiments import Cell, peers, turney, turney_cells
from worthwhile.experiments.engine import Store, parameters_of, run, seed_of
from worthwhile.experiments.page import About, Breakdown, Entry, Estimate, Table, estimate, layout, write_pages
from worthwhile.experiments.turney_cells import PROBLEMS, costs_of, measure, parts, retested

FULL = About("worthwhile reproduce x", quick=False, cells=3, seconds=90)


@pytest.fixture(autouse=True)
def nothing_ran():
    RAN.clear()


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cells.csv", FAMILY)


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(experiments.__path__)])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"worthwhile.experiments.{name}")).failed == 0


# Running, keeping, resuming


def test_finished_cells_are_not_run_again(tmp_path, store):
    first, both = experiment("a", "x"), experiment("b", "x", "y")
    results = run([first], store)
    assert len(results) == len(RAN) == 4
    again = run([first, both], Store(store.path, FAMILY))
    assert [cell.learner for cell in RAN] == ["x"] * 4 + ["y"] * 4
    assert {cell: again[cell] for cell in results} == results  # to the last digit
    assert len(run([both], Store(store.path, FAMILY))) == 8
    assert len(RAN) == 8


def test_what_is_finished_when_it_stops_is_kept(store):
    told = []
    with pytest.raises(KeyboardInterrupt):
        run([experiment("a", "stopped")], store, tell=told.append)
    assert [cell.split for cell in RAN] == [3, 2]  # the heavier first
    assert (told[-1].done, told[-1].cells) == (1, 4)
    kept = Store(store.path, FAMILY).results
    assert [cell.split for cell in kept] == [3]


@pytest.mark.parametrize("lost", [1, 5, 30])
def test_half_a_line_is_dropped(store, lost):
    grid = experiment("a", "x")
    whole = run([grid], store)
    content = store.path.read_bytes()
    store.path.write_bytes(content[:-lost])
    RAN.clear()
    assert run([grid], Store(store.path, FAMILY)) == whole
    assert [cell.split for cell in RAN] == [0]  # the lightest, which came last
    assert store.path.read_bytes() == content
    store.path.write_bytes(content[:7])  # not even the header is whole
    assert Store(store.path, FAMILY).results == {}
    assert run([grid], Store(store.path, FAMILY)) == whole
    assert store.path.read_bytes() == content


def test_cells_of_other_versions_are_left_alone(store, monkeypatch):
    grid = experiment("a", "x")
    run([grid], store)
    monkeypatch.setattr("worthwhile.experiments.engine.__version__", "999")
    RAN.clear()
    run([grid], Store(store.path, FAMILY))
    assert len(RAN) == 4
    versions = [line.split(",")[0] for line in store.path.read_text().splitlines()]
    assert versions == ["version", *[worthwhile.__version__] * 4, *["999"] * 4]


def test_other_files_are_not_touched(store):
    store.path.write_text("name,price\nage,1\n")
    with pytest.raises(ValueError, match=r"cells\.csv: is no file of finished cells"):
        Store(store.path, FAMILY)
    assert store.path.read_text() == "name,price\nage,1\n"


def test_a_line_that_is_no_cell_is_named(store):
    run([experiment("a", "x")], store)
    lines = store.path.read_text().splitlines()
    store.path.write_text("\n".join([*lines[:2], lines[2].replace(",0.5", ",half"), *lines[3:], ""]))
    with pytest.raises(ValueError, match=r"cells\.csv, line 3: is no finished cell"):
        Store(store.path, FAMILY)


def test_the_numbers_do_not_depend_on_how_it_is_run(tmp_path):
    grid = [experiment("a", "x", "slow")]
    alone = run(grid, Store(tmp_path / "1.csv", FAMILY), jobs=1)
    assert run(grid, Store(tmp_path / "2.csv", FAMILY), jobs=2) == alone
    with joblib.parallel_config("threading", n_jobs=3):
        assert run(grid, Store(tmp_path / "3.csv", FAMILY)) == alone
    lines = [set((tmp_path / f"{n}.csv").read_text().splitlines()) for n in (1, 2, 3)]
    assert lines[0] == lines[1] == lines[2]


def test_progress_is_told_by_weight_and_by_experiment(store):
    told = []
    run([experiment("a", "x"), experiment("b", "x", "slow")], store, tell=told.append)
    assert [(p.experiment, p.done) for p in told] == [("a", n) for n in range(5)] + [("b", n) for n in range(5, 9)]
    assert {(p.cells, p.weight) for p in told} == {(8, 52.0)}
    assert [p.done_weight for p in told] == [0, 3, 5, 6, 6, 19, 31, 42, 52]
    told.clear()
    run([experiment("b", "slow")], store, tell=told.append)
    assert [(p.experiment, p.done, p.cells) for p in told] == [("b", 0, 0)]


def test_an_error_names_its_cell(store):
    with pytest.raises(ZeroDivisionError) as caught:
        run([experiment("a", "broken")], store)
    assert "learner='broken'" in caught.value.__notes__[0]


def test_missing_data_are_told_before_anything_runs(store):
    with pytest.raises(ValueError, match="there is no lost in /data"):
        run([experiment("a", "x"), experiment("b", "x", data="lost")], store, folder="/data")
    assert not RAN
    assert not store.path.exists()


def test_reproduce_writes_everything_and_goes_on(tmp_path, monkeypatch):
    tables = {"a": experiment("a", "x"), "b": experiment("b", "x", "y")}
    monkeypatch.setattr(experiments, "EXPERIMENTS", tables)
    monkeypatch.setattr(experiments, "PAPERS", {"both": ["a", "b"]})
    out = tmp_path / "deep" / "out"
    made, files = experiments.reproduce("a", out, quick=True)
    assert sorted(p.name for p in out.iterdir()) == ["a-lines.png", "a.csv", "a.md", "cells-small.csv"]
    assert [t.name for t in made] == ["a"]
    assert all(p.exists() for p in files)
    assert "quick version" in (out / "a.md").read_text()
    experiments.reproduce("both", out)
    assert len(RAN) == 8  # two of the quick ones are among them
    page = (out / "both.md").read_text()
    assert "About a" in page
    assert "About b" in page
    assert "8 cells" in page
    assert page.count("As usual.") == 1
    assert "quick version" not in page
    with pytest.raises(ValueError, match="there is no experiment 'c'; there are both, a, b"):
        experiments.reproduce("c", out)


# The grids of Turney


def grid(number):
    return experiments.EXPERIMENTS[f"turney-table{number}"]


def icet_cells(number, quick=False):
    return {cell for cell in grid(number).cells(quick, 0) if cell.learner == "icet"}


@pytest.fixture
def with_peers(monkeypatch):
    monkeypatch.setattr(peers, "pystreed_available", lambda: True)


@pytest.mark.usefixtures("with_peers")
def test_tables_share_cells():
    baseline = set(grid(5).cells(False, 0))
    assert len(baseline) == 9 * 5 * 7 * 10
    assert set(grid(11).cells(False, 0)) <= baseline
    assert len(icet_cells(12) & baseline) == 350
    assert len(icet_cells(12)) == 4 * 350
    assert len(icet_cells(13) - baseline) == len(icet_cells(14) - icet_cells(13) - baseline) == 350
    assert not set(grid(7).cells(False, 0)) & baseline
    even = {cell for cell in grid(10).cells(False, 0) if ":" not in cell.errors}
    assert even <= baseline
    assert {cell.errors for cell in even} == {"50"}
    everything = {
        cell for name in experiments.PAPERS["turney"] for cell in experiments.EXPERIMENTS[name].cells(False, 0)
    }
    assert len({cell for cell in everything if cell.learner == "icet"}) == 350 * (2 + 1 + 1 + 3 + 1 + 1) + 300


def test_quick_searches_are_not_taken_for_full_ones():
    for name in experiments.PAPERS["turney"]:
        table = experiments.EXPERIMENTS[name]
        quick, full = set(table.cells(True, 0)), set(table.cells(False, 0))
        assert len(quick) <= len(full) / 5
        assert all(parameters_of(cell.parameters)["trials"] == 200 for cell in quick if cell.learner == "icet")
        assert all(cell.learner != "icet" for cell in quick & full)


def test_seeds_have_splits_of_their_own():
    splits = [{cell.split for cell in grid(12).cells(False, seed)} for seed in (0, 1)]
    assert splits == [set(range(10)), set(range(10, 20))]
    assert {cell.split for cell in grid(12).cells(True, 1)} == {10, 11}


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
    # Learned from all six cases, the tree errs on one of the four that are tested once its class is turned round.
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


def made_up(number, quick=False):
    """Numbers for a table: the normalized cost is the error cost's first digit, plus the split."""
    return {
        cell: {
            "test_cost": 3.0,
            "error_cost": 1.0,
            "total_cost": 4.0,
            "error_rate": 0.1,
            "all_tests": 12.0,
            "standard_cost": 12.0 + 0.4 * float(cell.errors.split(":")[0]),
            "normalized": float(cell.errors[0]) + cell.split % 10,
            "nodes": 3.0,
            "seconds": 1.0,
        }
        for cell in grid(number).cells(quick, 0)
    }


@pytest.mark.usefixtures("with_peers")
def test_a_table_averages_over_data_sets_and_error_costs():
    table = grid(5).table(made_up(5), False, 0)
    # First digits 1, 5, 1, 5, 1, 5, 1 and 1, 5, 1; the splits add 0 to 9.
    whole, low = (table.entries["EG2", column] for column in table.columns)
    assert whole.ours.mean == pytest.approx(19 / 7 + 4.5)
    assert low.ours.mean == pytest.approx(7 / 3 + 4.5)
    assert whole.ours.interval == pytest.approx(2.262157 * np.std(range(10), ddof=1) / math.sqrt(10))
    assert (whole.published, low.published) == ((58, 5), (43, 3))
    ours = ["ICET, refined", "ACT, refined", "no test", "pick among peers"]
    assert table.rows == ["ICET", "EG2", "CS-ID3", "IDX", "C4.5", *ours]
    assert [p.name for p in table.pictures] == ["turney-figure3", "turney-figure4"]
    assert [len(p.panels) for p in table.pictures] == [6, 6]
    spent = table.pictures[1].panels[5]
    assert next(iter(spent.lines.values())) == pytest.approx([25.0] * 7)
    assert next(iter(spent.right.values())) == pytest.approx([10.0] * 7)
    by_error = table.breakdowns[-1]
    assert by_error.columns == list(turney.ERRORS)
    assert by_error.rows["IDX"] == pytest.approx([d + 4.5 for d in (1, 5, 1, 5, 1, 5, 1)])


def test_table_11_by_hand():
    table = grid(11).table(made_up(11), False, 0)
    for trained, tested in ((100, 50), (1000, 5000)):
        ours = table.entries["ICET", f"trained {trained}, tested {tested}"].ours
        assert ours.mean == pytest.approx(100 * (3 + 0.1 * tested) / (12 + 0.4 * tested))
        assert ours.interval == pytest.approx(0, abs=1e-9)


def test_the_row_of_the_peers_needs_pystreed(monkeypatch):
    monkeypatch.setattr(peers, "pystreed_available", lambda: False)
    table = grid(5).table(made_up(5), False, 0)
    assert "pick among peers" not in table.rows
    assert any("pystreed is not installed" in note for note in table.notes)


def test_every_published_number_has_its_place():
    found = set()
    for name in experiments.PAPERS["turney"]:
        number = int(name.removeprefix("turney-table"))
        table = experiments.EXPERIMENTS[name].table(made_up(number), False, 0)
        assert table.title == experiments.EXPERIMENTS[name].title
        found |= {(number, *place) for place, entry in table.entries.items() if entry.published}
    assert found == set(turney.published())
    assert len(found) == 93


@pytest.mark.parametrize("name", experiments.PAPERS["turney"])
def test_pages_of_all_tables_quick(name, tmp_path):
    number = int(name.removeprefix("turney-table"))
    table = grid(number).table(made_up(number, quick=True), True, 0)
    about = About("worthwhile reproduce", quick=True, cells=1, seconds=1)
    files = write_pages(name, [table], tmp_path, about)
    page = (tmp_path / f"{name}.md").read_text()
    assert "**This is the quick version**" in page
    assert "200 trials" in page
    assert all(entry.inside is None for entry in table.entries.values())  # rough numbers are not judged
    assert [p.suffix for p in files] == [".csv", ".md", *[".png"] * len(table.pictures)]
    for picture in table.pictures:
        assert f"]({picture.name}.png)" in page


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


# Pages


def test_the_interval_by_hand():
    # sd = sqrt(5/3), t(3) = 3.18245
    assert estimate([1.0, 2.0, 3.0, 4.0]) == Estimate(2.5, pytest.approx(3.18245 * math.sqrt(5 / 3) / 2, rel=1e-5))
    alone = estimate([3.0])
    assert alone.mean == 3
    assert math.isnan(alone.interval)
    assert str(alone) == "3.0"


def test_inside_is_judged_as_rounded():
    def inside(ours, **rest):
        return Entry(Estimate(ours, 1.0), (58, 5), **rest).inside

    assert [inside(x) for x in (52.4, 52.6, 58.0, 63.4, 63.6)] == [False, True, True, True, False]
    assert inside(58.0, rough=True) is None
    assert Entry(Estimate(58.0, 1.0)).inside is None


def small_table(columns, block=4):
    entries = {
        (row, column): Entry(Estimate(50.0 + i, 2.0), (49 + j, 1.5) if row == "A" else None)
        for i, row in enumerate("AB")
        for j, column in enumerate(columns)
    }
    parts = [Breakdown("By half", ["left"], {"A": [1.25]})]
    return Table("t", "T", ["A", "B"], columns, entries, breakdowns=parts, block=block)


def test_a_narrow_table_has_the_published_beside_ours(tmp_path):
    table = small_table(["low", "high"])
    table.entries["A", "high"] = Entry(Estimate(60.0, 2.0), (50, 1.5))
    [(headings, lines)] = layout(table)
    assert headings == ["", "low: ours", "published", "high: ours", "published"]
    assert lines == [
        ["A", "50.0 ± 2.0", "49 ± 1.5", "60.0 ± 2.0 †", "50 ± 1.5"],
        ["B", "51.0 ± 2.0", "", "51.0 ± 2.0", ""],
    ]
    write_pages("t", [table], tmp_path, FULL)
    page = (tmp_path / "t.md").read_text()
    assert "1 of 2 of our means lie in the published interval" in page
    assert "`worthwhile reproduce x`" in page
    assert f"worthwhile {worthwhile.__version__}" in page
    assert "3 cells, 1.5 minutes" in page
    # The published numbers of the page are those of the CSV file.
    shown = [line.split(" | ") for line in page.splitlines() if line.startswith("| A | 5")]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    kept = [f"{row['published']} ± {row['published_interval']}" for row in rows if row["row"] == "A"]
    assert [shown[0][2], shown[0][4].removesuffix(" |")] == kept
    assert [row["inside"] for row in rows] == ["yes", "no", "", ""]
    assert rows[1]["mean"] == "60.000"


def test_a_wide_table_comes_in_blocks(tmp_path):
    table = small_table([f"c{n}" for n in range(7)], block=3)
    blocks = layout(table)
    assert [headings for headings, _ in blocks] == [["", "c0", "c1", "c2"], ["", "c3", "c4", "c5"], ["", "c6"]]
    assert blocks[0][1][0] == ["A", "50.0 ± 2.0\n(49 ± 1.5)", "50.0 ± 2.0\n(50 ± 1.5)", "50.0 ± 2.0\n(51 ± 1.5)"]
    write_pages("t", [table], tmp_path, FULL)
    assert "| A | 50.0 ± 2.0<br>(49 ± 1.5) |" in (tmp_path / "t.md").read_text()

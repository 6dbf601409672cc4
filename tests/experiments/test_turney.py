"""The tables of Turney (1995)."""

import math

import numpy as np
import pytest

from worthwhile import experiments
from worthwhile.experiments import peers, turney
from worthwhile.experiments.engine import parameters_of
from worthwhile.experiments.page import RunInfo, counted_once, write_pages


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
    assert len(baseline) == 11 * 5 * 7 * 10 + 5 * 7 * 2  # AutoClassifier has two splits
    assert set(grid(6).cells(False, 0)) <= baseline
    assert set(grid(11).cells(False, 0)) <= baseline
    assert len(icet_cells(12) & baseline) == 350
    assert len(icet_cells(12)) == 4 * 350
    assert len(icet_cells(13) - baseline) == len(icet_cells(14) - icet_cells(13) - baseline) == 350
    assert not set(grid(7).cells(False, 0)) & baseline
    even = {cell for cell in grid(10).cells(False, 0) if ":" not in cell.errors}
    assert {cell for cell in even if cell.learner != "c45cs"} <= baseline
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
    ours = ["ICET, refined", "ACT, refined", "OptimalClassifier", "AutoClassifier"]
    peers_rows = ["no test", "pick among peers", "pick among peers, without prices"]
    assert table.rows == ["ICET", "EG2", "CS-ID3", "IDX", "C4.5", *ours, *peers_rows]
    assert list(table.tuned) == ours
    assert table.reported.startswith("splits 0 to 9 of the same five data sets")
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


@pytest.mark.usefixtures("with_peers")
def test_slow_rows_have_fewer_splits_and_say_so():
    table = grid(5).table(made_up(5), False, 0)
    slow = table.entries["AutoClassifier", "10 to 100"]
    assert slow.ours.mean == pytest.approx(7 / 3 + 0.5)  # splits 0 and 1
    assert "*AutoClassifier* takes long and has fewer splits: 0, 1." in table.notes
    common = next(part for part in table.breakdowns if "(0, 1)" in part.title)
    assert common.rows["EG2"] == common.rows["AutoClassifier"]
    ratio = next(part for part in table.breakdowns if part.title.startswith("10 to 10,000: cost of our rows"))
    assert ratio.rows["ACT, refined"][ratio.columns.index("EG2")] == "1.000 (1.000 to 1.000)"
    assert "AutoClassifier" not in table.pictures[0].panels[0].lines


@pytest.mark.usefixtures("with_peers")
def test_a_row_with_one_split_does_not_hide_the_others():
    cells = made_up(5)
    for cell in [c for c in cells if c.split >= {"auto": 1, "act": 3}.get(c.learner, 10)]:
        del cells[cell]
    table = grid(5).table(cells, False, 0)
    [common] = [part for part in table.breakdowns if part.title.startswith("On the splits")]
    assert common.title == "On the splits that all rows with more than one have (0, 1, 2)"
    assert "AutoClassifier" not in common.rows
    assert {"ACT, refined", "ICET"} <= set(common.rows)
    assert table.reported == "splits 0 to 9 of the same five data sets; rows with fewer splits are named below"


@pytest.mark.usefixtures("with_peers")
def test_a_part_of_the_splits_is_not_compared():
    cells = {cell: numbers for cell, numbers in made_up(5).items() if cell.split < 3 or cell.learner != "eg2"}
    cells = {cell: numbers for cell, numbers in cells.items() if cell.learner != "optimal"}
    table = grid(5).table(cells, False, 0)
    assert table.entries["EG2", "10 to 100"].ours.mean == pytest.approx(7 / 3 + 1)
    assert table.entries["EG2", "10 to 100"].inside is None
    assert "Left out, because no split is finished: OptimalClassifier." in table.notes
    assert grid(5).table({}, False, 0).rows == []
    one = {cell: n for cell, n in made_up(5).items() if cell.split == 0 and cell.learner in ("act", "peers")}
    table = grid(5).table(one, False, 0)
    assert (table.reported, table.pictures) == ("split 0 of the same five data sets", [])


def test_table_6_has_ratios_to_c45():
    cells = made_up(6)
    for cell in cells:
        cells[cell]["seconds"] = 8.0 if cell.learner == "icet" else 2.0 if cell.data == "pima" else 1.0
    table = grid(6).table(cells, False, 0)
    assert table.columns == ["bupa", "heart", "hepatitis", "pima", "thyroid", "average"]
    assert {"ACT, refined", "ICET, refined"} <= set(table.tuned)
    assert table.entries["ICET", "pima"].ours.mean == 4
    assert table.entries["ICET", "average"].ours.mean == pytest.approx(8 / 1.2)
    assert table.entries["ICET", "average"].published[0] == 679
    assert table.entries["EG2", "bupa"].published[0] == 0.5
    assert all(entry.inside is None for entry in table.entries.values())


def test_averages_that_tables_repeat_are_counted_once(tmp_path):
    every = {cell: numbers for number in (5, 12, 13, 14) for cell, numbers in made_up(number).items()}
    # 10 of table 5; 6 further ones of table 12; binary and seeded ICET. Tables alone have 10, 8, 12 and 14.
    cells = {cell: numbers | {"normalized": float(i)} for i, (cell, numbers) in enumerate(every.items())}
    tables = [grid(number).table(cells, False, 0) for number in (5, 12, 13, 14)]
    assert " of 20 published averages" in counted_once(tables)
    write_pages("x", tables, tmp_path, RunInfo("", quick=False, cells=1, seconds=1))
    assert "of 20 published averages" in (tmp_path / "x.md").read_text()


def test_the_row_of_the_peers_needs_pystreed(monkeypatch):
    monkeypatch.setattr(peers, "pystreed_available", lambda: False)
    table = grid(5).table(made_up(5), False, 0)
    assert not any("peers" in row for row in table.rows)
    assert any("pystreed is not installed" in note for note in table.notes)


def test_every_published_number_has_its_place():
    found = set()
    for name in experiments.PAPERS["turney"]:
        number = int(name.removeprefix("turney-table"))
        table = experiments.EXPERIMENTS[name].table(made_up(number), False, 0)
        assert table.title == experiments.EXPERIMENTS[name].title
        if number != 6:  # its seconds are in another file
            found |= {(number, *place) for place, entry in table.entries.items() if entry.published}
    assert found == set(turney.published())
    assert len(found) == 93


@pytest.mark.parametrize("name", experiments.PAPERS["turney"])
def test_pages_of_all_tables_quick(name, tmp_path):
    number = int(name.removeprefix("turney-table"))
    table = grid(number).table(made_up(number, quick=True), True, 0)
    about = RunInfo("worthwhile reproduce", quick=True, cells=1, seconds=1)
    files = write_pages(name, [table], tmp_path, about)
    page = (tmp_path / f"{name}.md").read_text()
    assert "**This is the quick version**" in page
    assert "200 trials" in page
    assert all(entry.inside is None for entry in table.entries.values())  # rough numbers are not judged
    assert [p.suffix for p in files] == [".csv", ".md", *[".png"] * len(table.pictures)]
    for picture in table.pictures:
        assert f"]({picture.name}.png)" in page

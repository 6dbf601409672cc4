"""The tables of Ting (1998), and their arithmetic."""

import math
from collections import Counter

import pytest

from worthwhile import cli, experiments
from worthwhile.experiments import ting
from worthwhile.experiments.page import RunInfo, footnote, judgement, write_pages
from worthwhile.experiments.ting_cells import DATA, FAMILY, LEARNERS, applies, cell_of

NAMES = experiments.PAPERS["ting"]


QUICK = RunInfo("worthwhile reproduce", quick=True, cells=1, seconds=1)


WITHOUT_FOLDER = ("diab", "wave")  # bundled, and made up


@pytest.fixture(autouse=True)
def others(tmp_path, monkeypatch):
    """Write cells of other programs: for each learner, how many trials of which data sets, and what each of them costs.

    There are none until this is called; those that come with the package are out of the way.
    """
    path = tmp_path / "others.csv"
    monkeypatch.setattr(ting, "OUTSIDE_CELLS", path)

    def write(cost=lambda data, split: 2.0, **trials):
        header = "version,data,prices,errors,learner,parameters,split,cost,nodes,high,wrong,seconds"
        lines = [
            f'0,{data},free,drawn,"{learner}",,{split},{cost(data, split)},5,1,1,0.1'
            for learner, of_data in trials.items()
            for data, number in of_data.items()
            for split in range(number)
        ]
        path.write_text("\n".join([header, *lines, ""]))
        return path

    return write


def grid(name):
    return experiments.EXPERIMENTS[f"ting-{name}"]


def test_the_grid_is_that_of_the_paper():
    assert NAMES == ["ting-table1", "ting-table2", "ting-priors", "ting-learners"]
    cells = grid("table1").cells(False, 0)
    assert len(cells) == len(set(cells)) == 2 * 21 * 100
    assert Counter(cell.errors for cell in cells) == {"drawn": 2 * 19 * 100, "fixed": 2 * 2 * 100}
    everything = set(grid("learners").cells(False, 0))
    assert len(everything) == sum(applies(name, data) for name in LEARNERS for data in DATA) * 100
    assert {cell.data for cell in everything if cell.learner == "threshold"} == set(ting.TWO_CLASSES)
    assert all(set(grid(name).cells(False, 0)) <= everything for name in ("table1", "table2", "priors"))
    assert len(ting.TWO_CLASSES) == 11
    assert len(ting.MORE_CLASSES) == 10


@pytest.mark.parametrize("name", NAMES)
def test_quick_grids_are_small(name):
    quick, full = (set(experiments.EXPERIMENTS[name].cells(quick, 0)) for quick in (True, False))
    assert quick < full
    assert len(quick) <= len(full) / 50
    assert {cell.split for cell in quick} == {0, 1, 2}
    assert {cell.split for cell in experiments.EXPERIMENTS[name].cells(True, 2)} == {200, 201, 202}
    assert all(DATA[cell.data].effort <= 10 for cell in quick)


def test_small_data_sets_come_first():
    cells = sorted(grid("learners").cells(False, 0), key=FAMILY.order)
    assert {cell.data for cell in cells[-100:]} == {"sat"}
    assert {cell.data for cell in cells[:100]} <= {"echo", "heart", "heart-s", "breast"}
    assert FAMILY.weight(cell_of("sat", "sklearn", 0)) > FAMILY.weight(cell_of("sat", "c45", 0))


def made_up(name, quick=False, **numbers):
    """Numbers for a table, all 1 unless given as functions of the cell."""
    given = {"cost": 1.0, "nodes": 1.0, "high": 1.0, "wrong": 1.0, "seconds": 0.5}
    return {
        cell: given | {number: value(cell) for number, value in numbers.items()} for cell in grid(name).cells(quick, 0)
    }


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", [name.removeprefix("ting-") for name in NAMES])
def test_pages_of_all_tables(name, quick, tmp_path):
    cells = made_up(name, quick, cost=lambda cell: 10.0 + cell.split + len(cell.learner))
    table = grid(name).table(cells, quick, 0)
    assert table.title == grid(name).title
    files = write_pages(f"ting-{name}", [table], tmp_path, RunInfo("worthwhile reproduce", quick, 1, 1))
    page = (tmp_path / f"ting-{name}.md").read_text()
    assert "data sets are in this table: those that are finished" in page
    assert [file.suffix for file in files] == [".csv", ".md", *[".png"] * len(table.pictures)]
    assert all(path.stat().st_size for path in files)
    assert all(entry.inside is None for entry in table.entries.values()) == quick  # rough numbers are not judged
    assert ("within 0.05 of the published ones" in page) != quick


def test_table_1_by_hand():
    def cost(cell):
        base = 10.0 + cell.split % 2  # 10.5 on the average
        if cell.learner == "c45":
            return base
        return base * (0.5 if cell.data in ting.TWO_CLASSES else 1.0) + (2.1 if cell.data == "echo" else 0.0)

    table = grid("table1").table(made_up("table1", cost=cost), False, 0)
    ours = {place: entry.ours.mean for place, entry in table.entries.items()}
    assert ours["Echo", "cost: C4.5"] == pytest.approx(10.5)
    assert ours["Echo", "cost: C4.5CS"] == pytest.approx(5.25 + 2.1)
    assert ours["Echo", "cost: ratio"] == pytest.approx(0.7)
    assert ours["Diab", "cost: ratio"] == pytest.approx(0.5)
    assert ours["mean, two classes", "cost: ratio"] == pytest.approx((0.7 + 10 * 0.5) / 11)
    assert ours["mean, more classes", "cost: ratio"] == pytest.approx(1)
    assert math.isnan(ours["mean, two classes", "cost: C4.5"])
    assert str(table.entries["Echo", "cost: ratio"].ours) == "0.70"
    assert table.entries["Echo", "cost: ratio"].published[0] == 0.44
    assert table.entries["Echo", "cost: ratio"].inside is None  # only means are judged
    assert table.entries["Echo", "errors: C4.5"].published is None
    mean = table.entries["mean, two classes", "cost: ratio"]
    assert (mean.published[0], mean.inside) == (0.62, False)
    assert table.entries["mean, more classes", "cost: ratio"].inside is True
    assert [table.rows.index(row) for row in ("Echo", "mean, two classes", "Lympho")] == [0, 11, 13]
    assert footnote(table) == "† further than 0.05 from the published number"
    [dots] = table.pictures
    assert len(dots.names) == 21
    assert dots.series["ours"][0] == pytest.approx(0.7)
    assert dots.series["published"][0] == 0.44


def test_a_ratio_is_of_averages_not_an_average_of_ratios():
    def cost(cell):
        first = cell.split == 0
        return {"c45cs": 100.0 if first else 0.0, "c45": 50.0 if first else 1.0}[cell.learner]

    table = grid("table1").table(made_up("table1", cost=cost), False, 0)
    assert table.entries["Glass", "cost: ratio"].ours.mean == pytest.approx(100 / (50 + 99))


def test_the_published_mean_without_what_we_do_not_have():
    table = grid("table1").table(made_up("table1"), False, 0)
    there = {
        column: table.entries["mean, two classes, same sets", column].published[0] for column in table.columns[2::3]
    }
    assert list(there.values()) == [0.63, 0.71, 0.37, 1.39]  # by hand, from the eleven printed ratios
    more = [table.entries["mean, more classes, same sets", column].published[0] for column in table.columns[2::3]]
    printed = [table.entries["mean, more classes", column].published[0] for column in table.columns[2::3]]
    assert printed == [0.98, 0.85, 1.02, 1.06]
    assert more == pytest.approx(printed, abs=0.011)  # the printed ratios are rounded, too
    cells = {cell: n for cell, n in made_up("table1").items() if cell.data in ("echo", "hepa") and cell.split < 100}
    part = grid("table1").table(cells, False, 0)
    assert part.rows == ["Echo", "Hepa", "mean, two classes", "mean, two classes, same sets"]
    assert part.entries["mean, two classes", "cost: ratio"].inside is None
    same = part.entries["mean, two classes, same sets", "cost: ratio"]
    assert (same.published[0], same.inside) == (0.46, False)


def test_table_2_and_section_4_by_hand():
    def cost(cell):
        return 86.0 if cell.learner == "c45cs-mc" else 70.0 if cell.learner == "c45cs" else 100.0

    def high(cell):
        return 0.36 if cell.learner == "c45cs-mc" else 0.43 if cell.learner == "c45cs" else 1.0

    table = grid("table2").table(made_up("table2", cost=cost, high=high), False, 0)
    assert (table.rows, table.columns) == (list(ting.MEASURES), ["two classes", "more classes"])
    assert table.entries["cost", "two classes"].ours.mean == pytest.approx(0.86)
    assert table.entries["cost", "two classes"].inside is True
    assert table.entries["high-cost errors", "more classes"].published[0] == 1.02
    assert table.entries["high-cost errors", "more classes"].inside is False
    assert table.breakdowns[0].rows["Sat"] == ["86.0", "100.0", "0.86", "1.00", "0.36", "1.00"]
    assert judgement(table).startswith("2 of 8 of our means are within 0.05")  # both costs would; one is 0.99
    priors = grid("priors").table(made_up("priors", cost=cost, high=high), False, 0)
    assert priors.entries["cost", "two classes"].published[0] == 0.7
    assert priors.entries["cost", "two classes"].inside is True
    assert priors.entries["high-cost errors", "two classes"].inside is True
    assert priors.entries["cost", "more classes"].published is None


def test_all_learners_against_c45():
    labels = {"c45cs": 0.5, "sklearn": 0.25}
    table = grid("learners").table(made_up("learners", cost=lambda cell: labels.get(cell.learner, 1.0)), False, 0)
    assert table.columns == [known.label for name, known in LEARNERS.items() if name != "c45" and applies(name, "diab")]
    assert str(table.entries["mean, more classes", "scikit-learn, threshold"].ours) == "–"
    assert table.entries["mean, two classes", "scikit-learn, threshold"].ours.mean == 1
    assert set(table.tuned) == set(ting.OWN)
    assert table.entries["mean, two classes", "scikit-learn"].ours.mean == 0.25
    assert table.entries["Splice", "C4.5CS"].ours.mean == 0.5
    assert table.entries["Splice", "C4.5CS"].published[0] == 1.0
    assert table.entries["mean, two classes", "C4.5CS"].published[0] == 0.62
    assert table.entries["mean, two classes", "C4.5_mc"].published is None
    assert table.breakdowns[0].rows["scikit-learn"] == ["0.25", "1.00", "1.00", "1.00", "0.500"]


def test_no_error_at_all_makes_no_ratio():
    table = grid("table1").table(made_up("table1", high=lambda cell: float(cell.data != "hypo")), False, 0)
    assert str(table.entries["Hypo", "high-cost errors: ratio"].ours) == "–"
    assert table.entries["mean, two classes", "high-cost errors: ratio"].ours.mean == pytest.approx(1)


def test_data_sets_that_are_not_finished_are_left_out():
    cells = made_up("learners")
    for cell in [c for c in cells if c.learner == "sklearn" and c.data == "sat" and c.split == 9]:
        del cells[cell]
    table = grid("learners").table(cells, False, 0)
    assert table.notes[0].startswith("20 of the 21 data sets")
    assert "Sat" not in table.rows
    assert table.entries["mean, two classes", "C4.5CS"].inside is not None  # all of these are there
    assert table.entries["mean, more classes", "C4.5CS"].inside is None
    nobody = {cell: numbers for cell, numbers in cells.items() if cell.learner != "sklearn"}
    table = grid("learners").table(nobody, False, 0)
    assert "scikit-learn" not in table.columns
    assert table.notes[0].startswith("21 of the 21 data sets")
    assert table.notes[1] == "No cells are finished for: scikit-learn."


@pytest.mark.parametrize("name", [name.removeprefix("ting-") for name in NAMES])
def test_nothing_finished(name, tmp_path):
    for cells in ({}, {c: n for c, n in made_up(name).items() if c.split < 99}, made_up(name)):
        some = {c: n for c, n in cells.items() if c.learner in ("c45cs", "c45cs-mc")}  # never the other one
        table = grid(name).table(some, False, 0)
        write_pages("x", [table], tmp_path, QUICK)
        assert all(entry.inside is None for entry in table.entries.values())
    table = grid(name).table({}, False, 0)
    assert table.rows == []
    assert table.notes[0] == "0 of the 21 data sets are in this table."


def test_every_published_number_has_its_place():
    found = set()
    for name in ("table1", "table2", "priors"):
        table = grid(name).table(made_up(name), False, 0)
        found |= {(name, *place) for place, e in table.entries.items() if e.published and "same" not in place[0]}
    coding = {place for place in ting.published() if place[1] == "Coding"}
    assert found | coding == set(ting.published())
    assert len(found) == 21 * 11 + 2 * 4 + 2 * 4 + 2
    ratio = ting.published()["table1", "Coding", "cost: C4.5CS"] / ting.published()["table1", "Coding", "cost: C4.5"]
    assert ratio == pytest.approx(0.46, abs=0.005)


def test_learners_of_other_programs(others):
    path = others(Weka=dict.fromkeys(ting.QUICK_DATA, 3))
    table = grid("learners").table(made_up("learners", quick=True), True, 0)
    assert table.columns[-1] == "Weka"
    assert table.entries["Vowel", "Weka"].ours.mean == 2.0
    assert table.breakdowns[0].rows["Weka"] == ["2.00", "5.00", "1.00", "1.00", "0.100"]
    assert not any("trials" in note for note in table.notes)  # it has all three of them
    assert "Weka" not in grid("table1").table(made_up("table1", quick=True), True, 0).rows
    path.write_text(path.read_text().replace(",0,2.0", ",first,2.0"))
    with pytest.raises(ValueError, match=r"others\.csv, line 2: is not a finished cell of ting"):
        ting.outside_cells()
    path.unlink()
    assert ting.outside_cells() == {}


def test_other_programs_are_compared_over_the_trials_that_they_have(others):
    def c45(cell):
        return 4.0 if cell.split < 10 else 1000.0

    others(lambda data, split: {"echo": 1.0, "sat": 6.0}.get(data, 2.0) + split % 2, Weka=dict.fromkeys(DATA, 10))
    cells = made_up("learners", cost=c45)
    table = grid("learners").table(cells, False, 0)
    ours = {place: entry.ours.mean for place, entry in table.entries.items()}
    assert ours["Echo", "Weka"] == pytest.approx(1.5 / 4)
    assert ours["Sat", "Weka"] == pytest.approx(6.5 / 4)
    assert ours["mean, two classes", "Weka"] == pytest.approx((1.5 + 10 * 2.5) / 4 / 11)
    assert ours["mean, more classes", "Weka"] == pytest.approx((6.5 + 9 * 2.5) / 4 / 10)
    assert table.notes[0].startswith("21 of the 21 data sets")
    assert table.notes[1] == "*Weka*: over the first 10 trials; C4.5 over the same trials."
    alone = {cell: n | {"cost": 3.0 if cell.learner == "c45cs" else n["cost"]} for cell, n in cells.items()}
    table = grid("learners").table(alone, False, 0)
    assert table.entries["Echo", "C4.5CS"].ours.mean == pytest.approx(3 / (0.1 * 4 + 0.9 * 1000))  # over all trials


def test_other_programs_take_no_data_set_from_the_table(others, tmp_path):
    some = {data: 3 if data == "hypo" else 10 for data in ting.TWO_CLASSES if data != "echo"}
    others(A=some, B=some, C={"diab": 100, "glass": 100})
    cells = made_up("learners")
    table = grid("learners").table(cells, False, 0)
    assert table.columns[-3:] == ["A", "B", "C"]
    assert table.notes[0].startswith("21 of the 21 data sets")
    assert table.entries["mean, more classes", "C4.5CS"].inside is True
    assert math.isnan(table.entries["Echo", "A"].ours.mean)
    assert table.entries["mean, two classes", "A"].ours.mean == 2.0
    assert table.breakdowns[1].rows["A"] == ["–"] * 5
    assert table.notes[1].startswith("*A* and *B*: over the first 10 trials; Hypo: 3; without Echo, Lympho, Glass, ")
    assert table.notes[2].startswith("*C*: over the first 100 trials; without Echo")
    write_pages("x", [table], tmp_path, QUICK)
    # A gap ends what counts; without the first trial there is nothing.
    missing = {("diab", 4), ("glass", 0)}
    lines = (tmp_path / "others.csv").read_text().splitlines(keepends=True)
    gaps = [line for line in lines if not any(f',{d},free,drawn,"C",,{split},' in line for d, split in missing)]
    (tmp_path / "others.csv").write_text("".join(gaps))
    table = grid("learners").table(cells, False, 0)
    assert table.notes[2].startswith("*C*: over the first 4 trials; without Echo, ")
    assert math.isnan(table.entries["Glass", "C"].ours.mean)
    assert grid("learners").table({}, False, 0).columns == []


def test_the_cells_of_other_programs_that_come_with_the_package(monkeypatch):
    monkeypatch.undo()
    found = ting.outside_cells()
    assert {cell.learner for cell in found} == {"Weka, least cost", "Weka, reweighted"}
    for learner in ("Weka, least cost", "Weka, reweighted"):
        trials = Counter(cell.data for cell in found if cell.learner == learner)
        assert set(trials) == set(DATA)
        assert all({cell.split for cell in found if cell.data == data} == set(range(n)) for data, n in trials.items())
    for cell, numbers in found.items():
        assert cell.errors == cell_of(cell.data, "c45", cell.split).errors
        assert numbers["high"] <= numbers["wrong"] <= numbers["cost"] <= 10 * numbers["wrong"]


@pytest.fixture
def small(monkeypatch):
    """Keep what needs no folder, and two trials."""
    monkeypatch.setattr(ting, "QUICK_DATA", WITHOUT_FOLDER)
    monkeypatch.setattr(ting, "QUICK_TRIALS", 2)


@pytest.mark.usefixtures("small")
def test_a_quick_run_from_end_to_end(tmp_path, capsys):
    arguments = ["reproduce", "ting", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    assert cli.run([*arguments, "--only", "c45", "--only", "c45cs"]) == 0
    assert "C4.5CS against C4.5" in capsys.readouterr().out
    kept = tmp_path / "cells-ting.csv"
    assert len(kept.read_text().splitlines()) == 1 + 2 * 2 * 2
    assert cli.run([*arguments, "--quiet"]) == 0
    n_cells = sum(applies(name, data) for name in LEARNERS for data in WITHOUT_FOLDER) * 2
    assert len(kept.read_text().splitlines()) == 1 + n_cells
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cells-ting.csv",
        "ting-table1-cost.png",
        "ting.csv",
        "ting.md",
    ]
    page = (tmp_path / "ting.md").read_text()
    assert "2 of the 2 data sets are in this table" in page
    assert all(known.label in page for name, known in LEARNERS.items() if applies(name, "diab"))
    assert page.count("Protocol (Ting 1998") == 1
    assert cli.run([*arguments, "--only", "nobody"]) == 2
    assert "there is no learner, data set or price list 'nobody'" in capsys.readouterr().err


def test_missing_files_are_named(tmp_path):
    with pytest.raises(ValueError, match="echocardiogram"):
        experiments.reproduce("ting-table1", tmp_path / "out", data=tmp_path, quick=True, jobs=1)

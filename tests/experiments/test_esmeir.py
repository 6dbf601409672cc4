"""The tables of Esmeir & Markovitch (2008): from the whole grid, from a part of it, and running a part."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import worthwhile as ww
from worthwhile import cli, experiments
from worthwhile.experiments import esmeir
from worthwhile.experiments.engine import parameters_of
from worthwhile.experiments.esmeir_cells import DATA, FAMILY, SLOW
from worthwhile.experiments.page import RunInfo, write_pages

NAMES = experiments.PAPERS["esmeir"]


QUICK = RunInfo("worthwhile reproduce", quick=True, cells=1, seconds=1)


def grid(name):
    return experiments.EXPERIMENTS[f"esmeir-{name}"]


def test_the_grid_is_that_of_the_paper():
    cells = grid("table1").cells(False, 0)
    assert len(cells) == len(set(cells))
    problems = {(cell.data, cell.prices) for cell in cells}
    assert len(problems) == 105
    assert Counter(data for data, _ in problems)["bupa"] == 5
    assert Counter(data for data, _ in problems)["iris"] == 4
    # Once per problem and fold for learners that ignore error costs, otherwise five times.
    per_learner = Counter(cell.learner for cell in cells)
    assert {per_learner[name] for name in ("c45", "lsid3", "idx", "csid3", "eg2", "no-test")} == {1050}
    assert {per_learner[name] for name in ("dtmc", "icet", "act", "act-refined")} == {5250}
    # Slow learners have the first price list, without the two largest data sets.
    assert {per_learner[name] for name in ("optimal", "auto")} == {23 * 50}
    assert not {cell.data for cell in cells if cell.learner in ("optimal", "auto")} & {"krk", "nursery"}
    assert set(grid("table2").cells(False, 0)) <= set(cells)
    assert set(grid("table4").cells(False, 0)) <= set(grid("table3").cells(False, 0))
    shared = {cell.errors for cell in set(cells) & set(grid("table3").cells(False, 0)) if cell.learner == "act"}
    assert shared == {"500", "5000"}
    assert not {cell.data for cell in grid("figure13").cells(False, 0)} - set(esmeir.ANYTIME_DATA)
    assert {cell.prices for cell in grid("figure14").cells(False, 0)} == {f"uniform-{n}" for n in range(4)}


@pytest.mark.parametrize("name", NAMES)
def test_quick_grids_are_small_and_not_taken_for_full_ones(name):
    quick, full = (set(experiments.EXPERIMENTS[name].cells(quick, 0)) for quick in (True, False))
    assert len(quick) <= len(full) / 10
    assert {cell.split for cell in quick} == {0, 1, 2}
    if name != "esmeir-figure13":
        assert {parameters_of(c.parameters)["trials"] for c in quick if c.learner == "icet"} == {200}
    assert {cell.split for cell in experiments.EXPERIMENTS[name].cells(True, 2)} == {20, 21, 22}


def test_small_data_sets_come_first():
    cells = list(dict.fromkeys(sorted(grid("table1").cells(False, 0), key=FAMILY.order)))
    published = [cell for cell in cells if cell.learner not in SLOW]
    assert cells[: len(published)] == published  # slow learners run last
    assert list(dict.fromkeys(cell.learner for cell in cells[len(published) :])) == list(SLOW)
    tiers = [DATA[cell.data].tier for cell in published]
    assert tiers == sorted(tiers)
    assert {cell.data for cell in published[-100:]} == {"krk"}
    first = published[: len(published) // 105]
    assert {cell.prices for cell in first} <= {"informative-0", "published"}
    assert {cell.learner for cell in first} == {cell.learner for cell in published}


def made_up(name, quick=False, cost=lambda cell: 10.0):
    """Numbers for a table: no errors, all tests together cost 100, and the majority is never wrong."""
    rest = {"wrong_first": 0.0, "wrong_second": 0.0, "all_tests": 100.0, "least_wrong": 0.0, "nodes": 1.0}
    return {cell: {"test_cost": cost(cell), "seconds": 0.5, **rest} for cell in grid(name).cells(quick, 0)}


@pytest.mark.parametrize("name", [name.removeprefix("esmeir-") for name in NAMES])
def test_pages_of_all_tables(name, tmp_path):
    cells = made_up(name, quick=True, cost=lambda cell: 10.0 + cell.split + len(cell.learner))
    table = grid(name).table(cells, True, 0)
    assert table.title == grid(name).title
    files = write_pages(f"esmeir-{name}", [table], tmp_path, QUICK)
    page = (tmp_path / f"esmeir-{name}.md").read_text()
    assert "problems are in this table" in page
    assert "–" not in page.split("## ")[1].split("\n\n")[1]  # every number is there
    assert [file.suffix for file in files] == [".csv", ".md", *[".png"] * len(table.pictures)]
    assert all(entry.inside is None for entry in table.entries.values())
    assert all(path.stat().st_size for path in files)


def test_a_table_by_hand():
    # A problem enters with the mean of its folds; the interval is over the problems.
    cells = made_up("table1", cost=lambda cell: cell.split + 20.0 * (cell.prices == "published"))
    table = grid("table1").table(cells, False, 0)
    entry = table.entries["ACT", "1000"]
    assert entry.ours.mean == pytest.approx(4.5 + 20 * 5 / 105)
    values = [4.5] * 100 + [24.5] * 5
    assert entry.ours.interval == pytest.approx(1.98304 * np.std(values, ddof=1) / np.sqrt(105), rel=1e-4)
    assert entry.published == (39.1, 4.2)
    assert entry.inside is False
    assert table.notes[0].startswith("105 of the 105 problems are in this table")


def test_problems_that_are_not_finished_are_left_out():
    def cost(cell):
        return 1000.0 if cell.data == "krk" else 10.0

    cells = made_up("table1", cost=cost)
    for cell in [c for c in cells if c.data == "krk" and c.learner == "act" and c.split == 9]:
        del cells[cell]
    table = grid("table1").table(cells, False, 0)
    assert table.notes[0].startswith("101 of the 105 problems")
    assert table.entries["C4.5", "500"].ours.mean == pytest.approx(10)
    assert all(entry.inside is None for entry in table.entries.values())  # a part is not compared
    nobody = {cell: numbers for cell, numbers in cells.items() if cell.learner not in ("lsid3", "act")}
    table = grid("table1").table(nobody, False, 0)
    assert "LSID3" not in table.rows
    assert table.notes[0].startswith("105 of the 105 problems")
    assert "Left out, because no problem is finished: LSID3; ACT." in table.notes


def test_a_row_of_ours_with_fewer_problems_is_shown_apart():
    def cost(cell):
        return (30.0 if cell.data == "krk" else 10.0) - 5.0 * (cell.learner == "act-refined")

    cells = made_up("table1", cost=cost)
    for cell in [
        c for c in cells if c.learner in ("act-refined", "auto") and (c.data != "iris" or c.prices[-1] == "3")
    ]:
        del cells[cell]
    table = grid("table1").table(cells, False, 0)
    assert table.notes[0].startswith("105 of the 105 problems")
    assert "*ACT, refined* is finished on fewer problems; it is shown on the 1 that all rows have." in table.notes
    assert "ACT, refined" not in table.rows
    assert table.entries["ACT", "500"].ours.mean == pytest.approx(10 + 20 * 4 / 105)
    assert table.entries["ACT", "500"].inside is not None  # all problems: it is compared
    apart = table.breakdowns[0]
    assert apart.title == "On the 1 problems that all rows have"
    assert [apart.rows[label][0].split()[0] for label in ("ACT", "ACT, refined")] == ["10.0", "5.0"]
    assert {"ACT, refined", "AutoClassifier"} <= set(table.tuned)
    [relative] = [part for part in table.breakdowns if part.title.startswith("Cost of our rows")]
    assert relative.rows["ACT, refined, 1 in common"][0].startswith("0.500")


def test_significant_differences_of_a_row_with_fewer_problems():
    cells = made_up("table4", cost=lambda cell: 10.0 - 5.0 * (cell.learner == "act-refined"))
    for cell in [cell for cell in cells if cell.learner == "act-refined" and cell.data != "iris"]:
        del cells[cell]
    table = grid("table4").table(cells, False, 0)
    assert not any("refined" in row for row in table.rows)
    assert table.entries["DTMC beats ACT", "500, FP/FN 0.125"].published == (4.0, pytest.approx(math.nan, nan_ok=True))
    _, over_sets, counts, winners = table.breakdowns
    assert over_sets.title.startswith("Wilcoxon's test over the data sets")
    assert counts.title == "On the 4 problems that all rows have: numbers of significant differences"
    assert counts.rows["ACT, refined beats ACT"] == ["4"] * 14
    assert "ACT beats DTMC" not in counts.rows
    assert winners.rows["ICET against ACT, refined"][0].startswith("–")  # four problems are too few


def test_statements_on_significance_are_counted():
    cells = made_up("table2", cost=lambda cell: {"act": 5.0, "dtmc": 7.0}.get(cell.learner, 6.0))
    notes = grid("table2").table(cells, False, 0).notes
    [same] = [note for note in notes if note.startswith("In ")]
    assert same.startswith("In 9 of 10 published comparisons")
    assert same.endswith("not: DTMC against ACT at 100.")
    [held] = [note for note in notes if note.startswith("Of the paper's")]
    assert held.startswith("Of the paper's 10 statements by Wilcoxon's test")
    assert " 8 hold; not: " in held


def test_the_paper_of_2006():
    cells = grid("2006").cells(False, 0)
    problems = {(cell.data, cell.prices) for cell in cells}
    assert len(problems) == 55
    assert {cell.errors for cell in cells if cell.learner == "act"} == {"10", "100", "1000", "10000"}
    assert Counter(prices for _, prices in problems) == {"shared20-0": 25, "shared80-0": 25, "published": 5}

    def cost(cell):
        return 10.0 + 0.01 * cell.split + (5.0 + 0.1 * cell.split) * (cell.learner == "icet")

    table = grid("2006").table(made_up("2006", cost=cost), False, 0)
    assert table.entries["ACT", "10"].ours.mean == pytest.approx(10.045)
    counts, winners = table.breakdowns[:2]
    assert counts.rows["ACT beats ICET"] == ["55"] * 4
    assert winners.rows["ICET against ACT"] == ["ACT (p < 0.001)"] * 4
    assert winners.rows["ICET against ACT, published"] == ["ACT", "ACT", "–", "ACT"]
    assert winners.rows["LSID3 against ACT, published"] == ["ACT", "ACT", "ACT", "–"]


@pytest.mark.parametrize("name", [name.removeprefix("esmeir-") for name in NAMES])
def test_nothing_finished(name, tmp_path):
    table = grid(name).table({}, False, 0)
    assert table.rows == []
    write_pages("x", [table], tmp_path, QUICK)
    assert "0 of the" in (tmp_path / "x.md").read_text()
    alone = {cell: n for cell, n in made_up(name).items() if cell.split < 9}  # begun, but not one problem whole
    write_pages("x", [grid(name).table(alone, False, 0)], tmp_path, QUICK)


def test_significant_differences_by_hand():
    rng = np.random.default_rng(0)

    def cost(cell):
        if cell.learner == "act":
            return 10.0 + 0.01 * cell.split
        if cell.learner == "dtmc":
            return 9.0 if cell.data == "iris" else 20.0 + 0.02 * cell.split
        return 10.0 + rng.normal() if cell.learner == "icet" else 10.0

    table = grid("table2").table(made_up("table2", cost=cost), False, 0)
    ours = {place: entry.ours.mean for place, entry in table.entries.items()}
    assert ours["DTMC beats ACT", "100"] == 4
    assert ours["ACT beats DTMC", "100"] == 101
    assert ours["ICET beats ACT", "500"] + ours["ACT beats ICET", "500"] < 20  # chance: one in twenty
    assert str(table.entries["ACT beats DTMC", "100"].ours) == "101"
    assert table.entries["ACT beats DTMC", "10000"].published[0] == 56
    winners = table.breakdowns[0].rows
    assert winners["DTMC against ACT"] == ["ACT (p < 0.001)"] * 5
    assert winners["DTMC against ACT, Turney's 25"] == ["ACT (p < 0.001)"] * 5
    assert winners["DTMC against ACT, 80 others"] == ["ACT (p < 0.001)"] * 5
    assert winners["ICET against ACT, published"] == ["ACT"] * 4 + ["–"]


def test_figure_13_has_a_line_per_learner():
    cells = made_up("figure13", cost=lambda cell: float(len(cell.parameters)))
    table = grid("figure13").table(cells, False, 0)
    assert list(table.tuned) == ["ACT, refined"]
    [picture] = table.pictures
    assert [panel.title for panel in picture.panels] == ["Breast Cancer", "Monks-1", "Multi-XOR", "XOR-5"]
    lengths = {label: len(line) for label, line in picture.panels[0].lines.items()}
    assert lengths == {"ICET": 7, "ACT": 6, "ACT, refined": 6, "EG2": 2, "DTMC": 2}
    assert picture.panels[0].own_x["EG2"] == [0.5, 0.5]


def test_unequal_error_costs():
    assert esmeir.UNEQUAL["500, FP/FN 0.125"] == "500:4000"
    assert esmeir.UNEQUAL["5000, FP/FN 1"] == "5000"
    assert esmeir.UNEQUAL["5000, FP/FN 4"] == "20000:5000"


def test_every_published_number_has_its_place():
    found = set()
    for whole in esmeir.GRIDS:
        part = replace(whole, problems=whole.problems[:2])
        cells = dict.fromkeys(esmeir._cells(part, False, 0), next(iter(made_up("figure13").values())))
        table = esmeir._table(part, cells, False, 0)
        found |= {(part.name, *place) for place, entry in table.entries.items() if entry.published}
    assert found == set(esmeir.published())
    assert len(found) == 8 * 5 + 4 * 5 + 5 * 14 + 4 * 14 + 3 * 5


@pytest.fixture
def small(monkeypatch):
    """Keep the generated data sets only, which need no folder, and replace the learners that search."""
    monkeypatch.setattr(ww, "ACTClassifier", lambda r=5, variant="", **rest: ww.EG2Classifier(prune="cost", **rest))
    monkeypatch.setattr(ww, "LSID3Classifier", lambda r=5, **rest: ww.C45Classifier(**rest))
    monkeypatch.setattr(ww, "ICETClassifier", lambda trials=0, variant="", **rest: ww.EG2Classifier(**rest))
    monkeypatch.setattr(ww, "OptimalClassifier", ww.DTMCClassifier)
    monkeypatch.setattr(esmeir, "QUICK_DATA", ("multi-xor", "xor-5"))


@pytest.mark.usefixtures("small")
def test_a_grid_grows_over_several_runs(tmp_path):
    kept = tmp_path / "cells" / "all.csv"
    options = {"quick": True, "jobs": 1, "cells": kept}
    [table], _ = experiments.reproduce("esmeir-table1", tmp_path, only=["eg2", "dtmc", "xor-5"], **options)
    assert table.rows == ["EG2", "DTMC"]
    assert table.notes[0].startswith("1 of the 2 problems")
    assert len(kept.read_text().splitlines()) == 1 + 3 + 15
    [table], _ = experiments.reproduce("esmeir-table1", tmp_path, minutes=0, **options)
    assert table.rows == ["EG2", "DTMC"]
    [table], _ = experiments.reproduce("esmeir-table1", tmp_path, **options)
    assert len(table.rows) == 10  # slow learners are not in the quick version
    assert table.notes[0].startswith("2 of the 2 problems")
    assert len(kept.read_text().splitlines()) == 1 + 2 * 3 * (6 + 5 * 4)
    with pytest.raises(
        ValueError,
        match=r"data set or price list 'id3'; valid names: learner: .*eg2.*; data: .*xor-5",
    ):
        experiments.reproduce("esmeir-table1", tmp_path, only=["id3"], **options)


@pytest.mark.usefixtures("small")
def test_the_command_runs_a_part(tmp_path, capsys):
    out, cells = tmp_path / "out", tmp_path / "kept.csv"
    arguments = ["reproduce", "esmeir-table2", "--quick", "--jobs", "1", "--out", str(out), "--cells", str(cells)]
    assert cli.run([*arguments, "--only", "dtmc", "--only", "act"]) == 0
    assert "DTMC beats ACT" in capsys.readouterr().out
    assert {line.split(",")[4] for line in cells.read_text().splitlines()[1:]} == {"dtmc", "act"}
    assert cli.run([*arguments, "--minutes", "0", "--quiet"]) == 0
    assert cli.run([*arguments, "--only", "nobody"]) == 2
    assert "there is no learner, data set or price list 'nobody'" in capsys.readouterr().err

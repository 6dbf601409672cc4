"""The tables of Nan, Wang & Saligrama (2015)."""

import os
from collections import Counter

import numpy as np
import pytest

from worthwhile import cli, datasets, experiments
from worthwhile.experiments import nan
from worthwhile.experiments.nan_cells import FAMILY, POINTS, SHARES
from worthwhile.experiments.nan_data import DATA, LARGE, SMALL
from worthwhile.experiments.page import RunInfo, footnote, judgement, write_pages
from worthwhile.experiments.rivals import lightgbm_available
from worthwhile.learners.forest.classifier import ALPHAS

FOLDER = os.environ.get(datasets.FOLDER_VARIABLE)


needs_folder = pytest.mark.skipif(not FOLDER, reason="WORTHWHILE_DATA does not name a folder of data sets")


needs_lightgbm = pytest.mark.skipif(not lightgbm_available(), reason="LightGBM is not installed")


NAMES = experiments.PAPERS["nan"]
FULL, QUICK = (RunInfo("worthwhile reproduce", quick=quick, cells=1, seconds=1) for quick in (False, True))


def grid(name):
    return experiments.EXPERIMENTS[f"nan-{name}"]


def test_the_grid_is_that_of_the_paper():
    assert NAMES == ["nan-table1", "nan-figure4", "nan-figure5", "nan-ranking"]
    cells = grid("table1").cells(False, 0)
    assert len(cells) == len(set(cells)) == 4 * 3 * 10
    assert {cell.prices for cell in cells} == {"unit"}
    assert {cell.parameters for cell in cells} == {'alpha=0 sampling="drawn"', 'alpha=0 sampling="chosen"', ""}
    figure5 = grid("figure5").cells(False, 0)
    assert len(SMALL) == 9
    assert len(figure5) == len(set(figure5)) == 8 * 9  # without the one that may not be there


@needs_lightgbm
def test_the_grid_of_figure_4():
    cells = grid("figure4").cells(False, 0)
    count = Counter(cell.learner for cell in cells)
    problems, splits = len(nan.PROBLEMS), nan.BUDGET_SPLITS
    assert count["budget"] == problems * splits * len(ALPHAS)
    assert count["adaptive"] == problems * splits * len(nan.FEW_ALPHAS)
    assert count["lazy"] == problems * splits * len(nan.LAZY)
    assert count["plain"] == problems * splits
    assert {(cell.data, cell.prices) for cell in cells} == set(nan.PROBLEMS)
    assert {data for data, _ in nan.PROBLEMS} == set(LARGE)


@needs_lightgbm
def test_rankings():
    cells = grid("ranking").cells(False, 0)
    assert {(cell.data, cell.prices) for cell in cells} == {("adult", "drawn"), ("credit", "drawn")}
    count = Counter(cell.learner for cell in cells if cell.data == "adult")
    assert count == {"rank-adaptive": 3, "rank-budget": 1, "rank-lazy": len(nan.LAZY), "rank-plain": 1}

    def error(cell, i):  # the third setting of CEGB ranks best
        return 0.2 if cell.parameters == f"tradeoff={nan.LAZY[2]}" else 0.5

    table = grid("ranking").table(made_up("ranking", error=error), False, 0)
    assert table.entries["adult, drawn prices: CEGB, lazy", "40 %"].ours.mean == pytest.approx(80)
    assert table.entries["adult, drawn prices: BudgetRF", "40 %"].ours.mean == pytest.approx(50)
    assert table.reported == "adult, drawn prices; credit default, drawn prices"
    assert list(table.tuned) == ["BudgetForest, adaptive"]
    assert "Averages over splits: adult, drawn prices 1; credit default, drawn prices 1." in table.notes


def test_without_lightgbm_its_methods_are_left_out(monkeypatch):
    monkeypatch.setattr(nan, "lightgbm_available", lambda: False)
    monkeypatch.setattr(nan, "catboost_available", lambda: False)
    learners = {cell.learner for cell in grid("figure4").cells(False, 0)}
    assert learners == {"adaptive", "cascade", "budget", "plain", "selected-forest"}
    assert "cascade" not in {cell.learner for cell in grid("figure4").cells(True, 0)}  # it takes too long
    table = grid("figure4").table(made_up("figure4"), False, 0)
    assert "LightGBM is not installed" in table.notes[0]
    assert table.notes[1] == "CatBoost is not installed: its row is left out."
    assert not any("CEGB" in row or "LightGBM" in row or "CatBoost" in row for row in table.rows)
    assert list(table.tuned) == ["BudgetForest, adaptive", "Cascade"]


@pytest.mark.parametrize("name", NAMES)
def test_quick_grids_are_small(name):
    quick, full = (set(experiments.EXPERIMENTS[name].cells(quick, 0)) for quick in (True, False))
    assert quick < full
    assert sum(map(FAMILY.weight, quick)) < 60
    seeds = [{cell.split for cell in experiments.EXPERIMENTS[name].cells(False, seed)} for seed in range(3)]
    if name == "nan-figure5":
        assert seeds == [{0}] * 3  # nothing is random
    else:
        assert not seeds[0] & seeds[1]
        assert seeds[2] == {20 + split for split in seeds[0]}


def made_up(name, quick=False, price=lambda cell, i: 0.01 * i, error=lambda cell, i: 0.5 - 0.02 * i, valid=None):
    """Numbers for a table, as functions of the cell and the point."""
    valid = valid or error
    return {
        cell: {
            "seconds": 0.5,
            **{
                f"{what}_{i}": function(cell, i)
                for what, function in (
                    ("price", price),
                    ("error", error),
                    ("valid_price", price),
                    ("valid_error", valid),
                )
                for i in range(1, POINTS + 1)
            },
        }
        for cell in grid(name).cells(quick, 0)
    }


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", [name.removeprefix("nan-") for name in NAMES])
def test_pages_of_all_tables(name, quick, tmp_path):
    table = grid(name).table(made_up(name, quick), quick, 0)
    assert table.title == grid(name).title
    files = write_pages(f"nan-{name}", [table], tmp_path, QUICK if quick else FULL)
    page = (tmp_path / f"nan-{name}.md").read_text()
    assert "Some cells are not finished" not in page
    assert [file.suffix for file in files] == [".csv", ".md", ".png"]
    assert all(path.stat().st_size for path in files)
    assert ("within 2 of the published ones" in page) == (name == "table1" and not quick)
    if name != "figure5":
        assert "unavailable" in page or "no published prices" in page


@pytest.mark.parametrize("name", [name.removeprefix("nan-") for name in NAMES])
def test_what_is_missing_is_left_out(name, tmp_path):
    everything = made_up(name)
    empty = grid(name).table({}, False, 0)
    assert not empty.rows
    assert not empty.pictures
    assert "Some cells are not finished" in empty.notes[0]
    write_pages(f"nan-{name}", [empty], tmp_path, FULL)
    first = next(iter(everything))
    without = {cell: numbers for cell, numbers in everything.items() if cell.data != first.data}
    table = grid(name).table(without, False, 0)
    assert table.rows
    assert not any(row.startswith(DATA[first.data].title) for row in table.rows)
    one_short = grid(name).table({c: n for c, n in everything.items() if c != first}, False, 0)
    assert len(one_short.rows) <= len(grid(name).table(everything, False, 0).rows)


def test_table_1_by_hand():
    def price(cell, i):
        return (0.12 if cell.learner == "budget-rf" else 0.25) + 0.01 * i + 0.001 * (cell.split % 2)

    def error(cell, i):
        return (0.2 if cell.learner == "budget-rf" else 0.15) - 0.001 * i

    table = grid("table1").table(made_up("table1", price=price, error=error), False, 0)
    assert list(table.tuned) == ["BudgetRF, sampling chosen"]
    assert table.reported == "Forest; adult; credit default; letter"
    entry = table.entries["Forest: BudgetRF", "1"]
    assert entry.ours.mean == pytest.approx(13.05)
    assert (entry.published[0], entry.inside) == (11.37, True)
    assert table.entries["Forest: BudgetRF", "10"].published[0] == 23.21
    assert table.entries["Forest: random forest", "10"].inside is False
    assert table.entries["letter: BudgetRF", "1"].published is None
    assert footnote(table) == "† further than 2 from the published number"
    assert judgement(table).endswith("within 2 of the published ones (rounded to two decimals, as these are).")
    [errors] = table.breakdowns
    assert errors.rows["Forest"] == ["14.00", "19.00 (+5.00)", "14.00 (+0.00)", "13.18", "13.64 (+0.46)"]
    assert errors.rows["adult"] == ["14.00", "19.00 (+5.00)", "14.00 (+0.00)", "", ""]
    assert len(table.rows) == 12
    assert table.entries["Forest: BudgetRF, sampling chosen", "10"].published[0] == 23.21
    [picture] = table.pictures
    assert len(picture.panels) == 4
    assert len(picture.panels[0].lines) == 5
    assert len(picture.panels[1].lines) == 3


@needs_lightgbm
def test_figure_4_by_hand(monkeypatch):
    monkeypatch.setattr(nan, "BUDGET_SPLITS", 2)

    def valid(cell, i):
        """The second alpha looks best on the validation cases at the first five budgets; then the last."""
        return 0.1 if cell.parameters.startswith("alpha=8 " if i <= 5 else "alpha=25 ") else 0.3

    def error(cell, i):
        own = {"alpha=8": 0.2, "alpha=25": 0.12}.get(cell.parameters.split()[0] if cell.parameters else "", 0.01)
        return own + 0.1 * (cell.split % 2) if cell.learner in ("adaptive", "budget") else 0.25

    def price(cell, i):
        return 0.02 if cell.parameters.startswith("alpha=8 ") else 0.03

    table = grid("figure4").table(made_up("figure4", price=price, error=error, valid=valid), False, 0)
    row = [table.entries["letter, drawn prices: BudgetForest, adaptive", f"{100 * s:g} %"].ours.mean for s in SHARES]
    assert row == pytest.approx([25] * 5 + [17] * 5)  # the mean of two splits
    row = [table.entries["letter, drawn prices: ours, forest or cascade", f"{100 * s:g} %"].ours.mean for s in SHARES]
    assert row == pytest.approx([25] * 5 + [17] * 5)  # the cascade looks worse on the validation cases
    assert any("averages over splits (Forest, unit prices 2; Forest, drawn" in note for note in table.notes)
    least, behind, paid = table.breakdowns
    assert least.rows["letter, drawn prices"][:1] == ["all equal"]
    assert least.rows["letter, drawn prices"][-1:] == ["BudgetForest, adaptive; BudgetRF"]
    assert behind.rows["letter, drawn prices"] == ["+0.0"] * 5 + ["-8.0"] * 5
    assert paid.rows["letter, drawn prices: BudgetRF"] == pytest.approx([2] * 5 + [3] * 5)
    assert any("Forest, unit prices 10 (below at 5); Forest, drawn" in note for note in table.notes)
    [picture] = table.pictures
    assert len(picture.panels) == len(nan.PROBLEMS)
    assert picture.panels[0].own_x["BudgetRF"] == pytest.approx([2] * 5 + [3] * 5)


def test_margins_count_the_best_rival():
    def curve(*errors):
        return nan.BudgetCurve(np.zeros(len(errors)), np.array(errors))

    curves = {"either": curve(10, 10, 10), "lazy": curve(9, 12, 10), "coupled": curve(20, 11, 10.0)}
    assert nan.margins(curves).tolist() == [1, -1, 0]
    note = nan._verdicts({"a problem": curves, "another": {**curves, "plain": curve(1, 1, 1)}})
    assert note == [
        "Of the 10 budgets, *ours, forest or cascade* is at or below the best rival at:"
        " a problem 2 (below at 1); another 0 (below at 0)."
    ]


def test_figure_5_by_hand():
    def error(cell, i):
        if "powers" in cell.parameters:
            return 0.3 - 0.03 * i
        early = cell.parameters == "alpha=25" and cell.data != "votes"
        return 0.2 if early else 0.4

    table = grid("figure5").table(made_up("figure5", error=error), False, 0)
    assert table.entries["Sonar: pairs, α > 0", "1"].ours.mean == pytest.approx(20)
    assert table.entries["House Votes: pairs, α > 0", "1"].ours.mean == pytest.approx(40)
    assert table.entries["Sonar: powers", "10"].ours.mean == pytest.approx(0)
    [counts] = table.breakdowns
    assert [counts.rows[what][0] for what in counts.rows] == ["7", "0", "1"]
    assert [counts.rows[what][-1] for what in counts.rows] == ["0", "0", "8"]
    assert len(table.pictures[0].panels) == 8


def test_figure_5_takes_the_ninth_set_from_the_folder(tmp_path):
    assert "mammography" not in {cell.data for cell in grid("figure5").cells(False, 0)}
    (tmp_path / "mammographic.csv").write_text("age,shape,class\n30,1,0\n60,2,1\n60,2,1\n61,1,0\n")
    with_it, lines = grid("figure5").in_folder(str(tmp_path), False)
    cells = [cell for cell in with_it.cells(False, 0) if cell.data == "mammography"]
    assert len(cells) == len(nan.IMPURITIES)
    assert not lines
    numbers = {cell: FAMILY.measure(cell, str(tmp_path)) for cell in cells}
    table = with_it.table(numbers, False, 0)
    assert table.entries["Mammography: powers", "10"].ours.mean == 0
    assert not any("ninth set" in note for note in table.notes)
    assert any("it was not there" in note for note in grid("figure5").table({}, False, 0).notes)


def test_a_rival_that_has_not_run_is_left_out():
    cells = {
        cell: numbers
        for cell, numbers in made_up("figure4").items()
        if not (cell.learner == "selected-forest" and cell.data == "letter")
    }
    table = grid("figure4").table(cells, False, 0)
    assert "letter, drawn prices: BudgetForest, adaptive" in table.rows
    assert "letter, drawn prices: selected tests + forest" not in table.rows
    assert "adult, drawn prices: selected tests + forest" in table.rows


@needs_folder
def test_the_command(tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["reproduce", "nan-figure5", "--quick", "--data", FOLDER, "--out", str(out), "--jobs", "1"]
    assert cli.run(arguments) == 0
    assert "Figure 5" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {
        "cells-nan.csv",
        "nan-figure5.csv",
        "nan-figure5.md",
        "nan-figure5.png",
    }
    assert cli.run([*arguments, "--quiet"]) == 0  # nothing is measured again
    lines = (out / "cells-nan.csv").read_text().splitlines()
    assert len(lines) == 1 + len(grid("figure5").cells(True, 0))

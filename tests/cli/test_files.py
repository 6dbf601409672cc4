"""Writing results as CSV, JSON or Excel."""

import json
from pathlib import Path

import pytest

from worthwhile.cli.files import results_writer
from worthwhile.excel import read_rows

ROWS = [{"name": "a, b", "cost": 1.5, "more": None}]


def test_the_suffix_chooses_the_format(tmp_path):
    results_writer(tmp_path / "r.csv")(ROWS)
    results_writer(tmp_path / "r.JSON")(ROWS)
    assert (tmp_path / "r.csv").read_text() == 'name,cost,more\n"a, b",1.5,\n'
    assert json.loads((tmp_path / "r.JSON").read_text()) == ROWS


def test_results_in_excel(tmp_path):
    pytest.importorskip("openpyxl")
    results_writer(tmp_path / "r.xlsx")(ROWS)
    assert list(read_rows(tmp_path / "r.xlsx")) == [("name", "cost", "more"), ("a, b", 1.5)]


def test_without_a_file_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results_writer(None)(ROWS)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_suffix_is_refused_before_the_work():
    with pytest.raises(ValueError, match=r"a\.txt: unknown suffix '\.txt'; use \.csv, \.json"):
        results_writer(Path("a.txt"))

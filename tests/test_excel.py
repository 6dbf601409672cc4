"""Rows of Excel sheets: what is read and written, and files that cannot be read."""

import datetime as dt
import io
import math
import sys
import zipfile
from pathlib import Path

import pytest

from worthwhile import excel
from worthwhile.excel import cell_text, fits_cell, read_rows, write_rows

openpyxl = pytest.importorskip("openpyxl")


def test_values_come_back_as_they_were(tmp_path):
    rows = [
        ("name", "x", "day", "yes", "note"),
        ("a", 1.5, dt.datetime(2024, 3, 31), True, "z"),
        ("=1+1", 2, dt.datetime(2024, 3, 31, 12, 30), False, "007"),
    ]
    path = tmp_path / "a.xlsx"
    path.write_bytes(write_rows(rows))
    assert list(read_rows(path)) == rows
    sheet = openpyxl.load_workbook(path).active
    assert sheet["A3"].data_type == "s"  # a text, not a formula
    assert sheet["A1"].font.bold


def test_what_excel_has_no_cell_for():
    aware = dt.datetime(2024, 3, 31, tzinfo=dt.UTC)
    content = write_rows([["x"], [math.nan], ["a\x01b"], [aware], [("t",)], ["x" * 40_000]])
    values = [row[0] for row in openpyxl.load_workbook(io.BytesIO(content)).active.values]
    assert values[:5] == ["x", None, "a\ufffdb", str(aware), "('t',)"]
    assert len(values[5]) == excel.MAX_CELL
    assert fits_cell("Größe")
    assert not fits_cell("a\x01b")


def test_too_many_rows(monkeypatch):
    monkeypatch.setattr(excel, "MAX_ROWS", 2)
    with pytest.raises(ValueError, match="an Excel sheet has at most 2 rows and 16,384 columns; write a CSV file"):
        write_rows([["x"], [1], [2]])


def test_a_sheet_with_more_rows_than_excel_has_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "long.xlsx"
    path.write_bytes(write_rows([["x"], [1], [2]]))
    monkeypatch.setattr(excel, "MAX_ROWS", 2)
    rows = read_rows(path)
    assert [next(rows), next(rows)] == [("x",), (1,)]
    with pytest.raises(ValueError, match=r"long.xlsx: is not a readable Excel file: a sheet has at most 2 rows"):
        next(rows)


def test_cells_as_text():
    cells = [None, "a", 3, 3.0, 1e300, 0.1, False, dt.date(2024, 3, 31), dt.datetime(2024, 3, 31, 8), dt.time(8)]
    wanted = ["", "a", "3", "3", "1e+300", "0.1", "False", "2024-03-31", "2024-03-31 08:00:00", "08:00:00"]
    assert list(map(cell_text, cells)) == wanted
    assert cell_text(dt.timedelta(hours=36)) == "1.5"


def test_sheets_by_name_and_progress(tmp_path, monkeypatch):
    book = openpyxl.Workbook()
    book.active.append(["first"])
    other = book.create_sheet("other")
    for i in range(7):
        other.append([i])
    book.save(tmp_path / "a.xlsx")
    assert list(read_rows(tmp_path / "a.xlsx")) == [("first",)]
    monkeypatch.setattr(excel, "TELL_ROWS", 3)
    told = []
    assert len(list(read_rows(tmp_path / "a.xlsx", "other", lambda *now: told.append(now)))) == 7
    assert told == [(3, 7), (6, 7)]
    with pytest.raises(ValueError, match=r"a.xlsx: no sheet 'third'; its sheets are 'Sheet', 'other'"):
        list(read_rows(tmp_path / "a.xlsx", "third"))


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"a.xlsx: no such file"):
        list(read_rows(tmp_path / "a.xlsx"))
    with pytest.raises(ValueError, match="is not a file"):
        list(read_rows(tmp_path))
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"a.xlsx: is not a readable Excel file: "):
        list(read_rows(tmp_path / "a.xlsx"))
    content = write_rows([["x"], [1]])
    (tmp_path / "a.xlsx").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"a.xlsx: is not a readable Excel file"):
        list(read_rows(tmp_path / "a.xlsx"))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    message = (
        r"a.xlsx: Excel files need openpyxl, which is not installed: pip install 'worthwhile\[excel\]', or use a CSV"
    )
    with pytest.raises(ValueError, match=message):
        list(read_rows(Path("a.xlsx")))


def test_a_file_that_unpacks_to_many_times_its_size_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.xlsx"
    path.write_bytes(excel.write_rows([["a", "b"], [1, 2]]))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet2.xml", b" " * 10_000_000)
    assert len(list(excel.read_rows(path))) == 2  # small enough
    monkeypatch.setattr(excel, "SMALL", 1_000_000)
    with pytest.raises(ValueError, match=r"bomb.xlsx: .* more than 200 times its size; save it as CSV"):
        next(excel.read_rows(path))


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.xlsx"
    path.write_bytes(excel.write_rows([["a", "b"], *([[1, 2]] * 1000)]))
    assert len(list(excel.read_rows(path))) == 1001
    monkeypatch.setattr(excel, "MAX_UNPACKED", 40_000)
    with pytest.raises(
        ValueError, match=r"bomb.xlsx: is not a readable Excel file: it would unpack to 0.0 GB, more than"
    ):
        next(excel.read_rows(path))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/sharedStrings2.xml", b" " * 10_000_000)
    monkeypatch.setattr(excel, "MAX_UNPACKED", 40_000_000)
    with pytest.raises(ValueError, match=r"more than 0.005 GB; save it as CSV"):
        next(excel.read_rows(path))

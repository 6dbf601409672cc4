"""Tables in Excel sheets: headers, types of columns, empty rows and cells, and mistakes with their row."""

import datetime as dt

import numpy as np
import pytest

from worthwhile.costs.error_costs import is_missing
from worthwhile.table import csv_reader
from worthwhile.table.files import column_names, extend_table, read_table

openpyxl = pytest.importorskip("openpyxl")


def workbook(path, rows, title="Sheet"):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_types_empty_rows_and_empty_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "CHUNK_ROWS", 2)
    rows = [
        [None],
        ["age", " pain ", "day", "ok", "text number", None],
        [63, "none", dt.datetime(1970, 1, 2), True, "1,5"],
        [],
        [64.5, None, dt.datetime(1970, 1, 3, 12), False, "2"],
        [None, "angina", None, None, " "],
    ]
    found = read_table(workbook(tmp_path / "a.xlsx", rows))
    assert list(found.columns) == ["age", "pain", "day", "ok", "text number"]
    lists = {name: [None if is_missing(v) else v for v in column.tolist()] for name, column in found.columns.items()}
    assert lists == {
        "age": [63.0, 64.5, None],
        "pain": ["none", None, "angina"],
        "day": [1.0, 2.5, None],
        "ok": ["True", "False", None],
        "text number": [1.5, 2.0, None],
    }
    assert found.dates == {"day"}
    assert found.location(2) == f"{tmp_path / 'a.xlsx'}, row 6"


def test_mistakes_are_reported_with_their_row(tmp_path):
    path = tmp_path / "a.xlsx"
    words = r"a.xlsx, row 1: has a single cell, 'Ward 7', but the lines below have 2; if it is a title, remove it"
    with pytest.raises(ValueError, match=words):
        column_names(workbook(path, [["Ward 7"], [], ["age", "class"], [63, "sick"]]))
    with pytest.raises(ValueError, match=r"a.xlsx: the sheet is empty"):
        column_names(workbook(path, []))
    with pytest.raises(ValueError, match=r"a.xlsx: has 1 columns, but no cases"):
        read_table(workbook(path, [["x"]]))
    with pytest.raises(ValueError, match=r"a.xlsx, row 1: two columns are named 'x'"):
        column_names(workbook(path, [["x", "x"]]))
    with pytest.raises(ValueError, match=r"a.xlsx, row 3: has a value in column 2, but there are 1 column names"):
        read_table(workbook(path, [["x"], [1], [2, 3]]))
    with pytest.raises(ValueError, match=r"a.xlsx, row 4: column 'x' is numeric, but contains '#DIV/0!'"):
        read_table(workbook(path, [["x"], [1], [2], ["#DIV/0!"]]))


@pytest.mark.parametrize("suffix", [".xlsx", ".csv", ".parquet"])
def test_added_columns(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    rows = [["x", "day", "mixed"], [1.5, dt.datetime(2024, 3, 31), "a"], [None, None, 2]]
    source = workbook(tmp_path / "a.xlsx", rows)
    extend_table(source, tmp_path / f"b{suffix}", {"answer": ["p", "q"], "price": [1.0, 2.5]})
    found = read_table(tmp_path / f"b{suffix}", nominal=["mixed"])
    assert list(found.columns) == ["x", "day", "mixed", "answer", "price"]
    assert found.columns["mixed"].tolist() == ["a", "2"]
    assert found.columns["answer"].tolist() == ["p", "q"]
    assert found.columns["price"].tolist() == [1.0, 2.5]
    assert np.array_equal(found.columns["day"], [19813.0, np.nan], equal_nan=True)


def test_workbooks_with_macros_are_not_written(tmp_path):
    source = workbook(tmp_path / "a.xlsx", [["x"], [1]])
    with pytest.raises(ValueError, match=r"b.xlsm: Excel files are written as .xlsx"):
        extend_table(source, tmp_path / "b.xlsm", {"answer": ["p"]})


def test_csv_becomes_excel(tmp_path):
    (tmp_path / "a.csv").write_text("x;code;t\n1,5;007;a\n;1234567890123456789;=b\n")
    found = read_table(tmp_path / "a.csv", only=["x"])
    extend_table(found.source, tmp_path / "b.xlsx", {"answer": ["p", None]})
    values = list(openpyxl.load_workbook(tmp_path / "b.xlsx").active.values)
    assert values == [
        ("x", "code", "t", "answer"),
        (1.5, "007", "a", "p"),
        (None, "1234567890123456789", "=b", None),
    ]

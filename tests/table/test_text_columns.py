"""Columns of text cells: decimal commas, thousands, dates; and what is refused because it may mean two things."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worthwhile.table import csv_reader
from worthwhile.table.files import read_table
from worthwhile.table.text_columns import parse_number


def table(tmp_path, text, **options):
    path = tmp_path / "a.csv"
    path.write_text(text)
    return read_table(path, **options)


def column(tmp_path, cells, delimiter=";", **options):
    rows = "".join(f'"{cell}"{delimiter}1\n' for cell in cells)
    found = table(tmp_path, f"x{delimiter}y\n{rows}", **options)
    return found.columns["x"].tolist(), found.source.decimal


@pytest.mark.parametrize("chunk", [1, 2, 4096])
def test_decimal_commas_are_detected(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(csv_reader, "CHUNK_ROWS", chunk)
    assert column(tmp_path, ["1", "2", "2,5", "-3e2"]) == ([1.0, 2.0, 2.5, -300.0], ",")
    assert column(tmp_path, ["0,5", "7"], delimiter=",") == ([0.5, 7.0], ",")
    assert column(tmp_path, ["1.5", "7"]) == ([1.5, 7.0], ".")
    found, _ = column(tmp_path, ["0,5", "?", "7"])
    assert found[::2] == [0.5, 7.0]
    assert math.isnan(found[1])


def test_thousands(tmp_path):
    assert column(tmp_path, ["1.234,5", "12.345.678", "7"])[0] == [1234.5, 12_345_678.0, 7.0]
    assert column(tmp_path, ["1,234.5", "12,345,678", "7"], decimal=".")[0] == [1234.5, 12_345_678.0, 7.0]
    assert column(tmp_path, ["1.234", "7"], decimal=",")[0] == [1234.0, 7.0]
    assert column(tmp_path, ["1,234", "7"])[0] == [1.234, 7.0]  # cells are separated by semicolons
    with pytest.raises(ValueError, match=r"a.csv: column 'x' contains '1,234': use --decimal , if the comma comes"):
        column(tmp_path, ["1,234", "7"], delimiter=",")
    assert column(tmp_path, ["1,234", "7"], delimiter=",", decimal=",")[0] == [1.234, 7.0]


def test_a_column_with_points_in_a_file_with_commas(tmp_path):
    found = table(tmp_path, "x;y;z\n0,5;1.25;1.000\n1,5;2.5;2.000\n")
    assert [found.columns[name].tolist() for name in "xyz"] == [[0.5, 1.5], [1.25, 2.5], [1000.0, 2000.0]]
    with pytest.raises(ValueError, match=r"column 'x' contains '0,5' and '1.5'; use the same decimal mark"):
        table(tmp_path, "x;y\n0,5;1\n1,5;2\n1.5;2\n")
    with pytest.raises(ValueError, match=r"line 5: column 'x' is numeric, but contains '1.5x'"):
        table(tmp_path, "x;y\n0,5;1\n1,5;2\n7;2\n1.5x;2\n")


def test_the_decimal_mark_may_be_given(tmp_path):
    with pytest.raises(ValueError, match=r"contains '0,5', but numbers have a decimal point here; use --decimal , or"):
        column(tmp_path, ["0,5", "1"], decimal=".")
    with pytest.raises(ValueError, match=r"--decimal ;: choose \. or ,"):
        column(tmp_path, ["0,5"], decimal=";")


def test_codes_do_not_depend_on_the_decimal_mark(tmp_path):
    found = table(tmp_path, "x;code\n0,5;1,0\n1,5;1.000\n", nominal=["code"])
    assert found.columns["code"].tolist() == ["1", "1.000"]


def test_texts_with_commas_stay_texts(tmp_path):
    found = table(tmp_path, 'x,t\n1,"a, b"\n2,"5,5 mg"\n')
    assert found.nominal() == ["t"]
    assert found.source.decimal == "."


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_numbers_with_commas_are_read_exactly(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text("x;y\n" + "".join(f"{value!r};1\n" for value in values).replace(".", ","))
    assert read_table(path, decimal=",").columns["x"].tolist() == values
    assert all(parse_number(repr(value)) == value for value in values)


@pytest.mark.parametrize("chunk", [1, 4096])
def test_dates(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(csv_reader, "CHUNK_ROWS", chunk)
    text = "a;b;c;d\n1970-01-02;03.01.1970;25/01/1970;x\n?;04.01.1970;01/02/1970;1970-01-01\n"
    found = table(tmp_path, text)
    assert found.dates == {"a", "b", "c"}
    assert found.nominal() == ["d"]
    assert found.columns["b"].tolist() == [2.0, 3.0]
    assert found.columns["c"].tolist() == [24.0, 31.0]
    assert np.isnan(found.columns["a"]).tolist() == [False, True]
    again = table(tmp_path, text, numeric=["a", "b", "c"])  # as a model reads new cases
    assert again.columns["c"].tolist() == [24.0, 31.0]
    assert table(tmp_path, text, nominal=["b"]).columns["b"].tolist() == ["03.01.1970", "04.01.1970"]


def test_dates_that_may_mean_two_days(tmp_path):
    cells = ["03/04/2024", "05/06/2024"]
    with pytest.raises(
        ValueError, match=r"a.csv: column 'x' contains '03/04/2024'; use --dates dmy if the day .*--drop x"
    ):
        column(tmp_path, cells)
    first = {order: column(tmp_path, cells, dates=order)[0][0] for order in ("dmy", "mdy")}
    assert first == {"dmy": 19816.0, "mdy": 19786.0}
    with pytest.raises(ValueError, match="--dates ymd: choose dmy or mdy"):
        column(tmp_path, cells, dates="ymd")
    with pytest.raises(ValueError, match=r"column 'x' contains '03.04.24'; write years with four digits"):
        column(tmp_path, ["03.04.24", "04.04.24"])

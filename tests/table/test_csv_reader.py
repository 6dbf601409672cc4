"""CSV files: delimiters, missing values, which columns are numeric, and mistakes reported with their line."""

import csv
import gzip
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worthwhile.table import csv_reader
from worthwhile.table.csv_reader import CsvFile
from worthwhile.table.files import column_names, read_table
from worthwhile.table.text_columns import MISSING


def table(tmp_path, text, name="a.csv", **options):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return read_table(path, **options)


def lists(found):
    return {name: column.tolist() for name, column in found.columns.items()}


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.CSV", "a.b.csv", "a.txt", "a.tsv"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_suffixes_and_line_ends(tmp_path, name, delimiter):
    rows = ["age,pain", "63,none", "64.5,angina", ""]
    for end in ("\n", "\r\n"):
        text = "\ufeff" + end.join(rows).replace(",", delimiter)
        assert lists(table(tmp_path, text, name)) == {"age": [63.0, 64.5], "pain": ["none", "angina"]}


def test_missing_values_in_numeric_and_nominal_columns(tmp_path):
    marks = sorted(MISSING)
    text = "x,t\n" + "".join(f"{mark}, {mark} \n" for mark in marks) + "1,a\n 2 ,b\n"
    found = lists(table(tmp_path, text))
    assert np.isnan(found["x"][: len(marks)]).all()
    assert found["x"][len(marks) :] == [1.0, 2.0]
    assert found["t"] == [None] * len(marks) + ["a", "b"]
    again = table(tmp_path, "x\n-9\n3\nnone\n", missing=["-9", "none"])
    assert np.isnan(again.columns["x"]).tolist() == [True, False, True]


def test_columns_are_numeric_if_most_cells_are_numbers(tmp_path):
    text = "n,t,empty,mixed\n" + "1,a,,1\n" + "2,b,,x\n" + "3,c,,y\n"
    found = table(tmp_path, text)
    assert found.nominal() == ["t", "mixed"]
    assert lists(found)["mixed"] == ["1", "x", "y"]
    assert np.isnan(found.columns["empty"]).all()


def test_a_nominal_column_may_start_with_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "CHUNK_ROWS", 2)
    text = "x,y\n" + "01,1\n2,2\n" + "a,3\nb,4\n" * 2 + "2,5\n"
    found = lists(table(tmp_path, text))
    assert found == {"x": ["01", "2", "a", "b", "a", "b", "2"], "y": [1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 5.0]}
    with pytest.raises(
        ValueError,
        match=r"a.csv, line 6: column 'x' is numeric, but contains 'b'; use --nominal x if the column is nominal",
    ):
        table(tmp_path, "x\n1\n2\n3\n4\nb\n")
    with pytest.raises(ValueError, match="is numeric, but contains") as error:
        table(tmp_path, f"x\n1\n2\n3\n4\n{'9' * 400}\n")
    assert len(str(error.value).split("is numeric")[1]) < 200


def test_nominal_codes_do_not_depend_on_how_numbers_are_written(tmp_path):
    for text in ("x\n1\n2\n10\n", "x\n1.0\n2.\n10.00\n"):
        assert lists(table(tmp_path, text, nominal=["x"])) == {"x": ["1", "2", "10"]}
    assert lists(table(tmp_path, "x\n01\n1.5\n-0.0\n", nominal=["x"])) == {"x": ["01", "1.5", "0"]}


@pytest.mark.parametrize("cell", ["1_5", "inf", "-Infinity", "1e999", "0x10", "1 2"])
def test_unusual_numbers_are_refused(tmp_path, cell):
    with pytest.raises(ValueError, match=r"line 4: column 'x' is numeric"):
        table(tmp_path, f"x\n1\n2\n{cell}\n")


def test_blank_lines_count_as_lines_but_not_as_cases(tmp_path):
    found = table(tmp_path, "\n\nx,y\n1,2\n\n  \n3,4\n\n")
    assert lists(found) == {"x": [1.0, 3.0], "y": [2.0, 4.0]}
    assert found.location(1).endswith("a.csv, line 7")
    with pytest.raises(ValueError, match=r"line 6: has 1 cell, but"):
        table(tmp_path, "\nx,y\n1,2\n\n\n3\n")


def test_a_wide_table(tmp_path):
    names = [f"column {j}" for j in range(20_000)]  # with the wrong delimiter: one cell, longer than csv allows
    for delimiter in (",", ";", "\t", "|"):
        (tmp_path / "a.csv").write_text(delimiter.join(names) + "\n" + delimiter.join("1" * len(names)) + "\n")
        assert column_names(tmp_path / "a.csv") == names


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_line_breaks_in_column_names(tmp_path, delimiter):
    text = '\n"chol, total;\n(mg/dl)",age\n200,63\n210,x\n'
    text = text.replace('",', f'"{delimiter}').replace("0,", f"0{delimiter}")
    found = table(tmp_path, text, nominal=["age"])
    assert lists(found) == {"chol, total;\n(mg/dl)": [200.0, 210.0], "age": ["63", "x"]}
    with pytest.raises(ValueError, match="line 5: column 'age' is numeric, but contains 'x'"):
        read_table(found.path, numeric=["age"])


def test_integers_too_large_for_a_float_are_nominal(tmp_path):
    large = ["1" * 400, "2" * 400]
    assert lists(table(tmp_path, "id\n" + "\n".join(large) + "\n")) == {"id": large}
    assert table(tmp_path, 'id\n"1,5"\n' + large[0] + "\n").nominal() == ["id"]


cells = st.one_of(
    st.sampled_from(["1", "2.5", "-3e2", "a", "b c", "?", "", "NA", "007", 'quo"te', "com,ma", "line\nbreak", "ü"]),
    st.integers(-5, 5).map(str),
)


@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=12), chunk=st.integers(1, 4))
def test_nominal_columns_contain_what_is_in_the_file(tmp_path_factory, rows, chunk):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([("x", "y"), *rows])
    path.write_text(buffer.getvalue(), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_reader, "CHUNK_ROWS", chunk)
        found = read_table(path, nominal=["x", "y"])
    # Both readers skip blank lines.
    wanted = [row for row in csv.reader(io.StringIO(buffer.getvalue(), newline="")) if row][1:]
    for name, values in zip("xy", zip(*wanted, strict=True), strict=True):
        assert found.columns[name].tolist() == [None if v.strip() in MISSING else v.strip() for v in values]


@given(
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=20).filter(
        lambda values: any(v is not None for v in values)
    )
)
def test_numbers_are_read_exactly(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text("x,y\n" + "".join(f"{'' if v is None else repr(v)},1\n" for v in values))
    found = read_table(path).columns["x"].tolist()
    assert [None if math.isnan(v) else v for v in found] == values


def test_a_line_is_not_read_without_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "MAX_LINE", 1000)
    path = tmp_path / "a.csv.gz"
    for text, line in (("x" * 10**6, 1), ("a,b\n1,2\n" + "3" * 10**6, 3)):
        path.write_bytes(gzip.compress(text.encode()))
        with pytest.raises(ValueError, match=rf"a\.csv\.gz, line {line}: has more than 1,000 characters"):
            read_table(path, only=["a"])
    path.write_bytes(gzip.compress(b"a,b\n" + b"1" * 995 + b",2\n1,2"))  # 998 characters
    assert read_table(path, only=["b"]).n_cases == 2


def test_wide_tables_are_read_in_chunks_of_few_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "CHUNK_CELLS", 10)
    path = tmp_path / "a.csv"
    for width, chunks in ((4, [2, 2, 1]), (20, [1] * 5)):
        rows = [[f"a{j}" for j in range(width)], *([str(i)] * width for i in range(5))]
        path.write_text("".join(",".join(row) + "\n" for row in rows))
        assert list(map(len, CsvFile(path).chunks())) == chunks


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "shift_jis"])
def test_the_line_of_an_undecodable_byte_is_found_across_blocks(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(csv_reader, "BLOCK", 7)
    path = tmp_path / "a.csv"
    good, bad = "a,b\n" + "1,\u30a2\n" * 9, b"\x00\xd8\n\x00" if encoding == "utf-16" else b"\xff\n"
    path.write_bytes(good.encode(encoding) + bad)
    with pytest.raises(ValueError, match=rf"line 11: cannot be read as {encoding.removesuffix('-sig')} \(byte 0x"):
        read_table(path, encoding=encoding)
    path.write_bytes((good + "\u30a2").encode(encoding)[:-1])  # cut off within a character
    with pytest.raises(ValueError, match=r"line 11: cannot be read as"):
        read_table(path, encoding=encoding)


@pytest.mark.parametrize("end", [";", ";;;", "; "])
def test_lines_that_end_with_a_delimiter(tmp_path, end):
    path = tmp_path / "a.csv"
    path.write_text(f"age;class{end}\n" + f"63;sick{end}\n" * 2 + "40;well\n")
    file = CsvFile(path)
    assert file.names == ["age", "class"]
    assert [row for chunk in file.chunks() for row in chunk] == [["63", "sick"], ["63", "sick"], ["40", "well"]]
    assert file.location(2) == f"{path}, line 4"
    path.write_text(f"age;class{end}\n63;sick;7\n")
    with pytest.raises(ValueError, match="line 2: has 3 cells, but the first line has 2 columns"):
        list(CsvFile(path).chunks())


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("filled", [False, True])
def test_a_title_above_the_column_names(tmp_path, delimiter, filled):
    path = tmp_path / "a.csv"
    title = "Ward 7" + 2 * delimiter * filled
    path.write_text(f"{title}\n" + "age,chol,class\n63,200,sick\n40,180,well\n".replace(",", delimiter))
    words = "line 1: has a single cell, 'Ward 7', but the lines below have 3; if it is a title, remove it"
    with pytest.raises(ValueError, match=words):
        _ = CsvFile(path).names


def test_a_title_with_commas_above_cells_with_decimal_commas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Ward 7, May, final\nage;rate, %;class;\n63;2,5;sick;\n40;3,5;well;\n")
    with pytest.raises(ValueError, match="line 1: has a single cell, 'Ward 7, May, final', but the lines below have 4"):
        _ = CsvFile(path).names
    path.write_text("age,class\n63,sick\n40\n")
    assert CsvFile(path).names == ["age", "class"]


def test_advice_quotes_names_with_spaces(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("years here,class\n" + "1,sick\n2,well\n" * 3 + "n.a.,sick\n")
    with pytest.raises(ValueError, match=r"use --nominal 'years here' if the column is nominal, --missing 'n\.a\.'"):
        read_table(path)

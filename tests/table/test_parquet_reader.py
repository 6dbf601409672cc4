"""Parquet files: types, large integers, added columns, and what is refused."""

import datetime
import gzip
import math

import numpy as np
import pytest

from worthwhile.table import parquet_reader
from worthwhile.table.files import column_names, extend_table, read_table

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def write(path, columns):
    parquet.write_table(pyarrow.table(columns), path)
    return path


def lists(found):
    return {name: column.tolist() for name, column in found.columns.items()}


@pytest.fixture
def path(tmp_path):
    columns = {
        "i": [1, None, 3],
        "f": [0.5, float("nan"), None],
        "t": ["a", None, "b"],
        "b": [True, False, None],
        "y": pyarrow.array([1, 0, 1], pyarrow.int8()),
        "c": pyarrow.array(["a", None, "b"]).dictionary_encode(),
    }
    return write(tmp_path / "a.parquet", columns)


def test_columns_have_the_types_of_the_file(path):
    found = read_table(path)
    assert column_names(path) == ["i", "f", "t", "b", "y", "c"]
    assert found.nominal() == ["t", "b", "c"]
    assert lists(found)["t"] == lists(found)["c"] == ["a", None, "b"]
    assert lists(found)["b"] == ["True", "False", None]
    assert [None if math.isnan(v) else v for v in lists(found)["i"]] == [1.0, None, 3.0]
    assert np.isnan(found.columns["f"]).tolist() == [False, True, True]
    assert found.classes("y").tolist() == [1, 0, 1]
    assert lists(read_table(path, nominal=["i"]))["i"] == ["1", None, "3"]
    assert lists(read_table(path, nominal=["f"]))["f"] == ["0.5", None, None]
    with pytest.raises(ValueError, match="row 1: column 't' is numeric, but contains 'a'"):
        read_table(path, numeric=["t"])


def test_infinity_is_refused_where_it_is(tmp_path):
    path = write(tmp_path / "a.parquet", {"x": [1.0, None, -math.inf], "y": [1, 2, 3]})
    with pytest.raises(
        ValueError, match=r"a.parquet, row 3: column 'x' contains infinity; use NaN for a missing value"
    ):
        read_table(path)
    assert read_table(path, drop=["x"]).n_cases == 3


def test_booleans_can_be_declared_numeric(tmp_path):
    found = read_table(write(tmp_path / "a.parquet", {"x": [True, None, False]}), numeric=["x"]).columns["x"]
    assert [None if math.isnan(v) else v for v in found] == [1.0, None, 0.0]


def test_strings_can_be_declared_numeric(tmp_path):
    found = read_table(write(tmp_path / "a.parquet", {"x": ["1.5", None, "-2"]}), numeric=["x"])
    assert [None if math.isnan(v) else v for v in lists(found)["x"]] == [1.5, None, -2.0]


def test_large_integers_are_exact_as_classes_and_rounded_as_numbers(tmp_path):
    large = 2**53
    columns = {"id": [large, large + 1, None], "y": [large, large + 1, large]}
    path = write(tmp_path / "a.parquet", columns)
    found = read_table(path, nominal=["y"])
    assert found.columns["id"][:2].tolist() == [float(large)] * 2
    assert np.isnan(found.columns["id"][2])
    assert found.classes("y").tolist() == [large, large + 1, large]
    assert lists(read_table(path, nominal=["id"]))["id"] == [str(large), str(large + 1), None]


def test_column_names_are_read_without_the_cases(path, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("the cases were read")

    monkeypatch.setattr(parquet.ParquetFile, "read", refuse)
    assert column_names(path) == ["i", "f", "t", "b", "y", "c"]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_csv_with_line_breaks_in_cells_becomes_parquet(tmp_path, name):
    n = 80_000  # more than one block of pyarrow (1 MB), and the last cell of x is not a number
    text = '"the\nnote",x\n' + '"a long\nnote",1\n' * n + '"c\nd",last\n'
    content = text.encode()
    assert len(content) > 2**20
    (tmp_path / name).write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    extend_table(tmp_path / name, tmp_path / "b.parquet", {"answer": ["p"] * n + ["q"]})
    found = parquet.read_table(tmp_path / "b.parquet")
    assert found.column_names == ["the\nnote", "x", "answer"]
    assert found.slice(n).to_pylist() == [{"the\nnote": "c\nd", "x": "last", "answer": "q"}]
    assert found["the\nnote"].unique().to_pylist() == ["a long\nnote", "c\nd"]


def test_a_csv_file_that_cannot_become_parquet_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n1,2,3\n")
    with pytest.raises(ValueError, match=r"a.csv: cannot be written as Parquet: "):
        parquet_reader.extend_csv(tmp_path / "a.csv", (",", "utf-8-sig", "."), {"z": [1, 2]})


def test_dates_become_days(tmp_path):
    moment = datetime.datetime(1970, 1, 3, 12)
    content = {
        "day": [datetime.date(1970, 1, 2), None],
        "time": [moment, None],
        "zone": [moment.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=12))), None],
        "span": [datetime.timedelta(hours=6), None],
        "text": ["1970-01-05", None],
    }
    path = write(tmp_path / "a.parquet", content)
    found = read_table(path, numeric=["text"])
    assert [found.columns[name][0] for name in content] == [1.0, 2.5, 2.0, 0.25, 4.0]
    assert all(np.isnan(found.columns[name][1]) for name in content)
    assert found.dates == {"day", "time", "zone", "span"}
    assert read_table(path, nominal=["day"]).columns["day"].tolist() == ["1970-01-02", None]


def test_unsupported_types_are_refused_unless_dropped(tmp_path):
    path = write(tmp_path / "a.parquet", {"hour": [datetime.time(8)], "x": [1]})
    message = r"column 'hour' has the type time64.*, which is neither numeric nor nominal; use --drop hour"
    with pytest.raises(ValueError, match=message):
        read_table(path)
    assert list(read_table(path, drop=["hour"]).columns) == ["x"]


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"a.parquet: the file has no cases"):
        read_table(write(tmp_path / "a.parquet", {"x": []}))
    with pytest.raises(FileNotFoundError, match=r"b.parquet: no such file"):
        read_table(tmp_path / "b.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"b.parquet: is not a readable Parquet file: "):
        read_table(tmp_path / "b.parquet")
    twice = pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], names=["x", "x"])
    parquet.write_table(twice, tmp_path / "c.parquet")
    with pytest.raises(ValueError, match=r"c.parquet: two columns are named 'x'; every column needs a unique name"):
        read_table(tmp_path / "c.parquet")


def test_added_columns(path, tmp_path):
    extend_table(path, tmp_path / "b.parquet", {"n": ["p", "q", "r"], "m": [0.5, None, 1.0]})
    found = parquet.read_table(tmp_path / "b.parquet").to_pydict()
    assert found["i"] == [1, None, 3]
    assert found["m"] == [0.5, None, 1.0]
    text = extend_table(path, None, {"n": [1, 2, 3]})
    assert text.splitlines()[:2] == ["i,f,t,b,y,c,n", "1,0.5,a,True,1,a,1"]


def test_text_that_is_not_utf8_is_named_with_its_file_and_column(tmp_path):
    path = tmp_path / "a.parquet"
    bad = pyarrow.array([b"fine", b"\xff"], pyarrow.binary()).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"x": bad, "n": [1, 2]}), path)
    words = r"a\.parquet: column 'x' is not UTF-8 text \(byte 0xff\); save the file as UTF-8"
    with pytest.raises(ValueError, match=words):
        read_table(path)
    with pytest.raises(ValueError, match=words):
        extend_table(path, tmp_path / "b.csv", {"answer": [1, 2]})

"""Data tables: columns to read, classes, possible codes and ids, added columns."""

import csv
import gzip
import io
import math

import numpy as np
import pytest

from counting import CountedName, counted
from worthwhile.table import csv_reader
from worthwhile.table import files as table_files
from worthwhile.table.csv_reader import CsvFile
from worthwhile.table.files import extend_table, read_table


def table(tmp_path, text, name="a.csv", **options):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return read_table(path, **options)


def lists(found):
    return {name: column.tolist() for name, column in found.columns.items()}


def test_only_and_drop(tmp_path):
    text = "id,x,y\na1,1,2\nb,3,z\nc,3,4\nd,5,6\n"
    assert list(table(tmp_path, text, drop=["y"]).columns) == ["id", "x"]
    assert list(table(tmp_path, text, only=["x", "id"]).columns) == ["id", "x"]
    with pytest.raises(ValueError, match="column 'y' is numeric, but contains 'z'"):
        table(tmp_path, text, numeric=["y"])


def test_columns_that_may_be_codes_or_ids(tmp_path):
    rows = "".join(f"{i % 4},{i % 2},{i},n{i},{i / 2}\n" for i in range(60))
    found = table(tmp_path, "code,bit,many,name,half\n" + rows)
    assert found.possible_codes() == ["code"]
    assert found.identifiers() == ["name"]


def test_classes_are_integers_if_all_of_them_are(tmp_path):
    def classes(*cells, **options):
        return (
            table(tmp_path, "x,y\n" + "".join(f"1,{cell}\n" for cell in cells), nominal=["y"])
            .classes("y", **options)
            .tolist()
        )

    assert classes("0", "1", "1.0", "0") == [0, 1, 1, 0]
    assert classes("-1", "+1", "-1") == [-1, 1, -1]
    assert classes("01", "1", "1") == ["01", "1", "1"]
    assert classes("a", "b", "b") == ["a", "b", "b"]
    assert classes("0.5", "1.5", "0.5") == ["0.5", "1.5", "0.5"]
    assert classes("a", check=False) == ["a"]
    with pytest.raises(ValueError, match="only one class, 'a'"):
        classes("a", "a")


def test_large_integers_stay_different_classes(tmp_path):
    large = 2**53
    for classes in ([large, large + 1], [-(2**63), 2**63 - 1]):
        found = table(tmp_path, "x,y\n" + "".join(f"1,{one}\n" for one in classes * 2), nominal=["y"])
        assert found.classes("y").tolist() == classes * 2
        assert found.class_names("y") == set(map(str, classes))
    for beyond in (2**63, 10**400):  # more than 64 bits: strings
        found = table(tmp_path, f"x,y\n1,{beyond}\n1,{beyond + 1}\n1,{beyond}.0\n", nominal=["y"])
        assert found.classes("y").tolist() == [str(beyond), str(beyond + 1), str(beyond)]


def test_class_names_do_not_depend_on_how_numbers_are_written(tmp_path):
    found = table(tmp_path, "y\n1.0\n+1\n1\n-0.0\n0\n1.5\na\n", nominal=["y"])
    assert found.class_names("y") == {"1", "0", "1.5", "a"}


def test_unknown_names_give_columns_of_missing_values(tmp_path):
    found = table(tmp_path, "x,t\n1,a\n2,?\n")
    assert found.matrix(["x"]).dtype == np.float64
    whole = found.matrix(["t", "z", "x"])
    assert whole.dtype == object
    assert whole[:, 0].tolist() == ["a", None]
    assert all(math.isnan(value) for value in whole[:, 1])


# ---- writing


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv"])
def test_added_columns_leave_the_others_unchanged(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(csv_reader, "CHUNK_ROWS", 2)
    path = tmp_path / "a.csv"
    path.write_text('x;t\n1.50;"a;b"\n\n02;?\n3;"say ""hi"""\n')
    extend_table(path, tmp_path / f"b{suffix}", {"n": [1, 2, None], "m": ["p", "q,r", ""]})
    content = (tmp_path / f"b{suffix}").read_bytes()
    text = (gzip.decompress(content) if suffix.endswith("gz") else content).decode()
    rows = list(csv.reader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ";"))
    assert rows == [
        ["x", "t", "n", "m"],
        ["1.50", "a;b", "1", "p"],
        ["02", "?", "2", "q,r"],
        ["3", 'say "hi"', "", ""],
    ]
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["a.csv", f"b{suffix}"]


def test_an_existing_column_cannot_be_added(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,n\n1,2\n")
    with pytest.raises(ValueError, match=r"a.csv: already has a column 'n'; rename or remove it"):
        extend_table(path, None, {"n": [1]})


def test_the_suffix_names_the_format(tmp_path):
    with pytest.raises(ValueError, match=r"a.json: unknown suffix '.json' of a table; valid: .csv, "):
        read_table(tmp_path / "a.json")
    assert table_files.suffix_of(tmp_path / "x.tar.gz") == ".tar.gz"


def test_columns_are_chosen_in_one_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(CsvFile, "names", counted(500))
    monkeypatch.setattr(CsvFile, "delimiter", ",")
    monkeypatch.setattr(CsvFile, "chunks", lambda _: iter([[["1"] * 500]] * 3))
    table = read_table(tmp_path / "a.csv", only=counted(500), drop=counted(100), nominal=counted(500))
    assert list(table.columns) == [f"c{i}" for i in range(100, 500)]
    assert CountedName.count < 40 * 500


def test_too_many_classes_are_named_with_file_and_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{i},c{i % 5000}\n" for i in range(6000)))
    with pytest.raises(
        ValueError, match=r"a\.csv: column 'y' has 5,000 classes \('c0', .*; at most 4,096 are supported"
    ):
        read_table(path).classes("y")

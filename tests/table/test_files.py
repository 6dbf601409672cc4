"""Tables in files: what is read, what is guessed, what is written."""

import csv
import gzip
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worthwhile.table import csv_reader, parquet_reader
from worthwhile.table import files as table_files
from worthwhile.table.csv_reader import MISSING
from worthwhile.table.files import column_names, extend_table, read_table


def table(tmp_path, text, name="a.csv", **options):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return read_table(path, **options)


def lists(found):
    return {name: column.tolist() for name, column in found.columns.items()}


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.CSV", "a.b.csv", "a.txt", "a.tsv"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_separators_suffixes_and_line_ends(tmp_path, name, delimiter):
    rows = ["age,pain", "63,none", "64.5,angina", ""]
    for end in ("\n", "\r\n"):
        text = "\ufeff" + end.join(rows).replace(",", delimiter)
        assert lists(table(tmp_path, text, name)) == {"age": [63.0, 64.5], "pain": ["none", "angina"]}


def test_missing_values_in_numbers_and_texts(tmp_path):
    marks = sorted(MISSING)
    text = "x,t\n" + "".join(f"{mark}, {mark} \n" for mark in marks) + "1,a\n 2 ,b\n"
    found = lists(table(tmp_path, text))
    assert np.isnan(found["x"][: len(marks)]).all()
    assert found["x"][len(marks) :] == [1.0, 2.0]
    assert found["t"] == [None] * len(marks) + ["a", "b"]
    again = table(tmp_path, "x\n-9\n3\nnone\n", missing=["-9", "none"])
    assert np.isnan(again.columns["x"]).tolist() == [True, False, True]


def test_columns_are_numbers_where_most_cells_are(tmp_path):
    text = "n,t,empty,mixed\n" + "1,a,,1\n" + "2,b,,x\n" + "3,c,,y\n"
    found = table(tmp_path, text)
    assert found.nominal() == ["t", "mixed"]
    assert lists(found)["mixed"] == ["1", "x", "y"]
    assert np.isnan(found.columns["empty"]).all()


def test_a_column_that_begins_like_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "PIECE", 2)
    text = "x,y\n" + "01,1\n2,2\n" + "a,3\nb,4\n" * 2 + "2,5\n"
    found = lists(table(tmp_path, text))
    assert found == {"x": ["01", "2", "a", "b", "a", "b", "2"], "y": [1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 5.0]}
    with pytest.raises(ValueError, match=r"a.csv, line 6: column 'x' holds numbers, but 'b' here"):
        table(tmp_path, "x\n1\n2\n3\n4\nb\n")


def test_codes_that_are_declared_nominal_are_the_same_however_they_are_written(tmp_path):
    for text in ("x\n1\n2\n10\n", "x\n1.0\n2.\n10.00\n"):
        assert lists(table(tmp_path, text, nominal=["x"])) == {"x": ["1", "2", "10"]}
    assert lists(table(tmp_path, "x\n01\n1.5\n-0.0\n", nominal=["x"])) == {"x": ["01", "1.5", "0"]}


@pytest.mark.parametrize("cell", ["1_5", "inf", "-Infinity", "1e999", "0x10", "1 2"])
def test_numbers_that_people_do_not_write(tmp_path, cell):
    with pytest.raises(ValueError, match=r"line 4: column 'x' holds numbers"):
        table(tmp_path, f"x\n1\n2\n{cell}\n")


def test_blank_lines_do_not_count_as_cases_but_as_lines(tmp_path):
    found = table(tmp_path, "\n\nx,y\n1,2\n\n  \n3,4\n\n")
    assert lists(found) == {"x": [1.0, 3.0], "y": [2.0, 4.0]}
    assert found.place(1).endswith("a.csv, line 7")
    with pytest.raises(ValueError, match=r"line 6: has 1 cell, but"):
        table(tmp_path, "\nx,y\n1,2\n\n\n3\n")


def test_only_and_drop(tmp_path):
    text = "id,x,y\na1,1,2\nb,3,z\nc,3,4\nd,5,6\n"
    assert list(table(tmp_path, text, drop=["y"]).columns) == ["id", "x"]
    assert list(table(tmp_path, text, only=["x", "id"]).columns) == ["id", "x"]
    with pytest.raises(ValueError, match="column 'y' is one of numbers, but holds 'z'"):
        table(tmp_path, text, numeric=["y"])


def test_guesses_that_a_person_should_look_at(tmp_path):
    rows = "".join(f"{i % 4},{i % 2},{i},n{i},{i / 2}\n" for i in range(60))
    found = table(tmp_path, "code,bit,many,name,half\n" + rows)
    assert found.like_codes() == ["code"]
    assert found.like_names() == ["name"]


def test_classes(tmp_path):
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
    assert classes("a", decide=False) == ["a"]
    with pytest.raises(ValueError, match="only one class, 'a'"):
        classes("a", "a")


def test_large_numbers_are_classes_of_their_own(tmp_path):
    large = 2**53
    for classes in ([large, large + 1], [-(2**63), 2**63 - 1]):
        found = table(tmp_path, "x,y\n" + "".join(f"1,{one}\n" for one in classes * 2), nominal=["y"])
        assert found.classes("y").tolist() == classes * 2
        assert found.class_texts("y") == set(map(str, classes))
    for beyond in (2**63, 10**400):  # no whole number of the machine: texts
        found = table(tmp_path, f"x,y\n1,{beyond}\n1,{beyond + 1}\n1,{beyond}.0\n", nominal=["y"])
        assert found.classes("y").tolist() == [str(beyond), str(beyond + 1), str(beyond)]


def test_classes_are_known_by_the_same_text_however_they_are_written(tmp_path):
    found = table(tmp_path, "y\n1.0\n+1\n1\n-0.0\n0\n1.5\na\n", nominal=["y"])
    assert found.class_texts("y") == {"1", "0", "1.5", "a"}


def test_a_wide_table(tmp_path):
    names = [f"column {j}" for j in range(20_000)]  # with the wrong separator: one cell, longer than one may be
    for delimiter in (",", ";", "\t", "|"):
        (tmp_path / "a.csv").write_text(delimiter.join(names) + "\n" + delimiter.join("1" * len(names)) + "\n")
        assert column_names(tmp_path / "a.csv") == names


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_line_breaks_in_the_names_of_columns(tmp_path, delimiter):
    text = '\n"chol, total;\n(mg/dl)",age\n200,63\n210,x\n'
    text = text.replace('",', f'"{delimiter}').replace("0,", f"0{delimiter}")
    found = table(tmp_path, text, nominal=["age"])
    assert lists(found) == {"chol, total;\n(mg/dl)": [200.0, 210.0], "age": ["63", "x"]}
    with pytest.raises(ValueError, match="line 5: column 'age' is one of numbers, but holds 'x'"):
        read_table(found.path, numeric=["age"])


def test_whole_numbers_beyond_all_numbers_are_texts(tmp_path):
    large = ["1" * 400, "2" * 400]
    assert lists(table(tmp_path, "id\n" + "\n".join(large) + "\n")) == {"id": large}
    with pytest.raises(ValueError, match="column 'id' holds '1,5': numbers need a decimal point"):
        table(tmp_path, 'id\n"1,5"\n' + large[0] + "\n")


def test_the_matrix_has_missing_columns_for_names_that_are_not_there(tmp_path):
    found = table(tmp_path, "x,t\n1,a\n2,?\n")
    assert found.matrix(["x"]).dtype == np.float64
    whole = found.matrix(["t", "z", "x"])
    assert whole.dtype == object
    assert whole[:, 0].tolist() == ["a", None]
    assert all(math.isnan(value) for value in whole[:, 1])


cells = st.one_of(
    st.sampled_from(["1", "2.5", "-3e2", "a", "b c", "?", "", "NA", "007", 'quo"te', "com,ma", "line\nbreak", "ü"]),
    st.integers(-5, 5).map(str),
)


@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=12), piece=st.integers(1, 4))
def test_nominal_columns_hold_what_is_in_the_file(tmp_path_factory, rows, piece):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([("x", "y"), *rows])
    path.write_text(buffer.getvalue(), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_reader, "PIECE", piece)
        found = read_table(path, nominal=["x", "y"])
    # Both readers skip lines that are blank.
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


# ---- writing


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv"])
def test_further_columns_leave_the_others_as_they_are(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(csv_reader, "PIECE", 2)
    path = tmp_path / "a.csv"
    path.write_text('x;t\n1.50;"a;b"\n\n02;?\n3;"say ""hi"""\n')
    extend_table(path, tmp_path / f"b{suffix}", {"n": [1, 2, None], "m": ["p", "q,r", ""]})
    content = (tmp_path / f"b{suffix}").read_bytes()
    text = (gzip.decompress(content) if suffix.endswith("gz") else content).decode()
    rows = list(csv.reader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ","))
    assert rows == [
        ["x", "t", "n", "m"],
        ["1.50", "a;b", "1", "p"],
        ["02", "?", "2", "q,r"],
        ["3", 'say "hi"', "", ""],
    ]
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["a.csv", f"b{suffix}"]


def test_a_name_that_is_taken_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,n\n1,2\n")
    with pytest.raises(ValueError, match=r"a.csv: has a column 'n' already"):
        extend_table(path, None, {"n": [1]})


# ---- Parquet


@pytest.fixture(params=["pyarrow", "polars"])
def library(request, monkeypatch):
    pytest.importorskip(request.param)
    monkeypatch.setattr(parquet_reader, "_library", lambda: request.param)
    return request.param


@pytest.fixture
def parquet(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "i": [1, None, 3],
            "f": [0.5, float("nan"), None],
            "t": ["a", None, "b"],
            "b": [True, False, None],
            "y": [1, 0, 1],
        },
        schema_overrides={"y": polars.Int8},
    ).with_columns(polars.col("t").cast(polars.Categorical).alias("c"))
    frame.write_parquet(tmp_path / "a.parquet")
    return tmp_path / "a.parquet"


def test_parquet_is_read_with_its_own_kinds(parquet, library):
    found = read_table(parquet)
    assert column_names(parquet) == ["i", "f", "t", "b", "y", "c"]
    assert found.nominal() == ["t", "b", "c"]
    assert lists(found)["t"] == lists(found)["c"] == ["a", None, "b"]
    assert lists(found)["b"] == ["True", "False", None]
    assert [None if math.isnan(v) else v for v in lists(found)["i"]] == [1.0, None, 3.0]
    assert np.isnan(found.columns["f"]).tolist() == [False, True, True]
    assert found.classes("y").tolist() == [1, 0, 1]
    assert lists(read_table(parquet, nominal=["i"]))["i"] == ["1", None, "3"]
    with pytest.raises(ValueError, match="row 1: column 't' is one of numbers, but holds 'a'"):
        read_table(parquet, numeric=["t"])


def test_large_whole_numbers_in_parquet(tmp_path, library):
    polars = pytest.importorskip("polars")
    path, large = tmp_path / "a.parquet", 2**53
    polars.DataFrame({"id": [large, large + 1, None], "y": [large, large + 1, large]}).write_parquet(path)
    found = read_table(path, nominal=["y"])
    assert found.columns["id"][:2].tolist() == [float(large)] * 2
    assert np.isnan(found.columns["id"][2])
    assert found.classes("y").tolist() == [large, large + 1, large]
    assert lists(read_table(path, nominal=["id"]))["id"] == [str(large), str(large + 1), None]


def test_the_names_of_parquet_columns_are_read_without_the_cases(parquet, library, monkeypatch):
    def refused(*arguments, **options):
        raise AssertionError("the whole file was read")

    monkeypatch.setattr(parquet_reader, "_load", refused)
    assert column_names(parquet) == ["i", "f", "t", "b", "y", "c"]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_line_breaks_in_cells_become_parquet(tmp_path, library, name):
    polars = pytest.importorskip("polars")
    n = 200_000  # more than the library reads at a time, and no number but in the last case
    text = '"the\nnote",x\n' + '"a\nb",1\n' * n + '"c\nd",last\n'
    source = table(tmp_path, text, name, nominal=["x"]).path
    extend_table(source, tmp_path / "b.parquet", {"answer": ["p"] * n + ["q"]})
    found = polars.read_parquet(tmp_path / "b.parquet")
    assert found.columns == ["the\nnote", "x", "answer"]
    assert found.row(-1) == ("c\nd", "last", "q")
    assert found["the\nnote"].unique().sort().to_list() == ["a\nb", "c\nd"]


def test_what_cannot_become_parquet_is_told_with_its_file(tmp_path, library):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n1,2,3\n")
    with pytest.raises(ValueError, match=r"a.csv: cannot be written as Parquet: "):
        parquet_reader.extend_csv(tmp_path / "a.csv", ",", {"z": [1, 2]})


def test_parquet_columns_that_are_neither(tmp_path, library):
    polars = pytest.importorskip("polars")
    import datetime

    path = tmp_path / "a.parquet"
    polars.DataFrame({"day": [datetime.date(2020, 1, 1)], "x": [1]}).write_parquet(path)
    with pytest.raises(ValueError, match="column 'day'"):
        read_table(path)
    assert list(read_table(path, drop=["day"]).columns) == ["x"]
    polars.DataFrame({"x": []}).write_parquet(path)
    with pytest.raises(ValueError, match="there is no case in the file"):
        read_table(path)


def test_parquet_gets_further_columns(parquet, library, tmp_path):
    polars = pytest.importorskip("polars")
    extend_table(parquet, tmp_path / "b.parquet", {"n": ["p", "q", "r"], "m": [0.5, None, 1.0]})
    found = polars.read_parquet(tmp_path / "b.parquet")
    assert found["i"].to_list() == [1, None, 3]
    assert found["m"].to_list() == [0.5, None, 1.0]
    text = extend_table(parquet, None, {"n": [1, 2, 3]})
    assert text.splitlines()[:2] == ["i,f,t,b,y,c,n", "1,0.5,a,True,1,a,1"]


def test_the_suffix_says_the_format(tmp_path):
    with pytest.raises(ValueError, match=r"a.json: unknown suffix '.json' of a table; valid: .csv, "):
        read_table(tmp_path / "a.json")
    assert table_files.suffix_of(tmp_path / "x.tar.gz") == ".tar.gz"

"""The bundled tables and price lists, data sets from a folder, and what is refused."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import math
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from worthwhile.datasets.loading import BUNDLED, TURNEY, Dataset, load, names

FOLDER = os.environ.get("WORTHWHILE_DATA", "")
needs_folder = pytest.mark.skipif(not FOLDER, reason="WORTHWHILE_DATA does not name a folder of data sets")

HEART_TESTS = ["age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca"]
HEART_TESTS += ["thal"]
HEART_NOMINAL = ["sex", "cp", "fbs", "restecg", "exang", "slope", "thal"]


def rows(dataset: Dataset) -> list[tuple[object, ...]]:
    """Return the cases with their class as tuples that can be compared: a missing value is None."""
    return [
        (*(None if isinstance(v, float) and math.isnan(v) else v for v in case), answer)
        for case, answer in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True)
    ]


def folder_file(name: str) -> list[tuple[object, ...]]:
    """Read a file of the folder in the simplest way, for comparison with `rows`."""

    def value(text: str) -> object:
        try:
            return float(text)
        except ValueError:
            return text or None

    with (Path(FOLDER) / f"{name}.csv").open(newline="") as file:
        return [(*map(value, row[:-1]), row[-1]) for row in list(csv.reader(file))[1:]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set WORTHWHILE_DATA to an empty folder."""
    monkeypatch.setenv("WORTHWHILE_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every import of pandas fail."""
    monkeypatch.setitem(sys.modules, "pandas", None)


# The bundled data


@pytest.mark.parametrize(
    ("name", "counts", "tests"),
    [
        ("heart", {"buff": 164, "sick": 139}, HEART_TESTS),
        ("bupa", {"lt3": 169, "ge3": 176}, ["mcv", "alkphos", "sgpt", "sgot", "gammagt"]),
        (
            "pima",
            {"0": 500, "1": 268},
            ["times_pregnant", "glucose_tol", "diastolic_bp", "triceps", "insulin", "mass_index", "pedigree", "age"],
        ),
    ],
)
def test_bundled_tables(name: str, counts: dict[str, int], tests: list[str]) -> None:
    data = load(name)
    assert Counter(data.y.tolist()) == counts
    assert data.X.shape == (sum(counts.values()), len(tests))
    assert data.feature_names == list(data.X.columns) == tests
    assert data.nominal == (HEART_NOMINAL if name == "heart" else [])
    assert data.y.dtype.kind == "U"


def test_heart_frame() -> None:
    X = load("heart", as_frame=True).X
    assert [c for c in X if X[c].dtype == "category"] == HEART_NOMINAL
    assert all(X[c].dtype == float for c in X if c not in HEART_NOMINAL)
    assert list(X["cp"].cat.categories) == ["abnang", "angina", "asympt", "notang"]
    assert X.iloc[0].tolist() == [63, "male", "angina", 145, 233, "true", "hyp", 150, "fal", 2.3, "down", 0, "fix"]


def test_heart_missing_values() -> None:
    data = load("heart")
    missing = data.X.isna()
    assert missing.sum()[lambda s: s > 0].to_dict() == {"ca": 4, "thal": 2}
    complete = ~missing.any(axis=1).to_numpy()
    assert Counter(data.y[complete].tolist()) == {"buff": 160, "sick": 137}


def test_prices_of_heart_are_those_of_the_paper() -> None:
    """Turney (1995), Table 17: as the first test of a group, and as a later one."""
    costs = load("heart").costs
    first = {"age": 1, "sex": 1, "cp": 1, "trestbps": 1, "chol": 7.27, "fbs": 5.20, "restecg": 15.50, "ca": 100.90}
    first |= {"thalach": 102.90, "thal": 102.90, "exang": 87.30, "oldpeak": 87.30, "slope": 87.30}
    assert {test: costs.price(test) for test in HEART_TESTS} == pytest.approx(first)
    later = [("chol", "fbs", 5.17), ("fbs", "chol", 3.10), ("thal", "thalach", 1), ("thalach", "thal", 1)]
    later += [("exang", "slope", 1), ("oldpeak", "exang", 1), ("slope", "oldpeak", 1), ("thal", "slope", 102.90)]
    for test, paid, price in later:
        assert costs.price(test, paid={paid}) == pytest.approx(price)
    immediate = {"age", "sex", "cp", "trestbps"}
    assert {test for test in HEART_TESTS if not costs.tests[test].delayed} == immediate


@pytest.mark.parametrize(
    ("name", "total"),
    [
        # four questions, blood, resting ECG, exercise scan (two results), exercise ECG (three), fluoroscopy
        ("heart", 4 * 1.00 + (7.27 + 3.10) + 15.50 + (102.90 + 1.00) + (87.30 + 2 * 1.00) + 100.90),
        ("bupa", 7.27 + 3 * 5.17 + 7.76),
        ("pima", 6 * 1.00 + 17.61 + 20.68),
    ],
)
def test_total_price(name: str, total: float) -> None:
    data = load(name)
    assert data.costs.total_price() == pytest.approx(total)
    assert set(data.costs.tests) == set(data.feature_names)


@pytest.mark.parametrize("name", BUNDLED)
def test_a_wrong_answer_costs_500(name: str) -> None:
    data = load(name)
    # Turney's equation 6: all tests, and the rarer class always wrong (two classes, uniform costs)
    rarer = min(Counter(data.y.tolist()).values()) / len(data.y)
    assert data.costs.standard_cost(data.y) == pytest.approx(data.costs.total_price() + 500 * rarer)


@pytest.mark.parametrize(("name", "credit"), [("heart", "Detrano"), ("bupa", "Forsyth"), ("pima", "Sigillito")])
def test_descriptions_give_credit(name: str, credit: str) -> None:
    description = load(name).description
    assert credit in description
    assert "CC BY 4.0" in description
    assert "#" not in description  # nothing of the next section


# The problems of Turney (1995)


def test_the_five_problems_have_names() -> None:
    assert TURNEY == ("turney-bupa", "turney-heart", "turney-hepatitis", "turney-pima", "turney-thyroid")
    assert set(TURNEY).isdisjoint(BUNDLED)


@pytest.mark.parametrize("as_frame", [True, False])
@pytest.mark.parametrize("source", ["bupa", "pima"])
def test_problems_made_from_bundled_data(source: str, as_frame: bool) -> None:
    """Nothing is missing there, and the zeros of pima stay."""
    made, whole = load(f"turney-{source}", as_frame=as_frame), load(source, as_frame=as_frame)
    assert made.name == f"turney-{source}"
    assert np.array_equal(np.asarray(made.X), np.asarray(whole.X))
    assert made.y.tolist() == whole.y.tolist()
    assert made.costs == whole.costs
    assert made.description.startswith("Prepared as in Turney (1995), Appendix A")
    assert whole.description in made.description


@pytest.mark.parametrize(
    ("name", "file"),
    [("turney-heart", "heart_cleve_mod"), ("turney-hepatitis", "hepatitis"), ("turney-thyroid", "thyroid_ann_train")],
)
def test_a_problem_names_the_file_that_it_needs(name: str, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORTHWHILE_DATA", raising=False)
    needed = (
        f"'{name}' is made from the file {file}.*; to load it, set .* WORTHWHILE_DATA .* {file}.csv or {file}.csv.gz"
    )
    with pytest.raises(ValueError, match=needed):
        load(name)


def test_a_problem_names_the_folder_that_lacks_its_file(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"the folder .* contains neither hepatitis.csv nor hepatitis.csv.gz"):
        load("turney-hepatitis")


# Frames and arrays


def test_without_pandas_there_are_arrays(no_pandas: None) -> None:
    heart = load("heart")
    assert isinstance(heart.X, np.ndarray)
    assert heart.X.dtype == object
    assert heart.X[0].tolist() == [63, "male", "angina", 145, 233, "true", "hyp", 150, "fal", 2.3, "down", 0, "fix"]
    thal, ca = HEART_TESTS.index("thal"), HEART_TESTS.index("ca")
    assert sum(value is None for value in heart.X[:, thal]) == 2
    assert np.isnan(heart.X[:, ca].astype(float)).sum() == 4
    assert heart.feature_names == HEART_TESTS
    assert heart.nominal == HEART_NOMINAL
    bupa = load("bupa")
    assert bupa.X.dtype == float
    assert bupa.X[0].tolist() == [85, 92, 45, 27, 31]


def test_a_frame_needs_pandas(no_pandas: None) -> None:
    with pytest.raises(ImportError, match="as_frame=True needs pandas"):
        load("heart", as_frame=True)


@pytest.mark.parametrize("name", BUNDLED)
def test_frame_and_array_hold_the_same(name: str) -> None:
    frame, array = load(name, as_frame=True), load(name, as_frame=False)
    as_objects = dataclasses.replace(frame, X=frame.X.astype(object).to_numpy())
    assert rows(as_objects) == rows(array)


def test_a_data_set_is_immutable_and_has_a_short_repr() -> None:
    data = load("bupa")
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"  # type: ignore[misc]
    assert len(repr(data)) < 200


# The folder


def test_names_without_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORTHWHILE_DATA", raising=False)
    assert names() == ["bupa", "heart", "pima", "turney-bupa", "turney-pima"]


def test_names_with_a_folder(folder: Path) -> None:
    (folder / "b.csv").write_text("x,class\n1,a\n")
    with gzip.open(folder / "a.csv.gz", "wt") as file:
        file.write("x,class\n1,a\n")
    (folder / "pima.csv").write_text("x,class\n1,a\n")
    (folder / "list.csv").write_text("name,size\nb,1\n")
    (folder / "empty.csv").write_text("")
    (folder / "broken.csv.gz").write_bytes(b"no archive")
    (folder / "hepatitis.csv").write_text("x,class\n1,a\n")
    (folder / "turney-bupa.csv").write_text("x,class\n1,a\n")
    turney = ["turney-bupa", "turney-hepatitis", "turney-pima"]
    assert names() == ["bupa", "heart", "pima", *turney, "a", "b", "hepatitis"]


def test_bundled_names_take_precedence_over_the_folder(folder: Path) -> None:
    (folder / "pima.csv").write_text("x,class\n1,a\n")
    assert len(load("pima").y) == 768


def test_a_file_of_the_users_own(folder: Path) -> None:
    (folder / "own.csv").write_text(
        '\ufeffn,text,code,gap,bin,class\n1,a,7,,1_5,yes\n\n?,"b,c",8,,1_6,no\n-2.5e1,?,9,,2_0,yes\n'
    )
    data = load("own", as_frame=False)
    assert data.nominal == ["text", "bin"]
    assert rows(data) == [
        (1, "a", 7, None, "1_5", "yes"),
        (None, "b,c", 8, None, "1_6", "no"),
        (-25, None, 9, None, "2_0", "yes"),
    ]
    assert data.costs.total_price() == 0
    assert data.costs.standard_cost(data.y) == pytest.approx(1 / 3)
    assert "3 cases, 5 tests (2 nominal), 2 classes" in data.description
    assert "free tests" in data.description


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity"])
def test_a_value_that_is_not_a_finite_number_makes_a_column_nominal(folder: Path, text: str) -> None:
    (folder / "own.csv").write_text(f"n,class\n1,a\n{text},b\n")
    assert load("own").nominal == ["n"]


def test_compressed_files_load(folder: Path) -> None:
    with gzip.open(folder / "own.csv.gz", "wt") as file:
        file.write("n,class\n1,a\n2,b\n")
    assert load("own", as_frame=False).X.tolist() == [[1], [2]]


def test_a_question_mark_is_a_value_of_annealing_only(folder: Path) -> None:
    for name in ("annealing", "other"):
        (folder / f"{name}.csv").write_text("steel,class\n?,1\nA,2\n")
    assert load("annealing", as_frame=False).X.tolist() == [["?"], ["A"]]
    assert load("other", as_frame=False).X.tolist() == [[None], ["A"]]


PRICES = "file,dataset,test,description,group,first_cost,later_cost,delayed\n"


def write_hepatitis(folder: Path, prices: str | None) -> None:
    (folder / "hepatitis.csv").write_text("age,bilirubin,albumin,class\n30,1,4,live\n40,2,3,die\n")
    if prices is not None:
        (folder / "costs").mkdir()
        (folder / "costs" / "turney1995_test_costs.csv").write_text(PRICES + prices)


def test_prices_from_the_folder(folder: Path) -> None:
    write_hepatitis(
        folder,
        "hepatitis,h,age,,,1,1,no\nbupa,b,mcv,,A,7.27,5.17,yes\n"
        "hepatitis,h,bilirubin,,A,7.27,5.17,yes\nhepatitis,h,albumin,,A,8.30,6.20,yes\n",
    )
    costs = load("hepatitis").costs
    assert costs.total_price() == pytest.approx(1 + 7.27 + 6.20)
    assert costs.price("albumin") == pytest.approx(8.30)
    assert costs.tests["albumin"].delayed
    assert not costs.tests["age"].delayed


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        (None, "turney1995_test_costs.csv: the published price list of hepatitis is missing"),
        ("bupa,b,mcv,,A,7.27,5.17,yes\n", "turney1995_test_costs.csv: no price for hepatitis"),
        ("hepatitis,h,spleen,,,1,1,no\n", "line 2: 'spleen' is not a column of hepatitis"),
        ("hepatitis,h,age,,,one,1,no\n", "line 2: could not convert string to float: 'one'"),
        ("hepatitis,h,age,,,nan,1,no\n", "line 2: 'nan' is not a number"),
        ("hepatitis,h,age,,,2,1,no\n", "line 2: first and later cost differ by 1.0, but the test has no group"),
        (
            "hepatitis,h,age,,A,3,1,no\nhepatitis,h,albumin,,A,4,1,no\n",
            "line 3: .* differ by 3.0, unlike other tests of group 'A'",
        ),
        ("hepatitis,h,age,1,1,no\n", "line 2: 6 fields, but the header has 8"),
    ],
)
def test_a_bad_price_list_is_refused(folder: Path, prices: str | None, message: str) -> None:
    write_hepatitis(folder, prices)
    with pytest.raises(ValueError, match=message):
        load("hepatitis")


def test_a_price_list_without_a_column_is_refused(folder: Path) -> None:
    write_hepatitis(folder, "")
    (folder / "costs" / "turney1995_test_costs.csv").write_text("file,test\n")
    with pytest.raises(ValueError, match="line 1: no column 'group'; required: file, test, group"):
        load("hepatitis")


# What is refused


def test_unknown_name_without_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORTHWHILE_DATA", raising=False)
    with pytest.raises(
        ValueError, match=r"'hart'; bundled: bupa, heart, pima; .*WORTHWHILE_DATA.* hart.csv or hart.csv.gz"
    ):
        load("hart")


@pytest.mark.parametrize("name", ["hart", "", "..", "sub/own"])
def test_unknown_name_with_a_folder(folder: Path, name: str) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "own.csv").write_text("n,class\n1,a\n")
    with pytest.raises(
        ValueError, match=r"bundled: bupa, heart, pima; the folder .* contains neither .*\.csv nor .*\.csv\.gz"
    ):
        load(name)


def test_the_folder_must_exist(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORTHWHILE_DATA", str(folder / "nowhere"))
    with pytest.raises(ValueError, match=r"WORTHWHILE_DATA is '.*nowhere', which is not a folder"):
        load("own")
    with pytest.raises(ValueError, match="which is not a folder"):
        names()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "own.csv, line 1: the file is empty"),
        ("\n\n", "own.csv, line 1: the file is empty"),
        ("n,class\n", "own.csv, line 1: no cases after the header"),
        ("n,class\n1,a\n\n2\n", "own.csv, line 4: 1 fields, but the header has 2"),
        ("n,class\n1,a,b\n", "own.csv, line 2: 3 fields, but the header has 2"),
        ("n,class\n1,a\n2,\n", "own.csv, line 3: the class is missing"),
        ("n,class\n1,?\n", "own.csv, line 2: the class is missing"),
        ("class,n\na,1\n", "own.csv, line 1: the last column must be called \"class\", got 'n'"),
        ("class\na\n", "own.csv, line 1: no column besides the class"),
        ("n,n,class\n1,1,a\n", "own.csv, line 1: column names must be unique and not empty, got 'n'"),
        (",class\n1,a\n", "own.csv, line 1: column names must be unique and not empty, got ''"),
        ('n,class\n1,a\n"2,b\n', "own.csv: cannot be read after line 2: unexpected end of data"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(folder: Path, text: str, message: str) -> None:
    (folder / "own.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        load("own")


@pytest.mark.parametrize("content", [b"n,class\n\xff\xfe,a\n", b"\xff"])
def test_a_file_that_is_not_utf8_is_refused(folder: Path, content: bytes) -> None:
    (folder / "own.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"own\.csv: cannot be read after line .: 'utf-8' codec"):
        load("own")


@pytest.mark.parametrize("content", [b"no archive", gzip.compress(b"n,class\n1,a\n" * 999, mtime=0)[:-20]])
def test_a_broken_archive_is_refused(folder: Path, content: bytes) -> None:
    (folder / "own.csv.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"own\.csv\.gz: cannot be read after line"):
        load("own")


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="the name of a data set must be a string, got 3"):
        load(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="as_frame must be True, False or \"auto\", got 'yes'"):
        load("heart", as_frame="yes")  # type: ignore[arg-type]


# The folder of benchmark data, where there is one


@needs_folder
def test_every_data_set_of_the_folder_loads() -> None:
    assert len(names()) > len(BUNDLED)
    for name in names():
        data = load(name)
        assert len(data.X) == len(data.y) > 0, name
        assert data.X.shape[1] == len(data.feature_names), name
        assert set(data.costs.tests) <= set(data.feature_names), name
        assert len(set(data.y.tolist())) > 1, name


@needs_folder
@pytest.mark.parametrize(
    ("name", "shape", "n_nominal", "total"),
    [
        ("heart_cleve_mod", (303, 13), 7, 323.97),
        ("hepatitis", (155, 19), 13, 14 * 1.00 + 7.27 + 3 * 5.17 + 6.20),
        ("thyroid_ann_train", (3772, 20), 15, 16 * 1.00 + 22.78 + 9.31 + 12.41 + 9.31),
        ("thyroid_ann_test", (3428, 20), 15, 16 * 1.00 + 22.78 + 9.31 + 12.41 + 9.31),
        ("tae", (151, 5), 4, 0),
        ("monks2_train", (169, 6), 6, 0),
        ("solar_flare_full", (1389, 10), 10, 0),
        ("vowel", (990, 11), 1, 0),
        ("heart_cleveland", (303, 13), 7, 0),
    ],
)
def test_data_sets_of_the_folder(name: str, shape: tuple[int, int], n_nominal: int, total: float) -> None:
    data = load(name)
    assert data.X.shape == shape
    assert len(data.nominal) == n_nominal
    assert data.costs.total_price() == pytest.approx(total)


@needs_folder
@pytest.mark.parametrize(
    ("name", "shape", "n_nominal", "total"),
    [
        ("turney-bupa", (345, 5), 0, 7.27 + 3 * 5.17 + 7.76),
        ("turney-heart", (296, 13), 7, 323.97),
        ("turney-hepatitis", (155, 19), 13, 14 * 1.00 + 7.27 + 3 * 5.17 + 6.20),
        ("turney-pima", (768, 8), 0, 6 * 1.00 + 17.61 + 20.68),
        ("turney-thyroid", (3772, 20), 15, 16 * 1.00 + 22.78 + 9.31 + 12.41 + 9.31),
    ],
)
def test_problems_of_turney(name: str, shape: tuple[int, int], n_nominal: int, total: float) -> None:
    assert name in names()
    frame, array = load(name, as_frame=True), load(name, as_frame=False)
    assert frame.X.shape == array.X.shape == shape
    assert not frame.X.isna().any(axis=None)
    assert rows(dataclasses.replace(frame, X=frame.X.astype(object).to_numpy())) == rows(array)
    assert len(frame.nominal) == n_nominal
    assert frame.costs.total_price() == pytest.approx(total)
    assert set(frame.costs.tests) == set(frame.feature_names)
    commonest = max(Counter(frame.y.tolist()).values()) / len(frame.y)
    assert frame.costs.standard_cost(frame.y) == pytest.approx(total + 500 * (1 - commonest))


@needs_folder
def test_hepatitis_is_filled_and_the_rest_is_unchanged() -> None:
    whole, filled = load("hepatitis"), load("turney-hepatitis")
    known = whole.X.notna()
    assert int((~known).sum().sum()) == 167
    assert whole.X.astype(object).where(known).equals(filled.X.astype(object).where(known))
    assert filled.y.tolist() == whole.y.tolist()
    assert "filled from the nearest case" in filled.description


@needs_folder
def test_heart_keeps_the_complete_cases_in_their_order() -> None:
    complete = [row for row in rows(load("heart_cleve_mod", as_frame=False)) if None not in row]
    assert rows(load("turney-heart", as_frame=False)) == complete
    assert "which leaves 296 of 303" in load("turney-heart").description


@needs_folder
def test_thyroid_is_without_fti_and_says_so() -> None:
    data = load("thyroid_ann_train")
    assert "FTI" not in data.feature_names
    assert "FTI is left out" in data.description


@needs_folder
def test_bundled_tables_equal_the_copies_of_the_folder() -> None:
    """The copies come from other sources; KEEL has its own order of bupa, cleve.mod one other row of heart."""
    assert rows(load("pima", as_frame=False)) == folder_file("pima")
    assert Counter(rows(load("bupa", as_frame=False))) == Counter(folder_file("bupa"))
    here, there = Counter(rows(load("heart", as_frame=False))), Counter(folder_file("heart_cleve_mod"))
    assert [(row[0], row[1], row[4]) for row in here - there] == [(60, "fem", 305)]
    assert [(row[0], row[1], row[11]) for row in there - here] == [(38, "male", None)]


@needs_folder
def test_heart_equals_the_coded_table_of_the_folder() -> None:
    codes = {
        "sex": ("fem", "male"),
        "cp": (None, "angina", "abnang", "notang", "asympt"),
        "fbs": ("fal", "true"),
        "restecg": ("norm", "abn", "hyp"),
        "exang": ("fal", "true"),
        "slope": (None, "up", "flat", "down"),
        "thal": (None, None, None, "norm", None, None, "fix", "rev"),
    }
    heart = rows(load("heart", as_frame=False))
    coded = folder_file("heart_cleveland")
    assert len(heart) == len(coded)
    for ours, theirs in zip(heart, coded, strict=True):
        for test, value, code in zip(HEART_TESTS, ours, theirs, strict=False):
            words = codes.get(test)
            assert value == (code if words is None or code is None else words[int(float(str(code)))])
        assert ours[-1] == ("buff" if theirs[-1] == "0" else "sick")


@needs_folder
def test_thyroid_with_fti() -> None:
    """FTI is computed from TT4 and T4U: it needs both, and is free once they are paid for."""
    with_fti, without = load("thyroid-fti", as_frame=False), load("turney-thyroid", as_frame=False)
    assert with_fti.feature_names == [*without.feature_names, "FTI"]
    assert with_fti.X.shape == (3772, 21)
    assert [row[:-1] for row in with_fti.X.tolist()] == without.X.tolist()
    assert [row[-1] for row in with_fti.X.tolist()][:2] == [0.146, 0.108]
    costs = with_fti.costs
    assert costs.price("FTI") == pytest.approx(12.41 + 9.31 + 2.10)
    assert costs.price("FTI", paid={"TT4"}) == pytest.approx(9.31)
    assert costs.price("FTI", paid={"TT4", "T4U"}) == 0
    assert costs.total_price() == pytest.approx(without.costs.total_price())
    assert "thyroid-fti" in names()
    assert "costs nothing but requires both" in with_fti.description
    assert "left out" not in with_fti.description

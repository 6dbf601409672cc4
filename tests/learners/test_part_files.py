"""Parquet files with the cases: columns, classes and values of all files together, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from worthwhile.learners import part_files
from worthwhile.learners.part_files import PartReader, files_of, survey

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def write(folder, *tables):
    for part, table in enumerate(tables):
        parquet.write_table(table if isinstance(table, pa.Table) else pa.table(table), folder / f"{part}.parquet")
    return folder


def test_values_that_only_some_files_have(tmp_path):
    many = 40
    write(
        tmp_path,
        {"c": ["b", "a"] * many, "n": [1, 2] * many, "e": pa.nulls(2 * many), "y": [0, 1] * many},
        {
            "c": pa.array(["c", None] * many).dictionary_encode(),
            "n": [0.5, None] * many,
            "e": [2.5, 1.0] * many,
            "y": pa.array([2, 1] * many, pa.int8()),
        },
        pa.table(
            {
                "c": pa.array([], pa.string()),
                "n": pa.array([], pa.int64()),
                "e": pa.nulls(0),
                "y": pa.nulls(0, pa.int64()),
            }
        ),
    )
    clf = ww.BudgetForestClassifier(variant="paper", max_trees=4, random_state=0).fit_parts(tmp_path, "y")
    assert clf.problem_.schema.values == (("a", "b", "c"), None, None)
    assert clf.classes_.tolist() == [0, 1, 2]
    cases = pd.DataFrame({"c": ["b", "a", "c"], "n": [1.0, 2.0, 0.5], "e": [None, None, 2.5]})
    assert set(clf.predict(cases)) <= {0, 1, 2}


def test_numbers_that_are_categories(tmp_path):
    write(tmp_path, {"x": [1, 2, 3, 4] * 20, "y": [0, 1, 0, 1] * 20}, {"x": [3.0, 7.5] * 40, "y": [0, 1] * 40})
    clf = ww.BudgetForestClassifier(variant="paper", nominal=["x"], max_trees=2, random_state=0).fit_parts(
        tmp_path, "y"
    )
    assert clf.problem_.schema.values == (("1", "2", "3", "4", "7.5"),)
    assert clf.trees_[0].to_text().count("x") > 0


def test_whole_numbers_that_no_float_holds(tmp_path):
    large = 2**53
    columns = {"id": [large + 1, large + 3] * 20, "y": [large, large + 1] * 20, "w": [large + 1] * 40}
    write(tmp_path, {**columns, "x": [0, 1] * 20})
    clf = ww.BudgetForestClassifier(variant="paper", max_trees=2, random_state=0).fit_parts(tmp_path, "y", weight="w")
    assert clf.classes_.tolist() == [large, large + 1]
    assert clf.problem_.schema.values == (None, None)


@pytest.mark.parametrize("labels", [[True, False], ["a", "b"], [1.0, 2.0], [3, -1]])
def test_classes_of_all_kinds(tmp_path, labels):
    write(tmp_path, {"x": np.arange(40.0), "y": labels * 20}, {"x": np.arange(10.0), "y": labels[:1] * 10})
    clf = ww.BudgetForestClassifier(variant="paper", max_trees=2, random_state=0).fit_parts(tmp_path, "y")
    assert clf.classes_.tolist() == sorted(labels)


GOOD = {"x": [1.0, 2.0] * 10, "y": ["a", "b"] * 10}


@pytest.mark.parametrize(
    ("tables", "options", "words"),
    [
        ([GOOD], {"target": "z"}, r"0.parquet: no column 'z' \(target\); the columns are x, y"),
        ([GOOD], {"weight": "z"}, r"no column 'z' \(weight\)"),
        (
            [GOOD, {"y": ["a"]}],
            {},
            r"1.parquet: no column 'x'; all files must have the columns of .*0.p",
        ),
        ([GOOD, {**GOOD, "z": [1] * 20}], {}, r"1.parquet: unexpected column 'z'"),
        (
            [GOOD, {**GOOD, "x": ["u", "v"] * 10}],
            {},
            r"column 'x' has numbers in .*0.parquet, but categories in .*1.parq",
        ),
        (
            [GOOD, {**GOOD, "y": [1, 2] * 10}],
            {},
            r"the classes in 'y' are strings in .*0.parquet, but numbers in .*1.parq",
        ),
        ([GOOD, {**GOOD, "y": ["a"] * 7 + [None] * 13}], {}, r"1.parquet, row 8: has no class in 'y'"),
        ([{**GOOD, "y": [1.0] * 9 + [np.nan] * 11}], {}, r"0.parquet, row 10: has no class in 'y'"),
        ([{**GOOD, "y": pa.nulls(20)}], {}, r"column 'y' \(target\) has no classes"),
        ([{**GOOD, "y": np.linspace(0, 1, 20)}], {}, r"Unknown label type: continuous"),
        ([{**GOOD, "x": [1.0, np.inf] * 10}], {}, r"0.parquet, row 2: column 'x' contains infinity"),
        ([{**GOOD, "w": [1.0] * 19 + [-2.0]}], {"weight": "w"}, r"0.parquet, row 20: the weight is -2.0"),
        ([{**GOOD, "w": ["a"] * 20}], {"weight": "w"}, r"column 'w' \(weight\) is not numeric"),
        ([{**GOOD, "x": [[1.0]] * 20}], {}, r"column 'x' has the type list"),
        ([{"y": ["a", "b"]}], {}, r"no column to learn from besides 'y'"),
        ([pa.table(GOOD).slice(0, 0)], {}, r"there are no cases in the files"),
    ],
)
def test_wrong_files_are_refused_by_name(tables, options, words, tmp_path):
    write(tmp_path, *tables)
    with pytest.raises(ValueError, match=words):
        ww.BudgetForestClassifier(variant="paper", max_trees=2).fit_parts(tmp_path, **({"target": "y"} | options))


def test_wrong_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no file \*.parquet in this folder"):
        ww.BudgetForestClassifier(variant="paper").fit_parts(tmp_path, "y")
    with pytest.raises(ValueError, match="not a folder; parts must be a folder of Parquet files"):
        ww.BudgetForestClassifier(variant="paper").fit_parts(tmp_path / "lost", "y")
    with pytest.raises(ValueError, match=r"lost.parquet: no such file"):
        ww.BudgetForestClassifier(variant="paper").fit_parts([tmp_path / "lost.parquet"], "y")
    with pytest.raises(ValueError, match="parts is empty"):
        ww.BudgetForestClassifier(variant="paper").fit_parts([], "y")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not at all")
    with pytest.raises(ValueError, match=r"broken.parquet: is not a readable Parquet file"):
        ww.BudgetForestClassifier(variant="paper").fit_parts(tmp_path, "y")


def reader_of(folder, weight=None):
    found = survey(files_of(folder), "y", weight, None, None, 1)
    return PartReader(found.plan, found.stamps, found.schema, found.labels, None)


CHANGES = {
    "more rows": ({"x": [1.0, 2.0] * 11, "y": ["a", "b"] * 11}, r" \(it had 20 rows and has 22 now\)"),
    "a new class": ({"x": [1.0, 2.0] * 10, "y": ["a", "c"] * 10}, ""),
    "other numbers": ({"x": [2.0, 1.0] * 10, "y": ["a", "b"] * 10}, ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_between_passes_is_refused(change, tmp_path):
    reader = reader_of(write(tmp_path, GOOD, GOOD))
    table, words = CHANGES[change]
    parquet.write_table(pa.table(table), tmp_path / "1.parquet")
    assert len(reader.cases(0).rows) == 20
    changed = rf"1\.parquet: the file has changed since the first pass.*{words}"
    with pytest.raises(ValueError, match=changed):
        reader.cases(1)
    with pytest.raises(ValueError, match=changed):
        reader.columns(1, np.arange(2))
    (tmp_path / "1.parquet").unlink()
    with pytest.raises(ValueError, match=r"1\.parquet: cannot be read: No such file"):
        reader.cases(1)


def test_a_class_that_the_first_pass_did_not_see_is_refused(tmp_path, monkeypatch):
    reader = reader_of(write(tmp_path, GOOD))
    monkeypatch.setattr(part_files, "_check_unchanged", lambda *_: None)  # same size and time, by chance
    write(tmp_path, {**GOOD, "y": ["a", "aa"] * 10})
    with pytest.raises(ValueError, match=r"0\.parquet: has the class 'aa' now; the file has changed"):
        reader.cases(0)


def test_cases_of_weight_0_may_have_a_class_of_their_own(tmp_path):
    table = {"x": [1.0, 2.0, 3.0] * 10, "y": ["a", "b", "c"] * 10, "w": [1.0, 1.0, 0.0] * 10}
    cases = reader_of(write(tmp_path, table), "w").cases(0)
    assert cases.classes.tolist() == [0, 1] * 10


def test_every_error_names_the_file(tmp_path):
    bad = pa.array([b"u", b"\xff"] * 10, pa.binary()).view(pa.string())
    for column in ("x", "y"):
        write(tmp_path, GOOD, {**GOOD, column: bad} if column == "y" else {**GOOD, "c": bad})
        if column == "x":
            write(tmp_path, {**GOOD, "c": ["u", "v"] * 10})
        with pytest.raises(ValueError, match=r"1\.parquet: cannot be read: 'utf-8' codec can't decode"):
            ww.BudgetForestClassifier(variant="paper", max_trees=2).fit_parts(tmp_path, "y")
    write(tmp_path, GOOD, GOOD)
    content = bytearray((tmp_path / "1.parquet").read_bytes())
    content[4:60] = b"\xff" * 56  # the first page
    (tmp_path / "1.parquet").write_bytes(content)
    with pytest.raises(ValueError, match=r"1\.parquet: cannot be read: "):
        ww.BudgetForestClassifier(variant="paper", max_trees=2).fit_parts(tmp_path, "y")


def test_dates_and_identifiers_are_recognised_as_by_fit(tmp_path):
    days = pd.date_range("2024-01-01", periods=40)
    table = {
        "day": days,
        "when": days.date,
        "waited": days - days[0],
        "id": [f"P{i}" for i in range(40)],
        "y": [int(i > 20) for i in range(40)],
    }
    frame = pd.DataFrame(table)
    write(tmp_path, *(pa.Table.from_pandas(frame[i::2], preserve_index=False) for i in (0, 1)))
    words = "column 'id' has almost as many values as cases and is not used"
    with pytest.warns(UserWarning, match=words):
        clf = ww.BudgetForestClassifier(variant="paper", max_trees=2, random_state=0).fit_parts(tmp_path, "y")
    with pytest.warns(UserWarning, match=words):
        same = ww.BudgetForestClassifier(variant="paper", max_trees=2, random_state=0).fit(
            frame.drop(columns="y"), frame["y"]
        )
    assert clf.problem_.schema == same.problem_.schema
    assert clf.problem_.schema.dates == {"day", "when"}
    assert clf.predict(frame.drop(columns="y")).mean() > 0
    write(tmp_path, {"x": days, "y": [0, 1] * 20}, {"x": [1.0] * 40, "y": [0, 1] * 20})
    with pytest.raises(ValueError, match=r"column 'x' has dates in .*0.parquet, but numbers in .*1.parquet"):
        ww.BudgetForestClassifier(variant="paper", max_trees=2).fit_parts(tmp_path, "y")
    with pytest.raises(ValueError, match=r"column 'x' \(target\) has no classes, but dates"):
        ww.BudgetForestClassifier(variant="paper", max_trees=2).fit_parts([tmp_path / "0.parquet"], "x")

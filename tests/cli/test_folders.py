"""`predict`, `next` and `evaluate` on folders of Parquet files."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from command_line import fails
from command_line import run_joined as run
from worthwhile.evaluation.evaluate import evaluate

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

COSTS = ww.Costs(tests={"age": 1.0, "dose": 2.0, "colour": 1.5}, errors={"no": {"yes": 20.0}, "yes": {"no": 60.0}})
TESTS = ["age", "dose", "colour"]


def frame(n=1200):
    rng = np.random.default_rng(0)
    cases = pd.DataFrame({"age": rng.integers(18, 90, n), "dose": rng.normal(size=n).round(2)})
    cases["colour"] = rng.choice(["red", "green", None], n)
    cases["ill"] = np.where(cases.age / 30 + cases.dose + 0.4 * rng.normal(size=n) > 2, "yes", "no")
    return cases


CASES = frame()
KINDS = {
    "tree": ww.DTMCClassifier(costs=COSTS, random_state=0),
    "forest": ww.BudgetForestClassifier(costs=COSTS, max_trees=5, random_state=0),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model and a folder of three files, one of them empty; batches have 177 rows."""
    monkeypatch.setattr("worthwhile.learners.part_files.BATCH", 177)
    (tmp_path / "cases").mkdir()
    for part, (start, end) in enumerate([(0, 700), (700, 700), (700, 1200)]):
        table = pa.Table.from_pandas(CASES.iloc[start:end], preserve_index=False, schema=SCHEMA)
        parquet.write_table(table, tmp_path / "cases" / f"part-{part}.parquet", row_group_size=300)
    return tmp_path


SCHEMA = pa.schema([("age", pa.int64()), ("dose", pa.float64()), ("colour", pa.string()), ("ill", pa.string())])


def save(kind, folder):
    clf = KINDS[kind].fit(CASES[TESTS], CASES.ill)
    clf.save(folder / "model.json")
    return clf


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("one_file", [True, False])
def test_predict_streams_a_folder(capsys, folder, kind, one_file):
    clf, out = save(kind, folder), folder / ("answers.parquet" if one_file else "answers")
    code, text, err = run(capsys, "predict", folder / "model.json", folder / "cases", "-o", out)
    assert (code, err) == (0, "")
    assert f"1200 answers for {clf.test_costs(CASES[TESTS]).mean():.2f} per case" in text
    files = [out] if one_file else [out / f"part-{part}.parquet" for part in (0, 2)]
    found = pd.concat([pd.read_parquet(path) for path in files], ignore_index=True)
    assert list(found.columns) == [*CASES.columns, "answer", "price_paid", "tests_used", "probability"]
    assert found.dose.tolist() == CASES.dose.tolist()
    assert found.answer.tolist() == clf.predict(CASES[TESTS]).tolist()
    assert found.price_paid.tolist() == pytest.approx(clf.test_costs(CASES[TESTS]).tolist())
    own = clf.predict_proba(CASES[TESTS])[np.arange(1200), np.searchsorted(clf.classes_, found.answer.to_numpy())]
    assert found.probability.tolist() == pytest.approx(own.tolist(), abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_evaluate_streams_a_folder(capsys, folder, kind):
    clf, out = save(kind, folder), folder / "costs.json"
    code, text, err = run(capsys, "evaluate", folder / "model.json", folder / "cases", "-o", out)
    assert (code, err) == (0, "")
    assert "on 1200 cases" in text
    model, none = json.loads(out.read_text())
    costs, prices = clf.total_costs(CASES[TESTS], CASES.ill), clf.test_costs(CASES[TESTS])
    assert model["total_cost"] == pytest.approx(costs.mean())
    assert model["test_cost"] == pytest.approx(prices.mean())
    assert model["error_rate"] == pytest.approx((clf.predict(CASES[TESTS]) != CASES.ill).mean())
    half = 1.959964 * costs.std(ddof=1) / np.sqrt(1200)
    assert model["total_cost_high"] - model["total_cost"] == pytest.approx(half)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these are the training cases
        whole = evaluate(clf, CASES[TESTS], CASES.ill, CASES[TESTS], CASES.ill)
    assert none["total_cost"] == pytest.approx(whole.strategies[1].total_cost.mean)
    assert none["strategy"] == whole.strategies[1].name
    assert none["saving"] == pytest.approx(whole.strategies[1].saving.mean)
    assert none["saving_low"] == pytest.approx(whole.strategies[1].saving.low, abs=0.3)
    assert model["normalized"] == pytest.approx(whole.model.normalized)


def test_what_a_folder_does_not_know_is_refused(capsys, folder):
    save("tree", folder)
    model, cases = folder / "model.json", folder / "cases"
    assert "written to a folder, or to one Parquet file" in fails(capsys, "predict", model, cases, "-o", "-")
    assert "is the folder of the cases" in fails(capsys, "predict", model, cases, "-o", cases)
    assert "--sheet: not for a folder" in fails(capsys, "predict", model, cases, "-o", folder / "a", "--sheet", "1")
    assert "--train: not for a folder" in fails(capsys, "evaluate", model, cases, "--train", model)
    assert "part-0.parquet: no column 'sick' (target)" in fails(capsys, "evaluate", model, cases, "--target", "sick")
    table = pa.Table.from_pandas(CASES.assign(ill="dead"), preserve_index=False)
    parquet.write_table(table, cases / "part-1.parquet")
    assert "part-1.parquet: column 'ill' has the class 'dead', which" in fails(capsys, "evaluate", model, cases)
    parquet.write_table(table.drop_columns(["dose"]), cases / "part-1.parquet")
    assert "part-1.parquet: has no column 'dose'" in fails(capsys, "predict", model, cases, "-o", folder / "b")


@pytest.fixture
def here(folder, monkeypatch):
    """The folder with a tree, as the current one: what must not be written would be seen there."""
    monkeypatch.chdir(folder)
    save("tree", folder)
    return folder


def change(part, **columns):
    """Write one of the files again, with other columns."""
    cases = CASES.iloc[:1000].assign(**columns)
    parquet.write_table(pa.Table.from_pandas(cases, preserve_index=False), f"cases/part-{part}.parquet")


EACH = [
    ["predict", "model.json", "cases", "-o", "out"],
    ["predict", "model.json", "cases", "-o", "out.parquet"],
    ["next", "model.json", "cases", "-o", "out"],
    ["evaluate", "model.json", "cases", "--target", "ill", "-o", "out.csv"],
]


@pytest.mark.parametrize("command", EACH)
def test_files_without_rows_are_skipped_and_a_folder_of_them_is_refused(capsys, here, command):
    assert run(capsys, *command, "-q") == (0, "", "")
    if command[-1] == "out":
        assert sorted(path.name for path in (here / "out").iterdir()) == ["part-0.parquet", "part-2.parquet"]
    (here / "cases" / "part-0.parquet").unlink()
    (here / "cases" / "part-2.parquet").unlink()
    assert fails(capsys, *command) == "cases: there are no cases in this folder; no file in it has rows"


BAD = {
    "infinity": ({"dose": [*[0.5] * 800, np.inf, *[0.5] * 199]}, "'dose' contains infinity; use NaN for a missing"),
    "a text": ({"dose": [*["0.5"] * 800, "high", *[None] * 199]}, "'dose' is numeric, but contains 'high'"),
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", EACH)
@pytest.mark.parametrize("bad", BAD)
def test_bad_cells_are_named_and_nothing_is_written(capsys, command, bad):
    columns, words = BAD[bad]
    change(2, **columns)
    assert f"part-2.parquet, row 801: column {words}" in fails(capsys, *command)


def test_an_older_folder_of_answers_stays_as_it_was_if_a_file_is_bad(capsys, here):
    for command in ("predict", "next"):
        assert run(capsys, command, "model.json", "cases", "-o", command, "-q") == (0, "", "")
        (here / command / "part-0.parquet").chmod(0o640)
    good = (here / "cases" / "part-2.parquet").read_bytes()
    change(2, dose=np.inf)
    for command in ("predict", "next"):
        assert "infinity" in fails(capsys, command, "model.json", "cases", "-o", command)
    (here / "cases" / "part-2.parquet").write_bytes(good)
    for command in ("predict", "next"):
        assert run(capsys, command, "model.json", "cases", "-o", command, "-q") == (0, "", "")
        assert sorted(path.name for path in (here / command).iterdir()) == ["part-0.parquet", "part-2.parquet"]
        assert (here / command / "part-0.parquet").stat().st_mode & 0o777 == 0o640


@pytest.mark.usefixtures("here")
def test_one_file_of_answers_from_files_that_differ(capsys):
    change(2, dose=1)  # whole numbers
    assert run(capsys, "predict", "model.json", "cases", "-o", "out.parquet", "-q") == (0, "", "")
    change(2, note="x")
    refused = fails(capsys, "predict", "model.json", "cases", "-o", "new.parquet")
    assert "part-2.parquet: has other columns than the files before it; write to a folder" in refused
    assert run(capsys, "predict", "model.json", "cases", "-o", "out", "-q") == (0, "", "")
    change(2, answer="yes")
    for out in ("a", "a.parquet"):
        assert "already has a column 'answer'" in fails(capsys, "predict", "model.json", "cases", "-o", out)
    message = fails(capsys, "predict", "model.json", "cases", "-o", "cases/part-0.parquet")
    assert "is an input file" in message

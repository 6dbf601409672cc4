"""`worthwhile next` with a worklist."""

import csv
import io
from pathlib import Path

import pandas as pd
import pytest

import worthwhile as ww
from command_line import fails, read_rows, write
from command_line import run_joined as run
from worthwhile import cli


def turney_model():
    """Turney's example as a model in the current folder."""
    import json

    from handmade import turney

    write("model.json", json.dumps(turney()))
    return ww.Tree.from_json(Path("model.json").read_text())


WORKLIST = """case,alpha,beta,delta,epsilon
a1,,,,
a2,3,,,
a3,3,pending, pending ,
a4,3,unavailable,,
a5,1,2,,
"""


def test_each_case_of_a_worklist_gets_its_order(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = turney_model()
    write("list.csv", WORKLIST)
    code, out, err = run(capsys, "next", "model.json", "list.csv", "-o", "orders.csv")
    assert (code, err) == (0, "")
    assert "5 cases: 3 order tests for 45.00 in all, 1 wait, 1 are answered: orders.csv" in out
    rows = read_rows(Path("orders.csv"))
    assert [row["case"] for row in rows] == ["a1", "a2", "a3", "a4", "a5"]
    assert [row["action"] for row in rows] == ["order", "order", "wait", "order", "answer"]
    assert [row["tests"] for row in rows] == ["alpha", "delta;beta;epsilon", "delta", "delta;epsilon", ""]
    assert [row["price"] for row in rows] == ["5.0", "25.0", "0.0", "15.0", "0.0"]
    assert [row["spent"] for row in rows] == ["0.0", "5.0", "22.0", "5.0", "15.0"]
    assert [row["answer"] for row in rows] == ["", "", "", "", "1"]
    assert rows[3]["reason"] == model.next_test({"alpha": 3, "beta": None}).reason


def test_marks_may_be_chosen_and_columns_may_be_absent(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    turney_model()
    write("list.csv", "alpha,delta\n3,geordert\n3,fehlt\n,\n")
    options = ["--pending-mark", "geordert", "--unavailable-mark", "fehlt"]
    code, _, err = run(capsys, "next", "model.json", "list.csv", *options, "-o", "-")
    assert code == 0
    assert "list.csv: has no column 'beta', 'epsilon'; not asked for in any case." in err
    assert cli.run(["next", "model.json", "list.csv", *options, "-o", "-", "-q"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["action"], row["tests"]) for row in rows] == [
        ("wait", "delta"),
        ("order", "beta"),
        ("order", "alpha"),
    ]


def test_a_folder_of_parquet_files_gets_a_folder_of_orders(capsys, folder, tmp_path, heart):
    cases = tmp_path / "cases"
    cases.mkdir()
    frame = pd.DataFrame(heart.X, columns=heart.feature_names).infer_objects()
    frame[:40].to_parquet(cases / "a.parquet")
    frame[40:60].to_parquet(cases / "b.parquet")
    model, orders = folder / "model.json", tmp_path / "orders"
    run(capsys, "next", model, cases, "-o", orders)
    found = pd.concat([pd.read_parquet(orders / name) for name in ("a.parquet", "b.parquet")], ignore_index=True)
    expected = ww.load(model).advise(heart.X[:60], as_frame=False)
    assert found["action"].tolist() == list(expected["action"])
    assert "is the folder of the cases; choose another one" in fails(capsys, "next", model, cases, "-o", cases)
    for out in ("-", tmp_path / "new.parquet"):
        assert "the orders of a folder are another folder" in fails(capsys, "next", model, cases, "-o", out)
    refused = fails(capsys, "next", model, cases, "-o", tmp_path / "new", "--decimal", ",")
    assert refused == "--decimal: not for a folder of Parquet files; leave it out"


def test_marks_in_excel_and_parquet_files(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    turney_model()
    frame = pd.DataFrame({"alpha": [3.0, 3.0], "delta": ["pending", "2"]})
    frame.to_parquet("list.parquet")
    frame.to_excel("list.xlsx", index=False)
    for name in ("list.parquet", "list.xlsx"):
        assert cli.run(["next", "model.json", name, "-o", "orders.csv", "-q"]) == 0
        assert [row["action"] for row in read_rows(Path("orders.csv"))] == ["wait", "order"], name


@pytest.mark.usefixtures("good_files")
def test_wrong_worklists(capsys):
    usage = "a worklist needs a file to write, and no --known: worthwhile next MODEL FILE -o ORDERS"
    assert fails(capsys, "next", "model.json", "good.csv") == usage
    assert fails(capsys, "next", "model.json", "-o", "orders.csv") == usage
    assert fails(capsys, "next", "model.json", "good.csv", "-o", "o.csv", "--known", "age=3") == usage
    assert "good.csv: is an input file" in fails(capsys, "next", "model.json", "good.csv", "-o", "good.csv")
    assert "are both 'x'; they must differ" in fails(
        capsys, "next", "model.json", "good.csv", "-o", "o.csv", "--pending-mark", "x", "--unavailable-mark", "x"
    )
    assert "'angina' is a value of the test 'pain'" in fails(
        capsys, "next", "model.json", "good.csv", "-o", "o.csv", "--pending-mark", "angina"
    )
    assert "must be a text without a comma" in fails(
        capsys, "next", "model.json", "good.csv", "-o", "o.csv", "--unavailable-mark", "a,b"
    )
    write("other.csv", "colour\nred\n")
    assert "other.csv: has no column of the model" in fails(capsys, "next", "model.json", "other.csv", "-o", "o.csv")
    write("bad.csv", "age,pain\nPending,none\n")
    assert "bad.csv, line 2: column 'age'" in fails(capsys, "next", "model.json", "bad.csv", "-o", "o.csv")


@pytest.mark.usefixtures("good_files")
def test_predict_says_how_many_cells_are_empty(capsys):
    asked = ww.load("model.json").tree_.tests_used()
    write("gaps.csv", "age,pain,chol\n" + "40,none,200\n,,\n,none,\n")
    code, out, _ = run(capsys, "predict", "model.json", "gaps.csv", "-o", "answers.csv")
    each = ", ".join(f"{name} {n}" for name, n in (("age", 2), ("pain", 1), ("chol", 2)) if name in asked)
    assert code == 0
    assert f"counted as unavailable: {each}." in out
    code, out, _ = run(capsys, "predict", "model.json", "good.csv", "-o", "answers.csv")
    assert "unavailable" not in out

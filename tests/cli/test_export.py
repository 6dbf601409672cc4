"""`worthwhile export`."""

import json
import sqlite3
from pathlib import Path

import openpyxl
import pytest

import worthwhile as ww
from command_line import fails, run, write
from handmade import small
from worthwhile import cli


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A tree in the current folder."""
    monkeypatch.chdir(tmp_path)
    write("model.json", json.dumps(small()))
    return ww.Tree.from_json(Path("model.json").read_text())


def test_sql_to_standard_output(capsys, model):
    code, out, err = run(capsys, "export", "model.json", "--to", "sql", "--table", "patients")
    assert (code, err) == (0, "")
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE patients (x REAL, y REAL); INSERT INTO patients VALUES (1, -1), (NULL, 1)")
    rows = connection.execute(out).fetchall()
    connection.close()
    X = [[1.0, -1.0], [float("nan"), 1.0]]
    assert [row[-2] for row in rows] == model.predict(X).tolist()
    assert [row[-1] for row in rows] == model.test_costs(X).tolist()


def test_files_of_every_kind(capsys, model):
    pytest.importorskip("onnx")
    for kind, name in (
        ("python", "t.py"),
        ("onnx", "t.onnx"),
        ("xlsx", "t.xlsx"),
        ("mermaid", "t.mmd"),
        ("sql", "t.sql"),
    ):
        code, out, err = run(capsys, "export", "model.json", "--to", kind, "-o", name)
        assert (code, out, err) == (0, f"{kind}: {name}\n", "")
    names = {}
    exec(Path("t.py").read_text(), names)
    assert names["decide"]({"x": 1, "y": -1}).answer == model.predict([[1.0, -1.0]])[0]
    assert openpyxl.load_workbook("t.xlsx").sheetnames == ["cases", "rules", "outcomes"]
    assert Path("t.mmd").read_text().startswith("flowchart TD")
    assert Path("t.onnx").stat().st_size > 100
    assert (
        "isnan" in (cli.run(["export", "model.json", "--to", "sql", "--dialect", "duckdb"]), capsys.readouterr().out)[1]
    )


@pytest.mark.usefixtures("model")
def test_what_cannot_be_exported(capsys):
    assert fails(capsys, "export", "model.json", "--to", "onnx") == "--to onnx writes a file: name it with --out"
    assert "is an input file" in fails(capsys, "export", "model.json", "--to", "sql", "-o", "model.json")
    write("capped.json", json.dumps(small(cap=9)))
    message = fails(capsys, "export", "capped.json", "--to", "sql")
    assert message.startswith("capped.json: with a cap (9), ")
    assert message.endswith("refuse missing values instead: --missing-values refuse")
    assert run(capsys, "export", "capped.json", "--to", "sql", "--missing-values", "refuse")[0] == 0
    X, y = [[float(i), float(i % 3)] for i in range(30)], ["a", "b"] * 15
    ww.BudgetForestClassifier(budget=5.0, max_trees=2, random_state=0).fit(X, y).save("forest.json")
    expected = "forest.json: is a forest, whose trees vote; only a single tree can be exported (learn --readable)"
    assert fails(capsys, "export", "forest.json", "--to", "mermaid") == expected
    ww.CascadeClassifier(random_state=0).fit(X, y).save("cascade.json")
    assert "cascade.json: is a cascade of other models" in fails(capsys, "export", "cascade.json", "--to", "python")

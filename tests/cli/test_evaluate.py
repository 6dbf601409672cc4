"""`worthwhile evaluate`."""

import json

import pytest

import worthwhile as ww
from command_line import read_rows
from command_line import run_joined as run


def test_evaluate_prints_the_model_and_three_baselines(capsys, folder, heart):
    code, out, err = run(
        capsys,
        "evaluate",
        folder / "model.json",
        folder / "new.csv.gz",
        "--target",
        "class",
        "--train",
        folder / "train.csv",
    )
    assert (code, err) == (0, "")
    clf = ww.load(folder / "model.json")
    report = ww.metrics.cost_report(clf, heart.X[200:], heart.y[200:], heart.costs.standard_cost(heart.y))
    row = f"the model {report.test_cost:.2f} {report.error_cost:.2f} {report.total_cost:.2f} {report.error_rate:.1%}"
    assert f"{row} {report.normalized:.1f}%" in out
    assert "Cost per case in Canadian dollars on 103 cases, with 95% intervals" in out
    for words in ("no test, always", "all tests, best", "C4.5", "The baselines were trained on 200 other cases."):
        assert words in out


def test_evaluate_finds_the_column_of_the_classes_and_writes_results(capsys, folder, tmp_path):
    for suffix in ("csv", "json"):
        found = run(
            capsys, "evaluate", folder / "model.json", folder / "new.csv.gz", "-q", "-o", tmp_path / f"results.{suffix}"
        )
        assert found == (0, "", "")
    rows = json.loads((tmp_path / "results.json").read_text())
    strings = read_rows(tmp_path / "results.csv")
    assert [row["strategy"] for row in rows] == [row["strategy"] for row in strings]
    assert rows[0]["total_cost"] == pytest.approx(float(strings[0]["total_cost"]))
    assert rows[0]["saving"] is None
    assert strings[0]["saving"] == ""
    for row in rows:
        assert row["total_cost_low"] <= row["total_cost"] <= row["total_cost_high"]
        assert row["total_cost"] == pytest.approx(row["test_cost"] + row["error_cost"])


def test_a_tree_written_by_hand_is_a_model_too(capsys, folder, tmp_path):
    tree = ww.load(folder / "model.json").tree_
    (tmp_path / "tree.json").write_text(tree.to_json())
    for command in ("evaluate", "predict"):
        options = ["-o", tmp_path / "answers.csv"] if command == "predict" else []
        assert run(capsys, command, tmp_path / "tree.json", folder / "new.csv.gz", *options)[0] == 0
    assert run(capsys, "show", tmp_path / "tree.json") == run(capsys, "show", folder / "model.json")

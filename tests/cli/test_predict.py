"""`worthwhile predict`."""

import gzip
import io
import sys
from pathlib import Path

import numpy as np
import pytest

import worthwhile as ww
from command_line import fails, read_rows, write, write_table
from command_line import run_joined as run
from worthwhile import cli


def test_predict_adds_four_columns_and_keeps_the_others(capsys, folder, heart, tmp_path):
    code, out, err = run(
        capsys, "predict", folder / "model.json", folder / "new.csv.gz", "-o", tmp_path / "answers.csv"
    )
    assert (code, err) == (0, "")
    clf, X = ww.load(folder / "model.json"), heart.X[200:]
    assert f"103 answers for {clf.test_costs(X).mean():.2f} Canadian dollars per case" in out
    rows = read_rows(tmp_path / "answers.csv")
    before = read_rows(folder / "new.csv.gz")
    added = ["answer", "price_paid", "tests_used", "probability"]
    assert list(rows[0]) == [*before[0], *added]
    assert [{k: v for k, v in row.items() if k not in added} for row in rows] == before
    assert [row["answer"] for row in rows] == clf.predict(X).tolist()
    assert [float(row["price_paid"]) for row in rows] == pytest.approx(clf.test_costs(X).tolist())
    shares = clf.predict_proba(X)[np.arange(103), np.searchsorted(clf.classes_, clf.predict(X))]
    assert [float(row["probability"]) for row in rows] == pytest.approx(shares.tolist(), abs=1e-4)
    for row in rows:
        tests = row["tests_used"].split(";")
        assert heart.costs._bill(tests) == pytest.approx(float(row["price_paid"]))


def test_predict_writes_what_the_suffix_says_and_to_the_screen(capsys, folder, tmp_path):
    assert cli.run(["predict", str(folder / "model.json"), str(folder / "new.csv.gz"), "-o", "-"]) == 0
    text = capsys.readouterr().out
    assert (
        run(capsys, "predict", folder / "model.json", folder / "new.csv.gz", "-q", "-o", tmp_path / "a.csv.gz")[0] == 0
    )
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).decode() == text


def test_predict_with_the_tests_that_were_done_alone(capsys, tmp_path, folder):
    clf = ww.load(folder / "model.json")
    used = clf.tree_.tests_used()
    rows = [{name: row[name] for name in used} for row in read_rows(folder / "new.csv.gz")]
    write_table(tmp_path / "few.csv", used, [list(row.values()) for row in rows])
    assert run(capsys, "predict", folder / "model.json", tmp_path / "few.csv", "-o", tmp_path / "few.out.csv")[0] == 0
    assert run(capsys, "predict", folder / "model.json", folder / "new.csv.gz", "-o", tmp_path / "all.csv")[0] == 0
    few, everything = read_rows(tmp_path / "few.out.csv"), read_rows(tmp_path / "all.csv")
    assert [row["answer"] for row in few] == [row["answer"] for row in everything]


def test_an_answer_that_is_no_class_has_no_probability(capsys, tmp_path):
    write_table(tmp_path / "d.csv", ["x", "y"], [[i % 2, "ab"[i % 4 // 2]] for i in range(40)])
    (tmp_path / "c.toml").write_text("[errors.a]\nb = 10\nunknown = 1\n[errors.b]\na = 10\nunknown = 1\n")
    options = ["--target", "y", "--costs", tmp_path / "c.toml", "--learner", "dtmc", "-o", tmp_path / "m.json"]
    assert run(capsys, "learn", tmp_path / "d.csv", *options)[0] == 0
    assert run(capsys, "predict", tmp_path / "m.json", tmp_path / "d.csv", "-o", tmp_path / "a.csv")[0] == 0
    assert {(row["answer"], row["probability"]) for row in read_rows(tmp_path / "a.csv")} == {("unknown", "")}


@pytest.mark.usefixtures("good_files")
def test_a_file_that_has_answers_already(capsys):
    assert cli.run(["predict", "model.json", "good.csv", "-q", "-o", "a.csv"]) == 0
    assert fails(capsys, "predict", "model.json", "a.csv", "-o", "b.csv") == (
        "a.csv: already has a column 'answer'; rename or remove it"
    )


@pytest.mark.parametrize("out", ["-", "/dev/stdout"])
def test_standard_output_gets_the_bytes_of_the_file_whatever_the_locale(desk, monkeypatch, out):
    (desk / "new.csv").write_text("job,age,café ☕\nmanual,20,é\n", encoding="utf-8")
    assert cli.run(["predict", "model.json", "new.csv", "-q", "-o", "a.csv"]) == 0
    found = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(found, encoding="ascii", errors="replace"))
    assert cli.run(["predict", "model.json", "new.csv", "-o", out]) == 0
    assert found.getvalue() == (desk / "a.csv").read_bytes()


@pytest.mark.usefixtures("desk")
def test_standard_output_gets_the_bytes_of_the_file_also_for_cases_in_another_encoding(capsysbinary):
    """With a byte order mark, which tells spreadsheet programs that it is UTF-8 now."""
    Path("new.csv").write_bytes("job;age;Größe\nmanual;20;1,5\n".encode("cp1252"))
    assert cli.run(["predict", "model.json", "new.csv", "-o", "-"]) == 0
    found = capsysbinary.readouterr().out
    assert found.startswith("\ufeffjob;age;Größe;answer;".encode())
    assert cli.run(["predict", "model.json", "new.csv", "-q", "-o", "a.csv"]) == 0
    assert found == Path("a.csv").read_bytes()


@pytest.mark.usefixtures("desk")
def test_cells_that_are_formulas_are_warned_of_and_kept(capsys):
    write("new.csv", "job,age,note\nmanual,20,=cmd\n")
    assert cli.run(["predict", "model.json", "new.csv", "-q", "-o", "a.csv"]) == 0
    assert capsys.readouterr().err.startswith("worthwhile: warning: a.csv: the cell '=cmd' is a formula")
    assert read_rows(Path("a.csv"))[0]["note"] == "=cmd"


@pytest.mark.usefixtures("desk")
def test_values_that_the_model_never_saw_are_warned_of(capsys):
    write("new.csv", "job,age\nmanuel,20\noffice,30\n")
    words = "Column 'job': 1 of 2 values are unknown, e.g. 'manuel' (did you mean 'manual'?); the model knows"
    assert words in run(capsys, "predict", "model.json", "new.csv", "-o", "a.csv")[1]
    code, out, err = run(capsys, "predict", "model.json", "new.csv", "-o", "-")
    assert (code, "manuel,20" in out) == (0, True)
    assert words in err


@pytest.mark.usefixtures("good_files")
def test_unknown_values_that_are_almost_known_are_suggested(capsys):
    rows = [f"{i % 7},{'Left' if i % 2 else 'right'},{'sick' if i % 2 else 'well'}\n" for i in range(40)]
    write("sides.csv", "age,side,class\n" + "".join(rows))
    known = ["--target", "class", "--learner", "dtmc", "-q", "-o", "sides.json"]
    assert run(capsys, "learn", "sides.csv", *known)[0] == 0
    write("other.csv", "age,side\n3,left\n4,right\n")
    out = run(capsys, "predict", "sides.json", "other.csv", "-o", "answers.csv")[1]
    assert (
        "Column 'side': 1 of 2 values are unknown, e.g. 'left' (did you mean 'Left'?); the model knows 'Left', 'right';"
        " these count as unavailable."
    ) in out

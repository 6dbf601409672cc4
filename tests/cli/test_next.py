"""`worthwhile next`."""

import io
import json
import re
from pathlib import Path

import pytest

import worthwhile as ww
from command_line import HEAD, ROWS, fails, write
from command_line import run_joined as run
from worthwhile import cli
from worthwhile.costs.error_costs import is_missing


def test_next_is_a_dialogue(capsys, folder, monkeypatch):
    clf = ww.load(folder / "model.json")
    first = clf.next_test({}).test
    monkeypatch.setattr("sys.stdin", io.StringIO("u\n" * 20 + "\n"))
    code, out, err = run(capsys, "next", folder / "model.json", "--known", f"{first}=u")
    assert (code, err) == (0, "")
    assert "Answer:" in out


def test_next_that_is_quiet_prints_the_answer_alone(capsys, folder, heart, monkeypatch):
    clf = ww.load(folder / "model.json")
    case = dict(zip(heart.feature_names, heart.X[250], strict=True))
    known = ",".join(f"{name}={value}" for name, value in case.items() if not is_missing(value))
    monkeypatch.setattr("builtins.input", lambda *_: "")
    code, out, err = run(capsys, "next", folder / "model.json", "--quiet", "--known", known)
    assert (code, out) == (0, clf.predict(heart.X[250:251])[0])
    assert err == "Press Enter to finish, or type undo: "  # what it asks does not mix with the answer


def test_next_that_is_stopped(capsys, folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    code, _, err = run(capsys, "next", folder / "model.json")
    assert (code, err) == (130, "worthwhile: stopped\n")


def test_a_quiet_dialogue_prints_the_answer_alone(desk, capsys, monkeypatch):
    answers = iter(["manual", "50", ""])
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    assert cli.run(["next", "model.json", "-q"]) == 0
    said = capsys.readouterr()
    assert said.out == "bad\n"
    assert "job (manual, office): " in said.err


@pytest.mark.usefixtures("good_files")
def test_wrong_results(capsys):
    assert "--known age: write known results as test=value" in fails(capsys, "next", "model.json", "--known", "age")
    assert fails(capsys, "next", "model.json", "--known", "agee=3") == "there is no test 'agee'; did you mean 'age'?"
    assert "age" in fails(capsys, "next", "model.json", "--known", "age=old")
    twice = fails(capsys, "next", "model.json", "--known", "age=3", "--known", "age=4")
    assert twice == "--known age=4: age has a value already, 3"


def test_results_that_others_have_paid_for(capsys, folder, monkeypatch):
    first = ww.load(folder / "model.json").next_test({}).test
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    code, out, _ = run(capsys, "next", folder / "model.json", "--already-paid", first)
    assert code == 0
    assert f"Next: {first} at no extra cost" in out
    message = fails(capsys, "next", folder / "model.json", "--already-paid", "colour")
    assert "there is no test 'colour'" in message


@pytest.mark.usefixtures("good_files")
def test_decimal_commas_of_the_training_file_may_be_typed(capsys, monkeypatch):
    rows = "".join(row.replace(",", ";").replace(";2", ";2.2", 1)[:-1] + "\n" for row in ROWS)
    rows = re.sub(r"2\.2(\d\d);", r"2,2\1;", rows)
    write("comma.csv", HEAD.replace(",", ";") + rows)
    assert cli.run(["learn", "comma.csv", "--target", "class", "--learner", "c45", "-q", "-o", "comma.json"]) == 0
    assert json.loads(Path("comma.json").read_text())["decimal"] == ","
    assert "decimal" not in json.loads(Path("model.json").read_text())
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    code, out, _ = run(capsys, "next", "comma.json", "--known", "chol=2,214,age=45,0,pain=none")
    assert (code, "Answer: well" in out) == (0, True)
    assert "chol │ 2.214" in out
    assert "'1.234' may mean thousands" in fails(capsys, "next", "comma.json", "--known", "age=1.234")
    assert "'1,234' may mean thousands" in fails(capsys, "next", "model.json", "--known", "age=1,234")

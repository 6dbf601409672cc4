"""`worthwhile replay`."""

import json

import pytest

from clinic import clinic, clinic_desk, write_model
from worthwhile import cli
from worthwhile.service.user_store import User


@pytest.fixture
def cases(tmp_path, monkeypatch):
    """A desk with one closed case."""
    monkeypatch.chdir(tmp_path)
    with clinic_desk("cases.db", [write_model(tmp_path)]) as desk, desk.database.write() as connection:
        ana = User("ana", "work")
        case = desk.cases.create(connection, ana, None, "A-1", {"age": 63, "scan": "clear"})
        desk.cases.close(connection, ana, case["id"], "well")
    return tmp_path


def test_another_model(cases, capsys):
    # Without the question for the age: the first test is the scan.
    content = clinic()
    content["nodes"] = [
        {"test": "scan", "branches": [["clear"], ["spot"]], "children": [1, 2], "answer": "well", "weights": [80, 20]},
        {"answer": "well", "weights": [70, 5]},
        {"answer": "sick", "weights": [10, 15]},
    ]
    (cases / "new.json").write_text(json.dumps(content))
    assert cli.run(["replay", "cases.db", "--model", "new.json", "-o", "lines.csv"]) == 0
    out = capsys.readouterr().out
    assert "1 cases, 0 of them with bounds only." in out
    assert "41.00" in out
    assert "40.00" in out
    assert (cases / "lines.csv").read_text().splitlines()[1] == "A-1,41.0,40.0,40.0,41.0,40.0,40.0,"


def test_bounds_and_another_price_list(cases, capsys):
    content = clinic()
    content["nodes"] = [
        {"test": "gene", "branches": [["no"], ["yes"]], "children": [1, 2], "answer": "well", "weights": [80, 20]},
        {"answer": "well", "weights": [70, 5]},
        {"answer": "sick", "weights": [10, 15]},
    ]
    (cases / "new.json").write_text(json.dumps(content))
    assert cli.run(["replay", "--model", "new.json"]) == 0
    assert "900.00 to 1100.00" in capsys.readouterr().out
    (cases / "new.toml").write_text("errors = 10\n[tests]\nage = 2.0\nscan = 3.0\n")
    assert cli.run(["replay", "--costs", "new.toml"]) == 0
    assert "5.00" in capsys.readouterr().out


def test_cases_of_another_kind_are_left_out(cases, capsys):
    content = clinic() | {"classes": ["well", "ill"], "costs": {"errors": 10, "tests": {}}}
    content["nodes"] = [{"answer": "well", "weights": [1, 1]}]
    (cases / "new.json").write_text(json.dumps(content))
    assert cli.run(["replay", "--model", "new.json"]) == 0
    assert "case A-1 is left out: its model heart has other classes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "either another --model or another price list"),
        (["--model", "heart.json", "--costs", "x.toml"], "either another --model"),
        (["--model", "none.json"], "none.json: no such file"),
        (["none.db", "--model", "heart.json"], "none.db: no such file"),
    ],
)
def test_mistakes(cases, capsys, arguments, words):
    assert cli.run(["replay", *arguments]) == 2
    assert words in capsys.readouterr().err

"""`worthwhile backup`."""

import pytest

from worthwhile import cli


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["users", "add", "ana", "-q"]) == 0


def test_a_copy_can_be_audited(tmp_path, capsys):
    assert cli.run(["backup", "cases.db", "-o", "copy.db"]) == 0
    assert "copy.db: 1 events, the chain is whole, head " in capsys.readouterr().out
    assert cli.run(["audit", "copy.db"]) == 0


@pytest.mark.parametrize("command", [["audit", "empty.db"], ["backup", "empty.db", "-o", "copy.db"]])
def test_an_emptied_database_is_not_a_whole_one(tmp_path, capsys, command):
    assert cli.run(["backup", "cases.db", "-o", "copy.db"]) == 0
    good = (tmp_path / "copy.db").read_bytes()
    (tmp_path / "empty.db").touch()
    assert cli.run(command) == 2
    assert "empty.db: is not a database of a desk, or it was emptied" in capsys.readouterr().err
    assert (tmp_path / "empty.db").stat().st_size == 0
    assert (tmp_path / "copy.db").read_bytes() == good


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cases.db", "-o", "cases.db"], "is the database itself"),
        (["none.db", "-o", "copy.db"], "none.db: no such file"),
        (["cases.db", "-o", "none/copy.db"], "no such folder"),
    ],
)
def test_mistakes(capsys, arguments, words):
    assert cli.run(["backup", *arguments]) == 2
    assert words in capsys.readouterr().err

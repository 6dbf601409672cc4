"""`worthwhile audit`."""

import sqlite3

import pytest

from worthwhile import cli


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "cases.db")
    for name in ("ana", "bob"):
        assert cli.run(["users", "add", name, "--db", path, "-q"]) == 0
    return path


def test_a_whole_log(database, capsys):
    capsys.readouterr()
    assert cli.run(["audit", database]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "2 events, the chain is whole."
    head = out[1].removeprefix("head: ")
    assert cli.run(["audit", database, "--head", head]) == 0
    assert cli.run(["audit", database, "--head", "0" * 64]) == 2
    assert "was cut off" in capsys.readouterr().err


def test_a_damaged_log(database, capsys):
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE events SET actor = 'nobody' WHERE seq = 1")
    connection.close()
    assert cli.run(["audit", database]) == 2
    assert "event 1 (user added by nobody" in capsys.readouterr().err

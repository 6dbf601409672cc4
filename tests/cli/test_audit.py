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
    assert out[1] == "Cases, users and models are what the log says."
    head = out[2].removeprefix("head: ")
    assert cli.run(["audit", database, "--head", head]) == 0
    assert cli.run(["audit", database, "--head", "0" * 64]) == 2
    assert "was cut off" in capsys.readouterr().err


def test_a_damaged_log(database, capsys):
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE events SET actor = 'nobody' WHERE seq = 1")
    connection.close()
    assert cli.run(["audit", database]) == 2
    assert "event 1 (user added by nobody" in capsys.readouterr().err


def test_a_user_with_another_role(database, capsys):
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE users SET role = 'admin' WHERE name = 'bob'")
    connection.close()
    assert cli.run(["audit", database]) == 2
    assert "user bob has the role admin, but work by the log" in capsys.readouterr().err

"""`worthwhile users`."""

import pytest

from worthwhile import cli


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_add_list_and_remove(capsys):
    assert cli.run(["users", "add", "ana", "--role", "read"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("ww-")
    assert shown.out.count("\n") == 1  # the token alone, for scripts
    assert shown.err == "The token of ana, with the role read; it is not shown again:\n"
    assert cli.run(["users", "list"]) == 0
    listed = capsys.readouterr().out
    assert listed.startswith("ana\tread\t")
    assert shown.out.strip() not in listed
    assert cli.run(["users", "list", "-q"]) == 0
    assert capsys.readouterr().out == "ana\n"
    assert cli.run(["users", "remove", "ana"]) == 0
    assert capsys.readouterr().out == "ana is removed.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "ana", "--role", "boss"], "'boss' is not one of"),
        (["add", " "], "a user name has 1 to 100"),
        (["list"], "cases.db: no such file"),
        (["remove", "ana"], "cases.db: no such file"),
        (["add", "ana", "--db", "none/cases.db"], "no such folder"),
    ],
)
def test_mistakes(capsys, arguments, words):
    assert cli.run(["users", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1

"""What the commands of the desk share."""

import pytest

from worthwhile import cli
from worthwhile.cli import service_options


@pytest.mark.parametrize(
    "command",
    [
        ["serve", "model.json"],
        ["users", "add", "ana"],
        ["users", "list"],
        ["audit"],
        ["backup"],
        ["replay", "--costs", "x.toml"],
    ],
)
def test_a_missing_extra_is_named(monkeypatch, capsys, command):
    monkeypatch.setattr(service_options, "NEEDED", ("no_such_package",))
    assert cli.run(command) == 2
    expected = (
        "worthwhile: the decision desk needs no_such_package, which is not installed: pip install 'worthwhile[serve]'\n"
    )
    assert capsys.readouterr().err == expected


def test_the_database_by_the_environment(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WORTHWHILE_DB", str(tmp_path / "own.db"))
    assert cli.run(["users", "add", "ana", "-q"]) == 0
    assert (tmp_path / "own.db").exists()
    assert cli.run(["audit"]) == 0
    assert "1 events, the chain is whole" in capsys.readouterr().out

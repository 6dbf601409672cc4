"""Backups of SQLite and PostgreSQL."""

import shutil
import stat
import subprocess

import pytest
import sqlalchemy as sa

from worthwhile.service.audit import verify_chain
from worthwhile.service.backup import back_up
from worthwhile.service.database import StorageError, open_database


def test_a_copy_is_whole(client, desk, tmp_path):
    client.new("A", age=63)
    target = tmp_path / "copy.db"
    if not desk.database.is_sqlite and shutil.which("pg_dump") is None:
        with pytest.raises(ValueError, match="needs pg_dump"):
            back_up(desk.database, target)
        return
    report = back_up(desk.database, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".worthwhile-*"))
    client.new("B", age=30)
    if desk.database.is_sqlite:
        copy = open_database(target, create=False)
        assert verify_chain(copy) == report
        with copy.read() as connection:
            assert connection.execute(sa.text("SELECT case_number FROM cases")).scalars().all() == ["A"]
        copy.close()
    else:
        listed = subprocess.run(["pg_restore", "--list", target], capture_output=True, text=True, check=True).stdout
        assert "TABLE DATA public events" in listed


def test_a_damaged_log_replaces_no_good_copy(file_desk, tmp_path):
    target = tmp_path / "copy.db"
    target.write_text("yesterday's copy")
    with file_desk.database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE events SET actor = 'x'"))
    with pytest.raises(StorageError, match="not written, the log is damaged"):
        back_up(file_desk.database, target)
    assert target.read_text() == "yesterday's copy"
    assert not list(tmp_path.glob(".worthwhile-*"))


def test_targets_that_cannot_be_written(file_desk, tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        back_up(file_desk.database, tmp_path)
    with pytest.raises(ValueError, match="no such folder"):
        back_up(file_desk.database, tmp_path / "none" / "copy.db")

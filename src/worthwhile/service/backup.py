"""Copies of the database while it is in use."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path

from worthwhile.service.audit import AuditReport, verify_chain
from worthwhile.service.database import Database, StorageError, open_database

__all__ = ["back_up"]


def back_up(database: Database, target: Path) -> AuditReport:
    """Copy a database into a file and verify the copy; an existing file is replaced only by a good one.

    SQLite: a database that `serve` opens. PostgreSQL: an archive for pg_restore; the live chain is verified.
    """
    if target.is_dir() or not target.absolute().parent.is_dir():
        raise ValueError(f"{target}: is a folder" if target.is_dir() else f"{target}: no such folder")
    temporary = target.absolute().with_name(f".worthwhile-{secrets.token_hex(8)}.tmp")
    try:
        report = _copy_file(database, temporary) if database.is_sqlite else _dump(database, temporary)
        if report.problems:
            raise StorageError(f"{target}: not written, the log is damaged: {report.problems[0]}")
        os.replace(temporary, target)
    finally:
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{temporary}{ending}").unlink()
    return report


def _copy_file(database: Database, temporary: Path) -> AuditReport:
    try:
        with closing(sqlite3.connect(str(database.engine.url.database))) as source:
            _create_private(temporary)
            with closing(sqlite3.connect(temporary)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE").close()  # one file, nothing beside it
                damage = copy.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.Error as error:
        raise StorageError(f"{database.shown}: cannot be copied: {error}") from None
    if damage != "ok":
        raise StorageError(f"{database.shown}: is damaged: {damage}")
    copied = open_database(temporary, create=False)
    try:
        return verify_chain(copied)
    finally:
        copied.close()


def _create_private(path: Path) -> None:
    """Create a file that only its owner can read: it has everything about the cases."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _dump(database: Database, temporary: Path) -> AuditReport:
    program = shutil.which("pg_dump")
    if program is None:
        raise ValueError("backing up PostgreSQL needs pg_dump; Debian: apt-get install postgresql-client")
    url = database.engine.url.set(drivername="postgresql")
    # The password goes by the environment: command lines can be seen by everybody on the machine.
    environment = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    plain = url.set(password=None).render_as_string(hide_password=False)
    _create_private(temporary)
    command = [program, "--format=custom", f"--file={temporary}", f"--dbname={plain}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        line = done.stderr.strip().splitlines()
        raise StorageError(f"{database.shown}: pg_dump failed: {line[-1] if line else done.returncode}")
    return verify_chain(database)

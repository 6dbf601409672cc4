"""The database: what goes wrong is said in one line, and nothing is half written."""

import os
import re
import resource
import sqlite3
import stat
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from clinic import Client, write_model
from killing import forked_servers
from worthwhile.service import database as module
from worthwhile.service.audit import verify_chain
from worthwhile.service.database import FairLock, StorageError, bundled, now, open_database
from worthwhile.service.event_log import append_event
from worthwhile.service.tables import idempotency
from worthwhile.service.user_store import UserStore


def test_open_twice_keeps_what_is_there(place):
    first = open_database(place)
    with first.write() as connection:
        append_event(connection, "ana", "noted", {})
    first.close()
    second = open_database(place)
    assert verify_chain(second).n_events == 1
    second.close()


def test_a_locked_database_is_a_clear_error(file_client, file_desk, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.05)
    file_desk.database.engine.dispose()
    monkeypatch.setattr(file_desk.database, "engine", module._engine(file_desk.database.engine.url))
    other = sqlite3.connect(tmp_path / "cases.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    detail = file_client.call("/cases", {"case_number": "1"}, 503)["detail"]
    assert "the database is locked by another program; nothing was written, try again" in detail
    assert file_client.call("/cases")["total"] == 0  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    file_client.call("/cases", {"case_number": "1"}, 201)
    file_desk.database.engine.dispose()


class LimitedSize:
    """A server whose files must not grow: a quota."""

    words = "the disk cannot be written"
    command = ()

    def __init__(self, folder, process):
        self.place, self._process = folder / "cases.db", process

    def fill(self):
        size = max(path.stat().st_size for path in self.place.parent.glob("cases.db*"))
        resource.prlimit(self._process, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def free(self):
        resource.prlimit(self._process, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class FullDisk:
    """A server with a small disk of its own, in memory, which other programs do not see; it ends with the server."""

    words = "the disk is full"
    command = (
        *("unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount", "sh", "-c"),
        'cp "$1/cases.db" "$1/../copy.db" && mount -t tmpfs -o size=1m none "$1" && cp "$1/../copy.db" "$1/cases.db"'
        ' && shift && exec "$@"',
        "sh",
    )

    def __init__(self, folder, process):
        self.place = Path(f"/proc/{process}/root{folder}/cases.db")

    def fill(self):
        with suppress(OSError), self.place.with_name("filler").open("wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass

    def free(self):
        self.place.with_name("filler").unlink()


@pytest.mark.parametrize("disk", [LimitedSize, FullDisk])
def test_a_full_disk_is_a_clear_error(disk, tmp_path):
    if disk.command and subprocess.run([*disk.command[:-2], "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs to mount a disk: root, or user namespaces")
    folder = tmp_path / "disk"
    folder.mkdir()
    database = open_database(folder / "cases.db")
    token = UserStore(database).add("ana", "work")
    database.close()
    command = (*disk.command, str(folder)) if disk.command else ()
    with forked_servers(folder / "cases.db", write_model(tmp_path), *command) as servers:
        servers.start()
        address = f"http://127.0.0.1:{servers.port}"
        with Client(address, token) as client:
            case = client.new(age=63)
            full = disk(folder, servers.process)
            full.fill()
            kept, details = [], []
            while len(details) < 3:
                assert len(kept) < 100
                text = f"{len(kept)} {'x' * 9000}"
                answer = client.post(f"/api/cases/{case['id']}/notes", json={"text": text})
                if answer.status_code == 200:
                    kept.append(text)  # there was a little room left
                else:
                    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
                    details.append(answer.json()["detail"])
            assert len(set(details)) == 1
            assert re.fullmatch(f"{disk.words}[^;.]*; nothing was written[^.]*", details[0])
            page = client.post("/login", data={"token": token})
            assert (page.status_code, "nothing was written" in page.text) == (503, True)
            assert client.get("/healthz").status_code == 200
            assert len(client.call(f"/cases/{case['id']}")["notes"]) == len(kept)  # reading goes on
            full.free()
            last = client.call(f"/cases/{case['id']}/notes", {"text": "there is room again"})
            assert [note["text"] for note in last["notes"]] == [*kept, "there is room again"]
            database = open_database(full.place, create=False)
            assert verify_chain(database).problems == ()
            with database.read() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
            database.close()


def test_writers_wait_for_each_other(desk):
    def write(number):
        for _ in range(5):
            with desk.database.write() as connection:
                append_event(connection, f"writer {number}", "noted", {})

    threads = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = verify_chain(desk.database)
    assert (report.n_events, report.problems) == (31, ())


def test_too_many_changes_at_once(file_desk, monkeypatch):
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.01)
    with (
        file_desk.database.write(),
        pytest.raises(StorageError, match="too many changes at once"),
        file_desk.database.write(),
    ):
        pass


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("no/such/folder/cases.db", "no such folder"),
        ("mysql://x/y", "mysql is not supported"),
        ("://", "not a URL"),
        ("postgresql://desk:secret@127.0.0.1:1/none?connect_timeout=2", "127.0.0.1"),
        ("postgresql://desk:secret@127.0.0.1:port/none", "--db: not a URL; write a file name, or e.g."),
    ],
)
def test_places_that_cannot_be_opened(place, words):
    with pytest.raises((OSError, ValueError), match=words) as caught:
        open_database(place)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    if isinstance(caught.value, StorageError):
        assert caught.value.reason == "the database is out of reach"


def test_a_lock_goes_to_those_who_wait_in_the_order_in_which_they_came():
    lock, got, threads = FairLock(), [], []

    def wait(number):
        assert lock.acquire(20)
        got.append(number)
        lock.release()

    assert lock.acquire(0)
    for number in range(8):
        threads.append(threading.Thread(target=wait, args=(number,)))
        threads[-1].start()
        while len(lock._waiting) <= number:
            time.sleep(0.001)
    assert not lock.acquire(0.01)  # who gives up is left out
    lock.release()
    for thread in threads:
        thread.join()
    assert got == list(range(8))
    assert lock.acquire(0)


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_connections_that_postgresql_has_closed_are_made_again(desk, ana):
    with desk.database.write() as connection:
        case = desk.cases.create(connection, ana, None, "7", {"age": 63})
    with desk.database.glance() as one, desk.database.glance() as other:  # two connections in the pool
        assert [each.execute(sa.text("SELECT 1")).scalar() for each in (one, other)] == [1, 1]
    own = "datname = current_database() AND pid <> pg_backend_pid()"
    admin = sa.create_engine(desk.database.engine.url)
    with admin.connect() as connection:
        ended = connection.execute(sa.text(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {own}"))
        assert ended.scalars().all() == [True, True]
    admin.dispose()
    with desk.database.write() as connection:
        assert desk.cases.note(connection, ana, case["id"], "still there", None)["version"] == 2
    with desk.database.glance() as connection:
        assert desk.cases.get(connection, case["id"])["version"] == 2


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_an_error_among_bundled_changes_takes_all_of_them_back(desk):
    row = {"user_name": "ana", "key": "k", "digest": "", "status": 200, "body": "", "created_at": now()}

    def twice():
        with desk.database.write() as connection, bundled(connection):
            append_event(connection, "ana", "noted", {})
            for _ in range(2):
                connection.execute(idempotency.insert().values(row))

    with pytest.raises(StorageError, match="idempotency_pkey"):
        twice()
    with desk.database.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(idempotency)).scalar() == 0
    assert verify_chain(desk.database).problems == ()


def test_a_change_takes_few_statements(desk, ana):
    with desk.database.write() as connection:
        case = desk.cases.create(connection, ana, None, "7", {"age": 63})
    sent = []
    sa.event.listen(desk.database.engine, "before_cursor_execute", lambda *args: sent.append(args[2]))
    with desk.database.write() as connection:
        desk.cases.results(connection, ana, case["id"], {"scan": "spot"}, case["version"])
    # Case, events; event, end of the chain, case. SQLite also begins and reads the end of the chain here; PostgreSQL
    # does both in one more.
    assert len(sent) == 5 + 2 * desk.database.is_sqlite


def test_a_reader_sees_one_state(desk):
    with desk.database.read() as reading:
        before = reading.execute(sa.text("SELECT seq FROM chain_head")).scalar()
        with desk.database.write() as connection:
            append_event(connection, "ana", "noted", {})
        assert reading.execute(sa.text("SELECT seq FROM chain_head")).scalar() == before


def test_errors_that_are_not_of_the_connection(desk):
    with pytest.raises(StorageError, match="no_such_table") as caught, desk.database.read() as connection:
        connection.execute(sa.text("SELECT 1 FROM no_such_table"))
    assert desk.database.shown in str(caught.value)
    assert "no_such_table" not in caught.value.reason


def test_files_that_are_no_database(tmp_path):
    (tmp_path / "notes.txt").write_text("This is no database at all, but a text.\n" * 50)
    with pytest.raises(StorageError, match="is not a database of SQLite"):
        open_database(tmp_path / "notes.txt")
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_database(tmp_path / "cases.db", create=False)


def test_a_database_of_a_later_release_is_refused(place):
    database = open_database(place)
    with database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    with pytest.raises(ValueError, match="later release"):
        open_database(place)


def test_only_the_owner_can_read_the_file(tmp_path):
    open_database(tmp_path / "cases.db").close()
    assert stat.S_IMODE((tmp_path / "cases.db").stat().st_mode) == 0o600

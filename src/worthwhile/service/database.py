"""The database behind the desk: SQLite in a file, or PostgreSQL by URL."""

from __future__ import annotations

import os
import selectors
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from worthwhile.service.tables import chain_head

__all__ = ["HEAD", "Database", "FairLock", "StorageError", "bundled", "now", "open_database"]

BUSY_SECONDS = 5.0
HEAD = "head of the chain"  # in the `info` of a connection that writes: number and hash of the last event
READ_HEAD = sa.select(chain_head.c.seq, chain_head.c.hash)
MIGRATIONS = Path(__file__).with_name("migrations")


class StorageError(OSError):
    """The database cannot do it now: locked, full, read-only or out of reach. Nothing was written.

    Attributes
    ----------
    reason : str
        What everybody may read: without the name of the database, of its host or of its user.
    """

    def __init__(self, message: str, reason: str = "the database is out of reach") -> None:
        super().__init__(message)
        self.reason = reason


def now() -> str:
    """Return the time in UTC, as it is stored.

    Examples
    --------
    >>> len(now()), now()[-1]
    (27, 'Z')
    """
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class FairLock:
    """A lock that goes to those who wait in the order in which they came; one of `threading` goes to anybody.

    Examples
    --------
    >>> lock = FairLock()
    >>> lock.acquire(0.0), lock.acquire(0.0), lock.release(), lock.acquire(0.0)
    (True, False, None, True)
    """

    def __init__(self) -> None:
        self._mutex, self._held = threading.Lock(), False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, seconds: float) -> bool:
        """Wait for the lock for some seconds at most; return whether it was got."""
        with self._mutex:
            if not self._held:
                self._held = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        mine.wait(seconds)
        with self._mutex:
            if not mine.is_set():
                self._waiting.remove(mine)
            return mine.is_set()

    def release(self) -> None:
        """Hand the lock to the one who has waited longest."""
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False


class Database:
    """A database with transactions that read, and transactions that write, one after another.

    Parameters
    ----------
    engine : sqlalchemy.Engine
    shown : str
        Its name in messages: the path or the URL without the password.
    """

    def __init__(self, engine: sa.Engine, shown: str) -> None:
        self.engine, self.shown = engine, shown
        # SQLite lets one write at a time and wakes those who wait in no order.
        self._writing = FairLock()

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of SQLite."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def glance(self) -> Iterator[sa.Connection]:
        """Open a connection for a single query, which sees one state of the database by itself."""
        with self._clear_errors(), self.engine.connect() as connection:
            yield connection.execution_options(begin="")

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Open a transaction that sees one state of the database."""
        # In PostgreSQL every query sees a state of its own otherwise; SQLite always shows one.
        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._clear_errors(), self.engine.connect() as plain:
            connection = plain.execution_options(begin=begin)
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Open a transaction that holds the chain of events; it is stored for good when this returns."""
        if not self._writing.acquire(BUSY_SECONDS):
            busy = "too many changes at once; try again"
            raise StorageError(f"{self.shown}: {busy}", busy)
        try:
            with self._clear_errors(), self.engine.connect() as plain:
                connection = plain.execution_options(begin="BEGIN IMMEDIATE" if self.is_sqlite else "")
                with connection.begin():
                    connection.info[HEAD] = self._chain_head(connection)
                    yield connection
        finally:
            self._writing.release()

    def _chain_head(self, connection: sa.Connection) -> tuple[int, str]:
        """Return number and hash of the last event; no other transaction can write until this one ends."""
        if self.is_sqlite:
            seq, seal = connection.execute(READ_HEAD).one()
        else:  # one round trip begins the transaction, waits for the others and reads what they left
            with closing(connection.connection.cursor()) as cursor:
                cursor.execute("BEGIN; SELECT seq, hash FROM chain_head FOR UPDATE")
                cursor.nextset()
                [(seq, seal)] = cursor.fetchall()
        return seq, seal

    def forget_old_pages(self) -> None:
        """Make what was erased unreadable at once: SQLite keeps old pages in its log (-wal) until it overwrites them.

        It waits for readers as long as a locked database may be waited for; the next erasure catches up on a miss.
        """
        if self.is_sqlite:
            with closing(self.engine.raw_connection()) as connection:  # outside a transaction
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").close()

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        driver: Any = self.engine.dialect.loaded_dbapi
        try:
            yield
        except (exc.DataError, driver.DataError):
            raise ValueError("the request has a character or a number that the database cannot store") from None
        except (exc.DBAPIError, driver.Error) as error:  # the latter from what is sent without SQLAlchemy
            cause = error.orig if isinstance(error, exc.DBAPIError) else error
            known = _what_failed(str(cause))
            text = known or str(cause).strip().partition("\n")[0] or type(cause).__name__
            away = isinstance(cause, (driver.OperationalError, driver.InterfaceError))
            reason = known or f"the database {'is out of reach' if away else 'failed'}"
            raise StorageError(f"{self.shown}: {text}", reason) from error

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def bundled(connection: sa.Connection) -> Iterator[None]:
    """Send changes together, in one round trip to PostgreSQL; nothing inside may be a query, or ask how many rows."""
    if connection.dialect.name == "sqlite":
        yield
    else:
        driver: Any = connection.connection.driver_connection
        with driver.pipeline():
            yield


def _what_failed(cause: str) -> str | None:
    """Return the cause of an error in words that name nothing; None if it is none of the usual ones."""
    low = cause.casefold()
    for sign, words in (
        ("locked", "the database is locked by another program; nothing was written, try again"),
        ("disk is full", "the disk is full; nothing was written, free some space and try again"),
        ("no space left", "the disk is full; nothing was written, free some space and try again"),
        ("disk i/o error", "the disk cannot be written: over a quota, or failing; nothing was written"),
        ("readonly", "the database is read-only; nothing was written"),
        ("read-only", "the database is read-only; nothing was written"),
        ("not a database", "the file is not a database of SQLite"),
        ("unable to open", "the file cannot be opened; is the folder there, and may it be written?"),
    ):
        if sign in low:
            return words
    return None


def open_database(place: str | Path, create: bool = True) -> Database:
    """Open a database and bring its tables up to date.

    Parameters
    ----------
    place : str or path
        A file of SQLite, or a URL such as postgresql://user:password@host/name.
    create : bool
        Whether a missing file, or the tables in an empty database, are created.

    Raises
    ------
    StorageError, ValueError
        With one line about what is wrong.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     database = open_database(f"{folder}/cases.db")
    ...     with database.read() as connection:
    ...         print(connection.execute(sa.text("SELECT seq FROM chain_head")).scalar())
    ...     database.close()
    0
    """
    url = _url(str(place))
    path = (
        None if url.get_backend_name() != "sqlite" or url.database in (None, ":memory:") else Path(url.database or "")
    )
    if path is not None and not path.exists():
        if not create:
            raise FileNotFoundError(f"{path}: no such file")
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(f"{path}: no such folder: {path.absolute().parent}")
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # it has everything about the cases
    shown = str(path) if path is not None else url.render_as_string(hide_password=True)
    if path is not None and not create and path.stat().st_size == 0:  # SQLite would write to it
        raise _no_desk(shown)
    database = Database(_engine(url), shown)
    try:
        _migrate(database, create)
    except BaseException:
        database.close()
        raise
    return database


def _url(place: str) -> sa.URL:
    if "://" not in place:
        return sa.URL.create("sqlite", database=place)
    try:
        url = sa.make_url(place)
    except (exc.ArgumentError, ValueError):  # ValueError: a port that is no number
        raise ValueError("--db: not a URL; write a file name, or e.g. postgresql://user@host:5432/name") from None
    name = url.drivername
    if name in ("postgresql", "postgres", "postgresql+psycopg"):
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise ValueError("PostgreSQL needs the extra: pip install 'worthwhile[postgres]'") from None
        return url.set(drivername="postgresql+psycopg")
    if name != "sqlite":
        raise ValueError(f"--db: {name} is not supported; use a file of SQLite or postgresql://user@host/name")
    return url


def _engine(url: sa.URL) -> sa.Engine:
    pool: dict[str, Any] = {"pool_size": 20, "max_overflow": 40}
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}, **pool)
        sa.event.listen(engine, "connect", _prepare_sqlite)
    else:
        engine = sa.create_engine(url, connect_args={"autocommit": True}, **pool)
        sa.event.listen(engine, "checkout", _check_socket)

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:  # not by the driver, which would need a round trip of its own
        if begin := connection.get_execution_options().get("begin", "BEGIN"):
            connection.exec_driver_sql(begin)

    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions are begun by us, not by the driver
    # WAL: readers never wait. FULL: an acknowledged write survives a power cut. secure_delete: what is erased is
    # overwritten.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _check_socket(connection: Any, *_: Any) -> None:
    """Refuse a connection whose server went away: its socket has something to read. Asking would be a round trip."""
    with selectors.DefaultSelector() as selector:
        if connection.closed or (selector.register(connection.fileno(), selectors.EVENT_READ) and selector.select(0)):
            raise exc.InvalidatePoolError


def _migrate(database: Database, create: bool) -> None:
    """Bring the tables up to date; a database of a later release is refused, and without `create` an empty one."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    newest = ScriptDirectory.from_config(config).get_current_head()
    with database._clear_errors(), database.engine.connect() as plain:
        connection = plain.execution_options(begin="BEGIN IMMEDIATE" if database.is_sqlite else "BEGIN")
        with connection.begin():
            revision = _revision(connection)
            if revision == newest:
                return
            if revision is None and not create:
                raise _no_desk(database.shown)
            if not database.is_sqlite:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7077)"))  # two servers may start at once
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            except CommandError:
                raise ValueError(f"{database.shown}: was written by a later release of worthwhile") from None


def _no_desk(shown: str) -> ValueError:
    return ValueError(f"{shown}: is not a database of a desk, or it was emptied")


def _revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return found

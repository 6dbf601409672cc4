"""Desks on SQLite and on PostgreSQL."""

import itertools

import pytest
import sqlalchemy as sa

from clinic import PROGRAMS, Client, clinic_desk, postgresql, running, write_model
from worthwhile.service.user_store import User

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server; its URL with a place for the name of a database."""
    if not PROGRAMS:
        pytest.skip("needs PostgreSQL (Debian: apt-get install postgresql)")
    pytest.importorskip("psycopg", reason="needs psycopg (pip install 'psycopg[binary]')")
    with postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """An empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "cases.db")
    url, name = request.getfixturevalue("postgres"), f"desk{next(NUMBERS)}"
    admin = url.format("postgres").replace("postgresql:", "postgresql+psycopg:")
    engine = sa.create_engine(admin, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return url.format(name)


@pytest.fixture
def desk(place, tmp_path):
    """A desk with the clinic's model, on both kinds of databases."""
    with clinic_desk(place, [write_model(tmp_path)]) as desk:
        yield desk


@pytest.fixture
def file_desk(tmp_path):
    """A desk with the clinic's model on SQLite, for what does not depend on the database."""
    with clinic_desk(tmp_path / "cases.db", [write_model(tmp_path)]) as desk:
        yield desk


@pytest.fixture
def ana():
    return User("ana", "admin")


@pytest.fixture
def change(file_desk, ana):
    """A function that changes a case of `file_desk`: change("order", case, ["scan"])."""

    def change(what, *args, **more):
        with file_desk.database.write() as connection:
            return getattr(file_desk.cases, what)(connection, ana, *args, **more)

    return change


@pytest.fixture
def client(desk):
    """A client of a running desk that may do everything, on both kinds of databases."""
    token = desk.users.add("ana", "admin")
    with running(desk) as address, Client(address, token) as client:
        yield client


@pytest.fixture
def file_client(file_desk):
    """The same on SQLite only."""
    token = file_desk.users.add("ana", "admin")
    with running(file_desk) as address, Client(address, token) as client:
        yield client

"""Trees as SQL queries, run by the databases."""

import datetime
import sqlite3

import numpy as np
import pandas as pd
import pytest

from exported import NAMES, cases_of, check, exported_tree
from handmade import small, tree
from postgres_server import server
from worthwhile.export import ExportError, to_sql

TYPES = {"sqlite": ("REAL", "TEXT"), "duckdb": ("DOUBLE", "VARCHAR"), "postgresql": ("double precision", "text")}


@pytest.fixture(scope="module")
def postgres():
    psycopg = pytest.importorskip("psycopg")
    # Tables of one name differ between tests: statements are not kept.
    with server() as address, psycopg.connect(address, autocommit=True, prepare_threshold=None) as connection:
        yield connection


@pytest.fixture
def database(request):
    """A function that runs SQL in a database and returns the rows, if any."""
    dialect = request.param
    if dialect == "sqlite":
        connection = sqlite3.connect(":memory:")
        yield (
            dialect,
            lambda text, values=None: _all(
                connection.executemany(text, values) if values else connection.execute(text)
            ),
        )
        connection.close()
    elif dialect == "duckdb":
        connection = pytest.importorskip("duckdb").connect()
        yield (
            dialect,
            lambda text, values=None: _all(
                connection.executemany(text, values) if values else connection.execute(text)
            ),
        )
        connection.close()
    else:
        connection = request.getfixturevalue("postgres")
        cursor = connection.cursor()

        def run(text, values=None):
            if values:
                cursor.executemany(text.replace("?", "%s"), values)
                return []
            cursor.execute(text.encode())  # without values, % is only a character
            return cursor.fetchall() if cursor.description else []

        yield dialect, run


def _all(result):
    return result.fetchall()


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def fill(run, dialect, X, schema, table="cases"):
    """Make a table of some cases."""
    kinds = [TYPES[dialect][values is not None] for values in schema.values]
    names = [quoted(name) for name in X.columns]
    dates = set(schema.dates)
    kinds = [
        ("TEXT" if dialect == "sqlite" else "TIMESTAMP") if n in dates else k
        for n, k in zip(X.columns, kinds, strict=True)
    ]
    run(f"DROP TABLE IF EXISTS {quoted(table)}")
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    run(f"CREATE TABLE {quoted(table)} (row_number INTEGER, {columns})")
    rows = []
    for at, row in enumerate(X.itertuples(index=False)):
        cells = [None if pd.isna(value) else value for value in row]
        for place, name in enumerate(X.columns):
            if name in dates and cells[place] is not None:
                moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=float(cells[place]))
                cells[place] = moment.isoformat(sep=" ") if dialect == "sqlite" else moment
        rows.append((at, *cells))
    run(f"INSERT INTO {quoted(table)} VALUES ({', '.join('?' * (len(names) + 1))})", rows)


DATABASES = pytest.mark.parametrize("database", ["sqlite", "duckdb", "postgresql"], indirect=True)


@DATABASES
@pytest.mark.parametrize("name", NAMES)
def test_a_database_decides_like_the_tree(database, name):
    dialect, run = database
    model = exported_tree(name)
    X = cases_of(model)
    fill(run, dialect, X, model.schema)
    rows = sorted(run(to_sql(model, dialect)))
    check(model, X, [row[-2] for row in rows], [float(row[-1]) for row in rows])


@DATABASES
def test_refused_rows_are_null(database):
    dialect, run = database
    model = tree(small())
    fill(run, dialect, pd.DataFrame({"x": [None, 1.0, -1.0], "y": [1.0, None, None]}), model.schema, 'odd "name"')
    rows = sorted(run(to_sql(model, dialect, table='odd "name"', missing=False)))
    assert [row[-2:] for row in rows[:2]] == [(None, None), (None, None)]
    assert rows[2][-2] == "no"
    assert float(rows[2][-1]) == 1.0


@DATABASES
def test_nan_and_other_types_of_columns(database):
    dialect, run = database
    model = exported_tree("labels")
    first = quoted(model.columns[0])
    kinds = {"sqlite": "INTEGER", "duckdb": "BOOLEAN", "postgresql": "boolean"}
    real = TYPES[dialect][0]
    run("DROP TABLE IF EXISTS cases")
    stamp = "TEXT" if dialect == "sqlite" else "DATE"
    others = f"seen {stamp}, flag {kinds[dialect]}, level {real}, x {real}"
    run(f"CREATE TABLE cases (row_number INTEGER, {first} VARCHAR(9), {others})")
    nan = "NULL" if dialect == "sqlite" else "'NaN'"
    true = "1" if dialect == "sqlite" else "TRUE"
    run(f"INSERT INTO cases VALUES (0, '\"x\"', NULL, {true}, NULL, NULL)")
    run("INSERT INTO cases VALUES (1, 'A', NULL, NULL, 2, NULL)")
    run(f"INSERT INTO cases VALUES (2, 'a', '2024-04-01', NULL, NULL, {nan})")
    rows = sorted(run(to_sql(model, dialect)))
    X = pd.DataFrame(
        {
            model.columns[0]: ['"x"', "A", "a"],
            "seen": [np.nan, np.nan, 19814.0],
            "flag": ["True", None, None],
            "level": [None, "2", None],
            "x": np.nan,
        }
    )
    check(model, X, [row[-2] for row in rows], [float(row[-1]) for row in rows])


def test_sqlite_does_not_take_texts_for_numbers():
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE cases (x, y); INSERT INTO cases VALUES ('1.5', 0), (1.5, 0)")
    rows = connection.execute(to_sql(tree(small()))).fetchall()
    assert [row[-2] for row in rows] == [None, "yes"]
    connection.close()


def test_what_sql_cannot_write_is_named():
    with pytest.raises(ValueError, match="unknown dialect 'oracle'; choose from sqlite, postgresql, duckdb"):
        to_sql(tree(small()), "oracle")
    with pytest.raises(ExportError, match=r"the name 'a.*' contains a character that SQL does not allow"):
        to_sql(tree(small()), table="a\0")

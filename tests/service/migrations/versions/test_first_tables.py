"""The first migration makes the tables that the code uses, and can be taken back."""

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext

from worthwhile.service.database import MIGRATIONS, open_database
from worthwhile.service.tables import metadata


def test_migrations_make_the_tables_of_the_code(place):
    database = open_database(place)
    with database.engine.begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    database.close()


def test_downgrade(tmp_path):
    database = open_database(tmp_path / "cases.db")
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with database.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        assert sa.inspect(connection).get_table_names() == ["alembic_version"]
    database.close()

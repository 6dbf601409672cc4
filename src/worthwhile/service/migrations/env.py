"""Runs migrations on the connection that `worthwhile.service.database` passes; alembic loads this file."""

from alembic import context

from worthwhile.service.tables import metadata

if hasattr(context, "config"):  # only while alembic runs; tests of examples import every file
    context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
    with context.begin_transaction():
        context.run_migrations()

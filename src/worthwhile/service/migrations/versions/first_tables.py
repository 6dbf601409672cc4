"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables, and the head of an empty chain."""
    # The tables are written out here: this step must stay what it is when tables.py changes.
    op.create_table(
        "models",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("added_at", sa.String(32), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.UniqueConstraint("name", "version", name="one_model_per_version"),
    )
    op.create_table(
        "users",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("removed_at", sa.String(32)),
    )
    op.create_table(
        "sessions",
        sa.Column("cookie_hash", sa.String(64), primary_key=True),
        sa.Column("user_name", sa.String(200), nullable=False),
        sa.Column("form_token", sa.String(64), nullable=False),
        sa.Column("expires_at", sa.String(32), nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("time", sa.String(32), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("action", sa.String(20), nullable=False),
        sa.Column("case_id", sa.String(32)),
        sa.Column("salt", sa.String(32)),
        sa.Column("content", sa.Text),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_index("events_by_case", "events", ["case_id", "seq"])
    head = op.create_table(
        "chain_head",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.bulk_insert(head, [{"id": 1, "seq": 0, "hash": ""}])
    _create_cases()


def _create_cases() -> None:
    op.create_table(
        "cases",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("case_number", sa.String(200), nullable=False),
        sa.Column("model_id", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("opened_at", sa.String(32), nullable=False),
        sa.Column("changed_at", sa.String(32), nullable=False),
        sa.Column("closed_at", sa.String(32)),
        sa.Column("next_test", sa.String(200)),
        sa.Column("waiting_for", sa.Text),
        sa.Column("waiting_since", sa.String(32)),
        sa.Column("spent", sa.Float, nullable=False),
        sa.Column("expected", sa.Float),
        sa.Column("actual", sa.Float),
        sa.Column("content", sa.Text, nullable=False),
    )
    op.create_index("cases_by_number", "cases", ["case_number"])
    op.create_index("cases_by_state", "cases", ["state", "changed_at"])
    op.create_table(
        "idempotency",
        sa.Column("user_name", sa.String(200), primary_key=True),
        sa.Column("key", sa.String(200), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("case_id", sa.String(32)),
        sa.Column("created_at", sa.String(32), nullable=False),
    )


def downgrade() -> None:
    """Drop everything."""
    for name in ("idempotency", "cases", "chain_head", "events", "sessions", "users", "models"):
        op.drop_table(name)

"""The tables of the database. Times are UTC in ISO 8601, so that they sort as text and hash the same everywhere."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

__all__ = ["cases", "chain_head", "events", "idempotency", "metadata", "models", "sessions", "users"]

metadata = MetaData()

models = Table(
    "models",
    metadata,
    Column("id", String(64), primary_key=True),  # SHA-256 of name and content
    Column("name", String(200), nullable=False),
    Column("version", Integer, nullable=False),
    Column("added_at", String(32), nullable=False),
    Column("content", Text, nullable=False),
    UniqueConstraint("name", "version", name="one_model_per_version"),
)

users = Table(
    "users",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("role", String(10), nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("created_at", String(32), nullable=False),
    Column("removed_at", String(32)),
)

sessions = Table(
    "sessions",
    metadata,
    Column("cookie_hash", String(64), primary_key=True),
    Column("user_name", String(200), nullable=False),
    Column("form_token", String(64), nullable=False),
    Column("expires_at", String(32), nullable=False),
)

# Append-only: the history of every case and everything else that was changed, each row sealed by the one before it.
events = Table(
    "events",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("time", String(32), nullable=False),
    Column("actor", String(200), nullable=False),
    Column("action", String(20), nullable=False),
    Column("case_id", String(32)),
    Column("salt", String(32)),  # salt and content are NULL once a case is erased; the digest stays
    Column("content", Text),
    Column("digest", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Index("events_by_case", "case_id", "seq"),
)

# One row. Whoever writes holds it, so that two writers never continue the chain from the same place.
chain_head = Table(
    "chain_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
)

# What the events of a case add up to, kept for lists and searches; it can be computed again from the events.
cases = Table(
    "cases",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("case_number", String(200), nullable=False),
    Column("model_id", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("state", String(10), nullable=False),
    Column("opened_at", String(32), nullable=False),
    Column("changed_at", String(32), nullable=False),
    Column("closed_at", String(32)),
    Column("next_test", String(200)),
    Column("waiting_for", Text),
    Column("waiting_since", String(32)),
    Column("spent", Float, nullable=False),
    Column("expected", Float),  # what the whole case was expected to cost when it was opened
    Column("actual", Float),  # what it did cost; known with the outcome
    Column("content", Text, nullable=False),  # the case as the API shows it
    Index("cases_by_number", "case_number"),
    Index("cases_by_state", "state", "changed_at"),
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("user_name", String(200), primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("digest", String(64), nullable=False),  # of the request
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("case_id", String(32)),
    Column("created_at", String(32), nullable=False),
)

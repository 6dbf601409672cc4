"""The append-only log of all changes: a chain of hashes, which `worthwhile audit` verifies.

The hash of an event covers its place, time, actor, action and case, the digest of its content and the hash before it.
The digest is salted. Erasing a case removes content and salt, so that nobody can guess the content from the digest,
and the chain can still be verified.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from worthwhile.service.database import Database, now
from worthwhile.service.tables import chain_head, events

__all__ = ["AuditReport", "CaseEvent", "append_event", "canonical", "erase_events", "events_of", "verify_chain"]


@dataclass(frozen=True)
class CaseEvent:
    """One row of the log."""

    seq: int
    time: str
    actor: str
    action: str
    content: dict[str, Any]


@dataclass(frozen=True)
class AuditReport:
    """The result of verifying the chain.

    Attributes
    ----------
    n_events : int
    head : str
        The hash of the last event; write it down elsewhere to notice later that the end of the log was cut off.
    n_erased : int
        Events without content, because their case was erased.
    problems : tuple of str
    """

    n_events: int
    head: str
    n_erased: int
    problems: tuple[str, ...]


def canonical(content: Any) -> str:
    """Return content as JSON that is the same for the same content.

    Examples
    --------
    >>> canonical({"b": 1, "a": "é"})
    '{"a":"é","b":1}'
    """
    try:
        return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise ValueError("NaN and infinite numbers are not valid; null stands for an unavailable test") from None


def _digest(salt: str, content: str) -> str:
    return hashlib.sha256(f"{salt}{content}".encode()).hexdigest()


def _hash(before: str, seq: int, time: str, actor: str, action: str, case_id: str | None, digest: str) -> str:
    return hashlib.sha256(canonical([before, seq, time, actor, action, case_id, digest]).encode()).hexdigest()


def append_event(
    connection: sa.Connection, actor: str, action: str, content: dict[str, Any], case_id: str | None = None
) -> CaseEvent:
    """Add an event at the end of the chain, in a transaction of `Database.write`."""
    seq, before = connection.execute(sa.select(chain_head.c.seq, chain_head.c.hash)).one()
    seq, time, salt, text = seq + 1, now(), secrets.token_hex(16), canonical(content)
    digest = _digest(salt, text)
    seal = _hash(before, seq, time, actor, action, case_id, digest)
    connection.execute(
        events.insert().values(
            seq=seq,
            time=time,
            actor=actor,
            action=action,
            case_id=case_id,
            salt=salt,
            content=text,
            digest=digest,
            hash=seal,
        )
    )
    connection.execute(chain_head.update().values(seq=seq, hash=seal))
    return CaseEvent(seq, time, actor, action, json.loads(text))


def events_of(connection: sa.Connection, case_id: str) -> list[CaseEvent]:
    """Return the events of a case, oldest first; those of an erased case have no content."""
    chosen = sa.select(events).where(events.c.case_id == case_id).order_by(events.c.seq)
    return [
        CaseEvent(row.seq, row.time, row.actor, row.action, json.loads(row.content) if row.content else {})
        for row in connection.execute(chosen)
    ]


def erase_events(connection: sa.Connection, case_id: str) -> None:
    """Remove the content of a case's events; the chain stays whole."""
    connection.execute(events.update().where(events.c.case_id == case_id).values(content=None, salt=None))


def verify_chain(database: Database, head: str | None = None) -> AuditReport:
    """Verify every event, and that the case table agrees with the log.

    Parameters
    ----------
    database : Database
    head : str, optional
        A hash that an earlier audit gave: it must be in the chain.
    """
    problems: list[str] = []
    n_events = n_erased = 0
    last, seen = "", head is None
    with database.read() as connection:
        for row in _rows(connection):
            n_events += 1
            n_erased += row.content is None
            problems += _problems_of(row, n_events, last)
            last = row.hash
            seen = seen or row.hash == head
        seq, stored = connection.execute(sa.select(chain_head.c.seq, chain_head.c.hash)).one()
        if (seq, stored) != (n_events, last):
            problems.append(f"the log ends at event {n_events}, but {seq} were written: events are missing at the end")
        if not seen:
            problems.append(f"no event has the hash {head}: the log was cut off or replaced since it was noted")
        problems += _wrong_versions(connection)
    return AuditReport(n_events, last, n_erased, tuple(problems))


def _rows(connection: sa.Connection) -> Iterator[Any]:
    chosen = sa.select(events).order_by(events.c.seq)
    yield from connection.execution_options(yield_per=1000).execute(chosen)


def _problems_of(row: Any, expected: int, before: str) -> Iterator[str]:
    if row.seq != expected:
        yield f"event {expected} is missing: the next one in the log is {row.seq}"
    if row.content is not None and _digest(row.salt or "", row.content) != row.digest:
        yield f"event {row.seq} ({row.action} by {row.actor}, {row.time}): its content was changed"
    if _hash(before, row.seq, row.time, row.actor, row.action, row.case_id, row.digest) != row.hash:
        yield f"event {row.seq} ({row.action} by {row.actor}, {row.time}): the chain is broken here"


def _wrong_versions(connection: sa.Connection) -> Iterator[str]:
    """Compare the version of each case with the number of its events."""
    from worthwhile.service.tables import cases

    counted = sa.select(events.c.case_id, sa.func.count().label("n")).group_by(events.c.case_id).subquery()
    joined = sa.select(cases.c.id, cases.c.version, counted.c.n).outerjoin(counted, counted.c.case_id == cases.c.id)
    for case_id, version, n in connection.execute(joined.where(sa.func.coalesce(counted.c.n, 0) != cases.c.version)):
        yield f"case {case_id} is at version {version}, but the log has {n or 0} events of it"

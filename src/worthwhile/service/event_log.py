"""The append-only log of all changes: a chain of hashes, which `worthwhile audit` verifies.

The hash of an event covers its place, time, actor, action and case, the digest of its content and the hash before it.
The digest is salted. Erasing a case removes content and salt, so that nobody can guess the content from the digest,
and the chain can still be verified.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from worthwhile.service.database import HEAD, now
from worthwhile.service.tables import chain_head, events

__all__ = ["CaseEvent", "append_event", "canonical", "digest_of", "erase_events", "events_of", "seal_of"]

# Statements of every change are built once: building one takes longer than running it.
ADD_EVENT, MOVE_HEAD = events.insert(), chain_head.update()
EVENTS_OF_CASE = sa.select(events).where(events.c.case_id == sa.bindparam("id")).order_by(events.c.seq)


@dataclass(frozen=True)
class CaseEvent:
    """One row of the log."""

    seq: int
    time: str
    actor: str
    action: str
    content: dict[str, Any]


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


def digest_of(salt: str, content: str) -> str:
    """Return the digest of an event's content."""
    return hashlib.sha256(f"{salt}{content}".encode()).hexdigest()


def seal_of(before: str, seq: int, time: str, actor: str, action: str, case_id: str | None, digest: str) -> str:
    """Return the hash of an event."""
    return hashlib.sha256(canonical([before, seq, time, actor, action, case_id, digest]).encode()).hexdigest()


def append_event(
    connection: sa.Connection, actor: str, action: str, content: dict[str, Any], case_id: str | None = None
) -> CaseEvent:
    """Add an event at the end of the chain, in a transaction of `Database.write`."""
    seq, before = connection.info[HEAD]
    seq, time, salt, text = seq + 1, now(), secrets.token_hex(16), canonical(content)
    digest = digest_of(salt, text)
    seal = seal_of(before, seq, time, actor, action, case_id, digest)
    row = {"seq": seq, "time": time, "actor": actor, "action": action, "case_id": case_id}
    connection.execute(ADD_EVENT, {**row, "salt": salt, "content": text, "digest": digest, "hash": seal})
    connection.execute(MOVE_HEAD, {"seq": seq, "hash": seal})
    connection.info[HEAD] = seq, seal
    return CaseEvent(seq, time, actor, action, json.loads(text))


def events_of(connection: sa.Connection, case_id: str) -> list[CaseEvent]:
    """Return the events of a case, oldest first; those of an erased case have no content."""
    return [
        CaseEvent(row.seq, row.time, row.actor, row.action, json.loads(row.content) if row.content else {})
        for row in connection.execute(EVENTS_OF_CASE, {"id": case_id})
    ]


def erase_events(connection: sa.Connection, case_id: str) -> None:
    """Remove the content of a case's events; the chain stays whole."""
    connection.execute(events.update().where(events.c.case_id == case_id).values(content=None, salt=None))

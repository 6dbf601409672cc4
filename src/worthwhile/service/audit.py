"""What `worthwhile audit` verifies: the chain of events, and that the tables say what the events add up to."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from worthwhile.service.case_state import fold_events
from worthwhile.service.case_store import case_facts, columns_of, erased_row
from worthwhile.service.database import Database
from worthwhile.service.event_log import CaseEvent, digest_of, seal_of
from worthwhile.service.model_store import ModelStore, ServedModel, model_id
from worthwhile.service.tables import cases, chain_head, events, models, users
from worthwhile.wording import enumeration

__all__ = ["AuditReport", "audit_database", "verify_chain"]

# What a damaged table or log may lead to; the audit goes on with the next case.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class AuditReport:
    """The result of an audit.

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


def verify_chain(database: Database, head: str | None = None) -> AuditReport:
    """Verify every event of the log.

    Parameters
    ----------
    database : Database
    head : str, optional
        A hash that an earlier audit gave: it must be in the chain.
    """
    with database.read() as connection:
        return _read_log(connection, head).report()


def audit_database(database: Database, head: str | None = None) -> AuditReport:
    """Verify every event of the log, and that cases, users and models are what the log says.

    The answer and the state of a case that is not closed are worked out again by its model. Not verified: the reasons
    and prices of advice, which a later release may word differently; sessions; the answers kept under idempotency keys.
    """
    with database.read() as connection:
        log = _read_log(connection, head)
        log.problems += _user_problems(connection, log.users)
        checked = _CheckedModels(connection, ModelStore(database), log.models)
        log.problems += _case_problems(connection, checked)
        log.problems += checked.problems()
        return log.report()


# The log


@dataclass
class _Log:
    """What one pass over the log has found."""

    n_events: int = 0
    n_erased: int = 0
    seq: int = 0
    head: str = ""
    problems: list[str] = field(default_factory=list)
    emptied: dict[str | None, list[int]] = field(default_factory=dict)  # case -> events whose content was removed
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    users: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take(self, row: Any) -> None:
        """Verify one event, and note what it says about users and models."""
        self.n_events += 1
        self.problems += _event_problems(row, self.seq + 1, self.head)
        self.seq, self.head = row.seq, row.hash
        if row.content is None:
            self.n_erased += 1
            self.emptied.setdefault(row.case_id, []).append(row.seq)
        elif row.action == "erased":
            self.emptied.pop(row.case_id, None)
        elif row.case_id is None:
            self._note(row.action, _object(row.content))

    def _note(self, action: str, content: Mapping[str, Any]) -> None:
        if action == "model added":
            self.models[str(content.get("id"))] = dict(content)
        elif action == "user added":
            self.users[str(content.get("name"))] = dict(content)
        elif action == "user removed":
            self.users.setdefault(str(content.get("name")), {})["removed"] = True

    def report(self) -> AuditReport:
        return AuditReport(self.n_events, self.head, self.n_erased, tuple(self.problems))


def _object(text: str) -> dict[str, Any]:
    """Return an object of JSON; an empty one if it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _read_log(connection: sa.Connection, head: str | None) -> _Log:
    log, seen = _Log(), head is None
    for row in connection.execute(sa.select(events).order_by(events.c.seq).execution_options(yield_per=1000)):
        log.take(row)
        seen = seen or row.hash == head
    for case_id, emptied in log.emptied.items():
        why = "but its case was not erased" if case_id is not None else "and it is of no case"
        log.problems += [f"event {seq}: its content was removed, {why}" for seq in emptied]
    noted = connection.execute(sa.select(chain_head.c.seq, chain_head.c.hash)).one_or_none()
    seq, stored = (-1, "") if noted is None else noted
    if noted is None:
        log.problems.append("the note of the end of the log was removed")
    elif seq > log.seq:
        log.problems.append(f"the log ends at event {log.seq}, but {seq} were written: events are missing at the end")
    elif (seq, stored) != (log.seq, log.head):
        log.problems.append(f"the log ends at event {log.seq}, but its end was noted as event {seq} with another hash")
    if not seen:
        log.problems.append(f"no event has the hash {head}: the log was cut off or replaced since it was noted")
    return log


def _event_problems(row: Any, expected: int, before: str) -> Iterator[str]:
    if row.seq > expected:
        last = row.seq - 1
        yield f"event {last} is missing" if last == expected else f"events {expected} to {last} are missing"
    name = f"event {row.seq} ({row.action} by {row.actor}, {row.time})"
    if row.content is not None and digest_of(row.salt or "", row.content) != row.digest:
        yield f"{name}: its content was changed"
    # The event after a gap cannot be compared with the one before it.
    seal = seal_of(before, row.seq, row.time, row.actor, row.action, row.case_id, row.digest)
    if row.seq < expected or (row.seq == expected and seal != row.hash):
        yield f"{name}: the chain is broken here"


# Users


def _user_problems(connection: sa.Connection, logged: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Compare the users with those that the log added and removed."""
    stored = {row.name: row for row in connection.execute(sa.select(users).order_by(users.c.name))}
    for name in logged.keys() - stored.keys():
        yield f"user {name} is missing"
    for name, row in stored.items():
        if name not in logged:
            yield f"user {name} is not in the log"
            continue
        by_log = logged[name]
        if row.role != by_log.get("role", row.role):
            yield f"user {name} has the role {row.role}, but {by_log['role']} by the log"
        if (row.removed_at is not None) != bool(by_log.get("removed")):
            yield f"user {name} is {'removed, but not' if row.removed_at else 'there, but removed'} by the log"
        if row.token_hash != by_log.get("token_hash", row.token_hash):  # older events do not have it
            yield f"user {name} has another token than by the log"


# Models


class _CheckedModels:
    """The models that are what the log says, and what is wrong about the others."""

    def __init__(self, connection: sa.Connection, store: ModelStore, logged: Mapping[str, Mapping[str, Any]]) -> None:
        self._connection, self._store = connection, store
        self._wrong = {key: f"{_model_name(own)} is missing" for key, own in logged.items()}
        self._unverified: Counter[str] = Counter()
        chosen = sa.select(models).order_by(models.c.name, models.c.version).execution_options(yield_per=10)
        for row in connection.execute(chosen):
            self._wrong.pop(row.id, None)
            if problem := _model_problem(row, logged.get(row.id)):
                self._wrong[row.id] = problem

    def get(self, key: str) -> ServedModel | None:
        """Return a model to rebuild a case with; None, and it is counted, if there is none that can be trusted."""
        if key not in self._wrong:
            try:
                return self._store.by_id(self._connection, key)
            except sa.exc.NoResultFound:
                self._wrong[key] = f"model {key} is missing"
            except UNREADABLE as error:
                self._wrong[key] = f"model {key} cannot be read: {error}"
        self._unverified[key] += 1
        return None

    def problems(self) -> Iterator[str]:
        for key, problem in self._wrong.items():
            n = self._unverified[key]
            yield problem + (f"; {n} case{'s' if n > 1 else ''} cannot be verified" if n else "")


def _model_name(content: Mapping[str, Any]) -> str:
    return f"model {content.get('name')}, version {content.get('version')}"


def _model_problem(row: Any, logged: Mapping[str, Any] | None) -> str | None:
    name = _model_name(row._mapping)
    if model_id(row.name, row.content) != row.id:
        return f"{name}: its name or content was changed"
    if logged is None:
        return f"{name} is not in the log"
    return None if _model_name(logged) == name else f"{name} is {_model_name(logged)} by the log"


# Cases


def _case_problems(connection: sa.Connection, checked: _CheckedModels) -> Iterator[str]:
    """Compare every case with what its events add up to."""
    own = sa.select(events).where(events.c.case_id.is_not(None)).order_by(events.c.case_id, events.c.seq)
    rows = connection.execute(own.execution_options(yield_per=1000))
    for case_id, group in itertools.groupby(rows, key=lambda row: row.case_id):
        stored = connection.execute(sa.select(cases).where(cases.c.id == case_id)).one_or_none()
        yield from _problems_of_case(case_id, list(group), stored, checked)
    opened = sa.select(events.c.seq).where(events.c.case_id == cases.c.id, events.c.action == "opened")
    for row in connection.execute(sa.select(cases.c.id, cases.c.case_number).where(~opened.exists())):
        yield f"case {row.case_number} ({row.id}) is in the table, but the log does not open it"


def _problems_of_case(case_id: str, rows: list[Any], stored: Any, checked: _CheckedModels) -> Iterator[str]:
    actions = [row.action for row in rows]
    if "opened" not in actions:
        if stored is None:  # otherwise it is found among the rows that the log does not open
            yield f"case {case_id} is in the log, but the log does not open it"
        return
    first = _object(rows[actions.index("opened")].content or "{}")
    name = f"case {first['case_number']} ({case_id})" if "case_number" in first else f"case {case_id}"
    if stored is None:
        yield f"{name} is in the log, but not in the table"
        return
    if "erased" in actions:
        wrong = _differing(stored, erased_row(case_id, len(rows)) | {"opened_at": rows[0].time})
    elif any(row.content is None for row in rows) or (served := checked.get(str(first.get("model")))) is None:
        return  # what is missing is a problem of its own
    else:
        wrong = _wrong_facts(served, case_id, rows, stored)
    if wrong:
        yield f"{name}: {enumeration(wrong)} {'are' if len(wrong) > 1 else 'is'} not what the log says"


def _wrong_facts(served: ServedModel, case_id: str, rows: list[Any], stored: Any) -> list[str]:
    """Return what is not as the events say, in the columns or in the content of a case."""
    try:
        history = [CaseEvent(r.seq, r.time, r.actor, r.action, json.loads(r.content)) for r in rows]
        state = fold_events(served, history)
        facts = case_facts(state, state.bill(), case_id, len(rows), rows[-1].actor)
        facts = json.loads(json.dumps(facts))  # as the table keeps it
        content = _object(stored.content)
        if state.closed_at is None:
            advice = state.guidance().advice
            facts |= {"state": state.state(advice), "answer": advice.answer}
        wrong = [key for key in facts if not _is_same(_plain(content.get(key)), _plain(facts[key]))]
        expected = fold_events(served, history[:1]).guidance().expected
        columns = {**columns_of(content | facts), "model_id": served.id, "expected": expected}
    except UNREADABLE:
        return ["content"]
    return list(dict.fromkeys([*wrong, *_differing(stored, columns, but=("content",))]))


def _differing(stored: Any, columns: Mapping[str, Any], but: Iterable[str] = ()) -> list[str]:
    return [key for key, value in columns.items() if key not in but and not _is_same(stored._mapping[key], value)]


def _plain(fact: Any) -> Any:
    """Return a fact without the words of surcharges, which a later release may word differently."""
    if isinstance(fact, list):
        return [_plain(part) for part in fact]
    return {key: value for key, value in fact.items() if key != "extras"} if isinstance(fact, dict) else fact


def _is_same(found: Any, expected: Any) -> bool:
    """Return whether two values of JSON are the same, numbers up to rounding."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(_is_same(found[key], expected[key]) for key in found)
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(_is_same, found, expected))
    if isinstance(found, float) or isinstance(expected, float):
        return (
            isinstance(found, float | int)
            and isinstance(expected, float | int)
            and math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)
        )
    return bool(found == expected)

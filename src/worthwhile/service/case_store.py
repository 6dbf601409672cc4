"""Cases in the database: every change is one transaction that adds events and stores what they add up to."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from worthwhile.service.case_state import (
    UNAVAILABLE,
    Bill,
    CaseState,
    Guidance,
    fold_events,
    label_of,
    read_result,
    shares_of,
)
from worthwhile.service.database import bundled, now
from worthwhile.service.event_log import append_event, canonical, erase_events, events_of
from worthwhile.service.model_store import ModelStore
from worthwhile.service.tables import cases, idempotency
from worthwhile.service.user_store import User

__all__ = [
    "CasePage",
    "CaseStore",
    "ConflictError",
    "ErasedError",
    "NotFoundError",
    "case_facts",
    "columns_of",
    "erased_row",
    "is_case_number",
    "rounded",
]

MAX_TEXT = 10_000
MAX_NUMBER = 100
NOT_CLOSED = ("open", "waiting", "answered")
STATES = (*NOT_CLOSED, "closed", "erased")
# Statements that are built once: building one takes longer than running it.
THIS_CASE = cases.c.id == sa.bindparam("this_case")
READ_CASE, CHANGE_CASE = sa.select(cases.c.model_id, cases.c.content).where(THIS_CASE), cases.update().where(THIS_CASE)
Step = tuple[str, dict[str, Any]]  # an action and its content


def is_case_number(text: str) -> bool:
    """Return whether a text can be the number of a case.

    Examples
    --------
    >>> is_case_number("A-17"), is_case_number(" "), is_case_number("a\\tb")
    (True, False, False)
    """
    return 0 < len(text.strip()) <= MAX_NUMBER and text.isprintable()


class NotFoundError(LookupError):
    """There is no such case."""


class ErasedError(NotFoundError):
    """The case was erased."""


class ConflictError(RuntimeError):
    """Somebody else changed the case in the meantime.

    Attributes
    ----------
    case : dict
        The case as it is now.
    """

    def __init__(self, message: str, case: dict[str, Any]) -> None:
        super().__init__(message)
        self.case = case


@dataclass(frozen=True)
class CasePage:
    """A page of a list of cases."""

    cases: list[dict[str, Any]]
    total: int
    page: int
    pages: int


class CaseStore:
    """The cases; every method works in a transaction of `Database.read` or `Database.write`.

    A change takes the `version` that its author saw. None: the author has not seen the case, such as a laboratory that
    sends results; then nothing that is known can be replaced.
    """

    def __init__(self, models: ModelStore) -> None:
        self.models = models

    # Reading

    def get(self, connection: sa.Connection, case_id: str) -> dict[str, Any]:
        """Return a case as the API shows it."""
        found: dict[str, Any] = json.loads(self._row(connection, case_id).content)
        return found

    def state(self, connection: sa.Connection, case_id: str) -> CaseState:
        """Return the state of a case, computed from its events."""
        model_id = self._row(connection, case_id).model_id
        return fold_events(self.models.by_id(connection, model_id), events_of(connection, case_id))

    def _row(self, connection: sa.Connection, case_id: str) -> Any:
        """Return model and content of a case."""
        found = connection.execute(READ_CASE, {"this_case": case_id}).first()
        if found is None:
            raise NotFoundError(f"there is no case {case_id!r}")
        return found

    def find(
        self,
        connection: sa.Connection,
        states: Sequence[str] = (),
        q: str | None = None,
        page: int = 1,
        size: int = 50,
    ) -> CasePage:
        """Return the cases in some states, or in all, whose number contains `q`; those that changed last first."""
        for state in states:
            if state not in STATES:
                raise ValueError(f"there is no state {state!r}; valid: {', '.join(STATES)}")
        wanted: list[sa.ColumnElement[bool]] = []
        if states:
            wanted.append(cases.c.state.in_(states))
        if q:
            wanted.append(cases.c.case_number.icontains(q, autoescape=True))
        total = connection.execute(sa.select(sa.func.count()).select_from(cases).where(*wanted)).scalar() or 0
        chosen = sa.select(cases.c.content).where(*wanted).order_by(cases.c.changed_at.desc(), cases.c.id)
        rows = connection.execute(chosen.limit(size).offset((page - 1) * size)).scalars()
        return CasePage([_short(json.loads(row)) for row in rows], total, page, max(1, -(-total // size)))

    def same_number(self, connection: sa.Connection, case: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the other cases with the number of a case, those that changed last first, at most five."""
        others = sa.select(cases.c.content).where(
            cases.c.case_number == case["case_number"], cases.c.id != case["id"], cases.c.state != "erased"
        )
        rows = connection.execute(others.order_by(cases.c.changed_at.desc(), cases.c.id).limit(5)).scalars()
        return [_short(json.loads(row)) for row in rows]

    def export(self, connection: sa.Connection, case_id: str) -> dict[str, Any]:
        """Return everything that is stored about a case."""
        events = [vars(event) for event in events_of(connection, case_id)]
        return {"case": self.get(connection, case_id), "events": events}

    # Changing

    def create(
        self,
        connection: sa.Connection,
        user: User,
        model: str | None,
        case_number: str,
        known: Mapping[str, Any],
        already_paid: Iterable[str] = (),
    ) -> dict[str, Any]:
        """Open a case. Known results count as spent, unless `already_paid` names their tests."""
        served = self.models.for_new_case(model)
        number = str(case_number).strip()
        if not is_case_number(number):
            raise ValueError(f"case_number must have 1 to {MAX_NUMBER} printable characters")
        results = {name: read_result(served, name, value) for name, value in known.items()}
        paid = list(already_paid)
        served.context.closure_of(paid)  # refuses an unknown test
        content = {
            "case_number": number,
            "model": served.id,
            "known": results,
            "known_order": sorted(results, key=lambda name: results[name] is not None),  # unavailable ones are free
            "already_paid": paid,
        }
        case_id = uuid.uuid4().hex
        with bundled(connection):
            event = append_event(connection, user.name, "opened", content, case_id)
            state = fold_events(served, [event])
            guidance = state.guidance()
            case = case_content(state, guidance, case_id, 1, event.time, user.name)
            row = {"id": case_id, "model_id": served.id, "expected": guidance.expected, **columns_of(case)}
            connection.execute(cases.insert(), row)
        return case

    def order(
        self, connection: sa.Connection, user: User, case_id: str, tests: Iterable[str], version: int | None
    ) -> dict[str, Any]:
        """Order tests, with what they require; what is ordered or known already is left out."""
        names = list(tests)

        def steps(state: CaseState) -> list[Step]:
            _check_open(state)
            unavailable = [n for n in names if n in state.tests and state.tests[n].state == UNAVAILABLE]
            if unavailable:
                raise ValueError(f"{unavailable[0]} is unavailable; correct it first if it can be done now")
            new = state.with_required(names)
            if not new:
                raise ValueError("every test named is ordered or known already" if names else "name the tests to order")
            return [("ordered", {"orders": [new]})]

        return self._change(connection, user, case_id, version, steps)

    def results(
        self,
        connection: sa.Connection,
        user: User,
        case_id: str,
        results: Mapping[str, Any],
        version: int | None,
        reasons: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Record results, None for unavailable tests. A test that nobody ordered is charged now.

        A closed case takes the results of tests that were ordered before; its answer stays.
        """

        def steps(state: CaseState) -> list[Step]:
            read = {name: read_result(state.served, name, value) for name, value in results.items()}
            if not read:
                raise ValueError("results must name at least one test")
            is_new = {name for name, value in read.items() if name not in state.known or state.known[name] != value}
            if not is_new <= set(state.pending):  # what was sent before may be sent again
                _check_open(state)
            why = {name: str(text)[:MAX_TEXT] for name, text in (reasons or {}).items() if name in read}
            found: list[Step] = []
            for name in [n for n in read if n in state.known]:
                old, new = state.known[name], read.pop(name)
                if old == new:
                    continue
                if version is None:
                    has = "is recorded as unavailable" if old is None else f"already has the result {old}"
                    raise ValueError(f"{name} {has}; send the case's version to correct it")
                found.append(_correction(state, name, new, why.get(name, "")))
            if read:
                content = {"results": read, "order_of_results": list(read), "reasons": why}
                found.append(("results", {**content, "orders": _orders_with(state, read)}))
            return found

        return self._change(connection, user, case_id, version, steps)

    def correct(
        self, connection: sa.Connection, user: User, case_id: str, test: str, value: Any, why: str, version: int | None
    ) -> dict[str, Any]:
        """Replace a result; the old one stays in the log."""

        def steps(state: CaseState) -> list[Step]:
            _check_open(state)
            if version is None:
                raise ValueError("send the case's version to correct a result")
            new = read_result(state.served, test, value)
            if test not in state.known:
                raise ValueError(f"{test} has no result to correct")
            return [] if state.known[test] == new else [_correction(state, test, new, why[:MAX_TEXT])]

        return self._change(connection, user, case_id, version, steps)

    def note(
        self, connection: sa.Connection, user: User, case_id: str, text: str, version: int | None
    ) -> dict[str, Any]:
        """Add a note."""
        text = text.strip()
        if not text or len(text) > MAX_TEXT:
            raise ValueError(f"a note has 1 to {MAX_TEXT} characters")
        return self._change(connection, user, case_id, version, lambda _: [("noted", {"text": text})])

    def close(
        self,
        connection: sa.Connection,
        user: User,
        case_id: str,
        truth: Any = None,
        answer: Any = None,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Close a case, or tell the outcome of one that is closed."""

        def steps(state: CaseState) -> list[Step]:
            true = None if truth is None else label_of(state.served, truth, "truth")
            labels = state.served.context.answers
            if state.closed_at is not None:
                if true is None or true == state.truth:
                    raise ValueError("the case is closed already; tell its truth, or undo to open it again")
                if answer is not None and label_of(state.served, answer, "answer", labels) != state.answer:
                    raise ValueError(f"the case was closed with the answer {state.answer}; undo to give another one")
                return [("outcome", {"truth": true, "old": state.truth})]
            advice = state.guidance().advice
            given = advice.stop_answer if advice.test is not None else advice.answer
            if answer is not None:
                given = label_of(state.served, answer, "answer", labels)
            return [("closed", {"truth": true, "answer": given})]

        return self._change(connection, user, case_id, version, steps)

    def undo(self, connection: sa.Connection, user: User, case_id: str, version: int | None = None) -> dict[str, Any]:
        """Take back the last change; it stays in the log."""

        def steps(state: CaseState) -> list[Step]:
            last = state.undoable
            if last is None:
                raise ValueError("there is nothing to undo")
            changes = [*last.content.get("with", []), {"event": last.seq, "action": last.action}]
            return [("undone", change) for change in reversed(changes)]

        return self._change(connection, user, case_id, version, steps)

    def erase(self, connection: sa.Connection, user: User, case_id: str) -> None:
        """Remove everything that is known about a case; its events stay in the chain without their content."""
        found = self.get(connection, case_id)
        if found["state"] == "erased":
            return
        erase_events(connection, case_id)
        append_event(connection, user.name, "erased", {}, case_id)
        # The keys stay, so that a request sent again does not open the case again; a digest could be guessed from.
        own = idempotency.update().where(idempotency.c.case_id == case_id)
        connection.execute(own.values(digest="", status=410, body=""))
        connection.execute(CHANGE_CASE, {"this_case": case_id, **erased_row(case_id, found["version"] + 1)})

    def _change(
        self,
        connection: sa.Connection,
        user: User,
        case_id: str,
        version: int | None,
        steps: Callable[[CaseState], list[Step]],
    ) -> dict[str, Any]:
        """Apply a change to the version its author saw."""
        found = self._row(connection, case_id)
        current = json.loads(found.content)
        if current["state"] == "erased":
            raise ErasedError(f"the case {case_id!r} was erased")
        if version is not None and version != current["version"]:
            newer = (
                f"was changed by {current['changed_by']} in the meantime: it " if version < current["version"] else ""
            )
            raise ConflictError(
                f"the case {newer}is at version {current['version']}, not {version}; nothing of yours was saved",
                current,
            )
        served, events = self.models.by_id(connection, found.model_id), events_of(connection, case_id)
        new = steps(fold_events(served, events))
        if not new:
            return dict(current)
        with bundled(connection):
            before: list[dict[str, Any]] = []  # of the same request: they are undone together
            for action, content in new:
                own = {**content, "with": list(before)} if before and action != "undone" else content
                events.append(append_event(connection, user.name, action, own, case_id))
                before.append({"event": events[-1].seq, "action": action})
            state = fold_events(served, events)
            case = case_content(state, state.guidance(), case_id, current["version"] + len(new), now(), user.name)
            connection.execute(CHANGE_CASE, {"this_case": case_id, **columns_of(case)})
        return case


def _check_open(state: CaseState) -> None:
    if state.closed_at is not None:
        raise ValueError("the case is closed; undo to open it again")


def _correction(state: CaseState, test: str, new: Any, why: str) -> Step:
    status, old = state.tests[test], state.known[test]
    is_charged = status.ordered_at is not None or (status.given and old is not None)
    orders = [] if is_charged or new is None else [[test]]
    return "corrected", {"test": test, "old": old, "new": new, "why": why, "orders": orders}


def _orders_with(state: CaseState, results: Mapping[str, Any]) -> list[list[str]]:
    """Return the orders that results imply: somebody did a test that nobody had ordered here.

    The advised test is ordered with all that it commits to, as if its slip had been sent.
    """
    orders: list[list[str]] = []
    touched = set(state.tests)
    if touched.issuperset(results):  # as usual: all were ordered
        return orders
    slip = list(state.guidance().slip)
    for name, value in results.items():
        if value is None or name in touched:
            continue
        chosen = slip if slip and name == slip[0] else [name]
        new = [
            n for n in state.with_required(chosen) if n not in touched and (n == name or results.get(n, "") is not None)
        ]
        orders.append(new)
        touched.update(new)
    return orders


def _short(case: dict[str, Any]) -> dict[str, Any]:
    """Return what a list shows of a case."""
    keys = ("id", "case_number", "model", "version", "state", "opened_at", "changed_at", "pending", "spent", "answer")
    found = {key: case[key] for key in keys if key in case}
    advice = case.get("advice")
    if advice is not None:
        found["advice"] = {key: advice[key] for key in ("test", "price", "order", "answer")}
    return found


def erased_row(case_id: str, version: int) -> dict[str, Any]:
    """Return the columns of a case that was erased."""
    row: dict[str, Any] = dict.fromkeys(
        ("next_test", "waiting_for", "waiting_since", "closed_at", "expected", "actual")
    )
    content = canonical({"id": case_id, "version": version, "state": "erased"})
    return {**row, "case_number": "erased", "version": version, "state": "erased", "spent": 0.0, "content": content}


def columns_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a case that depend on its events."""
    since = [pending["since"] for pending in case["pending"]]
    same = ("case_number", "version", "state", "opened_at", "changed_at", "closed_at", "spent")
    return {
        **{name: case[name] for name in same},
        "next_test": case["advice"]["test"],
        "waiting_for": ", ".join(pending["test"] for pending in case["pending"]) or None,
        "waiting_since": min(since) if since else None,
        "actual": case["actual_cost"],
        "content": json.dumps(case, ensure_ascii=False, allow_nan=False),  # in this order
    }


def rounded(value: float | None) -> float | None:
    """Return an amount without the dust of floating-point sums.

    Examples
    --------
    >>> 1.1 + 2.2, rounded(1.1 + 2.2)
    (3.3000000000000003, 3.3)
    """
    return None if value is None else float(f"{value:.12g}")


def case_content(
    state: CaseState, guidance: Guidance, case_id: str, version: int, changed_at: str, changed_by: str
) -> dict[str, Any]:
    """Return a case as the API shows it."""
    advice = guidance.advice
    own = {
        "state": state.state(advice),
        "changed_at": changed_at,
        "advice": _advice_content(state, guidance),
        "answer": state.answer if state.closed_at is not None else advice.answer,
    }
    return case_facts(state, guidance.bill, case_id, version, changed_by) | own


def case_facts(state: CaseState, bill: Bill, case_id: str, version: int, changed_by: str) -> dict[str, Any]:
    """Return what the events of a case say about it, without what the model makes of it."""
    served, error = state.served, state.error_cost()
    prices: dict[str, float] = {}
    for line in bill.ledger:
        prices[line.test] = prices.get(line.test, 0.0) + line.price
    return {
        "id": case_id,
        "case_number": state.case_number,
        "model": {"name": served.name, "version": served.version, "id": served.id},
        "version": version,
        "state": "closed" if state.closed_at is not None else None,
        "opened_at": state.opened_at,
        "opened_by": state.opened_by,
        "changed_by": changed_by,
        "closed_at": state.closed_at,
        "known": {name: value for name, value in state.known.items() if value is not None},
        "unavailable": {n: t.why for n, t in state.tests.items() if t.state == UNAVAILABLE},
        "pending": [
            {"test": name, "since": t.ordered_at, "by": t.ordered_by, "price": rounded(prices.get(name, 0.0))}
            for name, t in state.tests.items()
            if name in state.pending
        ],
        "tests": [_test_content(state, name, prices) for name in served.context.columns],
        "spent": rounded(bill.spent),
        "ledger": [
            {
                "test": line.test,
                "price": rounded(line.price),
                "time": line.time,
                "by": line.actor,
                "given": line.given,
                "extras": [str(extra) for extra in line.extras],
            }
            for line in bill.ledger
        ],
        "currency": served.context.costs.currency,
        "notes": state.notes,
        "answer": state.answer,
        "truth": state.truth,
        "error_cost": rounded(error),
        "actual_cost": None if error is None else rounded(bill.spent + error),
        "can_undo": None if state.undoable is None else state.undoable.action,
    }


def _test_content(state: CaseState, name: str, prices: Mapping[str, float]) -> dict[str, Any]:
    status = state.tests.get(name)
    if status is None:
        return {"test": name, "state": "not asked"}
    return {"test": name, **vars(status), "price": rounded(prices.get(name, 0.0))}


def _advice_content(state: CaseState, guidance: Guidance) -> dict[str, Any]:
    advice = guidance.advice
    return {
        "test": advice.test,
        "price": rounded(guidance.price),
        "order": {name: rounded(price) for name, price in guidance.slip.items()},
        "extras": {name: [str(extra) for extra in extras] for name, extras in guidance.extras.items()},
        "commits": [name for name in guidance.slip if name != advice.test],
        "delayed": advice.delayed,
        "waits": advice.waits,
        "waiting_for": advice.test if advice.test in state.pending else None,
        "answer": advice.answer,
        "probabilities": shares_of(advice.probabilities),
        "stop_answer": advice.stop_answer,
        "stop_cost": rounded(advice.stop_cost),
        "go_on_cost": rounded(advice.go_on_cost),
        "gain": rounded(advice.gain),
        "reason": advice.reason,
    }

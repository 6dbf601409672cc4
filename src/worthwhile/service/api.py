"""The JSON API of the desk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import APIRouter, Header, HTTPException, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from worthwhile.service.answers import (
    AuditHeadBody,
    CaseBody,
    CaseListBody,
    ErasedCaseBody,
    HistoryBody,
    ModelsBody,
    MonitoringBody,
)
from worthwhile.service.case_store import rounded
from worthwhile.service.database import now
from worthwhile.service.desk import Admin, Desk, DeskOf, Reader, Worker
from worthwhile.service.event_log import append_event, canonical
from worthwhile.service.monitoring import monitor
from worthwhile.service.tables import idempotency
from worthwhile.service.user_store import User

__all__ = ["router"]


class ErrorBody(BaseModel):
    """What is wrong, in one line."""

    detail: str


class ConflictBody(ErrorBody):
    """A change to a version that is not the newest one: the case as it is now."""

    version: int
    case: dict[str, Any]


ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "The body cannot be read, or is not what the specification demands"},
    401: {"model": ErrorBody, "description": "No token, or a wrong one"},
    403: {"model": ErrorBody, "description": "The role does not allow it"},
    404: {"model": ErrorBody, "description": "There is no such thing"},
    410: {"model": ErrorBody, "description": "The case was erased"},
    413: {"model": ErrorBody, "description": "The body is too large"},
    422: {"model": ErrorBody, "description": "Something in the request is not valid"},
    429: {"model": ErrorBody, "description": "Too many wrong tokens from this address"},
    503: {"model": ErrorBody, "description": "The database is locked, full or out of reach; nothing was written"},
}
router = APIRouter(prefix="/api", tags=["cases"], responses={**ERRORS, 409: {"model": ConflictBody}})
MAX_PAGE = 1_000_000


def _answers(shape: Any, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """Return the description of an answer; nothing is checked against it."""
    return {status: {"model": shape}}


Value = float | int | str | bool | None
VersionField = Field(None, ge=1, description="The version you saw; if it is not the newest, the answer is 409.")
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="A string of your choice, one per change: a request that is sent again with it is done once.",
    ),
]


Match = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=200,
        description="The ETag of the case that you saw, instead of `version` in the body.",
    ),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewCaseBody(_Body):
    """A new case."""

    model: str | None = Field(None, description="The name of a model; may be left out if there is only one.")
    case_number: str = Field(description="Your number of the case.")
    known: dict[str, Value] = Field(default_factory=dict, description="Results by test; null: unavailable.")
    already_paid: list[str] = Field(default_factory=list, description="Tests that others have paid for.")


class OrderBody(_Body):
    """Tests to order."""

    tests: list[str] = Field(min_length=1)
    version: int | None = VersionField


class ResultsBody(_Body):
    """Results that came in."""

    results: dict[str, Value] = Field(description="Results by test; null: unavailable.")
    reasons: dict[str, str] = Field(default_factory=dict, description="Why tests are unavailable.")
    version: int | None = VersionField


class CorrectionBody(_Body):
    """A result that was wrong."""

    test: str
    value: Value = Field(description="The right value; null: unavailable.")
    why: str = ""
    version: int | None = Field(None, ge=1, description="The version you saw; a correction needs it.")


class NoteBody(_Body):
    """A note on a case."""

    text: str
    version: int | None = VersionField


class UndoBody(_Body):
    """Nothing but the version."""

    version: int | None = VersionField


class CloseBody(_Body):
    """How a case ended."""

    truth: Value = Field(None, description="The true class, if it is known; it can be told later by closing again.")
    answer: Value = Field(None, description="The answer given, if it is not the one advised.")
    version: int | None = VersionField


def change(
    desk: Desk,
    user: User,
    key: str | None,
    request: list[Any],
    act: Callable[[sa.Connection], dict[str, Any]],
    status: int = 200,
) -> Response:
    """Do a change once and answer with the case; the same key gives the same answer again."""
    digest = hashlib.sha256(canonical(request).encode()).hexdigest()
    with desk.database.write() as connection:
        if key is not None:
            own = (idempotency.c.user_name == user.name) & (idempotency.c.key == key)
            before = connection.execute(sa.select(idempotency).where(own)).one_or_none()
            if before is not None:
                return _same_answer(before, digest)
        case = act(connection)
        body = json.dumps(case, ensure_ascii=False, allow_nan=False)
        if key is not None:
            row = {"user_name": user.name, "key": key, "digest": digest, "status": status, "body": body}
            connection.execute(idempotency.insert().values(**row, case_id=case["id"], created_at=now()))
    return Response(body, status, _etag(case), media_type="application/json")


def _version(body: Any, if_match: str | None) -> int | None:
    """Return the version that the author of a change saw, by the body or by the header If-Match."""
    own: int | None = None if body is None else body.version
    if if_match is None or if_match.strip() == "*":
        return own
    text = if_match.strip().removeprefix("W/").strip('"')
    if not text.isdecimal() or (own is not None and own != int(text)):
        raise HTTPException(422, 'If-Match must be the ETag of the case, e.g. "3", and no other version than the body')
    return int(text)


def _etag(case: dict[str, Any]) -> dict[str, str]:
    return {"ETag": f'"{case["version"]}"'}


def _same_answer(before: Any, digest: str) -> Response:
    """Return the answer that a request with the same key got."""
    if not before.body:
        raise HTTPException(410, "this case was erased")
    if before.digest != digest:
        raise HTTPException(422, "this Idempotency-Key was used for another request")
    headers = {"Idempotent-Replay": "true", **_etag(json.loads(before.body))}
    return Response(before.body, before.status, headers, media_type="application/json")


@router.get("/models", responses=_answers(ModelsBody), summary="The models that take new cases")
def list_models(desk: DeskOf, user: Reader) -> Response:
    """Return the models with their tests, prices and classes."""
    found = []
    for name, served in desk.models.current.items():
        context = served.context
        tests = []
        for t, (test, values) in enumerate(zip(context.columns, context.schema.values, strict=True)):
            price = context.pricing.price(context.pricing.closure([t]))
            kind = "date" if test in context.schema.dates else "numeric" if values is None else "nominal"
            tests.append({"test": test, "kind": kind, "values": values, "price": rounded(price)})
        classes = list(context.classes)
        own = {"name": name, "version": served.version, "id": served.id}
        found.append({**own, "tests": tests, "classes": classes, "currency": context.costs.currency})
    return JSONResponse({"models": found})


@router.post("/cases", status_code=201, responses=_answers(CaseBody, 201), summary="Open a case")
def open_case(desk: DeskOf, user: Worker, body: NewCaseBody, idempotency_key: Key = None) -> Response:
    """Open a case and return it with its id, version, state and advice."""
    asked = ["open", body.model_dump()]
    given = body.model, body.case_number, body.known, body.already_paid
    return change(desk, user, idempotency_key, asked, lambda c: desk.cases.create(c, user, *given), 201)


@router.get("/cases", responses=_answers(CaseListBody), summary="List cases")
def list_cases(
    desk: DeskOf,
    user: Reader,
    state: Annotated[Literal["", "open", "waiting", "answered", "closed", "erased"] | None, Query()] = None,
    q: Annotated[str | None, Query(max_length=200, description="A part of the case number.")] = None,
    page: Annotated[int, BeforeValidator(lambda text: text or 1), Query(ge=1, le=MAX_PAGE)] = 1,
    per_page: Annotated[int, BeforeValidator(lambda text: text or 50), Query(ge=1, le=200)] = 50,
) -> Response:
    """Return a page of cases, those that changed last first."""
    with desk.database.read() as connection:
        found = desk.cases.find(connection, [state] if state else [], q, page, per_page)
    return JSONResponse(vars(found))


@router.get("/cases/{case_id}", responses=_answers(CaseBody | ErasedCaseBody), summary="A case")
def get_case(desk: DeskOf, user: Reader, case_id: str) -> Response:
    """Return a case with its advice."""
    with desk.database.glance() as connection:
        case = desk.cases.get(connection, case_id)
    return JSONResponse(case, headers=_etag(case))


@router.get("/cases/{case_id}/history", responses=_answers(HistoryBody), summary="Everything that happened to a case")
def get_history(desk: DeskOf, user: Reader, case_id: str) -> Response:
    """Return a case with all its events: for a person who asks what is stored about them."""
    with desk.database.read() as connection:
        return JSONResponse(desk.cases.export(connection, case_id))


@router.post("/cases/{case_id}/orders", responses=_answers(CaseBody), summary="Order tests")
def order_tests(
    desk: DeskOf, user: Worker, case_id: str, body: OrderBody, idempotency_key: Key = None, if_match: Match = None
) -> Response:
    """Order tests, with what they require."""
    asked = ["orders", case_id, body.model_dump()]
    act = body.tests, _version(body, if_match)
    return change(desk, user, idempotency_key, asked, lambda c: desk.cases.order(c, user, case_id, *act))


@router.post("/cases/{case_id}/results", responses=_answers(CaseBody), summary="Send results")
def send_results(
    desk: DeskOf, user: Worker, case_id: str, body: ResultsBody, idempotency_key: Key = None, if_match: Match = None
) -> Response:
    """Record results in any order; a result that differs from a known one is a correction."""
    asked = ["results", case_id, body.model_dump()]
    act = body.results, _version(body, if_match), body.reasons
    return change(desk, user, idempotency_key, asked, lambda c: desk.cases.results(c, user, case_id, *act))


@router.post("/cases/{case_id}/corrections", responses=_answers(CaseBody), summary="Correct a result")
def correct_result(
    desk: DeskOf, user: Worker, case_id: str, body: CorrectionBody, idempotency_key: Key = None, if_match: Match = None
) -> Response:
    """Replace a result; the old one stays in the history."""
    asked = ["corrections", case_id, body.model_dump()]
    act = body.test, body.value, body.why, _version(body, if_match)
    return change(desk, user, idempotency_key, asked, lambda c: desk.cases.correct(c, user, case_id, *act))


@router.post("/cases/{case_id}/notes", responses=_answers(CaseBody), summary="Add a note")
def add_note(
    desk: DeskOf, user: Worker, case_id: str, body: NoteBody, idempotency_key: Key = None, if_match: Match = None
) -> Response:
    """Add a note."""
    asked = ["notes", case_id, body.model_dump()]
    act = body.text, _version(body, if_match)
    return change(desk, user, idempotency_key, asked, lambda c: desk.cases.note(c, user, case_id, *act))


@router.post("/cases/{case_id}/undo", responses=_answers(CaseBody), summary="Take back the last change")
def undo_change(
    desk: DeskOf,
    user: Worker,
    case_id: str,
    body: UndoBody | None = None,
    idempotency_key: Key = None,
    if_match: Match = None,
) -> Response:
    """Take back the last change; it stays in the history."""
    version = _version(body, if_match)
    asked = ["undo", case_id, version]
    return change(desk, user, idempotency_key, asked, lambda c: desk.cases.undo(c, user, case_id, version))


@router.post("/cases/{case_id}/close", responses=_answers(CaseBody), summary="Close a case, or tell its outcome")
def close_case(
    desk: DeskOf,
    user: Worker,
    case_id: str,
    body: CloseBody | None = None,
    idempotency_key: Key = None,
    if_match: Match = None,
) -> Response:
    """Close a case with its true class, if that is known. For a closed case: tell the true class now."""
    body = body or CloseBody(truth=None, answer=None, version=None)
    asked = ["close", case_id, body.model_dump()]
    act = body.truth, body.answer, _version(body, if_match)
    return change(desk, user, idempotency_key, asked, lambda c: desk.cases.close(c, user, case_id, *act))


@router.post("/cases/{case_id}/erase", status_code=204, summary="Erase a case")
def erase_case(desk: DeskOf, user: Admin, case_id: str) -> Response:
    """Erase everything that is known about a case. This cannot be undone; the chain of the log stays whole."""
    desk.erase(user, case_id)
    return Response(status_code=204)


@router.get("/monitoring", responses=_answers(MonitoringBody), summary="How the models do")
def get_monitoring(desk: DeskOf, user: Reader) -> Response:
    """Return, for each model with cases: expected and actual cost, drift of results, spending per test and week."""
    with desk.database.read() as connection:
        reports = monitor(connection, desk.models)
    return JSONResponse({"models": [asdict(report) for report in reports]})


@router.get("/audit/head", responses=_answers(AuditHeadBody), summary="The hash of the last event")
def audit_head(desk: DeskOf, user: Reader) -> Response:
    """Return the end of the log's chain, to be noted elsewhere."""
    from worthwhile.service.tables import chain_head

    with desk.database.read() as connection:
        seq, head = connection.execute(sa.select(chain_head.c.seq, chain_head.c.hash)).one()
    return JSONResponse({"events": seq, "head": head})


def record_feedback(desk: Desk, user: User, content: dict[str, Any]) -> None:
    """Put what became of a card into the log."""
    with desk.database.write() as connection:
        append_event(connection, user.name, "card feedback", content)

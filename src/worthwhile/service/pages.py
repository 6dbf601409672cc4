"""The pages of the desk. They work without JavaScript; static/desk.js adds shortcuts and a notice of changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import jinja2
from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.datastructures import FormData

from worthwhile.service.api import MAX_PAGE
from worthwhile.service.case_state import CaseState, read_result
from worthwhile.service.case_store import MAX_NUMBER, NOT_CLOSED, ConflictError, is_case_number
from worthwhile.service.desk import Desk, address_of, check_limit, desk_of, user_by_token
from worthwhile.service.model_store import ServedModel
from worthwhile.service.monitoring import monitor
from worthwhile.service.pasted_row import read_row
from worthwhile.service.security import same_origin
from worthwhile.service.user_store import SESSION_HOURS, Session
from worthwhile.table.columns import value_text
from worthwhile.wording import amount, enumeration, percent, with_currency

__all__ = ["error_page", "router"]

router = APIRouter(include_in_schema=False)
COOKIE = "worthwhile_session"
PAGE_SIZE = 25
FEW_VALUES = 12  # more are typed, not chosen from a list
PENDING_WORDS = ("pending", "ordered")
UNAVAILABLE_WORDS = ("u", "unavailable")
SHOWN: dict[str, tuple[str, ...]] = {"": NOT_CLOSED, "all": ()}  # other choices: a single state
CHANGES = {
    "ordered": "order",
    "results": "results",
    "corrected": "correction",
    "noted": "note",
    "closed": "closing",
    "outcome": "outcome",
}


def _when(time: str | None) -> str:
    """Return a time as people read it."""
    return f"{time[:10]} {time[11:16]} UTC" if time else ""


def _since(time: str | None) -> str:
    """Return how long something has waited."""
    if not time:
        return ""
    minutes = int((datetime.now(UTC) - datetime.fromisoformat(time)).total_seconds() // 60)
    for unit, size in (("day", 1440), ("hour", 60)):
        if minutes >= size:
            n = minutes // size
            return f"for {n} {unit}{'s' if n > 1 else ''}"
    return f"for {minutes} minute{'s' if minutes != 1 else ''}" if minutes else "just now"


def _money(value: float | None, currency: str = "") -> str:
    return "unknown" if value is None else with_currency(amount(value), currency)


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {
    "when": _when,
    "since": _since,
    "money": _money,
    "percent": percent,
    "names": lambda names: enumeration([str(name) for name in names]),
    "value": value_text,
    "change": CHANGES.__getitem__,
}


def _render(request: Request, template: str, code: int = 200, **content: Any) -> HTMLResponse:
    session = getattr(request.state, "session", None)
    text = _TEMPLATES.get_template(template).render(session=session, path=request.url.path, **content)
    return HTMLResponse(text, code)


def error_page(request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error as a page; who is not logged in is asked to."""
    if status == 401:
        return RedirectResponse(f"/login?{urlencode({'then': request.url.path})}", 303)
    if status == 404 and detail == HTTPStatus.NOT_FOUND.phrase:
        detail = "There is no such page."
    found = _render(request, "error.html", status, status=status, detail=detail)
    found.headers.update(headers or {})
    return found


def _session(request: Request) -> Session:
    cookie = request.cookies.get(COOKIE)
    session = desk_of(request).users.session(cookie) if cookie else None
    if session is None:
        raise HTTPException(401, "log in first")
    request.state.session = session
    return session


LoggedIn = Annotated[Session, Depends(_session)]


async def _form(request: Request) -> FormData:
    """Return the fields of a form."""
    if not same_origin(request.headers.get("origin"), request.headers.get("host")):
        raise HTTPException(403, "this form was sent from another site")
    return await request.form(max_files=0, max_fields=5000)


async def _own_form(request: Request, session: LoggedIn) -> FormData:
    """Return the fields of a form of our own pages; only users who may work send forms."""
    form = await _form(request)
    if not session.check_form(_text(form, "form_token")):
        raise HTTPException(403, "this form is out of date; go back, reload the page and send it again")
    return form


Fields = Annotated[FormData, Depends(_own_form)]


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def _check_role(session: Session, role: str) -> None:
    if not session.user.may(role):
        raise HTTPException(403, f"{session.user.name} has the role {session.user.role}; this needs {role}")


# Logging in and out


@router.get("/login")
def show_login(request: Request) -> Response:
    """Show the form to log in."""
    return _render(request, "login.html", then=_own_path(request.query_params.get("then")), problem="")


def _own_path(path: str | None) -> str:
    """Return a path on this site: nobody is sent elsewhere after logging in."""
    return path if path and path.startswith("/") and not path.startswith(("//", "/\\")) else "/"


@router.post("/login")
def log_in(request: Request, form: Annotated[FormData, Depends(_form)]) -> Response:
    """Begin a session."""
    desk, then = desk_of(request), _own_path(_text(form, "then"))
    try:
        check_limit(desk, address_of(request))
        user = user_by_token(desk, address_of(request), _text(form, "token").strip())
    except HTTPException as error:
        found = _render(request, "login.html", error.status_code, then=then, problem=str(error.detail))
        found.headers.update(error.headers or {})
        return found
    answer = RedirectResponse(then, 303)
    secure = request.url.scheme == "https"
    cookie = desk.users.log_in(user)
    answer.set_cookie(COOKIE, cookie, max_age=SESSION_HOURS * 3600, httponly=True, samesite="lax", secure=secure)
    return answer


@router.post("/logout")
def log_out(request: Request, session: LoggedIn, form: Fields) -> Response:
    """End a session."""
    desk_of(request).users.log_out(request.cookies[COOKIE])
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE)
    return answer


# Lists


@router.get("/")
def show_worklist(request: Request, session: LoggedIn, state: str = "", q: str = "", page: int = 1) -> Response:
    """Show the cases; by default those that are not closed or erased."""
    desk, states = desk_of(request), SHOWN.get(state, (state,))
    with desk.database.read() as connection:
        found = desk.cases.find(connection, states, q.strip(), min(max(page, 1), MAX_PAGE), PAGE_SIZE)
    return _render(request, "worklist.html", found=found, state=state, q=q)


@router.get("/monitoring")
def show_monitoring(request: Request, session: LoggedIn) -> Response:
    """Show how the models do."""
    desk = desk_of(request)
    with desk.database.read() as connection:
        reports = monitor(connection, desk.models)
    return _render(request, "monitoring.html", reports=reports)


@router.get("/help")
def show_help(request: Request, session: LoggedIn) -> Response:
    """Show the shortcuts and the API."""
    paths = request.app.openapi()["paths"]
    calls = [
        {"method": method.upper(), "path": path, "about": call.get("summary", "")}
        for path, methods in paths.items()
        for method, call in methods.items()
    ]
    return _render(request, "help.html", calls=calls)


# A new case


@router.get("/cases/new")
def show_new(request: Request, session: LoggedIn, model: str | None = None) -> Response:
    """Show the form for a new case."""
    _check_role(session, "work")
    return _new_page(request, model, {}, "")


def _new_page(request: Request, model: str | None, entered: Mapping[str, str], problem: str) -> Response:
    models = desk_of(request).models
    served = models.current.get(model or "") or next(iter(models.current.values()))
    content = {"served": served, "models": list(models.current), "fields": _inputs(served), "entered": entered}
    return _render(request, "new_case.html", 422 if problem else 200, problem=problem, **content)


def _inputs(served: ServedModel, only: Callable[[str], bool] = lambda _: True) -> list[dict[str, Any]]:
    """Return what a form needs to ask for the results of tests."""
    context = served.context
    found = []
    for t, (name, values) in enumerate(zip(context.columns, context.schema.values, strict=True)):
        if only(name):
            kind = "date" if name in context.schema.dates else "number" if values is None else "text"
            choices = list(values) if values and len(values) <= FEW_VALUES else []
            price = context.pricing.price(context.pricing.closure([t]))
            found.append({"t": t, "test": name, "kind": kind, "choices": choices, "values": values, "price": price})
    return found


@router.post("/cases/new")
def open_case(request: Request, session: LoggedIn, form: Fields) -> Response:
    """Open a case from a form or from a pasted row."""
    _check_role(session, "work")
    desk, model = desk_of(request), _text(form, "model")
    entered = {name: value for name, value in form.items() if isinstance(value, str)}
    try:
        served = desk.models.for_new_case(model)
        columns = served.context.columns
        number, texts = _text(form, "case_number"), _entered(form, served)
        if pasted := _text(form, "row").strip():
            own, values = read_row(pasted, columns, bool(form.get("ignore")))
            number, texts = number.strip() or own or "", {**values, **texts}
        if not is_case_number(number.strip()):
            raise ValueError(f"The case number must have 1 to {MAX_NUMBER} printable characters.")
        pending = [name for name, text in texts.items() if _is_pending(served, name, text)]
        known = {name: _as_result(served, name, text) for name, text in texts.items() if name not in pending}
        paid = [name for t, name in enumerate(columns) if form.get(f"p{t}")]
        with desk.database.write() as connection:
            case = desk.cases.create(connection, session.user, model, number, known, paid)
            if pending:
                desk.cases.order(connection, session.user, case["id"], pending, None)
    except ValueError as error:
        return _new_page(request, model, entered, str(error))
    return RedirectResponse(f"/cases/{case['id']}", 303)


def _entered(form: FormData, served: ServedModel) -> dict[str, str]:
    """Return the results of a form, in the order of the columns; "u" for unavailable tests."""
    found = {}
    for t, name in enumerate(served.context.columns):
        if form.get(f"u{t}"):
            found[name] = UNAVAILABLE_WORDS[0]
        elif text := _text(form, f"r{t}").strip():
            found[name] = text
    return found


def _is_pending(served: ServedModel, test: str, text: str) -> bool:
    """Return whether a text says that the test is ordered, and is not one of its values."""
    if text.strip().casefold() not in PENDING_WORDS:
        return False
    try:
        read_result(served, test, text)
    except ValueError:
        return True
    return False


def _as_result(served: ServedModel, test: str, text: str) -> Any:
    """Return the result that a text stands for; None if it says that the test is unavailable."""
    try:
        return read_result(served, test, text)
    except ValueError:
        if text.strip().casefold() in UNAVAILABLE_WORDS:
            return None
        raise


# One case


@router.get("/cases/{case_id}")
def show_case(request: Request, session: LoggedIn, case_id: str) -> Response:
    """Show a case."""
    return _case_page(request, case_id)


def _case_page(
    request: Request, case_id: str, problem: str = "", status: int = 200, entered: Mapping[str, str] | None = None
) -> Response:
    desk = desk_of(request)
    with desk.database.read() as connection:
        case = desk.cases.get(connection, case_id)
        if case["state"] == "erased":
            return error_page(request, 410, "this case was erased")
        state = desk.cases.state(connection, case_id)
        events = desk.cases.export(connection, case_id)["events"]
        same_number = desk.cases.same_number(connection, case)
    entered = entered or {}
    overtaken = _overtaken(state, entered)
    if overtaken:
        own = _pairs({name: text or None for name, text in overtaken.items()})
        problem += f" You entered {own}, which has a result by now; press “Correct” there if yours is the right one."
    return _render(
        request,
        "case.html",
        status,
        case=case,
        with_unit=lambda value: _money(value, case["currency"]),
        problem=problem,
        same_number=same_number,
        entered=entered,
        overtaken=overtaken,
        position=state.served.context.schema.position,
        shown=_shown(state),
        asked=_asked(state, case),
        others=state.other_tests(state.guidance()),
        corrections={field["test"]: field for field in _inputs(state.served, lambda name: name in state.known)},
        classes=[str(label) for label in state.served.context.classes],
        answers=[str(label) for label in state.served.context.answers],
        events=[_event_line(event, events) for event in reversed(events)],
    )


def _overtaken(state: CaseState, entered: Mapping[str, str]) -> dict[str, str]:
    """Return what was entered for tests that somebody else has entered a result for; "" if it is unavailable."""
    known = [(f"{t}", name) for t, name in enumerate(state.served.context.columns) if name in state.known]
    gone = {name: "" for t, name in known if entered.get(f"u{t}")}
    return {name: text for t, name in known if (text := entered.get(f"r{t}", "").strip())} | gone


def _shown(state: CaseState) -> dict[str, str]:
    """Return the results as text: a date, if the test is one."""
    schema = state.served.context.schema
    return {name: schema.shown(name, value) for name, value in state.known.items() if value is not None}


def _asked(state: CaseState, case: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the fields for results: those that are expected, and those of all other tests."""
    now = [p["test"] for p in case["pending"]] or list(case["advice"]["order"])
    expected = _inputs(state.served, lambda name: name in now)
    expected.sort(key=lambda field: now.index(field["test"]))
    return {
        "expected": expected,
        "other": _inputs(state.served, lambda name: name not in now and name not in state.known),
    }


def _event_line(event: dict[str, Any], events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an event in words."""
    content, action = event["content"], event["action"]
    undone = any(e["action"] == "undone" and e["content"]["event"] == event["seq"] for e in events)
    words = {
        "opened": lambda: "opened the case" + (f", known: {_pairs(content['known'])}" if content["known"] else ""),
        "ordered": lambda: f"ordered {enumeration([n for order in content['orders'] for n in order])}",
        "results": lambda: f"result of {_pairs(content['results'])}",
        "corrected": lambda: (
            f"corrected {content['test']} from {_word(content['old'])} to {_word(content['new'])}"
            + (f": {content['why']}" if content["why"] else "")
        ),
        "noted": lambda: "added a note",
        "closed": lambda: (
            f"closed the case with the answer {content['answer']}"
            + (f"; outcome: {content['truth']}" if content["truth"] is not None else "")
        ),
        "outcome": lambda: (
            f"told the outcome: {content['truth']}" + (f" (was {content['old']})" if content["old"] is not None else "")
        ),
        "undone": lambda: f"took back the {CHANGES[content['action']]}",
    }
    told = words[action]() if action in words else action
    return {"time": event["time"], "actor": event["actor"], "words": told, "undone": undone}


def _word(value: Any) -> str:
    return "unavailable" if value is None else value_text(value)


def _pairs(results: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_word(value)}" for name, value in results.items())


def _change(
    request: Request, session: Session, case_id: str, form: FormData, act: Callable[[Desk, Any, int], Any]
) -> Response:
    """Change a case and show it; what was entered stays on the page if that is not possible."""
    _check_role(session, "work")
    desk, text = desk_of(request), _text(form, "version")
    entered = {name: value for name, value in form.items() if isinstance(value, str)}
    try:
        with desk.database.write() as connection:
            act(desk, connection, int(text) if text.isdigit() else 0)
    except ConflictError as error:
        return _case_page(request, case_id, f"Conflict: {error}. Your entries are still in the form.", 409, entered)
    except ValueError as error:
        return _case_page(request, case_id, str(error), 422, entered)
    return RedirectResponse(f"/cases/{case_id}", 303)


@router.post("/cases/{case_id}/order")
def order_tests(request: Request, session: LoggedIn, case_id: str, form: Fields) -> Response:
    """Order tests."""
    tests = [name for name in form.getlist("test") if isinstance(name, str)]
    return _change(
        request, session, case_id, form, lambda desk, c, v: desk.cases.order(c, session.user, case_id, tests, v)
    )


@router.post("/cases/{case_id}/results")
def enter_results(request: Request, session: LoggedIn, case_id: str, form: Fields) -> Response:
    """Enter results."""

    def act(desk: Desk, connection: Any, version: int) -> None:
        served = desk.cases.state(connection, case_id).served
        texts = _entered(form, served)
        results = {name: _as_result(served, name, text) for name, text in texts.items()}
        position = served.context.schema.position
        reasons = {name: _text(form, f"w{position[name]}").strip() for name in results}
        desk.cases.results(connection, session.user, case_id, results, version, reasons)

    return _change(request, session, case_id, form, act)


@router.post("/cases/{case_id}/correct")
def correct_result(request: Request, session: LoggedIn, case_id: str, form: Fields) -> Response:
    """Correct a result."""
    test, why = _text(form, "test"), _text(form, "why").strip()

    def act(desk: Desk, connection: Any, version: int) -> None:
        served = desk.cases.state(connection, case_id).served
        value = None if form.get("unavailable") else _as_result(served, test, _text(form, "value"))
        desk.cases.correct(connection, session.user, case_id, test, value, why, version)

    return _change(request, session, case_id, form, act)


@router.post("/cases/{case_id}/note")
def add_note(request: Request, session: LoggedIn, case_id: str, form: Fields) -> Response:
    """Add a note."""
    text = _text(form, "text")
    return _change(
        request, session, case_id, form, lambda desk, c, v: desk.cases.note(c, session.user, case_id, text, v)
    )


@router.post("/cases/{case_id}/close")
def close_case(request: Request, session: LoggedIn, case_id: str, form: Fields) -> Response:
    """Close a case, or tell its outcome."""
    truth, answer = _text(form, "truth") or None, _text(form, "answer") or None
    return _change(
        request, session, case_id, form, lambda desk, c, v: desk.cases.close(c, session.user, case_id, truth, answer, v)
    )


@router.post("/cases/{case_id}/undo")
def undo_change(request: Request, session: LoggedIn, case_id: str, form: Fields) -> Response:
    """Take back the last change."""
    return _change(request, session, case_id, form, lambda desk, c, v: desk.cases.undo(c, session.user, case_id, v))


@router.post("/cases/{case_id}/erase")
def erase_case(request: Request, session: LoggedIn, case_id: str, form: Fields) -> Response:
    """Erase a case."""
    _check_role(session, "admin")
    if not form.get("sure"):
        return _case_page(request, case_id, "tick the box to erase the case; this cannot be undone", 422)
    desk_of(request).erase(session.user, case_id)
    return RedirectResponse("/", 303)


@router.get("/cases/{case_id}/export")
def export_case(request: Request, session: LoggedIn, case_id: str) -> Response:
    """Download everything that is stored about a case."""
    desk = desk_of(request)
    with desk.database.read() as connection:
        found = desk.cases.export(connection, case_id)
    return JSONResponse(found, headers={"Content-Disposition": f'attachment; filename="case-{case_id}.json"'})


@router.get("/cases/{case_id}/slip")
def show_slip(request: Request, session: LoggedIn, case_id: str) -> Response:
    """Show the order slip: what is ordered and has no result, to be printed."""
    desk = desk_of(request)
    with desk.database.read() as connection:
        case = desk.cases.get(connection, case_id)
    if case["state"] == "erased":
        return error_page(request, 410, "this case was erased")
    return _render(request, "slip.html", case=case)


@router.get("/cases/{case_id}/version")
def show_version(request: Request, session: LoggedIn, case_id: str) -> Response:
    """Return the version of a case, for the notice that somebody changed it."""
    desk = desk_of(request)
    with desk.database.read() as connection:
        case = desk.cases.get(connection, case_id)
    return JSONResponse({"version": case["version"], "by": case.get("changed_by", "")})

"""CDS Hooks 2.0: electronic records ask for the next test of a patient and get it as a card with a ServiceRequest.

https://cds-hooks.hl7.org. Every model is a service. Results come as Observations, orders as ServiceRequests; a resource
belongs to a test if a coding of its code is the test's own (see --codes) or has the test's name. Results that cannot be
read with certainty, and resources that are not about the patient, are left out, and the card is a warning.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Body, HTTPException
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.middleware.cors import CORSMiddleware

from worthwhile.service.api import ERRORS, record_feedback
from worthwhile.service.case_state import CaseState, Guidance, PlacedOrder, TestStatus, read_result
from worthwhile.service.desk import Desk, DeskOf, Worker
from worthwhile.service.model_store import ServedModel
from worthwhile.wording import amount, enumeration, percent, with_currency

__all__ = ["OtherOrigins", "check_origin", "router"]

router = APIRouter(prefix="/cds-services", tags=["CDS Hooks"], responses=ERRORS)

HOOK = "patient-view"
MAX_SUMMARY = 139  # characters: "less than 140"
KINDS = {"results": "Observation", "orders": "ServiceRequest"}
STATUSES = {"Observation": ("final", "amended", "corrected"), "ServiceRequest": ("active",)}  # those that count
PREFETCH = {
    name: f"{kind}?patient={{{{context.patientId}}}}&status={','.join(STATUSES[kind])}" for name, kind in KINDS.items()
}
PATIENT = re.compile(r"(?:.*/)?Patient/([^/]+)(?:/_history/.+)?")  # a reference; it may have a server and a version
REFUSED = {"system": "urn:worthwhile:override-reasons", "code": "unavailable", "display": "The test is unavailable"}
OTHER = {"system": "urn:worthwhile:override-reasons", "code": "judgement", "display": "Clinical judgement"}


def check_origin(text: str) -> str:
    """Return the origin of web pages, such as https://record.example.org; it has no path.

    Examples
    --------
    >>> check_origin("https://record.example.org:8443")
    'https://record.example.org:8443'
    """
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or text != f"{parts.scheme}://{parts.netloc}":
        raise ValueError(f"--cors {text}: not an origin; write e.g. https://record.example.org")
    return text


class OtherOrigins:
    """Lets pages of some other sites call the services from a browser (CORS); nothing else of the desk."""

    def __init__(self, app: Any, origins: Sequence[str]) -> None:
        headers = ["Authorization", "Content-Type"]
        self._app = app
        self._open = CORSMiddleware(app, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=headers)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        is_service = f"{scope.get('path', '')}/".startswith(f"{router.prefix}/")
        await (self._open if is_service else self._app)(scope, receive, send)


class HookRequest(BaseModel):
    """A call of a service; what the specification adds and we do not need is ignored."""

    model_config = ConfigDict(extra="ignore")

    hook: str
    hookInstance: str = Field(min_length=1)  # noqa: N815 - the specification's name
    context: dict[str, Any]
    prefetch: dict[str, Any] | None = None


class AcceptedSuggestion(BaseModel):
    """A suggestion that a user took."""

    id: str


class CardFeedback(BaseModel):
    """What became of a card."""

    model_config = ConfigDict(extra="ignore")

    card: str = Field(max_length=100)
    outcome: Literal["accepted", "overridden"]
    acceptedSuggestions: list[AcceptedSuggestion] = Field(default_factory=list)  # noqa: N815
    overrideReason: dict[str, Any] | None = None  # noqa: N815
    outcomeTimestamp: str = Field(max_length=40)  # noqa: N815


class FeedbackBody(BaseModel):
    """What became of some cards."""

    feedback: list[CardFeedback]


@router.get("", summary="The services: one per model")
def discover(desk: DeskOf) -> Any:
    """Return all services."""
    services = [
        {
            "hook": HOOK,
            "title": f"Next test: {name}",
            "description": "Suggests the test that is worth its price for this patient now, or the answer.",
            "id": name,
            "prefetch": PREFETCH,
            "usageRequirements": "Send both prefetches; a card that lacks one is a warning and says so.",
        }
        for name in desk.models.current
    ]
    return JSONResponse({"services": services})


@router.post("/{service_id}", summary="The next test of a patient, as a card")
def call_service(desk: DeskOf, user: Worker, service_id: str, body: Annotated[HookRequest, Body()]) -> Any:
    """Return a card with the next test, or with the answer."""
    served = _service(desk, service_id)
    if body.hook != HOOK:
        raise HTTPException(400, f"{service_id} answers to the hook {HOOK}, not {body.hook}")
    patient = body.context.get("patientId")
    if not isinstance(patient, str) or not patient:
        raise HTTPException(400, "context.patientId is missing")
    prefetch = body.prefetch or {}
    sent = {name: _resources(prefetch.get(name), kind) for name, kind in KINDS.items()}
    own = {name: [one for one in found if _is_about(one, patient)] for name, found in sent.items()}
    known, unread = _results(desk, served, own["results"])
    pending = _orders(desk, served, own["orders"])
    absent = [name for name in KINDS if _is_absent(prefetch, name)]
    foreign = [name for name in KINDS if len(own[name]) < len(sent[name])]
    state = CaseState(served)
    for name, value in known.items():
        state.tests[name] = TestStatus("result in", value=value)
        state.orders.append(PlacedOrder((name,), "", "", given=True))
    for name in pending:
        if name not in state.tests:
            state.tests[name] = TestStatus("ordered")
            state.orders.append(PlacedOrder((name,), "", ""))
    return JSONResponse({"cards": [_card(desk, state, state.guidance(), patient, _doubts(unread, absent, foreign))]})


@router.post("/{service_id}/feedback", summary="What became of a card")
def send_feedback(desk: DeskOf, user: Worker, service_id: str, body: FeedbackBody) -> Any:
    """Record whether suggestions were taken. A comment is not kept: it may name the patient."""
    _service(desk, service_id)
    for item in body.feedback:
        if item.outcome == "accepted" and not item.acceptedSuggestions:
            raise HTTPException(400, f"card {item.card}: accepted needs acceptedSuggestions")
    for item in body.feedback:
        reason = (item.overrideReason or {}).get("reason")
        content = {
            "service": service_id,
            "card": item.card,
            "outcome": item.outcome,
            "suggestions": [suggestion.id for suggestion in item.acceptedSuggestions],
            "reason": str(reason.get("code", ""))[:100] if isinstance(reason, Mapping) else "",
            "time": item.outcomeTimestamp,
        }
        record_feedback(desk, user, content)
        desk.metrics.count_feedback(item.outcome)
    return JSONResponse({})


def _service(desk: Desk, service_id: str) -> ServedModel:
    if service_id not in desk.models.current:
        raise HTTPException(404, f"there is no service {service_id!r}")
    return desk.models.current[service_id]


def _is_absent(prefetch: Mapping[str, Any], name: str) -> bool:
    """Return whether the record could not send data: null means that there are none."""
    found = prefetch.get(name, ...)
    return found is ... or (isinstance(found, Mapping) and found.get("resourceType") == "OperationOutcome")


def _mappings(found: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; whatever else a record sends there is left out."""
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _resources(found: Any, kind: str) -> list[Mapping[str, Any]]:
    """Return the resources of a bundle, or a single one."""
    entries = [found]
    if isinstance(found, Mapping) and found.get("resourceType") == "Bundle":
        entries = [entry.get("resource") for entry in _mappings(found.get("entry"))]
    return [entry for entry in _mappings(entries) if entry.get("resourceType") == kind]


def _is_about(resource: Mapping[str, Any], patient: str) -> bool:
    """Return whether a resource is about a patient; one that refers to nobody is taken as such."""
    subject = resource.get("subject")
    reference = subject.get("reference") if isinstance(subject, Mapping) else None
    if reference is None:
        return True
    match = PATIENT.fullmatch(str(reference))
    return match is not None and match[1] == patient


def _counting(resources: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the resources whose status counts, newest first; one without a status counts."""
    counting = [one for one in resources if one.get("status") in (None, *STATUSES[one["resourceType"]])]
    return sorted(counting, key=_time, reverse=True)


def _time(resource: Mapping[str, Any]) -> tuple[datetime, datetime]:
    """Return when a resource is from and when it was issued; without a time, it is older than all others."""
    period = resource.get("effectivePeriod")
    ends = [period.get("end"), period.get("start")] if isinstance(period, Mapping) else []
    effective = [resource.get("effectiveDateTime"), resource.get("effectiveInstant"), *ends]
    issued = [resource.get("issued"), resource.get("authoredOn")]
    return _first_instant([*effective, *issued]), _first_instant(issued)


def _first_instant(times: Iterable[Any]) -> datetime:
    found = (_instant(time) for time in times)
    return next((instant for instant in found if instant is not None), datetime.min.replace(tzinfo=UTC))


def _instant(time: Any) -> datetime | None:
    """Return a time of FHIR as an instant; None if it is none.

    A year, a month or a day is its beginning. A time without an offset is in UTC.

    Examples
    --------
    >>> _instant("2026-01-05T23:30:00-05:00") > _instant("2026-01-06T01:00:00Z") > _instant("2026-01")
    True
    """
    if not isinstance(time, str):
        return None
    missing = {len("2026"): "-01-01", len("2026-01"): "-01"}.get(len(time), "")
    try:
        instant = datetime.fromisoformat(time + missing)
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _test_of(desk: Desk, served: ServedModel, resource: Mapping[str, Any]) -> str | None:
    """Return the test that a resource is about."""
    code = resource.get("code")
    if not isinstance(code, Mapping):
        return None
    for coding in _mappings(code.get("coding")):
        for name in served.context.columns:
            own = desk.codes.get(name)
            if own is not None and (coding.get("system"), coding.get("code")) == (own["system"], own["code"]):
                return name
            if coding.get("code") == name:
                return name
    return code.get("text") if code.get("text") in served.context.columns else None


def _value_of(observation: Mapping[str, Any]) -> Any:
    """Return the value of an Observation; None if it has none."""
    quantity = observation.get("valueQuantity")
    if isinstance(quantity, Mapping):
        return quantity.get("value")
    concept = observation.get("valueCodeableConcept")
    if isinstance(concept, Mapping):
        codings = [coding.get("code") for coding in _mappings(concept.get("coding"))]
        return concept.get("text") or next(iter(codings), None)
    kinds = ("valueString", "valueInteger", "valueBoolean", "valueDateTime")
    return next((observation[kind] for kind in kinds if kind in observation), None)


def _results(desk: Desk, served: ServedModel, found: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """Return the newest result of each test, and the tests whose result could not be read, with the reason."""
    known: dict[str, Any] = {}
    unread: dict[str, str] = {}
    for observation in _counting(found):
        name = _test_of(desk, served, observation)
        if name is None or name in known or name in unread:
            continue
        try:
            value = read_result(served, name, _value_of(observation))
        except (TypeError, ValueError, OverflowError):  # the record may send any JSON
            value = None
        if value is None:
            unread[name] = name
        elif doubt := _doubt_about_quantity(observation, desk.codes.get(name, {}).get("unit")):
            unread[name] = f"{name} ({doubt})"
        else:
            known[name] = value
    return known, list(unread.values())


def _doubt_about_quantity(observation: Mapping[str, Any], unit: str | None) -> str:
    """Return why the value of an Observation is not the result, or nothing; no unit: it is not checked."""
    quantity = observation.get("valueQuantity")
    if not isinstance(quantity, Mapping):
        quantity = {}
    if comparator := quantity.get("comparator"):
        return f"{_quoted(comparator)} instead of an exact value"
    units = [text for text in (quantity.get("unit"), quantity.get("code")) if text]
    if unit is None or unit in units:
        return ""
    found = f"in {_quoted(units[0])}" if units else "without a unit"
    return f"{found}, expected {_quoted(unit)}"


def _quoted(text: Any) -> str:
    """Return what a record wrote as code of Markdown, which would change 10*3/uL otherwise.

    Examples
    --------
    >>> _quoted("10*3/uL")
    '`10*3/uL`'
    """
    return f"`{' '.join(str(text).replace('`', ' ').split())[:40]}`"


def _orders(desk: Desk, served: ServedModel, found: Iterable[Mapping[str, Any]]) -> list[str]:
    names = (_test_of(desk, served, request) for request in _counting(found))
    return [name for name in names if name is not None]


def _doubts(unread: list[str], absent: list[str], foreign: list[str]) -> list[str]:
    """Return what a card has to warn of: results, and prefetches that are absent or have other patients' resources."""
    doubts = []
    if unread:
        doubts.append(f"Results that could not be read: {enumeration(unread)}.")
    if absent:
        doubts.append(f"The record did not send its {enumeration(absent)}; what is done or ordered is not known here.")
    if foreign:
        doubts.append(f"The record sent {enumeration(foreign)} that are not about this patient; they were left out.")
    return doubts


def _card(desk: Desk, state: CaseState, guidance: Guidance, patient: str, doubts: list[str]) -> dict[str, Any]:
    advice, currency = guidance.advice, state.served.context.costs.currency
    shares = ", ".join(f"{label} {percent(share)}" for label, share in advice.probabilities.items())
    card: dict[str, Any] = {
        "uuid": str(uuid.uuid4()),
        "indicator": "warning" if doubts else "info",
        "source": {"label": f"worthwhile: {state.served.name}, version {state.served.version}"},
    }
    if advice.test is None:
        card["summary"] = f"No further test pays: {advice.answer}"[:MAX_SUMMARY]
    elif not guidance.slip:
        card["summary"] = f"Waiting for {enumeration(state.pending)}"[:MAX_SUMMARY]
    else:
        price = with_currency(amount(guidance.price), currency)
        card["summary"] = f"Next: {enumeration(list(guidance.slip))} for {price}"[:MAX_SUMMARY]
        actions = [_action(desk, name, p, currency, patient) for name, p in guidance.slip.items()]
        label = f"Order {enumeration(list(guidance.slip))}"
        card["suggestions"] = [{"label": label, "uuid": str(uuid.uuid4()), "isRecommended": True, "actions": actions}]
        card["selectionBehavior"] = "at-most-one"
        card["overrideReasons"] = [REFUSED, OTHER]
    card["detail"] = "\n\n".join([advice.reason, f"Class shares: {shares}.", *doubts])
    return card


def _action(desk: Desk, test: str, price: float, currency: str, patient: str) -> dict[str, Any]:
    own = desk.codes.get(test, {"system": "urn:worthwhile:tests", "code": test})
    coding = {key: text for key, text in own.items() if key != "unit"}
    return {
        "type": "create",
        "description": f"Order {test} for {with_currency(amount(price), currency)}",
        "resource": {
            "resourceType": "ServiceRequest",
            "status": "draft",
            "intent": "proposal",
            "code": {"coding": [coding], "text": test},
            "subject": {"reference": f"Patient/{patient}"},
        },
    }

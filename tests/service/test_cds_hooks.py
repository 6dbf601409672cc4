"""CDS Hooks, checked against the rules and examples of the specification (version 2.0, cds-hooks.hl7.org)."""

import re
import uuid

import pytest

from clinic import Client, running
from worthwhile.service.cds_hooks import check_origin

# The examples of the specification, with our service and without access to a FHIR server.
REQUEST = {
    "hookInstance": "d1577c69-dfbe-44ad-ba6d-3e05e953b2ea",
    "fhirServer": "http://hooks.smarthealthit.org:9080",
    "hook": "patient-view",
    "fhirAuthorization": {
        "access_token": "some-opaque-fhir-access-token",
        "token_type": "Bearer",
        "expires_in": 300,
        "scope": "user/Patient.read user/Observation.read",
        "subject": "cds-service4",
    },
    "context": {"userId": "Practitioner/example", "patientId": "1288992", "encounterId": "89284"},
    "prefetch": {
        "patientToGreet": {
            "resourceType": "Patient",
            "gender": "male",
            "birthDate": "1925-12-23",
            "id": "1288992",
            "active": True,
        }
    },
}
FEEDBACK = [
    {
        "card": "4e0a3a1e-3283-4575-ab82-028d55fe2719",
        "outcome": "accepted",
        "acceptedSuggestions": [{"id": "e56e1945-20b3-4393-8503-a1a20fd73152"}],
        "outcomeTimestamp": "2021-12-11T10:05:31Z",
    },
    {
        "card": "f6b95768-b1c8-40dc-8385-bf3504b82ffb",
        "outcome": "overridden",
        "outcomeTimestamp": "2020-12-11T00:00:00Z",
    },
    {
        "card": "9368d37b-283f-44a0-93ea-547cebab93ed",
        "outcome": "overridden",
        "overrideReason": {
            "reason": {"code": "d7ecf885", "system": "https://example.com/cds-hooks/override-reason-system"},
            "userComment": "A comment entered by the clinician.",
        },
        "outcomeTimestamp": "2020-12-11T00:00:00Z",
    },
]


def observation(name, **value):
    return {"resource": {"resourceType": "Observation", "status": "final", "code": {"text": name}, **value}}


def call(client, status=200, service="heart", **changes):
    answer = client.post(f"/cds-services/{service}", json={**REQUEST, **changes})
    assert answer.status_code == status, answer.text
    return answer.json()


def prefetch(results=(), orders=()):
    bundles = {"results": list(results), "orders": list(orders)}
    return {key: {"resourceType": "Bundle", "type": "searchset", "entry": entries} for key, entries in bundles.items()}


def check_card(card):
    """Check what the specification demands of every card."""
    uuid.UUID(card["uuid"])
    assert isinstance(card["summary"], str)
    assert len(card["summary"]) < 140
    assert card["indicator"] in ("info", "warning", "critical")
    assert isinstance(card["source"]["label"], str)
    assert ("suggestions" in card) == ("selectionBehavior" in card)
    assert card.get("selectionBehavior", "any") in ("any", "at-most-one")
    assert all(reason["display"] for reason in card.get("overrideReasons", ()))
    for suggestion in card.get("suggestions", ()):
        assert isinstance(suggestion["label"], str)
        uuid.UUID(suggestion["uuid"])
        for action in suggestion["actions"]:
            assert action["type"] == "create"
            assert isinstance(action["description"], str)
            resource = action["resource"]
            # What FHIR R4 requires of a ServiceRequest.
            assert resource["resourceType"] == "ServiceRequest"
            assert (resource["status"], resource["intent"]) == ("draft", "proposal")
            assert resource["subject"] == {"reference": "Patient/1288992"}


def test_discovery(file_client):
    answer = file_client.get("/cds-services", headers={"Authorization": ""})  # open, as clients expect
    (service,) = answer.json()["services"]
    assert {"hook", "title", "description", "id", "prefetch", "usageRequirements"} == set(service)
    assert (service["id"], service["hook"]) == ("heart", "patient-view")
    for query in service["prefetch"].values():
        assert re.fullmatch(r"[A-Za-z]+\?patient=\{\{context\.patientId\}\}&status=[a-z,]+", query)


def test_the_example_request_gets_the_first_test(file_client):
    (card,) = call(file_client)["cards"]
    check_card(card)
    assert card["summary"] == "Next: age for 1.00"
    (action,) = card["suggestions"][0]["actions"]
    assert action["resource"]["code"]["text"] == "age"


def test_results_and_orders_of_the_record_count(file_client):
    old = observation("scan", valueString="clear", effectiveDateTime="2020-01-01")
    new = observation("scan", valueCodeableConcept={"coding": [{"code": "spot"}]}, effectiveDateTime="2026-01-01")
    age = observation("age", valueQuantity={"value": 63, "unit": "a"})
    (card,) = call(file_client, prefetch=prefetch([old, new, age]))["cards"]
    check_card(card)
    assert card["summary"] == "Next: chol and sugar for 12.00"
    assert [a["resource"]["code"]["text"] for a in card["suggestions"][0]["actions"]] == ["chol", "sugar"]
    orders = [
        {"resource": {"resourceType": "ServiceRequest", "status": "active", "code": {"text": name}}}
        for name in ("chol", "sugar")
    ]
    (card,) = call(file_client, prefetch=prefetch([new, age], orders))["cards"]
    check_card(card)
    assert card["summary"] == "Waiting for chol and sugar"
    clear = observation("scan", valueString="clear")
    (card,) = call(file_client, prefetch=prefetch([age, clear]))["cards"]
    check_card(card)
    assert card["summary"] == "No further test pays: well"


def test_codes_of_the_record(file_client, file_desk):
    file_desk.codes = {"age": {"system": "http://loinc.org", "code": "30525-0", "display": "Age"}}
    (card,) = call(file_client)["cards"]
    coding = card["suggestions"][0]["actions"][0]["resource"]["code"]["coding"]
    assert coding == [{"system": "http://loinc.org", "code": "30525-0", "display": "Age"}]
    own = {"coding": [{"system": "http://loinc.org", "code": "30525-0"}]}
    resource = {"resourceType": "Observation", "code": own, "valueInteger": 30}
    (card,) = call(file_client, prefetch=prefetch([{"resource": resource}]))["cards"]
    assert card["summary"] == "No further test pays: well"


def test_results_that_cannot_be_read_are_named(file_client):
    odd = [observation("age", valueString="old"), observation("height", valueInteger=3), {"resource": {}}]
    (card,) = call(file_client, prefetch=prefetch(odd))["cards"]
    assert "Results that could not be read: age." in card["detail"]


@pytest.mark.parametrize("absent", ["missing", {"resourceType": "OperationOutcome", "issue": []}])
def test_a_record_that_sends_no_results_is_told(file_client, absent):
    data = {key: value for key, value in prefetch().items() if key != "results"}
    data |= {} if absent == "missing" else {"results": absent}
    (card,) = call(file_client, prefetch=data)["cards"]
    check_card(card)
    assert card["indicator"] == "warning"
    assert "The record did not send its results;" in card["detail"]
    (card,) = call(file_client, prefetch={"results": None, "orders": None})["cards"]  # null: there are none
    assert (card["indicator"], "did not send" in card["detail"]) == ("info", False)


@pytest.mark.parametrize(
    "resource",
    [
        {"code": {"coding": ["age", 3, None]}},
        {"code": {"coding": 7}},
        {"code": {"text": ["age"]}},
        {"code": {"text": "age"}, "valueQuantity": {"value": {"x": []}}},
        {"code": {"text": "age"}, "valueQuantity": {"value": 10**400}},
        {"code": {"text": "scan"}, "valueCodeableConcept": {"coding": [None, {"code": [1]}]}},
    ],
)
def test_nonsense_in_a_record_is_passed_over(file_client, resource):
    odd = prefetch([{"resource": {"resourceType": "Observation", **resource}}])
    (card,) = call(file_client, prefetch=odd)["cards"]
    assert card["summary"] == "Next: age for 1.00"
    for entry in (5, "x", {"a": 1}, [5, None]):
        call(file_client, prefetch={"results": {"resourceType": "Bundle", "entry": entry}})


PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}


def test_pages_of_sites_that_were_named_may_call(file_desk):
    file_desk.origins = ["https://record.example"]
    named, other = {"Origin": "https://record.example"}, {"Origin": "https://evil.example"}
    with running(file_desk) as address, Client(address, file_desk.users.add("record", "work")) as client:
        allowed = client.options("/cds-services/heart", headers={**named, **PREFLIGHT, "Authorization": ""})
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, named["Origin"])
        assert "POST" in allowed.headers["access-control-allow-methods"]
        assert "authorization" in allowed.headers["access-control-allow-headers"].casefold()
        refused = client.options("/cds-services/heart", headers={**other, **PREFLIGHT})
        assert "access-control-allow-origin" not in refused.headers
        answers = {
            (path, headers["Origin"]): client.get(path, headers=headers).headers.get("access-control-allow-origin")
            for path in ("/cds-services", "/api/cases", "/login", "/cds-services-2")
            for headers in (named, other)
        }
        assert {key for key, origin in answers.items() if origin} == {("/cds-services", "https://record.example")}
        answer = client.post("/cds-services/heart", json=REQUEST, headers=named)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, named["Origin"])
        assert "default-src" in answer.headers["content-security-policy"]


def test_no_other_site_may_call_by_default(file_client):
    answer = file_client.options("/cds-services/heart", headers={"Origin": "https://record.example", **PREFLIGHT})
    assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (405, False)


@pytest.mark.parametrize("text", ["*", "record.example", "https://", "https://record.example/", "ftp://record.example"])
def test_what_is_no_origin(text):
    with pytest.raises(ValueError, match="not an origin"):
        check_origin(text)


def test_wrong_calls(file_client):
    call(file_client, 404, service="lung")
    assert "patient-view" in call(file_client, 400, hook="order-sign")["detail"]
    call(file_client, 400, context={})
    call(file_client, 422, hookInstance="")
    answer = file_client.post("/cds-services/heart", json=REQUEST, headers={"Authorization": ""})
    assert answer.status_code == 401


@pytest.mark.parametrize("item", FEEDBACK, ids=lambda item: item["outcome"])
def test_the_feedback_of_the_examples(file_client, item):
    answer = file_client.post("/cds-services/heart/feedback", json={"feedback": [item]})
    assert answer.status_code == 200
    assert f'worthwhile_card_feedback_total{{outcome="{item["outcome"]}"}} 1' in file_client.get("/metrics").text


def test_feedback_is_in_the_log_without_comments(file_client, file_desk):
    import sqlalchemy as sa

    file_client.post("/cds-services/heart/feedback", json={"feedback": FEEDBACK})
    with file_desk.database.read() as connection:
        logged = (
            connection.execute(sa.text("SELECT content FROM events WHERE action = 'card feedback'")).scalars().all()
        )
    assert len(logged) == 3
    assert "d7ecf885" in logged[2]
    assert "clinician" not in str(logged)
    bad = [{**FEEDBACK[0], "acceptedSuggestions": []}]
    assert file_client.post("/cds-services/heart/feedback", json={"feedback": bad}).status_code == 400

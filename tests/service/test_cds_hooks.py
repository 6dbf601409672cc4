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


def order(name, **more):
    return {"resource": {"resourceType": "ServiceRequest", "status": "active", "code": {"text": name}, **more}}


def call(client, status=200, service="heart", **changes):
    answer = client.post(f"/cds-services/{service}", json={**REQUEST, **changes})
    assert answer.status_code == status, answer.text
    return answer.json()


def prefetch(results=(), orders=()):
    bundles = {"results": list(results), "orders": list(orders)}
    return {key: {"resourceType": "Bundle", "type": "searchset", "entry": entries} for key, entries in bundles.items()}


def card_for(client, results=(), orders=()):
    (card,) = call(client, prefetch=prefetch(results, orders))["cards"]
    check_card(card)
    return card


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
    orders = [order(name) for name in ("chol", "sugar")]
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


# An age of 30 gets the answer, one of 63 the scan, an unknown one the age.
YOUNG, OLD, UNKNOWN = "No further test pays: well", "Next: scan for 40.00", "Next: age for 1.00"


@pytest.mark.parametrize(
    ("status", "summary"),
    [
        *((status, YOUNG) for status in ("final", "amended", "corrected", None)),
        *((status, OLD) for status in ("registered", "preliminary", "cancelled", "entered-in-error", "unknown", [1])),
    ],
)
def test_only_results_with_a_final_status_count(file_client, status, summary):
    final = observation("age", valueInteger=63, effectiveDateTime="2020-01-01")
    newer = observation("age", valueInteger=30, effectiveDateTime="2026-01-01", status=status)
    card = card_for(file_client, [final, newer])
    assert (card["summary"], card["indicator"]) == (summary, "info")


@pytest.mark.parametrize("status", ["draft", "on-hold", "revoked", "completed", "entered-in-error", "unknown", {}])
def test_only_active_orders_count(file_client, status):
    results = [observation("age", valueInteger=63), observation("scan", valueString="spot")]
    orders = [order("chol", status=status), order("sugar", status=status)]
    assert card_for(file_client, results, orders)["summary"] == "Next: chol and sugar for 12.00"
    assert card_for(file_client, results, [order("chol", status=None), order("sugar")])["summary"].startswith("Waiting")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # Each pair is in the wrong order as strings, or has its times in other fields.
        ({"effectiveDateTime": "2026-01-06T01:00:00+05:00"}, {"effectiveDateTime": "2026-01-05T23:00:00Z"}),
        ({"effectiveDateTime": "2026-01-06T01:00:00Z"}, {"effectiveDateTime": "2026-01-05T23:30:00-05:00"}),
        ({"effectiveDateTime": "2026-01-05T10:00:00Z"}, {"effectiveDateTime": "2026-01-05T10:00:00.25Z"}),
        ({"effectiveDateTime": "2026-01-06T01:00:00+05:00"}, {"effectiveDateTime": "2026-01-06"}),
        ({"effectiveDateTime": "2026-01-01T01:00:00+05:00"}, {"effectiveDateTime": "2026"}),
        ({"effectiveDateTime": "2026-02-01T01:00:00+05:00"}, {"effectiveDateTime": "2026-02"}),
        ({"effectiveDateTime": "2026-01-05"}, {"effectiveInstant": "2026-01-06T00:00:00Z"}),
        ({"effectiveDateTime": "2026-01-05"}, {"effectivePeriod": {"start": "2026-01-01", "end": "2026-01-06"}}),
        ({"effectiveDateTime": "2026-01-05"}, {"effectivePeriod": {"start": "2026-01-06"}}),
        ({"effectivePeriod": {"end": "2026-01-05"}, "issued": "2026-01-07"}, {"effectiveDateTime": "2026-01-06"}),
        ({"effectiveDateTime": "2026-01-06T01:00:00+05:00"}, {"issued": "2026-01-05T23:00:00Z"}),
        ({"effectiveDateTime": "2026-01-05"}, {"effectiveDateTime": "soon", "issued": "2026-01-06T00:00:00Z"}),
        (
            {"effectiveDateTime": "2026-01-05", "issued": "2026-01-06T01:00:00+05:00"},
            {"effectiveDateTime": "2026-01-05", "issued": "2026-01-05T23:00:00Z"},
        ),
        ({}, {"effectiveDateTime": "0001-01-02"}),
        ({"effectiveDateTime": ["2027"], "effectivePeriod": 5}, {"issued": "2026-01-05T10:00:00Z"}),
    ],
)
def test_the_newest_result_counts(file_client, older, newer):
    results = [observation("age", valueInteger=63, **older), observation("age", valueInteger=30, **newer)]
    assert card_for(file_client, results)["summary"] == YOUNG
    assert card_for(file_client, results[::-1])["summary"] == YOUNG


@pytest.mark.parametrize(
    "reference",
    ["Patient/5", "http://record.example/fhir/Patient/5", "Patient/1288992/x", "Group/1288992", "urn:uuid:1288992", 5],
)
def test_resources_of_other_patients_are_left_out(file_client, reference):
    subject = {"subject": {"reference": reference}}
    card = card_for(file_client, [observation("age", valueInteger=30, **subject)])
    assert (card["summary"], card["indicator"]) == (UNKNOWN, "warning")
    assert "The record sent results that are not about this patient; they were left out." in card["detail"]
    results = [observation("age", valueInteger=63), observation("scan", valueString="spot")]
    card = card_for(file_client, results, [order("chol", **subject), order("sugar", **subject)])
    assert (card["summary"], card["indicator"]) == ("Next: chol and sugar for 12.00", "warning")
    assert "The record sent orders that are not about this patient; they were left out." in card["detail"]


@pytest.mark.parametrize(
    "subject",
    [
        {"reference": "Patient/1288992"},
        {"reference": "Patient/1288992/_history/2"},
        {"reference": "http://record.example/fhir/Patient/1288992"},
        {"display": "Ana"},
        None,
    ],
)
def test_resources_of_the_patient_count(file_client, subject):
    card = card_for(file_client, [observation("age", valueInteger=30, subject=subject)])
    assert (card["summary"], card["indicator"]) == (YOUNG, "info")


def test_a_bound_is_no_result(file_client):
    older = observation("age", valueInteger=30, effectiveDateTime="2020-01-01")
    bound = observation("age", valueQuantity={"value": 30, "comparator": ">"}, effectiveDateTime="2026-01-01")
    card = card_for(file_client, [older, bound])
    assert (card["summary"], card["indicator"]) == (UNKNOWN, "warning")
    assert "Results that could not be read: age (`>` instead of an exact value)." in card["detail"]


def coded(file_desk, unit):
    file_desk.codes = {"age": {"system": "http://loinc.org", "code": "30525-0", **({"unit": unit} if unit else {})}}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"valueQuantity": {"value": 30, "unit": "months", "code": "mo"}}, "in `months`"),
        ({"valueQuantity": {"value": 30, "code": "mo"}}, "in `mo`"),
        ({"valueQuantity": {"value": 30, "unit": "`A`\n\n" + 40 * "x"}}, f"in `A {38 * 'x'}`"),
        ({"valueQuantity": {"value": 30}}, "without a unit"),
        ({"valueInteger": 30}, "without a unit"),
    ],
)
def test_a_result_in_another_unit_is_not_read(file_client, file_desk, value, found):
    coded(file_desk, "a")
    card = card_for(file_client, [observation("age", **value)])
    assert (card["summary"], card["indicator"]) == (UNKNOWN, "warning")
    assert f"Results that could not be read: age ({found}, expected `a`)." in card["detail"]
    coded(file_desk, None)  # nothing is known of units
    card = card_for(file_client, [observation("age", **value)])
    assert (card["summary"], card["indicator"]) == (YOUNG, "info")


@pytest.mark.parametrize("unit", ["a", "years"])
def test_a_result_in_the_unit_of_the_codes_is_read(file_client, file_desk, unit):
    coded(file_desk, unit)
    card = card_for(file_client, [observation("age", valueQuantity={"value": 30, "unit": "years", "code": "a"})])
    assert (card["summary"], card["indicator"]) == (YOUNG, "info")
    (action,) = card_for(file_client)["suggestions"][0]["actions"]
    assert action["resource"]["code"]["coding"] == [{"system": "http://loinc.org", "code": "30525-0"}]


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

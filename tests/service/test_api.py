"""The JSON API, on SQLite and on PostgreSQL."""

import threading

import httpx
import pytest

from clinic import Client, clinic_desk, running, write_model
from worthwhile.service.audit import audit_database


def test_a_case_from_beginning_to_end(client, desk):
    case = client.call("/cases", {"model": "heart", "case_number": "A-17", "known": {"age": 63}}, 201)
    assert (case["version"], case["state"], case["advice"]["test"]) == (1, "open", "scan")
    assert case["advice"]["price"] == 40
    case = client.act(case, "orders", tests=["scan"])
    assert (case["state"], case["spent"]) == ("waiting", 41)
    assert [p["test"] for p in case["pending"]] == ["scan"]
    assert case["pending"][0]["by"] == "ana"
    case = client.act(case, "results", results={"scan": "spot"})
    assert (case["state"], case["spent"]) == ("open", 41)
    assert case["advice"]["order"] == {"chol": 9.0, "sugar": 3.0}
    case = client.act(case, "orders", tests=list(case["advice"]["order"]))
    assert (case["state"], case["spent"]) == ("waiting", 53)
    # The second result comes first; it is taken, and the case still waits.
    case = client.act(case, "results", results={"sugar": 7})
    assert (case["state"], case["spent"], case["advice"]["waiting_for"]) == ("waiting", 53, "chol")
    case = client.act(case, "results", results={"chol": 200})
    assert (case["state"], case["answer"], case["spent"]) == ("answered", "sick", 53)
    case = client.act(case, "close", truth="well")
    assert (case["state"], case["error_cost"], case["actual_cost"]) == ("closed", 200, 253)
    assert client.call(f"/cases/{case['id']}") == case
    assert audit_database(desk.database).problems == ()


def test_a_stale_version_is_a_conflict_and_nothing_is_lost(client):
    case = client.new(age=63)
    changed = client.act(case, "results", results={"scan": "clear"})
    answer = client.act(case, "results", 409, results={"scan": "spot"})
    assert answer["version"] == 2
    assert answer["case"] == changed
    assert "changed by ana" in answer["detail"]
    assert client.call(f"/cases/{case['id']}")["known"]["scan"] == "clear"


def test_the_same_key_is_done_once(client):
    body = {"case_number": "7", "known": {}}
    first = client.call("/cases", body, 201, Idempotency_Key="abc")
    assert client.call("/cases", body, 201, Idempotency_Key="abc") == first
    assert client.call("/cases")["total"] == 1
    other = client.call("/cases", {"case_number": "8", "known": {}}, 422, Idempotency_Key="abc")
    assert "another request" in other["detail"]
    order = f"/cases/{first['id']}/orders", {"tests": ["scan"], "version": 1}
    once = client.call(*order, Idempotency_Key="order")
    assert client.call(*order, Idempotency_Key="order") == once  # although the version is stale by now
    again = client.post(f"/api{order[0]}", json=order[1], headers={"Idempotency-Key": "order"})
    assert (again.headers["idempotent-replay"], again.headers["etag"]) == ("true", '"2"')
    client.call(*order, 409)


def test_pages_of_cases(client):
    for n in range(5):
        client.new(f"K{n}", age=30 if n % 2 else 63)
    found = client.call("/cases?per_page=2&page=2")
    assert (found["total"], found["page"], found["pages"], len(found["cases"])) == (5, 2, 3, 2)
    assert [case["case_number"] for case in client.call("/cases?state=answered")["cases"]] == ["K3", "K1"]
    assert [case["case_number"] for case in client.call("/cases?q=k4")["cases"]] == ["K4"]
    assert client.call("/cases?q=%25")["total"] == 0  # no wildcard
    assert client.call("/cases?state=odd", status=422)["detail"].startswith("query.state")


def test_undo_corrections_and_notes(client):
    case = client.new(age=63)
    case = client.act(case, "results", results={"scan": "clear"})
    assert case["state"] == "answered"
    case = client.act(case, "corrections", test="scan", value="spot", why="wrong patient")
    assert case["state"] == "open"
    assert next(t for t in case["tests"] if t["test"] == "scan")["earlier"] == ["clear"]
    case = client.call(f"/cases/{case['id']}/undo", {})
    assert (case["known"]["scan"], case["state"], case["version"]) == ("clear", "answered", 4)
    case = client.act(case, "notes", text="called the ward")
    assert case["notes"][0]["text"] == "called the ward"
    history = client.call(f"/cases/{case['id']}/history")["events"]
    assert [event["action"] for event in history] == ["opened", "results", "corrected", "undone", "noted"]
    assert history[2]["content"]["old"] == "clear"


def test_results_without_a_version_may_only_add(client):
    case = client.new(age=63)
    path = f"/cases/{case['id']}/results"
    case = client.call(path, {"results": {"scan": "spot"}})
    assert client.call(path, {"results": {"scan": "spot"}})["version"] == case["version"]  # the same again
    assert "send the case's version" in client.call(path, {"results": {"scan": "clear"}}, 422)["detail"]
    client.call(path, {"results": {"scan": "clear"}, "version": case["version"]})


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/cases", {"case_number": "1", "known": {"agee": 1}}, "there is no test 'agee'; did you mean 'age'"),
        ("/cases", {"case_number": "1", "known": {"age": "old"}}, "'old' is not a number"),
        ("/cases", {"case_number": "1", "known": {"scan": "dark"}}, "'dark' is not a value of scan"),
        ("/cases", {"case_number": " "}, "case_number must have"),
        ("/cases", {"case_number": "1", "model": "hart"}, "there is no model 'hart'; did you mean 'heart'?"),
        ("/cases", {"number": "1"}, "case_number"),
        ("/cases", {"case_number": "1", "already_paid": ["ct"]}, "there is no test 'ct'"),
        ("/cases", {"case_number": "1", "known": {"age": True}}, "age needs a number, got true"),
        ("/cases", {"case_number": "1", "known": {"age": [1]}}, "known.age: must be a number, a string, true, false"),
        ("/cases", {"case_number": "1", "known": {"age": 10**400}}, "needs a number"),
        ("/cases", {"case_number": "a\x00b"}, "case_number must have"),
    ],
)
def test_mistakes_get_one_line(file_client, path, body, words):
    detail = file_client.call(path, body, 422)["detail"]
    assert words in detail
    assert "\n" not in detail
    assert file_client.call("/cases")["total"] == 0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "the body is not JSON: "),
        (b'{"case_number": "1", "known": {"age": NaN}}', "NaN and infinite numbers are not valid"),
        (b'{"case_number": "1", "known": {"age": 1e400}}', "NaN and infinite numbers are not valid"),
        (b'{"case_number": "1", "known": {"scan": "\\ud800"}}', "not valid Unicode"),
    ],
)
def test_what_is_no_json_gets_one_line(file_client, body, words):
    answer = file_client.post("/api/cases", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text


def test_characters_that_a_database_may_not_take(client):
    case = client.act(client.new(age=63), "notes", text="a\x00b")
    assert client.call(f"/cases/{case['id']}")["notes"][0]["text"] == "a\x00b"
    assert client.get("/api/cases/%00").status_code in (404, 422)
    assert client.get("/api/cases?q=%00").status_code in (200, 422)
    assert client.call("/cases?state=&q=&page=&per_page=")["total"] == 1


def test_only_the_head_of_an_answer(file_client):
    answer = file_client.head("/healthz")
    assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, b"", "application/json")


def test_monitoring(file_client):
    case = file_client.new(age=30)
    file_client.act(case, "close", truth="well")
    (report,) = file_client.call("/monitoring")["models"]
    assert (report["name"], report["n_closed"], report["measured"]) == ("heart", 1, None)
    assert report["checks"][-1]["error"] is None
    assert "fewer than 20" in report["drift_note"]


def test_mistakes_about_a_case(file_client):
    file_client.call("/cases/nope", status=404)
    case = file_client.new(age=63)
    no_version = file_client.call(f"/cases/{case['id']}/corrections", {"test": "age", "value": 1}, 422)
    assert no_version["detail"] == "send the case's version to correct a result"
    assert "must name at least one test" in file_client.act(case, "results", 422, results={})["detail"]
    assert "nothing to undo" in file_client.act(case, "undo", 422)["detail"]
    assert "known already" in file_client.act(case, "orders", 422, tests=["age"])["detail"]
    assert "has no result" in file_client.act(case, "corrections", 422, test="scan", value="spot")["detail"]
    assert "there is no class 'ill'" in file_client.act(case, "close", 422, truth="ill")["detail"]
    case = file_client.act(case, "close")
    assert "closed" in file_client.act(case, "orders", 422, tests=["scan"])["detail"]
    assert file_client.act(case, "close", truth="sick")["truth"] == "sick"


def test_the_etag_is_the_version_that_was_seen(file_client):
    case = file_client.new(age=63)
    place = f"/cases/{case['id']}/notes"
    assert file_client.call(place, {"text": "a"}, If_Match='"1"')["version"] == 2
    assert file_client.call(place, {"text": "b"}, 409, If_Match='W/"1"')["version"] == 2
    for wrong in ('"x"', '"7"'):
        assert "If-Match" in file_client.call(place, {"text": "b", "version": 2}, 422, If_Match=wrong)["detail"]
    assert file_client.call(place, {"text": "b", "version": 2}, If_Match="*")["version"] == 3


def test_roles(file_desk):
    tokens = {role: file_desk.users.add(role, role) for role in ("read", "work", "admin")}
    with running(file_desk) as address:
        with Client(address, tokens["work"]) as worker:
            case = worker.new(age=63)
            assert worker.act(case, "notes", text="x")["version"] == 2
            assert "needs admin" in worker.call(f"/cases/{case['id']}/erase", {}, 403)["detail"]
        with Client(address, tokens["read"]) as reader:
            assert reader.call(f"/cases/{case['id']}")["version"] == 2
            assert "needs work" in reader.act(case, "orders", 403, tests=["scan"])["detail"]
        with Client(address, tokens["admin"]) as admin:
            admin.call(f"/cases/{case['id']}/erase", {}, 204)
            assert admin.call(f"/cases/{case['id']}")["state"] == "erased"
            admin.call(f"/cases/{case['id']}/notes", {"text": "x"}, 410)
        assert httpx.get(f"{address}/api/cases").status_code == 401
        with Client(address, "ww-wrong") as stranger:
            assert stranger.call("/cases", status=401)["detail"] == "wrong token"


def test_two_writers_at_once_are_put_in_order(client, desk):
    case = client.new(age=63)
    statuses = []

    def write(number):
        body = {"text": f"note {number}", "version": case["version"]}
        with httpx.Client(base_url=client.base_url, headers=client.headers, timeout=30) as own:
            statuses.append(own.post(f"/api/cases/{case['id']}/notes", json=body).status_code)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [409] * 7
    assert len(client.call(f"/cases/{case['id']}")["notes"]) == 1
    assert audit_database(desk.database).problems == ()


def test_models_are_listed_with_prices(file_client):
    (model,) = file_client.call("/models")["models"]
    assert (model["name"], model["version"], model["classes"]) == ("heart", 1, ["well", "sick"])
    assert model["tests"][2] == {"test": "chol", "kind": "numeric", "values": None, "price": 9.0}
    assert model["tests"][1]["values"] == ["clear", "spot"]


def test_a_running_case_stays_with_its_model(place, tmp_path):
    with clinic_desk(place, [write_model(tmp_path)]) as desk:
        token = desk.users.add("ana", "work")
        with running(desk) as address, Client(address, token) as client:
            old = client.new("old", age=63)
    later = [write_model(tmp_path, scan=55.0)]
    with clinic_desk(place, later) as desk, running(desk) as address, Client(address, token) as client:
        new = client.new("new", age=63)
        assert (new["model"]["version"], new["advice"]["price"]) == (2, 55)
        old = client.act(old, "orders", tests=["scan"])
        assert (old["model"]["version"], old["spent"]) == (1, 41)


def test_errors_are_described_as_they_are(file_client):
    described = file_client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        wanted = {"503"} if path in ("/healthz", "/metrics") else {"401", "403", "404", "422", "429", "503"}
        for call in methods.values():
            errors = {code: found["content"] for code, found in call["responses"].items() if code >= "400"}
            assert wanted <= set(errors)
            shapes = {found["application/json"]["schema"]["$ref"] for code, found in errors.items() if code != "409"}
            assert shapes == {"#/components/schemas/ErrorBody"}
    assert "text/plain" in described["paths"]["/metrics"]["get"]["responses"]["200"]["content"]


def test_the_api_is_described(file_client):
    paths = file_client.get("/openapi.json").json()["paths"]
    assert {"/api/cases", "/api/cases/{case_id}/orders", "/cds-services/{service_id}", "/healthz"} <= set(paths)
    assert all(call["summary"] for methods in paths.values() for call in methods.values())
    assert not [path for path in paths if not path.startswith(("/api", "/cds-services", "/healthz", "/metrics"))]

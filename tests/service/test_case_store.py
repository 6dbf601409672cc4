"""Cases in the database: lists, versions, erasing."""

import contextlib

import pytest
import sqlalchemy as sa

from clinic import clinic_desk, write_model
from worthwhile.service.audit import audit_database
from worthwhile.service.case_store import ConflictError, NotFoundError
from worthwhile.service.event_log import events_of
from worthwhile.service.tables import idempotency


def test_every_change_is_one_version(change):
    case = change("create", None, "1", {"age": 63})
    assert change("note", case["id"], "a", 1)["version"] == 2
    assert change("results", case["id"], {"age": 64, "scan": "spot"}, 2)["version"] == 4  # a correction and a result
    with pytest.raises(ConflictError, match="changed by ana in the meantime: it is at version 4, not 2"):
        change("note", case["id"], "b", 2)
    with pytest.raises(ConflictError, match=r"^the case is at version 4, not 99; nothing"):
        change("note", case["id"], "b", 99)  # nobody has changed anything


def test_what_one_request_changed_is_undone_together(change):
    case = change("create", None, "1", {"age": 63})
    changed = change("results", case["id"], {"age": 64, "scan": "spot"}, 1)
    assert (changed["known"], changed["version"]) == ({"age": 64, "scan": "spot"}, 3)
    undone = change("undo", case["id"])
    assert (undone["known"], undone["spent"], undone["version"]) == ({"age": 63}, case["spent"], 5)
    assert undone["can_undo"] is None


def test_a_test_that_was_unavailable_at_first_is_charged_once_it_has_a_result(change):
    by_result = change("create", None, "1", {"age": 63})
    change("results", by_result["id"], {"scan": None}, 1)
    at_opening = change("create", None, "2", {"age": 63, "scan": None})
    spent = {
        change("correct", case["id"], "scan", "spot", "", version)["spent"]
        for case, version in ((by_result, 2), (at_opening, 1))
    }
    assert len(spent) == 1
    assert spent.pop() > at_opening["spent"]


def test_a_closed_case_keeps_its_answer(change):
    case = change("close", change("create", None, "1", {"age": 30})["id"], answer="well")
    with pytest.raises(ValueError, match="closed with the answer well; undo to give another one"):
        change("close", case["id"], truth="sick", answer="sick")
    assert change("close", case["id"], truth="sick", answer="well")["error_cost"] > 0


def test_a_failed_change_leaves_nothing_behind(file_desk, change, ana):
    case = change("create", None, "1", {"age": 63})
    before = audit_database(file_desk.database)
    with pytest.raises(ValueError, match="there is no test"):
        change("order", case["id"], ["scan", "nope"], 1)
    with contextlib.suppress(RuntimeError), file_desk.database.write() as connection:
        file_desk.cases.note(connection, ana, case["id"], "half done", 1)
        raise RuntimeError  # the program breaks off in the middle
    assert audit_database(file_desk.database) == before
    with file_desk.database.read() as connection:
        assert file_desk.cases.get(connection, case["id"]) == case


def test_erasing_removes_everything_and_keeps_the_chain(file_desk, change, tmp_path):
    case = change("create", None, "Miller-1950", {"age": 63})
    change("note", case["id"], "lives in Springfield", 1)
    change("erase", case["id"])
    assert audit_database(file_desk.database).problems == ()
    assert audit_database(file_desk.database).n_erased == 2
    with file_desk.database.read() as connection:
        assert file_desk.cases.get(connection, case["id"]) == {"id": case["id"], "version": 3, "state": "erased"}
        assert file_desk.cases.find(connection, q="Miller").total == 0
        assert all(event.content == {} for event in events_of(connection, case["id"]))
    with pytest.raises(NotFoundError, match="was erased"):
        change("note", case["id"], "x", None)
    with pytest.raises(NotFoundError, match="no case"):
        change("erase", "nope")
    file_desk.database.close()
    content = b"".join(path.read_bytes() for path in tmp_path.glob("cases.db*"))
    assert b"Springfield" not in content
    assert b"Miller" not in content


def test_what_is_erased_is_in_no_file_of_a_running_desk(file_client, tmp_path):
    case = file_client.act(file_client.new("Miller", age=63), "notes", text="lives in Springfield")
    assert any(b"Springfield" in path.read_bytes() for path in tmp_path.glob("cases.db*"))
    file_client.call(f"/cases/{case['id']}/erase", {}, 204)
    content = b"".join(path.read_bytes() for path in tmp_path.glob("cases.db*"))
    assert (b"Springfield" in content, b"Miller" in content) == (False, False)


def test_a_case_that_was_erased_is_not_opened_again(client, desk):
    request = "/cases", {"case_number": "Miller", "known": {}}
    case = client.call(*request, 201, Idempotency_Key="k")
    client.call(f"/cases/{case['id']}/erase", {}, 204)
    assert client.call(*request, 410, Idempotency_Key="k")["detail"] == "this case was erased"
    assert client.call("/cases")["total"] == 1
    with desk.database.read() as connection:
        (kept,) = connection.execute(sa.select(idempotency)).all()
    assert (kept.digest, kept.body) == ("", "")  # nothing can be guessed from it
    before = client.call("/audit/head")
    client.call(f"/cases/{case['id']}/erase", {}, 204)  # the second time nothing happens
    assert client.call("/audit/head") == before


def test_a_correction_needs_the_version(change):
    case = change("create", None, "1", {"age": 63, "scan": None})
    with pytest.raises(ValueError, match="send the case's version to correct a result"):
        change("correct", case["id"], "age", 64, "", None)
    with pytest.raises(ValueError, match=r"age already has the result 63\.0; send"):
        change("results", case["id"], {"age": 64}, None)
    with pytest.raises(ValueError, match="scan is recorded as unavailable; send the case's version to correct it"):
        change("results", case["id"], {"scan": "spot"}, None)


def test_limits_on_texts(change):
    with pytest.raises(ValueError, match="case_number must have 1 to 100"):
        change("create", None, "x" * 101, {})
    case = change("create", None, "1", {})
    with pytest.raises(ValueError, match="a note has 1 to 10000"):
        change("note", case["id"], " ", 1)


def test_a_closed_case_takes_the_results_of_its_orders_only(change):
    case = change("create", None, "1", {"age": 63, "scan": "spot"})
    change("order", case["id"], ["chol", "sugar"], 1)
    closed = change("close", case["id"], truth="sick", answer="well")
    late = change("results", case["id"], {"chol": 300}, None)
    for fact in ("state", "answer", "truth", "closed_at", "spent", "actual_cost"):
        assert late[fact] == closed[fact]
    assert (late["known"]["chol"], [p["test"] for p in late["pending"]]) == (300, ["sugar"])
    assert change("results", case["id"], {"chol": 300}, None) == late  # sent again
    for refused in ({"sugar": 5, "gene": "no"}, {"chol": 200}):
        with pytest.raises(ValueError, match="the case is closed"):
            change("results", case["id"], refused, late["version"])
    assert change("undo", case["id"])["pending"] == closed["pending"]


def test_the_answer_can_be_another_than_advised(change):
    case = change("create", None, "1", {"age": 30})
    assert case["answer"] == "well"
    case = change("close", case["id"], truth="sick", answer="sick")
    assert (case["answer"], case["error_cost"], case["actual_cost"]) == ("sick", 0, 1)


def test_amounts_have_no_dust(tmp_path, ana):
    model = write_model(tmp_path, age=1.1, scan=2.2)
    with clinic_desk(tmp_path / "cases.db", [model]) as desk, desk.database.write() as connection:
        case = desk.cases.create(connection, ana, None, "1", {"age": 63, "scan": "spot"})
    assert case["spent"] == 3.3 != 1.1 + 2.2

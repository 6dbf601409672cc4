"""The audit: whatever is changed behind the back of the desk is found, in the log and in the tables."""

import json
import re

import pytest
import sqlalchemy as sa

import worthwhile as ww
from clinic import clinic_desk, write_model
from worthwhile.service.audit import audit_database, verify_chain
from worthwhile.service.event_log import append_event
from worthwhile.service.model_store import model_id
from worthwhile.service.tables import models
from worthwhile.service.user_store import User


@pytest.fixture
def log(desk):
    """A desk whose log has a few events."""
    for n in range(4):
        with desk.database.write() as connection:
            append_event(connection, "ana", "noted", {"text": f"note {n}"})
    return desk.database


def spoil(database, *statements):
    with database.engine.begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))
    return audit_database(database).problems


# The log


def test_a_whole_chain(log):
    report = verify_chain(log)
    assert (report.n_events, report.n_erased, report.problems) == (5, 0, ())  # the model is the first event
    assert audit_database(log, report.head) == report


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["UPDATE events SET content = '{}' WHERE seq = 3"], "event 3 .*its content was changed"),
        (["UPDATE events SET actor = 'bob' WHERE seq = 3"], "event 3 .*the chain is broken"),
        (["UPDATE events SET time = '2020' WHERE seq = 3"], "event 3 .*the chain is broken"),
        (["DELETE FROM events WHERE seq = 3"], "event 3 is missing"),
        (["DELETE FROM events WHERE seq IN (2, 3)"], "events 2 to 3 are missing"),
        (["DELETE FROM events WHERE seq = 5"], "the log ends at event 4, but 5 were written: .* missing at the end"),
        (["UPDATE chain_head SET seq = 4"], "the log ends at event 5, but its end was noted as event 4"),
        (["UPDATE events SET case_id = 'x' WHERE seq = 2"], "event 2 .*the chain is broken"),
        (["UPDATE events SET content = NULL WHERE seq = 3"], "event 3: its content was removed, and it is of no case"),
        (["UPDATE events SET seq = -1 WHERE seq = 1", "DELETE FROM models"], "event -1 .*the chain is broken"),
    ],
)
def test_changes_of_the_log_are_found_and_told_in_one_line(log, statements, words):
    found = spoil(log, *statements)
    assert re.match(words, found[0])
    assert len(found) == 1 or "case_id" in statements[0] or "seq = -1" in statements[0]


def test_a_log_that_was_cut_off_cleanly_is_found_by_an_earlier_head(log):
    head = verify_chain(log).head
    cut = "UPDATE chain_head SET seq = 4, hash = (SELECT hash FROM events WHERE seq = 4)"
    assert spoil(log, "DELETE FROM events WHERE seq = 5", cut) == ()
    assert "was cut off" in audit_database(log, head).problems[0]


def test_content_may_only_be_missing_where_a_case_was_erased(desk, client):
    first, second = client.new("Miller", age=63), client.new("Smith", age=30)
    client.call(f"/cases/{first['id']}/erase", {}, 204)
    report = audit_database(desk.database)
    assert (report.problems, report.n_erased) == ((), 1)
    removed = f"UPDATE events SET content = NULL, salt = NULL WHERE case_id = '{second['id']}'"
    (problem,) = spoil(desk.database, removed)
    assert re.fullmatch(r"event \d+: its content was removed, but its case was not erased", problem)


# Cases


@pytest.fixture
def busy(desk, client):
    """A desk with a case of every kind: one with orders, a correction, an undone note and an outcome, and others."""
    case = client.new("Miller", age=63)
    case = client.act(case, "results", results={"scan": "clear"})
    case = client.act(case, "corrections", test="scan", value="spot", why="mixed up")
    case = client.act(case, "notes", text="took a walk")
    case = client.act(case, "undo")
    case = client.act(case, "notes", text="called the ward")
    case = client.act(case, "orders", tests=["chol", "sugar"])
    case = client.act(case, "results", results={"chol": None}, reasons={"chol": "no blood"})
    case = client.act(case, "close", truth="sick", answer="well")
    client.act(case, "results", results={"sugar": 5})
    erased = client.new("Erased", age=63)
    client.call(f"/cases/{erased['id']}/erase", {}, 204)
    client.act(client.new("Open", age=63), "orders", tests=["scan"])
    return desk.database


def content_with(database, number, **changes):
    """A statement that changes the content of a case."""
    with database.read() as connection:
        chosen = sa.text("SELECT content FROM cases WHERE case_number = :number")
        content = json.loads(connection.execute(chosen, {"number": number}).scalar())
    text = json.dumps({**content, **changes}).replace("'", "''").replace(":", "\\:")
    return f"UPDATE cases SET content = '{text}' WHERE case_number = '{number}'"


def test_the_note_of_the_end_of_the_log_is_missed(busy):
    assert spoil(busy, "DELETE FROM chain_head") == ("the note of the end of the log was removed",)


def test_cases_that_are_what_the_log_says(busy):
    assert audit_database(busy).problems == ()


@pytest.mark.parametrize(
    ("column", "value", "shown"),
    [
        ("case_number", "'Muller'", "case_number"),
        ("version", "7", "version"),
        ("state", "'answered'", "state"),
        ("opened_at", "'2020-01-01T00\\:00\\:00Z'", "opened_at"),
        ("closed_at", "NULL", "closed_at"),
        ("spent", "spent + 0.01", "spent"),
        ("actual", "0", "actual"),
        ("expected", "expected + 0.01", "expected"),
        ("waiting_for", "'gene'", "waiting_for"),
        ("model_id", "'x'", "model_id"),
        ("content", "'{'", "content"),
        ("content", "'[]'", "content"),
    ],
)
def test_columns_that_were_changed(busy, column, value, shown):
    (problem,) = spoil(busy, f"UPDATE cases SET {column} = {value} WHERE case_number = 'Miller'")
    assert re.fullmatch(rf"case Miller \(\w+\): {shown} is not what the log says", problem)


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        ("Miller", {"notes": []}),
        ("Miller", {"known": {"age": 63, "scan": "clear", "sugar": 5}}),
        ("Miller", {"unavailable": {}}),
        ("Miller", {"ledger": []}),
        ("Miller", {"answer": "sick"}),
        ("Miller", {"model": {"name": "lung", "version": 1}}),
        ("Open", {"tests": []}),
        ("Open", {"answer": "well"}),
        ("Open", {"opened_by": "bob"}),
    ],
)
def test_content_that_was_changed(busy, number, changes):
    (problem,) = spoil(busy, content_with(busy, number, **changes))
    assert re.fullmatch(rf"case {number} \(\w+\): {next(iter(changes))} is not what the log says", problem)


@pytest.mark.parametrize("changes", [{"truth": "well"}, {"pending": []}, {"state": "closed"}, {"state": "erased"}])
def test_content_and_columns_that_were_changed(busy, changes):
    number = "Miller" if "truth" in changes else "Open"
    state = changes.get("state", "closed" if number == "Miller" else "waiting")
    column = f"UPDATE cases SET state = '{state}' WHERE case_number = '{number}'"
    (problem,) = spoil(busy, content_with(busy, number, **changes), column)
    assert re.match(rf"case {number} \(\w+\): {next(iter(changes))} ", problem)


def test_advice_may_be_worded_differently(busy):
    with busy.read() as connection:
        advice = json.loads(
            connection.execute(sa.text("SELECT content FROM cases WHERE case_number = 'Open'")).scalar()
        )["advice"]
    assert spoil(busy, content_with(busy, "Open", advice={**advice, "reason": "Because."})) == ()


def test_cases_that_are_missing_or_were_added(busy):
    copied = (
        "INSERT INTO cases (id, case_number, model_id, version, state, opened_at, changed_at, spent, content)"
        " SELECT 'new', 'Guest', model_id, version, state, opened_at, changed_at, spent, content FROM cases"
        " WHERE case_number = 'Open'"
    )
    missing, added = spoil(busy, copied, "DELETE FROM cases WHERE case_number = 'Miller'")
    assert re.fullmatch(r"case Miller \(\w+\) is in the log, but not in the table", missing)
    assert added == "case Guest (new) is in the table, but the log does not open it"


def test_an_erased_case_that_came_back(busy):
    (problem,) = spoil(busy, "UPDATE cases SET case_number = 'Back', spent = 3 WHERE state = 'erased'")
    assert re.fullmatch(r"case \w+: case_number and spent are not what the log says", problem)


def test_events_that_cannot_be_read_are_one_problem_of_the_case(busy):
    found = spoil(busy, "UPDATE events SET content = '{}' WHERE action = 'ordered'")
    assert [line for line in found if line.startswith("case Miller")] == [
        line for line in found if "content is not what the log says" in line and "Miller" in line
    ]
    assert sum("its content was changed" in line for line in found) == 2


def test_events_without_an_opening(desk):
    with desk.database.write() as connection:
        append_event(connection, "ana", "noted", {"text": "x"}, "lost")
    assert audit_database(desk.database).problems == ("case lost is in the log, but the log does not open it",)


def test_prices_that_depend_on_the_case(tmp_path):
    """The class shares of the advice are needed for what was spent."""
    tests = {"x0": ww.Test(4, wait=24, surcharges=[ww.Surcharge(30, truth="b")]), "x1": ww.Test(2)}
    clf = ww.DTMCClassifier(costs=ww.Costs(tests=tests, errors=100, waiting=0.5), cross_fit=False)
    clf.fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]] * 5, ["a", "a", "b", "b"] * 5)
    clf.save(tmp_path / "model.json")
    ana = User("ana", "work")
    with clinic_desk(tmp_path / "cases.db", [tmp_path / "model.json"]) as desk:
        with desk.database.write() as connection:
            case = desk.cases.create(connection, ana, None, "1", {})
            desk.cases.order(connection, ana, case["id"], ["x0"], 1)
            case = desk.cases.create(connection, ana, None, "2", {"x0": 3.0})
            desk.cases.close(connection, ana, case["id"], "b")
        assert audit_database(desk.database).problems == ()


# Users and models


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE users SET role = 'read' WHERE name = 'ana'", "user ana has the role read, but admin by the log"),
        ("UPDATE users SET token_hash = 'x' WHERE name = 'ana'", "user ana has another token than by the log"),
        ("UPDATE users SET removed_at = '2026' WHERE name = 'ana'", "user ana is removed, but not by the log"),
        ("UPDATE users SET removed_at = NULL WHERE name = 'bob'", "user bob is there, but removed by the log"),
        ("DELETE FROM users WHERE name = 'ana'", "user ana is missing"),
        ("INSERT INTO users VALUES ('eve', 'admin', 'h', '2026', NULL)", "user eve is not in the log"),
    ],
)
def test_users_that_were_changed(desk, statement, problem):
    desk.users.add("ana", "admin")
    desk.users.add("bob", "work")
    desk.users.remove("bob")
    assert audit_database(desk.database).problems == ()
    assert spoil(desk.database, statement) == (problem,)


def test_users_of_an_older_log_have_no_token_in_it(file_desk):
    with file_desk.database.write() as connection:
        append_event(connection, "command line", "user added", {"name": "old", "role": "work"})
    assert spoil(file_desk.database, "INSERT INTO users VALUES ('old', 'work', 'h', '2026', NULL)") == ()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE models SET content = content || ' '", "model heart, version 1: its name or content was changed"),
        ("UPDATE models SET name = 'lung'", "model lung, version 1: its name or content was changed"),
        ("UPDATE models SET version = 2", "model heart, version 2 is model heart, version 1 by the log"),
        ("DELETE FROM models", "model heart, version 1 is missing"),
    ],
)
def test_models_that_were_changed(busy, statement, problem):
    assert spoil(busy, statement) == (f"{problem}; 2 cases cannot be verified",)


def test_a_model_that_the_log_does_not_have(desk, tmp_path):
    text = write_model(tmp_path, scan=50.0).read_text()
    with desk.database.engine.begin() as connection:
        row = {"id": model_id("heart", text), "name": "heart", "version": 2, "added_at": "2026", "content": text}
        connection.execute(models.insert().values(**row))
    assert audit_database(desk.database).problems == ("model heart, version 2 is not in the log",)


def test_the_work_grows_with_the_log_and_no_faster(file_desk, change):
    asked = []
    sa.event.listen(file_desk.database.engine, "before_cursor_execute", lambda *args: asked.append(args[2]))

    def queries(n_cases):
        for n in range(n_cases):
            change("note", change("create", None, str(n), {"age": 63})["id"], "x", 1)
        asked.clear()
        assert audit_database(file_desk.database).problems == ()
        return len(asked)

    first = queries(5)
    assert queries(20) == first + 20

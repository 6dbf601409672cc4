"""The chain of events: whatever is changed behind its back is found."""

import re

import pytest
import sqlalchemy as sa

from worthwhile.service.event_log import append_event, canonical, verify_chain


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
    return verify_chain(database).problems


def test_a_whole_chain(log):
    report = verify_chain(log)
    assert (report.n_events, report.n_erased, report.problems) == (5, 0, ())  # the model is the first event
    assert verify_chain(log, report.head).problems == ()


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["UPDATE events SET content = '{}' WHERE seq = 3"], "event 3 .*its content was changed"),
        (["UPDATE events SET actor = 'bob' WHERE seq = 3"], "event 3 .*the chain is broken"),
        (["UPDATE events SET time = '2020' WHERE seq = 3"], "event 3 .*the chain is broken"),
        (["DELETE FROM events WHERE seq = 3"], "event 3 is missing"),
        (["DELETE FROM events WHERE seq = 5"], "missing at the end"),
        (["UPDATE events SET case_id = 'x' WHERE seq = 2"], "event 2 .*the chain is broken"),
    ],
)
def test_changes_are_found(log, statements, words):
    assert any(re.search(words, problem) for problem in spoil(log, *statements))


def test_a_log_that_was_cut_off_cleanly_is_found_by_an_earlier_head(log):
    head = verify_chain(log).head
    cut = "UPDATE chain_head SET seq = 4, hash = (SELECT hash FROM events WHERE seq = 4)"
    assert spoil(log, "DELETE FROM events WHERE seq = 5", cut) == ()
    assert "was cut off" in verify_chain(log, head).problems[0]


def test_a_case_that_was_changed_without_the_log_is_found(client, desk):
    client.new(age=63)
    assert "is at version 9" in spoil(desk.database, "UPDATE cases SET version = 9")[0]


def test_content_that_json_cannot_have_is_refused():
    with pytest.raises(ValueError, match="NaN and infinite numbers are not valid"):
        canonical({"x": float("nan")})

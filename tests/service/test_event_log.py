"""The log of all changes: what is put into it comes back, sealed."""

import pytest

from worthwhile.service.event_log import append_event, canonical, digest_of, erase_events, events_of, seal_of


def test_events_of_a_case(desk):
    with desk.database.write() as connection:
        first = append_event(connection, "ana", "noted", {"text": "é"}, "c")
        append_event(connection, "ana", "noted", {}, "other")
        assert events_of(connection, "c") == [first]
        erase_events(connection, "c")
        assert events_of(connection, "c")[0].content == {}


def test_seals_cover_everything():
    event = ["before", 1, "2026", "ana", "noted", "c", digest_of("salt", "{}")]
    changed = ["else", 2, "2027", "bob", "closed", None, digest_of("pepper", "{}")]
    seals = {seal_of(*event), *(seal_of(*[*event[:n], other, *event[n + 1 :]]) for n, other in enumerate(changed))}
    assert len(seals) == 8


def test_content_that_json_cannot_have_is_refused():
    with pytest.raises(ValueError, match="NaN and infinite numbers are not valid"):
        canonical({"x": float("nan")})

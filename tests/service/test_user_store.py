"""Users, tokens and sessions."""

import pytest
import sqlalchemy as sa

from worthwhile.service.user_store import User


def test_tokens_are_not_stored(desk):
    token = desk.users.add("ana", "work")
    cookie = desk.users.log_in(User("ana", "work"))
    with desk.database.read() as connection:
        for table in ("users", "sessions", "events"):
            rows = str(connection.execute(sa.text(f"SELECT * FROM {table}")).all())
            assert token not in rows
            assert cookie not in rows
    assert desk.users.by_token(token) == User("ana", "work")
    assert desk.users.by_token("ww-else") is None
    assert desk.users.session(cookie).user == User("ana", "work")


def test_removed_users_are_out_at_once(desk):
    token = desk.users.add("ana", "work")
    cookie = desk.users.log_in(User("ana", "work"))
    with pytest.raises(ValueError, match="already exists"):
        desk.users.add("ana", "read")
    desk.users.remove("ana")
    assert desk.users.by_token(token) is None
    assert desk.users.session(cookie) is None
    assert desk.users.all() == []
    with pytest.raises(ValueError, match="there is no user 'ana'"):
        desk.users.remove("ana")
    assert desk.users.by_token(desk.users.add("ana", "read")) == User("ana", "read")
    assert desk.users.by_token(token) is None


def test_sessions_end(file_desk):
    file_desk.users.add("ana", "work")
    cookie = file_desk.users.log_in(User("ana", "work"))
    session = file_desk.users.session(cookie)
    assert session.check_form(session.form_token)
    assert not session.check_form("")
    with file_desk.database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE sessions SET expires_at = '2020-01-01'"))
    assert file_desk.users.session(cookie) is None
    cookie = file_desk.users.log_in(User("ana", "work"))
    file_desk.users.log_out(cookie)
    assert file_desk.users.session(cookie) is None


@pytest.mark.parametrize(
    ("name", "role", "words"), [("", "work", "user name"), ("a\n", "x", "role"), ("a\tb", "work", "printable")]
)
def test_bad_users(file_desk, name, role, words):
    with pytest.raises(ValueError, match=words):
        file_desk.users.add(name, role)

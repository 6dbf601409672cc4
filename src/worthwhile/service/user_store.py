"""People and programs that may use the desk: their tokens, roles and sessions. Only hashes are stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from worthwhile.costs.error_costs import suggest
from worthwhile.service.database import Database, now
from worthwhile.service.event_log import append_event
from worthwhile.service.tables import sessions, users

__all__ = ["ROLES", "Session", "User", "UserStore"]

ROLES = ("read", "work", "admin")  # each may do what those before it may
SESSION_HOURS = 12
MAX_NAME = 100
BY_TOKEN = sa.select(users).where(users.c.token_hash == sa.bindparam("hash"), users.c.removed_at.is_(None))
COMMAND_LINE = "command line"  # the actor of changes made by commands


@dataclass(frozen=True)
class User:
    """A person or a program.

    Examples
    --------
    >>> User("ana", "work").may("read"), User("ana", "work").may("admin")
    (True, False)
    """

    name: str
    role: str

    def may(self, role: str) -> bool:
        """Return whether this user has a role, or one above it."""
        return ROLES.index(self.role) >= ROLES.index(role)


@dataclass(frozen=True)
class Session:
    """Somebody logged in with a browser."""

    user: User
    form_token: str  # every form carries it, so that no other site can send forms in this user's name

    def check_form(self, token: str) -> bool:
        """Return whether a form comes from our own pages."""
        return hmac.compare_digest(token.encode(), self.form_token.encode())


def _hashed(secret: str) -> str:
    # Tokens are random and long: a slow hash, as for passwords, would protect nothing more.
    return hashlib.sha256(secret.encode()).hexdigest()


class UserStore:
    """Users in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, role: str) -> str:
        """Add a user and return the token, which is not stored and cannot be shown again."""
        name = name.strip()
        if not name or len(name) > MAX_NAME or not name.isprintable():
            raise ValueError(f"a user name has 1 to {MAX_NAME} printable characters, got {name!r}")
        if role not in ROLES:
            raise ValueError(f"there is no role {role!r}; {suggest(role, ROLES)}")
        token = f"ww-{secrets.token_urlsafe(32)}"
        row = {"role": role, "token_hash": _hashed(token), "created_at": now(), "removed_at": None}
        with self._database.write() as connection:
            known = connection.execute(sa.select(users.c.removed_at).where(users.c.name == name)).one_or_none()
            if known is None:
                connection.execute(users.insert().values(name=name, **row))
            elif known.removed_at is None:
                raise ValueError(f"the user {name!r} already exists; remove it first to give it a new token")
            else:
                connection.execute(users.update().where(users.c.name == name).values(**row))
            told = {"name": name, "role": role, "token_hash": row["token_hash"]}  # so that an audit can compare it
            append_event(connection, COMMAND_LINE, "user added", told)
        return token

    def remove(self, name: str) -> None:
        """Remove a user: the token and all sessions end at once; what the user did stays in the log."""
        with self._database.write() as connection:
            present = sa.select(users.c.name).where(users.c.removed_at.is_(None)).order_by(users.c.name)
            names = connection.execute(present).scalars().all()
            if name not in names:
                hint = suggest(name, names) if names else "there are no users"
                raise ValueError(f"there is no user {name!r}; {hint}")
            connection.execute(users.update().where(users.c.name == name).values(removed_at=now()))
            connection.execute(sessions.delete().where(sessions.c.user_name == name))
            append_event(connection, COMMAND_LINE, "user removed", {"name": name})

    def all(self) -> list[tuple[User, str]]:
        """Return all users, with the time of their token."""
        with self._database.read() as connection:
            chosen = sa.select(users).where(users.c.removed_at.is_(None)).order_by(users.c.name)
            return [(User(row.name, row.role), row.created_at) for row in connection.execute(chosen)]

    def by_token(self, token: str) -> User | None:
        """Return who has this token."""
        with self._database.glance() as connection:
            row = connection.execute(BY_TOKEN, {"hash": _hashed(token)}).one_or_none()
        return None if row is None else User(row.name, row.role)

    def log_in(self, user: User) -> str:
        """Begin a session and return the secret of its cookie."""
        cookie = secrets.token_urlsafe(32)
        expires = datetime.now(UTC) + timedelta(hours=SESSION_HOURS)
        with self._database.write() as connection:
            connection.execute(sessions.delete().where(sessions.c.expires_at < now()))
            connection.execute(
                sessions.insert().values(
                    cookie_hash=_hashed(cookie),
                    user_name=user.name,
                    form_token=secrets.token_hex(32),
                    expires_at=expires.isoformat(timespec="microseconds").replace("+00:00", "Z"),
                )
            )
            append_event(connection, user.name, "logged in", {})
        return cookie

    def session(self, cookie: str) -> Session | None:
        """Return the session of a cookie; None if it has ended or its user was removed."""
        chosen = (
            sa.select(users.c.name, users.c.role, sessions.c.form_token)
            .join(users, users.c.name == sessions.c.user_name)
            .where(sessions.c.cookie_hash == _hashed(cookie), sessions.c.expires_at >= now())
            .where(users.c.removed_at.is_(None))
        )
        with self._database.glance() as connection:
            row = connection.execute(chosen).one_or_none()
        return None if row is None else Session(User(row.name, row.role), row.form_token)

    def log_out(self, cookie: str) -> None:
        """End a session."""
        with self._database.write() as connection:
            connection.execute(sessions.delete().where(sessions.c.cookie_hash == _hashed(cookie)))

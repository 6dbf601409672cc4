"""The parts of a running desk, and who is asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from worthwhile.service.case_store import CaseStore
from worthwhile.service.database import Database
from worthwhile.service.model_store import ModelStore
from worthwhile.service.request_metrics import RequestMetrics
from worthwhile.service.security import LoginLimiter
from worthwhile.service.user_store import User, UserStore

__all__ = ["Admin", "Desk", "DeskOf", "Reader", "Worker", "address_of", "check_limit", "desk_of", "user_by_token"]

# It also puts the tokens into the description of the API.
TOKEN = HTTPBearer(auto_error=False, description="A token that `worthwhile users add` has printed.")


@dataclass
class Desk:
    """Everything that a request may need."""

    database: Database
    models: ModelStore
    users: UserStore
    cases: CaseStore
    metrics: RequestMetrics = field(default_factory=RequestMetrics)
    limiter: LoginLimiter = field(default_factory=LoginLimiter)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)  # test -> coding of FHIR
    origins: list[str] = field(default_factory=list)  # sites whose pages may call the services of CDS Hooks

    @classmethod
    def open(cls, database: Database, models: Mapping[str, tuple[str, Any]]) -> Desk:
        """Set up a desk on a database with the models that `read_models` found."""
        store = ModelStore(database)
        store.register(models)
        return cls(database, store, UserStore(database), CaseStore(store))

    def erase(self, user: User, case_id: str) -> None:
        """Erase a case, and what is left of it in the files of the database."""
        with self.database.write() as connection:
            self.cases.erase(connection, user, case_id)
        self.database.forget_old_pages()


def desk_of(request: Request) -> Desk:
    """Return the desk that serves a request."""
    desk: Desk = request.app.state.desk
    return desk


def address_of(request: Request) -> str:
    """Return the address that a request comes from."""
    return request.client.host if request.client else "unknown"


def check_limit(desk: Desk, address: str) -> None:
    """Refuse an address that has sent too many wrong tokens."""
    if wait := desk.limiter.wait(address):
        raise HTTPException(429, "too many wrong tokens; try again later", {"Retry-After": str(wait)})


def user_by_token(desk: Desk, address: str, token: str) -> User:
    """Return whose token this is. Wrong ones are limited by address; a right one works even there.

    Programs behind one proxy share its address: one with an old token must not lock out the others.
    """
    user = desk.users.by_token(token)
    if user is None:
        check_limit(desk, address)
        desk.limiter.failed(address)
        desk.metrics.count_failed_login()
        raise HTTPException(401, "wrong token", {"WWW-Authenticate": "Bearer"})
    return user


def _bearer(request: Request, sent: Annotated[HTTPAuthorizationCredentials | None, Depends(TOKEN)]) -> User:
    token = "" if sent is None else sent.credentials.strip()
    if not token:
        raise HTTPException(401, "send the header Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
    return user_by_token(desk_of(request), address_of(request), token)


def _at_least(role: str, user: User) -> User:
    if not user.may(role):
        raise HTTPException(403, f"{user.name} has the role {user.role}; this needs {role}")
    return user


# What has nothing to wait for is a coroutine: every function costs a change of threads, half a millisecond.


async def _desk(request: Request) -> Desk:
    return desk_of(request)


async def _reader(user: Annotated[User, Depends(_bearer)]) -> User:
    return _at_least("read", user)


async def _worker(user: Annotated[User, Depends(_bearer)]) -> User:
    return _at_least("work", user)


async def _admin(user: Annotated[User, Depends(_bearer)]) -> User:
    return _at_least("admin", user)


DeskOf = Annotated[Desk, Depends(_desk)]
Reader = Annotated[User, Depends(_reader)]
Worker = Annotated[User, Depends(_worker)]
Admin = Annotated[User, Depends(_admin)]

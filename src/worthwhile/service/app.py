"""The web application: API, pages, health and metrics."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.staticfiles import StaticFiles

from worthwhile import __version__
from worthwhile.service import api, cds_hooks, pages
from worthwhile.service.case_store import ConflictError, ErasedError, NotFoundError
from worthwhile.service.database import StorageError
from worthwhile.service.desk import Desk, desk_of
from worthwhile.service.security import Shell

__all__ = ["create_app"]

LOG = logging.getLogger("worthwhile")
VALUE_TYPES = ("float", "int", "str", "bool")
STATIC = Path(__file__).with_name("static")
ABOUT = (
    "Cases, orders, results and advice. Send `Authorization: Bearer TOKEN`; `worthwhile users add NAME` prints a token."
    " Changes take the `version` you saw and an optional `Idempotency-Key`."
)


def create_app(desk: Desk) -> Any:
    """Return the application of a desk."""
    app = FastAPI(
        title="worthwhile decision desk", version=__version__, description=ABOUT, docs_url=None, redoc_url=None
    )
    app.state.desk = desk
    app.include_router(api.router)
    app.include_router(cds_hooks.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    operation: dict[str, Any] = {"methods": ["GET"], "tags": ["operation"]}
    failing: dict[int | str, dict[str, Any]] = {503: {"model": api.ErrorBody}}
    text: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}}
    app.add_api_route("/healthz", _health, summary="Whether the service works", responses=failing, **operation)
    app.add_api_route("/metrics", _metrics, summary="Counters for Prometheus", responses=failing | text, **operation)
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)
    if desk.origins:
        app.add_middleware(cds_hooks.OtherOrigins, origins=desk.origins)
    app.add_middleware(Shell, metrics=desk.metrics)
    return app


def _health(request: Request) -> Response:
    """Return whether the database answers."""
    try:
        with desk_of(request).database.read() as connection:
            connection.execute(sa.text("SELECT 1"))
    except StorageError as error:
        return JSONResponse({"status": "failing", "detail": _logged(error)}, 503)
    return JSONResponse({"status": "ok", "version": __version__})


def _metrics(request: Request) -> Response:
    """Return counters; they name no case and no person."""
    desk = desk_of(request)
    return PlainTextResponse(desk.metrics.text(desk.database), media_type="text/plain; version=0.0.4; charset=utf-8")


def _answer(request: Request, status: int, detail: str, headers: Any = None, **more: Any) -> Response:
    if request.url.path.startswith(("/api", "/cds-services", "/healthz", "/metrics", "/openapi.json")):
        return JSONResponse({"detail": detail, **more}, status, headers)
    return pages.error_page(request, status, detail, headers)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _answer(request, 422, f"the body is not JSON: {first['ctx']['error']} at character {first['loc'][-1]}")
    place, message = [str(part) for part in first["loc"] if part != "body"], str(first["msg"])
    if place and place[-1] in VALUE_TYPES:  # none of the types that a value may have
        place, message = place[:-1], "must be a number, a string, true, false or null"
    return _answer(request, 422, f"{'.'.join(place)}: {message}" if place else message)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    if error.status_code == 401 and isinstance(error, HTTPException):
        return _answer(request, 401, str(error.detail), error.headers)
    return _answer(request, error.status_code, str(error.detail), error.headers)


def _conflict(request: Request, error: Exception) -> Response:
    assert isinstance(error, ConflictError)
    return _answer(request, 409, str(error), None, version=error.case["version"], case=error.case)


def _missing(request: Request, error: Exception) -> Response:
    return _answer(request, 410 if isinstance(error, ErasedError) else 404, str(error.args[0]))


def _bad_value(request: Request, error: Exception) -> Response:
    if isinstance(error, UnicodeError):
        return _answer(request, 422, "a text in the request is not valid Unicode: it has half of a surrogate pair")
    return _answer(request, 422, str(error))


def _logged(error: StorageError) -> str:
    """Put an error of the database into the server's log, and return what callers may read of it."""
    LOG.error("%s", error)
    return error.reason


def _storage(request: Request, error: Exception) -> Response:
    assert isinstance(error, StorageError)
    return _answer(request, 503, _logged(error), {"Retry-After": "1"})


_HANDLERS: dict[type[Exception], Any] = {
    RequestValidationError: _invalid,
    StarletteHTTPException: _refused,
    ConflictError: _conflict,
    NotFoundError: _missing,
    ValueError: _bad_value,
    StorageError: _storage,
}

"""What protects the service: headers, a limit on wrong tokens, a limit on the size of requests, and what is logged."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from worthwhile.service.request_metrics import RequestMetrics

__all__ = ["LoginLimiter", "Shell", "same_origin"]

ACCESS = logging.getLogger("worthwhile.access")
MAX_BODY = 2_000_000  # bytes
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
STATIC = (b"cache-control", b"no-cache")  # kept by the browser, which asks whether it is still the newest

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class LoginLimiter:
    """Allows a few wrong tokens per address in some time.

    Examples
    --------
    >>> limiter = LoginLimiter(limit=2, seconds=60)
    >>> [limiter.wait("10.0.0.9"), limiter.failed("10.0.0.9"), limiter.failed("10.0.0.9")]
    [0, None, None]
    >>> 0 < limiter.wait("10.0.0.9") <= 60
    True
    """

    MAX_ADDRESSES = 10_000  # so that an attacker with many addresses cannot fill the memory

    def __init__(self, limit: int = 10, seconds: float = 300.0) -> None:
        self._limit, self._seconds = limit, seconds
        self._failures: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, address: str) -> int:
        """Return how many seconds an address must wait; 0: it may try."""
        with self._lock:
            recent = self._recent(address)
            if len(recent) < self._limit:
                return 0
            return max(1, round(recent[-self._limit] + self._seconds - time.monotonic()))

    def failed(self, address: str) -> None:
        """Note a wrong token."""
        with self._lock:
            self._failures[address] = [*self._recent(address), time.monotonic()][-self._limit :]
            self._failures.move_to_end(address)
            while len(self._failures) > self.MAX_ADDRESSES:
                self._failures.popitem(last=False)

    def _recent(self, address: str) -> list[float]:
        start = time.monotonic() - self._seconds
        return [moment for moment in self._failures.get(address, ()) if moment > start]


def same_origin(origin: str | None, host: str | None) -> bool:
    """Return whether a form was sent from a page of this host; browsers name the origin of every form they send.

    Examples
    --------
    >>> same_origin("https://desk.example", "desk.example"), same_origin("https://evil.example", "desk.example")
    (True, False)
    """
    return origin is None or (origin != "null" and urlsplit(origin).netloc == host)


class Shell:
    """The outermost layer: adds headers, refuses large bodies, counts and logs requests.

    The log has the route, not the address: no case number, no token and no query ever gets into it.
    """

    def __init__(self, app: Any, metrics: RequestMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, body = time.perf_counter(), [500], _LimitedBody(receive)
        if head := scope["method"] == "HEAD":  # the web server leaves out the body of the answer
            scope = {**scope, "method": "GET"}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                more = [STATIC] if scope["path"].startswith("/static/") else []
                own = {name.lower() for name, _ in [*message.get("headers", ()), *more]}
                rest = ((name, value) for name, value in HEADERS if name not in own)
                message["headers"] = [*message.get("headers", ()), *more, *rest]
            await send(message)

        async def send_unless_refused(message: Message) -> None:
            if not body.is_too_long:
                await send_with_headers(message)

        try:
            body.is_too_long = _declared_length(scope) > MAX_BODY
            if not body.is_too_long:
                await self._app(scope, body, send_unless_refused)
        except Exception:
            if not body.is_too_long:
                raise
        finally:
            if body.is_too_long:  # whatever the application made of a part of it
                await _refuse(send_with_headers)
            seconds = time.perf_counter() - start
            route = getattr(scope.get("route"), "path", None)
            route = route or ("/static" if scope["path"].startswith("/static/") else "other")
            method = "HEAD" if head else scope["method"]
            self._metrics.count_request(method, route, status[0], seconds)
            ACCESS.info("%s %s %d %.0f ms", method, route, status[0], 1000 * seconds)


def _declared_length(scope: dict[str, Any]) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


class _LimitedBody:
    """Cuts off the body of a request that does not say how long it is."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._read, self.is_too_long = receive, 0, False

    async def __call__(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        self.is_too_long = self.is_too_long or self._read > MAX_BODY
        return {"type": "http.disconnect"} if self.is_too_long else message


async def _refuse(send: Send) -> None:
    body = json.dumps({"detail": f"the request is larger than {MAX_BODY} bytes"}).encode()
    await send({"type": "http.response.start", "status": 413, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})

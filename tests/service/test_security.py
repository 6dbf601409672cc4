"""Headers, limits, and what the log does not say."""

import logging
import re

import pytest

from clinic import Client, running
from worthwhile.service import security
from worthwhile.service.security import LoginLimiter, same_origin


def test_every_answer_has_the_headers(file_client):
    for path in ("/login", "/api/cases", "/nowhere", "/static/desk.css", "/healthz"):
        headers = file_client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == ("no-cache" if "static" in path else "no-store")
        assert "server" not in headers or "uvicorn" in headers["server"]  # `serve` switches it off


def test_wrong_tokens_are_limited(file_desk):
    file_desk.limiter = LoginLimiter(limit=3, seconds=60)
    token = file_desk.users.add("ana", "work")
    with running(file_desk) as address:
        with Client(address, "ww-guess") as stranger:
            for _ in range(3):
                stranger.call("/cases", status=401)
            answer = stranger.get("/api/cases")
            assert (answer.status_code, 0 < int(answer.headers["retry-after"]) <= 60) == (429, True)
            assert stranger.post("/login", data={"token": "ww-guess"}).status_code == 429
        with Client(address, token) as ana:
            ana.call("/cases")  # a right token works; only the form to log in must wait, whoever it is
            assert ana.post("/login", data={"token": token}).status_code == 429
    assert "worthwhile_failed_logins_total 3" in file_desk.metrics.text()


def test_the_limiter_forgets(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(security.time, "monotonic", lambda: clock[0])
    limiter = LoginLimiter(limit=2, seconds=60)
    limiter.failed("a")
    clock[0] = 30
    limiter.failed("a")
    assert (limiter.wait("a"), limiter.wait("b")) == (30, 0)
    clock[0] = 61
    assert limiter.wait("a") == 0
    monkeypatch.setattr(LoginLimiter, "MAX_ADDRESSES", 5)
    for n in range(20):
        limiter.failed(str(n))
    assert len(limiter._failures) == 5


def test_large_requests_are_refused(file_client, monkeypatch):
    monkeypatch.setattr(security, "MAX_BODY", 1000)
    assert file_client.call("/cases", {"case_number": "x" * 2000}, 413)["detail"].startswith("the request is larger")
    for path in ("/api/cases", "/login"):
        headers = {"Content-Type": "application/json" if path[1:4] == "api" else "application/x-www-form-urlencoded"}
        # It does not say how long it is.
        answer = file_client.post(path, content=(b"x" * 400 for _ in range(5)), headers=headers)
        assert (answer.status_code, answer.json()["detail"][:22]) == (413, "the request is larger ")
    assert file_client.call("/cases")["total"] == 0


def test_the_log_has_no_secrets(file_desk, caplog):
    token = file_desk.users.add("ana", "admin")
    with caplog.at_level(logging.DEBUG, "worthwhile"), running(file_desk) as address, Client(address, token) as client:
        case = client.new("Miller-1950", age=63)
        client.call(f"/cases/{case['id']}")
        client.call("/cases?q=Miller")
        client.post("/login", data={"token": token})
        client.call("/cases/none", status=404)
    text = caplog.text
    assert re.search(r"GET /api/cases/\{case_id\} 200 \d+ ms", text)
    for secret in (token, "Miller", case["id"]):
        assert secret not in text


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        (None, "desk", True),
        ("null", "desk", False),
        ("https://desk:8000", "desk:8000", True),
        ("https://desk.evil", "desk", False),
    ],
)
def test_origins(origin, host, same):
    assert same_origin(origin, host) is same

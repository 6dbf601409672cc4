"""`worthwhile serve`: starting, stopping, mistakes. What it serves is tested in tests/service."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from clinic import write_model
from worthwhile import cli
from worthwhile.cli.serve import _listen, read_codes


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_start_and_stop(tmp_path, stop):
    command = [sys.executable, "-m", "worthwhile", "serve", "heart.json", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, **pipes) as server:
        line, hint = server.stdout.readline(), server.stdout.readline()
        assert re.match(r"Serving heart \(version 1\) on http://127\.0\.0\.1:\d+, cases in cases\.db\.", line)
        assert hint == "There are no users yet: worthwhile users add NAME --role work\n"
        address = re.search(r"http://\S+?(?=,)", line).group(0)
        for _ in range(1000):
            with contextlib.suppress(httpx.TransportError):
                answer = httpx.get(f"{address}/healthz")
                break
            time.sleep(0.01)
        assert answer.status_code == 200
        assert "server" not in answer.headers
        server.send_signal(stop)
        assert server.wait(20) == 130
        error = server.stderr.read()
    assert re.search(r"GET /healthz 200 \d+ ms", error)
    assert "Traceback" not in error
    assert error.splitlines()[-1] == "worthwhile: stopped"


def test_mistakes(capsys, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert cli.run(["serve", "heart.json", "--port", port]) == 2
    assert f"--port {port}: Address already in use" in capsys.readouterr().err
    assert cli.run(["serve", "none.json"]) == 2
    assert capsys.readouterr().err == "worthwhile: none.json: no such file\n"
    assert cli.run(["serve"]) == 2
    (tmp_path / "codes.csv").write_text("test,code\nage,1\n")
    assert cli.run(["serve", "heart.json", "--codes", "codes.csv"]) == 2
    assert "codes.csv, line 2: needs the columns" in capsys.readouterr().err
    assert cli.run(["serve", "heart.json", "--cors", "https://a.example", "--cors", "*"]) == 2
    assert "--cors *: not an origin; write e.g. https://" in capsys.readouterr().err
    assert not Path("cases.db").exists()  # whatever was wrong, nothing stays behind


def test_answers_do_not_wait_for_acknowledgements():
    with _listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()) as client:
        accepted, _ = listening.accept()
        with accepted, client:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_codes(tmp_path):
    (tmp_path / "codes.csv").write_text("test,system,code,display\nage,http://loinc.org,30525-0,Age\n")
    expected = {"age": {"system": "http://loinc.org", "code": "30525-0", "display": "Age"}}
    assert read_codes(tmp_path / "codes.csv") == expected


def test_codes_with_units(tmp_path):
    lines = ["test,system,code,display,unit", "chol,http://loinc.org,2093-3,, mg/dL ", "age,http://loinc.org,30525-0,,"]
    (tmp_path / "codes.csv").write_text("\n".join(lines))
    chol = {"system": "http://loinc.org", "code": "2093-3", "unit": "mg/dL"}
    age = {"system": "http://loinc.org", "code": "30525-0"}
    assert read_codes(tmp_path / "codes.csv") == {"chol": chol, "age": age}


def test_a_misspelt_column_of_codes(tmp_path):
    (tmp_path / "codes.csv").write_text("test,system,code,units\nchol,http://loinc.org,2093-3,mg/dL\n")
    with pytest.raises(ValueError, match=r"unknown column 'units'; the columns are test, .*, unit$"):
        read_codes(tmp_path / "codes.csv")

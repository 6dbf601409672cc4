"""A small clinic for the tests of the decision desk: a model, a running server, a client, PostgreSQL."""

import contextlib
import glob
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import httpx
import uvicorn

from worthwhile.service.app import create_app
from worthwhile.service.database import open_database
from worthwhile.service.desk import Desk
from worthwhile.service.model_store import read_models


def clinic(**prices):
    """Age first, then a scan; if that shows a spot, two blood tests with delayed results, ordered together."""
    tests = {
        "age": 1.0,
        "scan": 40.0,
        "chol": {"price": 7.0, "group": "blood", "delayed": True},
        "sugar": {"price": 3.0, "group": "blood", "delayed": True},
        "gene": 900.0,
    }
    return {
        "format": "worthwhile-tree",
        "version": 1,
        "classes": ["well", "sick"],
        "columns": [
            {"name": "age", "kind": "numeric"},
            {"name": "scan", "kind": "nominal", "values": ["clear", "spot"]},
            {"name": "chol", "kind": "numeric"},
            {"name": "sugar", "kind": "numeric"},
            {"name": "gene", "kind": "nominal", "values": ["no", "yes"]},
        ],
        "costs": {
            "tests": {**tests, **prices},
            "groups": {"blood": 2.0},
            "errors": {"well": {"sick": 200.0}, "sick": {"well": 1000.0}},
        },
        "nodes": [
            {"test": "age", "threshold": 40, "children": [1, 2], "answer": "well", "weights": [80, 20]},
            {"answer": "well", "weights": [50, 0]},
            {
                "test": "scan",
                "branches": [["clear"], ["spot"]],
                "children": [3, 4],
                "answer": "sick",
                "weights": [30, 20],
            },
            {"answer": "well", "weights": [20, 0]},
            {"test": "chol", "threshold": 240, "children": [5, 6], "answer": "sick", "weights": [10, 20]},
            {"test": "sugar", "threshold": 6, "children": [7, 8], "answer": "well", "weights": [9, 5]},
            {"answer": "sick", "weights": [1, 15]},
            {"answer": "well", "weights": [9, 0]},
            {"answer": "sick", "weights": [0, 5]},
        ],
    }


def write_model(folder, name="heart", **prices):
    """Write the clinic's model into a file and return its path."""
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps(clinic(**prices)))
    return path


@contextlib.contextmanager
def running(desk):
    """Serve a desk on a free port, on a thread; yield its address."""
    config = uvicorn.Config(create_app(desk), port=0, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


@contextlib.contextmanager
def clinic_desk(place, models):
    """Open a desk on a database; close the database afterwards."""
    database = open_database(place)
    try:
        yield Desk.open(database, read_models(models))
    finally:
        database.close()


class Client(httpx.Client):
    """A user of the API: paths are below /api/cases, answers must have the status that is expected."""

    def __init__(self, address, token):
        super().__init__(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=20)

    def call(self, path, body=None, status=200, **headers):
        """Post, or get without a body, and return the JSON."""
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        if body is None:
            answer = self.get(f"/api{path}", headers=named)
        else:
            answer = self.post(f"/api{path}", json=body, headers=named)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def new(self, number="7", **known):
        """Open a case."""
        return self.call("/cases", {"case_number": number, "known": known}, 201)

    def act(self, case, what, status=200, **body):
        """Change a case as it was seen."""
        return self.call(f"/cases/{case['id']}/{what}", {**body, "version": case["version"]}, status)


PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:] or [
    str(Path(found).parent) for found in [shutil.which("initdb")] if found
]


@contextlib.contextmanager
def postgresql(safe=False):
    """Run a PostgreSQL server of its own, as an unprivileged user, without a port; yield the URL without a name.

    Unless it is to be safe, it does not wait for the disk.
    """
    user = {"user": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="worthwhile-pg-"))
    if user:
        shutil.chown(folder, "postgres")
    programs = Path(PROGRAMS[0])

    def do(*command):
        subprocess.run(list(map(str, command)), check=True, capture_output=True, cwd=folder, **user)

    try:
        do(programs / "initdb", "-D", folder / "data", "-U", "desk", "-A", "trust", "-N", "-E", "UTF8")
        options = f"-k {folder} -c listen_addresses='' -c fsync={'on' if safe else 'off'} -c max_connections=200"
        do(programs / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-w", "-o", options, "start")
        try:
            yield f"postgresql://desk@/{{}}?host={folder}"
        finally:
            do(programs / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)

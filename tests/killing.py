"""Kills the server of a desk again and again while clients write, and looks for every acknowledged write.

Run as a program, it forks a server for every line that it reads: everything is imported once, so that a new server is
there in a moment.
"""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx


@dataclass
class KillReport:
    """What survived."""

    kills: int
    acknowledged: int
    retried: int  # requests that were cut off and sent again with the same key
    lost: list = field(default_factory=list)  # acknowledged writes that are not there, or there twice
    problems: list = field(default_factory=list)  # of the log and of the file


def serve_forked(place, model):
    """Fork a server for every line of the standard input; print its process."""
    import uvicorn
    import uvicorn.protocols.http.auto

    from worthwhile.service.app import create_app
    from worthwhile.service.database import open_database
    from worthwhile.service.desk import Desk
    from worthwhile.service.model_store import read_models

    open_database(place).close()  # what it needs is loaded now, once
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(listening.getsockname()[1], flush=True)
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            desk = Desk.open(open_database(place), read_models([Path(model)]))
            config = uvicorn.Config(create_app(desk), log_config=None, access_log=False, lifespan="off")
            uvicorn.Server(config).run(sockets=[listening])
            os._exit(0)
        print(child, flush=True)
        os.waitpid(child, 0)


class ForkedServers:
    """Servers of a program of their own, one after another on one port."""

    def __init__(self, program):
        self._program = program
        self.port = int(program.stdout.readline())
        self.process = None

    def start(self):
        """Start a server; the one before must be dead."""
        self._program.stdin.write("start\n")
        self._program.stdin.flush()
        self.process = int(self._program.stdout.readline())

    def kill(self):
        os.kill(self.process, signal.SIGKILL)


@contextlib.contextmanager
def forked_servers(place, model, *before):
    """Run this file as a program, by another command if one is given; the last server is killed in the end."""
    command = [*before, sys.executable, __file__, str(place), str(model)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as program:
        servers = ForkedServers(program)
        try:
            yield servers
        finally:
            servers.kill()
            program.stdin.close()


class Writer(threading.Thread):
    """Opens cases and adds notes; sends a request again, with the same key, until it is answered."""

    def __init__(self, number, port, token, stop):
        super().__init__(daemon=True)
        self.number, self.address, self.stop = number, f"http://127.0.0.1:{port}", stop
        self.headers = {"Authorization": f"Bearer {token}"}
        self.cases, self.notes, self.retried = {}, {}, 0
        self.client = httpx.Client(base_url=self.address, headers=self.headers, timeout=10)

    def run(self):
        step = 0
        while not self.stop.is_set():
            step += 1
            if step % 5 == 1:
                name = f"{self.number}-{step}"
                case = self.write(step, "/api/cases", {"case_number": name, "known": {"age": 63}}, 201)
                if case:
                    self.cases[name] = case["id"]
                    self.notes[case["id"]] = []
            else:
                text, case_id = f"note {step}", list(self.notes)[-1]
                if self.write(step, f"/api/cases/{case_id}/notes", {"text": text}, 200):
                    self.notes[case_id].append(text)

    def write(self, step, path, body, status):
        """Return the answer; it may take several servers."""
        headers = {"Idempotency-Key": f"{self.number}-{step}"}
        while True:
            try:
                answer = self.client.post(path, json=body, headers=headers)
            except httpx.TransportError:
                self.retried += 1
                time.sleep(0.002)
                continue
            assert answer.status_code == status, answer.text
            return answer.json()

    @property
    def acknowledged(self):
        return len(self.cases) + sum(map(len, list(self.notes.values())))


def kill_again_and_again(place, model, token, kills, writers=4, seed=0):
    """Kill a server `kills` times while some writers write."""
    rng, stop = random.Random(seed), threading.Event()
    with forked_servers(place, model) as servers:
        threads = [Writer(n, servers.port, token, stop) for n in range(writers)]
        for number in range(kills + 1):
            servers.start()
            wanted = sum(thread.acknowledged for thread in threads) + rng.randint(0, 5)  # 0: killed while it starts
            if number == 0:
                for thread in threads:
                    thread.start()
            while sum(thread.acknowledged for thread in threads) < wanted:
                assert all(thread.is_alive() for thread in threads)
                time.sleep(0.001)
            if number < kills:
                time.sleep(rng.uniform(0, 0.01))
                servers.kill()
        stop.set()
        for thread in threads:
            thread.join()
            thread.client.close()
    return look_for_everything(place, threads, kills)


def look_for_everything(place, threads, kills):
    """Compare what was acknowledged with what is in the database."""
    from worthwhile.service.audit import audit_database
    from worthwhile.service.case_store import CaseStore
    from worthwhile.service.database import open_database
    from worthwhile.service.model_store import ModelStore

    report = KillReport(kills, sum(t.acknowledged for t in threads), sum(t.retried for t in threads))
    database = open_database(place, create=False)
    report.problems += audit_database(database).problems
    store = CaseStore(ModelStore(database))
    with database.read() as connection:
        if database.is_sqlite:
            found = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
            report.problems += [] if found == "ok" else [found]
        total = store.find(connection).total
        if total != sum(len(thread.cases) for thread in threads):
            report.lost.append(f"{total} cases")
        for thread in threads:
            for name, case_id in thread.cases.items():
                case = store.get(connection, case_id)
                kept = [note["text"] for note in case["notes"]]
                if case["case_number"] != name or kept != thread.notes[case_id]:
                    report.lost.append((name, kept, thread.notes[case_id]))
    database.close()
    return report


if __name__ == "__main__":
    serve_forked(sys.argv[1], sys.argv[2])

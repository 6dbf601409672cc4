"""Load and faults of the decision desk: many users at once, and a server that is killed again and again.

    python benchmarks/serve.py [--users 50] [--seconds 20] [--kills 100] [--postgres]

Users follow the advice of the desk for patients of the heart data: they open a case, order, send results and close it.
Each waits for an answer before it goes on; with a pause they behave like people, without one they load the server as
far as it goes. Prints the page docs/results/serve.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import ROOT, provenance

import worthwhile as ww

sys.path.insert(0, str(ROOT / "tests"))
from clinic import postgresql, write_model
from killing import KillReport, kill_again_and_again

ADVICE = "send a result, get advice"
RUNS = 5


class Browser:
    """One user: a connection that stays open, and the times of its requests."""

    def __init__(self, port: int, token: str, times: dict[str, list[float]]) -> None:
        self._port, self._token, self._times = port, token, times
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, kind: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request and return the JSON of the answer. Written by hand: the client must not be the bottleneck."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: desk\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        start = time.perf_counter()
        writer.write(head.encode() + content)
        answer = await reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", answer.lower())
        text = await reader.readexactly(int(found[1]) if found else 0)
        self._times[kind].append(time.perf_counter() - start)
        if not answer.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{answer.splitlines()[0]!r}: {text!r}")
        return json.loads(text)


async def patient(
    user: Browser, row: dict[str, Any], truth: str, number: str, pause: float, rng: random.Random
) -> None:
    """Take one patient from the first question to the outcome."""

    async def wait() -> None:
        if pause:
            await asyncio.sleep(rng.uniform(0.5, 1.5) * pause)

    case = await user.call("open a case", "POST", "/api/cases", {"case_number": number, "known": {"age": row["age"]}})
    while case["state"] not in ("answered", "closed"):
        await wait()
        place, version = f"/api/cases/{case['id']}", case["version"]
        if case["state"] == "open":
            body: dict[str, Any] = {"tests": list(case["advice"]["order"]), "version": version}
            case = await user.call("order", "POST", f"{place}/orders", body)
        else:
            test = case["advice"]["waiting_for"]
            body = {"results": {test: row[test]}, "version": version}
            case = await user.call(ADVICE, "POST", f"{place}/results", body)
        await wait()
        await user.call("read a case", "GET", place)
    await wait()
    body = {"truth": truth, "version": case["version"]}
    await user.call("close", "POST", f"/api/cases/{case['id']}/close", body)
    await user.call("list of cases", "GET", "/api/cases?state=waiting")


async def load(port: int, token: str, users: int, seconds: float, pause: float) -> tuple[dict[str, list[float]], float]:
    """Let users work for some seconds; return the times by kind of request, and the time that it took."""
    heart = ww.datasets.load("heart")
    rows = [
        {name: None if value != value else value for name, value in row.items()}  # noqa: PLR0124 - NaN
        for row in heart.X.to_dict("records")
    ]
    truths = list(heart.y)
    times: dict[str, list[float]] = defaultdict(list)
    end = time.perf_counter() + seconds

    async def work(number: int) -> None:
        rng, user = random.Random(number), Browser(port, token, times)
        if pause:
            await asyncio.sleep(rng.uniform(0, pause))
        while time.perf_counter() < end:
            n = rng.randrange(len(rows))
            await patient(user, rows[n], truths[n], f"{number}-{rng.randrange(10**9)}", pause, rng)

    start = time.perf_counter()
    await asyncio.gather(*(work(number) for number in range(users)))
    return times, time.perf_counter() - start


@contextlib.contextmanager
def serving(folder: Path, db: str) -> Iterator[tuple[int, str]]:
    """Run `worthwhile serve`; yield its port and a token."""
    program = [sys.executable, "-m", "worthwhile"]
    add = [*program, "users", "add", "load", "--db", db, "-q"]
    token = subprocess.run(add, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
    command = [*program, "serve", "heart.json", "--db", db, "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, cwd=folder, env=environment, **pipes) as server:
        assert server.stdout is not None
        found = re.search(r"http://127.0.0.1:(\d+)", server.stdout.readline())
        assert found is not None
        try:
            yield int(found[1]), token
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


def table(times: dict[str, list[float]], seconds: float) -> str:
    """Return the times by kind of request as a table."""
    lines = ["| request | number | per second | p50, ms | p99, ms | longest, ms |", "|---|---:|---:|---:|---:|---:|"]
    everything = [value for values in times.values() for value in values]
    for kind, values in [*times.items(), ("**all**", everything)]:
        p50, p99 = (1000 * float(np.quantile(values, q)) for q in (0.5, 0.99))
        rate, longest = len(values) / seconds, 1000 * max(values)
        lines.append(f"| {kind} | {len(values)} | {rate:.1f} | {p50:.1f} | {p99:.1f} | {longest:.1f} |")
    return "\n".join(lines)


def stolen() -> tuple[float, float]:
    """Return the processor time that the host of a virtual machine has taken away so far, and all of it (Linux)."""
    counts = [float(text) for text in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return counts[7], sum(counts)


def longest_stop(seconds: float = 5.0) -> float:
    """Return the longest time in seconds for which a loop that only reads the clock stood still."""
    longest, last = 0.0, time.perf_counter()
    end = last + seconds
    while last < end:
        moment = time.perf_counter()
        longest, last = max(longest, moment - last), moment
    return longest


def loaded(folder: Path, db: str, users: int, seconds: float) -> str:
    """Measure a database with and without pauses; return the tables.

    With pauses, the best of several runs is shown, beside the 99th percentiles of all: other work on the machine, and
    on those that share its disk, only makes answers slower.
    """
    with serving(folder, db) as (port, token):
        asyncio.run(load(port, token, 2, 1.0, 0.0))  # warm
        runs, shares = [], []
        for _ in range(RUNS):
            before = stolen()
            runs.append(asyncio.run(load(port, token, users, seconds, 1.0)))
            taken, whole = np.subtract(stolen(), before)
            shares.append(100 * taken / whole)
        busy = asyncio.run(load(port, token, users, seconds, 0.0))
    tails = [1000 * float(np.quantile(times[ADVICE], 0.99)) for times, _ in runs]
    best = runs[int(np.argmin(tails))]
    words = f"{users} users, pauses of half a second to one and a half; the best of {RUNS} runs"
    all_tails = ", ".join(f"{tail:.0f} ({share:.0f} %)" for tail, share in zip(tails, shares, strict=True))
    return (
        f"{words}. p99 of a result with its advice in ms (in brackets: the processor time that the host of this"
        f" virtual machine took away meanwhile): {all_tails}.\n\n{table(*best)}\n\n"
        f"{users} users, no pauses: as fast as the server answers:\n\n{table(*busy)}"
    )


def killed(folder: Path, kills: int) -> KillReport:
    """Kill a server with SQLite again and again."""
    from worthwhile.service.database import open_database
    from worthwhile.service.user_store import UserStore

    place = folder / "killed.db"
    database = open_database(place)
    token = UserStore(database).add("ana", "work")
    database.close()
    return kill_again_and_again(place, write_model(folder, "clinic"), token, kills)


def main() -> None:
    """Measure and print the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument(
        "--nice", type=int, default=0, help="priority of the load, on a busy machine; root may go below 0"
    )
    options = parser.parse_args()
    print(f"# The decision desk under load and faults\n\n{provenance()}\n")
    print(f"- load before the run: {os.getloadavg()[0]:.1f} processes on {os.cpu_count()} cores")
    print(f"- longest stop of a loop that only reads the clock, in 5 s before: {1000 * longest_stop():.0f} ms\n")
    os.nice(options.nice)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        heart = ww.datasets.load("heart")
        clf = ww.EG2Classifier(costs=heart.costs, min_cases=10).fit(heart.X, heart.y)
        clf.save(folder / "heart.json")
        print(f"## SQLite\n\n{loaded(folder, 'cases.db', options.users, options.seconds)}\n", flush=True)
        if options.postgres:
            with postgresql(safe=True) as url:
                text = loaded(folder, url.format("postgres"), options.users, options.seconds)
            print(f"## PostgreSQL\n\n{text}\n", flush=True)
        os.nice(-options.nice)
        report = killed(folder, options.kills)
    print("## Killed by SIGKILL\n")
    print("| kills | writes acknowledged | cut off and sent again | acknowledged writes lost | faults in log or file |")
    print("|---:|---:|---:|---:|---:|")
    row = report.kills, report.acknowledged, report.retried, len(report.lost), len(report.problems)
    print(f"| {' | '.join(map(str, row))} |")


if __name__ == "__main__":
    main()

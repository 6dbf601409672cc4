"""A PostgreSQL server for tests, from Debian's package; started in a folder of its own, on a socket only."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def programs():
    """The folder with the newest initdb; None if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@contextlib.contextmanager
def server():
    """Give the address of a running server; skip the test if PostgreSQL is not installed."""
    folder = programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed")
    place = Path(tempfile.mkdtemp(prefix="ww-pg-"))  # short: the path of a socket has at most 107 characters
    who = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        who = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(place, "postgres", "postgres")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": place, **who}
    data = str(place / "data")
    try:
        subprocess.run([folder / "initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-sync"], check=True, **quiet)
        options = f"-c listen_addresses='' -c fsync=off -k {place}"
        subprocess.run(
            [folder / "pg_ctl", "-D", data, "-w", "-o", options, "-l", f"{data}/log", "start"], check=True, **quiet
        )
        try:
            yield f"host={place} user=tester dbname=postgres"
        finally:
            subprocess.run([folder / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"], check=True, **quiet)
    finally:
        shutil.rmtree(place, ignore_errors=True)

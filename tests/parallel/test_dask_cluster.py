"""A cluster by its address: connecting to it, and refusing one that cannot do the work."""

import logging
import os
import socket
import subprocess
import sys

import pytest

from worthwhile.parallel import dask_cluster
from worthwhile.parallel.dask_cluster import cluster
from worthwhile.parallel.workers import SharedData, n_workers, run_pieces

distributed = pytest.importorskip("distributed")


def process_id(value, piece, n_threads):
    return os.getpid()


def process_ids():
    return set(run_pieces(process_id, SharedData(0, int, ["0"]), lambda n: list(range(n)), 1))


def test_a_cluster_by_its_address(local_cluster, client):
    with cluster(local_cluster.scheduler_address):
        assert n_workers() == 2
        assert process_ids() == set(client.run(os.getpid).values())
    assert n_workers() == 1
    with cluster(None):
        assert process_ids() == {os.getpid()}


def test_workers_with_another_version_are_refused(local_cluster, client, monkeypatch):
    monkeypatch.setattr(dask_cluster, "__version__", "99.0")
    message = r"the worker tcp.* has worthwhile .*, but this is 99.0: install the same version there"
    with pytest.raises(ValueError, match=message), cluster(local_cluster.scheduler_address):
        pass


def test_workers_without_worthwhile_are_refused(local_cluster, client, monkeypatch):
    monkeypatch.setattr(dask_cluster, "VERSION_NAME", "worthwhile_is_not_here:__version__")
    message = r"cannot load worthwhile \(No module named 'worthwhile_is_not_here'\)"
    with pytest.raises(ValueError, match=message), cluster(local_cluster.scheduler_address):
        pass


def test_a_cluster_without_workers_is_refused(monkeypatch):
    monkeypatch.setattr(dask_cluster, "WORKER_TIMEOUT", 0.3)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL) as empty,
        pytest.raises(ValueError, match=r"has no worker after 0.3 s; start one with: dask worker tcp:"),
        cluster(empty.scheduler_address),
    ):
        pass


@pytest.fixture
def silent():
    """The address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:1", "the cluster tcp://127.0.0.1:1 cannot be reached: no scheduler answers within 0.3 s"),
        ("silent", "cannot be reached: no scheduler answers within 0.3 s; start a scheduler with: dask scheduler"),
        ("here", "'here' is not a cluster address; write it like tcp://"),
        ("tcp://localhost", "'tcp://localhost' is not a cluster address"),
        ("ftp://127.0.0.1:8786", "cannot be reached: unknown address scheme 'ftp'"),
    ],
)
def test_bad_addresses_are_refused_at_once(address, message, silent, monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_TIMEOUT", 0.3)
    asked = []  # a client would wait forever for a server that does not answer

    class Client(distributed.Client):
        def __init__(self, address, timeout, **options):
            asked.append((address, timeout))
            super().__init__(address, timeout=timeout, **options)

    monkeypatch.setattr("distributed.Client", Client)
    with pytest.raises(ValueError, match=message), cluster(silent if address == "silent" else address):
        pass
    assert asked == ([(address, 0.3)] if address.startswith("ftp") else [])


def test_without_dask_the_error_names_what_to_install():
    program = """
import sys
sys.modules["dask"] = sys.modules["distributed"] = None  # as if they were not installed
import worthwhile as ww
from worthwhile.parallel.dask_cluster import cluster
X, y = [[i % 7, i % 5] for i in range(70)], [int(i % 7 > 3) for i in range(70)]
ww.BudgetForestClassifier(max_trees=2, n_jobs=2).fit(X, y)
ww.ICETClassifier(trials=20, population=10, n_jobs=2, variant="paper").fit(X, y)
try:
    with cluster("tcp://127.0.0.1:8786"):
        pass
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("needs dask, which is not installed: pip install 'worthwhile[dask]'")

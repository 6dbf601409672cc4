"""A Dask cluster of two processes that the tests of this folder share."""

import importlib
import logging

import joblib
import pytest

from worthwhile.parallel.workers import n_workers

TIMEOUT = 120  # seconds, for what takes about one


@pytest.fixture(scope="package")
def local_cluster():
    distributed = pytest.importorskip("distributed")
    # On a busy machine a killed worker takes more than 15 s to start again, and Dask would give it up.
    with (
        importlib.import_module("dask").config.set({"distributed.deploy.lost-worker-timeout": "5 minutes"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as found,
    ):
        yield found


@pytest.fixture
def client(local_cluster):
    """A client with two workers, even if an earlier test has killed one."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(local_cluster, set_as_default=False) as found:
        found.wait_for_workers(2, timeout=TIMEOUT)
        yield found


@pytest.fixture
def on_cluster(client):
    """joblib is configured to use the cluster."""
    with joblib.parallel_config("dask", client=client):
        assert n_workers() == 2
        yield client

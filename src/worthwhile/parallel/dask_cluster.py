"""Runs pieces of work on a Dask cluster: the option `--cluster tcp://host:port`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

import joblib

from worthwhile import __version__

__all__ = ["cluster"]

CONNECT_TIMEOUT = 5.0  # seconds
WORKER_TIMEOUT = 15.0  # seconds; clusters that scale with their load start a worker within this time

VERSION_NAME = "worthwhile:__version__"  # what each worker looks up


@contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """Run what is inside the block on a Dask cluster: trees of forests, trials of ICET, cells of experiments.

    If you have a Dask client already, ``joblib.parallel_config("dask", client=client)`` does the same.

    Parameters
    ----------
    address : str or None
        Address of the scheduler, e.g. ``tcp://10.0.0.5:8786``. None: all work is done in this process.

    Raises
    ------
    ValueError
        If Dask is not installed, no scheduler answers at the address, the cluster has no worker, or worthwhile is
        missing or has another version on one of the workers.
    """
    if address is None:
        yield
        return
    with _connected(address) as client:
        _check_workers(client, address)
        with joblib.parallel_config("dask", client=client):
            yield


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            f"the cluster {address} needs dask, which is not installed: pip install 'worthwhile[dask]'"
        ) from None
    if "://" not in address or not address.rpartition(":")[2].isdigit():
        raise ValueError(f"{address!r} is not a cluster address; write it like tcp://10.0.0.5:8786")
    try:
        if address.startswith("tcp://"):
            asyncio.run(_probe(address))
        client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except Exception as error:
        reason = "what answers is not a Dask scheduler"  # its bytes can cause any kind of error
        if isinstance(error, (OSError, ValueError)):  # a timeout is an OSError
            reason = f"no scheduler answers within {CONNECT_TIMEOUT:g} s" if isinstance(error, OSError) else str(error)
        start = "start a scheduler with: dask scheduler"
        raise ValueError(f"the cluster {address} cannot be reached: {reason}; {start}") from None
    try:
        yield client
    finally:
        client.close()


async def _probe(address: str) -> None:
    """Raise if a server accepts connections but does not answer: a client would wait forever."""
    from distributed.comm import connect

    comm = await asyncio.wait_for(connect(address, timeout=CONNECT_TIMEOUT), CONNECT_TIMEOUT)
    await comm.close()


def _check_workers(client: Any, address: str) -> None:
    """Raise if the cluster has no worker, or one that could compute different results."""
    try:
        client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
    except TimeoutError:
        raise ValueError(
            f"the cluster {address} has no worker after {WORKER_TIMEOUT:g} s; start one with: dask worker {address}"
        ) from None
    # A function of the standard library: one of this package would fail where the package is missing.
    versions = client.run(resolve_name, VERSION_NAME, on_error="return")
    for worker, version in versions.items():
        if version != __version__:
            has = f"has worthwhile {version}" if isinstance(version, str) else f"cannot load worthwhile ({version})"
            raise ValueError(f"the worker {worker} {has}, but this is {__version__}: install the same version there")

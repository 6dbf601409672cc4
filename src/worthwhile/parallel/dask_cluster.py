"""Coarse work on a Dask cluster: what `--cluster tcp://host:port` does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

import joblib

from worthwhile import __version__

__all__ = ["cluster"]

CONNECT = 5.0  # seconds until there must be an answer
WORKERS = 15.0  # seconds until there must be a worker: clusters that grow with their work start one in that time

RELEASE = "worthwhile:__version__"  # where each worker finds it


@contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """Let a Dask cluster do the coarse work of everything inside the block: trees of forests, trials of ICET, cells.

    Whoever has a Dask client already does the same with ``joblib.parallel_config("dask", client=client)``.

    Parameters
    ----------
    address : str or None
        Of the scheduler, e.g. ``tcp://10.0.0.5:8786``. None: this process does all work itself.

    Raises
    ------
    ValueError
        If Dask is not installed, nobody answers at the address, there is no worker, or one of them has no worthwhile or
        another release of it.
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
        raise ValueError(f"{address!r} is no address of a cluster; write it like tcp://10.0.0.5:8786")
    try:
        if address.startswith("tcp://"):
            asyncio.run(_probe(address))
        client = Client(address, timeout=CONNECT, set_as_default=False)
    except Exception as error:
        reason = "what answers there is no scheduler of Dask"  # the bytes of others may lead to any error
        if isinstance(error, (OSError, ValueError)):  # a timeout is an OSError
            reason = f"no scheduler answers within {CONNECT:g} s" if isinstance(error, OSError) else str(error)
        start = "start a scheduler with: dask scheduler"
        raise ValueError(f"the cluster {address} cannot be reached: {reason}; {start}") from None
    try:
        yield client
    finally:
        client.close()


async def _probe(address: str) -> None:
    """Refuse an address where somebody listens but says nothing: a client would wait for ever."""
    from distributed.comm import connect

    comm = await asyncio.wait_for(connect(address, timeout=CONNECT), CONNECT)
    await comm.close()


def _check_workers(client: Any, address: str) -> None:
    """Refuse a cluster on which the results would be missing, or others."""
    try:
        client.wait_for_workers(1, timeout=WORKERS)
    except TimeoutError:
        raise ValueError(
            f"the cluster {address} has no worker after {WORKERS:g} s; start one with: dask worker {address}"
        ) from None
    # A function of the standard library: one of this package would need this package on the other side.
    releases = client.run(resolve_name, RELEASE, on_error="return")
    for worker, release in releases.items():
        if release != __version__:
            has = f"has worthwhile {release}" if isinstance(release, str) else f"cannot load worthwhile ({release})"
            raise ValueError(f"the worker {worker} {has}, but this is {__version__}: install the same release there")

"""Runs independent pieces of work: on the threads of the core, or on the workers that joblib is configured to use.

Forests grow trees, ICET runs trials and experiments measure cells; each of these is independent of the others. By
default learners use the threads of the core, which copy nothing. If `joblib.parallel_config` names workers that do not
share memory with this process (Dask, or processes), the work is split into pieces that joblib sends to them. What all
pieces need is sent once, as plain data (`SharedData`), and every worker rebuilds the core's objects from it. A piece
depends only on its contents, so the results are the same wherever it runs.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import joblib
from joblib.parallel import get_active_backend

__all__ = ["SharedData", "local_threads", "n_workers", "run_pieces", "run_unordered", "split_range", "without_workers"]

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")

# More pieces balance the load better and lose less when a worker dies; each takes a few milliseconds to send.
PIECES_PER_WORKER = 4
# How often shared data that was lost with its workers is sent again before the error reaches the user.
MAX_RESENDS = 3
RESTART_TIMEOUT = 60.0  # seconds to wait for a worker after all have died
SEND_TIMEOUT = 600.0  # seconds to send the data of a fit; a scheduler that waits for a dead worker never ends
SEND_CHECK = 2.0  # seconds between checks whether a worker has died meanwhile
# What Dask raises when a worker dies while data are sent to it: CommClosedError is an OSError, as is a time-out.
LOST_WORKER = (OSError, KeyError, concurrent.futures.CancelledError)


class _Rebuildable(Generic[T]):
    """A value that is pickled as the plain data it was built from, and rebuilt once when unpickled."""

    def __init__(self, value: T, make: Callable[..., T], parts: Sequence[Any]) -> None:
        self.value, self._make, self._parts = value, make, tuple(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._make, self._parts)


def _rebuild(make: Callable[..., T], parts: Sequence[Any]) -> _Rebuildable[T]:
    return _Rebuildable(make(*parts), make, parts)


class SharedData(Generic[T]):
    """What all pieces of some work need; the workers keep their copy as long as this object lives.

    Parameters
    ----------
    value : object
        The value in this process.
    make : function
        Builds the same value from the parts. It must be a module-level function: workers import it by name.
    parts : sequence
        Plain data: arrays, strings, numbers.
    """

    def __init__(self, value: T, make: Callable[..., T], parts: Sequence[Any]) -> None:
        self.value = value
        self._rebuildable = _Rebuildable(value, make, parts)
        self._future: Any = None

    def reference(self, backend: Any) -> Any:
        """Return what to pass to joblib: with Dask a reference to the copies on the workers, otherwise the data."""
        client = getattr(backend, "client", None)
        if client is None:
            return self._rebuildable
        if self.is_lost() or self._future is None or self._future.client is not client:
            self._future = None
            self._future = _send(client, self._rebuildable)
        return self._future

    def is_lost(self) -> bool:
        """Return whether the data was sent and no worker has it any more."""
        return self._future is not None and self._future.status != "finished"


def _send(client: Any, data: Any) -> Any:
    """Send data to every worker: a copy on one worker would be lost with that worker. Never waits for a dead worker."""
    workers, start = set(client.ncores()), time.monotonic()
    sending = client.scatter(data, broadcast=True, hash=False, asynchronous=True)
    task = asyncio.run_coroutine_threadsafe(sending, client.loop.asyncio_loop)
    try:
        while True:
            with contextlib.suppress(TimeoutError):
                return task.result(SEND_CHECK)
            if task.done():  # it was a time-out of Dask
                return task.result()
            seconds = time.monotonic() - start
            if workers - set(client.ncores()) or seconds > SEND_TIMEOUT:
                raise TimeoutError(f"the data could not be sent to all {len(workers)} workers in {seconds:.0f} s")
    finally:
        task.cancel()


def _configured_backend() -> Any:
    """Return the backend that joblib is configured to use, None if it shares memory with this process."""
    # Without a configuration joblib would choose processes; this makes it choose threads.
    backend, _ = get_active_backend(prefer="threads")
    return None if getattr(backend, "supports_sharedmem", False) else backend


def _remote_backend() -> Any:
    """Return the backend to send work to, None to do it in this process."""
    backend = _configured_backend()
    if backend is None or (hasattr(backend, "client") and _on_dask_worker()):
        return None
    return backend


def _on_dask_worker() -> bool:
    """Return whether this process is running a piece already: other pieces keep the remaining workers busy."""
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


def n_workers() -> int:
    """Return how many pieces other processes can run at once; 1 if all work is done in this process.

    joblib itself stays in this process if its workers have only one core in total.

    Examples
    --------
    >>> n_workers()
    1
    >>> with joblib.parallel_config("loky", n_jobs=3):
    ...     n_workers()
    3
    """
    backend = _remote_backend()
    if backend is None:
        return 1
    client = getattr(backend, "client", None)
    if client is not None and not client.ncores():  # all have died, and may be restarting
        client.wait_for_workers(1, timeout=RESTART_TIMEOUT)
    return int(joblib.effective_n_jobs(None))


def local_threads(n_jobs: int | None) -> int:
    """Return how many threads of this process `n_jobs` means, whether or not joblib has other workers.

    Examples
    --------
    >>> local_threads(None), local_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if _configured_backend() is None:
        return int(joblib.effective_n_jobs(n_jobs))
    if _remote_backend() is None:  # a Dask worker runs one piece on each of its threads
        return 1
    with without_workers():
        return int(joblib.effective_n_jobs(n_jobs))


@contextmanager
def without_workers() -> Iterator[None]:
    """Make everything that uses joblib, other libraries too, stay in this process."""
    with joblib.parallel_config("threading", n_jobs=1):
        yield


def split_range(n_items: int, n_pieces: int) -> list[slice]:
    """Split the range of `n_items` into slices of nearly equal length, none of them empty unless there are no items.

    Examples
    --------
    >>> [range(5)[piece] for piece in split_range(5, 2)], split_range(1, 3), split_range(0, 3)
    ([range(0, 3), range(3, 5)], [slice(0, 1, None)], [slice(0, 0, None)])
    """
    n_pieces = max(min(n_items, n_pieces), 1)
    ends = [-(-n_items * i // n_pieces) for i in range(n_pieces + 1)]
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def run_pieces(
    work: Callable[[T, P, int], R],
    shared: SharedData[T],
    pieces: Callable[[int], Sequence[P]],
    n_threads: int,
    pieces_per_worker: int = PIECES_PER_WORKER,
) -> list[R]:
    """Return the result of each piece: one piece on the threads of this process, or many on other workers.

    Parameters
    ----------
    work : function of the shared value, a piece and a number of threads
        It must be a module-level function.
    shared : SharedData
    pieces : function
        Splits the work into at most the given number of pieces.
    n_threads : int
        Threads to use if the work is done in this process. On other workers each piece has one thread.
    pieces_per_worker : int
        1 if all pieces should start at the same time.
    """
    for resends in range(MAX_RESENDS + 1):
        backend, at_once = _remote_backend(), n_workers()
        if backend is None or at_once == 1:
            break
        try:
            sent = shared.reference(backend)
        except LOST_WORKER:
            if resends == MAX_RESENDS:
                raise
            continue
        try:
            jobs = (joblib.delayed(_run_piece)(work, sent, piece) for piece in pieces(at_once * pieces_per_worker))
            return list(joblib.Parallel(batch_size=1)(jobs))
        except Exception:
            if resends == MAX_RESENDS or not shared.is_lost():
                raise
    return [work(shared.value, piece, n_threads) for piece in pieces(1)]


def _run_piece(work: Callable[[T, P, int], R], rebuildable: Any, piece: P) -> R:
    if not isinstance(rebuildable, _Rebuildable):
        # joblib fell back to this process: only one worker was left.
        rebuildable = rebuildable.result()
    with without_workers():
        return work(rebuildable.value, piece, 1)


def run_unordered(work: Callable[[P], R], items: Iterable[P], n_jobs: int | None) -> Iterator[R]:
    """Yield the result of each item as it finishes, using whatever joblib is configured to use.

    Every item is a separate piece: several long ones in one piece would delay others and be lost together.
    """
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    found: Iterator[R] = parallel(joblib.delayed(_run_item)(work, item) for item in items)
    return found


def _run_item(work: Callable[[P], R], item: P) -> R:
    if _configured_backend() is None:
        return work(item)
    with without_workers():  # on a Dask worker, other libraries would send their work to the whole cluster
        return work(item)

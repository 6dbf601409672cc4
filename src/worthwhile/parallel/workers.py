"""Coarse work in many pieces: on the threads of the core, or wherever joblib was told to run it.

Forests grow trees, ICET tries individuals and experiments measure cells, all of them independent of one another. Unless
`joblib.parallel_config` names workers that share no memory with this process (Dask, or processes), learners leave the
work to the threads of the core, which copy nothing. Otherwise it is cut into pieces that joblib sends there. What all
pieces need is sent once, as plain data (`Shared`); every worker makes the core's objects of it. A piece depends on its
contents alone, so the results are the same wherever it is worked on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import joblib
from joblib.parallel import get_active_backend

__all__ = ["Shared", "cut", "here", "slots", "spread", "stream", "threads_here"]

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")

# Pieces for every slot of the workers: more of them even out, and less is lost with a worker; each takes a few
# milliseconds to send.
PIECES = 4
# How often what was sent may be lost, with all the workers that held it, before that is the user's affair.
LOSSES = 3
RESTART = 60.0  # seconds that workers may take to come back


class _Parcel(Generic[T]):
    """Something, and how to make it again from plain data: the data are what is sent, once unpacked it stays."""

    def __init__(self, value: T, make: Callable[..., T], parts: Sequence[Any]) -> None:
        self.value, self._make, self._parts = value, make, tuple(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (self._make, self._parts)


def _unpack(make: Callable[..., T], parts: Sequence[Any]) -> _Parcel[T]:
    return _Parcel(make(*parts), make, parts)


class Shared(Generic[T]):
    """What all pieces of some work need; the workers keep what was sent to them as long as this object lives.

    Parameters
    ----------
    value : object
        As it is in this process.
    make : function
        Makes the same out of the parts. A function of a module: workers find it by its name.
    parts : sequence
        Plain data: arrays, texts, numbers.
    """

    def __init__(self, value: T, make: Callable[..., T], parts: Sequence[Any]) -> None:
        self.value = value
        self._parcel = _Parcel(value, make, parts)
        self._future: Any = None

    def sent(self, backend: Any) -> Any:
        """Return what to hand to joblib: with Dask a reference to what all workers have got, otherwise all of it."""
        client = getattr(backend, "client", None)
        if client is None:
            return self._parcel
        if self.is_lost() or self._future is None or self._future.client is not client:
            # On every worker at once: what only one of them holds is gone when that one is.
            self._future = client.scatter(self._parcel, broadcast=True, hash=False)
        return self._future

    def is_lost(self) -> bool:
        """Say whether it was sent, and no worker has it any more."""
        return self._future is not None and self._future.status != "finished"


def _told() -> Any:
    """Return the backend that joblib was told to use, if its workers share no memory with this process."""
    # Where nobody has said anything, joblib would take processes; asked like this, it takes threads.
    backend, _ = get_active_backend(prefer="threads")
    return None if getattr(backend, "supports_sharedmem", False) else backend


def _elsewhere() -> Any:
    """Return the backend that work is to be sent to, None for this process."""
    backend = _told()
    if backend is None or (hasattr(backend, "client") and _on_dask_worker()):
        return None
    return backend


def _on_dask_worker() -> bool:
    """Say whether this is a piece of work already: then others keep the remaining workers busy."""
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


def slots() -> int:
    """Return how many pieces can be worked on at once elsewhere; 1: all work is done here.

    joblib itself keeps the work here if its workers have but one core.

    Examples
    --------
    >>> slots()
    1
    >>> with joblib.parallel_config("loky", n_jobs=3):
    ...     slots()
    3
    """
    backend = _elsewhere()
    if backend is None:
        return 1
    client = getattr(backend, "client", None)
    if client is not None and not client.ncores():  # all have died: others may be about to take their place
        client.wait_for_workers(1, timeout=RESTART)
    return int(joblib.effective_n_jobs(None))


def threads_here(n_jobs: int | None) -> int:
    """Return how many threads of this process `n_jobs` stands for, whatever workers there are elsewhere.

    Examples
    --------
    >>> threads_here(None), threads_here(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if _told() is None:
        return int(joblib.effective_n_jobs(n_jobs))
    if _elsewhere() is None:  # a worker of Dask has a piece for each of its own threads
        return 1
    with here():
        return int(joblib.effective_n_jobs(n_jobs))


@contextmanager
def here() -> Iterator[None]:
    """Let other libraries that use joblib stay in this process."""
    with joblib.parallel_config("threading", n_jobs=1):
        yield


def cut(n_items: int, n_pieces: int) -> list[slice]:
    """Cut a number of things into pieces of nearly the same size, none of them empty unless there is nothing.

    Examples
    --------
    >>> [range(5)[piece] for piece in cut(5, 2)], cut(1, 3), cut(0, 3)
    ([range(0, 3), range(3, 5)], [slice(0, 1, None)], [slice(0, 0, None)])
    """
    n_pieces = max(min(n_items, n_pieces), 1)
    ends = [-(-n_items * i // n_pieces) for i in range(n_pieces + 1)]
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def spread(
    work: Callable[[T, P, int], R],
    shared: Shared[T],
    pieces: Callable[[int], Sequence[P]],
    n_threads: int,
    rounds: int = PIECES,
) -> list[R]:
    """Return what the work makes of each piece: of a single one on the threads of this process, or of many elsewhere.

    Parameters
    ----------
    work : function of the shared value, a piece and a number of threads
        A function of a module.
    shared : Shared
    pieces : function
        Cuts the work into so many pieces, or fewer.
    n_threads : int
        Threads of this process, if the work is done here. Elsewhere a piece has one.
    rounds : int
        Pieces for every slot; 1 where all of them are to begin at the same time.
    """
    for losses in range(LOSSES + 1):
        backend, n_slots = _elsewhere(), slots()
        if backend is None or n_slots == 1:
            break
        sent = shared.sent(backend)
        try:
            jobs = (joblib.delayed(_piece)(work, sent, piece) for piece in pieces(n_slots * rounds))
            return list(joblib.Parallel(batch_size=1)(jobs))
        except Exception:
            if losses == LOSSES or not shared.is_lost():
                raise
    return [work(shared.value, piece, n_threads) for piece in pieces(1)]


def _piece(work: Callable[[T, P, int], R], parcel: Any, piece: P) -> R:
    if not isinstance(parcel, _Parcel):
        # joblib works on it in this process after all, as the workers have just become one.
        parcel = parcel.result()
    with here():
        return work(parcel.value, piece, 1)


def stream(work: Callable[[P], R], items: Iterable[P], n_jobs: int | None) -> Iterator[R]:
    """Yield what the work makes of each item, by whatever joblib was told to use, in the order in which they end.

    Every item is a piece of its own: several long ones in one piece would keep others waiting, and all be lost with a
    worker.
    """
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    found: Iterator[R] = parallel(joblib.delayed(_item)(work, item) for item in items)
    return found


def _item(work: Callable[[P], R], item: P) -> R:
    if _told() is None:
        return work(item)
    with here():  # on a worker of Dask, other libraries would send their work to all of them
        return work(item)

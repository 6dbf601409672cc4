"""How far a fit is, as a share of its time: what progress bars show.

A learner says which pieces of work it expects, and when it begins and ends one. The time of what is left is that of
pieces of the same kind so far, in proportion to their size; before the first of a kind has ended, a rough guess. Trees
that the core grows say how far they are. The share never falls, and it is 1 when the fit has ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from worthwhile import _core

__all__ = [
    "Piece",
    "Workload",
    "ahead_piece",
    "ensemble_piece",
    "exact_piece",
    "following",
    "is_followed",
    "search_piece",
    "tree_piece",
    "workload",
]

# Seconds per unit of size, on one core of a machine of 2024; only the relation between the kinds matters much.
GUESSES = {
    "tree": 3e-7,
    "look-ahead": 3e-6,
    "ensemble": 3e-4,
    "search": 1e-6,
    "forest": 1.0,
    "exact": 3e-9,
    "race": 1.0,
}
LATE = 0.1  # a piece that takes longer than expected goes on for this share of its time so far
ALMOST = 0.99  # the share before the end


class Piece(NamedTuple):
    """A piece of work; a kind is a word of `GUESSES`, which may be followed by another word."""

    kind: str
    size: float


def tree_piece(n_cases: int, n_tests: int) -> Piece:
    """Return the work of growing a tree without look-ahead."""
    return Piece("tree", float(n_cases * max(n_tests, 1)))


def ahead_piece(n_cases: int, n_tests: int, r: int, labels: str = "") -> Piece:
    """Return the work of growing a tree with look-ahead: from 1,500 to 4,000 cases, the time grew by n ** 1.4."""
    return Piece(f"look-ahead {labels}".strip(), float(r * n_cases**1.4 * max(n_tests, 1)))


def ensemble_piece(n_cases: int) -> Piece:
    """Return the work of fitting an ensemble for soft labels."""
    return Piece("ensemble", n_cases + 2_000.0)


def search_piece(n_cases: int, n_tests: int, trials: int) -> Piece:
    """Return the work of trying biases."""
    return Piece("search", float(trials * n_cases * max(n_tests, 1)))


def exact_piece(work: float) -> Piece:
    """Return the work of an exact search, in the units of its limit."""
    return Piece("exact", work)


class Workload:
    """The work of a fit: done, at hand, and expected.

    Examples
    --------
    >>> seconds = iter([0, 0, 10, 10, 15, 20])
    >>> work = Workload(clock=lambda: next(seconds))
    >>> work.expect([Piece("tree", 1.0)] * 2)
    >>> with work.doing(Piece("tree", 1.0)):  # takes 10 s, and so will the next
    ...     pass
    >>> work.share()
    0.5
    >>> work.share()
    0.6
    >>> work.finish()
    >>> work.share()
    1.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._start = clock, clock()
        self._expected: list[Piece] = []
        self._seen: dict[str, tuple[float, float]] = {}  # seconds and size of what was done, by kind
        self._now: tuple[Piece, float, Callable[[], float]] | None = None  # with its begin, and how far it is
        self._shown: float | None = None

    def expect(self, pieces: Iterable[Piece]) -> None:
        """Replace what is expected after the piece at hand."""
        self._expected = list(pieces)
        if self._expected:
            self._shown = self._shown or 0.0

    @contextmanager
    def doing(self, piece: Piece) -> Iterator[_core.Meter]:
        """Do a piece of work, expected or not; the meter tells how far it is, if it is handed to the core."""
        meter = _core.Meter()
        with self.doing_told(piece, lambda: meter.share):
            yield meter

    @contextmanager
    def doing_told(self, piece: Piece, share: Callable[[], float]) -> Iterator[None]:
        """Do a piece of work; a function tells how far it is (0: unknown). A part of another piece does not count."""
        if self._now is not None:
            yield
            return
        same = [at for at, other in enumerate(self._expected) if other.kind == piece.kind]
        if same:
            del self._expected[same[0]]
        begin = self._clock()
        self._now = piece, begin, share
        try:
            yield
        finally:
            self._now = None
        seconds, size = self._seen.get(piece.kind, (0.0, 0.0))
        self._seen[piece.kind] = seconds + self._clock() - begin, size + piece.size

    def finish(self) -> None:
        """Say that all is done."""
        self._expected, self._now, self._shown = [], None, 1.0

    def share(self) -> float | None:
        """Return the share of the time that has passed; None if nothing is known. Any thread may ask."""
        if self._shown is None or self._shown == 1.0:
            return self._shown
        now, at_hand = self._clock(), self._now
        left = sum(self._seconds(piece) for piece in list(self._expected))
        if at_hand is not None:
            piece, begin, told = at_hand
            left += _left(self._seconds(piece), now - begin, min(max(told(), 0.0), 1.0))
        elapsed = now - self._start
        share = elapsed / (elapsed + left) if elapsed > 0 else 0.0
        self._shown = max(self._shown, min(share, ALMOST))
        return self._shown

    def _seconds(self, piece: Piece) -> float:
        seconds, size = self._seen.get(piece.kind, (0.0, 0.0))
        return piece.size * (seconds / size if size > 0 else GUESSES[piece.kind.split()[0]])


def _left(expected: float, elapsed: float, share: float) -> float:
    """Return the seconds that a piece of work still takes: the further it is, the more by its own pace."""
    total = max(expected, elapsed * (1 + LATE))
    return max(
        (1 - share) * (total - elapsed) + share * elapsed * (1 / share - 1) if share > 0 else total - elapsed, 0.0
    )


_current: ContextVar[Workload | None] = ContextVar("_current", default=None)


def is_followed() -> bool:
    """Return whether someone follows the fit."""
    return _current.get() is not None


def workload() -> Workload:
    """Return the work of the fit that is being followed; if none is, one that nobody looks at."""
    return _current.get() or Workload()


@contextmanager
def following() -> Iterator[Workload]:
    """Follow the fit in this context."""
    work = Workload()
    before = _current.set(work)
    try:
        yield work
    finally:
        _current.reset(before)

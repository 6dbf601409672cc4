"""The time limit of a search."""

from __future__ import annotations

import math
import time

__all__ = ["Deadline"]


class Deadline:
    """The time since the start, and the time that is left.

    Parameters
    ----------
    limit : float or None
        Seconds; None: no limit.
    start : float, optional
        When the time began, by `time.monotonic`; None: now.
    """

    def __init__(self, limit: float | None, start: float | None = None) -> None:
        self._start = time.monotonic() if start is None else start
        self._limit = math.inf if limit is None else limit
        self._aside = 0.0

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._start

    def remaining(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(self._limit - self._aside - self.elapsed(), 0.0)

    def set_aside(self, seconds: float) -> None:
        """End earlier by some seconds more, for work that comes after; at most half of the limit is set aside."""
        self._aside = min(self._aside + seconds, self._limit / 2)

    def fraction(self, share: float) -> Deadline:
        """Return a deadline with the same start and a share of the limit."""
        return Deadline((self._limit - self._aside) * share, self._start)

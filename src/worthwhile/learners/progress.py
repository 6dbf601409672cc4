"""The progress of a long fit: what callbacks receive, and the entries of a search's history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CALLBACK", "Progress", "asks_to_stop"]

CALLBACK = "callback"  # why a fit ended: its callback returned True


class Progress(NamedTuple):
    """Progress of a long computation.

    Examples
    --------
    >>> Progress(seconds=2.0, done=50, total=1000, cost=12.5)
    Progress(seconds=2.0, done=50, total=1000, cost=12.5, mean=None, bound=None)
    """

    seconds: float
    """Seconds since the start."""
    done: int
    """Work done so far: trials of ICET, samples per branch of ACT's look-ahead (0: none), trees of a forest, fits of a
    comparison."""
    total: int | None = None
    """Largest amount of work; None if only time ends it."""
    cost: float | None = None
    """Lowest expected cost per case so far."""
    mean: float | None = None
    """Mean cost per case of this generation (ICET)."""
    bound: float | None = None
    """No tree costs less per case than this, as far as that is known (exact search)."""


def asks_to_stop(callback: Callable[[Progress], Any] | None, progress: Progress) -> bool:
    """Call a callback, if there is one, and return whether it returned True; other truthy values do not count."""
    result = None if callback is None else callback(progress)
    return isinstance(result, (bool, np.bool_)) and bool(result)

"""How far a long fit is: what callbacks receive, and the entries of a search's history."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Progress"]


class Progress(NamedTuple):
    """How far a long piece of work is.

    Examples
    --------
    >>> Progress(seconds=2.0, done=50, total=1000, cost=12.5)
    Progress(seconds=2.0, done=50, total=1000, cost=12.5, mean=None)
    """

    seconds: float
    """Time since the work began."""
    done: int
    """Work done so far: trials of ICET, samples per branch of ACT's look-ahead (0: none), trees of a forest, fits of
    a comparison."""
    total: int | None = None
    """How much there may be in all; None where only time ends it."""
    cost: float | None = None
    """Lowest expected cost per case so far."""
    mean: float | None = None
    """Mean cost per case of this generation (ICET)."""

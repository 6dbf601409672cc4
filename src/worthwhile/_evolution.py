"""ICET's two searches: the paper's, and a refined one that is not taken in by a lucky trial.

Both are iterators: they yield the best individual so far after each generation, so that whoever runs them can report,
look at the clock, and stop at any time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from worthwhile._biases import Biases, Space
from worthwhile._genesis import Bits, Floats, Genesis

__all__ = ["Clock", "Step", "paper_search", "refined_search"]

SCALING_WINDOW = 5  # Turney 1995, Table 4
PATIENCE = 5  # refined: generations without a better individual
FINALISTS = 20


class Clock:
    """The time since the start, and how much is left."""

    def __init__(self, limit: float | None) -> None:
        self._start, self._limit = time.monotonic(), math.inf if limit is None else limit

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._start

    def left(self) -> float:
        """Return the seconds that are left; 0 when the time is over."""
        return max(self._limit - self.seconds(), 0.0)


@dataclass(frozen=True, eq=False)
class Step:
    """Where a search stands."""

    best: Biases  # one individual
    cost: float  # its fitness
    trials: int  # so far
    mean: float  # mean fitness of the generation


class Trials(Protocol):
    """Whatever finds out what individuals cost."""

    def costs(self, biases: Biases, seconds: float) -> Floats:
        """Return the cost of every individual; NaN where the time was too short."""


def paper_search(settings: Any, space: Space, trials: Trials, clock: Clock, rng: np.random.Generator) -> Iterator[Step]:
    """Search as GENESIS does, and trust every trial (Turney 1995, section 3.5).

    Parameters
    ----------
    settings : object
        With the parameters of `ICETClassifier`: seeded, population, trials, crossover, mutation.
    space : Space
    trials : Trials
    clock : Clock
    rng : numpy Generator
    """
    genesis = _first_generation(settings, space, rng)
    best, least, done = space.decode(space.seeds()[0][None, :]), math.inf, 0
    while done < settings.trials:
        biases = space.decode(genesis.bits[: settings.trials - done])
        costs = trials.costs(biases, clock.left())
        known = costs[~np.isnan(costs)]
        if len(known) and known.min() < least:
            best, least = biases.take([np.nanargmin(costs)]), float(known.min())
        done += len(known)
        yield Step(best, least, done, _mean(known))
        if len(known) < settings.population:  # no time for more, or no trials left
            return
        genesis.advance(costs)


def refined_search(
    settings: Any, space: Space, search: Trials, final: Trials, clock: Clock, rng: np.random.Generator
) -> Iterator[Step]:
    """Search until nothing better comes, then let the best compete once more on folds that none of them was chosen by.

    Parameters
    ----------
    settings : object
        As for `paper_search`.
    space : Space
        The first of its seeds takes part in the final, whatever it costs in the search.
    search, final : Trials
        Of the search, and of the final.
    clock : Clock
    rng : numpy Generator
    """
    genesis = _first_generation(settings, space, rng)
    fallback = space.seeds()[0]
    best, least, stale = space.decode(fallback[None, :]), math.inf, 0
    tried: dict[bytes, float] = {}  # the same individual costs the same on the same folds: once is enough
    while len(tried) < settings.trials and stale < PATIENCE:
        _try_new(genesis.bits, space, search, clock, tried, settings.trials)
        costs = np.array([tried.get(bits.tobytes(), math.nan) for bits in genesis.bits])
        stale += 1
        if tried and (found := min(tried.values())) < least:
            best, least, stale = _decoded(space, [min(tried, key=tried.__getitem__)]), found, 0
        yield Step(best, least, len(tried), _mean(costs[~np.isnan(costs)]))
        if np.isnan(costs).any():
            break
        genesis.advance(costs)
    finalists = _finalists(space, fallback, tried)
    costs = final.costs(finalists, clock.left())
    if not np.isnan(costs).any():
        winner = int(costs.argmin())
        yield Step(finalists.take([winner]), float(costs[winner]), len(tried), float(costs.mean()))


def _try_new(
    generation: Bits, space: Space, search: Trials, clock: Clock, tried: dict[bytes, float], most: int
) -> None:
    """Try the individuals that have not been tried before, as far as time and trials last."""
    new = {bits.tobytes(): bits for bits in generation if bits.tobytes() not in tried}
    keys = list(new)[: most - len(tried)]
    if keys:
        costs = search.costs(_decoded(space, keys), clock.left())
        tried |= {key: float(cost) for key, cost in zip(keys, costs, strict=True) if not np.isnan(cost)}


def _first_generation(settings: Any, space: Space, rng: np.random.Generator) -> Genesis:
    genesis = Genesis(settings.population, space.length, settings.crossover, settings.mutation, SCALING_WINDOW, rng)
    if settings.seeded:
        seeds = space.seeds()[: settings.population]
        genesis.bits[: len(seeds)] = seeds
    return genesis


def _mean(costs: Floats) -> float:
    return float(costs.mean()) if len(costs) else math.nan


def _decoded(space: Space, keys: list[bytes]) -> Biases:
    return space.decode(np.array([np.frombuffer(key, dtype=np.uint8) for key in keys]))


def _finalists(space: Space, always: Bits, tried: dict[bytes, float]) -> Biases:
    """Return the best individuals of the search; those that cost the same are most likely the same tree."""
    keys = {always.tobytes(): None}
    seen: set[float] = set()
    for key in sorted(tried, key=tried.__getitem__):
        cost = round(tried[key], 9)
        if len(keys) <= FINALISTS and cost not in seen:
            seen.add(cost)
            keys[key] = None
    return _decoded(space, list(keys))

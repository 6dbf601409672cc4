"""ICET's two searches: the paper's, and a refined one that is not misled by a single good trial.

Both are iterators: they yield the best individual so far after each generation, so that the caller can report progress
and stop at any time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from worthwhile.costs.bound_costs import LearningCosts
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.icet.biases import Biases, RefinedSpace, Space
from worthwhile.learners.icet.genesis import Bits, Floats, Genesis

__all__ = ["SearchState", "paper_search", "refined_search"]

SCALING_WINDOW = 5  # Turney 1995, Table 4
FINALISTS = 20
SEARCH_SHARE = 0.8  # of the time limit; the rest is for the final
BATCH = 10  # individuals tried at once under a time limit: those finished by then count


@dataclass(frozen=True, eq=False)
class SearchState:
    """The state of a search after a generation."""

    best: Biases  # one individual
    cost: float  # its fitness
    trials: int  # so far
    mean: float  # mean fitness of the generation
    late: bool = False  # the search ended because its time was over

    def in_money(self, costs: LearningCosts, class_weights: Floats) -> SearchState:
        """Return the state with costs in the user's money."""
        cost, mean = (costs.in_money(value, class_weights) for value in (self.cost, self.mean))
        return replace(self, cost=cost, mean=mean)


class Trials(Protocol):
    """Measures what individuals cost."""

    def costs(self, biases: Biases, seconds: float) -> Floats:
        """Return the cost of every individual; NaN where the time was too short."""


def paper_search(
    settings: Any, space: Space, trials: Trials, deadline: Deadline, rng: np.random.Generator
) -> Iterator[SearchState]:
    """Search as GENESIS does; a single trial decides about an individual (Turney 1995, section 3.5).

    Parameters
    ----------
    settings : object
        With the parameters of `ICETClassifier`: seeded, population, trials, crossover, mutation.
    space : Space
    trials : Trials
    deadline : Deadline
    rng : numpy Generator
    """
    genesis = _first_generation(settings, space, rng)
    best, least, done = space.decode(space.seeds()[0][None, :]), math.inf, 0
    while done < settings.trials:
        biases = space.decode(genesis.bits[: settings.trials - done])
        costs = trials.costs(biases, deadline.remaining())
        known = costs[~np.isnan(costs)]
        if len(known) and known.min() < least:
            best, least = biases.take([np.nanargmin(costs)]), float(known.min())
        done += len(known)
        yield SearchState(best, least, done, _mean(known))
        if len(known) < settings.population:  # no time for more, or no trials left
            return
        genesis.advance(costs)


def refined_search(
    settings: Any,
    space: RefinedSpace,
    search: Trials,
    final: Trials,
    deadline: Deadline,
    rng: np.random.Generator,
    patience: int,
    margin: float,
) -> Iterator[SearchState]:
    """Search until nothing better is found, then compare the best individuals on fresh folds.

    Evolution ends after some generations without a better individual. A local search then changes one thing at a time,
    starting from the best individual and from "no test at all". The best of hundreds tried on the same cases looks
    cheaper than it is: in the final it must beat a reference, which was not searched for, by a margin.

    Parameters
    ----------
    settings : object
        As for `paper_search`.
    space : RefinedSpace
        The first of its seeds, "no test at all", and its reference always take part in the final.
    search, final : Trials
        For the search, and for the final.
    deadline : Deadline
    rng : numpy Generator
    patience : int
        Generations without a better individual after which evolution ends.
    margin : float
        The reference wins unless the best individual costs less by more than this share.
    """
    no_test, reference = space.seeds()[0], space.reference()
    cache = _TrialCache(space, search, deadline.fraction(SEARCH_SHARE), settings.trials, no_test)
    yield from cache.evolve(_first_generation(settings, space, rng), patience)
    yield from cache.climb(cache.best)
    yield from cache.climb(no_test)
    keys = list(dict.fromkeys([reference.tobytes(), *cache.finalists(no_test)]))
    finalists = _decoded(space, keys)
    costs = final.costs(finalists, deadline.remaining())
    if not np.isnan(costs).any():
        winner = int(costs.argmin())
        if costs[0] - costs[winner] <= margin * abs(costs[0]):
            winner = 0
        late = cache.deadline.remaining() <= 0
        yield SearchState(finalists.take([winner]), float(costs[winner]), len(cache.tried), float(costs.mean()), late)


class _TrialCache:
    """The individuals tried so far with their costs. Each is tried once: on the same folds it always costs the same."""

    def __init__(self, space: RefinedSpace, search: Trials, deadline: Deadline, most: int, first: Bits) -> None:
        self._space, self._search, self.deadline, self._most = space, search, deadline, most
        self.tried: dict[bytes, float] = {}
        self.best, self._least = first, math.inf

    def evolve(self, genesis: Genesis, patience: int) -> Iterator[SearchState]:
        """Run generations until none is better for a while, or time or trials run out."""
        stale = 0
        while stale < patience:
            before = self._least
            costs = self._look(genesis.bits)
            stale = 0 if self._least < before else stale + 1
            yield self._step(costs)
            if np.isnan(costs).any():
                return
            genesis.advance(costs)

    def climb(self, start: Bits) -> Iterator[SearchState]:
        """Move to the best neighbour as long as it is better."""
        here = float(self._look(start[None, :])[0])  # NaN if there is no time left; nothing compares as lower
        while not self._over():
            around = self._space.neighbours(start)
            costs = self._look(around)
            yield self._step(costs)
            if np.isnan(costs).any() or not costs.min() < here:
                return
            start, here = around[costs.argmin()], float(costs.min())

    def finalists(self, always: Bits) -> list[bytes]:
        """Return the best individuals; of those with equal costs, the one with the fewest tests."""
        keys = list(self.tried)
        tests = np.isfinite(_decoded(self._space, keys).prices).sum(axis=1) if keys else []
        ranked = sorted((float(f"{self.tried[key]:.9e}"), int(n), key) for key, n in zip(keys, tests, strict=True))
        best = {cost: key for cost, _, key in reversed(ranked)}
        return list(dict.fromkeys([always.tobytes(), *(best[cost] for cost in sorted(best)[:FINALISTS])]))

    def _over(self) -> bool:
        return len(self.tried) >= self._most or self.deadline.remaining() <= 0

    def _look(self, generation: Bits) -> Floats:
        """Return what individuals cost, trying new ones until time or trials run out; NaN: unknown."""
        new = {bits.tobytes(): None for bits in generation if bits.tobytes() not in self.tried}
        keys = list(new)[: self._most - len(self.tried)]
        size = BATCH if math.isfinite(self.deadline.remaining()) else max(len(keys), 1)
        for batch in (keys[start : start + size] for start in range(0, len(keys), size)):
            if self.deadline.remaining() <= 0:
                break
            costs = self._search.costs(_decoded(self._space, batch), self.deadline.remaining())
            self.tried |= {key: float(cost) for key, cost in zip(batch, costs, strict=True) if not np.isnan(cost)}
        found = np.array([self.tried.get(bits.tobytes(), math.nan) for bits in generation])
        if not np.isnan(found).all() and np.nanmin(found) < self._least:
            self.best, self._least = generation[np.nanargmin(found)].copy(), float(np.nanmin(found))
        return found

    def _step(self, costs: Floats) -> SearchState:
        return SearchState(
            self._space.decode(self.best[None, :]), self._least, len(self.tried), _mean(costs[~np.isnan(costs)])
        )


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

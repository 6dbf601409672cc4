"""GENESIS, the genetic algorithm that ICET searches with (Grefenstette 1986; Turney 1995, section 3.5 and Table 4).

Individuals are bit strings; a lower fitness is better, since it is a cost. This module knows nothing about what the
bits mean.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

__all__ = ["Genesis", "from_gray", "to_gray"]

Bits = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def from_gray(bits: Bits) -> npt.NDArray[np.int64]:
    """Return the whole numbers that rows of bits stand for in Gray code, the most significant bit first.

    Examples
    --------
    >>> from_gray(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 0, 0]], dtype=np.uint8)).tolist()
    [0, 1, 2, 7]
    """
    plain = np.bitwise_xor.accumulate(bits, axis=-1).astype(np.int64)
    weights: npt.NDArray[np.int64] = 1 << np.arange(bits.shape[-1] - 1, -1, -1, dtype=np.int64)
    return plain @ weights


def to_gray(number: int, n_bits: int) -> Bits:
    """Return the Gray code of a whole number.

    Examples
    --------
    >>> to_gray(7, 3).tolist()
    [1, 0, 0]
    """
    gray = number ^ (number >> 1)
    return np.array([gray >> place & 1 for place in range(n_bits - 1, -1, -1)], dtype=np.uint8)


class Genesis:
    """A population of bit strings and the operators that make the next one.

    Parameters
    ----------
    population : int
        Number of individuals.
    length : int
        Number of bits.
    crossover : float
        Share of the population that takes part in crossover.
    mutation : float
        Probability that a bit is replaced by a random one.
    window : int
        Scaling window: an individual's worth is by how much it is better than the worst of this many generations.
    rng : numpy Generator
    """

    def __init__(
        self, population: int, length: int, crossover: float, mutation: float, window: int, rng: np.random.Generator
    ) -> None:
        self.bits: Bits = rng.integers(0, 2, (population, length), dtype=np.uint8)
        self._crossover, self._mutation, self._rng = crossover, mutation, rng
        self._worst: deque[float] = deque(maxlen=window)

    def advance(self, fitness: Floats) -> None:
        """Replace the population by its offspring, given its fitness. The best individual survives unchanged."""
        elite = self.bits[fitness.argmin()].copy()
        self._worst.append(float(fitness.max()))
        self.bits = self.bits[self.select(fitness)]
        self.cross()
        self.mutate()
        if not (self.bits == elite).all(axis=1).any():
            self.bits[-1] = elite

    def select(self, fitness: Floats) -> npt.NDArray[np.intp]:
        """Draw parents by stochastic universal sampling: one spin of a wheel with as many equal pointers as parents.

        An individual's sector of the wheel is its worth; the number of its offspring is its worth divided by the mean
        worth, rounded up or down.
        """
        worth = np.maximum(max(self._worst, default=float(fitness.max())) - fitness, 0.0)
        n = len(fitness)
        if worth.sum() <= 0:
            return self._rng.permutation(n)  # all are equally bad
        wheel = np.cumsum(worth) * (n / worth.sum())
        pointers = np.arange(n) + self._rng.random()
        parents = np.searchsorted(wheel, pointers, side="right").clip(max=n - 1)
        return self._rng.permutation(parents)  # partners are neighbours, so the order must be random

    def cross(self) -> None:
        """Exchange the bits between two random points in pairs of neighbours."""
        n, length = self.bits.shape
        for first in range(0, int(self._crossover * n) - 1, 2):
            low, high = np.sort(self._rng.integers(0, length, 2))
            pair = self.bits[first : first + 2, low : high + 1]
            pair[:] = pair[::-1].copy()

    def mutate(self) -> None:
        """Replace single bits by random ones; half of these stay the same."""
        hit = self._rng.random(self.bits.shape) < self._mutation
        self.bits[hit] = self._rng.integers(0, 2, int(hit.sum()), dtype=np.uint8)

"""The spaces that ICET searches: how a bit string encodes the prices EG2 is given (Turney 1995, section 3.5).

The paper's two spaces have a bias for every test (or a bit that removes it), EG2's ω and the pruning confidence. If
there is an answer that rejects, they also have the confidence below which a leaf gives it (section 5.2). The refined
space adds the depth of the tree and the weight of soft labels, and encodes biases as multiples of the prices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from worthwhile.learners.growth_policy import NO_LIMIT
from worthwhile.learners.icet.genesis import Bits, Floats, from_gray, to_gray

__all__ = ["SPACES", "Biases", "BinarySpace", "RealSpace", "RefinedSpace", "Space"]

LOWEST, HIGHEST = 1.0, 10_000.0  # the range of a bias
REMOVES = 9_000.0  # a test whose bias is above this is not available
BIAS_BITS, SHARE_BITS = 12, 8
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.01, 1.0
SEED_OMEGA, SEED_CONFIDENCE = 1.0, 0.25  # the defaults of EG2
REFERENCE_OMEGA, SOFT_CONFIDENCE = 0.25, 0.75

# Refined: a test's factor is 2 ** -2 to almost 2 ** 4 in eighths of an octave; the upper quarter of the codes removes
# the test.
FACTOR_BITS, FACTOR_REMOVES, FACTOR_ONE, FACTOR_STEP = 6, 48, 16, 1 / 8
DEPTH_BITS, DEPTHS = 3, (1, 2, 3, 4, 5, 6, 8, NO_LIMIT)
WEIGHT_BITS, WEIGHT_OF_CODE = 2, (0, 1, 1, 2)
MEAN_PRICE = 10.0  # prices are scaled to this mean, so that the currency does not matter to (price + 1) ** ω
PRESETS = ((SEED_CONFIDENCE, NO_LIMIT), (0.6, NO_LIMIT), (0.1, 3), (0.6, 2))  # confidence and depth of the seeds


@dataclass(frozen=True, eq=False)
class Biases:
    """Decoded individuals, one per row."""

    prices: Floats  # individuals × tests: prices EG2 is given; infinite: the test is removed
    omega: Floats
    confidence: Floats
    max_depth: npt.NDArray[np.int32]
    soft_label_weight: npt.NDArray[np.int32]  # position in SOFT_LABEL_WEIGHTS
    reject_below: Floats  # leaves whose majority has a smaller share answer "unknown"

    def __len__(self) -> int:
        return len(self.omega)

    def take(self, rows: Any) -> Biases:
        """Return the given individuals only."""
        return Biases(*(array[rows] for array in vars(self).values()))


class Space(Protocol):
    """Individuals as bits."""

    length: int

    def decode(self, bits: Bits) -> Biases:
        """Decode individuals, one per row."""

    def seeds(self) -> list[Bits]:
        """Return individuals for the first generation."""


class RealSpace:
    """A bias from 1 to 10,000 for every test, in 12 bits of Gray code; ω and the confidence in 8 bits each.

    Examples
    --------
    >>> space = RealSpace(np.array([7.27, 100.9]))
    >>> space.length
    40
    >>> seed = space.decode(np.array(space.seeds()))
    >>> seed.prices.round(2).tolist(), seed.omega.tolist(), seed.confidence.round(3).tolist()
    ([[8.33, 101.11]], [1.0], [0.251])
    >>> RealSpace(np.array([7.27, 100.9]), rejects=True).length
    48
    """

    def __init__(self, prices: Floats, rejects: bool = False) -> None:
        self._prices, self._rejects = prices, rejects
        self.length = BIAS_BITS * len(prices) + (3 if rejects else 2) * SHARE_BITS

    def decode(self, bits: Bits) -> Biases:
        """Decode individuals, one per row."""
        n = len(self._prices)
        prices = _scaled(bits[:, : BIAS_BITS * n].reshape(len(bits), n, BIAS_BITS), LOWEST, HIGHEST)
        prices[prices > REMOVES] = math.inf
        return _paper_biases(prices, bits[:, BIAS_BITS * n :])

    def seeds(self) -> list[Bits]:
        """Return EG2 on the true prices; if these are too high for the space, they are scaled down."""
        highest = max(float(self._prices.max(initial=0.0)), 1.0)
        scale = min(1.0, (REMOVES - 2.0) / highest)  # rounding to the nearest code adds up to 1.2
        biases = [_code(price * scale, LOWEST, HIGHEST, BIAS_BITS) for price in self._prices]
        return [np.concatenate([*biases, *_paper_tail(self._rejects)])]


class BinarySpace:
    """One bit for every test: whether it is available, at its true price; ω and the confidence in 8 bits each.

    Examples
    --------
    >>> space = BinarySpace(np.array([7.27, 100.9]))
    >>> space.decode(np.array([[1, 0] + 16 * [0]], dtype=np.uint8)).prices.tolist()
    [[7.27, inf]]
    """

    def __init__(self, prices: Floats, rejects: bool = False) -> None:
        self._prices, self._rejects = prices, rejects
        self.length = len(prices) + (3 if rejects else 2) * SHARE_BITS

    def decode(self, bits: Bits) -> Biases:
        """Decode individuals, one per row."""
        n = len(self._prices)
        prices = np.where(bits[:, :n] == 1, self._prices, math.inf)
        return _paper_biases(prices, bits[:, n:])

    def seeds(self) -> list[Bits]:
        """Return EG2 with all tests."""
        all_tests = np.ones(len(self._prices), dtype=np.uint8)
        return [np.concatenate([all_tests, *_paper_tail(self._rejects)])]


class RefinedSpace:
    """Biases as multiples of the prices, ω, confidence, depth and the weight of soft labels.

    Parameters
    ----------
    prices : array
        The list prices.
    real : bool
        Whether a test has a factor, in 6 bits of Gray code, or a single bit that says whether it is available.
    n_weights : int
        How many of the `SOFT_LABEL_WEIGHTS` there are to choose from: all of them, or 1.

    Examples
    --------
    >>> space = RefinedSpace(np.array([5.0, 15.0]), real=True, n_weights=3)
    >>> no_test, eg2, *_ = space.seeds()
    >>> space.decode(np.array([no_test, eg2])).prices.tolist()
    [[inf, inf], [5.0, 15.0]]
    """

    def __init__(self, prices: Floats, real: bool, n_weights: int) -> None:
        mean = float(prices.mean()) if len(prices) else 0.0
        self._prices = prices * (MEAN_PRICE / mean) if mean > 0 else prices
        self._n_weights = n_weights
        self._test_bits = FACTOR_BITS if real else 1
        self._weight_bits = WEIGHT_BITS if n_weights > 1 else 0
        self.length = self._test_bits * len(prices) + 2 * SHARE_BITS + DEPTH_BITS + self._weight_bits

    def decode(self, bits: Bits) -> Biases:
        """Decode individuals, one per row."""
        n = len(self._prices)
        tests, tail = bits[:, : self._test_bits * n], bits[:, self._test_bits * n :]
        codes = from_gray(tests.reshape(len(bits), n, self._test_bits))
        if self._test_bits == 1:
            prices = np.where(codes == 1, self._prices, math.inf)
        else:
            factors = 2.0 ** ((codes - FACTOR_ONE) * FACTOR_STEP)
            prices = np.where(codes < FACTOR_REMOVES, self._prices * factors, math.inf)
        depth, soft_label_weight = np.split(tail[:, 2 * SHARE_BITS :], [DEPTH_BITS], axis=1)
        return Biases(
            prices,
            *_omega_and_confidence(tail),
            np.array(DEPTHS, dtype=np.int32)[from_gray(depth)],
            np.array(WEIGHT_OF_CODE, dtype=np.int32)[from_gray(soft_label_weight)],
            np.zeros(len(bits)),  # answers of least cost reject where that is cheapest
        )

    def seeds(self) -> list[Bits]:
        """Return "no test at all", then EG2 on the true prices with several presets."""
        presets = product(PRESETS, (1.0, 0.5), reversed(range(self._n_weights)))
        return [
            self._individual(False, SEED_OMEGA, SEED_CONFIDENCE, NO_LIMIT, (self._n_weights - 1) // 2),
            *(
                self._individual(True, omega, confidence, depth, soft_label_weight)
                for (confidence, depth), omega, soft_label_weight in presets
            ),
        ]

    def reference(self) -> Bits:
        """Return EG2 on the true prices; with soft labels it needs less pessimistic pruning."""
        confidence = SOFT_CONFIDENCE if self._n_weights > 1 else SEED_CONFIDENCE
        return self._individual(True, REFERENCE_OMEGA, confidence, NO_LIMIT, self._n_weights - 1)

    def neighbours(self, individual: Bits) -> Bits:
        """Return individuals that differ in one test (removed, or added at its price), the depth, or the labels."""
        tests = individual[: self._test_bits * len(self._prices)].reshape(len(self._prices), self._test_bits)
        found = []
        for place, available in enumerate(np.isfinite(self.decode(individual[None, :]).prices[0])):
            changed = tests.copy()
            changed[place] = self._test(not available)
            found.append(np.concatenate([changed.ravel(), individual[tests.size :]]))
        for start, n_bits in (
            (tests.size + 2 * SHARE_BITS, DEPTH_BITS),
            (self.length - self._weight_bits, self._weight_bits),
        ):
            for code in range(1 << n_bits):
                found.append(individual.copy())
                found[-1][start : start + n_bits] = to_gray(code, n_bits)
        return np.array(found)

    def _test(self, available: bool) -> Bits:
        kept, removed = (FACTOR_ONE, FACTOR_REMOVES) if self._test_bits > 1 else (1, 0)
        return to_gray(kept if available else removed, self._test_bits)

    def _individual(self, included: bool, omega: float, confidence: float, depth: int, soft_label_weight: int) -> Bits:
        return np.concatenate(
            [
                *[self._test(included)] * len(self._prices),
                *_omega_and_confidence_code(omega, confidence),
                to_gray(DEPTHS.index(depth), DEPTH_BITS),
                to_gray(WEIGHT_OF_CODE.index(soft_label_weight), self._weight_bits),
            ]
        )


def _scaled(bits: Bits, low: float, high: float) -> Floats:
    """Decode Gray code as a number from `low` (all bits 0) to `high`."""
    most = (1 << bits.shape[-1]) - 1
    return low + from_gray(bits) * ((high - low) / most)


def _code(value: float, low: float, high: float, n_bits: int) -> Bits:
    """Return the code of the nearest number that the bits can encode."""
    most = (1 << n_bits) - 1
    return to_gray(min(max(round((value - low) / (high - low) * most), 0), most), n_bits)


def _omega_and_confidence(tail: Bits) -> tuple[Floats, Floats]:
    omega, confidence = tail[:, :SHARE_BITS], tail[:, SHARE_BITS : 2 * SHARE_BITS]
    return _scaled(omega, 0.0, 1.0), _scaled(confidence, LEAST_CONFIDENCE, MOST_CONFIDENCE)


def _omega_and_confidence_code(omega: float, confidence: float) -> tuple[Bits, Bits]:
    return _code(omega, 0.0, 1.0, SHARE_BITS), _code(confidence, LEAST_CONFIDENCE, MOST_CONFIDENCE, SHARE_BITS)


def _paper_biases(prices: Floats, tail: Bits) -> Biases:
    """Return individuals of the paper's spaces, which encode neither the depth nor the weight of soft labels."""
    n, rejects = len(tail), tail[:, 2 * SHARE_BITS :]
    reject_below = _scaled(rejects, 0.0, 1.0) if rejects.shape[1] else np.zeros(n)
    depth, soft_label_weight = np.full(n, NO_LIMIT, dtype=np.int32), np.zeros(n, dtype=np.int32)
    return Biases(prices, *_omega_and_confidence(tail), depth, soft_label_weight, reject_below)


def _paper_tail(rejects: bool) -> list[Bits]:
    """Return the code of EG2's defaults; no leaf rejects."""
    never = [_code(0.0, 0.0, 1.0, SHARE_BITS)] if rejects else []
    return [*_omega_and_confidence_code(SEED_OMEGA, SEED_CONFIDENCE), *never]


SPACES: Mapping[str, Callable[[Floats, bool], Space]] = {"real": RealSpace, "binary": BinarySpace}

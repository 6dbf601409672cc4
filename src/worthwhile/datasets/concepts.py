"""Synthetic problems that are hard for greedy learners: cases drawn at random, classes given by a rule.

`CONCEPTS` has one entry for each problem of Esmeir & Markovitch (2008), Appendix A, with the number of cases of their
Table 5. The paper describes the rules in words; the descriptions here also state what it leaves open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.datasets.preparation import Column

__all__ = ["CONCEPTS", "Concept", "draw", "generator"]

Bits = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]

ADDRESS_BITS = 4


@dataclass(frozen=True)
class Concept:
    """A rule for the class, and the columns it applies to."""

    names: tuple[str, ...]  # names of the columns
    n_cases: int
    rule: Callable[[Any], Bits]  # from cases × columns, booleans or reals in [-1, 1], to whether the class is 1
    description: str
    numeric: bool = False


def multiplexer(bits: Bits) -> Bits:
    """Return the data bit that the address bits, highest first, select.

    Examples
    --------
    >>> case = np.zeros((1, 20), dtype=bool)
    >>> case[0, [2, 4 + 2]] = True  # address 0010, data bit 2
    >>> multiplexer(case)
    array([ True])
    """
    address = bits[:, :ADDRESS_BITS] @ (1 << np.arange(ADDRESS_BITS)[::-1])
    found: Bits = bits[np.arange(len(bits)), ADDRESS_BITS + address]
    return found


def parity(bits: Bits) -> Bits:
    """Return whether the number of ones is odd.

    Examples
    --------
    >>> parity(np.array([[True, True, False], [True, True, True]]))
    array([False,  True])
    """
    odd: Bits = np.logical_xor.reduce(bits, axis=1)
    return odd


def _multi_xor(bits: Bits) -> Bits:
    parts = (bits[:, 2:4], bits[:, 4:6], bits[:, 6:8], bits[:, 8:11])
    return _selected(bits, [parity(part) for part in parts])


def _multi_and_or(bits: Bits) -> Bits:
    both, either = np.logical_and.reduce, np.logical_or.reduce
    parts = [both(bits[:, 2:4], axis=1), either(bits[:, 4:6], axis=1), both(bits[:, 6:8], axis=1)]
    return _selected(bits, [*parts, either(bits[:, 8:11], axis=1)])


def _selected(bits: Bits, answers: list[Bits]) -> Bits:
    """Take each case's answer from the sub-concept that its first two bits select."""
    return np.choose(2 * bits[:, 0] + bits[:, 1], answers)


def _numbered(letter: str, n: int) -> tuple[str, ...]:
    return tuple(f"{letter}{i}" for i in range(n))


CONCEPTS = {
    "multiplexer-20": Concept(
        (*_numbered("a", ADDRESS_BITS), *_numbered("d", 1 << ADDRESS_BITS)),
        615,  # Table 5; the text of the appendix says 500
        multiplexer,
        "The class is the data bit, d0 to d15, that the four address bits, a0 (the highest) to a3, select.",
    ),
    "xor-5": Concept(
        _numbered("b", 10),
        200,
        lambda bits: parity(bits[:, :5]),
        "The class is the parity of b0 to b4; b5 to b9 are irrelevant.",
    ),
    "xor-3d": Concept(
        _numbered("x", 6),
        200,
        lambda reals: np.prod(reals[:, :3], axis=1) > 0,
        "The class is 1 if the product of x0, x1 and x2, numbers from -1 to 1, is positive; x3 to x5 are irrelevant.",
        numeric=True,
    ),
    "multi-xor": Concept(
        _numbered("b", 11),
        200,
        _multi_xor,
        "b0 b1 select the class: 00: b2 xor b3; 01: b4 xor b5; 10: b6 xor b7; 11: b8 xor b9 xor b10.",
    ),
    "multi-and-or": Concept(
        _numbered("b", 11),
        200,
        _multi_and_or,
        "b0 b1 select the class: 00: b2 and b3; 01: b4 or b5; 10: b6 and b7; 11: b8 or b9 or b10.",
    ),
}


def draw(
    concept: Concept, n_cases: int, rng: np.random.Generator
) -> tuple[dict[str, Column], npt.NDArray[np.str_], list[str]]:
    """Draw cases; return their columns, their classes and the nominal columns."""
    shape = (n_cases, len(concept.names))
    if concept.numeric:
        reals = rng.uniform(-1.0, 1.0, shape)
        columns: dict[str, Column] = {name: reals[:, j] for j, name in enumerate(concept.names)}
        return columns, np.where(concept.rule(reals), "1", "-1"), []
    bits = rng.integers(2, size=shape).astype(bool)
    columns = {name: np.where(bits[:, j], "1", "0").tolist() for j, name in enumerate(concept.names)}
    return columns, np.where(concept.rule(bits), "1", "0"), list(concept.names)


def generator(random_state: Any) -> np.random.Generator:
    """Return a random generator for a `random_state`.

    Examples
    --------
    >>> bool(generator(7).integers(100) == generator(7).integers(100))
    True
    """
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state must be None, an integer of at least 0 or a numpy generator, got {random_state!r}"
        ) from None

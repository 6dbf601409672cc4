"""How trees are grown and pruned, and how they answer: one typed policy, passed to the core as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core

__all__ = ["NO_LIMIT", "GrowthPolicy", "SamplingPolicy"]

NO_LIMIT = 2**30


@dataclass(frozen=True, kw_only=True)
class SamplingPolicy:
    """Look-ahead by sampling trees below every branch of every candidate split."""

    r: int  # samples per branch
    greedy_first: bool  # whether the first of them is the greedy tree
    by_size: bool  # trees are compared by their number of leaves (LSID3), not by their cost (ACT)
    samples: str  # "grown" to the end, or "pruned" before they are valued
    confidence: float  # of the pessimistic error estimate that values them
    margin: float  # the greedy choice stands unless another split is expected to cost less by more than this share
    seed: int


@dataclass(frozen=True, kw_only=True, eq=False)
class GrowthPolicy:
    """How trees are grown and pruned, and how they answer."""

    criterion: str
    omega: float = 1.0  # how strongly the criterion weighs prices
    min_cases: float = 2.0
    min_share: float = 0.1
    max_depth: int = NO_LIMIT
    nominal_splits: str = "multiway"
    mdl_correction: bool = False
    context: bool = False  # the criterion uses what a test costs after those on the path
    idx_depth: int = 1  # look-ahead of IDX
    least_cost: bool = False  # leaves give the answer of lowest expected cost, not the majority class
    prune: str = "pessimistic"
    confidence: float = 0.25
    raise_subtrees: bool = True
    max_leaves: int = NO_LIMIT
    may_stop: bool = True  # a case with an unavailable test stops where no further test pays; False: as in the papers
    reject_below: float = 0.0  # majority answers: a node whose majority has a smaller share rejects, if it may
    n_threads: int = 1
    biases: npt.NDArray[np.float64] | None = None  # what the criterion takes for the prices (ICET)
    sampling: SamplingPolicy | None = None

    def core(self) -> Any:
        """Return the core's policy."""
        settings = {name: value for name, value in vars(self).items() if name != "sampling"}
        policy = _core.Policy(**settings)
        if self.sampling is not None:
            policy.set_sampling(**vars(self.sampling))
        return policy

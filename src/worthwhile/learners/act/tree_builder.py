"""Growing trees with look-ahead under a contract: so many samples, so much time; and choosing how to grow them.

A `GrowthSettings` is a way of growing trees: whose labels they learn from, and how bold the look-ahead may be. Which one suits
the cases at hand is found out by cross-validation (docs/design.md, "Look-ahead").
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.base import Training
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.icet.biases import NO_LIMIT
from worthwhile.learners.soft_labels import SoftLabels, can_be_soft

__all__ = [
    "GRACE",
    "PAPER",
    "SOFT",
    "GrownTree",
    "GrowthSettings",
    "TreeBuilder",
    "choose_settings",
    "paper_parameters",
]

Floats = npt.NDArray[np.float64]

N_FOLDS = 5
# Where the others err less often than this, labels are no matter of luck.
SURE = 0.02
# With more cases the comparison of schools looks ahead by one sample: it is about labels, not about splits.
FEW_CASES = 1_000
# So much before the end of the time nodes are split greedily, and at the end not at all: pruning takes some time, too.
GRACE = 0.05


@dataclass(frozen=True)
class GrowthSettings:
    """A way of growing trees."""

    soft_label_weight: float  # share of the others' labels
    samples: str  # how far sampled trees go: "grown" or "pruned"
    min_cases: float
    margin: float  # the greedy choice stands unless another one promises to cost less by more than this share
    omega: float | None = None  # None: by the paper's formula
    confidence: float | None = None


PAPER = GrowthSettings(soft_label_weight=0.0, samples="grown", min_cases=2.0, margin=0.0)  # the paper's
# A tree that is not pruned orders, with a delayed test, everything that it might ever ask: on 4 splits of thyroid,
# apart from those of the reproductions, samples that were pruned led to 16.6 instead of 18.5 % of the standard cost.
DELAYED = replace(PAPER, samples="pruned")
# The labels of others need no pessimism, and differences between trees that learn from them are small: on 12 splits of
# bupa, heart and hepatitis, apart from those of the reproductions, the margin led to 43.5 instead of 44.9 % of the
# standard cost.
SOFT = GrowthSettings(soft_label_weight=1.0, samples="pruned", min_cases=5.0, margin=0.1, omega=0.25, confidence=0.75)


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree of the core, and how it came about."""

    core: Any
    cost: float  # expected, per case
    r: int  # samples that its look-ahead took
    ground: TreeBuilder


def paper_parameters(training: Training) -> tuple[float, float]:
    """Return ω and the confidence level that suit the costs (Esmeir & Markovitch 2008, section 3.5)."""
    k, matrix = len(training.labels), training.money.error_costs
    regret = matrix[:, :k] - np.diagonal(matrix)[:, None]  # a right answer may be a benefit, or cost something
    mean = float(regret[~np.eye(k, dtype=bool)].mean()) if k > 1 else 0.0
    total = training.money.costs.total_price()
    x = max(mean, 0.0) / total if total > 0 else math.inf
    return 0.5 + math.exp(-x), 0.2 + 0.05 * (1 + (1.0 if math.isinf(x) else (x - 1) / (x + 1)))


class TreeBuilder:
    """Cases to grow trees from, by one school."""

    def __init__(
        self,
        lesson: SoftLabels,
        school: GrowthSettings,
        given: Mapping[str, Any],
        n_threads: int,
        kept: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        training = lesson.training
        self._cases = lesson.rows(school.soft_label_weight, kept)
        self._money, self._school, self._n_threads = training.money, school, n_threads
        omega, confidence = paper_parameters(training)
        chosen = {"omega": school.omega or omega, "confidence": school.confidence or confidence}
        chosen |= {name: value for name, value in given.items() if value is not None}
        self.soft_label_weight = school.soft_label_weight
        self.omega, self.confidence = float(chosen["omega"]), float(chosen["confidence"])
        self._samples = chosen.get("samples") or school.samples

    def greedy(self, criterion: str = "icf") -> GrownTree:
        """Grow without look-ahead, and prune by cost."""
        policy = self._policy(criterion)
        core = _core.grow(*self._cases, self._money.core_pricing, self._money.core_errors, policy)
        return self._valued(core, policy, 0)

    def ahead(self, r: int, seed: int, seconds: float = math.inf) -> GrownTree:
        """Grow with look-ahead; after `seconds` what is missing is grown without."""
        policy = self._policy("icf")
        policy.look_ahead(
            r=r,
            greedy_first=True,
            by_size=False,
            samples=self._samples,
            confidence=self.confidence,
            margin=self._school.margin,
            seed=seed,
        )
        core = _core.grow_ahead(
            *self._cases,
            self._money.core_pricing,
            self._money.core_errors,
            policy,
            seconds=max(seconds - GRACE, 0.0),
            seconds_more=GRACE,
        )
        return self._valued(core, policy, r)

    def costs(self, grown: GrownTree, cases: Training) -> Floats:
        """Return the total cost of each of some cases."""
        money = self._money
        answers, prices, _, _ = _core.route(
            grown.core,
            cases.table,
            money.core_pricing,
            money.core_errors,
            least_cost=True,
            answers=True,
            prices=True,
        )
        assert prices is not None
        total: Floats = prices + money.error_costs[cases.classes, answers]
        return total

    def _valued(self, core: Any, policy: Any, r: int) -> GrownTree:
        cost = _core.tree_cost(core, *self._cases, self._money.core_pricing, self._money.core_errors, policy)
        return GrownTree(core, cost, r, self)

    def _policy(self, criterion: str) -> Any:
        return _core.Policy(
            criterion=criterion,
            omega=self.omega,
            min_cases=self._school.min_cases,
            min_share=0.1,
            max_depth=NO_LIMIT,
            mdl_correction=False,
            context=True,
            idx_depth=1,
            least_cost=True,
            prune="cost",
            confidence=self.confidence,
            raise_subtrees=False,
            n_threads=self._n_threads,
        )


def choose_settings(
    training: Training, r: int, given: Mapping[str, Any], n_threads: int, deadline: Deadline, rng: np.random.Generator
) -> tuple[SoftLabels, GrowthSettings]:
    """Return the labels to learn from, and how: those of others, or the cases' own if they lead to cheaper trees.

    What trees of either kind cost is found out on the same folds, by the cases' own labels. Where the time is too short
    for it, or the others hardly ever err, the cases' own labels serve.
    """
    own = SoftLabels(training, False, 0, 1), DELAYED if _has_delays(training) else PAPER
    if not can_be_soft(training) or deadline.remaining() < 1 + len(training.classes) / 1_000:
        return own
    lesson = SoftLabels(training, True, int(rng.integers(2**31)), n_threads)
    if lesson.ensemble_error < SURE:
        return own
    r = min(r, 1) if len(training.classes) > FEW_CASES else r
    folds = stratified_folds(training.classes, max(2, min(N_FOLDS, len(training.classes))), rng)
    deadline = deadline.fraction(0.6)
    excess = []
    for fold, seed in enumerate(rng.integers(2**63, size=folds.max() + 1).tolist()):
        cases = training.take(np.flatnonzero(folds == fold))
        costs = []
        for school in (own[1], SOFT):
            ground = TreeBuilder(lesson, school, given, n_threads, folds != fold)
            # With a margin, look-ahead changes little, and on softer labels it takes ten times as long.
            grown = ground.ahead(r, seed, deadline.remaining()) if r > 0 and school.margin == 0 else ground.greedy()
            costs.append(ground.costs(grown, cases))
        if deadline.remaining() <= 0:
            return own
        weights = np.ones(len(cases.classes)) if cases.weights is None else cases.weights
        excess.append((costs[1] - costs[0]) * weights)
    return own if np.concatenate(excess).mean() > 0 else (lesson, SOFT)


def _has_delays(training: Training) -> bool:
    return any(test.delayed for test in training.money.costs.tests.values())

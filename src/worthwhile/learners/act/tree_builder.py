"""Growing trees with look-ahead, within a number of samples and a time limit, and choosing how to grow them.

`GrowthSettings` say which labels trees learn from and how far the look-ahead may depart from the greedy choice. A
cross-validation chooses the settings (docs/design/look-ahead.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.growth_policy import GrowthPolicy, SamplingPolicy
from worthwhile.learners.leaf_limit import LeafLimit, limit_leaves
from worthwhile.learners.soft_labels import SoftLabels, can_be_soft
from worthwhile.learners.training import Training, route_core

__all__ = [
    "GRACE",
    "PAPER",
    "SLACK",
    "SOFT",
    "GrownTree",
    "GrowthSettings",
    "TreeBuilder",
    "choose_settings",
    "paper_parameters",
]

Floats = npt.NDArray[np.float64]

N_FOLDS = 5
# If the ensemble has a lower error rate than this, the labels have hardly any noise.
MIN_ENSEMBLE_ERROR = 0.02
# With more cases, settings are compared with a single sample: the comparison is about labels, not about splits.
FEW_CASES = 1_000
# Seconds before the time limit from which nodes are split greedily; at the limit they become leaves. Pruning takes
# time, too.
GRACE = 0.05
SLACK = 1e-9  # relative: costs that differ by less are equal, so that rounding does not choose


@dataclass(frozen=True)
class GrowthSettings:
    """How trees are grown."""

    soft_label_weight: float  # share of the ensemble's labels
    samples: str  # whether sampled trees are "grown" to the end or also "pruned"
    min_cases: float
    margin: float  # the greedy choice stands unless another split is expected to cost less by more than this share
    omega: float | None = None  # None: by the paper's formula
    confidence: float | None = None


PAPER = GrowthSettings(soft_label_weight=0.0, samples="grown", min_cases=2.0, margin=0.0)
# With a delayed test, an unpruned tree orders everything that it might ask for later: on 4 splits of thyroid that the
# reproductions do not use, pruned samples led to 16.6 instead of 18.5 % of the standard cost.
DELAYED = replace(PAPER, samples="pruned")
# Soft labels need no pessimistic estimate, and trees grown from them differ little in cost: on 12 splits of bupa, heart
# and hepatitis that the reproductions do not use, the margin led to 43.5 instead of 44.9 % of the standard cost.
SOFT = GrowthSettings(soft_label_weight=1.0, samples="pruned", min_cases=5.0, margin=0.1, omega=0.25, confidence=0.75)


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A core tree, and how it was grown."""

    core: Any
    cost: float  # expected, per case, in the unit of the `LearningCosts`
    r: int  # samples per branch of its look-ahead
    builder: TreeBuilder
    leaf_limit: LeafLimit | None


def paper_parameters(training: Training) -> tuple[float, float]:
    """Return ω and the confidence level for the costs (Esmeir & Markovitch 2008, section 3.5)."""
    k, matrix = training.n_classes, training.bound_costs.error_costs
    regret = matrix[:, :k] - np.diagonal(matrix)[:, None]  # a right answer may have a cost or a benefit
    mean = float(regret[~np.eye(k, dtype=bool)].mean()) if k > 1 else 0.0
    total = training.context.costs.total_price()
    x = max(mean, 0.0) / total if total > 0 else math.inf
    return 0.5 + math.exp(-x), 0.2 + 0.05 * (1 + (1.0 if math.isinf(x) else (x - 1) / (x + 1)))


class TreeBuilder:
    """Grows trees from some cases with the same settings."""

    def __init__(
        self,
        labels: SoftLabels,
        settings: GrowthSettings,
        given: Mapping[str, Any],
        n_threads: int,
        kept: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        training = labels.training
        self._rows, self._costs = labels.rows(settings.soft_label_weight, kept), training.bound_costs
        self._settings, self._n_threads = settings, n_threads
        paper = given.get("variant") == "paper"
        self._learning_costs = self._costs.as_given if paper else self._costs.learning
        omega, confidence = paper_parameters(training)
        chosen = {"omega": settings.omega or omega, "confidence": settings.confidence or confidence}
        chosen |= {name: given[name] for name in chosen if given.get(name) is not None}
        self.soft_label_weight = settings.soft_label_weight
        self.omega, self.confidence = float(chosen["omega"]), float(chosen["confidence"])
        self._samples = given.get("samples") or settings.samples
        self._min_cases = float(given.get("min_cases") or settings.min_cases)
        self._max_leaves = given.get("max_leaves")

    def greedy(self, criterion: str = "icf") -> GrownTree:
        """Grow without look-ahead, and prune by cost."""
        policy = self._policy(criterion)
        return self._valued(_core.grow(*self._data(), policy.core()), policy, 0)

    def look_ahead(self, r: int, seed: int, seconds: float = math.inf) -> GrownTree:
        """Grow with look-ahead; after `seconds` the remaining nodes are split without it."""
        sampling = SamplingPolicy(
            r=r,
            greedy_first=True,
            by_size=False,
            samples=self._samples,
            confidence=self.confidence,
            margin=self._settings.margin,
            seed=seed,
        )
        policy = replace(self._policy("icf"), sampling=sampling)
        core = _core.grow_ahead(*self._data(), policy.core(), seconds=max(seconds - GRACE, 0.0), seconds_more=GRACE)
        return self._valued(core, policy, r)

    def total_costs(self, grown: GrownTree, cases: Training) -> Floats:
        """Return the total cost of each case."""
        answers, prices = route_core(grown.core, cases, least_cost=True)
        total: Floats = self._costs.error_costs[cases.classes, answers] + prices
        return total

    def in_money(self, cost: float) -> float:
        """Return an expected cost in the user's money."""
        _, classes, weights = self._rows
        counts = np.bincount(classes, weights, len(self._costs.error_costs)).astype(np.float64)
        return self._learning_costs.in_money(cost, counts)

    def _data(self) -> tuple[Any, Any, Any, Any, Any]:
        return *self._rows, self._learning_costs.core_pricing, self._learning_costs.core_errors

    def _valued(self, core: Any, policy: GrowthPolicy, r: int) -> GrownTree:
        core, limit = limit_leaves(core, self._rows, self._learning_costs, policy, self._max_leaves)
        return GrownTree(core, _core.tree_cost(core, *self._data(), policy.core()), r, self, limit)

    def _policy(self, criterion: str) -> GrowthPolicy:
        return GrowthPolicy(
            criterion=criterion,
            omega=self.omega,
            min_cases=self._min_cases,
            context=True,
            least_cost=True,
            prune="cost",
            confidence=self.confidence,
            raise_subtrees=False,
            n_threads=self._n_threads,
        )


def choose_settings(
    training: Training, r: int, given: Mapping[str, Any], n_threads: int, deadline: Deadline, rng: np.random.Generator
) -> tuple[SoftLabels, GrowthSettings]:
    """Return the labels to learn from, and the settings: soft labels, or the cases' own if these give cheaper trees.

    Trees of both kinds are compared on the same folds, by the cases' own labels. If there is too little time for this,
    or the ensemble hardly makes errors, the cases' own labels are used.
    """
    own = SoftLabels.own(training), DELAYED if _has_delays(training) else PAPER
    if not can_be_soft(training) or deadline.remaining() < 1 + training.n_cases / 1_000:
        return own
    labels = SoftLabels.by_ensemble(training, int(rng.integers(2**31)), n_threads)
    if labels.ensemble_error < MIN_ENSEMBLE_ERROR:
        return own
    r = min(r, 1) if training.n_cases > FEW_CASES else r
    folds = stratified_folds(training.classes, max(2, min(N_FOLDS, training.n_cases)), rng)
    deadline = deadline.fraction(0.6)
    totals = np.zeros(2)
    for fold, seed in enumerate(rng.integers(2**63, size=folds.max() + 1).tolist()):
        held_out = training.take(np.flatnonzero(folds == fold))
        costs = []
        for settings in (own[1], SOFT):
            builder = TreeBuilder(labels, settings, given, n_threads, folds != fold)
            # With a margin, look-ahead changes little, and with soft labels it takes ten times as long.
            ahead = r > 0 and settings.margin == 0
            grown = builder.look_ahead(r, seed, deadline.remaining()) if ahead else builder.greedy()
            costs.append(builder.total_costs(grown, held_out))
        if deadline.remaining() <= 0:
            return own
        weights = np.ones(held_out.n_cases) if held_out.weights is None else held_out.weights
        totals += [float((each * weights).sum()) for each in costs]
    return own if totals[1] - totals[0] > SLACK * abs(totals[0]) else (labels, SOFT)


def _has_delays(training: Training) -> bool:
    return any(test.delayed for test in training.context.costs.tests.values())

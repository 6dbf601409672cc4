"""Growing trees with look-ahead under a contract: so many samples, so much time; and choosing how to grow them.

A `School` is a way of growing trees: whose labels they learn from, and how bold the look-ahead may be. Which one suits
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
from worthwhile._base import Training
from worthwhile._biases import NO_LIMIT
from worthwhile._evolution import Clock
from worthwhile._folds import stratified_folds
from worthwhile._lesson import Lesson, can_be_taught

__all__ = ["GRACE", "OWN", "TAUGHT", "Ground", "Grown", "School", "choose_school", "paper_parameters"]

Floats = npt.NDArray[np.float64]

N_FOLDS = 5
# Where the others err less often than this, labels are no matter of luck.
SURE = 0.02
# With more cases the comparison of schools looks ahead by one sample: it is about labels, not about splits.
FEW_CASES = 1_000
# So much before the end of the time nodes are split greedily, and at the end not at all: pruning takes some time, too.
GRACE = 0.05


@dataclass(frozen=True)
class School:
    """A way of growing trees."""

    trust: float  # share of the others' labels
    samples: str  # how far sampled trees go: "grown", "stopped", "pruned"
    min_cases: float
    margin: float  # the greedy choice stands unless another one promises to cost less by more than this share
    omega: float | None = None  # None: by the paper's formula
    confidence: float | None = None


OWN = School(trust=0.0, samples="grown", min_cases=2.0, margin=0.0)  # the paper's
# A tree that is not pruned orders, with a delayed test, everything that it might ever ask: on 4 splits of thyroid,
# apart from those of the reproductions, samples that were pruned led to 16.6 instead of 18.5 % of the standard cost.
PATIENT = replace(OWN, samples="pruned")
# The labels of others need no pessimism, and differences between trees that learn from them are small: on 12 splits of
# bupa, heart and hepatitis, apart from those of the reproductions, the margin led to 43.5 instead of 44.9 % of the
# standard cost.
TAUGHT = School(trust=1.0, samples="pruned", min_cases=5.0, margin=0.1, omega=0.25, confidence=0.75)


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree of the core, and how it came about."""

    core: Any
    cost: float  # expected, per case
    r: int  # samples that its look-ahead took
    ground: Ground


def paper_parameters(training: Training) -> tuple[float, float]:
    """Return ω and the confidence level that suit the costs (Esmeir & Markovitch 2008, section 3.5)."""
    k, matrix = len(training.labels), training.money.error_costs
    regret = matrix[:, :k] - np.diagonal(matrix)[:, None]  # a right answer may be a benefit, or cost something
    mean = float(regret[~np.eye(k, dtype=bool)].mean()) if k > 1 else 0.0
    total = training.money.costs.total_price()
    x = max(mean, 0.0) / total if total > 0 else math.inf
    return 0.5 + math.exp(-x), 0.2 + 0.05 * (1 + (1.0 if math.isinf(x) else (x - 1) / (x + 1)))


class Ground:
    """Cases to grow trees from, by one school."""

    def __init__(
        self,
        lesson: Lesson,
        school: School,
        given: Mapping[str, Any],
        n_threads: int,
        kept: npt.NDArray[np.bool_] | None = None,
        aside: npt.NDArray[np.intp] | None = None,
    ) -> None:
        training = lesson.training
        self._cases = self._growing = lesson.rows(school.trust, kept)
        self._aside: dict[str, Any] = {}
        if aside is not None:
            rest = np.ones(len(training.classes), dtype=bool)
            rest[aside] = False
            self._growing = lesson.rows(school.trust, rest)
            judges = training.take(aside)
            self._aside = dict(zip(("whole", "whole_classes", "whole_weights"), self._cases, strict=True))
            self._aside |= {"aside": judges.table, "aside_classes": judges.classes, "aside_weights": judges.weights}
        self._money, self._school, self._n_threads = training.money, school, n_threads
        omega, confidence = paper_parameters(training)
        chosen = {"omega": school.omega or omega, "confidence": school.confidence or confidence}
        chosen |= {name: value for name, value in given.items() if value is not None}
        self.trust = school.trust
        self.omega, self.confidence = float(chosen["omega"]), float(chosen["confidence"])
        self._samples = chosen.get("samples") or school.samples

    def greedy(self, criterion: str = "icf") -> Grown:
        """Grow without look-ahead, and prune by cost."""
        policy = self._policy(criterion)
        core = _core.grow(*self._cases, self._money.core_pricing, self._money.core_errors, policy)
        return self._valued(core, policy, 0)

    def ahead(self, r: int, seed: int, seconds: float = math.inf) -> Grown:
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
            *self._growing,
            self._money.core_pricing,
            self._money.core_errors,
            policy,
            seconds=max(seconds - GRACE, 0.0),
            seconds_more=GRACE,
            **self._aside,
        )
        return self._valued(core, policy, r)

    def costs(self, grown: Grown, cases: Training) -> Floats:
        """Return the total cost of each of some cases."""
        money = self._money
        answers, prices, _ = _core.route(
            grown.core, cases.table, money.core_pricing, money.core_errors, True, True, True, False, 1, None
        )
        assert prices is not None
        total: Floats = prices + money.error_costs[cases.classes, answers]
        return total

    def _valued(self, core: Any, policy: Any, r: int) -> Grown:
        cost = _core.tree_cost(core, *self._cases, self._money.core_pricing, self._money.core_errors, policy)
        return Grown(core, cost, r, self)

    def _policy(self, criterion: str) -> Any:
        return _core.Policy(
            criterion=criterion,
            omega=self.omega,
            min_cases=self._school.min_cases,
            min_share=0.1,
            max_depth=NO_LIMIT,
            release8=False,
            context=True,
            lookahead=1,
            least_cost=True,
            prune="cost",
            confidence=self.confidence,
            raise_subtrees=False,
            n_threads=self._n_threads,
        )


def choose_school(
    training: Training, r: int, given: Mapping[str, Any], n_threads: int, clock: Clock, rng: np.random.Generator
) -> tuple[Lesson, School]:
    """Return the labels to learn from, and how: those of others, or the cases' own if they lead to cheaper trees.

    What trees of either kind cost is found out on the same folds, by the cases' own labels. Where the time is too short
    for it, or the others hardly ever err, the cases' own labels serve.
    """
    own = Lesson(training, False, 0, 1), PATIENT if _has_delays(training) else OWN
    if not can_be_taught(training) or clock.left() < 1 + len(training.classes) / 1_000:
        return own
    lesson = Lesson(training, True, int(rng.integers(2**31)), n_threads)
    if lesson.others_err < SURE:
        return own
    r = min(r, 1) if len(training.classes) > FEW_CASES else r
    folds = stratified_folds(training.classes, max(2, min(N_FOLDS, len(training.classes))), rng)
    clock = clock.part(0.6)
    excess = []
    for fold, seed in enumerate(rng.integers(2**63, size=folds.max() + 1).tolist()):
        cases = training.take(np.flatnonzero(folds == fold))
        costs = []
        for school in (own[1], TAUGHT):
            ground = Ground(lesson, school, given, n_threads, folds != fold)
            # With a margin, look-ahead changes little, and on softer labels it takes ten times as long.
            grown = ground.ahead(r, seed, clock.left()) if r > 0 and school.margin == 0 else ground.greedy()
            costs.append(ground.costs(grown, cases))
        if clock.left() <= 0:
            return own
        weights = np.ones(len(cases.classes)) if cases.weights is None else cases.weights
        excess.append((costs[1] - costs[0]) * weights)
    return own if np.concatenate(excess).mean() > 0 else (lesson, TAUGHT)


def _has_delays(training: Training) -> bool:
    return any(test.delayed for test in training.money.costs.tests.values())

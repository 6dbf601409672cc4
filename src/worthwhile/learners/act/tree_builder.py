"""Growing trees with look-ahead, within a number of samples and a time limit, and choosing how to grow them.

`GrowthSettings` say which labels trees learn from and how far the look-ahead may depart from the greedy choice. A
cross-validation chooses the settings (docs/design/look-ahead.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.cross_fitting import FoldTree, n_used
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.growth_policy import GrowthPolicy, SamplingPolicy
from worthwhile.learners.leaf_limit import LeafLimit, limit_leaves
from worthwhile.learners.soft_labels import SoftLabels, has_values, seconds_needed
from worthwhile.learners.training import Training, route_core
from worthwhile.learners.workload import Piece, ahead_piece, ensemble_piece, tree_piece, workload

__all__ = [
    "GRACE",
    "GREEDY",
    "MAX_SAMPLES",
    "PAPER",
    "SLACK",
    "SOFT",
    "GrownTree",
    "GrowthChoice",
    "GrowthSettings",
    "Rounds",
    "TreeBuilder",
    "choose_growth",
    "growth_pieces",
    "labels_like",
    "paper_parameters",
]

Floats = npt.NDArray[np.float64]

N_FOLDS = 5
# If the ensemble has a lower error rate than this, the labels have hardly any noise.
MIN_ENSEMBLE_ERROR = 0.02
# With more cases, trees with look-ahead are compared with a single sample per branch, to save time.
FEW_CASES = 1_000
GREEDY = ("icf", "cost-drop")  # the criteria of EG2 and DTMC, which compete with the look-ahead
# Seconds before the time limit from which nodes are split greedily; at the limit they become leaves. Pruning takes
# time, too.
GRACE = 0.05
# With a time limit, another way to grow trees has to save this many standard errors on held-out cases.
CLEARLY = 1.0
# The published ω and confidence level follow from the costs; others are tried, as the authors of ACT propose.
OTHER_PARAMETERS: tuple[dict[str, Any], ...] = (
    {"confidence": 0.5},
    {"confidence": 0.1},
    {"omega": 0.25},
    {"omega": 0.5},
    {"omega": 1.0},
    {"margin": 0.0},
    {"margin": 0.2},
)
MAX_SAMPLES = 4096  # doubling ends here
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
# With surcharges, an unpruned tree does a test even for those cases for whom it never pays, so that a question that
# tells who they are looks worthless.
PRUNED = replace(PAPER, samples="pruned")
# Soft labels need no pessimistic estimate, and trees grown from them differ little in cost: on 12 splits of bupa, heart
# and hepatitis that the reproductions do not use, the margin led to 43.5 instead of 44.9 % of the standard cost.
SOFT = GrowthSettings(soft_label_weight=1.0, samples="pruned", min_cases=5.0, margin=0.1, omega=0.25, confidence=0.75)


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A core tree, and how it was grown."""

    core: Any
    cost: float  # expected, per case, by the labels it was grown from, in the unit of the `LearningCosts`
    r: int  # samples per branch of its look-ahead
    builder: TreeBuilder
    leaf_limit: LeafLimit | None
    criterion: str | None = None  # of a greedy tree


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
        self.labels, self._settings, self._given, self._n_threads = labels, settings, given, n_threads
        self._rows, self._costs = labels.rows(settings.soft_label_weight, kept), training.bound_costs
        self._n_cases = training.n_cases if kept is None else int(kept.sum())
        self._paper = given.get("variant") == "paper"
        self._learning_costs = self._costs.as_given if self._paper else self._costs.learning
        omega, confidence = paper_parameters(training)
        chosen = {"omega": settings.omega or omega, "confidence": settings.confidence or confidence}
        chosen |= {name: given[name] for name in chosen if given.get(name) is not None}
        self.soft_label_weight = settings.soft_label_weight
        self.omega, self.confidence = float(chosen["omega"]), float(chosen["confidence"])
        self._samples = given.get("samples") or settings.samples
        self._min_cases = float(given.get("min_cases") or settings.min_cases)
        self._max_leaves = given.get("max_leaves")

    def on(self, kept: npt.NDArray[np.bool_]) -> TreeBuilder:
        """Return a builder that grows trees in the same way from some of the cases."""
        return TreeBuilder(self.labels, self._settings, self._given, self._n_threads, kept)

    def greedy(self, criterion: str = "icf") -> GrownTree:
        """Grow without look-ahead, and prune by cost."""
        policy = self._policy(criterion)
        with workload().doing(self.piece(criterion, 0)) as meter:
            return self._valued(_core.grow(*self._data(), policy.core(), meter=meter), policy, 0, criterion)

    def grow(self, criterion: str | None, r: int, seed: int, seconds: float) -> GrownTree:
        """Grow by a greedy criterion or, without one, with look-ahead."""
        return self.look_ahead(r, seed, seconds) if criterion is None else self.greedy(criterion)

    def look_ahead(self, r: int, seed: int, seconds: float = math.inf, complete: bool = False) -> GrownTree:
        """Grow with look-ahead for some seconds.

        After that the remaining nodes are split without it: all of them if `complete`, otherwise only in the last
        moments before the limit, when the rest become leaves.
        """
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
        ahead, more = (seconds, math.inf) if complete else (max(seconds - GRACE, 0.0), GRACE)
        with workload().doing(self.piece(None, r)) as meter:
            core = _core.grow_ahead(*self._data(), policy.core(), seconds=ahead, seconds_more=more, meter=meter)
            return self._valued(core, policy, r)

    def piece(self, criterion: str | None, r: int) -> Piece:
        """Return how much work it is to grow a tree by a greedy criterion or, without one, with look-ahead."""
        n_tests = len(self.labels.training.context.columns)
        if criterion is not None or r == 0:
            return tree_piece(self._n_cases, n_tests)
        return ahead_piece(self._n_cases, n_tests, r, _word(self._settings))

    def total_costs(self, grown: GrownTree, cases: Training) -> Floats:
        """Return the total cost of each case."""
        answers, prices = route_core(grown.core, cases, least_cost=True)
        return cases.errors_of(answers) + prices

    def in_money(self, cost: float) -> float:
        """Return an expected cost in the user's money."""
        _, classes, weights = self._rows
        counts = np.bincount(classes, weights, len(self._costs.error_costs)).astype(np.float64)
        return self._learning_costs.in_money(cost, counts)

    def _data(self) -> tuple[Any, Any, Any, Any, Any]:
        return *self._rows, self._learning_costs.core_pricing, self._learning_costs.core_errors

    def _valued(self, core: Any, policy: GrowthPolicy, r: int, criterion: str | None = None) -> GrownTree:
        core, limit = limit_leaves(core, self._rows, self._learning_costs, policy, self._max_leaves)
        return GrownTree(core, _core.tree_cost(core, *self._data(), policy.core()), r, self, limit, criterion)

    def _policy(self, criterion: str) -> GrowthPolicy:
        return GrowthPolicy(
            criterion=criterion,
            omega=self.omega,
            min_cases=self._min_cases,
            nominal_splits=self._given.get("nominal_splits", "multiway"),
            may_stop=not self._paper,
            context=True,
            least_cost=True,
            prune="cost",
            confidence=self.confidence,
            raise_subtrees=False,
            n_threads=self._n_threads,
        )


@dataclass(frozen=True, eq=False)
class GrowthChoice:
    """How to grow the tree, and trees of folds that say what new cases cost."""

    labels: SoftLabels
    settings: GrowthSettings
    criterion: str | None = None  # of a greedy tree; None: with look-ahead
    folds: Iterable[FoldTree] | None = None  # None, if the time was too short
    pieces: tuple[Piece, ...] = ()  # the work that `folds` will be
    rounds: Rounds | None = None  # with a time limit: further ways to grow trees


def choose_growth(
    training: Training,
    r: int,
    given: Mapping[str, Any],
    n_threads: int,
    deadline: Deadline,
    rng: np.random.Generator,
    greedy: tuple[str, ...] = GREEDY,
) -> GrowthChoice:
    """Return how to grow the tree: from which labels, and with look-ahead or by which greedy criterion.

    Trees of all kinds are grown on the same folds. The kind whose trees cost least on the held-out cases, by the cases'
    own labels, is chosen; ties go to the first. If there is too little time, the cases' own labels are used.
    """
    own = PRUNED if _has_delays(training) or training.context.has_surcharges else PAPER
    fallback = GrowthChoice(SoftLabels.own(training), own, None if r > 0 or not greedy else greedy[0])
    if training.n_cases < 2 or deadline.remaining() < seconds_needed(training):
        return fallback
    labels = _soft_labels(training, n_threads, rng) or fallback.labels
    ways = [*([None] if r > 0 else []), *greedy]
    kinds = [(settings, way) for settings in ([SOFT, own] if labels.soft else [own]) for way in ways]
    if len(kinds) == 1:
        return fallback
    r = min(r, 1) if training.n_cases > FEW_CASES else r
    n_folds = min(N_FOLDS, training.n_cases)
    fold_of = stratified_folds(training.classes, n_folds, rng)
    patient, trials = math.isinf(deadline.remaining()), list[_FoldTrial]()
    deadline = deadline.fraction(0.6)
    for fold, seed in enumerate(rng.integers(2**63, size=n_used(training.n_cases, n_folds)).tolist()):
        kept, held_out = (training.take(np.flatnonzero(which)) for which in (fold_of != fold, fold_of == fold))
        builders = {settings: TreeBuilder(labels, settings, given, n_threads, fold_of != fold) for settings, _ in kinds}
        grown = [builders[settings].grow(way, r, seed, deadline.remaining()) for settings, way in kinds]
        if deadline.remaining() <= 0:
            break
        again = partial(_grown_again, given=given, n_threads=n_threads, r=r, seed=seed) if patient else None
        trials.append(_FoldTrial(list(kinds), grown, kept, held_out, fold_of != fold, seed, again))
    if not trials:
        return fallback
    parts = _Parts(trials)
    best = parts.cheapest()
    chosen = labels if kinds[best][0] is SOFT else fallback.labels
    rounds = None if patient else Rounds(labels, trials, best, r, given, n_threads)
    return GrowthChoice(chosen, *kinds[best], parts, parts.pieces(best, r) if patient else (), rounds)


def growth_pieces(training: Training, r: int, folds: int) -> list[Piece]:
    """Return the work that `choose_growth`, the tree itself and trees on folds are expected to be, as a bar sees it."""
    n, n_tests = training.n_cases, len(training.context.columns)
    few = min(r, 1) if n > FEW_CASES else r
    kept = n * (N_FOLDS - 1) // N_FOLDS
    compared = [ahead_piece(kept, n_tests, few, _word(settings)) for settings in (SOFT, PAPER)] if r > 0 else []
    again = [ensemble_piece(kept), *compared[:1]]
    tree = ahead_piece(n, n_tests, r, _word(SOFT)) if r > 0 else tree_piece(n, n_tests)
    return [ensemble_piece(n), *compared * n_used(n, min(N_FOLDS, n)), tree, *again * folds]


def _word(settings: GrowthSettings) -> str:
    return "soft" if settings.soft_label_weight > 0 else "own"


Kind = tuple[GrowthSettings, str | None]  # how trees are grown, and the criterion of greedy ones


def _grown_again(kind: Kind, kept: Training, given: Mapping[str, Any], n_threads: int, r: int, seed: int) -> GrownTree:
    """Grow a tree from soft labels by an ensemble that has seen no other cases."""
    labels = SoftLabels.by_ensemble(kept, seed % 2**31, n_threads)
    return TreeBuilder(labels, kind[0], given, n_threads).grow(kind[1], r, seed, math.inf)


@dataclass(frozen=True, eq=False)
class _FoldTrial:
    """Trees of all kinds, grown from the kept cases of a fold."""

    kinds: list[Kind]
    grown: list[GrownTree]
    kept: Training
    held_out: Training
    is_kept: npt.NDArray[np.bool_]
    seed: int
    again: Callable[[Kind, Training], GrownTree] | None  # None: there is no time for it

    def costs(self) -> Floats:
        """Return the cost of every held-out case, times its weight, by every kind of tree: (kinds, cases)."""
        return np.array([self.costs_of(tree) for tree in self.grown])

    def costs_of(self, tree: GrownTree) -> Floats:
        """Return the cost of every held-out case by a tree, times its weight."""
        weights = 1.0 if self.held_out.weights is None else self.held_out.weights
        return tree.builder.total_costs(tree, self.held_out) * weights

    def blind(self, kind: int) -> GrownTree:
        """Return a tree that the held-out cases had no part in.

        The ensemble of all cases has seen them: trees that learn from it are grown again.
        """
        again = self.again if self.kinds[kind][0] is SOFT else None
        return self.grown[kind] if again is None else again(self.kinds[kind], self.kept)


class Rounds:
    """Further ways to grow trees: with more samples, and with other ω and confidence levels.

    A way takes the place of the best one so far only if its trees clearly cost less on the held-out cases of the folds.
    Valued by the cases that they are grown from, more and more trees would win by chance, and cost more on new cases.
    """

    def __init__(
        self,
        labels: SoftLabels,
        trials: list[_FoldTrial],
        best: int,
        r: int,
        given: Mapping[str, Any],
        n_threads: int,
    ) -> None:
        self._labels, self._trials, self._given, self._n_threads = labels, trials, given, n_threads
        self._best, self.r = trials[0].kinds[best], r
        self._costs = np.concatenate([trial.costs_of(trial.grown[best]) for trial in trials])

    def better_ways(self, deadline: Deadline) -> Iterator[tuple[GrowthSettings, int]]:
        """Yield settings and numbers of samples that are better than the ones before, until the time is over."""
        for settings, r in self._ways():
            grown = [self._grow(trial, settings, r, deadline) for trial in self._trials if deadline.remaining() > 0]
            if deadline.remaining() <= 0:
                return
            costs = np.concatenate([t.costs_of(tree) for t, tree in zip(self._trials, grown, strict=True)])
            for trial, tree in zip(self._trials, grown, strict=True):
                trial.kinds.append((settings, None))
                trial.grown.append(tree)
            saved = self._costs - costs
            if saved.sum() > CLEARLY * saved.std() * math.sqrt(len(saved)) + SLACK * abs(self._costs.sum()):
                self._best, self._costs, self.r = (settings, None), costs, r
                yield settings, r

    def folds(self) -> Iterable[FoldTree]:
        """Return the trees of all ways on the folds, for what new cases cost."""
        return _Parts(self._trials)

    def _grow(self, trial: _FoldTrial, settings: GrowthSettings, r: int, deadline: Deadline) -> GrownTree:
        builder = TreeBuilder(self._labels, settings, self._given, self._n_threads, trial.is_kept)
        return builder.look_ahead(r, trial.seed, deadline.remaining())

    def _ways(self) -> Iterator[tuple[GrowthSettings, int]]:
        """Yield, in turn, other parameters with the number of samples so far, and more samples of the best so far."""
        tried, r = {(kind[0], self.r) for kind in self._trials[0].kinds if kind[1] is None}, self.r
        for parameter in OTHER_PARAMETERS:
            other = replace(self._best[0], **parameter), self.r
            if other not in tried and all(self._given.get(name) is None for name in parameter):
                tried.add(other)
                yield other
            if r < MAX_SAMPLES:
                r *= 2
                yield self._best[0], r
        while r < MAX_SAMPLES:
            r *= 2
            yield self._best[0], r


class _Parts:
    """The held-out cases of all folds, divided into parts.

    The cheapest of several kinds of trees looks cheaper than it is on the cases that chose it. So each part is answered
    by a tree of the kind that costs least on all other parts. The trees are made when they are asked for.
    """

    def __init__(self, trials: list[_FoldTrial]) -> None:
        self._trials, self._costs = trials, [trial.costs() for trial in trials]
        self._total: Floats = np.sum([own.sum(axis=1) for own in self._costs], axis=0)

    def cheapest(self) -> int:
        """Return the kind of tree that costs least on all held-out cases."""
        return _least(self._total)

    def pieces(self, kind: int, r: int) -> tuple[Piece, ...]:
        """Return the work of making trees of a kind for all folds; only those from soft labels are grown again."""
        if self._trials[0].kinds[kind][0] is not SOFT:
            return ()
        each = (
            (ensemble_piece(t.kept.n_cases), t.grown[kind].builder.piece(t.kinds[kind][1], r)) for t in self._trials
        )
        return tuple(piece for pair in each for piece in pair)

    def __iter__(self) -> Iterator[FoldTree]:
        per_fold = -(-N_FOLDS // len(self._trials))
        for trial, own in zip(self._trials, self._costs, strict=True):
            rows_of: dict[int, list[int]] = {}
            for part in range(min(per_fold, trial.held_out.n_cases)):
                rows = range(part, trial.held_out.n_cases, per_fold)
                rows_of.setdefault(_least(self._total - own[:, list(rows)].sum(axis=1)), []).extend(rows)
            for kind, chosen in rows_of.items():
                yield FoldTree(trial.blind(kind).core, trial.kept, trial.held_out.take(np.sort(chosen)))


def _least(costs: Floats) -> int:
    # Sums that differ by rounding only are equal.
    return int(np.flatnonzero(costs <= costs.min() + SLACK * abs(costs.min()))[0])


def labels_like(labels: SoftLabels, cases: Training, n_threads: int, seed: int) -> SoftLabels:
    """Return own or soft labels, as given, of some of the cases; the ensemble has seen these cases only."""
    return SoftLabels.by_ensemble(cases, seed % 2**31, n_threads) if labels.soft else SoftLabels.own(cases)


def _soft_labels(training: Training, n_threads: int, rng: np.random.Generator) -> SoftLabels | None:
    """Return soft labels; None if there is nothing to learn from, or the ensemble hardly makes errors."""
    if not has_values(training):
        return None
    labels = SoftLabels.by_ensemble(training, int(rng.integers(2**31)), n_threads)
    return None if labels.ensemble_error < MIN_ENSEMBLE_ERROR else labels


def _has_delays(training: Training) -> bool:
    return any(test.delayed for test in training.context.costs.tests.values())

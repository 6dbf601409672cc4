"""One exact search in the core, and choosing its settings by cross-validation (docs/design/exact-search.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.bound_costs import LearningCosts
from worthwhile.learners.cross_fitting import FoldTree, n_used
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.optimal.branch_limit import BranchLimit
from worthwhile.learners.soft_labels import SoftLabels, has_values, seconds_needed
from worthwhile.learners.training import Training, route_core
from worthwhile.learners.workload import Piece, ensemble_piece, exact_piece, workload

__all__ = ["ExactSearch", "Found", "Settings", "SettingsChoice", "choose_settings", "fallback", "search_pieces"]

Floats = npt.NDArray[np.float64]
Rows = tuple[Any, npt.NDArray[np.int32], Floats | None]

ALL_CUTS = 2**30
N_FOLDS = 5
# Cuts of a numeric test in the cross-validation. The settings that are best with few cuts are so with all of them.
FOLD_CUTS = 8
# Leaf prices to choose from, as shares of what a case costs without any test. The one in the middle is the usual one.
LEAF_PRICES = (0.0, 0.005, 0.02)
# They were settled on tables of up to so many training cases. Of more, the price of a leaf for all cases together stays
# the same, because leaves of more cases are surer. Errors at five times all prices, half soft labels, trees that are
# grown further: nursery (7,000 cases) costs .83 of before, shuttle (20,000) .92, adult .96, credit default and covtype
# (6,000) .99, waveform40 and nettalk the same. It was looked at on these sets.
SETTLED_CASES = 1_200
# Shares of soft labels to choose from, the usual one first.
LABEL_WEIGHTS = (0.5, 1.0, 0.0)
# A tree that is grown further has at most so many levels more; each of its nodes looks so many levels ahead.
MORE_DEPTH, HORIZON = 6, 3
# The usual settings are chosen unless others cost less by more than so many standard errors: other labels, and another
# leaf price or depth. Held-out cases are few, and the cheapest of many settings is often so by luck
# (docs/design/exact-search.md has the figures). Without soft labels there are no usual settings: the simplest ones are
# chosen unless others cost less by more than half a standard error.
OTHER_LABELS, OTHER_SIZE, NOT_SIMPLE = 1.0, 3.0, 0.5
# Units of work, a few nanoseconds each: of a search without a time limit, and of one in the cross-validation.
WORK, FOLD_WORK = 1e10, 1e8
MEMORY = 2**30


@dataclass(frozen=True)
class Settings:
    """What a search is for: trees of this depth, this leaf price, from labels with this share of soft ones."""

    max_depth: int
    leaf_price: float  # per case and leaf, in the user's money
    soft_label_weight: float
    deeper: bool = False  # grown further below the leaves

    def complexity(self) -> tuple[int, bool, float]:
        """Return what orders settings from simple to complex trees."""
        return self.max_depth, self.deeper, -self.leaf_price

    def same_size(self, other: Settings) -> bool:
        """Return whether only the labels differ."""
        return self.complexity() == other.complexity()


class Found(NamedTuple):
    """The result of a search; costs per case, in the user's money."""

    core: Any
    objective: float
    bound: float
    proven: bool
    interrupted: bool
    by_depth: list[tuple[Any, float]]
    deeper: Any  # the tree, grown further
    deeper_objective: float
    finished: bool  # the search has looked at everything; proven, if also nothing was cut off the tree

    def better_of(self, other: Found) -> Found:
        """Return this result with the trees of another one that cost less."""
        found = self._replace(interrupted=self.interrupted or other.interrupted)
        if other.objective < self.objective:
            found = found._replace(core=other.core, objective=other.objective)
        if other.deeper_objective < self.deeper_objective:
            found = found._replace(deeper=other.deeper, deeper_objective=other.deeper_objective)
        depths = zip(self.by_depth, other.by_depth, strict=False)
        better = [min(pair, key=lambda one: one[1]) for pair in depths]
        return found._replace(by_depth=better + self.by_depth[len(better) :])


@dataclass(frozen=True, eq=False)
class ExactSearch:
    """Exact searches with the same limits."""

    max_leaves: int | None
    cuts: int
    memory: int
    n_threads: int
    min_cases: float = 0.0  # at least two branches of a split hold this weight; others are cut off afterwards

    def run(
        self,
        rows: Rows,
        costs: LearningCosts,
        settings: Settings,
        work: float = math.inf,
        seconds: float = math.inf,
        tell: Callable[[float, float], bool] | None = None,
    ) -> Found:
        """Return the tree of least cost."""
        if self.min_cases > 0:
            return self._run_with_large_branches(rows, costs, settings, work, seconds, tell)
        return self._run(rows, costs, settings, work, seconds, tell)

    def _run(
        self,
        rows: Rows,
        costs: LearningCosts,
        settings: Settings,
        work: float,
        seconds: float,
        tell: Callable[[float, float], bool] | None = None,
    ) -> Found:
        """Return the tree of least cost, whatever its branches hold."""
        counts = np.bincount(rows[1], rows[2], len(costs.error_costs)).astype(np.float64)

        def in_money(cost: float) -> float:
            return costs.in_money(cost, counts)

        with workload().doing(exact_piece(min(work, WORK))):
            core, cost, bound, proven, interrupted, by_depth, deeper, deeper_cost = _core.search_exactly(
                *rows,
                costs.core_pricing,
                costs.core_errors,
                max_depth=settings.max_depth,
                max_leaves=2**31 - 1 if self.max_leaves is None else int(self.max_leaves),
                leaf_price=settings.leaf_price / costs.unit,
                deepest=settings.max_depth + MORE_DEPTH if settings.deeper else 0,
                horizon=HORIZON,
                max_cuts=self.cuts,
                memory=self.memory,
                work=work,
                seconds=seconds,
                n_threads=self.n_threads,
                tell=None if tell is None else lambda cost, bound: tell(in_money(cost), in_money(bound)),
            )
        shallow = [(tree, in_money(value)) for tree, value in by_depth]
        costs_found = in_money(cost), in_money(bound)
        return Found(core, *costs_found, proven, interrupted, shallow, deeper, in_money(deeper_cost), proven)

    def _run_with_large_branches(
        self,
        rows: Rows,
        costs: LearningCosts,
        settings: Settings,
        work: float,
        seconds: float,
        tell: Callable[[float, float], bool] | None,
    ) -> Found:
        """Return the cheapest of some trees without small branches; proven if the best tree of all has none.

        The search does not know of the limit. If its tree breaks it, trees of higher leaf prices, which have fewer
        small branches, are searched for, and all are cut back.
        """
        limit = BranchLimit(rows, costs, self.min_cases, settings.leaf_price)
        deadline = Deadline(None if math.isinf(seconds) else seconds)
        asked: list[bool] = []

        def tell_first(cost: float, bound: float) -> bool:
            if tell is not None and tell(cost, bound):
                asked.append(True)
            return bool(asked)

        whole = self._run(rows, costs, settings, work, seconds / 2, tell_first)
        found = limit.kept(whole)
        for more in () if found.core is whole.core and found.deeper is whole.deeper else limit.leaf_prices():
            if found.interrupted or asked or deadline.remaining() <= 0:
                break
            other = self._run(rows, costs, replace(settings, leaf_price=more), work, deadline.remaining() / 2)
            found = found.better_of(limit.kept(limit.revalued(other)))
        if found.core is whole.core:
            return found
        return found._replace(bound=whole.objective if whole.proven else whole.bound, proven=False)


def no_test_cost(training: Training) -> float:
    """Return what a case costs without any test, above what its best answer costs."""
    costs = training.bound_costs.learning
    weights = training.class_weights()
    return float((weights @ costs.error_costs).min() / weights.sum()) * costs.unit


def leaf_prices(training: Training, n_cases: int | None = None) -> tuple[float, ...]:
    """Return the leaf prices to choose from, in the user's money; `n_cases`: how many learn, if not all of these."""
    n_cases = training.n_cases if n_cases is None else n_cases
    scale = no_test_cost(training) * min(1.0, SETTLED_CASES / max(n_cases, 1))
    return tuple(share * scale for share in LEAF_PRICES)


def fallback(
    training: Training,
    max_depth: int,
    leaf_price: float | None,
    soft_label_weight: float | None,
    deeper: bool | None = None,
) -> Settings:
    """Return settings for a search that nothing could be chosen for."""
    price = leaf_prices(training)[1] if leaf_price is None else leaf_price
    return Settings(max_depth, price, soft_label_weight or 0.0, bool(deeper))


def search_pieces(training: Training, leaf_price: float | None, soft_label_weight: float | None) -> list[Piece]:
    """Return the work that choosing settings and the search itself are expected to be."""
    soft = soft_label_weight != 0
    final = [*([ensemble_piece(training.n_cases)] if soft else []), exact_piece(WORK)]
    if leaf_price is not None and not soft:
        return final
    searches = (1 if leaf_price is not None else len(LEAF_PRICES)) * (
        len(LABEL_WEIGHTS) if soft_label_weight is None else 1
    )
    kept = training.n_cases * (N_FOLDS - 1) // N_FOLDS
    fold = [*([ensemble_piece(kept)] if soft else []), *[exact_piece(FOLD_WORK)] * searches]
    return fold * n_used(training.n_cases, N_FOLDS) + final


@dataclass(frozen=True, eq=False)
class SettingsChoice:
    """The chosen settings, the labels to learn from, and the trees of the folds."""

    settings: Settings
    labels: SoftLabels
    folds: list[FoldTree] | None = None


def choose_settings(
    training: Training,
    search: ExactSearch,
    max_depth: int,
    leaf_price: float | None,
    soft_label_weight: float | None,
    deeper: bool | None,
    deadline: Deadline,
    rng: np.random.Generator,
) -> SettingsChoice:
    """Return the settings whose trees cost least on cases that they were not learned from.

    What is given is not chosen. The usual settings, half soft labels, the leaf price in the middle and a tree that is
    grown further, are chosen unless others are clearly better; without soft labels, the simplest settings are.
    """
    own = SoftLabels.own(training)
    simple = fallback(training, max_depth, leaf_price, 0.0, deeper)
    if training.n_cases < 2 or training.n_classes < 2 or deadline.remaining() < 2 * seconds_needed(training):
        return SettingsChoice(simple, own)
    soft = soft_label_weight != 0 and has_values(training)
    weights = LABEL_WEIGHTS if soft_label_weight is None else (soft_label_weight,)
    prices = leaf_prices(training) if leaf_price is None else (leaf_price,)
    seed = int(rng.integers(2**31))
    fold_of = stratified_folds(training.classes, min(N_FOLDS, training.n_cases), rng)
    trials, half = list[_SettingsTrial](), deadline.fraction(0.5)
    for fold in range(n_used(training.n_cases, N_FOLDS)):
        kept, held_out = (training.take(np.flatnonzero(which)) for which in (fold_of != fold, fold_of == fold))
        labels = SoftLabels.by_ensemble(kept, seed, search.n_threads, boosted=True) if soft else SoftLabels.own(kept)
        trial = _SettingsTrial(kept, held_out, {})
        for weight in weights if soft else (0.0,):
            for leaf in prices:
                settings = Settings(max_depth, leaf, weight, deeper is not False)
                trial.search(search, labels, settings, half.remaining())
        if half.remaining() <= 0:
            break
        trials.append(trial)
    if not trials:
        return SettingsChoice(simple, own)
    if deeper:
        for trial in trials:
            trial.keep_deeper()
    usual = Settings(max_depth, prices[len(prices) // 2], weights[0] if soft else 0.0, deeper is not False)
    chosen = _chosen(trials, usual)
    # The cheapest settings look cheaper than they are on the cases that chose them: each fold uses those of the others.
    alone = len(trials) == 1
    by_others = [chosen if alone else _chosen(trials, usual, without=number) for number in range(len(trials))]
    folds = [
        FoldTree(trial.trees[own], trial.kept, trial.held_out) for trial, own in zip(trials, by_others, strict=True)
    ]
    labels = own
    if chosen.soft_label_weight > 0:
        labels = SoftLabels.by_ensemble(training, seed, search.n_threads, boosted=True)
    return SettingsChoice(chosen, labels, folds)


@dataclass(frozen=True, eq=False)
class _SettingsTrial:
    """Trees of all settings, learned from the kept cases of a fold."""

    kept: Training
    held_out: Training
    trees: dict[Settings, Any]

    def search(self, search: ExactSearch, labels: SoftLabels, settings: Settings, seconds: float) -> None:
        """Add the trees of these settings, and of lower depths."""
        rows, costs = labels.rows(settings.soft_label_weight), self.kept.bound_costs.learning
        found = search.run(rows, costs, settings, work=FOLD_WORK, seconds=seconds)
        if found.interrupted:  # half a search tells nothing about its settings
            raise KeyboardInterrupt
        shallow = [core for core, _ in found.by_depth][: settings.max_depth - 1]
        # Of depths that were not finished, the best tree so far is a tree of that depth, too.
        deep = [*shallow, *[found.core] * (settings.max_depth - len(shallow))]
        for depth, core in enumerate(deep, start=1):
            self.trees[Settings(depth, settings.leaf_price, settings.soft_label_weight)] = core
        if settings.deeper:
            self.trees[settings] = found.deeper

    def keep_deeper(self) -> None:
        """Drop all trees that were not grown further."""
        for settings in [each for each in self.trees if not each.deeper]:
            del self.trees[settings]

    def costs(self, settings: Settings) -> Floats:
        """Return what every held-out case costs, times its weight."""
        answers, prices = route_core(self.trees[settings], self.held_out, least_cost=True)
        total: Floats = self.held_out.errors_of(answers) + prices
        return total if self.held_out.weights is None else total * self.held_out.weights


def _chosen(trials: list[_SettingsTrial], usual: Settings, without: int | None = None) -> Settings:
    """Return the usual or the simplest settings, or others that are clearly better, by all folds but one."""
    used = [trial for number, trial in enumerate(trials) if number != without]
    settings = sorted(used[0].trees, key=Settings.complexity)
    costs = {each: np.concatenate([trial.costs(each) for trial in used]) for each in settings}
    best = min(settings, key=lambda each: costs[each].sum())

    def worse(one: Settings, other: Settings, errors: float) -> bool:
        """Return whether one costs more than the other by more than so many standard errors."""
        more = costs[one] - costs[other]
        return bool(more.sum() > errors * more.std() * math.sqrt(len(more)) + 1e-9 * abs(costs[one].sum()))

    if usual.soft_label_weight == 0:
        return next(each for each in settings if not worse(each, best, NOT_SIMPLE))
    better = [each for each in settings if worse(usual, each, OTHER_LABELS if each.same_size(usual) else OTHER_SIZE)]
    return min(better, key=lambda each: costs[each].sum(), default=usual)

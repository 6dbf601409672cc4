"""Growing a cascade: the models of all sets of tests, the rule between them, and what it costs out of fold."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.table_pricing import TablePricing
from worthwhile.learners.cascade.policy import Cascade, Stage, best_answers, expected_amounts, holding_shares
from worthwhile.learners.cascade.stage_models import (
    BOOSTING,
    CHOSEN,
    FOREST,
    Cases,
    StageModel,
    fit_model,
    importances,
)
from worthwhile.learners.cascade.stopping_rule import Outcomes, StageView, fit_rules
from worthwhile.learners.cascade.test_sets import TestSet, chains, free_tests
from worthwhile.learners.soft_labels import feature_owners, features_of
from worthwhile.learners.training import Training

__all__ = ["CascadeGrower"]

Floats = npt.NDArray[np.float64]
MAX_SETS = 18
# A test whose value this share of the training cases lacked is known to models as possibly missing.
MIN_MISSING, FEW_MISSING = 0.01, 3
# Sizes of leaves of forests that are tried, also a share of the cases; for so many sets, and for others as for the one
# nearest in size. On pima and heart, forests of most sets have the least log loss with the largest of 2, 6 and a
# fortieth of the cases, on car with 2.
LEAVES, LARGE_SHARE, LARGEST, N_TRIED = (2, 6), 40, 25, 3
MIN_LIKELIHOOD = 0.005  # a single sure error should not decide
RATES = 1e5  # budgets: rates from this many times below to above that of errors to prices
HALVINGS = 16


class CascadeGrower:
    """Fits models of sets of tests to training cases, and rules to their out-of-fold probabilities.

    Parameters
    ----------
    training : Training
    base : str or estimator
    n_trees : int
    by_cost : bool
        Whether answers are those of least expected cost.
    seed : int
    n_jobs : int
    """

    def __init__(self, training: Training, base: Any, n_trees: int, by_cost: bool, seed: int, n_jobs: int) -> None:
        self.training, self.context, self.base, self.by_cost = training, training.context, base, by_cost
        schema = training.schema
        self._arrays = schema.arrays(training.columns)
        features = features_of(schema, training.columns).astype(np.float32)
        self.cases = Cases(
            features,
            feature_owners(schema),
            training.classes,
            training.n_classes,
            training.weights,
            n_trees,
            seed,
            n_jobs,
        )
        n = training.n_cases
        self.weights = np.ones(n) if training.sample_weights is None else training.sample_weights
        self._pricing = TablePricing(self.context.bound_costs)
        self._missing = np.column_stack(
            [np.isnan(a) if values is None else a < 0 for values, a in zip(schema.values, self._arrays, strict=True)]
            or [np.zeros((n, 0), dtype=np.bool_)]
        )
        often = np.maximum(MIN_MISSING * n, FEW_MISSING)
        self.tolerated = self._missing.sum(axis=0) >= often
        labels = np.array(self.context.classes, dtype=object)[training.classes]
        self._amounts = self.context.amounts(training.columns, training.case_prices, labels)
        self.listed = self.context.bound_costs.prices.marginal
        if training.case_prices is not None:
            self.listed = np.average(training.case_prices, axis=0, weights=self.weights)
        self.importance = np.zeros(len(self.context.columns))
        self._leaves: dict[int, int] = {}  # by number of tests: the best size of leaves
        self._models: dict[TestSet, tuple[StageModel, Floats]] = {}

    # ---- sets of tests

    def sets(self) -> list[TestSet]:
        """Return the sets to try: first what costs nothing, then from cheap to expensive."""
        self.importance = importance = importances(self.cases, len(self.context.columns))
        pricing = self.context.pricing
        useful = [test for test, own in enumerate(importance.tolist()) if own > 0]
        amounts = self._mean_amounts()
        root = free_tests(pricing, useful, amounts, self._is_allowed)
        step, found = 1.3, list[TestSet]()
        while True:
            found = chains(importance, pricing, amounts, root, self._is_allowed, step)
            if len(found) <= MAX_SETS:
                return [root, *(tests for tests in found if tests > root)]
            step *= 1.2

    def _mean_amounts(self) -> list[float]:
        """Return what tests and surcharges cost on average."""
        if self._amounts is None:
            prices = self.context.bound_costs.prices
            return [*prices.marginal.tolist(), *prices.surcharge_amount.tolist()]
        found: list[float] = np.average(self._amounts, axis=0, weights=self.weights).tolist()
        return found

    def _is_allowed(self, tests: Iterable[int]) -> bool:
        """Return whether no case, of the list or in training, could pay more than the cap for these tests."""
        if self.context.cap is None:
            return True
        mask = self._mask(tests)[None, :]
        charged = self._pricing.order(self._pricing.nothing(1), mask)
        own = self.training.case_prices
        most = self.context.bound_costs.prices.marginal
        most = most if own is None else np.maximum(most, own.max(axis=0))
        return bool(self._pricing.within_cap(charged, most)[0])

    def _mask(self, tests: Iterable[int]) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(self.context.columns), dtype=np.bool_)
        found[sorted(tests)] = True
        return found

    # ---- models

    def choose_base(self, tests: TestSet) -> None:
        """Choose between a forest and boosting by what their answers from these tests cost out of fold."""
        if not (isinstance(self.base, str) and self.base == CHOSEN):
            return
        losses = {}
        for base in (FOREST, BOOSTING):
            shares = fit_model(self.cases, tests, base)[1]
            losses[base] = float(np.average(self._view(shares).loss, weights=self.weights))
        self.base = min(losses, key=lambda base: (losses[base], base != FOREST))

    def fit(self, tests: TestSet) -> float:
        """Fit the model of a set; return what it costs out of fold if all cases buy exactly this set."""
        if tests not in self._models:
            self._models[tests] = self._fitted(tests)
        view = self._view(self._models[tests][1])
        paid = self._pricing.price(self._charged(tests), self._amounts)
        return float(np.average(paid + view.loss, weights=self.weights))

    def _fitted(self, tests: TestSet) -> tuple[StageModel, Floats]:
        """Fit a model; for the first few sets, forests with leaves of several sizes compete, for others it is known."""
        if not tests or not (isinstance(self.base, str) and self.base == FOREST):
            return fit_model(self.cases, tests, self.base)
        if len(self._leaves) >= N_TRIED:
            nearest = min(self._leaves, key=lambda size: abs(math.log(size / len(tests))))
            return fit_model(replace(self.cases, min_leaf=self._leaves[nearest]), tests, self.base)
        n = self.training.n_cases
        sizes = sorted({*LEAVES, min(max(n // LARGE_SHARE, LEAVES[-1]), LARGEST)})
        found = {size: fit_model(replace(self.cases, min_leaf=size), tests, self.base) for size in sizes}
        best = min(found, key=lambda size: self._log_loss(found[size][1]))
        self._leaves[len(tests)] = best
        return found[best]

    def _log_loss(self, shares: Floats) -> float:
        likely = shares[np.arange(len(shares)), self.training.classes]
        return -float(np.average(np.log(np.maximum(likely, MIN_LIKELIHOOD)), weights=self.cases.weights))

    @property
    def fitted(self) -> list[TestSet]:
        """The sets with a model."""
        return list(self._models)

    def use_best_root(self, root: TestSet) -> None:
        """Replace the model of what costs nothing by class shares, unless it is better."""
        plain = fit_model(self.cases, frozenset(), self.base)
        own = self._models.setdefault(root, plain)
        losses = [np.average(self._view(shares).loss, weights=self.weights) for _, shares in (own, plain)]
        if losses[0] >= losses[1]:
            self._models[root] = plain

    def _view(self, shares: Floats) -> StageView:
        answers, believed = best_answers(shares, self.context.error_costs, self.by_cost)
        return StageView(believed, self.training.errors_of(answers))

    # ---- the rule

    def cascade(self, root: TestSet, budget: float | None = None) -> tuple[Cascade, Outcomes]:
        """Return the cascade over all sets with a model, and what it costs out of fold."""
        sets = sorted(self._models, key=lambda tests: (tests != root, len(tests), sorted(tests)))
        sets = [tests for tests in sets if tests >= root]
        if budget is None:
            return self._at_rate(sets, 1.0)
        rates = self._rates()
        found = self._at_rate(sets, rates[0])
        if self._average_price(found[1]) <= budget:
            return found
        low, high = rates
        best = self._at_rate(sets[:1], high)  # only what costs nothing
        for _ in range(HALVINGS):
            middle = math.sqrt(low * high)
            found = self._at_rate(sets, middle)
            if self._average_price(found[1]) <= budget * (1 + 1e-9):
                high, best = middle, found
            else:
                low = middle
        return best

    def _average_price(self, outcomes: Outcomes) -> float:
        return float(np.average(outcomes.price, weights=self.weights))

    def _rates(self) -> tuple[float, float]:
        errors = float(np.ptp(self.context.error_costs)) or 1.0
        unit = errors / (sum(price for price in self._mean_amounts() if price > 0) or 1.0)
        return unit / RATES, unit * RATES

    def _at_rate(self, sets: Sequence[TestSet], rate: float) -> tuple[Cascade, Outcomes]:
        views = [self._view(self._models[tests][1]) for tests in sets]
        delayed = frozenset(np.flatnonzero(self.context.bound_costs.prices.delayed).tolist())
        # A delayed result ends a case: everything is ordered with it.
        successors = [[] if tests & delayed else [j for j, other in enumerate(sets) if other > tests] for tests in sets]
        prices = functools.partial(self._prices, sets)
        rules, outcomes = fit_rules(views, successors, prices, self.training.classes, self.weights, rate)
        stages = [
            Stage(tests, self._models[tests][0], rule, self._holds(tests))
            for tests, rule in zip(sets, rules, strict=True)
        ]
        whole = Cascade(self.context, tuple(stages), rate, self.by_cost, self.listed, self.tolerated)
        first = self._pricing.price(self._charged(sets[0]), self._amounts)
        return whole.reachable(), replace(outcomes[0], price=outcomes[0].price + first)

    def _holds(self, tests: TestSet) -> Floats:
        return holding_shares(self.context, tests, self._arrays, self.weights)

    def _charged(self, tests: TestSet, before: TestSet | None = None) -> npt.NDArray[np.bool_]:
        """Return what the cases were charged for once they have bought a set at once, after another one."""
        found = self._pricing.nothing(self.training.n_cases) if before is None else self._charged(before)
        return self._pricing.order(found, self._mask(tests) & ~self._missing)

    def _prices(self, sets: Sequence[TestSet], stage: int, target: int) -> tuple[Floats, Floats]:
        """Return what going from a stage to a larger set is expected to cost each case, and what it costs."""
        here, there = sets[stage], sets[target]
        before = self._charged(here)
        shares = self._models[here][1]
        amounts = expected_amounts(self.context, self.listed, here, self._holds(here), self._arrays, shares)
        ordered = self._pricing.order(before, self._mask(there - here) & ~before[:, : self._pricing.n_tests])
        expected = self._pricing.price(ordered, amounts) - self._pricing.price(before, amounts)
        paid = self._pricing.price(self._charged(there, here), self._amounts)
        return expected, paid - self._pricing.price(before, self._amounts)

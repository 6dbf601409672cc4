"""Growing a cascade: the models of all sets of tests, the rule between them, and what it costs out of fold."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.table_pricing import TablePricing
from worthwhile.learners.cascade.budget_frontier import BudgetFrontier
from worthwhile.learners.cascade.cost_levels import CostLevels
from worthwhile.learners.cascade.policy import Cascade, Stage, best_answers, expected_amounts, holding_shares
from worthwhile.learners.cascade.stage_models import (
    BOOSTING,
    CHOSEN,
    FOREST,
    Cases,
    ForestShape,
    StageModel,
    fit_model,
    importances,
    log_loss,
)
from worthwhile.learners.cascade.stopping_rule import (
    Outcomes,
    Prices,
    RuleFitter,
    StageView,
    cross_fitted,
    sure_gain,
    walked,
)
from worthwhile.learners.cascade.test_sets import TestSet, chains, free_tests, within_budget
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.result_shares import ResultShares, result_shares
from worthwhile.learners.soft_labels import feature_owners, features_of
from worthwhile.learners.training import Training

__all__ = ["CascadeGrower"]

Floats = npt.NDArray[np.float64]
Recipe = tuple[str, ForestShape | None]  # kind of model, and shape of a forest
MAX_SETS = 18
FILLED = 0.8  # of a budget: if no set costs as much, sets are made for it
# A test whose value this share of the training cases lacked is known to models as possibly missing.
MIN_MISSING, FEW_MISSING = 0.01, 3
# Sizes of leaves of forests that are tried, also a share of the cases; for so many sets, and for others as for the one
# nearest in size. On pima and heart, forests of most sets have the least log loss with the largest of 2, 6 and a
# fortieth of the cases, on car with 2.
SMALL_LEAF, LARGE_SHARE, LARGEST, WIDE, N_TRIED = 4, 40, 25, 0.8, 3
MARGIN = 0.5  # standard errors by which a cascade must be cheaper than what costs nothing
TRIES, SHRINK = 5, 0.9  # to keep to a budget on cases that did not choose the rate
ROUNDING = 1e-9
RATES = 1e5  # budgets: rates from this many times below to above that of errors to prices


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
    deadline : Deadline
    """

    def __init__(
        self,
        training: Training,
        base: Any,
        n_trees: int,
        by_cost: bool,
        seed: int,
        n_jobs: int,
        deadline: Deadline,
    ) -> None:
        self.training, self.context, self.base, self.by_cost = training, training.context, base, by_cost
        self._deadline = deadline
        schema = training.schema
        self._arrays = schema.arrays(training.columns)
        features = features_of(schema, training.columns).astype(np.float32)
        n = training.n_cases
        self.weights = np.ones(n) if training.sample_weights is None else training.sample_weights
        self.levels, own = CostLevels.plain(self.context.error_costs), training.classes
        if training.case_errors is not None and by_cost:
            self.levels, own = CostLevels.of_cases(training.case_errors, own, self.levels.errors, self.weights)
        self.levels, self._base = self.levels.above_base(), np.zeros(n)
        if self.levels.base is not None:
            self._base = self.levels.base[own]
            if not by_cost:  # models of weighted cases do not say how likely the classes are
                mean = float(np.average(self._base, weights=self.weights))
                self.levels = replace(self.levels, base=np.full_like(self.levels.base, mean))
        self.cases = Cases(
            features,
            feature_owners(schema),
            own,
            len(self.levels.owners),
            training.weights,
            n_trees,
            seed,
            n_jobs,
        )
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
        self.recipes: dict[int, Recipe] = {}  # by number of tests: the best kind of model
        self.seconds = 0.0  # that the slowest of the models took
        self._models: dict[TestSet, tuple[StageModel, Floats]] = {}
        self._prices_known: dict[tuple[TestSet, TestSet], tuple[Floats, Floats]] = {}
        self._fitters: dict[tuple[TestSet, ...], RuleFitter] = {}
        self._frontiers: dict[tuple[TestSet, ...], BudgetFrontier] = {}
        self._cross_fits: dict[tuple[tuple[TestSet, ...], float, int | None], Outcomes] = {}

    # ---- sets of tests

    def sets(self, budgets: Iterable[float] = ()) -> list[TestSet]:
        """Return the sets to try: first what costs nothing, then from cheap to expensive; some fill budgets."""
        self.importance = importance = importances(self.cases, len(self.context.columns))
        pricing = self.context.pricing
        useful = [test for test, own in enumerate(importance.tolist()) if own > 0]
        amounts = self._mean_amounts()
        root = free_tests(pricing, useful, amounts, self._is_allowed)
        problem = importance, pricing, amounts, root, self._is_allowed
        step, found = 1.3, list[TestSet]()
        while True:
            found = chains(*problem, step)
            if len(found) <= MAX_SETS:
                break
            step *= 1.2

        def price(tests: TestSet) -> float:
            return pricing.price(pricing.order(tests - root, root), root, amounts)

        for budget in budgets:
            if not any(FILLED * budget <= price(tests) <= budget for tests in found):
                found += within_budget(*problem, budget)
        larger = {tests for tests in found if tests > root}
        return [root, *sorted(larger, key=lambda tests: (price(tests), len(tests), sorted(tests)))]

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

    def fit(self, tests: TestSet) -> float:
        """Fit the model of a set; return what it costs out of fold if all cases buy exactly this set."""
        if tests not in self._models:
            self._models[tests] = self._fitted(tests)
        view = self._view(self._models[tests][1])
        paid = self._pricing.price(self._charged(tests), self._amounts)
        return float(np.average(paid + view.loss + self._base, weights=self.weights))

    def _fitted(self, tests: TestSet) -> tuple[StageModel, Floats]:
        """Fit a model; for the first few sets, several kinds of models compete, for others it is known which."""
        if not tests or not isinstance(self.base, str):
            recipes: list[tuple[Any, ...]] = [(self.base,)]
        elif len(self.recipes) >= N_TRIED:
            recipes = [self.recipes[min(self.recipes, key=lambda size: abs(math.log(size / len(tests))))]]
        else:
            recipes = [*self._kinds()]
        found: dict[Any, tuple[StageModel, Floats]] = {}
        seconds: dict[Any, float] = {}
        for recipe in recipes:
            start = time.monotonic()
            found[recipe] = fit_model(self.cases, tests, *recipe)
            seconds[recipe] = time.monotonic() - start
            if self._deadline.remaining() < 2 * MAX_SETS * seconds[recipe]:
                break  # models of all sets come first
        best = recipes[0]
        if len(recipes) > 1:
            best = min(found, key=lambda recipe: log_loss(self.cases, found[recipe][1]))
            self.recipes[len(tests)] = best
        self.seconds = max(self.seconds, seconds[best])
        return found[best]

    def _kinds(self) -> list[Recipe]:
        """Return the models that compete."""
        large = min(max(self.training.n_cases // LARGE_SHARE, SMALL_LEAF), LARGEST)
        shapes = [
            ForestShape(1),
            ForestShape(SMALL_LEAF),
            ForestShape(large),
            *(ForestShape(leaf, WIDE, True) for leaf in (1, SMALL_LEAF)),
            ForestShape(1, WIDE),
        ]
        forests: list[Recipe] = [(FOREST, shape) for shape in dict.fromkeys(shapes)]
        boosting: list[Recipe] = [(BOOSTING, None)]
        return {FOREST: forests, BOOSTING: boosting, CHOSEN: forests + boosting}[self.base]

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
        for known in (self._prices_known, self._fitters, self._frontiers, self._cross_fits):
            known.clear()  # surcharges depend on what models say

    def _view(self, shares: Floats) -> StageView:
        answers, believed = best_answers(shares, self.levels.errors, self.by_cost)
        return StageView(believed, self.training.errors_of(answers) - self._base)

    # ---- the rule

    def cascade(self, root: TestSet, budget: float | None = None) -> tuple[Cascade, Outcomes]:
        """Return the cascade over all sets with a model, and what it costs on the cases that chose its edges."""
        sets = self._sets_from(root)
        return self._at_rate(sets, *self._choice(sets, budget))

    def validated(self, root: TestSet, budget: float | None = None) -> tuple[Cascade, Outcomes]:
        """Return the cascade, and what it costs by rules fitted to other cases.

        Unless it is clearly cheaper there than what costs nothing, no test is bought; within a budget, only
        errors count.
        """
        sets = self._sets_from(root)
        rate, first, cascade = self._within(sets, budget)
        nothing = self._at_rate(sets[:1], rate)
        if len(cascade.stages) == 1:
            return nothing
        key = tuple(sets), rate, first
        if key not in self._cross_fits:
            views, successors, prices = self._problem(sets)
            if first is not None:
                successors[0] = [first]
            own = cross_fitted(views, successors, prices, self.training.classes, self.weights, rate)
            self._cross_fits[key] = self._in_all(own, root)
        own = self._cross_fits[key]
        counted = rate if budget is None else 0.0
        if sure_gain(nothing[1].cost(counted) - own.cost(counted), self.weights, MARGIN) <= 0:
            return nothing
        return cascade, own

    def _within(self, sets: Sequence[TestSet], budget: float | None) -> tuple[float, int | None, Cascade]:
        """Return a rate, a first set, and the cascade that they make, which keeps to a budget."""
        target = budget
        for _ in range(TRIES):
            rate, first = self._choice(sets, target)
            cascade = self._at_rate(sets, rate, first)[0]
            if budget is None or target is None or (spent := self._spent(cascade)) <= budget * (1 + ROUNDING):
                break
            target *= max(budget / spent, SHRINK)  # folds chose it, and the rules of all cases cost a little more
        return rate, first, cascade

    def _sets_from(self, root: TestSet) -> list[TestSet]:
        sets = sorted(self._models, key=lambda tests: (tests != root, len(tests), sorted(tests)))
        return [tests for tests in sets if tests >= root]

    def _choice(self, sets: Sequence[TestSet], budget: float | None) -> tuple[float, int | None]:
        """Return the rate, and the set that cases begin with (None: the best by that rate)."""
        if budget is None:
            return 1.0, None
        key = tuple(sets)
        if key not in self._frontiers:
            root_price = float(np.average(self._first_price(sets[0]), weights=self.weights))
            self._frontiers[key] = BudgetFrontier(self._fitter(sets), self.weights, root_price, self._rates())
        best = self._frontiers[key].best(budget)
        return (self._rates()[1], None) if best is None else (best.rate, best.first)

    def _rates(self) -> tuple[float, float]:
        errors = float(np.ptp(self.levels.errors)) or 1.0
        unit = errors / (sum(price for price in self._mean_amounts() if price > 0) or 1.0)
        return unit / RATES, unit * RATES

    def _problem(self, sets: Sequence[TestSet]) -> tuple[list[StageView], list[list[int]], Prices]:
        """Return what the rules of some sets are fitted to: views, larger sets, prices."""
        views = [self._view(self._models[tests][1]) for tests in sets]
        delayed = frozenset(np.flatnonzero(self.context.bound_costs.prices.delayed).tolist())
        # A delayed result ends a case: everything is ordered with it.
        successors = [[] if tests & delayed else [j for j, other in enumerate(sets) if other > tests] for tests in sets]
        return views, successors, functools.partial(self._prices, sets)

    def _fitter(self, sets: Sequence[TestSet]) -> RuleFitter:
        key = tuple(sets)
        if key not in self._fitters:
            self._fitters[key] = RuleFitter(*self._problem(sets), self.training.classes, self.weights)
        return self._fitters[key]

    def _at_rate(self, sets: Sequence[TestSet], rate: float, first: int | None = None) -> tuple[Cascade, Outcomes]:
        rules, outcomes = self._fitter(sets).fit(rate, first)
        stages = [
            Stage(tests, self._models[tests][0], rule, self._holds(tests))
            for tests, rule in zip(sets, rules, strict=True)
        ]
        whole = Cascade(self.context, tuple(stages), rate, self.by_cost, self.listed, self.tolerated, self.levels)
        return whole.reachable(), self._in_all(outcomes[0], sets[0])

    def _in_all(self, outcomes: Outcomes, root: TestSet) -> Outcomes:
        """Return outcomes with what every case pays at first, and with what it costs whatever the answer."""
        return replace(outcomes, price=outcomes.price + self._first_price(root), loss=outcomes.loss + self._base)

    def _walked(self, cascade: Cascade) -> tuple[Outcomes, npt.NDArray[np.intp]]:
        """Return what cases pay and lose by a cascade, with models not trained on them, and where they end."""
        views, _, prices = self._problem([stage.tests for stage in cascade.stages])
        return walked([stage.rule for stage in cascade.stages], views, prices, cascade.rate)

    def _spent(self, cascade: Cascade) -> float:
        price = self._walked(cascade)[0].price + self._first_price(cascade.stages[0].tests)
        return float(np.average(price, weights=self.weights))

    def results(self, cascade: Cascade) -> dict[str, ResultShares]:
        """Return what tests said where the cascade asks for them, by models that were not trained on the case."""
        _, ends = self._walked(cascade)
        return result_shares(self.context.schema, self._arrays, cascade.masks[ends], self.weights)

    def _first_price(self, root: TestSet) -> Floats:
        return self._pricing.price(self._charged(root), self._amounts)

    def _holds(self, tests: TestSet) -> Floats:
        return holding_shares(self.context, tests, self._arrays, self.weights)

    def _charged(self, tests: TestSet, before: TestSet | None = None) -> npt.NDArray[np.bool_]:
        """Return what the cases were charged for once they have bought a set at once, after another one."""
        found = self._pricing.nothing(self.training.n_cases) if before is None else self._charged(before)
        return self._pricing.order(found, self._mask(tests) & ~self._missing)

    def _prices(self, sets: Sequence[TestSet], stage: int, target: int) -> tuple[Floats, Floats]:
        """Return what going from a stage to a larger set is expected to cost each case, and what it costs."""
        step = sets[stage], sets[target]
        if step not in self._prices_known:
            self._prices_known[step] = self._step_prices(*step)
        return self._prices_known[step]

    def _step_prices(self, here: TestSet, there: TestSet) -> tuple[Floats, Floats]:
        before = self._charged(here)
        shares = self.levels.class_shares(self._models[here][1])
        amounts = expected_amounts(self.context, self.listed, here, self._holds(here), self._arrays, shares)
        ordered = self._pricing.order(before, self._mask(there - here) & ~before[:, : self._pricing.n_tests])
        expected = self._pricing.price(ordered, amounts) - self._pricing.price(before, amounts)
        paid = self._pricing.price(self._charged(there, here), self._amounts)
        return expected, paid - self._pricing.price(before, self._amounts)

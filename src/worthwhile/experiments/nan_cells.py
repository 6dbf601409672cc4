"""The cells of Nan, Wang & Saligrama (2015): the learners, and what is measured of them at ten points.

What the points are depends on the learner: 1 to 10 trees (table 1), ten budgets (figure 4), or trees of depth 1 to 10
(figure 5). A price is what the tests of a case cost on average, as a share of the price of all tests; in figure 5 what
they cost at most, in money. An error is a share of wrong answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from worthwhile import _core
from worthwhile.costs.costs import Costs
from worthwhile.experiments.engine import Cell, Family, Numbers, parameters_of, seed_of
from worthwhile.experiments.nan_data import DATA, LARGE, UNIT, Cases, cases_of, costs_of, parts
from worthwhile.experiments.rivals import BoostedTrees, PlainForest, Step
from worthwhile.learners.forest.classifier import BudgetForestClassifier
from worthwhile.learners.training import Training
from worthwhile.learners.tree_classifier import TreeClassifier
from worthwhile.tree.json_format import MAX_DEPTH
from worthwhile.tree.tree import Tree

__all__ = ["BY_BUDGET", "FAMILY", "LEARNERS", "POINTS", "SHARES", "GreedyTreeClassifier", "measure"]

POINTS = 10
# The budgets of figure 4, in the price of all tests together; more of them where it is scarce.
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8)
PAPER_TREES, MOST_TREES = 40, 60  # of BudgetRF as published; of the forests that it is compared with
SLACK = 1e-9  # relative, of an average price against a budget

MEASURES = ("valid_price", "valid_error", "price", "error")
NUMBERS = (*(f"{measure}_{i}" for measure in MEASURES for i in range(1, POINTS + 1)), "seconds")


class Setting(NamedTuple):
    """What one of the things that a learner can choose from costs: on the cases to choose by, and on those to test."""

    valid_price: float
    valid_error: float
    price: float
    error: float


@dataclass(frozen=True, eq=False)
class Problem:
    """What a learner gets."""

    grow: Cases
    choose: Cases
    test: Cases
    costs: Costs
    seed: int

    @property
    def prices(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([self.costs.price(name) for name in self.grow.columns])

    @property
    def budgets(self) -> list[float]:
        """What a case may cost, on average, at each point of figure 4."""
        return [share * self.costs.total_price() for share in SHARES]

    @property
    def nominal(self) -> list[int]:
        """The places of the nominal columns."""
        return [i for i, name in enumerate(self.grow.columns) if name in self.grow.nominal]


@dataclass(frozen=True)
class Learner:
    """What a learner is called in the tables, how it is measured, and about how many seconds it takes per effort."""

    label: str
    settings: Callable[..., Sequence[Setting]]  # of a Problem and the cell's parameters: one per point
    seconds: float = 1.0


# ---- by number of trees


def _budget_rf_by_trees(problem: Problem, **parameters: Any) -> list[Setting]:
    """Return what 1 to 10 trees of BudgetRF cost."""
    return _curve(problem, _forest(problem, max_trees=POINTS, **parameters).fit(problem.grow.X, problem.grow.y))[1:]


def _plain_by_trees(problem: Problem) -> list[Setting]:
    return _steps(problem, PlainForest(POINTS, problem.seed).fit(problem.grow.X, problem.grow.y))


def _forest(problem: Problem, **parameters: Any) -> BudgetForestClassifier:
    return BudgetForestClassifier(
        costs=problem.costs,
        nominal=problem.grow.nominal,
        columns=problem.grow.columns,
        validation=(problem.choose.X, problem.choose.y),
        random_state=problem.seed,
        **parameters,
    )


def _curve(problem: Problem, forest: BudgetForestClassifier) -> list[Setting]:
    """Return what every part of a fitted forest costs, the order being that of its own curve."""
    measured = forest.budget_curve(problem.test.X, problem.test.y)
    known = [record for grown in forest.forests_ for record in grown.curve]
    return [Setting(v.price, v.error, t.price, t.error) for v, t in zip(known, measured, strict=True)]


def _steps(problem: Problem, ensemble: PlainForest | BoostedTrees) -> list[Setting]:
    pairs = zip(
        *(ensemble.steps(cases.X, cases.y, problem.prices) for cases in (problem.choose, problem.test)), strict=True
    )
    return [Setting(*_numbers(known), *_numbers(measured)) for known, measured in pairs]


def _numbers(step: Step) -> tuple[float, float]:
    return step.price, step.error


# ---- by budget


def _forest_by_budget(problem: Problem, **parameters: Any) -> list[Setting]:
    """Return what a forest costs at each budget, cut by `with_budget`; parts that several budgets lead to, once."""
    forest = _forest(problem, **({"max_trees": PAPER_TREES} | parameters)).fit(problem.grow.X, problem.grow.y)
    found: dict[int, Setting] = {}
    chosen_ones = [forest.with_budget(budget) for budget in problem.budgets]
    for part in chosen_ones:
        if id(part.record_) not in found:
            answers, prices = part.predict_with_prices(problem.test.X)
            wrong = float(np.mean(answers != problem.test.y))
            found[id(part.record_)] = Setting(part.record_.price, part.record_.error, float(prices.mean()), wrong)
    return [found[id(part.record_)] for part in chosen_ones]


def _adaptive_by_budget(problem: Problem, **parameters: Any) -> list[Setting]:
    return _forest_by_budget(problem, adaptive=True, max_trees=MOST_TREES, **parameters)


def _boosted_by_budget(kind: str) -> Callable[..., list[Setting]]:
    def settings(problem: Problem, tradeoff: float) -> list[Setting]:
        model = BoostedTrees(kind, tradeoff, problem.seed)
        model.fit(problem.grow.X, problem.grow.y, problem.prices, problem.nominal)
        return chosen([no_test(problem), *_steps(problem, model)], problem.budgets)

    return settings


def _plain_by_budget(problem: Problem) -> list[Setting]:
    model = PlainForest(MOST_TREES, problem.seed).fit(problem.grow.X, problem.grow.y)
    return chosen([no_test(problem), *_steps(problem, model)], problem.budgets)


def no_test(problem: Problem) -> Setting:
    """Return what the most frequent class costs."""
    labels, counts = np.unique(problem.grow.y, return_counts=True)
    errors = [float((cases.y != labels[counts.argmax()]).mean()) for cases in (problem.choose, problem.test)]
    return Setting(0.0, errors[0], 0.0, errors[1])


def chosen(settings: Iterable[Setting], budgets: Sequence[float]) -> list[Setting]:
    """Return, for each budget, the setting within it that errs least on the cases to choose by; of equals the cheapest.

    Examples
    --------
    >>> settings = [Setting(0, 0.5, 0, 0.5), Setting(3, 0.2, 3, 0.25), Setting(4, 0.2, 4, 0.1), Setting(5, 0.1, 5, 0.3)]
    >>> [setting.price for setting in chosen(settings, [2, 4, 6])]
    [0, 3, 5]
    """
    settings = list(settings)
    return [
        min(
            (s for s in settings if s.valid_price <= budget * (1 + SLACK)), key=lambda s: (s.valid_error, s.valid_price)
        )
        for budget in budgets
    ]


# ---- by depth


@dataclass(kw_only=True, eq=False, repr=False)
class GreedyTreeClassifier(TreeClassifier):
    """One tree of BudgetRF, grown from the cases as they are, with all cuts.

    Parameters
    ----------
    impurity, alpha, power, max_depth, costs, nominal, columns :
        As of `BudgetForestClassifier`.

    Attributes
    ----------
    tree_ : Tree

    Examples
    --------
    >>> tree = GreedyTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> tree.predict([[1, 0], [1, 1]]).tolist()
    [1, 0]
    """

    impurity: str = "pairs"
    alpha: float = 0.0
    power: float = 2.0
    max_depth: int | None = None

    def _learn(self, training: Training) -> None:
        [core] = _core.grow_forest(
            training.table,
            training.classes,
            training.n_classes,
            np.ones((1, len(training.classes))),
            training.bound_costs.core_pricing,
            impurity=self.impurity,
            parameter=self.alpha if self.impurity == "pairs" else self.power,
            expected=False,
            cuts="exact",
            context=False,
            max_depth=MAX_DEPTH if self.max_depth is None else self.max_depth,
            seeds=[0],
            n_threads=1,
        )
        self.tree_ = Tree.from_core(core, training.context)


def _tree_by_depth(problem: Problem, **parameters: Any) -> list[Setting]:
    """Return what the dearest case pays, and the error, in trees of depth 1 to 10, on the cases they are grown from."""
    cases, found = problem.grow, []
    for depth in range(1, POINTS + 1):
        tree = GreedyTreeClassifier(
            costs=problem.costs, nominal=cases.nominal, columns=cases.columns, max_depth=depth, **parameters
        ).fit(cases.X, cases.y)
        answers, prices = tree.predict_with_prices(cases.X)
        price, error = float(prices.max()), float((answers != cases.y).mean())
        found.append(Setting(price, error, price, error))
    return found


# A new learner is a line here.
LEARNERS: Mapping[str, Learner] = {
    "budget-rf": Learner("BudgetRF", _budget_rf_by_trees, 0.6),
    "budget-rf-chosen": Learner("BudgetRF, sampling chosen", _budget_rf_by_trees, 1.0),
    "random-forest": Learner("random forest", _plain_by_trees, 0.5),
    "adaptive": Learner("BudgetForest, adaptive", _adaptive_by_budget, 12.0),
    "budget": Learner("BudgetRF", _forest_by_budget, 1.0),
    "lazy": Learner("CEGB, lazy", _boosted_by_budget("lazy"), 2.0),
    "coupled": Learner("CEGB, coupled", _boosted_by_budget("coupled"), 1.2),
    "plain": Learner("random forest", _plain_by_budget, 1.5),
    "greedy-tree": Learner("GreedyTree", _tree_by_depth, 1.0),
}
BY_BUDGET = ("adaptive", "budget", "lazy", "coupled", "plain")


def measure(cell: Cell, folder: str | None) -> Numbers:
    """Measure a learner at its ten points."""
    seed = seed_of(cell)
    if cell.data in LARGE:
        grow, choose, test = parts(cell.data, cell.split, folder)
        problem = Problem(grow, choose, test, costs_of(cell.data, cell.prices, cell.split, grow), seed)
    else:
        cases = cases_of(cell.data, folder)
        problem = Problem(cases, cases, cases, costs_of(cell.data, UNIT, cell.split, cases), seed)
    start = time.perf_counter()
    settings = LEARNERS[cell.learner].settings(problem, **parameters_of(cell.parameters))
    seconds = time.perf_counter() - start
    unit = problem.costs.total_price() if cell.data in LARGE else 1.0
    numbers = {"seconds": seconds}
    for i, setting in enumerate(settings, start=1):
        for name, value in zip(MEASURES, setting, strict=True):
            numbers[f"{name}_{i}"] = value / unit if name.endswith("price") else value
    return numbers


def weight(cell: Cell) -> float:
    """Return about how many seconds a cell takes."""
    return LEARNERS[cell.learner].seconds * DATA[cell.data].effort


FAMILY = Family("nan", NUMBERS, cases_of, measure, weight, partial=True)

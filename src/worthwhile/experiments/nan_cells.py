"""The cells of Nan, Wang & Saligrama (2015): the learners, and what is measured at ten points.

The points are 1 to 10 trees (table 1), ten budgets (figure 4, rankings), or trees of depth 1 to 10 (figure 5). A price
is the average price of the tests of a case, as a share of the price of all tests; in figure 5 it is the highest price
that any case pays. An error is a share of wrong answers; of rankings, one minus the Average Precision@5.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.costs import Costs
from worthwhile.evaluation.metrics import average_precision_at
from worthwhile.experiments.engine import Cell, Family, Numbers, parameters_of, seed_of
from worthwhile.experiments.nan_data import DATA, LARGE, QUERY, RELEVANT, UNIT, cases_of, costs_of, parts
from worthwhile.experiments.problems import CaseSet
from worthwhile.experiments.rivals import BoostedTrees, PlainForest, Predictor, catboost_sets, selected_sets
from worthwhile.learners.cascade.classifier import CascadeClassifier
from worthwhile.learners.forest.classifier import BudgetForestClassifier
from worthwhile.learners.training import Training
from worthwhile.learners.tree_classifier import TreeClassifier
from worthwhile.tree.json_format import MAX_DEPTH
from worthwhile.tree.tree import Tree

__all__ = ["BY_BUDGET", "BY_RANK", "FAMILY", "LEARNERS", "POINTS", "SHARES", "GreedyTreeClassifier", "measure"]

Floats = npt.NDArray[np.float64]

POINTS = 10
# The budgets of figure 4, as shares of the price of all tests; denser where they are small.
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0)
MOST_CASES = 3_000, 10_000  # to train and to test in figure 4: all methods with all their settings run on ten splits
PAPER_TREES, MOST_TREES = 40, 60  # of BudgetRF as published; of the forests it is compared with
# Of a budget, for cascades: on other cases they cost a little more or less, and the validation cases choose.
ROOM = (1.0, 0.85)
SLACK = 1e-9  # relative tolerance of an average price compared with a budget

MEASURES = ("valid_price", "valid_error", "price", "error")
NUMBERS = (*(f"{measure}_{i}" for measure in MEASURES for i in range(1, POINTS + 1)), "seconds")


class Setting(NamedTuple):
    """What one setting of a learner costs on the validation cases and on the test cases."""

    valid_price: float
    valid_error: float
    price: float
    error: float


@dataclass(frozen=True, eq=False)
class NanProblem:
    """What a learner is given: cases, costs and a seed."""

    train: CaseSet
    validation: CaseSet
    test: CaseSet
    costs: Costs
    seed: int
    relevant: str = ""  # the class of relevant cases, in rankings

    @property
    def prices(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The price of each column."""
        return np.array([self.costs.price(name) for name in self.train.columns])

    @property
    def budgets(self) -> list[float]:
        """The average price per case that is allowed at each point of figure 4."""
        return [share * self.costs.total_price() for share in SHARES]

    @property
    def nominal(self) -> list[int]:
        """The positions of the nominal columns."""
        return [i for i, name in enumerate(self.train.columns) if name in self.train.nominal]


@dataclass(frozen=True)
class NanLearner:
    """A learner: its name in tables, how it is measured, and roughly how many seconds it takes per effort."""

    label: str
    settings: Callable[..., Sequence[Setting]]  # takes a NanProblem and the cell's parameters; one per point
    seconds: float = 1.0


# ---- by number of trees


def _budget_rf_by_trees(problem: NanProblem, **parameters: Any) -> list[Setting]:
    """Return what 1 to 10 trees of BudgetRF cost."""
    return _curve(problem, _forest(problem, max_trees=POINTS, **parameters).fit(problem.train.X, problem.train.y))[1:]


def _plain_by_trees(problem: NanProblem) -> list[Setting]:
    return _staged(problem, PlainForest(POINTS, problem.seed).fit(problem.train.X, problem.train.y))


def _forest(problem: NanProblem, **parameters: Any) -> BudgetForestClassifier:
    return BudgetForestClassifier(
        variant="paper",
        answer="majority",  # as published
        costs=problem.costs,
        nominal=problem.train.nominal,
        columns=problem.train.columns,
        validation=(problem.validation.X, problem.validation.y),
        random_state=problem.seed,
        **parameters,
    )


def _curve(problem: NanProblem, forest: BudgetForestClassifier) -> list[Setting]:
    """Return what every part of a fitted forest costs, in the order of its own curve."""
    measured = forest.budget_curve(problem.test.X, problem.test.y)
    known = [record for grown in forest.forests_ for record in grown.curve]
    return [Setting(v.price, v.error, t.price, t.error) for v, t in zip(known, measured, strict=True)]


def _staged(problem: NanProblem, ensemble: PlainForest | BoostedTrees) -> list[Setting]:
    pairs = zip(
        *(ensemble.staged_costs(cases.X, cases.y, problem.prices) for cases in (problem.validation, problem.test)),
        strict=True,
    )
    return [Setting(valid.price, valid.error, test.price, test.error) for valid, test in pairs]


# ---- by budget


def _forest_by_budget(problem: NanProblem, **parameters: Any) -> list[Setting]:
    """Return what a forest costs at each budget, by `with_budget`; equal parts are measured once."""
    forest = _forest(problem, **({"max_trees": PAPER_TREES} | parameters)).fit(problem.train.X, problem.train.y)
    found: dict[int, Setting] = {}
    chosen_ones = [forest.with_budget(budget) for budget in problem.budgets]
    for part in chosen_ones:
        if id(part.record_) not in found:
            answers, prices = part.predict_with_prices(problem.test.X)
            wrong = float(np.mean(answers != problem.test.y))
            found[id(part.record_)] = Setting(part.record_.price, part.record_.error, float(prices.mean()), wrong)
    return [found[id(part.record_)] for part in chosen_ones]


def _adaptive_by_budget(problem: NanProblem, **parameters: Any) -> list[Setting]:
    return _forest_by_budget(problem, adaptive=True, max_trees=MOST_TREES, **parameters)


def _cascade_by_budget(problem: NanProblem, **parameters: Any) -> list[Setting]:
    """Return what cascades cost, one for each budget; all are made of the same models."""
    train = problem.train
    learner = CascadeClassifier(
        costs=problem.costs,
        nominal=train.nominal,
        columns=train.columns,
        random_state=problem.seed % 2**31,
        **parameters,
    )
    found = [no_test(problem)]
    budgets = [room * budget for budget in problem.budgets for room in ROOM]
    for part in learner.fit_budgets(train.X, train.y, budgets):
        measured = []
        for cases in (problem.validation, problem.test):
            answers, prices = part.predict_with_prices(cases.X)
            measured += [float(prices.mean()), float(np.mean(answers != cases.y))]
        found.append(Setting(*measured))
    return chosen(found, problem.budgets)


def _boosted_by_budget(kind: str) -> Callable[..., list[Setting]]:
    def settings(problem: NanProblem, tradeoff: float) -> list[Setting]:
        model = BoostedTrees(kind, tradeoff, problem.seed)
        model.fit(problem.train.X, problem.train.y, problem.prices, problem.nominal)
        return chosen([no_test(problem), *_staged(problem, model)], problem.budgets)

    return settings


def _plain_by_budget(problem: NanProblem) -> list[Setting]:
    model = PlainForest(MOST_TREES, problem.seed).fit(problem.train.X, problem.train.y)
    return chosen([no_test(problem), *_staged(problem, model)], problem.budgets)


def _selected_by_budget(kind: str) -> Callable[..., list[Setting]]:
    def settings(problem: NanProblem, power: float) -> list[Setting]:
        seed, train = problem.seed % 2**31, problem.train  # LightGBM takes no larger one
        sets = selected_sets(kind, train.X, train.y, problem.prices, power, MOST_TREES, seed, problem.nominal)
        return _sets_by_budget(problem, sets)

    return settings


def _catboost_by_budget(problem: NanProblem, coefficient: float) -> list[Setting]:
    train = problem.train
    return _sets_by_budget(problem, catboost_sets(train.X, train.y, problem.prices, coefficient, problem.seed % 2**31))


def _sets_by_budget(problem: NanProblem, sets: Iterable[tuple[Any, Predictor]]) -> list[Setting]:
    """Return the best set of tests, bought for all cases, at each budget."""
    found = [no_test(problem)]
    for tests, answer in sets:
        price = float(problem.prices[tests].sum())
        errors = [float((answer(cases.X) != cases.y).mean()) for cases in (problem.validation, problem.test)]
        found.append(Setting(price, errors[0], price, errors[1]))
    return chosen(found, problem.budgets)


def no_test(problem: NanProblem) -> Setting:
    """Return what answering the most frequent class costs."""
    labels, counts = np.unique(problem.train.y, return_counts=True)
    errors = [float((cases.y != labels[counts.argmax()]).mean()) for cases in (problem.validation, problem.test)]
    return Setting(0.0, errors[0], 0.0, errors[1])


def chosen(settings: Iterable[Setting], budgets: Sequence[float]) -> list[Setting]:
    """Return, for each budget, the setting with the fewest validation errors; ties go to the lowest price.

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


# ---- rankings


def unranked(problem: NanProblem, cases: CaseSet, shares: Floats, classes: Any) -> float:
    """Return one minus the Average Precision@5 of cases ranked by the probability of the relevant class.

    The cases are in random order: the first ones are the first query, and so on.
    """
    queries = np.arange(len(cases.y)) // QUERY
    scores = shares[:, list(classes).index(problem.relevant)]
    return 1 - average_precision_at(cases.y, scores, queries, relevant=problem.relevant)


def _ranks_by_budget(problem: NanProblem, **parameters: Any) -> list[Setting]:
    """Return how a forest ranks at each budget, by `with_budget`; equal parts are measured once."""
    forest = _forest(problem, **({"max_trees": PAPER_TREES} | parameters)).fit(problem.train.X, problem.train.y)
    found: dict[int, Setting] = {}
    chosen_ones = [forest.with_budget(budget) for budget in problem.budgets]
    for part in chosen_ones:
        if id(part.record_) not in found:
            errors = [
                unranked(problem, cases, part.predict_proba(cases.X), part.classes_)
                for cases in (problem.validation, problem.test)
            ]
            price = float(part.test_costs(problem.test.X).mean())
            found[id(part.record_)] = Setting(part.record_.price, errors[0], price, errors[1])
    return [found[id(part.record_)] for part in chosen_ones]


def _adaptive_ranks(problem: NanProblem, **parameters: Any) -> list[Setting]:
    return _ranks_by_budget(problem, adaptive=True, max_trees=MOST_TREES, **parameters)


def _boosted_ranks(problem: NanProblem, tradeoff: float) -> list[Setting]:
    model = BoostedTrees("lazy", tradeoff, problem.seed)
    model.fit(problem.train.X, problem.train.y, problem.prices, problem.nominal)
    return _staged_ranks(problem, model)


def _plain_ranks(problem: NanProblem) -> list[Setting]:
    return _staged_ranks(problem, PlainForest(MOST_TREES, problem.seed).fit(problem.train.X, problem.train.y))


def _staged_ranks(problem: NanProblem, ensemble: PlainForest | BoostedTrees) -> list[Setting]:
    """Return the best number of trees at each budget; without a test, the order is random."""
    classes = np.unique(problem.train.y)
    nothing = np.zeros((len(problem.test.y), len(classes)))
    blind = [unranked(problem, cases, nothing[: len(cases.y)], classes) for cases in (problem.validation, problem.test)]
    found = [Setting(0.0, blind[0], 0.0, blind[1])]
    stages = zip(*(ensemble.staged(cases.X) for cases in (problem.validation, problem.test)), strict=True)
    for valid, test in stages:
        measured: list[float] = []
        for cases, (_, seen, shares) in ((problem.validation, valid), (problem.test, test)):
            measured += [float((seen @ problem.prices).mean()), unranked(problem, cases, shares, classes)]
        found.append(Setting(*measured))
    return chosen(found, problem.budgets)


# ---- by depth


@dataclass(kw_only=True, eq=False, repr=False)
class GreedyTreeClassifier(TreeClassifier):
    """One tree of BudgetRF, grown from the cases without resampling, with all thresholds.

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


def _tree_by_depth(problem: NanProblem, **parameters: Any) -> list[Setting]:
    """Return the highest price of a case and the training error of trees of depth 1 to 10."""
    cases, found = problem.train, []
    for depth in range(1, POINTS + 1):
        tree = GreedyTreeClassifier(
            costs=problem.costs,
            nominal=cases.nominal,
            columns=cases.columns,
            max_depth=depth,
            cross_fit=False,
            **parameters,
        ).fit(cases.X, cases.y)
        answers, prices = tree.predict_with_prices(cases.X)
        price, error = float(prices.max()), float((answers != cases.y).mean())
        found.append(Setting(price, error, price, error))
    return found


# To add a learner, add a line.
LEARNERS: Mapping[str, NanLearner] = {
    "budget-rf": NanLearner("BudgetRF", _budget_rf_by_trees, 0.6),
    "budget-rf-chosen": NanLearner("BudgetRF, sampling chosen", _budget_rf_by_trees, 1.0),
    "random-forest": NanLearner("random forest", _plain_by_trees, 0.5),
    "adaptive": NanLearner("BudgetForest, adaptive", _adaptive_by_budget, 12.0),
    "cascade": NanLearner("Cascade", _cascade_by_budget, 40.0),
    "budget": NanLearner("BudgetRF", _forest_by_budget, 1.0),
    "lazy": NanLearner("CEGB, lazy", _boosted_by_budget("lazy"), 2.0),
    "coupled": NanLearner("CEGB, coupled", _boosted_by_budget("coupled"), 1.2),
    "plain": NanLearner("random forest", _plain_by_budget, 1.5),
    "selected-forest": NanLearner("selected tests + forest", _selected_by_budget("forest"), 4.0),
    "selected-boosting": NanLearner("selected tests + LightGBM", _selected_by_budget("boosting"), 4.0),
    "catboost": NanLearner("CatBoost", _catboost_by_budget, 5.0),
    "greedy-tree": NanLearner("GreedyTree", _tree_by_depth, 1.0),
    "rank-adaptive": NanLearner("BudgetForest, adaptive", _adaptive_ranks, 12.0),
    "rank-budget": NanLearner("BudgetRF", _ranks_by_budget, 1.0),
    "rank-lazy": NanLearner("CEGB, lazy", _boosted_ranks, 2.0),
    "rank-plain": NanLearner("random forest", _plain_ranks, 1.5),
}
BY_RANK = ("rank-adaptive", "rank-budget", "rank-lazy", "rank-plain")
BY_BUDGET = (
    "adaptive",
    "cascade",
    "budget",
    "lazy",
    "coupled",
    "plain",
    "selected-forest",
    "selected-boosting",
    "catboost",
)


def measure(cell: Cell, folder: str | None) -> Numbers:
    """Measure a learner at ten points."""
    seed = seed_of(cell)
    if cell.data in LARGE:
        most = {"most": MOST_CASES} if cell.learner in BY_BUDGET else {}
        train, validation, test = parts(cell.data, cell.split, folder, **most)
        costs, relevant = costs_of(cell.data, cell.prices, cell.split, train), RELEVANT.get(cell.data, "")
        problem = NanProblem(train, validation, test, costs, seed, relevant)
    else:
        cases = cases_of(cell.data, folder)
        problem = NanProblem(cases, cases, cases, costs_of(cell.data, UNIT, cell.split, cases), seed)
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
    """Return roughly how many seconds a cell takes."""
    return LEARNERS[cell.learner].seconds * DATA[cell.data].effort


def _order(cell: Cell) -> int:
    return cell.split  # a run that is stopped has all problems, of fewer splits


FAMILY = Family("nan", NUMBERS, cases_of, measure, weight, _order)

"""Rivals of other libraries by total cost: prices of the tests they use plus costs of errors.

Each has its settings chosen on a quarter of the training cases by total cost, and then learns from all of them. All
give the answer of least expected cost by their probabilities. What they pay:

- *all tests*: everything, for every case;
- *selected tests*: the chosen tests, for every case. They are the first ones in the order of a forest's importance
  divided by a power of the price;
- *CEGB* (LightGBM with penalties for tests) and *pystreed*: the tests on the paths of each case;
- *CatBoost* with penalties for the first use of a test: the tests of its trees, which ask every case the same.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.costs import Costs
from worthwhile.costs.table_pricing import TablePricing
from worthwhile.experiments.peers import PeerPrices, PeerSplit, Question, pystreed_split
from worthwhile.experiments.rivals import BoostedTrees
from worthwhile.learners.cross_fitting import best_answers
from worthwhile.learners.folds import stratified_share
from worthwhile.learners.soft_labels import feature_owners, features_of_arrays
from worthwhile.table.columns import read_columns
from worthwhile.table.schema import Schema

__all__ = ["RIVALS", "RivalProblem", "available"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

VALIDATION = 0.25
FOREST_TREES = 200
POWERS = (0.0, 0.5, 1.0)  # of the price, in the order of tests
TRADEOFFS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # of CEGB
COEFFICIENTS = (0.0, 0.3, 3.0, 30.0, 300.0)  # of CatBoost
CATBOOST_ROUNDS = 100
CUTS, PYSTREED_DEPTH, PYSTREED_SECONDS = 4, 3, 30


@dataclass(frozen=True, eq=False)
class RivalProblem:
    """Cases to learn from, cases to measure, and what tests and errors cost."""

    schema: Schema
    arrays: list[npt.NDArray[Any]]  # by test: numbers, or codes of values; missing: NaN and -1
    classes: npt.NDArray[np.int32]
    error_costs: Floats
    pricing: TablePricing
    costs: Costs
    seed: int

    @classmethod
    def of(cls, costs: Costs, X: Any, y: Any, known: Mapping[str, Any], seed: int) -> RivalProblem:
        """Read cases as the learners do; `known` has their parameters `columns` and `nominal`."""
        columns = read_columns(X, known.get("columns"), known.get("nominal"))
        labels, classes = np.unique(y, return_inverse=True)
        schema = Schema.learn(columns, known.get("nominal"))
        bound = BoundCosts.of(costs, columns.names, labels.tolist())
        arrays = [np.asarray(array) for array in schema.arrays(columns)]
        return cls(schema, arrays, classes.astype(np.int32), bound.error_costs, TablePricing(bound), costs, seed)

    def new_cases(self, X: Any, y: Any, labels: Sequence[Any], known: Mapping[str, Any]) -> RivalProblem:
        """Return other cases of the same problem."""
        columns = read_columns(X, known.get("columns"), known.get("nominal"))
        arrays = [np.asarray(array) for array in self.schema.arrays(columns)]
        return replace(self, arrays=arrays, classes=np.searchsorted(labels, y).astype(np.int32))

    def take(self, rows: npt.NDArray[np.intp]) -> RivalProblem:
        return replace(self, arrays=[array[rows] for array in self.arrays], classes=self.classes[rows])

    def divided(self) -> tuple[RivalProblem, RivalProblem]:
        """Return most of the cases, and some to choose settings by."""
        held = np.zeros(len(self.classes), dtype=bool)
        held[stratified_share(self.classes, VALIDATION, np.random.default_rng(self.seed))] = True
        return self.take(np.flatnonzero(~held)), self.take(np.flatnonzero(held))

    @property
    def n_classes(self) -> int:
        return len(self.error_costs)

    @property
    def n_tests(self) -> int:
        return len(self.arrays)

    def prices(self) -> Floats:
        """Return what each test costs as the first one."""
        one = np.eye(self.n_tests, dtype=np.bool_)
        return self.pricing.price(self.pricing.order(self.pricing.nothing(self.n_tests), one))

    def features(self, tests: Bools | None = None) -> Floats:
        """Return all tests, or some, as numbers; nominal ones one-hot encoded."""
        found = features_of_arrays(self.schema, self.arrays, len(self.classes))
        return found if tests is None else found[:, tests[feature_owners(self.schema)]]

    def codes(self) -> Floats:
        """Return all tests as numbers; nominal ones as codes, a missing value as NaN."""
        found = np.column_stack([np.asarray(array, dtype=np.float64) for array in self.arrays])
        for test in self.nominal():
            found[found[:, test] < 0, test] = np.nan
        return found

    def nominal(self) -> list[int]:
        return [test for test, values in enumerate(self.schema.values) if values is not None]

    def total(self, paid: Bools, shares: Floats) -> float:
        """Return the mean cost of cases that pay for these tests and answer by these class probabilities."""
        charged = self.pricing.order(
            self.pricing.nothing(len(self.classes)), np.broadcast_to(paid, (len(self.classes), self.n_tests))
        )
        answers = best_answers(shares, self.error_costs)
        return float((self.pricing.price(charged) + self.error_costs[self.classes, answers]).mean())


Model = Callable[[RivalProblem], tuple[Bools, Floats]]  # what cases pay for, and their class probabilities


def no_test(problem: RivalProblem) -> Model:
    """Always give the answer of least cost."""
    shares = np.bincount(problem.classes, minlength=problem.n_classes) / len(problem.classes)
    none = np.zeros(problem.n_tests, dtype=np.bool_)
    return lambda cases: (none, np.tile(shares, (len(cases.classes), 1)))


def forest(problem: RivalProblem, tests: Bools | None = None) -> Model:
    """scikit-learn's random forest on all tests, or on some."""
    from sklearn.ensemble import RandomForestClassifier

    chosen = np.ones(problem.n_tests, dtype=np.bool_) if tests is None else tests
    if not chosen.any():
        return no_test(problem)
    model = RandomForestClassifier(FOREST_TREES, random_state=problem.seed).fit(
        problem.features(chosen), problem.classes
    )
    return lambda cases: (chosen, _all_classes(model, model.predict_proba(cases.features(chosen)), cases.n_classes))


def lightgbm(problem: RivalProblem, tests: Bools | None = None) -> Model:
    """LightGBM on all tests, or on some."""
    library = importlib.import_module("lightgbm")
    chosen = np.ones(problem.n_tests, dtype=np.bool_) if tests is None else tests
    if not chosen.any() or len(np.unique(problem.classes)) < 2:
        return no_test(problem)
    columns = np.flatnonzero(chosen)
    nominal = [place for place, test in enumerate(columns.tolist()) if test in problem.nominal()]
    model = library.LGBMClassifier(n_estimators=100, n_jobs=1, random_state=problem.seed, verbosity=-1)
    names = [f"x{place}" for place in range(len(columns))]
    model.fit(problem.codes()[:, columns], problem.classes, categorical_feature=nominal, feature_name=names)

    def answer(cases: RivalProblem) -> tuple[Bools, Floats]:
        shares = model.booster_.predict(cases.codes()[:, columns], num_threads=1)
        shares = np.column_stack([1 - shares, shares]) if shares.ndim == 1 else shares
        return chosen, _all_classes(model, shares, cases.n_classes)

    return answer


def _all_classes(model: Any, shares: Floats, n_classes: int) -> Floats:
    found = np.zeros((len(shares), n_classes))
    found[:, model.classes_] = shares
    return found


def selected(learn: Callable[[RivalProblem, Bools], Model]) -> Callable[[RivalProblem], Model]:
    """Return the rival that buys some tests for all cases, chosen on validation cases, and learns by `learn`."""

    def fit(problem: RivalProblem) -> Model:
        kept, held = problem.divided()
        sets = list(_sets(kept))
        totals = [held.total(*learn(kept, tests)(held)) for tests in sets]
        return learn(problem, sets[int(np.argmin(totals))])

    return fit


def _sets(problem: RivalProblem) -> Iterator[Bools]:
    """Yield sets of tests to choose from: none, and the first ones of each order."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(100, random_state=problem.seed).fit(problem.features(), problem.classes)
    importance = np.bincount(feature_owners(problem.schema), model.feature_importances_, problem.n_tests)
    prices = np.maximum(problem.prices(), 1e-9)
    seen = set()
    sizes = sorted({0, 1, 2, 3, *np.unique(np.geomspace(4, problem.n_tests, 5).astype(int)), problem.n_tests})
    for power in POWERS:
        order = np.argsort(-importance / prices**power, kind="stable")
        for size in sizes:
            tests = np.zeros(problem.n_tests, dtype=np.bool_)
            tests[order[:size]] = True
            if size <= problem.n_tests and tests.tobytes() not in seen:
                seen.add(tests.tobytes())
                yield tests


def cegb(kind: str) -> Callable[[RivalProblem], Model]:
    """Return the rival LightGBM with lazy or coupled penalties for tests."""

    def fit(problem: RivalProblem) -> Model:
        if len(np.unique(problem.classes)) < problem.n_classes:
            return no_test(problem)
        kept, held = problem.divided()
        prices = np.maximum(problem.prices(), 1e-9)
        found: list[tuple[float, float, int]] = []
        for tradeoff in TRADEOFFS:
            model = BoostedTrees(kind, tradeoff, problem.seed).fit(kept.codes(), kept.classes, prices, kept.nominal())
            for rounds, seen, shares in model.staged(held.codes()):
                found.append((held.total(seen, shares), tradeoff, rounds))
        if not found or min(found)[0] >= held.total(*no_test(kept)(held)):
            return no_test(problem)
        _, tradeoff, rounds = min(found)
        last = BoostedTrees(kind, tradeoff, problem.seed).fit(
            problem.codes(), problem.classes, prices, problem.nominal()
        )

        def answer(cases: RivalProblem) -> tuple[Bools, Floats]:
            seen, shares = no_test(problem)(cases)
            for done, own_seen, own_shares in last.staged(cases.codes()):
                if done <= rounds:
                    seen, shares = own_seen.copy(), own_shares
            return seen, shares

        return answer

    return fit


def catboost(problem: RivalProblem) -> Model:
    """CatBoost with penalties for the first use of a test."""
    library = importlib.import_module("catboost")
    kept, held = problem.divided()
    prices = problem.prices() / max(problem.prices().mean(), 1e-9)

    def learn(cases: RivalProblem, coefficient: float) -> Model:
        model = library.CatBoostClassifier(
            iterations=CATBOOST_ROUNDS,
            depth=4,
            random_seed=problem.seed,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
            first_feature_use_penalties=prices.tolist(),
            penalties_coefficient=coefficient,
        )
        model.fit(np.nan_to_num(cases.codes(), nan=-1e6), cases.classes)
        used = np.asarray(model.get_feature_importance()) > 0

        def answer(there: RivalProblem) -> tuple[Bools, Floats]:
            shares = model.predict_proba(np.nan_to_num(there.codes(), nan=-1e6))
            return used, _all_classes(model, shares, there.n_classes)

        return answer

    if len(np.unique(kept.classes)) < 2:
        return no_test(problem)
    totals = [held.total(*learn(kept, coefficient)(held)) for coefficient in COEFFICIENTS]
    if held.total(*no_test(kept)(held)) <= min(totals):
        return no_test(problem)
    return learn(problem, COEFFICIENTS[int(np.argmin(totals))])


def pystreed(problem: RivalProblem) -> Model:
    """pystreed's exact tree with prices, of depth 3, from columns of 0 and 1: quantiles, and single values."""
    questions = list(_questions(problem))
    if not questions or len(np.unique(problem.classes)) < problem.n_classes:
        return no_test(problem)
    X = np.column_stack([_holds(question, problem) for question in questions]).astype(np.intc)
    prices = PeerPrices.of_costs(problem.costs, problem.schema.names)
    split = pystreed_split(X, problem.classes, problem.error_costs, prices, questions, PYSTREED_DEPTH, PYSTREED_SECONDS)
    whole = np.arange(len(problem.classes))

    def answer(cases: RivalProblem) -> tuple[Bools, Floats]:
        paid = np.zeros((len(cases.classes), cases.n_tests), dtype=np.bool_)
        shares = np.zeros((len(cases.classes), cases.n_classes))
        _walk(split, problem, whole, cases, np.arange(len(cases.classes)), paid, shares)
        return paid, shares

    return answer


def _walk(
    split: PeerSplit | None,
    learned: RivalProblem,
    rows: npt.NDArray[np.intp],
    cases: RivalProblem,
    own: npt.NDArray[np.intp],
    paid: Bools,
    shares: Floats,
) -> None:
    """Fill in what cases pay for, and the class shares of the training cases where they end."""
    if len(rows):
        shares[own] = np.bincount(learned.classes[rows], minlength=learned.n_classes) / len(rows)
    if split is None:
        return
    paid[own, split.question.column] = True
    there, here = _holds(split.question, learned)[rows], _holds(split.question, cases)[own]
    _walk(split.yes, learned, rows[there], cases, own[here], paid, shares)
    _walk(split.no, learned, rows[~there], cases, own[~here], paid, shares)


def _questions(problem: RivalProblem) -> Iterator[Question]:
    """Yield up to four cuts of each numeric test, and each of up to eight values of a nominal one."""
    for test, values in enumerate(problem.schema.values):
        if values is None:
            known = problem.arrays[test][~np.isnan(problem.arrays[test])]
            quantiles = np.quantile(known, np.linspace(0, 1, CUTS + 2)[1:-1]) if len(known) else []
            for cut in np.unique(quantiles):
                yield Question(test, threshold=float(cut))
        else:
            for code in range(min(len(values), 8)):
                yield Question(test, code=code)


def _holds(question: Question, problem: RivalProblem) -> Bools:
    array = problem.arrays[question.column]
    found: Bools = array == question.code if question.threshold is None else array <= question.threshold
    return found


RIVALS: Mapping[str, tuple[str, Callable[[RivalProblem], Model]]] = {
    "no test": ("", no_test),
    "all tests + forest": ("", forest),
    "all tests + LightGBM": ("lightgbm", lightgbm),
    "selected tests + forest": ("", selected(forest)),
    "selected tests + LightGBM": ("lightgbm", selected(lightgbm)),
    "CEGB lazy": ("lightgbm", cegb("lazy")),
    "CEGB coupled": ("lightgbm", cegb("coupled")),
    "CatBoost": ("catboost", catboost),
    "pystreed": ("pystreed", pystreed),
}


def available() -> dict[str, Callable[[RivalProblem], Model]]:
    """Return the rivals whose libraries are installed."""
    return {
        name: fit
        for name, (library, fit) in RIVALS.items()
        if not library or importlib.util.find_spec(library) is not None
    }

"""Simple strategies that a model should beat: no test; free tests only; all tests, then a plain tree; tuned C4.5."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from worthwhile.costs.costs import Costs
from worthwhile.costs.pricing import free_tests
from worthwhile.evaluation.case_costs import LISTED, CaseCosts
from worthwhile.evaluation.metrics import context_of
from worthwhile.learners.c45cs import C45CSClassifier
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.greedy import C45Classifier
from worthwhile.table.columns import Columns, Factor, nominal_positions, read_columns
from worthwhile.table.schema import Schema
from worthwhile.tree.case_amounts import check_conditions, surcharges_apply, truth_shares
from worthwhile.tree.context import distinct_labels
from worthwhile.wording import amount

__all__ = [
    "NO_TEST",
    "StrategyCosts",
    "baselines",
    "case_matrix",
    "cross_baselines",
    "full_prices",
    "measure",
    "no_test",
    "warn_if_useless",
]

Floats = npt.NDArray[np.float64]

# Plain trees: all of them ignore prices. What a careful person would try: more pruning, larger leaves, answers and
# weights by error costs. Cross-validation chooses.
PLAIN: Mapping[str, Callable[..., Any]] = {
    "C4.5": C45Classifier,
    "C4.5 that prunes and answers by cost": lambda **known: C45Classifier(prune="cost", answer="least-cost", **known),
    "C4.5CS": C45CSClassifier,
} | {
    f"C4.5, confidence {confidence:g}, {min_cases} cases": functools.partial(
        C45Classifier, confidence=confidence, min_cases=min_cases, answer="least-cost"
    )
    for confidence in (0.25, 0.02)
    for min_cases in (2, 10, 40)
}
# Folds for cross-validating the strategies when there are no training cases, and for choosing among the plain trees.
# With many cases three folds are enough, and ENOUGH of them are enough to choose.
MANY_CASES, ENOUGH = 20_000, 10_000
FOLDS, FOLDS_OF_MANY, CHOICE_FOLDS = 10, 3, 5
NO_TEST = "no test"


@dataclass(frozen=True, eq=False)
class StrategyCosts:
    """What a strategy costs for each case."""

    name: str
    tests: Floats
    errors: Floats
    wrong: npt.NDArray[np.bool_]
    rejected: npt.NDArray[np.bool_]

    @property
    def totals(self) -> Floats:
        """Prices plus error costs."""
        return self.tests + self.errors


def measure(
    name: str, est: Any, X: Any, y: npt.NDArray[Any], warn: bool = False, own: CaseCosts = LISTED
) -> StrategyCosts:
    """Return what a learner or tree costs on each case; `warn` of classes that it does not know.

    Within a cross-validation nobody needs the warning: a fold may lack a rare class.
    """
    context = context_of(est)
    answers, prices, _ = est._route(X, answers=True, prices=True, case_prices=own.prices, y=y)
    rejected = answers >= len(context.classes)
    wrong = ~rejected & (context.answer_labels[answers] != y)
    errors = context.errors_of(answers, y, warn, own.errors_for(context.answers))
    return StrategyCosts(name, prices, errors, wrong, rejected)


def baselines(
    costs: Costs,
    kinds: Mapping[str, Any],
    X_train: npt.NDArray[Any],
    y_train: npt.NDArray[Any],
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    rng: np.random.Generator,
    own_train: CaseCosts = LISTED,
    own: CaseCosts = LISTED,
) -> list[StrategyCosts]:
    """Train the simple strategies on some cases and measure them on others.

    Parameters
    ----------
    costs : Costs
    kinds : mapping
        The learners' parameters `columns` and `nominal`.
    X_train, y_train, X, y : arrays
    rng : Generator
        Assigns the folds.
    own_train, own : CaseCosts
        What depends on the case.
    """
    by_errors, by_total = _best_plain(costs, kinds, X_train, y_train, rng, own_train)
    given = own_train.for_fit(costs, y_train)
    plain = measure("all tests, best plain tree", by_errors.fit(X_train, y_train, **given), X, y, own=own)
    columns = read_columns(X, kinds["columns"], nominal=kinds["nominal"])
    all_prices = full_prices(costs, columns, y=y, case_prices=own.prices)
    everything = StrategyCosts(plain.name, all_prices, plain.errors, plain.wrong, plain.rejected)
    tuned = measure("C4.5, tuned", by_total.set_params(costs=costs).fit(X_train, y_train, **given), X, y, own=own)
    found = [no_test(costs, y_train, y, own_train, own), everything, tuned]
    if free := _free_tests(costs, kinds, X_train, (own_train, own)):
        some = {"columns": [kinds["columns"][j] for j in free], "nominal": _nominal_among(free, kinds)}
        by_case = own_train.of_tests(free), own.of_tests(free)
        best, _ = _best_plain(Costs(errors=costs.errors), some, X_train[:, free], y_train, rng, by_case[0])
        best.fit(X_train[:, free], y_train, **by_case[0].for_fit(costs, y_train))
        found.insert(1, measure("free tests only, best plain tree", best, X[:, free], y, own=by_case[1]))
    return found


def _free_tests(
    costs: Costs, kinds: Mapping[str, Any], X: npt.NDArray[Any], by_case: Sequence[CaseCosts] = ()
) -> list[int]:
    """Return the columns that cost nothing; an empty list if there is none, or nothing else."""
    prices = costs.prices_for(tuple(kinds["columns"]))
    every = [set(free_tests(prices, own.prices)) for own in by_case or [LISTED]]
    free = sorted(set.intersection(*every))
    return free if len(free) < X.shape[1] else []


def _nominal_among(columns: Sequence[int], kinds: Mapping[str, Any]) -> list[str]:
    names = tuple(kinds["columns"])
    nominal = nominal_positions(names, kinds["nominal"])
    return [names[j] for j in columns if j in nominal]


def cross_baselines(
    costs: Costs,
    kinds: Mapping[str, Any],
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    rng: np.random.Generator,
    own: CaseCosts = LISTED,
) -> list[StrategyCosts]:
    """Cross-validate the simple strategies: each case is measured by what was trained on the other folds."""
    n_folds = min(FOLDS if len(y) <= MANY_CASES else FOLDS_OF_MANY, len(y))
    if n_folds < 2:
        raise ValueError("cross-validation needs at least two cases; give more cases, or training cases")
    folds = stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), n_folds, rng)
    parts = []
    for fold in range(n_folds):
        here = folds == fold
        by_case = own.take(~here), own.take(here)
        parts.append(baselines(costs, kinds, X[~here], y[~here], X[here], y[here], rng, *by_case))
    order = np.argsort(np.concatenate([np.flatnonzero(folds == f) for f in range(n_folds)]))
    names = [no_test(costs, y, y, own, own).name, *(part.name for part in parts[0][1:])]
    return [
        StrategyCosts(
            name,
            *(
                np.concatenate([getattr(part[i], field) for part in parts])[order]
                for field in ("tests", "errors", "wrong", "rejected")
            ),
        )
        for i, name in enumerate(names)
    ]


def warn_if_useless(est: Any, X: Any, y: npt.NDArray[Any], case_prices: Any = None, case_errors: Any = None) -> str:
    """Return a warning if a model costs more than no test on the cases it was trained on; otherwise an empty string.

    Examples
    --------
    >>> import worthwhile as ww
    >>> X, y = [[1], [2], [3], [4]], np.array(["a", "a", "b", "b"])
    >>> clf = ww.C45Classifier(costs=ww.Costs(tests={"x0": 9}, errors=10), min_cases=1).fit(X, y)
    >>> warn_if_useless(clf, X, y)
    'on its own training cases the model costs 9.00 per case, but no test, always “a”, only 5.00: it does not pay'
    >>> warn_if_useless(clf.set_params(costs=ww.Costs(tests={"x0": 2}, errors=10)).fit(X, y), X, y)
    ''
    """
    y = np.asarray(y)
    by_case = CaseCosts.of(context_of(est), case_prices, case_errors, len(y))
    own = float(measure("", est, X, y, own=by_case).totals.mean())
    none = no_test(context_of(est).costs, y, y, by_case, by_case)
    least = float(none.totals.mean())
    if own <= least + 1e-9 * abs(least):
        return ""
    there = f"{amount(own)} per case, but {none.name}, only {amount(least)}"
    return f"on its own training cases the model costs {there}: it does not pay"


def no_test(
    costs: Costs,
    y_train: npt.NDArray[Any],
    y: npt.NDArray[Any],
    own_train: CaseCosts = LISTED,
    own: CaseCosts = LISTED,
) -> StrategyCosts:
    """Always give the answer with the lowest average cost on the training cases."""
    labels = np.unique(np.concatenate([y_train, y]))
    answers, matrix = costs.error_matrix(labels.tolist())
    counts = np.bincount(np.searchsorted(labels, y_train), minlength=len(labels))
    by_case = own_train.errors_for(answers)
    chosen = int((counts @ matrix if by_case is None else by_case.sum(axis=0)).argmin())
    truth = np.searchsorted(labels, y)
    there = own.errors_for(answers)
    errors = matrix[truth, chosen] if there is None else there[:, chosen]
    rejected = np.full(len(y), chosen >= len(labels))
    wrong = ~rejected & (truth != chosen)
    return StrategyCosts(f"{NO_TEST}, always “{answers[chosen]}”", np.zeros(len(y)), errors, wrong, rejected)


def _best_plain(
    costs: Costs,
    kinds: Mapping[str, Any],
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    rng: np.random.Generator,
    own: CaseCosts = LISTED,
) -> tuple[Any, Any]:
    """Return the plain trees with the lowest cross-validated cost, of errors alone and of tests and errors."""
    if len(y) > ENOUGH:
        some = rng.permutation(len(y))[:ENOUGH]
        X, y, own = X[some], y[some], own.take(some)
    n_folds = min(CHOICE_FOLDS, len(y))
    # Prices make no difference to these trees, but to what they cost.
    candidates = [make(costs=costs, cross_fit=False, **kinds) for make in PLAIN.values()]
    folds = stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), n_folds, rng)
    parts = [y, *(y[folds != fold] for fold in range(n_folds if n_folds > 1 else 0))]
    if own.errors is None and not all(_errors_cost(costs, part) for part in parts):
        # It weighs cases by the costs of errors, and all of them would have weight 0.
        candidates = [learner for learner in candidates if not isinstance(learner, C45CSClassifier)]
    errors, totals = np.zeros(len(candidates)), np.zeros(len(candidates))
    for fold in range(n_folds if n_folds > 1 else 0):
        here = folds == fold
        given = own.take(~here).for_fit(costs, y[~here])
        for i, learner in enumerate(candidates):
            there = measure("", learner.fit(X[~here], y[~here], **given), X[here], y[here], own=own.take(here))
            errors[i] += there.errors.sum()
            totals[i] += there.totals.sum()
    free = Costs(errors=costs.errors)
    chosen = clone(candidates[int(errors.argmin())]).set_params(costs=free)
    return chosen, clone(candidates[int(totals.argmin())])


def _errors_cost(costs: Costs, y: npt.NDArray[Any]) -> bool:
    """Return whether a wrong answer costs more than the right one, for a class that these cases have."""
    labels = np.unique(y).tolist()
    matrix = costs.error_matrix(labels)[1][:, : len(labels)]
    return len(labels) < 2 or bool((matrix > np.diagonal(matrix)[:, None]).any())


def full_prices(
    costs: Costs, columns: Columns, tests: Sequence[str] | None = None, y: Any = None, case_prices: Floats | None = None
) -> Floats:
    """Return what all tests, or the given ones, cost for each case, with what they require, if ordered together.

    A missing value means that the test was unavailable and costs nothing. Surcharges by class need the true classes
    `y`. Tests ordered together wait together, and none of them is done after another. `case_prices`, by case and test,
    replace the prices of the tests.
    """
    prices = costs.prices_for(columns.names)
    paid = np.column_stack([a.codes >= 0 if isinstance(a, Factor) else ~np.isnan(a) for a in columns.arrays])
    if tests is not None:
        paid &= np.isin(columns.names, list(tests))
    for test, available in enumerate(paid.T.copy()):
        for required in prices.closure_tests[prices.closure_start[test] + 1 : prices.closure_start[test + 1]]:
            paid[available, required] = True
    total = paid @ prices.marginal if case_prices is None else (paid * case_prices).sum(axis=1)
    for group, common in enumerate(prices.common):
        total += common * paid[:, prices.members(group)].any(axis=1)
    if prices.surcharges:
        total += _surcharges_together(costs, columns, paid, y)
    if len(prices.waiting):
        longest = np.where(paid, prices.wait, 0.0).max(axis=1, initial=0.0)
        total += [costs.waiting_price(time) for time in longest.tolist()]
    return np.asarray(total, dtype=np.float64)


def case_matrix(columns: Columns, unused: Sequence[int] = ()) -> npt.NDArray[Any]:
    """Return columns as one array, as learners take them; columns that the model does not use are empty."""
    if columns.matrix is not None:
        return columns.matrix
    mixed, empty = any(isinstance(column, Factor) for column in columns.arrays), set(unused)
    found = np.empty((columns.n_cases, len(columns.arrays)), dtype=object if mixed else np.float64)
    for j, column in enumerate(columns.arrays):
        if isinstance(column, Factor):
            found[:, j] = None if j in empty else np.array([*column.categories, None], dtype=object)[column.codes]
        else:
            found[:, j] = column
    return found


def _surcharges_together(costs: Costs, columns: Columns, paid: npt.NDArray[np.bool_], y: Any) -> Floats:
    """Return the surcharges of tests that each case orders together."""
    prices, schema = costs.prices_for(columns.names), Schema.learn(columns)
    check_conditions(schema, prices)
    counts = surcharges_apply(schema, prices, columns) & paid[:, prices.surcharge_test]
    for s, test in enumerate(prices.surcharge_test.tolist()):
        required = prices.closure_tests[prices.closure_start[test] : prices.closure_start[test + 1]]
        after = prices.after_tests[prices.after_start[s] : prices.after_start[s + 1]]
        counts[:, s] &= bool(np.isin(after, required).all())
        after_any = prices.after_any_tests[prices.after_any_start[s] : prices.after_any_start[s + 1]]
        counts[:, s] &= not after_any.size or bool(np.isin(after_any, required).any())
    shares: Floats = counts * prices.surcharge_amount
    if y is not None:
        labels, place = distinct_labels(y, len(paid))
        truth = truth_shares(prices, labels, np.eye(len(labels))[place])
        shares = shares if truth is None else shares * truth
    return np.asarray(shares.sum(axis=1))

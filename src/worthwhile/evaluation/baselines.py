"""Three simple strategies that a model should beat: no test at all; all tests, then a plain tree; and C4.5."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.evaluation.metrics import context_of
from worthwhile.learners.c45cs import C45CSClassifier
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.greedy import C45Classifier
from worthwhile.table.columns import Factor, read_columns

__all__ = ["StrategyCosts", "baselines", "cross_baselines", "measure", "no_test"]

Floats = npt.NDArray[np.float64]

# Plain trees: all of them ignore prices; the last two take error costs into account.
PLAIN: Mapping[str, Callable[..., Any]] = {
    "C4.5": C45Classifier,
    "C4.5 that prunes and answers by cost": lambda **known: C45Classifier(prune="cost", answer="least-cost", **known),
    "C4.5CS": C45CSClassifier,
}
# Folds for cross-validating the strategies when there are no training cases, and for choosing among the plain trees.
# With many cases three folds are enough, and MANY_CASES of them are enough to choose the context.
MANY_CASES = 20_000
FOLDS, FOLDS_OF_MANY, CHOICE_FOLDS = 10, 3, 5


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


def measure(name: str, est: Any, X: Any, y: npt.NDArray[Any]) -> StrategyCosts:
    """Return what a learner or tree costs on each case."""
    context = context_of(est)
    answers, prices, _ = est._route(X, answers=True, prices=True)
    rejected = answers >= len(context.classes)
    wrong = ~rejected & (context.answer_labels[answers] != y)
    return StrategyCosts(name, prices, context.errors_of(answers, y), wrong, rejected)


def baselines(
    costs: Costs,
    kinds: Mapping[str, Any],
    X_train: npt.NDArray[Any],
    y_train: npt.NDArray[Any],
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    rng: np.random.Generator,
) -> list[StrategyCosts]:
    """Train the three strategies on some cases and measure them on others.

    Parameters
    ----------
    costs : Costs
    kinds : mapping
        The learners' parameters `columns` and `nominal`.
    X_train, y_train, X, y : arrays
    rng : Generator
        Assigns the folds.
    """
    best = _best_plain(costs, kinds, X_train, y_train, rng).fit(X_train, y_train)
    plain = measure("all tests, best plain tree", best, X, y)
    everything = StrategyCosts(plain.name, _full_prices(costs, kinds, X), plain.errors, plain.wrong, plain.rejected)
    c45 = C45Classifier(costs=costs, **kinds).fit(X_train, y_train)
    return [no_test(costs, y_train, y), everything, measure("C4.5", c45, X, y)]


def cross_baselines(
    costs: Costs, kinds: Mapping[str, Any], X: npt.NDArray[Any], y: npt.NDArray[Any], rng: np.random.Generator
) -> list[StrategyCosts]:
    """Cross-validate the three strategies: each case is measured by what was trained on the other folds."""
    n_folds = min(FOLDS if len(y) <= MANY_CASES else FOLDS_OF_MANY, len(y))
    if n_folds < 2:
        raise ValueError("cross-validation needs at least two cases; give more cases, or training cases")
    folds = stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), n_folds, rng)
    parts = []
    for fold in range(n_folds):
        here = folds == fold
        parts.append(baselines(costs, kinds, X[~here], y[~here], X[here], y[here], rng))
    order = np.argsort(np.concatenate([np.flatnonzero(folds == f) for f in range(n_folds)]))
    names = [no_test(costs, y, y).name, *(part.name for part in parts[0][1:])]
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


def no_test(costs: Costs, y_train: npt.NDArray[Any], y: npt.NDArray[Any]) -> StrategyCosts:
    """Always give the answer with the lowest average cost on the training cases."""
    labels = np.unique(np.concatenate([y_train, y]))
    answers, matrix = costs.error_matrix(labels.tolist())
    counts = np.bincount(np.searchsorted(labels, y_train), minlength=len(labels))
    chosen = int((counts @ matrix).argmin())
    truth = np.searchsorted(labels, y)
    rejected = np.full(len(y), chosen >= len(labels))
    wrong = ~rejected & (truth != chosen)
    return StrategyCosts(
        f"no test, always “{answers[chosen]}”", np.zeros(len(y)), matrix[truth, chosen], wrong, rejected
    )


def _best_plain(
    costs: Costs, kinds: Mapping[str, Any], X: npt.NDArray[Any], y: npt.NDArray[Any], rng: np.random.Generator
) -> Any:
    """Return the kind of plain tree with the lowest cross-validated error cost."""
    free = Costs(errors=costs.errors)
    if len(y) > MANY_CASES:
        some = rng.permutation(len(y))[:MANY_CASES]
        X, y = X[some], y[some]
    n_folds = min(CHOICE_FOLDS, len(y))
    candidates = {name: make(costs=free, **kinds) for name, make in PLAIN.items()}
    folds = stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), n_folds, rng)
    parts = [y, *(y[folds != fold] for fold in range(n_folds if n_folds > 1 else 0))]
    if not all(_errors_cost(free, part) for part in parts):
        del candidates["C4.5CS"]  # it weighs cases by the costs of errors, and all of them would have weight 0
    spent = dict.fromkeys(candidates, 0.0)
    for fold in range(n_folds if n_folds > 1 else 0):
        here = folds == fold
        for name, learner in candidates.items():
            spent[name] += float(measure(name, learner.fit(X[~here], y[~here]), X[here], y[here]).errors.sum())
    return candidates[min(spent, key=lambda name: spent[name])]


def _errors_cost(costs: Costs, y: npt.NDArray[Any]) -> bool:
    """Return whether a wrong answer costs more than the right one, for a class that these cases have."""
    labels = np.unique(y).tolist()
    matrix = costs.error_matrix(labels)[1][:, : len(labels)]
    return len(labels) < 2 or bool((matrix > np.diagonal(matrix)[:, None]).any())


def _full_prices(costs: Costs, kinds: Mapping[str, Any], X: npt.NDArray[Any]) -> Floats:
    """Return what all tests cost for each case; a missing value means the test was unavailable and costs nothing."""
    columns = read_columns(X, kinds["columns"])
    prices = costs.prices_for(columns.names)
    known = [a.codes >= 0 if isinstance(a, Factor) else ~np.isnan(a) for a in columns.arrays]
    paid = np.column_stack(known)
    for test, available in enumerate(known):
        for required in prices.closure_tests[prices.closure_start[test] + 1 : prices.closure_start[test + 1]]:
            paid[available, required] = True
    total = paid @ prices.marginal
    for group, common in enumerate(prices.common):
        total += common * paid[:, prices.group == group].any(axis=1)
    return np.asarray(total, dtype=np.float64)

"""Three simple ways to decide that a model should beat: no test at all; all tests, then a plain tree; and C4.5."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.evaluation.metrics import tree_of
from worthwhile.learners.c45cs import C45CSClassifier
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.greedy import C45Classifier
from worthwhile.table.columns import Factor, read_columns

__all__ = ["Outcome", "baselines", "cross_baselines", "measure", "no_test"]

Floats = npt.NDArray[np.float64]

# Plain trees: none of them looks at prices, the last two mind what errors cost.
PLAIN: Mapping[str, Callable[..., Any]] = {
    "C4.5": C45Classifier,
    "C4.5 that prunes and answers by cost": lambda **known: C45Classifier(prune="cost", answer="least-cost", **known),
    "C4.5CS": C45CSClassifier,
}
# Folds for learning the others where there are no other cases, and for choosing among the plain trees. With many cases
# three folds do, and so many of the cases are enough to choose by.
MANY_CASES = 20_000
FOLDS, FOLDS_OF_MANY, CHOICE_FOLDS = 10, 3, 5


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a way to decide costs for each case."""

    name: str
    tests: Floats
    errors: Floats
    wrong: npt.NDArray[np.bool_]
    rejected: npt.NDArray[np.bool_]

    @property
    def totals(self) -> Floats:
        """Prices plus error costs."""
        return self.tests + self.errors


def measure(name: str, est: Any, X: Any, y: npt.NDArray[Any]) -> Outcome:
    """Let a learner or tree decide."""
    tree = tree_of(est)
    answers, prices, _ = est._route(X, answers=True, prices=True)
    rejected = answers >= len(tree.classes)
    wrong = ~rejected & (tree.answer_labels[answers] != y)
    return Outcome(name, prices, tree.errors_of(answers, y), wrong, rejected)


def baselines(
    costs: Costs,
    kinds: Mapping[str, Any],
    X_train: npt.NDArray[Any],
    y_train: npt.NDArray[Any],
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    rng: np.random.Generator,
) -> list[Outcome]:
    """Learn the three ways from some cases and measure them on others.

    Parameters
    ----------
    costs : Costs
    kinds : mapping
        The parameters `columns` and `nominal` of learners.
    X_train, y_train, X, y : arrays
    rng : Generator
        Deals out folds.
    """
    best = _best_plain(costs, kinds, X_train, y_train, rng).fit(X_train, y_train)
    plain = measure("all tests, best plain tree", best, X, y)
    everything = Outcome(plain.name, _full_prices(costs, kinds, X), plain.errors, plain.wrong, plain.rejected)
    c45 = C45Classifier(costs=costs, **kinds).fit(X_train, y_train)
    return [no_test(costs, y_train, y), everything, measure("C4.5", c45, X, y)]


def cross_baselines(
    costs: Costs, kinds: Mapping[str, Any], X: npt.NDArray[Any], y: npt.NDArray[Any], rng: np.random.Generator
) -> list[Outcome]:
    """Learn the three ways from all folds but one, measure them on this one, and put the folds together."""
    n_folds = min(FOLDS if len(y) <= MANY_CASES else FOLDS_OF_MANY, len(y))
    if n_folds < 2:
        raise ValueError("one case alone cannot be cross-validated; give more cases, or training cases")
    folds = stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), n_folds, rng)
    parts = []
    for fold in range(n_folds):
        here = folds == fold
        parts.append(baselines(costs, kinds, X[~here], y[~here], X[here], y[here], rng))
    order = np.argsort(np.concatenate([np.flatnonzero(folds == f) for f in range(n_folds)]))
    names = [no_test(costs, y, y).name, *(outcome.name for outcome in parts[0][1:])]
    return [
        Outcome(
            name,
            *(
                np.concatenate([getattr(part[i], field) for part in parts])[order]
                for field in ("tests", "errors", "wrong", "rejected")
            ),
        )
        for i, name in enumerate(names)
    ]


def no_test(costs: Costs, y_train: npt.NDArray[Any], y: npt.NDArray[Any]) -> Outcome:
    """Always give the answer that is cheapest on average."""
    labels = np.unique(np.concatenate([y_train, y]))
    answers, matrix = costs.error_matrix(labels.tolist())
    counts = np.bincount(np.searchsorted(labels, y_train), minlength=len(labels))
    chosen = int((counts @ matrix).argmin())
    truth = np.searchsorted(labels, y)
    rejected = np.full(len(y), chosen >= len(labels))
    wrong = ~rejected & (truth != chosen)
    return Outcome(f"no test, always “{answers[chosen]}”", np.zeros(len(y)), matrix[truth, chosen], wrong, rejected)


def _best_plain(
    costs: Costs, kinds: Mapping[str, Any], X: npt.NDArray[Any], y: npt.NDArray[Any], rng: np.random.Generator
) -> Any:
    """Return the kind of plain tree with the least error cost on cases that it has not learned from."""
    free = Costs(errors=costs.errors)
    if len(y) > MANY_CASES:
        some = rng.permutation(len(y))[:MANY_CASES]
        X, y = X[some], y[some]
    n_folds = min(CHOICE_FOLDS, len(y))
    kinds_of_tree = {name: make(costs=free, **kinds) for name, make in PLAIN.items()}
    folds = stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), n_folds, rng)
    spent = dict.fromkeys(kinds_of_tree, 0.0)
    for fold in range(n_folds if n_folds > 1 else 0):
        here = folds == fold
        for name, learner in kinds_of_tree.items():
            spent[name] += float(measure(name, learner.fit(X[~here], y[~here]), X[here], y[here]).errors.sum())
    return kinds_of_tree[min(spent, key=lambda name: spent[name])]


def _full_prices(costs: Costs, kinds: Mapping[str, Any], X: npt.NDArray[Any]) -> Floats:
    """Return what all tests cost for each case; one whose value is missing could not be had and costs nothing."""
    columns = read_columns(X, kinds["columns"])
    prices = costs.prices_for(columns.names)
    known = [a.codes >= 0 if isinstance(a, Factor) else ~np.isnan(a) for a in columns.arrays]
    paid = np.column_stack(known)
    for test, had in enumerate(known):
        for required in prices.closure_tests[prices.closure_start[test] + 1 : prices.closure_start[test + 1]]:
            paid[had, required] = True
    total = paid @ prices.marginal
    for group, common in enumerate(prices.common):
        total += common * paid[:, prices.group == group].any(axis=1)
    return np.asarray(total, dtype=np.float64)

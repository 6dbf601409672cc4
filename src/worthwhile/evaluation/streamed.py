"""What a model costs on more cases than memory holds: sums over batches of cases."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.evaluation.evaluate import Evaluation, Strategy
from worthwhile.evaluation.intervals import Estimate
from worthwhile.evaluation.metrics import context_of
from worthwhile.tree.node_costs import best_answer

__all__ = ["evaluate_batches"]

Floats = npt.NDArray[np.float64]
Z = 1.959963984540054  # 95 % of a normal distribution
NOTE = "The cases were read some at a time: intervals are normal ones, and no tree was trained to compare with."


def evaluate_batches(clf: Any, batches: Iterable[tuple[Any, npt.NDArray[np.intp]]]) -> Evaluation:
    """Measure what a model costs, compared with no test, on batches of cases.

    Parameters
    ----------
    clf : learner or Tree
    batches : iterable of pairs
        Cases, and the position of their classes in those of the model.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 1}, errors=10)).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> found = evaluate_batches(clf, [([[1], [2]], np.array([0, 0])), ([[3], [1]], np.array([1, 1]))])
    >>> [(strategy.name, strategy.total_cost.mean) for strategy in found.strategies]
    [('the model', 3.5), ('no test, always 0', 5.0)]
    """
    context = context_of(clf)
    k, labels = len(context.classes), context.answer_labels
    # By class: number, sums and sums of squares of prices, errors and both, wrong answers, rejects.
    sums = np.zeros((9, k))
    for X, classes in batches:
        truth = labels[: len(context.classes)][classes]
        answers, prices, _ = clf._route(X, answers=True, prices=True, y=truth)
        errors = context.error_costs[classes, answers]
        ones = np.ones(len(classes))
        wrong, rejected = (answers != classes).astype(float), (answers >= k).astype(float)
        both = prices + errors
        every = ones, prices, prices**2, errors, errors**2, both, both**2, wrong * (1 - rejected), rejected
        sums += [np.bincount(classes, values, minlength=k) for values in every]
    n = float(sums[0].sum())
    if not n:
        raise ValueError("there are no cases")
    standard = context.costs.standard_cost_of(dict(zip(context.classes, sums[0].tolist(), strict=True)))
    fixed = best_answer(context.error_costs, sums[0] / n)
    own, total = context.error_costs[:, fixed], sums.sum(axis=1)
    means = [_estimate(total[at], total[at + 1], n) for at in (1, 3, 5)]
    scale = 100 / standard if standard > 0 else None

    def normalized(cost: Estimate) -> float | None:
        return None if scale is None else scale * cost.mean

    tests, mistakes, sum_of_both = means
    shares = float(total[7] / n), float(total[8] / n)
    model = Strategy("the model", tests, mistakes, sum_of_both, *shares, normalized(sum_of_both), None)
    error = _estimate(float((sums[0] * own).sum()), float((sums[0] * own**2).sum()), n)
    gap = own * sums[0] - sums[5]
    squares = own**2 * sums[0] - 2 * own * sums[5] + sums[6]
    is_class = fixed < k
    none = Strategy(
        f"no test, always {_shown(labels[fixed])}",
        Estimate(0.0, 0.0, 0.0),
        error,
        error,
        1 - float(sums[0][fixed] / n) if is_class else 0.0,
        0.0 if is_class else 1.0,
        normalized(error),
        _estimate(float(gap.sum()), float(squares.sum()), n),
    )
    return Evaluation((model, none), int(n), standard if standard > 0 else None, NOTE, context.costs.currency)


def _shown(label: Any) -> str:
    return f"“{label}”" if isinstance(label, str) else str(label)


def _estimate(total: float, squares: float, n: float) -> Estimate:
    mean = total / n
    variance = max(squares / n - mean**2, 0.0) * n / max(n - 1, 1)
    half = Z * math.sqrt(variance / n)
    return Estimate(float(mean), float(mean - half), float(mean + half))

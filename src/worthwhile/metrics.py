"""What learners cost: averages, Turney's normalized cost, high-cost errors, a scorer, and paired comparisons.

Everything takes an estimator with the methods of a worthwhile learner or a `Tree` (``test_costs``, ``total_costs``, ``predict``).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Comparison", "CostReport", "average_cost", "compare", "cost_report", "cost_scorer", "high_cost_errors", "normalized_cost"]


def average_cost(est: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the average total cost per case: tests plus errors.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> average_cost(clf, [[1], [4]], [0, 0])
    9.0
    """
    return float(np.average(est.total_costs(X, y), weights=sample_weight))


def normalized_cost(est: Any, X: Any, y: Any, standard_cost: float) -> float:
    """Return the average cost in percent of a standard cost (Turney 1995, eq. 6; `Costs.standard_cost` computes it).

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> X, y = [[1], [2], [3], [4]], [0, 0, 1, 1]
    >>> clf = ww.DTMCClassifier(costs=costs).fit(X, y)
    >>> round(normalized_cost(clf, X, y, costs.standard_cost(y)), 1)
    44.4
    """
    if not standard_cost > 0:
        raise ValueError(f"standard_cost must be above 0, got {standard_cost!r}")
    return 100 * average_cost(est, X, y) / standard_cost


def high_cost_errors(est: Any, X: Any, y: Any) -> int:
    """Return the number of errors that cost more than the cheapest error does (Ting 1998).

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(errors={"sick": {"well": 5}, "well": {"sick": 1}})
    >>> clf = ww.C45Classifier(costs=costs).fit([[1], [1], [1]], ["well", "well", "sick"])
    >>> high_cost_errors(clf, [[1], [1]], ["sick", "well"])
    1
    """
    tree = est if hasattr(est, "errors_of") else est._frame()
    costs = _error_costs(est, X, y)
    wrong = tree.error_costs[:, : len(tree.classes)][~np.eye(len(tree.classes), dtype=bool)]
    least = wrong.min() if wrong.size else 0.0
    mistaken = np.asarray(est.predict(X)) != np.asarray(y)
    return int((mistaken & (costs > least)).sum())


def _error_costs(est: Any, X: Any, y: Any) -> npt.NDArray[np.float64]:
    costs: npt.NDArray[np.float64] = est.total_costs(X, y) - est.test_costs(X)
    return costs


def cost_scorer(est: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Score an estimator by its average total cost, negated: for ``scoring=`` in scikit-learn, where greater is better.

    Examples
    --------
    >>> import worthwhile as ww
    >>> from sklearn.model_selection import cross_val_score
    >>> bupa = ww.datasets.load("bupa")
    >>> clf = ww.EG2Classifier(costs=bupa.costs, columns=bupa.feature_names)
    >>> bool((cross_val_score(clf, bupa.X, bupa.y, scoring=cost_scorer, cv=3) < 0).all())
    True
    """
    return -average_cost(est, X, y, sample_weight)


@dataclass(frozen=True)
class CostReport:
    """Average costs per case, tests and errors apart; see `cost_report`."""

    n_cases: int
    test_cost: float
    error_cost: float
    total_cost: float
    error_rate: float
    normalized: float | None

    def __str__(self) -> str:
        lines = [
            f"cases       {self.n_cases:>10}",
            f"test cost   {self.test_cost:>10.2f} per case",
            f"error cost  {self.error_cost:>10.2f} per case ({self.error_rate:.1%} wrong)",
            f"total cost  {self.total_cost:>10.2f} per case",
        ]
        if self.normalized is not None:
            lines.append(f"normalized  {self.normalized:>10.1f} %")
        return "\n".join(lines)


def cost_report(est: Any, X: Any, y: Any, standard_cost: float | None = None) -> CostReport:
    """Return what an estimator costs on these cases, tests and errors apart.

    Parameters
    ----------
    est : learner or Tree
    X, y : cases and their classes
    standard_cost : float, optional
        For the normalized cost; see `normalized_cost`.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> print(cost_report(clf, [[1], [4]], [0, 0]))
    cases                2
    test cost         4.00 per case
    error cost        5.00 per case (50.0% wrong)
    total cost        9.00 per case
    """
    tests, totals = est.test_costs(X), est.total_costs(X, y)
    wrong = np.asarray(est.predict(X)) != np.asarray(y)
    normalized = None if standard_cost is None else normalized_cost(est, X, y, standard_cost)
    return CostReport(len(tests), float(tests.mean()), float((totals - tests).mean()), float(totals.mean()), float(wrong.mean()), normalized)


@dataclass(frozen=True)
class Comparison:
    """Two learners on the same splits or cases; see `compare`. A difference below 0 speaks for the first one."""

    first: str
    second: str
    difference: float
    t_test: float
    wilcoxon: float
    wins: int
    losses: int


def compare(results: Mapping[str, Any]) -> list[Comparison]:
    """Compare learners pairwise by costs measured on the same splits (or cases).

    Parameters
    ----------
    results : mapping of name to sequence of costs
        All of the same length, in the same order.

    Returns
    -------
    list of Comparison
        For each pair: mean difference, p-values of the paired t-test and of Wilcoxon's signed-rank test (both 1.0 where the two
        never differ), and on how many splits the first one is cheaper and dearer.

    Examples
    --------
    >>> [c] = compare({"act": [10.0, 12.0, 11.0, 9.0], "c4.5": [14.0, 15.0, 13.0, 15.0]})
    >>> c.difference, c.wins, round(c.t_test, 3), round(c.wilcoxon, 3)
    (-3.75, 4, 0.021, 0.125)
    """
    from scipy import stats

    costs = {name: np.asarray(values, dtype=np.float64) for name, values in results.items()}
    if len(costs) < 2:
        raise ValueError(f"a comparison needs at least two learners, got {', '.join(costs) or 'none'}")
    length = len(next(iter(costs.values())))
    for name, values in costs.items():
        if values.ndim != 1 or len(values) != length or length < 2 or not np.isfinite(values).all():
            raise ValueError(f"the results of {name!r} must be at least two finite costs, as many as the others have ({length}), got shape {values.shape}")
    found = []
    for (first, a), (second, b) in itertools.combinations(costs.items(), 2):
        gap = a - b
        if not gap.any():
            t_test = wilcoxon = 1.0
        else:
            # Where all differences are the same there is no spread to test against: the t-test is certain.
            t_test = 0.0 if np.ptp(gap) == 0 else float(stats.ttest_rel(a, b).pvalue)
            wilcoxon = float(stats.wilcoxon(gap).pvalue)
        found.append(Comparison(first, second, float(gap.mean()), t_test, wilcoxon, int((gap < 0).sum()), int((gap > 0).sum())))
    return found

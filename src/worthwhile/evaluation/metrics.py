"""What learners cost: averages, Turney's normalized cost, high-cost errors, and paired comparisons.

Everything takes a learner or a `Tree`, alone or inside scikit-learn's pipelines and searches.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.tree.context import ProblemContext, label_column
from worthwhile.tree.tree import Tree

__all__ = [
    "Comparison",
    "CostReport",
    "average_cost",
    "average_precision_at",
    "compare",
    "cost_report",
    "high_cost_errors",
    "n_errors",
    "normalized_cost",
    "total_error_cost",
    "tree_size",
]


def average_cost(
    est: Any, X: Any, y: Any, sample_weight: Any = None, case_prices: Any = None, case_errors: Any = None
) -> float:
    """Return the average total cost per case: tests plus errors.

    `case_prices` and `case_errors` are as in `Tree.total_costs`.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> average_cost(clf, [[1], [4]], [0, 0])
    9.0
    """
    est, X = innermost(est, X)
    return float(np.average(est.total_costs(X, y, case_prices, case_errors), weights=sample_weight))


def normalized_cost(
    est: Any, X: Any, y: Any, standard_cost: float, case_prices: Any = None, case_errors: Any = None
) -> float:
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
    return 100 * average_cost(est, X, y, None, case_prices, case_errors) / standard_cost


def high_cost_errors(est: Any, X: Any, y: Any, case_errors: Any = None) -> int:
    """Return the number of errors that cost more than the cheapest error does (Ting 1998).

    A reject answer such as "unknown" does not count as an error. With `case_errors`, errors cost each case what these
    say, and the cheapest error is the cheapest wrong answer for any of these cases.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(errors={"sick": {"well": 5}, "well": {"sick": 1}})
    >>> clf = ww.C45Classifier(costs=costs).fit([[1], [1], [1]], ["well", "well", "sick"])
    >>> high_cost_errors(clf, [[1], [1]], ["sick", "well"])
    1
    """
    est, X = innermost(est, X)
    context = context_of(est)
    # Not the difference of total and test costs, which has rounding errors.
    answers = est._route(X, answers=True)[0]
    costs = context.errors_of(answers, y, case_errors=case_errors)
    errors = context.error_costs[:, : len(context.classes)][~np.eye(len(context.classes), dtype=bool)]
    if (own := context.checked_case_errors(case_errors, len(answers))) is not None:
        is_wrong = label_column(y)[:, None] != np.array(context.classes, dtype=object)
        errors = own[:, : len(context.classes)][is_wrong]
    least = errors.min() if errors.size else 0.0
    wrong, _ = _wrong_and_rejected(est, context, X, y)
    return int((wrong & (costs > least)).sum())


def n_errors(est: Any, X: Any, y: Any) -> int:
    """Return the number of wrong answers; a reject answer such as "unknown" does not count.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.C45Classifier().fit([[1], [1], [1]], ["well", "well", "sick"])
    >>> n_errors(clf, [[1], [1]], ["sick", "well"])
    1
    """
    est, X = innermost(est, X)
    return int(_wrong_and_rejected(est, context_of(est), X, y)[0].sum())


def total_error_cost(est: Any, X: Any, y: Any, case_errors: Any = None) -> float:
    """Return the sum of the error costs, without the prices of the tests (Ting 1998).

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(errors={"sick": {"well": 5}, "well": {"sick": 1}})
    >>> clf = ww.C45Classifier(costs=costs).fit([[1], [1], [1]], ["well", "well", "sick"])
    >>> total_error_cost(clf, [[1], [1], [1]], ["sick", "well", "sick"])
    10.0
    """
    est, X = innermost(est, X)
    return float(context_of(est).errors_of(est._route(X, answers=True)[0], y, case_errors=case_errors).sum())


def tree_size(est: Any) -> int:
    """Return the number of nodes, tests and leaves, of a tree or of all trees of a forest or cascade.

    Examples
    --------
    >>> import worthwhile as ww
    >>> tree_size(ww.C45Classifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1]))
    3
    """
    est = chosen_of(innermost(est, None)[0])
    if hasattr(est, "trees_"):
        return sum(tree.n_nodes for tree in est.trees_)
    if hasattr(est, "stages_"):
        return int(est.n_nodes_)
    return (est if isinstance(est, Tree) else est._tree()).n_nodes


def average_precision_at(y: Any, scores: Any, queries: Any, k: int = 5, *, relevant: Any = 1) -> float:
    """Return the Average Precision@k of rankings (Nan, Wang & Saligrama 2015, sec. 3).

    The cases of a query are ranked by score, the highest first; ties go to the first. A query scores (j − 1)/k if the
    first irrelevant case is on rank j ≤ k, and 1 if there is none, even if it has fewer than k cases. The result is
    the average over the queries.

    Parameters
    ----------
    y : sequence
        The true class of each case.
    scores : sequence of numbers
        E.g. ``clf.predict_proba(X)[:, 1]``.
    queries : sequence
        The query of each case: cases of the same query are ranked together.
    k : int, default 5
    relevant : class, default 1
        The class of the relevant cases.

    Examples
    --------
    >>> average_precision_at([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.9], ["a"] * 5 + ["b"])
    0.2
    """
    hits, scores = np.asarray(y) == relevant, np.asarray(scores, dtype=np.float64)
    _, query = np.unique(np.asarray(queries), return_inverse=True)
    if hits.ndim != 1 or not hits.shape == scores.shape == query.shape:
        shapes = f"{hits.shape}, {scores.shape} and {query.shape}"
        raise ValueError(f"y, scores and queries must have one entry per case each, got the shapes {shapes}")
    if not len(hits):
        raise ValueError("there are no cases to rank")
    if np.isnan(scores).any():
        raise ValueError(f"the score of row {int(np.flatnonzero(np.isnan(scores))[0])} is missing")
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
    order = np.lexsort((np.arange(len(hits)), -scores, query))
    starts = np.flatnonzero(np.r_[True, np.diff(query[order]) > 0])
    total = 0.0
    for ranked in np.split(hits[order], starts[1:]):
        top = ranked[:k]
        total += 1.0 if top.all() else int(top.argmin()) / k
    return total / len(starts)


def context_of(est: Any) -> ProblemContext:
    """Return the columns, classes and costs of a learner or tree."""
    context: ProblemContext = est.context if isinstance(est, Tree) else est.problem_
    return context


def _wrong_and_rejected(
    est: Any, context: ProblemContext, X: Any, y: Any
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return, for each case, whether the answer is a wrong class and whether it is a reject answer."""
    answers = est._route(X, answers=True)[0]
    rejected = answers >= len(context.classes)
    return ~rejected & (context.answer_labels[answers] != label_column(y)), rejected


def innermost(est: Any, X: Any) -> tuple[Any, Any]:
    """Return the learner inside searches and pipelines, and X as the pipeline's earlier steps transform it."""
    while not hasattr(est, "total_costs"):
        if hasattr(est, "best_estimator_"):
            est = est.best_estimator_
        elif hasattr(est, "steps"):
            est, X = est[-1], X if X is None or len(est) == 1 else est[:-1].transform(X)
        else:
            raise TypeError(f"{type(est).__name__} has no total_costs: it must be a learner of worthwhile or a Tree")
    return est, X


def chosen_of(est: Any) -> Any:
    """Return the learner that an AutoClassifier has chosen; any other learner itself."""
    return est.best_estimator_ if hasattr(est, "candidates_") else est


@dataclass(frozen=True)
class CostReport:
    """Average costs per case, tests and errors separately; see `cost_report`."""

    n_cases: int
    test_cost: float
    error_cost: float
    total_cost: float
    error_rate: float
    normalized: float | None = None
    reject_rate: float = 0.0

    def __str__(self) -> str:
        rejected = f", {self.reject_rate:.1%} rejected" if self.reject_rate else ""
        lines = [
            f"cases       {self.n_cases:>10}",
            f"test cost   {self.test_cost:>10.2f} per case",
            f"error cost  {self.error_cost:>10.2f} per case ({self.error_rate:.1%} wrong{rejected})",
            f"total cost  {self.total_cost:>10.2f} per case",
        ]
        if self.normalized is not None:
            lines.append(f"normalized  {self.normalized:>10.1f} %")
        return "\n".join(lines)


def cost_report(
    est: Any,
    X: Any,
    y: Any,
    standard_cost: float | None = None,
    case_prices: Any = None,
    case_errors: Any = None,
) -> CostReport:
    """Return what an estimator costs on these cases, tests and errors separately.

    Parameters
    ----------
    est : learner or Tree
    X, y : cases and their classes
    standard_cost : float, optional
        For the normalized cost; see `normalized_cost`.
    case_prices, case_errors : tables, optional
        What tests and errors cost each case; see `Tree.total_costs`.

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
    est, X = innermost(est, X)
    tests, totals = est.test_costs(X, case_prices, y), est.total_costs(X, y, case_prices, case_errors)
    wrong, rejected = _wrong_and_rejected(est, context_of(est), X, y)
    by_case = case_prices, case_errors
    normalized = None if standard_cost is None else normalized_cost(est, X, y, standard_cost, *by_case)
    return CostReport(
        len(tests),
        float(tests.mean()),
        float((totals - tests).mean()),
        float(totals.mean()),
        float(wrong.mean()),
        normalized,
        float(rejected.mean()),
    )


@dataclass(frozen=True)
class Comparison:
    """Two learners on the same splits or cases; see `compare`. A negative difference favours the first one."""

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
        For each pair: mean difference, p-values of the paired t-test and of Wilcoxon's signed-rank test (both 1.0 if
        the two never differ), and the number of splits where the first one costs less (wins) and more (losses).

    Examples
    --------
    >>> [c] = compare({"act": [10.0, 12.0, 11.0, 9.0], "c4.5": [14.0, 15.0, 13.0, 15.0]})
    >>> c.difference, c.wins, round(c.t_test, 3), round(c.wilcoxon, 3)
    (-3.75, 4, 0.022, 0.125)
    """
    from scipy import stats

    costs = _checked_results(results)
    found = []
    for (first, a), (second, b) in itertools.combinations(costs.items(), 2):
        gap = a - b
        if not gap.any():
            t_test, wilcoxon = 1.0, 1.0
        else:
            # If all differences are equal there is no variance to test against: the t-test is certain.
            same = np.ptp(gap) <= 1e-12 * np.abs([a, b]).max()
            t_test = 0.0 if same else float(stats.ttest_rel(a, b).pvalue)
            wilcoxon = float(stats.wilcoxon(gap).pvalue)
        found.append(
            Comparison(first, second, float(gap.mean()), t_test, wilcoxon, int((gap < 0).sum()), int((gap > 0).sum()))
        )
    return found


def _checked_results(results: Mapping[str, Any]) -> dict[str, npt.NDArray[np.float64]]:
    if len(results) < 2:
        raise ValueError(f"a comparison needs at least two learners, got {', '.join(map(str, results)) or 'none'}")
    costs: dict[str, npt.NDArray[np.float64]] = {}
    for name, values in results.items():
        try:
            costs[name] = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"the results of {name!r} are not numbers: {values!r}") from None
    length = next(iter(costs.values())).size
    for name, values in costs.items():
        if values.shape != (length,) or length < 2 or not np.isfinite(values).all():
            raise ValueError(
                f"the results of {name!r} must be at least two finite costs, as many as those of the first learner"
                f" ({length}), got {values.tolist()}"
            )
    return costs

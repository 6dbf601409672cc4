"""The data that each section of the report shows; the templates turn them into HTML."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from worthwhile.evaluation.baselines import warn_if_useless
from worthwhile.evaluation.evaluate import evaluate
from worthwhile.evaluation.metrics import context_of, innermost
from worthwhile.evaluation.sensitivity import BreakEven, break_even, faster
from worthwhile.evaluation.spending import spending
from worthwhile.learners.progress import Progress
from worthwhile.report.tree_layout import layout_tree
from worthwhile.table.columns import Factor, value_codes
from worthwhile.table.schema import OtherValue
from worthwhile.tree.context import ProblemContext, label_column
from worthwhile.tree.json_format import write_tree
from worthwhile.tree.node_costs import node_costs
from worthwhile.tree.tree import Tree

if TYPE_CHECKING:
    from worthwhile.evaluation.evaluate import Evaluation
    from worthwhile.learners.forest.classifier import BudgetForestClassifier, BudgetRecord

__all__ = ["SECONDS", "sections"]

SECONDS = 60.0  # limit for finding break-even prices, unless another one is given
MAX_RECORDS = 12  # rows of a forest's budget curve
N_CASES = 10  # number of most expensive cases to show
BY_ACT = "ACT without look-ahead"  # what `faster` returns for many cases
STRIP = 180  # width of the picture of a price range


def sections(
    clf: Any,
    X: Any,
    y: Any,
    X_train: Any,
    y_train: Any,
    sensitivity: bool | float,
    name_of: Callable[[int], str],
    tell: Callable[[Progress], Any] | None,
    by_case: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the variables of the templates; the parameters are those of `write_report`."""
    est, X_own = innermost(clf, X)
    problem = context_of(est)
    learner = "tree" if isinstance(est, Tree) else type(est).__name__.removesuffix("Classifier")
    if hasattr(est, "stages_"):
        raise ValueError("a report shows a tree or a forest; for a cascade use evaluate, explain and next_test")
    forest = hasattr(est, "trees_")
    tree = None if forest else est if isinstance(est, Tree) else est._tree()
    own, there = ((by_case.get(f"{of}case_prices"), by_case.get(f"{of}case_errors")) for of in ("", "train_"))
    return {
        "learner": learner,
        "by_hand": isinstance(est, Tree),
        "problem": problem,
        "tree": tree,
        "n_train": None if y_train is None else len(y_train),
        "same_cases": X_train is X,
        "summary": _summary(evaluate(clf, X, y, X_train, y_train, name=f"this model ({learner})", **by_case)),
        "useless": "" if y_train is None else warn_if_useless(est, innermost(clf, X_train)[1], y_train, *there),
        "forest": _forest(est, est.budget_curve(X_own, y)) if forest else None,
        "near_optimal": getattr(est, "near_optimal_", None),
        "first_test": None if tree is None or tree.n_nodes == 1 else tree.columns[tree.nodes.test[0]],
        "layout": None if tree is None else layout_tree(tree),
        "model": None if forest else write_tree(est) if isinstance(est, Tree) else est._document(),
        "spending": spending(clf, X, own[0], y),
        "break_even": _break_even(clf, X_train, y_train, sensitivity, tell),
        "expected": _expected(est, tree, X_train is X),
        "cases": _cases(est, problem, X_own, y, name_of, *own),
    }


def _summary(found: Evaluation) -> dict[str, Any]:
    return {
        "found": found,
        "best": min(found.strategies[1:], key=lambda way: way.total_cost.mean),
        "largest": max(way.total_cost.mean for way in found.strategies),
        "rejects": any(way.reject_rate for way in found.strategies),
    }


def _expected(est: Any, tree: Tree | None, same_cases: bool) -> dict[str, Any] | None:
    """Return what the model was expected to cost a new case before that was measured; None if unknown.

    Without an estimate of the learner it is what the tree's own training cases say, which is no news beside their cost.
    """
    cost = getattr(est, "expected_cost_", None)  # not in older model files
    if cost is not None:
        return {"cost": cost, "interval": getattr(est, "expected_cost_interval_", None)}
    root = None if tree is None or same_cases else node_costs(tree)[0].expected_cost
    return None if root is None else {"cost": root, "interval": None}


# ---- forests


def _forest(clf: BudgetForestClassifier, curve: Sequence[BudgetRecord]) -> dict[str, Any]:
    """Return how a forest keeps to its budget."""
    own, consulted = _records_in_use(clf, curve)
    shown = _thinned(own, consulted)
    return {
        "clf": clf,
        "n_tests": len(clf.problem_.columns),
        "sampling": getattr(clf, "sampling_", ""),  # not in older model files
        "records": shown,
        "consulted": own[consulted],
        "has_rates": any(one.rate is not None for one in shown),
        "largest": max((one.price + max(one.error_cost, 0.0) for one in shown), default=0.0),
    }


def _records_in_use(clf: BudgetForestClassifier, curve: Sequence[BudgetRecord]) -> tuple[list[BudgetRecord], int]:
    """Return the records of the forest in use, and the position of the one that the budget selected."""
    # By identity: two forests may have equal parameters, and two records equal figures.
    others = itertools.takewhile(lambda forest: forest is not clf._chosen, clf.forests_)
    start, kept = sum(len(forest.curve) for forest in others), clf._chosen.curve
    consulted = next(i for i, record in enumerate(kept) if record is clf.record_)
    return list(curve[start : start + len(kept)]), consulted


def _thinned(curve: list[Any], kept: int) -> list[Any]:
    """Return about MAX_RECORDS evenly spaced records, including the first, the last and the one at `kept`."""
    if len(curve) <= MAX_RECORDS:
        return curve
    evenly = {round(i * (len(curve) - 1) / (MAX_RECORDS - 1)) for i in range(MAX_RECORDS)}
    return [curve[i] for i in sorted(evenly | {kept})]


# ---- break-even prices


def _break_even(
    clf: Any, X: Any, y: Any, sensitivity: bool | float, tell: Callable[[Progress], Any] | None
) -> dict[str, Any]:
    """Return the break-even prices and how they were found, or the reason why there are none."""
    est, X = innermost(clf, X)
    if isinstance(sensitivity, bool) and not sensitivity:
        return {"missing": "not requested"}
    if hasattr(est, "trees_"):
        return {"missing": "forest"}
    if isinstance(est, Tree):
        return {"missing": "by hand"}
    if y is None:
        return {"missing": "no cases"}
    seconds = SECONDS if isinstance(sensitivity, bool) else float(sensitivity)
    learner, changed = faster(est, X, y)
    names, in_tree = _by_interest(est), set(est._tree().tests_used())
    found = break_even(learner, X, y, tests=names, seconds=seconds, tell=tell)
    examined = {one.test for one in found}
    moving = [one for one in found if one.trials and one.enters is not None]
    prices = [price for one in moving for price in (one.price, one.enters, one.leaves) if price]
    scale = min(prices, default=1.0), max(prices, default=1.0)
    return {
        "missing": "",
        "rows": [
            (one, _strip(one, *scale)) for one in sorted(moving, key=lambda one: (not one.used, -(one.enters or 0.0)))
        ],
        "in_tree": in_tree,
        "useless": [one.test for one in found if one.finished and one.enters is None],
        "not_examined": [name for name in names if name not in examined],
        "by": f"{BY_ACT} instead of {type(est).__name__.removesuffix('Classifier')}" if "learner" in changed else "",
        "disagree": sorted((one.test for one in found if one.used != (one.test in in_tree)), key=names.index),
        "changed": ", ".join(f"{name}={value!r}" for name, value in changed.items() if name != "learner"),
        "n_cases": len(y),
        "trials": 1 + sum(one.trials for one in found),
        "seconds": seconds,
        "finished": len(found) == len(names) and all(one.finished for one in found),
    }


def _by_interest(est: Any) -> list[str]:
    """Return all tests, those with a price first, then those of the tree: time may run out before the last ones."""
    tree = est._tree()
    used, prices = set(tree.tests_used()), tree.pricing
    alone = [prices.price(prices.closure([test])) for test in range(len(tree.columns))]
    order = sorted(range(len(alone)), key=lambda test: (alone[test] == 0, tree.columns[test] not in used, alone[test]))
    return [tree.columns[test] for test in order]


def _strip(one: BreakEven, least: float, top: float) -> dict[str, float]:
    """Return positions on the price scale of a test, which is logarithmic with 0 at the left end."""
    span = math.log(top / least) if top > least else 1.0

    def at(price: float) -> float:
        return 14 + (STRIP - 20) * math.log(price / least) / span if price > 0 else 2.0

    assert one.enters is not None  # tests that are never used are listed separately
    return {
        "used": at(one.enters),
        "unknown": at(one.enters if one.leaves is None else one.leaves),
        "now": at(one.price),
    }


# ---- individual cases


def _cases(
    est: Any,
    problem: ProblemContext,
    X: Any,
    y: Any,
    name_of: Callable[[int], str],
    case_prices: Any = None,
    case_errors: Any = None,
) -> dict[str, Any]:
    """Return the most expensive cases, each with an explanation."""
    answers, prices, _ = est._route(X, answers=True, prices=True, case_prices=case_prices, y=y)
    columns = est._read(X)
    errors = problem.errors_of(answers, y, warn=False, case_errors=case_errors)
    totals = prices + errors
    worst = np.argsort(-totals, kind="stable")[:N_CASES]
    truth = label_column(y)
    rows = []
    for row in worst.tolist():
        case = {
            name: _value(array, values, row)
            for name, values, array in zip(problem.columns, problem.schema.values, columns.arrays, strict=True)
        }
        rows.append(
            {
                "name": name_of(row),
                "tests": prices[row],
                "errors": errors[row],
                "total": totals[row],
                "truth": truth[row],
                "answer": problem.answers[answers[row]],
                "explanation": str(est.explain(case)),
            }
        )
    share = float(totals[worst].sum() / totals.sum()) if totals.sum() > 0 else 0.0
    return {"rows": rows, "share": share, "n_cases": len(totals)}


def _value(array: Any, values: tuple[str, ...] | None, row: int) -> Any:
    if not isinstance(array, Factor):
        value = float(array[row])
        return None if math.isnan(value) else value
    code = int(array.codes[row])
    if code < 0:
        return None
    text = array.categories[code]
    return text if values is None or text in value_codes(values) else OtherValue(text)

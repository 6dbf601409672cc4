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
from worthwhile.evaluation.metrics import chosen_of, context_of, innermost
from worthwhile.evaluation.sensitivity import BreakEven, break_even, faster
from worthwhile.evaluation.spending import spending
from worthwhile.learners.auto.classifier import choice_reason
from worthwhile.learners.progress import Progress
from worthwhile.report.tree_layout import layout_tree
from worthwhile.table.columns import Factor, value_codes
from worthwhile.table.schema import OtherValue
from worthwhile.tree.context import ProblemContext, label_column
from worthwhile.tree.json_format import write_tree
from worthwhile.tree.node_costs import node_costs
from worthwhile.tree.text import text_notes
from worthwhile.tree.tree import Tree

if TYPE_CHECKING:
    from worthwhile.evaluation.evaluate import Evaluation
    from worthwhile.learners.cascade.classifier import CascadeClassifier
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
    chosen = chosen_of(est)
    learner = "tree" if isinstance(est, Tree) else type(chosen).__name__.removesuffix("Classifier")
    forest, several = hasattr(chosen, "trees_"), hasattr(chosen, "trees_") or hasattr(chosen, "stages_")
    tree = None if several else est if isinstance(est, Tree) else chosen._tree()
    own, there = ((by_case.get(f"{of}case_prices"), by_case.get(f"{of}case_errors")) for of in ("", "train_"))
    return {
        "learner": learner,
        "by_hand": isinstance(est, Tree),
        "chosen": chosen is not est,
        "problem": problem,
        "tree": tree,
        "n_train": None if y_train is None else len(y_train),
        "same_cases": X_train is X,
        "summary": _summary(evaluate(clf, X, y, X_train, y_train, name=f"this model ({learner})", **by_case)),
        "useless": "" if y_train is None else warn_if_useless(est, innermost(clf, X_train)[1], y_train, *there),
        "tried": _tried(est),
        "cascade": _cascade(chosen, X_own, own[0]) if hasattr(chosen, "stages_") else None,
        "forest": _forest(chosen, chosen.budget_curve(X_own, y)) if forest else None,
        "near_optimal": getattr(chosen, "near_optimal_", None),
        "first_test": None if tree is None or tree.n_nodes == 1 else tree.columns[tree.nodes.test[0]],
        "tree_notes": [] if tree is None else text_notes(tree),
        "layout": None if tree is None else layout_tree(tree),
        "model": None if several else write_tree(est) if isinstance(est, Tree) else chosen._document(),
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


def _tried(est: Any) -> dict[str, Any] | None:
    """Return what an AutoClassifier has tried, and why it chose one of them."""
    candidates = getattr(est, "candidates_", None)
    return candidates and {"rows": candidates, "reason": choice_reason(candidates)}


# ---- cascades and forests


def _cascade(clf: CascadeClassifier, X: Any, case_prices: Any) -> list[dict[str, Any]]:
    """Return the sets of tests of a cascade, their prices, and the share of the cases that end at each."""
    problem, ends = clf.problem_, clf._walked(X, case_prices)[3]
    return [
        {
            "tests": tests,
            "price": problem.pricing.price(problem.closure_of(tests)),
            "share": float((ends == at).mean()),
        }
        for at, tests in enumerate(clf.stages_)
    ]


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
    given, X = innermost(clf, X)
    est = chosen_of(given)
    if missing := _without_break_even(est, given, y, sensitivity):
        return {"missing": missing}
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


def _without_break_even(est: Any, given: Any, y: Any, sensitivity: bool | float) -> str:
    """Return why there are no break-even prices of a model; `given` has chosen it, or is the same."""
    reasons = {
        "not requested": isinstance(sensitivity, bool) and not sensitivity,
        "forest": hasattr(est, "trees_"),
        "cascade": hasattr(est, "stages_"),
        "by hand": isinstance(est, Tree),
        "no cases": y is None,
        # An AutoClassifier tries a leaf and free tests by limits of its own, which keep paid tests out at any price.
        "no paid tests": any(
            getattr(est, name, None) == least != getattr(given, name, None)
            for name, least in (("max_leaves", 1), ("cap", 0))
        ),
    }
    return next((reason for reason, applies in reasons.items() if applies), "")


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

"""What another model, or another price list, would have cost on the cases of a desk.

Where a model asks for a test whose result nobody knows, every possible result is tried: the cost is then between two
bounds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from worthwhile.costs.costs import Costs
from worthwhile.evaluation.metrics import context_of
from worthwhile.service.case_store import CaseStore
from worthwhile.service.model_store import ServedModel
from worthwhile.service.tables import cases
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.tree import Tree

__all__ = ["ReplayLine", "ReplayReport", "replay_cases", "reprice_cases"]

MAX_TRIES = 2_000  # results tried for one case; beyond, bounds are those of all tests and of the worst error


@dataclass(frozen=True)
class ReplayLine:
    """One case.

    Attributes
    ----------
    case_number : str
    tests_before : float
        What its tests did cost.
    tests_low, tests_high : float
        What the other model would have spent on tests: equal if every result it asks for is known.
    before, low, high : float or None
        The same with the cost of the error; None if the outcome is not known.
    unknown : tuple of str
        Tests that the other model asks for and that have no result.
    """

    case_number: str
    tests_before: float
    tests_low: float
    tests_high: float
    before: float | None
    low: float | None
    high: float | None
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class ReplayReport:
    """All cases, and those that could not be replayed, with the reason."""

    lines: tuple[ReplayLine, ...]
    skipped: tuple[tuple[str, str], ...]

    def totals(self) -> dict[str, float]:
        """Return sums over the cases: tests of all, total costs of those with an outcome."""
        with_outcome = [line for line in self.lines if line.before is not None]
        return {
            "cases": len(self.lines),
            "exact": sum(not line.unknown for line in self.lines),
            "tests_before": math.fsum(line.tests_before for line in self.lines),
            "tests_low": math.fsum(line.tests_low for line in self.lines),
            "tests_high": math.fsum(line.tests_high for line in self.lines),
            "outcomes": len(with_outcome),
            "before": math.fsum(line.before or 0.0 for line in with_outcome),
            "low": math.fsum(line.low or 0.0 for line in with_outcome),
            "high": math.fsum(line.high or 0.0 for line in with_outcome),
        }


def replay_cases(connection: sa.Connection, store: CaseStore, model: Any) -> ReplayReport:
    """Run a model on every case that is answered or closed, with the results that are known.

    Cases of a model with other classes or other tests are left out: nothing could be compared.
    """
    chosen = sa.select(cases.c.content).where(cases.c.state.in_(("answered", "closed"))).order_by(cases.c.opened_at)
    lines, skipped = [], []
    for text in connection.execute(chosen).scalars():
        case = json.loads(text)
        try:
            _check_alike(store.models.by_id(connection, case["model"]["id"]), context_of(model), case)
            lines.append(replay_case(model, case))
        except ValueError as error:
            skipped.append((case["case_number"], str(error)))
    return ReplayReport(tuple(lines), tuple(skipped))


def _check_alike(own: ServedModel, new: ProblemContext, case: Mapping[str, Any]) -> None:
    """Refuse a case that has nothing in common with another model."""
    if set(own.context.classes) != set(new.classes):
        raise ValueError(f"its model {own.name} has other classes")
    tests = {*case["known"], *case["unavailable"]} or set(own.context.columns)
    if tests.isdisjoint(new.columns):
        raise ValueError(f"its model {own.name} has other tests")


def reprice_cases(connection: sa.Connection, store: CaseStore, costs: Costs) -> ReplayReport:
    """Price what was done for every answered or closed case by another price list; its decisions stay as they are."""
    chosen = sa.select(cases.c.id, cases.c.content).where(cases.c.state.in_(("answered", "closed")))
    lines, skipped = [], []
    for case_id, text in connection.execute(chosen.order_by(cases.c.opened_at)).all():
        case, state = json.loads(text), store.state(connection, case_id)
        own = state.served.context
        try:
            context = ProblemContext.of(own.schema, own.classes, costs)
        except ValueError as error:
            skipped.append((case["case_number"], str(error)))
            continue
        amounts = state.amounts_by(context, state.guidance().advice)
        _, charged = state.priced_by(context, amounts)
        spent = context.pricing.price(charged, context.closure_of(state.already_paid), amounts)
        total = None
        if case["actual_cost"] is not None:
            errors = context.error_rows([state.truth])[0]
            total = spent + float(errors[list(context.answers).index(state.answer)])
        number = case["case_number"]
        lines.append(ReplayLine(number, case["spent"], spent, spent, case["actual_cost"], total, total, ()))
    return ReplayReport(tuple(lines), tuple(skipped))


def replay_case(model: Any, case: Mapping[str, Any]) -> ReplayLine:
    """Run a model on one case, as the API shows it."""
    context = context_of(model)
    known = {n: v for n, v in case["known"].items() if n in context.columns}
    known |= {n: None for n in case["unavailable"] if n in context.columns}
    context.schema.read_case(known)  # refuses values that the model does not know
    truth = None
    if case["truth"] is not None:
        truth = next((label for label in context.classes if label == case["truth"]), None)
        if truth is None:
            raise ValueError(f"the model has no class {case['truth']!r}")
    ends, unknown = _ends(model, known)
    tests = [spent for _, spent in ends]
    totals = None
    if truth is not None:
        errors = context.error_rows([truth])[0]
        costs = dict(zip(context.answers, errors.tolist(), strict=True))
        totals = [spent + costs[answer] for answer, spent in ends]
    return ReplayLine(
        case["case_number"],
        case["spent"],
        min(tests),
        max(tests),
        case["actual_cost"] if totals else None,
        min(totals) if totals else None,
        max(totals) if totals else None,
        tuple(unknown),
    )


def _ends(model: Any, known: Mapping[str, Any]) -> tuple[list[tuple[Any, float]], list[str]]:
    """Return every answer with what its tests cost that the case may come to, and the unknown tests on the way."""
    found: list[tuple[Any, float]] = []
    unknown: dict[str, None] = {}
    todo: list[dict[str, Any]] = [{}]
    tries = 0
    while todo:
        asked, tries = todo.pop(), tries + 1
        if tries > MAX_TRIES:
            return _widest(model), list(unknown)
        advice = model.next_test(asked)
        if advice.test is None:
            found.append((advice.answer, advice.spent))
        elif advice.test in known:
            todo.append({**asked, advice.test: known[advice.test]})
        else:
            unknown[advice.test] = None
            possible = list(_possible_values(model, advice.test))
            if not possible:
                return _widest(model), list(unknown)
            todo += [{**asked, advice.test: value} for value in possible]
    return found, list(unknown)


def _widest(model: Any) -> list[tuple[Any, float]]:
    """Return the ends between which every case is: no test and the best answer, all tests and the worst one."""
    context = context_of(model)
    everything = context.pricing.price(context.pricing.closure(range(len(context.columns))))
    return [(answer, spent) for answer in context.answers for spent in (0.0, everything)]


def _possible_values(model: Any, test: str) -> Iterator[Any]:
    """Yield a value for every branch that a test may lead to; nothing if the model has no trees to look at."""
    context = context_of(model)
    position = context.schema.position[test]
    values = context.schema.values[position]
    if values is not None:
        yield from values
        return
    trees = (model,) if isinstance(model, Tree) else getattr(model, "trees_", None) or (getattr(model, "tree_", None),)
    cuts: set[float] = set()
    for tree in trees:
        if tree is None:
            return
        cuts |= set(tree.nodes.threshold[tree.nodes.test == position].tolist())
    points = sorted(cuts)
    yield from points  # a value on a threshold goes to its first branch
    if points:
        yield float(np.nextafter(points[-1], np.inf))

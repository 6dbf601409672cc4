"""How the models of the desk do: expected against actual cost, drift of results, spending."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from worthwhile.learners.result_shares import ResultShares
from worthwhile.service.model_store import ModelStore, ServedModel
from worthwhile.service.tables import cases
from worthwhile.table.dates import date_text
from worthwhile.table.schema import Schema
from worthwhile.tree.branches import condition, number
from worthwhile.tree.tree import Tree
from worthwhile.tree.walk import Walk

__all__ = ["CostCheck", "DriftLine", "ModelReport", "SpendingLine", "monitor"]

ENOUGH = 20  # cases; fewer say nothing about drift
LEVEL = 0.01  # of the test of drift, divided by the number of tests that are compared
NEWEST = 500  # cases that a forest or a cascade is compared on: finding the path of one takes up to 10 ms
EXACT = 1e9  # training cases that shares written by hand count for
NO_SHARES = (
    "The model file does not say what tests said in training: it was written by an older release, or learned from a"
    " folder of files or without cases held out. A model that is learned again with learn says it."
)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CostCheck:
    """Expected and actual cost of the cases whose outcome is known, in a week or in all."""

    week: str
    n_cases: int
    expected: float
    actual: float
    error: float | None  # half the width of the 95 % interval of the mean difference; None for a single case


@dataclass(frozen=True)
class DriftLine:
    """The results of a test against those of the training cases, where the model asks for it."""

    test: str
    where: str
    n_cases: int
    branches: tuple[tuple[str, float, float], ...]  # the branch, its share in training, its share now
    p_value: float
    drifted: bool


@dataclass(frozen=True)
class SpendingLine:
    """What was spent on a test in a week."""

    week: str
    test: str
    n_orders: int
    spent: float


@dataclass(frozen=True)
class ModelReport:
    """What is known about one version of a model."""

    name: str
    version: int
    currency: str
    n_cases: int
    n_closed: int
    measured: tuple[float, float, float] | None  # expected cost of a new case, with its interval, found in training
    checks: tuple[CostCheck, ...]  # by week, then all together
    drift: tuple[DriftLine, ...]
    drift_note: str
    spending: tuple[SpendingLine, ...]
    by_test: tuple[tuple[str, int, float], ...]


def week_of(time: str) -> str:
    """Return the week of a time.

    Examples
    --------
    >>> week_of("2026-11-17T14:00:00.000000Z")
    '2026-W47'
    """
    year, week, _ = datetime.fromisoformat(time).isocalendar()
    return f"{year}-W{week:02d}"


def monitor(connection: sa.Connection, models: ModelStore) -> list[ModelReport]:
    """Return a report on every model that has cases, newest version first."""
    rows = connection.execute(sa.select(cases).where(cases.c.state != "erased").order_by(cases.c.opened_at)).all()
    by_model: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        by_model[row.model_id].append(row)
    found = [_report(models.by_id(connection, model_id), own) for model_id, own in by_model.items()]
    return sorted(found, key=lambda report: (report.name, -report.version))


def _report(served: ServedModel, rows: Sequence[Any]) -> ModelReport:
    contents = [json.loads(row.content) for row in rows]
    known = [(row.closed_at, row.expected, row.actual) for row in rows if row.actual is not None]
    drift, note = drift_of(served, [content["known"] for content in contents])
    lines = [(line, week_of(line["time"])) for content in contents for line in content["ledger"]]
    spending: dict[tuple[str, str], list[float]] = defaultdict(list)
    by_test: dict[str, list[float]] = defaultdict(list)
    for line, week in lines:
        spending[week, line["test"]].append(line["price"])
        by_test[line["test"]].append(line["price"])
    return ModelReport(
        served.name,
        served.version,
        served.context.costs.currency,
        len(rows),
        sum(row.state == "closed" for row in rows),
        _measured(served.model),
        tuple(cost_checks(known)),
        tuple(drift),
        note,
        tuple(
            SpendingLine(week, test, len(prices), math.fsum(prices))
            for (week, test), prices in sorted(spending.items(), reverse=True)
        ),
        tuple(
            (test, len(prices), math.fsum(prices))
            for test, prices in sorted(by_test.items(), key=lambda item: -math.fsum(item[1]))
        ),
    )


def _measured(model: Any) -> tuple[float, float, float] | None:
    if isinstance(model, Tree):
        return model.expected_cost
    mean = getattr(model, "expected_cost_", None)
    return None if mean is None else (mean, *model.expected_cost_interval_)


def cost_checks(known: Iterable[tuple[str, float | None, float]]) -> list[CostCheck]:
    """Compare expected and actual costs by week of closing, and all together (the last line)."""
    by_week: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for time, expected, actual in known:
        if expected is not None:
            by_week[week_of(time)].append((expected, actual))
    if not by_week:
        return []
    everything = [pair for pairs in by_week.values() for pair in pairs]
    named = [*sorted(by_week.items()), ("all", everything)]
    return [_check(week, np.array(pairs)) for week, pairs in named]


def _check(week: str, pairs: np.ndarray) -> CostCheck:
    n = len(pairs)
    difference = pairs[:, 1] - pairs[:, 0]
    error = 1.96 * float(difference.std(ddof=1)) / math.sqrt(n) if n > 1 else None
    return CostCheck(week, n, float(pairs[:, 0].mean()), float(pairs[:, 1].mean()), error)


def drift_of(served: ServedModel, known: Iterable[Mapping[str, Any]]) -> tuple[list[DriftLine], str]:
    """Compare the results of cases with those of the training cases, where the model asks for a test.

    Every case goes as far as its results reach: down a tree, whose nodes know how many training cases took each branch;
    through a forest or a cascade, which knows how results were distributed where it asks for a test. A chi-square test
    says whether training cases and these may come from one distribution.
    """
    if len(served.trees) == 1:
        if not served.trees[0].has_weights:
            return [], "This tree has no training weights."
        lines = _tree_lines(served.trees[0], known)
    elif shares := getattr(served.model, "result_shares_", None):
        lines = _result_lines(served, shares, known)
    else:
        return [], NO_SHARES
    compared = [line for line in lines if line.n_cases >= ENOUGH]
    found = [replace(line, drifted=line.p_value < LEVEL / len(compared)) for line in compared]
    note = "" if found else f"There are fewer than {ENOUGH} results of any test where the model asks for it."
    return sorted(found, key=lambda line: line.p_value), note


def _tree_lines(tree: Tree, known: Iterable[Mapping[str, Any]]) -> list[DriftLine]:
    """Return a line for every node that a case has passed."""
    taken: dict[int, Counter[int]] = defaultdict(Counter)
    for results in known:
        walk = Walk(tree, results)
        node = 0
        while tree.nodes.test[node] >= 0 and walk.is_known(node) and (branch := walk.branch(node)) >= 0:
            taken[node][branch] += 1
            node = tree.nodes.children(node)[branch]
    weights = tree.nodes.weights.sum(axis=1)
    # Weights written by hand may be shares; of how many cases is not known then.
    scale = EXACT if weights[0] <= 1 else 1.0
    lines = []
    for node, counts in taken.items():
        children = tree.nodes.children(node)
        words = [condition(tree, node, branch) for branch in range(len(children))]
        now = [float(counts[branch]) for branch in range(len(children))]
        name = tree.columns[int(tree.nodes.test[node])]
        lines.append(_drift_line(name, _path(tree, node), words, scale * weights[list(children)], np.array(now)))
    return lines


def _result_lines(
    served: ServedModel, shares: Mapping[str, ResultShares], known: Iterable[Mapping[str, Any]]
) -> list[DriftLine]:
    """Return a line for every test that the model has asked a case for."""
    schema = served.context.schema
    now = {name: np.zeros(len(own.counts)) for name, own in shares.items()}
    for results in list(known)[-NEWEST:]:
        codes, asked = schema.read_case(results), served.asked(results)
        for name in now.keys() & results.keys():
            test = schema.position[name]
            if test in asked:
                now[name][shares[name].part_of(codes[test])] += 1
    return [
        _drift_line(name, "where the model asks for it", _parts(schema, name, own), np.array(own.counts), now[name])
        for name, own in shares.items()
        if now[name].any()
    ]


def _parts(schema: Schema, name: str, shares: ResultShares) -> list[str]:
    """Return the parts of a test's results in words."""
    if shares.cuts is None:
        return list(schema.values[schema.position[name]] or ())
    cuts = [date_text(cut) if name in schema.dates else number(cut) for cut in shares.cuts]
    if not cuts:
        return ["any"]
    between = [f"> {low} to {high}" for low, high in itertools.pairwise(cuts)]
    return [f"≤ {cuts[0]}", *between, f"> {cuts[-1]}"]


def _drift_line(test: str, where: str, words: Sequence[str], before: Floats, now: Floats) -> DriftLine:
    from scipy.stats import chi2_contingency

    seen = before + now > 0
    p_value = 1.0
    if seen.sum() > 1 and before.sum() > 0:
        p_value = float(chi2_contingency([before[seen], now[seen]], correction=False).pvalue)
    shares = [counts / max(float(counts.sum()), 1e-300) for counts in (before, now)]
    parts = tuple(zip(words, shares[0].tolist(), shares[1].tolist(), strict=True))
    return DriftLine(test, where, int(now.sum()), parts, p_value, False)


def _path(tree: Tree, node: int) -> str:
    """Return the results that lead to a node, in words."""
    above: dict[int, tuple[int, int]] = {}
    for parent in range(node):
        for branch, child in enumerate(tree.nodes.children(parent)):
            above[child] = parent, branch
    words: list[str] = []
    while node in above:
        node, branch = above[node]
        words.insert(0, f"{tree.columns[int(tree.nodes.test[node])]} {condition(tree, node, branch)}")
    return ", ".join(words) or "first test"

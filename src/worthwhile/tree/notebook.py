"""Summaries for notebooks: small HTML tables that use the colours of the page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from worthwhile.tree.node_costs import node_costs
from worthwhile.wording import BY_PROBABILITIES, LEFT_OUT, amount, percent

if TYPE_CHECKING:
    from worthwhile.tree.context import ProblemContext
    from worthwhile.tree.tree import Tree

__all__ = ["cascade_table", "forest_table", "tree_table"]


def tree_table(tree: Tree, name: str) -> str:
    """Return the costs of a tree as a table.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> "3 nodes, 2 leaves, depth 1; expected cost 4.00 per case" in tree_table(clf.tree_, "DTMCClassifier")
    True
    """
    root = node_costs(tree)[0]
    # One figure: what was measured on cases left out, or else what the root says.
    said = root.expected_cost if tree.expected_cost is None else None
    expected = "" if said is None else f"; expected cost {amount(said)} per case, {BY_PROBABILITIES}"
    facts = [f"{_count(tree.n_nodes, 'node')}, {_count(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth}{expected}"]
    if tree.expected_cost is not None:
        mean, low, high = map(amount, tree.expected_cost)
        facts.append(f"expected cost of a new case: {mean} ({low} to {high}), {LEFT_OUT}")
    if root.stop_cost is not None:
        facts.append(f"without tests: {amount(root.stop_cost)} per case, always answering {root.stop_answer}")
    used = _usage(tree)
    rows = [(tree.columns[t], amount(_alone(tree.context, t)), used[t]) for t in sorted(used)]
    return _table(name, facts, ("test", "price alone", "used for"), rows)


def forest_table(context: ProblemContext, trees: Sequence[Tree], name: str, facts: Sequence[str]) -> str:
    """Return the costs of a forest as a table."""
    tests = sorted({int(t) for tree in trees for t in tree.nodes.test if t >= 0})
    using = {t: sum(bool((tree.nodes.test == t).any()) for tree in trees) for t in tests}
    rows = [(context.columns[t], amount(_alone(context, t)), _count(using[t], "tree")) for t in tests]
    return _table(name, [_count(len(trees), "tree"), *facts], ("test", "price alone", "used by"), rows)


def cascade_table(context: ProblemContext, stages: Sequence[tuple[str, ...]], name: str, facts: Sequence[str]) -> str:
    """Return the sets of tests of a cascade as a table."""
    rows = []
    for number, tests in enumerate(stages, start=1):
        price = context.pricing.price(context.closure_of(tests))
        rows.append((str(number), amount(price), ", ".join(tests) or "no test"))
    return _table(name, facts, ("set", "price", "tests"), rows)


def _usage(tree: Tree) -> dict[int, str]:
    """Return, by test, the share of the training cases that need it; empty without training weights."""
    total = float(tree.nodes.weights[0].sum())
    above: list[frozenset[int]] = [frozenset()] * tree.n_nodes
    reach: dict[int, float] = {}
    for node in range(tree.n_nodes):  # children come after their parents
        test = int(tree.nodes.test[node])
        if test < 0:
            continue
        reach[test] = reach.get(test, 0.0) + (0.0 if test in above[node] else float(tree.nodes.weights[node].sum()))
        for child in tree.nodes.children(node):
            above[child] = above[node] | {test}
    return {test: f"{percent(weight / total)} of cases" if total > 0 else "" for test, weight in reach.items()}


def _alone(context: ProblemContext, test: int) -> float:
    return context.pricing.price(context.pricing.closure([test]))


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _table(
    name: str, facts: Sequence[str], header: tuple[str, ...], rows: Sequence[tuple[str, ...]], most: int = 30
) -> str:
    escape = html.escape
    head = "".join(f'<th scope="col" style="text-align: {side}">{escape(h)}</th>' for h, side in _sides(header))
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align: {side}">{escape(cell)}</td>' for cell, side in _sides(row)) + "</tr>"
        for row in rows[:most]
    )
    if len(rows) > most:
        body += f'<tr><td colspan="{len(header)}">and {len(rows) - most} more</td></tr>'
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>" if rows else ""
    caption = "<br>".join([f"<strong>{escape(name)}</strong>", *map(escape, facts)])
    style = "caption-side: top; text-align: left; padding: .3em 0"
    return f'<table class="worthwhile"><caption style="{style}">{caption}</caption>{table}</table>'


def _sides(cells: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(cell, "right" if position == 1 else "left") for position, cell in enumerate(cells)]

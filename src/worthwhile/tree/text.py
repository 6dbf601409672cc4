"""A tree as text and in Graphviz's language, with prices and expected costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from worthwhile.tree.branches import condition
from worthwhile.tree.node_costs import NodeCosts, node_costs
from worthwhile.wording import BY_PROBABILITIES, LEFT_OUT, amount, enumeration, percent, weight_text

if TYPE_CHECKING:
    from worthwhile.tree.json_format import ExpectedCost
    from worthwhile.tree.tree import Tree

__all__ = ["box_lines", "colour_of", "expectation", "idle_tests", "text_notes", "to_dot", "to_text"]

# Two figures are called expected; where both are shown, this says why they differ.
NODES_EXPECT = f"Expected costs at the nodes are {BY_PROBABILITIES}; at the first node they may differ."

# Okabe and Ito's palette, which colour-blind readers can tell apart, lightened for black text.
_COLOURS = ("#a6d5f0", "#f5c98a", "#9fdcc4", "#e8b7d3", "#f4ef9e", "#9db8d9", "#eda98a", "#d9d9d9")


def colour_of(tree: Tree, node: int) -> str:
    """Return the colour of a leaf, by its answer."""
    return _COLOURS[int(tree.nodes.answer[node]) % len(_COLOURS)]


def is_leaf(tree: Tree, node: int) -> bool:
    return bool(tree.nodes.test[node] < 0)


def _paid(costs: NodeCosts) -> str:
    return "paid" if costs.known or costs.order is None else "ordered above"


def price_notes(tree: Tree, costs: NodeCosts) -> list[str]:
    """Return what the test of a node costs there, its groups, wait and surcharges, and what is ordered with it."""
    if costs.paid:
        return [_paid(costs)]
    notes = [amount(costs.price)]
    notes += [f"group {group}{' already paid' * paid}" for group, paid in costs.groups]
    notes += [f"wait {costs.waits:g}"] if costs.waits else []
    notes += [f"includes {enumeration([str(extra) for extra in costs.surcharges])}"] if costs.surcharges else []
    if costs.delayed:
        also = ", ".join(tree.columns[t] for t in costs.commits)
        if costs.chosen:
            notes += [f"orders all that may follow: {also}"] if also else []
        else:
            notes.append(f"delayed: also orders {also}" if also else "delayed")
    return notes


def leaf_notes(tree: Tree, node: int, costs: NodeCosts) -> list[str]:
    """Return the training cases of a leaf, e.g. "34 of 303 cases, 91% correct", and what is expected of new cases.

    Shares of training cases stand beside costs only if both are of these cases. Otherwise the costs follow with the
    share that they come from: "new cases: 86% correct, errors cost 70.00".
    """
    weights = tree.nodes.weights
    total, here = weights[0].sum(), weights[node].sum()
    if costs.share is None:
        return []
    if here <= 0:
        return ["no training cases"]
    counted = [f"{weight_text(here)} of {weight_text(total)} cases", *_correct(tree, node, weights[node] / here)]
    errors = [] if costs.expected_cost is None else [f"errors cost {amount(costs.expected_cost)}"]
    if tree.nodes.probabilities is None or not errors:
        return [", ".join([*counted, *errors])]
    expected = [*_correct(tree, node, tree.nodes.probabilities[node]), *errors]
    return [", ".join(counted), f"new cases: {', '.join(expected)}"]


def _correct(tree: Tree, node: int, shares: npt.NDArray[np.float64]) -> list[str]:
    """Return the share of correct answers; nothing if the answer is no class."""
    answer = int(tree.nodes.answer[node])
    if answer >= len(tree.classes):
        return []
    share = f"{shares[answer]:.0%}"  # 100% beside errors that cost something would be wrong
    return [f"{'over 99%' if share == '100%' and shares[answer] < 1 - 1e-9 else share} correct"]


def node_line(tree: Tree, node: int, costs: NodeCosts, note: str = "") -> str:
    """Return the line of a node; a note goes into the parentheses behind a test."""
    if is_leaf(tree, node):
        notes = "; ".join(leaf_notes(tree, node, costs))
        return f"{tree.answers[tree.nodes.answer[node]]}{f' ({notes})' if notes else ''}"
    notes = ", ".join(price_notes(tree, costs))
    if costs.share is not None:
        notes += f"; {percent(costs.share)} of cases"
    if costs.expected_cost is not None:
        notes += f", expected cost {amount(costs.expected_cost)}"
    return f"{tree.columns[tree.nodes.test[node]]}? ({notes}{note})"


def idle_tests(tree: Tree) -> dict[int, str]:
    """Return the answer below each test node that has the same answer in all its branches; only the upper ones."""
    answers: list[set[int]] = [set() for _ in range(tree.n_nodes)]
    for node in reversed(range(tree.n_nodes)):  # children come after their parent
        below = (answers[child] for child in tree.nodes.children(node))
        answers[node] = {int(tree.nodes.answer[node])} if is_leaf(tree, node) else set().union(*below)
    idle = {node for node in range(tree.n_nodes) if len(answers[node]) == 1 and not is_leaf(tree, node)}
    inside = {child for node in idle for child in tree.nodes.children(node)}
    return {node: str(tree.answers[answers[node].pop()]) for node in sorted(idle - inside)}


def text_notes(tree: Tree) -> list[str]:
    """Return sentences that explain what may surprise in the text of a tree: idle tests, and parts of cases.

    Examples
    --------
    >>> import worthwhile as ww
    >>> X, y = [[i] for i in range(20)], [0] * 9 + [1] * 2 + [0] * 9
    >>> clf = ww.C45Classifier(prune="none", answer="majority", min_cases=8).fit(X, y)
    >>> text_notes(clf.tree_)
    ['Where it says “always answers”, all branches below give the same answer.']
    """
    notes = []
    if idle_tests(tree):
        notes.append("Where it says “always answers”, all branches below give the same answer.")
    leaves = tree.nodes.weights[tree.nodes.test < 0].sum(axis=1)
    part = next((text for text in map(weight_text, leaves.tolist()) if "." in text), "")
    if part:
        notes.append(f"Counts such as {part} include parts of cases: one without a result is in several branches.")
    return notes


def box_lines(tree: Tree, node: int, costs: NodeCosts) -> list[str]:
    """Return the short lines in the box of a node."""
    share = [] if costs.share is None else [f"{percent(costs.share)} of cases"]
    if is_leaf(tree, node):
        cost = [] if costs.expected_cost is None else [f"errors {amount(costs.expected_cost)}"]
        return [str(tree.answers[tree.nodes.answer[node]]), *share, *cost]
    if costs.paid:
        lines = [_paid(costs)]
    else:
        lines = [f"price {amount(costs.price)}"]
        lines += [f"group {group}{', paid' * paid}" for group, paid in costs.groups]
        lines += [f"wait {costs.waits:g}"] if costs.waits else []
        lines += [f"incl. {amount(extra.amount)}: {extra.name}" for extra in costs.surcharges]
        n, tests = len(costs.commits), f"test{'s' * (len(costs.commits) > 1)}"
        if costs.delayed and not costs.chosen:
            lines.append(f"delayed, +{n} {tests}" if n else "delayed")
        elif n:
            lines.append(f"orders {n} more {tests}")
    cost = [] if costs.expected_cost is None else [f"expected {amount(costs.expected_cost)}"]
    return [tree.columns[tree.nodes.test[node]], *lines, *share, *cost]


def to_text(tree: Tree, expected_costs: bool = True) -> str:
    """Return the tree as indented text; see `Tree.to_text`."""
    costs = node_costs(tree, expected_costs)
    idle = idle_tests(tree) if expected_costs else {}  # the trees of a forest vote
    lines = []
    todo = [(0, "", "")]  # node, the start of its line, the indent of its children
    while todo:
        node, before, indent = todo.pop()
        note = f"; always answers {idle[node]}" if node in idle else ""
        lines.append(before + node_line(tree, node, costs[node], note))
        children = tree.nodes.children(node)
        for b in reversed(range(len(children))):
            last = b == len(children) - 1
            lead = f"{indent}{'└─' if last else '├─'} {condition(tree, node, b)}: "
            todo.append((children[b], lead, indent + ("   " if last else "│  ")))
    return "\n".join(lines)


def expectation(tree: Tree, expected: ExpectedCost | None = None) -> str:
    """Return what a new case is expected to cost, and why the first node may say something else; "" if unknown.

    `expected` is what is known better than by the tree: what it costs to choose the tree was measured, too.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit([[i] for i in range(20)], [0, 1] * 10)
    >>> print(expectation(clf.tree_))
    A new case is expected to cost 5.00 (2.75 to 7.25), measured on cases left out in training.
    """
    expected = expected or tree.expected_cost
    if expected is None:
        return ""
    mean, low, high = map(amount, expected)
    measured = f"A new case is expected to cost {mean} ({low} to {high}), {LEFT_OUT}."
    return measured if tree.n_nodes == 1 else f"{measured} {NODES_EXPECT}"


def to_dot(tree: Tree) -> str:
    """Return the tree in Graphviz's language; a dashed frame holds what is ordered at once."""
    costs = node_costs(tree)
    lines = [
        "digraph tree {",
        '  node [shape=box, style="rounded,filled", fillcolor="white", fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
    ]
    for node in range(tree.n_nodes):
        label = "\n".join(box_lines(tree, node, costs[node]))
        colour = f', fillcolor="{colour_of(tree, node)}"' if is_leaf(tree, node) else ""
        lines.append(f"  {node} [label={_dot_string(label)}{colour}];")
        for b, child in enumerate(tree.nodes.children(node)):
            lines.append(f"  {node} -> {child} [label={_dot_string(condition(tree, node, b))}];")
    return "\n".join([*lines, *_dot_frames(tree, costs), "}"])


def _dot_frames(tree: Tree, costs: list[NodeCosts]) -> list[str]:
    """Return a cluster for every order that commits to others."""
    lines = []
    for order in sorted({own.order for own in costs if own.order is not None}):
        if costs[order].commits:
            inside = " ".join(f"{node};" for node, own in enumerate(costs) if own.order == order)
            label = _dot_string(f"ordered at once with {tree.columns[tree.nodes.test[order]]}")
            lines.append(f'  subgraph cluster_{order} {{ style="dashed"; label={label}; {inside} }}')
    return lines


def _dot_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

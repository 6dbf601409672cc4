"""A tree as text and in Graphviz's language, with the money on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from worthwhile._advice import condition, subtree

if TYPE_CHECKING:
    from worthwhile.tree import Tree

__all__ = ["NodePrice", "node_prices", "to_dot", "to_text"]


@dataclass(frozen=True)
class NodePrice:
    """What the test of a node costs a case that comes there, and how the order stands."""

    price: float
    paid: bool  # on the way here, or with an order above
    commits: tuple[int, ...]  # other tests ordered with it


def node_prices(tree: Tree) -> list[NodePrice | None]:
    """Return, per node, what its test costs there to a case with all values known; None for leaves."""
    found: list[NodePrice | None] = [None] * tree.n_nodes
    prices, todo = tree._prices, [(0, frozenset[int]())]
    while todo:
        node, paid = todo.pop()
        test = int(tree.nodes.test[node])
        if test < 0:
            continue
        if test in paid:
            found[node] = NodePrice(0.0, True, ())
        else:
            ordered = {test}
            if prices.orders_delayed(test, paid):
                ordered |= {int(tree.nodes.test[n]) for n in subtree(tree, node)} - {-1}
            charged = prices.closure(ordered)
            found[node] = NodePrice(prices.price(charged, paid), False, tuple(sorted(ordered - paid - {test})))
            paid |= charged
        todo += [(child, paid) for child in tree.nodes.children(node)]
    return found


def node_label(tree: Tree, node: int, price: NodePrice | None) -> str:
    """Return what stands at a node: the test with its price here, or the answer with the cases it was learned from."""
    if price is None:
        return str(tree.answers[tree.nodes.answer[node]])
    name = tree.columns[tree.nodes.test[node]]
    if price.paid:
        return f"{name}? (paid)"
    also = f", orders {', '.join(tree.columns[t] for t in price.commits)} too" if price.commits else ""
    return f"{name}? ({price.price:.2f}{also})"


def leaf_note(tree: Tree, node: int) -> str:
    """Return the cases a node was learned from, e.g. " (34 of 303 cases, 91% right)"."""
    weights = tree.nodes.weights
    total, here = weights[0].sum(), weights[node].sum()
    if total <= 0:
        return ""
    if here <= 0:
        return " (no training case)"
    answer = int(tree.nodes.answer[node])
    right = f", {weights[node][answer] / here:.0%} right" if answer < len(tree.classes) else ""
    return f" ({_weight(here)} of {_weight(total)} cases{right})"


def _weight(weight: float) -> str:
    return f"{weight:.0f}" if np.isclose(weight, round(weight)) else f"{weight:.1f}"


def to_text(tree: Tree) -> str:
    """Return the tree as indented text."""
    prices = node_prices(tree)
    lines = []
    todo = [(0, "", "")]  # node, what stands before it, what stands before its children
    while todo:
        node, before, indent = todo.pop()
        note = leaf_note(tree, node) if prices[node] is None else ""
        lines.append(before + node_label(tree, node, prices[node]) + note)
        children = tree.nodes.children(node)
        for b in reversed(range(len(children))):
            last = b == len(children) - 1
            lead = f"{indent}{'└─' if last else '├─'} {condition(tree, node, b)}: "
            todo.append((children[b], lead, indent + ("   " if last else "│  ")))
    return "\n".join(lines)


def to_dot(tree: Tree) -> str:
    """Return the tree in Graphviz's language."""
    prices = node_prices(tree)
    lines = [
        "digraph tree {",
        '  node [shape=box, style="rounded", fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
    ]
    for node in range(tree.n_nodes):
        label = node_label(tree, node, prices[node]) + (leaf_note(tree, node) if prices[node] is None else "")
        lines.append(f"  {node} [label={_dot_string(label)}];")
        for b, child in enumerate(tree.nodes.children(node)):
            lines.append(f"  {node} -> {child} [label={_dot_string(condition(tree, node, b))}];")
    return "\n".join([*lines, "}"])


def _dot_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

"""A tree as rules: one sentence per leaf."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from worthwhile.tree.branches import threshold_text
from worthwhile.tree.node_costs import NodeCosts, node_costs
from worthwhile.wording import amount, enumeration, percent

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["rules"]


class Interval(NamedTuple):
    """Numbers above a lower and up to an upper limit."""

    above: float
    most: float


Condition = Interval | tuple[str, ...]  # of a numeric test; of a nominal one, its values
Conditions = dict[int, Condition]  # by test, in the order in which they are asked


def rules(tree: Tree, expected_costs: bool = True) -> list[str]:
    """Return a sentence for every leaf, from left to right; see `Tree.rules`."""
    costs = node_costs(tree, expected_costs)
    sentences = []
    todo: list[tuple[int, Conditions]] = [(0, {})]
    while todo:
        node, conditions = todo.pop()
        children = tree.nodes.children(node)
        if not children:
            sentences.append(_sentence(tree, node, conditions, costs[node]))
        for b in reversed(range(len(children))):
            todo.append((children[b], _with_branch(tree, node, b, conditions)))
    return sentences


def _with_branch(tree: Tree, node: int, branch: int, conditions: Conditions) -> Conditions:
    """Return conditions with that of a branch; a test that occurs again keeps its place."""
    test = int(tree.nodes.test[node])
    values, before = tree.schema.values[test], conditions.get(test)
    if values is None:
        threshold = float(tree.nodes.threshold[node])
        above, most = before if isinstance(before, Interval) else (-math.inf, math.inf)
        own = Interval(max(above, threshold), most) if branch else Interval(above, min(most, threshold))
        return conditions | {test: own}
    taken = (v for v, b in zip(values, tree.nodes.branch_of(node), strict=True) if b == branch)
    return conditions | {test: tuple(v for v in taken if before is None or v in before)}


def _sentence(tree: Tree, leaf: int, conditions: Conditions, costs: NodeCosts) -> str:
    answer = f"answer {tree.answers[tree.nodes.answer[leaf]]}"
    notes = [f"tests cost {amount(costs.spent)}", *([f"wait {costs.waited:g}"] if costs.waited else [])]
    if costs.share is not None:
        notes = [f"{percent(costs.share)} of cases" if costs.share > 0 else "no training cases", *notes]
    if costs.expected_cost is not None:
        notes.append(f"expected error cost {amount(costs.expected_cost)}")
    parts = [f"{tree.columns[test]} {_words(tree, test, condition)}" for test, condition in conditions.items()]
    lead = f"If {enumeration(parts)}: {answer}" if parts else f"Always {answer}"
    return f"{lead} ({', '.join(notes)})."


def _words(tree: Tree, test: int, condition: Condition) -> str:
    if not isinstance(condition, Interval):
        return f"is {enumeration(condition, 'or')}" if condition else "has no known value"
    above, most = (threshold_text(tree, test, value) for value in condition)
    if math.isinf(condition.above):
        return f"is at most {most}"
    if math.isinf(condition.most):
        return f"is above {above}"
    if condition.above >= condition.most:
        return "has no possible value"
    return f"is above {above} but at most {most}"

"""The layout of the tree that the page shows: where each box is and what is written in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from worthwhile.table.columns import value_text
from worthwhile.tree.branches import condition
from worthwhile.tree.node_costs import NodeCosts, node_costs
from worthwhile.wording import amount, percent, weight_text

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["Box", "TreeLayout", "layout_tree", "shortened"]

WIDTH, HEIGHT = 174, 56  # of a box, at least
GAP, ROW, MARGIN = 92, 10, 8  # between levels, at least; between rows, around the picture
NAME, LINE, BRANCH = 19, 25, 10  # characters that fit into the name of a box, its other lines and a branch
LONG_NAME, LONG_BRANCH = 30, 24  # the same in the widest boxes, and where levels are far apart
PAGE = 1090  # pixels across a page, and some room for the numbers of hidden nodes
COLOURS = 8  # for answers, defined in the style sheet


@dataclass(frozen=True)
class Box:
    """A node as it is drawn."""

    node: int
    parent: Box | None
    level: int  # from 1, the root
    x: int
    y: float
    kind: str  # CSS classes
    lines: list[str]  # the name, then two lines of figures
    description: str  # for tooltips and screen readers
    branch: str  # the condition that leads here from the parent; "" for the root
    below: int  # number of nodes in its subtree


@dataclass(frozen=True)
class _Room:
    """How many characters fit, and how wide boxes and the gaps between levels are for that."""

    name: int
    branch: int

    @classmethod
    def of(cls, tree: Tree) -> _Room:
        """Return the room that the longest name and the longest branch want, within limits."""
        inner = [node for node in range(tree.n_nodes) if tree.nodes.test[node] >= 0]
        names = [tree.columns[tree.nodes.test[node]] for node in inner]
        names += [value_text(tree.answers[int(answer)]) for answer in set(tree.nodes.answer[tree.nodes.test < 0])]
        branches = [condition(tree, node, b) for node in inner for b in range(len(tree.nodes.children(node)))]
        longest = max(map(len, names)), max(map(len, branches), default=0)
        room = cls(NAME, BRANCH)
        for branch in range(BRANCH, min(longest[1], LONG_BRANCH) + 1):  # branches first: boxes have a description
            room = room._if_narrow(cls(NAME, branch), tree.depth)
        for name in range(NAME, min(longest[0], LONG_NAME) + 1):
            room = room._if_narrow(cls(name, room.branch), tree.depth)
        return room

    def _if_narrow(self, wider: _Room, depth: int) -> _Room:
        """Return what takes more room if a tree of this depth then still fits on a page, otherwise this."""
        return wider if (depth + 1) * wider.width + depth * wider.gap + 2 * MARGIN <= PAGE else self

    @property
    def line(self) -> int:
        return LINE * self.name // NAME

    @property
    def width(self) -> int:
        return WIDTH * self.name // NAME

    @property
    def gap(self) -> int:
        return max(GAP, 24 + 7 * self.branch)  # seven pixels are the mean of a wide font


@dataclass(frozen=True)
class TreeLayout:
    """A tree as it is drawn, with the root on the left, and its legend."""

    box_height: ClassVar[int] = HEIGHT

    box_width: int
    line_length: int
    branch_length: int
    width: int
    height: int
    boxes: list[Box]  # depth first
    answers: list[tuple[int, str]]  # colour and label of each answer in the tree
    delayed: bool  # whether any test has a delayed result
    chosen: bool  # whether any test orders all that may follow because waiting would cost more


def layout_tree(tree: Tree) -> TreeLayout:
    """Place the nodes of a tree: leaves below one another, each parent level with the middle of its children."""
    nodes, costs, order, room = tree.nodes, node_costs(tree), _depth_first(tree), _Room.of(tree)
    parent = {child: node for node in order for child in nodes.children(node)}
    leaves = [node for node in order if nodes.test[node] < 0]
    y = {leaf: float(MARGIN + row * (HEIGHT + ROW)) for row, leaf in enumerate(leaves)}
    below = dict.fromkeys(leaves, 0)
    for node in reversed(order):
        if children := nodes.children(node):
            y[node] = (y[children[0]] + y[children[-1]]) / 2
            below[node] = sum(1 + below[child] for child in children)
    boxes: dict[int, Box] = {}
    for node in order:
        above = boxes[parent[node]] if node else None
        boxes[node] = Box(
            node=node,
            parent=above,
            level=above.level + 1 if above else 1,
            x=above.x + room.width + room.gap if above else MARGIN,
            y=round(y[node], 3),
            kind=_kind(tree, node, costs[node]),
            lines=(_test_lines if below[node] else _leaf_lines)(tree, node, costs[node], room),
            description=_description(tree, node, costs[node]),
            branch=condition(tree, above.node, node - nodes.children(above.node)[0]) if above else "",
            below=below[node],
        )
    answers = sorted({int(nodes.answer[leaf]) for leaf in leaves})
    return TreeLayout(
        box_width=room.width,
        line_length=room.line,
        branch_length=room.branch,
        width=max(box.x for box in boxes.values()) + room.width + MARGIN,
        height=len(leaves) * (HEIGHT + ROW) - ROW + 2 * MARGIN,
        boxes=list(boxes.values()),
        answers=[(answer % COLOURS, value_text(tree.answers[answer])) for answer in answers],
        delayed=any(one.delayed and not one.chosen for one in costs),
        chosen=any(one.chosen for one in costs),
    )


def _depth_first(tree: Tree) -> list[int]:
    order, todo = [], [0]
    while todo:
        order.append(node := todo.pop())
        todo.extend(reversed(tree.nodes.children(node)))
    return order


def _kind(tree: Tree, node: int, costs: NodeCosts) -> str:
    leaf = tree.nodes.test[node] < 0
    kind = f"leaf answer-{int(tree.nodes.answer[node]) % COLOURS}" if leaf else "test"
    return f"{kind} delayed" if costs.delayed else kind


def _test_lines(tree: Tree, node: int, costs: NodeCosts, room: _Room) -> list[str]:
    name = tree.columns[tree.nodes.test[node]]
    price = "already paid" if costs.paid else f"price {amount(costs.price)}"
    wait = [f"wait {costs.waits:g}"] if costs.waits else []
    if costs.commits:
        price += f" (+{_tests(costs)})"
    elif costs.groups and not costs.paid and not wait:
        price = shortened(" · ".join([price, *(group for group, _ in costs.groups)]), room.line)
    price = " · ".join([price, *wait])
    if len(price) > room.line:
        price = shortened(
            price.removeprefix("price ").replace(f"(+{_tests(costs)})", f"(+{len(costs.commits)})"), room.line
        )
    cost = [] if costs.expected_cost is None else [f"expected {amount(costs.expected_cost)}"]
    return [shortened(name, room.name), price, " · ".join([*_share(costs), *cost])]


def _tests(costs: NodeCosts) -> str:
    return f"{len(costs.commits)} test{'s' * (len(costs.commits) > 1)}"


def _leaf_lines(tree: Tree, node: int, costs: NodeCosts, room: _Room) -> list[str]:
    answer = int(tree.nodes.answer[node])
    cost = "" if costs.expected_cost is None else f"expected cost {amount(costs.expected_cost)}"
    return [shortened(value_text(tree.answers[answer]), room.name), cost, _counted(tree, node, costs, room.line)]


def _counted(tree: Tree, node: int, costs: NodeCosts, most: int = LINE) -> str:
    """Return the share of the training cases that reach a leaf, and how many of them it answers correctly.

    A percentage of correct answers beside an expected cost would be read as expected, too.
    """
    answer, weights = int(tree.nodes.answer[node]), tree.nodes.weights[node]
    share = _share(costs)
    if not weights.sum() > 0 or answer >= len(tree.classes):
        return " · ".join(share)
    correct = f"{weight_text(float(weights[answer]))} of {weight_text(float(weights.sum()))} correct"
    both = " · ".join([*share, correct])
    return both if len(both) <= most else shortened(correct, most)


def _share(costs: NodeCosts) -> list[str]:
    return [] if costs.share is None else [percent(costs.share)]


def _description(tree: Tree, node: int, costs: NodeCosts) -> str:
    """Describe a node in full."""
    share = "" if costs.share is None else f"; {percent(costs.share)} of training cases reach this node"
    if tree.nodes.test[node] < 0:
        cost = "" if costs.expected_cost is None else f", expected error cost {amount(costs.expected_cost)}"
        correct = f", {of}" if (of := _counted(tree, node, replace(costs, share=None))) else ""
        return f"answer {value_text(tree.answers[tree.nodes.answer[node]])}{cost}{share}{correct}"
    name = tree.columns[tree.nodes.test[node]]
    test = tree.costs.tests.get(name)
    price = "already paid" if costs.paid else f"costs {amount(costs.price)} here"
    included = [*(tree.columns[t] for t in costs.commits), *map(str, costs.surcharges)]
    if included:
        price += f", including {', '.join(included)}"
    traits = ["delayed result"] if test and test.delayed else []
    traits += [f"wait {costs.waits:g}"] if costs.waits else []
    traits += ["orders all that may follow"] if costs.chosen and costs.commits else []
    traits += [f"group {group}{' already paid' * (paid and not costs.paid)}" for group, paid in costs.groups]
    cost = "" if costs.expected_cost is None else f"; expected cost from here on {amount(costs.expected_cost)}"
    return f"test {name}: {'; '.join([price, *traits])}{share}{cost}"


def shortened(text: str, length: int) -> str:
    """Cut a text to at most `length` characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"

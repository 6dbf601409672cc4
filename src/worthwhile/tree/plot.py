"""The plot of a tree with matplotlib, which is imported when the first one is drawn."""

from __future__ import annotations

import functools
import numbers
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worthwhile.tree.branches import condition
from worthwhile.tree.node_costs import NodeCosts, node_costs, subtree
from worthwhile.tree.text import box_lines, colour_of

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["figure_size", "plot_tree"]

MOST_LEAVES = 32  # side by side, unless a depth is given: at most about 4,000 pixels

LONGEST, MOST_LINES = 24, 2  # characters in a line; lines of a name, a group or a branch
SIZE = 9.0  # font size in points where there is room
LINE, PAD = 0.152, 0.06  # inches at that size: height of a line; padding of a box
LABEL = 0.9  # size of the text of a branch
ABOVE = 0.09  # inches between a box and the text of its branch
SIDE, BETWEEN = 0.13, 0.7  # inches between two boxes of a level; between two levels


def plot_tree(tree: Tree, ax: Any = None, max_depth: int | None = None) -> Any:
    """Draw a tree with prices and expected costs.

    A test shows its price at that node, the share of the training cases that reach it, and the expected cost from there
    on, tests and errors together; also its groups, how long a case waits, and what surcharges are expected to add.
    Leaves are coloured by their answer and show its expected error cost. A grey background marks what is ordered at
    once.

    Parameters
    ----------
    tree : Tree
    ax : matplotlib axes, optional
        Where to draw; None creates a figure that fits the tree.
    max_depth : int, optional
        Number of levels of tests to draw. What lies below is summed up in a box, and the picture says so. Default: as
        many as fit side by side, 32 boxes; ``max_depth=tree.depth`` draws everything. The report of
        `worthwhile.report.write_report` shows a large tree in full and can be unfolded.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import worthwhile as ww
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> ax = plot_tree(clf.tree_)
    >>> sorted(text.get_text().split("\\n")[0] for text in ax.texts)
    ['0', '1', '> 2', 'x0', '≤ 2']
    >>> matplotlib.pyplot.close(ax.figure)
    """
    from matplotlib import pyplot

    layout = _Layout.of(tree, max_depth)
    if ax is None:
        _, ax = pyplot.subplots(figsize=layout.figure_size(), layout="constrained")
    ax.set_xlim(-0.5 * layout.column, layout.width - 0.5 * layout.column)
    ax.set_ylim(-layout.height, 0)
    ax.axis("off")
    size = _font_size(ax, layout)
    _draw_orders(ax, layout, size)
    for node in layout.x:
        _draw_branches(ax, layout, node, size)
        _draw_box(ax, layout, node, size)
    if len(layout.x) < tree.n_nodes:
        depth, more = layout.depth, tree.n_nodes - len(layout.x)
        ax.set_title(
            f"The upper {depth} of {tree.depth} levels; {more} nodes below are not drawn. The report shows all.",
            fontsize=SIZE,
            color="0.25",
        )
    return ax


def figure_size(tree: Tree, max_depth: int | None = None) -> tuple[float, float]:
    """Return the width and height in inches that a tree needs.

    It is bounded, because matplotlib's limit is 65,536 pixels: in a larger tree the text shrinks.
    """
    return _Layout.of(tree, max_depth).figure_size()


@dataclass(frozen=True)
class _Layout:
    """Positions of the boxes that are drawn, by node, in inches at the full font size."""

    tree: Tree
    depth: int  # levels of tests that are drawn
    costs: list[NodeCosts]
    lines: dict[int, list[str]]
    labels: dict[int, list[str]]  # the branch that leads to a node
    tops: dict[int, float]  # upper edge of the tallest box of the level
    x: dict[int, float]
    y: dict[int, float]  # 0 is the upper edge
    column: float  # width of a leaf
    height: float

    @classmethod
    def of(cls, tree: Tree, max_depth: int | None) -> _Layout:
        if max_depth is not None and not (isinstance(max_depth, numbers.Integral) and max_depth >= 1):
            raise ValueError(f"max_depth must be a whole number of at least 1, or None, got {max_depth!r}")
        level = _levels(tree)
        depth = _fitting_depth(tree, level) if max_depth is None else min(int(max_depth), max(tree.depth, 1))
        shown = {node: at for node, at in enumerate(level) if at <= depth}
        costs = node_costs(tree)
        lines = {}
        for node, at in shown.items():
            own = box_lines(tree, node, costs[node])
            if at == depth and tree.nodes.test[node] >= 0:
                own = [*own, f"+ {sum(1 for _ in subtree(tree, node)) - 1} nodes below"]
            lines[node] = [part for line in own for part in _wrapped(line)]
        labels = {
            child: _branch_lines(tree, node, b)
            for node, at in shown.items()
            if at < depth
            for b, child in enumerate(tree.nodes.children(node))
        }
        x = _positions(tree, shown, depth)
        branches = {node: at < depth and tree.nodes.n_children[node] > 1 for node, at in shown.items()}
        column = _column(branches, lines, labels)
        tallest, gaps = [1] * (max(shown.values()) + 1), [0] * (max(shown.values()) + 1)
        for node, at in shown.items():
            tallest[at] = max(tallest[at], len(lines[node]))
            gaps[at] = max(gaps[at], len(labels.get(node, [])) - 1)
        level_tops, low = [], -0.5 * BETWEEN
        for n, more in zip(tallest, gaps, strict=True):
            level_tops.append(low - LABEL * LINE * more)
            low = level_tops[-1] - (LINE * n + 2 * PAD) - BETWEEN
        tops = {node: level_tops[at] for node, at in shown.items()}
        y = {node: tops[node] - 0.5 * (LINE * tallest[at] + 2 * PAD) for node, at in shown.items()}
        places = {node: column * at for node, at in x.items()}
        return cls(tree, depth, costs, lines, labels, tops, places, y, column, -low - 0.5 * BETWEEN)

    def children(self, node: int) -> list[int]:
        return [child for child in self.tree.nodes.children(node) if child in self.x]

    @property
    def width(self) -> float:
        return self.column * sum(not self.children(node) for node in self.x)

    def figure_size(self) -> tuple[float, float]:
        return min(max(2.5, self.width), 120.0), min(max(1.5, self.height), 60.0)

    def frame(self, node: int) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of a node and everything below it."""
        inside = [below for below in subtree(self.tree, node) if below in self.x]
        left, right = min(self.x[n] for n in inside), max(self.x[n] for n in inside)
        low = min(map(self.low, inside))
        top = self.top(node)
        side, below, above = 0.5 * self.column - 0.02, 0.16, 0.06  # there is text below
        return left - side, low - below, right - left + 2 * side, top - low + below + above

    def top(self, node: int) -> float:
        """Return the upper edge of a box."""
        return self.y[node] + 0.5 * self._box_height(node)

    def low(self, node: int) -> float:
        """Return the lower edge of a box."""
        return self.y[node] - 0.5 * self._box_height(node)

    def _box_height(self, node: int) -> float:
        return LINE * len(self.lines[node]) + 2 * PAD


def _column(branches: dict[int, bool], lines: dict[int, list[str]], labels: dict[int, list[str]]) -> float:
    """Return the width of a leaf that gives neighbours on any level room; nodes that branch span several leaves."""
    needed = 0.7
    for node, own in lines.items():
        room = 1.5 if branches[node] else 1.0
        box = max(map(_width, own)) + 2 * PAD
        label = LABEL * max(map(_width, labels.get(node, [""])))
        needed = max(needed, (max(box, label) + SIDE) / room)
    return needed


@functools.lru_cache(maxsize=4096)
def _width(text: str) -> float:
    """Return the width of a line in inches."""
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    return float(TextPath((0, 0), text.replace("$", "S"), size=SIZE).get_extents().width) / 72  # $ starts mathtext


def _levels(tree: Tree) -> list[int]:
    """Return the level of every node; the root has 0."""
    level = [0] * tree.n_nodes
    for node in range(tree.n_nodes):  # children come after their parents
        for child in tree.nodes.children(node):
            level[child] = level[node] + 1
    return level


def _fitting_depth(tree: Tree, level: list[int]) -> int:
    """Return the largest depth at which no more than `MOST_LEAVES` boxes are side by side, at least 1."""
    ends, depth = 1, 0  # boxes without anything below them, if the tree is cut at this depth
    inner = [0] * (tree.depth + 2)
    branches = [0] * (tree.depth + 2)
    for node, at in enumerate(level):
        inner[at] += tree.nodes.test[node] >= 0
        branches[at] += int(tree.nodes.n_children[node])
    while depth < tree.depth and (depth < 1 or ends - inner[depth] + branches[depth] <= MOST_LEAVES):
        ends += branches[depth] - inner[depth]
        depth += 1
    return depth


def _positions(tree: Tree, shown: dict[int, int], depth: int) -> dict[int, float]:
    """Return the position of the nodes: ends side by side, parents above the middle of their children."""
    x = dict.fromkeys(shown, 0.0)
    todo, next_end = [0], 0
    while todo:
        node = todo.pop()
        children = list(tree.nodes.children(node)) if shown[node] < depth else []
        if not children:
            x[node], next_end = float(next_end), next_end + 1
        todo.extend(reversed(children))
    for node in sorted(shown, reverse=True):  # children come after their parents
        children = [child for child in tree.nodes.children(node) if child in shown]
        if children:
            x[node] = (x[children[0]] + x[children[-1]]) / 2
    return x


def _font_size(ax: Any, layout: _Layout) -> float:
    """Return the font size that fits the axes."""
    figure = ax.figure.canvas.figure  # the whole figure, also for axes in a subfigure
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()  # the layout decides how large the axes are
    room = ax.get_window_extent()
    scale = min(room.width / layout.width, room.height / layout.height) / figure.dpi
    return min(SIZE, max(1.0, SIZE * scale))


def _draw_orders(ax: Any, layout: _Layout, size: float) -> None:
    """Draw a background behind everything that is ordered at once."""
    from matplotlib.patches import Rectangle

    for node in layout.x:
        own = layout.costs[node]
        if own.delayed and own.commits and layout.children(node):
            left, low, width, height = layout.frame(node)
            ax.add_patch(
                Rectangle(
                    (left, low), width, height, facecolor="0.94", edgecolor="0.6", linestyle=":", linewidth=1, zorder=0
                )
            )
            name = _shortened(" ".join(layout.tree.columns[layout.tree.nodes.test[node]].split()))
            ax.annotate(
                f"ordered at once with {name}",
                (left + 0.06, low + 0.04),
                fontsize=size * 0.85,
                color="0.3",
                style="italic",
                ha="left",
                va="bottom",
                zorder=1,
                parse_math=False,
            )


def _draw_branches(ax: Any, layout: _Layout, node: int, size: float) -> None:
    """Draw the branches of a node; they end above their boxes, below their texts, so that nothing lies on a branch."""
    children = layout.children(node)
    highest = LABEL * LINE * max((len(layout.labels[child]) for child in children), default=0)
    for child in children:
        words, x, low = layout.labels[child], layout.x[child], layout.tops[child] + ABOVE
        height = LABEL * LINE * len(words)
        ax.plot(
            [layout.x[node], x, x],
            [layout.low(node), low + highest + 0.5 * ABOVE, layout.top(child)],
            color="0.6",
            linewidth=1,
            zorder=1,
        )
        ax.text(
            x,
            low + 0.5 * height,
            "\n".join(words),
            ha="center",
            va="center",
            fontsize=size * LABEL,
            color="0.25",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            zorder=2,
            parse_math=False,  # a dollar sign is text
        )


def _draw_box(ax: Any, layout: _Layout, node: int, size: float) -> None:
    tree, leaf = layout.tree, layout.tree.nodes.test[node] < 0
    box = {
        "boxstyle": "round,pad=0.35",
        "facecolor": colour_of(tree, node) if leaf else "white",
        "edgecolor": "0.35",
        "linewidth": 0.8,
        "linestyle": "--" if layout.costs[node].delayed else "-",
    }
    text = "\n".join(layout.lines[node])
    ax.text(
        layout.x[node],
        layout.y[node],
        text,
        ha="center",
        va="center",
        fontsize=size,
        bbox=box,
        zorder=3,
        parse_math=False,
    )


def _branch_lines(tree: Tree, node: int, branch: int) -> list[str]:
    """Return the condition of a branch in at most two lines; of many values, the first one and how many more."""
    text = condition(tree, node, branch)
    values = tree.schema.values[int(tree.nodes.test[node])]
    if values is None or len(_parts(text)) <= MOST_LINES:
        return _wrapped(text)
    taken = [value for value, b in zip(values, tree.nodes.branch_of(node), strict=True) if b == branch]
    return _wrapped(text) if len(taken) == 1 else [_shortened(taken[0]), f"+ {len(taken) - 1} more"]


def _wrapped(text: str) -> list[str]:
    """Return a text in at most two lines."""
    parts = _parts(text)
    return [*parts[: MOST_LINES - 1], _shortened(" ".join(parts[MOST_LINES - 1 :]))] if len(parts) > 1 else parts


def _parts(text: str) -> list[str]:
    return textwrap.wrap(text, LONGEST) or [""]


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"

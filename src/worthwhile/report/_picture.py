"""Pictures of a tree: one that lives in the page, and files by matplotlib."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from worthwhile.report._markup import escape, shortened
from worthwhile.table.columns import value_text
from worthwhile.tree.node_costs import NodeCosts, node_costs
from worthwhile.wording import amount, condition, percent

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["legend", "tree_picture", "tree_svg"]

WIDTH, HEIGHT = 174, 56  # of a box
GAP, ROW, MARGIN = 92, 10, 8  # between levels, between rows, around the picture
NAME, LINE, BRANCH = 19, 25, 12  # letters that fit into a box, in its lines, and onto a branch
COLOURS = 8  # of answers; the style sheet has them
LINES = ("name", "money", "share")


def tree_picture(tree: Tree, kind: str) -> bytes:
    """Return the picture of a tree, drawn by matplotlib, as a "png" or "svg" file."""
    import matplotlib
    from matplotlib.figure import Figure

    from worthwhile.tree.plot import figure_size, plot_tree

    figure = Figure(figsize=figure_size(tree), layout="constrained")  # not pyplot's: that may want a screen
    plot_tree(tree, ax=figure.subplots())
    buffer = io.BytesIO()
    # Text stays text in the SVG, and the file is the same on every run, without a word about where it comes from.
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type")) if kind == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "worthwhile"}):
        figure.savefig(buffer, format=kind, dpi=110, metadata=metadata)
    return buffer.getvalue()


def tree_svg(tree: Tree) -> str:
    """Return a tree as the SVG of the page, the root on the left; its script folds and zooms it."""
    x, y, rows = _places(tree)
    money, sizes = node_costs(tree), _sizes(tree)
    parent = {child: node for node in range(tree.n_nodes) for child in tree.nodes.children(node)}
    level = [0] * tree.n_nodes
    edges, boxes = [], []
    for node in range(tree.n_nodes):  # children stand behind their parents
        if node in parent:
            level[node] = level[parent[node]] + 1
            edges.append(_edge(tree, parent[node], node, x, y))
    for node in _reading_order(tree):
        attributes = f'data-node="{node}" aria-level="{level[node] + 1}" tabindex="{-1 if node else 0}"'
        if node in parent:
            attributes += f' data-parent="{parent[node]}"'
        way = condition(tree, parent[node], node - tree.nodes.children(parent[node])[0]) if node in parent else ""
        attributes += f' transform="translate({x[node]} {y[node]:g})"'
        boxes.append(_box(tree, node, money[node], sizes[node], way, attributes))
    width, height = max(x) + WIDTH + MARGIN, rows * (HEIGHT + ROW) - ROW + 2 * MARGIN
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    data = f'data-box-width="{WIDTH}" data-box-height="{HEIGHT}"'
    return "\n".join(
        [
            f'<svg class="tree" {size} {data} role="tree" aria-label="The tree, from the first test on">',
            '<g class="edges" aria-hidden="true">',
            *edges,
            "</g>",
            *boxes,
            "</svg>",
        ]
    )


def _places(tree: Tree) -> tuple[list[int], list[float], int]:
    """Leaves stand one below the other, a parent beside the middle of its children."""
    x, y = [MARGIN] * tree.n_nodes, [0.0] * tree.n_nodes
    for node in range(tree.n_nodes):
        for child in tree.nodes.children(node):
            x[child] = x[node] + WIDTH + GAP
    leaves = [node for node in _reading_order(tree) if tree.nodes.test[node] < 0]
    for row, leaf in enumerate(leaves):
        y[leaf] = MARGIN + row * (HEIGHT + ROW)
    for node in reversed(range(tree.n_nodes)):
        if children := tree.nodes.children(node):
            y[node] = (y[children[0]] + y[children[-1]]) / 2
    return x, y, len(leaves)


def _reading_order(tree: Tree) -> list[int]:
    order, todo = [], [0]
    while todo:
        order.append(node := todo.pop())
        todo.extend(reversed(tree.nodes.children(node)))
    return order


def _edge(tree: Tree, above: int, node: int, x: list[int], y: list[float]) -> str:
    start, end = y[above] + HEIGHT / 2, y[node] + HEIGHT / 2
    words = condition(tree, above, node - tree.nodes.children(above)[0])
    return (
        f'<g data-edge="{node}"><path d="M{x[above] + WIDTH} {start:g}h10V{end:g}H{x[node]}"/>'
        f'<text x="{x[above] + WIDTH + 16}" y="{end - 4:g}">{escape(shortened(words, BRANCH))}'
        f"<title>{escape(words)}</title></text></g>"
    )


def _box(tree: Tree, node: int, money: NodeCosts, below: int, way: str, attributes: str) -> str:
    leaf = tree.nodes.test[node] < 0
    lines = _leaf_lines(tree, node, money) if leaf else _test_lines(tree, node, money)
    kind = f"leaf answer-{int(tree.nodes.answer[node]) % COLOURS}" if leaf else "test"
    if money.delayed:
        kind += " delayed"
    words = _words(tree, node, money)
    texts = "".join(_text(line, LINES[i], 18 + 15 * i) for i, line in enumerate(lines))
    mark = ""
    if not leaf:
        attributes += ' aria-expanded="true"'
        mark = f'<text class="more" x="{WIDTH + 6}" y="{HEIGHT / 2 + 4:g}">+{below}</text>'
    heard = f"{way}: {words}" if way else words
    return (
        f'<g class="node {kind}" role="treeitem" {attributes} aria-label="{escape(heard)}">'
        f'<title>{escape(words)}</title><rect width="{WIDTH}" height="{HEIGHT}" rx="7"/>{texts}{mark}</g>'
    )


def _text(line: str, kind: str, y: int) -> str:
    """Return a line of a box; one that may be too long, such as a large amount, is squeezed into it."""
    long = f' textLength="{WIDTH - 20}" lengthAdjust="spacingAndGlyphs"' if len(line) > LINE else ""
    return f'<text x="10" y="{y}" class="{kind}"{long}>{escape(line)}</text>'


def _sizes(tree: Tree) -> list[int]:
    """Return, per node, how many nodes are below it."""
    sizes = [0] * tree.n_nodes
    for node in reversed(range(tree.n_nodes)):  # children stand behind their parents
        sizes[node] = sum(1 + sizes[child] for child in tree.nodes.children(node))
    return sizes


def _test_lines(tree: Tree, node: int, money: NodeCosts) -> list[str]:
    name = tree.columns[tree.nodes.test[node]]
    price = "paid" if money.paid else f"price {amount(money.price)}"
    test = tree.costs.tests.get(name)
    if money.commits:
        price += f" (+{len(money.commits)} more)"
    elif test is not None and test.group is not None and not money.paid:
        price = shortened(f"{price} · {test.group}", LINE)
    return [shortened(name, NAME), price, _share_line(money, "expected", money.expected_cost)]


def _leaf_lines(tree: Tree, node: int, money: NodeCosts) -> list[str]:
    answer = int(tree.nodes.answer[node])
    cost = "" if money.expected_cost is None else f"error cost {amount(money.expected_cost)}"
    here = float(tree.nodes.weights[node].sum())
    share = [] if money.share is None else [percent(money.share)]
    if here > 0 and answer < len(tree.classes):
        share.append(f"{percent(float(tree.nodes.weights[node][answer]) / here)} right")
    return [shortened(value_text(tree.answers[answer]), NAME), cost, " · ".join(share)]


def _share_line(money: NodeCosts, word: str, cost: float | None) -> str:
    parts = [] if money.share is None else [percent(money.share)]
    return " · ".join([*parts, *([] if cost is None else [f"{word} {amount(cost)}"])])


def _words(tree: Tree, node: int, money: NodeCosts) -> str:
    """What stands at a node, in full."""
    share = "" if money.share is None else f"; {percent(money.share)} of the training cases come here"
    if tree.nodes.test[node] < 0:
        cost = "" if money.expected_cost is None else f", expected error cost {amount(money.expected_cost)}"
        return f"answer {value_text(tree.answers[tree.nodes.answer[node]])}{cost}{share}"
    name = tree.columns[tree.nodes.test[node]]
    test = tree.costs.tests.get(name)
    price = "paid already" if money.paid else f"costs {amount(money.price)} here"
    if money.commits:
        price += f", with {', '.join(tree.columns[t] for t in money.commits)}"
    traits = [*(["its result comes later"] if test and test.delayed else [])]
    traits += [f"group {test.group}"] if test and test.group else []
    cost = "" if money.expected_cost is None else f"; expected cost from here on {amount(money.expected_cost)}"
    return f"test {name}: {'; '.join([price, *traits])}{share}{cost}"


def legend(tree: Tree) -> str:
    """Return the list of the colours and marks of the picture."""
    answers = sorted({int(tree.nodes.answer[node]) for node in range(tree.n_nodes) if tree.nodes.test[node] < 0})
    items = [
        f'<li><span class="swatch answer-{a % COLOURS}"></span>answer {escape(value_text(tree.answers[a]))}</li>'
        for a in answers
    ]
    if any(money.delayed for money in node_costs(tree)):
        words = "result comes later: everything below is ordered at once"
        items.append(f'<li><span class="swatch delayed"></span>{words}</li>')
    inside = "".join(items)
    return f'<ul class="legend" aria-label="Legend">{inside}</ul>'

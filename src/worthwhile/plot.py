"""Pictures with matplotlib, which is imported when the first one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from worthwhile._advice import condition
from worthwhile._show import NodePrice, node_prices

if TYPE_CHECKING:
    from worthwhile.tree import Tree

__all__ = ["figure_size", "plot_tree"]

# Okabe and Ito's palette, lightened: to be told apart by everybody, with black text on it.
_COLOURS = ("#a6d5f0", "#f5c98a", "#9fdcc4", "#e8b7d3", "#f4ef9e", "#9db8d9", "#eda98a", "#d9d9d9")


def plot_tree(tree: Tree, ax: Any = None) -> Any:
    """Draw a tree with the price of each test where it stands; leaves are coloured by their answer.

    Parameters
    ----------
    tree : Tree
    ax : matplotlib axes, optional
        Where to draw; None makes a figure of the size that the tree needs.

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

    if ax is None:
        _, ax = pyplot.subplots(figsize=figure_size(tree), layout="constrained")
    x, y = _places(tree)
    inches = ax.get_window_extent().width / ax.figure.dpi
    size = min(9.0, max(1.0, 10.0 * inches / (tree.n_leaves + 1)))
    prices = node_prices(tree)
    for node in range(tree.n_nodes):
        children = tree.nodes.children(node)
        for b, child in enumerate(children):
            ax.plot([x[node], x[child]], [y[node], y[child]], color="0.6", linewidth=1, zorder=1)
            words = _shortened(condition(tree, node, b))
            at = 0.6  # nearer to the child, where the branches are further apart
            ax.text(
                x[node] + at * (x[child] - x[node]),
                y[node] + at * (y[child] - y[node]),
                words,
                ha="center",
                va="center",
                fontsize=size * 0.9,
                color="0.25",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
                zorder=2,
                parse_math=False,  # names are names, dollars included
            )
        _draw_node(ax, tree, node, prices[node], x[node], y[node], size)
    ax.set_xlim(-0.7, tree.n_leaves - 0.3)
    ax.set_ylim(-tree.depth - 0.4, 0.4)
    ax.axis("off")
    return ax


def figure_size(tree: Tree) -> tuple[float, float]:
    """Return the width and height in inches that a tree needs.

    It is bounded, because 65,536 dots are matplotlib's limit: in a larger tree the letters shrink.
    """
    width, height = 0.95 * tree.n_leaves + 1, 1.05 * (tree.depth + 1) + 0.4
    return min(max(4.0, width), 120.0), min(max(2.5, height), 60.0)


def _places(tree: Tree) -> tuple[list[float], list[float]]:
    """Leaves stand side by side, a parent above the middle of its children."""
    x, y = [0.0] * tree.n_nodes, [0.0] * tree.n_nodes
    todo, next_leaf = [0], 0
    while todo:
        node = todo.pop()
        children = list(tree.nodes.children(node))
        for child in children:
            y[child] = y[node] - 1
        if not children:
            x[node], next_leaf = float(next_leaf), next_leaf + 1
        todo.extend(reversed(children))
    for node in reversed(range(tree.n_nodes)):  # children stand behind their parents
        children = list(tree.nodes.children(node))
        if children:
            x[node] = (x[children[0]] + x[children[-1]]) / 2
    return x, y


def _draw_node(ax: Any, tree: Tree, node: int, price: NodePrice | None, x: float, y: float, size: float) -> None:
    weights = tree.nodes.weights
    share = f"{weights[node].sum() / weights[0].sum():.0%} of cases" if weights[0].any() else ""
    if price is None:
        answer = int(tree.nodes.answer[node])
        here = weights[node].sum()
        right = f"{weights[node][answer] / here:.0%} right" if here > 0 and answer < len(tree.classes) else ""
        lines, colour = [_shortened(str(tree.answers[answer])), share, right], _COLOURS[answer % len(_COLOURS)]
    else:
        money = "paid" if price.paid else f"price {price.price:.2f}"
        lines, colour = [_shortened(tree.columns[tree.nodes.test[node]]), money, share], "white"
        if price.commits:
            lines[1] += f"\n(orders {len(price.commits)} more)"
    box = {"boxstyle": "round,pad=0.35", "facecolor": colour, "edgecolor": "0.35", "linewidth": 0.8}
    text = "\n".join(line for line in lines if line)
    ax.text(x, y, text, ha="center", va="center", fontsize=size, bbox=box, zorder=3, parse_math=False)


def _shortened(text: str) -> str:
    return text if len(text) <= 24 else text[:22].rstrip() + " …"

"""A report on a tree as one HTML file that needs nothing else: summary in money, picture, the tree in words."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from worthwhile import __version__
from worthwhile.metrics import CostReport
from worthwhile.plot import figure_size, plot_tree

if TYPE_CHECKING:
    from worthwhile.tree import Tree

__all__ = ["html_report", "tree_picture"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { padding: .3rem .9rem; border-bottom: 1px solid #bbb; text-align: right; }
th:first-child, td:first-child { text-align: left; }
tr.chosen { font-weight: 600; background: #eef6fb; }
figure { margin: 1rem 0; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
pre { overflow-x: auto; background: #f5f5f5; padding: 1rem; line-height: 1.35; }
footer { color: #555; border-top: 1px solid #bbb; margin-top: 2rem; }
"""


def tree_picture(tree: Tree, kind: str) -> bytes:
    """Return the picture of a tree as a "png" or "svg" file."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=figure_size(tree), layout="constrained")  # not pyplot's: that may want a screen
    plot_tree(tree, ax=figure.subplots())
    buffer = io.BytesIO()
    # Text stays text in the SVG, and the file is the same on every run, without a word about where it comes from.
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type")) if kind == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "worthwhile"}):
        figure.savefig(buffer, format=kind, dpi=110, metadata=metadata)
    return buffer.getvalue()


def html_report(title: str, intro: str, rows: Sequence[tuple[str, CostReport]], tree: Tree) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    title, intro : str
        Plain text.
    rows : sequence of (name, CostReport)
        Ways to decide, compared on the same cases; the first one is the tree's.
    tree : Tree

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import worthwhile as ww
    >>> X, y = [[1], [2], [3], [4]], [0, 0, 1, 1]
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit(X, y)
    >>> rows = [("the tree", ww.metrics.cost_report(clf, X, y))]
    >>> page = html_report("A tree", "Learned from four cases.", rows, clf.tree_)
    >>> page.startswith("<!doctype html>"), "http" in page.split("<svg")[0]
    (True, False)
    """
    if not rows:
        raise ValueError("rows is empty; the report wants at least the costs of the tree")
    svg = tree_picture(tree, "svg").decode()
    # A wide tree shrinks to the page, as far as its letters stay readable; beyond that it scrolls.
    narrowest = 0.6 * 72 * figure_size(tree)[0]
    attributes = f'role="img" aria-label="{html.escape(title)}: the tree" style="min-width: {narrowest:.0f}pt"'
    svg = svg[svg.index("<svg") :].replace("<svg", f"<svg {attributes}", 1)
    body = "\n".join(_row(name, report, position == 0) for position, (name, report) in enumerate(rows))
    spending = "\n".join(_spending(tree))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{html.escape(title)}</h1>
<p>{html.escape(intro)}</p>
<table>
<caption>Cost per case on {rows[0][1].n_cases} held-out cases</caption>
{_header("way to decide", "tests", "errors", "total", "wrong")}
<tbody>
{body}
</tbody>
</table>
<h2>The tree</h2>
<figure>{svg}</figure>
<pre>{html.escape(tree.to_text())}</pre>
<h2>Where the money goes</h2>
<table>
{_header("test", "price alone", "share of training cases that reach it")}
<tbody>
{spending}
</tbody>
</table>
<footer>worthwhile {__version__}</footer>
</body>
</html>
"""


def _header(*names: str) -> str:
    return "<thead><tr>" + "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr></thead>"


def _row(name: str, report: CostReport, chosen: bool) -> str:
    money = [f"{cost:.2f}" for cost in (report.test_cost, report.error_cost, report.total_cost)]
    cells = "".join(f"<td>{cell}</td>" for cell in (html.escape(name), *money, f"{report.error_rate:.1%}"))
    return f"<tr{' class=chosen' if chosen else ''}>{cells}</tr>"


def _spending(tree: Tree) -> list[str]:
    """One row per test of the tree: how many training cases come to a node that asks it."""
    nodes, total = tree.nodes, tree.nodes.weights[0].sum()
    asked_above: list[frozenset[int]] = [frozenset()] * tree.n_nodes
    reach = np.zeros(len(tree.columns))
    for node in range(tree.n_nodes):
        test = int(nodes.test[node])
        if test < 0:
            continue
        if test not in asked_above[node]:
            reach[test] += nodes.weights[node].sum()
        for child in nodes.children(node):
            asked_above[child] = asked_above[node] | {test}
    rows = []
    for test in np.argsort(-reach, kind="stable"):
        if reach[test] > 0:
            alone = tree._prices.price(tree._prices.closure([int(test)]))
            share = reach[test] / total if total > 0 else 0.0
            rows.append(f"<tr><td>{html.escape(tree.columns[test])}</td><td>{alone:.2f}</td><td>{share:.0%}</td></tr>")
    return rows

"""The picture of a tree as an image file, drawn by matplotlib."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["tree_picture"]


def tree_picture(tree: Tree, kind: str, max_depth: int | None = None) -> bytes:
    """Return the picture of a tree as a "png" or "svg" file; `max_depth` as for `Tree.plot`."""
    import matplotlib
    from matplotlib.figure import Figure

    from worthwhile.tree.plot import figure_size, plot_tree

    figure = Figure(figsize=figure_size(tree, max_depth), layout="constrained")  # not pyplot's: that may want a screen
    plot_tree(tree, ax=figure.subplots(), max_depth=max_depth)
    buffer = io.BytesIO()
    # Text stays text in the SVG, and the file is the same on every run, without a word about where it comes from.
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type")) if kind == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "worthwhile"}):
        figure.savefig(buffer, format=kind, dpi=110, metadata=metadata)
    return buffer.getvalue()

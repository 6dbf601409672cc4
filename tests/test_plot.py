"""The picture of a tree."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import worthwhile as ww
from handmade import small, tree, turney
from worthwhile.plot import figure_size

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def boxes(ax):
    """The places of all texts with a frame, in dots."""
    ax.figure.canvas.draw()
    texts = [t for t in ax.texts if t.get_bbox_patch().get_boxstyle().__class__.__name__ == "Round"]
    return [t.get_bbox_patch().get_window_extent() for t in texts]


def test_every_node_and_branch_is_there():
    ax = tree(turney()).plot()
    words = [text.get_text() for text in ax.texts]
    assert len(words) == 11 + 10
    assert "alpha\nprice 5.00" in words
    assert "delta\nprice 25.00\n(orders 2 more)" in words
    assert words.count("beta\npaid") == 1
    assert words.count("≤ 3") == 1
    assert "0 or 1 or 3 or 4 or 5 …" in words


@pytest.mark.parametrize("content", [turney(), small(), small(nodes=[{"answer": "no"}])])
def test_nodes_do_not_overlap_and_lie_inside(content):
    ax = tree(content).plot()
    found = boxes(ax)
    assert len(found) == tree(content).n_nodes
    for i, box in enumerate(found):
        assert not any(box.overlaps(other) for other in found[:i])
        assert ax.figure.bbox.fully_containsx(box.x0)
        assert ax.figure.bbox.fully_containsx(box.x1)
        assert ax.figure.bbox.fully_containsy(box.y0)
        assert ax.figure.bbox.fully_containsy(box.y1)


def test_nodes_of_a_learned_tree_do_not_overlap():
    heart = ww.datasets.load("heart")
    known = ww.C45Classifier(costs=heart.costs).fit(heart.X, heart.y).tree_
    found = boxes(known.plot())
    assert len(found) == known.n_nodes > 30
    assert not any(box.overlaps(other) for i, box in enumerate(found) for other in found[:i])


def test_on_given_axes():
    figure, axes = pyplot.subplots(1, 2)
    assert tree(small()).plot(ax=axes[1]) is axes[1]
    assert len(axes[1].texts) == 9
    assert not axes[0].texts
    assert pyplot.get_fignums() == [figure.number]
    alone = Figure().subplots()
    assert ww.plot.plot_tree(tree(small()), alone) is alone


def test_names_are_not_mathematics():
    clf = ww.C45Classifier(columns=["price in $_{"]).fit([[0.0], [1.0]] * 4, ["$a$", "$b_{"] * 4)
    ax = clf.tree_.plot()
    ax.figure.canvas.draw()
    assert any(text.get_text().startswith("price in $_{") for text in ax.texts)
    assert any(text.get_text().startswith("$b_{") for text in ax.texts)


def test_large_trees_can_still_be_drawn():
    rng = np.random.default_rng(0)
    known = ww.C45Classifier(prune="none", min_cases=1).fit(rng.normal(size=(900, 2)), rng.integers(0, 2, 900)).tree_
    assert known.n_leaves > 150
    width, height = figure_size(known)
    assert 4 <= width <= 120
    assert 2.5 <= height <= 60


def test_leaves_are_coloured_by_answer():
    ax = tree(turney()).plot()
    colours = {t.get_text(): t.get_bbox_patch().get_facecolor() for t in ax.texts if t.get_text() in ("0", "1")}
    assert colours["0"] != colours["1"]

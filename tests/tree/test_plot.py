"""The plot of a tree."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import worthwhile as ww
from handmade import small, tree, turney
from worthwhile.tree.plot import figure_size, plot_tree

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def boxes(ax):
    """The places of all texts with a frame, in dots."""
    ax.figure.canvas.draw()
    frames = [t.get_bbox_patch() for t in ax.texts if t.get_bbox_patch() is not None]
    return [frame.get_window_extent() for frame in frames if type(frame.get_boxstyle()).__name__ == "Round"]


def test_every_node_and_branch_is_drawn():
    ax = tree(turney()).plot()
    words = [text.get_text() for text in ax.texts]
    assert len(words) == 11 + 10 + 1
    assert "alpha\nprice 5.00" in words
    assert "delta\nprice 25.00\ngroup A\ndelayed, +2 tests" in words
    assert words.count("beta\nordered above") == 1
    assert words.count("ordered at once with delta") == 1
    assert words.count("≤ 3") == 1
    assert "0 or 1 or 3 or 4 or 5 or\n6 or 7 or 8 or 9" in words


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


def test_costs_on_the_nodes():
    words = [text.get_text() for text in tree(small()).plot().texts]
    assert "x\nprice 1.00\n100 % of cases\nexpected 6.20" in words
    assert "no\n40 % of cases\nerrors 10.00" in words


def test_what_a_delayed_test_orders_has_a_background():
    ax = tree(turney()).plot()
    (background,) = ax.patches
    ax.figure.canvas.draw()
    inside = [t.get_text().split("\n")[0] for t in ax.texts if background.get_window_extent().contains(*middle(t))]
    assert inside.count("delta") == inside.count("epsilon") == inside.count("beta") == 1
    assert "alpha" not in inside
    delta = next(t for t in ax.texts if t.get_text().startswith("delta"))
    assert delta.get_bbox_patch().get_linestyle() == "--"


def middle(text):
    box = text.get_window_extent()
    return (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2


@pytest.mark.parametrize("depth", [2, 4, 6])
def test_text_is_readable_and_nothing_overlaps_with_any_names(depth):
    rng = np.random.default_rng(0)
    columns = ["WWWW WWWW WWWW WWWW WWWW WWWW", "i", "a price in $ per piece", "x\ny"]
    X, y = rng.normal(size=(200, 4)), np.array(["a very long answer indeed, sir", "b"])[rng.integers(0, 2, 200)]
    costs = ww.Costs(tests=dict.fromkeys(columns, 123456.78), errors=98765432.1)
    known = ww.C45Classifier(columns=columns, prune="none", max_depth=depth, costs=costs).fit(X, y).tree_
    ax = known.plot()
    found = boxes(ax)
    assert not any(box.overlaps(other) for i, box in enumerate(found) for other in found[:i])
    assert min(text.get_fontsize() for text in ax.texts) >= 7


def test_small_axes_get_small_text():
    figure, axes = pyplot.subplots(1, 2, figsize=(6, 2), layout="constrained")
    known = ww.C45Classifier(prune="none", max_depth=4).fit(np.arange(64).reshape(-1, 1), np.arange(64) % 8).tree_
    found = boxes(known.plot(ax=axes[0]))
    assert not any(box.overlaps(other) for i, box in enumerate(found) for other in found[:i])
    part = figure.subfigures(1, 2)[0]
    assert len(known.plot(ax=part.subplots()).texts) > known.n_nodes


def test_on_given_axes():
    figure, axes = pyplot.subplots(1, 2)
    assert tree(small()).plot(ax=axes[1]) is axes[1]
    assert len(axes[1].texts) == 9
    assert not axes[0].texts
    assert pyplot.get_fignums() == [figure.number]
    alone = Figure().subplots()
    assert plot_tree(tree(small()), alone) is alone


def test_names_are_not_mathtext():
    clf = ww.C45Classifier(columns=["price in $_{"]).fit([[0.0], [1.0]] * 4, ["$a$", "$b_{"] * 4)
    ax = clf.tree_.plot()
    ax.figure.canvas.draw()
    assert any(text.get_text().startswith("price in $_{") for text in ax.texts)
    assert any(text.get_text().startswith("$b_{") for text in ax.texts)


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    return ww.C45Classifier(prune="none", min_cases=1).fit(rng.normal(size=(900, 2)), rng.integers(0, 2, 900)).tree_


def test_the_size_of_large_trees_is_bounded(large):
    assert large.n_leaves > 150  # at full size it would be wider than matplotlib can draw
    width, height = figure_size(large, large.depth)
    assert width == 120
    assert height == pytest.approx(39.8, abs=0.1)


def test_a_large_tree_is_drawn_as_far_as_it_is_readable(large):
    assert figure_size(large)[0] < 45
    ax = large.plot()
    cut = [text.get_text() for text in ax.texts if "nodes below" in text.get_text()]
    boxes = [text for text in ax.texts if text.get_bbox_patch().get_boxstyle().__class__.__name__ == "Round"]
    below = sum(int(text.split("+ ")[1].split()[0]) for text in cut)
    assert len(boxes) + below == large.n_nodes
    assert ax.get_title().endswith(f"levels; {below} nodes below are not drawn. The report shows all.")
    assert tree(small()).plot().get_title() == ""


def test_the_depth_of_a_plot():
    ax = tree(small()).plot(max_depth=1)
    assert ax.get_title() == "The upper 1 of 2 levels; 2 nodes below are not drawn. The report shows all."
    assert len([text for text in ax.texts if "+ 2 nodes below" in text.get_text()]) == 1
    assert tree(small()).plot(max_depth=9).get_title() == ""
    for depth in (0, -1, 1.5, "all"):
        with pytest.raises(ValueError, match="max_depth must be a whole number of at least 1, or None"):
            tree(small()).plot(max_depth=depth)


def test_leaves_are_coloured_by_answer():
    ax = tree(turney()).plot()
    colours = {t.get_text(): t.get_bbox_patch().get_facecolor() for t in ax.texts if t.get_text() in ("0", "1")}
    assert colours["0"] != colours["1"]


def test_texts_of_many_branches_overlap_neither_boxes_nor_each_other():
    rng = np.random.default_rng(3)
    cities = np.array(["a place with a very long name", "Llanfairpwllgwyngyllgogerychwyrndrobwll", *"bcdef"])
    code, score = rng.integers(0, 7, 700), rng.random(700)
    X = np.array([cities[code], score], dtype=object).T
    y = np.where(score < np.array([0.1, 0.9, 0.2, 1, 0.3, 0, 0.8])[code], "reject for ever and for always", "accept")
    known = ww.C45Classifier(columns=["city", "score"], nominal=["city"], prune="none", max_depth=2).fit(X, y).tree_
    ax = known.plot()
    framed = boxes(ax)
    words = [text for text in ax.texts if type(text.get_bbox_patch().get_boxstyle()).__name__ != "Round"]
    places = [text.get_window_extent() for text in words]
    assert len(places) == known.n_nodes - 1 > 10
    for i, place in enumerate(places):
        assert not any(place.overlaps(other) for other in (*places[:i], *framed))
    assert any(text.get_text() == "a place with a very long\nname" for text in words)
    assert any(text.get_text().startswith("reject for ever and for\nalways\n") for text in ax.texts)
    for line in ax.lines:  # a branch touches the boxes at its ends only
        points = ax.transData.transform(np.column_stack(line.get_data()))
        steps = np.linspace(0, 1, 200)[1:-1, None]
        inner = points[0] + steps * (points[1] - points[0])
        hit = [box for box in framed if any(box.contains(*point) for point in inner)]
        assert len(hit) <= 1  # the padding of its own box


def test_a_branch_with_many_values_says_how_many():
    rng = np.random.default_rng(0)
    values = np.array([f"value number {i}" for i in range(8)])
    X = values[rng.integers(0, 8, 300)].reshape(-1, 1).astype(object)
    y = np.array([int(value[0][-1]) > 3 for value in X]).astype(int)
    known = ww.DTMCClassifier(columns=["code"], nominal=["code"], nominal_splits="subset").fit(X, y).tree_
    words = {text.get_text() for text in known.plot().texts}
    assert {"value number 0\n+ 3 more", "value number 4\n+ 3 more"} <= words

"""Image files of trees."""

import matplotlib as mpl
from matplotlib import pyplot

from handmade import tree, turney
from worthwhile.report import tree_picture


def test_pictures_are_the_same_every_time_and_leave_no_figure_open():
    mpl.use("Agg")
    before = pyplot.get_fignums()
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        first = tree_picture(tree(turney()), kind)
        assert first.startswith(start)
        assert first == tree_picture(tree(turney()), kind)
    assert pyplot.get_fignums() == before
    assert b"alpha" in tree_picture(tree(turney()), "svg")

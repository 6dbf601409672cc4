"""The report is one HTML file that needs nothing else."""

import html.parser
import re

import matplotlib as mpl
import pytest
from matplotlib import pyplot

import worthwhile as ww
from handmade import small, tree, turney
from worthwhile.metrics import CostReport
from worthwhile.report import html_report, tree_picture

ROWS = [
    ("the <tree>", CostReport(7, 1.0, 2.5, 3.5, 0.25, None)),
    ("no test & co", CostReport(7, 0.0, 9.0, 9.0, 0.5, None)),
]
VOID = {"meta", "path", "use", "rect", "br", "link", "img", "clippath"}


class Checker(html.parser.HTMLParser):
    """Counts tags, sees that they are closed in order, and collects the attributes that could load something."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.links, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "xlink:href", "action", "srcset", "data", "poster")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def check(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def test_the_report_is_whole_and_refers_to_nothing_outside():
    page = html_report("A <title>", "An & intro.", ROWS, tree(turney()))
    checker = check(page)
    assert page.startswith("<!doctype html>")
    assert checker.tags.count("svg") == checker.tags.count("h1") == checker.tags.count("figure") == 1
    assert checker.tags.count("table") == 2
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(checker.tags)
    assert all(link.startswith("#") for link in checker.links)
    addresses = set(re.findall(r"https?://[^\"'<> ]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # names of languages, not places
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    text = "".join(checker.text)
    for words in (
        "A <title>",
        "An & intro.",
        "the <tree>",
        "no test & co",
        "delta? (25.00, orders beta, epsilon too)",
        "7 held-out",
    ):
        assert words in text


def test_where_the_money_goes():
    page = html_report("t", "i", ROWS, tree(small()))
    assert "<tr><td>x</td><td>1.00</td><td>100%</td></tr>" in page
    assert "<tr><td>y</td><td>2.00</td><td>60%</td></tr>" in page
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        {"answer": "no", "weights": [1, 0]},
        {"test": "x", "threshold": 1, "children": [3, 4]},
        {"answer": "no", "weights": [1, 0]},
        {"answer": "yes", "weights": [0, 1]},
    ]
    page = html_report("t", "i", ROWS, tree(small(nodes=nodes)))  # asked twice by some, reached by all once
    assert "<tr><td>x</td><td>1.00</td><td>100%</td></tr>" in page
    check(html_report("t", "i", ROWS, tree(small(nodes=[{"answer": "no"}]))))


def test_a_report_without_rows():
    with pytest.raises(ValueError, match="rows is empty"):
        html_report("t", "i", [], tree(small()))


def test_pictures_are_the_same_every_time_and_leave_no_figure_open():
    mpl.use("Agg")
    before = pyplot.get_fignums()
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        first = tree_picture(tree(turney()), kind)
        assert first.startswith(start)
        assert first == tree_picture(tree(turney()), kind)
    assert pyplot.get_fignums() == before
    assert b"alpha" in tree_picture(tree(turney()), "svg")


def test_a_learned_tree():
    heart = ww.datasets.load("heart")
    clf = ww.EG2Classifier(costs=heart.costs, prune="cost").fit(heart.X, heart.y)
    report = ww.metrics.cost_report(clf, heart.X, heart.y)
    check(html_report("Heart", "All cases.", [("the tree", report)], clf.tree_))

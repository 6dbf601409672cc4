"""The report is one HTML file that needs nothing else; what a browser makes of it is in test_report_browser.py."""

import base64
import hashlib
import html.parser
import json
import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from handmade import small, tree, turney
from worthwhile.report import tree_picture, write_report

VOID = {"meta", "input", "br", "img", "link"}
LOADING = ("src", "href", "xlink:href", "action", "srcset", "data", "poster", "formaction", "ping")
SECTIONS = ["summary", "tree", "walk", "spending", "sensitivity", "cases", "prices"]


class Page(html.parser.HTMLParser):
    """Reads a page strictly: tags must be closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text, self.open, self.tags, self.links, self.ids, self.levels = text, [], [], [], [], []
        self.words = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), f"an attribute stands twice in <{tag}>"
        assert "style" not in attributes  # the page's own policy would refuse it
        assert not [name for name in attributes if name.startswith("on")]
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in LOADING]
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.levels += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        if tag not in VOID:
            self.open.append((tag, attributes.get("id")))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        section = next((name for tag, name in self.open if tag == "section"), "")
        if not any(tag in ("script", "style") for tag, _ in self.open):
            self.words[section] = " ".join((self.words.get(section, "") + data).split()) + " "


@pytest.fixture
def write(tmp_path):
    def write(model, X, y, **options):
        path = tmp_path / "report.html"
        write_report(path, model, X, y, **options)
        return Page(path.read_text(encoding="utf-8"))

    return write


@pytest.fixture(scope="module")
def heart():
    found = ww.datasets.load("heart")
    known = {"costs": found.costs, "nominal": found.nominal, "columns": found.feature_names}
    clf = ww.EG2Classifier(prune="cost", **known).fit(found.X[:200], found.y[:200])
    return clf, (found.X[200:], found.y[200:]), {"X_train": found.X[:200], "y_train": found.y[:200]}


def check(page):
    """What holds of every report."""
    assert page.text.startswith('<!doctype html>\n<html lang="en">')
    assert page.tags.count("h1") == 1
    assert page.levels[0] == 1
    assert all(after - before <= 1 for before, after in zip(page.levels, page.levels[1:], strict=False))
    assert len(set(page.ids)) == len(page.ids)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
    assert all(link[0] == "#" and link[1:] in page.ids for link in page.links)
    assert not re.search(r"https?:|@import|url\(", page.text)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.text).group(1)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", page.text, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_a_report_on_a_learned_tree(write, heart):
    clf, held_out, training = heart
    page = write(clf, *held_out, **training)
    check(page)
    assert [name for name in page.ids if name in SECTIONS] == SECTIONS
    report = ww.metrics.cost_report(clf, *held_out)
    for part in (report.total_cost, report.test_cost, report.error_cost):
        assert f"{part:.2f}" in page.words["summary"]
    for words in ("this model (EG2)", "no test, always “", "best plain tree", "C4.5", "103 cases", "Canadian dollars"):
        assert words in page.words["summary"]
    assert page.text.count("<h1>Heart disease (Cleveland)</h1>") == 1
    assert page.text.count('role="treeitem"') == clf.tree_.n_nodes
    assert page.text.count("<g data-edge=") == clf.tree_.n_nodes - 1
    saved = json.loads(re.search(r'<script type="application/json" id="model">(.*?)</script>', page.text).group(1))
    assert saved == json.loads(json.dumps(clf._document()))


def test_the_same_report_every_time(write, heart):
    clf, held_out, training = heart
    assert write(clf, *held_out, **training).text == write(clf, *held_out, **training).text


def test_break_even_prices(write, heart):
    clf, held_out, training = heart
    told = []
    words = write(clf, *held_out, **training, tell=told.append).words["sensitivity"]
    assert len(told) > 20
    found = {one.test: one for one in ww.evaluation.break_even(clf, *training.values())}
    asked, dear = found["cp"], found["ca"]
    assert f"leaves above a price between {asked.enters:.2f} and {asked.leaves:.2f}" in words
    assert f"enters below a price between {dear.enters:.2f} and {dear.leaves:.2f}" in words
    useless = [name for name, one in found.items() if one.enters is None]
    assert set(useless) == set(re.search(r"even for nothing \([^)]*\): ([^.]*)\.", words).group(1).split(", "))
    assert "beside 2.10 for the group blood" in words
    assert f"How: EG2 learned from the same 200 cases {len(told) + 1} times" in words


def test_what_a_search_is_shortened_to_and_when_it_was_stopped_is_said(write, heart):
    _, held_out, training = heart
    X, y = training.values()
    known = {name: getattr(heart[0], name) for name in ("costs", "nominal", "columns")}
    clf = ww.ACTClassifier(r=3, random_state=0, **known).fit(X, y)
    words = write(clf, *held_out, **training, sensitivity=0.01).words["sensitivity"]
    assert "ACT (with r=1, so that it does not take too long) learned from the same 200 cases" in words
    assert "After 0.01 s nothing more was tried." in words
    assert "Not examined, because the time was over: " in words


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"sensitivity": False, "X_train": [[1, 1]], "y_train": ["no"]}, "Break-even prices were not asked for."),
        ({}, "Break-even prices need the training cases, which were not at hand."),
    ],
)
def test_why_there_are_no_break_even_prices(write, options, why):
    X, y = [[-1, 1], [1, -1], [1, 1], [2, -3]] * 5, ["no", "yes", "no", "yes"] * 5
    costs = ww.Costs(tests={"x0": 1, "x1": 2}, errors=10)
    clf = ww.DTMCClassifier(costs=costs).fit(X, y)
    if "X_train" in options:
        options = options | {"X_train": X, "y_train": y}
    assert write(clf, X, y, **options).words["sensitivity"].strip().endswith(why)


CASES = np.array([[-1.0, 5.0], [1.0, -2.0], [3.0, 4.0], [np.nan, 1.0]] * 4), ["no", "yes", "no", "yes"] * 4


def test_a_tree_written_by_hand(write):
    page = write(tree(small()), *CASES, title="By <hand> & more", currency="€")
    check(page)
    assert "<h1>By &lt;hand&gt; &amp; more</h1>" in page.text
    assert "A tree written by hand. Costs are shown on 16 cases." in page.words[""]
    assert "cannot be learned again" in page.words["sensitivity"]
    assert "€" in page.words["summary"]
    assert page.words["tree"].count("error cost") >= 3
    for words in ("x", "price 1.00", "100 % · expected", "≤ 0", "answer yes"):
        assert words in page.words["tree"]


def test_delayed_tests_and_groups_are_marked(write):
    page = write(tree(turney()), np.tile([[6.0, 5, 2, 1], [1, 7, 3, 2]], (6, 1)), [0, 1] * 6)
    check(page)
    assert "price 25.00 (+2 more)" in page.text
    assert "its result comes later; group A" in page.text
    assert "costs 25.00 here, with beta, epsilon" in page.text
    assert "result comes later: everything below is ordered at once" in page.words["tree"]


def test_large_amounts_are_squeezed_into_their_boxes(write):
    costs = {"tests": {"x": 1234567890123, "y": 2}, "errors": 10}
    page = write(tree(small(costs=costs)), *CASES)
    assert re.search(r"textLength=[^>]*>100 % · expected 1234567890", page.text)
    assert "textLength" not in write(tree(small()), *CASES).text


def test_a_tree_of_one_leaf(write):
    page = write(tree(small(nodes=[{"answer": "no", "weights": [3, 1]}])), *CASES)
    check(page)
    assert "no test is worth its price" in page.words["tree"]
    assert "No case pays for any test." in page.words["spending"]


def test_where_the_money_goes_and_which_cases_cost_most(write):
    blood = {name: {"price": 3, "group": "blood"} for name in ("x", "y")}
    costs = {"tests": blood, "groups": {"blood": 2}, "errors": [["no", "yes", 10], ["yes", "no", 40]]}
    known = tree(small(costs=costs))
    X, y = [[-1, 0], [1, -1], [1, 1], [-5, 7]], ["yes", "yes", "no", "no"]
    page = write(known, X * 3, y * 3)
    assert "x 3.00 46 % 100 %" in page.words["spending"]
    assert "blood common price of the group 2.00 31 % 100 %" in page.words["spending"]
    assert "y 1.50 23 % 50 %" in page.words["spending"]
    assert "all tests 6.50" in page.words["spending"]
    first = page.words["cases"].split("how it came to this")[1]
    assert first.split()[:6] == ["0", "5.00", "40.00", "45.00", "yes", "no"]
    assert "x = -1 (≤ 0): 5.00" in first
    assert "The 10 dearest of 12 cases make up" in page.words["cases"]


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_forest_has_a_budget_and_no_walk_through(write, heart, adaptive):
    clf, held_out, training = heart
    known = {name: getattr(clf, name) for name in ("costs", "nominal", "columns")}
    forest = ww.BudgetForestClassifier(budget=20, max_trees=5, random_state=0, adaptive=adaptive, **known)
    page = write(forest.fit(*training.values()), *held_out, **training)
    check(page)
    assert not {"tree", "walk", "model"} & set(page.ids)
    assert "The budget is 20.00 Canadian dollars per case." in page.words["forest"]
    assert "no single tree to be shown or walked through" in page.words["forest"]
    assert "tree 1 of" in page.words["cases"]
    assert "there is no price at which one leaves it" in page.words["sensitivity"]


@pytest.fixture
def sets_of_tests(heart):
    """Forests that have all but their tests in common, of which neither the first nor the last is chosen."""
    clf, _, training = heart
    known = {name: getattr(clf, name) for name in ("costs", "nominal", "columns")}
    forest = ww.BudgetForestClassifier(
        budget=20, max_trees=5, random_state=0, tests="chosen", sampling="weighted", **known
    ).fit(*training.values())
    assert len({one.alpha for one in forest.forests_}) == 1
    assert forest._chosen not in (forest.forests_[0], forest.forests_[-1])
    return forest


def test_only_parts_of_the_forest_that_is_consulted_are_shown(write, heart, sets_of_tests):
    _, held_out, _ = heart
    forest = sets_of_tests.with_budget(sets_of_tests.record_.price)
    page = write(forest, *held_out)
    check(page)
    curve, at = forest.budget_curve(*held_out), forest.forests_.index(forest._chosen)
    start = sum(len(one.curve) for one in forest.forests_[:at])
    own = curve[start : start + len(forest._chosen.curve)]
    rows = re.findall(
        r"<tr( class=\"model\")?><th scope=\"row\">(\d+)</th><td>([\d.]+)</td>", section_of(page, "forest")
    )
    assert [(int(trees), price) for _, trees, price in rows] == [(one.trees, f"{one.price:.2f}") for one in own]
    assert [int(trees) for mark, trees, _ in rows if mark] == [len(forest.trees_)]


@pytest.mark.parametrize(("max_trees", "printed"), [(2, 10), (20, 0)])
def test_ways_through_many_trees_are_not_printed(write, heart, max_trees, printed):
    clf, held_out, training = heart
    known = {name: getattr(clf, name) for name in ("costs", "nominal", "columns")}
    forest = ww.BudgetForestClassifier(max_trees=max_trees, max_depth=2, random_state=0, **known)
    cases = section_of(write(forest.fit(*training.values()), *held_out), "cases")
    assert cases.count("<summary>its way</summary>") == 10
    assert cases.count("<details data-print>") == printed


def section_of(page, name):
    return re.search(rf'<section id="{name}".*?</section>', page.text, re.DOTALL).group(0)


def test_which_tests_and_cases_a_forest_was_grown_from(write, heart, sets_of_tests):
    _, held_out, _ = heart
    words = write(sets_of_tests, *held_out).words["forest"]
    assert f"keep to {len(sets_of_tests.tests_)} of 13 tests ({', '.join(sets_of_tests.tests_)})." in words
    assert "Each was grown from all cases, which count more the more often they are drawn." in words
    known = {name: getattr(sets_of_tests, name) for name in ("costs", "nominal", "columns")}
    plain = ww.BudgetForestClassifier(max_trees=2, random_state=0, sampling="drawn", **known).fit(*held_out)
    words = write(plain, *held_out).words["forest"]
    assert "The trees may ask all 13 tests. Each was grown from cases drawn with replacement." in words
    del plain.sampling_
    assert "drawn with" not in write(plain, *held_out).words["forest"]


def test_the_rate_that_is_consulted_is_shown_however_many_there_are(write, heart):
    clf, held_out, training = heart
    known = {name: getattr(clf, name) for name in ("costs", "nominal", "columns")}
    forest = ww.BudgetForestClassifier(budget=20, max_trees=5, random_state=0, adaptive=True, **known)
    forest.fit(*training.values())
    assert len(forest._chosen.curve) > 12
    for budget in sorted({one.price for one in forest._chosen.curve if one.price <= 20})[:6]:
        cheap = forest.with_budget(budget)
        rows = re.findall(
            '<tr class="model"><th scope="row">.*?</th><td>(.*?)</td>', section_of(write(cheap, *held_out), "forest")
        )
        assert rows == ["" if cheap.rate_ is None else f"{cheap.rate_:.3g}"]


def test_models_inside_pipelines(write):
    X, y = np.array(CASES[0][:3].tolist() * 6), ["no", "yes", "no"] * 6
    costs = ww.Costs(tests={"x0": 1, "x1": 2}, errors=10)
    pipe = make_pipeline(FunctionTransformer(lambda X: X * 2), ww.DTMCClassifier(costs=costs)).fit(X, y)
    page = write(pipe, X, y, X_train=X, y_train=y)
    check(page)
    assert "All ways to decide have learned from these very cases" in page.words["summary"]
    assert "Costs are shown on the same cases." in page.words[""]


def test_texts_cannot_break_out_of_the_page(write):
    evil = "</script><script>alert(1)</script><!--"
    content = small(
        classes=[evil, "yes"],
        columns=[{"name": evil, "kind": "nominal", "values": [evil, "b"]}, {"name": '" onload="x', "kind": "numeric"}],
        costs={"tests": {evil: 1}, "errors": 5, "about": {"title": evil, "currency": "<b>", "source": evil}},
        nodes=[{"test": evil, "branches": [[evil], ["b"]], "children": [1, 2]}, {"answer": evil}, {"answer": "yes"}],
    )
    X = np.array([[evil, 1.0], ["b", 2.0], [None, 3.0]] * 4, dtype=object)
    page = write(tree(content), X, [evil, "yes", "yes"] * 4)
    check(page)
    assert page.tags.count("script") == 2
    model = re.search(r'id="model">(.*?)</script>', page.text).group(1)
    assert json.loads(model)["classes"][0] == evil


def test_mistakes_are_told_and_nothing_is_written(tmp_path, heart):
    clf, (X, y), training = heart
    path = tmp_path / "report.html"
    with pytest.raises(ValueError, match="X_train and y_train belong together: give both, or neither"):
        write_report(path, clf, X, y, X_train=training["X_train"])
    with pytest.raises(ValueError, match="there are 103 cases, but 102 classes of them"):
        write_report(path, clf, X, y[1:])
    with pytest.raises(ValueError, match="there are 200 cases, but 103 classes of them"):
        write_report(path, clf, X, y, X_train=training["X_train"], y_train=y)
    four = [[1], [2], [3], [4]], [0, 0, 1, 1]
    lazy = ww.CSID3Classifier(prune="none", lazy=True).fit(*four)
    with pytest.raises(ValueError, match="a lazy CSID3Classifier has no whole tree; fit one with lazy=False"):
        write_report(path, lazy, *four)
    with pytest.raises(ValueError, match="seconds must be above 0, got -1"):
        write_report(path, clf, X, y, **training, sensitivity=-1)
    with pytest.raises(OSError, match="cannot be written"):
        write_report(tmp_path / "no" / "folder.html", clf, X, y)
    assert list(tmp_path.iterdir()) == []


def test_pictures_are_the_same_every_time_and_leave_no_figure_open():
    mpl.use("Agg")
    before = pyplot.get_fignums()
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        first = tree_picture(tree(turney()), kind)
        assert first.startswith(start)
        assert first == tree_picture(tree(turney()), kind)
    assert pyplot.get_fignums() == before
    assert b"alpha" in tree_picture(tree(turney()), "svg")

"""The report in a browser: its walk-through says what Python says, on every path; keys, paper, and no request."""

import contextlib
import json
import math
import re
import socket
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import browser as chromium
import worthwhile as ww
from handmade import small, tree, turney
from report_trees import grouped, together, undecided
from wildtrees import random_content
from worthwhile.report import write_report

IN_PAGE = (Path(__file__).parent / "in_page.js").read_text(encoding="utf-8")
PROGRAM = chromium.find()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium here (Debian: apt-get install chromium)")
MOST_STEPS = 3_000  # of one tree, answers and undoings together
OTHER, UNAVAILABLE = object(), None


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = chromium.Browser(PROGRAM, tmp_path_factory.mktemp("chromium"))
    yield found
    found.close()


@pytest.fixture
def show(browser, tmp_path):
    """Write a report and open it; nothing may be complained of, and nothing but the file be loaded."""
    opened = []

    def show(model, X, y, **options):
        path = tmp_path / "report.html"
        write_report(path, model, X, y, **options)
        browser.open(path)
        browser.run(IN_PAGE)
        opened.append(path.as_uri())
        return browser

    yield show
    assert browser.complaints == []
    assert set(browser.requests) == set(opened)


def some_cases(known, n=24):
    """Cases for a tree written by hand: all its values, some of them missing."""
    rng = np.random.default_rng(0)
    columns = {}
    for name, values in zip(known.columns, known.schema.values, strict=True):
        drawn = rng.normal(size=n) * 3 if values is None else rng.choice([*values, "new"], n).astype(object)
        gone = rng.random(n) < 0.1
        columns[name] = np.where(gone, np.nan, drawn) if values is None else np.where(gone, None, drawn)
    return pd.DataFrame(columns), np.array(known.classes, dtype=object)[np.arange(n) % len(known.classes)]


# ---- page and Python on every path


def options_at(known, seen, advice, most_gone):
    """The answers to a question that lead to different places, as far as the tree can tell."""
    column = known.columns.index(advice.test)
    values = known.schema.values[column]
    if values is None:
        cuts = sorted(
            {float(t) for t, test in zip(known.nodes.threshold, known.nodes.test, strict=True) if test == column}
        )
        found = [*cuts, math.nextafter(cuts[-1], math.inf)]
    else:
        found = [*values]
    gone = sum(v is UNAVAILABLE or v is OTHER for v in seen.values())
    if gone < most_gone:
        found += [UNAVAILABLE] if values is None else [UNAVAILABLE, OTHER]
    return found


def every_path(known, most_gone):
    """All that can be answered, as a list of (what to do, what is known after it)."""
    steps = []

    def go(seen):
        advice = known.next_test(as_case(seen))
        if advice.test is None:
            return
        for value in options_at(known, seen, advice, most_gone):
            if len(steps) >= MOST_STEPS:
                return
            after = seen | {advice.test: value}
            steps.append(
                (["unavailable"] if value is UNAVAILABLE else ["other"] if value is OTHER else ["value", value], after)
            )
            go(after)
            steps.append((["undo"], seen))

    go({})
    return steps


def as_case(seen):
    return {name: "never seen" if value is OTHER else value for name, value in seen.items()}


def drive(page, steps):
    """Take steps in the page and return what it shows at first and after each."""
    return page.run(f"drive({json.dumps(steps)})")


def check_state(known, seen, state):
    """What the page shows is what Python says."""
    advice = known.next_test(as_case(seen))
    where = f"{as_case(seen)}: {state}"
    assert state["test"] == (advice.test or ""), where
    assert float(state["price"]) == pytest.approx(advice.price, abs=1e-6), where
    assert float(state["spent"]) == pytest.approx(advice.spent, abs=1e-6), where
    assert json.loads(state["commits"]) == list(advice.commits), where
    assert json.loads(state["answer"]) == advice.answer, where
    assert json.loads(state["shares"]) == pytest.approx(list(advice.probabilities.values()), abs=1e-6), where
    assert state["question"] == (str(advice.answer) if advice.test is None else advice.test), where
    shown = advice.spent if advice.test is None else advice.price
    assert f"{shown:.2f}" in state["said"], where
    assert f"{advice.spent:.2f}" in state["money"], where
    assert state["rows"] == max(1, len(seen)), where
    if advice.test is not None:
        stop = json.loads(state["stop"])
        assert (stop is None) == (advice.stop_cost is None), where
        if stop is not None:
            assert stop == [advice.stop_answer, pytest.approx(advice.stop_cost, abs=1e-6)], where
        if json.loads(state["goOn"]) is not None:
            assert json.loads(state["goOn"]) == pytest.approx(advice.go_on_cost, abs=1e-6), where


def check_every_path(page, known, most_gone=1):
    """Walk all paths in the page, with undoing between them, so that every leaf of the tree is come to."""
    steps = every_path(known, most_gone)
    assert len(steps) < MOST_STEPS
    states = drive(page, [what for what, _ in steps])
    assert len(states) == len(steps) + 1
    ends = []
    for seen, state in zip([{}, *(seen for _, seen in steps)], states, strict=True):
        check_state(known, seen, state)
        if not state["test"]:
            ends.append((as_case(seen), state))
    assert {leaf_of(known, case) for case, _ in ends} >= set(np.flatnonzero(known.nodes.test < 0))
    check_against_tables(known, ends)


def leaf_of(known, case):
    """The leaf that a case comes to, or -1 where it comes to several."""
    node = 0
    while (test := known.nodes.test[node]) >= 0:
        value, values = case[known.columns[test]], known.schema.values[test]
        if values is None:
            branch = -1 if value is None else int(value > known.nodes.threshold[node])
        else:
            branch = known.nodes.branch_of(node)[values.index(value)] if value in values else -1
        if branch < 0:
            return -1
        node = known.nodes.children(node)[branch]
    return node


def check_against_tables(known, ends):
    """The end of a path has the answer, the price and the class shares that the tree gives a whole table."""
    schema = dict(zip(known.columns, known.schema.values, strict=True))
    had = {name: 0.0 if values is None else values[0] for name, values in schema.items()}  # what nobody asked for
    rows = pd.DataFrame([had | case for case, _ in ends])
    rows = rows.astype({name: float if values is None else object for name, values in schema.items()})
    answers, prices, shares = known.predict(rows), known.test_costs(rows), known.predict_proba(rows)
    all_known = -1 not in known.nodes.maps  # otherwise a value may be had that a node has no branch for
    for (case, state), answer, price, share in zip(ends, answers, prices, shares, strict=True):
        assert json.loads(state["answer"]) == answer, case
        assert json.loads(state["shares"]) == pytest.approx(share.tolist(), abs=1e-6), case
        if all_known:
            assert float(state["spent"]) == pytest.approx(price, abs=1e-6), case


HEART = {"act": ww.ACTClassifier, "icet": ww.ICETClassifier}


@pytest.mark.parametrize("name", HEART)
def test_page_and_python_agree_on_every_path_of_heart(show, name):
    heart = ww.datasets.load("heart")
    short = {"trials": 60, "population": 20} if name == "icet" else {"r": 1}
    costs = heart.costs.with_errors(2000)
    clf = HEART[name](costs=costs, nominal=heart.nominal, columns=heart.feature_names, random_state=0, **short)
    X, y = heart.X[100:], heart.y[100:]
    clf.fit(X, y)
    page = show(clf, heart.X[:100], heart.y[:100], X_train=X, y_train=y, sensitivity=False)
    assert clf.tree_.n_leaves > 3
    check_every_path(page, clf.tree_)
    saved = json.loads(page.run('document.getElementById("model").textContent'))
    assert saved == json.loads(json.dumps(clf._document()))  # what `save` writes


BY_HAND = {"turney": turney, "small": small, "grouped": grouped, "undecided": undecided, "together": together}


@pytest.mark.parametrize("name", BY_HAND)
def test_page_and_python_agree_on_every_path_of_a_tree_written_by_hand(show, name):
    known = tree(BY_HAND[name]())
    page = show(known, *some_cases(known))
    check_every_path(page, known, most_gone=2)


@pytest.mark.parametrize("seed", range(6))
def test_page_and_python_agree_on_random_trees(show, seed):
    known = tree(random_content(np.random.default_rng(seed)))
    page = show(known, *some_cases(known))
    steps = every_path(known, most_gone=1)[:200]
    states = drive(page, [what for what, _ in steps])
    for seen, state in zip([{}, *(seen for _, seen in steps)], states, strict=True):
        check_state(known, seen, state)


# ---- by hand


def focused(page):
    """What has the focus, in words."""
    return page.run(
        "(() => { const at = document.activeElement;"
        " return at.dataset.walk || at.dataset.node || at.dataset.treeAction || at.id || at.textContent.trim(); })()"
    )


def tab_to(page, wanted):
    """Press Tab until something has the focus; a page without a mouse must get there."""
    for _ in range(80):
        page.press("Tab")
        if focused(page) == wanted:
            return
    pytest.fail(f"Tab never comes to {wanted!r}")


def said(page, part):
    return page.run(f"document.querySelector('[data-walk=\"{part}\"]').textContent")


def test_the_walk_through_with_keys_only(show):
    page = show(tree(turney()), *some_cases(tree(turney())))
    tab_to(page, "walk-value")
    page.press("6", "Enter")
    assert said(page, "question") == "delta"
    assert said(page, "price") == "Price here: 25.00"
    assert said(page, "order").endswith("ordered now: beta, epsilon.")
    assert said(page, "status") == "Next test: delta, for 25.00. Spent so far: 5.00."
    assert focused(page) == "walk-value"  # the field of the next question: ten values are a list
    page.press("3", "Tab", "Enter")  # a letter chooses in a list
    assert said(page, "question") == "epsilon"
    assert said(page, "price") == "Price here: 0.00 (already paid)"
    tab_to(page, "unavailable")
    page.press(" ")
    assert said(page, "question") in "01"
    assert focused(page) == "question"  # there is nothing left to fill in
    assert said(page, "spent") == "22.00"  # without epsilon, which costs 8
    tab_to(page, "undo")
    page.press("Enter")
    assert said(page, "question") == "epsilon"
    assert said(page, "spent") == "30.00"
    tab_to(page, "restart")
    page.press("Enter")
    assert said(page, "question") == "alpha"
    assert said(page, "spent") == "0.00"
    assert page.run("document.querySelector('[data-walk=undo]').disabled")


def test_parts_of_a_case_order_a_delayed_test_together(show):
    page = show(tree(together()), *some_cases(tree(together())))
    drive(page, [["unavailable"]])
    assert said(page, "question") == "x1"
    assert said(page, "price") == "Price here: 10.00"
    assert said(page, "order").endswith("ordered now: x2, x3.")
    hint = page.run("document.getElementById('walk-hint').textContent")
    assert hint == "The tree goes on by whether it is above -1.5 and whether it is above 0.5."
    drive(page, [["value", 0]])
    assert said(page, "spent") == "10.00"


def test_what_is_no_number_is_refused_in_words(show):
    page = show(tree(small()), *some_cases(tree(small())))
    for text, message in (
        ("", "Enter a number"),
        ("1,5", "“1,5” is not a number"),
        ("1e999", "not a number"),
        ("x", "“x”"),
    ):
        page.run(f"document.getElementById('walk-value').value = {json.dumps(text)}")
        page.run("document.querySelector('[data-walk=form]').requestSubmit()")
        assert message in said(page, "error")
        assert said(page, "question") == "x"
        assert focused(page) == "walk-value"
        assert page.run("document.getElementById('walk-value').getAttribute('aria-invalid')") == "true"
    page.run("document.getElementById('walk-value').value = ' -1.5e0 '")
    page.run("document.querySelector('[data-walk=form]').requestSubmit()")
    assert said(page, "question") == "no"
    assert said(page, "error") == ""


def test_the_way_is_marked_in_the_tree(show):
    page = show(tree(small()), *some_cases(tree(small())))
    marked = "(kind) => [...document.querySelectorAll('g.node.' + kind)].map((g) => Number(g.dataset.node)).sort()"
    assert page.run(f"({marked})('here')") == [0]
    drive(page, [["unavailable"], ["value", 1]])
    assert page.run(f"({marked})('here')") == [1, 4]  # both branches of x, and the second one of y
    assert page.run(f"({marked})('on')") == [0, 1, 2, 4]


def test_the_picture_folds_and_zooms_by_keys_buttons_and_wheel(show):
    page = show(tree(turney()), *some_cases(tree(turney())))
    shown = "[...document.querySelectorAll('g.node:not([hidden])')].length"
    wide = "document.querySelector('svg.tree').getBoundingClientRect().width"
    assert page.run(shown) == 11
    tab_to(page, "0")
    page.press("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown")
    assert focused(page) == "2"
    page.press("Enter")
    assert page.run(shown) == 5
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "false"
    page.press("ArrowRight", "End")
    assert (page.run(shown), focused(page)) == (11, "10")
    page.press("ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert focused(page) == "2"  # up to the parent, fold it, up once more
    page.press("Home")
    assert focused(page) == "0"
    before = page.run(wide)
    page.press("+")
    assert page.run(wide) == pytest.approx(1.25 * before, rel=1e-3)
    page.press("-", "0")
    assert page.run(wide) == pytest.approx(before, rel=1e-3)
    page.run("document.querySelector('[data-tree-action=in]').click()")
    assert page.run(wide) == pytest.approx(1.25 * before, rel=1e-3)
    page.run("document.querySelector('.viewport').scrollIntoView({ behavior: 'instant' })")
    box = page.run(
        "(() => { const r = document.querySelector('.viewport').getBoundingClientRect(); return [r.left, r.top]; })()"
    )
    zoomed = page.run(wide)
    page.send(
        "Input.dispatchMouseEvent", type="mouseWheel", x=box[0] + 50, y=box[1] + 50, deltaX=0, deltaY=-100, modifiers=2
    )
    page.run("new Promise((done) => setTimeout(done, 100))")
    assert page.run(wide) > 1.1 * zoomed


def deep(n):
    """A tree of 2n + 1 nodes that goes down on one side."""
    nodes = []
    for i in range(n):
        nodes += [
            {"test": "x", "threshold": -i, "children": [2 * i + 2, 2 * i + 1]},
            {"answer": "no", "weights": [2, 1]},
        ]
    return small(nodes=[*nodes, {"answer": "yes", "weights": [1, 2]}])


def test_a_large_tree_opens_folded(show):
    known = tree(deep(150))
    page = show(known, *some_cases(known))
    shown = "[...document.querySelectorAll('g.node:not([hidden])')].length"
    assert 40 <= page.run(shown) <= 60
    page.run("document.querySelector('[data-tree-action=unfold]').click()")
    assert page.run(shown) == 301
    page.run("document.querySelector('[data-tree-action=fold]').click()")
    assert page.run(shown) == 1
    check_every_path(page, known)


# ---- everybody, paper, and nobody else


@pytest.fixture
def heart_page(show):
    heart = ww.datasets.load("heart")
    X, y = heart.X[:200], heart.y[:200]
    clf = ww.EG2Classifier(prune="cost", costs=heart.costs, nominal=heart.nominal, columns=heart.feature_names).fit(
        X, y
    )
    return show(clf, heart.X[200:], heart.y[200:], X_train=X, y_train=y)


def test_every_text_stands_out_from_what_is_behind_it(heart_page):
    heart_page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    seen, poor = heart_page.run("contrasts()")
    assert seen > 300
    assert poor == []
    drive(heart_page, [["unavailable"]] * 2)
    assert heart_page.run("contrasts()")[1] == []


def test_everything_that_can_be_used_has_a_name(heart_page):
    names = heart_page.run("names()")
    assert len(names) > 30
    assert all(names)
    tree_of_page = heart_page.send("Accessibility.getFullAXTree")["nodes"]
    roles = {node["role"]["value"] for node in tree_of_page if not node["ignored"]}
    assert {"tree", "treeitem", "status", "alert", "navigation", "main", "heading", "table"} <= roles


@pytest.mark.parametrize("width", [360, 400, 768, 1280])
def test_the_page_fits_every_window(heart_page, width):
    heart_page.resize(width, 800)
    try:
        inside = heart_page.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert inside[0] <= inside[1]
    finally:
        heart_page.send("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("width", [768, 900, 1000, 1100, 1280])
def test_no_table_is_cut_off_unless_the_window_is_that_of_a_telephone(heart_page, width):
    cut = "[...document.querySelectorAll('.wide')].filter((e) => e.scrollWidth > e.clientWidth).length"
    heart_page.resize(width, 800)
    try:
        assert heart_page.run(cut) == 0
        heart_page.resize(360, 800)
        assert heart_page.run(cut) > 0  # there one scrolls, but what a table is about can be read at once
        beyond = "[...document.querySelectorAll('caption')].some((e) => e.getBoundingClientRect().right > 360)"
        assert not heart_page.run(beyond)
    finally:
        heart_page.send("Emulation.clearDeviceMetricsOverride")


def test_on_paper(heart_page):
    visible = "(selector) => [...document.querySelectorAll(selector)].some((e) => e.getClientRects().length > 0)"
    controls = ["button", "nav", "#walk", ".tools", "input, select"]
    assert [heart_page.run(f"({visible})({json.dumps(one)})") for one in controls[:4]] == [True] * 4
    heart_page.media("print")
    heart_page.resize(700, 1000)
    try:
        assert [heart_page.run(f"({visible})({json.dumps(one)})") for one in controls] == [False] * 5
        assert heart_page.run(f"({visible})('svg.tree')")
        widths = heart_page.run(
            "[document.querySelector('svg.tree').getBoundingClientRect().right, document.documentElement.clientWidth]"
        )
        assert widths[0] <= widths[1]
    finally:
        heart_page.media("")
        heart_page.send("Emulation.clearDeviceMetricsOverride")
    paper = heart_page.pdf()
    assert paper.startswith(b"%PDF-")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 8
    assert heart_page.run("[...document.querySelectorAll('details')].some((d) => d.open)") is False  # closed again


def heard(server):
    """All that was said to a server. A browser may open a line before its page is refused to use it."""
    server.settimeout(0.3)
    found = b""
    with contextlib.suppress(TimeoutError):
        while True:
            line, _ = server.accept()
            with line, contextlib.suppress(TimeoutError):
                line.settimeout(0.3)
                found += line.recv(1000)
    return found


def test_nothing_can_be_loaded_or_sent(heart_page):
    with socket.create_server(("127.0.0.1", 0)) as server:
        refused, clean = heart_page.run(f"intrude('http://127.0.0.1:{server.getsockname()[1]}/')")
        assert heard(server) == b""
    assert refused == ["connect-src", "form-action", "img-src", "script-src-elem"]
    assert clean
    heart_page.complaints.clear()  # these attempts were meant to fail

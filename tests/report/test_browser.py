"""The report in Chromium: its walk-through agrees with Python on every path; keyboard, print, phones, no requests."""

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from handmade import small, tree, turney
from report_trees import capped, expected, grouped, surcharged, together, undecided, with_extras
from wildtrees import random_content
from worthwhile.report import write_report
from worthwhile.table.schema import OtherValue
from worthwhile.wording import amount

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install playwright)")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)")

IN_PAGE = Path(__file__).with_name("in_page.js")
MAX_STEPS = 3_000  # entries and undos for one tree
OTHER, UNAVAILABLE = object(), None


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(browser):
    """One page for all tests that need no settings of their own, with what it complains of and requests."""
    page = browser.new_page()
    page.set_default_timeout(10_000)
    page.add_init_script(path=IN_PAGE)
    complaints, requests = [], set()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.add(request.url))
    return page, complaints, requests


@pytest.fixture
def open_page(tab):
    """A function that opens a file; afterwards there must be no complaint, and no request but for the file itself."""
    page, complaints, requests = tab
    requests.clear()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(media="screen")
    files = set()

    def open_page(path):
        page.goto(path.as_uri())
        files.add(path.as_uri())
        return page

    yield open_page
    assert complaints == []
    assert requests == files


@pytest.fixture
def show(open_page, tmp_path):
    """A function that writes a report on a tree and opens it."""

    def show(known):
        path = tmp_path / "report.html"
        write_report(path, known, *some_cases(known))
        return open_page(path)

    return show


@pytest.fixture(scope="module")
def heart_file(heart, tmp_path_factory):
    path = tmp_path_factory.mktemp("heart") / "report.html"
    write_report(path, heart.clf, *heart.held_out, **heart.training)
    return path


@pytest.fixture
def heart_page(open_page, heart_file):
    return open_page(heart_file)


def some_cases(known, n=24):
    """Cases for a tree written by hand, with new and missing values among them."""
    rng = np.random.default_rng(0)
    columns = {}
    for name, values in zip(known.columns, known.schema.values, strict=True):
        drawn = rng.normal(size=n) * 3 if values is None else rng.choice([*values, "new"], n).astype(object)
        missing = rng.random(n) < 0.1
        columns[name] = np.where(missing, np.nan, drawn) if values is None else np.where(missing, None, drawn)
    return pd.DataFrame(columns), np.array(known.classes, dtype=object)[np.arange(n) % len(known.classes)]


# ---- the page and Python on every path


def options_at(known, seen, advice, max_unavailable):
    """The values of a test that may lead to different nodes."""
    column = known.columns.index(advice.test)
    values = known.schema.values[column]
    if values is None:
        nodes = known.nodes
        cuts = sorted({float(t) for t, test in zip(nodes.threshold, nodes.test, strict=True) if test == column})
        found = [*cuts, math.nextafter(cuts[-1], math.inf)]
    else:
        found = [*values]
    if sum(value is UNAVAILABLE or value is OTHER for value in seen.values()) < max_unavailable:
        found += [UNAVAILABLE] if values is None else [UNAVAILABLE, OTHER]
    return found


def every_path(known, max_unavailable):
    """All entries, depth first with undos, as a list of (step, known values after it)."""
    steps = []

    def go(seen):
        advice = known.next_test(as_case(seen))
        if advice.test is None:
            return
        for value in options_at(known, seen, advice, max_unavailable):
            if len(steps) >= MAX_STEPS:
                return
            step = ["unavailable"] if value is UNAVAILABLE else ["other"] if value is OTHER else ["value", value]
            after = seen | {advice.test: value}
            steps.append((step, after))
            go(after)
            steps.append((["undo"], seen))

    go({})
    return steps


def as_case(seen):
    return {name: OtherValue("never seen") if value is OTHER else value for name, value in seen.items()}


def walk(page, steps):
    """Take steps in the page and return its state at first and after each."""
    return page.evaluate("(steps) => walk(steps)", steps)


def check_state(known, seen, state):
    """Check that the page shows what Python says."""
    advice = known.next_test(as_case(seen))
    where = f"{as_case(seen)}: {state}"
    assert state["test"] == (advice.test or ""), where
    assert float(state["price"]) == pytest.approx(advice.price, abs=1e-6), where
    assert float(state["spent"]) == pytest.approx(advice.spent, abs=1e-6), where
    assert float(state["waits"]) == pytest.approx(advice.waits, abs=1e-6), where
    assert json.loads(state["commits"]) == list(advice.commits), where
    assert json.loads(state["answer"]) == advice.answer, where
    assert json.loads(state["shares"]) == pytest.approx(list(advice.probabilities.values()), abs=1e-6), where
    assert state["question"] == (str(advice.answer) if advice.test is None else advice.test), where
    shown = advice.spent if advice.test is None else advice.price
    assert amount(shown) in state["priceText"], where
    assert amount(advice.spent) in state["spentText"], where
    assert state["rows"] >= max(1, len(seen)), where
    if advice.test is not None:
        stop = json.loads(state["stop"])
        assert (stop is None) == (advice.stop_cost is None), where
        if stop is not None:
            assert stop == [advice.stop_answer, pytest.approx(advice.stop_cost, abs=1e-6)], where
        assert json.loads(state["goOnCost"]) == pytest.approx(advice.go_on_cost, abs=1e-6), where


def check_paths(page, known, steps):
    """Take steps in the page, check every state, and return the ends: (case, state) where there is an answer."""
    states = walk(page, [step for step, _ in steps])
    ends = []
    for seen, state in zip([{}, *(seen for _, seen in steps)], states, strict=True):
        check_state(known, seen, state)
        if not state["test"]:
            ends.append((as_case(seen), state))
    return ends


def check_every_path(page, known, max_unavailable=1):
    """Walk all paths in the page and reach every leaf."""
    steps = every_path(known, max_unavailable)
    assert len(steps) < MAX_STEPS
    ends = check_paths(page, known, steps)
    if known.context.cap is None:
        assert {leaf_of(known, case) for case, _ in ends} >= set(np.flatnonzero(known.nodes.test < 0))
    check_against_tables(known, ends)


def leaf_of(known, case):
    """The leaf that a case reaches, or -1 if it reaches several."""
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
    """Check that a path ends with the answer, price and class shares that the tree gives for a table of cases."""
    schema = dict(zip(known.columns, known.schema.values, strict=True))
    unused = {name: 0.0 if values is None else values[0] for name, values in schema.items()}
    rows = pd.DataFrame([unused | case for case, _ in ends])
    rows = rows.astype({name: float if values is None else object for name, values in schema.items()})
    answers, prices, shares = known.predict(rows), known.test_costs(rows), known.predict_proba(rows)
    all_known = -1 not in known.nodes.maps  # otherwise a value may be available that has no branch
    for (case, state), answer, price, share in zip(ends, answers, prices, shares, strict=True):
        assert json.loads(state["answer"]) == answer, case
        assert json.loads(state["shares"]) == pytest.approx(share.tolist(), abs=1e-6), case
        if all_known and conditions_known(known, case):
            assert float(state["spent"]) == pytest.approx(price, abs=1e-6), case


def conditions_known(known, case):
    """Whether every result that a surcharge charged for depends on is known; otherwise the page expects an amount."""
    charged = known.next_test(case).charged
    prices = known.context.bound_costs.prices
    for s, (test, surcharge) in enumerate(zip(prices.surcharge_test, prices.surcharges, strict=True)):
        asked = {*surcharge.where, *([] if surcharge.result is None else [known.columns[test]])}
        if len(known.columns) + s in charged and not asked <= set(case):
            return False
    return True


LEARNERS = {"act": (ww.ACTClassifier, {"r": 1}), "icet": (ww.ICETClassifier, {"trials": 60, "population": 20})}


@pytest.mark.parametrize("name", LEARNERS)
def test_page_and_python_agree_on_every_path_of_heart(open_page, tmp_path, heart, name):
    learner, settings = LEARNERS[name]
    known = heart.known | {"costs": heart.known["costs"].with_errors(2000)}
    clf = learner(random_state=0, **settings, **known).fit(heart.X, heart.y)
    write_report(tmp_path / "report.html", clf, *heart.held_out, **heart.training, sensitivity=False)
    page = open_page(tmp_path / "report.html")
    assert clf.tree_.n_leaves > 3
    check_every_path(page, clf.tree_)
    saved = json.loads(page.evaluate("document.getElementById('model').textContent"))
    assert saved == json.loads(json.dumps(clf._document()))  # what `save` writes


def as_in_a_paper():
    """A case with an unavailable test does all tests that the tree asks for."""
    return grouped() | {"may_stop": False}


def priced_like_a_clinic(costs):
    """The costs of heart with a panel, waits, and a surcharge of each kind."""
    tests = {name: replace(test, delayed=False) for name, test in costs.tests.items()}
    tests["chol"] = replace(tests["chol"], group=("blood", "panel"), wait=3)
    tests["fbs"] = replace(tests["fbs"], group=("blood", "panel"), wait=5)
    surcharges = [ww.Surcharge(40.0, truth="sick"), ww.Surcharge(25.0, where={"age": ">= 60"})]
    tests["exang"] = ww.Test(4.0, surcharges=surcharges)
    surcharges = [ww.Surcharge(9.0, result="asympt"), ww.Surcharge(-0.5, after=["age"])]
    tests["cp"] = replace(tests["cp"], surcharges=surcharges)
    tests["thal"], tests["ca"] = ww.Test(6.0, wait=12), ww.Test(5.0, wait=9)
    return ww.Costs(tests=tests, groups=dict(costs.groups) | {"panel": 3.0}, errors=costs.errors, waiting=2.0)


@pytest.mark.parametrize("cap", [None, 20.0])
def test_page_and_python_agree_on_learned_trees_with_surcharges_and_waits(open_page, tmp_path, heart, cap):
    costs = priced_like_a_clinic(heart.known["costs"].with_errors(2000))
    clf = ww.EG2Classifier(prune="cost", cap=cap, **heart.known | {"costs": costs}).fit(heart.X, heart.y)
    write_report(tmp_path / "report.html", clf, *heart.held_out, **heart.training, sensitivity=False)
    known = clf.tree_
    assert known.n_leaves > 3
    assert known.nodes.surcharges is not None
    steps = every_path(known, max_unavailable=1)[:600]
    check_against_tables(known, check_paths(open_page(tmp_path / "report.html"), known, steps))


def test_page_and_python_agree_on_trees_with_error_costs_by_case(open_page, tmp_path, heart):
    rng = np.random.default_rng(0)
    y, costs = np.asarray(heart.y), heart.known["costs"]
    matrix = costs.error_matrix(sorted(set(y.tolist())))[1] * 40
    errors = matrix[np.searchsorted(sorted(set(y.tolist())), y)] * rng.exponential(1.0, (len(y), 1))
    clf = ww.EG2Classifier(prune="cost", answer="least-cost", **heart.known).fit(heart.X, y, case_errors=errors)
    write_report(tmp_path / "report.html", clf, *heart.held_out, **heart.training, sensitivity=False)
    known = clf.tree_
    assert known.n_leaves > 3
    assert known.nodes.answer_costs is not None
    steps = every_path(known, max_unavailable=1)[:400]
    check_against_tables(known, check_paths(open_page(tmp_path / "report.html"), known, steps))


@pytest.mark.parametrize(
    "content",
    [turney, small, grouped, undecided, together, as_in_a_paper, surcharged, capped, expected],
    ids=lambda one: one.__name__,
)
def test_page_and_python_agree_on_every_path_of_a_tree_written_by_hand(show, content):
    known = tree(content())
    check_every_path(show(known), known, max_unavailable=2)


@pytest.mark.parametrize("seed", range(8))
def test_page_and_python_agree_on_random_trees(show, seed):
    rng = np.random.default_rng(seed)
    content = random_content(rng) | {"answer": "least-cost" if seed % 2 else "majority"}
    content["costs"] |= {"errors": [[0, 1, 30], [1, 0, 90]]}
    for node in content["nodes"]:
        node["weights"] = rng.integers(0, 5, 2).tolist()
    known = tree(content)
    check_paths(show(known), known, every_path(known, max_unavailable=1)[:200])


@pytest.mark.parametrize("seed", range(12))
def test_page_and_python_agree_on_random_trees_with_surcharges_and_waits(show, seed):
    rng = np.random.default_rng(100 + seed)
    content = random_content(rng) | {"answer": "least-cost" if seed % 2 else "majority"}
    content["costs"] |= {"errors": [[0, 1, 30], [1, 0, 90]]}
    for node in content["nodes"]:
        node["weights"] = rng.integers(0, 5, 2).tolist()
    known = tree(with_extras(content, rng))
    ends = check_paths(show(known), known, every_path(known, max_unavailable=1)[:200])
    check_against_tables(known, ends)


# ---- mouse and keyboard


def focused(page):
    """What has the focus."""
    return page.evaluate(
        "() => { const at = document.activeElement;"
        " return at.dataset.walk || at.dataset.node || at.dataset.treeAction || at.id || at.textContent.trim(); }"
    )


def tab_to(page, wanted):
    """Press Tab until an element has the focus: everything must be reachable without a mouse."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if focused(page) == wanted:
            return
    pytest.fail(f"Tab never reaches {wanted!r}")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def text(page, part):
    return page.locator(f"[data-walk={part}]").text_content()


def test_the_walk_through_with_the_mouse(heart_page, heart):
    walk_through = heart_page.locator("#walk")
    seen, entries = {}, {"cp": "asympt", "trestbps": "130", "sex": "male", "age": "60", "chol": "300"}
    while (advice := heart.clf.next_test(seen)).test is not None:
        assert text(heart_page, "question") == advice.test
        assert text(heart_page, "price").startswith(f"Price: {advice.price:.2f} Canadian dollars")
        assert text(heart_page, "spent") == f"{advice.spent:.2f} Canadian dollars"
        value = entries[advice.test]
        if value.isdigit():
            walk_through.get_by_label(f"Value of {advice.test}").fill(value)
            walk_through.get_by_role("button", name="Next").click()
        else:
            walk_through.get_by_role("button", name=value, exact=True).click()
        seen[advice.test] = float(value) if value.isdigit() else value
    assert len(seen) > 2
    assert text(heart_page, "step") == f"Answer after {len(seen)} steps"
    assert text(heart_page, "question") == advice.answer
    assert heart_page.locator("[data-walk=history] tr").count() == len(seen)
    walk_through.get_by_role("button", name="Start over").click()
    assert text(heart_page, "history") == "No tests done yet."


def test_the_walk_through_with_the_keyboard(show):
    page = show(tree(turney()))
    tab_to(page, "walk-value")
    press(page, "6", "Enter")
    assert text(page, "question") == "delta"
    assert text(page, "price") == "Price: 25.00"
    assert text(page, "order").endswith(
        "ordered now: beta, epsilon. The price includes delta 7.00, beta 10.00, epsilon 8.00."
    )
    assert text(page, "status") == "Next test: delta, price 25.00. Spent so far: 5.00."
    assert focused(page) == "walk-value"  # the field of the next test, here a list of ten values
    press(page, "3", "Tab", "Enter")  # typing selects an entry of the list
    assert text(page, "question") == "epsilon"
    assert text(page, "price") == "Price: 0.00 (already paid)"
    tab_to(page, "unavailable")
    press(page, "Space")
    assert text(page, "question") in "01"
    assert focused(page) == "question"  # there is nothing left to fill in
    assert text(page, "spent") == "22.00"  # without epsilon, which costs 8
    tab_to(page, "undo")
    press(page, "Enter")
    assert text(page, "question") == "epsilon"
    assert text(page, "spent") == "30.00"
    tab_to(page, "restart")
    press(page, "Enter")
    assert text(page, "question") == "alpha"
    assert text(page, "spent") == "0.00"
    assert page.get_by_role("button", name="Undo").is_disabled()


def test_a_case_at_several_nodes_orders_a_delayed_test_once(show):
    page = show(tree(together()))
    walk(page, [["unavailable"]])
    assert text(page, "question") == "x1"
    assert text(page, "price") == "Price: 10.00"
    assert text(page, "order").endswith("ordered now: x2, x3. The price includes x1 2.00, x2 3.00, x3 5.00.")
    hint = page.locator("#walk-hint").text_content()
    assert hint == "The next branch depends on whether the value is above -1.5 or 0.5."
    walk(page, [["value", 0]])
    assert text(page, "spent") == "10.00"


def test_the_walk_through_shows_orders_waits_and_surcharges(show):
    page = show(tree(surcharged()))
    walk(page, [["value", "no"]])
    assert text(page, "order") == (
        "Waiting for one result after another would cost more, so all tests that may follow are ordered now: dye. "
        "The price includes lab 63.10 (age < 1: 20.00; lab >= 5: 3.00; wait 24: 30.00), "
        "dye 66.25 (reaction and class sick: 56.25 of 300.00), age 1.00."
    )
    walk(page, [["value", 6], ["value", "reaction"]])
    rows = page.locator("[data-walk=history] tr").all_inner_texts()
    assert [" ".join(row.split()) for row in rows[1:]] == [
        "lab 6 age < 1: 20.00 lab >= 5: 3.00 wait 24: 30.00 63.10 71.10",
        "age ordered with lab 1.00 72.10",
        "dye reaction reaction and class sick: 300.00 310.00 382.10",
    ]
    walk(page, [["undo"], ["undo"], ["undo"], ["value", "yes"]])
    assert text(page, "order") == "The price includes class sick: 27.03 of 50.00; wait 2: 1.00."


def test_the_walk_through_says_that_a_cap_ends_a_case(show):
    page = show(tree(capped()))
    walk(page, [["value", "no"]])
    assert text(page, "question") == "sick"
    assert text(page, "why") == "lab is not done: with it the tests could cost more than the cap of 80.00."


def test_invalid_numbers_are_rejected_with_a_message(show):
    page = show(tree(small()))
    field = page.get_by_label("Value of x")
    for entry, message in (
        ("", "Enter a number, or choose “Not available”."),
        ("1,5", "“1,5” is not a number. Use a format like 12.5."),
        ("1e999", "“1e999” is not a number. Use a format like 12.5."),
        ("x", "“x” is not a number. Use a format like 12.5."),
    ):
        field.fill(entry)
        field.press("Enter")
        assert text(page, "error") == message
        assert text(page, "question") == "x"
        assert focused(page) == "walk-value"
        assert field.get_attribute("aria-invalid") == "true"
    field.fill(" -1.5e0 ")
    field.press("Enter")
    assert text(page, "question") == "no"
    assert text(page, "error") == ""


def test_dates_are_shown_and_typed_as_dates(show):
    columns = [{"name": "x", "kind": "numeric", "dates": True}, {"name": "y", "kind": "numeric"}]
    nodes = small()["nodes"]
    nodes[0] = nodes[0] | {"threshold": 19783.5}
    page = show(tree(small(columns=columns, nodes=nodes)))
    assert page.locator("#walk-hint").inner_text().endswith("above 2024-03-01 12:00.")
    for text, words in (("19783", "“19783” is not a date"), ("2024-02-30x", "is not a date"), ("", "Enter a date")):
        page.get_by_label("Value of x").fill(text)
        page.keyboard.press("Enter")
        assert words in page.locator("#walk-error").inner_text()
    page.get_by_label("Value of x").fill("2024-03-01 12:01")
    page.keyboard.press("Enter")
    assert page.get_by_label("Value of y").is_visible()  # the branch above the threshold
    assert "2024-03-01 12:01" in page.locator('[data-walk="history"]').inner_text()


def test_the_path_is_highlighted_in_the_tree(show):
    page = show(tree(small()))
    marked = "(kind) => [...document.querySelectorAll('g.node.' + kind)].map((g) => Number(g.dataset.node)).sort()"
    assert page.evaluate(marked, "here") == [0]
    walk(page, [["unavailable"], ["value", 1]])
    assert page.evaluate(marked, "here") == [1, 4]  # both branches of x, and the second one of y
    assert page.evaluate(marked, "on") == [0, 1, 2, 4]


# ---- the tree


def n_shown(page):
    return page.locator("g.node:not([hidden])").count()


def tree_width(page):
    return page.locator("svg.tree").bounding_box()["width"]


def test_the_tree_collapses_and_zooms_with_the_keyboard(show):
    page = show(tree(turney()))
    assert n_shown(page) == 11
    tab_to(page, "0")
    press(page, "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown")
    assert focused(page) == "2"
    press(page, "Enter")
    assert n_shown(page) == 5
    assert page.locator("g.node:focus").get_attribute("aria-expanded") == "false"
    press(page, "ArrowRight", "End")
    assert (n_shown(page), focused(page)) == (11, "10")
    press(page, "ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert focused(page) == "2"  # to the parent, collapse it, to its parent
    press(page, "Home")
    assert focused(page) == "0"
    before = tree_width(page)
    press(page, "+")
    assert tree_width(page) == pytest.approx(1.25 * before, rel=1e-3)
    press(page, "-", "0")
    assert tree_width(page) == pytest.approx(before, rel=1e-3)


def test_the_tree_collapses_zooms_and_moves_with_the_mouse(heart_page):
    page, root = heart_page, heart_page.locator("g.node[data-node='0']")
    all_nodes, before = n_shown(page), tree_width(page)
    page.get_by_role("button", name="Zoom in").click()
    assert tree_width(page) == pytest.approx(1.25 * before, rel=1e-3)
    viewport = page.locator(".viewport")
    viewport.hover()
    zoomed = tree_width(page)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    playwright.expect(page.locator("svg.tree")).not_to_have_css("width", f"{zoomed:g}px")
    assert tree_width(page) > 1.1 * zoomed
    page.keyboard.up("Control")
    page.get_by_role("button", name="Full size").click()
    root.scroll_into_view_if_needed()
    # Up to the end of what can be scrolled: the tree is not much higher than the page.
    way = min(
        60,
        viewport.evaluate(
            "(element) => { element.scrollTop = 0; return element.scrollHeight - element.clientHeight; }"
        ),
    )
    assert way > 10
    box = root.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 20 - way, steps=3)
    page.mouse.up()
    assert viewport.evaluate("(element) => element.scrollTop") == pytest.approx(way, abs=1)
    assert n_shown(page) == all_nodes  # dragging a node is no click
    root.click()
    assert n_shown(page) == 1


def deep(n):
    """A tree of 2n + 1 nodes that goes down on one side."""
    nodes = []
    for i in range(n):
        nodes += [
            {"test": "x", "threshold": -i, "children": [2 * i + 2, 2 * i + 1]},
            {"answer": "no", "weights": [2, 1]},
        ]
    return small(nodes=[*nodes, {"answer": "yes", "weights": [1, 2]}])


def test_a_large_tree_opens_partly_collapsed(show):
    known = tree(deep(60))
    page = show(known)
    assert 40 <= n_shown(page) <= 60
    page.get_by_role("button", name="Expand all").click()
    assert n_shown(page) == 121
    page.get_by_role("button", name="Collapse all").click()
    assert n_shown(page) == 1
    check_every_path(page, known)


# ---- accessibility, window sizes, print


def test_the_fit_button_shows_a_wide_tree_as_a_whole(open_page, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    clf = ww.C45Classifier(prune="none", max_leaves=40, cross_fit=False).fit(X, (X > 0).sum(axis=1) % 2)
    write_report(tmp_path / "wide.html", clf, X, (X > 0).sum(axis=1) % 2, sensitivity=False)
    page = open_page(tmp_path / "wide.html")
    page.set_viewport_size({"width": 1280, "height": 900})
    room = "(v) => [v.scrollWidth - v.clientWidth, v.scrollHeight - v.clientHeight]"
    page.get_by_role("button", name="Expand all").click()
    assert page.locator(".viewport").evaluate(room)[0] > 0  # as large as it must be to be read
    page.get_by_role("button", name="Fit").click()
    assert page.locator(".viewport").evaluate(room) == [0, 0]


def test_every_text_has_enough_contrast(heart_page):
    heart_page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    seen, low = heart_page.evaluate("contrasts()")
    assert seen > 300
    assert low == []
    walk(heart_page, [["unavailable"]] * 2)
    assert heart_page.evaluate("contrasts()")[1] == []


def test_every_control_has_an_accessible_name(heart_page):
    controls = heart_page.locator("button, input, select, a, summary, [role=treeitem], [role=tree], [role=group]").all()
    assert len(controls) > 40
    for control in controls:
        playwright.expect(control).to_have_accessible_name(re.compile(r"\S"))
    for role in ("tree", "treeitem", "status", "alert", "navigation", "main", "heading", "table"):
        assert heart_page.get_by_role(role).count() > 0, role


@pytest.mark.parametrize("width", [320, 360, 400, 768, 1280])
def test_the_page_fits_every_window(heart_page, width):
    heart_page.set_viewport_size({"width": width, "height": 800})
    root = heart_page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert root[0] <= root[1]
    wide = "[...document.querySelectorAll('.wide')].filter((e) => e.scrollWidth > e.clientWidth).length"
    scrolling = heart_page.evaluate(wide)
    assert scrolling == 0 if width >= 768 else scrolling > 0  # on a phone tables scroll, but their captions do not
    right = "Math.max(...[...document.querySelectorAll('caption')].map((e) => e.getBoundingClientRect().right))"
    assert heart_page.evaluate(right) <= width


def test_the_walk_through_on_a_phone(browser, heart_file):
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(heart_file.as_uri())
    page.locator("#walk").get_by_role("button", name="asympt").tap()
    assert text(page, "question") == "trestbps"
    field = page.get_by_label("Value of trestbps")
    playwright.expect(field).to_be_focused()
    playwright.expect(field).to_be_in_viewport()
    context.close()


def test_print(heart_page):
    controls = {name: heart_page.locator(name).locator("visible=true") for name in ("button", "nav", "#walk", ".tools")}
    assert all(found.count() for found in controls.values())
    heart_page.emulate_media(media="print")
    heart_page.set_viewport_size({"width": 700, "height": 1000})
    assert not any(found.count() for found in controls.values())
    drawn = heart_page.locator("svg.tree").bounding_box()
    assert drawn["x"] + drawn["width"] <= 700
    heart_page.emulate_media(media="screen")
    paper = heart_page.pdf(format="A4", prefer_css_page_size=True, print_background=True)
    assert paper.startswith(b"%PDF-")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 10
    assert heart_page.locator("details[open]").count() == 0  # closed again after printing
    heart_page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert heart_page.locator("#prices details").get_attribute("open") is not None  # the price list is printed
    heart_page.evaluate("window.dispatchEvent(new Event('afterprint'))")


@pytest.mark.filterwarnings("ignore:the model was trained on these same cases")
@pytest.mark.parametrize("media", ["screen", "print"])
def test_cards_hold_long_names(open_page, tmp_path, media):
    classes = ["a_class_name_without_any_space_in_it_that_is_far_too_long_for_a_card", "no"]
    X, y = [[1], [2], [3], [4]] * 5, [classes[0], classes[0], classes[1], classes[1]] * 5
    clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=1e9)).fit(X, y)
    write_report(tmp_path / "report.html", clf, X, y)
    page = open_page(tmp_path / "report.html")
    page.emulate_media(media=media)
    page.set_viewport_size({"width": 700, "height": 1000})
    wide = "(cards) => cards.filter((card) => card.scrollWidth > card.clientWidth + 1).map((card) => card.textContent)"
    assert page.locator("#summary .card").evaluate_all(wide) == []


# ---- security

INTRUDE = """(address) => new Promise((done) => {
  const refused = [];
  document.addEventListener("securitypolicyviolation", (event) => {
    refused.push(event.effectiveDirective);
    if (refused.length === 4) done(refused.sort());
  });
  setTimeout(() => done(refused), 5000); // a deadline: fewer than four attempts were refused
  const image = new Image();
  image.src = `${address}image`;
  const script = document.createElement("script");
  script.textContent = "globalThis.intruder = true";
  const form = document.createElement("form");
  form.action = `${address}form`;
  document.body.append(image, script, form);
  form.submit();
  fetch(`${address}fetch`).catch(() => null);
})"""


def test_nothing_can_be_loaded_or_sent(browser, heart_file):
    context = browser.new_context()
    sent = []
    context.route(re.compile("^http"), lambda route: (sent.append(route.request.url), route.abort()))
    page = context.new_page()
    page.goto(heart_file.as_uri())
    refused = page.evaluate(INTRUDE, "http://127.0.0.1:9/")
    assert refused == ["connect-src", "form-action", "img-src", "script-src-elem"]
    assert page.evaluate("globalThis.intruder === undefined")
    context.close()
    assert sent == []


def test_without_javascript_the_page_says_what_is_missing(browser, heart_file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(heart_file.as_uri())
    assert page.locator("noscript strong").is_visible()
    assert page.locator("g.node").count() > 10
    context.close()

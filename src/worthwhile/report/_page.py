"""The page: one HTML file with its style, its script and the model inside, which may load nothing from anywhere."""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import json
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from worthwhile import __version__
from worthwhile.report._markup import MOST_NAMED, Money, bar, cell, escape, head, section, table
from worthwhile.report._picture import legend, tree_svg
from worthwhile.wording import amount

if TYPE_CHECKING:
    from worthwhile.learners.forest.classifier import BudgetForestClassifier, BudgetRecord
    from worthwhile.tree.tree import Tree

__all__ = ["forest_section", "page", "tree_section", "walk_section"]

SCRIPTS = ("_engine.js", "_tree.js", "_walk.js", "_start.js")
MOST_PRINTED = 60  # the words of a larger tree are not printed unless they are opened


@functools.cache
def _asset(name: str) -> str:
    return resources.files("worthwhile.report").joinpath(name).read_text(encoding="utf-8")


def page(title: str, intro: str, sections: Sequence[tuple[str, str, str]]) -> str:
    """Return the page.

    Parameters
    ----------
    title : str
        Plain text.
    intro : str
        HTML.
    sections : sequence of (name, title, HTML)
    """
    style = "\n" + _asset("_style.css")
    code = "\n".join(_asset(name) for name in SCRIPTS)
    script = '\n"use strict";\n(() => {\n' + code + "})();\n"
    # Only this style and this script may run; nothing can be loaded, sent or embedded, whatever the texts contain.
    policy = f"default-src 'none'; style-src {_fingerprint(style)}; script-src {_fingerprint(script)}"
    links = "".join(f'<li><a href="#{name}">{escape(words)}</a></li>' for name, words, _ in sections)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f"<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}; base-uri 'none'; form-action 'none'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{escape(title)}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            '<a class="skip" href="#summary">Skip to the summary</a>',
            f"<header>\n<h1>{escape(title)}</h1>\n{intro}",
            f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n</header>',
            "<main>",
            *(content for _, _, content in sections),
            "</main>",
            f"<footer>Written by worthwhile {__version__}. This file needs nothing else and sends nothing.</footer>",
            f"<script>{script}</script>",
            "</body>",
            "</html>\n",
        ]
    )


def _fingerprint(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


# ---- the tree


def tree_section(tree: Tree) -> str:
    """Return the picture of the tree with its tools, and the tree in words."""
    tests = len(tree.tests_used())
    shape = (
        "<p>The tree is a single answer: no test is worth its price.</p>"
        if tree.n_nodes == 1
        else f"<p>{tree.n_nodes} nodes, {tree.n_leaves} of them answers; {tests} of {len(tree.columns)} tests are"
        " asked. Each test with its price where it stands, the share of the training cases that come there, and what a"
        " case is expected to cost from there on: tests still to be paid and errors.</p>"
    )
    buttons = {"in": "Zoom in", "out": "Zoom out", "fit": "Fit", "full": "Full size"}
    if tree.n_nodes > 3:
        buttons |= {"unfold": "Unfold all", "fold": "Fold all"}
    tools = "".join(
        f'<button type="button" data-tree-action="{name}">{words}</button>' for name, words in buttons.items()
    )
    keys = (
        '<p class="note screen">Keys, once the tree has the focus: arrows go from node to node and fold or unfold,'
        " Enter folds, + and − zoom, 0 fits. The wheel zooms with Ctrl held down. Dragging moves the picture.</p>"
    )
    printed = " data-print" if tree.n_nodes <= MOST_PRINTED else ""
    words = f"<details{printed}><summary>The tree in words</summary><pre>{escape(tree.to_text())}</pre></details>"
    return section(
        "tree",
        "The tree",
        shape,
        f'<div class="tools" role="group" aria-label="Picture of the tree">{tools}</div>',
        legend(tree),
        f'<div class="viewport">{tree_svg(tree)}</div>',
        keys,
        words,
    )


# ---- the walk-through


def walk_section(document: dict[str, Any], money: Money) -> str:
    """Return the walk-through: a frame that the script fills, and the model that it reads."""
    # "<" would end the script element, or begin a comment in it.
    model = json.dumps(document, ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")
    ask = "\n".join(
        [
            '<div class="card ask" data-walk="card">',
            '<p class="step" data-walk="step"></p>',
            '<h3 class="question" data-walk="question" tabindex="-1"></h3>',
            '<p data-walk="price"></p><p class="note" data-walk="order"></p><p class="note" data-walk="why"></p>',
            '<form data-walk="form" novalidate></form>',
            '<p class="error" id="walk-error" data-walk="error" role="alert"></p>',
            '<div class="tools"><button type="button" data-walk="unavailable">Not available</button>',
            '<button type="button" data-walk="undo">Undo</button>',
            '<button type="button" data-walk="restart">Start again</button></div>',
            "</div>",
        ]
    )
    shares = (
        '<div class="card"><h3>How likely each class is</h3><table><tbody data-walk="shares"></tbody></table></div>'
    )
    heads = "".join(f'<th scope="col"{kind}>{name}</th>' for name, kind in _LEDGER)
    ledger = "\n".join(
        [
            '<div class="card"><h3>Spent so far: <span class="spent" data-walk="spent"></span></h3>',
            f'<div class="wide"><table><thead><tr>{heads}</tr></thead>',
            '<tbody data-walk="ledger"></tbody></table></div></div>',
        ]
    )
    words = (
        "<p>Answer for one case, test by test, and see what to do next, what it costs and when to stop. Nothing leaves"
        " this page.</p><noscript><p><strong>The walk-through needs JavaScript.</strong></p></noscript>"
    )
    return section(
        "walk",
        "Walk-through: one case, step by step",
        words,
        f'<div class="walk">{ask}\n{shares}\n{ledger}</div>',
        '<p class="hide" data-walk="status" role="status" aria-live="polite"></p>',
        f'<script type="application/json" id="model">{model}</script>',
        attributes=f' class="screen" data-currency="{escape(money.currency)}"',
    )


_LEDGER = (("test", ""), ("value", ' class="text"'), ("price", ""), ("spent", ""))


# ---- forests


def forest_section(clf: BudgetForestClassifier, curve: Sequence[BudgetRecord], money: Money) -> str:
    """Return how a forest keeps to its budget."""
    record = clf.record_
    budget = "No budget was given." if clf.budget is None else f"The budget is {money(float(clf.budget))} per case."
    trees = f"{len(clf.trees_)} tree{'s' if len(clf.trees_) != 1 else ''}"
    words = (
        f"<p>{budget} The forest has {trees}; on its validation cases the"
        f" tests cost {money(record.price)} per case and {100 * record.error:.1f} % of the answers are wrong.</p>"
        f"<p>{_growing(clf)}</p>"
        "<p>A forest asks for what its trees ask for, one after the other, and has no single tree to be shown or walked"
        " through here: <code>next_test</code> gives the same advice step by step in Python.</p>"
    )
    own, consulted = _own_part(clf, curve)
    shown = _thinned(own, consulted)
    rated = any(one.rate is not None for one in shown)
    largest = max((one.price + max(one.error_cost, 0.0) for one in shown), default=0.0)
    rows = [
        cell(f"{one.trees}", heading=True)
        + (cell("" if one.rate is None else f"{one.rate:.3g}") if rated else "")
        + cell(amount(one.price))
        + cell(f"{100 * one.error:.1f} %")
        + cell(amount(one.error_cost))
        + cell(amount(one.price + one.error_cost))
        + cell(bar([("tests", one.price), ("errors", one.error_cost)], largest))
        for one in shown
    ]
    names = [*(["rate"] if rated else []), "tests", "wrong", "errors", "total"]
    heads = [head("trees", text=True), *map(head, names), head("picture", hidden=True)]
    caption = f"Cost per case of parts of the forest, on the cases shown here{money.heading}; marked: the one consulted"
    marks = ["model" if one is own[consulted] else "" for one in shown]
    return section("forest", "The forest and its budget", words, table(caption, heads, rows, marks))


def _growing(clf: BudgetForestClassifier) -> str:
    """Say which tests the trees keep to, and from which cases they were grown."""
    n_tests = len(clf._frame().columns)
    if len(clf.tests_) == n_tests:
        kept = f"The trees may ask all {n_tests} tests"
    else:
        rest = f" and {len(clf.tests_) - MOST_NAMED} more" if len(clf.tests_) > MOST_NAMED else ""
        names = ", ".join(map(escape, clf.tests_[:MOST_NAMED]))
        kept = f"The trees keep to {len(clf.tests_)} of {n_tests} tests ({names}{rest})"
    # Unknown of a model that was saved without it.
    drawn = _SAMPLING.get(getattr(clf, "sampling_", ""))
    return f"{kept}. {drawn}" if drawn else f"{kept}."


_SAMPLING = {
    "drawn": "Each was grown from cases drawn with replacement.",
    "weighted": "Each was grown from all cases, which count more the more often they are drawn.",
}


def _own_part(clf: BudgetForestClassifier, curve: Sequence[BudgetRecord]) -> tuple[list[BudgetRecord], int]:
    """Return the records of the forest that is consulted, and the position of the one that the budget has chosen."""
    # By identity: forests may have their parameter in common, and records all that was measured.
    others = itertools.takewhile(lambda forest: forest is not clf._chosen, clf.forests_)
    start, kept = sum(len(forest.curve) for forest in others), clf._chosen.curve
    consulted = next(i for i, record in enumerate(kept) if record is clf.record_)
    return list(curve[start : start + len(kept)]), consulted


def _thinned(curve: list[Any], kept: int, most: int = 12) -> list[Any]:
    """Return about so many of the records, evenly; the first, the last and the one at `kept` among them."""
    if len(curve) <= most:
        return curve
    evenly = {round(i * (len(curve) - 1) / (most - 1)) for i in range(most)}
    return [curve[i] for i in sorted(evenly | {kept})]

"""A report on a model as one HTML file that needs nothing else and opens from disk.

It holds: a summary in money against simple ways to decide; the tree; a walk-through, in which a person answers question
by question and sees the next test, its price and the answer (the same JSON as the saved model, and the same rules);
where the money goes; break-even prices; the cases that cost most; the price list.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from worthwhile.evaluation.evaluate import Done, evaluate
from worthwhile.evaluation.metrics import innermost, tree_of
from worthwhile.evaluation.sensitivity import BreakEven, break_even, faster
from worthwhile.evaluation.spending import spending
from worthwhile.files import write_text
from worthwhile.report._markup import Money, escape
from worthwhile.report._page import forest_section, page, tree_section, walk_section
from worthwhile.report._picture import tree_picture
from worthwhile.report._sections import (
    cases_section,
    prices_section,
    sensitivity_section,
    spending_section,
    summary_section,
)
from worthwhile.tree.json_format import write_tree
from worthwhile.tree.tree import Tree

__all__ = ["SECONDS", "tree_picture", "write_report"]

OWN_CASES = "All ways to decide have learned from these very cases: new ones cost more."
SECONDS = 60.0  # that finding break-even prices may take, unless another time is given


def write_report(
    path: str | os.PathLike[str],
    clf: Any,
    X: Any,
    y: Any,
    *,
    X_train: Any = None,
    y_train: Any = None,
    title: str | None = None,
    currency: str = "",
    sensitivity: bool | float = True,
    tell: Callable[[Done], Any] | None = None,
) -> None:
    """Write a report on a model: one HTML file that loads nothing and sends nothing.

    Parameters
    ----------
    path : str or path
        The file; it is replaced as a whole or not at all.
    clf : learner or Tree
        A fitted one, alone or inside scikit-learn's pipelines and searches. Of a forest there is no picture and no
        walk-through.
    X, y : cases and their classes
        On which costs are shown; best cases that the model has not learned from.
    X_train, y_train : cases and their classes, optional
        What the model has learned from. The simple ways to decide learn from them, too, and the break-even prices come
        from learning again at other prices.
    title : str, optional
        Heading of the page; default: that of the price list, or the name of the learner.
    currency : str, default ""
        What amounts are in, e.g. "€" or "dollars"; default: what the price list says.
    sensitivity : bool or float, default True
        Whether break-even prices are looked for, and for how many seconds at most; True: 60.
    tell : function, optional
        Called with a `Done` (trees learned, trees due) while these prices are looked for.

    Examples
    --------
    >>> import pathlib, tempfile, worthwhile as ww
    >>> X, y = [[1], [2], [3], [4]] * 5, ["a", "a", "b", "b"] * 5
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "report.html"
    ...     write_report(path, clf, X, y, title="Four kinds of cases")
    ...     path.read_text(encoding="utf-8").count("<h1>Four kinds of cases</h1>")
    1
    """
    est, X_own = innermost(clf, X)
    tree = tree_of(est)
    if (X_train is None) != (y_train is None):
        raise ValueError("X_train and y_train belong together: give both, or neither")
    for cases, classes in ((X_own, y), *([] if X_train is None else [(innermost(clf, X_train)[1], y_train)])):
        if (n := est._read(cases).n_cases) != len(classes):
            raise ValueError(f"there are {n} cases, but {len(classes)} classes of them: every case has one")
    money = Money(currency or tree.costs.about.get("currency", ""))
    found = evaluate(clf, X, y, X_train, y_train, name=f"this model ({_name(est)})")
    prices, method = _break_even(clf, X_train, y_train, sensitivity, tell)
    own = X_train is X  # the very cases that it has learned from
    sections = [
        ("summary", "Summary", summary_section(found, money, OWN_CASES if own else found.note)),
        *_model_sections(est, tree, X_own, y, money),
        ("spending", "Where the money goes", spending_section(spending(clf, X), money)),
        ("sensitivity", "Break-even prices", sensitivity_section(prices, tree, method, money)),
        ("cases", "The dearest cases", cases_section(est, tree, X_own, y, money)),
        ("prices", "Prices", prices_section(tree, money)),
    ]
    n_train = None if y_train is None else len(y_train)
    cases = "the same cases" if own else f"{found.n_cases} cases"
    title = title or tree.costs.about.get("title") or f"Which tests are worth their price: {_name(est)}"
    write_text(Path(path), page(title, _intro(est, tree, cases, n_train), sections))


def _model_sections(est: Any, tree: Tree, X: Any, y: Any, money: Money) -> list[tuple[str, str, str]]:
    """Return what is to be seen of the model itself."""
    if hasattr(est, "trees_"):
        return [("forest", "The forest", forest_section(est, est.budget_curve(X, y), money))]
    document = write_tree(est) if isinstance(est, Tree) else est._document()
    return [("tree", "The tree", tree_section(tree)), ("walk", "Walk-through", walk_section(document, money))]


def _break_even(
    clf: Any, X: Any, y: Any, sensitivity: bool | float, tell: Callable[[Done], Any] | None
) -> tuple[list[BreakEven] | str, str]:
    """Return the break-even prices, or why there are none, and how they were found."""
    if isinstance(sensitivity, bool) and not sensitivity:
        return "Break-even prices were not asked for.", ""
    est, X = innermost(clf, X)
    if hasattr(est, "trees_"):
        return "A forest asks for every test that some tree of it wants: there is no price at which one leaves it.", ""
    if isinstance(est, Tree):
        return "The tree was not learned here, so it cannot be learned again at other prices.", ""
    if y is None:
        return "Break-even prices need the training cases, which were not at hand.", ""
    seconds = SECONDS if isinstance(sensitivity, bool) else float(sensitivity)
    learner, changed = faster(est, X, y)
    found = break_even(learner, X, y, tests=_by_interest(est), seconds=seconds, tell=tell)
    trials = 1 + sum(one.trials for one in found)
    settings = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    shorter = f" (with {escape(settings)}, so that it does not take too long)" if changed else ""
    rest = "" if all(one.finished for one in found) else f" After {seconds:g} s nothing more was tried."
    method = (
        f"How: {_name(est)}{shorter} learned from the same {len(y)} cases {trials} times, each time with the price of"
        " one test changed. Prices were chosen by bisection from 0 to the cost of the dearest error, in steps of a"
        f" fifth. A test counts as asked if the tree asks for it anywhere.{rest} What is learned from few cases is"
        " partly luck: take these prices as a rough guide."
    )
    return found, method


def _by_interest(est: Any) -> list[str]:
    """Return all tests: those of the tree first, then the cheapest; time may not suffice for all."""
    tree = est._whole_tree()
    used, prices = set(tree.tests_used()), tree._prices
    alone = [prices.price(prices.closure([test])) for test in range(len(tree.columns))]
    order = sorted(range(len(alone)), key=lambda test: (tree.columns[test] not in used, alone[test]))
    return [tree.columns[test] for test in order]


def _name(est: Any) -> str:
    return "a tree" if isinstance(est, Tree) else type(est).__name__.removesuffix("Classifier")


def _intro(est: Any, tree: Tree, cases: str, n_train: int | None) -> str:
    """Return what this is about, as HTML."""
    learned = "A tree written by hand." if isinstance(est, Tree) else f"A model by {escape(_name(est))}"
    if not isinstance(est, Tree):
        learned += f", learned from {n_train} cases." if n_train is not None else "."
    source = tree.costs.about.get("source")
    prices = f" Prices: {escape(source)}." if source else ""
    return f"<p>{learned} Costs are shown on {cases}.{prices}</p>"

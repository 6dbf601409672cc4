"""Writes the report: one HTML page with its style, its script and the model inside; it cannot load anything else."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import unicodedata
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from worthwhile import __version__
from worthwhile.evaluation.metrics import innermost
from worthwhile.files import write_text
from worthwhile.learners.progress import Progress
from worthwhile.report.sections import sections
from worthwhile.report.tree_layout import shortened
from worthwhile.table.columns import value_text
from worthwhile.wording import amount, percent

__all__ = ["write_report"]

SCRIPTS = ("model.js", "tree_view.js", "walk_through.js", "start.js")


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
    case_names: Sequence[Any] | Callable[[int], str] | None = None,
    tell: Callable[[Progress], Any] | None = None,
    **by_case: Any,
) -> None:
    """Write a report on a model: one HTML file that loads nothing and sends nothing.

    Parameters
    ----------
    path : str or path
        The file to write. An existing file is replaced only once the report is complete.
    clf : learner or Tree
        A fitted model, alone or inside a scikit-learn pipeline or search. A report on a forest or cascade has no
        picture and no walk-through.
    X, y : cases and their classes
        The data on which costs are measured; preferably cases that the model was not trained on. If `X` is `X_train`,
        the report says that these costs are no estimate for new cases, and shows no intervals.
    X_train, y_train : cases and their classes, optional
        The training data. The baselines are trained on them, too, and break-even prices are found by retraining at
        other prices.
    title : str, optional
        Heading of the page; default: the title of the price list, or the name of the learner.
    currency : str, default ""
        The currency of all amounts, e.g. "€" or "dollars"; default: the currency of the price list.
    sensitivity : bool or float, default True
        Whether to find break-even prices. A number limits the time in seconds; True allows 60.
    case_names : sequence or function, optional
        What the cases are called in the list of the most expensive ones, such as identifiers or line numbers: one per
        case of X, or a function of the row number, which counts from 0. Default: the numbers of the rows from 1.
    tell : function, optional
        Called with a `Progress` (trees trained so far and in total) during the search for break-even prices.
    case_prices, case_errors, train_case_prices, train_case_errors : tables, optional
        What tests and errors cost each case of X and X_train; see `evaluate`. Break-even prices are of the price list.

    Examples
    --------
    >>> import pathlib, tempfile, worthwhile as ww
    >>> X, y = [[1], [2], [3], [4]] * 5, ["a", "a", "b", "b"] * 5
    >>> clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "report.html"
    ...     write_report(path, clf, X[:8], y[:8], title="Four kinds of cases")
    ...     path.read_text(encoding="utf-8").count("<h1>Four kinds of cases</h1>")
    1
    """
    if (X_train is None) != (y_train is None):
        raise ValueError("give both X_train and y_train, or neither")
    _check_lengths(clf, X, y, "X", "y")
    if y_train is not None:
        _check_lengths(clf, X_train, y_train, "X_train", "y_train")
    if case_names is None:
        name_of: Callable[[int], str] = lambda row: str(row + 1)  # noqa: E731
    elif callable(case_names):
        name_of = case_names
    elif len(case_names) == len(y):
        name_of = lambda row: value_text(case_names[row])  # noqa: E731
    else:
        raise ValueError(f"case_names has {len(case_names)} names for {len(y)} cases")
    found = sections(clf, X, y, X_train, y_train, sensitivity, name_of, tell, by_case)
    about = found["problem"].costs.about
    title = title or about.get("title") or f"Which tests are worth their price: {found['learner']}"
    write_text(Path(path), _render(title=title, currency=currency or about.get("currency", ""), **found))


def _check_lengths(clf: Any, X: Any, y: Any, X_name: str, y_name: str) -> None:
    est, X_own = innermost(clf, X)
    if (n := est._read(X_own).n_cases) != len(y):
        raise ValueError(f"{X_name} has {n} cases but {y_name} has {len(y)} classes; they need one class per case")


def _render(**context: Any) -> str:
    style = "\n" + _static("style.css")
    script = '\n"use strict";\n(() => {\n' + "\n".join(map(_static, SCRIPTS)) + "})();\n"
    return (
        _environment()
        .get_template("report.html")
        .render(
            version=__version__,
            style=Markup(style),
            script=Markup(script),
            hashes={"style": _hash(style), "script": _hash(script)},
            **context,
        )
    )


@functools.cache
def _environment() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("worthwhile.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.policies["json.dumps_kwargs"] = {"allow_nan": False}  # keys in the order of the saved file
    found.filters |= {
        "amount": lambda value: amount(value).replace("-", "−"),
        "percent": percent,
        "percent_1": lambda share: f"{100 * share:.1f} %",
        "label": value_text,
        "shortened": shortened,
    }
    found.tests["currency_sign"] = lambda text: len(text) == 1 and unicodedata.category(text) == "Sc"
    return found


@functools.cache
def _static(name: str) -> str:
    return resources.files("worthwhile.report").joinpath("static", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

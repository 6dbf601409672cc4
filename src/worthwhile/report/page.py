"""The page: one HTML file with its style, its script and the model inside, which may load nothing from anywhere."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import unicodedata
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from worthwhile import __version__
from worthwhile._encode import value_text
from worthwhile._files import write_text
from worthwhile._phrases import amount, percent
from worthwhile.evaluation import Done
from worthwhile.metrics import _innermost
from worthwhile.report.sections import sections
from worthwhile.report.tree_layout import shortened

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
    if (X_train is None) != (y_train is None):
        raise ValueError("X_train and y_train belong together: give both, or neither")
    for cases, classes in ((X, y), *([] if y_train is None else [(X_train, y_train)])):
        est, X_own = _innermost(clf, cases)
        if (n := est._read(X_own).n_cases) != len(classes):
            raise ValueError(f"there are {n} cases, but {len(classes)} classes of them: every case has one")
    found = sections(clf, X, y, X_train, y_train, sensitivity, tell)
    about = found["tree"].costs.about
    title = title or about.get("title") or f"Which tests are worth their price: {found['learner']}"
    write_text(Path(path), _render(title=title, currency=currency or about.get("currency", ""), **found))


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

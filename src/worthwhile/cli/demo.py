"""`worthwhile demo`: a tree for heart disease, in under 15 seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from worthwhile.cli.common import Printer, StoppedError, check_folder, search_bar, work_bar
from worthwhile.cli.options import LAST_SEED, Quiet

__all__ = ["demo"]

TRIALS = 1000
BREAK_EVEN_SECONDS = 3.0  # so that the whole demo takes less than 15


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the report; created if missing.")] = Path(
        "worthwhile-demo"
    ),
    seed: Annotated[
        int,
        typer.Option(
            min=0, max=LAST_SEED, help="Random seed of the split into training and test cases, and of the search."
        ),
    ] = 0,
    quiet: Quiet = False,
) -> None:
    """Learn a tree for heart disease with published prices and show what it costs.

    ICET is trained on two thirds of 303 patients; costs are measured on the others.

    Example: worthwhile demo --out my-demo --seed 3
    """
    from worthwhile import datasets
    from worthwhile.files import make_folder, write_file
    from worthwhile.learners.soft_labels import remember_ensembles
    from worthwhile.report import tree_picture

    check_folder(out, "tree.png", "report.html")
    heart = datasets.load("heart")
    intro = (
        f"Cleveland heart disease data: {len(heart.y)} patients, 13 tests at the prices of the Ontario health insurance"
        " (Turney 1995, Canadian dollars), a wrong answer costs 500. ICET was trained on two thirds of the patients."
    )
    with remember_ensembles():  # the report refits on the same patients for its break-even prices
        with search_bar(quiet, trials=TRIALS) as tell:
            try:
                learned = _learn(heart, seed, tell)
            except KeyboardInterrupt:
                raise StoppedError("stopped; nothing was written") from None
        make_folder(out)
        tree = learned.icet.tree_
        write_file(out / "tree.png", tree_picture(tree, "png"))
        _write_report(out / "report.html", learned, quiet)
    if not quiet:
        _print(intro, _rows(learned), len(learned.y), tree, out)


class _Learned(NamedTuple):
    """ICET's tree, its training cases, and the patients held out."""

    icet: Any
    X_train: Any
    X: Any
    y_train: Any
    y: Any


def _learn(heart: Any, seed: int, tell: Callable[[Any], None]) -> _Learned:
    """Train on two thirds of the patients."""
    from sklearn.model_selection import train_test_split

    from worthwhile.learners.icet.classifier import ICETClassifier

    split = train_test_split(heart.X, heart.y, test_size=1 / 3, stratify=heart.y, random_state=seed)
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names}
    icet = ICETClassifier(random_state=seed, n_jobs=-1, trials=TRIALS, callback=tell, **known)
    return _Learned(icet.fit(split[0], split[2]), *split)


def _write_report(path: Path, learned: _Learned, quiet: bool) -> None:
    from worthwhile.report import write_report

    with work_bar(quiet, "break-even prices") as tell:
        write_report(
            path,
            learned.icet,
            learned.X,
            learned.y,
            X_train=learned.X_train,
            y_train=learned.y_train,
            title="Heart disease: which tests are worth their price",
            sensitivity=BREAK_EVEN_SECONDS,
            tell=tell,
        )


def _rows(learned: _Learned) -> list[tuple[str, Any]]:
    """Return the strategies with their costs on the patients held out, the tree first."""
    from worthwhile.evaluation.evaluate import evaluate

    found = evaluate(learned.icet, learned.X, learned.y, learned.X_train, learned.y_train, name="the tree (ICET)")
    return [(strategy.name, strategy) for strategy in found.strategies]


def _print(intro: str, rows: list[tuple[str, Any]], n_cases: int, tree: Any, out: Path) -> None:
    say = Printer(quiet=False)
    say(intro)
    say()
    say(f"Cost per case on {n_cases} held-out patients")
    cells = [
        [name, *(f"{cost.mean:.2f}" for cost in (w.test_cost, w.error_cost, w.total_cost)), f"{w.error_rate:.1%}"]
        for name, w in rows
    ]
    say.table(["strategy", "tests", "errors", "total", "wrong"], cells)
    say("The tree, with the price of each test at its node:")
    say(tree.to_text(), wrap=False)
    say()
    say(f"Picture: {out / 'tree.png'}\nReport:  {out / 'report.html'}", wrap=False)

"""`worthwhile evaluate`: what a model costs, against three simple ways to decide."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from worthwhile.cli.common import Speaker, check_apart, check_writable, load_model, split_names
from worthwhile.cli.options import Data, MaybeTarget, Missing, Model, Quiet, Seed

__all__ = ["evaluate"]


def evaluate(
    model: Model,
    data: Data,
    target: MaybeTarget = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA", help="What the others learn from; otherwise they are cross-validated.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the figures: CSV or JSON.", show_default=False)
    ] = None,
    missing: Missing = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Measure what a model costs per case, against no test, all tests with the best plain tree, and C4.5.

    Take cases that the model has not learned from. Intervals are those of 95 %, bootstrapped over the cases. The
    normalized cost (norm.) is in percent of the standard cost: all tests, and the dearest error for every case that the
    most frequent class would get wrong (Turney 1995).

    Example: worthwhile evaluate model.json new-cases.csv --target class --train heart.csv
    """
    from worthwhile.cli.files import figures_writer
    from worthwhile.cli.reading import frame_of, true_classes, unknown_values
    from worthwhile.evaluation.evaluate import evaluate as measure

    check_apart({"--out": out}, [data, model, train])
    check_writable(out)
    write = figures_writer(out)
    clf = load_model(model)
    names, absent = frame_of(clf).columns, split_names(missing)
    table, target, y = true_classes(clf, data, target, absent)
    X_train = y_train = None
    if train is not None:
        other, _, y_train = true_classes(clf, train, target, absent)
        X_train = other.matrix(names)
    found = measure(clf, table.matrix(names), y, X_train, y_train, random_state=seed)
    write(found.rows())
    say = Speaker(quiet)
    for line in unknown_values(clf, table):
        say(line)
    say(found.title)
    say.table(*found.layout())
    for line in (*found.savings(), found.note):
        say(line)
    if out is not None:
        say(f"Figures: {out}", wrap=False)

"""`worthwhile learn`: learn a model from a table and a price list."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from worthwhile.cli.common import (
    Printer,
    StoppedError,
    check_apart,
    check_writable,
    on_cluster,
    search_bar,
    split_names,
    work_bar,
)
from worthwhile.cli.learners import LEARNERS, make_learner, read_settings
from worthwhile.cli.options import (
    Cluster,
    CostsFile,
    Data,
    Drop,
    Jobs,
    Missing,
    Nominal,
    Quiet,
    Seed,
    Target,
    TimeLimit,
)

if TYPE_CHECKING:
    from worthwhile.cli.reading import TrainingData

__all__ = ["learn"]

REPORT_SHARE = 0.3  # of the cases are held out for a report unless --test-share says otherwise

# Learners that can use a cluster.
CLUSTERED = ("icet", "budget-forest")


def learn(
    data: Data,
    target: Target,
    costs: CostsFile = None,
    learner: Annotated[str, typer.Option(help=f"One of {', '.join(LEARNERS)}.")] = "act",
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path("model.json"),
    report: Annotated[
        Path | None, typer.Option(help="Also write an HTML report to this file.", show_default=False)
    ] = None,
    test_share: Annotated[
        float | None,
        typer.Option(
            help=f"Share of the cases to hold out for measuring costs; {REPORT_SHARE:g} with --report, otherwise 0.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Average budget per case (budget-forest).", show_default=False)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the learner. May be repeated."),
    ] = None,
    time_limit: TimeLimit = None,
    nominal: Nominal = None,
    drop: Drop = None,
    missing: Missing = None,
    jobs: Jobs = -1,
    cluster: Cluster = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Learn which tests are worth their price, from a table of cases and a price list.

    Columns of strings are nominal, columns of numbers numeric. To write a starter price list: worthwhile costs init.
    Ctrl-C ends a search (act, icet, budget-forest) and keeps the best model so far.

    Example: worthwhile learn heart.csv --target class --costs heart.toml --learner act -o model.json
    """
    if test_share is not None and not 0 <= test_share < 1:
        raise ValueError(f"--test-share {test_share:g}: must be at least 0 and below 1")
    if cluster is not None and learner.lower() not in CLUSTERED:
        raise ValueError(f"--cluster: not available for {learner}, only for {' and '.join(CLUSTERED)}")
    limits = {"budget": budget, "time_limit": time_limit}
    clf = make_learner(learner, read_settings(settings or []), limits, random_state=seed, n_jobs=jobs)
    check_apart({"--out": out, "--report": report}, [data, costs])
    for path in (out, report):
        check_writable(path)
    from worthwhile.cli.reading import describe_columns, read_training_data

    say, declared = Printer(quiet), split_names(nominal)
    problem = read_training_data(data, target, costs, declared, split_names(drop), split_names(missing))
    for line in describe_columns(problem, declared):
        say(line)
    if costs is None:
        say("No --costs: tests are free, every error costs 1. To write a starter price list:")
        say(f"  worthwhile costs init {data} --target {target} -o costs.toml", wrap=False)
    clf.set_params(costs=problem.costs, nominal=problem.nominal, columns=problem.names)
    if test_share is None:
        split = _split(problem, 0.0 if report is None else REPORT_SHARE, seed, required=False)
        if split.held_out:
            n, share = len(split.y), f"{REPORT_SHARE:.0%} of the cases"
            say(f"{n} cases ({share}) are held out for the report; --test-share 0 trains on all of them.")
    else:
        split = _split(problem, test_share, seed)
    seconds = _fit(clf, split, quiet, cluster)
    clf.save(out)
    stopped = getattr(clf, "stopped_", "") == "interrupted"
    if not stopped:
        _summarise(clf, LEARNERS[learner.lower()].removesuffix("Classifier"), split, seconds, say, seed)
        say(f"Model:  {out}", wrap=False)
    if report is not None and not stopped:
        about = {} if problem.costs is None else problem.costs.about
        title = about.get("title") or f"{data.stem}: which tests are worth their price"
        _write_report(report, clf, split, title, _case_names(problem, split, split_names(drop)), quiet)
        say(f"Report: {report}", wrap=False)
    if stopped:
        unwritten = "" if report is None else "; no report was written"
        raise StoppedError(f"stopped{unwritten}; the best model so far is saved: {out}")


@dataclass(frozen=True, eq=False)
class _Split:
    """Training cases, and cases to measure costs on: the same unless some are held out."""

    X_train: Any
    y_train: Any
    X: Any
    y: Any
    rows: Any  # of X, in the file
    held_out: bool


def _split(problem: TrainingData, share: float, seed: int, required: bool = True) -> _Split:
    """Hold out a share of the cases; if there are too few, none, or raise an error if it is required."""
    import numpy as np

    from worthwhile.learners.folds import stratified_share

    X, y = problem.X, problem.y
    everything = _Split(X, y, X, y, np.arange(len(y)), False)
    if not share:
        return everything
    classes = np.unique(y, return_inverse=True)[1].astype(np.int32)
    held = np.zeros(len(y), dtype=bool)
    held[stratified_share(classes, share, np.random.default_rng(seed))] = True
    if not held.any() or len(np.unique(y[~held])) < 2:
        if not required:
            return everything
        what = "no case is held out" if not held.any() else "fewer than two classes are left for training"
        raise ValueError(f"--test-share {share:g}: {what} with {len(y)} cases")
    return _Split(X[~held], y[~held], X[held], y[held], np.flatnonzero(held), True)


def _fit(clf: Any, split: _Split, quiet: bool, cluster: str | None) -> float:
    """Train with a progress bar, and return the seconds it took."""
    start = time.monotonic()
    with on_cluster(cluster), search_bar(quiet, getattr(clf, "trials", None), getattr(clf, "time_limit", None)) as tell:
        if "callback" in clf._parameter_names():
            clf.set_params(callback=tell)
        try:
            clf.fit(split.X_train, split.y_train)
        except KeyboardInterrupt:
            raise StoppedError("stopped before a model was found; nothing is saved") from None
    return time.monotonic() - start


def _summarise(clf: Any, name: str, split: _Split, seconds: float, say: Printer, seed: int) -> None:
    """Print what was learned and what it costs."""
    from worthwhile.cli.reading import tests_of
    from worthwhile.costs.costs import Costs
    from worthwhile.evaluation.baselines import no_test
    from worthwhile.evaluation.evaluate import evaluate
    from worthwhile.evaluation.metrics import cost_report
    from worthwhile.wording import amount

    tests = tests_of(clf)
    asks = f"it may ask for {', '.join(tests) or 'nothing'} ({len(tests)} of {clf.n_features_in_} tests)"
    if getattr(clf, "empty_", False):
        asks = "no tree fits the budget, so it asks for nothing"
    say(f"{name} was trained on {len(split.y_train)} cases in {seconds:.1f} s; {asks}.")
    if split.held_out:
        found = evaluate(clf, split.X, split.y, split.X_train, split.y_train, name="the model", random_state=seed)
        say()
        say(found.title.replace("cases", "held-out cases"))
        say.table(*found.layout())
        for line in found.savings():
            say(line)
        return
    own = cost_report(clf, split.X, split.y)
    unit = f" {currency}" if clf.costs is not None and (currency := clf.costs.about.get("currency")) else ""
    none = no_test(clf.costs or Costs(), split.y_train, split.y)
    total = f"{amount(own.total_cost, fine=True)}{unit} per case, {own.error_rate:.1%} wrong"
    paid, lost = (amount(part, fine=True) for part in (own.test_cost, own.error_cost))
    say(
        f"On these cases it pays {paid} for tests and {lost} for errors: {total}."
        f" ({none.name}: {amount(float(none.totals.mean()), fine=True)})"
    )
    say("It was trained on these same cases; use --test-share 0.3, or evaluate, to measure the cost of new cases.")


def _case_names(problem: TrainingData, split: _Split, dropped: list[str]) -> Callable[[int], str]:
    """Return a function that names a case by its line in the file, and by its identifier if there is one."""
    from worthwhile.table.columns import value_text

    ids = _identifiers(problem, dropped)

    def name(row: int) -> str:
        place = int(split.rows[row])
        line = problem.table.location(place).rpartition(", ")[2]
        return line if ids is None else f"{line}: {ids[0]} {value_text(ids[1][place])}"

    return name


def _identifiers(problem: TrainingData, dropped: list[str]) -> tuple[str, Any] | None:
    """Return the first column, dropped or not, that identifies the cases: strings or integers that are all distinct."""
    from worthwhile.table.files import Factor, read_table

    left_out = read_table(problem.table.path, only=dropped, nominal=dropped).columns if dropped else {}
    possible = {name: problem.table.columns[name] for name in problem.table.possible_ids()}
    n = problem.table.n_cases
    for name, column in {**left_out, **possible}.items():
        if isinstance(column, Factor) and len(column.categories) == n and (column.codes >= 0).all():
            return name, [column.categories[code] for code in column.codes]
    return None


def _write_report(
    path: Path, clf: Any, split: _Split, title: str, case_names: Callable[[int], str], quiet: bool
) -> None:
    from worthwhile.report import write_report

    training = {"X_train": split.X_train, "y_train": split.y_train}
    with work_bar(quiet, "break-even prices") as tell:
        write_report(path, clf, split.X, split.y, **training, title=title, case_names=case_names, tell=tell)

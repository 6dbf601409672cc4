"""`worthwhile learn`: learn a model from a table and a price list."""

from __future__ import annotations

import math
import shlex
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from worthwhile.cli.common import (
    Printer,
    StoppedError,
    check_apart,
    check_writable,
    on_cluster,
    open_table,
    search_bar,
    split_names,
    work_bar,
)
from worthwhile.cli.learners import LEARNERS, make_learner, parameter_rows, read_settings
from worthwhile.cli.options import (
    Cap,
    CaseError,
    CasePrice,
    Cluster,
    CostsFile,
    Data,
    Dates,
    Decimal,
    Drop,
    DropMissingTarget,
    Encoding,
    IgnoreExtraPrices,
    Jobs,
    Missing,
    Nominal,
    Quiet,
    Seed,
    Sheet,
    Target,
    TimeLimit,
)

if TYPE_CHECKING:
    from worthwhile.cli.case_costs import CaseColumns, CaseTables
    from worthwhile.cli.reading import TrainingData
    from worthwhile.table.files import TableFile

__all__ = ["LearnCommand", "learn"]

# A tree of 16 leaves fits on a page. Larger trees than MANY_LEAVES are hardly read by anyone.
READABLE_LEAVES, MANY_LEAVES = 16, 50
REPORT_SHARE = 0.3  # of the cases are held out for a report unless --test-share says otherwise

# Learners that can use a cluster.
CLUSTERED = ("icet", "budget-forest")


class LearnCommand(TyperCommand):
    """The command, whose help ends with a table of the learners' parameters."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        super().format_help(ctx, formatter)
        table = Table(
            title="Parameters for --set NAME=VALUE",
            title_justify="left",
            box=SIMPLE_HEAD,
            pad_edge=False,
            padding=(0, 1),
        )
        headings, *rows = parameter_rows()
        for heading in headings:
            table.add_column(heading, no_wrap=heading == "name")
        for row in rows:
            table.add_row(*map(Text, row))
        console = Console(highlight=False)
        console.print(table)
        console.print(
            "Write lists as a,b,c and other values as in Python, e.g. --set \"vector={'sick': 5, 'well': 1}\"."
        )


def learn(
    data: Data,
    target: Target,
    costs: CostsFile = None,
    learner: Annotated[
        str, typer.Option(help=f"One of {', '.join(LEARNERS)}; auto tries several and keeps the cheapest.")
    ] = "auto",
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
    break_even: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Longest search for the break-even prices in the report: below which price each test is used. It"
            " learns the model again several times per test, which is slow with many tests or cases; 0: none.",
        ),
    ] = 60.0,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Average budget per case (budget-forest, cascade).", show_default=False)
    ] = None,
    cap: Cap = None,
    case_price: CasePrice = None,
    case_error: CaseError = None,
    max_leaves: Annotated[
        int | None,
        typer.Option(min=1, help="Largest number of leaves; the cheapest such part of the tree.", show_default=False),
    ] = None,
    min_cases: Annotated[
        float | None, typer.Option(help="Least number of cases in a branch of a tree.", show_default=False)
    ] = None,
    readable: Annotated[
        bool, typer.Option("--readable", help=f"A tree that people can read: --max-leaves {READABLE_LEAVES}.")
    ] = False,
    explain_choice: Annotated[
        bool, typer.Option("--explain-choice", help="Print what auto has tried, and why it chose one of them.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A parameter of the learner; see the list below. May be repeated."
        ),
    ] = None,
    time_limit: TimeLimit = None,
    nominal: Nominal = None,
    drop: Drop = None,
    missing: Missing = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    dates: Dates = None,
    sheet: Sheet = None,
    drop_missing_target: DropMissingTarget = False,
    ignore_extra_prices: IgnoreExtraPrices = False,
    jobs: Jobs = -1,
    cluster: Cluster = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Learn which tests are worth their price, from a table of cases and a price list.

    Unless --learner names one, several learners are tried on parts of the cases, and the one with the lowest cost on
    the others learns from all of them; of those that cost about the same, the simplest.

    Prints how each column is read and used; identifiers and free text are not used. To write a starter price list:
    worthwhile costs init.

    Ctrl-C ends a search (auto, act, icet, cascade, budget-forest) and keeps the best model so far, or a DTMC tree if
    that costs less. With --costs, eg2, idx and csid3 are pruned by cost, and these, lsid3 and c45 give the answer of
    lowest expected cost; as published: --set prune=pessimistic --set answer=majority.

    The columns of --case-price and --case-error say what tests and wrong answers cost each case; they are not used as
    tests. Where they say nothing, the price list counts.

    Example: worthwhile learn heart.csv --target class --costs heart.toml -o model.json

    Example: worthwhile learn loans.csv --target paid --case-error good=amount --case-price visit=distance
    """
    if test_share is not None and not 0 <= test_share < 1:
        raise ValueError(f"--test-share {test_share:g}: must be at least 0 and below 1")
    if cluster is not None and learner.lower() not in CLUSTERED:
        raise ValueError(f"--cluster: not available for {learner}, only for {' and '.join(CLUSTERED)}")
    if explain_choice and not _is_auto(learner):
        raise ValueError(f"--explain-choice: {learner} is the only learner that is tried; leave out --learner")
    limits = {"budget": budget, "cap": cap, "time_limit": time_limit, "min_cases": min_cases}
    limits |= _limit_leaves(learner, max_leaves, readable)
    known: dict[str, Any] = {
        "with_costs": bool(costs or case_price or case_error),
        "random_state": seed,
        "n_jobs": jobs,
    }
    clf = make_learner(learner, read_settings(settings or []), limits, **known)
    check_apart({"--out": out, "--report": report}, [data, costs])
    for path in (out, report):
        check_writable(path)
    from worthwhile.cli.case_costs import CaseColumns
    from worthwhile.cli.limits import about_errors, about_prices
    from worthwhile.cli.reading import read_training_data

    say, declared, by_case = Printer(quiet), split_names(nominal), CaseColumns.parse(case_price, case_error)
    with open_table(data, quiet, missing, encoding=encoding, decimal=decimal, dates=dates, sheet=sheet) as source:
        by_case.check(source, target)
        left_out = [*split_names(drop), *by_case.columns]
        problem = read_training_data(
            source, target, costs, declared, left_out, drop_missing_target, ignore_extra_prices
        )
        own = by_case.read(
            source, problem.table, problem.names, problem.costs, problem.y, sorted(set(problem.y.tolist()))
        )
        ids = None if report is None else _identifiers(problem, source, split_names(drop))
    _describe(problem, by_case, data, say, [*about_prices(problem, own, cap, budget), *about_errors(problem, own)])
    clf.set_params(costs=problem.costs, nominal=problem.nominal, columns=problem.names)
    for_report = test_share is None and report is not None
    held_out = REPORT_SHARE if for_report else test_share or 0.0
    split = _split(problem, own, held_out, seed, required=not for_report)
    if for_report and split.held_out:
        n, share = len(split.y), f"{REPORT_SHARE:.0%} of the cases"
        say(f"{n} cases ({share}) are held out for the report; --test-share 0 trains on all of them.")
    clf, seconds, stopped = _fit(clf, split, quiet, cluster)
    clf._set_origin(clf._fingerprint, source.decimal)
    clf.save(out)
    name = _name_of(clf)
    _warn_if_useless(clf, split)
    if stopped:
        say(f"Stopped after {seconds:.1f} s; kept: {name}, the best model so far.")
        _say_costs(clf, split, say)
        _say_choice(clf, explain_choice, say)
        raise StoppedError(
            f"stopped{'; no report was written' * (report is not None)}; the best model so far is saved: {out}"
        )
    _summarise(clf, name, split, seconds, say, seed, explain_choice)
    _say_more(clf, explain_choice, say)
    say(f"Model:  {out}", wrap=False)
    if report is not None:
        about = {} if problem.costs is None else problem.costs.about
        title = about.get("title") or f"{data.stem}: which tests are worth their price"
        _write_report(report, clf, split, title, _case_names(problem, split, ids), break_even, quiet)
        say(f"Report: {report}", wrap=False)


def _warn_if_useless(clf: Any, split: _Split) -> None:
    """Warn if a model costs more than no test."""
    from worthwhile.evaluation.baselines import warn_if_useless

    if message := warn_if_useless(clf, split.X_train, split.y_train, **split.own_train.arguments()):
        warnings.warn(f"{message}; try another learner", stacklevel=1)


def _name_of(clf: Any) -> str:
    """Return the name of a learner; of one that was chosen, what it is called in the table of what was tried."""
    chosen = [one.name for one in getattr(clf, "candidates_", ()) if one.chosen]
    return chosen[0] if chosen else type(clf).__name__.removesuffix("Classifier")


def _is_auto(learner: str) -> bool:
    return learner.lower() == "auto"


def _limit_leaves(learner: str, max_leaves: int | None, readable: bool) -> dict[str, Any]:
    """Return the parameters that limit the leaves of a tree; with a limit, only trees are tried."""
    if readable and max_leaves is None:
        max_leaves = READABLE_LEAVES
    trees_only = {"readable": True} if _is_auto(learner) and max_leaves is not None else {}
    return {"max_leaves": max_leaves, **trees_only}


def _describe(problem: TrainingData, by_case: CaseColumns, data: Path, say: Printer, doubts: Sequence[str]) -> None:
    """Print what was read: the table, what columns say of costs, and how to make a price list if there is none."""
    from worthwhile.cli.reading import describe_data

    describe_data(problem, say)
    for what, columns in (("Prices", by_case.prices), ("Costs of wrong answers", by_case.errors)):
        if columns:
            named = ", ".join(f"{name} from {column}" for name, column in columns.items())
            say(f"{what} by case: {named}; these columns are not used as tests.")
    if problem.costs is None:
        say("No --costs: tests are free, every error costs 1. To write a starter price list:")
        target = shlex.quote(problem.target)
        say(f"  worthwhile costs init {shlex.quote(str(data))} --target {target} -o costs.toml", wrap=False)
    for line in doubts:
        say.warn(line)


@dataclass(frozen=True, eq=False)
class _Split:
    """Training cases, and cases to measure costs on: the same unless some are held out."""

    X_train: Any
    y_train: Any
    X: Any
    y: Any
    rows: Any  # of X, in the file
    held_out: bool
    own_train: CaseTables  # what depends on the case
    own: CaseTables


def _split(problem: TrainingData, own: CaseTables, share: float, seed: int, required: bool = True) -> _Split:
    """Hold out a share of the cases; if there are too few, none, or raise an error if it is required."""
    import numpy as np

    from worthwhile.learners.folds import stratified_share

    X, y = problem.X, problem.y
    everything = _Split(X, y, X, y, np.arange(len(y)), False, own, own)
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
    parts = own.take(~held), own.take(held)
    return _Split(X[~held], y[~held], X[held], y[held], np.flatnonzero(held), True, *parts)


def _fit(clf: Any, split: _Split, quiet: bool, cluster: str | None) -> tuple[Any, float, bool]:
    """Train with a progress bar; return the learner to keep, the seconds it took, and whether Ctrl-C ended it."""
    start, stopped = time.monotonic(), False
    counted = "models" if hasattr(clf, "readable") else ""
    limits = getattr(clf, "trials", None), getattr(clf, "time_limit", None)
    with on_cluster(cluster), search_bar(quiet, *limits, counted) as tell:
        if "callback" in clf._parameter_names():
            clf.set_params(callback=tell)
        try:
            clf.fit(split.X_train, split.y_train, **split.own_train.arguments())
        except KeyboardInterrupt:
            stopped = True
    seconds = time.monotonic() - start
    return (_best_so_far(clf, split) if stopped else clf), seconds, stopped


def _best_so_far(clf: Any, split: _Split) -> Any:
    """Return the model that a stopped search has found, or a tree by DTMC if that is expected to cost less."""
    from sklearn.exceptions import NotFittedError

    from worthwhile.evaluation.metrics import average_cost
    from worthwhile.learners.greedy import DTMCClassifier

    def cost(model: Any) -> float:
        found = getattr(model, "expected_cost_", None)  # out of fold
        if found is not None:
            return float(found)
        return average_cost(model, split.X_train, split.y_train, **split.own_train.arguments())

    nothing = StoppedError("stopped before a model was found; nothing is saved")
    if not hasattr(clf, "time_limit"):  # it does not search, and may take as long as DTMC
        raise nothing
    try:
        found = cost(clf)
    except NotFittedError:
        found = math.inf
    if getattr(clf, "budget", None) is None:
        quick = DTMCClassifier(costs=clf.costs, nominal=clf.nominal, columns=clf.columns, prune="cost", cap=clf.cap)
        start = time.monotonic()
        try:
            if cost(quick.fit(split.X_train, split.y_train, **split.own_train.arguments())) < found:
                tried = hasattr(clf, "candidates_") and quick._expected_cost() is not None
                return clf._take(quick, _name_of(quick), time.monotonic() - start) if tried else quick
        except KeyboardInterrupt:  # a second time
            pass
    if math.isinf(found):
        raise nothing
    return clf


def _summarise(
    clf: Any, name: str, split: _Split, seconds: float, say: Printer, seed: int, explained: bool = False
) -> None:
    """Print what was learned and what it costs."""
    from worthwhile.cli.reading import tests_of
    from worthwhile.evaluation.evaluate import evaluate
    from worthwhile.wording import LEFT_OUT, amount, with_currency

    tests = tests_of(clf)
    asks = f"it may ask for {', '.join(tests) or 'nothing'} ({len(tests)} of {clf.n_features_in_} tests)"
    if getattr(clf, "empty_", False):
        asks = "no tree fits the budget, so it asks for nothing"
    if hasattr(clf, "candidates_"):
        n = len(clf.candidates_)
        tried = f"tried {n} learner{'s' * (n > 1)} in {seconds:.1f} s, and kept {name}"
        say(f"AutoClassifier {tried}." + ("" if explained else " --explain-choice shows the others."))
        say(f"It was trained on {len(split.y_train)} cases; {asks}.")
    else:
        say(f"{name} was trained on {len(split.y_train)} cases in {seconds:.1f} s; {asks}.")
    if clf.cap is not None:
        say(f"The tests of a case never cost more than {amount(clf.cap, fine=True)}.")
    if hasattr(clf, "expected_cost_"):
        mean, low, high = (amount(cost, fine=True) for cost in (clf.expected_cost_, *clf.expected_cost_interval_))
        mean = with_currency(mean, clf.problem_.costs.currency)
        say(f"A new case is expected to cost {mean} ({low} to {high}), {LEFT_OUT}.")
    if split.held_out:
        by_case = split.own.arguments() | split.own_train.arguments("train_")
        cases = split.X, split.y, split.X_train, split.y_train
        found = evaluate(clf, *cases, name="the model", random_state=seed, **by_case)
        say()
        say(found.title.replace("cases", "held-out cases"))
        say.table(*found.layout())
        for line in found.savings():
            say(line)
        return
    _say_costs(clf, split, say)
    say("It was trained on these same cases; use --test-share 0.3, or evaluate, to measure the cost of new cases.")


def _say_costs(clf: Any, split: _Split, say: Printer) -> None:
    """Print what a model costs on the held-out cases, or on its training cases, beside no test."""
    from worthwhile.costs.costs import Costs
    from worthwhile.evaluation.baselines import no_test
    from worthwhile.evaluation.case_costs import CaseCosts
    from worthwhile.evaluation.metrics import cost_report
    from worthwhile.wording import amount, with_currency

    own = cost_report(clf, split.X, split.y, **split.own.arguments())
    unit = clf.problem_.costs.currency
    answers = tuple(clf.problem_.answers)
    by_case = [CaseCosts(part.prices, part.errors, answers) for part in (split.own_train, split.own)]
    none = no_test(clf.costs or Costs(), split.y_train, split.y, *by_case)
    total = f"{with_currency(amount(own.total_cost, fine=True), unit)} per case, {own.error_rate:.1%} wrong"
    paid, lost = (amount(part, fine=True) for part in (own.test_cost, own.error_cost))
    where = "the held-out" if split.held_out else "these"
    say(
        f"On {where} cases it pays {paid} for tests and {lost} for errors: {total}."
        f" ({none.name}: {amount(float(none.totals.mean()), fine=True)})"
    )


def _say_more(clf: Any, explain_choice: bool, say: Printer) -> None:
    """Print what is worth knowing about the model, and how it was chosen."""
    for line in [*_about_leaves(clf), *_about_similar(clf)]:
        say(line)
    _say_choice(clf, explain_choice, say)


def _say_choice(clf: Any, explain_choice: bool, say: Printer) -> None:
    """Print what was tried, if that is wanted; Ctrl-C may come before anything was."""
    if explain_choice:
        tried = clf.explain_choice() if hasattr(clf, "candidates_") else "No learner was tried before it was stopped."
        for line in tried.splitlines():
            say(line, wrap=False)


def _about_leaves(clf: Any) -> list[str]:
    """Return what a limit on the leaves costs, or that the tree is too large to be read."""
    from worthwhile.wording import amount

    leaves = clf.tree_.n_leaves if hasattr(clf, "tree_") else 0
    if leaves == 1:
        return ["No test is worth its price here: the tree is a single leaf."]
    if (limit := getattr(clf, "leaf_limit_", None)) is not None:
        if limit.leaves == limit.full_leaves:
            return [f"The tree has {leaves} leaves; it did not have to be cut."]
        cost, full_cost = (amount(value, fine=True) for value in (limit.cost, limit.full_cost))
        whole = f"the whole tree, with {limit.full_leaves} leaves, costs {full_cost}"
        return [f"The tree has {leaves} leaves and costs {cost} per case by the estimate of pruning; {whole}."]
    if leaves > MANY_LEAVES:
        hint = f"--readable gives the cheapest part of it with at most {READABLE_LEAVES}, --max-leaves with any number"
        return [f"The tree has {leaves} leaves: too many to read; {hint}."]
    return []


def _about_similar(clf: Any) -> list[str]:
    """Return how many trees cost almost the same, if that was counted."""
    near = getattr(clf, "near_optimal_", None)
    return [] if near is None else [near.headline()]


def _case_names(problem: TrainingData, split: _Split, ids: tuple[str, list[str]] | None) -> Callable[[int], str]:
    """Return a function that names a case by its line in the file, and by its identifier if there is one."""

    def name(row: int) -> str:
        place = int(split.rows[row])
        line = problem.table.location(place).rpartition(", ")[2]
        return line if ids is None else f"{line}: {ids[0]} {ids[1][place]}"

    return name


def _identifiers(problem: TrainingData, source: TableFile, dropped: list[str]) -> tuple[str, list[str]] | None:
    """Return the first column, dropped or not, that identifies the cases: values that are all distinct."""
    import numpy as np

    from worthwhile.table.columns import Factor

    table = problem.table
    rows = np.arange(table.n_cases) if table.rows is None else table.rows
    left_out = source.read(only=dropped, nominal=dropped).columns if dropped else {}
    possible = {name: column[rows] for name, column in left_out.items()}
    possible |= {name: table.columns[name] for name in table.identifiers()}
    for name, column in possible.items():
        if isinstance(column, Factor) and len(set(column.codes[column.codes >= 0].tolist())) == table.n_cases:
            return name, [column.categories[code] for code in column.codes]
    return None


def _write_report(
    path: Path, clf: Any, split: _Split, title: str, case_names: Callable[[int], str], break_even: float, quiet: bool
) -> None:
    from worthwhile.report import write_report

    training = {"X_train": split.X_train, "y_train": split.y_train}
    training |= split.own.arguments() | split.own_train.arguments("train_")
    training["sensitivity"] = break_even or False
    with work_bar(quiet, "break-even prices") as tell:
        write_report(path, clf, split.X, split.y, **training, title=title, case_names=case_names, tell=tell)

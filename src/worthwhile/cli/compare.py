"""`worthwhile compare`: cross-validate several learners on the same folds."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Printer, check_folder, on_cluster, open_table, split_names, work_bar
from worthwhile.cli.learners import LEARNERS, find_learner, make_learner
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

__all__ = ["compare"]


def compare(
    data: Data,
    target: Target,
    costs: CostsFile = None,
    learners: Annotated[
        str, typer.Option(metavar="A,B,…", help=f"Learners: {', '.join(LEARNERS)}.")
    ] = "act,icet,eg2,dtmc,c45",
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Number of cross-validation repetitions.")] = 1,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for tables and chart; created if missing.")] = Path(
        "worthwhile-compare"
    ),
    cap: Cap = None,
    case_price: CasePrice = None,
    case_error: CaseError = None,
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
    """Cross-validate several learners on the same folds and compare what they cost per case.

    Beside them are baselines: no test, free tests only, all tests with a plain tree, and a tuned C4.5.
    Writes costs.csv, folds.csv and costs.png. The time limit applies to each search on each fold. With --costs,
    learners are pruned and answer by cost as in learn. --case-price and --case-error are as in learn, too.

    Example: worthwhile compare heart.csv --target class --costs heart.toml --learners act,icet,c45 --folds 10
    """
    names = list(dict.fromkeys(name.lower() for name in split_names(learners)))
    makers = {name: find_learner(name) for name in names}
    if len(makers) < 2:
        raise ValueError(f"--learners {learners}: a comparison needs at least two learners")
    check_folder(out, "costs.csv", "folds.csv", "costs.png")
    from worthwhile.cli.case_costs import CaseColumns
    from worthwhile.cli.limits import about_errors, about_prices
    from worthwhile.cli.reading import describe_data, read_training_data
    from worthwhile.evaluation.compare import cross_compare
    from worthwhile.files import make_folder

    say, declared, by_case = Printer(quiet), split_names(nominal), CaseColumns.parse(case_price, case_error)
    with open_table(data, quiet, missing, encoding=encoding, decimal=decimal, dates=dates, sheet=sheet) as source:
        by_case.check(source, target)
        left_out = [*split_names(drop), *by_case.columns]
        problem = read_training_data(
            source, target, costs, declared, left_out, drop_missing_target, ignore_extra_prices
        )
        classes = sorted(set(problem.y.tolist()))
        own = by_case.read(source, problem.table, problem.names, problem.costs, problem.y, classes)
    describe_data(problem, say)
    for line in (*about_prices(problem, own, cap), *about_errors(problem, own)):
        say.warn(line)
    known = {"costs": problem.costs, "nominal": problem.nominal, "columns": problem.names, "random_state": seed}
    limited = {name: time_limit if "time_limit" in maker._parameter_names() else None for name, maker in makers.items()}
    priced = bool(costs or case_price or case_error)
    limits = {name: {"time_limit": limited[name], "cap": cap} for name in makers}
    made = {name: make_learner(name, {}, limits[name], with_costs=priced, **known) for name in makers}
    with on_cluster(cluster), work_bar(quiet, "learning") as tell:
        options: dict[str, Any] = {"folds": folds, "repeats": repeats, "random_state": seed, "tell": tell}
        options |= {"baselines": True, **own.arguments()}
        found = cross_compare(made, problem.X, problem.y, n_jobs=jobs if cluster is None else None, **options)
    make_folder(out)
    _write(out, found)
    say()
    say(found.title)
    say.table(*found.layout())
    if problem.costs is not None and problem.costs.currency:
        say(f"Amounts in {problem.costs.currency}.")
    say(found.note)
    say(f"Written: {', '.join(str(out / name) for name in ('costs.csv', 'folds.csv', 'costs.png'))}", wrap=False)


def _write(out: Path, found: Any) -> None:
    """Write the numbers and the chart."""
    from matplotlib.figure import Figure

    from worthwhile.cli.files import write_csv
    from worthwhile.evaluation.comparison_plot import comparison_size
    from worthwhile.files import write_file

    write_csv(out / "costs.csv", found.rows())
    write_csv(
        out / "folds.csv",
        [
            {"fold": fold, **{standing.name: standing.folds[fold] for standing in found.standings}}
            for fold in range(len(found.standings[0].folds))
        ],
    )
    figure = Figure(figsize=comparison_size(len(found.standings)), layout="constrained")  # pyplot may need a display
    found.plot(figure.subplots())
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    write_file(out / "costs.png", buffer.getvalue())

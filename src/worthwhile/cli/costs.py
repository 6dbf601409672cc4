"""`worthwhile costs`: write a starter price list, or check one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Printer, check_writable, split_names
from worthwhile.cli.options import Data, Drop, Missing, Quiet, Target

__all__ = ["costs_app"]

costs_app = typer.Typer(help="Write a starter price list, or check one.", no_args_is_help=True)

MOST_CLASSES = 6  # with more classes, a table of errors is too long for a starter
ERROR_PER_TEST = 10.0
STARTER = """\
# Prices of tests and costs of errors. Every amount here is a placeholder: replace it, in one currency.

{errors_above}[about]
title = {title}
# currency = "EUR"

# One line per test, by the name of its column. Columns without a line are free.
#
# A group of tests that share a common price, charged once (such as taking blood). The group has its price below:
#   {first} = {{ price = 5.0, group = "blood" }}
# A delayed test: its result comes later, so all tests that may follow are ordered together with it:
#   {first} = {{ price = 5.0, delayed = true }}
# A computed test: it includes the price of the tests that it requires:
#   {first} = {{ price = 0.0, requires = [{second}] }}
[tests]
{tests}

# Common prices of groups, charged once per case:
# [groups]
# blood = 2.5

{errors_below}"""
ABOVE = """\
# The cost of every wrong answer. (For different costs, use one table per true class.)
errors = {error}

"""
BELOW = """\
# The cost of each answer, one table per true class. The right answer costs 0 unless it is listed. An answer that is
# not a class, such as "unknown", may be listed in every table: the cost of giving no answer.
"""


@costs_app.command()
def init(
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write (.toml).")] = Path("costs.toml"),
    drop: Drop = None,
    missing: Missing = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a starter price list for a table: every test costs 1, with comments on groups, delays and errors.

    Example: worthwhile costs init heart.csv --target class -o costs.toml
    """
    from worthwhile.files import write_text
    from worthwhile.table.files import check_target, column_names, read_table

    if out.suffix.lower() != ".toml":
        raise ValueError(f"{out}: a starter price list is a TOML file; the name must end in .toml")
    check_writable(out)
    if out.exists() and not force:
        raise ValueError(f"{out}: already exists; use --force to replace it")
    names, dropped = column_names(data), split_names(drop)
    check_target(data, names, target)
    classes = read_table(data, only=[target], nominal=[target], missing=split_names(missing)).classes(target)
    gone = {target, *dropped}
    tests = [name for name in names if name not in gone]
    if not tests:
        raise ValueError(f"{data}: has no column besides the target {target!r}")
    write_text(out, _starter(data.stem, tests, classes))
    Printer(quiet)(f"{len(tests)} tests at 1 each: {out}. Replace the prices and error costs by yours.", wrap=False)


def _starter(title: str, tests: Sequence[str], classes: Any) -> str:
    """Return the text of a starter price list."""
    import numpy as np

    from worthwhile.costs.files import _toml_key as key
    from worthwhile.costs.files import _toml_string as quoted
    from worthwhile.table.columns import value_text

    labels = [value_text(label) for label in np.unique(classes).tolist()]
    error = ERROR_PER_TEST * len(tests)
    many = len(labels) > MOST_CLASSES
    tables = [
        f"[errors.{key(truth)}]\n" + "".join(f"{key(answer)} = {error}\n" for answer in labels if answer != truth)
        for truth in ([] if many else labels)
    ]
    return (
        STARTER.format(
            errors_above=ABOVE.format(error=error) if many else "",
            errors_below="" if many else BELOW + "\n".join(tables),
            title=quoted(title),
            first=key(tests[0]),
            second=", ".join(quoted(name) for name in tests[1:3]) or '"another test"',
            tests="\n".join(f"{key(name)} = 1.0" for name in tests),
        ).rstrip()
        + "\n"
    )


@costs_app.command()
def check(
    costs: Annotated[Path, typer.Argument(help="A price list: TOML or CSV.", show_default=False)],
    data: Annotated[
        Path | None, typer.Argument(help="A table of cases to check it against.", show_default=False)
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The target column of DATA.", show_default=False)
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Check a price list, alone or against the columns and classes of a table, and print a summary.

    Example: worthwhile costs check costs.toml heart.csv --target class
    """
    from worthwhile.costs.costs import Costs

    found = Costs.read(costs)
    say = Printer(quiet)
    if data is not None:
        free = _check_against(found, costs, data, target)
        say(f"{costs} matches {data}" + (f"; free: {', '.join(free)}" if free else "; every test has a price") + ".")
    elif target is not None:
        raise ValueError("--target needs a table: worthwhile costs check COSTS DATA --target COLUMN")
    say(repr(found))


def _check_against(found: Any, path: Path, data: Path, target: str | None) -> list[str]:
    """Raise an error if costs do not fit a table; return the names of the columns without a price."""
    import numpy as np

    from worthwhile.cli.reading import check_costs
    from worthwhile.table.files import check_target, column_names, read_table

    names, classes = column_names(data), []
    if target is not None:
        check_target(data, names, target)
        classes = np.unique(read_table(data, only=[target], nominal=[target]).classes(target)).tolist()
    tests = [name for name in names if name != target]
    check_costs(found, path, tests, target, classes)
    return [name for name in tests if name not in found.tests]

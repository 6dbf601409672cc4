"""`worthwhile costs`: write a starter price list, or check one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from worthwhile.cli.common import Printer, check_writable, open_table, split_names
from worthwhile.cli.options import (
    Data,
    Dates,
    Decimal,
    Drop,
    DropMissingTarget,
    Encoding,
    IgnoreExtraPrices,
    Missing,
    Nominal,
    Quiet,
    Sheet,
    Target,
)

if TYPE_CHECKING:
    from worthwhile.costs.costs import Costs
    from worthwhile.table.files import TableFile

__all__ = ["costs_app"]

costs_app = typer.Typer(help="Write a starter price list, or check one.", no_args_is_help=True)

MOST_CLASSES = 6  # with more classes, a table of errors is too long for a starter
ERROR_PER_TEST = 10.0
STARTER = """\
# Prices of tests and costs of errors. Every amount here is a placeholder: replace it, in one currency.

# What it costs to wait for results: a price per unit of time, or points [time, price] of a curve:
# waiting = 2.5
# waiting = [[0, 0], [24, 10], [72, 200]]

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
# A test in several groups: a panel of tests has one price, on top of taking blood:
#   {first} = {{ price = 0.0, group = ["blood", "panel"] }}
# A test whose result takes some time; what waiting costs is `waiting`, above:
#   {first} = {{ price = 5.0, wait = 24.0 }}
# A test that costs more in some cases, or less: if the case has a class, if its own result or that of another test
# (a value, a list of values, or a comparison of numbers) is such, or if other tests were done before (after: all of
# them, after_any: at least one):
#   {first} = {{ price = 5.0, surcharges = [{{ amount = 500.0, truth = {truth} }}] }}
#   {first} = {{ price = 5.0, surcharges = [{{ amount = 30.0, result = ">= 100" }}] }}
#   {first} = {{ price = 5.0, surcharges = [{{ amount = 20.0, where = {{ {other} = ["yes", "maybe"] }} }}] }}
#   {first} = {{ price = 5.0, surcharges = [{{ amount = -1.0, after = [{quoted_other}] }}] }}
[tests]
{tests}

# Common prices of groups, charged once per case:
# [groups]
# blood = 2.5
# panel = 10.0

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
    nominal: Nominal = None,
    drop: Drop = None,
    missing: Missing = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    dates: Dates = None,
    sheet: Sheet = None,
    drop_missing_target: DropMissingTarget = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a starter price list for a table: every test costs 1, with comments on all that a price list may say.

    Example: worthwhile costs init heart.csv --target class -o costs.toml
    """
    from worthwhile.cli.reading import unused_columns
    from worthwhile.files import write_text
    from worthwhile.table.files import check_target

    if out.suffix.lower() != ".toml":
        raise ValueError(f"{out}: a starter price list is a TOML file; the name must end in .toml")
    check_writable(out)
    if out.exists() and not force:
        raise ValueError(f"{out}: already exists; use --force to replace it")
    with open_table(data, quiet, missing, encoding=encoding, decimal=decimal, dates=dates, sheet=sheet) as source:
        check_target(data, source.names, target)
        table = source.read(drop=split_names(drop), nominal=[*split_names(nominal), target])
    if drop_missing_target:
        table = table.with_classes(target)
    classes = table.classes(target, most=sys.maxsize)  # a price list needs no matrix
    used = {target, *split_names(nominal)}
    unused = [name for name in table.identifiers() if name not in used]
    left_out = {target, *unused}
    tests = [name for name in table.columns if name not in left_out]
    if not tests:
        raise ValueError(f"{data}: has no column besides the target {target!r} that can be a test")
    write_text(out, _starter(data.stem, tests, classes))
    say = Printer(quiet)
    for line in source.notes():
        say(line)
    if unused:
        say.warn(f"{unused_columns(unused)} left out; use --nominal if a column is a test, otherwise --drop")
    say(f"{len(tests)} tests at 1 each: {out}. Replace the prices and error costs by yours.", wrap=False)


def _starter(title: str, tests: Sequence[str], classes: Any) -> str:
    """Return the text of a starter price list."""
    import numpy as np

    from worthwhile.costs.files import _toml_key as key
    from worthwhile.costs.files import _toml_string as quoted
    from worthwhile.table.columns import value_text

    labels = [value_text(label) for label in np.unique(classes).tolist()]
    error = ERROR_PER_TEST * len(tests)
    other = next(iter(tests[1:]), "another test")
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
            other=key(other),
            quoted_other=quoted(other),
            truth=quoted(labels[0]),
            tests="\n".join(f"{key(name)} = 1.0" for name in tests),
        ).rstrip()
        + "\n"
    )


@costs_app.command()
def check(
    costs: Annotated[Path, typer.Argument(help="A price list: TOML, CSV or Excel.", show_default=False)],
    data: Annotated[
        Path | None, typer.Argument(help="A table of cases to check it against.", show_default=False)
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The target column of DATA.", show_default=False)
    ] = None,
    missing: Missing = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    dates: Dates = None,
    sheet: Sheet = None,
    drop_missing_target: DropMissingTarget = False,
    ignore_extra_prices: IgnoreExtraPrices = False,
    quiet: Quiet = False,
) -> None:
    """Check a price list, alone or against the columns and classes of a table, and print a summary.

    Warns of contradictions, such as a surcharge that can never apply or a wait without a price of waiting.

    Example: worthwhile costs check costs.toml heart.csv --target class
    """
    from worthwhile.cli.contradictions import contradictions
    from worthwhile.cli.reading import without_extra
    from worthwhile.costs.costs import Costs

    found = Costs.read(costs)
    say = Printer(quiet)
    if data is None and target is not None:
        raise ValueError("--target needs a table: worthwhile costs check COSTS DATA --target COLUMN")
    warnings = contradictions(found)
    if data is not None:
        with open_table(data, quiet, missing, encoding=encoding, decimal=decimal, dates=dates, sheet=sheet) as source:
            if ignore_extra_prices:
                found, _ = without_extra(found, costs, source.names)
            result, more = _check_against(found, costs, source, target, drop_missing_target)
        warnings += more
        for line in (*source.notes(), result):
            say(line)
    for warning in warnings:
        say.warn(f"{costs}: {warning}")
    say(repr(found))


def _check_against(
    found: Costs, path: Path, source: TableFile, target: str | None, drop_missing_target: bool
) -> tuple[str, list[str]]:
    """Raise an error if costs do not fit a table; return which columns are free, in a sentence, and contradictions."""
    import numpy as np

    from worthwhile.cli.contradictions import contradictions_with_data
    from worthwhile.cli.reading import check_costs
    from worthwhile.table.files import check_target

    detected = target is None
    if target is None:
        target = _find_target(found, source)
    else:
        check_target(source.path, source.names, target)
    asked = {name for test in found.tests.values() for own in test.surcharges for name in own.where}
    asked |= {name for name, test in found.tests.items() if any(own.result is not None for own in test.surcharges)}
    table = source.read(only=[*asked, *([target] if target else [])], nominal=[target] if target else [])
    if target is not None and drop_missing_target:
        table = table.with_classes(target)
    labels = None if target is None else table.classes(target, most=sys.maxsize)
    classes = [] if labels is None else np.unique(labels).tolist()
    tests = [name for name in source.names if name != target]
    check_costs(found, path, tests, target, classes)
    warnings = contradictions_with_data(found, table.columns, labels, table.n_cases)
    free = [name for name in tests if name not in found.tests]
    fits = f"{path} matches {source.path}"
    if target is None:
        without = f"without a price: {', '.join(free)}" if free else "every column has a price"
        return f"{fits}; {without}. Which column is the target is unknown; name it with --target.", warnings
    known = f"; the target is {target}, which has the classes of the error costs" * detected
    priced = f"; free: {', '.join(free)}" if free else "; every test has a price"
    return f"{fits}{known}{priced}.", warnings


def _find_target(found: Costs, source: TableFile) -> str | None:
    """Return the only column without a price that has the classes of the error costs, and no other values."""
    if not isinstance(found.errors, Mapping):
        return None
    from worthwhile.table.columns import value_text

    classes = {value_text(label) for label in found.errors}
    free = [name for name in source.names if name not in found.tests]
    if not free:
        return None
    table = source.read(only=free, nominal=free)
    fitting = [name for name in free if len(own := table.class_names(name)) > 1 and own <= classes]
    return fitting[0] if len(fitting) == 1 else None

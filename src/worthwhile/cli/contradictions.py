"""What `worthwhile costs check` finds in a price list that can be read but cannot be meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import label_key, listing, show
from worthwhile.costs.price_list import find_closures
from worthwhile.costs.surcharges import Condition, Surcharge, largest_discount
from worthwhile.table.columns import Column, Factor
from worthwhile.tree.case_amounts import condition_holds

__all__ = ["contradictions", "contradictions_with_data"]


def contradictions(costs: Costs) -> list[str]:
    """Return what contradicts itself in a price list, a line each with the name of the test and what to do.

    Examples
    --------
    >>> import worthwhile as ww
    >>> contradictions(ww.Costs(tests={"chol": ww.Test(5.0, wait=24.0)}))
    ["test 'chol' has a wait, but waiting costs nothing; set waiting, or remove wait"]
    """
    found = [*_about_groups(costs), *_about_waits(costs)]
    closures = find_closures(costs.tests)
    for name, test in costs.tests.items():
        for place, surcharge in enumerate(test.surcharges):
            found += _about_after(closures, name, surcharge)
            words = f"a surcharge of test {show(name)} ({surcharge.words(name)})"
            if not surcharge.amount:
                found.append(f"{words} adds nothing; give it an amount, or remove it")
            if surcharge in test.surcharges[:place]:
                found.append(f"{words} is there twice; remove one of them, unless both are charged")
        if test.price > 0 and test.price + largest_discount(test.surcharges) <= 1e-9 * test.price:
            found.append(
                f"test {show(name)} costs {test.price:g}, and its discounts can make it free; "
                "lower the discounts, or raise the price"
            )
    return found


def _about_groups(costs: Costs) -> Iterator[str]:
    for group in costs.groups:
        members = [name for name, test in costs.tests.items() if group in test.groups]
        if len(members) == 1:
            yield (
                f"group {show(group)} has one test, {show(members[0])}: "
                "add the common price to the price of the test, or give other tests the group"
            )


def _about_waits(costs: Costs) -> Iterator[str]:
    waits = [name for name, test in costs.tests.items() if test.wait]
    if waits and not costs.waiting:
        more = len(waits) > 1
        who = f"tests {listing(waits)} have" if more else f"test {show(waits[0])} has"
        yield f"{who} a wait, but waiting costs nothing; set waiting, or remove wait"
    if costs.waiting and not waits:
        yield "waiting has a price, but no test has a wait; give tests a wait, or remove waiting"
    for name in waits:
        if costs.tests[name].delayed:
            yield (
                f"test {show(name)} has a wait and is delayed: everything that may follow is always ordered with it; "
                "remove delayed to leave that open, or remove wait"
            )


def _about_after(closures: Mapping[str, tuple[str, ...]], name: str, surcharge: Surcharge) -> Iterator[str]:
    what = f"a surcharge of test {show(name)}"
    for other in surcharge.after:
        if name in closures.get(other, ()):
            yield (
                f"{what} can never apply: it is charged after {show(other)}, which requires {show(name)}; "
                f"remove {show(other)} from after"
            )
    if surcharge.after_any and all(name in closures.get(other, ()) for other in surcharge.after_any):
        yield (
            f"{what} can never apply: it is charged after one of {listing(surcharge.after_any)}, and "
            f"{'each requires' if len(surcharge.after_any) > 1 else 'it requires'} {show(name)}; "
            "name other tests in after_any"
        )
    required = set(closures[name])
    always = required.issuperset(surcharge.after) and (
        not surcharge.after_any or not required.isdisjoint(surcharge.after_any)
    )
    if always and not surcharge.has_conditions:
        named = [other for other in surcharge.mentioned_before if other in required]
        yield f"{what} always applies: {show(name)} requires {listing(named)}; add it to the price"


def contradictions_with_data(
    costs: Costs, columns: Mapping[str, Column], classes: npt.NDArray[Any] | None, n_cases: int
) -> list[str]:
    """Return which surcharges can never apply to the cases of a table.

    Parameters
    ----------
    costs : Costs
    columns : mapping of name to column
        At least those that surcharges ask about.
    classes : array, optional
        The class of each case; None if it is not known.
    n_cases : int
    """
    found = []
    for name, test in costs.tests.items():
        for surcharge in test.surcharges:
            line = _never_applies(name, surcharge, columns, classes, n_cases)
            found += [f"a surcharge of test {show(name)} can never apply: {line}"] if line else []
    return found


def _never_applies(
    name: str, surcharge: Surcharge, columns: Mapping[str, Column], classes: npt.NDArray[Any] | None, n_cases: int
) -> str:
    """Return why no case is charged a surcharge, and what to do; an empty string if one is."""
    conditions = {**surcharge.where, **({} if surcharge.result is None else {name: surcharge.result})}
    applies = np.ones(n_cases, dtype=np.bool_)
    for other, given in conditions.items():
        condition = Condition.parse(given, "condition")
        holds, present = _holds(columns[other], condition)
        if not present:
            return f"column {show(other)} is always missing; remove the condition, or fill in the column"
        if condition.is_comparison and isinstance(columns[other], Factor):
            return f"column {show(other)} is nominal and cannot be {condition.text()}; name its values instead"
        if not holds.any():
            occurs = _occurring(columns[other])
            return f"no case has {_condition_words(other, condition)}; {occurs}: correct or remove the condition"
        applies &= holds
    if surcharge.truth is not None and classes is not None:
        texts = np.array([label_key(label) for label in classes.tolist()])
        if label_key(surcharge.truth) not in texts:
            return f"no case has the class {show(surcharge.truth)}; the classes are {listing(sorted(set(texts)))}"
        applies &= texts == label_key(surcharge.truth)
    if not applies.any():
        words = [_condition_words(other, Condition.parse(given, "")) for other, given in conditions.items()]
        words += [] if surcharge.truth is None else [f"class {label_key(surcharge.truth)}"]
        return f"no case meets its conditions together ({' and '.join(words)}); remove one of them"
    return ""


def _condition_words(name: str, condition: Condition) -> str:
    return f"{name} {condition.text()}" if condition.is_comparison else f"{name} = {condition.text()}"


def _holds(column: Column, condition: Condition) -> tuple[npt.NDArray[np.bool_], bool]:
    """Return where a column meets a condition, and whether it has any value at all."""
    if isinstance(column, Factor):
        return condition_holds(tuple(column.categories), condition, column.codes), bool((column.codes >= 0).any())
    return condition_holds(None, condition, column), not bool(np.isnan(column).all())


def _occurring(column: Column) -> str:
    if isinstance(column, Factor):
        codes = sorted(set(column.codes[column.codes >= 0].tolist()))
        return f"its values are {listing([column.categories[code] for code in codes], 5)}"
    return f"its values are from {np.nanmin(column):g} to {np.nanmax(column):g}"

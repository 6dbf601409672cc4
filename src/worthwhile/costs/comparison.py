"""What differs between two price lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from worthwhile.costs.costs import Costs
from worthwhile.costs.price_list import Test
from worthwhile.wording import amount

__all__ = ["CostChange", "compare_costs"]

NOTHING = "–"


class CostChange(NamedTuple):
    """Something that two price lists say differently: its name, and what each list says."""

    what: str
    before: str
    after: str


def compare_costs(old: Costs, new: Costs, classes: Sequence[Any]) -> list[CostChange]:
    """Return what differs between two price lists: tests, groups, waiting, currency and errors of some classes.

    Examples
    --------
    >>> blood = Costs(tests={"crp": Test(8, group="blood"), "age": 1}, groups={"blood": 5}, errors=50)
    >>> other = Costs(tests={"crp": Test(9, group="blood", delayed=True), "age": 1}, groups={"blood": 5}, errors=80)
    >>> for change in compare_costs(blood, other, ["well", "sick"]):
    ...     print(*change, sep=" | ")
    crp | 8.00, group blood | 9.00, group blood, delayed
    well, answered sick | 50.00 | 80.00
    sick, answered well | 50.00 | 80.00
    """
    found = [
        CostChange(name, _test(old.tests.get(name)), _test(new.tests.get(name)))
        for name in dict.fromkeys([*old.tests, *new.tests])
        if old.tests.get(name, Test(0.0)) != new.tests.get(name, Test(0.0))
    ]
    for group in dict.fromkeys([*old.groups, *new.groups]):
        prices = [None if (price := own.groups.get(group)) is None else amount(price) for own in (old, new)]
        if old.groups.get(group) != new.groups.get(group):
            found.append(CostChange(f"group {group}", prices[0] or NOTHING, prices[1] or NOTHING))
    if old.waiting != new.waiting:
        found.append(CostChange("waiting", _waiting(old), _waiting(new)))
    if old.currency != new.currency:
        found.append(CostChange("currency", old.currency or NOTHING, new.currency or NOTHING))
    return found + _errors(old, new, classes)


def _errors(old: Costs, new: Costs, classes: Sequence[Any]) -> list[CostChange]:
    tables = []
    for costs in (old, new):
        answers, matrix = costs.error_matrix(classes)
        tables.append(
            {
                (str(truth), str(answer)): float(matrix[i, j])
                for i, truth in enumerate(classes)
                for j, answer in enumerate(answers)
            }
        )
    before, after = tables
    return [
        CostChange(
            f"{truth}, answered {answer}",
            *(amount(own[truth, answer]) if (truth, answer) in own else NOTHING for own in tables),
        )
        for truth, answer in dict.fromkeys([*before, *after])
        if before.get((truth, answer)) != after.get((truth, answer))
    ]


def _test(test: Test | None) -> str:
    """Return a test in a few words, e.g. "8.00, group blood, delayed"."""
    if test is None:
        return "free"
    parts = [amount(test.price)]
    parts += [f"group {' and '.join(test.groups)}"] if test.groups else []
    parts += ["delayed"] if test.delayed else []
    parts += [f"requires {', '.join(test.requires)}"] if test.requires else []
    parts += [f"wait {test.wait:g}"] if test.wait else []
    parts += [f"{amount(own.amount)} {own.when('it')}" for own in test.surcharges]
    return ", ".join(parts)


def _waiting(costs: Costs) -> str:
    if not costs.waiting:
        return NOTHING
    if isinstance(costs.waiting, float):
        return amount(costs.waiting)
    return ", ".join(f"{amount(price)} for {time:g}" for time, price in costs.waiting)

"""The price list: `Test`, and checks of tests and groups that name what is wrong."""

from __future__ import annotations

import graphlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from worthwhile.costs.error_costs import CostsError, number, show, suggest


@dataclass(frozen=True)
class Test:
    """One test: an examination or question that has a price and reveals one column of a case.

    Parameters
    ----------
    price : float
        What the test costs on its own; in a group, what it costs on top of the group's common price. At least 0.
    group : str, optional
        The group of the test. The common price of a group is charged once per case, with its first test.
    delayed : bool
        Whether the result comes later, so that ordering the test commits to every test in the subtree below it.
    requires : sequence of str
        The tests from which this one is computed. Its price includes theirs, unless they are already paid for.

    Examples
    --------
    >>> Test(5.17, group="blood", delayed=True)
    Test(price=5.17, group='blood', delayed=True, requires=())
    """

    __test__: ClassVar[bool] = False  # pytest would take a class of this name for a collection of tests

    price: float
    group: str | None = None
    delayed: bool = False
    requires: Sequence[str] = ()

    def __post_init__(self) -> None:
        # The rest is checked by Costs, which knows the test's name and can say it.
        if isinstance(self.requires, list):
            object.__setattr__(self, "requires", tuple(self.requires))


def name_items(mapping: Any, argument: str, kind: str) -> list[tuple[str, Any]]:
    """Return the items of an optional mapping whose keys must be names."""
    if mapping is None:
        return []
    if not isinstance(mapping, Mapping):
        raise CostsError(f"{argument} must be a mapping from names, not {show(mapping)}", (kind,))
    for name in mapping:
        if not isinstance(name, str) or not name:
            raise CostsError(f"{show(name)} is not a name for a {kind}; use a non-empty string", (kind,))
    return [(str(name), value) for name, value in mapping.items()]


def _price(value: Any, what: str, entry: tuple[str, ...]) -> float:
    price = number(value, what, entry)
    if price < 0:
        raise CostsError(f"{what} must be at least 0, not {show(value)}", entry)
    return price


def check_groups(groups: Any) -> dict[str, float]:
    return {
        name: _price(common, f"common price of group {show(name)}", ("group", name))
        for name, common in name_items(groups, "groups", "group")
    }


def check_about(about: Any) -> dict[str, str]:
    for name, text in (items := name_items(about, "about", "about")):
        if not isinstance(text, str):
            raise CostsError(f"about {show(name)} must be a string, not {show(text)}", ("about", name))
    return dict(items)


def check_test(name: str, given: Any, groups: Mapping[str, float]) -> Test:
    """Return the test in its canonical form, with every field checked."""
    where = ("test", name)
    if isinstance(given, Mapping):
        valid = [field.name for field in fields(Test)]
        for key in given:
            if key not in valid:
                raise CostsError(f"test {show(name)} has an unknown key {show(key)}; {suggest(str(key), valid)}", where)
        if "price" not in given:
            raise CostsError(f"test {show(name)} has no price; use price = 0.0 if it is free", where)
        given = Test(**given)
    test = given if isinstance(given, Test) else Test(given)
    price = _price(test.price, f"price of test {show(name)}", where)
    if test.group is not None and not isinstance(test.group, str):
        raise CostsError(f"group of test {show(name)} must be a group name, not {show(test.group)}", where)
    if test.group is not None and test.group not in groups:
        raise CostsError(
            f"test {show(name)} is in unknown group {show(test.group)}; {suggest(test.group, groups)}", where
        )
    if not isinstance(test.delayed, (bool, np.bool_)):
        raise CostsError(f"delayed of test {show(name)} must be True or False, not {show(test.delayed)}", where)
    return Test(price, test.group, bool(test.delayed), _check_requires(name, test.requires))


def _check_requires(name: str, requires: Any) -> tuple[str, ...]:
    """Check the names a test requires; `Costs.prices_for` checks that they are columns, which may be free."""
    where = ("test", name)
    if not isinstance(requires, (list, tuple)):
        raise CostsError(f"requires of test {show(name)} must be a list of names, not {show(requires)}", where)
    seen: set[str] = set()
    for other in requires:
        if not isinstance(other, str) or not other:
            raise CostsError(f"test {show(name)} requires {show(other)}, which is not a test name", where)
        if other == name:
            raise CostsError(f"test {show(name)} requires itself; name only other tests", where)
        if other in seen:
            raise CostsError(f"test {show(name)} requires {show(other)} twice", where)
        seen.add(other)
    return tuple(requires)


def find_closures(tests: Mapping[str, Test]) -> dict[str, tuple[str, ...]]:
    """Return for every test itself and all tests it requires, directly or not; raise an error for cycles."""
    try:
        graphlib.TopologicalSorter({name: test.requires for name, test in tests.items()}).prepare()
    except graphlib.CycleError as error:
        cycle = [str(name) for name in reversed(error.args[1])]  # graphlib lists required tests first
        path = " -> ".join(show(name) for name in cycle)
        raise CostsError(
            f"tests require each other in a cycle: {path}; remove one of these", ("test", cycle[0])
        ) from None
    names = dict.fromkeys([*tests, *(other for test in tests.values() for other in test.requires)])
    return {name: _closure(name, tests) for name in names}


def _closure(name: str, tests: Mapping[str, Test]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found[current] = None
            waiting += reversed(tests[current].requires if current in tests else ())
    return tuple(found)

"""The price list: `Test`, and checks of tests and groups that name what is wrong."""

from __future__ import annotations

import graphlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from worthwhile.costs.error_costs import CostsError, listing, number, show, suggest
from worthwhile.costs.surcharges import Surcharge, check_surcharges


@dataclass(frozen=True)
class Test:
    """One test: an examination or question that has a price and reveals one column of a case.

    Parameters
    ----------
    price : float
        What the test costs on its own; in a group, what it costs on top of the group's common price. At least 0.
    group : str or sequence of str, optional
        The group of the test, or several groups. The common price of each group is charged once per case, with its
        first test.
    delayed : bool
        Whether the result comes later, so that ordering the test commits to every test in the subtree below it.
    requires : sequence of str
        The tests from which this one is computed. Its price includes theirs, unless they are already paid for.
    wait : float
        How long the result takes, in a unit of your choice; `Costs.waiting` is what waiting costs. A case either waits
        for this result alone, or everything that may follow is ordered with it, whichever is expected to cost less.
    surcharges : sequence of Surcharge
        Amounts on top of the price that depend on the case.

    Examples
    --------
    >>> Test(5.17, group="blood", delayed=True)
    Test(price=5.17, group='blood', delayed=True, requires=())
    >>> Test(8.63, group=("blood", "cbc"), wait=24.0).groups
    ('blood', 'cbc')
    """

    __test__: ClassVar[bool] = False  # pytest would take a class of this name for a collection of tests

    price: float
    group: str | Sequence[str] | None = None
    delayed: bool = False
    requires: Sequence[str] = ()
    wait: float = 0.0
    surcharges: Sequence[Surcharge] = ()

    def __post_init__(self) -> None:
        # The rest is checked by Costs, which knows the test's name and can say it.
        for name in ("group", "requires", "surcharges"):
            if isinstance(value := getattr(self, name), list):
                object.__setattr__(self, name, tuple(value))

    def __repr__(self) -> str:
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self)[:4]]
        shown += [f"{f.name}={value!r}" for f in fields(self)[4:] if (value := getattr(self, f.name))]
        return f"Test({', '.join(shown)})"

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of the test: none, one or several."""
        if self.group is None:
            return ()
        return (self.group,) if isinstance(self.group, str) else tuple(self.group)

    @property
    def prerequisites(self) -> tuple[str, ...]:
        """The tests that must be done with this one: those it is computed from, and those its surcharges ask about."""
        return tuple(dict.fromkeys([*self.requires, *(name for s in self.surcharges for name in s.where)]))


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
    group = _check_group(name, test.group, groups)
    if not isinstance(test.delayed, (bool, np.bool_)):
        raise CostsError(f"delayed of test {show(name)} must be True or False, not {show(test.delayed)}", where)
    wait = _price(test.wait, f"wait of test {show(name)}", where)
    surcharges = check_surcharges(name, price, test.surcharges)
    return Test(price, group, bool(test.delayed), _check_requires(name, test.requires), wait, surcharges)


def _check_group(name: str, group: Any, groups: Mapping[str, float]) -> str | tuple[str, ...] | None:
    """Return the group of a test, or its groups if there are several."""
    where = ("test", name)
    names = group if isinstance(group, (tuple, list)) else () if group is None else (group,)
    for own in names:
        if not isinstance(own, str):
            raise CostsError(f"group of test {show(name)} must be a name or a list of names, not {show(own)}", where)
        if own not in groups:
            known = f"; {suggest(own, groups)}" if groups else ""
            remedy = f"give {show(own)} a common price in groups"
            raise CostsError(
                f"test {show(name)} is in unknown group {show(own)}{known}{', or ' if known else '; '}{remedy}", where
            )
    if len(set(names)) < len(names):
        raise CostsError(f"test {show(name)} is in a group twice: {listing(names)}", where)
    return None if not names else names[0] if len(names) == 1 else tuple(names)


def check_waiting(waiting: Any) -> tuple[tuple[float, float], ...]:
    """Return what waiting costs as points (time, price) of a curve that goes on with its last slope; empty: nothing.

    Examples
    --------
    >>> check_waiting(2.5), check_waiting([(0, 0), (24, 10), (72, 200)])
    (((0.0, 0.0), (1.0, 2.5)), ((0.0, 0.0), (24.0, 10.0), (72.0, 200.0)))
    """
    entry = ("waiting",)
    if waiting is None:
        return ()
    if not isinstance(waiting, (list, tuple)):
        rate = _price(waiting, "waiting, the price of a unit of time,", entry)
        return ((0.0, 0.0), (1.0, rate)) if rate else ()
    if any(not isinstance(point, (list, tuple)) or len(point) != 2 for point in waiting):
        raise CostsError("waiting must be a number or a list of points (time, price)", entry)
    points = tuple((_price(t, "a time of waiting", entry), _price(p, "a price of waiting", entry)) for t, p in waiting)
    if len(points) < 2 or points[0] != (0.0, 0.0):
        raise CostsError("waiting needs at least two points (time, price), and the first is (0, 0)", entry)
    for (early, low), (late, high) in itertools.pairwise(points):
        if late <= early or high < low:
            raise CostsError(
                f"waiting: after the point ({early:g}, {low:g}) comes ({late:g}, {high:g}); "
                "times must rise and prices must not fall",
                entry,
            )
    return points if points[-1][1] else ()


def waiting_price(points: Sequence[tuple[float, float]], time: float) -> float:
    """Return what it costs to wait for so long in all."""
    if not points:
        return 0.0
    (early, low), (late, high) = next(
        ((a, b) for a, b in itertools.pairwise(points) if time <= b[0]), (points[-2], points[-1])
    )
    return low + (high - low) * ((time - early) / (late - early))


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
        graphlib.TopologicalSorter({name: test.prerequisites for name, test in tests.items()}).prepare()
    except graphlib.CycleError as error:
        cycle = [str(name) for name in reversed(error.args[1])]  # graphlib lists required tests first
        path = " -> ".join(show(name) for name in cycle)
        raise CostsError(
            f"tests require each other in a cycle: {path}; remove one of these", ("test", cycle[0])
        ) from None
    names = dict.fromkeys([*tests, *(other for test in tests.values() for other in test.prerequisites)])
    return {name: _closure(name, tests) for name in names}


def _closure(name: str, tests: Mapping[str, Test]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found[current] = None
            waiting += reversed(tests[current].prerequisites if current in tests else ())
    return tuple(found)

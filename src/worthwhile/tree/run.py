"""Running a case to its answer with functions that fetch the values of tests, and the ledger of what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from worthwhile.costs.error_costs import is_missing, listing, suggest
from worthwhile.costs.price_list import find_closures
from worthwhile.table.columns import value_text
from worthwhile.tree.advice import extras_text, shares_text
from worthwhile.tree.walk import Walk
from worthwhile.wording import amount, enumeration

if TYPE_CHECKING:
    from worthwhile.costs.pricing import Extra
    from worthwhile.tree.advice import Advice
    from worthwhile.tree.context import ProblemContext
    from worthwhile.tree.tree import Tree

__all__ = ["KnownValue", "LedgerEntry", "Outcome", "given_values", "ledger_of", "may_ask", "run"]

Fetch = Mapping[str, Callable[[], Any]]
Advise = Callable[..., "Advice"]  # of what is known


@dataclass(frozen=True)
class LedgerEntry:
    """A line of the ledger of a case.

    Attributes
    ----------
    test : str
    value : object
        None if the test was unavailable.
    price : float
        What it cost; a group's common price is paid by the first of its tests.
    commits : tuple of str
        The tests that were ordered with it; each has its own line, with its own price.
    spent : float
        Price of everything up to this line.
    given : bool
        The value was known from the start.
    note : str
        Why the test was unavailable, if its function said so.
    ordered_with : str
        The test that this one was ordered with, if its own value was not asked for; `value` is None.
    shown : str
        The value as text: a date, if the test is one.
    extras : tuple of Extra
        The surcharges that were charged, and the wait; they are part of `price`.
    """

    test: str
    value: Any
    price: float
    commits: tuple[str, ...]
    spent: float
    given: bool = False
    note: str = ""
    ordered_with: str = ""
    shown: str = ""
    extras: tuple[Extra, ...] = ()

    def __str__(self) -> str:
        price = f"{amount(self.price)}{extras_text(self.extras)}"
        if self.ordered_with:
            return f"{self.test}: {price} (ordered with {self.ordered_with})"
        if is_missing(self.value):
            return f"{self.test}: unavailable{f' ({self.note})' if self.note else ''}"
        also = f", {', '.join(self.commits)} ordered with it" if self.commits else ""
        value = self.shown or value_text(self.value)
        return f"{self.test} = {value}: {price}{also}{' (given)' if self.given else ''}"


@dataclass(frozen=True, repr=False)
class Outcome:
    """The result of running a case: the answer, and what it cost to get there.

    Attributes
    ----------
    answer : object
    probabilities : dict
        Class probabilities where the case ended.
    spent : float
        Price of all tests, including those known from the start.
    ledger : tuple of LedgerEntry
        The tests in the order in which they became known; their prices add up to `spent`.
    error_cost : float or None
        Expected error cost of the answer; None if unknown.
    reason : str
        Why no further test was done.
    training_cases : dict
        Weight of the training cases of each class at the node where the case ended; see `Advice`.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> outcome = clf.run({}, fetch={"x0": lambda: 3})
    >>> outcome
    Outcome(answer b, 4.00 spent on x0)
    >>> print(outcome)
    x0 = 3: 4.00
    answer b (a 0%, b 100%), 4.00 spent
    """

    answer: Any
    probabilities: dict[Any, float]
    spent: float
    ledger: tuple[LedgerEntry, ...]
    error_cost: float | None = None
    reason: str = ""
    training_cases: dict[Any, float] = field(default_factory=dict)

    def __str__(self) -> str:
        shares = shares_text(self.probabilities, self.training_cases)
        end = f"answer {self.answer} ({shares}), {amount(self.spent)} spent"
        return "\n".join([*map(str, self.ledger), end])

    def __repr__(self) -> str:
        tests = enumeration([entry.test for entry in self.ledger if not is_missing(entry.value)]) or "no test"
        return f"Outcome(answer {self.answer}, {amount(self.spent)} spent on {tests})"


@dataclass(frozen=True)
class KnownValue:
    """A value in the order in which values became known, and the tests paid for once it was."""

    test: str
    value: Any
    paid: tuple[str, ...]
    given: bool = False
    note: str = ""
    charged: frozenset[int] = frozenset()


def run(
    next_test: Advise,
    needed: set[str],
    context: ProblemContext,
    case: Mapping[str, Any],
    fetch: Fetch,
    already_paid: Iterable[str] = (),
) -> Outcome:
    """Follow the advice to the answer; see `Tree.run`. `needed` are the tests that may be asked for."""
    conditions = _asked_by_surcharges(context)
    known = {name: case[name] for name in case.keys()}  # noqa: SIM118 - a pandas row iterates over its values
    needed = needed | {name for test in needed for name in conditions.get(test, ()) if name not in known}
    _check_functions(needed, context.columns, fetch)
    free, fetch = list(already_paid), dict(fetch)

    def advise(known: Mapping[str, Any]) -> Advice:
        return next_test(known, free)

    values = given_values(advise, known)
    missing: dict[str, None] = {}
    while (advice := advise(known)).test is not None:
        for value in (new := _fetch_ordered(advise, advice, known, fetch)):
            values.append(value)
            for name in conditions.get(value.test, ()):
                if name in new[-1].paid and name not in {*known, *missing}:
                    values += _fetch_condition(advise, name, known, missing, fetch)
    amounts: Sequence[float] | None = advice.amounts
    spent = advice.spent
    if missing:  # a missing result meets no condition; advice does not know yet that it is missing
        shares = np.array(list(advice.probabilities.values()))
        amounts = context.amounts_of_case(context.schema.read_case({**known, **missing}), shares, None)
        spent = context.pricing.price(advice.charged, context.closure_of(free), amounts)
    ledger = ledger_of(values, context, free, amounts)
    return Outcome(
        advice.answer,
        advice.probabilities,
        spent,
        ledger,
        advice.go_on_cost,
        advice.reason,
        advice.training_cases,
    )


def _asked_by_surcharges(context: ProblemContext) -> dict[str, list[str]]:
    """Return the tests whose results decide about surcharges of a test or of what it requires; only tests with any."""
    tests = context.costs.tests
    closures = find_closures(tests)
    found = {
        name: [other for own in closures[name] if own in tests for s in tests[own].surcharges for other in s.where]
        for name in tests
    }
    return {name: others for name, others in found.items() if others}


def _fetch_condition(
    advise: Advise, test: str, known: dict[str, Any], missing: dict[str, None], fetch: dict[str, Callable[[], Any]]
) -> list[KnownValue]:
    """Add the value of a test that was ordered for a surcharge; the tree finds out later if it is missing."""
    value, _ = _fetch_one(test, fetch[test])
    if value is None:
        missing[test] = None
        fetch[test] = lambda: None  # it is not asked for twice
        return []
    known[test] = value
    now = advise(known)
    return [KnownValue(test, value, tuple(now.paid), charged=now.charged)]


def ledger_of(
    values: Sequence[KnownValue],
    context: ProblemContext,
    already_paid: Iterable[str],
    amounts: Sequence[float] | None = None,
) -> tuple[LedgerEntry, ...]:
    """Return a line for each value, in order, and for each test that was paid for without its value being asked for."""
    lines: list[tuple[KnownValue, str, tuple[str, ...]]] = []  # the value, the test it was ordered with, its commits
    named = {value.test for value in values}
    final, before = set(values[-1].paid) if values else set(), set[str]()
    for value in values:
        new = [test for test in value.paid if test not in before and test != value.test]
        lines.append((value, "", () if value.given else tuple(t for t in new if t in final)))
        lines += [(KnownValue(test, None, ()), value.test, ()) for test in new if test in final - named]
        before |= set(value.paid)
    place = {name: column for column, name in enumerate(context.columns)}
    free = context.closure_of(already_paid)
    charged = values[-1].charged if values else frozenset[int]()
    # A value without a branch is free, and asked for again where the test has one for it: the last line has the price.
    last = {value.test: line for line, (value, _, _) in enumerate(lines)}
    order = [place[v.test] for line, (v, _, _) in enumerate(lines) if v.test in final and last[v.test] == line]
    charges = order, context.columns, charged, free, amounts
    prices, extras = context.pricing.items(*charges), context.pricing.extras(*charges)
    entries, spent = [], 0.0
    for line, (value, ordered_with, commits) in enumerate(lines):
        is_last = last[value.test] == line
        price = prices.get(value.test, 0.0) if is_last else 0.0
        spent += price
        shown = "" if is_missing(value.value) else context.schema.shown(value.test, value.value)
        own = value.test, value.value, price, commits, spent, value.given, value.note, ordered_with, shown
        entries.append(LedgerEntry(*own, extras.get(value.test, ()) if is_last else ()))
    return tuple(entries)


def _check_functions(needed: set[str], columns: Sequence[str], fetch: Fetch) -> None:
    """Reject functions for unknown tests, and missing functions, before anything is paid."""
    if not isinstance(fetch, Mapping):
        raise TypeError(f"fetch must be a mapping of test to function, e.g. {{{columns[0]!r}: ...}}, got {fetch!r}")
    for name, function in fetch.items():
        if name not in columns:
            raise ValueError(f"fetch has a function for {name!r}, which is not a test; {suggest(str(name), columns)}")
        if not callable(function):
            raise ValueError(f"fetch must have a function for the test {name!r}, got {function!r}")
    lacking = [name for name in columns if name in needed and name not in fetch]
    if lacking:
        which = f"the test{'s' if len(lacking) > 1 else ''} {listing(lacking)}"
        remedy = "add one, or put a value into the case (None if unavailable)"
        has = f"fetch has: {listing(fetch)}"
        raise ValueError(f"fetch has no function for {which}, which may be needed; {remedy}. {has}")


def _fetch_ordered(advise: Advise, advice: Advice, known: dict[str, Any], fetch: Fetch) -> list[KnownValue]:
    """Add the values of a test and of the tests ordered with it."""
    found = []
    for test in (str(advice.test), *advice.commits):
        known[test], note = _fetch_one(test, fetch[test])
        now = advise(known)
        paid = tuple(now.paid)
        found.append(KnownValue(test, known[test], paid, note=note, charged=now.charged))
        if not found[1:] and not set(advice.commits) <= set(paid):
            break  # an unavailable test, or a value that the tree does not know, orders nothing else
    return found


def _fetch_one(test: str, function: Callable[[], Any]) -> tuple[Any, str]:
    try:
        value = function()
    except LookupError as error:
        return None, f"{type(error).__name__}: {error}"
    except Exception as error:
        error.add_note(f"while fetching the value of the test {test!r}")
        raise
    return (None, "") if is_missing(value) else (value, "")


def given_values(advise: Advise, known: Mapping[str, Any]) -> list[KnownValue]:
    """Return everything known from the start; unavailable tests are free and come first."""
    found: list[KnownValue] = []
    so_far: dict[str, Any] = {}
    for name in sorted(known, key=lambda name: not is_missing(known[name])):
        so_far[name] = known[name]
        now = advise(so_far)
        found.append(KnownValue(name, known[name], tuple(now.paid), given=True, charged=now.charged))
    return found


def may_ask(
    trees: Iterable[Tree], known: Mapping[str, Any], already_paid: Iterable[str] = (), may_stop: bool = True
) -> set[str]:
    """Return the tests that trees may still ask for."""
    asked: set[str] = set()
    free = list(already_paid)
    for tree in trees:
        walk = Walk(tree, known, tree.context.closure_of(free), may_stop)
        for node in walk.below() if walk.next_order is not None else ():
            if tree.nodes.test[node] >= 0 and not walk.is_known(node):
                asked.add(tree.columns[tree.nodes.test[node]])
    return asked

"""Running a case to its answer with functions that fetch the values of tests, and the ledger of what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worthwhile.costs.error_costs import is_missing, listing, suggest
from worthwhile.table.columns import value_text
from worthwhile.tree.node_costs import SLACK, subtree
from worthwhile.tree.walk import Walk
from worthwhile.wording import amount, enumeration

if TYPE_CHECKING:
    from worthwhile.tree.advice import Advice
    from worthwhile.tree.tree import Tree

__all__ = ["LedgerEntry", "Outcome", "entries_of_known", "may_ask", "run"]

Fetch = Mapping[str, Callable[[], Any]]
Advise = Callable[[Mapping[str, Any]], "Advice"]


@dataclass(frozen=True)
class LedgerEntry:
    """A line of the ledger of a case.

    Attributes
    ----------
    test : str
    value : object
        None if the test was unavailable.
    price : float
        What was charged here, including everything ordered with it.
    commits : tuple of str
        The tests that were ordered with it; each has its own line, with price 0.
    spent : float
        Price of everything up to this line.
    given : bool
        The value was known from the start.
    note : str
        Why the test was unavailable, if its function said so.
    """

    test: str
    value: Any
    price: float
    commits: tuple[str, ...]
    spent: float
    given: bool = False
    note: str = ""

    def __str__(self) -> str:
        if is_missing(self.value):
            return f"{self.test}: unavailable{f' ({self.note})' if self.note else ''}"
        also = f", with {', '.join(self.commits)} ordered at once" if self.commits else ""
        return f"{self.test} = {value_text(self.value)}: {amount(self.price)}{also}{' (given)' if self.given else ''}"


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

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
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

    def __str__(self) -> str:
        shares = ", ".join(f"{label} {share:.0%}" for label, share in self.probabilities.items())
        end = f"answer {self.answer} ({shares}), {amount(self.spent)} spent"
        return "\n".join([*map(str, self.ledger), end])

    def __repr__(self) -> str:
        tests = enumeration([entry.test for entry in self.ledger if not is_missing(entry.value)]) or "no test"
        return f"Outcome(answer {self.answer}, {amount(self.spent)} spent on {tests})"


def run(advise: Advise, needed: set[str], columns: Sequence[str], case: Mapping[str, Any], fetch: Fetch) -> Outcome:
    """Follow the advice to the answer; see `Tree.run`. `needed` are the tests that may be asked for."""
    _check_functions(needed, columns, fetch)
    known = {name: case[name] for name in case.keys()}  # noqa: SIM118 - a pandas row iterates over its values
    ledger = entries_of_known(advise, known)
    while (advice := advise(known)).test is not None:
        notes = _fetch_ordered(advise, advice, known, fetch)
        spent = advise(known).spent
        for test, note in notes.items():
            first = test == advice.test
            also = tuple(name for name in notes if name != test and not is_missing(known[name])) if first else ()
            ledger.append(
                LedgerEntry(test, known[test], spent - advice.spent if first else 0.0, also, spent, note=note)
            )
    return Outcome(advice.answer, advice.probabilities, advice.spent, tuple(ledger), advice.go_on_cost, advice.reason)


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


def _fetch_ordered(advise: Advise, advice: Advice, known: dict[str, Any], fetch: Fetch) -> dict[str, str]:
    """Add the values of a test and of the tests ordered with it; return the notes about them."""
    notes: dict[str, str] = {}
    for test in (str(advice.test), *advice.commits):
        known[test], notes[test] = _fetch_one(test, fetch[test])
        if test == advice.test and advice.commits:
            charged = advise(known).spent - advice.spent
            if charged < advice.price * (1 - SLACK):
                break  # an unavailable test, or a value that the tree does not know, orders nothing else
    return notes


def _fetch_one(test: str, function: Callable[[], Any]) -> tuple[Any, str]:
    try:
        value = function()
    except LookupError as error:
        return None, f"{type(error).__name__}: {error}"
    except Exception as error:
        error.add_note(f"while fetching the value of the test {test!r}")
        raise
    return (None, "") if is_missing(value) else (value, "")


def entries_of_known(advise: Advise, known: Mapping[str, Any]) -> list[LedgerEntry]:
    """Return an entry for everything known from the start; unavailable tests are free and come first."""
    ledger: list[LedgerEntry] = []
    so_far: dict[str, Any] = {}
    for name in sorted(known, key=lambda name: not is_missing(known[name])):
        so_far[name] = known[name]
        spent, before = advise(so_far).spent, ledger[-1].spent if ledger else 0.0
        ledger.append(LedgerEntry(name, known[name], spent - before, (), spent, given=True))
    return ledger


def may_ask(trees: Iterable[Tree], known: Mapping[str, Any]) -> set[str]:
    """Return the tests that trees may still ask for."""
    asked: set[str] = set()
    for tree in trees:
        walk = Walk(tree, known)
        for position in walk.positions:
            below = (node for node in subtree(tree, position.node) if tree.nodes.test[node] >= 0)
            asked |= {tree.columns[tree.nodes.test[node]] for node in below if not walk.is_known(node)}
    return asked

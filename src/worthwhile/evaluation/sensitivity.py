"""How far the choice of tests depends on their prices: break-even prices, by learning again at other prices."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from worthwhile.costs.costs import Costs, Test
from worthwhile.evaluation.evaluate import Done
from worthwhile.evaluation.metrics import innermost
from worthwhile.learners.soft_labels import remember_ensembles
from worthwhile.tree.tree import Tree

__all__ = ["STEP", "BreakEven", "break_even", "faster", "with_price"]

STEP = 2**0.25  # neighbours of the grid of prices differ by a fifth
LOWEST = 2.0**-6  # the least price of the grid, as a share of the price of the list; below it stands 0
RANGE = 2.0**10  # how far the grid of a test without a price goes down from the dearest error

# What makes a search short without changing what it looks for: dozens are made in a row, only to see which tests they
# end up with. On two thirds of heart, ICET's break-even prices of cp, age, ca and chol are those of the full search (15
# trees in 3.6 s instead of 14.3 s of computing).
FASTER: Mapping[str, Mapping[str, Any]] = {
    "ICETClassifier": {"trials": 30, "population": 10, "time_limit": None},
    "ACTClassifier": {"r": 1, "time_limit": None},
    "LSID3Classifier": {"r": 1, "time_limit": None},
}


@dataclass(frozen=True)
class BreakEven:
    """At which prices a test is asked, all other prices as they are; see `break_even`.

    Attributes
    ----------
    test : str
    price : float
        The price of the list, without the common price of its group.
    used : bool
        Whether the tree that is learned at this price asks for the test.
    enters : float or None
        The highest price found at which it is asked: the test enters at this price or below. None: it is not even asked
        for nothing.
    leaves : float or None
        The lowest price found at which it is not asked: the test leaves at this price or above. None: it is asked at
        every price that was tried.
    trials : int
        How many trees were learned to find this out, beyond the one at the prices of the list.
    finished : bool
        Whether `enters` and `leaves` are neighbours of the grid; False: the time was over before that.
    """

    test: str
    price: float
    used: bool
    enters: float | None
    leaves: float | None
    trials: int
    finished: bool = True

    def __str__(self) -> str:
        now = "asked" if self.used else "not asked"
        if not (self.trials or self.finished):
            return f"{self.test} at {self.price:.2f}: {now}; no other price was tried"
        if self.enters is None:
            return f"{self.test} at {self.price:.2f}: {now}, and not even for nothing"
        if self.leaves is None:
            return f"{self.test} at {self.price:.2f}: {now}, and up to {self.enters:.2f} at least"
        return f"{self.test} at {self.price:.2f}: {now}; enters below {self.enters:.2f}, leaves above {self.leaves:.2f}"


class _Search:
    """The search for the break-even price of one test: by bisection on its grid of prices."""

    def __init__(self, test: str, price: float, used: bool, dearest: float) -> None:
        self.test, self.price, self.used, self.trials = test, price, used, 0
        self.grid = _grid(price, dearest)
        here = self.grid.index(price)
        # Between the two there is a change: at the first the test is asked, at the second it is not.
        self.asked: int | None = here if used else None
        self.dropped: int | None = None if used else here

    @property
    def finished(self) -> bool:
        if self.asked is None:
            return self.dropped == 0
        if self.dropped is None:
            return self.asked == len(self.grid) - 1
        return self.dropped - self.asked == 1

    def next_price(self) -> float:
        """Return the price to try: first the end of the grid, then the middle of what is open."""
        return self.grid[self._next()]

    def _next(self) -> int:
        if self.asked is None:
            return 0
        return len(self.grid) - 1 if self.dropped is None else (self.asked + self.dropped) // 2

    def note(self, used: bool) -> None:
        """Note whether the test is asked at `next_price`."""
        at = self._next()
        self.asked, self.dropped = (at, self.dropped) if used else (self.asked, at)
        self.trials += 1

    def result(self) -> BreakEven:
        enters = None if self.asked is None else self.grid[self.asked]
        leaves = None if self.dropped is None else self.grid[self.dropped]
        return BreakEven(self.test, self.price, self.used, enters, leaves, self.trials, self.finished)


def _grid(price: float, dearest: float) -> list[float]:
    """Return the prices to choose from: 0, then in equal steps to what the dearest error costs, the own one among them.

    A test that costs more than any error cannot pay; a learner that asks for it does not look at prices.
    """
    if price > 0:
        highest = max(dearest, 2 * price)
        down, up = round(-np.log(LOWEST) / np.log(STEP)), int(np.ceil(np.log(highest / price) / np.log(STEP)))
        return [0.0, *(price * STEP**i for i in range(-down, 0)), price, *(price * STEP**i for i in range(1, up + 1))]
    steps = round(np.log(RANGE) / np.log(STEP))
    return [0.0, *(dearest * STEP**-i for i in range(steps, -1, -1))]


def break_even(
    clf: Any,
    X: Any,
    y: Any,
    *,
    tests: Iterable[str] | None = None,
    seconds: float | None = None,
    tell: Callable[[Done], Any] | None = None,
) -> list[BreakEven]:
    """Return below which price each test enters the tree, and above which it leaves, all else as it is.

    The learner is fitted again and again, always to the same cases, with one price changed; a test counts as asked if a
    node of the tree tests it. For each test prices are tried on a grid: 0, and steps of a fifth from 1/64 of its price
    to the cost of the dearest error. First the end of the grid is tried (0 for a test that is not asked at its present
    price, the highest price for one that is), then the middle of what is open, which takes for granted that a test that
    is too dear does not come back at a higher price. All tests take turns, so that a time limit makes all results
    rougher, not some of them.

    Parameters
    ----------
    clf : learner of one tree
        It need not be fitted, and stays as it is. What it makes of chance is fixed: a `random_state` of None counts as
        0. A search takes its time at every price; see `faster`.
    X, y : cases and their classes
        What the learner learns from.
    tests : iterable of str, optional
        The tests to examine, in this order. None: all.
    seconds : float, optional
        No tree is begun after so many seconds, except the first.
    tell : function, optional
        Called before each tree with a `Done`: how many are learned, and how many this will take, as far as is known.

    Returns
    -------
    list of BreakEven
        In the order of `tests`, or of the columns.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs)
    >>> [found] = break_even(clf, [[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> print(found)
    x0 at 4.00: asked; enters below 4.76, leaves above 5.66
    >>> found.enters < 5 < found.leaves
    True
    """
    clf, X = innermost(clf, X)
    clf = _prepared(clf)
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds must be above 0, got {seconds!r}")
    end = float("inf") if seconds is None else time.monotonic() + seconds
    with remember_ensembles():
        tree = _tree_from(clone(clf), X, y)  # a generator must be as it was for the next one
        costs, used = tree.costs, set(tree.tests_used())
        names = _checked_tests(tests, tree.columns)
        dearest = max(float(np.ptp(tree.error_costs)), 1e-9)
        searches = [_Search(name, _price(costs, name), name in used, dearest) for name in names]
        while (open_ := [search for search in searches if not search.finished]) and time.monotonic() < end:
            for search in open_:
                if tell is not None:
                    tell(Done(1 + sum(s.trials for s in searches), 1 + sum(map(_trials_in_all, searches))))
                changed = clone(clf).set_params(costs=with_price(costs, search.test, search.next_price()))
                search.note(search.test in _tree_from(changed, X, y).tests_used())
                if time.monotonic() >= end:
                    break
    return [search.result() for search in searches]


def _tree_from(clf: Any, X: Any, y: Any) -> Tree:
    tree: Tree = clf.fit(X, y)._tree()
    # A search takes Ctrl-C for its own end, but here it is meant for all of them.
    if getattr(clf, "stopped_", None) == "interrupted":
        raise KeyboardInterrupt
    return tree


def _trials_in_all(search: _Search) -> int:
    """Return how many trees a search will have taken, if nothing more ends it early."""
    if search.finished:
        return search.trials
    low = -1 if search.asked is None else search.asked
    high = len(search.grid) if search.dropped is None else search.dropped
    return search.trials + int(np.ceil(np.log2(max(high - low, 2))))


def with_price(costs: Costs, test: str, price: float) -> Costs:
    """Return a copy of costs with another price of one test.

    Examples
    --------
    >>> with_price(Costs(tests={"age": 1.0, "chol": 7.0}), "chol", 3.0).price("chol")
    3.0
    """
    tests = dict(costs.tests)
    tests[test] = replace(tests.get(test, Test(0.0)), price=price)
    return costs._copy(tests=tests)


def faster(clf: Any, X: Any = None, y: Any = None) -> tuple[Any, dict[str, Any]]:
    """Return an unfitted copy of a learner that searches for a short time only, and the parameters that this changed.

    Parameters
    ----------
    clf : learner
    X, y : cases and their classes, optional
        What a fitted learner has learned from. If the copy would ask for other tests than it, nothing is changed.

    Examples
    --------
    >>> import worthwhile as ww
    >>> faster(ww.ACTClassifier(r=5))[1], faster(ww.EG2Classifier())[1]
    ({'r': 1}, {})
    """
    wanted = dict(FASTER.get(type(clf).__name__, {}))
    for name in ("trials", "r", "population"):
        if name in wanted:
            wanted[name] = min(wanted[name], getattr(clf, name))
    changed = {name: value for name, value in wanted.items() if value != getattr(clf, name)}
    if changed and y is not None:
        quick = _tree_from(_prepared(clone(clf).set_params(**changed)), X, y)
        if set(quick.tests_used()) != set(clf._tree().tests_used()):
            changed = {}
    return clone(clf).set_params(**changed), changed


def _prepared(clf: Any) -> Any:
    """Return a learner that makes the same tree of the same prices every time, and reports to nobody."""
    if not hasattr(clf, "set_params"):
        raise ValueError(f"break-even prices need a learner that can learn again, got {clf!r}")
    if hasattr(clf, "max_trees"):
        raise ValueError(f"break-even prices are those of a single tree; {type(clf).__name__} learns many")
    copy = clone(clf)
    quiet = {"random_state": 0} if copy.random_state is None else {}
    return copy.set_params(**quiet, **({"callback": None} if hasattr(copy, "callback") else {}))


def _checked_tests(tests: Iterable[str] | None, columns: tuple[str, ...]) -> list[str]:
    if isinstance(tests, str):
        raise ValueError(f"tests must be a list of names, got the text {tests!r}")
    names = list(columns if tests is None else tests)
    for name in names:
        if name not in columns:
            raise ValueError(f"there is no test {name!r}; the tests are {', '.join(columns)}")
    if len(set(names)) < len(names):
        raise ValueError(f"tests names a test twice: {', '.join(names)}")
    return names


def _price(costs: Costs, name: str) -> float:
    test = costs.tests.get(name)
    return 0.0 if test is None else test.price

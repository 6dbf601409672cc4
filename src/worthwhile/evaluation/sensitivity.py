"""How the choice of tests depends on their prices: break-even prices, found by refitting at other prices."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from worthwhile.costs.costs import Costs
from worthwhile.evaluation.metrics import chosen_of, innermost
from worthwhile.learners.act.classifier import ACTClassifier
from worthwhile.learners.progress import Progress
from worthwhile.learners.soft_labels import remember_ensembles
from worthwhile.tree.tree import Tree

__all__ = ["STEP", "BreakEven", "break_even", "faster", "with_price"]

STEP = 2**0.25  # neighbouring prices of the grid differ by about a fifth
LOWEST = 2.0**-6  # the lowest price of the grid above 0, as a share of the list price
RANGE = 2.0**10  # for a free test: the most expensive error divided by the lowest price of the grid above 0

# Shorter searches with the same objective: dozens run in a row, only to see which tests they choose. On two thirds of
# heart, ICET's break-even prices of cp, age, ca and chol equal those of the full search (15 trees in 3.6 s instead of
# 14.3 s).
FASTER: Mapping[str, Mapping[str, Any]] = {
    "ICETClassifier": {"trials": 30, "population": 10, "time_limit": None},
    "ACTClassifier": {"r": 1, "time_limit": None},
    "LSID3Classifier": {"r": 1, "time_limit": None},
    "OptimalClassifier": {
        "max_depth": 3,
        "deepen": False,
        "thresholds": 8,
        "soft_labels": 0,
        "near_optimal": None,
        "time_limit": None,
    },
}
# What takes the place of a search with more cases than this. On 10,000 × 20 with 12 priced tests, all break-even prices
# take 117 trees in 13 s; a single tree with soft labels takes as long.
GREEDY: Mapping[str, Any] = {"variant": "paper", "r": 0}
MAX_SEARCHED = 1_000


@dataclass(frozen=True)
class BreakEven:
    """At which prices a test is used, with all other prices unchanged; see `break_even`.

    Attributes
    ----------
    test : str
    price : float
        The list price, without the common price of its group.
    used : bool
        Whether the tree learned at this price asks for the test.
    enters : float or None
        The highest price found at which the test is used. None: it is not used even when it is free.
    leaves : float or None
        The lowest price found at which the test is not used. None: it is used at every price tried.
    trials : int
        Number of trees learned to find this out, besides the one at the list prices.
    finished : bool
        Whether `enters` and `leaves` are neighbouring prices of the grid; False: time ran out before that.
    """

    test: str
    price: float
    used: bool
    enters: float | None
    leaves: float | None
    trials: int
    finished: bool = True

    def __str__(self) -> str:
        now = "used" if self.used else "not used"
        if self.enters is None:
            return f"{self.test} at {self.price:.2f}: {now}, not even when free"
        if self.leaves is None:
            return f"{self.test} at {self.price:.2f}: {now}, also at every price tried, up to {self.enters:.2f}"
        return f"{self.test} at {self.price:.2f}: {now}; enters below {self.enters:.2f}, leaves above {self.leaves:.2f}"


class _Search:
    """Finds the break-even price of one test by bisection on its grid of prices."""

    def __init__(self, test: str, price: float, used: bool, worst_error: float) -> None:
        self.test, self.price, self.used, self.trials = test, price, used, 0
        self.grid = _grid(price, worst_error)
        here = self.grid.index(price)
        # Places in the grid: the test is used at the first price and not used at the second.
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
        """Return the price to try: first the end of the grid, then the middle of the open interval."""
        return self.grid[self._next()]

    def _next(self) -> int:
        if self.asked is None:
            return 0
        return len(self.grid) - 1 if self.dropped is None else (self.asked + self.dropped) // 2

    def note(self, used: bool) -> None:
        """Record whether the test is used at `next_price`."""
        at = self._next()
        self.asked, self.dropped = (at, self.dropped) if used else (self.asked, at)
        self.trials += 1

    def result(self) -> BreakEven:
        enters = None if self.asked is None else self.grid[self.asked]
        leaves = None if self.dropped is None else self.grid[self.dropped]
        return BreakEven(self.test, self.price, self.used, enters, leaves, self.trials, self.finished)


def _grid(price: float, worst_error: float) -> list[float]:
    """Return the prices to try: 0, then geometric steps up to the cost of the worst error; includes the list price.

    A test that costs more than any error cannot pay off; a learner that still asks for it ignores prices.
    """
    if price > 0:
        highest = max(worst_error, 2 * price)
        down, up = round(-np.log(LOWEST) / np.log(STEP)), int(np.ceil(np.log(highest / price) / np.log(STEP)))
        return [0.0, *(price * STEP**i for i in range(-down, 0)), price, *(price * STEP**i for i in range(1, up + 1))]
    steps = round(np.log(RANGE) / np.log(STEP))
    return [0.0, *(worst_error * STEP**-i for i in range(steps, -1, -1))]


def break_even(
    clf: Any,
    X: Any,
    y: Any,
    *,
    tests: Iterable[str] | None = None,
    seconds: float | None = None,
    tell: Callable[[Progress], Any] | None = None,
) -> list[BreakEven]:
    """Return the price below which each test enters the tree and above which it leaves, all else unchanged.

    The learner is refitted to the same cases with one price changed; a test counts as used if a node of the tree tests
    it. Prices come from a grid: 0, and steps of a fifth from 1/64 of the list price to the cost of the most expensive
    error. The end of the grid is tried first (0 for a test that is not used at its list price, the highest price for
    one that is), then the middle of the open interval. This assumes that a test that is too expensive does not come
    back at a higher price. One test is finished before the next: those of `tests` in their order, otherwise tests with
    a price first, then those in the tree.

    Parameters
    ----------
    clf : learner of one tree
        It need not be fitted, and is not changed. A `random_state` of None counts as 0. A learner that searches takes
        its full time at every price; see `faster`.
    X, y : cases and their classes
        The training cases.
    tests : iterable of str, optional
        The tests to examine. None: all.
    seconds : float, optional
        Start no further tree after this many seconds; tests that were not reached are left out.
    tell : function, optional
        Called before each tree with a `Progress`: trees learned so far, and how many there will be as far as is known.

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
    x0 at 4.00: used; enters below 4.00, leaves above 4.76
    """
    clf, X = innermost(clf, X)
    clf = _prepared(clf)
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds must be above 0, got {seconds!r}")
    start = time.monotonic()
    end = float("inf") if seconds is None else start + seconds
    with remember_ensembles():
        tree = _tree_from(clone(clf), X, y)  # a clone leaves a random generator unused for the next fit
        costs, used = tree.costs, set(tree.tests_used())
        names = _checked_tests(tests, tree.columns)
        worst_error = max(float(np.ptp(tree.error_costs)), 1e-9)
        searches = [_Search(name, _price(costs, name), name in used, worst_error) for name in names]
        order = searches
        if tests is None:
            order = sorted(searches, key=lambda search: (search.price == 0, not search.used))
        for search in order:
            while not search.finished and time.monotonic() < end:
                if tell is not None:
                    done, total = 1 + sum(s.trials for s in searches), 1 + sum(map(_trials_in_all, searches))
                    tell(Progress(time.monotonic() - start, done, total))
                changed = clone(clf).set_params(costs=with_price(costs, search.test, search.next_price()))
                search.note(search.test in _tree_from(changed, X, y).tests_used())
    return [search.result() for search in searches if search.trials or search.finished]


def _tree_from(clf: Any, X: Any, y: Any) -> Tree:
    tree: Tree = clf.fit(X, y)._tree()
    return tree


def _trials_in_all(search: _Search) -> int:
    """Return how many trees a search takes in all unless it ends early."""
    if search.finished:
        return search.trials
    low = -1 if search.asked is None else search.asked
    high = len(search.grid) if search.dropped is None else search.dropped
    return search.trials + int(np.ceil(np.log2(max(high - low, 2))))


def with_price(costs: Costs, test: str, price: float) -> Costs:
    """Return a copy of costs with a different price for one test.

    Examples
    --------
    >>> with_price(Costs(tests={"age": 1.0, "chol": 7.0}), "chol", 3.0).price("chol")
    3.0
    """
    return costs.with_prices({test: price})


def faster(clf: Any, X: Any = None, y: Any = None) -> tuple[Any, dict[str, Any]]:
    """Return an unfitted copy of a learner with a shorter search, and the parameters that were changed.

    Parameters
    ----------
    clf : learner
    X, y : cases and their classes, optional
        The training cases of a fitted learner. If the shorter search would use different tests, nothing is changed.
        With more than 1,000 cases, ACT without look-ahead takes the place of a search; it may use different tests.

    Examples
    --------
    >>> import worthwhile as ww
    >>> faster(ww.ACTClassifier(r=5))[1], faster(ww.EG2Classifier())[1]
    ({'r': 1}, {})
    """
    clf = chosen_of(clf)
    wanted = dict(FASTER.get(type(clf).__name__, {}))
    if "leaf_price" in clf._parameter_names() and hasattr(clf, "leaf_price_"):
        wanted["leaf_price"] = clf.leaf_price_
    if "max_depth" in wanted:
        wanted["max_depth"] = min(wanted["max_depth"], clf.max_depth)
    for name in ("trials", "r", "population"):
        if name in wanted:
            wanted[name] = min(wanted[name], getattr(clf, name))
    changed = {name: value for name, value in wanted.items() if value != getattr(clf, name)}
    if wanted and y is not None and len(y) > MAX_SEARCHED:
        return _greedy(clf)
    if changed and y is not None:
        quick = _tree_from(_prepared(clone(clf).set_params(**changed)), X, y)
        if set(quick.tests_used()) != set(clf._tree().tests_used()):
            if "thresholds" in changed:  # the whole search takes far too long
                return _greedy(clf)
            changed = {}
    return clone(clf).set_params(**changed), changed


def _greedy(clf: Any) -> tuple[Any, dict[str, Any]]:
    """Return a learner without a search in place of another one."""
    known = {"costs": clf.costs, "nominal": clf.nominal, "columns": clf.columns, "n_jobs": clf.n_jobs}
    return ACTClassifier(**GREEDY, **known), {"learner": "ACT", **GREEDY}


def _prepared(clf: Any) -> Any:
    """Return an unfitted copy that gives the same tree for the same prices every time, and has no callback."""
    clf = chosen_of(clf)
    if not hasattr(clf, "set_params"):
        raise ValueError(f"break-even prices need a learner that can be refitted, got {clf!r}")
    if hasattr(clf, "learners"):
        raise ValueError("break-even prices are those of the learner that AutoClassifier chooses: fit it first")
    if hasattr(clf, "max_trees") or hasattr(clf, "n_trees"):
        raise ValueError(f"break-even prices need a learner of a single tree; {type(clf).__name__} learns several")
    copy = clone(clf)
    quiet = {"random_state": 0} if copy.random_state is None else {}
    return copy.set_params(**quiet, **({"callback": None} if hasattr(copy, "callback") else {}))


def _checked_tests(tests: Iterable[str] | None, columns: tuple[str, ...]) -> list[str]:
    if isinstance(tests, str):
        raise ValueError(f"tests must be a list of names, got the string {tests!r}")
    names = list(columns if tests is None else tests)
    for name in names:
        if name not in columns:
            raise ValueError(f"there is no test {name!r}; the tests are {', '.join(columns)}")
    if len(set(names)) < len(names):
        raise ValueError(f"tests contains a test twice: {', '.join(names)}")
    return names


def _price(costs: Costs, name: str) -> float:
    test = costs.tests.get(name)
    return 0.0 if test is None else test.price

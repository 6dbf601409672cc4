"""What to do next for one case, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile.tree.expected_cost import TooManyPathsError, expected_cost
from worthwhile.tree.node_costs import SLACK, best_answer
from worthwhile.tree.walk import Walk
from worthwhile.wording import amount

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["Advice", "advise"]


@dataclass(frozen=True, repr=False)
class Advice:
    """What to do next for a case: do a test, or answer; with the costs behind it.

    Expected costs are averages over the training cases. They are None where unknown: a tree written by hand may have no
    weights, and in a forest they depend on trees that have not voted yet.

    Attributes
    ----------
    test : str or None
        The test to do now; None: stop and answer.
    price : float
        What ordering it costs at this point, including everything it commits to.
    commits : tuple of str
        The other tests that must be ordered with it because its result is delayed.
    answer : object
        The answer; None while a test is to be done.
    spent : float
        Price of everything ordered so far.
    probabilities : dict
        Class probabilities given what is known so far.
    stop_answer : object
        The best answer if we stopped now: the one with the least expected error cost.
    stop_cost : float or None
        Its expected error cost.
    go_on_cost : float or None
        Expected price of the tests not yet paid for plus expected error cost, if we go on as advised. If the advice is
        to answer: expected error cost of that answer.
    delayed : bool
        The result of the test is delayed, so the tests in `commits` are ordered with it.
    unavailable : tuple of str
        The unavailable tests.
    reason : str
        Why, in one sentence.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> advice = clf.next_test({})
    >>> advice
    Advice(do x0 for 4.00, 0.00 spent; stopping costs 5.00, going on 4.00)
    >>> advice.stop_answer, advice.stop_cost, advice.go_on_cost, advice.gain
    ('a', 5.0, 4.0, 1.0)
    >>> print(advice.reason)
    Answering a now is expected to cost 5.00 in errors; going on 4.00 in tests and errors, 1.00 less.
    >>> print(clf.next_test({"x0": 3}))
    answer b (4.00 spent)
    """

    test: str | None
    price: float
    commits: tuple[str, ...]
    answer: Any
    spent: float
    probabilities: dict[Any, float] = field(default_factory=dict)
    stop_answer: Any = None
    stop_cost: float | None = None
    go_on_cost: float | None = None
    delayed: bool = False
    unavailable: tuple[str, ...] = ()
    reason: str = ""

    @property
    def gain(self) -> float | None:
        """What going on is expected to save: `stop_cost` minus `go_on_cost`; None if either is unknown."""
        return None if self.stop_cost is None or self.go_on_cost is None else self.stop_cost - self.go_on_cost

    def __str__(self) -> str:
        return f"{self._action()} ({amount(self.spent)} spent)"

    def _action(self) -> str:
        if self.test is None:
            return f"answer {self.answer}"
        also = f", which also orders {', '.join(self.commits)}" if self.commits else ""
        return f"do {self.test} for {amount(self.price)}{also}"

    def __repr__(self) -> str:
        costs = [
            f"{what} {amount(cost)}"
            for what, cost in (("stopping costs", self.stop_cost), ("going on", self.go_on_cost))
            if cost is not None
        ]
        known = f"; {', '.join(costs)}" if costs and self.test is not None else ""
        return f"Advice({self._action()}, {amount(self.spent)} spent{known})"


def advise(tree: Tree, known: Mapping[str, Any]) -> Advice:
    """Return what to do next for a case; see `Tree.next_test`."""
    walk = Walk(tree, known)
    walk.count_known_as_paid()
    shares = walk.shares()
    stop_answer, stop_cost = _best_answer_now(tree, shares)
    try:
        go_on, unknown = expected_cost(walk), "some branches have no training weights"
    except TooManyPathsError:
        go_on, unknown = None, "the unavailable tests leave too many paths to evaluate"
    order, now = walk.next_order(), _Situation(walk, shares, stop_answer, stop_cost, go_on)
    if order is None:
        answer = walk.answer()
        return now.advice(None, 0.0, (), answer, reason=_why_answer(tree, now, answer))
    also = tuple(tree.columns[t] for t in order.commits if t not in walk.charged)
    price, reason = walk.pricing.price(order.charged, walk.charged), _why_go_on(now, unknown)
    return now.advice(tree.columns[order.test], price, also, None, order.delayed, reason)


def _best_answer_now(tree: Tree, shares: npt.NDArray[np.float64]) -> tuple[Any, float | None]:
    """Return the answer with the least expected error cost, and that cost; None if the tree has no weights."""
    if not tree.nodes.weights[0].any():
        return None, None
    best = best_answer(tree.error_costs, shares)
    return tree.answers[best], float(shares @ tree.error_costs[:, best])


@dataclass(frozen=True)
class _Situation:
    """The state of a case: its class shares, and the costs of stopping and of going on."""

    walk: Walk
    shares: npt.NDArray[np.float64]
    stop_answer: Any
    stop_cost: float | None
    go_on_cost: float | None

    def advice(
        self,
        test: str | None,
        price: float,
        commits: tuple[str, ...],
        answer: Any,
        delayed: bool = False,
        reason: str = "",
    ) -> Advice:
        walk, tree = self.walk, self.walk.tree
        return Advice(
            test,
            price,
            commits,
            answer,
            walk.pricing.price(walk.charged),
            {label: float(share) for label, share in zip(tree.classes, self.shares, strict=True)},
            self.stop_answer,
            self.stop_cost,
            self.go_on_cost,
            delayed,
            tuple(tree.columns[t] for t in walk.unavailable()),
            reason,
        )


def _why_go_on(now: _Situation, unknown: str) -> str:
    if now.stop_cost is None:
        return "The tree asks for this test here; expected costs are unknown because the tree has no training weights."
    stop = f"Answering {now.stop_answer} now is expected to cost {amount(now.stop_cost)} in errors"
    if now.go_on_cost is None:
        return f"{stop}; the cost of going on is unknown because {unknown}."
    gain = now.stop_cost - now.go_on_cost
    if amount(gain) == amount(0):
        difference = "the same"
    else:
        difference = f"{amount(abs(gain))} {'less' if gain > 0 else 'more, but the tree still asks for it'}"
    return f"{stop}; going on {amount(now.go_on_cost)} in tests and errors, {difference}."


def _why_answer(tree: Tree, now: _Situation, answer: Any) -> str:
    if now.stop_cost is None or now.go_on_cost is None:
        return "The tree asks for no further test here."
    reason = f"The tree asks for no further test here; answering {answer} is expected to cost {amount(now.go_on_cost)}"
    largest = float(np.abs(tree.error_costs).max())
    if now.go_on_cost - now.stop_cost > SLACK * largest:
        return f"{reason} in errors, answering {now.stop_answer} {amount(now.stop_cost)}."
    return f"{reason} in errors."

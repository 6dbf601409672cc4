"""What to do next for one case, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from worthwhile.tree.node_costs import SLACK
from worthwhile.tree.walk import TestOrder, Walk
from worthwhile.wording import amount, enumeration, weight_text

if TYPE_CHECKING:
    from worthwhile.costs.pricing import Extra, Pricing
    from worthwhile.tree.tree import Tree

__all__ = [
    "Advice",
    "advise",
    "advise_walk",
    "extras_text",
    "order_parts",
    "order_tests",
    "priced_items",
    "shares_text",
]


@dataclass(frozen=True, repr=False)
class Advice:
    """What to do next for a case: do a test, or answer; with the costs behind it.

    Probabilities and expected costs are those of new cases (docs/design/expected-cost.md). Costs are None where they
    are unknown: a tree written by hand may have no weights, and in a forest they depend on trees that have not voted.

    Attributes
    ----------
    test : str or None
        The test to do now; None: stop and answer.
    price : float
        What ordering it costs at this point, including everything it commits to.
    commits : tuple of str
        The other tests that are ordered with it, because its result is delayed or because waiting for one result after
        another would cost more.
    answer : object
        The answer; None while a test is to be done.
    spent : float
        Price of everything ordered so far, except what was already paid by others.
    probabilities : dict
        Class probabilities given what is known so far.
    stop_answer : object
        The best answer if we stopped now: the one with the least expected error cost.
    stop_cost : float or None
        Its expected error cost.
    go_on_cost : float or None
        Expected price of the tests not yet paid for plus expected error cost, if we go on as advised. If the advice is
        to answer: expected error cost of that answer. After an unavailable test it is an upper bound
        (docs/design/expected-cost.md).
    delayed : bool
        The result of the test is delayed, so the tests in `commits` are ordered with it.
    unavailable : tuple of str
        The unavailable tests.
    reason : str
        Why, in one sentence.
    order : dict
        Every test that is ordered now, with what it adds to `price`: the test itself, the tests it commits to, and
        what these require. The common price of a group is part of the first of its tests.
    paid : dict
        Every test paid for so far, in column order, with its part of `spent`.
    waits : float
        How long the ordered results take, in the unit of the price list; what waiting costs is part of `price`.
    charged : frozenset of int
        What was charged so far, as the price list counts it: tests, surcharges and waits.
    extras : dict
        The surcharges and the wait of the tests in `order`, each an `Extra`; they are part of the prices there.
    amounts : tuple of float or None
        What every test and every surcharge costs this case, as far as it is known; None: as the price list says.
    training_cases : dict
        Weight of the training cases of each class at the node where the case stands; empty if it stands at several, in
        a forest or a cascade, and in a tree without weights.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
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
    order: dict[str, float] = field(default_factory=dict)
    paid: dict[str, float] = field(default_factory=dict)
    waits: float = 0.0
    charged: frozenset[int] = frozenset()
    extras: dict[str, tuple[Extra, ...]] = field(default_factory=dict)
    amounts: tuple[float, ...] | None = None
    training_cases: dict[Any, float] = field(default_factory=dict)

    @property
    def gain(self) -> float | None:
        """What going on is expected to save: `stop_cost` minus `go_on_cost`; None if either is unknown."""
        return None if self.stop_cost is None or self.go_on_cost is None else self.stop_cost - self.go_on_cost

    def __str__(self) -> str:
        return f"{self._action()} ({amount(self.spent)} spent)"

    def _action(self) -> str:
        if self.test is None:
            return f"answer {self.answer}"
        others = [f"{name} {amount(price)}" for name, price in self.order.items() if name != self.test]
        also = f", including {enumeration(others)}" if others else ""
        wait = f", wait {self.waits:g}" if self.waits else ""
        return f"do {self.test} for {amount(self.price)}{also}{wait}"

    def __repr__(self) -> str:
        costs = [
            f"{what} {amount(cost)}"
            for what, cost in (("stopping costs", self.stop_cost), ("going on", self.go_on_cost))
            if cost is not None
        ]
        known = f"; {', '.join(costs)}" if costs and self.test is not None else ""
        return f"Advice({self._action()}, {amount(self.spent)} spent{known})"


def advise(tree: Tree, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> Advice:
    """Return what to do next for a case; see `Tree.next_test`."""
    return advise_walk(Walk(tree, known, tree.context.closure_of(already_paid)))


def advise_walk(walk: Walk, brief: bool = False) -> Advice:
    """Return what to do next for a case on its path.

    A brief advice has no `paid`, `spent`, `training_cases`, `waits` and `extras`, and its `order` names the tests
    without their parts of the price: these take half of the time, which counts in a long worklist.
    """
    tree, columns, pricing, order = walk.tree, walk.tree.columns, walk.pricing, walk.next_order
    charged = walk.charged | walk.known_closure
    stop = _best_answer_now(walk)
    found: dict[str, Any] = {"answer": None, "spent": 0.0}
    if order is None:
        answer = walk.answer_index()
        cost = None if stop.cost is None else float(walk.answer_costs[answer])
        now = _Answer(tree.answers[answer], cost)
        found |= {"answer": now.answer, "go_on_cost": now.cost, "reason": _why_answer(walk, now, stop)}
    else:
        charges = order_tests(pricing, order), columns, order.charged, charged, walk.amounts
        if brief:
            found["order"] = {columns[t]: 0.0 for t in charges[0] if t in order.charged and t not in charged}
        else:
            found["order"], found["extras"] = order_parts(pricing, order.test, charges)
            found["waits"] = pricing.waited(order.charged) - pricing.waited(charged)
        found |= {
            "delayed": pricing.orders_delayed(order.test, walk.charged),
            "go_on_cost": walk.go_on_cost,
            "reason": _why_go_on(walk, stop),
        }
    if not brief:
        spending = charged, walk.free, walk.amounts
        found["spent"] = pricing.price(*spending)
        found["paid"] = pricing.items(sorted(pricing.tests(charged)), columns, *spending)
        found["training_cases"] = _cases_here(walk)
    return Advice(
        test=None if order is None else columns[order.test],
        price=0.0 if order is None else pricing.price(order.charged, charged, walk.amounts),
        commits=() if order is None else tuple(columns[t] for t in order.commits if t not in charged),
        probabilities=dict(zip(tree.classes, walk.shares.tolist(), strict=True)),
        stop_answer=stop.answer,
        stop_cost=stop.cost,
        unavailable=tuple(columns[t] for t in walk.unavailable()),
        charged=charged,
        amounts=None if walk.amounts is None else tuple(walk.amounts),
        **found,
    )


class _Answer(NamedTuple):
    answer: Any
    cost: float | None  # expected, in errors; None: unknown


def _cases_here(walk: Walk) -> dict[Any, float]:
    if len(walk.positions) > 1:
        return {}
    tree = walk.tree
    weights = tree.nodes.weights[walk.positions[0].node]
    return dict(zip(tree.classes, weights.tolist(), strict=True)) if weights.any() else {}


def shares_text(probabilities: Mapping[Any, float], training_cases: Mapping[Any, float]) -> str:
    """Return class probabilities as text, beside the training cases that they do not simply count.

    Examples
    --------
    >>> shares_text({"a": 0.75, "b": 0.25}, {"a": 3.0, "b": 1.0})
    'a 75%, b 25%'
    >>> shares_text({"a": 0.6, "b": 0.4}, {"a": 3.0, "b": 1.0})
    'expected: a 60%, b 40%; training cases here: a 3, b 1'
    """
    expected = ", ".join(f"{label} {share:.0%}" for label, share in probabilities.items())
    total = sum(training_cases.values())
    counted = ", ".join(f"{label} {weight / total:.0%}" for label, weight in training_cases.items())
    if counted in ("", expected):
        return expected
    cases = ", ".join(f"{label} {weight_text(weight)}" for label, weight in training_cases.items() if weight)
    return f"expected: {expected}; training cases here: {cases}"


def order_tests(pricing: Pricing, order: TestOrder) -> list[int]:
    """Return the tests of an order: the test itself, then those it commits to, then what they require."""
    return list(dict.fromkeys([order.test, *order.commits, *sorted(pricing.tests(order.charged))]))


def order_parts(
    pricing: Pricing, test: int, charges: tuple[list[int], Sequence[str], Set[int], Set[int], Sequence[float] | None]
) -> tuple[dict[str, float], dict[str, tuple[Extra, ...]]]:
    """Return what each test of an order adds to its price, and the surcharges and waits in that.

    A result in hand may come with a surcharge or a wait that the case is charged for only now, when the order is made:
    they stand with the test to do. `charges` are the arguments of `Pricing.items`.
    """
    _, columns, charged, paid, amounts = charges
    items, extras = pricing.items(*charges), pricing.extras(*charges)
    if in_hand := pricing.extras_in_hand(columns, charged, paid, amounts):
        name = columns[test]
        others = math.fsum(price for other, price in items.items() if other != name)
        items = {name: pricing.price(charged, paid, amounts) - others} | {
            other: price for other, price in items.items() if other != name
        }
        extras[name] = (*extras.get(name, ()), *in_hand)
    return items, extras


def priced_items(prices: Mapping[str, float], extras: Mapping[str, tuple[Extra, ...]]) -> list[str]:
    """Return tests with their prices, surcharges and waits as text, e.g. "dye 112.00 (wait 24: 12.00)"."""
    return [f"{name} {amount(price)}{extras_text(extras.get(name, ()))}" for name, price in prices.items()]


def extras_text(extras: Sequence[Extra]) -> str:
    """Return surcharges and waits in parentheses, after a space; nothing if there are none."""
    return f" ({'; '.join(map(str, extras))})" if extras else ""


def _best_answer_now(walk: Walk) -> _Answer:
    """Return the answer with the least expected error cost, if the tree has weights to tell."""
    if not walk.tree.has_weights:
        return _Answer(None, None)
    best = walk.cheapest_answer()
    return _Answer(walk.tree.answers[best], float(walk.answer_costs[best]))


def _why_go_on(walk: Walk, stop: _Answer) -> str:
    if stop.cost is None:
        return "The tree asks for this test here; expected costs are unknown because the tree has no training weights."
    now = f"Answering {stop.answer} now is expected to cost {amount(stop.cost)} in errors"
    if walk.go_on_cost is None:
        why = "some branches have no training weights"
        if not walk.tree.may_stop and (unavailable := [walk.tree.columns[t] for t in walk.unavailable()]):
            why = f"{enumeration(unavailable)} is unavailable and this tree then does all tests that it asks for"
        return f"{now}; the cost of going on is unknown because {why}."
    gain = stop.cost - walk.go_on_cost
    if amount(gain) == amount(0):
        difference = "the same"
    elif gain > 0:
        difference = f"{amount(gain)} less"
    else:
        difference = f"{amount(-gain)} more. {_why_although_it_does_not_pay(walk, stop)}"
    return f"{now}; going on {amount(walk.go_on_cost)} in tests and errors, {difference}."


def _why_although_it_does_not_pay(walk: Walk, stop: _Answer) -> str:
    """Return what speaks for a test that does not pay by the figures shown: the tree was grown by others."""
    answers = walk.tree.answers
    others = [str(answers[a]) for a in sorted(walk.later_answers()) if answers[a] != stop.answer]
    change = f"the results can change the answer to {' or '.join(others)}" if others else "no result changes the answer"
    return f"The tree was learned by other figures; {change}"


def _capped_test(tree: Tree, walk: Walk) -> int | None:
    """Return a test that the tree asks for where the case ends: only a cap can be the reason."""
    if tree.context.cap is None:
        return None
    tests = (int(tree.nodes.test[at.node]) for at in walk.positions)
    return next((test for test in tests if test >= 0), None)


def _why_answer(walk: Walk, now: _Answer, stop: _Answer) -> str:
    tree, why = walk.tree, "The tree asks for no further test here"
    if now.cost is None or stop.cost is None:
        return f"{why}."
    if walk.rejected is not None:
        test, cost = walk.rejected
        why = f"No further test pays: going on with {tree.columns[test]} is expected to cost {amount(cost)} in total"
    elif (capped := _capped_test(tree, walk)) is not None:
        cap = amount(float(tree.context.cap or 0.0))
        why = f"{tree.columns[capped]} is not done, because with it the tests could cost more than the cap of {cap}"
    reason = f"{why}; answering {now.answer} is expected to cost {amount(now.cost)}"
    if now.cost - stop.cost > SLACK * tree.context.bound_costs.largest_error:
        return f"{reason} in errors, answering {stop.answer} {amount(stop.cost)}."
    return f"{reason} in errors."

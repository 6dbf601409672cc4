"""The path of one case through a tree, step by step, with prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from worthwhile.costs.error_costs import is_missing
from worthwhile.table.columns import value_text
from worthwhile.tree.advice import advise, extras_text, priced_items, shares_text
from worthwhile.tree.branches import condition
from worthwhile.tree.node_costs import NodeCosts, node_costs
from worthwhile.tree.walk import Walk, WalkStep
from worthwhile.wording import amount

if TYPE_CHECKING:
    from worthwhile.costs.pricing import Extra
    from worthwhile.tree.advice import Advice
    from worthwhile.tree.tree import Tree

__all__ = ["Explanation", "Step", "explain", "steps_of"]


@dataclass(frozen=True)
class Step:
    """A test on the path of a case.

    Attributes
    ----------
    test : str
    value : object
        The value as given.
    available : bool
        False: the test is unavailable, or has a value that the tree does not know. Nothing is charged, and the case
        follows all branches in proportion.
    condition : str or None
        The branch the case takes, in words; None if it follows all of them.
    threshold : float or None
        The threshold of a numeric test.
    price : float
        What was charged here, including everything ordered with it.
    paid : bool
        The test had already been paid for.
    commits : tuple of str
        The tests that were ordered with it, because its result is delayed or because waiting for one result after
        another would cost more.
    spent : float
        Price of everything so far, this step included.
    share : float or None
        The share of the training cases that reach this node.
    stop_cost : float or None
        Expected error cost of the best answer before the test.
    expected_cost : float or None
        Expected price and error cost from here on for a case with all values available.
    tree : int
        In a forest: the index of the tree, from 0.
    order : dict
        Every test charged here, with its part of `price`: the test itself, those in `commits`, and what they require.
    shown : str
        The value as text: a date, if the test is one.
    extras : dict
        The surcharges and the wait of the tests in `order`, each an `Extra`; they are part of the prices there.
    """

    test: str
    value: Any
    available: bool
    condition: str | None
    threshold: float | None
    price: float
    paid: bool
    commits: tuple[str, ...]
    spent: float
    share: float | None
    stop_cost: float | None
    expected_cost: float | None
    tree: int = 0
    order: Mapping[str, float] = field(default_factory=dict)
    shown: str = ""
    extras: Mapping[str, tuple[Extra, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        value = self.shown or value_text(self.value)
        if not self.available:
            what = f"{self.test}: unavailable" if is_missing(self.value) else f"{self.test} = {value}: an unknown value"
            return f"{what}, not charged; the case follows all branches in proportion"
        price = "already paid" if self.paid and not self.price else amount(self.price)
        if len(self.order) > 1:
            price += f" ({', '.join(priced_items(self.order, self.extras))}, ordered at once)"
        else:
            price += extras_text(self.extras.get(self.test, ()))
        branch = f" ({self.condition})" if self.condition != value else ""
        return f"{self.test} = {value}{branch}: {price}"


@dataclass(frozen=True, repr=False)
class Explanation:
    """The path of a case through a tree or forest; `str` gives it as text.

    Attributes
    ----------
    steps : tuple of Step
        The tests in the order in which they were asked for.
    next_test : str or None
        The next test, whose value is not known yet; None: the case has its answer.
    answer : object
        None while a test is to be done first.
    probabilities : dict
        Class probabilities where the case stands.
    spent : float
        Price of what the tree asked for.
    error_cost : float or None
        Expected error cost of the answer; while a test is to be done, of the best answer now.
    why : str
        Why the tree answers, or why it asks for the next test.
    note : str
        What else is known: of `OptimalClassifier`, how many trees that cost little more begin with the same test.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> explanation = clf.explain({"x0": 3})
    >>> print(explanation)
    x0 = 3 (> 2): 4.00
    answer b (a 0%, b 100%)
    The tree asks for no further test here; answering b is expected to cost 0.00 in errors.
    tests cost 4.00
    >>> explanation.steps[0].threshold, explanation.steps[0].expected_cost, explanation.spent
    (2.0, 4.0, 4.0)
    """

    steps: tuple[Step, ...]
    next_test: str | None
    answer: Any
    probabilities: dict[Any, float]
    spent: float
    error_cost: float | None
    why: str
    text: str
    note: str = ""

    @classmethod
    def of(cls, steps: list[Step], advice: Advice, spent: float, lines: list[str]) -> Explanation:
        """Combine the steps, the lines that describe them, and the advice that follows them."""
        if advice.test is None:
            end = f"answer {advice.answer} ({shares_text(advice.probabilities, advice.training_cases)})"
        else:
            end = f"{advice.test}: not known yet; this is the next test"
        text = "\n".join([*lines, end, advice.reason, f"tests cost {amount(spent)}"])
        cost = advice.stop_cost if advice.test is not None else advice.go_on_cost
        return cls(tuple(steps), advice.test, advice.answer, advice.probabilities, spent, cost, advice.reason, text)

    def with_note(self, note: str) -> Explanation:
        """Return the explanation with a last line."""
        return replace(self, note=note, text=f"{self.text}\n{note}")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        end = f"answer {self.answer}" if self.next_test is None else f"next {self.next_test}"
        steps = ", ".join(step.test for step in self.steps) or "no test"
        return f"Explanation({steps}; {end}, {amount(self.spent)} spent)"


def explain(tree: Tree, case: Mapping[str, Any]) -> Explanation:
    """Return the path of a case through the tree; see `Tree.explain`."""
    walk = Walk(tree, case)
    steps = steps_of(walk, case, node_costs(tree))
    spent = walk.pricing.price(walk.charged, amounts=walk.amounts)
    return Explanation.of(steps, advise(tree, case), spent, [str(step) for step in steps])


def steps_of(
    walk: Walk, case: Mapping[str, Any], costs: list[NodeCosts] | None = None, spent: float = 0.0, number: int = 0
) -> list[Step]:
    """Return the steps of a walk; without `costs` their expected costs are None."""
    steps = []
    for taken in walk.steps:
        spent += taken.price
        steps.append(_step(walk.tree, case, taken, None if costs is None else costs[taken.node], spent, number))
    return steps


def _step(
    tree: Tree, case: Mapping[str, Any], taken: WalkStep, costs: NodeCosts | None, spent: float, number: int
) -> Step:
    name, available = tree.columns[taken.test], taken.branch >= 0
    return Step(
        test=name,
        value=case[name],
        available=available,
        condition=condition(tree, taken.node, taken.branch) if available else None,
        threshold=float(tree.nodes.threshold[taken.node]) if tree.schema.values[taken.test] is None else None,
        price=taken.price,
        paid=taken.paid_before,
        commits=() if taken.paid_before else tuple(tree.columns[t] for t in taken.commits),
        spent=spent,
        share=None if costs is None else costs.share,
        stop_cost=None if costs is None else costs.stop_cost,
        expected_cost=None if costs is None else costs.expected_cost,
        tree=number,
        order=taken.items,
        shown="" if is_missing(case[name]) else tree.schema.shown(name, case[name]),
        extras=taken.extras,
    )

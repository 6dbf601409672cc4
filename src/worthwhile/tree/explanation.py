"""The way of one case through a tree, step by step, in words and money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worthwhile.costs.error_costs import is_missing
from worthwhile.table.columns import value_text
from worthwhile.tree.advice import advise
from worthwhile.tree.node_costs import NodeCosts, node_costs
from worthwhile.tree.walk import Visit, Walk
from worthwhile.wording import amount, condition

if TYPE_CHECKING:
    from worthwhile.tree.advice import Advice
    from worthwhile.tree.tree import Tree

__all__ = ["Explanation", "Step", "explain", "steps_of"]


@dataclass(frozen=True)
class Step:
    """A test on the way of a case.

    Attributes
    ----------
    test : str
    value : object
        As it was given.
    available : bool
        False: the test cannot be had, or has a value that the tree does not know. Nothing is charged, and the case goes
        down all branches in proportion.
    condition : str or None
        The branch that it takes, in words; None where it takes all.
    threshold : float or None
        Of a numeric test.
    price : float
        What was charged here, everything ordered with it included.
    paid : bool
        It had been paid for before.
    commits : tuple of str
        The tests that were ordered with it because its result comes later.
    spent : float
        Price of everything so far, this step included.
    share : float or None
        The share of the training cases that comes to this node.
    stop_cost : float or None
        Expected error cost, before the test, of the best answer there.
    expected_cost : float or None
        Expected price and error cost from here on, of a case that comes here with all values to be had.
    tree : int
        Of a forest: the number of the tree, from 0.
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

    def __str__(self) -> str:
        value = value_text(self.value)
        if not self.available:
            why = "cannot be had" if is_missing(self.value) else f"= {value} is a value that the tree does not know"
            return f"{self.test}: {why}, nothing charged; the case goes down all branches in proportion"
        price = "already paid" if self.paid and not self.price else amount(self.price)
        if self.commits:
            price += f", with {', '.join(self.commits)} ordered at once"
        branch = f" ({self.condition})" if self.condition != value else ""
        return f"{self.test} = {value}{branch}: {price}"


@dataclass(frozen=True, repr=False)
class Explanation:
    """The way of a case: `str` gives it in words and money.

    Attributes
    ----------
    steps : tuple of Step
        The tests in the order in which they were asked.
    next_test : str or None
        The test that is not known yet and comes next; None: the case has its answer.
    answer : object
        None where a test is to be done first.
    probabilities : dict
        Class shares where the case stands.
    spent : float
        Price of what the tree asked for.
    error_cost : float or None
        Expected error cost of the answer; of a case that is not through, of the best answer now.
    why : str
        Why it stopped, or why the next test is to be done.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
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

    @classmethod
    def of(cls, steps: list[Step], advice: Advice, spent: float, lines: list[str]) -> Explanation:
        """Put steps, told by these lines, and what is to be done after them together."""
        if advice.test is None:
            shares = ", ".join(f"{label} {share:.0%}" for label, share in advice.probabilities.items())
            end = f"answer {advice.answer} ({shares})"
        else:
            end = f"{advice.test}: not known yet; it is the next test"
        text = "\n".join([*lines, end, advice.reason, f"tests cost {amount(spent)}"])
        cost = advice.stop_cost if advice.test is not None else advice.go_on_cost
        return cls(tuple(steps), advice.test, advice.answer, advice.probabilities, spent, cost, advice.reason, text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        end = f"answer {self.answer}" if self.next_test is None else f"next {self.next_test}"
        steps = ", ".join(step.test for step in self.steps) or "no test"
        return f"Explanation({steps}; {end}, {amount(self.spent)} spent)"


def explain(tree: Tree, case: Mapping[str, Any]) -> Explanation:
    """Return the way of a case through the tree; see `Tree.explain`."""
    walk = Walk(tree, case)
    steps = steps_of(walk, case, node_costs(tree))
    return Explanation.of(steps, advise(tree, case), walk.prices.price(walk.charged), [str(step) for step in steps])


def steps_of(
    walk: Walk, case: Mapping[str, Any], money: list[NodeCosts] | None = None, spent: float = 0.0, number: int = 0
) -> list[Step]:
    """Return the steps of a walk; without `money` it is not said what is to be expected."""
    steps = []
    for visit in walk.steps:
        spent += visit.price
        steps.append(_step(walk.tree, case, visit, None if money is None else money[visit.node], spent, number))
    return steps


def _step(
    tree: Tree, case: Mapping[str, Any], visit: Visit, money: NodeCosts | None, spent: float, number: int
) -> Step:
    name, available = tree.columns[visit.test], visit.branch >= 0
    return Step(
        test=name,
        value=case[name],
        available=available,
        condition=condition(tree, visit.node, visit.branch) if available else None,
        threshold=float(tree.nodes.threshold[visit.node]) if tree.schema.values[visit.test] is None else None,
        price=visit.price,
        paid=visit.paid_before,
        commits=() if visit.paid_before else tuple(tree.columns[t] for t in visit.commits),
        spent=spent,
        share=None if money is None else money.share,
        stop_cost=None if money is None else money.stop_cost,
        expected_cost=None if money is None else money.expected_cost,
        tree=number,
    )

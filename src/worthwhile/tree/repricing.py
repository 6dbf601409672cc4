"""A tree with other prices and error costs: the same tests, and what they and its answers cost then."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs, Prices
from worthwhile.tree.case_amounts import truth_shares
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.node_costs import least_answer, node_costs
from worthwhile.tree.nodes import Nodes
from worthwhile.tree.tree import Tree

__all__ = ["CostParts", "cost_parts", "repriced"]


class CostParts(NamedTuple):
    """What a case is expected to cost: for tests, and in errors."""

    tests: float
    errors: float

    @property
    def total(self) -> float:
        """Tests and errors together."""
        return self.tests + self.errors


def repriced(tree: Tree, costs: Costs, answers: bool = True) -> Tree:
    """Return a tree that asks for the same tests, with other prices and error costs.

    Parameters
    ----------
    tree : Tree
    costs : Costs
        The new price list; it has the tests and the classes of the tree.
    answers : bool
        Whether a tree that answers by least cost changes its answers if errors cost something else. Other trees keep
        them.

    Returns
    -------
    Tree
        Without `expected_cost`, which was measured with the old prices.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> repriced(clf.tree_, costs.with_prices({"x0": 1.5})).test_costs([[1]]).tolist()
    [1.5]
    """
    bound = tree.context.bound_costs
    context = ProblemContext.of(tree.schema, tree.classes, costs, tree.context.cap, bound.by_case)
    errors_differ = context.answers != tree.answers or not np.array_equal(context.error_costs, tree.error_costs)
    if errors_differ and tree.nodes.answer_costs is not None:
        raise ValueError(
            "errors cost each training case of this tree something else; new error costs by class do not say what "
            "they cost then: learn the tree again"
        )
    nodes = replace(tree.nodes, answer=_same_answers(tree, context), surcharges=_surcharges(tree, context))
    if errors_differ and answers and tree.answer == "least-cost" and tree.has_weights:
        nodes = replace(nodes, answer=_least_answers(tree, context))
    return Tree(nodes, context, tree.answer)


def _same_answers(tree: Tree, context: ProblemContext) -> npt.NDArray[np.int32]:
    """Return the answers of the nodes by their new numbers."""
    place = {answer: at for at, answer in enumerate(context.answers)}
    gone = [answer for answer in tree.answers if answer not in place]
    lost = {tree.answers[at] for at in np.unique(tree.nodes.answer)} & set(gone)
    if lost:
        raise ValueError(f"the tree answers {min(map(str, lost))!r}, which the new error costs do not have")
    numbers = np.array([place.get(answer, 0) for answer in tree.answers], dtype=np.int32)
    return numbers[tree.nodes.answer]


def _least_answers(tree: Tree, context: ProblemContext) -> npt.NDArray[np.int32]:
    """Return the answer of least expected cost at each node."""
    shares = tree._core_tree.shares()
    costs = shares @ context.error_costs
    largest = float(np.abs(context.error_costs).max())
    found = [least_answer(own, float(share.sum()) * largest) for own, share in zip(costs, shares, strict=True)]
    return np.array(found, dtype=np.int32)


def _surcharges(tree: Tree, context: ProblemContext) -> npt.NDArray[np.float64] | None:
    """Return what each new surcharge is expected to add at each node.

    One that the old list has, too, with another amount, adds as much more or less; of a new one, conditions on results
    are taken to hold, and the class is as likely as the tree says.
    """
    old, new = tree.context.bound_costs.prices, context.bound_costs.prices
    if tree.nodes.surcharges is None or not new.surcharges:
        return None
    shares = tree._core_tree.shares()
    truth = truth_shares(new, context.classes, shares)
    found = np.tile(new.surcharge_amount, (len(shares), 1)) * (1.0 if truth is None else truth)
    known = {_kind(old, s): s for s in range(len(old.surcharges)) if old.surcharge_amount[s]}
    for s in range(len(new.surcharges)):
        before = known.get(_kind(new, s))
        if before is not None:
            ratio = float(new.surcharge_amount[s] / old.surcharge_amount[before])
            found[:, s] = tree.nodes.surcharges[:, before] * ratio
    return found


def _kind(prices: Prices, surcharge: int) -> tuple[int, str]:
    """Return the test of a surcharge and when it applies."""
    return int(prices.surcharge_test[surcharge]), repr(replace(prices.surcharges[surcharge], amount=1.0))


def cost_parts(tree: Tree) -> CostParts | None:
    """Return what a case is expected to cost by the figures at the nodes; None if the tree has no weights.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> cost_parts(clf.tree_)
    CostParts(tests=4.0, errors=0.0)
    """
    costs = node_costs(tree)
    if costs[0].expected_cost is None:
        return None
    return _parts(tree.nodes, [own.price for own in costs], [own.expected_cost for own in costs])


def _parts(nodes: Nodes, prices: list[float], expected: list[float | None]) -> CostParts:
    found = [CostParts(0.0, 0.0)] * len(prices)
    for node in reversed(range(len(prices))):  # children come after their parents
        children = nodes.children(node)
        if not children:
            found[node] = CostParts(0.0, expected[node] or 0.0)
            continue
        shares = nodes.frequencies(node)
        tests = sum(share * found[child].tests for share, child in zip(shares, children, strict=True))
        errors = sum(share * found[child].errors for share, child in zip(shares, children, strict=True))
        found[node] = CostParts(prices[node] + tests, errors)
    return found[0]

"""What to do now for one case, and why: the walk of a single case in words and money."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile._encode import value_text
from worthwhile._errortable import is_missing

if TYPE_CHECKING:
    from worthwhile.tree import Tree

__all__ = ["Advice", "Walk", "advise", "explain", "step_text"]


@dataclass(frozen=True)
class Advice:
    """What to do now for a case: do a test, or answer.

    Attributes
    ----------
    test : str or None
        The test to do now; None: stop and answer.
    price : float
        What ordering it costs here, everything that it commits to included.
    commits : tuple of str
        The other tests that are ordered with it because its result comes later.
    answer : object
        The answer, if it is time for it, otherwise None.
    spent : float
        Price of what has been ordered so far.
    probabilities : dict
        Class shares as far as is known now.
    """

    test: str | None
    price: float
    commits: tuple[str, ...]
    answer: Any
    spent: float
    probabilities: dict[Any, float] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.test is None:
            return f"answer {self.answer} ({self.spent:.2f} spent)"
        also = f", which also orders {', '.join(self.commits)}" if self.commits else ""
        return f"do {self.test} for {self.price:.2f}{also} ({self.spent:.2f} spent)"


@dataclass
class _Step:
    """A node on the way of a case, and what happened there."""

    node: int
    test: int
    branch: int  # -1: unavailable
    price: float = 0.0  # beyond what was charged before, in other branches too
    paid_before: bool = False
    commits: tuple[int, ...] = ()


class Walk:
    """The way of a case: its steps, what is charged, and where it stands with which share."""

    def __init__(self, tree: Tree, known: Mapping[str, Any], paid: frozenset[int] = frozenset()) -> None:
        self.tree, self.prices = tree, tree._prices
        self.case = tree.schema.read_case(known)
        self.steps: list[_Step] = []
        self.charged = paid
        self.standing: list[_Place] = []  # leaves, and nodes that wait for their test
        todo = [_Place(0, 1.0, paid)]
        while todo:
            place = self._descend(todo.pop())
            branch_shares = enumerate(tree.nodes.shares(place.node)) if self._is_known(place.node) else ()
            ways = [(share, b) for b, share in branch_shares if share > 0]
            if not ways:
                self.standing.append(place)
            for share, b in sorted(ways, key=lambda way: (way[0], -way[1])):  # the heaviest last, to be walked first
                todo.append(_Place(tree.nodes.children(place.node)[b], place.share * share, place.paid))

    def _is_known(self, node: int) -> bool:
        return int(self.tree.nodes.test[node]) in self.case  # a leaf tests -1

    def _descend(self, place: _Place) -> _Place:
        """Follow the branches that the case takes, down to where there is none."""
        node, paid = place.node, place.paid
        while self._is_known(node):
            step = _Step(node, int(self.tree.nodes.test[node]), self.branch(node))
            self.steps.append(step)
            if step.branch < 0:
                break
            new, step.commits = self.order(node, paid)
            step.price, step.paid_before = self.prices.price(new, self.charged), step.test in self.charged
            paid |= new
            self.charged |= new
            node = self.tree.nodes.children(node)[step.branch]
        return _Place(node, place.share, paid)

    def branch(self, node: int) -> int:
        """Return the branch that the case takes at a node whose test is known, -1 where the value is of no use."""
        nodes, value = self.tree.nodes, self.case[int(self.tree.nodes.test[node])]
        if nodes.map_start[node] < 0:
            return -1 if math.isnan(value) else int(value > nodes.threshold[node])
        return -1 if value < 0 else nodes.branch_of(node)[int(value)]

    def order(self, node: int, paid: frozenset[int]) -> tuple[frozenset[int], tuple[int, ...]]:
        """Return what ordering the test of a node charges, and which other tests it commits to."""
        test = int(self.tree.nodes.test[node])
        if test in paid:
            return frozenset(), ()
        commits: set[int] = set()
        if self.prices.orders_delayed(test, paid):
            below = [n for n in subtree(self.tree, node) if not self._is_known(n) or self.branch(n) >= 0]
            commits = {int(self.tree.nodes.test[n]) for n in below} - {-1}
        return self.prices.closure({test, *commits}), tuple(sorted(commits - paid - {test}))

    def available(self) -> list[int]:
        """Return the tests whose value is known."""
        return [
            test for test, value in self.case.items() if not (math.isnan(value) or (value < 0 and self._nominal(test)))
        ]

    def _nominal(self, test: int) -> bool:
        return self.tree.schema.values[test] is not None

    def waiting(self) -> _Place | None:
        """Return the first place where a test is to be done, None if there is none."""
        return next((place for place in self.standing if self.tree.nodes.test[place.node] >= 0), None)

    def shares(self) -> npt.NDArray[np.float64]:
        """Return the class shares of where the case stands."""
        node_shares = self.tree._core_tree.shares()
        mixed: npt.NDArray[np.float64] = sum(place.share * node_shares[place.node] for place in self.standing)
        return mixed

    def answer(self) -> Any:
        """Return the answer of the tree, as for any other case."""
        table = self.tree.schema.encode_case(self.case)
        answers, _, _ = self.tree.route_table(table, 1, answers=True, prices=False, shares=False)
        return self.tree.answers[answers[0]]


@dataclass(frozen=True)
class _Place:
    """Where a share of a case stands, and what it has paid on the way there."""

    node: int
    share: float
    paid: frozenset[int]


def subtree(tree: Tree, node: int) -> Iterator[int]:
    """Yield a node and everything below it."""
    todo = [node]
    while todo:
        yield (at := todo.pop())
        todo.extend(tree.nodes.children(at))


def advise(tree: Tree, known: Mapping[str, Any]) -> Advice:
    """Return what to do now for a case; see `Tree.next_test`."""
    walk = Walk(tree, known)
    walk.charged |= walk.prices.closure(
        walk.available()
    )  # also what the tree did not ask for: it is known, so it was had
    spent = walk.prices.price(walk.charged)
    probabilities = {label: float(share) for label, share in zip(tree.classes, walk.shares(), strict=True)}
    place = walk.waiting()
    if place is None:
        return Advice(None, 0.0, (), walk.answer(), spent, probabilities)
    new, commits = walk.order(place.node, place.paid)
    also = tuple(tree.columns[t] for t in commits if t not in walk.charged)
    test = tree.columns[tree.nodes.test[place.node]]
    return Advice(test, walk.prices.price(new, walk.charged), also, None, spent, probabilities)


def explain(tree: Tree, case: Mapping[str, Any]) -> str:
    """Return the way of a case through the tree in words and money; see `Tree.explain`."""
    walk = Walk(tree, case)
    lines = [step_text(tree, case, step) for step in walk.steps]
    place = walk.waiting()
    if place is not None:
        lines.append(f"{tree.columns[tree.nodes.test[place.node]]}: not known yet; it is the next test")
    else:
        shares = zip(tree.classes, walk.shares(), strict=True)
        lines.append(f"answer {walk.answer()} ({', '.join(f'{label} {share:.0%}' for label, share in shares)})")
    lines.append(f"tests cost {walk.prices.price(walk.charged):.2f}")
    return "\n".join(lines)


def step_text(tree: Tree, case: Mapping[str, Any], step: _Step) -> str:
    """Return a step of a case in words and money."""
    name = tree.columns[step.test]
    value = value_text(case[name])
    if step.branch < 0:
        why = "cannot be had" if is_missing(case[name]) else f"= {value} is a value that the tree does not know"
        return f"{name}: {why}, nothing charged; the case goes down all branches in proportion"
    price = "already paid" if step.paid_before and not step.price else f"{step.price:.2f}"
    if step.commits and not step.paid_before:
        price += f", with {', '.join(tree.columns[t] for t in step.commits)} ordered at once"
    branch = condition(tree, step.node, step.branch)
    return f"{name} = {value}{f' ({branch})' if branch != value else ''}: {price}"


def condition(tree: Tree, node: int, branch: int) -> str:
    """Return the condition of a branch in words, e.g. "≤ 38" or "angina or abnang"."""
    column = int(tree.nodes.test[node])
    values = tree.schema.values[column]
    if values is None:
        return f"{'>' if branch else '≤'} {_number(float(tree.nodes.threshold[node]))}"
    return (
        " or ".join(v for v, b in zip(values, tree.nodes.branch_of(node), strict=True) if b == branch)
        or "no known value"
    )


def _number(value: float) -> str:
    """A threshold as people write it: whole numbers in full, others with eight digits."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.8g}"

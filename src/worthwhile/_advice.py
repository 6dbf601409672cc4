"""What to do now for one case, and why: the walk of a single case in words and money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile._encode import is_missing, value_text

if TYPE_CHECKING:
    from worthwhile.tree import Tree

__all__ = ["Advice", "advise", "explain"]


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
    price: float
    paid_before: bool
    commits: tuple[int, ...]


@dataclass
class _Walk:
    """The state of a case in the tree: its steps, what is charged, and where it stands with which share."""

    tree: Tree
    known: Mapping[str, Any]
    steps: list[_Step] = field(default_factory=list)
    charged: frozenset[int] = frozenset()
    standing: list[tuple[int, float]] = field(default_factory=list)  # leaves and nodes that wait for their test

    def go(self, node: int = 0, share: float = 1.0, paid: frozenset[int] = frozenset()) -> None:
        """Walk down from a node; where the test is unavailable, walk all branches, each with an account of its own."""
        nodes, names = self.tree.nodes, self.tree.columns
        while nodes.test[node] >= 0 and names[test := int(nodes.test[node])] in self.known:
            branch = self.branch(node)
            step = _Step(node, test, branch, 0.0, test in paid, ())
            self.steps.append(step)
            if branch < 0:
                shares = nodes.shares(node)
                order = sorted(range(len(shares)), key=lambda b: -shares[b])
                for b in order:
                    if shares[b] > 0:
                        self.go(nodes.children(node)[b], share * shares[b], paid)
                break
            if test not in paid:
                new, step.commits = self.order(node, paid)
                step.price = self.tree._prices.price(new, paid)
                paid |= new
            node = nodes.children(node)[branch]
        else:
            self.standing.append((node, share))
        self.charged |= paid

    def branch(self, node: int) -> int:
        """Return the branch that the case takes at a node whose test is in `known`, -1 where the value is of no use."""
        tree, column = self.tree, int(self.tree.nodes.test[node])
        value = self.known[tree.columns[column]]
        values = tree.schema.values[column]
        if is_missing(value):
            return -1
        if values is None:
            return int(not float(value) <= tree.nodes.threshold[node])
        text = value_text(value)
        return tree.nodes.branch_of(node)[values.index(text)] if text in values else -1

    def order(self, node: int, paid: frozenset[int]) -> tuple[frozenset[int], tuple[int, ...]]:
        """Return what ordering the test of a node charges, and which other tests it commits to."""
        prices, test = self.tree._prices, int(self.tree.nodes.test[node])
        commits: set[int] = set()
        if prices.orders_delayed(test, paid):
            below = {int(self.tree.nodes.test[n]) for n in subtree(self.tree, node)} - {-1}
            commits = {t for t in below if not self.unavailable(t)}
        return prices.closure({test, *commits}), tuple(sorted(commits - paid - {test}))

    def unavailable(self, test: int) -> bool:
        name = self.tree.columns[test]
        if name not in self.known:
            return False
        value, values = self.known[name], self.tree.schema.values[test]
        return is_missing(value) or (values is not None and value_text(value) not in values)

    def shares(self) -> npt.NDArray[np.float64]:
        """Return the class shares of where the case stands."""
        node_shares = self.tree._core_tree.shares()
        mixed: npt.NDArray[np.float64] = sum(share * node_shares[node] for node, share in self.standing)
        return mixed


def subtree(tree: Tree, node: int) -> Iterator[int]:
    """Yield a node and everything below it."""
    todo = [node]
    while todo:
        yield (at := todo.pop())
        todo.extend(tree.nodes.children(at))


def _walk(tree: Tree, known: Mapping[str, Any]) -> _Walk:
    tree.schema.encode_case(known)  # refuses unknown tests and values that are no numbers
    walk = _Walk(tree, known)
    walk.go()
    return walk


def advise(tree: Tree, known: Mapping[str, Any]) -> Advice:
    """Return what to do now for a case; see `Tree.next_test`."""
    walk = _walk(tree, known)
    spent = tree._prices.price(walk.charged)
    shares = walk.shares()
    probabilities = {label: float(share) for label, share in zip(tree.classes, shares, strict=True)}
    for node, _ in walk.standing:
        if tree.nodes.test[node] >= 0:
            test = int(tree.nodes.test[node])
            new, commits = (frozenset[int](), ()) if test in walk.charged else walk.order(node, walk.charged)
            names = tuple(tree.columns[t] for t in commits)
            return Advice(tree.columns[test], tree._prices.price(new, walk.charged), names, None, spent, probabilities)
    return Advice(None, 0.0, (), _answer(tree, known), spent, probabilities)


def _answer(tree: Tree, case: Mapping[str, Any]) -> Any:
    answers, _, _ = tree.route_table(tree.schema.encode_case(case), 1, answers=True, prices=False, shares=False)
    return tree.answers[answers[0]]


def explain(tree: Tree, case: Mapping[str, Any]) -> str:
    """Return the way of a case through the tree in words and money; see `Tree.explain`."""
    walk = _walk(tree, case)
    lines = [_step_text(tree, case, step) for step in walk.steps]
    waiting = next((node for node, _ in walk.standing if tree.nodes.test[node] >= 0), None)
    total = tree._prices.price(walk.charged)
    if waiting is not None:
        lines.append(f"{tree.columns[tree.nodes.test[waiting]]}: not known yet; it is the next test")
    else:
        shares = walk.shares()
        by_class = ", ".join(f"{label} {share:.0%}" for label, share in zip(tree.classes, shares, strict=True))
        lines.append(f"answer {_answer(tree, case)} ({by_class})")
    lines.append(f"tests cost {total:.2f}")
    return "\n".join(lines)


def _step_text(tree: Tree, case: Mapping[str, Any], step: _Step) -> str:
    name = tree.columns[step.test]
    if step.branch < 0:
        return f"{name}: cannot be had, nothing charged; the case goes down all branches in proportion"
    price = "already paid" if step.paid_before else f"{step.price:.2f}"
    if step.commits:
        price += f", with {', '.join(tree.columns[t] for t in step.commits)} ordered at once"
    return f"{name} = {value_text(case[name])} ({condition(tree, step.node, step.branch)}): {price}"


def condition(tree: Tree, node: int, branch: int) -> str:
    """Return the condition of a branch in words, e.g. "≤ 38" or "angina or abnang"."""
    column = int(tree.nodes.test[node])
    values = tree.schema.values[column]
    if values is None:
        return f"{'>' if branch else '≤'} {tree.nodes.threshold[node]:g}"
    return " or ".join(v for v, b in zip(values, tree.nodes.branch_of(node), strict=True) if b == branch) or "no known value"

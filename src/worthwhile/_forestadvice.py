"""What to do now for one case that a forest is to answer, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from worthwhile import _core
from worthwhile._advice import Advice, Walk, step_text
from worthwhile._consult import Poll
from worthwhile.tree import Tree

__all__ = ["advise_by_forest", "explain_by_forest"]


class _Hearing:
    """The trees that a case has got through with what is known, one after the other, each paid by the same purse."""

    def __init__(
        self, root: Tree, trees: Sequence[Tree], known: Mapping[str, Any], enough: Callable[[int, Poll], bool]
    ) -> None:
        self.root = root
        table = root.schema.encode_case(root.schema.read_case(known))
        ledger = _core.ForestLedger(table, root._money.core_pricing, root._money.core_errors)
        self.poll = Poll(1, len(root.classes), int(root.nodes.answer[0]))
        self.walks: list[Walk] = []
        self.votes: list[Any] = []
        self.paid: frozenset[int] = frozenset()
        self.waiting = False
        for number, tree in enumerate(trees):
            if enough(number, self.poll):
                break
            walk = Walk(tree, known, self.paid)
            self.walks.append(walk)
            self.paid = walk.charged
            if walk.waiting() is not None:
                self.waiting = True
                break
            said = ledger.consult(tree._core_tree)
            self.votes.append(tree.classes[said[0][0]])
            self.poll.add(*said)

    def answer(self) -> Any:
        return self.root.answers[int(self.poll.leaders()[0])]

    def probabilities(self) -> dict[Any, float]:
        shares = self.poll.shares(self.root._core_tree.shares()[0])[0]
        return {label: float(share) for label, share in zip(self.root.classes, shares, strict=True)}


def advise_by_forest(
    root: Tree, trees: Sequence[Tree], known: Mapping[str, Any], enough: Callable[[int, Poll], bool]
) -> Advice:
    """Return what to do now: the test that the first tree waits for that still wants one, or the answer."""
    hearing = _Hearing(root, trees, known, enough)
    charged, prices = hearing.paid, root._prices
    case = Walk(root, known)
    charged |= prices.closure(case.available())
    spent, probabilities = prices.price(charged), hearing.probabilities()
    place = hearing.walks[-1].waiting() if hearing.waiting else None
    if place is None:
        return Advice(None, 0.0, (), hearing.answer(), spent, probabilities)
    walk = hearing.walks[-1]
    new, commits = walk.order(place.node, place.paid)
    also = tuple(root.columns[t] for t in commits if t not in charged)
    test = root.columns[walk.tree.nodes.test[place.node]]
    return Advice(test, prices.price(new, charged), also, None, spent, probabilities)


def explain_by_forest(
    root: Tree, trees: Sequence[Tree], case: Mapping[str, Any], enough: Callable[[int, Poll], bool]
) -> str:
    """Return the way of a case through the trees in words and money."""
    hearing = _Hearing(root, trees, case, enough)
    lines = []
    for number, walk in enumerate(hearing.walks):
        lines.append(f"tree {number + 1} of {len(trees)}")
        lines += [f"  {step_text(walk.tree, case, step)}" for step in walk.steps]
        place = walk.waiting()
        if place is not None:
            lines.append(f"  {root.columns[walk.tree.nodes.test[place.node]]}: not known yet; it is the next test")
        else:
            lines.append(f"  votes {hearing.votes[number]}")
    if not hearing.waiting:
        shares = ", ".join(f"{label} {share:.0%}" for label, share in hearing.probabilities().items())
        lines.append(f"answer {hearing.answer()} ({shares})")
    lines.append(f"tests cost {root._prices.price(hearing.paid):.2f}")
    return "\n".join(lines)

"""What to do now for one case that a forest is to answer, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.forest.voting import Votes
from worthwhile.tree.advice import Advice, best_now
from worthwhile.tree.explanation import Explanation, steps_of
from worthwhile.tree.tree import Tree
from worthwhile.tree.walk import Walk
from worthwhile.wording import amount

__all__ = ["advise_by_forest", "explain_by_forest"]


class _Hearing:
    """The trees that a case has got through with what is known, one after the other, each paid by the same purse."""

    def __init__(
        self, root: Tree, trees: Sequence[Tree], known: Mapping[str, Any], enough: Callable[[int, Votes], bool]
    ) -> None:
        self.root, self.n_trees = root, len(trees)
        table = root.schema.encode_case(root.schema.read_case(known))
        router = _core.ForestRouter(table, root._money.core_pricing, root._money.core_errors)
        self.poll = Votes(1, len(root.classes), int(root.nodes.answer[0]))
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
            said = router.consult(tree._core_tree)
            self.votes.append(tree.classes[said[0][0]])
            self.poll.add(*said)

    def answer(self) -> int:
        return int(self.poll.leaders()[0])

    def shares(self) -> npt.NDArray[np.float64]:
        found: npt.NDArray[np.float64] = self.poll.shares(self.root._core_tree.shares()[0])[0]
        return found

    def advice(self, known: Mapping[str, Any]) -> Advice:
        """Return what to do now: the test that the first tree waits for that still wants one, or the answer."""
        root, shares = self.root, self.shares()
        case = Walk(root, known)
        case.count_known_as_paid()
        charged = self.paid | case.charged
        stop_answer, stop_cost = best_now(root, shares)
        test, price, also, delayed = self._order(charged)
        answer = None if test is not None else root.answers[self.answer()]
        go_on = None if test is not None else float(shares @ root.error_costs[:, self.answer()])
        return Advice(
            test,
            price,
            also,
            answer,
            root._prices.price(charged),
            {label: float(share) for label, share in zip(root.classes, shares, strict=True)},
            stop_answer,
            stop_cost,
            go_on,
            delayed,
            tuple(root.columns[t] for t in case.unavailable()),
            self._reason(stop_answer, stop_cost, go_on),
        )

    def _order(self, charged: frozenset[int]) -> tuple[str | None, float, tuple[str, ...], bool]:
        """Return the test that is waited for, its price, what it commits to, and whether its result comes later."""
        order = self.walks[-1].next_order() if self.waiting else None
        if order is None:
            return None, 0.0, (), False
        also = tuple(self.root.columns[t] for t in order.commits if t not in charged)
        return self.root.columns[order.test], self.root._prices.price(order.charged, charged), also, order.delayed

    def _reason(self, stop_answer: Any, stop_cost: float | None, go_on: float | None) -> str:
        heard = f"{len(self.votes)} of {self.n_trees} trees"
        if go_on is not None:
            left = "none is left to ask" if len(self.votes) == self.n_trees else "the others cannot change enough"
            return f"{heard} have voted, {left}; the answer is expected to cost {amount(go_on)} in errors."
        stop = (
            ""
            if stop_cost is None
            else f"; answering {stop_answer} now is expected to cost {amount(stop_cost)} in errors"
        )
        return (
            f"Tree {len(self.walks)} of {self.n_trees} asks for it, {heard} have voted{stop}. What going on"
            " costs cannot be said: it depends on what the trees still to be asked will say."
        )


def advise_by_forest(
    root: Tree, trees: Sequence[Tree], known: Mapping[str, Any], enough: Callable[[int, Votes], bool]
) -> Advice:
    """Return what to do now: the test that the first tree waits for that still wants one, or the answer."""
    return _Hearing(root, trees, known, enough).advice(known)


def explain_by_forest(
    root: Tree, trees: Sequence[Tree], case: Mapping[str, Any], enough: Callable[[int, Votes], bool]
) -> Explanation:
    """Return the way of a case through the trees in words and money."""
    hearing = _Hearing(root, trees, case, enough)
    lines, steps, spent = [], [], 0.0
    for number, walk in enumerate(hearing.walks):
        own = steps_of(walk, case, None, spent, number)
        spent = own[-1].spent if own else spent
        steps += own
        vote = [f"  votes {hearing.votes[number]}"] if number < len(hearing.votes) else []
        lines += [f"tree {number + 1} of {len(trees)}", *(f"  {step}" for step in own), *vote]
    return Explanation.of(steps, hearing.advice(case), root._prices.price(hearing.paid), lines)

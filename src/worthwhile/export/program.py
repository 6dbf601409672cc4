"""A tree as a program for other machines: questions about values, and at each end an answer with its price.

The program gives every case what `predict` and `test_costs` give it, also where values are missing: the rules for a
case that is divided among branches (docs/design/pricing.md) are worked out here, by walking every kind of case.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from worthwhile.costs.surcharges import Condition
from worthwhile.table.columns import BOOLEANS, value_codes
from worthwhile.tree.case_amounts import conditions_of, truth_shares
from worthwhile.tree.node_costs import subtree
from worthwhile.tree.tree import Tree
from worthwhile.tree.walk import Walk

__all__ = [
    "Cut",
    "DecisionProgram",
    "ExportError",
    "ProgramStep",
    "Refusal",
    "Step",
    "Verdict",
    "decision_program",
    "texts_of",
]

MAX_RULES = 20_000
MAX_WALKS = 50_000  # half a minute
MAX_DEPTH = 100


class ExportError(ValueError):
    """A tree, or what it does with missing values, cannot be written as a program."""


class Cut(NamedTuple):
    """Divides numbers: those up to a value and those above it; strict: those below it and the others."""

    value: float
    strict: bool = False

    @property
    def place(self) -> tuple[float, int]:
        """Sorts cuts: a strict one comes before its value, another one after it."""
        return self.value, 0 if self.strict else 1


@dataclass(frozen=True)
class Verdict:
    """The end of a program: the number of an answer, and what the tests cost."""

    answer: int
    price: float


@dataclass(frozen=True)
class Refusal:
    """The end of a program that does not answer because the value of a test is missing."""

    test: int


@dataclass(frozen=True, eq=False)
class ProgramStep:
    """Asks for the value of a test.

    Attributes
    ----------
    test : int
    parts : tuple of Cut, or tuple of tuple of str
        The cuts of a numeric test, in order: there is one child more than there are cuts. Of a nominal test, the values
        of each child.
    children : tuple
        The steps that follow, one for each part.
    missing : Step or None
        The step that follows if the value is missing, or nominal and never seen; None: this cannot be.
    """

    test: int
    parts: tuple[Cut, ...] | tuple[tuple[str, ...], ...]
    children: tuple[Step, ...]
    missing: Step | None


Step = ProgramStep | Verdict | Refusal

Interval = tuple[tuple[float, int], tuple[float, int]]  # places of cuts: above the first, below the second
Constraint = Interval | frozenset[str] | None  # what is known of a value; None: it is missing
EVERYTHING: Interval = (-math.inf, 0), (math.inf, 1)


@dataclass(frozen=True, eq=False)
class DecisionProgram:
    """A tree as a program.

    Attributes
    ----------
    tree : Tree
    root : Step
    verdicts : list of Verdict
        All of them, each once.
    """

    tree: Tree
    root: Step
    verdicts: list[Verdict]

    def asked(self) -> list[int]:
        """Return the columns that the program looks at, in column order."""
        seen: dict[int, ProgramStep] = {}
        todo = [self.root]
        while todo:
            if isinstance(step := todo.pop(), ProgramStep) and id(step) not in seen:
                seen[id(step)] = step
                todo += [*step.children, *([] if step.missing is None else [step.missing])]
        return sorted({step.test for step in seen.values()})

    @property
    def size(self) -> int:
        """Number of ways through the program."""
        return _size(self.root, {})


def decision_program(tree: Tree, missing: bool = True) -> DecisionProgram:
    """Return the program of a tree.

    Parameters
    ----------
    tree : Tree
    missing : bool
        Whether missing values get their rules; False: a case that lacks the value of a test it is charged for is
        refused.

    Raises
    ------
    ExportError
        If the tree is too deep or needs too many rules, if a value has no branch, or if there is a cap and missing
        values are to get their rules.

    Examples
    --------
    >>> tree = Tree.from_json('''{
    ...   "format": "worthwhile-tree", "version": 1, "classes": ["well", "sick"],
    ...   "columns": [{"name": "fever", "kind": "numeric"}], "costs": {"tests": {"fever": 2.0}},
    ...   "nodes": [{"test": "fever", "threshold": 38.0, "children": [1, 2]},
    ...             {"answer": "well", "weights": [6, 1]}, {"answer": "sick", "weights": [0, 3]}]}''')
    >>> root = decision_program(tree).root
    >>> root.parts, root.children
    ((Cut(value=38.0, strict=False),), (Verdict(answer=0, price=2.0), Verdict(answer=1, price=2.0)))
    >>> root.missing
    Verdict(answer=0, price=0.0)
    """
    if tree.depth > MAX_DEPTH:
        raise ExportError(f"the tree is {tree.depth} tests deep; at most {MAX_DEPTH} can be written")
    for node in np.flatnonzero(tree.nodes.map_start >= 0).tolist():
        test = int(tree.nodes.test[node])
        for value, branch in zip(tree.schema.values[test] or (), tree.nodes.branch_of(node), strict=True):
            if branch < 0:
                raise ExportError(
                    f"node {node} has no branch for the value {value!r} of the test {tree.columns[test]!r}"
                )
    if missing and tree.context.cap is not None:
        raise ExportError(
            f"with a cap ({tree.context.cap:g}), which tests a case with a missing value may still order depends on "
            "all its other values; refuse missing values instead"
        )
    builder = _Builder(tree, missing)
    root = builder.at_node(0, _State({}, frozenset()))
    verdicts = sorted(builder.verdicts, key=lambda verdict: (verdict.answer, verdict.price))
    program = DecisionProgram(tree, root, verdicts)
    if program.size > MAX_RULES:
        instead = "; refuse missing values instead" * missing
        raise ExportError(f"the tree needs {program.size} rules, at most {MAX_RULES} can be written{instead}")
    return program


def _size(step: Step, known: dict[int, int]) -> int:
    if not isinstance(step, ProgramStep):
        return 1
    if id(step) not in known:
        below = [*step.children, *([] if step.missing is None else [step.missing])]
        known[id(step)] = sum(_size(one, known) for one in below)
    return known[id(step)]


@dataclass(frozen=True, eq=False)
class _State:
    """What is known of a case: its values, as far as questions told, and the tests that the tree has asked for."""

    values: Mapping[int, Constraint]
    asked: frozenset[int]

    def with_value(self, test: int, value: Constraint) -> _State:
        return replace(self, values={**self.values, test: value})

    def having_asked(self, test: int) -> _State:
        return replace(self, asked=self.asked | {test})


Parts = tuple[Cut, ...] | tuple[tuple[str, ...], ...]
Then = Callable[[int, _State], Step]  # what follows for a part of the values; -1: the value is missing


class _Builder:
    """Builds the program of a tree; equal steps are made once."""

    def __init__(self, tree: Tree, missing: bool) -> None:
        self._tree, self._missing = tree, missing
        self._prices = tree.context.bound_costs.prices
        self._conditions = conditions_of(tree.schema, self._prices)
        self._made: dict[tuple[object, ...], ProgramStep] = {}
        self._walks = 0
        self.verdicts: dict[Verdict, Verdict] = {}

    # ---- the tree's own questions, while the case is in one place

    def at_node(self, node: int, state: _State) -> Step:
        """Return the program of a case at a node that has met no missing value."""
        nodes, test = self._tree.nodes, int(self._tree.nodes.test[node])
        if test < 0:
            return self._finish(state)
        if not self._affordable(node, state):  # an unavailable test costs nothing: it would divide the case
            return self._ask_whether_available(test, state)
        children = nodes.children(node)
        values = self._tree.schema.values[test]
        if values is None:
            parts: Parts = (Cut(float(nodes.threshold[node])),)
        else:
            taken = nodes.branch_of(node)
            parts = tuple(
                tuple(v for v, b in zip(values, taken, strict=True) if b == branch) for branch in range(len(children))
            )

        def then(part: int, after: _State) -> Step:
            after = after.having_asked(test)
            if part >= 0:
                return self.at_node(children[part], after)
            return self._divide(node, after) if self._missing else Refusal(test)

        return self._ask(test, parts, state, then)

    def _affordable(self, node: int, state: _State) -> bool:
        """Return whether a case goes on at a node; only a cap can be the reason if it does not."""
        if self._tree.context.cap is None or int(self._tree.nodes.test[node]) in state.asked:
            return True
        walk = self._walk(state)
        return walk.next_order is not None and len(walk.positions) == 1 and walk.positions[0].node == node

    def _divide(self, node: int, state: _State) -> Step:
        """Return the program of a case that is divided at a node: first what is known is told apart as the tree below
        does, then one test after another is asked for."""
        below = list(subtree(self._tree, node))
        for test in sorted({int(self._tree.nodes.test[n]) for n in below} & state.asked):
            parts = self._parts_below(test, below)
            if state.values[test] is not None and len(_pieces(state.values[test], parts)) > 1:
                return self._ask(test, parts, state, lambda _, after: self._divide(node, after))
        return self._go_on(node, below, state)

    def _go_on(self, node: int, below: Sequence[int], state: _State) -> Step:
        walk = self._walk(state)
        if walk.next_order is None:
            return self._finish(state)
        test = walk.next_order.test

        def then(part: int, after: _State) -> Step:
            if part < 0 and not self._missing:
                return Refusal(test)
            return self._go_on(node, below, after.having_asked(test))

        return self._ask(test, self._parts_below(test, below), state, then)

    def _parts_below(self, test: int, below: Sequence[int]) -> Parts:
        """Return the parts of the values of a test that some nodes tell apart."""
        nodes, values = self._tree.nodes, self._tree.schema.values[test]
        asking = [node for node in below if nodes.test[node] == test]
        if values is None:
            return tuple(Cut(float(value)) for value in np.unique(nodes.threshold[asking]).tolist())
        ways = list(zip(*(nodes.branch_of(node) for node in asking), strict=True)) if asking else [()] * len(values)
        kinds = dict.fromkeys(ways)
        return tuple(tuple(v for v, way in zip(values, ways, strict=True) if way == kind) for kind in kinds)

    # ---- the end: what the answer is, and what the case has paid

    def _finish(self, state: _State) -> Step:
        """Return the answer and the price, after questions that only the price depends on."""
        walk = self._walk(state)
        used = {int(test) for test in np.unique(self._tree.nodes.test) if test >= 0}
        for test in sorted((used & walk.charged) - state.asked - state.values.keys()):
            # An order commits to this test, which is not charged if it is unavailable.
            if self._walk(state.with_value(test, None).having_asked(test)).charged != walk.charged:
                return self._ask_whether_available(test, state)
        return self._price(state, walk, {})

    def _ask_whether_available(self, test: int, state: _State) -> Step:
        values = self._tree.schema.values[test]

        def then(part: int, after: _State) -> Step:
            if part < 0 and not self._missing:
                return Refusal(test)
            return self._finish(after.having_asked(test) if part < 0 else after)

        return self._ask(test, () if values is None else (values,), state, then)

    def _price(self, state: _State, walk: Walk, holds: Mapping[int, bool]) -> Step:
        """Return the verdict, after asking whether the surcharges of the case hold."""
        n_tests = self._tree.pricing.n_tests
        for s, conditions in enumerate(self._conditions):
            if n_tests + s not in walk.charged or s in holds:
                continue
            return self._ask_conditions(state, walk, holds, s, conditions)
        amounts = [*self._prices.marginal.tolist(), *self._prices.surcharge_amount.tolist()]
        shares = truth_shares(self._prices, self._tree.classes, walk.shares[None, :])
        for s, hold in holds.items():
            amounts[n_tests + s] *= hold * (1.0 if shares is None else float(shares[0, s]))
        price = self._tree.pricing.price(walk.charged, frozenset(), amounts)
        verdict = Verdict(walk.answer_index(), price)
        return self.verdicts.setdefault(verdict, verdict)

    def _ask_conditions(
        self,
        state: _State,
        walk: Walk,
        holds: Mapping[int, bool],
        surcharge: int,
        conditions: Sequence[tuple[int, Condition]],
    ) -> Step:
        """Ask whether all conditions of a surcharge on results hold."""
        if not conditions:
            return self._price(state, walk, {**holds, surcharge: True})
        (test, condition), rest = conditions[0], conditions[1:]
        parts, meets = _condition_parts(self._tree.schema.values[test], condition)

        def then(part: int, after: _State) -> Step:
            if part < 0 or not meets[part]:
                return self._price(after, walk, {**holds, surcharge: False})
            return self._ask_conditions(after, walk, holds, surcharge, rest)

        return self._ask(test, parts, state, then)

    # ---- steps

    def _walk(self, state: _State) -> Walk:
        self._walks += 1
        if self._walks > MAX_WALKS:
            raise ExportError(
                f"the tree needs more than {MAX_RULES} rules for missing values; refuse missing values instead"
            )
        known = {test: state.values[test] for test in state.asked}
        columns = self._tree.columns
        return Walk(self._tree, {columns[test]: _example(value) for test, value in known.items()})

    def _ask(self, test: int, parts: Parts, state: _State, then: Then) -> Step:
        """Return a question about a test, or what follows at once if the answer is known already."""
        if test in state.values and state.values[test] is None:
            return then(-1, state)
        values = self._tree.schema.values[test]
        known = state.values.get(test, EVERYTHING if values is None else frozenset(values))
        pieces = _pieces(known, parts)
        missing = None if test in state.values else then(-1, state.with_value(test, None))
        if not pieces:  # a nominal column without values
            assert missing is not None
            return missing
        children = [then(part, state.with_value(test, piece)) for part, piece in pieces]
        return self._question(test, values is None, pieces, parts, children, missing)

    def _question(
        self,
        test: int,
        is_numeric: bool,
        pieces: Sequence[tuple[int, Constraint]],
        parts: Parts,
        children: Sequence[Step],
        missing: Step | None,
    ) -> Step:
        """Return a question whose neighbouring parts differ; without one, what follows."""
        if all(child is children[0] for child in children) and (missing is None or missing is children[0]):
            return children[0]
        kept: list[Step] = []
        own: list[object] = []
        for (part, piece), child in zip(pieces, children, strict=True):
            if is_numeric:
                if kept and kept[-1] is child:
                    continue
                if kept:
                    own.append(parts[part - 1])
                kept.append(child)
            else:
                assert isinstance(piece, frozenset)
                values = [value for value in self._tree.schema.values[test] or () if value in piece]
                at = next((i for i, one in enumerate(kept) if one is child), None)
                if at is None:
                    kept.append(child)
                    own.append(tuple(values))
                else:
                    own[at] = (*own[at], *values)  # type: ignore[misc]
        key = (test, tuple(own), *map(id, kept), id(missing))
        if key not in self._made:
            self._made[key] = ProgramStep(test, tuple(own), tuple(kept), missing)  # type: ignore[arg-type]
        return self._made[key]


def _pieces(known: Constraint, parts: Parts) -> list[tuple[int, Constraint]]:
    """Return the parts that a value may be in, each with what is known then."""
    assert known is not None
    if isinstance(known, frozenset):
        found = [(part, known & frozenset(own)) for part, own in enumerate(parts)]
        return [(part, piece) for part, piece in found if piece]
    cuts: list[Cut] = list(parts)  # type: ignore[arg-type]
    places = [EVERYTHING[0], *(cut.place for cut in cuts), EVERYTHING[1]]
    pieces: list[tuple[int, Constraint]] = []
    for part, (low, high) in enumerate(itertools.pairwise(places)):
        piece = max(low, known[0]), min(high, known[1])
        if _number_in(piece) is not None:
            pieces.append((part, piece))
    return pieces


def _number_in(interval: Interval) -> float | None:
    """Return a number above the first cut and below the second; None if there is none."""
    (low, above), (high, below) = interval
    number = 0.0 if math.isinf(high) else high if below else math.nextafter(high, -math.inf)
    if not math.isinf(low):
        number = math.nextafter(low, math.inf) if above else low
    return number if (low, above) <= (number, 0) and (number, 1) <= (high, below) and not math.isinf(number) else None


def _example(value: Constraint) -> float | str | None:
    """Return a value as `next_test` takes it."""
    if value is None:
        return None
    return min(value) if isinstance(value, frozenset) else _number_in(value)


def _condition_parts(values: tuple[str, ...] | None, condition: Condition) -> tuple[Parts, list[bool]]:
    """Return the parts of the values that a condition tells apart, and which of them meet it."""
    if values is not None:
        meets = [value for value in values if condition.holds(value)]
        return (tuple(meets), tuple(value for value in values if value not in meets)), [True, False]
    if condition.is_comparison:
        bound = float(condition.values[0])
        upwards = condition.operator[0] == ">"
        return (Cut(bound, condition.operator in ("<", ">=")),), [not upwards, upwards]
    numbers = sorted(_numbers(condition))
    cuts = tuple(Cut(number, strict) for number in numbers for strict in (True, False))
    return cuts, [False, *(meet for _ in numbers for meet in (True, False))]


def _numbers(condition: Condition) -> Iterator[float]:
    for value in dict.fromkeys(condition.values):
        try:
            yield float(value)
        except ValueError:
            continue


def texts_of(values: tuple[str, ...], part: tuple[str, ...]) -> list[str]:
    """Return how some values of a nominal test may be written in other programs.

    Examples
    --------
    >>> texts_of(("False", "True"), ("True",)), texts_of(("red", "blue"), ("red",))
    (['True', '1', 'true', 'TRUE'], ['red'])
    """
    own = {code for code, text in enumerate(values) if text in part}
    texts = [text for text, code in value_codes(values).items() if code in own]
    if set(values) <= {*BOOLEANS, "0", "1"}:
        texts += [other for text in texts if text in BOOLEANS for other in (text.lower(), text.upper())]
    return texts

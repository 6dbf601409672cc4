"""Advice for a whole table of cases: what to order next for each, or its answer (docs/howto/batch-advice.md).

Cases that stand at the same node of a tree, with the same tests done, ordered and unavailable, get the same advice, so
it is worked out once for each such group.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from worthwhile.costs.table_pricing import TablePricing
from worthwhile.table.columns import Columns, Factor, as_frame, frame_names, is_frame, read_columns, value_codes
from worthwhile.table.frames import pandas_for
from worthwhile.table.schema import Schema
from worthwhile.tree.advice import Advice, advise_walk
from worthwhile.tree.case_amounts import case_amounts, surcharges_apply, truth_shares
from worthwhile.tree.node_costs import subtree
from worthwhile.tree.walk import Walk, case_walker

if TYPE_CHECKING:
    from worthwhile.tree.context import ProblemContext
    from worthwhile.tree.tree import Tree

__all__ = [
    "NOT_ASKED",
    "PENDING",
    "UNAVAILABLE",
    "VALUE",
    "AdviceColumns",
    "Worklist",
    "advise_tree",
    "as_table",
    "columns_of_rows",
    "distinct_rows",
    "object_array",
]

NOT_ASKED, VALUE, PENDING, UNAVAILABLE = range(4)  # what is known of a test of a case

Ints = npt.NDArray[np.int64]
States = npt.NDArray[np.int8]
AdviceColumns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Worklist:
    """Cases with what is known of each test.

    Attributes
    ----------
    context : ProblemContext
    columns : Columns
        The values.
    arrays : list of array
        The values as the core has them.
    states : int8 (cases, tests)
        NOT_ASKED, VALUE, PENDING or UNAVAILABLE.
    free : tuple of str
        Tests that others have paid for.
    """

    context: ProblemContext
    columns: Columns
    arrays: list[npt.NDArray[Any]]
    states: States
    free: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        context: ProblemContext,
        columns: Columns,
        unavailable: Any = None,
        pending: Any = None,
        already_paid: Iterable[str] = (),
    ) -> Worklist:
        """Check what is known; a value that no training case had counts as unavailable, as in `predict`."""
        free = () if already_paid == () else already_paid
        context.closure_of(free)  # reports a misspelt test
        arrays = context.schema.arrays(columns)
        shape = columns.n_cases, len(context.columns)
        states = np.full(shape, NOT_ASKED, dtype=np.int8)
        for test, (array, given) in enumerate(zip(arrays, columns.arrays, strict=True)):
            states[_is_given(context.schema, test, given), test] = UNAVAILABLE
            has_value = ~np.isnan(array) if context.schema.values[test] is None else array >= 0
            states[has_value, test] = VALUE
        for what, state, marks in (("unavailable", UNAVAILABLE, unavailable), ("pending", PENDING, pending)):
            marked = _marks(context, what, marks, shape)
            for row, test in np.argwhere(marked & (states != NOT_ASKED))[:1]:
                name = context.columns[test]
                known = "a value" if states[row, test] == VALUE else "an unknown value, or is marked as unavailable"
                raise ValueError(f"row {row} is marked as {what} for the test {name!r}, but it has {known}")
            states[marked] = state
        return cls(context, columns, arrays, states, tuple(free))

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return self.columns.n_cases

    @functools.cached_property
    def prices_differ(self) -> bool:
        """Whether a price depends on the case or on the sequence of orders, or there is a cap."""
        context = self.context
        by_case = context.has_surcharges or context.cap is not None
        return by_case or bool(len(context.bound_costs.prices.waiting))

    @functools.cached_property
    def charged(self) -> dict[int, npt.NDArray[np.bool_]]:
        """The tests that each case has a result of (VALUE) and waits for (PENDING), with all that they require."""
        n_tests = len(self.context.columns)
        closure = np.zeros((n_tests, n_tests), dtype=np.bool_)
        for test in range(n_tests):
            closure[test, list(self.context.pricing.closure([test]))] = True
        return {state: (self.states == state) @ closure for state in (VALUE, PENDING)}

    @functools.cached_property
    def paid(self) -> npt.NDArray[np.bool_]:
        """The tests that are ordered or paid for by others, with all that they require: (cases, tests)."""
        found = self.charged[PENDING].copy()
        found[:, list(self.context.closure_of(self.free))] = True
        return found

    def amounts(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
        """Return what tests and surcharges cost each case, whose class probabilities are `shares`.

        None: as the price list says. Results that are not known yet are taken to be surcharged.
        """
        context, prices = self.context, self.context.bound_costs.prices
        not_known = (self.states == NOT_ASKED) | (self.states == PENDING)
        applies = surcharges_apply(context.schema, prices, self.columns, not_known)
        truth = truth_shares(prices, context.classes, shares)
        return case_amounts(context.bound_costs, context.columns, None, applies, truth)

    def free_items(self, pricing: TablePricing) -> npt.NDArray[np.bool_]:
        """Return what others have paid for, among all items."""
        found: npt.NDArray[np.bool_] = pricing.nothing(1)[0]
        found[list(self.context.closure_of(self.free))] = True
        return found

    def results(self, rows: Ints) -> list[dict[int, float]]:
        """Return what is known of some cases, as `Schema.read_case` does."""
        states = self.states[rows].tolist()
        values = np.column_stack([array[rows].astype(np.float64) for array in self.arrays]).tolist()
        return [
            {t: own[t] for t, mark in enumerate(marks) if mark in (VALUE, UNAVAILABLE)}
            for marks, own in zip(states, values, strict=True)
        ]

    def walks(self, tree: Tree, rows: Ints) -> Iterator[Walk]:
        """Yield the paths of some cases down a tree."""
        paid, kind = np.unique(self.paid[rows], axis=0, return_inverse=True)
        sets = [frozenset(np.flatnonzero(own).tolist()) for own in paid]
        walker = case_walker(tree, self.context.schema.encode(self.columns))
        for row, case, own in zip(rows.tolist(), self.results(rows), kind.ravel().tolist(), strict=True):
            yield Walk(tree, {}, sets[own], case=case, within=(walker, row))


def _is_given(schema: Schema, test: int, column: Any) -> npt.NDArray[np.bool_]:
    """Return where a column has a value, whether it is known or not."""
    return column.codes >= 0 if isinstance(column, Factor) else ~np.isnan(column)


def _marks(context: ProblemContext, what: str, marks: Any, shape: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Return which tests of which cases are marked: an array for all tests, or a frame with some of them by name."""
    found = np.zeros(shape, dtype=np.bool_)
    if marks is None:
        return found
    marks = as_frame(marks)
    if is_frame(marks, named=True):
        names = [str(name) for name in frame_names(marks) or []]
        context.closure_of(names)
        columns = read_columns(marks)
        if columns.n_cases != shape[0]:
            raise ValueError(f"{what} has {columns.n_cases} rows, expected {shape[0]}: one per case")
        for name, column in zip(names, columns.arrays, strict=True):
            codes = column.translated(value_codes(("False", "True"))) if isinstance(column, Factor) else column
            found[:, context.schema.position[name]] = codes == 1
        return found
    array = np.asarray(marks)
    if array.shape != shape or array.dtype != np.bool_:
        kind = "True or False for each case and test, or a frame with some tests by name"
        raise ValueError(f"{what} has the shape {array.shape} and type {array.dtype}, expected {shape}: {kind}")
    return array


def as_table(found: AdviceColumns, frame: bool | Literal["auto"] = "auto") -> Any:
    """Return advice as a frame of pandas, or, without pandas, as arrays by name."""
    pandas = pandas_for(frame)
    return found if pandas is None else pandas.DataFrame(found)


def advise_tree(tree: Tree, cases: Worklist) -> AdviceColumns:
    """Return what `Tree.next_test` says for each case."""
    groups = _Groups(tree, cases)
    first, group = groups.find()
    found: list[Advice] = []
    charged: list[frozenset[int]] = []
    for walk in cases.walks(tree, first):
        found.append(advise_walk(walk, brief=True))
        charged.append(found[-1].charged if groups.exact else walk.charged - walk.free)
    pricing = TablePricing(cases.context.bound_costs)
    items = pricing.nothing(len(first))
    at = np.repeat(np.arange(len(first)), np.array([*map(len, charged)], dtype=np.int64))
    items[at, np.array([item for own in charged for item in own], dtype=np.int64)] = True
    everything = items[group]
    if not groups.exact:  # cases of a group may have other tests done, of which its advice does not speak
        everything[:, : pricing.n_tests] |= cases.charged[VALUE] | cases.charged[PENDING]
    amounts = np.array([advice.amounts for advice in found])[group] if cases.context.has_surcharges else None
    return _columns(cases, found, group, pricing.price(everything, amounts, cases.free_items(pricing)))


def _columns(cases: Worklist, found: Sequence[Advice], group: Ints, spent: npt.NDArray[np.float64]) -> AdviceColumns:
    """Return the columns of the result from the advice of each group."""
    position = cases.context.schema.position

    def texts(values: Iterable[Any]) -> npt.NDArray[Any]:
        return object_array(values)[group]

    return columns_of_rows(
        cases,
        np.array([-1 if a.test is None else position[a.test] for a in found], dtype=np.int64)[group],
        tests=texts("" if a.test is None else ";".join(_ordered_now(a)) for a in found),
        price=np.array([a.price for a in found])[group],
        saving=np.array([np.nan if a.test is None or a.gain is None else a.gain for a in found])[group],
        spent=spent,
        answer=texts(a.answer for a in found),
        reason=texts(a.reason for a in found),
    )


def columns_of_rows(cases: Worklist, test: Ints, **columns: npt.NDArray[Any]) -> AdviceColumns:
    """Return the columns of the result from those of each case; `test` is the next test, or -1: the case is answered.

    Tests and answers are left out where the other one counts.
    """
    asks = test >= 0
    action = np.where(asks, "order", "answer").astype(object)
    rows = np.flatnonzero(asks)
    action[rows[cases.states[rows, test[rows]] == PENDING]] = "wait"
    answer = columns["answer"].copy()
    answer[asks] = None
    return {"action": action, **columns, "answer": answer}


def object_array(values: Iterable[Any]) -> npt.NDArray[Any]:
    """Return values as they are in an array; numpy would make numbers of some and tables of others."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def _ordered_now(advice: Advice) -> list[str]:
    """Return the tests to order now: the test itself, those it commits to, and what they require."""
    return list(dict.fromkeys([advice.test or "", *advice.order]))


def distinct_rows(signature: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the first row of each kind of row, and the kind of every row."""
    packed = np.ascontiguousarray(signature)
    if not packed.size:
        return np.zeros(min(len(packed), 1), dtype=np.int64), np.zeros(len(packed), dtype=np.int64)
    raw = packed.view(np.dtype((np.void, packed.dtype.itemsize * packed.shape[1]))).ravel()
    _, first, group = np.unique(raw, return_index=True, return_inverse=True)
    return first, group


def _branches(tree: Tree, cases: Worklist, node: int, rows: Ints) -> Ints:
    """Return the branch that each of some cases takes at a node; -1 where it has none, or no value."""
    nodes, test = tree.nodes, int(tree.nodes.test[node])
    values = cases.arrays[test][rows]
    if nodes.map_start[node] < 0:
        taken = (values > nodes.threshold[node]).astype(np.int64)
    else:
        taken = np.array([*nodes.branch_of(node), -1], dtype=np.int64)[values]
    return np.where(cases.states[rows, test] == VALUE, taken, -1)


class _Groups:
    """Divides cases into groups that get the same advice from a tree.

    A case goes down the tree as far as its values lead. From the node where it then stands, its advice depends on what
    is left of the tree below: values that are known decide branches, other tests are asked for, pending or unavailable,
    at a price that depends on what was charged before. Where an order above commits to other tests, it depends on
    those, too. If a price depends on the case or on the sequence of orders, or there is a cap, all that is known
    counts.
    """

    def __init__(self, tree: Tree, cases: Worklist) -> None:
        self._tree, self._cases = tree, cases
        self.exact = cases.prices_differ or tree.has_unknown_values
        self._charges: dict[int, Ints] = {}

    def find(self) -> tuple[Ints, Ints]:
        """Return the first case of each group, and the group of every case."""
        first: list[Ints] = []
        group = np.zeros(self._cases.n_cases, dtype=np.int64)
        extra = surcharges_apply(
            self._cases.context.schema, self._cases.context.bound_costs.prices, self._cases.columns
        )
        n_groups = 0
        for node, rows in self._standing().items():
            parts: list[npt.NDArray[Any]] = []
            if self.exact or not self._tree.may_stop:
                parts.append(self._cases.states[rows][:, self._relevant(node)])
            if self.exact:
                below = np.fromiter(subtree(self._tree, 0), dtype=np.int64)
                parts += [self._values(test, below, rows)[:, None] for test in self._asked(below)]
                parts.append(extra[rows])
            else:
                parts.append(self._rest(node, rows)[:, None])
                absent = self._cases.states[rows][:, self._tests_below(node)] == UNAVAILABLE
                parts.append(absent.any(axis=1)[:, None])  # then a case stops where no further test pays
                if (scope := self._scope(node)) != node:  # all of it is ordered now, but for these
                    states = self._cases.states[rows][:, self._tests_below(scope)]
                    parts.append(np.where(states >= PENDING, states, NOT_ASKED))
            own_first, own = distinct_rows(np.hstack([part.astype(np.int64) for part in parts]))
            first.append(rows[own_first])
            group[rows] = own + n_groups
            n_groups += len(own_first)
        return np.concatenate(first) if first else np.zeros(0, dtype=np.int64), group

    def _standing(self) -> dict[int, Ints]:
        """Return the cases at each node where values no longer lead on."""
        nodes, found = self._tree.nodes, {}
        at: dict[int, Ints] = {0: np.arange(self._cases.n_cases)}
        for node in range(self._tree.n_nodes):  # children come after their parents
            rows = at.pop(node, None)
            if rows is None or not len(rows):
                continue
            test = int(nodes.test[node])
            branch = np.full(len(rows), -1) if test < 0 else _branches(self._tree, self._cases, node, rows)
            if (branch < 0).any():
                found[node] = rows[branch < 0]
            for b, child in enumerate(nodes.children(node)):
                at[child] = rows[branch == b]
        return found

    def _rest(self, top: int, rows: Ints) -> Ints:
        """Number what is left of the tree below a node: values that are known decide their branches."""
        found: dict[int, Ints] = {}
        n_numbers = self._tree.n_nodes  # a leaf has its own
        for node in sorted(subtree(self._tree, top), reverse=True):  # children come after their parents
            test, children = int(self._tree.nodes.test[node]), self._tree.nodes.children(node)
            if test < 0:
                found[node] = np.full(len(rows), node)
                continue
            branch = _branches(self._tree, self._cases, node, rows)
            below = np.column_stack([found.pop(child) for child in children])
            number = below[np.arange(len(rows)), branch]
            counting, tests = np.flatnonzero(branch < 0), [test]
            if self._commits(node):  # an order from here commits to them, even if the value is known
                counting, tests = np.arange(len(rows)), self._tests_below(node)
                below = np.where((branch < 0)[:, None], below, number[:, None])
            here = [self._charge(each)[rows[counting]] for each in tests]
            first, kind = distinct_rows(np.column_stack([*here, below[counting]]))
            number[counting] = n_numbers + kind
            n_numbers += len(first)
            found[node] = number
        return found[top]

    def _charge(self, test: int) -> Ints:
        """Number what ordering a test charges each case for: what is done, ordered or paid of it and of its groups."""
        if test not in self._charges:
            prices, cases = self._tree.context.bound_costs.prices, self._cases
            members = sorted(self._tree.pricing.closure([test]))
            groups = sorted({group for member in members for group in prices.groups_of(member)})
            key: list[npt.NDArray[Any]] = [cases.states[:, members]]
            for charged in cases.charged.values():
                key += [charged[:, members], *(np.any(charged[:, prices.members(g)], axis=1) for g in groups)]
            _, self._charges[test] = distinct_rows(np.column_stack(key).astype(np.int8))
        return self._charges[test]

    def _commits(self, node: int) -> bool:
        """Return whether ordering the test of a node may order others below it."""
        nodes = self._tree.nodes
        return bool(nodes.committed(node)) or self._tree.pricing.orders_delayed(int(nodes.test[node]), frozenset())

    def _tests_below(self, node: int) -> list[int]:
        """Return the tests of a node and of those below it, with all that they require."""
        asked = self._asked(np.fromiter(subtree(self._tree, node), dtype=np.int64))
        return sorted(self._tree.pricing.closure(asked))

    def _asked(self, below: Ints) -> list[int]:
        tests: list[int] = np.unique(self._tree.nodes.test[below]).tolist()
        return [test for test in tests if test >= 0]

    @functools.cached_property
    def _parent(self) -> dict[int, int]:
        return {child: at for at in range(self._tree.n_nodes) for child in self._tree.nodes.children(at)}

    def _relevant(self, node: int) -> list[int]:
        """Return the tests of which it matters whether they are done, ordered or unavailable."""
        everything = range(len(self._tree.columns))
        if self.exact or not self._tree.may_stop:
            return list(everything)
        pricing, prices = self._tree.pricing, self._tree.context.bound_costs.prices
        asked = self._asked(np.fromiter(subtree(self._tree, self._scope(node)), dtype=np.int64))
        members = pricing.closure(asked) | set(asked)
        groups = {g for test in members for g in prices.groups_of(test)}
        return [test for test in everything if test in members or groups & set(prices.groups_of(test))]

    def _scope(self, node: int) -> int:
        """Return the first node on the path to a node whose order may commit to others, or the node itself."""
        found = at = node
        while at in self._parent:
            at = self._parent[at]
            if self._commits(at):
                found = at
        return found

    def _values(self, test: int, below: Ints, rows: Ints) -> Ints:
        """Return the values of a test as far as the nodes below tell them apart."""
        nodes, array = self._tree.nodes, self._cases.arrays[test][rows]
        if self._tree.schema.values[test] is None:
            cuts = np.unique(nodes.threshold[below[nodes.test[below] == test]])
            array = np.searchsorted(cuts, array)
        return np.where(self._cases.states[rows, test] == VALUE, array, -1)

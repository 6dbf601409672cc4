"""A decision tree with prices: an immutable node table that predicts, charges and explains.

A `Tree` comes from a learner (``clf.tree_``) or from JSON, which may be written by hand (docs/tree-format.md). Both are
walked, priced and shown in the same way.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.costs import Costs
from worthwhile.costs.pricing import Pricing
from worthwhile.table.columns import Columns
from worthwhile.table.schema import Schema
from worthwhile.tree.advice import Advice, advise
from worthwhile.tree.batch_advice import Worklist, advise_tree, as_table
from worthwhile.tree.case_amounts import truth_shares
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.explanation import Explanation, explain
from worthwhile.tree.json_format import ExpectedCost, parse_tree, read_json, write_tree
from worthwhile.tree.node_paths import decision_path, leaves_of
from worthwhile.tree.nodes import Nodes
from worthwhile.tree.notebook import tree_table
from worthwhile.tree.rules import rules
from worthwhile.tree.run import Fetch, LedgerEntry, Outcome, may_ask, run
from worthwhile.tree.text import to_dot, to_text

__all__ = ["Advice", "ExpectedCost", "Explanation", "LedgerEntry", "Outcome", "Tree"]


class Tree:
    """An immutable decision tree with prices, made by a learner or by `from_json`.

    Attributes
    ----------
    columns : tuple of str
        The names of the tests, in the order of the columns of X.
    classes : tuple
        The classes; the columns of `weights` and of `predict_proba`.
    answers : tuple
        The possible answers: the classes, then reject answers such as "unknown".
    costs : Costs
        Prices of the tests and error costs.
    nodes : Nodes
        The node table; node 0 is the root.
    may_stop : bool
        Whether a case with an unavailable test stops where no further test pays. False (trees of ``variant="paper"``):
        it does all tests that the tree asks for.
    expected_cost : ExpectedCost or None
        What a new case is expected to cost, with its 95 % interval, measured out of fold; None if it is unknown.

    Examples
    --------
    >>> tree = Tree.from_json('''{
    ...   "format": "worthwhile-tree", "version": 1, "classes": ["well", "sick"],
    ...   "columns": [{"name": "fever", "kind": "numeric"}],
    ...   "costs": {"tests": {"fever": 2.0}, "errors": 50},
    ...   "nodes": [{"test": "fever", "threshold": 38.0, "children": [1, 2]},
    ...             {"answer": "well"}, {"answer": "sick"}]}''')
    >>> tree.predict([[36.8], [39.5]]).tolist()
    ['well', 'sick']
    >>> tree.total_costs([[36.8], [39.5]], ["well", "well"]).tolist()
    [2.0, 52.0]
    >>> print(tree.to_text())
    fever? (2.00)
    ├─ ≤ 38: well
    └─ > 38: sick
    """

    def __init__(
        self,
        nodes: Nodes,
        context: ProblemContext,
        answer: str = "majority",
        expected_cost: ExpectedCost | None = None,
        core: Any = None,
    ) -> None:
        self.nodes = nodes
        self.context = context
        self.answer = answer
        self.expected_cost = expected_cost
        _check_surcharges(nodes, context)
        # A grown tree keeps the core's own copy; one from a file is handed over to the core.
        if core is None:
            core = nodes.to_core()
            if context.has_surcharges and nodes.surcharges is None:
                core = replace(nodes, surcharges=_surcharges_by_class(context, core)).to_core()
        self._core_tree = core

    @classmethod
    def from_core(cls, core: Any, context: ProblemContext, answer: str = "majority") -> Tree:
        """Return what the core has grown as a tree."""
        return cls(Nodes.from_core(core), context, answer, core=core)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_core_tree" in self.__dict__:
            raise AttributeError(f"a Tree is immutable: cannot set {name!r}")
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tree, (self.nodes, self.context, self.answer, self.expected_cost)

    def __repr__(self) -> str:
        tests = ", ".join(self.tests_used()) or "none"
        shape = (
            f"{self.n_nodes} node{'s'[: self.n_nodes > 1]}, {self.n_leaves} lea{'ves' if self.n_leaves > 1 else 'f'}"
        )
        return f"Tree({shape}, depth {self.depth}, tests {tests})"

    # ---- shape

    @property
    def schema(self) -> Schema:
        """Names and kinds of the columns."""
        return self.context.schema

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the tests, in the order of the columns of X."""
        return self.context.columns

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in the order of `predict_proba`."""
        return self.context.classes

    @property
    def answers(self) -> tuple[Any, ...]:
        """What the tree may answer: the classes, then reject answers such as "unknown"."""
        return self.context.answers

    @property
    def costs(self) -> Costs:
        """Prices of the tests and costs of the errors."""
        return self.context.costs

    @property
    def error_costs(self) -> npt.NDArray[np.float64]:
        """The cost of each answer by the true class."""
        return self.context.error_costs

    @property
    def pricing(self) -> Pricing:
        """Prices of sets of tests."""
        return self.context.pricing

    @property
    def may_stop(self) -> bool:
        """Whether a case with an unavailable test stops where no further test pays; False: as in the papers."""
        return self.nodes.may_stop

    @functools.cached_property
    def node_lists(self) -> tuple[list[int], list[range]]:
        """The test and the children of every node as lists: single elements of arrays take many times as long."""
        return self.nodes.test.tolist(), [self.nodes.children(node) for node in range(self.n_nodes)]

    @functools.cached_property
    def branch_rules(self) -> list[float | list[int]]:
        """The threshold of every node, or the branch of each value code."""
        thresholds, starts = self.nodes.threshold.tolist(), self.nodes.map_start.tolist()
        return [thresholds[node] if start < 0 else self.nodes.branch_of(node) for node, start in enumerate(starts)]

    @functools.cached_property
    def found_below(self) -> list[tuple[frozenset[int], frozenset[int]]]:
        """The tests at or below every node, and the answers of its leaves."""
        tests, children = self.node_lists
        answers = self.nodes.answer.tolist()
        found: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())] * self.n_nodes
        for node in reversed(range(self.n_nodes)):  # children come after their parents
            below = [found[child] for child in children[node]]
            asked = frozenset().union({tests[node]} - {-1}, *(its_tests for its_tests, _ in below))
            found[node] = asked, frozenset().union(*(own for _, own in below)) if below else frozenset({answers[node]})
        return found

    @functools.cached_property
    def has_unknown_values(self) -> bool:
        """Whether some node has no branch for a value; only in a tree written by hand."""
        return bool((self.nodes.maps < 0).any())

    def amounts_at(self, node: int) -> list[float] | None:
        """Return the price of every test, and what every surcharge is expected to add, for a case at a node.

        None: the amounts of the price list.
        """
        if not self.context.has_surcharges:
            return None
        return [*self.context.bound_costs.prices.marginal.tolist(), *self.expected_surcharges()[node].tolist()]

    def expected_surcharges(self) -> npt.NDArray[np.float64]:
        """Return what each surcharge is expected to add for a case at each node: (nodes, surcharges).

        In a tree written by hand, conditions on results are taken to hold, and classes are as likely as the tree says.
        """
        if self.nodes.surcharges is not None:
            return self.nodes.surcharges
        return _surcharges_by_class(self.context, self._core_tree)

    @functools.cached_property
    def has_weights(self) -> bool:
        """Whether there are training weights to compute expected costs from; a tree written by hand may have none."""
        return bool(self.nodes.weights[0].any())

    @property
    def n_nodes(self) -> int:
        """Number of nodes, including leaves."""
        return len(self.nodes.test)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.nodes.test < 0).sum())

    @property
    def depth(self) -> int:
        """Number of tests on the longest path from the root to a leaf."""
        depth = np.zeros(self.n_nodes, dtype=int)
        for node in range(self.n_nodes):  # children come after their parents
            depth[self.nodes.children(node)] = depth[node] + 1
        return int(depth.max())

    def tests_used(self) -> list[str]:
        """Return the names of the tests in the tree, in column order."""
        return [self.columns[t] for t in np.unique(self.nodes.test[self.nodes.test >= 0])]

    # ---- use

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the answer for each case."""
        return self.context.answer_labels[self._route(X, answers=True)[0]]

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the class probabilities of each case: those of its leaf, a mean of leaves if a value is missing."""
        return self._route(X, shares=True)[2]

    def test_costs(self, X: Any, case_prices: Any = None, y: Any = None) -> npt.NDArray[np.float64]:
        """Return the price that each case pays for its tests, with surcharges and waiting.

        Parameters
        ----------
        X : table of cases
        case_prices : array or frame of shape (cases, tests), optional
            Prices that depend on the case; they replace the marginal prices of the tests. The columns of a frame are
            found by name, those of an array are in the order of the tests. Group prices stay the same.
        y : sequence of classes, optional
            The true classes, by which surcharges for a class are charged; without them, these are expected by the class
            probabilities of each case.
        """
        return self._route(X, prices=True, case_prices=case_prices, y=y)[1]

    def total_costs(self, X: Any, y: Any, case_prices: Any = None, case_errors: Any = None) -> npt.NDArray[np.float64]:
        """Return test price plus error cost of each case.

        Parameters
        ----------
        X : table of cases
        y : sequence of classes
        case_prices : array or frame of shape (cases, tests), optional
            As for `test_costs`.
        case_errors : array or frame of shape (cases, answers), optional
            What each answer costs each case, instead of the error costs of its class. The columns of a frame are found
            by the name of the answer, those of an array are in the order of `answers`.
        """
        answers, prices, _ = self._route(X, answers=True, prices=True, case_prices=case_prices, y=y)
        return prices + self.context.errors_of(answers, y, case_errors=case_errors)

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Return the leaf that each case ends in, as an index of `nodes`.

        A case with missing values may end in several leaves; it gets the one with the largest share of it. All tests
        are done that the tree asks for, also those that no longer pay after a missing value.

        Examples
        --------
        >>> import worthwhile as ww
        >>> clf = ww.C45Classifier().fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
        >>> clf.tree_.apply([[1], [4], [2]]).tolist()
        [1, 2, 1]
        """
        return leaves_of(self, self._read(X))

    def decision_path(self, X: Any) -> Any:
        """Return the nodes that each case passes: a sparse matrix of 0 and 1, of shape (cases, nodes).

        A case whose value is missing passes all branches that it goes down. All tests are done that the tree asks for.

        Examples
        --------
        >>> import worthwhile as ww
        >>> clf = ww.C45Classifier().fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
        >>> clf.tree_.decision_path([[1], [4]]).toarray().tolist()
        [[1, 1, 0], [1, 0, 1]]
        """
        return decision_path(self, self._read(X))

    def next_test(self, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> Advice:
        """Return what to do next for a case with the values in `known`.

        Parameters
        ----------
        known : mapping of test to value
            A test that is not in it has not been done yet; None (or NaN) means that the test is unavailable. Known
            values count as paid for, even if the tree would not have asked for them.
        already_paid : list of str
            Tests that somebody else has paid for, with what they require: they cost nothing and are not counted as
            spent.

        Returns
        -------
        Advice
            The next test with its price at this point, or the answer; and why.
        """
        return advise(self, known, already_paid)

    def advise(
        self,
        X: Any,
        unavailable: Any = None,
        pending: Any = None,
        already_paid: Iterable[str] = (),
        as_frame: bool | Literal["auto"] = "auto",
    ) -> Any:
        """Return what to do next for each case of a worklist: `next_test` for many cases at once.

        Parameters
        ----------
        X : table of cases
            A missing value is a test that has not been asked for. A nominal value that no training case had counts as
            unavailable.
        unavailable : array of bool of shape (cases, tests), or frame, optional
            Where a test is unavailable. A frame may have some of the tests, by name.
        pending : array of bool of shape (cases, tests), or frame, optional
            Where a test is ordered and its result has not come yet: it is paid for and not ordered again.
        already_paid : list of str
            Tests that others have paid for, for all cases; see `next_test`.
        as_frame : bool or "auto"
            True: a frame of pandas; False: a dict of arrays; "auto": a frame if pandas is installed.

        Returns
        -------
        pandas.DataFrame or dict of arrays
            One row per case: `action` ("order" a test, "wait" for one that is ordered, or "answer"); `tests`, those to
            order now or to wait for, separated by ";"; their `price`; the expected `saving` of going on; what was
            `spent` so far, orders included; the `answer`; and the `reason`.

        Examples
        --------
        >>> import worthwhile as ww
        >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
        >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
        >>> found = clf.advise([[float("nan")], [3]], as_frame=False)
        >>> [found[name].tolist() for name in ("action", "tests", "price", "saving", "spent", "answer")]
        [['order', 'answer'], ['x0', ''], [4.0, 0.0], [1.0, nan], [0.0, 4.0], [None, 'b']]
        """
        columns = self._read(X)
        cases = Worklist.of(self.context, columns, unavailable, pending, already_paid)
        return as_table(advise_tree(self, cases), as_frame)

    def run(self, case: Mapping[str, Any], fetch: Fetch, already_paid: Iterable[str] = ()) -> Outcome:
        """Follow `next_test` until there is an answer, calling functions that fetch the values of tests.

        Parameters
        ----------
        case : mapping of test to value
            What is known from the start, as for `next_test`; it counts as paid for.
        fetch : mapping of test to function
            For every test that may be needed, a function without arguments that gets its value (calls a service, reads
            a sensor, asks a person). It is called only when the test is to be done. If it returns None or NaN, or
            raises a LookupError (such as a KeyError), the test is unavailable and not charged. Other errors are raised.
        already_paid : list of str
            As for `next_test`.

        Returns
        -------
        Outcome
            The answer with the ledger of what it cost.

        Notes
        -----
        A test with a delayed result commits to other tests: all are ordered at once, so their functions are called
        right after its own, in column order, even if the answer then needs only some of them.

        Examples
        --------
        >>> tree = Tree.from_json('''{
        ...   "format": "worthwhile-tree", "version": 1, "classes": ["well", "sick"],
        ...   "columns": [{"name": "fever", "kind": "numeric"}, {"name": "blood", "kind": "numeric"}],
        ...   "costs": {"tests": {"fever": 2.0, "blood": 9.0}, "errors": 50},
        ...   "nodes": [{"test": "fever", "threshold": 38.0, "children": [1, 2]},
        ...             {"answer": "well"}, {"test": "blood", "threshold": 5, "children": [3, 4]},
        ...             {"answer": "well"}, {"answer": "sick"}]}''')
        >>> laboratory = {"blood": 7.5}
        >>> print(tree.run({"fever": 39.2}, fetch={"blood": lambda: laboratory["blood"]}))
        fever = 39.2: 2.00 (given)
        blood = 7.5: 9.00
        answer sick (well 0%, sick 100%), 11.00 spent
        """
        return run(self.next_test, may_ask([self], case, already_paid), self.context, case, fetch, already_paid)

    def explain(self, case: Mapping[str, Any]) -> Explanation:
        """Return the path of a case through the tree, with prices.

        Parameters
        ----------
        case : mapping of test to value
            As for `next_test`. If a value that the tree asks for is absent, the explanation ends there.

        Returns
        -------
        Explanation
            Its steps; `str` gives it as text.
        """
        return explain(self, case)

    def _route(
        self,
        X: Any,
        answers: bool = False,
        prices: bool = False,
        shares: bool = False,
        case_prices: Any = None,
        n_threads: int = 1,
        y: Any = None,
    ) -> tuple[Any, Any, Any]:
        columns = self._read(X)
        table = self.context.schema.encode(columns)
        amounts = None
        if prices:
            likely = None
            if y is None and self.context.needs_shares():
                likely = self.route_table(table, False, False, True, None, n_threads)[2]
            amounts = self.context.amounts(columns, case_prices, y, likely)
        return self.route_table(table, answers, prices, shares, amounts, n_threads)

    def route_table(
        self, table: Any, answers: bool, prices: bool, shares: bool, amounts: Any = None, n_threads: int = 1
    ) -> tuple[Any, Any, Any]:
        """Route an encoded table: (answer indices, prices, class shares), each None if not requested."""
        costs = self.context.bound_costs
        answers_, prices_, shares_, _ = _core.route(
            self._core_tree,
            table,
            costs.core_pricing,
            costs.core_errors,
            least_cost=self.answer == "least-cost",
            answers=answers,
            prices=prices,
            shares=shares,
            n_threads=n_threads,
            case_prices=amounts,
        )
        return answers_, prices_, shares_

    def _charged(self, X: Any, n_threads: int = 1, case_prices: Any = None) -> npt.NDArray[np.uint64]:
        """Return the tests that each case is charged for, as bits in column order, 64 to a word: (cases, words)."""
        columns = self._read(X)
        table, bound = self.schema.encode(columns), self.context.bound_costs
        words = _core.route(
            self._core_tree,
            table,
            bound.core_pricing,
            bound.core_errors,
            least_cost=self.answer == "least-cost",
            charged=True,
            n_threads=n_threads,
            case_prices=None if case_prices is None else self.context.amounts(columns, case_prices),
        )[3]
        assert words is not None
        return words

    def _read(self, X: Any) -> Columns:
        return self.context.read(X)

    # ---- show and keep

    def to_text(self, expected_costs: bool = True) -> str:
        """Return the tree as indented text, with prices and expected costs.

        A test shows its price at that node, the share of the training cases that reach it, and the expected cost from
        there on, tests and errors together; a leaf shows its training cases and the expected error cost of its answer.
        ``expected_costs=False`` leaves expected costs out: a tree of a forest does not decide alone.
        """
        return to_text(self, expected_costs)

    def to_dot(self) -> str:
        """Return the tree in Graphviz's language, with prices and expected costs; see `to_text`."""
        return to_dot(self)

    def rules(self, expected_costs: bool = True) -> list[str]:
        """Return one sentence per leaf; `expected_costs` as for `to_text`.

        Examples
        --------
        >>> import worthwhile as ww
        >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
        >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
        >>> for sentence in clf.tree_.rules():
        ...     print(sentence)
        If x0 is at most 2: answer a (50 % of cases, tests cost 4.00, expected error cost 0.00).
        If x0 is above 2: answer b (50 % of cases, tests cost 4.00, expected error cost 0.00).
        """
        return rules(self, expected_costs)

    def _repr_html_(self) -> str:
        """Return a summary of costs for notebooks."""
        return tree_table(self, "Tree")

    def plot(self, ax: Any = None, max_depth: int | None = None) -> Any:
        """Draw the tree with matplotlib and return the axes; see `worthwhile.tree.plot.plot_tree`."""
        from worthwhile.tree.plot import plot_tree

        return plot_tree(self, ax=ax, max_depth=max_depth)

    def to_json(self, indent: int | None = 1) -> str:
        """Return the tree as JSON (docs/tree-format.md)."""
        return json.dumps(write_tree(self), indent=indent, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Tree:
        """Read a tree from JSON; everything is checked, nothing is executed.

        Raises
        ------
        ValueError
            Names the node, column or class that is wrong.
        """
        return cls(*parse_tree(read_json(text)))


def _surcharges_by_class(context: ProblemContext, core: Any) -> npt.NDArray[np.float64]:
    """Return the amount of each surcharge at each node, times the probability of its class there."""
    prices, shares = context.bound_costs.prices, core.shares()
    truth = truth_shares(prices, context.classes, shares)
    found = np.tile(prices.surcharge_amount, (len(shares), 1))
    return found if truth is None else found * truth


def _check_surcharges(nodes: Nodes, context: ProblemContext) -> None:
    """Refuse expected amounts of another number of surcharges than the price list has."""
    n = len(context.bound_costs.prices.surcharges)
    if nodes.surcharges is not None and nodes.surcharges.shape[1] != n:
        raise ValueError(f"'surcharges' of node 0 has {nodes.surcharges.shape[1]} entries, but the costs have {n}")

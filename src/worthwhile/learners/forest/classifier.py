"""Random forests that pay for tests: of least total cost, or within an average budget (Nan, Wang & Saligrama 2015).

docs/design/forests.md gives the details.
"""

# The sections Parameters and Attributes of the docstrings are written by docs/write_parameters.py.

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self
from warnings import warn

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from worthwhile import _core
from worthwhile.learners.base import CostSensitiveClassifier
from worthwhile.learners.cross_fitting import expected_cost_of
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_folds, stratified_share
from worthwhile.learners.forest.advice import Consultation
from worthwhile.learners.forest.batch_advice import advise_forest
from worthwhile.learners.forest.growing import ForestTask, TreeBatch, shared_task, spread_trees
from worthwhile.learners.forest.max_cost import has_plain_prices, max_cost_bound
from worthwhile.learners.forest.model_file import Forest, fits, forests_from_json, forests_to_json
from worthwhile.learners.forest.partitions import forests_of, prepare
from worthwhile.learners.forest.test_sets import importances, ladder
from worthwhile.learners.forest.total_cost import (
    FEWEST,
    LARGE,
    LARGE_PART,
    OPTIONS,
    Fold,
    ForestRace,
    forest_of_least_cost,
    race_cases,
)
from worthwhile.learners.forest.validation import SETTLED, ForestValidator, GrowthMonitor, asked_results
from worthwhile.learners.forest.voting import AnswerRule, BudgetRecord, Smoothing, ValidationSet, Votes
from worthwhile.learners.parameters import (
    Adaptive,
    Answer,
    Cuts,
    Impurity,
    NominalSplits,
    Sampling,
    Splits,
    TestChoice,
    Variant,
)
from worthwhile.learners.part_files import files_of, refuse_case_costs
from worthwhile.learners.partitioned import fit_sampled_parts
from worthwhile.learners.progress import Progress
from worthwhile.learners.training import Training
from worthwhile.learners.workload import Piece, workload
from worthwhile.parallel.workers import SharedData, n_workers
from worthwhile.table.columns import as_frame, is_frame, read_columns
from worthwhile.tree.advice import Advice
from worthwhile.tree.batch_advice import AdviceColumns, Worklist
from worthwhile.tree.case_errors import checked_case_errors
from worthwhile.tree.context import ProblemContext, distinct_labels
from worthwhile.tree.explanation import Explanation
from worthwhile.tree.json_format import MAX_DEPTH, ExpectedCost, Reader, is_finite, needs_of, parse_expected_cost
from worthwhile.tree.node_paths import normalized_savings
from worthwhile.tree.nodes import Nodes
from worthwhile.tree.notebook import forest_table
from worthwhile.tree.run import Fetch, Outcome, may_ask, run
from worthwhile.tree.tree import Tree
from worthwhile.wording import amount

__all__ = ["ALPHAS", "BudgetForestClassifier", "BudgetRecord"]

ALPHAS = (0, 2, 4, 6, 8, 10, 15, 25, 35, 45)  # those of the paper's experiments
LEAST_POWER = 2.0
FITTED = ("trees_", "forests_", "alpha_", "rate_", "record_", "empty_", "tests_", "sampling_", "stopped_", "parts_")
CHOSEN, LEAST_COST = "chosen", "least-cost"
PAPER, REFINED = "paper", "refined"
TREES = {PAPER: 40, REFINED: 60}  # by default
OF_PAPER = ("alpha", "impurity", "power", "splits", "sampling", "tests", "context", "adaptive")  # settings
PILOTS = 20  # trees that measure the importance of each test
TRIED = 10  # trees that decide how cases are drawn
# Shares of the time limit after which no more of these trees are grown.
TRIED_END, PILOTS_END = 0.3, 0.5
UNSPENT = 0.5  # a forest that spends less than this share of the budget warns

FOREST = Piece("forest", 1.0)  # the work of growing all trees


@dataclass(kw_only=True, eq=False, repr=False)
class BudgetForestClassifier(CostSensitiveClassifier):
    """A random forest of least total cost or, with a budget, one whose tests cost no more on average (BudgetRF).

    Without a budget, the tests that the trees may ask for, and how trees are grown, are those of the least total cost,
    tests and errors together, in a cross-validation; then trees are grown from all cases. At a node, some tests, drawn
    at random, are compared by the Gini impurity. The answer is the one that is expected to cost least, by probabilities
    that are calibrated on cases that were left out. A test that several trees ask for is paid once.

    With a budget, as in the paper: every tree is grown from a random sample of the cases; a node takes the test, and
    the cut, with the lowest price per drop in impurity in the worst branch. Trees are added as long as the average
    price of the validation cases stays within the budget. The answer is the majority vote, or with unequal error costs
    the answer that is expected to cost least.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    budget : float, optional
        What the tests may cost per case, on average. None: as much as is worth it, by the costs of errors.
    variant : {"refined", "paper"}, optional
        "paper": the published forest; without a budget, `max_trees` trees, whatever they cost. "refined": the forest of
        least total cost, which has no budget. None: "paper" with a budget, otherwise "refined". Without a budget,
        `alpha`, `impurity`, `power`, `splits`, `sampling`, `tests`, `context` and `adaptive` need "paper": else total
        cost decides.
    alpha : float or list of float, default 0.0
        Threshold of the impurity "pairs": how many cases of a class a leaf may misclassify. Larger values give smaller
        trees, and more of them fit into the budget. From a list, the value with the lowest validation error is chosen
        (the lowest total cost, if not all errors cost the same). The paper's values are
        `worthwhile.learners.forest.classifier.ALPHAS`.
    max_trees : int, optional
        Largest number of trees. None: 60, or 40 of the published forest.
    impurity : {"pairs", "powers"}, default "pairs"
        What a split has to lower. "pairs": the number of pairs of cases of different classes, above the threshold
        `alpha` (equation 11). "powers": a power of the number of cases minus the powers of the class sizes (equation
        14).
    power : float or list of float, default 2.0
        Exponent of the impurity "powers", at least 2. From a list, the value is chosen as for `alpha`.
    splits : {"minimax", "expected"}, default "minimax"
        Whether a split is judged by its worst branch or by the mean over its branches.
    cuts : {"random", "exact"}, default "random"
        Which cuts of a numeric test are tried. "random": 80, 40 or 20 random ones between the smallest and the largest
        value, at nodes of more than 2,000, more than 500, or fewer cases. "exact": all of them.
    sampling : {"chosen", "weighted", "drawn"}, default "chosen"
        Which cases a tree is grown from. "drawn": a bootstrap sample, as in the paper; better where classes overlap.
        "weighted": all cases, each with a weight of ½ plus ½ for every time it was drawn; better where they hardly
        overlap. "chosen": whichever does better on the validation cases with ten trees; "drawn", if there are no
        validation cases.
    tests : {"all", "chosen"}, default "all"
        "all": each tree may use any test, at its price, as in the paper. "chosen": further forests are grown that use
        only some tests, the most important ones for their price, and ignore prices among these; sets of all sizes are
        tried, and the forest with the fewest errors within the budget is chosen. This takes longer and gets far more
        out of small budgets.
    weighting : {"instance"}, optional
        "instance": each case weighs as much as it costs to misclassify it, in growing (Ting 1998). None: all cases
        weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, optional
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. None: "multiway" in the published
        forest, otherwise "subset".
    context : bool, default False
        True: in growing, a test that is paid for on the path is free, and a group's common price counts once. False:
        list prices.
    max_depth : int, optional
        Longest path from the root of a tree to a leaf, at most 4096.
    answer : {"majority", "least-cost"}, optional
        "majority": the class with the most votes, as in the paper. "least-cost": the answer with the lowest expected
        error cost, by the mean class shares of the leaves (`predict_proba`); reject answers count, too. None:
        "least-cost" if there is no `weighting`; in the published forest, if also the costs of errors differ.
    validation : float or pair (X, y) or None, default 0.3
        Share of the training cases that is held out to measure prices and errors, or other cases for this. Without a
        budget, about one over this share of parts are held out in turn. None: the training cases themselves.
    adaptive : bool or "settled", default False
        True: trees are consulted in order, and a case stops, and pays no more, when the remaining votes cannot change
        its answer, or when the next tree costs more than it is expected to save. With a budget, the rate between prices
        and error costs is chosen so that the budget is kept; without one (``variant="paper"``), both are in the same
        unit. "settled": only the first reason counts. False: all trees are consulted.
    time_limit : float, optional
        Seconds after which `fit` ends, from its call on. The tree being grown is cut short, and used only if there is
        no other. If the table has more than 500,000 cells (cases times columns) per second of the limit, the forest is
        grown and validated on a random part of the cases.
    callback : function, optional
        `fit` calls it with a `Progress` after every tree; without a budget, after some trees. If it returns True, `fit`
        grows no more trees.
    nominal : list of column names or positions, optional
        Numeric columns to treat as categories. Columns of strings, categories and booleans are always nominal; ordered
        categories are cut like numbers.
    columns : list of str, optional
        Names for the columns of an X that has none.
    random_state : int, numpy Generator or RandomState, optional
        Makes the forest repeatable.
    n_jobs : int, optional
        Number of threads. None: one; -1: all processors. The result does not depend on it. Workers set up by
        `joblib.parallel_config`, such as other processes or a Dask cluster, take the place of threads.

    Attributes
    ----------
    expected_cost_ : float
        What a new case is expected to cost, tests and errors together, measured on the validation cases.
    expected_cost_interval_ : (float, float)
        The 95 % confidence interval of `expected_cost_`.
    trees_ : list of Tree
        The trees that are consulted, in this order.
    empty_ : bool
        Whether there is no tree, because no test is worth its price, or the first tree exceeds the budget (`fit`
        warns). Then every case gets the same answer, the cheapest or with majority votes the most frequent class, and
        nothing is paid.
    alpha_ : float
        The value of `alpha` (or `power`) that was chosen; in the forest of least total cost, the number of cases that a
        node must exceed to be split.
    tests_ : list of str
        The tests that the trees may ask for.
    sampling_ : str
        How cases were drawn.
    rate_ : float or None
        With ``adaptive=True``: how many units of error cost one unit of price counts for.
    stopped_ : {"done", "time limit", "callback", "interrupted"}
        Why growing ended. After Ctrl-C, `fit` raises KeyboardInterrupt; the learner then holds the trees grown so far,
        if there was one.
    record_ : BudgetRecord
        What the forest costs on the validation cases.
    max_cost_bound_ : float or None
        In each tree of the published forest, the most expensive training case pays at most this many times as much as
        in the best tree with pure leaves (theorem 2.2). None where the theorem says nothing: it needs nominal tests
        without missing values, each with a price of its own, and ``splits="minimax"``. Not saved.
    forests_ : list of Forest
        The forests for all values of `alpha` (or `power`) and all sets of tests, with their validation curves.
    classes_ : array
        The classes, sorted.
    feature_importances_ : array
        Share of each test in what all tests save in error costs on the training cases.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns of X, if it has names.

    References
    ----------
    F. Nan, J. Wang, V. Saligrama (2015), Feature-budgeted random forest.

    Examples
    --------
    >>> import worthwhile as ww
    >>> pima = ww.datasets.load("pima")
    >>> known = {"costs": pima.costs, "columns": pima.feature_names, "random_state": 0}
    >>> clf = ww.BudgetForestClassifier(budget=25, tests="chosen", max_trees=20, **known).fit(pima.X, pima.y)
    >>> for forest in clf, clf.with_budget(6):
    ...     record = forest.record_
    ...     print(f"{record.trees} trees, tests {record.price:.2f} per case, {record.error:.1%} errors")
    20 trees, tests 20.61 per case, 19.6% errors
    20 trees, tests 6.00 per case, 33.9% errors

    Without a budget, the costs of errors decide what tests are worth their price.

    >>> clf = ww.BudgetForestClassifier(**known).fit(pima.X, pima.y)
    >>> print(f"{len(clf.tests_)} tests, {clf.record_.price:.2f} per case, {clf.record_.error:.1%} errors")
    7 tests, 23.61 per case, 23.4% errors
    """

    budget: float | None = None
    variant: Variant | None = None
    alpha: float | Sequence[float] = 0.0
    max_trees: int | None = None
    impurity: Impurity = "pairs"
    power: float | Sequence[float] = 2.0
    splits: Splits = "minimax"
    cuts: Cuts = "random"
    sampling: Sampling = "chosen"
    tests: TestChoice = "all"
    nominal_splits: NominalSplits | None = None  # type: ignore[assignment]
    context: bool = False
    max_depth: int | None = None
    answer: Answer | None = None
    validation: Any = 0.3
    adaptive: Adaptive = False
    time_limit: float | None = None
    callback: Callable[[Progress], Any] | None = None

    def fit_parts(
        self, parts: Any, target: str, weight: str | None = None, *, case_prices: None = None, case_errors: None = None
    ) -> Self:
        """Learn from more cases than memory holds, in a folder of Parquet files.

        Without a budget, as every learner of one tree: the tests are chosen, and the trees grown, from a stratified
        sample of all files, of 4,000 cases, then of twice as many and so on, until the cost on 10,000 others no longer
        falls significantly. Then all files are read once more, some rows at a time: `expected_cost_` is that of all
        cases outside the sample.

        With a budget, or ``variant="paper"``, every worker holds one file in memory at a time. Each tree is grown from
        a sample of one file (`sampling` "chosen" means "drawn"), and files take turns in proportion to their number of
        cases: shuffle the rows before dividing them into files, and grow at least as many trees as there are files.
        Each file holds out its share of validation cases, and all of these together validate the trees. Files are read
        three times (four, with ``adaptive=True``), and all `max_trees` trees are grown before the budget decides how
        many are consulted.

        The forest depends on the files and `random_state`, not on the workers.

        Parameters
        ----------
        parts : path or list of paths
            A folder with files ``*.parquet``, or a list of files. All must have the same columns, and every worker must
            be able to read them under these paths. Columns of strings, categories and booleans are nominal.
        target : str
            The column of the classes.
        weight : str, optional
            The column of the case weights; a case of weight 0 is left out.
        case_prices, case_errors : None
            Not supported: an array for all cases would not fit in memory either. `fit` takes both.

        Returns
        -------
        self
            Without a budget with ``parts_``, a list of `SampleStep`: what the forests of the growing samples cost.

        Examples
        --------
        >>> import tempfile, pyarrow as pa, pyarrow.parquet, worthwhile as ww
        >>> folder = tempfile.mkdtemp()
        >>> for part in range(4):
        ...     table = pa.table({"age": range(20 + part, 80), "ill": ["no"] * (30 - part) + ["yes"] * 30})
        ...     pa.parquet.write_table(table, f"{folder}/part-{part}.parquet")
        >>> clf = ww.BudgetForestClassifier(budget=1, max_trees=8, random_state=0).fit_parts(folder, target="ill")
        >>> len(clf.trees_), round(clf.record_.error, 2)
        (8, 0.0)
        """
        self._check_parameters()
        refuse_case_costs(case_prices, case_errors)
        if self._chosen_variant() == REFINED:
            fit_sampled_parts(self, parts, target, weight)
            return self
        self._used = PAPER
        for name, usual in (("tests", "all"), ("time_limit", None), ("callback", None)):
            if getattr(self, name) != usual:
                raise ValueError(
                    f"fit_parts does not support {name}={getattr(self, name)!r}; use fit, or {name}={usual!r}"
                )
        values, validation_given = self._values(), self.validation
        data = prepare(self, files_of(parts), target, weight, self._options())
        self._set_origin(None)  # the cases are not in memory together
        self._context, self._class_weights = data.context, data.class_weights
        self._begin(None)  # no budget: all trees are grown
        self.sampling_ = "weighted" if self.sampling == "weighted" else "drawn"
        self.classes_, self.n_features_in_ = data.reader.labels, len(data.context.columns)
        self.feature_names_in_ = np.array(data.context.columns, dtype=object)
        pair = validation_given if _is_pair(validation_given) else None
        validation = None if pair is None else self._validation_set(pair[0], pair[1], "validation")
        self.forests_, self.stopped_ = forests_of(self, data, values, validation), "done"
        self._choose(self.budget)
        self._warn_if_unused()
        if validation is not None:
            self._measure(validation)
        else:
            self._measure_by_files()
        return self

    def _forget(self) -> None:
        for name in FITTED:
            self.__dict__.pop(name, None)

    def _chosen_variant(self) -> str:
        """Return the variant, after a check that the other parameters go with it."""
        if self.variant == PAPER or (self.variant is None and self.budget is not None):
            return PAPER
        if self.budget is not None:
            raise ValueError(f"{type(self).__name__}: variant='refined' has no budget; leave out one of the two")
        for name in OF_PAPER:
            usual, given = getattr(type(self), name), getattr(self, name)
            if np.ndim(given) or given != usual:  # lists are for the published forest
                need = f"needs a budget or variant='paper', got {name}={given!r}"
                raise ValueError(f"{type(self).__name__}: {name} {need}; without them, total cost decides")
        return REFINED

    def _most_trees(self) -> int:
        return TREES[self._used] if self.max_trees is None else int(self.max_trees)

    def _begin(self, limit: float | None) -> None:
        """Forget what was learned before, and keep the parameters of this fit: they may be changed later."""
        self._forget()
        self._adaptive = SETTLED if self.adaptive == SETTLED else bool(self.adaptive)
        self._limit = None if limit is None or self._adaptive is True else float(limit)
        self._expected: ExpectedCost | None = None
        self._smoothing = Smoothing()
        self._bounded: str | None = None  # the impurity, if theorem 2.2 holds
        self._least_cost = self.answer == LEAST_COST
        if self.answer is None:  # weights by error costs change the votes already
            alike = self._used == PAPER and self.problem_.bound_costs.has_uniform_errors()
            self._least_cost = self.weighting is None and not alike

    def _assess(self, training: Training) -> None:
        """Measure what the chosen trees cost on the validation cases; without any, nothing is known of new cases."""
        cases = self.__dict__.pop("_validation_cases", None)  # the refined forest has measured it on the way
        if cases is not None and self.validation is not None:
            self._measure(cases)

    def _measure(self, cases: ValidationSet) -> None:
        votes, router = self._vote(cases.table, len(cases.truth), cases.amounts)
        self._set_results(asked_results(self.problem_.schema, [(cases, router)]))
        costs = votes.prices + cases.costs[np.arange(len(cases.truth)), votes.answers()]
        if not self._least_cost:  # there, probabilities decide about the answers
            self._smoothing = votes.likeliest(cases.truth, cases.weights)
        self._expected = expected_cost_of(costs, cases.weights)

    def _measure_by_files(self) -> None:
        if self.validation is not None:  # otherwise the trees know all cases
            self._expected = self._chosen.expected[self._chosen.curve.index(self.record_)]

    def _expected_cost(self) -> ExpectedCost | None:
        check_is_fitted(self, "trees_")
        return self._expected

    def _pieces(self, training: Training) -> list[Piece]:
        return [FOREST]

    def _learn(self, training: Training) -> None:
        self._used = self._chosen_variant()
        self._begin(self.budget)
        values, deadline = self._values(), Deadline(self.time_limit, training.start)
        rng = self._generator()
        seed = int(rng.integers(2**62))
        cases, rows = training.timely(self.time_limit, rng).repeated_rows()  # cases are drawn at random
        self._class_weights = training.class_weights()
        if self._used == REFINED:
            self._learn_refined(cases, rows, rng, seed, deadline)
            self._warn_if_unused()
            return
        growing, validation = self._divide(cases, rows, rng)
        self._validation_cases = validation
        self._bounded = self.impurity if self._is_bounded(growing) else None
        task = shared_task(growing, self._options(), seed)
        self._grow_forests(values, task, validation, deadline)
        self._choose(self.budget)
        self._warn_if_unused()

    def _is_bounded(self, growing: Training) -> bool:
        """Return whether theorem 2.2 is about trees that are grown in this way, from these cases."""
        as_published = self.splits == "minimax" and self.tests == "all" and not self.context
        whole = self.max_depth is None and self.cap is None and self.nominal_splits in (None, "multiway")
        equal = growing.weights is None and growing.case_prices is None
        prices, schema = growing.bound_costs.prices, growing.schema
        if not (as_published and whole and equal and has_plain_prices(prices, schema)):
            return False
        return all((np.asarray(codes) >= 0).all() for codes in schema.arrays(growing.columns))

    def _learn_refined(
        self, cases: Training, rows: npt.NDArray[np.intp], rng: np.random.Generator, seed: int, deadline: Deadline
    ) -> None:
        """Choose the tests, and how trees are grown, by total cost, and grow them from all cases."""
        options = {**self._options(), **OPTIONS}

        def fold(grown: npt.NDArray[np.intp], judged: npt.NDArray[np.intp]) -> Fold:
            return Fold(shared_task(cases.take(grown), options, seed), _validation_of(cases.take(judged)))

        held_out, parts = False, self._parts(cases.classes[rows], rng)
        if self.time_limit is not None:
            deadline = Deadline(deadline.remaining())  # shares of what reading the cases has left
        n_parts = 1 if parts is None else int(parts.max()) + 1
        affordable = race_cases(deadline, n_parts, len(self.problem_.columns), self._n_threads())
        if _is_pair(self.validation):
            X, y = self.validation
            held_out, folds = True, [fold(rows, rows)._replace(cases=self._validation_set(X, y, "validation"))]
        elif parts is None:
            folds = [fold(rows, rows)]
        elif len(rows) <= min(LARGE, affordable):
            folds = [fold(rows[parts != part], rows[parts == part]) for part in range(n_parts)]
        else:
            # One fold of fewer cases, with time to spare: a race that is cut short may find nothing.
            held_out, most = True, max(int(min(affordable * n_parts / 2, LARGE_PART)), FEWEST)
            judged, rows = rows[parts == 0][:most], rows[parts != 0]
            some = rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])
            folds = [fold(some, judged)]
        final = folds[0].task if parts is None else shared_task(cases.take(rows), options, seed)
        monitor = GrowthMonitor(0, deadline, self.callback)
        costs, pricing, n_threads = self.problem_.bound_costs, self.problem_.pricing, self._n_threads()
        how = self._rule(), monitor, deadline, n_threads, self._most_trees()
        race = ForestRace(folds, costs, pricing, *how, _mean_amounts(cases))
        with workload().doing_told(FOREST, monitor.share):
            found = forest_of_least_cost(race, final, held_out)
        trees = tuple(map(self._tree, found.trees))
        forest = Forest(found.growth.least, trees, tuple(found.curve), tests=found.tests)
        self.sampling_, self.forests_, self.stopped_ = found.growth.sampling, [forest], monitor.stopped
        self._smoothing = Smoothing(found.temperature)
        if self.validation is not None:
            self._expected = expected_cost_of(found.costs, found.weights)
            self._set_results(asked_results(self.problem_.schema, found.asked))
        self._consult_only(forest, forest.curve[-1])

    def _parts(self, classes: npt.NDArray[np.int32], rng: np.random.Generator) -> npt.NDArray[np.intp] | None:
        """Return the part of each case, which validates what is grown from the others; None: all cases do both."""
        if self.validation is None or _is_pair(self.validation):
            return None
        share, n = float(self.validation), len(classes)
        if n > LARGE:
            parts = np.ones(n, dtype=np.intp)
            parts[stratified_share(classes, min(share, LARGE_PART / n), rng)] = 0
            return parts
        n_parts = min(max(round(1 / share), 2), n)
        return stratified_folds(classes, n_parts, rng) if n_parts > 1 else None

    def _grow_forests(
        self, values: list[float], task: SharedData[ForestTask], validation: ValidationSet, deadline: Deadline
    ) -> None:
        """Grow a forest for every value and every set of tests, until time or an interrupt ends it."""
        self.sampling_ = self._best_sampling(values[0], task, validation, deadline.fraction(TRIED_END))
        plans = [(value, tests) for tests in self._test_sets(values[0], task, deadline) for value in values]
        monitor = GrowthMonitor(len(plans) * self._most_trees(), deadline, self.callback)
        self.forests_, validator = [], self._validator(validation)
        with workload().doing_told(FOREST, monitor.share):
            for value, tests in plans:
                if not self.forests_ or monitor.goes_on():
                    trees = self._trees(value, task, tests, monitor)
                    self.forests_.append(validator.forest(value, trees, tests, monitor))
        self.stopped_ = monitor.stopped

    def _test_sets(
        self, value: float, task: SharedData[ForestTask], deadline: Deadline
    ) -> list[tuple[int, ...] | None]:
        """Return the sets of tests that forests are restricted to; None: all tests, at their prices."""
        if self.tests != CHOSEN or deadline.remaining() <= 0:
            return [None]
        everything = tuple(range(len(self.problem_.columns)))
        seconds = deadline.fraction(PILOTS_END).remaining()
        batch = TreeBatch(value, range(PILOTS), self.sampling_, everything, seconds)
        pilots = spread_trees(task, batch, self._n_threads())
        return [None, *ladder(importances(map(Nodes.from_core, pilots), len(everything)), self.problem_.pricing)]

    def _best_sampling(
        self, value: float, task: SharedData[ForestTask], validation: ValidationSet, deadline: Deadline
    ) -> str:
        """Return the way of drawing cases with which the first trees do better on the validation cases.

        Training cases cannot decide this: trees grown from all of them hardly make errors on them.
        """
        if self.sampling != CHOSEN or validation.table is task.value.table or deadline.remaining() <= 0:
            return "drawn" if self.sampling == CHOSEN else self.sampling
        validator, found = replace(self._validator(validation), adaptive=False, limit=None), []
        # If forests will ignore prices, these trees must, too: otherwise they might all use the cheapest test.
        tests = tuple(range(len(self.problem_.columns))) if self.tests == CHOSEN else None
        for sampling in ("drawn", "weighted"):
            batch = TreeBatch(value, range(TRIED), sampling, tests, deadline.remaining())
            trees = map(self._tree, spread_trees(task, batch, self._n_threads()))
            if deadline.remaining() <= 0:  # they may be cut short
                return "drawn"
            forest = validator.forest(value, trees, tests, GrowthMonitor(TRIED, Deadline(None), keeps=False))
            found.append((self._loss(forest.curve[-1]), sampling))
        return min(found)[1]

    def _loss(self, record: BudgetRecord) -> float:
        """Return what forests are compared by: the error rate, or the total cost if errors differ in cost."""
        alike = self.problem_.bound_costs.has_uniform_errors()
        # Rounded: which of two equal forests is chosen should not depend on the currency.
        return record.error if alike else float(f"{record.price + record.error_cost:.9e}")

    def _values(self) -> list[float]:
        """Return the values of the impurity's parameter to try."""
        name = "alpha" if self.impurity == "pairs" else "power"
        given = getattr(self, name)
        values = [float(value) for value in (given if np.iterable(given) else [given])]
        if name == "power" and min(values) < LEAST_POWER:
            needs = f"impurity='powers' needs power of at least {LEAST_POWER:g}"
            raise ValueError(f"{type(self).__name__}: {needs}, got power={given!r}")
        return list(dict.fromkeys(values))

    # ---- growing

    def _divide(
        self, training: Training, rows: npt.NDArray[np.intp], rng: np.random.Generator
    ) -> tuple[Training, ValidationSet]:
        """Return the cases to grow trees from, and those that validate them, out of these rows."""
        if _is_pair(self.validation):
            X, y = self.validation
            return training.take(rows), self._validation_set(X, y, "validation")
        kept = np.zeros(0, dtype=np.intp)
        if self.validation is not None:
            kept = stratified_share(training.classes[rows], float(self.validation), rng)
        if 0 < len(kept) < len(rows):
            judging = training.take(rows[kept])
            growing = training.take(np.delete(rows, kept))
        else:
            growing = judging = training.take(rows)
        return growing, _validation_of(judging)

    def _validation_set(
        self, X: Any, y: Any, what: str, case_prices: Any = None, case_errors: Any = None
    ) -> ValidationSet:
        context = self.problem_
        X = as_frame(X)
        names = None if is_frame(X, named=True) else context.columns
        columns = read_columns(X, names, nominal=context.schema.nominal_in(X))
        if columns.names != context.columns:
            known = f"the learner was fitted with {', '.join(context.columns)}"
            raise ValueError(f"X of {what} has the columns {', '.join(columns.names)}, but {known}")
        labels, place = distinct_labels(y, columns.n_cases)
        position = {label: i for i, label in enumerate(context.classes)}
        truth = np.array([position.get(label, -1) for label in labels], dtype=np.intp)[place]
        costs = checked_case_errors(case_errors, context.answers, columns.n_cases)
        if costs is None:
            costs = context.error_rows(labels, warn=True)[place]
        amounts = context.amounts(columns, case_prices, y)
        return ValidationSet(context.schema.encode(columns), truth, costs, amounts=amounts, columns=columns)

    def _validator(self, validation: ValidationSet) -> ForestValidator:
        costs, rule = self.problem_.bound_costs, self._rule()
        return ForestValidator(costs, rule, validation, self._adaptive, self._limit, self._n_threads())

    def _rule(self) -> AnswerRule:
        return AnswerRule.of(self.problem_.bound_costs, self._class_weights, self._least_cost, self._smoothing)

    def _trees(
        self, alpha: float, task: SharedData[ForestTask], tests: tuple[int, ...] | None, monitor: GrowthMonitor
    ) -> Iterator[Tree]:
        """Yield the trees until the time is over. Each depends only on the seed and its number.

        Trees that may have been cut short by the time limit are not used, unless there is no other.
        """
        n_threads = self._n_threads()
        at_once = max(n_threads, n_workers())
        # Trees above the budget, or too late, are wasted; without a limit, large batches keep all workers busy.
        batch = at_once if self._limit is not None or self.time_limit is not None else 4 * at_once
        for first in range(0, self._most_trees(), batch):
            numbers = range(first, min(first + batch, self._most_trees()))
            ordered = TreeBatch(alpha, numbers, self.sampling_, tests, monitor.remaining())
            grown = spread_trees(task, ordered, n_threads)
            if monitor.remaining() > 0:
                yield from map(self._tree, grown)
            elif first == 0:
                yield self._tree(grown[0])
            if not monitor.goes_on():
                return

    def _tree(self, core: Any) -> Tree:
        return Tree.from_core(core, self.problem_)

    def _options(self) -> dict[str, Any]:
        """Return the core's options for growing trees."""
        return {
            "impurity": self.impurity,
            "expected": self.splits == "expected",
            "cuts": self.cuts,
            "nominal_splits": self.nominal_splits or ("multiway" if self._used == PAPER else "subset"),
            "context": bool(self.context),
            "max_depth": MAX_DEPTH if self.max_depth is None else min(int(self.max_depth), MAX_DEPTH),
        }

    # ---- choosing

    def _choose(self, budget: float | None) -> None:
        """Choose the forest, and the number of its trees, that is best within the budget."""
        found = [forest.within(budget) for forest in self.forests_]
        forest, record = min(zip(self.forests_, found, strict=True), key=lambda pair: self._loss(pair[1]))
        self._consult_only(forest, record)

    def _warn_if_unused(self) -> None:
        """Warn of a budget that no tree fits into, or that is mostly not spent, and of too little time for any tree."""
        if self.budget is None:
            if self.empty_ and self.stopped_ == "time limit":
                limit, answer = f"time_limit={self.time_limit:g}", self._labels()[self._rule().default]
                why = f"{limit} ended the search before a forest was found that costs less than no test"
                warn(f"{type(self).__name__}: {why}: every answer is {answer}; allow more time", stacklevel=4)
            return
        name, spent = f"{type(self).__name__}: budget={self.budget:g}", self.record_.price
        if self.empty_:
            answer = self._labels()[self._rule().default]
            advice = "" if self.tests == CHOSEN else "; tests='chosen' looks for tests that fit"
            warn(
                f"{name} is too small for a single tree: without tests, every answer is {answer}{advice}", stacklevel=4
            )
        elif spent < UNSPENT * float(self.budget) and self.stopped_ == "done" and not self.rate_:
            whole = len(self.trees_) == len(self._chosen.trees) == self._most_trees()
            why = "raise max_trees, or" if whole else "one tree more exceeds it:"
            used = f"{len(self.trees_)} trees cost {amount(spent)} per case"
            other = "alpha" if self.tests == CHOSEN else "alpha or tests='chosen'"
            warn(f"{name} is mostly not spent: {used}; {why} try another {other}", stacklevel=4)

    def _consult_only(self, forest: Forest, record: BudgetRecord) -> None:
        self._chosen, self.trees_ = forest, list(forest.trees[: record.trees])
        self.alpha_, self.rate_, self.record_ = forest.alpha, record.rate, record
        names = self.problem_.columns
        self.tests_ = list(names if forest.tests is None else (names[test] for test in forest.tests))
        self.empty_ = not self.trees_
        self._stops = None
        if forest.stopping is not None and record.rate is not None:
            self._stops = forest.stopping.stops(record.rate)

    @property
    def has_budgets(self) -> bool:
        """Whether other budgets can be chosen without growing trees: not in a forest of least total cost."""
        return "trees_" in self.__dict__ and self._used == PAPER

    def with_budget(self, budget: float) -> Self:
        """Return a copy for another budget, without growing trees.

        Parameters
        ----------
        budget : float
            What the tests may cost per case; not more than the budget that the forest was grown with.

        Returns
        -------
        BudgetForestClassifier
            The same answers and prices as if it had been fitted with this budget. The probabilities are as sure as with
            the budget it was fitted with, and `expected_cost_` is unknown.
        """
        check_is_fitted(self, "trees_")
        if not self.has_budgets:
            raise ValueError("this forest was grown for the least total cost; fit with a budget or variant='paper'")
        other = copy.copy(self)
        other.budget = budget
        other._check_parameters()
        if budget is None or (self._limit is not None and not fits(float(budget), self._limit)):
            grown = f"the trees were grown within a budget of {self._limit}"
            raise ValueError(f"budget={budget!r} requires refitting: {grown}")
        other._choose(float(budget))
        other._expected = None  # it was measured with the other budget
        other._set_results({})
        return other

    def budget_curve(self, X: Any, y: Any, case_prices: Any = None, case_errors: Any = None) -> list[BudgetRecord]:
        """Return what the forests cost on some cases with 0, 1, 2, … trees, in one pass.

        Parameters
        ----------
        X, y : cases and their classes
        case_prices, case_errors : arrays or frames, optional
            What tests and wrong answers cost each case; see `fit`.

        Returns
        -------
        list of BudgetRecord
            For every forest, in the order of `forests_`, one record each for 0, 1, 2, … trees; with ``adaptive=True``,
            one for all trees at every rate, then one for no tree.

        Examples
        --------
        >>> import worthwhile as ww
        >>> X, y = [[i] for i in range(20)], [0] * 10 + [1] * 10
        >>> costs = ww.Costs(tests={"x0": 3.0})
        >>> clf = ww.BudgetForestClassifier(variant="paper", costs=costs, max_trees=2, random_state=0).fit(X, y)
        >>> [(record.trees, record.price) for record in clf.budget_curve(X, y)]
        [(0, 0.0), (1, 3.0), (2, 3.0)]
        """
        check_is_fitted(self, "trees_")
        validator = self._validator(self._validation_set(X, y, "the curve", case_prices, case_errors))
        return [record for forest in self.forests_ for record in validator.curve(forest)]

    # ---- answering

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Return the leaf that each case ends in, for every tree: an array of shape (cases, trees); see `Tree.apply`.

        All trees are asked, also those that an adaptive forest would not consult.
        """
        check_is_fitted(self, "trees_")
        columns = self._read(X)
        leaves = [tree.apply(columns) for tree in self.trees_]
        return np.column_stack(leaves) if leaves else np.zeros((columns.n_cases, 0), dtype=np.int64)

    def decision_path(self, X: Any) -> tuple[Any, npt.NDArray[np.int64]]:
        """Return the nodes of all trees that each case passes, as a sparse matrix, and the first column of each tree.

        As in scikit-learn's forests, columns ``[starts[i] : starts[i + 1]]`` belong to tree i.
        """
        from scipy.sparse import csr_matrix, hstack

        check_is_fitted(self, "trees_")
        columns = self._read(X)
        starts = np.cumsum([0, *(tree.n_nodes for tree in self.trees_)], dtype=np.int64)
        paths = [tree.decision_path(columns) for tree in self.trees_]
        return hstack(paths, format="csr") if paths else csr_matrix((columns.n_cases, 0), dtype=np.int64), starts

    @property
    def max_cost_bound_(self) -> float | None:
        """How many times as much as in the best tree the most expensive training case of a tree pays, at most.

        The bound of theorem 2.2 (Nan, Wang & Saligrama 2015), for the trees that are consulted; None where it does not
        hold or is not known: see docs/design/forests.md.
        """
        check_is_fitted(self, "trees_")
        impurity = self.__dict__.get("_bounded")  # a loaded forest does not know it
        unit = 0.5 if self.sampling_ == "weighted" else 1.0
        return None if impurity is None else max_cost_bound(self.trees_, impurity, self.alpha_, unit)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The share of each test in what all tests save in error costs on the training cases; they add up to 1.

        The mean over the trees; prices are not deducted. All are 0 if the tests save nothing.
        """
        check_is_fitted(self, "trees_")
        if not self.trees_:
            return np.zeros(len(self.problem_.columns))
        return normalized_savings(self.trees_)

    def _route(
        self,
        X: Any,
        answers: bool = False,
        prices: bool = False,
        shares: bool = False,
        case_prices: Any = None,
        y: Any = None,
    ) -> tuple[Any, Any, Any]:
        check_is_fitted(self, "trees_")
        columns = self._read(X)
        table, likely = self.problem_.schema.encode(columns), None
        if prices and y is None and self.problem_.needs_shares():
            likely = self._vote(table, columns.n_cases, None)[0].shares()
        amounts = self.problem_.amounts(columns, case_prices, y, likely) if prices else None
        votes, _ = self._vote(table, columns.n_cases, amounts)
        return (
            votes.answers() if answers else None,
            votes.prices if prices else None,
            votes.shares() if shares else None,
        )

    def _charged(self, X: Any, case_prices: Any = None) -> npt.NDArray[np.uint64]:
        check_is_fitted(self, "trees_")
        columns = self._read(X)
        amounts = None if case_prices is None else self.problem_.amounts(columns, case_prices)
        return self._vote(self.problem_.schema.encode(columns), columns.n_cases, amounts)[1].charged()

    def _vote(self, table: Any, n_cases: int, amounts: Any) -> tuple[Votes, _core.ForestRouter]:
        """Consult the trees about each case, as many as it needs."""
        costs, n_threads = self.problem_.bound_costs, self._n_threads()
        router = _core.ForestRouter(table, costs.core_pricing, costs.core_errors, amounts, self._least_cost)
        votes = Votes(n_cases, self._rule())
        trees = [tree._core_tree for tree in self.trees_]
        if self._adaptive:
            votes.consult_until_settled(router, trees, self._stops, n_threads)
        else:
            votes.add_all(*router.consult_all(trees, n_threads))
        return votes, router

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probabilities of the classes by the trees consulted, in the order of `classes_`.

        With least-cost answers: the mean class shares of the leaves that a case reaches, with the class shares of all
        training cases as two trees more; `predict` is the answer of lowest expected error cost for them.

        With majority votes: the vote shares. The class shares of the leaves that a case reaches, and those of all
        training cases, share half a vote, so no class has the probability 0. The class with the largest share is always
        the answer.
        """
        return super().predict_proba(X)

    def next_test(self, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> Advice:
        """Return what to do next for a case with the results `known`; see `Tree.next_test`.

        The trees are consulted in order; the first one that needs a test decides.
        """
        return self._consultation(known, already_paid).advice(known)

    def _advise(self, cases: Worklist) -> AdviceColumns:
        check_is_fitted(self, "trees_")
        return advise_forest(self.trees_, cases, Votes(cases.n_cases, self._rule()), self._quits, self._n_threads())

    def run(self, case: Mapping[str, Any], fetch: Fetch, already_paid: Iterable[str] = ()) -> Outcome:
        """Follow `next_test` until there is an answer, calling functions that fetch values; see `Tree.run`."""
        check_is_fitted(self, "trees_")
        needed = may_ask(self.trees_, case, already_paid, may_stop=False)
        return run(self.next_test, needed, self.problem_, case, fetch, already_paid)

    def explain(self, case: Mapping[str, Any]) -> Explanation:
        """Return the path of a case through the trees, in words and money; see `Tree.explain`."""
        return self._consultation(case).explain(case)

    def _asked(self, known: Mapping[str, Any]) -> set[int]:
        return self._consultation(known).asked()

    def _consultation(self, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> Consultation:
        check_is_fitted(self, "trees_")
        votes = Votes(1, self._rule())
        return Consultation(self.problem_, self.trees_, known, votes, self._quits, already_paid)

    def _quits(self, number: int, votes: Votes) -> npt.NDArray[np.bool_]:
        """Return which cases stop after some trees."""
        if not self._adaptive:
            return np.zeros(len(votes.prices), dtype=np.bool_)
        return votes.quits(number, len(self.trees_), self._stops)

    def _summary_html(self) -> str:
        if "trees_" not in self.__dict__:
            return ""
        record = self.record_
        price, error = f"tests {amount(record.price)}", f"errors {amount(record.error_cost)}"
        facts = [f"{price} and {error} per validation case, {record.error:.1%} wrong"]
        return forest_table(self.problem_, self.trees_, type(self).__name__, facts)

    # ---- files

    def _content(self) -> dict[str, Any]:
        check_is_fitted(self, "trees_")
        position = self.forests_.index(self._chosen)
        chosen = {"forest": position, "record": self.forests_[position].curve.index(self.record_)}
        return {
            "needs": needs_of(self.problem_, (tree for forest in self.forests_ for tree in forest.trees)),
            "forest": forests_to_json(self.problem_, self._class_weights, self.forests_),
            "limit": self._limit,
            "chosen": chosen,
            "sampling": self.sampling_,
            "variant": self._used,
            "answer": LEAST_COST if self._least_cost else "majority",
            "stopped": self.stopped_,
            "temperature": self._smoothing.temperature,
            "prior": self._smoothing.prior,
            "expected_cost": None if self._expected is None else list(self._expected),
        }

    def _restore(self, reader: Reader, version: int) -> ProblemContext:
        found = forests_from_json(reader.take("forest", dict), version)
        self._context, self._class_weights, self.forests_ = found
        self._adaptive = self.forests_[0].stopping is not None or (SETTLED if self.adaptive == SETTLED else False)
        limit = reader.take("limit", (int, float, type(None)), None)
        if limit is not None and not is_finite(limit):
            raise ValueError("'limit' of the model must be a finite number or null")
        self._limit = None if limit is None else float(limit)
        self.sampling_, self.stopped_ = reader.take("sampling", str, "drawn"), reader.take("stopped", str, "done")
        self._used = reader.take("variant", str, PAPER)
        self._least_cost = reader.take("answer", str, "majority") == LEAST_COST  # older files do not say
        self._smoothing = _read_smoothing(reader)
        self._expected = parse_expected_cost(reader.take("expected_cost", (list, type(None)), None))
        chosen = Reader(reader.take("chosen", dict), "'chosen' of the model")
        forest, record = chosen.take("forest", int), chosen.take("record", int)
        chosen.finish()
        if not (0 <= forest < len(self.forests_) and 0 <= record < len(self.forests_[forest].curve)):
            raise ValueError(f"'chosen' of the model names record {record} of forest {forest}, which does not exist")
        self._consult_only(self.forests_[forest], self.forests_[forest].curve[record])
        return self._context


def _read_smoothing(reader: Reader) -> Smoothing:
    """Return how votes become probabilities; older files have no part of the class shares."""
    temperature = float(reader.take("temperature", numbers.Real, 1.0))
    if not 0 < temperature < math.inf:
        raise ValueError(f"'temperature' of the model must be a number above 0, got {temperature:g}")
    prior = float(reader.take("prior", numbers.Real, 0.0))
    if not 0 <= prior <= 1:
        raise ValueError(f"'prior' of the model must be a number from 0 to 1, got {prior:g}")
    return Smoothing(temperature, prior)


def _mean_amounts(cases: Training) -> list[float] | None:
    """Return what tests cost the cases on average, with their surcharges; None: as the list says."""
    context = cases.context
    if cases.case_prices is None and not context.has_surcharges:
        return None
    labels = np.array(context.classes, dtype=object)[cases.classes]
    amounts = context.amounts(cases.columns, cases.case_prices, labels)
    if amounts is None:
        return None
    prices, found = context.bound_costs.prices, amounts.mean(axis=0)
    np.add.at(found, prices.surcharge_test, found[len(prices.marginal) :])
    return [max(float(price), 0.0) for price in found]


def _validation_of(cases: Training) -> ValidationSet:
    costs = cases.context.error_costs[cases.classes] if cases.case_errors is None else cases.case_errors
    truth = cases.classes.astype(np.intp)
    return ValidationSet(cases.table, truth, costs, cases.sample_weights, columns=cases.columns)


def _is_pair(validation: Any) -> bool:
    return isinstance(validation, (tuple, list)) and len(validation) == 2

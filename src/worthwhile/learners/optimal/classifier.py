"""Trees of provably least cost, by exact search (docs/design/exact-search.md)."""

# The sections Parameters and Attributes of the docstrings are written by docs/write_parameters.py.

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from worthwhile.learners.cross_fitting import FoldTree, counting_seconds, fold_cases, n_fold_trees
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.optimal.near_optimal import (
    NearOptimalSummary,
    NearOptimalTrees,
    SearchedCases,
    read_near_optimal,
)
from worthwhile.learners.optimal.search import (
    ALL_CUTS,
    FOLD_CUTS,
    FOLD_WORK,
    MEMORY,
    WORK,
    ExactSearch,
    Found,
    SettingsChoice,
    choose_settings,
    fallback,
    search_pieces,
)
from worthwhile.learners.parameters import (
    Deepening,
    Distinct,
    LeafPrice,
    NominalSplits,
    SoftLabelShare,
    Thresholds,
    check_parameters,
)
from worthwhile.learners.progress import CALLBACK, Progress, asks_to_stop
from worthwhile.learners.soft_labels import SoftLabels, has_values
from worthwhile.learners.training import Training
from worthwhile.learners.tree_classifier import TreeClassifier
from worthwhile.learners.workload import Piece
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.explanation import Explanation
from worthwhile.tree.json_format import Reader
from worthwhile.tree.tree import Tree

__all__ = ["OptimalClassifier"]

# Units of work, as those of the search: about half a second.
SUMMARY_WORK = 2e8
# Share of the time for trees on folds, where choosing the settings has not grown them.
FOLDS_SHARE = 0.3
# The first of them has at least this share of the time limit: without any search, its tree would have no test.
SHORTEST = 0.03
# An exact search takes longer than a greedy tree: only so many of the cases that `timely` allows.
CASES_SHARE = 0.25


@dataclass(kw_only=True, eq=False, repr=False)
class OptimalClassifier(TreeClassifier):
    """The tree of least total cost among all trees up to a depth, found by exact search.

    The search looks at all trees within `max_depth`, `max_leaves` and `cap`, and rules out most of them by bounds. It
    counts prices exactly: groups, requirements, delayed orders, surcharges and waiting. When it is finished, the tree
    is proven to cost least on the training cases (`proven_`); when it is ended before, `gap_` says how much a better
    tree could save at most.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    weighting : {"instance"}, optional
        On top of what the learner itself does with error costs, each case weighs as much as it costs to misclassify it
        (Ting 1998). None: all cases weigh the same.
    leaf_price : float or "chosen", default "chosen"
        What every leaf adds to the cost per case while trees are compared, in the money of the prices: larger values
        give smaller trees. "chosen": 0, 0.5 or 2 % of what a case costs without any test, by cross-validation.
    soft_labels : float or "chosen", default "chosen"
        Share of soft labels, which are class probabilities by a random forest, a logistic regression and boosted trees,
        in the labels that the tree is learned from. "chosen": 0, ½ or 1, by cross-validation.
    deepen : bool or "chosen", default False
        Whether the proven tree is grown further, at most six levels below `max_depth`: each of its nodes but the first
        looks three levels ahead again. "chosen": where that costs less in cross-validation; there is none if
        `leaf_price` is given and `soft_labels` is 0. With `max_leaves` never.
    nominal_splits : {"multiway", "subset", "both"}, default "both"
        How nominal tests are asked: a branch for every value; two branches, for some values and for the rest; or both.
        Up to 5 values, all ways to divide them are tried; of more, each value against the rest.
    near_optimal : float or None, default 0.05
        Also count the trees whose objective is at most this share above that of the best one (`near_optimal_`), if the
        best one is proven and that takes little work. Not with `min_cases`. None: do not.
    thresholds : int or "all", default "all"
        Cuts of numeric tests that are tried: all, or at most so many of each, at quantiles. With a number, the tree is
        the best one among these cuts.
    min_cases : float, optional
        At least two branches of a split must each hold this weight of cases. The search does not know of it: if its
        tree breaks the rule, some others are searched for, all are cut back, and the cheapest is kept, which is not
        proven; `bound_` still holds. None: branches may hold single cases.
    max_leaves : int, optional
        Largest number of leaves.
    max_depth : int or None, default 4
        Longest path from the root to a leaf of the trees that the proof is about, and of the tree unless it is grown
        further (`deepen`). The cross-validation may choose a lower depth.
    time_limit : float, optional
        Seconds after which the search ends with the best tree so far; up to half of them are for the choice of the
        settings. If the table has more than 125,000 cells (cases times columns) per second of the limit, a random part
        of the cases is used. None: the search ends after as much work as takes about a minute, so that the tree is the
        same on every machine; set a long time for a proof that takes longer. After Ctrl-C, `fit` raises
        KeyboardInterrupt; the learner then holds the best tree so far.
    memory_limit : float, optional
        Megabytes for what the search remembers. None: 1,024. Less only makes it slower.
    callback : function, optional
        Called several times a second with a `Progress` that has the cost of the best tree and the lower bound. If it
        returns True, the search ends.
    cross_fit : bool, default True
        Whether `fit` also grows trees on parts of the cases, to find out what new cases cost (`expected_cost_`) and how
        far to trust the class shares of small nodes. False: `fit` takes a fifth of the time (ICET: half, ACT: little
        less), and probabilities are the plain class shares of the training cases.
    nominal : list of column names or positions, optional
        Numeric columns to treat as categories. Columns of strings, categories and booleans are always nominal; ordered
        categories are cut like numbers.
    columns : list of str, optional
        Names for the columns of an X that has none.
    random_state : int, numpy Generator or RandomState, optional
        Makes the soft labels and the folds repeatable.
    n_jobs : int, optional
        Number of threads. None: one; -1: all processors. The result does not depend on it.

    Attributes
    ----------
    tree_ : Tree
        The learned tree.
    expected_cost_ : float
        What a new case is expected to cost, tests and errors together, measured out of fold.
    expected_cost_interval_ : (float, float)
        The 95 % confidence interval of `expected_cost_`.
    objective_ : float
        What the tree costs per training case, by the labels it was learned from, with the prices of its leaves.
    bound_ : float
        No tree within the limits has a lower objective. One that was grown beyond `max_depth` may.
    gap_ : float
        What another tree within the limits could save at most. 0: proven, or nothing.
    proven_ : bool
        Whether no tree within the limits has a lower objective.
    near_optimal_ : NearOptimalSummary or None
        How many trees cost little more than the best one, and what they have in common. None: not counted.
    leaf_price_ : float
        The price per leaf that was used.
    soft_label_weight_ : float
        Share of soft labels in the labels that the tree was grown from.
    history_ : list of Progress
        Seconds, cost and bound, whenever one of them has changed.
    stopped_ : {"done", "work limit", "time limit", "callback", "interrupted"}
        Why the search ended. "done": the tree is proven, unless `min_cases` has cut it.
    classes_ : array
        The classes, sorted.
    feature_importances_ : array
        Share of each test in what all tests save in error costs on the training cases.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns of X, if it has names.

    Examples
    --------
    The class is whether two of six bits differ. No test alone gains anything.

    >>> import numpy as np
    >>> import worthwhile as ww
    >>> X = np.random.default_rng(0).integers(0, 2, (300, 6)).astype(str)
    >>> y = X[:, 0] != X[:, 1]
    >>> costs = ww.Costs(tests={f"x{i}": 1.0 for i in range(6)}, errors=100)
    >>> clf = ww.OptimalClassifier(costs=costs, soft_labels=0, leaf_price=0, max_depth=2).fit(X, y)
    >>> clf.tree_.tests_used(), clf.objective_, clf.proven_
    (['x0', 'x1'], 2.0, True)
    """

    max_depth: int = 4
    max_leaves: int | None = None
    min_cases: float | None = None
    leaf_price: LeafPrice = "chosen"
    soft_labels: SoftLabelShare = "chosen"
    deepen: Deepening = False
    nominal_splits: NominalSplits = "both"
    thresholds: Thresholds = "all"
    time_limit: float | None = None
    memory_limit: float | None = None
    near_optimal: float | None = 0.05
    callback: Callable[[Progress], Any] | None = None
    _lists_subsets: ClassVar[bool] = True
    # For a learner that uses this one: settings that are given are not chosen again, and the work of the search.
    _as_given: ClassVar[bool] = False
    _work: ClassVar[float] = WORK

    def _learn(self, training: Training) -> None:
        deadline, rng = Deadline(self.time_limit, training.start), self._generator()
        deadline.set_aside(counting_seconds(training))
        self.stopped_ = "interrupted"
        self.history_: list[Progress] = []
        self.near_optimal_: NearOptimalSummary | None = None
        limit = None if self.time_limit is None else CASES_SHARE * self.time_limit
        cases = self._cases = training.timely(limit, rng).repeated()
        try:
            choice = self._choose(cases, deadline, rng)
        except KeyboardInterrupt:  # a small search, so that there is a tree
            settings = fallback(cases, min(2, int(self.max_depth)), self._given(self.leaf_price), 0.0)
            self._folds = None
            self._keep(
                self._search(FOLD_CUTS).run(*self._rows(SoftLabels.own(cases), 0.0), settings, FOLD_WORK), training
            )
            self.leaf_price_, self.soft_label_weight_ = settings.leaf_price, 0.0
            return
        self._folds = choice.folds
        self.leaf_price_, self.soft_label_weight_ = choice.settings.leaf_price, choice.settings.soft_label_weight
        found = self._run(choice, deadline)
        self._keep(found, training, choice.settings.deeper)
        search = self._search(self._cuts())
        self._searched = SearchedCases(search, choice.labels, choice.settings, training, found.objective)
        if found.proven and self.near_optimal is not None and self.min_cases is None:
            self._summarise(float(self.near_optimal), deadline)

    def _summarise(self, epsilon: float, deadline: Deadline) -> None:
        """Count the trees that cost little more than the best one, with few thresholds if all would take long."""
        limited = self.time_limit is not None
        for thresholds in (None, FOLD_CUTS):
            if thresholds is not None and (self._cuts() <= thresholds or self._searched.n_thresholds() <= thresholds):
                return
            seconds = deadline.remaining() / 2 if limited else math.inf
            try:
                found = self._searched.near_optimal(epsilon, 0, False, SUMMARY_WORK, seconds, None, thresholds)
            except KeyboardInterrupt:
                self.stopped_ = "interrupted"  # the tree is there
                return
            if found is not None and (self.near_optimal_ is None or found.within > self.near_optimal_.within):
                self.near_optimal_ = found.without_trees()
            if self.near_optimal_ is not None and self.near_optimal_.complete:
                return

    def _pieces(self, training: Training) -> list[Piece]:
        if self.time_limit is not None:
            return []  # time alone tells how far it is
        return search_pieces(training, self._given(self.leaf_price), self._given(self.soft_labels))

    def _choose(self, cases: Training, deadline: Deadline, rng: Any) -> SettingsChoice:
        leaf_price, soft = self._given(self.leaf_price), self._given(self.soft_labels)
        # A number of leaves is shared out from the root: there is nothing to grow below its leaves.
        deepen = False if self.max_leaves is not None else None if isinstance(self.deepen, str) else bool(self.deepen)
        if leaf_price is not None and soft == 0:  # nothing to choose: the plain search
            settings = fallback(cases, int(self.max_depth), leaf_price, 0.0, deepen)
            return SettingsChoice(settings, SoftLabels.own(cases))
        if self._as_given and has_values(cases) and cases.n_classes > 1:
            settings = fallback(cases, int(self.max_depth), leaf_price, soft, deepen)
            seed = int(rng.integers(2**31))
            return SettingsChoice(settings, SoftLabels.by_ensemble(cases, seed, self._n_threads()))
        search = self._search(min(self._cuts(), FOLD_CUTS))
        return choose_settings(cases, search, int(self.max_depth), leaf_price, soft, deepen, deadline, rng)

    def _run(self, choice: SettingsChoice, deadline: Deadline) -> Found:
        asked: list[bool] = []

        def tell(cost: float, bound: float) -> bool:
            progress = Progress(deadline.elapsed(), done=0, cost=cost, bound=bound)
            if not self.history_ or (cost, bound) != (self.history_[-1].cost, self.history_[-1].bound):
                self.history_.append(progress)
            if asks_to_stop(self.callback, progress):
                asked.append(True)
            return bool(asked)

        settings = choice.settings
        limited = self.time_limit is not None
        if self.cross_fit and choice.folds is None:  # they come after the search
            deadline.set_aside(FOLDS_SHARE * deadline.remaining())
        found = self._search(self._cuts()).run(
            *self._rows(choice.labels, settings.soft_label_weight),
            settings,
            work=math.inf if limited else self._work,
            seconds=deadline.remaining() if limited else math.inf,
            tell=tell,
        )
        tell(found.objective, found.bound)
        if found.interrupted:
            self.stopped_ = "interrupted"
        elif asked:
            self.stopped_ = CALLBACK
        elif found.finished:
            self.stopped_ = "done"
        else:
            self.stopped_ = "time limit" if limited else "work limit"
        return found

    def _rows(self, labels: SoftLabels, soft_label_weight: float) -> tuple[Any, Any]:
        return labels.rows(soft_label_weight), labels.training.bound_costs.learning

    def _keep(self, found: Found, training: Training, deeper: bool = False) -> None:
        self.proven_ = found.proven
        self.bound_ = found.objective if found.proven else found.bound
        self.objective_ = found.deeper_objective if deeper else found.objective
        self.gap_ = max(self.objective_ - self.bound_, 0.0)
        self._deeper = deeper
        self.tree_ = Tree.from_core(found.deeper if deeper else found.core, training.context, "least-cost")

    def rashomon(
        self,
        epsilon: float = 0.05,
        max_trees: int = 100,
        distinct: Distinct = "trees",
        thresholds: Thresholds = "all",
        time_limit: float | None = None,
    ) -> NearOptimalTrees:
        """Return the trees within the limits whose objective is at most a share above that of the best one of them.

        All of them are counted, and the cheapest are listed. They tell which tests matter: a test that all of them ask
        for cannot be replaced, and where they begin with different tests, the choice between these hardly matters.

        Parameters
        ----------
        epsilon : float
            The share of the objective. If the trees within it are too many to be counted, those within a smaller share
            are returned: `within` of the result says which.
        max_trees : int
            The most trees to list.
        distinct : {"trees", "structures"}
            What is listed: "trees", or of all trees that ask the same tests in the same places, with other thresholds,
            only the cheapest ("structures").
        thresholds : int or "all"
            With a number: only trees with at most so many different thresholds of each numeric test, at quantiles, and
            the best of them in place of the best tree. Thresholds next to each other make thousands of trees that
            hardly differ. "all": those that the learner could choose from.
        time_limit : float, optional
            Seconds. None: as much work as takes about a minute.

        Returns
        -------
        NearOptimalTrees
            See docs/howto/near-optimal-trees.md.

        Raises
        ------
        ValueError
            If the learner was loaded from a file, unpickled or copied: only the one that was fitted has the training
            cases. `near_optimal_`, the summary that `fit` has made, is there. Also with `min_cases`.
        TimeoutError
            If the limits are too low even for the trees that cost no more than the best one.
        """
        check_is_fitted(self, "tree_")
        if self.min_cases is not None:
            raise ValueError("rashomon: not available with min_cases, since the trees it lists may have small branches")
        given = {"epsilon": epsilon, "max_trees": max_trees, "distinct": distinct}
        check_parameters("rashomon", given | {"thresholds": thresholds, "time_limit": time_limit})
        searched: SearchedCases | None = self.__dict__.get("_searched")
        if searched is None:
            why = "a loaded, unpickled or copied OptimalClassifier does not have the training cases"
            raise ValueError(f"rashomon: {why}; fit it again (near_optimal_ is the summary that was made in fit)")
        found = searched.near_optimal(
            float(epsilon),
            int(max_trees),
            distinct == "structures",
            work=WORK if time_limit is None else math.inf,
            seconds=math.inf if time_limit is None else float(time_limit),
            strength=self._strength,
            thresholds=None if thresholds == "all" else int(thresholds),
        )
        if found is None:
            raise TimeoutError("rashomon: the limit is too low to find the trees that cost no more than the best one")
        return found

    def explain(self, case: Mapping[str, Any]) -> Explanation:
        """Return the path of a case through the tree, in words and money, and how many similar trees begin like it."""
        found = super().explain(case)
        if self.near_optimal_ is None:
            return found
        tree = self._tree()
        return found.with_note(
            self.near_optimal_.headline(tree.columns[tree.nodes.test[0]] if tree.n_nodes > 1 else None)
        )

    def _forget(self) -> None:
        super()._forget()
        for name in ("near_optimal_", "_searched", "_cases"):
            self.__dict__.pop(name, None)

    def _content(self) -> dict[str, Any]:
        content = super()._content()
        return content if self.near_optimal_ is None else content | {"near_optimal": self.near_optimal_.to_plain()}

    def _restore(self, reader: Reader, version: int) -> ProblemContext:
        near = reader.take("near_optimal", dict, None)
        self.near_optimal_ = None if near is None else read_near_optimal(near)
        return super()._restore(reader, version)

    def __getstate__(self) -> dict[str, Any]:
        # The training cases stay with the learner that was fitted.
        return {name: value for name, value in super().__getstate__().items() if name not in ("_searched", "_cases")}

    def _grown_from(self, training: Training) -> Training:
        return self._cases

    def _fold_trees(self, training: Training) -> Iterator[FoldTree]:
        folds, cases = self.__dict__.pop("_folds", None), self._cases
        if folds is not None and self.stopped_ != "interrupted":
            yield from folds
            return
        depth = min(self.tree_.depth, int(self.max_depth)) or 1
        settings = fallback(cases, depth, self.leaf_price_, 0.0, self._deeper)
        search = self._search(min(self._cuts(), FOLD_CUTS))
        deadline, n_folds = Deadline(self.time_limit, training.start), n_fold_trees(cases.n_cases)
        deadline.set_aside(counting_seconds(training))
        for done, (kept, held_out) in enumerate(fold_cases(cases)):
            seconds = math.inf
            if self.time_limit is not None:
                seconds = max(deadline.remaining() / (n_folds - done), SHORTEST * self.time_limit)
            if self.tree_.n_nodes == 1 and not self.proven_:
                seconds = 0.0  # there was no time for a test
            found = search.run(*self._rows(SoftLabels.own(kept), 0.0), settings, FOLD_WORK, seconds)
            if found.interrupted:
                self.stopped_ = "interrupted"  # the tree is there; `fit` passes it on
            yield FoldTree(found.deeper if settings.deeper else found.core, kept, held_out)

    def _search(self, cuts: int) -> ExactSearch:
        memory = MEMORY if self.memory_limit is None else int(self.memory_limit * 2**20)
        return ExactSearch(self.max_leaves, cuts, memory, self._n_threads(), float(self.min_cases or 0.0))

    def _cuts(self) -> int:
        return ALL_CUTS if self.thresholds == "all" else int(self.thresholds)

    @staticmethod
    def _given(value: float | str) -> float | None:
        return None if isinstance(value, str) else float(value)

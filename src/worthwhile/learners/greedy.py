"""The greedy learners: C4.5, EG2, IDX, CS-ID3 and DTMC.

They share C4.5's algorithm and differ in how they score a candidate split. The formulas are those of Turney (1995),
section 3, and Esmeir & Markovitch (2008); docs/design/growing.md and docs/design/pruning.md give the details.
"""

# The sections Parameters and Attributes of the docstrings are written by docs/write_parameters.py.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.bound_costs import LearningCosts
from worthwhile.learners.cross_fitting import n_fold_trees
from worthwhile.learners.growth_policy import NO_LIMIT, GrowthPolicy
from worthwhile.learners.leaf_limit import limit_leaves
from worthwhile.learners.parameters import Answer, Prune, Variant
from worthwhile.learners.training import Training
from worthwhile.learners.tree_classifier import TreeClassifier
from worthwhile.learners.workload import Piece, tree_piece, workload
from worthwhile.tree.tree import Tree

__all__ = ["C45Classifier", "CSID3Classifier", "DTMCClassifier", "EG2Classifier", "IDXClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class _GreedyClassifier(TreeClassifier):
    """What the greedy learners share."""

    prune: Prune = "pessimistic"
    confidence: float = 0.25
    raise_subtrees: bool = True
    min_cases: float = 2
    min_share: float = 0.1
    max_depth: int | None = None
    max_leaves: int | None = None
    answer: Answer = "majority"
    _criterion: ClassVar[str]

    def _learn(self, training: Training) -> None:
        rows = training.table, training.classes, training.weights
        self._keep(self._grow(training), training, rows, self._policy())

    def _keep(self, core: Any, training: Training, rows: tuple[Any, Any, Any], policy: GrowthPolicy) -> None:
        """Keep a grown tree, or a part of it with few enough leaves; `rows` are the cases that it was pruned by."""
        costs = self._learning_costs(training)
        core, self.leaf_limit_ = limit_leaves(core, rows, costs, policy, self.max_leaves)
        self.tree_ = Tree.from_core(core, training.context, self.answer)

    def _pieces(self, training: Training) -> list[Piece]:
        return [self._piece(training)] * (1 + (n_fold_trees(training.n_cases) if self.cross_fit else 0))

    def _piece(self, training: Training) -> Piece:
        return tree_piece(training.n_cases, len(training.context.columns))

    def _grow(self, training: Training) -> Any:
        costs = self._learning_costs(training)
        with workload().doing(self._piece(training)) as meter:
            return _core.grow(
                training.table,
                training.classes,
                training.weights,
                costs.core_pricing,
                costs.core_errors,
                self._policy().core(),
                meter=meter,
            )

    def _learning_costs(self, training: Training) -> LearningCosts:
        """Return the costs that trees are grown and pruned by."""
        return training.bound_costs.learning

    def _policy(self) -> GrowthPolicy:
        """Return how trees are grown and pruned, by the parameters."""
        return GrowthPolicy(
            criterion=self._criterion,
            omega=float(getattr(self, "omega", 1.0)),
            min_cases=float(self.min_cases),
            min_share=float(self.min_share),
            max_depth=NO_LIMIT if self.max_depth is None else min(int(self.max_depth), NO_LIMIT),
            nominal_splits=self.nominal_splits,
            mdl_correction=bool(getattr(self, "mdl_correction", False)),
            context=bool(getattr(self, "context", False)),
            idx_depth=min(int(getattr(self, "lookahead", 1)), NO_LIMIT),
            least_cost=self.answer == "least-cost",
            prune=self.prune,
            confidence=float(self.confidence),
            raise_subtrees=bool(self.raise_subtrees),
            may_stop=getattr(self, "variant", "refined") != "paper",
            n_threads=self._n_threads(),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class C45Classifier(_GreedyClassifier):
    """C4.5: the test of highest gain ratio among those of at least average gain. It ignores prices.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    weighting : {"instance"}, optional
        "instance": each case weighs as much as it costs to misclassify it, in growing and in pruning (Ting 1998). None:
        all cases weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
    mdl_correction : bool, default False
        C4.5's later correction: a numeric test loses log2(number of cuts tried) / cases of its gain.
    prune : {"pessimistic", "cost", "none"}, default "pessimistic"
        C4.5's error-based pruning, pruning by expected total cost (as in ACT), or none.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate; smaller values prune more.
    raise_subtrees : bool, default True
        Whether pessimistic pruning may replace a node by its largest branch.
    min_cases : float, default 2
        At least two branches of a split must each hold this weight of cases.
    min_share : float, default 0.1
        Both sides of a numeric cut must hold this share of the node's cases divided by the number of classes, but never
        more than 25 cases (C4.5). 0: only `min_cases` counts.
    max_leaves : int, optional
        Largest number of leaves. A tree with more is cut down to the part with the lowest expected total cost; ACT and
        ICET compare trees after the cut.
    max_depth : int, optional
        Longest path from the root to a leaf, at most 4096.
    answer : {"majority", "least-cost"}, default "majority"
        Whether a leaf answers its most frequent class, or the answer with the lowest expected error cost.
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
        Not used, since nothing is random here; every learner has this parameter.
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
    leaf_limit_ : LeafLimit or None
        With `max_leaves`: number of leaves and expected cost with (`leaves`, `cost`) and without (`full_leaves`,
        `full_cost`) the limit. Not saved.
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
    J. R. Quinlan (1993), C4.5: Programs for Machine Learning; (1996), Improved use of continuous attributes in C4.5
    (`mdl_correction`).

    Examples
    --------
    >>> import worthwhile as ww
    >>> pima = ww.datasets.load("pima")
    >>> clf = ww.C45Classifier(costs=pima.costs, columns=pima.feature_names).fit(pima.X, pima.y)
    >>> clf.tree_.n_leaves, round(clf.score(pima.X, pima.y), 3)
    (71, 0.939)
    """

    mdl_correction: bool = False

    _criterion = "gain-ratio"


@dataclass(kw_only=True, eq=False, repr=False)
class EG2Classifier(_GreedyClassifier):
    """EG2: the test of highest information cost function, (2^gain − 1) / (price + 1)^omega.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    variant : {"refined", "paper"}, default "refined"
        "paper": the formula with prices as given, so that the currency matters. "refined": prices are first scaled to a
        geometric mean of 5, without free tests.
    omega : float, default 1.0
        How strongly prices count; 0 ignores them.
    hierarchies : mapping of column to {value: more general value}, optional
        ISA trees of nominal values: a test may be asked at any level of generalisation.
    weighting : {"instance"}, optional
        "instance": each case weighs as much as it costs to misclassify it, in growing and in pruning (Ting 1998). None:
        all cases weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
    mdl_correction : bool, default False
        C4.5's later correction: a numeric test loses log2(number of cuts tried) / cases of its gain.
    context : bool, default False
        True: the criterion uses what a test costs after those on the path: nothing if it is paid for, less if its group
        is. False: list prices.
    prune : {"pessimistic", "cost", "none"}, default "pessimistic"
        C4.5's error-based pruning, pruning by expected total cost (as in ACT), or none.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate; smaller values prune more.
    raise_subtrees : bool, default True
        Whether pessimistic pruning may replace a node by its largest branch.
    min_cases : float, default 2
        At least two branches of a split must each hold this weight of cases.
    min_share : float, default 0.1
        Both sides of a numeric cut must hold this share of the node's cases divided by the number of classes, but never
        more than 25 cases (C4.5). 0: only `min_cases` counts.
    max_leaves : int, optional
        Largest number of leaves. A tree with more is cut down to the part with the lowest expected total cost; ACT and
        ICET compare trees after the cut.
    max_depth : int, optional
        Longest path from the root to a leaf, at most 4096.
    answer : {"majority", "least-cost"}, default "majority"
        Whether a leaf answers its most frequent class, or the answer with the lowest expected error cost.
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
        Not used, since nothing is random here; every learner has this parameter.
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
    leaf_limit_ : LeafLimit or None
        With `max_leaves`: number of leaves and expected cost with (`leaves`, `cost`) and without (`full_leaves`,
        `full_cost`) the limit. Not saved.
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
    M. Núñez (1991), The use of background knowledge in decision tree induction; Turney (1995), eq. 2 and 3.

    Examples
    --------
    >>> import worthwhile as ww
    >>> heart = ww.datasets.load("heart")
    >>> clf = ww.EG2Classifier(costs=heart.costs, nominal=heart.nominal, columns=heart.feature_names)
    >>> clf = clf.fit(heart.X, heart.y)
    >>> print(f"{clf.test_costs(heart.X).mean():.2f} per patient, {heart.costs.total_price():.2f} for all tests")
    3.61 per patient, 323.97 for all tests
    """

    mdl_correction: bool = False
    context: bool = False
    omega: float = 1.0
    hierarchies: Mapping[str, Mapping[Any, Any]] | None = None
    variant: Variant = "refined"

    _criterion = "icf"

    def _learning_costs(self, training: Training) -> LearningCosts:
        return training.bound_costs.as_given if self.variant == "paper" else training.bound_costs.learning


@dataclass(kw_only=True, eq=False, repr=False)
class IDXClassifier(_GreedyClassifier):
    """IDX: the test of highest gain per price.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    lookahead : int, default 1
        How many tests to look ahead: a test is scored together with its best continuations, by the information that all
        of them gain per total price. 1: the test alone.
    weighting : {"instance"}, optional
        "instance": each case weighs as much as it costs to misclassify it, in growing and in pruning (Ting 1998). None:
        all cases weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
    mdl_correction : bool, default False
        C4.5's later correction: a numeric test loses log2(number of cuts tried) / cases of its gain.
    context : bool, default False
        True: the criterion uses what a test costs after those on the path: nothing if it is paid for, less if its group
        is. False: list prices.
    prune : {"pessimistic", "cost", "none"}, default "pessimistic"
        C4.5's error-based pruning, pruning by expected total cost (as in ACT), or none.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate; smaller values prune more.
    raise_subtrees : bool, default True
        Whether pessimistic pruning may replace a node by its largest branch.
    min_cases : float, default 2
        At least two branches of a split must each hold this weight of cases.
    min_share : float, default 0.1
        Both sides of a numeric cut must hold this share of the node's cases divided by the number of classes, but never
        more than 25 cases (C4.5). 0: only `min_cases` counts.
    max_leaves : int, optional
        Largest number of leaves. A tree with more is cut down to the part with the lowest expected total cost; ACT and
        ICET compare trees after the cut.
    max_depth : int, optional
        Longest path from the root to a leaf, at most 4096.
    answer : {"majority", "least-cost"}, default "majority"
        Whether a leaf answers its most frequent class, or the answer with the lowest expected error cost.
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
        Not used, since nothing is random here; every learner has this parameter.
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
    leaf_limit_ : LeafLimit or None
        With `max_leaves`: number of leaves and expected cost with (`leaves`, `cost`) and without (`full_leaves`,
        `full_cost`) the limit. Not saved.
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
    S. W. Norton (1989), Generating better decision trees; Turney (1995), eq. 5.

    Examples
    --------
    Each test alone gains nothing; together they determine the class.

    >>> import worthwhile as ww
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> ww.IDXClassifier(prune="none").fit(X, y).tree_.n_leaves
    1
    >>> ww.IDXClassifier(prune="none", lookahead=2).fit(X, y).tree_.n_leaves
    4
    """

    mdl_correction: bool = False
    context: bool = False
    lookahead: int = 1

    _criterion = "gain-per-price"


@dataclass(kw_only=True, eq=False, repr=False)
class CSID3Classifier(_GreedyClassifier):
    """CS-ID3: the test of highest squared gain per price.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    lazy : bool, default False
        Grow nothing in `fit`; for each case to classify, grow only the path that it takes. Answers and prices are those
        of the unpruned tree, so ``prune="none"`` is required. The whole tree, `tree_`, is grown when it is first
        needed: by `next_test`, `run`, `explain`, `rules` or `save`.
    weighting : {"instance"}, optional
        "instance": each case weighs as much as it costs to misclassify it, in growing and in pruning (Ting 1998). None:
        all cases weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
    mdl_correction : bool, default False
        C4.5's later correction: a numeric test loses log2(number of cuts tried) / cases of its gain.
    context : bool, default False
        True: the criterion uses what a test costs after those on the path: nothing if it is paid for, less if its group
        is. False: list prices.
    prune : {"pessimistic", "cost", "none"}, default "pessimistic"
        C4.5's error-based pruning, pruning by expected total cost (as in ACT), or none.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate; smaller values prune more.
    raise_subtrees : bool, default True
        Whether pessimistic pruning may replace a node by its largest branch.
    min_cases : float, default 2
        At least two branches of a split must each hold this weight of cases.
    min_share : float, default 0.1
        Both sides of a numeric cut must hold this share of the node's cases divided by the number of classes, but never
        more than 25 cases (C4.5). 0: only `min_cases` counts.
    max_leaves : int, optional
        Largest number of leaves. A tree with more is cut down to the part with the lowest expected total cost; ACT and
        ICET compare trees after the cut.
    max_depth : int, optional
        Longest path from the root to a leaf, at most 4096.
    answer : {"majority", "least-cost"}, default "majority"
        Whether a leaf answers its most frequent class, or the answer with the lowest expected error cost.
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
        Not used, since nothing is random here; every learner has this parameter.
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
    leaf_limit_ : LeafLimit or None
        With `max_leaves`: number of leaves and expected cost with (`leaves`, `cost`) and without (`full_leaves`,
        `full_cost`) the limit. Not saved.
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
    M. Tan (1993), Cost-sensitive learning of classification knowledge and its applications in robotics; Turney (1995),
    eq. 4.

    Examples
    --------
    >>> import worthwhile as ww
    >>> bupa = ww.datasets.load("bupa")
    >>> clf = ww.CSID3Classifier(costs=bupa.costs, columns=bupa.feature_names, prune="none", lazy=True)
    >>> clf = clf.fit(bupa.X, bupa.y)
    >>> clf.predict(bupa.X[:3]).tolist(), clf.test_costs(bupa.X[:3]).round(2).tolist()
    (['lt3', 'lt3', 'lt3'], [30.54, 30.54, 30.54])
    """

    mdl_correction: bool = False
    context: bool = False
    lazy: bool = False

    _criterion = "gain-squared-per-price"

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_kept", None)

    def _learn(self, training: Training) -> None:
        if not self.lazy or self._is_lazy():
            super()._learn(training)
            return
        if self.prune != "none" or self.max_leaves is not None:
            given = f"prune={self.prune!r} and max_leaves={self.max_leaves!r}"
            needs = f"it needs prune='none' and max_leaves=None, got {given}"
            raise ValueError(f"CSID3Classifier: lazy=True grows no whole tree that could be pruned; {needs}")
        weights = None if training.weights is None else training.weights.copy()
        columns = training.columns.copy()
        # A copy: the user may change the arrays later.
        table = training.schema.encode(columns, complete=True)
        self._kept = replace(training, columns=columns, table=table, weights=weights)
        if training.case_prices is not None or training.case_errors is not None or training.context.has_surcharges:
            table = self._kept.encoded(np.arange(training.n_cases), training.classes)
            self._kept = replace(self._kept, table=table)

    def _assess(self, training: Training) -> None:
        if not self.lazy:
            super()._assess(training)

    def _is_lazy(self) -> bool:
        """Return whether it was fitted lazily; the parameter may have changed since."""
        return "_kept" in self.__dict__

    def _tree(self) -> Tree:
        if self._is_lazy() and "tree_" not in self.__dict__:
            self._learn(self._kept)
            super()._assess(self._kept)
        return super()._tree()

    def _route(
        self,
        X: Any,
        answers: bool = False,
        prices: bool = False,
        shares: bool = False,
        case_prices: Any = None,
        y: Any = None,
    ) -> tuple[Any, Any, Any]:
        # What depends on the case, and how long it waits, is known of a whole tree only.
        if case_prices is not None or not self._walks_lazily():
            return super()._route(X, answers, prices, shares, case_prices, y)
        answers_, prices_, shares_, _ = self._route_lazily(X)
        return answers_, prices_, shares_

    def _walks_lazily(self) -> bool:
        """Return whether cases need only what they see of the tree: not if prices depend on the rest of it."""
        bound = self.problem_.bound_costs
        plain = not self.problem_.has_surcharges and not bound.prices.wait.any() and bound.cap is None
        return plain and self._is_lazy()

    def _charged(self, X: Any, case_prices: Any = None) -> npt.NDArray[np.uint64]:
        if case_prices is not None or not self._walks_lazily():
            return super()._charged(X, case_prices)
        words: npt.NDArray[np.uint64] = self._route_lazily(X)[3]
        return words

    def _route_lazily(self, X: Any) -> tuple[Any, Any, Any, Any]:
        kept, cases = self._kept, self._read(X)
        costs = kept.bound_costs
        return _core.route_lazily(
            kept.table,
            kept.classes,
            kept.weights,
            costs.core_pricing,
            costs.core_errors,
            self._policy().core(),
            kept.schema.encode(cases),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class DTMCClassifier(_GreedyClassifier):
    """DTMC: the test with the largest drop in total cost on the training cases.

    It stops where no test pays for itself. By default it uses prices in context, gives the answers of lowest expected
    cost, and does not prune; only what does not pay by the final probabilities is cut off (`cross_fit`).

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    weighting : {"instance"}, optional
        "instance": each case weighs as much as it costs to misclassify it, in growing and in pruning (Ting 1998). None:
        all cases weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
    context : bool, default True
        True: the criterion uses what a test costs after those on the path: nothing if it is paid for, less if its group
        is. False: list prices.
    prune : {"pessimistic", "cost", "none"}, default "none"
        C4.5's error-based pruning, pruning by expected total cost (as in ACT), or none.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate; smaller values prune more.
    raise_subtrees : bool, default True
        Whether pessimistic pruning may replace a node by its largest branch.
    min_cases : float, default 2
        At least two branches of a split must each hold this weight of cases.
    min_share : float, default 0.1
        Both sides of a numeric cut must hold this share of the node's cases divided by the number of classes, but never
        more than 25 cases (C4.5). 0: only `min_cases` counts.
    max_leaves : int, optional
        Largest number of leaves. A tree with more is cut down to the part with the lowest expected total cost; ACT and
        ICET compare trees after the cut.
    max_depth : int, optional
        Longest path from the root to a leaf, at most 4096.
    answer : {"majority", "least-cost"}, default "least-cost"
        Whether a leaf answers its most frequent class, or the answer with the lowest expected error cost.
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
        Not used, since nothing is random here; every learner has this parameter.
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
    leaf_limit_ : LeafLimit or None
        With `max_leaves`: number of leaves and expected cost with (`leaves`, `cost`) and without (`full_leaves`,
        `full_cost`) the limit. Not saved.
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
    C. X. Ling, Q. Yang, J. Wang, S. Zhang (2004), Decision trees with minimal costs; numeric cuts as in Esmeir &
    Markovitch (2008).

    Examples
    --------
    A test that costs more than it saves is not used:

    >>> import worthwhile as ww
    >>> X, y = [[1], [2], [3], [4]], ["well", "well", "sick", "sick"]
    >>> for price in 4, 6:
    ...     costs = ww.Costs(tests={"x0": price}, errors=10)
    ...     print(ww.DTMCClassifier(costs=costs).fit(X, y).tree_.n_leaves)
    2
    1
    """

    prune: Prune = "none"
    context: bool = True
    answer: Answer = "least-cost"

    _criterion = "cost-drop"

    def _minimises_cost(self) -> bool:
        return self.prune != "pessimistic"

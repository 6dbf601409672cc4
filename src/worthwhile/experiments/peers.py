"""Baselines from other libraries: no test at all, and the best of several trees, with or without prices.

`NoTestClassifier` does no test. `PeerPickClassifier` tries no test, scikit-learn's tree with cost-complexity pruning,
pystreed's optimal trees of depth 1 to 3, which ignore prices, and its optimal trees of depth 2 to 4 for prices and
groups of tests, and keeps the one with the lowest cross-validated total cost. The others are for error costs where
tests are free: scikit-learn's tree on weighted cases, its forest with a tuned threshold
or answers of least cost, and two learners of empulse.

The chosen tree becomes a `worthwhile.Tree`, so that groups and delays are charged as for our own trees. The peers get a
nominal column as one yes-or-no column per value. A question about one of these is a test of the nominal column; the
first one pays its price. The comparison favours the peers: leaves give the answer of least cost, and a question that
cannot change the answer is not asked.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import itertools
import math
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from worthwhile.costs.costs import Costs
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.training import Training
from worthwhile.learners.tree_classifier import TreeClassifier
from worthwhile.table.columns import Columns, read_columns
from worthwhile.table.schema import Schema
from worthwhile.tree.nodes import Nodes
from worthwhile.tree.tree import Tree

__all__ = [
    "EmpulseForestClassifier",
    "EmpulseThresholdClassifier",
    "LeastCostForestClassifier",
    "NoTestClassifier",
    "PeerPickClassifier",
    "PrunedTreeClassifier",
    "TunedThresholdClassifier",
    "empulse_available",
    "pystreed_available",
]

FOLDS = 5
# Refitting for every alpha on the pruning path would take most of the time; a dozen alphas give the same results.
MOST_ALPHAS = 12
MOST_STEPS = 20  # of PrunedTreeClassifier
PEER_TREES = 100  # of forests
# Thresholds per numeric column: pystreed's default. More of them overfit: on the five problems of Turney (1995), 10
# splits, the cost is 43.8 % with 5 and 45.7 % with 20, also if a tree on the column alone chooses the 20.
MOST_CUTS = 5
PYSTREED_SECONDS = 60.0
PRICED_DEPTHS = (2, 3, 4)  # of pystreed's trees with prices

Codes = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


class NoTestClassifier(TreeClassifier):
    """Do no test and give every case the answer with the lowest cost on the training cases.

    With equal error costs this is the majority class.

    Parameters
    ----------
    costs, nominal, columns, random_state :
        As for all learners; only the error costs matter.

    Attributes
    ----------
    tree_ : Tree
        One leaf.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 3.0}, errors={"ill": {"well": 90.0}, "well": {"ill": 10.0}})
    >>> none = NoTestClassifier(costs=costs).fit([[1], [2], [3], [4]], ["ill", "well", "well", "well"])
    >>> none.predict([[1], [4]]).tolist(), none.total_costs([[1], [4]], ["ill", "well"]).tolist()
    (['ill', 'ill'], [0.0, 10.0])
    """

    def _learn(self, training: Training) -> None:
        self.tree_ = priced_tree(None, PeerCases.of(training), training)


@dataclass(kw_only=True, eq=False, repr=False)
class PeerPickClassifier(TreeClassifier):
    """Choose among no test, scikit-learn's pruned tree and pystreed's optimal trees by cross-validated total cost.

    Needs pystreed, and training cases without missing values.

    Parameters
    ----------
    costs, nominal, columns, random_state :
        As for all learners. The random state determines the folds.
    priced : bool, default True
        Whether pystreed's trees for prices and groups of tests are among the candidates. They need cases of equal
        weight and know no delays.

    Attributes
    ----------
    tree_ : Tree
        The chosen candidate, trained on all cases.
    picked_ : str
        Its name.
    cv_costs_ : dict of str to float
        Average total cost of every candidate in the cross-validation. Ties go to the first.
    """

    priced: bool = True

    def _learn(self, training: Training) -> None:
        if not pystreed_available():
            raise ImportError(
                "PeerPickClassifier needs pystreed, which is not installed: pip install 'worthwhile[bench]'"
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        cases = PeerCases.of(training, seed)
        cases.check_complete(training.schema.names)
        y = training.labels[training.classes]
        candidates = dict(CANDIDATES)
        if self.priced and (cases.weights == cases.weights[0]).all():
            costs = PeerPrices.of(training)
            candidates |= {f"pystreed with prices, depth {d}": priced(d, costs) for d in PRICED_DEPTHS}
        totals = dict.fromkeys(candidates, 0.0)
        for train, held in _folds(training.classes, FOLDS, seed):
            part, held_out = cases.take(train), training.columns.take(held)
            for name, candidate in candidates.items():
                paid = priced_tree(candidate(part), part, training).total_costs(held_out, y[held])
                totals[name] += float(paid @ cases.weights[held])
        self.cv_costs_ = {name: total / float(cases.weights.sum()) for name, total in totals.items()}
        self.picked_ = min(totals, key=totals.__getitem__)
        self.tree_ = priced_tree(candidates[self.picked_](cases), cases, training)


class FreeTestsPeer(ABC):
    """A learner of another library where tests are free; it ignores prices.

    Nominal columns are one-hot encoded, with no column for a missing value; missing numbers stay missing.

    Parameters
    ----------
    costs, nominal, columns, random_state :
        As for all learners; the random state is a number.

    Attributes
    ----------
    classes_ : array
    n_nodes_ : float
        The size of its tree; NaN if it is none.
    """

    n_nodes_ = math.nan

    def __init__(self, *, costs: Costs, nominal: Any = None, columns: Any = None, random_state: int = 0) -> None:
        self.costs, self.nominal, self.columns, self.random_state = costs, nominal, columns, random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train on cases."""
        table = read_columns(X, self.columns)
        self._schema = Schema.learn(table, self.nominal)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        errors = self.costs.error_matrix(self.classes_.tolist())[1]
        self._model = self._fitted(self._matrix(table), codes.astype(np.int32), errors)
        return self

    @abstractmethod
    def _fitted(self, X: Floats, classes: npt.NDArray[np.int32], errors: Floats) -> Any:
        """Return a model whose `predict` gives the number of the class."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the classes of cases."""
        answers: npt.NDArray[Any] = self.classes_[self._model.predict(self._matrix(read_columns(X, self.columns)))]
        return answers

    def _matrix(self, table: Columns) -> npt.NDArray[np.float64]:
        blocks = [
            self._schema._numbers(j, array)[:, None]
            if values is None
            else Schema._codes(values, array)[:, None] == np.arange(len(values))
            for j, (values, array) in enumerate(zip(self._schema.values, table.arrays, strict=True))
        ]
        return np.hstack(blocks).astype(np.float64)


class PrunedTreeClassifier(FreeTestsPeer):
    """scikit-learn's tree on cases weighted by the sum of the costs of their wrong answers; it ignores prices.

    Pruning is chosen by the error cost in a five-fold cross-validation, among at most 20 steps of the pruning path. A
    leaf answers the class of most weight.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(errors={"ill": {"well": 9.0}, "well": {"ill": 1.0}})
    >>> X, y = [[1, "a"], [1, "b"], [1, "a"], [2, None]] * 5, ["ill", "well", "well", "well"] * 5
    >>> peer = PrunedTreeClassifier(costs=costs).fit(X, y)
    >>> peer.predict([[1, "a"], [1, "b"], [2, None]]).tolist(), peer.n_nodes_
    (['ill', 'well', 'well'], 3.0)
    """

    def _fitted(self, X: Floats, classes: npt.NDArray[np.int32], errors: Floats) -> Any:
        weights, counts = errors.sum(axis=1)[classes], np.ones(len(classes))
        tree = _pruned_tree(X, classes, weights, counts, errors, self.random_state, MOST_STEPS)
        self.n_nodes_ = float(tree.tree_.node_count)
        return tree


class LeastCostForestClassifier(FreeTestsPeer):
    """scikit-learn's random forest with the answer of least expected cost by its probabilities.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(errors={"ill": {"well": 9.0}, "well": {"ill": 1.0}})
    >>> X, y = [[1, "a"], [1, "b"], [1, "a"], [2, None]] * 5, ["ill", "well", "well", "well"] * 5
    >>> LeastCostForestClassifier(costs=costs).fit(X, y).predict([[1, "a"], [1, "b"]]).tolist()
    ['ill', 'well']
    """

    def _fitted(self, X: Floats, classes: npt.NDArray[np.int32], errors: Floats) -> Any:
        return _LeastCost(_forest(self.random_state).fit(X, classes), errors)


@dataclass(frozen=True, eq=False)
class _LeastCost:
    """A model that answers at least expected cost."""

    model: Any
    errors: Floats

    def predict(self, X: Floats) -> npt.NDArray[np.intp]:
        """Return the numbers of the answers."""
        answers: npt.NDArray[np.intp] = (self.model.predict_proba(X) @ self.errors).argmin(axis=1)
        return answers


class TunedThresholdClassifier(FreeTestsPeer):
    """scikit-learn's random forest with the threshold of least error cost (`TunedThresholdClassifierCV`); two classes.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(errors={"ill": {"well": 9.0}, "well": {"ill": 1.0}})
    >>> X, y = [[1, "a"], [1, "b"], [1, "a"], [2, None]] * 5, ["ill", "well", "well", "well"] * 5
    >>> TunedThresholdClassifier(costs=costs).fit(X, y).predict([[1, "a"], [1, "b"]]).tolist()
    ['ill', 'well']
    """

    def _fitted(self, X: Floats, classes: npt.NDArray[np.int32], errors: Floats) -> Any:
        from sklearn.metrics import make_scorer
        from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

        _check_two_classes(self)

        def saved(y: npt.NDArray[Any], answers: npt.NDArray[Any]) -> float:
            return -float(errors[y, answers].sum())

        folds = min(FOLDS, int(np.bincount(classes).min()))
        model = _forest(self.random_state)
        if folds < 2:
            return model.fit(X, classes)
        splits = StratifiedKFold(folds, shuffle=True, random_state=self.random_state)
        tuned = TunedThresholdClassifierCV(model, scoring=make_scorer(saved), cv=splits)
        return tuned.fit(X, classes)


class EmpulseForestClassifier(FreeTestsPeer):
    """empulse's cost-sensitive forest, whose trees split by the cost of errors; two classes.

    Missing numbers become the median of the column.
    """

    def _fitted(self, X: Floats, classes: npt.NDArray[np.int32], errors: Floats) -> Any:
        _check_two_classes(self)
        forest = importlib.import_module("empulse.models").CSForestClassifier(
            PEER_TREES, fp_cost=float(errors[0, 1]), fn_cost=float(errors[1, 0]), random_state=self.random_state
        )
        return _with_medians(forest).fit(X, classes)


class EmpulseThresholdClassifier(FreeTestsPeer):
    """A random forest with empulse's calibrated threshold by error costs; two classes.

    Missing numbers become the median of the column.
    """

    def _fitted(self, X: Floats, classes: npt.NDArray[np.int32], errors: Floats) -> Any:
        _check_two_classes(self)
        rule = importlib.import_module("empulse.models").CSThresholdClassifier(
            _forest(self.random_state),
            fp_cost=float(errors[0, 1]),
            fn_cost=float(errors[1, 0]),
            random_state=self.random_state,
        )
        return _with_medians(rule).fit(X, classes)


def _with_medians(model: Any) -> Any:
    """Return a model that takes missing numbers; a column without any known value says nothing."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), model)


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(PEER_TREES, random_state=seed)


def _check_two_classes(peer: FreeTestsPeer) -> None:
    if len(peer.classes_) != 2:
        raise ValueError(f"{type(peer).__name__} needs two classes; there are {len(peer.classes_)}")


def empulse_available() -> bool:
    """Return whether empulse is installed."""
    return importlib.util.find_spec("empulse") is not None


def pystreed_available() -> bool:
    """Return whether pystreed is installed."""
    return importlib.util.find_spec("pystreed") is not None


# Cases and trees of the peers


@dataclass(frozen=True, eq=False)
class PeerCases:
    """Training cases in the form that the peers need.

    Attributes
    ----------
    arrays : sequence of arrays
        Per column: numbers, or the codes of nominal values.
    values : sequence
        Per column: None for numbers, otherwise the nominal values.
    classes, weights : arrays
        Class and weight of each case.
    errors : array
        Error costs [truth][answer].
    seed : int
        For folds and for scikit-learn's choice among equal splits.
    """

    arrays: Sequence[Codes]
    values: Sequence[tuple[str, ...] | None]
    classes: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64]
    seed: int

    @classmethod
    def of(cls, training: Training, seed: int = 0) -> PeerCases:
        """Convert what a learner is trained on."""
        schema = training.schema
        arrays = [
            schema._numbers(j, array) if values is None else Schema._codes(values, array)
            for j, (values, array) in enumerate(zip(schema.values, training.columns.arrays, strict=True))
        ]
        n = training.columns.n_cases
        weights = np.ones(n) if training.weights is None else training.weights
        return cls(arrays, schema.values, training.classes, weights, training.context.error_costs, seed)

    def take(self, rows: Rows) -> PeerCases:
        """Return some of the cases."""
        arrays = [array[rows] for array in self.arrays]
        return dataclasses.replace(self, arrays=arrays, classes=self.classes[rows], weights=self.weights[rows])

    def check_complete(self, names: Sequence[str]) -> None:
        """Refuse missing values."""
        for name, values, array in zip(names, self.values, self.arrays, strict=True):
            for row in np.flatnonzero(np.isnan(array) if values is None else array < 0)[:1]:
                raise ValueError(
                    f"column {name!r} has a missing value in row {row}; the peers need complete training cases"
                )

    @property
    def is_plain(self) -> bool:
        """Whether all errors cost the same and all cases have the same weight."""
        k = len(self.errors)
        wrong = self.errors[~np.eye(k, dtype=bool)] if self.errors.shape == (k, k) else np.array([])
        equal = len(wrong) > 0 and bool((wrong == wrong[0]).all()) and wrong[0] > 0 and not self.errors.diagonal().any()
        return equal and bool((self.weights == self.weights[0]).all())

    def class_weights(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return the weight of each class among the given cases."""
        totals = np.bincount(self.classes[rows], self.weights[rows], minlength=len(self.errors))
        return totals.astype(np.float64)  # bincount of no case at all returns integers


@dataclass(frozen=True)
class Question:
    """Whether a number is at most a threshold, or a nominal value is a certain one."""

    column: int
    threshold: float | None = None
    code: int = -1

    def holds(self, cases: PeerCases) -> npt.NDArray[np.bool_]:
        """Return the cases for which the answer is yes."""
        array = cases.arrays[self.column]
        yes: npt.NDArray[np.bool_] = array == self.code if self.threshold is None else array <= self.threshold
        return yes


@dataclass(frozen=True)
class PeerSplit:
    """A question and the subtrees for yes and no; None is a leaf, whose answer depends on the training cases."""

    question: Question
    yes: PeerSplit | None
    no: PeerSplit | None


def no_test(cases: PeerCases) -> PeerSplit | None:
    """Return a single leaf."""
    return None


def pruned(cases: PeerCases) -> PeerSplit | None:
    """Return scikit-learn's tree, with alpha chosen by cross-validated error cost; ties go to the largest.

    If error costs differ, a case is weighted by the sum of the costs of its wrong answers (Ting 1998).
    """
    questions = [*_codes_asked(cases), *(Question(j, 0.0) for j, v in enumerate(cases.values) if v is None)]
    if not questions:
        return None
    X = np.column_stack([q.holds(cases) if q.threshold is None else cases.arrays[q.column] for q in questions])
    weights = cases.weights if cases.is_plain else cases.weights * cases.errors.sum(axis=1).clip(0)[cases.classes]
    if not weights.any():
        return None
    peer = _pruned_tree(X, cases.classes, weights, cases.weights, cases.errors, cases.seed, MOST_ALPHAS)
    return from_sklearn(peer, questions)


def optimal(depth: int) -> Callable[[PeerCases], PeerSplit | None]:
    """Return the candidate that trains pystreed's optimal tree of at most this depth."""

    def learn(cases: PeerCases) -> PeerSplit | None:
        questions = [*_codes_asked(cases), *_cuts(cases)]
        if not questions or (cases.classes == cases.classes[0]).all():
            return None
        pystreed = importlib.import_module("pystreed")
        X = np.column_stack([question.holds(cases) for question in questions]).astype(np.intc)
        if cases.is_plain:
            peer = pystreed.STreeDClassifier(max_depth=depth, time_limit=PYSTREED_SECONDS)
            peer.fit(X, np.unique(cases.classes, return_inverse=True)[1].astype(np.intc))
        else:  # the cost of each answer for each case, relative to the best one
            costs = (cases.errors - cases.errors.min(axis=1, keepdims=True))[cases.classes]
            peer = pystreed.STreeDInstanceCostSensitiveClassifier(max_depth=depth, time_limit=PYSTREED_SECONDS)
            peer.fit(X, costs * cases.weights[:, np.newaxis])
        return from_pystreed(peer.tree_, questions)

    return learn


@dataclass(frozen=True, eq=False)
class PeerPrices:
    """What tests cost, as pystreed knows it: alone, and after another test of the same group."""

    first: Floats
    later: Floats
    group: Sequence[int]  # of each test; -1: none

    @classmethod
    def of_costs(cls, costs: Costs, names: Sequence[str]) -> PeerPrices:
        """Return the prices of these columns; a test in several groups counts in the last one."""
        prices = costs.prices_for(names)
        group = [max(prices.groups_of(test), default=-1) for test in range(len(names))]
        first = np.array([costs.price(name) if name in costs.tests else 0.0 for name in names])
        return cls(first, np.where(np.array(group) < 0, first, prices.marginal), group)

    @classmethod
    def of(cls, training: Training) -> PeerPrices:
        """Return the prices that a learner knows."""
        return cls.of_costs(training.context.costs, training.schema.names)


def priced(depth: int, prices: PeerPrices) -> Callable[[PeerCases], PeerSplit | None]:
    """Return the candidate that trains pystreed's optimal tree for prices and error costs."""

    def learn(cases: PeerCases) -> PeerSplit | None:
        # pystreed has the questions of a test beside each other.
        questions = sorted([*_codes_asked(cases), *_cuts(cases)], key=lambda question: question.column)
        if not questions or (cases.classes == cases.classes[0]).all():
            return None
        X = np.column_stack([question.holds(cases) for question in questions]).astype(np.intc)
        return pystreed_split(X, cases.classes, cases.errors, prices, questions, depth, PYSTREED_SECONDS)

    return learn


def pystreed_split(
    X: npt.NDArray[np.intc],
    classes: npt.NDArray[np.int32],
    errors: Floats,
    prices: PeerPrices,
    questions: Sequence[Question],
    depth: int,
    seconds: float,
) -> PeerSplit | None:
    """Return pystreed's optimal tree for prices and error costs; the columns of X are these questions."""
    peer = importlib.import_module("pystreed").STreeDCostSensitiveClassifier(max_depth=depth, time_limit=seconds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "costs.csv"
        path.write_text(_cost_file(errors, prices, [question.column for question in questions]))
        specifier = importlib.import_module("pystreed.data").CostSpecifier(str(path), len(errors))
        peer.fit(X, classes.astype(np.intc), specifier)
    return from_pystreed(peer.tree_, questions)


def _cost_file(errors: Floats, prices: PeerPrices, columns: Sequence[int]) -> str:
    """Return error costs and prices as pystreed reads them; `columns`: the test of each question.

    Examples
    --------
    >>> prices = PeerPrices(np.array([7.0, 4.0]), np.array([5.0, 4.0]), [0, -1])
    >>> print(_cost_file(np.array([[0.0, 9.0], [1.0, 0.0]]), prices, [0, 0, 1]))
    0.000000 9.000000
    1.000000 0.000000
    Attribute-name test-cost discount group binarize-begin binarize-end
    t0 7.000000 5.000000 g0 0 1
    t1 4.000000 4.000000 x 2 2
    <BLANKLINE>
    """
    lines = [" ".join(f"{cost:.6f}" for cost in row[: len(errors)]) for row in errors]
    lines.append("Attribute-name test-cost discount group binarize-begin binarize-end")
    for test in sorted(set(columns)):
        begin, n = columns.index(test), columns.count(test)
        group = "x" if prices.group[test] < 0 else f"g{prices.group[test]}"
        lines.append(f"t{test} {prices.first[test]:.6f} {prices.later[test]:.6f} {group} {begin} {begin + n - 1}")
    return "\n".join(lines) + "\n"


# By name, the simplest first: ties go to the first.
CANDIDATES: dict[str, Callable[[PeerCases], PeerSplit | None]] = {
    "no test": no_test,
    "pystreed, depth 1": optimal(1),
    "pystreed, depth 2": optimal(2),
    "pystreed, depth 3": optimal(3),
    "scikit-learn, pruned": pruned,
}


def _codes_asked(cases: PeerCases) -> list[Question]:
    """Return the questions for nominal values; two values need only one question."""
    present = [(j, np.unique(cases.arrays[j])) for j, values in enumerate(cases.values) if values is not None]
    return [Question(j, code=int(code)) for j, codes in present for code in (codes[1:] if len(codes) <= 2 else codes)]


def _cuts(cases: PeerCases) -> Iterator[Question]:
    """Yield at most `MOST_CUTS` thresholds per numeric column: between all values if they are few, otherwise quantiles.

    This is pystreed's default binarization.
    """
    for j, values in enumerate(cases.values):
        if values is None:
            array = cases.arrays[j]
            distinct = np.unique(array)
            cuts = (distinct[1:] + distinct[:-1]) / 2
            if len(cuts) > MOST_CUTS:
                cuts = np.unique(np.quantile(array, np.linspace(0, 1, MOST_CUTS + 2)[1:-1]))
            yield from (Question(j, float(cut)) for cut in cuts)


def _pruned_tree(
    X: Floats, classes: npt.NDArray[np.int32], weights: Floats, counts: Floats, errors: Floats, seed: int, most: int
) -> Any:
    """Return scikit-learn's tree on weighted cases, with alpha chosen by the error cost of cases left out."""

    def tree(alpha: float, rows: Rows | slice = slice(None)) -> Any:
        return DecisionTreeClassifier(random_state=seed, ccp_alpha=alpha).fit(X[rows], classes[rows], weights[rows])

    alphas = _alphas(tree(0.0).cost_complexity_pruning_path(X, classes, weights).ccp_alphas, most)
    costs = np.zeros(len(alphas))
    for train, held in _folds(classes, FOLDS, seed):
        if weights[train].any():
            answers = [tree(alpha, train).predict(X[held]) for alpha in alphas]
            costs += [errors[classes[held], answer] @ counts[held] for answer in answers]
    best = int(np.flatnonzero(costs <= costs.min() * (1 + 1e-12))[-1])
    return tree(alphas[best])


def _alphas(path: Floats, most: int) -> Floats:
    """Return the middle of each step of a pruning path and its end, at most this many of them."""
    path = path.clip(0)  # rounding errors may be just below 0
    alphas = np.append(np.sqrt(path[:-1] * path[1:]), path[-1])
    return alphas[np.unique(np.linspace(0, len(alphas) - 1, most).round().astype(int))]


def _folds(classes: npt.NDArray[np.int32], n_folds: int, seed: int) -> Iterator[tuple[Rows, Rows]]:
    """Yield the training and the held-out cases of stratified folds."""
    n, fold = len(classes), stratified_folds(classes, n_folds, np.random.default_rng(seed))
    for k in range(min(n_folds, n) if n > 1 else 0):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


# Conversion of the peers' trees to ours


def from_sklearn(peer: Any, questions: Sequence[Question]) -> PeerSplit | None:
    """Convert a fitted tree of scikit-learn whose columns are these questions (for numeric columns: the numbers)."""
    tree = peer.tree_

    def split(node: int) -> PeerSplit | None:
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            return None
        question = questions[tree.feature[node]]
        if question.threshold is None:  # up to one half: no
            return PeerSplit(question, split(right), split(left))
        return PeerSplit(Question(question.column, float(tree.threshold[node])), split(left), split(right))

    return split(0)


def from_pystreed(node: Any, questions: Sequence[Question], yes: int = 1) -> PeerSplit | None:
    """Convert a tree of pystreed whose columns are these questions; `yes`: what the columns have if one holds."""
    if node.is_leaf_node():
        return None
    after = [from_pystreed(child, questions, yes) for child in (node.left_child, node.right_child)]
    return PeerSplit(questions[node.feature], after[yes], after[1 - yes])


@dataclass(frozen=True, eq=False)
class _PeerNode:
    """A node with the weights of the training cases that reach it."""

    weights: npt.NDArray[np.float64]
    answer: int
    question: Question | None = None
    children: tuple[_PeerNode, ...] = ()


def _grow(split: PeerSplit | None, cases: PeerCases, rows: Rows, inherited: int) -> _PeerNode:
    weights = cases.class_weights(rows)
    answer = int((weights @ cases.errors).argmin()) if weights.any() else inherited
    if split is None:
        return _PeerNode(weights, answer)
    yes = split.question.holds(cases)[rows]
    children = (_grow(split.yes, cases, rows[yes], answer), _grow(split.no, cases, rows[~yes], answer))
    if all(child.question is None and child.answer == children[0].answer for child in children):
        return _PeerNode(weights, children[0].answer)  # both outcomes lead to the same answer
    return _PeerNode(weights, answer, split.question, children)


def priced_tree(split: PeerSplit | None, cases: PeerCases, training: Training) -> Tree:
    """Return a priced tree with these questions; its leaves give the answer of least cost on the cases."""
    order = [_grow(split, cases, np.arange(len(cases.classes)), 0)]
    first_child: list[int] = []
    branches: list[list[int]] = []  # per node: the branch of each nominal value, nothing for numbers and leaves
    for node in order:  # children are adjacent and come after their parents
        first_child.append(len(order) if node.children else -1)
        order.extend(node.children)
        question = node.question
        values = (question and cases.values[question.column]) or ()
        branches.append([0 if question and code == question.code else 1 for code in range(len(values))])
    ends = np.cumsum([len(branch) for branch in branches])

    def whole(numbers: Iterable[int]) -> npt.NDArray[np.int32]:
        return np.array(list(numbers), dtype=np.int32)

    nodes = Nodes(
        test=whole(node.question.column if node.question else -1 for node in order),
        threshold=np.array([(node.question and node.question.threshold) or 0.0 for node in order]),
        first_child=whole(first_child),
        n_children=whole(len(node.children) for node in order),
        map_start=whole(end - len(branch) if branch else -1 for end, branch in zip(ends, branches, strict=True)),
        map_size=whole(len(branch) for branch in branches),
        maps=whole(itertools.chain.from_iterable(branches)),
        answer=whole(node.answer for node in order),
        weights=np.array([node.weights for node in order]),
    )
    return Tree(nodes, training.context, answer="least-cost")

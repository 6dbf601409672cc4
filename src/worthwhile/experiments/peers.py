"""The plain alternatives that a learner must beat: no test at all, and the best pick among trees of other libraries.

`NoTestClassifier` does no test. `PeerPickClassifier` does what people without a learner of test prices would do: try no
test, scikit-learn's tree with cost-complexity pruning and pystreed's optimal trees of depth 1 to 3, and keep what has
the least total cost in cross-validation. The peers know nothing of prices; only the pick does. `PrunedTreeClassifier`
is what they would do about error costs, where tests are free: scikit-learn's tree alone, on weighted cases.

Every picked tree becomes a `worthwhile.Tree`, so that groups and delays are charged by the same walk as for our own
trees. The peers see a nominal column as one yes-or-no column per value. A question about one of these is a test of the
nominal column: the first to be asked pays its price. The trees are given every benefit: leaves answer what costs least,
and a question that cannot change the answer is not asked.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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

__all__ = ["NoTestClassifier", "PeerPickClassifier", "PrunedTreeClassifier", "pystreed_available"]

FOLDS = 5
# Refitting for every weight on the pruning path would be most of the time of a fit; a dozen of them lose nothing.
MOST_ALPHAS = 12
MOST_STEPS = 20  # where the tree is all there is
# Cuts per numeric column: pystreed's default. More of them overfit: on the five problems of Turney (1995), 10 splits,
# the pick costs 43.8 % with 5, 45.7 % with 20, and as much with the 20 that a tree on the column alone finds best.
MOST_CUTS = 5
PYSTREED_SECONDS = 60.0

Codes = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


class NoTestClassifier(TreeClassifier):
    """Do no test and give every case the answer that costs least on the training cases.

    With equal error costs this is the majority class.

    Parameters
    ----------
    costs, nominal, columns, random_state :
        As of all learners; only the error costs matter.

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
        self.tree_ = _tree(None, Lesson.of(training), training)


class PeerPickClassifier(TreeClassifier):
    """Pick among no test, a pruned tree of scikit-learn and optimal trees of pystreed by cross-validated total cost.

    Needs pystreed, and cases without missing values to learn from.

    Parameters
    ----------
    costs, nominal, columns, random_state :
        As of all learners. The random state makes the folds.

    Attributes
    ----------
    tree_ : Tree
        The picked candidate, learned from all training cases.
    picked_ : str
        Its name.
    cv_costs_ : dict of str to float
        Average total cost of every candidate in the cross-validation. Of equal ones the first is picked.
    """

    picked_: str
    cv_costs_: dict[str, float]

    def _learn(self, training: Training) -> None:
        if not pystreed_available():
            raise ImportError(
                "PeerPickClassifier needs pystreed, which is not installed: pip install 'worthwhile[bench]'"
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        lesson = Lesson.of(training, seed)
        lesson.check_complete(training.schema.names)
        y = training.labels[training.classes]
        totals = dict.fromkeys(CANDIDATES, 0.0)
        for learned, held in _folds(training.classes, FOLDS, seed):
            part, cases = lesson.take(learned), training.columns.take(held)
            for name, candidate in CANDIDATES.items():
                costs = _tree(candidate(part), part, training).total_costs(cases, y[held])
                totals[name] += float(costs @ lesson.weights[held])
        self.cv_costs_ = {name: total / float(lesson.weights.sum()) for name, total in totals.items()}
        self.picked_ = min(totals, key=totals.__getitem__)
        self.tree_ = _tree(CANDIDATES[self.picked_](lesson), lesson, training)


class PrunedTreeClassifier:
    """scikit-learn's tree on cases that weigh as much as their wrong answers cost together; it has no prices.

    How much is pruned is chosen by the error cost in a five-fold cross-validation, among at most 20 steps of the
    pruning path. Nominal columns are one column per value, where a missing value is none of them; missing numbers stay
    missing. A leaf answers the class of most weight.

    Parameters
    ----------
    costs, nominal, columns, random_state :
        As of all learners; the random state is a number.

    Attributes
    ----------
    classes_ : array
    n_nodes_ : int
        The size of its tree.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(errors={"ill": {"well": 9.0}, "well": {"ill": 1.0}})
    >>> X, y = [[1, "a"], [1, "b"], [1, "a"], [2, None]] * 5, ["ill", "well", "well", "well"] * 5
    >>> peer = PrunedTreeClassifier(costs=costs).fit(X, y)
    >>> peer.predict([[1, "a"], [1, "b"], [2, None]]).tolist(), peer.n_nodes_
    (['ill', 'well', 'well'], 3)
    """

    def __init__(self, *, costs: Costs, nominal: Any = None, columns: Any = None, random_state: int = 0) -> None:
        self.costs, self.nominal, self.columns, self.random_state = costs, nominal, columns, random_state

    def fit(self, X: Any, y: Any) -> PrunedTreeClassifier:
        """Learn from cases."""
        table = read_columns(X, self.columns)
        self._schema = Schema.learn(table, self.nominal)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        classes = codes.astype(np.int32)
        errors = self.costs.error_matrix(self.classes_.tolist())[1]
        weights = errors.sum(axis=1)[classes]
        counts = np.ones(len(classes))
        self._tree = _pruned_tree(self._matrix(table), classes, weights, counts, errors, self.random_state, MOST_STEPS)
        self.n_nodes_ = int(self._tree.tree_.node_count)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the classes of cases."""
        answers: npt.NDArray[Any] = self.classes_[self._tree.predict(self._matrix(read_columns(X, self.columns)))]
        return answers

    def _matrix(self, table: Columns) -> npt.NDArray[np.float64]:
        blocks = [
            self._schema._numbers(j, array)[:, None]
            if values is None
            else Schema._codes(values, array)[:, None] == np.arange(len(values))
            for j, (values, array) in enumerate(zip(self._schema.values, table.arrays, strict=True))
        ]
        return np.hstack(blocks).astype(np.float64)


def pystreed_available() -> bool:
    """Say whether pystreed can be imported."""
    return importlib.util.find_spec("pystreed") is not None


# What the peers learn from, and what they learn


@dataclass(frozen=True, eq=False)
class Lesson:
    """Cases as the peers want them.

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
    def of(cls, training: Training, seed: int = 0) -> Lesson:
        """Make a lesson of what a learner learns from."""
        schema = training.schema
        arrays = [
            schema._numbers(j, array) if values is None else Schema._codes(values, array)
            for j, (values, array) in enumerate(zip(schema.values, training.columns.arrays, strict=True))
        ]
        n = training.columns.n_cases
        weights = np.ones(n) if training.weights is None else training.weights
        return cls(arrays, schema.values, training.classes, weights, training.context.error_costs, seed)

    def take(self, rows: Rows) -> Lesson:
        """Return a lesson of the given cases only."""
        arrays = [array[rows] for array in self.arrays]
        return dataclasses.replace(self, arrays=arrays, classes=self.classes[rows], weights=self.weights[rows])

    def check_complete(self, names: Sequence[str]) -> None:
        """Refuse missing values."""
        for name, values, array in zip(names, self.values, self.arrays, strict=True):
            for row in np.flatnonzero(np.isnan(array) if values is None else array < 0)[:1]:
                raise ValueError(f"column {name!r} lacks a value in row {row}: the peers need complete cases to learn")

    @property
    def is_plain(self) -> bool:
        """Whether all errors cost the same and all cases weigh the same."""
        k = len(self.errors)
        wrong = self.errors[~np.eye(k, dtype=bool)] if self.errors.shape == (k, k) else np.array([])
        equal = len(wrong) > 0 and bool((wrong == wrong[0]).all()) and wrong[0] > 0 and not self.errors.diagonal().any()
        return equal and bool((self.weights == self.weights[0]).all())

    def class_weights(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return the weight of each class among the given cases."""
        totals = np.bincount(self.classes[rows], self.weights[rows], minlength=len(self.errors))
        return totals.astype(np.float64)  # of no case at all the totals would be whole numbers


@dataclass(frozen=True)
class Question:
    """Is a number at most a threshold, or a nominal value a certain one?"""

    column: int
    threshold: float | None = None
    code: int = -1

    def holds(self, lesson: Lesson) -> npt.NDArray[np.bool_]:
        """Return the cases for which the answer is yes."""
        array = lesson.arrays[self.column]
        yes: npt.NDArray[np.bool_] = array == self.code if self.threshold is None else array <= self.threshold
        return yes


@dataclass(frozen=True)
class Fork:
    """A question and what comes after yes and after no; None is a leaf, whose answer the training cases give."""

    question: Question
    yes: Fork | None
    no: Fork | None


def no_test(lesson: Lesson) -> Fork | None:
    """Ask nothing."""
    return None


def pruned(lesson: Lesson) -> Fork | None:
    """Return scikit-learn's tree, its pruning weight chosen by cross-validated error cost; of equal ones the largest.

    Where errors do not cost the same, a case counts as much as its wrong answers cost together (Ting 1998).
    """
    questions = [*_codes_asked(lesson), *(Question(j, 0.0) for j, v in enumerate(lesson.values) if v is None)]
    if not questions:
        return None
    X = np.column_stack([q.holds(lesson) if q.threshold is None else lesson.arrays[q.column] for q in questions])
    weights = lesson.weights if lesson.is_plain else lesson.weights * lesson.errors.sum(axis=1).clip(0)[lesson.classes]
    if not weights.any():
        return None
    peer = _pruned_tree(X, lesson.classes, weights, lesson.weights, lesson.errors, lesson.seed, MOST_ALPHAS)
    return from_sklearn(peer, questions)


def optimal(depth: int) -> Callable[[Lesson], Fork | None]:
    """Return the candidate that asks for pystreed's optimal tree of at most this depth."""

    def learn(lesson: Lesson) -> Fork | None:
        questions = [*_codes_asked(lesson), *_cuts(lesson)]
        if not questions or (lesson.classes == lesson.classes[0]).all():
            return None
        pystreed = importlib.import_module("pystreed")
        X = np.column_stack([question.holds(lesson) for question in questions]).astype(np.intc)
        if lesson.is_plain:
            peer = pystreed.STreeDClassifier(max_depth=depth, time_limit=PYSTREED_SECONDS)
            peer.fit(X, np.unique(lesson.classes, return_inverse=True)[1].astype(np.intc))
        else:  # the answer's cost for each case; what a right one brings is no question of the tree
            costs = (lesson.errors - lesson.errors.min(axis=1, keepdims=True))[lesson.classes]
            peer = pystreed.STreeDInstanceCostSensitiveClassifier(max_depth=depth, time_limit=PYSTREED_SECONDS)
            peer.fit(X, costs * lesson.weights[:, np.newaxis])
        return from_pystreed(peer.tree_, questions)

    return learn


# Name -> learner. The first of equal ones is picked: the simplest.
CANDIDATES: dict[str, Callable[[Lesson], Fork | None]] = {
    "no test": no_test,
    "pystreed, depth 1": optimal(1),
    "pystreed, depth 2": optimal(2),
    "pystreed, depth 3": optimal(3),
    "scikit-learn, pruned": pruned,
}


def _codes_asked(lesson: Lesson) -> list[Question]:
    """Return the questions for nominal values; where there are two, one question says all."""
    present = [(j, np.unique(lesson.arrays[j])) for j, values in enumerate(lesson.values) if values is not None]
    return [Question(j, code=int(code)) for j, codes in present for code in (codes[1:] if len(codes) <= 2 else codes)]


def _cuts(lesson: Lesson) -> Iterator[Question]:
    """Yield at most `MOST_CUTS` cuts per numeric column: between all values where they are few, otherwise quantiles.

    This is pystreed's default way to make yes-or-no columns.
    """
    for j, values in enumerate(lesson.values):
        if values is None:
            array = lesson.arrays[j]
            distinct = np.unique(array)
            cuts = (distinct[1:] + distinct[:-1]) / 2
            if len(cuts) > MOST_CUTS:
                cuts = np.unique(np.quantile(array, np.linspace(0, 1, MOST_CUTS + 2)[1:-1]))
            yield from (Question(j, float(cut)) for cut in cuts)


def _pruned_tree(
    X: Floats, classes: npt.NDArray[np.int32], weights: Floats, counts: Floats, errors: Floats, seed: int, most: int
) -> Any:
    """Return scikit-learn's tree of weighted cases, pruned to the least error cost of counted ones left out."""

    def tree(alpha: float, rows: Rows | slice = slice(None)) -> Any:
        return DecisionTreeClassifier(random_state=seed, ccp_alpha=alpha).fit(X[rows], classes[rows], weights[rows])

    alphas = _alphas(tree(0.0).cost_complexity_pruning_path(X, classes, weights).ccp_alphas, most)
    costs = np.zeros(len(alphas))
    for learned, held in _folds(classes, FOLDS, seed):
        if weights[learned].any():
            answers = [tree(alpha, learned).predict(X[held]) for alpha in alphas]
            costs += [errors[classes[held], answer] @ counts[held] for answer in answers]
    best = int(np.flatnonzero(costs <= costs.min() * (1 + 1e-12))[-1])
    return tree(alphas[best])


def _alphas(path: Floats, most: int) -> Floats:
    """Return the middle of each step of a pruning path, and its end; if there are too many, some of them."""
    path = path.clip(0)  # rounding may leave a step just below 0
    alphas = np.append(np.sqrt(path[:-1] * path[1:]), path[-1])
    return alphas[np.unique(np.linspace(0, len(alphas) - 1, most).round().astype(int))]


def _folds(classes: npt.NDArray[np.int32], n_folds: int, seed: int) -> Iterator[tuple[Rows, Rows]]:
    """Yield the cases to learn from and those held back; each class is dealt out like cards, however rare it is."""
    n, fold = len(classes), stratified_folds(classes, n_folds, np.random.default_rng(seed))
    for k in range(min(n_folds, n) if n > 1 else 0):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


# From the peers' trees to ours


def from_sklearn(peer: Any, questions: Sequence[Question]) -> Fork | None:
    """Take over a fitted tree of scikit-learn whose columns are these questions (of numbers: the numbers)."""
    tree = peer.tree_

    def fork(node: int) -> Fork | None:
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            return None
        question = questions[tree.feature[node]]
        if question.threshold is None:  # up to one half: no
            return Fork(question, fork(right), fork(left))
        return Fork(Question(question.column, float(tree.threshold[node])), fork(left), fork(right))

    return fork(0)


def from_pystreed(node: Any, questions: Sequence[Question]) -> Fork | None:
    """Take over a tree of pystreed whose columns are these questions."""
    if node.is_leaf_node():
        return None
    after = (from_pystreed(child, questions) for child in (node.right_child, node.left_child))
    return Fork(questions[node.feature], *after)


@dataclass(frozen=True, eq=False)
class _Grown:
    """A fork or leaf with the training cases that come to it."""

    weights: npt.NDArray[np.float64]
    answer: int
    question: Question | None = None
    children: tuple[_Grown, ...] = ()


def _grow(fork: Fork | None, lesson: Lesson, rows: Rows, inherited: int) -> _Grown:
    weights = lesson.class_weights(rows)
    answer = int((weights @ lesson.errors).argmin()) if weights.any() else inherited
    if fork is None:
        return _Grown(weights, answer)
    yes = fork.question.holds(lesson)[rows]
    children = (_grow(fork.yes, lesson, rows[yes], answer), _grow(fork.no, lesson, rows[~yes], answer))
    if all(child.question is None and child.answer == children[0].answer for child in children):
        return _Grown(weights, children[0].answer)  # whatever the outcome, the answer is the same
    return _Grown(weights, answer, fork.question, children)


def _tree(fork: Fork | None, lesson: Lesson, training: Training) -> Tree:
    """Return a priced tree that asks these questions; its leaves answer what costs least on the cases of the lesson."""
    order = [_grow(fork, lesson, np.arange(len(lesson.classes)), 0)]
    first_child: list[int] = []
    branches: list[list[int]] = []  # per node: the branch of each nominal value, nothing for numbers and leaves
    for node in order:  # children side by side, behind their parents
        first_child.append(len(order) if node.children else -1)
        order.extend(node.children)
        question = node.question
        values = (question and lesson.values[question.column]) or ()
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

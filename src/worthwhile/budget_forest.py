"""BudgetRF: a random forest whose tests stay, on average, within a budget (Nan, Wang & Saligrama 2015), and beyond.

docs/design.md, "Forests", says precisely what is computed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from worthwhile import _core
from worthwhile._base import Training, TreeClassifier
from worthwhile._consult import BudgetRecord, Judges, Poll, Recorder, States, quits_at, rates_for
from worthwhile._encode import is_frame, read_columns
from worthwhile._folds import stratified_share
from worthwhile._forestadvice import advise_by_forest, explain_by_forest
from worthwhile._forestfile import Forest, fits, forests_from_json, forests_to_json
from worthwhile._treefile import DEEPEST, Nodes, Reader
from worthwhile.tree import Advice, Tree, distinct_labels

__all__ = ["ALPHAS", "BudgetForestClassifier", "BudgetRecord"]

ALPHAS = (0, 2, 4, 6, 8, 10, 15, 25, 35, 45)  # those of the paper's experiments
SETTLED = "settled"
LEAST_POWER = {"powers": 2.0, "products": 1.0}
FITTED = ("trees_", "forests_", "alpha_", "rate_", "record_", "empty_")


@dataclass(kw_only=True, eq=False, repr=False)
class BudgetForestClassifier(TreeClassifier):
    """BudgetRF: a random forest whose tests cost, on average, no more than a budget.

    Every tree is grown on a bootstrap sample; a node takes the test, and the cut, with the least price per drop of
    impurity in the worst branch. Trees are added as long as the average price of a validation case stays within the
    budget, where a test that several trees ask for is paid once. Their majority answers.

    Parameters
    ----------
    budget : float, optional
        What the tests may cost per case, on average. None: `max_trees` trees, whatever they cost.
    alpha : float or list of float, default 0
        Threshold of the impurity "pairs": the number of cases of a class that a leaf may get wrong; larger means
        smaller trees, and more of them within the budget. Of several values the one with the least validation error is
        chosen (the least total cost, where errors are not all equally dear). The paper's are `ALPHAS` of this module.
    max_trees : int, default 40
        Largest number of trees.
    impurity : {"pairs", "powers", "products"}, default "pairs"
        What splits shall lower: pairs of cases of different classes beyond a threshold (equation 11), the power of the
        number of cases less those of the classes (equation 14), or products of the sizes of two classes (equation 13).
    power : float or list of float, default 2
        Exponent of the impurities "powers" (at least 2) and "products" (at least 1), or several to choose from.
    splits : {"minimax", "expected"}, default "minimax"
        Whether the branch of largest impurity counts, or the mean over the branches.
    cuts : {"random", "values", "exact"}, default "random"
        Which cuts of a numeric test are tried: 80, 40 or 20 (with more than 2,000, more than 500, and fewer cases)
        anywhere between the least and the largest value, or at values of cases drawn at random, which suits crooked
        columns; or all.
    context : bool, default False
        A test that is paid for on the path counts as free in growing, and a group's common price counts once.
    max_depth : int, optional
        Longest way from the root to a leaf of a tree (at most 4096).
    validation : float or pair (X, y), default 0.3
        The share of the training cases that is kept from growing and measures prices and errors, or other cases for it.
        None: the training cases themselves.
    adaptive : bool or "settled", default False
        True: trees are consulted in their order, and a case stops, and pays no more, when the remaining votes cannot
        change the answer, or when the next tree costs more than it is expected to gain. With a budget, the rate between
        prices and error costs is chosen so that the budget is kept; without, one unit of price counts as one unit of
        error cost. "settled": only the first reason.
    costs : Costs, optional
        Prices of the tests and costs of the errors; None: free tests, and every error costs 1.
    weighting : {"instance"}, optional
        Cases weigh as much as it costs to err about them; None: all the same.
    nominal : list of column names or positions, optional
        Columns of numbers that are categories. Columns of texts, categories and truth values are nominal anyway.
    columns : list of str, optional
        Names for the columns of an X that has none.
    random_state : int, numpy Generator or RandomState, optional
        Makes the forest repeatable.
    n_jobs : int, optional
        Number of threads; the forest does not depend on it. None: one, -1: all processors.

    Attributes
    ----------
    trees_ : list of Tree
        The trees that are consulted, in their order.
    empty_ : bool
        Whether there are none, because the first tree is beyond the budget: then the most frequent class is the answer,
        and nothing is paid.
    alpha_ : float
        The threshold (or the power) that was chosen.
    rate_ : float or None
        With ``adaptive=True``: what one unit of price counts against one unit of error cost.
    record_ : BudgetRecord
        What the forest costs on the validation cases.
    forests_ : list of Forest
        The forests for all values of the parameter, with their validation curves.
    classes_ : array
        The classes, sorted.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, if X had names.

    References
    ----------
    F. Nan, J. Wang, V. Saligrama (2015), Feature-budgeted random forest.

    Examples
    --------
    >>> import worthwhile as ww
    >>> pima = ww.datasets.load("pima")
    >>> known = {"costs": pima.costs, "columns": pima.feature_names, "random_state": 0}
    >>> clf = ww.BudgetForestClassifier(budget=6, alpha=[0, 8, 25], **known).fit(pima.X, pima.y)
    >>> len(clf.trees_) > 1, clf.record_.price <= 6
    (True, True)
    >>> cheap = clf.with_budget(4)
    >>> len(cheap.trees_) > 1, cheap.record_.price <= 4
    (True, True)
    """

    budget: float | None = None
    alpha: float | Sequence[float] = 0.0
    max_trees: int = 40
    impurity: str = "pairs"
    power: float | Sequence[float] = 2.0
    splits: str = "minimax"
    cuts: str = "random"
    context: bool = False
    max_depth: int | None = None
    validation: Any = 0.3
    adaptive: bool | str = False

    def _learn(self, training: Training) -> None:
        for name in FITTED:
            self.__dict__.pop(name, None)
        values = self._values()
        rng = self._generator()
        seed = int(rng.integers(2**62))
        self._root = _root(training)
        growing, judges = self._divide(training, rng)
        # Noted, as the parameter may be set to something else later.
        self._adaptive = SETTLED if self.adaptive == SETTLED else bool(self.adaptive)
        self._limit = None if self.budget is None or self._adaptive is True else float(self.budget)
        self.forests_ = [self._grow(value, growing, judges, seed) for value in values]
        self._choose(self.budget)

    def _values(self) -> list[float]:
        """Return the values of the impurity's parameter that are to be tried."""
        name = "alpha" if self.impurity == "pairs" else "power"
        given = getattr(self, name)
        values = [float(value) for value in (given if np.iterable(given) else [given])]
        least = LEAST_POWER.get(self.impurity, 0.0)
        for value in values:
            if value < least:
                needs = f"impurity={self.impurity!r} needs {name} of at least {least:g}"
                raise ValueError(f"{needs}, got {name}={given!r} of {type(self).__name__}")
        return list(dict.fromkeys(values))

    # ---- growing

    def _divide(self, training: Training, rng: np.random.Generator) -> tuple[Training, Judges]:
        """Return the cases to grow trees from, and those that judge them."""
        if _is_pair(self.validation):
            X, y = self.validation
            return training, self._judges(X, y, "validation")
        kept = np.zeros(0, dtype=np.intp)
        if self.validation is not None:
            kept = stratified_share(training.classes, float(self.validation), rng)
        growing = judging = training
        if 0 < len(kept) < len(training.classes):
            judging = training.take(kept)
            growing = training.take(np.setdiff1d(np.arange(len(training.classes)), kept, assume_unique=True))
        costs = training.money.error_costs[judging.classes]
        return growing, Judges(judging.table, judging.classes.astype(np.intp), costs, judging.sample_weights)

    def _judges(self, X: Any, y: Any, what: str) -> Judges:
        root = self._root
        columns = read_columns(X, None if is_frame(X, named=True) else root.columns)
        if columns.names != root.columns:
            known = f"the learner knows {', '.join(root.columns)}"
            raise ValueError(f"X of {what} has the columns {', '.join(columns.names)}, but {known}")
        labels, place = distinct_labels(y, columns.n_cases)
        position = {label: i for i, label in enumerate(root.classes)}
        truth = np.array([position.get(label, -1) for label in labels], dtype=np.intp)[place]
        return Judges(root.schema.encode(columns), truth, root._error_rows(labels)[place])

    def _recorder(self, judges: Judges) -> Recorder:
        root = self._root
        return Recorder(judges.table, len(judges.truth), root._money, int(root.nodes.answer[0]), self._n_threads())

    def _grow(self, alpha: float, growing: Training, judges: Judges, seed: int) -> Forest:
        """Grow trees as long as the validation cases can pay for them."""
        recorder, trees = self._recorder(judges), []
        curve = [self._record(recorder, judges, alpha)]
        for tree in self._trees(alpha, growing, seed):
            recorder.consult(tree._core_tree)
            if self._adaptive is not True:
                record = self._record(recorder, judges, alpha)
                if not fits(record.price, self._limit):
                    break
                curve.append(record)
            trees.append(tree)
        if self._adaptive is not True:
            return Forest(alpha, tuple(trees), tuple(curve))
        course = recorder.course()
        states, rates = States.of(course, judges), rates_for(course, self._root._money)
        return Forest(alpha, tuple(trees), (*judges.at_rates(course, alpha, states, rates), curve[0]), states)

    def _record(self, recorder: Recorder, judges: Judges, alpha: float) -> BudgetRecord:
        course = recorder.course()
        return judges.record(course, alpha, course.ends(self._adaptive == SETTLED))

    def _trees(self, alpha: float, growing: Training, seed: int) -> Iterator[Tree]:
        """Yield the trees. Each depends on the seed and its number alone."""
        n_threads = self._n_threads()
        batch = n_threads if self._limit is not None else 4 * n_threads
        money, weights = growing.money, growing.weights
        for first in range(0, int(self.max_trees), batch):
            numbers = range(first, min(first + batch, int(self.max_trees)))
            draws = [_bootstrap(seed, number, len(growing.classes)) for number in numbers]
            counts = np.stack([counts if weights is None else counts * weights for counts, _ in draws])
            cores = _core.grow_forest(
                growing.table,
                growing.classes,
                len(growing.labels),
                counts,
                money.core_pricing,
                impurity=self.impurity,
                parameter=alpha,
                expected=self.splits == "expected",
                cuts=self.cuts,
                context=bool(self.context),
                max_depth=DEEPEST if self.max_depth is None else min(int(self.max_depth), DEEPEST),
                seeds=[own_seed for _, own_seed in draws],
                n_threads=n_threads,
            )
            yield from (growing.tree(core, "majority") for core in cores)

    # ---- choosing

    def _choose(self, budget: float | None) -> None:
        """Consult the forest, and as much of it, that suits the budget best."""
        found = [forest.within(budget) for forest in self.forests_]
        uniform = _is_uniform(self._root.error_costs)
        forest, record = min(
            zip(self.forests_, found, strict=True),
            key=lambda pair: pair[1].error if uniform else pair[1].price + pair[1].error_cost,
        )
        self._consult_only(forest, record)

    def _consult_only(self, forest: Forest, record: BudgetRecord) -> None:
        self.trees_ = list(forest.trees[: record.trees])
        self.alpha_, self.rate_, self.record_ = forest.alpha, record.rate, record
        self.empty_ = not self.trees_
        self._stops = None
        if forest.states is not None and record.rate is not None:
            self._stops = forest.states.stops(record.rate)

    def with_budget(self, budget: float) -> Self:
        """Return a copy that keeps to another budget, without growing anything.

        Parameters
        ----------
        budget : float
            What the tests may cost per case, at most the budget that the forest was grown with.

        Returns
        -------
        BudgetForestClassifier
            The same as if it had been fitted with this budget.
        """
        self._frame()
        other = copy.copy(self)
        other.budget = budget
        other._check_parameters()
        if budget is None or (self._limit is not None and not fits(float(budget), self._limit)):
            grown = f"the trees were grown within a budget of {self._limit}"
            raise ValueError(f"budget={budget!r} cannot be had without fitting: {grown}")
        other._choose(float(budget))
        return other

    def budget_curve(self, X: Any, y: Any) -> list[BudgetRecord]:
        """Return what every part of every forest costs on these cases, in one pass.

        Parameters
        ----------
        X, y : cases and their classes

        Returns
        -------
        list of BudgetRecord
            For every value of `alpha`, in the order of `forests_`, and 0, 1, 2, … trees; with ``adaptive=True``, all
            trees at every rate.

        Examples
        --------
        >>> import worthwhile as ww
        >>> X, y = [[i] for i in range(20)], [0] * 10 + [1] * 10
        >>> costs = ww.Costs(tests={"x0": 3.0})
        >>> clf = ww.BudgetForestClassifier(costs=costs, max_trees=2, random_state=0).fit(X, y)
        >>> [(record.trees, record.price) for record in clf.budget_curve(X, y)]
        [(0, 0.0), (1, 3.0), (2, 3.0)]
        """
        self._frame()
        judges = self._judges(X, y, "the curve")
        curve: list[BudgetRecord] = []
        for forest in self.forests_:
            recorder = self._recorder(judges)
            none = self._record(recorder, judges, forest.alpha)
            if forest.states is None:
                curve.append(none)
            for tree in forest.trees:
                recorder.consult(tree._core_tree)
                if forest.states is None:
                    curve.append(self._record(recorder, judges, forest.alpha))
            if forest.states is not None:
                rates = [record.rate for record in forest.curve if record.rate is not None]
                curve += [*judges.at_rates(recorder.course(), forest.alpha, forest.states, rates), none]
        return curve

    # ---- answering

    def _frame(self) -> Tree:
        if "trees_" not in self.__dict__:
            check_is_fitted(self, "trees_")
        return self._root

    def _whole_tree(self) -> Tree:
        self._frame()
        raise ValueError("a forest has many trees: see trees_")

    def _route(
        self, X: Any, answers: bool = False, prices: bool = False, shares: bool = False, case_prices: Any = None
    ) -> tuple[Any, Any, Any]:
        root = self._frame()
        columns = self._read(X)
        poll = self._poll(root.schema.encode(columns), columns.n_cases, case_prices)
        return (
            poll.leaders() if answers else None,
            poll.prices if prices else None,
            poll.shares(root._core_tree.shares()[0]) if shares else None,
        )

    def _poll(self, table: Any, n_cases: int, case_prices: Any) -> Poll:
        """Consult as many trees about each case as it takes."""
        root, n_threads = self._root, self._n_threads()
        prices = root.checked_case_prices(case_prices, n_cases)
        ledger = _core.ForestLedger(table, root._money.core_pricing, root._money.core_errors, prices)
        poll = Poll(n_cases, len(root.classes), int(root.nodes.answer[0]))
        asking = np.ones(n_cases, dtype=np.bool_)
        for number, tree in enumerate(self.trees_):
            if self._adaptive:
                asking &= ~quits_at(number, len(self.trees_), poll.leads(), self._stops)
            if not asking.any():
                break
            poll.add(*ledger.consult(tree._core_tree, asking.view(np.uint8) if self._adaptive else None, n_threads))
        return poll

    def _enough(self, number: int, poll: Poll) -> bool:
        return bool(self._adaptive and quits_at(number, len(self.trees_), poll.leads(), self._stops)[0])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the class shares of the training cases in all leaves that a case ends in, in the order of `classes_`.

        Of the trees that were consulted; the order of cases by it is a ranking.
        """
        return super().predict_proba(X)

    def next_test(self, known: Mapping[str, Any]) -> Advice:
        """Return what to do now for a case of which `known` is known; see `Tree.next_test`.

        The trees are gone through in their order; the first one that wants a test decides.
        """
        return advise_by_forest(self._frame(), self.trees_, known, self._enough)

    def explain(self, case: Mapping[str, Any]) -> str:
        """Return the way of a case through the trees, in words and money."""
        return explain_by_forest(self._frame(), self.trees_, case, self._enough)

    # ---- keeping

    def _content(self) -> dict[str, Any]:
        root = self._frame()
        position = next(i for i, forest in enumerate(self.forests_) if forest.alpha == self.alpha_)
        chosen = {"forest": position, "record": self.forests_[position].curve.index(self.record_)}
        return {"forest": forests_to_json(root, self.forests_), "limit": self._limit, "chosen": chosen}

    def _restore(self, reader: Reader) -> None:
        self._root, self.forests_ = forests_from_json(reader.take("forest", dict))
        self._adaptive = self.forests_[0].states is not None or (SETTLED if self.adaptive == SETTLED else False)
        limit = reader.take("limit", (int, float, type(None)), None)
        self._limit = None if limit is None else float(limit)
        chosen = Reader(reader.take("chosen", dict), "'chosen' of the model")
        forest, record = chosen.take("forest", int), chosen.take("record", int)
        chosen.finish()
        if not (0 <= forest < len(self.forests_) and 0 <= record < len(self.forests_[forest].curve)):
            raise ValueError(f"'chosen' of the model names record {record} of forest {forest}, which is not there")
        self._consult_only(self.forests_[forest], self.forests_[forest].curve[record])


def _root(training: Training) -> Tree:
    """Return what a forest without trees would be: the classes and prices, and the most frequent class as answer."""
    weights = np.bincount(training.classes, training.weights, minlength=len(training.labels)).astype(np.float64)
    return Tree(Nodes.leaf(weights), training.schema, training.labels.tolist(), money=training.money)


def _is_pair(validation: Any) -> bool:
    return isinstance(validation, (tuple, list)) and len(validation) == 2


def _bootstrap(seed: int, number: int, n_cases: int) -> tuple[npt.NDArray[np.float64], int]:
    """Return how often a tree has drawn each case, and a seed for its cuts."""
    rng = np.random.default_rng([seed, number])
    counts = np.bincount(rng.integers(n_cases, size=n_cases), minlength=n_cases).astype(np.float64)
    return counts, int(rng.integers(2**63))


def _is_uniform(error_costs: npt.NDArray[np.float64]) -> bool:
    """Say whether all errors are equally dear."""
    right = np.eye(*error_costs.shape, dtype=np.bool_)
    return all(bool(np.ptp(costs) == 0) for costs in (error_costs[right], error_costs[~right]) if costs.size)

"""Cascades: models on growing sets of tests, and a rule that says when to answer (docs/design/cascades.md)."""

# The sections Parameters and Attributes of the docstrings are written by docs/write_parameters.py.

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self
from warnings import warn

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from worthwhile.learners.base import CostSensitiveClassifier
from worthwhile.learners.cascade.advice import CascadeCase, advise_cascade
from worthwhile.learners.cascade.growing import CascadeGrower
from worthwhile.learners.cascade.model_file import cascade_from_json, cascade_to_json
from worthwhile.learners.cascade.policy import Cascade, CascadeWalk
from worthwhile.learners.cascade.stage_models import FOREST
from worthwhile.learners.cascade.stopping_rule import Outcomes
from worthwhile.learners.cascade.test_sets import TestSet
from worthwhile.learners.cross_fitting import expected_cost_of
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_share
from worthwhile.learners.parameters import Base
from worthwhile.learners.progress import CALLBACK, Progress, asks_to_stop
from worthwhile.learners.training import Training
from worthwhile.learners.workload import Piece, workload
from worthwhile.parallel.workers import without_workers
from worthwhile.tree.advice import Advice
from worthwhile.tree.batch_advice import AdviceColumns, Worklist
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.explanation import Explanation
from worthwhile.tree.json_format import ExpectedCost, Reader, is_finite, needs_of, parse_expected_cost
from worthwhile.tree.notebook import cascade_table
from worthwhile.tree.run import Fetch, Outcome, run
from worthwhile.wording import LEFT_OUT, amount

__all__ = ["CascadeClassifier"]

Floats = npt.NDArray[np.float64]
FITTED = ("stages_", "base_", "stopped_", "_cascade", "_expected", "_importances", "_by_budget")
# Sets are chosen on so many cases, with small models; the chosen ones learn from up to so many.
MANY_CASES, MOST_CASES = 2_500, 30_000
FEW_TREES = 60
RULE_SHARE = 0.15  # of a time limit, for the rule
CASES_PER_SECOND, FEWEST_CASES = 1_500, 300  # of a time limit, to find the sets of tests
AT_ONCE = 50_000  # cases that are walked together


class _GrownCascade(NamedTuple):
    """A cascade, what it costs on other cases, what has grown it, and how."""

    cascade: Cascade
    outcomes: Outcomes
    grower: CascadeGrower
    importance: Floats
    stopped: str


@dataclass(kw_only=True, eq=False, repr=False)
class CascadeClassifier(CostSensitiveClassifier):
    """A cascade: models on growing sets of tests, and a rule that says when to answer and what to buy next.

    Sets of tests grow by value for money. Each has a model, by default a random forest, whose probabilities for new
    cases are known out of bag. Whether a case answers or goes on to a larger set, and to which, is decided by what
    either is expected to cost, found by going back from the largest sets to the smallest.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    budget : float, optional
        What the tests may cost per case, on average. The rate between prices and error costs is then chosen so that it
        is kept on the training cases, out of fold. None: prices and error costs are in the same unit.
    weighting : {"instance"}, optional
        "instance": each case weighs as much as it costs to misclassify it, in the models (Ting 1998); the answer is
        then the most probable class. None: all cases weigh the same, and the answer is the one with the lowest expected
        error cost.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
    base : {"forest", "boosting", "chosen"} or classifier, default "chosen"
        The model of each set of tests: a random forest, with out-of-bag probabilities; gradient boosting; or any
        scikit-learn classifier with `predict_proba`, fitted in five folds (nominal columns are one-hot encoded; it must
        know missing values if there are any). "chosen": forests of several shapes and boosting compete by their
        probabilities for cases left out, for a small, a middle and the largest set; other sets follow the one nearest
        in size.
    n_trees : int, default 100
        Number of trees of each forest, or most rounds of boosting (half as many with more than three classes); cases
        left out decide whether fewer rounds are better.
    time_limit : float, optional
        Seconds after which no further model is fitted. If the table has more than 500,000 cells (cases times columns)
        per second of the limit, a random part of the cases is used. After Ctrl-C, `fit` raises KeyboardInterrupt; the
        learner then holds the cascade of the models fitted so far.
    callback : function, optional
        Called with a `Progress` after every model; its `cost` is that of the best single set so far. If it returns
        True, no further model is fitted.
    nominal : list of column names or positions, optional
        Numeric columns to treat as categories. Columns of strings, categories and booleans are always nominal.
    columns : list of str, optional
        Names for the columns of an X that has none.
    random_state : int, numpy Generator or RandomState, optional
        Makes the models repeatable.
    n_jobs : int, optional
        Number of threads. None: one; -1: all processors. The result does not depend on it.

    Attributes
    ----------
    stages_ : list of tuple of str
        The sets of tests, from few to many. Every case begins with the first, which costs nothing, and ends in one of
        them.
    expected_cost_ : float
        What a new case is expected to cost, tests and errors together, measured out of fold.
    expected_cost_interval_ : (float, float)
        The 95 % confidence interval of `expected_cost_`.
    base_ : str or classifier
        The kind of models that are used: "forest", "boosting" or "both".
    stopped_ : {"done", "time limit", "callback", "interrupted"}
        Why fitting models ended.
    feature_importances_ : array
        Share of each test in what the tests of all sets tell a random forest.
    classes_ : array
        The classes, sorted.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns of X, if it has names.

    Examples
    --------
    >>> import worthwhile as ww
    >>> pima = ww.datasets.load("pima")
    >>> known = {"columns": pima.feature_names, "random_state": 0}
    >>> clf = ww.CascadeClassifier(costs=pima.costs.with_errors(200), n_trees=30, **known).fit(pima.X, pima.y)
    >>> len(clf.stages_) > 1, clf.stages_[0]
    (True, ())
    """

    base: Base = "chosen"
    n_trees: int = 100
    budget: float | None = None
    time_limit: float | None = None
    callback: Callable[[Progress], Any] | None = None

    def _forget(self) -> None:
        for name in FITTED:
            self.__dict__.pop(name, None)

    # ---- learning

    def _pieces(self, training: Training) -> list[Piece]:
        return [Piece("forest", 1.0)]

    def fit_budgets(
        self,
        X: Any,
        y: Any,
        budgets: Iterable[float],
        sample_weight: Any = None,
        case_prices: Any = None,
        case_errors: Any = None,
    ) -> list[Self]:
        """Learn a cascade for each of several budgets, all from the same models.

        The models are fitted once; only the rules are found for each budget, which may also use the sets of tests made
        for the others. After Ctrl-C, nothing is kept.

        Parameters
        ----------
        X, y : cases and their classes
        budgets : list of float
            What the tests may cost per case, on average; see the parameter `budget`.
        sample_weight, case_prices, case_errors : optional
            As of `fit`.

        Returns
        -------
        list of CascadeClassifier
            One for each budget, in their order. This learner stays as it is.

        Examples
        --------
        >>> import worthwhile as ww
        >>> pima = ww.datasets.load("pima")
        >>> cascade = ww.CascadeClassifier(costs=pima.costs, columns=pima.feature_names, n_trees=30, random_state=0)
        >>> [len(part.stages_) for part in cascade.fit_budgets(pima.X, pima.y, [0, 2])]
        [1, 2]
        """
        wanted, fitted = list(budgets), copy.copy(self)
        if not wanted:
            raise ValueError("budgets must name at least one budget, e.g. [5, 20]")
        for budget in wanted:
            fitted.budget = budget
            fitted._check_parameters()
        fitted._budgets = wanted
        fitted.fit(X, y, sample_weight, case_prices, case_errors)
        found = []
        for budget, learned in zip(wanted, fitted.__dict__.pop("_by_budget"), strict=True):
            other = copy.copy(fitted)
            del other._budgets
            other.budget = budget
            other._use(learned)
            found.append(other)
        return found

    def _learn(self, training: Training) -> None:
        budgets = self.__dict__.get("_budgets")  # of `fit_budgets`
        found = self._cascades(training, budgets or [self.budget])
        self._use(found[-1])
        if budgets:
            self._by_budget = found

    def _cascades(self, training: Training, budgets: Sequence[float | None]) -> list[_GrownCascade]:
        """Fit models, and find the best cascade of them within each of some budgets."""
        rng, deadline = self._generator(), Deadline(self.time_limit, training.start)
        seed = int(rng.integers(2**31 - 1))
        cases, rows = training.timely(self.time_limit, rng).repeated_rows()  # cases are drawn at random
        many, is_short = MANY_CASES, False
        if self.time_limit is not None:
            deadline.set_aside(RULE_SHARE * self.time_limit)
            many = min(many, max(int(CASES_PER_SECOND * self.time_limit), FEWEST_CASES))
        monitor = _Monitor(deadline, self.callback)
        limits = [budget for budget in budgets if budget is not None]
        with workload().doing_told(Piece("forest", 1.0), monitor.share), without_workers():
            if len(rows) > many:
                some = rows[stratified_share(cases.classes[rows], many / len(rows), rng)]
                n_trees = min(int(self.n_trees), FEW_TREES)
                finder = few = self._grower(cases.take(some), n_trees, seed, deadline)
                sets = self._grown(few, few.sets(limits), monitor, last=False)
                cascades = [few.cascade(sets[0], budget)[0] for budget in budgets]
                chosen = list(dict.fromkeys(stage.tests for own in cascades for stage in own.stages[1:]))
                seconds = few.seconds / len(some) * int(self.n_trees) / n_trees * (len(chosen) + 1)  # per case
                most = min(len(rows), MOST_CASES)
                is_short = deadline.remaining() < seconds * most
                most = int(deadline.remaining() / seconds) if is_short else most
                if most < len(rows):
                    rows = rows[stratified_share(cases.classes[rows], most / len(rows), rng)]
                if not monitor.goes_on() or len(rows) <= len(some):
                    grower, sets = few, [sets[0]]
                else:
                    grower = self._grower(cases.take(rows), int(self.n_trees), seed, deadline)
                    grower.recipes = few.recipes
                    sets = self._grown(grower, [sets[0], *chosen], monitor, last=True)
            else:
                finder = grower = self._grower(cases.take(rows), int(self.n_trees), seed, deadline)
                sets = self._grown(grower, grower.sets(limits), monitor, last=True)
            if is_short and monitor.stopped == "done":
                monitor.stopped = "time limit"
            # Models that were too slow for a time limit may be worse together than small ones of all sets.
            growers = [grower] if monitor.stopped == "done" or finder is grower else [finder, grower]
            if monitor.stopped == "time limit" and all(len(own.fitted) == 1 for own in growers):
                why = "the time limit ended before any model of a test with a price"
                warn(f"{type(self).__name__}: {why}; allow more time", stacklevel=5)
            found = [self._cheapest(growers, sets[0], budget, monitor) for budget in budgets]
        return [_GrownCascade(*own, finder.importance, monitor.stopped) for own in found]

    def _use(self, learned: _GrownCascade) -> None:
        """Set the fitted attributes."""
        self._cascade, grower = learned.cascade, learned.grower
        self._set_importances(learned.importance)
        self.base_, self.stopped_ = self._kind(), learned.stopped
        self._expected: ExpectedCost | None = None
        if grower.training.n_cases > 1:
            self._expected = expected_cost_of(learned.outcomes.cost(1.0), grower.weights)
            self._set_results(grower.results(self._cascade))
        self._name_stages()

    def _cheapest(
        self, growers: Sequence[CascadeGrower], root: TestSet, budget: float | None, monitor: _Monitor
    ) -> tuple[Cascade, Outcomes, CascadeGrower]:
        """Return the cascade that costs least on other cases, what it costs there, and what has grown it."""
        found = []
        for grower in growers:
            try:
                own = grower.validated(root, budget)
            except KeyboardInterrupt:
                monitor.interrupt()
                own = grower.cascade(root, budget)
            found.append((*own, grower))
        # Within a budget only errors count.
        return min(found, key=lambda own: np.average(own[1].cost(float(budget is None)), weights=own[2].weights))

    def _kind(self) -> Any:
        """Return the kind of the models of all stages."""
        if not isinstance(self.base, str):
            return self.base
        kinds = {stage.model.kind for stage in self._cascade.stages} - {"none"}
        return "both" if len(kinds) > 1 else min(kinds, default=FOREST)

    def _grower(self, cases: Training, n_trees: int, seed: int, deadline: Deadline) -> CascadeGrower:
        return CascadeGrower(cases, self.base, n_trees, self.weighting is None, seed, self._n_threads(), deadline)

    def _grown(
        self, grower: CascadeGrower, sets: Sequence[TestSet], monitor: _Monitor, last: bool
    ) -> Sequence[TestSet]:
        """Fit the models of all sets, as far as time allows; those in the middle of each gap first."""
        monitor.begin(len(sets), last)
        try:
            for tests in [sets[0], *(sets[1:][at] for at in spread(len(sets) - 1))]:
                if grower.fitted and not monitor.goes_on(grower.seconds):
                    break
                monitor.tell(grower.fit(tests))
        except KeyboardInterrupt:
            monitor.interrupt()
        grower.use_best_root(sets[0])
        return sets

    def _set_importances(self, importance: Floats) -> None:
        used = np.zeros(len(importance))
        for stage in self._cascade.stages:
            used[sorted(stage.tests)] = importance[sorted(stage.tests)]
        self._importances: Floats = used / used.sum() if used.sum() > 0 else used

    @property
    def feature_importances_(self) -> Floats:
        """The share of each test in what the tests of all sets tell a random forest; they add up to 1.

        All are 0 if no test is used.
        """
        check_is_fitted(self, "stages_")
        return self._importances

    @property
    def n_nodes_(self) -> int:
        """The number of nodes of the trees of all models; class shares are one node."""
        check_is_fitted(self, "stages_")
        trees = [stage.model.trees for stage in self._cascade.stages]
        return sum(1 if own is None else len(own.feature) for own in trees)

    def _name_stages(self) -> None:
        columns = self._cascade.context.columns
        self.stages_ = [tuple(columns[test] for test in sorted(stage.tests)) for stage in self._cascade.stages]

    def _assess(self, training: Training) -> None:
        pass  # `_learn` knows what cases cost out of fold

    def _expected_cost(self) -> ExpectedCost | None:
        check_is_fitted(self, "stages_")
        return self._expected

    # ---- answering

    def _route(
        self,
        X: Any,
        answers: bool = False,
        prices: bool = False,
        shares: bool = False,
        case_prices: Any = None,
        y: Any = None,
    ) -> tuple[Any, Any, Any]:
        found, likely, charged, _, columns = self._walked(X, case_prices)
        paid = None
        if prices:
            amounts = self.problem_.amounts(columns, case_prices, y, likely)
            paid = self._cascade.pricing.price(charged, amounts)
        return found if answers else None, paid, likely if shares else None

    def _walked(
        self, X: Any, case_prices: Any
    ) -> tuple[npt.NDArray[np.intp], Floats, npt.NDArray[np.bool_], npt.NDArray[np.intp], Any]:
        """Return the answer to each case, its class probabilities, what it was charged for, its set, and the columns.

        The set is -1 where not even the first one could be had.
        """
        check_is_fitted(self, "stages_")
        columns, context = self._read(X), self.problem_
        own = context.checked_case_prices(case_prices, columns.n_cases) if context.cap is not None else None
        arrays, parts = context.schema.arrays(columns), []
        for first in range(0, columns.n_cases, AT_ONCE):
            rows = slice(first, first + AT_ONCE)
            some = [array[rows] for array in arrays]
            n = min(AT_ONCE, columns.n_cases - first)
            walk = CascadeWalk(self._cascade, some, n, case_prices=None if own is None else own[rows])
            parts.append((walk.answers, walk.shares, walk.charged, walk.stage))
        answers, shares, charged, stage = (np.concatenate(part) for part in zip(*parts, strict=True))
        return answers, shares, charged, stage, columns

    def _charged(self, X: Any, case_prices: Any = None) -> npt.NDArray[np.uint64]:
        charged = self._walked(X, case_prices)[2]
        n_words = -(-charged.shape[1] // 64)
        padded = np.zeros((len(charged), 64 * n_words), dtype=np.bool_)
        padded[:, : charged.shape[1]] = charged
        return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the class probabilities by the model of the set of tests where each case ends."""
        return super().predict_proba(X)

    def next_test(self, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> Advice:
        """Return what to do next for a case with the results `known`; see `Tree.next_test`.

        The tests of a set are ordered at once: the first one is named, the others are in `commits`.
        """
        return self._case(known, already_paid).advice()

    def _advise(self, cases: Worklist) -> AdviceColumns:
        check_is_fitted(self, "stages_")
        return advise_cascade(self._cascade, cases)

    def run(self, case: Mapping[str, Any], fetch: Fetch, already_paid: Iterable[str] = ()) -> Outcome:
        """Follow `next_test` until there is an answer, calling functions that fetch values; see `Tree.run`."""
        needed = self._case(case, already_paid).may_ask()
        return run(self.next_test, needed, self.problem_, case, fetch, already_paid)

    def explain(self, case: Mapping[str, Any]) -> Explanation:
        """Return the path of a case through the sets of tests, in words and money; see `Tree.explain`."""
        return self._case(case).explain()

    def _case(self, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> CascadeCase:
        check_is_fitted(self, "stages_")
        return CascadeCase.of(self._cascade, known, already_paid)

    def _asked(self, known: Mapping[str, Any]) -> set[int]:
        return self._case(known).asked()

    def _summary_html(self) -> str:
        if "stages_" not in self.__dict__:
            return ""
        facts = [f"{len(self.stages_)} set{'s' * (len(self.stages_) > 1)} of tests"]
        if self._expected is not None:
            mean, low, high = map(amount, self._expected)
            facts.append(f"expected cost of a new case: {mean} ({low} to {high}), {LEFT_OUT}")
        return cascade_table(self.problem_, self.stages_, type(self).__name__, facts)

    # ---- files

    def _content(self) -> dict[str, Any]:
        check_is_fitted(self, "stages_")
        for base in (self.base_, self.base):  # also if no set of tests has a model of it: files have the parameters
            if not isinstance(base, str):
                raise ValueError(
                    f"a cascade of {type(base).__name__} models cannot be saved: files hold no Python objects; fit it "
                    "with base='forest', 'boosting' or 'chosen'"
                )
        return {
            "needs": needs_of(self.problem_, ()),
            "cascade": cascade_to_json(self._cascade),
            "stopped": self.stopped_,
            "base": self.base_,
            "importances": self._importances.tolist(),
            "expected_cost": None if self._expected is None else list(self._expected),
        }

    def _restore(self, reader: Reader, version: int) -> ProblemContext:
        self._cascade = cascade_from_json(reader.take("cascade", dict))
        self.stopped_, self.base_ = reader.take("stopped", str), reader.take("base", str)
        importances = reader.take("importances", list)
        if len(importances) != len(self._cascade.context.columns) or not all(map(is_finite, importances)):
            raise ValueError("'importances' of the model must be a number per column")
        self._importances = np.array(importances, dtype=np.float64)
        self._expected = parse_expected_cost(reader.take("expected_cost", (list, type(None)), None))
        self._name_stages()
        return self._cascade.context


def spread(n: int) -> list[int]:
    """Return 0 … n - 1, the last one first, then those in the middle of each gap: a part of them covers all.

    Examples
    --------
    >>> spread(6)
    [5, 2, 0, 3, 1, 4]
    """
    gaps, found = [(-1, n - 1)], [n - 1] if n else []
    while gaps:
        low, high = gaps.pop(0)
        middle = (low + high) // 2
        if low < middle < high:
            found.append(middle)
            gaps += [(low, middle), (middle, high)]
    return found


class _Monitor:
    """Follows the fitting of models, and says whether it goes on."""

    def __init__(self, deadline: Deadline, callback: Callable[[Progress], Any] | None) -> None:
        self._deadline, self._callback = deadline, callback
        self._done, self._total, self._cost, self._last = 0, 0, np.inf, True
        self.stopped = "done"

    def begin(self, n_sets: int, last: bool) -> None:
        self._total, self._last = self._done + n_sets, last

    def tell(self, cost: float) -> None:
        """Take note of a fitted model, and of what it costs on its own."""
        self._done += 1
        self._cost = min(self._cost, cost)
        progress = Progress(self._deadline.elapsed(), self._done, self._total, self._cost)
        if asks_to_stop(self._callback, progress):
            self.stopped = CALLBACK

    def interrupt(self) -> None:
        self.stopped = "interrupted"

    def goes_on(self, seconds: float = 0.0) -> bool:
        """Return whether there is time for something that takes so many seconds."""
        if self.stopped == "done" and self._deadline.remaining() <= seconds:
            self.stopped = "time limit"
        return self.stopped == "done"

    def share(self) -> float:
        share = self._done / self._total if self._total else 0.0
        return share if self._last else share / 2

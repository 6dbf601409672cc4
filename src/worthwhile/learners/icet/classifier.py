"""ICET: a genetic search for the prices EG2 is given (Turney 1995).

`variant="paper"` is the published algorithm. `variant="refined"` keeps the search and is less misled by lucky trials;
docs/design/icet.md gives the details of both.
"""

# The sections Parameters and Attributes of the docstrings are written by docs/write_parameters.py.

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from worthwhile import _core
from worthwhile.costs.bound_costs import LearningCosts
from worthwhile.learners.act.tree_builder import choose_growth, growth_pieces, labels_like
from worthwhile.learners.cross_fitting import FoldTree, closing_seconds, counting_seconds, fold_masks, n_fold_trees
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.growth_policy import NO_LIMIT, GrowthPolicy
from worthwhile.learners.icet.biases import SPACES, Biases, RefinedSpace
from worthwhile.learners.icet.genesis import Floats
from worthwhile.learners.icet.search import SearchState, paper_search, refined_search
from worthwhile.learners.icet.trials import Folds, Halves
from worthwhile.learners.leaf_limit import limit_leaves
from worthwhile.learners.parameters import Search, Variant
from worthwhile.learners.progress import CALLBACK, Progress, asks_to_stop
from worthwhile.learners.soft_labels import SOFT_LABEL_WEIGHTS, SoftLabels
from worthwhile.learners.training import Training
from worthwhile.learners.tree_classifier import TreeClassifier
from worthwhile.learners.workload import Piece, ensemble_piece, search_piece, workload
from worthwhile.tree.tree import Tree

__all__ = ["ICETClassifier"]

# The refined search uses at most this many cases, to keep trials short. The tree is grown from all of them.
MAX_SEARCHED = 5_000
# Of a time limit: a search needs many trees, and trees of few cases are better than a single one of many.
CELLS_PER_SECOND = 200_000
# Cross-validations of an individual in the refined search, and again in the final; with more cases, one each.
REPEATS, FEW_CASES = 2, 1_000
# Share by which the best individual must be cheaper than EG2 on soft labels, times the square root of the number of
# cases: the best of hundreds looks cheaper by chance, and this effect shrinks like that. On 12 splits of bupa, heart
# and hepatitis that the reproductions do not use, a margin of 0.3 led to 44.7 % of the standard cost, 0.2 to 45.5, 0.1
# to 45.9, 0 to 46.0 (error costs 50, 100, 1000 and 10,000).
MARGIN = 4.0
# Look-ahead of the trees that are compared to choose the labels.
SAMPLES = 1
# Generations without a better individual after which the search ends. Trees grown from the cases' own labels can have
# finer rules: on 18 folds of multi-xor, xor-5, car, tic-tac-toe, wine and monks-1 (error costs 100, 1000 and 5000), 20
# instead of 5 led to 24.8 instead of 25.8 % of the standard cost; before that, branches of 2 cases instead of 5 led to
# 25.8 instead of 33. These are also the folds of docs/results/act-anytime.md.
SOFT_PATIENCE, OWN_PATIENCE = 5, 20
SOFT_MIN_CASES, OWN_MIN_CASES = 5.0, 2.0
# The folds that estimate the cost of new cases search with the trials divided by this, so that all five of them take
# about as long as the search itself.
FOLD_TRIALS = 5
CONVERGED, ALL_TRIALS = "converged", "trials"  # why a search ended by itself


@dataclass(kw_only=True, eq=False, repr=False)
class ICETClassifier(TreeClassifier):
    """ICET: a genetic search for the prices EG2 is given.

    EG2 chooses tests by gain and price and ignores error costs, groups and delays. ICET gives it biases instead of the
    true prices: numbers with which EG2 grows trees of low total cost (tests and errors) on cases held out from
    growing.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    variant : {"refined", "paper"}, default "refined"
        "paper": the published algorithm; a trial grows one tree on a random half of the cases and measures its cost on
        the other half, and the cheapest trial wins. "refined": all individuals are compared by cross-validation on the
        same folds, the best of them, and "no test at all", again on fresh folds; the search ends when nothing better is
        found. Trees are pruned by total cost, use prices in context and give the cheapest answers; their depth is part
        of the search. A cross-validation decides whether to learn from the cases' own labels or from soft labels by a
        random forest and a logistic regression; with soft labels, their weight is part of the search, and the winner
        must be clearly cheaper than EG2 on them.
    search : {"real", "binary"}, default "real"
        "real": every test has a bias. "binary": every test has a bit that says whether EG2 may use it, at its true
        price.
    seeded : bool, default True
        Whether the first generation contains EG2 on the true prices ("refined": with several settings, and "no test").
    population : int, default 50
        Individuals per generation.
    trials : int, default 1000
        Largest number of individuals that are tried.
    crossover : float, default 0.6
        Share of a generation that exchanges bits between two points.
    mutation : float, default 0.001
        Probability that a bit is replaced by a random one.
    weighting : {"instance"}, optional
        On top of what the learner itself does with error costs, each case weighs as much as it costs to misclassify it
        (Ting 1998). None: all cases weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
    min_cases : float, optional
        At least two branches of a split must each hold this weight of cases. None: 2, with soft labels 5.
    max_leaves : int, optional
        Largest number of leaves. A tree with more is cut down to the part with the lowest expected total cost; ACT and
        ICET compare trees after the cut.
    time_limit : float, optional
        Seconds after which the search ends with the best individual so far. "refined": a fifth of the time is kept for
        the final comparison; making the soft labels is not cut short, and is skipped if less than 1 s plus 1 s per
        1,000 cases is left. After Ctrl-C, `fit` raises KeyboardInterrupt; if a generation was complete, the learner
        then holds the best tree so far, without a final comparison.
    callback : function, optional
        Called with a `Progress` after each generation. If it returns True, the search ends with the best individual so
        far, without a final comparison.
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
        Makes the search repeatable.
    n_jobs : int, optional
        Number of threads. None: one; -1: all processors. The result does not depend on it. Workers set up by
        `joblib.parallel_config`, such as other processes or a Dask cluster, take the place of threads.

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
    bias_ : dict of str to float
        The price of each test that EG2 is given; infinite: the test is not used. "refined": scaled to a mean price of
        10, so that the currency does not matter.
    omega_ : float
        How strongly EG2 weighs the biases.
    confidence_ : float
        Confidence level of the pruning.
    max_depth_ : int or None
        Longest path from the root to a leaf ("refined").
    soft_label_weight_ : float
        Share of soft labels in the labels that the tree was grown from.
    reject_below_ : float
        "paper" with a reject answer in `errors`: a leaf whose majority class has a smaller share of its training cases
        gives the reject answer, as Turney proposes in section 5.2. Otherwise 0: "refined" rejects where that costs
        least, and without a reject answer nobody does.
    fitness_ : float
        Cost per case of the winner in its trials; infinite, if the time was too short for a single trial.
    history_ : list of Progress
        Seconds, trials so far (`done`), lowest cost and mean cost after each generation. `save` writes the tree, but
        neither this nor the winner's biases.
    stopped_ : {"converged", "trials", "time limit", "callback", "interrupted"}
        Why the search ended. "converged" ("refined"): no better individual in 20 generations, or in 5 with soft labels.
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
    P. D. Turney (1995), Cost-sensitive classification: empirical evaluation of a hybrid genetic decision tree induction
    algorithm. J. J. Grefenstette (1986), Optimization of control parameters for genetic algorithms (GENESIS).

    Examples
    --------
    A good test for 20 and eight poor ones for 1 each. EG2 uses the poor ones first; ICET uses the good one alone.

    >>> import numpy as np
    >>> import worthwhile as ww
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> poor = np.where(rng.random((300, 8)) < 0.75, y[:, None], 1 - y[:, None])
    >>> X = np.column_stack([y, poor])
    >>> costs = ww.Costs(tests={"x0": 20.0} | {f"x{i}": 1.0 for i in range(1, 9)}, errors=500)
    >>> icet = ww.ICETClassifier(costs=costs, random_state=0).fit(X, y)
    >>> icet.tree_.tests_used()
    ['x0']
    >>> eg2 = ww.EG2Classifier(costs=costs).fit(X, y)
    >>> [float(clf.total_costs(X, y).mean().round(2)) for clf in (icet, eg2)]
    [20.0, 33.08]
    """

    variant: Variant = "refined"
    search: Search = "real"
    seeded: bool = True
    population: int = 50
    trials: int = 1000
    crossover: float = 0.6
    mutation: float = 0.001
    min_cases: float | None = None
    max_leaves: int | None = None
    time_limit: float | None = None
    callback: Callable[[Progress], Any] | None = None

    def _learn(self, training: Training) -> None:
        deadline, rng = Deadline(self.time_limit, training.start), self._generator()
        deadline.set_aside(counting_seconds(training))
        training = training.timely(
            self.time_limit, rng, CELLS_PER_SECOND
        ).repeated()  # trials divide the cases at random
        labels = SoftLabels.own(training)
        if self.variant == "refined":
            given = {name: getattr(self, name) for name in ("min_cases", "max_leaves", "nominal_splits")}
            labels = choose_growth(training, SAMPLES, given, self._n_threads(), deadline, rng, greedy=()).labels
        if self.time_limit is not None:
            deadline.set_aside(closing_seconds(self._growing_seconds(labels), training.n_cases, self.cross_fit))
        costs, weights = self._learning_costs(training), training.class_weights()
        states = (state.in_money(costs, weights) for state in self._search(labels, deadline, rng))
        if self.time_limit is None:
            workload().expect(self._search_pieces(training, labels.soft))
        self.history_: list[Progress] = []
        with workload().doing_told(self._search_pieces(training, False)[0], self._tried):
            found = self._follow(states, deadline)
        self._keep(found, training.context.columns)
        self._winner = labels, found.best
        core, self.leaf_limit_ = self._grow(labels, found.best)
        self.tree_ = Tree.from_core(core, training.context, "majority" if self.variant == "paper" else "least-cost")

    def _growing_seconds(self, labels: SoftLabels) -> float:
        """Return how long it takes to grow a tree from all cases, by EG2 on some of them."""
        n, prices = labels.training.n_cases, _list_prices(labels.training)
        some = labels.take(np.arange(n)[:: -(-n // FEW_CASES)])
        one, last = np.ones(1), np.array([labels.n_weights - 1], dtype=np.int32)
        eg2 = Biases(prices[None, :], one, 0.25 * one, np.array([NO_LIMIT], dtype=np.int32), last, 0 * one)
        clock = Deadline(None)
        self._grow(some, eg2)
        return clock.elapsed() * n / some.training.n_cases

    def _pieces(self, training: Training) -> list[Piece]:
        if self.time_limit is not None:
            return []  # time alone tells how far it is
        refined = self.variant == "refined"
        choosing = growth_pieces(training, SAMPLES, 0)[:-1] if refined else []
        return choosing + self._search_pieces(training, refined)

    def _search_pieces(self, training: Training, soft: bool) -> list[Piece]:
        """Return the work of the search, and of those on folds, which may need soft labels of their own."""
        n, n_tests = min(training.n_cases, MAX_SEARCHED), len(training.context.columns)
        folds = n_fold_trees(training.n_cases) if self.cross_fit else 0
        labels = [ensemble_piece(training.n_cases)] if soft else []
        again = [*labels, search_piece(n, n_tests, max(1, int(self.trials) // FOLD_TRIALS))]
        return [search_piece(n, n_tests, int(self.trials)), *again * folds]

    def _tried(self) -> float:
        """Return the share of the trials that are done."""
        return self.history_[-1].done / int(self.trials) if self.history_ else 0.0

    def _grown_from(self, training: Training) -> Training:
        return self._winner[0].training

    def _fold_trees(self, training: Training) -> Iterator[FoldTree]:
        """Yield trees that are searched for and grown from most of the cases.

        The winner of a search looks cheaper than it is on all cases that it was searched with, so the folds search
        again, with fewer trials. After a time limit or Ctrl-C there is no time for it: the winner of all cases is used.
        """
        labels, winner = self.__dict__.pop("_winner")
        again = self.time_limit is None and self.stopped_ in (CONVERGED, ALL_TRIALS)
        for fold, kept in enumerate(fold_masks(labels.training)):
            cases, held_out = (labels.training.take(np.flatnonzero(which)) for which in (kept, ~kept))
            own, best = labels.take(np.flatnonzero(kept)), winner
            if again:
                own = labels_like(labels, cases, self._n_threads(), fold)
                best = self._searched_again(own, np.random.default_rng(fold))
            yield FoldTree(self._grow(own, best)[0], cases, held_out)

    def _searched_again(self, labels: SoftLabels, rng: np.random.Generator) -> Biases:
        """Return the winner of a search with a part of the trials, which nobody follows."""
        learner = copy.copy(self)
        learner.trials = max(1, int(self.trials) // FOLD_TRIALS)
        with workload().doing(self._search_pieces(labels.training, False)[-1]):
            return list(learner._search(labels, Deadline(None), rng))[-1].best

    def _search(self, labels: SoftLabels, deadline: Deadline, rng: np.random.Generator) -> Iterator[SearchState]:
        search = self._paper_search if self.variant == "paper" else self._refined_search
        return search(labels, deadline, rng)

    def _paper_search(self, labels: SoftLabels, deadline: Deadline, rng: np.random.Generator) -> Iterator[SearchState]:
        halves = Halves(labels.training, self._policy(labels), self._n_threads(), rng)
        bound = labels.training.bound_costs
        rejects = len(bound.answers) > len(bound.error_costs)
        space = SPACES[self.search](_list_prices(labels.training), rejects)
        return paper_search(self, space, halves, deadline, rng)

    def _refined_search(
        self, labels: SoftLabels, deadline: Deadline, rng: np.random.Generator
    ) -> Iterator[SearchState]:
        """Make the folds and search on them; with many cases, on a sample."""
        n = labels.training.n_cases
        if n > MAX_SEARCHED:
            labels = labels.take(rng.permutation(n)[:MAX_SEARCHED])
        space = RefinedSpace(_list_prices(labels.training), self.search == "real", labels.n_weights)
        repeats = REPEATS if n <= FEW_CASES else 1
        search, final = Folds.sets(2, labels, self._policy(labels), repeats, self._n_threads(), rng)
        patience, margin = OWN_PATIENCE, 0.0
        if labels.soft:
            patience, margin = SOFT_PATIENCE, min(MARGIN / math.sqrt(n), 1.0)
        return refined_search(self, space, search, final, deadline, rng, patience, margin)

    def _follow(self, states: Iterator[SearchState], deadline: Deadline) -> SearchState:
        """Run a search, record its history, and return its last state."""
        self.history_, self.stopped_ = [], "interrupted"
        reached: list[SearchState] = []
        try:
            for state in states:
                reached.append(state)
                progress = Progress(deadline.elapsed(), state.trials, int(self.trials), state.cost, state.mean)
                self.history_.append(progress)
                if asks_to_stop(self.callback, progress):
                    self.stopped_ = CALLBACK
                    return state
            converged = CONVERGED if reached[-1].trials < self.trials else ALL_TRIALS
            self.stopped_ = "time limit" if deadline.remaining() <= 0 or reached[-1].late else converged
        except KeyboardInterrupt:
            if not reached:
                raise
        return reached[-1]

    def _keep(self, found: SearchState, names: tuple[str, ...]) -> None:
        """Set the fitted attributes of the winner."""
        best = found.best
        self.bias_ = dict(zip(names, best.prices[0].tolist(), strict=True))
        self.omega_, self.confidence_ = float(best.omega[0]), float(best.confidence[0])
        self.max_depth_ = None if best.max_depth[0] == NO_LIMIT else int(best.max_depth[0])
        self.soft_label_weight_ = SOFT_LABEL_WEIGHTS[best.soft_label_weight[0]]
        self.reject_below_ = float(best.reject_below[0])
        self.fitness_ = found.cost

    def _grow(self, labels: SoftLabels, best: Biases) -> Any:
        """Grow the tree of a winner."""
        policy = replace(
            self._policy(labels),
            omega=float(best.omega[0]),
            max_depth=int(best.max_depth[0]),
            confidence=float(best.confidence[0]),
            biases=best.prices[0],
            reject_below=float(best.reject_below[0]),
            max_leaves=NO_LIMIT,
        )
        costs = self._learning_costs(labels.training)
        rows = labels.rows(SOFT_LABEL_WEIGHTS[best.soft_label_weight[0]])
        core = _core.grow(*rows, costs.core_pricing, costs.core_errors, policy.core())
        return limit_leaves(core, rows, costs, policy, self.max_leaves)

    def _learning_costs(self, training: Training) -> LearningCosts:
        return training.bound_costs.as_given if self.variant == "paper" else training.bound_costs.learning

    def _policy(self, labels: SoftLabels) -> GrowthPolicy:
        """Return what the policies of all individuals have in common."""
        paper = self.variant == "paper"
        return GrowthPolicy(
            criterion="icf",
            min_cases=float(self.min_cases or (SOFT_MIN_CASES if labels.soft else OWN_MIN_CASES)),
            max_leaves=NO_LIMIT if self.max_leaves is None else int(self.max_leaves),
            nominal_splits=self.nominal_splits,
            may_stop=not paper,
            context=not paper,
            least_cost=not paper,
            prune="pessimistic" if paper else "cost",
            n_threads=self._n_threads(),
        )


def _list_prices(training: Training) -> Floats:
    costs = training.context.costs
    return np.array([costs.price(name) if name in costs.tests else 0.0 for name in training.context.columns])

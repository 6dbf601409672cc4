"""LSID3 and ACT: look-ahead by sampling trees below every candidate split (Esmeir & Markovitch 2007, 2008).

`variant="paper"` is the published ACT. `variant="refined"` can be interrupted and is less misled by noise;
docs/design/look-ahead.md gives the details of both.
"""

# The sections Parameters and Attributes of the docstrings are written by docs/write_parameters.py.

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from warnings import warn

import numpy as np

from worthwhile import _core
from worthwhile.learners.act.tree_builder import (
    GRACE,
    MAX_SAMPLES,
    PAPER,
    SLACK,
    GrownTree,
    GrowthChoice,
    GrowthSettings,
    Rounds,
    TreeBuilder,
    choose_growth,
    growth_pieces,
)
from worthwhile.learners.cross_fitting import FoldTree, closing_seconds, counting_seconds, fold_masks, n_fold_trees
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.greedy import _GreedyClassifier
from worthwhile.learners.growth_policy import SamplingPolicy
from worthwhile.learners.parameters import Samples, Variant
from worthwhile.learners.progress import CALLBACK, Progress, asks_to_stop
from worthwhile.learners.soft_labels import SoftLabels
from worthwhile.learners.training import Training
from worthwhile.learners.tree_classifier import TreeClassifier
from worthwhile.learners.workload import Piece, ahead_piece, workload
from worthwhile.tree.tree import Tree

__all__ = ["ACTClassifier", "LSID3Classifier"]

# Share of the time limit for trees grown from the cases' own labels, before the labels are chosen.
EARLY = 0.1
# With a time limit, the first tree is grown from at most this many cases. Further trees use as many cases as a tree
# without look-ahead can be grown from in this share of the time, but at most so many times as many as the tree before:
# time may grow faster than the cases.
FIRST_CASES, GREEDY_SHARE, STEP = 1_000, 0.1, 4

# Trees, each with whether it is the first one valued in a new way.
Steps = Iterator[tuple[GrownTree, bool]]


@dataclass(kw_only=True, eq=False, repr=False)
class LSID3Classifier(_GreedyClassifier):
    """LSID3: the test below which the smallest tree was found. It ignores prices.

    Below every branch of every candidate test, `r` trees are grown with random tests, drawn in proportion to their
    gain. The test is chosen whose branches have the smallest trees, by their number of leaves. With `r=0` it is ID3.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors, for `test_costs` and the like; growing ignores them, unless `weighting`
        is set.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    r : int, default 5
        Number of sampled trees below every branch, and of cuts tried for every numeric test.
    weighting : {"instance"}, optional
        "instance": each case weighs as much as it costs to misclassify it, in growing and in pruning (Ting 1998). None:
        all cases weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
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
    time_limit : float, optional
        Seconds after which the remaining nodes are split without look-ahead. If the table has more than 500,000 cells
        (cases times columns) per second of the limit, a random part of the cases is used.
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
        Makes the samples repeatable.
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
    S. Esmeir & S. Markovitch (2007), Anytime learning of decision trees, Journal of Machine Learning Research 8.

    Examples
    --------
    The class is whether two of six bits differ: no test alone gains anything.

    >>> import numpy as np
    >>> import worthwhile as ww
    >>> X = np.random.default_rng(0).integers(0, 2, (300, 6)).astype(str)
    >>> y = X[:, 0] != X[:, 1]
    >>> ww.LSID3Classifier(random_state=0).fit(X, y).tree_.n_leaves
    4
    """

    r: int = 5
    time_limit: float | None = None
    _criterion: ClassVar[str] = "gain"

    def _learn(self, training: Training) -> None:
        rng = np.random.default_rng(0)  # the samples of trees are the same as if all cases fitted into the time
        self._cases = training.timely(self.time_limit, rng)
        super()._learn(self._cases)

    def _grown_from(self, training: Training) -> Training:
        return self._cases

    def _fold_trees(self, training: Training) -> Iterator[FoldTree]:
        return super()._fold_trees(self.__dict__.pop("_cases"))

    def _piece(self, training: Training) -> Piece:
        return ahead_piece(training.n_cases, len(training.context.columns), max(int(self.r), 1))

    def _grow(self, training: Training) -> Any:
        sampling = SamplingPolicy(
            r=int(self.r),
            greedy_first=False,
            by_size=True,
            samples="grown",
            confidence=float(self.confidence),
            margin=0.0,
            seed=int(self._generator().integers(2**63)),
        )
        costs = self._learning_costs(training)
        with workload().doing(self._piece(training)) as meter:
            return _core.grow_ahead(
                training.table,
                training.classes,
                training.weights,
                costs.core_pricing,
                costs.core_errors,
                replace(self._policy(), sampling=sampling).core(),
                # Trees on folds have what is left of the time.
                seconds=Deadline(self.time_limit, training.start).remaining(),
                seconds_more=math.inf,
                meter=meter,
            )


@dataclass(kw_only=True, eq=False, repr=False)
class ACTClassifier(TreeClassifier):
    """ACT: the test below which the tree with the lowest total cost was found.

    Below every branch of every candidate test, one tree is grown by EG2 and `r` − 1 by EG2 with randomly drawn tests. A
    test is valued by its price plus the cost of the cheapest tree of each branch. More samples, or more time, lead to
    cheaper trees.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    variant : {"refined", "paper"}, default "refined"
        "paper": the published algorithm, in which the currency matters. "refined": prices are scaled as in
        `EG2Classifier`; a cross-validation decides whether to learn from the cases' own labels or from soft labels by a
        random forest and a logistic regression, and whether with look-ahead or like EG2 or DTMC; with delayed tests or
        soft labels, sampled trees are pruned before they are valued; and with a `time_limit` the search goes on until
        the time is over.
    r : int, default 5
        Number of sampled trees below every branch, and of cuts tried for every numeric test. 0: no look-ahead, which
        makes "paper" EG2, pruned by cost. With a `time_limit`, "refined" goes on past `r`.
    omega : float, optional
        How strongly prices count in EG2. None: by the costs, as in the paper ("refined": 0.25 with soft labels).
    weighting : {"instance"}, optional
        On top of what the learner itself does with error costs, each case weighs as much as it costs to misclassify it
        (Ting 1998). None: all cases weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
    confidence : float, optional
        Confidence level of the pessimistic error estimate. None: by the costs, as in the paper ("refined": 0.75 with
        soft labels).
    min_cases : float, optional
        At least two branches of a split must each hold this weight of cases. None: 2, with soft labels 5.
    max_leaves : int, optional
        Largest number of leaves. A tree with more is cut down to the part with the lowest expected total cost; ACT and
        ICET compare trees after the cut.
    samples : {"grown", "pruned"}, optional
        How far sampled trees are grown: until nothing can be split, or pruned after that. None: "grown"; "refined":
        "pruned" with soft labels, delayed tests or surcharges.
    time_limit : float, optional
        Seconds. "refined": trees with more samples, other ω and other confidence levels are tried until the time is
        over, and kept if they cost less on cases left out; making the soft labels is not cut short, and is skipped if
        less than 1 s plus 1 s per 1,000 cases is left. If the table is too large for the time, trees are grown from
        some of the cases; nodes count these if there is no time to count all. "paper": after this time the remaining
        nodes are split without look-ahead. After Ctrl-C, `fit` raises KeyboardInterrupt; the learner then holds the
        best tree so far, if there was one.
    callback : function, optional
        Called with a `Progress` whenever a better tree is found. If it returns True, the search ends.
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
        Makes the samples repeatable; with a time limit, only on an equally fast machine.
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
    history_ : list of Progress
        Seconds, samples per branch (`done`) and expected cost of each tree that was better than those before it. It
        starts again when the search changes how it values trees.
    stopped_ : {"done", "time limit", "callback", "interrupted"}
        Why the search ended.
    r_ : int
        Samples per branch of the tree's look-ahead; 0: it was grown without look-ahead.
    soft_label_weight_ : float
        Share of soft labels in the labels that the tree was grown from.
    omega_, confidence_ : float
        The values that were used.
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
    S. Esmeir & S. Markovitch (2008), Anytime induction of low-cost, low-error classifiers: a sampling-based approach,
    Journal of Artificial Intelligence Research 33; (2007), Anytime induction of
    cost-sensitive trees, Advances in Neural Information Processing Systems 20.

    Examples
    --------
    The class is whether two of six cheap bits differ; an expensive test tells it at once. No cheap test alone gains
    anything, so EG2 uses the expensive one; look-ahead finds the cheap pair.

    >>> import numpy as np
    >>> import worthwhile as ww
    >>> bits = np.random.default_rng(0).integers(0, 2, (300, 6)).astype(str)
    >>> y = bits[:, 0] != bits[:, 1]
    >>> X = np.column_stack([bits, y])
    >>> costs = ww.Costs(tests={f"x{i}": 1.0 for i in range(6)} | {"x6": 50.0}, errors=1000)
    >>> ww.ACTClassifier(costs=costs, random_state=0).fit(X, y).tree_.tests_used()
    ['x0', 'x1']
    """

    variant: Variant = "refined"
    r: int = 5
    omega: float | None = None
    confidence: float | None = None
    samples: Samples | None = None
    min_cases: float | None = None
    max_leaves: int | None = None
    time_limit: float | None = None
    callback: Callable[[Progress], Any] | None = None

    def _learn(self, training: Training) -> None:
        deadline, rng = Deadline(self.time_limit, training.start), self._generator()
        deadline.set_aside(counting_seconds(training))
        search = self._paper if self.variant == "paper" else self._refined
        self.history_: list[Progress] = []
        self.stopped_ = "interrupted"
        self._folds: Iterable[FoldTree] | None = None
        self._looked_ahead = False
        found: GrownTree | None = None
        try:
            cases = training if self.variant == "paper" else training.timely(self.time_limit, rng)
            for grown, restarts in search(cases.repeated(), deadline, rng):
                if restarts:  # valued in another way than the trees before
                    self.history_.clear()
                if found is None or restarts or found.cost - grown.cost > SLACK * abs(found.cost):
                    found = grown
                    if self._note(found, deadline):
                        self.stopped_ = CALLBACK
                        break
            else:
                late = self.time_limit is not None and deadline.remaining() <= GRACE
                self.stopped_ = "time limit" if late else "done"
                if late and self.r > 0 and training.n_classes > 1 and not self._looked_ahead:
                    warn(
                        f"{type(self).__name__}: time_limit={self.time_limit:g} ended the search before any look-ahead;"
                        " the tree is a greedy one: allow more time, or fewer samples (r)",
                        stacklevel=3,
                    )
        except KeyboardInterrupt:
            if found is None:
                raise
        assert found is not None  # every search starts with a tree
        self._found = found
        self.tree_ = Tree.from_core(found.core, training.context, "least-cost")

    def _pieces(self, training: Training) -> list[Piece]:
        if self.time_limit is not None:
            return []  # time alone tells how far it is
        n, r = training.n_cases, int(self.r)
        folds = n_fold_trees(n) if self.cross_fit else 0
        if self.variant == "paper":
            return [self._builder(SoftLabels.own(training), PAPER).piece(None, r)] * (1 + folds)
        return growth_pieces(training, r, folds)

    def _grown_from(self, training: Training) -> Training:
        return self._found.builder.labels.training

    def _fold_trees(self, training: Training) -> Iterator[FoldTree]:
        """Yield the trees of the cross-validation that chose how to grow the tree, or others grown in the same way."""
        folds, found = self.__dict__.pop("_folds"), self.__dict__.pop("_found")
        if folds is not None:
            yield from folds
            return
        cases = found.builder.labels.training
        for kept in fold_masks(cases):
            builder = found.builder.on(kept)
            if found.r > 0 and self.stopped_ == "done":
                tree = builder.look_ahead(found.r, 0)
            else:  # after a time limit or Ctrl-C there is no time for look-ahead
                tree = builder.greedy(found.criterion or "icf")
            yield FoldTree(tree.core, *(cases.take(np.flatnonzero(which)) for which in (kept, ~kept)))

    def _note(self, found: GrownTree, deadline: Deadline) -> bool:
        """Keep what is known of a better tree, and return whether the callback ends the search."""
        builder = found.builder
        self.r_, self.leaf_limit_ = found.r, found.leaf_limit
        self.omega_, self.confidence_ = builder.omega, builder.confidence
        self.soft_label_weight_ = builder.soft_label_weight
        self.history_.append(Progress(deadline.elapsed(), done=found.r, cost=builder.in_money(found.cost)))
        return asks_to_stop(self.callback, self.history_[-1])

    def _paper(self, training: Training, deadline: Deadline, rng: np.random.Generator) -> Steps:
        builder = self._builder(SoftLabels.own(training), PAPER)
        if self.r == 0:
            yield builder.greedy(), True
        else:
            yield builder.look_ahead(int(self.r), int(rng.integers(2**63)), deadline.remaining(), complete=True), True

    def _refined(self, training: Training, deadline: Deadline, rng: np.random.Generator) -> Steps:
        """Grow a tree at once; choose how trees are grown and valued; grow them with more and more look-ahead."""
        training = yield from self._first_trees(training, deadline, rng)
        choice = choose_growth(training, int(self.r), self._given(), self._n_threads(), deadline, rng)
        self._folds, greedy = choice.folds, choice.criterion
        builder = self._builder(choice.labels, choice.settings)
        if self.time_limit is None:
            workload().expect([builder.piece(greedy, int(self.r)), *(choice.pieces if self.cross_fit else ())])
            yield self._grow(builder, int(self.r), rng, deadline) if greedy is None else builder.greedy(greedy), True
            return
        if (choice.settings, greedy or "icf") != (PAPER, "icf"):  # otherwise it is the last of the first trees
            yield builder.greedy(greedy or "icf"), True
        if choice.rounds is not None:
            yield from self._rounds(choice, choice.rounds, rng, deadline)
            return
        r = 1
        while greedy is None and deadline.remaining() > 0 and training.n_classes > 1:
            yield self._grow(builder, r, rng, deadline), False
            r = min(2 * r, MAX_SAMPLES)

    def _rounds(self, choice: GrowthChoice, rounds: Rounds, rng: np.random.Generator, deadline: Deadline) -> Steps:
        """Grow the tree that was chosen, and then better ones as long as there is time."""
        if choice.criterion is None:
            grown = self._grow(self._builder(choice.labels, choice.settings), rounds.r, rng, deadline)
            yield grown, deadline.remaining() > 0  # a tree that was not finished has to be better than the greedy one
        for settings, r in rounds.better_ways(deadline):
            grown = self._grow(self._builder(choice.labels, settings), r, rng, deadline)
            if deadline.remaining() > 0:
                yield grown, True
        self._folds = rounds.folds()

    def _first_trees(
        self, training: Training, deadline: Deadline, rng: np.random.Generator
    ) -> Generator[tuple[GrownTree, bool], None, Training]:
        """Grow trees at once; return the cases to go on with: with a time limit, as many as there is time for."""
        start = deadline.elapsed()
        some = training if self.time_limit is None else training.sample(FIRST_CASES, rng)
        own = self._builder(SoftLabels.own(some), PAPER)
        yield own.greedy(), True
        seconds = deadline.elapsed() - start
        while some.n_cases < training.n_cases:
            affordable = min(GREEDY_SHARE * deadline.remaining() / seconds, STEP) * some.n_cases
            if affordable < 2 * some.n_cases:
                break
            start, some = deadline.elapsed(), training.sample(int(affordable), rng)
            own = self._builder(SoftLabels.own(some), PAPER)
            yield own.greedy(), True
            seconds = deadline.elapsed() - start
        deadline.set_aside(closing_seconds(seconds, some.n_cases, self.cross_fit))
        r = 1
        while self.time_limit is not None and r <= self.r and deadline.elapsed() < EARLY * self.time_limit:
            yield self._grow(own, r, rng, deadline), False
            r *= 2
        return some

    def _given(self) -> dict[str, Any]:
        names = "omega", "confidence", "samples", "variant", "min_cases", "max_leaves", "nominal_splits"
        return {name: getattr(self, name) for name in names}

    def _builder(self, labels: SoftLabels, settings: GrowthSettings) -> TreeBuilder:
        return TreeBuilder(labels, settings, self._given(), self._n_threads())

    def _grow(self, builder: TreeBuilder, r: int, rng: np.random.Generator, deadline: Deadline) -> GrownTree:
        if r == 0:
            return builder.greedy()
        self._looked_ahead |= deadline.remaining() > GRACE
        return builder.look_ahead(r, int(rng.integers(2**63)), deadline.remaining())

"""When a cascade answers, and which tests it buys otherwise: fitted backward induction (docs/design/cascades.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from worthwhile.learners.folds import stratified_folds

__all__ = [
    "BeliefCurve",
    "Edge",
    "Outcomes",
    "RuleFitter",
    "StageRule",
    "StageView",
    "cross_fitted",
    "fit_rules",
    "follow",
    "walked",
]

Floats = npt.NDArray[np.float64]
N_FOLDS = 5
# Of a curve: number of knots, cases per knot. Going on to a set must save more than `EDGE_ERRORS` standard errors on
# cases that did not fit the rule. On pima, heart, waveform, vote and car (errors of 0.5, 5 and 50 times the price of
# all tests, two splits) none of this matters much: with 15, 40 and 80 cases per knot and 0.3, 0.7 and 1.2 standard
# errors, the costs are 24.1 to 24.5 % of the standard cost in geometric mean; with fewer, small tables have more sets
# than they can tell apart. 25 lies between them. Regressing on the known values as well, by forests, was dropped: on
# the first 15 of 30 problems it was from slightly better to 31 % worse.
MAX_KNOTS, MIN_BIN = 30, 25
EDGE_ERRORS = 0.7
# Expensive errors are few, and which set made fewer is mostly chance. So a loss counts for one half as what such a
# belief costs on average, over all stages. On the same data, errors at 50 times the price of all tests: pima costs
# 77.7 by losses as they were, 70.7 by halves, 69.5 by averages alone; heart 50.5, 46.7 and 44.2; vote 9.1, 11.3 and
# 10.1; at 5 times, car 35.7, 35.7 and 38.0. The mean of all cells is 29.7, 29.1 and 29.3.
USUAL, POOLED_BIN = 0.5, 100


@dataclass(frozen=True, eq=False)
class BeliefCurve:
    """A rising curve through a few points: what is expected, given the believed cost of the best answer.

    Examples
    --------
    >>> curve = BeliefCurve.fit(np.arange(60.0), np.arange(60.0) // 30, np.ones(60))
    >>> curve(np.array([0.0, 59.0])).tolist()
    [0.0, 1.0]
    """

    x: Floats
    y: Floats

    @classmethod
    def fit(cls, believed: Floats, values: Floats, weights: Floats, min_bin: int = MIN_BIN) -> BeliefCurve:
        """Return the means of values in bins of about equally many cases, made rising by pooling neighbours."""
        return _Bins(believed, weights, min_bin).curve(values)

    def __call__(self, believed: Floats) -> Floats:
        found: Floats = np.interp(believed, self.x, self.y)
        return found


class _Bins:
    """Bins of about equally many cases, by belief. Sorting takes most of the time, so curves of a stage share them."""

    def __init__(self, believed: Floats, weights: Floats, min_bin: int = MIN_BIN) -> None:
        self._order = np.argsort(believed, kind="stable")
        x, self._weights = believed[self._order], weights[self._order]
        n_bins = max(1, min(MAX_KNOTS, len(x) // min_bin))
        ends = np.linspace(0, len(x), n_bins + 1).astype(np.intp)[1:-1]
        # Equal beliefs are in one bin.
        self._starts = np.unique(np.concatenate([[0], np.searchsorted(x, x[ends], side="left")]))
        self._total = np.add.reduceat(self._weights, self._starts)
        self._x = self._means(x)

    def _means(self, values: Floats) -> Floats:
        found: Floats = np.add.reduceat(self._weights * values, self._starts) / self._total
        return found

    def curve(self, values: Floats) -> BeliefCurve:
        return BeliefCurve(self._x, pooled(self._means(values[self._order]), self._total))


class _FoldedBins:
    """Bins of all folds but one, for each of them."""

    def __init__(self, believed: Floats, weights: Floats, folds: npt.NDArray[np.intp]) -> None:
        self._believed, self._parts = believed, []
        for fold in np.unique(folds):
            held_out = folds == fold
            kept = ~held_out if held_out.sum() < len(folds) else held_out
            self._parts.append((held_out, kept, _Bins(believed[kept], weights[kept])))

    def curve_values(self, values: Floats) -> Floats:
        """Return the curve's value for every case, by curves fitted to the other folds."""
        found = np.empty(len(values))
        for held_out, kept, bins in self._parts:
            found[held_out] = bins.curve(values[kept])(self._believed[held_out])
        return found


def pooled(values: Floats, weights: Floats) -> Floats:
    """Return the rising sequence nearest to some values: neighbours out of order get their mean.

    Examples
    --------
    >>> pooled(np.array([1.0, 3.0, 2.0]), np.ones(3)).tolist()
    [1.0, 2.5, 2.5]
    """
    if (np.diff(values) > 0).all():
        return values
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        block = value, weight, 1
        while blocks and blocks[-1][0] >= block[0]:
            mean, total, size = blocks.pop()
            both = total + block[1]
            block = (mean * total + block[0] * block[1]) / both, both, size + block[2]
        blocks.append(block)
    return np.repeat([mean for mean, _, _ in blocks], [size for _, _, size in blocks])


@dataclass(frozen=True, eq=False)
class Edge:
    """Going on from a stage to a larger set of tests: what a case is expected to cost from there on."""

    target: int
    cost: BeliefCurve


@dataclass(frozen=True, eq=False)
class StageRule:
    """What answering at a stage is expected to cost, and the sets that it may go on to."""

    stop: BeliefCurve
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, eq=False)
class StageView:
    """What a stage says about the training cases, by models that were not trained on them."""

    believed: Floats  # expected cost of the best answer
    loss: Floats  # what this answer costs


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What each training case costs from a stage on, by rules fitted to other cases."""

    price: Floats
    loss: Floats  # as it was
    expected: Floats  # a mean of the loss and of what such beliefs cost on average

    def cost(self, rate: float = 1.0) -> Floats:
        """Return what each case costs."""
        return rate * self.price + self.loss

    def smooth_cost(self, rate: float) -> Floats:
        """Return what each case is taken to cost while rules are fitted."""
        return rate * self.price + self.expected

    def where(self, chosen: npt.NDArray[np.bool_], price: Floats, other: Outcomes) -> Outcomes:
        """Return these outcomes, but where cases go on those of another stage, with the price of going there."""
        return Outcomes(
            np.where(chosen, price + other.price, self.price),
            np.where(chosen, other.loss, self.loss),
            np.where(chosen, other.expected, self.expected),
        )


Prices = Callable[[int, int], tuple[Floats, Floats]]  # of stage and larger set: expected, and paid, by case


def fit_rules(
    views: Sequence[StageView],
    successors: Sequence[Sequence[int]],
    prices: Prices,
    classes: npt.NDArray[np.int32],
    weights: Floats,
    rate: float = 1.0,
) -> tuple[list[StageRule], list[Outcomes]]:
    """Fit the rule of every stage at one rate; see `RuleFitter`."""
    return RuleFitter(views, successors, prices, classes, weights).fit(rate)


class RuleFitter:
    """Fits the rules of all stages at any rate between prices and error costs, the largest sets first.

    At a stage, the cost of answering and the cost from each larger set on are regressed on the believed cost of the
    best answer, in folds: the values of a case come from curves fitted to other cases. Sets are added one after the
    other while they save more than chance explains.

    Parameters
    ----------
    views : sequence of StageView
        By stage; larger sets come after their parts.
    successors : sequence of sequence of int
        The larger sets that each stage may go on to.
    prices : function
    classes, weights : arrays
        Of the cases.
    """

    def __init__(
        self,
        views: Sequence[StageView],
        successors: Sequence[Sequence[int]],
        prices: Prices,
        classes: npt.NDArray[np.int32],
        weights: Floats,
    ) -> None:
        self._successors, self._prices, self._weights = successors, prices, weights
        folds = stratified_folds(classes, min(N_FOLDS, len(classes)), np.random.default_rng(0))
        self._bins = [_Bins(view.believed, weights) for view in views]
        self._folded = [_FoldedBins(view.believed, weights, folds) for view in views]
        self._answers = [
            Outcomes(np.zeros(len(classes)), view.loss, expected)
            for view, expected in zip(views, _smoothed_losses(views, weights), strict=True)
        ]
        self._stops = [
            folded.curve_values(now.expected) for folded, now in zip(self._folded, self._answers, strict=True)
        ]

    def fit(self, rate: float = 1.0, first: int | None = None) -> tuple[list[StageRule], list[Outcomes]]:
        """Return the rules and what cases cost by them.

        Parameters
        ----------
        rate : float
            How many units of error cost a unit of price counts for.
        first : int, optional
            The only set that cases may go on to from the first stage. None: any.

        Returns
        -------
        list of StageRule
            Fitted to all cases.
        list of Outcomes
            By stage, out of fold.
        """
        outcomes = list(self._answers)
        rules = [StageRule(BeliefCurve(np.zeros(1), np.zeros(1)))] * len(outcomes)
        for stage in range(len(outcomes) - 1, -1, -1):
            only = None if stage or first is None else [first]
            chosen, own = self._edges(stage, outcomes, rate, only)
            curve = self._bins[stage].curve
            edges = [Edge(target, curve(outcomes[target].smooth_cost(rate))) for target in sorted(chosen)]
            rules[stage] = StageRule(curve(self._answers[stage].expected), tuple(edges))
            outcomes[stage] = own
        return rules, outcomes

    def first_steps(self, rate: float) -> dict[int | None, Outcomes]:
        """Return what cases cost, by the only set that they may go on to from the first stage; None: any."""
        _, outcomes = self.fit(rate)
        found: dict[int | None, Outcomes] = {None: outcomes[0]}
        return found | {target: self._edges(0, outcomes, rate, [target])[1] for target in self._successors[0]}

    def _edges(
        self, stage: int, outcomes: Sequence[Outcomes], rate: float, only: Sequence[int] | None
    ) -> tuple[list[int], Outcomes]:
        """Return the sets that a stage goes on to, given the outcomes of later stages, and its own outcomes."""
        best, now = self._stops[stage], self._answers[stage]
        candidates: dict[int, tuple[Floats, Floats]] = {}  # expected cost of going there, and its price
        for target in self._successors[stage] if only is None else only:
            expected, paid = self._prices(stage, target)
            ahead = self._folded[stage].curve_values(outcomes[target].smooth_cost(rate))
            candidates[target] = rate * expected + ahead, paid
        chosen: list[int] = []
        while candidates:
            trials = {t: now.where(cost < best, paid, outcomes[t]) for t, (cost, paid) in candidates.items()}
            gains = {
                t: sure_gain(now.smooth_cost(rate) - trial.smooth_cost(rate), self._weights)
                for t, trial in trials.items()
            }
            target = max(gains, key=lambda t: (gains[t], -t))
            if gains[target] <= 0:
                break
            best = np.minimum(best, candidates.pop(target)[0])
            now = trials[target]
            chosen.append(target)
        return chosen, now


def follow(rules: Sequence[StageRule], views: Sequence[StageView], prices: Prices, rate: float = 1.0) -> Outcomes:
    """Return what cases pay and lose by some rules, from the first stage on."""
    return walked(rules, views, prices, rate)[0]


def walked(
    rules: Sequence[StageRule], views: Sequence[StageView], prices: Prices, rate: float
) -> tuple[Outcomes, npt.NDArray[np.intp]]:
    """Return what cases pay and lose by some rules, and the stage where each ends."""
    n = len(views[0].loss)
    at, paid, loss = np.zeros(n, dtype=np.intp), np.zeros(n), np.zeros(n)
    for stage, (rule, view) in enumerate(zip(rules, views, strict=True)):
        rows = np.flatnonzero(at == stage)
        if not len(rows):
            continue
        loss[rows] = view.loss[rows]
        least, target, price = rule.stop(view.believed[rows]), np.full(len(rows), stage), np.zeros(len(rows))
        for edge in rule.edges:
            expected, own = prices(stage, edge.target)
            cost = rate * expected[rows] + edge.cost(view.believed[rows])
            better = cost < least
            least, target = np.where(better, cost, least), np.where(better, edge.target, target)
            price = np.where(better, own[rows], price)
        at[rows], paid[rows] = target, paid[rows] + price
    return Outcomes(paid, loss, loss), at


def cross_fitted(
    views: Sequence[StageView],
    successors: Sequence[Sequence[int]],
    prices: Prices,
    classes: npt.NDArray[np.int32],
    weights: Floats,
    rate: float = 1.0,
) -> Outcomes:
    """Return what cases cost by rules, edges included, that were fitted to other cases; parameters as of `fit_rules`.

    The outcomes of `fit_rules` are those of the edges that look best on the same cases, and so too low.
    """
    folds = stratified_folds(classes, min(N_FOLDS, len(classes)), np.random.default_rng(1))
    found = Outcomes(*(np.zeros(len(classes)) for _ in range(3)))
    for fold in np.unique(folds):
        held_out = folds == fold
        kept = ~held_out if not held_out.all() else held_out
        own, own_prices = _part(views, prices, kept)
        rules, _ = fit_rules(own, successors, own_prices, classes[kept], weights[kept], rate)
        part = follow(rules, *_part(views, prices, held_out), rate)
        found.price[held_out], found.loss[held_out], found.expected[held_out] = part.price, part.loss, part.loss
    return found


def _part(views: Sequence[StageView], prices: Prices, rows: npt.NDArray[np.bool_]) -> tuple[list[StageView], Prices]:
    """Return the views and prices of some of the cases."""

    def some(stage: int, target: int) -> tuple[Floats, Floats]:
        expected, paid = prices(stage, target)
        return expected[rows], paid[rows]

    return [StageView(view.believed[rows], view.loss[rows]) for view in views], some


def _smoothed_losses(views: Sequence[StageView], weights: Floats) -> list[Floats]:
    """Return losses that are less a matter of chance: half of each is what such a belief costs at any stage."""
    believed, loss = (np.concatenate([getattr(view, name) for view in views]) for name in ("believed", "loss"))
    usual = BeliefCurve.fit(believed, loss, np.tile(weights, len(views)), POOLED_BIN)
    return [USUAL * usual(view.believed) + (1 - USUAL) * view.loss for view in views]


def sure_gain(gains: Floats, weights: Floats, errors: float = EDGE_ERRORS) -> float:
    """Return the mean gain less some standard errors of it.

    Examples
    --------
    >>> sure_gain(np.ones(4), np.ones(4)), sure_gain(np.array([1.0, -1.0]), np.ones(2)) < 0
    (1.0, True)
    """
    shares = weights / weights.sum()
    mean = float((shares * gains).sum())
    variance = float((shares * (gains - mean) ** 2).sum())
    return mean - errors * math.sqrt(variance * float((shares**2).sum()))

"""Consulting a forest tree by tree: votes, prices, and when to stop for a case (docs/design/forests.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.learners.cross_fitting import agreeing
from worthwhile.table.columns import Columns
from worthwhile.tree.node_costs import best_answer

__all__ = [
    "AnswerRule",
    "BudgetRecord",
    "Smoothing",
    "StoppingTable",
    "ValidationSet",
    "VoteHistory",
    "VoteRecorder",
    "Votes",
    "rates_for",
]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Stages = npt.NDArray[np.intp]
# From a rate at which no tree is consulted down to one at which prices hardly count, in steps of 25 %.
STEP, ABOVE, BELOW = 1.25, 4, 70
TEMPERATURES = (1.0, 0.5, 0.7, 1.4, 2.0, 2.8, 4.0, 5.7, 8.0, 11.3, 16.0)
# Parts of the class shares of all training cases in the probabilities of majority votes. Where most trees ask for the
# same cheap test, their votes say little. Log loss on heart, glass, bupa, pima, german_credit, tic_tac_toe, sonar, wine
# and solar_flare1, 3 splits each: 0.774 without this, 0.763 with it.
PRIOR_PARTS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)
MIN_LIKELIHOOD = 1e-6  # a single sure error should not decide
POOLED_VOTE = 0.5  # less than one vote, so that it does not change the winner
# Trees that the class shares of the training cases count as, with least-cost answers. On bupa, heart and pima, with
# errors that differ by a factor of 5 or 30 and 5 to 40 trees, errors cost 15.4 per case with 0, 11.5 with 1 or 2 and
# 11.0 with 4, which hardly listens to five trees (majority votes: 67); the log loss is 1.6, 0.65, 0.63 and 0.62.
PRIOR_TREES = 2.0
ROUNDING = 1e-9


class BudgetRecord(NamedTuple):
    """What some trees of a forest cost on some cases, on average.

    Attributes
    ----------
    alpha : float
        The impurity's parameter that the trees were grown with.
    trees : int
        Number of trees.
    price : float
        Price of the tests per case.
    error : float
        Share of wrong answers.
    error_cost : float
        Cost of the answers per case.
    rate : float or None
        How many units of error cost one unit of price counts for, if this decides when a case stops.
    """

    alpha: float
    trees: int
    price: float
    error: float
    error_cost: float
    rate: float | None = None


class Smoothing(NamedTuple):
    """How vote shares become probabilities."""

    temperature: float = 1.0  # above 1 they are less sure
    prior: float = 0.0  # part of the class shares of all training cases

    def probabilities(self, shares: Floats, leaders: npt.NDArray[np.intp], class_shares: Floats) -> Floats:
        """Return probabilities of which the largest is that of the class with the most votes.

        Examples
        --------
        >>> shares, leaders = np.array([[0.8, 0.2]]), np.array([0])
        >>> Smoothing(2.0).probabilities(shares, leaders, np.array([0.3, 0.7])).round(3).tolist()
        [[0.667, 0.333]]
        >>> Smoothing(2.0, 0.25).probabilities(shares, leaders, np.array([0.3, 0.7])).round(3).tolist()
        [[0.575, 0.425]]
        >>> Smoothing(2.0, 0.9).probabilities(shares, leaders, np.array([0.3, 0.7])).round(3).tolist()
        [[0.5, 0.5]]
        """
        cooled = at_temperature(shares, self.temperature)
        if not self.prior:
            return cooled
        return agreeing((1 - self.prior) * cooled + self.prior * class_shares, leaders, cooled, None)


UNSMOOTHED = Smoothing()


@dataclass(frozen=True, eq=False)
class AnswerRule:
    """How a forest answers: by majority vote, or by the least expected error cost."""

    error_costs: Floats  # [truth][answer]
    class_shares: Floats  # of the training cases
    least_cost: bool
    smoothing: Smoothing = UNSMOOTHED  # of the probabilities; by least cost, of the temperature only

    @classmethod
    def of(
        cls, costs: BoundCosts, class_weights: Floats, least_cost: bool, smoothing: Smoothing = UNSMOOTHED
    ) -> AnswerRule:
        return cls(costs.error_costs, class_weights / class_weights.sum(), least_cost, smoothing)

    @property
    def default(self) -> int:
        """The answer without a tree."""
        return best_answer(self.error_costs, self.class_shares, self.least_cost)

    def least_costs(self, shares: Floats) -> npt.NDArray[np.intp]:
        """Return the answer of least expected cost for each row of class shares; ties go to the first."""
        costs = _costs(shares, self.error_costs)
        slack = ROUNDING * float(np.abs(self.error_costs).max())
        found: npt.NDArray[np.intp] = (costs <= costs.min(axis=1, keepdims=True) + slack).argmax(axis=1)
        return found

    def margins(self, counts: Floats, answers: npt.NDArray[np.intp]) -> Floats:
        """Return how many further cases of any class leave these answers the cheapest for these class counts.

        One more case of class c costs ``error_costs[c, a] - error_costs[c, b]`` more with the answer a than with b.
        """
        costs = _costs(counts, self.error_costs)
        most = (self.error_costs[:, :, None] - self.error_costs[:, None, :]).max(axis=0)  # by a and b
        behind = costs - costs[np.arange(len(answers)), answers][:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(most[answers] > 0, behind / most[answers], np.inf)
        least: Floats = room.min(axis=1)
        return least


def _costs(shares: Floats, error_costs: Floats) -> Floats:
    # No matrix product: its last bits depend on the number of rows and threads.
    return np.stack([(shares * error_costs[:, a]).sum(axis=1) for a in range(error_costs.shape[1])], axis=1)


class Votes:
    """The votes for some cases so far, and what they have paid.

    `counts` are the class weights of the leaves, added up, or with least-cost answers their class shares, so that every
    tree counts the same.
    """

    def __init__(self, n_cases: int, rule: AnswerRule) -> None:
        n_classes = len(rule.class_shares)
        self.votes = np.zeros((n_cases, n_classes), dtype=np.int32)
        self.counts = np.zeros((n_cases, n_classes))
        self.prices = np.zeros(n_cases)
        self.rule = rule

    def add(self, answers: npt.NDArray[np.int32], counts: Floats, prices: Floats) -> None:
        """Add the answers of a tree; -1: it was not consulted about the case."""
        asked = np.flatnonzero(answers >= 0)
        self.votes[asked, answers[asked]] += 1
        self.counts += counts
        self.prices += prices

    def add_all(self, votes: npt.NDArray[np.int32], counts: Floats, prices: Floats) -> None:
        """Add the summed votes of many trees."""
        self.votes += votes
        self.counts += counts
        self.prices += prices

    def consult_until_settled(self, router: Any, trees: Sequence[Any], stops: Bools | None, n_threads: int) -> None:
        """Consult trees about each case until it stops."""
        asking = np.ones(len(self.prices), dtype=np.bool_)
        for number, tree in enumerate(trees):
            asking &= ~self.quits(number, len(trees), stops)
            if not asking.any():
                break
            self.add(*router.consult(tree, asking.view(np.uint8), n_threads))

    def quits(self, stage: int, n_trees: int, stops: Bools | None) -> Bools:
        """Return for each case whether it stops after `stage` of `n_trees` trees."""
        return quits_at(stage, n_trees, self.leads(), self.safe(), stops)

    def answers(self) -> npt.NDArray[np.intp]:
        """Return the answer for each case."""
        return self.rule.least_costs(self.shares()) if self.rule.least_cost else self._leaders()

    def _leaders(self) -> npt.NDArray[np.intp]:
        """Return the class with the most votes; ties go to the one with more cases in the leaves, then to the first."""
        most = self.votes.max(axis=1)
        tied = self.votes == most[:, None]
        found: npt.NDArray[np.intp] = np.where(tied, self.counts, -1.0).argmax(axis=1)
        return np.where(most > 0, found, self.rule.default)

    def leads(self) -> npt.NDArray[np.int32]:
        """Return the lead of the class with the most votes over the second."""
        if self.votes.shape[1] == 1:
            return self.votes[:, 0].copy()
        ranked = np.partition(self.votes, -2, axis=1)
        return ranked[:, -1] - ranked[:, -2]

    def safe(self) -> npt.NDArray[np.int16]:
        """Return how many further trees cannot change the answer."""
        if not self.rule.least_cost:
            return (self.leads() - 1).astype(np.int16)
        # A tree adds shares of any classes; a lead that they may just make up for is not safe.
        room = np.clip(self.rule.margins(self._smoothed(), self.answers()), 0, 2**15 - 1)
        return (np.ceil(room - ROUNDING) - 1).astype(np.int16)

    def shares(self) -> Floats:
        """Return the probability of each class; without votes, the class shares of the training cases.

        With least-cost answers: the mean class shares of the leaves, and those of all training cases as two trees more.
        With majority votes: vote shares, in which the class shares of all leaves and of all training cases share half a
        vote, so that no class has the probability 0; smoothed, see `Smoothing`. The class with the largest share is the
        one that wins the vote.
        """
        if self.rule.least_cost:
            smoothed = self._smoothed()
            mean: Floats = smoothed / smoothed.sum(axis=1, keepdims=True)
            cooled = at_temperature(mean, self.rule.smoothing.temperature)
            return np.where(self.votes.any(axis=1, keepdims=True), cooled, mean)
        shares, leaders = self._vote_shares()
        found = self.rule.smoothing.probabilities(shares, leaders, self.rule.class_shares)
        return np.where(self.votes.any(axis=1, keepdims=True), found, shares)

    def likeliest(self, truth: npt.NDArray[np.intp], weights: Floats | None) -> Smoothing:
        """Return the smoothing at which the true classes are most likely; ties go to the first."""
        shares, leaders = self._vote_shares()
        known = np.flatnonzero((truth >= 0) & self.votes.any(axis=1))  # other classes, or no vote, say nothing
        own = None if weights is None else weights[known]

        def loss(smoothing: Smoothing) -> float:
            found = smoothing.probabilities(shares[known], leaders[known], self.rule.class_shares)
            return _log_loss(found[np.arange(len(known)), truth[known]], own)

        grid = [Smoothing(temperature, prior) for prior in PRIOR_PARTS for temperature in TEMPERATURES]
        return min(grid, key=loss) if len(known) else Smoothing()

    def _vote_shares(self) -> tuple[Floats, npt.NDArray[np.intp]]:
        """Return the vote shares before they are smoothed, and the winners of the votes."""
        default = self.rule.class_shares
        cast = self.votes.sum(axis=1, keepdims=True)
        total = self.counts.sum(axis=1, keepdims=True)
        pooled = np.where(total > 0, self.counts / np.where(total > 0, total, 1.0) + default, 2 * default) / 2
        shares = np.where(cast > 0, (self.votes + POOLED_VOTE * pooled) / (cast + POOLED_VOTE), default)
        leaders = self._leaders()
        behind = np.flatnonzero(shares.argmax(axis=1) != leaders)  # of a tie, which the leaves alone decide
        first, second = leaders[behind], shares[behind].argmax(axis=1)
        shares[behind, first], shares[behind, second] = shares[behind, second], shares[behind, first]
        still = behind[shares[behind].argmax(axis=1) != first]  # equal shares
        shares[still, leaders[still]] = np.nextafter(shares[still].max(axis=1), 2.0)
        return shares, leaders

    def _smoothed(self) -> Floats:
        return self.counts + PRIOR_TREES * self.rule.class_shares


def at_temperature(shares: Floats, temperature: float) -> Floats:
    """Return class shares that are less sure the higher the temperature is; the order of the classes stays.

    Examples
    --------
    >>> at_temperature(np.array([[0.8, 0.2]]), 2.0).round(3).tolist()
    [[0.667, 0.333]]
    """
    if temperature == 1:
        return shares
    found = shares ** (1 / temperature)
    cooled: Floats = found / found.sum(axis=1, keepdims=True)
    return cooled


def likeliest_temperature(
    shares: Floats, truth: npt.NDArray[np.intp], weights: Floats | None, temperatures: Sequence[float] = TEMPERATURES
) -> float:
    """Return the temperature at which the true classes are most likely; ties go to the first.

    Examples
    --------
    Half of the answers are wrong, so that even a share of 0.8 is too sure.

    >>> likeliest_temperature(np.array([[0.8, 0.2]] * 4), np.array([0, 0, 1, 1]), None)
    16.0
    """
    known = np.flatnonzero(truth >= 0)  # a class that no training case has says nothing
    own = None if weights is None else weights[known]

    def loss(temperature: float) -> float:
        likely = at_temperature(shares[known], temperature)[np.arange(len(known)), truth[known]]
        return _log_loss(likely, own)

    return min(temperatures, key=loss) if len(known) else 1.0


def _log_loss(likely: Floats, weights: Floats | None) -> float:
    return -float(np.average(np.log(np.maximum(likely, MIN_LIKELIHOOD)), weights=weights))


@dataclass(frozen=True, eq=False)
class VoteHistory:
    """The votes for some cases while all trees are consulted. Stage j is after j trees."""

    answers: npt.NDArray[np.int16]  # (trees + 1, cases)
    leads: npt.NDArray[np.int16]  # (trees + 1, cases)
    safe: npt.NDArray[np.int16]  # (trees + 1, cases): how many further trees cannot change the answer
    prices: Floats  # (trees + 1, cases): paid so far

    @property
    def n_trees(self) -> int:
        return len(self.leads) - 1

    def ends(self, adaptive: bool, stops: Bools | None = None) -> Stages:
        """Return the stage at which each case stops."""
        n_trees, n_cases = self.n_trees, self.leads.shape[1]
        if not adaptive:
            return np.full(n_cases, n_trees)
        quits = np.stack([quits_at(j, n_trees, self.leads[j], self.safe[j], stops) for j in range(n_trees + 1)])
        quits[-1] = True
        return quits.argmax(axis=0)


def quits_at(stage: int, n_trees: int, leads: npt.NDArray[Any], safe: npt.NDArray[Any], stops: Bools | None) -> Bools:
    """Return for each case whether it stops after `stage` of `n_trees` trees.

    It stops if the remaining trees cannot change the answer, or if `stops[stage, lead]` says that the next tree is not
    worth its price.
    """
    quits: Bools = safe >= n_trees - stage
    return quits if stops is None else quits | stops[stage, leads]


@dataclass(frozen=True, eq=False)
class ValidationSet:
    """Cases that forests are validated on."""

    table: Any
    truth: npt.NDArray[np.intp]  # -1: a class that no training case has
    costs: Floats  # (cases, answers): error cost of every answer
    weights: Floats | None = None
    amounts: Floats | None = None  # what tests and surcharges cost each case; None: as the table or the list says
    columns: Columns | None = None  # the values of the tests

    def record(self, history: VoteHistory, alpha: float, ends: Stages, rate: float | None = None) -> BudgetRecord:
        """Return what a forest costs if the cases stop at these stages."""
        return self._averages(self._outcomes(history, ends), alpha, history.n_trees, rate)

    def record_now(self, votes: Votes, alpha: float, n_trees: int) -> BudgetRecord:
        """Return what a forest costs if all trees are consulted about every case."""
        answers = votes.answers()
        outcomes = votes.prices, answers != self.truth, self.costs[np.arange(len(answers)), answers]
        return self._averages(outcomes, alpha, n_trees, None)

    def _averages(
        self, outcomes: tuple[Floats, Bools, Floats], alpha: float, n_trees: int, rate: float | None
    ) -> BudgetRecord:
        price, error, cost = (float(np.average(values, weights=self.weights)) for values in outcomes)
        return BudgetRecord(alpha, n_trees, price, error, cost, rate)

    def sums(self, history: VoteHistory, ends: Stages) -> Floats:
        """Return sums to be added to those of other files.

        Of price, errors, error cost, total cost, its square, weight and the square of the weight.
        """
        weights = np.ones(len(ends)) if self.weights is None else self.weights
        price, errors, cost = self._outcomes(history, ends)
        total = price + cost
        # No dot products: their last bits depend on the number of threads.
        every = price, errors, cost, total, total**2, np.ones(len(ends)), weights
        return np.array([(weights * values).sum() for values in every])

    def _outcomes(self, history: VoteHistory, ends: Stages) -> tuple[Floats, Bools, Floats]:
        """Return the price, whether the answer is wrong, and what it costs, of each case."""
        cases = np.arange(len(ends))
        answers = history.answers[ends, cases]
        return history.prices[ends, cases], answers != self.truth, self.costs[cases, answers]

    def at_rates(
        self, history: VoteHistory, alpha: float, stopping: StoppingTable, rates: Sequence[float]
    ) -> list[BudgetRecord]:
        """Return what a forest costs at each of these rates, if the worth of the next tree decides when cases stop."""
        return [self.record(history, alpha, history.ends(True, stopping.stops(rate)), rate) for rate in rates]


class VoteRecorder:
    """Consults trees about all cases of a table and records the votes."""

    def __init__(
        self,
        table: Any,
        n_cases: int,
        costs: BoundCosts,
        rule: AnswerRule,
        n_threads: int,
        amounts: Floats | None = None,
    ) -> None:
        self._router = _core.ForestRouter(table, costs.core_pricing, costs.core_errors, amounts, rule.least_cost)
        self.votes = Votes(n_cases, rule)
        self._n_threads = n_threads
        self._rows: list[tuple[Any, ...]] = []
        self._note()

    def consult(self, core_tree: Any) -> None:
        self.votes.add(*self._router.consult(core_tree, n_threads=self._n_threads))
        self._note()

    def _note(self) -> None:
        votes = self.votes
        answers, leads = votes.answers().astype(np.int16), votes.leads().astype(np.int16)
        self._rows.append((answers, leads, votes.safe(), votes.prices.copy()))

    @property
    def n_trees(self) -> int:
        """Number of trees that were consulted."""
        return len(self._rows) - 1

    def history(self) -> VoteHistory:
        """Return the record so far."""
        return VoteHistory(*(np.stack(rows) for rows in zip(*self._rows, strict=True)))


@dataclass(frozen=True, eq=False)
class StoppingTable:
    """Sums over validation cases by (number of trees consulted, lead), on which the stopping rule depends."""

    weight: Floats  # (trees + 1, trees + 1): of the cases
    cost: Floats  # (trees + 1, trees + 1): error cost of the present answers, above that of the cheapest ones
    price: Floats  # (trees, trees + 1): what the next tree costs them
    moves: Floats  # (trees, trees + 1, 3): of the cases whose lead the next tree lowers by 1, keeps, raises by 1

    @classmethod
    def of(cls, history: VoteHistory, validation: ValidationSet) -> StoppingTable:
        """Sum up the votes of the validation cases."""
        n_trees, n_cases = history.n_trees, history.leads.shape[1]
        weights = np.ones(n_cases) if validation.weights is None else validation.weights
        size, cases = n_trees + 1, np.arange(n_cases)

        def sums(stage: int, values: Floats) -> Floats:
            return np.bincount(history.leads[stage], weights * values, minlength=size).astype(np.float64)

        weight = np.stack([sums(j, np.ones(n_cases)) for j in range(size)])
        # Above the cheapest answer: what all answers for a class cost makes no difference to when a case stops.
        regret = validation.costs - validation.costs.min(axis=1, keepdims=True)
        cost = np.stack([sums(j, regret[cases, history.answers[j]]) for j in range(size)])
        price, moves = np.zeros((n_trees, size)), np.zeros((n_trees, size, 3))
        for j in range(n_trees):
            price[j] = sums(j, history.prices[j + 1] - history.prices[j])
            for m in range(3):
                moves[j, :, m] = sums(j, (history.leads[j + 1] == history.leads[j] + m - 1).astype(np.float64))
        return cls(weight, cost, price, moves)

    def stops(self, rate: float) -> Bools:
        """Return by (stage, lead) whether the next tree costs more than it saves, computed from the last tree back."""
        n_trees = len(self.price)
        stops = np.zeros(self.weight.shape, dtype=bool)
        known = np.where(self.weight > 0, self.weight, 1.0)
        value = self.cost[n_trees] / known[n_trees]
        for j in range(n_trees - 1, -1, -1):
            around = np.stack([np.r_[0.0, value[:-1]], value, np.r_[value[1:], 0.0]], axis=1)
            after = (self.moves[j] * around).sum(axis=1) / known[j]
            now, price = self.cost[j] / known[j], rate * self.price[j] / known[j]
            stops[j] = (self.weight[j] > 0) & (price > np.maximum(now - after, 0.0))
            value = np.where(stops[j], now, price + after)
        return stops

    def to_json(self) -> dict[str, Any]:
        return {name: array.tolist() for name, array in vars(self).items()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], n_trees: int) -> StoppingTable:
        """Check and return what `to_json` wrote."""
        size = n_trees + 1
        shapes = {"weight": (size, size), "cost": (size, size), "price": (n_trees, size), "moves": (n_trees, size, 3)}
        arrays = {}
        for name, shape in shapes.items():
            try:
                array = np.array(content[name], dtype=np.float64).reshape(shape)
            except (KeyError, TypeError, ValueError, OverflowError):
                raise ValueError(f"{name!r} of the states of a forest must be numbers of shape {shape}") from None
            if not np.isfinite(array).all():
                raise ValueError(f"{name!r} of the states of a forest must be finite")
            arrays[name] = array
        return cls(**arrays)


def rates_for(prices: Floats, costs: BoundCosts) -> list[float]:
    """Return rates to choose from, the lowest first: 0, 1, and from nearly 0 to one at which no tree is worth it.

    `prices` are the average prices of 0, 1, 2, … trees.
    """
    above = prices[prices > 0]
    if not len(above):
        return [0.0, 1.0]
    most = (float(np.ptp(costs.error_costs, axis=1).max()) or 1.0) / float(above[0])
    return sorted({0.0, 1.0, *(most * STEP**i for i in range(-BELOW, ABOVE + 1))})

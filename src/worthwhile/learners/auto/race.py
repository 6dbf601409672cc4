"""Which learner costs least on cases that it did not learn from: rounds, paired comparisons, and the choice."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile.learners.auto.entrants import Entrant
from worthwhile.learners.cross_fitting import expected_cost_of
from worthwhile.learners.folds import stratified_folds, stratified_share
from worthwhile.learners.training import Training
from worthwhile.tree.json_format import ExpectedCost

__all__ = ["Plan", "Race", "RaceResult", "choose"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

# In a round, every learner learns from at most LEARNED cases and is measured on at most MEASURED others.
LEARNED, MEASURED = 3_000, 5_000
N_FOLDS = 5
# Of few cases a fold says little: all of them are divided twice. Of many, some folds say enough.
FEW, MANY, ROUNDS_OF_MANY = 400, 10_000, 3
FEWEST_ROUNDS = 2  # if learners are slow
# Of more cases, the last ones in the race learn from all but so many, and are measured on these: a learner that needs
# many cases is behind in the rounds before.
HUGE, HELD_OUT = 20_000, 10_000
# A learner leaves the race if it costs more than the best one by so many standard errors, by at least so many cases.
CLEARLY, ENOUGH = 2.0, 30
# One leaves, too, if every case cost as much as by a simpler one, or by one before it, in all of so many rounds: it can
# win nothing. Where errors are cheap, most learners end up with no test.
ALIKE_ROUNDS = 2
# A simpler learner is chosen if it costs no more than the best one by so many standard errors.
TIE = 0.5


@dataclass(frozen=True)
class Plan:
    """The rounds of a race."""

    n_cases: int
    most_rounds: int = 10

    @property
    def n_folds(self) -> int:
        return min(N_FOLDS, self.n_cases)

    @property
    def n_rounds(self) -> int:
        usual = ROUNDS_OF_MANY if self.n_cases > MANY else self.n_folds * (2 if self.n_cases < FEW else 1)
        return min(usual, self.most_rounds)

    @property
    def n_learned(self) -> int:
        """The number of cases that each learner learns from in a round."""
        return min(self.n_cases - self.n_cases // self.n_folds, LEARNED)

    def rounds(self, classes: npt.NDArray[np.int32], rng: np.random.Generator) -> Iterator[tuple[Rows, Rows]]:
        """Yield which cases to learn from and which to measure, for every round."""
        fold_of = np.empty(0, dtype=np.intp)
        for number in range(self.n_rounds):
            fold = number % self.n_folds
            if fold == 0:
                fold_of = stratified_folds(classes, self.n_folds, rng)
            parts = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            yield _sample(parts[0], classes, LEARNED, rng), _sample(parts[1], classes, MEASURED, rng)

    @property
    def ends_with_all(self) -> bool:
        """Whether there is a last round in which almost all cases are learned from."""
        return self.n_cases > HUGE

    def last_round(self, classes: npt.NDArray[np.int32], rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Return almost all cases, to learn from, and the others, to measure."""
        held_out = stratified_share(classes, HELD_OUT / len(classes), rng)
        left = np.ones(len(classes), dtype=bool)
        left[held_out] = False
        return np.flatnonzero(left), held_out


def _sample(rows: Rows, classes: npt.NDArray[np.int32], most: int, rng: np.random.Generator) -> Rows:
    if len(rows) <= most:
        return rows
    return rows[stratified_share(classes[rows], most / len(rows), rng)]


def costs_on(clf: Any, cases: Training, rows: Rows) -> Floats:
    """Return what each of these cases costs by a fitted learner, tests and errors together."""
    classes = cases.classes[rows]
    own = None if cases.case_prices is None else cases.case_prices[rows]
    answers, prices, _ = clf._route(
        cases.columns.take(rows), answers=True, prices=True, case_prices=own, y=cases.labels[classes]
    )
    if cases.case_errors is not None:
        return np.asarray(prices + cases.case_errors[rows, answers])
    return np.asarray(prices + cases.bound_costs.error_costs[classes, answers])


class RaceResult(NamedTuple):
    """What a learner has cost in a race, and how far it came."""

    cost: ExpectedCost
    seconds: float
    rounds: int
    behind: float  # the best one, in standard errors


@dataclass(eq=False)
class Race:
    """A race between learners.

    Attributes
    ----------
    costs : dict
        By learner and round, what every measured case costs.
    weights, measured_rows : list
        By round, how much every measured case counts, and which cases these are.
    models : dict
        Of every learner, what it learned in its last round.
    alive : list
        Those that are still in the race.
    """

    cases: Training
    rows: Rows  # of the cases, where repeated ones count as several
    entrants: list[Entrant]
    costs: dict[str, list[Floats]] = field(default_factory=dict)
    weights: list[Floats] = field(default_factory=list)
    measured_rows: list[Rows] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    models: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.alive = list(self.entrants)

    def run(self, entrant: Entrant, clf: Any, learned: Training, measured: Rows) -> None:
        """Let a learner learn from some cases, and measure it on others."""
        start = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about models that are thrown away
            clf._fit_cases(clf._adopt(learned))
        self.models[entrant.name] = clf
        self.costs.setdefault(entrant.name, []).append(costs_on(clf, self.cases, measured))
        self.seconds[entrant.name] = self.seconds.get(entrant.name, 0.0) + time.monotonic() - start

    def finish_round(self) -> None:
        """Let those leave that cost clearly more than the best one, or exactly as much as a simpler one.

        No test and free tests take no time: they stay, so that one unlucky round does not decide about them.
        """
        if sum(map(len, self.weights)) < ENOUGH:
            return
        best = self.best()
        left = [one for one in self.alive if one is best or one.is_baseline or self.behind(one, best) <= CLEARLY]
        simplest_first = sorted(left, key=lambda one: one.kind)
        alike = {
            one.name
            for at, one in enumerate(simplest_first)
            if any(self._is_alike(one, other) for other in simplest_first[:at])
        }
        self.alive = [one for one in left if one.name not in alike]

    def is_decided(self) -> bool:
        """Return whether one is clearly cheaper than all that are left."""
        best = self.best()
        return sum(map(len, self.weights)) >= ENOUGH and all(
            one is best or self.behind(one, best) > CLEARLY for one in self.alive
        )

    def _is_alike(self, one: Entrant, other: Entrant) -> bool:
        """Return whether two have cost the same for every case, in enough rounds."""
        mine, theirs = self.costs.get(one.name, []), self.costs.get(other.name, [])
        return len(mine) >= ALIKE_ROUNDS and len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))

    def finalists(self) -> list[Entrant]:
        """Return those for a last round with more cases: the best one, the best tree, and the best of all others."""
        n_rounds = self.common_rounds()
        ranked = sorted(self.measured(), key=lambda entrant: self.mean(entrant, n_rounds))
        trees, others = ([one for one in ranked if one.is_tree is is_tree] for is_tree in (True, False))
        # DTMC takes no time, and its trees grow with the cases.
        quick = [one for one in self.entrants if one.learner == "dtmc"]
        return list(dict.fromkeys([*trees[:1], *quick, *others[:1]]))

    def measured(self) -> list[Entrant]:
        """Return those in the race that were measured at least once."""
        return [entrant for entrant in self.alive if entrant.name in self.costs]

    def best(self) -> Entrant:
        """Return the learner of lowest mean cost."""
        n_rounds = self.common_rounds()
        return min(self.measured(), key=lambda entrant: self.mean(entrant, n_rounds))

    def common_rounds(self) -> int:
        """Return the number of rounds that all who are in the race have finished."""
        return min(len(self.costs[entrant.name]) for entrant in self.measured())

    def mean(self, entrant: Entrant, n_rounds: int) -> float:
        """Return the mean cost in the first rounds."""
        weights = np.concatenate(self.weights[:n_rounds])
        return float(np.average(np.concatenate(self.costs[entrant.name][:n_rounds]), weights=weights))

    def behind(self, one: Entrant, other: Entrant, rounds: Sequence[int] | None = None) -> float:
        """Return by how many standard errors one costs more than the other, by the rounds of both."""
        mine, theirs = self.costs[one.name], self.costs[other.name]
        if rounds is None:
            rounds = range(min(len(mine), len(theirs)))
        return _standard_errors(
            np.concatenate([mine[r] - theirs[r] for r in rounds]), np.concatenate([self.weights[r] for r in rounds])
        )

    def choose(self, without: int | None = None) -> Entrant:
        """Return the simplest learner that is about as cheap as the best one, by all cases but those of one round.

        Few cases are divided twice: what they cost in the other division does not count, either.
        """
        rounds = [r for r in range(self.common_rounds()) if r != without]
        kept = [self._others(r, without) for r in rounds]
        weights = np.concatenate([self.weights[r][rows] for r, rows in zip(rounds, kept, strict=True)])
        costs = {
            e.name: np.concatenate([self.costs[e.name][r][rows] for r, rows in zip(rounds, kept, strict=True)])
            for e in self.measured()
        }
        kinds = {entrant.name: int(entrant.kind) for entrant in self.measured()}
        name = choose(costs, weights, kinds)
        return next(entrant for entrant in self.measured() if entrant.name == name)

    def _others(self, number: int, without: int | None) -> npt.NDArray[np.bool_]:
        """Return which cases of a round were not measured in another one."""
        own = self.measured_rows[number]
        return np.ones(len(own), dtype=bool) if without is None else ~np.isin(own, self.measured_rows[without])

    def expected_cost(self) -> ExpectedCost:
        """Return what a new case costs by the whole procedure: each round uses the choice of the others."""
        n_rounds = self.common_rounds()
        chosen = [self.choose(r if n_rounds > 1 else None) for r in range(n_rounds)]
        costs = [self.costs[entrant.name][r] for r, entrant in enumerate(chosen)]
        return self._estimate(costs, n_rounds)

    def standing(self, entrant: Entrant) -> RaceResult:
        """Return how a learner stands: its mean cost is comparable with the best one's, also if it left early."""
        best, n_rounds = self.best(), len(self.costs[entrant.name])
        cost = self._estimate(self.costs[entrant.name], n_rounds)
        shift = self.mean(best, self.common_rounds()) - self.mean(best, min(n_rounds, self.common_rounds()))
        cost = ExpectedCost(*(value + shift for value in cost))
        return RaceResult(cost, self.seconds[entrant.name], n_rounds, self.behind(entrant, best))

    def _estimate(self, costs: Sequence[Floats], n_rounds: int) -> ExpectedCost:
        found = expected_cost_of(np.concatenate(costs), np.concatenate(self.weights[:n_rounds]))
        # The same cases were measured once in every division: they count once.
        n_times = max(n_rounds / Plan(len(self.rows)).n_folds, 1.0)
        return ExpectedCost(found.mean, *(found.mean + (end - found.mean) * math.sqrt(n_times) for end in found[1:]))


def choose(costs: Mapping[str, Floats], weights: Floats, kinds: Mapping[str, int]) -> str:
    """Return the simplest that costs no more than the best one but for chance; of equally simple ones the cheapest.

    Examples
    --------
    >>> a, b = np.array([1.0, 5.0, 1.0, 5.0]), np.array([1.0, 4.0, 1.5, 4.0])
    >>> choose({"leaf": a, "tree": b}, np.ones(4), {"leaf": 0, "tree": 1})
    'tree'
    >>> choose({"leaf": a, "tree": a}, np.ones(4), {"leaf": 0, "tree": 1})
    'leaf'
    """
    means = {name: float(np.average(own, weights=weights)) for name, own in costs.items()}
    best = min(means, key=lambda name: means[name])
    tied = [name for name, own in costs.items() if _standard_errors(own - costs[best], weights) <= TIE]
    return min(tied, key=lambda name: (kinds[name], means[name]))


def _standard_errors(differences: Floats, weights: Floats) -> float:
    """Return the weighted mean of paired differences, in standard errors; tiny ones are none."""
    shares = weights / weights.sum()
    mean = float(shares @ differences)
    scale = float(np.abs(differences).max(initial=0.0))
    if abs(mean) <= 1e-9 * scale or scale == 0.0:
        return 0.0
    variance = float(shares @ (differences - mean) ** 2)
    error = math.sqrt(variance * float(shares @ shares))
    return mean / error if error > 0 else math.copysign(math.inf, mean)

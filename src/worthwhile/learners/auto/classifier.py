"""The learner that chooses among the others by what new cases cost (docs/design/choosing.md)."""

# The sections Parameters and Attributes of the docstrings are written by docs/write_parameters.py.

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from worthwhile.learners.auto.entrants import CROSS_FITTED, Entrant, Kind, entrants
from worthwhile.learners.auto.race import FEWEST_ROUNDS, LEARNED, Plan, Race
from worthwhile.learners.base import CostSensitiveClassifier
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_share
from worthwhile.learners.parameters import NominalSplits
from worthwhile.learners.progress import CALLBACK, Progress, asks_to_stop
from worthwhile.learners.result_shares import ResultShares
from worthwhile.learners.training import Training
from worthwhile.learners.workload import Piece, Workload, following, is_followed, workload
from worthwhile.parallel.workers import without_workers
from worthwhile.tree.advice import Advice
from worthwhile.tree.batch_advice import AdviceColumns, Worklist
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.explanation import Explanation
from worthwhile.tree.json_format import ExpectedCost, Reader, is_finite, parse_expected_cost
from worthwhile.tree.run import Fetch, Outcome
from worthwhile.wording import amount

__all__ = ["AutoClassifier", "Candidate"]

Floats = npt.NDArray[np.float64]
FITTED = ("best_estimator_", "candidates_", "stopped_", "_expected")
# Seconds that a race without a time limit may take, by the guesses of its entrants: never by the clock, so that the
# result is always the same. About half of the entrants leave early.
RACE_SECONDS, PART = 40.0, 0.6
LAST_SECONDS = 60.0  # who would need more to learn from all cases takes no part
RACE_SHARE, ROUNDS_IN_TIME = 0.6, 2  # of a time limit, and rounds that must fit into this share
# What a learner costs in the race holds for the last fit if it learns from at least this share of its cases there. On
# letter, shuttle, nursery and covtype, what DTMC and cascades expect of themselves from 8,000 to 12,000 cases is .96 to
# 1.15 of what new cases cost; trained on 3,000 of them, they cost 1.01 to 1.78 of it.
SIMILAR = 0.75
NO_TIME = 0.1  # seconds: who needs less is tried whatever the time limit is
MOST_MODELS = 3  # of all cases, if one turns out worse than the race let expect
NO_RACE = 8  # fewer cases cannot be divided


class Candidate(NamedTuple):
    """A learner that was tried.

    Examples
    --------
    >>> Candidate("DTMC", 41.3, (35.2, 47.4), 0.1, 5, True)._asdict()["expected_cost"]
    41.3
    """

    name: str
    """What was tried."""
    expected_cost: float
    """What a new case is expected to cost, measured on cases left out in training; rounds have at most 3,000 cases to
    learn from."""
    interval: tuple[float, float]
    """The 95 % confidence interval of `expected_cost`."""
    seconds: float
    """The time that it took in the comparison."""
    rounds: int
    """The number of rounds until it cost clearly more than the best one, or until the end."""
    chosen: bool
    """Whether it was chosen."""


@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifier(CostSensitiveClassifier):
    """Chooses the learner whose models cost least: no test, free tests only, a tree, or a cascade of forests.

    All of them are tried on a part of the cases and measured on the others, in several rounds. Those that cost clearly
    more than the best one leave early. Of those that cost about the same, the simplest is chosen and learns from all
    cases.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    weighting : {"instance"}, optional
        On top of what the learner itself does with error costs, each case weighs as much as it costs to misclassify it
        (Ting 1998). None: all cases weigh the same.
    nominal_splits : {"multiway", "subset", "both"}, default "both"
        How trees ask nominal tests. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": whichever is better; DTMC has a branch for every value.
    min_cases : float, default 2
        At least two branches of a split of a tree must each hold this weight of cases. Exact trees follow it if it is
        above 2 (see `OptimalClassifier`).
    max_leaves : int, optional
        Largest number of leaves of a tree.
    readable : bool, default False
        Whether only single trees are tried, which people can read.
    learners : list of str, optional
        The learners to try beside no test and free tests only, of "dtmc", "eg2", "optimal", "cascade", "budget-forest",
        "act" and "icet". None: those that there is time for.
    time_limit : float, optional
        Seconds. Three fifths of them are for trying, the rest for the last fit. None: about a minute for up to 5,000
        cases and 60 tests, on two processors. After Ctrl-C, `fit` raises KeyboardInterrupt; the learner then holds the
        best model so far.
    callback : function, optional
        Called with a `Progress` after every model; its `cost` is that of the best learner so far. If it returns True,
        nothing else is tried.
    nominal : list of column names or positions, optional
        Numeric columns to treat as categories. Columns of strings, categories and booleans are always nominal; ordered
        categories are cut like numbers.
    columns : list of str, optional
        Names for the columns of an X that has none.
    random_state : int, numpy Generator or RandomState, optional
        Makes the choice and the model repeatable.
    n_jobs : int, optional
        Number of threads. None: one; -1: all processors. The result does not depend on it.

    Attributes
    ----------
    best_estimator_ : learner
        The chosen learner, fitted to all cases. Its attributes are here, too.
    candidates_ : list of Candidate
        What was tried, the cheapest first: name, expected cost, interval, seconds, rounds, and whether it was chosen.
    expected_cost_ : float
        What a new case is expected to cost, tests and errors together, measured on cases left out in training; the
        choice itself included.
    expected_cost_interval_ : (float, float)
        The 95 % confidence interval of `expected_cost_`.
    stopped_ : {"done", "time limit", "callback", "interrupted"}
        Why trying learners ended.
    classes_ : array
        The classes, sorted.
    feature_importances_ : array
        Share of each test in what all tests save in error costs on the training cases.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns of X, if it has names.

    Examples
    --------
    >>> import worthwhile as ww
    >>> pima = ww.datasets.load("pima")
    >>> known = {"columns": pima.feature_names, "learners": ["dtmc", "eg2"], "random_state": 0}
    >>> clf = ww.AutoClassifier(costs=pima.costs.with_errors(2), **known).fit(pima.X, pima.y)
    >>> [candidate.name for candidate in clf.candidates_ if candidate.chosen]
    ['no test']
    """

    readable: bool = False
    learners: Sequence[str] | None = None
    max_leaves: int | None = None
    min_cases: float = 2
    nominal_splits: NominalSplits = "both"
    time_limit: float | None = None
    callback: Callable[[Progress], Any] | None = None

    def _forget(self) -> None:
        for name in FITTED:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        # What the chosen learner knows, such as tree_ or stages_, is there as if it were this one's.
        best = self.__dict__.get("best_estimator_")
        if best is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(best, name)

    # ---- learning

    def _learn(self, training: Training) -> None:
        contest = _Contest(self, training)
        with without_workers():
            contest.run()
        best: CostSensitiveClassifier = contest.model
        self.best_estimator_, self._expected = best, contest.expected
        self.candidates_, self.stopped_ = contest.table(), contest.stopped
        self._name_columns()

    def fit_parts(
        self, parts: Any, target: str, weight: str | None = None, *, case_prices: None = None, case_errors: None = None
    ) -> Self:
        """Learn from more cases than memory holds, in a folder of Parquet files.

        Learners are tried on a stratified sample of at most 20,000 cases of all files. The chosen one learns from 4,000
        cases, then from twice as many and so on, until the cost on 10,000 others no longer falls significantly. Then
        all files are read once more, some rows at a time: `expected_cost_` is that of all cases outside the sample,
        and the class counts of a tree, and with them its answers, are those of all cases.

        Parameters
        ----------
        parts, target, weight, case_prices, case_errors
            As for the `fit_parts` of a learner of one tree.

        Returns
        -------
        self
            With ``parts_``, a list of `SampleStep`: what the models of the growing samples cost.
        """
        from worthwhile.learners.part_files import refuse_case_costs
        from worthwhile.learners.partitioned import fit_chosen_parts

        refuse_case_costs(case_prices, case_errors)
        self._expected = fit_chosen_parts(self, parts, target, weight) or self._expected
        return self

    def _take(self, model: CostSensitiveClassifier, name: str, seconds: float) -> Self:
        """Choose a model that costs less than what an interrupted race has found; the others stay in the table."""
        others = [one._replace(chosen=False) for one in self.candidates_ if one.name != name]
        rounds = max((one.rounds for one in self.candidates_ if one.name == name), default=1)
        cost, *ends = model._known_expected_cost()
        taken = Candidate(name, cost, (ends[0], ends[1]), seconds, max(rounds, 1), True)
        self.best_estimator_, self._expected = model, None
        self.candidates_ = sorted([*others, taken], key=lambda one: one.expected_cost)
        self._name_columns()
        return self

    def _name_columns(self) -> None:
        self.best_estimator_.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            self.best_estimator_.feature_names_in_ = self.feature_names_in_

    def _assess(self, training: Training) -> None:
        pass  # the race has found out what new cases cost

    def _expected_cost(self) -> ExpectedCost | None:
        check_is_fitted(self, "best_estimator_")
        if self._expected is not None:
            return self._expected
        found: ExpectedCost | None = self.best_estimator_._expected_cost()
        return found

    def explain_choice(self) -> str:
        """Return a table of what was tried and what it is expected to cost, and why one was chosen.

        Examples
        --------
        >>> import worthwhile as ww
        >>> clf = ww.AutoClassifier(costs=ww.Costs(tests={"x0": 1.0}, errors=10), learners=["dtmc"], random_state=0)
        >>> print(clf.fit([[0], [1]] * 20, [0, 1] * 20).explain_choice().splitlines()[-1])
        DTMC: the lowest cost on cases left out in training.
        """
        check_is_fitted(self, "best_estimator_")
        return choice_text(self.candidates_)

    # ---- answering, as the chosen learner does

    def _best(self) -> CostSensitiveClassifier:
        check_is_fitted(self, "best_estimator_")
        best: CostSensitiveClassifier = self.best_estimator_
        return best

    def _route(
        self,
        X: Any,
        answers: bool = False,
        prices: bool = False,
        shares: bool = False,
        case_prices: Any = None,
        y: Any = None,
    ) -> tuple[Any, Any, Any]:
        return self._best()._route(self._read(X), answers, prices, shares, case_prices, y)

    def _charged(self, X: Any, case_prices: Any = None) -> npt.NDArray[np.uint64]:
        charged: npt.NDArray[np.uint64] = self._best()._charged(self._read(X), case_prices)
        return charged

    @property
    def result_shares_(self) -> Mapping[str, ResultShares]:
        """By test: how its results were distributed among the training cases that the chosen model asks for it."""
        return self._best().result_shares_

    def next_test(self, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> Advice:
        """Return what to do next for a case with the results `known`; see `Tree.next_test`."""
        return self._best().next_test(known, already_paid)

    def _advise(self, cases: Worklist) -> AdviceColumns:
        return self._best()._advise(cases)

    def run(self, case: Mapping[str, Any], fetch: Fetch, already_paid: Iterable[str] = ()) -> Outcome:
        """Follow `next_test` until there is an answer, calling functions that fetch values; see `Tree.run`."""
        return self._best().run(case, fetch, already_paid)

    def explain(self, case: Mapping[str, Any]) -> Explanation:
        """Return the path of a case, in words and money; see `Tree.explain`."""
        return self._best().explain(case)

    def _asked(self, known: Mapping[str, Any]) -> set[int]:
        return self._best()._asked(known)

    def _summary_html(self) -> str:
        if "best_estimator_" not in self.__dict__:
            return ""
        chosen = next((one.name for one in self.candidates_ if one.chosen), "")
        choice = (
            f"<p><strong>{type(self).__name__}</strong> tried {len(self.candidates_)} learners and chose {chosen}.</p>"
        )
        return choice + self.best_estimator_._summary_html()

    # ---- files

    def _content(self) -> dict[str, Any]:
        best = self._best()._document()
        return {
            "needs": best.get("needs", []),
            "best": best,
            "candidates": [{**one._asdict(), "interval": list(one.interval)} for one in self.candidates_],
            "stopped": self.stopped_,
            "expected_cost": None if self._expected is None else list(self._expected),
        }

    def _restore(self, reader: Reader, version: int) -> ProblemContext:
        from worthwhile.learners.model_file import from_document

        best = from_document(reader.take("best", dict))
        if isinstance(best, AutoClassifier):
            raise ValueError("'best' of the model must be another learner than AutoClassifier")
        self.best_estimator_, self.stopped_ = best, reader.take("stopped", str)
        self.candidates_ = [_read_candidate(one) for one in reader.take("candidates", list)]
        self._expected = parse_expected_cost(reader.take("expected_cost", (list, type(None)), None))
        return best.problem_


def _read_candidate(content: Any) -> Candidate:
    reader = Reader(content, "a candidate")
    interval = reader.take("interval", list)
    if len(interval) != 2 or not all(map(is_finite, interval)):
        raise ValueError("'interval' of a candidate must be two numbers")
    found = Candidate(
        reader.take("name", str),
        float(reader.take("expected_cost", (int, float))),
        (float(interval[0]), float(interval[1])),
        float(reader.take("seconds", (int, float))),
        reader.take("rounds", int),
        reader.take("chosen", bool),
    )
    reader.finish()
    return found


def choice_text(candidates: Iterable[Candidate]) -> str:
    """Return candidates as a table, and why one of them was chosen."""
    candidates = list(candidates)
    rows = [("learner", "cost per case", "95 % interval", "rounds", "seconds", "")]
    for one in candidates:
        low, high = (amount(end) for end in one.interval)
        figures = amount(one.expected_cost), f"{low} to {high}", str(one.rounds), f"{one.seconds:.1f}"
        rows.append((one.name, *figures, "chosen" if one.chosen else ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            f"{cell:>{width}}" if 0 < at < 5 else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *filter(None, [choice_reason(candidates)])])


def choice_reason(candidates: Sequence[Candidate]) -> str:
    """Return in one sentence why one of the candidates was chosen; empty if none was."""
    chosen = next((one for one in candidates if one.chosen), None)
    if chosen is None:
        return ""
    cheapest = min(candidates, key=lambda one: one.expected_cost)
    if chosen.rounds == 0:
        return f"{chosen.name}: nothing was compared: too few cases, a single class, or stopped before that."
    if chosen.expected_cost > cheapest.expected_cost:
        more = amount(chosen.expected_cost - cheapest.expected_cost)
        return f"{chosen.name}: simpler than {cheapest.name}, and the difference of {more} per case may be chance."
    if sum(one.expected_cost == chosen.expected_cost for one in candidates) > 1:
        return f"{chosen.name}: none of the others costs less on cases left out in training; it is the simplest."
    return f"{chosen.name}: the lowest cost on cases left out in training."


class _Contest:
    """The race of one fit, and the model that learns from all cases in the end."""

    def __init__(self, clf: AutoClassifier, training: Training) -> None:
        self._clf, self._training = clf, training
        self._deadline = Deadline(clf.time_limit, training.start)
        self._limited = clf.time_limit is not None
        rng = clf._generator()
        self._seed = int(rng.integers(2**31 - 1))
        self._rng = rng
        cases, rows = training.timely(clf.time_limit, rng).repeated_rows()
        self._cases, self._rows = cases, rows
        self._plan = Plan(len(rows))
        self._entrants = self._admitted()
        self._race = Race(cases, rows, self._entrants)
        self._final: Race | None = None  # the last round, with almost all cases
        self._done = 0
        self.stopped = "done"
        self.model: Any = None
        self.expected: ExpectedCost | None = None
        self._chosen: Entrant | None = None
        self._turned_out: dict[str, ExpectedCost] = {}  # by name: what models of all cases expect, if several were made

    def _admitted(self) -> list[Entrant]:
        """Return those that there is time for."""
        clf = self._clf
        known = {
            "costs": clf.costs,
            "cap": clf.cap,
            "weighting": clf.weighting,
            "nominal": clf.nominal,
            "nominal_splits": clf.nominal_splits,
            "columns": clf.columns,
            "random_state": self._seed,
            "n_jobs": clf.n_jobs,
        }
        limits = {"max_leaves": clf.max_leaves, "min_cases": clf.min_cases}
        every = entrants(self._cases, self._plan.n_learned, known, limits, clf.readable, clf.learners)
        if clf.learners is not None:
            return every
        seconds = RACE_SECONDS if clf.time_limit is None else RACE_SHARE * clf.time_limit
        if clf.time_limit is None:
            self._shorten(sum(entrant.seconds for entrant in every if not entrant.is_extra))
        # A time limit ends the race after some rounds, whoever takes part.
        n_rounds = self._plan.n_rounds * PART if clf.time_limit is None else min(self._plan.n_rounds, ROUNDS_IN_TIME)
        found, total = list[Entrant](), 0.0
        for entrant in every:
            own = entrant.seconds * n_rounds
            lasts = clf.time_limit is None and entrant.last_seconds > LAST_SECONDS
            if (total + own <= seconds and not lasts) or len(found) < 2:
                found.append(entrant)
                total += own
        return found

    def _shorten(self, seconds: float) -> None:
        """Plan fewer rounds if one of them takes long: with many classes and tests, the strongest learners do."""
        while self._plan.n_rounds > FEWEST_ROUNDS and seconds * self._plan.n_rounds * PART > RACE_SECONDS:
            self._plan = replace(self._plan, most_rounds=self._plan.n_rounds - 1)

    def run(self) -> None:
        """Hold the race, and learn from all cases by the winner."""
        divided = self._plan.n_cases >= NO_RACE and self._training.n_classes > 1
        try:
            if divided:
                self._expect(self._plan.n_rounds)
                self._hold()
                if self._plan.ends_with_all and self.stopped == "done":
                    self._hold_last()
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        if not self._race.costs:
            # Nothing was measured: too few cases for it, or Ctrl-C. A tree needs no time.
            trees = [entrant for entrant in self._entrants if entrant.kind == Kind.TREE]
            self._chosen = (self._entrants if self._training.n_classes < 2 or not trees else trees)[0]
        else:
            race = self._final or self._race
            self._chosen = race.choose()
            # In other rounds, another learner than no test might have been chosen.
            self.expected = None if self._chosen.kind == Kind.NO_TEST else race.expected_cost()
        if self._final is not None:
            self.model = self._final.models[self._chosen.name]
        else:
            self._finish()
        if self.stopped != "interrupted":
            self._compare_with_no_test()

    def _compare_with_no_test(self) -> None:
        """Keep no test if the model of all cases expects to cost more than that; what one answer costs is known."""
        nothing = next((one for one in self._entrants if one.kind == Kind.NO_TEST), None)
        expected = self.expected or self.model._expected_cost()
        if nothing is None or self._chosen is None or nothing is self._chosen or expected is None:
            return
        least = _cost_of_no_test(self._training)
        if not least < expected.mean or math.isclose(least, expected.mean):
            return
        clf = nothing.make(False)
        cases = self._timely(nothing, self._training, self._deadline.remaining())
        self.model = clf._fit_cases(clf._adopt(_from_now(cases)))
        self._turned_out |= {self._chosen.name: expected, nothing.name: self.model._expected_cost()}
        self._chosen, self.expected = nothing, None

    def _hold(self) -> None:
        race, clf = self._race, self._clf
        classes = self._cases.classes[self._rows]
        for number, (learned, measured) in enumerate(self._plan.rounds(classes, self._rng)):
            rows, others = self._rows[learned], self._rows[measured]
            race.weights.append(self._weights(others))
            race.measured_rows.append(others)
            part = self._cases.take(rows)
            for entrant in list(race.alive):
                if self._is_over() and (number > 0 or entrant.seconds > NO_TIME):
                    return
                self._run(entrant, race, part, others)
                self._done += 1
                best = race.best()
                cost = race.mean(best, race.common_rounds())
                if asks_to_stop(clf.callback, Progress(self._deadline.elapsed(), self._done, None, cost)):
                    self.stopped = CALLBACK
            race.finish_round()
            self._expect(self._plan.n_rounds - number - 1)
            if race.is_decided() and race.best().seconds > NO_TIME:  # others are measured on all cases
                return

    def _hold_last(self) -> None:
        """Let the finalists learn from almost all cases; what they learned is the model."""
        classes = self._cases.classes[self._rows]
        learned, measured = self._plan.last_round(classes, self._rng)
        others = self._rows[measured]
        part = self._cases.take(self._rows[learned])
        final = Race(self._cases, self._rows, self._race.finalists())
        final.weights.append(self._weights(others))
        final.measured_rows.append(others)
        for done, entrant in enumerate(final.entrants):
            if self._is_over(1.0):
                break
            seconds = self._deadline.remaining() / (len(final.entrants) - done)
            self._run(entrant, final, self._timely(entrant, part, seconds), others)
        if final.costs:
            final.alive = final.measured()
            self._final = final

    def _is_over(self, share: float = RACE_SHARE) -> bool:
        if self.stopped == "done" and self._race.costs and self._deadline.fraction(share).remaining() <= 0:
            self.stopped = "time limit"
        return self.stopped != "done" and bool(self._race.costs)

    def _weights(self, rows: npt.NDArray[np.intp]) -> Floats:
        given = self._cases.sample_weights
        return np.ones(len(rows)) if given is None else given[rows]

    def _run(self, entrant: Entrant, race: Race, part: Training, others: npt.NDArray[np.intp]) -> None:
        last = race is not self._race
        clf = entrant.make(not last)
        if self._limited and "time_limit" in clf._parameter_names():
            left = self._deadline.fraction(1.0 if last else RACE_SHARE).remaining()
            clf.set_params(time_limit=max(left / (1.5 if last else 3), 0.05))
        with workload().doing_told(self._piece(entrant, last), share := _Share()), share.followed():
            race.run(entrant, clf, _from_now(part), others)

    def _finish(self) -> None:
        """Learn from all cases by the winner, unless Ctrl-C was pressed: then its last model is kept."""
        assert self._chosen is not None
        kept = self._race.models.get(self._chosen.name)
        if self.stopped == "interrupted" and kept is not None:
            self.model = kept
            return
        try:
            self.model = self._fitted_to_all(self._chosen)
            self._reconsider()
        except KeyboardInterrupt:
            self.stopped = "interrupted"
            if self.model is None and kept is None:
                raise
            self.model = self.model or kept

    def _fitted_to_all(self, entrant: Entrant) -> Any:
        """Let a learner learn from all cases, or from as many as there is time for."""
        clf = entrant.make(False)
        if self._limited and "time_limit" in clf._parameter_names():
            clf.set_params(time_limit=max(self._deadline.remaining(), 0.05))
            if "near_optimal" in clf._parameter_names():  # a summary that would take a part of the time
                clf.set_params(near_optimal=None)
        with workload().doing_told(self._piece(entrant, last=True), share := _Share()), share.followed():
            cases = self._timely(entrant, self._training, self._deadline.remaining())
            model = clf._fit_cases(clf._adopt(_from_now(cases)))
        own = model._expected_cost()
        if own is not None and self._plan.n_learned < SIMILAR * cases.n_cases:
            self.expected = own  # a model of many more cases than in the race costs less than those were measured to
        return model

    def _reconsider(self) -> None:
        """Let others learn from all cases if the model is worse than expected or than no test; keep the best one.

        A cascade may have bad luck with its sets of tests. Not under a time limit, which the last fit has used up.
        """
        race, found = self._race, list[tuple[ExpectedCost, Entrant, Any]]()
        entrant, model = self._chosen, self.model
        left = [one for one in race.entrants if one.name in race.costs]
        while not self._limited and entrant in left:
            left.remove(entrant)
            if (own := model._expected_cost()) is None:
                break
            found.append((own, entrant, model))
            expected = min(race.standing(entrant).cost.high, _cost_of_no_test(self._training))
            as_expected = own.mean <= expected or math.isclose(own.mean, expected)
            if as_expected or not left or len(found) == MOST_MODELS:
                break
            entrant = min(left, key=lambda one: race.standing(one).cost.mean)
            model = self._fitted_to_all(entrant)
        if len(found) > 1:
            self.expected, self._chosen, self.model = min(found, key=lambda one: one[0].mean)
            self._turned_out = {one.name: own for own, one, _ in found}

    def _timely(self, entrant: Entrant, cases: Training, seconds: float) -> Training:
        """Return as many of the cases as a learner can learn from in some seconds, by its pace in the race.

        Those that know a time limit keep to it themselves; greedy ones grow trees from all cases they are given.
        """
        if not self._limited or "time_limit" in entrant.make(True)._parameter_names():
            return cases
        n_rounds = len(self._race.costs.get(entrant.name, ()))
        once = self._race.seconds[entrant.name] / n_rounds if n_rounds else entrant.seconds
        affordable = self._plan.n_learned * max(seconds / (CROSS_FITTED * max(once, 1e-6)), 1.0)
        if affordable >= cases.n_cases:
            return cases
        return cases.take(stratified_share(cases.classes, affordable / cases.n_cases, self._rng))

    def _piece(self, entrant: Entrant, last: bool = False) -> Piece:
        times = 3.0 * max(len(self._rows) / LEARNED, 1.0) if last else 1.0
        return Piece(f"race {entrant.name}{' at last' if last else ''}", entrant.seconds * times)

    def _expect(self, n_rounds: int) -> None:
        """Tell progress bars what is left: all rounds of those in the race, and the last fit."""
        if is_followed():
            alive = self._race.alive
            slowest = max(alive, key=lambda entrant: entrant.seconds)
            pieces = [self._piece(entrant) for entrant in alive] * n_rounds
            workload().expect([*pieces, self._piece(slowest, last=True)])

    def table(self) -> list[Candidate]:
        """Return all that were measured, the cheapest first."""
        found = []
        for entrant in self._entrants:
            race = self._final if self._final is not None and entrant.name in self._final.costs else self._race
            if entrant.name in race.costs:
                at = race.standing(entrant)
                mean, *ends = self._turned_out.get(entrant.name, at.cost)
                found.append(
                    Candidate(entrant.name, mean, (ends[0], ends[1]), at.seconds, at.rounds, entrant is self._chosen)
                )
        if not found and self._chosen is not None:
            cost = self.model._expected_cost()
            mean, *ends = cost if cost is not None else (np.nan,) * 3
            found = [Candidate(self._chosen.name, mean, (ends[0], ends[1]), 0.0, 0, True)]
        return sorted(found, key=lambda one: one.expected_cost)


def _cost_of_no_test(training: Training) -> float:
    """Return what a case costs if all get the same answer, the one of least cost."""
    n_answers = training.bound_costs.error_costs.shape[1]
    errors = [training.errors_of(np.full(training.n_cases, answer)) for answer in range(n_answers)]
    return min(float(np.average(own, weights=training.sample_weights)) for own in errors)


def _from_now(training: Training) -> Training:
    """Return the cases for a learner that begins now: its time limit counts from here."""
    return replace(training, start=None)


class _Share:
    """How far a learner is that is a part of this one."""

    def __init__(self) -> None:
        self._work: Workload | None = None

    def __call__(self) -> float:
        return (self._work.share() or 0.0) if self._work is not None else 0.0

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Follow the fits of the learner."""
        with following() as self._work:
            yield

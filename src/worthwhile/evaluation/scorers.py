"""Cost scorers for scikit-learn: cross-validation, searches, the choice of a threshold."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics._scorer import _BaseScorer

from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import suggest
from worthwhile.evaluation.baselines import full_prices
from worthwhile.evaluation.metrics import context_of, innermost
from worthwhile.table.columns import as_frame, is_frame, read_columns
from worthwhile.table.schema import Schema
from worthwhile.tree.case_errors import checked_case_errors
from worthwhile.tree.context import ProblemContext, distinct_labels, label_column

__all__ = ["CostScorer", "answer_costs", "cost_scorer", "make_cost_scorer"]

Floats = npt.NDArray[np.float64]


class _NegatedErrorCost:
    """The negated error cost of answers, without tests: scikit-learn chooses thresholds by it."""

    def __init__(self, costs: Costs | None) -> None:
        self._costs = costs

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        if self._costs is None:
            raise TypeError(
                "cost_scorer has the error costs from the learner, which scikit-learn does not pass on here; "
                "use make_cost_scorer(costs)"
            )
        errors, _ = answer_costs(self._costs, label_column(y_true), np.asarray(y_pred))
        return -float(np.average(errors, weights=sample_weight))


class CostScorer(_BaseScorer):  # scikit-learn asks scorers whether they are of this class
    """The negated average total cost per case, as a scorer of scikit-learn; see `make_cost_scorer`.

    It is called as ``scorer(estimator, X, y, sample_weight=None, case_prices=None, case_errors=None)``. With metadata
    routing, ``scorer.set_score_request(sample_weight=True)`` returns a scorer that receives weights, and
    ``scorer.set_score_request(case_errors=True)`` one that receives error costs by case.
    """

    def __init__(
        self, costs: Costs | None = None, tests: Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> None:
        super().__init__(_NegatedErrorCost(costs), 1, {})
        self._costs, self._tests, self._columns = costs, tests, columns

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: Any,
        sample_weight: Any = None,
        case_prices: Any = None,
        case_errors: Any = None,
    ) -> float:
        """Return the negated average total cost; greater is better."""
        by_case = {"case_prices": case_prices, "case_errors": case_errors}
        return self._score(None, estimator, X, y_true, sample_weight=sample_weight, **by_case)

    def _score(
        self,
        method_caller: Any,
        estimator: Any,
        X: Any,
        y_true: Any,
        sample_weight: Any = None,
        case_prices: Any = None,
        case_errors: Any = None,
    ) -> float:
        y = label_column(y_true)
        costs = self._total_costs(estimator, X, y, case_prices, case_errors)
        return -float(np.average(costs, weights=sample_weight))

    def _total_costs(self, est: Any, X: Any, y: npt.NDArray[Any], case_prices: Any, case_errors: Any) -> Floats:
        """Return what each case costs; a class that the training cases lacked, as in a small fold, is an error."""
        try:
            learner, seen = innermost(_without_threshold(est), X)
        except TypeError:
            learner = None
            if self._costs is None:
                raise TypeError(
                    f"{type(est).__name__} has no total_costs: it must be a learner of worthwhile or a Tree; "
                    "for other estimators use make_cost_scorer(costs)"
                ) from None
        by_column = learner is None or self._tests is not None
        prices = self._prices_of_tests(X, y, case_prices) if by_column else learner.test_costs(seen, case_prices, y)
        if case_errors is not None and (learner is None or _without_threshold(est) is not est):
            costs = self._costs or context_of(learner).costs
            return prices + _case_error_costs(costs, y, np.asarray(est.predict(X)), est.classes_, case_errors)
        if self._costs is not None and case_errors is None:
            return prices + answer_costs(self._costs, y, np.asarray(est.predict(X)))[0]
        if _without_threshold(est) is est:
            answers = learner._route(seen, answers=True, prices=case_prices is not None, case_prices=case_prices)[0]
            errors: Floats = context_of(learner).errors_of(answers, y, warn=False, case_errors=case_errors)
            return prices + errors
        return prices + answer_costs(context_of(learner).costs, y, np.asarray(est.predict(X)))[0]

    def _prices_of_tests(self, X: Any, y: npt.NDArray[Any], case_prices: Any = None) -> Floats:
        """Return the price of all columns, or of `tests`; a missing value was unavailable and costs nothing."""
        assert self._costs is not None
        X = as_frame(X)
        columns = read_columns(X, None if is_frame(X, named=True) else self._columns)
        known = set(columns.names)
        for test in self._tests or ():
            if test not in known:
                raise ValueError(f"tests contains {test!r}, which is not a column; {suggest(str(test), columns.names)}")
        own = None
        if case_prices is not None:
            schema = Schema(columns.names, (None,) * len(columns.names))
            own = ProblemContext.of(schema, [0, 1], self._costs.with_errors(1.0)).checked_case_prices(
                case_prices, len(y)
            )
        return full_prices(self._costs, columns, self._tests, y, own)

    def set_score_request(self, **kwargs: Any) -> Self:
        """Return a scorer that requests this metadata, as ``sample_weight=True``; the scorer itself does not change."""
        changed = copy.copy(self)
        _BaseScorer.set_score_request(changed, **kwargs)
        return changed

    def __repr__(self) -> str:
        if self._costs is None:
            return "cost_scorer"
        return f"make_cost_scorer({self._costs!r}{'' if self._tests is None else f', tests={list(self._tests)}'})"


def _without_threshold(est: Any) -> Any:
    """Return the classifier whose threshold an estimator sets, or the estimator itself."""
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    return est.estimator_ if isinstance(est, (FixedThresholdClassifier, TunedThresholdClassifierCV)) else est


def _case_error_costs(costs: Costs, y: npt.NDArray[Any], answers: npt.NDArray[Any], classes: Any, own: Any) -> Floats:
    """Return the error cost of each answer of a classifier, where errors do not cost all cases of a class the same."""
    labels = list(dict.fromkeys([*np.asarray(classes).tolist(), *answers.tolist()]))
    known = costs.error_matrix([label for label in labels if isinstance(costs.errors, float) or label in costs.errors])
    errors = checked_case_errors(own, known[0], len(y))
    assert errors is not None
    return errors[np.arange(len(y)), [known[0].index(answer) for answer in answers.tolist()]]


def answer_costs(costs: Costs, truth: Any, answers: Any) -> tuple[Floats, Floats]:
    """Return the error cost of each answer, and the matrix of error costs of the classes that occur."""
    labels, place = distinct_labels(truth, len(truth))
    given, where = distinct_labels(answers, len(truth))
    # A class may be an answer without occurring here; an answer of the errors that is never a truth is a reject answer.
    errors = costs.errors
    classes = [*labels, *(a for a in given if a not in labels and (isinstance(errors, float) or a in errors))]
    known, matrix = costs.error_matrix(classes)
    for answer in given:
        if answer not in known:
            raise ValueError(f"the answer {answer!r} is not a class; the classes are {', '.join(map(repr, classes))}")
    found: Floats = matrix[place, np.array([known.index(answer) for answer in given])[where]]
    return found, matrix


def make_cost_scorer(
    costs: Costs, *, tests: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> CostScorer:
    """Return a scorer for any classifier: the negated average price of the tests plus error cost.

    A learner of worthwhile pays for the tests that it asks for, at its own prices. Every other estimator pays for all
    columns of X, or for `tests`. A missing value was unavailable and costs nothing. In
    ``TunedThresholdClassifierCV``, which compares thresholds by answers alone, the price of the tests is left out: it
    is the same for all thresholds.

    Parameters
    ----------
    costs : Costs
        Prices of the tests and costs of errors.
    tests : list of str, optional
        The tests that each case pays for. None: all columns of X, or what a learner of worthwhile asks for.
    columns : list of str, optional
        Names for the columns of an X that has none.

    Examples
    --------
    >>> import worthwhile as ww
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> bupa = ww.datasets.load("bupa", as_frame=False)
    >>> scorer = make_cost_scorer(bupa.costs, columns=bupa.feature_names)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> cross_val_score(tree, bupa.X, bupa.y, scoring=scorer, cv=3).round(2).tolist()
    [-269.67, -230.54, -308.8]
    """
    if not isinstance(costs, Costs):
        raise TypeError(f"costs must be a worthwhile.Costs, got {costs!r}")
    if isinstance(tests, str):
        raise TypeError(f"tests must be a list of names, got the string {tests!r}")
    return CostScorer(costs, tests, columns)


cost_scorer = CostScorer()
"""The negated average total cost of a learner of worthwhile: for ``scoring=`` in scikit-learn, where greater is better.

Examples
--------
>>> import worthwhile as ww
>>> from sklearn.model_selection import cross_val_score
>>> bupa = ww.datasets.load("bupa")
>>> clf = ww.EG2Classifier(costs=bupa.costs, columns=bupa.feature_names)
>>> cross_val_score(clf, bupa.X, bupa.y, scoring=cost_scorer, cv=3).round(2).tolist()
[-256.63, -243.58, -208.8]
"""

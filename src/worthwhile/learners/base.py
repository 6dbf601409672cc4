"""The base of all learners: reading input, costs, answers and prices, and files."""

from __future__ import annotations

import functools
import json
import numbers
import os
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.costs import Costs
from worthwhile.costs.error_costs import CostsError
from worthwhile.files import write_text
from worthwhile.learners.fingerprint import Fingerprint, fingerprint
from worthwhile.learners.parameters import NominalSplits, Weighting, check_parameters
from worthwhile.learners.result_shares import ResultShares, shares_to_json
from worthwhile.learners.training import Training, with_deviations, with_prices
from worthwhile.learners.weighting import case_costs, class_costs, instance_weights
from worthwhile.learners.workload import Piece, is_followed, workload
from worthwhile.parallel.workers import local_threads
from worthwhile.table.columns import Columns, as_frame, is_frame, nominal_positions, read_columns, value_text
from worthwhile.table.identifiers import find_identifiers, identifier_warning
from worthwhile.table.nominal_splits import ways_to_ask
from worthwhile.table.schema import Schema
from worthwhile.table.targets import at_least_1, read_classes, read_weights
from worthwhile.tree.advice import Advice
from worthwhile.tree.batch_advice import AdviceColumns, Worklist, as_table
from worthwhile.tree.case_amounts import check_conditions
from worthwhile.tree.case_errors import checked_case_errors, mean_errors, with_mean_errors
from worthwhile.tree.context import ProblemContext, distinct_labels
from worthwhile.tree.explanation import Explanation
from worthwhile.tree.json_format import ExpectedCost, Reader, costs_digest, costs_to_json, plain
from worthwhile.tree.run import Fetch, Outcome

__all__ = ["MODEL_FORMAT", "MODEL_VERSION", "CostSensitiveClassifier"]

MODEL_FORMAT, MODEL_VERSION = "worthwhile-model", 2
MAX_THREADS = 256  # every thread has its own scratch memory


@dataclass(kw_only=True, eq=False, repr=False)
class CostSensitiveClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of all learners. A learner adds its parameters as fields and implements the abstract methods."""

    costs: Costs | None = None
    cap: float | None = None
    weighting: Weighting | None = None
    nominal: Sequence[str | int] | None = None
    nominal_splits: NominalSplits = "multiway"
    columns: Sequence[str] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    # Of the training cases, and the decimal mark of the file they came from; for files and evaluations.
    _fingerprint: ClassVar[Fingerprint | None] = None
    _decimal: ClassVar[str] = "."
    # What tests said in training, where a model of several trees asks for them.
    _results: ClassVar[Mapping[str, ResultShares]] = {}
    # Whether all ways to divide nominal values are listed before learning; otherwise every node finds its own.
    _lists_subsets: ClassVar[bool] = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None, case_prices: Any = None, case_errors: Any = None) -> Self:
        """Learn from cases.

        Parameters
        ----------
        X : array, pandas or polars frame, or pyarrow table of shape (cases, tests)
            Nominal columns by dtype or by the parameter `nominal`; NaN or None is a missing value. Columns of objects
            are numeric if all their values are numbers. Dates become days since 1970-01-01. A nominal column with
            almost as many values as cases (an identifier, free text) is not used, with a warning, unless `nominal`
            names it.
        y : sequence of classes
        sample_weight : sequence of numbers, optional
            How much each case counts; a case of weight 0 is left out. Weights with a mean below 1 count relative to
            their mean: with ``1 / n`` for all cases, every case counts as one. Whole weights of up to 100 in total mean
            that cases are repeated; more are weights like all others, so that no copy of a case that is left out in
            training is learned from.
        case_prices : array or frame of shape (cases, tests), optional
            Prices that depend on the case; they replace the prices of the tests. The columns of a frame are found by
            name. Group prices, surcharges and waiting stay the same.
        case_errors : array or frame of shape (cases, answers), optional
            What each answer costs each case, instead of the error costs of its class: what a wrong loan loses depends
            on its amount. The columns of a frame are found by the name of the answer; those of an array are in the
            order of the classes, sorted, then reject answers. The error costs of the learner become their means by
            class.

        Returns
        -------
        self
        """
        start = time.monotonic()
        self._check_parameters()
        X = as_frame(X)
        columns = read_columns(X, self.columns, self.nominal)
        self._check_columns(X, columns, reset=True)
        return self._fit_cases(replace(self._prepare(columns, y, sample_weight, case_prices, case_errors), start=start))

    def _fit_cases(self, training: Training) -> Self:
        """Learn from cases that were read."""
        self._forget()  # if learning fails, the old model must not answer with the new classes
        self.__dict__.pop("_results", None)
        self._context, self.classes_ = training.context, training.labels
        # Without cross-fitting, which takes longer, the time for a fingerprint is saved, too.
        cases = training.schema, training.columns, training.classes
        self._set_origin(fingerprint(*cases) if getattr(self, "cross_fit", True) else None)
        if is_followed():
            workload().expect(self._pieces(training))
        self._learn(training)
        self._assess(training)
        workload().finish()
        self._pass_on_interrupt()
        return self

    def _adopt(self, training: Training) -> Training:
        """Return cases that another learner has read, as this one reads them: by its cap and its ways to ask."""
        bound, context = training.bound_costs, training.context
        if self.cap != bound.cap:
            own = BoundCosts.of(bound.costs, context.columns, context.classes, self.cap, bound.by_case)
            context = replace(context, bound_costs=own)
        listed = self.nominal_splits if self._lists_subsets else "multiway"
        ways = ways_to_ask(training.schema, getattr(self, "hierarchies", None), listed) or None
        if context is training.context and ways == training.ways:
            return training
        adopted = replace(training, context=context, ways=ways)
        return replace(adopted, table=adopted.encoded(np.arange(adopted.n_cases), adopted.classes))

    # ---- what a learner implements

    @abstractmethod
    def _learn(self, training: Training) -> None:
        """Learn, and set the fitted attributes."""

    def _pieces(self, training: Training) -> list[Piece]:
        """Return the work that is expected, for progress bars."""
        return []

    @abstractmethod
    def _assess(self, training: Training) -> None:
        """Find out what new cases are expected to cost."""

    @abstractmethod
    def _expected_cost(self) -> ExpectedCost | None:
        """Return what `_assess` found; None if nothing is known of new cases."""

    @abstractmethod
    def _forget(self) -> None:
        """Remove what was learned before."""

    @abstractmethod
    def _route(
        self,
        X: Any,
        answers: bool = False,
        prices: bool = False,
        shares: bool = False,
        case_prices: Any = None,
        y: Any = None,
    ) -> tuple[Any, Any, Any]:
        """Return the answers (as indices), prices and class shares of cases, each None if not asked for."""

    @abstractmethod
    def next_test(self, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> Advice:
        """Return what to do next for a case with the results `known`; see `Tree.next_test`."""

    @abstractmethod
    def _advise(self, cases: Worklist) -> AdviceColumns:
        """Return what to do next for each case of a worklist."""

    @abstractmethod
    def run(self, case: Mapping[str, Any], fetch: Fetch, already_paid: Iterable[str] = ()) -> Outcome:
        """Follow `next_test` until there is an answer, calling functions that fetch values; see `Tree.run`."""

    @abstractmethod
    def explain(self, case: Mapping[str, Any]) -> Explanation:
        """Return the path of a case, in words and money; see `Tree.explain`."""

    def _asked(self, known: Mapping[str, Any]) -> set[int]:
        """Return the tests that the learner asks a case for, as far as its results reach."""
        position = self.problem_.schema.position
        return {position[step.test] for step in self.explain(known).steps}

    @abstractmethod
    def _summary_html(self) -> str:
        """Return a summary with costs for notebooks; empty before `fit`."""

    @abstractmethod
    def _content(self) -> dict[str, Any]:
        """Return what was learned, as plain data for a file."""

    @abstractmethod
    def _restore(self, reader: Reader, version: int) -> ProblemContext:
        """Restore what `_content` returned, from a file of this format version."""

    # ---- parameters and input

    def _check_parameters(self) -> None:
        names = self._parameter_names()
        # A parameter whose default is None may be None.
        optional = [name for name in names if getattr(type(self), name) is None]
        check_parameters(type(self).__name__, {name: getattr(self, name) for name in names}, optional)

    @classmethod
    @functools.cache
    def _parameter_names(cls) -> tuple[str, ...]:
        # scikit-learn's get_params inspects the constructor every time, which takes a twentieth of a fit on 500 × 8.
        return tuple(field.name for field in fields(cls))

    def _bind_costs(self, names: Sequence[str], classes: list[Any], by_case: bool) -> BoundCosts:
        """Return prices and error costs by column and class."""
        try:
            return BoundCosts.of(self.costs, names, classes, self.cap, by_case)
        except CostsError as error:
            known = set(names)
            if isinstance(self.costs, Costs) and any(test not in known for test in self.costs.tests):
                raise CostsError(f"{error}; costs.only(columns) leaves out what the table does not have") from None
            raise

    def _prepare(
        self, columns: Columns, y: Any, sample_weight: Any, case_prices: Any = None, case_errors: Any = None
    ) -> Training:
        labels, index = read_classes(y, columns.n_cases, type(self).__name__)
        given = weights = at_least_1(read_weights(sample_weight, columns.n_cases))
        by_case = case_prices is not None
        bound_costs = self._bind_costs(columns.names, labels.tolist(), by_case)
        errors = checked_case_errors(case_errors, bound_costs.answers, columns.n_cases)
        if errors is not None:
            means = mean_errors(errors, index, bound_costs.error_costs, given)
            if not np.array_equal(means, bound_costs.error_costs):
                costs = with_mean_errors(bound_costs.costs, labels.tolist(), bound_costs.answers, means)
                bound_costs = BoundCosts.of(costs, columns.names, labels.tolist(), self.cap, by_case)
            if np.array_equal(errors, bound_costs.error_costs[index]):
                errors = None  # the same for all cases of a class
        if self.weighting is not None:
            weights = self._instance_weights(bound_costs, labels.tolist(), index, weights, errors)
        prices = case_prices
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            context = ProblemContext(Schema.learn(columns, self.nominal), tuple(labels.tolist()), bound_costs)
            prices = context.checked_case_prices(prices, columns.n_cases)
            prices = None if prices is None else prices[kept]
            errors = None if errors is None else errors[kept]
            columns, index, weights = columns.take(kept), index[kept], weights[kept]
            given = None if given is None else given[kept]
        hierarchies = getattr(self, "hierarchies", None)
        declared = nominal_positions(columns.names, self.nominal)
        declared |= {j for j, name in enumerate(columns.names) if name in (hierarchies or ())}
        unused = find_identifiers(columns, declared)
        if unused:
            warnings.warn(identifier_warning(columns, unused), UserWarning, stacklevel=3)
        schema = Schema.learn(columns, self.nominal, unused)
        context = ProblemContext(schema, tuple(labels.tolist()), bound_costs)
        check_conditions(schema, bound_costs.prices)
        own = context.checked_case_prices(prices, columns.n_cases)
        ways = ways_to_ask(schema, hierarchies, self.nominal_splits if self._lists_subsets else "multiway")
        table = schema.encode(columns, ways, complete=True)
        table = with_prices(table, context, columns, index, own)
        training = Training(
            context,
            columns,
            table,
            index,
            labels,
            weights,
            given,
            case_prices=own,
            case_errors=errors,
            ways=ways or None,
        )
        with_deviations(table, training.deviations(np.arange(len(index)), index))
        return training

    def _instance_weights(
        self,
        bound_costs: BoundCosts,
        labels: Sequence[Any],
        index: npt.NDArray[np.int32],
        weights: npt.NDArray[np.float64] | None,
        errors: npt.NDArray[np.float64] | None,
    ) -> npt.NDArray[np.float64]:
        """Return weights by what it costs to misclassify each case."""
        vector = self._vector()
        if errors is None or isinstance(vector, Mapping):
            return instance_weights(index, class_costs(bound_costs, labels, vector), weights)
        return instance_weights(np.arange(len(index)), case_costs(errors, index, len(labels), vector), weights)

    def _vector(self) -> str | Mapping[Any, float]:
        """Return how the costs of all wrong answers become one cost of misclassifying a case."""
        return "sum"

    def _set_results(self, found: Mapping[str, ResultShares]) -> None:
        self.__dict__["_results"] = found

    @property
    def result_shares_(self) -> Mapping[str, ResultShares]:
        """By test: how its results were distributed among the training cases that the model asks for it.

        Of cascades and forests that were validated; nodes of a tree have weights instead.
        """
        return self._results

    def _set_origin(self, cases: Fingerprint | None, decimal: str = ".") -> None:
        """Set what is known of the training cases: their fingerprint, and the decimal mark of their file."""
        self.__dict__.update(_fingerprint=cases, _decimal=decimal)

    def _pass_on_interrupt(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C has ended the search; the learner is fitted with the best it found.

        A cross-validation, or whatever else called `fit`, must end, too.
        """
        if getattr(self, "stopped_", None) == "interrupted":
            raise KeyboardInterrupt

    def _n_threads(self) -> int:
        return min(local_threads(self.n_jobs), MAX_THREADS)

    def _generator(self) -> np.random.Generator:
        if isinstance(self.random_state, np.random.Generator):
            return self.random_state
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    @property
    def problem_(self) -> ProblemContext:
        """The columns, classes and costs that the learner was fitted with."""
        if "_context" not in self.__dict__:
            check_is_fitted(self)
        return self._context

    def _read(self, X: Any) -> Columns:
        if isinstance(X, Columns):  # read from a file, or by a learner that this one is a part of
            return X
        X = as_frame(X)
        columns = read_columns(X, nominal=self.problem_.schema.nominal_in(X))
        self._check_columns(X, columns, reset=False)
        return columns

    def _check_columns(self, X: Any, columns: Columns, reset: bool) -> None:
        """Set, or compare, the number and names of the columns, as scikit-learn does."""
        if (
            not reset
            and self.columns is not None
            and is_frame(X, named=True)
            and not hasattr(self, "feature_names_in_")
        ):
            # Names given by the parameter `columns` count like those of a frame.
            if columns.names != (known := self.problem_.columns):
                own = ", ".join(columns.names)
                raise ValueError(f"X has the columns {own}, but the learner was fitted with columns={list(known)}")
            return
        # A plain array has no names; looking for them would make a predict on 500 × 8 take 1.75 times as long.
        if (
            type(X) is np.ndarray
            and not hasattr(self, "feature_names_in_")
            and (reset or len(columns.arrays) == getattr(self, "n_features_in_", None))
        ):
            self.n_features_in_ = len(columns.arrays)
        else:
            validate_data(self, X, reset=reset, skip_check_array=True)

    # ---- answers and costs

    @property
    def expected_cost_(self) -> float:
        """What a new case is expected to cost, tests and errors together: measured on cases not used to learn."""
        return self._known_expected_cost().mean

    @property
    def expected_cost_interval_(self) -> tuple[float, float]:
        """The 95 % confidence interval of `expected_cost_`."""
        _, low, high = self._known_expected_cost()
        return low, high

    def _known_expected_cost(self) -> ExpectedCost:
        found = self._expected_cost()
        if found is None:
            why = "no cases were held out (cross_fit=False, validation=None, a single case), or the file is an old one"
            raise AttributeError(f"the expected cost of this {type(self).__name__} is unknown: {why}")
        return found

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the answer for each case."""
        answers = self._route(X, answers=True)[0]
        return self._labels()[answers]

    def predict_with_prices(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return `predict` and `test_costs` together, which routes each case only once."""
        answers, prices, _ = self._route(X, answers=True, prices=True)
        return self._labels()[answers], prices

    def _labels(self) -> npt.NDArray[Any]:
        labels = self.problem_.answer_labels
        # Without reject answers, the labels keep the type that they had in y.
        return self.classes_ if len(labels) == len(self.classes_) else labels

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return, for each case, the class shares of the leaf it ends in, in the order of `classes_`."""
        shares: npt.NDArray[np.float64] = self._route(X, shares=True)[2]
        return shares

    def test_costs(self, X: Any, case_prices: Any = None, y: Any = None) -> npt.NDArray[np.float64]:
        """Return the price that each case pays for its tests; see `Tree.test_costs`."""
        prices: npt.NDArray[np.float64] = self._route(X, prices=True, case_prices=case_prices, y=y)[1]
        return prices

    def total_costs(self, X: Any, y: Any, case_prices: Any = None, case_errors: Any = None) -> npt.NDArray[np.float64]:
        """Return the price of the tests plus the cost of the error for each case; see `Tree.total_costs`."""
        answers, prices, _ = self._route(X, answers=True, prices=True, case_prices=case_prices, y=y)
        total: npt.NDArray[np.float64] = prices + self.problem_.errors_of(answers, y, case_errors=case_errors)
        return total

    def advise(
        self,
        X: Any,
        unavailable: Any = None,
        pending: Any = None,
        already_paid: Iterable[str] = (),
        as_frame: bool | Literal["auto"] = "auto",
    ) -> Any:
        """Return what to do next for each case of a worklist: `next_test` for many at once; see `Tree.advise`."""
        cases = Worklist.of(self.problem_, self._read(X), unavailable, pending, already_paid)
        return as_table(self._advise(cases), as_frame)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of right answers (the accuracy); a reject answer is not right."""
        answers = self._route(X, answers=True)[0]
        labels, place = distinct_labels(y, len(answers))
        position = {label: i for i, label in enumerate(self.problem_.classes)}
        truth = np.array([position.get(label, -1) for label in labels], dtype=np.intp)[place]
        return float(np.average(truth == answers, weights=sample_weight))

    # ---- notebooks use one of two hooks; what scikit-learn shows comes first

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._summary_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        output: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return output | {kind: page + self._summary_html() for kind, page in output.items() if kind == "text/html"}

    # ---- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted learner to a JSON file that `worthwhile.load` reads (docs/tree-format.md)."""
        write_text(Path(path), json.dumps(self._document(), ensure_ascii=False))

    def _document(self) -> dict[str, Any]:
        """Return the JSON object of the learner, as `save` writes it."""
        content = self._content()
        needs = content.pop("needs")
        return {
            "format": MODEL_FORMAT,
            "version": MODEL_VERSION,
            **({"needs": needs} if needs else {}),
            "learner": type(self).__name__,
            **({} if self.costs is None else {"costs_digest": costs_digest(self.costs)}),
            "params": {name: _plain_parameter(name, value) for name, value in self.get_params(deep=False).items()},
            "named_columns": hasattr(self, "feature_names_in_"),
            **({} if self._fingerprint is None else {"training": self._fingerprint._asdict()}),
            **({} if self._decimal == "." else {"decimal": self._decimal}),
            **({"results": shares_to_json(self._results)} if self._results else {}),
            **content,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _plain_parameter(name: str, value: Any) -> Any:
    if isinstance(value, Costs):
        return costs_to_json(value)
    if name == "callback" or (name == "random_state" and not isinstance(value, numbers.Integral)):
        return None  # functions and generator states are not data, and a fitted learner does not need them
    if name == "validation" and not isinstance(value, numbers.Real):
        return None  # only `fit` needs these cases
    if isinstance(value, Mapping):
        return {value_text(key): _plain_parameter(name, item) for key, item in value.items()}
    if not isinstance(value, str) and isinstance(value, Iterable):
        return [_plain_parameter(name, item) for item in value]
    return plain(value)

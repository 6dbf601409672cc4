"""The fit/predict skeleton of all learners of one tree."""

from __future__ import annotations

import functools
import json
import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.costs import Costs
from worthwhile.files import write_text
from worthwhile.learners.parameters import check_parameters
from worthwhile.learners.weighting import class_costs, instance_weights
from worthwhile.parallel.workers import threads_here
from worthwhile.table.columns import Columns, is_frame, read_columns, value_text
from worthwhile.table.hierarchies import levels_for
from worthwhile.table.schema import Schema
from worthwhile.table.targets import read_classes, read_weights
from worthwhile.tree.json_format import Reader, costs_to_json, parse_tree, plain, write_tree
from worthwhile.tree.nodes import Nodes
from worthwhile.tree.notebook import tree_table
from worthwhile.tree.run import Fetch
from worthwhile.tree.tree import Advice, Explanation, Outcome, Tree

__all__ = ["MODEL_FORMAT", "MODEL_VERSION", "Training", "TreeClassifier"]

MODEL_FORMAT, MODEL_VERSION = "worthwhile-model", 1
MOST_THREADS = 256  # every thread has its own scratch memory


@dataclass(frozen=True, eq=False)
class Training:
    """Everything a learner learns from, ready for the core."""

    columns: Columns
    schema: Schema
    table: Any
    classes: npt.NDArray[np.int32]  # index of the class of each case
    labels: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None
    money: BoundCosts
    sample_weights: npt.NDArray[np.float64] | None = None  # as given, without those by error costs

    def tree(self, core: Any, answer: str) -> Tree:
        """Return what the core has grown as a tree."""
        return Tree(Nodes.from_core(core), self.schema, self.labels.tolist(), answer=answer, money=self.money)

    def take(self, rows: npt.NDArray[np.intp]) -> Training:
        """Return the given cases only."""
        columns = self.columns.take(rows)
        return replace(
            self,
            columns=columns,
            table=self.schema.encode(columns, complete=True),
            classes=self.classes[rows],
            weights=None if self.weights is None else self.weights[rows],
            sample_weights=None if self.sample_weights is None else self.sample_weights[rows],
        )


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(ClassifierMixin, BaseEstimator):
    """What all learners of one tree share; a learner adds its parameters, as fields, and `_learn`."""

    costs: Costs | None = None
    weighting: str | None = None
    nominal: Sequence[str | int] | None = None
    columns: Sequence[str] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a tree.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (cases, tests)
            Nominal columns by dtype or by the parameter `nominal`; NaN or None is a missing value.
        y : sequence of classes
        sample_weight : sequence of numbers, optional
            How much each case counts; a case of weight 0 is left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        columns = read_columns(X, self.columns)
        self._check_columns(X, columns, reset=True)
        training = self._prepare(columns, y, sample_weight)
        self.__dict__.pop("tree_", None)  # if learning fails, the old tree must not answer with the new classes
        self.classes_ = training.labels
        self._learn(training)
        return self

    def _check_parameters(self) -> None:
        names = self._parameter_names()
        # A parameter that is None unless it is given may be None.
        left_open = [name for name in names if getattr(type(self), name) is None]
        check_parameters(type(self).__name__, {name: getattr(self, name) for name in names}, left_open)

    @classmethod
    @functools.cache
    def _parameter_names(cls) -> tuple[str, ...]:
        # scikit-learn's get_params inspects the constructor anew each time: a twentieth of a fit on 500 × 8.
        return tuple(field.name for field in fields(cls))

    def _prepare(self, columns: Columns, y: Any, sample_weight: Any) -> Training:
        labels, index = read_classes(y, columns.n_cases, type(self).__name__)
        given = weights = read_weights(sample_weight, columns.n_cases)
        money = BoundCosts.of(self.costs, columns.names, labels.tolist())
        if self.weighting is not None:
            weights = instance_weights(index, self._class_costs(money, labels), weights)
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            columns, index, weights = columns.take(kept), index[kept], weights[kept]
            given = None if given is None else given[kept]
        schema = Schema.learn(columns, self.nominal)
        table = schema.encode(columns, levels_for(schema, getattr(self, "hierarchies", None)), complete=True)
        return Training(columns, schema, table, index, labels, weights, money, given)

    def _class_costs(self, money: BoundCosts, labels: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """What it costs to err about a case of each class."""
        return class_costs(money, labels.tolist(), "sum")

    def _learn(self, training: Training) -> None:
        raise TypeError(f"{type(self).__name__} is no learner: it has no way to grow a tree")

    def _n_threads(self) -> int:
        return min(threads_here(self.n_jobs), MOST_THREADS)

    def _generator(self) -> np.random.Generator:
        if isinstance(self.random_state, np.random.Generator):
            return self.random_state
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _frame(self) -> Tree:
        """The tree, as far as classes, answers and error costs go."""
        if "tree_" not in self.__dict__:
            check_is_fitted(self, "tree_")
        return self.tree_

    def _whole_tree(self) -> Tree:
        """The tree, where all of it is needed."""
        return self._frame()

    def _route(
        self, X: Any, answers: bool = False, prices: bool = False, shares: bool = False, case_prices: Any = None
    ) -> tuple[Any, Any, Any]:
        return self._frame()._route(self._read(X), answers, prices, shares, case_prices, self._n_threads())

    def charged(self, X: Any) -> npt.NDArray[np.uint64]:
        """Return the tests that each case is charged for, as bits; see `Tree.charged`."""
        return self._frame().charged(self._read(X), self._n_threads())

    def _read(self, X: Any) -> Columns:
        columns = read_columns(X)
        self._check_columns(X, columns, reset=False)
        return columns

    def _check_columns(self, X: Any, columns: Columns, reset: bool) -> None:
        """Note or compare the number and the names of the columns, as scikit-learn does."""
        if (
            not reset
            and self.columns is not None
            and is_frame(X, named=True)
            and not hasattr(self, "feature_names_in_")
        ):
            # Names that came by the parameter `columns` hold like those of a frame.
            if columns.names != (known := self._frame().columns):
                own = ", ".join(columns.names)
                raise ValueError(f"X has the columns {own}, but the learner was given columns={list(known)}")
            return
        # A plain array has no names; to look for them all the same would add three quarters to a predict on 500 × 8.
        if (
            type(X) is np.ndarray
            and not hasattr(self, "feature_names_in_")
            and (reset or len(columns.arrays) == getattr(self, "n_features_in_", None))
        ):
            self.n_features_in_ = len(columns.arrays)
        else:
            validate_data(self, X, reset=reset, skip_check_array=True)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the answer for each case."""
        return self._labels()[self._route(X, answers=True)[0]]

    def predict_with_prices(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return `predict` and `test_costs` from one walk down the tree."""
        answers, prices, _ = self._route(X, answers=True, prices=True)
        return self._labels()[answers], prices

    def _labels(self) -> npt.NDArray[Any]:
        tree = self._frame()
        labels: npt.NDArray[Any] = self.classes_ if len(tree.answers) == len(self.classes_) else tree._answer_labels
        return labels

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return, for each case, the class shares of the leaf it ends in, in the order of `classes_`."""
        return self._route(X, shares=True)[2]

    def test_costs(self, X: Any, case_prices: Any = None) -> npt.NDArray[np.float64]:
        """Return the price that each case pays for its tests; see `Tree.test_costs`."""
        return self._route(X, prices=True, case_prices=case_prices)[1]

    def total_costs(self, X: Any, y: Any, case_prices: Any = None) -> npt.NDArray[np.float64]:
        """Return the price of the tests plus the cost of the error for each case."""
        answers, prices, _ = self._route(X, answers=True, prices=True, case_prices=case_prices)
        return prices + self._frame().errors_of(answers, y)

    def next_test(self, known: Mapping[str, Any]) -> Advice:
        """Return what to do now for a case of which `known` is known; see `Tree.next_test`."""
        return self._whole_tree().next_test(known)

    def run(self, case: Mapping[str, Any], fetch: Fetch) -> Outcome:
        """Do what `next_test` says until there is an answer, with functions that fetch values; see `Tree.run`."""
        return self._whole_tree().run(case, fetch)

    def explain(self, case: Mapping[str, Any]) -> Explanation:
        """Return the way of a case through the tree, in words and money; see `Tree.explain`."""
        return self._whole_tree().explain(case)

    def rules(self) -> list[str]:
        """Return one sentence per leaf of the tree, in plain words; see `Tree.rules`."""
        return self._whole_tree().rules()

    def _summary_html(self) -> str:
        """Return what was learned, in money, for notebooks; nothing before that."""
        return tree_table(self.tree_, type(self).__name__) if "tree_" in self.__dict__ else ""

    # Both ways in which notebooks ask; what scikit-learn has to show comes first.

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._summary_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        output: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return output | {kind: page + self._summary_html() for kind, page in output.items() if kind == "text/html"}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner with its tree to a JSON file that `worthwhile.load` reads (docs/tree-format.md)."""
        write_text(Path(path), json.dumps(self._document(), ensure_ascii=False))

    def _document(self) -> dict[str, Any]:
        """Return the JSON object of the learner, as `save` writes it."""
        return {
            "format": MODEL_FORMAT,
            "version": MODEL_VERSION,
            "learner": type(self).__name__,
            "params": {name: _plain_parameter(name, value) for name, value in self.get_params(deep=False).items()},
            "named_columns": hasattr(self, "feature_names_in_"),
            **self._content(),
        }

    def _content(self) -> dict[str, Any]:
        """Return what was learned, for a file."""
        return {"tree": write_tree(self._whole_tree())}

    def _restore(self, reader: Reader) -> None:
        """Take back what `_content` gave to a file."""
        self.tree_ = Tree(*parse_tree(reader.take("tree", dict)))

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
        return None  # functions and the states of generators are no data, and the tree is there
    if name == "validation" and not isinstance(value, numbers.Real):
        return None  # the cases have done their work
    if isinstance(value, Mapping):
        return {value_text(key): _plain_parameter(name, item) for key, item in value.items()}
    if not isinstance(value, str) and isinstance(value, Iterable):
        return [_plain_parameter(name, item) for item in value]
    return plain(value)

"""What the experiments of all papers share: data sets, cases, learners and the rows of tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.experiments.engine import Cell, parameters_of, seed_of, text_of
from worthwhile.learners.soft_labels import EnsembleMemory, remember_ensembles
from worthwhile.tree.tree import Tree

__all__ = ["CaseSet", "DataSource", "LearnerSource", "Row"]

# Cells with the same cases at other prices or error costs come in a row, and need the same six ensembles or fewer.
# Without this, the refined ACT on Esmeir's small data sets takes about four times as long.
_ensembles = EnsembleMemory(most=24)


@dataclass(frozen=True, eq=False)
class CaseSet:
    """Cases to train on or to test with, and what is known about their columns and classes."""

    X: npt.NDArray[Any]
    y: npt.NDArray[np.str_]
    nominal: Sequence[str]
    columns: Sequence[str]
    classes: Sequence[str] = ()  # in order
    costs: Costs = field(default_factory=Costs)  # published with the data

    def take(self, rows: npt.NDArray[Any]) -> CaseSet:
        """Return some of the cases, with the same classes."""
        return replace(self, X=self.X[rows], y=self.y[rows])


@dataclass(frozen=True)
class DataSource:
    """A data set of a paper: its name there, where it comes from and how it is prepared.

    Error costs are drawn unless it has its own: the cost of misclassifying a case of each class.
    """

    title: str
    source: str  # a data set of the package or the data folder; empty: generated
    prepare: Callable[[CaseSet], CaseSet] | None = None
    errors: Mapping[str, float] = field(default_factory=dict)
    effort: float = 1.0  # training time relative to other data sets of the paper


@dataclass(frozen=True)
class LearnerSource:
    """A learner: its class, its name in tables, its parameters and roughly how many seconds training takes.

    The seconds are `always` plus `effort` times the effort of the data set.
    """

    name: str  # of a class of worthwhile or of experiments.peers
    always: float
    effort: float
    label: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sees_errors: bool = True  # whether the tree depends on error costs
    fixed: Mapping[str, Any] = field(default_factory=dict)  # parameters that are the same in all cells
    as_published: bool = True  # unless a parameter says otherwise; False: as users get it

    def fit(self, cell: Cell, costs: Costs, cases: CaseSet) -> tuple[Any, float]:
        """Train the learner with a cell's parameters; return it and the seconds of processor time that this takes.

        Other work on the machine hardly changes them. Those of ensembles that an earlier cell has fitted are included.
        """
        import worthwhile
        from worthwhile.experiments import peers

        learner = getattr(peers if self.name in peers.__all__ else worthwhile, self.name)(
            costs=costs,
            nominal=cases.nominal,
            columns=cases.columns,
            random_state=seed_of(cell),
            **self.fixed,
            **parameters_of(cell.parameters),
        )
        variant = getattr(learner, "variant", "paper") if self.as_published else "refined"
        published = hasattr(learner, "cross_fit") and variant == "paper"
        if published:
            learner.cross_fit = False  # the papers have plain class shares
        saved, start = _ensembles.saved_seconds, time.process_time()
        with remember_ensembles(_ensembles):
            learner.fit(cases.X, cases.y)
        seconds = time.process_time() - start + _ensembles.saved_seconds - saved
        if published and (tree := vars(learner).get("tree_")) is not None:  # a lazy learner grows none
            # In the papers a case does all tests that the tree asks for, also after a missing value.
            learner.tree_ = Tree(replace(tree.nodes, may_stop=False), tree.context, tree.answer)
        return learner, seconds


@dataclass(frozen=True)
class Row:
    """A row of a table: its label, the learner and its parameters."""

    label: str
    learner: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    curve: str = ""  # the curve of a figure that it is a point of

    def text(self, trials: int | None = None) -> str:
        """Return the parameters as a cell has them; `trials` shortens ICET's search for the quick version."""
        shorter = {"trials": trials} if trials and self.learner == "icet" and not self.curve else {}
        return text_of({**self.parameters, **shorter})

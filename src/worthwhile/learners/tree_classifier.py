"""The base of learners of a single tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from worthwhile.learners.base import CostSensitiveClassifier
from worthwhile.tree.advice import Advice
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.explanation import Explanation
from worthwhile.tree.json_format import Reader, parse_tree, write_tree
from worthwhile.tree.notebook import tree_table
from worthwhile.tree.run import Fetch, Outcome
from worthwhile.tree.tree import Tree

__all__ = ["TreeClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(CostSensitiveClassifier):
    """Base of learners of a single tree. A learner adds its parameters as fields, and `_learn`, which sets `tree_`."""

    def _forget(self) -> None:
        self.__dict__.pop("tree_", None)

    def _tree(self) -> Tree:
        if "tree_" not in self.__dict__:
            check_is_fitted(self, "tree_")
        return self.tree_

    def _route(
        self, X: Any, answers: bool = False, prices: bool = False, shares: bool = False, case_prices: Any = None
    ) -> tuple[Any, Any, Any]:
        tree = self._tree()
        return tree._route(self._read(X), answers, prices, shares, case_prices, self._n_threads())

    def _charged(self, X: Any) -> npt.NDArray[np.uint64]:
        return self._tree()._charged(self._read(X), self._n_threads())

    def next_test(self, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> Advice:
        """Return what to do next for a case with the results `known`; see `Tree.next_test`."""
        return self._tree().next_test(known, already_paid)

    def run(self, case: Mapping[str, Any], fetch: Fetch, already_paid: Iterable[str] = ()) -> Outcome:
        """Follow `next_test` until there is an answer, calling functions that fetch values; see `Tree.run`."""
        return self._tree().run(case, fetch, already_paid)

    def explain(self, case: Mapping[str, Any]) -> Explanation:
        """Return the path of a case through the tree, in words and money; see `Tree.explain`."""
        return self._tree().explain(case)

    def rules(self) -> list[str]:
        """Return one sentence per leaf of the tree, in plain words; see `Tree.rules`."""
        return self._tree().rules()

    def _summary_html(self) -> str:
        return tree_table(self.tree_, type(self).__name__) if "tree_" in self.__dict__ else ""

    def _content(self) -> dict[str, Any]:
        return {"tree": write_tree(self._tree())}

    def _restore(self, reader: Reader, version: int) -> ProblemContext:
        self.tree_ = Tree(*parse_tree(reader.take("tree", dict)))
        return self.tree_.context

"""The base of learners of a single tree."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from worthwhile.learners.base import CostSensitiveClassifier
from worthwhile.learners.cross_fitting import FoldTree, Revision, assess, assessed_tree, can_count, fold_cases
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.training import Training
from worthwhile.tree.advice import Advice
from worthwhile.tree.batch_advice import AdviceColumns, Worklist, advise_tree
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.explanation import Explanation
from worthwhile.tree.json_format import ExpectedCost, Reader, parse_tree, write_tree
from worthwhile.tree.node_paths import normalized_savings
from worthwhile.tree.notebook import tree_table
from worthwhile.tree.run import Fetch, Outcome
from worthwhile.tree.tree import Tree

__all__ = ["TreeClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(CostSensitiveClassifier):
    """Base of learners of a single tree. A learner adds its parameters as fields, and `_learn`, which sets `tree_`."""

    cross_fit: bool = True

    _strength: ClassVar[float | None] = None  # of the shrinkage of class probabilities

    def fit_parts(
        self, parts: Any, target: str, weight: str | None = None, *, case_prices: None = None, case_errors: None = None
    ) -> Self:
        """Learn from more cases than memory holds, in a folder of Parquet files.

        The tree is grown from a stratified sample of all files: from 4,000 cases, then from twice as many and so on,
        until the cost on 10,000 others no longer falls significantly, or the sample has 10 million cells. Then all
        files are read once more, some rows at a time: the class counts of every node, and with them the answers and the
        expected costs, are those of all cases; `expected_cost_` is that of the cases outside the sample. The tree
        depends on the files and `random_state`, not on the workers (`joblib.parallel_config`).

        Parameters
        ----------
        parts : path or list of paths
            A folder with files ``*.parquet``, or a list of files. All must have the same columns, and every worker must
            be able to read them under these paths. Columns of strings, categories and booleans are nominal; a value
            that is not in the sample counts as missing.
        target : str
            The column of the classes.
        weight : str, optional
            The column of the case weights; a case of weight 0 is left out.
        case_prices, case_errors : None
            Not supported: an array for all cases would not fit in memory either. `fit` takes both.

        Returns
        -------
        self
            With ``parts_``, a list of `SampleStep`: what the trees of the growing samples cost.

        Examples
        --------
        >>> import tempfile, pyarrow as pa, pyarrow.parquet, worthwhile as ww
        >>> folder = tempfile.mkdtemp()
        >>> for part in range(4):
        ...     table = pa.table({"age": range(20 + part, 80), "ill": ["no"] * (30 - part) + ["yes"] * 30})
        ...     pa.parquet.write_table(table, f"{folder}/part-{part}.parquet")
        >>> clf = ww.DTMCClassifier(random_state=0).fit_parts(folder, target="ill")
        >>> print(clf.tree_.to_text(expected_costs=False))
        age? (0.00; 100 % of cases)
        ├─ ≤ 49: no (114 of 234 cases, 100% correct)
        └─ > 49: yes (120 of 234 cases, 100% correct)
        """
        from worthwhile.learners.part_files import refuse_case_costs
        from worthwhile.learners.partitioned import check_supported, fit_sampled_parts

        refuse_case_costs(case_prices, case_errors)
        check_supported(self)
        fit_sampled_parts(self, parts, target, weight)
        return self

    def _assess(self, training: Training) -> None:
        tree, found, revision = self._tree(), None, self._revision()
        grown_from = self._grown_from(training)
        deadline = Deadline(getattr(self, "time_limit", None), training.start)
        if self.cross_fit:
            found = assess(_in_time(self._fold_trees(training), deadline), tree.answer, revision)
        self.__dict__.update(_strength=None if found is None else found.strength)
        counted = training if can_count(tree, training, deadline.remaining()) else grown_from
        self.tree_ = assessed_tree(tree, counted, found, revision)

    def _grown_from(self, training: Training) -> Training:
        """Return the cases that the tree was grown from: not all, if the time was too short."""
        return training

    def _revision(self) -> Revision:
        """Return what changes by the final probabilities: answers of refined learners, and tests that do not pay.

        Published learners answer by their cases. Trees that do not minimise cost keep tests that do not pay.
        """
        variant, least_cost = getattr(self, "variant", None), self._tree().answer == "least-cost"
        pays = variant != "paper" and least_cost and self.cross_fit and self._minimises_cost()
        return Revision(answers=variant == "refined" and least_cost, pays=pays)

    def _minimises_cost(self) -> bool:
        """Return whether the tree is grown or pruned to have the lowest total cost."""
        return getattr(self, "prune", "cost") == "cost"

    def _fold_trees(self, training: Training) -> Iterator[FoldTree]:
        """Yield trees that the whole procedure grows from most of the cases, with the cases that were left out."""
        for kept, held_out in fold_cases(training):
            learner = copy.copy(self)
            learner._learn(kept)
            yield FoldTree(learner.tree_._core_tree, kept, held_out)

    def _expected_cost(self) -> ExpectedCost | None:
        check_is_fitted(self)
        tree: Tree | None = self.__dict__.get("tree_")  # a lazy learner may not have grown it yet
        return None if tree is None else tree.expected_cost

    def _forget(self) -> None:
        self.__dict__.pop("tree_", None)

    def _tree(self) -> Tree:
        if "tree_" not in self.__dict__:
            check_is_fitted(self, "tree_")
        return self.tree_

    def _route(
        self,
        X: Any,
        answers: bool = False,
        prices: bool = False,
        shares: bool = False,
        case_prices: Any = None,
        y: Any = None,
    ) -> tuple[Any, Any, Any]:
        tree = self._tree()
        return tree._route(self._read(X), answers, prices, shares, case_prices, self._n_threads(), y)

    def _charged(self, X: Any, case_prices: Any = None) -> npt.NDArray[np.uint64]:
        return self._tree()._charged(self._read(X), self._n_threads(), case_prices)

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Return the leaf that each case ends in, as an index of ``tree_.nodes``; see `Tree.apply`."""
        return self._tree().apply(self._read(X))

    def decision_path(self, X: Any) -> Any:
        """Return the nodes that each case passes, as a sparse matrix; see `Tree.decision_path`."""
        return self._tree().decision_path(self._read(X))

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The share of each test in what all tests save in error costs on the training cases; they add up to 1.

        Prices are not deducted. All are 0 if the tests save nothing. See docs/design/evaluation.md.
        """
        check_is_fitted(self)
        if "tree_" not in self.__dict__:  # scikit-learn looks for it when it shows a learner, which must not take long
            raise AttributeError("a lazy learner has importances once its tree is grown, e.g. by rules()")
        return normalized_savings([self.tree_])

    def next_test(self, known: Mapping[str, Any], already_paid: Iterable[str] = ()) -> Advice:
        """Return what to do next for a case with the results `known`; see `Tree.next_test`."""
        return self._tree().next_test(known, already_paid)

    def _advise(self, cases: Worklist) -> AdviceColumns:
        return advise_tree(self._tree(), cases)

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
        tree = write_tree(self._tree())
        return {"needs": tree.get("needs", []), "tree": tree}

    def _restore(self, reader: Reader, version: int) -> ProblemContext:
        self.tree_ = Tree(*parse_tree(reader.take("tree", dict)))
        return self.tree_.context


def _in_time(trees: Iterable[FoldTree], deadline: Deadline) -> Iterator[FoldTree]:
    """Yield trees until the time is over, but at least one."""
    for tree in trees:
        yield tree
        if deadline.remaining() <= 0:
            return

"""Ensembles of other libraries: their error and what each case pays, tree by tree.

`PlainForest` is scikit-learn's random forest, which ignores prices. `BoostedTrees` is LightGBM with its penalties for
tests (CEGB: Peter, Diego, Hamprecht & Nadler 2017, Cost efficient gradient boosting): *lazy*, where each case pays for
a test once, and *coupled*, where a test is paid for once for all cases. There is no bagging: with it, LightGBM charges
lazy penalties wrongly.

A case pays for all tests on its paths through the trees, each once.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["BoostedTrees", "PlainForest", "StagedCost", "lightgbm_available"]

ROUNDS = (1, 2, 5, 10, 20, 40, 70, 100)  # numbers of boosting rounds to choose from
LEAVES = 63
TRIED = 8  # columns that a node of the plain forest tries, as in the paper

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class StagedCost(NamedTuple):
    """The average price and error of the first trees of an ensemble on some cases."""

    trees: int
    price: float
    error: float


def lightgbm_available() -> bool:
    """Return whether LightGBM is installed, without importing it."""
    return importlib.util.find_spec("lightgbm") is not None


@dataclass
class PlainForest:
    """scikit-learn's random forest."""

    trees: int = 40
    random_state: int = 0
    _model: Any = field(default=None, init=False, repr=False)

    def fit(self, X: Floats, y: npt.NDArray[Any], nominal: Sequence[int] = ()) -> PlainForest:
        """Grow the trees. Nominal columns are used as codes: scikit-learn's trees have nothing better."""
        from sklearn.ensemble import RandomForestClassifier

        tried = min(TRIED, X.shape[1])
        self._model = RandomForestClassifier(self.trees, max_features=tried, random_state=self.random_state).fit(X, y)
        return self

    def staged_costs(self, X: Floats, y: npt.NDArray[Any], prices: Floats) -> Iterator[StagedCost]:
        """Yield the cost of the first 1, 2, … trees."""
        seen, votes = np.zeros(X.shape, dtype=np.bool_), 0.0
        narrow = X.astype(np.float32)  # as scikit-learn does
        for number, member in enumerate(self._model.estimators_, start=1):
            tree = member.tree_
            leaves = tree.apply(narrow)
            seen |= _tests_above(tree.feature, tree.children_left, tree.children_right, X.shape[1])[leaves]
            shares = tree.value[leaves, 0]
            votes = votes + shares / shares.sum(axis=1, keepdims=True)
            wrong = self._model.classes_[votes.argmax(axis=1)] != y
            yield StagedCost(number, float((seen @ prices).mean()), float(wrong.mean()))


def _tests_above(feature: npt.NDArray[Any], left: npt.NDArray[Any], right: npt.NDArray[Any], n_tests: int) -> Bools:
    """Return which tests are on the path to each node; leaves have no children (-1), and children come later.

    Examples
    --------
    >>> _tests_above(np.array([2, -2, 0, -2, -2]), np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1]), 3) * 1
    array([[0, 0, 0],
           [0, 0, 1],
           [0, 0, 1],
           [1, 0, 1],
           [1, 0, 1]])
    """
    above = np.zeros((len(feature), n_tests), dtype=np.bool_)
    for node in np.flatnonzero(left >= 0):
        below = above[node].copy()
        below[feature[node]] = True
        above[left[node]] = above[right[node]] = below
    return above


@dataclass
class BoostedTrees:
    """LightGBM with penalties for tests."""

    kind: str  # "lazy" or "coupled"
    tradeoff: float  # weight of test prices relative to the gain of a split
    random_state: int = 0
    _trees: list[tuple[Bools, Floats]] = field(default_factory=list, init=False, repr=False)

    def fit(self, X: Floats, y: npt.NDArray[Any], prices: Floats, nominal: Sequence[int] = ()) -> BoostedTrees:
        """Boost. Prices are scaled to a mean of 1, so that the same tradeoffs suit all price lists."""
        lightgbm = importlib.import_module("lightgbm")
        self._classes, index = np.unique(y, return_inverse=True)
        several = len(self._classes) > 2
        parameters = {
            "objective": "multiclass" if several else "binary",
            **({"num_class": len(self._classes)} if several else {}),
            "num_leaves": LEAVES,
            f"cegb_penalty_feature_{self.kind}": (prices / prices.mean()).tolist(),
            "cegb_tradeoff": self.tradeoff,
            "seed": self.random_state,
            "deterministic": True,
            "num_threads": 1,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(X, index, categorical_feature=list(nominal), free_raw_data=True)
        self._model = lightgbm.train(parameters, data, num_boost_round=ROUNDS[-1])
        self._trees = [_leaves(tree["tree_structure"], X.shape[1]) for tree in self._model.dump_model()["tree_info"]]
        return self

    def staged_costs(self, X: Floats, y: npt.NDArray[Any], prices: Floats) -> Iterator[StagedCost]:
        """Yield the cost of the first `ROUNDS` rounds, and of all rounds if boosting stopped early."""
        k = len(self._classes) if len(self._classes) > 2 else 1
        leaves = self._model.predict(X, pred_leaf=True, num_threads=1).astype(np.intp).reshape(len(X), -1)
        seen, scores = np.zeros(X.shape, dtype=np.bool_), np.zeros((len(X), k))
        for number, (tests, values) in enumerate(self._trees):
            seen |= tests[leaves[:, number]]
            scores[:, number % k] += values[leaves[:, number]]
            done, rest = divmod(number + 1, k)
            if rest == 0 and (done in ROUNDS or number + 1 == len(self._trees)):
                best = scores.argmax(axis=1) if k > 1 else (scores[:, 0] > 0).astype(int)
                yield StagedCost(done, float((seen @ prices).mean()), float((self._classes[best] != y).mean()))


def _leaves(root: dict[str, Any], n_tests: int) -> tuple[Bools, Floats]:
    """Return, for each leaf of a LightGBM tree, the tests on its path and its value."""
    found: dict[int, tuple[tuple[int, ...], float]] = {}
    waiting: list[tuple[dict[str, Any], tuple[int, ...]]] = [(root, ())]
    while waiting:
        node, above = waiting.pop()
        if "split_feature" in node:
            below = (*above, node["split_feature"])
            waiting += [(node["left_child"], below), (node["right_child"], below)]
        else:
            found[node.get("leaf_index", 0)] = above, node["leaf_value"]  # a tree of one leaf has no index
    tests = np.zeros((len(found), n_tests), dtype=np.bool_)
    for leaf, (above, _) in found.items():
        tests[leaf, list(above)] = True
    return tests, np.array([found[leaf][1] for leaf in range(len(found))])

"""Other libraries' ensembles with prices: what each case pays, tree by tree, and how often they err.

`PlainForest` is scikit-learn's random forest, which knows nothing of prices. `BoostedTrees` is LightGBM with its
penalties for tests (CEGB: Peter, Diego, Hamprecht & Nadler 2017, Cost efficient gradient boosting): *lazy*, where a
case pays for a test once, and *coupled*, where a test is paid for once for all cases. No bagging: with it, LightGBM
charges lazy penalties wrongly.

What a case pays is the price of all tests on its ways through the trees, each once.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["BoostedTrees", "PlainForest", "Step", "lightgbm_available"]

ROUNDS = (1, 2, 5, 10, 20, 40, 70, 100)  # parts of the boosted trees to choose from
LEAVES = 63
TRIED = 8  # columns that a node of the plain forest tries, as in the paper

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Step(NamedTuple):
    """What a part of an ensemble costs on some cases, on average."""

    trees: int
    price: float
    error: float


def lightgbm_available() -> bool:
    """Say whether LightGBM is installed; it is not loaded for that."""
    return importlib.util.find_spec("lightgbm") is not None


@dataclass
class PlainForest:
    """A random forest; its steps are 1, 2, … trees."""

    trees: int = 40
    random_state: int = 0
    _model: Any = field(default=None, init=False, repr=False)

    def fit(self, X: Floats, y: npt.NDArray[Any], nominal: Sequence[int] = ()) -> PlainForest:
        """Grow the trees. Nominal columns count as the numbers of their values, which is all that they can do."""
        from sklearn.ensemble import RandomForestClassifier

        tried = min(TRIED, X.shape[1])
        self._model = RandomForestClassifier(self.trees, max_features=tried, random_state=self.random_state).fit(X, y)
        return self

    def steps(self, X: Floats, y: npt.NDArray[Any], prices: Floats) -> Iterator[Step]:
        """Yield what 1, 2, … trees cost."""
        seen, votes = np.zeros(X.shape, dtype=np.bool_), 0.0
        narrow = X.astype(np.float32)  # as scikit-learn does
        for number, member in enumerate(self._model.estimators_, start=1):
            tree = member.tree_
            leaves = tree.apply(narrow)
            seen |= _tests_above(tree.feature, tree.children_left, tree.children_right, X.shape[1])[leaves]
            shares = tree.value[leaves, 0]
            votes = votes + shares / shares.sum(axis=1, keepdims=True)
            wrong = self._model.classes_[votes.argmax(axis=1)] != y
            yield Step(number, float((seen @ prices).mean()), float(wrong.mean()))


def _tests_above(feature: npt.NDArray[Any], left: npt.NDArray[Any], right: npt.NDArray[Any], n_tests: int) -> Bools:
    """Return which tests are asked on the way to each node; a leaf has no children (-1), and children come later.

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
    """LightGBM with penalties for tests; its steps are `ROUNDS` rounds."""

    kind: str  # "lazy" or "coupled"
    tradeoff: float  # what a test counts, compared with what a split gains
    random_state: int = 0
    _trees: list[tuple[Bools, Floats]] = field(default_factory=list, init=False, repr=False)

    def fit(self, X: Floats, y: npt.NDArray[Any], prices: Floats, nominal: Sequence[int] = ()) -> BoostedTrees:
        """Boost. Prices are scaled to a mean of 1: the same tradeoffs suit all lists then."""
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

    def steps(self, X: Floats, y: npt.NDArray[Any], prices: Floats) -> Iterator[Step]:
        """Yield what the first rounds cost; if boosting stopped early, all that there are."""
        k = len(self._classes) if len(self._classes) > 2 else 1
        leaves = self._model.predict(X, pred_leaf=True, num_threads=1).astype(np.intp).reshape(len(X), -1)
        seen, scores = np.zeros(X.shape, dtype=np.bool_), np.zeros((len(X), k))
        for number, (tests, values) in enumerate(self._trees):
            seen |= tests[leaves[:, number]]
            scores[:, number % k] += values[leaves[:, number]]
            done, rest = divmod(number + 1, k)
            if rest == 0 and (done in ROUNDS or number + 1 == len(self._trees)):
                best = scores.argmax(axis=1) if k > 1 else (scores[:, 0] > 0).astype(int)
                yield Step(done, float((seen @ prices).mean()), float((self._classes[best] != y).mean()))


def _leaves(root: dict[str, Any], n_tests: int) -> tuple[Bools, Floats]:
    """Return, for each leaf of a tree of LightGBM, which tests lead there, and its value."""
    found: dict[int, tuple[tuple[int, ...], float]] = {}
    waiting: list[tuple[dict[str, Any], tuple[int, ...]]] = [(root, ())]
    while waiting:
        node, above = waiting.pop()
        if "split_feature" in node:
            below = (*above, node["split_feature"])
            waiting += [(node["left_child"], below), (node["right_child"], below)]
        else:
            found[node.get("leaf_index", 0)] = above, node["leaf_value"]  # a tree of one leaf does not number it
    tests = np.zeros((len(found), n_tests), dtype=np.bool_)
    for leaf, (above, _) in found.items():
        tests[leaf, list(above)] = True
    return tests, np.array([found[leaf][1] for leaf in range(len(found))])

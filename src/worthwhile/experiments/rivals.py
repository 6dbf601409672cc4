"""Ensembles of other libraries: their error and what each case pays, tree by tree or set by set of tests.

`PlainForest` is scikit-learn's random forest, which ignores prices. `BoostedTrees` is LightGBM with its penalties for
tests (CEGB: Peter, Diego, Hamprecht & Nadler 2017, Cost efficient gradient boosting): *lazy*, where each case pays for
a test once, and *coupled*, where a test is paid for once for all cases. There is no bagging: with it, LightGBM charges
lazy penalties wrongly.

A case pays for all tests on its paths through the trees, each once. `selected_sets` and `catboost_sets` buy the same
tests for all cases: a forest or LightGBM on the first tests by importance and price, and CatBoost with penalties for
the first use of a test.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "BoostedTrees",
    "PlainForest",
    "StagedCost",
    "catboost_available",
    "catboost_sets",
    "lightgbm_available",
    "selected_sets",
]

ROUNDS = (1, 2, 5, 10, 20, 40, 70, 100)  # numbers of boosting rounds to choose from
LEAVES = 63
TRIED = 8  # columns that a node of the plain forest tries, as in the paper
SETS = 9  # numbers of selected tests to choose from, evenly spaced on a logarithmic scale
CATBOOST_ROUNDS, CATBOOST_DEPTH = 200, 6

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


def catboost_available() -> bool:
    """Return whether CatBoost is installed, without importing it."""
    return importlib.util.find_spec("catboost") is not None


Predictor = Callable[[Floats], npt.NDArray[Any]]  # answers of cases


def selected_sets(
    kind: str,
    X: Floats,
    y: npt.NDArray[Any],
    prices: Floats,
    power: float,
    trees: int,
    seed: int,
    nominal: Sequence[int] = (),
) -> Iterator[tuple[Bools, Predictor]]:
    """Yield sets of tests and a forest ("forest") or LightGBM ("boosting") on each.

    The tests of a set are the first ones by a forest's importance divided by a power of the price.
    """
    from sklearn.ensemble import RandomForestClassifier

    importance = RandomForestClassifier(trees, random_state=seed).fit(X, y).feature_importances_
    order = np.argsort(-importance / np.maximum(prices, 1e-9) ** power, kind="stable")
    for size in np.unique(np.geomspace(1, X.shape[1], SETS).round().astype(int)):
        tests = np.zeros(X.shape[1], dtype=np.bool_)
        tests[order[:size]] = True
        model: Any
        if kind == "forest":
            model = RandomForestClassifier(trees, random_state=seed).fit(X[:, tests], y)
        else:
            library = importlib.import_module("lightgbm")
            places = [place for place, test in enumerate(np.flatnonzero(tests).tolist()) if test in nominal]
            model = library.LGBMClassifier(
                n_estimators=ROUNDS[-1], num_leaves=LEAVES, n_jobs=1, random_state=seed, verbosity=-1
            )
            names = [f"x{place}" for place in range(size)]
            model.fit(X[:, tests], y, categorical_feature=places, feature_name=names)
        yield tests, functools.partial(_answers, model, tests)


def _answers(model: Any, tests: Bools, X: Floats) -> npt.NDArray[Any]:
    if hasattr(model, "booster_"):  # its own predict warns about missing names of columns
        shares = model.booster_.predict(X[:, tests], num_threads=1)
        places = (shares > 0.5).astype(int) if shares.ndim == 1 else shares.argmax(axis=1)
        found: npt.NDArray[Any] = model.classes_[places]
        return found
    return np.asarray(model.predict(X[:, tests])).ravel()


def catboost_sets(
    X: Floats, y: npt.NDArray[Any], prices: Floats, coefficient: float, seed: int
) -> Iterator[tuple[Bools, Predictor]]:
    """Yield the tests that CatBoost uses with penalties for their first use, and its answers."""
    library = importlib.import_module("catboost")
    model = library.CatBoostClassifier(
        iterations=CATBOOST_ROUNDS,
        depth=CATBOOST_DEPTH,
        random_seed=seed,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        first_feature_use_penalties=(prices / prices.mean()).tolist(),
        penalties_coefficient=coefficient,
    )
    model.fit(X, y)
    used = np.asarray(model.get_feature_importance()) > 0
    yield used, lambda cases: np.asarray(model.predict(cases)).ravel().astype(y.dtype)


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
        for number, seen, shares in self.staged(X):
            wrong = self._model.classes_[shares.argmax(axis=1)] != y
            yield StagedCost(number, float((seen @ prices).mean()), float(wrong.mean()))

    def staged(self, X: Floats) -> Iterator[tuple[int, Bools, Floats]]:
        """Yield what each case pays for in the first 1, 2, … trees, and its class probabilities."""
        seen, votes = np.zeros(X.shape, dtype=np.bool_), np.zeros((len(X), len(self._model.classes_)))
        narrow = X.astype(np.float32)  # as scikit-learn does
        for number, member in enumerate(self._model.estimators_, start=1):
            tree = member.tree_
            leaves = tree.apply(narrow)
            seen |= _tests_above(tree.feature, tree.children_left, tree.children_right, X.shape[1])[leaves]
            shares = tree.value[leaves, 0]
            votes += shares / shares.sum(axis=1, keepdims=True)
            yield number, seen, votes / number


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
        for done, seen, shares in self.staged(X):
            wrong = self._classes[shares.argmax(axis=1)] != y
            yield StagedCost(done, float((seen @ prices).mean()), float(wrong.mean()))

    def staged(self, X: Floats) -> Iterator[tuple[int, Bools, Floats]]:
        """Yield what each case pays for, and its class probabilities, after those rounds."""
        k = len(self._classes) if len(self._classes) > 2 else 1
        leaves = self._model.predict(X, pred_leaf=True, num_threads=1).astype(np.intp).reshape(len(X), -1)
        seen, scores = np.zeros(X.shape, dtype=np.bool_), np.zeros((len(X), k))
        for number, (tests, values) in enumerate(self._trees):
            seen |= tests[leaves[:, number]]
            scores[:, number % k] += values[leaves[:, number]]
            done, rest = divmod(number + 1, k)
            if rest == 0 and (done in ROUNDS or number + 1 == len(self._trees)):
                yield done, seen, _probabilities(scores)


def _probabilities(scores: Floats) -> Floats:
    """Return class probabilities by the scores of boosting: one score with two classes, otherwise one per class."""
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


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

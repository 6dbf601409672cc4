"""The model of a stage: class probabilities from the tests of a set, and those that hold for new cases."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from worthwhile.learners.cascade.tree_ensemble import TreeEnsemble
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.forest.voting import at_temperature, likeliest_temperature

__all__ = ["BOOSTING", "CHOSEN", "FOREST", "Cases", "StageModel", "fit_model", "importances"]

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

FOREST, BOOSTING, CHOSEN = "forest", "boosting", "chosen"
N_FOLDS = 5
FEW_CLASSES = 3  # in boosting, more classes mean as many trees in every round
MAX_DRAWN = 20_000  # cases that a tree of a forest is grown from
PRIOR = 0.02  # weight of the class shares of all cases: no probability is 0
IMPORTANCE_TREES, IMPORTANCE_LEAF = 60, 3


@dataclass(frozen=True, eq=False)
class Cases:
    """The training cases as a model needs them."""

    features: Singles  # of all tests
    owners: npt.NDArray[np.intp]  # the test of each feature
    classes: npt.NDArray[np.int32]
    n_classes: int
    weights: Floats | None
    n_trees: int
    seed: int
    n_jobs: int
    min_leaf: int = 2  # of the trees of a forest

    def shares(self) -> Floats:
        """Return the class shares of all cases."""
        counts = np.bincount(self.classes, self.weights, minlength=self.n_classes).astype(np.float64)
        found: Floats = counts / counts.sum()
        return found


@dataclass(frozen=True, eq=False)
class StageModel:
    """Class probabilities from the values of some tests.

    Attributes
    ----------
    kind : {"none", "forest", "boosting", "other"}
        "none": the class shares of the training cases.
    features : int array
        The features that it looks at.
    shares : float array
        The class shares of the training cases.
    temperature : float
        Above 1, probabilities are less sure than the model says.
    trees : TreeEnsemble or None
    baseline : float array
        Of boosting: what its trees add to.
    estimator : object
        Of "other": the fitted scikit-learn classifier.
    """

    kind: str
    features: npt.NDArray[np.intp]
    shares: Floats
    temperature: float = 1.0
    trees: TreeEnsemble | None = None
    baseline: Floats | None = None
    estimator: Any = None

    def probabilities(self, features: Singles) -> Floats:
        """Return the class probabilities of cases, given the features of all tests."""
        if self.kind == "none":
            return np.broadcast_to(self.shares, (len(features), len(self.shares)))
        own = np.ascontiguousarray(features[:, self.features])
        return smoothed(self._raw(own), self.shares, self.temperature)

    def _raw(self, own: Singles) -> Floats:
        k = len(self.shares)
        if self.trees is None:
            found = np.zeros((len(own), k))
            found[:, self.estimator.classes_] = self.estimator.predict_proba(own)
            return found
        if self.kind == FOREST:
            return self.trees.sums(own, k) / len(self.trees.roots)
        assert self.baseline is not None
        return boosted_shares(self.trees.sums(own, len(self.baseline)) + self.baseline, k, self.shares)


def smoothed(shares: Floats, prior: Floats, temperature: float) -> Floats:
    """Return probabilities of which none is 0, at a temperature."""
    found = (1 - PRIOR) * shares + PRIOR * prior
    return at_temperature(found / found.sum(axis=1, keepdims=True), temperature)  # trees are in single precision


def boosted_shares(raw: Floats, n_classes: int, prior: Floats) -> Floats:
    """Return class probabilities from the sums of boosted trees; a class without cases gets none."""
    seen = np.flatnonzero(prior > 0)
    if raw.shape[1] == 1:
        one = 1 / (1 + np.exp(-np.clip(raw[:, 0], -500, 500)))
        likely = np.column_stack([1 - one, one])
    else:
        likely = np.exp(raw - raw.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
    found = np.zeros((len(raw), n_classes))
    found[:, seen] = likely
    return found


def fit_model(cases: Cases, tests: frozenset[int], base: Any) -> tuple[StageModel, Floats]:
    """Return the model of a set of tests, and probabilities for the training cases by models not trained on them."""
    features = np.flatnonzero(np.isin(cases.owners, sorted(tests)))
    prior = cases.shares()
    n = len(cases.classes)
    plain = StageModel("none", features, prior), np.broadcast_to(prior, (n, cases.n_classes))
    if not len(features) or (prior > 0).sum() < 2:
        return plain
    own = np.ascontiguousarray(cases.features[:, features])
    if isinstance(base, str) and base == FOREST:
        model, raw = _forest(cases, own, features, prior)
    else:
        found = _out_of_fold(cases, own, features, prior, base)
        if found is None:
            return plain
        model, raw = found
    even = smoothed(raw, prior, 1.0)
    temperature = likeliest_temperature(even, cases.classes.astype(np.intp), cases.weights)
    object.__setattr__(model, "temperature", temperature)
    return model, at_temperature(even, temperature)


def _forest(cases: Cases, own: Singles, features: npt.NDArray[np.intp], prior: Floats) -> tuple[StageModel, Floats]:
    from sklearn.ensemble import RandomForestClassifier  # slow to import

    forest = RandomForestClassifier(
        cases.n_trees,
        min_samples_leaf=cases.min_leaf,
        oob_score=True,
        max_samples=None if len(own) <= MAX_DRAWN else MAX_DRAWN,
        random_state=cases.seed,
        n_jobs=cases.n_jobs,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")
        warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
        forest.fit(own, cases.classes, cases.weights)
    raw = np.zeros((len(own), cases.n_classes))
    raw[:, forest.classes_] = np.nan_to_num(forest.oob_decision_function_)
    unseen = raw.sum(axis=1) == 0
    raw[unseen] = prior
    raw /= raw.sum(axis=1, keepdims=True)
    trees = TreeEnsemble.of_forest(forest, forest.classes_, cases.n_classes)
    return StageModel(FOREST, features, prior, trees=trees), raw


def _out_of_fold(
    cases: Cases, own: Singles, features: npt.NDArray[np.intp], prior: Floats, base: Any
) -> tuple[StageModel, Floats] | None:
    """Fit a classifier to all cases and to folds; None if a class is too rare for folds."""
    counts = np.bincount(cases.classes, minlength=cases.n_classes)
    n_folds = min(N_FOLDS, int(counts[counts > 0].min()))
    if n_folds < 2:
        return None
    folds = stratified_folds(cases.classes, n_folds, np.random.default_rng(cases.seed))
    raw = np.zeros((len(own), cases.n_classes))
    for fold in range(n_folds):
        kept, held_out = folds != fold, folds == fold
        weights = None if cases.weights is None else cases.weights[kept]
        model = _fitted(cases, own[kept], cases.classes[kept], weights, base)
        raw[np.ix_(held_out, model.classes_)] = model.predict_proba(own[held_out])
    whole = _fitted(cases, own, cases.classes, cases.weights, base)
    if isinstance(base, str):
        trees, baseline = TreeEnsemble.of_boosting(whole), np.ravel(whole._baseline_prediction)
        return StageModel(BOOSTING, features, prior, trees=trees, baseline=baseline), raw
    return StageModel("other", features, prior, estimator=whole), raw


def _fitted(cases: Cases, own: Singles, classes: npt.NDArray[np.int32], weights: Floats | None, base: Any) -> Any:
    if isinstance(base, str):
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_iter=cases.n_trees if cases.n_classes <= FEW_CLASSES else max(1, cases.n_trees // 2),
            learning_rate=0.1,
            max_leaf_nodes=15,
            min_samples_leaf=10,
            early_stopping=False,
            random_state=cases.seed,
        )
        with threadpool_limits(cases.n_jobs, user_api="openmp"):  # by itself, it would take all processors
            return model.fit(own, classes, weights)
    model = clone(base)
    if "random_state" in model.get_params(deep=False) and model.get_params(deep=False)["random_state"] is None:
        model.set_params(random_state=cases.seed)
    return model.fit(own, classes) if weights is None else model.fit(own, classes, sample_weight=weights)


def importances(cases: Cases, n_tests: int) -> Floats:
    """Return how much each test helps a forest on all tests; they add up to 1, or are all 0."""
    from sklearn.ensemble import RandomForestClassifier

    found = np.zeros(n_tests)
    if not cases.features.shape[1] or len(np.unique(cases.classes)) < 2:
        return found
    forest = RandomForestClassifier(
        IMPORTANCE_TREES,
        min_samples_leaf=IMPORTANCE_LEAF,
        max_samples=None if len(cases.classes) <= MAX_DRAWN else MAX_DRAWN,
        random_state=cases.seed,
        n_jobs=cases.n_jobs,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")
        forest.fit(cases.features, cases.classes, cases.weights)
    np.add.at(found, cases.owners, forest.feature_importances_)
    return found

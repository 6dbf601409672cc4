"""The model of a stage: class probabilities from the tests of a set, and those that hold for new cases."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from worthwhile import _core
from worthwhile.learners.cascade.tree_ensemble import TreeEnsemble
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.forest.voting import at_temperature, likeliest_temperature

__all__ = ["BOOSTING", "CHOSEN", "FOREST", "Cases", "StageModel", "boosted", "fit_model", "importances"]

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

FOREST, BOOSTING, CHOSEN = "forest", "boosting", "chosen"
N_FOLDS = 5
FEW_CLASSES = 3  # in boosting, more classes mean as many trees in every round
# Of boosting. On car, waveform, glass, vowel, soybean, abalone, tic-tac-toe and nursery, a rate of 0.2 suits held-out
# cases as well as 0.1 with twice as many rounds; 8 or 31 leaves, and leaves of 5 cases, are better on some only.
RATE, LEAVES, MIN_LEAF, COARSE_BINS = 0.2, 15, 10, 63
ROUNDS = (0.1, 0.25, 0.5, 1.0)  # shares of the rounds after which boosting may end
MIN_LIKELIHOOD = 0.005
ROUNDING = 1e-9  # powers differ in the last digit between machines
MAX_DRAWN = 20_000  # cases that a tree of a forest is grown from
PRIOR = 0.02  # weight of the class shares of all cases: no probability is 0
IMPORTANCE_TREES, IMPORTANCE_LEAF = 60, 3


@dataclass(frozen=True)
class ForestShape:
    """How the trees of a forest are grown."""

    min_leaf: int = 2  # cases
    tried: float = 0.5  # of d features, d to the power of this are tried at a node
    random_cuts: bool = False


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

    @functools.cached_property
    def binned(self) -> _core.Binned:
        """The features as forests see them."""
        return _core.Binned(np.ascontiguousarray(self.features))

    @functools.cached_property
    def coarse(self) -> _core.Binned:
        """The features as boosting sees them."""
        return _core.Binned(np.ascontiguousarray(self.features), COARSE_BINS)

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


def fit_model(
    cases: Cases, tests: frozenset[int], base: Any, shape: ForestShape | None = None
) -> tuple[StageModel, Floats]:
    """Return the model of a set of tests, and probabilities for the training cases by models not trained on them."""
    features = np.flatnonzero(np.isin(cases.owners, sorted(tests)))
    prior = cases.shares()
    n = len(cases.classes)
    plain = StageModel("none", features, prior), np.broadcast_to(prior, (n, cases.n_classes))
    if not len(features) or (prior > 0).sum() < 2:
        return plain
    if isinstance(base, str) and base == FOREST:
        model, raw = _forest(cases, features, prior, shape or ForestShape())
    else:
        boosts = isinstance(base, str)
        found = boosted(cases, features, prior) if boosts else _out_of_fold(cases, features, prior, base)
        if found is None:
            return plain
        model, raw = found
    even = smoothed(raw, prior, 1.0)
    temperature = likeliest_temperature(even, cases.classes.astype(np.intp), cases.weights)
    object.__setattr__(model, "temperature", temperature)
    return model, at_temperature(even, temperature)


def _forest(
    cases: Cases, features: npt.NDArray[np.intp], prior: Floats, shape: ForestShape
) -> tuple[StageModel, Floats]:
    nodes, raw, _ = grown_forest(cases, features, cases.n_trees, shape)
    total = raw.sum(axis=1, keepdims=True)
    raw = np.where(total > 0, raw / np.maximum(total, 1e-300), prior)
    return StageModel(FOREST, features, prior, trees=TreeEnsemble.of_forest(nodes)), raw


def grown_forest(
    cases: Cases, features: npt.NDArray[np.intp], n_trees: int, shape: ForestShape
) -> tuple[dict[str, npt.NDArray[Any]], Floats, Floats]:
    """Return nodes, out-of-bag sums of class shares, and what the splits of each feature gain."""
    n, d = len(cases.classes), len(features)
    return _core.random_forest(
        cases.binned,
        features.astype(np.int32),
        cases.classes,
        cases.n_classes,
        cases.weights,
        n_trees=n_trees,
        min_leaf=shape.min_leaf,
        n_tried=max(1, int(d**shape.tried + ROUNDING)),
        n_drawn=min(n, MAX_DRAWN),
        random_cuts=shape.random_cuts,
        seed=cases.seed,
        n_threads=cases.n_jobs,
    )


def _folds(cases: Cases) -> npt.NDArray[np.intp] | None:
    """Return the fold of each case, so that two classes are left without any of them; None if there are none."""
    n_folds = min(N_FOLDS, int(np.sort(np.bincount(cases.classes, minlength=2))[-2]))
    return None if n_folds < 2 else stratified_folds(cases.classes, n_folds, np.random.default_rng(cases.seed))


def boosted(cases: Cases, features: npt.NDArray[np.intp], prior: Floats) -> tuple[StageModel, Floats] | None:
    """Boost trees for as many rounds as suit cases out of fold best; None without folds."""
    folds = _folds(cases)
    if folds is None:
        return None
    seen = np.flatnonzero(prior > 0)
    few = len(seen) <= FEW_CLASSES
    most = cases.n_trees if few else max(1, cases.n_trees // 2)
    marks = sorted({max(1, round(share * most)) for share in ROUNDS})
    nodes, baseline, scores = _core.boosted_trees(
        cases.coarse,
        features.astype(np.int32),
        np.searchsorted(seen, cases.classes).astype(np.int32),
        len(seen),
        cases.weights,
        folds.astype(np.int32),
        n_rounds=most,
        rate=RATE,
        max_leaves=LEAVES,
        min_leaf=MIN_LEAF,
        marks=marks,
        n_threads=cases.n_jobs,
    )
    shares = [boosted_shares(own, cases.n_classes, prior) for own in scores]
    best = min(range(len(marks)), key=lambda at: log_loss(cases, shares[at]))
    trees = TreeEnsemble.of_boosting(nodes, scores.shape[2]).first(marks[best] * scores.shape[2])
    return StageModel(BOOSTING, features, prior, trees=trees, baseline=baseline), shares[best]


def log_loss(cases: Cases, shares: Floats) -> float:
    """Return how unlikely the classes of the cases are; a single sure error does not decide."""
    likely = shares[np.arange(len(shares)), cases.classes]
    return -float(np.average(np.log(np.maximum(likely, MIN_LIKELIHOOD)), weights=cases.weights))


def _out_of_fold(
    cases: Cases, features: npt.NDArray[np.intp], prior: Floats, base: Any
) -> tuple[StageModel, Floats] | None:
    """Fit a classifier to all cases and to folds; None without folds."""
    folds = _folds(cases)
    if folds is None:
        return None
    own = np.ascontiguousarray(cases.features[:, features])
    raw = np.zeros((len(own), cases.n_classes))
    for fold in np.unique(folds):
        kept, held_out = folds != fold, folds == fold
        weights = None if cases.weights is None else cases.weights[kept]
        model = _fitted(cases, own[kept], cases.classes[kept], weights, base)
        raw[np.ix_(held_out, model.classes_)] = model.predict_proba(own[held_out])
    whole = _fitted(cases, own, cases.classes, cases.weights, base)
    return StageModel("other", features, prior, estimator=whole), raw


def _fitted(cases: Cases, own: Singles, classes: npt.NDArray[np.int32], weights: Floats | None, base: Any) -> Any:
    model = clone(base)
    if "random_state" in model.get_params(deep=False) and model.get_params(deep=False)["random_state"] is None:
        model.set_params(random_state=cases.seed)
    return model.fit(own, classes) if weights is None else model.fit(own, classes, sample_weight=weights)


def importances(cases: Cases, n_tests: int) -> Floats:
    """Return how much each test helps a forest on all tests; they add up to 1, or are all 0."""
    found = np.zeros(n_tests)
    if not cases.features.shape[1] or len(np.unique(cases.classes)) < 2:
        return found
    features = np.arange(cases.features.shape[1])
    gains = grown_forest(cases, features, IMPORTANCE_TREES, ForestShape(IMPORTANCE_LEAF))[2]
    np.add.at(found, cases.owners, gains)
    return found / found.sum() if found.sum() > 0 else found

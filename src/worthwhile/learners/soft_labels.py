"""Soft labels: class probabilities by an ensemble that did not see the case.

A tree follows the noise in the labels of its cases. The out-of-bag probabilities of a random forest
and the cross-validated ones of a logistic regression are smoother; the refined learners grow and prune by them. One
tree that learns from many models is an old idea (Breiman & Shang 1996, born-again trees; Domingos 1998, combining
models into one). The two are mixed so that the cases' own labels become most likely (stacking, Wolpert 1992): on the
training sets of 6 splits of Turney's problems, the mixture has 0.02 to 0.05 less log-loss than the forest on bupa,
heart and pima, and equals the forest on thyroid. docs/design/soft-labels.md gives the details.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.learners.folds import stratified_folds, stratified_share
from worthwhile.learners.training import Training
from worthwhile.learners.workload import ensemble_piece, workload
from worthwhile.parallel.workers import without_workers
from worthwhile.table.columns import Columns
from worthwhile.table.schema import Schema

__all__ = [
    "SOFT_LABEL_WEIGHTS",
    "EnsembleMemory",
    "SoftLabels",
    "feature_owners",
    "features_of",
    "features_of_arrays",
    "has_values",
    "remember_ensembles",
    "seconds_needed",
]

Floats = npt.NDArray[np.float64]

SOFT_LABEL_WEIGHTS = (0.0, 0.5, 1.0)  # weights of the ensemble that a search may choose from

N_TREES = 60
MIN_LEAF = 3
MIN_SHARE = 0.02  # smaller probabilities are dropped: they would only make the table longer

N_FOLDS = 10
# With more cases, the models of the folds hardly differ; fitting ten of them took nine tenths of a fit on satimage.
MANY_CASES, FEW_FOLDS = 2_800, 3
# Each model of the ensemble learns from at most this many cases, so that the time grows only with the answers.
MAX_LEARNED = 20_000
REGULARISATION = 0.1  # scikit-learn's C of the logistic regression, on standardised columns
MIN_LIKELIHOOD = 0.005  # a single confident error should not decide the mixture

# Where boosting is in the ensemble: of at most so many cases times classes, for the time it takes; shares below 0.5 %
# are dropped, since nearly certain answers are what it is for.
MAX_BOOSTED, BOOSTING_ROUNDS, MIN_BOOSTED_SHARE = 60_000, 100, 0.005
MIXTURE_STEPS = 100

MAX_VALUES = 50  # one-hot encoding of an identifier would take gigabytes
HUGE = 1e30  # the forest computes in single precision


def has_values(training: Training) -> bool:
    """Return whether any column has a value."""
    return any(values is None or values for values in training.schema.values)


def seconds_needed(training: Training) -> float:
    """Return about how long the ensemble takes, with some time to use its labels."""
    return 1 + min(training.n_cases, MAX_LEARNED) / 1_000 + training.n_cases / 20_000


class SoftLabels:
    """The cases with their own labels, those of an ensemble, and mixtures of both. Made by `own` or `by_ensemble`.

    A case that belongs to two classes in part becomes two rows of the core's table, each with its share of the weight.

    Attributes
    ----------
    training : Training
    soft : bool
        Whether there are labels by an ensemble.
    ensemble_error : float
        Share of the cases that the ensemble misclassifies.
    case, classes, table
        Of each row: the case, the class, and the core's table of all rows.
    """

    def __init__(self, training: Training, shares: Floats | None) -> None:
        n, k = training.n_cases, training.n_classes
        self.training, self.soft, self._shares = training, shares is not None, shares
        self._own = np.zeros((n, k))
        self._own[np.arange(n), training.classes] = 1.0 if training.weights is None else training.weights
        self._ensemble, self.ensemble_error = self._own, 0.0
        self.case, self.classes, self.table = np.arange(n), training.classes, training.table
        if shares is None:
            return
        self._ensemble = shares * self._own.sum(axis=1, keepdims=True)
        right = shares.argmax(axis=1) == training.classes
        self.ensemble_error = float(1 - np.average(right, weights=training.weights))
        self.case, label = np.nonzero(self._own + self._ensemble)
        self.classes = label.astype(np.int32)
        self.table = training.encoded(self.case, self.classes)

    @classmethod
    def own(cls, training: Training) -> SoftLabels:
        """Return the cases with their own labels only."""
        return cls(training, None)

    @classmethod
    def by_ensemble(cls, training: Training, seed: int, n_threads: int, boosted: bool = False) -> SoftLabels:
        """Return the cases with their own labels and those of an ensemble, of which boosted trees may be a part."""
        features = features_of(training.schema, training.columns)
        boosted = boosted and training.n_cases * training.n_classes <= MAX_BOOSTED
        with workload().doing(ensemble_piece(training.n_cases)), without_workers():
            shares = ensemble_shares(
                features, training.classes, training.n_classes, training.weights, seed, n_threads, boosted
            )
        return cls(training, shares)

    def take(self, rows: npt.NDArray[np.intp]) -> SoftLabels:
        """Return the given cases only."""
        return SoftLabels(self.training.take(rows), None if self._shares is None else self._shares[rows])

    @property
    def n_weights(self) -> int:
        """How many of the `SOFT_LABEL_WEIGHTS` there are to choose from."""
        return len(SOFT_LABEL_WEIGHTS) if self.soft else 1

    def weights(self, soft_label_weight: float) -> Floats:
        """Return the weight of every row, given the weight of the ensemble's labels."""
        mixed = (1 - soft_label_weight) * self._own + soft_label_weight * self._ensemble
        found: Floats = mixed[self.case, self.classes]
        return found

    def rows(
        self, soft_label_weight: float, kept: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Any, npt.NDArray[np.int32], Floats | None]:
        """Return table, classes and weights of the rows to grow a tree from, of all cases or of some."""
        training = self.training
        if soft_label_weight == 0:
            some = training if kept is None else training.take(np.flatnonzero(kept))
            return some.table, some.classes, some.weights
        weights = self.weights(soft_label_weight)
        counted = np.flatnonzero(weights if kept is None else weights * kept[self.case])
        return training.encoded(self.case[counted], self.classes[counted]), self.classes[counted], weights[counted]


@dataclass(eq=False)
class EnsembleMemory:
    """The labels by the latest ensembles, and the processor time that remembering them has saved."""

    most: int | None = None  # ensembles to remember; None: all
    saved_seconds: float = 0.0
    _known: dict[bytes, tuple[Floats, float]] = field(default_factory=dict)

    def find(self, key: bytes) -> Floats | None:
        """Return the labels of an ensemble, None if it is not known."""
        if key not in self._known:
            return None
        shares, seconds = self._known[key]
        self.saved_seconds += seconds
        return shares

    def keep(self, key: bytes, shares: Floats, seconds: float) -> None:
        """Remember the labels of an ensemble that took so many seconds, and forget the oldest ones."""
        self._known[key] = shares, seconds
        while self.most is not None and len(self._known) > self.most:
            del self._known[next(iter(self._known))]


_memory: ContextVar[EnsembleMemory | None] = ContextVar("_memory", default=None)


@contextmanager
def remember_ensembles(memory: EnsembleMemory | None = None) -> Iterator[EnsembleMemory]:
    """Within this context, an ensemble is fitted only once to the same cases.

    Its labels do not depend on prices: where the same cases are learned from at many prices, this saves nine tenths of
    the time of a short search on the heart data (1.9 s for the first, 0.2 s for each further one).
    """
    outer = _memory.get()
    known = memory if memory is not None else outer if outer is not None else EnsembleMemory()
    before = _memory.set(known)
    try:
        yield known
    finally:
        _memory.reset(before)


def features_of(schema: Schema, columns: Columns) -> Floats:
    """Return the cases as numbers for scikit-learn, nominal columns one-hot encoded.

    Nominal columns of very many values are ordinal-encoded.
    """
    return features_of_arrays(schema, schema.arrays(columns), columns.n_cases)


def features_of_arrays(schema: Schema, arrays: Sequence[npt.NDArray[Any]], n_cases: int) -> Floats:
    """Return `features_of` of columns as the core has them: numbers, and codes of values."""
    parts: list[Floats] = [np.empty((n_cases, 0))]
    for values, array in zip(schema.values, arrays, strict=True):
        found = array[:, None]
        if values is not None and len(values) <= MAX_VALUES:
            found = found == np.arange(len(values))
        parts.append(found.astype(np.float64))
    return np.clip(np.hstack(parts), -HUGE, HUGE)


def feature_owners(schema: Schema) -> npt.NDArray[np.intp]:
    """Return the column that each feature of `features_of` belongs to.

    Examples
    --------
    >>> feature_owners(Schema(("age", "colour"), (None, ("blue", "green", "red")))).tolist()
    [0, 1, 1, 1]
    """
    widths = [len(v) if v is not None and len(v) <= MAX_VALUES else 1 for v in schema.values]
    return np.repeat(np.arange(len(widths)), widths)


def ensemble_shares(
    features: Floats,
    classes: npt.NDArray[np.int32],
    n_classes: int,
    weights: Floats | None,
    seed: int,
    n_jobs: int,
    boosted: bool = False,
) -> Floats:
    """Return for every case the class probabilities by models not trained on it."""
    memory, fit = _memory.get(), _fit_with_boosting if boosted else _fit_ensemble
    if memory is None:
        return fit(features, classes, n_classes, weights, seed, n_jobs)
    key = hashlib.blake2b(repr((features.shape, n_classes, seed, weights is None, boosted)).encode())
    for array in (features, classes, np.empty(0) if weights is None else weights):
        key.update(array.tobytes())
    if (known := memory.find(key.digest())) is not None:
        return known
    start = time.process_time()
    shares = fit(features, classes, n_classes, weights, seed, n_jobs)
    memory.keep(key.digest(), shares, time.process_time() - start)
    return shares


def _fit_ensemble(
    features: Floats, classes: npt.NDArray[np.int32], n_classes: int, weights: Floats | None, seed: int, n_jobs: int
) -> Floats:
    """Return the probabilities by a forest and a logistic regression."""
    shares = forest = _out_of_bag_shares(features, classes, n_classes, weights, seed, n_jobs)
    logistic = _cross_validated_shares(features, classes, n_classes, weights, seed)
    if logistic is not None:
        share = _likeliest_share(forest, logistic, classes, weights)
        shares = (1 - share) * forest + share * logistic
    return _without_small(shares, MIN_SHARE)


def _fit_with_boosting(
    features: Floats, classes: npt.NDArray[np.int32], n_classes: int, weights: Floats | None, seed: int, n_jobs: int
) -> Floats:
    """Return the probabilities by a forest, a logistic regression and boosted trees."""
    found = [
        _out_of_bag_shares(features, classes, n_classes, weights, seed, n_jobs),
        _cross_validated_shares(features, classes, n_classes, weights, seed),
        _boosted_shares(features, classes, n_classes, weights, seed, n_jobs),
    ]
    members = [shares for shares in found if shares is not None]
    parts = _likeliest_mixture(members, classes, weights)
    mixed: Floats = np.tensordot(parts, np.array(members), axes=1)
    return _without_small(mixed, MIN_BOOSTED_SHARE)


def _without_small(shares: Floats, least: float) -> Floats:
    shares[(shares < least) & (shares < shares.max(axis=1, keepdims=True))] = 0.0
    return shares / shares.sum(axis=1, keepdims=True)


def _boosted_shares(
    features: Floats, classes: npt.NDArray[np.int32], n_classes: int, weights: Floats | None, seed: int, n_jobs: int
) -> Floats | None:
    """Return the probabilities by trees that were boosted on the other folds; None if a class is too rare for folds."""
    from worthwhile.learners.cascade import stage_models

    owners = np.arange(features.shape[1])
    cases = stage_models.Cases(
        features.astype(np.float32), owners, classes, n_classes, weights, BOOSTING_ROUNDS, seed, n_jobs
    )
    if not len(owners) or (np.bincount(classes) > 0).sum() < 2:
        return None
    found = stage_models.boosted(cases, owners, cases.shares())
    return None if found is None else found[1]


def _likeliest_mixture(members: list[Floats], classes: npt.NDArray[np.int32], weights: Floats | None) -> Floats:
    """Return the parts of the members that make the labels most likely, by expectation and maximisation.

    Examples
    --------
    >>> sure, even = np.array([[1.0, 0.0], [0.0, 1.0]]), np.full((2, 2), 0.5)
    >>> _likeliest_mixture([sure, even], np.array([0, 1], dtype=np.int32), None).round(3).tolist()
    [1.0, 0.0]
    """
    rows = np.arange(len(classes))
    likely = np.column_stack([np.maximum(shares[rows, classes], MIN_LIKELIHOOD) for shares in members])
    parts = np.full(len(members), 1 / len(members))
    for _ in range(MIXTURE_STEPS):
        by_case = likely * parts
        parts = np.average(by_case / by_case.sum(axis=1, keepdims=True), axis=0, weights=weights)
    return parts


def _out_of_bag_shares(
    features: Floats, classes: npt.NDArray[np.int32], n_classes: int, weights: Floats | None, seed: int, n_jobs: int
) -> Floats:
    from sklearn.ensemble import RandomForestClassifier  # slow to import, and only the refined learners need it

    forest = RandomForestClassifier(
        N_TREES,
        min_samples_leaf=MIN_LEAF,
        oob_score=True,
        max_samples=None if len(classes) <= MAX_LEARNED else MAX_LEARNED,
        random_state=seed,
        n_jobs=n_jobs,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")  # many classes are fine
        warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
        forest.fit(features, classes, weights)
    shares = np.zeros((len(classes), n_classes))
    shares[:, forest.classes_] = np.nan_to_num(forest.oob_decision_function_)
    # A case in every bootstrap sample, which is rare, keeps its own label.
    unseen = shares.sum(axis=1) == 0
    shares[unseen, classes[unseen]] = 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _cross_validated_shares(
    features: Floats, classes: npt.NDArray[np.int32], n_classes: int, weights: Floats | None, seed: int
) -> Floats | None:
    """Return the probabilities by a logistic regression on the other folds; None if a class is too rare for folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from threadpoolctl import threadpool_limits

    counts = np.bincount(classes, minlength=n_classes)
    n_folds = min(N_FOLDS if len(classes) <= MANY_CASES else FEW_FOLDS, int(counts[counts > 0].min()))
    if n_folds < 2 or (counts > 0).sum() < 2:
        return None
    rng = np.random.default_rng(seed)
    fold_of = stratified_folds(classes, n_folds, rng)
    folds = [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(n_folds)]
    if len(classes) > MAX_LEARNED:
        folds = [(kept[stratified_share(classes[kept], MAX_LEARNED / len(kept), rng)], rest) for kept, rest in folds]
    model = LogisticRegression(C=REGULARISATION, max_iter=500)
    shares = np.zeros((len(classes), n_classes))
    # The matrices are small: threads of the linear algebra cost more than they save (560 x 80, 15 classes: 22 s of
    # processor time with two of them on a busy machine, 8 s with one).
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # if it does not converge, the mixture uses less of it
        found = cross_val_predict(
            model,
            _standardised(features),
            classes,
            cv=folds,
            method="predict_proba",
            params=None if weights is None else {"sample_weight": weights},
        )
    shares[:, np.flatnonzero(counts)] = found
    return shares


def _standardised(features: Floats) -> Floats:
    """Return the columns with mean 0 and standard deviation 1, missing values at the mean."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns with fewer than two values
        columns = (features - np.nanmean(features, axis=0)) / np.nanstd(features, axis=0)
    return np.nan_to_num(columns, nan=0.0, posinf=0.0, neginf=0.0)


def _likeliest_share(forest: Floats, logistic: Floats, classes: npt.NDArray[np.int32], weights: Floats | None) -> float:
    """Return the weight of the logistic regression that makes the labels most likely."""
    rows = np.arange(len(classes))
    first, second = (np.maximum(shares[rows, classes], MIN_LIKELIHOOD) for shares in (forest, logistic))

    def loss(share: float) -> float:
        return -float(np.average(np.log((1 - share) * first + share * second), weights=weights))

    return min(np.linspace(0, 1, 11).tolist(), key=loss)

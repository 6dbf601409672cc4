"""Softer labels for small data: what a forest, asked about cases that it has not seen, says of their classes.

A tree that learns from a few hundred cases follows the accidents of their labels. The out-of-bag shares of a random
forest are smoother; the refined ICET grows and prunes by a mixture of both. That one tree can learn from many is an old
idea (Breiman & Shang 1996, born-again trees; Domingos 1998, combining models into one).
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from worthwhile._encode import Columns, Schema

__all__ = ["features_of", "out_of_bag_shares"]

N_TREES = 60
LEAST_LEAF = 3
SLIGHT = 0.02  # shares below this are left out: they would only make the table longer

MOST_VALUES = 50  # a column per value: identifiers would make a table of gigabytes
HUGE = 1e30  # the forest computes in single precision

Floats = npt.NDArray[np.float64]


def features_of(schema: Schema, columns: Columns) -> Floats:
    """Return the cases as scikit-learn wants them: numbers, and one column per nominal value.

    Nominal columns of very many values are taken for numbers, in the order of their values.
    """
    parts: list[Floats] = [np.empty((columns.n_cases, 0))]
    for j, (values, array) in enumerate(zip(schema.values, columns.arrays, strict=True)):
        if values is None:
            parts.append(schema._numbers(j, array)[:, None])
            continue
        codes = schema._codes(values, array)[:, None]
        if len(values) <= MOST_VALUES:
            codes = codes == np.arange(len(values))
        parts.append(codes.astype(np.float64))
    return np.clip(np.hstack(parts), -HUGE, HUGE)


def out_of_bag_shares(
    features: Floats, classes: npt.NDArray[np.int32], n_classes: int, weights: Floats | None, seed: int, n_jobs: int
) -> Floats:
    """Return for every case the class shares that the trees give that did not learn from it."""
    from sklearn.ensemble import RandomForestClassifier  # slow to import, and only this learner needs it

    forest = RandomForestClassifier(N_TREES, min_samples_leaf=LEAST_LEAF, random_state=seed, n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")  # so many classes are the user's affair
        forest.fit(features, classes, weights)
    n = len(classes)
    shares = np.zeros((n, n_classes))
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        left_out = np.ones(n, dtype=bool)
        left_out[drawn] = False
        rows = np.flatnonzero(left_out)
        shares[np.ix_(rows, forest.classes_)] += tree.predict_proba(
            features[rows].astype(np.float32), check_input=False
        )
    # A case that every tree has seen, which is rare, keeps its own label.
    unseen = shares.sum(axis=1) == 0
    shares[unseen, classes[unseen]] = 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    shares[(shares < SLIGHT) & (shares < shares.max(axis=1, keepdims=True))] = 0.0
    return shares / shares.sum(axis=1, keepdims=True)

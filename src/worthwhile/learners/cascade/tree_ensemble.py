"""The trees of scikit-learn's forests and boosted models as plain arrays, which need no pickle to be saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["TreeEnsemble"]

Floats = npt.NDArray[np.float64]
AT_ONCE = 2**21  # pairs of tree and case that are walked together: 8 MB per array


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """Binary trees whose leaves add up.

    Attributes
    ----------
    feature : int32 (nodes,)
        -1 at a leaf.
    threshold : float32 (nodes,)
        A case goes left if its value is at most this; values are in single precision, too.
    missing_left : bool (nodes,)
        Whether a missing value goes left.
    left, right : int32 (nodes,)
        Children come after their parents.
    value : float32 (nodes, width)
        What a leaf adds.
    roots : int32 (trees,)
    output : int32 (trees,)
        The first output that the leaves of a tree add to.
    """

    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float32]
    missing_left: npt.NDArray[np.bool_]
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    value: npt.NDArray[np.float32]
    roots: npt.NDArray[np.int32]
    output: npt.NDArray[np.int32]

    @classmethod
    def of_forest(
        cls, forest: Any, outputs: npt.NDArray[np.intp] | None = None, width: int | None = None
    ) -> TreeEnsemble:
        """Take the trees of a scikit-learn forest; their values go to these outputs of `width`."""
        parts = []
        for estimator in forest.estimators_:
            tree = estimator.tree_
            values = tree.value[:, 0, :] if outputs is not None else tree.value[:, :, 0]
            if outputs is not None:
                full = np.zeros((len(values), width or len(outputs)))
                full[:, outputs] = values / values.sum(axis=1, keepdims=True)
                values = full
            leaf = tree.children_left < 0
            parts.append(
                (
                    np.where(leaf, -1, tree.feature),
                    tree.threshold,
                    np.asarray(tree.missing_go_to_left, dtype=np.bool_),
                    np.where(leaf, -1, tree.children_left),
                    np.where(leaf, -1, tree.children_right),
                    values,
                )
            )
        return cls._joined(parts, np.zeros(len(parts), dtype=np.int32))

    @classmethod
    def of_boosting(cls, model: Any) -> TreeEnsemble:
        """Take the trees of a fitted `HistGradientBoostingClassifier` without categorical features."""
        parts, output = [], []
        for trees in model._predictors:
            for at, predictor in enumerate(trees):
                nodes = predictor.nodes
                leaf = nodes["is_leaf"].astype(np.bool_)
                parts.append(
                    (
                        np.where(leaf, -1, nodes["feature_idx"].astype(np.int64)),
                        nodes["num_threshold"],
                        nodes["missing_go_to_left"].astype(np.bool_),
                        np.where(leaf, -1, nodes["left"].astype(np.int64)),
                        np.where(leaf, -1, nodes["right"].astype(np.int64)),
                        nodes["value"][:, None],
                    )
                )
                output.append(at)
        return cls._joined(parts, np.array(output, dtype=np.int32))

    @classmethod
    def _joined(cls, parts: list[tuple[Any, ...]], output: npt.NDArray[np.int32]) -> TreeEnsemble:
        sizes = [len(part[0]) for part in parts]
        roots = np.concatenate([[0], np.cumsum(sizes)])[:-1]
        feature, threshold, missing, left, right, value = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        offset = np.repeat(roots, sizes)
        inner = feature >= 0
        return cls(
            feature.astype(np.int32),
            rounded_down(np.where(inner, threshold, 0.0)),
            missing & inner,
            np.where(inner, left + offset, -1).astype(np.int32),
            np.where(inner, right + offset, -1).astype(np.int32),
            np.where(inner[:, None], 0.0, value).astype(np.float32),
            roots.astype(np.int32),
            output,
        )

    def sums(self, features: npt.NDArray[np.float32], n_outputs: int) -> Floats:
        """Return the sum over all trees, by case and output."""
        found = np.zeros((len(features), n_outputs))
        step = max(1, AT_ONCE // max(len(self.roots), 1))
        for first in range(0, len(features), step):
            found[first : first + step] = self._sums(features[first : first + step], n_outputs)
        return found

    def _sums(self, features: npt.NDArray[np.float32], n_outputs: int) -> Floats:
        n, n_trees = len(features), len(self.roots)
        leaves = np.empty(n * n_trees, dtype=np.int32)
        pair = np.arange(n * n_trees)
        row, node = pair % n, np.repeat(self.roots, n)
        while len(pair):
            feature = self.feature[node]
            ended = feature < 0
            if ended.any():
                leaves[pair[ended]] = node[ended]
                going = ~ended
                pair, row, node, feature = pair[going], row[going], node[going], feature[going]
            values = features[row, feature]
            goes_left = (values <= self.threshold[node]) | (np.isnan(values) & self.missing_left[node])
            node = np.where(goes_left, self.left[node], self.right[node])
        found = np.zeros((n, n_outputs))
        for tree, own in enumerate(leaves.reshape(n_trees, n)):  # in order: sums must not depend on the other cases
            first = self.output[tree]
            found[:, first : first + self.value.shape[1]] += self.value[own]
        return found

    def checked(self, n_features: int, n_outputs: int, where: str) -> TreeEnsemble:
        """Return the ensemble if every walk through it ends; otherwise raise an error."""
        n = len(self.feature)
        inner = self.feature >= 0
        own = np.arange(n)
        alike = all(
            array.shape == (n,) for array in (self.feature, self.threshold, self.missing_left, self.left, self.right)
        )
        fits = alike and self.value.ndim == 2 and len(self.value) == n and self.roots.shape == self.output.shape
        if not (
            fits
            and np.isfinite(self.value).all()
            and not np.isnan(self.threshold).any()
            and _within(self.roots, 0, n)
            and _within(self.output, 0, n_outputs - self.value.shape[1] + 1)
            and _within(self.feature[inner], 0, n_features)
            and all(
                _within(child[inner], 0, n) and bool((child[inner] > own[inner]).all())
                for child in (self.left, self.right)
            )
        ):
            raise ValueError(f"the trees of {where} do not fit together")
        return self


def _within(numbers: npt.NDArray[Any], low: int, high: int) -> bool:
    return bool(((numbers >= low) & (numbers < high)).all())


def rounded_down(thresholds: Floats) -> npt.NDArray[np.float32]:
    """Return thresholds in single precision: a value in single precision is on the same side as before.

    Examples
    --------
    >>> rounded_down(np.array([0.1, 2.5])).tolist()
    [0.09999999403953552, 2.5]
    """
    with np.errstate(over="ignore"):
        found = thresholds.astype(np.float32)
    return np.where(found > thresholds, np.nextafter(found, np.float32(-np.inf)), found)

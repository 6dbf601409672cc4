"""The trees of forests and boosted models as plain arrays, which need no pickle to be saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core

__all__ = ["TreeEnsemble"]

Floats = npt.NDArray[np.float64]


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
    def of_forest(cls, nodes: Mapping[str, npt.NDArray[Any]]) -> TreeEnsemble:
        """Take the trees of a random forest of the core: every leaf adds class shares."""
        return cls._of_nodes(nodes, np.zeros(len(nodes["roots"]), dtype=np.int32))

    @classmethod
    def of_boosting(cls, nodes: Mapping[str, npt.NDArray[Any]], n_outputs: int) -> TreeEnsemble:
        """Take the boosted trees of the core: in every round, one per output."""
        return cls._of_nodes(nodes, np.arange(len(nodes["roots"]), dtype=np.int32) % n_outputs)

    @classmethod
    def _of_nodes(cls, nodes: Mapping[str, npt.NDArray[Any]], output: npt.NDArray[np.int32]) -> TreeEnsemble:
        return cls(**{**nodes, "missing_left": nodes["missing_left"].astype(np.bool_)}, output=output)

    def first(self, n_trees: int) -> TreeEnsemble:
        """Return the ensemble of the first trees."""
        if n_trees >= len(self.roots):
            return self
        end = int(self.roots[n_trees])
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        short = ("roots", "output")
        return TreeEnsemble(**{name: own[: n_trees if name in short else end] for name, own in arrays.items()})

    def sums(self, features: npt.NDArray[np.float32], n_outputs: int) -> Floats:
        """Return the sum over all trees, by case and output."""
        arrays = {field.name: np.ascontiguousarray(getattr(self, field.name)) for field in fields(self)}
        return _core.sum_leaves(np.ascontiguousarray(features), n_outputs, **arrays)

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

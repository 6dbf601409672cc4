"""The node table of a tree."""

from __future__ import annotations

import copyreg
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core

__all__ = ["Nodes"]


@dataclass(frozen=True, eq=False)
class Nodes:
    """The flat node table. Node 0 is the root; the children of a node are adjacent and come after it.

    Attributes
    ----------
    test : int32 (n,)
        Column that the node tests; -1 for a leaf.
    threshold : float64 (n,)
        Numeric tests: values up to the threshold go to the first child.
    first_child, n_children : int32 (n,)
    map_start, map_size : int32 (n,)
        Nominal tests: ``maps[map_start:map_start + map_size]`` is the branch of each value code (-1: no
        branch). map_start is -1 for numeric tests and leaves.
    maps : int32
    answer : int32 (n,)
        Index of the answer of the node, also of inner nodes.
    weights : float64 (n, classes)
        Weight of the training cases of each class.
    believed : float64 (n, classes), optional
        The class weights that the tree was grown from, where they differ: soft labels, or cases weighted by what an
        error costs. They decide where a case with a missing value goes, and majority answers.
    probabilities : float64 (n, classes), optional
        Class probabilities of a new case at the node; None: the class shares of its weights. All expected costs are
        computed from them.
    may_stop : bool
        Whether a case with an unavailable test stops where no further test pays; False: it does all tests that the tree
        asks for, as in the papers.
    commits : uint8 (n,), optional
        1 where the test is ordered together with everything that may follow, instead of waiting for it alone.
    surcharges : float64 (n, surcharges), optional
        What each surcharge is expected to add for a case that reaches the node.
    answer_costs : float64 (n, answers), optional
        What each answer is expected to cost in errors for a new case at the node, where errors cost each case something
        else; None: by the probabilities and the error costs.
    """

    test: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    first_child: npt.NDArray[np.int32]
    n_children: npt.NDArray[np.int32]
    map_start: npt.NDArray[np.int32]
    map_size: npt.NDArray[np.int32]
    maps: npt.NDArray[np.int32]
    answer: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]
    believed: npt.NDArray[np.float64] | None = None
    probabilities: npt.NDArray[np.float64] | None = None
    may_stop: bool = True
    commits: npt.NDArray[np.uint8] | None = None
    surcharges: npt.NDArray[np.float64] | None = None
    answer_costs: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Nodes, tuple(vars(self).values())  # copies of arrays are writeable; the constructor freezes them

    @classmethod
    def from_core(cls, core: Any) -> Nodes:
        """Return the node table of a tree of the core."""
        names = set(cls.__dataclass_fields__) - {"believed", "probabilities", "commits", "surcharges", "answer_costs"}
        commits = core.commits
        return cls(**{name: getattr(core, name) for name in names}, commits=commits if commits.any() else None)

    def to_core(self) -> Any:
        """Return the tree as the core's object."""
        arrays = dict(vars(self))
        if (grown := arrays.pop("believed")) is not None:
            arrays |= {"weights": grown, "reached": self.weights.sum(axis=1)}
        return _core.Tree(n_classes=self.weights.shape[1], **arrays)

    def committed(self, node: int) -> bool:
        """Return whether the test of a node is ordered together with everything that may follow."""
        return self.commits is not None and bool(self.commits[node])

    def children(self, node: int) -> range:
        """Return the indices of the children of a node."""
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def cut_at(self, cut: npt.NDArray[np.bool_]) -> Nodes:
        """Return the table with leaves in the place of some nodes, and without what was below them."""
        kept = [0]
        first_child = []
        for node in kept:
            children = [] if cut[node] else self.children(node)
            first_child.append(len(kept) if children else -1)
            kept.extend(children)
        rows = np.array(kept)
        leaf = np.array(first_child, dtype=np.int32) < 0
        arrays = {
            name: array[rows]
            for name, array in vars(self).items()
            if isinstance(array, np.ndarray) and name not in ("first_child", "maps")
        }
        for name, value in (("test", -1), ("threshold", 0), ("n_children", 0), ("map_start", -1), ("map_size", 0)):
            arrays[name][leaf] = value
        return replace(self, first_child=np.array(first_child, dtype=np.int32), **arrays)

    def branch_of(self, node: int) -> list[int]:
        """Return the branch of each value code of a nominal node."""
        start = int(self.map_start[node])
        return [int(b) for b in self.maps[start : start + int(self.map_size[node])]]

    def shares(self, node: int) -> list[float]:
        """Return the share of a case with a missing value that goes down each branch."""
        return self._divided(node, self.weights if self.believed is None else self.believed)

    def frequencies(self, node: int) -> list[float]:
        """Return the share of the training cases at a node that go down each branch."""
        return self._divided(node, self.weights)

    def _divided(self, node: int, weights: npt.NDArray[np.float64]) -> list[float]:
        each = [float(weights[child].sum()) for child in self.children(node)]
        total = sum(each)
        return [w / total if total > 0 else 1 / len(each) for w in each]


def _from_nodes(nodes: Nodes) -> Any:
    return nodes.to_core()


# Trees of the core travel to other processes as their nodes.
copyreg.pickle(_core.Tree, lambda core: (_from_nodes, (Nodes.from_core(core),)))

"""Many cases in the node table: the nodes that they pass, the leaf of each, and what each test saves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile.table.columns import Columns

if TYPE_CHECKING:
    from worthwhile.tree.tree import Tree

__all__ = ["decision_path", "leaves_of", "normalized_savings", "savings"]

Floats = npt.NDArray[np.float64]


def _visits(tree: Tree, columns: Columns) -> list[tuple[npt.NDArray[np.intp], Floats]]:
    """Return, for every node, the cases that pass it and the share of each.

    A case whose value is missing, or has no branch, goes down all branches in proportion to their weight.
    """
    nodes, arrays = tree.nodes, tree.schema.arrays(columns)
    nothing = np.zeros(0, dtype=np.intp), np.zeros(0)
    visits = [nothing] * tree.n_nodes
    visits[0] = np.arange(columns.n_cases), np.ones(columns.n_cases)
    for node in range(tree.n_nodes):  # children come after their parents
        test = int(nodes.test[node])
        rows, shares = visits[node]
        if test < 0 or not len(rows):
            continue
        values = arrays[test][rows]
        if nodes.map_start[node] < 0:
            branch = np.where(np.isnan(values), -1, values > nodes.threshold[node])
        else:
            branch = np.array([*nodes.branch_of(node), -1])[values]  # code -1: missing
        lost = branch < 0
        for b, part in enumerate(nodes.shares(node)):
            here = branch == b
            both = here | lost if part > 0 else here
            visits[nodes.children(node)[b]] = rows[both], shares[both] * np.where(here[both], 1.0, part)
    return visits


def leaves_of(tree: Tree, columns: Columns) -> npt.NDArray[np.int64]:
    """Return the leaf of every case; see `Tree.apply`."""
    found, largest = np.zeros(columns.n_cases, dtype=np.int64), np.zeros(columns.n_cases)
    for node, (rows, shares) in enumerate(_visits(tree, columns)):
        if tree.nodes.test[node] < 0:
            more = shares > largest[rows] * (1 + 1e-12)  # ties go to the first, whatever the rounding
            found[rows[more]], largest[rows[more]] = node, shares[more]
    return found


def decision_path(tree: Tree, columns: Columns) -> Any:
    """Return which nodes every case passes, as a sparse matrix; see `Tree.decision_path`."""
    from scipy.sparse import csr_matrix

    visits = _visits(tree, columns)
    rows = np.concatenate([rows for rows, _ in visits])
    passed = np.repeat(np.arange(tree.n_nodes), [len(rows) for rows, _ in visits])
    return csr_matrix((np.ones(len(rows), dtype=np.int64), (rows, passed)), shape=(columns.n_cases, tree.n_nodes))


def savings(tree: Tree) -> Floats:
    """Return what each test saves in error cost per training case, before its price.

    A node that asks a test saves the expected error cost of the best answer there minus that of the best answers in its
    branches, times the share of the training cases that reach it. Over all tests this adds up to the error cost of the
    best single answer minus that of the best answers in the leaves.
    """
    nodes = tree.nodes
    total = float(nodes.weights[0].sum())
    found = np.zeros(len(tree.columns))
    if total > 0:
        costs = _error_costs(tree).min(axis=1) / total
        for node in np.flatnonzero(nodes.test >= 0).tolist():
            children = nodes.children(node)
            found[nodes.test[node]] += costs[node] - costs[children.start : children.stop].sum()
    return np.maximum(found, 0.0)  # only rounding, or weights written by hand, can make it negative


def _error_costs(tree: Tree) -> Floats:
    """Return what each answer costs the training cases of each node, added up."""
    weights = tree.nodes.weights
    if tree.nodes.answer_costs is None:
        return weights @ tree.error_costs
    return weights.sum(axis=1, keepdims=True) * tree.nodes.answer_costs


def normalized_savings(trees: Sequence[Tree]) -> Floats:
    """Return the mean of what each test saves in these trees, divided by its sum; zeros if nothing is saved."""
    found = np.mean([savings(tree) for tree in trees], axis=0)
    total = float(found.sum())
    shares: Floats = found / total if total > 0 else found
    return shares

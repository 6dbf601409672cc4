"""All trees of a tiny problem, one by one, and what each costs: the oracle of exact search."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

import reference as ref
from problems import random_problem, with_all_prices


def splits(problem):
    """All ways to ask all tests: (column, threshold, code -> branch, branches)."""
    for t, (column, v) in enumerate(zip(problem.columns, problem.n_values, strict=True)):
        if v:
            for level in [list(range(v)), *problem.levels.get(t, [])]:
                yield t, None, level, max(level) + 1
        else:
            for threshold in np.unique(column)[:-1]:
                yield t, float(threshold), None, 2


def all_trees(problem, depth):
    """All trees up to a depth, with all choices of nodes that order everything below them."""
    yield ref.Node(np.zeros(problem.k))
    if depth == 0:
        return
    below = list(all_trees(problem, depth - 1))
    for t, threshold, level, n in splits(problem):
        slow = bool(problem.waiting) and any(problem.wait[u] > 0 for u in ref.closure(problem, t))
        for children in itertools.product(below, repeat=n):
            for commits in (False, True) if slow and any(child.children for child in children) else (False,):
                yield ref.Node(np.zeros(problem.k), 0, list(children), t, threshold, level, commits)


def dearest(problem):
    """The highest price of each test, by the list or of any case: a tree must keep the cap for all of them."""
    return np.max([problem.marginal, *([] if problem.case_prices is None else problem.case_prices)], axis=0)


def cost_of(problem, node, rows, leaf_price, paid=frozenset()):
    """What a subtree costs some training cases together; infinite if it may break the cap."""
    if not node.children:
        errors = np.array(problem.errors)[problem.y[rows]] * problem.weights[rows][:, None]
        return float(errors.sum(axis=0).min()) + leaf_price if len(rows) else leaf_price
    anyone = problem.case(rows[0] if len(rows) else 0)
    charged = ref.charged_after(problem, node, anyone, paid)
    if not ref.within_cap(problem, charged, dearest(problem)):
        return math.inf
    total = sum(
        problem.weights[row] * ref.price_of_more(problem, charged, paid, ref.amounts_of_row(problem, row))
        for row in rows
    )
    branch = np.array([ref.branch_taken(node, problem.case(row)) for row in rows])
    for b, child in enumerate(node.children):
        total += cost_of(problem, child, rows[branch == b] if len(rows) else rows, leaf_price, frozenset(charged))
    return total


def small(rng, n_columns, n_rows=8, prices=True):
    """A problem without missing values, with few values of each test."""
    problem = random_problem(rng, n_rows, n_columns)
    n, columns, n_values = len(problem.y), [], []
    for v in problem.n_values:
        values = rng.integers(0, min(v, 3) if v else 3, n)
        columns.append(values if v else values.astype(float))
        n_values.append(min(v, 3))
    weights = rng.choice([1.0, 1.0, 2.0, 0.5], n)
    problem = replace(problem, columns=columns, n_values=n_values, weights=weights, levels={})
    levels = {t: [[0, 1, 1], [0, 1, 0], [0, 0, 1]] for t, v in enumerate(n_values) if v == 3 and rng.random() < 0.5}
    problem = replace(problem, levels=levels)
    return with_all_prices(rng, problem) if prices else problem

"""What the golden net covers: every learner, with everything that changes its path, on real and on random problems.

Parameters that are renamed change here; the names of the entries, which `golden.json` knows, stay.
"""

from __future__ import annotations

import hashlib
import json
import unittest.mock
import warnings
from typing import NamedTuple

import numpy as np

import worthwhile as ww


class Problem(NamedTuple):
    """Cases to learn from, and what a learner must be told about them."""

    X: np.ndarray
    y: np.ndarray
    known: dict
    weights: np.ndarray | None = None


def bundled(name):
    """A bundled data set with its published prices."""
    data = ww.datasets.load(name, as_frame=False)
    return Problem(data.X, data.y, {"costs": data.costs, "nominal": data.nominal, "columns": data.feature_names})


def random_problem(seed, n=130, missing=0.0, reject=False, weights=False, free=False):
    """Three numeric and three nominal columns; groups, delays, a computed test; two or three classes."""
    rng = np.random.default_rng(seed)
    k = 2 + seed % 2
    numbers = np.round(rng.normal(size=(n, 3)), 2)
    codes = rng.integers(0, 4, (n, 3))
    score = numbers[:, 0] + 0.8 * (codes[:, 0] > 1) - 0.6 * (codes[:, 1] == 2) + 0.4 * rng.normal(size=n)
    y = np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, np.arange(1, k) / k))]
    X = np.empty((n, 6), dtype=object)
    X[:, :3] = numbers
    X[:, 3:] = np.array(["p", "q", "r", "s"])[codes]
    X[rng.random((n, 6)) < missing] = None
    labels = np.unique(y).tolist()
    errors = {t: {a: float(rng.integers(20, 90)) for a in labels if a != t} for t in labels}
    if reject:
        errors = {t: row | {"refer": 9.0} for t, row in errors.items()}
    tests = {
        "x0": ww.Test(4.0, group="g"),
        "x1": ww.Test(2.5, group="g", delayed=seed % 3 == 0),
        "x2": 1.0,
        "x3": ww.Test(3.0, group="h", delayed=True),
        "x4": ww.Test(1.5, group="h"),
        "x5": ww.Test(0.0, requires=("x2", "x4")),
    }
    costs = None if free else ww.Costs(tests=tests, groups={"g": 2.0, "h": 1.25}, errors=errors)
    return Problem(X, y, {"costs": costs}, rng.integers(1, 4, n) / 2 if weights else None)


PROBLEMS = {
    "bupa": lambda: bundled("bupa"),
    "heart": lambda: bundled("heart"),
    "pima": lambda: bundled("pima"),
    "two": lambda: random_problem(0),
    "three": lambda: random_problem(1),
    "missing": lambda: random_problem(2, missing=0.15),
    "missing-delayed": lambda: random_problem(3, missing=0.1),
    "weights": lambda: random_problem(4, weights=True),
    "reject": lambda: random_problem(6, reject=True),
    "free": lambda: random_problem(5, free=True),
    "tangled": lambda: random_problem(9, missing=0.1, reject=True, weights=True),
}
ALL = tuple(PROBLEMS)
RANDOM = ALL[3:]
HIERARCHIES = {"x3": {"p": "pq", "q": "pq", "r": "rs", "s": "rs"}}
SHORT = {"population": 12, "trials": 80, "random_state": 3}

GREEDY = {
    "c45": (ww.C45Classifier, {}, ALL),
    "c45-mdl": (ww.C45Classifier, {"mdl_correction": True}, RANDOM),
    "c45-unpruned": (ww.C45Classifier, {"prune": "none", "max_depth": 4}, RANDOM),
    "c45-cost": (ww.C45Classifier, {"prune": "cost", "answer": "least-cost"}, ALL),
    "c45-no-raising": (ww.C45Classifier, {"raise_subtrees": False, "confidence": 0.1, "min_cases": 4}, RANDOM),
    "c45-weighting": (ww.C45Classifier, {"weighting": "instance"}, ("heart", "reject", "tangled")),
    "c45cs": (ww.C45CSClassifier, {}, ALL),
    "c45cs-altered": (ww.C45CSClassifier, {"priors": "altered"}, ("heart", "two", "weights")),
    "c45cs-max": (ww.C45CSClassifier, {"vector": "max"}, ("three", "tangled")),
    "c45cs-soft": (ww.C45CSClassifier, {"soft_label_weight": 0.5, "random_state": 0}, ("heart", "three", "tangled")),
    "c45cs-chosen": (
        ww.C45CSClassifier,
        {"soft_label_weight": "chosen", "preset": "chosen", "random_state": 0},
        ("bupa", "two"),
    ),
    "eg2": (ww.EG2Classifier, {}, ALL),
    "eg2-cost": (ww.EG2Classifier, {"prune": "cost", "context": True, "omega": 0.5, "answer": "least-cost"}, ALL),
    "eg2-hierarchies": (ww.EG2Classifier, {"hierarchies": HIERARCHIES}, ("two", "missing", "tangled")),
    "idx": (ww.IDXClassifier, {}, ALL),
    "idx-ahead": (ww.IDXClassifier, {"lookahead": 2, "prune": "cost"}, ("bupa", "two", "missing", "tangled")),
    "csid3": (ww.CSID3Classifier, {"context": True}, ALL),
    "csid3-lazy": (ww.CSID3Classifier, {"lazy": True, "prune": "none"}, ("two", "missing", "tangled")),
    "dtmc": (ww.DTMCClassifier, {}, ALL),
    "dtmc-pruned": (ww.DTMCClassifier, {"prune": "cost"}, ALL),
}
SEARCHES = {
    "lsid3": (ww.LSID3Classifier, {"r": 2, "random_state": 1}, ("bupa", "two", "missing", "tangled")),
    "act-paper": (ww.ACTClassifier, {"variant": "paper", "r": 3, "random_state": 1}, ALL),
    "act-greedy": (ww.ACTClassifier, {"variant": "paper", "r": 0}, RANDOM),
    "act-pruned": (ww.ACTClassifier, {"variant": "paper", "r": 2, "samples": "pruned", "random_state": 2}, RANDOM),
    "act": (ww.ACTClassifier, {"r": 2, "random_state": 1}, ALL),
    "act-weighting": (ww.ACTClassifier, {"r": 1, "random_state": 1, "weighting": "instance"}, ("heart", "reject")),
    "optimal": (ww.OptimalClassifier, {"thresholds": 3, "random_state": 1}, ("bupa", "missing", "tangled")),
    "optimal-plain": (
        ww.OptimalClassifier,
        {"thresholds": 3, "max_depth": 3, "soft_labels": 0, "leaf_price": 0.1},
        ("heart", "reject", "tangled"),
    ),
    "icet-paper": (ww.ICETClassifier, {"variant": "paper", **SHORT}, ALL),
    "icet-binary": (ww.ICETClassifier, {"variant": "paper", "search": "binary", "seeded": False, **SHORT}, RANDOM),
    "icet": (ww.ICETClassifier, SHORT, ALL),
    "icet-refined-binary": (ww.ICETClassifier, {"search": "binary", **SHORT}, ("two", "missing", "tangled")),
}
FOREST = {"variant": "paper", "max_trees": 6, "random_state": 4}
FORESTS = {
    "forest": (ww.BudgetForestClassifier, {"budget": 8.0, "alpha": [0, 8], **FOREST}, ALL),
    "forest-paper": (
        ww.BudgetForestClassifier,
        {"budget": 9.0, "sampling": "drawn", "validation": None, **FOREST},
        RANDOM,
    ),
    "forest-weighted": (ww.BudgetForestClassifier, {"sampling": "weighted", "context": True, **FOREST}, RANDOM),
    "forest-powers": (
        ww.BudgetForestClassifier,
        {"impurity": "powers", "splits": "expected", **FOREST},
        ("pima", "two"),
    ),
    "forest-exact": (ww.BudgetForestClassifier, {"cuts": "exact", "max_depth": 5, **FOREST}, ("pima", "tangled")),
    "forest-adaptive": (ww.BudgetForestClassifier, {"adaptive": True, "budget": 6.0, **FOREST}, ALL),
    "forest-worth": (ww.BudgetForestClassifier, {"adaptive": True, **FOREST}, ("heart", "three", "tangled")),
    "forest-settled": (ww.BudgetForestClassifier, {"adaptive": "settled", **FOREST}, ("pima", "missing")),
    "forest-chosen": (
        ww.BudgetForestClassifier,
        {"tests": "chosen", "budget": 6.0, **FOREST},
        ("pima", "two", "tangled"),
    ),
}
CASCADE = {"base": "forest", "n_trees": 4, "random_state": 4}
CASCADES = {
    "cascade": (ww.CascadeClassifier, CASCADE, ALL),
    "cascade-budget": (ww.CascadeClassifier, {"budget": 5.0, **CASCADE}, ("pima", "two", "tangled")),
    "cascade-cap": (ww.CascadeClassifier, {"cap": 7.0, "weighting": "instance", **CASCADE}, ("heart", "three")),
}
CHOOSING = {
    "auto": (ww.AutoClassifier, {"learners": ("dtmc", "eg2"), "random_state": 4}, ("heart", "two", "three")),
}
LEARNERS = GREEDY | SEARCHES | FORESTS | CASCADES | CHOOSING
ENTRIES = [f"{name}/{problem}" for name, (_, _, problems) in LEARNERS.items() for problem in problems]


def learn(entry, n_jobs):
    """The fitted learner of an entry, and its problem."""
    name, problem = entry.split("/")
    learner, parameters, _ = LEARNERS[name]
    cases = PROBLEMS[problem]()
    clf = learner(**cases.known, **parameters, n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "BudgetForestClassifier: budget=")  # small forests spend little
        return clf.fit(cases.X, cases.y, sample_weight=cases.weights), cases


def plain_ensemble(features, classes, n_classes, weights, seed, n_jobs):
    """Soft labels by counting: scikit-learn's models have other digits in other releases and on other processors."""
    weights = np.ones(len(classes)) if weights is None else weights
    shares = np.zeros((len(classes), n_classes))
    for column in np.nan_to_num(features).T:
        above = (column > np.sort(column)[len(column) // 2]).astype(int)
        counts = np.bincount(above * n_classes + classes, weights, 2 * n_classes).reshape(2, n_classes) + 1.0
        shares += (counts / counts.sum(axis=1, keepdims=True))[above]
    shares[np.arange(len(classes)), classes] += 0.5 * features.shape[1]
    return shares / shares.sum(axis=1, keepdims=True)


def observe(entry, n_jobs):
    """A digest of each thing that the learner of an entry computes."""
    with unittest.mock.patch("worthwhile.learners.soft_labels._fit_ensemble", plain_ensemble):
        clf, cases = learn(entry, n_jobs)
    rng = np.random.default_rng(8)
    X = cases.X[rng.permutation(len(cases.X))[:60]]
    fresh = X.copy()
    fresh[rng.random(X.shape) < 0.15] = np.nan if X.dtype == float else None
    trees = clf.trees_ if hasattr(clf, "trees_") else [clf.tree_] if hasattr(clf, "tree_") else []
    seen = {
        "tree": [_nodes(tree) for tree in trees],
        "answers": [clf.predict(part).tolist() for part in (X, fresh)],
        "prices": [_rounded(clf.test_costs(part)) for part in (X, fresh)],
        "shares": [_rounded(clf.predict_proba(part)) for part in (X, fresh)],
    }
    if not getattr(clf, "lazy", False):  # there is no tree to walk
        seen["advice"] = [_advice(clf, X[row], keep) for row in range(4) for keep in (0, 2, 6)]
    return {part: _digest(value) for part, value in seen.items()}


def _nodes(tree):
    nodes = json.loads(tree.to_json())["nodes"]
    return [node | {part: _rounded(node[part]) for part in ("weights", "believed") if part in node} for node in nodes]


def _advice(clf, row, keep):
    names = clf.columns or [f"x{j}" for j in range(len(row))]
    known = {name: value for name, value in zip(names[:keep], row[:keep], strict=True) if value is not None}
    advice = clf.next_test(known)
    money = (advice.price, advice.spent, advice.stop_cost, advice.go_on_cost)
    said = [advice.test, advice.commits, advice.answer, advice.stop_answer, advice.delayed]
    return [*map(str, said), *(None if amount is None else _rounded(amount) for amount in money)]


def _rounded(values):
    """Numbers to nine digits: the last ones are the business of the machine's mathematics library."""
    return np.vectorize(lambda v: f"{v + 0.0:.9g}", otypes=[object])(np.asarray(values, dtype=float)).tolist()


def _digest(value):
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=6).hexdigest()

"""Advice of a forest for a worklist: the same as for single cases, whatever the prices."""

import functools

import numpy as np
import pytest

import worthwhile as ww
from worklists import check_row

NAMES = ["free", "lab", "scan", "ratio"]
PRICES = {
    "single": {"tests": {"lab": 2, "scan": 5, "ratio": 1}},
    "groups": {
        "tests": {"lab": ww.Test(2, group="g"), "scan": ww.Test(5, group="g"), "ratio": ww.Test(1, requires=("lab",))},
        "groups": {"g": 3},
    },
    "delayed": {"tests": {"lab": ww.Test(2, delayed=True), "scan": ww.Test(5, delayed=True), "ratio": 1}},
    "surcharges": {"tests": {"lab": ww.Test(2, surcharges=[ww.Surcharge(4, where={"free": "< 0"})]), "scan": 5}},
    "waiting": {"tests": {"lab": ww.Test(2, wait=3), "scan": ww.Test(5, wait=1), "ratio": 1}, "waiting": 0.5},
}
FORESTS = {
    "least cost": {},
    "all trees": {"variant": "paper", "answer": "majority"},
    "adaptive": {"variant": "paper", "adaptive": True},
    "settled": {"variant": "paper", "adaptive": "settled", "answer": "majority"},
}


@functools.cache
def forest(prices, kind):
    costs = ww.Costs(**PRICES[prices], errors={0: {1: 300}, 1: {0: 600}})
    X, y = cases(150, 0)
    return ww.BudgetForestClassifier(costs=costs, columns=NAMES, max_trees=6, random_state=0, **FORESTS[kind]).fit(X, y)


def cases(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    return X, (X.sum(axis=1) + 0.3 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("free", [(), ("scan",)])
@pytest.mark.parametrize("prices", list(PRICES))
@pytest.mark.parametrize("kind", list(FORESTS))
def test_a_worklist_gets_the_advice_of_single_cases(prices, kind, free):
    clf, rng = forest(prices, kind), np.random.default_rng(1)
    X, _ = cases(60, 2)
    X[rng.random(X.shape) < rng.choice([0.0, 0.2, 0.5], (len(X), 1))] = np.nan
    X = np.vstack([X, X[:10]])  # equal cases
    mark = np.where(np.isnan(X), rng.choice(["asked", "unavailable", "pending"], X.shape, p=[0.5, 0.3, 0.2]), "value")
    found = clf.advise(X, mark == "unavailable", mark == "pending", already_paid=free)
    assert set(found["action"]) == {"answer", "order", "wait"}
    for at, row in enumerate(X):
        known = {
            name: None if what == "unavailable" else value
            for name, what, value in zip(NAMES, mark[at], row.tolist(), strict=True)
            if what in ("unavailable", "value")
        }
        pending = [name for name, what in zip(NAMES, mark[at], strict=True) if what == "pending"]
        check_row(clf, found.iloc[at], known, pending, free)


def test_a_forest_without_trees_answers_every_case():
    X, y = cases(60, 0)
    clf = ww.BudgetForestClassifier(budget=0, columns=["free"], costs=ww.Costs(tests={"free": 1}), random_state=0)
    with pytest.warns(UserWarning, match="too small for a single tree"):
        clf.fit(X[:, :1], y)
    found = clf.advise(np.array([[np.nan], [1.0]]))
    assert found["action"].tolist() == ["answer", "answer"]
    assert found["answer"].tolist() == [clf.next_test({}).answer] * 2


def test_a_case_that_no_tree_was_asked_about_keeps_the_shares_of_the_training_cases():
    clf = forest("single", "adaptive")
    X, _ = cases(40, 3)
    together = clf.predict_proba(X)
    for row in range(len(X)):
        assert together[row] == pytest.approx(clf.predict_proba(X[[row]])[0])

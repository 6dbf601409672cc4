"""Advice of a forest for a worklist: the same as for single cases, whatever the prices."""

import functools

import numpy as np
import pytest
from hypothesis import given

import worthwhile as ww
from problems import SEEDS, compare
from worklists import check_row
from worthwhile.learners.forest.voting import Votes
from worthwhile.tree.node_costs import best_answer
from worthwhile.tree.walk import Walk

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
    "risk": {"tests": {"lab": ww.Test(2, surcharges=[ww.Surcharge(9, truth=1), ww.Surcharge(3, result="> 0")])}},
}
FORESTS = {
    "least cost": {},
    "all trees": {"variant": "paper", "answer": "majority"},
    "adaptive": {"variant": "paper", "adaptive": True},
    "settled": {"variant": "paper", "adaptive": "settled", "answer": "majority"},
}


@functools.cache
def forest(prices, kind, cap=None):
    costs = ww.Costs(**PRICES[prices], errors={0: {1: 300}, 1: {0: 600}})
    X, y = cases(150, 0)
    settings = {"max_trees": 6, "random_state": 0, "cap": cap, **FORESTS[kind]}
    return ww.BudgetForestClassifier(costs=costs, columns=NAMES, **settings).fit(X, y)


def cases(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    return X, (X.sum(axis=1) + 0.3 * rng.normal(size=n) > 0).astype(int)


def check_worklist(clf, X, rng, free):
    """Compare `advise` with `next_test`; cells without a value are not asked, pending or unavailable by chance."""
    mark = np.where(np.isnan(X), rng.choice(["asked", "unavailable", "pending"], X.shape, p=[0.5, 0.3, 0.2]), "value")
    found = clf.advise(X, mark == "unavailable", mark == "pending", already_paid=free)
    for at, row in enumerate(X):
        known = {
            name: None if what == "unavailable" else value
            for name, what, value in zip(NAMES, mark[at], row.tolist(), strict=True)
            if what in ("unavailable", "value")
        }
        pending = [name for name, what in zip(NAMES, mark[at], strict=True) if what == "pending"]
        check_row(clf, found.iloc[at], known, pending, free)
        check_votes(clf, clf.next_test(known, [*free, *pending]), known, [*free, *pending])
    return found


def check_votes(clf, advice, known, paid):
    """Compare advice with what walks of a single case down one tree after another add up to."""
    problem, votes = clf.problem_, Votes(1, clf._rule())
    paid, awaited = problem.closure_of(paid), None
    for number, tree in enumerate(clf.trees_):
        if clf._quits(number, votes)[0]:
            break
        walk = Walk(tree, known, paid, may_stop=False)
        if walk.next_order is not None:
            awaited = problem.columns[walk.next_order.test]
            break
        paid = walk.charged
        places = walk.positions
        weights = sum(at.share * tree.nodes.weights[at.node] for at in places)
        divided = best_answer(problem.error_costs, walk.shares, least=False)
        answer = divided if len(places) > 1 else tree.nodes.answer[places[0].node]
        votes.add(np.array([answer]), (walk.shares if clf._least_cost else weights)[None, :], np.zeros(1))
    assert advice.test == awaited
    assert advice.reason.count(f"{votes.votes.sum()} of {len(clf.trees_)} trees have voted") == 1
    assert list(advice.probabilities.values()) == pytest.approx(votes.shares()[0].tolist())


def sparse(n, seed):
    """Cases with some values missing, some of them twice."""
    rng = np.random.default_rng(seed)
    X, _ = cases(n, seed)
    X[rng.random(X.shape) < rng.choice([0.0, 0.2, 0.5], (len(X), 1))] = np.nan
    return np.vstack([X, X[:5]])


@pytest.mark.parametrize(("cap", "free"), [(None, ()), (None, ("scan",)), (5.0, ())])
@pytest.mark.parametrize("prices", list(PRICES))
@pytest.mark.parametrize("kind", list(FORESTS))
def test_a_worklist_gets_the_advice_of_single_cases(prices, kind, cap, free):
    found = check_worklist(forest(prices, kind, cap), sparse(30, 2), np.random.default_rng(1), free)
    assert set(found["action"]) >= {"answer", "wait"} | ({"order"} if cap is None else set())


@compare(25)
@given(SEEDS)
def test_whatever_the_prices_and_the_cap(seed):
    rng = np.random.default_rng(seed)
    surcharges = [
        ww.Surcharge(float(rng.choice([-0.5, 4])), truth=1),
        ww.Surcharge(3.0, result="> 0.2"),
        ww.Surcharge(2.0, where={"free": "< 0"}),
        ww.Surcharge(float(rng.choice([-0.5, 1])), after=("scan",)),
    ]

    def test(price, **more):
        group = str(rng.choice(["g", "h"])) if rng.random() < 0.4 else None
        times = {"delayed": bool(rng.random() < 0.2), "wait": float(rng.choice([0, 0, 1, 5]))}
        return ww.Test(price, group=group, **times, **more)

    chosen = [surcharge for surcharge in surcharges if rng.random() < 0.5]
    required = ("lab",) if rng.random() < 0.5 else ()
    tests = {"lab": test(2, surcharges=chosen), "scan": test(5), "ratio": test(1, requires=required)}
    costs = ww.Costs(
        tests=tests,
        groups={
            group: common for group, common in (("g", 3.0), ("h", 0.5)) if group in {t.group for t in tests.values()}
        },
        waiting=[None, 0.5, [(0, 0), (2, 1), (6, 9)]][rng.integers(3)],
        errors={0: {1: 300}, 1: {0: 600}},
    )
    cap = rng.choice([0, 4, 8, 12, 20]) if rng.random() < 0.6 else None
    X, y = cases(60, seed)
    kind = FORESTS[str(rng.choice(list(FORESTS)))]
    clf = ww.BudgetForestClassifier(costs=costs, columns=NAMES, max_trees=4, cap=cap, random_state=seed % 99, **kind)
    check_worklist(clf.fit(X, y), sparse(20, seed), rng, ("scan",) if rng.random() < 0.3 else ())


@pytest.mark.parametrize("kind", list(FORESTS))
def test_who_follows_the_advice_within_a_cap_gets_the_answer_of_predict(kind):
    """A test that is too expensive is not done: the case stays where it is, as one whose value stands in a table."""
    clf = forest("single", kind, 5.0)
    X, _ = cases(40, 4)
    for row, answer, price in zip(X, clf.predict(X), clf.test_costs(X), strict=True):
        outcome = clf.run(
            {}, {name: lambda value=value: value for name, value in zip(NAMES, row.tolist(), strict=True)}
        )
        assert (outcome.answer, outcome.spent) == (answer, pytest.approx(price))


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

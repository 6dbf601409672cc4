"""Progress: all long fits tell the same, and their own history of it."""

import math
from itertools import pairwise

import numpy as np
import pytest

import worthwhile as ww
from all_learners import make
from worthwhile.learners.progress import Progress, asks_to_stop

X = np.random.default_rng(0).normal(size=(80, 3)).round(2)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
COSTS = ww.Costs(tests={"x0": 1.0, "x1": 2.0}, errors=20)


@pytest.mark.parametrize(
    ("learner", "total"), [(ww.ICETClassifier, 60), (ww.ACTClassifier, None), (ww.BudgetForestClassifier, 5)]
)
def test_callbacks_get_the_time_the_work_done_and_the_lowest_cost(learner, total):
    told = []
    clf = make(learner, costs=COSTS, variant="paper", callback=told.append).fit(X, Y)
    assert all(type(step) is Progress for step in told)
    assert all(a.seconds <= b.seconds and a.done <= b.done for a, b in pairwise(told))
    assert all(a.cost >= b.cost for a, b in pairwise(told))
    assert {step.total for step in told} == {total}
    assert 0 < told[-1].done <= (total or math.inf)
    assert getattr(clf, "history_", told) == told
    assert all((step.mean is not None) == (learner is ww.ICETClassifier) for step in told)


@pytest.mark.parametrize("variant", ["paper", "refined"])
@pytest.mark.parametrize("learner", [ww.ICETClassifier, ww.ACTClassifier, ww.BudgetForestClassifier])
def test_a_callback_that_returns_true_ends_the_search(learner, variant):
    told = []

    def stop(progress):
        told.append(progress)
        return True

    clf = make(learner, costs=COSTS, variant=variant, callback=stop, random_state=0).fit(X, Y)
    assert len(told) == 1
    assert clf.stopped_ == "callback"
    assert clf.predict(X).shape == (80,)
    if learner is ww.BudgetForestClassifier:
        assert len(clf.trees_) == (1 if variant == "paper" else 5)  # the first forest of the race


def test_only_true_ends_the_search():
    told = []
    forest = make(
        ww.BudgetForestClassifier,
        variant="paper",
        costs=COSTS,
        random_state=0,
        callback=lambda p: told.append(p) or "no",
    ).fit(X, Y)
    assert len(told) == len(forest.trees_) > 1
    assert forest.stopped_ == "done"
    assert asks_to_stop(lambda p: np.True_, told[0])
    assert not asks_to_stop(None, told[0])

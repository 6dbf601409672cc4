"""The threads of the core: they stay between calls, share work within work, and are not there in a forked child."""

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import worthwhile as ww

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
COSTS = ww.Costs(tests={f"x{i}": 1.0 + i for i in range(4)}, errors=50)


def learn(n_jobs):
    act = ww.ACTClassifier(variant="paper", costs=COSTS, random_state=0, n_jobs=n_jobs).fit(X, Y)
    icet = ww.ICETClassifier(variant="paper", costs=COSTS, trials=100, random_state=0, n_jobs=n_jobs).fit(X, Y)
    return act.tree_.to_text(), icet.tree_.to_text()


ALONE = learn(1)


@pytest.mark.parametrize("n_jobs", [2, 3, 16])
def test_the_same_trees_on_threads(n_jobs):
    assert learn(n_jobs) == ALONE


def test_several_callers_at_once():
    found = []
    callers = [threading.Thread(target=lambda: found.append(learn(2))) for _ in range(5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [ALONE] * 5


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    assert learn(2) == ALONE  # the parent's are there when it forks
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as child:
        assert child.submit(learn, 2).result(timeout=60) == ALONE

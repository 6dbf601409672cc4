"""The threads of the core: they stay between calls, share work within work, and are not there in a forked child."""

import multiprocessing
import os
import subprocess
import sys
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
        assert child.submit(learn, 2).result(timeout=300) == ALONE


# Megabytes above what is in use when learning begins: too little for anything, for some of the threads, and enough.
LIMITS = (0.5, 2, 6, 8, 10, 11, 12, 13, 14, 16, 64)

HUNGRY = """
import os, resource, sys
import numpy as np
import worthwhile as ww

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20_000, 10)), rng.integers(0, 3, 20_000)
costs = ww.Costs(tests={f"x{i}": 1.0 for i in range(10)}, errors=20)
learner, n = {
    "forest": (
        ww.BudgetForestClassifier(variant="paper", costs=costs, max_trees=8, validation=None, random_state=0),
        20_000,
    ),
    "act": (ww.ACTClassifier(variant="paper", r=1, costs=costs, cross_fit=False, random_state=0), 500),
    "c45": (ww.C45Classifier(costs=costs, max_depth=6, cross_fit=False), 20_000),
}[sys.argv[1]]
learner.fit(X[:100], y[:100])  # imports what it needs

def fit_within(megabytes):
    learner.set_params(n_jobs=2).fit(X[:100], y[:100])  # starts the threads
    with open("/proc/self/statm") as status:
        in_use = int(status.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + int(megabytes * 2**20),) * 2)
    try:
        learner.fit(X[:n], y[:n])
    except MemoryError:
        os._exit(3)
    os._exit(0)

for limit in map(float, sys.argv[2:]):
    child = os.fork()
    if child == 0:
        fit_within(limit)
    print(limit, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory in use is read from /proc")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer reserves all address space")
@pytest.mark.parametrize("learner", ["forest", "act", "c45"])
def test_a_thread_without_memory_raises_memory_error(learner):
    """Whichever thread it is: never an abort, and never the error of a thread that was only told to stop."""
    command = [sys.executable, "-c", HUNGRY, learner, *map(str, LIMITS)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    found = [line.split() for line in run.stdout.splitlines()]
    assert [float(limit) for limit, _ in found] == list(LIMITS)
    codes = [int(code) for _, code in found]
    assert set(codes) <= {0, 3}, f"{found}: {run.stderr[-2000:]}"
    assert codes[-1] == 0
    assert learner != "forest" or 3 in codes  # the others may find enough in what was freed

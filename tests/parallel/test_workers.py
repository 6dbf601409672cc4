"""Coarse work on other workers: a Dask cluster of two processes, workers that die, data that are sent once."""

import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

import worthwhile as ww
from all_learners import COSTS, learned
from small_experiments import FAMILY, experiment
from worthwhile.experiments import Cell, turney_cells
from worthwhile.experiments.engine import Experiment, Store, run, text_of
from worthwhile.parallel import workers
from worthwhile.parallel.dask_cluster import cluster
from worthwhile.parallel.workers import Shared, cut, slots, spread, threads_here
from worthwhile.table.columns import read_columns

distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(0)
MANY = RNG.normal(size=(4000, 4)).round(3)
MANY_Y = (MANY[:, 0] + MANY[:, 1] + 0.7 * MANY[:, 2] * MANY[:, 3] + 0.3 * RNG.normal(size=4000) > 0).astype(int)
X, Y = MANY[:1000], MANY_Y[:1000]
FRESH = RNG.normal(size=(300, 4)).round(3)
PRICES = ww.Costs(tests={"x0": 2.625, "x1": 2.5, "x2": 2.375, "x3": 2.5}, errors=50)
PATIENCE = 30  # seconds for whatever takes a second


@pytest.fixture(scope="module")
def local_cluster():
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    ) as found:
        yield found


@pytest.fixture
def client(local_cluster):
    """A client of two workers, also where a test before has killed one."""
    with distributed.Client(local_cluster, set_as_default=False) as found:
        found.wait_for_workers(2, timeout=PATIENCE)
        yield found


@pytest.fixture
def on_cluster(client):
    with joblib.parallel_config("dask", client=client):
        assert slots() == 2
        yield client


@contextmanager
def here():
    """What is learned inside is learned without the cluster."""
    with joblib.parallel_config("threading", n_jobs=1):
        assert slots() == 1
        yield


def forest(**parameters):
    known = {"costs": PRICES, "max_trees": 10, "alpha": [0, 6], "random_state": 3}
    return ww.BudgetForestClassifier(**(known | parameters))


def icet(**parameters):
    return ww.ICETClassifier(**({"costs": PRICES, "trials": 60, "population": 20, "random_state": 1} | parameters))


def everything(clf):
    """All that was learned and what it says, to the last bit."""
    shown = [
        learned(clf),
        clf.predict(FRESH).tolist(),
        clf.test_costs(FRESH).tolist(),
        clf.predict_proba(FRESH).tolist(),
    ]
    if hasattr(clf, "forests_"):
        return [*shown, clf.record_, [forest.curve for forest in clf.forests_]]
    return [*shown, clf.bias_, clf.fitness_, [step[:3] for step in clf.history_]]


# -- the same results -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [{}, {"budget": 9.6}, {"adaptive": True, "budget": 7}, {"adaptive": "settled", "cuts": "exact"}, {"n_jobs": -1}],
    ids=str,
)
def test_forests_are_the_same(on_cluster, parameters):
    remote = forest(**parameters).fit(X, Y)
    with here():
        assert everything(remote) == everything(forest(**parameters).fit(X, Y))


@pytest.mark.parametrize("parameters", [{"variant": "paper"}, {"variant": "paper", "search": "binary"}, {}], ids=str)
def test_searches_are_the_same(on_cluster, parameters):
    cases = slice(0, 250)
    remote = icet(**parameters).fit(X[cases], Y[cases])
    with here():
        assert everything(remote) == everything(icet(**parameters).fit(X[cases], Y[cases]))


def test_groups_delays_weights_texts_and_missing_values(on_cluster):
    mixed = np.array(X[:200], dtype=object)
    mixed[:, 2] = np.where(X[:200, 2] > 0, "high", "low")
    mixed[::7, 1] = np.nan
    weights = np.arange(200) % 4 / 2
    for clf in (forest(costs=COSTS, weighting="instance"), icet(costs=COSTS, variant="paper"), icet(costs=COSTS)):
        remote = learned(clf.fit(mixed, Y[:200], weights))
        with here():
            assert learned(clf.fit(mixed, Y[:200], weights)) == remote


def test_the_work_is_done_by_the_workers(on_cluster, monkeypatch):
    def refused(*arguments, **options):
        raise AssertionError("a tree was grown in this process")

    monkeypatch.setattr("worthwhile._core.grow_forest", refused)
    assert len(forest().fit(X, Y).trees_) == 10
    with here(), pytest.raises(AssertionError, match="in this process"):
        forest().fit(X, Y)


def test_a_time_limit_holds(on_cluster):
    clf = icet(time_limit=1.0, trials=100_000, variant="paper").fit(MANY, MANY_Y)
    assert clf.stopped_ == "time limit"
    assert 0 < len(clf.history_) < 100_000


def test_cells_of_experiments_are_the_same(on_cluster, tmp_path):
    grid = [experiment("a", "x", "slow")]
    remote = run(grid, Store(tmp_path / "1.csv", FAMILY))
    with here():
        assert run(grid, Store(tmp_path / "2.csv", FAMILY)) == remote
    assert set((tmp_path / "1.csv").read_text().splitlines()) == set((tmp_path / "2.csv").read_text().splitlines())


def test_cells_that_learn_are_the_same(on_cluster, tmp_path):
    short = text_of({"trials": 40, "population": 10, "variant": "paper"})
    cells = [Cell("bupa", "published", "50", learner, how, 0) for learner, how in (("icet", short), ("eg2", ""))]
    grid = [Experiment("a", "A", turney_cells.FAMILY, lambda quick, seed: cells, None)]

    def measured(number):
        results = run(grid, Store(tmp_path / f"{number}.csv", turney_cells.FAMILY))
        return {cell: {name: n for name, n in found.items() if name != "seconds"} for cell, found in results.items()}

    remote = measured(1)
    assert len(remote) == 2
    with here():
        assert measured(2) == remote


def test_fits_that_are_pieces_already_stay_where_they_are(on_cluster):
    def scores():
        return cross_val_score(forest(max_trees=3, n_jobs=2), X[:300], Y[:300], cv=3).tolist()

    remote = scores()
    with here():
        assert scores() == remote


# -- data are sent once -----------------------------------------------------------------------------------------------


@pytest.fixture
def sent(on_cluster, monkeypatch):
    """How many bytes were scattered, in each call, and how many went with each task."""
    scattered, with_tasks = [], []
    scatter, submit = on_cluster.scatter, on_cluster.submit

    def scattering(data, **options):
        scattered.append((len(pickle.dumps(data)), options.get("broadcast")))
        return scatter(data, **options)

    def submitting(work, **options):
        for f, arguments, named in options.get("tasks", ()):
            own = [argument for argument in arguments if not isinstance(argument, distributed.Future)]
            with_tasks.append(len(pickle.dumps((f, own, named))))
        return submit(work, **options)

    monkeypatch.setattr(on_cluster, "scatter", scattering)
    monkeypatch.setattr(on_cluster, "submit", submitting)
    return scattered, with_tasks


def test_a_forest_sends_its_cases_once(sent):
    scattered, with_tasks = sent
    forest(alpha=[0, 3, 6], budget=9.6).fit(MANY, MANY_Y)
    assert len(with_tasks) > 5
    ((size, broadcast),) = scattered
    assert broadcast
    assert 2800 * 4 * 8 < size < 1.5 * 2800 * 4 * 8  # 70 % of the cases, and their classes
    assert max(with_tasks) < 2000


def test_a_search_sends_its_cases_once(sent):
    scattered, with_tasks = sent
    clf = icet(variant="refined").fit(X[:250], Y[:250])
    assert len(clf.history_) > 3
    assert len(with_tasks) > len(clf.history_)
    ((size, broadcast),) = scattered  # those of the search, of which the final is a part
    assert broadcast
    assert size > 250 * 4 * 8
    assert max(with_tasks) < 20_000  # individuals: prices, and which trials they are


def test_workers_forget_what_is_no_longer_needed(on_cluster):
    forest(max_trees=2).fit(X, Y)
    deadline = time.monotonic() + PATIENCE
    while any(on_cluster.has_what().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(on_cluster.has_what().values())


def test_columns_of_one_matrix_are_sent_once():
    columns = read_columns(X)
    content = pickle.dumps(columns)
    assert len(content) < 1.1 * X.nbytes
    back = pickle.loads(content)
    np.testing.assert_array_equal(back.matrix, X)
    np.testing.assert_array_equal(back.arrays[2], X[:, 2])
    mixed = pickle.loads(pickle.dumps(read_columns([["a", 1.5], [None, 2.5]])))
    assert (mixed.names, mixed.n_cases, mixed.arrays[0].tolist()) == (("x0", "x1"), 2, ["a", None])


# -- workers die ------------------------------------------------------------------------------------------------------


@contextmanager
def killing(client, how_many):
    """Kill workers, one of them while it is at work, as soon as one is."""
    pids = client.run(os.getpid)
    killed = []

    def watch():
        deadline = time.monotonic() + PATIENCE
        while not killed and time.monotonic() < deadline:
            busy = [worker for worker, tasks in client.processing().items() if tasks and worker in pids]
            for worker in [*busy, *(set(pids) - set(busy))][: how_many if busy else 0]:
                os.kill(pids[worker], signal.SIGKILL)
                killed.append(pids[worker])
            time.sleep(0.02)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        thread.join(PATIENCE)


def slowly(data, piece, n_threads):
    time.sleep(0.1)
    return data[piece].tolist()


def doubled(data):
    return 2 * data


@pytest.mark.parametrize("how_many", [1, 2])
def test_what_dies_with_workers_is_done_again(on_cluster, how_many, sent):
    data = np.arange(40.0)
    shared = Shared(2 * data, doubled, [data])
    with killing(on_cluster, how_many) as killed:
        found = spread(slowly, shared, lambda n: cut(40, n), 1)
    assert len(killed) == how_many
    assert [number for piece in found for number in piece] == (2 * data).tolist()
    if how_many == 1:  # the other one still has what was sent
        assert len(sent[0]) == 1


def test_a_forest_survives_a_worker(on_cluster):
    with here():
        alone = everything(forest(max_trees=40, alpha=0).fit(MANY, MANY_Y))
    with killing(on_cluster, 1) as killed:
        assert everything(forest(max_trees=40, alpha=0).fit(MANY, MANY_Y)) == alone
        assert killed  # in the middle, not after the end


def test_a_search_survives_a_worker(on_cluster):
    with here():
        alone = everything(icet(trials=300, variant="paper").fit(MANY, MANY_Y))
    with killing(on_cluster, 1) as killed:
        assert everything(icet(trials=300, variant="paper").fit(MANY, MANY_Y)) == alone
        assert killed


def test_errors_of_the_work_are_passed_on(on_cluster):
    with pytest.raises(ZeroDivisionError):
        spread(divided, Shared(1, int, ["1"]), lambda n: [1, 0], 1)


def divided(value, piece, n_threads):
    return value / piece


# -- other backends ---------------------------------------------------------------------------------------------------


def test_processes_of_this_machine():
    alone = everything(forest(max_trees=4, alpha=0).fit(X, Y))
    with joblib.parallel_config("loky", n_jobs=2):
        assert slots() == 2
        assert everything(forest(max_trees=4, alpha=0).fit(X, Y)) == alone
    joblib.externals.loky.get_reusable_executor().shutdown()


def test_threads_are_those_of_the_core():
    assert slots() == 1
    assert threads_here(None) == 1
    assert threads_here(3) == 3
    assert threads_here(-1) == joblib.cpu_count()
    for n_jobs in (1, 4):
        with joblib.parallel_config("threading", n_jobs=n_jobs):
            assert slots() == 1
    with joblib.parallel_config("loky", n_jobs=1):
        assert slots() == 1


def test_threads_of_a_learner_are_those_of_its_own_machine(on_cluster, monkeypatch):
    monkeypatch.setattr(on_cluster, "ncores", lambda: {"a": 100, "b": 28})
    assert slots() == 128
    assert threads_here(-1) == joblib.cpu_count()
    assert threads_here(None) == 1
    assert on_cluster.submit(threads_of_a_piece).result(PATIENCE) == (1, 1)


def threads_of_a_piece():
    with joblib.parallel_config("dask"):
        return slots(), threads_here(-1)


@given(n_items=st.integers(0, 50), n_pieces=st.integers(1, 60))
def test_pieces_are_all_of_it_and_of_the_same_size(n_items, n_pieces):
    pieces = [range(n_items)[piece] for piece in cut(n_items, n_pieces)]
    assert [i for piece in pieces for i in piece] == list(range(n_items))
    assert len(pieces) == max(1, min(n_items, n_pieces))
    assert max(map(len, pieces)) - min(map(len, pieces)) <= 1


# -- by an address ----------------------------------------------------------------------------------------------------


def test_a_cluster_by_its_address(local_cluster, client):
    alone = everything(forest(max_trees=4).fit(X, Y))
    with cluster(local_cluster.scheduler_address):
        assert slots() == 2
        assert everything(forest(max_trees=4).fit(X, Y)) == alone
    assert slots() == 1
    with cluster(None):
        assert slots() == 1


def test_workers_of_another_release_are_refused(local_cluster, client, monkeypatch):
    monkeypatch.setattr(cluster, "__version__", "99.0")
    words = r"the worker tcp.* has worthwhile .*, but this is 99.0"
    with pytest.raises(ValueError, match=words), cluster(local_cluster.scheduler_address):
        pass


def test_workers_without_worthwhile_are_refused(local_cluster, client, monkeypatch):
    monkeypatch.setattr(cluster, "RELEASE", "worthwhile_is_not_here:__version__")
    words = r"cannot load worthwhile \(No module named 'worthwhile_is_not_here'\)"
    with pytest.raises(ValueError, match=words), cluster(local_cluster.scheduler_address):
        pass


def test_a_cluster_without_workers_is_refused(monkeypatch):
    monkeypatch.setattr(cluster, "WORKERS", 0.3)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL) as empty,
        pytest.raises(ValueError, match=r"has no worker after 0.3 s; start one with: dask worker tcp:"),
        cluster(empty.scheduler_address),
    ):
        pass


@pytest.fixture
def silent():
    """The address of somebody who listens and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://127.0.0.1:1", "the cluster tcp://127.0.0.1:1 cannot be reached: no scheduler answers within 0.5 s"),
        ("silent", "cannot be reached: no scheduler answers within 0.5 s; start a scheduler with: dask scheduler"),
        ("here", "'here' is no address of a cluster; write it like tcp://"),
        ("tcp://localhost", "'tcp://localhost' is no address"),
        ("ftp://127.0.0.1:8786", "cannot be reached: unknown address scheme 'ftp'"),
    ],
)
def test_wrong_addresses_are_refused_at_once(address, words, silent, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    asked = []  # clients wait for ever where somebody listens and says nothing

    class Client(distributed.Client):
        def __init__(self, address, timeout, **options):
            asked.append((address, timeout))
            super().__init__(address, timeout=timeout, **options)

    monkeypatch.setattr("distributed.Client", Client)
    with pytest.raises(ValueError, match=words), cluster(silent if address == "silent" else address):
        pass
    assert asked == ([(address, 0.5)] if address.startswith("ftp") else [])


def test_without_dask_the_error_names_what_to_install():
    program = """
import sys
sys.modules["dask"] = sys.modules["distributed"] = None  # as if they were not installed
import worthwhile as ww
from worthwhile.parallel.dask_cluster import cluster
X, y = [[i % 7, i % 5] for i in range(70)], [int(i % 7 > 3) for i in range(70)]
ww.BudgetForestClassifier(max_trees=2, n_jobs=2).fit(X, y)
ww.ICETClassifier(trials=20, population=10, n_jobs=2, variant="paper").fit(X, y)
try:
    with cluster("tcp://127.0.0.1:8786"):
        pass
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("needs dask, which is not installed: pip install 'worthwhile[dask]'")


def test_what_is_sent_is_made_again_from_its_parts():
    parcel = pickle.loads(pickle.dumps(workers._Parcel("unused", doubled, [np.arange(3)])))
    assert parcel.value.tolist() == [0, 2, 4]

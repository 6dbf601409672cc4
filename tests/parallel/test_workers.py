"""Pieces of work on other workers: the same results, data sent once, workers that die."""

import asyncio
import functools
import os
import pickle
import signal
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
from worthwhile import _core
from worthwhile.experiments import Cell, turney_cells
from worthwhile.experiments.engine import Experiment, Store, run, text_of
from worthwhile.parallel import workers
from worthwhile.parallel.workers import SharedData, local_threads, n_workers, run_pieces, split_range
from worthwhile.table.columns import read_columns

distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(0)
MANY = RNG.normal(size=(4000, 4)).round(3)
MANY_Y = (MANY[:, 0] + MANY[:, 1] + 0.7 * MANY[:, 2] * MANY[:, 3] + 0.3 * RNG.normal(size=4000) > 0).astype(int)
X, Y = MANY[:1000], MANY_Y[:1000]
FRESH = RNG.normal(size=(300, 4)).round(3)
PRICES = ww.Costs(tests={"x0": 2.625, "x1": 2.5, "x2": 2.375, "x3": 2.5}, errors=50)
TIMEOUT = 300  # seconds, for what takes about one


@contextmanager
def locally():
    """Whatever is learned inside is learned without the cluster."""
    with workers.without_workers():
        assert n_workers() == 1
        yield


def forest(**parameters):
    known = {"costs": PRICES, "max_trees": 10, "alpha": [0, 6], "random_state": 3}
    return ww.BudgetForestClassifier(variant="paper", **(known | parameters))


def icet(**parameters):
    return ww.ICETClassifier(**({"costs": PRICES, "trials": 60, "population": 20, "random_state": 1} | parameters))


def everything(clf):
    """Everything that was learned and what it predicts, exactly."""
    shown = [
        learned(clf),
        clf.predict(FRESH).tolist(),
        clf.test_costs(FRESH).tolist(),
        clf.predict_proba(FRESH).tolist(),
    ]
    if hasattr(clf, "forests_"):
        return [*shown, clf.record_, [forest.curve for forest in clf.forests_]]
    return [*shown, clf.bias_, clf.fitness_, [step[1:] for step in clf.history_]]


# -- the same results -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [{}, {"budget": 9.6}, {"adaptive": True, "budget": 7}, {"adaptive": "settled", "cuts": "exact"}, {"n_jobs": -1}],
    ids=str,
)
def test_forests_are_the_same(on_cluster, parameters):
    remote = forest(**parameters).fit(X, Y)
    with locally():
        assert everything(remote) == everything(forest(**parameters).fit(X, Y))


@pytest.mark.parametrize("parameters", [{"variant": "paper"}, {"variant": "paper", "search": "binary"}, {}], ids=str)
def test_searches_are_the_same(on_cluster, parameters):
    cases = slice(0, 250)
    remote = icet(**parameters).fit(X[cases], Y[cases])
    with locally():
        assert everything(remote) == everything(icet(**parameters).fit(X[cases], Y[cases]))


def test_groups_delays_weights_strings_and_missing_values(on_cluster):
    mixed = np.array(X[:200], dtype=object)
    mixed[:, 2] = np.where(X[:200, 2] > 0, "high", "low")
    mixed[::7, 1] = np.nan
    weights = np.arange(200) % 4 / 2
    for clf in (forest(costs=COSTS, weighting="instance"), icet(costs=COSTS, variant="paper"), icet(costs=COSTS)):
        remote = learned(clf.fit(mixed, Y[:200], weights))
        with locally():
            assert learned(clf.fit(mixed, Y[:200], weights)) == remote


def test_the_work_is_done_by_the_workers(on_cluster, monkeypatch):
    def refused(*arguments, **options):
        raise AssertionError("a tree was grown in this process")

    monkeypatch.setattr("worthwhile._core.grow_forest", refused)
    assert len(forest().fit(X, Y).trees_) == 10
    with locally(), pytest.raises(AssertionError, match="in this process"):
        forest().fit(X, Y)


def test_a_time_limit_holds(on_cluster):
    clf = icet(time_limit=0.5, trials=100_000, variant="paper").fit(X, Y)
    assert clf.stopped_ == "time limit"
    assert 0 < len(clf.history_) < 100_000


def test_cells_of_experiments_are_the_same(on_cluster, tmp_path):
    grid = [experiment("a", "x", "slow")]
    remote = run(grid, Store(tmp_path / "1.csv", FAMILY))
    with locally():
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
    with locally():
        assert measured(2) == remote


def test_a_fit_that_is_itself_a_piece_sends_nothing_on(on_cluster):
    def scores():
        return cross_val_score(forest(max_trees=3, n_jobs=2), X[:300], Y[:300], cv=3).tolist()

    remote = scores()
    with locally():
        assert scores() == remote


# -- data are sent once -----------------------------------------------------------------------------------------------


@pytest.fixture
def sent(on_cluster, monkeypatch):
    """The number of bytes scattered in each call, and sent with each task."""
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
    (size, broadcast), *folds = scattered  # one table for the search and the final, and one for each fold
    assert broadcast
    assert size > 250 * 4 * 8
    assert len(folds) == 5
    assert max(with_tasks) < 20_000  # individuals: prices and trial numbers


def test_workers_forget_what_is_no_longer_needed(on_cluster):
    forest(max_trees=2).fit(X, Y)
    deadline = time.monotonic() + TIMEOUT
    while any(on_cluster.has_what().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(on_cluster.has_what().values())


def test_columns_of_one_matrix_are_pickled_once():
    columns = read_columns(X)
    content = pickle.dumps(columns)
    assert len(content) < 1.1 * X.nbytes
    back = pickle.loads(content)
    np.testing.assert_array_equal(back.matrix, X)
    np.testing.assert_array_equal(back.arrays[2], X[:, 2])
    mixed = pickle.loads(pickle.dumps(read_columns([["a", 1.5], [None, 2.5]])))
    assert (mixed.names, mixed.n_cases, mixed.arrays[0].tolist()) == (("x0", "x1"), 2, ["a", None])


# -- workers die ------------------------------------------------------------------------------------------------------


def doubled(data):
    return 2 * data


def kill_once(marker, pids, *arguments, **options):
    """Kill the given processes, this one last; the marker makes it happen only once."""
    try:
        open(marker, "x").close()
    except FileExistsError:
        return
    for pid in sorted(pids, key=os.getpid().__eq__):
        os.kill(pid, signal.SIGKILL)


def kill_then_take(data, piece, n_threads):
    values, marker, pids = data
    kill_once(marker, pids if len(pids) > 1 else [os.getpid()])
    return values[piece].tolist()


def doubled_data(values, marker, pids):
    return 2 * values, marker, pids


@pytest.mark.parametrize("n_killed", [1, 2])
def test_pieces_of_killed_workers_run_again(on_cluster, n_killed, sent, tmp_path):
    pids = list(on_cluster.run(os.getpid).values())[:n_killed]
    marker = tmp_path / "killed"
    parts = np.arange(40.0), marker, pids
    found = run_pieces(
        kill_then_take, SharedData(doubled_data(*parts), doubled_data, parts), lambda n: split_range(40, n), 1
    )
    assert [number for piece in found for number in piece] == (2 * parts[0]).tolist()
    assert marker.exists()
    if n_killed == 1:  # the other worker still has the data
        assert len(sent[0]) == 1


def kill_then_double(values, marker, main):
    """Kill the worker that receives the data, once."""
    if os.getpid() != main:
        kill_once(marker, [os.getpid()])
    return 2 * values


def take(data, piece, n_threads):
    return data[piece].tolist()


def test_a_worker_that_dies_while_data_are_sent_to_it(on_cluster, tmp_path):
    parts = np.arange(40.0), tmp_path / "killed", os.getpid()
    found = run_pieces(take, SharedData(2 * parts[0], kill_then_double, parts), lambda n: split_range(40, n), 1)
    assert [number for piece in found for number in piece] == (2 * parts[0]).tolist()
    assert (tmp_path / "killed").exists()


async def closed():
    raise distributed.comm.CommClosedError("in <TCP>: Stream is closed")


async def unknown():
    raise KeyError("tcp://127.0.0.1:1")


async def waiting():
    await asyncio.sleep(1000)


@pytest.mark.parametrize("fault", [closed, unknown, waiting])
def test_data_that_could_not_be_sent_are_sent_again(on_cluster, monkeypatch, fault):
    monkeypatch.setattr(workers, "SEND_CHECK", 0.05)
    monkeypatch.setattr(workers, "SEND_TIMEOUT", 0.1)
    faults, scatter = [fault], on_cluster.scatter

    def scattering(*data, **options):
        if faults:
            return faults.pop()()
        monkeypatch.setattr(workers, "SEND_TIMEOUT", 30)
        return scatter(*data, **options)

    monkeypatch.setattr(on_cluster, "scatter", scattering)
    data = np.arange(40.0)
    found = run_pieces(take, SharedData(data, np.array, [data]), lambda n: split_range(40, n), 1)
    assert [number for piece in found for number in piece] == data.tolist()
    faults += [fault] * 4
    monkeypatch.setattr(workers, "SEND_TIMEOUT", 0.1)
    with pytest.raises(workers.LOST_WORKER):
        run_pieces(take, SharedData(data, np.array, [data]), lambda n: split_range(40, n), 1)
    assert not faults


def test_a_send_that_waits_for_a_dead_worker_ends(on_cluster, monkeypatch):
    monkeypatch.setattr(workers, "SEND_CHECK", 0.05)
    monkeypatch.setattr(on_cluster, "scatter", lambda *_, **__: waiting())
    alive = iter([{"a": 1, "b": 1}, {"a": 1, "b": 1}, {"b": 1}])
    monkeypatch.setattr(on_cluster, "ncores", lambda: next(alive))
    with pytest.raises(TimeoutError, match="the data could not be sent to all 2 workers in 0 s"):
        workers._send(on_cluster, 1)


def replace_in_core(name, function):
    setattr(_core, name, function)


FITS = {
    "grow_forest": lambda: forest(max_trees=20, alpha=0).fit(X, Y),
    "try_biases": lambda: icet(variant="paper").fit(X[:250], Y[:250]),
}


@pytest.mark.parametrize("function", FITS)
def test_a_fit_survives_a_killed_worker(on_cluster, function, tmp_path):
    with locally():
        alone = everything(FITS[function]())
    (worker, pid), *_ = on_cluster.run(os.getpid).items()
    marker = tmp_path / "killed"
    on_cluster.run(replace_in_core, function, functools.partial(kill_once, marker, [pid]), workers=[worker])
    assert everything(FITS[function]()) == alone
    assert marker.exists()


def test_errors_of_the_work_are_passed_on(on_cluster):
    with pytest.raises(ZeroDivisionError):
        run_pieces(divided, SharedData(1, int, ["1"]), lambda n: [1, 0], 1)


def divided(value, piece, n_threads):
    return value / piece


# -- other backends ---------------------------------------------------------------------------------------------------


def test_processes_of_this_machine():
    alone = everything(forest(max_trees=4, alpha=0).fit(X, Y))
    with joblib.parallel_config("loky", n_jobs=2):
        assert n_workers() == 2
        assert everything(forest(max_trees=4, alpha=0).fit(X, Y)) == alone
    joblib.externals.loky.get_reusable_executor().shutdown()


def test_without_a_backend_the_core_uses_threads():
    assert n_workers() == 1
    assert local_threads(None) == 1
    assert local_threads(3) == 3
    assert local_threads(-1) == joblib.cpu_count()
    for n_jobs in (1, 4):
        with joblib.parallel_config("threading", n_jobs=n_jobs):
            assert n_workers() == 1
    with joblib.parallel_config("loky", n_jobs=1):
        assert n_workers() == 1


def test_n_jobs_counts_the_cores_of_this_machine_not_of_the_cluster(on_cluster, monkeypatch):
    monkeypatch.setattr(on_cluster, "ncores", lambda: {"a": 100, "b": 28})
    assert n_workers() == 128
    assert local_threads(-1) == joblib.cpu_count()
    assert local_threads(None) == 1
    assert on_cluster.submit(threads_of_a_piece).result(TIMEOUT) == (1, 1)


def threads_of_a_piece():
    with joblib.parallel_config("dask"):
        return n_workers(), local_threads(-1)


@given(n_items=st.integers(0, 50), n_pieces=st.integers(1, 60))
def test_slices_cover_the_range_and_differ_by_one_at_most(n_items, n_pieces):
    pieces = [range(n_items)[piece] for piece in split_range(n_items, n_pieces)]
    assert [i for piece in pieces for i in piece] == list(range(n_items))
    assert len(pieces) == max(1, min(n_items, n_pieces))
    assert max(map(len, pieces)) - min(map(len, pieces)) <= 1


def test_shared_data_is_rebuilt_from_its_parts():
    parcel = pickle.loads(pickle.dumps(workers._Rebuildable("unused", doubled, [np.arange(3)])))
    assert parcel.value.tolist() == [0, 2, 4]

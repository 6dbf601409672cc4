"""Forests from many Parquet files: the same columns, classes and values for all, one file at a time in memory."""

import itertools
import json
import logging
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import worthwhile as ww
from all_learners import learned
from worthwhile.learners import part_files, partitioned
from worthwhile.learners.forest.partitions import PartitionedData, turns

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

# Budgets of all sizes are tried here.
pytestmark = pytest.mark.filterwarnings("ignore:BudgetForestClassifier. budget=:UserWarning")

RNG = np.random.default_rng(0)
COSTS = ww.Costs(
    tests={"age": 1.0, "dose": ww.Test(2.0, group="lab"), "colour": ww.Test(1.0, group="lab"), "old": 0.5},
    groups={"lab": 1.5},
    errors={"no": {"yes": 20.0}, "yes": {"no": 60.0}},
)
N = 800


def frame(n=N, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    cases = pd.DataFrame(
        {
            "age": age,
            "dose": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(2)),
            "colour": rng.choice(["red", "green", None], n),
            "old": age > 60,
        }
    )
    cases["ill"] = np.where(cases.age / 30 + cases.dose.fillna(0) + 0.4 * rng.normal(size=n) > 2, "yes", "no")
    cases["w"] = rng.integers(0, 4, n) / 2
    return cases


CASES = frame()
TESTS = CASES.drop(columns=["ill", "w"])
FRESH = frame(300, 1)


def divided(cases, folder, sizes, **options):
    """Write cases to files of these sizes."""
    for part, (start, end) in enumerate(itertools.pairwise(np.cumsum([0, *sizes]))):
        table = pa.Table.from_pandas(cases.iloc[start:end], preserve_index=False)
        parquet.write_table(table, folder / f"part-{part:03}.parquet", **options)
    return folder


@pytest.fixture
def folder(tmp_path):
    return divided(CASES.drop(columns="w"), tmp_path, [300, 200, 200, 100], row_group_size=64)


def forest(**parameters):
    return ww.BudgetForestClassifier(
        variant="paper", **({"costs": COSTS, "max_trees": 12, "random_state": 0} | parameters)
    )


def everything(clf):
    prices, shares = clf.test_costs(FRESH[TESTS.columns]), clf.predict_proba(FRESH[TESTS.columns])
    return [learned(clf), [one.curve for one in clf.forests_], clf.record_, prices.tolist(), shares.tolist()]


# -- what is learned --------------------------------------------------------------------------------------------------


def test_it_is_as_good_as_a_forest_from_all_cases(folder):
    known = {"costs": None, "max_trees": 30}
    clf, whole = forest(**known).fit_parts(folder, "ill"), forest(**known).fit(TESTS, CASES.ill)
    own, other = (one.score(FRESH[TESTS.columns], FRESH.ill) for one in (clf, whole))
    assert own > 0.75
    assert own > other - 0.05
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.feature_names_in_.tolist() == list(TESTS.columns)
    assert clf.problem_.schema == whole.problem_.schema
    np.testing.assert_array_equal(clf._class_weights, whole._class_weights)
    assert len(clf.trees_) == 30


@pytest.mark.parametrize("adaptive", [False, "settled", True])
@pytest.mark.parametrize("budget", [None, 3.0])
def test_what_is_said_of_the_validation_cases_is_what_they_cost(folder, adaptive, budget, monkeypatch):
    """The cases that were set aside are noted, and the forest is asked about them."""
    aside, divide = [], PartitionedData.divide

    def dividing(self, cases, part):
        rows = divide(self, cases, part)
        aside.append((part, cases.rows[rows[1]]))
        return rows

    monkeypatch.setattr(PartitionedData, "divide", dividing)
    clf = forest(alpha=[0, 6], adaptive=adaptive, budget=budget).fit_parts(folder, "ill")
    starts = np.cumsum([0, 300, 200, 200])
    rows = sorted({int(starts[part] + row) for part, own in aside for row in own})
    assert len(rows) == pytest.approx(0.3 * N, abs=4)
    X, y = TESTS.iloc[rows], CASES.ill.iloc[rows]
    assert clf.record_.price == pytest.approx(clf.test_costs(X).mean())
    assert clf.record_.error == pytest.approx(1 - clf.score(X, y))
    costs = clf.total_costs(X, y)
    assert clf.record_.error_cost == pytest.approx((costs - clf.test_costs(X)).mean())
    assert clf.expected_cost_ == pytest.approx(costs.mean())
    low, high = clf.expected_cost_interval_
    assert high - low == pytest.approx(2 * 1.96 * costs.std(ddof=1) / np.sqrt(len(costs)), rel=1e-4)
    assert budget is None or clf.record_.price <= budget
    curve = clf.budget_curve(X, y)
    kept = [record for one in clf.forests_ for record in one.curve]
    assert [(r.alpha, r.trees, r.rate) for r in curve] == [(r.alpha, r.trees, r.rate) for r in kept]
    np.testing.assert_allclose([r[2:5] for r in curve], [r[2:5] for r in kept])


def test_trees_are_grown_within_files(tmp_path):
    """Of two files that contradict each other, each tree knows one."""
    x = np.arange(100.0)
    for part, sign in enumerate((1, -1)):
        table = pa.table({"x": x, "y": (sign * (x - 49.5) > 0).astype(int)})
        parquet.write_table(table, tmp_path / f"{part}.parquet")
    clf = ww.BudgetForestClassifier(variant="paper", max_trees=6, random_state=0).fit_parts(tmp_path, "y")
    answers = [tree.predict(pd.DataFrame({"x": [0.0, 99.0]})).tolist() for tree in clf.trees_]
    assert answers == [[0, 1], [1, 0]] * 3


def test_files_take_turns_in_proportion_to_their_cases():
    assert np.bincount(turns([300, 200, 200, 100], 8)).tolist() == [3, 2, 2, 1]
    assert turns([10, 10], 4) == [0, 1, 0, 1]


@given(sizes=st.lists(st.integers(0, 1000), min_size=1, max_size=8).filter(any), n=st.integers(0, 60))
def test_no_file_is_far_behind_at_any_time(sizes, n):
    found, shares = np.array(turns(sizes, n), dtype=int), np.array(sizes) / sum(sizes)
    for many in range(n + 1):
        behind = shares * many - np.bincount(found[:many], minlength=len(sizes))
        assert np.abs(behind).max() < len(sizes)
    assert all(sizes[part] for part in found)


def test_a_budget_can_be_changed_later(folder):
    clf = forest(alpha=[0, 6], budget=2.0).fit_parts(folder, "ill")
    for budget in (1.0, 3.0, 100.0):
        fitted = forest(alpha=[0, 6], budget=budget).fit_parts(folder, "ill")
        assert everything(clf.with_budget(budget)) == everything(fitted)
    assert len(clf.with_budget(100.0).trees_) == 12


def test_files_and_row_groups_may_be_named_and_cut_in_any_way(folder, tmp_path):
    clf = forest().fit_parts(folder, "ill")
    names = sorted(folder.glob("*.parquet"))
    assert everything(forest().fit_parts(names, "ill")) == everything(clf)
    assert everything(forest().fit_parts(str(folder), "ill")) == everything(clf)
    other = tmp_path / "other"
    other.mkdir()
    divided(CASES.drop(columns="w")[["ill", *TESTS.columns]], other, [300, 200, 200, 100], row_group_size=1000)
    (other / "_SUCCESS").touch()
    assert everything(forest().fit_parts(other, "ill")) == everything(clf)


def test_threads_and_seeds(folder):
    alone = everything(forest(alpha=[0, 6]).fit_parts(folder, "ill"))
    assert everything(forest(alpha=[0, 6], n_jobs=3).fit_parts(folder, "ill")) == alone
    assert everything(forest(alpha=[0, 6], random_state=1).fit_parts(folder, "ill")) != alone


def test_workers_change_nothing(folder):
    distributed = pytest.importorskip("distributed")
    for parameters in ({"alpha": [0, 6]}, {"adaptive": True}):
        alone = everything(forest(**parameters).fit_parts(folder, "ill"))
        with (
            distributed.LocalCluster(
                n_workers=3,
                threads_per_worker=1,
                processes=False,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
            joblib.parallel_config("dask", client=client),
        ):
            assert everything(forest(**parameters).fit_parts(folder, "ill")) == alone


def test_saved_and_loaded(folder, tmp_path):
    clf = forest(budget=3.0, adaptive=True).fit_parts(folder, "ill")
    clf.save(tmp_path / "forest.json")
    assert everything(ww.load(tmp_path / "forest.json")) == everything(clf)


def test_a_budget_needs_no_other_parameter(folder):
    assert len(ww.BudgetForestClassifier(costs=COSTS, budget=100, random_state=0).fit_parts(folder, "ill").trees_) == 40


# -- least total cost -------------------------------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path, monkeypatch):
    """The first sample has 200 cases, the largest 1,600, and 400 of these compare the forests."""
    for name, value in {"FIRST": 200, "HELD_OUT": 400, "LARGEST": 6400}.items():
        monkeypatch.setattr(partitioned, name, value)
    return divided(frame(6000, 2), tmp_path, [2500, 500, 0, 3000])


def least(**parameters):
    return ww.BudgetForestClassifier(**({"costs": COSTS, "max_trees": 20, "random_state": 0} | parameters))


@pytest.mark.parametrize("factor", [0.02, 1, 30])
def test_without_a_budget_the_forest_has_the_least_total_cost(many, factor):
    costs = COSTS.with_errors({"no": {"yes": 20.0 * factor}, "yes": {"no": 60.0 * factor}})
    clf = least(costs=costs).fit_parts(many, "ill", weight="w")
    new = frame(4000, 3)
    own = clf.total_costs(new[TESTS.columns], new.ill)
    whole = least(costs=costs).fit(TESTS, CASES.ill)  # from as many cases as in a sample
    assert own.mean() <= 1.1 * whole.total_costs(new[TESTS.columns], new.ill).mean()
    assert clf.expected_cost_ == pytest.approx(own.mean(), rel=0.1)
    low, high = clf.expected_cost_interval_
    assert low <= clf.expected_cost_ <= high
    assert high - low < 2 * 1.96 * own.std() / np.sqrt(2000)  # that of far more cases than in the sample
    assert clf.empty_ == (factor == 0.02)
    assert clf.parts_[0].n_cases == 200
    assert not clf.has_budgets


def test_all_cases_outside_the_sample_measure_the_forest(many, monkeypatch):
    noted, sums = [], partitioned.PartitionedCases.sums

    def noting(self, model, used, n_threads):
        noted.append(sums(self, model, used, n_threads))
        return noted[-1]

    monkeypatch.setattr(partitioned.PartitionedCases, "sums", noting)
    clf = least().fit_parts(many, "ill", weight="w")
    assert noted[0].sizes[0] > 6000 * 3 / 4 - 1600 - 50  # a quarter has the weight 0
    assert clf.expected_cost_ == noted[0].others[1] / noted[0].others[0]


def test_workers_change_nothing_about_the_least_total_cost_and_it_can_be_saved(many, tmp_path):
    clf = least().fit_parts(many, "ill", weight="w")
    assert everything(least(n_jobs=2).fit_parts(many, "ill", weight="w")) == everything(clf)
    clf.save(tmp_path / "forest.json")
    loaded = ww.load(tmp_path / "forest.json")
    assert everything(loaded) == everything(clf)
    assert loaded.expected_cost_interval_ == clf.expected_cost_interval_


def test_few_cases_are_all_learned_from(folder):
    clf = least().fit_parts(folder, "ill")
    assert clf.parts_ == []
    assert {round(tree.nodes.weights[0].sum()) for tree in clf.trees_} == {N}
    assert clf.expected_cost_ == pytest.approx(least().fit(TESTS, CASES.ill).expected_cost_, rel=0.2)
    assert "parts_" not in vars(clf.fit(TESTS, CASES.ill))


SURCHARGED = ww.Costs(
    tests={"age": 1.0, "dose": ww.Test(2.0, surcharges=[ww.Surcharge(9.0, truth="yes")]), "colour": 1.0, "old": 0.5},
    errors={"no": {"yes": 200.0}, "yes": {"no": 600.0}},
)


@pytest.mark.parametrize(
    "options", [{}, {"budget": 8.0}, {"budget": 8.0, "validation": (FRESH[TESTS.columns], FRESH.ill)}]
)
def test_surcharges_count(many, options):
    clf = least(costs=SURCHARGED, **options).fit_parts(many, "ill", weight="w")
    new = frame(4000, 3)
    X, y = options.get("validation", (new[TESTS.columns], new.ill))
    assert clf.record_.price == pytest.approx(clf.test_costs(X, y=y).mean(), rel=0.15)
    assert clf.expected_cost_ == pytest.approx(clf.total_costs(X, y).mean(), rel=0.15)


# -- weights, validation ----------------------------------------------------------------------------------------------


def test_weights_count(tmp_path):
    divided(CASES, tmp_path, [400, 400])
    clf = forest().fit_parts(tmp_path, "ill", weight="w")
    whole = forest().fit(TESTS, CASES.ill, CASES.w)
    np.testing.assert_allclose(clf._class_weights, whole._class_weights)
    assert list(clf.feature_names_in_) == list(TESTS.columns)
    without = tmp_path / "without"
    without.mkdir()
    divided(CASES[CASES.w > 0], without, [int((CASES.w[:400] > 0).sum()), int((CASES.w[400:] > 0).sum())])
    assert everything(forest().fit_parts(without, "ill", weight="w")) == everything(clf)


def test_cases_weigh_what_their_errors_cost(tmp_path):
    divided(CASES, tmp_path, [400, 400])
    clf = forest(weighting="instance").fit_parts(tmp_path, "ill", weight="w")
    whole = forest(weighting="instance").fit(TESTS, CASES.ill, CASES.w)
    np.testing.assert_allclose(clf._class_weights, whole._class_weights)
    assert everything(clf) != everything(forest().fit_parts(tmp_path, "ill", weight="w"))
    one_sided = COSTS.with_errors({"no": {"yes": 0.0}, "yes": {"no": 60.0}})
    only = forest(weighting="instance", costs=one_sided).fit_parts(tmp_path, "ill", weight="w")
    assert only._class_weights[0] == 0  # errors about "no" cost nothing: such cases are left out


def test_validation_by_other_cases_or_by_all(folder):
    held = FRESH[TESTS.columns], FRESH.ill
    clf = forest(validation=held, budget=2.5).fit_parts(folder, "ill")
    assert clf.record_.price == pytest.approx(clf.test_costs(held[0]).mean())
    assert clf.record_.error == pytest.approx(1 - clf.score(*held))
    assert clf.expected_cost_ == pytest.approx(clf.total_costs(*held).mean())
    every = forest(validation=None).fit_parts(folder, "ill")
    assert every.record_.price == pytest.approx(every.test_costs(TESTS).mean())
    assert every.record_.error == pytest.approx(1 - every.score(TESTS, CASES.ill))
    with pytest.raises(AttributeError, match="expected cost of this BudgetForestClassifier is unknown"):
        _ = every.expected_cost_


# -- kinds of columns and classes -------------------------------------------------------------------------------------


# -- what is refused --------------------------------------------------------------------------------------------------


def test_wrong_parameters_are_refused(folder):
    with pytest.raises(
        ValueError, match=r"columns=\['a'\] does not match .*part-000.parquet, which has the columns age"
    ):
        forest(columns=["a"]).fit_parts(folder, "ill")
    with pytest.raises(ValueError, match="nominal contains 'lost'"):
        forest(nominal=["lost"]).fit_parts(folder, "ill")
    with pytest.raises(ValueError, match="max_trees=0"):
        forest(max_trees=0).fit_parts(folder, "ill")
    with pytest.raises(ValueError, match="tests that are not columns: 'blood'"):
        forest(costs=ww.Costs(tests={"blood": 1.0})).fit_parts(folder, "ill")


def test_without_pyarrow_the_error_names_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"pip install 'worthwhile\[parquet\]'"):
        forest().fit_parts(folder, "ill")


# -- memory -----------------------------------------------------------------------------------------------------------

PROGRAM = """
import json, sys
import worthwhile as ww
def peak():  # getrusage would count that of the process that started this one, too
    with open("/proc/self/status") as status:
        return 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])
options = {"max_trees": 8, "max_depth": 3, "alpha": 50, "random_state": 0}
ww.BudgetForestClassifier(variant="paper", **options).fit_parts([sys.argv[1] + "/0.parquet"], "y")  # with all libraries
before = peak()
clf = ww.BudgetForestClassifier(variant="paper", **options).fit_parts(sys.argv[1], "y")
print(json.dumps([before, peak(), len(clf.trees_)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_the_memory_is_that_of_one_file(tmp_path):
    rng = np.random.default_rng(0)
    total = 0
    for part in range(8):
        x = rng.normal(size=(25_000, 20))
        table = pa.table({f"x{j}": x[:, j] for j in range(20)} | {"y": (x[:, 0] > 0).astype(int)})
        parquet.write_table(table, tmp_path / f"{part}.parquet")
        total += x.nbytes
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    before, after, trees = json.loads(done.stdout)
    assert trees == 8
    assert after - before < total / 4  # eight files take hardly more than one


def test_the_first_pass_reads_no_column_of_numbers(folder, monkeypatch):
    wanted = []
    groups = part_files._groups

    def noting(path, columns):
        wanted.append(tuple(columns))
        return groups(path, columns)

    monkeypatch.setattr(part_files, "_groups", noting)
    forest(max_trees=1).fit_parts(folder, "ill")
    assert set(wanted) == {("ill", "colour", "old"), ("ill",)}

"""Trees from many Parquet files: structure from a sample, counts, answers and expected costs from all cases."""

import itertools

import joblib
import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from worthwhile.learners import partitioned
from worthwhile.learners.partitioned import PartitionedCases, Sample, _orders, grown_from_samples, open_parts

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

COSTS = ww.Costs(
    tests={"age": 1.0, "dose": ww.Test(2.0, group="lab"), "colour": ww.Test(1.0, group="lab"), "old": 0.5},
    groups={"lab": 1.5},
    errors={"no": {"yes": 20.0}, "yes": {"no": 60.0}},
)


def frame(n, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    dose = rng.normal(size=n).round(2)
    cases = pd.DataFrame({"age": age, "dose": dose, "colour": rng.choice(["red", "green"], n), "old": age > 60})
    cases["ill"] = np.where(age / 30 + dose + 0.4 * rng.normal(size=n) > 2, "yes", "no")
    cases["w"] = rng.integers(0, 3, n) / 2
    cases.loc[rng.random(n) < missing, "dose"] = np.nan
    return cases


CASES = frame(6000)
TESTS = ["age", "dose", "colour", "old"]


def divided(cases, folder, sizes):
    for part, (start, end) in enumerate(itertools.pairwise(np.cumsum([0, *sizes]))):
        table = pa.Table.from_pandas(cases.iloc[start:end], preserve_index=False)
        parquet.write_table(table, folder / f"part-{part:03}.parquet", row_group_size=300)
    return folder


@pytest.fixture
def folder(tmp_path):
    return divided(CASES.drop(columns="w"), tmp_path, [2500, 500, 0, 3000])


@pytest.fixture
def small_samples(monkeypatch):
    """The first sample has 200 cases, the largest 1,600, and 400 of these compare the trees."""
    for name, value in {"FIRST": 200, "HELD_OUT": 400, "LARGEST": 6400}.items():
        monkeypatch.setattr(partitioned, name, value)


def learner(kind=ww.DTMCClassifier, **parameters):
    return kind(costs=COSTS, random_state=0, **parameters)


def test_a_small_folder_gives_the_tree_of_one_table(folder):
    clf, whole = learner().fit_parts(folder, "ill"), learner().fit(CASES[TESTS], CASES.ill)
    assert clf.tree_.rules() == whole.tree_.rules()
    np.testing.assert_array_equal(clf.tree_.nodes.weights, whole.tree_.nodes.weights)
    assert clf.expected_cost_ == pytest.approx(whole.expected_cost_, rel=0.05)
    assert clf.parts_ == []
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.feature_names_in_.tolist() == TESTS


def test_a_file_without_rows_may_have_columns_without_a_type(folder):
    """As pandas writes columns of objects if there are none."""
    nulls = {name: pa.nulls(0) for name in ("colour", "old", "ill")}
    empty = pa.table({"age": pa.array([], pa.int64()), "dose": pa.array([], pa.float64()), **nulls})
    whole = learner().fit_parts(folder, "ill")
    parquet.write_table(empty, folder / "part-002.parquet")
    assert learner().fit_parts(folder, "ill").tree_.rules() == whole.tree_.rules()


def rewritten(folder, **columns):
    """Write columns of the last file anew."""
    last = max(folder.glob("*.parquet"))
    parquet.write_table(pa.Table.from_pandas(pd.read_parquet(last).assign(**columns)), last)
    return folder


OTHER_TYPES = {
    "categories": lambda cases: {"colour": cases.colour.astype("category")},
    "ordered categories": lambda cases: {"colour": pd.Categorical(cases.colour, ordered=True)},
    "spans of time": lambda cases: {"age": pd.to_timedelta(cases.age, unit="D")},
    "single precision": lambda cases: {"age": cases.age.astype("float32")},
}


@pytest.mark.parametrize("other", OTHER_TYPES.values(), ids=OTHER_TYPES)
@pytest.mark.parametrize("kind", [ww.DTMCClassifier, ww.AutoClassifier])
@pytest.mark.usefixtures("small_samples")
def test_a_column_may_have_another_type_in_another_file(folder, kind, other):
    quick = {"learners": ["cascade"]} if kind is ww.AutoClassifier else {}
    whole = learner(kind, **quick).fit_parts(folder, "ill")
    mixed = learner(kind, **quick).fit_parts(rewritten(folder, **other(CASES[3000:].reset_index())), "ill")
    assert mixed.expected_cost_ == whole.expected_cost_
    np.testing.assert_array_equal(mixed.predict(CASES[TESTS]), whole.predict(CASES[TESTS]))


def test_numbers_and_strings_that_were_declared_nominal_are_the_same_values(folder):
    whole = learner(nominal=["age"]).fit_parts(folder, "ill")
    mixed = learner(nominal=["age"]).fit_parts(rewritten(folder, age=CASES.age[3000:].astype(str).to_numpy()), "ill")
    assert mixed.tree_.rules() == whole.tree_.rules()


def test_dates_and_times_and_columns_without_values(tmp_path):
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(CASES.age, unit="D")
    kinds = when[:2000], when[2000:4000].dt.date, when[4000:].dt.tz_localize("UTC")
    for part, own in enumerate(kinds):
        table = pa.table({"when": pa.array(own), "ill": CASES.ill[own.index]})
        parquet.write_table(table, tmp_path / f"{part}.parquet")
    parquet.write_table(pa.table({"when": pa.nulls(10), "ill": ["yes"] * 10}), tmp_path / "3.parquet")
    clf = ww.DTMCClassifier(random_state=0).fit_parts(tmp_path, "ill")
    assert clf.problem_.schema.dates == {"when"}
    assert clf.tree_.nodes.weights[0].sum() == len(CASES) + 10
    assert clf.score(pd.DataFrame({"when": when}), CASES.ill) > 0.6


@pytest.mark.parametrize("kind", [ww.DTMCClassifier, ww.EG2Classifier, ww.C45Classifier, ww.ACTClassifier])
@pytest.mark.usefixtures("small_samples")
def test_counts_answers_and_costs_are_those_of_all_cases(folder, kind):
    quick = {"r": 1} if kind is ww.ACTClassifier else {}
    clf = learner(kind, **quick).fit_parts(folder, "ill")
    tree, steps = clf.tree_, clf.parts_
    assert [step.n_cases for step in steps] == [200 * 2**i for i in range(len(steps))] or steps[-1].n_cases == 1200
    assert len(steps) >= 2
    leaves, yes = tree.apply(CASES[TESTS]), (CASES.ill == "yes").to_numpy()
    for leaf in np.unique(leaves):
        np.testing.assert_array_equal(tree.nodes.weights[leaf], np.bincount(yes[leaves == leaf], minlength=2))
    if tree.answer == "least-cost":
        believed = tree.nodes.probabilities if tree.nodes.probabilities is not None else tree.nodes.weights
        np.testing.assert_array_equal(tree.nodes.answer, (believed @ tree.error_costs).argmin(axis=1))
    costs = clf.total_costs(CASES[TESTS], CASES.ill)
    low, high = clf.expected_cost_interval_
    assert clf.expected_cost_ == pytest.approx(costs.mean(), rel=0.05)  # costs of known cases are too good
    assert high - low == pytest.approx(2 * 1.96 * costs.std() / np.sqrt(6000), rel=0.25)


@pytest.mark.usefixtures("small_samples")
def test_the_expected_cost_is_that_of_the_cases_that_the_tree_does_not_know(folder, monkeypatch):
    noted, sums = [], PartitionedCases.sums

    def noting(self, model, used, n_threads):
        noted.append((self, used))
        return sums(self, model, used, n_threads)

    monkeypatch.setattr(PartitionedCases, "sums", noting)
    clf = learner().fit_parts(folder, "ill")
    [(data, used)] = noted
    codes, starts = (CASES.ill == "yes").to_numpy().astype(np.int32), [0, 2500, 3000, 3000, 6000]
    drawn = [a + data.rows(p, codes[a:b]) for p, (a, b) in enumerate(itertools.pairwise(starts))]
    known = np.concatenate(drawn)[used]
    assert 600 <= len(known) <= 1600
    fresh = CASES.drop(index=CASES.index[known])
    costs = clf.total_costs(fresh[TESTS], fresh.ill)
    assert clf.expected_cost_ == pytest.approx(costs.mean(), rel=1e-9)


@pytest.mark.usefixtures("small_samples")
def test_weights_and_missing_values_count(tmp_path):
    cases = frame(5000, 3, missing=0.2)
    clf = learner().fit_parts(divided(cases, tmp_path, [2000, 3000]), "ill", weight="w")
    kept = cases[cases.w > 0]
    np.testing.assert_allclose(clf.tree_.nodes.weights[0], [kept.w[kept.ill == label].sum() for label in ("no", "yes")])
    assert clf.tree_.nodes.weights[clf.tree_.nodes.test < 0].sum() == pytest.approx(kept.w.sum())
    costs = clf.total_costs(kept[TESTS], kept.ill)
    assert clf.expected_cost_ == pytest.approx(np.average(costs, weights=kept.w), rel=0.05)


@pytest.mark.usefixtures("small_samples")
def test_workers_batches_and_the_order_of_files_change_nothing(folder, monkeypatch):
    one = learner().fit_parts(folder, "ill")
    with joblib.parallel_config("loky", n_jobs=2):
        two = learner().fit_parts(folder, "ill")
    monkeypatch.setattr("worthwhile.learners.part_files.BATCH", 177)
    small = learner(n_jobs=2).fit_parts(sorted(folder.glob("*.parquet")), "ill")
    for other in (two, small):
        assert other.tree_.to_json() == one.tree_.to_json()
    assert learner().set_params(random_state=1).fit_parts(folder, "ill").tree_.to_json() != one.tree_.to_json()


def test_samples_grow_until_the_cost_no_longer_falls():
    n = partitioned.FIRST * 40
    sample = Sample(pa.table({"x": np.arange(n)}), np.arange(n) % 2, None)
    noise = np.random.default_rng(0).normal(size=n)
    seen = []

    class Model:
        def __init__(self, size):
            self.size = size

        def total_costs(self, X, y):
            gain = {4_000: 10.0, 8_000: 9.5, 16_000: 9.2, 32_000: 9.2}[self.size]
            return gain + noise[X["x"].to_numpy()] + self.size * 1e-9

    def learn(some):
        seen.append(len(some.y))
        assert abs(some.y.mean() - 0.5) < 0.001  # stratified
        return Model(len(some.y))

    model, used, steps = grown_from_samples(sample, learn, 0)
    assert seen == [4_000, 8_000, 16_000, 32_000]
    assert model.size == 16_000
    assert len(used) == 16_000 + partitioned.HELD_OUT
    assert [round(step.cost, 1) for step in steps] == [10.0, 9.5, 9.2, 9.2]
    assert len(grown_from_samples(sample, learn, 0, time_limit=1e-9)[2]) == 1


def test_rare_classes_are_in_every_sample(tmp_path):
    cases = frame(3000)
    cases.loc[[7, 2900], "ill"] = "dead"
    data = open_parts(ww.DTMCClassifier(), divided(cases, tmp_path, [1500, 1500]), "ill", None, 0)
    assert data.reader.labels.tolist() == ["dead", "no", "yes"]
    partial = partitioned.allotted(data.n_cases, 100)
    assert partial[:, 0].tolist() == [1, 1]
    assert abs(int(partial.sum()) - 100) <= 3
    order, apart = _orders(np.array(["a"] * 990 + ["b"] * 10), np.random.default_rng(0))
    assert (order[:2] >= 990).sum() == 1
    assert len(np.unique(np.concatenate([order, apart]))) == 1000


@pytest.mark.parametrize(
    ("clf", "how", "message"),
    [
        (ww.CSID3Classifier(lazy=True, prune="none"), {}, "fit_parts does not support lazy=True"),
        (ww.DTMCClassifier(weighting="instance"), {}, "fit_parts does not support weighting='instance'"),
        (ww.DTMCClassifier(), {"case_prices": [1]}, "fit_parts does not support case_prices"),
        (ww.DTMCClassifier(), {"target": "sick"}, "no column 'sick' .target.; the columns are age, dose"),
        (
            ww.DTMCClassifier(costs=ww.Costs(tests={"age": ww.Test(1, surcharges=[ww.Surcharge(5, truth="no")])})),
            {},
            "fit_parts does not support surcharges",
        ),
    ],
)
def test_what_does_not_go_is_refused(folder, clf, how, message):
    with pytest.raises(ValueError, match=message):
        clf.fit_parts(folder, **({"target": "ill"} | how))


@pytest.mark.parametrize("kind", [ww.DTMCClassifier, ww.AutoClassifier, ww.BudgetForestClassifier])
def test_infinity_and_classes_without_error_costs_are_refused_by_file_and_column(folder, kind):
    clf, last = learner(kind, **({"budget": 3.0} if kind is ww.BudgetForestClassifier else {})), CASES[3000:]
    infinite = last.dose.where(last.index != 5999, np.inf).to_numpy()
    with pytest.raises(ValueError, match=r"part-003.parquet, row 3000: column 'dose' contains infinity"):
        clf.fit_parts(rewritten(folder, dose=infinite), "ill")
    odd = last.ill.where(last.index != 5999, "odd").to_numpy()
    with pytest.raises(ValueError, match=r"part-003.parquet: column 'ill': errors has no row for class 'odd'"):
        clf.fit_parts(rewritten(folder, ill=odd), "ill")


@pytest.mark.usefixtures("small_samples")
def test_infinity_outside_the_sample_is_refused_too(folder):
    last = CASES[3000:]
    for row in (5000, 5500, 5999):
        with pytest.raises(ValueError, match=rf"part-003.parquet, row {row - 2999}: column 'dose' contains infinity"):
            learner().fit_parts(rewritten(folder, dose=last.dose.where(last.index != row, np.inf).to_numpy()), "ill")


def test_files_that_change_between_the_passes_are_refused_by_name(folder, monkeypatch):
    sample = PartitionedCases.sample

    def changing(self, n_threads):
        found = sample(self, n_threads)
        divided(CASES.drop(columns="w"), folder, [2500, 499])
        return found

    monkeypatch.setattr(PartitionedCases, "sample", changing)
    with pytest.raises(ValueError, match=r"part-00\d.parquet: the file has changed since the first pass"):
        learner().fit_parts(folder, "ill")


def test_an_auto_classifier_chooses_by_a_sample_and_counts_all_cases(folder, small_samples):
    quick = {"learners": ["dtmc", "eg2"]}
    clf = learner(ww.AutoClassifier, **quick).fit_parts(folder, "ill")
    assert clf.tree_.nodes.weights[0].sum() == len(CASES)
    assert clf.parts_[0].n_cases == 200
    new = frame(4000, seed=7)
    assert clf.expected_cost_ == pytest.approx(clf.total_costs(new[TESTS], new.ill).mean(), rel=0.15)
    low, high = clf.expected_cost_interval_
    assert low < clf.expected_cost_ < high
    assert [one.chosen for one in clf.candidates_].count(True) == 1
    with pytest.raises(ValueError, match="fit_parts does not support case_prices"):
        clf.fit_parts(folder, "ill", case_prices=np.ones((6000, 4)))


def test_a_cascade_that_was_chosen_is_measured_on_all_other_cases(folder, small_samples):
    free = ww.Costs(errors={"no": {"yes": 20.0}, "yes": {"no": 60.0}})
    clf = ww.AutoClassifier(costs=free, learners=["cascade"], random_state=0).fit_parts(folder, "ill")
    assert [one.name for one in clf.candidates_ if one.chosen] == ["cascade"]
    new = frame(4000, seed=7)
    assert clf.expected_cost_ == pytest.approx(clf.total_costs(new[TESTS], new.ill).mean(), rel=0.15)

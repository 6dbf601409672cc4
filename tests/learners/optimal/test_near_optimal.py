"""Trees that cost little more than the best one, as users get them."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import worthwhile as ww
from all_learners import COSTS
from interrupting import run_interrupted
from worthwhile.learners.optimal import classifier
from worthwhile.learners.optimal.near_optimal import FirstTest, NearOptimalSummary, UsedTest

PLAIN = {"soft_labels": 0, "leaf_price": 0, "cross_fit": False, "max_depth": 2, "thresholds": 12}
RNG = np.random.default_rng(5)
X = RNG.normal(size=(150, 4)).round(1)
Y = ((X[:, 0] > 0) ^ (X[:, 2] > 0.3) ^ (RNG.random(150) < 0.15)).astype(int)


@pytest.fixture(scope="module")
def clf():
    return ww.OptimalClassifier(costs=COSTS, **PLAIN).fit(X, Y)


def test_the_trees_cost_what_they_say(clf):
    near = clf.rashomon(epsilon=0.1, max_trees=15)
    assert near.complete
    assert len(near) == len(near.trees) == len(near.objectives) == 15 < near.count
    for tree, objective in zip(near, near.objectives, strict=True):
        assert objective == pytest.approx(tree.total_costs(X, Y).mean())
        assert objective <= clf.objective_ * 1.1 + 1e-9
        assert tree.depth <= 2
    assert list(near.objectives) == sorted(near.objectives)
    assert near.objectives[0] == pytest.approx(clf.objective_)
    assert near[0].to_text() == clf.tree_.to_text()
    assert len({tree.to_json() for tree in near}) == 15


def test_a_leaf_price_and_soft_labels_count_as_in_the_search():
    chosen = PLAIN | {"leaf_price": 0.5, "soft_labels": 0.5, "deepen": False}
    clf = ww.OptimalClassifier(costs=COSTS, **chosen, random_state=0).fit(X, Y)
    near = clf.rashomon(0.05)
    assert near.objectives[0] == pytest.approx(clf.objective_)
    hard = ww.OptimalClassifier(costs=COSTS, **(PLAIN | {"leaf_price": 0.5})).fit(X, Y)
    near = hard.rashomon(0.05)
    for tree, objective in zip(near, near.objectives, strict=True):
        assert objective == pytest.approx(tree.total_costs(X, Y).mean() + 0.5 * tree.n_leaves)


def test_settings_that_were_chosen_are_used():
    y = (X[:, 0] > 0).astype(int)
    clf = ww.OptimalClassifier(costs=COSTS, thresholds=12, soft_labels=0, random_state=0).fit(X, y)
    near = clf.rashomon(0.3)
    assert near.objectives[0] == pytest.approx(clf.objective_)
    assert {tree.depth for tree in near} == {1}  # the depth was chosen, too
    for tree, objective in zip(near, near.objectives, strict=True):
        assert objective == pytest.approx(tree.total_costs(X, y).mean() + clf.leaf_price_ * tree.n_leaves)


def test_probabilities_are_shrunk_by_cross_fitting(clf):
    shrunk = ww.OptimalClassifier(costs=COSTS, **(PLAIN | {"cross_fit": True})).fit(X, Y).rashomon(0)[0]
    plain = clf.rashomon(0)[0]
    assert plain.nodes.probabilities is None  # the class shares of the training cases
    assert np.abs(shrunk.predict_proba(X) - plain.predict_proba(X)).max() > 0.001
    assert (shrunk.predict(X) == plain.predict(X)).all()


def test_a_wider_margin_has_all_trees_of_a_narrow_one(clf):
    narrow, wide = clf.rashomon(0.02, max_trees=1000), clf.rashomon(0.08, max_trees=1000)
    assert {tree.to_json() for tree in narrow} < {tree.to_json() for tree in wide}
    best = clf.rashomon(0)
    assert best.count == len(best) >= 1
    assert best.objectives[0] == pytest.approx(clf.objective_)


def test_structures_are_listed_once(clf):
    def shape(tree, at=0):
        test = tree.nodes.test[at]
        return None if test < 0 else (int(test), *(shape(tree, child) for child in tree.nodes.children(at)))

    near = clf.rashomon(0.1, max_trees=10_000)
    once = clf.rashomon(0.1, max_trees=10_000, distinct="structures")
    assert len(once) == near.structures == once.structures < near.count == once.count
    assert len({shape(tree) for tree in once}) == len(once)
    assert {shape(tree) for tree in once} == {shape(tree) for tree in near}


def test_tables_say_what_the_trees_ask(clf):
    near = clf.rashomon(0.1, max_trees=10_000)
    assert near.count == len(near)
    first = [tree.columns[tree.nodes.test[0]] if tree.n_nodes > 1 else None for tree in near]
    assert {one.test: one.trees for one in near.first_tests} == {test: first.count(test) for test in set(first)}
    for one in near.first_tests:
        assert one.cost == pytest.approx(near.objectives[first.index(one.test)])
    asked = [set(tree.tests_used()) for tree in near]
    for used in near.tests_used:
        assert used.trees == sum(used.test in tests for tests in asked)
        without = [cost for cost, tests in zip(near.objectives, asked, strict=True) if used.test not in tests]
        assert used.cost_without == (pytest.approx(min(without)) if without else None)
    assert near.needed == tuple(one.test for one in near.tests_used if one.trees == near.count)
    assert set(near.needed) == {"x0", "x2"}


def test_fit_makes_the_summary(clf):
    near = clf.near_optimal_
    assert type(near) is NearOptimalSummary
    assert near == clf.rashomon(0.05).without_trees()
    assert ww.OptimalClassifier(costs=COSTS, **PLAIN, near_optimal=None).fit(X, Y).near_optimal_ is None
    wider = ww.OptimalClassifier(costs=COSTS, **PLAIN, near_optimal=0.1).fit(X, Y)
    assert wider.near_optimal_.epsilon == 0.1
    assert wider.near_optimal_.count > near.count


def test_fit_takes_few_thresholds_where_all_take_long(monkeypatch):
    settings = PLAIN | {"thresholds": "all"}
    every = ww.OptimalClassifier(costs=COSTS, **settings).fit(X, Y)
    assert every.near_optimal_.complete
    assert every.near_optimal_.thresholds is None
    monkeypatch.setattr(classifier, "SUMMARY_WORK", 1e6)
    few = ww.OptimalClassifier(costs=COSTS, **settings).fit(X, Y)
    assert few.near_optimal_.thresholds == 8
    assert few.near_optimal_ == every.rashomon(0.05, thresholds=8).without_trees()
    assert "at most 8 thresholds per test" in few.near_optimal_.summary()
    assert "with at most 8 thresholds per test" in few.near_optimal_.headline()
    monkeypatch.setattr(classifier, "SUMMARY_WORK", 1.0)
    assert ww.OptimalClassifier(costs=COSTS, **settings).fit(X, Y).near_optimal_ is None


def test_ctrl_c_while_trees_are_counted_keeps_the_tree(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(classifier.SearchedCases, "near_optimal", interrupted)
    clf = ww.OptimalClassifier(costs=COSTS, **PLAIN)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert clf.stopped_ == "interrupted"
    assert clf.near_optimal_ is None
    assert clf.tree_.n_leaves > 1


def test_limits_are_kept(clf):
    large = RNG.normal(size=(1500, 10))
    slow = ww.OptimalClassifier(costs=ww.Costs(errors=50), time_limit=0.5, **(PLAIN | {"max_depth": 4}))
    slow.fit(large, RNG.integers(0, 2, 1500))
    assert slow.near_optimal_ is None
    with pytest.raises(TimeoutError, match="the limit is too low"):
        slow.rashomon(time_limit=0.05)
    assert clf.rashomon(0.1, time_limit=60).count == clf.rashomon(0.1).count
    assert len(clf.rashomon(0.1, max_trees=3)) == 3


def test_explanations_say_how_many_trees_begin_alike(clf):
    case = dict(zip(clf.problem_.columns, X[0], strict=True))
    explanation = clf.explain(case)
    near, first = clf.near_optimal_, clf.tree_.tests_used()[0]
    assert explanation.note == near.headline(clf.tree_.columns[clf.tree_.nodes.test[0]])
    assert str(explanation).splitlines()[-1] == explanation.note
    assert first in explanation.note
    plain = ww.OptimalClassifier(costs=COSTS, **PLAIN, near_optimal=None).fit(X, Y).explain(case)
    assert plain.note == ""
    assert str(explanation) == f"{plain}\n{explanation.note}"


def test_a_saved_model_has_the_summary_but_not_the_cases(clf, tmp_path):
    clf.save(tmp_path / "model.json")
    loaded = ww.load(tmp_path / "model.json")
    assert loaded.near_optimal_ == clf.near_optimal_
    case = dict(zip(clf.problem_.columns, X[0], strict=True))
    assert str(loaded.explain(case)) == str(clf.explain(case))
    for other in (loaded, pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert other.near_optimal_ == clf.near_optimal_
        with pytest.raises(ValueError, match="does not have the training cases; fit it again"):
            other.rashomon()
    with pytest.raises(NotFittedError):
        ww.OptimalClassifier().rashomon()


def test_wrong_summaries_in_files_are_named(clf, tmp_path):
    clf.save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    for change, message in [
        ({"count": 1}, "its first tests do not add up"),
        ({"count": "many"}, "'count' of 'near_optimal' must be a whole number"),
        ({"first_tests": [{"test": 5}]}, "'test' of a first test must be a string or null"),
        ({"more": 5}, "'near_optimal' has the unknown field 'more'"),
    ]:
        changed = content | {"near_optimal": content["near_optimal"] | change}
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        with pytest.raises(ValueError, match=message):
            ww.load(tmp_path / "changed.json")
    del content["near_optimal"]
    (tmp_path / "older.json").write_text(json.dumps(content))
    assert ww.load(tmp_path / "older.json").near_optimal_ is None


@pytest.mark.parametrize(
    ("given", "valid"),
    [
        ({"epsilon": -0.1}, "epsilon=-0.1; it must be a number of at least 0"),
        ({"max_trees": 0}, "max_trees=0; it must be a whole number from 1"),
        ({"distinct": "shapes"}, "distinct='shapes'; choose 'trees' or 'structures'"),
        ({"thresholds": None}, "thresholds=None; it must be a whole number of at least 1 or 'all'"),
        ({"time_limit": 0}, "time_limit=0; it must be a number above 0 or None"),
    ],
)
def test_wrong_arguments_are_named(clf, given, valid):
    with pytest.raises(ValueError, match=f"rashomon: invalid {valid}"):
        clf.rashomon(**given)


def summary(**changes):
    first = (FirstTest("blood", 38, 3, 10.0), FirstTest("fever", 1, 1, 10.3), FirstTest(None, 1, 1, 10.4))
    used = (UsedTest("blood", 38, 10.3), UsedTest("fever", 39, 10.4))
    known = {"objective": 10.0, "epsilon": 0.05, "within": 0.05, "count": 40, "structures": 5, "thresholds": None}
    return NearOptimalSummary(**(known | {"first_tests": first, "tests_used": used} | changes))


def test_the_summary_in_words():
    near = summary()
    at_most = "trees that cost at most 5 % more on the training cases ask for"
    assert near.headline("blood") == f"38 of 40 {at_most} blood first."
    assert near.headline("another") == near.headline("blood")  # the tree was cut after the search
    assert near.headline(None) == f"1 of 40 {at_most} no test."
    assert near.needed == ()
    assert repr(near) == "NearOptimalSummary(40 trees within 5 %)"
    assert str(near).splitlines() == [
        "40 trees of 5 structures cost at most 5 % more than the best one (10.00 per case).",
        "",
        "first test  trees  share  cost from",
        "blood          38   95 %      10.00",
        "fever           1    2 %      10.30",
        "(none)          1    2 %      10.40",
        "",
        "test asked  trees  share  cost without it",
        "blood          38   95 %            10.30",
        "fever          39   98 %            10.40",
    ]


def test_the_summary_of_one_tree_and_of_too_many():
    alone = summary(
        count=1, structures=1, first_tests=(FirstTest("blood", 1, 1, 10.0),), tests_used=(UsedTest("blood", 1, None),)
    )
    assert alone.headline("blood") == "No other tree costs at most 5 % more on the training cases."
    assert alone.needed == ("blood",)
    assert "blood           1  100 %      above 10.50" in str(alone)
    assert repr(alone) == "NearOptimalSummary(1 tree within 5 %)"
    assert (
        summary(within=0.0).headline() == "38 of 40 trees that cost no more on the training cases ask for blood first."
    )
    many = summary(within=0.0125)
    assert not many.complete
    assert repr(many) == "NearOptimalSummary(40 trees within 1.25 % of 5 %)"
    assert "The trees within 5 % are too many to count." in str(many)
    assert "at most 1.25 % more" in many.headline()
    assert [many.share(n) for n in (0, 1, 20, 40)] == ["0 %", "2 %", "50 %", "100 %"]
    shares = summary(count=1000)
    assert [shares.share(n) for n in (1, 999)] == ["< 1 %", "> 99 %"]


def test_nominal_tests_and_a_leaf():
    frame = pd.DataFrame({"a": list("xyz") * 20, "b": list("uv") * 30})
    y = (frame["a"] == "x").to_numpy()
    costs = ww.Costs(tests={"a": 1.0, "b": 1.0}, errors={False: {True: 3.0}, True: {False: 3.1}})
    near = ww.OptimalClassifier(costs=costs, **(PLAIN | {"max_depth": 1})).fit(frame, y).rashomon(0.05)
    assert [one.test for one in near.first_tests] == ["a", None]
    assert [tree.n_leaves for tree in near] == [3, 2, 1]  # a branch for every value, x against the rest, no test
    assert near.objectives == pytest.approx((1.0, 1.0, 3.1 / 3))


def test_ctrl_c_ends_the_count_in_the_core():
    out, err = run_interrupted("""
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(800, 8)), rng.integers(0, 2, 800)
        settings = {"soft_labels": 0, "leaf_price": 0, "cross_fit": False, "near_optimal": None}
        clf = ww.OptimalClassifier(costs=ww.Costs(errors=50), max_depth=3, time_limit=0.2, **settings).fit(X, y)
        interrupt_in("near_optimal_trees")
        try:
            clf.rashomon(time_limit=600)
        except KeyboardInterrupt:
            print("stopped", clf.tree_.n_leaves > 1)
    """)
    assert (out.split(), err) == (["stopped", "True"], "")

"""Baselines from other libraries: no test, and the best of several trees, priced like our own."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import worthwhile as ww
from worthwhile.experiments import peers
from worthwhile.experiments.peers import (
    CANDIDATES,
    LeastCostForestClassifier,
    NoTestClassifier,
    PeerCases,
    PeerPickClassifier,
    PeerPrices,
    PeerSplit,
    PrunedTreeClassifier,
    Question,
    TunedThresholdClassifier,
    from_sklearn,
    pystreed_available,
)
from worthwhile.learners.base import Training
from worthwhile.table.columns import read_columns

needs_pystreed = pytest.mark.skipif(importlib.util.find_spec("pystreed") is None, reason="pystreed is not installed")

# Blood tests share the common price 2 and come later; the colour is seen at once.
COSTS = ww.Costs(
    tests={
        "colour": 1.0,
        "iron": ww.Test(5.0, group="blood", delayed=True),
        "salt": ww.Test(3.0, group="blood", delayed=True),
    },
    groups={"blood": 2.0},
    errors=100.0,
)


def problem(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return cases whose class hangs on the colour green and on iron, with a little noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "iron": rng.integers(0, 40, n) / 4,
            "salt": rng.normal(size=n),
        }
    )
    ill = ((X["colour"] == "green") & (X["iron"] > 3)) | (X["iron"] > 8)
    return X, np.where(ill ^ (rng.random(n) < 0.05), "ill", "well")


def taught(X: pd.DataFrame, y: np.ndarray, costs: ww.Costs = COSTS) -> tuple[PeerCases, Training]:
    """Return what a peer learns from."""
    training = NoTestClassifier(costs=costs)._prepare(read_columns(X), y, None)
    return PeerCases.of(training), training


# No test


def test_no_test_answers_the_majority_where_errors_cost_the_same() -> None:
    X, y = problem()
    none = NoTestClassifier(costs=COSTS).fit(X, y)
    assert (y == "well").mean() > 0.5
    assert set(none.predict(X)) == {"well"}
    assert not none.test_costs(X).any()
    assert none.total_costs(X, y).tolist() == [0.0 if label == "well" else 100.0 for label in y]
    assert none.tree_.n_nodes == 1
    assert none.tree_.tests_used() == []


@pytest.mark.parametrize(("ill", "answer"), [(29.0, "well"), (31.0, "ill")])
def test_no_test_answers_what_costs_least(ill: float, answer: str) -> None:
    """One of four is ill: to call all well costs `ill` / 4 each, to call all ill 3 · 10 / 4."""
    costs = ww.Costs(errors={"ill": {"well": ill}, "well": {"ill": 10.0}})
    none = NoTestClassifier(costs=costs).fit([[1.0], [2.0], [3.0], [4.0]], ["ill", "well", "well", "well"])
    assert none.predict([[5.0]]).tolist() == [answer]


def test_no_test_may_reject_and_counts_weights() -> None:
    errors = {"a": {"b": 100.0, "unknown": 10.0}, "b": {"a": 100.0, "unknown": 10.0}}
    X, y = [[1.0], [2.0]], ["a", "b"]
    assert NoTestClassifier(costs=ww.Costs(errors=errors)).fit(X, y).predict(X).tolist() == ["unknown"] * 2
    assert NoTestClassifier().fit(X, y, sample_weight=[1, 3]).predict(X).tolist() == ["b", "b"]


# Conversion


def as_numbers(X: pd.DataFrame, questions: list[Question]) -> np.ndarray:
    """Return the columns of the questions in the simplest way."""
    colours = sorted(set(X["colour"]))
    columns = [
        (X["colour"] == colours[q.code]).to_numpy(float) if q.threshold is None else X.iloc[:, q.column].to_numpy()
        for q in questions
    ]
    return np.column_stack(columns)


@pytest.mark.parametrize("depth", [1, 3, None])
def test_a_tree_of_sklearn_predicts_the_same_after_conversion(depth: int | None) -> None:
    X, y = problem()
    lesson, training = taught(X, y)
    questions = [Question(0, code=c) for c in range(3)] + [Question(1, 0.0), Question(2, 0.0)]
    peer = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(as_numbers(X, questions), y)
    tree = peers.priced_tree(from_sklearn(peer, questions), lesson, training)
    new, _ = problem(300, seed=1)
    for cases in (X, new):
        assert tree.predict(cases).tolist() == peer.predict(as_numbers(cases, questions)).tolist()
    assert depth == 1 or {"colour", "iron"} <= set(tree.tests_used())
    weights = tree.nodes.weights
    assert weights[0].tolist() == [(y == "ill").sum(), (y == "well").sum()]
    for node in range(tree.n_nodes):
        if tree.nodes.n_children[node]:
            assert weights[node].tolist() == weights[list(tree.nodes.children(node))].sum(axis=0).tolist()
    assert ww.Tree.from_json(tree.to_json()).predict(new).tolist() == tree.predict(new).tolist()


def test_prices_of_a_converted_tree_by_hand() -> None:
    """Green: then iron ≤ 3 is well, more is ill. Not green: iron ≤ 8 is well; more: salt ≤ 0.5 is well, more is ill.

    Iron is delayed: to ask for it commits to all tests below it. After green none follows: colour 1 + iron 5 + common
    price 2. Otherwise iron 5 and salt 3 are ordered together, whether salt will be looked at or not: 1 + 5 + 3 + 2.
    """
    X = pd.DataFrame(
        {
            "colour": ["green", "green", "red", "blue", "red", "blue"] * 2,
            "iron": [2.0, 5.0, 5.0, 5.0, 9.0, 9.0] * 2,
            "salt": [0.0, 0.0, 0.0, 0.0, -1.0, 1.0] * 2,
        }
    )
    y = np.array(["well", "ill", "well", "well", "well", "ill"] * 2)
    lesson, training = taught(X, y)
    blue, green = Question(0, code=0), Question(0, code=1)
    salt = PeerSplit(
        Question(2, 0.5), None, PeerSplit(blue, None, None)
    )  # only blue ones come to the last question: not asked
    fork = PeerSplit(green, PeerSplit(Question(1, 3.0), None, None), PeerSplit(Question(1, 8.0), None, salt))
    tree = peers.priced_tree(fork, lesson, training)
    assert tree.predict(X).tolist() == y.tolist()
    assert tree.test_costs(X).tolist() == [8.0, 8.0, 11.0, 11.0, 11.0, 11.0] * 2
    assert (tree.n_leaves, tree.depth) == (5, 3)
    # One value against the others: nominal, two branches
    root = tree.nodes.branch_of(0)
    assert [tree.schema.values[0][c] for c, branch in enumerate(root) if branch == 0] == ["green"]


def test_a_question_that_cannot_change_the_answer_is_not_asked() -> None:
    X, y = problem()
    lesson, training = taught(X, np.where(np.arange(len(y)) == 5, "ill", "well"))
    tree = peers.priced_tree(
        PeerSplit(Question(1, 3.0), PeerSplit(Question(0, code=1), None, None), None), lesson, training
    )
    assert tree.n_nodes == 1


def test_a_side_without_training_cases_answers_like_the_node_above() -> None:
    X, y = problem()
    lesson, training = taught(X, y)
    fork = PeerSplit(
        Question(1, 8.0), PeerSplit(Question(1, 99.0), None, PeerSplit(Question(2, 0.0), None, None)), None
    )
    tree = peers.priced_tree(fork, lesson, training)
    assert tree.depth == 1
    assert np.isfinite(tree.nodes.weights).all()


# The candidates


def test_folds_deal_out_every_class() -> None:
    classes = np.array([0] * 20 + [1] * 5 + [2], dtype=np.int32)
    held = []
    for learned, kept in peers._folds(classes, 5, 0):
        assert np.array_equal(np.sort([*learned, *kept]), np.arange(26))
        assert (classes[kept] == 0).sum() == 4
        assert (classes[kept] == 1).sum() == 1
        held.extend(kept)
    assert sorted(held) == list(range(26))
    assert list(peers._folds(np.zeros(1, dtype=np.int32), 5, 0)) == []


def test_pruned_sklearn_tree_finds_the_concept_and_leaves_out_the_noise() -> None:
    X, y = problem(400)
    lesson, training = taught(X, y)
    tree = peers.priced_tree(CANDIDATES["scikit-learn, pruned"](lesson), lesson, training)
    new, truth = problem(400, seed=1)
    assert (tree.predict(new) == truth).mean() > 0.9
    assert tree.n_leaves <= 8
    rng = np.random.default_rng(0)
    lesson, training = taught(X, rng.choice(["ill", "well"], 400, p=[0.2, 0.8]))  # nothing to be learned
    assert peers.priced_tree(CANDIDATES["scikit-learn, pruned"](lesson), lesson, training).n_nodes == 1


def test_cuts_lie_between_few_values_and_at_quantiles_of_many() -> None:
    X = pd.DataFrame({"few": [1.0, 2.0, 4.0] * 4, "many": np.arange(12.0), "one": [7.0] * 12})
    lesson, _ = taught(X, np.array(["a", "b"] * 6), ww.Costs())
    cuts = [(q.column, q.threshold) for q in peers._cuts(lesson)]
    assert [cut for column, cut in cuts if column == 0] == [1.5, 3.0]
    assert [cut for column, cut in cuts if column == 1] == pytest.approx([11 * i / 6 for i in range(1, 6)])
    assert len(cuts) == 7


@needs_pystreed
def test_optimal_trees_get_better_with_depth_and_know_error_costs() -> None:
    X, y = problem(200)
    for errors in (100.0, {"ill": {"well": 300.0}, "well": {"ill": 10.0}}):
        lesson, training = taught(X, y, COSTS.with_errors(errors))
        trees = [peers.priced_tree(CANDIDATES[f"pystreed, depth {d}"](lesson), lesson, training) for d in (1, 2, 3)]
        assert all(tree.depth <= d for d, tree in enumerate(trees, 1))
        free = [(tree.total_costs(X, y) - tree.test_costs(X, y=y)).mean() for tree in trees]
        assert free[0] >= free[1] >= free[2]
        assert free[2] < free[0]


# The pick


@needs_pystreed
def test_the_pick_does_no_test_where_tests_are_dear_and_tests_where_errors_are() -> None:
    X, y = problem(200)
    cheap = PeerPickClassifier(costs=COSTS.with_errors(1), random_state=0).fit(X, y)
    assert cheap.picked_ == "no test"
    assert cheap.tree_.n_nodes == 1
    assert cheap.cv_costs_["no test"] == pytest.approx((y == "ill").mean())
    dear = PeerPickClassifier(costs=COSTS.with_errors(10_000), random_state=0).fit(X, y)
    assert dear.picked_ != "no test"
    assert {"colour", "iron"} <= set(dear.tree_.tests_used())
    with_prices = [f"pystreed with prices, depth {depth}" for depth in (2, 3, 4)]
    assert list(dear.cv_costs_) == [*CANDIDATES, *with_prices]
    assert min(dear.cv_costs_.values()) == dear.cv_costs_[dear.picked_]
    new, truth = problem(200, seed=1)
    none = NoTestClassifier(costs=COSTS.with_errors(10_000)).fit(X, y)
    assert dear.total_costs(new, truth).mean() < none.total_costs(new, truth).mean() / 2


@needs_pystreed
def test_pystreed_with_prices_buys_what_pays_and_knows_groups() -> None:
    X, y = problem(150)
    # Copies of the useful tests: the first costs a hundred times as much, the second is cheap after another one.
    X["gold"] = X["iron"]
    tests = {
        "colour": 1.0,
        "gold": ww.Test(500.0),
        "iron": ww.Test(5.0, group="blood"),
        "salt": ww.Test(3.0, group="blood"),
    }
    costs = ww.Costs(tests=tests, groups={"blood": 2.0}, errors=100.0)
    lesson, training = taught(X, y, costs)
    prices = PeerPrices.of(training)
    assert prices.first.tolist() == [1.0, 7.0, 5.0, 500.0]
    assert prices.later.tolist() == [1.0, 5.0, 3.0, 500.0]
    assert [group < 0 for group in prices.group] == [True, False, False, True]
    tree = peers.priced_tree(peers.priced(3, prices)(lesson), lesson, training)
    assert {"colour", "iron"} <= set(tree.tests_used()) <= {"colour", "iron", "salt"}  # not gold
    blind = peers.priced_tree(CANDIDATES["pystreed, depth 3"](lesson), lesson, training)
    assert tree.total_costs(X, y).mean() <= blind.total_costs(X, y).mean()
    pick = PeerPickClassifier(costs=costs, random_state=0).fit(X, y)
    priced, plain = (
        min(cost for name, cost in pick.cv_costs_.items() if ("with prices" in name) == kind) for kind in (True, False)
    )
    assert priced <= plain
    assert list(PeerPickClassifier(costs=costs, priced=False, random_state=0).fit(X, y).cv_costs_) == list(CANDIDATES)
    weighted = PeerPickClassifier(costs=costs, random_state=0).fit(X, y, sample_weight=np.arange(150) % 2 + 1)
    assert list(weighted.cv_costs_) == list(CANDIDATES)  # pystreed's trees with prices know no weights


@needs_pystreed
def test_the_pick_is_the_same_for_the_same_seed_and_takes_all_kinds_of_input() -> None:
    X, y = problem(100)
    costs = COSTS.with_errors({"ill": {"well": 2000.0}, "well": {"ill": 50.0}})
    first = PeerPickClassifier(costs=costs, random_state=3).fit(X, y)
    again = PeerPickClassifier(costs=costs, random_state=3).fit(X, y)
    array = PeerPickClassifier(costs=costs, random_state=3, columns=list(X.columns)).fit(X.astype(object).to_numpy(), y)
    assert first.tree_.to_json() == again.tree_.to_json() == array.tree_.to_json()
    assert first.cv_costs_ == array.cv_costs_


@needs_pystreed
def test_the_pick_of_little() -> None:
    """One class, one case, a constant column: nothing to ask."""
    for X, y in ([[1.0], [2.0], [3.0]], ["a"] * 3), ([[1.0]], ["a"]), ([[1.0]] * 12, ["a", "b"] * 6):
        pick = PeerPickClassifier(random_state=0).fit(X, y)
        assert pick.tree_.n_nodes == 1
    pick = PeerPickClassifier(random_state=0).fit([[0.0], [1.0]] * 4 + [[5.0]], [*(["a", "b"] * 4), "c"])
    assert pick.predict([[0.0], [1.0]]).tolist() == ["a", "b"]


@needs_pystreed
def test_the_pick_refuses_missing_values() -> None:
    X, y = problem(50)
    X.loc[7, "salt"] = np.nan
    with pytest.raises(
        ValueError, match="column 'salt' has a missing value in row 7; the peers need complete training cases"
    ):
        PeerPickClassifier(costs=COSTS).fit(X, y)


def test_without_pystreed_the_pick_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pystreed_available() == (importlib.util.find_spec("pystreed") is not None)
    monkeypatch.setattr(peers, "pystreed_available", lambda: False)
    X, y = problem(50)
    with pytest.raises(ImportError, match=r"needs pystreed, which is not installed: pip install 'worthwhile\[bench\]'"):
        PeerPickClassifier(costs=COSTS).fit(X, y)
    NoTestClassifier(costs=COSTS).fit(X, y)


def test_the_peer_weighs_cases_by_what_errors_cost():
    X, y = np.zeros((40, 1)), np.array(["well"] * 30 + ["ill"] * 10)
    for dear, answer in ((2.0, "well"), (4.0, "ill")):
        costs = ww.Costs(errors={"ill": {"well": dear}, "well": {"ill": 1.0}})
        peer = PrunedTreeClassifier(costs=costs).fit(X, y)
        assert set(peer.predict(X)) == {answer}
        assert peer.n_nodes_ == 1


def test_the_peer_takes_names_and_missing_values():
    rng = np.random.default_rng(0)
    X = np.empty((200, 3), dtype=object)
    X[:, 0] = rng.normal(size=200)
    X[:, 1] = rng.choice(["red", "green", None], 200)
    X[:, 2] = rng.normal(size=200)
    X[::7, 0] = math.nan
    y = np.where(X[:, 1] == "red", "yes", "no")
    costs = ww.Costs(errors={"yes": {"no": 3.0}, "no": {"yes": 1.0}})
    peer = PrunedTreeClassifier(costs=costs, columns=["a", "b", "c"], random_state=3).fit(X, y)
    assert (peer.predict(X) == y).all()
    assert peer.n_nodes_ == 3
    assert peer.predict(np.array([[1.0, "blue", 0.0]], dtype=object)).tolist() == ["no"]


def test_the_peer_prunes_noise(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where((X[:, 0] > 0) ^ (rng.random(300) < 0.2), "a", "b")
    costs = ww.Costs(errors={"a": {"b": 2.0}, "b": {"a": 1.0}})
    asked = []
    alphas = peers._alphas
    monkeypatch.setattr(peers, "_alphas", lambda path, most: asked.append(alphas(path, most)) or asked[-1])
    peer = PrunedTreeClassifier(costs=costs).fit(X, y)
    assert peer.n_nodes_ <= 7
    assert len(asked[0]) <= 20


def test_a_tuned_threshold_follows_error_costs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0.8, "ill", "well")
    shares = []
    for dear in (1.0, 20.0):
        costs = ww.Costs(errors={"ill": {"well": dear}, "well": {"ill": 1.0}})
        peer = TunedThresholdClassifier(costs=costs, random_state=0).fit(X, y)
        shares.append(float((peer.predict(X) == "ill").mean()))
    assert shares[1] > shares[0] + 0.1
    with pytest.raises(ValueError, match="TunedThresholdClassifier needs two classes; there are 3"):
        TunedThresholdClassifier(costs=ww.Costs()).fit(X[:3], ["a", "b", "c"])


def test_a_forest_answers_at_least_cost():
    X = [[0.0]] * 10
    y = ["a"] * 4 + ["b"] * 3 + ["c"] * 3
    errors = {"a": {"b": 1.0, "c": 1.0}, "b": {"a": 9.0, "c": 1.0}, "c": {"a": 9.0, "b": 1.0}}
    assert LeastCostForestClassifier(costs=ww.Costs(), random_state=0).fit(X, y).predict([[0.0]]).tolist() == ["a"]
    costs = ww.Costs(errors=errors)
    assert LeastCostForestClassifier(costs=costs, random_state=0).fit(X, y).predict([[0.0]]).tolist() != ["a"]


def test_a_threshold_cannot_be_tuned_with_a_single_case_of_a_class():
    peer = TunedThresholdClassifier(costs=ww.Costs()).fit([[0.0], [0.0], [1.0]], ["a", "a", "b"])
    assert peer.predict([[0.0]]).tolist() == ["a"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a library that empulse imports
@pytest.mark.parametrize("name", ["EmpulseForestClassifier", "EmpulseThresholdClassifier"])
def test_learners_of_empulse_follow_error_costs(name):
    pytest.importorskip("empulse")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0.8, "ill", "well")
    X[::9, 1] = np.nan
    new = rng.normal(size=(200, 2))
    shares = []
    for dear in (1.0, 20.0):
        costs = ww.Costs(errors={"ill": {"well": dear}, "well": {"ill": 1.0}})
        peer = getattr(peers, name)(costs=costs, random_state=0).fit(X, y)
        shares.append(float((peer.predict(new) == "ill").mean()))
    assert 0 < shares[0] <= shares[1]

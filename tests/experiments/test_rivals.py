"""Ensembles of other libraries, priced by the paths of the cases."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from nan_cases import some_cases
from worthwhile.experiments import rivals
from worthwhile.experiments.rivals import (
    ROUNDS,
    BoostedTrees,
    PlainForest,
    catboost_sets,
    lightgbm_available,
    selected_sets,
)

needs_lightgbm = pytest.mark.skipif(not lightgbm_available(), reason="LightGBM is not installed")


CASES = some_cases(600, seed=1)


FRESH = some_cases(200, seed=2)


PRICES = np.array([1.0, 2.0, 4.0, 8.0])


def test_the_plain_forest_is_priced_by_its_paths():
    model = PlainForest(5, random_state=3).fit(CASES.X, CASES.y)
    steps = list(model.staged_costs(FRESH.X, FRESH.y, PRICES))
    assert [step.trees for step in steps] == [1, 2, 3, 4, 5]
    same = RandomForestClassifier(5, max_features=4, random_state=3).fit(CASES.X, CASES.y)
    assert steps[-1].error == pytest.approx((same.predict(FRESH.X) != FRESH.y).mean())
    for n, step in enumerate(steps, start=1):
        paid = 0.0
        for row in FRESH.X.astype(np.float32):
            seen = set()
            for tree in (member.tree_ for member in same.estimators_[:n]):
                node = 0
                while tree.children_left[node] >= 0:
                    test = tree.feature[node]
                    seen.add(test)
                    left = row[test] <= tree.threshold[node]
                    node = tree.children_left[node] if left else tree.children_right[node]
            paid += PRICES[list(seen)].sum()
        assert step.price == pytest.approx(paid / len(FRESH.y))


def walk(node, row, seen):
    """The value of the leaf that a case ends in, in a tree as LightGBM writes it; `seen` gets the tests."""
    while "split_feature" in node:
        test = node["split_feature"]
        seen.add(test)
        value = row[test]
        if node["decision_type"] == "==":
            left = not np.isnan(value) and int(value) in map(int, node["threshold"].split("||"))
        else:
            left = node["default_left"] if np.isnan(value) else value <= node["threshold"]
        node = node["left_child"] if left else node["right_child"]
    return node["leaf_value"]


@needs_lightgbm
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("kind", "tradeoff"), [("lazy", 0.02), ("coupled", 5.0)])
def test_boosted_trees_are_priced_by_their_paths(kind, tradeoff, classes):
    cases, fresh = some_cases(600, seed=1, classes=classes), some_cases(60, seed=2, classes=classes)
    model = BoostedTrees(kind, tradeoff).fit(cases.X, cases.y, PRICES, [2])
    steps = list(model.staged_costs(fresh.X, fresh.y, PRICES))
    assert steps[-1].trees <= ROUNDS[-1]
    trees = [tree["tree_structure"] for tree in model._model.dump_model()["tree_info"]]
    per_round = 1 if classes == 2 else 3
    for step in steps[::3]:
        paid = 0.0
        for row in fresh.X:
            seen = set()
            for tree in trees[: step.trees * per_round]:
                walk(tree, row, seen)
            paid += PRICES[list(seen)].sum()
        assert step.price == pytest.approx(paid / len(fresh.y))
        shares = model._model.predict(fresh.X, num_iteration=step.trees)
        answers = (shares > 0.5).astype(int) if classes == 2 else shares.argmax(axis=1)
        assert step.error == pytest.approx((np.unique(cases.y)[answers] != fresh.y).mean())


@needs_lightgbm
def test_penalties_make_boosted_trees_cheaper():
    def price(kind, tradeoff, prices=PRICES):
        model = BoostedTrees(kind, tradeoff).fit(CASES.X, CASES.y, prices, [2])
        return list(model.staged_costs(FRESH.X, FRESH.y, prices))[-1].price

    for kind, some in (("lazy", 0.1), ("coupled", 50.0)):
        assert price(kind, 1e9) == 0  # trees of one leaf
        assert 0 < price(kind, some) < price(kind, 1e-9)
    assert price("lazy", 0.1, 7 * PRICES) == pytest.approx(7 * price("lazy", 0.1))  # the currency does not matter


def test_the_rivals_are_not_loaded_unless_they_run():
    assert "lightgbm" not in vars(rivals)


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_selected_tests_grow_in_the_order_of_importance_and_price(kind):
    if kind == "boosting":
        pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 3)), rng.integers(0, 3, 300)])
    y = np.where(X[:, 0] + 0.8 * X[:, 1] > 0, "a", "b")
    by_power = {
        power: list(selected_sets(kind, X, y, np.array([50.0, 1.0, 1.0, 1.0]), power, 20, 0, nominal=[3]))
        for power in (0.0, 1.0)
    }
    assert [int(tests.sum()) for tests, _ in by_power[0.0]] == [1, 2, 3, 4]
    assert by_power[0.0][0][0].tolist() == [True, False, False, False]
    assert by_power[1.0][0][0].tolist() == [False, True, False, False]  # the other one costs fifty times as much
    errors = [float((answer(X) != y).mean()) for _, answer in by_power[0.0]]
    assert errors[1] < 0.05


def test_catboost_uses_fewer_tests_if_they_cost_more():
    pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, 0)
    used = []
    for coefficient in (0.0, 300.0):
        [(tests, answer)] = catboost_sets(X, y, np.ones(4), coefficient, 0)
        used.append(int(tests.sum()))
        assert (answer(X) == y).mean() > 0.8 or not tests.any()
    assert used[1] < used[0]

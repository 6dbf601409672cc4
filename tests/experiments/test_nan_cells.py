"""The cells of Nan, Wang & Saligrama (2015): the learners, what is measured, and theorem 2.2."""

import functools
import math
import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nan_cases import cell_of, some_cases
from problems import SEEDS, compare
from worthwhile import BudgetForestClassifier, Costs, datasets, metrics
from worthwhile.experiments import Cell, nan, nan_cells, nan_data
from worthwhile.experiments.nan_cells import (
    FAMILY,
    LEARNERS,
    POINTS,
    SHARES,
    GreedyTreeClassifier,
    NanProblem,
    Setting,
    chosen,
    measure,
)
from worthwhile.experiments.nan_data import costs_of, parts
from worthwhile.experiments.rivals import catboost_available, lightgbm_available

FOLDER = os.environ.get(datasets.FOLDER_VARIABLE)


needs_folder = pytest.mark.skipif(not FOLDER, reason="WORTHWHILE_DATA does not name a folder of data sets")


@pytest.fixture
def small(monkeypatch):
    """Replace all data sets by a few made-up cases."""
    monkeypatch.setattr(nan_data, "cases_of", lambda name, folder: some_cases())
    monkeypatch.setattr(nan_cells, "cases_of", lambda name, folder: some_cases(60))
    monkeypatch.setattr(nan_cells, "RELEVANT", {"credit": "b"})


def test_budgets():
    assert len(SHARES) == POINTS == 10
    assert sorted(set(SHARES)) == list(SHARES)
    assert SHARES[0] > 0
    assert SHARES[-1] == 1


def test_figure_4_has_fewer_cases(small):
    few, whole = parts("credit", 0, None, most=(100, 50)), parts("credit", 0, None)
    assert [len(own.y) for own in few] == [100, 100 * len(whole[1].y) // len(whole[0].y), 50]
    many = parts("credit", 0, None, most=(10**6, 10**6))
    assert [own.y.tolist() for own in many] == [own.y.tolist() for own in whole]


def test_a_setting_for_each_budget():
    settings = [Setting(0, 0.5, 0, 0.6), Setting(2, 0.2, 3, 0.1), Setting(3, 0.3, 2, 0.05), Setting(4, 0.2, 4, 0.0)]
    assert chosen(settings, [1, 2, 3, 9]) == [settings[0], settings[1], settings[1], settings[1]]
    assert chosen(settings, [2 * (1 - 1e-12)]) == [settings[1]]


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_runs(learner, small):
    if learner in nan.BOOSTED and not lightgbm_available():
        pytest.skip("LightGBM is not installed")
    if learner == nan.CATBOOST and not catboost_available():
        pytest.skip("CatBoost is not installed")
    cell = cell_of(learner, prices="unit")
    numbers, again = measure(cell, None), measure(cell, None)
    assert set(numbers) == set(FAMILY.numbers)
    assert {**again, "seconds": 0} == {**numbers, "seconds": 0}
    prices, errors = ([numbers[f"{what}_{i}"] for i in range(1, POINTS + 1)] for what in ("price", "error"))
    assert all(0 <= error <= 1 for error in errors)
    if learner != nan.CATBOOST:  # one set of tests, which may cost more than the budget
        assert errors[-1] < 0.3
    assert sorted(prices) == prices
    if learner in nan.CHOICES or learner in nan.RANK_CHOICES:
        kept = [numbers[f"valid_price_{i}"] for i in range(1, POINTS + 1)]
        assert all(price <= share * (1 + 1e-9) for price, share in zip(kept, SHARES, strict=True))
    assert FAMILY.weight(cell) > 0


@pytest.mark.parametrize("learner", ["budget", "adaptive"])
def test_a_cell_measures_what_the_forest_does_within_a_budget(learner, small):
    numbers = measure(cell_of(learner), None)
    train, validation, test = parts("credit", 1, None)
    costs = costs_of("credit", "drawn", 1, train)
    forest = BudgetForestClassifier(
        variant="paper",
        costs=costs,
        alpha=2,
        nominal=train.nominal,
        columns=train.columns,
        validation=(validation.X, validation.y),
        adaptive=learner == "adaptive",
        max_trees=nan_cells.MOST_TREES if learner == "adaptive" else nan_cells.PAPER_TREES,
        random_state=nan_cells.seed_of(cell_of(learner)),
    ).fit(train.X, train.y)
    for i, share in enumerate(SHARES, start=1):
        cut = forest.with_budget(share * costs.total_price())
        assert numbers[f"error_{i}"] == pytest.approx((cut.predict(test.X) != test.y).mean())
        assert numbers[f"price_{i}"] == pytest.approx(cut.test_costs(test.X).mean() / costs.total_price())
        assert numbers[f"valid_error_{i}"] == pytest.approx(cut.record_.error)


def test_a_cell_measures_how_a_forest_ranks(small):
    cell = cell_of("rank-budget")
    numbers = measure(cell, None)
    train, validation, test = parts("credit", 1, None)
    costs = costs_of("credit", "drawn", 1, train)
    forest = BudgetForestClassifier(
        variant="paper",
        answer="majority",
        costs=costs,
        alpha=2,
        nominal=train.nominal,
        columns=train.columns,
        validation=(validation.X, validation.y),
        max_trees=nan_cells.PAPER_TREES,
        random_state=nan_cells.seed_of(cell),
    ).fit(train.X, train.y)
    cut = forest.with_budget(SHARES[-1] * costs.total_price())
    score, queries = cut.predict_proba(test.X)[:, 1], np.arange(len(test.y)) // nan_data.QUERY
    precision = metrics.average_precision_at(test.y, score, queries, relevant="b")
    assert numbers["error_10"] == pytest.approx(1 - precision)
    assert numbers["price_10"] == pytest.approx(cut.test_costs(test.X).mean() / costs.total_price())


def test_trees_by_number(small):
    numbers = measure(cell_of("budget-rf", prices="unit"), None)
    train, validation, test = parts("credit", 1, None)
    forest = BudgetForestClassifier(
        variant="paper",
        costs=Costs(tests=dict.fromkeys("abcd", 1.0)),
        max_trees=3,
        nominal=train.nominal,
        columns=train.columns,
        validation=(validation.X, validation.y),
        random_state=nan_cells.seed_of(cell_of("budget-rf")),
    ).fit(train.X, train.y)
    assert numbers["price_3"] == pytest.approx(forest.test_costs(test.X).mean() / 4)
    assert numbers["error_3"] == pytest.approx((forest.predict(test.X) != test.y).mean())


def test_where_nothing_is_within_the_budget_nothing_is_paid():
    cases = some_cases(300)
    expensive = NanProblem(cases, cases, cases, Costs(tests={"a": 1000.0, "b": 1000.0, "c": 1000.0, "d": 1000.0}), 0)
    settings = LEARNERS["plain"].settings(expensive)
    most = max(Counter(cases.y.tolist()).values())
    assert settings[0] == Setting(0, 1 - most / 300, 0, 1 - most / 300)
    assert settings[0] == nan_cells.no_test(expensive)


def test_figure_1_what_the_choice_of_a_test_leads_to():
    """The right-hand plot: t2 leaves half of the cases wrong, t1 one in six."""
    y = [0] * 30 + [1] * 30
    X = np.column_stack([[0] * 40 + [1] * 20, ([0] * 15 + [1] * 15) * 2])
    for alpha, column, error in ((0, 1, 1 / 2), (8, 0, 1 / 6)):
        tree = GreedyTreeClassifier(alpha=alpha, max_depth=1, nominal=[0, 1]).fit(X, y)
        assert tree.tree_.nodes.test[0] == column
        assert (tree.predict(X) != y).mean() == pytest.approx(error)


def test_figure_3_is_a_curve_over_max_cost():
    number = np.arange(1024)
    y = number // 256
    y[[0, 256, 512, 768]] = [1, 2, 3, 0]
    X = np.column_stack([number >> bit & 1 for bit in range(9, -1, -1)])
    costs = Costs(tests={f"x{i}": 1.0 for i in range(10)})
    errors = []
    for depth in range(1, 11):
        tree = GreedyTreeClassifier(max_depth=depth, costs=costs, nominal=list(range(10))).fit(X, y)
        answers, prices = tree.predict_with_prices(X)
        assert prices.max() == depth
        errors.append(round(100 * (answers != y).mean(), 2))
    assert errors[1] == 0.39
    assert errors[-1] == 0
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 25
    assert errors[8] > 0  # by Kraft's inequality nothing shorter than ten tests is right for all


def separate(columns, rows, test):
    """The parts of some cases by a test's values."""
    parts = {}
    for row in rows:
        parts.setdefault(columns[test][row], []).append(row)
    return [frozenset(part) for part in parts.values()]


def optimal_max_cost(columns, prices, impurity):
    """The highest price that any case pays in the best tree whose leaves have no impurity: tries all trees."""

    @functools.cache
    def best(rows):
        if impurity(rows) == 0:
            return 0.0
        found = math.inf
        for test, price in enumerate(prices):
            below = separate(columns, rows, test)
            if len(below) > 1:
                found = min(found, price + max(best(part) for part in below))
        return found

    return best(frozenset(range(len(columns[0]))))


def plain_impurity(name, parameter, y):
    """The impurity of a set of cases, from the paper's formulas."""

    def of(rows):
        n = Counter(y[row] for row in rows)
        counts = list(n.values())
        if name == "powers":
            return sum(counts) ** parameter - sum(count**parameter for count in counts)
        pairs = [(a, b) for i, a in enumerate(counts) for b in counts[:i]]
        return sum(max(max(a - parameter, 0) * max(b - parameter, 0) - parameter**2, 0) for a, b in pairs)

    return of


def least_impurity(name, parameter, y):
    """The smallest impurity above 0 of any set of the cases."""
    counts = Counter(y)
    sizes = np.stack(np.meshgrid(*(range(n + 1) for n in counts.values())), axis=-1).reshape(-1, len(counts))
    values = (
        plain_impurity(name, parameter, [c for c, n in enumerate(size) for _ in range(n)])(range(sum(size)))
        for size in sizes
    )
    return min(value for value in values if value > 0)


def discrete_problem(rng):
    """Different cases, their classes, and prices."""
    n_tests = int(rng.integers(2, 6))
    n_values = rng.integers(2, 4, n_tests)
    X = np.unique(np.column_stack([rng.integers(0, v, 14) for v in n_values]), axis=0)
    X = X[rng.permutation(len(X))[: int(rng.integers(2, 13))]]
    y = rng.integers(0, int(rng.integers(2, 4)), len(X))
    return X, y, rng.integers(1, 8, n_tests).astype(float)


@given(SEEDS, st.sampled_from([("pairs", 0), ("pairs", 1), ("powers", 2), ("powers", 4)]))
@compare(400)
def test_theorem_2_2(seed, which):
    """Cost_F(S) ≤ (ln F(S) + 1) · OPT(S), where the smallest impurity above 0 counts as 1."""
    name, parameter = which
    X, y, prices = discrete_problem(np.random.default_rng(seed))
    impurity = plain_impurity(name, parameter, y.tolist())
    whole = impurity(range(len(y)))
    own = {"alpha": parameter} if name == "pairs" else {"power": parameter}
    costs = Costs(tests={f"x{i}": price for i, price in enumerate(prices.tolist())})
    tree = GreedyTreeClassifier(impurity=name, costs=costs, nominal=list(range(X.shape[1])), **own).fit(X, y)
    answers, paid = tree.predict_with_prices(X)
    best = optimal_max_cost([column.tolist() for column in X.T], prices.tolist(), impurity)
    if whole == 0:
        assert best == paid.max() == 0
        return
    if parameter == 0 or name != "pairs":
        assert (answers == y).all()  # no impurity is left
    scaled = whole / least_impurity(name, parameter, y.tolist())
    assert best <= paid.max() + 1e-9
    assert paid.max() <= (math.log(scaled) + 1) * best + 1e-9


def test_the_greedy_tree_is_not_always_the_best():
    """So that the test above compares two different things."""
    worse = 0
    for seed in range(60):
        X, y, prices = discrete_problem(np.random.default_rng(seed))
        costs = Costs(tests={f"x{i}": price for i, price in enumerate(prices.tolist())})
        tree = GreedyTreeClassifier(costs=costs, nominal=list(range(X.shape[1]))).fit(X, y)
        impurity = plain_impurity("pairs", 0, y.tolist())
        best = optimal_max_cost([column.tolist() for column in X.T], prices.tolist(), impurity)
        worse += tree.test_costs(X).max() > best + 1e-9
    assert 3 <= worse <= 50


@needs_folder
def test_powers_of_2_are_pairs_without_a_threshold():
    cells = [Cell("votes", "unit", "1", "greedy-tree", text, 0) for text in ("alpha=0", 'impurity="powers" power=2')]
    one, other = (measure(cell, FOLDER) for cell in cells)
    assert {**one, "seconds": 0} == {**other, "seconds": 0}
    assert one["error_10"] == 0  # every data set is complete
    assert one["price_10"] <= 16

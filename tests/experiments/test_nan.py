"""The grid of Nan, Wang & Saligrama (2015): data, splits, rivals, what is measured, the tables; theorem 2.2."""

import functools
import math
import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from problems import SEEDS, compare
from worthwhile import BudgetForestClassifier, Costs, cli, datasets, experiments
from worthwhile.experiments import Cell, nan, nan_cells, nan_data, rivals
from worthwhile.experiments.nan_cells import (
    FAMILY,
    LEARNERS,
    POINTS,
    SHARES,
    GreedyTreeClassifier,
    Problem,
    Setting,
    chosen,
    measure,
)
from worthwhile.experiments.nan_data import DATA, LARGE, SMALL, Cases, cases_of, costs_of, parts
from worthwhile.experiments.page import About, footnote, judgement, write_pages
from worthwhile.experiments.rivals import ROUNDS, BoostedTrees, PlainForest, lightgbm_available
from worthwhile.learners.forest.classifier import ALPHAS

FOLDER = os.environ.get(datasets.FOLDER_VARIABLE)
needs_folder = pytest.mark.skipif(not FOLDER, reason="WORTHWHILE_DATA does not name a folder of data sets")
needs_lightgbm = pytest.mark.skipif(not lightgbm_available(), reason="LightGBM is not installed")
NAMES = experiments.PAPERS["nan"]
FULL, QUICK = (About("worthwhile reproduce", quick=quick, cells=1, seconds=1) for quick in (False, True))


def grid(name):
    return experiments.EXPERIMENTS[f"nan-{name}"]


def some_cases(n=900, seed=0, classes=3):
    """Cases of which two numbers and a nominal column say the class; the last number says nothing."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 4, n), rng.normal(size=n)])
    y = (X[:, 0] > 0).astype(int) + ((X[:, 1] > 0.3) & (X[:, 2] > 1)) * (classes - 2)
    return Cases(X, np.array(list("abcdef"))[y], ["c"], ["a", "b", "c", "d"])


@pytest.fixture
def small(monkeypatch):
    """Put a few made-up cases in the place of all data sets."""
    monkeypatch.setattr(nan_data, "cases_of", lambda name, folder: some_cases())
    monkeypatch.setattr(nan_cells, "cases_of", lambda name, folder: some_cases(60))


# The grid


def test_the_grid_is_that_of_the_paper():
    assert NAMES == ["nan-table1", "nan-figure4", "nan-figure5"]
    cells = grid("table1").cells(False, 0)
    assert len(cells) == len(set(cells)) == 4 * 3 * 10
    assert {cell.prices for cell in cells} == {"unit"}
    assert {cell.parameters for cell in cells} == {'alpha=0 sampling="drawn"', 'alpha=0 sampling="chosen"', ""}
    figure5 = grid("figure5").cells(False, 0)
    assert len(figure5) == len(set(figure5)) == len(SMALL) * 9
    assert len(SMALL) == 8


@needs_lightgbm
def test_the_grid_of_figure_4():
    cells = grid("figure4").cells(False, 0)
    count = Counter(cell.learner for cell in cells)
    problems, splits = len(nan.PROBLEMS), nan.SPLITS
    assert count["budget"] == problems * splits * len(ALPHAS)
    assert count["adaptive"] == problems * splits * len(nan.FEW_ALPHAS)
    assert count["lazy"] == problems * splits * len(nan.LAZY)
    assert count["plain"] == problems * splits
    assert {(cell.data, cell.prices) for cell in cells} == set(nan.PROBLEMS)
    assert {data for data, _ in nan.PROBLEMS} == set(LARGE)


def test_without_lightgbm_its_methods_are_left_out(monkeypatch):
    monkeypatch.setattr(nan, "lightgbm_available", lambda: False)
    assert {cell.learner for cell in grid("figure4").cells(False, 0)} == {"adaptive", "budget", "plain"}
    table = grid("figure4").table(made_up("figure4"), False, 0)
    assert "LightGBM is not installed" in table.notes[0]
    assert not any("CEGB" in row for row in table.rows)


@pytest.mark.parametrize("name", NAMES)
def test_quick_grids_are_small(name):
    quick, full = (set(experiments.EXPERIMENTS[name].cells(quick, 0)) for quick in (True, False))
    assert quick < full
    assert sum(map(FAMILY.weight, quick)) < 60
    seeds = [{cell.split for cell in experiments.EXPERIMENTS[name].cells(False, seed)} for seed in range(3)]
    if name == "nan-figure5":
        assert seeds == [{0}] * 3  # nothing is random
    else:
        assert not seeds[0] & seeds[1]
        assert seeds[2] == {20 + split for split in seeds[0]}


def test_budgets():
    assert len(SHARES) == POINTS == 10
    assert sorted(set(SHARES)) == list(SHARES)
    assert SHARES[0] > 0
    assert SHARES[-1] < 1


# Data


def test_cases_are_divided_in_three(small):
    grow, choose, test = parts("letter", 0, None)
    n = len(some_cases().y)
    total = sum(nan_data.SIZES)
    for part, size in zip((grow, choose, test), nan_data.SIZES, strict=True):
        assert len(part.y) == len(part.X) == int(n * size / total)
    rows = Counter(tuple(row) for part in (grow, choose, test) for row in part.X.tolist())
    assert max(rows.values()) == 1
    again, other = parts("letter", 0, None)[0], parts("letter", 1, None)[0]
    assert (again.X == grow.X).all()
    assert (other.X != grow.X).any()


def test_large_sets_have_the_sizes_of_the_paper(monkeypatch):
    n = 581_012
    large = Cases(np.arange(n, dtype=float)[:, None], np.zeros(n, dtype="<U1"), [], ["a"])
    monkeypatch.setattr(nan_data, "cases_of", lambda name, folder: large)
    assert [len(part.y) for part in parts("covtype", 3, None)] == [36_603, 15_688, 58_101]


def test_prices_are_drawn_for_each_split():
    cases = some_cases()
    assert costs_of("letter", "unit", 0, cases) == Costs(tests=dict.fromkeys("abcd", 1.0))
    lists = [costs_of("letter", "drawn", split, cases) for split in (0, 0, 1)]
    assert lists[0] == lists[1] != lists[2]
    prices = [lists[0].price(name) for name in "abcd"]
    assert all(1 <= price <= 100 for price in prices)
    assert lists[0].total_price() == pytest.approx(sum(prices))  # no groups


def test_levels_by_hand():
    cases = Cases(
        np.array([[0.0, 1], [0.9, 1], [9.0, 0], [4.4, np.nan], [4.6, np.nan], [4.0, np.nan]]),
        np.array(list("aabbaa")),
        ["v"],
        ["u", "v"],
    )
    found = nan_data._discrete(cases)
    # 4.4 and 4.0 are of the same level, with a class each: the first of equals.
    assert found.X.tolist() == [[0, 1], [1, 1], [4, 2], [5, 2], [9, 0]]
    assert found.y.tolist() == ["a", "a", "a", "a", "b"]
    assert list(found.nominal) == ["u", "v"]


def test_quarters():
    y = np.array([str(value) for value in (5, 1, 2, 3, 4, 6, 7, 8)])
    cases = Cases(np.arange(8.0)[:, None], y, [], ["a"])
    assert sorted(nan_data._quarters(cases).y.tolist()) == ["1", "1", "2", "2", "3", "3", "4", "4"]


@needs_folder
@pytest.mark.parametrize("name", SMALL)
def test_there_are_as_many_different_cases_as_the_paper_says(name):
    cases = cases_of(name, FOLDER)
    assert len(cases.y) == nan.published()["figure5", SMALL[name].title, "different cases"]
    assert len(np.unique(cases.X, axis=0)) == len(cases.y)
    classes = {"dna": 3, "boston": 4, "soybean": 19}.get(name, 2)
    assert len(set(cases.y)) == classes
    assert not np.isnan(cases.X).any()


@needs_folder
@pytest.mark.parametrize(("name", "columns", "nominal"), [("adult", 14, 7), ("credit", 23, 2), ("letter", 16, 0)])
def test_large_sets_as_numbers(name, columns, nominal):
    cases = cases_of(name, FOLDER)
    assert cases.X.shape == (len(cases.y), columns)
    assert len(cases.nominal) == nominal  # sex has two values: a number does as well
    assert np.isnan(cases.X).sum() == (6465 if name == "adult" else 0)
    for column in cases.nominal:
        values = cases.X[:, cases.columns.index(column)]
        known = np.unique(values[~np.isnan(values)])
        assert known.tolist() == list(range(len(known)))


# Rivals

CASES = some_cases(600, seed=1)
FRESH = some_cases(200, seed=2)
PRICES = np.array([1.0, 2.0, 4.0, 8.0])


def test_the_plain_forest_is_priced_by_its_ways():
    model = PlainForest(5, random_state=3).fit(CASES.X, CASES.y)
    steps = list(model.steps(FRESH.X, FRESH.y, PRICES))
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
def test_boosted_trees_are_priced_by_their_ways(kind, tradeoff, classes):
    cases, fresh = some_cases(600, seed=1, classes=classes), some_cases(60, seed=2, classes=classes)
    model = BoostedTrees(kind, tradeoff).fit(cases.X, cases.y, PRICES, [2])
    steps = list(model.steps(fresh.X, fresh.y, PRICES))
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
        return list(model.steps(FRESH.X, FRESH.y, prices))[-1].price

    for kind, some in (("lazy", 0.1), ("coupled", 50.0)):
        assert price(kind, 1e9) == 0  # trees of one leaf
        assert 0 < price(kind, some) < price(kind, 1e-9)
    assert price("lazy", 0.1, 7 * PRICES) == pytest.approx(7 * price("lazy", 0.1))  # the currency does not matter


def test_a_setting_for_each_budget():
    settings = [Setting(0, 0.5, 0, 0.6), Setting(2, 0.2, 3, 0.1), Setting(3, 0.3, 2, 0.05), Setting(4, 0.2, 4, 0.0)]
    assert chosen(settings, [1, 2, 3, 9]) == [settings[0], settings[1], settings[1], settings[1]]
    assert chosen(settings, [2 * (1 - 1e-12)]) == [settings[1]]


# Cells

PARAMETERS = {
    "budget-rf": "alpha=0",
    "budget-rf-chosen": 'alpha=0 sampling="chosen"',
    "adaptive": "alpha=2",
    "budget": "alpha=2",
    "lazy": "tradeoff=0.05",
    "coupled": "tradeoff=5",
    "greedy-tree": 'impurity="powers" power=3',
}


def cell_of(learner, data="credit", prices="drawn", split=1):
    return Cell("pima" if learner == "greedy-tree" else data, prices, "1", learner, PARAMETERS.get(learner, ""), split)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_runs(learner, small):
    if learner in nan.BOOSTED and not lightgbm_available():
        pytest.skip("LightGBM is not installed")
    cell = cell_of(learner, prices="unit")
    numbers, again = measure(cell, None), measure(cell, None)
    assert set(numbers) == set(FAMILY.numbers)
    assert {**again, "seconds": 0} == {**numbers, "seconds": 0}
    prices, errors = ([numbers[f"{what}_{i}"] for i in range(1, POINTS + 1)] for what in ("price", "error"))
    assert all(0 <= error <= 1 for error in errors)
    assert errors[-1] < 0.3
    assert sorted(prices) == prices
    if learner in nan.CHOICES:
        kept = [numbers[f"valid_price_{i}"] for i in range(1, POINTS + 1)]
        assert all(price <= share * (1 + 1e-9) for price, share in zip(kept, SHARES, strict=True))
    assert FAMILY.weight(cell) > 0


@pytest.mark.parametrize("learner", ["budget", "adaptive"])
def test_a_cell_measures_what_the_forest_does_within_a_budget(learner, small):
    numbers = measure(cell_of(learner), None)
    grow, choose, test = parts("credit", 1, None)
    costs = costs_of("credit", "drawn", 1, grow)
    forest = BudgetForestClassifier(
        costs=costs,
        alpha=2,
        nominal=grow.nominal,
        columns=grow.columns,
        validation=(choose.X, choose.y),
        adaptive=learner == "adaptive",
        max_trees=nan_cells.MOST_TREES if learner == "adaptive" else nan_cells.PAPER_TREES,
        random_state=nan_cells.seed_of(cell_of(learner)),
    ).fit(grow.X, grow.y)
    for i, share in enumerate(SHARES, start=1):
        cut = forest.with_budget(share * costs.total_price())
        assert numbers[f"error_{i}"] == pytest.approx((cut.predict(test.X) != test.y).mean())
        assert numbers[f"price_{i}"] == pytest.approx(cut.test_costs(test.X).mean() / costs.total_price())
        assert numbers[f"valid_error_{i}"] == pytest.approx(cut.record_.error)


def test_trees_by_number(small):
    numbers = measure(cell_of("budget-rf", prices="unit"), None)
    grow, choose, test = parts("credit", 1, None)
    forest = BudgetForestClassifier(
        costs=Costs(tests=dict.fromkeys("abcd", 1.0)),
        max_trees=3,
        nominal=grow.nominal,
        columns=grow.columns,
        validation=(choose.X, choose.y),
        random_state=nan_cells.seed_of(cell_of("budget-rf")),
    ).fit(grow.X, grow.y)
    assert numbers["price_3"] == pytest.approx(forest.test_costs(test.X).mean() / 4)
    assert numbers["error_3"] == pytest.approx((forest.predict(test.X) != test.y).mean())


def test_where_nothing_is_within_the_budget_nothing_is_paid():
    cases = some_cases(300)
    dear = Problem(cases, cases, cases, Costs(tests={"a": 1000.0, "b": 1000.0, "c": 1000.0, "d": 1000.0}), 0)
    settings = LEARNERS["plain"].settings(dear)
    most = max(Counter(cases.y.tolist()).values())
    assert settings[0] == Setting(0, 1 - most / 300, 0, 1 - most / 300)
    assert settings[0] == nan_cells.no_test(dear)


# Figures 1 to 3: the impurities of figure 1 and the four errors of figure 3 are in test_forest.py


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
    assert errors[8] > 0  # by Kraft's inequality nothing shorter than ten tests is right about all


# Theorem 2.2


def separate(columns, rows, test):
    """The parts of some cases by a test's values."""
    parts = {}
    for row in rows:
        parts.setdefault(columns[test][row], []).append(row)
    return [frozenset(part) for part in parts.values()]


def optimal_max_cost(columns, prices, impurity):
    """What the dearest case pays in the best tree whose leaves have no impurity: tries all trees."""

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
    dearer = 0
    for seed in range(60):
        X, y, prices = discrete_problem(np.random.default_rng(seed))
        costs = Costs(tests={f"x{i}": price for i, price in enumerate(prices.tolist())})
        tree = GreedyTreeClassifier(costs=costs, nominal=list(range(X.shape[1]))).fit(X, y)
        impurity = plain_impurity("pairs", 0, y.tolist())
        best = optimal_max_cost([column.tolist() for column in X.T], prices.tolist(), impurity)
        dearer += tree.test_costs(X).max() > best + 1e-9
    assert 3 <= dearer <= 50


# Tables


def made_up(name, quick=False, price=lambda cell, i: 0.01 * i, error=lambda cell, i: 0.5 - 0.02 * i, valid=None):
    """Numbers for a table, as functions of the cell and the point."""
    valid = valid or error
    return {
        cell: {
            "seconds": 0.5,
            **{
                f"{what}_{i}": function(cell, i)
                for what, function in (
                    ("price", price),
                    ("error", error),
                    ("valid_price", price),
                    ("valid_error", valid),
                )
                for i in range(1, POINTS + 1)
            },
        }
        for cell in grid(name).cells(quick, 0)
    }


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", [name.removeprefix("nan-") for name in NAMES])
def test_pages_of_all_tables(name, quick, tmp_path):
    table = grid(name).table(made_up(name, quick), quick, 0)
    assert table.title == grid(name).title
    files = write_pages(f"nan-{name}", [table], tmp_path, QUICK if quick else FULL)
    page = (tmp_path / f"nan-{name}.md").read_text()
    assert "Not all of it is finished" not in page
    assert [file.suffix for file in files] == [".csv", ".md", ".png"]
    assert all(path.stat().st_size for path in files)
    assert ("within 2 of the published ones" in page) == (name == "table1" and not quick)
    if name != "figure5":
        assert "not to be had" in page or "no published prices" in page


@pytest.mark.parametrize("name", [name.removeprefix("nan-") for name in NAMES])
def test_what_is_missing_is_left_out(name, tmp_path):
    everything = made_up(name)
    empty = grid(name).table({}, False, 0)
    assert not empty.rows
    assert not empty.pictures
    assert "Not all of it is finished" in empty.notes[0]
    write_pages(f"nan-{name}", [empty], tmp_path, FULL)
    first = next(iter(everything))
    without = {cell: numbers for cell, numbers in everything.items() if cell.data != first.data}
    table = grid(name).table(without, False, 0)
    assert table.rows
    assert not any(row.startswith(DATA[first.data].title) for row in table.rows)
    one_short = grid(name).table({c: n for c, n in everything.items() if c != first}, False, 0)
    assert len(one_short.rows) <= len(grid(name).table(everything, False, 0).rows)


def test_table_1_by_hand():
    def price(cell, i):
        return (0.12 if cell.learner == "budget-rf" else 0.25) + 0.01 * i + 0.001 * (cell.split % 2)

    def error(cell, i):
        return (0.2 if cell.learner == "budget-rf" else 0.15) - 0.001 * i

    table = grid("table1").table(made_up("table1", price=price, error=error), False, 0)
    entry = table.entries["Forest: BudgetRF", "1"]
    assert entry.ours.mean == pytest.approx(13.05)
    assert (entry.published[0], entry.inside) == (11.37, True)
    assert table.entries["Forest: BudgetRF", "10"].published[0] == 23.21
    assert table.entries["Forest: random forest", "10"].inside is False
    assert table.entries["letter: BudgetRF", "1"].published is None
    assert footnote(table) == "† further than 2 from the published number"
    assert judgement(table).endswith(
        "within 2 of the published ones (rounded to two digits after the point, as these are)."
    )
    [errors] = table.breakdowns
    assert errors.rows["Forest"] == ["14.00", "19.00 (+5.00)", "14.00 (+0.00)", "13.18", "13.64 (+0.46)"]
    assert errors.rows["adult"] == ["14.00", "19.00 (+5.00)", "14.00 (+0.00)", "", ""]
    assert len(table.rows) == 12
    assert table.entries["Forest: BudgetRF, sampling chosen", "10"].published[0] == 23.21
    [picture] = table.pictures
    assert len(picture.panels) == 4
    assert len(picture.panels[0].lines) == 5
    assert len(picture.panels[1].lines) == 3


def test_published_numbers():
    there = nan.published()
    assert there["table1", "Forest: BudgetRF", "5"] == 20.47
    assert there["table1", "CIFAR-10: random forest", "error"] == 35.94
    assert len([key for key in there if key[0] == "table1"]) == 3 * 2 * 11


@needs_lightgbm
def test_figure_4_by_hand(monkeypatch):
    monkeypatch.setattr(nan, "SPLITS", 2)

    def valid(cell, i):
        """The second alpha looks best on the cases to choose by, at the first five budgets; then the last."""
        return 0.1 if cell.parameters.startswith("alpha=8 " if i <= 5 else "alpha=25 ") else 0.3

    def error(cell, i):
        own = {"alpha=8": 0.2, "alpha=25": 0.12}.get(cell.parameters.split()[0] if cell.parameters else "", 0.01)
        return own + 0.1 * (cell.split % 2) if cell.learner in ("adaptive", "budget") else 0.25

    def price(cell, i):
        return 0.02 if cell.parameters.startswith("alpha=8 ") else 0.03

    table = grid("figure4").table(made_up("figure4", price=price, error=error, valid=valid), False, 0)
    row = [table.entries["letter, drawn prices: BudgetForest, adaptive", f"{100 * s:g} %"].ours.mean for s in SHARES]
    assert row == pytest.approx([25] * 5 + [17] * 5)  # the mean of two splits
    assert any("the average over 2 splits" in note for note in table.notes)
    least, behind, paid = table.breakdowns
    assert least.rows["letter, drawn prices"][:1] == ["all the same"]
    assert least.rows["letter, drawn prices"][-1:] == ["BudgetForest, adaptive; BudgetRF"]
    assert behind.rows["letter, drawn prices"] == ["+0.0"] * 5 + ["-8.0"] * 5
    assert paid.rows["letter, drawn prices: BudgetRF"] == pytest.approx([2] * 5 + [3] * 5)
    assert any("Forest, unit prices 10 (below at 5); Forest, drawn" in note for note in table.notes)
    [picture] = table.pictures
    assert len(picture.panels) == len(nan.PROBLEMS)
    assert picture.panels[0].own_x["BudgetRF"] == pytest.approx([2] * 5 + [3] * 5)


def test_margins_count_the_best_rival():
    def course(*errors):
        return nan.Course(np.zeros(len(errors)), np.array(errors))

    courses = {"adaptive": course(10, 10, 10), "lazy": course(9, 12, 10), "coupled": course(20, 11, 10.0)}
    assert nan.margins(courses).tolist() == [1, -1, 0]
    note = nan._verdicts({"a problem": courses, "another": {**courses, "plain": course(1, 1, 1)}})
    assert note == [
        "Of the 10 budgets, *BudgetForest, adaptive* is at or below the best rival at:"
        " a problem 2 (below at 1); another 0 (below at 0)."
    ]


def test_figure_5_by_hand():
    def error(cell, i):
        if "powers" in cell.parameters:
            return 0.3 - 0.03 * i
        early = cell.parameters == "alpha=25" and cell.data != "votes"
        return 0.2 if early else 0.4

    table = grid("figure5").table(made_up("figure5", error=error), False, 0)
    assert table.entries["Sonar: pairs, α > 0", "1"].ours.mean == pytest.approx(20)
    assert table.entries["House Votes: pairs, α > 0", "1"].ours.mean == pytest.approx(40)
    assert table.entries["Sonar: powers", "10"].ours.mean == pytest.approx(0)
    [counts] = table.breakdowns
    assert [counts.rows[what][0] for what in counts.rows] == ["7", "0", "1"]
    assert [counts.rows[what][-1] for what in counts.rows] == ["0", "0", "8"]
    assert len(table.pictures[0].panels) == 8


@needs_folder
def test_powers_of_2_are_pairs_without_a_threshold():
    cells = [Cell("votes", "unit", "1", "greedy-tree", text, 0) for text in ("alpha=0", 'impurity="powers" power=2')]
    one, other = (measure(cell, FOLDER) for cell in cells)
    assert {**one, "seconds": 0} == {**other, "seconds": 0}
    assert one["error_10"] == 0  # every data set is complete
    assert one["price_10"] <= 16


@needs_folder
def test_the_command(tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["reproduce", "nan-figure5", "--quick", "--data", FOLDER, "--out", str(out), "--jobs", "1"]
    assert cli.run(arguments) == 0
    assert "Figure 5" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {
        "cells-nan.csv",
        "nan-figure5.csv",
        "nan-figure5.md",
        "nan-figure5.png",
    }
    assert cli.run([*arguments, "--quiet"]) == 0  # nothing is measured again
    lines = (out / "cells-nan.csv").read_text().splitlines()
    assert len(lines) == 1 + len(grid("figure5").cells(True, 0))


def test_the_rivals_are_not_loaded_unless_they_run():
    assert rivals.lightgbm_available.__doc__
    assert "lightgbm" not in vars(rivals)

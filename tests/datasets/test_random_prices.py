"""Random price lists follow the rules of the papers."""

import math

import numpy as np
import pytest

from worthwhile.datasets.random_prices import information_gains, random_costs
from worthwhile.table.columns import read_columns
from worthwhile.table.schema import Schema


def cases(n=200, columns=20, seed=0):
    """Columns that are less and less informative about the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    noise = np.linspace(0.2, 5, columns)
    return y[:, None] + noise * rng.normal(size=(n, columns)), y


def lists(count, X, y, **options):
    return [random_costs(X, y, random_state=seed, **options) for seed in range(count)]


def test_prices_are_in_the_range_and_later_tests_save_the_common_price():
    X, y = cases()
    for costs in lists(20, X, y, price_range=(5, 50)):
        for name, test in costs.tests.items():
            assert 5 <= round(costs.price(name), 2) <= 50
            assert test.price > 0
            assert not test.delayed
        for group, common in costs.groups.items():
            members = [name for name, test in costs.tests.items() if test.group == group]
            assert len(members) > 1
            assert common == pytest.approx(0.8 * min(map(costs.price, members)), abs=0.006)
            first, second = members[:2]
            assert costs.price(second) - costs.price(second, paid={first}) == pytest.approx(common)


def test_groups_and_none_are_equally_likely():
    X, y = cases(n=20)
    found = [test.group for costs in lists(100, X, y) for test in costs.tests.values()]
    assert len(set(found)) == 5  # 0.2 × 20 groups, and none
    for group in set(found):
        assert abs(found.count(group) / len(found) - 1 / 5) < 0.06  # groups of one test are removed, so a little less
    assert not any(costs.groups for costs in lists(5, X, y, groups=0.0))


def test_informative_tests_cost_more():
    X, y = cases()
    mean = np.mean([[costs.price(name) for name in costs.tests] for costs in lists(50, X, y)], axis=0)
    assert mean[0] > 75
    assert mean[-1] < 30
    table = read_columns(X)
    told = information_gains(table, Schema.learn(table), y.astype(np.int32), 2)
    assert np.corrcoef(told, mean)[0, 1] > 0.95
    exact = random_costs(X, y, spread=0.0, groups=0.0, random_state=0)
    assert [exact.price(name) for name in exact.tests] == pytest.approx(1 + 99 * told / told.max(), abs=0.006)


def test_uniform_prices_do_not_depend_on_the_classes():
    X, y = cases()
    drawn = lists(50, X, y, informative=False)
    mean = np.mean([[costs.price(name) for name in costs.tests] for costs in drawn], axis=0)
    assert np.abs(mean - 50.5).max() < 16
    assert drawn[0] == random_costs(X, 1 - y, informative=False, random_state=0)
    semi = random_costs(X, y, random_state=0)
    assert [t.group for t in semi.tests.values()] == [t.group for t in drawn[0].tests.values()]


def test_the_scheme_of_2006():
    X, y = cases()
    for costs in lists(10, X, y, groups=0.8, shared=0.8, informative=False):
        assert all(1 <= test.price <= 100 for test in costs.tests.values())
        for group, common in costs.groups.items():
            highest = max(test.price for test in costs.tests.values() if test.group == group)
            assert common == pytest.approx(0.8 * highest, abs=0.006)


def test_delays_errors_and_seeds():
    X, y = cases()
    costs = random_costs(X, y, delayed=0.3, errors=500, random_state=1)
    assert sum(test.delayed for test in costs.tests.values()) == 6
    assert costs.errors == 500
    assert costs == random_costs(X, y, delayed=0.3, errors=500, random_state=1)
    assert costs != random_costs(X, y, delayed=0.3, errors=500, random_state=2)
    assert list(random_costs(X[:, :2], y, columns=["age", "sex"]).tests) == ["age", "sex"]


def test_information_gains_by_hand():
    X = [["a", 1.0, 7, 1], ["a", 2.0, 7, 2], ["b", np.nan, 7, 1], ["c", 4.0, 7, 2]]
    table = read_columns(np.array(X, dtype=object))
    told = information_gains(table, Schema.learn(table, nominal=["x3"]), np.array([0, 0, 1, 1], dtype=np.int32), 2)
    # One of four is missing; the best split separates two cases of one class from one of the other.
    third = math.log2(3) - 2 / 3
    assert told == pytest.approx([1.0, 0.75 * third, 0.0, 0.0])


def test_a_column_without_values_has_the_lowest_price():
    X = np.column_stack([np.arange(10.0), np.full(10, np.nan)])
    costs = random_costs(X, [0, 1] * 5, spread=0.0, random_state=0)
    assert costs.price("x1") == 1
    same = random_costs(np.ones((10, 3)), [0, 1] * 5, spread=0.0, groups=0.0)
    assert [same.price(name) for name in same.tests] == [1, 1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"price_range": (5, 5)}, r"price_range must be two numbers, 0 <= lowest < highest, got \(5, 5\)"),
        ({"price_range": 3}, "price_range must be two numbers"),
        ({"price_range": (-1, 3)}, "price_range must be two numbers"),
        ({"price_range": (1, math.inf)}, "price_range must be two numbers"),
        ({"groups": 1.5}, "groups must be a number from 0 to 1, got 1.5"),
        ({"delayed": -0.1}, "delayed must be a number from 0 to 1, got -0.1"),
        ({"discount": 1.0}, "discount must be below 1"),
        ({"shared": "half"}, "shared must be a number from 0 to 1, got 'half'"),
        ({"spread": math.nan}, "spread must be a number from 0 to 1, got nan"),
        ({"random_state": 0.5}, "random_state must be None"),
        ({"nominal": ["z"]}, "'z'"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        random_costs([[1, 2], [3, 4]], [0, 1], **options)


def test_classes_and_cases_must_match():
    with pytest.raises(ValueError, match="X has 2 cases, but y has 3"):
        random_costs([[1], [2]], [0, 1, 0])

"""The bound of theorem 2.2 on the most expensive case, as `fit` reports it."""

import itertools
import math

import numpy as np
import pytest

import worthwhile as ww

EVERY = np.array(list(itertools.product("ab", "ab", "abc")))
PRICES = {"x0": 5.0, "x1": 2.0, "x2": 4.0}


def forest(X=EVERY, y=None, costs=None, **changes):
    """A published forest on all combinations of three nominal tests, grown from all cases."""
    y = [str((row[0] == "a") ^ (row[1] == "b") ^ (row[2] == "c")) for row in EVERY] if y is None else y
    known = {"variant": "paper", "max_trees": 4, "sampling": "drawn", "validation": None, "random_state": 0}
    return ww.BudgetForestClassifier(costs=costs or ww.Costs(tests=PRICES), **{**known, **changes}).fit(X, y)


def plain_bound(tree, unit=1.0, power=None):
    """The bound of one tree, from the paper's formulas."""
    a, b = tree.nodes.weights[0] / unit
    whole, least = (a * b, 1) if power is None else ((a + b) ** power - a**power - b**power, 2**power - 2)
    return math.log(whole / least) + 1


def test_the_bound_is_the_largest_of_the_trees():
    clf = forest()
    assert clf.max_cost_bound_ == pytest.approx(max(map(plain_bound, clf.trees_)))
    assert clf.max_cost_bound_ > min(map(plain_bound, clf.trees_))
    powers = forest(impurity="powers", power=3)
    assert powers.max_cost_bound_ == pytest.approx(max(plain_bound(tree, power=3) for tree in powers.trees_))
    weighted = forest(sampling="weighted")
    assert weighted.max_cost_bound_ == pytest.approx(max(plain_bound(tree, unit=0.5) for tree in weighted.trees_))


def test_fewer_trees():
    clf = forest(max_trees=1)
    assert clf.max_cost_bound_ == pytest.approx(plain_bound(clf.trees_[0]))
    assert clf.with_budget(0.5).max_cost_bound_ is None  # no tree is left


def test_thresholds_change_it():
    plain, threshold = forest(), forest(alpha=1)
    assert threshold.max_cost_bound_ is not None
    assert threshold.max_cost_bound_ < plain.max_cost_bound_


NUMBERS = [[*row[:2], place / 7] for place, row in enumerate(EVERY.tolist())]
GAPS = [[None if value == "c" else value for value in row] for row in EVERY.tolist()]


@pytest.mark.parametrize(
    "changes",
    [
        {"splits": "expected"},
        {"max_depth": 3},
        {"nominal_splits": "subset"},
        {"context": True},
        {"cap": 100.0},
        {"costs": ww.Costs(tests={"x0": ww.Test(5.0, group="g"), "x1": ww.Test(2.0, group="g")}, groups={"g": 1.0})},
        {"costs": ww.Costs(tests={"x0": ww.Test(5.0, delayed=True)})},
        {"costs": ww.Costs(tests={"x0": ww.Test(5.0, requires=("x1",)), "x1": 1.0})},
        {"X": NUMBERS},
        {"X": GAPS},
    ],
)
def test_where_the_theorem_says_nothing(changes):
    assert forest(**changes).max_cost_bound_ is None


def test_cases_that_cannot_be_told_apart():
    X, y = np.vstack([EVERY, EVERY[:1]]), [str(i % 2) for i in range(12)] + ["1"]
    assert forest(X, y, max_trees=10).max_cost_bound_ is None


def test_other_forests_have_none(tmp_path):
    X, y = np.repeat(EVERY, 6, axis=0), np.repeat([str(i % 2) for i in range(12)], 6)
    refined = ww.BudgetForestClassifier(costs=ww.Costs(tests=PRICES, errors=50), random_state=0).fit(X, y)
    assert refined.max_cost_bound_ is None
    clf = forest()
    clf.save(tmp_path / "forest.json")
    assert ww.load(tmp_path / "forest.json").max_cost_bound_ is None
    with pytest.raises(AttributeError):
        _ = ww.BudgetForestClassifier().max_cost_bound_

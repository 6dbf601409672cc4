"""Training cases: taking some of them, and repeating them in an order that does not depend on the rows."""

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from all_learners import VARIANTS, learned, make
from worthwhile.learners import training as training_module
from worthwhile.learners.training import route_core
from worthwhile.table.columns import read_columns

RNG = np.random.default_rng(3)
DRAWN = RNG.normal(size=(90, 3))
X = DRAWN.round(1)
Y = (X[:, 0] + 0.5 * RNG.normal(size=90) > 0).astype(int)
DRAWING = [ww.ICETClassifier, ww.BudgetForestClassifier]  # they draw or divide cases at random
COSTS = ww.Costs(tests={"x0": 2.0, "x1": 1.0}, errors={0: {1: 30.0}, 1: {0: 60.0}})


def training_of(X, y, weights=None, **parameters):
    """What a learner gets."""
    return ww.C45Classifier(**parameters)._prepare(read_columns(X), np.asarray(y), weights)


def rows(training):
    """The cases as tuples of class, weight and values, in their order."""
    weights = np.ones(training.n_cases) if training.weights is None else training.weights
    columns = [np.asarray(array, dtype=float) for array in training.schema.arrays(training.columns)]
    return [
        (int(c), float(w), *(None if np.isnan(v) else float(v) for v in values))
        for c, w, *values in zip(training.classes, weights, *columns, strict=True)
    ]


def test_taking_cases_takes_everything_about_them():
    whole = training_of(X, Y, np.arange(1.0, 91.0), costs=COSTS, weighting="instance")
    some = whole.take(np.array([5, 2, 2]))
    assert rows(some) == [rows(whole)[i] for i in (5, 2, 2)]
    assert some.sample_weights.tolist() == [6.0, 3.0, 3.0]
    assert (some.n_cases, some.n_classes, some.context) == (3, 2, whole.context)
    np.testing.assert_allclose(some.class_weights(), np.bincount(some.classes, some.weights, minlength=2))


# -- repetitions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, RNG.integers(0, 4, 90).astype(float), RNG.integers(1, 9, 90) / 4])
@pytest.mark.parametrize("digits", [1, 0], ids=["few equal cases", "many equal cases"])
def test_the_order_of_rows_does_not_matter(weights, digits):
    X = DRAWN.round(digits)
    expected = rows(training_of(X, Y, weights).repeated())
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(90)
        moved = training_of(X[order], Y[order], None if weights is None else weights[order])
        assert rows(moved.repeated()) == expected
    assert [row[2:] for row in expected] != sorted(row[2:] for row in expected)  # an order as if by chance


@pytest.mark.usefixtures("repeats")
def test_whole_weights_are_repetitions():
    times = RNG.integers(0, 4, 90)
    weighted = training_of(X, Y, times.astype(float)).repeated()
    assert (weighted.weights, weighted.sample_weights) == (None, None)
    assert rows(weighted) == rows(training_of(np.repeat(X, times, axis=0), np.repeat(Y, times)).repeated())


@pytest.mark.usefixtures("repeats")
def test_weights_by_error_costs_stay_weights():
    times = RNG.integers(1, 4, 90)
    weighted = training_of(X, Y, times.astype(float), costs=COSTS, weighting="instance").repeated()
    repeated = training_of(np.repeat(X, times, axis=0), np.repeat(Y, times), costs=COSTS, weighting="instance")
    np.testing.assert_allclose(weighted.weights, repeated.repeated().weights)
    assert weighted.n_cases == times.sum()
    assert weighted.sample_weights is None


@pytest.mark.usefixtures("repeats")
def test_weights_that_are_not_whole_stay_weights():
    weights = np.where(np.arange(90) == 7, 1.5, 2.0)
    found = training_of(X, Y, weights).repeated()
    assert found.n_cases == 90
    assert sorted(found.weights) == sorted(weights)
    assert sorted(rows(found)) == sorted(rows(training_of(X, Y, weights)))


def test_too_many_repetitions_stay_weights(monkeypatch):
    weights = np.full(90, 2.0)
    monkeypatch.setattr(training_module, "MAX_REPEATED", 180)
    assert training_of(X, Y, weights).repeated().n_cases == 180
    weights[0] = 3
    found = training_of(X, Y, weights).repeated()
    assert (found.n_cases, found.weights.sum()) == (90, 181.0)


def test_missing_values_and_negative_zeros_are_one_value_each():
    other_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)[0]
    one = np.array([[0.0, np.nan], [1.0, 2.0], [-0.0, 5.0], [np.nan, 1.0]])
    other = np.array([[-0.0, other_nan], [1.0, 2.0], [0.0, 5.0], [-other_nan, 1.0]])
    y = [0, 1, 0, 1]
    first, second = (training_of(X, y).repeated() for X in (one, other))
    assert rows(first) == rows(second)


def test_nominal_values_count_not_where_they_are_in_a_category():
    values, numbers = list("pqrspqrsqq"), np.arange(10.0)
    y = [0, 1] * 5
    frame = pd.DataFrame({"a": values, "b": numbers})
    moved = frame.iloc[::-1].assign(a=lambda f: pd.Categorical(f["a"], categories=list("srqp")))
    plain, other = training_of(frame, y).repeated(), training_of(moved, y[::-1]).repeated()
    assert rows(plain) == rows(other)
    assert plain.n_cases == 10


@pytest.mark.parametrize(("learner", "variant"), [*((DRAWING[0], v) for v in VARIANTS), (DRAWING[1], None)])
def test_the_order_of_rows_does_not_matter_to_learners_that_draw_cases(learner, variant):
    order = np.random.default_rng(1).permutation(90)
    known = {"costs": COSTS, "variant": variant}
    assert learned(make(learner, **known).fit(X, Y)) == learned(make(learner, **known).fit(X[order], Y[order]))


@pytest.mark.parametrize("learner", DRAWING)
@pytest.mark.parametrize("weighting", [None, "instance"])
def test_whole_weights_are_repetitions_to_learners_that_draw_cases(learner, weighting):
    times = np.random.default_rng(2).integers(0, 3, 90)
    known = {"costs": COSTS, "weighting": weighting}
    weighted = make(learner, **known).fit(X, Y, times)
    repeated = make(learner, **known).fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))
    np.testing.assert_array_equal(weighted.test_costs(X), repeated.test_costs(X))


def test_a_tree_of_the_core_answers_as_the_tree_of_the_learner():
    clf = ww.C45Classifier(costs=COSTS).fit(X, Y)
    cases = clf._prepare(read_columns(X), Y, None)
    for least_cost, answer in ((False, "majority"), (True, "least-cost")):
        tree = ww.Tree(clf.tree_.nodes, clf.problem_, answer=answer)
        answers, paid = route_core(tree._core_tree, cases, least_cost)
        np.testing.assert_array_equal(clf.classes_[answers], tree.predict(X))
        np.testing.assert_array_equal(paid, tree.test_costs(X))


def test_the_last_digits_of_numbers_do_not_decide_how_cases_are_divided():
    """A spreadsheet and a CSV file of the same table may differ by them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).round(2)
    y = (X.sum(axis=1) + rng.normal(size=200) > 0).astype(int)
    noisy = X * 1.1 / 1.1
    assert (noisy != X).any()
    costs = ww.Costs(tests={f"x{j}": 1.0 for j in range(3)}, errors=20)
    one, other = (ww.ACTClassifier(costs=costs, r=1, random_state=0).fit(cases, y) for cases in (X, noisy))
    assert one.expected_cost_ == pytest.approx(other.expected_cost_, rel=1e-9)
    order = np.random.default_rng(1).permutation(200)
    again = ww.ACTClassifier(costs=costs, r=1, random_state=0).fit(noisy[order], y[order])
    assert again.tree_.to_json() == other.tree_.to_json()

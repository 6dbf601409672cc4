"""Error costs by case in cascades: what models tell apart, and what is answered."""

import copy

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.learners.cascade.cost_levels import MAX_LEVELS, MIN_CASES, CostLevels
from worthwhile.learners.cascade.model_file import cascade_from_json, cascade_to_json

NAMES = ["income", "visit", "kind", "noise"]
COSTS = ww.Costs(
    tests={"income": 1.0, "visit": ww.Test(5.0, surcharges=(ww.Surcharge(2.0, truth="bad"),)), "noise": 2.0},
    errors={"bad": {"good": 100.0}, "good": {"bad": 15.0}},
)


def loans(n, seed):
    """Bad loans lose their own amount, which the kind says before any test."""
    rng = np.random.default_rng(seed)
    income, visit, noise = rng.normal(size=(3, n))
    kind = rng.integers(0, 2, n)
    amount = np.where(kind == 1, 300.0, 20.0) * rng.uniform(0.5, 1.5, n)
    bad = income + visit + rng.normal(size=n) / 2 > 1.5
    errors = np.zeros((n, 2))
    errors[bad, 1] = amount[bad]
    errors[~bad, 0] = 15.0
    return np.column_stack([income, visit, kind, noise]), np.where(bad, "bad", "good"), errors


@pytest.fixture(scope="module")
def fitted():
    X, y, errors = loans(1000, 10)
    learner = ww.CascadeClassifier(costs=COSTS, columns=NAMES, n_trees=30, random_state=0)
    return learner.fit(X, y, case_errors=errors)


def test_answers_go_by_what_errors_cost_such_cases(fitted):
    X, y, _ = loans(1000, 10)
    by_class = ww.CascadeClassifier(costs=COSTS, columns=NAMES, n_trees=30, random_state=0).fit(X, y)
    new, truth, own = loans(3000, 11)
    cost, other = (clf.total_costs(new, truth, case_errors=own).mean() for clf in (fitted, by_class))
    assert cost < 0.9 * other
    assert fitted.expected_cost_ == pytest.approx(cost, rel=0.25)


def test_probabilities_are_of_the_classes(fitted):
    X, _, _ = loans(300, 2)
    shares = fitted.predict_proba(X)
    assert shares.shape == (300, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert len(fitted._cascade.levels.owners) > 2
    case = dict(zip(NAMES, X[0].tolist(), strict=True))
    advice = fitted.next_test(case)
    assert advice.probabilities == pytest.approx(dict(zip(fitted.classes_, shares[0].tolist(), strict=True)))
    assert advice.answer == fitted.predict(X[:1])[0]
    assert fitted.advise(X).answer.tolist() == fitted.predict(X).tolist()


def test_files_keep_the_levels(fitted, tmp_path):
    X, y, _ = loans(300, 3)
    fitted.save(tmp_path / "model.json")
    loaded = ww.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(loaded.test_costs(X, y=y), fitted.test_costs(X, y=y))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda levels: levels["owners"].__setitem__(0, 7), "name every class"),
        (lambda levels: levels["owners"].__setitem__(0, True), "name every class"),
        (lambda levels: levels["errors"].pop(), "lists of numbers"),
        (lambda levels: levels["errors"][0].pop(), "2 finite numbers"),
        (lambda levels: levels["errors"][0].__setitem__(0, None), "2 finite numbers"),
    ],
)
def test_damaged_levels_are_refused(fitted, change, message):
    content = copy.deepcopy(cascade_to_json(fitted._cascade))
    change(content["levels"])
    with pytest.raises(ValueError, match=message):
        cascade_from_json(content)


def test_errors_that_differ_little_make_no_levels():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 200).astype(np.int32)
    errors = np.where(classes[:, None] == [0, 1], 0.0, rng.uniform(1.0, 1.2, (200, 2)))
    levels, own = CostLevels.of_cases(errors, classes, np.zeros((2, 2)), np.ones(200))
    assert levels.is_plain
    np.testing.assert_array_equal(own, classes)
    for owner in (0, 1):
        np.testing.assert_allclose(levels.errors[owner], errors[classes == owner].mean(axis=0))


def test_levels_are_few_and_large_enough():
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1], [30, 500]).astype(np.int32)
    errors = np.zeros((530, 3))
    errors[:, 0], errors[:, 1] = rng.lognormal(0, 2, (2, 530))
    errors[np.arange(530), classes] = 0.0
    levels, own = CostLevels.of_cases(errors, classes, np.zeros((3, 3)), np.ones(530))
    counts = np.bincount(own)
    assert levels.owners.tolist() == [0, *[1] * (len(counts) - 1), 2]
    assert len(counts) - 1 <= MAX_LEVELS
    assert counts.min() >= MIN_CASES
    costs = levels.errors[1:-1].sum(axis=1)
    assert (np.diff(costs) > 0).all()

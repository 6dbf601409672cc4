"""Neither the currency nor what all answers for a class cost changes what is learned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worthwhile as ww
from all_learners import GREEDY, LEARNERS, make
from worthwhile.learners.soft_labels import remember_ensembles

VARIANTS = {
    ww.EG2Classifier: [{}, {"prune": "cost", "answer": "least-cost", "context": True}],
    ww.IDXClassifier: [{"lookahead": 2}],
    ww.CSID3Classifier: [{"prune": "cost"}],
    ww.C45CSClassifier: [{"prune": "cost", "answer": "least-cost", "preset": "chosen"}],
    ww.LSID3Classifier: [{"prune": "cost"}],
    ww.BudgetForestClassifier: [{}, {"variant": "paper", "adaptive": True, "tests": "chosen"}],
}
CASES = [(learner, more) for learner in LEARNERS for more in VARIANTS.get(learner, [{}])]
ERRORS = [[[0, 12], [12, 0]], [[0, 9.1], [27.3, 0]], [[-3, 20], [30, 1]], [[0, 20, 4], [30, 0, 4]]]
CHANGES = [(1000.0, 0.0), (0.01, 0.0), (1.0, 37.3), (1000.0, -0.7)]


def problem(seed):
    """Cases with noise; prices in tenths, so that many options cost the same, up to rounding."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 3, (60, 2)), rng.integers(0, 8, (60, 2))]).astype(float)
    y = np.where(rng.random(60) < 0.2, rng.integers(0, 2, 60), (X[:, 0] + X[:, 2] > 4).astype(int))
    prices = rng.choice([0.0, 0.7, 1.4, 2.1, 2.9], 4)
    return X, y, prices, np.array(ERRORS[rng.integers(len(ERRORS))], dtype=float)


def costs_of(prices, errors, factor=1.0, shift=0.0):
    """The second row costs more by `shift`, whatever the answer."""
    errors = errors * factor
    errors[1] += shift * factor
    p = prices * factor
    tests = {
        "x0": ww.Test(p[0], group="g"),
        "x1": ww.Test(p[1], group="g", delayed=True),
        "x2": p[2],
        "x3": ww.Test(p[3], requires=("x2",)),
    }
    answers = [0, 1, "unknown"][: errors.shape[1]]
    return ww.Costs(tests=tests, groups={"g": 0.6 * factor}, errors=errors, classes=answers)


def trees_of(clf):
    if isinstance(clf, ww.CascadeClassifier):
        return []
    return [tree.nodes for tree in (clf.trees_ if hasattr(clf, "trees_") else [clf.tree_])]


def check(learner, more, seed, change):
    """Learn with costs and with the same costs changed."""
    X, y, prices, errors = problem(seed)
    (factor, shift), budget = change, float(prices.sum()) or 1.0
    more = more | {"random_state": 0}
    plain = make(learner, costs=costs_of(prices, errors), budget=budget, **more).fit(X, y)
    other = make(learner, costs=costs_of(prices, errors, factor, shift), budget=factor * budget, **more).fit(X, y)
    assert plain.predict(X).tolist() == other.predict(X).tolist()
    assert other.test_costs(X) == pytest.approx(factor * plain.test_costs(X), abs=1e-9 * factor)
    for one, two in zip(trees_of(plain), trees_of(other), strict=True):
        assert one.test.tolist() == two.test.tolist()
        assert one.threshold.tolist() == two.threshold.tolist()
        assert two.weights == pytest.approx(one.weights)
    for name in ("expected_cost_", "fitness_"):
        if hasattr(plain, name) and not shift:
            assert getattr(other, name) == pytest.approx(factor * getattr(plain, name))


@pytest.mark.parametrize(("learner", "more"), [case for case in CASES if case[0] in GREEDY])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), change=st.sampled_from(CHANGES))
def test_currency_and_what_all_answers_cost_do_not_matter(learner, more, seed, change):
    check(learner, more, seed, change)


@pytest.mark.parametrize(("learner", "more"), [case for case in CASES if case[0] not in GREEDY])
@pytest.mark.parametrize("change", CHANGES)
def test_they_do_not_matter_to_searches_and_forests(learner, more, change):
    with remember_ensembles():
        check(learner, more, 2, change)


@pytest.mark.parametrize("learner", [ww.EG2Classifier, ww.ACTClassifier])
def test_papers_formulas_depend_on_the_currency(learner):
    X, y, _, errors = problem(9)
    prices, more = np.array([0.7, 1.4, 2.1, 2.9]), {"prune": "none", "context": True, "r": 0}
    several = [costs_of(prices, errors, factor) for factor in (1e-6, 1.0, 1e6)]
    for variant, same in ("paper", False), ("refined", True):
        found = [trees_of(make(learner, costs=costs, variant=variant, **more).fit(X, y))[0] for costs in several]
        assert (len({str(nodes.test) for nodes in found}) == 1) is same

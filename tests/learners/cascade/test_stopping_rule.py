"""When to answer: backward induction on out-of-fold probabilities."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from worthwhile.learners.cascade.stopping_rule import (
    BeliefCurve,
    StageView,
    cross_fitted,
    fit_rules,
    follow,
    pooled,
    sure_gain,
)

RNG = np.random.default_rng(0)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=12))
def test_pooling_is_isotonic_regression(pairs):
    values, weights = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    at = np.arange(len(values))
    expected = IsotonicRegression().fit(at, values, sample_weight=weights).predict(at)
    np.testing.assert_allclose(pooled(values, weights), expected, atol=1e-9)


def test_a_curve_has_the_means_of_its_bins_and_equal_beliefs_share_one():
    believed = np.repeat([1.0, 2.0], 100)
    curve = BeliefCurve.fit(believed, np.arange(200.0), np.ones(200))
    assert curve.x.tolist() == [1.0, 2.0]
    assert curve.y.tolist() == [49.5, 149.5]
    weights = np.where(np.arange(200) < 10, 1.0, 0.0) + 1e-12
    assert BeliefCurve.fit(believed, np.arange(200.0), weights)(np.array([1.0]))[0] < 5


def stages(n=600, noise=0.0):
    """No test; a test that says how sure the class is; one that says the class."""
    hard = RNG.random(n) < 0.5
    wrong = hard & (RNG.random(n) < 0.5)
    none = StageView(np.full(n, 25.0), 100.0 * (RNG.random(n) < 0.25))
    some = StageView(np.where(hard, 50.0, 0.0), 100.0 * wrong)
    return [none, some, StageView(np.full(n, noise), np.full(n, noise))], hard


def fit(views, prices, rate=1.0):
    n = len(views[0].loss)
    successors = [list(range(i + 1, len(views))) for i in range(len(views))]
    return fit_rules(
        views,
        successors,
        lambda i, j: (np.full(n, prices[j] - prices[i]),) * 2,
        np.zeros(n, np.int32),
        np.ones(n),
        rate,
    )


def test_only_cases_that_need_it_go_on():
    views, hard = stages()
    rules, outcomes = fit(views, [0.0, 2.0, 12.0])
    assert [edge.target for edge in rules[1].edges] == [2]
    np.testing.assert_allclose(outcomes[0].price, np.where(hard, 12.0, 2.0))
    assert outcomes[0].loss.sum() == 0
    assert outcomes[0].cost(1.0).mean() < 12.0


def test_nothing_is_bought_that_costs_more_than_it_saves():
    views, _ = stages()
    rules, outcomes = fit(views, [0.0, 60.0, 90.0])
    assert rules[0].edges == ()
    assert outcomes[0].price.sum() == 0
    rules, _ = fit(views, [0.0, 60.0, 90.0], rate=0.01)  # prices hardly count
    assert rules[0].edges


def test_noise_does_not_look_like_a_gain():
    chosen = 0
    for _ in range(20):
        n = 300
        loss = 100.0 * (RNG.random(n) < 0.2)
        views = [StageView(np.full(n, 20.0), loss)]
        views += [StageView(20 + RNG.normal(size=n), RNG.permutation(loss)) for _ in range(4)]
        rules, _ = fit(views, [0.0, 0.5, 0.5, 0.5, 0.5])
        chosen += bool(rules[0].edges)
    assert chosen <= 5


def test_following_a_rule_pays_for_every_step():
    views, hard = stages()
    prices = [0.0, 2.0, 12.0]
    rules, outcomes = fit(views, prices)
    found = follow(rules, views, lambda i, j: (np.full(600, prices[j] - prices[i]),) * 2)
    np.testing.assert_allclose(found.price, np.where(hard, 12.0, 2.0))
    np.testing.assert_allclose(found.loss, outcomes[0].loss)


def test_cross_fitted_costs_do_not_flatter_the_choice_of_sets():
    shown, honest, n = [], [], 120
    for _ in range(8):
        loss = 100.0 * (RNG.random(n) < 0.3)
        views = [StageView(np.full(n, 30.0), loss)]
        views += [StageView(30 + RNG.normal(size=n), 100.0 * (RNG.random(n) < 0.3)) for _ in range(12)]  # none helps
        successors = [list(range(1, 13)), *([[]] * 12)]
        problem = views, successors, lambda i, j: (np.zeros(n),) * 2, np.zeros(n, np.int32), np.ones(n)
        shown.append(fit_rules(*problem)[1][0].cost().mean() - loss.mean())
        honest.append(cross_fitted(*problem).cost().mean() - loss.mean())
    assert np.mean(shown) < -1.0
    assert np.mean(honest) > np.mean(shown) + 1.0


def test_a_sure_gain_is_less_than_the_mean_and_rises_with_the_cases():
    gains = np.array([3.0, -1.0] * 10)
    assert sure_gain(gains, np.ones(20)) < sure_gain(np.tile(gains, 9), np.ones(180)) < 1.0

"""Budgets of cascades: the rate, and the set that all cases begin with."""

import numpy as np
import pytest

from worthwhile.learners.cascade.budget_frontier import N_CLOSER, N_RATES, BudgetFrontier
from worthwhile.learners.cascade.stopping_rule import Outcomes

N = 400


def outcomes(price, loss):
    return Outcomes(*(np.full(N, float(value)) for value in (price, loss, loss)))


class Jump:
    """By the rate alone, cases go from no test to one for 10; one for 4 is next best, and never best by its rate."""

    def __init__(self, saved=3.0):
        self.saved, self.asked = saved, []

    def first_steps(self, rate):
        self.asked.append(rate)
        all_tests, nothing = outcomes(10, 1), outcomes(0, 20)
        own = all_tests if rate < 1.9 else nothing
        return {None: own, 1: outcomes(4, 20 - self.saved), 2: own}


class Slope:
    """What is spent falls evenly with the logarithm of the rate."""

    def __init__(self):
        self.asked = []

    def first_steps(self, rate):
        self.asked.append(rate)
        price = np.clip(5 - 5 * np.log10(rate) / 3, 0, 10)
        return {None: outcomes(price, 20 - price)}


def frontier(fitter):
    return BudgetFrontier(fitter, np.ones(N), 0.0, (1e-3, 1e3))


def test_the_first_set_fills_the_gap_between_two_rates():
    found = frontier(Jump())
    assert found.best(20).price == pytest.approx(10)
    assert found.best(9.5)[1:] == (1, pytest.approx(4), pytest.approx(17))
    assert found.best(3.9)[1:] == (None, 0, pytest.approx(20))


def test_the_first_set_by_the_rate_stays_unless_another_one_saves_more_than_chance():
    assert frontier(Jump(saved=0.0)).best(9.5).first is None
    fitter = Jump()
    noise = np.random.default_rng(0).normal(0, 100, N)
    plain = fitter.first_steps

    def noisy(rate):
        found = plain(rate)
        first = found[1]
        return found | {1: Outcomes(first.price, first.loss + noise, first.expected + noise - noise.mean())}

    fitter.first_steps = noisy
    assert frontier(fitter).best(9.5).first is None


@pytest.mark.parametrize("budget", [0.7, 3.3, 6.0, 9.9])
def test_rates_come_close_to_the_budget_in_few_steps(budget):
    fitter = Slope()
    found = frontier(fitter).best(budget)
    assert 0.95 * budget <= found.price <= budget
    assert len(fitter.asked) <= N_RATES + 2 * N_CLOSER


def test_nothing_is_within_a_budget_below_what_all_cases_pay():
    found = BudgetFrontier(Jump(), np.ones(N), 2.0, (1e-3, 1e3))
    assert found.best(1.0) is None
    assert found.best(2.0)[1:] == (None, 2.0, pytest.approx(20.0))

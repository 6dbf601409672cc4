"""Bootstrapped intervals, and how they are written."""

import numpy as np
import pytest

from worthwhile.evaluation import intervals
from worthwhile.evaluation.intervals import Estimate, bootstrap, interval_columns, p_value, saved, stacked


def test_the_bootstrap_is_that_of_the_mean():
    rng = np.random.default_rng(0)
    values = rng.choice([0.0, 1.0, 50.0], size=(400, 1), p=[0.5, 0.3, 0.2])
    draws = bootstrap(values, rng)
    assert draws.shape == (intervals.DRAWS, 1)
    assert draws.mean() == pytest.approx(values.mean(), rel=0.02)
    assert draws.std() == pytest.approx(values.std() / 20, rel=0.1)
    plain = np.array([rng.choice(values[:, 0], 400).mean() for _ in range(2000)])
    assert np.quantile(draws, [0.025, 0.975]) == pytest.approx(np.quantile(plain, [0.025, 0.975]), rel=0.05)


def test_many_cases_are_drawn_by_their_counts():
    values = np.tile(np.array([[0.0, 1.0], [2.0, 50.0]]), (50_000, 1))
    draws = bootstrap(values, np.random.default_rng(0))
    assert draws.mean(axis=0) == pytest.approx([1.0, 25.5], rel=0.01)


def test_amounts_get_as_many_decimals_as_they_need():
    assert stacked(Estimate(0.5, 0.25, 0.75)) == "0.500\n0.250–0.750"
    assert stacked(Estimate(1234.5, 1200.4, 1300.6)) == "1234.50\n1200–1301"
    assert stacked(Estimate(0.0, 0.0, 0.0)) == "0.00\n0.00–0.00"
    assert (p_value(0.0004), p_value(0.0213)) == ("<0.001", "0.021")


def test_savings_and_losses():
    assert saved(Estimate(2.0, 1.0, 3.0), "C4.5") == "saves 2.00 per case (1.00 to 3.00) compared with C4.5"
    assert saved(Estimate(-2.0, -3.0, -1.0), "C4.5") == "costs 2.00 more per case (1.00 to 3.00) than C4.5"


def test_an_interval_has_three_columns():
    assert interval_columns("x", Estimate(2.0, 1.0, 3.0)) == {"x": 2.0, "x_low": 1.0, "x_high": 3.0}
    assert interval_columns("x", None) == {"x": None, "x_low": None, "x_high": None}

"""Rivals of other libraries by total cost."""

import importlib.util

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.experiments.total_cost import RIVALS, RivalProblem, available, no_test

KNOWN = {"columns": ["told", "nominal", "noise", "more"], "nominal": ["nominal"]}
COSTS = ww.Costs(
    tests={
        "told": 1.0,
        "nominal": ww.Test(2.0, group="lab"),
        "noise": ww.Test(30.0, group="lab"),
        "more": ww.Test(40.0),
    },
    groups={"lab": 3.0},
    errors=100.0,
)


def cases(n, seed):
    """The first column tells the class but for a tenth of the cases; the others tell nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    told = np.where(rng.random(n) < 0.1, 1 - y, y) + 0.1 * rng.normal(size=n)
    X = np.empty((n, 4), dtype=object)
    X[:, 0], X[:, 1], X[:, 2], X[:, 3] = told, rng.choice(["a", "b", "c"], n), rng.normal(size=n), rng.normal(size=n)
    return X, np.where(y == 1, "sick", "well")


@pytest.fixture(scope="module")
def problem():
    X, y = cases(300, 0)
    learned = RivalProblem.of(COSTS, X, y, KNOWN, 0)
    return learned, learned.new_cases(*cases(400, 1), ["sick", "well"], KNOWN)


@pytest.mark.parametrize("name", RIVALS)
def test_rivals_learn_and_pay(problem, name):
    library, fit = RIVALS[name]
    if library and importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    learned, new = problem
    paid, shares = fit(learned)(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    total = new.total(paid, shares)
    if name == "no test":
        assert total == 100 * min((new.classes == 0).mean(), (new.classes == 1).mean())
    elif name.startswith("all tests"):
        assert paid.all()
        assert 76 + 5 < total < 76 + 25  # all tests cost 76, a tenth of the answers is wrong at best
    else:  # they know what tests cost, and buy the one that tells something
        assert paid[..., 0].all()
        assert 8 < total < 25


def test_prices_are_those_of_the_list(problem):
    learned, new = problem
    assert learned.prices().tolist() == [1.0, 5.0, 33.0, 40.0]
    both = np.array([False, True, True, False])
    sure = np.eye(2)[new.classes]
    assert new.total(both, sure) == 35.0  # the group once, no error
    with_missing = learned.new_cases(
        np.array([[None, None, None, None]], dtype=object), ["well"], ["sick", "well"], KNOWN
    )
    assert np.isnan(with_missing.codes()).all()


def test_settings_are_chosen_on_cases_of_the_training_set_only(problem):
    learned, _ = problem
    kept, held = learned.divided()
    assert len(kept.classes) + len(held.classes) == len(learned.classes)
    assert len(held.classes) == 75
    model = no_test(learned)
    assert model(held)[1].shape == (75, 2)


def test_rivals_without_their_library_are_left_out(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "catboost" else real(name))
    assert "CatBoost" not in available()
    assert "no test" in available()

"""Sets of tests that grow by value for money."""

import numpy as np

import worthwhile as ww
from worthwhile.costs.pricing import Pricing
from worthwhile.learners.cascade.test_sets import chains, free_tests

COSTS = ww.Costs(
    tests={
        "a": ww.Test(2.0, group="g"),
        "b": ww.Test(1.0, group="g"),
        "c": 9.0,
        "d": ww.Test(0.0, requires=("c",)),
        "e": 0.0,
        "f": ww.Test(0.0, delayed=True),
    },
    groups={"g": 3.0},
)
NAMES = [*"abcdef"]
PRICING = Pricing(COSTS.prices_for(NAMES))
LISTED = [2.0, 1.0, 9.0, 0.0, 0.0, 0.0]


def everything(tests):
    return True


def test_what_costs_nothing_and_takes_no_time_is_free():
    assert free_tests(PRICING, range(6), LISTED, everything) == {4}
    assert free_tests(PRICING, [0, 1], LISTED, everything) == set()
    assert free_tests(PRICING, range(6), LISTED, lambda tests: False) == set()


def test_sets_hold_what_their_tests_require():
    found = chains(np.array([1.0, 1.0, 0.0, 5.0, 1.0, 0.0]), PRICING, LISTED, frozenset({4}), everything)
    assert found
    for tests in found:
        assert 4 in tests
        assert tests == PRICING.closure(tests)
        assert 5 not in tests  # useless
    assert found[-1] == {0, 1, 2, 3, 4}


def test_sets_that_are_not_allowed_are_left_out():
    found = chains(np.ones(6), PRICING, LISTED, frozenset(), lambda tests: 2 not in tests)
    assert found
    assert all(2 not in tests and 3 not in tests for tests in found)


def test_every_chain_grows_by_a_share_of_its_price():
    costs = ww.Costs(tests={f"x{i}": 1.0 for i in range(20)})
    pricing = Pricing(costs.prices_for([f"x{i}" for i in range(20)]))
    importance = np.linspace(2.0, 1.0, 20)
    few = chains(importance, pricing, [1.0] * 20, frozenset(), everything, step=2.0)
    assert [len(tests) for tests in few] == [1, 2, 4, 8, 16, 20]
    assert len(chains(importance, pricing, [1.0] * 20, frozenset(), everything, step=1.3)) > len(few)

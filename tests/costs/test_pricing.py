"""Pricing sets of tests by column index agrees with `Costs.price`."""

from itertools import chain, combinations

import pytest

from worthwhile.costs.costs import Costs, Test
from worthwhile.costs.pricing import Extra, Pricing
from worthwhile.costs.surcharges import Surcharge

COLUMNS = ["sex", "fti", "tt4", "t4u"]
COSTS = Costs(
    tests={
        "fti": Test(0.5, requires=["tt4", "t4u"]),
        "tt4": Test(12.41, group="blood", delayed=True),
        "t4u": Test(9.31, group="blood"),
    },
    groups={"blood": 2.10},
)
SETS = list(chain.from_iterable(combinations(range(4), n) for n in range(5)))


@pytest.fixture
def pricing():
    return Pricing(COSTS.prices_for(COLUMNS))


def test_one_test_costs_what_costs_say_whatever_is_paid_for(pricing):
    priced = [j for j, name in enumerate(COLUMNS) if name in COSTS.tests]
    for paid in map(set, SETS):
        names = {COLUMNS[j] for j in paid & set(priced)}
        for j in priced:
            expected = COSTS.price(COLUMNS[j], paid=names)
            assert pricing.price(pricing.closure([j]), paid) == pytest.approx(expected)


def test_a_set_of_tests_pays_each_common_price_once(pricing):
    assert pricing.price(set(range(4))) == pytest.approx(COSTS.total_price()) == pytest.approx(24.32)
    assert pricing.price({2, 3}) == pytest.approx(2.10 + 12.41 + 9.31)
    assert pricing.price({2, 3}, paid={2, 3}) == 0
    assert pricing.price(frozenset()) == 0


def test_closures_hold_everything_required(pricing):
    assert pricing.closure([1]) == {1, 2, 3}
    assert pricing.closure([0, 3]) == {0, 3}
    assert pricing.closure([]) == set()


def test_only_unpaid_delayed_tests_make_a_case_wait(pricing):
    assert pricing.orders_delayed(2, paid=set())
    assert pricing.orders_delayed(1, paid={3})  # tt4 is required, and delayed
    assert not pricing.orders_delayed(1, paid={2})
    assert not pricing.orders_delayed(3, paid=set())


def test_surcharges_and_waits_are_parts_of_the_price_of_their_test():
    tests = {
        "a": Test(5, wait=2),
        "b": Test(10, wait=8, surcharges=[Surcharge(-3, after=["a"]), Surcharge(40, result="red")]),
    }
    pricing = Pricing(Costs(tests=tests, waiting=[(0, 0), (4, 4), (6, 10)]).prices_for(["a", "b"]))
    charged = pricing.order([1], pricing.order([0], set()))
    amounts = [5, 10, -3, 10]  # red in a quarter of the cases
    extras = pricing.extras([0, 1], "ab", charged, amounts=amounts)
    assert {name: [str(extra) for extra in found] for name, found in extras.items()} == {
        "a": ["wait 2: 2.00"],
        "b": ["after a: -3.00", "red: 10.00 of 40.00", "wait 8: 20.00"],
    }
    items = pricing.items([0, 1], "ab", charged, amounts=amounts)
    assert items == {"a": 7, "b": 10 - 3 + 10 + 20}
    assert pricing.extras([1, 0], "ab", pricing.order([0, 1], set()), amounts=[5, 10, -3, 0]) == {
        "b": (Extra("wait 8", 16.0, 16.0),)
    }

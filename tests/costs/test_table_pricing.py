"""Pricing many cases at once agrees with pricing one case."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worthwhile as ww
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.costs.pricing import Pricing
from worthwhile.costs.table_pricing import TablePricing

NAMES = ["a", "b", "c", "d"]
amounts = st.integers(0, 20).map(float)
sets = st.lists(st.booleans(), min_size=4, max_size=4)


@st.composite
def price_lists(draw):
    """Groups, requirements, waits, and surcharges after other tests."""
    groups = {"g": draw(amounts), "h": draw(amounts)}
    tests = {}
    for at, name in enumerate(NAMES):
        earlier = NAMES[:at]
        surcharges = []
        if earlier and draw(st.booleans()):
            kind = draw(st.sampled_from(["after", "after_any"]))
            surcharges.append(ww.Surcharge(draw(amounts), **{kind: [draw(st.sampled_from(earlier))]}))
        if draw(st.booleans()):
            surcharges.append(ww.Surcharge(draw(amounts), truth=draw(st.sampled_from(["p", "q"]))))
        tests[name] = ww.Test(
            draw(amounts),
            group=tuple(g for g in groups if draw(st.booleans())),
            requires=[other for other in earlier if draw(st.integers(0, 3)) == 0],
            wait=float(draw(st.integers(0, 3))),
            surcharges=surcharges,
        )
    groups = {g: price for g, price in groups.items() if any(g in test.groups for test in tests.values())}
    waiting = draw(st.sampled_from([None, 2.0, [(0, 0), (2, 1), (4, 9)]]))
    return ww.Costs(tests=tests, groups=groups, waiting=waiting, errors=10)


@settings(deadline=None)
@given(price_lists(), st.lists(st.tuples(sets, sets), min_size=1, max_size=5))
def test_orders_and_prices_are_those_of_one_case(costs, orders):
    bound = BoundCosts.of(costs, NAMES, ["p", "q"])
    one, many = Pricing(bound.prices), TablePricing(bound)
    first, second = (np.array([pair[at] for pair in orders]) for at in range(2))
    before = many.order(many.nothing(len(orders)), first)
    charged = many.order(before, second)
    for row, (some, more) in enumerate(orders):
        early = one.order([t for t in range(4) if some[t]], frozenset())
        items = one.order([t for t in range(4) if more[t]], early)
        assert set(np.flatnonzero(before[row])) == early
        assert set(np.flatnonzero(charged[row])) == items
        assert many.price(charged)[row] == pytest.approx(one.price(items))
        assert many.price(charged, paid=before)[row] == pytest.approx(one.price(items, early))
        assert many.price(charged, paid=before[0])[row] == pytest.approx(
            one.price(items, set(np.flatnonzero(before[0])))
        )


def test_prices_by_case_take_the_place_of_those_of_the_list():
    pricing = TablePricing(BoundCosts.of(ww.Costs(tests={"a": 3.0}), ["a"], [0, 1]))
    charged = pricing.order(pricing.nothing(2), np.array([[True], [True]]))
    assert pricing.price(charged, np.array([[1.0], [7.0]])).tolist() == [1.0, 7.0]


def test_a_cap_counts_the_worst_class_and_no_discount():
    surcharges = [ww.Surcharge(5.0, truth="p"), ww.Surcharge(4.0, truth="q"), ww.Surcharge(-2.0, result="x")]
    costs = ww.Costs(tests={"a": ww.Test(3.0, group="g", surcharges=surcharges)}, groups={"g": 1.0}, errors=9)
    for cap, within in ((9.0, True), (8.9, False)):  # 3 + 1 + 5
        pricing = TablePricing(BoundCosts.of(costs, ["a"], ["p", "q"], cap))
        charged = pricing.order(pricing.nothing(1), np.array([[True]]))
        assert pricing.within_cap(charged).tolist() == [within]
        assert pricing.within_cap(charged, np.array([[2.9]])).tolist() == [True]

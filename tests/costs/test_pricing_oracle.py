"""Prices computed in Python against the oracle: orders, prices, parts of tests, and `Costs.price`."""

import numpy as np
import pytest
from hypothesis import given

import reference as ref
import worthwhile as ww
from bridge import item_number
from problems import SEEDS, compare, priced_problems
from worthwhile.costs.error_costs import CostsError
from worthwhile.costs.pricing import Pricing


def written(condition):
    """A condition of the oracle as a price list has it; nominal values are written as numbers."""
    if condition is None:
        return None
    operator, bound = condition
    return list(bound) if operator == "in" else f"{operator} {bound!r}"


def costs_of(problem):
    """The price list of a problem whose columns are called t0, t1 …"""

    def surcharge(own):
        where = {f"t{t}": written(condition) for t, condition in own.where.items()}
        after = [f"t{t}" for t in own.after]
        after_any = [f"t{t}" for t in own.after_any]
        return ww.Surcharge(own.amount, own.truth, written(own.result), where, after, after_any)

    used = ref.groups_of(problem, range(len(problem.columns)))
    tests = {
        f"t{t}": ww.Test(
            problem.marginal[t],
            group=[f"g{g}" for g in sorted(ref.groups_of(problem, [t]))],
            delayed=problem.delayed[t],
            requires=[f"t{u}" for u in problem.requires[t]],
            wait=problem.wait[t],
            surcharges=[surcharge(s) for s in problem.surcharges if s.test == t],
        )
        for t in range(len(problem.columns))
    }
    waiting = list(problem.waiting) or None
    return ww.Costs(tests=tests, groups={f"g{g}": problem.common[g] for g in sorted(used)}, waiting=waiting)


@compare(150)
@given(problem=priced_problems(max_rows=12, caps=False), seed=SEEDS)
def test_orders_and_prices_in_python(problem, seed):
    rng = np.random.default_rng(seed)
    names = [f"t{t}" for t in range(len(problem.columns))]
    costs = costs_of(problem)
    pricing, before, items = Pricing(costs.prices_for(names)), set(), frozenset()
    for _ in range(3):
        tests = rng.choice(len(names), rng.integers(1, len(names) + 1), replace=False).tolist()
        after = ref.order(problem, tests, before)
        ordered = pricing.order(tests, items)
        assert ordered == {item_number(problem, item) for item in after}
        row = int(rng.integers(len(problem.y)))
        amounts = ref.amounts_of_row(problem, row)
        expected = ref.price_of_more(problem, after, before, amounts)
        assert pricing.price(ordered, items, amounts) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        parts = pricing.items(range(len(names)), names, ordered, items, amounts)
        assert sum(parts.values()) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        before, items = after, ordered


@compare(150)
@given(problem=priced_problems(max_rows=12, caps=False), seed=SEEDS)
def test_the_price_of_a_test_by_name(problem, seed):
    rng = np.random.default_rng(seed)
    test, row = int(rng.integers(len(problem.columns))), int(rng.integers(len(problem.y)))
    case = problem.case(row)
    before = ref.order(problem, rng.choice(len(case), rng.integers(0, len(case) + 1)).tolist(), set())
    before = ref.tests_of(before)
    without = [item for item in ref.order(problem, [test], before) if not isinstance(item, tuple) or item[0] != "wait"]
    amounts = ref.case_amounts(problem, case, problem.y[row])
    expected = 0.0 if test in before else ref.price_of_more(problem, without, before, amounts)
    known = {
        f"t{t}": value
        for t, value in enumerate(case)
        if not ((not 0 <= value < problem.n_values[t]) if problem.n_values[t] else np.isnan(value))
    }
    found = costs_of(problem).price(f"t{test}", [f"t{t}" for t in before], known, truth=int(problem.y[row]))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_conditions_compare_with_any_number():
    tiny = ww.Test(1, surcharges=[ww.Surcharge(2, result="< 1e-150")])
    assert ww.Costs(tests={"x": tiny}).price("x", result=0) == 3
    with pytest.raises(CostsError, match="compares with 1e999, which is too large"):
        ww.Costs(tests={"x": ww.Test(1, surcharges=[ww.Surcharge(2, result="< 1e999")])})


def test_other_prices_must_cover_the_discounts():
    costs = ww.Costs(tests={"x": ww.Test(9, surcharges=[ww.Surcharge(-5, after=["y"])]), "y": 1})
    assert costs.with_prices({"x": 5}).price("x", paid=["y"]) == 0
    with pytest.raises(CostsError, match="'x' costs 4, but its discounts can add up to 5"):
        costs.with_prices({"x": 4})


def test_prices_by_case_must_cover_discounts_that_can_apply_together():
    young, old = ww.Surcharge(-5, result="< 18"), ww.Surcharge(-4, result=">= 18")
    costs = ww.Costs(tests={"x0": ww.Test(9, surcharges=[young, old])}, errors=50)
    X, y = [[10.0], [12.0], [30.0], [40.0]], [0, 0, 1, 1]
    clf = ww.EG2Classifier(costs=costs, min_cases=1).fit(X, y)
    assert clf.test_costs(X, case_prices=np.full((4, 1), 5.0)).tolist() == [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"row 0 has the price 4 .* its discounts add up to 5"):
        clf.test_costs(X, case_prices=np.full((4, 1), 4.0))

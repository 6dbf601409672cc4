"""Surcharges: what means the same is equal, and a mistake names the test."""

from __future__ import annotations

from typing import Any

import pytest

from worthwhile.costs.costs import Costs, Test
from worthwhile.costs.surcharges import Surcharge


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"truth": 1}, {"truth": "1"}),
        ({"truth": 1.0}, {"truth": 1}),
        ({"result": "<1"}, {"result": "< 1.0"}),
        ({"result": "yes"}, {"result": ["yes"]}),
        ({"where": {"age": (1, 2)}}, {"where": {"age": ["1", "2"]}}),
        ({"after": ["ecg"]}, {"after": ("ecg",)}),
    ],
)
def test_surcharges_that_mean_the_same_are_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = Surcharge(5.0, **one), Surcharge(5.0, **other)
    assert first == second
    assert hash(first) == hash(second)
    assert Costs({"a": Test(9, surcharges=[first])}) == Costs({"a": Test(9, surcharges=[second])})
    assert first != Surcharge(6.0, **one)
    assert first != Surcharge(5.0, truth="another")


def test_a_class_is_found_by_its_text() -> None:
    costs = Costs({"a": Test(9, surcharges=[Surcharge(5, truth=1.0)])}, errors={"1": {"0": 5}, "0": {"1": 5}})
    assert costs.price("a", truth=1) == costs.price("a", truth="1") == 14
    with pytest.raises(ValueError, match="a surcharge of test 'a' has the unknown class 2"):
        Costs({"a": Test(9, surcharges=[Surcharge(5, truth=2)])}, errors={"1": {"0": 5}, "0": {"1": 5}})

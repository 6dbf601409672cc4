"""Surcharges: what means the same is equal, and a mistake names the test."""

from __future__ import annotations

from pathlib import Path
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
        ({"after_any": ["ecg", "mri"]}, {"after_any": ("ecg", "mri")}),
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


def test_after_any_of_some_tests(tmp_path: Path) -> None:
    scan = Test(90, surcharges=[Surcharge(-50, after_any=["ct", "mri"]), Surcharge(7, after=["ct"], after_any=["mri"])])
    costs = Costs({"ct": 8, "mri": 40, "scan": scan, "report": Test(1, requires=["mri"])})
    prices = [costs.price("scan", paid=paid) for paid in ((), ("ct",), ("mri",), ("report", "mri"), ("ct", "mri"))]
    assert prices == [90, 40, 40, 40, 47]
    for name in ("a.toml", "a.csv"):
        costs.write(tmp_path / name)
        assert Costs.read(tmp_path / name) == costs
    assert "after_any=('ct', 'mri')" in repr(scan)
    assert scan.surcharges[1] != Surcharge(7, after=["ct"])
    with pytest.raises(ValueError, match="not columns: 'mri'"):
        costs.prices_for(["ct", "scan", "report"])
    with pytest.raises(ValueError, match="test 'scan' requires 'mri', which must be kept, too"):
        costs.only(["ct", "scan"])


@pytest.mark.parametrize(
    ("after_any", "message"),
    [
        ("ct", "after_any of a surcharge of test 'a' must be a list of tests, not 'ct'"),
        (["a"], "after_any of a surcharge of test 'a' names the test itself"),
        (["b", "b"], "after_any of a surcharge of test 'a' names a test twice"),
        ([3], "after_any of a surcharge of test 'a' names 3, which is not a test name"),
        ([], "a surcharge of test 'a' has no condition: give truth, result, where, after or after_any"),
    ],
)
def test_mistakes_in_after_any(after_any: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Costs({"a": Test(9, surcharges=[Surcharge(5, after_any=after_any)]), "b": 1})


@pytest.mark.parametrize(
    ("surcharge", "message"),
    [
        ({"truth": "sick"}, "surcharge of test 'a' has no amount; add amount = …"),
        ({"amount": 1, "truth": ["sick"]}, r"truth of a surcharge of test 'a' must be one class, not \['sick'\]"),
        ({"amount": 1, "result": "=< 3"}, "result of a surcharge of test 'a' is '=< 3'; comparisons are < <= > >="),
        ({"amount": 1, "where": {"b": "== 3"}}, "where of a surcharge of test 'a', test 'b', is '== 3'; comparisons"),
        (
            {"amount": -10, "after": ["b"]},
            "its discounts can add up to 10: .*; lower the discounts, or raise the price",
        ),
    ],
)
def test_mistakes_name_the_test_and_what_is_valid(surcharge: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Costs({"a": {"price": 9, "surcharges": [surcharge]}, "b": 1})


def test_unknown_tests_and_groups_are_named() -> None:
    with pytest.raises(ValueError, match="'c' \\(in after_any of 'a'"):
        Costs({"a": Test(9, surcharges=[Surcharge(1, after_any=["c"])])}).prices_for(["a", "b"])
    with pytest.raises(ValueError, match="test 'a' is in unknown group 'blood'; give 'blood' a common price in groups"):
        Costs({"a": Test(9, group="blood")})
    with pytest.raises(ValueError, match=r"'blod'; did you mean 'blood'.*, or give 'blod' a common price in groups"):
        Costs({"a": Test(9, group="blod"), "b": Test(9, group="blood")}, groups={"blood": 1})

"""Tests and groups of a price list: accepted forms, requirements, and mistakes that are reported by name."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from worthwhile.costs.costs import Costs
from worthwhile.costs.price_list import Test, find_closures

NAN, INF = float("nan"), float("inf")


TEST_MISTAKES = [
    (5, ["tests must be a mapping", "5"]),
    ({"": 1.0}, ["''", "not a name for a test", "non-empty string"]),
    ({3: 1.0}, ["3", "not a name for a test"]),
    ({"age": -1.0}, ["'age'", "at least 0", "-1.0"]),
    ({"age": Test(-1)}, ["'age'", "at least 0", "-1"]),
    ({"age": NAN}, ["'age'", "finite", "nan"]),
    ({"age": np.float64(INF)}, ["'age'", "finite, not inf"]),
    ({"age": 10**400}, ["'age'", "finite"]),
    ({"age": True}, ["'age'", "number", "True"]),
    ({"age": np.False_}, ["'age'", "number", "False"]),
    ({"age": "1"}, ["'age'", "number", "'1'"]),
    ({"age": None}, ["'age'", "number", "None"]),
    ({"age": {"cost": 1.0}}, ["'age'", "unknown key 'cost'", "'price'"]),
    ({"age": {"price": 1.0, "delay": True}}, ["'age'", "unknown key 'delay'", "did you mean 'delayed'"]),
    ({"age": {"group": "blood"}}, ["'age'", "no price"]),
    ({"age": Test(1, group="bloot")}, ["'age'", "'bloot'", "did you mean 'blood'"]),
    ({"age": Test(1, group=1)}, ["'age'", "group", "not 1"]),
    ({"age": Test(1, delayed="yes")}, ["'age'", "delayed", "'yes'"]),
    ({"age": Test(1, delayed=1)}, ["'age'", "delayed", "True or False"]),
    ({"age": Test(1, requires="tt4")}, ["'age'", "requires", "list of names", "'tt4'"]),
    ({"age": Test(1, requires=("",))}, ["'age'", "''", "not a test name"]),
    ({"age": Test(1, requires=(3,))}, ["'age'", "3", "not a test name"]),
    ({"age": Test(1, requires=("age",))}, ["'age'", "requires itself"]),
    ({"age": Test(1, requires=("a", "b", "a"))}, ["'age'", "'a' twice"]),
]


@pytest.mark.parametrize(("tests", "words"), TEST_MISTAKES)
def test_mistakes_in_tests_are_named(tests: object, words: list[str]) -> None:
    shared = {"blood": Test(1.0, group="blood")}
    given_tests = {**shared, **tests} if isinstance(tests, dict) else tests
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        Costs(tests=given_tests, groups={"blood": 2.0})
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_cycle_is_shown_in_the_direction_of_requires() -> None:
    tests = {"a": Test(1, requires=("b",)), "b": Test(1, requires=("c",)), "c": Test(1, requires=("a",))}
    with pytest.raises(ValueError, match="cycle") as caught:
        Costs(tests={"free": 0.0, **tests})
    shown = str(caught.value).split(": ")[1].split(";")[0].replace("'", "").split(" -> ")
    assert shown[0] == shown[-1]
    assert sorted(shown[1:]) == ["a", "b", "c"]
    assert all(later in tests[earlier].requires for earlier, later in pairwise(shown))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([], ["groups must be a mapping"]),
        ({"blood": 1, "urine": 2}, ["'urine'", "no test"]),
        ({"blood": -2}, ["'blood'", "at least 0", "-2"]),
        ({"blood": NAN}, ["'blood'", "finite"]),
        ({"blood": "2"}, ["'blood'", "number"]),
        ({"": 2}, ["''", "not a name for a group"]),
        ({}, ["'blood'", "unknown group", "a common price in groups"]),
        (None, ["'blood'", "unknown group"]),
    ],
)
def test_mistakes_in_groups_are_named(groups: object, words: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        Costs(tests={"chol": Test(1, group="blood")}, groups=groups)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("about", "words"), [("x", "about must be a mapping"), ({"title": 5}, "'title' must be a string, not 5")]
)
def test_mistakes_in_about_are_named(about: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Costs(about=about)


def test_a_long_chain_of_requirements_works() -> None:
    tests = {f"t{i}": Test(1.0, requires=(f"t{i + 1}",)) for i in range(1500)}
    assert Costs(tests=tests).price("t0") == 1500.0


def test_mappings_and_numpy_numbers_are_accepted() -> None:
    costs = Costs(
        tests={"a": {"price": np.float32(2.0), "group": "g", "delayed": np.True_, "requires": ["b"]}, "b": np.int64(3)},
        groups={"g": 1},
    )
    assert costs.tests["a"] == Test(2.0, "g", True, ("b",))
    assert type(costs.tests["a"].price) is float
    assert costs.tests["b"] == Test(3.0)


def test_closures_list_the_test_first_and_each_requirement_once() -> None:
    tests = {"ratio": Test(0, requires=("fti", "tt4")), "fti": Test(1, requires=("tt4", "t4u")), "age": Test(1)}
    closures = find_closures(tests)
    assert closures["ratio"] == ("ratio", "fti", "tt4", "t4u")
    assert closures["age"] == ("age",)
    assert closures["t4u"] == ("t4u",)  # required, but not priced

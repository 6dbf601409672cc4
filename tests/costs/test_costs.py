"""Costs in memory: prices in context, error tables, arrays for the core, and mistakes refused by name."""

from __future__ import annotations

import copy
import pickle
import re
from itertools import chain, combinations, pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worthwhile.costs.costs import Costs, Prices, Test
from worthwhile.costs.error_costs import CostsError

BLOOD = {"chol": Test(5.17, group="blood", delayed=True), "fbs": Test(3.10, group="blood", delayed=True)}
SICK = {"sick": {"buff": 500.0}, "buff": {"sick": 100.0}}
REJECT = {"sick": {"buff": 500.0, "unknown": 20.0}, "buff": {"sick": 100.0, "unknown": 30.0}}


def heart() -> Costs:
    return Costs(
        tests={"age": 1.0, **BLOOD, "fti": Test(0.0, requires=("tt4", "t4u"))},
        groups={"blood": 2.10},
        errors=SICK,
    )


def thyroid() -> Costs:
    return Costs(
        tests={
            "fti": Test(0.5, requires=["tt4", "t4u"]),
            "tt4": Test(12.41, group="A", delayed=True),
            "t4u": Test(9.31, group="A", delayed=True),
            "ratio": Test(0.0, requires=("fti", "tt4")),
        },
        groups={"A": 2.10},
    )


# --- prices ---------------------------------------------------------------------------------------------------------


def test_prices_of_the_documented_example() -> None:
    costs = heart()
    assert costs.price("chol") == pytest.approx(7.27)
    assert costs.price("chol", paid={"fbs"}) == pytest.approx(5.17)
    assert costs.price("fbs", paid={"fbs"}) == 0.0
    assert costs.price("age") == 1.0
    assert costs.price("fti") == 0.0  # tt4 and t4u have no price, so they are free
    assert costs.price("tt4") == 0.0
    assert costs.total_price() == pytest.approx(11.37)


@pytest.mark.parametrize(
    ("test", "paid", "price"),
    [
        ("fti", (), 0.5 + 12.41 + 9.31 + 2.10),
        ("fti", ("tt4",), 0.5 + 9.31),
        ("fti", ("tt4", "t4u"), 0.5),
        ("fti", ["fti"], 12.41 + 9.31 + 2.10),  # the rule takes `paid` as it is; it does not close it
        ("ratio", frozenset({"fti", "tt4", "t4u"}), 0.0),
        ("ratio", (), 0.5 + 12.41 + 9.31 + 2.10),
        ("tt4", {"t4u": 1.0}, 12.41),
    ],
)
def test_computed_tests_pay_what_they_need(test: str, paid: tuple[str, ...], price: float) -> None:
    assert thyroid().price(test, paid=paid) == pytest.approx(price)


def reference_price(costs: Costs, test: str, paid: set[str]) -> float:
    """Price a test as docs/design.md words it, slowly."""
    closure = {test}
    while more := {r for t in closure for r in (costs.tests[t].requires if t in costs.tests else ())} - closure:
        closure |= more
    new = {t for t in closure - paid if t in costs.tests}
    price = sum(costs.tests[t].price for t in new)
    for group, common in costs.groups.items():
        members = {t for t in costs.tests if costs.tests[t].group == group}
        price += common if members & new and not members & paid else 0.0
    return price


def test_price_follows_the_design_for_every_set_paid() -> None:
    costs = thyroid()
    for paid in chain.from_iterable(combinations(costs.tests, n) for n in range(5)):
        for test in costs.tests:
            assert costs.price(test, paid=paid) == pytest.approx(reference_price(costs, test, set(paid)))


@given(st.permutations(["fti", "tt4", "t4u", "ratio"]))
def test_paying_one_by_one_adds_up_to_the_total(order: list[str]) -> None:
    costs, paid, spent = thyroid(), set[str](), 0.0
    for test in order:
        spent += costs.price(test, paid=paid)
        prices = costs.prices_for(order)
        place = order.index(test)
        closure = prices.closure_tests[prices.closure_start[place] : prices.closure_start[place + 1]]
        paid |= {order[i] for i in closure}
    assert spent == pytest.approx(costs.total_price())


def test_nothing_given_means_free_tests_and_unit_errors() -> None:
    costs = Costs()
    assert costs.total_price() == 0.0
    assert costs.errors == 1.0
    assert dict(costs.tests) == dict(costs.groups) == costs.about == {}
    answers, matrix = costs.error_matrix(["a", "b"])
    assert answers == ["a", "b"]
    assert matrix.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_a_test_may_be_a_mapping_and_numbers_may_be_numpys() -> None:
    costs = Costs(
        tests={"a": {"price": np.float32(2.0), "group": "g", "delayed": np.True_, "requires": ["b"]}, "b": np.int64(3)},
        groups={"g": 1},
    )
    assert costs.tests["a"] == Test(2.0, "g", True, ("b",))
    assert type(costs.tests["a"].price) is float
    assert costs.tests["b"] == Test(3.0)


# --- copies, equality, immutability ---------------------------------------------------------------------------------


def test_copies_for_ablations() -> None:
    costs = heart()
    assert costs.with_errors(500).errors == 500.0
    assert costs.with_errors(500).tests == costs.tests
    assert costs.with_errors([[0, 1], [2, 0]], classes=["a", "b"]).errors == {
        "a": {"a": 0, "b": 1},
        "b": {"a": 2, "b": 0},
    }
    assert not any(test.delayed for test in costs.without_delays().tests.values())
    assert costs.without_delays().price("chol", paid={"fbs"}) == pytest.approx(5.17)
    alone = costs.without_groups()
    assert not alone.groups
    assert alone.price("chol", paid={"fbs"}) == pytest.approx(7.27)
    assert alone.tests["chol"].delayed
    assert alone.tests["age"] == costs.tests["age"]
    assert alone.total_price() == pytest.approx(13.47)
    assert costs == heart()  # the original is as it was


def test_about_is_kept_by_copies_and_cannot_be_changed_from_outside() -> None:
    given_about = {"title": "Heart"}
    costs = Costs(about=given_about)
    given_about["title"] = "x"
    costs.about["title"] = "y"
    assert costs.with_errors(2).without_delays().without_groups().about == {"title": "Heart"}


def test_copy_pickle_equality_hash() -> None:
    costs = heart()
    for twin in (copy.copy(costs), copy.deepcopy(costs), pickle.loads(pickle.dumps(costs)), heart()):
        assert twin == costs
        assert hash(twin) == hash(costs)
        assert twin.price("chol") == costs.price("chol")
    assert costs != heart().with_errors(1)
    assert costs != Costs(tests={"age": 2.0})
    assert costs != Costs(about={"a": "b"})
    assert costs != "costs"
    assert pickle.loads(pickle.dumps(CostsError("m", ("test", "a")))).culprit == ("test", "a")


def test_equality_does_not_hang_on_order_or_on_how_labels_are_typed() -> None:
    assert Costs(tests={"a": 1, "b": 2}) == Costs(tests={"b": 2.0, "a": 1.0})
    assert Costs(errors={0: {1: 5}, 1: {0: 2}}) == Costs(errors={"1": {"0": 2}, "0": {"1": 5, "0": 0}})
    assert Costs(errors={0.0: {1.0: 5}, 1.0: {0.0: 2}}) == Costs(errors={"1": {"0": 2}, "0": {"1": 5}})
    assert Costs(errors=5) != Costs(errors={"a": {"b": 5}, "b": {"a": 5}})


def test_costs_are_immutable() -> None:
    costs = heart()
    with pytest.raises(AttributeError, match="immutable"):
        costs.errors = 5
    with pytest.raises(AttributeError, match="immutable"):
        del costs._tests
    with pytest.raises(TypeError):
        costs.tests["age"] = Test(5.0)
    with pytest.raises(TypeError):
        costs.groups["blood"] = 5.0
    with pytest.raises(AttributeError):
        costs.tests["age"].price = 5.0
    costs.errors["sick"]["buff"] = 0.0
    assert costs == heart()


@pytest.mark.parametrize(
    ("costs", "text"),
    [
        (Costs(), "Costs(no tests, errors 1)"),
        (heart(), "Costs(4 tests for 11.37 together, 2 delayed, 1 computed, 1 group, errors of 2 classes)"),
        (Costs(tests={"a": 1}, errors=REJECT), "Costs(1 test for 1 together, errors of 2 classes and 1 reject answer)"),
        (Costs(errors={"a": {"x": 1, "y": 2}}), "Costs(no tests, errors of 1 class and 2 reject answers)"),
    ],
)
def test_repr(costs: Costs, text: str) -> None:
    assert repr(costs) == text


# --- arrays for the core --------------------------------------------------------------------------------------------


def test_prices_for() -> None:
    prices = thyroid().prices_for(["sex", "ratio", "t4u", "tt4", "fti"])
    assert isinstance(prices, Prices)
    assert prices.marginal.tolist() == [0.0, 0.0, 9.31, 12.41, 0.5]
    assert prices.group.tolist() == [-1, -1, 0, 0, -1]
    assert prices.common.tolist() == [2.10]
    assert prices.delayed.tolist() == [0, 0, 1, 1, 0]
    assert prices.closure_start.tolist() == [0, 1, 5, 6, 7, 10]
    closures = np.split(prices.closure_tests, prices.closure_start[1:-1])
    assert [closure[0] for closure in closures] == [0, 1, 2, 3, 4]
    assert [sorted(closure.tolist()) for closure in closures] == [[0], [1, 2, 3, 4], [2], [3], [2, 3, 4]]
    assert [a.dtype for a in (prices.marginal, prices.common)] == [np.float64] * 2
    assert [a.dtype for a in (prices.group, prices.closure_start, prices.closure_tests)] == [np.int32] * 3
    assert prices.delayed.dtype == np.uint8


def test_prices_for_free_columns_and_none() -> None:
    prices = Costs().prices_for(np.array(["x0", "x1"]))
    assert prices.marginal.tolist() == [0.0, 0.0]
    assert prices.common.shape == (0,)
    assert prices.closure_tests.tolist() == [0, 1]
    assert Costs().prices_for([]).closure_start.tolist() == [0]


@pytest.mark.parametrize(
    ("costs", "columns", "words"),
    [
        (Costs(tests={"chl": 1.0}), ["age", "chol"], ["'chl'", "did you mean 'chol'"]),
        (Costs(tests={"TSH": 1.0}), ["age", "tsh"], ["'TSH'", "did you mean 'tsh'"]),
        (Costs(tests={"weight": 1.0}), ["age", "chol"], ["'weight'", "valid: 'age', 'chol'"]),
        (Costs(tests={"weight": 1.0}), [], ["'weight'", "there are none"]),
        (heart(), ["age", "chol", "fbs", "fti", "t4u"], ["'tt4'", "required by 'fti'", "'t4u'"]),
        (Costs(tests=dict.fromkeys("abcdef", 1.0)), ["b"], ["'a'", "'c'", "'d'", "and 2 more"]),
        (Costs(), ["age", "sex", "age"], ["same name", "'age'"]),
    ],
)
def test_columns_that_do_not_fit_are_named(costs: Costs, columns: list[str], words: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        costs.prices_for(columns)
    assert all(word in str(caught.value) for word in words), caught.value


# --- errors ---------------------------------------------------------------------------------------------------------


def frame(rows: list[list[float]], index: list[object], columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(rows, index=index, columns=columns)


@pytest.mark.parametrize(
    "errors",
    [
        Costs(errors=REJECT),
        Costs(
            errors={"sick": {"buff": 500, "unknown": 20, "sick": 0}, "buff": {"sick": 100, "unknown": 30, "buff": 0}}
        ),
        Costs(errors=frame([[0, 500, 20], [100, 0, 30]], ["sick", "buff"], ["sick", "buff", "unknown"])),
        Costs(errors=frame([[20, 500, 0], [30, 0, 100]], ["sick", "buff"], ["unknown", "buff", "sick"])),
        Costs(errors=[[0, 500, 20], [100, 0, 30]], classes=["sick", "buff", "unknown"]),
        Costs(errors=np.array([[0, 500, 20], [100, 0, 30]]), classes=np.array(["sick", "buff", "unknown"])),
        Costs(errors=((0, 500, 20), (100, 0, 30)), classes=("sick", "buff", "unknown")),
    ],
)
def test_all_forms_of_errors_say_the_same(errors: Costs) -> None:
    assert errors == Costs(errors=REJECT)
    answers, matrix = errors.error_matrix(["buff", "sick"])
    assert answers == ["buff", "sick", "unknown"]
    assert matrix.dtype == np.float64
    assert matrix.tolist() == [[0.0, 100.0, 30.0], [500.0, 0.0, 20.0]]
    assert Costs(errors=errors.errors) == errors


def test_negative_costs_and_a_diagonal_are_fine() -> None:
    costs = Costs(errors={"a": {"a": -3, "b": 2}, "b": {"a": -1.5, "b": 4}})
    assert costs.error_matrix(["a", "b"])[1].tolist() == [[-3.0, 2.0], [-1.5, 4.0]]
    assert Costs(errors=-2).error_matrix([0, 1])[1].tolist() == [[0.0, -2.0], [-2.0, 0.0]]


def test_classes_that_do_not_occur_are_left_out_but_reject_answers_stay() -> None:
    errors = {t: {a: 10.0 * i + j for j, a in enumerate("abc?")} for i, t in enumerate("abc")}
    answers, matrix = Costs(errors=errors).error_matrix(["c", "a"])
    assert answers == ["c", "a", "?"]
    assert matrix.tolist() == [[22.0, 20.0, 23.0], [2.0, 0.0, 3.0]]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (("1", "2"), [1, 2]),
        (("1", "2"), [1.0, 2.0]),
        (("1", "2"), np.array([1.0, 2.0])),
        (("1", "2"), np.array([1, 2], dtype=np.int8)),
        (("1", "2"), np.array(["1", "2"])),
        (("1.0", "2.0"), [1.0, 2.0]),
        ((1, 2), [1.0, 2.0]),
        ((1, 2), ["1", "2"]),
        ((1.0, 2.0), ["1", "2"]),
        ((1.0, 2.0), ["1.0", "2.0"]),
        ((np.int64(1), np.float64(2)), ["1", 2]),
        (("False", "True"), np.array([False, True])),
        ((0, 1), [False, True]),
        ((0.5, 1.5), ["0.5", "1.5"]),
    ],
)
def test_labels_match_by_equality_else_by_text(labels: tuple[object, object], classes: list[object]) -> None:
    costs = Costs(errors={labels[0]: {labels[1]: 5}, labels[1]: {labels[0]: 7}})
    answers, matrix = costs.error_matrix(classes)
    assert answers == list(classes)
    assert matrix.tolist() == [[0.0, 5.0], [7.0, 0.0]]


def test_labels_of_rows_and_columns_match_by_text_too() -> None:
    costs = Costs(errors=frame([[0, 5], [7, 0]], [0, 1], ["0", "1"]))
    assert costs.errors == {0: {0: 0.0, 1: 5.0}, 1: {0: 7.0, 1: 0.0}}


def test_uniform_errors_take_any_labels() -> None:
    days = [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02")]
    answers, matrix = Costs(errors=3).error_matrix(days)
    assert answers == days
    assert matrix.sum() == 6.0


@pytest.mark.parametrize(
    ("errors", "classes", "words"),
    [
        (SICK, ["sick", "well"], ["'well'", "'sick', 'buff'"]),
        ({"sick": {"buff": 5}}, ["sick", "buff"], ["no row for class 'buff'", "knows 'sick'"]),
        (SICK, ["sick", "sick"], ["'sick' twice"]),
        (SICK, ["sick", None], ["None", "no class label"]),
        (SICK, [], ["at least one class"]),
        (1.0, [], ["at least one class"]),
        (1.0, ["a", "b", "a"], ["twice", "'a', 'b', 'a'"]),
    ],
)
def test_classes_that_do_not_fit_are_named(errors: object, classes: list[object], words: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        Costs(errors=errors).error_matrix(classes)
    assert all(word in str(caught.value) for word in words), caught.value


# --- standard cost --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [["sick"] + ["buff"] * 3, np.array(["sick"] + ["buff"] * 3), pd.Series(["sick"] + ["buff"] * 3, dtype="category")],
)
def test_standard_cost(y: object) -> None:
    assert heart().standard_cost(y) == pytest.approx(11.37 + 0.25 * 500)
    assert heart().with_errors(100).standard_cost(y) == pytest.approx(11.37 + 0.25 * 100)


def test_standard_cost_ignores_reject_answers_and_absent_classes() -> None:
    errors = {t: {a: 1000.0 if "c" in (t, a) else 10.0 for a in "abc" if a != t} | {"?": 5000.0} for t in "abc"}
    assert Costs(errors=errors).standard_cost(list("aabb")) == pytest.approx(5.0)
    assert Costs(errors=errors).standard_cost(list("aaaa")) == 0.0


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([], "non-empty"),
        ([[1, 2], [3, 4]], r"shape is \(2, 2\)"),
        (["a", None, "b"], "row 1: None"),
        ([0.0, 1.0, float("nan")], "row 2: nan"),
        (pd.Series(["a", pd.NA], dtype="string"), "row 1"),
        (np.array([pd.NaT], dtype=object), "row 0: NaT"),
    ],
)
def test_standard_cost_refuses_bad_classes(y: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Costs().standard_cost(y)


# --- mistakes -------------------------------------------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")
TEST_MISTAKES = [
    (5, ["tests must be a mapping", "5"]),
    ({"": 1.0}, ["''", "no name for a test", "non-empty strings"]),
    ({3: 1.0}, ["3", "no name for a test"]),
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
    ({"age": Test(1, requires=("",))}, ["'age'", "''", "no name"]),
    ({"age": Test(1, requires=(3,))}, ["'age'", "3", "no name"]),
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
        ({"": 2}, ["''", "no name for a group"]),
        ({}, ["'blood'", "unknown group", "there are none"]),
        (None, ["'blood'", "unknown group"]),
    ],
)
def test_mistakes_in_groups_are_named(groups: object, words: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        Costs(tests={"chol": Test(1, group="blood")}, groups=groups)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("errors", "classes", "words"),
    [
        (NAN, None, ["errors", "finite"]),
        (True, None, ["errors", "number", "True"]),
        ("500", None, ["errors must be a number", "'500'"]),
        (None, None, ["errors must be a number", "None"]),
        (pl.DataFrame({"a": [0, 1]}), None, ["errors must be a number"]),
        (np.float64(3.0), ["a", "b"], ["classes= belongs to a bare matrix"]),
        ({}, None, ["errors is empty"]),
        ({"sick": 5, "buff": {}}, None, ["errors['sick']", "mapping", "5"]),
        ({"sick": {"buff": NAN}, "buff": {"sick": 1}}, None, ["errors['sick']['buff']", "finite", "nan"]),
        ({"sick": {"buff": "5"}, "buff": {"sick": 1}}, None, ["errors['sick']['buff']", "number", "'5'"]),
        ({"sick": {"buff": 5}, "buff": {}}, None, ["errors['buff']", "answer 'sick'"]),
        ({"a": {"b": 1, "?": 1}, "b": {"a": 1}}, None, ["errors['b']", "answer '?'", "'a', '?'"]),
        ({"a": {"b": 1}, "b": {"a": 1}, "c": {"a": 1, "b": 1}}, None, ["errors['a']", "answer 'c'"]),
        ({1: {"2": 1}, "1": {"2": 1}}, None, ["1 and '1' clash"]),
        ({1: {2: 1, "2": 1}, 2: {1: 1}}, None, ["errors[1]", "answer 2 twice"]),
        ({None: {"a": 1}}, None, ["None", "no class label"]),
        ({NAN: {"a": 1}}, None, ["nan", "no class label"]),
        ({"": {"a": 1}}, None, ["''", "no class label"]),
        ([[0, 1], [1, 0]], None, ["needs classes=", "2 columns"]),
        ([[0, 1], [1, 0]], ["a"], ["2 columns", "1 names", "'a'"]),
        ([[0, 1], [1, 0]], "ab", ["2 columns", "1 names"]),
        ([[0, 1], [1, 0]], ["a", "a"], ["'a' is there twice"]),
        ([[0, 1], [1]], ["a", "b"], ["same length"]),
        ([[0], [1]], ["a", "b"], ["column for every class"]),
        ([], ["a", "b"], ["one row per class"]),
        ([1, 2], ["a", "b"], ["one row per class"]),
        ([[[1], [2, 3]], [1, 2]], ["a", "b"], ["errors['a']['a']", "number"]),
        (np.array(3.0), ["a"], ["one row per class"]),
        (np.zeros((2, 2, 2)), ["a", "b"], ["errors['a']['a']", "number"]),
        ([[0, INF], [1, 0]], ["a", "b"], ["errors['a']['b']", "finite"]),
        (frame([[0, 1], [1, 0]], ["a", "a"], ["a", "b"]), None, ["'a' is there twice"]),
        (frame([[0, 1], [1, 0]], ["a", "b"], ["a", "a"]), None, ["errors['a']", "'a' twice"]),
        (frame([[0, NAN], [1, 0]], ["a", "b"], ["a", "b"]), None, ["errors['a']['b']", "finite"]),
        (frame([[1], [2]], ["a", "b"], ["?"]), None, ["errors['a']", "answer 'b'"]),
    ],
)
def test_mistakes_in_errors_are_named(errors: object, classes: object, words: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        Costs(errors=errors, classes=classes)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("about", "words"), [("x", "about must be a mapping"), ({"title": 5}, "'title' must be a string, not 5")]
)
def test_mistakes_in_about_are_named(about: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Costs(about=about)


@pytest.mark.parametrize(
    ("test", "paid", "words"),
    [
        ("chl", (), ["'chl'", "did you mean 'chol'"]),
        ("chol", {"fbx"}, ["'fbx'", "did you mean 'fbs'"]),
        (3, (), ["test 3"]),
        ("chol", "fbs", ["collection of names", "'fbs'"]),
    ],
)
def test_mistakes_in_asking_for_a_price_are_named(test: str, paid: object, words: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        heart().price(test, paid=paid)
    assert all(word in str(caught.value) for word in words), caught.value


def test_long_lists_of_names_are_cut() -> None:
    with pytest.raises(ValueError, match="'t7' and 12 more"):
        Costs(tests={f"t{i}": 1.0 for i in range(20)}).price("weight")


def test_a_long_chain_of_requirements_is_no_problem() -> None:
    tests = {f"t{i}": Test(1.0, requires=(f"t{i + 1}",)) for i in range(1500)}
    assert Costs(tests=tests).price("t0") == 1500.0

"""`Costs`: prices given what is paid for, copies, arrays for the core, standard cost."""

from __future__ import annotations

import copy
import pickle
import re
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worthwhile.costs.costs import Costs, Prices, Test

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
        ("fti", ["fti"], 12.41 + 9.31 + 2.10),  # `paid` is used as given, without what it requires
        ("ratio", frozenset({"fti", "tt4", "t4u"}), 0.0),
        ("ratio", (), 0.5 + 12.41 + 9.31 + 2.10),
        ("tt4", {"t4u": 1.0}, 12.41),
    ],
)
def test_computed_tests_include_what_they_require(test: str, paid: tuple[str, ...], price: float) -> None:
    assert thyroid().price(test, paid=paid) == pytest.approx(price)


def reference_price(costs: Costs, test: str, paid: set[str]) -> float:
    """Price a test as defined in docs/design/pricing.md, slowly."""
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


def test_default_costs_are_free_tests_and_unit_errors() -> None:
    costs = Costs()
    assert costs.total_price() == 0.0
    assert costs.errors == 1.0
    assert dict(costs.tests) == dict(costs.groups) == costs.about == {}
    answers, matrix = costs.error_matrix(["a", "b"])
    assert answers == ["a", "b"]
    assert matrix.tolist() == [[0.0, 1.0], [1.0, 0.0]]


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
    assert costs == heart()  # the original is unchanged


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


def test_equality_ignores_order_and_types_of_labels() -> None:
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
    assert [prices.groups_of(column) for column in range(5)] == [[], [], [0], [0], []]
    assert prices.common.tolist() == [2.10]
    assert prices.delayed.tolist() == [0, 0, 1, 1, 0]
    assert prices.closure_start.tolist() == [0, 1, 5, 6, 7, 10]
    closures = np.split(prices.closure_tests, prices.closure_start[1:-1])
    assert [closure[0] for closure in closures] == [0, 1, 2, 3, 4]
    assert [sorted(closure.tolist()) for closure in closures] == [[0], [1, 2, 3, 4], [2], [3], [2, 3, 4]]
    assert [a.dtype for a in (prices.marginal, prices.common)] == [np.float64] * 2
    assert [a.dtype for a in (prices.group_list, prices.closure_start, prices.closure_tests)] == [np.int32] * 3
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


@pytest.mark.parametrize(
    ("test", "paid", "words"),
    [
        ("chl", (), ["'chl'", "did you mean 'chol'"]),
        ("chol", {"fbx"}, ["'fbx'", "did you mean 'fbs'"]),
        (3, (), ["test 3"]),
        ("chol", "fbs", ["collection of names", "'fbs'"]),
    ],
)
def test_unknown_tests_in_price_are_named(test: str, paid: object, words: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        heart().price(test, paid=paid)
    assert all(word in str(caught.value) for word in words), caught.value


def test_long_lists_of_names_are_shortened() -> None:
    with pytest.raises(ValueError, match="'t7' and 12 more"):
        Costs(tests={f"t{i}": 1.0 for i in range(20)}).price("weight")


def test_other_prices_keep_everything_else():
    costs = Costs(
        tests={"a": Test(5.0, group="g", delayed=True), "b": Test(1.0, requires=("a",))},
        groups={"g": 2.0},
        errors=9,
        about={"currency": "CAD"},
    )
    other = costs.with_prices({"a": 3, "c": 4.5})
    assert other.tests["a"] == Test(3.0, group="g", delayed=True)
    assert other.tests["b"] == costs.tests["b"]
    assert (other.price("b"), other.price("c"), costs.price("b")) == (6, 4.5, 8)
    assert (other.errors, other.about) == (9, {"currency": "CAD"})
    for bad, message in (
        ({"a": -1}, "price of test 'a' must"),
        ({"a": "x"}, "price of test 'a' must be a number, not 'x'"),
        ({"a": Test(1.0)}, "price of test 'a' must be a number"),
        ({1: 2.0}, "1 is not a name for a test"),
        ([("a", 1)], "prices must be a mapping"),
    ):
        with pytest.raises(ValueError, match=message):
            costs.with_prices(bad)


def test_the_prices_of_some_columns_only():
    tests = {
        "age": 1.0,
        "chol": Test(5.17, group="blood"),
        "mri": Test(400, group="radiology"),
        "ratio": Test(0.5, requires=("chol", "weight")),
    }
    about = {"title": "ward"}
    costs = Costs(tests, {"blood": 2.1, "radiology": 30}, errors={"a": {"b": 5}, "b": {"a": 9}}, about=about)
    few = costs.only(["age", "chol", "sex"])
    assert (dict(few.tests), dict(few.groups)) == ({n: costs.tests[n] for n in ("age", "chol")}, {"blood": 2.1})
    assert (few.errors, few.about) == (costs.errors, about)
    assert few.prices_for(["sex", "age", "chol"]).marginal.tolist() == [0, 1, 5.17]
    assert list(costs.only(iter(["ratio", "chol", "weight"])).tests) == ["chol", "ratio"]
    with pytest.raises(ValueError, match="test 'ratio' requires 'weight', which must be kept, too"):
        costs.only(["ratio", "chol"])
    with pytest.raises(ValueError, match="not the string 'age'"):
        costs.only("age")


def test_the_currency(tmp_path):
    costs = Costs(tests={"age": 1.0}, currency="EUR")
    assert (costs.currency, costs.about) == ("EUR", {"currency": "EUR"})
    assert Costs(about={"currency": "EUR"}, tests={"age": 1.0}) == costs
    assert costs.with_prices({"age": 2}).only(["age"]).currency == "EUR"
    for name in ("c.toml", "c.csv"):
        costs.write(tmp_path / name)
        assert Costs.read(tmp_path / name).currency == "EUR"
    (tmp_path / "top.toml").write_text('currency = "EUR"\n[tests]\nage = 1.0\n')
    assert Costs.read(tmp_path / "top.toml") == costs
    (tmp_path / "bad.toml").write_text("currency = 1\n")
    with pytest.raises(ValueError, match=r'bad.toml: currency must be a string such as "EUR", not 1'):
        Costs.read(tmp_path / "bad.toml")
    with pytest.raises(ValueError, match="currency is 'EUR', but about has the currency 'USD'"):
        Costs(currency="EUR", about={"currency": "USD"})
    with pytest.raises(ValueError, match="must be a string"):
        Costs(currency=3)

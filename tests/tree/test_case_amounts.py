"""What tests and surcharges cost each case."""

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.table.columns import read_columns
from worthwhile.table.schema import Schema
from worthwhile.tree.context import ProblemContext

TESTS = {
    "age": 1.0,
    "sex": 0.0,
    "lab": ww.Test(
        8.0,
        surcharges=[
            ww.Surcharge(20.0, where={"age": "< 1"}),
            ww.Surcharge(3.0, result=">= 5"),
            ww.Surcharge(50.0, truth="sick", where={"sex": ["f", "x"]}),
        ],
    ),
}
CASES = np.array([[0.5, "f", 6.0], [40.0, "m", 5.0], [None, "f", 2.0], [0.9, None, None]], dtype=object)


@pytest.fixture
def context():
    columns = read_columns(CASES, ["age", "sex", "lab"], ["sex"])
    return ProblemContext.of(Schema.learn(columns, ["sex"]), ["well", "sick"], ww.Costs(tests=TESTS, errors=9.0))


def read(context):
    return context.read(CASES)


def test_amounts_by_true_class(context):
    found = context.amounts(read(context), y=["sick", "sick", "well", "sick"])
    assert found.tolist() == [[1, 0, 8, 20, 3, 50], [1, 0, 8, 0, 3, 0], [1, 0, 8, 0, 0, 0], [1, 0, 8, 20, 0, 0]]


def test_amounts_by_probabilities_and_prices_by_case(context):
    shares = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.0, 1.0]])
    prices = np.tile([2.0, 0.0, 9.0], (4, 1))
    found = context.amounts(read(context), prices, shares=shares)
    assert found[:, 5].tolist() == [25.0, 0.0, 5.0, 0.0]
    assert found[:, :3].tolist() == prices.tolist()


def test_without_surcharges_all_cases_pay_the_same(context):
    plain = ProblemContext.of(context.schema, context.classes, context.costs.without_surcharges())
    assert plain.amounts(read(plain)) is None
    assert not plain.needs_shares()
    assert context.needs_shares()


def test_one_case_as_far_as_it_is_known(context):
    shares, expected = np.array([0.8, 0.2]), [4.0, 1.5, 6.0]
    for known, amounts in [
        ({}, [4.0, 1.5, 6.0]),
        ({"age": 0.5}, [20.0, 1.5, 6.0]),
        ({"age": 3, "sex": "f", "lab": 7}, [0.0, 3.0, 10.0]),
        ({"sex": "m", "lab": None}, [4.0, 0.0, 0.0]),
    ]:
        case = context.schema.read_case(known)
        assert context.amounts_of_case(case, shares, expected) == pytest.approx([1.0, 0.0, 8.0, *amounts])


@pytest.mark.parametrize(
    ("surcharge", "message"),
    [
        (ww.Surcharge(1.0, where={"sex": "< 1"}), "'< 1' on 'sex', which is nominal; name its values instead"),
        (ww.Surcharge(1.0, result="high"), "'high' on 'lab', which is numeric; use a number or a comparison"),
    ],
)
def test_conditions_that_do_not_fit_their_column(context, surcharge, message):
    costs = ww.Costs(tests={"lab": ww.Test(1.0, surcharges=[surcharge])})
    with pytest.raises(ValueError, match=message):
        ProblemContext.of(context.schema, context.classes, costs)

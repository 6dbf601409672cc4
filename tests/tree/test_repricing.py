"""Trees with other prices and error costs."""

import numpy as np
import pytest

import worthwhile as ww
from handmade import small, tree
from priced_trees import priced_tree, random_rows
from wildtrees import NAMES
from worthwhile.tree.node_costs import node_costs
from worthwhile.tree.repricing import cost_parts, repriced


def as_case(row):
    return [np.nan if v is None else v for v in row]


@pytest.mark.parametrize("seed", range(25))
def test_the_same_list_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    model = priced_tree(rng)
    same = repriced(model, model.costs)
    X = np.array(random_rows(rng, 30, 0.3), dtype=object)
    assert same.predict(X).tolist() == model.predict(X).tolist()
    assert same.test_costs(X).tolist() == model.test_costs(X).tolist()
    assert same.to_json() == model.to_json()


def test_new_prices_are_charged_and_expected():
    model = tree(small())
    new = repriced(model, model.costs.with_prices({"y": 20.0}))
    assert new.test_costs([[1.0, 1.0], [-1.0, 0.0]]).tolist() == [21.0, 1.0]
    assert node_costs(new)[0].expected_cost == pytest.approx(node_costs(model)[0].expected_cost + 18 * 12 / 20)
    assert new.expected_cost is None


def test_answers_of_least_cost_follow_the_error_costs():
    model = tree(small(answer="least-cost"))
    errors = {"no": {"yes": 1000.0}, "yes": {"no": 1.0}}
    new = repriced(model, model.costs.with_errors(errors))
    assert [new.answers[a] for a in new.nodes.answer] == ["no", "no", "no", "yes", "no"]
    kept = repriced(model, model.costs.with_errors(errors), answers=False)
    assert kept.nodes.answer.tolist() == model.nodes.answer.tolist()
    majority = tree(small())
    assert repriced(majority, model.costs.with_errors(errors)).nodes.answer.tolist() == majority.nodes.answer.tolist()


def test_a_reject_answer_may_come_and_go():
    model = tree(small(answer="least-cost"))
    errors = {"no": {"yes": 10.0, "?": 0.5}, "yes": {"no": 40.0, "?": 0.5}}
    new = repriced(model, model.costs.with_errors(errors))
    assert new.answers == ("no", "yes", "?")
    assert new.predict([[-1.0, 0.0]]).tolist() == ["?"]
    with pytest.raises(ValueError, match=r"answers '.', which the new error costs do not have"):
        repriced(new, model.costs, answers=False)


def test_expected_surcharges_go_with_the_amounts():
    costs = ww.Costs(
        tests={"x0": ww.Test(4.0, surcharges=(ww.Surcharge(10.0, result=">= 3"), ww.Surcharge(2.0, truth="b")))},
        errors=100,
    )
    X, y = [[float(i % 5)] for i in range(40)], ["a", "a", "b", "b", "b"] * 8
    clf = ww.EG2Classifier(costs=costs, cross_fit=False).fit(X, y)
    new = ww.Costs(
        tests={"x0": ww.Test(4.0, surcharges=(ww.Surcharge(2.0, truth="b"), ww.Surcharge(30.0, result=">= 3")))},
        errors=100,
    )
    found = repriced(clf.tree_, new)
    old = clf.tree_.expected_surcharges()
    np.testing.assert_allclose(found.expected_surcharges(), np.c_[old[:, 1], 3 * old[:, 0]])
    fresh = ww.EG2Classifier(costs=new, cross_fit=False).fit(X, y)
    assert found.next_test({}).price == pytest.approx(fresh.next_test({}).price)
    assert repriced(clf.tree_, costs.without_surcharges()).next_test({}).price == 4.0
    more = ww.Costs(tests={"x0": ww.Test(4.0, surcharges=(ww.Surcharge(7.0, result="< 1"),))}, errors=100)
    assert repriced(clf.tree_, more).next_test({}).price == 11.0  # nothing says how often it holds


def test_errors_by_case_cannot_be_repriced():
    X, y = [[float(i)] for i in range(20)], ["a", "b"] * 10
    errors = np.array([[0.0, 5.0 + i] if label == "a" else [9.0 + i, 0.0] for i, label in enumerate(y)])
    clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 0.1}, errors=10)).fit(X, y, case_errors=errors)
    assert clf.tree_.nodes.answer_costs is not None
    with pytest.raises(ValueError, match="errors cost each training case of this tree something else"):
        repriced(clf.tree_, clf.tree_.costs.with_errors(77))
    assert repriced(clf.tree_, clf.tree_.costs.with_prices({"x0": 3.0})).costs.price("x0") == 3.0


@pytest.mark.parametrize("seed", range(10))
def test_parts_add_up(seed):
    model = priced_tree(np.random.default_rng(seed), caps=False)
    parts, expected = cost_parts(model), node_costs(model)[0].expected_cost
    assert (parts is None) == (expected is None)
    if parts is not None:
        assert parts.total == pytest.approx(expected)
    assert len(NAMES) == len(model.columns)

"""Advice for single cases: the next test, its price, and why."""

import functools
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import worthwhile as ww
from handmade import small, tree, turney
from problems import compare
from wildtrees import random_case, random_content
from worthwhile.table.schema import OtherValue
from worthwhile.tree.run import run
from worthwhile.tree.walk import Walk


def test_turneys_worked_example_step_by_step():
    known = tree(turney())
    first = known.next_test({})
    assert (first.test, first.price, first.spent, first.commits) == ("alpha", 5, 0, ())
    second = known.next_test({"alpha": 6})
    assert (second.test, second.price, second.spent) == ("delta", 7 + 10 + 8, 5)
    assert second.commits == ("beta", "epsilon")
    assert second.order == {"delta": 7, "beta": 10, "epsilon": 8}  # delta also pays for the group
    assert str(second) == "do delta for 25.00, including beta 10.00 and epsilon 8.00 (5.00 spent)"
    third = known.next_test({"alpha": 6, "delta": 3})
    assert (third.test, third.price, third.spent) == ("epsilon", 0, 30)
    last = known.next_test({"alpha": 6, "delta": 3, "epsilon": 2})
    assert (last.test, last.answer, last.spent, last.price) == (None, 0, 30, 0)
    assert str(last) == "answer 0 (30.00 spent)"
    assert last.probabilities == {0: 1.0, 1: 0.0}


def test_a_case_with_the_amounts():
    known = tree(small())
    first = known.next_test({})
    assert (first.stop_answer, first.stop_cost, first.go_on_cost) == ("yes", 5, 1 + 4 + 1.2)
    assert first.gain == pytest.approx(-1.2)
    assert first.unavailable == ()
    assert repr(first) == "Advice(do x for 1.00, 0.00 spent; stopping costs 5.00, going on 6.20)"
    second = known.next_test({"x": 1})
    assert second.gain == pytest.approx(10 / 3 - 2)
    assert second.reason == (
        "Answering yes now is expected to cost 3.33 in errors; going on 2.00 in tests and errors, 1.33 less."
    )
    last = known.next_test({"x": 0})
    assert (last.answer, last.stop_answer, last.stop_cost, last.go_on_cost) == ("no", "yes", 7.5, 10)
    assert repr(last) == "Advice(answer no, 1.00 spent)"
    assert last.reason == (
        "The tree asks for no further test here; answering no is expected to cost 10.00 in errors, answering yes 7.50."
    )


def test_unavailable_tests_are_named():
    known = tree(turney())
    advice = known.next_test({"delta": OtherValue("eleven"), "beta": None, "epsilon": 2})
    assert advice.unavailable == ("delta", "beta")
    assert (advice.stop_answer, advice.stop_cost, advice.go_on_cost, advice.gain) == (None,) * 4
    assert repr(advice) == "Advice(do alpha for 5.00, 10.00 spent)"


def test_a_delayed_order_is_named():
    known = tree(turney())
    assert [known.next_test(case).delayed for case in ({}, {"alpha": 6}, {"alpha": 6, "delta": 3})] == [
        False,
        True,
        False,
    ]


def test_why_expected_costs_are_unknown():
    assert tree(turney()).next_test({}).reason == (
        "The tree asks for this test here; expected costs are unknown because the tree has no training weights."
    )
    nodes = [{key: value for key, value in node.items() if key != "weights"} for node in small()["nodes"]]
    nodes[0]["weights"] = [10, 10]
    assert tree(small(nodes=nodes)).next_test({}).reason == (
        "Answering yes now is expected to cost 5.00 in errors;"
        " the cost of going on is unknown because some branches have no training weights."
    )


def weighted(rng, answer="least-cost"):
    """A random tree with training weights at every node."""
    content = random_content(rng) | {"answer": answer}
    content["costs"] |= {"errors": [[0, 1, int(rng.integers(1, 90))], [1, 0, int(rng.integers(1, 90))]]}
    for node in content["nodes"]:
        node["weights"] = rng.integers(0, 5, 2).tolist()
    return tree(content)


@compare(300)
@given(st.integers(0, 2**32 - 1))
def test_after_an_unavailable_test_only_a_test_that_pays_is_recommended(seed):
    rng = np.random.default_rng(seed)
    known, case = weighted(rng), random_case(rng, 0.5)
    shown = []

    def next_test(seen, already_paid):
        shown.append((len(Walk(known, seen).positions) > 1, known.next_test(seen, already_paid)))
        return shown[-1][1]

    fetch = {name: functools.partial(case.get, name) for name in case}
    outcome = run(next_test, set(), known.context, {}, fetch)
    for divided, advice in shown:
        assert not divided or advice.test is None or advice.price == 0 or advice.gain > 0
    row = pd.DataFrame([case]).astype({n: float if n[0] == "n" else object for n in case})
    assert outcome.answer == known.predict(row)[0]  # a table of cases stops at the same place
    assert list(outcome.probabilities.values()) == pytest.approx(known.predict_proba(row)[0].tolist())


def test_it_stops_where_the_parts_of_a_case_contradict_each_other():
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        {"test": "y", "threshold": 0, "children": [3, 4]},
        {"test": "y", "threshold": 0, "children": [5, 6]},
        *({"answer": a, "weights": w} for a, w in (("no", [2, 0]), ("yes", [0, 2]), ("yes", [0, 2]), ("no", [2, 0]))),
    ]
    known = tree(small(nodes=nodes, costs={"tests": {"y": 3}, "errors": 100}))
    advice = known.next_test({"x": None})  # whatever y is, the halves contradict each other
    assert (advice.test, advice.answer, advice.stop_cost, advice.spent) == (None, "no", 50, 0)
    assert advice.reason == (
        "No further test pays: going on with y is expected to cost 53.00 in total;"
        " answering no is expected to cost 50.00 in errors."
    )
    assert known.test_costs([[np.nan, 1]]).tolist() == [0]
    assert known.predict([[np.nan, 1]]).tolist() == ["no"]
    assert str(known.explain({"x": None, "y": 1})).splitlines()[1:3] == ["answer no (no 50%, yes 50%)", advice.reason]
    assert known.run({}, fetch={"x": lambda: None, "y": lambda: 1}).spent == 0
    free = known.next_test({"x": None}, already_paid=["y"])
    assert (free.test, free.price) == ("y", 0)


def test_parts_that_share_a_test_share_its_price():
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        {"test": "y", "threshold": 0, "children": [3, 4]},
        {"test": "y", "threshold": 1, "children": [5, 6]},
        *({"answer": a, "weights": w} for a, w in (("no", [2, 0]), ("yes", [0, 2]), ("no", [2, 0]), ("yes", [0, 2]))),
    ]
    known = tree(small(nodes=nodes, costs={"tests": {"y": 30}, "errors": 100}))
    advice = known.next_test({"x": None})  # the results 1: both say no, 2: they differ, 3: both say yes
    assert (advice.test, advice.price, advice.stop_cost) == ("y", 30, 50)
    assert advice.go_on_cost == pytest.approx(30 + 50 / 3)
    dear = tree(small(nodes=nodes, costs={"tests": {"y": 40}, "errors": 100}))
    assert dear.next_test({"x": None}).test is None


def test_a_tree_that_was_not_grown_to_minimise_cost_says_so():
    advice = tree(small()).next_test({})
    assert advice.reason.endswith(
        "going on 6.20 in tests and errors, 1.20 more. The tree was learned by other figures"
        "; the results can change the answer to no."
    )


def test_a_test_whose_results_change_nothing_says_so():
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        *({"answer": "no", "weights": weights} for weights in ([9, 1], [8, 2])),
    ]
    advice = tree(small(nodes=nodes, costs={"tests": {"x": 3}, "errors": 100})).next_test({})
    assert (advice.test, advice.gain) == ("x", -3)
    assert advice.reason.endswith("; no result changes the answer.")


def deep(**fields):
    """x only leads to y, whose result decides."""
    nodes = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        {"answer": "no", "weights": [4, 2]},
        {"test": "y", "threshold": 0, "children": [3, 4]},
        {"answer": "no", "weights": [3, 0]},
        {"answer": "yes", "weights": [0, 3]},
    ]
    return tree(small(nodes=nodes, costs={"tests": {"x": 10, "y": 5}, "errors": 100}, answer="least-cost") | fields)


def test_a_test_that_only_leads_to_an_unavailable_one_is_not_recommended():
    known = deep()
    assert known.next_test({}).test == "x"
    advice = known.next_test({"y": None})
    assert (advice.test, advice.answer, advice.spent) == (None, "no", 0)
    assert advice.reason == (
        "No further test pays: going on with x is expected to cost 51.67 in total;"
        " answering no is expected to cost 41.67 in errors."
    )
    assert known.run({"y": None}, fetch={"x": lambda: 1}).spent == 0
    assert known.next_test({"x": 1, "y": None}).spent == 10  # what is in hand is used
    assert known.predict_proba([[1.0, np.nan]])[0].tolist() == [0.5, 0.5]  # of a table, it is found out on the way
    assert known.test_costs([[1.0, np.nan]]).tolist() == [10]
    assert known.run({}, fetch={"x": lambda: 1, "y": lambda: None}).spent == 10
    assert known.next_test({"y": None}, already_paid=["x"]).test == "x"


def test_a_tree_of_a_paper_does_all_tests_that_it_asks_for():
    known = deep(may_stop=False)
    assert not known.may_stop
    advice = known.next_test({"y": None})
    assert (advice.test, advice.go_on_cost) == ("x", None)
    assert advice.reason.endswith(
        "the cost of going on is unknown because y is unavailable and this tree then does all tests that it asks for."
    )
    contradicting = [
        {"test": "x", "threshold": 0, "children": [1, 2]},
        {"test": "y", "threshold": 0, "children": [3, 4]},
        {"test": "y", "threshold": 0, "children": [5, 6]},
        *({"answer": a, "weights": w} for a, w in (("no", [2, 0]), ("yes", [0, 2]), ("yes", [0, 2]), ("no", [2, 0]))),
    ]
    costs = {"tests": {"y": 3}, "errors": 100}
    for may_stop, price in ((True, 0), (False, 3)):
        either = tree(small(nodes=contradicting, costs=costs, may_stop=may_stop))
        assert either.test_costs([[np.nan, 1]]).tolist() == [price]
        for again in (tree(json.loads(either.to_json())), pickle.loads(pickle.dumps(either))):
            assert (again.may_stop, again.test_costs([[np.nan, 1]]).tolist()) == (may_stop, [price])


@compare(300)
@given(st.integers(0, 2**32 - 1))
def test_what_is_known_to_be_unavailable_from_the_start_counts(seed):
    rng = np.random.default_rng(seed)
    known, case = weighted(rng), random_case(rng, 0.5)
    lacking = {name: None for name, value in case.items() if value is None}
    advice = known.next_test(lacking)
    if advice.test is not None and advice.price > 0 and advice.gain < 0:  # the tree decides: none of them lies below
        walk = Walk(known, lacking)
        assert len(walk.positions) == 1
        assert not {known.columns[t] for t in known.nodes.test[list(walk.below())] if t >= 0} & set(lacking)
    outcome = known.run(lacking, fetch={name: functools.partial(case.get, name) for name in case})
    assert outcome.ledger == () or outcome.spent == pytest.approx(sum(entry.price for entry in outcome.ledger))


def test_what_others_have_paid_for_costs_nothing():
    known = tree(turney())
    paid = known.next_test({"alpha": 6, "delta": 3})
    assert (paid.spent, sum(paid.paid.values())) == (30, 30)
    free = known.next_test({"alpha": 6, "delta": 3}, already_paid=["alpha", "delta"])
    assert (free.spent, free.test, free.price) == (0, "epsilon", 8)  # the group's common price is paid too
    assert known.next_test({}, already_paid=["alpha"]).price == 0
    assert known.run({"alpha": 1}, {"beta": lambda: 7}, already_paid=["alpha"]).spent == 10
    with pytest.raises(ValueError, match=r"there is no test 'alfa'; did you mean 'alpha'\?"):
        known.next_test({}, already_paid=["alfa"])
    with pytest.raises(TypeError, match=r"already_paid must be a list of tests, e.g. \['alpha'\]"):
        known.next_test({}, already_paid="alpha")


def test_what_is_paid_is_free_and_orders_count_at_once():
    content = turney()
    for node, weights in zip(content["nodes"], [[5, 5], [2, 2], [3, 3], [0, 2], [2, 0]], strict=False):
        node["weights"] = weights
    for node in (5, 6):
        content["nodes"][node]["weights"] = [1.5, 1.5]
    for node, weights in ((7, [0, 1.5]), (8, [1.5, 0]), (9, [1.5, 0]), (10, [0, 1.5])):
        content["nodes"][node]["weights"] = weights
    known = tree(content)
    assert known.next_test({}).go_on_cost == pytest.approx(5 + 0.4 * 10 + 0.6 * 25)
    assert known.next_test({"beta": 1}).go_on_cost == pytest.approx(5 + 0.6 * 15)
    assert known.next_test({"epsilon": 1}).go_on_cost == pytest.approx(5 + 0.4 * 10 + 0.6 * (5 + 10))
    after = known.next_test({"alpha": 6, "delta": 3})
    assert (after.test, after.price, after.go_on_cost, after.delayed) == ("epsilon", 0, 0, False)
    before = known.next_test({"alpha": 6})
    assert (before.delayed, before.stop_cost, before.go_on_cost, before.gain) == (True, 25, 25, 0)
    assert before.reason.endswith("going on 25.00 in tests and errors, the same.")


def test_a_misspelt_value_is_refused_with_the_valid_ones():
    heart = ww.datasets.load("heart")
    options = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names}
    tree_learner = ww.EG2Classifier(**options, prune="cost", cross_fit=False).fit(heart.X, heart.y)
    forest = ww.BudgetForestClassifier(**options, max_trees=3, budget=50, random_state=0).fit(heart.X, heart.y)
    words = (
        "'notag' is not a value of cp; did you mean 'notang'? Its values are 'abnang', 'angina', 'asympt', 'notang';"
        " None: another value, or unavailable"
    )
    for clf in (tree_learner, forest):
        for ask in (
            lambda clf: clf.next_test({"cp": "notag"}),
            lambda clf: clf.explain({"cp": "notag"}),
            lambda clf: clf.run({"cp": "notag"}, dict.fromkeys(heart.feature_names, lambda: None)),
        ):
            with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
                ask(clf)
    with pytest.raises(ValueError, match="'notag' is not a value of cp"):  # also if a function returns it
        tree_learner.run({}, dict.fromkeys(heart.feature_names, lambda: "notag"))
    X = heart.X[:1].copy()
    X["cp"] = "notag"
    assert tree_learner.test_costs(X)[0] == tree_learner.test_costs(X.assign(cp=None))[0]  # in a table it is missing


def test_no_value_of_an_unused_column_is_refused():
    X = pd.DataFrame({"name": [f"n{i}" for i in range(40)], "x": range(40)})
    with pytest.warns(UserWarning, match="name"):
        clf = ww.C45Classifier(cross_fit=False).fit(X, [i < 20 for i in range(40)])
    assert clf.next_test({"name": "Ann", "x": 3}).answer is True


def test_surcharges_and_waits_of_results_in_hand_stand_with_the_test_to_do():
    tests = {
        "x": {"price": 4, "wait": 1},
        "y": {"price": 3, "wait": 24, "surcharges": [{"amount": 6, "truth": "yes"}]},
    }
    content = small()
    content["costs"] |= {"tests": tests, "waiting": 0.5}
    content["nodes"][0]["commits"] = True
    advice = tree(content).next_test({"y": 1})
    assert (advice.test, advice.spent) == ("x", 3)
    assert advice.price == 4 + 12 + 3  # x, the wait for y, and half of the cases are ill
    assert advice.order == {"x": advice.price}
    assert [str(extra) for extra in advice.extras["x"]] == ["y class yes: 3.00 of 6.00", "y wait 24: 12.00"]
    both = tree(content).next_test({})
    assert sum(both.order.values()) == both.price == 4 + 3 + 12 + 3
    assert advice.spent + advice.price == both.price

"""Learned models with other prices."""

import pytest

import worthwhile as ww
from handmade import small, tree
from worthwhile.learners.repricing import repriced_model

X, Y = [[float(i), float(i % 3)] for i in range(30)], ["a"] * 15 + ["b"] * 15
COSTS = ww.Costs(tests={"x0": 2.0, "x1": 1.0}, errors=50)


def test_the_copy_has_the_new_prices_and_the_original_the_old_ones():
    clf = ww.EG2Classifier(costs=COSTS, min_cases=1).fit(X, Y)
    new = repriced_model(clf, COSTS.with_prices({"x0": 9.0}))
    assert (clf.test_costs(X).max(), new.test_costs(X).max()) == (2.0, 9.0)
    assert new.problem_.costs.price("x0") == new.costs.price("x0") == 9.0
    assert clf.costs is COSTS
    assert new.predict(X).tolist() == clf.predict(X).tolist()


def test_a_lazy_learner_grows_its_tree_first():
    clf = ww.IDXClassifier(costs=COSTS, min_cases=1).fit(X, Y)
    assert repriced_model(clf, COSTS.with_prices({"x0": 9.0})).tree_.costs.price("x0") == 9.0


def test_trees_and_other_models():
    assert repriced_model(tree(small()), ww.Costs(tests={"x": 5.0})).costs.price("x") == 5.0
    forest = ww.BudgetForestClassifier(costs=COSTS, budget=5.0, max_trees=2, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="a BudgetForestClassifier chose its tests by the old prices"):
        repriced_model(forest, COSTS)


def test_what_auto_has_chosen_is_repriced():
    clf = ww.AutoClassifier(costs=COSTS, learners=["dtmc"], random_state=0).fit(X, Y)
    new = repriced_model(clf, COSTS.with_prices({"x0": 9.0}))
    assert isinstance(new, ww.DTMCClassifier)
    assert (clf.test_costs(X).max(), new.test_costs(X).max()) == (2.0, 9.0)
    assert clf.advise([[float("nan"), 1.0]], as_frame=False)["tests"].tolist() == [clf.next_test({"x1": 1.0}).test]

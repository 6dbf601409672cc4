"""Every learner with every way to ask nominal tests: answers, prices, files and advice."""

import json

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from all_learners import FORESTS, SEARCHES, SINGLE, learned, make
from worthwhile.learners.growth_policy import GrowthPolicy

LEARNERS = [*SINGLE, *FORESTS]  # a cascade asks no nominal test by branches
WAYS = ("multiway", "subset", "both")
LETTERS = list("abcdefgh")
COSTS = ww.Costs(
    tests={"colour": ww.Test(2.0, group="look"), "size": ww.Test(1.0, group="look"), "age": 3.0},
    groups={"look": 1.0},
    errors={"no": {"yes": 60.0}, "yes": {"no": 90.0}},
)
every_way = pytest.mark.parametrize("nominal_splits", WAYS)


def planted(n, seed=0, missing=0.0):
    """Two of eight colours count as special; special things are of the class unless they are small."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"colour": rng.choice(LETTERS, n), "size": rng.choice(list("xyz"), n), "age": rng.normal(size=n).round(2)}
    )
    special = frame["colour"].isin(["c", "f"]).to_numpy()
    y = np.where((special & (frame["size"] != "x").to_numpy()) | (frame["age"].to_numpy() > 1.5), "yes", "no")
    for name in frame.columns:
        frame.loc[rng.random(n) < missing, name] = None if name != "age" else np.nan
    return frame, y


def fitted(learner, nominal_splits, missing=0.0, **parameters):
    X, y = planted(400, missing=missing)
    known = {"costs": COSTS, "nominal_splits": nominal_splits, "random_state": 0} | parameters
    return make(learner, **known).fit(X, y), X, y


def follow(tree, case):
    """The answer and the price of a complete case, by the JSON of a tree alone."""
    nodes, at, paid = tree["nodes"], 0, set()
    while "test" in nodes[at]:
        node = nodes[at]
        paid.add(node["test"])
        value = case[node["test"]]
        if "threshold" in node:
            branch = int(value > node["threshold"])
        else:
            branch = next(b for b, values in enumerate(node["branches"]) if value in values)
        at = node["children"][branch]
    own = {"colour": 2.0, "size": 1.0, "age": 3.0}
    return nodes[at]["answer"], sum(own[t] for t in paid) + (1.0 if paid & {"colour", "size"} else 0.0)


@every_way
@pytest.mark.parametrize("learner", LEARNERS)
def test_answers_and_prices_are_those_of_a_walk_down_the_tree(learner, nominal_splits):
    clf, _, _ = fitted(learner, nominal_splits)
    new, y_new = planted(60, seed=1)
    trees = [json.loads(text) for text in learned(clf)]
    for row, case in enumerate(new.to_dict("records")):
        walks = [follow(tree, case) for tree in trees]
        if learner not in FORESTS:
            assert (clf.predict(new)[row], clf.test_costs(new)[row]) == (walks[0][0], pytest.approx(walks[0][1]))
    if learner in FORESTS:
        one = clf.trees_[0]
        walks = [follow(trees[0], case) for case in new.to_dict("records")]
        assert one.predict(new).tolist() == [answer for answer, _ in walks]
        np.testing.assert_allclose(one.test_costs(new), [price for _, price in walks])
    assert clf.total_costs(new, y_new).mean() < 40


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_branch_for_every_value_is_the_default(learner):
    X, y = planted(200)
    plain = make(learner, costs=COSTS).fit(X, y)
    others = {ww.OptimalClassifier: "both", ww.AutoClassifier: "both", ww.BudgetForestClassifier: None}
    usual = others.get(learner, "multiway")  # None: a forest of least cost divides values, the published one does not
    assert learner().nominal_splits == usual
    assert learned(plain) == learned(make(learner, costs=COSTS, nominal_splits=usual).fit(X, y))


@pytest.mark.parametrize("nominal_splits", ["subset", "both"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_values_are_divided_into_two(learner, nominal_splits):
    # With two levels only, the exact search finds that a branch for every colour costs least.
    clf, _, _ = fitted(learner, nominal_splits, max_depth=None if learner is not ww.OptimalClassifier else 4)
    branches = [
        [sorted(values) for values in node["branches"]]
        for tree in map(json.loads, learned(clf))
        for node in tree["nodes"]
        if node.get("test") == "colour"
    ]
    assert any(len(two) == 2 for two in branches)
    # The exact search tries single values against the rest, and a forest lowers the impurity of its worst branch.
    assert learner in (ww.OptimalClassifier, *FORESTS) or any(["c", "f"] in two for two in branches)
    if nominal_splits == "subset":
        assert all(len(two) == 2 for two in branches)


@pytest.mark.parametrize("nominal_splits", ["subset", "both"])
@pytest.mark.parametrize("learner", [ww.C45Classifier, ww.EG2Classifier, ww.IDXClassifier, ww.ACTClassifier])
def test_some_values_against_the_rest_cost_less_on_new_cases(learner, nominal_splits):
    """Of forty places, twenty are special. A branch for each leaves few cases to learn from in all of them."""
    rng = np.random.default_rng(3)
    n = 600
    X = pd.DataFrame({"place": rng.integers(0, 40, 2 * n).astype(str), "a": rng.integers(0, 2, 2 * n).astype(str)})
    y = (X["place"].isin([str(p) for p in range(20)]).to_numpy() & (X["a"] == "1").to_numpy()) ^ (
        rng.random(2 * n) < 0.15
    )
    costs = ww.Costs(tests={"place": 1.0, "a": 1.0}, errors=100)
    cost = {}
    for way in ("multiway", nominal_splits):
        clf = make(learner, costs=costs, nominal_splits=way, cross_fit=False, variant="paper").fit(X[:n], y[:n])
        cost[way] = clf.total_costs(X[n:], y[n:]).mean()
    assert cost[nominal_splits] < 0.97 * cost["multiway"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_saved_models_answer_alike(learner, tmp_path):
    clf, X, _ = fitted(learner, "both", missing=0.1)
    clf.save(tmp_path / "model.json")
    again = ww.load(tmp_path / "model.json")
    assert again.nominal_splits == "both"
    assert clf.rules() == again.rules() if hasattr(clf, "tree_") else len(clf.trees_) == len(again.trees_)
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    np.testing.assert_allclose(again.test_costs(X), clf.test_costs(X))


@pytest.mark.parametrize("learner", LEARNERS)
def test_missing_and_new_values_are_answered(learner):
    clf, X, _ = fitted(learner, "subset", missing=0.2)
    new = X[:40].assign(colour=["violet", None] * 20)
    gone = X[:40].assign(colour=None)
    np.testing.assert_array_equal(clf.predict(new), clf.predict(gone))
    np.testing.assert_allclose(clf.test_costs(new), clf.test_costs(gone))


def test_a_value_without_a_case_at_a_node_goes_where_most_cases_go():
    """Below age ≤ 0 nobody is blue."""
    colour = np.array(list("abc") * 40 + list("abcd") * 30)
    age = np.r_[np.zeros(120), np.ones(120)]
    y = np.where(age == 1, "old", np.where(colour == "a", "x", "y"))
    X = pd.DataFrame({"colour": colour, "age": age})
    clf = ww.C45Classifier(nominal_splits="subset", min_cases=1, prune="none", min_share=0).fit(X, y)
    assert clf.predict(pd.DataFrame({"colour": ["d"], "age": [0.0]}))[0] == "y"


def test_ordered_categories_are_cut_like_numbers_in_any_case():
    grade = pd.Categorical.from_codes(np.arange(240) % 4, list("wxyz"), ordered=True)
    y = np.isin(np.arange(240) % 4, [0, 3])
    for way in WAYS:
        tree = ww.C45Classifier(nominal_splits=way, prune="none").fit(pd.DataFrame({"grade": grade}), y).tree_
        assert all("w or z" not in line for line in tree.to_text().splitlines())


@pytest.mark.parametrize("learner", SEARCHES)
def test_threads_make_no_difference(learner):
    one, two = (fitted(learner, "both", n_jobs=n)[0] for n in (1, 2))
    assert learned(one) == learned(two)


def test_lazy_trees_divide_values_too():
    X, y = planted(300)
    known = {"costs": COSTS, "nominal_splits": "subset", "prune": "none", "cross_fit": False}
    whole = ww.CSID3Classifier(**known).fit(X, y)
    lazy = ww.CSID3Classifier(lazy=True, **known).fit(X, y)
    np.testing.assert_array_equal(lazy.predict(X), whole.predict(X))
    np.testing.assert_allclose(lazy.test_costs(X), whole.test_costs(X))


def test_advice_and_explanations_name_the_values_of_a_branch():
    clf, _, _ = fitted(ww.DTMCClassifier, "subset")
    case = {"colour": "f", "size": "y", "age": 0.0}
    assert "c or f" in clf.tree_.to_text()
    assert "(c or f)" in str(clf.explain(case))
    assert any("colour is c or f" in rule for rule in clf.rules())
    known = {}
    while (advice := clf.next_test(known)).test is not None:
        known[advice.test] = case[advice.test]
    assert advice.answer == clf.predict(pd.DataFrame([case]))[0]


def test_errors_by_case_and_prices_by_case():
    X, y = planted(300)
    rng = np.random.default_rng(0)
    case_errors = np.where((y == "yes")[:, None], [90.0, 0.0], [0.0, 60.0]) * rng.uniform(0.5, 1.5, (300, 1))
    case_prices = rng.uniform(0.5, 1.5, (300, 3))
    clf = ww.DTMCClassifier(costs=COSTS, nominal_splits="both").fit(
        X, y, case_errors=case_errors, case_prices=case_prices
    )
    assert "c or f" in clf.tree_.to_text()


def test_an_unknown_way_is_refused():
    X, y = planted(50)
    with pytest.raises(ValueError, match="invalid nominal_splits='binary'; choose 'multiway', 'subset' or 'both'"):
        ww.EG2Classifier(nominal_splits="binary").fit(X, y)
    with pytest.raises(ValueError, match="unknown nominal splits: binary"):
        GrowthPolicy(criterion="gain", nominal_splits="binary").core()

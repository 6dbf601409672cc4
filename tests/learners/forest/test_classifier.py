"""BudgetForestClassifier: budgets, choices, stopping early, files."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from all_learners import COSTS, learned
from worthwhile.learners.forest import classifier as forest_classifier
from worthwhile.learners.forest import voting
from worthwhile.learners.forest.model_file import SLACK
from worthwhile.learners.forest.test_sets import ladder
from worthwhile.learners.forest.validation import GrowthMonitor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.7 * X[:, 2] * X[:, 3] + 0.3 * RNG.normal(size=400) > 0).astype(int)
FRESH = RNG.normal(size=(150, 4)).round(2)
FRESH_Y = (FRESH[:, 0] + FRESH[:, 1] + 0.7 * FRESH[:, 2] * FRESH[:, 3] > 0).astype(int)
# Nearly the same: where one test is much cheaper than the others, no tree asks for anything else.
PRICES = ww.Costs(tests={"x0": 2.625, "x1": 2.5, "x2": 2.375, "x3": 2.5}, errors=50)
MODES = (False, "settled", True)
modes = pytest.mark.parametrize("adaptive", MODES)


def make(**parameters):
    known = {"costs": PRICES, "max_trees": 12, "alpha": [0, 6, 20], "random_state": 3}
    return ww.BudgetForestClassifier(**(known | parameters))


def same(one, other):
    """That two forests answer, and charge, alike."""
    np.testing.assert_array_equal(one.predict(FRESH), other.predict(FRESH))
    np.testing.assert_array_equal(one.predict_proba(FRESH), other.predict_proba(FRESH))
    np.testing.assert_array_equal(one.test_costs(FRESH), other.test_costs(FRESH))


# -- what a forest says -----------------------------------------------------------------------------------------------


def union_price(costs, tests):
    spent, paid = 0.0, set()
    for test in sorted(tests):
        spent += costs.price(test, paid=paid)
        paid.add(test)
    return spent


def test_prices_are_those_of_the_union_of_all_trees():
    clf = make(alpha=0).fit(X, Y)
    paths = [tree.test_costs(FRESH, np.eye(4)[[j] * 150]) for tree in clf.trees_ for j in range(4)]
    used = np.array(paths).reshape(12, 4, 150).any(axis=0)  # a price of 1 for one test: who pays it?
    expected = [union_price(PRICES, [f"x{j}" for j in range(4) if used[j, i]]) for i in range(150)]
    np.testing.assert_allclose(clf.test_costs(FRESH), expected)
    np.testing.assert_allclose(clf.total_costs(FRESH, FRESH_Y), expected + 50 * (clf.predict(FRESH) != FRESH_Y))
    assert clf.test_costs(FRESH, np.ones((150, 4))).max() == 4
    with pytest.raises(ValueError, match=r"case_prices has the shape \(3,\)"):
        clf.test_costs(FRESH, np.ones(3))


def test_answers_are_votes_and_shares_are_pooled_leaves():
    clf = make(alpha=0, max_trees=5).fit(X, Y)
    votes = np.mean([tree.predict(FRESH) for tree in clf.trees_], axis=0)
    np.testing.assert_array_equal(clf.predict(FRESH), (votes > 0.5).astype(int))
    leaves = np.zeros((150, 2))
    for tree in clf.trees_:
        for row in range(150):
            node = 0
            while tree.nodes.test[node] >= 0:
                node = tree.nodes.first_child[node] + (FRESH[row, tree.nodes.test[node]] > tree.nodes.threshold[node])
            leaves[row] += tree.nodes.weights[node]
    np.testing.assert_allclose(clf.predict_proba(FRESH), leaves / leaves.sum(axis=1, keepdims=True))


def test_it_learns_something():
    clf = make(alpha=0, max_trees=40).fit(X, Y)
    assert clf.score(FRESH, FRESH_Y) > 0.84
    for other in (
        {"impurity": "powers", "power": 3},
        {"splits": "expected"},
        {"cuts": "exact"},
    ):
        assert make(alpha=0, max_trees=20, **other).fit(X, Y).score(FRESH, FRESH_Y) > 0.65, other


def test_options_reach_the_core():
    plain = learned(make(alpha=0).fit(X, Y))
    for other in (
        {"impurity": "powers", "power": 4},
        {"splits": "expected"},
        {"cuts": "exact"},
        {"context": True},
        {"max_depth": 2},
        {"alpha": 5},
        {"random_state": 4},
        {"validation": 0.5},
    ):
        assert learned(make(**({"alpha": 0} | other)).fit(X, Y)) != plain, other
    assert max(tree.depth for tree in make(max_depth=2).fit(X, Y).trees_) == 2


def test_context_makes_trees_ask_fewer_tests():
    plain, context = (make(alpha=0, max_trees=1, context=c).fit(X, Y).test_costs(FRESH).mean() for c in (False, True))
    assert context < plain


# -- budgets ----------------------------------------------------------------------------------------------------------


@modes
@pytest.mark.parametrize("budget", [0, 1.5, 4, 7, 9.5, 10, 30])
def test_the_budget_is_kept_on_validation_data(adaptive, budget):
    held = FRESH, FRESH_Y
    clf = make(budget=budget, adaptive=adaptive, validation=held).fit(X, Y)
    assert clf.test_costs(FRESH).mean() <= budget * (1 + SLACK)
    assert clf.record_.price == pytest.approx(clf.test_costs(FRESH).mean())
    assert clf.record_.error == pytest.approx(1 - clf.score(*held))
    assert clf.record_.error_cost == pytest.approx(clf.total_costs(*held).mean() - clf.test_costs(FRESH).mean())
    assert clf.record_.trees == len(clf.trees_)


def test_one_more_tree_would_be_too_much():
    clf, more = (make(alpha=0, budget=budget).fit(X, Y) for budget in (9.6, None))
    curve, n = more.forests_[0].curve, len(clf.trees_)
    assert 0 < n < 12
    assert curve[n].price <= 9.6 < curve[n + 1].price
    assert learned(clf) == learned(more)[:n]


@modes
def test_a_budget_for_nothing(adaptive):
    clf = make(budget=0, adaptive=adaptive).fit(X, Y)
    assert (clf.test_costs(FRESH) == 0).all()
    assert (clf.predict(FRESH) == np.bincount(Y).argmax()).all()
    np.testing.assert_allclose(clf.predict_proba(FRESH)[0], np.bincount(Y) / 400)
    if adaptive is not True:
        assert clf.empty_
        assert clf.trees_ == []
        assert clf.next_test({}).answer == np.bincount(Y).argmax()


@modes
def test_with_budget_is_the_same_as_refitting(adaptive):
    whole = make(adaptive=adaptive).fit(X, Y)
    for budget in (0, 2, 5, 7, 8.5, 9.5, 20):
        cut, again = whole.with_budget(budget), make(adaptive=adaptive, budget=budget).fit(X, Y)
        same(cut, again)
        assert cut.get_params() == again.get_params()
        assert (cut.record_, cut.alpha_, cut.rate_) == (again.record_, again.alpha_, again.rate_)
    part = make(adaptive=adaptive, budget=9).fit(X, Y)
    same(part.with_budget(8), make(adaptive=adaptive, budget=8).fit(X, Y))
    assert whole.budget is None  # the copy has changed, not the forest
    same(whole, make(adaptive=adaptive).fit(X, Y))


def test_with_budget_refuses_what_was_not_grown():
    clf = make(budget=8).fit(X, Y)
    with pytest.raises(ValueError, match=r"budget=9 cannot be had without fitting: .* within a budget of 8.0"):
        clf.with_budget(9)
    with pytest.raises(ValueError, match="BudgetForestClassifier: invalid budget=-1"):
        clf.with_budget(-1)
    same(make(budget=8, adaptive=True).fit(X, Y).with_budget(9), make(budget=9, adaptive=True).fit(X, Y))


@modes
def test_the_curve_is_what_every_part_costs(adaptive):
    clf = make(adaptive=adaptive).fit(X, Y)
    curve = clf.budget_curve(FRESH, FRESH_Y)
    assert [r.alpha for r in curve] == sorted(r.alpha for r in curve)
    assert {r.alpha for r in curve} == {0, 6, 20}
    if adaptive is not True:
        assert [r.trees for r in curve] == [*range(13)] * 3
        for alpha in (0, 6, 20):
            prices = [r.price for r in curve if r.alpha == alpha]
            assert prices == sorted(prices)
    one = next(r for r in curve if r.alpha == clf.alpha_ and (r.trees, r.rate) == (len(clf.trees_), clf.rate_))
    assert one.price == pytest.approx(clf.test_costs(FRESH).mean())
    assert one.error == pytest.approx((clf.predict(FRESH) != FRESH_Y).mean())
    assert one.error_cost == pytest.approx(50 * one.error)


def test_the_alpha_of_least_error_is_chosen():
    clf = make(budget=9).fit(X, Y)
    ends = [forest.within(9) for forest in clf.forests_]
    assert clf.record_.error == min(end.error for end in ends)
    assert clf.alpha_ == min(ends, key=lambda end: end.error).alpha
    unequal = make(budget=9, costs=ww.Costs(tests=PRICES.tests, errors={0: {1: 1.0}, 1: {0: 100.0}})).fit(X, Y)
    ends = [forest.within(9) for forest in unequal.forests_]
    assert unequal.record_ == min(ends, key=lambda end: end.price + end.error_cost)


def test_alphas_of_the_same_value_are_grown_once():
    clf = make(alpha=np.array([4, 4.0, 2])).fit(X, Y)
    assert [forest.alpha for forest in clf.forests_] == [4, 2]


# -- repeatable -------------------------------------------------------------------------------------------------------


@modes
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_nothing(adaptive, n_jobs):
    for budget in (None, 9):
        one, many = (make(adaptive=adaptive, budget=budget, n_jobs=n).fit(X, Y) for n in (None, n_jobs))
        assert learned(one) == learned(many)
        same(one, many)
        assert one.record_ == many.record_


def test_trees_depend_on_their_number_alone():
    few, many = (make(alpha=0, max_trees=n, random_state=np.random.RandomState(5)).fit(X, Y) for n in (4, 9))
    assert learned(few) == learned(many)[:4]
    same(make(random_state=np.random.default_rng(1)).fit(X, Y), make(random_state=np.random.default_rng(1)).fit(X, Y))


# -- stopping early ---------------------------------------------------------------------------------------------------


def test_settled_votes_are_the_votes_of_all():
    saved = []
    for max_trees in (1, 2, 7, 12, 25):
        known = {"alpha": 0, "max_depth": 2, "max_trees": max_trees}
        full, early = (make(**known, adaptive=a).fit(X, Y) for a in (False, "settled"))
        np.testing.assert_array_equal(full.predict(FRESH), early.predict(FRESH))
        assert (early.test_costs(FRESH) <= full.test_costs(FRESH)).all()
        saved.append(full.test_costs(FRESH).mean() - early.test_costs(FRESH).mean())
    assert max(saved) > 0


def test_only_trees_that_are_consulted_are_paid():
    clf = make(alpha=0, adaptive="settled").fit(X, Y)
    for row in range(0, 150, 10):
        case, votes = FRESH[[row]], []
        for tree in clf.trees_:
            votes.append(int(tree.predict(case)[0]))
            if abs(votes.count(1) - votes.count(0)) > 12 - len(votes):
                break
        short = make(alpha=0, max_trees=len(votes)).fit(X, Y)
        assert clf.test_costs(case) == short.test_costs(case)
        np.testing.assert_array_equal(clf.predict_proba(case), short.predict_proba(case))


def test_dear_tests_stop_early_and_cheap_ones_do_not():
    prices = []
    for error in (1e-3, 10, 30, 100, 1e5):
        clf = make(alpha=0, adaptive=True, costs=ww.Costs(tests=PRICES.tests, errors=error)).fit(X, Y)
        assert clf.rate_ == 1
        prices.append(clf.record_.price)
    assert prices[0] == 0
    assert prices == sorted(prices)
    assert prices[-1] > 5
    free = make(alpha=0, adaptive=True, costs=None).fit(X, Y)
    np.testing.assert_array_equal(free.predict(FRESH), make(alpha=0, costs=None).fit(X, Y).predict(FRESH))


def test_stopping_early_is_worth_it():
    """Within the same budget fewer errors, or within the same error fewer tests, on the cases that it was chosen by."""
    held = FRESH, FRESH_Y
    plain, early = (make(alpha=0, max_trees=30, adaptive=a, validation=held).fit(X, Y) for a in (False, True))
    total = [(clf.total_costs(*held)).mean() for clf in (plain, early)]
    assert total[1] <= total[0]


# -- advice -----------------------------------------------------------------------------------------------------------


@modes
def test_advice_leads_to_the_answer(adaptive):
    clf = make(alpha=0, max_trees=5, adaptive=adaptive, costs=COSTS).fit(X, Y)
    for row in range(0, 150, 15):
        seen, paid = {}, 0.0
        while (advice := clf.next_test(seen)).test is not None:
            seen[advice.test] = FRESH[row, int(advice.test[1:])]
            paid += advice.price
        assert advice.answer == clf.predict(FRESH[[row]])[0]
        assert advice.spent == pytest.approx(clf.test_costs(FRESH[[row]])[0])
        assert paid == pytest.approx(advice.spent)
        assert advice.probabilities == pytest.approx(dict(enumerate(clf.predict_proba(FRESH[[row]])[0])))
        text = str(clf.explain(seen))
        assert text.splitlines()[-1] == f"tests cost {advice.spent:.2f}"
        assert f"answer {advice.answer} (" in text
        assert text.startswith("tree 1 of 5\n") or adaptive is True
    if adaptive is not True:
        assert "this is the next test" in str(clf.explain({}))


# -- input ------------------------------------------------------------------------------------------------------------


def test_frames_nominal_columns_and_missing_values():
    heart = ww.datasets.load("heart")
    holes = heart.X.mask(np.random.default_rng(0).random(heart.X.shape) < 0.2)
    for adaptive in MODES:
        clf = ww.BudgetForestClassifier(costs=heart.costs, budget=60, adaptive=adaptive, max_trees=15, random_state=0)
        clf.fit(holes, heart.y)
        assert clf.score(holes, heart.y) > 0.5
        assert (clf.test_costs(holes) <= heart.costs.total_price() + 1e-9).all()
        np.testing.assert_allclose(clf.predict_proba(holes).sum(axis=1), 1)


def test_weights_count():
    weights = np.where(Y, 1.0, 0.0)
    weights[:40] = 1
    clf = make(alpha=0).fit(X, Y, sample_weight=weights)
    assert (clf.predict(FRESH) == 1).mean() > 0.6
    heavy = make(alpha=0, max_trees=2).fit(X, Y, sample_weight=np.full(400, 3.0))
    light = make(alpha=0, max_trees=2).fit(X, Y)
    np.testing.assert_array_equal(heavy.predict(FRESH), light.predict(FRESH))
    np.testing.assert_allclose(heavy.trees_[0].nodes.weights, 3 * light.trees_[0].nodes.weights)


def test_validation_by_other_cases():
    frame = pd.DataFrame(X, columns=list("abcd"))
    costs = ww.Costs(tests={"a": 1.0})
    clf = make(costs=costs, validation=(pd.DataFrame(FRESH, columns=list("abcd")), FRESH_Y)).fit(frame, Y)
    plain = make(costs=costs, validation=(FRESH, FRESH_Y.tolist())).fit(frame, Y)
    assert clf.record_ == plain.record_
    assert clf.trees_[0].nodes.weights[0].sum() == 400  # all cases grow
    unseen = make(validation=(FRESH, np.where(FRESH_Y == 1, 1, 7))).fit(X, Y)
    assert unseen.record_.error >= (FRESH_Y != 1).mean()
    itself = make(validation=None, alpha=0).fit(X, Y)
    assert itself.record_.error == pytest.approx(1 - itself.score(X, Y))


def test_few_cases():
    for n in (1, 2, 3, 4):
        clf = make().fit(X[:n], Y[:n])
        assert clf.predict(FRESH).shape == (150,)
    assert make().fit(X, np.zeros(400)).predict(FRESH).tolist() == [0.0] * 150


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"budget": -1}, "BudgetForestClassifier: invalid budget=-1; it must be a number of at least 0 or None"),
        ({"budget": "all"}, "budget='all'"),
        ({"alpha": -1}, r"alpha=-1; it must be a number of at least 0 or a list of such numbers"),
        ({"alpha": []}, r"alpha=\[\]"),
        ({"alpha": [0, "x"]}, r"alpha=\[0, 'x'\]"),
        ({"alpha": None}, "alpha=None"),
        ({"power": 0.5}, "power=0.5"),
        (
            {"impurity": "powers", "power": [2, 1.5]},
            r"impurity='powers' needs power of at least 2, got power=\[2, 1.5\]",
        ),
        ({"max_trees": 0}, "max_trees=0; it must be a whole number from 1 to 30,000"),
        ({"impurity": "gini"}, "impurity='gini'; choose 'pairs' or 'powers'"),
        ({"splits": "mean"}, "splits='mean'; choose 'minimax' or 'expected'"),
        ({"cuts": 80}, "cuts=80; choose 'random' or 'exact'"),
        ({"validation": 0}, "validation=0; it must be a number above 0 and at most 0.9"),
        ({"validation": (X, Y, Y)}, r"a pair \(X, y\) or None"),
        ({"validation": (FRESH[:, :3], FRESH_Y)}, "3"),
        ({"validation": (FRESH, FRESH_Y[:5])}, r"y has the shape \(5,\), expected \(150,\)"),
        ({"validation": (FRESH, ["a"] * 150)}, "y contains the unknown class 'a'"),
        ({"adaptive": "yes"}, "adaptive='yes'; choose True, False or 'settled'"),
        ({"adaptive": 1}, "adaptive=1"),
    ],
)
def test_wrong_parameters_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        make(**parameters).fit(X, Y)


def test_wrong_columns_are_refused():
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(
        ValueError, match="X of validation has the columns a, b, c, z, but the learner was fitted with a, b, c, d"
    ):
        ww.BudgetForestClassifier(validation=(frame.rename(columns={"d": "z"}), Y)).fit(frame, Y)
    clf = make().fit(X, Y)
    with pytest.raises(ValueError, match="X of the curve has the columns"):
        clf.budget_curve(frame, Y)


def test_a_failed_fit_leaves_no_old_trees():
    clf = make().fit(X, Y)
    with pytest.raises(ValueError, match="needs power"):
        clf.set_params(impurity="powers", power=1).fit(X, Y)
    assert not hasattr(clf, "trees_")


def test_parameters_that_are_set_later_count_in_the_next_fit():
    clf, other = make(adaptive="settled").fit(X, Y), make(adaptive="settled").fit(X, Y)
    same(clf, other.set_params(adaptive=False, max_trees=1))


def test_there_is_no_single_tree():
    clf = make().fit(X, Y)
    assert not hasattr(clf, "tree_")
    assert ww.metrics.tree_size(clf) == sum(tree.n_nodes for tree in clf.trees_)
    assert ww.metrics.n_errors(clf, FRESH, FRESH_Y) == (clf.predict(FRESH) != FRESH_Y).sum()
    assert ww.metrics.cost_report(clf, FRESH, FRESH_Y).test_cost == clf.test_costs(FRESH).mean()


# -- files ------------------------------------------------------------------------------------------------------------


@modes
@pytest.mark.parametrize("budget", [None, 8])
def test_files_and_pickles_keep_all_forests(adaptive, budget, tmp_path):
    clf = make(adaptive=adaptive, budget=budget).fit(X, Y)
    clf.save(tmp_path / "forest.json")
    for back in (ww.load(tmp_path / "forest.json"), pickle.loads(pickle.dumps(clf))):
        same(clf, back)
        assert back.record_ == clf.record_
        assert back.budget_curve(FRESH, FRESH_Y) == clf.budget_curve(FRESH, FRESH_Y)
        same(clf.with_budget(5), back.with_budget(5))
        with pytest.raises(ValueError, match="invalid"):
            back.with_budget("5")
    small = clf.with_budget(4)
    small.save(tmp_path / "small.json")
    same(small, ww.load(tmp_path / "small.json"))


def test_validation_cases_are_not_kept(tmp_path):
    clf = make(validation=(FRESH, FRESH_Y)).fit(X, Y)
    clf.save(tmp_path / "forest.json")
    back = ww.load(tmp_path / "forest.json")
    assert back.validation is None
    same(clf, back)


STUMP = [{"test": "x0", "threshold": 0, "children": [1, 2]}, {"answer": 0}, {"answer": 1}]


def broken(content, path, value):
    """A copy of a JSON object with another value somewhere."""
    content = json.loads(json.dumps(content))
    at = content
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["forest"], [], "'forest' of the model must be an object"),
        (["forest", "forests"], [], "must not be empty"),
        (["forest", "root", "nodes"], STUMP, "'root' of the forest must be a single leaf, got 3 nodes"),
        (["forest", "forests", 0, "alpha"], "x", "'alpha' of forest 0 must be a number"),
        (["forest", "forests", 0, "trees", 1], {}, "tree 1 of forest 0 must be a list of nodes"),
        (["forest", "forests", 0, "trees", 1], [{"answer": 9}], "tree 1 of forest 0: node 0 answers 9"),
        (["forest", "forests", 0, "curve"], [], "'curve' of forest 0"),
        (["forest", "forests", 0, "curve", 1], [1, 2], "a row of 'curve' of forest 0 must be"),
        (["forest", "forests", 0, "extra"], 1, "forest 0 has the unknown field 'extra'"),
        (["chosen", "forest"], 9, "'chosen' of the model names record .* of forest 9"),
        (["chosen"], None, "'chosen' of the model must be an object"),
        (["limit"], "x", "'limit' of the model must be"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_by_name(path, value, words, tmp_path):
    make(alpha=[0], max_trees=2).fit(X, Y).save(tmp_path / "f.json")
    content = json.loads((tmp_path / "f.json").read_text())
    (tmp_path / "b.json").write_text(json.dumps(broken(content, path, value)))
    with pytest.raises(ValueError, match=words):
        ww.load(tmp_path / "b.json")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["states", "price"], [[1]], "'price' of the states of a forest must be numbers of shape"),
        (["states", "cost", 0, 0], None, "cost"),
        (["curve", 0, 4], None, "must name a rate"),
        (["curve", -1, 1], 3.0, "must end with 0 trees"),
    ],
)
def test_broken_rules_of_stopping_are_refused_by_name(path, value, words, tmp_path):
    make(alpha=[0], max_trees=2, adaptive=True).fit(X, Y).save(tmp_path / "f.json")
    content = json.loads((tmp_path / "f.json").read_text())
    (tmp_path / "b.json").write_text(json.dumps(broken(content, ["forest", "forests", 0, *path], value)))
    with pytest.raises(ValueError, match=words):
        ww.load(tmp_path / "b.json")


# -- ranking ----------------------------------------------------------------------------------------------------------


def test_average_precision_as_the_paper_defines_it():
    at5 = ww.metrics.average_precision_at
    falling = np.arange(10)[::-1]
    for j in range(1, 6):  # the first irrelevant one on rank j
        y = np.ones(10)
        y[j - 1] = 0
        assert at5(y, falling, np.zeros(10)) == (j - 1) / 5
    y = np.ones(10)
    y[5] = 0  # beyond the first five
    assert at5(y, falling, np.zeros(10)) == 1
    assert at5([1, 1], [2, 1], ["q", "q"]) == 1  # fewer than five
    assert at5([1, 0, 0, 1], [2, 1, 2, 1], ["q", "q", "r", "r"]) == pytest.approx((1 / 5 + 0) / 2)
    assert at5([0, 1], [1, 1], [0, 0]) == 0  # of equals the one that stands first
    assert at5(["yes", "no"], [1, 0], [0, 0], k=2, relevant="yes") == 0.5


def test_a_forest_ranks():
    clf = make(alpha=0).fit(X, Y)
    queries = np.arange(150) // 10
    scores = clf.predict_proba(FRESH)[:, 1]
    by_forest = ww.metrics.average_precision_at(FRESH_Y, scores, queries)
    assert by_forest > ww.metrics.average_precision_at(FRESH_Y, -scores, queries)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1], [1, 2], [0, 0]), "one entry per case"),
        (([], [], []), "no case to rank"),
        (([1, 0], [1, np.nan], [0, 0]), "the score of row 1 is missing"),
        (([1, 0], [1, 2], [0, 0], 0), "k must be a whole number of at least 1"),
    ],
)
def test_wrong_rankings_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        ww.metrics.average_precision_at(*arguments)


def test_the_alphas_of_the_paper():
    clf = make(alpha=forest_classifier.ALPHAS, max_trees=3).fit(X, Y)
    assert [forest.alpha for forest in clf.forests_] == list(forest_classifier.ALPHAS)


# -- drawing cases, choosing tests, and ending early ------------------------------------------------------------------


def test_cases_are_drawn_as_the_validation_cases_like_it():
    rng = np.random.default_rng(0)
    clean = rng.uniform(size=(1200, 3))
    labels = (np.floor(clean[:, 0] * 8) + np.floor(clean[:, 1] * 8)) % 2
    noisy = np.where(rng.uniform(size=1200) < 0.25, rng.integers(0, 2, 1200), labels)
    for y in (labels, noisy):
        both = {s: make(alpha=0, costs=None, sampling=s, max_trees=10).fit(clean, y) for s in ("drawn", "weighted")}
        errors = {s: clf.record_.error for s, clf in both.items()}
        chosen = make(alpha=0, costs=None, max_trees=10).fit(clean, y)
        assert chosen.record_.error == min(errors.values())
        assert chosen.sampling_ == min(errors, key=errors.get)


def test_weighted_cases_are_all_seen():
    distinct = np.arange(60.0)[:, None]
    clf = make(alpha=0, costs=None, sampling="weighted", validation=None, max_trees=5).fit(distinct, np.arange(60))
    assert clf.score(distinct, np.arange(60)) == 1
    assert {tree.n_leaves for tree in clf.trees_} == {60}
    np.testing.assert_allclose([tree.nodes.weights[0].sum() for tree in clf.trees_], 60)
    drawn = make(alpha=0, costs=None, sampling="drawn", validation=None, max_trees=5).fit(distinct, np.arange(60))
    assert max(tree.n_leaves for tree in drawn.trees_) < 50


def many_columns():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(900, 12))
    return wide, (wide[:, 3] + wide[:, 7] > 0).astype(int), ww.Costs(tests={f"x{i}": 1.0 for i in range(12)})


def test_chosen_tests_get_more_out_of_a_small_budget():
    wide, y, costs = many_columns()
    known = {"costs": costs, "random_state": 0, "max_trees": 20, "budget": 2}
    every, few = (
        ww.BudgetForestClassifier(tests=tests, **known).fit(wide[:600], y[:600]) for tests in ("all", "chosen")
    )
    assert few.score(wide[600:], y[600:]) > every.score(wide[600:], y[600:]) + 0.02
    assert {"x3", "x7"} <= set(few.tests_)
    assert len(few.tests_) == 2
    assert len(every.tests_) == 12
    for tree in few.trees_:
        assert set(tree.tests_used()) <= set(few.tests_)


def test_chosen_tests_are_kept(tmp_path):
    wide, y, costs = many_columns()
    clf = ww.BudgetForestClassifier(tests="chosen", costs=costs, random_state=0, max_trees=6).fit(wide, y)
    small = clf.with_budget(2)
    small.save(tmp_path / "model.json")
    again = ww.load(tmp_path / "model.json")
    assert again.tests_ == small.tests_
    assert [forest.tests for forest in again.forests_] == [forest.tests for forest in clf.forests_]
    np.testing.assert_array_equal(again.predict(wide), small.predict(wide))
    text = (tmp_path / "model.json").read_text().replace('"tests": ["x', '"tests": ["y', 1)
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(ValueError, match=r"'tests' of forest \d+ names 'y\d+', which is no column"):
        ww.load(tmp_path / "model.json")


def test_sets_of_tests_mind_prices_groups_and_importance():
    prices = ww.Costs(
        tests={"x0": ww.Test(1.0, group="g"), "x1": ww.Test(1.0, group="g"), "x2": 3.0, "x3": 0.0}, groups={"g": 10.0}
    )
    tree = ww.C45Classifier(costs=prices).fit(np.eye(4), [0, 1, 0, 1]).tree_
    sets = ladder(np.array([9.0, 8.0, 3.0, 0.1]), tree._prices)
    # By importance for the price, 3 / 3 goes before 9 / 11; the second of the group costs 1. Free tests are in all.
    assert sets == [(0, 3), (0, 1, 2, 3), (2, 3), (0, 2, 3)]
    assert ladder(np.zeros(4), tree._prices) == []


def test_trees_are_told_and_time_ends_them():
    told = []
    clf = make(alpha=[0, 3], max_trees=5, callback=told.append).fit(X, Y)
    assert clf.stopped_ == "done"
    assert [now.trees for now in told] == list(range(1, 11))
    assert {now.due for now in told} == {10}
    best = min(r.price + r.error_cost for forest in clf.forests_ for r in forest.curve[1:])
    assert told[-1].cost == best
    for budget in (None, 0.1):  # the second: no tree is within it
        for tests in ("all", "chosen"):
            known = {"alpha": [0, 3], "max_trees": 5, "budget": budget, "tests": tests}
            short = make(**known, time_limit=1e-9, callback=(told := []).append).fit(X, Y)
            assert short.stopped_ == "time limit"
            assert [len(forest.trees) for forest in short.forests_] == [1 if budget is None else 0]
            assert len(told) == (budget is None)
            assert short.sampling_ == "drawn"


@pytest.mark.parametrize("adaptive", [False, True, "settled"])
def test_ctrl_c_keeps_what_has_grown(adaptive):
    def stop_after_three(now):
        if now.trees == 3:
            raise KeyboardInterrupt

    clf = make(alpha=[0, 3], adaptive=adaptive, callback=stop_after_three).fit(X, Y)
    assert clf.stopped_ == "interrupted"
    whole = make(alpha=0, adaptive=adaptive, max_trees=3, sampling=clf.sampling_).fit(X, Y)
    np.testing.assert_array_equal(clf.predict(FRESH), whole.predict(FRESH))
    np.testing.assert_array_equal(clf.test_costs(FRESH), whole.test_costs(FRESH))

    def stop_at_once(self, trees):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GrowthMonitor, "over", stop_at_once)
        with pytest.raises(KeyboardInterrupt):
            make(alpha=0, adaptive=adaptive).fit(X, Y)


def test_ctrl_c_while_the_drawing_of_cases_is_settled_is_passed_on():
    calls = []

    def interrupted(self, core_tree):
        calls.append(core_tree)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(voting.VoteRecorder, "consult", interrupted)
        with pytest.raises(KeyboardInterrupt):
            make(alpha=0).fit(X, Y)
    assert len(calls) == 1


def test_training_cases_do_not_settle_how_cases_are_drawn():
    noise = np.random.default_rng(0).integers(0, 2, len(X))
    assert make(alpha=0, validation=None).fit(X, noise).sampling_ == "drawn"
    assert make(alpha=0, validation=None, sampling="weighted").fit(X, noise).sampling_ == "weighted"


def test_what_a_model_says_of_its_growing_is_kept(tmp_path):
    clf = make(alpha=0, sampling="weighted", time_limit=1e-9).fit(X, Y)
    clf.save(tmp_path / "model.json")
    again = ww.load(tmp_path / "model.json")
    assert (again.sampling_, again.stopped_) == ("weighted", "time limit")


@pytest.mark.parametrize("splits", ["minimax", "expected"])
def test_broken_powers_of_fractional_weights(splits):
    """Differences of sums may fall a little below 0, and have no power then: a perfect cut must not be lost."""
    rng = np.random.default_rng(2)
    for seed in range(20):
        values = rng.normal(size=80)
        y, weights = (values > 0.1).astype(int), rng.uniform(0.1, 1, 80)
        known = {"impurity": "powers", "power": 2.5, "splits": splits, "cuts": "exact", "costs": None}
        clf = make(**known, sampling="drawn", validation=None, max_trees=3, random_state=seed)
        clf.fit(values[:, None], y, sample_weight=weights)
        assert {tree.n_leaves for tree in clf.trees_} == {2}


@pytest.mark.parametrize("adaptive", [False, True, "settled"])
def test_a_file_whose_trees_answer_with_a_rejection_is_refused(tmp_path, adaptive):
    """Votes are counted by class; such a file would count them elsewhere."""
    X = np.random.default_rng(0).normal(size=(120, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    rejections = {f"unknown {i}": 1.0 for i in range(60)}
    costs = ww.Costs(tests={"x0": 1.0}, errors={"yes": {"no": 5.0, **rejections}, "no": {"yes": 5.0, **rejections}})
    clf = ww.BudgetForestClassifier(costs=costs, max_trees=3, adaptive=adaptive, random_state=0).fit(X, y)
    clf.save(tmp_path / "f.json")
    content = json.loads((tmp_path / "f.json").read_text())
    content["forest"]["forests"][0]["trees"][1][0]["answer"] = "unknown 59"
    (tmp_path / "f.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="tree 1 of forest 0: node 0 answers 'unknown 59'; the answers are no, yes"):
        ww.load(tmp_path / "f.json")

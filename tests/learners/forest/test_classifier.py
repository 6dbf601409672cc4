"""BudgetForestClassifier: budgets, choices, stopping early, files."""

import copy
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worthwhile as ww
from all_learners import learned
from worthwhile.learners.forest import classifier as forest_classifier
from worthwhile.learners.forest.model_file import SLACK

# Budgets of all sizes are tried here.
pytestmark = pytest.mark.filterwarnings("ignore:BudgetForestClassifier. budget=:UserWarning")

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
    return ww.BudgetForestClassifier(variant="paper", **(known | parameters))


def same(one, other):
    """That two forests answer, and charge, alike."""
    np.testing.assert_array_equal(one.predict(FRESH), other.predict(FRESH))
    other = copy.copy(other)
    other._smoothing = one._smoothing  # fitted to the budget, unlike everything else
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


@modes
@pytest.mark.parametrize("n_trees", [1, 4, 5])
def test_the_largest_share_is_that_of_the_answer(adaptive, n_trees):
    """Also where votes are tied, which four trees often are, and where a case has heard no tree."""
    rng = np.random.default_rng(n_trees)
    y = rng.integers(0, 3, 400)  # mostly noise: trees disagree
    clf = make(alpha=0, max_trees=n_trees, adaptive=adaptive, max_depth=3).fit(X, y)
    shares = clf.predict_proba(FRESH)
    np.testing.assert_array_equal(clf.classes_[shares.argmax(axis=1)], clf.predict(FRESH))
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_answers_are_votes_and_shares_are_votes_and_half_a_vote_of_leaves_and_training_cases():
    clf = make(alpha=0, max_trees=5).fit(X, Y)
    votes = np.sum([tree.predict(FRESH) for tree in clf.trees_], axis=0)
    np.testing.assert_array_equal(clf.predict(FRESH), (votes > 2.5).astype(int))
    leaves = np.zeros((150, 2))
    for tree in clf.trees_:
        for row in range(150):
            node = 0
            while tree.nodes.test[node] >= 0:
                node = tree.nodes.first_child[node] + (FRESH[row, tree.nodes.test[node]] > tree.nodes.threshold[node])
            leaves[row] += tree.nodes.weights[node]
    grown = clf._class_weights / clf._class_weights.sum()
    pooled = (leaves / leaves.sum(axis=1, keepdims=True) + grown) / 2
    np.testing.assert_allclose(clf.predict_proba(FRESH), (np.column_stack([5 - votes, votes]) + pooled / 2) / 5.5)


def test_votes_that_say_little_give_way_to_the_class_shares():
    """All trees ask for the cheap test and vote alike: no temperature alone makes 90 % of one class of it."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.1, 1 - Y, 0)  # one of ten cases may be of class 1
    costs = ww.Costs(tests={**PRICES.tests, "x3": 0.01}, errors=50)
    clf = make(alpha=0, costs=costs).fit(X, y)
    assert clf._smoothing.prior > 0
    shares = clf.predict_proba(FRESH)
    np.testing.assert_array_equal(clf.classes_[shares.argmax(axis=1)], clf.predict(FRESH))
    truth = np.where(np.random.default_rng(1).random(150) < 0.1, 1 - FRESH_Y, 0)

    def loss(model):
        return -np.log(model.predict_proba(FRESH)[np.arange(150), truth]).mean()

    without = copy.copy(clf)
    without._smoothing = clf._smoothing._replace(prior=0.0)
    assert loss(clf) < loss(without)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(
    seed=st.integers(0, 2**32),
    adaptive=st.sampled_from(MODES),
    reject=st.sampled_from([None, 3.0, 20.0]),
    miss=st.sampled_from([5.0, 200.0]),
    budget=st.sampled_from([None, 0, 6]),
)
def test_answers_are_the_cheapest_by_the_probabilities(seed, adaptive, reject, miss, budget):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(80, 4))
    y = np.where(x[:, 0] + rng.normal(size=80) > 0.8, "ill", "well")
    errors = {"ill": {"well": miss, "later": reject}, "well": {"ill": 10.0, "later": reject}}
    if reject is None:
        errors = {truth: {a: c for a, c in row.items() if c is not None} for truth, row in errors.items()}
    costs = ww.Costs(tests=PRICES.tests, errors=errors)
    clf = make(costs=costs, alpha=2, max_trees=4, adaptive=adaptive, budget=budget).fit(x, y)
    shares, said = clf.predict_proba(FRESH), clf.predict(FRESH)
    matrix, answers = clf.problem_.error_costs, list(clf.problem_.answers)
    expected = shares @ matrix
    place = [answers.index(answer) for answer in said]
    assert (expected[np.arange(len(said)), place] <= expected.min(axis=1) + 1e-6).all()
    case = {f"x{j}": FRESH[0, j] for j in range(4)}
    outcome = clf.run({}, {test: lambda value=value: value for test, value in case.items()})
    assert (outcome.answer, outcome.spent) == (said[0], clf.test_costs(FRESH[:1])[0])


def test_unequal_errors_are_answered_at_least_cost_unless_votes_are_asked_for():
    costs = ww.Costs(tests=PRICES.tests, errors={0: {1: 1.0}, 1: {0: 100.0}})
    cheap, votes = (make(costs=costs, alpha=0, answer=answer).fit(X, Y) for answer in (None, "majority"))
    assert cheap.total_costs(FRESH, FRESH_Y).mean() < votes.total_costs(FRESH, FRESH_Y).mean()
    assert not np.array_equal(cheap.predict(FRESH), votes.predict(FRESH))
    np.testing.assert_array_equal(votes.predict(FRESH), make(alpha=0).fit(X, Y).predict(FRESH))
    # Cases that weigh what their errors cost change the votes already.
    weighted = make(costs=costs, alpha=0, weighting="instance")
    explicit = make(costs=costs, alpha=0, weighting="instance", answer="majority")
    np.testing.assert_array_equal(weighted.fit(X, Y).predict(FRESH), explicit.fit(X, Y).predict(FRESH))


def test_an_empty_forest_gives_the_cheapest_answer():
    rare = np.arange(400) % 10 == 0
    costs = ww.Costs(tests=PRICES.tests, errors={False: {True: 1.0}, True: {False: 100.0}})
    clf = make(costs=costs, budget=0).fit(X, rare)
    assert clf.empty_
    assert clf.predict(FRESH).all()
    np.testing.assert_allclose(clf.predict_proba(FRESH)[0], [0.9, 0.1])
    assert clf.record_.error_cost == pytest.approx(0.9, abs=0.02)
    assert not make(costs=costs, budget=0, answer="majority").fit(X, rare).predict(FRESH).any()


@pytest.mark.filterwarnings("default")
def test_budgets_that_buy_nothing_or_are_not_spent_warn():
    with pytest.warns(
        UserWarning, match=r"budget=0 is too small for a single tree: .*every answer is 1; tests='chosen' looks"
    ):
        make(budget=0).fit(X, Y)
    with pytest.warns(
        UserWarning, match=r"budget=500 is mostly not spent: 12 trees cost 10.* per case; raise max_trees"
    ):
        forest = make(budget=500).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(budget=forest.record_.price).fit(X, Y)
        make().fit(X, Y)


def test_a_file_without_an_answer_rule_keeps_its_votes(tmp_path):
    costs = ww.Costs(tests=PRICES.tests, errors={0: {1: 1.0}, 1: {0: 100.0}})
    votes = make(costs=costs, alpha=0, max_trees=3, answer="majority").fit(X, Y)
    document = votes._document()
    del document["answer"], document["params"]["answer"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    same(ww.load(tmp_path / "old.json"), votes)


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


@modes
def test_the_curve_takes_costs_by_case(adaptive):
    clf = make(adaptive=adaptive).fit(X, Y)
    rng = np.random.default_rng(3)
    prices = rng.integers(1, 9, FRESH.shape).astype(float)
    errors = rng.integers(1, 90, (len(FRESH), len(clf.problem_.answers))).astype(float)
    curve = clf.budget_curve(FRESH, FRESH_Y, prices, errors)
    one = next(r for r in curve if r.alpha == clf.alpha_ and (r.trees, r.rate) == (len(clf.trees_), clf.rate_))
    assert one.price == pytest.approx(clf.test_costs(FRESH, prices).mean())
    total = clf.total_costs(FRESH, FRESH_Y, prices, errors)
    assert one.price + one.error_cost == pytest.approx(total.mean())
    with pytest.raises(ValueError, match="case_errors has the shape"):
        clf.budget_curve(FRESH, FRESH_Y, case_errors=errors[:3])


@pytest.mark.parametrize("name", ["case_prices", "case_errors"])
def test_costs_by_case_are_refused_for_files(name, tmp_path):
    with pytest.raises(ValueError, match=f"fit_parts does not support {name}: .*; use fit"):
        make().fit_parts(tmp_path, "y", **{name: np.ones(X.shape)})


def test_with_budget_refuses_what_was_not_grown():
    clf = make(budget=8).fit(X, Y)
    with pytest.raises(ValueError, match=r"budget=9 requires refitting: .* within a budget of 8.0"):
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
        short._smoothing = clf._smoothing
        assert clf.test_costs(case) == short.test_costs(case)
        np.testing.assert_array_equal(clf.predict_proba(case), short.predict_proba(case))


def test_expensive_tests_stop_early_and_cheap_ones_do_not():
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
    """It costs less on the cases that it was chosen by."""
    held, costs = (FRESH, FRESH_Y), ww.Costs(tests=PRICES.tests, errors=30)
    total = {}
    for adaptive in (False, True):
        known = {"costs": costs, "alpha": 0, "max_trees": 30, "adaptive": adaptive, "validation": held}
        total[adaptive] = [make(**known, random_state=s).fit(X, Y).total_costs(*held).mean() for s in range(4)]
    assert np.mean(total[True]) < np.mean(total[False])


# -- advice -----------------------------------------------------------------------------------------------------------


# -- input ------------------------------------------------------------------------------------------------------------


def test_frames_nominal_columns_and_missing_values():
    heart = ww.datasets.load("heart")
    holes = heart.X.mask(np.random.default_rng(0).random(heart.X.shape) < 0.2)
    for adaptive in MODES:
        clf = ww.BudgetForestClassifier(
            variant="paper", costs=heart.costs, budget=60, adaptive=adaptive, max_trees=15, random_state=0
        )
        clf.fit(holes, heart.y)
        assert clf.score(holes, heart.y) > 0.5
        assert (clf.test_costs(holes) <= heart.costs.total_price() + 1e-9).all()
        np.testing.assert_allclose(clf.predict_proba(holes).sum(axis=1), 1)


def test_weights_count():
    weights = np.where(Y, 1.0, 0.0)
    weights[:40] = 1
    clf = make(alpha=0).fit(X, Y, sample_weight=weights)
    assert (clf.predict(FRESH) == 1).mean() > 0.6
    heavy = make(alpha=0, max_trees=2).fit(X, Y, sample_weight=np.full(400, 1.5))
    light = make(alpha=0, max_trees=2).fit(X, Y)
    np.testing.assert_array_equal(heavy.predict(FRESH), light.predict(FRESH))
    np.testing.assert_allclose(heavy.trees_[0].nodes.weights, 1.5 * light.trees_[0].nodes.weights)


def test_validation_by_other_cases():
    frame = pd.DataFrame(X, columns=list("abcd"))
    costs = ww.Costs(tests={"a": 1.0})
    clf = make(costs=costs, validation=(pd.DataFrame(FRESH, columns=list("abcd")), FRESH_Y)).fit(frame, Y)
    plain = make(costs=costs, validation=(FRESH, FRESH_Y.tolist())).fit(frame, Y)
    assert clf.record_ == plain.record_
    assert clf.trees_[0].nodes.weights[0].sum() == 400  # all cases grow
    with pytest.warns(UserWarning, match="y contains the unknown class 7, which no training case has"):
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
        (
            {"impurity": "powers", "power": [2, 1.5]},
            r"impurity='powers' needs power of at least 2, got power=\[2, 1.5\]",
        ),
        ({"validation": (FRESH[:, :3], FRESH_Y)}, "3"),
        ({"validation": (FRESH, FRESH_Y[:5])}, r"y has the shape \(5,\), expected \(150,\)"),
        ({"validation": (FRESH, ["a"] * 150)}, "y contains the unknown class 'a'; the classes are 0, 1"),
    ],
)
def test_what_does_not_go_together_is_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        make(**parameters).fit(X, Y)


def test_wrong_columns_are_refused():
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(
        ValueError, match="X of validation has the columns a, b, c, z, but the learner was fitted with a, b, c, d"
    ):
        ww.BudgetForestClassifier(variant="paper", validation=(frame.rename(columns={"d": "z"}), Y)).fit(frame, Y)
    clf = make().fit(X, Y)
    with pytest.raises(ValueError, match="X of the curve has the columns"):
        clf.budget_curve(frame, Y)


def test_a_failed_fit_leaves_no_old_trees():
    clf = make().fit(X, Y)
    with pytest.raises(ValueError, match="needs power"):
        clf.set_params(impurity="powers", power=1).fit(X, Y)
    assert not hasattr(clf, "trees_")


def test_parameters_that_are_set_after_fit_count_in_the_next_one():
    clf, other = make(adaptive="settled").fit(X, Y), make(adaptive="settled").fit(X, Y)
    same(clf, other.set_params(adaptive=False, max_trees=1))


def test_there_is_no_single_tree():
    clf = make().fit(X, Y)
    assert not hasattr(clf, "tree_")
    assert ww.metrics.tree_size(clf) == sum(tree.n_nodes for tree in clf.trees_)
    assert ww.metrics.n_errors(clf, FRESH, FRESH_Y) == (clf.predict(FRESH) != FRESH_Y).sum()
    assert ww.metrics.cost_report(clf, FRESH, FRESH_Y).test_cost == clf.test_costs(FRESH).mean()


# -- files ------------------------------------------------------------------------------------------------------------


# -- ranking ----------------------------------------------------------------------------------------------------------


def test_a_forest_ranks():
    clf = make(alpha=0).fit(X, Y)
    queries = np.arange(150) // 10
    scores = clf.predict_proba(FRESH)[:, 1]
    by_forest = ww.metrics.average_precision_at(FRESH_Y, scores, queries)
    assert by_forest > ww.metrics.average_precision_at(FRESH_Y, -scores, queries)


def test_the_alphas_of_the_paper():
    clf = make(alpha=forest_classifier.ALPHAS, max_trees=3).fit(X, Y)
    assert [forest.alpha for forest in clf.forests_] == list(forest_classifier.ALPHAS)


# -- drawing cases, choosing tests, and ending early ------------------------------------------------------------------


def test_the_sampling_with_fewer_validation_errors_is_chosen():
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


def test_chosen_tests_get_more_out_of_a_small_budget():
    wide, y, costs = many_columns()
    known = {"costs": costs, "random_state": 0, "max_trees": 20, "budget": 2}
    every, few = (
        ww.BudgetForestClassifier(variant="paper", tests=tests, **known).fit(wide[:600], y[:600])
        for tests in ("all", "chosen")
    )
    assert few.score(wide[600:], y[600:]) > every.score(wide[600:], y[600:]) + 0.02
    assert {"x3", "x7"} <= set(few.tests_)
    assert len(few.tests_) == 2
    assert len(every.tests_) == 12
    for tree in few.trees_:
        assert set(tree.tests_used()) <= set(few.tests_)


def test_training_cases_do_not_choose_the_sampling():
    noise = np.random.default_rng(0).integers(0, 2, len(X))
    assert make(alpha=0, validation=None).fit(X, noise).sampling_ == "drawn"
    assert make(alpha=0, validation=None, sampling="weighted").fit(X, noise).sampling_ == "weighted"


def many_columns():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(900, 12))
    return wide, (wide[:, 3] + wide[:, 7] > 0).astype(int), ww.Costs(tests={f"x{i}": 1.0 for i in range(12)})


@pytest.mark.parametrize("variant", ["paper", "refined"])
def test_forests_cut_ordered_categories_like_numbers(variant):
    names = list("dacbfe")
    codes = np.arange(240) % 6
    X = pd.DataFrame({"grade": pd.Categorical.from_codes(codes, names, ordered=True)})
    X["code"] = np.random.default_rng(0).integers(3, size=len(X))
    y = (codes >= 2) & (codes < 5)
    clf = ww.BudgetForestClassifier(variant=variant, max_trees=5, nominal_splits="multiway", random_state=0).fit(X, y)
    trees = clf.trees_
    asks = [(tree, node) for tree in trees for node in range(tree.n_nodes) if tree.nodes.test[node] == 0]
    assert asks
    for tree, node in asks:
        branches = [tree.nodes.branch_of(node)[at] for at in range(6)]
        assert tree.nodes.n_children[node] == 2
        assert branches == sorted(branches)
    np.testing.assert_array_equal(clf.predict(X), y)


@pytest.mark.parametrize("splits", ["subset", "both"])
def test_a_node_where_all_values_but_one_have_a_tiny_weight(splits):
    """Parts of cases whose values are missing may weigh next to nothing; the core read past the end of a list."""
    X = pd.DataFrame({"colour": ["a"] * 58 + ["b", "c"], "size": np.arange(60) % 7})
    y, weights = np.arange(60) % 2, np.where(np.arange(60) < 58, 1.0, 1e-13)
    clf = ww.BudgetForestClassifier(variant="paper", nominal_splits=splits, max_trees=2, random_state=0)
    assert len(clf.fit(X, y, sample_weight=weights).trees_) == 2

"""Learners with prices that depend on the case, on waiting, and on a cap."""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import cross_validate

import worthwhile as ww

SCREENED = {"columns": ["ask", "dye", "ecg"], "nominal": ["ask", "dye"]}
ERRORS = {"sick": {"well": 200.0}, "well": {"sick": 60.0}}


def dye_problem(n=600, seed=0):
    """A dye that shows the disease, to which some react; a question that tells who will, and nothing else."""
    rng = np.random.default_rng(seed)
    sick, reacts = rng.random(n) < 0.3, rng.random(n) < 0.25
    shown = np.where(sick ^ (rng.random(n) < 0.03), "bright", "dark")
    X = np.empty((n, 3), dtype=object)
    X[:, 0] = np.where(reacts, "yes", "no")
    X[:, 1] = np.where(reacts, "reaction", shown)
    X[:, 2] = (sick + rng.normal(0, 1.2, n)).round(2)
    dye = ww.Test(10.0, surcharges=[ww.Surcharge(300.0, result="reaction")])
    return X, np.where(sick, "sick", "well"), ww.Costs(tests={"ask": 1.0, "dye": dye, "ecg": 5.0}, errors=ERRORS)


def test_a_worthless_question_that_avoids_an_expensive_reaction_is_found():
    X, y, costs = dye_problem()
    X_new, y_new, _ = dye_problem(seed=1)
    clf = ww.ACTClassifier(costs=costs, random_state=0, **SCREENED).fit(X, y)
    blind = ww.ACTClassifier(costs=costs.without_surcharges(), random_state=0, **SCREENED).fit(X, y)
    never_ask = ww.ACTClassifier(costs=costs.with_prices({"ask": 1e6}), random_state=0, **SCREENED).fit(X, y)
    priced = ww.Tree(blind.tree_.nodes, clf.problem_, blind.tree_.answer)
    assert clf.tree_.columns[clf.tree_.nodes.test[0]] == "ask"
    assert clf.total_costs(X_new, y_new).mean() < 0.8 * never_ask.total_costs(X_new, y_new).mean()
    assert clf.total_costs(X_new, y_new).mean() < 0.5 * priced.total_costs(X_new, y_new).mean()
    # Nobody who said yes got the dye.
    assert clf.test_costs(X_new).max() < 300
    assert 0.8 < clf.expected_cost_ / clf.total_costs(X_new, y_new).mean() < 1.25


@pytest.mark.parametrize("kind", ["result", "where"])
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_a_question_pays_although_the_dye_would_answer_for_everyone(kind, share):
    """The dye is always right, so a sampled tree that is grown to the end gives it to the allergic, too."""
    rng = np.random.default_rng(0)
    sick, allergic = rng.random(600) < share, rng.random(600) < 0.3
    shown = np.where(sick, "bright", "dark")
    X = np.column_stack([np.where(allergic, "yes", "no"), shown]).astype(object)
    surcharge = ww.Surcharge(300.0, where={"allergy": "yes"})
    if kind == "result":
        X[allergic, 1] = "reaction"
        surcharge = ww.Surcharge(300.0, result="reaction")
    y = np.where(sick, "sick", "well")
    costs = ww.Costs(
        tests={"allergy": 1.0, "dye": ww.Test(30.0, surcharges=[surcharge])},
        errors={"sick": {"well": 400.0}, "well": {"sick": 200.0}},
    )
    clf = ww.ACTClassifier(costs=costs, random_state=0, columns=["allergy", "dye"], cross_fit=False).fit(X, y)
    leaf = min((y == "sick")[allergic].mean() * 400, (y == "well")[allergic].mean() * 200)
    best = 1 + 30 * (~allergic).mean() + leaf * allergic.mean()
    assert clf.total_costs(X, y).mean() == pytest.approx(best)
    assert clf.test_costs(X).max() == 31


def stress_problem(n=400, seed=0):
    rng = np.random.default_rng(seed)
    sick = rng.random(n) < 0.5
    X = np.column_stack([sick + rng.normal(0, 0.4, n), sick + rng.normal(0, 0.6, n)]).round(2)
    return X, np.where(sick, "sick", "well")


def eg2(**parameters):
    return ww.EG2Classifier(prune="cost", context=True, answer="least-cost", **parameters)


@pytest.mark.parametrize("learner", [ww.DTMCClassifier, eg2, ww.ACTClassifier, ww.ICETClassifier])
def test_a_risk_to_the_sick_is_charged_by_the_true_class_and_expected_by_probabilities(learner):
    X, y = stress_problem()
    surcharge = ww.Surcharge(50.0, truth="sick")
    costs = ww.Costs(tests={"x0": ww.Test(1.0, surcharges=[surcharge]), "x1": 1.0}, errors=40.0)
    clf = learner(costs=costs, random_state=0).fit(X, y)
    free = learner(costs=costs.without_surcharges(), random_state=0).fit(X, y)
    assert "x0" in free.tree_.tests_used()
    assert "x0" not in clf.tree_.tests_used()  # costs 26 on average, and saves less
    tree = ww.Tree(free.tree_.nodes, clf.problem_, free.tree_.answer)
    paid = tree.test_costs(X, y=y) - free.tree_.test_costs(X)
    done = free.tree_.apply(X) >= 0
    assert set(paid[y == "well"]) == {0.0}
    assert set(paid[(y == "sick") & done]) <= {0.0, 50.0}
    assert (paid == 50).any()
    expected = tree.test_costs(X) - free.tree_.test_costs(X)
    assert expected.mean() == pytest.approx(paid.mean(), rel=0.2)
    assert tree.total_costs(X, y) == pytest.approx(tree.test_costs(X, y=y) + 40 * (tree.predict(X) != y))


def test_a_discount_after_another_test_is_used():
    X, y = stress_problem()
    second = ww.Test(9.0, surcharges=[ww.Surcharge(-8.0, after=["x1"])])
    costs = ww.Costs(tests={"x0": second, "x1": 1.0}, errors=60.0)
    clf = ww.ACTClassifier(costs=costs, random_state=0).fit(X, y)
    assert clf.tree_.columns[clf.tree_.nodes.test[0]] == "x1"
    assert "x0" in clf.tree_.tests_used()
    assert set(clf.test_costs(X)) <= {1.0, 2.0}
    assert clf.next_test({"x1": 0.5}).price in (0.0, 1.0)


LEARNERS = [
    ww.C45Classifier, ww.C45CSClassifier, ww.EG2Classifier, ww.IDXClassifier, ww.CSID3Classifier, ww.DTMCClassifier,
    ww.LSID3Classifier, ww.ACTClassifier, ww.ICETClassifier, ww.BudgetForestClassifier,
]  # fmt: skip


def _crossed(learner, crossed):
    """Trees on folds, which take most of the time, only where they are asked for."""
    return {} if learner is ww.BudgetForestClassifier else {"cross_fit": crossed}


@pytest.mark.filterwarnings("ignore:BudgetForestClassifier")
@pytest.mark.parametrize("learner", LEARNERS)
def test_no_case_pays_more_than_the_cap(learner):
    heart = ww.datasets.load("heart", as_frame=False)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(heart.y))[:120]
    X, y = heart.X[rows], heart.y[rows]
    known = {"nominal": heart.nominal, "columns": heart.feature_names, "random_state": 0}
    known |= {"max_trees": 4} if learner is ww.BudgetForestClassifier else {}
    gaps = X.copy()
    gaps[rng.random(X.shape) < 0.3] = None
    for cap in (0.0, 2.0, 8.0, 110.0):
        clf = learner(costs=heart.costs, cap=cap, **known, **_crossed(learner, cap == 8.0)).fit(X, y)
        for cases in (X, gaps):
            assert clf.test_costs(cases).max() <= cap + 1e-9
        assert (clf.test_costs(X) == 0).all() or cap > 0


@pytest.mark.parametrize("learner", [ww.EG2Classifier, ww.DTMCClassifier, ww.ACTClassifier])
def test_a_cap_at_the_price_of_all_tests_changes_nothing(learner):
    heart = ww.datasets.load("heart", as_frame=False)
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names, "random_state": 0}
    clf = learner(**known).fit(heart.X, heart.y)
    capped = learner(cap=heart.costs.total_price(), **known).fit(heart.X, heart.y)
    assert capped.tree_.to_text() == clf.tree_.to_text()


def wait_costs(waiting, delayed=False):
    """Two laboratory results that take a day each; the second one is worth its price only after some first results."""
    tests = {name: ww.Test(0.5, wait=0.0 if delayed else 24.0, delayed=delayed) for name in ("x0", "x1")}
    return ww.Costs(tests=tests, errors=200.0, waiting=waiting)


def test_waiting_decides_whether_tests_are_ordered_together():
    X, y = stress_problem()
    trees = {rate: ww.ACTClassifier(costs=wait_costs(rate), random_state=0).fit(X, y).tree_ for rate in (0, 0.01, 0.5)}
    now = ww.ACTClassifier(costs=wait_costs(None).without_delays(), random_state=0).fit(X, y).tree_
    assert trees[0].to_text() == now.to_text()  # waiting that costs nothing
    for tree in trees.values():
        assert {"x0", "x1"} == set(tree.tests_used())
    assert trees[0.01].nodes.commits is None  # one after the other: a second day costs .24, the second test .5
    assert trees[0.5].nodes.commits[0] == 1  # together: a second day would cost 12
    assert trees[0.5].test_costs(X) == pytest.approx(0.5 + 0.5 + 0.5 * 24)
    advice = trees[0.5].next_test({})
    assert (advice.commits, advice.waits, advice.price) == (("x1",) if advice.test == "x0" else ("x0",), 24.0, 13.0)
    again = ww.Tree.from_json(trees[0.5].to_json())
    assert again.test_costs(X).tolist() == trees[0.5].test_costs(X).tolist()


def test_a_curve_of_waiting_goes_by_the_whole_time():
    costs = wait_costs([(0, 0), (24, 1), (48, 100)])
    tree = ww.Tree.from_json(
        """{"format": "worthwhile-tree", "version": 1, "classes": ["a", "b"],
        "columns": [{"name": "x0", "kind": "numeric"}, {"name": "x1", "kind": "numeric"}],
        "nodes": [{"test": "x0", "threshold": 0, "children": [1, 2]}, {"answer": "a"},
                  {"test": "x1", "threshold": 0, "children": [3, 4]}, {"answer": "a"}, {"answer": "b"}]}"""
    )
    context = type(tree.context).of(tree.schema, tree.classes, costs)
    assert ww.Tree(tree.nodes, context).test_costs([[-1, 1], [1, 1]]).tolist() == [1.5, 101.0]


def test_prices_by_case_are_learned_from():
    X, y = stress_problem()
    rich = np.arange(len(y)) % 2 == 0
    X = np.column_stack([X, rich])
    prices = np.column_stack([np.where(rich, 100.0, 1.0), np.full(len(y), 5.0), np.zeros(len(y))])
    costs = ww.Costs(tests={"x0": 10.0, "x1": 5.0}, errors=30.0)
    clf = ww.ACTClassifier(costs=costs, random_state=0).fit(X, y, case_prices=prices)
    plain = ww.ACTClassifier(costs=costs, random_state=0).fit(X, y)
    mine, its = (est.total_costs(X, y, case_prices=prices).mean() for est in (clf, plain))
    assert mine < 0.7 * its
    assert clf.test_costs(X[rich], case_prices=prices[rich]).max() <= 5
    listed = np.tile([10.0, 5.0, 0.0], (len(y), 1))
    same = ww.ACTClassifier(costs=costs, random_state=0).fit(X, y, case_prices=listed)
    assert same.tree_.to_text() == plain.tree_.to_text()


def test_prices_by_case_are_routed():
    X, y = stress_problem()
    prices = np.column_stack([np.where(np.arange(len(y)) % 2, 100.0, 1.0), np.full(len(y), 5.0)])
    with sklearn.config_context(enable_metadata_routing=True):
        clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 10.0, "x1": 5.0}, errors=30.0)).set_fit_request(
            case_prices=True
        )
        found = cross_validate(clf, X, y, params={"case_prices": prices}, return_estimator=True)
    assert all(est.tree_ is not None for est in found["estimator"])
    with pytest.raises(ValueError, match=r"case_prices has the shape \(3, 2\)"):
        ww.DTMCClassifier().fit(X, y, case_prices=prices[:3])


def test_currency_does_not_matter_to_surcharges_and_waiting():
    X, y = stress_problem()
    texts = set()
    for unit in (0.01, 1.0, 1000.0):
        surcharges = [ww.Surcharge(5.0 * unit, truth="sick"), ww.Surcharge(-0.5 * unit, after=["x1"])]
        tests = {"x0": ww.Test(1.0 * unit, wait=2.0, surcharges=surcharges), "x1": ww.Test(1.0 * unit, wait=1.0)}
        costs = ww.Costs(tests=tests, errors=60.0 * unit, waiting=0.3 * unit)
        clf = ww.ACTClassifier(costs=costs, random_state=0, cap=9.0 * unit).fit(X, y)
        texts.add(str([clf.tree_.nodes.test.tolist(), clf.tree_.nodes.threshold.tolist(), clf.tree_.nodes.commits]))
    assert len(texts) == 1


@pytest.mark.filterwarnings("ignore:BudgetForestClassifier")
@pytest.mark.parametrize("learner", LEARNERS)
def test_no_case_pays_more_than_the_cap_at_its_own_prices(learner):
    heart = ww.datasets.load("heart", as_frame=False)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(heart.y))[:150]
    X, y = heart.X[rows], heart.y[rows]
    known = {"nominal": heart.nominal, "columns": heart.feature_names, "random_state": 0}
    known |= {"max_trees": 4} if learner is ww.BudgetForestClassifier else {}
    known |= {"trials": 40} if learner is ww.ICETClassifier else {}
    listed = np.array([heart.costs.tests[name].price for name in heart.feature_names])
    prices = listed * rng.choice([0.5, 1.0, 2.0, 30.0], (150, 1), p=[0.4, 0.3, 0.25, 0.05])
    gaps = X.copy()
    gaps[rng.random(X.shape) < 0.3] = None
    for cap in (0.0, 2.0, 12.0):
        # Learned at list prices, or at those of the cases: nobody pays more, at either.
        for given in ({}, {"case_prices": prices[:120]}):
            crossed = _crossed(learner, cap == 12.0)
            clf = learner(costs=heart.costs, cap=cap, **known, **crossed).fit(X[:120], y[:120], **given)
            for cases in (X, gaps):
                assert clf.test_costs(cases, prices).max() <= cap + 1e-9
                assert clf.test_costs(cases).max() <= cap + 1e-9
        if learner is not ww.BudgetForestClassifier:
            # What no training case may pay for is not in the tree: all of them end in a leaf.
            assert (
                clf.test_costs(X[:120], prices[:120]).tolist()
                == _uncapped(clf).test_costs(X[:120], prices[:120]).tolist()
            )


def _uncapped(clf):
    """The same tree without its cap."""
    context = clf.problem_
    return ww.Tree(clf.tree_.nodes, type(context).of(context.schema, context.classes, context.costs), clf.tree_.answer)


def test_a_case_that_a_cap_stops_is_answered_where_it_stands():
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [10, 6, 4, 8], axis=0)
    y = np.where(X.all(axis=1), "sick", "well")
    costs = ww.Costs(tests={"x0": 1.0, "x1": 1.0}, errors=60.0)
    clf = ww.DTMCClassifier(costs=costs, cap=2.0).fit(X, y)
    assert set(clf.tree_.tests_used()) == {"x0", "x1"}
    first = clf.tree_.nodes.test[0]
    prices = np.ones((len(y), 2))
    prices[:, 1 - first] = 5.0  # only the first test is within the cap
    root = clf.tree_.nodes.children(0)
    below = np.array(root)[(X[:, first] > clf.tree_.nodes.threshold[0]).astype(int)]
    answers = np.array(clf.tree_.answers, dtype=object)[clf.tree_.nodes.answer[below]]
    assert clf.test_costs(X, prices).tolist() == [1.0] * len(y)
    assert clf.total_costs(X, y, prices).tolist() == (1.0 + 60.0 * (answers != y)).tolist()


def test_the_message_about_discounts_names_the_test():
    X, y = stress_problem(20)
    costs = ww.Costs(tests={"x0": ww.Test(5.0, surcharges=[ww.Surcharge(-2.0, after=["x1"])]), "x1": 1.0})
    prices = np.ones((20, 2))
    with pytest.raises(ValueError, match="row 0 has the price 1 for test 'x0', but its discounts add up to 2"):
        ww.DTMCClassifier(costs=costs).fit(X, y, case_prices=prices)

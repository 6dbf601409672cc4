"""Break-even prices: what learning again at every price of the grid would say, found with a few trees."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from worthwhile.evaluation import sensitivity
from worthwhile.evaluation.sensitivity import STEP, BreakEven, break_even, faster, with_price
from worthwhile.learners import soft_labels

X = np.c_[np.arange(40), np.arange(40) % 7, np.zeros(40)]
y = np.where(np.arange(40) < 20, "no", "yes")


def learner(price=4.0, **options):
    costs = ww.Costs(tests={"x0": price, "x1": 1.0}, errors=10)
    return ww.DTMCClassifier(costs=costs, **options)


def test_a_test_that_saves_half_of_the_errors_is_worth_half_an_error():
    found = {one.test: one for one in break_even(learner(), X, y)}
    assert list(found) == ["x0", "x1", "x2"]
    useful = found["x0"]
    assert useful.used
    assert useful.finished
    assert useful.enters < 5 < useful.leaves  # without it every second answer is wrong, at 10 each
    assert useful.leaves / useful.enters == pytest.approx(STEP)
    assert found["x2"] == BreakEven("x2", 0.0, False, None, 0.0, 0)  # a constant: not even for free
    assert str(found["x1"]) == "x1 at 1.00: not used, not even when free"
    assert str(useful) == "x0 at 4.00: used; enters below 4.76, leaves above 5.66"


def test_a_test_that_is_too_expensive_now():
    [found] = break_even(learner(price=30.0), X, y, tests=["x0"])
    assert not found.used
    assert found.enters < 5 < found.leaves
    assert found.leaves / found.enters == pytest.approx(STEP)
    assert found.price == 30.0


def test_a_free_test_has_a_break_even_price_too():
    [found] = break_even(learner(price=0.0), X, y, tests=["x0"])
    assert found.used
    assert found.price == 0.0
    assert found.enters < 5 < found.leaves


def test_a_learner_that_does_not_look_at_prices_never_drops_a_test():
    [found] = break_even(ww.C45Classifier(costs=ww.Costs(tests={"x0": 4.0}, errors=10)), X, y, tests=["x0"])
    assert found.leaves is None
    assert found.enters >= 10
    assert str(found).endswith("used, also at every price tried, up to 11.31")


def test_bisection_finds_what_all_prices_would():
    heart = ww.datasets.load("heart")
    clf = ww.EG2Classifier(costs=heart.costs, nominal=heart.nominal, columns=heart.feature_names, prune="cost")
    for found in break_even(clf, heart.X, heart.y, tests=["cp", "chol", "ca"]):
        assert None not in (found.enters, found.leaves)
        for price, used in ((found.price, found.used), (found.enters, True), (found.leaves, False)):
            other = ww.EG2Classifier(**clf.get_params() | {"costs": with_price(heart.costs, found.test, price)})
            assert (found.test in other.fit(heart.X, heart.y).tree_.tests_used()) == used
    assert clf.costs == heart.costs


def test_groups_stay_and_only_the_own_price_changes():
    blood = {"x0": ww.Test(4.0, group="g", delayed=True), "x1": ww.Test(1.0, group="g")}
    costs = ww.Costs(tests=blood, groups={"g": 3.0}, errors=10)
    changed = with_price(costs, "x0", 1.5)
    assert changed.price("x0") == 4.5
    assert changed.tests["x0"].delayed
    assert with_price(costs, "x2", 2.0).price("x2") == 2.0
    assert costs.price("x0") == 7.0
    [found] = break_even(ww.DTMCClassifier(costs=costs), X, y, tests=["x0"])
    assert not found.used
    assert found.enters < 2 < found.leaves  # with the group it is worth 5


def test_one_test_is_finished_before_the_next_and_those_not_reached_are_left_out(monkeypatch):
    seen = []
    found = break_even(learner(), X, y, seconds=1e-9, tell=seen.append)
    assert [one.test for one in found] == ["x2"]  # nothing is to be tried for it
    assert seen == []
    whole = break_even(learner(), X, y)
    for n, first in enumerate(np.cumsum([whole[0].trials, whole[1].trials])):
        ticks = iter([0.0] * (int(first) + 1))  # one at the start, one before each tree
        clock = SimpleNamespace(monotonic=lambda ticks=ticks: next(ticks, 99.0))
        monkeypatch.setattr(sensitivity, "time", clock)
        assert [one for one in break_even(learner(), X, y, seconds=9) if one.trials] == whole[: n + 1]
    monkeypatch.undo()


def test_tests_with_a_price_come_first():
    priced = ww.Costs(tests={"x2": 3.0}, errors=10)
    seen, real = [], sensitivity.with_price
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sensitivity, "with_price", lambda costs, test, price: seen.append(test) or real(costs, test, price)
        )
        break_even(ww.DTMCClassifier(costs=priced), X, y)
    assert [test for i, test in enumerate(seen) if i == 0 or seen[i - 1] != test] == ["x2", "x0"]


def test_with_many_cases_a_search_gives_way_to_a_greedy_learner(monkeypatch):
    monkeypatch.setattr(sensitivity, "MAX_SEARCHED", 10)
    costs = learner().costs
    clf = ww.ICETClassifier(costs=costs, trials=10, population=5).fit(X, y)
    quick, changed = faster(clf, X, y)
    assert (type(quick), changed) == (ww.ACTClassifier, {"learner": "ACT", "variant": "paper", "r": 0})
    assert (quick.r, quick.costs) == (0, costs)
    assert faster(learner().fit(X, y), X, y)[1] == {}  # fast already


def test_progress_counts_trees():
    seen = []
    break_even(learner(), X, y, tell=seen.append)
    assert [now.done for now in seen] == list(range(1, len(seen) + 1))
    assert all(now.done < now.total for now in seen)


def test_learners_inside_pipelines_and_searches():
    plain = break_even(learner(), X, y)
    pipe = make_pipeline(FunctionTransformer(lambda X: X + 1), learner()).fit(X, y)
    assert [one.used for one in break_even(pipe, X, y)] == [one.used for one in plain]
    search = GridSearchCV(learner(), {"min_cases": [2]}, cv=2).fit(X, y)
    assert break_even(search, X, y) == plain


def test_chance_is_the_same_at_every_price():
    clf = ww.ICETClassifier(costs=ww.Costs(tests={"x0": 4.0, "x1": 1.0}, errors=10), trials=20, population=5)
    told = []
    clf.callback = told.append
    assert break_even(clf, X, y) == break_even(clf, X, y)
    clf.random_state = np.random.default_rng(0)
    assert break_even(clf, X, y) == break_even(clf, X, y)
    assert told == []


def test_ctrl_c_ends_all_of_it(monkeypatch):
    grown = []

    def stop_the_second(self, states, deadline):
        reached = list(states)[-1]
        grown.append(self)
        self.stopped_ = "interrupted" if len(grown) == 2 else "trials"  # as after Ctrl-C
        return reached

    monkeypatch.setattr(ww.ICETClassifier, "_follow", stop_the_second)
    clf = ww.ICETClassifier(costs=ww.Costs(tests={"x0": 4.0}, errors=10), trials=10, population=5, variant="paper")
    with pytest.raises(KeyboardInterrupt):
        break_even(clf, X, y)
    assert len(grown) == 2


def test_faster_learners_differ_in_their_patience_only():
    icet = ww.ICETClassifier(trials=1000, time_limit=30.0, crossover=0.5, random_state=3)
    quick, changed = faster(icet)
    assert changed == {"trials": 30, "population": 10, "time_limit": None}
    assert icet.get_params() | changed == quick.get_params()
    assert faster(ww.ICETClassifier(trials=30, population=10))[1] == {}
    assert faster(ww.LSID3Classifier(r=0))[1] == {}


def test_the_ensemble_is_fitted_once(monkeypatch):
    fitted = []
    fit = soft_labels._fit_ensemble
    monkeypatch.setattr(soft_labels, "_fit_ensemble", lambda *args: fitted.append(1) or fit(*args))
    noisy = np.where(np.random.default_rng(0).random(40) < 0.2, "yes", y)
    clf = ww.ACTClassifier(costs=ww.Costs(tests={"x0": 4.0}, errors=10), r=1, random_state=0)
    found = break_even(clf, X, noisy, tests=["x0"])
    assert found[0].trials > 2
    once = len(fitted)  # all cases, and those that each fold keeps
    assert once <= 6
    alone = clf.fit(X, noisy).tree_.to_json()
    with soft_labels.remember_ensembles(), soft_labels.remember_ensembles():
        assert clf.fit(X, noisy).tree_.to_json() == clf.fit(X, noisy).tree_.to_json() == alone
    assert len(fitted) == 3 * once  # outside it, nothing is kept


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tests": ["x7"]}, "there is no test 'x7'; the tests are x0, x1, x2"),
        ({"tests": "x0"}, "tests must be a list of names, got the string 'x0'"),
        ({"tests": ["x0", "x0"]}, "tests contains a test twice"),
        ({"seconds": 0}, "seconds must be above 0, got 0"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ValueError, match=message):
        break_even(learner(), X, y, **options)


def test_what_cannot_learn_again_is_refused():
    with pytest.raises(ValueError, match="break-even prices need a learner that can be refitted, got Tree"):
        break_even(learner().fit(X, y).tree_, X, y)
    with pytest.raises(ValueError, match="the learner that AutoClassifier chooses: fit it first"):
        break_even(ww.AutoClassifier(), [[1], [2]], [0, 1])
    with pytest.raises(ValueError, match="need a learner of a single tree; BudgetForestClassifier learns several"):
        break_even(ww.BudgetForestClassifier(), X, y)


def test_a_quick_learner_serves_where_it_asks_the_same():
    heart = ww.datasets.load("heart", as_frame=False)
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names, "random_state": 0}
    clf, quick = (ww.ACTClassifier(variant="paper", r=r, **known).fit(heart.X, heart.y) for r in (3, 1))
    assert faster(clf)[1] == {"r": 1}
    clf.tree_ = quick.tree_
    assert faster(clf, heart.X, heart.y)[1] == {"r": 1}
    free = {**known, "costs": heart.costs.with_errors(0.01)}
    clf.tree_ = ww.DTMCClassifier(**free).fit(heart.X, heart.y).tree_  # errors are too cheap to ask for anything
    assert clf.tree_.tests_used() == []
    assert faster(clf, heart.X, heart.y)[1] == {}

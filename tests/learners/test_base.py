"""The base of all learners: fitting, predicting, pricing, copies."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import worthwhile as ww
from all_learners import LEARNERS, make
from worthwhile.learners.base import CostSensitiveClassifier
from worthwhile.learners.tree_classifier import TreeClassifier

BUPA = ww.datasets.load("bupa", as_frame=False)


def learn(learner, **parameters):
    costs = BUPA.costs.with_errors(500)
    return make(learner, costs=costs, columns=BUPA.feature_names, prune="cost", **parameters).fit(BUPA.X, BUPA.y)


@pytest.mark.parametrize("learner", LEARNERS)
def test_answers_prices_and_costs_agree(learner):
    clf = learn(learner)
    X, y = BUPA.X, BUPA.y
    answers, spent = clf.predict_with_prices(X)
    np.testing.assert_array_equal(answers, clf.predict(X))
    np.testing.assert_array_equal(spent, clf.test_costs(X))
    assert (clf.total_costs(X, y) == spent + 500 * (answers != y)).all()
    assert clf.test_costs(X).dtype == clf.total_costs(X, y).dtype == np.float64
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("learner", LEARNERS)
def test_advice_of_a_learner_leads_to_its_answer(learner):
    clf = learn(learner)
    for row in range(0, 345, 40):
        seen = {}
        while (advice := clf.next_test(seen)).test is not None:
            seen[advice.test] = BUPA.X[row, BUPA.feature_names.index(advice.test)]
        assert advice.answer == clf.predict(BUPA.X[[row]])[0]
        assert advice.spent == pytest.approx(clf.test_costs(BUPA.X[[row]])[0])
        assert f"tests cost {advice.spent:.2f}" in str(clf.explain(seen)).splitlines()[-2:]


@pytest.mark.parametrize("learner", LEARNERS)
def test_copies_answer_alike_and_clones_are_unfitted(learner):
    clf = learn(learner)
    for again in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        np.testing.assert_array_equal(again.total_costs(BUPA.X, BUPA.y), clf.total_costs(BUPA.X, BUPA.y))
    with pytest.raises(NotFittedError):
        clone(clf).predict(BUPA.X)


@pytest.mark.parametrize("learner", LEARNERS)
def test_nothing_works_before_fit(learner, tmp_path):
    clf = learner()
    X = BUPA.X
    uses = (
        clf.predict,
        clf.predict_proba,
        clf.test_costs,
        clf.predict_with_prices,
        lambda X: clf.total_costs(X, BUPA.y),
    )
    for use in (*uses, lambda X: clf.next_test({}), lambda X: clf.explain({}), lambda X: clf.save(tmp_path / "m.json")):
        with pytest.raises(NotFittedError):
            use(X)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_fit_says_what_is_wrong():
    with pytest.raises(ValueError, match=r"tests that are not columns: 'z' .*; costs\.only\(columns\) leaves out"):
        ww.C45Classifier(costs=ww.Costs(tests={"z": 1.0})).fit(BUPA.X, BUPA.y)
    with pytest.raises(ValueError, match="errors has no row for class"):
        ww.C45Classifier(costs=ww.Costs(errors={"a": {"b": 1}, "b": {"a": 1}})).fit(BUPA.X, BUPA.y)


def test_x_is_not_changed_and_not_kept():
    X = BUPA.X.copy()
    clf = ww.C45Classifier().fit(X, BUPA.y)
    np.testing.assert_array_equal(X, BUPA.X)
    expected = clf.predict(BUPA.X)
    X[:] = 0
    np.testing.assert_array_equal(clf.predict(BUPA.X), expected)
    X.flags.writeable = False
    clf.fit(X, BUPA.y).predict(X)


def test_a_subclass_may_have_parameters_of_its_own():
    class Mine(ww.C45Classifier):
        def __init__(self, *, taste=1, max_depth=None):
            super().__init__(max_depth=max_depth)
            self.taste = taste

    clf = Mine(max_depth=2).fit(BUPA.X, BUPA.y)
    assert clf.tree_.depth == 2
    assert clone(clf).taste == 1


@pytest.mark.parametrize("base", [CostSensitiveClassifier, TreeClassifier])
def test_a_base_class_cannot_be_instantiated(base):
    with pytest.raises(TypeError, match=f"abstract class {base.__name__}"):
        base()


def test_accuracy_with_number_classes_and_a_reject_answer():
    costs = ww.Costs(errors={0: {1: 10, "unknown": 1}, 1: {0: 10, "unknown": 1}})
    X, y = [[0], [0], [1], [1], [2], [2]], [0, 0, 1, 1, 0, 1]
    clf = ww.DTMCClassifier(costs=costs).fit(X, y)
    assert clf.predict(X).tolist() == [0, 0, 1, 1, "unknown", "unknown"]
    assert clf.score(X, y) == pytest.approx(4 / 6)
    assert clf.score(X, y, sample_weight=[0, 0, 0, 1, 1, 2]) == 0.25
    assert clf.score(X, np.array(y)[:, None]) == pytest.approx(4 / 6)


def test_a_misspelt_class_is_named():
    clf = ww.DTMCClassifier(costs=ww.Costs(errors=500)).fit([[0], [1]] * 3, ["sick", "well"] * 3)
    with pytest.warns(UserWarning, match="y contains the unknown class 'sik', .* the classes are 'sick', 'well'"):
        clf.total_costs([[0], [1]], ["sik", "well"])
    with pytest.warns(UserWarning, match="'sik'"):
        ww.metrics.average_cost(clf, [[0], [1]], ["sik", "well"])
    with pytest.raises(ValueError, match=r"y contains the unknown class 'Sick'; .*: did you mean 'sick'\?"):
        clf.total_costs([[0], [1]], ["Sick", "well"])

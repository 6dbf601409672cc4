"""The learners work as scikit-learn expects."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import worthwhile as ww
from all_learners import FORESTS, GREEDY, LEARNERS, SEARCHES, make
from worthwhile.learners.soft_labels import remember_ensembles


# Searches are short; the default parameters of the others are checked.
@parametrize_with_checks([make(learner) for learner in LEARNERS])
def test_common_checks(estimator, check):
    check(estimator)


def test_the_list_of_learners_is_complete():
    public = {name for name in ww.__all__ if name.endswith("Classifier")}
    assert public == {learner.__name__ for learner in LEARNERS}


@pytest.mark.parametrize("learner", LEARNERS)
@remember_ensembles()  # all of it is about the same folds
def test_works_in_searches_and_pipelines(learner):
    bupa = ww.datasets.load("bupa", as_frame=False)
    names = bupa.feature_names
    clf = make(learner, costs=bupa.costs, columns=names)
    assert clone(clf).get_params()["costs"] == bupa.costs
    scores = cross_val_score(clf, bupa.X, bupa.y, scoring=ww.metrics.cost_scorer, cv=3)
    by_hand = [
        -clone(clf).fit(bupa.X[train], bupa.y[train]).total_costs(bupa.X[test], bupa.y[test]).mean()
        for train, test in StratifiedKFold(3).split(bupa.X, bupa.y)
    ]
    np.testing.assert_allclose(scores, by_hand)
    grid = {"min_cases": [2, 20]} if learner in GREEDY else {"r": [1, 2]}
    grid = {"search": ["real", "binary"]} if learner is ww.ICETClassifier else grid
    grid = {"max_trees": [2, 4]} if learner in FORESTS else grid
    grid = {"max_depth": [1, 4]} if learner is ww.OptimalClassifier else grid
    grid = {"n_trees": [5, 10]} if learner is ww.CascadeClassifier else grid
    grid = {"min_cases": [2, 20]} if learner is ww.AutoClassifier else grid
    search = GridSearchCV(clf, grid, scoring=ww.metrics.cost_scorer, cv=3).fit(bupa.X, bupa.y)
    assert search.best_score_ >= scores.mean() - 1e-9
    assert search.predict(bupa.X).shape == (345,)
    pipe = make_pipeline(FunctionTransformer(), clf).fit(bupa.X, bupa.y)
    np.testing.assert_array_equal(pipe.predict(bupa.X), clf.fit(bupa.X, bupa.y).predict(bupa.X))


def test_learners_have_only_parameters_that_do_something():
    names = {learner.__name__: set(learner().get_params()) for learner in LEARNERS}
    assert "context" not in names["C45Classifier"]  # it does not look at prices
    assert "mdl_correction" not in names["DTMCClassifier"]  # it does not look at the gain
    assert all({"costs", "weighting", "nominal", "columns", "random_state", "n_jobs"} <= own for own in names.values())
    choices = {"prune", "confidence", "min_cases", "answer"}
    assert all(choices <= names[learner.__name__] for learner in GREEDY)
    # It finds the confidence, and its variant says the rest.
    assert not {"prune", "confidence", "answer"} & names["ICETClassifier"]
    assert not {"prune", "answer"} & names["ACTClassifier"]  # its variant says them
    assert all("time_limit" in names[learner.__name__] for learner in SEARCHES)
    assert all("callback" in names[name] for name in ("ICETClassifier", "ACTClassifier"))

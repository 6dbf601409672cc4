"""The list of all public learners: every common check runs over it, and a test asserts that it is complete."""

import json

import pytest

import worthwhile as ww

GREEDY = [
    ww.C45Classifier,
    ww.C45CSClassifier,
    ww.EG2Classifier,
    ww.IDXClassifier,
    ww.CSID3Classifier,
    ww.DTMCClassifier,
]
SEARCHES = [ww.ICETClassifier, ww.LSID3Classifier, ww.ACTClassifier, ww.OptimalClassifier]
FORESTS = [ww.BudgetForestClassifier]
CASCADES = [ww.CascadeClassifier]
SINGLE = [*GREEDY, *SEARCHES]  # learners of one tree
CHOOSING = [ww.AutoClassifier]
LEARNERS = [*SINGLE, *FORESTS, *CASCADES, *CHOOSING]

SHORT = {
    "trials": 60,
    "population": 10,
    "r": 2,
    "max_trees": 5,
    "n_trees": 10,
    "thresholds": 3,
    "soft_labels": 0,
    "learners": ["dtmc", "eg2"],
    "random_state": 0,
}
# With the default depth of 4, a single fit on a few hundred cases takes more than a second.
SHALLOW = {ww.OptimalClassifier: {"max_depth": 2}}


# A group, a delay, a test that needs another one, and errors that differ, for four columns without names.
COSTS = ww.Costs(
    tests={
        "x0": ww.Test(4.0, group="g"),
        "x1": ww.Test(6.0, group="g", delayed=True),
        "x2": 1.0,
        "x3": ww.Test(2.0, requires=("x2",)),
    },
    groups={"g": 3.0},
    errors={0: {1: 60.0}, 1: {0: 90.0}},
)
VARIANTS = ("paper", "refined")
both = pytest.mark.parametrize("variant", VARIANTS)


def make(learner, **parameters):
    """A learner with those of some parameters that it has; a search, or a forest, is short and repeatable."""
    chosen = (SHORT if learner not in GREEDY else {}) | SHALLOW.get(learner, {}) | parameters
    return learner(**{name: value for name, value in chosen.items() if name in learner._parameter_names()})


def learned(clf):
    """All that was learned, as text."""
    clf = getattr(clf, "best_estimator_", clf)
    if not hasattr(clf, "trees_") and not hasattr(clf, "tree_"):
        return [json.dumps(clf._content()["cascade"])]
    return [tree.to_json() for tree in (clf.trees_ if hasattr(clf, "trees_") else [clf.tree_])]

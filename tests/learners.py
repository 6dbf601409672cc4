"""The list of all public learners: every common check runs over it, and a test asserts that it is complete."""

import worthwhile as ww

GREEDY = [ww.C45Classifier, ww.EG2Classifier, ww.IDXClassifier, ww.CSID3Classifier, ww.DTMCClassifier]
SEARCHES = [ww.ICETClassifier, ww.LSID3Classifier, ww.ACTClassifier]
LEARNERS = [*GREEDY, *SEARCHES]

SHORT = {"trials": 60, "population": 10, "r": 2, "random_state": 0}


def make(learner, **parameters):
    """A learner with those of some parameters that it has; a search is short and repeatable."""
    chosen = (SHORT if learner in SEARCHES else {}) | parameters
    return learner(**{name: value for name, value in chosen.items() if name in learner._parameter_names()})

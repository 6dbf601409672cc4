"""Learners by their names on the command line, and their settings."""

import pytest

import worthwhile as ww
from all_learners import LEARNERS
from worthwhile.cli import learners
from worthwhile.cli.learners import find_learner, make_learner, read_settings


def test_the_names_of_all_learners():
    assert sorted(learners.LEARNERS.values()) == sorted(learner.__name__ for learner in LEARNERS)


def test_settings_are_read_as_python_or_words():
    settings = read_settings(["r=10", "alpha=0,8", "adaptive=True", "time_limit=none", "variant=paper"])
    assert settings == {"r": 10, "alpha": [0, 8], "adaptive": True, "time_limit": None, "variant": "paper"}


def test_a_learner_gets_its_settings_and_limits():
    clf = make_learner("act", {"r": 2}, {"time_limit": 3.0, "budget": None}, random_state=1)
    assert type(clf) is find_learner("ACT") is ww.ACTClassifier
    assert (clf.r, clf.time_limit, clf.random_state) == (2, 3.0, 1)
    with pytest.raises(ValueError, match="--budget: not available for act, only for budget-forest"):
        make_learner("act", {}, {"budget": 3.0})

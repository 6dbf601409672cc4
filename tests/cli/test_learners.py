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
    with pytest.raises(ValueError, match="--budget: not available for act, only for cascade, budget-forest"):
        make_learner("act", {}, {"budget": 3.0})


def test_none_is_the_name_of_a_choice_where_there_is_one():
    clf = make_learner("c45", read_settings(["prune=none", "max_depth=none"]), {})
    assert (clf.prune, clf.max_depth) == ("none", None)


def test_with_a_price_list_greedy_learners_use_error_costs():
    for name, prune, answer in [
        ("eg2", "cost", "least-cost"),
        ("IDX", "cost", "least-cost"),
        ("csid3", "cost", "least-cost"),
        ("lsid3", "pessimistic", "least-cost"),
        ("c45", "pessimistic", "least-cost"),
        ("c45cs", "pessimistic", "majority"),  # its weights count error costs already
        ("dtmc", "none", "least-cost"),
    ]:
        clf = make_learner(name, {}, {}, with_costs=True)
        assert (clf.prune, clf.answer) == (prune, answer)
        assert make_learner(name, {"answer": "majority"}, {}, with_costs=True).answer == "majority"
        assert make_learner(name, {}, {}).get_params() == find_learner(name)().get_params()
    weighted = make_learner("eg2", {"weighting": "instance"}, {}, with_costs=True)
    assert (weighted.prune, weighted.answer) == ("pessimistic", "majority")


@pytest.mark.parametrize(
    "name", [name for name in learners.LEARNERS if "max_leaves" in find_learner(name)._parameter_names()]
)
def test_every_tree_learner_can_be_limited_to_large_branches(name):
    clf = make_learner(name, {}, {"min_cases": 20.0, "max_leaves": 16})
    assert (clf.min_cases, clf.max_leaves) == (20.0, 16)

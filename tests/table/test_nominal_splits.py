"""The ways to ask nominal tests."""

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from worthwhile.table.nominal_splits import ways_to_ask
from worthwhile.table.schema import Schema

VALUES = ("a", "b", "c", "d")
SCHEMA = Schema(
    ("number", "two", "four", "grade"),
    (None, ("no", "yes"), VALUES, ("low", "mid", "high")),
    ordered=frozenset({"grade"}),
)


def test_a_branch_for_every_value_needs_no_mention():
    assert ways_to_ask(SCHEMA) == {}


def test_all_ways_to_divide_few_values_each_once():
    ways = ways_to_ask(SCHEMA, nominal_splits="subset")
    assert list(ways) == ["four"]
    sides = {frozenset([tuple(way), tuple(1 - side for side in way)]) for way in ways["four"]}
    assert len(sides) == len(ways["four"]) == 7
    assert ways_to_ask(SCHEMA, nominal_splits="both")["four"] == [[0, 1, 2, 3], *ways["four"]]


def test_each_of_many_values_against_the_rest():
    schema = Schema(("letter",), (tuple("abcdefgh"),))
    ways = ways_to_ask(schema, nominal_splits="subset")["letter"]
    assert [sum(way) for way in ways] == [1] * 8


def test_too_many_values_are_asked_as_they_are():
    schema = Schema(("code",), (tuple(map(str, range(100))),))
    assert ways_to_ask(schema, nominal_splits="subset") == {}


def test_hierarchies_are_further_ways():
    isa = {"a": "vowel", "b": "other", "c": "other", "d": "other"}
    ways = ways_to_ask(SCHEMA, {"four": isa})
    assert ways == {"four": [[0, 1, 2, 3], [0, 1, 1, 1]]}


@pytest.mark.parametrize("splits", ["multiway", "both"])
def test_trees_on_folds_know_the_same_ways(splits):
    frame = pd.DataFrame({"letter": np.random.default_rng(0).choice(list("abcd"), 200)})
    y = frame["letter"].isin(["a", "c"]).to_numpy()
    clf = ww.OptimalClassifier(costs=ww.Costs(errors=10), nominal_splits=splits, soft_labels=0, random_state=0).fit(
        frame, y
    )
    assert clf.tree_.n_leaves == (2 if splits == "both" else 4)
    assert clf.expected_cost_ == 0

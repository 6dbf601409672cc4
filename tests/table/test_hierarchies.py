"""Hierarchies of nominal values become levels of generalisation."""

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from worthwhile.table.hierarchies import levels_for
from worthwhile.table.schema import Schema

PETS = Schema(("pet", "age"), (("beagle", "pug", "siamese", "goldfish"), None))
ISA = {"beagle": "dog", "pug": "dog", "siamese": "cat", "dog": "mammal", "cat": "mammal", "goldfish": "fish"}


def test_levels_from_the_bottom_up():
    assert levels_for(PETS, {"pet": ISA}) == {"pet": [[0, 0, 1, 2], [0, 0, 0, 1]]}
    assert levels_for(PETS, None) == levels_for(PETS, {}) == {}


def test_levels_that_group_nothing_or_everything_are_left_out():
    assert levels_for(PETS, {"pet": {}}) == {"pet": []}
    assert levels_for(PETS, {"pet": dict.fromkeys(PETS.values[0], "pet")}) == {"pet": []}
    assert levels_for(PETS, {"pet": ISA | {"mammal": "animal", "fish": "animal"}}) == levels_for(PETS, {"pet": ISA})
    assert levels_for(PETS, {"pet": {"beagle": "hound", "pug": "small"}}) == {"pet": []}  # other names, same groups


def test_values_at_different_depths():
    isa = {"beagle": "dog", "dog": "mammal", "siamese": "mammal"}
    assert levels_for(PETS, {"pet": isa}) == {"pet": [[0, 1, 0, 2]]}


def test_an_empty_column_has_no_levels():
    assert levels_for(Schema(("pet",), ((),)), {"pet": ISA}) == {"pet": []}


@pytest.mark.parametrize(
    ("hierarchies", "message"),
    [
        ({"age": {}}, "hierarchies contains 'age', which is not a nominal column; nominal: pet"),
        ({"dog": {}}, "hierarchies contains 'dog', which is not a nominal column"),
        ({"pet": ["dog"]}, r"the hierarchy of 'pet' must map values to more general values, got \['dog'\]"),
        ({"pet": {"pug": "dog", "dog": "pug"}}, "the hierarchy of 'pet' has a cycle: pug → dog → pug"),
        ({"pet": {"pug": "pug"}}, "has a cycle: pug → pug"),
    ],
)
def test_mistakes_are_reported_by_name(hierarchies, message):
    with pytest.raises(ValueError, match=message):
        levels_for(PETS, hierarchies)


def test_no_nominal_column_at_all():
    with pytest.raises(ValueError, match="nominal: none"):
        ww.EG2Classifier(hierarchies={"x0": {}}).fit([[1.0], [2.0]], [0, 1])


def test_values_of_any_type_and_unseen_values():
    data = pd.DataFrame({"code": [1, 2, 3, 4] * 10})
    y = np.array([0, 0, 1, 1] * 10)
    isa = {1: "low", 2.0: "low", "3": "high", np.int64(4): "high", 99: "high"}
    clf = ww.EG2Classifier(nominal=["code"], hierarchies={"code": isa}).fit(data, y)
    assert clf.score(data, y) == 1
    assert clf.tree_.test_costs(pd.DataFrame({"code": [99]})).tolist() == [0]


def test_a_hierarchy_of_other_values_is_refused():
    with pytest.raises(ValueError, match="hierarchy of 'pet' contains none of its values: dog, cat"):
        levels_for(Schema(("pet",), (("dog", "cat"),)), {"pet": {"zzz": "q"}})

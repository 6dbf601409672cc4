"""Every table names where the constants of our own learners were set."""

import pytest

import worthwhile
from worthwhile.experiments import esmeir, nan, streed, ting, turney
from worthwhile.experiments.tuning import SET_ON, named


@pytest.mark.parametrize("module", [esmeir, nan, streed, ting, turney])
def test_rows_of_our_own_are_known(module):
    assert set(module.OWN.values()) <= set(SET_ON)
    assert named(module.OWN, ["C4.5", *module.OWN]) == {label: SET_ON[name] for label, name in module.OWN.items()}


def test_learners_exist():
    for name in SET_ON:
        assert hasattr(worthwhile, name.split(",")[0])

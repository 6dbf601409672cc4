"""Synthetic problems follow their rules."""

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.datasets.concepts import multiplexer, parity
from worthwhile.datasets.loading import CONCEPTS, make, random_costs

# Instances, nominal and numeric columns: Esmeir & Markovitch (2008), Table 5.
SIZES = {
    "multiplexer-20": (615, 20, 0),
    "xor-5": (200, 10, 0),
    "xor-3d": (200, 0, 6),
    "multi-xor": (200, 11, 0),
    "multi-and-or": (200, 11, 0),
}


def rule(name, case):
    """Return the class of a case, computed in the simplest way."""
    if name == "xor-3d":
        return "1" if case[0] * case[1] * case[2] > 0 else "-1"
    b = [int(value) for value in case]
    if name == "multiplexer-20":
        return str(b[4 + 8 * b[0] + 4 * b[1] + 2 * b[2] + b[3]])
    if name == "xor-5":
        return str(sum(b[:5]) % 2)
    which = 2 * b[0] + b[1]
    if name == "multi-xor":
        return str([b[2] ^ b[3], b[4] ^ b[5], b[6] ^ b[7], b[8] ^ b[9] ^ b[10]][which])
    return str([b[2] & b[3], b[4] | b[5], b[6] & b[7], b[8] | b[9] | b[10]][which])


@pytest.mark.parametrize("name", SIZES)
def test_problems_follow_their_rules(name):
    data = make(name, random_state=3, as_frame=False)
    cases, nominal, numeric = SIZES[name]
    assert data.X.shape == (cases, nominal + numeric)
    assert (len(data.nominal), data.name) == (nominal, name)
    assert [rule(name, case) for case in data.X] == data.y.tolist()
    assert min(np.unique(data.y, return_counts=True)[1]) > 0.3 * cases
    if numeric:
        assert np.abs(data.X).max() <= 1
    else:
        assert set(data.X.ravel()) == {"0", "1"}
    assert data.costs.total_price() == 0
    assert str(cases) in data.description


def test_the_list_of_problems_is_complete():
    assert set(CONCEPTS) == set(SIZES)


def test_cases_depend_only_on_the_seed():
    one, same, other = (make("xor-3d", seed, as_frame=False) for seed in (1, 1, 2))
    assert (one.X == same.X).all()
    assert (one.X != other.X).any()
    legacy = [make("xor-5", np.random.RandomState(5), as_frame=False).X for _ in range(2)]
    assert (legacy[0] == legacy[1]).all()
    assert len(make("xor-5", 0, n_cases=17).y) == 17


def test_frames_can_be_learned_from():
    pandas = pytest.importorskip("pandas")
    data = make("multi-xor", 0, as_frame=True)
    assert isinstance(data.X, pandas.DataFrame)
    assert (data.X.to_numpy() == make("multi-xor", 0, as_frame=False).X).all()
    tree = ww.EG2Classifier(costs=random_costs(data.X, data.y, random_state=0)).fit(data.X, data.y).tree_
    assert tree.n_leaves > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "xor-6"}, "unknown problem 'xor-6'; valid: multiplexer-20, xor-5, "),
        ({"name": "xor-5", "n_cases": 0}, "n_cases must be an integer of at least 1, got 0"),
        ({"name": "xor-5", "n_cases": 2.5}, "n_cases must be an integer"),
        ({"name": "xor-5", "random_state": -1}, "random_state must be None, an integer of at least 0"),
        ({"name": "xor-5", "random_state": "now"}, "random_state must be None.*got 'now'"),
        ({"name": "xor-5", "as_frame": "yes"}, "as_frame must be True, False"),
    ],
)
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)


def test_rules_by_hand():
    bits = np.zeros((1, 20), dtype=bool)
    bits[0, [0, 3, 4 + 9]] = True  # address 1001, data bit 9
    assert multiplexer(bits).tolist() == [True]
    bits[0, 4 + 9] = False
    assert multiplexer(bits).tolist() == [False]
    assert parity(np.array([[1, 0, 1], [1, 1, 1], [0, 0, 0]], dtype=bool)).tolist() == [False, True, False]

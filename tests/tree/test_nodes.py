"""The node table."""

import copy
import pickle

import numpy as np
import pytest

from handmade import small, tree, turney
from worthwhile.tree.nodes import Nodes


def test_children_and_branches():
    nodes = tree(turney()).nodes
    assert [list(nodes.children(node)) for node in (0, 1, 2, 3)] == [[1, 2], [3, 4], [5, 6], []]
    assert nodes.branch_of(2) == [1, 1, 0, 1, 1, 1, 1, 1, 1, 1]


def test_a_missing_value_is_shared_by_weight_or_equally():
    assert tree(small()).nodes.shares(0) == [0.4, 0.6]
    assert tree(turney()).nodes.shares(0) == [0.5, 0.5]


@pytest.mark.parametrize("content", [turney(), small()])
def test_the_core_has_the_same_table(content):
    nodes = tree(content).nodes
    back = Nodes.from_core(nodes.to_core())
    for name, array in vars(nodes).items():
        np.testing.assert_array_equal(getattr(back, name), array)


def test_the_arrays_are_read_only_also_after_copying():
    known = tree(small())
    for there in (known, pickle.loads(pickle.dumps(known)), copy.deepcopy(known)):
        for array in vars(there.nodes).values():
            assert not isinstance(array, np.ndarray) or not array.flags.writeable

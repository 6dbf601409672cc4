"""The conditions of branches in words."""

import pytest

from handmade import small, tree, turney
from worthwhile.tree.branches import condition


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        (38, "38"),
        (1234567, "1234567"),
        (123456.75, "123456.75"),
        (0.1, "0.1"),
        (1 / 3, "0.33333333"),
        (-2.5e20, "-2.5e+20"),
        (1e-7, "1e-07"),
    ],
)
def test_thresholds_as_people_write_them(threshold, text):
    nodes = [{"test": "x", "threshold": threshold, "children": [1, 2]}, {"answer": "no"}, {"answer": "yes"}]
    known = tree(small(nodes=nodes))
    assert [condition(known, 0, b) for b in (0, 1)] == [f"≤ {text}", f"> {text}"]


def test_values_of_a_nominal_test():
    known = tree(turney())
    assert [condition(known, 2, b) for b in (0, 1)] == ["2", "0 or 1 or 3 or 4 or 5 or 6 or 7 or 8 or 9"]


def test_a_branch_without_values():
    columns = [{"name": "x", "kind": "nominal", "values": ["a", "b"]}]
    node = {"test": "x", "branches": [["a"], []], "children": [1, 2]}
    known = tree(small(columns=columns, costs={}, nodes=[node, {"answer": "no"}, {"answer": "yes"}]))
    assert [condition(known, 0, b) for b in (0, 1)] == ["a", "no known value"]


@pytest.mark.parametrize(("n_apart", "text"), [(1, "other than v0"), (2, "other than v0 or v1"), (12, None)])
def test_of_very_many_values_the_others_are_named(n_apart, text):
    values = [f"v{i}" for i in range(24)]
    columns = [{"name": "x", "kind": "nominal", "values": values}]
    node = {"test": "x", "branches": [values[:n_apart], values[n_apart:]], "children": [1, 2]}
    known = tree(small(columns=columns, costs={}, nodes=[node, {"answer": "no"}, {"answer": "yes"}]))
    assert condition(known, 0, 0) == " or ".join(values[:n_apart])
    assert condition(known, 0, 1) == (text or " or ".join(values[n_apart:]))


def test_values_that_no_branch_takes_are_not_among_the_others():
    values = [f"v{i}" for i in range(24)]
    columns = [{"name": "x", "kind": "nominal", "values": values}]
    node = {"test": "x", "branches": [values[:1], values[1:-1]], "children": [1, 2]}
    known = tree(small(columns=columns, costs={}, nodes=[node, {"answer": "no"}, {"answer": "yes"}]))
    assert condition(known, 0, 1) == " or ".join(values[1:-1])

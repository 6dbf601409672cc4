"""Mutations of JSON objects: fields are deleted, doubled or replaced by unexpected values."""

import copy

import numpy as np
from hypothesis import strategies as st

WEIRD = [None, True, False, 0, -1, 1, 2.5, 10**400, 1e308, float("nan"), float("inf"), "", "x", "no", "a", [], {}, [[]], [0, 1], {"x": 1}, [None], 2**40, "\ud800"]  # fmt: skip  # noqa: E501


def places(content, path=()):
    """Every place in a JSON object."""
    yield path
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def mutate(content, path, how, value):
    if not path:
        return copy.deepcopy(value)
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    if how == "delete":
        del inner[path[-1]]
    elif how == "double" and isinstance(inner, list):
        inner.append(copy.deepcopy(inner[path[-1]]))
    else:
        inner[path[-1]] = copy.deepcopy(value)
    return content


@st.composite
def mutated(draw, originals):
    """One of several JSON objects with one to three mutations."""
    content = copy.deepcopy(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(places(content))))
        content = mutate(
            content, path, draw(st.sampled_from(["delete", "replace", "double"])), draw(st.sampled_from(WEIRD))
        )
        if not isinstance(content, dict):
            break
    return content


def check_usable(known):
    """A tree that was read prices, answers and shows cases without numerical errors."""
    width = len(known.columns)
    with np.errstate(all="raise"):
        assert np.isfinite(known.test_costs(np.full((2, width), np.nan))).all()
        assert np.isfinite(known.predict_proba(np.zeros((2, width)))).all()
        known.to_text()
        known.next_test({})

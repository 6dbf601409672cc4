"""A small problem of two classes with grouped and required tests, for the tests of evaluation."""

import numpy as np

import worthwhile as ww

COSTS = ww.Costs(
    tests={"x0": ww.Test(4.0, group="g"), "x1": ww.Test(6.0, group="g"), "x2": ww.Test(1.0, requires=("x0",))},
    groups={"g": 3.0},
    errors={"a": {"b": 20.0}, "b": {"a": 30.0}},
)


def problem(n=200, seed=0):
    """Return cases and their classes, which depend on the first column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, "a", "b")
    return X, y

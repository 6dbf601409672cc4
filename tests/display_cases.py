"""Cases for the tests of the displays."""

import numpy as np


def problem(n=150, seed=0):
    """Cases with four tests that have the prices of `COSTS`."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 4)).astype(float)
    y = ((X[:, 0] + X[:, 1] > 5) ^ (rng.random(n) < 0.1)).astype(int)
    return X, y

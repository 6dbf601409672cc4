"""Made-up cases and cells for the tests of the experiments of Nan, Wang & Saligrama (2015)."""

import numpy as np

from worthwhile.experiments import Cell
from worthwhile.experiments.problems import CaseSet


def some_cases(n=900, seed=0, classes=3):
    """Cases of which two numbers and a nominal column say the class; the last number says nothing."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 4, n), rng.normal(size=n)])
    y = (X[:, 0] > 0).astype(int) + ((X[:, 1] > 0.3) & (X[:, 2] > 1)) * (classes - 2)
    return CaseSet(X, np.array(list("abcdef"))[y], ["c"], ["a", "b", "c", "d"])


PARAMETERS = {
    "budget-rf": "alpha=0",
    "budget-rf-chosen": 'alpha=0 sampling="chosen"',
    "adaptive": "alpha=2",
    "budget": "alpha=2",
    "lazy": "tradeoff=0.05",
    "coupled": "tradeoff=5",
    "selected-forest": "power=0.5",
    "selected-boosting": "power=0.5",
    "catboost": "coefficient=0",
    "rank-adaptive": "alpha=2",
    "rank-budget": "alpha=2",
    "rank-lazy": "tradeoff=0.05",
    "greedy-tree": 'impurity="powers" power=3',
}


def cell_of(learner, data="credit", prices="drawn", split=1):
    """The cell of a learner with parameters that suit it."""
    return Cell("pima" if learner == "greedy-tree" else data, prices, "1", learner, PARAMETERS.get(learner, ""), split)

"""Trials: halves and folds, and what individuals cost on them."""

import math

import numpy as np

import worthwhile as ww
from worthwhile.learners.icet.biases import RealSpace, RefinedSpace
from worthwhile.learners.icet.trials import Folds, Halves
from worthwhile.learners.soft_labels import SoftLabels
from worthwhile.table.columns import read_columns

RNG = np.random.default_rng(12)
X = RNG.normal(size=(150, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=150) > 0).astype(int)


def training_of(X, y, weights=None, costs=None):
    """What a learner gets."""
    return ww.ICETClassifier(costs=costs)._prepare(read_columns(X), y, weights)


def test_every_trial_has_a_half_of_its_own(monkeypatch):
    seen = []

    def noting(*_, grows, seed, split, biases, **__):
        assert grows is None
        assert split.tolist() == list(range(len(biases)))
        seen.append(seed)
        return np.zeros(len(biases))

    monkeypatch.setattr("worthwhile.learners.icet.trials._core.try_biases", noting)
    space = RealSpace(np.ones(4))
    population = space.decode(np.zeros((6, space.length), dtype=np.uint8))
    training = training_of(X[:75], Y[:75])
    policy = ww.ICETClassifier()._policy(SoftLabels.own(training))
    halves = Halves(training, policy, 1, np.random.default_rng(0))
    halves.costs(population, math.inf)
    halves.costs(population, math.inf)
    assert len(set(seen)) == 2


def test_no_test_costs_on_folds_what_it_must():
    y = np.repeat([0, 1], [30, 20])
    labels = SoftLabels.own(training_of(X[:50], y, costs=ww.Costs(errors=10)))
    [folds] = Folds.sets(1, labels, ww.ICETClassifier()._policy(labels), 2, 1, np.random.default_rng(0))
    space = RefinedSpace(np.zeros(4), True, labels.n_weights)
    no_test = space.decode(space.seeds()[0][None, :])
    np.testing.assert_allclose(folds.costs(no_test, math.inf), [0.4])  # a share of the most expensive error

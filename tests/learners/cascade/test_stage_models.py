"""The models of sets of tests."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import worthwhile as ww
from worthwhile.learners.cascade.stage_models import Cases, fit_model, importances

RNG = np.random.default_rng(1)


def cases(n=300, n_classes=2, weights=None):
    X = RNG.normal(size=(n, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=n), np.linspace(-0.5, 0.5, n_classes - 1)).astype(np.int32)
    return Cases(X, np.arange(3), y, n_classes, weights, 20, 0, 1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("base", ["forest", "boosting", LogisticRegression()], ids=["forest", "boosting", "other"])
def test_probabilities_are_out_of_fold_and_add_up(base, n_classes):
    known = cases(n_classes=n_classes)
    model, held_out = fit_model(known, frozenset({0, 2}), base)
    inside = model.probabilities(known.features)
    for shares in (held_out, inside):
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert (shares > 0).all()
    own = np.arange(300), known.classes
    assert np.log(held_out[own]).mean() > np.log(known.shares()[known.classes]).mean()
    if base == "forest":  # trained on the cases, it is surer of them
        assert np.log(inside[own]).mean() > np.log(held_out[own]).mean() + 0.1


def test_a_model_looks_only_at_its_tests():
    known = cases()
    model, _ = fit_model(known, frozenset({0}), "forest")
    changed = known.features.copy()
    changed[:, 1:] = 9
    assert model.probabilities(changed).tolist() == model.probabilities(known.features).tolist()


def test_without_tests_or_with_one_class_there_are_class_shares():
    known = cases(weights=np.linspace(1, 3, 300))
    model, held_out = fit_model(known, frozenset(), "forest")
    counts = np.bincount(known.classes, known.weights)
    np.testing.assert_allclose(model.probabilities(known.features), np.tile(counts / counts.sum(), (300, 1)))
    np.testing.assert_allclose(held_out, model.probabilities(known.features))
    same = Cases(known.features, known.owners, np.zeros(300, np.int32), 2, None, 5, 0, 1)
    assert fit_model(same, frozenset({0}), "boosting")[0].kind == "none"


def test_noise_makes_probabilities_less_sure():
    known = cases()
    noise = Cases(known.features, known.owners, RNG.integers(0, 2, 300).astype(np.int32), 2, None, 20, 0, 1)
    assert fit_model(noise, frozenset({0, 1, 2}), "forest")[0].temperature > 1


def test_importances_are_those_of_the_tests():
    found = importances(cases(), 4)
    assert found.argmax() == 0
    assert found.shape == (4,)
    assert found.sum() == pytest.approx(1)


def test_boosting_sees_amounts_that_are_mostly_zero():
    rng = np.random.default_rng(0)
    amount = np.where(rng.random(8000) < 0.92, 0.0, rng.random(8000))
    y = np.floor(20 * amount).astype(int) % 2
    costs = ww.Costs(tests={"amount": 0.0}, errors=1)
    clf = ww.CascadeClassifier(costs=costs, columns=["amount"], base="boosting", random_state=0)
    clf.fit(amount[:, None], y)
    spent = amount > 0
    assert (clf.predict(amount[spent, None]) != y[spent]).mean() < 0.1

"""Fingerprints of the training cases."""

import numpy as np
import pandas as pd

import worthwhile as ww

X = pd.DataFrame({"x": [1.0, -0.0, np.nan, 2.0] * 10, "colour": ["red", "blue", None, "red"] * 10})
Y = np.array(["a", "b", "a", "b"] * 10)


def fingerprint(X, y=Y, **options):
    return ww.C45Classifier(**options).fit(X, y)._fingerprint


def test_the_order_of_the_cases_and_how_values_are_written_do_not_matter():
    known = fingerprint(X)
    assert known.cases == 40
    rows = np.random.default_rng(0).permutation(40)
    assert fingerprint(X.iloc[rows], Y[rows]) == known
    assert fingerprint(X.assign(x=X["x"] + 0.0)) == known  # 0.0 and -0.0
    assert fingerprint(X.astype({"colour": "category"})) == known


def test_every_value_and_class_matters():
    known = fingerprint(X)
    other = X.copy()
    other.loc[3, "x"] = 2.5
    assert fingerprint(other) != known
    assert fingerprint(X.assign(colour=X["colour"].iloc[::-1].to_numpy())) != known  # the same values, in other cases
    assert fingerprint(X, np.where(np.arange(40) == 5, "a", Y)) != known
    assert fingerprint(X.iloc[:39], Y[:39]) != known


def test_a_quick_fit_has_none_and_a_new_fit_forgets_the_old_one():
    assert fingerprint(X, cross_fit=False) is None
    clf = ww.C45Classifier().fit(X, Y)
    clf.set_params(cross_fit=False).fit(X, Y)
    assert clf._fingerprint is None
    assert "training" not in clf._document()

"""Problems for cascades, with everything that prices can have; all fits are small."""

import numpy as np

import worthwhile as ww

NAMES = ["free", "cheap", "lab", "late", "dye", "sum"]
TESTS = {
    "cheap": ww.Test(1.0, wait=1.0),
    "lab": ww.Test(2.0, group="blood", wait=2.0),
    "late": ww.Test(1.5, group="blood", delayed=True),
    "dye": ww.Test(
        3.0,
        surcharges=[
            ww.Surcharge(4.0, truth="sick"),
            ww.Surcharge(6.0, result="> 1"),
            ww.Surcharge(2.0, where={"cheap": "> 0"}),
            ww.Surcharge(-1.0, after=["lab"]),
        ],
    ),
    "sum": ww.Test(0.5, requires=["cheap", "lab"]),
}
ERRORS = {"sick": {"well": 540.0, "refer": 90.0}, "well": {"sick": 300.0, "refer": 90.0}}
COSTS = ww.Costs(tests=TESTS, groups={"blood": 1.0}, errors=ERRORS, waiting=[(0, 0), (1, 0.5), (3, 4.0)])


def cases(n=260, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).round(2)
    X[:, 5] = X[:, 1] + X[:, 2]
    score = 0.4 * X[:, 0] + X[:, 1] + X[:, 2] + 0.7 * X[:, 3] + 0.8 * X[:, 4]
    y = np.where(score + 0.5 * rng.normal(size=n) > 0, "sick", "well")
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def fitted(missing=0.0, n=260, **parameters):
    known = {"costs": COSTS, "columns": NAMES, "n_trees": 12, "random_state": 0} | parameters
    return ww.CascadeClassifier(**known).fit(*cases(n, missing=missing))

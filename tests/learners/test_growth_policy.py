"""The growing policy: what the core is told."""

from dataclasses import fields, replace

import numpy as np
import pytest

import worthwhile as ww
from worthwhile import _core
from worthwhile.learners.growth_policy import NO_LIMIT, GrowthPolicy, SamplingPolicy
from worthwhile.table.columns import read_columns

RNG = np.random.default_rng(4)
X = RNG.normal(size=(200, 4)).round(1)
Y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=200) > 0).astype(int)
COSTS = ww.Costs(
    tests={"x0": ww.Test(4.0, group="g"), "x1": ww.Test(1.0, group="g"), "x2": 3.0, "x3": 1.0},
    groups={"g": 3.0},
    errors={0: {1: 20.0}, 1: {0: 90.0}},
)
TRAINING = ww.C45Classifier(costs=COSTS)._prepare(read_columns(X), Y, None)
SAMPLING = SamplingPolicy(r=2, greedy_first=True, by_size=False, samples="grown", confidence=0.25, margin=0.0, seed=0)


def grown(policy):
    """The tree of a policy."""
    costs = TRAINING.bound_costs
    data = TRAINING.table, TRAINING.classes, None, costs.core_pricing, costs.core_errors
    if policy.sampling is None:
        core = _core.grow(*data, policy.core())
    else:
        core = _core.grow_ahead(*data, policy.core(), seconds=np.inf, seconds_more=np.inf)
    return ww.Tree.from_core(core, TRAINING.context).to_json()


CHANGES = {
    "criterion": "gain",
    "omega": 0.0,
    "min_cases": 20.0,
    "min_share": 0.9,
    "max_depth": 1,
    "mdl_correction": True,
    "context": True,
    "idx_depth": 2,
    "least_cost": True,
    "prune": "none",
    "confidence": 0.9,
    "raise_subtrees": False,
    "max_leaves": 2,
    "may_stop": False,
    "biases": np.array([1.0, 50.0, 50.0, 50.0]),
    "sampling": SAMPLING,
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_setting_reaches_the_core(name):
    before = GrowthPolicy(criterion="gain-per-price" if name == "idx_depth" else "icf", min_share=0.0)
    assert grown(replace(before, **{name: CHANGES[name]})) != grown(before)


def test_every_setting_is_tried():
    elsewhere = {"reject_below", "nominal_splits"}  # tests/learners/icet and test_nominal_splits.py
    assert {field.name for field in fields(GrowthPolicy)} == {*CHANGES, "n_threads", *elsewhere}


@pytest.mark.parametrize(
    ("name", "value"),
    [("r", 9), ("greedy_first", False), ("by_size", True), ("samples", "pruned"), ("margin", 0.3), ("seed", 7)],
)
def test_every_setting_of_the_sampling_reaches_the_core(name, value):
    codes = np.random.default_rng(3).integers(0, 3, (200, 6))
    y = ((codes[:, 0] + codes[:, 1] * codes[:, 2]) % 3 == 1) ^ (np.random.default_rng(4).random(200) < 0.1)
    costs = ww.Costs(tests={f"x{i}": 1.0 for i in range(6)}, errors=30)
    training = ww.C45Classifier(costs=costs)._prepare(read_columns(codes.astype(str)), y, None)
    bound, trees = training.bound_costs, []
    before = replace(SAMPLING, r=1, greedy_first=False) if name == "seed" else SAMPLING
    for sampling in (before, replace(before, **{name: value})):
        policy = GrowthPolicy(criterion="icf", prune="none", sampling=sampling).core()
        data = training.table, training.classes, None, bound.core_pricing, bound.core_errors
        core = _core.grow_ahead(*data, policy, seconds=np.inf, seconds_more=np.inf)
        trees.append(ww.Tree.from_core(core, training.context).to_json())
    assert trees[0] != trees[1]


def test_no_limit_is_deeper_than_any_tree():
    assert grown(GrowthPolicy(criterion="icf", max_depth=NO_LIMIT)) == grown(GrowthPolicy(criterion="icf"))

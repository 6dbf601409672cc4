"""Growing the trees of a forest: which tree draws which cases, tests they keep to, and workers."""

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.learners.forest import growing
from worthwhile.learners.forest.growing import TreeBatch, build_task, grow_trees, shared_task, spread_trees
from worthwhile.table.columns import read_columns

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.3 * RNG.normal(size=150) > 0).astype(int)
COSTS = ww.Costs(tests={"x0": 2.0, "x1": 2.5, "x2": 1.0, "x3": 3.0})
OPTIONS = {"impurity": "pairs", "expected": False, "cuts": "random", "context": False, "max_depth": 10}


def training(weights=None):
    return ww.BudgetForestClassifier(variant="paper", costs=COSTS)._prepare(read_columns(X), Y, weights)


def trees(cores):
    return [ww.Tree.from_core(core, training().context) for core in cores]


def test_a_bootstrap_draws_as_many_cases_as_there_are():
    for number in range(5):
        counts, seed = growing._draw(7, number, 150, "drawn")
        assert counts.sum() == 150
        assert 0.5 < (counts > 0).mean() < 0.75  # a third is not seen
        weighted, same_seed = growing._draw(7, number, 150, "weighted")
        np.testing.assert_array_equal(weighted, (1 + counts) / 2)
        assert seed == same_seed
    assert len({growing._draw(7, number, 150, "drawn")[1] for number in range(5)}) == 5


def test_each_tree_depends_on_its_number_alone():
    task = shared_task(training(), OPTIONS, seed=3)
    every = [tree.to_json() for tree in trees(grow_trees(task.value, TreeBatch(0.0, range(9), "drawn"), 1))]
    assert len(set(every)) == 9
    for numbers, n_threads in (([4, 2], 1), (range(9), 2), (range(5, 9), 3)):
        some = trees(spread_trees(task, TreeBatch(0.0, numbers, "drawn"), n_threads))
        assert [tree.to_json() for tree in some] == [every[number] for number in numbers]


def test_trees_keep_to_their_tests_and_do_not_mind_prices_among_them():
    task = shared_task(training(), OPTIONS, seed=3).value
    kept = trees(grow_trees(task, TreeBatch(0.0, range(6), "drawn", tests=(0, 3)), 1))
    assert {test for tree in kept for test in tree.tests_used()} == {"x0", "x3"}
    other = build_task(
        ww.BudgetForestClassifier(variant="paper", costs=ww.Costs())._prepare(read_columns(X), Y, None).context,
        training().columns, training().classes, None, OPTIONS, 3,
    )  # fmt: skip
    free = trees(grow_trees(other, TreeBatch(0.0, range(6), "drawn", tests=(0, 3)), 1))
    for one, two in zip(kept, free, strict=True):
        np.testing.assert_array_equal(one.nodes.test, two.nodes.test)
        np.testing.assert_array_equal(one.nodes.threshold, two.nodes.threshold)


def test_the_cases_of_a_tree_weigh_what_they_are_given():
    weights = RNG.integers(1, 9, 150) / 4
    task = shared_task(training(weights), OPTIONS, seed=3).value
    [tree] = trees(grow_trees(task, TreeBatch(0.0, [5], "drawn"), 1))
    counts, _ = growing._draw(3, 5, 150, "drawn")
    np.testing.assert_allclose(tree.nodes.weights[0], np.bincount(Y, counts * weights))


@pytest.mark.parametrize("weights", [None, RNG.integers(1, 9, 150) / 4])
def test_a_task_made_elsewhere_is_the_same(weights):
    given = training(weights)
    here = shared_task(given, OPTIONS, seed=3).value
    there = build_task(given.context, given.columns, given.classes, given.weights, OPTIONS, 3)
    batch = TreeBatch(2.0, range(3), "weighted")
    one, other = (trees(grow_trees(task, batch, 1)) for task in (here, there))
    assert [tree.to_json() for tree in one] == [tree.to_json() for tree in other]

"""The compiled core against the oracle: the same trees, node by node, and the same answers, prices and class shares."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from bridge import (
    assert_same_routes,
    assert_same_tree,
    core_errors,
    core_grow,
    core_policy,
    core_pricing,
    core_route,
    core_route_lazily,
    core_table,
    core_tree_cost,
    differences,
    expected_routes,
    from_node,
    to_node,
)
from problems import compare, fresh_cases, hand_written_trees, policies, problems
from worthwhile import _core


def test_the_two_know_the_same_criteria():
    assert tuple(_core.criteria()) == ref.CRITERIA


# -- growing and pruning ----------------------------------------------------------------------------------------------


@compare(500)
@given(problem=problems(), policy=policies(prunings=["none"]))
def test_grown_tree(problem, policy):
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


@compare(200)
@given(problem=problems(max_rows=16, max_columns=3), policy=policies(prunings=["none"], idx_depth=(2, 3)))
def test_tree_grown_by_looking_ahead(problem, policy):
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


@compare(500)
@given(problem=problems(), policy=policies(prunings=["pessimistic"]))
def test_tree_pruned_by_errors(problem, policy):
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


@compare(300)
@given(problem=problems(), policy=policies(prunings=["cost"]))
def test_tree_pruned_by_cost(problem, policy):
    assert_same_tree(core_grow(problem, policy), ref.grow(problem, policy))


def priced_at(problem, factor):
    """The problem with all prices times a factor."""
    marginal = [factor * price for price in problem.marginal]
    return replace(problem, marginal=marginal, common=[factor * price for price in problem.common])


@compare(100)
@given(problem=problems(), policy=policies(prunings=["cost"]))
def test_cost_pruning_changes_its_mind_at_the_same_price(problem, policy):
    # At most prices all is cut off or nothing is, and a wrong price goes unnoticed. So go to where the tree changes,
    # by halving: the criterion does not look at prices, and the largest tree stands at price 0.
    policy = replace(policy, criterion="gain-ratio")
    low, high, whole = 0.0, 8.0, ref.grow(priced_at(problem, 0.0), policy)
    for _ in range(10):
        factor = (low + high) / 2
        tree = ref.grow(priced_at(problem, factor), policy)
        assert_same_tree(core_grow(priced_at(problem, factor), policy), tree)
        if not whole.children:
            break
        if differences(tree, whole):
            high = factor
        else:
            low = factor


@compare(100)
@given(problem=problems(), policy=policies())
def test_a_table_that_might_have_missing_values_gives_the_same_tree(problem, policy):
    # Without missing values and weights the core counts in whole numbers; the promise "none is missing" may not matter.
    assert not differences(to_node(core_grow(problem, policy, has_missing=True)), to_node(core_grow(problem, policy)))


# -- walking ----------------------------------------------------------------------------------------------------------


@compare(300)
@given(problem=problems(), policy=policies(), data=st.data())
def test_routes_of_fresh_cases(problem, policy, data):
    cases = data.draw(fresh_cases(problem))
    node = ref.grow(problem, policy)
    tree = core_grow(problem, policy)
    assert_same_routes(core_route(problem, policy, tree, cases), expected_routes(problem, policy, node, cases))
    case_prices = np.random.default_rng(len(cases[0])).choice([0, 1, 2.5], (len(cases[0]), len(cases)))
    routes = core_route(problem, policy, tree, cases, case_prices)
    assert_same_routes(routes, expected_routes(problem, policy, node, cases, case_prices))


@compare(600)
@given(problem=problems(), policy=policies(), data=st.data())
def test_routes_in_hand_written_trees(problem, policy, data):
    cases = data.draw(fresh_cases(problem))
    node = data.draw(hand_written_trees(problem))
    tree = from_node(node, problem.k)
    assert not differences(to_node(tree), node)
    assert_same_routes(core_route(problem, policy, tree, cases), expected_routes(problem, policy, node, cases))


@compare(500)
@given(problem=problems(), policy=policies(prunings=["none"]), data=st.data())
def test_lazy_routes_are_those_of_the_full_tree(problem, policy, data):
    cases = data.draw(fresh_cases(problem))
    node = ref.grow(problem, policy)
    lazily = expected_routes(problem, policy, node, cases, may_stop=False)  # what lies below is not grown
    assert_same_routes(core_route_lazily(problem, policy, cases), lazily)


# -- the estimates ----------------------------------------------------------------------------------------------------

counts = st.one_of(st.integers(0, 30).map(float), st.floats(0, 30))
confidences = st.one_of(st.sampled_from([0.001, 0.25, 0.4, 1.0]), st.floats(1e-6, 1))


@compare(500)
@given(right=counts, wrong=counts, cf=confidences)
def test_upper_errors(right, wrong, cf):
    expected = ref.upper_errors(right + wrong, wrong, cf)
    assert _core.upper_errors(right + wrong, wrong, cf) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@compare(300)
@given(problem=problems(max_rows=6), data=st.data())
def test_leaf_cost(problem, data):
    weights = data.draw(st.lists(counts, min_size=problem.k, max_size=problem.k))
    answer = data.draw(st.integers(0, problem.errors.shape[1] - 1))
    cf = data.draw(confidences)
    expected = ref.leaf_cost(problem, ref.Policy(confidence=cf), weights, answer)
    assert _core.leaf_cost(core_errors(problem), np.array(weights), answer, cf) == pytest.approx(expected, abs=1e-9)


# -- what small problems do not reach ---------------------------------------------------------------------------------

FIELDS = ("test", "threshold", "first_child", "n_children", "map_start", "map_size", "maps", "answer", "weights")


def assert_equal_trees(one, other):
    """That two trees of the core are the same to the last bit."""
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def large_problem(n=20_000, missing=0.0, **settings):
    """Enough cases for threads: ten numeric columns and two nominal ones, two of them with something to say."""
    rng = np.random.default_rng(5)
    columns = [rng.normal(size=n).round(3) for _ in range(10)] + [rng.integers(0, 4, n) for _ in range(2)]
    y = ((columns[3] > 0.25) ^ (rng.random(n) < 0.05)).astype(int) + (columns[11] == 2)
    for column in columns:
        column[rng.random(n) < missing] = -1 if column.dtype.kind == "i" else np.nan
    return ref.Problem(columns, [0] * 10 + [4] * 2, y, 3, marginal=rng.integers(0, 4, 12), **settings)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_threads_do_not_change_the_tree(weighted, missing):
    weights = np.random.default_rng(6).uniform(0.5, 2, 20_000) if weighted else None
    problem = large_problem(missing=missing, weights=weights)
    policy = ref.Policy("icf", max_depth=6, prune="none")
    alone = core_grow(problem, policy)
    assert len(alone.test) > 50
    assert_equal_trees(core_grow(problem, policy, n_threads=2), alone)


def test_threads_do_not_change_the_routes():
    problem = large_problem(70_000, missing=0.02)
    policy = ref.Policy("icf", max_depth=4, prune="none")
    tree = core_grow(problem, policy)
    alone = core_route(problem, policy, tree, problem.columns)
    for one, other in zip(core_route(problem, policy, tree, problem.columns, n_threads=2), alone, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("criterion", ref.CRITERIA)
def test_a_planted_split_is_found(criterion):
    rng = np.random.default_rng(7)
    columns = [rng.normal(size=5000) for _ in range(6)]
    problem = ref.Problem(columns, [0] * 6, columns[4] > 0.3, 2)
    tree = core_grow(problem, ref.Policy(criterion))
    assert tree.test.tolist() == [4, -1, -1]
    assert tree.threshold[0] == columns[4][columns[4] <= 0.3].max()


def grow_from_columns(columns, n_values, y, policy):
    """A tree straight from arrays, which the oracle's problems would have copied into order."""
    problem = ref.Problem(columns, n_values, y, 3)
    settings = core_pricing(problem), core_errors(problem), core_policy(policy)
    return _core.grow(core_table(columns, n_values), np.array(y, dtype=np.int32), None, *settings)


@pytest.mark.parametrize("rows", [slice(None), slice(None, None, 3), slice(None, None, -1)])
def test_strided_columns(rows):
    rng = np.random.default_rng(8)
    numbers = rng.integers(0, 50, (300, 3)).astype(float)[rows]
    codes = rng.integers(0, 4, (300, 2), dtype=np.int32)[rows]
    views = [*numbers.T, *codes.T]
    assert not any(view.flags.c_contiguous for view in views)
    copies = [view.copy() for view in views]
    y = rng.integers(0, 3, len(numbers))
    for prune in ref.PRUNINGS:
        policy = ref.Policy(prune=prune, confidence=0.9)
        tree = grow_from_columns(views, [0, 0, 0, 4, 4], y, policy)
        assert_equal_trees(tree, grow_from_columns(copies, [0, 0, 0, 4, 4], y, policy))
        problem = ref.Problem(copies, [0, 0, 0, 4, 4], y, 3)
        routes = core_route(problem, policy, tree, views)
        for one, other in zip(routes, core_route(problem, policy, tree, copies), strict=True):
            np.testing.assert_array_equal(one, other)


def test_arrays_of_other_types_are_copied_and_kept():
    rng = np.random.default_rng(9)
    numbers, codes, y = rng.normal(size=500).astype(np.float32), rng.integers(0, 3, 500), rng.integers(0, 2, 500)
    problem = ref.Problem([numbers, codes], [0, 3], y, 2)
    table = _core.Table(500, False)
    table.add_numeric(numbers)
    table.add_nominal(codes, 3, [[0, 1, 2]])
    policy = ref.Policy(prune="none")
    settings = core_pricing(problem), core_errors(problem), core_policy(policy)
    assert_equal_trees(_core.grow(table, y.astype(np.int32), None, *settings), core_grow(problem, policy))


@pytest.mark.parametrize("weighted", [False, True])
def test_cases_and_classes_that_need_words_of_64_bits(weighted):
    # A list entry holds row, class and one more bit: over 2**20 cases of over 2**10 classes need more than 32 bits.
    # Only the last four classes occur, so the tree is that of a problem with four.
    n, k = 2**20 + 5000, 1025
    rng = np.random.default_rng(10)
    columns = [rng.integers(0, 1000, n).astype(float), rng.integers(0, 3, n), rng.normal(size=n)]
    y = (columns[0] > 500) + 2 * ((columns[1] == 1) ^ (rng.random(n) < 0.2))
    weights = rng.integers(1, 3, n) / 2 if weighted else None
    policy = ref.Policy("icf", min_share=0, max_depth=4, prune="none")
    narrow = core_grow(ref.Problem(columns, [0, 3, 0], y, 4, weights=weights), policy)
    wide = core_grow(ref.Problem(columns, [0, 3, 0], y + k - 4, k, weights=weights), policy)
    assert len(narrow.test) > 20
    for name in FIELDS[:-2]:
        np.testing.assert_array_equal(getattr(wide, name), getattr(narrow, name), err_msg=name)
    np.testing.assert_array_equal(wide.answer, narrow.answer + k - 4)
    np.testing.assert_array_equal(wide.weights[:, -4:], narrow.weights)
    assert not wide.weights[:, :-4].any()


@pytest.mark.parametrize("seed", range(4))
def test_more_tests_than_a_word_has_bits(seed):
    rng = np.random.default_rng(seed)
    n_tests = 150
    columns = [rng.integers(0, 3, 40).astype(float) for _ in range(n_tests)]
    problem = ref.Problem(
        columns, [0] * n_tests, rng.integers(0, 3, 40), 3, marginal=rng.integers(0, 9, n_tests),
        group=rng.integers(-1, 3, n_tests), common=[4, 5, 6], delayed=rng.random(n_tests) < 0.3,
        requires=[rng.integers(0, t, 2).tolist() if t % 3 == 2 else [] for t in range(n_tests)],
    )  # fmt: skip
    policy = ref.Policy("icf", min_cases=1, context=True, prune="none")
    node, tree = ref.grow(problem, policy), core_grow(problem, policy)
    assert_same_tree(tree, node)
    cases = [np.where(rng.random(40) < 0.1, np.nan, column) for column in columns]
    assert_same_routes(core_route(problem, policy, tree, cases), expected_routes(problem, policy, node, cases))
    by_cost = ref.Policy("icf", min_cases=1, context=True, prune="cost", confidence=0.9)
    dear = ref.Problem(columns, [0] * n_tests, problem.y, 3, marginal=problem.marginal, errors=60 * (1 - np.eye(3)))
    assert_same_tree(core_grow(dear, by_cost), ref.grow(dear, by_cost))


# -- what leads out of bounds is refused ------------------------------------------------------------------------------


def node_table(**changes):
    """The arrays of a tree: node 0 asks a number, node 1 a nominal test of three values."""
    arrays = {
        "test": [0, 1, -1, -1, -1],
        "threshold": [0.5, 0, 0, 0, 0],
        "first_child": [1, 3, -1, -1, -1],
        "n_children": [2, 2, 0, 0, 0],
        "map_start": [-1, 0, -1, -1, -1],
        "map_size": [0, 3, 0, 0, 0],
        "maps": [0, 1, -1],
        "answer": [0, 1, 0, 1, 2],
        "weights": np.ones((5, 2)),
    }
    floats = ("threshold", "weights")
    given = {name: np.array(v, dtype=float if name in floats else np.int32) for name, v in (arrays | changes).items()}
    return _core.Tree(2, **given)


def bounded_problem():
    errors = np.array([[0, 9, 2], [9, 0, 2]])
    return ref.Problem([np.linspace(0, 1, 6), np.array([0, 1, 2] * 2)], [0, 3], [0, 1] * 3, 2, errors=errors)


def route_alone(tree, problem=None, **changes):
    problem = problem or bounded_problem()
    return core_route(problem, ref.Policy(answer="least-cost"), tree, problem.columns, **changes)


def test_a_sound_node_table_is_taken():
    assert route_alone(node_table())[0].tolist() == [1, 2, 2, 0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": [0.5] * 4}, "equally long: 5 and 4"),
        ({"answer": [0] * 6}, "equally long: 5 and 6"),
        ({"weights": np.ones((5, 1))}, "one weight for each"),
        ({"weights": np.ones((4, 2))}, "one weight for each"),
        ({"first_child": [0, 3, -1, -1, -1]}, "node 0 has children outside"),
        ({"first_child": [1, 4, -1, -1, -1]}, "node 1 has children outside"),
        ({"first_child": [1, 2**31 - 1, -1, -1, -1]}, "node 1 has children outside"),
        ({"first_child": [1, 2, -1, -1, -1]}, "node 2 is a child of two nodes"),
        ({"first_child": [3, 3, -1, -1, -1]}, "node 1 is no child of a node before it"),
        ({"n_children": [2, -2, 0, 0, 0]}, "node 1 has children outside"),
        ({"n_children": [2, 1, 0, 0, 0]}, "node 1 has another number of children than of branches"),
        ({"n_children": [1, 2, 0, 0, 0]}, "node 0 has another number of children than of branches"),
        ({"n_children": [2, 2, 0, 1, 0]}, "node 3 is a leaf with children"),
        ({"map_start": [-1, 1, -1, -1, -1]}, "node 1 has a map that ends outside"),
        ({"map_size": [0, 2**31 - 1, 0, 0, 0]}, "node 1 has a map that ends outside"),
        ({"map_size": [0, -1, 0, 0, 0]}, "node 1 has a map that ends outside"),
        ({"threshold": [np.nan, 0, 0, 0, 0]}, "node 0 has the threshold NaN"),
        ({"maps": [0, 2, -1]}, "node 1 has another number of children than of branches"),
        ({"maps": [0, 1, -7]}, "node 1 has a map with the branch -7"),
        ({"answer": [0, 1, 0, -1, 2]}, "node 3 has the answer -1"),
    ],
)
def test_node_tables_that_lead_out_of_bounds_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        node_table(**changes)


def test_trees_that_are_too_deep_for_recursion_are_refused():
    n = 5000  # tests in a row
    inner = np.arange(2 * n + 1) % 2 == 0
    inner[-1] = False
    nodes = len(inner)
    arrays = {name: np.full(nodes, -1, dtype=np.int32) for name in ("test", "first_child", "map_start")}
    arrays["test"][inner] = 0
    arrays["first_child"][inner] = np.flatnonzero(inner) + 1
    numbers = {name: np.zeros(nodes, dtype=np.int32) for name in ("map_size", "answer")}
    children = np.where(inner, 2, 0).astype(np.int32)
    with pytest.raises(ValueError, match="more than 4096 tests deep"):
        _core.Tree(
            1, threshold=np.zeros(nodes), weights=np.ones((nodes, 1)), n_children=children,
            maps=np.zeros(0, dtype=np.int32), **arrays, **numbers,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": [0, 2, -1, -1, -1]}, "node 1 asks for test 2, but there are 2"),
        ({"test": [1, 1, -1, -1, -1]}, "node 0 takes test 1 for one of the other kind"),
        ({"test": [0, 0, -1, -1, -1]}, "node 1 takes test 0 for one of the other kind"),
        ({"map_size": [0, 2, 0, 0, 0]}, "node 1 has a map of 2 values, but test 1 has 3"),
        ({"answer": [0, 1, 0, 1, 3]}, "node 4 has the answer 3, but there are 3"),
        ({"answer": [9, 1, 0, 1, 2]}, "node 0 has the answer 9, but there are 3"),
    ],
)
def test_trees_that_do_not_fit_the_table_are_refused(changes, message):
    tree = node_table(**changes)
    with pytest.raises(ValueError, match=message):
        route_alone(tree)
    problem = bounded_problem()
    with pytest.raises(ValueError, match=message):
        core_tree_cost(problem, ref.Policy(answer="least-cost"), tree)


def test_tables_and_prices_of_other_sizes_are_refused():
    problem, tree = bounded_problem(), node_table()
    short = ref.Problem(problem.columns[:1], [0], problem.y, 2, errors=problem.errors)
    table, pricing, errors = core_table(problem.columns, problem.n_values), core_pricing(short), core_errors(problem)
    with pytest.raises(ValueError, match="the columns of a table must have the length 1, got 2"):
        _core.ForestRouter(table, pricing, errors)
    with pytest.raises(ValueError, match="node 1 asks for test 1, but there are 1"):
        route_alone(tree, short)
    with pytest.raises(ValueError, match=r"'case_prices' must have the shape \(6, 2\)"):
        route_alone(tree, case_prices=np.ones((5, 2)))
    other = ref.Problem(problem.columns, problem.n_values, problem.y, 3)
    with pytest.raises(ValueError, match="the tree has 2 classes, but the error costs have 3"):
        route_alone(tree, other)
    with pytest.raises(ValueError, match="a column must have the length 4, got 6"):
        _core.Table(4, False).add_numeric(np.zeros(6))
    settings = core_pricing(problem), errors, core_policy(ref.Policy())
    with pytest.raises(ValueError, match="'classes' must have the length 6, got 5"):
        _core.grow(table, np.zeros(5, dtype=np.int32), None, *settings)
    with pytest.raises(ValueError, match="'classes' holds a number that is no class"):
        _core.grow(table, np.full(6, 2, dtype=np.int32), None, *settings)
    with pytest.raises(ValueError, match="'weights' must have the length 6, got 7"):
        _core.grow(table, np.zeros(6, dtype=np.int32), np.ones(7), *settings)
    with pytest.raises(ValueError, match="'biases' must have the length 2, got 1"):
        core_grow(problem, ref.Policy("icf", biases=[1.0]))


@pytest.mark.parametrize(
    ("n_values", "levels", "message"),
    [
        (-1, [[]], "'n_values' must not be negative, got -1"),
        (3, [], "a nominal column needs at least one level"),
        (3, [[0, 1]], "a level of a nominal column must have the length 3, got 2"),
        (3, [[0, 1, 2], [0, -1, 1]], "a branch of a level must be from 0 to 2, got -1"),
        (3, [[0, 1, 2], [0, 3, 1]], "a branch of a level must be from 0 to 2, got 3"),
        (3, [[0, 1, 2**31 - 1]], "a branch of a level must be from 0 to 2, got 2147483647"),
    ],
)
def test_levels_that_lead_out_of_bounds_are_refused(n_values, levels, message):
    with pytest.raises(ValueError, match=message):
        _core.Table(6, False).add_nominal(np.zeros(6, dtype=np.int32), n_values, levels)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(
    ("number", "code", "has_missing", "message"),
    [
        (0.5, 2, False, None),
        (np.nan, -1, True, None),
        (0.5, 3, True, r"column 1 of the training cases must have codes from -1 \(missing\) to 2, got 3"),
        (
            0.5,
            2**31 - 1,
            False,
            r"column 1 of the training cases must have codes from -1 \(missing\) to 2, got 2147483647",
        ),
        (0.5, -2, True, r"column 1 of the training cases must have codes from -1 \(missing\) to 2, got -2"),
        (0.5, -1, False, "column 1 has a missing value, but 'has_missing' is False"),
        (np.nan, 2, False, "column 0 has a missing value, but 'has_missing' is False"),
    ],
)
def test_values_that_growing_cannot_rely_on_are_refused(number, code, has_missing, message, stride):
    """Growing does; walking cases down a tree takes an unknown code for a missing value."""
    problem = bounded_problem()
    numbers, codes = np.linspace(0, 1, 6 * stride), np.arange(6 * stride, dtype=np.int32) % 3
    numbers[4 * stride], codes[4 * stride] = number, code
    table = _core.Table(6, has_missing)
    table.add_numeric(numbers[::stride])
    table.add_nominal(codes[::stride], 3, [[0, 1, 2]])
    classes, prices, errors = np.array(problem.y, dtype=np.int32), core_pricing(problem), core_errors(problem)
    uses = [
        lambda: _core.grow(table, classes, None, prices, errors, core_policy(ref.Policy())),
        lambda: grow_forest_on(table, classes, prices),
    ]
    for use in uses:
        if message is None:
            use()
        else:
            with pytest.raises(ValueError, match=message):
                use()
    if has_missing:
        _core.route(node_table(), table, prices, errors, least_cost=True, answers=True)


def grow_forest_on(table, classes, prices):
    return _core.grow_forest(
        table, classes, 2, np.ones((1, len(classes))), prices, impurity="pairs", parameter=0.0, expected=True,
        cuts="exact", context=False, max_depth=3, seeds=[0], n_threads=1,
    )  # fmt: skip


def test_a_table_takes_no_column_after_a_forest_was_grown_from_it():
    """The forest's copy of the columns would not have it."""
    problem = ref.Problem([np.linspace(0, 1, 6)], [0], [0, 1] * 3, 2)
    table, classes = core_table(problem.columns, problem.n_values), np.array(problem.y, dtype=np.int32)
    grow_forest_on(table, classes, core_pricing(problem))
    for add in (
        lambda: table.add_numeric(np.zeros(6)),
        lambda: table.add_nominal(np.zeros(6, dtype=np.int32), 1, [[0]]),
    ):
        with pytest.raises(ValueError, match="a table from which a forest was grown takes no further column"):
            add()
    grow_forest_on(table, classes, core_pricing(problem))

"""Between the oracle and the compiled core: problems go one way, trees the other.

The core wants what ``worthwhile`` gives it after checking: no case of weight 0, codes in range, closures worked out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import reference as ref
from worthwhile import _core

NO_LIMIT = 1 << 30  # of the depth, where the policy has none


# -- problem -> core --------------------------------------------------------------------------------------------------


def is_missing(column, n_values):
    """Where a column's value is missing or, nominal, none that the training table has."""
    return (column < 0) | (column >= n_values) if n_values else np.isnan(column)


def core_table(columns, n_values, levels=None, has_missing=None):
    """The core's table of some columns; `has_missing` is found out unless it is given."""
    if has_missing is None:
        has_missing = any(np.any(is_missing(c, v)) for c, v in zip(columns, n_values, strict=True))
    table = _core.Table(len(columns[0]), bool(has_missing))
    for t, (column, v) in enumerate(zip(columns, n_values, strict=True)):
        if v:
            further = (levels or {}).get(t, [])
            table.add_nominal(np.asarray(column, dtype=np.int32), v, [list(range(v)), *further])
        else:
            table.add_numeric(np.asarray(column, dtype=np.float64))
    return table


def core_pricing(problem):
    """The core's price list."""
    closures = [sorted(ref.closure(problem, t)) for t in range(len(problem.columns))]
    groups = [sorted(ref.groups_of(problem, [t])) for t in range(len(problem.columns))]
    after = [s.after for s in problem.surcharges]
    after_any = [s.after_any for s in problem.surcharges]
    return _core.Pricing(
        marginal=np.array(ref.listed_amounts(problem), dtype=np.float64),
        group_start=np.cumsum([0, *map(len, groups)], dtype=np.int32),
        group_list=np.array([g for own in groups for g in own], dtype=np.int32),
        common=np.array(problem.common, dtype=np.float64),
        delayed=np.array(problem.delayed, dtype=np.uint8),
        closure_start=np.cumsum([0, *map(len, closures)], dtype=np.int32),
        closure_tests=np.array([t for tests in closures for t in tests], dtype=np.int32),
        wait=np.array(problem.wait),
        waiting=np.array(problem.waiting, dtype=np.float64).reshape(-1, 2),
        surcharge_test=np.array([s.test for s in problem.surcharges], dtype=np.int32),
        after_start=np.cumsum([0, *map(len, after)], dtype=np.int32),
        after_tests=np.array([t for tests in after for t in tests], dtype=np.int32),
        after_any_start=np.cumsum([0, *map(len, after_any)], dtype=np.int32),
        after_any_tests=np.array([t for tests in after_any for t in tests], dtype=np.int32),
        truth=np.array([-1 if s.truth is None else s.truth for s in problem.surcharges], dtype=np.int32),
        cap=problem.cap,
    )


def core_errors(problem):
    """The core's error matrix."""
    return _core.Errors(np.ascontiguousarray(problem.errors, dtype=np.float64))


def core_policy(policy, n_threads=1):
    """The core's policy."""
    return _core.Policy(
        criterion=policy.criterion, omega=policy.omega, min_cases=policy.min_cases, min_share=policy.min_share,
        max_depth=NO_LIMIT if policy.max_depth is None else policy.max_depth, mdl_correction=policy.mdl_correction,
        context=policy.context, idx_depth=policy.idx_depth, least_cost=policy.answer == "least-cost",
        prune=policy.prune, confidence=policy.confidence, raise_subtrees=policy.raise_subtrees, n_threads=n_threads,
        reject_below=policy.reject_below, nominal_splits=policy.nominal_splits,
        biases=None if policy.biases is None else np.array(policy.biases, dtype=np.float64),
    )  # fmt: skip


def core_training(problem, has_missing=None):
    """What growing wants of a problem: table, classes and weights (None where all are 1)."""
    problem = ref.without_weightless(problem)
    weights = None if np.all(problem.weights == 1) else np.ascontiguousarray(problem.weights)
    table = core_table(problem.columns, problem.n_values, problem.levels, has_missing)
    if ref.depends_on_case(problem):
        table.set_prices(np.array([ref.amounts_of_row(problem, row) for row in range(len(problem.y))]))
    if problem.case_errors is not None:
        table.set_deviations(np.ascontiguousarray(problem.case_errors - problem.errors[problem.y]))
    return table, problem.y.astype(np.int32), weights


def core_ahead_policy(policy, n_threads=1, **settings):
    """The core's policy that looks ahead; settings go beyond those of the oracle, whose samples are greedy."""
    ahead, core = policy.ahead, core_policy(policy, n_threads)
    own = {"r": ahead.r, "by_size": ahead.by_size, "samples": ahead.samples, "confidence": ahead.confidence}
    own |= {"greedy_first": True, "margin": ahead.margin, "seed": 0}
    core.set_sampling(**(own | settings))
    return core


def core_grow_ahead(problem, policy, n_threads=1, seconds=1e9, seconds_more=1e9, **settings):
    """The core's tree for a problem, grown with look-ahead."""
    core = core_ahead_policy(policy, n_threads, **settings)
    training = *core_training(problem), core_pricing(problem), core_errors(problem), core
    return _core.grow_ahead(*training, seconds=seconds, seconds_more=seconds_more)


def core_sample_costs(problem, policy, n, **settings):
    """What trees cost that the core samples from all cases."""
    core = core_ahead_policy(policy, **settings)
    return _core.sample_costs(*core_training(problem), core_pricing(problem), core_errors(problem), core, n)


def core_tree_cost(problem, policy, tree):
    """What the core expects a tree to cost per case."""
    settings = core_pricing(problem), core_errors(problem), core_policy(policy)
    return _core.tree_cost(tree, *core_training(problem), *settings)


def core_grow(problem, policy, n_threads=1, has_missing=None):
    """The core's tree for a problem."""
    settings = core_pricing(problem), core_errors(problem), core_policy(policy, n_threads)
    return _core.grow(*core_training(problem, has_missing), *settings)


def core_grow_altered(problem, policy, pruning_weights):
    """The core's tree for a problem, pruned, and answering, by other weights."""
    settings = core_pricing(problem), core_errors(problem), core_policy(policy)
    counted = np.ascontiguousarray(pruning_weights[problem.weights > 0], dtype=np.float64)
    return _core.grow(*core_training(problem), *settings, pruning_weights=counted)


def core_trials(
    problem, policies, split, grows, growing_weights=None, judging_weights=None, seed=None, n_threads=1, seconds=1e9
):
    """The core's costs of trials: policies that differ in what a search may set, each on one of the splits."""
    table, classes, weights = core_training(problem)
    free = {"omega": 1.0, "confidence": 0.25, "max_depth": None, "biases": None, "reject_below": 0.0}
    assert all(replace(policy, **free) == replace(policies[0], **free) for policy in policies)
    return _core.try_biases(
        table, classes, weights, core_pricing(problem), core_errors(problem), core_policy(policies[0]),
        biases=np.array([policy.biases for policy in policies], dtype=np.float64),
        omega=np.array([policy.omega for policy in policies]),
        confidence=np.array([policy.confidence for policy in policies]),
        max_depth=np.array([NO_LIMIT if p.max_depth is None else p.max_depth for p in policies], dtype=np.int32),
        reject_below=np.array([policy.reject_below for policy in policies], dtype=np.float64),
        split=np.array(split, dtype=np.int32),
        grows=None if grows is None else np.array(grows, dtype=np.uint8), seed=seed, growing_weights=growing_weights,
        judging_weights=judging_weights, n_threads=n_threads, seconds=seconds,
    )  # fmt: skip


def core_route(problem, policy, tree, columns, case_prices=None, n_threads=1, has_missing=None):
    """The core's (answers, prices, class shares, charged tests) of some cases."""
    table = core_table(columns, problem.n_values, has_missing=has_missing)
    return _core.route(
        tree, table, core_pricing(problem), core_errors(problem), least_cost=policy.answer == "least-cost",
        answers=True, prices=True, shares=True, charged=True, n_threads=n_threads, case_prices=case_prices,
    )  # fmt: skip


def core_route_lazily(problem, policy, columns):
    """The same without a tree."""
    settings = core_pricing(problem), core_errors(problem), core_policy(policy)
    return _core.route_lazily(*core_training(problem), *settings, core_table(columns, problem.n_values))


# -- trees ------------------------------------------------------------------------------------------------------------


def to_node(tree, at=0):
    """A tree of the core as a node of the oracle."""
    node = ref.Node(tree.weights[at], int(tree.answer[at]))
    if tree.test[at] < 0:
        return node
    node.commits = tree.commits is not None and len(tree.commits) > 0 and bool(tree.commits[at])
    node.column = int(tree.test[at])
    start = tree.map_start[at]
    if start < 0:
        node.threshold = float(tree.threshold[at])
    else:
        node.branch_of = tree.maps[start : start + tree.map_size[at]].tolist()
    first = tree.first_child[at]
    node.children = [to_node(tree, child) for child in range(first, first + tree.n_children[at])]
    return node


def from_node(root, k):
    """A node of the oracle, with all below it, as a tree of the core."""
    nodes, first_child = [root], []
    for node in nodes:  # grows on the way: children stand side by side, behind their parent
        first_child.append(len(nodes) if node.children else -1)
        nodes.extend(node.children)
    maps, map_start = [], []
    for node in nodes:
        map_start.append(-1 if node.branch_of is None else len(maps))
        maps.extend(node.branch_of or [])

    def ints(values):
        return np.array(values, dtype=np.int32)

    return _core.Tree(
        k,
        test=ints([-1 if node.column is None else node.column for node in nodes]),
        threshold=np.array([0.0 if node.threshold is None else node.threshold for node in nodes]),
        first_child=ints(first_child),
        n_children=ints([len(node.children) for node in nodes]),
        map_start=ints(map_start),
        map_size=ints([len(node.branch_of or []) for node in nodes]),
        maps=ints(maps),
        answer=ints([node.answer for node in nodes]),
        weights=np.array([node.weights for node in nodes], dtype=np.float64),
        commits=np.array([node.commits for node in nodes], dtype=np.uint8),
        surcharges=None if root.surcharges is None else np.array([node.surcharges for node in nodes], dtype=np.float64),
    )


def differences(mine, expected, place="root"):
    """What differs between two nodes and all below them, in words."""
    found = [
        f"{place}: {name} {getattr(mine, name)} instead of {getattr(expected, name)}"
        for name in ("column", "threshold", "branch_of", "answer", "commits")
        if getattr(mine, name) != getattr(expected, name)
    ]
    if not np.allclose(mine.weights, expected.weights, rtol=1e-9, atol=1e-9):
        found.append(f"{place}: weights {mine.weights} instead of {expected.weights}")
    if len(mine.children) != len(expected.children):
        return [*found, f"{place}: {len(mine.children)} branches instead of {len(expected.children)}"]
    for b, (one, other) in enumerate(zip(mine.children, expected.children, strict=True)):
        found += differences(one, other, f"{place}.{b}")
    return found


def assert_same_tree(tree, expected):
    """That a tree of the core is the oracle's, node by node."""
    found = differences(to_node(tree), expected)
    assert not found, "\n".join(found)


# -- what the oracle says of some cases -------------------------------------------------------------------------------


def expected_routes(problem, policy, node, columns, amounts=None, may_stop=True):
    """The oracle's (answers, prices, class shares, charged items) of some cases; list prices decide what is asked.

    Only a cap goes by the prices of the case.

    `amounts`: by case, the price of every test and the amount of every surcharge.
    """
    answers, prices, shares, charged = [], [], [], []
    for row in range(len(columns[0])):
        case = [column[row] for column in columns]
        own = None if amounts is None else amounts[row][: len(columns)]
        end = ref.walk(problem, policy, node, case, may_stop=may_stop, own_prices=own)
        answer, share = ref.answer_at(problem, policy, end)
        answers.append(answer)
        shares.append(share)
        charged.append({item_number(problem, item) for item in end.charged})
        prices.append(ref.price(problem, end.charged, None if amounts is None else amounts[row]))
    return np.array(answers), np.array(prices), np.array(shares), charged


def item_number(problem, item):
    """The number that the core has for an item: tests, then surcharges, then waits."""
    if not isinstance(item, tuple):
        return item
    n = len(problem.columns)
    return n + item[1] if item[0] == "surcharge" else n + len(problem.surcharges) + item[1]


def assert_same_routes(routes, expected):
    """That answers and charged tests are equal, and prices and class shares up to rounding."""
    np.testing.assert_array_equal(routes[0], expected[0])
    np.testing.assert_allclose(routes[1], expected[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(routes[2], expected[2], rtol=1e-9, atol=1e-9)
    assert sets_of_tests(routes[3]) == list(map(set, expected[3]))


def sets_of_tests(words):
    """The sets of tests that the core returns as bits, 64 to a word."""
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return [set(np.flatnonzero(row).tolist()) for row in bits]


# -- forests ----------------------------------------------------------------------------------------------------------


def core_greedy_tree(problem, policy, cuts="exact", seed=0):
    """The core's GreedyTree for a problem."""
    table, classes, _ = core_training(problem)
    weights = ref.without_weightless(problem).weights
    [tree] = _core.grow_forest(
        table, classes, problem.k, np.ascontiguousarray(weights[None, :]), core_pricing(problem),
        impurity=policy.impurity, parameter=policy.parameter, expected=policy.expected, cuts=cuts,
        context=policy.context, max_depth=NO_LIMIT if policy.max_depth is None else policy.max_depth,
        seeds=[seed], n_threads=1, nominal_splits=policy.nominal_splits,
    )  # fmt: skip
    return tree

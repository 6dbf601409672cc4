"""Random small problems for hypothesis: everything that docs/design/ speaks of, in small numbers.

Hypothesis draws how large a problem may get and seeds the generator that does the rest. It could draw every value, and
shrink what fails further, but it crowds its draws at the least values, where trees are leaves and nothing can differ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import reference as ref
from example_counts import examples


def compare(max_examples):
    """Settings of a comparison: always the same examples, as long as they take."""
    slow_is_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=examples(max_examples), deadline=None, derandomize=True, suppress_health_check=slow_is_fine
    )


# Few distinct values make ties; tenths make middles of two values that are, or nearly are, a third; the largest floats
# have no sum, and two neighbours no middle.
NUMBERS = {
    "ties": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "tenths": lambda rng, n: rng.integers(-12, 12, n) / 10,
    "real": lambda rng, n: rng.normal(size=n),
    "huge": lambda rng, n: rng.choice([-1.7e308, -1e308, -1.0, 0.0, 1e-308, 1e308, 1.6e308, 1.7e308], n),
    "neighbours": lambda rng, n: 1 + rng.integers(0, 5, n) * 2.0**-52,
    "constant": lambda rng, n: np.full(n, 3.0),
}
WEIGHTS = {
    "none": lambda rng, n: None,
    "whole": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "quarters": lambda rng, n: rng.choice([0.25, 0.5, 1, 1.75, 2.5], n),
    "fractions": lambda rng, n: rng.integers(1, 9, n) / rng.choice([3, 7, 10]),
    "real": lambda rng, n: rng.uniform(0.1, 3, n),
    "heavy": lambda rng, n: rng.integers(1, 60, n).astype(float),  # the smallest branch then holds 25
    "some zero": lambda rng, n: np.r_[1.0, rng.choice([0.0, 1.0, 2.0], n - 1)],
}
ERRORS = {
    "0/1": lambda rng, k, a: np.c_[1 - np.eye(k), np.full((k, a - k), 0.4)],
    "asymmetric": lambda rng, k, a: rng.choice([0, 1, 2, 5, 10, 100], (k, a)) * (1.0 - np.eye(k, a)),
    "benefits": lambda rng, k, a: rng.integers(-2, 3, (k, a)).astype(float),
    "real": lambda rng, k, a: rng.normal(size=(k, a)) * 10,
}


def random_column(rng, kind, n_values, n, missing):
    """A numeric column of some kind (n_values 0) or a nominal one, with a share of missing values."""
    gone = rng.random(n) < missing
    if n_values:
        return np.where(gone, -1, rng.integers(0, n_values, n))
    return np.where(gone, np.nan, NUMBERS[kind](rng, n))


def random_classes(rng, columns, n_values, k, signal):
    """Classes by chance, or by two of the columns with some noise."""
    n = len(columns[0])
    by_chance = rng.integers(0, k, n)
    if not signal:
        return by_chance
    chosen = rng.choice(len(columns), 2)
    known = [np.nan_to_num(columns[t]) for t in chosen]
    bits = [c > (0 if n_values[t] else np.sort(c)[n // 2]) for c, t in zip(known, chosen, strict=True)]
    return np.where(rng.random(n) < 0.15, by_chance, (bits[0] + 2 * bits[1]) % k)


def random_levels(rng, n_values):
    """Further levels of generalisation for some nominal columns."""
    levels = {}
    for t, v in enumerate(n_values):
        if v >= 3:
            sizes = rng.choice(np.arange(1, v), rng.integers(0, 3))
            levels[t] = [rng.permutation(np.r_[np.arange(s), rng.integers(0, s, v - s)]).tolist() for s in sizes]
    return levels


def random_requires(rng, n_tests, share):
    """Direct requirements without a cycle."""
    order = rng.permutation(n_tests)
    place = np.argsort(order)
    return [[u for u in range(n_tests) if place[u] < place[t] and rng.random() < share] for t in range(n_tests)]


SEEDS = st.integers(0, 2**62)


def random_problem(rng, max_rows, max_columns):
    """A problem with all that can be in one; half of them have missing values, delays and requirements at once."""
    tangled = rng.random() < 0.5
    n = int(rng.integers((max_rows + 1) // 2, max_rows + 1))
    k = int(rng.choice([1, 2, 3, 4], p=[0.04, 0.4, 0.3, 0.26]))
    kinds = [*NUMBERS, 2, 3, 5, 8]
    kinds = [kinds[i] for i in rng.integers(0, len(kinds), rng.integers((max_columns + 1) // 2, max_columns + 1))]
    n_values = [kind if isinstance(kind, int) else 0 for kind in kinds]
    missing = rng.choice([0.15, 0.3] if tangled else [0, 0, 0.1, 0.4])
    shares = missing * rng.choice([0, 1, 1, 1.5], len(kinds))
    columns = [random_column(rng, *of, n, share) for *of, share in zip(kinds, n_values, shares, strict=True)]
    errors = ERRORS[rng.choice(list(ERRORS))](rng, k, k + int(rng.integers(0, 3)))
    return ref.Problem(
        columns,
        n_values,
        random_classes(rng, columns, n_values, k, signal=rng.random() < 0.5),
        k,
        weights=WEIGHTS[rng.choice(list(WEIGHTS))](rng, n),
        marginal=rng.choice([0, 0.1, 1, 2, 5.17], len(kinds)) * rng.choice([1, 0.1, 0.02] if tangled else [1, 0, 10]),
        group=rng.integers(-1, 2, len(kinds)),
        common=rng.choice([0, 0.3, 2.1], 2),
        delayed=rng.random(len(kinds)) < (0.4 if tangled else rng.choice([0, 0, 0.3])),
        requires=random_requires(rng, len(kinds), 0.3 if tangled else rng.choice([0, 0, 0.3])),
        errors=errors * rng.choice([1, 10, 50]),
        levels=random_levels(rng, n_values),
    )


@st.composite
def problems(draw, max_rows=40, max_columns=6):
    """A problem of at most so many cases and columns."""
    rows = draw(st.sampled_from([1, max_rows // 6, max_rows // 2, max_rows, max_rows, max_rows]))
    columns = draw(st.sampled_from([1, max_columns // 2, max_columns, max_columns]))
    return random_problem(np.random.default_rng(draw(SEEDS)), rows, columns)


def random_condition(rng, values, n_values):
    """A condition on the values of a column; it may hold always, sometimes or never."""
    if n_values:
        return ("in", rng.choice(n_values, rng.integers(1, n_values + 1), replace=False).tolist())
    known = np.nan_to_num(values)
    if rng.random() < 0.3:
        return ("in", rng.choice(known, 2).tolist())
    return (str(rng.choice(["<", "<=", ">", ">="])), float(rng.choice(known)))


def random_surcharges(rng, problem, share, classes):
    """Surcharges of all kinds. Tests come in an order in which conditions on others only look back: no cycles."""
    place = {t: at for at, t in enumerate(rng.permutation(len(problem.columns)).tolist())}
    place = {t: (len(ref.closure(problem, t)), place[t]) for t in place}
    found = []
    for t in place:
        room = problem.marginal[t]  # for discounts
        for _ in range(rng.integers(0, 4)):
            if rng.random() > share:
                continue
            others = [u for u in place if u != t]
            earlier = [u for u in others if place[u] < place[t]]
            kinds = {kind for kind in ("truth", "result", "where", "after", "any") if rng.random() < 0.4} or {"truth"}
            discount = rng.random() < 0.3
            amount = -room * rng.choice([0.3, 1.0]) if discount else float(rng.choice([0.1, 0.5, 3, 20]))
            room += min(amount, 0.0)
            asked = rng.choice(earlier, min(len(earlier), int(rng.integers(1, 3))), replace=False) if earlier else []
            before = rng.choice(others, min(len(others), int(rng.integers(1, 3))), replace=False) if others else []
            one_of = rng.choice(others, min(len(others), int(rng.integers(1, 4))), replace=False) if others else []
            kinds |= set() if earlier and others else {"truth"}  # every surcharge has a condition
            columns, n_values = problem.columns, problem.n_values
            found.append(
                ref.Surcharge(
                    t,
                    float(amount),
                    int(rng.integers(classes)) if "truth" in kinds else None,
                    random_condition(rng, columns[t], n_values[t]) if "result" in kinds else None,
                    {int(u): random_condition(rng, columns[u], n_values[u]) for u in asked if "where" in kinds},
                    [int(u) for u in before if "after" in kinds],
                    [int(u) for u in one_of if "any" in kinds],
                )
            )
    return sorted(found, key=lambda s: s.test)


CURVES = ([(0.0, 0.0), (1.0, 0.5)], [(0.0, 0.0), (2.0, 1.0), (5.0, 30.0)], [(0.0, 0.0), (3.0, 10.0), (8.0, 11.0)])


def with_all_prices(rng, problem, caps=True):
    """The problem with groups, surcharges, waits, prices by case and a cap, each of them more often than not."""
    n, d = len(problem.y), len(problem.columns)
    common = rng.choice([0, 0.3, 2.1], 4)
    priced = replace(
        problem,
        common=common,
        more_groups=[rng.choice(4, rng.integers(0, 4), replace=False).tolist() for _ in range(d)],
    )
    if rng.random() < 0.8:
        priced = replace(priced, surcharges=random_surcharges(rng, problem, rng.choice([0.3, 0.8]), problem.k))
    if rng.random() < 0.7:
        wait = rng.choice([0.0, 0.0, 1.0, 1.0, 2.5, 6.0], d)
        priced = replace(priced, wait=wait, waiting=CURVES[rng.integers(3)] if wait.any() else [])
    if rng.random() < 0.5:
        own = np.array(priced.marginal) * rng.choice([1.0, 1.5, 3.0], (n, d)) + rng.choice([0.0, 0.4], (n, d))
        priced = replace(priced, case_prices=own)
    if caps and rng.random() < 0.4:
        priced = replace(priced, cap=float(rng.choice([0.0, 0.2, 0.5, 0.9])) * worst_price(priced))
    return priced


def with_case_errors(rng, problem):
    """The problem, half of the time with error costs by case: some classes and some cases are more expensive."""
    if rng.random() < 0.5:
        return problem
    n, a = len(problem.y), problem.errors.shape[1]
    own = problem.errors[problem.y] * rng.choice([0.5, 1.0, 3.0], (n, 1))
    return replace(problem, case_errors=own + ref.largest_error(problem) * rng.choice([0.0, 0.0, 0.2, 1.0], (n, a)))


def worst_price(problem):
    """The most that any case can be charged: all tests and all surcharges, and every wait by itself."""
    everything = set(range(len(problem.columns)))
    everything |= {("surcharge", s) for s in range(len(problem.surcharges))}
    everything |= {("wait", t) for t in range(len(problem.columns)) if problem.wait[t] > 0}
    highest = problem.marginal
    if problem.case_prices is not None:  # of the list and of all cases
        highest = np.maximum(highest, problem.case_prices.max(axis=0, initial=0.0)).tolist()
    return ref.most(problem, everything, highest)


@st.composite
def priced_problems(draw, max_rows=40, max_columns=6, caps=True):
    """A problem with all kinds of prices."""
    problem = draw(problems(max_rows, max_columns))
    rng = np.random.default_rng(draw(SEEDS))
    return with_case_errors(rng, with_all_prices(rng, problem, caps))


def flag_nodes(rng, problem, node):
    """Give every node of a tree a commit at random and, half of the time, surcharges to expect."""
    share, expects = rng.choice([0.0, 0.3, 0.7]), bool(rng.integers(2))
    waiting = [node]
    while waiting:
        at = waiting.pop()
        at.commits = bool(at.children) and bool(rng.random() < share) and bool(problem.waiting)
        if expects:
            at.surcharges = [s.amount * rng.choice([0.0, 0.25, 1.0]) for s in problem.surcharges]
        waiting.extend(at.children)
    return node


@st.composite
def policies(draw, prunings=ref.PRUNINGS, idx_depth=(1,)):
    """A policy; one that looks ahead has the only criterion that can."""
    rng = np.random.default_rng(draw(SEEDS))
    ahead = int(rng.choice(idx_depth))
    return ref.Policy(
        criterion=str(rng.choice(ref.CRITERIA if ahead == 1 else ["gain-per-price"])),
        omega=float(rng.choice([1, 0.5, 0])),
        min_cases=float(rng.choice([1, 1, 1, 2, 3, 0.5])),
        min_share=float(rng.choice([0, 0.1])),
        max_depth=None if rng.random() < 0.8 else int(rng.integers(0, 4)),
        mdl_correction=bool(rng.integers(2)),
        context=bool(rng.integers(2)),
        idx_depth=ahead,
        answer=str(rng.choice(ref.ANSWERS)),
        prune=str(rng.choice(prunings)),
        raise_subtrees=bool(rng.integers(2)),
        confidence=float(rng.choice([0.25, 0.1, 0.6, 1, 0.003])),
    )


@st.composite
def fresh_cases(draw, problem, max_cases=20, min_cases=1):
    """Columns of cases to classify: old values, values between old ones, missing ones, nominal ones never seen."""
    rng = np.random.default_rng(draw(SEEDS))
    n = draw(st.integers(min_cases, max_cases))
    missing = rng.choice([0, 0.2, 0.6])
    columns = []
    for column, v in zip(problem.columns, problem.n_values, strict=True):
        gone = rng.random(n) < missing
        if v:
            codes = rng.integers(0, v, n)
            columns.append(np.where(gone, rng.choice([-1, v, v + 2], n), codes))
        else:
            old = column[~np.isnan(column)] if not np.all(np.isnan(column)) else np.zeros(1)
            share = rng.choice([0, 0.25, 0.5, 0.75], n)
            between = rng.choice(old, n) * share + rng.choice(old, n) * (1 - share)
            columns.append(np.where(gone, np.nan, between))
    return columns


@st.composite
def hand_written_trees(draw, problem, max_depth=4):
    """A tree that nobody has learned: answers at will, weights that need not add up or are not there at all."""
    rng = np.random.default_rng(draw(SEEDS))
    weightless = rng.choice([0, 0.3, 1])
    unknown = rng.choice([0, 0.3])
    n_answers = problem.errors.shape[1]

    def write(depth):
        weights = np.zeros(problem.k) if rng.random() < weightless else rng.integers(0, 5, problem.k).astype(float)
        node = ref.Node(weights, int(rng.integers(n_answers)))
        if depth == 0 or rng.random() < 0.2:
            return node
        node.column = int(rng.integers(len(problem.columns)))
        v = problem.n_values[node.column]
        n_branches = int(rng.integers(1, v + 1)) if v else 2
        if v:
            node.branch_of = np.where(rng.random(v) < unknown, -1, rng.integers(0, n_branches, v)).tolist()
        else:
            node.threshold = float(rng.choice(np.nan_to_num(problem.columns[node.column])))
        node.children = [write(depth - 1) for _ in range(n_branches)]
        return node

    return write(int(rng.integers(0, max_depth + 1)))

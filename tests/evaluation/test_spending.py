"""Where the money goes, against the oracle's sets of tests charged."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
import worthwhile as ww
from all_learners import COSTS, LEARNERS, make
from bridge import from_node
from handmade import tree, turney
from problems import compare, fresh_cases, hand_written_trees, problems
from worthwhile.evaluation.spending import Item, Spending, charged_tests, spending
from worthwhile.table.schema import Schema
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.nodes import Nodes


def as_costs(problem):
    """The prices of a problem as a user writes them."""
    names = [f"x{t}" for t in range(len(problem.columns))]
    tests = {
        name: ww.Test(
            float(problem.marginal[t]),
            group=f"g{problem.group[t]}" if problem.group[t] >= 0 else None,
            delayed=bool(problem.delayed[t]),
            requires=tuple(names[u] for u in problem.requires[t]),
        )
        for t, name in enumerate(names)
    }
    used = {int(g) for g in problem.group if g >= 0}
    classes, answers = range(problem.k), range(problem.errors.shape[1])
    errors = {c: {a: float(problem.errors[c][a]) for a in answers} for c in classes}
    return ww.Costs(tests=tests, groups={f"g{g}": float(problem.common[g]) for g in sorted(used)}, errors=errors)


def as_tree(problem, node):
    """A node of the oracle as a tree of the package."""
    names = tuple(f"x{t}" for t in range(len(problem.columns)))
    values = tuple(tuple(map(str, range(v))) if v else None for v in problem.n_values)
    nodes = Nodes.from_core(from_node(node, problem.k))
    return ww.Tree(nodes, ProblemContext.of(Schema(names, values), range(problem.k), as_costs(problem)))


def as_cases(problem, columns):
    """Columns as an X of objects: codes of nominal ones are texts, -1 is missing."""
    X = np.empty((len(columns[0]), len(columns)), dtype=object)
    for t, column in enumerate(columns):
        if problem.n_values[t]:
            X[:, t] = [None if code < 0 else str(code) for code in column]
        else:
            X[:, t] = column.tolist()
    return X


@compare(300)
@given(problem=problems(), data=st.data())
def test_every_test_is_charged_where_the_oracle_charges_it(problem, data):
    columns = data.draw(fresh_cases(problem))
    node = data.draw(hand_written_trees(problem))
    known, X = as_tree(problem, node), as_cases(problem, columns)
    rows = range(len(X))
    # What a class costs whatever the answer decides nothing; where shares of branches do not add up, the oracle would
    # let it.
    regrets = replace(problem, errors=problem.errors - problem.errors.min(axis=1, keepdims=True))
    expected = [ref.walk(regrets, ref.Policy(), node, [column[row] for column in columns]).charged for row in rows]
    charged = charged_tests(known, X)
    assert [set(np.flatnonzero(row).tolist()) for row in charged] == expected

    spent = spending(known, X)
    assert spent.n_cases == len(X)
    assert spent.total == pytest.approx(known.test_costs(X).mean(), rel=1e-12, abs=1e-12)
    for item in spent:
        t = int(item.name[1:])
        if item.kind == "test":
            has, price = [t in tests for tests in expected], problem.marginal[t]
        else:
            has = [any(problem.group[u] == t for u in tests) for tests in expected]
            price = problem.common[t]
        assert item.share == pytest.approx(np.mean(has))
        assert item.amount == pytest.approx(np.mean(has) * price)
        assert item.amount > 0
    assert [item.amount for item in spent] == sorted((item.amount for item in spent), reverse=True)


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_items_of_every_learner_add_up(learner):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (200, 4)).astype(float)
    y = ((X[:, 0] + X[:, 1] > 4) ^ (X[:, 2] > 3)).astype(int)
    X[rng.random(X.shape) < 0.05] = np.nan
    clf = make(learner, costs=COSTS).fit(X, y)
    spent = spending(clf, X)
    assert spent.total == pytest.approx(clf.test_costs(X).mean(), rel=1e-12)
    assert spent.total > 0
    prices = rng.choice([0.5, 2.0], X.shape)
    assert spending(clf, X, prices).total == pytest.approx(clf.test_costs(X, case_prices=prices).mean(), rel=1e-12)


def test_an_adaptive_forest_charges_what_its_cases_have_heard():
    heart = ww.datasets.load("heart")
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names, "random_state": 0}
    clf = ww.BudgetForestClassifier(adaptive=True, tests="chosen", budget=150, max_trees=12, **known).fit(
        heart.X, heart.y
    )
    spent = spending(clf, heart.X)
    assert spent.total == pytest.approx(clf.test_costs(heart.X).mean(), rel=1e-12)
    assert {item.kind for item in spent} == {"test", "group"}
    assert any(0 < item.share < 1 for item in spent)  # cases differ in how many trees they hear


def test_turneys_example():
    # alpha 3, delta 2: delta is delayed, so beta and epsilon are ordered with it (Turney 1995, section 2.1).
    spent = spending(tree(turney()), [[3, 0, "2", 0]])
    assert spent.to_dict() == {"beta": 10, "epsilon": 8, "alpha": 5, "delta": 5, "A (common price)": 2}
    assert spent.items[-1] == Item("A", "group", 2.0, 1.0)
    assert str(spent).splitlines() == [
        "all tests             30.00 per case",
        "beta                  10.00 per case 100.0% of cases",
        "epsilon                8.00 per case 100.0% of cases",
        "alpha                  5.00 per case 100.0% of cases",
        "delta                  5.00 per case 100.0% of cases",
        "A (common price)       2.00 per case 100.0% of cases",
    ]


def test_many_tests_and_dear_groups():
    """More tests than one pass tells apart, and common prices that no float can add a marginal price to."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 95)).astype(float)
    y = X[:, [3, 44, 90]].sum(axis=1)
    names = [f"x{t}" for t in range(95)]
    tests = {name: ww.Test(1e-3, group="far" if t % 2 else "near") for t, name in enumerate(names)}
    costs = ww.Costs(tests=tests, groups={"far": 1e17, "near": 3.0}, errors=1e20)
    clf = ww.C45Classifier(costs=costs, prune="none").fit(X, y)
    charged = charged_tests(clf, X)
    assert charged[:, [3, 44, 90]].any(axis=0).all()
    for row, case in zip(charged, X, strict=True):
        on_path = {line.split(" = ")[0] for line in str(clf.explain(dict(zip(names, case, strict=True)))).splitlines()}
        assert {names[t] for t in np.flatnonzero(row)} == on_path & set(names)


def test_inside_a_pipeline_and_where_nothing_is_paid():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10))
    piped = make_pipeline(FunctionTransformer(np.asarray), clf).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    assert spending(piped, [[1], [2]]).to_dict() == {"x0": 4.0}
    free = ww.DTMCClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    nothing = spending(free, [[1], [2]])
    assert (nothing.total, len(nothing), str(nothing)) == (0.0, 0, "all tests       0.00 per case")
    assert charged_tests(free, [[1]]).tolist() == [[True]]


def test_refusals():
    clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10)).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"case_prices has the shape \(1, 2\), expected \(2, 1\)"):
        spending(clf, [[1], [2]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="0 sample"):
        spending(clf, np.zeros((0, 1)))
    with pytest.raises(TypeError, match="list has no total_costs"):
        spending([], [[1]])
    with pytest.raises(Exception, match="not fitted"):
        spending(ww.C45Classifier(), [[1]])


def test_a_lazy_learner_charges_what_its_cases_are_asked():
    costs = ww.Costs(tests={"x0": 4, "x1": 2})
    X, y = [[1, 1], [2, 1], [1, 2], [2, 2]] * 3, [0, 1, 2, 2] * 3
    lazy = ww.CSID3Classifier(lazy=True, prune="none", costs=costs).fit(X, y)
    spent = spending(lazy, X)
    assert spent.total == pytest.approx(lazy.test_costs(X).mean())
    assert spent.to_dict() == {"x0": 2.0, "x1": 2.0}


def test_an_item_tells_groups_from_tests():
    both = Spending((Item("blood", "test", 3.0, 1.0), Item("blood", "group", 2.0, 1.0)), 1)
    assert both.to_dict() == {"blood": 3.0, "blood (common price)": 2.0}

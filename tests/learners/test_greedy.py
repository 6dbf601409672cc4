"""The greedy learners: properties that must hold, and every option changes something."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import worthwhile as ww
from all_learners import GREEDY, LEARNERS
from interrupting import run_interrupted

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 5))
Y = ((X[:, 0] + X[:, 1] * X[:, 2] + 0.4 * RNG.normal(size=300) > 0) + (X[:, 3] > 1)).astype(int)
ERRORS = {0: {1: 30.0, 2: 10.0}, 1: {0: 20.0, 2: 60.0}, 2: {0: 50.0, 1: 15.0}}
COSTS = ww.Costs(
    tests={
        "x0": ww.Test(4.0, group="g"),
        "x1": ww.Test(2.0, group="g", delayed=True),
        "x2": ww.Test(1.0, delayed=True),
        "x3": 0.5,
        "x4": ww.Test(0.0, requires=("x0", "x3")),
    },
    groups={"g": 3.0},
    errors=ERRORS,
)
DATA = {name: ww.datasets.load(name) for name in ("bupa", "heart", "pima")}


def shape(tree, node=0):
    """The tests and leaves of a tree as nested tuples, without thresholds and weights."""
    return (int(tree.nodes.test[node]), *(shape(tree, child) for child in tree.nodes.children(node)))


def scaled(costs, factor):
    tests = {n: ww.Test(t.price * factor, t.group, t.delayed, t.requires) for n, t in costs.tests.items()}
    errors = {t: {a: c * factor for a, c in row.items()} for t, row in costs.errors.items()}
    return ww.Costs(tests=tests, groups={g: c * factor for g, c in costs.groups.items()}, errors=errors)


# --- properties ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.25, 8, 1024])
@pytest.mark.parametrize(
    "clf",
    [
        ww.DTMCClassifier(),
        ww.DTMCClassifier(prune="cost"),
        ww.C45Classifier(prune="cost"),
        ww.C45Classifier(prune="cost", answer="least-cost"),
        ww.IDXClassifier(prune="cost", context=True),
        ww.CSID3Classifier(prune="cost"),
    ],
    ids=repr,
)
def test_scaling_all_costs_scales_the_total(clf, factor):
    high = COSTS.with_errors({t: {a: 10 * c for a, c in row.items()} for t, row in ERRORS.items()})
    one = clf.set_params(costs=high).fit(X, Y)
    costs = one.total_costs(X, Y)
    tree = one.tree_
    other = clf.set_params(costs=scaled(high, factor)).fit(X, Y)
    assert shape(other.tree_) == shape(tree)
    np.testing.assert_array_equal(other.tree_.nodes.threshold, tree.nodes.threshold)
    np.testing.assert_allclose(other.total_costs(X, Y), costs * factor)
    assert tree.n_leaves > 1


@pytest.mark.parametrize("learner", GREEDY)
def test_the_order_of_rows_and_columns_and_the_names_of_classes_do_not_matter(learner):
    # The data are continuous, and no two columns divide 15 cases alike: no ties.
    for settings in ({"prune": "cost", "min_cases": 15}, {"prune": "none", "min_cases": 15}):
        clf = learner(costs=COSTS, **settings).fit(X, Y)
        expected = clf.total_costs(X, Y)
        rows = RNG.permutation(len(X))
        np.testing.assert_allclose(clf.fit(X[rows], Y[rows]).total_costs(X, Y), expected)
        order = [3, 1, 4, 0, 2]
        moved = learner(costs=COSTS, **settings, columns=[f"x{j}" for j in order]).fit(X[:, order], Y)
        np.testing.assert_allclose(moved.total_costs(X[:, order], Y), expected)
        names = np.array(["class 0", "class 1", "class 2"])
        renamed = learner(costs=COSTS.with_errors(named(ERRORS, names)), **settings).fit(X, names[Y])
        np.testing.assert_allclose(renamed.total_costs(X, names[Y]), expected)


@pytest.mark.parametrize("learner", GREEDY)
def test_the_order_of_classes_does_not_matter_where_no_two_answers_cost_the_same(learner):
    errors = {t: {a: c * np.sqrt(2 + t + 3 * a) for a, c in row.items()} for t, row in ERRORS.items()}
    names = np.array(["zero", "one", "two"])
    # Without folds: which cases are left out depends on the order of the classes, and with them the shrinkage.
    settings = {"prune": "cost", "answer": "least-cost", "cross_fit": False}
    clf = learner(costs=COSTS.with_errors(errors), **settings).fit(X, Y)
    renamed = learner(costs=COSTS.with_errors(named(errors, names)), **settings).fit(X, names[Y])
    np.testing.assert_allclose(renamed.total_costs(X, names[Y]), clf.total_costs(X, Y))


def named(errors, names):
    return {str(names[t]): {str(names[a]): c for a, c in row.items()} for t, row in errors.items()}


@pytest.mark.parametrize("learner", GREEDY)
def test_weights_are_copies_and_zero_is_removal(learner):
    times = RNG.integers(0, 3, len(X))
    times[:3] = 1
    weighted = learner(costs=COSTS).fit(X, Y, sample_weight=times)
    copied = learner(costs=COSTS).fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    assert shape(weighted.tree_) == shape(copied.tree_)
    np.testing.assert_allclose(weighted.tree_.nodes.threshold, copied.tree_.nodes.threshold)
    np.testing.assert_allclose(weighted.total_costs(X, Y), copied.total_costs(X, Y))
    present = learner(costs=COSTS).fit(X, Y, sample_weight=(times > 0).astype(float))
    removed = learner(costs=COSTS).fit(X[times > 0], Y[times > 0])
    assert present.tree_.to_json() == removed.tree_.to_json()
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert shape(learner().fit(frame, Y, sample_weight=times).tree_) == shape(
        learner().fit(X, Y, sample_weight=times).tree_
    )


def test_without_prices_eg2_is_the_ordinary_tree():
    options = {"prune": "none", "min_cases": 1, "min_share": 0.0}
    free = ww.EG2Classifier(**options).fit(X, Y)
    blind = ww.EG2Classifier(**options, costs=COSTS, omega=0.0).fit(X, Y)
    assert shape(free.tree_) == shape(blind.tree_)
    np.testing.assert_array_equal(free.tree_.nodes.threshold, blind.tree_.nodes.threshold)
    assert shape(ww.EG2Classifier(**options, costs=COSTS).fit(X, Y).tree_) != shape(free.tree_)


def entropy(y):
    p = np.bincount(y) / len(y)
    return -(p[p > 0] * np.log2(p[p > 0])).sum()


def gain(y, left):
    return entropy(y) - left.mean() * entropy(y[left]) - (~left).mean() * entropy(y[~left])


def test_the_ordinary_tree_is_that_of_scikit_learn_up_to_ties():
    ours = ww.EG2Classifier(prune="none", min_cases=1, min_share=0.0).fit(X, Y)
    theirs = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, Y)
    assert ours.score(X, Y) == theirs.score(X, Y) == 1
    nodes, tree = ours.tree_.nodes, theirs.tree_
    todo, same = [(0, 0, np.arange(len(X)))], 0
    while todo:
        mine, other, rows = todo.pop()
        assert (nodes.test[mine] < 0) == (tree.children_left[other] < 0)
        if nodes.test[mine] < 0:
            continue
        left = X[rows, nodes.test[mine]] <= nodes.threshold[mine]
        their_left = X[rows, tree.feature[other]] <= tree.threshold[other]
        assert gain(Y[rows], left) == pytest.approx(gain(Y[rows], their_left), abs=1e-9)
        if (left == their_left).all():
            same += 1
            a, b = nodes.children(mine)
            todo += [(a, tree.children_left[other], rows[left]), (b, tree.children_right[other], rows[~left])]
    assert same > 20


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    "clf", [ww.DTMCClassifier(), ww.EG2Classifier(prune="cost"), ww.C45Classifier(prune="cost")], ids=repr
)
def test_more_error_cost_never_gives_less_testing(clf, name):
    data = DATA[name]
    spent = []
    for error in (1, 10, 50, 100, 500, 1000, 5000, 10000, 10**6):
        clf.set_params(costs=data.costs.with_errors(error)).fit(data.X, data.y)
        spent.append(clf.test_costs(data.X).mean())
    assert (np.diff(spent) >= -1e-9).all()
    assert spent[0] == 0 < spent[-1]


@pytest.mark.parametrize("learner", GREEDY)
def test_one_class_one_case_constant_columns(learner):
    assert learner(costs=ww.Costs(tests={"x0": 1})).fit([[1.0], [2.0]], ["a", "a"]).test_costs([[5]]).tolist() == [0]
    assert learner().fit([[1.0]], ["a"]).predict([[7], [np.nan]]).tolist() == ["a", "a"]
    assert learner(prune="none").fit([[1.0]] * 9, [0, 1, 1] * 3).predict([[7]]).tolist() == [1]


# --- every option changes something ----------------------------------------------------------------------------------


def leaves(clf, data=None, y=None):
    return clf.fit(X if data is None else data, Y if y is None else y).tree_.n_leaves


def test_prune_and_confidence():
    sizes = {prune: leaves(ww.C45Classifier(prune=prune, costs=COSTS)) for prune in ("none", "pessimistic", "cost")}
    assert sizes["cost"] < sizes["none"] > sizes["pessimistic"] > 1
    assert leaves(ww.C45Classifier(confidence=0.01)) < leaves(ww.C45Classifier(confidence=0.9))


def test_raise_subtrees():
    data = DATA["heart"]
    raised = ww.C45Classifier().fit(data.X, data.y).tree_
    assert shape(raised) != shape(ww.C45Classifier(raise_subtrees=False).fit(data.X, data.y).tree_)


def test_sizes():
    whole = leaves(ww.C45Classifier(prune="none", min_cases=1, min_share=0.0))
    assert leaves(ww.C45Classifier(prune="none", min_cases=10, min_share=0.0)) < whole
    assert leaves(ww.C45Classifier(prune="none", min_cases=1, min_share=1.0)) < whole
    assert ww.C45Classifier(prune="none", max_depth=2).fit(X, Y).tree_.depth == 2
    assert leaves(ww.C45Classifier(prune="none", min_cases=1, min_share=0, max_depth=10**12)) == whole


def test_the_mdl_correction_takes_fewer_numeric_tests():
    data = DATA["bupa"]
    assert (
        leaves(ww.C45Classifier(mdl_correction=True), data.X, data.y) < leaves(ww.C45Classifier(), data.X, data.y) / 2
    )
    assert leaves(ww.C45Classifier(mdl_correction=np.True_)) == leaves(ww.C45Classifier(mdl_correction=True))


def test_omega_makes_prices_count():
    data = DATA["heart"]
    spent = [
        ww.EG2Classifier(costs=data.costs, omega=w).fit(data.X, data.y).test_costs(data.X).mean() for w in (0, 0.3, 1)
    ]
    assert spent[0] > spent[1] > spent[2]


@pytest.mark.parametrize("learner", [ww.EG2Classifier, ww.IDXClassifier, ww.CSID3Classifier, ww.DTMCClassifier])
def test_context_sees_what_is_paid(learner):
    # x0 tells class 0 from the rest; x1 and x2 tell the rest apart. By the list x2 is cheaper, below x0 it is x1.
    rows = np.array([[a, b, b] for a in (0, 1) for b in (0, 1)] * 5, dtype=float)
    y = np.where(rows[:, 0] == 0, 0, 1 + rows[:, 1]).astype(int)
    tests = {"x0": ww.Test(0.0, group="g"), "x1": ww.Test(1.0, group="g"), "x2": 2.9}
    costs = ww.Costs(tests=tests, groups={"g": 5.0}, errors=100)
    used = [learner(costs=costs, context=c).fit(rows, y).tree_.tests_used() for c in (False, True)]
    assert used == [["x0", "x2"], ["x0", "x1"]]


def test_least_cost_answers_are_cheaper():
    costs = COSTS.with_errors({0: {1: 500, 2: 500}, 1: {0: 1, 2: 1}, 2: {0: 1, 1: 1}})
    costs_of = {
        answer: ww.C45Classifier(costs=costs, answer=answer, max_depth=2).fit(X, Y).total_costs(X, Y).mean()
        for answer in ("majority", "least-cost")
    }
    assert costs_of["least-cost"] < costs_of["majority"]


def test_lookahead_finds_what_single_tests_hide():
    bits = RNG.integers(0, 2, (200, 5)).astype(float)
    y = bits[:, 1].astype(int) ^ bits[:, 3].astype(int) ^ bits[:, 4].astype(int)
    scores = [ww.IDXClassifier(lookahead=n, max_depth=3, prune="none").fit(bits, y).score(bits, y) for n in (1, 3)]
    assert scores[1] == 1 > scores[0]


def test_hierarchies_group_values():
    values = np.array([f"v{i}" for i in range(12)])
    isa = {f"v{i}": "low" if i < 6 else "high" for i in range(12)}
    column = RNG.choice(values, 240)
    y = [int(isa[v] == "high") for v in column]
    data = pd.DataFrame({"v": column})
    assert leaves(ww.EG2Classifier(min_cases=1), data, y) == 12
    grouped = ww.EG2Classifier(min_cases=1, hierarchies={"v": isa}).fit(data, y)
    # Equal gain: the ungrouped test comes first, the grouped one needs to be better; noise on the values makes it so.
    assert grouped.score(data, y) == 1
    noisy = pd.DataFrame({"v": column, "n": RNG.normal(size=240)})
    few = [np.flatnonzero(column == v)[0] for v in values]  # one case per value
    tree = ww.EG2Classifier(min_cases=2, hierarchies={"v": isa}).fit(noisy.iloc[few], np.array(y)[few]).tree_
    assert tree.n_leaves == 2
    assert "v0 or v1" in tree.to_text()
    assert tree.predict(noisy).tolist() == y
    assert ww.EG2Classifier(min_cases=2).fit(noisy[["v"]].iloc[few], np.array(y)[few]).tree_.n_leaves == 1


# --- CS-ID3, lazily --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["majority", "least-cost"])
@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("weights", [None, "some"])
def test_lazy_evaluation_is_the_full_tree(missing, answer, weights):
    data = pd.DataFrame(np.round(X, 1), columns=[f"x{j}" for j in range(5)])
    data["x3"] = np.where(data["x3"] > 0.5, "high", np.where(data["x3"] < -0.5, "low", "mid"))
    data = data.mask(RNG.random(data.shape) < missing)
    weights = None if weights is None else RNG.integers(0, 4, 300) / 2
    # A lazy tree does all tests also where they no longer pay after a missing value; free tests always pay.
    costs = ww.Costs(errors=COSTS.errors) if missing else COSTS
    options = {"costs": costs, "prune": "none", "answer": answer}
    training = data.iloc[:200], Y[:200], None if weights is None else weights[:200]
    full = ww.CSID3Classifier(**options, cross_fit=False).fit(*training)
    lazy = ww.CSID3Classifier(**options, lazy=True).fit(*training)
    fresh = data.mask(RNG.random(data.shape) < 0.2) if missing else data
    if missing:
        fresh.loc[5, "x3"] = "never seen"
    np.testing.assert_array_equal(lazy.predict(fresh), full.predict(fresh))
    np.testing.assert_allclose(lazy.predict_proba(fresh), full.predict_proba(fresh))
    np.testing.assert_allclose(lazy.test_costs(fresh), full.test_costs(fresh))
    np.testing.assert_allclose(lazy.total_costs(fresh, Y), full.total_costs(fresh, Y))
    assert missing or full.test_costs(fresh).std() > 0


def test_a_lazy_learner_keeps_its_own_copy():
    mine, weights = X.copy(), np.ones(300)
    weights[0] = 2
    clf = ww.CSID3Classifier(lazy=True, prune="none").fit(mine, Y, weights)
    before = clf.predict(X)
    mine[:], weights[:] = 0, 0
    np.testing.assert_array_equal(clf.predict(X), before)


def test_a_lazy_learner_grows_its_tree_when_it_is_needed(tmp_path):
    options = {"costs": COSTS, "prune": "none"}
    full, lazy = ww.CSID3Classifier(**options).fit(X, Y), ww.CSID3Classifier(**options, lazy=True)
    case = {f"x{j}": X[0, j] for j in range(5)}
    uses = {
        "advice": lambda clf: clf.next_test({}),
        "explanation": lambda clf: str(clf.explain(case)),
        "rules": lambda clf: clf.rules(),
        "prices by case": lambda clf: clf.test_costs(X, np.full(X.shape, 2.0)).tolist(),
        "file": lambda clf: clf.save(tmp_path / "lazy.json"),
    }
    for name, use in uses.items():
        lazy.fit(X, Y).predict(X)
        assert not hasattr(lazy, "tree_"), name
        assert use(lazy) == use(full), name
        assert lazy.tree_.to_json() == full.tree_.to_json(), name
    lazy.save(tmp_path / "lazy.json")
    assert ww.load(tmp_path / "lazy.json").tree_.to_text() == full.tree_.to_text()


def test_lazy_is_what_it_was_in_fit():
    clf = ww.CSID3Classifier(lazy=True, prune="none").fit(X, Y)
    expected = clf.predict(X)
    np.testing.assert_array_equal(clf.set_params(lazy=False).predict(X), expected)
    assert not hasattr(clf, "tree_")
    assert clf.fit(X, Y).tree_.n_leaves > 1
    np.testing.assert_array_equal(clf.set_params(lazy=True).predict(X), expected)
    assert not hasattr(clf.fit(X, Y), "tree_")
    with pytest.raises(ValueError, match="prune='none' and max_leaves=None, got prune='cost'"):
        clf.set_params(prune="cost").fit(X, Y)


# --- parameters ------------------------------------------------------------------------------------------------------


def test_constructors_take_keywords_only():
    for learner in LEARNERS:
        with pytest.raises(TypeError):
            learner(COSTS)


@pytest.mark.parametrize("n_jobs", [1, 2, -1, 10**6])
def test_threads_do_not_change_the_tree(n_jobs):
    big = RNG.normal(size=(20_000, 6))
    y = (big[:, 0] * big[:, 1] > 0.1).astype(int)
    one = ww.EG2Classifier(min_cases=50).fit(big, y)
    many = ww.EG2Classifier(min_cases=50, n_jobs=n_jobs).fit(big, y)
    assert many.tree_.to_json() == one.tree_.to_json()
    np.testing.assert_array_equal(many.predict_proba(big), one.predict_proba(big))


def test_ctrl_c_ends_a_long_fit():
    out, err = run_interrupted("""
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(20_000, 30)), rng.integers(0, 2, 20_000)
        interrupt_in("grow")
        ww.IDXClassifier(prune="none", min_cases=1, lookahead=3).fit(X, y)
        print("finished")
    """)
    assert out == ""
    assert "KeyboardInterrupt" in err

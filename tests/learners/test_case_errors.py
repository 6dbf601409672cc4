"""Learners with error costs that depend on the case."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worthwhile as ww

ERRORS = {"bad": {"good": 100.0}, "good": {"bad": 10.0}}
MATRIX = np.array([[0.0, 100.0], [10.0, 0.0]])
LISTED = ww.Costs(tests={"x0": 1.0, "x1": 2.0}, errors=ERRORS)
QUICK = {ww.ICETClassifier: {"trials": 60}, ww.BudgetForestClassifier: {"max_trees": 4}, ww.LSID3Classifier: {"r": 1}}
LEARNERS = [
    ww.C45Classifier, ww.C45CSClassifier, ww.EG2Classifier, ww.IDXClassifier, ww.CSID3Classifier, ww.DTMCClassifier,
    ww.LSID3Classifier, ww.ACTClassifier, ww.ICETClassifier, ww.BudgetForestClassifier,
]  # fmt: skip


def by_cost(learner, **parameters):
    """A learner that prunes and answers by cost, where it may do otherwise."""
    if learner in (ww.C45Classifier, ww.EG2Classifier, ww.IDXClassifier, ww.CSID3Classifier, ww.LSID3Classifier):
        parameters = {"prune": "cost", "answer": "least-cost"} | parameters
    return learner(**({"random_state": 0} | QUICK.get(learner, {}) | parameters))


def loans(n=300, seed=0, missing=0.0):
    """Loans: a bad one loses its amount, refusing a good one a tenth of it; the amount is the last column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.8, "bad", "good")
    X[:, 3] = amount = rng.exponential(100, n).round()
    E = np.where(
        (y == "bad")[:, None], np.column_stack([0 * amount, amount]), np.column_stack([amount / 10, 0 * amount])
    )
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, E


def reached(tree, X):
    """Yield every leaf with the cases that end in it; all values are known."""
    leaf = tree.apply(X)
    for node in np.unique(leaf):
        yield node, leaf == node


@pytest.mark.filterwarnings("ignore:BudgetForestClassifier")
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("learner", LEARNERS)
def test_costs_that_are_those_of_the_class_change_nothing(learner, missing):
    X, y, _ = loans(150, missing=missing)
    rows = MATRIX[(y == "good").astype(int)]
    without = by_cost(learner, costs=LISTED).fit(X, y)
    clf = by_cost(learner, costs=LISTED).fit(X, y, case_errors=rows)
    assert clf._document() == without._document()
    assert clf.predict_proba(X).tolist() == without.predict_proba(X).tolist()


@pytest.mark.filterwarnings("ignore:BudgetForestClassifier")
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_multiple_of_the_costs_of_the_class_is_another_price_list(learner):
    X, y, _ = loans(150)
    rows = MATRIX[(y == "good").astype(int)]
    tripled = LISTED.with_errors({truth: {a: 3 * c for a, c in row.items()} for truth, row in ERRORS.items()})
    by_case = by_cost(learner, costs=LISTED).fit(X, y, case_errors=3 * rows)
    by_list = by_cost(learner, costs=tripled).fit(X, y)
    assert by_case.predict(X).tolist() == by_list.predict(X).tolist()
    assert by_case.expected_cost_ == by_list.expected_cost_
    assert by_case.total_costs(X, y).tolist() == by_list.total_costs(X, y).tolist()


TREES = [
    ww.C45Classifier,
    ww.C45CSClassifier,
    ww.EG2Classifier,
    ww.DTMCClassifier,
    ww.LSID3Classifier,
    ww.ACTClassifier,
]


@pytest.mark.parametrize("reject", [False, True])
@pytest.mark.parametrize("learner", TREES)
def test_every_leaf_gives_the_answer_that_costs_its_cases_least(learner, reject):
    X, y, E = loans()
    costs = LISTED
    if reject:
        costs = LISTED.with_errors({t: {**row, "unknown": 20.0} for t, row in ERRORS.items()})
        E = np.column_stack([E, np.full(len(y), 6.0)])
    parameters = {"weighting": None, "prune": "cost", "answer": "least-cost"} if learner is ww.C45CSClassifier else {}
    clf = by_cost(learner, costs=costs, cross_fit=False, **parameters).fit(X, y, case_errors=E)
    tree = clf.tree_
    if learner is not ww.ACTClassifier:  # whose leaves answer by soft labels, unless the trees are cross-fitted
        for node, here in reached(tree, X):
            summed = E[here].sum(axis=0)
            assert summed[tree.nodes.answer[node]] == pytest.approx(summed.min(), rel=1e-9)
            assert tree.nodes.answer_costs[node] == pytest.approx(E[here].mean(axis=0), rel=1e-9)
    assert tree.nodes.answer_costs[0] == pytest.approx(E.mean(axis=0), rel=1e-9)
    assert tree.answers == (("bad", "good", "unknown") if reject else ("bad", "good"))
    if reject:
        assert "unknown" in clf.predict(X)


@pytest.mark.parametrize("learner", [ww.ACTClassifier, ww.ICETClassifier])
def test_refined_learners_answer_by_the_shrunk_costs_of_their_cases(learner):
    X, y, E = loans()
    tree = by_cost(learner, costs=LISTED).fit(X, y, case_errors=E).tree_
    costs = tree.nodes.answer_costs
    assert tree.nodes.answer.tolist() == costs.argmin(axis=1).tolist()
    for node, here in reached(tree, X):
        if node:  # between the mean of its own cases and that of the node above
            above = next(n for n in range(tree.n_nodes) if node in tree.nodes.children(n))
            low, high = (pick(E[here].mean(axis=0), costs[above]) for pick in (np.minimum, np.maximum))
            assert (costs[node] >= low - 1e-9).all()
            assert (costs[node] <= high + 1e-9).all()


def brute_force(x, E, price, min_cases=2):
    """The best split of one numeric test, or none: the cost of the best answers, below and above it."""
    least = E.sum(axis=0).min()
    found = None
    values = np.unique(x)
    for low, high in itertools.pairwise(values):
        left = x <= low
        if min(left.sum(), (~left).sum()) >= min_cases:
            cost = E[left].sum(axis=0).min() + E[~left].sum(axis=0).min() + price * len(x)
            if cost < least - 1e-6:
                least, found = cost, (low, high)
    return least, found


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(6, 40), price=st.sampled_from([0.0, 1.0, 5.0]))
def test_dtmc_takes_the_cut_that_saves_most_by_the_costs_of_the_cases(seed, n, price):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 8, n).astype(float), rng.integers(0, 2, n)
    y[:2] = 0, 1
    E = rng.integers(0, 50, (n, 2)).astype(float)
    E[np.arange(n), y] = rng.integers(0, 3, n)
    clf = ww.DTMCClassifier(
        costs=ww.Costs(tests={"x0": price}), cross_fit=False, max_depth=1, min_share=0.0
    ).fit(x[:, None], y, case_errors=E)  # fmt: skip
    least, cut = brute_force(x, E, price)
    assert (clf.tree_.n_leaves == 2) == (cut is not None)
    assert clf.total_costs(x[:, None], y, case_errors=E).sum() == pytest.approx(least, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_dtmc_takes_the_nominal_test_that_saves_most_by_the_costs_of_the_cases(seed):
    rng = np.random.default_rng(seed)
    n = 30
    X, y = rng.integers(0, 3, (n, 3)).astype(str), rng.integers(0, 2, n)
    E = rng.integers(0, 50, (n, 2)).astype(float)
    E[np.arange(n), y] = 0
    clf = ww.DTMCClassifier(cross_fit=False, max_depth=1, min_cases=1).fit(X, y, case_errors=E)
    costs = [E.sum(axis=0).min()]
    costs += [sum(E[X[:, j] == v].sum(axis=0).min() for v in np.unique(X[:, j])) for j in range(3)]
    assert clf.total_costs(X, y, case_errors=E).sum() == pytest.approx(min(costs), rel=1e-9)


def test_pruning_by_cost_keeps_what_pays_by_the_costs_of_the_cases():
    # Only the few expensive cases are told apart: by the costs of the class, nothing is gained.
    x = np.repeat([0.0, 1.0], 40)
    y = np.tile(["a", "b"], 40)
    E = np.zeros((80, 2))
    E[(y == "a"), 1] = np.where(x[y == "a"] > 0, 100.0, 1.0)
    E[(y == "b"), 0] = np.where(x[y == "b"] > 0, 1.0, 100.0)
    assert ww.DTMCClassifier(prune="cost").fit(x[:, None], y).tree_.n_leaves == 1
    clf = ww.DTMCClassifier(prune="cost").fit(x[:, None], y, case_errors=E)
    assert clf.predict([[0.0], [1.0]]).tolist() == ["b", "a"]
    assert clf.total_costs(x[:, None], y, case_errors=E).mean() == 0.5
    assert clf.expected_cost_ == pytest.approx(0.5)


def test_the_core_values_trees_by_the_costs_of_the_cases():
    """Without pessimism, the training cost of a leaf is the sum of what its answer costs its cases."""
    X, y, E = loans()
    clf = ww.DTMCClassifier(costs=LISTED, cross_fit=False, confidence=1.0, max_leaves=4).fit(X, y, case_errors=E)
    assert clf.tree_.n_leaves <= 4
    assert clf.leaf_limit_.cost >= clf.total_costs(X, y, case_errors=E).mean() - 1e-6


@pytest.mark.filterwarnings("ignore:BudgetForestClassifier")
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_expected_cost_counts_the_costs_of_the_cases(learner):
    X, y, E = loans(400)
    X_new, y_new, E_new = loans(2000, seed=1)
    clf = by_cost(learner, costs=LISTED).fit(X, y, case_errors=E)
    low, high = clf.expected_cost_interval_
    found = clf.total_costs(X_new, y_new, case_errors=E_new).mean()
    assert low * 0.8 <= found <= high * 1.2
    # Without costs of their own, new cases cost the mean of their class.
    means = np.array([E[y == label].mean(axis=0) for label in clf.classes_])
    assert clf.problem_.error_costs == pytest.approx(means)
    charged = clf.total_costs(X_new, y_new) - clf.test_costs(X_new)
    answers = np.searchsorted(clf.classes_, clf.predict(X_new))
    assert charged == pytest.approx(means[np.searchsorted(clf.classes_, y_new), answers], abs=1e-6)


@pytest.mark.parametrize("learner", [ww.DTMCClassifier, ww.ACTClassifier, ww.ICETClassifier])
def test_learning_from_the_costs_of_the_cases_saves_money(learner):
    X, y, E = loans(600)
    X_new, y_new, E_new = loans(3000, seed=1)
    plain = by_cost(learner, costs=LISTED).fit(X, y)
    clf = by_cost(learner, costs=LISTED).fit(X, y, case_errors=E)
    means = by_cost(learner, costs=clf.problem_.costs).fit(X, y)
    own, *others = (one.total_costs(X_new, y_new, case_errors=E_new).mean() for one in (clf, plain, means))
    assert own < min(others) + 0.3


@pytest.mark.usefixtures("repeats")
def test_weights_of_cases_and_costs_of_cases_multiply():
    X, y, E = loans(200)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted = ww.DTMCClassifier(costs=LISTED).fit(X, y, sample_weight=weights, case_errors=E)
    repeated = ww.DTMCClassifier(costs=LISTED).fit(X[rows], y[rows], case_errors=E[rows])
    assert weighted.tree_.to_text() == repeated.tree_.to_text()
    assert weighted.expected_cost_ == pytest.approx(repeated.expected_cost_, rel=1e-9)
    left_out = np.where(y == "bad", weights, 0) + (X[:, 1] > 0)
    some = ww.DTMCClassifier(costs=LISTED).fit(X, y, sample_weight=left_out, case_errors=E)
    kept = left_out > 0
    same = ww.DTMCClassifier(costs=LISTED).fit(X[kept], y[kept], sample_weight=left_out[kept], case_errors=E[kept])
    assert some.tree_.to_json() == same.tree_.to_json()


def test_cases_that_cost_more_weigh_more():
    X, y, E = loans()
    clf = ww.C45CSClassifier(costs=LISTED, cross_fit=False).fit(X, y, case_errors=E)
    wrong = E.sum(axis=1)
    weighted = ww.C45Classifier(costs=LISTED, cross_fit=False).fit(X, y, sample_weight=wrong * len(y) / wrong.sum())
    assert clf.predict(X).tolist() == weighted.predict(X).tolist()
    with pytest.raises(ValueError, match="no wrong answer costs any case more than the right one"):
        ww.C45CSClassifier().fit(X, y, case_errors=np.ones_like(E) * X[:, [3]])


@pytest.mark.parametrize("learner", [ww.DTMCClassifier, ww.EG2Classifier, ww.ACTClassifier])
def test_advice_and_files_have_the_costs_of_the_cases(learner, tmp_path):
    X, y, E = loans(missing=0.1)
    clf = by_cost(learner, costs=LISTED).fit(X, y, case_errors=E)
    tree = clf.tree_
    advice = clf.next_test({})
    assert advice.stop_cost == pytest.approx(tree.nodes.answer_costs[0].min())
    assert advice.stop_cost == pytest.approx(E.mean(axis=0).min(), rel=1e-6)
    clf.save(tmp_path / "model.json")
    again = ww.load(tmp_path / "model.json")
    assert again.tree_.to_text() == tree.to_text()  # with what errors cost in every node
    assert again.tree_.to_json() == ww.Tree.from_json(tree.to_json()).to_json()
    assert again.predict(X).tolist() == clf.predict(X).tolist()
    assert again.total_costs(X, y, case_errors=E).tolist() == clf.total_costs(X, y, case_errors=E).tolist()
    assert '"needs": ["answer_costs"]' in (tmp_path / "model.json").read_text()
    # One case is answered as in a table, also after an unavailable test.
    for row in range(40):
        case = {name: None if np.isnan(value) else value for name, value in zip(tree.columns, X[row], strict=True)}
        assert clf.next_test(case).answer == clf.predict(X[[row]])[0]


def test_lazy_trees_are_grown_and_answer_by_the_costs_of_the_cases():
    X, y, E = loans(120)
    known = {"costs": LISTED, "prune": "none", "answer": "least-cost", "cross_fit": False}
    whole = ww.CSID3Classifier(**known).fit(X, y, case_errors=E)
    lazy = ww.CSID3Classifier(lazy=True, **known).fit(X, y, case_errors=E)
    assert lazy.predict(X).tolist() == whole.predict(X).tolist()


def test_icet_in_processes_knows_what_depends_on_the_case():
    from joblib import parallel_config

    X, y, E = loans(120)
    prices = np.column_stack([X[:, 3] / 50, X[:, 3] / 100, 0 * X[:, 3], 0 * X[:, 3]])
    known = {"costs": LISTED, "trials": 30, "random_state": 0, "cross_fit": False}
    here = ww.ICETClassifier(**known).fit(X, y, case_prices=prices, case_errors=E)
    with parallel_config("loky", n_jobs=2):
        there = ww.ICETClassifier(n_jobs=2, **known).fit(X, y, case_prices=prices, case_errors=E)
    assert there.fitness_ == here.fitness_
    assert there.tree_.to_json() == here.tree_.to_json()


def test_frames_are_read_by_the_name_of_the_answer():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    X, y, E = loans(100)
    expected = ww.DTMCClassifier(costs=LISTED).fit(X, y, case_errors=E).tree_.to_json()
    by_name = {"good": E[:, 1], "bad": E[:, 0]}
    for frame in (pd.DataFrame(by_name), pl.DataFrame(by_name), E.tolist()):
        assert ww.DTMCClassifier(costs=LISTED).fit(X, y, case_errors=frame).tree_.to_json() == expected
    numbers = pd.DataFrame({1: E[:, 1], 0: E[:, 0]})
    uniform = ww.Costs(tests={"x0": 1.0, "x1": 2.0})
    clf = ww.DTMCClassifier(costs=uniform).fit(X, (y == "good").astype(int), case_errors=numbers)
    assert (
        clf.predict(X).tolist()
        == (ww.DTMCClassifier(costs=LISTED).fit(X, y, case_errors=E).predict(X) == "good").tolist()
    )


def test_prices_by_case_are_in_the_same_money_as_errors():
    # A price list without prices: those of the cases must not be compared with scaled errors.
    x, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat(["a", "b"], 20)
    for price, leaves in ((400.0, 2), (600.0, 1)):
        clf = ww.DTMCClassifier(costs=ww.Costs(errors=1000.0)).fit(x, y, case_prices=np.full((40, 1), price))
        assert clf.tree_.n_leaves == leaves


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        (np.ones((3, 2)), r"case_errors has the shape \(3, 2\), expected \(4, 2\): one cost per case and answer"),
        (np.ones((4, 3)), r"case_errors has the shape \(4, 3\), expected \(4, 2\).*'a', 'b'"),
        ([[0, 1], [1, np.nan], [0, 0], [0, 0]], r"must be finite.*row 1, answer 'b': nan"),
        ([[0, 1], [1, 0], [0, np.inf], [0, 0]], r"must be finite.*row 2, answer 'b': inf"),
        ([["x", "y"]] * 4, "case_errors must be a table of numbers"),
    ],
)
def test_wrong_costs_of_cases_are_refused(errors, message):
    with pytest.raises(ValueError, match=message):
        ww.DTMCClassifier().fit([[1], [2], [3], [4]], ["a", "a", "b", "b"], case_errors=errors)


def test_wrong_frames_of_costs_are_refused():
    pd = pytest.importorskip("pandas")
    cases = [[1], [2]], ["a", "b"]
    for columns, message in (
        ({"a": [0, 1], "c": [1, 0]}, "has the column 'c', which is not an answer; valid: 'a', 'b'"),
        ({"a": [0, 1]}, "lacks the column 'b'; it needs a cost for every answer"),
        ({"a": [0, 1], "b": ["x", "y"]}, "must be numbers, but the column 'b' is not"),
    ):
        with pytest.raises(ValueError, match=f"case_errors {message}"):
            ww.DTMCClassifier().fit(*cases, case_errors=pd.DataFrame(columns))


def test_a_tree_with_other_costs_of_answers_is_refused():
    X, y, E = loans(60)
    tree = ww.DTMCClassifier(costs=LISTED).fit(X, y, case_errors=E).tree_
    with pytest.raises(ValueError, match="'answer_costs' must have a column for every answer"):
        ww.Tree(replace(tree.nodes, answer_costs=np.ones((tree.n_nodes, 3))), tree.context).predict(X)
    text = tree.to_json().replace('"answer_costs": [', '"answer_costs": [1.0, ', 2)
    with pytest.raises(ValueError, match=r"'answer_costs' of node . has 3 entries, but there are 2 answers"):
        ww.Tree.from_json(text)

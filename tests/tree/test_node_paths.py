"""The nodes that many cases pass, against the walk of a single case; and what tests save."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import SelectFromModel
from sklearn.tree import DecisionTreeClassifier

import worthwhile as ww
from all_learners import LEARNERS, make
from handmade import small, tree
from problems import compare
from wildtrees import NAMES, random_case, random_content
from worthwhile.tree.node_paths import savings
from worthwhile.tree.walk import Walk

RNG = np.random.default_rng(5)
X = RNG.integers(0, 6, size=(120, 4)).astype(float)
Y = ((X[:, 0] > 2) & (X[:, 2] > 1)).astype(int)


@compare(60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
def test_leaves_and_paths_are_those_of_single_cases(seed, missing):
    rng = np.random.default_rng(seed)
    known, cases = tree(random_content(rng)), [random_case(rng, missing) for _ in range(4)]
    table = pd.DataFrame(cases).astype({n: float if n[0] == "n" else object for n in NAMES})
    leaves, paths = known.apply(table), known.decision_path(table).toarray()
    for row, case in enumerate(cases):
        positions = Walk(known, case, may_stop=False).positions
        share = {at.node: at.share for at in positions}
        assert share[leaves[row]] == pytest.approx(max(share.values()))
        above = set(share)
        for node in reversed(range(known.n_nodes)):
            if above & set(known.nodes.children(node)):
                above.add(node)
        assert set(np.flatnonzero(paths[row])) == above


def test_paths_as_in_scikit_learn():
    ours = ww.C45Classifier(prune="none", min_cases=1).fit(X, Y)
    theirs = DecisionTreeClassifier(random_state=0).fit(X, Y)
    for clf in (ours, theirs):
        paths, leaves = clf.decision_path(X), clf.apply(X)
        assert paths.shape == (120, (clf.tree_.n_nodes if clf is ours else clf.tree_.node_count))
        assert (paths[np.arange(120), leaves] == 1).all()
        assert leaves.shape == (120,)
        assert (paths.toarray()[:, 0] == 1).all()
    assert len(np.unique(ours.apply(X))) == ours.tree_.n_leaves


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_has_importances_and_paths(learner):
    clf = make(learner, variant="paper", random_state=0)
    assert not hasattr(clf, "feature_importances_")
    clf.fit(X, Y)
    found = clf.feature_importances_
    assert found.shape == (4,)
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    assert set(np.argsort(found)[2:]) == {0, 2}
    if hasattr(clf, "trees_"):
        paths, starts = clf.decision_path(X)
        assert paths.shape == (120, starts[-1])
        assert clf.apply(X).shape == (120, len(clf.trees_))
        np.testing.assert_array_equal(clf.apply(X)[:, 0], clf.trees_[0].apply(X))
        np.testing.assert_array_equal(
            paths[:, starts[0] : starts[1]].toarray(), clf.trees_[0].decision_path(X).toarray()
        )
    elif hasattr(clf, "tree_"):
        np.testing.assert_array_equal(clf.apply(X), clf.tree_.apply(X))
    assert SelectFromModel(clf, prefit=True, threshold=0.1).get_support()[[0, 2]].all()


@pytest.mark.filterwarnings("ignore:BudgetForestClassifier. budget=0:UserWarning")
def test_savings_add_up_to_the_difference_to_the_best_single_answer():
    known = tree(small())  # weights 10 no, 10 yes; errors 10 for a no, 40 for a yes
    assert savings(known).tolist() == pytest.approx([(100 - (60 + 40)) / 20, (40 - 0) / 20])
    never = ww.C45Classifier().fit([[1.0], [1.0]], [0, 1])
    assert never.feature_importances_.tolist() == [0]
    empty = ww.BudgetForestClassifier(budget=0, costs=ww.Costs(tests={"x0": 1.0, "x1": 1.0, "x2": 1.0, "x3": 1.0}))
    empty.fit(X, Y)
    assert empty.empty_
    assert empty.feature_importances_.tolist() == [0] * 4
    assert empty.apply(X).shape == empty.decision_path(X)[0].shape == (120, 0)

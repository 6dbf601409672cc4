"""Columns with almost as many values as cases are not used, and a warning names them."""

import warnings

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from worthwhile.evaluation import evaluate
from worthwhile.table.columns import Factor
from worthwhile.table.identifiers import is_identifier

N = 60
X = pd.DataFrame({"id": [f"p{i}" for i in range(N)], "x": np.arange(N) % 7, "city": list("abc") * (N // 3)})
Y = np.where((np.arange(N) % 7) > 3, "sick", "well")


@pytest.mark.filterwarnings("ignore:the model was trained on these same cases")
def test_a_column_of_identifiers_is_not_used_and_a_warning_names_it(tmp_path):
    costs = ww.Costs(tests={"x": 1.0}, errors=10)
    clf = ww.DTMCClassifier(costs=costs)
    with pytest.warns(UserWarning, match="column 'id' has almost as many values as cases and is not used") as caught:
        clf.fit(X, Y)
    assert [one.filename for one in caught] == [__file__]
    assert clf.tree_.tests_used() == ["x"]
    assert clf.tree_.schema.values[0] == ()
    clf.save(tmp_path / "m.json")
    assert "p17" not in (tmp_path / "m.json").read_text()  # names of cases do not belong in a model
    assert (ww.load(tmp_path / "m.json").predict(X) == Y).all()
    assert clf.next_test({"id": "p3"}).test == "x"
    assert evaluate(clf, X, Y).model.error_rate == 0  # neither do the baselines use it, or warn


@pytest.mark.parametrize("learner", [ww.ACTClassifier, ww.BudgetForestClassifier, ww.C45CSClassifier])
def test_every_family_of_learners_ignores_it(learner):
    with pytest.warns(UserWarning, match="'id'"):
        clf = learner(random_state=0).fit(X, Y)
    used = {name for tree in getattr(clf, "trees_", None) or [clf.tree_] for name in tree.tests_used()}
    assert "x" in used
    assert "id" not in used


def test_a_declared_column_is_used():
    y = np.where(np.arange(N) < 30, "sick", "well")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = ww.C45Classifier(nominal=["id"], prune="none", min_cases=1).fit(X[["id"]], y)
        assert clf.tree_.tests_used() == ["id"]
        isa = {"id": {f"p{i}": "low" if i < 30 else "high" for i in range(N)}}
        assert ww.EG2Classifier(hierarchies=isa).fit(X[["id"]], y).tree_.tests_used() == ["id"]


def test_the_warning_gives_advice_on_dates():
    when = pd.date_range("2024-01-01", periods=N)
    with pytest.warns(UserWarning, match=r"columns 'id', 'when' have .*'when' contains dates: convert it"):
        ww.C45Classifier().fit(X.assign(when=when.strftime("%Y-%m-%d")), Y)


def test_the_warning_gives_advice_on_numbers_that_are_strings():
    frame = pd.DataFrame({"id": [f"p{i}" for i in range(40)], "dose": [f"{i / 4}" for i in range(40)]})
    with pytest.warns(UserWarning, match=r"; 'dose' contains numbers as strings: .* pandas.to_numeric$"):
        ww.DTMCClassifier().fit(frame, [0, 1] * 20)


def test_small_tables_repeated_values_and_numbers_are_used():
    assert not is_identifier(Factor.of([str(i) for i in range(29)]))
    assert is_identifier(Factor.of([str(i) for i in range(30)]))
    assert is_identifier(Factor.of([str(i) for i in range(30)] + [None] * 500))  # missing values do not count
    assert not is_identifier(Factor.of([str(i // 2) for i in range(200)]))
    unseen = Factor([str(i) for i in range(100)], np.arange(40, dtype=np.int32) % 4)
    assert not is_identifier(unseen)  # categories that no case has do not count
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ww.C45Classifier().fit(np.random.default_rng(0).normal(size=(N, 2)), Y)

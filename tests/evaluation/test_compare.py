"""Several learners on the same folds."""

import numpy as np
import pytest

import worthwhile as ww
from two_classes import COSTS, problem
from worthwhile.evaluation.compare import cross_compare


def known(**more):
    return {"costs": COSTS, **more}


def test_learners_meet_on_the_same_folds():
    X, y = problem()
    told = []
    twins = {
        "one": ww.DTMCClassifier(**known()),
        "two": ww.DTMCClassifier(**known()),
        "c45": ww.C45Classifier(**known()),
    }
    found = cross_compare(twins, X, y, folds=4, repeats=2, tell=told.append)
    by_name = {standing.name: standing for standing in found.standings}
    assert by_name["one"].folds == by_name["two"].folds
    assert len(by_name["one"].folds) == 8
    assert found.standings[-1].name == "c45"
    assert found.standings[0].against_best is None
    twin = found.standings[1].against_best
    assert (twin.difference, twin.t_test, twin.wilcoxon) == (0.0, 1.0, 1.0)
    assert "not significantly worse: two" in found.note or "not significantly worse: one" in found.note
    assert [(now.done, now.total) for now in told] == [(done, 24) for done in range(25)]
    assert told[-1].seconds > told[0].seconds == 0


def test_folds_are_held_out():
    X, y = problem(60)
    found = cross_compare({"a": ww.C45Classifier(**known()), "b": ww.EG2Classifier(**known())}, X, y, folds=60)
    one = []
    for i in range(60):
        rest = np.arange(60) != i
        clf = ww.C45Classifier(**known()).fit(X[rest], y[rest])
        one.append(clf.total_costs(X[[i]], y[[i]])[0])
    standing = next(s for s in found.standings if s.name == "a")
    assert standing.total_cost.mean == pytest.approx(np.mean(one))
    assert sorted(standing.folds) == pytest.approx(sorted(one))


def test_the_comparison_does_not_depend_on_the_number_of_processes():
    X, y = problem()
    learners = {"a": ww.C45Classifier(**known()), "b": ww.EG2Classifier(**known())}
    one, two = (cross_compare(learners, X, y, folds=3, n_jobs=n).rows() for n in (1, 2))
    for row in (*one, *two):
        row.pop("seconds")
    assert one == two


def test_frames_are_compared_too():
    pandas = pytest.importorskip("pandas")
    X, y = problem()
    frame = pandas.DataFrame(X, columns=["x0", "x1", "x2"])
    learners = {"a": ww.C45Classifier(**known()), "b": ww.EG2Classifier(**known())}
    rows = [[row["total_cost"] for row in cross_compare(learners, cases, y, folds=3).rows()] for cases in (X, frame)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"folds": 1}, "invalid folds=1; it must be between 2 and the number of cases, 200"),
        ({"folds": 201}, "invalid folds=201"),
        ({"repeats": 0}, "invalid repeats=0"),
        ({"learners": {"a": ww.C45Classifier()}}, "at least two learners, got 'a'"),
        ({"learners": {"a": ww.C45Classifier(**known()), "b": ww.EG2Classifier()}}, "'b' has different ones"),
        ({"y": ["a"] * 200}, "y has only one class"),
    ],
)
def test_what_cannot_be_compared(change, words):
    X, y = problem()
    arguments = {"learners": {"a": ww.C45Classifier(), "b": ww.EG2Classifier()}, "X": X, "y": y} | change
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        cross_compare(arguments.pop("learners"), arguments.pop("X"), arguments.pop("y"), **arguments)


def test_a_class_that_a_fold_lacks_is_an_error_without_a_warning():
    X = np.arange(40.0)[:, None]
    y = np.r_[np.repeat(["a", "b"], [20, 19]), ["rare"]]
    costs = ww.Costs(errors=5)
    learners = {"c45": ww.C45Classifier(costs=costs), "dtmc": ww.DTMCClassifier(costs=costs)}
    found = cross_compare(learners, X, y[:, None], folds=4)  # one column is a list of classes
    assert all(standing.total_cost.mean >= 5 / 40 for standing in found.standings)


def test_baselines_meet_the_learners_on_the_same_folds():
    X, y = problem()
    free = {"costs": ww.Costs(tests={"x1": 6.0, "x2": 1.0}, errors=20.0)}
    learners = {"a": ww.C45Classifier(**free), "b": ww.DTMCClassifier(**free)}
    told = []
    found = cross_compare(learners, X, y, folds=4, baselines=True, tell=told.append)
    plain = cross_compare(learners, X, y, folds=4)
    assert [s.baseline for s in found.standings] == [False, False, True, True, True, True]
    assert [s.total_cost.mean for s in found.standings[:2]] == [s.total_cost.mean for s in plain.standings]
    assert (told[-1].done, told[-1].total) == (12, 12)
    by_name = {standing.name: standing for standing in found.standings}
    names = {"no test", "free tests only, best plain tree", "all tests, best plain tree", "C4.5, tuned"}
    assert set(by_name) == {"a", "b", *names}
    assert by_name["no test"].test_cost.mean == by_name["free tests only, best plain tree"].test_cost.mean == 0
    assert by_name["no test"].against_best.second == found.standings[0].name
    assert [row["baseline"] for row in found.rows()] == [False, False, True, True, True, True]
    assert [cells[0] for cells in found.layout()[1]].index("Baselines") == 2
    assert by_name["all tests, best plain tree"].label == "all tests (baseline)"


def test_the_note_names_baselines_that_are_cheaper():
    X, y = problem()
    dear = {"costs": COSTS.with_prices(dict.fromkeys(("x0", "x1", "x2"), 1000.0))}
    learners = {"a": ww.C45Classifier(**dear), "b": ww.EG2Classifier(**dear)}
    found = cross_compare(learners, X, y, folds=3, baselines=True)
    assert "cheaper than all learners: no test" in found.note

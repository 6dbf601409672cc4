"""The cells of Ting (1998): data sets, cost matrices, trials and what is measured."""

import os
from collections import Counter

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import worthwhile as ww
from worthwhile import C45Classifier, Costs, datasets, metrics
from worthwhile.experiments import Cell, ting_cells
from worthwhile.experiments.problems import CaseSet
from worthwhile.experiments.ting_cells import (
    DATA,
    FAMILY,
    LEARNERS,
    TWO_CLASSES,
    answer_costs,
    applies,
    cases_of,
    cell_of,
    folds_of,
    matrix_of,
    measure,
    parts,
    waveform,
)

FOLDER = os.environ.get(datasets.FOLDER_VARIABLE)


needs_folder = pytest.mark.skipif(not FOLDER, reason="WORTHWHILE_DATA does not name a folder of data sets")


@pytest.mark.parametrize(("data", "k"), [("diab", 2), ("wave", 3), ("soybean", 19)])
def test_error_costs_are_drawn_for_each_trial(data, k):
    classes = [str(c) for c in range(k)]
    drawn = [matrix_of(data, classes, split) for split in range(200)]
    wrong = ~np.eye(k, dtype=bool)
    for matrix in drawn:
        assert not matrix[~wrong].any()
        assert set(matrix[wrong]) <= set(range(1, 11))
        assert (matrix[wrong] == 1).any()  # the unity condition
    costs = np.array([matrix[wrong] for matrix in drawn])
    assert {1, 10} <= set(costs.ravel())
    assert len({tuple(row) for row in costs.tolist()}) > (15 if k == 2 else 190)
    assert (matrix_of(data, classes, 7) == drawn[7]).all()
    if k == 2:  # one error costs 1, now this one, now that one, and the other anything
        assert (costs.min(axis=1) == 1).all()
        assert 0.4 < (costs[:, 0] == 1).mean() < 0.6
        assert costs.max(axis=1).mean() == pytest.approx(6.0, abs=0.5)
    else:
        n = k * (k - 1)
        assert costs.mean() == pytest.approx(5.5 - 0.9**n * 5 / n, abs=0.2)  # without any 1 the mean is 6


def test_error_costs_differ_between_data_sets():
    classes = ["a", "b", "c"]
    assert any((matrix_of("lympho", classes, s) != matrix_of("glass", classes, s)).any() for s in range(3))


def test_fixed_error_costs_are_those_of_the_paper():
    # [truth][answer]; cost(2, 1) = 5 there: the answer is the second class, the truth the first.
    assert matrix_of("german", ["bad", "good"], 5).tolist() == [[0, 1], [5, 0]]
    assert matrix_of("heart-s", ["absent", "present"], 6).tolist() == [[0, 5], [1, 0]]


def test_ten_cross_validations():
    y = cases_of("diab", None).y
    for repeat in (0, 9):
        folds = folds_of("diab", repeat, None)
        assert np.bincount(folds).tolist() == [77] * 8 + [76] * 2
        assert set(np.bincount(folds[y == "1"])) <= {26, 27}
    assert (folds_of("diab", 0, None) != folds_of("diab", 1, None)).any()
    tested = [parts("diab", split, None)[1] for split in range(30, 40)]
    assert sum(len(part.y) for part in tested) == 768
    rows = {tuple(row) for part in tested for row in part.X.tolist()}
    assert rows == {tuple(row) for row in cases_of("diab", None).X.tolist()}
    train, test = parts("diab", 33, None)
    assert len(train.y) + len(test.y) == 768
    assert train.classes == test.classes == ["0", "1"]


def test_waves_have_the_means_of_their_classes():
    cases = waveform(30_000, np.random.default_rng(1))
    assert Counter(cases.y).keys() == {"1", "2", "3"}
    assert min(Counter(cases.y).values()) > 9_500
    # Half the sum of two triangles of height 6 with tips at 7, 15 and 11.
    for place, means in {1: (0, 0, 0), 7: (3, 4, 1), 11: (2, 4, 4), 15: (3, 1, 4), 21: (0, 0, 0)}.items():
        ours = [cases.X[cases.y == c, place - 1].mean() for c in "123"]
        assert ours == pytest.approx(means, abs=0.1)
    # u·6 + (1 − u)·0 + noise at the tip of the first wave: variance 36 / 12 + 1
    assert cases.X[cases.y == "1", 6].var() == pytest.approx(4, abs=0.15)
    assert cases.X[:, 0].std() == pytest.approx(1, abs=0.03)  # all waves are 0 there


def test_waves_are_as_hard_as_they_should_be():
    train, test = (waveform(n, np.random.default_rng(n)) for n in (2_000, 5_000))
    linear = LinearDiscriminantAnalysis().fit(train.X, train.y)
    assert 0.13 < (linear.predict(test.X) != test.y).mean() < 0.17  # the best possible is 0.14
    tree = C45Classifier(mdl_correction=True).fit(train.X[:300], train.y[:300])
    assert 0.22 < (tree.predict(test.X) != test.y).mean() < 0.35  # CART: 0.28


def test_every_trial_draws_its_own_waves():
    train, test = parts("wave", 4, None)
    assert (train.X.shape, test.X.shape) == ((300, 21), (5000, 21))
    assert (parts("wave", 4, None)[1].X == test.X).all()
    assert (parts("wave", 5, None)[0].X != train.X).any()


def test_the_words_of_net():
    words = ting_cells.Path(ting_cells.__file__).parent.joinpath("published", "nettalk-words.txt").read_text().split()
    assert len(set(words)) == len(words) == 1000
    assert sum(map(len, words)) == 5438
    X, y = ting_cells.windows(["it", "is"], ["1<", "2<"])
    assert ["".join(row) for row in X] == ["___it__", "__it___", "___is__", "__is___"]
    assert y.tolist() == ["1", "<", "2", "<"]


def test_net_needs_all_of_its_words():
    words = CaseSet(
        np.array([["the", "x", ">>0"]], dtype=object), np.array(["0"]), [], ["word", "phonemes", "stress"], []
    )
    with pytest.raises(ValueError, match=r"nettalk_words: lacks the word 'able'"):
        ting_cells._net(words)


SIZES = {  # cases, columns, nominal ones, classes, missing values
    "echo": (131, 7, 0, 2, 40),
    "hepa": (155, 19, 13, 2, 167),
    "heart-s": (270, 13, 0, 2, 0),
    "heart": (303, 13, 0, 2, 6),
    "horse": (368, 21, 14, 2, 1925),
    "credit": (690, 15, 9, 2, 67),
    "breast": (699, 9, 0, 2, 16),
    "diab": (768, 8, 0, 2, 0),
    "german": (1000, 20, 13, 2, 0),
    "hypo": (3163, 25, 18, 2, 5329),
    "euthyr": (3163, 25, 18, 2, 5329),
    "lympho": (148, 18, 15, 4, 0),
    "glass": (214, 9, 0, 6, 0),
    "wave": (300, 21, 0, 3, 0),
    "soybean": (683, 35, 35, 19, 2337),
    "anneal": (898, 38, 31, 5, None),
    "vowel": (990, 10, 0, 11, 0),
    "splice": (3175, 60, 60, 3, 0),
    "abalone": (4177, 8, 1, 3, 0),
    "net-s": (5438, 7, 7, 5, 0),
    "sat": (6435, 36, 0, 6, 0),
}


@needs_folder
@pytest.mark.parametrize("name", DATA)
def test_data_sets_are_what_they_should_be(name):
    cases = cases_of(name, FOLDER)
    n, columns, nominal, classes, missing = SIZES[name]
    assert cases.X.shape == (n, columns) == (len(cases.y), len(cases.columns))
    assert set(cases.nominal) <= set(cases.columns)
    assert len(cases.nominal) == nominal
    assert cases.classes == sorted(set(cases.y))
    assert len(cases.classes) == classes
    assert (classes == 2) == (name in TWO_CLASSES)
    absent = sum(value is None or value != value for value in cases.X.ravel())  # noqa: PLR0124
    assert absent == missing if missing is not None else absent > 10_000


@needs_folder
def test_classes_by_hand():
    assert Counter(cases_of("heart", FOLDER).y) == {"well": 164, "ill": 139}
    assert Counter(cases_of("abalone", FOLDER).y) == {"1-8": 1407, "9-10": 1323, "11+": 1447}
    assert set(cases_of("net-s", FOLDER).y) == set("<>012")
    assert not {"Sex", "Train_or_Test", "Speaker_Number"} & set(cases_of("vowel", FOLDER).columns)
    assert "outcome" not in cases_of("horse", FOLDER).columns


@needs_folder
@pytest.mark.parametrize(
    ("name", "errors", "nodes"), [("diab", 19.8, 41.9), ("horse", 5.8, 11.6), ("anneal", 6.7, None)]
)
def test_c45_is_about_as_published(name, errors, nodes):
    numbers = [measure(cell_of(name, "c45", split), FOLDER) for split in range(20)]
    assert np.mean([n["wrong"] for n in numbers]) == pytest.approx(errors, rel=0.15)
    if nodes:
        assert np.mean([n["nodes"] for n in numbers]) == pytest.approx(nodes, rel=0.2)


def test_answers_by_hand():
    matrix = np.array([[0.0, 1.0, 7.0], [2.0, 0.0, 1.0], [9.0, 3.0, 0.0]])
    truths, answers = np.array(list("aabbcc")), np.array(list("abcaab"))
    assert answer_costs(truths, answers, ["a", "b", "c"], matrix) == {
        "cost": 0 + 1 + 1 + 2 + 9 + 3,
        "high": 3,
        "wrong": 5,
    }


@pytest.mark.parametrize("learner", ["c45", "c45-mc", "c45cs", "matrix"])
def test_a_cell_measures_what_the_metrics_do(learner):
    numbers = measure(cell_of("diab", learner, 12), None)
    assert set(numbers) == set(FAMILY.numbers)
    train, test = parts("diab", 12, None)
    known = LEARNERS[learner]
    costs = Costs(errors=matrix_of("diab", train.classes, 12), classes=train.classes)
    tree = getattr(ww, known.name)(costs=costs, columns=train.columns, **known.parameters).fit(train.X, train.y)
    assert numbers["cost"] == pytest.approx(tree.total_costs(test.X, test.y).sum())
    assert numbers["high"] == metrics.high_cost_errors(tree, test.X, test.y)
    assert numbers["wrong"] == (tree.predict(test.X) != test.y).sum()
    assert numbers["nodes"] == tree.tree_.n_nodes


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_runs(learner):
    if not applies(learner, "diab"):
        pytest.skip("needs another library")
    cell = cell_of("diab", learner, 0)
    numbers = measure(cell, None)
    assert numbers["high"] <= numbers["wrong"] <= 77
    assert numbers["wrong"] <= numbers["cost"] <= 10 * numbers["wrong"]
    again = measure(cell, None)
    assert {**again, "seconds": 0} == pytest.approx({**numbers, "seconds": 0}, rel=0, nan_ok=True)
    assert not numbers["nodes"] < 1  # unknown, if it is no tree
    assert FAMILY.weight(cell) > 0


@needs_folder
@pytest.mark.parametrize("learner", ["c45cs", "sklearn"])
def test_rare_classes_and_missing_values(learner):
    for split in range(2):  # two cases of lymphography are normal: some fold has none to learn from, or to test
        assert measure(cell_of("lympho", learner, split), FOLDER)["wrong"] <= 15
    assert measure(cell_of("hepa", learner, 0), FOLDER)["wrong"] <= 16


def test_a_class_that_no_training_case_has(monkeypatch):
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]]), np.array(list("aabbc"))
    cases = CaseSet(X, y, [], ["x"], ["a", "b", "c"])
    halves = cases.take(np.arange(4)), cases.take(np.arange(5))
    monkeypatch.setattr(ting_cells, "parts", lambda data, split, folder: halves)
    for learner in ("c45", "c45cs", "sklearn"):
        numbers = measure(cell_of("lympho", learner, 0), None)
        assert numbers["wrong"] >= 1


def test_cells_are_told_apart():
    assert len({cell_of("diab", learner, 3) for learner in LEARNERS}) == len(LEARNERS)
    assert cell_of("diab", "c45cs", 3) == Cell("diab", "free", "drawn", "c45cs", "mdl_correction=true", 3)

"""The grid of Ting (1998): data sets, cost matrices and trials, what is measured, and the arithmetic of the tables."""

import math
import os
from collections import Counter

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from worthwhile import C45Classifier, Costs, cli, datasets, experiments, metrics
from worthwhile.experiments import Cell, peers, ting, ting_cells
from worthwhile.experiments.page import About, footnote, judgement, write_pages
from worthwhile.experiments.peers import PrunedTreeClassifier
from worthwhile.experiments.ting_cells import (
    DATA,
    FAMILY,
    LEARNERS,
    Cases,
    cases_of,
    cell_of,
    folds_of,
    judged,
    matrix_of,
    measure,
    parts,
    waveform,
)

FOLDER = os.environ.get(datasets.FOLDER_VARIABLE)
needs_folder = pytest.mark.skipif(not FOLDER, reason="WORTHWHILE_DATA does not name a folder of data sets")
NAMES = experiments.PAPERS["ting"]
QUICK = About("worthwhile reproduce", quick=True, cells=1, seconds=1)
WITHOUT_FOLDER = ("diab", "wave")  # bundled, and made up


@pytest.fixture(autouse=True)
def others(tmp_path, monkeypatch):
    """Write cells of other programs: for each learner, how many trials of which data sets, and what each of them costs.

    There are none until this is called; those that come with the package are out of the way.
    """
    path = tmp_path / "others.csv"
    monkeypatch.setattr(ting, "OUTSIDE_CELLS", path)

    def write(cost=lambda data, split: 2.0, **trials):
        header = "version,data,prices,errors,learner,parameters,split,cost,nodes,high,wrong,seconds"
        lines = [
            f'0,{data},free,drawn,"{learner}",,{split},{cost(data, split)},5,1,1,0.1'
            for learner, of_data in trials.items()
            for data, number in of_data.items()
            for split in range(number)
        ]
        path.write_text("\n".join([header, *lines, ""]))
        return path

    return write


def grid(name):
    return experiments.EXPERIMENTS[f"ting-{name}"]


# Trials


def test_the_grid_is_that_of_the_paper():
    assert NAMES == ["ting-table1", "ting-table2", "ting-priors", "ting-learners"]
    cells = grid("table1").cells(False, 0)
    assert len(cells) == len(set(cells)) == 2 * 21 * 100
    assert Counter(cell.errors for cell in cells) == {"drawn": 2 * 19 * 100, "fixed": 2 * 2 * 100}
    everything = set(grid("learners").cells(False, 0))
    assert len(everything) == len(LEARNERS) * 21 * 100
    assert all(set(grid(name).cells(False, 0)) <= everything for name in ("table1", "table2", "priors"))
    assert len(ting.TWO_CLASSES) == 11
    assert len(ting.MORE_CLASSES) == 10


@pytest.mark.parametrize("name", NAMES)
def test_quick_grids_are_small(name):
    quick, full = (set(experiments.EXPERIMENTS[name].cells(quick, 0)) for quick in (True, False))
    assert quick < full
    assert len(quick) <= len(full) / 50
    assert {cell.split for cell in quick} == {0, 1, 2}
    assert {cell.split for cell in experiments.EXPERIMENTS[name].cells(True, 2)} == {200, 201, 202}
    assert all(DATA[cell.data].effort <= 10 for cell in quick)


def test_small_data_sets_come_first():
    cells = sorted(grid("learners").cells(False, 0), key=FAMILY.order)
    assert {cell.data for cell in cells[-100:]} == {"sat"}
    assert {cell.data for cell in cells[:100]} <= {"echo", "heart", "heart-s", "breast"}
    assert FAMILY.weight(cell_of("sat", "sklearn", 0)) > FAMILY.weight(cell_of("sat", "c45", 0))


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


# Data sets


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
    words = Cases(
        np.array([["the", "x", ">>0"]], dtype=object), np.array(["0"]), [], ["word", "phonemes", "stress"], []
    )
    with pytest.raises(ValueError, match=r"nettalk_words: has no word 'able'"):
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
    assert (classes == 2) == (name in ting.TWO_CLASSES)
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


# Cells


def test_answers_by_hand():
    matrix = np.array([[0.0, 1.0, 7.0], [2.0, 0.0, 1.0], [9.0, 3.0, 0.0]])
    truths, answers = np.array(list("aabbcc")), np.array(list("abcaab"))
    assert judged(truths, answers, ["a", "b", "c"], matrix) == {"cost": 0 + 1 + 1 + 2 + 9 + 3, "high": 3, "wrong": 5}


@pytest.mark.parametrize("learner", ["c45", "c45-mc", "c45cs", "matrix"])
def test_a_cell_measures_what_the_metrics_do(learner):
    numbers = measure(cell_of("diab", learner, 12), None)
    assert set(numbers) == set(FAMILY.numbers)
    train, test = parts("diab", 12, None)
    known = LEARNERS[learner]
    made = getattr(__import__(known.module, fromlist=["_"]), known.name)
    costs = Costs(errors=matrix_of("diab", train.classes, 12), classes=train.classes)
    tree = made(costs=costs, columns=train.columns, **known.parameters).fit(train.X, train.y)
    assert numbers["cost"] == pytest.approx(tree.total_costs(test.X, test.y).sum())
    assert numbers["high"] == metrics.high_cost_errors(tree, test.X, test.y)
    assert numbers["wrong"] == (tree.predict(test.X) != test.y).sum()
    assert numbers["nodes"] == tree.tree_.n_nodes


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_runs(learner):
    cell = cell_of("diab", learner, 0)
    numbers = measure(cell, None)
    assert numbers["high"] <= numbers["wrong"] <= 77
    assert numbers["wrong"] <= numbers["cost"] <= 10 * numbers["wrong"]
    assert numbers["nodes"] >= 1
    again = measure(cell, None)
    assert {**again, "seconds": 0} == {**numbers, "seconds": 0}
    assert FAMILY.weight(cell) > 0


@needs_folder
@pytest.mark.parametrize("learner", ["c45cs", "sklearn"])
def test_rare_classes_and_missing_values(learner):
    for split in range(2):  # two cases of lymphography are normal: some fold has none to learn from, or to test
        assert measure(cell_of("lympho", learner, split), FOLDER)["wrong"] <= 15
    assert measure(cell_of("hepa", learner, 0), FOLDER)["wrong"] <= 16


def test_a_class_that_no_training_case_has(monkeypatch):
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]]), np.array(list("aabbc"))
    cases = Cases(X, y, [], ["x"], ["a", "b", "c"])
    halves = cases.take(np.arange(4)), cases.take(np.arange(5))
    monkeypatch.setattr(ting_cells, "parts", lambda data, split, folder: halves)
    for learner in ("c45", "c45cs", "sklearn"):
        numbers = measure(cell_of("lympho", learner, 0), None)
        assert numbers["wrong"] >= 1


# scikit-learn's tree


def test_the_peer_weighs_cases_by_what_errors_cost():
    X, y = np.zeros((40, 1)), np.array(["well"] * 30 + ["ill"] * 10)
    for dear, answer in ((2.0, "well"), (4.0, "ill")):
        costs = Costs(errors={"ill": {"well": dear}, "well": {"ill": 1.0}})
        peer = PrunedTreeClassifier(costs=costs).fit(X, y)
        assert set(peer.predict(X)) == {answer}
        assert peer.n_nodes_ == 1


def test_the_peer_takes_names_and_missing_values():
    rng = np.random.default_rng(0)
    X = np.empty((200, 3), dtype=object)
    X[:, 0] = rng.normal(size=200)
    X[:, 1] = rng.choice(["red", "green", None], 200)
    X[:, 2] = rng.normal(size=200)
    X[::7, 0] = math.nan
    y = np.where(X[:, 1] == "red", "yes", "no")
    costs = Costs(errors={"yes": {"no": 3.0}, "no": {"yes": 1.0}})
    peer = PrunedTreeClassifier(costs=costs, columns=["a", "b", "c"], random_state=3).fit(X, y)
    assert (peer.predict(X) == y).all()
    assert peer.n_nodes_ == 3
    assert peer.predict(np.array([[1.0, "blue", 0.0]], dtype=object)).tolist() == ["no"]


def test_the_peer_prunes_noise(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where((X[:, 0] > 0) ^ (rng.random(300) < 0.2), "a", "b")
    costs = Costs(errors={"a": {"b": 2.0}, "b": {"a": 1.0}})
    asked = []
    alphas = peers._alphas
    monkeypatch.setattr(peers, "_alphas", lambda path, most: asked.append(alphas(path, most)) or asked[-1])
    peer = PrunedTreeClassifier(costs=costs).fit(X, y)
    assert peer.n_nodes_ <= 7
    assert len(asked[0]) <= 20


# Tables


def made_up(name, quick=False, **numbers):
    """Numbers for a table, all 1 unless given as functions of the cell."""
    given = {"cost": 1.0, "nodes": 1.0, "high": 1.0, "wrong": 1.0, "seconds": 0.5}
    return {
        cell: given | {number: value(cell) for number, value in numbers.items()} for cell in grid(name).cells(quick, 0)
    }


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", [name.removeprefix("ting-") for name in NAMES])
def test_pages_of_all_tables(name, quick, tmp_path):
    cells = made_up(name, quick, cost=lambda cell: 10.0 + cell.split + len(cell.learner))
    table = grid(name).table(cells, quick, 0)
    assert table.title == grid(name).title
    files = write_pages(f"ting-{name}", [table], tmp_path, About("worthwhile reproduce", quick, 1, 1))
    page = (tmp_path / f"ting-{name}.md").read_text()
    assert "data sets are in this table: those that are finished" in page
    assert [file.suffix for file in files] == [".csv", ".md", *[".png"] * len(table.pictures)]
    assert all(path.stat().st_size for path in files)
    assert all(entry.inside is None for entry in table.entries.values()) == quick  # rough numbers are not judged
    assert ("within 0.05 of the published ones" in page) != quick


def test_table_1_by_hand():
    def cost(cell):
        base = 10.0 + cell.split % 2  # 10.5 on the average
        if cell.learner == "c45":
            return base
        return base * (0.5 if cell.data in ting.TWO_CLASSES else 1.0) + (2.1 if cell.data == "echo" else 0.0)

    table = grid("table1").table(made_up("table1", cost=cost), False, 0)
    ours = {place: entry.ours.mean for place, entry in table.entries.items()}
    assert ours["Echo", "cost: C4.5"] == pytest.approx(10.5)
    assert ours["Echo", "cost: C4.5CS"] == pytest.approx(5.25 + 2.1)
    assert ours["Echo", "cost: ratio"] == pytest.approx(0.7)
    assert ours["Diab", "cost: ratio"] == pytest.approx(0.5)
    assert ours["mean, two classes", "cost: ratio"] == pytest.approx((0.7 + 10 * 0.5) / 11)
    assert ours["mean, more classes", "cost: ratio"] == pytest.approx(1)
    assert math.isnan(ours["mean, two classes", "cost: C4.5"])
    assert str(table.entries["Echo", "cost: ratio"].ours) == "0.70"
    assert table.entries["Echo", "cost: ratio"].published[0] == 0.44
    assert table.entries["Echo", "cost: ratio"].inside is None  # only means are judged
    assert table.entries["Echo", "errors: C4.5"].published is None
    mean = table.entries["mean, two classes", "cost: ratio"]
    assert (mean.published[0], mean.inside) == (0.62, False)
    assert table.entries["mean, more classes", "cost: ratio"].inside is True
    assert [table.rows.index(row) for row in ("Echo", "mean, two classes", "Lympho")] == [0, 11, 13]
    assert footnote(table) == "† further than 0.05 from the published number"
    [dots] = table.pictures
    assert len(dots.names) == 21
    assert dots.series["ours"][0] == pytest.approx(0.7)
    assert dots.series["published"][0] == 0.44


def test_a_ratio_is_of_averages_not_an_average_of_ratios():
    def cost(cell):
        first = cell.split == 0
        return {"c45cs": 100.0 if first else 0.0, "c45": 50.0 if first else 1.0}[cell.learner]

    table = grid("table1").table(made_up("table1", cost=cost), False, 0)
    assert table.entries["Glass", "cost: ratio"].ours.mean == pytest.approx(100 / (50 + 99))


def test_the_published_mean_without_what_we_do_not_have():
    table = grid("table1").table(made_up("table1"), False, 0)
    there = {
        column: table.entries["mean, two classes, same sets", column].published[0] for column in table.columns[2::3]
    }
    assert list(there.values()) == [0.63, 0.71, 0.37, 1.39]  # by hand, from the eleven printed ratios
    more = [table.entries["mean, more classes, same sets", column].published[0] for column in table.columns[2::3]]
    printed = [table.entries["mean, more classes", column].published[0] for column in table.columns[2::3]]
    assert printed == [0.98, 0.85, 1.02, 1.06]
    assert more == pytest.approx(printed, abs=0.011)  # the printed ratios are rounded, too
    cells = {cell: n for cell, n in made_up("table1").items() if cell.data in ("echo", "hepa") and cell.split < 100}
    part = grid("table1").table(cells, False, 0)
    assert part.rows == ["Echo", "Hepa", "mean, two classes", "mean, two classes, same sets"]
    assert part.entries["mean, two classes", "cost: ratio"].inside is None
    same = part.entries["mean, two classes, same sets", "cost: ratio"]
    assert (same.published[0], same.inside) == (0.46, False)


def test_table_2_and_section_4_by_hand():
    def cost(cell):
        return 86.0 if cell.learner == "c45cs-mc" else 70.0 if cell.learner == "c45cs" else 100.0

    def high(cell):
        return 0.36 if cell.learner == "c45cs-mc" else 0.43 if cell.learner == "c45cs" else 1.0

    table = grid("table2").table(made_up("table2", cost=cost, high=high), False, 0)
    assert (table.rows, table.columns) == (list(ting.MEASURES), ["two classes", "more classes"])
    assert table.entries["cost", "two classes"].ours.mean == pytest.approx(0.86)
    assert table.entries["cost", "two classes"].inside is True
    assert table.entries["high-cost errors", "more classes"].published[0] == 1.02
    assert table.entries["high-cost errors", "more classes"].inside is False
    assert table.breakdowns[0].rows["Sat"] == ["86.0", "100.0", "0.86", "1.00", "0.36", "1.00"]
    assert judgement(table).startswith("2 of 8 of our means lie within 0.05")  # both costs would; one is 0.99
    priors = grid("priors").table(made_up("priors", cost=cost, high=high), False, 0)
    assert priors.entries["cost", "two classes"].published[0] == 0.7
    assert priors.entries["cost", "two classes"].inside is True
    assert priors.entries["high-cost errors", "two classes"].inside is True
    assert priors.entries["cost", "more classes"].published is None


def test_all_learners_against_c45():
    labels = {"c45cs": 0.5, "sklearn": 0.25}
    table = grid("learners").table(made_up("learners", cost=lambda cell: labels.get(cell.learner, 1.0)), False, 0)
    assert table.columns == [known.label for name, known in LEARNERS.items() if name != "c45"]
    assert table.entries["mean, two classes", "scikit-learn"].ours.mean == 0.25
    assert table.entries["Splice", "C4.5CS"].ours.mean == 0.5
    assert table.entries["Splice", "C4.5CS"].published[0] == 1.0
    assert table.entries["mean, two classes", "C4.5CS"].published[0] == 0.62
    assert table.entries["mean, two classes", "C4.5_mc"].published is None
    assert table.breakdowns[0].rows["scikit-learn"] == ["0.25", "1.00", "1.00", "1.00", "0.500"]


def test_no_error_at_all_makes_no_ratio():
    table = grid("table1").table(made_up("table1", high=lambda cell: float(cell.data != "hypo")), False, 0)
    assert str(table.entries["Hypo", "high-cost errors: ratio"].ours) == "–"
    assert table.entries["mean, two classes", "high-cost errors: ratio"].ours.mean == pytest.approx(1)


def test_data_sets_that_are_not_finished_are_left_out():
    cells = made_up("learners")
    for cell in [c for c in cells if c.learner == "sklearn" and c.data == "sat" and c.split == 9]:
        del cells[cell]
    table = grid("learners").table(cells, False, 0)
    assert table.notes[0].startswith("20 of the 21 data sets")
    assert "Sat" not in table.rows
    assert table.entries["mean, two classes", "C4.5CS"].inside is not None  # all of these are there
    assert table.entries["mean, more classes", "C4.5CS"].inside is None
    nobody = {cell: numbers for cell, numbers in cells.items() if cell.learner != "sklearn"}
    table = grid("learners").table(nobody, False, 0)
    assert "scikit-learn" not in table.columns
    assert table.notes[0].startswith("21 of the 21 data sets")
    assert table.notes[1] == "Nothing is finished of: scikit-learn."


@pytest.mark.parametrize("name", [name.removeprefix("ting-") for name in NAMES])
def test_nothing_finished(name, tmp_path):
    for cells in ({}, {c: n for c, n in made_up(name).items() if c.split < 99}, made_up(name)):
        some = {c: n for c, n in cells.items() if c.learner in ("c45cs", "c45cs-mc")}  # never the other one
        table = grid(name).table(some, False, 0)
        write_pages("x", [table], tmp_path, QUICK)
        assert all(entry.inside is None for entry in table.entries.values())
    table = grid(name).table({}, False, 0)
    assert table.rows == []
    assert table.notes[0] == "0 of the 21 data sets are in this table."


def test_every_published_number_has_its_place():
    found = set()
    for name in ("table1", "table2", "priors"):
        table = grid(name).table(made_up(name), False, 0)
        found |= {(name, *place) for place, e in table.entries.items() if e.published and "same" not in place[0]}
    coding = {place for place in ting.published() if place[1] == "Coding"}
    assert found | coding == set(ting.published())
    assert len(found) == 21 * 11 + 2 * 4 + 2 * 4 + 2
    ratio = ting.published()["table1", "Coding", "cost: C4.5CS"] / ting.published()["table1", "Coding", "cost: C4.5"]
    assert ratio == pytest.approx(0.46, abs=0.005)


def test_learners_of_other_programs(others):
    path = others(Weka=dict.fromkeys(ting.QUICK_DATA, 3))
    table = grid("learners").table(made_up("learners", quick=True), True, 0)
    assert table.columns[-1] == "Weka"
    assert table.entries["Vowel", "Weka"].ours.mean == 2.0
    assert table.breakdowns[0].rows["Weka"] == ["2.00", "5.00", "1.00", "1.00", "0.100"]
    assert not any("trials" in note for note in table.notes)  # it has all three of them
    assert "Weka" not in grid("table1").table(made_up("table1", quick=True), True, 0).rows
    path.write_text(path.read_text().replace(",0,2.0", ",first,2.0"))
    with pytest.raises(ValueError, match=r"others\.csv, line 2: is no finished cell of ting"):
        ting.outside_cells()
    path.unlink()
    assert ting.outside_cells() == {}


def test_other_programs_are_compared_over_the_trials_that_they_have(others):
    def c45(cell):
        return 4.0 if cell.split < 10 else 1000.0

    others(lambda data, split: {"echo": 1.0, "sat": 6.0}.get(data, 2.0) + split % 2, Weka=dict.fromkeys(DATA, 10))
    cells = made_up("learners", cost=c45)
    table = grid("learners").table(cells, False, 0)
    ours = {place: entry.ours.mean for place, entry in table.entries.items()}
    assert ours["Echo", "Weka"] == pytest.approx(1.5 / 4)
    assert ours["Sat", "Weka"] == pytest.approx(6.5 / 4)
    assert ours["mean, two classes", "Weka"] == pytest.approx((1.5 + 10 * 2.5) / 4 / 11)
    assert ours["mean, more classes", "Weka"] == pytest.approx((6.5 + 9 * 2.5) / 4 / 10)
    assert table.notes[0].startswith("21 of the 21 data sets")
    assert table.notes[1] == "*Weka*: over the first 10 trials; C4.5 over the same ones."
    alone = {cell: n | {"cost": 3.0 if cell.learner == "c45cs" else n["cost"]} for cell, n in cells.items()}
    table = grid("learners").table(alone, False, 0)
    assert table.entries["Echo", "C4.5CS"].ours.mean == pytest.approx(3 / (0.1 * 4 + 0.9 * 1000))  # over all trials


def test_other_programs_take_no_data_set_from_the_table(others, tmp_path):
    some = {data: 3 if data == "hypo" else 10 for data in ting.TWO_CLASSES if data != "echo"}
    others(A=some, B=some, C={"diab": 100, "glass": 100})
    cells = made_up("learners")
    table = grid("learners").table(cells, False, 0)
    assert table.columns[-3:] == ["A", "B", "C"]
    assert table.notes[0].startswith("21 of the 21 data sets")
    assert table.entries["mean, more classes", "C4.5CS"].inside is True
    assert math.isnan(table.entries["Echo", "A"].ours.mean)
    assert table.entries["mean, two classes", "A"].ours.mean == 2.0
    assert table.breakdowns[1].rows["A"] == ["–"] * 5
    assert table.notes[1].startswith("*A* and *B*: over the first 10 trials; Hypo: 3; without Echo, Lympho, Glass, ")
    assert table.notes[2].startswith("*C*: over the first 100 trials; without Echo")
    write_pages("x", [table], tmp_path, QUICK)
    # A gap ends what counts; without the first trial there is nothing.
    missing = {("diab", 4), ("glass", 0)}
    lines = (tmp_path / "others.csv").read_text().splitlines(keepends=True)
    gaps = [line for line in lines if not any(f',{d},free,drawn,"C",,{split},' in line for d, split in missing)]
    (tmp_path / "others.csv").write_text("".join(gaps))
    table = grid("learners").table(cells, False, 0)
    assert table.notes[2].startswith("*C*: over the first 4 trials; without Echo, ")
    assert math.isnan(table.entries["Glass", "C"].ours.mean)
    assert grid("learners").table({}, False, 0).columns == []


def test_the_cells_of_other_programs_that_come_with_the_package(monkeypatch):
    monkeypatch.undo()
    found = ting.outside_cells()
    assert {cell.learner for cell in found} == {"Weka, least cost", "Weka, reweighted"}
    for learner in ("Weka, least cost", "Weka, reweighted"):
        trials = Counter(cell.data for cell in found if cell.learner == learner)
        assert set(trials) == set(DATA)
        assert all({cell.split for cell in found if cell.data == data} == set(range(n)) for data, n in trials.items())
    for cell, numbers in found.items():
        assert cell.errors == cell_of(cell.data, "c45", cell.split).errors
        assert numbers["high"] <= numbers["wrong"] <= numbers["cost"] <= 10 * numbers["wrong"]


# Running


@pytest.fixture
def small(monkeypatch):
    """Keep what needs no folder, and two trials."""
    monkeypatch.setattr(ting, "QUICK_DATA", WITHOUT_FOLDER)
    monkeypatch.setattr(ting, "QUICK_TRIALS", 2)


@pytest.mark.usefixtures("small")
def test_a_quick_run_from_end_to_end(tmp_path, capsys):
    arguments = ["reproduce", "ting", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    assert cli.run([*arguments, "--only", "c45", "--only", "c45cs"]) == 0
    assert "C4.5CS against C4.5" in capsys.readouterr().out
    kept = tmp_path / "cells-ting.csv"
    assert len(kept.read_text().splitlines()) == 1 + 2 * 2 * 2
    assert cli.run([*arguments, "--quiet"]) == 0
    assert len(kept.read_text().splitlines()) == 1 + len(LEARNERS) * 2 * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cells-ting.csv",
        "ting-table1-cost.png",
        "ting.csv",
        "ting.md",
    ]
    page = (tmp_path / "ting.md").read_text()
    assert "2 of the 2 data sets are in this table" in page
    assert all(known.label in page for known in LEARNERS.values())
    assert page.count("Protocol (Ting 1998") == 1
    assert cli.run([*arguments, "--only", "nobody"]) == 2
    assert "nothing to run is called 'nobody'" in capsys.readouterr().err


def test_missing_files_are_named(tmp_path):
    with pytest.raises(ValueError, match="echocardiogram"):
        experiments.reproduce("ting-table1", tmp_path / "out", data=tmp_path, quick=True, jobs=1)


def test_cells_are_told_apart():
    assert len({cell_of("diab", learner, 3) for learner in LEARNERS}) == len(LEARNERS)
    assert cell_of("diab", "c45cs", 3) == Cell("diab", "free", "drawn", "c45cs", "mdl_correction=true", 3)

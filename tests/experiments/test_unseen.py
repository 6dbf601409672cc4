"""Anybody's own tables: which files count, what is measured, and what the page says."""

import gzip
import math

import joblib
import numpy as np
import pytest

import worthwhile as ww
from worthwhile import experiments
from worthwhile.experiments import total_cost, unseen, unseen_data
from worthwhile.experiments.engine import Cell, seed_of

QUICK_RIVALS = ("no test", "all tests + forest")
LIST = '[about]\ntarget = "ill"\n[tests]\nfever = 2\ncough = 5\n[errors.yes]\nno = 90\n[errors.no]\nyes = 30\n'


def write_table(path, target="class", n=80, seed=0, names=("fever", "cough")):
    """The first column tells the class but for a tenth of the cases; the second is a word that tells nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    told = np.where(rng.random(n) < 0.1, 1 - y, y) + 0.1 * rng.normal(size=n)
    words = rng.choice(["dry", "wet"], n)
    columns = {names[0]: told.round(4), target: np.where(y == 1, "yes", "no"), names[1]: words}
    order = [names[0], target, names[1]] if target != "last" else [*names, target]
    rows = "\n".join(",".join(str(columns[name][row]) for name in order) for row in range(n))
    text = f"{','.join(order)}\n{rows}\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three tables (one of them with a price list), and learners that take no time."""
    own = {name: unseen.LEARNERS[name] for name in ("dtmc", "eg2")}
    own = {unseen.DEFAULT: unseen.OwnLearner("AutoClassifier", "DTMCClassifier", 0.1), **own}
    monkeypatch.setattr(unseen, "LEARNERS", own)
    rivals = {name: total_cost.RIVALS[name] for name in QUICK_RIVALS}
    monkeypatch.setattr(total_cost, "RIVALS", rivals)
    monkeypatch.setattr(total_cost, "FOREST_TREES", 10)
    monkeypatch.delenv("WORTHWHILE_DATA", raising=False)
    place = tmp_path / "tables"
    (place / "costs").mkdir(parents=True)
    write_table(place / "clinic.csv", "ill", seed=1)
    (place / "costs" / "clinic.toml").write_text(LIST)
    write_table(place / "named.csv", "Class", seed=2)
    write_table(place / "zipped.csv.gz", "last", seed=3)
    return place


def reproduce(folder, out, **options):
    said = []
    tables, files = experiments.reproduce("unseen", out, data=folder, say=said.append, **options)
    return tables[0], files, said


def test_one_command_makes_the_table_the_page_and_the_picture(folder, tmp_path):
    table, files, said = reproduce(folder, tmp_path / "out")
    assert [file.name for file in files] == ["unseen.csv", "unseen.md", "unseen.png"]
    assert table.rows == ["AutoClassifier", "DTMC", "EG2, pruned by cost", *QUICK_RIVALS]
    assert said == [
        "clinic.csv: 80 cases, 2 tests, 2 classes; target 'ill' (named by the price list); prices of clinic.toml and"
        " its error costs.",
        "named.csv: 80 cases, 2 tests, 2 classes; target 'Class' (by its name); random prices.",
        "zipped.csv.gz: 80 cases, 2 tests, 2 classes; target 'last' (the last column); random prices.",
    ]
    page = files[1].read_text()
    assert all(f"- {line}" in page for line in said)
    assert "nothing was tuned on your data" in page
    assert "in geometric mean of 10 problems (95 % interval over problems " in page  # the list has a fourth level
    assert "| clinic, own | list |" in page
    assert "| zipped, 50 | random |" in page
    assert table.pictures[0].names == [f"{name}, {level}" for name, level in _problems()]


def _problems():
    return [
        (name, level)
        for name in ("clinic", "named", "zipped")
        for level in ("0.5", "5", "50", *(["own"] if name == "clinic" else []))
    ]


def test_the_table_has_the_geometric_means_of_the_cells(folder, tmp_path):
    out = tmp_path / "out"
    table, _, _ = reproduce(folder, out)
    lines = [line.split(",") for line in (out / "cells-unseen.csv").read_text().replace('"', "").splitlines()]
    found = {}
    for line in lines[1:]:
        found.setdefault((line[1], line[3]), {}).setdefault(line[4], []).append(float(line[-3]))
    assert all(len(costs) == unseen.SPLITS for problem in found.values() for costs in problem.values())
    means = {problem: {name: np.mean(costs) for name, costs in own.items()} for problem, own in found.items()}
    logs = [math.log(own["auto"] / min(own[name] for name in QUICK_RIVALS)) for own in means.values()]
    width = 2.2621571628 * np.std(logs, ddof=1) / math.sqrt(10)  # Student's t with 9 degrees of freedom
    shown = {column: table.entries["AutoClassifier", column].ours.mean for column in table.columns}
    assert shown[unseen.COST] == pytest.approx(math.exp(np.mean([math.log(own["auto"]) for own in means.values()])))
    assert shown[unseen.RATIO] == pytest.approx(math.exp(np.mean(logs)))
    assert shown[unseen.LOW] == pytest.approx(math.exp(np.mean(logs) - width))
    assert shown[unseen.HIGH] == pytest.approx(math.exp(np.mean(logs) + width))
    assert shown[unseen.ABOVE] == pytest.approx(100 * np.mean(np.array(logs) > math.log(1.1)))


def test_a_cell_is_what_the_learner_costs_on_new_cases(folder):
    table = unseen_data.load("clinic", str(folder))
    cell = Cell("clinic", "list", "own", "dtmc", 'cases=60 table="x"', 3)
    split = table.split(60, "own", seed_of(cell) % 2**31)
    assert (len(split.y), len(split.y_new)) == (36, 24)
    assert split.costs.tests["cough"].price == 5
    known = {"nominal": ["cough"], "columns": ["fever", "cough"], "random_state": seed_of(cell) % 2**31}
    clf = ww.DTMCClassifier(costs=split.costs, **known).fit(split.X, split.y)
    numbers = unseen.measure(cell, str(folder))
    whole = split.costs.standard_cost(split.y)
    assert numbers["cost"] == pytest.approx(100 * clf.total_costs(split.X_new, split.y_new).mean() / whole)
    assert numbers["expected"] == pytest.approx(100 * clf.expected_cost_ / whole)
    none = unseen.measure(Cell("clinic", "list", "5", "no test", 'cases=60 table="x"', 3), str(folder))
    errors = 5 * 7.0  # five times the price of both tests
    wrong = {label: float((split.y != label).mean()) for label in ("yes", "no")}
    answer = min(wrong, key=lambda label: wrong[label])
    cost = errors * float((split.y_new != answer).mean())
    assert none["cost"] == pytest.approx(100 * cost / (7 + errors * wrong[answer]))


def test_cells_do_not_depend_on_the_order(folder, tmp_path):
    first, _, _ = reproduce(folder, tmp_path / "one", only=["named"])
    reproduce(folder, tmp_path / "parts", only=["named", "dtmc"])
    with joblib.parallel_config("threading"):  # other processes would not know the small learners
        parts, _, _ = reproduce(folder, tmp_path / "parts", only=["named"], jobs=2)
    assert parts.entries == first.entries
    assert "named, 5" in first.breakdowns[0].rows
    assert not any(row.startswith("clinic") for row in first.breakdowns[0].rows)


def test_finished_cells_are_kept_until_the_file_changes(folder, tmp_path, monkeypatch):
    reproduce(folder, tmp_path, quick=True)
    ran = []
    monkeypatch.setattr(unseen_data.UnseenTable, "split", lambda *_: ran.append(1) or 1 / 0)
    reproduce(folder, tmp_path, quick=True)
    assert ran == []
    write_table(folder / "named.csv", "Class", seed=9)
    with pytest.raises(ZeroDivisionError):
        reproduce(folder, tmp_path, quick=True)


def test_quick_takes_few_files_and_one_split(folder, tmp_path):
    _, files, said = reproduce(folder, tmp_path, quick=True)
    assert said[-1] == "zipped.csv.gz: left out by --quick, which takes 2 tables."
    lines = (tmp_path / "cells-unseen.csv").read_text().splitlines()
    assert len(lines) == 1 + (4 + 3) * 5
    assert "quick version" in files[1].read_text()
    assert "published" not in files[1].read_text().split("##")[0]


def test_files_that_cannot_be_used_are_named_in_one_line(folder):
    (folder / "broken.csv").write_text("a,b\n1\n1,2,3\n")
    (folder / "measured.csv").write_text("a,b\n" + "\n".join(f"{i},{i % 50 / 7}" for i in range(99)))
    (folder / "same.csv").write_text("a,class\n" + "1,x\n" * 60)
    (folder / "small.csv").write_text("a,class\n1,x\n2,y\n")
    (folder / "garbage.csv.gz").write_bytes(b"no gzip")
    (folder / "clinic.csv.gz").write_bytes(b"")
    (folder / "bytes.csv").write_bytes(b"a,class\n" + bytes(range(128, 256)))
    (folder / "notes.txt").write_text("not a table")
    _, said = unseen.in_folder(str(folder), False)
    skipped = dict(line.split(": skipped: ") for line in said if ": skipped: " in line)
    assert skipped["clinic.csv.gz"] == "clinic.csv has the same name."
    assert "too few cases" in skipped["small.csv"]
    assert "only one class" in skipped["same.csv"]
    assert "predicts classes, not numbers" in skipped["measured.csv"]
    assert {"broken.csv", "garbage.csv.gz"} <= set(skipped)
    assert skipped["bytes.csv"].startswith("line 2: is neither UTF-8 nor Windows")
    assert skipped["bytes.csv"].endswith("; save the file as UTF-8.")
    assert not any("\n" in line or str(folder) in line for line in said)
    assert "notes.txt" not in "".join(said)


def test_a_folder_without_tables_is_an_error(folder, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match=r"empty: has no table that can be used; tables are files \*\.csv"):
        reproduce(empty, tmp_path / "out")
    (empty / "small.csv").write_text("a,class\n1,x\n2,y\n")
    with pytest.raises(ValueError, match=r"no table that can be used: small\.csv: skipped: too few cases"):
        reproduce(empty, tmp_path / "out")
    with pytest.raises(ValueError, match="name it with --data"):
        reproduce(None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_rivals_that_fail_or_are_missing_are_named(folder, tmp_path, monkeypatch):
    def fails(problem):
        raise RuntimeError("all features are constant")

    rivals = {**total_cost.RIVALS, "breaks": ("", fails), "absent": ("no_such_library", fails)}
    monkeypatch.setattr(total_cost, "RIVALS", rivals)
    table, files, _ = reproduce(folder, tmp_path / "out", quick=True)
    page = files[1].read_text()
    assert "breaks could not learn from clinic, named." in page
    assert "Left out, since a library is not installed: absent (needs no_such_library)." in page
    assert math.isnan(table.entries["breaks", unseen.RATIO].ours.mean)
    assert table.entries["AutoClassifier", unseen.RATIO].ours.mean > 0


def test_without_rivals_there_is_no_ratio(folder, tmp_path):
    table, files, _ = reproduce(folder, tmp_path / "out", quick=True, only=["auto"])
    assert math.isnan(table.entries["AutoClassifier", unseen.RATIO].ours.mean)
    assert not table.pictures
    table, files, _ = reproduce(folder, tmp_path / "none", quick=True, minutes=0)
    assert table.rows == []
    assert "Finished: 0 of 7 problems." in files[1].read_text()


def test_the_learners_are_those_of_the_package():
    for own in unseen.LEARNERS.values():
        getattr(ww, own.name)(n_jobs=1, **own.parameters)
    assert list(unseen.LEARNERS) == ["auto", "readable", "dtmc", "eg2", "cascade"]

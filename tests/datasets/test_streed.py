"""pystreed's benchmark: files, price lists in two levels, splits, and what is refused."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.datasets import STREED, STREED_LEVELS, load_streed

FOLDER = os.environ.get("WORTHWHILE_DATA", "")
needs_folder = pytest.mark.skipif(not FOLDER, reason="WORTHWHILE_DATA does not name a folder of data sets")
CELLS = [(name, level) for name in STREED for level in STREED_LEVELS]


@dataclass
class Published:
    """A price file, read in the simplest way."""

    errors: np.ndarray
    attribute_of: list[int]  # by column
    first: list[float]
    later: list[float]
    group: list[str]

    @classmethod
    def read(cls, name: str, level: str) -> Published:
        text = (Path(FOLDER) / "streed_costs" / f"{name}-{level}-costs.csv").read_text()
        matrix, table = text.split("Attribute-name", 1)
        rows = [line.split() for line in table.splitlines()[1:]]
        spans = [range(int(row[4]), int(row[5]) + 1) for row in rows]
        attribute_of = [place for place, span in enumerate(spans) for _ in span]
        errors = np.array([[float(cost) for cost in line.split()] for line in matrix.splitlines()])
        return cls(errors, attribute_of, *([float(r[i]) for r in rows] for i in (1, 2)), [r[3] for r in rows])

    def prices(self, columns: list[int]) -> list[float]:
        """What each of these columns costs if they are bought one after the other."""
        bought: list[int] = []
        found = []
        for column in columns:
            own = self.attribute_of[column]
            discounted = self.group[own] != "x" and any(self.group[other] == self.group[own] for other in bought)
            found.append(0.0 if own in bought else self.later[own] if discounted else self.first[own])
            bought.append(own)
        return found


@needs_folder
@pytest.mark.parametrize(("name", "level"), CELLS)
def test_prices_are_those_of_the_file(name: str, level: str, tmp_path: Path) -> None:
    data, published = load_streed(name, level, as_frame=False), Published.read(name, level)
    assert len(published.attribute_of) == data.X.shape[1] == len(data.costs.tests)
    classes = [str(label) for label in range(len(published.errors))]
    assert data.costs.error_matrix(classes)[1].tolist() == published.errors.tolist()
    data.costs.write(tmp_path / "costs.toml")
    data.costs.write(tmp_path / "costs.csv")
    assert ww.Costs.read(tmp_path / "costs.toml") == ww.Costs.read(tmp_path / "costs.csv") == data.costs
    rng = np.random.default_rng(0)
    for _ in range(40):
        order = rng.permutation(data.X.shape[1])[: rng.integers(1, data.X.shape[1] + 1)].tolist()
        paid: set[str] = set()
        found = []
        for column in order:
            found.append(data.costs.price(data.feature_names[column], paid=paid))
            paid |= {data.feature_names[column], *data.costs.tests[data.feature_names[column]].requires}
        np.testing.assert_allclose(found, published.prices(order), rtol=1e-12, atol=1e-11)


@needs_folder
@pytest.mark.parametrize("name", ["annealing", "breast", "flare", "heart", "nursery", "soybean"])
def test_trees_charge_what_the_file_says(name: str) -> None:
    """Every case of a learned tree pays for the columns on its path, in their order."""
    data, published = load_streed(name, "high", as_frame=False), Published.read(name, "high")
    clf = ww.EG2Classifier(costs=data.costs, columns=data.feature_names, prune="none", cross_fit=False, max_depth=6)
    train, test = data.splits[0]
    clf.fit(data.X[train], data.y[train])
    nodes = clf.tree_.nodes
    cases = data.X[test]
    expected = []
    for case in cases:
        at, path = 0, []
        while nodes.test[at] >= 0:
            path.append(int(nodes.test[at]))
            at = int(nodes.first_child[at]) + int(case[path[-1]] > nodes.threshold[at])
        expected.append(sum(published.prices(list(dict.fromkeys(path)))))
    assert len(set(expected)) > 3
    np.testing.assert_allclose(clf.test_costs(cases), expected, rtol=1e-12)


@needs_folder
@pytest.mark.parametrize("name", STREED)
def test_cases_and_splits(name: str) -> None:
    data = load_streed(name, "low", as_frame=False)
    folder = Path(FOLDER) / "streed_costs"
    lines = gzip.decompress((folder / f"{name}.txt.gz").read_bytes()).decode().splitlines()
    assert [f"{label} {' '.join(map(str, case))}" for label, case in zip(data.y, data.X.tolist(), strict=True)] == lines
    rows = gzip.decompress((folder / f"{name}-test-rows.txt.gz").read_bytes()).decode().splitlines()
    assert len(data.splits) == len(rows) == 30
    for (train, test), line in zip(data.splits, rows, strict=True):
        assert test.tolist() == sorted(map(int, line.split()))
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(len(data.y)))


# --- files made for these tests ---------------------------------------------------------------------------------------

COSTS = """0 5
10 0
Attribute-name test-cost discount group binarize-begin binarize-end
a 3.0 3.0 x 0 1
b 4.0 1.0 g 2 2
c 6.0 3.0 g 3 4
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small problem, called iris."""
    monkeypatch.setenv("WORTHWHILE_DATA", str(tmp_path))
    place = tmp_path / "streed_costs"
    place.mkdir()
    (place / "iris-low-costs.csv").write_text(COSTS)
    write(place / "iris.txt.gz", "0 0 1 0 1 0\n1 1 0 1 0 0\n1 1 0 1 0 1\n")
    write(place / "iris-test-rows.txt.gz", "0\n2 1\n")
    return place


def write(path: Path, text: str) -> None:
    with gzip.open(path, "wt") as file:
        file.write(text)


def test_a_small_problem(folder: Path) -> None:
    data = load_streed("iris", "low", as_frame=False)
    assert (data.name, data.y.tolist(), data.nominal) == ("iris-low", ["0", "1", "1"], [])
    assert data.X.tolist() == [[0, 1, 0, 1, 0], [1, 0, 1, 0, 0], [1, 0, 1, 0, 1]]
    assert data.X.dtype.kind == "i"
    assert data.feature_names == ["a.0", "a.1", "b", "c.0", "c.1"]
    assert [(train.tolist(), test.tolist()) for train, test in data.splits] == [([1, 2], [0]), ([0], [1, 2])]
    assert data.costs == ww.Costs(
        tests={
            "a.0": ww.Test(0, group="a"),
            "a.1": ww.Test(0, group="a"),
            "b": ww.Test(1, group="group g"),
            "c.0": ww.Test(0, group=("c", "group g")),
            "c.1": ww.Test(0, group=("c", "group g")),
        },
        groups={"a": 3, "group g": 3, "c": 3},
        errors=[[0, 5], [10, 0]],
        classes=["0", "1"],
    )
    frame = load_streed("iris", "low").X
    assert frame["c.1"].tolist() == [0, 0, 1]
    assert all(kind.kind == "i" for kind in frame.dtypes)


def test_discounts_that_differ_in_a_group(folder: Path) -> None:
    (folder / "iris-low-costs.csv").write_text(COSTS.replace("c 6.0 3.0", "c 6.0 5.5"))
    costs = load_streed("iris", "low").costs
    assert (costs.price("b"), costs.price("c.1")) == (4, 6)
    assert costs.price("c.1", paid={"b"}) == costs.price("c.0", paid={"b"}) == 5.5
    assert costs.price("b", paid={"c.1", "c.0"}) == 1
    assert costs.price("c.1", paid={"c.0", "b"}) == 0
    assert costs.price("b", paid={"a.0"}) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("10 0", "10", "line 2: 1 error costs, but the first row has 2"),
        ("10 0", "10 -1", "line 2: '-1' must be a number of at least 0"),
        ("10 0\n", "", "must be a square"),
        ("b 4.0", "b four", "line 5: 'four' is not a number"),
        ("b 4.0", "a 4.0", "line 5: there are two attributes 'a'"),
        ("g 2 2", "g 3 3", "line 5: b has columns 3 to 3, but they must begin at 2"),
        ("3.0 3.0 x", "3.0 2.0 x", "line 4: a has two prices but no group"),
        ("b 4.0 1.0 g 2 2", "b 4.0 1.0", "line 5: 3 fields; needed: name, two prices"),
        ("Attribute-name", "Attributes", "line 3: 'Attributes' is not a number"),
        (COSTS[COSTS.index("a 3.0") :], "", "no attributes"),
        (COSTS[COSTS.index("Attribute") :], "", "no line that begins with Attribute-name"),
    ],
)
def test_damaged_prices_are_refused(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "iris-low-costs.csv"
    path.write_text(COSTS.replace(old, new))
    with pytest.raises(ValueError, match=message) as error:
        load_streed("iris", "low")
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("iris.txt.gz", "0 0 1 0 1\n", "line 1: 5 fields; the class and 5 columns are needed"),
        ("iris.txt.gz", "2 0 1 0 1 0\n", "line 1: '2' must be a whole number from 0 to 1"),
        ("iris.txt.gz", "0 0 1 0 1 0\n1 0 1 0 1 2\n", "line 2: '2' must be 0 or 1"),
        ("iris.txt.gz", "", "no cases"),
        ("iris-test-rows.txt.gz", "0\n3\n", "line 2: '3' must be a whole number from 0 to 2"),
        ("iris-test-rows.txt.gz", "0 0\n", "line 1: a case is named twice"),
        ("iris-test-rows.txt.gz", "0 1 2\n", "line 1: no case is left to train on"),
        ("iris-test-rows.txt.gz", "", "no splits"),
    ],
)
def test_damaged_cases_and_splits_are_refused(folder: Path, file: str, text: str, message: str) -> None:
    write(folder / file, text)
    with pytest.raises(ValueError, match=message) as error:
        load_streed("iris", "low")
    assert str(folder / file) in str(error.value)


def test_missing_files_and_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="unknown problem 'lily'; valid: annealing, breast, car"):
        load_streed("lily", "low")
    with pytest.raises(ValueError, match="unknown level of error costs 'medium'; valid: low, middle, high"):
        load_streed("iris", "medium")
    with pytest.raises(ValueError, match=r"iris-high-costs.csv: the file is missing"):
        load_streed("iris", "high")
    (folder / "iris.txt.gz").write_bytes(b"not compressed")
    with pytest.raises(ValueError, match=r"iris.txt.gz: cannot be read"):
        load_streed("iris", "low")
    monkeypatch.setenv("WORTHWHILE_DATA", "")
    with pytest.raises(ValueError, match="WORTHWHILE_DATA to a folder that contains streed_costs/iris"):
        load_streed("iris", "low")

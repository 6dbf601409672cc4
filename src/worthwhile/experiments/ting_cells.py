"""The cells of Ting (1998): data sets, folds, cost matrices, the learners, and what is measured.

Section 3 of the paper: ten ten-fold cross-validations per data set, which are 100 trials, and a random cost matrix at
the beginning of each. The paper has 22 data sets; Coding is not to be had. It names the others and says no more about
them. Where there are several versions, ours is the one with which C4.5 has the errors and the tree size that the paper
prints for C4.5 (here in brackets):

- The C4.5 of the paper is Release 8: without its correction for numeric tests, the trees of Diab. have 121 nodes, with
  it 43 (41.9), and so on with every data set that has numbers.
- *German* and *Heart_S* have Statlog's costs, 5 and 1. The paper writes cost(2, 1) = 5 with the predicted class first:
  to call a good customer bad costs 5. Statlog means it the other way round, but the paper's numbers are those of its
  notation: C4.5CS answers "good" to almost everybody and makes 29.9 errors in 100, 0.1 of them dear.
- *Heart*, *Heart_S*: all columns are numbers.
- *Horse*: without the column outcome. With it, the trees have 8.6 nodes, without 11.7 (11.6).
- *Anneal.*: "?" is a missing value. 6.7 errors (6.7); if it is a value, 1.2.
- *Vowel*: the ten numbers alone, without the speakers' sex.
- *Splice*: without the 15 cases that have letters other than A, C, G and T.
- *Abalone*: 1 to 8, 9 or 10, and 11 or more rings.
- *Net(s)*: seven letters around each letter of a word, "_" beyond its ends; the class is the stress. The words are the
  thousand commonest of Sejnowski & Rosenberg (1987), which have 5,438 letters: 94.0 errors (94.0) and 2,068 nodes
  (2,061.6). A random thousand has 7,335 letters, 175 errors and 2,314 nodes; the first thousand of the file 7,698, 197
  and 2,452. Of a word that is in the file several times, the first counts.
- *Wave*: Breiman et al. (1984), 21 columns: 1,430 errors (1,522) and 52.1 nodes (51.0). With 19 more columns of noise,
  as in a version of the time, they would be 1,495 and 50.9. 300 cases to learn from, 5,000 to test, drawn anew for each
  trial.
"""

from __future__ import annotations

import functools
import importlib
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.experiments.engine import Cell, Family, Numbers, load, parameters_of, seed_of, text_of
from worthwhile.learners.folds import stratified_folds

__all__ = ["DATA", "FAMILY", "FOLDS", "LEARNERS", "TRIALS", "Cases", "cases_of", "cell_of", "matrix_of", "measure"]

FOLDS, TRIALS = 10, 100
HIGHEST = 10  # error cost that is drawn
DRAWN, FIXED = "drawn", "fixed"
WAVE = "wave"
WAVE_TRAIN, WAVE_TEST = 300, 5000
SIDE = 3  # letters on either side of the one whose stress is asked for

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cases:
    """What is learned from; values may be missing."""

    X: npt.NDArray[Any]
    y: npt.NDArray[np.str_]
    nominal: Sequence[str]
    columns: Sequence[str]
    classes: Sequence[str]

    def take(self, rows: npt.NDArray[Any]) -> Cases:
        """Return some of the cases, of the same classes."""
        return replace(self, X=self.X[rows], y=self.y[rows])


def _numbers(cases: Cases) -> Cases:
    """Take names of values for numbers."""
    X = np.array([[np.nan if value is None else float(value) for value in row] for row in cases.X])
    return replace(cases, X=X, nominal=[])


def _without(column: str, cases: Cases) -> Cases:
    kept = [name for name in cases.columns if name != column]
    places = [cases.columns.index(name) for name in kept]
    return replace(cases, X=cases.X[:, places], columns=kept, nominal=[name for name in cases.nominal if name in kept])


def _heart(cases: Cases) -> Cases:
    return replace(_numbers(cases), y=np.where(cases.y == "0", "well", "ill"))


def _anneal(cases: Cases) -> Cases:
    X = cases.X.copy()
    X[X == "?"] = None
    return replace(cases, X=X)


def _splice(cases: Cases) -> Cases:
    return cases.take(np.array([set(row) <= set("ACGT") for row in cases.X]))


def _abalone(cases: Cases) -> Cases:
    rings = cases.y.astype(int)
    return replace(cases, y=np.where(rings <= 8, "1-8", np.where(rings <= 10, "9-10", "11+")))


def windows(words: Sequence[str], stresses: Sequence[str]) -> tuple[npt.NDArray[Any], npt.NDArray[np.str_]]:
    """Return the letters around each letter of each word, and its stress.

    Examples
    --------
    >>> X, y = windows(["aback"], ["0>1<<"])
    >>> ["".join(letters) for letters in X], y.tolist()
    (['___abac', '__aback', '_aback_', 'aback__', 'back___'], ['0', '>', '1', '<', '<'])
    """
    padded = ("_" * SIDE + word + "_" * SIDE for word in words)
    letters = [list(text[i : i + 2 * SIDE + 1]) for text in padded for i in range(len(text) - 2 * SIDE)]
    return np.array(letters, dtype=object), np.array([symbol for stress in stresses for symbol in stress])


def _net(cases: Cases) -> Cases:
    words, stresses = (cases.X[:, cases.columns.index(name)].tolist() for name in ("word", "stress"))
    stress_of = dict(zip(reversed(words), reversed(stresses), strict=True))  # of equal words the first
    wanted = (Path(__file__).parent / "published" / "nettalk-words.txt").read_text("utf-8").split()
    for word in wanted:
        if word not in stress_of:
            raise ValueError(f"nettalk_words: has no word {word!r}, which is one of the thousand of Net(s)")
    X, y = windows(wanted, [stress_of[word] for word in wanted])
    columns = [f"letter{place:+d}" for place in range(-SIDE, SIDE + 1)]
    return replace(cases, X=X, y=y, columns=columns, nominal=columns)


@dataclass(frozen=True)
class Data:
    """A data set of Table 1: its name there, where it comes from and what is done to it.

    Error costs are drawn unless it has its own: the cost of an error about a case of each class.
    """

    title: str
    source: str  # a data set of the package or the folder; none: made up
    change: Callable[[Cases], Cases] | None = None
    errors: Mapping[str, float] = field(default_factory=dict)
    effort: float = 1.0  # how long learning takes, compared with the smallest


TWO_CLASSES = {
    "echo": Data("Echo", "echocardiogram"),
    "hepa": Data("Hepa", "hepatitis", effort=2.0),
    "heart-s": Data("Heart_S", "heart_statlog", errors={"absent": 5.0, "present": 1.0}),
    "heart": Data("Heart", "heart_cleveland", _heart),
    "horse": Data("Horse", "horse_colic", functools.partial(_without, "outcome"), effort=5.0),
    "credit": Data("Credit", "credit_approval_crx", effort=6.0),
    "breast": Data("Breast", "breast_wisconsin"),
    "diab": Data("Diab", "pima", effort=2.0),
    "german": Data("German", "german_credit", errors={"good": 5.0, "bad": 1.0}, effort=10.0),
    "hypo": Data("Hypo", "hypothyroid", effort=20.0),
    "euthyr": Data("Euthyr", "sick_euthyroid", effort=20.0),
}
MORE_CLASSES = {
    "lympho": Data("Lympho", "lymphography", effort=3.0),
    "glass": Data("Glass", "glass", effort=2.0),
    WAVE: Data("Wave", "", effort=7.0),
    "soybean": Data("Soybean", "soybean_large", effort=10.0),
    "anneal": Data("Anneal", "annealing", _anneal, effort=12.0),
    "vowel": Data("Vowel", "vowel", functools.partial(_without, "Sex"), effort=7.0),
    "splice": Data("Splice", "splice", _splice, effort=50.0),
    "abalone": Data("Abalone", "abalone", _abalone, effort=25.0),
    "net-s": Data("Net(s)", "nettalk_words", _net, effort=60.0),
    "sat": Data("Sat", "satimage", effort=120.0),
}
DATA = {**TWO_CLASSES, **MORE_CLASSES}


@dataclass(frozen=True)
class Learner:
    """What a learner is called in the tables, where it is found, its parameters, and about how long it takes.

    Seconds: always, and per effort of the data set.
    """

    label: str
    module: str
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    always: float = 0.002
    effort: float = 0.001


_CS = ("worthwhile.c45cs", "C45CSClassifier")
_RELEASE8 = {"mdl_correction": True}
_MATRIX = _RELEASE8 | {"weighting": None, "prune": "cost", "answer": "least-cost"}
# A new learner is a line here. It is made with costs, nominal, columns and random_state; it has fit, predict, and
# either n_nodes_ or a tree_ with n_nodes.
LEARNERS = {
    "c45": Learner("C4.5", "worthwhile.greedy", "C45Classifier", _RELEASE8),
    "c45-mc": Learner("C4.5_mc", "worthwhile.greedy", "C45Classifier", _RELEASE8 | {"answer": "least-cost"}),
    "c45cs": Learner("C4.5CS", *_CS, _RELEASE8),
    "c45cs-mc": Learner("C4.5CS_mc", *_CS, _RELEASE8 | {"answer": "least-cost"}),
    "c45-priors": Learner("C4.5(π')", *_CS, _RELEASE8 | {"priors": "altered"}),
    "matrix": Learner("full matrix, expected cost", *_CS, _MATRIX),
    "matrix-chosen": Learner("full matrix, chosen", *_CS, _MATRIX | {"temper": "chosen", "trust": "chosen"}, 0.3, 0.04),
    "sklearn": Learner("scikit-learn", "worthwhile.experiments.peers", "PrunedTreeClassifier", {}, 0.1, 0.06),
}


def cell_of(data: str, learner: str, split: int) -> Cell:
    """Return where a learner is measured in a trial; the trials of seed s are 100 s to 100 s + 99.

    Examples
    --------
    >>> cell_of("german", "c45", 107)
    Cell(data='german', prices='free', errors='fixed', learner='c45', parameters='mdl_correction=true', split=107)
    """
    errors = FIXED if DATA[data].errors else DRAWN
    return Cell(data, "free", errors, learner, text_of(LEARNERS[learner].parameters), split)


@functools.cache
def cases_of(name: str, folder: str | None) -> Cases:
    """Load a data set, or a trial's worth of a made-up one."""
    known = DATA[name]
    if not known.source:
        return waveform(WAVE_TRAIN, np.random.default_rng(0))
    found = load(known.source, folder)
    cases = Cases(found.X, found.y, found.nominal, found.feature_names, ())
    cases = known.change(cases) if known.change else cases
    return replace(cases, classes=sorted(set(cases.y.tolist())))


def waveform(n: int, rng: np.random.Generator) -> Cases:
    """Draw cases of the waveform problem (Breiman et al. 1984, section 2.6.2).

    Three waves at the places 1 to 21 are triangles of height 6 with their tips at 7, 15 and 11. Of each class, with the
    same probability, a case is a random mixture of two of them, 1 and 2, 1 and 3, or 2 and 3, and every column has
    normal noise.

    Examples
    --------
    >>> waveform(300, np.random.default_rng(0)).X.shape
    (300, 21)
    """
    waves = np.maximum(6.0 - np.abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0.0)
    first, second = waves[[0, 0, 1]], waves[[1, 2, 2]]
    classes = rng.integers(3, size=n)
    share = rng.uniform(size=(n, 1))
    X = share * first[classes] + (1 - share) * second[classes] + rng.standard_normal((n, 21))
    names = [f"x{place}" for place in range(1, 22)]
    return Cases(X, (classes + 1).astype(str), [], names, ["1", "2", "3"])


@functools.lru_cache(maxsize=64)
def folds_of(data: str, repeat: int, folder: str | None) -> npt.NDArray[np.intp]:
    """Return the fold of every case in a cross-validation; the same for all learners."""
    y = cases_of(data, folder).y
    rng = np.random.default_rng([zlib.crc32(data.encode()), repeat])
    return stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), FOLDS, rng)


def parts(data: str, split: int, folder: str | None) -> tuple[Cases, Cases]:
    """Return what to learn from and what to test with in a trial."""
    if data == WAVE:
        rng = np.random.default_rng([zlib.crc32(data.encode()), split])
        return waveform(WAVE_TRAIN, rng), waveform(WAVE_TEST, rng)
    test = folds_of(data, split // FOLDS, folder) == split % FOLDS
    cases = cases_of(data, folder)
    return cases.take(~test), cases.take(test)


def matrix_of(data: str, classes: Sequence[str], split: int) -> Floats:
    """Return a trial's error costs [truth][answer]: whole numbers from 1 to 10, of which at least one is 1.

    The last is the paper's unity condition: if no cost is 1, one of them, drawn at random, becomes 1.

    Examples
    --------
    >>> matrix_of("german", ["bad", "good"], 0).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    >>> matrix_of("hepa", ["1", "2"], 3).min(axis=1).tolist(), bool((matrix_of("hepa", ["1", "2"], 3) == 1).any())
    ([0.0, 0.0], True)
    """
    wrong = ~np.eye(len(classes), dtype=bool)
    if own := DATA[data].errors:
        return np.array([[own[truth]] for truth in classes]) * wrong
    rng = np.random.default_rng([zlib.crc32(f"{data}/costs".encode()), split])
    drawn = rng.integers(1, HIGHEST + 1, size=wrong.sum())
    one = rng.integers(len(drawn))
    if not (drawn == 1).any():
        drawn[one] = 1
    matrix = np.zeros(wrong.shape)
    matrix[wrong] = drawn
    return matrix


def measure(cell: Cell, folder: str | None) -> Numbers:
    """Learn from the one part of a trial and measure on the other, all test cases together."""
    train, test = parts(cell.data, cell.split, folder)
    matrix = matrix_of(cell.data, train.classes, cell.split)
    known = LEARNERS[cell.learner]
    learner = getattr(importlib.import_module(known.module), known.name)(
        costs=Costs(errors=matrix, classes=train.classes),
        nominal=train.nominal,
        columns=train.columns,
        random_state=seed_of(cell),
        **parameters_of(cell.parameters),
    )
    start = time.perf_counter()
    learner.fit(train.X, train.y)
    seconds = time.perf_counter() - start
    nodes = learner.n_nodes_ if hasattr(learner, "n_nodes_") else learner.tree_.n_nodes
    return {**judged(test.y, learner.predict(test.X), train.classes, matrix), "nodes": nodes, "seconds": seconds}


def judged(y: npt.NDArray[Any], answers: npt.NDArray[Any], classes: Sequence[str], matrix: Floats) -> Numbers:
    """Return what answers cost together, how many are wrong, and how many of these cost more than 1.

    Examples
    --------
    >>> judged(np.array(["a", "b", "b"]), np.array(["b", "a", "b"]), ["a", "b"], np.array([[0.0, 1.0], [5.0, 0.0]]))
    {'cost': 6.0, 'high': 1.0, 'wrong': 2.0}
    """
    truths, given = (np.searchsorted(classes, labels) for labels in (y, answers))  # classes are sorted
    costs = matrix[truths, given]
    return {"cost": float(costs.sum()), "high": float((costs > 1).sum()), "wrong": float((truths != given).sum())}


def weight(cell: Cell) -> float:
    """Return about how many seconds a cell takes."""
    learner = LEARNERS[cell.learner]
    return learner.always + learner.effort * DATA[cell.data].effort


def order(cell: Cell) -> float:
    """Run the small data sets first, so that an unfinished grid has many of them."""
    return DATA[cell.data].effort


NUMBERS = ("cost", "nodes", "high", "wrong", "seconds")
FAMILY = Family("ting", NUMBERS, cases_of, measure, weight, order, partial=True)

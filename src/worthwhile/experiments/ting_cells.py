"""The cells of Ting (1998): data sets, folds, cost matrices, the learners, and what is measured.

Section 3 of the paper: ten ten-fold cross-validations per data set, which are 100 trials, and a random cost matrix at
the beginning of each. The paper has 22 data sets; Coding is unavailable. The paper gives no more than the names of the
others. Where there are several versions, ours is the one for which C4.5 has the errors and the tree size that the paper
prints for C4.5 (here in brackets):

- The C4.5 of the paper is Release 8: without its correction for numeric tests, the trees of Diab. have 121 nodes, with
  it 43 (41.9), and likewise for every data set with numeric columns.
- *German* and *Heart_S* have Statlog's costs, 5 and 1. The paper writes cost(2, 1) = 5 with the predicted class first:
  calling a good customer bad costs 5. Statlog means the opposite, but the paper's numbers follow its notation: C4.5CS
  answers "good" for almost everybody and makes 29.9 errors in 100, 0.1 of them expensive.
- *Heart*, *Heart_S*: all columns are numeric.
- *Horse*: without the column outcome. With it, the trees have 8.6 nodes, without 11.7 (11.6).
- *Anneal.*: "?" is a missing value. 6.7 errors (6.7); if it is a value, 1.2.
- *Vowel*: only the ten numeric columns, without the speakers' sex.
- *Splice*: without the 15 cases that have letters other than A, C, G and T.
- *Abalone*: 1 to 8, 9 or 10, and 11 or more rings.
- *Net(s)*: seven letters around each letter of a word, "_" outside the word; the class is the stress. The words are the
  thousand most common ones of Sejnowski & Rosenberg (1987), with 5,438 letters: 94.0 errors (94.0) and 2,068 nodes
  (2,061.6). A random thousand has 7,335 letters, 175 errors and 2,314 nodes; the first thousand of the file 7,698, 197
  and 2,452. If a word occurs several times in the file, the first one counts.
- *Wave*: Breiman et al. (1984), 21 columns: 1,430 errors (1,522) and 52.1 nodes (51.0). With 19 more columns of noise,
  as in another version of that time, they would be 1,495 and 50.9. 300 training and 5,000 test cases are drawn for each
  trial.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.experiments.engine import Cell, Family, Numbers, load, text_of
from worthwhile.experiments.peers import empulse_available
from worthwhile.experiments.problems import CaseSet, DataSource, LearnerSource
from worthwhile.learners.folds import stratified_folds

__all__ = ["DATA", "FAMILY", "FOLDS", "LEARNERS", "TRIALS", "applies", "cases_of", "cell_of", "matrix_of", "measure"]

FOLDS, TRIALS = 10, 100
HIGHEST = 10  # drawn error cost
DRAWN, FIXED = "drawn", "fixed"
WAVE = "wave"
WAVE_TRAIN, WAVE_TEST = 300, 5000
SIDE = 3  # letters on either side of the one whose stress is predicted

Floats = npt.NDArray[np.float64]


def _numbers(cases: CaseSet) -> CaseSet:
    """Read the names of values as numbers."""
    X = np.array([[np.nan if value is None else float(value) for value in row] for row in cases.X])
    return replace(cases, X=X, nominal=[])


def _without(column: str, cases: CaseSet) -> CaseSet:
    kept = [name for name in cases.columns if name != column]
    places = [cases.columns.index(name) for name in kept]
    return replace(cases, X=cases.X[:, places], columns=kept, nominal=[name for name in cases.nominal if name in kept])


def _heart(cases: CaseSet) -> CaseSet:
    return replace(_numbers(cases), y=np.where(cases.y == "0", "well", "ill"))


def _anneal(cases: CaseSet) -> CaseSet:
    X = cases.X.copy()
    X[X == "?"] = None
    return replace(cases, X=X)


def _splice(cases: CaseSet) -> CaseSet:
    return cases.take(np.array([set(row) <= set("ACGT") for row in cases.X]))


def _abalone(cases: CaseSet) -> CaseSet:
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


def _net(cases: CaseSet) -> CaseSet:
    words, stresses = (cases.X[:, cases.columns.index(name)].tolist() for name in ("word", "stress"))
    stress_of = dict(zip(reversed(words), reversed(stresses), strict=True))  # the first of equal words wins
    wanted = (Path(__file__).parent / "published" / "nettalk-words.txt").read_text("utf-8").split()
    for word in wanted:
        if word not in stress_of:
            raise ValueError(f"nettalk_words: lacks the word {word!r}, one of the thousand of Net(s)")
    X, y = windows(wanted, [stress_of[word] for word in wanted])
    columns = [f"letter{place:+d}" for place in range(-SIDE, SIDE + 1)]
    return replace(cases, X=X, y=y, columns=columns, nominal=columns)


TWO_CLASSES = {
    "echo": DataSource("Echo", "echocardiogram"),
    "hepa": DataSource("Hepa", "hepatitis", effort=2.0),
    "heart-s": DataSource("Heart_S", "heart_statlog", errors={"absent": 5.0, "present": 1.0}),
    "heart": DataSource("Heart", "heart_cleveland", _heart),
    "horse": DataSource("Horse", "horse_colic", functools.partial(_without, "outcome"), effort=5.0),
    "credit": DataSource("Credit", "credit_approval_crx", effort=6.0),
    "breast": DataSource("Breast", "breast_wisconsin"),
    "diab": DataSource("Diab", "pima", effort=2.0),
    "german": DataSource("German", "german_credit", errors={"good": 5.0, "bad": 1.0}, effort=10.0),
    "hypo": DataSource("Hypo", "hypothyroid", effort=20.0),
    "euthyr": DataSource("Euthyr", "sick_euthyroid", effort=20.0),
}
MORE_CLASSES = {
    "lympho": DataSource("Lympho", "lymphography", effort=3.0),
    "glass": DataSource("Glass", "glass", effort=2.0),
    WAVE: DataSource("Wave", "", effort=7.0),
    "soybean": DataSource("Soybean", "soybean_large", effort=10.0),
    "anneal": DataSource("Anneal", "annealing", _anneal, effort=12.0),
    "vowel": DataSource("Vowel", "vowel", functools.partial(_without, "Sex"), effort=7.0),
    "splice": DataSource("Splice", "splice", _splice, effort=50.0),
    "abalone": DataSource("Abalone", "abalone", _abalone, effort=25.0),
    "net-s": DataSource("Net(s)", "nettalk_words", _net, effort=60.0),
    "sat": DataSource("Sat", "satimage", effort=120.0),
}
DATA = {**TWO_CLASSES, **MORE_CLASSES}


def _learner(
    label: str, name: str, parameters: Mapping[str, Any], always: float = 0.002, effort: float = 0.001
) -> LearnerSource:
    return LearnerSource(name, always, effort, label, parameters)


_MDL = {"mdl_correction": True}
_MC = {"answer": "least-cost"}
_MATRIX = _MDL | _MC | {"weighting": None, "prune": "cost"}
_CHOSEN = _MATRIX | {"preset": "chosen", "soft_label_weight": "chosen"}
# To add a learner, add a line. It is created with costs, nominal, columns and random_state, and has fit, predict, and
# either n_nodes_ or a tree_ with n_nodes.
LEARNERS = {
    "c45": _learner("C4.5", "C45Classifier", _MDL),
    "c45-mc": _learner("C4.5_mc", "C45Classifier", _MDL | _MC),
    "c45cs": _learner("C4.5CS", "C45CSClassifier", _MDL),
    "c45cs-mc": _learner("C4.5CS_mc", "C45CSClassifier", _MDL | _MC),
    "c45-priors": _learner("C4.5(π')", "C45CSClassifier", _MDL | {"priors": "altered"}),
    "matrix": _learner("full matrix, expected cost", "C45CSClassifier", _MATRIX),
    "matrix-chosen": _learner("full matrix, chosen", "C45CSClassifier", _CHOSEN, 0.3, 0.04),
    "boosting": _learner("boosting, least cost", "CascadeClassifier", {"base": "boosting"}, 0.1, 0.04),
    "cascade": _learner("cascade", "CascadeClassifier", {}, 0.2, 0.08),
    "sklearn": _learner("scikit-learn", "PrunedTreeClassifier", {}, 0.1, 0.06),
    "forest": _learner("scikit-learn, forest", "LeastCostForestClassifier", {}, 0.3, 0.05),
    "threshold": _learner("scikit-learn, threshold", "TunedThresholdClassifier", {}, 1.0, 0.1),
    "empulse-threshold": _learner("empulse, threshold", "EmpulseThresholdClassifier", {}, 1.0, 0.1),
    "empulse-forest": _learner("empulse, forest", "EmpulseForestClassifier", {}, 1.0, 0.1),
}
TWO_CLASSES_ONLY = ("threshold", "empulse-threshold", "empulse-forest")


def applies(learner: str, data: str) -> bool:
    """Return whether a learner can be trained on a data set: some know two classes only, or need another library."""
    if learner.startswith("empulse") and not empulse_available():
        return False
    return learner not in TWO_CLASSES_ONLY or data in TWO_CLASSES


def cell_of(data: str, learner: str, split: int) -> Cell:
    """Return the cell of a learner in a trial; the trials of seed s are 100 s to 100 s + 99.

    Examples
    --------
    >>> cell_of("german", "c45", 107)
    Cell(data='german', prices='free', errors='fixed', learner='c45', parameters='mdl_correction=true', split=107)
    """
    errors = FIXED if DATA[data].errors else DRAWN
    return Cell(data, "free", errors, learner, text_of(LEARNERS[learner].parameters), split)


@functools.cache
def cases_of(name: str, folder: str | None) -> CaseSet:
    """Load a data set, or draw one trial of the generated one."""
    known = DATA[name]
    if not known.source:
        return waveform(WAVE_TRAIN, np.random.default_rng(0))
    found = load(known.source, folder)
    cases = CaseSet(found.X, found.y, found.nominal, found.feature_names, ())
    cases = known.prepare(cases) if known.prepare else cases
    return replace(cases, classes=sorted(set(cases.y.tolist())))


def waveform(n: int, rng: np.random.Generator) -> CaseSet:
    """Draw cases of the waveform problem (Breiman et al. 1984, section 2.6.2).

    Three waves over the positions 1 to 21 are triangles of height 6 with peaks at 7, 15 and 11. A case of a class is a
    random mixture of two of them (1 and 2, 1 and 3, or 2 and 3) plus normal noise in every column. Classes are equally
    likely.

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
    return CaseSet(X, (classes + 1).astype(str), [], names, ["1", "2", "3"])


@functools.lru_cache(maxsize=64)
def folds_of(data: str, repeat: int, folder: str | None) -> npt.NDArray[np.intp]:
    """Return the fold of every case in a cross-validation, the same for all learners."""
    y = cases_of(data, folder).y
    rng = np.random.default_rng([zlib.crc32(data.encode()), repeat])
    return stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), FOLDS, rng)


def parts(data: str, split: int, folder: str | None) -> tuple[CaseSet, CaseSet]:
    """Return the training and the test cases of a trial."""
    if data == WAVE:
        rng = np.random.default_rng([zlib.crc32(data.encode()), split])
        return waveform(WAVE_TRAIN, rng), waveform(WAVE_TEST, rng)
    test = folds_of(data, split // FOLDS, folder) == split % FOLDS
    cases = cases_of(data, folder)
    return cases.take(~test), cases.take(test)


def matrix_of(data: str, classes: Sequence[str], split: int) -> Floats:
    """Return a trial's error costs [truth][answer]: whole numbers from 1 to 10, of which at least one is 1.

    This is the paper's unity condition: if no cost is 1, a random one becomes 1.

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
    """Train on one part of a trial and measure on the other, summed over all test cases."""
    train, test = parts(cell.data, cell.split, folder)
    matrix = matrix_of(cell.data, train.classes, cell.split)
    costs = Costs(errors=matrix, classes=train.classes)
    learner, seconds = LEARNERS[cell.learner].fit(cell, costs, train)
    nodes = learner.n_nodes_ if hasattr(learner, "n_nodes_") else learner.tree_.n_nodes
    return {**answer_costs(test.y, learner.predict(test.X), train.classes, matrix), "nodes": nodes, "seconds": seconds}


def answer_costs(y: npt.NDArray[Any], answers: npt.NDArray[Any], classes: Sequence[str], matrix: Floats) -> Numbers:
    """Return the total cost of answers, the number of wrong ones, and how many of these cost more than 1.

    Examples
    --------
    >>> matrix = np.array([[0.0, 1.0], [5.0, 0.0]])
    >>> answer_costs(np.array(["a", "b", "b"]), np.array(["b", "a", "b"]), ["a", "b"], matrix)
    {'cost': 6.0, 'high': 1.0, 'wrong': 2.0}
    """
    truths, given = (np.searchsorted(classes, labels) for labels in (y, answers))  # classes are sorted
    costs = matrix[truths, given]
    return {"cost": float(costs.sum()), "high": float((costs > 1).sum()), "wrong": float((truths != given).sum())}


def weight(cell: Cell) -> float:
    """Return roughly how many seconds a cell takes."""
    learner = LEARNERS[cell.learner]
    return learner.always + learner.effort * DATA[cell.data].effort


def order(cell: Cell) -> float:
    """Return the sort key: small data sets run first, so that an unfinished grid has many of them."""
    return DATA[cell.data].effort


NUMBERS = ("cost", "nodes", "high", "wrong", "seconds")
FAMILY = Family("ting", NUMBERS, cases_of, measure, weight, order)

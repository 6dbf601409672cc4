"""The cells of Esmeir & Markovitch (2006, 2008): data sets, price lists, folds, the learners, and what is measured.

Section 4 of the paper of 2008: 25 data sets with four drawn price lists each, and Turney's five problems with their own
prices; one ten-fold cross-validation. That of 2006 has two other price lists for each data set. A learner
that ignores error costs is trained once per fold: the numbers of a cell are enough to compute the cost of its tree for
any error costs.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import datasets
from worthwhile.costs.costs import Costs
from worthwhile.experiments.engine import Cell, Family, Numbers, load, parameters_of
from worthwhile.experiments.problems import CaseSet, LearnerSource
from worthwhile.learners.folds import stratified_folds

__all__ = ["ANY", "DATA", "FAMILY", "FOLDS", "LISTS", "TURNEY", "PricedData", "errors_for", "measure", "normalized"]

FOLDS = 10
LISTS = 4
ANY = "any"  # error costs in the cells of learners that ignore them
TURNEY = ("bupa", "heart", "hepatitis", "pima", "thyroid")
SLOW = ("act-refined", "optimal", "auto")  # learners that run after the others


@dataclass(frozen=True)
class EsmeirData:
    """A data set of Table 5: where it comes from, and what the paper says about its columns and classes."""

    title: str
    sources: tuple[str, ...]  # data sets of the package or the data folder, concatenated; empty: generated
    nominal: tuple[str, ...] = ()  # numeric columns that the paper treats as nominal
    classes: tuple[str, ...] = ()  # in order, if that is not alphabetical
    tier: int = 0  # small, medium, large: what runs first
    effort: float = 1.0  # training time relative to breast cancer


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_KRK = ("draw", *_DIGITS, "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen")
_NURSERY = ("not_recom", "recommend", "very_recom", "priority", "spec_prior")

DATA = {
    "breast-cancer": EsmeirData("Breast Cancer", ("breast_cancer",), ("deg_malig",)),
    "bupa": EsmeirData("Bupa", ("turney-bupa",)),
    "car": EsmeirData("Car", ("car",), classes=("unacc", "acc", "good", "vgood"), tier=1, effort=2.0),
    "flare": EsmeirData("Flare", ("solar_flare1",)),
    "glass": EsmeirData("Glass", ("glass",)),
    "heart": EsmeirData("Heart", ("turney-heart",), ("ca",)),
    "hepatitis": EsmeirData("Hepatitis", ("turney-hepatitis",), effort=0.8),
    "iris": EsmeirData("Iris", ("iris",), effort=0.4),
    "krk": EsmeirData("KRK", ("krk",), ("wk_rank", "wr_rank", "bk_rank"), _KRK, tier=2, effort=75.0),
    "monks-1": EsmeirData("Monks-1", ("monks1_train", "monks1_test")),
    "monks-2": EsmeirData("Monks-2", ("monks2_train", "monks2_test")),
    "monks-3": EsmeirData("Monks-3", ("monks3_train", "monks3_test")),
    "multiplexer-20": EsmeirData("Multiplexer-20", (), effort=3.0),
    "multi-xor": EsmeirData("Multi-XOR", (), effort=0.7),
    "multi-and-or": EsmeirData("Multi-AND-OR", (), effort=0.7),
    "nursery": EsmeirData("Nursery", ("nursery",), classes=_NURSERY, tier=2, effort=14.0),
    "pima": EsmeirData("Pima", ("turney-pima",), effort=2.0),
    "tae": EsmeirData("TAE", ("tae",), effort=0.6),
    "tic-tac-toe": EsmeirData("Tic-Tac-Toe", ("tic_tac_toe",), effort=2.0),
    "titanic": EsmeirData("Titanic", ("titanic",), tier=1),
    "thyroid": EsmeirData("Thyroid", ("turney-thyroid",), tier=1, effort=6.0),
    "voting": EsmeirData("Voting", ("vote",), effort=0.8),
    "wine": EsmeirData("Wine", ("wine",)),
    "xor-3d": EsmeirData("XOR-3D", ()),
    "xor-5": EsmeirData("XOR-5", (), effort=0.7),
}


LEARNERS = {
    "c45": LearnerSource("C45Classifier", 0.005, 0.002, sees_errors=False),
    "lsid3": LearnerSource("LSID3Classifier", 0.01, 0.1, sees_errors=False),
    "idx": LearnerSource("IDXClassifier", 0.005, 0.002, sees_errors=False),
    "csid3": LearnerSource("CSID3Classifier", 0.005, 0.002, sees_errors=False),
    "eg2": LearnerSource("EG2Classifier", 0.005, 0.002, sees_errors=False, fixed={"variant": "paper"}),
    "dtmc": LearnerSource("DTMCClassifier", 0.005, 0.002),
    "icet": LearnerSource("ICETClassifier", 0.01, 0.25),  # for 1000 trials
    "act": LearnerSource("ACTClassifier", 0.01, 0.1),
    "act-refined": LearnerSource("ACTClassifier", 0.01, 1.0),
    "optimal": LearnerSource("OptimalClassifier", 2.0, 5.0, as_published=False),
    "auto": LearnerSource("AutoClassifier", 20.0, 5.0, as_published=False),
    "no-test": LearnerSource("NoTestClassifier", 0.005, 0.002),
}


# How price lists are drawn. The first two kinds are those of 2008, the others those of 2006: as many groups as a share
# of the tests, and a common price of the same share of the highest price in the group.
PRICES: Mapping[str, Mapping[str, Any]] = {
    "informative": {"informative": True},
    "uniform": {"informative": False},
    "shared20": {"informative": False, "groups": 0.2, "shared": 0.2},
    "shared80": {"informative": False, "groups": 0.8, "shared": 0.8},
}


@dataclass(frozen=True)
class PricedData:
    """A data set with one of its price lists: "published", "informative-0", "uniform-0", "shared20-0" etc."""

    data: str
    prices: str


def errors_for(learner: str, errors: str) -> str:
    """Return the error costs of the cell in which a learner is trained for these.

    Examples
    --------
    Without tests, the answer of least cost is the same for all uniform error costs.

    >>> errors_for("c45", "500:4000"), errors_for("dtmc", "500"), errors_for("no-test", "500")
    ('any', '500', 'any')
    """
    same = not LEARNERS[learner].sees_errors or (learner == "no-test" and ":" not in errors)
    return ANY if same else errors


@functools.cache
def cases_of(name: str, folder: str | None) -> CaseSet:
    """Load or generate a data set as in the paper: without incomplete cases, Monks' two parts as one."""
    known = DATA[name]
    parts = [load(source, folder) for source in known.sources] or [
        datasets.make(name, random_state=zlib.crc32(name.encode()), as_frame=False)
    ]
    X, y = np.vstack([part.X for part in parts]), np.concatenate([part.y for part in parts])
    complete = ~np.array([[value is None or value != value for value in row] for row in X]).any(axis=1)  # noqa: PLR0124
    classes = known.classes or sorted(set(y.tolist()))
    nominal = [column for column in parts[0].feature_names if column in {*parts[0].nominal, *known.nominal}]
    return CaseSet(X[complete], y[complete], nominal, parts[0].feature_names, classes, parts[0].costs)


@functools.cache
def prices_of(data: str, prices: str, folder: str | None) -> Costs:
    """Return a price list: Turney's without delays, as in the paper, or a drawn one."""
    cases = cases_of(data, folder)
    if prices == "published":
        return cases.costs.without_delays()
    kind, number = prices.split("-")
    return datasets.random_costs(
        cases.X,
        cases.y,
        **PRICES[kind],
        nominal=cases.nominal,
        columns=cases.columns,
        random_state=zlib.crc32(f"{data}/prices/{number}".encode()),
    )


def error_table(errors: str, classes: Sequence[str]) -> float | dict[str, dict[str, float]]:
    """Return error costs as `Costs` takes them.

    Parameters
    ----------
    errors : str
        The cost of every error, "any", or "FP:FN" (section 4.7): the cost of misclassifying a case of the first half
        of the classes, and one of the other half. For an odd number of classes, the first half is the smaller one.
    classes : sequence of str

    Examples
    --------
    >>> error_table("500:4000", ["a", "b"])
    {'a': {'a': 0.0, 'b': 500.0}, 'b': {'a': 4000.0, 'b': 0.0}}
    """
    if ":" not in errors:
        return 1.0 if errors == ANY else float(errors)
    first, second = map(float, errors.split(":"))
    cost = {truth: first if position < len(classes) // 2 else second for position, truth in enumerate(classes)}
    return {truth: {answer: cost[truth] * (truth != answer) for answer in classes} for truth in classes}


@functools.lru_cache(maxsize=64)
def folds_of(data: str, seed: int, folder: str | None) -> npt.NDArray[np.intp]:
    """Return the fold of every case in the cross-validation of a seed, the same for all learners and prices."""
    y = cases_of(data, folder).y
    rng = np.random.default_rng([zlib.crc32(data.encode()), seed])
    return stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), FOLDS, rng)


def measure(cell: Cell, folder: str | None) -> Numbers:
    """Train on all folds but one and measure on that one."""
    cases = cases_of(cell.data, folder)
    costs = prices_of(cell.data, cell.prices, folder).with_errors(error_table(cell.errors, cases.classes))
    test = folds_of(cell.data, cell.split // FOLDS, folder) == cell.split % FOLDS
    learner, seconds = LEARNERS[cell.learner].fit(cell, costs, cases.take(~test))
    answers, spent = learner.predict_with_prices(cases.X[test])
    wrong = answers != cases.y[test]
    first = np.isin(cases.y[test], cases.classes[: len(cases.classes) // 2])
    counts = np.unique(cases.y, return_counts=True)[1]
    tree = getattr(learner, "tree_", None)  # not every learner is one
    numbers = {
        "test_cost": float(spent.mean()),
        "wrong_first": float((wrong & first).mean()),
        "wrong_second": float((wrong & ~first).mean()),
        "all_tests": costs.total_price(),
        "least_wrong": 1 - counts.max() / counts.sum(),
        "nodes": tree.n_nodes
        if (tree := getattr(learner, "tree_", None)) is not None
        else 0.0,  # not every one is a tree
        "seconds": seconds,
    }
    # Seven digits are enough, and keep the file of finished cells small.
    return {name: float(f"{number:.7g}") for name, number in numbers.items()}


def normalized(numbers: Mapping[str, float], errors: str) -> float:
    """Return the cost of a cell's tree in percent of the standard cost (section 4.2.2), for these error costs.

    Examples
    --------
    Tests cost 10 of 20; 2 % errors in the first half of the classes and 1 % in the second, 30 % for the majority class.

    >>> cell = {"test_cost": 10.0, "wrong_first": 0.02, "wrong_second": 0.01, "all_tests": 20.0, "least_wrong": 0.3}
    >>> normalized(cell, "100"), round(normalized(cell, "100:800"), 1)
    (26.0, 7.7)
    """
    first, second = map(float, errors.split(":") if ":" in errors else (errors, errors))
    cost = numbers["test_cost"] + first * numbers["wrong_first"] + second * numbers["wrong_second"]
    return 100 * cost / (numbers["all_tests"] + numbers["least_wrong"] * max(first, second))


def weight(cell: Cell) -> float:
    """Return roughly how many seconds a cell takes."""
    learner, parameters = LEARNERS[cell.learner], parameters_of(cell.parameters)
    limit = parameters.get("time_limit")
    size = parameters["trials"] / 1000 if "trials" in parameters else parameters.get("r", 5) / 5
    return learner.always + (limit if limit is not None else learner.effort * size * DATA[cell.data].effort)


def order(cell: Cell) -> tuple[int, int, int, float, str, int]:
    """Return the sort key: quick learners and small data sets run first, one price list after the other.

    Cells that differ in error costs only come in a row: their learners need the same ensembles.
    """
    known = DATA[cell.data]
    number = 0 if cell.prices == "published" else int(cell.prices.split("-")[1])
    slow = SLOW.index(cell.learner) + 1 if cell.learner in SLOW else 0
    return slow, known.tier, number, known.effort, cell.data, cell.split


NUMBERS = ("test_cost", "wrong_first", "wrong_second", "all_tests", "least_wrong", "nodes", "seconds")
FAMILY = Family("esmeir", NUMBERS, cases_of, measure, weight, order)

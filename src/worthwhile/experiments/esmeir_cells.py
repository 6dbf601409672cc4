"""The cells of Esmeir & Markovitch (2008): data sets, price lists, folds, the learners, and what is measured.

Section 4 of the paper: 25 data sets, four automatic price lists for each, and Turney's five problems with their own
prices; one ten-fold cross-validation. A learner that does not look at error costs learns once per fold: what a cell
keeps is enough to price its tree at any error costs.
"""

from __future__ import annotations

import functools
import importlib
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import datasets
from worthwhile.costs.costs import Costs
from worthwhile.experiments.engine import Cell, Family, Numbers, load, parameters_of, seed_of
from worthwhile.learners.folds import stratified_folds

__all__ = ["ANY", "DATA", "FAMILY", "FOLDS", "LISTS", "TURNEY", "Problem", "errors_for", "measure", "normalized"]

FOLDS = 10
LISTS = 4
ANY = "any"  # error costs of the cells of learners that do not look at them
TURNEY = ("bupa", "heart", "hepatitis", "pima", "thyroid")


@dataclass(frozen=True)
class Data:
    """A data set of Table 5: where it comes from, and what the paper says about its columns and classes."""

    title: str
    sources: tuple[str, ...]  # data sets of the package or the folder, one below the other; none: made up
    nominal: tuple[str, ...] = ()  # numbers that the paper counts as names
    classes: tuple[str, ...] = ()  # in their order, where it is not that of their names
    tier: int = 0  # small, middling, large: what is run first
    effort: float = 1.0  # how long a tree takes, compared with breast cancer


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_KRK = ("draw", *_DIGITS, "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen")
_NURSERY = ("not_recom", "recommend", "very_recom", "priority", "spec_prior")

DATA = {
    "breast-cancer": Data("Breast Cancer", ("breast_cancer",), ("deg_malig",)),
    "bupa": Data("Bupa", ("turney-bupa",)),
    "car": Data("Car", ("car",), classes=("unacc", "acc", "good", "vgood"), tier=1, effort=2.0),
    "flare": Data("Flare", ("solar_flare1",)),
    "glass": Data("Glass", ("glass",)),
    "heart": Data("Heart", ("turney-heart",), ("ca",)),
    "hepatitis": Data("Hepatitis", ("turney-hepatitis",), effort=0.8),
    "iris": Data("Iris", ("iris",), effort=0.4),
    "krk": Data("KRK", ("krk",), ("wk_rank", "wr_rank", "bk_rank"), _KRK, tier=2, effort=75.0),
    "monks-1": Data("Monks-1", ("monks1_train", "monks1_test")),
    "monks-2": Data("Monks-2", ("monks2_train", "monks2_test")),
    "monks-3": Data("Monks-3", ("monks3_train", "monks3_test")),
    "multiplexer-20": Data("Multiplexer-20", (), effort=3.0),
    "multi-xor": Data("Multi-XOR", (), effort=0.7),
    "multi-and-or": Data("Multi-AND-OR", (), effort=0.7),
    "nursery": Data("Nursery", ("nursery",), classes=_NURSERY, tier=2, effort=14.0),
    "pima": Data("Pima", ("turney-pima",), effort=2.0),
    "tae": Data("TAE", ("tae",), effort=0.6),
    "tic-tac-toe": Data("Tic-Tac-Toe", ("tic_tac_toe",), effort=2.0),
    "titanic": Data("Titanic", ("titanic",), tier=1),
    "thyroid": Data("Thyroid", ("turney-thyroid",), tier=1, effort=6.0),
    "voting": Data("Voting", ("vote",), effort=0.8),
    "wine": Data("Wine", ("wine",)),
    "xor-3d": Data("XOR-3D", ()),
    "xor-5": Data("XOR-5", (), effort=0.7),
}


@dataclass(frozen=True)
class Learner:
    """Where a learner is found, about how many seconds it takes, and whether it looks at error costs.

    The seconds: always, and per effort of the data set.
    """

    module: str
    name: str
    always: float
    effort: float
    sees_errors: bool = True


LEARNERS = {
    "c45": Learner("greedy", "C45Classifier", 0.005, 0.002, sees_errors=False),
    "lsid3": Learner("act", "LSID3Classifier", 0.01, 0.1, sees_errors=False),
    "idx": Learner("greedy", "IDXClassifier", 0.005, 0.002, sees_errors=False),
    "csid3": Learner("greedy", "CSID3Classifier", 0.005, 0.002, sees_errors=False),
    "eg2": Learner("greedy", "EG2Classifier", 0.005, 0.002, sees_errors=False),
    "dtmc": Learner("greedy", "DTMCClassifier", 0.005, 0.002),
    "icet": Learner("icet", "ICETClassifier", 0.01, 0.25),  # of 1000 trials
    "act": Learner("act", "ACTClassifier", 0.01, 0.1),
    "act-refined": Learner("act", "ACTClassifier", 0.01, 1.0),
    "no-test": Learner("experiments._peers", "NoTestClassifier", 0.005, 0.002),
}


@dataclass(frozen=True)
class Problem:
    """A data set with one of its price lists: "published", "informative-0", "uniform-0" and so on."""

    data: str
    prices: str


@dataclass(frozen=True, eq=False)
class Cases:
    """What is learned from; all values are known."""

    X: npt.NDArray[Any]
    y: npt.NDArray[np.str_]
    nominal: Sequence[str]
    columns: Sequence[str]
    classes: Sequence[str]  # in their order
    published: Costs


def errors_for(learner: str, errors: str) -> str:
    """Return the error costs of the cell in which a learner learns for these.

    Examples
    --------
    Without tests, equal errors all have the same answer of least cost.

    >>> errors_for("c45", "500:4000"), errors_for("dtmc", "500"), errors_for("no-test", "500")
    ('any', '500', 'any')
    """
    same = not LEARNERS[learner].sees_errors or (learner == "no-test" and ":" not in errors)
    return ANY if same else errors


@functools.cache
def cases_of(name: str, folder: str | None) -> Cases:
    """Load or make a data set as the paper has it: without incomplete cases, Monks' two parts as one."""
    known = DATA[name]
    parts = [load(source, folder) for source in known.sources] or [
        datasets.make(name, random_state=zlib.crc32(name.encode()), as_frame=False)
    ]
    X, y = np.vstack([part.X for part in parts]), np.concatenate([part.y for part in parts])
    complete = ~np.array([[value is None or value != value for value in row] for row in X]).any(axis=1)  # noqa: PLR0124
    classes = known.classes or sorted(set(y.tolist()))
    nominal = [column for column in parts[0].feature_names if column in {*parts[0].nominal, *known.nominal}]
    return Cases(X[complete], y[complete], nominal, parts[0].feature_names, classes, parts[0].costs)


@functools.cache
def prices_of(data: str, prices: str, folder: str | None) -> Costs:
    """Return a price list: Turney's without its delays, which the paper leaves aside, or a drawn one."""
    cases = cases_of(data, folder)
    if prices == "published":
        return cases.published.without_delays()
    kind, number = prices.split("-")
    return datasets.random_costs(
        cases.X,
        cases.y,
        informative={"informative": True, "uniform": False}[kind],
        nominal=cases.nominal,
        columns=cases.columns,
        random_state=zlib.crc32(f"{data}/prices/{number}".encode()),
    )


def error_table(errors: str, classes: Sequence[str]) -> float | dict[str, dict[str, float]]:
    """Return error costs as `Costs` takes them.

    Parameters
    ----------
    errors : str
        The cost of every error, "any", or "FP:FN" (section 4.7): the cost of an error about a case of the first half
        of the classes, and about one of the others. Of an odd number of classes, the first half is the smaller one.
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
    """Return the fold of every case in the cross-validation of a seed; the same for all learners and prices."""
    y = cases_of(data, folder).y
    rng = np.random.default_rng([zlib.crc32(data.encode()), seed])
    return stratified_folds(np.unique(y, return_inverse=True)[1].astype(np.int32), FOLDS, rng)


def measure(cell: Cell, folder: str | None) -> Numbers:
    """Learn from all folds but one and measure on this one."""
    cases = cases_of(cell.data, folder)
    costs = prices_of(cell.data, cell.prices, folder).with_errors(error_table(cell.errors, cases.classes))
    test = folds_of(cell.data, cell.split // FOLDS, folder) == cell.split % FOLDS
    known = LEARNERS[cell.learner]
    learner = getattr(importlib.import_module(f"worthwhile.{known.module}"), known.name)(
        costs=costs,
        nominal=cases.nominal,
        columns=cases.columns,
        random_state=seed_of(cell),
        **parameters_of(cell.parameters),
    )
    start = time.perf_counter()
    learner.fit(cases.X[~test], cases.y[~test])
    seconds = time.perf_counter() - start
    answers, spent = learner.predict_with_prices(cases.X[test])
    wrong = answers != cases.y[test]
    first = np.isin(cases.y[test], cases.classes[: len(cases.classes) // 2])
    counts = np.unique(cases.y, return_counts=True)[1]
    numbers = {
        "test_cost": float(spent.mean()),
        "wrong_first": float((wrong & first).mean()),
        "wrong_second": float((wrong & ~first).mean()),
        "all_tests": costs.total_price(),
        "least_wrong": 1 - counts.max() / counts.sum(),
        "nodes": learner.tree_.n_nodes,
        "seconds": seconds,
    }
    # Seven digits are plenty, and keep the file of a hundred thousand cells small.
    return {name: float(f"{number:.7g}") for name, number in numbers.items()}


def normalized(numbers: Mapping[str, float], errors: str) -> float:
    """Return the cost of a cell's tree in percent of the standard cost (section 4.2.2), at these error costs.

    Examples
    --------
    Tests for 10 of 20; of a hundred cases, two of the first half and one of the second are wrong, of the majority 30.

    >>> cell = {"test_cost": 10.0, "wrong_first": 0.02, "wrong_second": 0.01, "all_tests": 20.0, "least_wrong": 0.3}
    >>> normalized(cell, "100"), round(normalized(cell, "100:800"), 1)
    (26.0, 7.7)
    """
    first, second = map(float, errors.split(":") if ":" in errors else (errors, errors))
    cost = numbers["test_cost"] + first * numbers["wrong_first"] + second * numbers["wrong_second"]
    return 100 * cost / (numbers["all_tests"] + numbers["least_wrong"] * max(first, second))


def weight(cell: Cell) -> float:
    """Return about how many seconds a cell takes."""
    learner, parameters = LEARNERS[cell.learner], parameters_of(cell.parameters)
    limit = parameters.get("time_limit")
    size = parameters["trials"] / 1000 if "trials" in parameters else parameters.get("r", 5) / 5
    return learner.always + (limit if limit is not None else learner.effort * size * DATA[cell.data].effort)


def order(cell: Cell) -> tuple[int, int, float]:
    """Run the small data sets first, one price list after the other, so that an unfinished grid has many of them."""
    known = DATA[cell.data]
    number = 0 if cell.prices == "published" else int(cell.prices.split("-")[1])
    return known.tier, number, known.effort


NUMBERS = ("test_cost", "wrong_first", "wrong_second", "all_tests", "least_wrong", "nodes", "seconds")
FAMILY = Family("esmeir", NUMBERS, cases_of, measure, weight, order, partial=True)

"""The cells of Turney (1995): the five problems, their costs and splits, the learners, and what is measured.

Section 4 of the paper: the cost per case on one third of the cases, after training on the other two thirds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs
from worthwhile.experiments.engine import Cell, Family, Numbers, load, parameters_of
from worthwhile.experiments.problems import CaseSet, LearnerSource

__all__ = ["FAMILY", "PROBLEMS", "costs_of", "measure", "parts", "retested"]


@dataclass(frozen=True)
class TurneyData:
    """One of the five data sets: its name in the paper, the healthy class (Appendix A), and training time.

    The time is relative to bupa's.
    """

    title: str
    healthy: str
    effort: float


PROBLEMS = {
    "bupa": TurneyData("BUPA Liver Disease", "lt3", 1.0),
    "heart": TurneyData("Heart Disease", "buff", 1.0),
    "hepatitis": TurneyData("Hepatitis Prognosis", "2", 0.6),
    "pima": TurneyData("Pima Indians Diabetes", "0", 3.0),
    "thyroid": TurneyData("Thyroid Disease", "3", 10.0),
}


LEARNERS = {
    "c45": LearnerSource("C45Classifier", 0.01, 0.004),
    "eg2": LearnerSource("EG2Classifier", 0.01, 0.004, fixed={"variant": "paper"}),
    "csid3": LearnerSource("CSID3Classifier", 0.01, 0.004),
    "idx": LearnerSource("IDXClassifier", 0.01, 0.004),
    "icet": LearnerSource("ICETClassifier", 0.01, 0.18),  # for 1000 trials
    "act": LearnerSource("ACTClassifier", 0.2, 0.05),
    "optimal": LearnerSource("OptimalClassifier", 2.0, 1.0, as_published=False),
    "auto": LearnerSource("AutoClassifier", 20.0, 5.0, as_published=False),
    "c45cs": LearnerSource("C45CSClassifier", 0.01, 0.004),
    "no-test": LearnerSource("NoTestClassifier", 0.01, 0.004),
    "peers": LearnerSource("PeerPickClassifier", 0.4, 0.05),
}


TREES_PER_TRIAL = 8  # of the refined search, which grows more trees for each individual


def costs_of(costs: Costs, prices: str, errors: str, classes: Sequence[str], healthy: str) -> Costs:
    """Return the costs of a cell.

    Parameters
    ----------
    costs : Costs
        The published ones.
    prices : {"published", "no-delay", "no-discount"}
    errors : str
        The cost of every error, or "negative:positive": that of calling the sick healthy, and the healthy sick.
        Confusing two kinds of sick costs the smaller of the two (Table 24).
    classes : sequence of str
    healthy : str
        The class of the healthy.

    Examples
    --------
    >>> costs_of(Costs(), "published", "50:400", ["buff", "sick"], "buff").errors
    {'buff': {'buff': 0.0, 'sick': 400.0}, 'sick': {'buff': 50.0, 'sick': 0.0}}
    """
    changed = {"published": lambda c: c, "no-delay": Costs.without_delays, "no-discount": Costs.without_groups}
    costs = changed[prices](costs)
    if ":" not in errors:
        return costs.with_errors(float(errors))
    negative, positive = map(float, errors.split(":"))

    def cost(truth: str, answer: str) -> float:
        if truth == answer:
            return 0.0
        return positive if truth == healthy else negative if answer == healthy else min(negative, positive)

    return costs.with_errors({truth: {answer: cost(truth, answer) for answer in classes} for truth in classes})


def parts(n_cases: int, split: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the training and test cases of a random split, two thirds to one third.

    Examples
    --------
    >>> [len(part) for part in parts(296, 0)], [len(part) for part in parts(3772, 0)]
    ([197, 99], [2515, 1257])
    """
    order = np.random.default_rng(split).permutation(n_cases)
    train = round(n_cases * 2 / 3)
    return order[:train], order[train:]


def load_problem(name: str, folder: str | None) -> CaseSet:
    """Load one of the five problems by its name in a cell."""
    found = load(f"turney-{name}", folder)
    return CaseSet(found.X, found.y, found.nominal, found.feature_names, np.unique(found.y).tolist(), found.costs)


def measure(cell: Cell, folder: str | None) -> Numbers:
    """Train on one part of a split and measure the cost per case on the other."""
    problem = load_problem(cell.data, folder)
    costs = costs_of(problem.costs, cell.prices, cell.errors, problem.classes, PROBLEMS[cell.data].healthy)
    train, test = parts(len(problem.y), cell.split)
    learner, seconds = LEARNERS[cell.learner].fit(cell, costs, problem.take(train))
    X, y = problem.X[test], problem.y[test]
    tests, total = float(learner.test_costs(X, y=y).mean()), float(learner.total_costs(X, y).mean())
    standard = costs.standard_cost(problem.y)
    return {
        "test_cost": tests,
        "error_cost": total - tests,
        "total_cost": total,
        "error_rate": float((learner.predict(X) != y).mean()),
        "all_tests": costs.total_price(),
        "standard_cost": standard,
        "normalized": 100 * total / standard,
        "nodes": tree.n_nodes if (tree := getattr(learner, "tree_", None)) is not None else 0.0,
        "seconds": seconds,
    }


def weight(cell: Cell) -> float:
    """Return roughly how many seconds a cell takes."""
    learner = LEARNERS[cell.learner]
    parameters = parameters_of(cell.parameters)
    trials = parameters.get("trials", 1000) / 1000
    if parameters.get("variant") == "refined":
        trials *= TREES_PER_TRIAL
    return learner.always + learner.effort * trials * PROBLEMS[cell.data].effort


def order(cell: Cell) -> tuple[bool, int, float]:
    """Return the sort key: the quick learners first, one split after the other."""
    return cell.learner == "auto", cell.split, -weight(cell)


NUMBERS = (
    "test_cost",
    "error_cost",
    "total_cost",
    "error_rate",
    "all_tests",
    "standard_cost",
    "normalized",
    "nodes",
    "seconds",
)
FAMILY = Family("turney", NUMBERS, load_problem, measure, weight, order)


def retested(numbers: Numbers, trained: float, tested: float) -> float:
    """Return the normalized cost for a uniform error cost other than the one used in training (section 4.2.4).

    Examples
    --------
    Tests cost 10 of 20, one answer in ten is wrong; the majority class is wrong in a quarter of the cases.

    >>> cell = {"test_cost": 10.0, "error_rate": 0.1, "all_tests": 20.0, "standard_cost": 45.0}
    >>> round(retested(cell, trained=100.0, tested=400.0), 1)
    41.7
    """
    least_wrong = (numbers["standard_cost"] - numbers["all_tests"]) / trained
    return 100 * (numbers["test_cost"] + tested * numbers["error_rate"]) / (numbers["all_tests"] + tested * least_wrong)

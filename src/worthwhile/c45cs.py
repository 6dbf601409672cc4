"""C4.5CS: C4.5 on cases that weigh as much as it costs to err about them (Ting 1998), and what keeps the whole matrix.

docs/design.md, "Error costs", says precisely what is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile._base import Training
from worthwhile._biases import TRUSTS
from worthwhile._folds import stratified_folds
from worthwhile._genesis import Floats
from worthwhile._lesson import Lesson, has_values
from worthwhile._money import Money
from worthwhile._weighting import class_costs
from worthwhile.greedy import C45Classifier, learner

__all__ = ["C45CSClassifier"]

CHOSEN = "chosen"
N_FOLDS = 5


@learner
class C45CSClassifier(C45Classifier):
    """C4.5CS: C4.5 on cases that weigh as much as it costs to err about them. It does not look at prices.

    One weight per class forgets which wrong answer is how bad. ``weighting=None, prune="cost", answer="least-cost"``
    prunes and answers by the whole matrix instead, and ``trust="chosen"`` finds out how far softer labels lead to
    cheaper trees: with more than two classes, that is the combination to try first.

    Parameters
    ----------
    vector : {"sum", "max"} or mapping of class to cost, default "sum"
        What it costs to err about a case of a class: the costs of all wrong answers together, the dearest of them, or
        as given.
    priors : {"altered"}, optional
        The weights serve in growing alone; the tree is pruned, and answers, as if all cases weighed the same.
    trust : float or "chosen", default 0
        Share of softer labels, by a random forest and a logistic regression, in those that the tree is grown, pruned
        and answers by. "chosen": 0, ½ or 1, whatever leads to the cheapest answers in a cross-validation.
    {parameters}
    trust_ : float
        The share of softer labels that was used.

    References
    ----------
    K. M. Ting (1998), Inducing cost-sensitive trees via instance weighting. L. Breiman, J. H. Friedman, R. A. Olshen,
    C. J. Stone (1984), Classification and Regression Trees (altered priors).

    Examples
    --------
    To miss a sick one costs ten times as much as a false alarm.

    >>> import worthwhile as ww
    >>> heart = ww.datasets.load("heart")
    >>> costs = ww.Costs(errors={"sick": {"buff": 10}, "buff": {"sick": 1}})
    >>> known = {"costs": costs, "nominal": heart.nominal, "columns": heart.feature_names}
    >>> plain, weighted = (C(**known).fit(heart.X, heart.y) for C in (ww.C45Classifier, ww.C45CSClassifier))
    >>> bool(weighted.total_costs(heart.X, heart.y).mean() < plain.total_costs(heart.X, heart.y).mean())
    True
    """

    weighting: str | None = "instance"
    vector: str | Mapping[Any, float] = "sum"
    priors: str | None = None
    trust: float | str = 0.0

    def _class_costs(self, money: Money, labels: npt.NDArray[Any]) -> Floats:
        return class_costs(money, labels.tolist(), self.vector)

    def _learn(self, training: Training) -> None:
        if self.priors is not None:
            self._learn_altered(training)
            return
        rng = self._generator()
        trust = TRUSTS if self.trust == CHOSEN else (float(self.trust),)
        taught = trust != (0.0,) and has_values(training)
        lesson = Lesson(training, taught, int(rng.integers(2**31)) if taught else 0, self._n_threads())
        self.trust_ = self._choose(lesson, trust, rng) if taught else 0.0
        self.tree_ = training.tree(self._grow(lesson, self.trust_), self.answer)

    def _learn_altered(self, training: Training) -> None:
        """Grow by the weights, then prune and answer without."""
        if self.weighting is None or self.trust != 0:
            rest = f"got weighting={self.weighting!r}, trust={self.trust!r}"
            raise ValueError(f"priors='altered' of C45CSClassifier needs weighting='instance' and trust=0, {rest}")
        self.trust_ = 0.0
        counts = np.ones(len(training.classes)) if training.sample_weights is None else training.sample_weights
        money = training.money
        core = _core.grow(
            training.table,
            training.classes,
            training.weights,
            money.core_pricing,
            money.core_errors,
            self._policy(),
            pruning_weights=counts,
        )
        self.tree_ = training.tree(core, self.answer)

    def _choose(self, lesson: Lesson, trusts: Sequence[float], rng: np.random.Generator) -> float:
        """Return how far to trust softer labels: what leads to the cheapest answers to cases that were left out."""
        if len(trusts) == 1:
            return trusts[0]
        training = lesson.training
        folds = stratified_folds(training.classes, max(2, min(N_FOLDS, len(training.classes))), rng)
        costs = np.zeros(len(trusts))
        for fold in range(folds.max() + 1):
            judges = training.take(np.flatnonzero(folds == fold))
            for i, trust in enumerate(trusts):
                costs[i] += self._cost(self._grow(lesson, trust, folds != fold), judges)
        return trusts[int(costs.argmin())]

    def _grow(self, lesson: Lesson, trust: float, kept: npt.NDArray[np.bool_] | None = None) -> Any:
        money = lesson.training.money
        return _core.grow(*lesson.rows(trust, kept), money.core_pricing, money.core_errors, self._policy())

    def _cost(self, core: Any, cases: Training) -> float:
        """What the answers to some cases cost, all together."""
        money, least_cost = cases.money, self.answer == "least-cost"
        answers, _, _ = _core.route(
            core, cases.table, money.core_pricing, money.core_errors, least_cost, True, False, False, 1, None
        )
        costs = money.error_costs[cases.classes, answers]
        return float(costs.sum() if cases.sample_weights is None else costs @ cases.sample_weights)

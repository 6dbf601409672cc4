"""C4.5CS: C4.5 on cases that weigh as much as it costs to err about them (Ting 1998), and what keeps the whole matrix.

docs/design.md, "Error costs", says precisely what is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
# As given, finer, and CART-like, out of eleven that were compared. On 20 trials of vowel, glass and soybean and 8 of
# anneal, by other folds of the same cases than the reproductions', the best of them led, with the cases' own labels, to
# .90, .84, .89 and .54 of C4.5's error cost instead of .96, .90, 1.02 and 1.00 (pruned by cost, with answers of least
# cost).
TEMPERS: tuple[Mapping[str, Any], ...] = (
    {},
    {"min_cases": 1.0, "confidence": 0.5},
    {"min_cases": 1.0, "confidence": 0.5, "criterion": "gain", "min_share": 0.0},
)


class Way(NamedTuple):
    """A way to grow a tree."""

    trust: float  # share of the softer labels
    temper: Mapping[str, Any]  # settings in place of the parameters


@learner
class C45CSClassifier(C45Classifier):
    """C4.5CS: C4.5 on cases that weigh as much as it costs to err about them. It does not look at prices.

    One weight per class forgets which wrong answer is how bad. ``weighting=None, prune="cost", answer="least-cost"``
    prunes and answers by the whole matrix instead; ``trust="chosen", temper="chosen"`` also finds out by
    cross-validation which labels and which temper lead to cheaper trees. With more than two classes, that is the
    combination to try first.

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
    temper : {"given", "chosen"}, default "given"
        "chosen": besides a tree as the other parameters say, those of other tempers are tried: one that allows branches
        of a single case and is pruned less (`confidence` 0.5), and one that also takes the test of highest gain, not
        gain ratio, wherever it cuts. The one that leads to the cheapest answers in a cross-validation is grown.
    {parameters}
    trust_ : float
        The share of softer labels that was used.
    temper_ : dict
        What the chosen temper has in place of the given parameters.

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
    temper: str = "given"

    def _class_costs(self, money: Money, labels: npt.NDArray[Any]) -> Floats:
        return class_costs(money, labels.tolist(), self.vector)

    def _learn(self, training: Training) -> None:
        if self.priors is not None:
            self._learn_altered(training)
            return
        rng = self._generator()
        trusts = TRUSTS if self.trust == CHOSEN else (float(self.trust),)
        if not has_values(training):
            trusts = (0.0,)
        taught = any(trusts)
        lesson = Lesson(training, taught, int(rng.integers(2**31)) if taught else 0, self._n_threads())
        ways = [Way(trust, temper) for temper in TEMPERS[: None if self.temper == CHOSEN else 1] for trust in trusts]
        way = self._cheapest(lesson, ways, rng)
        self.trust_, self.temper_ = way.trust, dict(way.temper)
        self.tree_ = training.tree(self._grow(lesson, way), self.answer)

    def _learn_altered(self, training: Training) -> None:
        """Grow by the weights, then prune and answer without."""
        if self.weighting is None or self.trust != 0 or self.temper == CHOSEN:
            got = f"got weighting={self.weighting!r}, trust={self.trust!r}, temper={self.temper!r}"
            needs = "weighting='instance', trust=0 and temper='given'"
            raise ValueError(f"priors='altered' of C45CSClassifier needs {needs}, {got}")
        self.trust_, self.temper_ = 0.0, {}
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

    def _cheapest(self, lesson: Lesson, ways: Sequence[Way], rng: np.random.Generator) -> Way:
        """Return the way to grow a tree that leads to the cheapest answers to cases that were left out."""
        if len(ways) == 1:
            return ways[0]
        training = lesson.training
        folds = stratified_folds(training.classes, max(2, min(N_FOLDS, len(training.classes))), rng)
        costs = np.zeros(len(ways))
        for fold in range(folds.max() + 1):
            judges = training.take(np.flatnonzero(folds == fold))
            for i, way in enumerate(ways):
                costs[i] += self._cost(self._grow(lesson, way, folds != fold), judges)
        return ways[int(costs.argmin())]

    def _grow(self, lesson: Lesson, way: Way, kept: npt.NDArray[np.bool_] | None = None) -> Any:
        money, policy = lesson.training.money, self._policy(**way.temper)
        return _core.grow(*lesson.rows(way.trust, kept), money.core_pricing, money.core_errors, policy)

    def _cost(self, core: Any, cases: Training) -> float:
        """What the answers to some cases cost, all together."""
        money, least_cost = cases.money, self.answer == "least-cost"
        answers, _, _ = _core.route(
            core, cases.table, money.core_pricing, money.core_errors, least_cost, True, False, False, 1, None
        )
        costs = money.error_costs[cases.classes, answers]
        return float(costs.sum() if cases.sample_weights is None else costs @ cases.sample_weights)

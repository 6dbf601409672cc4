"""C4.5CS: C4.5 on cases weighted by the cost of misclassifying them (Ting 1998), and ways to use the whole cost matrix.

docs/design/error-costs.md and docs/design/soft-labels.md give the details.
"""

# The sections Parameters and Attributes of the docstrings are written by docs/write_parameters.py.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.cross_fitting import n_fold_trees
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.greedy import C45Classifier
from worthwhile.learners.parameters import Preset, Priors, VectorRule, Weighting
from worthwhile.learners.soft_labels import SOFT_LABEL_WEIGHTS, SoftLabels, has_values
from worthwhile.learners.training import Training, route_core
from worthwhile.learners.workload import Piece, ensemble_piece, workload

__all__ = ["C45CSClassifier"]

CHOSEN = "chosen"
N_FOLDS = 5
# As given, finer, and CART-like: three of eleven that were compared. On 20 trials of vowel, glass and soybean and 8 of
# anneal, with folds that the reproductions do not use, the best of the three reached, with the cases' own labels, .90,
# .84, .89 and .54 of C4.5's error cost instead of .96, .90, 1.02 and 1.00 (pruned by cost, least-cost answers).
PRESETS: tuple[Mapping[str, Any], ...] = (
    {},
    {"min_cases": 1.0, "confidence": 0.5},
    {"min_cases": 1.0, "confidence": 0.5, "criterion": "gain", "min_share": 0.0},
)


class GrowthOption(NamedTuple):
    """One of the ways to grow a tree that a cross-validation compares."""

    soft_label_weight: float
    preset: Mapping[str, Any]  # settings that replace the parameters


@dataclass(kw_only=True, eq=False, repr=False)
class C45CSClassifier(C45Classifier):
    """C4.5CS: C4.5 on cases weighted by the cost of misclassifying them. It ignores prices.

    With one weight per class, all wrong answers for a class count the same. ``weighting=None, prune="cost",
    answer="least-cost"`` prunes and answers by the whole cost matrix instead; ``soft_label_weight="chosen",
    preset="chosen"`` also chooses the labels and the preset by cross-validation. With more than two classes, try this
    combination first.

    Parameters
    ----------
    costs : Costs, optional
        Prices of the tests and costs of errors. None: tests are free, and every error costs 1.
    cap : float, optional
        The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.
    weighting : {"instance"} or None, default "instance"
        "instance": each case weighs as much as it costs to misclassify it, in growing and in pruning (Ting 1998). None:
        all cases weigh the same.
    vector : {"sum", "max"} or mapping of class to cost, default "sum"
        What it costs to misclassify a case of a class: the sum over all wrong answers, the most expensive of them, or
        as given.
    priors : {"altered"}, optional
        "altered": the weights are used in growing alone; the tree is pruned, and answers, as if there were none.
    soft_label_weight : float or "chosen", default 0.0
        Share of soft labels, which are class probabilities by a random forest and a logistic regression, in the labels
        that the tree is grown from, pruned by and answers by. "chosen": 0, ½ or 1, whichever leads to the cheapest
        answers in a cross-validation.
    nominal_splits : {"multiway", "subset", "both"}, default "multiway"
        How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values and
        for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to divide
        them are tried at each node; of more, each value against the rest, and cuts of the values in order by class
        share (DTMC: by cost).
    preset : {"given", "chosen"}, default "given"
        "given": the other parameters as they are. "chosen": these or one of two presets, whichever leads to the
        cheapest answers in a cross-validation. One preset allows branches of a single case and prunes less
        (`confidence` 0.5); the other also takes the test of highest gain, not gain ratio, with a `min_share` of 0.
    mdl_correction : bool, default False
        C4.5's later correction: a numeric test loses log2(number of cuts tried) / cases of its gain.
    prune : {"pessimistic", "cost", "none"}, default "pessimistic"
        C4.5's error-based pruning, pruning by expected total cost (as in ACT), or none.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate; smaller values prune more.
    raise_subtrees : bool, default True
        Whether pessimistic pruning may replace a node by its largest branch.
    min_cases : float, default 2
        At least two branches of a split must each hold this weight of cases.
    min_share : float, default 0.1
        Both sides of a numeric cut must hold this share of the node's cases divided by the number of classes, but never
        more than 25 cases (C4.5). 0: only `min_cases` counts.
    max_leaves : int, optional
        Largest number of leaves. A tree with more is cut down to the part with the lowest expected total cost; ACT and
        ICET compare trees after the cut.
    max_depth : int, optional
        Longest path from the root to a leaf, at most 4096.
    answer : {"majority", "least-cost"}, default "majority"
        Whether a leaf answers its most frequent class, or the answer with the lowest expected error cost.
    cross_fit : bool, default True
        Whether `fit` also grows trees on parts of the cases, to find out what new cases cost (`expected_cost_`) and how
        far to trust the class shares of small nodes. False: `fit` takes a fifth of the time (ICET: half, ACT: little
        less), and probabilities are the plain class shares of the training cases.
    nominal : list of column names or positions, optional
        Numeric columns to treat as categories. Columns of strings, categories and booleans are always nominal; ordered
        categories are cut like numbers.
    columns : list of str, optional
        Names for the columns of an X that has none.
    random_state : int, numpy Generator or RandomState, optional
        Makes the soft labels repeatable; without them nothing is random.
    n_jobs : int, optional
        Number of threads. None: one; -1: all processors. The result does not depend on it.

    Attributes
    ----------
    tree_ : Tree
        The learned tree.
    expected_cost_ : float
        What a new case is expected to cost, tests and errors together, measured out of fold.
    expected_cost_interval_ : (float, float)
        The 95 % confidence interval of `expected_cost_`.
    leaf_limit_ : LeafLimit or None
        With `max_leaves`: number of leaves and expected cost with (`leaves`, `cost`) and without (`full_leaves`,
        `full_cost`) the limit. Not saved.
    soft_label_weight_ : float
        Share of soft labels in the labels that the tree was grown from.
    preset_ : dict
        Values that the chosen preset uses instead of the given parameters.
    classes_ : array
        The classes, sorted.
    feature_importances_ : array
        Share of each test in what all tests save in error costs on the training cases.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns of X, if it has names.

    References
    ----------
    K. M. Ting (1998), Inducing cost-sensitive trees via instance weighting. L. Breiman, J. H. Friedman, R. A. Olshen,
    C. J. Stone (1984), Classification and Regression Trees (altered priors).

    Examples
    --------
    Missing a sick patient costs ten times as much as a false alarm.

    >>> import worthwhile as ww
    >>> heart = ww.datasets.load("heart")
    >>> costs = ww.Costs(errors={"sick": {"buff": 10}, "buff": {"sick": 1}})
    >>> known = {"costs": costs, "nominal": heart.nominal, "columns": heart.feature_names}
    >>> plain, weighted = (C(**known).fit(heart.X, heart.y) for C in (ww.C45Classifier, ww.C45CSClassifier))
    >>> [float(clf.total_costs(heart.X, heart.y).mean().round(3)) for clf in (plain, weighted)]
    [0.389, 0.267]
    """

    weighting: Weighting | None = "instance"
    vector: VectorRule | Mapping[Any, float] = "sum"
    priors: Priors | None = None
    soft_label_weight: float | Literal["chosen"] = 0.0
    preset: Preset = "given"

    def _vector(self) -> VectorRule | Mapping[Any, float]:
        return self.vector

    def _pieces(self, training: Training) -> list[Piece]:
        n_options = len(SOFT_LABEL_WEIGHTS) if self.soft_label_weight == CHOSEN else 1
        n_options *= len(PRESETS) if self.preset == CHOSEN else 1
        soft = [ensemble_piece(training.n_cases)] if self.soft_label_weight == CHOSEN or self.soft_label_weight else []
        once = [*soft, *[self._piece(training)] * (1 + (n_options * N_FOLDS if n_options > 1 else 0))]
        return once * (1 + (n_fold_trees(training.n_cases) if self.cross_fit else 0))

    def _learn(self, training: Training) -> None:
        if self.priors is not None:
            self._learn_altered(training)
            return
        rng = self._generator()
        weights = SOFT_LABEL_WEIGHTS if self.soft_label_weight == CHOSEN else (float(self.soft_label_weight),)
        if not has_values(training):
            weights = (0.0,)
        labels = SoftLabels.own(training)
        if any(weights):
            labels = SoftLabels.by_ensemble(training, int(rng.integers(2**31)), self._n_threads())
        presets = PRESETS if self.preset == CHOSEN else PRESETS[:1]
        option = self._cheapest(labels, [GrowthOption(w, preset) for preset in presets for w in weights], rng)
        self.soft_label_weight_, self.preset_ = option.soft_label_weight, dict(option.preset)
        rows, policy = labels.rows(option.soft_label_weight), replace(self._policy(), **option.preset)
        self._keep(self._grow_option(labels, option), training, rows, policy)

    def _learn_altered(self, training: Training) -> None:
        """Grow with the weights, then prune and answer without them."""
        if self.weighting is None or self.soft_label_weight != 0 or self.preset == CHOSEN:
            given = ", ".join(
                f"{name}={getattr(self, name)!r}" for name in ("weighting", "soft_label_weight", "preset")
            )
            needs = "weighting='instance', soft_label_weight=0 and preset='given'"
            raise ValueError(f"C45CSClassifier: priors='altered' needs {needs}, got {given}")
        self.soft_label_weight_, self.preset_ = 0.0, {}
        counts = np.ones(training.n_cases) if training.sample_weights is None else training.sample_weights
        costs = self._learning_costs(training)
        core = _core.grow(
            training.table,
            training.classes,
            training.weights,
            costs.core_pricing,
            costs.core_errors,
            self._policy().core(),
            pruning_weights=counts,
        )
        self._keep(core, training, (training.table, training.classes, counts), self._policy())

    def _cheapest(self, labels: SoftLabels, options: Sequence[GrowthOption], rng: np.random.Generator) -> GrowthOption:
        """Return the option whose trees have the lowest error cost in a cross-validation."""
        if len(options) == 1:
            return options[0]
        training = labels.training
        folds = stratified_folds(training.classes, max(2, min(N_FOLDS, training.n_cases)), rng)
        costs = np.zeros(len(options))
        for fold in range(folds.max() + 1):
            held_out = training.take(np.flatnonzero(folds == fold))
            for i, option in enumerate(options):
                costs[i] += self._error_cost(self._grow_option(labels, option, folds != fold), held_out)
        return options[int(costs.argmin())]

    def _grow_option(self, labels: SoftLabels, option: GrowthOption, kept: npt.NDArray[np.bool_] | None = None) -> Any:
        costs, policy = self._learning_costs(labels.training), replace(self._policy(), **option.preset)
        if kept is not None and self.max_leaves is not None:  # options are compared with the limit
            policy = replace(policy, max_leaves=int(self.max_leaves))
        rows = labels.rows(option.soft_label_weight, kept)
        with workload().doing(self._piece(labels.training)) as meter:
            return _core.grow(*rows, costs.core_pricing, costs.core_errors, policy.core(), meter=meter)

    def _error_cost(self, core: Any, cases: Training) -> float:
        """Return the total error cost of a tree on some cases."""
        answers, _ = route_core(core, cases, self.answer == "least-cost")
        costs = self._learning_costs(cases).error_costs[cases.classes, answers]
        if cases.case_errors is not None:
            costs = cases.errors_of(answers)
        return float(costs.sum() if cases.sample_weights is None else costs @ cases.sample_weights)

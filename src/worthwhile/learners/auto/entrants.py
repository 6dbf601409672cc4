"""The learners that a race is between, and about how long each takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from worthwhile.costs.pricing import free_tests
from worthwhile.learners.act.classifier import ACTClassifier
from worthwhile.learners.base import CostSensitiveClassifier
from worthwhile.learners.cascade.classifier import CascadeClassifier
from worthwhile.learners.forest.classifier import BudgetForestClassifier
from worthwhile.learners.greedy import DTMCClassifier, EG2Classifier
from worthwhile.learners.icet.classifier import ICETClassifier
from worthwhile.learners.optimal.classifier import OptimalClassifier
from worthwhile.learners.optimal.search import leaf_prices
from worthwhile.learners.training import Training

__all__ = ["CROSS_FITTED", "Entrant", "Kind", "entrants"]

CROSS_FITTED = 6.0  # times as long as one fit takes a fit with cross-fitting
# Of forests in a race; the last one has the usual number.
RACE_TREES = 50
# Thresholds per numeric test of exact trees, in the race and at the end: with more, what was measured would not be what
# is kept, and trees follow the noise. On pima at cheap errors, a tree with all thresholds costs 16.8 % of the standard
# cost, with 12 it is a leaf, at 14.8. Work is in units of a few nanoseconds.
CUTS, RACE_WORK, FINAL_WORK = 12, 5e8, 2e9
# Of the exact tree from partly soft labels, which follows the noise less. On hypothyroid, sick_euthyroid, thyroid,
# waveform40, pima and vowel (two splits, errors at 0.5, 5 and 50), the better of the two exact trees costs .951 of the
# one with own labels if this one has so many thresholds and half soft labels, .981 with 12. On twelve sets, with 12
# thresholds, it costs .546 of no test from soft labels, .497 from half soft ones and grown further.
SOFT_CUTS, SOFT_SHARE = 48, 0.5
# Least weight of the branches of other trees, by default; all figures above are those of exact trees without a limit.
USUAL_CASES = 2.0


class Kind(IntEnum):
    """What is simpler comes first: it is chosen on a tie."""

    NO_TEST = 0
    FREE_TREE = 1
    TREE = 2
    FREE_CASCADE = 3
    CASCADE = 4
    FOREST = 5


@dataclass(frozen=True, eq=False)
class Entrant:
    """A learner in the race."""

    name: str
    learner: str  # its family, as users name it; empty: always in the race
    kind: Kind
    make: Callable[[bool], CostSensitiveClassifier]  # for the race, or for the last fit, on all cases
    seconds: float  # of one fit on the cases of a round, roughly, on one core
    last_seconds: float = 0.0  # of the last fit, on all cases, where that may take very long

    @property
    def is_tree(self) -> bool:
        return self.kind <= Kind.TREE

    @property
    def is_baseline(self) -> bool:
        """Whether it does without any test that has a price, and takes no time."""
        return self.kind <= Kind.FREE_TREE

    @property
    def is_extra(self) -> bool:
        """Whether the race has fewer learners rather than fewer rounds if this one is slow."""
        return self.learner in ("act", "icet")


def entrants(
    cases: Training,
    n_learned: int,
    known: Mapping[str, Any],
    limits: Mapping[str, Any],
    readable: bool,
    learners: Collection[str] | None,
) -> list[Entrant]:
    """Return all learners that may take part; those that are dropped first if time is short come last.

    Parameters
    ----------
    cases : Training
    n_learned : int
        The number of cases that each learns from in a round.
    known : mapping
        Parameters that all learners have.
    limits : mapping
        Parameters that all learners of trees have.
    readable : bool
        Whether only single trees may take part.
    learners : collection of str or None
        The families that may take part; None: all.
    """
    prices = leaf_prices(cases, n_learned)[1], leaf_prices(cases)[1]
    maker = _Maker(known, limits, prices, deepen=not readable)
    n, n_tests = n_learned, max(sum(values is None or bool(values) for values in cases.schema.values), 1)
    # On one core of a machine of 2024, from 32 × 1 to 3,000 × 60, two classes and up to 26.
    growing, labels, exact = 2e-7 * n * n_tests, 0.1 + 4e-4 * n, 1.3
    cascade = (0.2 + 2.6e-4 * n * n_tests**0.5) * (1 + 0.1 * max(cases.n_classes - 2, 0))
    forest = 0.5 + n * (1.5e-5 * n_tests + 8e-5 * cases.n_classes)
    # ACT on 13 tables of 160 to 1,500 cases and 6 to 60 tests took .05 to 1.2 of this.
    act = 9e-6 * n_tests**2 * max(cases.n_classes, 2) / 2
    last_act = CROSS_FITTED * act * cases.n_cases
    free = 0 < len(free_tests(cases.bound_costs.prices, cases.case_prices)) < len(cases.context.columns)
    found = [
        Entrant("no test", "", Kind.NO_TEST, maker.no_test, growing),
        *([Entrant("free tests, DTMC", "", Kind.FREE_TREE, maker.free_dtmc, growing)] if free else []),
        Entrant("DTMC", "dtmc", Kind.TREE, maker.dtmc, growing),
        Entrant("EG2", "eg2", Kind.TREE, maker.eg2, growing),
        Entrant("exact tree, soft labels", "optimal", Kind.TREE, maker.soft_exact, exact + labels),
        Entrant("cascade", "cascade", Kind.CASCADE, maker.cascade, cascade),
        Entrant("exact tree", "optimal", Kind.TREE, maker.exact, exact),
        Entrant("forest", "budget-forest", Kind.FOREST, maker.forest, forest),
        *([Entrant("free tests, forest", "cascade", Kind.FREE_CASCADE, maker.free_cascade, labels)] if free else []),
        Entrant("ACT", "act", Kind.TREE, maker.act, 0.4 + labels + act * n, last_act),
        Entrant("ICET", "icet", Kind.TREE, maker.icet, 0.3 + 2.2e-3 * n * n_tests),
    ]
    return [
        entrant
        for entrant in found
        if (entrant.is_tree or not readable) and (learners is None or entrant.learner in ("", *learners))
    ]


@dataclass(frozen=True)
class _Maker:
    """Makes the learners. In a race they need no cross-fitting: the race measures them."""

    known: Mapping[str, Any]
    limits: Mapping[str, Any]
    leaf_price: tuple[float, float]  # in the race, and of all cases
    deepen: bool  # whether the tree from soft labels may be deeper than what is proven about it

    def _tree(self, race: bool) -> dict[str, Any]:
        return {**self.known, **self.limits, "cross_fit": not race}

    def no_test(self, race: bool) -> CostSensitiveClassifier:
        return DTMCClassifier(**self._tree(race) | {"max_leaves": 1})

    def dtmc(self, race: bool) -> CostSensitiveClassifier:
        # Unlike the others, DTMC does not gain by dividing nominal values in two (docs/design/growing.md).
        given = self._tree(race)
        return DTMCClassifier(**given | ({"nominal_splits": "multiway"} if given["nominal_splits"] == "both" else {}))

    def free_dtmc(self, race: bool) -> CostSensitiveClassifier:
        return self.dtmc(race).set_params(cap=0.0)

    def eg2(self, race: bool) -> CostSensitiveClassifier:
        return EG2Classifier(prune="cost", answer="least-cost", **self._tree(race))

    def act(self, race: bool) -> CostSensitiveClassifier:
        return ACTClassifier(**self._tree(race))

    def icet(self, race: bool) -> CostSensitiveClassifier:
        return ICETClassifier(**self._tree(race))

    def exact(self, race: bool) -> CostSensitiveClassifier:
        return self._exact(race, soft_labels=0.0, thresholds=CUTS)

    def soft_exact(self, race: bool) -> CostSensitiveClassifier:
        return self._exact(race, soft_labels=SOFT_SHARE, thresholds=SOFT_CUTS, deepen=self.deepen)

    def _exact(self, race: bool, **own: Any) -> CostSensitiveClassifier:
        given = self._tree(race) | own
        if given["min_cases"] <= USUAL_CASES:  # only if more is asked for
            del given["min_cases"]
        price = self.leaf_price[0 if race else 1]
        clf = OptimalClassifier(leaf_price=price, near_optimal=None if race else 0.05, **given)
        clf.__dict__.update(_as_given=True, _work=RACE_WORK if race else FINAL_WORK)
        return clf

    def cascade(self, race: bool) -> CostSensitiveClassifier:
        short = {"n_trees": RACE_TREES} if race else {}
        return CascadeClassifier(**{**self.known, "nominal_splits": "multiway", **short})

    def forest(self, race: bool) -> CostSensitiveClassifier:
        return BudgetForestClassifier(**{**self.known, "nominal_splits": None})

    def free_cascade(self, race: bool) -> CostSensitiveClassifier:
        return self.cascade(race).set_params(cap=0.0)

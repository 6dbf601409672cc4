"""Trees that cost little more than the best one: how many there are, and what they have in common."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from worthwhile import _core
from worthwhile.costs.bound_costs import LearningCosts
from worthwhile.learners.cross_fitting import by_real_cases
from worthwhile.learners.optimal.search import ExactSearch, Settings
from worthwhile.learners.soft_labels import SoftLabels
from worthwhile.learners.training import Training
from worthwhile.tree.json_format import Reader
from worthwhile.tree.tree import Tree
from worthwhile.wording import amount

__all__ = ["FirstTest", "NearOptimalSummary", "NearOptimalTrees", "SearchedCases", "UsedTest", "read_near_optimal"]


class FirstTest(NamedTuple):
    """The near-optimal trees that begin with a test."""

    test: str | None
    """None: the tree that asks for no test."""
    trees: int
    """How many begin with it."""
    structures: int
    """How many structures these have."""
    cost: float
    """The objective of the cheapest of them."""


class UsedTest(NamedTuple):
    """The near-optimal trees that ask for a test."""

    test: str
    trees: int
    """How many ask for it anywhere."""
    cost_without: float | None
    """The objective of the cheapest near-optimal tree that does not; None: all of them ask for it."""


@dataclass(frozen=True, repr=False)
class NearOptimalSummary:
    """What is known of the trees whose objective is close to that of the best one.

    Attributes
    ----------
    objective : float
        The objective of the best tree.
    epsilon : float
        Trees were looked for that cost at most this share more.
    within : float
        All trees that cost at most this share more are counted: `epsilon`, or less if those were too many.
    count : int
        The number of trees. Trees that divide the training cases of all their nodes in the same way count as one; a
        tree whose last test saves no errors does not count.
    structures : int
        The number of their structures: the tests that they ask in their places, whatever the thresholds or the values
        of a branch.
    thresholds : int or None
        Only trees with at most so many different thresholds of each numeric test, at quantiles, are counted, and the
        best one is the best of them; None: all that the learner could choose from.
    first_tests : tuple of FirstTest
        By first test; the most frequent comes first.
    tests_used : tuple of UsedTest
        By test, in the order of the columns. Tests that none of the trees asks for are left out.
    """

    objective: float
    epsilon: float
    within: float
    count: int
    structures: int
    thresholds: int | None
    first_tests: tuple[FirstTest, ...]
    tests_used: tuple[UsedTest, ...]

    @property
    def complete(self) -> bool:
        """Whether all trees within `epsilon` are counted."""
        return self.within >= self.epsilon

    @property
    def needed(self) -> tuple[str, ...]:
        """The tests that all of the trees ask for."""
        return tuple(used.test for used in self.tests_used if used.cost_without is None)

    @property
    def limit(self) -> float:
        """The highest objective of a tree that is counted."""
        return self.objective + self.within * abs(self.objective)

    @property
    def how(self) -> str:
        """What was counted, in words."""
        said = []
        if self.thresholds is not None:
            said.append(f"Only trees with {self._cuts()} are counted.")
        if not self.complete:
            said.append(f"The trees within {_share(self.epsilon)} are too many to count.")
        return " ".join(said)

    def headline(self, first: str | None = "") -> str:
        """Return how many of the trees begin with a test: the one that is given, or else the most frequent one.

        None: how many ask for no test.
        """
        at_most = f"{'cost' if self.count > 1 else 'costs'} {self._more()} on the training cases"
        if self.thresholds is not None:
            at_most += f", with {self._cuts()},"
        if self.count == 1:
            return f"No other tree {at_most.rstrip(',')}."
        tests = {one.test: one.trees for one in self.first_tests}
        if first not in tests:
            first = self.first_tests[0].test
        asked = "no test" if first is None else f"{first} first"
        if tests[first] == self.count:
            return f"All {self.count:,} trees that {at_most} ask for {asked}."
        return f"{tests[first]:,} of {self.count:,} trees that {at_most} ask for {asked}."

    def summary(self) -> str:
        """Return everything as text."""
        best = f"the best one ({amount(self.objective, fine=True)} per case)"
        if self.count == 1:
            lines = [f"No other tree costs {self._more()} than {best}."]
        else:
            structures = "structure" if self.structures == 1 else "structures"
            trees = f"{self.count:,} trees of {self.structures:,} {structures}"
            lines = [f"{trees} cost {self._more()} than {best}."]
        if self.how:
            lines.append(self.how)
        rows = [
            (one.test or "(none)", f"{one.trees:,}", self.share(one.trees), amount(one.cost, fine=True))
            for one in self.first_tests
        ]
        lines += ["", *_table(("first test", "trees", "share", "cost from"), rows)]
        if self.tests_used:
            used = [(one.test, f"{one.trees:,}", self.share(one.trees), self._without(one)) for one in self.tests_used]
            lines += ["", *_table(("test asked", "trees", "share", "cost without it"), used)]
        return "\n".join(lines)

    def _more(self) -> str:
        return f"at most {_share(self.within)} more" if self.within else "no more"

    def _cuts(self) -> str:
        return f"at most {self.thresholds} thresholds per test"

    def share(self, trees: int) -> str:
        """Return a number of trees as a share of all; one that is not all of them is not 100 %."""
        share = 100 * trees / self.count
        if 0 < trees < self.count and not 1 <= share <= 99:
            return "< 1 %" if share < 1 else "> 99 %"
        return f"{share:.0f} %"

    def _without(self, used: UsedTest) -> str:
        if used.cost_without is not None:
            return amount(used.cost_without, fine=True)
        return f"above {amount(self.limit, fine=True)}"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        more = "" if self.complete else f" of {_share(self.epsilon)}"
        trees = "1 tree" if self.count == 1 else f"{self.count:,} trees"
        return f"{type(self).__name__}({trees} within {_share(self.within)}{more})"

    def to_plain(self) -> dict[str, Any]:
        """Return the summary as plain data for a file."""
        return {
            "objective": self.objective,
            "epsilon": self.epsilon,
            "within": self.within,
            "count": self.count,
            "structures": self.structures,
            "thresholds": self.thresholds,
            "first_tests": [one._asdict() for one in self.first_tests],
            "tests_used": [one._asdict() for one in self.tests_used],
        }


@dataclass(frozen=True, repr=False)
class NearOptimalTrees(NearOptimalSummary, Sequence[Tree]):
    """Trees whose objective is close to that of the best one; they are in the order of their objectives.

    Attributes
    ----------
    trees : tuple of Tree
        The cheapest trees, up to the number that was asked for. Their answers are those of least cost on the training
        cases; their class probabilities are shrunk by the strength that was found for the learner's own tree. No test
        is cut off, even if it does not pay by these probabilities.
    objectives : tuple of float
        The objective of each of them.

    Examples
    --------
    Two bits say the same, so that either may be asked for first.

    >>> import numpy as np
    >>> import worthwhile as ww
    >>> bits = np.random.default_rng(0).integers(0, 2, (60, 2))
    >>> X, y = np.column_stack([bits, bits[:, 0]]).astype(str), bits[:, 0]
    >>> costs = ww.Costs(tests={"x0": 1.0, "x1": 1.0, "x2": 1.02}, errors=10)
    >>> near = ww.OptimalClassifier(costs=costs, soft_labels=0, leaf_price=0).fit(X, y).rashomon(epsilon=0.05)
    >>> near
    NearOptimalTrees(2 trees within 5 %)
    >>> [(tree.tests_used(), round(cost, 6)) for tree, cost in zip(near, near.objectives)]
    [(['x0'], 1.0), (['x2'], 1.02)]
    >>> print(near.summary())
    2 trees of 2 structures cost at most 5 % more than the best one (1.00 per case).
    <BLANKLINE>
    first test  trees  share  cost from
    x0              1   50 %       1.00
    x2              1   50 %       1.02
    <BLANKLINE>
    test asked  trees  share  cost without it
    x0              1   50 %             1.02
    x2              1   50 %             1.00
    """

    trees: tuple[Tree, ...] = field(default=())
    objectives: tuple[float, ...] = field(default=())

    def without_trees(self) -> NearOptimalSummary:
        """Return the summary alone."""
        return NearOptimalSummary(*(getattr(self, one.name) for one in fields(NearOptimalSummary)))

    def __len__(self) -> int:
        return len(self.trees)

    def __getitem__(self, index: Any) -> Any:
        return self.trees[index]

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)


@dataclass(frozen=True, eq=False)
class SearchedCases:
    """What a search was run on, and its result: enough to look for trees that cost little more."""

    search: ExactSearch
    labels: SoftLabels
    settings: Settings
    training: Training
    objective: float

    @property
    def costs(self) -> LearningCosts:
        return self.training.bound_costs.learning

    def n_thresholds(self) -> int:
        """Return how many thresholds the numeric test with the most values has."""
        schema, columns = self.training.schema, self.training.columns
        numeric = [array for array, values in zip(schema.arrays(columns), schema.values, strict=True) if values is None]
        return max((len(np.unique(array[~np.isnan(array)])) - 1 for array in numeric), default=0)

    def near_optimal(
        self,
        epsilon: float,
        max_trees: int,
        by_structure: bool,
        work: float,
        seconds: float,
        strength: float | None,
        thresholds: int | None = None,
    ) -> NearOptimalTrees | None:
        """Return the trees within a share of the objective; None if there was no time for any.

        `strength` is that of the shrinkage of class probabilities; None: they are plain shares. `thresholds`: only so
        many of each numeric test.
        """
        costs, columns = self.costs, self.training.context.columns
        rows = self.labels.rows(self.settings.soft_label_weight)
        counts = np.bincount(rows[1], rows[2], len(costs.error_costs)).astype(np.float64)
        margin = epsilon * abs(self.objective)
        cost, done, count, structures, listed, first, used = _core.near_optimal_trees(
            *rows,
            costs.core_pricing,
            costs.core_errors,
            max_depth=self.settings.max_depth,
            max_leaves=2**31 - 1 if self.search.max_leaves is None else int(self.search.max_leaves),
            leaf_price=self.settings.leaf_price / costs.unit,
            max_cuts=self.search.cuts if thresholds is None else min(thresholds, self.search.cuts),
            memory=self.search.memory,
            work=work,
            seconds=seconds,
            margin=margin / costs.unit,
            max_trees=max_trees,
            by_structure=by_structure,
        )
        if done < 0:
            return None

        def in_money(value: float) -> float:
            return costs.in_money(value, counts)

        def without(value: float) -> float | None:
            return in_money(value) if math.isfinite(value) else None

        return NearOptimalTrees(
            objective=in_money(cost),
            epsilon=epsilon,
            within=done * epsilon,
            count=count,
            structures=structures,
            thresholds=thresholds,
            first_tests=tuple(
                FirstTest(None if column < 0 else columns[column], trees, forms, in_money(value))
                for column, trees, forms, value in first
            ),
            tests_used=tuple(UsedTest(columns[column], trees, without(value)) for column, trees, value in used),
            trees=tuple(self._tree(core, strength) for core, _ in listed),
            objectives=tuple(in_money(value) for _, value in listed),
        )

    def _tree(self, core: Any, strength: float | None) -> Tree:
        return by_real_cases(Tree.from_core(core, self.training.context, "least-cost"), self.training, strength)


def read_near_optimal(content: Any) -> NearOptimalSummary:
    """Check and return a summary that `to_plain` wrote."""
    reader = Reader(content, "'near_optimal'")
    objective, epsilon, within = (float(reader.take(key, (int, float))) for key in ("objective", "epsilon", "within"))
    count, structures = reader.take("count", int), reader.take("structures", int)
    thresholds = reader.take("thresholds", (int, type(None)))
    first = tuple(_read_first(Reader(one, "a first test")) for one in reader.take("first_tests", list))
    used = tuple(_read_used(Reader(one, "a test used")) for one in reader.take("tests_used", list))
    reader.finish()
    if not first or count < 1 or sum(one.trees for one in first) != count:
        raise ValueError(f"'near_optimal' counts {count} trees, but its first tests do not add up to that")
    return NearOptimalSummary(objective, epsilon, within, count, structures, thresholds, first, used)


def _read_first(reader: Reader) -> FirstTest:
    test, trees = reader.take("test", (str, type(None))), reader.take("trees", int)
    found = FirstTest(test, trees, reader.take("structures", int), float(reader.take("cost", (int, float))))
    reader.finish()
    return found


def _read_used(reader: Reader) -> UsedTest:
    test, trees = reader.take("test", str), reader.take("trees", int)
    without = reader.take("cost_without", (int, float, type(None)))
    reader.finish()
    return UsedTest(test, trees, None if without is None else float(without))


def _share(share: float) -> str:
    return f"{100 * share:.3g} %"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return lines with the first column on the left and the others on the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in (head, *rows)
    ]

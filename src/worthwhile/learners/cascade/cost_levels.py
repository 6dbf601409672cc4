"""Error costs by case in a cascade: classes divided by what errors cost their cases (docs/design/cascades.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

__all__ = ["CostLevels"]

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
# Levels of a class, and the fewest cases of one. Errors of a level must cost this many times those of the one below.
MAX_LEVELS, MIN_CASES, MIN_SHARE, MIN_RATIO = 3, 20, 0.1, 1.5


@dataclass(frozen=True, eq=False)
class CostLevels:
    """What errors cost; the cases of a class for which they cost much more than for others are told apart by models.

    Attributes
    ----------
    owners : int array
        The class of each level.
    errors : float array (levels, answers)
        What each answer costs the cases of a level, on average, above `base`.
    n_classes : int
    base : float array (levels,), optional
        What cases of a level cost whatever the answer. Nothing can be done about it, so that no decision goes by it.
        None: nothing.
    """

    owners: npt.NDArray[np.intp]
    errors: Floats
    n_classes: int
    base: Floats | None = None

    @classmethod
    def plain(cls, errors: Floats) -> Self:
        """Return levels that are the classes themselves."""
        return cls(np.arange(len(errors)), errors, len(errors))

    def above_base(self) -> Self:
        """Return the levels with what their cheapest answers cost apart."""
        base = self.errors.min(axis=1)
        return replace(self, errors=self.errors - base[:, None], base=base) if base.any() else self

    def base_of(self, shares: Floats) -> Floats | float:
        """Return what cases with these probabilities of the levels are expected to cost whatever the answer."""
        return 0.0 if self.base is None else (shares * self.base).sum(axis=1)

    @classmethod
    def of_cases(cls, case_errors: Floats, classes: Codes, errors: Floats, weights: Floats) -> tuple[Self, Codes]:
        """Divide the cases of every class by what errors cost them; return the levels, and that of each case.

        Parameters
        ----------
        case_errors : array (cases, answers)
        classes : int array
            Of the cases.
        errors : array (classes, answers)
            What errors cost on average; for classes without cases.
        weights : array
            Of the cases.

        Examples
        --------
        >>> amounts = np.repeat([0.0, 5.0, 300.0], [30, 30, 30])
        >>> case_errors = np.column_stack([np.zeros(90), amounts])
        >>> case_errors[:30, 0] = 1.0
        >>> classes = np.repeat([1, 0, 0], 30)
        >>> levels, own = CostLevels.of_cases(case_errors, classes, np.zeros((2, 2)), np.ones(90))
        >>> levels.owners.tolist(), levels.errors.tolist()
        ([0, 0, 1], [[0.0, 5.0], [0.0, 300.0], [1.0, 0.0]])
        >>> own[[0, 30, 60]].tolist()
        [2, 0, 1]
        """
        owners: list[int] = []
        rows_of: list[Floats] = []
        found = np.zeros(len(classes), dtype=np.int32)
        for owner in range(len(errors)):
            rows = np.flatnonzero(classes == owner)
            if not len(rows):
                owners.append(owner)
                rows_of.append(errors[owner])
                continue
            own = case_errors[rows]
            regret = np.maximum(own - own[:, [owner]], 0.0).sum(axis=1)
            for part in _divided(regret, weights[rows]):
                found[rows[part]] = len(owners)
                owners.append(owner)
                rows_of.append(np.average(own[part], axis=0, weights=weights[rows[part]]))
        return cls(np.array(owners), np.array(rows_of), len(errors)), found

    @property
    def is_plain(self) -> bool:
        """Whether every class is one level."""
        return len(self.owners) == self.n_classes

    def class_shares(self, shares: Floats) -> Floats:
        """Return the probability of each class from those of the levels."""
        if self.is_plain:
            return shares
        found = np.zeros((len(shares), self.n_classes))
        for level, owner in enumerate(self.owners.tolist()):
            found[:, owner] += shares[:, level]
        return found


def _divided(costs: Floats, weights: Floats) -> list[npt.NDArray[np.bool_]]:
    """Return parts of cases whose costs are alike, from cheap to expensive; a single one where they differ little."""
    from sklearn.tree import DecisionTreeRegressor  # only here: it brings half of scikit-learn along

    smallest = max(MIN_CASES, int(MIN_SHARE * len(costs)))
    tree = DecisionTreeRegressor(max_leaf_nodes=MAX_LEVELS, min_samples_leaf=smallest, random_state=0)
    leaves = tree.fit(costs[:, None], costs, sample_weight=weights).apply(costs[:, None])
    parts = sorted((leaves == leaf for leaf in np.unique(leaves)), key=lambda part: float(costs[part].mean()))
    found = parts[:1]
    for part in parts[1:]:
        if costs[part].mean() >= MIN_RATIO * costs[found[-1]].mean():
            found.append(part)
        else:
            found[-1] = found[-1] | part
    return found

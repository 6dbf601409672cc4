"""What tests said in training, where a model asks for them: the decision desk compares new results with it.

A tree has this in the weights of its nodes. Other learners keep, for each test, how its results were distributed among
the training cases that they ask for it. A model trained on a case is surer about it than about a new one and asks for
fewer tests, so which cases it asks is found out by models that were not trained on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.table.schema import Schema
from worthwhile.tree.json_format import Reader, is_finite

__all__ = ["ResultShares", "read_result_shares", "result_shares"]

N_PARTS = 5  # of a numeric test, with about as many training cases each: 20 new cases can be compared with them
MAX_VALUES = 50  # a nominal test with more is not compared


@dataclass(frozen=True)
class ResultShares:
    """The results of a test among the training cases that a model asks for it.

    Attributes
    ----------
    cuts : tuple of float or None
        Numeric tests: results up to the first one are counted together, then those up to the second one, … None for
        nominal tests.
    counts : tuple of float
        The weight of the cases by part of the numbers, or by value in the order of the model's columns.
    """

    cuts: tuple[float, ...] | None
    counts: tuple[float, ...]

    def part_of(self, code: float) -> int:
        """Return the part that a result belongs to; a nominal one is given by its number.

        Examples
        --------
        >>> ResultShares((1.0, 2.0), (5, 5, 5)).part_of(1.5)
        1
        """
        return int(code) if self.cuts is None else int(np.searchsorted(self.cuts, code))


def result_shares(
    schema: Schema,
    arrays: Sequence[npt.NDArray[Any]],
    asked: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.float64] | None = None,
) -> dict[str, ResultShares]:
    """Return the results by test.

    Parameters
    ----------
    schema : Schema
    arrays : sequence of arrays
        The columns as the core has them.
    asked : bool array (cases, tests)
    weights : array, optional
        Of the cases.

    Examples
    --------
    >>> schema = Schema(("x", "y"), (None, ("a", "b")))
    >>> arrays = [np.array([1.0, 2.0, 2.0, np.nan]), np.array([0, 0, 1, -1])]
    >>> result_shares(schema, arrays, np.ones((4, 2), dtype=bool))
    {'x': ResultShares(cuts=(1.0,), counts=(1.0, 2.0)), 'y': ResultShares(cuts=None, counts=(2.0, 1.0))}
    """
    found = {}
    for test, (name, values, array) in enumerate(zip(schema.names, schema.values, arrays, strict=True)):
        rows = asked[:, test] & (~np.isnan(array) if values is None else array >= 0)
        if not rows.any() or (values is not None and len(values) > MAX_VALUES):
            continue
        own = array[rows]
        if values is None:
            ends = np.quantile(own, np.arange(1, N_PARTS) / N_PARTS, method="inverted_cdf")
            cuts = np.unique(ends[ends < own.max()])
            codes, n_parts = np.searchsorted(cuts, own), len(cuts) + 1
        else:
            cuts, codes, n_parts = None, own, len(values)
        counts = np.bincount(codes, None if weights is None else weights[rows], minlength=n_parts)
        found[name] = ResultShares(None if cuts is None else tuple(cuts.tolist()), tuple(counts.astype(float).tolist()))
    return found


def shares_to_json(found: Mapping[str, ResultShares]) -> dict[str, Any]:
    """Return results as they are saved."""
    return {
        name: {**({} if own.cuts is None else {"cuts": list(own.cuts)}), "counts": list(own.counts)}
        for name, own in found.items()
    }


def read_result_shares(reader: Reader, schema: Schema) -> dict[str, ResultShares]:
    """Return the results of a model file; older files have none."""
    found = {}
    for name, content in reader.take("results", dict, {}).items():
        if name not in schema.position:
            raise ValueError(f"'results' of the model names {name!r}, which is no column")
        values, fields = schema.values[schema.position[name]], Reader(content, f"'results' of {name!r}")
        cuts, counts = fields.take("cuts", list, None), fields.take("counts", list)
        fields.finish()
        if (cuts is None) != (values is not None):
            raise ValueError(f"'results' of {name!r} must have 'cuts' if the test is numeric, and none if it is not")
        if cuts is not None and not (all(map(is_finite, cuts)) and all(a < b for a, b in pairwise(cuts))):
            raise ValueError(f"'cuts' of the results of {name!r} must be rising numbers")
        size = len(values) if values is not None else len(cuts) + 1
        if len(counts) != size or not all(is_finite(count) and count >= 0 for count in counts) or sum(counts) <= 0:
            raise ValueError(f"'counts' of the results of {name!r} must be {size} numbers of at least 0")
        found[name] = ResultShares(None if cuts is None else tuple(map(float, cuts)), tuple(map(float, counts)))
    return found

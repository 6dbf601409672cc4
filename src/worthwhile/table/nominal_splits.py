"""The ways to ask a nominal test: a branch for every value, some values against the rest, or both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worthwhile.table.hierarchies import levels_for
from worthwhile.table.schema import Schema

__all__ = ["ways_to_ask"]

# Up to so many values, all ways to divide them into two are tried; of more, each value against the rest.
MAX_DIVIDED, MAX_SINGLED_OUT = 5, 64


def ways_to_ask(
    schema: Schema, hierarchies: Mapping[str, Mapping[Any, Any]] | None = None, nominal_splits: str = "multiway"
) -> dict[str, list[list[int]]]:
    """Return the ways to ask each nominal test, where there are others than a branch for every value.

    A way is a list: value code -> branch. Ordered categories are cut like numbers and are left out.

    Examples
    --------
    >>> schema = Schema(("pet",), (("cat", "dog", "fish"),))
    >>> ways_to_ask(schema, nominal_splits="both")
    {'pet': [[0, 1, 2], [0, 1, 0], [0, 0, 1], [0, 1, 1]]}
    """
    found: dict[str, list[list[int]]] = {}
    hierarchical = levels_for(schema, hierarchies)
    if nominal_splits == "multiway" and not hierarchical:
        return found
    for name, values in zip(schema.names, schema.values, strict=True):
        if values is None or (name in schema.ordered and name not in hierarchical):
            continue
        whole = [list(range(len(values)))]
        divided = [] if nominal_splits == "multiway" else _divisions(len(values))
        ways = [*(divided if nominal_splits == "subset" and divided else whole + divided), *hierarchical.get(name, [])]
        if ways != whole:
            found[name] = ways
    return found


def _divisions(n_values: int) -> list[list[int]]:
    """Return ways to divide values into two."""
    if n_values < 3 or n_values > MAX_SINGLED_OUT:
        return []
    if n_values > MAX_DIVIDED:
        return [[int(code == single) for code in range(n_values)] for single in range(n_values)]
    # The first value is always on side 0. Single values come first, so that ties go to them.
    masks = sorted(
        range(2, 2**n_values, 2), key=lambda mask: (min(mask.bit_count(), n_values - mask.bit_count()), mask)
    )
    ways = [[mask >> code & 1 for code in range(n_values)] for mask in masks]
    return sorted(ways, key=lambda way: min(sum(way), n_values - sum(way)))

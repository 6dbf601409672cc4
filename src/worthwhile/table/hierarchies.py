"""Hierarchies of nominal values, EG2's ISA trees: from "a siamese is a cat is a pet" to the levels of a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worthwhile.table.columns import value_text
from worthwhile.table.schema import Schema

__all__ = ["levels_for"]


def levels_for(schema: Schema, hierarchies: Mapping[str, Mapping[Any, Any]] | None) -> dict[str, list[list[int]]]:
    """Return, per column with a hierarchy, the levels of generalisation: value code -> branch, the finest first.

    A hierarchy maps every value, and every general value, to the next more general one. Level by level from the bottom,
    each value is replaced by its ancestor at that depth below the top. Levels that do not group anything, or group
    everything, are left out.

    Examples
    --------
    >>> schema = Schema(("pet",), (("beagle", "pug", "siamese", "goldfish"),))
    >>> isa = {"beagle": "dog", "pug": "dog", "siamese": "cat", "dog": "mammal", "cat": "mammal", "goldfish": "fish"}
    >>> levels_for(schema, {"pet": isa})
    {'pet': [[0, 0, 1, 2], [0, 0, 0, 1]]}
    """
    found = {}
    for name, hierarchy in (hierarchies or {}).items():
        values = schema.values[schema.names.index(name)] if name in schema.names else None
        if values is None:
            nominal = [n for n, v in zip(schema.names, schema.values, strict=True) if v is not None]
            raise ValueError(
                f"hierarchies names {name!r}, which is not a nominal column; nominal are {', '.join(nominal) or 'none'}"
            )
        if not isinstance(hierarchy, Mapping):
            raise ValueError(
                f"the hierarchy of {name!r} must be a mapping of value to more general value, got {hierarchy!r}"
            )
        if values and hierarchy and not {value_text(key) for key in hierarchy} & set(values):
            raise ValueError(f"the hierarchy of {name!r} names none of its values: {', '.join(values)}")
        found[name] = _levels(name, values, {value_text(k): value_text(v) for k, v in hierarchy.items()})
    return found


def _levels(name: str, values: tuple[str, ...], parent: Mapping[str, str]) -> list[list[int]]:
    lineages = [_lineage(name, value, parent) for value in values]
    levels: list[list[int]] = [list(range(len(values)))]
    for depth in range(max(map(len, lineages), default=0) - 2, -1, -1):
        ancestors = [lineage[min(depth, len(lineage) - 1)] for lineage in lineages]
        position = {ancestor: i for i, ancestor in enumerate(dict.fromkeys(ancestors))}
        branches = [position[ancestor] for ancestor in ancestors]
        if len(position) > 1 and branches != levels[-1]:
            levels.append(branches)
    return levels[1:]


def _lineage(name: str, value: str, parent: Mapping[str, str]) -> list[str]:
    """The most general ancestor first, the value itself last."""
    lineage = [value]
    while lineage[-1] in parent:
        above = parent[lineage[-1]]
        if above in lineage:
            raise ValueError(f"the hierarchy of {name!r} goes round in a circle: {' → '.join([*lineage, above])}")
        lineage.append(above)
    return lineage[::-1]

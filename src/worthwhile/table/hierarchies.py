"""Hierarchies of nominal values (EG2's ISA trees) as levels of generalisation of a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worthwhile.table.columns import value_text
from worthwhile.table.schema import Schema

__all__ = ["levels_for"]


def levels_for(schema: Schema, hierarchies: Mapping[str, Mapping[Any, Any]] | None) -> dict[str, list[list[int]]]:
    """Return the levels of generalisation of each column with a hierarchy: value code -> branch, finest first.

    A hierarchy maps each value to a more general one, and that to the next: siamese -> cat -> pet. At each level, from
    the bottom up, a value is replaced by its ancestor at that depth. Levels that group nothing, or everything, are left
    out.

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
                f"hierarchies contains {name!r}, which is not a nominal column; nominal: {', '.join(nominal) or 'none'}"
            )
        if not isinstance(hierarchy, Mapping):
            raise ValueError(f"the hierarchy of {name!r} must map values to more general values, got {hierarchy!r}")
        if values and hierarchy and not {value_text(key) for key in hierarchy} & set(values):
            raise ValueError(f"the hierarchy of {name!r} contains none of its values: {', '.join(values)}")
        found[name] = _levels(name, values, {value_text(k): value_text(v) for k, v in hierarchy.items()})
    return found


def _levels(name: str, values: tuple[str, ...], parent: Mapping[str, str]) -> list[list[int]]:
    lineages = [_ancestors(name, value, parent) for value in values]
    levels: list[list[int]] = [list(range(len(values)))]
    for depth in range(max(map(len, lineages), default=0) - 2, -1, -1):
        ancestors = [lineage[min(depth, len(lineage) - 1)] for lineage in lineages]
        position = {ancestor: i for i, ancestor in enumerate(dict.fromkeys(ancestors))}
        branches = [position[ancestor] for ancestor in ancestors]
        if len(position) > 1 and branches != levels[-1]:
            levels.append(branches)
    return levels[1:]


def _ancestors(name: str, value: str, parent: Mapping[str, str]) -> list[str]:
    """Return the ancestors of a value, the most general first, and the value itself last."""
    lineage = [value]
    while lineage[-1] in parent:
        above = parent[lineage[-1]]
        if above in lineage:
            raise ValueError(f"the hierarchy of {name!r} has a cycle: {' → '.join([*lineage, above])}")
        lineage.append(above)
    return lineage[::-1]

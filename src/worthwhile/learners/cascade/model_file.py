"""The JSON of a cascade (docs/tree-format.md): arrays are compressed, and nothing in a file is executed."""

from __future__ import annotations

import base64
import binascii
import math
import numbers
import zlib
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from worthwhile.learners.cascade.cost_levels import CostLevels
from worthwhile.learners.cascade.policy import Cascade, Stage
from worthwhile.learners.cascade.stage_models import BOOSTING, FOREST, StageModel
from worthwhile.learners.cascade.stopping_rule import BeliefCurve, Edge, StageRule
from worthwhile.learners.cascade.tree_ensemble import TreeEnsemble
from worthwhile.learners.soft_labels import feature_owners
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.json_format import Reader, is_finite, parse_context, write_context

__all__ = ["cascade_from_json", "cascade_to_json"]

Floats = npt.NDArray[np.float64]
MAX_BYTES = 2**31  # of an array
KINDS = {
    "feature": "<i4",
    "threshold": "<f4",
    "missing_left": "|b1",
    "left": "<i4",
    "right": "<i4",
    "value": "<f4",
    "roots": "<i4",
    "output": "<i4",
}


def cascade_to_json(cascade: Cascade) -> dict[str, Any]:
    """Return a cascade as plain data."""
    columns, levels = cascade.context.columns, cascade.levels
    own: dict[str, Any] = {}
    if not levels.is_plain or levels.base is not None:
        own = {"levels": {"owners": levels.owners.tolist(), "errors": levels.errors.tolist()}}
    if levels.base is not None:
        own["levels"]["base"] = levels.base.tolist()
    return own | {
        "problem": write_context(cascade.context),
        "rate": cascade.rate,
        "by_cost": cascade.by_cost,
        "prices": cascade.listed.tolist(),
        "tolerated": [columns[test] for test in np.flatnonzero(cascade.tolerated)],
        "stages": [
            {
                "tests": [columns[test] for test in sorted(stage.tests)],
                "model": _model_to_json(cascade.context, stage.model),
                "stop": _curve_to_json(stage.rule.stop),
                "edges": [{"stage": edge.target, "cost": _curve_to_json(edge.cost)} for edge in stage.rule.edges],
                "holds": stage.holds.tolist(),
            }
            for stage in cascade.stages
        ],
    }


def cascade_from_json(content: Any) -> Cascade:
    """Check what `cascade_to_json` wrote and return the cascade."""
    reader = Reader(content, "the cascade")
    problem = Reader(reader.take("problem", dict), "'problem' of the cascade")
    context = parse_context(problem)
    problem.finish()
    rate, by_cost = reader.take("rate", numbers.Real), reader.take("by_cost", bool)
    if not (is_finite(rate) and rate > 0):
        raise ValueError("'rate' of the cascade must be a number above 0")
    listed = _numbers(reader.take("prices", list), len(context.columns), "'prices' of the cascade")
    if (listed < 0).any():
        raise ValueError("'prices' of the cascade must be at least 0")
    tolerated = np.zeros(len(context.columns), dtype=np.bool_)
    tolerated[sorted(_tests(context, reader.take("tolerated", list), "'tolerated' of the cascade"))] = True
    levels = _levels(context, reader.take("levels", (dict, type(None)), None))
    entries = reader.take("stages", list)
    reader.finish()
    if not entries:
        raise ValueError("'stages' of the cascade must not be empty")
    stages = [_stage(context, len(levels.owners), entry, number, len(entries)) for number, entry in enumerate(entries)]
    for number, stage in enumerate(stages):
        for edge in stage.rule.edges:
            if not stages[edge.target].tests > stage.tests:
                raise ValueError(f"stage {number} goes on to stage {edge.target}, which does not have all of its tests")
    return Cascade(context, tuple(stages), float(rate), by_cost, listed, tolerated, levels)


def _levels(context: ProblemContext, content: Any) -> CostLevels:
    if content is None:
        return CostLevels.plain(context.error_costs)
    reader = Reader(content, "'levels' of the cascade")
    owners, errors = reader.take("owners", list), reader.take("errors", list)
    base = reader.take("base", (list, type(None)), None)
    reader.finish()
    classes = range(len(context.classes))
    whole = all(isinstance(owner, int) and not isinstance(owner, bool) for owner in owners)
    if not whole or sorted(set(owners)) != list(classes):
        raise ValueError("'owners' of 'levels' of the cascade must name every class by its number, and no other")
    if len(errors) != len(owners) or not all(isinstance(row, list) for row in errors):
        raise ValueError(f"'errors' of 'levels' of the cascade must be {len(owners)} lists of numbers")
    rows = [_numbers(row, len(context.answers), "a row of 'errors' of 'levels' of the cascade") for row in errors]
    own = None if base is None else _numbers(base, len(owners), "'base' of 'levels' of the cascade")
    return CostLevels(np.array(owners, dtype=np.intp), np.array(rows), len(classes), own)


def _stage(context: ProblemContext, n_levels: int, content: Any, number: int, n_stages: int) -> Stage:
    where = f"stage {number}"
    reader = Reader(content, where)
    tests = frozenset(_tests(context, reader.take("tests", list), f"'tests' of {where}"))
    model = _model_from_json(context, n_levels, reader.take("model", dict), where)
    stop = _curve_from_json(reader.take("stop", list), where)
    edges = []
    for entry in reader.take("edges", list):
        own = Reader(entry, f"an edge of {where}")
        target = own.take("stage", int)
        if not number < target < n_stages:
            raise ValueError(f"an edge of {where} must lead to a later stage, got {target}")
        edges.append(Edge(target, _curve_from_json(own.take("cost", list), where)))
        own.finish()
    n_surcharges = len(context.bound_costs.prices.surcharges)
    holds = _numbers(reader.take("holds", list), n_surcharges, f"'holds' of {where}")
    reader.finish()
    return Stage(tests, model, StageRule(stop, tuple(edges)), holds)


def _tests(context: ProblemContext, names: list[Any], what: str) -> list[int]:
    for name in names:
        if not isinstance(name, str) or name not in context.schema.position:
            raise ValueError(
                f"{what} names {name!r}, which is not a column; the columns are {', '.join(context.columns)}"
            )
    return [context.schema.position[name] for name in names]


def _numbers(values: list[Any], length: int, what: str) -> Floats:
    if len(values) != length or not all(map(is_finite, values)):
        raise ValueError(f"{what} must be {length} finite numbers")
    return np.array(values, dtype=np.float64)


def _curve_to_json(curve: BeliefCurve) -> list[list[float]]:
    return [curve.x.tolist(), curve.y.tolist()]


def _curve_from_json(content: list[Any], where: str) -> BeliefCurve:
    if len(content) != 2 or not all(isinstance(part, list) and part for part in content):
        raise ValueError(f"a curve of {where} must be two lists of numbers")
    x, y = (_numbers(part, len(content[0]), f"a curve of {where}") for part in content)
    if (np.diff(x) <= 0).any():
        raise ValueError(f"a curve of {where} must have rising beliefs")
    return BeliefCurve(x, y)


def _model_to_json(context: ProblemContext, model: StageModel) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": model.kind,
        "shares": model.shares.tolist(),
        "temperature": model.temperature,
        "features": _pack(model.features.astype("<i4")),
    }
    if model.trees is not None:
        found["trees"] = {
            field.name: _pack(getattr(model.trees, field.name).astype(KINDS[field.name]))
            for field in fields(model.trees)
        }
    if model.baseline is not None:
        found["baseline"] = model.baseline.tolist()
    return found


def _model_from_json(context: ProblemContext, k: int, content: Any, where: str) -> StageModel:
    where = f"the model of {where}"
    reader = Reader(content, where)
    kind = reader.take("kind", str)
    if kind not in ("none", FOREST, BOOSTING):
        raise ValueError(f"'kind' of {where} must be 'none', 'forest' or 'boosting', got {kind!r}")
    shares = _numbers(reader.take("shares", list), k, f"'shares' of {where}")
    if (shares < 0).any() or not math.isclose(shares.sum(), 1.0, rel_tol=1e-6):
        raise ValueError(f"'shares' of {where} must add up to 1")
    temperature = reader.take("temperature", numbers.Real)
    if not (is_finite(temperature) and temperature > 0):
        raise ValueError(f"'temperature' of {where} must be a number above 0")
    features = _unpack(reader.take("features", dict), "<i4", f"'features' of {where}").astype(np.intp)
    if features.ndim != 1 or ((features < 0) | (features >= len(feature_owners(context.schema)))).any():
        raise ValueError(f"'features' of {where} names a feature that does not exist")
    trees, baseline = None, None
    if kind != "none":
        parts = Reader(reader.take("trees", dict), f"'trees' of {where}")
        arrays = {name: _unpack(parts.take(name, dict), code, f"{name!r} of {where}") for name, code in KINDS.items()}
        parts.finish()
        n_outputs = k
        if kind == BOOSTING:
            seen = int((shares > 0).sum())
            n_outputs = 1 if seen == 2 else seen
            baseline = _numbers(reader.take("baseline", list), n_outputs, f"'baseline' of {where}")
        trees = TreeEnsemble(**arrays).checked(len(features), n_outputs, where)
        if kind == FOREST and (not len(trees.roots) or (trees.value < 0).any()):
            raise ValueError(f"the trees of {where} must have class shares of at least 0")
    reader.finish()
    return StageModel(kind, features, shares, float(temperature), trees, baseline)


def _pack(array: npt.NDArray[Any]) -> dict[str, Any]:
    """Return an array as text: base64 of its bytes, compressed by zlib."""
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 6)).decode("ascii")
    return {"shape": list(array.shape), "data": data}


def _unpack(content: Any, code: str, what: str) -> npt.NDArray[Any]:
    reader = Reader(content, what)
    shape, data = reader.take("shape", list), reader.take("data", str)
    reader.finish()
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in shape) or len(shape) > 2:
        raise ValueError(f"'shape' of {what} must be one or two whole numbers")
    size = math.prod(shape) * np.dtype(code).itemsize
    if size > MAX_BYTES:
        raise ValueError(f"{what} is larger than {MAX_BYTES} bytes")
    try:
        packed = base64.b64decode(data, validate=True)
        found = zlib.decompressobj().decompress(packed, size + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise ValueError(f"'data' of {what} is damaged") from None
    if len(found) != size:
        raise ValueError(f"'data' of {what} has not as many bytes as its shape says")
    if code == "|b1":
        return (np.frombuffer(found, dtype=np.uint8) != 0).reshape(shape)
    return np.frombuffer(found, dtype=code).reshape(shape).astype(np.dtype(code).newbyteorder("="))

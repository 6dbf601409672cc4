"""Reading learners from files that `CostSensitiveClassifier.save` wrote. Nothing in a file is executed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from worthwhile.file_kinds import check_model
from worthwhile.files import read_text
from worthwhile.learners import c45cs, greedy
from worthwhile.learners.act import classifier as act_classifier
from worthwhile.learners.auto import classifier as auto_classifier
from worthwhile.learners.base import MODEL_FORMAT, MODEL_VERSION, CostSensitiveClassifier
from worthwhile.learners.cascade import classifier as cascade_classifier
from worthwhile.learners.fingerprint import read_fingerprint
from worthwhile.learners.forest import classifier as forest_classifier
from worthwhile.learners.icet import classifier as icet_classifier
from worthwhile.learners.optimal import classifier as optimal_classifier
from worthwhile.learners.result_shares import read_result_shares
from worthwhile.table.files import DECIMALS
from worthwhile.tree.context import label_array
from worthwhile.tree.json_format import FORMAT as TREE_FORMAT
from worthwhile.tree.json_format import Reader, check_digest, check_needs, costs_from_json, read_json

__all__ = ["from_document", "load"]

# A file can name these classes only.
LEARNERS: Mapping[str, type[CostSensitiveClassifier]] = {
    **{name: getattr(greedy, name) for name in greedy.__all__ if name.endswith("Classifier")},
    "C45CSClassifier": c45cs.C45CSClassifier,
    "ICETClassifier": icet_classifier.ICETClassifier,
    "LSID3Classifier": act_classifier.LSID3Classifier,
    "ACTClassifier": act_classifier.ACTClassifier,
    "OptimalClassifier": optimal_classifier.OptimalClassifier,
    "CascadeClassifier": cascade_classifier.CascadeClassifier,
    "BudgetForestClassifier": forest_classifier.BudgetForestClassifier,
    "AutoClassifier": auto_classifier.AutoClassifier,
}


# Parameters of version 1 that were renamed, and parameters, or single values of them, that were removed.
RENAMED = {"release8": "mdl_correction", "trust": "soft_label_weight", "temper": "preset"}
REMOVED = ("set_aside", ("samples", "stopped"), ("cuts", "values"), ("impurity", "products"))


def load(path: str | os.PathLike[str]) -> CostSensitiveClassifier:
    """Read a learner that `save` wrote. Everything is checked, and nothing is executed.

    Parameters
    ----------
    path : str or path
        A JSON file.

    Returns
    -------
    CostSensitiveClassifier
        A fitted learner of the class that was saved.

    Raises
    ------
    FileNotFoundError, ValueError
        Naming the file and what is wrong in it.

    Examples
    --------
    >>> import tempfile, worthwhile as ww
    >>> clf = ww.EG2Classifier(costs=ww.Costs(tests={"x0": 3.0}, errors=10), min_cases=1)
    >>> clf = clf.fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(f"{folder}/model.json")
    ...     ww.load(f"{folder}/model.json").total_costs([[1], [4]], [0, 0]).tolist()
    [3.0, 13.0]
    """
    place = Path(path)
    check_model(place)
    text = read_text(place)
    try:
        return from_document(read_json(text))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def from_document(content: Any) -> CostSensitiveClassifier:
    """Return the learner of the JSON object that `save` writes."""
    reader = Reader(content, "the model")
    if reader.take("format", str) != MODEL_FORMAT:
        hint = "; a tree is read by Tree.from_json" if content["format"] == TREE_FORMAT else ""
        raise ValueError(f"is not a saved learner: 'format' must be {MODEL_FORMAT!r}, got {content['format']!r}{hint}")
    version = reader.take("version", int)
    if not 1 <= version <= MODEL_VERSION:
        known = f"this release reads versions 1 to {MODEL_VERSION}"
        raise ValueError(f"version {version} of the model format is unknown; {known}")
    check_needs(reader, "the model")
    name, params = reader.take("learner", str), reader.take("params", dict)
    clf = _make_learner(name, _renamed(params) if version == 1 else params)
    digest = reader.take("costs_digest", str, None)
    if clf.costs is not None:
        check_digest(digest, clf.costs)
    clf._context = clf._restore(reader, version)
    clf.classes_ = label_array(clf._context.classes)
    clf.n_features_in_ = len(clf._context.columns)
    if reader.take("named_columns", bool, False):
        clf.feature_names_in_ = np.array(clf._context.columns, dtype=object)
    clf._set_origin(read_fingerprint(reader), decimal := reader.take("decimal", str, "."))
    if decimal not in DECIMALS:
        raise ValueError(f"'decimal' of the model must be '.' or ',', got {decimal!r}")
    clf._set_results(read_result_shares(reader, clf._context.schema))
    reader.finish()
    return clf


def _renamed(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of version 1 by their present names; those removed mattered in `fit` only."""
    kept = {name: value for name, value in params.items() if name not in REMOVED and (name, value) not in REMOVED}
    return {RENAMED.get(name, name): value for name, value in kept.items()}


def _make_learner(name: str, params: Mapping[str, Any]) -> CostSensitiveClassifier:
    learner = LEARNERS.get(name)
    if learner is None:
        raise ValueError(f"unknown learner {name!r}; choose from {', '.join(LEARNERS)}")
    valid = learner._parameter_names()
    for key in params:
        if key not in valid:
            raise ValueError(f"{name} has no parameter {key!r}; it has {', '.join(valid)}")
    costs = params.get("costs")
    clf = learner(**{**params, "costs": None if costs is None else costs_from_json(costs)})
    clf._check_parameters()
    return clf

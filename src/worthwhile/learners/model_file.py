"""Reading learners from files: the other half of `TreeClassifier.save`. Files are data: nothing in them is executed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from worthwhile.files import read_text
from worthwhile.learners import c45cs, greedy
from worthwhile.learners.act import classifier as act_classifier
from worthwhile.learners.base import MODEL_FORMAT, MODEL_VERSION, TreeClassifier
from worthwhile.learners.forest import classifier as forest_classifier
from worthwhile.learners.icet import classifier as icet_classifier
from worthwhile.tree.json_format import FORMAT as TREE_FORMAT
from worthwhile.tree.json_format import Reader, costs_from_json, read_json
from worthwhile.tree.tree import label_array

__all__ = ["load"]

# Only what stands here can be named in a file.
LEARNERS: Mapping[str, type[TreeClassifier]] = {
    **{name: getattr(greedy, name) for name in greedy.__all__ if name.endswith("Classifier")},
    "C45CSClassifier": c45cs.C45CSClassifier,
    "ICETClassifier": icet_classifier.ICETClassifier,
    "LSID3Classifier": act_classifier.LSID3Classifier,
    "ACTClassifier": act_classifier.ACTClassifier,
    "BudgetForestClassifier": forest_classifier.BudgetForestClassifier,
}

# Parameters of older files that only learning again would use.
REMOVED = ("set_aside",)


def load(path: str | os.PathLike[str]) -> TreeClassifier:
    """Read a learner that `save` wrote. Everything is checked, nothing is executed.

    Parameters
    ----------
    path : str or path
        A JSON file.

    Returns
    -------
    TreeClassifier
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
    text = read_text(place)
    try:
        return _from_model(read_json(text))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _from_model(content: Any) -> TreeClassifier:
    reader = Reader(content, "the model")
    if reader.take("format", str) != MODEL_FORMAT:
        hint = "; a tree is read by Tree.from_json" if content["format"] == TREE_FORMAT else ""
        raise ValueError(f"is not a saved learner: 'format' must be {MODEL_FORMAT!r}, got {content['format']!r}{hint}")
    if reader.take("version", int) != MODEL_VERSION:
        known = f"this release reads version {MODEL_VERSION}"
        raise ValueError(f"version {content['version']} of the model format is unknown; {known}")
    clf = _make_learner(reader.take("learner", str), reader.take("params", dict))
    clf._restore(reader)
    frame = clf._frame()
    clf.classes_ = label_array(frame.classes)
    clf.n_features_in_ = len(frame.columns)
    if reader.take("named_columns", bool, False):
        clf.feature_names_in_ = np.array(frame.columns, dtype=object)
    reader.finish()
    return clf


def _make_learner(name: str, params: Mapping[str, Any]) -> TreeClassifier:
    learner = LEARNERS.get(name)
    if learner is None:
        raise ValueError(f"names the unknown learner {name!r}; known are {', '.join(LEARNERS)}")
    params = {key: value for key, value in params.items() if key not in REMOVED}
    valid = learner._parameter_names()
    for key in params:
        if key not in valid:
            raise ValueError(f"{name} has no parameter {key!r}; it has {', '.join(valid)}")
    costs = params.get("costs")
    clf = learner(**{**params, "costs": None if costs is None else costs_from_json(costs)})
    clf._check_parameters()
    return clf

"""Damaged model files: `ww.load` refuses them with a ValueError, or the model can be used. Nothing else may happen.

Documents of every kind of learner are changed at random places in ways that respect their structure. The number of
files per kind is bounded; WORTHWHILE_FUZZ sets it, and the sanitizer build runs more of them.
"""

import copy
import json
import math
import os
import warnings

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from all_learners import FORESTS, LEARNERS, make
from golden_cases import random_problem
from worthwhile.evaluation.spending import spending

N_FILES = int(os.environ.get("WORTHWHILE_FUZZ", "12"))
EXTREMES = [
    0, -1, 1, 2, 3, 255, 2**31 - 1, 2**31, -(2**31), 2**63, 10**400, 0.5, -0.5, 1e308, -1e308, 5e-324, math.nan,
    math.inf, -math.inf, None, True, False, "", "a", "b", "refer", "x0", "x3", "p", "numeric", "nominal", "least-cost",
    [], {}, [[]],
]  # fmt: skip
KINDS = {
    **{learner.__name__: (learner, {}) for learner in LEARNERS},
    "hierarchies": (ww.EG2Classifier, {"hierarchies": {"x3": {"p": "pq", "q": "pq", "r": "rs", "s": "rs"}}}),
    "least cost": (ww.DTMCClassifier, {"answer": "least-cost"}),
    **{
        f"adaptive {how}": (ww.BudgetForestClassifier, {"variant": "paper", "adaptive": how})
        for how in (True, "settled")
    },
    "forest of few tests": (ww.BudgetForestClassifier, {"tests": "chosen", "budget": 9.0}),
}


def places(content, path=()):
    """Every place in a document, as a path of keys and positions."""
    if path:
        yield path
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def at(content, path):
    for key in path:
        content = content[key]
    return content


def choose_place(rng, content):
    """A place; rare fields are chosen as often as those that every node has."""
    by_name = {}
    for path in places(content):
        names = tuple(key for key in path if isinstance(key, str))
        by_name.setdefault((names[-2:], isinstance(path[-1], int)), []).append(path)
    group = list(by_name.values())[rng.integers(len(by_name))]
    return group[rng.integers(len(group))]


def delete(rng, parent, key):
    del parent[key]


def replace(rng, parent, key):
    parent[key] = EXTREMES[rng.integers(len(EXTREMES))]


def shift(rng, parent, key):
    value = parent[key]
    if isinstance(value, (int, float)):
        parent[key] = value + [-1, 1][rng.integers(2)]
    else:
        replace(rng, parent, key)


def duplicate(rng, parent, key):
    if isinstance(parent, list):
        parent.insert(int(rng.integers(len(parent) + 1)), copy.deepcopy(parent[key]))
    else:
        parent[f"{key}2"] = copy.deepcopy(parent[key])


def swap(rng, parent, key):
    keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
    other = keys[rng.integers(len(keys))]
    parent[key], parent[other] = parent[other], parent[key]


def shorten(rng, parent, key):
    value = parent[key]
    parent[key] = value[: len(value) // 2] if isinstance(value, (list, str)) else [value]


CHANGES = (delete, replace, replace, replace, shift, shift, duplicate, swap, shorten)


def damaged(rng, document):
    """A document with one to three changes, and what they are."""
    content, told = copy.deepcopy(document), []
    for _ in range(int(rng.integers(1, 4))):
        path = choose_place(rng, content)
        change = CHANGES[rng.integers(len(CHANGES))]
        told.append(f"{change.__name__} {'.'.join(map(str, path))}")
        change(rng, at(content, path[:-1]), path[-1])
        if not isinstance(content, dict) or not content:
            break
    return content, told


def cases_for(rng, clf, n=12):
    """Cases with the columns that a model knows: usual, unknown, extreme and missing values."""
    schema = clf.problem_.schema
    X = np.empty((n, len(schema.names)), dtype=object)
    for column, values in enumerate(schema.values):
        known = [-1e308, -1.0, 0.0, 0.3, 1.0, 1e308] if values is None else [*values, "never seen"]
        X[:, column] = [None if rng.random() < 0.2 else known[rng.integers(len(known))] for _ in range(n)]
    return pd.DataFrame(X, columns=list(schema.names)) if hasattr(clf, "feature_names_in_") else X


def use(rng, clf):
    """Do with a model whatever a user might."""
    X = cases_for(rng, clf)
    y = np.asarray(clf.classes_)[rng.integers(len(clf.classes_), size=len(X))]
    assert len(clf.predict(X)) == len(X)
    assert clf.predict_proba(X).shape == (len(X), len(clf.classes_))
    assert clf.test_costs(X).shape == clf.total_costs(X, y).shape == (len(X),)
    spending(clf, X)
    names = clf.problem_.columns
    for row in np.asarray(X, dtype=object)[:3]:
        # A single case with a value that is not known would be refused.
        case = {name: None if v == "never seen" else v for name, v in zip(names, row.tolist(), strict=True)}
        clf.explain(case)
        clf.next_test({})
        clf.next_test({name: value for name, value in case.items() if rng.random() < 0.5})
    trees = clf.trees_[:2] if isinstance(clf, tuple(FORESTS)) else [clf.tree_] if hasattr(clf, "tree_") else []
    for tree in trees:
        tree.rules()
        tree.to_text()
        tree.to_json()


@pytest.fixture(scope="module")
def documents():
    """A model of every kind, as `save` writes it."""
    problem = random_problem(9, n=40, missing=0.1, reject=True)
    found = {}
    for name, (learner, parameters) in KINDS.items():
        clf = make(learner, max_trees=2, trials=20, r=1, **problem.known, **parameters).fit(problem.X, problem.y)
        found[name] = json.loads(json.dumps(clf._document()))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_or_can_be_used(kind, documents, tmp_path):
    refused, file = 0, tmp_path / "model.json"
    for seed in range(N_FILES + 1):
        rng = np.random.default_rng([seed, *kind.encode()])
        content, told = damaged(rng, documents[kind]) if seed else (documents[kind], ["nothing"])
        file.write_text(json.dumps(content))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                clf = ww.load(file)
            except ValueError:
                refused += 1
                continue
            except Exception as error:
                raise AssertionError(f"loading after {told} (seed {seed}): {type(error).__name__}: {error}") from error
            try:
                use(rng, clf)
            except Exception as error:
                raise AssertionError(f"using it after {told} (seed {seed}): {type(error).__name__}: {error}") from error
    assert 0 < refused <= N_FILES  # the first file, which is sound, is not

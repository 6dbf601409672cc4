"""Are expected costs what new cases cost, and are probabilities right? Ten data sets, every learner with its defaults.

    WORTHWHILE_DATA=folder python benchmarks/expectations.py --before OLD/.venv/bin/python

Each learner learns from 60 % of the cases. Expected is what it says a new case costs (`expected_cost_`, or where a
version has none, the expected cost at the root of the tree); actual is what the other 40 % cost. Both are averaged over
splits before they are divided: a few errors in 170 cases would decide about a single split. Log loss is compared with
scikit-learn's tree, pruned by cost complexity, which a cross-validation tunes for log loss: once on all tests, and once
on those that the learner uses. The data sets took no part in settling how probabilities are shrunk; see SETTLED.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import ROOT, provenance, rows_by

SETS = (
    "credit_approval_crx", "breast_cancer", "horse_colic", "ionosphere", "vote",
    "wdbc", "vowel", "car", "titanic", "tae",
)  # fmt: skip
LEARNERS = ("C45", "C45CS", "EG2", "IDX", "CSID3", "DTMC", "LSID3", "ICET", "ACT", "BudgetForest")
WITHIN = (0.8, 1.25)
SETTLED = (
    "How probabilities are shrunk was settled on Turney's data sets, tic_tac_toe, german_credit, glass, lymphography,"
    " sonar, iris, wine, breast_wisconsin, solar_flare1, soybean_large, annealing and heart_cleveland; how ACT chooses"
    " also on vote and car, which are shown here. That ICET's folds search again was decided after its expected costs"
    " had been too low on ionosphere and wdbc, also shown here, on some of the same splits; their number of trials was"
    " not tuned."
)
KNOWS_LESS = (
    "scikit-learn's tree asks for every test, whatever it costs; a learner that saves on tests may know less. Tables"
    ' headed "on the same tests" compare with scikit-learn\'s tree on the tests that the learner used.'
)


def measure(name: str, splits: int) -> list[dict[str, float | str]]:
    """Fit every learner on a data set, and return a row per learner and split."""
    from sklearn.model_selection import train_test_split

    import worthwhile as ww

    warnings.simplefilter("ignore")
    data = ww.datasets.load(name, as_frame=False)
    known = {"nominal": data.nominal, "columns": data.feature_names}
    prices = ww.datasets.random_costs(data.X, data.y, random_state=0, **known)
    costs = prices.with_errors(5 * prices.total_price())
    rows: list[dict[str, float | str]] = []
    for split in range(splits):
        X, X_new, y, y_new = train_test_split(data.X, data.y, test_size=0.4, stratify=data.y, random_state=split)
        peer = PlainTree(X, y, X_new, y_new, data.nominal, data.feature_names)
        for learner in LEARNERS:
            start = time.perf_counter()
            clf = getattr(ww, f"{learner}Classifier")(costs=costs, random_state=0, **known).fit(X, y)
            rows.append(
                {
                    "set": name,
                    "learner": learner,
                    "split": split,
                    "seconds": time.perf_counter() - start,
                    "expected": expected_cost(clf),
                    "actual": float(clf.total_costs(X_new, y_new).mean()),
                    "log_loss": log_loss(clf.predict_proba(X_new), clf.classes_, y_new),
                    "peer": peer.loss(data.feature_names),
                    "same_tests": peer.loss(tests_used(clf)),
                }
            )
            print(json.dumps(rows[-1]), flush=True)
    return rows


def tests_used(clf) -> list[str]:
    """Return the tests that a tree or a forest may ask for."""
    trees = clf.trees_ if hasattr(clf, "trees_") else [clf.tree_]
    return sorted({test for tree in trees for test in tree.tests_used()})


def expected_cost(clf) -> float:
    """Return what the learner says about new cases; where it says nothing, what the root of its tree says."""
    from worthwhile.tree.node_costs import node_costs

    if type(clf).__name__ != "ACTClassifier" or hasattr(clf, "expected_cost_interval_"):
        found = getattr(clf, "expected_cost_", None)
        if found is not None:
            return float(found)
    if hasattr(clf, "record_"):
        return float(clf.record_.price + clf.record_.error_cost)
    return float(node_costs(clf.tree_)[0].expected_cost)


def log_loss(shares, classes, y) -> float:
    import numpy as np

    place = np.searchsorted(classes, y)
    return float(-np.log(np.clip(shares[np.arange(len(y)), place], 1e-15, 1)).mean())


class PlainTree:
    """The log loss of scikit-learn's tree, its pruning chosen by cross-validated log loss."""

    def __init__(self, X, y, X_new, y_new, nominal, names) -> None:
        from sklearn.preprocessing import OneHotEncoder

        self._y, self._y_new, self._known = y, y_new, {}
        self._columns = {}
        for j, name in enumerate(names):
            own, new = X[:, [j]], X_new[:, [j]]
            if name in set(nominal or ()):
                encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(own.astype(object))
                own, new = encoder.transform(own.astype(object)), encoder.transform(new.astype(object))
            self._columns[name] = own.astype(float), new.astype(float)

    def loss(self, names) -> float:
        """Return the log loss on the new cases of a tree that asks for some of the tests."""
        key = tuple(sorted(names))
        if key not in self._known:
            self._known[key] = self._loss(key)
        return self._known[key]

    def _loss(self, names) -> float:
        import numpy as np
        from sklearn.model_selection import GridSearchCV
        from sklearn.tree import DecisionTreeClassifier

        constant = np.zeros((len(self._y), 1)), np.zeros((len(self._y_new), 1))
        used = [constant, *(self._columns[name] for name in names)]
        X, X_new = (np.hstack(parts) for parts in zip(*used, strict=True))
        grid = {"ccp_alpha": np.geomspace(1e-4, 0.1, 13)}
        tree = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, scoring="neg_log_loss", cv=5)
        tree.fit(X, self._y)
        return log_loss(tree.predict_proba(X_new), tree.classes_, self._y_new)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def cells(rows: list[dict], *keys: str) -> dict[tuple[str, str], list[float]]:
    """Return the means over splits of some figures, by learner and data set."""
    found = {}
    for learner in LEARNERS:
        for name in SETS:
            own = [row for row in rows if row["set"] == name and row["learner"] == learner]
            found[learner, name] = [mean([row[key] for row in own]) for key in keys]
    return found


def table(text: dict[tuple[str, str], str], last: list[str] | None = None) -> list[str]:
    """Return a Markdown table of learners by data sets."""
    lines = ["| | " + " | ".join(SETS) + " |", "|---|" + "---:|" * len(SETS)]
    lines += [f"| {learner} | " + " | ".join(text[learner, name] for name in SETS) + " |" for learner in LEARNERS]
    return [*lines, *(last or []), ""]


def costs_part(title: str, rows: list[dict]) -> list[str]:
    ratio = {cell: expected / actual for cell, (expected, actual) in cells(rows, "expected", "actual").items()}
    inside = sum(WITHIN[0] <= one <= WITHIN[1] for one in ratio.values())
    span = f"they go from {min(ratio.values()):.2f} to {max(ratio.values()):.2f}"
    return [
        f"## {title}: expected / actual cost",
        "",
        f"{inside} of {len(ratio)} cells are within {WITHIN[0]} to {WITHIN[1]}; {span}.",
        "",
        *table({cell: f"{one:.2f}" for cell, one in ratio.items()}),
    ]


def loss_part(title: str, rows: list[dict]) -> list[str]:
    found = cells(rows, "log_loss", "peer", "same_tests")
    lower = sum(own <= peer for own, peer, _ in found.values())
    same = sum(own <= peer for own, _, peer in found.values())
    peers = " | ".join(f"{found[LEARNERS[0], name][1]:.2f}" for name in SETS)
    return [
        f"## {title}: log loss",
        "",
        f"{lower} of {len(found)} cells are at or below scikit-learn's tree on all tests.",
        "",
        *table({cell: f"{own:.2f}" for cell, (own, *_) in found.items()}, [f"| scikit-learn, pruned | {peers} |"]),
        f"### {title}: log loss, less that of scikit-learn's tree on the same tests",
        "",
        f"Below 0 is better. {same} of {len(found)} cells are at or below 0.",
        "",
        *table({cell: f"{own - peer:+.2f}" for cell, (own, _, peer) in found.items()}),
    ]


def page(before: list[dict], after: list[dict], splits: int) -> str:
    lines = ["# Expected and actual costs", "", provenance(), ""]
    lines += [f"Splits per data set: {splits}. {SETTLED}", "", KNOWS_LESS, ""]
    for title, rows in (("Now", after), ("Before", before)):
        if rows:
            lines += [*costs_part(title, rows), *loss_part(title, rows)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--set", help="measure one data set with this interpreter, and print the rows")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--before", help="the interpreter of an older version to compare with")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/expectations.md")
    options = parser.parse_args()
    if "WORTHWHILE_DATA" not in os.environ:
        parser.error("set WORTHWHILE_DATA to the folder of the data sets")
    if options.set:
        measure(options.set, options.splits)
        return
    versions = [sys.executable, *([options.before] if options.before else [])]
    found: list[list[dict]] = [[], []]
    with ThreadPoolExecutor(2) as pool:  # one process per core of a small machine
        work = [(place, python, name) for name in SETS for place, python in enumerate(versions)]
        rows = pool.map(lambda one: rows_by([one[1]], __file__, "--set", one[2], "--splits", options.splits)[0], work)
        for (place, _, name), own in zip(work, rows, strict=True):
            print(name, flush=True)
            found[place] += own
    after, before = found
    options.out.write_text(page(before, after, options.splits), encoding="utf-8")


if __name__ == "__main__":
    main()

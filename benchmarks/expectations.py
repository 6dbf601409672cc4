"""Are expected costs what new cases cost, and are probabilities right? Ten data sets, every learner with its defaults.

    WORTHWHILE_DATA=folder python benchmarks/expectations.py --before OLD/.venv/bin/python

Each learner learns from 60 % of the cases. Expected is what it says a new case costs (`expected_cost_`, or where a
version has none, the expected cost at the root of the tree); actual is what the other 40 % cost. Log loss is compared
with scikit-learn's tree, pruned by cost complexity, which a cross-validation tunes for log loss. The data sets took no
part in settling how probabilities are shrunk; see SETTLED.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import warnings
from pathlib import Path

from common import ROOT, provenance, rows_by

SETS = (
    "credit_approval_crx", "breast_cancer", "horse_colic", "ionosphere", "vote",
    "wdbc", "vowel", "car", "titanic", "tae",
)  # fmt: skip
LEARNERS = ("C45", "C45CS", "EG2", "IDX", "CSID3", "DTMC", "LSID3", "ICET", "ACT", "BudgetForest")
WITHIN = (0.8, 1.25)
SETTLED = (
    "How probabilities are shrunk was settled on Turney's data sets, tic_tac_toe, german_credit and glass; how ACT"
    " chooses also on vote and car, which are shown here."
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
        peer = plain_tree(X, y, X_new, data.nominal, data.feature_names)
        for learner in LEARNERS:
            clf = getattr(ww, f"{learner}Classifier")(costs=costs, random_state=0, **known).fit(X, y)
            rows.append(
                {
                    "set": name,
                    "learner": learner,
                    "split": split,
                    "expected": expected_cost(clf),
                    "actual": float(clf.total_costs(X_new, y_new).mean()),
                    "log_loss": log_loss(clf.predict_proba(X_new), clf.classes_, y_new),
                    "peer": log_loss(*peer, y_new),
                }
            )
            print(json.dumps(rows[-1]), flush=True)
    return rows


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


def plain_tree(X, y, X_new, nominal, names):
    """Return probabilities and classes of scikit-learn's tree, its pruning chosen by cross-validated log loss."""
    import numpy as np
    from sklearn.compose import ColumnTransformer
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    chosen = [j for j, column in enumerate(names) if column in set(nominal or ())]
    X, X_new = (np.array(table, dtype=object) for table in (X, X_new))
    rest = [j for j in range(len(names)) if j not in chosen]
    X[:, rest], X_new[:, rest] = X[:, rest].astype(float), X_new[:, rest].astype(float)
    one_hot = ColumnTransformer(
        [("nominal", OneHotEncoder(handle_unknown="ignore", sparse_output=False), chosen)], remainder="passthrough"
    )
    tree = make_pipeline(one_hot, DecisionTreeClassifier(random_state=0))
    grid = {"decisiontreeclassifier__ccp_alpha": np.geomspace(1e-4, 0.1, 13)}
    found = GridSearchCV(tree, grid, scoring="neg_log_loss", cv=5).fit(X, y)
    return found.predict_proba(X_new), found.classes_


def geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def table(rows: list[dict], key, text) -> list[str]:
    """Return a Markdown table of learners by data sets."""
    lines = ["| | " + " | ".join(SETS) + " |", "|---|" + "---:|" * len(SETS)]
    for learner in LEARNERS:
        cells = []
        for name in SETS:
            own = [key(row) for row in rows if row["set"] == name and row["learner"] == learner]
            cells.append(text(own) if own else "")
        lines.append(f"| {learner} | " + " | ".join(cells) + " |")
    return lines


def page(before: list[dict], after: list[dict], splits: int) -> str:
    ratio = lambda row: row["expected"] / row["actual"]  # noqa: E731
    shown = lambda own: f"{geometric(own):.2f}"  # noqa: E731
    mean = lambda own: f"{sum(own) / len(own):.2f}"  # noqa: E731
    lines = ["# Expected and actual costs", "", provenance(), "", f"Splits per data set: {splits}. {SETTLED}", ""]
    for title, rows in (("Before", before), ("Now", after)):
        if not rows:
            continue
        cells = [
            geometric([ratio(r) for r in rows if r["set"] == s and r["learner"] == learner])
            for s in SETS
            for learner in LEARNERS
        ]
        inside = sum(WITHIN[0] <= cell <= WITHIN[1] for cell in cells)
        lines += [f"## {title}: expected / actual cost", ""]
        span = f"they go from {min(cells):.2f} to {max(cells):.2f}"
        lines += [f"{inside} of {len(cells)} cells are within {WITHIN[0]} to {WITHIN[1]}; {span}.", ""]
        lines += [*table(rows, ratio, shown), ""]
        better = [
            (
                sum(r["log_loss"] for r in rows if r["set"] == s and r["learner"] == learner),
                sum(r["peer"] for r in rows if r["set"] == s and r["learner"] == learner),
            )
            for s in SETS
            for learner in LEARNERS
        ]
        lines += [f"## {title}: log loss", ""]
        lower = sum(own <= peer for own, peer in better)
        lines += [f"{lower} of {len(better)} cells are at or below scikit-learn's tree, which pays for no test.", ""]
        lines += table(rows, lambda row: row["log_loss"], mean)
        peers = [mean([r["peer"] for r in rows if r["set"] == s]) for s in SETS]
        lines += ["| scikit-learn, pruned | " + " | ".join(peers) + " |", ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--set", help="measure one data set with this interpreter, and print the rows")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--before", help="the interpreter of an older version to compare with")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/expectations.md")
    options = parser.parse_args()
    if "WORTHWHILE_DATA" not in os.environ:
        parser.error("set WORTHWHILE_DATA to the folder of the data sets")
    if options.set:
        measure(options.set, options.splits)
        return
    before: list[dict] = []
    after: list[dict] = []
    for name in SETS:
        print(name, flush=True)
        versions = [sys.executable, *([options.before] if options.before else [])]
        found = rows_by(versions, __file__, "--set", name, "--splits", options.splits)
        after += found[0]
        before += found[1] if options.before else []
    options.out.write_text(page(before, after, options.splits), encoding="utf-8")


if __name__ == "__main__":
    main()

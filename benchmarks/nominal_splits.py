"""Does it pay to divide the values of nominal tests into two? Every way of `nominal_splits`, on nominal data sets.

    WORTHWHILE_DATA=folder python benchmarks/nominal_splits.py

Prices are drawn, and an error costs five times as much as all tests together. Of large data sets, 2,000 cases are
drawn; learners get 60 % of the cases, and costs are those of the rest. Writes docs/results/nominal-splits.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
import warnings
from pathlib import Path

from common import ROOT, provenance

SETS = ("adult", "car", "credit_approval_crx", "horse_colic", "krk", "mushroom", "nursery", "splice", "vote")
SETTLED = (
    "german_credit", "soybean_large", "tic_tac_toe", "lymphography", "annealing", "breast_cancer", "titanic",
    "solar_flare_full", "heart_cleveland", "hepatitis",
)  # fmt: skip
WAYS = ("multiway", "subset", "both")
# Label -> (class, parameters, most cases, data sets that are left out).
LEARNERS = {
    "C45": ("C45Classifier", {}, 2_000, ()),
    "EG2": ("EG2Classifier", {}, 2_000, ()),
    "EG2, prune=cost, context": ("EG2Classifier", {"prune": "cost", "context": True}, 2_000, ()),
    "DTMC": ("DTMCClassifier", {}, 2_000, ()),
    "forest of 20 trees": ("BudgetForestClassifier", {"max_trees": 20}, 2_000, ("horse_colic",)),
    "ACT, variant=paper": ("ACTClassifier", {"variant": "paper", "cross_fit": False}, 400, ("splice",)),
    "ACT": ("ACTClassifier", {"cross_fit": False, "r": 2}, 400, ("splice",)),
}
CASES, ERRORS = 2_000, 5
NOTE = """Cost per case, tests and errors together, in units of the price of all tests. `subset`: two branches, for
some values and for the rest; `both`: at every node, the one of the two with the shorter description. What a division
of values pays for being chosen, and how it is compared with a branch for every value, was settled, out of five
variants, by C45, EG2, IDX and DTMC on {settled} (10 splits each); none of the sets below took part, and nothing was
changed after looking at them. ACT learns from at most {act} cases (the refined one, last, with r = 2), and is left
out on splice, whose 60 columns take it long. The forest is left out on horse_colic, where so many values are missing
that its trees become huge in any case. The mean is the geometric one of the ratios to `multiway`, below 1 is cheaper;
the next column leaves out the data set with the lowest ratio. With three splits, a few percent may be chance. Seconds
are those of the processor per fit, on a busy machine."""


def cases_of(name: str) -> tuple:
    """Return the cases of a data set, its price list, and what learners are told of it."""
    import numpy as np

    import worthwhile as ww

    data = ww.datasets.load(name, as_frame=False)
    rows = np.random.default_rng(0).permutation(len(data.y))[:CASES]
    X, y = data.X[rows], data.y[rows]
    classes, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, classes[counts >= 3])  # both parts of every split need some
    X, y = X[kept], y[kept]
    known = {"nominal": data.nominal, "columns": data.feature_names}
    return X, y, ww.datasets.random_costs(X, y, random_state=0, **known), known


def measure(name: str, label: str, splits: int) -> list[dict]:
    """Fit a learner in every way, and return a row for each."""
    from sklearn.model_selection import train_test_split

    import worthwhile as ww

    learner, parameters, most_cases, left_out = LEARNERS[label]
    if name in left_out:
        return []
    X, y, prices, known = cases_of(name)
    costs = prices.with_errors(ERRORS * prices.total_price())
    rows = []
    for way in WAYS:
        found, start = [], time.process_time()
        for split in range(splits):
            own, new, y_own, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=split)
            clf = getattr(ww, learner)(costs=costs, nominal_splits=way, random_state=0, **known, **parameters)
            clf.fit(own[:most_cases], y_own[:most_cases])
            found.append(float(clf.total_costs(new, y_new).mean()) / prices.total_price())
        taken = (time.process_time() - start) / splits
        rows.append({"set": name, "learner": label, "way": way, "cost": sum(found) / splits, "seconds": taken})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def section(label: str, rows: list[dict]) -> list[str]:
    """Return a table of the costs of a learner by data set."""
    own = {(row["set"], row["way"]): row for row in rows if row["learner"] == label}
    sets = [name for name in SETS if (name, WAYS[-1]) in own]
    if not sets:
        return []
    lines = [f"## {label}", "", "| | " + " | ".join(sets) + " | mean | without the best | seconds |"]
    lines += ["|---|" + "---:|" * (len(sets) + 3)]
    for way in WAYS:
        costs = [own[name, way]["cost"] for name in sets]
        ratios = sorted(cost / own[name, WAYS[0]]["cost"] for cost, name in zip(costs, sets, strict=True))
        means = " | ".join(f"{math.exp(sum(map(math.log, some)) / len(some)):.3f}" for some in (ratios, ratios[1:]))
        taken = sum(own[name, way]["seconds"] for name in sets) / len(sets)
        lines += [f"| {way} | " + " | ".join(f"{cost:.3f}" for cost in costs) + f" | {means} | {taken:.2f} |"]
    return [*lines, ""]


def page(rows: list[dict], splits: int) -> str:
    note = " ".join(NOTE.format(settled=", ".join(SETTLED), act=LEARNERS["ACT"][2]).split())
    lines = ["# Nominal values divided into two", "", provenance(), "", f"Splits per data set: {splits}. {note}", ""]
    for label in LEARNERS:
        lines += section(label, rows)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=Path, help="a file to keep what was measured in; what it has is not done again")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/nominal-splits.md")
    options = parser.parse_args()
    if "WORTHWHILE_DATA" not in os.environ:
        parser.error("set WORTHWHILE_DATA to the folder of the data sets")
    warnings.simplefilter("ignore")
    rows: list[dict] = []
    if options.rows and options.rows.exists():
        rows = [json.loads(line) for line in options.rows.read_text(encoding="utf-8").splitlines()]
    known = {(row["learner"], row["set"]) for row in rows}
    for label, name in ((label, name) for label in LEARNERS for name in SETS):
        if (label, name) not in known:
            rows += measure(name, label, options.splits)
            if options.rows:
                options.rows.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        options.out.write_text(page(rows, options.splits), encoding="utf-8")


if __name__ == "__main__":
    main()

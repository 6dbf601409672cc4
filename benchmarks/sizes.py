"""Do models get cheaper with more cases? The default learner and ACT, from 4,000 to 20,000 cases of a large data set.

    WORTHWHILE_DATA=folder python benchmarks/sizes.py --before OLD/.venv/bin/python

Prices are drawn, an error costs five times as much as all tests together. Costs are those of 8,000 cases that take no
part in learning. Each size contains the cases of the smaller ones. Writes docs/results/sizes.md and a picture after
every model; with --cells, a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
import warnings
from pathlib import Path

from common import ROOT, provenance, rows_by

from worthwhile.experiments.tuning import SET_ON

SETS = ("adult", "credit_default_taiwan", "shuttle")
SIZES = (4_000, 5_000, 5_001, 10_000, 20_000)
LEARNERS = ("ACT", "Auto")
TUNED = {"ACT": "ACTClassifier", "Auto": "AutoClassifier"}
HELD_OUT, ERRORS = 8_000, 5


def measure(name: str, n: int, learner: str) -> None:
    """Fit a learner to the first cases of a data set, and print a row."""
    import numpy as np

    import worthwhile as ww

    warnings.simplefilter("ignore")
    data = ww.datasets.load(name, as_frame=False)
    known = {"nominal": data.nominal, "columns": data.feature_names}
    order = np.random.default_rng(0).permutation(len(data.y))
    new, rest = order[:HELD_OUT], order[HELD_OUT:]
    some = rest[: SIZES[0]]
    prices = ww.datasets.random_costs(data.X[some], data.y[some], random_state=0, **known)
    costs = prices.with_errors(ERRORS * prices.total_price())
    start = time.perf_counter()
    clf = getattr(ww, f"{learner}Classifier")(costs=costs, random_state=0, **known).fit(
        data.X[rest[:n]], data.y[rest[:n]]
    )
    tree = getattr(clf, "tree_", None)
    row = {
        "set": name,
        "n": n,
        "learner": learner,
        "cost": float(clf.total_costs(data.X[new], data.y[new]).mean()),
        "expected": float(clf.expected_cost_),
        "leaves": tree.n_leaves if tree is not None else None,
        "chosen": next((one.name for one in getattr(clf, "candidates_", ()) if one.chosen), None),
        "seconds": time.perf_counter() - start,
    }
    print(json.dumps(row), flush=True)


def draw(rows: list[dict], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sets = [name for name in SETS if any(row["set"] == name for row in rows)]
    figure, axes = plt.subplots(1, len(sets), figsize=(5 * len(sets), 3.6), layout="constrained", squeeze=False)
    styles = {"ACT, before": "o--", "ACT": "o-", "Auto": "s-"}
    for ax, name in zip(axes[0], sets, strict=True):
        for learner, style in styles.items():
            own = sorted((row["n"], row["cost"]) for row in rows if (row["set"], row["learner"]) == (name, learner))
            if own:
                ax.plot(*zip(*own, strict=True), style, label=learner)
        ax.set(title=name, xlabel="training cases", ylabel="cost per new case", ylim=(0, None))
        ax.legend()
    figure.savefig(path, dpi=110)


def page(rows: list[dict]) -> str:
    lines = ["# Cost by number of training cases", "", provenance(), ""]
    lines += [
        "ACT and AutoClassifier with default parameters; costs per case of 8,000 held-out cases. One draw of the cases"
        " and of the prices for each set, so there are no intervals, and differences of a few percent may be chance.",
        "",
        *against_before(rows),
        "Where tuned on, where reported on:",
        "",
        "|  | constants set on | reported here on |",
        "|---|---|---|",
        *(f"| {learner} | {SET_ON[name]} | {', '.join(SETS)} |" for learner, name in TUNED.items()),
        "",
        "![costs by size](sizes.png)",
        "",
    ]
    for learner in sorted({row["learner"] for row in rows}, key=lambda each: (", before" in each, each != "Auto")):
        own = sorted((row for row in rows if row["learner"] == learner), key=lambda row: (row["set"], row["n"]))
        if own:
            lines += [f"## {learner}", ""]
            lines += ["| set | cases | cost | expected | model | seconds |", "|---|---:|---:|---:|---|---:|"]
            lines += [f"| {row['set']} | {row['n']:,} | {_cells(row)} |" for row in own]
            lines.append("")
    return "\n".join(lines)


def against_before(rows: list[dict]) -> list[str]:
    """Return lines on what learners cost by what they cost before, on the sizes that both have."""
    costs = {(row["learner"], row["set"], row["n"]): row["cost"] for row in rows}
    lines = []
    for old in sorted({learner for learner, _, _ in costs if ", before" in learner}):
        new = old.split(", before")[0]
        for name in dict.fromkeys(data for _, data, _ in costs):
            ratios = [
                costs[new, name, n] / cost
                for (learner, data, n), cost in costs.items()
                if (learner, data) == (old, name) and (new, name, n) in costs
            ]
            if ratios:
                mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
                each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
                lines.append(f"| {new} | {old} | {name} | {mean:.3f} | {each} |")
    heading = ["| now | before | set | geometric mean | by size |", "|---|---|---|---:|---|"]
    return [*heading, *lines, ""] if lines else []


def _cells(row: dict) -> str:
    model = ", ".join(
        part for part in (row.get("chosen"), f"{row['leaves']} leaves" if row["leaves"] is not None else None) if part
    )
    return f"{row['cost']:.1f} | {row['expected']:.1f} | {model} | {row['seconds']:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--one", nargs=3, metavar=("SET", "N", "LEARNER"), help="print one row")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--before", help="the interpreter of an older version to compare with")
    parser.add_argument("--cells", type=Path, help="keep what is measured in this file, and go on from there")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results")
    options = parser.parse_args()
    if "WORTHWHILE_DATA" not in os.environ:
        parser.error("set WORTHWHILE_DATA to the folder of the data sets")
    if options.one:
        measure(options.one[0], int(options.one[1]), options.one[2])
        return
    rows: list[dict] = json.loads(options.cells.read_text()) if options.cells and options.cells.exists() else []
    versions = [(sys.executable, learner, learner) for learner in LEARNERS]
    versions += [(options.before, "ACT", "ACT, before")] if options.before else []
    tasks = [(name, n, *version) for n in options.sizes for name in options.sets for version in versions]
    for name, n, python, learner, label in tasks:
        if any((row["set"], row["n"], row["learner"]) == (name, n, label) for row in rows):
            continue
        rows += [row | {"learner": label} for row in rows_by([python], __file__, "--one", name, n, learner)[0]]
        print(name, n, label, flush=True)
        if options.cells:
            options.cells.write_text(json.dumps(rows))
        (options.out / "sizes.md").write_text(page(rows), encoding="utf-8")
        draw(rows, options.out / "sizes.png")


if __name__ == "__main__":
    main()
